"""Constrained distributions and the probability of sets of arcs, against enumeration; every bad arc is named."""

import itertools
import math
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.inference.constraints import constrained_scores, log_prob_arcs
from spacy_mtt.inference.feasibility import NoTreeError, explain_no_tree
from spacy_mtt.inference.posterior import Posterior
from tests.inference.expectations_support import Enumerated, posterior
from tests.oracle import SPACES, all_trees
from tests.strategies import random_scores, score_matrices

spaces = pytest.mark.parametrize("projective,single_root", SPACES)
SCALES = [1.0, 30.0, 1000.0, 3000.0]


def draw_scores(rng, n, n_labels, scale, masked=0.0):
    if not n_labels:
        return random_scores(rng, n, scale, masked)
    return np.stack([random_scores(rng, n, scale, masked) for _ in range(n_labels)], axis=-1)


def draw_arc(rng, n, n_labels):
    modifier = int(rng.integers(1, n + 1))
    head = int(rng.choice([h for h in range(n + 1) if h != modifier]))
    return (head, modifier, int(rng.integers(n_labels))) if n_labels and rng.random() < 0.5 else (head, modifier)


def has(oracle, arc):
    """Which enumerated trees have `arc`."""
    return oracle.x[(slice(None), *arc)].reshape(len(oracle.x), -1).any(axis=1)


# ---- constrained scores


@spaces
@pytest.mark.parametrize("n_labels", [0, 2])
@pytest.mark.parametrize("scale", [1.0, 300.0])
def test_constrained_distribution_is_the_conditional_one(projective, single_root, n_labels, scale):
    rng = np.random.default_rng([1, n_labels])
    feasible = 0
    for _ in range(30):
        n = 3 if n_labels else 4
        scores = draw_scores(rng, n, n_labels, scale)
        oracle = Enumerated(scores, projective, single_root)
        arcs = list({arc[1]: arc for arc in (draw_arc(rng, n, n_labels) for _ in range(3))}.values())
        required, forbidden = arcs[:1], arcs[1:]
        mask = rng.random(scores.shape if rng.random() < 0.5 else scores.shape[:2]) < 0.8
        mask[required[0][: mask.ndim]] = True
        given_scores = constrained_scores(
            scores, required=required, forbidden=forbidden, mask=mask, labelled=bool(n_labels)
        )
        agrees = has(oracle, required[0])
        for arc in forbidden:
            agrees &= ~has(oracle, arc)
        ruled_out = ~(mask if mask.ndim == scores.ndim else np.broadcast_to(mask[..., None], scores.shape))
        agrees &= ~oracle.x[:, ruled_out].any(axis=1)
        p = posterior(given_scores, projective, single_root)
        if not agrees.any():
            assert p.log_z[0] == -np.inf
            continue
        feasible += 1
        log_p = oracle.log_p[agrees]
        weights = np.exp(log_p - log_p.max())
        conditional = np.tensordot(weights / weights.sum(), oracle.x[agrees], axes=1)
        np.testing.assert_allclose(p.marginals[0], conditional, rtol=0, atol=1e-12)
    assert feasible > 5


def test_constrained_scores_keep_what_is_allowed():
    scores = random_scores(np.random.default_rng(2), 3)
    before = scores.copy()
    out = constrained_scores(scores, required=[(0, 2)], forbidden=[(3, 1)])
    np.testing.assert_array_equal(scores, before)
    expected = scores.copy()
    expected[1, 2] = expected[3, 2] = expected[3, 1] = -np.inf
    np.testing.assert_array_equal(out, expected)
    np.testing.assert_array_equal(constrained_scores(scores), scores)
    assert constrained_scores(scores) is not scores
    assert constrained_scores(np.zeros((3, 3), dtype=np.float32)).dtype == np.float64


def test_labelled_conditions():
    scores = np.zeros((3, 3, 3))
    out = constrained_scores(scores, required=[(0, 1), (0, 1, 2)], forbidden=[(0, 2), (1, 2, 0)], labelled=True)
    allowed = np.isfinite(out)
    assert allowed[:, 1].sum() == 1 + 3 and allowed[0, 1, 2]  # the diagonal is not an arc and stays
    assert not allowed[0, 2].any() and allowed[1, 2].tolist() == [False, True, True]
    by_arc = constrained_scores(scores, mask=np.eye(3, k=1, dtype=bool), labelled=True)
    assert np.isfinite(by_arc[0, 1]).all() and np.isfinite(by_arc[1, 2]).all() and np.isneginf(by_arc[0, 2]).all()


