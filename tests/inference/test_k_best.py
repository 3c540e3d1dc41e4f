"""The k best trees against the sorted list of all trees, and against what an iterator of them promises."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy_mtt.inference._best_swap import cheapest_arc
from spacy_mtt.inference._k_best_projective import ProjectiveTrees

from spacy_mtt.inference import arborescence, eisner
from spacy_mtt.inference.k_best import _NonProjectiveTrees, k_best, k_best_labelled
from spacy_mtt.inference.trees import is_projective, is_tree
from tests.inference.hard_arborescences import (
    cancelling_scores,
    chain_of_contractions,
    nested_pairs,
    one_cycle,
    rooted_pairs,
)
from tests.oracle import SPACES, all_trees, tree_scores
from tests.strategies import poison_unread, random_scores, score_matrices

IN_ALL_SPACES = pytest.mark.parametrize("projective, single_root", SPACES)
AT_BOTH_ROOTS = pytest.mark.parametrize("single_root", [False, True])


def first(k, scores, projective, single_root):
    return list(itertools.islice(k_best(scores, projective=projective, single_root=single_root), k))


def assert_all_trees_in_order(scores, projective, single_root):
    """All trees without forbidden arcs, each once, with the exactly rounded scores of the sorted enumeration."""
    before = scores.copy()
    scores.flags.writeable = False
    trees = all_trees(len(scores) - 1, projective, single_root)
    values = tree_scores(scores, trees)
    expected = sorted(values[values > -np.inf], reverse=True)
    given = list(k_best(scores, projective=projective, single_root=single_root))
    assert [score for _, score in given] == expected
    assert len({tuple(heads) for heads, _ in given}) == len(given)
    for heads, score in given:
        assert heads.dtype == np.intp and is_tree(heads, single_root=single_root)
        assert not projective or is_projective(heads)
        assert tree_scores(scores, heads[None])[0] == score
    np.testing.assert_array_equal(scores, before)


# ------------------------------------------------------------------------------------- against enumeration


@IN_ALL_SPACES
@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("scale", [1.0, 1e3, 1e6])
@pytest.mark.parametrize("masked", [0.0, 0.3, 0.6])
def test_equals_sorted_enumeration(n, scale, masked, projective, single_root):
    rng = np.random.default_rng([n, int(scale), int(10 * masked)])
    for _ in range(3):
        assert_all_trees_in_order(random_scores(rng, n, scale, masked), projective, single_root)


@IN_ALL_SPACES
@pytest.mark.parametrize("masked", [0.0, 0.4])
def test_five_words(masked, projective, single_root):
    rng = np.random.default_rng(5)
    assert_all_trees_in_order(random_scores(rng, 5, 10.0, masked), projective, single_root)


@IN_ALL_SPACES
@pytest.mark.parametrize("n", [2, 3, 4])
@pytest.mark.parametrize("values", [[0.0], [0.0, 1.0], [-1.0, 0.0, 1.0, -np.inf]])
def test_ties(values, n, projective, single_root):
    rng = np.random.default_rng(n)
    for _ in range(6):
        scores = poison_unread(rng.choice(values, size=(n + 1, n + 1)))
        assert_all_trees_in_order(scores, projective, single_root)
        again = first(None, scores.copy(), projective, single_root)
        for (heads, _), (same, _) in zip(first(None, scores, projective, single_root), again, strict=True):
            np.testing.assert_array_equal(heads, same)


@IN_ALL_SPACES
@pytest.mark.parametrize("make", [one_cycle, chain_of_contractions, nested_pairs, rooted_pairs])
def test_many_contractions(make, projective, single_root):
    for seed in range(3):
        scores = poison_unread(make(np.random.default_rng(seed), 4))
        assert_all_trees_in_order(scores, projective, single_root)


@IN_ALL_SPACES
def test_small_differences_beside_large_scores(projective, single_root):
    """Sums that double precision would round to ties come in the order of the exact sums."""
    integers, scores = cancelling_scores(np.random.default_rng(8), 4)
    given = first(None, scores, projective, single_root)
    exact = [sum(int(integers[h, m]) for m, h in enumerate(heads, 1)) for heads, _ in given]
    assert exact == sorted(exact, reverse=True)
    assert [score for _, score in given] == [float(value) for value in exact]
    assert len(given) == len(all_trees(4, projective, single_root))


@given(score_matrices(max_n=4, scale=1e6, masked=True), st.sampled_from(SPACES))
@settings(deadline=None, max_examples=40)
def test_any_scores(scores, space):
    # Scores of any magnitudes down to the smallest: beyond the promise of exact order, but not of close scores.
    projective, single_root = space
    values = tree_scores(scores, all_trees(len(scores) - 1, projective, single_root))
    given = first(None, scores, projective, single_root)
    expected = np.sort(values[values > -np.inf])[::-1]
    np.testing.assert_allclose([score for _, score in given], expected, rtol=0, atol=1e-20)
    assert len({tuple(heads) for heads, _ in given}) == len(given)


# ------------------------------------------------------------------------------------- longer sentences


@IN_ALL_SPACES
@pytest.mark.parametrize("n, scale", [(12, 1.0), (30, 5.0)])
def test_longer_sentences(n, scale, projective, single_root):
    scores = random_scores(np.random.default_rng(n), n, scale, 0.1)
    given = first(200, scores, projective, single_root)
    values = [score for _, score in given]
    assert values == sorted(values, reverse=True)
    assert len({tuple(heads) for heads, _ in given}) == 200
    for heads, score in given:
        assert is_tree(heads, single_root=single_root) and (is_projective(heads) or not projective)
        assert score == tree_scores(scores, heads[None])[0]
    decoder = eisner if projective else arborescence
    best = decoder.argmax(np.nan_to_num(scores, neginf=-np.inf)[None], np.array([n]), single_root=single_root)
    assert values[0] == tree_scores(scores, best)[0]
    for (heads, _), (same, _) in zip(first(20, scores, projective, single_root), given[:20], strict=True):
        np.testing.assert_array_equal(heads, same)


@AT_BOTH_ROOTS
@pytest.mark.parametrize("make", [one_cycle, chain_of_contractions, nested_pairs, rooted_pairs])
@pytest.mark.parametrize("n", [3, 9, 24])
def test_second_best_lacks_the_cheapest_arc(n, make, single_root):
    """The arc's loss is the least of all, each found by forbidding an arc of the best tree by itself."""
    scores = np.nan_to_num(poison_unread(make(np.random.default_rng(n), n)), nan=-np.inf)
    lengths, words = np.array([n]), np.arange(1, n + 1)
    heads = arborescence.argmax(scores[None], lengths, single_root=single_root)[0]
    without = []
    for m in words:
        trial = scores.copy()
        trial[heads[m - 1], m] = -np.inf
        tree = arborescence.argmax(trial[None], lengths, single_root=single_root)[0]
        without.append(None if tree[0] < 0 else sum(map(Fraction, trial[tree, words])))
    found = cheapest_arc(scores, heads, np.full(n, -np.inf), single_root)
    assert without[found - 1] == max(value for value in without if value is not None)


