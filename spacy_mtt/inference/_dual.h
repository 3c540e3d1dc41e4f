/* Positive numbers that carry their derivative in one direction, in plain doubles and with an extended exponent.
 *
 * Inference here adds, multiplies and divides positive numbers alone. Its derivative in a direction follows step by
 * step: each number x has a d = dx/dt. The relative derivative d / x of a sum is a mean of those of its terms, that of
 * a product their sum: it stays of the size of the direction itself times the number of words, and its error a few
 * roundings of that. So d is as exact, relative to x, as x is, whatever the scale of the scores. An inverse of the
 * Laplacian, or log-add-exp, would not give that.
 *
 * The two kinds have the same functions, called D(name) by the algorithms in _tangent_elimination.h and
 * _tangent_chart.h, which are compiled once for each. A row is a strip of numbers, its x and d apart from each other so
 * that `take`, the step of every inner loop, vectorises.
 *
 *     dual       x and d
 *     wide_dual  x 2^e and d 2^e, with 1 <= x < 2, or x = d = 0. d shares the exponent: it is of the size of x.
 */
#ifndef SPACY_MTT_DUAL_H
#define SPACY_MTT_DUAL_H

#include "_eisner_clones.h"
#include "_eisner_wide_rows.h"
#include "_wide.h"

#define DUAL_LEAST_PIVOT 0x1p-960

/* ---- plain doubles */

typedef struct {
    double x, d;
} dual;

typedef struct {
    double *x, *d;
} dual_row;

static const dual dual_zero = {0.0, 0.0}, dual_one = {1.0, 0.0};
enum { dual_leaves_root_out = 1 }; /* of the pivots, in the single-root case */

static inline dual dual_add(dual a, dual b)
{
    dual out = {a.x + b.x, a.d + b.d};
    return out;
}

static inline dual dual_mul(dual a, dual b)
{
    dual out = {a.x * b.x, a.x * b.d + a.d * b.x};
    return out;
}

static inline dual dual_div(dual a, dual b)
{
    dual out = {a.x / b.x, 0.0};
    out.d = (a.d - out.x * b.d) / b.x;
    return out;
}

/* exp(s - c), growing by v = ds/dt; 0 where that is no normal number, so below e^-708. */
static inline dual dual_exp_diff(double s, double c, double v)
{
    double x = wide_to_double(wide_exp_diff(s, c));
    dual out = {x, x * v};
    return x < 0x1p-1022 ? dual_zero : out;
}

static inline dual dual_lower_root(dual w) { return w; }
static inline double dual_value(dual a) { return a.x; }
static inline double dual_derivative(dual a) { return a.d; }
static inline double dual_log(dual a) { return log(a.x); }
static inline int dual_in_range(dual a) { return a.x >= DUAL_LEAST_PIVOT && a.x <= 1.0 / DUAL_LEAST_PIVOT; }

/* Whether nothing lost below e^-708 can matter to a sum exp(log_z) into which it enters times exp(log_bound) at most. */
static inline int dual_no_underflow(double log_z, double log_bound) { return log_z > log_bound - 650.0; }

static inline dual_row dual_begin(double *block, size_t count)
{
    dual_row out = {block, block + count};
    return out;
}

static inline dual_row dual_at(dual_row row, size_t offset)
{
    dual_row out = {row.x + offset, row.d + offset};
    return out;
}

static inline dual dual_get(dual_row row, size_t j)
{
    dual out = {row.x[j], row.d[j]};
    return out;
}

static inline void dual_put(dual_row row, size_t j, dual a)
{
    row.x[j] = a.x;
    row.d[j] = a.d;
}

static inline void dual_clear(dual_row row, size_t count)
{
    memset(row.x, 0, count * sizeof *row.x);
    memset(row.d, 0, count * sizeof *row.d);
}

/* to = from */
static inline void dual_copy(dual_row from, dual_row to, size_t count)
{
    memcpy(to.x, from.x, count * sizeof *to.x);
    memcpy(to.d, from.d, count * sizeof *to.d);
}

/* y[j] += a x[j]; x and y do not overlap. */
CLONES static void dual_take(ptrdiff_t count, dual a, dual_row x, dual_row y)
{
    const double *xx = x.x, *xd = x.d;
    double *yx = y.x, *yd = y.d;
    ptrdiff_t j;
    INDEPENDENT
    for (j = 0; j < count; j++) {
        yd[j] += a.x * xd[j] + a.d * xx[j];
        yx[j] += a.x * xx[j];
    }
}

/* ---- with an extended exponent */

typedef struct {
    double x, d;
    int64_t e;
} wide_dual;

typedef struct {
    double *x, *d;
    int64_t *e;
} wide_dual_row;

/* The exponent of zero in rows: below all others, and twice it fits an int64_t. */
#define WIDE_DUAL_NOTHING (-((int64_t)1 << 62))