def test_conditions_of_a_batch():
    rng = np.random.default_rng(3)
    batch, lengths = np.full((3, 5, 5), np.nan), [4, 2, 3]
    for sentence, n in enumerate(lengths):
        batch[sentence, : n + 1, : n + 1] = random_scores(rng, n)
    required, forbidden = [[(0, 1)], None, iter([(1, 2)])], [None, [(0, 1)], ()]
    out = constrained_scores(batch, lengths, required=required, forbidden=forbidden)
    for sentence, (n, need, ban) in enumerate([(4, [(0, 1)], []), (2, [], [(0, 1)]), (3, [(1, 2)], [])]):
        own = constrained_scores(batch[sentence, : n + 1, : n + 1], required=need, forbidden=ban)
        np.testing.assert_array_equal(out[sentence, : n + 1, : n + 1], own)
    mask = np.ones(batch.shape, dtype=bool)
    mask[1, 0, 2] = False
    np.testing.assert_array_equal(np.argwhere(constrained_scores(batch, lengths, mask=mask) == -np.inf), [[1, 0, 2]])
    with pytest.raises(ValueError, match=r"required of sentence 1: \(3, 1\) has the head 3, but heads are 0\.\.2"):
        constrained_scores(batch, lengths, required=[None, [(3, 1)], None])
    with pytest.raises(
        ValueError, match="required must hold one iterable of arcs, or None, for each of the 3 sentences"
    ):
        constrained_scores(batch, lengths, required=[(0, 1), (0, 2)])
    with pytest.raises(ValueError, match=r"the arcs \(0, 1\) and \(2, 1\) of sentence 1 are both required"):
        constrained_scores(batch, lengths, required=[None, [(0, 1), (2, 1)], None])


BAD = [
    ({"required": [(4, 1)]}, "required: (4, 1) has the head 4, but heads are 0..3"),
    ({"forbidden": [(-1, 1)]}, "forbidden: (-1, 1) has the head -1, but heads are 0..3"),
    ({"required": [(1, 0)]}, "required: (1, 0) has the modifier 0, but modifiers are 1..3"),
    ({"required": [(0, 1), (1, 4)]}, "required: (1, 4) has the modifier 4, but modifiers are 1..3"),
    ({"forbidden": [(2, 2)]}, "forbidden: (2, 2) is no arc, since no word heads itself"),
    ({"required": [(1, 2, 0)]}, "required: (1, 2, 0) is not an arc, a pair (head, modifier)"),
    ({"required": [3]}, "required: 3 is not an arc, a pair (head, modifier) of ints"),
    ({"required": 3}, "required must be arcs, pairs (head, modifier), not 3"),
    ({"required": [(0.0, 1)]}, "required: (0.0, 1) is not an arc, a pair (head, modifier) of ints"),
    ({"required": [(0, 1), (2, 1)]}, "the arcs (0, 1) and (2, 1) are both required: two heads of a word"),
    ({"required": [(0, 1)], "forbidden": [(0, 1)]}, "the arc (0, 1) is required and forbidden at once"),
    ({"required": [(1, 2)]}, "the arc (1, 2) is required, but its score is -inf"),
    ({"required": [(0, 2)], "mask": np.eye(4, dtype=bool)}, "the arc (0, 2) is required, but the mask rules it out"),
    ({"mask": np.ones((4, 4))}, "mask must be bool of the shape (4, 4), not float64 (4, 4)"),
    ({"mask": np.ones((3, 4), dtype=bool)}, "mask must be bool of the shape (4, 4), not bool (3, 4)"),
]


@pytest.mark.parametrize("condition,message", BAD)
def test_bad_conditions_are_named(condition, message):
    scores = np.zeros((4, 4))
    scores[1, 2] = -np.inf
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        constrained_scores(scores, **condition)


