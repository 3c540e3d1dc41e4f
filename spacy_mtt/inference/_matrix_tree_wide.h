/* Matrix-Tree sums by the same elimination with extended exponents: any finite scores, any mask.
 *
 * Single-root is multi-root with root weights of infinitely small size eps: Z is then eps times the sum
 * over trees with one root arc, plus terms in eps^2 and smaller. Every quantity is a sum of products and
 * quotients of positive ones, so its leading term in eps comes from the leading terms of its parts: one
 * number a eps^p each. Here eps = 2^-ROOT_SHIFT, so far below any weight that wide_add drops the smaller
 * powers by itself. That covers what leaving r[k] out of the pivots does not: words that only the root can
 * head, alone or as a group, have pivots of order eps and not 0. Pivots of order eps are root arcs that
 * every tree has; with two of them there is no tree.
 */
#ifndef SPACY_MTT_MATRIX_TREE_WIDE_H
#define SPACY_MTT_MATRIX_TREE_WIDE_H

#include "_wide.h"

#define ROOT_SHIFT ((int64_t)1 << 61)
#define HALF_SHIFT ((int64_t)1 << 60)

typedef struct {
    wide *root, *rows;
    int lo, count;
} WideNode;

typedef struct {
    int n, single_root;
    int forced;    /* pivots of order eps on the way to the first word */
    int feasible;  /* the pivots on that way say that there is a tree */
    twofold log_z; /* sum of their logs, eps left out */
    wide *weights; /* (n + 1) n, rows are heads */
    wide *column;  /* n: S_h, the sums of its columns */
    wide *pivot;   /* n */
    double *mu;    /* where to write the marginals: root -> word 1 */
    size_t ld_mu;
} Wide;

/* Count in a pivot on the way to the first word, and after the last one decide. */
static inline void wide_note(Wide *sums, wide d, int is_last)
{
    if (wide_is_zero(d)) {
        sums->feasible = 0;
    } else {
        if (d.e < -HALF_SHIFT) {
            sums->forced++;
            d.e += ROOT_SHIFT;
        }
        sums->log_z = twofold_add_log(sums->log_z, d);
    }
    if (is_last && sums->single_root && sums->forced != 1)
        sums->feasible = 0;
}

/* to[j] = from[j] + f pivot[j] */
static inline void wide_row(const wide *from, wide *to, wide f, const wide *pivot, int cols)
{
    if (wide_is_zero(f)) {
        memmove(to, from, (size_t)cols * sizeof *to);
        return;
    }
    for (int j = 0; j < cols; j++)
        to[j] = wide_mul_add(from[j], f, pivot[j]);
}

/* Eliminate word p of `from`, keep the words x .. y-1 and the root in `to` (which may be `from`); the
 * pivot.
 *
 *     d_k = W[0, k] + sum_{alive r != k} W[r, k];   W[r, j] += (W[r, k] / d_k) W[k, j]
 */
static wide wide_eliminate(Wide *sums, WideNode from, WideNode to, int p, int x, int y, int cols)
{
    const int n = sums->n, col = from.lo + p;
    wide d = from.root[col];
    for (int r = x; r < y; r++)
        d = wide_add(d, from.rows[(size_t)r * n + col]);
    memcpy(sums->pivot, from.rows + (size_t)p * n, (size_t)cols * sizeof(wide));
    wide_row(from.root, to.root, wide_div(from.root[col], d), sums->pivot, cols);
    for (int r = x; r < y; r++) {
        const wide *row = from.rows + (size_t)r * n;
        wide_row(row, to.rows + (size_t)r * n, wide_div(row[col], d), sums->pivot, cols);
    }
    return d;
}