/* The weights of root arcs in the single-root case are lowered by 2^this: see _matrix_tree_wide.h. */
#define WIDE_DUAL_ROOT_SHIFT ((int64_t)1 << 60)

static const wide_dual wide_dual_zero = {0.0, 0.0, 0}, wide_dual_one = {1.0, 0.0, 0};
enum { wide_dual_leaves_root_out = 0 };

/* Bring x > 0 to [1, 2); zero stays. */
static inline wide_dual wide_dual_carry(double x, double d, int64_t e)
{
    const wide carried = wide_from_double(x);
    wide_dual out = {carried.m, 0.0, 0};
    if (carried.m != 0.0) {
        out.d = d * (carried.m / x); /* a power of two */
        out.e = e + carried.e;
    }
    return out;
}

static inline wide_dual wide_dual_add(wide_dual a, wide_dual b)
{
    if (b.x == 0.0)
        return a;
    if (a.x == 0.0)
        return b;
    if (a.e < b.e) {
        wide_dual swap = a;
        a = b;
        b = swap;
    }
    const double scale = power_of_two(b.e - a.e);
    return wide_dual_carry(a.x + b.x * scale, a.d + b.d * scale, a.e);
}

static inline wide_dual wide_dual_mul(wide_dual a, wide_dual b)
{
    return wide_dual_carry(a.x * b.x, a.x * b.d + a.d * b.x, a.e + b.e);
}

/* b > 0 */
static inline wide_dual wide_dual_div(wide_dual a, wide_dual b)
{
    const double x = a.x / b.x;
    return wide_dual_carry(x, (a.d - x * b.d) / b.x, a.e - b.e);
}

static inline wide_dual wide_dual_exp_diff(double s, double c, double v)
{
    const wide w = wide_exp_diff(s, c);
    wide_dual out = {w.m, w.m * v, w.e};
    return out;
}

static inline wide_dual wide_dual_lower_root(wide_dual w)
{
    w.e -= w.x != 0.0 ? WIDE_DUAL_ROOT_SHIFT : 0;
    return w;
}

static inline double wide_dual_value(wide_dual a) { return a.e < -1100 ? 0.0 : ldexp(a.x, (int)a.e); }
static inline double wide_dual_derivative(wide_dual a) { return a.e < -2200 ? 0.0 : ldexp(a.d, (int)a.e); }
static inline double wide_dual_log(wide_dual a) { return log(a.x) + (double)a.e * 0.6931471805599453; }
static inline int wide_dual_in_range(wide_dual a) { return a.x != 0.0; }
static inline int wide_dual_no_underflow(double log_z, double log_bound)
{
    (void)log_z, (void)log_bound;
    return 1;
}

static inline wide_dual_row wide_dual_begin(double *block, size_t count)
{
    wide_dual_row out = {block, block + count, (int64_t *)(block + 2 * count)};
    return out;
}

static inline wide_dual_row wide_dual_at(wide_dual_row row, size_t offset)
{
    wide_dual_row out = {row.x + offset, row.d + offset, row.e + offset};
    return out;
}

static inline wide_dual wide_dual_get(wide_dual_row row, size_t j)
{
    return wide_dual_carry(row.x[j], row.d[j], row.e[j]);
}

static inline void wide_dual_put(wide_dual_row row, size_t j, wide_dual a)
{
    row.x[j] = a.x;
    row.d[j] = a.d;
    row.e[j] = a.x == 0.0 ? WIDE_DUAL_NOTHING : a.e;
}

static inline void wide_dual_clear(wide_dual_row row, size_t count)
{
    memset(row.x, 0, count * sizeof *row.x);
    memset(row.d, 0, count * sizeof *row.d);
    for (size_t j = 0; j < count; j++)
        row.e[j] = WIDE_DUAL_NOTHING;
}

/* to = from, each number brought back to [1, 2): sums in rows are left as they come. */
static inline void wide_dual_copy(wide_dual_row from, wide_dual_row to, size_t count)
{
    for (size_t j = 0; j < count; j++)
        wide_dual_put(to, j, wide_dual_get(from, j));
}

/* y[j] += a x[j]; x, with numbers below 2, and y do not overlap. Each call adds less than 4 to the number in y. */
CLONES static void wide_dual_take(ptrdiff_t count, wide_dual a, wide_dual_row x, wide_dual_row y)
{
    const double *xx = x.x, *xd = x.d;
    const int64_t *xe = x.e;
    double *yx = y.x, *yd = y.d;
    int64_t *ye = y.e;
    ptrdiff_t j;
    if (a.x == 0.0)
        return;
    INDEPENDENT
    for (j = 0; j < count; j++) {
        const int64_t old = ye[j], term = a.e + xe[j], both = old > term ? old : term;
        const double keep = power_of_two(old - both), scale = power_of_two(term - both);
        yd[j] = yd[j] * keep + (a.x * xd[j] + a.d * xx[j]) * scale;
        yx[j] = yx[j] * keep + a.x * xx[j] * scale;
        ye[j] = both;
    }
}

#endif
