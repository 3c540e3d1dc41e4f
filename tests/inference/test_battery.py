"""One battery for every question that TreeDistribution answers, in every variant, against enumeration."""

from __future__ import annotations

import math
from itertools import islice, product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import chi2

from spacy_mtt import NoTreeError, TreeDistribution
from tests.inference.test_distribution import rounding_of_argmax
from tests.oracle import SPACES, all_trees, enumerate_distribution, tree_scores
from tests.strategies import random_scores

N, N_LABELS = 4, 2
VARIANTS = [(*space, labelled) for space in SPACES for labelled in (False, True)]
variants = pytest.mark.parametrize("projective,single_root,labelled", VARIANTS)
scales = pytest.mark.parametrize("scale", [1.0, 30.0, 1000.0])


class Enumerated:
    """All (labelled) trees of a sentence, their scores and probabilities; index arrays into the score matrix."""

    def __init__(self, scores: np.ndarray, projective: bool, single_root: bool):
        n, labelled = len(scores) - 1, scores.ndim == 3
        trees = all_trees(n, projective, single_root)
        words = np.arange(1, n + 1)
        if labelled:
            labels = list(product(range(scores.shape[2]), repeat=n))
            self.heads = np.repeat(trees, len(labels), axis=0)
            self.labels = np.tile(np.array(labels), (len(trees), 1))
            self.arcs: tuple = (self.heads, words, self.labels)
        else:
            self.heads, self.labels = trees, None
            self.arcs = (trees, words)
        rows = scores[self.arcs]
        self.scores = np.array([-math.inf if np.isneginf(row).any() else math.fsum(row) for row in rows])
        best = rows[self.scores.argmax()]
        with np.errstate(invalid="ignore"):
            gaps = [-math.inf if np.isneginf(row).any() else math.fsum([*row, *-best]) for row in rows]
        weights = np.exp(gaps)
        self.probabilities = weights / weights.sum()
        self.log_z = math.fsum([*best, math.log(weights.sum())])

    def expectation(self, values: np.ndarray) -> float:
        return float(self.probabilities @ np.where(self.probabilities > 0, values, 0.0))

    def key(self, tree: int) -> tuple:
        return (*self.heads[tree], *(self.labels[tree] if self.labels is not None else ()))


def draw(seed: int, labelled: bool, scale: float, masked: float = 0.0, n: int = N) -> np.ndarray:
    rng = np.random.default_rng(seed)
    layers = [random_scores(rng, n, scale, masked) for _ in range(N_LABELS if labelled else 1)]
    return np.stack(layers, axis=-1) if labelled else layers[0]


def both(scores: np.ndarray, projective: bool, single_root: bool, labelled: bool):
    space = {"projective": projective, "single_root": single_root}
    return TreeDistribution(scores, labelled=labelled, **space), Enumerated(scores, **space)


@variants
@scales
@pytest.mark.parametrize("masked", [0.0, 0.3])
def test_k_best_is_the_sorted_enumeration(projective, single_root, labelled, scale, masked):
    tree, all_of = both(draw(0, labelled, scale, masked), projective, single_root, labelled)
    expected = np.sort(all_of.scores[np.isfinite(all_of.scores)])[::-1]
    found = list(tree.k_best())
    scores = np.array([score for *_, score in found])
    assert len({tuple(np.concatenate(parts)) for *parts, _ in found}) == len(found) == len(expected)
    np.testing.assert_allclose(scores, expected, rtol=1e-12)
    assert (np.diff(scores) <= 0).all()
    for *parts, score in found[:20]:
        assert tree.score(*parts) == pytest.approx(score, rel=1e-13)
    first = [(tuple(np.concatenate(parts)), score) for *parts, score in islice(tree.k_best(), 7)]
    assert first == [(tuple(np.concatenate(parts)), score) for *parts, score in tree.k_best(7)]
    assert list(tree.k_best(0)) == []


