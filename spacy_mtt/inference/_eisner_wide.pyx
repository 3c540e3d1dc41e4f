# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Eisner's inside-outside over numbers with an extended exponent, for scores of any range.

The charts and recurrences are those of _eisner_chart.pxd. A row takes in one split at a time, elementwise.
So that the adjoint needs no sum along a row either, it works on transposed charts: as soon as the adjoint of
entry r of a row is final, it goes into the adjoints of all splits p < r.
"""

from libc.math cimport INFINITY
from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc

from spacy_mtt.inference._eisner_chart cimport column_maxima, log_total, twofold

cdef extern from "_wide.h" nogil:
    const wide WIDE_ZERO
    const wide WIDE_ONE
    bint wide_is_zero(wide a)
    wide wide_mul(wide a, wide b)
    wide wide_add(wide a, wide b)
    wide wide_mul_add(wide acc, wide a, wide b)
    wide wide_exp_diff(double s, double c)
    double wide_ratio(wide a, wide b)
    twofold twofold_add_log(twofold acc, wide a)

cdef extern from "_eisner_wide_rows.h" nogil:
    wide wide_row_get(wide_row x, Py_ssize_t j)
    void wide_row_put(wide_row x, Py_ssize_t j, wide value)
    void wide_row_clear(wide_row x, Py_ssize_t count)
    void wide_row_take(Py_ssize_t count, wide a, wide_row x, wide_row y)


cdef inline wide_row at(wide_row x, Py_ssize_t offset) noexcept nogil:
    cdef wide_row out
    out.m, out.e = x.m + offset, x.e + offset
    return out


cdef void lay_out(Chart *t, wide *weight, wide_row block, Py_ssize_t n, int charts) noexcept nogil:
    """Point t into block and set all charts to zero; charts is INSIDE_CHARTS or ALL_CHARTS."""
    cdef Py_ssize_t ld = n + 1, area = ld * ld
    wide_row_clear(block, charts * area + SINGLE_ROWS * ld)
    t.n, t.ld, t.weight = n, ld, weight
    t.s, t.best, t.d_right = block, at(block, ld).m, at(block, 2 * ld)
    t.d_left, t.d_arc_right = at(block, 3 * ld), at(block, 4 * ld)
    block = at(block, SINGLE_ROWS * ld)
    t.right, t.left = block, at(block, area)
    t.arc_right, t.arc_left = at(block, 2 * area), at(block, 3 * area)
    if charts == ALL_CHARTS:
        t.right_t, t.left_t, t.arc_left_t = at(block, 4 * area), at(block, 5 * area), at(block, 6 * area)
        t.d_right_t, t.d_left_t = at(block, 7 * area), at(block, 8 * area)
        t.d_arc_left_t = at(block, 9 * area)


def inside_outside(
    const double[:, :, ::1] scores, const Py_ssize_t[::1] lengths, bint single_root,
    double[::1] log_z, double[::1] excess, double[:, :, ::1] mu, const unsigned char[::1] wanted,
):
    """As _eisner.inside_outside(), but right for any range of scores; for the sentences b with wanted[b]."""
    cdef Py_ssize_t b, longest = scores.shape[1] - 1
    cdef int charts = ALL_CHARTS if mu.shape[0] else INSIDE_CHARTS
    cdef Py_ssize_t size = charts * (longest + 1) * (longest + 1) + SINGLE_ROWS * (longest + 1)
    cdef wide *weight = <wide *> calloc((longest + 1) * (longest + 1), sizeof(wide))
    cdef wide_row block
    cdef wide z
    cdef twofold total
    cdef Chart t
    block.m = <double *> malloc(size * sizeof(double))
    block.e = <int64_t *> malloc(size * sizeof(int64_t))
    try:
        if weight == NULL or block.m == NULL or block.e == NULL:
            raise MemoryError(f"no memory for {charts} charts of {longest + 1} x {longest + 1} wide numbers")
        with nogil:
            for b in range(scores.shape[0]):
                if not wanted[b]:
                    continue
                log_z[b] = excess[b] = 0.0
                if lengths[b] == 0:
                    continue
                lay_out(&t, weight, block, lengths[b], charts)
                weigh(scores[b], &t)
                inside(&t, 1 if single_root else 0, charts == ALL_CHARTS)
                z = partition(&t, single_root)
                if wide_is_zero(z):
                    log_z[b] = excess[b] = -INFINITY
                    continue
                total.hi = total.lo = 0.0
                total = twofold_add_log(total, z)
                excess[b] = total.hi
                log_z[b] = log_total(t.best, lengths[b], total.hi, total.lo)
                if charts == ALL_CHARTS:
                    outside(&t, single_root, z, mu[b])
    finally:
        free(weight)
        free(block.m)
        free(block.e)


cdef void weigh(const double[:, ::1] scores, Chart *t) noexcept nogil:
    """weight[h, m] = exp(scores[h, m] - best[m])."""
    cdef Py_ssize_t n = t.n, ld = t.ld, h, m
    column_maxima(scores, n, t.best)
    for h in range(n + 1):
        for m in range(n + 1):
            if m == 0 or m == h or t.best[m] == -INFINITY:  # no arc; a word without a head makes Z zero
                t.weight[h * ld + m] = WIDE_ZERO
            else:
                t.weight[h * ld + m] = wide_exp_diff(scores[h, m], t.best[m])


cdef void inside(Chart *t, Py_ssize_t first, bint transpose) noexcept nogil:
    cdef Py_ssize_t ld = t.ld, i, j
    for i in range(t.n, first - 1, -1):
        inside_row(t, i)
        if transpose:
            for j in range(i, ld):
                wide_row_put(t.right_t, j * ld + i, wide_row_get(t.right, i * ld + j))
                wide_row_put(t.left_t, j * ld + i, wide_row_get(t.left, i * ld + j))
                wide_row_put(t.arc_left_t, j * ld + i, wide_row_get(t.arc_left, i * ld + j))


cdef void inside_row(Chart *t, Py_ssize_t i) noexcept nogil:
    cdef Py_ssize_t n = t.n, ld = t.ld, r
    cdef wide_row s = t.s, right = at(t.right, i * ld), left = at(t.left, i * ld)
    cdef wide_row arc_right = at(t.arc_right, i * ld), arc_left = at(t.arc_left, i * ld)
    cdef wide right_r = WIDE_ONE, left_r, arc
    wide_row_clear(s, ld)
    wide_row_put(right, i, WIDE_ONE)
    wide_row_put(left, i, WIDE_ONE)
    for r in range(i, n + 1):
        if r > i:
            arc = wide_mul(t.weight[r * ld + i], wide_row_get(s, r))
            left_r = wide_add(wide_row_get(left, r), arc)
            wide_row_put(arc_left, r, arc)
            wide_row_put(left, r, left_r)
            arc = wide_mul(t.weight[i * ld + r], wide_row_get(s, r))
            right_r = wide_add(wide_row_get(right, r), arc)
            wide_row_put(arc_right, r, arc)
            wide_row_put(right, r, right_r)
            # RIGHT[i, j] += ARC_RIGHT[i, r] RIGHT[r, j], LEFT[i, j] += LEFT[i, r] ARC_LEFT[r, j], for j > r
            wide_row_take(n - r, arc, at(t.right, r * ld + r + 1), at(right, r + 1))
            wide_row_take(n - r, left_r, at(t.arc_left, r * ld + r + 1), at(left, r + 1))
        if r < n:  # S[i, j] += RIGHT[i, r] LEFT[r + 1, j], for j > r
            wide_row_take(n - r, right_r, at(t.left, (r + 1) * ld + r + 1), at(s, r + 1))


cdef wide partition(const Chart *t, bint single_root) noexcept nogil:
    """Z = RIGHT[0, n], or sum_r w[0, r] LEFT[1, r] RIGHT[r, n] with a single root."""
    cdef Py_ssize_t n = t.n, ld = t.ld, r
    cdef wide z = WIDE_ZERO, words
    if not single_root:
        return wide_row_get(t.right, n)
    for r in range(1, n + 1):
        words = wide_mul(wide_row_get(t.left, ld + r), wide_row_get(t.right, r * ld + n))
        z = wide_mul_add(z, t.weight[r], words)
    return z


cdef void outside(Chart *t, bint single_root, wide z, double[:, ::1] mu) noexcept nogil:
    """The adjoint of partition() and inside(): mu[h, m] = ARC[h, m] dZ/dARC[h, m] / Z."""
    cdef Py_ssize_t n = t.n, ld = t.ld, i, r
    cdef wide left, right
    if single_root:
        for r in range(1, n + 1):
            left, right = wide_row_get(t.left, ld + r), wide_row_get(t.right, r * ld + n)
            mu[0, r] = wide_ratio(wide_mul(t.weight[r], wide_mul(left, right)), z)
            wide_row_put(t.d_left_t, r * ld + 1, wide_mul(t.weight[r], right))
            wide_row_put(t.d_right_t, n * ld + r, wide_mul(t.weight[r], left))
    else:
        wide_row_put(t.d_right_t, n * ld, WIDE_ONE)
    for i in range(1 if single_root else 0, n + 1):
        outside_row(t, i, z, mu)


cdef void outside_row(Chart *t, Py_ssize_t i, wide z, double[:, ::1] mu) noexcept nogil:
    """The lines of inside_row(), transposed and in reverse."""
    cdef Py_ssize_t n = t.n, ld = t.ld, r, here, inner
    cdef wide_row right = at(t.right, i * ld), left = at(t.left, i * ld), arc_right = at(t.arc_right, i * ld)
    cdef wide d_right, d_left, d_arc_right, d_arc_left, d_s
    wide_row_clear(t.d_arc_right, ld)
    for r in range(i, n + 1):
        wide_row_put(t.d_right, r, wide_row_get(t.d_right_t, r * ld + i))
        wide_row_put(t.d_left, r, wide_row_get(t.d_left_t, r * ld + i))
    for r in range(n, i, -1):
        d_right, d_left = wide_row_get(t.d_right, r), wide_row_get(t.d_left, r)
        d_arc_right = wide_add(wide_row_get(t.d_arc_right, r), d_right)
        d_arc_left = wide_add(wide_row_get(t.d_arc_left_t, r * ld + i), d_left)
        mu[i, r] = wide_ratio(wide_mul(wide_row_get(arc_right, r), d_arc_right), z)
        mu[r, i] = wide_ratio(wide_mul(wide_row_get(t.arc_left, i * ld + r), d_arc_left), z)
        d_s = wide_mul(t.weight[i * ld + r], d_arc_right)
        d_s = wide_mul_add(d_s, t.weight[r * ld + i], d_arc_left)
        # S[i, r] = sum_p RIGHT[i, p] LEFT[p + 1, r] over i <= p < r
        here = r * ld + i + 1
        wide_row_take(r - i, d_s, at(t.left_t, here), at(t.d_right, i))
        wide_row_take(r - i, d_s, at(right, i), at(t.d_left_t, here))
        # RIGHT[i, r] = ARC_RIGHT[i, r] + sum_p ARC_RIGHT[i, p] RIGHT[p, r] over i < p < r; LEFT likewise
        inner = r - i - 1
        wide_row_take(inner, d_right, at(t.right_t, here), at(t.d_arc_right, i + 1))
        wide_row_take(inner, d_right, at(arc_right, i + 1), at(t.d_right_t, here))
        wide_row_take(inner, d_left, at(t.arc_left_t, here), at(t.d_left, i + 1))
        wide_row_take(inner, d_left, at(left, i + 1), at(t.d_arc_left_t, here))
