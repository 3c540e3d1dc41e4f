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

#include <math.h>
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
        y[j] = (((y[j] + a0 * x[j]) + a1 * x1[j]) + a2 * x2[j]) + a3 * x3[j]; /* fused where it can be */
}

/* da[k ld + q] += sum_j dy[k ld + j] x[q ld + j] over lo <= j < ld for q = 0..3 and the `rows` (1 or 2) rows k, which
 * share the loads of x. lo is a multiple of 4, too. The sums run side by side: one by one, each addition would wait
 * for the one before. */
#if defined(__GNUC__)
typedef double four __attribute__((vector_size(32)));

#define LOAD_FOUR(out, from) memcpy(&(out), from, sizeof(out))
#define ADD_UP(v) (((v)[0] + (v)[1]) + ((v)[2] + (v)[3]))

static inline void rows_dot(ptrdiff_t rows, ptrdiff_t lo, ptrdiff_t ld, const double *x, const double *dy, double *da)
{
    const double *x1 = x + ld, *x2 = x + 2 * ld, *x3 = x + 3 * ld;
    const four zero = {0.0, 0.0, 0.0, 0.0};
    four t0 = zero, u0 = zero, v0 = zero, w0 = zero, t1 = zero, u1 = zero, v1 = zero, w1 = zero, y, z, a, b, c, d;
    ptrdiff_t j;
    for (j = lo; j < ld; j += 4) {
        LOAD_FOUR(a, x + j);
        LOAD_FOUR(b, x1 + j);
        LOAD_FOUR(c, x2 + j);
        LOAD_FOUR(d, x3 + j);
        LOAD_FOUR(y, dy + j);
        t0 += y * a, u0 += y * b, v0 += y * c, w0 += y * d;
        if (rows == 2) {
            LOAD_FOUR(z, dy + ld + j);
            t1 += z * a, u1 += z * b, v1 += z * c, w1 += z * d;
        }
    }
    da[0] += ADD_UP(t0), da[1] += ADD_UP(u0), da[2] += ADD_UP(v0), da[3] += ADD_UP(w0);
    if (rows == 2) {
        da += ld;
        da[0] += ADD_UP(t1), da[1] += ADD_UP(u1), da[2] += ADD_UP(v1), da[3] += ADD_UP(w1);
    }
}
#else
static inline void rows_dot(ptrdiff_t rows, ptrdiff_t lo, ptrdiff_t ld, const double *x, const double *dy, double *da)
{
    ptrdiff_t j, k, q, r;
    for (r = 0; r < rows; r++, dy += ld, da += ld) {
        double part[4][4] = {{0.0}};
        for (j = lo; j < ld; j += 4)
            for (q = 0; q < 4; q++)
                for (k = 0; k < 4; k++)
                    part[q][k] += dy[j + k] * x[q * ld + j + k];
        for (q = 0; q < 4; q++)
            da[q] += (part[q][0] + part[q][1]) + (part[q][2] + part[q][3]);
    }
}
#endif

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

/* The adjoint of eisner_take_sum with respect to the row's own entries right, left and arc_right at the splits; d_x
 * is the derivative of Z with respect to x. */
CLONES static void eisner_take_dot(
    ptrdiff_t lo, ptrdiff_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
    const double *d_s, double *d_right, double *d_left, double *d_arc_right)
{
    rows_dot(1, lo, ld, LEFT1, d_s, d_right + lo - 4);
    rows_dot(1, lo, ld, RIGHT, d_right, d_arc_right + lo - 4);
    rows_dot(1, lo, ld, ARC_LEFT, d_left, d_left + lo - 4);
}

/* The same for a row and the one below it, ld doubles further on. */
CLONES static void eisner_take_dot_twice(
    ptrdiff_t lo, ptrdiff_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
    const double *d_s, double *d_right, double *d_left, double *d_arc_right)
{
    rows_dot(2, lo, ld, LEFT1, d_s, d_right + lo - 4);
    rows_dot(2, lo, ld, RIGHT, d_right, d_arc_right + lo - 4);
    rows_dot(2, lo, ld, ARC_LEFT, d_left, d_left + lo - 4);
}

/* y[k][j] += a[k][q] x[q ld + j] over q = 0..3, for both k and lo <= j < ld: two rows share the loads of x. */
static inline void rows_sum_twice(
    ptrdiff_t lo, ptrdiff_t ld, double (*a)[4], const double *x, double *y0, double *y1)
{
    const double a0 = a[0][0], a1 = a[0][1], a2 = a[0][2], a3 = a[0][3];
    const double b0 = a[1][0], b1 = a[1][1], b2 = a[1][2], b3 = a[1][3];
    const double *x1 = x + ld, *x2 = x + 2 * ld, *x3 = x + 3 * ld;
    ptrdiff_t j;
    INDEPENDENT
    for (j = lo; j < ld; j++) {
        const double t = x[j], u = x1[j], v = x2[j], w = x3[j];
        y0[j] = (((y0[j] + a0 * t) + a1 * u) + a2 * v) + a3 * w;
        y1[j] = (((y1[j] + b0 * t) + b1 * u) + b2 * v) + b3 * w;
    }
}

