"""Projective sums on hard scores, against 50-digit arithmetic, and where plain doubles give way."""

from __future__ import annotations

import math

import numpy as np
import pytest

from spacy_mtt.inference import eisner
from tests.inference.eisner_support import (
    ROOTS,
    argmax,
    assert_agree,
    column_maxima,
    exact_inside_outside,
    inside_outside,
    intp,
)
from tests.oracle import enumerate_distribution
from tests.strategies import poison_unread, random_scores


def lower_root(scores, by):
    scores = scores.copy()
    scores[0] -= by
    return scores


def two_word_cycle(n, strength):
    scores = np.zeros((n + 1, n + 1))
    scores[1, 2] = scores[2, 1] = strength
    return poison_unread(scores)


def raise_row_and_column(rng, n):
    scores = random_scores(rng, n, 2.0)
    scores[n // 2] += 1000
    scores[:, n - 1] += 1000
    return scores


def one_tree_left(rng, n, single_root):
    """Scores with the arcs of one projective tree alone, drawn by the decoder itself."""
    scores = random_scores(rng, n, 100.0)
    heads = argmax(scores, single_root)
    only = np.full_like(scores, -np.inf)
    only[heads, np.arange(1, n + 1)] = scores[heads, np.arange(1, n + 1)]
    return only


def hard_cases(rng, n, single_root):
    for scale in (1, 10, 30, 100, 300, 3000):
        yield f"normal x {scale}", random_scores(rng, n, scale)
        yield f"normal x {scale}, half the arcs", random_scores(rng, n, scale, 0.5)
    for strength in (30, 100, 1000):
        yield f"cycle {strength}", two_word_cycle(n, strength)
    for by in (40, 400):
        yield f"root lowered by {by}", lower_root(random_scores(rng, n), by)
        yield f"root raised by {by}", lower_root(random_scores(rng, n), -by)
    yield "row and column raised", raise_row_and_column(rng, n)
    yield "one tree left", one_tree_left(rng, n, single_root)


@ROOTS
@pytest.mark.parametrize("n", [3, 8, 20])
def test_equals_extended_precision(n, single_root):
    for name, scores in hard_cases(np.random.default_rng([n, single_root]), n, single_root):
        expected = exact_inside_outside(scores, single_root)
        assert_agree(inside_outside(scores, single_root), expected, name)
        assert_agree(inside_outside(scores, single_root, wide_only=True), expected, f"{name}, wide path")


@ROOTS
@pytest.mark.parametrize("scale", [1, 30, 300])
def test_equals_extended_precision_forty_words(scale, single_root):
    scores = random_scores(np.random.default_rng([40, scale]), 40, scale)
    expected = exact_inside_outside(scores, single_root)
    assert_agree(inside_outside(scores, single_root), expected, scale)
    assert_agree(inside_outside(scores, single_root, wide_only=True), expected, f"{scale}, wide path")


@ROOTS
def test_extended_precision_oracle_equals_enumeration(single_root):
    scores = random_scores(np.random.default_rng(4), 4, 5.0, 0.2)
    _, _, log_z, _, mu = enumerate_distribution(scores, projective=True, single_root=single_root)
    expected = (log_z, log_z - column_maxima(scores).sum(), mu)
    assert_agree(exact_inside_outside(scores, single_root), expected, "oracle")


def rejected(scores, single_root):
    out = np.zeros(1, dtype=np.uint8)
    empty = np.zeros((0, *scores.shape))
    eisner._eisner.inside_outside(
        scores[None], intp(len(scores) - 1), single_root, np.zeros(1), np.zeros(1), empty, out
    )
    return bool(out[0])


@ROOTS
def test_plain_doubles_are_used_where_they_suffice_and_only_there(single_root):
    rng = np.random.default_rng(1)
    assert not rejected(random_scores(rng, 30, 10.0), single_root)
    assert not rejected(poison_unread(np.zeros((331, 331))), single_root)
    assert not rejected(poison_unread(np.zeros((341, 341))), single_root)  # rescaled
    assert not rejected(random_scores(rng, 300), single_root)
    assert rejected(random_scores(rng, 20, 1000.0), single_root)
    cycle = two_word_cycle(2, 1000.0)
    cycle[2, 1] = 0.0
    assert not rejected(cycle, single_root)
    cycle[0, 1] = -1000.0
    assert rejected(cycle, single_root)  # every tree lies far below the best heads


@ROOTS
def test_paths_agree_where_plain_doubles_end(single_root):
    # With n = 3 plain doubles end at log Z' = 5.7 - 640: at -317 for each of two arcs, or -634 for one.
    scores = random_scores(np.random.default_rng(8), 3)
    taken = set()
    for by in np.linspace(300, 720, 43):
        for arcs in (np.s_[0, :], np.s_[1:, 1]):
            lowered = scores.copy()
            lowered[arcs] -= by
            taken.add(rejected(lowered, single_root))
            assert_agree(inside_outside(lowered, single_root), inside_outside(lowered, single_root, True), by)
    assert taken == {False, True}


@ROOTS
@pytest.mark.parametrize("n", [250, 335, 336, 700])
def test_the_number_of_projective_trees(n, single_root):
    """Scores of zero: log Z is the log of a number with 1500 bits and more."""
    trees = math.comb(3 * n - 2, n - 1) // n if single_root else math.comb(3 * n, n) // (2 * n + 1)
    scores = poison_unread(np.zeros((n + 1, n + 1)))
    assert not rejected(scores, single_root)
    log_z, excess, mu = inside_outside(scores, single_root)
    assert log_z == excess == pytest.approx(math.log(trees), rel=1e-13)
    np.testing.assert_allclose(mu[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-12)
    np.testing.assert_allclose(mu[1:, 1:], mu[1:, 1:][::-1, ::-1], rtol=1e-11)  # the language reads both ways


@ROOTS
@pytest.mark.parametrize("scale", [1.0, 2.0])
def test_words_without_a_head_that_stands_out(scale, single_root):
    """Z far below the product of the best weights, with arcs that no tree can use and words only one arc can reach."""
    scores = random_scores(np.random.default_rng(int(scale)), 240, scale)
    scores[:, 40] = -np.inf
    scores[39, 40] = 0.0
    scores[100:104, 100:104] -= 30.0
    assert not rejected(scores, single_root)
    found, expected = inside_outside(scores, single_root), inside_outside(scores, single_root, wide_only=True)
    assert found[0] == pytest.approx(expected[0], rel=1e-13) and found[1] == pytest.approx(expected[1], rel=1e-12)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-10, atol=0)


@ROOTS
@pytest.mark.parametrize("clear", ["first", "last"])
def test_sentences_whose_end_is_unlike_their_beginning(clear, single_root):
    """The last 128 words tell which way to go first; where they mislead, the other way is found."""
    scores = random_scores(np.random.default_rng(9), 300)
    words = np.s_[1:150] if clear == "first" else np.s_[150:301]
    heads = np.arange(301)[words] - 1  # each word of the clear part hangs from the word before it
    scores[heads, heads + 1] += 300.0
    assert rejected(scores, single_root) == (clear == "last")  # some of its spans are then out of range
    found, expected = inside_outside(scores, single_root), inside_outside(scores, single_root, wide_only=True)
    assert found[0] == pytest.approx(expected[0], rel=1e-13) and found[1] == pytest.approx(expected[1], rel=1e-12)
    np.testing.assert_allclose(found[2], expected[2], rtol=1e-10, atol=1e-300)


@ROOTS
@pytest.mark.parametrize("n", [100, 336])
def test_both_paths_agree_on_long_sentences(n, single_root):
    scores = random_scores(np.random.default_rng(n), n, 1.0)
    log_z, excess, mu = inside_outside(scores, single_root)
    wide_log_z, wide_excess, wide_mu = inside_outside(scores, single_root, wide_only=True)
    assert log_z == pytest.approx(wide_log_z, rel=1e-13) and excess == pytest.approx(wide_excess, rel=1e-13)
    np.testing.assert_allclose(mu, wide_mu, rtol=1e-11, atol=0)
    np.testing.assert_allclose(mu[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-12)


@pytest.mark.parametrize("single_root", [False, True])
def test_log_partition_near_zero_among_large_scores(single_root):
    """Every tree needs an arc 1e6 below the best into its word: log Z is small, its parts are not."""
    scores = np.full((4, 4), -1e6)
    scores[0, 1] = 1e6  # word 1 hangs from the root
    scores[1, 2] = 0.0  # word 2 from word 1
    scores[1, 3], scores[2, 3] = 1e6 / 3, 1e6 / 3  # word 3 from either, as well
    scores[0, 2] = 2e6 + 0.5  # the best head of word 2, which no tree with a single root can have
    exact = enumerate_distribution(scores, projective=True, single_root=single_root)[2]
    for shift in (0.0, -exact):  # the second brings log Z to about 0
        moved = scores.copy()
        moved[:, 3] += shift
        expected = enumerate_distribution(moved, projective=True, single_root=single_root)[2]
        log_z, _ = eisner.log_partition(moved[None], np.array([3]), single_root=single_root)
        assert abs(log_z[0] - expected) <= 1e-12 * max(1.0, abs(expected))
