import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.inference.trees import is_projective, is_tree
from spacy_mtt.learning.annotation import allowed_arcs, allowed_labelled_arcs, fixed_heads
from spacy_mtt.learning.cross_entropy import cross_entropy
from spacy_mtt.learning.log_likelihood import LogLikelihood
from tests.oracle import SPACES, all_trees, tree_scores

spaces = pytest.mark.parametrize("projective,single_root", SPACES)


def log_sum_exp(values: np.ndarray) -> float:
    return values.max() + math.log(np.exp(values - values.max()).sum()) if len(values) else -math.inf


def draw_partial(rng, n: int, projective: bool, single_root: bool, known: float) -> np.ndarray:
    trees = all_trees(n, projective, single_root)
    heads = trees[rng.integers(len(trees))].copy()
    heads[rng.random(n) >= known] = -1
    return heads


@spaces
@pytest.mark.parametrize("known", [0.0, 0.5, 1.0])
def test_loss_is_minus_log_probability_of_the_annotation(projective, single_root, known):
    rng = np.random.default_rng(0)
    objective = LogLikelihood(projective=projective, single_root=single_root)
    lengths = np.array([4, 2, 3])
    heads = np.full((3, 4), -1)
    scores = rng.normal(size=(3, 5, 5)) * 3
    for b, n in enumerate(lengths):
        heads[b, :n] = draw_partial(rng, n, projective, single_root, known)
    loss = objective(scores, allowed_arcs(heads, 5), lengths)
    for b, n in enumerate(lengths):
        trees = all_trees(n, projective, single_root)
        values = tree_scores(scores[b], trees)
        agrees = ((trees == heads[b, :n]) | (heads[b, :n] < 0)).all(axis=1)
        assert loss.value[b] == pytest.approx(log_sum_exp(values) - log_sum_exp(values[agrees]), abs=1e-12)
    assert not loss.relaxed.any() and not loss.skipped.any()
    if known == 0:
        np.testing.assert_allclose(loss.gradient, 0, atol=1e-14)


@spaces
@pytest.mark.parametrize("labelled", [False, True])
def test_gradient_against_differences(projective, single_root, labelled):
    rng = np.random.default_rng(1)
    objective = LogLikelihood(projective=projective, single_root=single_root, labelled=labelled)
    heads = draw_partial(rng, 4, projective, single_root, 0.7)[None]
    lengths = np.array([4])
    if labelled:
        scores = rng.normal(size=(1, 5, 5, 3))
        allowed = allowed_labelled_arcs(heads, np.array([[0, -1, 2, 1]]), 5, np.ones((2, 3), dtype=bool))
    else:
        scores, allowed = rng.normal(size=(1, 5, 5)), allowed_arcs(heads, 5)
    gradient = objective(scores, allowed, lengths).gradient
    for _ in range(30):
        place = tuple(rng.integers(size) for size in scores.shape)
        up, down = scores.copy(), scores.copy()
        up[place] += 1e-5
        down[place] -= 1e-5
        slope = (objective(up, allowed, lengths).value - objective(down, allowed, lengths).value)[0] / 2e-5
        assert gradient[place] == pytest.approx(slope, abs=1e-8)


def test_labelled_loss_factors_for_a_whole_tree():
    """-log p(tree, labels) = -log p(tree) - sum of log p(label | arc), with labels summed into the arc scores."""
    rng = np.random.default_rng(2)
    scores = rng.normal(size=(1, 4, 4, 3))
    heads, labels, lengths = np.array([[2, 0, 2]]), np.array([[0, 2, 1]]), np.array([3])
    allowed = allowed_labelled_arcs(heads, labels, 4, np.ones((2, 3), dtype=bool))
    joint = LogLikelihood(labelled=True)(scores, allowed, lengths).value[0]
    arcs = np.log(np.exp(scores).sum(axis=3))
    tree = LogLikelihood()(arcs, allowed_arcs(heads, 4), lengths).value[0]
    chosen = scores[0, heads[0], [1, 2, 3], labels[0]] - arcs[0, heads[0], [1, 2, 3]]
    assert joint == pytest.approx(tree - chosen.sum(), abs=1e-12)


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=30, deadline=None)
def test_probabilities_of_all_trees_sum_to_one(seed):
    rng = np.random.default_rng(seed)
    trees = all_trees(3, False, True)
    scores = np.repeat(rng.normal(size=(1, 4, 4)) * rng.choice([1, 30, 1000]), len(trees), axis=0)
    loss = LogLikelihood()(scores, allowed_arcs(trees, 4), np.full(len(trees), 3))
    assert np.exp(-loss.value).sum() == pytest.approx(1, abs=1e-9)


