/* The inner loops of Eisner's chart: a row takes in four splits at a time.
 *
 * A chart is a block of rows of `ld` doubles, ld a multiple of 4; entries that stand for no span hold the
 * zero of the semiring, so no loop needs a remainder. All loops run elementwise or keep four partial sums,
 * which compilers vectorise under strict IEEE rules. Rows may coincide (a row is among the rows it takes
 * in, with weight zero), but entry j is never combined with an entry other than j.
 *
 * Plain C99 over <stddef.h>, <stdint.h>, <string.h>. Compile without -ffast-math.
 */
#ifndef SPACY_MTT_EISNER_ROWS_H
#define SPACY_MTT_EISNER_ROWS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "_eisner_clones.h"

/* y[j] = max(y[j], a[q] + x[q ld + j]) over q = 0..3, for lo <= j < ld. */
static inline void rows_max(ptrdiff_t lo, ptrdiff_t ld, const double *a, const double *x, double *y)
{
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const double *x1 = x + ld, *x2 = x + 2 * ld, *x3 = x + 3 * ld;
    ptrdiff_t j;
    INDEPENDENT
    for (j = lo; j < ld; j++) {
        double t = a0 + x[j], u = a1 + x1[j], v = a2 + x2[j], w = a3 + x3[j], z = y[j];
        t = t > u ? t : u;
        v = v > w ? v : w;
        t = t > v ? t : v;
        y[j] = t > z ? t : z;
    }
}

/* y[j] += a[q] x[q ld + j] over q = 0..3, for lo <= j < ld. */
static inline void rows_sum(ptrdiff_t lo, ptrdiff_t ld, const double *a, const double *x, double *y)
{
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const double *x1 = x + ld, *x2 = x + 2 * ld, *x3 = x + 3 * ld;
    ptrdiff_t j;
    INDEPENDENT
    for (j = lo; j < ld; j++)
        y[j] += (a0 * x[j] + a1 * x1[j]) + (a2 * x2[j] + a3 * x3[j]);
}

/* One row of the adjoint: dx[j] += a dy[j]; the answer is sum_j dy[j] x[j]. lo is a multiple of 4, too. */
#if defined(__GNUC__)
typedef double four __attribute__((vector_size(32)));

static inline double row_adjoint(
    ptrdiff_t lo, ptrdiff_t ld, double a, const double *x, const double *dy, double *dx)
{
    const four fa = {a, a, a, a};
    four part = {0.0, 0.0, 0.0, 0.0}, fx, fy, fdx;
    ptrdiff_t j;
    for (j = lo; j < ld; j += 4) {
        memcpy(&fx, x + j, sizeof fx);
        memcpy(&fy, dy + j, sizeof fy);
        memcpy(&fdx, dx + j, sizeof fdx);
        part += fy * fx;
        fdx += fa * fy;
        memcpy(dx + j, &fdx, sizeof fdx);
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}
#else
static inline double row_adjoint(
    ptrdiff_t lo, ptrdiff_t ld, double a, const double *x, const double *dy, double *dx)
{
    double part[4] = {0.0, 0.0, 0.0, 0.0};
    ptrdiff_t j, k;
    for (j = lo; j < ld; j += 4)
        for (k = 0; k < 4; k++) {
            part[k] += dy[j + k] * x[j + k];
            dx[j + k] += a * dy[j + k];
        }
    return (part[0] + part[1]) + (part[2] + part[3]);
}
#endif

/* The adjoint of rows_sum: da[q] += sum_j dy[j] x[q ld + j] and dx[q ld + j] += a[q] dy[j]. */
static inline void rows_sum_adjoint(
    ptrdiff_t lo, ptrdiff_t ld, const double *a, const double *x, const double *dy, double *da, double *dx)
{
    int q;
    for (q = 0; q < 4; q++)
        da[q] += row_adjoint(lo, ld, a[q], x + q * ld, dy, dx + q * ld);
}

/* The splits r = lo - 4 .. lo - 1 of a row s, right, left, arc_right of the charts of _eisner_chart.pxd:
 *     s[j]     (+)= right[r]     (x) LEFT[r + 1, j]
 *     right[j] (+)= arc_right[r] (x) RIGHT[r, j]
 *     left[j]  (+)= left[r]      (x) ARC_LEFT[r, j]       for j >= lo
 * The capitals are the charts' rows from r = lo - 4 on.
 */
CLONES static void eisner_take_max(
    ptrdiff_t lo, ptrdiff_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
    double *s, double *right, double *left, const double *arc_right)
{
    rows_max(lo, ld, right + lo - 4, LEFT1, s);
    rows_max(lo, ld, arc_right + lo - 4, RIGHT, right);
    rows_max(lo, ld, left + lo - 4, ARC_LEFT, left);
}

CLONES static void eisner_take_sum(
    ptrdiff_t lo, ptrdiff_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
    double *s, double *right, double *left, const double *arc_right)
{
    rows_sum(lo, ld, right + lo - 4, LEFT1, s);
    rows_sum(lo, ld, arc_right + lo - 4, RIGHT, right);
    rows_sum(lo, ld, left + lo - 4, ARC_LEFT, left);
}

/* The adjoint of eisner_take_sum; d_x is the derivative of Z with respect to x. */
CLONES static void eisner_take_sum_adjoint(
    ptrdiff_t lo, ptrdiff_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
    double *d_LEFT1, double *d_RIGHT, double *d_ARC_LEFT,
    const double *right, const double *left, const double *arc_right,
    const double *d_s, double *d_right, double *d_left, double *d_arc_right)
{
    rows_sum_adjoint(lo, ld, right + lo - 4, LEFT1, d_s, d_right + lo - 4, d_LEFT1);
    rows_sum_adjoint(lo, ld, arc_right + lo - 4, RIGHT, d_right, d_arc_right + lo - 4, d_RIGHT);
    rows_sum_adjoint(lo, ld, left + lo - 4, ARC_LEFT, d_left, d_left + lo - 4, d_ARC_LEFT);
}

/* x where all bits of `keep` are set, 0.0 where none is: a select that compilers vectorise. */
static inline double masked(double x, uint64_t keep)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    bits &= keep;
    memcpy(&x, &bits, sizeof x);
    return x;
}

