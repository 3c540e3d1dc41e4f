"""Projective trees with sibling parts by enumeration: every part of every tree is written down, all sums are exact."""

from __future__ import annotations

import itertools
import math
from functools import cache

import numpy as np

from tests.oracle import all_trees
from tests.strategies import random_scores


def parts_of(tree) -> list[tuple[int, int, int]]:
    """The parts (head, sibling, modifier) of one tree; the head stands for the sibling where there is none."""
    n = len(tree)
    parts = []
    for head in range(n + 1):
        to_the_right = [m for m in range(head + 1, n + 1) if tree[m - 1] == head]
        to_the_left = [m for m in range(head - 1, 0, -1) if tree[m - 1] == head]
        for modifiers in (to_the_right, to_the_left):
            parts += [(head, near, far) for near, far in itertools.pairwise([head, *modifiers])]
    return sorted(parts, key=lambda part: part[2])


@cache
def all_parts(n: int, single_root: bool) -> tuple[np.ndarray, np.ndarray]:
    """All projective trees (T, n), and their parts (T, n, 3) ordered by modifier."""
    trees = all_trees(n, True, single_root)
    return trees, np.array([parts_of(tree) for tree in trees]).reshape(len(trees), n, 3)


def enumerate_siblings(scores: np.ndarray, siblings: np.ndarray, single_root: bool) -> dict:
    """log Z, excess over the best parts, probabilities, marginals, trees and whether each is a best one."""
    n = len(scores) - 1
    trees, parts = all_parts(n, single_root)
    h, r, m = np.moveaxis(parts, 2, 0)
    terms = np.concatenate([scores[h, m], siblings[h, r, m]], axis=1)
    values = np.array([-math.inf if np.isneginf(row).any() else math.fsum(row) for row in terms])
    result = {
        "trees": trees,
        "values": values,
        "log_z": -math.inf,
        "mu_arcs": np.zeros((n + 1,) * 2),
        "mu_siblings": np.zeros((n + 1,) * 3),
    }
    if np.isneginf(values).all():
        return result | {"excess": -math.inf}
    best = terms[values.argmax()]
    gaps = [
        -math.inf if value == -math.inf else math.fsum([*row, *-best]) for value, row in zip(values, terms, strict=True)
    ]
    weights = np.exp(gaps)
    total = math.fsum(weights)
    probabilities = weights / total
    np.add.at(result["mu_arcs"], (h, m), probabilities[:, None])
    np.add.at(result["mu_siblings"], (h, r, m), probabilities[:, None])
    shift = best_parts(scores, siblings, single_root)
    return result | {
        "probabilities": probabilities,
        "log_z": math.fsum([*best, math.log(total)]),
        "excess": math.fsum([*best, *-shift, math.log(total)]),
    }


def part_exists(n: int) -> np.ndarray:
    """(n+1, n+1, n+1) bool, [head, sibling, modifier]."""
    exists = np.zeros((n + 1,) * 3, dtype=bool)
    for h, r, m in itertools.product(range(n + 1), repeat=3):
        exists[h, r, m] = m not in (0, h) and (r == h or h < r < m or m < r < h)
    return exists


def best_parts(scores: np.ndarray, siblings: np.ndarray, single_root: bool) -> np.ndarray:
    """The largest score + sibling into each word (n,), as doubles."""
    exists = part_exists(len(scores) - 1)
    exists[0, 1:] &= not single_root
    sums = np.where(exists, scores[:, None, :] + siblings, -np.inf)
    return sums.max(axis=(0, 1))[1:]


def random_siblings(rng: np.random.Generator, n: int, scale: float = 1.0, masked: float = 0.0) -> np.ndarray:
    """Normal sibling scores (n+1, n+1, n+1), a share of them -inf; NaN where there is no part."""
    siblings = rng.normal(size=(n + 1,) * 3) * scale
    siblings[rng.random(siblings.shape) < masked] = -np.inf
    return np.where(part_exists(n), siblings, np.nan)


def random_problem(rng: np.random.Generator, n: int, scale: float = 1.0, masked: float = 0.0):
    return random_scores(rng, n, scale, masked), random_siblings(rng, n, scale, masked)


def zero_siblings(n: int) -> np.ndarray:
    return np.where(part_exists(n), 0.0, np.nan)
