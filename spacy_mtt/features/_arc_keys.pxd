# cython: language_level=3
"""The keys of the features of an arc; see _arc_keys.pyx."""

from libc.stdint cimport int32_t, uint8_t, uint64_t

cdef inline uint64_t mix(uint64_t x) noexcept nogil:
    x = (x ^ (x >> 30)) * <uint64_t>0xBF58476D1CE4E5B9
    x = (x ^ (x >> 27)) * <uint64_t>0x94D049BB133111EB
    return x ^ (x >> 31)


cdef struct Keys:  # those of value 1 first, then those that are counted over the words between
    Py_ssize_t plain, counted  # how many
    uint64_t *plain_keys
    uint64_t *counted_keys
    int32_t *counts

cdef class ArcKeys:
    cdef readonly Py_ssize_t n
    cdef readonly Py_ssize_t most_plain, most_counted  # no arc has more features
    cdef const int32_t[:, ::1] templates, ends, running
    cdef const uint64_t[::1] parts, distances, between
    cdef const uint8_t[:, ::1] is_cut
    cdef const int32_t[::1] longest, columns
    cdef void fill(self, Py_ssize_t h, Py_ssize_t m, Keys *keys) noexcept nogil
    cdef Py_ssize_t at_most_plain(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil
    cdef Py_ssize_t at_most_counted(self, Py_ssize_t h, Py_ssize_t m) noexcept nogil
    cdef Py_ssize_t room(self) noexcept nogil
    cdef void lay_out(self, Keys *keys, void *block) noexcept nogil
    cdef void set_bounds(self) noexcept
