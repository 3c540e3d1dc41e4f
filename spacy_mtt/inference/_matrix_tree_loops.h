/* The fast path in plain doubles, compiled once for each instruction set.
 *
 * _matrix_tree_fast.h includes this file several times, with LOOP(name) giving the functions their suffix
 * and TARGET their instruction set. The recursion is explained in _matrix_tree.pyx.
 *
 * Indices of inner loops are ptrdiff_t: Python builds extensions with -fwrapv, under which an int index such as
 * 2 * ld + j may wrap, and compilers then gather and scatter what is contiguous, four times as slow.
 */

#include "_matrix_tree_ends.h"

/* to[j] = from[j] + sum_i a[i] q[i][j], g <= 4; `to` may be `from`. */
static INLINE TARGET void LOOP(one_row)(const double *from, double *to, const double *q, const double *a,
                                        int g, ptrdiff_t cols, ptrdiff_t ld)
{
    const double a0 = a[0], a1 = g > 1 ? a[1] : 0, a2 = g > 2 ? a[2] : 0, a3 = g > 3 ? a[3] : 0;
    IVDEP
    for (ptrdiff_t j = 0; j < cols; j++) {
        double x = from[j] + a0 * q[j];
        if (g > 1)
            x += a1 * q[ld + j];
        if (g > 2)
            x += a2 * q[2 * ld + j];
        if (g > 3)
            x += a3 * q[3 * ld + j];
        to[j] = x;
    }
}

/* The same for two neighbouring rows, which share the loads of q; their coefficients are ld apart too. */
static INLINE TARGET void LOOP(two_rows)(const double *from, double *to, const double *q, const double *a,
                                         int g, ptrdiff_t cols, ptrdiff_t ld)
{
    const double *b = a + ld;
    const double a0 = a[0], a1 = g > 1 ? a[1] : 0, a2 = g > 2 ? a[2] : 0, a3 = g > 3 ? a[3] : 0;
    const double b0 = b[0], b1 = g > 1 ? b[1] : 0, b2 = g > 2 ? b[2] : 0, b3 = g > 3 ? b[3] : 0;
    IVDEP
    for (ptrdiff_t j = 0; j < cols; j++) {
        double p = q[j], x = from[j] + a0 * p, y = from[ld + j] + b0 * p;
        if (g > 1)
            p = q[ld + j], x += a1 * p, y += b1 * p;
        if (g > 2)
            p = q[2 * ld + j], x += a2 * p, y += b2 * p;
        if (g > 3)
            p = q[3 * ld + j], x += a3 * p, y += b3 * p;
        to[j] = x, to[ld + j] = y;
    }
}

/* And for four of them, rows of coefficients `a` being ld apart. */
static INLINE TARGET void LOOP(four_rows)(const double *from, double *to, const double *q, const double *a,
                                          int g, ptrdiff_t cols, ptrdiff_t ld)
{
    const double *b = a + ld, *c = b + ld, *d = c + ld;
    const double a0 = a[0], a1 = g > 1 ? a[1] : 0, a2 = g > 2 ? a[2] : 0, a3 = g > 3 ? a[3] : 0;
    const double b0 = b[0], b1 = g > 1 ? b[1] : 0, b2 = g > 2 ? b[2] : 0, b3 = g > 3 ? b[3] : 0;
    const double c0 = c[0], c1 = g > 1 ? c[1] : 0, c2 = g > 2 ? c[2] : 0, c3 = g > 3 ? c[3] : 0;
    const double d0 = d[0], d1 = g > 1 ? d[1] : 0, d2 = g > 2 ? d[2] : 0, d3 = g > 3 ? d[3] : 0;
    IVDEP
    for (ptrdiff_t j = 0; j < cols; j++) {
        double p = q[j], x = from[j] + a0 * p, y = from[ld + j] + b0 * p;
        double z = from[2 * ld + j] + c0 * p, w = from[3 * ld + j] + d0 * p;
        if (g > 1)
            p = q[ld + j], x += a1 * p, y += b1 * p, z += c1 * p, w += d1 * p;
        if (g > 2)
            p = q[2 * ld + j], x += a2 * p, y += b2 * p, z += c2 * p, w += d2 * p;
        if (g > 3)
            p = q[3 * ld + j], x += a3 * p, y += b3 * p, z += c3 * p, w += d3 * p;
        to[j] = x, to[ld + j] = y, to[2 * ld + j] = z, to[3 * ld + j] = w;
    }
}