BAD_LABELLED = [
    ({"required": [(0, 1, 2)]}, "required: (0, 1, 2) has the label 2, but labels are 0..1"),
    ({"required": [(0, 1, 0), (0, 1, 1)]}, "the arcs (0, 1, 0) and (0, 1, 1) are both required: two labels of an arc"),
    ({"required": [(0, 1, 0), (0, 1), (0, 1, 1)]}, "the arcs (0, 1, 0) and (0, 1, 1) are both required: two labels"),
    ({"required": [(0, 1), (2, 1, 1)]}, "the arcs (0, 1) and (2, 1, 1) are both required: two heads of a word"),
    ({"required": [(0, 1, 0)], "forbidden": [(0, 1)]}, "the arc (0, 1, 0) is required and forbidden at once"),
    ({"required": [(1, 2, 1)]}, "the arc (1, 2, 1) is required, but its score is -inf"),
    ({"required": [(1,)]}, "required: (1,) is not an arc, a pair (head, modifier) or a triple (head, modifier, label)"),
]


@pytest.mark.parametrize("condition,message", BAD_LABELLED)
def test_bad_labelled_conditions_are_named(condition, message):
    scores = np.zeros((4, 4, 2))
    scores[1, 2, 1] = -np.inf
    constrained_scores(scores, required=[(1, 2)], labelled=True)
    with pytest.raises(ValueError, match=f"^{re.escape(message)}"):
        constrained_scores(scores, labelled=True, **condition)


# ---- why nothing is left

WHY = [
    (True, False, [(1, 3), (2, 1)], "1 -> 3 covers word 2, so that it descends from word 1 and 2 -> 1 closes a cycle"),
    (True, False, [(1, 2), (2, 3), (3, 1)], "the only possible heads of words 1, 2, 3 form the cycle 1 -> 2 -> 3 -> 1"),
    (False, True, [(4, 2), (2, 4)], "words 2, 4 have no path of allowed arcs from the root: the only possible heads"),
    (False, True, [(0, 2), (0, 4)], "words 2, 4 have no possible head but the root, and only one word may be the root"),
    (True, False, [(2, 4), (1, 3)], "1 -> 3 and 2 -> 4 cross, and are the only arcs into words 3 and 4"),
    (True, True, [(0, 3), (4, 2)], "0 -> 3 and 4 -> 2 cross, and are the only arcs into words 3 and 2"),
]


@pytest.mark.parametrize("projective,single_root,required,message", WHY)
def test_conditions_that_leave_no_tree_say_why(projective, single_root, required, message):
    scores = constrained_scores(np.zeros((5, 5)), required=required)
    assert not len(Enumerated(scores, projective, single_root).x)
    with pytest.raises(NoTreeError, match=re.escape(message)):
        posterior(scores, projective, single_root).require_trees()


def test_words_in_a_cycle_without_any_root_are_named():
    scores = constrained_scores(np.zeros((3, 3)), required=[(1, 2), (2, 1)])
    assert explain_no_tree(scores, projective=False, single_root=False) == (
        "no word may be the root: the only possible heads of words 1, 2 form the cycle 1 -> 2 -> 1"
    )


@spaces
def test_every_pair_of_required_arcs(projective, single_root):
    """Two arcs that exclude each other do so by a cycle, as two roots or in the plane, and the reason names them."""
    nothing = np.zeros((5, 5))
    arcs = [(h, m) for h in range(5) for m in range(1, 5) if h != m]
    p, oracle = posterior(nothing, projective, single_root), Enumerated(nothing, projective, single_root)
    for a, b in itertools.combinations(arcs, 2):
        exact = oracle.log_prob_of([a, b])
        assert log_prob_arcs(p, [[a, b]])[0] == pytest.approx(exact, abs=1e-13)
        if a[1] == b[1]:
            continue
        given_both = posterior(constrained_scores(nothing, required=[a, b]), projective, single_root)
        if exact > -math.inf:
            given_both.require_trees()
            continue
        if a == b[::-1]:
            reason = rf"of words {min(a)}, {max(a)} form the cycle"
        elif a[0] == b[0] == 0 and single_root:
            reason = rf"words {a[1]}, {b[1]} have no possible head but the root"
        else:
            one, other = (f"{head} -> {modifier}" for head, modifier in (a, b))
            reason = f"({one} and {other}|{other} and {one}) cross|({one} covers.*{other}|{other} covers.*{one}) closes"
        with pytest.raises(NoTreeError, match=reason):
            given_both.require_trees()


