"""Batch training of log-linear models: L(w) = -C sum_i log P(y_i | x_i; w) + |w|^2 / 2.

Koo et al. (2007), section 4.1, after Sha and Pereira (2003). L is convex with a curvature of at least 1 everywhere, so
that its gradient bounds the error: |w - w*| <= |grad L(w)| and L(w) - L(w*) <= |grad L(w)|^2 / 2.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from scipy.optimize import minimize

from .duals import padded_trees
from .merged_features import MergedFeatures
from .problem import Problem


class LogLinearObjective:
    """L and its gradient over a problem. O(n^3) a sentence."""

    def __init__(self, problem: Problem, *, C: float):
        if not C > 0:
            raise ValueError(f"C must be above 0, not {C}")
        self.problem = problem
        self.C = C

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        """(L(w), its gradient (n_features,))."""
        value = 0.5 * float(weights @ weights)
        gradient = np.array(weights, dtype=np.float64)
        for batch in self.problem.batches():
            distribution = self.problem.space.distributions([example.features.score(weights) for example in batch])
            for example, mu in zip(batch, distribution.marginals, strict=True):
                size = example.n + 1
                example.features.add(gradient, self.C * (mu[:size, :size] - example.gold))
            value -= self.C * float(distribution.log_prob(*padded_trees(batch)).sum())
        return value, gradient


class Optimiser(Protocol):
    """A method of `scipy.optimize.minimize` and its options, less those that would stop it on other grounds."""

    method: str

    def options(self, max_iterations: int) -> dict[str, Any]: ...


@dataclass(frozen=True)
class ConjugateGradient:
    """Non-linear conjugate gradient (Polak and Ribiere), as in the paper."""

    method: str = "CG"

    def options(self, max_iterations: int) -> dict[str, Any]:
        return {"maxiter": max_iterations, "gtol": 0.0}


@dataclass(frozen=True)
class LBFGS:
    """Limited-memory BFGS. memory: how many pairs of vectors it keeps."""

    memory: int = 10
    method: str = "L-BFGS-B"

    def options(self, max_iterations: int) -> dict[str, Any]:
        most = 20 * max_iterations  # evaluations; no line search needs so many
        return {"maxiter": max_iterations, "maxfun": most, "maxcor": self.memory, "gtol": 0.0, "ftol": 0.0}


@dataclass(frozen=True)
class BatchReport:
    """Where batch training stands. converged: whether the gradient's norm is small enough."""

    iterations: int
    value: float
    gradient_norm: float
    converged: bool
    excluded: dict[str, int]


Report = Callable[[BatchReport], None]
Watch = Callable[[int, np.ndarray], bool]


class _Solver:
    """The objective as scipy calls it, which keeps the last gradient and knows when to stop.

    Its weights are those of `MergedFeatures`: the same steps in fewer dimensions.
    """

    def __init__(self, objective: LogLinearObjective, tolerance: float, report: Report | None, watch: Watch | None):
        self.objective = objective
        self.features = MergedFeatures(objective.problem)
        self.tolerance = tolerance
        self.report = report
        self.watch = watch
        self.iterations = 0
        self._at: np.ndarray | None = None

    def __call__(self, weights: np.ndarray) -> tuple[float, np.ndarray]:
        if self._at is None or not np.array_equal(self._at, weights):
            value, gradient = self.objective(self.features.spread(weights))
            self._last = value, self.features.merge_gradient(gradient)
            self._at = weights.copy()
        return self._last[0], self._last[1].copy()

    def standing(self, weights: np.ndarray) -> BatchReport:
        value, gradient = self(weights)
        norm = float(np.linalg.norm(gradient))
        converged = norm <= self.tolerance * float(np.linalg.norm(weights))
        return BatchReport(self.iterations, value, norm, converged, dict(self.objective.problem.excluded))

    def after_iteration(self, weights: np.ndarray) -> None:
        self.iterations += 1
        standing = self.standing(weights)
        if self.report is not None:
            self.report(standing)
        stop = self.watch is not None and self.watch(self.iterations, self.features.spread(weights))
        if stop or standing.converged:
            raise StopIteration


def train_log_linear(
    problem: Problem,
    *,
    C: float,
    optimiser: Optimiser | None = None,
    tolerance: float = 1e-4,
    max_iterations: int = 500,
    initial: np.ndarray | None = None,
    report: Report | None = None,
    watch: Watch | None = None,
) -> tuple[np.ndarray, BatchReport]:
    """The weights that minimise L, and how it ended.

    optimiser: LBFGS() if not given.
    tolerance: stop when |grad L(w)| <= tolerance * |w|, which bounds the relative error of w. Line searches compare
        values of L, so that 1e-7 is about as low as float64 allows.
    max_iterations: a limit, which the paper tunes as its T. A run that meets it, or whose line search finds nothing
        better in float64, is not `converged`.
    initial: where to start, 0 if not given; features that no sentence tells apart start from their mean.
    report: called after each iteration.
    watch: called after each iteration with its number, from 1, and its weights; True ends the training there.
    """
    optimiser = LBFGS() if optimiser is None else optimiser
    start = np.zeros(problem.n_features) if initial is None else np.array(initial, dtype=np.float64)
    if start.shape != (problem.n_features,):
        raise ValueError(f"initial weights have the shape {start.shape}, but there are {problem.n_features} features")
    solver = _Solver(LogLinearObjective(problem, C=C), tolerance, report, watch)
    found = solver.features.merge(start)
    if max_iterations > 0 and not solver.standing(found).converged:
        options, watched = optimiser.options(max_iterations), solver.after_iteration
        found = minimize(solver, found, jac=True, method=optimiser.method, callback=watched, options=options).x
    return solver.features.spread(found), solver.standing(found)
