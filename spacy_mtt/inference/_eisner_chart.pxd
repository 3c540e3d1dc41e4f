# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Eisner's chart over doubles: its layout and the inside pass, for sums and for maxima.

Charts, for 0 <= i <= j <= n, all with the left end as row and the right end as column:

    RIGHT[i, j]      i .. j, all below i          ARC_RIGHT[i, j]  the arc i -> j and what lies between
    LEFT[i, j]       i .. j, all below j          ARC_LEFT[i, j]   the arc j -> i and what lies between

    S[i, j]         = sum_{i <= r < j} RIGHT[i, r] LEFT[r+1, j]
    ARC_RIGHT[i, j] = w[i, j] S[i, j]                             ARC_LEFT[i, j] = w[j, i] S[i, j]
    RIGHT[i, j]     = sum_{i < r <= j} ARC_RIGHT[i, r] RIGHT[r, j]
    LEFT[i, j]      = sum_{i <= r < j} LEFT[i, r] ARC_LEFT[r, j]

Row i needs the rows r > i alone. It is filled from left to right: as soon as its entries at r are final, they
take the rows r and r+1 into all its entries to the right. That is a product of a row and a triangular
matrix: the inner loop runs along memory without a reduction, four r at a time (_eisner_rows.h). The outside
pass is its adjoint, in reverse. Sums and maxima share the code, (+, x) becoming (max, +).
"""

from libc.math cimport INFINITY
from libc.stdint cimport uintptr_t
from libc.stdlib cimport calloc
from libc.string cimport memset

cdef extern from "_eisner_rows.h" nogil:
    void eisner_take_max(
        Py_ssize_t lo, Py_ssize_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
        double *s, double *right, double *left, const double *arc_right)
    void eisner_take_sum_twice(
        Py_ssize_t lo, Py_ssize_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
        double *s, double *right, double *left, const double *arc_right)
    void eisner_take_one(
        Py_ssize_t lo, Py_ssize_t ld, Py_ssize_t r, const double *LEFT, const double *RIGHT, const double *ARC_LEFT,
        double *s, double *right, double *left, const double *arc_right)
    void eisner_take_sum(
        Py_ssize_t lo, Py_ssize_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
        double *s, double *right, double *left, const double *arc_right)

cdef extern from "_wide.h" nogil:
    ctypedef struct twofold:
        double hi
        double lo
    twofold twofold_add(twofold a, double x)


cdef enum:
    INSIDE_CHARTS = 5
    ALL_CHARTS = 9

cdef struct Chart:
    Py_ssize_t n
    Py_ssize_t ld        # doubles a row: n + 1, rounded up to a multiple of 4
    double *weight       # [h, m]: weights (sum) or scores (max); nothing in column 0 and on the diagonal
    double *right        # [i, j]
    double *left
    double *arc_right
    double *arc_left
    double *d_right      # adjoints dZ/d..., for marginals only
    double *d_left
    double *d_arc_left
    double *d_s
    double *best         # one row each: best[m] = max_h scores[h, m]
    double *s            # two rows
    double *d_arc_right  # four rows


cdef inline Py_ssize_t padded(Py_ssize_t n) noexcept nogil:
    return (n + 4) // 4 * 4


cdef inline double *allocate(Py_ssize_t n, int charts) except NULL:
    """Room for `charts` charts and eight single rows of a sentence of n words."""
    cdef Py_ssize_t ld = padded(n)
    cdef double *block = <double *> calloc(charts * ld * ld + 8 * ld + 8, sizeof(double))
    if block == NULL:
        raise MemoryError(f"no memory for {charts} charts of {ld} x {ld} numbers")
    return block


cdef inline void lay_out(Chart *t, double *block, Py_ssize_t n, int charts) noexcept nogil:
    """Point t into block; charts is INSIDE_CHARTS or ALL_CHARTS."""
    cdef Py_ssize_t ld = padded(n), area = ld * ld
    block = <double *> ((<uintptr_t> block + 63) // 64 * 64)  # so that no four doubles of a row straddle cache lines
    t.n, t.ld = n, ld
    t.best, t.s, t.d_arc_right = block, block + 2 * ld, block + 4 * ld
    block += 8 * ld
    t.weight, t.right, t.left = block, block + area, block + 2 * area
    t.arc_right, t.arc_left = block + 3 * area, block + 4 * area
    t.d_right = t.d_left = t.d_arc_left = t.d_s = NULL
    if charts == ALL_CHARTS:
        t.d_right, t.d_left = block + 5 * area, block + 6 * area
        t.d_arc_left, t.d_s = block + 7 * area, block + 8 * area


cdef inline void column_maxima(const double[:, ::1] scores, Py_ssize_t n, double *best) noexcept nogil:
    """best[m] = max_h scores[h, m], diagonal left out."""
    cdef Py_ssize_t h, m
    for m in range(1, n + 1):
        best[m] = scores[0, m]
    for h in range(1, n + 1):
        for m in range(1, h):
            best[m] = scores[h, m] if scores[h, m] > best[m] else best[m]
        for m in range(h + 1, n + 1):
            best[m] = scores[h, m] if scores[h, m] > best[m] else best[m]


cdef inline double log_total(const double *best, Py_ssize_t n, double excess, double excess_lo) noexcept nogil:
    """sum_m best[m] + excess, which has two parts, rounded once; infinite only if it exceeds the range of a double."""
    cdef Py_ssize_t m
    cdef twofold acc
    acc.hi, acc.lo = excess, excess_lo
    for m in range(1, n + 1):
        acc = twofold_add(acc, best[m])
    if acc.hi == acc.hi:
        return acc.hi
    acc.hi, acc.lo = excess / 4096, 0.0  # a partial sum was infinite
    for m in range(1, n + 1):
        acc = twofold_add(acc, best[m] / 4096)
    return acc.hi * 4096


cdef inline double plus(double a, double b, bint tropical) noexcept nogil:
    if tropical:
        return a if a > b else b
    return a + b


cdef inline double times(double a, double b, bint tropical) noexcept nogil:
    return a + b if tropical else a * b


cdef inline void inside(Chart *t, Py_ssize_t last, Py_ssize_t first, bint tropical) noexcept nogil:
    """Fill the charts for the rows first <= i <= last, those below being filled.

    They come filled with the semiring's zero.
    """
    cdef Py_ssize_t i = last
    while i >= first:
        if tropical or i % 2 == 0 or i == first:
            inside_row(t, i, tropical)
            i -= 1
        else:
            inside_pair(t, i - 1)
            i -= 2


cdef inline void inside_row(Chart *t, Py_ssize_t i, bint tropical) noexcept nogil:
    cdef Py_ssize_t n = t.n, ld = t.ld, lo = i // 4 * 4, p, r
    cdef double s_r, right_r, left_r
    cdef double *s = t.s
    cdef double *right = t.right + i * ld
    cdef double *left = t.left + i * ld
    cdef double *arc_right = t.arc_right + i * ld
    cdef double *arc_left = t.arc_left + i * ld
    for r in range(lo, ld):
        s[r] = -INFINITY if tropical else 0.0
    right[i] = left[i] = 0.0 if tropical else 1.0
    while lo <= n:
        # Splits inside the block one by one, then the block as a whole for everything to its right. Terms
        # that do not exist (p = i in the last two lines) are zero: arc_right[i], and ARC_LEFT[i, r] until
        # set below.
        for r in range(max(lo, i + 1), min(lo + 4, n + 1)):
            s_r, right_r, left_r = s[r], right[r], left[r]
            for p in range(max(lo, i), r):
                s_r = plus(s_r, times(right[p], t.left[(p + 1) * ld + r], tropical), tropical)
                right_r = plus(right_r, times(arc_right[p], t.right[p * ld + r], tropical), tropical)
                left_r = plus(left_r, times(left[p], t.arc_left[p * ld + r], tropical), tropical)
            arc_right[r] = times(t.weight[i * ld + r], s_r, tropical)
            arc_left[r] = times(t.weight[r * ld + i], s_r, tropical)
            right[r] = plus(right_r, arc_right[r], tropical)
            left[r] = plus(left_r, arc_left[r], tropical)
        if lo + 4 < ld:
            if tropical:
                eisner_take_max(lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
                                s, right, left, arc_right)
            else:
                eisner_take_sum(lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
                                s, right, left, arc_right)
        lo += 4


cdef inline void inside_pair(Chart *t, Py_ssize_t i) noexcept nogil:
    """Fill the rows i, which is even, and i + 1 of the charts of sums side by side: they share the loads of the rows below.

    As inside_row(), but the row i takes in the splits i and i + 1, which need entries of the pair itself, block by block.
    """
    cdef Py_ssize_t n = t.n, ld = t.ld, k = i + 1, start = i // 4 * 4, lo = start, r
    cdef double *s = t.s
    cdef double *right = t.right + i * ld
    cdef double *left = t.left + i * ld
    cdef double *arc_right = t.arc_right + i * ld
    memset(s + start, 0, (ld - start) * sizeof(double))
    memset(s + ld + start, 0, (ld - start) * sizeof(double))
    right[i] = left[i] = right[ld + k] = left[ld + k] = 1.0
    while lo <= n:
        inside_block(t, s + ld, k, lo)
        if lo > start:
            for r in range(lo, min(lo + 4, n + 1)):
                s[r] += right[i] * left[ld + r] + right[k] * t.left[(k + 1) * ld + r]
                right[r] += arc_right[k] * right[ld + r]
                left[r] += left[k] * t.arc_left[k * ld + r]
        inside_block(t, s, i, lo)
        if lo + 4 < ld and lo > start:
            eisner_take_sum_twice(lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
                                  s, right, left, arc_right)
        elif lo + 4 < ld:
            eisner_take_sum(lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
                            s + ld, right + ld, left + ld, arc_right + ld)
            for r in range(k + 1, min(lo + 4, n + 1)):
                eisner_take_one(lo + 4, ld, r, t.left, t.right, t.arc_left, s, right, left, arc_right)
        lo += 4


cdef inline void inside_block(Chart *t, double *s, Py_ssize_t i, Py_ssize_t lo) noexcept nogil:
    """Finish the entries lo .. lo + 3 of the row i of the charts of sums: the splits inside the block, one by one."""
    cdef Py_ssize_t ld = t.ld, p, r
    cdef double s_r, right_r, left_r
    cdef double *right = t.right + i * ld
    cdef double *left = t.left + i * ld
    cdef double *arc_right = t.arc_right + i * ld
    cdef double *arc_left = t.arc_left + i * ld
    for r in range(max(lo, i + 1), min(lo + 4, t.n + 1)):
        s_r, right_r, left_r = s[r], right[r], left[r]
        for p in range(max(lo, i), r):
            s_r += right[p] * t.left[(p + 1) * ld + r]
            right_r += arc_right[p] * t.right[p * ld + r]
            left_r += left[p] * t.arc_left[p * ld + r]
        arc_right[r] = t.weight[i * ld + r] * s_r
        arc_left[r] = t.weight[r * ld + i] * s_r
        right[r] = right_r + arc_right[r]
        left[r] = left_r + arc_left[r]


cdef inline Py_ssize_t best_split(
    const double *a, Py_ssize_t a_step, const double *b, Py_ssize_t b_step, Py_ssize_t count
) noexcept nogil:
    """The first r < count with the largest a[r a_step] + b[r b_step]; one of them is above -inf."""
    cdef Py_ssize_t r, split = 0
    cdef double best = -INFINITY, value
    for r in range(count):
        value = a[r * a_step] + b[r * b_step]
        if value > best:
            best = value
            split = r
    return split
