"""Log-linear models by stochastic gradient descent, with lazy decay of the weights."""

from __future__ import annotations

import numpy as np

from .lazy_weights import LazyWeights
from .problem import Problem


class StochasticGradient:
    """An online learner for `Trainer` that minimises -C sum_i log P(y_i | x_i; w) + |w|^2 / 2.

    With N examples and decay = 1 / (C N), each visit steps down -log P(y_i | x_i; w) + decay |w|^2 / 2,
    whose mean over examples is the objective over C N. The step is rate / (1 + rate * decay * t) at visit t
    (Bottou 2012, "Stochastic gradient descent tricks"), so that it converges without a choice of
    schedule.
    """

    def __init__(self, problem: Problem, *, C: float, rate: float = 0.1):
        if not C > 0:
            raise ValueError(f"C must be above 0, not {C}")
        self.problem = problem
        self.decay = 1.0 / (C * len(problem.examples))
        if not 0 < rate * self.decay < 1:
            raise ValueError(f"the rate must be above 0 and below C times the number of examples, not {rate}")
        self.C = C
        self.rate = rate
        self._weights = LazyWeights(np.zeros(problem.n_features))
        self._visits = 0
        self._loss = 0.0

    @property
    def weights(self) -> np.ndarray:
        """w, a new array."""
        return self._weights.mean()

    def visit(self, index: int) -> None:
        """One step by one example."""
        example = self.problem.examples[index]
        scale, vector = self._weights.scaled
        distribution = self.problem.space.distribution(scale * example.features.score(vector))
        step = self.rate / (1.0 + self.rate * self.decay * self._visits)
        self._visits += 1
        self._loss -= distribution.log_prob(*example.tree)
        direction = example.gold - distribution.marginals

        def add(weights: np.ndarray, factor: float) -> None:
            example.features.add(weights, (factor * step) * direction)

        self._weights.step(add, decay=step * self.decay)

    def end_pass(self) -> dict[str, float]:
        """loss: -log P summed over the pass, each by the weights of its time. squared_norm: |w|^2."""
        values = {"loss": self._loss, "squared_norm": self._weights.squared_norm}
        self._loss = 0.0
        return values

    def state(self) -> dict[str, np.ndarray]:
        """Between passes."""
        return {**self._weights.state(), "visits": np.array(self._visits)}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`; ValueError if it belongs to another number of features."""
        self._weights.restore(state)
        self._visits = int(state["visits"])
        self._loss = 0.0
