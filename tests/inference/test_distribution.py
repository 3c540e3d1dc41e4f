"""TreeDistribution against enumeration, in every variant through one set of tests."""

import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt import NoTreeError, TreeDistribution
from spacy_mtt.inference.trees import is_projective, is_tree
from tests.oracle import SPACES, all_trees, enumerate_distribution, tree_scores
from tests.strategies import random_scores, score_matrices

spaces = pytest.mark.parametrize("projective,single_root", SPACES)
SCALES = [1.0, 10.0, 100.0, 3000.0]


def labelled_scores(rng, n: int, n_labels: int, scale: float, masked: float = 0.0) -> np.ndarray:
    return np.stack([random_scores(rng, n, scale, masked) for _ in range(n_labels)], axis=-1)


@spaces
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
def test_everything_against_enumeration(projective, single_root, scale, n):
    scores = random_scores(np.random.default_rng(n), n, scale)
    trees, values, log_z, probabilities, marginals = enumerate_distribution(
        scores, projective=projective, single_root=single_root
    )
    tree = TreeDistribution(scores, projective=projective, single_root=single_root)
    assert isinstance(tree.log_partition, float)
    assert tree.log_partition == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(tree.marginals, marginals, rtol=0, atol=1e-12)
    entropy = -math.fsum(p * math.log(p) for p in probabilities if p > 0)
    assert tree.entropy == pytest.approx(entropy, abs=1e-10)
    best = tree.argmax()
    assert best.shape == (n,) and np.issubdtype(best.dtype, np.integer)
    assert tree.score(best) == pytest.approx(values.max(), rel=1e-14)
    correct = (marginals[trees, np.arange(1, n + 1)]).sum(axis=1)
    assert marginals[tree.mbr(), np.arange(1, n + 1)].sum() == pytest.approx(correct.max(), abs=1e-12)
    for heads, value, probability in zip(trees[:50], values, probabilities, strict=False):
        assert tree.score(heads) == pytest.approx(value, rel=1e-13, abs=1e-13)
        assert tree.log_prob(heads) <= 0
        assert math.exp(tree.log_prob(heads)) == pytest.approx(probability, abs=1e-12)


@spaces
@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("masked", [0.0, 0.3])
def test_labelled_against_enumeration(projective, single_root, scale, masked):
    n, n_labels = 3, 3
    scores = labelled_scores(np.random.default_rng(7), n, n_labels, scale, masked)
    tree = TreeDistribution(scores, projective=projective, single_root=single_root, labelled=True)
    log_z, marginals, best, entropy = enumerate_labelled(scores, all_trees(n, projective, single_root))
    assert tree.log_partition == pytest.approx(log_z, rel=1e-12)
    np.testing.assert_allclose(tree.marginals, marginals, rtol=0, atol=1e-12)
    assert tree.entropy == pytest.approx(entropy, abs=1e-10)
    heads, labels = tree.argmax()
    assert tree.score(heads, labels) == pytest.approx(best, rel=1e-13)
    assert math.exp(tree.log_prob(heads, labels)) == pytest.approx(math.exp(best - log_z), rel=1e-9)
    heads, labels = tree.mbr()
    risk = marginals.max(axis=2)
    gains = [risk[t, np.arange(1, n + 1)].sum() for t in all_trees(n, projective, single_root)]
    assert marginals[heads, np.arange(1, n + 1), labels].sum() == pytest.approx(max(gains), abs=1e-12)


def enumerate_labelled(scores: np.ndarray, trees: np.ndarray):
    """(log Z, marginals, best score, entropy) over all labelled trees."""
    n, n_labels = trees.shape[1], scores.shape[2]
    words = np.arange(1, n + 1)
    labelings = np.stack(np.meshgrid(*[np.arange(n_labels)] * n, indexing="ij"), axis=-1).reshape(-1, n)
    values = np.array([[scores[t, words, lab].sum() for lab in labelings] for t in trees])
    best = values.max()
    weights = np.exp(values - best)
    probabilities = weights / weights.sum()
    marginals = np.zeros_like(scores)
    for t, row in zip(trees, probabilities, strict=True):
        for lab, p in zip(labelings, row, strict=True):
            marginals[t, words, lab] += p
    positive = probabilities[probabilities > 0]
    return best + math.log(weights.sum()), marginals, best, -(positive * np.log(positive)).sum()


