# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The sibling chart over doubles: its layout and the inside pass, for sums and for maxima.

Charts as in _eisner_chart.pxd, for 0 <= i <= j <= n, with the left end as row and the right end as column:

    RIGHT[i, j]      i .. j, all below i          ARC_RIGHT[i, j]  the arc i -> j and all of i's modifiers between
    LEFT[i, j]       i .. j, all below j          ARC_LEFT[i, j]   the arc j -> i and all of j's modifiers between
    S[i, j]          i .. j, all below i or j, two neighbouring modifiers of one head

With w[h, r, m] = exp(scores[h, m] + siblings[h, r, m]), r the modifier of h next before m or h itself:

    S[i, j]         = sum_{i <= r < j} RIGHT[i, r] LEFT[r+1, j]
    ARC_RIGHT[i, j] = w[i, i, j] LEFT[i+1, j]  + sum_{i < r < j} ARC_RIGHT[i, r] w[i, r, j] S[r, j]
    ARC_LEFT[i, j]  = w[j, j, i] RIGHT[i, j-1] + sum_{i < r < j} S[i, r] w[j, r, i] ARC_LEFT[r, j]
    RIGHT[i, j]     = sum_{i < r <= j} ARC_RIGHT[i, r] RIGHT[r, j]
    LEFT[i, j]      = sum_{i <= r < j} LEFT[i, r] ARC_LEFT[r, j]

