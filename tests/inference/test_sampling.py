"""Drawn trees by their distribution: chi-square against enumeration, with fixed seeds."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from scipy.stats import chisquare

from spacy_mtt.inference import eisner, matrix_tree, sampling
from spacy_mtt.inference.feasibility import NoTreeError
from spacy_mtt.inference.sampling import expected_steps, sample
from spacy_mtt.inference.trees import is_projective, is_tree
from tests.oracle import SPACES, enumerate_distribution
from tests.strategies import poison_unread, random_scores

IN_ALL_SPACES = pytest.mark.parametrize("projective, single_root", SPACES)
AT_BOTH_ROOTS = pytest.mark.parametrize("single_root", [False, True])

# Seeds are fixed, so that a right sampler passes always; a wrong one fails, its p-values being far below this.
SIGNIFICANCE = 1e-3
DRAWS = 6_000


@pytest.fixture
def word_by_word(monkeypatch):
    monkeypatch.setattr(sampling, "WALK_STEPS", -1.0)
    monkeypatch.setattr(sampling, "_walk", None)


def draw(scores, k, seed, projective, single_root):
    rng = np.random.default_rng(seed)
    return sample(scores, k, rng, projective=projective, single_root=single_root)


def assert_distributed(scores, projective, single_root, seed=1, draws=DRAWS):
    """Every drawn tree is possible, and their counts fit the probabilities; trees expected < 5 times are pooled."""
    scores.flags.writeable = False
    trees, *_, probabilities, _ = enumerate_distribution(scores, projective=projective, single_root=single_root)
    heads = draw(scores, draws, seed, projective, single_root)
    assert heads.shape == (draws, len(scores) - 1) and heads.dtype == np.intp
    place = {tuple(tree): i for i, tree in enumerate(trees)}
    counts = np.bincount([place[tuple(row)] for row in heads], minlength=len(trees))
    assert counts[probabilities == 0.0].sum() == 0
    rare = probabilities * draws < 5
    expected = np.append(probabilities[~rare], probabilities[rare].sum()) * draws
    found = np.append(counts[~rare], counts[rare].sum())
    if expected[-1] < 5:
        assert found[-1] <= 20  # far beyond chance
        expected, found = expected[:-1], found[:-1]
    if len(expected) > 1:
        assert chisquare(found, expected * (found.sum() / expected.sum())).pvalue > SIGNIFICANCE


# ------------------------------------------------------------------------------------- against enumeration


@IN_ALL_SPACES
@pytest.mark.parametrize("n", [3, 4])
@pytest.mark.parametrize("scale", [1.0, 5.0])
@pytest.mark.parametrize("masked", [0.0, 0.3])
def test_distribution(n, scale, masked, projective, single_root):
    scores = random_scores(np.random.default_rng([n, int(scale), 5]), n, scale, masked)
    assert_distributed(scores, projective, single_root)


@AT_BOTH_ROOTS
@pytest.mark.parametrize(
    "n, scale, masked", [(2, 1.0, 0.0), (3, 1.0, 0.0), (4, 1.0, 0.0), (3, 2.0, 0.2), (4, 2.0, 0.3)]
)
def test_distribution_word_by_word(n, scale, masked, single_root, word_by_word):
    scores = random_scores(np.random.default_rng([n, 6]), n, scale, masked)
    assert_distributed(scores, False, single_root, draws=5000)


@AT_BOTH_ROOTS
@pytest.mark.parametrize("n, scale, masked", [(3, 1.0, 0.0), (4, 5.0, 0.0), (4, 2.0, 0.3)])
def test_distribution_with_extended_exponents(n, scale, masked, single_root, monkeypatch):
    plain = sampling._sample_projective
    monkeypatch.setattr(sampling, "_sample_projective", functools.partial(plain, wide_only=True))
    scores = random_scores(np.random.default_rng([n, 8]), n, scale, masked)
    assert_distributed(scores, True, single_root, draws=5000)


@AT_BOTH_ROOTS
@pytest.mark.parametrize("n", [1, 9, 40])
def test_extended_exponents_change_no_tree(n, single_root, monkeypatch):
    scores = random_scores(np.random.default_rng(n), n, 3.0)
    trees = draw(scores, 30, 1, True, single_root)
    plain = sampling._sample_projective
    monkeypatch.setattr(sampling, "_sample_projective", functools.partial(plain, wide_only=True))
    np.testing.assert_array_equal(draw(scores, 30, 1, True, single_root), trees)


def attracting_pair(n, pull):
    """Words 1 and 2 head each other by `pull`: walks circle there some exp(pull) times."""
    scores = random_scores(np.random.default_rng(n), n)
    scores[1, 2] = scores[2, 1] = pull
    return scores


@IN_ALL_SPACES
@pytest.mark.parametrize("pull", [3.0, 12.0, 40.0, 1e3, 1e6])
def test_attracting_pairs(pull, projective, single_root):
    """Whatever the pull, the pair must be left somewhere: the arc there competes with others of its size."""
    assert_distributed(attracting_pair(3, pull), projective, single_root, draws=5000)


@IN_ALL_SPACES
def test_extreme_scores_leave_a_choice(projective, single_root):
    # Each tree has one arc far below its column's best, far below the smallest double even; there are ties.
    scores = poison_unread(np.full((5, 5), -1e5))
    for m in range(1, 5):
        scores[m % 4 + 1, m] = 0.0
    assert_distributed(scores, projective, single_root, draws=5000)


@IN_ALL_SPACES
def test_words_that_only_the_root_heads(projective, single_root):
    scores = random_scores(np.random.default_rng(12), 4)
    scores[1:, 2] = -np.inf
    assert_distributed(scores, projective, single_root)


@AT_BOTH_ROOTS
def test_root_that_no_other_word_reaches(single_root):
    scores = random_scores(np.random.default_rng(13), 4)
    scores[3, :] = -np.inf  # a leaf
    assert_distributed(scores, False, single_root)


@AT_BOTH_ROOTS
@pytest.mark.parametrize("pull", [2.0, 20.0])
def test_trees_past_their_limit_are_drawn_word_by_word(pull, single_root, monkeypatch):
    """With a limit that walks often pass the trees are biased to short walks, but all are drawn, and the loop ends."""
    monkeypatch.setattr(sampling, "LIMIT", 0.7)
    scores = attracting_pair(6, pull)
    heads = draw(scores, 200, 0, False, single_root)
    assert all(is_tree(row, single_root=single_root) for row in heads)


@AT_BOTH_ROOTS
def test_walks_take_over_once_a_pair_is_left(single_root, monkeypatch):
    """Of many words, only those that hold walks up are drawn by themselves."""
    computed = []
    marginals = sampling._marginals
    monkeypatch.setattr(sampling, "_marginals", lambda *a: computed.append(1) or marginals(*a))
    draw(attracting_pair(30, 30.0), 1, 0, False, single_root)
    assert 2 <= len(computed) <= 6


# ------------------------------------------------------------------------------------- how long walks are


@AT_BOTH_ROOTS
@pytest.mark.parametrize("n, masked", [(1, 0.0), (2, 0.0), (5, 0.0), (5, 0.2), (12, 0.2)])
def test_expected_steps(n, masked, single_root):
    """The mean of the counts, to five of its standard errors."""
    scores = random_scores(np.random.default_rng([n, 21]), n, 2.0, masked)
    probabilities = sampling._step_probabilities(scores, single_root)
    mu = sampling._marginals(scores, single_root)
    best = int(mu[0].argmax()) if single_root else 0
    expected = expected_steps(probabilities, best)
    for target in np.flatnonzero(mu[0] > 1e-6)[:4] if single_root else [0]:
        heads, steps = sampling._walk(
            probabilities, np.full(4000, target), np.full(4000, expected[target]), np.random.default_rng(n)
        )
        assert all(is_tree(row, single_root=single_root) for row in heads[:50])
        error = steps.std() / np.sqrt(len(steps))
        assert steps.mean() == pytest.approx(expected[target], abs=5 * error + 1e-9)


@pytest.mark.parametrize("n", [2, 6, 15])
def test_expected_steps_do_not_depend_on_the_first_target(n):
    probabilities = sampling._step_probabilities(random_scores(np.random.default_rng(n), n), True)
    for target in range(1, n + 1):
        np.testing.assert_allclose(expected_steps(probabilities, target), expected_steps(probabilities, 1), rtol=1e-9)


@AT_BOTH_ROOTS
def test_expected_steps_stay_right_where_they_are_many(single_root):
    probabilities = np.zeros((4, 4))
    probabilities[1, 2] = probabilities[2, 1] = 1.0
    probabilities[2, 3] = 1e-40  # the only way out, from a pair of words
    probabilities[3, 0 if not single_root else 1] = 1.0
    steps = expected_steps(probabilities, 3 if single_root else 0)
    assert steps[3 if single_root else 0] == pytest.approx(2e40, rel=1e-12)


def test_unreachable_targets_are_infinitely_far():
    probabilities = sampling._step_probabilities(poison_unread(np.where(np.eye(4, k=1), 0.0, -np.inf)), False)
    assert np.isfinite(expected_steps(probabilities, 0)[0])
    probabilities[1, 0] = 0.0
    assert np.isinf(expected_steps(probabilities, 0)).all()


# ------------------------------------------------------------------------------------- the rest


@IN_ALL_SPACES
@pytest.mark.parametrize("n", [1, 7, 30])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_draws_are_trees(n, scale, projective, single_root):
    scores = random_scores(np.random.default_rng(n), n, scale, 0.1 if n > 1 else 0.0)
    for row in draw(scores, 20, 3, projective, single_root):
        assert is_tree(row, single_root=single_root) and (is_projective(row) or not projective)
        assert np.isfinite(scores[row, np.arange(1, n + 1)]).all()


@IN_ALL_SPACES
@pytest.mark.parametrize("scale", [1.0, 100.0])
def test_same_state_same_trees(scale, projective, single_root):
    scores = random_scores(np.random.default_rng(2), 8, scale)
    trees = draw(scores, 50, 7, projective, single_root)
    np.testing.assert_array_equal(trees, draw(scores.copy(), 50, 7, projective, single_root))
    if projective:
        np.testing.assert_array_equal(trees[:9], draw(scores, 9, 7, projective, single_root))
    if scale == 1.0:
        assert (trees != draw(scores, 50, 8, projective, single_root)).any()
        assert len(np.unique(trees, axis=0)) > 25


@IN_ALL_SPACES
def test_uniforms_run_out_in_the_middle_of_a_walk(projective, single_root, monkeypatch):
    """Walks go on where they stopped: the trees do not depend on how many numbers come at once."""
    scores = random_scores(np.random.default_rng(5), 9)

    class Trickle:
        def __init__(self, rng):
            self.rng = rng

        def random(self, size):
            return self.rng.random(min(size, 7)) if isinstance(size, int) and size > 40 else self.rng.random(size)

    whole = draw(scores, 40, 6, projective, single_root)
    rng = Trickle(np.random.default_rng(6))
    np.testing.assert_array_equal(sample(scores, 40, rng, projective=projective, single_root=single_root), whole)


@IN_ALL_SPACES
@pytest.mark.parametrize("pull, k", [(2.0, 20_000), (15.0, 400), (60.0, 400)])
def test_arc_frequencies_are_the_marginals(pull, k, projective, single_root):
    """Longer sentences, by the frequency of every arc: five standard errors of a binomial. Words attract in pairs."""
    n = 20
    scores = random_scores(np.random.default_rng(20), n, 2.0, 0.2)
    for m in (3, 8, 13, 18):
        scores[m, m + 1] = scores[m + 1, m] = pull
    heads = draw(scores, k, 4, projective, single_root)
    module = eisner if projective else matrix_tree
    mu = module.marginals(scores[None], np.array([n]), single_root=single_root)[2][0]
    frequencies = np.zeros_like(mu)
    np.add.at(frequencies, (heads, np.arange(1, n + 1)), 1.0 / k)
    assert (np.abs(frequencies - mu) <= 5 * np.sqrt(mu * (1 - mu) / k) + 10 / k).all()


@IN_ALL_SPACES
def test_nothing_to_draw(projective, single_root):
    assert draw(np.full((1, 1), np.nan), 3, 0, projective, single_root).shape == (3, 0)
    assert draw(poison_unread(np.zeros((4, 4))), 0, 0, projective, single_root).shape == (0, 3)


@IN_ALL_SPACES
def test_no_tree(projective, single_root):
    scores = poison_unread(np.zeros((4, 4)))
    scores[:, 2] = -np.inf
    with pytest.raises(NoTreeError, match="word 2 has no possible head"):
        draw(scores, 5, 0, projective, single_root)
