# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Inside-outside by the sibling chart in plain doubles, with a test for underflow.

The recurrences are in _siblings_chart.pxd, the public functions in siblings.py.
"""

from libc.math cimport INFINITY, fabs, log
from libc.stdlib cimport free
from libc.string cimport memcpy, memset

from spacy_mtt.inference._eisner_chart cimport log_total
from spacy_mtt.inference._siblings_chart cimport (
    ALL_CHARTS, INSIDE_CHARTS, TILE, Chart, allocate, best_parts, inside, lay_out, weigh, weights_of
)

cdef extern from "_siblings_rows.h" nogil:
    void siblings_take_chart_adjoint(
        Py_ssize_t lo, Py_ssize_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
        double *d_LEFT1, double *d_RIGHT, double *d_ARC_LEFT,
        const double *right, const double *left, const double *arc_right,
        const double *d_s, double *d_right, double *d_left, double *d_arc_right)
    void siblings_take_sum_adjoint(
        Py_ssize_t first, Py_ssize_t lo, Py_ssize_t ld, double scale, const double *S, const double *ARC_LEFT,
        double *W_RIGHT, double *W_LEFT, double *d_S, double *d_ARC_LEFT, const double *s,
        const double *arc_right, double *d_s, double *d_arc_right, const double *d_arc_left)

cdef extern from *:
    """
    /* There are binomial(3n, n) / (2n + 1) < (27 / 4)^n projective trees. */
    #define LOG_TREES_PER_WORD 1.9095425048844386
    #define MAX_LOG 640.0 /* see accepts() */
    #define MAX_BEST 1099511627776.0 /* 2^40 */
    """
    const double LOG_TREES_PER_WORD
    const double MAX_LOG
    const double MAX_BEST


def inside_outside(
    const double[:, :, ::1] scores, const double[:, :, :, ::1] siblings, const Py_ssize_t[::1] lengths,
    bint single_root, double[::1] log_z, double[:, ::1] excess, double[:, :, ::1] mu,
    double[:, :, :, ::1] mu_siblings, unsigned char[::1] rejected,
):
    """Write log Z, its excess over sum_m best[m] in two doubles, and the marginals; all come filled with zeros.

    Marginals whose first axis has length 0 leave the outside pass out. Where plain doubles might underflow or
    overflow, and where a word has no head, rejected[b] becomes 1 and all answers for b stay as
    they are.
    """
    cdef Py_ssize_t b, n, longest = scores.shape[1] - 1
    cdef int charts = ALL_CHARTS if mu.shape[0] else INSIDE_CHARTS
    cdef double z
    cdef double *block = allocate(longest, charts)
    cdef Chart t
    with nogil:
        for b in range(scores.shape[0]):
            n = lengths[b]
            if n == 0:
                continue
            rejected[b] = 1
            if LOG_TREES_PER_WORD * n >= MAX_LOG:
                continue
            lay_out(&t, block, n, single_root, charts)
            if not best_parts(scores[b], siblings[b], &t) or not moderate(&t):
                continue
            weigh(scores[b], siblings[b], &t, False)
            inside(&t, False)
            z = partition(&t)
            if not accepts(n, z):
                continue
            rejected[b] = 0
            excess[b, 0] = log(z)
            log_z[b] = log_total(t.best, n, excess[b, 0], 0.0)
            if charts == ALL_CHARTS:
                outside(&t, z, mu[b], mu_siblings[b])
                unpack(&t, mu_siblings[b])
        free(block)


cdef bint moderate(const Chart *t) noexcept nogil:
    """Whether no score + sibling - best above -708 is larger than 2^-13: best is a rounded sum, so it may be > 0."""
    cdef Py_ssize_t m
    for m in range(1, t.n + 1):
        if fabs(t.best[m]) > MAX_BEST:
            return False
    return True


cdef bint accepts(Py_ssize_t n, double z) noexcept nogil:
    """Whether z, and marginals computed from the same charts, are good to double precision.

    As in _eisner.pyx. A tree has one derivation, the product of one weight a word. Weights are at most
    exp(2^-13), so every entry of a chart or of its adjoint is a sum of at most (27/4)^n products: at most
    T = 1.05 (27/4)^n for n <= 335, and so is every entry times its adjoint. With log T < 641 nothing overflows,
    not even times 1/Z < e^640/T. An underflow loses less than 2^-1022 = e^-708.4, even where subnormals are flushed to
    zero. It reaches Z, or Z times a marginal, multiplied by at most T. There are fewer than 10 n^3 products and
    weights, so all losses together are below T e^(-708.4 + 19.8) < T e^-688; against z > T e^-641 that is less than
    e^-47 = 4e-21.
    """
    return z > 0.0 and log(z) > LOG_TREES_PER_WORD * n - MAX_LOG


cdef double partition(const Chart *t) noexcept nogil:
    """Z = RIGHT[0, n], or sum_r w[0, 0, r] LEFT[1, r] RIGHT[r, n] with a single root."""
    cdef Py_ssize_t r
    cdef double z = 0.0
    if not t.single_root:
        return t.right[t.n]
    for r in range(1, t.n + 1):
        z += t.w_right[r] * (t.left[t.ld + r] * t.right[r * t.ld + t.n])
    return z


cdef void outside(Chart *t, double z, double[:, ::1] mu, double[:, :, ::1] mu_siblings) noexcept nogil:
    """The adjoint of partition() and inside(): mu[h, m] = ARC[h, m] dZ/dARC[h, m] / Z.

    The weights give way to the marginals of their parts, w dZ/dw / Z; with a single root those of the root go
    into mu_siblings at once.
    """
    cdef Py_ssize_t n = t.n, ld = t.ld, i, r
    cdef double scale = 1.0 / z
    cdef double *left = t.left + ld
    memset(t.d_right, 0, 4 * ld * ld * sizeof(double))
    if t.single_root:
        for r in range(1, n + 1):
            mu[0, r] = t.w_right[r] * (left[r] * t.right[r * ld + n]) * scale
            t.d_left[ld + r] = t.w_right[r] * t.right[r * ld + n]
            t.d_right[r * ld + n] = t.w_right[r] * left[r]
            mu_siblings[0, 0, r] = mu[0, r]
    else:
        t.d_right[n] = 1.0
    for i in range(1 if t.single_root else 0, n + 1):
        outside_row(t, i, scale, mu)


cdef void outside_row(Chart *t, Py_ssize_t i, double scale, double[:, ::1] mu) noexcept nogil:
    """The lines of inside_row(), transposed and in reverse."""
    cdef Py_ssize_t n = t.n, ld = t.ld, lo = n // 4 * 4, r
    cdef double *right = t.right + i * ld
    cdef double *left = t.left + i * ld
    cdef double *arc_right = t.arc_right + i * ld
    cdef double *s = t.s + i * ld
    cdef double *d_right = t.d_right + i * ld
    cdef double *d_left = t.d_left + i * ld
    cdef double *d_arc_left = t.d_arc_left + i * ld
    cdef double *d_s = t.d_s + i * ld
    cdef double *w_right = weights_of(t.w_right, t, i)
    cdef double *w_left = weights_of(t.w_left, t, i)
    memset(t.d_arc_right, 0, ld * sizeof(double))
    left[i] = 0.0  # as in inside_row(); no row reads it again
    while lo + 4 > i:
        if lo + 4 < ld:
            siblings_take_chart_adjoint(
                lo + 4, ld, t.left + (lo + 1) * ld, t.right + lo * ld, t.arc_left + lo * ld,
                t.d_left + (lo + 1) * ld, t.d_right + lo * ld, t.d_arc_left + lo * ld,
                right, left, arc_right, d_s, d_right, d_left, t.d_arc_right)
            siblings_take_sum_adjoint(
                i + 1, lo + 4, ld, scale, t.s + lo * ld, t.arc_left + lo * ld, w_right + lo * ld,
                w_left + lo * ld, t.d_s + lo * ld, t.d_arc_left + lo * ld, s, arc_right, d_s,
                t.d_arc_right, d_arc_left)
        for r in range(min(lo + 3, n), max(lo, i + 1) - 1, -1):
            outside_entry(t, i, r, scale, mu)
        lo -= 4


cdef void outside_entry(Chart *t, Py_ssize_t i, Py_ssize_t r, double scale, double[:, ::1] mu) noexcept nogil:
    """The lines of inside_entry(), transposed and in reverse."""
    cdef Py_ssize_t ld = t.ld, p, at
    cdef double *right = t.right + i * ld
    cdef double *left = t.left + i * ld
    cdef double *arc_right = t.arc_right + i * ld
    cdef double *s = t.s + i * ld
    cdef double *d_right = t.d_right + i * ld
    cdef double *d_left = t.d_left + i * ld
    cdef double *d_s = t.d_s + i * ld
    cdef double *w_right = weights_of(t.w_right, t, i) + r
    cdef double *w_left = weights_of(t.w_left, t, i) + r
    cdef double right_r = d_right[r], left_r = d_left[r], s_r = d_s[r]  # all of them adjoints
    cdef double out = t.d_arc_right[r] + right_r, back = t.d_arc_left[i * ld + r] + left_r, d_w
    t.d_arc_right[r] = out
    t.d_arc_left[i * ld + r] = back
    mu[i, r] = arc_right[r] * out * scale
    mu[r, i] = t.arc_left[i * ld + r] * back * scale
    d_w = w_right[i * ld] * out
    t.d_left[(i + 1) * ld + r] += d_w
    w_right[i * ld] = d_w * t.left[(i + 1) * ld + r] * scale
    d_w = w_left[i * ld] * back
    d_right[r - 1] += d_w
    w_left[i * ld] = d_w * right[r - 1] * scale
    for p in range(max(r // 4 * 4, i), r):
        d_right[p] += s_r * t.left[(p + 1) * ld + r]
        t.d_left[(p + 1) * ld + r] += s_r * right[p]
    for p in range(max(r // 4 * 4, i + 1), r):
        at = p * ld + r
        t.d_arc_right[p] += right_r * t.right[at]
        t.d_right[at] += right_r * arc_right[p]
        d_left[p] += left_r * t.arc_left[at]
        t.d_arc_left[at] += left_r * left[p]
        d_w = w_right[p * ld] * out
        t.d_s[at] += d_w * arc_right[p]
        d_w *= t.s[at]
        t.d_arc_right[p] += d_w
        w_right[p * ld] = d_w * (arc_right[p] * scale)
        d_w = w_left[p * ld] * back
        t.d_arc_left[at] += d_w * s[p]
        d_w *= t.arc_left[at]
        d_s[p] += d_w
        w_left[p * ld] = d_w * (s[p] * scale)


cdef void unpack(const Chart *t, double[:, :, ::1] mu_siblings) noexcept nogil:
    """Copy what outside() left in place of the weights."""
    cdef Py_ssize_t n = t.n, ld = t.ld, h, r, m
    for h in range(1 if t.single_root else 0, n):
        for r in range(h, n):
            memcpy(&mu_siblings[h, r, r + 1], weights_of(t.w_right, t, h) + r * ld + r + 1,
                   (n - r) * sizeof(double))
    for m in range(1, n):
        for h in range(m + 1, n + 1):
            mu_siblings[h, h, m] = weights_of(t.w_left, t, m)[m * ld + h]
    for r in range(2, n):
        h = r + 1
        while h <= n:
            unpack_left(t, r, h, mu_siblings)
            h += TILE


cdef void unpack_left(const Chart *t, Py_ssize_t r, Py_ssize_t first, double[:, :, ::1] mu_siblings) noexcept nogil:
    """The inverse of weigh_left(), for heads above r."""
    cdef Py_ssize_t count = min(<Py_ssize_t> TILE, t.n + 1 - first), m, k
    cdef const double *row
    for m in range(1, r):
        row = weights_of(t.w_left, t, m) + r * t.ld + first
        for k in range(count):
            t.tile[k * t.ld + m] = row[k]
    for k in range(count):
        memcpy(&mu_siblings[first + k, r, 1], t.tile + k * t.ld + 1, (r - 1) * sizeof(double))
