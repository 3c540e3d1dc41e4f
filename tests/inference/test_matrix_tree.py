import math

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.inference._matrix_tree import instruction_sets, tree_sums
from spacy_mtt.inference.matrix_tree import log_partition, marginals
from tests.oracle import all_trees, enumerate_distribution
from tests.strategies import poison_unread, random_scores, score_matrices

PATHS = [{"instruction_set": i} for i in instruction_sets()] + [{"force_wide": True}]
SCALES = [1.0, 10.0, 30.0, 100.0, 300.0, 3000.0]
both_roots = pytest.mark.parametrize("single_root", [False, True], ids=["multi", "single"])


def solve(scores, single_root, **path):
    """log Z, its excess and mu of one sentence (n+1, n+1) by the kernel; log_partition must agree."""
    batch, lengths = np.ascontiguousarray(scores)[None], np.array([len(scores) - 1], dtype=np.intp)
    log_z, excess, mu = np.full(1, np.nan), np.full(1, np.nan), np.zeros(batch.shape)
    assert tree_sums(batch, lengths, single_root, log_z, excess, mu, **path)[0] == -1
    alone, alone_excess = np.full(1, np.nan), np.full(1, np.nan)
    assert tree_sums(batch, lengths, single_root, alone, alone_excess, **path)[0] == -1
    np.testing.assert_allclose(alone, log_z, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(alone_excess, excess, rtol=1e-13, atol=1e-13)
    return log_z[0], excess[0], mu[0]


def column_best(scores):
    """max_h scores[h, m] (n,) over the arcs that exist."""
    arcs = scores.copy()
    np.fill_diagonal(arcs, -np.inf)
    return arcs[:, 1:].max(axis=0)


def check_exact(scores, single_root, log_z, mu, paths=PATHS):
    """Every path gives log Z to 1e-12 relative and each marginal to 1e-12, exactly 0 where no arc is."""
    n = len(scores) - 1
    no_arc = np.isneginf(scores) | np.eye(n + 1, dtype=bool)
    no_arc[:, 0] = True
    for path in paths:
        got_log_z, excess, got_mu = solve(scores, single_root, **path)
        assert not got_mu[no_arc].any(), path
        if np.isneginf(log_z):
            assert got_log_z == excess == -np.inf and not got_mu.any(), path
            continue
        assert abs(got_log_z - log_z) <= 1e-12 * max(1.0, abs(log_z)), path
        assert np.abs(got_mu - mu).max(initial=0.0) <= 1e-12, path
        exact_excess = math.fsum([log_z, *-column_best(scores)])
        assert abs(excess - exact_excess) <= 1e-12 * max(1.0, abs(log_z)), path


def check_enumerated(scores, single_root):
    _, _, log_z, _, mu = enumerate_distribution(scores, projective=False, single_root=single_root)
    check_exact(scores, single_root, log_z, mu)


# ---- against enumeration of all trees


@both_roots
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("masked", [0.0, 0.3, 0.5])
def test_equals_enumeration(single_root, scale, masked):
    rng = np.random.default_rng([int(scale), int(10 * masked), single_root])
    for n in (1, 2, 3, 3, 4, 4, 4, 5):
        check_enumerated(random_scores(rng, n, scale, masked), single_root)


@both_roots
def test_equals_enumeration_of_six_words(single_root):
    check_enumerated(random_scores(np.random.default_rng(6), 6, 30.0, 0.2), single_root)


@both_roots
@settings(max_examples=60, deadline=None)
@given(scores=score_matrices(max_n=4, scale=700.0, masked=True))
def test_equals_enumeration_of_drawn_scores(single_root, scores):
    check_enumerated(scores, single_root)


@both_roots
@pytest.mark.parametrize("attraction", [30.0, 100.0, 1000.0, 1e5])
def test_two_words_that_attract_each_other(single_root, attraction):
    scores = poison_unread(np.zeros((3, 3)))
    scores[1, 2] = scores[2, 1] = attraction
    check_enumerated(scores, single_root)
    bigger = random_scores(np.random.default_rng(2), 5)
    bigger[1:3, 1:3] += attraction
    check_enumerated(bigger, single_root)


@both_roots
@pytest.mark.parametrize("shift", [-40.0, -400.0, -4000.0, 1000.0])
@pytest.mark.parametrize("line", ["root row", "row", "column"])
def test_rows_and_columns_far_from_the_others(single_root, shift, line):
    scores = random_scores(np.random.default_rng(3), 4)
    where = {"root row": np.s_[0], "row": np.s_[2], "column": np.s_[:, 3]}[line]
    scores[where] += shift
    check_enumerated(scores, single_root)


@both_roots
@pytest.mark.parametrize("scale", [1.0, 1000.0])
def test_masks_that_leave_a_single_tree(single_root, scale):
    rng = np.random.default_rng(4)
    for n in (2, 3, 4):
        for heads in all_trees(n, False, False)[:: 3 if n == 4 else 1]:
            scores = np.full((n + 1, n + 1), -np.inf)
            scores[heads, np.arange(1, n + 1)] = rng.normal(size=n) * scale
            check_enumerated(poison_unread(scores), single_root)


@both_roots
def test_every_mask_of_three_words(single_root):
    """All 2^9 sets of arcs: zero pivots of every kind, in every place."""
    arcs = [(h, m) for m in (1, 2, 3) for h in range(4) if h != m]
    values = np.random.default_rng(5).normal(size=len(arcs))
    for mask in range(1 << len(arcs)):
        scores = np.full((4, 4), -np.inf)
        for i, arc in enumerate(arcs):
            if mask >> i & 1:
                scores[arc] = values[i]
        check_enumerated(poison_unread(scores), single_root)


@both_roots
def test_words_forced_by_underflow_rather_than_masks(single_root):
    """A group that only the root could head if arcs of weight e^-800 did not count: they do."""
    rng = np.random.default_rng(7)
    for gap in (600.0, 800.0, 2000.0):
        for forced in ([1], [3], [1, 2], [2, 4], [3, 4], [1, 2, 3], [1, 2, 3, 4]):
            scores = random_scores(rng, 4)
            others = [h for h in range(1, 5) if h not in forced]
            scores[np.ix_(others, forced)] -= gap
            check_enumerated(scores, single_root)


# ---- against arithmetic of many digits


def exact_by_inverse(scores, single_root):
    """(log Z, mu (n+1, n+1)) from the determinant and the inverse (Koo et al. 2007, sections 3.1 and 3.2).

    With twice the digits until they no longer change and every word has one head.
    """
    digits, before = 60, None
    while True:
        with mpmath.workdps(digits):
            answer = _by_inverse(scores, single_root)
            if answer is not None and before is not None:
                column_error = np.abs(answer[1][:, 1:].sum(axis=0) - 1).max()
                if column_error < 1e-25 and np.abs(answer[1] - before[1]).max() < 1e-25:
                    return float(answer[0]), answer[1].astype(float)
        digits, before = 2 * digits, answer


def _many_digit_weights(scores):
    """exp(scores[h, m] - max_h scores[h, m]) (n+1, n+1), 0 where no arc is."""
    n, best = len(scores) - 1, column_best(scores)
    w = np.full((n + 1, n + 1), mpmath.mpf(0))
    for h in range(n + 1):
        for m in range(1, n + 1):
            if h != m and not np.isneginf(scores[h, m]):
                w[h, m] = mpmath.exp(mpmath.mpf(scores[h, m]) - mpmath.mpf(best[m - 1]))
    return w


def _by_inverse(scores, single_root):
    n = len(scores) - 1
    w = _many_digit_weights(scores)
    laplacian = -w[1:, 1:]
    laplacian[np.diag_indices(n)] = w[1:, 1:].sum(axis=0) + (0 if single_root else w[0, 1:])
    if single_root:
        laplacian[0] = w[0, 1:]
    z, inverse = _gauss_jordan(laplacian)
    if z <= 0:
        return None
    mu = np.full((n + 1, n + 1), mpmath.mpf(0))
    diagonal, cross = inverse.diagonal().copy(), inverse.T.copy()  # cross[h, m] = inverse[m, h]
    mu[0, 1:] = w[0, 1:] * (inverse[:, 0] if single_root else diagonal)
    if single_root:
        diagonal[0] = 0
        cross[0] = 0
    mu[1:, 1:] = w[1:, 1:] * (diagonal - cross)
    return mpmath.log(z) + mpmath.fsum(map(mpmath.mpf, column_best(scores))), mu


def _gauss_jordan(a):
    """The determinant and the inverse of `a` (n, n), by Gauss-Jordan elimination with partial pivoting."""
    n = len(a)
    a = np.concatenate([a, np.full((n, n), mpmath.mpf(0))], axis=1)
    a[np.arange(n), n + np.arange(n)] = mpmath.mpf(1)
    determinant = mpmath.mpf(1)
    for k in range(n):
        pivot = k + int(np.abs(a[k:, k]).argmax())
        if a[pivot, k] == 0:
            return mpmath.mpf(0), None
        if pivot != k:
            a[[k, pivot]] = a[[pivot, k]]
            determinant = -determinant
        determinant *= a[k, k]
        a[k] = a[k] / a[k, k]
        for r in range(n):
            if r != k and a[r, k] != 0:
                a[r, k:] = a[r, k:] - a[r, k] * a[k, k:]
    return determinant, a[:, n:]


def hard_cases(n):
    """Scores (n+1, n+1) of every kind that has broken an implementation, by name."""
    rng = np.random.default_rng(n)
    cases = {f"deviation {scale:g}": random_scores(rng, n, scale) for scale in SCALES}
    for attraction in (30.0, 100.0, 1000.0):
        cases[f"cycle +{attraction:g}"] = scores = random_scores(rng, n)
        scores[1, n] += attraction
        scores[n, 1] += attraction
    for gap in (40.0, 400.0):
        cases[f"root row -{gap:g}"] = scores = random_scores(rng, n)
        scores[0] -= gap
    cases["row +1000"] = random_scores(rng, n)
    cases["row +1000"][2] += 1000.0
    cases["column +1000"] = random_scores(rng, n)
    cases["column +1000"][:, 2] += 1000.0
    cases["half masked"] = random_scores(rng, n, 10.0, 0.5)
    cases["half masked, deviation 300"] = random_scores(rng, n, 300.0, 0.5)
    return cases


@both_roots
@pytest.mark.parametrize("name", hard_cases(8))
def test_equals_many_digits_with_8_words(single_root, name):
    scores = hard_cases(8)[name]
    check_exact(scores, single_root, *exact_by_inverse(scores, single_root))


@both_roots
@pytest.mark.parametrize("name", ["deviation 10", "deviation 300", "cycle +100", "root row -400", "half masked"])
def test_equals_many_digits_with_20_words(single_root, name):
    scores = hard_cases(20)[name]
    check_exact(scores, single_root, *exact_by_inverse(scores, single_root))


def test_equals_many_digits_with_40_words():
    scores = hard_cases(40)["cycle +30"]
    check_exact(scores, True, *exact_by_inverse(scores, True))


def exact_by_elimination(scores, single_root, target):
    """(log Z, mu[:, target]) with 40 digits, eliminating the other words one by one: for long sentences.

    Rows and columns shrink, and what the kernel reads off kept columns is back-substituted: q[target] = 0 and
    q[k] = (r[k] + sum of A[h, k] q[h]) / d[k] in reverse order, then mu(h -> m) = w[h, m] q[h] / r[m].
    """
    with mpmath.workdps(40):
        n, best = len(scores) - 1, column_best(scores)
        w = _many_digit_weights(scores)[:, 1:]
        r, a, steps = w[0].copy(), w[1:].copy(), []
        log_z = mpmath.fsum(map(mpmath.mpf, best))
        alive = [target - 1, *(m for m in range(n) if m != target - 1)]
        while len(alive) > 1:
            k = alive.pop()
            d = a[alive, k].sum() + (0 if single_root else r[k])
            steps.append((k, list(alive), a[alive, k], r[k], d))
            log_z += mpmath.log(d)
            r[alive] = r[alive] + a[k, alive] * (r[k] / d)
            a[np.ix_(alive, alive)] = a[np.ix_(alive, alive)] + np.outer(a[alive, k] / d, a[k, alive])
            a[alive, alive] = mpmath.mpf(0)
        rest = r[target - 1]
        q = np.full(n, mpmath.mpf(0))
        for k, others, column, root, d in reversed(steps):
            q[k] = (root + (column * q[others]).sum()) / d
        mu = np.concatenate([[w[0, target - 1]], w[1:, target - 1] * q]) / rest
        return float(log_z + mpmath.log(rest)), mu.astype(float)


@both_roots
@pytest.mark.parametrize("n", [8, 40])
@pytest.mark.parametrize("name", hard_cases(8))
def test_equals_elimination_with_many_digits(single_root, n, name):
    scores = hard_cases(n)[name]
    for target in (1, n // 2, n) if n < 40 else (2,):
        log_z, column = exact_by_elimination(scores, single_root, target)
        for path in PATHS:
            got_log_z, _, mu = solve(scores, single_root, **path)
            assert abs(got_log_z - log_z) <= 1e-12 * max(1.0, abs(log_z))
            assert np.abs(mu[:, target] - column).max() <= 1e-12


# ---- identities


@both_roots
@settings(max_examples=40, deadline=None)
@given(scores=score_matrices(max_n=12, scale=40.0))
def test_every_word_has_one_head(single_root, scores):
    for path in PATHS:
        _, _, mu = solve(scores, single_root, **path)
        np.testing.assert_allclose(mu[:, 1:].sum(axis=0), 1.0, atol=1e-13)
        assert (mu >= 0).all() and (mu <= 1).all()
        if single_root:
            assert abs(mu[0].sum() - 1.0) <= 1e-13


@both_roots
@pytest.mark.parametrize("n", [9, 17, 64, 130])
def test_long_sentences_fill_every_block(single_root, n):
    """All paths agree where pivots come in whole blocks and in remainders."""
    scores = random_scores(np.random.default_rng(n), n, 3.0)
    paths = PATHS if n < 100 else PATHS[:-1]
    results = [solve(scores, single_root, **path) for path in paths]
    for log_z, excess, mu in results:
        assert abs(log_z - results[0][0]) <= 1e-13 * abs(log_z)
        assert abs(excess - results[0][1]) <= 1e-13 * abs(excess)
        np.testing.assert_allclose(mu, results[0][2], rtol=1e-11, atol=1e-300)
        np.testing.assert_allclose(mu[:, 1:].sum(axis=0), 1.0, atol=1e-13)


@both_roots
@settings(max_examples=40, deadline=None)
@given(scores=score_matrices(max_n=8, scale=300.0, masked=True))
def test_fast_and_wide_paths_agree(single_root, scores):
    results = [solve(scores, single_root, **path) for path in PATHS]
    for log_z, excess, mu in results[:-1]:
        np.testing.assert_allclose([log_z, excess], results[-1][:2], rtol=1e-12, atol=1e-12)
        np.testing.assert_allclose(mu, results[-1][2], atol=1e-12)


@both_roots
def test_ordinary_scores_keep_to_the_fast_path(single_root):
    """As do sentences whose tree or whose root is known: the wide path is for scores that need it."""
    rng = np.random.default_rng(12)
    sentences = [random_scores(rng, n, scale) for n in (1, 2, 10, 40) for scale in (0.0, 1.0, 10.0)]
    for n in (3, 20):
        known_root = random_scores(rng, n)
        known_root[1:, 2] = -np.inf
        tree = np.full((n + 1, n + 1), -np.inf)
        tree[np.arange(n), np.arange(1, n + 1)] = rng.normal(size=n)
        sentences += [known_root, tree]
    batch, lengths = padded(sentences)
    log_z, excess, mu = np.empty(len(batch)), np.empty(len(batch)), np.zeros(batch.shape)
    assert tree_sums(batch, lengths, single_root, log_z, excess, mu) == (-1, 0)
    sharp, sharp_length = padded([random_scores(rng, 5, 3000.0)] * 3)
    sharp[:, 1, 2] = sharp[:, 2, 1] = 1e5
    assert tree_sums(sharp, sharp_length, single_root, log_z[:3], excess[:3]) == (-1, 3)


@both_roots
@settings(max_examples=25, deadline=None)
@given(scores=score_matrices(max_n=6, scale=3.0), data=st.data())
def test_marginals_are_the_gradient(single_root, scores, data):
    n, step = len(scores) - 1, 1e-5
    m = data.draw(st.integers(1, n))
    h = data.draw(st.integers(0, n).filter(lambda h: h != m))
    log_zs = []
    for sign in (1, -1):
        moved = scores.copy()
        moved[h, m] += sign * step
        log_zs.append(solve(moved, single_root)[0])
    mu = solve(scores, single_root)[2]
    assert abs((log_zs[0] - log_zs[1]) / (2 * step) - mu[h, m]) <= 1e-8


@both_roots
@settings(max_examples=40, deadline=None)
@given(scores=score_matrices(max_n=8, scale=50.0), shift=st.integers(-2000, 2000), data=st.data())
def test_a_constant_on_a_column_moves_log_z_alone(single_root, scores, shift, data):
    m = data.draw(st.integers(1, len(scores) - 1))
    moved = scores.copy()
    moved[:, m] += shift
    scores[:, m] = moved[:, m] - shift  # what rounding has left of them
    log_z, excess, mu = solve(scores, single_root)
    moved_log_z, moved_excess, moved_mu = solve(moved, single_root)
    assert abs(moved_log_z - (log_z + shift)) <= 1e-12 * max(1.0, abs(log_z), abs(shift))
    assert abs(moved_excess - excess) <= 1e-9
    np.testing.assert_allclose(moved_mu, mu, atol=1e-9)


@pytest.mark.parametrize("n", [1, 2, 3, 7, 30, 200])
def test_zero_scores_count_trees(n):
    """Cayley: (n+1)^(n-1) trees, n^(n-1) of them with a single root; every arc between words is as likely."""
    scores = poison_unread(np.zeros((n + 1, n + 1)))
    for path in PATHS[: len(PATHS) - (n > 100)]:
        multi, _, multi_mu = solve(scores, False, **path)
        single, _, single_mu = solve(scores, True, **path)
        assert math.isclose(multi, (n - 1) * math.log(n + 1), rel_tol=1e-13, abs_tol=1e-14)
        assert math.isclose(single, (n - 1) * math.log(n), rel_tol=1e-13, abs_tol=1e-14)
        np.testing.assert_allclose(single_mu[0, 1:], 1 / n, rtol=1e-12)
        np.testing.assert_allclose(multi_mu[0, 1:], 2 / (n + 1), rtol=1e-12)
        if n > 1:
            off = ~np.eye(n, dtype=bool)
            np.testing.assert_allclose(multi_mu[1:, 1:][off], 1 / (n + 1), rtol=1e-12)
            np.testing.assert_allclose(single_mu[1:, 1:][off], 1 / n, rtol=1e-12)


@settings(max_examples=40, deadline=None)
@given(scores=score_matrices(max_n=8, scale=100.0, masked=True))
def test_single_root_trees_are_some_of_all(scores):
    single, multi = solve(scores, True)[0], solve(scores, False)[0]
    assert single == -np.inf or single <= multi + 1e-12 * max(1.0, abs(multi))


@both_roots
@settings(max_examples=40, deadline=None)
@given(scores=score_matrices(max_n=8, scale=100.0, masked=True), data=st.data())
def test_order_of_words_does_not_matter(single_root, scores, data):
    order = [0, *data.draw(st.permutations(range(1, len(scores))))]
    log_z, _, mu = solve(scores, single_root)
    other_log_z, _, other_mu = solve(scores[np.ix_(order, order)], single_root)
    np.testing.assert_allclose(other_log_z, log_z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(other_mu, mu[np.ix_(order, order)], atol=1e-12)


# ---- shapes, memory, edges


def padded(sentences, fill=np.nan):
    """(B, N+1, N+1) and lengths (B,), with one more word than the longest sentence needs."""
    size = max(map(len, sentences)) + 1
    batch = np.full((len(sentences), size, size), fill)
    for b, scores in enumerate(sentences):
        batch[b, : len(scores), : len(scores)] = scores
    return batch, np.array([len(s) - 1 for s in sentences], dtype=np.intp)


@both_roots
@pytest.mark.parametrize("fill", [np.nan, np.inf, 1e300, -np.inf])
def test_padding_and_arcs_that_do_not_exist_are_not_read(single_root, fill):
    rng = np.random.default_rng(9)
    sentences = [random_scores(rng, n, scale) for n in (5, 0, 1, 9, 3) for scale in (1.0, 2000.0)]
    batch, lengths = padded(sentences, fill)
    batch[:, :, 0] = fill
    batch[:, np.arange(batch.shape[1]), np.arange(batch.shape[1])] = fill
    batch.setflags(write=False)
    before = batch.tobytes()
    log_z, excess, mu = marginals(batch, lengths, single_root=single_root)
    sums, sums_excess = log_partition(batch, lengths, single_root=single_root)
    assert batch.tobytes() == before
    for b, scores in enumerate(sentences):
        one, one_length = np.ascontiguousarray(scores)[None], lengths[b : b + 1]
        alone = marginals(one, one_length, single_root=single_root)
        n = len(scores)
        assert (log_z[b], excess[b]) == (alone[0][0], alone[1][0])
        assert (sums[b], sums_excess[b]) == tuple(x[0] for x in log_partition(one, one_length, single_root=single_root))
        assert mu[b, :n, :n].tobytes() == alone[2][0].tobytes()
        assert not mu[b, n:].any() and not mu[b, :, n:].any() and not mu[b, :, 0].any()


@both_roots
def test_empty_batches_and_sentences(single_root):
    log_z, excess, mu = marginals(np.empty((0, 1, 1)), np.empty(0, dtype=np.intp), single_root=single_root)
    assert log_z.shape == excess.shape == (0,) and mu.shape == (0, 1, 1)
    log_z, excess, mu = marginals(np.full((1, 1, 1), np.nan), np.zeros(1, dtype=np.intp), single_root=single_root)
    assert log_z[0] == excess[0] == 0.0 and not mu.any()
    scores = np.array([[[np.nan, -7.25], [np.nan, np.nan]]])
    log_z, excess, mu = marginals(scores, np.ones(1, dtype=np.intp), single_root=single_root)
    assert (log_z[0], excess[0]) == (-7.25, 0.0) and mu.tolist() == [[[0.0, 1.0], [0.0, 0.0]]]


@both_roots
def test_sentences_without_a_tree_answer_minus_infinity_and_leave_the_others(single_root):
    good = random_scores(np.random.default_rng(1), 4)
    no_head = good.copy()
    no_head[:, 3] = -np.inf
    no_root = good.copy()
    no_root[0] = -np.inf
    cut_off = good.copy()
    cut_off[np.ix_([0, 1, 2], [3, 4])] = -np.inf  # 3 and 4 head each other and nothing else does
    two_roots = good.copy()
    two_roots[1:, 1] = two_roots[1:, 3] = -np.inf
    batch, lengths = padded([good, no_head, no_root, cut_off, two_roots, good])
    log_z, excess, mu = marginals(batch, lengths, single_root=single_root)
    infeasible = [False, True, True, True, single_root, False]
    assert np.isneginf(log_z).tolist() == np.isneginf(excess).tolist() == infeasible
    assert (mu != 0).any(axis=(1, 2)).tolist() == [not x for x in infeasible]
    assert log_z[0] == log_z[5] and mu[0].tobytes() == mu[5].tobytes()
    assert np.isneginf(log_partition(batch, lengths, single_root=single_root)[0]).tolist() == infeasible


@both_roots
def test_the_largest_doubles(single_root):
    scores = poison_unread(np.full((4, 4), 1e308))
    log_z, excess, mu = solve(scores, single_root)
    assert log_z == np.inf and math.isclose(excess, math.log(9 if single_root else 16))
    scores[:, 2] = -1e308
    log_z, _, mu = solve(scores, single_root)
    assert log_z == 1e308 and math.isclose(mu[1, 2], 1 / 3 if single_root else 1 / 4)
    scores[:, 3] = 0.0
    scores[1, 2] = scores[1, 3] = 1e308  # the arcs 0 -> 1, 1 -> 2, 1 -> 3 outweigh everything
    assert solve(scores, single_root)[2][[0, 1, 1], [1, 2, 3]].tolist() == [1.0, 1.0, 1.0]


@both_roots
def test_scores_too_far_apart_to_tell_trees_apart(single_root):
    """Every tree needs arcs of -1e30, and beside them the other scores are lost: an error, not a guess."""
    scores = random_scores(np.random.default_rng(8), 3)
    scores[0] = -1e30
    batch, lengths = padded([random_scores(np.random.default_rng(8), 2), scores])
    for function in (marginals, log_partition):
        with pytest.raises(ValueError, match=r"scores\[1\].*forbid arcs with -inf"):
            function(batch, lengths, single_root=single_root)
    scores[0, 2] = -1e13
    check_exact(scores, True, *exact_by_inverse(scores + np.where(scores < -1e20, -np.inf, 0.0), True))
