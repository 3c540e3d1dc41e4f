# cython: language_level=3, boundscheck=False, wraparound=False, cdivision=True, initializedcheck=False
"""Sums over all dependency trees of a batch: the partition function and the arc marginals, without
subtraction.

The theorem. Let ``w[h, m] = exp(s[h, m] - c[m])``. The partition function is a determinant of the tree
Laplacian (Tutte 1984; Koo, Globerson, Carreras and Collins 2007, section 3) and the marginals come from its
inverse. LU cancels: where two words attract each other it loses every digit. But the Laplacian's diagonal
is the sum of its columns, and elimination keeps it so. Recomputing the diagonal as a sum in every step
(Grassmann, Taksar and Heyman 1985) leaves only sums, products and quotients of non-negative numbers, so
every result has a small relative error (O'Cinneide 1993).

Eliminating word k. W has one row for each head still there (the root, 0, always is) and one column for
every word:

    d[k]     = sigma W[0, k] + sum of W[r, k] over the words r != k still there
    W[r, j] += W[r, k] / d[k] * W[k, j]              for the rows r that remain and every column j

and row k goes. ``sigma`` is 1 for multi-root. For single-root it is 0: the recursion then follows the terms
of Z that are linear in the root's weights, which are the trees with one root arc. With word m alone left, R
= W[0, m]:

    Z           = product of all d * R
    mu(0 -> m)  = w[0, m] / R
    mu(h -> m)  = w[h, m] / R * W[0, h] / S[h],      S[h] = sigma w[0, h] + sum of w[r, h] over the words r

1/R is the entry (m, m) of the inverse. The columns of eliminated words are kept because they say where a
walk from word to head ends: W[r, h] / S[h] is the chance that the walk from h leaves the eliminated words
at r. (One step hands column j's weight at k to the rows that k's own walk leaves at, so the sum of column
j, its entry in row j included, stays S[j].) The last factor is thus the chance that the walk reaches the
root without meeting m: that h is not below m. For single-root both are the limits for vanishing root
weights.

All words at once. Each m needs all other words eliminated: O(n^4) one by one. By halves it is O(n^3):
eliminate the right half of the words and recurse into the left one, and the other way round. 1.5 n^3
multiply-adds in all.

_matrix_tree_fast.h does this in plain doubles and says when that is good enough; otherwise
_matrix_tree_wide.h does it with extended exponents.
"""

from libc.math cimport INFINITY, fabs
from libc.stddef cimport size_t
from libc.stdint cimport uintptr_t
from libc.stdlib cimport free, malloc
from libc.string cimport memset


cdef extern from "_wide.h" nogil:
    ctypedef struct wide:
        pass
    ctypedef struct twofold:
        double hi
        double lo
    twofold twofold_add(twofold, double)
    twofold twofold_add_log(twofold, wide)


cdef extern from "_matrix_tree_fast.h" nogil:
    ctypedef struct Loops:
        pass
    const Loops* fast_loops(int)
    size_t fast_ld(size_t)
    size_t fast_space(size_t)
    void fast_best_word(const Loops*, int, const double*, size_t, double*)
    int fast_tree_sums(const Loops*, int, double, const double*, size_t, const double*, double*, wide*,
                       double*, size_t)


cdef extern from "_matrix_tree_wide.h" nogil:
    enum:
        WIDE_NO_TREE
        WIDE_SOLVED
        WIDE_TOO_WIDE
    size_t wide_space(size_t)
    int wide_tree_sums(int, int, const double*, size_t, const double*, wide*, twofold*, double*, size_t)


cdef enum:
    OUT_OF_MEMORY = 100

cdef struct Call:
    # What all sentences of a call share. Arrays are for its longest sentence, n words.
    const Loops* loops
    bint single_root
    bint force_wide
    Py_ssize_t used_wide # sentences that the fast path refused
    size_t longest
    double* best         # n: each column's best score over all heads
    double* best_word    # n: over the heads that are words
    double* scores       # n (n - 1): a sentence whose root is known, without the root
    double* marginals    # n (n - 1): its marginals
    double* space        # of the fast path
    void* wide_space     # of the other one; NULL until needed
    void* block


