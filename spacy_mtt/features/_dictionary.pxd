# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Looking up keys in a table; _dictionary.pyx makes tables."""

from libc.stdint cimport int32_t, uint64_t


cdef inline int32_t look_up(
    const uint64_t[::1] table, const int32_t[::1] slots, uint64_t mask, uint64_t key
) noexcept nogil:
    """The slot of a key: its low bits if there is no `table`, else what the open-addressing table has, or -1."""
    cdef uint64_t place = key & mask
    if table.shape[0] == 0:
        return <int32_t>place
    while slots[place] >= 0 and table[place] != key:
        place = (place + 1) & mask
    return slots[place]
