# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Sparse features of words against matrices with a row for each feature: products, and their adjoint.

The features of the nodes 0..n are `local[starts[i] : starts[i + 1]]`, numbers in 0..F-1 of the sentence's own, distinct
features; `slots` (F,) are their rows in the matrix.
"""

from libc.stdint cimport int32_t, uint64_t

from spacy_mtt.features._dictionary cimport look_up

ctypedef fused real:
    float
    double


def look_up_all(
    const uint64_t[::1] table, const int32_t[::1] slots, uint64_t mask, const uint64_t[::1] keys, int32_t[::1] found
):
    """Write the slot of each key into `found`; -1 where the table has none."""
    cdef Py_ssize_t i
    with nogil:
        for i in range(keys.shape[0]):
            found[i] = look_up(table, slots, mask, keys[i])


def project(
    const real[:, ::1] rows, const int32_t[::1] starts, const int32_t[::1] local, const int32_t[::1] slots,
    double[:, ::1] out,
):
    """out[i] = sum of the rows of the features of node i; sums are float64."""
    cdef Py_ssize_t i, j, r, rank = rows.shape[1]
    cdef const real *row
    cdef double *to
    if rank == 0:
        return
    with nogil:
        for i in range(out.shape[0]):
            to = &out[i, 0]
            for r in range(rank):
                to[r] = 0.0
            for j in range(starts[i], starts[i + 1]):
                row = &rows[slots[local[j]], 0]
                for r in range(rank):
                    to[r] += row[r]


def collect(
    const double[:, ::1] coefficients, const int32_t[::1] starts, const int32_t[::1] local, double[:, ::1] out
):
    """out[f] += coefficients[i] for every node i with the feature f; nodes of zeros cost little."""
    cdef Py_ssize_t i, j, r, rank = coefficients.shape[1]
    cdef const double *row
    cdef double *to
    cdef double size
    if rank == 0:
        return
    with nogil:
        for i in range(coefficients.shape[0]):
            row, size = &coefficients[i, 0], 0.0
            for r in range(rank):
                size += row[r] * row[r]
            if size == 0.0:
                continue
            for j in range(starts[i], starts[i + 1]):
                to = &out[local[j], 0]
                for r in range(rank):
                    to[r] += row[r]


def add_rows(real[:, ::1] rows, const int32_t[::1] slots, const double[:, ::1] values, double scale):
    """rows[slots[f]] += scale * values[f] for every f, in place."""
    cdef Py_ssize_t f, r, rank = rows.shape[1]
    cdef const double *row
    cdef real *to
    if rank == 0:
        return
    with nogil:
        for f in range(slots.shape[0]):
            row, to = &values[f, 0], &rows[slots[f], 0]
            for r in range(rank):
                to[r] += <real>(scale * row[r])
