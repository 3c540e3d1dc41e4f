import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from spacy_mtt.inference.arborescence import argmax
from spacy_mtt.inference.trees import is_tree
from tests.inference.hard_arborescences import (
    cancelling_scores,
    chain_of_contractions,
    nested_pairs,
    one_cycle,
    rooted_pairs,
)
from tests.inference.reference_arborescence import exact_score, reference_score
from tests.oracle import all_trees, tree_scores
from tests.strategies import poison_unread, random_scores, score_matrices

BOTH = pytest.mark.parametrize("single_root", [False, True])


def best_tree(scores: np.ndarray, *, single_root: bool) -> np.ndarray:
    """The answer for one sentence, from read-only scores."""
    scores = np.ascontiguousarray(scores[None])
    scores.flags.writeable = False
    return argmax(scores, np.array([scores.shape[1] - 1], dtype=np.intp), single_root=single_root)[0]


def assert_best_of_all(scores: np.ndarray, *, single_root: bool) -> None:
    """The answer is a tree of the space with the best score of all trees; or all -1 if there is none."""
    n = len(scores) - 1
    heads = best_tree(scores, single_root=single_root)
    best = tree_scores(scores, all_trees(n, False, single_root)).max()
    if np.isneginf(best):
        assert (heads == -1).all()
    else:
        assert is_tree(heads, single_root=single_root)
        assert tree_scores(scores, heads[None])[0] == best


def assert_matches_reference(scores: np.ndarray, *, single_root: bool) -> None:
    heads = best_tree(scores, single_root=single_root)
    best = reference_score(scores, single_root=single_root)
    if best is None:
        assert (heads == -1).all()
    else:
        assert is_tree(heads, single_root=single_root)
        assert exact_score(scores, heads) == best


# Against enumeration


@BOTH
@pytest.mark.parametrize("n", [1, 2, 3, 4, 5])
@pytest.mark.parametrize("scale", [1.0, 100.0, 1e6])
@pytest.mark.parametrize("masked", [0.0, 0.3, 0.6])
def test_best_of_all_trees(n, scale, masked, single_root):
    rng = np.random.default_rng([n, int(scale), int(10 * masked)])
    for _ in range(30):
        assert_best_of_all(random_scores(rng, n, scale, masked), single_root=single_root)


@BOTH
@pytest.mark.parametrize("n", [2, 3, 4, 5])
@pytest.mark.parametrize(
    "draw",
    [
        lambda rng, shape: rng.normal(size=shape) * rng.choice([1e6, 1.0, 1e-6], size=shape),
        lambda rng, shape: rng.choice([1e6, 1e6 + 1e-6, -1e6], size=shape) + rng.choice([0, 1e-6], size=shape),
        lambda rng, shape: rng.integers(0, 2, size=shape).astype(float),
        lambda rng, shape: rng.integers(-3, 4, size=shape).astype(float),
        lambda rng, shape: np.zeros(shape),
        lambda rng, shape: rng.exponential(size=shape),
        lambda rng, shape: -rng.exponential(size=shape),
        lambda rng, shape: rng.choice([-1e30, -1.0, 0.5, 1e-3], size=shape),
    ],
    ids=["mixed", "near-ties", "binary", "integer", "equal", "positive", "negative", "finite-masks"],
)
def test_best_of_all_trees_on_awkward_scores(n, draw, single_root):
    rng = np.random.default_rng(n)
    for _ in range(40):
        assert_best_of_all(poison_unread(draw(rng, (n + 1, n + 1))), single_root=single_root)


@BOTH
@given(data=st.data())
def test_best_of_all_trees_property(data, single_root):
    assert_best_of_all(data.draw(score_matrices(max_n=4, masked=True)), single_root=single_root)


@BOTH
@settings(max_examples=200)
@given(data=st.data())
def test_any_finite_scores_stay_within_the_stated_bound(data, single_root):
    n = data.draw(st.integers(1, 4))
    finite = st.floats(allow_nan=False, allow_infinity=False)
    scores = poison_unread(data.draw(arrays(np.float64, (n + 1, n + 1), elements=finite)))
    heads = best_tree(scores, single_root=single_root)
    assert is_tree(heads, single_root=single_root)
    best = max(exact_score(scores, tree) for tree in all_trees(n, False, single_root))
    bound = Fraction(n**3, 2**101) * Fraction(float(np.nanmax(np.abs(scores))))
    assert best - exact_score(scores, heads) <= bound


# Against the reference, beyond the reach of enumeration


@BOTH
@pytest.mark.parametrize("n", [8, 12, 17])
@pytest.mark.parametrize("masked", [0.0, 0.5, 0.8])
def test_matches_reference_on_random_scores(n, masked, single_root):
    rng = np.random.default_rng([n, int(10 * masked)])
    for scale in (1.0, 1e6):
        scores = random_scores(rng, n, scale, masked)
        assert_matches_reference(scores, single_root=single_root)
        assert_matches_reference(poison_unread(np.rint(scores)), single_root=single_root)


