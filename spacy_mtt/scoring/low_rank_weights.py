"""The weights of the low-rank tensor scorer, as a thinc shim: those of the linear scorer, and U, V and W."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any, Literal

import numpy as np
from thinc.api import Optimizer

from spacy_mtt.features.atoms import Words
from spacy_mtt.features.extraction import ComputedFeatures, SlotFeatures
from spacy_mtt.features.tables import FeatureDictionary, FeatureTable
from spacy_mtt.features.word_templates import word_templates
from spacy_mtt.features.words import WordFeatures, WordKeyExtractor, word_dictionary
from spacy_mtt.learning.component_dropout import ComponentDropout
from spacy_mtt.learning.low_rank import (
    DISTANCES,
    PARTS,
    Factors,
    LowRankFeatures,
    LowRankGradient,
    LowRankWeights,
)
from spacy_mtt.learning.low_rank_learner import Alternately, Jointly
from spacy_mtt.learning.low_rank_start import random_start, svd_start
from spacy_mtt.learning.tree_space import TreeSpace

from .linear_weights import ARCS, LABELS, LinearWeights, Storage, UnitGradient, unpacked
from .low_rank_features import LowRankExtractor, first_pass_tensor
from .tables import TableMaker

FACTORS = ("U", "V", "W")


@dataclass(frozen=True)
class LowRankArcs:
    """`ScoredArcs` of a low-rank model. moving: the parts that the next step moves, as low_rank.py names them."""

    weights: LowRankWeights
    features: LowRankFeatures
    factors: Factors | None
    moving: tuple[str, ...]
    scores: np.ndarray

    def gradient(self, coefficients: np.ndarray) -> _Gradient:
        return _Gradient(self.weights.gradient(self.features, coefficients, self.factors), self.moving)


@dataclass(frozen=True)
class _Gradient:
    """`ArcGradient` of a low-rank model."""

    gradient: LowRankGradient
    moving: tuple[str, ...]
    scale: float = 1.0

    def squared_norm(self) -> float:
        return self.scale**2 * self.gradient.squared_norm(self.moving)

    def add(self, part: str, weights: np.ndarray, factor: float) -> None:
        self.gradient.add_part("theta" if part == ARCS else part, weights, factor * self.scale)

    def shortened(self, length: float) -> _Gradient:
        """The same of at most this length."""
        found = sqrt(self.squared_norm())
        return self if found <= length else replace(self, scale=self.scale * length / found)


class LowRankTensor(LinearWeights):
    """The parts of `LinearWeights`, and U, V (features of words, R) float32 and W (15, R): see `LowRankWeights`.

    gamma = 1 has the first two alone and is the linear scorer; gamma = 0 has no weights of arcs.
    """

    def __init__(
        self,
        maker: TableMaker,
        label_bits: int,
        *,
        gamma: float,
        rank: int,
        join_tags: bool,
        min_word_freq: int,
        start: Literal["random", "svd"],
        update: Literal["joint", "alternating"],
        seed: int,
        dropout: float,
    ):
        if not 0 <= gamma <= 1:
            raise ValueError(f"gamma is {gamma}, but must be in 0..1")
        if rank < 1:
            raise ValueError(f"the rank is {rank}, but must be 1 or more")
        if min_word_freq < 1:
            raise ValueError(f"min_word_freq is {min_word_freq}, but must be 1 or more")
        if start not in ("random", "svd"):
            raise ValueError(f"start must be 'random' or 'svd', not {start!r}")
        if update not in ("joint", "alternating"):
            raise ValueError(f"update must be 'joint' or 'alternating', not {update!r}")
        super().__init__(maker, label_bits)
        self.gamma = float(gamma)
        self.rank = rank
        self.join_tags = join_tags
        self.min_word_freq = min_word_freq
        self.seed = seed
        self.word_table: FeatureTable | None = None
        self._start_from = start
        self._dropout = ComponentDropout(dropout, seed=seed)
        self._update = Alternately() if update == "alternating" else Jointly()
        self._updates = 0

    # ---- shape

    @property
    def is_linear(self) -> bool:
        return self.gamma == 1

    def words(self, words: Words) -> Words:
        return words.with_joined_tags() if self.join_tags else words

    def set_columns(self, columns: dict[str, bool]) -> None:
        super().set_columns(columns)
        self.__dict__.pop("word_extractor", None)

    @cached_property
    def word_extractor(self) -> WordKeyExtractor:
        return WordKeyExtractor(word_templates(**self.columns))

    def start(self, table: FeatureTable, trees: Callable[[], Iterable[tuple[Words, np.ndarray]]]) -> None:
        """Start from random factors or from those of one pass of MIRA over the whole trees; all else is 0."""
        super().start(table, trees)
        if self.gamma == 1:
            return
        keys = (self.word_extractor(words) for words, _ in trees())
        self.word_table = word_dictionary(keys, least=self.min_word_freq)
        weights = self._svd_start(trees()) if self._start_from == "svd" else self._random_start()
        arrays = {name: array for name, array in weights.arrays().items() if name in FACTORS}
        self.replace({**self.means(), **arrays})

    @property
    def arc_shape(self) -> tuple[int, ...]:
        return super().arc_shape if self.gamma > 0 else (0,)

    def _random_start(self) -> LowRankWeights:
        return random_start(self.gamma, 0, self.word_table.size, self.rank, seed=self.seed)

    def _svd_start(self, trees: Iterable[tuple[Words, np.ndarray]]) -> LowRankWeights:
        whole = [(words, heads) for words, heads in trees if (heads >= 0).all()]
        if not whole:
            raise ValueError("start = 'svd' needs sentences whose heads are all annotated, but there are none")
        extractor = LowRankExtractor(self.extractor, self.word_extractor, self.table, self.word_table, self.gamma)
        everything = TreeSpace(projective=False, single_root=False)
        tensor = first_pass_tensor(extractor, *zip(*whole, strict=True), everything, seed=self.seed)
        return svd_start(self.gamma, 0, tensor, self.rank, seed=self.seed)

    # ---- scores

    def features_of(self, words: Words, storage: Storage = ComputedFeatures) -> LowRankFeatures:
        words = self.words(words)
        of_words = WordFeatures(self.word_extractor(words), self.word_table) if self.gamma < 1 else None
        return LowRankFeatures(super().features_of(words, storage), of_words)

    def slots_of(self, features: LowRankFeatures) -> SlotFeatures:
        return features.arcs

    def arcs_of(self, features: LowRankFeatures, is_train: bool) -> LowRankArcs:
        weights = self._low_rank(is_train)
        factors = weights.factors(features)
        if is_train:
            factors = self._dropout(factors, self._updates)
        return LowRankArcs(weights, features, factors, self._update(self._updates), weights.score(features, factors))

    def _low_rank(self, is_train: bool) -> LowRankWeights:
        theta_scale, theta = self.part(ARCS, is_train)
        if self.gamma == 1:
            none = np.zeros((0, 0))
            return LowRankWeights(1.0, theta, none, none, np.zeros((DISTANCES, 0)), {"theta": theta_scale})
        scaled = {name: self.part(name, is_train) for name in FACTORS}
        scales = {"theta": theta_scale, **{name: scale for name, (scale, _) in scaled.items()}}
        return LowRankWeights(self.gamma, theta, *(array for _, array in scaled.values()), scales)

    # ---- learning

    def finish_update(self, optimizer: Optimizer) -> None:
        """As that of `LinearWeights`; the optimiser's grad_clip is the longest gradient of a unit's arcs.

        The farther U, V and W are from 0, the longer their gradients are, and so steps of one rate may grow and grow.
        """
        pending = bool(self._pending)
        super().finish_update(optimizer)
        self._updates += pending

    def clipped(self, gradients: list[UnitGradient], optimizer: Optimizer) -> list[UnitGradient]:
        if not optimizer.grad_clip or self._own_steps[0] or self.is_linear:
            return gradients
        return [replace(each, arcs=each.arcs.shortened(optimizer.grad_clip)) for each in gradients]

    @property
    def may_clip(self) -> bool:
        return not self.is_linear

    def moving(self) -> tuple[str, ...]:
        parts = self._update(self._updates)
        return (LABELS, *(ARCS if part == PARTS[0] else part for part in parts))

    def state(self) -> dict[str, np.ndarray]:
        return {**super().state(), "updates": np.array(self._updates)}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        super().restore(state)
        self._updates = int(state["updates"])

    # ---- serialisation

    def to_dict(self) -> dict[str, Any]:
        words = None if self.word_table is None else self.word_table.keys
        return {**super().to_dict(), "gamma": self.gamma, "rank": self.rank, "words": words}

    def from_dict(self, message: dict[str, Any]) -> None:
        found = {name: message.get(name) for name in ("gamma", "rank")}
        if found != {"gamma": self.gamma, "rank": self.rank}:
            raise ValueError(f"the weights are of {found}, the model of gamma {self.gamma} and rank {self.rank}")
        super().from_dict(message)
        if self.gamma < 1:
            self.word_table = FeatureDictionary(np.asarray(message["words"], dtype=np.uint64))
            shapes = {"U": (self.word_table.size, self.rank), "V": (self.word_table.size, self.rank)}
            factors = {name: unpacked(message[name], shape, np.float32) for name, shape in shapes.items()}
            factors["W"] = unpacked(message["W"], (DISTANCES, self.rank))
            self.replace({**self.means(), **factors})
