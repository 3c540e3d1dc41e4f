"""Which trees agree with an annotation, and what becomes of one that no tree agrees with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from .annotation import fixed_heads
from .tree_space import TreeSpace


@dataclass(frozen=True)
class Agreeing:
    """The trees of a batch that agree with its annotation.

    scores: those given, -inf at arcs that no agreeing tree has. relaxed: (B,) bool, sentences whose annotation was
    partly set aside. skipped: (B,) bool, those that have no agreeing tree all the same.
    """

    scores: np.ndarray
    relaxed: np.ndarray
    skipped: np.ndarray


class Agreement:
    """Finds the trees of a space that agree with an annotation, whole or partial.

    labelled: whether over labelled arcs.
    conflicts: what to do with an annotation that no tree of the space agrees with (several roots where one is asked
        for, crossing arcs where none may be): "relax" treats the arcs in conflict, all root arcs or all crossing arcs,
        as unannotated; "skip" leaves the sentence out.
    """

    def __init__(
        self, space: TreeSpace, *, labelled: bool = False, conflicts: Literal["relax", "skip"] = "relax"
    ) -> None:
        if conflicts not in ("relax", "skip"):
            raise ValueError(f"conflicts must be 'relax' or 'skip', not {conflicts!r}")
        self.space = space
        self.labelled = labelled
        self.conflicts = conflicts

    def __call__(self, scores: np.ndarray, allowed: np.ndarray, lengths: np.ndarray) -> Agreeing:
        """The agreeing trees of a padded batch.

        scores: (B, N+1, N+1), or (B, N+1, N+1, L) if `labelled`. allowed: bool of the same shape, which arcs agree.
        lengths: (B,) numbers of words.
        """
        agreeing = np.where(allowed, scores, -np.inf)
        feasible = self._feasible(agreeing, lengths)
        relaxed = np.zeros_like(feasible)
        if self.conflicts == "relax":
            for sentence in np.flatnonzero(~feasible):
                n = lengths[sentence]
                loosened = self._loosen(allowed[sentence, : n + 1, : n + 1])
                agreeing[sentence, : n + 1, : n + 1][loosened] = scores[sentence, : n + 1, : n + 1][loosened]
                relaxed[sentence] = True
            if relaxed.any():
                feasible = self._feasible(agreeing, lengths)
        return Agreeing(agreeing, relaxed & feasible, ~feasible)

    def _feasible(self, agreeing: np.ndarray, lengths: np.ndarray) -> np.ndarray:
        return np.isfinite(self.space.padded(agreeing, lengths).log_partition)

    def _loosen(self, allowed: np.ndarray) -> np.ndarray:
        """The arcs of one sentence, bool (n+1, n+1[, L]), with the columns in conflict opened."""
        heads = fixed_heads(allowed.any(axis=-1) if self.labelled else allowed)
        loosened = allowed.copy()
        loosened[:, 1:][:, self.space.conflicting(heads)] = True
        return loosened
