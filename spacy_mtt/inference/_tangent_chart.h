/* The derivative of all projective marginals in one direction: inside-outside over dual numbers.
 *
 * Included once for each kind of number in _dual.h, with D(name), DUAL and DUAL_ROW defined. The charts are those of
 * _eisner_chart.pxd; the outside pass works on transposed ones, as in _eisner_wide.pyx. When plain
 * doubles are good enough is derived at accepts() in _eisner.pyx; a derivative is at most 2 n times its number.
 */

typedef struct {
    size_t n, ld;
    DUAL_ROW weight; /* [h, m] */
    DUAL_ROW right, left, arc_right, arc_left;            /* [i, j]: left end, right end */
    DUAL_ROW right_t, left_t, arc_left_t;                 /* [j, i] */
    DUAL_ROW d_right_t, d_left_t, d_arc_left_t;           /* adjoints, [j, i] */
    DUAL_ROW s, d_right, d_left, d_arc_right;             /* single rows */
} D(Chart);

enum { D(CHARTS) = 11, D(CHART_ROWS) = 4 };

/* Dual numbers of workspace for n words. */
static size_t D(chart_space)(size_t n) { return (D(CHARTS) * (n + 1) + D(CHART_ROWS)) * (n + 1); }

static D(Chart) D(chart_begin)(size_t n, double *block)
{
    const size_t ld = n + 1, size = D(chart_space)(n);
    DUAL_ROW space = D(begin)(block, size);
    D(Chart) t;
    DUAL_ROW *const charts[] = {&t.weight, &t.right, &t.left, &t.arc_right, &t.arc_left, &t.right_t,
                                &t.left_t, &t.arc_left_t, &t.d_right_t, &t.d_left_t, &t.d_arc_left_t};
    DUAL_ROW *const rows[] = {&t.s, &t.d_right, &t.d_left, &t.d_arc_right};
    D(clear)(space, size);
    t.n = n;
    t.ld = ld;
    for (int i = 0; i < D(CHARTS); i++, space = D(at)(space, ld * ld))
        *charts[i] = space;
    for (int i = 0; i < D(CHART_ROWS); i++, space = D(at)(space, ld))
        *rows[i] = space;
    return t;
}

static void D(inside_row)(D(Chart) *t, size_t i)
{
    const size_t n = t->n, ld = t->ld;
    const DUAL_ROW s = t->s, right = D(at)(t->right, i * ld), left = D(at)(t->left, i * ld);
    DUAL right_r = D(one), left_r = D(one);
    D(clear)(s, ld);
    for (size_t r = i; r <= n; r++) {
        if (r > i) {
            DUAL sum = D(get)(s, r), arc_left = D(mul)(D(get)(t->weight, r * ld + i), sum);
            DUAL arc_right = D(mul)(D(get)(t->weight, i * ld + r), sum);
            left_r = D(add)(D(get)(left, r), arc_left);
            right_r = D(add)(D(get)(right, r), arc_right);
            D(put)(t->arc_left, i * ld + r, arc_left);
            D(put)(t->arc_left_t, r * ld + i, arc_left);
            D(put)(t->arc_right, i * ld + r, arc_right);
            /* RIGHT[i, j] += ARC_RIGHT[i, r] RIGHT[r, j], LEFT[i, j] += LEFT[i, r] ARC_LEFT[r, j], for j > r */
            D(take)(n - r, arc_right, D(at)(t->right, r * ld + r + 1), D(at)(right, r + 1));
            D(take)(n - r, left_r, D(at)(t->arc_left, r * ld + r + 1), D(at)(left, r + 1));
        }
        D(put)(right, r, right_r);
        D(put)(left, r, left_r);
        D(put)(t->right_t, r * ld + i, right_r);
        D(put)(t->left_t, r * ld + i, left_r);
        if (r < n) /* S[i, j] += RIGHT[i, r] LEFT[r + 1, j], for j > r */
            D(take)(n - r, right_r, D(at)(t->left, (r + 1) * ld + r + 1), D(at)(s, r + 1));
    }
}

