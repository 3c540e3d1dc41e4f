/* The inner loops of the elementwise recurrence (recurrence.py): a step handles one direction's channels at one token.
 *
 * A row of gates is [z | f | o], each with the h channels that run left to right before the h that run right to left;
 * rows of states and outputs have these 2h channels. exp and tanh are polynomials that compilers vectorise under strict IEEE
 * rules: relative error below 3e-7 for all finite arguments, NaN for NaN.
 *
 * Plain C99. Compile without -ffast-math.
 */
#ifndef SPACY_MTT_RECURRENCE_H
#define SPACY_MTT_RECURRENCE_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "../inference/_eisner_clones.h"

#if defined(__GNUC__)
#define INLINED static inline __attribute__((always_inline))
#else
#define INLINED static inline
#endif

/* exp(x) - 1 = (s - 1) + s q with s a power of two; |x| <= 80. */
INLINED void exp_parts(float x, float *s, float *q)
{
    const float to_integer = 12582912.0f; /* 3 * 2^22: adding it leaves the nearest integer in the lowest bits */
    const float shifted = x * 1.44269504f + to_integer, k = shifted - to_integer;
    const float r = (x - k * 0.693359375f) + k * 2.12194440e-4f; /* ln 2 in two parts, the first exact in products */
    const float r2 = r * r;
    int32_t bits;
    memcpy(&bits, &shifted, sizeof bits);
    bits = (int32_t)(((uint32_t)bits + 127u) << 23);
    memcpy(s, &bits, sizeof bits);
    *q = r + r2 * (0.5f + r * (1.0f / 6) + r2 * (1.0f / 24 + r * (1.0f / 120) + r2 * (1.0f / 720 + r * (1.0f / 5040))));
}

INLINED float clamped(float x, float limit)
{
    x = x < -limit ? -limit : x;
    return x > limit ? limit : x;
}

INLINED float sigmoid_of(float x)
{
    float s, q;
    exp_parts(-clamped(x, 80.0f), &s, &q);
    return 1.0f / (1.0f + (s + s * q));
}

INLINED float tanh_of(float x)
{
    float s, q, p;
    exp_parts(2.0f * clamped(x, 20.0f), &s, &q);
    p = (s - 1.0f) + s * q;
    return p / (p + 2.0f);
}

/* The n tokens of a sequence, in one direction: the bias b is added to the gates in place, f and o become sigmoids,
 * states c and outputs y are written. z: the first of h channels in the first token's row of gates, b, c and y likewise;
 * zero: h zeros. */
CLONES static void scan_direction(
    ptrdiff_t n, ptrdiff_t h, int backwards, const float *zero, const float *b, float *z, float *c, float *y)
{
    ptrdiff_t i, j;
    for (i = 0; i < n; i++) {
        const ptrdiff_t t = backwards ? n - 1 - i : i;
        const float *before = i == 0 ? zero : c + 2 * h * (backwards ? t + 1 : t - 1);
        float *zt = z + 6 * h * t, *ft = zt + 2 * h, *ot = zt + 4 * h, *ct = c + 2 * h * t, *yt = y + 2 * h * t;
        INDEPENDENT
        for (j = 0; j < h; j++) {
            const float f = sigmoid_of(ft[j] + b[2 * h + j]), o = sigmoid_of(ot[j] + b[4 * h + j]);
            const float input = zt[j] + b[j], state = f * before[j] + (1.0f - f) * input;
            zt[j] = input;
            ft[j] = f;
            ot[j] = o;
            ct[j] = state;
            yt[j] = o * tanh_of(state);
        }
    }
}

/* From dy to the gradient dz of the gates before their sigmoids, against the direction. carry: h zeros, overwritten. */
CLONES static void scan_direction_back(
    ptrdiff_t n, ptrdiff_t h, int backwards, const float *zero, float *carry, const float *z, const float *c,
    const float *dy, float *dz)
{
    ptrdiff_t i, j;
    for (i = n - 1; i >= 0; i--) {
        const ptrdiff_t t = backwards ? n - 1 - i : i;
        const float *before = i == 0 ? zero : c + 2 * h * (backwards ? t + 1 : t - 1);
        const float *zt = z + 6 * h * t, *ft = zt + 2 * h, *ot = zt + 4 * h, *ct = c + 2 * h * t, *dyt = dy + 2 * h * t;
        float *dzt = dz + 6 * h * t, *dft = dzt + 2 * h, *dot = dzt + 4 * h;
        INDEPENDENT
        for (j = 0; j < h; j++) {
            const float f = ft[j], o = ot[j], squashed = tanh_of(ct[j]);
            const float g = dyt[j] * o * (1.0f - squashed * squashed) + carry[j];
            dzt[j] = g * (1.0f - f);
            dft[j] = g * (before[j] - zt[j]) * f * (1.0f - f);
            dot[j] = dyt[j] * squashed * o * (1.0f - o);
            carry[j] = f * g;
        }
    }
}

#endif
