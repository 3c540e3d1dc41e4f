"""Scores (n+1, n+1) whose best tree takes many contractions, or many digits, to find."""

from __future__ import annotations

import numpy as np

from tests.strategies import poison_unread


def one_cycle(rng, n):
    """Every word's best head is the next word: one cycle of all."""
    scores = rng.normal(size=(n + 1, n + 1))
    scores[np.arange(1, n + 1) % n + 1, np.arange(1, n + 1)] += 100
    return scores


def chain_of_contractions(rng, n):
    """Words 1 and 2 head each other, then 3 and that cycle, then 4 and all of those: n - 1 nested cycles."""
    scores = rng.normal(size=(n + 1, n + 1)) - 1000
    scores[np.arange(1, n), np.arange(2, n + 1)] = 100
    scores[np.arange(2, n + 1), 1] = 50 - np.arange(2, n + 1)
    return scores


def nested_pairs(rng, n):
    """Words pair up in 2-cycles, pairs in 2-cycles of pairs, and so on."""
    i, j = np.meshgrid(np.arange(n), np.arange(n), indexing="ij")
    level = np.array([int(x).bit_length() for x in (i ^ j).ravel()]).reshape(n, n)
    scores = rng.normal(size=(n + 1, n + 1)) - 1000
    scores[1:, 1:] = 1000 - 10.0 * level + rng.random((n, n))
    return scores


def rooted_pairs(rng, n):
    """2-cycles that only the root enters well: many roots if they are free."""
    scores = rng.normal(size=(n + 1, n + 1)) - 50
    scores[0] += 45
    words = np.arange(1, n + 1)
    scores[np.minimum((words - 1 ^ 1) + 1, n), words] = 20
    return scores


def cancelling_scores(rng, n):
    """Exact integers, as int64 and as float64: trees mostly differ by a few units, beside terms of 2**55."""
    large = rng.choice([-(2**55), 2**55], size=(n + 1, n + 1))
    small = 2**25 + rng.integers(0, 8, size=(n + 1, n + 1))
    integers = np.where(rng.random((n + 1, n + 1)) < 0.4, large, small)
    return integers, poison_unread(integers.astype(float))
