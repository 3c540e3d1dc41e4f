# cython: language_level=3
"""Eisner's chart over numbers with an extended exponent; see _eisner_wide.pyx."""

from libc.stdint cimport int64_t

cdef extern from "_wide.h" nogil:
    ctypedef struct wide:
        double m
        int64_t e

cdef extern from "_eisner_wide_rows.h" nogil:
    ctypedef struct wide_row:
        double *m
        int64_t *e

cdef enum:
    INSIDE_CHARTS = 4
    ALL_CHARTS = 10
    SINGLE_ROWS = 5


cdef struct Chart:
    Py_ssize_t n
    Py_ssize_t ld
    wide *weight           # [h, m]
    wide_row right         # [i, j]: left end, right end
    wide_row left
    wide_row arc_right
    wide_row arc_left
    wide_row right_t       # [j, i], for marginals only, as all below
    wide_row left_t
    wide_row arc_left_t
    wide_row d_right_t
    wide_row d_left_t
    wide_row d_arc_left_t
    double *best           # one row each: best[m] = max_h scores[h, m]
    wide_row s
    wide_row d_right
    wide_row d_left
    wide_row d_arc_right


cdef void lay_out(Chart *t, wide *weight, wide_row block, Py_ssize_t n, int charts) noexcept nogil
cdef void weigh(const double[:, ::1] scores, Chart *t) noexcept nogil
cdef void inside(Chart *t, Py_ssize_t first, bint transpose) noexcept nogil
