/* Rows of numbers with an extended exponent, for Eisner's chart over scores of any range.
 *
 * Entry j is m[j] * 2^e[j]; zero is m = 0, e = WIDE_ROW_NOTHING, below all other exponents. Sums are left
 * as they come, with m >= 1 and the largest exponent of their terms; wide_row_get brings an entry back to 1
 * <= m < 2.
 *
 * Plain C99 over <stddef.h>, <string.h> and _wide.h. Compile without -ffast-math.
 */
#ifndef SPACY_MTT_EISNER_WIDE_ROWS_H
#define SPACY_MTT_EISNER_WIDE_ROWS_H

#include <stddef.h>
#include <string.h>

#include "_eisner_clones.h"
#include "_wide.h"

/* Below every exponent in use (see _wide.h); the sum of two fits an int64_t. */
#define WIDE_ROW_NOTHING (-((int64_t)1 << 61))

typedef struct {
    double *m;
    int64_t *e;
} wide_row;

static inline wide wide_row_get(wide_row x, ptrdiff_t j)
{
    wide out = wide_from_double(x.m[j]);
    out.e += out.m > 0.0 ? x.e[j] : 0;
    return out;
}

static inline void wide_row_put(wide_row x, ptrdiff_t j, wide value)
{
    x.m[j] = value.m;
    x.e[j] = wide_is_zero(value) ? WIDE_ROW_NOTHING : value.e;
}

static inline void wide_row_clear(wide_row x, ptrdiff_t count)
{
    ptrdiff_t j;
    memset(x.m, 0, count * sizeof *x.m);
    for (j = 0; j < count; j++)
        x.e[j] = WIDE_ROW_NOTHING;
}

/* 2^k for k <= 0; 0 from k = -1023 on. */
static inline double power_of_two(int64_t k)
{
    double out;
    k = k > -1023 ? k : -1023;
    k = (int64_t)((uint64_t)(k + 1023) << 52);
    memcpy(&out, &k, sizeof out);
    return out;
}

/* y[j] += a x[j] for 0 <= j < count. x and y do not overlap, unless a is zero. */
CLONES static void wide_row_take(ptrdiff_t count, wide a, wide_row x, wide_row y)
{
    const double *xm = x.m;
    const int64_t *xe = x.e;
    double *ym = y.m;
    int64_t *ye = y.e;
    ptrdiff_t j;
    if (wide_is_zero(a))
        return;
    INDEPENDENT
    for (j = 0; j < count; j++) {
        int64_t old = ye[j], term = a.e + xe[j], both = old > term ? old : term;
        ym[j] = ym[j] * power_of_two(old - both) + a.m * xm[j] * power_of_two(term - both);
        ye[j] = both;
    }
}

#endif
