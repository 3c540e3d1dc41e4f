# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The scan of the elementwise recurrence and its gradient; recurrence.py says what they compute."""

from libc.stdint cimport int32_t
from libc.string cimport memset


cdef extern from "_recurrence.h" nogil:
    void scan_direction(
        Py_ssize_t n, Py_ssize_t h, int backwards, const float *zero, const float *b, float *z, float *c, float *y)
    void scan_direction_back(
        Py_ssize_t n, Py_ssize_t h, int backwards, const float *zero, float *carry, const float *z, const float *c,
        const float *dy, float *dz)


def scan(
    float[:, ::1] gates, const float[::1] bias, const int32_t[::1] lengths, const float[::1] zero, float[:, ::1] C,
    float[:, ::1] Y,
):
    """Run both directions over sequences that lie end to end.

    gates: (T, 6h) with T = sum(lengths); the bias (6h,) is added in place, and f and o become their sigmoids.
    zero: (h,) zeros. Written: the states C and the outputs Y, (T, 2h).
    """
    cdef Py_ssize_t i, h = zero.shape[0], row = 0
    cdef int d
    with nogil:
        for i in range(lengths.shape[0]):
            if lengths[i] > 0:
                for d in range(2):
                    scan_direction(
                        lengths[i], h, d, &zero[0], &bias[d * h], &gates[row, d * h], &C[row, d * h], &Y[row, d * h])
                row += lengths[i]


def scan_back(
    const float[:, ::1] gates, const int32_t[::1] lengths, const float[::1] zero, float[::1] carry,
    const float[:, ::1] C, const float[:, ::1] dY, float[:, ::1] d_gates,
):
    """Write the gradient with respect to the gates as they were given to `scan`, (T, 6h).

    gates, C: as `scan` leaves them. dY: (T, 2h). carry: (h,), overwritten.
    """
    cdef Py_ssize_t i, h = zero.shape[0], row = 0
    cdef int d
    with nogil:
        for i in range(lengths.shape[0]):
            if lengths[i] > 0:
                for d in range(2):
                    memset(&carry[0], 0, h * sizeof(float))
                    scan_direction_back(
                        lengths[i], h, d, &zero[0], &carry[0], &gates[row, d * h], &C[row, d * h], &dY[row, d * h],
                        &d_gates[row, d * h])
                row += lengths[i]