/* The lines of inside_row, transposed and in reverse; d mu[h, m] = d (ARC[h, m] dZ/dARC[h, m] / Z). */
static void D(outside_row)(D(Chart) *t, size_t i, DUAL z, double *d_mu, size_t ld_mu)
{
    const size_t n = t->n, ld = t->ld;
    const DUAL_ROW right = D(at)(t->right, i * ld), left = D(at)(t->left, i * ld);
    const DUAL_ROW arc_right = D(at)(t->arc_right, i * ld);
    D(clear)(t->d_arc_right, ld);
    for (size_t r = i; r <= n; r++) {
        D(put)(t->d_right, r, D(get)(t->d_right_t, r * ld + i));
        D(put)(t->d_left, r, D(get)(t->d_left_t, r * ld + i));
    }
    for (size_t r = n; r > i; r--) {
        const size_t here = r * ld + i + 1, inner = r - i - 1;
        const DUAL d_right = D(get)(t->d_right, r), d_left = D(get)(t->d_left, r);
        const DUAL d_arc_right = D(add)(D(get)(t->d_arc_right, r), d_right);
        const DUAL d_arc_left = D(add)(D(get)(t->d_arc_left_t, r * ld + i), d_left);
        const DUAL d_s = D(add)(D(mul)(D(get)(t->weight, i * ld + r), d_arc_right),
                                D(mul)(D(get)(t->weight, r * ld + i), d_arc_left));
        d_mu[i * ld_mu + r] = D(derivative)(D(div)(D(mul)(D(get)(arc_right, r), d_arc_right), z));
        d_mu[r * ld_mu + i] = D(derivative)(D(div)(D(mul)(D(get)(t->arc_left, i * ld + r), d_arc_left), z));
        /* S[i, r] = sum_p RIGHT[i, p] LEFT[p + 1, r] over i <= p < r */
        D(take)(r - i, d_s, D(at)(t->left_t, here), D(at)(t->d_right, i));
        D(take)(r - i, d_s, D(at)(right, i), D(at)(t->d_left_t, here));
        /* RIGHT[i, r] = ARC_RIGHT[i, r] + sum_p ARC_RIGHT[i, p] RIGHT[p, r] over i < p < r; LEFT likewise */
        D(take)(inner, d_right, D(at)(t->right_t, here), D(at)(t->d_arc_right, i + 1));
        D(take)(inner, d_right, D(at)(arc_right, i + 1), D(at)(t->d_right_t, here));
        D(take)(inner, d_left, D(at)(t->arc_left_t, here), D(at)(t->d_left, i + 1));
        D(take)(inner, d_left, D(at)(left, i + 1), D(at)(t->d_arc_left_t, here));
    }
}

/* Z = RIGHT[0, n], or sum_r w[0, r] LEFT[1, r] RIGHT[r, n] with a single root, whose arcs get their marginals here. */
static DUAL D(chart_total)(D(Chart) *t, int single_root, double *d_mu)
{
    const size_t n = t->n, ld = t->ld;
    DUAL z = D(zero);
    if (!single_root) {
        D(put)(t->d_right_t, n * ld, D(one));
        return D(get)(t->right, n);
    }
    for (size_t r = 1; r <= n; r++)
        z = D(add)(z, D(mul)(D(get)(t->weight, r), D(mul)(D(get)(t->left, ld + r), D(get)(t->right, r * ld + n))));
    for (size_t r = 1; r <= n && D(in_range)(z); r++) {
        const DUAL w = D(get)(t->weight, r), left = D(get)(t->left, ld + r), right = D(get)(t->right, r * ld + n);
        d_mu[r] = D(derivative)(D(div)(D(mul)(w, D(mul)(left, right)), z));
        D(put)(t->d_left_t, r * ld + 1, D(mul)(w, right));
        D(put)(t->d_right_t, n * ld + r, D(mul)(w, left));
    }
    return z;
}

/* d_mu[h, m] = d mu(h -> m) / dt for scores s + t v, of n >= 1 words that have a tree; whether that is exact. s, v and
 * d_mu have ld doubles a row and point at the entry (0, 0); c[m] is the best score of column m >= 1. */
static int D(chart)(int n, int single_root, const double *s, const double *v, size_t ld, const double *c,
                    double *block, double *d_mu)
{
    const double log_trees = LOG_TREES_PER_WORD * n + 10.0;
    D(Chart) t;
    DUAL z;
    if (!D(no_underflow)(0.0, log_trees)) /* nor overflow */
        return 0;
    t = D(chart_begin)(n, block);
    for (int h = 0; h <= n; h++)
        for (int m = 1; m <= n; m++)
            if (h != m)
                D(put)(t.weight, h * t.ld + m, D(exp_diff)(s[h * ld + m], c[m], v[h * ld + m]));
    for (int i = n; i >= (single_root ? 1 : 0); i--)
        D(inside_row)(&t, i);
    z = D(chart_total)(&t, single_root, d_mu);
    if (!D(in_range)(z) || !D(no_underflow)(D(log)(z), log_trees))
        return 0;
    for (int i = single_root ? 1 : 0; i <= n; i++)
        D(outside_row)(&t, i, z, d_mu, ld);
    return 1;
}
