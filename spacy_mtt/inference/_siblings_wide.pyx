# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Inside-outside by the sibling chart over numbers with an extended exponent, for scores of any range.

The charts and recurrences are those of _siblings_chart.pxd, the order of work is that of _eisner_wide.pyx: a row
takes in one split at a time, and the adjoint works on transposed charts. The weights of row i are computed when
row i needs them, in the layout that suits: [r, j] inside, [j, r] outside.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.stdlib cimport free, malloc

cdef extern from "_wide.h" nogil:
    ctypedef struct wide:
        double m
        int64_t e
    ctypedef struct twofold:
        double hi
        double lo
    const wide WIDE_ZERO
    const wide WIDE_ONE
    bint wide_is_zero(wide a)
    wide wide_mul(wide a, wide b)
    wide wide_add(wide a, wide b)
    wide wide_mul_add(wide acc, wide a, wide b)
    double wide_ratio(wide a, wide b)
    twofold twofold_add(twofold a, double x)
    twofold twofold_add_log(twofold acc, wide a)

cdef extern from "_siblings_wide_rows.h" nogil:
    ctypedef struct wide_row:
        double *m
        int64_t *e
    wide wide_row_get(wide_row x, Py_ssize_t j)
    void wide_row_put(wide_row x, Py_ssize_t j, wide value)
    void wide_row_clear(wide_row x, Py_ssize_t count)
    void wide_row_take(Py_ssize_t count, wide a, wide_row x, wide_row y)
    void wide_row_take_weighted(Py_ssize_t count, wide a, wide_row w, wide_row x, wide_row y)
    void wide_row_ratios(
        Py_ssize_t count, wide a, wide z, wide_row w, wide_row x, wide_row y, double *out)
    void raise_best(double score, double sibling, double *hi, double *lo)
    wide part_weight(double score, double sibling, double hi, double lo)
    void wide_row_weights(
        Py_ssize_t count, const double *score, const double *sibling, const double *hi, const double *lo,
        wide_row out)
    double quarter_total(Py_ssize_t n, const double *hi, twofold rest)

cdef enum:
    INSIDE_CHARTS = 7
    ALL_CHARTS = 15
    SINGLE_ROWS = 11


cdef struct Chart:
    Py_ssize_t n
    Py_ssize_t ld
    bint single_root
    double *best           # one row each: [m] = max_{h, r} scores[h, m] + siblings[h, r, m], in quarters
    double *best_error     # what rounding took from it
    double *score          # what weigh() reads side by side
    double *sibling
    double *same_best
    double *same_error
    double *parts          # what outside_parts() writes so
    wide_row w_right       # of the row at hand: [r, j], and [j, r] below the diagonal
    wide_row w_left
    wide_row right         # [i, j]: left end, right end
    wide_row left
    wide_row arc_right
    wide_row arc_left
    wide_row s
    wide_row right_t       # [j, i], for marginals only, as all below
    wide_row left_t
    wide_row arc_left_t
    wide_row s_t
    wide_row d_right_t
    wide_row d_left_t
    wide_row d_arc_left_t
    wide_row d_s_t
    wide_row d_right       # one row each
    wide_row d_left
    wide_row d_s
    wide_row d_arc_right


cdef inline wide_row at(wide_row x, Py_ssize_t offset) noexcept nogil:
    cdef wide_row out
    out.m, out.e = x.m + offset, x.e + offset
    return out


cdef void lay_out(Chart *t, wide_row block, Py_ssize_t n, int charts) noexcept nogil:
    """Point t into block and set all charts to zero; charts is INSIDE_CHARTS or ALL_CHARTS."""
    cdef Py_ssize_t ld = n + 1, area = ld * ld
    wide_row_clear(block, charts * area + SINGLE_ROWS * ld)
    t.n, t.ld = n, ld
    t.d_right, t.d_left, t.d_s, t.d_arc_right = block, at(block, ld), at(block, 2 * ld), at(block, 3 * ld)
    t.best = at(block, 4 * ld).m
    t.best_error, t.score, t.sibling = t.best + ld, t.best + 2 * ld, t.best + 3 * ld
    t.same_best, t.same_error, t.parts = t.best + 4 * ld, t.best + 5 * ld, t.best + 6 * ld
    block = at(block, SINGLE_ROWS * ld)
    t.w_right, t.w_left = block, at(block, area)
    t.right, t.left, t.s = at(block, 2 * area), at(block, 3 * area), at(block, 4 * area)
    t.arc_right, t.arc_left = at(block, 5 * area), at(block, 6 * area)
    if charts == ALL_CHARTS:
        t.right_t, t.left_t, t.s_t = at(block, 7 * area), at(block, 8 * area), at(block, 9 * area)
        t.arc_left_t, t.d_right_t, t.d_left_t = at(block, 10 * area), at(block, 11 * area), at(block, 12 * area)
        t.d_arc_left_t, t.d_s_t = at(block, 13 * area), at(block, 14 * area)


