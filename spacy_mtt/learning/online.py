"""Perceptron, MIRA and their like: infer, then take one step along the difference of feature vectors.

Each learner is a pair of objects:

    learner                                                   infer                  step
    averaged perceptron (Collins 2002)                        Decode                 UnitStep
    1-best MIRA (McDonald, Crammer and Pereira 2005)          CostAugmentedDecode    PassiveAggressive
    passive-aggressive log-linear (Martins et al. 2010)       InferMarginals         PassiveAggressive
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np

from .averaging import AveragedWeights
from .gold_tree import GoldTree
from .problem import Problem
from .tree_space import TreeSpace


@dataclass(frozen=True)
class Inferred:
    """What inference found: a loss >= 0, and gold less predicted arcs in the shape of the scores (the direction)."""

    loss: float
    direction: np.ndarray


class Infer(Protocol):
    """From scores and the gold tree to a loss and a direction."""

    def __call__(self, scores: np.ndarray, example: GoldTree, space: TreeSpace) -> Inferred: ...


class Step(Protocol):
    """How far to go along a direction whose feature vector has this squared norm."""

    def __call__(self, inferred: Inferred, squared_norm: float) -> float: ...


class Averaged(Protocol):
    """Parameters and their mean over the steps."""

    def mean(self) -> Any: ...
    def state(self) -> dict[str, np.ndarray]: ...
    def restore(self, state: dict[str, np.ndarray]) -> None: ...


class Decode:
    """The best tree against the gold one. loss = s(best) - s(gold)."""

    def __call__(self, scores: np.ndarray, example: GoldTree, space: TreeSpace) -> Inferred:
        return _against_best(scores, example, space)


class CostAugmentedDecode:
    """The tree that violates the margin most. loss = max_y s(y) + wrong arcs of y - s(gold)."""

    def __call__(self, scores: np.ndarray, example: GoldTree, space: TreeSpace) -> Inferred:
        return _against_best(scores + example.cost, example, space)


class InferMarginals:
    """Expected arcs against gold ones. loss = -log p(gold)."""

    def __call__(self, scores: np.ndarray, example: GoldTree, space: TreeSpace) -> Inferred:
        distribution = space.distribution(scores)
        return Inferred(-distribution.log_prob(*example.tree), example.gold - distribution.marginals)


def _against_best(scores: np.ndarray, example: GoldTree, space: TreeSpace) -> Inferred:
    best = space.distribution(scores).argmax()
    direction = example.gold - (example.indicators(best) if example.labels is None else example.indicators(*best))
    # Summed over the arcs that differ: exactly 0 where the trees are the same.
    return Inferred(max(-math.fsum(scores[direction != 0] * direction[direction != 0]), 0.0), direction)


class UnitStep:
    """The perceptron's: the whole difference whenever there is one."""

    def __call__(self, inferred: Inferred, squared_norm: float) -> float:
        return 1.0 if squared_norm > 0 else 0.0


class PassiveAggressive:
    """The smallest step that brings the loss, if linear, to 0, but at most C (PA-I of Crammer et al. 2006)."""

    def __init__(self, C: float):
        if not C > 0:
            raise ValueError(f"C must be above 0, not {C}")
        self.C = C

    def __call__(self, inferred: Inferred, squared_norm: float) -> float:
        return min(self.C, inferred.loss / squared_norm) if squared_norm > 0 else 0.0


class AveragedLearner:
    """What learners share whose result is the average of the weights after each visit: counts, reports and states.

    averaged: an `AveragedWeights`, or what does the same for other parameters.
    """

    def __init__(self, problem: Problem, averaged: Averaged):
        self.problem = problem
        self.averaged = averaged
        self._begin_pass()

    @property
    def weights(self) -> Any:
        """The averaged weights."""
        return self.averaged.mean()

    def end_pass(self) -> dict[str, float]:
        """loss: summed over visits, by the weights of the time. errors: gold arcs missed. steps: visits with one."""
        values = {"loss": self._loss, "errors": self._errors, "steps": float(self._steps)}
        self._begin_pass()
        return values

    def state(self) -> dict[str, np.ndarray]:
        """Between passes."""
        return self.averaged.state()

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`."""
        self.averaged.restore(state)
        self._begin_pass()

    def _count(self, inferred: Inferred, tau: float) -> None:
        self._loss += inferred.loss
        self._steps += tau > 0
        # Over labels too, for a labelled model: each wrong (labelled) arc lacks its gold one.
        self._errors += float(np.maximum(inferred.direction, 0).sum())

    def _begin_pass(self) -> None:
        self._loss, self._errors, self._steps = 0.0, 0.0, 0


class StepLearner(AveragedLearner):
    """A learner of a linear model made of an `infer` and a `step`.

    Time: one inference a visit. Memory: two vectors of weights.
    """

    def __init__(self, problem: Problem, infer: Infer, step: Step, *, initial: np.ndarray | None = None):
        super().__init__(problem, AveragedWeights(np.zeros(problem.n_features) if initial is None else initial))
        self.infer = infer
        self.step = step

    def visit(self, index: int) -> None:
        """Infer with the current weights, then step."""
        example = self.problem.examples[index]
        scores = example.features.score(self.averaged.current)
        inferred = self.infer(scores, example, self.problem.space)
        tau = 0.0
        if inferred.direction.any():
            tau = self.step(inferred, example.features.squared_norm(inferred.direction))
        self.averaged.step(example.features, inferred.direction, tau)
        self._count(inferred, tau)


def averaged_perceptron(problem: Problem) -> StepLearner:
    """The averaged perceptron (Collins 2002; for parsing McDonald et al. 2005; Koo et al. 2007, section 6)."""
    return StepLearner(problem, Decode(), UnitStep())


def mira(problem: Problem, *, C: float = 1.0) -> StepLearner:
    """1-best MIRA (McDonald, Crammer and Pereira 2005): PA-I with cost-augmented decoding, averaged."""
    return StepLearner(problem, CostAugmentedDecode(), PassiveAggressive(C))
