# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Projective trees drawn top-down through Eisner's inside chart.

A span's trees are split up by where its largest arc, or its two halves, meet; each part's share is a product of two
chart entries, which have extended exponents where plain doubles might not do. A span's shares are computed when a
tree first has it.
"""

from libc.stdint cimport int64_t
from libc.stdlib cimport calloc, free, malloc

from spacy_mtt.inference cimport _eisner_chart
from spacy_mtt.inference._eisner cimport fill_inside
from spacy_mtt.inference._eisner_wide cimport (
    INSIDE_CHARTS, SINGLE_ROWS, Chart, inside, lay_out, weigh, wide, wide_row
)

cdef extern from "_wide.h" nogil:
    bint wide_is_zero(wide a)
    wide wide_from_double(double x)
    wide wide_mul(wide a, wide b)
    wide wide_add(wide a, wide b)
    double wide_ratio(wide a, wide b)
    const wide WIDE_ZERO

cdef extern from "_eisner_wide_rows.h" nogil:
    wide wide_row_get(wide_row x, Py_ssize_t j)

# What a span is.
cdef enum:
    RIGHT
    LEFT
    BETWEEN
    SENTENCE
    KINDS

cdef struct Sampler:
    Py_ssize_t n
    bint is_wide
    _eisner_chart.Chart plain
    double *plain_block
    Chart chart          # with extended exponents
    wide *weight
    wide_row block
    wide *shares         # scratch: the parts of a span
    double **cumulative  # by span: the running sums of its parts' probabilities
    Py_ssize_t *stack


def sample(
    const double[:, ::1] scores, bint single_root, const double[:, ::1] uniforms, Py_ssize_t[:, ::1] heads,
    *, bint wide_only=False,
):
    """Draw heads (K, n), n >= 1, from uniforms (K, 2n) in [0, 1); False if no tree exists.

    O(n^3), then for each tree O(n log n) and the lengths of the spans that no earlier tree had. `wide_only`, for
    tests: no plain doubles.
    """
    cdef Py_ssize_t k
    cdef bint found = True
    cdef Sampler s
    begin(&s, scores.shape[0] - 1)
    try:
        allocate(&s)
        if wide_only or not fill_inside(scores, &s.plain, single_root):
            allocate_wide(&s)
            with nogil:
                lay_out(&s.chart, s.weight, s.block, s.n, INSIDE_CHARTS)
                weigh(scores, &s.chart)
                inside(&s.chart, 1 if single_root else 0, False)
                found = has_tree(&s, single_root)
        with nogil:
            for k in range(heads.shape[0] if found else 0):
                if not draw_tree(&s, single_root, &uniforms[k, 0], &heads[k, 0]):
                    with gil:
                        raise MemoryError(f"no memory to draw trees of {s.n} words")
    finally:
        release(&s)
    return found


cdef void begin(Sampler *s, Py_ssize_t n) noexcept:
    s.n, s.is_wide = n, False
    s.plain_block = NULL
    s.weight = s.shares = NULL
    s.block.m = NULL
    s.block.e = NULL
    s.cumulative = NULL
    s.stack = NULL


cdef int allocate(Sampler *s) except -1:
    cdef Py_ssize_t size = s.n + 1
    s.plain_block = _eisner_chart.allocate(s.n, _eisner_chart.INSIDE_CHARTS)
    _eisner_chart.lay_out(&s.plain, s.plain_block, s.n, _eisner_chart.INSIDE_CHARTS)
    s.cumulative = <double **> calloc(KINDS * size * size, sizeof(double *))
    # Every span on the stack is the sibling of one above it, and at most 2n spans lie inside each other.
    s.stack = <Py_ssize_t *> malloc(3 * (2 * s.n + 2) * sizeof(Py_ssize_t))
    if s.cumulative == NULL or s.stack == NULL:
        raise MemoryError(f"no memory to draw trees of {s.n} words")
    return 0


cdef int allocate_wide(Sampler *s) except -1:
    cdef Py_ssize_t size = s.n + 1, cells = INSIDE_CHARTS * size * size + SINGLE_ROWS * size
    s.is_wide = True
    s.weight = <wide *> calloc(size * size, sizeof(wide))
    s.shares = <wide *> malloc(size * sizeof(wide))
    s.block.m = <double *> malloc(cells * sizeof(double))
    s.block.e = <int64_t *> malloc(cells * sizeof(int64_t))
    if s.weight == NULL or s.shares == NULL or s.block.m == NULL or s.block.e == NULL:
        raise MemoryError(f"no memory for the chart of a sentence of {s.n} words")
    return 0


cdef void release(Sampler *s) noexcept:
    cdef Py_ssize_t i
    if s.cumulative != NULL:
        for i in range(KINDS * (s.n + 1) * (s.n + 1)):
            free(s.cumulative[i])
    free(s.plain_block)
    free(s.weight)
    free(s.shares)
    free(s.block.m)
    free(s.block.e)
    free(s.cumulative)
    free(s.stack)


cdef bint has_tree(const Sampler *s, bint single_root) noexcept nogil:
    cdef const Chart *t = &s.chart
    cdef Py_ssize_t n = t.n, ld = t.ld, r
    if not single_root:
        return not wide_is_zero(wide_row_get(t.right, n))
    for r in range(1, n + 1):
        if not (
            wide_is_zero(t.weight[r]) or wide_is_zero(wide_row_get(t.left, ld + r))
            or wide_is_zero(wide_row_get(t.right, r * ld + n))
        ):
            return True
    return False


cdef bint draw_tree(Sampler *s, bint single_root, const double *uniforms, Py_ssize_t *heads) noexcept nogil:
    """One tree, from one number for each arc and one for each span between an arc's ends; False: no memory."""
    cdef Py_ssize_t n = s.n, top, kind, i, j, r
    cdef Py_ssize_t *stack = s.stack
    top = push(stack, 0, SENTENCE if single_root else RIGHT, 0, n)
    while top:
        top -= 1
        kind, i, j = stack[3 * top], stack[3 * top + 1], stack[3 * top + 2]
        if i == j:
            continue
        r = draw(s, kind, i, j, uniforms[0])
        if r < 0:
            return False
        uniforms += 1
        if kind == RIGHT:
            heads[r - 1] = i
            top = push(stack, top, BETWEEN, i, r)
            top = push(stack, top, RIGHT, r, j)
        elif kind == LEFT:
            heads[r - 1] = j
            top = push(stack, top, LEFT, i, r)
            top = push(stack, top, BETWEEN, r, j)
        elif kind == BETWEEN:
            top = push(stack, top, RIGHT, i, r)
            top = push(stack, top, LEFT, r + 1, j)
        else:
            heads[r - 1] = 0
            top = push(stack, top, LEFT, 1, r)
            top = push(stack, top, RIGHT, r, n)
    return True