def inside_outside(
    const double[:, :, ::1] scores, const double[:, :, :, ::1] siblings, const Py_ssize_t[::1] lengths,
    bint single_root, double[::1] log_z, double[:, ::1] excess, double[:, :, ::1] mu,
    double[:, :, :, ::1] mu_siblings, const unsigned char[::1] wanted,
):
    """As _siblings.inside_outside(), but right for any range of scores; for the sentences b with wanted[b]."""
    cdef Py_ssize_t b, longest = scores.shape[1] - 1
    cdef int charts = ALL_CHARTS if mu.shape[0] else INSIDE_CHARTS
    cdef Py_ssize_t size = charts * (longest + 1) * (longest + 1) + SINGLE_ROWS * (longest + 1)
    cdef wide_row block
    cdef wide z
    cdef Chart t
    t.single_root = single_root
    block.m = <double *> malloc(size * sizeof(double))
    block.e = <int64_t *> malloc(size * sizeof(int64_t))
    try:
        if block.m == NULL or block.e == NULL:
            raise MemoryError(f"no memory for {charts} charts of {longest + 1} x {longest + 1} wide numbers")
        with nogil:
            for b in range(scores.shape[0]):
                if not wanted[b] or lengths[b] == 0:
                    continue
                lay_out(&t, block, lengths[b], charts)
                best_parts(scores[b], siblings[b], &t)
                z = inside(&t, scores[b], siblings[b], charts == ALL_CHARTS)
                total(&t, z, &log_z[b], &excess[b, 0])
                if charts == ALL_CHARTS and not wide_is_zero(z):
                    outside(&t, scores[b], siblings[b], z, mu[b], mu_siblings[b])
    finally:
        free(block.m)
        free(block.e)


cdef void best_parts(const double[:, ::1] scores, const double[:, :, ::1] siblings, Chart *t) noexcept nogil:
    cdef Py_ssize_t n = t.n, h, r, m
    for m in range(1, n + 1):
        t.best[m], t.best_error[m] = -INFINITY, 0.0
    for h in range(n + 1):
        for r in range(1 if h else 0, 1 if h == 0 and t.single_root else n + 1):
            for m in range(r + 1 if r > h else 1, r if r < h else n + 1):
                if m != h:
                    raise_best(scores[h, m], siblings[h, r, m], &t.best[m], &t.best_error[m])


cdef void weigh(
    const double[:, ::1] scores, const double[:, :, ::1] siblings, Chart *t, Py_ssize_t i, bint transpose
) noexcept nogil:
    """The weights that row i reads, W_RIGHT[i] and W_LEFT[i] of _siblings_chart.pxd."""
    cdef Py_ssize_t n = t.n, ld = t.ld, r, j, here
    for j in range(i + 1, n + 1):
        t.score[j], t.same_best[j], t.same_error[j] = scores[j, i], t.best[i], t.best_error[i]
    for r in range(i, n):
        here = r * ld + r + 1
        wide_row_weights(n - r, &scores[i, r + 1], &siblings[i, r, r + 1], t.best + r + 1,
                         t.best_error + r + 1, at(t.w_right, here))
        if i == 0:  # the root is nobody's modifier
            wide_row_clear(at(t.w_left, here), n - r)
            continue
        for j in range(r + 1, n + 1):
            t.sibling[j] = siblings[j, j if r == i else r, i]
        wide_row_weights(n - r, t.score + r + 1, t.sibling + r + 1, t.same_best + r + 1,
                         t.same_error + r + 1, at(t.w_left, here))
    if transpose:
        flip(t.w_right, n, ld, i)
        flip(t.w_left, n, ld, i)


cdef void flip(wide_row w, Py_ssize_t n, Py_ssize_t ld, Py_ssize_t first) noexcept nogil:
    """w[j, r] = w[r, j] for first <= r < j <= n"""
    cdef Py_ssize_t r, j
    for r in range(first, n):
        for j in range(r + 1, n + 1):
            w.m[j * ld + r] = w.m[r * ld + j]
            w.e[j * ld + r] = w.e[r * ld + j]