/* The block of g pivots by itself: their d, and B with  W[r, j] += sum_{c, i} W[r, k_c] B[c, i] W[k_i, j].
 *
 * t[i][c] = W[k_i, k_c], and t[g][c] is the sum over all other rows, which changes as they do: so it gives
 * the d_k. Row r sheds f_i = (W[r, k_i] + sum_{l<i} f_l U[l, i]) / d_i to pivot i, U being the pivots' rows
 * in each other's columns at their time, and pivot i's row has by then become sum_l K[i, l] W[k_l, j].
 * B[c] = sum_i f_i K[i] for W[r] = e_c. The t[i][i] are not read: no word heads itself. (Entries W[j, j] do
 * fill up, but only ever count in column j, all of which they scale alike once j is gone.)
 */
static INLINE TARGET void LOOP(block)(double (*t)[4], double *d, double (*b)[4], int g)
{
    double inv[4], k[4][4], f[4];
    for (int i = 0; i < g; i++) {
        d[i] = 0.0;
        for (int r = i + 1; r <= g; r++)
            d[i] += t[r][i];
        inv[i] = 1.0 / d[i];
        for (int r = i + 1; r <= g; r++) {
            t[r][i] *= inv[i];
            for (int c = i + 1; c < g; c++)
                if (c != r)
                    t[r][c] += t[r][i] * t[i][c];
        }
        for (int c = 0; c < i; c++) {
            k[i][c] = t[i][c];
            for (int l = c + 1; l < i; l++)
                k[i][c] += t[i][l] * k[l][c];
        }
        k[i][i] = 1.0;
    }
    for (int c = 0; c < g; c++) {
        for (int i = c; i < g; i++) {
            double x = i == c;
            for (int l = c; l < i; l++)
                x += f[l] * t[l][i];
            f[i] = x * inv[i];
        }
        for (int i = 0; i < g; i++) {
            b[c][i] = 0.0;
            for (int l = i > c ? i : c; l < g; l++)
                b[c][i] += f[l] * k[l][i];
        }
    }
}

/* Eliminate the g <= 4 neighbouring words p .. p+g-1 of `from`; the words x .. y-1 and the root remain, in
 * `to`. */
static INLINE TARGET void LOOP(eliminate_group)(Fast *fast, Node from, Node to, int p, int g, int x, int y,
                                                int cols, double *d)
{
    const ptrdiff_t ld = fast->ld, col = from.lo + p;
    const double *pivots = from.rows + (size_t)p * ld;
    double t[5][4], b[4][4], *q = fast->q;
    for (int c = 0; c < g; c++) {
        for (int i = 0; i < g; i++)
            t[i][c] = pivots[i * ld + col + c];
        t[g][c] = fast->sigma * from.root[col + c];
    }
    for (int r = x; r < y; r++)
        for (int c = 0; c < g; c++)
            t[g][c] += from.rows[(size_t)r * ld + col + c];
    LOOP(block)(t, d, b, g);
    for (int c = 0; c < g; c++) { /* Q = B W of the pivots */
        IVDEP
        for (ptrdiff_t j = 0; j < cols; j++) {
            double v = b[c][0] * pivots[j];
            if (g > 1)
                v += b[c][1] * pivots[ld + j];
            if (g > 2)
                v += b[c][2] * pivots[2 * ld + j];
            if (g > 3)
                v += b[c][3] * pivots[3 * ld + j];
            q[c * ld + j] = v;
        }
    }
    LOOP(one_row)(from.root, to.root, q, from.root + col, g, cols, ld);
    for (; x + 3 < y; x += 4) {
        const double *row = from.rows + (size_t)x * ld;
        LOOP(four_rows)(row, to.rows + (size_t)x * ld, q, row + col, g, cols, ld);
    }
    for (; x + 1 < y; x += 2) {
        const double *row = from.rows + (size_t)x * ld;
        LOOP(two_rows)(row, to.rows + (size_t)x * ld, q, row + col, g, cols, ld);
    }
    for (; x < y; x++) {
        const double *row = from.rows + (size_t)x * ld;
        LOOP(one_row)(row, to.rows + (size_t)x * ld, q, row + col, g, cols, ld);
    }
}

