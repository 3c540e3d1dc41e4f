"""What an objective is given and gives."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .tree_space import TreeSpace


@dataclass(frozen=True)
class Sentences:
    """What is known of the sentences of a batch besides scores and annotation.

    key: from the row of a sentence to bytes that are the same in every pass, for the same words and gold tree.
    squared_norm: of a sentence by its row, |d/dw sum_hm c[h, m] s(h -> m)|^2 from coefficients in the shape of its
        scores; None of models that leave steps to an optimiser. In a linear model w . phi(h -> m) it is that of
        sum_hm c[h, m] phi(h -> m), wherever w is.
    weights_squared_norm: |w|^2 of a linear model; None of any other.
    """

    key: Callable[[int], bytes]
    squared_norm: Callable[[int, np.ndarray], float] | None = None
    weights_squared_norm: Callable[[], float] | None = None

    @property
    def is_linear(self) -> bool:
        """Whether scores are linear in weights."""
        return self.weights_squared_norm is not None


@dataclass(frozen=True)
class LabelledWords:
    """The words of a batch, sentence after sentence, that get labels at given arcs.

    lengths: (U,) how many words each sentence has. key: as in `Sentences`, by the number of the sentence.
    squared_norms: gives (T,) |phi(h -> m)|^2 of the arc of each word in a linear model of labels; None in any other.
    """

    lengths: np.ndarray
    key: Callable[[int], bytes]
    squared_norms: Callable[[], np.ndarray] | None = None


@dataclass(frozen=True)
class TreeLoss:
    """The loss of each sentence of a batch.

    value: (B,) in nats, or in wrong arcs. gradient: the shape of the scores, zero where no arc is.
    relaxed: (B,) bool, sentences whose annotation was partly set aside. skipped: (B,) bool, those left out.
    is_step: whether weights are to move by just minus the gradient, as online learners of linear models do;
        else by the gradient of the mean over words, as far as the optimiser says.
    """

    value: np.ndarray
    gradient: np.ndarray
    relaxed: np.ndarray
    skipped: np.ndarray
    is_step: bool = False


@dataclass(frozen=True)
class LabelLoss:
    """The summed loss of labels at given arcs, and its gradient (T, L); `is_step` as in `TreeLoss`."""

    value: float
    gradient: np.ndarray
    is_step: bool = False


class Objective(Protocol):
    """From scores and annotation to loss and gradient.

    space: the trees that the model chooses from. labelled: whether over arcs or labelled arcs.
    """

    space: TreeSpace
    labelled: bool

    def begin(self, keys: Iterable[bytes]) -> None:
        """Called before training, with the key of each sentence to come."""
        ...

    def __call__(
        self, scores: np.ndarray, allowed: np.ndarray, lengths: np.ndarray, sentences: Sentences | None = None
    ) -> TreeLoss:
        """The loss of a padded batch, see `LogLikelihood`."""
        ...

    def label_loss(self, xp, scores, gold: np.ndarray, words: LabelledWords) -> LabelLoss:
        """The loss of labels at given arcs, for objectives that are not `labelled`.

        scores: (T, L) of the array module `xp`, -inf for a label that cannot be. gold: (T,), -1 where unknown.
        """
        ...


def on_cpu(scores) -> np.ndarray:
    """Scores of numpy or cupy as a numpy array, for objectives that compute there."""
    return scores.get() if hasattr(scores, "get") else scores
