/* Non-negative numbers with an extended exponent, and sums carried in two doubles.
 *
 * Inference by sums of products needs weights exp(s - c) whose logarithms run to thousands of nats.
 * Log-add-exp covers that range but keeps a weight only to ulp(|log weight|): 1e-12 and worse past 3000
 * nats. A `wide` keeps the *relative* error of every weight at one rounding (1.1e-16) on any scale, zero
 * stays exact, and it is faster: no exp and no log in the inner loops.
 *
 * A `wide` is m * 2^e with 1 <= m < 2, or m = 0 (then e is 0). It is never negative, infinite or NaN.
 * Whoever uses it keeps |e| below 2^62, so that e needs no overflow check; weights from wide_exp_diff have
 * |e| < 2^48, so products of 8000 of them do.
 *
 * Plain C99 over <math.h>, <stdint.h> and <string.h>. Compile without -ffast-math.
 */
#ifndef SPACY_MTT_WIDE_H
#define SPACY_MTT_WIDE_H

#include <math.h>
#include <stdint.h>
#include <string.h>

#ifdef __FAST_MATH__
#error "the error terms below are optimised away under -ffast-math"
#endif

typedef struct {
    double m;  /* 0, or in [1, 2) */
    int64_t e; /* the power of two */
} wide;

/* Arcs this many nats (1.4e14) below the reference c count as weight 0: see wide_exp_diff. */
#define WIDE_MAX_GAP 140737488355328.0

static const wide WIDE_ZERO = {0.0, 0};
static const wide WIDE_ONE = {1.0, 0};

static inline int wide_is_zero(wide a) { return a.m == 0.0; }

/* Bring m from [1, 4) back to [1, 2). */
static inline wide wide_carry(double m, int64_t e)
{
    int big = m >= 2.0;
    wide out;
    out.m = big ? 0.5 * m : m;
    out.e = e + big;
    return out;
}

/* x >= 0, finite (subnormals too). */
static inline wide wide_from_double(double x)
{
    wide out = {0.0, 0};
    int e;
    if (x > 0.0) {
        out.m = 2.0 * frexp(x, &e);
        out.e = (int64_t)e - 1;
    }
    return out;
}

static inline wide wide_mul(wide a, wide b)
{
    if (a.m == 0.0 || b.m == 0.0)
        return WIDE_ZERO;
    return wide_carry(a.m * b.m, a.e + b.e);
}

/* a / b for b > 0. Dividing by zero is the caller's mistake and answers zero. */
static inline wide wide_div(wide a, wide b)
{
    wide out = {0.0, 0};
    if (a.m != 0.0 && b.m != 0.0) {
        double m = a.m / b.m; /* in (1/2, 2) */
        int small = m < 1.0;
        out.m = small ? 2.0 * m : m;
        out.e = a.e - b.e - small;
    }
    return out;
}

/* 2^-d for 0 <= d <= 62. */
static inline double wide_pow2_neg(int64_t d)
{
    uint64_t bits = (uint64_t)(1023 - d) << 52;
    double out;
    memcpy(&out, &bits, sizeof out);
    return out;
}

static inline wide wide_add(wide a, wide b)
{
    int64_t d;
    if (b.m == 0.0)
        return a;
    if (a.m == 0.0)
        return b;
    d = a.e - b.e;
    if (d >= 0)
        return d > 60 ? a : wide_carry(a.m + b.m * wide_pow2_neg(d), a.e);
    return d < -60 ? b : wide_carry(b.m + a.m * wide_pow2_neg(-d), b.e);
}

/* acc + a * b: the step of every inner loop. */
static inline wide wide_mul_add(wide acc, wide a, wide b) { return wide_add(acc, wide_mul(a, b)); }

/* a / b as a double, for b > 0: 0 where it underflows, infinity where it overflows. */
static inline double wide_ratio(wide a, wide b)
{
    int64_t d = a.e - b.e;
    if (a.m == 0.0 || d < -1100)
        return 0.0;
    if (d > 1100)
        return HUGE_VAL;
    return ldexp(a.m / b.m, (int)d);
}

static inline double wide_to_double(wide a) { return wide_ratio(a, WIDE_ONE); }

/* A running sum in two doubles, hi + lo: about 106 bits, so that large terms may cancel. */
typedef struct {
    double hi, lo;
} twofold;

static inline twofold twofold_add(twofold a, double x)
{
    double sum = a.hi + x, back = sum - a.hi; /* Knuth's two-sum */
    double lo = a.lo + ((a.hi - (sum - back)) + (x - back));
    twofold out;
    out.hi = sum + lo;
    out.lo = lo - (out.hi - sum);
    return out;
}

/* acc + k ln 2 for a whole |k| < 2^53. k and ln 2 are cut in pieces of at most 27 bits, so that the
 * products are exact: a compiler may then fuse them into the sums (as it does on ARM) without doing harm. */
static inline twofold twofold_add_ln2(twofold acc, double k)
{
    const double ln2_a = 0x1.62e42f8000000p-1, ln2_b = 0x1.be8e7b8000000p-27, ln2_c = 0x1.35793c7673008p-53;
    double k_hi = floor(k * 0x1p-26) * 0x1p26, k_lo = k - k_hi;
    acc = twofold_add(acc, k_hi * ln2_a);
    acc = twofold_add(acc, k_lo * ln2_a);
    acc = twofold_add(acc, k_hi * ln2_b);
    acc = twofold_add(acc, k_lo * ln2_b);
    return twofold_add(acc, k * ln2_c);
}

/* exp(hi + lo) to a relative error of about 2e-16, for finite hi. Below -WIDE_MAX_GAP the answer is zero;
 * above +WIDE_MAX_GAP it saturates. */
static inline wide wide_exp(twofold x)
{
    double k, m;
    wide out = {0.0, 0};
    if (!(x.hi >= -WIDE_MAX_GAP))
        return out;
    if (x.hi > WIDE_MAX_GAP) {
        x.hi = WIDE_MAX_GAP;
        x.lo = 0.0;
    }
    k = floor(x.hi * 1.4426950408889634 + 0.5);
    m = exp(twofold_add_ln2(x, -k).hi);
    out.m = m < 1.0 ? 2.0 * m : m;
    out.e = (int64_t)k - (m < 1.0);
    return out;
}

/* exp(s - c) likewise, for finite c and s finite or -infinity.
 *
 * Zero also where s - c overflows: a caller who must tell "so low" from "forbidden" tests s > -infinity and
 * wide_is_zero. With c a maximum s <= c holds, and nothing saturates.
 */
static inline wide wide_exp_diff(double s, double c)
{
    double x = s - c, back = x - s;
    twofold diff;
    diff.hi = x;
    diff.lo = (s - (x - back)) - (c + back); /* s - c = hi + lo exactly, or NaN where hi is -infinity */
    return wide_exp(diff);
}

/* acc + log(a) for a > 0. log a = log m + e ln 2, with m in [sqrt 1/2, sqrt 2] so that nothing cancels near
 * 1. */
static inline twofold twofold_add_log(twofold acc, wide a)
{
    int big = a.m > 1.4142135623730951;
    acc = twofold_add_ln2(acc, (double)(a.e + big));
    return twofold_add(acc, log(big ? 0.5 * a.m : a.m));
}

/* log(a); -infinity for zero. */
static inline double wide_log(wide a)
{
    twofold zero = {0.0, 0.0};
    return wide_is_zero(a) ? -HUGE_VAL : twofold_add_log(zero, a).hi;
}

#endif