# ---- the probability of a set of arcs


@spaces
@pytest.mark.parametrize("n_labels", [0, 2])
@pytest.mark.parametrize("scale", SCALES)
def test_log_prob_of_arcs_equals_enumeration(projective, single_root, n_labels, scale):
    rng = np.random.default_rng([4, n_labels, int(scale)])
    for trial in range(20):
        n = 3 if n_labels else 4
        scores = draw_scores(rng, n, n_labels, scale, masked=0.2 if trial % 2 else 0.0)
        oracle = Enumerated(scores, projective, single_root)
        if not len(oracle.x):
            continue
        p = posterior(scores, projective, single_root)
        for size in range(4):
            arcs = [draw_arc(rng, n, n_labels) for _ in range(size)]
            exact = oracle.log_prob_of(arcs)
            assert log_prob_arcs(p, [arcs])[0] == pytest.approx(exact, rel=1e-12, abs=1e-11)
            assert log_prob_arcs(p, arcs, batched=False)[0] == log_prob_arcs(p, [arcs])[0] <= 0


@spaces
@settings(max_examples=30, deadline=None)
@given(scores=score_matrices(max_n=6, scale=1e6, masked=True), seed=st.integers(0, 1000))
def test_log_prob_of_arcs_of_any_scale(projective, single_root, scores, seed):
    p = posterior(scores, projective, single_root)
    if np.isneginf(p.log_z[0]):
        with pytest.raises(NoTreeError):
            log_prob_arcs(p, [[]])
        return
    n, rng = len(scores) - 1, np.random.default_rng(seed)
    assert log_prob_arcs(p, [[]])[0] == log_prob_arcs(p, [None])[0] == 0.0
    arcs = [draw_arc(rng, n, 0) for _ in range(2)]
    each = [log_prob_arcs(p, [[arc]])[0] for arc in arcs]
    both = log_prob_arcs(p, [arcs])[0]
    assert both <= min(each) + 1e-8 and not np.isnan(both)
    for arc, log_prob in zip(arcs, each, strict=True):
        assert math.exp(log_prob) == pytest.approx(p.mu[(0, *arc)], abs=1e-8)


@spaces
def test_a_whole_tree(projective, single_root):
    rng = np.random.default_rng(5)
    scores = random_scores(rng, 5, 20.0)
    p = posterior(scores, projective, single_root)
    for heads in all_trees(5, projective, single_root)[::50].tolist():
        arcs = [(h, m) for m, h in enumerate(heads, start=1)]
        expected = math.fsum([*(scores[arc] for arc in arcs), -p.log_z[0]])
        assert log_prob_arcs(p, [arcs])[0] == pytest.approx(expected, abs=1e-11)


def test_log_prob_of_arcs_in_a_batch():
    rng = np.random.default_rng(6)
    batch, lengths = np.full((3, 6, 6), np.nan), np.array([5, 0, 3], dtype=np.intp)
    for sentence, n in enumerate(lengths):
        batch[sentence, : n + 1, : n + 1] = random_scores(rng, n, 5.0)
    batch.flags.writeable = False
    p = Posterior(batch, lengths, projective=False, single_root=True)
    got = log_prob_arcs(p, [[(1, 2), (0, 1)], None, [(0, 1), (0, 2)]])
    alone = log_prob_arcs(posterior(batch[0], False, True), [[(1, 2), (0, 1)]])[0]
    assert got.tolist() == [alone, 0.0, -np.inf]
    with pytest.raises(ValueError, match=r"arcs of sentence 2: \(4, 1\) has the head 4, but heads are 0\.\.3"):
        log_prob_arcs(p, [None, None, [(4, 1)]])
    with pytest.raises(ValueError, match="arcs must hold one iterable of arcs"):
        log_prob_arcs(p, [[(0, 1)]])