@variants
@pytest.mark.parametrize("scale,masked", [(1.0, 0.0), (3.0, 0.3)])
def test_samples_follow_the_distribution(projective, single_root, labelled, scale, masked):
    tree, all_of = both(draw(1, labelled, scale, masked, n=3), projective, single_root, labelled)
    draws = 4000
    drawn = tree.sample(draws, np.random.default_rng(11))
    rows = np.concatenate(drawn, axis=1) if labelled else drawn
    assert rows.shape == (draws, 6 if labelled else 3)
    counts: dict[tuple, int] = {}
    for row in rows.tolist():
        counts[tuple(row)] = counts.get(tuple(row), 0) + 1
    observed = np.array([counts.pop(all_of.key(t), 0) for t in range(len(all_of.heads))])
    assert not counts  # every draw is a tree of the space
    assert not observed[all_of.probabilities == 0].any()
    expected = draws * all_of.probabilities
    rare = expected < 5  # pooled into one cell
    cells = [(observed[~rare], expected[~rare])]
    if expected[rare].sum() > 5:
        cells.append((observed[rare].sum()[None], expected[rare].sum()[None]))
    o, e = np.concatenate([cell[0] for cell in cells]), np.concatenate([cell[1] for cell in cells])
    statistic = ((o - e) ** 2 / e).sum()
    assert statistic < chi2.ppf(1 - 1e-5, max(len(o) - 1, 1))


@variants
@scales
@pytest.mark.parametrize("masked", [0.0, 0.3])
def test_expectations(projective, single_root, labelled, scale, masked):
    scores = draw(2, labelled, scale, masked)
    tree, all_of = both(scores, projective, single_root, labelled)
    p = all_of.probabilities
    positive = p[p > 0]
    assert tree.entropy == pytest.approx(-(positive * np.log(positive)).sum(), abs=1e-10)
    values = np.random.default_rng(3).normal(size=scores.shape)
    totals = values[all_of.arcs].sum(axis=1)
    assert tree.expected(values) == pytest.approx(all_of.expectation(totals), abs=1e-11)
    many = np.stack([values, values**2], axis=-1)
    np.testing.assert_allclose(tree.expected(many)[0], tree.expected(values), atol=1e-12)
    mu = tree.marginals.sum(axis=2) if labelled else tree.marginals
    for word in range(1, N + 1):
        column = mu[:, word][mu[:, word] > 0]
        assert tree.head_entropy[word - 1] == pytest.approx(-(column * np.log(column)).sum(), abs=1e-10)
    best = tree.marginals.reshape(N + 1, N + 1, -1)[:, 1:].max(axis=(0, 2))
    np.testing.assert_allclose(tree.max_marginal, best, atol=1e-12)
    # The Hessian is the covariance of arcs.
    present = np.zeros((len(p), *scores.shape))
    present[(np.arange(len(p))[:, None], *all_of.arcs)] = 1.0
    centred = totals - all_of.expectation(totals)
    covariance = np.einsum("t,t...->...", p * np.where(p > 0, centred, 0.0), present)
    np.testing.assert_allclose(tree.hessian_vector_product(values), covariance, atol=1e-10)
    np.testing.assert_allclose(tree.expected_gradient(values), covariance, atol=1e-10)


@variants
@scales
def test_divergences_and_gradients(projective, single_root, labelled, scale):
    scores = draw(4, labelled, scale)
    other_scores = scores + draw(5, labelled, 1.0)
    tree, all_of = both(scores, projective, single_root, labelled)
    other, all_of_other = both(other_scores, projective, single_root, labelled)
    log_q = all_of_other.scores - all_of_other.log_z
    log_p = all_of.scores - all_of.log_z
    cross = -all_of.expectation(log_q)
    assert tree.cross_entropy(other) == pytest.approx(cross, rel=1e-9, abs=1e-9)
    assert tree.kl(other) == pytest.approx(all_of.expectation(log_p - log_q), rel=1e-9, abs=1e-9)
    assert tree.kl(tree) == 0 and tree.kl(other) >= 0
    assert tree.cross_entropy(tree) == pytest.approx(tree.entropy, abs=1e-9)
    if scale > 1:
        return  # differences of large scores say little
    values = np.random.default_rng(6).normal(size=scores.shape)
    make = {"projective": projective, "single_root": single_root, "labelled": labelled}
    gradients = {
        "entropy": (tree.entropy_gradient(), lambda s: TreeDistribution(s, **make).entropy),
        "cross": (tree.cross_entropy_gradient(other)[0], lambda s: TreeDistribution(s, **make).cross_entropy(other)),
        "kl": (tree.kl_gradient(other)[0], lambda s: TreeDistribution(s, **make).kl(other)),
        "expected": (tree.expected_gradient(values), lambda s: TreeDistribution(s, **make).expected(values)),
        "other cross": (
            other.cross_entropy_gradient(tree)[1],
            lambda s: other.cross_entropy(TreeDistribution(s, **make)),
        ),
        "other kl": (other.kl_gradient(tree)[1], lambda s: other.kl(TreeDistribution(s, **make))),
    }
    rng = np.random.default_rng(7)
    for gradient, function in gradients.values():
        for _ in range(6):
            place = tuple(int(rng.integers(size)) for size in scores.shape)
            if place[1] == 0 or place[0] == place[1]:
                assert gradient[place] == 0
                continue
            up, down = scores.copy(), scores.copy()
            up[place] += 1e-5
            down[place] -= 1e-5
            assert gradient[place] == pytest.approx((function(up) - function(down)) / 2e-5, abs=1e-7)