def rounding_of_argmax(scores: np.ndarray, projective: bool) -> float:
    """How far below the best score the tree of argmax may lie, for a few words: see the two decoders' docstrings."""
    if not projective:
        return 0.0
    used = scores[np.isfinite(scores)]
    return 1e-15 * np.abs(used).max(initial=0.0)


@spaces
@given(data=st.data())
@settings(max_examples=40, deadline=None)
def test_properties(projective, single_root, data):
    scale = data.draw(st.sampled_from([1.0, 30.0, 1e4, 1e6]))
    scores = data.draw(score_matrices(max_n=5, scale=scale, masked=True))
    before = scores.copy()
    scores.flags.writeable = False
    n = len(scores) - 1
    tree = TreeDistribution(scores, projective=projective, single_root=single_root)
    values = tree_scores(scores, all_trees(n, projective, single_root))
    np.testing.assert_array_equal(scores, before)
    if np.isneginf(values).all():
        assert tree.log_partition == -math.inf
        for result in ("marginals", "entropy"):
            with pytest.raises(NoTreeError):
                getattr(tree, result)
        for result in (tree.argmax, tree.mbr):
            with pytest.raises(NoTreeError):
                result()
        return
    marginals = tree.marginals
    assert np.isfinite(marginals).all() and (marginals >= 0).all()
    np.testing.assert_allclose(marginals[:, 1:].sum(axis=0), 1, atol=1e-12)
    if single_root:
        assert marginals[0].sum() == pytest.approx(1, abs=1e-12)
    assert tree.entropy >= 0
    for heads in (tree.argmax(), tree.mbr()):
        assert is_tree(heads, single_root=single_root)
        assert is_projective(heads) or not projective
        assert np.isfinite(tree.log_prob(heads)) and tree.log_prob(heads) <= 0
    best = tree_scores(scores, tree.argmax()[None])[0]  # exactly rounded, which tree.score is not
    assert best >= values.max() - rounding_of_argmax(scores, projective)


@spaces
@pytest.mark.parametrize("labelled", [False, True])
def test_padding_and_batch_never_change_an_answer(projective, single_root, labelled):
    rng = np.random.default_rng(3)
    lengths = [3, 0, 5, 1, 5]
    batch = np.full((5, 8, 8, 2) if labelled else (5, 8, 8), np.nan)
    alone = []
    for b, n in enumerate(lengths):
        scores = labelled_scores(rng, n, 2, 5.0) if labelled else random_scores(rng, n, 5.0)
        batch[b, : n + 1, : n + 1] = scores
        alone.append(TreeDistribution(scores, projective=projective, single_root=single_root, labelled=labelled))
    together = TreeDistribution(
        batch, projective=projective, single_root=single_root, lengths=lengths, labelled=labelled
    )
    np.testing.assert_array_equal(together.log_partition, [tree.log_partition for tree in alone])
    np.testing.assert_array_equal(together.entropy, [tree.entropy for tree in alone])
    assert together.marginals.shape == batch.shape
    for result in (together.argmax(), together.mbr()):
        for part in result if labelled else (result,):
            assert part.shape == (5, 7)
    heads = together.argmax()
    log_prob = together.log_prob(*heads) if labelled else together.log_prob(heads)
    for b, n in enumerate(lengths):
        np.testing.assert_array_equal(together.marginals[b, : n + 1, : n + 1], alone[b].marginals)
        assert not together.marginals[b, n + 1 :].any() and not together.marginals[b, :, n + 1 :].any()
        single = alone[b].argmax()
        for whole, part in zip(heads if labelled else (heads,), single if labelled else (single,), strict=True):
            np.testing.assert_array_equal(whole[b, :n], part)
            assert (whole[b, n:] == -1).all()
        assert log_prob[b] == (alone[b].log_prob(*single) if labelled else alone[b].log_prob(single))


