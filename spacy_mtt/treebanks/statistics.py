"""How non-projective a treebank is: crossing arcs, non-projective arcs, several roots."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from spacy_mtt.inference.trees import crossing_arcs


def nonprojective_arcs(heads: Sequence[int]) -> np.ndarray:
    """Which arcs of `heads` (n,) are non-projective, as a bool array (n,) by modifier.

    The arc (h, d) is non-projective iff some word between h and d does not descend from h (Buchholz & Marsi
    2006). Root arcs never are. Words that hang under an unannotated word (head -1) descend from nobody and
    hinder nobody. O(n) plus the summed arc lengths. `heads` has to be free of cycles.
    """
    n = len(heads)
    enter, leave = _preorder(heads)
    result = np.zeros(n, dtype=bool)
    # Words outside the tree must neither lower the minimum nor raise the maximum of a range.
    low = np.where(enter < 0, n + 1, enter)
    for word in range(1, n + 1):
        head = int(heads[word - 1])
        left, right = min(head, word) + 1, max(head, word)
        if head < 1 or left >= right or enter[head] < 0:
            continue
        between_low, between_high = low[left:right].min(), enter[left:right].max()
        result[word - 1] = between_low < enter[head] or between_high >= leave[head]
    return result


def _preorder(heads: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    """(n+1,) each: the preorder number of every node and the first number after its descendants; -1 outside
    the tree.
    """
    n = len(heads)
    children: list[list[int]] = [[] for _ in range(n + 1)]
    for word, head in enumerate(heads, 1):
        if head >= 0:
            children[head].append(word)
    enter, leave = np.full(n + 1, -1), np.full(n + 1, -1)
    count, stack = 0, [0]
    while stack:
        node = stack.pop()
        if node < 0:
            leave[~node] = count
            continue
        enter[node] = count
        count += 1
        stack.append(~node)
        stack.extend(children[node])
    return enter, leave


@dataclass
class TreebankStatistics:
    """Counts over trees. Punctuation counts, unannotated words are words without an arc."""

    sentences: int = 0
    words: int = 0
    arcs: int = 0
    crossing: int = 0
    nonprojective: int = 0
    multi_root: int = 0

    def add(self, heads: np.ndarray) -> None:
        """Count one tree `heads` (n,). O(n^2)."""
        self.sentences += 1
        self.words += len(heads)
        self.arcs += int((heads >= 0).sum())
        self.multi_root += int((heads == 0).sum() > 1)
        crossing = int(crossing_arcs(heads).sum())
        self.crossing += crossing
        if crossing:  # a tree without crossing arcs, root arcs included, is projective
            self.nonprojective += int(nonprojective_arcs(heads).sum())

    @property
    def crossing_percent(self) -> float:
        """% of arcs that cross another arc, arcs from the artificial root at position 0 included."""
        return 100 * self.crossing / self.arcs if self.arcs else 0.0

    @property
    def nonprojective_percent(self) -> float:
        """% of arcs that are non-projective, see `nonprojective_arcs`."""
        return 100 * self.nonprojective / self.arcs if self.arcs else 0.0

    @property
    def multi_root_percent(self) -> float:
        """% of sentences in which more than one word has the head 0."""
        return 100 * self.multi_root / self.sentences if self.sentences else 0.0