@variants
@scales
def test_constraints(projective, single_root, labelled, scale):
    tree, all_of = both(draw(8, labelled, scale), projective, single_root, labelled)
    required = (1, 2, 1) if labelled else (1, 2)
    holds = all_of.heads[:, 1] == 1
    holds &= all_of.heads[:, 3] != 3
    if labelled:
        holds &= all_of.labels[:, 1] == 1
    given = tree.constrained(required=[required], forbidden=[(3, 4)])
    weights = np.where(holds, all_of.scores, -np.inf)
    best = weights.max()
    log_z = best + math.log(np.exp(weights - best).sum())
    assert given.log_partition == pytest.approx(log_z, rel=1e-12)
    assert given.marginals[required] == pytest.approx(1, abs=1e-12)
    assert given.score(*(given.argmax() if labelled else [given.argmax()])) == pytest.approx(best, rel=1e-13)
    has_arc = all_of.heads[:, 1] == 1
    if labelled:
        has_arc &= all_of.labels[:, 1] == 1
    together = has_arc & (all_of.heads[:, 2] == 2)
    probability = all_of.probabilities[together].sum()
    assert math.exp(tree.log_prob_arcs([required, (2, 3)])) == pytest.approx(probability, abs=1e-12)
    assert tree.log_prob_arcs([]) == 0
    mask = np.ones((N + 1, N + 1), dtype=bool)
    mask[0, 2:] = False
    masked = tree.constrained(mask=mask)
    assert (masked.marginals[0, 2:] == 0).all()
    with pytest.raises(ValueError, match="required and forbidden at once"):
        tree.constrained(required=[required], forbidden=[required])
    with pytest.raises(NoTreeError):
        _ = tree.constrained(required=[(1, 2), (2, 1)]).marginals


@variants
def test_batches_answer_as_single_sentences(projective, single_root, labelled):
    lengths = [3, 1, 4]
    shape = (3, 6, 6, N_LABELS) if labelled else (3, 6, 6)
    batch = np.full(shape, np.nan)
    alone = []
    make = {"projective": projective, "single_root": single_root, "labelled": labelled}
    for b, n in enumerate(lengths):
        batch[b, : n + 1, : n + 1] = draw(20 + b, labelled, 2.0, n=n)
        alone.append(TreeDistribution(batch[b, : n + 1, : n + 1], **make))
    together = TreeDistribution(batch, lengths=lengths, n_threads=2, **make)
    values = np.random.default_rng(9).normal(size=shape)
    mask = np.ones((6, 6), dtype=bool)
    mask[2, 1] = False
    constrained = together.constrained(mask=np.broadcast_to(mask, (3, 6, 6)))
    arcs = [[(0, 1)], None, [(2, 3)]]
    streams = together.k_best(3)
    draws = together.sample(5, np.random.default_rng(0))
    draws = draws if labelled else (draws,)
    for b, n in enumerate(lengths):
        sentence, inner = alone[b], np.s_[: n + 1, : n + 1]
        for name in ("log_partition", "entropy"):
            assert getattr(together, name)[b] == getattr(sentence, name)
        for name in ("head_entropy", "max_marginal"):
            np.testing.assert_array_equal(getattr(together, name)[b, :n], getattr(sentence, name))
            assert not getattr(together, name)[b, n:].any()
        assert together.expected(values)[b] == sentence.expected(values[b][inner])
        assert together.log_prob_arcs(arcs)[b] == sentence.log_prob_arcs(arcs[b] or [])
        assert constrained.log_partition[b] == sentence.constrained(mask=mask[inner]).log_partition
        np.testing.assert_array_equal(together.entropy_gradient()[b][inner], sentence.entropy_gradient())
        product_ = together.hessian_vector_product(values)[b]
        np.testing.assert_array_equal(product_[inner], sentence.hessian_vector_product(values[b][inner]))
        assert not product_[n + 1 :].any() and not product_[:, n + 1 :].any()
        expected = [(tuple(np.concatenate(parts)), score) for *parts, score in sentence.k_best(3)]
        assert [(tuple(np.concatenate(parts)), score) for *parts, score in streams[b]] == expected
        for part in draws:
            assert part.shape == (3, 5, 5) and (part[b, :, n:] == -1).all()
        for tree in zip(*(part[b, :, :n] for part in draws), strict=True):
            assert np.isfinite(sentence.log_prob(*tree))
    assert together.kl(together).tolist() == [0, 0, 0]


