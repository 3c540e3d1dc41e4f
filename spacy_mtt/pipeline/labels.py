"""The labels of a parser, and on which arcs each was seen."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

KINDS = ("arc", "root")
Counts = Mapping[str, Mapping[str, int]]


class LabelSet:
    """Labels in the order of the output layer, and how often they and rarer ones were seen in training.

    names: the labels that the parser can give.
    counts: {"arc": {label: count}, "root": {label: count}}, on root arcs and on other arcs, of all labels that were
        seen. A label that was only seen on root arcs is only given to root arcs, and the other way round. One that was
        added by hand stands in both with the count 0.
    """

    def __init__(self, names: Iterable[str] = (), counts: Counts | None = None):
        counts = {} if counts is None else counts
        wrong = [kind for kind in counts if kind not in KINDS]
        if wrong or not all(isinstance(labels, Mapping) for labels in counts.values()):
            raise ValueError(
                'label data must be {"arc": {label: count}, "root": {label: count}}, as `label_data` and '
                f"`spacy init labels` give it, not {str(counts)[:80]}"
            )
        self.names = tuple(names)
        self.counts: dict[str, dict[str, int]] = {kind: dict(counts.get(kind, {})) for kind in KINDS}

    @classmethod
    def from_counts(cls, counts: Counts, min_freq: int) -> LabelSet:
        """The labels seen at least `min_freq` times, and those added by hand, in the order of the alphabet."""
        label_set = cls((), counts)
        totals: dict[str, int] = {}
        for seen in label_set.counts.values():
            for label, count in seen.items():
                totals[label] = totals.get(label, 0) + count
        label_set.names = tuple(sorted(label for label, count in totals.items() if count >= min_freq or count == 0))
        if not label_set.names:
            most = f"{max(totals.values())} times" if totals else "not there"
            raise ValueError(f"no label was seen min_label_freq = {min_freq} times: the most frequent was {most}")
        return label_set

    def __contains__(self, label: str) -> bool:
        """Whether the label was ever seen or added, be it too rare to be learned."""
        return any(label in self.counts[kind] for kind in KINDS)

    def add(self, label: str) -> None:
        """Add a label that may stand on any arc; one that is there stays as it is."""
        if label not in self.names:
            self.names = (*self.names, label)
            for kind in KINDS:
                self.counts[kind].setdefault(label, 0)

    @property
    def possible(self) -> np.ndarray:
        """(2, L) bool: which labels other arcs (row 0) and root arcs (row 1) can have."""
        rows = [[label in self.counts[kind] for label in self.names] for kind in KINDS]
        possible = np.array(rows, dtype=bool).reshape(len(KINDS), len(self.names))
        possible[~possible.any(axis=1)] = True  # nothing was seen there: nothing is known
        return possible

    def to_dict(self) -> dict[str, Any]:
        return {"labels": list(self.names), "label_counts": self.counts}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> LabelSet:
        return cls(data["labels"], data["label_counts"])
