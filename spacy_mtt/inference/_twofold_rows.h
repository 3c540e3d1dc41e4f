/* Rows of scores as unevaluated sums of two doubles, hi + lo with hi = fl(hi + lo), so that pairs compare
 * lexicographically. An absent entry is -infinity with lo = 0.
 *
 * A sum of m doubles kept this way is exact if its terms span few enough bits: 2m max|x| < 2^106 ulp(min|x|).
 * Only additions, so that nothing can be fused into other rounding. Compile without -ffast-math.
 */
#ifndef SPACY_MTT_TWOFOLD_ROWS_H
#define SPACY_MTT_TWOFOLD_ROWS_H

#include <math.h>
#include <stddef.h>

#include "_eisner_clones.h"

#ifdef __FAST_MATH__
#error "the error terms below are optimised away under -ffast-math"
#endif

typedef struct {
    double hi, lo;
} pair;

/* a + b by Knuth's two-sum of the high parts, and of the result with the low parts. Absent if either is. */
static inline pair pair_add(pair a, pair b)
{
    const double s = a.hi + b.hi, t = s - a.hi;
    const double low = ((a.hi - (s - t)) + (b.hi - t)) + (a.lo + b.lo);
    const double p = s + low, c = p - s;
    pair out = {-INFINITY, 0.0};
    if (a.hi > -INFINITY && b.hi > -INFINITY) {
        out.hi = p;
        out.lo = (s - (p - c)) + (low - c);
    }
    return out;
}

static inline pair pair_negate(pair a)
{
    pair out = {-a.hi, -a.lo};
    return out;
}

static inline int pair_greater(pair a, pair b) { return a.hi > b.hi || (a.hi == b.hi && a.lo > b.lo); }

/* y[j] = max(y[j], a + x[j]) for 0 <= j < count. An absent x[j] makes a NaN, which is greater than nothing. */
CLONES static void pair_take_max(
    ptrdiff_t count, pair a, const double *x_hi, const double *x_lo, double *y_hi, double *y_lo)
{
    ptrdiff_t j;
    if (a.hi == -INFINITY)
        return;
    INDEPENDENT
    for (j = 0; j < count; j++) {
        const double x = x_hi[j], s = a.hi + x, t = s - a.hi;
        const double low = ((a.hi - (s - t)) + (x - t)) + (a.lo + x_lo[j]);
        const double p = s + low, c = p - s;
        const double q = (s - (p - c)) + (low - c);
        const int better = (p > y_hi[j]) | ((p == y_hi[j]) & (q > y_lo[j]));
        y_hi[j] = better ? p : y_hi[j];
        y_lo[j] = better ? q : y_lo[j];
    }
}

/* The lowest j in first <= j < end with the greatest entry, or -1 if all are absent. */
static inline ptrdiff_t pair_row_maximum(const double *hi, const double *lo, ptrdiff_t first, ptrdiff_t end)
{
    ptrdiff_t j, best = -1;
    double top = -INFINITY;
    for (j = first; j < end; j++)
        top = hi[j] > top ? hi[j] : top;
    if (top == -INFINITY)
        return -1;
    for (j = first; j < end; j++)
        if (hi[j] == top && (best < 0 || lo[j] > lo[best]))
            best = j;
    return best;
}

#endif
