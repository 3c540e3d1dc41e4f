"""Labelled trees in which spans are subtrees: without spans as `TreeDistribution`, with them as enumeration."""

from itertools import product

import numpy as np
import pytest
from scipy.stats import chi2

from spacy_mtt.inference.distribution import TreeDistribution
from spacy_mtt.inference.feasibility import NoTreeError
from spacy_mtt.inference.labelled_spans import LabelledSpanTreeDistribution
from tests.inference.test_spans import cases, hangs_together
from tests.oracle import all_trees

WORDS = np.arange(1, 5)
LABELS = list(product(range(2), repeat=4))
SPANS = [[], [[2, 3]], [[1, 2, 3]], [[1, 4]], [[1, 2], [3, 4]], [[1, 2, 3, 4]]]


def random_scores(rng, scale: float, forbidden: float) -> np.ndarray:
    scores = scale * rng.normal(size=(5, 5, 2))
    scores[rng.random(scores.shape) < forbidden] = -np.inf
    return scores


def enumerated(scores, spans, single_root):
    """All trees that hold with all their labels: heads, labels, scores, log Z, probabilities."""
    trees = [t for t in all_trees(4, False, single_root) if all(hangs_together(t, span) for span in spans)]
    heads = np.array([tree for tree in trees for _ in LABELS])
    labels = np.array([labels for _ in trees for labels in LABELS])
    values = scores[heads, WORDS, labels].sum(axis=1)
    log_z = np.logaddexp.reduce(values)
    return heads, labels, values, log_z, np.exp(values - log_z) if np.isfinite(log_z) else np.zeros(len(values))


@cases(SPANS)
def test_every_answer_is_that_of_enumeration(seed, spans, single_root, scale, forbidden):
    scores = random_scores(np.random.default_rng(seed), scale, forbidden)
    heads, labels, values, log_z, probabilities = enumerated(scores, spans, single_root)
    found = LabelledSpanTreeDistribution(scores, spans, single_root=single_root)
    assert found.log_partition == pytest.approx(log_z, rel=1e-12, abs=1e-12)
    if np.isneginf(log_z):
        for ask in (found.argmax, found.mbr, lambda: found.marginals, lambda: found.entropy):
            with pytest.raises(NoTreeError):
                ask()
        assert list(found.k_best(3)) == []
        return
    marginals = np.zeros_like(scores)
    for tree, own, probability in zip(heads, labels, probabilities, strict=True):
        marginals[tree, WORDS, own] += probability
    np.testing.assert_allclose(found.marginals, marginals, atol=1e-12)
    some = probabilities > 0
    expected = -(probabilities[some] * np.log(probabilities[some])).sum()
    assert found.entropy == pytest.approx(expected, abs=1e-9 * scale + 1e-10)
    best = found.argmax()
    assert found.log_prob(*best) == pytest.approx(values.max() - log_z, abs=1e-9 * max(1.0, scale))
    chosen, own = found.mbr()
    assert marginals[chosen, WORDS, own].sum() == pytest.approx(
        marginals[heads[some], WORDS, labels[some]].sum(axis=1).max(), abs=1e-9
    )
    top = list(found.k_best(6))
    np.testing.assert_allclose([score for *_, score in top], np.sort(values[np.isfinite(values)])[::-1][:6], rtol=1e-12)
    assert len({(*tree, *own) for tree, own, _ in top}) == len(top)
    assert found.log_prob(np.array([2, 1, 0, 0]), np.zeros(4, dtype=int)) == -np.inf


@pytest.mark.parametrize("single_root", [True, False])
def test_without_spans_it_is_the_distribution_of_all_trees(single_root):
    scores = random_scores(np.random.default_rng(3), 1.0, 0.1)
    ours = LabelledSpanTreeDistribution(scores, [], single_root=single_root)
    trees = TreeDistribution(scores, labelled=True, single_root=single_root)
    assert ours.log_partition == pytest.approx(trees.log_partition, rel=1e-12)
    np.testing.assert_allclose(ours.marginals, trees.marginals, atol=1e-12)
    np.testing.assert_allclose(ours.head_entropy, trees.head_entropy, atol=1e-12)
    assert ours.entropy == pytest.approx(trees.entropy, rel=1e-9)
    np.testing.assert_array_equal(ours.argmax(), trees.argmax())
    np.testing.assert_array_equal(ours.mbr(), trees.mbr())


def test_draws_have_the_probabilities_of_trees():
    rng = np.random.default_rng(7)
    scores = random_scores(rng, 0.7, 0.0)
    heads, labels, *_, probabilities = enumerated(scores, [[2, 3]], True)
    found = LabelledSpanTreeDistribution(scores, [[2, 3]])
    k = 20_000
    drawn = np.concatenate(found.sample(k, rng), axis=1)
    places = {(*tree, *own): i for i, (tree, own) in enumerate(zip(heads.tolist(), labels.tolist(), strict=True))}
    counts = np.bincount([places[tuple(row)] for row in drawn.tolist()], minlength=len(places))
    large = k * probabilities >= 5
    expected = np.append(k * probabilities[large], k * probabilities[~large].sum())
    observed = np.append(counts[large], counts[~large].sum())
    statistic = ((observed - expected) ** 2 / np.maximum(expected, 1e-12)).sum()
    assert statistic < chi2.ppf(1 - 1e-6, len(expected) - 1)
