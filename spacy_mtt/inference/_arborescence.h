/* The loops over whole rows of scores and of reduced weights that _arborescence.pyx spends its time in. */
#ifndef MTT_ARBORESCENCE_H
#define MTT_ARBORESCENCE_H

#include <math.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__FAST_MATH__)
  #error "-ffast-math would remove the error terms that exact comparisons rest on"
#endif

#if defined(_MSC_VER)
  #define MTT_RESTRICT __restrict
#else
  #define MTT_RESTRICT __restrict__
#endif

/* The same source for every instruction set, chosen when the library is loaded (needs gcc and glibc). No set
   that is listed has fused multiply-add, so every clone gives the same bits. */
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__GLIBC__)
  #define MTT_CLONES __attribute__((target_clones("avx2", "default")))
#else
  #define MTT_CLONES
#endif

/* best[m] = max over h of scores[h, m] and head[m] = the lowest such h (-1: no arc enters m), m = 1..n. */
MTT_CLONES static void mtt_column_maxima(
    const double *MTT_RESTRICT scores, ptrdiff_t stride, ptrdiff_t n,
    double *MTT_RESTRICT best, int64_t *MTT_RESTRICT head)
{
    for (ptrdiff_t m = 0; m <= n; m++) { best[m] = -INFINITY; head[m] = -1; }
    for (ptrdiff_t h = 0; h <= n; h++) {
        const double *MTT_RESTRICT row = scores + h * stride;
        const double own_best = best[h];   /* the diagonal does not exist: undo what it did */
        const int64_t own_head = head[h];
        for (ptrdiff_t m = 1; m <= n; m++) {
            const int better = row[m] > best[m];
            best[m] = better ? row[m] : best[m];
            head[m] = better ? (int64_t)h : head[m];
        }
        best[h] = own_best;
        head[h] = own_head;
    }
}

/* For each head u: (hi, lo)[u] = max((hi, lo)[u], (in_hi, in_lo)[u] - (y_hi, y_lo)), and the word entered.
   Each pair stands for hi + lo with hi = fl(hi + lo), so pairs compare lexicographically. The difference is
   exact up to the rounding of `low` (Knuth's two-sum on both sides of it). An absent arc (-inf) becomes
   (-inf, NaN), which is greater than nothing and is never kept. */
#define MTT_MERGE(IN_LO, IN_WORD)                                              \
    for (ptrdiff_t u = 0; u <= n; u++) {                                       \
        const double a = in_hi[u];                                             \
        const double s = a - y_hi, b = s - a;                                  \
        const double low = ((a - (s - b)) - (y_hi + b)) + ((IN_LO) - y_lo);    \
        const double p = s + low, c = p - s;                                   \
        const double q = (s - (p - c)) + (low - c);                            \
        const int better = (p > hi[u]) | ((p == hi[u]) & (q > lo[u]));         \
        hi[u] = better ? p : hi[u];                                            \
        lo[u] = better ? q : lo[u];                                            \
        word[u] = better ? (int64_t)(IN_WORD) : word[u];                       \
    }

MTT_CLONES static void mtt_merge_word(
    const double *MTT_RESTRICT in_hi, int64_t in_word, double y_hi, double y_lo, ptrdiff_t n,
    double *MTT_RESTRICT hi, double *MTT_RESTRICT lo, int64_t *MTT_RESTRICT word)
{
    MTT_MERGE(0.0, in_word)
}

MTT_CLONES static void mtt_merge_cycle(
    const double *MTT_RESTRICT in_hi, const double *MTT_RESTRICT in_lo, const int64_t *MTT_RESTRICT in_word,
    double y_hi, double y_lo, ptrdiff_t n,
    double *MTT_RESTRICT hi, double *MTT_RESTRICT lo, int64_t *MTT_RESTRICT word)
{
    MTT_MERGE(in_lo[u], in_word[u])
}

/* The lowest u in first..n with the greatest (hi, lo)[u], or -1 if all are absent. */
MTT_CLONES static ptrdiff_t mtt_row_maximum(
    const double *MTT_RESTRICT hi, const double *MTT_RESTRICT lo, ptrdiff_t first, ptrdiff_t n)
{
    enum { LANES = 8 };   /* independent maxima, so that the loop vectorises without reordering anything */
    double lanes[LANES], top = -INFINITY;
    ptrdiff_t u = first, best = -1;
    for (int i = 0; i < LANES; i++) lanes[i] = -INFINITY;
    for (; u + LANES <= n + 1; u += LANES)
        for (int i = 0; i < LANES; i++) lanes[i] = hi[u + i] > lanes[i] ? hi[u + i] : lanes[i];
    for (; u <= n; u++) top = hi[u] > top ? hi[u] : top;
    for (int i = 0; i < LANES; i++) top = lanes[i] > top ? lanes[i] : top;
    if (top == -INFINITY) return -1;
    for (u = first; u <= n; u++)
        if (hi[u] == top && (best < 0 || lo[u] > lo[best])) best = u;
    return best;
}

#endif
