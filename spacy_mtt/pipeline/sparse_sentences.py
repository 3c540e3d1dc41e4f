"""The training sentences of an `mtt_parser` with sparse features, for batch training: all in memory, and no docs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from spacy.training import Example

from spacy_mtt.features.extraction import CachedFeatures, ComputedFeatures, SlotFeatures
from spacy_mtt.scoring.linear_weights import LinearWeights
from spacy_mtt.scoring.sparse_model import weights_of
from spacy_mtt.scoring.units import Units
from spacy_mtt.scoring.words import words_of

from .component import MatrixTreeParser
from .gold import GoldTrees, gold_of

STORAGE = {"cached": CachedFeatures, "computed": ComputedFeatures}
State = dict[str, np.ndarray]


@dataclass(frozen=True)
class Sentence:
    """A training sentence.

    features: as the scorer has them; slots: those of arcs among them. heads: (n,), and label numbers (n,), -1 where
    unknown. names: of the labels. key: tells it apart.
    """

    features: Any
    slots: SlotFeatures
    heads: np.ndarray
    labels: np.ndarray
    names: list[str | None]
    key: bytes

    @cached_property
    def gold(self) -> GoldTrees:
        """Its tree, as that of a batch of one."""
        n = len(self.heads)
        return GoldTrees(Units(np.zeros(1, dtype=np.intp), [np.arange(n)], [n]), self.heads, self.names)


@dataclass(frozen=True)
class Pass:
    """What a pass did. values: what the learner reports, by name. finished: whether there is nothing more to learn."""

    number: int
    values: dict[str, float]
    finished: bool = False


def has_sparse_features(parser: object) -> bool:
    """Whether a component is an `mtt_parser` with a linear or low-rank scorer."""
    return isinstance(parser, MatrixTreeParser) and any(isinstance(shim, LinearWeights) for shim in parser.model.shims)


def sentences_of(parser: MatrixTreeParser, examples: Iterable[Example], storage: str = "cached") -> list[Sentence]:
    """The training sentences of an initialised parser, with the features that it will see in them.

    storage: "cached" keeps all features; "computed" finds those of arcs anew in every pass, in a tenth of the memory.
    """
    shim, found = weights_of(parser.model), []
    for example in examples:
        docs, gold = [example.predicted], gold_of(example)
        units = gold.units
        parts = zip(
            words_of(docs, units),
            units.split(gold.heads),
            units.split(gold.label_numbers(parser.label_set)),
            units.split(np.array(gold.labels, dtype=object)),
            strict=True,
        )
        for unit, (words, heads, labels, names) in enumerate(parts):
            shim.has_tags |= any(words.tags)
            features = shim.features_of(words, STORAGE[storage])
            known = heads, labels, names.tolist(), gold.key(unit, docs)
            found.append(Sentence(features, shim.slots_of(features), *known))
    return found
