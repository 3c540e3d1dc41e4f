"""What a learner of a linear model is given: annotated sentences with features, and a tree space."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .arc_features import ArcFeatures
from .gold_tree import GoldTree
from .tree_space import TreeSpace, batches_by_length

# Scores of a padded batch: 2 MB of them.
MAX_CELLS = 1 << 18


class ArcExample(GoldTree):
    """A `GoldTree` with the features of its sentence."""

    def __init__(self, features: ArcFeatures, heads, labels=None, *, n_labels: int = 0):
        super().__init__(heads, labels, n_labels=n_labels)
        self.features = features
        if self.heads.shape != (features.n,):
            raise ValueError(f"heads have the shape {self.heads.shape}, but the sentence has {features.n} words")


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