cdef int _begin(Call* call, size_t n) noexcept nogil:
    """Allocate all but the wide path's workspace. The caller frees call.block and call.wide_space."""
    cdef size_t doubles = 2 * n + 2 * n * n + (n + 1) * fast_ld(n) + fast_space(n) + 8
    call.longest = n
    call.wide_space = NULL
    call.block = malloc(doubles * sizeof(double))
    if call.block == NULL:
        return OUT_OF_MEMORY
    call.space = <double*> ((<uintptr_t> call.block + 63) // 64 * 64)
    call.scores = call.space + (n + 1) * fast_ld(n) + fast_space(n)
    call.marginals = call.scores + n * n
    call.best = call.marginals + n * n
    call.best_word = call.best + n
    return 0


cdef int _solve(Call* call, int n, bint single_root, const double* s, size_t ld, const double* best,
                twofold* log_z, double* mu, size_t ld_mu) noexcept nogil:
    """log(Z / exp(sum of best)) and, unless mu is NULL, the marginals: fast if that is exact. n >= 1."""
    cdef wide z
    cdef twofold zero = twofold(0.0, 0.0)
    if not call.force_wide and fast_tree_sums(call.loops, n, 0.0 if single_root else 1.0, s, ld, best,
                                              call.space, &z, mu, ld_mu):
        log_z[0] = twofold_add_log(zero, z)
        return WIDE_SOLVED
    if call.wide_space == NULL:
        call.wide_space = malloc(wide_space(call.longest))
        if call.wide_space == NULL:
            return OUT_OF_MEMORY
    call.used_wide += 1
    return wide_tree_sums(n, single_root, s, ld, best, <wide*> call.wide_space, log_z, mu, ld_mu)


cdef int _solve_below(Call* call, int n, int root, const double* s, size_t ld, twofold* log_z, double* mu,
                      size_t ld_mu) noexcept nogil:
    """The same for the single-root trees where `root` (1..n) is the one word that no word heads.

    Every tree has the arc 0 -> root, so these are the multi-root trees over the other words with `root` as
    their root, and log Z is relative to best_word. Left to the fast path, the pivot of `root` would be zero.
    """
    cdef int h, m, below, status
    cdef size_t width = n - 1
    cdef double* best = call.best_word
    log_z[0] = twofold(0.0, 0.0)
    if mu:
        mu[root - 1] = 1.0
    if n == 1:
        return WIDE_SOLVED
    for m in range(1, n + 1):
        if m == root:
            continue
        below = m - (m > root) - 1
        best[below] = best[m - 1]
        for h in range(1, n + 1):
            call.scores[(0 if h == root else h - (h > root)) * width + below] = s[h * ld + m - 1]
    status = _solve(call, n - 1, False, call.scores, width, best, log_z, call.marginals if mu else NULL,
                    width)
    if mu and status == WIDE_SOLVED:
        for m in range(1, n + 1):
            below = m - (m > root) - 1
            for h in range(1, n + 1):
                if m != root and h != m:
                    mu[h * ld_mu + m - 1] = call.marginals[
                        (0 if h == root else h - (h > root)) * width + below
                    ]
    return status


cdef int _sentence(Call* call, int n, const double* s, size_t ld, double* log_z, double* excess,
                   double* mu) noexcept nogil:
    """log Z, log Z less the columns' best scores, and unless mu is NULL the marginals (zeros on entry).

    s and mu have ld doubles a row and point at the arc from the root to word 1 of n. Without a tree: -inf
    and zeros.
    """
    cdef int h, m, root = 0, status
    cdef double scale = 1.0
    cdef double* best = call.best
    cdef double* best_word = call.best_word
    cdef twofold total = twofold(0.0, 0.0), over = twofold(0.0, 0.0), rest = twofold(0.0, 0.0)
    log_z[0] = excess[0] = -INFINITY
    fast_best_word(call.loops, n, s, ld, best_word)
    for m in range(n):
        best[m] = s[m] if s[m] > best_word[m] else best_word[m]
        if best[m] == -INFINITY:
            return WIDE_NO_TREE
        if call.single_root and best_word[m] == -INFINITY:
            if root:
                return WIDE_NO_TREE
            root = m + 1
        if fabs(best[m]) > 1e290 or (call.single_root and best_word[m] < -1e290):
            scale = 2.0 ** -100  # so that a sum of the largest doubles does not overflow on the way
    for m in range(n):
        total = twofold_add(total, best[m] * scale)
        if root and m + 1 != root:
            rest = twofold_add(twofold_add(rest, best_word[m] * scale), -best[m] * scale)
    if root:
        status = _solve_below(call, n, root, s, ld, &over, mu, ld)
    elif n:
        status = _solve(call, n, call.single_root, s, ld, best, &over, mu, ld)
    else:
        status = WIDE_SOLVED
    if status == WIDE_SOLVED:
        rest = twofold_add(twofold_add(rest, over.hi * scale), over.lo * scale)
        excess[0] = rest.hi / scale
        total = twofold_add(twofold_add(total, rest.hi), rest.lo)
        log_z[0] = total.hi / scale
        if excess[0] == -INFINITY:
            status = WIDE_TOO_WIDE
    elif mu:
        for h in range(n + 1):
            memset(mu + h * ld, 0, n * sizeof(double))
    return status


def tree_sums(const double[:, :, ::1] scores, const Py_ssize_t[::1] lengths, bint single_root,
              double[::1] log_z, double[::1] excess, double[:, :, ::1] mu=None, *, bint force_wide=False,
              int instruction_set=-1):
    """Write log Z (B,), log Z - sum_m max_h scores[h, m] (B,) and perhaps mu (B, N+1, N+1; zeros on entry).

    Returns the number of the first sentence whose scores are too far apart for an answer, or -1, and how many
    sentences left the fast path. For tests: `force_wide` skips that, `instruction_set` picks its loops (0
    baseline, 1 AVX2, 2 AVX-512).
    """
    cdef Py_ssize_t b, longest = 0, too_wide = -1
    cdef int status
    cdef double* mu_b = NULL
    cdef Call call
    _check_shapes(scores, lengths, log_z, excess, mu)
    for b in range(lengths.shape[0]):
        longest = max(longest, lengths[b])
    call.single_root = single_root
    call.force_wide = force_wide
    call.used_wide = 0
    call.loops = fast_loops(instruction_set) if instruction_set >= 0 else _best_loops
    if call.loops == NULL:
        raise ValueError(f"this machine does not run instruction set {instruction_set}")
    with nogil:
        status = _begin(&call, longest)
        for b in range(lengths.shape[0]):
            if status == OUT_OF_MEMORY:
                break
            if mu is not None:
                mu_b = &mu[b, 0, 0] + 1
            status = _sentence(&call, <int> lengths[b], &scores[b, 0, 0] + 1, scores.shape[2], &log_z[b],
                               &excess[b], mu_b)
            if status == WIDE_TOO_WIDE:
                too_wide = b
                break
        free(call.block)
        free(call.wide_space)
    if status == OUT_OF_MEMORY:
        raise MemoryError(f"no memory for sentences of {longest} words")
    return too_wide, call.used_wide


def _check_shapes(scores, lengths, log_z, excess, mu):
    """The loops above do not check bounds."""
    if not (scores.shape[0] == lengths.shape[0] == log_z.shape[0] == excess.shape[0]):
        raise ValueError("scores, lengths, log_z and excess differ in batch size")
    if scores.shape[1] != scores.shape[2]:
        raise ValueError(f"scores must be (B, N+1, N+1), not ({', '.join(map(str, scores.shape[:3]))})")
    if mu is not None and tuple(mu.shape[:3]) != tuple(scores.shape[:3]):
        raise ValueError("mu must have the shape of scores")
    for b in range(lengths.shape[0]):
        if not 0 <= lengths[b] < scores.shape[1]:
            raise ValueError(f"lengths[{b}] = {lengths[b]} does not fit scores of {scores.shape[1]} nodes")


def instruction_sets():
    """The numbers of those that this machine runs."""
    return [i for i in range(3) if fast_loops(i) != NULL]


cdef const Loops* _best_loops = fast_loops(max(instruction_sets()))
