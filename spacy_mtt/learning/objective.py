"""What an objective is and gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np


@dataclass(frozen=True)
class TreeLoss:
    """The loss of each sentence of a batch.

    value: (B,) in nats. gradient: the shape of the scores, zero where no arc is.
    relaxed: (B,) bool, sentences whose annotation was partly set aside. skipped: (B,) bool, those left out.
    """

    value: np.ndarray
    gradient: np.ndarray
    relaxed: np.ndarray
    skipped: np.ndarray


class Objective(Protocol):
    """From scores and annotation to loss and gradient; `labelled` says whether over arcs or labelled arcs."""

    labelled: bool

    def conflicting(self, heads: np.ndarray) -> np.ndarray:
        """Which annotated arcs the tree space cannot hold together: (n,) bool from heads (n,), -1 where unknown."""
        ...

    def __call__(self, scores: np.ndarray, allowed: np.ndarray, lengths: np.ndarray) -> TreeLoss: ...