A tree has one derivation, and an arc is the product of one w. Rows are filled as there: row i needs the rows
r > i alone, from left to right, four r at a time. The weights lie as row i reads them, in blocks of the rows
r = i .. n: W_RIGHT[i][r, j] = w[i, r, j] and W_LEFT[i][r, j] = w[j, r, i], where the row r = i holds those without a
sibling, w[i, i, j] and w[j, j, i].
"""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc

from spacy_mtt.inference._eisner_chart cimport padded, plus, times

cdef extern from "_siblings_rows.h" nogil:
    void eisner_take_max(
        Py_ssize_t lo, Py_ssize_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
        double *s, double *right, double *left, const double *arc_right)
    void eisner_take_sum(
        Py_ssize_t lo, Py_ssize_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
        double *s, double *right, double *left, const double *arc_right)
    void siblings_take_max(
        Py_ssize_t lo, Py_ssize_t ld, const double *S, const double *ARC_LEFT, const double *W_RIGHT,
        const double *W_LEFT, const double *s, double *arc_right, double *arc_left)
    void siblings_take_sum(
        Py_ssize_t lo, Py_ssize_t ld, const double *S, const double *ARC_LEFT, const double *W_RIGHT,
        const double *W_LEFT, const double *s, double *arc_right, double *arc_left)
    void siblings_maxima(
        Py_ssize_t lo, Py_ssize_t hi, double scale, const double *s, const double *t, double *c)
    void siblings_scores(
        Py_ssize_t lo, Py_ssize_t hi, double scale, const double *s, const double *t, const double *c, double *w)
    void siblings_weights(
        Py_ssize_t lo, Py_ssize_t hi, const double *s, const double *t, const double *c, double *w)


cdef enum:
    INSIDE_CHARTS = 5
    ALL_CHARTS = 9   # with the adjoints
    TILE = 8         # heads whose weights are transposed together


cdef struct Chart:
    Py_ssize_t n
    Py_ssize_t ld        # doubles a row: n + 1, rounded up to a multiple of 4
    bint single_root
    double scale         # of the scores, a power of two: 1 for sums
    double *best         # best[m] = max_{h, r} scores[h, m] + siblings[h, r, m], scaled
    double *d_arc_right  # one row
    double *tile         # TILE rows
    double *w_right      # see weights_of()
    double *w_left
    double *right        # [i, j]
    double *left
    double *arc_right
    double *arc_left
    double *s
    double *d_right      # adjoints dZ/d..., for marginals only
    double *d_left
    double *d_arc_left
    double *d_s


cdef inline Py_ssize_t weight_rows(Py_ssize_t n) noexcept nogil:
    return (n + 1) * (n + 2) // 2


cdef inline double *weights_of(double *table, const Chart *t, Py_ssize_t i) noexcept nogil:
    """Where row 0 of block i of a table of weights would be; only the rows i .. n are its own."""
    return table + (i * t.n - i * (i - 1) // 2) * t.ld


cdef inline double *allocate(Py_ssize_t n, int charts) except NULL:
    """Room for `charts` charts, the weights and the single rows of a sentence of n words."""
    cdef Py_ssize_t ld = padded(n)
    cdef double *block = <double *> calloc(ld * (charts * ld + 2 * weight_rows(n) + TILE + 2), sizeof(double))
    if block == NULL:
        raise MemoryError(f"no memory for the charts and weights of {n} words, {n}^3 numbers")
    return block


cdef inline void lay_out(Chart *t, double *block, Py_ssize_t n, bint single_root, int charts) noexcept nogil:
    """Point t into block; charts is INSIDE_CHARTS or ALL_CHARTS."""
    cdef Py_ssize_t ld = padded(n), area = ld * ld, table = weight_rows(n) * ld
    t.n, t.ld, t.single_root, t.scale = n, ld, single_root, 1.0
    t.best, t.d_arc_right, t.tile = block, block + ld, block + 2 * ld
    block += (TILE + 2) * ld
    t.w_right, t.w_left = block, block + table
    block += 2 * table
    t.right, t.left, t.s = block, block + area, block + 2 * area
    t.arc_right, t.arc_left = block + 3 * area, block + 4 * area
    t.d_right = t.d_left = t.d_arc_left = t.d_s = NULL
    if charts == ALL_CHARTS:
        t.d_right, t.d_left = block + 5 * area, block + 6 * area
        t.d_arc_left, t.d_s = block + 7 * area, block + 8 * area


cdef inline bint best_parts(
    const double[:, ::1] scores, const double[:, :, ::1] siblings, Chart *t
) noexcept nogil:
    """Write best; False if it is infinite for some word, which may have no head."""
    cdef Py_ssize_t n = t.n, h, r, m
    for m in range(1, n + 1):
        t.best[m] = -INFINITY
    for h in range(n + 1):
        for r in range(n + 1):
            if h == 0 and r == 1 and t.single_root:
                break
            if r == 0 and h > 0:
                continue
            if r >= h:
                siblings_maxima(r + 1, n + 1, t.scale, &scores[h, 0], &siblings[h, r, 0], t.best)
            if r <= h:
                siblings_maxima(1, r, t.scale, &scores[h, 0], &siblings[h, r, 0], t.best)
    for m in range(1, n + 1):
        if t.best[m] == -INFINITY or t.best[m] == INFINITY:
            return False
    return True


cdef inline void weigh(
    const double[:, ::1] scores, const double[:, :, ::1] siblings, Chart *t, bint tropical
) noexcept nogil:
    """Fill the charts with the semiring's zero and the weights: exp(score + sibling - best), or its logarithm."""
    cdef Py_ssize_t n = t.n, ld = t.ld, i, r, k
    cdef double zero = -INFINITY if tropical else 0.0
    cdef double *row
    for k in range(INSIDE_CHARTS * ld * ld):
        t.right[k] = zero
    for k in range((n + 1) * ld):  # the root is nobody's modifier
        t.w_left[k] = zero
    for i in range(n + 1):
        for r in range(i, n + 1):
            if i == 0 and r == 1 and t.single_root:
                break
            row = weights_of(t.w_right, t, i) + r * ld
            weigh_row(&scores[i, 0], &siblings[i, r, 0], t, tropical, r + 1, n + 1, row)
            for k in range(n + 1, ld):
                row[k] = zero
    for r in range(2, n + 1):
        i = r
        while i <= n:
            weigh_left(scores, siblings, t, tropical, r, i)
            i += TILE
    for i in range(1, n + 1):
        for r in range(i, n + 1):
            for k in range(n + 1, ld):
                weights_of(t.w_left, t, i)[r * ld + k] = zero


cdef inline void weigh_row(
    const double *score, const double *sibling, const Chart *t, bint tropical,
    Py_ssize_t lo, Py_ssize_t hi, double *out
) noexcept nogil:
    if tropical:
        siblings_scores(lo, hi, t.scale, score, sibling, t.best, out)
    else:
        siblings_weights(lo, hi, score, sibling, t.best, out)


