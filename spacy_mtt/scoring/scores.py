"""What a scoring model gives: arc scores of every unit, and label scores where they are asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from thinc.types import Floats1d, Floats2d, Floats3d, Floats4d, Ints1d

from .units import Units


class SparseScores(Protocol):
    """What can be asked of scores by weights of sparse features.

    is_linear: whether they are linear in the weights, w . phi(h -> m). Those of labels always are.
    """

    is_linear: bool

    def squared_norm(self, unit: int, coefficients: np.ndarray) -> float:
        """That of the gradient of sum c s in the weights, of a unit; coefficients (n+1, n+1) of arcs, or
        (n+1, n+1, L) of labelled arcs."""
        ...

    def label_norms(self, head_rows: np.ndarray) -> np.ndarray:
        """(n_words,) |phi(h -> m)|^2 of one label of each word, with heads as in `Scores.labels_at`."""
        ...

    def weights_squared_norm(self, *, labels: bool) -> float:
        """|w|^2 of the weights of arcs, and of those of labels as well."""
        ...


@dataclass(frozen=True)
class Scores:
    """The output of a scoring model, `Model[tuple[list[Doc], Segmentation], Scores]`.

    units: the units scored.
    arcs: for each bucket of the units (B, N+1, N+1), ``arcs[b, h, m]``; column 0, diagonal and padding mean nothing.
        In prediction a bucket may be computed when it is asked for, and not be kept.
    labels_at: from flat head rows (n_words,), the row of the head of each word, to label scores (n_words, L).
    labels_everywhere: label scores of every arc: for each bucket (B, N+1, N+1, L).
    tags: scores of part-of-speech tags (n_words, number of tags), in training alone and of models that have them.
    starts: (n_tokens,) the log-odds that a token starts a sentence, for all tokens of all docs, in training alone and
        of models that have them.
    sparse: what can be asked of a model of sparse features, None of any other.

    The backward pass of the model takes `ScoreGradients`.
    """

    units: Units
    arcs: Sequence[Floats3d]
    labels_at: Callable[[Ints1d], Floats2d]
    labels_everywhere: Callable[[], Sequence[Floats4d]]
    tags: Floats2d | None = None
    starts: Floats1d | None = None
    sparse: SparseScores | None = None

    @property
    def largest_arc(self) -> float:
        """The largest absolute value of an arc score, with what means nothing; NaN if there is one."""
        return max((float(abs(bucket).max()) for bucket in self.arcs), default=0.0)


@dataclass(frozen=True)
class ScoreGradients:
    """The gradient of a loss with respect to `Scores`.

    arcs: for each bucket (B, N+1, N+1), zero where no arc is.
    labels_at: (n_words, L), with respect to what the last call of `Scores.labels_at` gave, or None.
    labels_everywhere: the same of `Scores.labels_everywhere`: for each bucket (B, N+1, N+1, L), zero where no arc
        is, or None.
    tags: (n_words, number of tags), or None. starts: (n_tokens,), or None.
    own_steps: whether the weights of a model of sparse features are to move by just minus this, whatever the optimiser
        says: those of arcs (and, with `labels_everywhere`, of labels), and those of labels.
    """

    arcs: list[Floats3d]
    labels_at: Floats2d | None = None
    labels_everywhere: list[Floats4d] | None = None
    tags: Floats2d | None = None
    starts: Floats1d | None = None
    own_steps: tuple[bool, bool] = (False, False)
