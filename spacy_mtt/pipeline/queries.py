"""What can be asked of the distributions over the trees of a doc: they themselves, the k best parses, samples."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice

import numpy as np
from spacy.tokens import Doc

from spacy_mtt.scoring.scores import Scores

from .annotate import parses_of, write_parses
from .constraints import Distribution
from .decoding import Decoded, ScoreReader, label_probabilities
from .segmentation import units_of


@dataclass(frozen=True)
class SentenceTrees:
    """The trees of one sentence of a doc as a distribution.

    tokens: (n,) the tokens that are its words, in the order of nodes 1..n; node 0 is the root.
    trees: the distribution, over labelled trees if the parser's objective is; given spans as subtrees, a
        `SpanTreeDistribution` or a `LabelledSpanTreeDistribution`.
    labels: the names of the labels, in the order of the last axis of a labelled distribution.
    """

    tokens: np.ndarray
    trees: Distribution
    labels: tuple[str, ...]

    @property
    def marginals(self) -> np.ndarray:
        """The probabilities of all arcs, (n+1, n+1), summed over labels."""
        found = self.trees.marginals
        return found.sum(axis=2) if found.ndim == 3 else found


class DocTrees:
    """The distributions of the units of one doc, and parses drawn from them.

    scores: None of a doc without words. starts: where the sentences of the doc start. hashes: of the labels.
    """

    def __init__(self, doc: Doc, scores: Scores | None, reader: ScoreReader, starts: np.ndarray, hashes: np.ndarray):
        self.doc = doc
        self.scores = scores
        self.units = units_of([doc], [starts]) if scores is None else scores.units
        self.reader = reader
        self.starts = starts
        self.hashes = hashes
        self.distributions = self._distributions()

    def sentences(self) -> list[SentenceTrees]:
        """In the order of the text; a sentence of whitespace has none."""
        labels = self.reader.labels.names
        pairs = zip(self.units.words, self.distributions, strict=True)
        return [SentenceTrees(words, trees, labels) for words, trees in pairs]

    def k_best(self, k: int) -> list[tuple[Doc, float]]:
        """The k most probable parses of the doc, best first, with their probabilities. O(k^2) a sentence beside theirs.

        Trees of sentences are independent: the k best of a doc are made of the k best of each.
        """
        best: list[tuple[float, tuple]] = [(0.0, ())]
        for trees in self.distributions:
            own = [(score - trees.log_partition, tree) for *tree, score in islice(trees.k_best(k), k)]
            best = _merged(best, own, k)
        return [(self._finished(trees), float(np.exp(log_prob))) for log_prob, trees in best]

    def sample(self, k: int, rng: np.random.Generator) -> list[Doc]:
        """k independent draws of parses of the doc, heads and labels."""
        draws = [trees.sample(k, rng) for trees in self.distributions]
        parts = [draw if isinstance(draw, tuple) else (draw,) for draw in draws]
        return [self._finished([tuple(array[i] for array in part) for part in parts], rng) for i in range(k)]

    def _distributions(self) -> list[Distribution]:
        found: list = [None] * len(self.units)
        if self.scores is None:
            return found
        for bucket, arcs in zip(self.units.buckets, self.reader.arc_scores(self.scores), strict=True):
            for row, unit, n in zip(arcs, bucket.units.tolist(), bucket.lengths.tolist(), strict=True):
                found[unit] = self.reader.unit_trees(unit, row[: n + 1, : n + 1])
        return found

    def _finished(self, trees: Sequence[tuple[np.ndarray, ...]], rng: np.random.Generator | None = None) -> Doc:
        """A copy of the doc with a tree for each unit; labels that are no part of it are the best, or drawn."""
        heads = labels = np.zeros(0, dtype=np.intp)
        if trees:
            heads = np.concatenate([tree[0] for tree in trees])
        if trees and self.reader.objective.labelled:
            labels = np.concatenate([tree[1] for tree in trees])
        elif trees:
            scores = self.reader.ops.to_numpy(self.reader.label_scores(self.scores, heads))
            labels = scores.argmax(axis=1) if rng is None else _drawn(label_probabilities(scores), rng)
        doc = self.doc.copy()
        write_parses([doc], parses_of(self.units, Decoded(heads, labels, {}, {}), [self.starts], self.hashes))
        return doc


def _merged(left: list[tuple[float, tuple]], right: list[tuple[float, list]], k: int) -> list[tuple[float, tuple]]:
    """The k best sums of one item of each list, both best first."""
    queue = [(-left[0][0] - right[0][0], 0, 0)]
    seen, found = {(0, 0)}, []
    while queue and len(found) < k:
        cost, i, j = heapq.heappop(queue)
        found.append((-cost, (*left[i][1], tuple(right[j][1]))))
        for a, b in ((i + 1, j), (i, j + 1)):
            if a < len(left) and b < len(right) and (a, b) not in seen:
                seen.add((a, b))
                heapq.heappush(queue, (-left[a][0] - right[b][0], a, b))
    return found


def _drawn(probabilities: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """A class for each row of probabilities (T, L)."""
    sums = probabilities.cumsum(axis=1)
    points = rng.random(len(sums))[:, None] * sums[:, -1:]
    return (sums <= points).sum(axis=1)