/* mu(h -> m) = w[h, m] W[0, h] / (S_h R) with m alone alive, R = W[0, m]. */
static void wide_leaf(Wide *sums, WideNode node)
{
    const int n = sums->n, m = node.lo;
    const wide r = node.root[m];
    sums->mu[m] = wide_ratio(sums->weights[m], r);
    for (int h = 0; h < n; h++) {
        wide w = sums->weights[(size_t)(h + 1) * n + m], out = node.root[h];
        double mu = 0.0;
        if (h != m && !wide_is_zero(w) && !wide_is_zero(out))
            mu = wide_ratio(wide_mul(w, wide_div(out, sums->column[h])), r);
        sums->mu[(h + 1) * sums->ld_mu + m] = mu < 1.0 ? mu : 1.0;
    }
}

/* All marginals by halves, as in _matrix_tree_loops.h; gives up when the first word shows that there is no
 * tree. */
static void wide_halve(Wide *sums, WideNode node, wide *space, int is_first)
{
    const int n = sums->n, half = (node.count + 1) / 2;
    WideNode to = {space, space + n, node.lo, half}, from = node;
    if (node.count == 1) {
        if (is_first)
            wide_note(sums, node.root[node.lo], 1);
        if (sums->feasible)
            wide_leaf(sums, node);
        return;
    }
    space += (size_t)(node.count + 1) * n;
    for (int p = node.count - 1; p >= half; p--, from = to) {
        wide d = wide_eliminate(sums, from, to, p, 0, p, n);
        if (is_first)
            wide_note(sums, d, 0);
    }
    if (sums->feasible)
        wide_halve(sums, to, space, is_first);
    from = node;
    for (int p = 0; p < half; p++, from = to)
        wide_eliminate(sums, from, to, p, p + 1, node.count, n);
    to.rows += (size_t)half * n;
    to.lo += half;
    to.count = node.count - half;
    if (sums->feasible)
        wide_halve(sums, to, space, 0);
}

/* Bytes of workspace for n words. */
static inline size_t wide_space(size_t n) { return ((n + 1) + 2 + 2 * n + 2 * 32) * (n + 1) * sizeof(wide); }

enum { WIDE_NO_TREE, WIDE_SOLVED, WIDE_TOO_WIDE };

/* log(Z / exp(sum of c)), and the marginals unless mu is NULL, of n >= 1 words. WIDE_TOO_WIDE: arcs more
 * than WIDE_MAX_GAP below their column's best were taken for 0, and the sum does not stand so far above
 * that they cannot matter. */
static int wide_tree_sums(int n, int single_root, const double *s, size_t ld_s, const double *c, wide *space,
                          twofold *log_z, double *mu, size_t ld_mu)
{
    Wide sums = {0};
    WideNode node = {space, space + n, 0, n};
    int lost = 0;
    sums.n = n;
    sums.single_root = single_root;
    sums.feasible = 1;
    sums.mu = mu;
    sums.ld_mu = ld_mu;
    sums.weights = space;
    sums.column = space + ((size_t)n + 1) * n;
    sums.pivot = sums.column + n;
    for (int h = 0; h <= n; h++)
        for (int m = 0; m < n; m++) {
            double score = h == m + 1 ? -HUGE_VAL : s[h * ld_s + m];
            wide *w = space + (size_t)h * n + m;
            *w = wide_exp_diff(score, c[m]);
            lost |= wide_is_zero(*w) && score > -HUGE_VAL;
            if (h == 0 && single_root && !wide_is_zero(*w))
                w->e -= ROOT_SHIFT;
            sums.column[m] = h ? wide_add(sums.column[m], *w) : *w;
        }
    if (mu) {
        wide_halve(&sums, node, sums.pivot + n, 1);
    } else {
        for (int p = n - 1; p > 0; p--)
            wide_note(&sums, wide_eliminate(&sums, node, node, p, 0, p, p), 0);
        wide_note(&sums, node.root[0], 1);
    }
    *log_z = sums.log_z;
    if (!sums.feasible)
        return lost ? WIDE_TOO_WIDE : WIDE_NO_TREE;
    return lost && !(log_z->hi > -0.5 * WIDE_MAX_GAP) ? WIDE_TOO_WIDE : WIDE_SOLVED;
}

#endif
