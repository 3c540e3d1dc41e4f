"""What a scoring model gives: arc scores of every unit, and label scores where they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from thinc.types import Floats2d, Floats3d, Floats4d, Ints1d

from .units import Units


class LinearScores(Protocol):
    """What can be asked of scores that are linear in weights, w . phi(h -> m)."""

    def squared_norm(self, unit: int, coefficients: np.ndarray) -> float:
        """|sum c phi|^2 of a unit; coefficients (n+1, n+1) of arcs, or (n+1, n+1, L) of labelled arcs."""
        ...

    def label_norms(self, head_rows: np.ndarray) -> np.ndarray:
        """(n_words,) |phi(h -> m)|^2 of one label of each word, with heads as in `Scores.labels_at`."""
        ...

    def weights_squared_norm(self, *, labels: bool) -> float:
        """|w|^2 of the weights of arcs, and of those of labels as well."""
        ...


@dataclass(frozen=True)
class Scores:
    """The output of a scoring model, `Model[tuple[list[Doc], Units], Scores]`.

    units: the units scored.
    arcs: for each bucket of the units (B, N+1, N+1), ``arcs[b, h, m]``; column 0, diagonal and padding mean nothing.
    labels_at: from flat head rows (n_words,), the row of the head of each word, to label scores (n_words, L).
    labels_everywhere: label scores of every arc: for each bucket (B, N+1, N+1, L).
    tags: scores of part-of-speech tags (n_words, number of tags), in training alone and of models that have them.
    linear: what can be asked of a linear model, None of any other.

    The backward pass of the model takes `ScoreGradients`.
    """

    units: Units
    arcs: list[Floats3d]
    labels_at: Callable[[Ints1d], Floats2d]
    labels_everywhere: Callable[[], list[Floats4d]]
    tags: Floats2d | None = None
    linear: LinearScores | None = None


@dataclass(frozen=True)
class ScoreGradients:
    """The gradient of a loss with respect to `Scores`.

    arcs: for each bucket (B, N+1, N+1), zero where no arc is.
    labels_at: (n_words, L), with respect to what the last call of `Scores.labels_at` gave, or None.
    labels_everywhere: the same of `Scores.labels_everywhere`: for each bucket (B, N+1, N+1, L), zero where no arc
        is, or None.
    tags: (n_words, number of tags), or None.
    is_step: whether the weights of a linear model are to move by just minus this, whatever the optimiser says.
    """

    arcs: list[Floats3d]
    labels_at: Floats2d | None = None
    labels_everywhere: list[Floats4d] | None = None
    tags: Floats2d | None = None
    is_step: bool = False
