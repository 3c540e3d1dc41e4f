"""The weights of the linear scorer, as a thinc shim: sparse updates, exact averages, small files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import srsly
from thinc.api import Optimizer
from thinc.shims import Shim

from spacy_mtt.features.extraction import ComputedFeatures, KeyExtractor, SlotFeatures
from spacy_mtt.features.tables import FeatureTable
from spacy_mtt.features.templates import first_order
from spacy_mtt.learning.lazy_weights import LazyWeights

from .tables import TableMaker

COLUMNS = ("coarse", "lemmas", "morphology")


@dataclass(frozen=True)
class UnitGradient:
    """The gradient of a loss with respect to the scores of a unit of n words.

    arcs: (n+1, n+1). labels: (n, L) at `heads` (n,), or (n+1, n+1, L) if `heads` is None; None if there is none.
    """

    features: SlotFeatures
    arcs: np.ndarray
    labels: np.ndarray | None = None
    heads: np.ndarray | None = None

    def add_arcs(self, weights: np.ndarray, factor: float) -> None:
        """weights (size,) += factor * the gradient."""
        self.features.add(weights, factor * self.arcs)

    def add_labels(self, weights: np.ndarray, factor: float) -> None:
        """weights (rows, L) += factor * the gradient."""
        if self.labels is not None:
            self.features.add_labels(weights, factor * self.labels, self.heads)


class LinearWeights(Shim):
    """Templates, table and weights: of arcs (size,), and of labels (2^label_bits, L).

    In training, scores come from the weights of the moment; else from their mean over all steps if the optimiser keeps
    averages. The weights are numpy arrays on any device.
    """

    def __init__(self, maker: TableMaker, label_bits: int):
        super().__init__(None)
        self.maker = maker
        self.label_bits = label_bits
        self.n_labels = 0
        self.columns: dict[str, bool] = {}
        self.has_tags = False
        self.table: FeatureTable | None = None
        self.arcs: LazyWeights | None = None
        self.labels: LazyWeights | None = None
        self._pending: list[UnitGradient] = []
        self._is_step = False

    # ---- shape

    def set_columns(self, columns: dict[str, bool]) -> None:
        """Which columns features are made of, see `first_order`."""
        self.columns = {name: bool(columns[name]) for name in COLUMNS}
        self.__dict__.pop("extractor", None)

    @cached_property
    def extractor(self) -> KeyExtractor:
        return KeyExtractor(first_order(**self.columns))

    def set_table(self, table: FeatureTable) -> None:
        """Start with weights of 0."""
        self.table = table
        self._set_weights(np.zeros(table.size), np.zeros((1 << self.label_bits, self.n_labels)))

    def add_label_columns(self, n_labels: int) -> None:
        """Raise the number of labels; new ones score 0."""
        if self.table is not None:
            arcs, labels = self.means()
            more = np.zeros((len(labels), n_labels - self.n_labels))
            self._set_weights(arcs, np.concatenate([labels, more], axis=1))
        self.n_labels = n_labels

    def _set_weights(self, arcs: np.ndarray, labels: np.ndarray) -> None:
        self.arcs, self.labels = LazyWeights(arcs), LazyWeights(labels)
        self._means: tuple[np.ndarray, np.ndarray] | None = None

    # ---- scores

    def features_of(self, words) -> SlotFeatures:
        """The features of a unit."""
        return ComputedFeatures(self.extractor(words), self.table)

    def weights(self, is_train: bool) -> tuple[tuple[float, np.ndarray], tuple[float, np.ndarray]]:
        """(factor, array) of arcs and of labels: those in training, or those to parse with."""
        if is_train:
            return self.arcs.scaled, self.labels.scaled
        arcs, labels = self.means()
        return (1.0, arcs), (1.0, labels)

    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """The weights to parse with; computed anew after a step alone."""
        if self._means is None:
            self._means = self.arcs.mean(), self.labels.mean()
        return self._means

    # ---- learning

    def set_weights(self, arcs: np.ndarray, labels: np.ndarray | None = None) -> None:
        """Take weights of arcs (size,) and labels (2^label_bits, L) from elsewhere, in place of those there are.

        labels: None leaves them as they are.
        """
        labels = self.means()[1] if labels is None else labels
        shapes = ((self.table.size,), (1 << self.label_bits, self.n_labels))
        if (arcs.shape, labels.shape) != shapes:
            raise ValueError(f"the weights have the shapes {arcs.shape} and {labels.shape}, but must have {shapes}")
        self._set_weights(arcs, labels)

    def add_gradients(self, gradients: list[UnitGradient], is_step: bool) -> None:
        """Keep gradients for the next step."""
        self._pending += gradients
        self._is_step = is_step

    def finish_update(self, optimizer: Optimizer) -> None:
        """One step along all gradients since the last."""
        if not self._pending:
            return
        rate, decay = (1.0, 0.0) if self._is_step else plain_step(optimizer)
        gradients, self._pending = self._pending, []
        if optimizer.averages is not None:
            self.arcs.keep_average()
            self.labels.keep_average()
        self.arcs.step(sum_of([gradient.add_arcs for gradient in gradients], -rate), decay=decay)
        self.labels.step(sum_of([gradient.add_labels for gradient in gradients], -rate), decay=decay)
        self._means = None

    # ---- serialisation

    def to_bytes(self) -> bytes:
        """Columns, table, and the weights to parse with as float32, zeros left out."""
        if self.table is None:
            return srsly.msgpack_dumps({})
        arcs, labels = self.means()
        data = {
            "columns": self.columns,
            "has_tags": self.has_tags,
            "table": self.maker.to_dict(self.table),
            "label_bits": self.label_bits,
            "n_labels": self.n_labels,
            "arcs": _packed(arcs),
            "labels": _packed(labels.ravel()),
        }
        return srsly.msgpack_dumps(data)

    def from_bytes(self, data: bytes) -> LinearWeights:
        """Load what `to_bytes` gave; ValueError if it does not fit the model."""
        message: dict[str, Any] = srsly.msgpack_loads(data)
        if not message:
            return self
        if message["label_bits"] != self.label_bits:
            raise ValueError(f"the weights have label_bits = {message['label_bits']}, the model {self.label_bits}")
        self.set_columns(message["columns"])
        self.has_tags = message["has_tags"]
        self.n_labels = message["n_labels"]
        self.set_table(self.maker.from_dict(message["table"]))
        rows = 1 << self.label_bits
        labels = _unpacked(message["labels"], rows * self.n_labels).reshape(rows, self.n_labels)
        self._set_weights(_unpacked(message["arcs"], self.table.size), labels)
        return self

    def to_device(self, device_type: str, device_id: int) -> None:
        """Weights stay where they are."""


def plain_step(optimizer: Optimizer) -> tuple[float, float]:
    """The rate, and by how much weights shrink."""
    if optimizer.b1 or optimizer.b2 or optimizer.grad_clip:
        raise ValueError(
            "a linear scorer learns by plain gradient steps along few features: it needs the optimizer SGD.v1 with "
            f"grad_clip = 0.0, not one with beta1 = {optimizer.b1}, beta2 = {optimizer.b2} and "
            f"grad_clip = {optimizer.grad_clip}"
        )
    return float(optimizer.learn_rate), float(optimizer.learn_rate * optimizer.L2)


def sum_of(adds: list[Callable[[np.ndarray, float], None]], factor: float) -> Callable[[np.ndarray, float], None]:
    """As `LazyWeights.step` takes it: all of `adds`, each of which adds to an array a multiple of something."""

    def add(weights: np.ndarray, scale: float) -> None:
        if scale:
            for each in adds:
                each(weights, factor * scale)

    return add


def _packed(weights: np.ndarray) -> dict[str, np.ndarray]:
    """As float32, without zeros if that is shorter."""
    values = weights.astype(np.float32)
    slots = np.flatnonzero(values).astype(np.uint32)
    return {"values": values} if 2 * len(slots) > len(values) else {"slots": slots, "values": values[slots]}


def _unpacked(packed: dict[str, np.ndarray], size: int) -> np.ndarray:
    values = packed["values"]
    slots = packed.get("slots", np.arange(size, dtype=np.uint32))
    if slots.shape != values.shape or (slots.size and int(slots.max()) >= size) or not np.isfinite(values).all():
        raise ValueError(f"the weights are damaged: {slots.size} slots of {size} for {values.size} values")
    weights = np.zeros(size)
    weights[slots] = values
    return weights
