# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""A dictionary of keys by open addressing with linear probing; look_up in _dictionary.pxd reads it.

A table has a power of two of places, one of them free at least; a place with slot -1 is free. Keys are well mixed, and
their low bits say where to begin.
"""

from libc.stdint cimport int32_t, uint64_t
from libc.stdlib cimport free, malloc

from spacy_mtt.features._arc_keys cimport ArcKeys, Keys


cdef inline Py_ssize_t put(
    const uint64_t *keys, Py_ssize_t count, uint64_t[::1] table, int32_t[::1] slots, Py_ssize_t used
) noexcept nogil:
    cdef uint64_t place, mask = table.shape[0] - 1
    cdef Py_ssize_t i
    for i in range(count):
        place = keys[i] & mask
        while slots[place] >= 0 and table[place] != keys[i]:
            place = (place + 1) & mask
        if slots[place] < 0:
            table[place] = keys[i]
            slots[place] = <int32_t>used
            used += 1
    return used


def insert(const uint64_t[::1] keys, uint64_t[::1] table, int32_t[::1] slots, Py_ssize_t used):
    """Give each new key the next slot, counting from `used`; returns how many are used. O(1) expected for a key."""
    if keys.shape[0]:
        used = put(&keys[0], keys.shape[0], table, slots, used)
    return used


def at_most(ArcKeys keys, const unsigned char[:, ::1] arcs):
    """No fewer than the features of the `arcs` (n+1, n+1) that are not 0."""
    cdef Py_ssize_t h, m, total = 0
    for h in range(keys.n + 1):
        for m in range(1, keys.n + 1):
            if h != m and arcs[h, m]:
                total += keys.at_most_plain(h, m) + keys.at_most_counted(h, m)
    return total


def insert_arcs(
    ArcKeys keys, const unsigned char[:, ::1] arcs, uint64_t[::1] table, int32_t[::1] slots, Py_ssize_t used
):
    """As `insert`, the keys of the `arcs` (n+1, n+1) that are not 0, modifier by modifier. O(features) expected."""
    cdef Py_ssize_t h, m
    cdef Keys found
    cdef void *block = malloc(keys.room() + 1)
    if block == NULL:
        raise MemoryError(f"no memory for {keys.room()} bytes of features")
    keys.lay_out(&found, block)
    with nogil:
        for m in range(1, keys.n + 1):
            for h in range(keys.n + 1):
                if h != m and arcs[h, m]:
                    keys.fill(h, m, &found)
                    used = put(found.plain_keys, found.plain, table, slots, used)
                    used = put(found.counted_keys, found.counted, table, slots, used)
        free(block)
    return used
