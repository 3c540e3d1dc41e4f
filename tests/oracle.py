"""Inference by enumeration of all trees: slow, obvious, and the judge of everything else."""

from __future__ import annotations

import functools
import itertools
import math

import numpy as np

from spacy_mtt.inference.trees import is_projective, is_tree

SPACES = [(projective, single_root) for projective in (False, True) for single_root in (False, True)]


@functools.cache
def all_trees(n: int, projective: bool, single_root: bool) -> np.ndarray:
    """Every tree of the space as rows of heads: (T, n) ints."""
    choices = [[h for h in range(n + 1) if h != m] for m in range(1, n + 1)]
    trees = [
        heads
        for heads in itertools.product(*choices)
        if is_tree(heads, single_root=single_root) and (not projective or is_projective(np.array(heads)))
    ]
    return np.array(trees, dtype=np.int64).reshape(len(trees), n)


def tree_scores(scores: np.ndarray, trees: np.ndarray) -> np.ndarray:
    """The score of each tree (T,): exactly rounded sums over its arcs, -inf where an arc is forbidden."""
    n = trees.shape[1]
    rows = scores[trees, np.arange(1, n + 1)]
    return np.array([-math.inf if np.isneginf(row).any() else math.fsum(row) for row in rows])


def enumerate_distribution(scores: np.ndarray, *, projective: bool, single_root: bool):
    """(trees (T, n), tree scores (T,), log Z, probabilities (T,), marginals (n+1, n+1)) by enumeration.

    Scores are float; differences to the best tree are exactly rounded, so probabilities are good to ~1e-15
    relative to the best tree whatever the scale.
    """
    n = scores.shape[0] - 1
    trees = all_trees(n, projective, single_root)
    values = tree_scores(scores, trees)
    marginals = np.zeros((n + 1, n + 1))
    best = values.max()
    if np.isneginf(best):
        return trees, values, -math.inf, np.full(len(trees), np.nan), marginals
    best_row = scores[trees[values.argmax()], np.arange(1, n + 1)]
    gaps = []
    for tree, value in zip(trees, values, strict=True):
        row = scores[tree, np.arange(1, n + 1)]
        gaps.append(-math.inf if np.isneginf(value) else math.fsum([*row, *(-best_row)]))
    weights = np.exp(np.array(gaps))
    total = math.fsum(weights)
    probabilities = weights / total
    for tree, probability in zip(trees, probabilities, strict=True):
        marginals[tree, np.arange(1, n + 1)] += probability
    log_z = math.fsum([*best_row, math.log(total)])
    return trees, values, log_z, probabilities, marginals
