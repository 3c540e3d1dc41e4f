# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Inside-outside by Eisner's chart in plain doubles, with a test for underflow.

The recurrences are in _eisner_chart.pxd, the public functions in eisner.py.
"""

from libc.math cimport INFINITY, exp, log
from libc.stdlib cimport free
from libc.string cimport memset

from spacy_mtt.inference._eisner_chart cimport (
    ALL_CHARTS, INSIDE_CHARTS, Chart, allocate, column_maxima, inside, lay_out, log_total
)

cdef extern from "_eisner_rows.h" nogil:
    void eisner_take_dot(
        Py_ssize_t lo, Py_ssize_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
        const double *d_s, double *d_right, double *d_left, double *d_arc_right)
    void eisner_take_dot_twice(
        Py_ssize_t lo, Py_ssize_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
        const double *d_s, double *d_right, double *d_left, double *d_arc_right)
    void eisner_take_columns(
        Py_ssize_t r, Py_ssize_t lo, Py_ssize_t ld, const double *RIGHT, const double *ARC_RIGHT, const double *LEFT,
        const double *d_S, double *d_RIGHT, double *d_LEFT, double *d_ARC_LEFT)
    void eisner_weights(Py_ssize_t n, const double *s, const double *c, double *w)

cdef extern from *:
    """
    /* There are binomial(3n, n) / (2n + 1) < (27 / 4)^n projective trees. */
    #define LOG_TREES_PER_WORD 1.9095425048844386
    #define MAX_LOG 640.0 /* see accepts() */
    /* see in_range() */
    #define LEAST 0x1p-340
    #define GREATEST 0x1p340
    """
    const double LOG_TREES_PER_WORD
    const double MAX_LOG
    const double LEAST
    const double GREATEST

cdef enum Status:
    SOLVED, NO_TREE, REJECTED


def inside_outside(
    const double[:, :, ::1] scores, const Py_ssize_t[::1] lengths, bint single_root,
    double[::1] log_z, double[::1] excess, double[:, :, ::1] mu, unsigned char[::1] rejected,
):
    """Write log Z, its excess over sum_m max_h scores[h, m], and the marginals, which come filled with zeros.

    A mu whose first axis has length 0 leaves the outside pass out. Where plain doubles might underflow or
    overflow, rejected[b] becomes 1 and log_z[b], excess[b] are void; mu[b] stays zero.
    """
    cdef Py_ssize_t b, n, longest = scores.shape[1] - 1
    cdef int charts = ALL_CHARTS if mu.shape[0] else INSIDE_CHARTS
    cdef double *block = allocate(longest, charts)
    cdef Chart t
    cdef Status status
    with nogil:
        for b in range(scores.shape[0]):
            n = lengths[b]
            log_z[b] = excess[b] = 0.0
            if n == 0:
                continue
            lay_out(&t, block, n, charts)
            column_maxima(scores[b], n, t.best)
            status = solve(&t, scores[b], single_root, &excess[b], mu[b if charts == ALL_CHARTS else 0 :])
            rejected[b] = status == REJECTED
            if status == NO_TREE:
                log_z[b] = excess[b] = -INFINITY
            elif status == SOLVED:
                log_z[b] = log_total(t.best, n, excess[b])
        free(block)


cdef Status solve(
    Chart *t, const double[:, ::1] scores, bint single_root, double *excess, double[:, :, ::1] mu
) noexcept nogil:
    """The sums of one sentence; mu[0] gets its marginals unless mu is empty.

    With many words, or where no head stands out, Z is far from 1. A second attempt then multiplies each weight by
    a constant, found from spans of moderate width, that brings it back: every tree has n arcs.
    """
    cdef Py_ssize_t n = t.n
    cdef double z, scale
    if not linear_weights(scores, t):
        return NO_TREE
    inside(t, 1 if single_root else 0, False)
    z = partition(t, single_root)
    if accepts(n, z):
        excess[0] = log(z)
        if mu.shape[0]:
            outside(t, single_root, z, mu[0])
        return SOLVED
    scale = balance(t)
    linear_weights(scores, t)
    if not rescale(t, scores, scale):
        return REJECTED
    inside(t, 1 if single_root else 0, False)
    z = partition(t, single_root)
    if not (inside_in_range(t) and LEAST <= z <= GREATEST):
        return REJECTED
    excess[0] = log(z) - n * log(scale)
    if mu.shape[0]:
        outside(t, single_root, z, mu[0])
        if not outside_in_range(t):
            memset(&mu[0, 0, 0], 0, mu.shape[1] * mu.shape[2] * sizeof(double))
            return REJECTED
    return SOLVED


cdef bint fill_inside(const double[:, ::1] scores, Chart *t, bint single_root) noexcept nogil:
    """Fill the inside charts of a sentence, t laid out for it. False: no tree exists, or plain doubles may not do."""
    if LOG_TREES_PER_WORD * t.n >= MAX_LOG:
        return False
    column_maxima(scores, t.n, t.best)
    if not linear_weights(scores, t):
        return False
    inside(t, 1 if single_root else 0, False)
    return accepts(t.n, partition(t, single_root))


cdef bint accepts(Py_ssize_t n, double z) noexcept nogil:
    """Whether z, and marginals computed from the same charts, are good to double precision.

    Weights are at most 1, so every entry of a chart or of its adjoint is a sum of at most T = (27/4)^n
    products of weights: at most T, and so is every entry times its adjoint. With log T < 640, that is n <=
    335, nothing overflows. An underflow loses less than 2^-1022 = e^-708.4, even where subnormals are
    flushed to zero. It reaches Z, or Z times a marginal, multiplied by at most T. There are at most 5 n^3
    operations, so all losses together are below T e^(-708.4 + 19.1) < T e^-689; against z > T e^-640 that
    is less than e^-49 = 6e-22.
    """
    return LOG_TREES_PER_WORD * n < MAX_LOG and z > 0.0 and log(z) > LOG_TREES_PER_WORD * n - MAX_LOG


cdef double balance(const Chart *t) noexcept nogil:
    """A factor for all weights under which spans neither grow nor shrink with their width, from the charts.

    The mean over the spans of one width, half of the sentence or 128; 1 if none of them is a finite number.
    """
    cdef Py_ssize_t n = t.n, ld = t.ld, i, width = min((n + 1) // 2, 128), count = 0
    cdef double total = 0.0, span
    for i in range(1, n - width + 1):
        span = t.right[i * ld + i + width] + t.left[i * ld + i + width]
        if 0.0 < span < INFINITY:
            total += log(span)
            count += width
    return exp(-total / count) if count else 1.0


cdef bint rescale(Chart *t, const double[:, ::1] scores, double scale) noexcept nogil:
    """Multiply all weights by `scale`; whether those of all arcs are then in range."""
    cdef Py_ssize_t n = t.n, h, m
    cdef double w
    for h in range(n + 1):
        for m in range(1, n + 1):
            w = t.weight[h * t.ld + m] * scale
            t.weight[h * t.ld + m] = w
            if not LEAST <= w <= GREATEST and h != m and scores[h, m] > -INFINITY:
                return False
    return True


cdef bint inside_in_range(const Chart *t) noexcept nogil:
    """Whether the charts, and the products and sums that they came from, are good to double precision.

    Entries are sums of products of two entries, and in between of a weight. If all that are not zero are within
    2^-340 .. 2^340, such a product neither underflows, to zero or otherwise, nor overflows: then it would have made
    an infinite entry. So each entry has been computed to a small relative error, and one that is zero has no tree.
    """
    return (in_range(t, t.right) and in_range(t, t.left)
            and in_range(t, t.arc_right) and in_range(t, t.arc_left))


cdef bint outside_in_range(const Chart *t) noexcept nogil:
    """The same for the adjoints; marginals may underflow."""
    return (in_range(t, t.d_right) and in_range(t, t.d_left)
            and in_range(t, t.d_arc_left) and in_range(t, t.d_s))


cdef bint in_range(const Chart *t, const double *chart) noexcept nogil:
    cdef Py_ssize_t i, j
    cdef double x
    for i in range(t.n + 1):
        for j in range(i + 1, t.n + 1):
            x = chart[i * t.ld + j]
            if x != 0.0 and not LEAST <= x <= GREATEST:
                return False
    return True


cdef bint linear_weights(const double[:, ::1] scores, Chart *t) noexcept nogil:
    """weight = exp(scores - best); charts = 0. False if a word has no head."""
    cdef Py_ssize_t n = t.n, h, m
    for m in range(1, n + 1):
        if t.best[m] == -INFINITY:
            return False
    memset(t.right, 0, 4 * t.ld * t.ld * sizeof(double))
    for h in range(n + 1):
        eisner_weights(n, &scores[h, 0], t.best, t.weight + h * t.ld)
        t.weight[h * t.ld] = t.weight[h * t.ld + h] = 0.0
    return True


cdef double partition(const Chart *t, bint single_root) noexcept nogil:
    """Z = RIGHT[0, n], or sum_r w[0, r] LEFT[1, r] RIGHT[r, n] with a single root."""
    cdef Py_ssize_t r
    cdef double z = 0.0
    if not single_root:
        return t.right[t.n]
    for r in range(1, t.n + 1):
        z += t.weight[r] * (t.left[t.ld + r] * t.right[r * t.ld + t.n])
    return z


cdef void outside(Chart *t, bint single_root, double z, double[:, ::1] mu) noexcept nogil:
    """The adjoint of partition() and inside(): mu[h, m] = ARC[h, m] dZ/dARC[h, m] / Z."""
    cdef Py_ssize_t n = t.n, ld = t.ld, i, r
    cdef double scale = 1.0 / z
    cdef double *left = t.left + ld
    memset(t.d_right, 0, 4 * ld * ld * sizeof(double))
    if single_root:
        for r in range(1, n + 1):
            mu[0, r] = t.weight[r] * (left[r] * t.right[r * ld + n]) * scale
            t.d_left[ld + r] = t.weight[r] * t.right[r * ld + n]
            t.d_right[r * ld + n] = t.weight[r] * left[r]
    else:
        t.d_right[n] = 1.0
    if single_root:
        outside_rows(t, 1, 1, scale, mu)
    for i in range(2 if single_root else 0, n, 2):  # row n has no span of two words
        outside_rows(t, i, 2, scale, mu)


cdef void outside_rows(Chart *t, Py_ssize_t i, int rows, double scale, double[:, ::1] mu) noexcept nogil:
    """The rows i and, if `rows` is 2, i + 1 as well, for even i: they share the passes over the charts.

    The rows collect their adjoints from those before them. These go, from right to left, into the adjoints of the
    rows' own entries; of each column, row i + 1 gets its share from row i as soon as that is final.
    """
    cdef Py_ssize_t n = t.n, ld = t.ld, here = i * ld, lo = n // 4 * 4, r
    memset(t.d_arc_right, 0, 2 * ld * sizeof(double))
    if i > 1:
        eisner_take_columns(i, i // 4 * 4, ld, t.right, t.arc_right, t.left, t.d_s, t.d_right, t.d_left, t.d_arc_left)
    while lo + 4 > i:
        if lo + 4 < ld and rows == 2:
            eisner_take_dot_twice(
                lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
                t.d_s + here, t.d_right + here, t.d_left + here, t.d_arc_right)
        elif lo + 4 < ld:
            eisner_take_dot(
                lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
                t.d_s + here, t.d_right + here, t.d_left + here, t.d_arc_right)
        outside_block(t, i, lo, t.d_arc_right, scale, mu)
        if rows == 2:
            for r in range(max(lo, i + 2), min(lo + 4, n + 1)):
                t.d_left[here + ld + r] += t.right[here + i] * t.d_s[here + r]
                t.d_right[here + ld + r] += t.arc_right[here + i + 1] * t.d_right[here + r]
                t.d_arc_left[here + ld + r] += t.left[here + i + 1] * t.d_left[here + r]
            outside_block(t, i + 1, lo, t.d_arc_right + ld, scale, mu)
        lo -= 4


cdef inline void outside_block(
    Chart *t, Py_ssize_t i, Py_ssize_t lo, double *d_arc_right, double scale, double[:, ::1] mu
) noexcept nogil:
    """The lines of inside_row(), transposed and in reverse, for the columns lo .. lo + 3 of row i."""
    cdef Py_ssize_t ld = t.ld, here = i * ld, p, r
    cdef double s_r, right_r, left_r, d_arc  # all of them adjoints
    cdef double *arc_right = t.arc_right + here
    cdef double *arc_left = t.arc_left + here
    cdef double *d_right = t.d_right + here
    cdef double *d_left = t.d_left + here
    cdef double *d_arc_left = t.d_arc_left + here
    for r in range(min(lo + 3, t.n), max(lo, i + 1) - 1, -1):
        right_r, left_r = d_right[r], d_left[r]
        d_arc = d_arc_left[r] + left_r  # left_r: from the term LEFT[i, i] ARC_LEFT[i, r]
        mu[r, i] = arc_left[r] * d_arc * scale
        s_r = t.weight[r * ld + i] * d_arc
        d_arc = d_arc_right[r] + right_r
        mu[i, r] = arc_right[r] * d_arc * scale
        s_r += t.weight[here + r] * d_arc
        t.d_s[here + r] = s_r
        for p in range(max(lo, i), r):
            d_right[p] += s_r * t.left[(p + 1) * ld + r]
            d_arc_right[p] += right_r * t.right[p * ld + r]
            d_left[p] += left_r * t.arc_left[p * ld + r]
