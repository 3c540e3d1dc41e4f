# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The best projective tree under sibling parts, by the sibling chart over (max, +).

The recurrences are in _siblings_chart.pxd, the public function in siblings.py.
"""

from libc.math cimport INFINITY
from libc.stdlib cimport calloc, free

from spacy_mtt.inference._eisner_chart cimport best_split
from spacy_mtt.inference._siblings_chart cimport (
    INSIDE_CHARTS, Chart, allocate, best_parts, inside, lay_out, weigh, weights_of
)

cdef extern from "_siblings_rows.h" nogil:
    bint siblings_huge(Py_ssize_t lo, Py_ssize_t hi, const double *x)

# What a span on the backtracking stack is.
cdef enum:
    RIGHT
    LEFT
    ARC_RIGHT
    ARC_LEFT
    BETWEEN


cdef struct Stack:
    Py_ssize_t *spans  # three numbers each: kind, left end, right end
    Py_ssize_t top


def argmax(
    const double[:, :, ::1] scores, const double[:, :, :, ::1] siblings, const Py_ssize_t[::1] lengths,
    bint single_root, Py_ssize_t[:, ::1] heads,
):
    """Write the best tree of each sentence into heads (B, N), which comes filled with -1."""
    cdef Py_ssize_t b, n, longest = scores.shape[1] - 1
    cdef double *block = allocate(longest, INSIDE_CHARTS)
    cdef Chart t
    cdef Stack stack
    # Every span on the stack is the sibling of one above it. Spans that lie inside each other shrink, but for an
    # arc as wide as the span that it completes: at most 2n + 2.
    stack.spans = <Py_ssize_t *> calloc(3 * (2 * longest + 4), sizeof(Py_ssize_t))
    if stack.spans == NULL:
        free(block)
        raise MemoryError("no memory for the backtracking stack")
    with nogil:
        for b in range(scores.shape[0]):
            n = lengths[b]
            if n == 0:
                continue
            lay_out(&t, block, n, single_root, INSIDE_CHARTS)
            t.scale = safe_scale(scores[b], siblings[b], &t)
            if best_parts(scores[b], siblings[b], &t):
                weigh(scores[b], siblings[b], &t, True)
                inside(&t, True)
                backtrack(&t, &stack, &heads[b, 0])
        free(stack.spans)
        free(block)


cdef double safe_scale(
    const double[:, ::1] scores, const double[:, :, ::1] siblings, const Chart *t
) noexcept nogil:
    """1, or where sums of scores might overflow a smaller power of two: it changes no comparison of trees."""
    cdef Py_ssize_t n = t.n, h, r
    cdef bint huge = False
    for h in range(n + 1):
        huge |= siblings_huge(1, h, &scores[h, 0]) | siblings_huge(h + 1, n + 1, &scores[h, 0])
        for r in range(1 if h else 0, 1 if h == 0 and t.single_root else n + 1):
            if r >= h:
                huge |= siblings_huge(r + 1, n + 1, &siblings[h, r, 0])
            if r <= h:
                huge |= siblings_huge(1, r, &siblings[h, r, 0])
    return 0.5 ** 40 if huge else 1.0


cdef void backtrack(const Chart *t, Stack *stack, Py_ssize_t *heads) noexcept nogil:
    """Read the best tree off the charts: the splits are found again, O(n) each, rather than stored."""
    cdef Py_ssize_t n = t.n, ld = t.ld, kind, i, j, r
    stack.top = 0
    if t.single_root:
        r = best_root(t)
        if r == 0:
            return
        heads[r - 1] = 0
        push(stack, LEFT, 1, r)
        push(stack, RIGHT, r, n)
    elif t.right[n] > -INFINITY:
        push(stack, RIGHT, 0, n)
    while stack.top:
        stack.top -= 1
        kind, i, j = stack.spans[3 * stack.top], stack.spans[3 * stack.top + 1], stack.spans[3 * stack.top + 2]
        if i == j:
            continue
        if kind == RIGHT:
            r = i + 1 + best_split(t.arc_right + i * ld + i + 1, 1, t.right + (i + 1) * ld + j, ld, j - i)
            push(stack, ARC_RIGHT, i, r)
            push(stack, RIGHT, r, j)
        elif kind == LEFT:
            r = i + best_split(t.left + i * ld + i, 1, t.arc_left + i * ld + j, ld, j - i)
            push(stack, LEFT, i, r)
            push(stack, ARC_LEFT, r, j)
        elif kind == BETWEEN:
            r = i + best_split(t.right + i * ld + i, 1, t.left + (i + 1) * ld + j, ld, j - i)
            push(stack, RIGHT, i, r)
            push(stack, LEFT, r + 1, j)
        elif kind == ARC_RIGHT:
            heads[j - 1] = i
            split_arc_right(t, stack, i, j)
        else:
            heads[i - 1] = j
            split_arc_left(t, stack, i, j)


cdef void split_arc_right(const Chart *t, Stack *stack, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """The arc i -> j: without a sibling, or the first best sibling r."""
    cdef Py_ssize_t ld = t.ld, r, sibling = i
    cdef const double *w = weights_of(t.w_right, t, i) + j
    cdef double best = w[i * ld] + t.left[(i + 1) * ld + j], value
    for r in range(i + 1, j):
        value = t.arc_right[i * ld + r] + t.s[r * ld + j] + w[r * ld]
        if value > best:
            best = value
            sibling = r
    if sibling == i:
        push(stack, LEFT, i + 1, j)
    else:
        push(stack, ARC_RIGHT, i, sibling)
        push(stack, BETWEEN, sibling, j)


cdef void split_arc_left(const Chart *t, Stack *stack, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    """The arc j -> i, likewise."""
    cdef Py_ssize_t ld = t.ld, r, sibling = j
    cdef const double *w = weights_of(t.w_left, t, i) + j
    cdef double best = w[i * ld] + t.right[i * ld + j - 1], value
    for r in range(i + 1, j):
        value = t.s[i * ld + r] + t.arc_left[r * ld + j] + w[r * ld]
        if value > best:
            best = value
            sibling = r
    if sibling == j:
        push(stack, RIGHT, i, j - 1)
    else:
        push(stack, BETWEEN, i, sibling)
        push(stack, ARC_LEFT, sibling, j)


cdef inline void push(Stack *stack, Py_ssize_t kind, Py_ssize_t i, Py_ssize_t j) noexcept nogil:
    cdef Py_ssize_t *span = stack.spans + 3 * stack.top
    span[0], span[1], span[2] = kind, i, j
    stack.top += 1


cdef Py_ssize_t best_root(const Chart *t) noexcept nogil:
    """The first word r with the largest w[0, 0, r] + LEFT[1, r] + RIGHT[r, n]; 0 if there is no tree."""
    cdef Py_ssize_t r, root = 0
    cdef double best = -INFINITY, value
    for r in range(1, t.n + 1):
        value = t.w_right[r] + (t.left[t.ld + r] + t.right[r * t.ld + t.n])
        if value > best:
            best = value
            root = r
    return root
