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
        Py_ssize_t r, Py_ssize_t ld, const double *RIGHT, const double *ARC_RIGHT, const double *LEFT,
        const double *d_S, double *d_RIGHT, double *d_LEFT, double *d_ARC_LEFT)
    void eisner_weights(Py_ssize_t n, const double *s, const double *c, double *w)
    bint eisner_rescale(
        Py_ssize_t first, Py_ssize_t end, double scale, double least, double greatest, const double *s, double *w)
    bint eisner_in_range(Py_ssize_t first, Py_ssize_t end, double least, double greatest, const double *x)

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

cdef enum:
    SAMPLE = 128  # words

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
                log_z[b] = log_total(t.best, n, excess[b], 0.0)
        free(block)


cdef Status solve(
    Chart *t, const double[:, ::1] scores, bint single_root, double *excess, double[:, :, ::1] mu
) noexcept nogil:
    """The sums of one sentence; mu[0] gets its marginals unless mu is empty.

    In a long sentence, or where no head stands out, Z is far from 1. A constant times all weights then brings it
    back: every tree has n arcs. It is found, and whether it is needed, from the sentence's last SAMPLE words.
    """
    cdef Py_ssize_t first = 1 if single_root else 0, sampled = max(first, t.n + 1 - SAMPLE)
    cdef double scale, z
    cdef bint plain
    if not linear_weights(scores, t):
        return NO_TREE
    inside(t, t.n, sampled, False)
    scale = balance(t, sampled)
    plain = sampled == first or accepts(t.n, -t.n * log(scale))
    if plain:
        inside(t, sampled - 1, first, False)
        if finish(t, single_root, 1.0, excess, mu):
            return SOLVED
        z = partition(t, single_root)
        scale = exp(-log(z) / t.n) if z > 0.0 else scale
    clear(t, sampled if not plain else 0)
    if rescale(t, scores, scale):
        inside(t, t.n, first, False)
        if finish(t, single_root, scale, excess, mu):
            return SOLVED
    if not plain:  # the sample may have misled
        linear_weights(scores, t)
        inside(t, t.n, first, False)
        if finish(t, single_root, 1.0, excess, mu):
            return SOLVED
    return REJECTED


cdef bint finish(
    Chart *t, bint single_root, double scale, double *excess, double[:, :, ::1] mu
) noexcept nogil:
    """The sums from the inside charts of weights times `scale`; whether they are good to double precision."""
    cdef double z = partition(t, single_root)
    if not z > 0.0:
        return False
    if scale == 1.0:
        if not accepts(t.n, log(z)):
            return False
    elif not (inside_in_range(t) and LEAST <= z <= GREATEST):
        return False
    excess[0] = log(z) - t.n * log(scale)
    if mu.shape[0]:
        outside(t, single_root, z, mu[0])
        if scale != 1.0 and not outside_in_range(t):
            memset(&mu[0, 0, 0], 0, mu.shape[1] * mu.shape[2] * sizeof(double))
            return False
    return True


cdef bint fill_inside(const double[:, ::1] scores, Chart *t, bint single_root) noexcept nogil:
    """Fill the inside charts of a sentence, t laid out for it. False: no tree exists, or plain doubles may not do."""
    cdef double z
    if LOG_TREES_PER_WORD * t.n >= MAX_LOG:
        return False
    column_maxima(scores, t.n, t.best)
    if not linear_weights(scores, t):
        return False
    inside(t, t.n, 1 if single_root else 0, False)
    z = partition(t, single_root)
    return z > 0.0 and accepts(t.n, log(z))


cdef bint accepts(Py_ssize_t n, double log_z) noexcept nogil:
    """Whether z, and marginals computed from the same charts, are good to double precision, weights being <= 1.

    Every entry of a chart or of its adjoint is a sum of at most T = (27/4)^n
    products of weights: at most T, and so is every entry times its adjoint. With log T < 640, that is n <=
    335, nothing overflows. An underflow loses less than 2^-1022 = e^-708.4, even where subnormals are
    flushed to zero. It reaches Z, or Z times a marginal, multiplied by at most T. There are at most 5 n^3
    operations, so all losses together are below T e^(-708.4 + 19.1) < T e^-689; against z > T e^-640 that
    is less than e^-49 = 6e-22.
    """
    return LOG_TREES_PER_WORD * n < MAX_LOG and log_z > LOG_TREES_PER_WORD * n - MAX_LOG


