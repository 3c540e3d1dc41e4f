# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, cdivision=True
"""What comes after the product in a maxout layer; maxout_norm.py says where it is used."""


cdef extern from "_maxout_norm.h" nogil:
    void maxout_rows(Py_ssize_t T, Py_ssize_t n, Py_ssize_t P, const float *y, const float *b, float *out)
    void maxout_norm_rows(
        Py_ssize_t T, Py_ssize_t n, Py_ssize_t P, const float *y, const float *b, const float *G, const float *s,
        float *out)


def maxout(const float[:, ::1] Y, const float[::1] b, float[:, ::1] out):
    """Write the maxima: Y, without bias, (T, n * P); b (n * P,); out (T, n)."""
    cdef Py_ssize_t T = out.shape[0], n = out.shape[1]
    if T and n:
        with nogil:
            maxout_rows(T, n, Y.shape[1] // n, &Y[0, 0], &b[0], &out[0, 0])


def maxout_norm(
    const float[:, ::1] Y, const float[::1] b, const float[::1] G, const float[::1] s, float[:, ::1] out
):
    """Write the normalised maxima: Y, without bias, (T, n * P); b (n * P,); gain G and shift s (n,); out (T, n)."""
    cdef Py_ssize_t T = out.shape[0], n = out.shape[1]
    if T and n:
        with nogil:
            maxout_norm_rows(T, n, Y.shape[1] // n, &Y[0, 0], &b[0], &G[0], &s[0], &out[0, 0])