@BOTH
@pytest.mark.parametrize("n", [2, 5, 12, 16])
@pytest.mark.parametrize("build", [one_cycle, chain_of_contractions, nested_pairs, rooted_pairs])
def test_matches_reference_on_many_contractions(build, n, single_root):
    rng = np.random.default_rng(n)
    scores = poison_unread(build(rng, n))
    assert_matches_reference(scores, single_root=single_root)
    order = np.concatenate([[0], rng.permutation(np.arange(1, n + 1))])
    assert_matches_reference(scores[np.ix_(order, order)], single_root=single_root)


@pytest.mark.parametrize("n", [10, 20, 30])
def test_single_root_is_the_best_over_fixed_roots(n):
    rng = np.random.default_rng(n)
    for masked in (0.0, 0.3, 0.7):
        scores = random_scores(rng, n, 5.0, masked)
        totals = []
        for root in range(1, n + 1):
            trial = scores.copy()
            trial[0, np.arange(n + 1) != root] = -np.inf
            heads = best_tree(trial, single_root=False)
            if heads[0] >= 0:
                totals.append(tree_scores(scores, heads[None])[0])
        heads = best_tree(scores, single_root=True)
        assert is_tree(heads, single_root=True)
        assert tree_scores(scores, heads[None])[0] == max(totals)


@BOTH
@pytest.mark.parametrize("build", [one_cycle, chain_of_contractions, nested_pairs, rooted_pairs])
@pytest.mark.parametrize("n", [40, 101, 200])
def test_answers_are_trees_at_length(build, n, single_root):
    rng = np.random.default_rng(n)
    for scores in (poison_unread(build(rng, n)), random_scores(rng, n), random_scores(rng, n, 1.0, 0.7)):
        heads = best_tree(scores, single_root=single_root)
        assert is_tree(heads, single_root=single_root)
        assert np.isfinite(tree_scores(scores, heads[None])[0])


# Size


@BOTH
@pytest.mark.parametrize("n", [2, 3, 4, 5])
def test_differences_far_below_the_precision_of_the_scores_sums(n, single_root):
    rng = np.random.default_rng(n)
    trees = all_trees(n, False, single_root)
    words = np.arange(1, n + 1)
    for _ in range(150):
        integers, scores = cancelling_scores(rng, n)
        heads = best_tree(scores, single_root=single_root)
        assert is_tree(heads, single_root=single_root)
        assert integers[heads, words].sum() == integers[trees, words].sum(axis=1).max()


@BOTH
@pytest.mark.parametrize("n", [8, 13])
def test_small_differences_matter_through_many_contractions(n, single_root):
    rng = np.random.default_rng(n)
    for _ in range(8):
        assert_matches_reference(cancelling_scores(rng, n)[1], single_root=single_root)


@BOTH
@pytest.mark.parametrize("unit", [1e308, 2.0**1000, 1e-300, 5e-324])
def test_scores_at_the_ends_of_the_range(unit, single_root):
    rng = np.random.default_rng(0)
    for n in (2, 3, 4, 5):
        for _ in range(20):
            integers = poison_unread(rng.integers(-1, 2, size=(n + 1, n + 1)).astype(float))
            heads = best_tree(integers * unit, single_root=single_root)
            best = tree_scores(integers, all_trees(n, False, single_root)).max()
            assert tree_scores(integers, heads[None])[0] == best


@BOTH
@pytest.mark.parametrize("mask", [-1e9, -1e30, float(np.finfo(np.float32).min), float(np.finfo(np.float64).min)])
def test_masks_written_as_large_negative_numbers(mask, single_root):
    """They act as -inf wherever a tree without them exists: the rest of the scores keep their resolution."""
    rng = np.random.default_rng(1)
    compared = 0
    for _ in range(60):
        scores = random_scores(rng, 6, 1.0, 0.4)
        heads = best_tree(scores, single_root=single_root)
        masked = best_tree(np.where(np.isneginf(scores), mask, scores), single_root=single_root)
        assert is_tree(masked, single_root=single_root)
        if heads[0] >= 0:
            compared += 1
            assert masked.tolist() == heads.tolist()
    assert compared > 20


# No tree


@BOTH
def test_no_tree(single_root):
    no_head = random_scores(np.random.default_rng(0), 4)
    no_head[:, 3] = -np.inf
    assert best_tree(no_head, single_root=single_root).tolist() == [-1] * 4
    closed_cycle = random_scores(np.random.default_rng(0), 4)
    closed_cycle[[0, 1, 4], 2] = closed_cycle[[0, 1, 4], 3] = -np.inf
    assert best_tree(closed_cycle, single_root=single_root).tolist() == [-1] * 4


def test_two_forced_roots():
    scores = random_scores(np.random.default_rng(0), 4)
    scores[1:, 2] = scores[1:, 3] = -np.inf
    assert is_tree(best_tree(scores, single_root=False))
    assert best_tree(scores, single_root=True).tolist() == [-1] * 4


