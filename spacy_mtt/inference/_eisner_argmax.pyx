# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""The best projective tree by Eisner's chart over (max, +).

The recurrences are in _eisner_chart.pxd, the public function in eisner.py.
"""

from libc.math cimport INFINITY, fabs
from libc.stdlib cimport calloc, free

from spacy_mtt.inference._eisner_chart cimport INSIDE_CHARTS, Chart, allocate, best_split, column_maxima, inside, lay_out

# What a span on the backtracking stack is.
cdef enum:
    RIGHT
    LEFT
    BETWEEN


def argmax(
    const double[:, :, ::1] scores, const Py_ssize_t[::1] lengths, bint single_root, Py_ssize_t[:, ::1] heads
):
    """Write the best tree of each sentence into heads (B, N), which comes filled with -1."""
    cdef Py_ssize_t b, n, longest = scores.shape[1] - 1
    cdef double *block = allocate(longest, INSIDE_CHARTS)
    # Every span on the stack is the sibling of one above it, and at most 2n spans lie inside each other.
    cdef Py_ssize_t *stack = <Py_ssize_t *> calloc(3 * (2 * longest + 2), sizeof(Py_ssize_t))
    cdef Chart t
    if stack == NULL:
        free(block)
        raise MemoryError("no memory for the backtracking stack")
    with nogil:
        for b in range(scores.shape[0]):
            n = lengths[b]
            if n == 0:
                continue
            lay_out(&t, block, n, INSIDE_CHARTS)
            column_maxima(scores[b], n, t.best)
            if tropical_weights(scores[b], &t):
                inside(&t, n, 1 if single_root else 0, True)
                backtrack(&t, single_root, stack, &heads[b, 0])
        free(stack)
        free(block)


cdef bint tropical_weights(const double[:, ::1] scores, Chart *t) noexcept nogil:
    """weight = scores - best; charts = -inf. False if a word has no head.

    Subtracting the column's maximum changes no comparison of trees and keeps sums small, so they round less.
    Scores so large that sums might overflow are all scaled by a power of two.
    """
    cdef Py_ssize_t n = t.n, ld = t.ld, h, m
    cdef double largest = 0.0, scale = 1.0, inf = INFINITY
    for m in range(1, n + 1):
        if t.best[m] == -inf:
            return False
    for h in range(n + 1):
        for m in range(1, n + 1):
            if m != h and scores[h, m] != -inf and fabs(scores[h, m]) > largest:
                largest = fabs(scores[h, m])
    while largest * scale > 1e300 / (n + 1):
        scale *= 0.5
    for h in range(INSIDE_CHARTS * ld * ld):
        t.weight[h] = -inf
    for h in range(n + 1):
        for m in range(1, n + 1):
            if m != h:
                t.weight[h * ld + m] = scores[h, m] * scale - t.best[m] * scale
    return True


cdef void backtrack(const Chart *t, bint single_root, Py_ssize_t *stack, Py_ssize_t *heads) noexcept nogil:
    """Read the best tree off the charts: the splits are found again, O(n) each, rather than stored."""
    cdef Py_ssize_t n = t.n, ld = t.ld, top = 0, kind, i, j, r
    if single_root:
        r = best_root(t)
        if r == 0:
            return
        heads[r - 1] = 0
        top = push(stack, top, LEFT, 1, r)
        top = push(stack, top, RIGHT, r, n)
    else:
        if t.right[n] == -INFINITY:
            return
        top = push(stack, top, RIGHT, 0, n)
    while top:
        top -= 1
        kind, i, j = stack[3 * top], stack[3 * top + 1], stack[3 * top + 2]
        if i == j:
            continue
        if kind == RIGHT:
            r = i + 1 + best_split(t.arc_right + i * ld + i + 1, 1, t.right + (i + 1) * ld + j, ld, j - i)
            heads[r - 1] = i
            top = push(stack, top, BETWEEN, i, r)
            top = push(stack, top, RIGHT, r, j)
        elif kind == LEFT:
            r = i + best_split(t.left + i * ld + i, 1, t.arc_left + i * ld + j, ld, j - i)
            heads[r - 1] = j
            top = push(stack, top, LEFT, i, r)
            top = push(stack, top, BETWEEN, r, j)
        else:
            r = i + best_split(t.right + i * ld + i, 1, t.left + (i + 1) * ld + j, ld, j - i)
            top = push(stack, top, RIGHT, i, r)
            top = push(stack, top, LEFT, r + 1, j)


cdef inline Py_ssize_t push(
    Py_ssize_t *stack, Py_ssize_t top, Py_ssize_t kind, Py_ssize_t i, Py_ssize_t j
) noexcept nogil:
    stack[3 * top], stack[3 * top + 1], stack[3 * top + 2] = kind, i, j
    return top + 1


cdef Py_ssize_t best_root(const Chart *t) noexcept nogil:
    """The first word r with the largest w[0, r] + LEFT[1, r] + RIGHT[r, n]; 0 if there is no tree."""
    cdef Py_ssize_t r, root = 0
    cdef double best = -INFINITY, value
    for r in range(1, t.n + 1):
        value = t.weight[r] + (t.left[t.ld + r] + t.right[r * t.ld + t.n])
        if value > best:
            best = value
            root = r
    return root
