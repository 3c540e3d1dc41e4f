/* Rows of a maxout layer, with or without layer normalisation, from their products on, in one go.
 *
 * Plain C99. Compile without -ffast-math.
 */
#ifndef SPACY_MTT_MAXOUT_NORM_H
#define SPACY_MTT_MAXOUT_NORM_H

#include <math.h>
#include <stddef.h>

#include "../inference/_eisner_clones.h"

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

#define LANES 16 /* partial sums side by side: under strict rules a compiler cannot make them */

/* out[j] = max over p of y[j P + p] + b[j P + p]. NaN, once met, stays. */
INLINED void max_pieces(ptrdiff_t n, ptrdiff_t P, const float *y, const float *b, float *out)
{
    ptrdiff_t j, p;
    INDEPENDENT
    for (j = 0; j < n; j++) {
        float best = y[j * P] + b[j * P];
        for (p = 1; p < P; p++) {
            const float value = y[j * P + p] + b[j * P + p];
            best = value <= best ? best : (best == best ? value : best);
        }
        out[j] = best;
    }
}

/* The sum of (x[j] - mean)^power, power 1 or 2. */
INLINED float sum_of(ptrdiff_t n, const float *x, float mean, int power)
{
    float part[LANES] = {0}, total = 0.0f;
    ptrdiff_t j, k;
    for (j = 0; j + LANES <= n; j += LANES)
        for (k = 0; k < LANES; k++) {
            const float d = x[j + k] - mean;
            part[k] += power == 1 ? d : d * d;
        }
    for (; j < n; j++)
        part[0] += power == 1 ? x[j] - mean : (x[j] - mean) * (x[j] - mean);
    for (k = 0; k < LANES; k++)
        total += part[k];
    return total;
}

/* The same; a small P is a constant in its loop. */
INLINED void max_any_pieces(ptrdiff_t n, ptrdiff_t P, const float *y, const float *b, float *out)
{
    if (P == 1)
        max_pieces(n, 1, y, b, out);
    else if (P == 2)
        max_pieces(n, 2, y, b, out);
    else if (P == 3)
        max_pieces(n, 3, y, b, out);
    else
        max_pieces(n, P, y, b, out);
}

/* T rows of n units of P pieces: out is the largest piece. */
CLONES static void maxout_rows(ptrdiff_t T, ptrdiff_t n, ptrdiff_t P, const float *y, const float *b, float *out)
{
    ptrdiff_t t;
    for (t = 0; t < T; t++, y += n * P, out += n)
        max_any_pieces(n, P, y, b, out);
}

/* T rows of n units of P pieces: out = G (x - mean) / sqrt(variance + 1e-8) + s with x the largest piece. */
CLONES static void maxout_norm_rows(
    ptrdiff_t T, ptrdiff_t n, ptrdiff_t P, const float *y, const float *b, const float *G, const float *s, float *out)
{
    ptrdiff_t t, j;
    for (t = 0; t < T; t++, y += n * P, out += n) {
        float mean, scale;
        max_any_pieces(n, P, y, b, out);
        mean = sum_of(n, out, 0.0f, 1) / (float)n;
        scale = 1.0f / sqrtf(sum_of(n, out, mean, 2) / (float)n + 1e-8f);
        for (j = 0; j < n; j++)
            out[j] = (out[j] - mean) * scale * G[j] + s[j];
    }
}

#endif