def test_no_tree_raises_everywhere():
    scores = np.zeros((3, 3))
    scores[:, 1] = -np.inf
    tree = TreeDistribution(scores)
    direction = np.ones((3, 3))
    for ask in (
        lambda: tree.k_best(),
        lambda: tree.sample(1, np.random.default_rng(0)),
        lambda: tree.head_entropy,
        lambda: tree.max_marginal,
        lambda: tree.expected(direction),
        lambda: tree.kl(tree),
        lambda: tree.hessian_vector_product(direction),
        lambda: tree.entropy_gradient(),
        lambda: tree.log_prob_arcs([(0, 1)]),
    ):
        with pytest.raises(NoTreeError, match="word 1 has no possible head"):
            ask()


def test_bad_questions_are_named():
    tree = TreeDistribution(np.zeros((3, 3)))
    for ask, message in [
        (lambda: tree.k_best(-1), "k must be 0 or more, not -1"),
        (lambda: tree.sample(-2, np.random.default_rng(0)), "k must be 0 or more, not -2"),
        (lambda: tree.constrained(required=[(3, 1)]), "head 3, but heads are 0..2"),
        (lambda: tree.expected(np.zeros((2, 2))), "must have the shape of the scores"),
        (lambda: TreeDistribution(np.zeros((3, 3)), n_threads=0), "n_threads is 0"),
    ]:
        with pytest.raises(ValueError, match=message):
            ask()
    with pytest.raises(TypeError, match="not with float"):
        tree.kl(0.5)


@st.composite
def odd_batches(draw):
    """(the array to hand over, lengths, its sentences as plain arrays): any scale, masks, ties, padding, strides."""
    lengths = draw(st.lists(st.integers(0, 5), min_size=1, max_size=3))
    size = max(lengths) + 1 + draw(st.integers(0, 2))
    scale = draw(st.sampled_from([1.0, 30.0, 1e3, 1e6]))
    elements = st.floats(-scale, scale, width=64)
    if draw(st.booleans()):
        elements = st.integers(-1, 1).map(lambda tie: tie * scale)
    if draw(st.booleans()):
        elements = st.one_of(elements, st.just(-np.inf))
    steps = draw(st.tuples(*[st.sampled_from([1, 2, -1])] * 3))
    roomy = np.full([2 * extent for extent in (len(lengths), size, size)], np.nan)
    view = roomy[tuple(slice(None, None, step) for step in steps)][: len(lengths), :size, :size]
    sentences = []
    for b, n in enumerate(lengths):
        scores = draw(arrays(np.float64, (n + 1, n + 1), elements=elements))
        scores[:, 0] = np.nan
        np.fill_diagonal(scores, np.nan)
        view[b, : n + 1, : n + 1] = scores
        sentences.append(scores)
    view.flags.writeable = draw(st.booleans())
    return view, lengths, sentences


@pytest.mark.parametrize("projective,single_root", SPACES)
@given(drawn=odd_batches())
@settings(max_examples=60, deadline=None)
def test_any_array_of_any_scores(projective, single_root, drawn):
    batch, lengths, sentences = drawn
    before = batch.copy()
    space = {"projective": projective, "single_root": single_root}
    tree = TreeDistribution(batch, lengths=lengths, **space)
    log_z = tree.log_partition
    assert not np.isnan(log_z).any()
    for b, scores in enumerate(sentences):
        alone, n = TreeDistribution(scores, **space), lengths[b]
        assert alone.log_partition == log_z[b]
        if not n:
            continue
        all_of = tree_scores(scores, all_trees(n, projective, single_root))
        assert (log_z[b] == -math.inf) == np.isneginf(all_of).all()
        if log_z[b] == -math.inf:
            continue
        *_, expected, _, marginals = enumerate_distribution(scores, **space)
        assert log_z[b] == pytest.approx(expected, rel=1e-12, abs=1e-12)
        np.testing.assert_allclose(alone.marginals, marginals, rtol=0, atol=1e-12)
        best = tree_scores(scores, alone.argmax()[None])[0]
        assert best >= all_of.max() - rounding_of_argmax(scores, projective)
        assert alone.entropy >= 0 and np.isfinite(alone.entropy)
    np.testing.assert_array_equal(batch, before)
