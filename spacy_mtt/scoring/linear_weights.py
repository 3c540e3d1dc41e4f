"""The weights of the linear scorer, as a thinc shim: sparse updates, exact averages, small files."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import srsly
from thinc.api import Optimizer
from thinc.shims import Shim

from spacy_mtt.features.atoms import Words
from spacy_mtt.features.extraction import ArcKeys, ComputedFeatures, KeyExtractor, SlotFeatures
from spacy_mtt.features.tables import FeatureTable
from spacy_mtt.features.templates import first_order
from spacy_mtt.learning.lazy_weights import LazyWeights, restore_parts, state_of

from .tables import TableMaker

COLUMNS = ("coarse", "lemmas", "morphology")
ARCS, LABELS = "arcs", "labels"
Storage = Callable[[ArcKeys, FeatureTable], SlotFeatures]


class ScoredArcs(Protocol):
    """The arcs of a unit of n words, scored by the weights of a moment.

    scores: (n+1, n+1).
    """

    scores: np.ndarray

    def gradient(self, coefficients: np.ndarray) -> ArcGradient:
        """That of sum_hm coefficients[h, m] scores[h, m] in the weights."""
        ...


class ArcGradient(Protocol):
    """A gradient in the weights of arcs."""

    def squared_norm(self) -> float:
        """Its square, over the weights that the next step moves."""
        ...

    def add(self, part: str, weights: np.ndarray, factor: float) -> None:
        """weights += factor * the gradient in the part of that name, in place."""
        ...


@dataclass(frozen=True)
class LinearArcs:
    """`ScoredArcs` of a linear model."""

    features: SlotFeatures
    scores: np.ndarray

    def gradient(self, coefficients: np.ndarray) -> LinearGradient:
        return LinearGradient(self.features, coefficients)


@dataclass(frozen=True)
class LinearGradient:
    """`ArcGradient` of a linear model: sum_hm coefficients[h, m] phi(h -> m)."""

    features: SlotFeatures
    coefficients: np.ndarray

    def squared_norm(self) -> float:
        return self.features.squared_norm(self.coefficients)

    def add(self, part: str, weights: np.ndarray, factor: float) -> None:
        self.features.add(weights, factor * self.coefficients)


@dataclass(frozen=True)
class UnitGradient:
    """The gradient of a loss with respect to the weights, through the scores of a unit of n words.

    arcs: None if there is none. labels: with respect to label scores, (n, L) at `heads` (n,), or (n+1, n+1, L) if
    `heads` is None; None if there is none.
    """

    features: SlotFeatures
    arcs: ArcGradient | None
    labels: np.ndarray | None = None
    heads: np.ndarray | None = None

    def add(self, part: str, weights: np.ndarray, factor: float) -> None:
        """weights += factor * the gradient in the part of that name, in place."""
        if part != LABELS:
            self.arcs.add(part, weights, factor)
        elif self.labels is not None:
            self.features.add_labels(weights, factor * self.labels, self.heads)


class LinearWeights(Shim):
    """Templates, table and weights: of arcs (size,), and of labels (2^label_bits, L).

    In training, scores come from the weights of the moment; else from their mean over all steps if the optimiser keeps
    averages. The weights are numpy arrays on any device.
    """

    def __init__(self, maker: TableMaker, label_bits: int):
        if not 1 <= label_bits <= 30:
            raise ValueError(f"label_bits is {label_bits}, but must be in 1..30")
        super().__init__(None)
        self.maker = maker
        self.label_bits = label_bits
        self.n_labels = 0
        self.columns: dict[str, bool] = {}
        self.has_tags = False
        self.table: FeatureTable | None = None
        self.parts: dict[str, LazyWeights] = {}
        self._means: dict[str, np.ndarray] | None = None
        self._pending: list[UnitGradient] = []
        self._own_steps = False, False

    # ---- shape

    @property
    def is_linear(self) -> bool:
        """Whether scores are linear in the weights."""
        return True

    def set_columns(self, columns: dict[str, bool]) -> None:
        """Which columns features are made of, see `first_order`."""
        self.columns = {name: bool(columns[name]) for name in COLUMNS}
        self.__dict__.pop("extractor", None)

    @cached_property
    def extractor(self) -> KeyExtractor:
        return KeyExtractor(first_order(**self.columns))

    def start(self, table: FeatureTable, trees: Callable[[], Iterable[tuple[Words, np.ndarray]]]) -> None:
        """Start with weights of 0 for the features of a table.

        trees: gives the words of each unit of the training data, as features see them, and their heads, -1 where
            unknown.
        """
        self.table = table
        self.replace({ARCS: np.zeros(self.arc_shape), LABELS: np.zeros((1 << self.label_bits, self.n_labels))})

    @property
    def arc_shape(self) -> tuple[int, ...]:
        """That of the weights of arcs."""
        return (self.table.size,)

    def add_label_columns(self, n_labels: int) -> None:
        """Raise the number of labels; new ones score 0."""
        if self.table is not None:
            labels = self.means()[LABELS]
            more = np.zeros((len(labels), n_labels - self.n_labels))
            self.replace({**self.means(), LABELS: np.concatenate([labels, more], axis=1)})
        self.n_labels = n_labels

    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Those of all weights."""
        return {name: part.scaled[1].shape for name, part in self.parts.items()}

    def replace(self, weights: dict[str, np.ndarray]) -> None:
        """Take these weights in place of those there are."""
        self.parts = {name: LazyWeights(array, dtype=array.dtype) for name, array in weights.items()}
        self._means = None

    # ---- scores

    def words(self, words: Words) -> Words:
        """The words of a unit as features see them."""
        return words

    def features_of(self, words: Words, storage: Storage = ComputedFeatures) -> Any:
        """The features of a unit, for `arcs_of` and the methods for labels."""
        return storage(self.extractor(words), self.table)

    def slots_of(self, features: Any) -> SlotFeatures:
        """Those of arcs, which labels are scored by, among the features of a unit."""
        return features

    def arcs_of(self, features: Any, is_train: bool) -> ScoredArcs:
        """Score the arcs of a unit by the weights of the moment."""
        scale, weights = self.part(ARCS, is_train)
        return LinearArcs(features, scale * features.score(weights))

    def part(self, name: str, is_train: bool) -> tuple[float, np.ndarray]:
        """(factor, array) of a part of the weights: those in training, or those to parse with."""
        return self.parts[name].scaled if is_train else (1.0, self.means()[name])

    def means(self) -> dict[str, np.ndarray]:
        """The weights to parse with; computed anew after a step alone."""
        if self._means is None:
            self._means = {name: part.mean() for name, part in self.parts.items()}
        return self._means

    # ---- learning

    def set_weights(self, **weights: np.ndarray) -> None:
        """Take some of the weights, arcs (size,) and labels (2^label_bits, L), from elsewhere."""
        shapes = self.shapes()
        for name, array in weights.items():
            if array.shape != shapes[name]:
                raise ValueError(f"the weights of {name} have the shape {array.shape}, but must have {shapes[name]}")
        self.replace({**self.means(), **weights})

    def add_gradients(self, gradients: list[UnitGradient], own_steps: tuple[bool, bool]) -> None:
        """Keep gradients for the next step. own_steps: as of `ScoreGradients`, of arcs and of labels."""
        self._pending += gradients
        self._own_steps = own_steps

    def finish_update(self, optimizer: Optimizer) -> None:
        """One step along all gradients since the last."""
        gradients, self._pending = self._pending, []
        if not gradients:
            return
        if not isinstance(optimizer, Optimizer):
            raise ValueError(
                "a scorer with sparse features needs an optimizer, but nlp.rehearse hands it none: call the component's"
                " own rehearse(examples, sgd=optimizer)"
            )
        gradients, moving = self.clipped(gradients, optimizer), self.moving()
        for name, part in self.parts.items():
            if optimizer.averages is not None:
                part.keep_average()
            rate, decay = (
                (1.0, 0.0) if self._own_steps[name == LABELS] else plain_step(optimizer, may_clip=self.may_clip)
            )
            if name in moving:
                part.step(sum_of(gradients, name, -rate), decay=decay)
            else:
                part.step(None)
        self._means = None

    def clipped(self, gradients: list[UnitGradient], optimizer: Optimizer) -> list[UnitGradient]:
        """The gradients, shortened to what the optimiser allows if that has a meaning."""
        return gradients

    @property
    def may_clip(self) -> bool:
        """Whether the optimiser's grad_clip has a meaning."""
        return False

    def moving(self) -> tuple[str, ...]:
        """The parts that the next step moves."""
        return tuple(self.parts)

    def state(self) -> dict[str, np.ndarray]:
        """All that changes in training, as plain arrays."""
        return state_of(self.parts)

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`; ValueError if it is of other shapes."""
        restore_parts(self.parts, state)
        self._means = None

    # ---- serialisation

    def to_bytes(self) -> bytes:
        """Columns, table, and the weights to parse with as float32, zeros left out."""
        return srsly.msgpack_dumps(self.to_dict() if self.table is not None else {})

    def to_dict(self) -> dict[str, Any]:
        """All that `from_dict` needs, of numbers and arrays."""
        return {
            "columns": self.columns,
            "has_tags": self.has_tags,
            "table": self.maker.to_dict(self.table),
            "label_bits": self.label_bits,
            "n_labels": self.n_labels,
            **{name: packed(array.ravel()) for name, array in self.means().items()},
        }

    def from_bytes(self, data: bytes) -> LinearWeights:
        """Load what `to_bytes` gave; ValueError if it does not fit the model."""
        if message := srsly.msgpack_loads(data):
            self.from_dict(message)
        return self

    def from_dict(self, message: dict[str, Any]) -> None:
        """Load what `to_dict` gave; ValueError if it does not fit the model."""
        if message["label_bits"] != self.label_bits:
            raise ValueError(f"the weights have label_bits = {message['label_bits']}, the model {self.label_bits}")
        self.set_columns(message["columns"])
        self.has_tags = message["has_tags"]
        self.n_labels = message["n_labels"]
        self.table = self.maker.from_dict(message["table"])
        shapes = {ARCS: self.arc_shape, LABELS: (1 << self.label_bits, self.n_labels)}
        self.replace({name: unpacked(message[name], shape) for name, shape in shapes.items()})

    def to_device(self, device_type: str, device_id: int) -> None:
        """Weights stay where they are."""


def plain_step(optimizer: Optimizer, *, may_clip: bool = False) -> tuple[float, float]:
    """The rate, and by how much weights shrink."""
    if optimizer.b1 or optimizer.b2 or (optimizer.grad_clip and not may_clip):
        wanted = "the optimizer SGD.v1" if may_clip else "the optimizer SGD.v1 with grad_clip = 0.0"
        raise ValueError(
            f"a scorer with sparse features learns by plain gradient steps along few of them: it needs {wanted}, not "
            f"one with beta1 = {optimizer.b1}, beta2 = {optimizer.b2} and grad_clip = {optimizer.grad_clip}"
        )
    return float(optimizer.learn_rate), float(optimizer.learn_rate * optimizer.L2)


def sum_of(gradients: list[UnitGradient], part: str, factor: float) -> Callable[[np.ndarray, float], None] | None:
    """As `LazyWeights.step` takes it: a multiple of the sum of gradients."""
    if not factor:
        return None

    def add(weights: np.ndarray, scale: float) -> None:
        for gradient in gradients:
            gradient.add(part, weights, factor * scale)

    return add


def packed(weights: np.ndarray) -> dict[str, np.ndarray]:
    """As float32, without zeros if that is shorter."""
    values = weights.astype(np.float32)
    slots = np.flatnonzero(values).astype(np.uint32)
    return {"values": values} if 2 * len(slots) > len(values) else {"slots": slots, "values": values[slots]}


def unpacked(packed: dict[str, np.ndarray], shape: tuple[int, ...], dtype=np.float64) -> np.ndarray:
    """What `packed` was given, in a shape; ValueError if it is damaged."""
    size, values = int(np.prod(shape)), packed["values"]
    slots = packed.get("slots", np.arange(size, dtype=np.uint32))
    if slots.shape != values.shape or (slots.size and int(slots.max()) >= size) or not np.isfinite(values).all():
        raise ValueError(f"the weights are damaged: {slots.size} slots of {size} for {values.size} values")
    weights = np.zeros(size, dtype=dtype)
    weights[slots] = values
    return weights.reshape(shape)