cdef double balance(const Chart *t, Py_ssize_t first) noexcept nogil:
    """A factor for all weights under which spans neither grow nor shrink with their width, from the rows >= first.

    The mean over the spans half as wide as those rows; 1 if none of them is a finite number.
    """
    cdef Py_ssize_t n = t.n, ld = t.ld, i, width = (n - first + 1) // 2, count = 0
    cdef double total = 0.0, span
    for i in range(max(first, 1), n - width + 1):
        span = t.right[i * ld + i + width] + t.left[i * ld + i + width]
        if 0.0 < span < INFINITY:
            total += log(span)
            count += width
    return exp(-total / count) if count else 1.0


cdef bint rescale(Chart *t, const double[:, ::1] scores, double scale) noexcept nogil:
    """Multiply all weights by `scale`; whether those of all arcs are then in range."""
    cdef Py_ssize_t n = t.n, h
    for h in range(n + 1):
        if not (eisner_rescale(1, h, scale, LEAST, GREATEST, &scores[h, 0], t.weight + h * t.ld) and
                eisner_rescale(h + 1, n + 1, scale, LEAST, GREATEST, &scores[h, 0], t.weight + h * t.ld)):
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
    cdef Py_ssize_t i
    for i in range(t.n + 1):
        if not eisner_in_range(i + 1, t.n + 1, LEAST, GREATEST, chart + i * t.ld):
            return False
    return True


cdef void clear(Chart *t, Py_ssize_t first) noexcept nogil:
    """The rows of the inside charts from `first` on become 0."""
    cdef Py_ssize_t chart
    for chart in range(4):
        memset(t.right + (chart * t.ld + first) * t.ld, 0, (t.ld - first) * t.ld * sizeof(double))


cdef bint linear_weights(const double[:, ::1] scores, Chart *t) noexcept nogil:
    """weight = exp(scores - best); charts = 0. False if a word has no head."""
    cdef Py_ssize_t n = t.n, h, m
    for m in range(1, n + 1):
        if t.best[m] == -INFINITY:
            return False
    clear(t, 0)
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
    for i in range(0, n, 4):
        outside_rows(t, i + 1 if i == 0 and single_root else i, min(i + 3, n), scale, mu)


cdef void outside_rows(
    Chart *t, Py_ssize_t first, Py_ssize_t last, double scale, double[:, ::1] mu
) noexcept nogil:
    """The rows first .. last, which belong to the same four: they share the passes over the charts.

    The rows collect their adjoints from those before them. These go, from right to left, into the adjoints of the
    rows' own entries; of each column, a row gets its share from those just above as soon as they are final.
    """
    cdef Py_ssize_t n = t.n, ld = t.ld, lo = n // 4 * 4, i, below, r
    cdef Py_ssize_t here, there
    memset(t.d_arc_right, 0, 4 * ld * sizeof(double))
    eisner_take_columns(
        first // 4 * 4, ld, t.right, t.arc_right, t.left, t.d_s, t.d_right, t.d_left, t.d_arc_left)
    while lo + 4 > first:
        if lo + 4 < ld:
            i = first
            while i <= last:
                i += take_dot(t, i, 2 if i < last else 1, lo)
        for i in range(first, last + 1):
            outside_block(t, i, lo, t.d_arc_right + i % 4 * ld, scale, mu)
            here = i * ld
            for below in range(i + 1, last + 1):
                there = below * ld
                for r in range(max(lo, below + 1), min(lo + 4, n + 1)):
                    t.d_left[there + r] += t.right[here + below - 1] * t.d_s[here + r]
                    t.d_right[there + r] += t.arc_right[here + below] * t.d_right[here + r]
                    t.d_arc_left[there + r] += t.left[here + below] * t.d_left[here + r]
        lo -= 4


cdef inline int take_dot(Chart *t, Py_ssize_t i, int rows, Py_ssize_t lo) noexcept nogil:
    """Into the adjoints of row i at the columns lo .. lo + 3, and of row i + 1 if `rows` is 2; `rows`."""
    cdef Py_ssize_t ld = t.ld, here = i * ld
    cdef double *d_arc_right = t.d_arc_right + i % 4 * ld
    if rows == 2:
        eisner_take_dot_twice(
            lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
            t.d_s + here, t.d_right + here, t.d_left + here, d_arc_right)
    else:
        eisner_take_dot(
            lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
            t.d_s + here, t.d_right + here, t.d_left + here, d_arc_right)
    return rows


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
