"""From a model's scores to the trees of units, and how sure they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy.special import softmax
from thinc.api import Ops

from spacy_mtt.learning.objective import Objective
from spacy_mtt.scoring.scores import Scores
from spacy_mtt.scoring.units import Bucket

from .confidence import SENTENCE_ARRAYS, TOKEN_ARRAYS, Confidence, confidence, divided
from .constraints import Conditions, Distribution
from .decoders import Decoder
from .labels import LabelSet


@dataclass(frozen=True)
class Decoded:
    """The trees of all units, word by word in their flat order.

    heads: (n_words,) 0..n within the unit. labels: (n_words,) their numbers. tokens, units: as in `Confidence`,
    (n_words,) and (U,); empty if nobody asked.
    """

    heads: np.ndarray
    labels: np.ndarray
    tokens: dict[str, np.ndarray]
    units: dict[str, np.ndarray]


class ScoreReader:
    """What scores mean to an objective: over what its distribution is, and which labels an arc can have.

    temperature: what scores are divided by where they become probabilities; trees are decoded without.
    conditions: constraints, under which all is decoded and all probabilities are.
    """

    def __init__(
        self,
        objective: Objective,
        labels: LabelSet,
        ops: Ops,
        temperature: float = 1.0,
        conditions: Conditions | None = None,
    ):
        self.objective = objective
        self.labels = labels
        self.ops = ops
        self.temperature = temperature
        self.conditions = conditions

    @cached_property
    def _possible(self) -> np.ndarray:
        return self.labels.possible

    def arc_scores(self, scores: Scores) -> Iterator[np.ndarray]:
        """For each bucket the scores that the distribution is over, in float64 on the CPU."""
        for bucket, arcs in zip(scores.units.buckets, self._unconditional(scores), strict=True):
            if self.conditions:
                self._forbid(bucket, arcs)
            yield arcs

    def _forbid(self, bucket: Bucket, arcs: np.ndarray) -> None:
        """Set what the constraints forbid to -inf."""
        for row, unit, n in zip(arcs, bucket.units.tolist(), bucket.lengths.tolist(), strict=True):
            allowed = self.conditions.allowed(unit)
            if allowed is None:
                continue
            row[: n + 1, : n + 1][~allowed] = -np.inf
            if self.objective.labelled:
                fixed = self.conditions.labels_of[unit]
                for word in np.flatnonzero(fixed >= 0):
                    row[:, word + 1, np.arange(row.shape[2]) != fixed[word]] = -np.inf

    def _unconditional(self, scores: Scores) -> Iterator[np.ndarray]:
        if not self.objective.labelled:
            for arcs in scores.arcs:
                yield self.ops.to_numpy(arcs).astype(np.float64)
            return
        impossible = ~self._possible
        for arcs, labels in zip(scores.arcs, scores.labels_everywhere(), strict=True):
            joint = self.ops.to_numpy(arcs).astype(np.float64)[..., None] + self.ops.to_numpy(labels)
            joint[:, 0, :, impossible[1]] = -np.inf
            joint[:, 1:, :, impossible[0]] = -np.inf
            yield joint

    def label_scores(self, scores: Scores, heads: np.ndarray) -> Any:
        """Label scores (n_words, L), -inf for labels never seen on a root arc, or on another arc.

        heads: (n_words,) in 0..n within the unit; -1, unknown, gets the scores at the root and labels of other arcs.
        """
        xp = self.ops.xp
        found = scores.labels_at(xp.asarray(scores.units.head_rows(np.maximum(heads, 0))))
        possible = self._possible[(heads == 0).astype(np.intp)]
        if self.conditions:
            fixed = self.conditions.labels
            possible = possible & ((fixed < 0)[:, None] | (np.arange(possible.shape[1]) == fixed[:, None]))
        return xp.where(xp.asarray(possible), found, -xp.inf)

    def decode(self, scores: Scores, decoder: Decoder, *, sure: bool = False) -> Decoded:
        """The trees of the decoder, with labels. sure: whether to say how sure they are."""
        units, flat = scores.units, Flat(scores.units.n_words + len(scores.units))
        of_units = {name: np.zeros(len(units)) for name in SENTENCE_ARRAYS} if sure else {}
        for bucket, arcs in zip(units.buckets, self.arc_scores(scores), strict=True):
            trees = decoder(arcs, bucket.lengths)
            heads, labels = trees if self.objective.labelled else (trees, None)
            for row, unit, n in self._with_spans(bucket):
                own = self.conditions.trees(unit, arcs[row, : n + 1, : n + 1], decoder.space)
                if labels is None:
                    heads[row, :n] = decoder.choose(own)
                else:
                    heads[row, :n], labels[row, :n] = decoder.choose(own)
            flat.put(bucket, "heads", heads)
            if labels is not None:
                flat.put(bucket, "labels", labels)
            if sure:
                found = self._confidence(arcs, bucket, heads, labels)
                for name, array in found.tokens.items():
                    flat.put(bucket, name, array)
                for name, array in found.units.items():
                    of_units[name][bucket.units] = array
        arrays = {name: array[units.word_rows] for name, array in flat.arrays.items()}
        heads = arrays.pop("heads")
        if self.objective.labelled:
            return Decoded(heads, arrays.pop("labels"), arrays, of_units)
        labels, probabilities = self._best_labels(scores, heads, sure)
        if sure:
            arrays["dep_prob_given_head"] = probabilities
        return Decoded(heads, labels, arrays, of_units)

    def _confidence(self, arcs: np.ndarray, bucket: Bucket, heads: np.ndarray, labels: np.ndarray | None) -> Confidence:
        found = confidence(self.objective.space.padded(arcs / self.temperature, bucket.lengths), heads, labels)
        for row, unit, n in self._with_spans(bucket):
            trees = self.unit_trees(unit, arcs[row, : n + 1, : n + 1])
            tree = (heads[row, :n],) if labels is None else (heads[row, :n], labels[row, :n])
            of_heads = trees.marginals[tree[0], np.arange(1, n + 1)]
            if labels is not None:
                joint = of_heads[np.arange(n), tree[1]]
                of_heads = of_heads.sum(axis=1)
                found.tokens["dep_prob_given_head"][row, :n] = divided(joint, of_heads)
            found.tokens["head_prob"][row, :n] = of_heads
            found.tokens["head_entropy"][row, :n] = trees.head_entropy
            found.units["entropy"][row], found.units["log_prob"][row] = trees.entropy, trees.log_prob(*tree)
        return found

    def unit_trees(self, unit: int, scores: np.ndarray) -> Distribution:
        """The distribution of a unit from its part of `arc_scores`, at the temperature and under the constraints."""
        space = self.objective.space
        if self.conditions:
            return self.conditions.trees(unit, scores / self.temperature, space)
        return space.distribution(scores / self.temperature)

    def _with_spans(self, bucket: Bucket) -> Iterator[tuple[int, int, int]]:
        """Row, number and length of the units of a bucket that have spans as subtrees."""
        if self.conditions:
            for row, (unit, n) in enumerate(zip(bucket.units.tolist(), bucket.lengths.tolist(), strict=True)):
                if self.conditions.spans_of(unit):
                    yield row, unit, n

    def _best_labels(self, scores: Scores, heads: np.ndarray, sure: bool) -> tuple[np.ndarray, np.ndarray | None]:
        """The best label of each word at its head, and its probability given the head."""
        found = self.label_scores(scores, heads)
        best = self.ops.to_numpy(found.argmax(axis=1))
        if not sure:
            return best, None
        return best, label_probabilities(self.ops.to_numpy(found))[np.arange(len(best)), best]


class Flat:
    """Arrays of all nodes of all units, filled bucket by bucket."""

    def __init__(self, size: int):
        self.size = size
        self.arrays: dict[str, np.ndarray] = {}

    def put(self, bucket: Bucket, name: str, padded: np.ndarray) -> None:
        words = bucket.inside[:, 1:]
        flat = self.arrays.setdefault(name, np.zeros(self.size, dtype=padded.dtype))
        flat[bucket.rows[:, 1:][words]] = padded[words]


def label_probabilities(scores: np.ndarray) -> np.ndarray:
    """The softmax of scores (T, L) in float64."""
    return softmax(scores.astype(np.float64), axis=1)


def token_arrays(names: Iterable[str], n: int) -> dict[str, np.ndarray]:
    """What tokens without a tree, whitespace, have in the arrays of confidence."""
    return {name: np.full(n, TOKEN_ARRAYS[name]) for name in names}
