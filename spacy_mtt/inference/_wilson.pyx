# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Wilson's algorithm: trees from random walks with their loops erased, and how long the walks are."""

from libc.string cimport memset


def count_visits(double[:, ::1] visits, double[::1] escapes):
    """Replace the steps' probabilities by the expected visits to word j of a walk from word i, i itself counted.

    visits: (n, n), the probability of a step from word i to word j; the diagonal is not read. escapes: (n,), that of
    a step to the walks' target. Returns False if some words have no way there. O(n^3).

    One word p after another becomes transparent: what is in the table are, from word i, the probability that the
    next word not transparent is j, or the expected visits to a transparent j before. A visit to p repeats 1 / d times,
    d being the chance to leave p for good. As d is summed up anew, nothing is subtracted and every entry keeps a small
    relative error (Grassmann, Taksar & Heyman 1985).
    """
    cdef Py_ssize_t n = visits.shape[0], p, i, j
    cdef double d, factor
    cdef double *row
    cdef const double *pivot
    with nogil:
        for p in range(n):
            pivot = &visits[p, 0]
            d = escapes[p]
            for j in range(p + 1, n):
                d += pivot[j]
            if d <= 0.0:
                with gil:
                    return False
            visits[p, p] = 0.0
            for i in range(n):
                factor = visits[i, p] / d
                if i == p or factor == 0.0:
                    continue
                row = &visits[i, 0]
                for j in range(n):
                    row[j] += factor * pivot[j]
                row[p] = factor
                escapes[i] += factor * escapes[p]
            for j in range(n):
                visits[p, j] /= d
            visits[p, p] = 1.0 / d
            escapes[p] /= d
    return True


def walk(
    const double[:, ::1] cumulative, const Py_ssize_t[::1] targets, const double[::1] limits,
    const double[::1] uniforms, Py_ssize_t[:, ::1] heads, Py_ssize_t[::1] steps, Py_ssize_t[::1] at,
    unsigned char[::1] in_tree,
):
    """Go on drawing trees heads (K, n) until all are drawn or the uniforms (U,) in [0, 1) are used up.

    cumulative: (n+1, n+1); row m: the running sums over heads h of the probabilities of a step m -> h, the last of
    them 1; row 0 is not read. targets: (K,) the node that a tree's walks lead to: 0, or the root's word, from where
    then no walk starts (its head becomes 0). limits: (K,); a tree that takes more steps gets a row of -1.

    State, all zeros at first: steps (K,) taken for each tree, at (3,) the tree, the word its walk started from (0:
    not begun) and the word it stands at, in_tree (n+1,). Returns whether all trees are drawn.
    """
    cdef Py_ssize_t n = heads.shape[1], n_trees = heads.shape[0], u = 0, k = at[0], start = at[1], node = at[2], m
    with nogil:
        while k < n_trees:
            if start == 0:
                memset(&in_tree[0], 0, n + 1)
                in_tree[0] = in_tree[targets[k]] = 1
                start = node = 1
            while not in_tree[node] and u < uniforms.shape[0] and steps[k] <= limits[k]:
                m = node
                node = step(&cumulative[m, 0], n + 1, uniforms[u])
                heads[k, m - 1] = node
                steps[k] += 1
                u += 1
            if in_tree[node]:
                m = start
                while not in_tree[m]:
                    in_tree[m] = 1
                    m = heads[k, m - 1]
                if targets[k]:
                    heads[k, targets[k] - 1] = 0
                start += 1
                node = start
                if start <= n:
                    continue
            elif steps[k] > limits[k]:
                for m in range(n):
                    heads[k, m] = -1
            else:
                break
            k += 1
            start = node = 0
    at[0], at[1], at[2] = k, start, node
    return k == n_trees


cdef inline Py_ssize_t step(const double *cumulative, Py_ssize_t count, double uniform) noexcept nogil:
    """The first head whose running sum exceeds `uniform`: never one of probability 0. O(log n)."""
    cdef Py_ssize_t first = 0, last = count - 1, middle
    while first < last:
        middle = (first + last) // 2
        if cumulative[middle] > uniform:
            last = middle
        else:
            first = middle + 1
    return first
