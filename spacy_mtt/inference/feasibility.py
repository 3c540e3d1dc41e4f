"""Why a sentence has no tree: found by reachability in O(n^2) a candidate root, and said in one sentence."""

from __future__ import annotations

import numpy as np


class NoTreeError(ValueError):
    """No tree of the asked tree space has positive weight: every one needs a forbidden arc."""


def explain_no_tree(scores: np.ndarray, *, projective: bool, single_root: bool) -> str:
    """The reason why `scores` (n+1, n+1) admit no tree, as a clause that names the words. At worst O(n^3)."""
    n = scores.shape[0] - 1
    allowed = ~np.isneginf(scores)
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    headless = np.flatnonzero(~allowed[:, 1:].any(axis=0)) + 1
    if len(headless):
        return f"{_words(headless)} no possible head"
    roots = np.flatnonzero(allowed[0])
    if not len(roots):
        return "no word may be the root"
    cut_off = np.flatnonzero(~_reached(allowed, 0))
    if len(cut_off):
        return f"{_words(cut_off)} no path of allowed arcs from the root"
    if single_root:
        below = allowed.copy()
        below[0] = False
        missing = {int(root): np.flatnonzero(~_reached(below, root)[1:]) + 1 for root in roots}
        if all(len(words) for words in missing.values()):
            root, words = max(missing.items(), key=lambda item: (-len(item[1]), -item[0]))
            return f"no single root reaches all {n} words: below word {root}, {_words(words)} no path of allowed arcs"
    return "every projective tree needs a forbidden arc" if projective else "every tree needs a forbidden arc"


def _reached(allowed: np.ndarray, start: int) -> np.ndarray:
    """Which nodes allowed arcs lead to from `start`, as a bool array over nodes; `start` counts."""
    seen = np.zeros(len(allowed), dtype=bool)
    seen[start] = True
    frontier = seen.copy()
    while frontier.any():
        frontier = allowed[frontier].any(axis=0) & ~seen
        seen |= frontier
    return seen


def _words(words: np.ndarray, shown: int = 5) -> str:
    names = ", ".join(str(word) for word in words[:shown])
    if len(words) == 1:
        return f"word {names} has"
    more = f" and {len(words) - shown} more" if len(words) > shown else ""
    return f"words {names}{more} have"
