"""Why a sentence has no tree: found by reachability in O(n^2) a candidate root, and said in one sentence."""

from __future__ import annotations

import numpy as np

from .trees import find_cycle


class NoTreeError(ValueError):
    """No tree of the asked tree space has positive weight: every one needs a forbidden arc."""


def explain_no_tree(scores: np.ndarray, *, projective: bool, single_root: bool) -> str:
    """The reason why `scores` (n+1, n+1) admit no tree, as a clause that names the words. At worst O(n^3).

    Words with one possible head, among them all that constraints give one, are named where they are to blame: a cycle
    of such arcs, two such roots where one is asked for, two such arcs that cross in the projective space.
    """
    n = scores.shape[0] - 1
    allowed = ~np.isneginf(scores)
    allowed[:, 0] = False
    np.fill_diagonal(allowed, False)
    headless = np.flatnonzero(~allowed[:, 1:].any(axis=0)) + 1
    if len(headless):
        return f"{_words(headless)} no possible head"
    only_head = np.where(allowed[:, 1:].sum(axis=0) == 1, allowed[:, 1:].argmax(axis=0), -1)
    roots = np.flatnonzero(allowed[0])
    if not len(roots):
        return f"no word may be the root{_cycle(only_head)}"
    cut_off = np.flatnonzero(~_reached(allowed, 0))
    if len(cut_off):
        return f"{_words(cut_off)} no path of allowed arcs from the root{_cycle(only_head)}"
    if single_root:
        forced = np.flatnonzero(only_head == 0) + 1
        if len(forced) > 1:
            return f"{_words(forced)} no possible head but the root, and only one word may be the root's"
        below = allowed.copy()
        below[0] = False
        missing = {int(root): np.flatnonzero(~_reached(below, root)[1:]) + 1 for root in roots}
        if all(len(words) for words in missing.values()):
            root, words = max(missing.items(), key=lambda item: (-len(item[1]), -item[0]))
            return f"no single root reaches all {n} words: below word {root}, {_words(words)} no path of allowed arcs"
    if projective:
        return f"every projective tree needs a forbidden arc{_crossing(only_head)}"
    return "every tree needs a forbidden arc"


def _cycle(only_head: np.ndarray) -> str:
    """The cycle of arcs that are the only ones into their words, if there is one, as an addition to a reason."""
    cycle = find_cycle(only_head)
    if cycle is None:
        return ""
    path = " -> ".join(str(word) for word in [cycle[0], *reversed(cycle)])
    return f": the only possible heads of words {', '.join(map(str, sorted(cycle)))} form the cycle {path}"


def _crossing(only_head: np.ndarray) -> str:
    """Two arcs that no projective tree has both and that are the only ones into their words, likewise."""
    modifiers = np.flatnonzero(only_head >= 0) + 1
    heads = only_head[modifiers - 1]
    arcs = [f"{head} -> {modifier}" for head, modifier in zip(heads, modifiers, strict=True)]
    left, right = np.minimum(heads, modifiers), np.maximum(heads, modifiers)
    crosses = (left[:, None] < left) & (left < right[:, None]) & (right[:, None] < right)
    for a, b in np.argwhere(crosses)[:1]:
        return f": {arcs[a]} and {arcs[b]} cross, and are the only arcs into words {modifiers[a]} and {modifiers[b]}"
    # An arc into the head of an arc that covers it, though what an arc covers descends from its head.
    inverts = (heads[:, None] == modifiers) & (left[:, None] < heads) & (heads < right[:, None])
    for a, b in np.argwhere(inverts)[:1]:
        return (
            f": {arcs[a]} covers word {heads[b]}, so that it descends from word {heads[a]} and {arcs[b]} closes a cycle"
        )
    return ""


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