cdef inline Py_ssize_t push(
    Py_ssize_t *stack, Py_ssize_t top, Py_ssize_t kind, Py_ssize_t i, Py_ssize_t j
) noexcept nogil:
    stack[3 * top], stack[3 * top + 1], stack[3 * top + 2] = kind, i, j
    return top + 1


cdef Py_ssize_t draw(Sampler *s, Py_ssize_t kind, Py_ssize_t i, Py_ssize_t j, double uniform) noexcept nogil:
    """Where the span i .. j is split: the first whose running sum exceeds `uniform`. -1: no memory. O(log n)."""
    cdef Py_ssize_t first = 0, last = j - i - 1, middle, id = (kind * (s.n + 1) + i) * (s.n + 1) + j
    cdef double *cumulative = s.cumulative[id]
    if cumulative == NULL:
        cumulative = s.cumulative[id] = <double *> malloc((j - i) * sizeof(double))
        if cumulative == NULL:
            return -1
        if s.is_wide:
            accumulate_wide(s, kind, i, j, cumulative)
        else:
            accumulate(&s.plain, kind, i, j, cumulative)
    while first < last:
        middle = (first + last) // 2
        if cumulative[middle] > uniform:
            last = middle
        else:
            first = middle + 1
    return i + first + (kind == RIGHT or kind == SENTENCE)


cdef void accumulate(
    const _eisner_chart.Chart *t, Py_ssize_t kind, Py_ssize_t i, Py_ssize_t j, double *cumulative
) noexcept nogil:
    """The running sums of the probabilities of the span's splits, from the left; from the last possible one on, 1."""
    cdef Py_ssize_t ld = t.ld, count = j - i, r, last = 0
    cdef double share, total = 0.0
    for r in range(count):
        if kind == RIGHT:
            share = t.arc_right[i * ld + i + 1 + r] * t.right[(i + 1 + r) * ld + j]
        elif kind == LEFT:
            share = t.left[i * ld + i + r] * t.arc_left[(i + r) * ld + j]
        elif kind == BETWEEN:
            share = t.right[i * ld + i + r] * t.left[(i + 1 + r) * ld + j]
        else:
            share = t.weight[r + 1] * (t.left[ld + r + 1] * t.right[(r + 1) * ld + j])
        last = r if share > 0.0 else last
        total += share
        cumulative[r] = total
    for r in range(count):
        cumulative[r] = 1.0 if r >= last else cumulative[r] / total


cdef void accumulate_wide(Sampler *s, Py_ssize_t kind, Py_ssize_t i, Py_ssize_t j, double *cumulative) noexcept nogil:
    """The same from the charts with extended exponents."""
    cdef const Chart *t = &s.chart
    cdef Py_ssize_t ld = t.ld, n = t.n, count = j - i, r, last = 0
    cdef wide total = WIDE_ZERO
    cdef wide *shares = s.shares
    for r in range(count):
        if kind == RIGHT:
            shares[r] = product(t.arc_right, i * ld + i + 1 + r, t.right, (i + 1 + r) * ld + j)
        elif kind == LEFT:
            shares[r] = product(t.left, i * ld + i + r, t.arc_left, (i + r) * ld + j)
        elif kind == BETWEEN:
            shares[r] = product(t.right, i * ld + i + r, t.left, (i + 1 + r) * ld + j)
        else:
            shares[r] = wide_mul(t.weight[r + 1], product(t.left, ld + r + 1, t.right, (r + 1) * ld + n))
        last = last if wide_is_zero(shares[r]) else r
        shares[r] = total = wide_add(total, shares[r])
    for r in range(count):
        cumulative[r] = 1.0 if r >= last else wide_ratio(shares[r], total)


cdef inline wide product(wide_row a, Py_ssize_t at_a, wide_row b, Py_ssize_t at_b) noexcept nogil:
    cdef wide out = wide_from_double(a.m[at_a] * b.m[at_b])  # each is 0 or a sum of O(n) numbers in [1, 2)
    if not wide_is_zero(out):
        out.e += a.e[at_a] + b.e[at_b]
    return out
