"""Trees in which spans are subtrees, against enumeration."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import chi2

from spacy_mtt.inference.distribution import TreeDistribution
from spacy_mtt.inference.feasibility import NoTreeError
from spacy_mtt.inference.spans import SpanTreeDistribution
from tests.oracle import all_trees, tree_scores

SPANS = [
    [],
    [[2, 3]],
    [[1, 2, 3]],
    [[1, 4]],
    [[1, 2], [3, 4]],
    [[5, 2, 4]],
    [[1], [2, 3]],
    [[1, 2, 3, 4, 5]],
    [[], [3]],
]


def hangs_together(heads, span) -> bool:
    return not span or sum(heads[word - 1] not in span for word in span) == 1


def enumerated(scores, spans, single_root):
    """Trees that hold, their scores, log Z, probabilities, marginals."""
    n = len(scores) - 1
    trees = np.array([t for t in all_trees(n, False, single_root) if all(hangs_together(t, s) for s in spans)])
    values = tree_scores(scores, trees)
    log_z = np.logaddexp.reduce(values)
    probabilities = np.exp(values - log_z) if np.isfinite(log_z) else np.zeros(len(values))
    marginals = np.zeros_like(scores)
    for tree, probability in zip(trees, probabilities, strict=True):
        marginals[tree, np.arange(1, n + 1)] += probability
    return trees, values, log_z, probabilities, marginals


def cases(spans: list):
    """Many of: a seed, spans, whether there is a single root, a scale of scores, a share of forbidden arcs."""
    drawn = given(
        seed=st.integers(0, 10_000),
        spans=st.sampled_from(spans),
        single_root=st.booleans(),
        scale=st.sampled_from([0.1, 2.0, 50.0]),
        forbidden=st.floats(0, 0.4),
    )
    return lambda test: settings(max_examples=60, deadline=None)(drawn(test))


@cases(SPANS)
def test_every_answer_is_that_of_enumeration(seed, spans, single_root, scale, forbidden):
    rng = np.random.default_rng(seed)
    scores = scale * rng.normal(size=(6, 6))
    scores[rng.random((6, 6)) < forbidden] = -np.inf
    trees, values, log_z, probabilities, marginals = enumerated(scores, spans, single_root)
    found = SpanTreeDistribution(scores, spans, single_root=single_root)
    assert found.log_partition == pytest.approx(log_z, rel=1e-12, abs=1e-12)
    if np.isneginf(log_z):
        for ask in (found.argmax, found.mbr, lambda: found.marginals, lambda: found.entropy):
            with pytest.raises(NoTreeError):
                ask()
        assert list(found.k_best(3)) == []
        return
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-12)
    best = found.argmax()
    assert tree_scores(scores, best[None])[0] == pytest.approx(values.max(), rel=1e-12)
    assert found.holds(best)
    some = probabilities > 0
    expected = -(probabilities[some] * np.log(probabilities[some])).sum()
    assert found.entropy == pytest.approx(expected, abs=1e-9 * scale + 1e-10)
    assert marginals[found.mbr(), np.arange(1, 6)].sum() == pytest.approx(
        max(marginals[tree, np.arange(1, 6)].sum() for tree in trees[some]), abs=1e-9
    )
    top = list(found.k_best(6))
    possible = np.sort(values[np.isfinite(values)])[::-1][:6]
    np.testing.assert_allclose([score for _, score in top], possible, rtol=1e-12)
    assert len({tuple(heads) for heads, _ in top}) == len(top)
    assert found.log_prob(best) == pytest.approx(values.max() - log_z, abs=1e-9 * max(1.0, scale))


def test_without_spans_it_is_the_plain_distribution():
    scores = np.random.default_rng(0).normal(size=(7, 7))
    plain, found = TreeDistribution(scores), SpanTreeDistribution(scores, [])
    np.testing.assert_allclose(found.marginals, plain.marginals, atol=1e-13)
    np.testing.assert_allclose(found.head_entropy, plain.head_entropy, atol=1e-12)
    np.testing.assert_array_equal(found.argmax(), plain.argmax())


def test_draws_follow_the_distribution():
    scores = np.random.default_rng(1).normal(size=(5, 5))
    spans = [[2, 3, 4]]
    trees, _, _, probabilities, _ = enumerated(scores, spans, True)
    draws = SpanTreeDistribution(scores, spans).sample(3000, np.random.default_rng(0))
    counts = np.array([(draws == tree).all(axis=1).sum() for tree in trees])
    assert counts.sum() == 3000
    expected = 3000 * probabilities
    large = expected > 5
    statistic = ((counts - expected) ** 2 / expected)[large].sum()
    assert statistic < chi2.ppf(0.9999, large.sum())


def test_all_trees_once():
    scores = np.random.default_rng(2).normal(size=(5, 5))
    trees, values, *_ = enumerated(scores, [[1, 2]], True)
    found = list(SpanTreeDistribution(scores, [[1, 2]]).k_best())
    assert len(found) == len(trees)
    np.testing.assert_allclose([score for _, score in found], np.sort(values)[::-1])


def test_trees_that_split_a_span_have_no_probability():
    found = SpanTreeDistribution(np.zeros((4, 4)), [[1, 2]])
    assert found.log_prob([3, 3, 0]) == -np.inf and found.log_prob([2, 3, 0]) > -np.inf
    assert found.log_prob([2, 1, 0]) == -np.inf  # a cycle


def test_bad_spans_are_named():
    with pytest.raises(ValueError, match=r"the spans \[\[1, 2\], \[2, 3\]\] overlap"):
        SpanTreeDistribution(np.zeros((4, 4)), [[1, 2], [2, 3]])
    with pytest.raises(ValueError, match=r"the spans \[\[0, 1\]\] are not within the words 1..3"):
        SpanTreeDistribution(np.zeros((4, 4)), [[0, 1]])
