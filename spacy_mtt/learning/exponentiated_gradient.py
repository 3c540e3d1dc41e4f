"""Exponentiated gradient on the dual: max-margin as in Koo et al. (2007), Figure 2, and log-linear models.

Each example i keeps dual arc scores theta_i, which define a distribution over its trees with marginals mu_i. A visit
raises theta_i along the dual's gradient and moves w by the change in mu_i. The gap between primal and dual bounds
how far w is from the optimum, and is reported after every pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .duals import DualLoss, LogLinearLoss, MaxMarginLoss, rise_of_dual
from .problem import Problem
from .step_sizes import HalvedPerPass, SearchedPerExample, StepSize


@dataclass(frozen=True)
class _Update:
    """What an update of one example would make of its duals; `direction` is by how much the marginals fall."""

    theta: np.ndarray
    mu: np.ndarray
    value: float
    direction: np.ndarray
    gain: Callable[[], float]


class ExponentiatedGradient:
    """An online learner for ``Trainer``; ``max_margin_eg`` and ``log_linear_eg`` make the usual ones.

    C: the weight of the losses against |w|^2 / 2. beta: theta at the arcs of the gold trees to start from, 0 elsewhere.
    primal: whether the primal objective, and with it the gap, is computed after each pass.
    negligible: changes of a marginal up to this wait until there is more to change, so that w is that of marginals
        which are off by as much at most. Most arcs are improbable, and their features take most of a visit's time.

    Each visit takes one inference an attempted step, O(n^3); each pass one more over all sentences for the primal.
    Memory: two arrays in the shape of its scores for each example.
    """

    def __init__(
        self,
        problem: Problem,
        loss: DualLoss,
        step_size: StepSize,
        *,
        C: float,
        beta: float = 9.0,
        primal: bool = True,
        negligible: float = 0.0,
    ):
        if not C > 0:
            raise ValueError(f"C must be above 0, not {C}")
        self.problem = problem
        self.loss = loss
        self.step_size = step_size
        self.C = C
        self.primal = primal
        self.negligible = negligible
        self.theta = [beta * example.gold for example in problem.examples]
        self._solve_all()
        step_size.start(len(problem.examples))
        self._dual = -math.inf  # of the pass before; there is none yet

    @property
    def weights(self) -> np.ndarray:
        """w, the array in use."""
        return self._weights

    def visit(self, index: int) -> None:
        """One update of the duals of an example, and of w."""
        example = self.problem.examples[index]
        scores = example.features.score(self._weights)
        cost = example.cost

        def attempt(rate: float) -> _Update:
            theta = self.loss.update(self.theta[index], scores, cost, rate)
            distribution = self.problem.space.distribution(theta)
            value = self.loss.value(distribution, cost)
            direction = self.mu[index] - distribution.marginals
            settled = np.abs(direction) <= self.negligible
            direction[settled] = 0.0
            mu = np.where(settled, self.mu[index], distribution.marginals)
            before = float(self._values[index])

            def gain() -> float:
                if not direction.any():
                    return 0.0
                square = example.features.squared_norm(direction)
                return rise_of_dual(value, before, direction, scores, self.C, square, neglected=self.negligible)

            return _Update(theta, mu, value, direction, gain)

        update = self.step_size.choose(index, attempt)
        if update is None:
            return
        self.theta[index], self.mu[index], self._values[index] = update.theta, update.mu, update.value
        example.features.add(self._weights, self.C * update.direction)

    def end_pass(self) -> dict[str, float]:
        """dual, rate (the mean one), and if asked for primal, gap = primal - dual >= 0, relative_gap = gap / primal."""
        self._sum_weights()  # from the duals, against drift
        dual = self._dual_objective()
        self.step_size.end_pass(dual > self._dual)
        self._dual = dual
        values = {"dual": dual, "rate": float(self.step_size.state().mean())}
        if not self.primal:
            return values
        primal = self.primal_objective()
        gap = primal - dual
        return {**values, "primal": primal, "gap": gap, "relative_gap": gap / primal if primal > 0 else 0.0}

    def primal_objective(self) -> float:
        """C sum of losses + |w|^2 / 2, by one inference over all sentences."""
        losses = 0.0
        for batch in self.problem.batches():
            scores = [example.features.score(self._weights) for example in batch]
            losses += float(self.loss.losses(scores, batch, self.problem.space).sum())
        return self.C * losses + 0.5 * float(self._weights @ self._weights)

    def state(self) -> dict[str, np.ndarray]:
        """Between passes: duals and marginals in flat arrays, the rates, and the last dual objective."""
        return {
            "theta": np.concatenate([theta.ravel() for theta in self.theta]),
            "mu": np.concatenate([mu.ravel() for mu in self.mu]),
            "step_size": self.step_size.state(),
            "dual": np.array(self._dual),
        }

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`; ValueError if it is of other sentences."""
        sizes = [theta.size for theta in self.theta]
        if state["theta"].shape != (sum(sizes),):
            raise ValueError(f"the state has {state['theta'].size} duals, the problem {sum(sizes)}")
        self.theta = self._by_example(state["theta"])
        self._solve_all()
        self.mu = self._by_example(state["mu"])
        self._sum_weights()
        self.step_size.restore(state["step_size"])
        self._dual = float(state["dual"])

    def _by_example(self, flat: np.ndarray) -> list[np.ndarray]:
        parts = np.split(np.array(flat, dtype=np.float64), np.cumsum([theta.size for theta in self.theta])[:-1])
        return [part.reshape(theta.shape) for part, theta in zip(parts, self.theta, strict=True)]

    def _solve_all(self) -> None:
        """Marginals, values and w from the duals."""
        self.mu, self._values = [], np.zeros(len(self.theta))
        for index, (example, theta) in enumerate(zip(self.problem.examples, self.theta, strict=True)):
            distribution = self.problem.space.distribution(theta)
            self.mu.append(distribution.marginals)
            self._values[index] = self.loss.value(distribution, example.cost)
        self._sum_weights()

    def _sum_weights(self) -> None:
        self._weights = np.zeros(self.problem.n_features)
        for example, mu in zip(self.problem.examples, self.mu, strict=True):
            example.features.add(self._weights, self.C * (example.gold - mu))

    def _dual_objective(self) -> float:
        return self.C * float(self._values.sum()) - 0.5 * float(self._weights @ self._weights)


def max_margin_eg(
    problem: Problem,
    *,
    C: float,
    beta: float = 9.0,
    step_size: StepSize | None = None,
    primal: bool = True,
    negligible: float = 0.0,
) -> ExponentiatedGradient:
    """Max-margin as in Koo et al. (2007), Figure 2: eta = 1 / C, halved after each pass that does not raise the dual.

    For the paper's order of updates, run it by a `Trainer` without a seed.
    """
    return ExponentiatedGradient(
        problem, MaxMarginLoss(), step_size or HalvedPerPass(), C=C, beta=beta, primal=primal, negligible=negligible
    )


def log_linear_eg(
    problem: Problem,
    *,
    C: float,
    beta: float = 9.0,
    step_size: StepSize | None = None,
    primal: bool = True,
    negligible: float = 0.0,
) -> ExponentiatedGradient:
    """A log-linear model by exponentiated gradient, with step sizes searched for (Collins et al. 2008)."""
    return ExponentiatedGradient(
        problem,
        LogLinearLoss(),
        step_size or SearchedPerExample(),
        C=C,
        beta=beta,
        primal=primal,
        negligible=negligible,
    )
