"""Online learning of the low-rank tensor model: infer, then take one step along the gradient.

learner                                            infer                  step               update
RBGParser (Lei et al. 2014), as its program does   CostAugmentedDecode    PassiveAggressive  Jointly
the same, as its formulas state it                 CostAugmentedDecode    PassiveAggressive  Alternately
passive-aggressive log-linear                      InferMarginals         PassiveAggressive  either
log-likelihood by stochastic gradient              InferMarginals         ConstantRate       Jointly
"""

from __future__ import annotations

from typing import Protocol

from .component_dropout import ComponentDropout
from .low_rank import PARTS, AveragedLowRank, LowRankWeights
from .online import AveragedLearner, CostAugmentedDecode, Infer, Inferred, PassiveAggressive, Step
from .problem import Problem


class Update(Protocol):
    """Which parameters a visit changes."""

    def __call__(self, visits: int) -> tuple[str, ...]:
        """Some of theta, U, V and W, after so many visits."""
        ...


class Jointly:
    """All of them. The score is not linear in U, V and W together, and so a passive-aggressive step meets the margin
    to first order only."""

    def __call__(self, visits: int) -> tuple[str, ...]:
        return PARTS


class Alternately:
    """theta with U, with V, with W, and so on, in which the score is linear: the margin holds exactly after a
    passive-aggressive step that C does not cut short."""

    def __call__(self, visits: int) -> tuple[str, ...]:
        return ("theta", PARTS[1 + visits % 3])


class ConstantRate:
    """Gradient descent on the loss, whatever the gradient's norm; averaging takes the place of a schedule."""

    def __init__(self, rate: float):
        if not rate > 0:
            raise ValueError(f"the rate must be above 0, not {rate}")
        self.rate = rate

    def __call__(self, inferred: Inferred, squared_norm: float) -> float:
        return self.rate if squared_norm > 0 else 0.0


class LowRankLearner(AveragedLearner):
    """An online learner for `Trainer` whose result is the average of each parameter after each visit.

    problem: its examples have `LowRankFeatures`. initial: where to start; of U, V and W one at most may be 0, unless
    gamma = 1: otherwise none of them has a gradient.
    """

    def __init__(
        self,
        problem: Problem,
        infer: Infer,
        step: Step,
        update: Update,
        *,
        initial: LowRankWeights,
        dropout: ComponentDropout | None = None,
    ):
        if initial.gamma < 1 and sum(not matrix.any() for matrix in (initial.U, initial.V, initial.W)) > 1:
            raise ValueError("two of U, V and W are 0, and so no gradient would ever move them: start elsewhere")
        super().__init__(problem, AveragedLowRank(initial))
        self.infer, self.step, self.update = infer, step, update
        self.dropout = dropout or ComponentDropout(0.0)

    def visit(self, index: int) -> None:
        """Infer with the current weights, then step."""
        example = self.problem.examples[index]
        weights, parts = self.averaged.current, self.update(self.averaged.steps)
        factors = self.dropout(weights.factors(example.features), self.averaged.steps)
        inferred = self.infer(weights.score(example.features, factors), example, self.problem.space)
        tau, gradient = 0.0, None
        if inferred.direction.any():
            gradient = weights.gradient(example.features, inferred.direction, factors)
            tau = self.step(inferred, gradient.squared_norm(parts))
        self.averaged.step(gradient, tau, parts)
        self._count(inferred, tau)


def low_rank_mira(
    problem: Problem,
    *,
    initial: LowRankWeights,
    C: float = 0.01,
    alternate: bool = False,
    dropout: ComponentDropout | None = None,
) -> LowRankLearner:
    """RBGParser's learner: PA-I with cost-augmented decoding, all parameters at once or theta with one of U, V, W.

    RBGParser has no dropout.
    """
    update = Alternately() if alternate else Jointly()
    infer, step = CostAugmentedDecode(), PassiveAggressive(C)
    return LowRankLearner(problem, infer, step, update, initial=initial, dropout=dropout)
