/* Matrix-Tree sums by subtraction-free elimination in plain doubles. The theory is in _matrix_tree.pyx.
 *
 * Accepting an answer. The elimination only adds, multiplies and divides non-negative numbers, so all that
 * can spoil it is range. A quantity that underflows while word k is eliminated stands at W[h, m], h and m
 * still alive, and adding delta there changes what follows exactly as adding delta to the *original* weight
 * of h -> m would; so does a weight exp(s - c) that underflowed itself. Z is linear in each weight, with a
 * coefficient of at most prod_m S_m, where S_m is the sum of the weights of column m. With delta < e^-708,
 * about n^3 of them change Z by less than n^3 e^-708 prod S. Where Z > e^-650 prod S that is n^3 e^-58 of
 * Z: nothing. The same argument bounds the absolute error of each marginal. By the inequality of the means,
 * prod S <= (mean of S)^n. Pivots near the end of the range are refused, and the columns of mu must sum to
 * 1, which overflow would break. Refused sentences go to _matrix_tree_wide.h.
 */
#ifndef SPACY_MTT_MATRIX_TREE_FAST_H
#define SPACY_MTT_MATRIX_TREE_FAST_H

#include "_wide.h"

#if defined(_MSC_VER)
#define RESTRICT __restrict
#define INLINE __forceinline
#define IVDEP __pragma(loop(ivdep))
#elif defined(__clang__)
#define RESTRICT restrict
#define INLINE inline __attribute__((always_inline))
#define IVDEP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define RESTRICT restrict
#define INLINE inline __attribute__((always_inline))
#define IVDEP _Pragma("GCC ivdep")
#else
#define RESTRICT restrict
#define INLINE inline
#define IVDEP
#endif

#define LEAST_PIVOT 0x1p-960

/* The words lo .. lo + count - 1 that are alive: their rows, `ld` doubles apart, and the root's row. */
typedef struct {
    double *root, *rows;
    int lo, count;
} Node;

/* One sentence of n words. */
typedef struct {
    int n, ld;         /* words; doubles a row */
    double sigma;      /* 1: multi-root, 0: single-root */
    int ok;            /* no pivot out of range so far */
    double *weights;   /* (n + 1) ld: exp(s - c), rows are heads */
    double *gain;      /* ld ld: mu / weight, n rows that are modifiers */
    double *root_gain; /* ld */
    double *column;    /* ld: S_h, the sums of the columns, with sigma times the root's weight */
    double *q;         /* 4 ld */
    double *space;     /* the halves: see fast_space */
} Fast;

typedef struct {
    void (*raise_row)(const double *RESTRICT, double *RESTRICT, int, int);
    double (*fill)(Fast *, const double *, size_t, const double *);
    void (*eliminate_all)(Fast *, Node, wide *);
    void (*halve)(Fast *, Node, double *, wide *);
    int (*write_marginals)(Fast *, double *, size_t);
} Loops;

/* Check a pivot (or R) and multiply it into `product` unless that is NULL. */
static inline void fast_note(Fast *fast, double d, wide *product)
{
    fast->ok &= d >= LEAST_PIVOT && d <= 1.0 / LEAST_PIVOT;
    if (product && fast->ok)
        *product = wide_mul(*product, wide_from_double(d));
}

#define TARGET
#define LOOP(name) name##_baseline
#include "_matrix_tree_loops.h"
#undef TARGET
#undef LOOP

/* Not target_clones: it needs ifunc, which musl and macOS lack, and "avx2" alone has no fused multiply-add.
 */
#if defined(__x86_64__) && defined(__GNUC__)
#define HAS_X86_LOOPS 1
#define TARGET __attribute__((target("avx2,fma")))
#define LOOP(name) name##_avx2
#include "_matrix_tree_loops.h"
#undef TARGET
#undef LOOP
#if defined(__clang__) /* which does not know the last word, and would then ignore all of them */
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma")))
#else
#define TARGET __attribute__((target("avx512f,avx512dq,avx512vl,fma,prefer-vector-width=512")))
#endif
#define LOOP(name) name##_avx512
#include "_matrix_tree_loops.h"
#undef TARGET
#undef LOOP
#endif

/* The loops of the instruction set 0 (baseline), 1 (AVX2), 2 (AVX-512), or NULL where they cannot run. */
static const Loops *fast_loops(int set)
{
#ifdef HAS_X86_LOOPS
    __builtin_cpu_init();
    if (set == 2 && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("fma"))
        return &loops_avx512;
    if (set == 1 && __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return &loops_avx2;
#endif
    return set == 0 ? &loops_baseline : NULL;
}

/* Doubles a row: whole cache lines, but not a multiple of 512 bytes, at which the lines of a column would
 * collide. */
static inline size_t fast_ld(size_t n)
{
    size_t ld = (n + 7) / 8 * 8;
    return ld % 64 == 0 && ld ? ld + 8 : ld;
}

/* Doubles of workspace for n words, without the weights; the halves need 2 n rows and 2 a level. */
static inline size_t fast_space(size_t n) { return (fast_ld(n) + 1 + 1 + 4 + 2 * n + 2 * 32) * fast_ld(n) + 8; }

/* `space` holds (n + 1) fast_ld(n) + fast_space(n) doubles, aligned to 64 bytes. */
static inline Fast fast_begin(int n, double sigma, double *space)
{
    Fast fast = {0};
    size_t ld = fast_ld((size_t)n);
    fast.n = n;
    fast.ld = (int)ld;
    fast.sigma = sigma;
    fast.ok = 1;
    fast.weights = space;
    fast.root_gain = space += ((size_t)n + 1) * ld;
    fast.column = space += ld;
    fast.q = space += ld;
    fast.gain = space += 4 * ld;
    fast.space = space + ld * ld;
    return fast;
}

/* best[j] = the best score of word j + 1 under any other word; -infinity if it has none. */
static void fast_best_word(const Loops *loops, int n, const double *s, size_t ld, double *best)
{
    for (int m = 0; m < n; m++)
        best[m] = -HUGE_VAL;
    for (int h = 1; h <= n; h++) {
        loops->raise_row(s + h * ld, best, 0, h - 1);
        loops->raise_row(s + h * ld, best, h, n);
    }
}

/* Z / exp(sum of c), and the marginals unless mu is NULL, of n >= 1 words; whether they are accepted. s and
 * mu point at the arc from the root to word 1. */
static int fast_tree_sums(const Loops *loops, int n, double sigma, const double *s, size_t ld_s,
                          const double *c, double *space, wide *z, double *mu, size_t ld_mu)
{
    Fast fast = fast_begin(n, sigma, space);
    Node node = {fast.weights, fast.weights + fast.ld, 0, n};
    double mean = loops->fill(&fast, s, ld_s, c) / n;
    *z = WIDE_ONE;
    if (mu)
        loops->halve(&fast, node, fast.space, z);
    else
        loops->eliminate_all(&fast, node, z);
    if (!fast.ok || !(wide_log(*z) > n * log(mean) - 650.0))
        return 0;
    return !mu || loops->write_marginals(&fast, mu, ld_mu);
}

#endif
