"""Scores on which sums over trees go wrong: 353 hand-made cases, weighted to the extreme.

The number of cases that a library gets wrong ranks it on this list; it is no rate of failure.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Case:
    group: str
    scores: np.ndarray  # (n+1, n+1) float64; 0 where no arc can be


def all_cases() -> Iterator[Case]:
    rng = np.random.default_rng(20260101)
    yield from _normal(rng)
    yield from _cycles()
    yield from _masks(rng)
    yield from _constants(rng)
    yield from _far_lines(rng)
    yield from _confident(rng)


def _case(group, scores) -> Case:
    scores = np.array(scores, dtype=np.float64)
    scores[:, 0] = 0.0
    np.fill_diagonal(scores, 0.0)
    return Case(group, scores)


def _normal(rng):
    for deviation in (1, 10, 30, 100, 300):
        for group, lengths in (("n = 2..8", range(2, 9)), ("n = 20", [20]), ("n = 40", [40])):
            for n in lengths:
                for _ in range(6 if n <= 8 else 4):
                    yield _case(f"normal x {deviation}, {group}", rng.normal(scale=deviation, size=(n + 1, n + 1)))


def _cycles():
    """Two words that attract each other, all else zero."""
    for attraction in (30, 100):
        for n in (2, 3, 5, 8):
            scores = np.zeros((n + 1, n + 1))
            scores[1, 2] = scores[2, 1] = attraction
            yield _case(f"2-cycle +{attraction}", scores)


def random_tree(rng, n: int) -> np.ndarray:
    """Heads (n,) of a tree with a single root: words join in random order."""
    order = rng.permutation(n) + 1
    heads = np.zeros(n, dtype=np.intp)
    for place in range(1, n):
        heads[order[place] - 1] = order[rng.integers(place)]
    return heads


def _masks(rng):
    for n in (3, 5, 8, 20):
        for _ in range(4):
            scores = rng.normal(size=(n + 1, n + 1))
            forbidden = rng.random(scores.shape) < 0.5
            forbidden[random_tree(rng, n), np.arange(1, n + 1)] = False
            scores[forbidden] = -np.inf
            yield _case("-inf on half the arcs", scores)
    for n in (4, 10):
        scores = np.full((n + 1, n + 1), -np.inf)
        scores[random_tree(rng, n), np.arange(1, n + 1)] = rng.normal(size=n)
        yield _case("-inf: a single tree left", scores)


def _constants(rng):
    for value in (0, 50, -50, 200):
        for n in (2, 8, 20):
            yield _case(f"all equal {value}", np.full((n + 1, n + 1), float(value)))
    for value in (0.0, 30.0, -300.0):
        yield _case("n = 1", np.full((2, 2), value))


def _far_lines(rng):
    lines = {
        "head row at +1000": (np.s_[2, :], 1000.0, False),
        "root row at +1000": (np.s_[0, :], 1000.0, False),
        "modifier column at +1000": (np.s_[:, 2], 1000.0, False),
        "modifier column shifted by +1000": (np.s_[:, 2], 1000.0, True),
        "root row shifted by -40": (np.s_[0, :], -40.0, True),
    }
    for group, (line, value, shifted) in lines.items():
        for n in (3, 5, 8, 10, 20, 40):
            scores = rng.normal(size=(n + 1, n + 1))
            scores[line] = scores[line] + value if shifted else value
            yield _case(group, scores)


def _confident(rng):
    """As a trained parser's scores: one tree far above the rest."""
    for bonus in (20, 50):
        for n in (5, 10, 20, 40):
            for _ in range(4):
                scores = rng.normal(size=(n + 1, n + 1))
                scores[random_tree(rng, n), np.arange(1, n + 1)] += bonus
                yield _case(f"one tree +{bonus}", scores)