def test_conflicts_with_the_tree_space():
    two_roots, crossing = np.array([[0, 0, 2, 2]]), np.array([[3, 4, 0, 3]])
    scores, lengths = np.random.default_rng(3).normal(size=(1, 5, 5)), np.array([4])
    for heads, space in [(two_roots, {}), (crossing, {"projective": True})]:
        allowed = allowed_arcs(heads, 5)
        relaxed = LogLikelihood(**space)(scores, allowed, lengths)
        assert relaxed.relaxed.all() and not relaxed.skipped.any() and relaxed.value > 0
        skipped = LogLikelihood(conflicts="skip", **space)(scores, allowed, lengths)
        assert skipped.skipped.all() and not skipped.relaxed.any()
        assert skipped.value == 0 and not skipped.gradient.any()
    # The words with a root arc are summed over, the others keep their heads.
    trees = all_trees(4, False, True)
    values = tree_scores(scores[0], trees)
    agrees = (trees[:, 2:] == 2).all(axis=1)
    expected = log_sum_exp(values) - log_sum_exp(values[agrees])
    assert LogLikelihood()(scores, allowed_arcs(two_roots, 5), lengths).value[0] == pytest.approx(expected)
    assert not LogLikelihood(single_root=False)(scores, allowed_arcs(two_roots, 5), lengths).relaxed.any()


def test_cyclic_annotation_is_skipped():
    loss = LogLikelihood()(np.zeros((1, 3, 3)), allowed_arcs(np.array([[2, 1]]), 3), np.array([2]))
    assert loss.skipped.all() and loss.value == 0


def test_unknown_way_with_conflicts():
    with pytest.raises(ValueError, match="conflicts must be 'relax' or 'skip', not 'drop'"):
        LogLikelihood(conflicts="drop")


def test_allowed_arcs_and_fixed_heads():
    heads = np.array([[2, -1, 0]])
    allowed = allowed_arcs(heads, 4)[0]
    assert allowed[:, 1].tolist() == [False, False, True, False]
    assert allowed[:, 2].all()
    assert fixed_heads(allowed).tolist() == [2, -1, 0]


@spaces
def test_the_oracle_agrees_on_spaces(projective, single_root):
    for heads in all_trees(4, projective, single_root):
        assert is_tree(heads, single_root=single_root)
        assert is_projective(heads) or not projective


def test_cross_entropy_against_differences():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(5, 4))
    scores[1, 2] = -np.inf
    gold = np.array([0, 2, -1, 3, 1])  # word 1 has a gold class that cannot be, word 2 none
    loss, gradient = cross_entropy(np, scores, gold)
    known = [0, 3, 4]
    expected = sum(log_sum_exp(scores[row]) - scores[row, gold[row]] for row in known)
    assert loss == pytest.approx(expected)
    assert not gradient[[1, 2]].any()
    for row in known:
        for column in range(4):
            up, down = scores.copy(), scores.copy()
            up[row, column] += 1e-6
            down[row, column] -= 1e-6
            slope = (cross_entropy(np, up, gold)[0] - cross_entropy(np, down, gold)[0]) / 2e-6
            assert gradient[row, column] == pytest.approx(slope, abs=1e-7)