@spaces
def test_float32_scores_are_computed_exactly(projective, single_root):
    scores = random_scores(np.random.default_rng(5), 5, 30.0).astype(np.float32)
    tree = TreeDistribution(scores, projective=projective, single_root=single_root)
    marginals = enumerate_distribution(scores.astype(float), projective=projective, single_root=single_root)[4]
    assert tree.marginals.dtype == np.float64
    np.testing.assert_allclose(tree.marginals, marginals, rtol=0, atol=1e-12)


def test_integers_strides_and_fortran_order_are_read_alike():
    scores = np.random.default_rng(6).integers(-3, 4, size=(5, 5))
    expected = TreeDistribution(scores.astype(float)).marginals
    wide = np.zeros((10, 15))
    wide[::2, ::3] = scores
    for other in (scores, scores.tolist(), np.asfortranarray(scores), wide[::2, ::3], scores.astype(np.int8)):
        np.testing.assert_array_equal(TreeDistribution(other).marginals, expected)


def test_gradient_of_log_partition_is_the_marginals():
    scores = random_scores(np.random.default_rng(8), 4)
    tree = TreeDistribution(scores)
    for head, modifier in [(0, 2), (3, 1), (1, 4)]:
        up, down = scores.copy(), scores.copy()
        up[head, modifier] += 1e-6
        down[head, modifier] -= 1e-6
        slope = (TreeDistribution(up).log_partition - TreeDistribution(down).log_partition) / 2e-6
        assert tree.marginals[head, modifier] == pytest.approx(slope, abs=1e-8)


@spaces
def test_sentences_without_words(projective, single_root):
    tree = TreeDistribution([[math.nan]], projective=projective, single_root=single_root)
    assert tree.log_partition == 0 and tree.entropy == 0 and tree.log_prob([]) == 0
    assert tree.argmax().shape == tree.mbr().shape == (0,) and not tree.marginals.any()
    empty = TreeDistribution(np.zeros((0, 3, 3)), projective=projective, single_root=single_root)
    assert empty.log_partition.shape == (0,) and empty.argmax().shape == (0, 2)


def test_heads_outside_the_space_have_probability_zero():
    tree = TreeDistribution(np.zeros((5, 5)), projective=True)
    assert tree.log_prob([2, 0, 2, 3]) == pytest.approx(-math.log(30))  # 30 projective single-root trees of 4 words
    assert tree.log_prob([3, 0, 2, 3]) == -math.inf  # crossing
    assert tree.log_prob([0, 0, 2, 3]) == -math.inf  # two roots
    assert tree.log_prob([2, 1, 0, 3]) == -math.inf  # a cycle
    assert tree.score([2, 1, 0, 3]) == 0
    assert tree.score([1, 0, 2, 3]) == -math.inf  # no word is its own head


BAD_SCORES = [
    (dict(scores=np.zeros((3, 4))), r"square over heads and modifiers.*\(3, 4\)"),
    (dict(scores=np.zeros(3)), r"shape \(n\+1, n\+1\) or \(B, N\+1, N\+1\), not \(3,\)"),
    (dict(scores=np.zeros((0, 0))), r"square"),
    (dict(scores=np.zeros((2, 3, 3, 3))), r"not \(2, 3, 3, 3\)"),
    (dict(scores=np.zeros((3, 3)), labelled=True), r"\(n\+1, n\+1, L\)"),
    (dict(scores=np.zeros((3, 3, 0)), labelled=True), r"one label or more"),
    (dict(scores=[["a", "b"], ["c", "d"]]), r"real numbers"),
    (dict(scores=np.zeros((2, 2), dtype=complex)), r"real numbers.*complex"),
    (dict(scores=[[0, math.nan], [0, 0]]), r"scores\[0, 1\] is nan"),
    (dict(scores=[[[0, 0], [0, 0]], [[0, math.inf], [0, 0]]]), r"scores\[1, 0, 1\] is inf"),
    (dict(scores=np.zeros((3, 3)), lengths=[2]), r"lengths belong to a batch"),
    (dict(scores=np.zeros((2, 3, 3)), lengths=[2]), r"lengths must be 2 integers"),
    (dict(scores=np.zeros((2, 3, 3)), lengths=[2.0, 1.0]), r"lengths must be 2 integers"),
    (dict(scores=np.zeros((2, 3, 3)), lengths=[2, 3]), r"lengths\[1\] is 3, but must be in 0\.\.2"),
    (dict(scores=np.zeros((2, 3, 3)), lengths=[-1, 2]), r"lengths\[0\] is -1"),
]


