# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""Scores of arcs from factors of words and distances, sum_r H[h, r] M[m, r] D[bin(h, m), r], and their adjoint.

H, M (n+1, R): the factors of each node as head and as modifier. D (2 * (bins + 1), R): those of each bin of distances,
for arcs to the left (h > m), then to the right. longest (bins,): the longest distance of each bin but the last.
"""

from libc.stdint cimport int32_t
from libc.stdlib cimport free, malloc


cdef inline Py_ssize_t bin_of(Py_ssize_t h, Py_ssize_t m, const int32_t[::1] longest) noexcept nogil:
    cdef Py_ssize_t length = h - m if h > m else m - h, k = 0, bins = longest.shape[0]
    while k < bins and length > longest[k]:
        k += 1
    return k if h > m else k + bins + 1


cdef inline double dot(const double *a, const double *b, Py_ssize_t size) noexcept nogil:
    """Four sums side by side, so that they need not wait for one another."""
    cdef double s0 = 0.0, s1 = 0.0, s2 = 0.0, s3 = 0.0
    cdef Py_ssize_t i = 0
    while i + 4 <= size:
        s0 += a[i] * b[i]
        s1 += a[i + 1] * b[i + 1]
        s2 += a[i + 2] * b[i + 2]
        s3 += a[i + 3] * b[i + 3]
        i += 4
    while i < size:
        s0 += a[i] * b[i]
        i += 1
    return (s0 + s1) + (s2 + s3)


def score_arcs(
    const double[:, ::1] head, const double[:, ::1] modifier, const double[:, ::1] distance,
    const int32_t[::1] longest, double scale, double[:, ::1] scores,
):
    """scores[h, m] += scale * sum_r head[h, r] modifier[m, r] distance[bin, r]. O(n^2 R)."""
    cdef Py_ssize_t nodes = head.shape[0], rank = head.shape[1], bins = distance.shape[0], h, m, r, k, last
    if rank == 0 or nodes == 0:
        return
    cdef double *scaled = <double *>malloc(rank * sizeof(double))
    if scaled == NULL:
        raise MemoryError(f"no memory for {rank} factors")
    with nogil:
        for m in range(1, nodes):
            last = -1
            for h in range(nodes):
                if h == m:
                    continue
                k = bin_of(h, m, longest)
                if k != last:  # the heads of one bin stand next to each other
                    for r in range(rank):
                        scaled[r] = scale * modifier[m, r] * distance[k, r]
                    last = k
                scores[h, m] += dot(&head[h, 0], scaled, rank)
        free(scaled)


def backpropagate(
    const double[:, ::1] coefficients, const double[:, ::1] head, const double[:, ::1] modifier,
    const double[:, ::1] distance, const int32_t[::1] longest, double scale,
    double[:, ::1] d_head, double[:, ::1] d_modifier, double[:, ::1] d_distance,
):
    """Add the derivatives of scale * sum_hm coefficients[h, m] scores[h, m]; arcs with coefficient 0 cost nothing."""
    cdef Py_ssize_t nodes = head.shape[0], rank = head.shape[1], h, m, r, k
    cdef double c, x, y, z
    if rank == 0:
        return
    with nogil:
        for h in range(nodes):
            for m in range(1, nodes):
                c = scale * coefficients[h, m]
                if h == m or c == 0.0:
                    continue
                k = bin_of(h, m, longest)
                for r in range(rank):
                    x, y, z = head[h, r], modifier[m, r], distance[k, r]
                    d_head[h, r] += c * y * z
                    d_modifier[m, r] += c * x * z
                    d_distance[k, r] += c * x * y
