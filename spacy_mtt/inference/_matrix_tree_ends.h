/* Both ends of the fast path: from scores to weights, and from gains to marginals.
 *
 * Included by _matrix_tree_loops.h, once for each instruction set.
 */

/* out[j] = exp(s[j] - c[j]) for s <= c, to 2e-16 relative, exactly 0 below some e^-708. libm's exp does not
 * vectorise. */
static TARGET void LOOP(exp_row)(const double *RESTRICT s, const double *RESTRICT c, double *RESTRICT out,
                                 int n)
{
    IVDEP
    for (ptrdiff_t j = 0; j < n; j++) {
        double x = s[j] - c[j], back = x - s[j];
        double lo = (s[j] - (x - back)) - (c[j] + back); /* s - c = x + lo exactly */
        double shifted = x * 1.4426950408889634 + 0x1.8p52; /* k = round(x / ln 2) in the low bits */
        double k = shifted - 0x1.8p52;
        double r = ((x - k * 0x1.62e42fefap-1) - k * 0x1.cf79abc9e3b3ap-40) + lo;
        double p = 1.0 / 6227020800.0; /* Taylor: r^14 / 14! < 5e-18 for |r| <= ln 2 / 2 */
        uint64_t bits, live = (uint64_t)(x > -708.0); /* no branch, so that it vectorises; 0 for NaN */
        p = p * r + 1.0 / 479001600.0;
        p = p * r + 1.0 / 39916800.0;
        p = p * r + 1.0 / 3628800.0;
        p = p * r + 1.0 / 362880.0;
        p = p * r + 1.0 / 40320.0;
        p = p * r + 1.0 / 5040.0;
        p = p * r + 1.0 / 720.0;
        p = p * r + 1.0 / 120.0;
        p = p * r + 1.0 / 24.0;
        p = p * r + 1.0 / 6.0;
        p = p * r + 0.5;
        p = p * r * r + r + 1.0;
        memcpy(&bits, &shifted, sizeof bits);
        bits = (bits + 1023) << 52; /* 2^k, -1022 <= k <= 0 where it counts */
        memcpy(&k, &bits, sizeof k);
        p *= k;
        memcpy(&bits, &p, sizeof p);
        bits &= 0 - live;
        memcpy(out + j, &bits, sizeof bits);
    }
}

/* c[j] = max(s[j], c[j]) for from <= j < to. */
static TARGET void LOOP(raise_row)(const double *RESTRICT s, double *RESTRICT c, int from, int to)
{
    for (ptrdiff_t j = from; j < to; j++)
        c[j] = s[j] > c[j] ? s[j] : c[j];
}

/* W = exp(s - c) by rows, zeros on the diagonal and in the padding; fast->column: each column's sum, with
 * the root's entry times sigma. Returns the sum of all weights. s has ld_s doubles a row, s[0] is root ->
 * word 1. */
static TARGET double LOOP(fill)(Fast *fast, const double *s, size_t ld_s, const double *c)
{
    const ptrdiff_t n = fast->n, ld = fast->ld;
    double *RESTRICT column = fast->column, total = 0.0;
    for (ptrdiff_t h = 0; h <= n; h++) {
        double *RESTRICT row = fast->weights + h * ld;
        const double scale = h ? 1.0 : fast->sigma;
        LOOP(exp_row)(s + (size_t)h * ld_s, c, row, fast->n);
        for (ptrdiff_t j = n; j < ld; j++)
            row[j] = 0.0;
        if (h)
            row[h - 1] = 0.0;
        for (ptrdiff_t j = 0; j < ld; j++)
            column[j] = (h ? column[j] : 0.0) + scale * row[j];
    }
    for (ptrdiff_t j = 0; j < n; j++)
        total += column[j] + (1.0 - fast->sigma) * fast->weights[j];
    return total;
}

/* Transpose the gains in place, by tiles, so that rows are heads. */
static TARGET void LOOP(transpose)(double *gain, ptrdiff_t ld)
{
    enum { TILE = 8 };
    for (ptrdiff_t i0 = 0; i0 < ld; i0 += TILE)
        for (ptrdiff_t j0 = 0; j0 <= i0; j0 += TILE)
            for (ptrdiff_t i = i0; i < i0 + TILE; i++)
                for (ptrdiff_t j = j0; j < (j0 < i0 ? j0 + TILE : i); j++) {
                    const double x = gain[i * ld + j];
                    gain[i * ld + j] = gain[j * ld + i];
                    gain[j * ld + i] = x;
                }
}

/* out[m] = w[m] / S gain[m], also added to sums[m]. A weight below the normal doubles has a marginal below
 * e^-50: 0. */
static INLINE TARGET void LOOP(marginal_row)(const double *RESTRICT w, double inv_s, const double *RESTRICT gain,
                                             double *RESTRICT sums, double *RESTRICT out, ptrdiff_t n)
{
    for (ptrdiff_t m = 0; m < n; m++) {
        double x = w[m] * inv_s * gain[m];
        x = w[m] < 0x1p-1022 ? 0.0 : x;
        sums[m] += x;
        out[m] = x < 1.0 ? x : 1.0;
    }
}

/* mu[h, m] = w[h, m] / S_h gain[m, h]; whether every column then sums to 1. mu has ld_mu doubles a row, mu[0]
 * is root -> word 1. */
static TARGET int LOOP(write_marginals)(Fast *fast, double *mu, size_t ld_mu)
{
    const ptrdiff_t n = fast->n, ld = fast->ld;
    double *sums = fast->q;
    int ok = 1;
    LOOP(transpose)(fast->gain, ld);
    memset(sums, 0, (size_t)n * sizeof *sums);
    LOOP(marginal_row)(fast->weights, 1.0, fast->root_gain, sums, mu, n);
    for (ptrdiff_t h = 0; h < n; h++)
        LOOP(marginal_row)(fast->weights + (h + 1) * ld, 1.0 / fast->column[h], fast->gain + h * ld, sums,
                           mu + (size_t)(h + 1) * ld_mu, n);
    for (ptrdiff_t m = 0; m < n; m++)
        ok &= fabs(sums[m] - 1.0) < 1e-10;
    return ok;
}
