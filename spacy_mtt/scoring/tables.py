"""`spacy_mtt.HashTable.v1` and `spacy_mtt.FeatureDictionary.v1`: which sparse features have weights."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from spacy_mtt.features._arc_keys import ArcKeys
from spacy_mtt.features.tables import FeatureDictionary, FeatureTable, HashTable


class TableMaker(Protocol):
    """Makes the table of a model, and makes it again when the model is loaded."""

    def of(self, trees: Iterable[tuple[ArcKeys, Sequence[int]]]) -> FeatureTable:
        """The table for training trees, each the keys of a sentence and its heads (n,), -1 where unknown."""
        ...

    def to_dict(self, table: FeatureTable) -> dict[str, Any]:
        """What `from_dict` needs, of numbers and arrays."""
        ...

    def from_dict(self, data: dict[str, Any]) -> FeatureTable:
        """The table again."""
        ...


class HashTableMaker:
    """2^bits slots, whatever the features are; some share one. The table needs nothing of the training data."""

    def __init__(self, bits: int = 22):
        self.table = HashTable(bits)

    def of(self, trees: Iterable[tuple[ArcKeys, Sequence[int]]]) -> FeatureTable:
        return self.table

    def to_dict(self, table: FeatureTable) -> dict[str, Any]:
        return {"bits": self.table.bits}

    def from_dict(self, data: dict[str, Any]) -> FeatureTable:
        if data.get("bits") != self.table.bits:
            raise ValueError(
                f"the weights are of 2^{data.get('bits')} hashed features, the model of 2^{self.table.bits}"
            )
        return self.table


class FeatureDictionaryMaker:
    """A slot of its own for each feature of an arc of a training tree; other features have no weight."""

    def of(self, trees: Iterable[tuple[ArcKeys, Sequence[int]]]) -> FeatureTable:
        found = list(trees)
        return FeatureDictionary.of([keys for keys, _ in found], [heads for _, heads in found])

    def to_dict(self, table: FeatureTable) -> dict[str, Any]:
        return {"keys": table.keys}

    def from_dict(self, data: dict[str, Any]) -> FeatureTable:
        if "keys" not in data:
            raise ValueError("the weights are not those of a dictionary of features")
        return FeatureDictionary(np.asarray(data["keys"], dtype=np.uint64))
