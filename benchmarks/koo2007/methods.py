"""The three ways to learn, each as passes over a problem that can be watched and stopped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from spacy_mtt.learning.exponentiated_gradient import max_margin_eg
from spacy_mtt.learning.log_linear import LBFGS, train_log_linear
from spacy_mtt.learning.online import averaged_perceptron
from spacy_mtt.learning.problem import Problem
from spacy_mtt.learning.step_sizes import SearchedPerExample
from spacy_mtt.learning.trainer import OnlineLearner, PassLimit, Trainer

Watch = Callable[[int, np.ndarray], bool]  # the number of the pass and the weights after it; True to stop


@dataclass(frozen=True)
class Method:
    """How a model is trained, and what of it is chosen on the validation part.

    constants: the values of C to try; none for a method without C. widen: how many more values, in half orders of
        magnitude, may be tried where the best one is at an end.
    passes: the most passes. every: after how many passes the validation part is scored, again and again.
    patience: after how many scores that were no better a search stops, if that is not before the pass `earliest`:
        exponentiated gradient is worse after its second pass than after its first for some time.
    seed: of the order of examples, another one in each pass.
    options: of the learner.
    """

    name: str
    title: str
    constants: tuple[float, ...]
    widen: int
    passes: int
    every: int
    patience: int
    earliest: int = 1
    seed: int = 0
    options: dict[str, float] = field(default_factory=dict)

    def settings(self) -> dict[str, Any]:
        """All that changes what one training run computes."""
        left_out = ("title", "constants", "widen", "options")
        return {**{name: value for name, value in asdict(self).items() if name not in left_out}, **self.options}

    def train(self, problem: Problem, C: float | None, watch: Watch, *, passes: int | None = None) -> None:
        """Passes until `watch` says to stop, or `passes`, or as many as the method makes at most."""
        TRAINERS[self.name](self, problem, C, passes or self.passes, watch)


def online(learner: OnlineLearner, passes: int, seed: int, watch: Watch) -> None:
    """Passes of an online learner."""
    trainer = Trainer(learner, seed=seed)
    for report in trainer.run(PassLimit(passes)):
        if watch(report.number, np.ascontiguousarray(trainer.learner.weights)):
            return


def perceptron(method: Method, problem: Problem, C: float | None, passes: int, watch: Watch) -> None:
    """The averaged perceptron."""
    online(averaged_perceptron(problem), passes, method.seed, watch)


def max_margin(method: Method, problem: Problem, C: float, passes: int, watch: Watch) -> None:
    """Exponentiated gradient, with step sizes that are searched for from one on with which one pass leaves beta.

    The paper's schedule, one step size for all, takes several times as many passes to the same dual objective.
    """
    options = method.options
    step_size = SearchedPerExample(options["rate"], growth=options["growth"], largest=options["largest"])
    learner = max_margin_eg(problem, C=C, step_size=step_size, primal=False, negligible=options["negligible"])
    online(learner, passes, method.seed, watch)


def log_linear(method: Method, problem: Problem, C: float, passes: int, watch: Watch) -> None:
    """L-BFGS from 0, a pass being an iteration.

    On Dutch with C = 0.1 it takes 40 s to the validation score 88.1, exponentiated gradient 37 s, each on one core.
    """
    train_log_linear(problem, C=C, optimiser=LBFGS(**method.options), max_iterations=passes, watch=watch)


TRAINERS: dict[str, Callable[..., None]] = {
    "perceptron": perceptron,
    "max-margin": max_margin,
    "log-linear": log_linear,
}
STEPS = {"rate": 8.0, "growth": 1.2, "largest": 1e4, "negligible": 1e-5}
METHODS = {
    method.name: method
    for method in (
        Method("perceptron", "perceptron", (), 0, passes=30, every=1, patience=5),
        Method(
            "max-margin",
            "max-margin",
            (0.003, 0.01, 0.03),
            1,
            passes=50,
            every=5,
            patience=10,
            options=STEPS,
        ),
        Method(
            "log-linear", "log-linear", (0.03, 0.1, 0.3), 1, passes=100, every=10, patience=10, options={"memory": 10}
        ),
    )
}
