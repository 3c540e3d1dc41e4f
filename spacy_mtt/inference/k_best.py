"""The trees of one sentence from the best downwards, as lazy iterators over distinct trees.

Non-projective: each cell of a partition of all trees knows its best tree and the arc that its second best lacks
(`_best_swap.pyx`, after Camerini, Fratta & Maffioli 1980 and Zmigrod, Vieira & Cotterell 2021). The next tree
is the best of all second best ones. Its cell is split by that arc: the best tree of one part is the old one, that of
the other is the new one (Lawler 1972). So a further tree takes two second best trees, O(n^2).

Projective: Huang & Chiang's (2005) lazy algorithm 3 over Eisner's chart, `_k_best_projective.pyx`. O(n^3) for
the first tree, about O(n log k) for a further one.

Exactness
---------
A tree's score is the sum of its arcs' scores, rounded once. If the largest |score| (forbidden arcs aside) is less
than 2**48 / n times the smallest that is not zero, the order is that of the exact sums and the scores never
increase. For any other finite scores, trees may change places whose scores differ by less than
n**3 * 2**-101 * max|score|.
"""

from __future__ import annotations

import heapq
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from . import arborescence
from ._best_swap import cheapest_arc, restrict
from ._k_best_projective import ProjectiveTrees


def k_best(scores: np.ndarray, *, projective: bool, single_root: bool) -> Iterator[tuple[np.ndarray, float]]:
    """All trees of a sentence as (heads (n,) np.intp, score), best first, each found when it is asked for.

    scores: (n+1, n+1) in the conventions of `trees`; finite or -inf where read. Not written to; must not change
    meanwhile. The iterator ends after the last tree without a forbidden arc, at once if there is none. A sentence
    without words has one tree, of score 0.

    The first tree takes O(n^2), projective O(n^3), and a further one O(n^2), projective about O(n log k). Memory
    grows by O(n + k) with the k-th tree, so that 10**4 trees of a long sentence are no problem.

    Ties: trees of equal score come in an order that depends on the scores alone. Asking for more changes nothing
    about those before.
    """
    scores = np.asarray(scores)
    for heads, _, score in k_best_labelled(scores[:, :, None], projective=projective, single_root=single_root):
        yield heads, score


def k_best_labelled(
    scores: np.ndarray, *, projective: bool, single_root: bool
) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
    """All labelled trees as (heads (n,) np.intp, labels (n,) np.intp, score), best first, distinct as such pairs.

    scores: (n+1, n+1, L), L >= 1. A label with the score -inf is never given. Of one arc's labels with equal
    scores, the lowest comes first. The rest is as in `k_best`.
    """
    scores, exponent = _scaled(np.ascontiguousarray(scores, dtype=np.float64))
    words = np.arange(1, len(scores))
    if len(words) == 0:
        trees = iter([(words, words)])
    elif projective:
        trees = _projective_trees(scores, single_root)
    else:
        trees = _NonProjectiveTrees(scores, single_root)
    for heads, labels in trees:
        yield heads.copy(), labels.copy(), math.fsum(scores[heads, words, labels].tolist()) * 2.0**exponent


def _scaled(scores: np.ndarray) -> tuple[np.ndarray, int]:
    """(scores * 2**-e, e), with e = 0 unless sums of them might overflow."""
    largest = np.abs(scores, where=np.isfinite(scores), out=np.zeros(scores.shape)).max(initial=0.0)
    return (scores * 2.0**-64, 64) if largest > 2.0**960 else (scores, 0)


def _descending(arc_scores: np.ndarray) -> tuple[float, float]:
    """The negative of the sum, rounded, and of what rounding left over: sorts by the exact sum, largest first."""
    terms = arc_scores.tolist()
    total = math.fsum(terms)
    return -total, -math.fsum([*terms, -total])


def _projective_trees(scores: np.ndarray, single_root: bool) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    chart = ProjectiveTrees(scores, single_root)
    while True:
        heads, labels = np.empty((2, len(scores) - 1), dtype=np.intp)
        if not chart.next(heads, labels):
            return
        yield heads, labels


@dataclass(slots=True)
class _Cell:
    """The trees that have the `required` arcs of the cell's best tree and none that is used up."""

    heads: np.ndarray  # the best tree
    labels: np.ndarray
    arc_scores: np.ndarray
    required: np.ndarray  # (n,) uint8
    used: np.ndarray  # (U, 2): a used arc as a flat index into (n+1, n+1), and its best label still allowed or -1