cdef wide inside(
    Chart *t, const double[:, ::1] scores, const double[:, :, ::1] siblings, bint transpose
) noexcept nogil:
    """Fill the charts; Z."""
    cdef Py_ssize_t n = t.n, ld = t.ld, i, j, r
    cdef wide z = WIDE_ZERO, words
    for i in range(n, 0 if t.single_root else -1, -1):
        weigh(scores, siblings, t, i, False)
        inside_row(t, i)
        if transpose:
            for j in range(i, ld):
                wide_row_put(t.right_t, j * ld + i, wide_row_get(t.right, i * ld + j))
                wide_row_put(t.left_t, j * ld + i, wide_row_get(t.left, i * ld + j))
                wide_row_put(t.arc_left_t, j * ld + i, wide_row_get(t.arc_left, i * ld + j))
                wide_row_put(t.s_t, j * ld + i, wide_row_get(t.s, i * ld + j))
    if not t.single_root:
        return wide_row_get(t.right, n)
    for r in range(1, n + 1):
        words = wide_mul(wide_row_get(t.left, ld + r), wide_row_get(t.right, r * ld + n))
        z = wide_mul_add(z, part_weight(scores[0, r], siblings[0, 0, r], t.best[r], t.best_error[r]), words)
    return z


cdef void inside_row(Chart *t, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t n = t.n, ld = t.ld, r, here
    cdef wide_row right = at(t.right, i * ld), left = at(t.left, i * ld), s = at(t.s, i * ld)
    cdef wide_row arc_right = at(t.arc_right, i * ld), arc_left = at(t.arc_left, i * ld)
    cdef wide right_r = WIDE_ONE, left_r, s_r, arc
    wide_row_put(right, i, WIDE_ONE)
    wide_row_put(left, i, WIDE_ONE)
    for r in range(i, n + 1):
        here = r * ld + r + 1
        if r > i:
            s_r = wide_row_get(s, r)
            arc = wide_mul_add(wide_row_get(arc_left, r), wide_row_get(t.w_left, i * ld + r), right_r)
            left_r = wide_add(wide_row_get(left, r), arc)
            wide_row_put(s, r, s_r)
            wide_row_put(arc_left, r, arc)
            wide_row_put(left, r, left_r)
            arc = wide_mul_add(
                wide_row_get(arc_right, r), wide_row_get(t.w_right, i * ld + r), wide_row_get(t.left, (i + 1) * ld + r))
            right_r = wide_add(wide_row_get(right, r), arc)
            wide_row_put(arc_right, r, arc)
            wide_row_put(right, r, right_r)
            wide_row_take(n - r, arc, at(t.right, here), at(right, r + 1))
            wide_row_take(n - r, left_r, at(t.arc_left, here), at(left, r + 1))
            wide_row_take_weighted(n - r, arc, at(t.w_right, here), at(t.s, here), at(arc_right, r + 1))
            wide_row_take_weighted(n - r, s_r, at(t.w_left, here), at(t.arc_left, here), at(arc_left, r + 1))
        if r < n:  # S[i, j] += RIGHT[i, r] LEFT[r + 1, j], for j > r
            wide_row_take(n - r, right_r, at(t.left, here + ld), at(s, r + 1))


cdef void total(const Chart *t, wide z, double *log_z, double *excess) noexcept nogil:
    """log Z, and in two doubles what it has above sum_m best[m]."""
    cdef Py_ssize_t m
    cdef twofold rest
    if wide_is_zero(z):
        log_z[0] = excess[0] = -INFINITY  # excess[1] is 0
        return
    rest.hi = rest.lo = 0.0
    rest = twofold_add_log(rest, z)
    for m in range(1, t.n + 1):
        rest = twofold_add(rest, 4.0 * t.best_error[m])
    excess[0], excess[1] = rest.hi, rest.lo
    log_z[0] = quarter_total(t.n, t.best, rest)


cdef void outside(
    Chart *t, const double[:, ::1] scores, const double[:, :, ::1] siblings, wide z, double[:, ::1] mu,
    double[:, :, ::1] mu_siblings,
) noexcept nogil:
    """The adjoint of inside(): the marginals are w dZ/dw / Z and ARC dZ/dARC / Z."""
    cdef Py_ssize_t n = t.n, ld = t.ld, i, r
    cdef wide left, right, w
    if t.single_root:
        for r in range(1, n + 1):
            left, right = wide_row_get(t.left, ld + r), wide_row_get(t.right, r * ld + n)
            w = part_weight(scores[0, r], siblings[0, 0, r], t.best[r], t.best_error[r])
            mu[0, r] = mu_siblings[0, 0, r] = wide_ratio(wide_mul(w, wide_mul(left, right)), z)
            wide_row_put(t.d_left_t, r * ld + 1, wide_mul(w, right))
            wide_row_put(t.d_right_t, n * ld + r, wide_mul(w, left))
    else:
        wide_row_put(t.d_right_t, n * ld, WIDE_ONE)
    for i in range(1 if t.single_root else 0, n + 1):
        weigh(scores, siblings, t, i, True)
        outside_row(t, i, z, mu, mu_siblings)


cdef void outside_row(
    Chart *t, Py_ssize_t i, wide z, double[:, ::1] mu, double[:, :, ::1] mu_siblings
) noexcept nogil:
    """The lines of inside_row(), transposed and in reverse."""
    cdef Py_ssize_t n = t.n, ld = t.ld, r, below, here, inner
    cdef wide_row right = at(t.right, i * ld), left = at(t.left, i * ld), s = at(t.s, i * ld)
    cdef wide_row arc_right = at(t.arc_right, i * ld)
    cdef wide d_right, d_left, d_s, out, back
    wide_row_clear(t.d_arc_right, ld)
    for r in range(i, n + 1):
        wide_row_put(t.d_right, r, wide_row_get(t.d_right_t, r * ld + i))
        wide_row_put(t.d_left, r, wide_row_get(t.d_left_t, r * ld + i))
        wide_row_put(t.d_s, r, wide_row_get(t.d_s_t, r * ld + i))
    for r in range(n, i, -1):
        below, here, inner = i + 1, r * ld + i + 1, r - i - 1
        d_right, d_left, d_s = wide_row_get(t.d_right, r), wide_row_get(t.d_left, r), wide_row_get(t.d_s, r)
        out = wide_add(wide_row_get(t.d_arc_right, r), d_right)
        back = wide_add(wide_row_get(t.d_arc_left_t, r * ld + i), d_left)
        mu[i, r] = wide_ratio(wide_mul(wide_row_get(arc_right, r), out), z)
        mu[r, i] = wide_ratio(wide_mul(wide_row_get(t.arc_left, i * ld + r), back), z)
        outside_parts(t, i, r, out, back, z, mu_siblings)
        # S[i, r] = sum_p RIGHT[i, p] LEFT[p + 1, r] over i <= p < r
        wide_row_take(r - i, d_s, at(t.left_t, here), at(t.d_right, i))
        wide_row_take(r - i, d_s, at(right, i), at(t.d_left_t, here))
        # RIGHT[i, r] = ARC_RIGHT[i, r] + sum_p ARC_RIGHT[i, p] RIGHT[p, r] over i < p < r; LEFT likewise
        wide_row_take(inner, d_right, at(t.right_t, here), at(t.d_arc_right, below))
        wide_row_take(inner, d_right, at(arc_right, below), at(t.d_right_t, here))
        wide_row_take(inner, d_left, at(t.arc_left_t, here), at(t.d_left, below))
        wide_row_take(inner, d_left, at(left, below), at(t.d_arc_left_t, here))
        # ARC_RIGHT[i, r] = ... + sum_p ARC_RIGHT[i, p] w[i, p, r] S[p, r] over i < p < r; ARC_LEFT likewise
        wide_row_take_weighted(inner, out, at(t.w_right, here), at(t.s_t, here), at(t.d_arc_right, below))
        wide_row_take_weighted(inner, out, at(t.w_right, here), at(arc_right, below), at(t.d_s_t, here))
        wide_row_take_weighted(inner, back, at(t.w_left, here), at(t.arc_left_t, here), at(t.d_s, below))
        wide_row_take_weighted(inner, back, at(t.w_left, here), at(s, below), at(t.d_arc_left_t, here))


cdef void outside_parts(
    Chart *t, Py_ssize_t i, Py_ssize_t r, wide out, wide back, wide z, double[:, :, ::1] mu_siblings
) noexcept nogil:
    """The marginals of the parts of i -> r and r -> i, whose adjoints are out and back; the parts without a sibling."""
    cdef Py_ssize_t ld = t.ld, row = i * ld + i + 1, here = r * ld + i + 1, inner = r - i - 1, p
    cdef wide right = wide_row_get(t.right, i * ld + r - 1), left = wide_row_get(t.left, (i + 1) * ld + r)
    cdef wide d_w = wide_mul(wide_row_get(t.w_right, r * ld + i), out)
    mu_siblings[i, i, r] = wide_ratio(wide_mul(d_w, left), z)
    wide_row_put(t.d_left_t, r * ld + i + 1, wide_add(wide_row_get(t.d_left_t, r * ld + i + 1), d_w))
    d_w = wide_mul(wide_row_get(t.w_left, r * ld + i), back)
    mu_siblings[r, r, i] = wide_ratio(wide_mul(d_w, right), z)
    wide_row_put(t.d_right, r - 1, wide_add(wide_row_get(t.d_right, r - 1), d_w))
    wide_row_ratios(inner, out, z, at(t.w_right, here), at(t.arc_right, row), at(t.s_t, here), t.parts)
    for p in range(inner):
        mu_siblings[i, i + 1 + p, r] = t.parts[p]
    wide_row_ratios(inner, back, z, at(t.w_left, here), at(t.s, row), at(t.arc_left_t, here), t.parts)
    for p in range(inner):
        mu_siblings[r, i + 1 + p, i] = t.parts[p]