cdef inline void weigh_left(
    const double[:, ::1] scores, const double[:, :, ::1] siblings, Chart *t, bint tropical,
    Py_ssize_t r, Py_ssize_t first
) noexcept nogil:
    """W_LEFT[m][r, h] of the heads h = first .. first + TILE - 1, for all m < r; of the head r, W_LEFT[m][m, r]."""
    cdef Py_ssize_t n = t.n, ld = t.ld, count = min(<Py_ssize_t> TILE, n + 1 - first), m, k
    cdef double *out
    for k in range(count):
        weigh_row(&scores[first + k, 0], &siblings[first + k, r, 0], t, tropical, 1, r, t.tile + k * ld)
    for m in range(1, r):
        out = weights_of(t.w_left, t, m)
        if first == r:
            out[m * ld + r] = t.tile[m]
        out += r * ld + first
        for k in range(first == r, count):
            out[k] = t.tile[k * ld + m]


cdef inline void inside(Chart *t, bint tropical) noexcept nogil:
    """Fill the charts for all rows, or with a single root for all but that of the root."""
    cdef Py_ssize_t i
    for i in range(t.n, 0 if t.single_root else -1, -1):
        inside_row(t, i, tropical)


cdef inline void inside_row(Chart *t, Py_ssize_t i, bint tropical) noexcept nogil:
    cdef Py_ssize_t n = t.n, ld = t.ld, lo = i // 4 * 4, r
    cdef double one = 0.0 if tropical else 1.0
    cdef const double *w_right = weights_of(t.w_right, t, i)
    cdef const double *w_left = weights_of(t.w_left, t, i)
    cdef double *right = t.right + i * ld
    cdef double *left = t.left + i * ld
    cdef double *arc_right = t.arc_right + i * ld
    cdef double *arc_left = t.arc_left + i * ld
    cdef double *s = t.s + i * ld
    right[i] = one
    while lo <= n:
        # Splits inside the block one by one, then the block as a whole for everything to its right. Terms
        # that do not exist have the factor zero: arc_right[r], left[r] and s[r] for r <= i, right[r] for
        # r < i. So LEFT[i, i] has to wait.
        for r in range(max(lo, i + 1), min(lo + 4, n + 1)):
            inside_entry(t, i, r, tropical)
        if lo + 4 < ld:
            if tropical:
                eisner_take_max(lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
                                s, right, left, arc_right)
                siblings_take_max(lo + 4, ld, t.s + lo * ld, t.arc_left + lo * ld, w_right + lo * ld,
                                  w_left + lo * ld, s, arc_right, arc_left)
            else:
                eisner_take_sum(lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
                                s, right, left, arc_right)
                siblings_take_sum(lo + 4, ld, t.s + lo * ld, t.arc_left + lo * ld, w_right + lo * ld,
                                  w_left + lo * ld, s, arc_right, arc_left)
        lo += 4
    left[i] = one


cdef inline void inside_entry(Chart *t, Py_ssize_t i, Py_ssize_t r, bint tropical) noexcept nogil:
    """The entries [i, r], which lack the splits within r's block of four alone."""
    cdef Py_ssize_t ld = t.ld, p
    cdef const double *w_right = weights_of(t.w_right, t, i)
    cdef const double *w_left = weights_of(t.w_left, t, i)
    cdef double *right = t.right + i * ld
    cdef double *left = t.left + i * ld
    cdef double *arc_right = t.arc_right + i * ld
    cdef double *arc_left = t.arc_left + i * ld
    cdef double *s = t.s + i * ld
    cdef double s_r = s[r], right_r = right[r], left_r = left[r], out = arc_right[r], back = arc_left[r], between
    for p in range(max(r // 4 * 4, i), r):
        s_r = plus(s_r, times(right[p], t.left[(p + 1) * ld + r], tropical), tropical)
        right_r = plus(right_r, times(arc_right[p], t.right[p * ld + r], tropical), tropical)
        left_r = plus(left_r, times(left[p], t.arc_left[p * ld + r], tropical), tropical)
        between = times(arc_right[p], t.s[p * ld + r], tropical)
        out = plus(out, times(between, w_right[p * ld + r], tropical), tropical)
        between = times(s[p], t.arc_left[p * ld + r], tropical)
        back = plus(back, times(between, w_left[p * ld + r], tropical), tropical)
    out = plus(out, times(w_right[i * ld + r], t.left[(i + 1) * ld + r], tropical), tropical)
    back = plus(back, times(w_left[i * ld + r], right[r - 1], tropical), tropical)
    s[r] = s_r
    arc_right[r] = out
    arc_left[r] = back
    right[r] = plus(right_r, out, tropical)
    left[r] = plus(left_r, back, tropical)