@BOTH
@pytest.mark.parametrize("n", [6, 15, 40])
def test_a_tree_is_found_wherever_one_exists(n, single_root):
    """Against reachability, at a share of masks where about half the sentences have a tree."""
    rng = np.random.default_rng(n)
    found = []
    for _ in range(100):
        scores = random_scores(rng, n, 1.0, 1 - (1 + math.log(n)) / n)
        allowed = scores > -np.inf
        starts = np.flatnonzero(allowed[0])
        if single_root:
            exists = any(reachable(allowed, {int(start)}) for start in starts)
        else:
            exists = reachable(allowed, {int(start) for start in starts})
        heads = best_tree(scores, single_root=single_root)
        if exists:
            assert is_tree(heads, single_root=single_root)
            assert allowed[heads, np.arange(1, n + 1)].all()
        else:
            assert (heads == -1).all()
        found.append(exists)
    assert 5 < sum(found) < 95


def reachable(allowed: np.ndarray, starts: set[int]) -> bool:
    """Whether the words `starts` reach all words over allowed arcs that do not leave the root."""
    reached, agenda = set(starts), list(starts)
    while agenda:
        for m in np.flatnonzero(allowed[agenda.pop()]):
            if m and m not in reached:
                reached.add(int(m))
                agenda.append(int(m))
    return len(reached) == len(allowed) - 1


# Ties, batches, memory


def test_ties_follow_the_stated_rule():
    def zeros(n):
        return poison_unread(np.zeros((n + 1, n + 1)))

    assert best_tree(zeros(4), single_root=False).tolist() == [0, 0, 0, 0]
    lowest_heads = zeros(3)
    lowest_heads[2, 1] = lowest_heads[3, 1] = lowest_heads[0, 2] = lowest_heads[1, 3] = lowest_heads[2, 3] = 1.0
    assert best_tree(lowest_heads, single_root=True).tolist() == [2, 0, 1]
    # The cycle 1 <-> 2 is entered equally well from 0 and 3, at 1 and 2: from 0, at 1, where the path began.
    pair = zeros(3)
    pair[1, 2] = pair[2, 1] = 5.0
    assert best_tree(pair, single_root=False).tolist() == [0, 1, 0]


@BOTH
@given(data=st.data())
def test_padding_and_batch_position_change_nothing(data, single_root):
    """Ties abound here (scores 0, 1, -inf); padding and all other entries that do not exist hold garbage."""
    garbage = data.draw(st.sampled_from([np.nan, np.inf, 1e308, 7.0, -np.inf]))
    elements = st.sampled_from([0.0, 1.0, 1.0, -np.inf])
    lengths = np.array(data.draw(st.lists(st.integers(0, 7), min_size=1, max_size=5)), dtype=np.intp)
    nodes = int(lengths.max()) + 1 + data.draw(st.integers(0, 3))
    scores = np.full((len(lengths), nodes, nodes), garbage)
    sentences = []
    for row, n in zip(scores, lengths, strict=True):
        sentence = poison_unread(data.draw(arrays(np.float64, (int(n) + 1, int(n) + 1), elements=elements)))
        sentences.append(sentence)
        row[: n + 1, : n + 1] = np.where(np.isnan(sentence), garbage, sentence)
    before = scores.copy()
    scores.flags.writeable = lengths.flags.writeable = False
    heads = argmax(scores, lengths, single_root=single_root)
    assert heads.dtype == np.intp and heads.shape == (len(lengths), nodes - 1)
    assert scores.tobytes() == before.tobytes()
    for row, sentence, n in zip(heads, sentences, lengths, strict=True):
        assert (row[n:] == -1).all()
        assert row[:n].tolist() == best_tree(sentence, single_root=single_root).tolist()


@BOTH
def test_a_large_score_in_the_batch_leaves_other_sentences_alone(single_root):
    rng = np.random.default_rng(3)
    scores = np.stack([random_scores(rng, 6), random_scores(rng, 6, 1e307), random_scores(rng, 6)])
    heads = argmax(scores, np.full(3, 6, dtype=np.intp), single_root=single_root)
    for row, sentence in zip(heads, scores, strict=True):
        assert row.tolist() == best_tree(sentence, single_root=single_root).tolist()


@BOTH
def test_empty_sentences_and_batches(single_root):
    def shape_of(batch, nodes):
        scores = np.full((batch, nodes, nodes), np.nan)
        return argmax(scores, np.zeros(batch, dtype=np.intp), single_root=single_root)

    assert shape_of(0, 1).shape == (0, 0)
    assert shape_of(0, 5).shape == (0, 4)
    assert shape_of(3, 1).shape == (3, 0)
    assert shape_of(2, 4).tolist() == [[-1] * 3] * 2


@BOTH
def test_one_word(single_root):
    assert best_tree(poison_unread(np.array([[0.0, -3.0], [0.0, 0.0]])), single_root=single_root).tolist() == [0]
    assert best_tree(poison_unread(np.full((2, 2), -np.inf)), single_root=single_root).tolist() == [-1]