@pytest.mark.parametrize("arguments,message", BAD_SCORES)
def test_bad_scores_are_named(arguments, message):
    with pytest.raises(ValueError, match=message):
        TreeDistribution(**arguments)


def test_bad_trees_are_named():
    tree = TreeDistribution(np.zeros((4, 4)))
    for heads, message in [
        ([0, 1], r"heads must be integers of the shape \(3,\)"),
        ([0.0, 1.0, 1.0], "heads must be integers"),
        ([0, 1, 4], r"heads\[2\] is 4, but must be in 0\.\.3"),
        ([0, -1, 1], r"heads\[1\] is -1"),
    ]:
        with pytest.raises(ValueError, match=message):
            tree.score(heads)
    with pytest.raises(ValueError, match="unlabelled"):
        tree.log_prob([0, 1, 1], labels=[0, 0, 0])
    labelled = TreeDistribution(np.zeros((4, 4, 2)), labelled=True)
    with pytest.raises(ValueError, match="give the labels"):
        labelled.score([0, 1, 1])
    with pytest.raises(ValueError, match=r"label is 2, but must be in 0\.\.1"):
        labelled.score([0, 1, 1], [0, 1, 2])


def forbid(n: int, *arcs: tuple[int, int]) -> np.ndarray:
    scores = np.zeros((n + 1, n + 1))
    for head, modifier in arcs:
        scores[head, modifier] = -math.inf
    return scores


NO_TREE = [
    (forbid(3, (0, 2), (1, 2), (3, 2)), {}, "word 2 has no possible head"),
    (forbid(3, (0, 1), (0, 2), (0, 3)), {}, "no word may be the root"),
    (forbid(4, (0, 3), (1, 3), (2, 3), (0, 4), (1, 4), (2, 4)), {}, "words 3, 4 have no path of allowed arcs"),
    (forbid(2, (1, 2), (2, 1)), {}, "words 1, 2 have no possible head but the root"),
    (
        forbid(4, (3, 1), (4, 1), (3, 2), (4, 2), (1, 3), (2, 3), (1, 4), (2, 4)),
        {},
        "no single root reaches all 4 words: below word 1, words 3, 4 have no path",
    ),
    # 3 -> 1 and 4 -> 2 are forced and cross.
    (
        forbid(4, (0, 1), (2, 1), (4, 1), (0, 2), (1, 2), (3, 2)),
        {"projective": True},
        "every projective tree needs a forbidden arc",
    ),
]


@pytest.mark.parametrize("scores,space,reason", NO_TREE)
def test_no_tree_says_why(scores, space, reason):
    tree = TreeDistribution(scores, **space)
    assert tree.log_partition == -math.inf
    heads = np.zeros(len(scores) - 1, dtype=int)
    for ask in (
        lambda: tree.marginals,
        lambda: tree.entropy,
        tree.argmax,
        tree.mbr,
        lambda: tree.log_prob(heads),
    ):
        with pytest.raises(NoTreeError, match=f"the sentence has no tree with positive weight: {re.escape(reason)}"):
            ask()


def test_no_tree_names_the_sentence_of_a_batch():
    batch = np.stack([forbid(2), forbid(2, (0, 1), (2, 1))])
    tree = TreeDistribution(batch)
    assert tree.log_partition[0] == pytest.approx(math.log(2)) and tree.log_partition[1] == -math.inf
    with pytest.raises(NoTreeError, match=r"sentence 1 of the batch .* word 1 has no possible head"):
        tree.argmax()


def test_inference_imports_neither_spacy_nor_thinc():
    import subprocess
    import sys

    code = "import sys, spacy_mtt; sys.exit(any(m in sys.modules for m in ('spacy', 'thinc')))"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