/* exp(x) for |x| <= 0.35: Taylor's polynomial. */
static inline double exp_small(double x)
{
    double p = 1.0 / 6227020800.0;
    p = p * x + 1.0 / 479001600.0;
    p = p * x + 1.0 / 39916800.0;
    p = p * x + 1.0 / 3628800.0;
    p = p * x + 1.0 / 362880.0;
    p = p * x + 1.0 / 40320.0;
    p = p * x + 1.0 / 5040.0;
    p = p * x + 1.0 / 720.0;
    p = p * x + 1.0 / 120.0;
    p = p * x + 1.0 / 24.0;
    p = p * x + 1.0 / 6.0;
    p = p * x + 0.5;
    p = p * x + 1.0;
    return p * x + 1.0;
}

/* exp(hi + lo) for hi <= 0 and |lo| < 0.001: relative error about 2e-16 down to e^-708; 0 below, also for
 * hi = -infinity and NaN. */
static inline double exp_twofold(double hi, double lo)
{
    const double shift = 0x1.8p52; /* adding it rounds to an integer and leaves that in the low bits */
    const uint64_t keep = hi >= -708.0 ? UINT64_MAX : 0;
    const double y = masked(hi, keep), k = (y * 0x1.71547652b82fep0 + shift) - shift;
    /* ln 2 in 37 + 53 bits */
    const double x = (y - k * 0x1.62e42fefap-1) - k * 0x1.cf79abc9e3b3ap-40 + masked(lo, keep);
    double power = k + (shift + 1023.0);
    uint64_t bits;
    memcpy(&bits, &power, sizeof bits);
    bits <<= 52;
    memcpy(&power, &bits, sizeof power);
    return masked(exp_small(x) * power, keep);
}

/* exp(s - c) for s <= c, by the exact difference. */
static inline double exp_diff(double s, double c)
{
    const double diff = s - c, back = diff - s;
    return exp_twofold(diff, (s - (diff - back)) - (c + back));
}

/* w[m] = exp(s[m] - c[m]) for 1 <= m <= n. */
CLONES static void eisner_weights(ptrdiff_t n, const double *s, const double *c, double *w)
{
    ptrdiff_t m;
    INDEPENDENT
    for (m = 1; m <= n; m++)
        w[m] = exp_diff(s[m], c[m]);
}

#endif
