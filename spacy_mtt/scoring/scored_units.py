"""Units scored by sparse features: what the linear and the low-rank scorer do alike."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from spacy.tokens import Doc
from thinc.api import Model

from spacy_mtt.features.atoms import Words
from spacy_mtt.features.extraction import SlotFeatures

from .linear_weights import LABELS, LinearWeights, UnitGradient
from .scores import ScoreGradients, Scores
from .units import Segmentation, Units, settled
from .words import words_of

InT = tuple[list[Doc], Segmentation]


def forward(model: Model[InT, Scores], inputs: InT, is_train: bool) -> tuple[Scores, Callable]:
    """The forward pass of a model whose shim is a `LinearWeights`, with features from docs."""
    docs, segmentation = inputs
    units = settled(segmentation)
    shim = model.shims[0]
    words = words_of(docs, units)
    _mind_tags(shim, words, is_train)
    return score_units(model, units, [shim.features_of(each) for each in words], is_train)


def score_units(
    model: Model[InT, Scores], units: Units, features: list[Any], is_train: bool
) -> tuple[Scores, Callable[[ScoreGradients], list]]:
    """The same from the features of the units, as the shim's `features_of` gives them."""
    scored = _ScoredUnits(model.shims[0], units, features, is_train)
    asarray, to_numpy = model.ops.asarray, model.ops.to_numpy

    def labels_at(head_rows):
        return asarray(scored.labels_at(to_numpy(head_rows)))

    def labels_everywhere():
        return [asarray(bucket) for bucket in scored.labels_everywhere()]

    def backprop(gradients: ScoreGradients) -> list:
        scored.backprop(gradients, to_numpy)
        return []

    arcs = [asarray(bucket) for bucket in scored.arcs()]
    return Scores(units, arcs, labels_at, labels_everywhere, sparse=scored), backprop


def _mind_tags(shim: LinearWeights, words: list[Words], is_train: bool) -> None:
    """Note in training whether words have tags, and say so if the words to parse have none."""
    if (is_train and shim.has_tags) or not words:
        return
    tagged = any(any(each.tags) for each in words)
    if is_train:
        shim.has_tags = tagged
    elif shim.has_tags and not tagged:
        warnings.warn(
            "the parser was trained with tags, but these docs have none: put a tagger before it in the pipeline, or "
            "set token.tag",
            stacklevel=2,
        )


class _ScoredUnits:
    """The features of the units of a batch, and their scores by the weights of the moment: `SparseScores`."""

    def __init__(self, shim: LinearWeights, units: Units, features: list[Any], is_train: bool):
        self.shim = shim
        self.units = units
        self.is_linear = shim.is_linear
        self.slots: list[SlotFeatures] = [shim.slots_of(each) for each in features]
        self.scored = [shim.arcs_of(each, is_train) for each in features]
        self.label_weights = shim.part(LABELS, is_train)
        self._heads: list[np.ndarray] | None = None  # of the last call of labels_at

    def arcs(self) -> list[np.ndarray]:
        """For each bucket (B, N+1, N+1)."""
        return self._padded([each.scores for each in self.scored])

    def labels_everywhere(self) -> list[np.ndarray]:
        """For each bucket (B, N+1, N+1, L)."""
        scale, weights = self.label_weights
        return self._padded([scale * each.score_labels(weights) for each in self.slots], self.shim.n_labels)

    def labels_at(self, head_rows: np.ndarray) -> np.ndarray:
        """(n_words, L)."""
        scale, weights = self.label_weights
        self._heads = self._local(head_rows)
        parts = [each.score_labels(weights, heads) for each, heads in zip(self.slots, self._heads, strict=True)]
        return scale * np.concatenate(parts) if parts else np.zeros((0, self.shim.n_labels))

    def backprop(self, gradients: ScoreGradients, to_numpy: Callable) -> None:
        """Hand the gradient of each unit to the weights."""
        arcs = self._unpadded([to_numpy(each) for each in gradients.arcs])
        labels, heads = [None] * len(self.units), [None] * len(self.units)
        if gradients.labels_at is not None:
            labels = self.units.split(to_numpy(gradients.labels_at))
            heads = self._heads
        elif gradients.labels_everywhere is not None:
            labels = self._unpadded([to_numpy(each) for each in gradients.labels_everywhere])
        parts = zip(self.slots, self.scored, arcs, labels, heads, strict=True)
        found = [UnitGradient(slots, scored.gradient(arc), *rest) for slots, scored, arc, *rest in parts]
        self.shim.add_gradients(found, gradients.own_steps)

    def squared_norm(self, unit: int, coefficients: np.ndarray) -> float:
        if coefficients.ndim == 2:
            return self.scored[unit].gradient(coefficients).squared_norm()
        of_labels = self.slots[unit].squared_norm_of_labels(coefficients, 1 << self.shim.label_bits)
        return self.scored[unit].gradient(coefficients.sum(axis=2)).squared_norm() + of_labels

    def label_norms(self, head_rows: np.ndarray) -> np.ndarray:
        rows = 1 << self.shim.label_bits
        heads = self._local(head_rows)
        return np.concatenate([each.row_norms(tree, rows) for each, tree in zip(self.slots, heads, strict=True)])

    def weights_squared_norm(self, *, labels: bool) -> float:
        return sum(part.squared_norm for name, part in self.shim.parts.items() if labels or name != LABELS)

    def _local(self, head_rows: np.ndarray) -> list[np.ndarray]:
        """Flat head rows as heads (n,) in 0..n of each unit."""
        return self.units.split(head_rows - np.repeat(self.units.starts, self.units.lengths))

    def _padded(self, scores: list[np.ndarray], *last: int) -> list[np.ndarray]:
        padded = []
        for bucket in self.units.buckets:
            size = bucket.rows.shape[1]
            rows = np.zeros((len(bucket.units), size, size, *last))
            for row, unit, n in zip(rows, bucket.units.tolist(), bucket.lengths.tolist(), strict=True):
                row[: n + 1, : n + 1] = scores[unit]
            padded.append(rows)
        return padded

    def _unpadded(self, padded: list[np.ndarray]) -> list[np.ndarray]:
        """The parts (n+1, n+1 ...) of each unit, from those of buckets."""
        parts: list = [None] * len(self.units)
        for bucket, arrays in zip(self.units.buckets, padded, strict=True):
            for array, unit, n in zip(arrays, bucket.units.tolist(), bucket.lengths.tolist(), strict=True):
                parts[unit] = array[: n + 1, : n + 1]
        return parts