/* eliminate_group with g known to the compiler; notes each pivot. */
static TARGET void LOOP(eliminate)(Fast *fast, Node from, Node to, int p, int g, int x, int y, int cols,
                                   wide *product)
{
    double d[4];
    if (g == 4)
        LOOP(eliminate_group)(fast, from, to, p, 4, x, y, cols, d);
    else if (g == 3)
        LOOP(eliminate_group)(fast, from, to, p, 3, x, y, cols, d);
    else if (g == 2)
        LOOP(eliminate_group)(fast, from, to, p, 2, x, y, cols, d);
    else
        LOOP(eliminate_group)(fast, from, to, p, 1, x, y, cols, d);
    for (int i = 0; i < g; i++)
        fast_note(fast, d[i], product);
}

/* gain[m, h] = mu(h -> m) S_h / w[h, m] = W[0, h] / R. The last word but m, with its `row` and the factor f
 * of the root, is eliminated on the way. */
static INLINE TARGET void LOOP(leaf)(Fast *fast, const double *RESTRICT root, const double *RESTRICT row,
                                     double f, int m, wide *product)
{
    const ptrdiff_t ld = fast->ld;
    const double r = root[m] + f * row[m], inv_r = 1.0 / r;
    double *RESTRICT gain = fast->gain + m * ld;
    fast_note(fast, r, product);
    fast->root_gain[m] = inv_r;
    IVDEP
    for (ptrdiff_t h = 0; h < ld; h++)
        gain[h] = (root[h] + f * row[h]) * inv_r;
}

/* All marginals of the words of `node`, by halves; `space` holds (rows + 1) ld doubles a level. `product`
 * is that of the pivots so far on the way to the first word, else NULL. */
static TARGET void LOOP(halve)(Fast *fast, Node node, double *space, wide *product)
{
    const int half = (node.count + 1) / 2, a = node.lo, b = a + 1;
    const size_t ld = (size_t)fast->ld;
    Node to = {space, space + ld, node.lo, half}, from = node;
    if (node.count == 1) {
        LOOP(leaf)(fast, node.root, node.root, 0.0, a, product);
        return;
    }
    if (node.count == 2) {
        const double *row_a = node.rows, *row_b = node.rows + ld, sigma = fast->sigma;
        double d_a = row_b[a] + sigma * node.root[a], d_b = row_a[b] + sigma * node.root[b];
        fast_note(fast, d_b, product);
        fast_note(fast, d_a, NULL);
        LOOP(leaf)(fast, node.root, row_b, node.root[b] / d_b, a, product);
        LOOP(leaf)(fast, node.root, row_a, node.root[a] / d_a, b, NULL);
        return;
    }
    space += (size_t)(node.count + 1) * ld;
    for (int end = node.count, g; end > half; end -= g, from = to) {
        g = end - half < 4 ? end - half : 4;
        LOOP(eliminate)(fast, from, to, end - g, g, 0, end - g, fast->ld, product);
    }
    LOOP(halve)(fast, to, space, product);
    from = node;
    for (int start = 0, g; start < half; start += g, from = to) {
        g = half - start < 4 ? half - start : 4;
        LOOP(eliminate)(fast, from, to, start, g, start + g, node.count, fast->ld, NULL);
    }
    to.rows += half * ld;
    to.lo += half;
    to.count = node.count - half;
    LOOP(halve)(fast, to, space, NULL);
}

/* The product of all pivots down to the first word's, in place: log Z needs the columns still alive alone. */
static TARGET void LOOP(eliminate_all)(Fast *fast, Node node, wide *product)
{
    for (int end = node.count, g; end > 1; end -= g) {
        g = end - 1 < 4 ? end - 1 : 4;
        LOOP(eliminate)(fast, node, node, end - g, g, 0, end - g, (end - g + 7) / 8 * 8, product);
    }
    fast_note(fast, node.root[0], product);
}

static const Loops LOOP(loops) = {LOOP(raise_row), LOOP(fill), LOOP(eliminate_all), LOOP(halve),
                                  LOOP(write_marginals)};
