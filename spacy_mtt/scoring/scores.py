"""What a scoring model gives: arc scores of every unit, and label scores where they are asked for."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from thinc.types import Floats2d, Floats3d, Floats4d, Ints1d

from .units import Units


@dataclass(frozen=True)
class Scores:
    """The output of a scoring model, `Model[tuple[list[Doc], Units], Scores]`.

    units: the units scored.
    arcs: for each bucket of the units (B, N+1, N+1), ``arcs[b, h, m]``; column 0, diagonal and padding mean nothing.
    labels_at: from flat head rows (n_words,), the row of the head of each word, to label scores (n_words, L).
    labels_everywhere: label scores of every arc: for each bucket (B, N+1, N+1, L).
    tags: scores of part-of-speech tags (n_words, number of tags), in training alone and of models that have them.

    The backward pass of the model takes `ScoreGradients`.
    """

    units: Units
    arcs: list[Floats3d]
    labels_at: Callable[[Ints1d], Floats2d]
    labels_everywhere: Callable[[], list[Floats4d]]
    tags: Floats2d | None = None


@dataclass(frozen=True)
class ScoreGradients:
    """The gradient of a loss with respect to `Scores`.

    arcs: for each bucket (B, N+1, N+1), zero where no arc is.
    labels_at: (n_words, L), with respect to what the last call of `Scores.labels_at` gave, or None.
    labels_everywhere: the same of `Scores.labels_everywhere`: for each bucket (B, N+1, N+1, L), zero where no arc
        is, or None.
    tags: (n_words, number of tags), or None.
    """

    arcs: list[Floats3d]
    labels_at: Floats2d | None = None
    labels_everywhere: list[Floats4d] | None = None
    tags: Floats2d | None = None
