"""The best non-projective tree by the textbook's recursion over exact fractions: slow, and independent."""

from __future__ import annotations

from fractions import Fraction

import numpy as np


def exact_score(scores: np.ndarray, heads: np.ndarray) -> Fraction:
    return sum((Fraction(float(scores[h, m])) for m, h in enumerate(heads, 1)), Fraction(0))


def reference_tree(scores: np.ndarray) -> list[int] | None:
    """The best multi-root tree by the textbook's recursion, or None."""
    n = len(scores) - 1
    arcs = {
        (h, m): Fraction(float(scores[h, m]))
        for m in range(1, n + 1)
        for h in range(n + 1)
        if h != m and scores[h, m] > -np.inf
    }
    chosen = contract_and_solve(set(range(n + 1)), {arc: (weight, arc) for arc, weight in arcs.items()})
    return None if chosen is None else [next(h for h, m in chosen if m == word) for word in range(1, n + 1)]


def contract_and_solve(nodes, arcs):
    """The best tree as a set of original arcs or None. `arcs`: (head, modifier) -> (weight, original arc)."""
    best = {}
    for m in nodes - {0}:
        entering = [(weight, h, arc) for (h, k), (weight, arc) in arcs.items() if k == m]
        if not entering:
            return None
        best[m] = max(entering, key=lambda entry: entry[0])
    for start in best:
        walk = [start]
        while walk[-1] != 0 and best[walk[-1]][1] not in walk:
            walk.append(best[walk[-1]][1])
        if walk[-1] != 0:
            cycle = set(walk[walk.index(best[walk[-1]][1]) :])
            break
    else:
        return {arc for _, _, arc in best.values()}
    new = max(nodes) + 1
    merged, breaks = {}, {}
    for (h, m), (weight, arc) in arcs.items():
        if h in cycle and m in cycle:
            continue
        if m in cycle:
            weight -= best[m][0]
            breaks[arc] = m
        key = (new if h in cycle else h, new if m in cycle else m)
        if key not in merged or weight > merged[key][0]:
            merged[key] = (weight, arc)
    chosen = contract_and_solve(nodes - cycle | {new}, merged)
    if chosen is None:
        return None
    entered = next(breaks[arc] for arc in chosen if arc in breaks)
    return chosen | {best[m][2] for m in cycle - {entered}}


def reference_score(scores: np.ndarray, *, single_root: bool) -> Fraction | None:
    """The best tree's exact score, or None; single-root by fixing each word as the root in turn."""
    trials = [scores]
    if single_root:
        trials = []
        for word in range(1, len(scores)):
            trial = scores.copy()
            trial[0, np.arange(len(scores)) != word] = -np.inf
            trials.append(trial)
    trees = [tree for trial in trials if (tree := reference_tree(trial)) is not None]
    return max((exact_score(scores, tree) for tree in trees), default=None)
