/* The inner loops of the sibling chart: Eisner's (_eisner_rows.h), and products with one more factor, the
 * weights of the parts.
 *
 * Plain C99. Compile without -ffast-math.
 */
#ifndef SPACY_MTT_SIBLINGS_ROWS_H
#define SPACY_MTT_SIBLINGS_ROWS_H

#include <math.h>

#include "_eisner_rows.h"

#if defined(__GNUC__)
static inline double chart_row_adjoint(
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
static inline double chart_row_adjoint(
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
static inline void chart_rows_adjoint(
    ptrdiff_t lo, ptrdiff_t ld, const double *a, const double *x, const double *dy, double *da, double *dx)
{
    int q;
    for (q = 0; q < 4; q++)
        da[q] += chart_row_adjoint(lo, ld, a[q], x + q * ld, dy, dx + q * ld);
}

/* The adjoint of eisner_take_sum (_eisner_rows.h); d_x is the derivative of Z with respect to x. */
CLONES static void siblings_take_chart_adjoint(
    ptrdiff_t lo, ptrdiff_t ld, const double *LEFT1, const double *RIGHT, const double *ARC_LEFT,
    double *d_LEFT1, double *d_RIGHT, double *d_ARC_LEFT,
    const double *right, const double *left, const double *arc_right,
    const double *d_s, double *d_right, double *d_left, double *d_arc_right)
{
    chart_rows_adjoint(lo, ld, right + lo - 4, LEFT1, d_s, d_right + lo - 4, d_LEFT1);
    chart_rows_adjoint(lo, ld, arc_right + lo - 4, RIGHT, d_right, d_arc_right + lo - 4, d_RIGHT);
    chart_rows_adjoint(lo, ld, left + lo - 4, ARC_LEFT, d_left, d_left + lo - 4, d_ARC_LEFT);
}

/* y[j] = max(y[j], a[q] + w[q ld + j] + x[q ld + j]) over q = 0..3, for lo <= j < ld. */
static inline void weighted_max(
    ptrdiff_t lo, ptrdiff_t ld, const double *a, const double *w, const double *x, double *y)
{
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const double *x1 = x + ld, *x2 = x + 2 * ld, *x3 = x + 3 * ld;
    const double *w1 = w + ld, *w2 = w + 2 * ld, *w3 = w + 3 * ld;
    ptrdiff_t j;
    INDEPENDENT
    for (j = lo; j < ld; j++) {
        double p = a0 + x[j] + w[j], q = a1 + x1[j] + w1[j], r = a2 + x2[j] + w2[j], s = a3 + x3[j] + w3[j];
        double z = y[j];
        p = p > q ? p : q;
        r = r > s ? r : s;
        p = p > r ? p : r;
        y[j] = p > z ? p : z;
    }
}

/* y[j] += a[q] w[q ld + j] x[q ld + j] over q = 0..3, for lo <= j < ld. */
static inline void weighted_sum(
    ptrdiff_t lo, ptrdiff_t ld, const double *a, const double *w, const double *x, double *y)
{
    const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
    const double *x1 = x + ld, *x2 = x + 2 * ld, *x3 = x + 3 * ld;
    const double *w1 = w + ld, *w2 = w + 2 * ld, *w3 = w + 3 * ld;
    ptrdiff_t j;
    INDEPENDENT
    for (j = lo; j < ld; j++)
        y[j] += (a0 * x[j] * w[j] + a1 * x1[j] * w1[j]) + (a2 * x2[j] * w2[j] + a3 * x3[j] * w3[j]);
}

/* One row of the adjoint: dx[j] += a w[j] dy[j]; the answer is sum_j w[j] dy[j] x[j]. Each w[j] gives way
 * to the marginal of its part, w[j] dy[j] x[j] a scale. lo is a multiple of 4, too. */
#if defined(__GNUC__)
static inline double weighted_adjoint(
    ptrdiff_t lo, ptrdiff_t ld, double a, double scale, double *w, const double *x, const double *dy, double *dx)
{
    const double a_scale = a * scale;
    const four fa = {a, a, a, a}, fs = {a_scale, a_scale, a_scale, a_scale};
    four part = {0.0, 0.0, 0.0, 0.0}, fw, fx, fy, fdx;
    ptrdiff_t j;
    for (j = lo; j < ld; j += 4) {
        memcpy(&fw, w + j, sizeof fw);
        memcpy(&fx, x + j, sizeof fx);
        memcpy(&fy, dy + j, sizeof fy);
        memcpy(&fdx, dx + j, sizeof fdx);
        fw *= fy;
        fdx += fa * fw;
        fw *= fx;
        part += fw;
        fw *= fs;
        memcpy(dx + j, &fdx, sizeof fdx);
        memcpy(w + j, &fw, sizeof fw);
    }
    return (part[0] + part[1]) + (part[2] + part[3]);
}
#else
static inline double weighted_adjoint(
    ptrdiff_t lo, ptrdiff_t ld, double a, double scale, double *w, const double *x, const double *dy, double *dx)
{
    double part[4] = {0.0, 0.0, 0.0, 0.0}, z;
    ptrdiff_t j, k;
    for (j = lo; j < ld; j += 4)
        for (k = 0; k < 4; k++) {
            z = w[j + k] * dy[j + k];
            dx[j + k] += a * z;
            z *= x[j + k];
            part[k] += z;
            w[j + k] = z * (a * scale);
        }
    return (part[0] + part[1]) + (part[2] + part[3]);
}
#endif

/* The splits r = lo - 4 .. lo - 1 of a row s, arc_right, arc_left of the charts of _siblings_chart.pxd:
 *     arc_right[j] (+)= arc_right[r] (x) W_RIGHT[r, j] (x) S[r, j]
 *     arc_left[j]  (+)= s[r]         (x) W_LEFT[r, j]  (x) ARC_LEFT[r, j]     for j >= lo
 * The capitals are rows from r = lo - 4 on. The other splits are eisner_take_max and eisner_take_sum.
 */
CLONES static void siblings_take_max(
    ptrdiff_t lo, ptrdiff_t ld, const double *S, const double *ARC_LEFT, const double *W_RIGHT,
    const double *W_LEFT, const double *s, double *arc_right, double *arc_left)
{
    weighted_max(lo, ld, arc_right + lo - 4, W_RIGHT, S, arc_right);
    weighted_max(lo, ld, s + lo - 4, W_LEFT, ARC_LEFT, arc_left);
}

CLONES static void siblings_take_sum(
    ptrdiff_t lo, ptrdiff_t ld, const double *S, const double *ARC_LEFT, const double *W_RIGHT,
    const double *W_LEFT, const double *s, double *arc_right, double *arc_left)
{
    weighted_sum(lo, ld, arc_right + lo - 4, W_RIGHT, S, arc_right);
    weighted_sum(lo, ld, s + lo - 4, W_LEFT, ARC_LEFT, arc_left);
}

/* The adjoint of siblings_take_sum for the splits r >= first alone; d_x is the derivative of Z with respect
 * to x. W_RIGHT and W_LEFT become marginals: scale is 1 / Z. */
CLONES static void siblings_take_sum_adjoint(
    ptrdiff_t first, ptrdiff_t lo, ptrdiff_t ld, double scale, const double *S, const double *ARC_LEFT,
    double *W_RIGHT, double *W_LEFT, double *d_S, double *d_ARC_LEFT, const double *s,
    const double *arc_right, double *d_s, double *d_arc_right, const double *d_arc_left)
{
    ptrdiff_t r, row;
    for (r = first > lo - 4 ? first : lo - 4; r < lo; r++) {
        row = (r - (lo - 4)) * ld;
        d_arc_right[r] += weighted_adjoint(
            lo, ld, arc_right[r], scale, W_RIGHT + row, S + row, d_arc_right, d_S + row);
        d_s[r] += weighted_adjoint(
            lo, ld, s[r], scale, W_LEFT + row, ARC_LEFT + row, d_arc_left, d_ARC_LEFT + row);
    }
}

/* c[m] = max(c[m], s[m] + t[m]), both scaled first, for lo <= m < hi. */
CLONES static void siblings_maxima(
    ptrdiff_t lo, ptrdiff_t hi, double scale, const double *s, const double *t, double *c)
{
    ptrdiff_t m;
    INDEPENDENT
    for (m = lo; m < hi; m++) {
        double u = s[m] * scale + t[m] * scale;
        c[m] = u > c[m] ? u : c[m];
    }
}

/* Whether any finite |x[m]| > 1e295, for lo <= m < hi. */
CLONES static int siblings_huge(ptrdiff_t lo, ptrdiff_t hi, const double *x)
{
    int64_t found = 0;
    ptrdiff_t m;
    for (m = lo; m < hi; m++)
        found |= (int64_t)(fabs(x[m]) > 1e295) & (int64_t)(x[m] > -HUGE_VAL);
    return found != 0;
}

/* s + t - c, rounded about once: the sum by parts, hi + lo = s + t. */
static inline double below_best(double s, double t, double c)
{
    const double hi = s + t, back = hi - s, lo = (s - (hi - back)) + (t - back);
    return hi > -HUGE_VAL ? (hi - c) + lo : hi;
}

/* w[m] = s[m] + t[m] - c[m], all three scaled first, for lo <= m < hi. */
CLONES static void siblings_scores(
    ptrdiff_t lo, ptrdiff_t hi, double scale, const double *s, const double *t, const double *c, double *w)
{
    ptrdiff_t m;
    INDEPENDENT
    for (m = lo; m < hi; m++)
        w[m] = below_best(s[m] * scale, t[m] * scale, c[m]);
}

/* w[m] = exp(s[m] + t[m] - c[m]), the exponent exact, for lo <= m < hi. */
CLONES static void siblings_weights(
    ptrdiff_t lo, ptrdiff_t hi, const double *s, const double *t, const double *c, double *w)
{
    ptrdiff_t m;
    INDEPENDENT
    for (m = lo; m < hi; m++) {
        const double u = s[m] + t[m], v = u - s[m], diff = u - c[m], back = diff - u;
        const double lo_u = (s[m] - (u - v)) + (t[m] - v);
        w[m] = exp_twofold(diff, (u - (diff - back)) - (c[m] + back) + lo_u);
    }
}

#endif