/* eisner_take_sum for a row and the one below it, ld doubles further on, all of them above the four rows. */
CLONES static void eisner_take_sum_twice(
    ptrdiff_t lo, ptrdiff_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
    double *s, double *right, double *left, const double *arc_right)
{
    double a[3][2][4];
    ptrdiff_t k, q;
    for (k = 0; k < 2; k++)
        for (q = 0; q < 4; q++) {
            const ptrdiff_t at = k * ld + lo - 4 + q;
            a[0][k][q] = right[at];
            a[1][k][q] = arc_right[at];
            a[2][k][q] = left[at];
        }
    rows_sum_twice(lo, ld, a[0], LEFT1, s, s + ld);
    rows_sum_twice(lo, ld, a[1], RIGHT, right, right + ld);
    rows_sum_twice(lo, ld, a[2], ARC_LEFT, left, left + ld);
}

/* The one split r of a row, for j >= lo; the capitals are whole charts. */
CLONES static void eisner_take_one(
    ptrdiff_t lo, ptrdiff_t ld, ptrdiff_t r, const double *LEFT, const double *RIGHT, const double *ARC_LEFT,
    double *s, double *right, double *left, const double *arc_right)
{
    const double a = right[r], b = arc_right[r], c = left[r];
    ptrdiff_t j;
    INDEPENDENT
    for (j = lo; j < ld; j++) {
        s[j] += a * LEFT[(r + 1) * ld + j];
        right[j] += b * RIGHT[r * ld + j];
        left[j] += c * ARC_LEFT[r * ld + j];
    }
}

/* Its adjoint with respect to the charts' rows r .. r + 3, r a multiple of 4, from the rows i < r, which have taken all
 * of them in:
 *     d_LEFT[r, j]     += sum_i RIGHT[i, r - 1] d_S[i, j]
 *     d_RIGHT[r, j]    += sum_i ARC_RIGHT[i, r] d_RIGHT[i, j]
 *     d_ARC_LEFT[r, j] += sum_i LEFT[i, r]      d_LEFT[i, j]     for j >= r
 * The arguments are whole charts.
 */
CLONES static void eisner_take_columns(
    ptrdiff_t r, ptrdiff_t ld, const double *RIGHT, const double *ARC_RIGHT, const double *LEFT,
    const double *d_S, double *d_RIGHT, double *d_LEFT, double *d_ARC_LEFT)
{
    double right[4][4], arc_right[4][4], left[4][4];
    ptrdiff_t i, k, q;
    for (i = 0; i < r; i += 4) {
        for (k = 0; k < 4; k++)
            for (q = 0; q < 4; q++) {
                const ptrdiff_t at = (i + q) * ld + r + k;
                right[k][q] = RIGHT[at - 1];
                arc_right[k][q] = ARC_RIGHT[at];
                left[k][q] = LEFT[at];
            }
        for (k = 0; k < 4; k += 2) { /* the rows i .. i + 3 are in the nearest cache for the second pair */
            const ptrdiff_t at = (r + k) * ld;
            rows_sum_twice(r, ld, arc_right + k, d_RIGHT + i * ld, d_RIGHT + at, d_RIGHT + at + ld);
            rows_sum_twice(r, ld, left + k, d_LEFT + i * ld, d_ARC_LEFT + at, d_ARC_LEFT + at + ld);
            rows_sum_twice(r, ld, right + k, d_S + i * ld, d_LEFT + at, d_LEFT + at + ld);
        }
    }
}

/* Multiply w[j] by `scale` for first <= j < end; whether all are then in range, those of forbidden arcs aside. */
CLONES static int eisner_rescale(
    ptrdiff_t first, ptrdiff_t end, double scale, double least, double greatest, const double *s, double *w)
{
    ptrdiff_t j;
    int good = 1;
    for (j = first; j < end; j++) {
        w[j] *= scale;
        good &= ((w[j] >= least) & (w[j] <= greatest)) | !(s[j] > -HUGE_VAL);
    }
    return good;
}

/* Whether x[j] is zero or in range for first <= j < end. */
CLONES static int eisner_in_range(ptrdiff_t first, ptrdiff_t end, double least, double greatest, const double *x)
{
    ptrdiff_t j;
    int good = 1;
    for (j = first; j < end; j++)
        good &= ((x[j] >= least) & (x[j] <= greatest)) | (x[j] == 0.0);
    return good;
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
