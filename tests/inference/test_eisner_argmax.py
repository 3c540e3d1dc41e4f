"""The best projective tree: the rule on ties, scores of any size, and what every answer must satisfy.

Its agreement with enumeration is in test_eisner.py, next to that of the sums.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.inference import eisner
from spacy_mtt.inference.trees import is_projective, is_tree
from tests.inference.eisner_support import ROOTS, argmax, intp
from tests.oracle import all_trees
from tests.strategies import poison_unread, random_scores, score_matrices


@given(score_matrices(max_n=8, scale=30.0, masked=True), st.booleans(), st.data())
@settings(deadline=None)
def test_best_tree_is_a_tree_and_beats_others(scores, single_root, data):
    n = len(scores) - 1
    heads = argmax(scores, single_root)
    (log_z,), _ = eisner.log_partition(scores[None], intp(n), single_root=single_root)
    assert (heads == -1).all() == np.isneginf(log_z)
    if np.isneginf(log_z):
        return
    assert is_tree(heads, single_root=single_root) and is_projective(heads)
    best = scores[heads, np.arange(1, n + 1)].sum()
    assert best <= log_z + 1e-9
    other = argmax(random_scores(np.random.default_rng(data.draw(st.integers(0, 99))), n), single_root)
    assert scores[other, np.arange(1, n + 1)].sum() <= best + 1e-9


def best_trees(scores, single_root):
    """All best trees (T, n), by exact sums."""
    n = len(scores) - 1
    trees = all_trees(n, True, single_root)
    arcs = [[scores[h, m] for m, h in enumerate(tree, start=1)] for tree in trees]
    values = [None if -np.inf in row else sum(map(Fraction, row)) for row in arcs]
    best = max((value for value in values if value is not None), default=None)
    return trees[[value is not None and value == best for value in values]]


def first_by_rule(trees, single_root):
    """Of the tied trees (T, n), the one that the docstring of argmax names."""
    n = trees.shape[1]

    def head(tree, word):
        return tree[word - 1]

    def side(tree, word, i, j):
        while word not in (i, j):
            word = head(tree, word)
        return word

    def outermost_right(tree, i, j):
        return max(m for m in range(i + 1, j + 1) if head(tree, m) == i)

    def outermost_left(tree, i, j):
        return min(m for m in range(i, j) if head(tree, m) == j)

    def last_of_left_end(tree, i, j):
        return max(m for m in range(i, j) if side(tree, m, i, j) == i)

    def keep_first(split, i, j):
        nonlocal trees
        found = np.array([split(tree, i, j) for tree in trees])
        trees = trees[found == found.min()]
        return found.min()

    spans = [(outermost_right, 0, n)]
    if single_root:
        root = keep_first(lambda tree, i, j: 1 + list(tree).index(0), 0, n)
        spans = [(outermost_left, 1, root), (outermost_right, root, n)]
    while spans:
        split, i, j = spans.pop()
        if i == j:
            continue
        r = keep_first(split, i, j)
        if split is outermost_right:
            spans += [(last_of_left_end, i, r), (outermost_right, r, j)]
        elif split is outermost_left:
            spans += [(outermost_left, i, r), (last_of_left_end, r, j)]
        else:
            spans += [(outermost_right, i, r), (outermost_left, r + 1, j)]
    assert len(trees) == 1
    return trees[0]


@ROOTS
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_ties_follow_the_stated_rule(n, single_root):
    rng = np.random.default_rng(n)
    for levels in (1, 2, 3):
        for _ in range(8):
            scores = poison_unread(rng.integers(levels, size=(n + 1, n + 1)).astype(float))
            expected = first_by_rule(best_trees(scores, single_root), single_root)
            np.testing.assert_array_equal(argmax(scores, single_root), expected)


@ROOTS
@pytest.mark.parametrize("size", [1e-300, 1e15, 1e300, 1.7e308])
def test_best_tree_at_any_size(size, single_root):
    rng = np.random.default_rng(17)
    for n in (1, 2, 3, 4):
        for _ in range(5):
            scores = poison_unread(rng.uniform(-1, 1, size=(n + 1, n + 1)) * size)
            scores[rng.random(scores.shape) < 0.2] = -np.inf
            best = best_trees(scores, single_root)
            expected = best[0] if len(best) else np.full(n, -1)
            np.testing.assert_array_equal(argmax(scores, single_root), expected)


def test_best_tree_at_the_ends_of_the_range():
    largest = np.finfo(np.float64).max
    scores = np.full((4, 4), -largest)
    scores[0, 2] = scores[2, 1] = scores[2, 3] = largest
    np.testing.assert_array_equal(argmax(scores, True), [2, 0, 2])


@ROOTS
def test_column_maxima_cost_no_precision(single_root):
    scores = random_scores(np.random.default_rng(5), 5)
    scores = np.round(scores * 1024) / 1024
    expected = argmax(scores, single_root)
    scores[:, 3] += 2.0**40  # exact; sums with it would round away the rest
    np.testing.assert_array_equal(argmax(scores, single_root), expected)


@ROOTS
def test_deep_and_nested_trees_of_long_sentences(single_root):
    n = 61
    words = np.arange(1, n + 1)
    down_to_the_right, down_to_the_left = words - 1, np.r_[words[1:], 0]
    inwards = np.where(words <= n // 2, n + 1 - words, n - words)  # 0 -> n -> 1 -> n-1 -> 2 -> ...
    for heads in (down_to_the_right, down_to_the_left, inwards):
        assert is_tree(heads, single_root=True) and is_projective(heads)
        scores = poison_unread(np.zeros((n + 1, n + 1)))
        scores[heads, words] = 1.0
        np.testing.assert_array_equal(argmax(scores, single_root), heads)
