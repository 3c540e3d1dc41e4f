/* The derivative of all non-projective marginals in one direction: elimination by halves over dual numbers.
 *
 * Included once for each kind of number in _dual.h, with D(name), DUAL and DUAL_ROW defined. The algorithm is explained
 * in _matrix_tree.pyx, how the wide kind treats single roots in _matrix_tree_wide.h, and when plain doubles are good
 * enough in _matrix_tree_fast.h: a derivative is lost to underflow together with its number and enters the result
 * with the same coefficient.
 */

/* The words lo .. lo + count - 1 that are alive: their rows, n numbers apart, and the root's row. */
typedef struct {
    DUAL_ROW root, rows;
    int lo, count;
} D(Node);

typedef struct {
    int n, with_root;  /* with_root: root arcs count in pivots */
    int ok;            /* no pivot out of range, and every column of mu sums to 1 */
    double log_pivots; /* of the pivots on the way to the first word */
    DUAL_ROW weights;  /* (n + 1) n, rows are heads */
    DUAL_ROW column;   /* n: S_h, the sums of the columns, the root's arcs counted if with_root */
    DUAL_ROW pivot;    /* n */
    double *d_mu;      /* root -> word 1 */
    size_t ld_mu;
} D(Elimination);

/* Dual numbers of workspace for n words: weights, two rows, and the halves as in _matrix_tree_wide.h. */
static size_t D(elimination_space)(size_t n) { return ((n + 1) + 2 + 2 * n + 2 * 32) * (n + 1); }

static void D(note)(D(Elimination) *all, DUAL d, int is_first)
{
    all->ok &= D(in_range)(d);
    if (is_first && all->ok)
        all->log_pivots += D(log)(d);
}

/* d_k = sigma W[0, k] + sum_{alive r != k} W[r, k];   W[r, j] += (W[r, k] / d_k) W[k, j]
 * Eliminates word p of `from`; the words x .. y-1 and the root remain, in `to`, which may be `from`. */
static void D(eliminate)(D(Elimination) *all, D(Node) from, D(Node) to, int p, int x, int y, int is_first)
{
    const size_t n = (size_t)all->n, col = (size_t)(from.lo + p);
    DUAL d = all->with_root ? D(get)(from.root, col) : D(zero);
    for (int r = x; r < y; r++)
        d = D(add)(d, D(get)(from.rows, r * n + col));
    D(note)(all, d, is_first);
    if (!all->ok)
        return;
    D(copy)(D(at)(from.rows, p * n), all->pivot, n);
    if (to.rows.x != from.rows.x) {
        D(copy)(from.root, to.root, n);
        D(copy)(D(at)(from.rows, x * n), D(at)(to.rows, x * n), (y - x) * n);
    }
    D(take)(n, D(div)(D(get)(to.root, col), d), all->pivot, to.root);
    for (int r = x; r < y; r++)
        D(take)(n, D(div)(D(get)(to.rows, r * n + col), d), all->pivot, D(at)(to.rows, r * n));
}

/* mu(0 -> m) = w[0, m] / R, mu(h -> m) = w[h, m] W[0, h] / (S_h R) with m alone alive, R = W[0, m]. */
static void D(leaf)(D(Elimination) *all, D(Node) node, int is_first)
{
    const int n = all->n, m = node.lo;
    const DUAL r = D(get)(node.root, m);
    double sum = 0.0;
    D(note)(all, r, is_first);
    for (int h = 0; h <= n && all->ok; h++) {
        DUAL mu = D(get)(all->weights, (size_t)h * n + m);
        if (mu.x == 0.0)
            continue;
        if (h)
            mu = D(mul)(mu, D(div)(D(get)(node.root, h - 1), D(get)(all->column, h - 1)));
        mu = D(div)(mu, r);
        sum += D(value)(mu);
        all->d_mu[h * all->ld_mu + m] = D(derivative)(mu);
    }
    all->ok &= fabs(sum - 1.0) < 1e-10;
}

/* All words of `node`, by halves; `space` holds count + 1 rows a level. */
static void D(halve)(D(Elimination) *all, D(Node) node, DUAL_ROW space, int is_first)
{
    const size_t n = (size_t)all->n;
    const int half = (node.count + 1) / 2;
    D(Node) to = {space, D(at)(space, n), node.lo, half}, from = node;
    if (node.count == 1) {
        D(leaf)(all, node, is_first);
        return;
    }
    space = D(at)(space, (node.count + 1) * n);
    for (int p = node.count - 1; p >= half && all->ok; p--, from = to)
        D(eliminate)(all, from, to, p, 0, p, is_first);
    if (all->ok)
        D(halve)(all, to, space, is_first);
    from = node;
    for (int p = 0; p < half && all->ok; p++, from = to)
        D(eliminate)(all, from, to, p, p + 1, node.count, 0);
    to.rows = D(at)(to.rows, half * n);
    to.lo += half;
    to.count = node.count - half;
    if (all->ok)
        D(halve)(all, to, space, 0);
}

/* d_mu[h, m] = d mu(h -> m) / dt for scores s + t v, of n >= 1 words that have a tree; whether that is exact. s, v and
 * d_mu have ld doubles a row and point at the arc from the root to word 1; c is each column's best score. Arcs of weight
 * 0 are not written. */
static int D(elimination)(int n, int single_root, const double *s, const double *v, size_t ld, const double *c,
                          double *block, double *d_mu)
{
    const size_t size = D(elimination_space)(n);
    const DUAL_ROW space = D(begin)(block, size);
    D(Elimination) all = {0};
    D(Node) node = {space, D(at)(space, n), 0, n};
    double total = 0.0;
    all.n = n;
    all.with_root = !(single_root && D(leaves_root_out));
    all.ok = 1;
    all.weights = space;
    all.column = D(at)(space, (size_t)(n + 1) * n);
    all.pivot = D(at)(all.column, n);
    all.d_mu = d_mu;
    all.ld_mu = ld;
    for (int h = 0; h <= n; h++)
        for (int m = 0; m < n; m++) {
            DUAL w = h == m + 1 ? D(zero) : D(exp_diff)(s[h * ld + m], c[m], v[h * ld + m]);
            if (h == 0 && single_root)
                w = D(lower_root)(w);
            D(put)(space, (size_t)h * n + m, w);
            D(put)(all.column, m, h ? D(add)(D(get)(all.column, m), w) : all.with_root ? w : D(zero));
            total += w.x;
        }
    D(halve)(&all, node, D(at)(all.pivot, n), 1);
    return all.ok && D(no_underflow)(all.log_pivots, n * log(total / n));
}