@AT_BOTH_ROOTS
def test_projective_trees_are_the_projective_ones_of_all(single_root):
    scores = random_scores(np.random.default_rng(7), 7, 1.0)
    every = first(3000, scores, False, single_root)
    expected = [(tuple(heads), score) for heads, score in every if is_projective(heads)]
    given = [(tuple(heads), score) for heads, score in first(len(expected), scores, True, single_root)]
    assert len(expected) > 20 and given == expected


# ------------------------------------------------------------------------------------- an iterator


@AT_BOTH_ROOTS
def test_non_projective_solves_two_trees_for_each_further_one(single_root):
    trees = _NonProjectiveTrees(random_scores(np.random.default_rng(1), 20)[:, :, None], single_root)
    for k, _ in enumerate(itertools.islice(trees, 50), 1):
        assert trees.solved <= max(1, 2 * k - 2)


@AT_BOTH_ROOTS
def test_projective_makes_few_candidates(single_root):
    n = 20
    trees = ProjectiveTrees(random_scores(np.random.default_rng(1), n)[:, :, None], single_root)
    heads, labels = np.empty((2, n), dtype=np.intp)
    made = []
    for _ in range(1000):
        assert trees.next(heads, labels)
        made.append(trees.candidates)
    assert made[0] <= 4 * n * n  # only what lies below the spans of the best tree
    assert made[9] < made[-1] / 5
    assert made[-1] <= made[0] + 1000 * 8 * n


@IN_ALL_SPACES
def test_exhausted_iterators_stay_exhausted(projective, single_root):
    iterator = k_best(poison_unread(np.zeros((3, 3))), projective=projective, single_root=single_root)
    assert len(list(iterator)) == (2 if single_root else 3)
    assert next(iterator, None) is None


def test_exhausted_chart_stays_exhausted():
    trees = ProjectiveTrees(np.zeros((3, 3, 1)), False)
    heads, labels = np.empty((2, 2), dtype=np.intp)
    assert [trees.next(heads, labels) for _ in range(5)] == [True, True, True, False, False]


