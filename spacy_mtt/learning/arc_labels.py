"""Labels of the arcs of given trees: a linear model of its own, learned by passive-aggressive steps, as RBGParser's.

The score of label l of the arc into word m is <A_l, psi(h -> m)>, each word's for itself. A is kept as (F, L), a row
for each feature.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np


class ArcRows(Protocol):
    """The features of the n arcs of a tree against matrices (see `spacy_mtt.features.words.SparseRows`)."""

    n: int
    size: int

    def project(self, rows: np.ndarray) -> np.ndarray: ...
    def collect(self, coefficients: np.ndarray) -> np.ndarray: ...
    def add(self, rows: np.ndarray, values: np.ndarray, scale: float) -> None: ...


@dataclass(frozen=True)
class LabelExample:
    """The features of the arcs of a tree, and their labels (n,) in 0..L-1."""

    features: ArcRows
    labels: np.ndarray


@dataclass(frozen=True)
class LabelProblem:
    """What `Trainer` asks for, and how many labels there are. Nothing is left out."""

    examples: Sequence[LabelExample]
    n_labels: int
    excluded: dict[str, int]

    @classmethod
    def of(cls, examples: Sequence[LabelExample], n_labels: int) -> LabelProblem:
        """Check them. ValueError if there are none, or on labels out of range."""
        if not examples:
            raise ValueError("no sentence to learn labels from")
        for example in examples:
            labels = np.asarray(example.labels)
            if labels.shape != (example.features.n,) or ((labels < 0) | (labels >= n_labels)).any():
                raise ValueError(
                    f"there must be {example.features.n} labels in 0..{n_labels - 1}, not {labels.tolist()}"
                )
        return cls(examples, n_labels, {})


def best_labels(weights: np.ndarray, features: ArcRows) -> np.ndarray:
    """(n,) the label of each arc with the highest score, the first among equals. O(features L)."""
    return features.project(weights).argmax(axis=1)


class LabelLearner:
    """An online learner for `Trainer`: cost-augmented labels, one step of at most C a sentence, averaged.

    weights: (F, L) float32, the mean over the weights after each visit.
    """

    def __init__(self, problem: LabelProblem, *, C: float = 0.01):
        if not C > 0:
            raise ValueError(f"C must be above 0, not {C}")
        self.problem, self.C = problem, C
        shape = (problem.examples[0].features.size, problem.n_labels)
        self.current, self._total = np.zeros(shape, dtype=np.float32), np.zeros(shape, dtype=np.float32)
        self._visits = 0
        self._begin_pass()

    @property
    def weights(self) -> np.ndarray:
        """The averaged weights; before the first visit, 0."""
        if self._visits == 0:
            return self.current.copy()
        return self.current * np.float32((self._visits + 1) / self._visits) - self._total / np.float32(self._visits)

    def visit(self, index: int) -> None:
        """Label with the current weights, then step."""
        example = self.problem.examples[index]
        words = np.arange(example.features.n)
        scores = example.features.project(self.current)
        scores += 1.0
        scores[words, example.labels] -= 1.0
        found = scores.argmax(axis=1)
        self._visits += 1
        wrong = np.flatnonzero(found != example.labels)
        loss = float((scores[wrong, found[wrong]] - scores[wrong, example.labels[wrong]]).sum())
        if loss > 0:
            direction = np.zeros_like(scores)
            direction[wrong, example.labels[wrong]] = 1.0
            direction[wrong, found[wrong]] -= 1.0
            values = example.features.collect(direction)
            square = float(values.ravel() @ values.ravel())
            if square > 0:
                tau = min(self.C, loss / square)
                example.features.add(self.current, values, tau)
                example.features.add(self._total, values, self._visits * tau)
        self._loss += loss
        self._errors += len(wrong)

    def end_pass(self) -> dict[str, float]:
        """loss and errors, with the margin, summed over visits, by the weights of the time."""
        values = {"loss": self._loss, "errors": float(self._errors)}
        self._begin_pass()
        return values

    def state(self) -> dict[str, np.ndarray]:
        """Between passes."""
        return {"current": self.current.copy(), "total": self._total.copy(), "visits": np.array(self._visits)}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`; ValueError if it is of other features or labels."""
        if state["current"].shape != self.current.shape:
            raise ValueError(f"the state has weights {state['current'].shape}, the problem {self.current.shape}")
        self.current, self._total = (np.array(state[name], dtype=np.float32) for name in ("current", "total"))
        self._visits = int(state["visits"])
        self._begin_pass()

    def _begin_pass(self) -> None:
        self._loss, self._errors = 0.0, 0
