# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""The derivative of all arc marginals along a direction in the space of scores: a Hessian-vector product of log Z.

The elimination and Eisner's chart run once more, each number with its derivative (`_dual.h` says why that is exact):
in plain doubles where those suffice, else with an extended exponent. The public function is in hessian.py.
"""

from libc.stddef cimport size_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset


cdef extern from "_tangent.h" nogil:
    size_t dual_elimination_space(size_t)
    size_t dual_chart_space(size_t)
    int dual_elimination(int, bint, const double*, const double*, size_t, const double*, double*, double*)
    int dual_chart(int, bint, const double*, const double*, size_t, const double*, double*, double*)
    int wide_dual_elimination(int, bint, const double*, const double*, size_t, const double*, double*, double*)
    int wide_dual_chart(int, bint, const double*, const double*, size_t, const double*, double*, double*)


cdef void column_best(const double* s, size_t ld, int n, double* best) noexcept nogil:
    """best[m] = max_h scores[h, m] for 1 <= m <= n, diagonal left out."""
    cdef int h, m
    for m in range(1, n + 1):
        best[m] = s[m]
    for h in range(1, n + 1):
        for m in range(1, n + 1):
            if h != m and s[h * ld + m] > best[m]:
                best[m] = s[h * ld + m]


def marginal_tangents(const double[:, :, ::1] scores, const double[:, :, ::1] direction, const Py_ssize_t[::1] lengths,
                      bint projective, bint single_root, double[:, :, ::1] tangents, *, bint force_wide=False):
    """Write d mu / dt at scores + t direction (B, N+1, N+1; zeros on entry) for sentences that have trees.

    The direction is finite where scores have arcs. Returns how many sentences left plain doubles; `force_wide`, for
    tests, takes all.
    """
    cdef Py_ssize_t b, h, longest = scores.shape[1] - 1, used_wide = 0, failed = -1
    cdef size_t ld = scores.shape[2], count
    cdef int n, solved
    cdef double* block
    cdef double* best
    cdef double* space
    cdef const double* s
    cdef const double* v
    cdef double* out
    _check_shapes(scores, direction, lengths, tangents)
    count = max(dual_chart_space(longest), dual_elimination_space(longest))
    block = <double*> malloc((longest + 1 + 3 * count) * sizeof(double))
    if block == NULL:
        raise MemoryError(f"no memory for sentences of {longest} words")
    best, space = block, block + longest + 1
    with nogil:
        for b in range(lengths.shape[0]):
            n = <int> lengths[b]
            if n == 0:
                continue
            s, v, out = &scores[b, 0, 0], &direction[b, 0, 0], &tangents[b, 0, 0]
            column_best(s, ld, n, best)
            solved = 0
            if not force_wide:
                if projective:
                    solved = dual_chart(n, single_root, s, v, ld, best, space, out)
                else:
                    solved = dual_elimination(n, single_root, s + 1, v + 1, ld, best + 1, space, out + 1)
            if solved:
                continue
            used_wide += 1
            for h in range(n + 1):
                memset(out + h * ld, 0, (n + 1) * sizeof(double))
            if projective:
                solved = wide_dual_chart(n, single_root, s, v, ld, best, space, out)
            else:
                solved = wide_dual_elimination(n, single_root, s + 1, v + 1, ld, best + 1, space, out + 1)
            if not solved:
                failed = b
                break
    free(block)
    if failed >= 0:
        raise ValueError(f"scores[{failed}] have no tree, or no derivative that doubles can hold")
    return used_wide


def _check_shapes(scores, direction, lengths, tangents):
    """The loops above do not check bounds."""
    if not tuple(scores.shape[:3]) == tuple(direction.shape[:3]) == tuple(tangents.shape[:3]):
        raise ValueError("scores, direction and tangents must have the same shape")
    if scores.shape[1] != scores.shape[2] or scores.shape[0] != lengths.shape[0]:
        raise ValueError(f"scores must be (B, N+1, N+1) for B lengths, not ({', '.join(map(str, scores.shape[:3]))})")
    for b in range(lengths.shape[0]):
        if not 0 <= lengths[b] < scores.shape[1]:
            raise ValueError(f"lengths[{b}] = {lengths[b]} does not fit scores of {scores.shape[1]} nodes")