@IN_ALL_SPACES
def test_callers_may_write_into_trees(projective, single_root):
    scores = random_scores(np.random.default_rng(2), 4)
    expected = [tuple(heads) for heads, _ in first(None, scores, projective, single_root)]
    given = []
    for heads, _ in k_best(scores, projective=projective, single_root=single_root):
        given.append(tuple(heads))
        heads[:] = 99
    assert given == expected


@IN_ALL_SPACES
def test_no_words(projective, single_root):
    [(heads, score)] = first(None, np.full((1, 1), np.nan), projective, single_root)
    assert heads.shape == (0,) and score == 0.0
    [(heads, labels, score)] = k_best_labelled(
        np.full((1, 1, 3), np.nan), projective=projective, single_root=single_root
    )
    assert heads.shape == labels.shape == (0,) and score == 0.0


@IN_ALL_SPACES
def test_one_word(projective, single_root):
    [(heads, score)] = first(None, poison_unread(np.full((2, 2), 2.5)), projective, single_root)
    assert heads.tolist() == [0] and score == 2.5


@IN_ALL_SPACES
def test_no_tree(projective, single_root):
    scores = poison_unread(np.zeros((4, 4)))
    scores[:, 2] = -np.inf
    assert first(None, scores, projective, single_root) == []
    scores = poison_unread(np.zeros((4, 4)))
    scores[0] = -np.inf
    assert first(None, scores, projective, single_root) == []


@IN_ALL_SPACES
@pytest.mark.parametrize("size", [1e300, 1.7e308, 5e-324])
def test_scores_at_the_ends_of_the_range(size, projective, single_root):
    scores = poison_unread(np.random.default_rng(3).choice([-size, 0.0, size], size=(5, 5)))
    given = first(None, scores, projective, single_root)
    exact = [sum(Fraction(scores[h, m]) for m, h in enumerate(heads, 1)) for heads, _ in given]
    assert exact == sorted(exact, reverse=True)
    assert len(given) == len(all_trees(4, projective, single_root))
    for (_, score), value in zip(given, exact, strict=True):
        assert score == (float(value) if abs(value) < 2**1023 else score) and not math.isnan(score)


# ------------------------------------------------------------------------------------- labels


def random_labelled(rng, n, n_labels, values=None, masked=0.2):
    shape = (n + 1, n + 1, n_labels)
    scores = rng.normal(size=shape) if values is None else rng.choice(values, size=shape)
    scores[rng.random(shape) < masked] = -np.inf
    scores[:, 0] = np.nan
    scores[np.arange(n + 1), np.arange(n + 1)] = np.nan
    return scores


@IN_ALL_SPACES
@pytest.mark.parametrize("n, n_labels", [(1, 4), (2, 3), (3, 2), (3, 3)])
@pytest.mark.parametrize("values", [None, [0.0], [0.0, 1.0]])
def test_labelled_equals_sorted_enumeration(values, n, n_labels, projective, single_root):
    rng = np.random.default_rng([n, n_labels])
    words = np.arange(1, n + 1)
    for _ in range(3):
        scores = random_labelled(rng, n, n_labels, values)
        expected = []
        for heads in all_trees(n, projective, single_root):
            for labels in itertools.product(range(n_labels), repeat=n):
                row = scores[heads, words, labels]
                if not np.isneginf(row).any():
                    expected.append(math.fsum(row))
        given = list(k_best_labelled(scores, projective=projective, single_root=single_root))
        assert [score for *_, score in given] == sorted(expected, reverse=True)
        assert len({(tuple(heads), tuple(labels)) for heads, labels, _ in given}) == len(given)
        for heads, labels, score in given:
            assert is_tree(heads, single_root=single_root)
            assert math.fsum(scores[heads, words, labels]) == score


@IN_ALL_SPACES
def test_best_labelled_tree_has_the_lowest_best_labels(projective, single_root):
    scores = random_labelled(np.random.default_rng(4), 6, 5, [0.0, 1.0, 2.0], masked=0.0)
    heads, labels, _ = next(k_best_labelled(scores, projective=projective, single_root=single_root))
    rows = scores[heads, np.arange(1, 7)]
    np.testing.assert_array_equal(labels, rows.argmax(axis=1))


@IN_ALL_SPACES
def test_labelled_longer_sentence(projective, single_root):
    scores = random_labelled(np.random.default_rng(9), 15, 20, masked=0.3)
    given = list(itertools.islice(k_best_labelled(scores, projective=projective, single_root=single_root), 300))
    values = [score for *_, score in given]
    assert values == sorted(values, reverse=True)
    assert len({(tuple(heads), tuple(labels)) for heads, labels, _ in given}) == 300
