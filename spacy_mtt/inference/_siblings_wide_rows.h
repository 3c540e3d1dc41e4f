/* Loops over rows of numbers with an extended exponent, for the sibling chart: those of Eisner's
 * (_eisner_wide_rows.h), and products with one more factor; the weights of parts of any size.
 *
 * Plain C99. Compile without -ffast-math.
 */
#ifndef SPACY_MTT_SIBLINGS_WIDE_ROWS_H
#define SPACY_MTT_SIBLINGS_WIDE_ROWS_H

#include "_eisner_rows.h"
#include "_eisner_wide_rows.h"

/* y[j] += a w[j] x[j] for 0 <= j < count. y overlaps neither w nor x. */
CLONES static void wide_row_take_weighted(ptrdiff_t count, wide a, wide_row w, wide_row x, wide_row y)
{
    const double *wm = w.m, *xm = x.m;
    const int64_t *we = w.e, *xe = x.e;
    double *ym = y.m;
    int64_t *ye = y.e;
    ptrdiff_t j;
    if (wide_is_zero(a))
        return;
    INDEPENDENT
    for (j = 0; j < count; j++) {
        int64_t old = ye[j], term = a.e + we[j], both;
        term = (term > WIDE_ROW_NOTHING ? term : WIDE_ROW_NOTHING) + xe[j];
        both = old > term ? old : term;
        ym[j] = ym[j] * power_of_two(old - both) + a.m * wm[j] * xm[j] * power_of_two(term - both);
        ye[j] = both;
    }
}

/* out[j] = a w[j] x[j] y[j] / z as a double, for 0 <= j < count, where every entry has 1 <= m < 2 or is zero
 * and the answers are at most 1 about. */
CLONES static void wide_row_ratios(
    ptrdiff_t count, wide a, wide z, wide_row w, wide_row x, wide_row y, double *out)
{
    const double *wm = w.m, *xm = x.m, *ym = y.m, m = a.m / z.m;
    const int64_t *we = w.e, *xe = x.e, *ye = y.e, e = a.e - z.e;
    ptrdiff_t j;
    INDEPENDENT
    for (j = 0; j < count; j++) {
        int64_t k = we[j] + xe[j];
        k = (k > WIDE_ROW_NOTHING ? k : WIDE_ROW_NOTHING) + ye[j] + e;
        k = k < 0 ? k : 0; /* more would need an answer of 2 or above */
        out[j] = m * wm[j] * xm[j] * ym[j] * power_of_two(k);
    }
}

/* (score + sibling) / 4 exactly, as a rounded sum and its error: a quarter cannot overflow. Minus infinity
 * where either is. */
static inline twofold quarter_sum(double score, double sibling)
{
    const double a = 0.25 * score, b = 0.25 * sibling;
    twofold out = {a + b, 0.0};
    if (out.hi > -HUGE_VAL) {
        const double back = out.hi - a;
        out.lo = (a - (out.hi - back)) + (b - back);
    }
    return out;
}

/* (hi, lo) = max((hi, lo), score + sibling in quarters) */
static inline void raise_best(double score, double sibling, double *hi, double *lo)
{
    const twofold sum = quarter_sum(score, sibling);
    if (*hi < sum.hi || (*hi == sum.hi && *lo < sum.lo)) {
        *hi = sum.hi;
        *lo = sum.lo;
    }
}

/* exp(score + sibling - best) for best = hi + lo in quarters, none smaller. */
static inline wide part_weight(double score, double sibling, double hi, double lo)
{
    const twofold sum = quarter_sum(score, sibling);
    const double x = sum.hi - hi, back = x - sum.hi;
    twofold diff;
    if (!(x > -HUGE_VAL))
        return WIDE_ZERO;
    diff.hi = x;
    diff.lo = (sum.hi - (x - back)) - (hi + back);
    diff = twofold_add(diff, sum.lo - lo);
    diff.hi *= 4.0;
    diff.lo *= 4.0;
    return wide_exp(diff);
}

/* out[j] = part_weight(score[j], sibling[j], hi[j], lo[j]) for 0 <= j < count. The loop is right down to
 * e^-(2^19), and for scores so small that their rounding errors are; the rest is done one by one. */
CLONES static void wide_row_weights(
    ptrdiff_t count, const double *score, const double *sibling, const double *hi, const double *lo, wide_row out)
{
    const double shift = 0x1.8p52, lowest = -0x1p19;
    double *om = out.m;
    int64_t *oe = out.e;
    uint64_t hard = 0;
    ptrdiff_t j;
    INDEPENDENT
    for (j = 0; j < count; j++) {
        const double a = 0.25 * score[j], b = 0.25 * sibling[j], sum = a + b, back = sum - a;
        const double x = sum - hi[j], back_x = x - sum;
        const double error = (a - (sum - back)) + (b - back) - lo[j];
        const double low = 4.0 * ((sum - (x - back_x)) - (hi[j] + back_x) + error), high = 4.0 * x;
        const uint64_t keep = high >= lowest ? UINT64_MAX : 0;
        const double y = masked(high, keep), z = masked(low, keep);
        const double power = y * 0x1.71547652b82fep0 + shift, k = power - shift;
        /* ln 2 in 33 + 53 bits: the first product is exact for |k| < 2^20 */
        const double m = exp_small((y - k * 0x1.62e42fefp-1) - k * 0x1.473de6af278edp-34 + z);
        const uint64_t small = m < 1.0 ? UINT64_MAX : 0;
        const uint64_t low_but_finite = (high < lowest ? UINT64_MAX : 0) & (high > -HUGE_VAL ? UINT64_MAX : 0);
        int64_t bits, shift_bits;
        memcpy(&bits, &power, sizeof bits);
        memcpy(&shift_bits, &shift, sizeof shift_bits);
        bits += (int64_t)small - shift_bits; /* k, less 1 where m is doubled */
        om[j] = masked(m + masked(m, small), keep);
        oe[j] = (int64_t)(((uint64_t)bits & keep) | ((uint64_t)WIDE_ROW_NOTHING & ~keep));
        hard |= low_but_finite | (fabs(z) > 0x1p-10 ? UINT64_MAX : 0);
    }
    if (hard)
        for (j = 0; j < count; j++)
            wide_row_put(out, j, part_weight(score[j], sibling[j], hi[j], lo[j]));
}

/* 4 sum_m hi[m] + rest for 1 <= m <= n, rounded once; infinite only if it exceeds the range of a double. */
static inline double quarter_total(ptrdiff_t n, const double *hi, twofold rest)
{
    const double unit = 0x1p-20; /* of the sum, so that it cannot overflow */
    twofold sum = {rest.hi * unit, rest.lo * unit};
    ptrdiff_t m;
    for (m = 1; m <= n; m++)
        sum = twofold_add(sum, hi[m] * (4.0 * unit));
    return sum.hi / unit;
}

#endif