class _NonProjectiveTrees:
    """The labelled non-projective trees of a sentence, best first, as an iterator."""

    def __init__(self, scores: np.ndarray, single_root: bool):
        n = len(scores) - 1
        self.scores = scores
        self.single_root = single_root
        self.labelled = scores.shape[2] > 1
        self.words = np.arange(1, n + 1)
        self.lengths = np.array([n], dtype=np.intp)
        self.labels = scores.argmax(axis=2)  # the best label of each arc, and its score
        self.best = np.take_along_axis(scores, self.labels[:, :, None], axis=2)[:, :, 0]
        self.best[:, 0] = -np.inf
        np.fill_diagonal(self.best, -np.inf)
        self.no_labels = np.zeros(n, dtype=np.intp)
        self.no_spare = np.full(n, -1), np.full(n, -np.inf)
        self.allowed = np.empty_like(self.best)  # scratch: the arcs' scores in a cell
        self.solved = 0  # how many best trees were computed so far

    def __iter__(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        required, used = np.zeros(len(self.words), dtype=np.uint8), np.empty((0, 2), dtype=np.intp)
        first = self._solve(self.best, required, used)
        if first is None:
            return
        yield first.heads, first.labels
        order = itertools.count()
        queue: list[tuple[float, float, int, _Cell, int, _Cell]] = []
        parts = [first]
        while True:
            for part in parts:
                word, second = self._second_best(part)
                if second is not None:
                    heapq.heappush(queue, (*_descending(second.arc_scores), next(order), part, word, second))
            if not queue:
                return
            *_, cell, word, second = heapq.heappop(queue)
            yield second.heads, second.labels
            required = cell.required.copy()
            required[word - 1] = True
            parts = [_Cell(cell.heads, cell.labels, cell.arc_scores, required, cell.used), second]

    def _second_best(self, cell: _Cell) -> tuple[int, _Cell | None]:
        """(word, the part of the cell without the arc into that word, with its best tree), or None if it has none."""
        allowed = self.allowed
        restrict(self.best, self.scores, cell.used, cell.required, cell.heads, cell.arc_scores, allowed)
        spare_labels, spare_scores = self._spare(cell)
        word = cheapest_arc(allowed, cell.heads, spare_scores, self.single_root)
        if word == 0:
            return 0, None
        allowed[cell.heads[word - 1], word] = spare_scores[word - 1]
        arc = cell.heads[word - 1] * len(allowed) + word
        used = cell.used[cell.used[:, 0] != arc] if self.labelled else cell.used
        longer = np.empty((len(used) + 1, 2), dtype=np.intp)
        longer[:-1] = used
        longer[-1] = arc, spare_labels[word - 1]
        return word, self._solve(allowed, cell.required, longer)

    def _solve(self, allowed: np.ndarray, required: np.ndarray, used: np.ndarray) -> _Cell | None:
        """The cell of those arcs with its best tree, or None if it has none. `allowed`: the arcs' scores in it."""
        self.solved += 1
        heads = arborescence.argmax(allowed[None], self.lengths, single_root=self.single_root)[0]
        if heads[0] < 0:
            return None
        arc_scores = allowed[heads, self.words]
        if not self.labelled:
            return _Cell(heads, self.no_labels, arc_scores, required, used)
        labels = self.labels[heads, self.words]
        head, word = np.divmod(used[:, 0], len(allowed))
        in_tree = heads[word - 1] == head
        labels[word[in_tree] - 1] = used[in_tree, 1]
        return _Cell(heads, labels, arc_scores, required, used)

    def _spare(self, cell: _Cell) -> tuple[np.ndarray, np.ndarray]:
        """For each arc of the cell's tree, the next best label (n,), -1 if the cell allows none, and its score."""
        if not self.labelled:
            return self.no_spare
        rows = self.scores[cell.heads, self.words]
        own, label = cell.arc_scores[:, None], cell.labels[:, None]
        later = (rows < own) | ((rows == own) & (np.arange(rows.shape[1]) > label))
        rows = np.where(later & (cell.required == 0)[:, None], rows, -np.inf)
        labels = rows.argmax(axis=1)
        scores = rows[self.words - 1, labels]
        return np.where(scores > -np.inf, labels, -1), scores
