"""SiblingTreeDistribution against enumeration and against TreeDistribution; what it says of bad input."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest

from spacy_mtt import NoTreeError, SiblingTreeDistribution, TreeDistribution
from spacy_mtt.inference.trees import is_tree
from tests.inference.siblings_oracle import enumerate_siblings, random_problem, zero_siblings
from tests.strategies import poison_unread, random_scores

ROOTS = pytest.mark.parametrize("single_root", [False, True], ids=["multi_root", "single_root"])


@ROOTS
@pytest.mark.parametrize("scale", [1.0, 30.0, 300.0, 3000.0, 1e12])
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_everything_against_enumeration(single_root, scale, n):
    scores, siblings = random_problem(np.random.default_rng([n, int(scale)]), n, scale, 0.05 if n > 2 else 0.0)
    truth = enumerate_siblings(scores, siblings, single_root)
    tree = SiblingTreeDistribution(scores, siblings, single_root=single_root)
    assert isinstance(tree.log_partition, float) and isinstance(tree.entropy, float)
    assert tree.log_partition == pytest.approx(truth["log_z"], rel=1e-12)
    np.testing.assert_allclose(tree.marginals, truth["mu_arcs"], rtol=0, atol=1e-12)
    np.testing.assert_allclose(tree.sibling_marginals, truth["mu_siblings"], rtol=0, atol=1e-12)
    entropy = -math.fsum(p * math.log(p) for p in truth["probabilities"] if p > 0)
    assert tree.entropy == pytest.approx(entropy, abs=1e-10)
    best = tree.argmax()
    assert best.shape == (n,) and is_tree(best, single_root=single_root)
    assert tree.score(best) == pytest.approx(truth["values"].max(), rel=1e-14)
    for heads, value, p in zip(truth["trees"][:50], truth["values"], truth["probabilities"], strict=False):
        assert tree.score(heads) == pytest.approx(value, rel=1e-13, abs=1e-13 * scale)
        assert tree.log_prob(heads) <= 0
        assert math.exp(tree.log_prob(heads)) == pytest.approx(p, abs=1e-12)


@ROOTS
def test_zero_siblings_are_the_projective_distribution(single_root):
    scores = random_scores(np.random.default_rng(1), 30, 3.0)
    first = TreeDistribution(scores, projective=True, single_root=single_root)
    second = SiblingTreeDistribution(scores, zero_siblings(30), single_root=single_root)
    assert second.log_partition == pytest.approx(first.log_partition, rel=1e-13)
    assert second.entropy == pytest.approx(first.entropy, rel=1e-12)
    np.testing.assert_allclose(second.marginals, first.marginals, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(second.argmax(), first.argmax())
    assert second.log_prob(first.argmax()) == pytest.approx(first.log_prob(first.argmax()), rel=1e-12)


@ROOTS
def test_padding_and_batch_never_change_an_answer(single_root):
    rng = np.random.default_rng(3)
    lengths = [3, 0, 5, 1, 5]
    scores, siblings, alone = np.full((5, 8, 8), np.nan), np.full((5, 8, 8, 8), np.nan), []
    for b, n in enumerate(lengths):
        one, two = random_problem(rng, n, 5.0)
        scores[b, : n + 1, : n + 1], siblings[b, : n + 1, : n + 1, : n + 1] = one, two
        alone.append(SiblingTreeDistribution(one, two, single_root=single_root))
    scores.flags.writeable = siblings.flags.writeable = False
    together = SiblingTreeDistribution(scores, siblings, single_root=single_root, lengths=lengths)
    np.testing.assert_array_equal(together.log_partition, [tree.log_partition for tree in alone])
    np.testing.assert_array_equal(together.entropy, [tree.entropy for tree in alone])
    heads = together.argmax()
    assert heads.shape == (5, 7)
    log_prob, score = together.log_prob(heads), together.score(heads)
    for b, n in enumerate(lengths):
        inside = slice(n + 1)
        np.testing.assert_array_equal(together.marginals[b, inside, inside], alone[b].marginals)
        np.testing.assert_array_equal(together.sibling_marginals[b, inside, inside, inside], alone[b].sibling_marginals)
        best = alone[b].argmax()
        np.testing.assert_array_equal(heads[b, :n], best)
        assert (heads[b, n:] == -1).all()
        assert log_prob[b] == alone[b].log_prob(best) and score[b] == alone[b].score(best)


def test_integers_strides_and_float32_are_read_alike():
    rng = np.random.default_rng(6)
    scores, siblings = rng.integers(-3, 4, size=(5, 5)), rng.integers(-3, 4, size=(5, 5, 5))
    expected = SiblingTreeDistribution(scores.astype(float), siblings.astype(float)).sibling_marginals
    wide = np.zeros((10, 5, 15))
    wide[::2, :, ::3] = siblings
    for other in (siblings, siblings.tolist(), np.asfortranarray(siblings), wide[::2, :, ::3], siblings.astype("f4")):
        found = SiblingTreeDistribution(scores.tolist(), other).sibling_marginals
        np.testing.assert_array_equal(found, expected)
        assert found.dtype == np.float64


@ROOTS
def test_sentences_without_words(single_root):
    tree = SiblingTreeDistribution([[math.nan]], [[[math.nan]]], single_root=single_root)
    assert tree.log_partition == 0 and tree.entropy == 0 and tree.log_prob([]) == 0 and tree.score([]) == 0
    assert tree.argmax().shape == (0,) and not tree.marginals.any() and not tree.sibling_marginals.any()
    empty = SiblingTreeDistribution(np.zeros((0, 3, 3)), np.zeros((0, 3, 3, 3)), single_root=single_root)
    assert empty.log_partition.shape == empty.entropy.shape == (0,) and empty.argmax().shape == (0, 2)


def test_heads_outside_the_space_have_probability_zero():
    tree = SiblingTreeDistribution(np.zeros((5, 5)), np.zeros((5, 5, 5)))
    assert tree.log_prob([2, 0, 2, 3]) == pytest.approx(-math.log(30))  # 30 projective single-root trees of 4 words
    assert tree.log_prob([3, 0, 2, 3]) == -math.inf  # crossing
    assert tree.log_prob([0, 0, 2, 3]) == -math.inf  # two roots
    assert tree.log_prob([2, 1, 0, 3]) == -math.inf  # a cycle
    assert tree.score([2, 1, 0, 3]) == 0
    assert tree.score([1, 0, 2, 3]) == -math.inf  # no word is its own head


def test_a_forbidden_part_forbids_the_tree():
    siblings = np.zeros((4, 4, 4))
    siblings[1, 2, 3] = -math.inf
    tree = SiblingTreeDistribution(np.zeros((4, 4)), siblings)
    assert tree.score([0, 1, 1]) == tree.log_prob([0, 1, 1]) == -math.inf
    assert tree.log_prob([0, 1, 2]) == pytest.approx(-math.log(6)) and tree.marginals[1, 3] > 0


def test_sums_of_scores_do_not_overflow_on_the_way():
    scores, siblings = poison_unread(np.full((3, 3), 1.7e308)), np.full((3, 3, 3), -1.7e308)
    tree = SiblingTreeDistribution(scores, siblings)
    assert tree.score([0, 1]) == 0.0 and tree.log_partition == tree.entropy == pytest.approx(math.log(2))
    assert tree.log_prob([0, 1]) == pytest.approx(-math.log(2))


BAD_INPUT = [
    (np.zeros((3, 3)), np.zeros((3, 3)), {}, r"siblings must have the shape \(3, 3, 3\) .*, not \(3, 3\)"),
    (np.zeros((2, 3, 3)), np.zeros((3, 3, 3)), {}, r"siblings must have the shape \(2, 3, 3, 3\)"),
    (np.zeros((3, 3)), np.full((3, 3, 3), "a"), {}, "siblings must be real numbers"),
    (np.zeros((3, 3)), np.zeros((3, 3, 3), dtype=complex), {}, "siblings must be real numbers.*complex"),
    (np.zeros((3, 3)), np.full((3, 3, 3), math.nan), {}, r"siblings\[0, 0, 1\] is nan"),
    (np.zeros((1, 3, 3)), np.full((1, 3, 3, 3), [0, 0, math.inf]), {}, r"siblings\[0, 0, 0, 2\] is inf"),
    (np.zeros((3, 4)), np.zeros((3, 3, 3)), {}, "scores must be square"),
    (np.full((3, 3), math.nan), np.zeros((3, 3, 3)), {}, r"scores\[0, 1\] is nan"),
    (np.zeros((3, 3)), np.zeros((3, 3, 3)), {"lengths": [2]}, "lengths belong to a batch"),
    (np.zeros((1, 3, 3)), np.zeros((1, 3, 3, 3)), {"lengths": [3]}, r"lengths\[0\] is 3, but must be in 0\.\.2"),
]


@pytest.mark.parametrize("scores,siblings,arguments,message", BAD_INPUT)
def test_bad_input_is_named(scores, siblings, arguments, message):
    with pytest.raises(ValueError, match=message):
        SiblingTreeDistribution(scores, siblings, **arguments)


def test_bad_trees_are_named():
    tree = SiblingTreeDistribution(np.zeros((4, 4)), np.zeros((4, 4, 4)))
    for heads, message in [
        ([0, 1], r"heads must be integers of the shape \(3,\)"),
        ([0.0, 1.0, 1.0], "heads must be integers"),
        ([0, 1, 4], r"heads\[2\] is 4, but must be in 0\.\.3"),
    ]:
        for ask in (tree.score, tree.log_prob):
            with pytest.raises(ValueError, match=message):
                ask(heads)


def no_tree(which):
    scores, siblings = np.zeros((4, 4)), np.zeros((4, 4, 4))
    if which == "arcs":
        scores[:, 2] = -math.inf
    elif which == "first modifiers":
        siblings[:, :, 2] = -math.inf
    else:  # both words must hang from 1, as siblings
        scores[0, 2:] = scores[2:] = -math.inf
        siblings[1, 2, 3] = -math.inf
        scores[2, 1] = 0.0
    return scores, siblings


@pytest.mark.parametrize(
    "which,reason",
    [
        ("arcs", "word 2 has no possible head"),
        ("first modifiers", "word 2 has no possible head"),
        ("siblings", "every projective tree needs a forbidden sibling part"),
    ],
)
def test_no_tree_says_why(which, reason):
    scores, siblings = no_tree(which)
    tree = SiblingTreeDistribution(scores, siblings)
    assert tree.log_partition == -math.inf
    message = f"the sentence has no tree with positive weight: {re.escape(reason)}"
    for ask in (
        lambda: tree.marginals,
        lambda: tree.sibling_marginals,
        lambda: tree.entropy,
        tree.argmax,
        lambda: tree.log_prob([0, 1, 1]),
    ):
        with pytest.raises(NoTreeError, match=message):
            ask()
    batch = SiblingTreeDistribution(np.stack([np.zeros((4, 4)), scores]), np.stack([np.zeros((4, 4, 4)), siblings]))
    assert np.isneginf(batch.log_partition).tolist() == [False, True]
    with pytest.raises(NoTreeError, match="sentence 1 of the batch has no tree"):
        batch.argmax()


def test_repr_names_the_space():
    tree = SiblingTreeDistribution(np.zeros((3, 3)), np.zeros((3, 3, 3)), single_root=False)
    assert repr(tree) == "SiblingTreeDistribution(multi-root, scores of shape (3, 3))"
