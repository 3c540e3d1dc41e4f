"""The loop that all online learners of linear models share: passes over examples, reports, stops, resumes."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from .problem import Problem


class OnlineLearner(Protocol):
    """What the loop asks of a learner, which keeps its weights and whatever else it needs."""

    problem: Problem

    @property
    def weights(self) -> np.ndarray:
        """The weights learned so far, (n_features,): those to parse with."""
        ...

    def visit(self, index: int) -> None:
        """Learn from ``problem.examples[index]``."""
        ...

    def end_pass(self) -> dict[str, float]:
        """Called when every example was visited once more. Returns objective values and the like, by name."""
        ...

    def state(self) -> dict[str, np.ndarray]:
        """All that changes while learning, as plain arrays (for `numpy.savez`)."""
        ...

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state` of the same learner over the same problem."""
        ...


@dataclass(frozen=True)
class PassReport:
    """What one pass did. values: by the learner. excluded: sentences that the tree space cannot hold, by reason."""

    number: int
    n_examples: int
    excluded: dict[str, int]
    values: dict[str, float]


StopRule = Callable[[Sequence[PassReport]], bool]


@dataclass(frozen=True)
class PassLimit:
    """Stop when so many passes are done, those before a resumption included."""

    passes: int

    def __call__(self, reports: Sequence[PassReport]) -> bool:
        return reports[-1].number >= self.passes


@dataclass(frozen=True)
class ValueBelow:
    """Stop when a reported value is at most `limit`: ``ValueBelow("relative_gap", 1e-3)``."""

    name: str
    limit: float

    def __call__(self, reports: Sequence[PassReport]) -> bool:
        if self.name not in reports[-1].values:
            raise ValueError(f"no value {self.name!r} is reported, only {sorted(reports[-1].values)}")
        return reports[-1].values[self.name] <= self.limit


class Trainer:
    """Passes of a learner over its examples.

    seed: each pass has its own order, drawn from the seed and the number of the pass, so that a resumed run
        is the same as one that never stopped; None: the order of the examples, as in Koo et al. (2007), Figure 2.
    """

    def __init__(self, learner: OnlineLearner, *, seed: int | None = None):
        self.learner = learner
        self.seed = seed
        self.reports: list[PassReport] = []
        self._passes = 0

    def run_pass(self) -> PassReport:
        """One pass over all examples."""
        problem = self.learner.problem
        n = len(problem.examples)
        order = range(n) if self.seed is None else np.random.default_rng([self.seed, self._passes]).permutation(n)
        for index in order:
            self.learner.visit(int(index))
        self._passes += 1
        report = PassReport(self._passes, n, dict(problem.excluded), self.learner.end_pass())
        self.reports.append(report)
        return report

    def run(self, *stop: StopRule) -> Iterator[PassReport]:
        """Run passes, yielding the report of each, until one of the rules, asked after each pass, says to stop."""
        if not stop:
            raise ValueError("a run needs a rule to stop by, such as PassLimit(10)")
        while not (self.reports and any(rule(self.reports) for rule in stop)):
            yield self.run_pass()

    def state(self) -> dict[str, np.ndarray]:
        """All that a later `restore` needs, as plain arrays; reports are not kept."""
        return {"passes": np.array(self._passes), **self.learner.state()}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`, between two passes."""
        self._passes = int(state["passes"])
        self.reports = []
        self.learner.restore({key: value for key, value in state.items() if key != "passes"})
