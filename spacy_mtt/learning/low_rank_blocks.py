"""theta and one of U, V, W at a time, in which the tensor model is linear: batch learners for the low-rank model.

With two of the three matrices fixed, a score is an inner product of one vector, theta followed by the third matrix,
with features that depend on the fixed two. So whatever learns linear models exactly (exponentiated gradient on the
duals, L-BFGS) learns that *block* exactly, and going from block to block never raises

    C sum_i loss_i + (|theta|^2 + |U|^2 + |V|^2 + |W|^2) / 2,

once each block is solved. The duals of exponentiated gradient belong to trees, not to parameters, and are kept from
block to block.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .duals import DualLoss
from .exponentiated_gradient import ExponentiatedGradient
from .low_rank import LowRankFeatures, LowRankWeights
from .problem import ArcExample, Problem
from .step_sizes import StepSize
from .trainer import PassLimit, Trainer

BLOCKS = ("U", "V", "W")


class BlockFeatures:
    """`ArcFeatures` of one sentence for the vector of theta and one matrix, row by row; the others as in `fixed`."""

    def __init__(self, features: LowRankFeatures, fixed: LowRankWeights, part: str):
        self.features, self.fixed, self.part = features, fixed, part
        self.n = features.n

    def score(self, weights: np.ndarray) -> np.ndarray:
        """(n+1, n+1) float64."""
        return with_block(self.fixed, self.part, weights).score(self.features)

    def add(self, weights: np.ndarray, coefficients: np.ndarray) -> None:
        """weights += sum_hm coefficients[h, m] phi(h -> m), in place."""
        gradient = self.fixed.gradient(self.features, coefficients)
        gradient.add_to(with_block(self.fixed, self.part, weights), 1.0, ("theta", self.part))

    def squared_norm(self, coefficients: np.ndarray) -> float:
        """|sum_hm coefficients[h, m] phi(h -> m)|^2."""
        return self.fixed.gradient(self.features, coefficients).squared_norm(("theta", self.part))


def with_block(fixed: LowRankWeights, part: str, weights: np.ndarray) -> LowRankWeights:
    """The model with theta and one matrix from a flat vector, in the same memory, and the rest as in `fixed`."""
    arrays = fixed.arrays()
    size, shape = len(fixed.theta), arrays[part].shape
    if weights.shape != (size + arrays[part].size,):
        raise ValueError(f"the weights have the shape {weights.shape}, but must have ({size + arrays[part].size},)")
    arrays["theta"], arrays[part] = weights[:size], weights[size:].reshape(shape)
    return LowRankWeights(fixed.gamma, **arrays)


def block_problem(problem: Problem, fixed: LowRankWeights, part: str) -> Problem:
    """The problem of learning theta and one matrix: that of a linear model."""
    if fixed.gamma == 1 or part not in BLOCKS:
        raise ValueError(f"a block is one of {', '.join(BLOCKS)}, with gamma below 1, not {part!r}, {fixed.gamma:g}")
    examples = tuple(ArcExample(BlockFeatures(e.features, fixed, part), e.heads) for e in problem.examples)
    return Problem(examples, problem.space, len(fixed.theta) + fixed.arrays()[part].size, problem.excluded)


@dataclass(frozen=True)
class BlockReport:
    """Where block after block stands: the block, and what the last pass over it reports (primal, dual, gap ...)."""

    part: str
    values: dict[str, float]


class BlockwiseExponentiatedGradient:
    """Exponentiated gradient on one block after the other: max-margin or log-linear, by its `loss`.

    initial: where to start; float64 throughout. step_size, C, beta: as in `ExponentiatedGradient`, for each block anew.
    The result, `weights`, is not averaged: in each block it is the point that the duals stand for.
    """

    def __init__(
        self,
        problem: Problem,
        loss: DualLoss,
        step_size: StepSize,
        *,
        C: float,
        initial: LowRankWeights,
        beta: float = 9.0,
    ):
        self.problem, self.loss, self.step_size, self.C, self.beta = problem, loss, step_size, C, beta
        self.weights = initial.copy(dtype=np.float64)
        self._state: dict[str, np.ndarray] = {}  # duals and step sizes, once there are some

    def run_block(self, part: str, passes: int, *, seed: int | None = 0) -> BlockReport:
        """So many passes over one block, from the duals of the one before."""
        learner = ExponentiatedGradient(
            block_problem(self.problem, self.weights, part), self.loss, self.step_size, C=self.C, beta=self.beta
        )
        if self._state:
            learner.restore({**self._state, "dual": np.array(-np.inf)})
        trainer = Trainer(learner, seed=seed)
        for report in trainer.run(PassLimit(passes)):
            values = report.values
        self._state = learner.state()
        self.weights = with_block(self.weights, part, learner.weights.copy())
        return BlockReport(part, values)

    def run(self, rounds: int, passes: int, *, seed: int | None = 0) -> Iterator[BlockReport]:
        """U, V and W in turn, so many rounds, so many passes over each block at a time."""
        for _ in range(rounds):
            for part in BLOCKS:
                yield self.run_block(part, passes, seed=seed)
