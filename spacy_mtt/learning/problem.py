"""What a learner of a linear model is given: annotated sentences with features, and a tree space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from .arc_features import ArcFeatures
from .tree_space import TreeSpace, batches_by_length

# Scores of a padded batch: 2 MB of them.
MAX_CELLS = 1 << 18


class ArcExample:
    """The features of a sentence of n words, and its tree.

    heads: (n,) ints. labels: (n,) ints in 0..n_labels-1 for labelled models, whose scores are (n+1, n+1, n_labels).
    """

    def __init__(self, features: ArcFeatures, heads, labels=None, *, n_labels: int = 0):
        self.features = features
        self.heads = np.asarray(heads, dtype=np.intp)
        self.labels = None if labels is None else np.asarray(labels, dtype=np.intp)
        self.n_labels = n_labels
        for name, value in (("heads", self.heads), ("labels", self.labels)):
            if value is not None and value.shape != (features.n,):
                raise ValueError(f"{name} have the shape {value.shape}, but the sentence has {features.n} words")
        if (self.labels is None) != (n_labels == 0):
            raise ValueError(f"n_labels is {n_labels}, but must be above 0 if labels are given, and 0 if not")
        if self.labels is not None and ((self.labels < 0) | (self.labels >= n_labels)).any():
            raise ValueError(f"labels must be in 0..{n_labels - 1}, not {self.labels.tolist()}")

    @property
    def n(self) -> int:
        """The number of words."""
        return len(self.heads)

    @property
    def tree(self) -> tuple[np.ndarray, ...]:
        """(heads,) or (heads, labels): the arguments of `TreeDistribution.score` and `log_prob`."""
        return (self.heads,) if self.labels is None else (self.heads, self.labels)

    @property
    def gold(self) -> np.ndarray:
        """1.0 at the arcs of the tree, 0.0 elsewhere: (n+1, n+1), or (n+1, n+1, n_labels)."""
        return self.indicators(*self.tree)

    @property
    def cost(self) -> np.ndarray:
        """1.0 for each wrong (labelled) arc: E of Koo et al. (2007), section 4.2, as a sum over arcs."""
        return 1.0 - self.gold

    def indicators(self, heads: np.ndarray, labels: np.ndarray | None = None) -> np.ndarray:
        """As `gold`, of another tree over the same words."""
        shape = (self.n + 1, self.n + 1)
        words = np.arange(1, self.n + 1)
        arcs = np.zeros(shape if labels is None else (*shape, self.n_labels))
        arcs[(heads, words) if labels is None else (heads, words, labels)] = 1.0
        return arcs


@dataclass(frozen=True)
class Problem:
    """The examples that a tree space holds, and a count of the others.

    excluded: how many sentences were left out, by reason (see `TreeSpace.objection`). n_features: the length of w.
    """

    examples: tuple[ArcExample, ...]
    space: TreeSpace
    n_features: int
    excluded: dict[str, int]

    @classmethod
    def of(cls, examples: Sequence[ArcExample], space: TreeSpace, n_features: int) -> Problem:
        """Sort out what `space` cannot hold. ValueError if nothing is left."""
        objections = [space.objection(example.heads) for example in examples]
        held = tuple(example for example, reason in zip(examples, objections, strict=True) if reason is None)
        excluded = dict(Counter(reason for reason in objections if reason is not None))
        if not held:
            raise ValueError(f"no sentence to learn from: {len(objections)} given, left out: {excluded}")
        return cls(held, space, n_features, excluded)

    def batches(self) -> Iterator[list[ArcExample]]:
        """The examples in batches of like length, each once."""
        max_cells = MAX_CELLS // max(1, self.examples[0].n_labels)
        for indices in batches_by_length([example.n for example in self.examples], max_cells):
            yield [self.examples[index] for index in indices]
