"""Batch training of an `mtt_parser` with sparse features by the steps that `spacy train` makes, one sentence each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from thinc.api import Optimizer

from spacy_mtt.learning.trainer import PassLimit, Trainer
from spacy_mtt.scoring.scored_units import score_units
from spacy_mtt.scoring.sparse_model import weights_of

from .component import MatrixTreeParser
from .linear_training import LinearTraining
from .losses import parse_loss
from .sparse_sentences import Pass, Sentence, State


def training_of(
    parser: MatrixTreeParser, sentences: list[Sentence], optimizer: Optimizer, *, seed: int = 0
) -> LinearTraining | StepTraining:
    """The batch training of a parser: linear models have learners of their own."""
    kind = LinearTraining if weights_of(parser.model).is_linear else StepTraining
    return kind(parser, sentences, optimizer, seed=seed)


@dataclass(frozen=True)
class _Problem:
    """What `Trainer` asks for; nothing is left out."""

    examples: list[Sentence]
    excluded: dict[str, int]


class _Steps:
    """A learner for `Trainer` whose visits are updates of the parser's model."""

    def __init__(self, parser: MatrixTreeParser, sentences: list[Sentence], optimizer: Optimizer):
        self.problem = _Problem([each for each in sentences if len(each.heads)], {})
        self.parser = parser
        self.optimizer = optimizer
        self.shim = weights_of(parser.model)
        self._updates = 0
        self._loss = 0.0

    @property
    def weights(self) -> dict[str, np.ndarray]:
        """Those to parse with, by name."""
        return self.shim.means()

    def visit(self, index: int) -> None:
        """An update by one sentence."""
        sentence = self.problem.examples[index]
        scores, backprop = score_units(self.parser.model, sentence.gold.units, [sentence.features], True)
        loss, gradients = parse_loss(self.parser.reader(), sentence.gold, scores, lambda unit: sentence.key)
        backprop(gradients)
        self.parser.model.finish_update(self.optimizer)
        self._step_schedules(1)
        self._loss += loss

    def end_pass(self) -> dict[str, float]:
        """loss: in nats, or what the objective counts, summed over words."""
        values, self._loss = {"loss": self._loss}, 0.0
        return values

    def state(self) -> State:
        """Between passes."""
        parts = {"weights": self.shim.state()}
        if hasattr(self.parser.objective, "state"):
            parts["objective"] = self.parser.objective.state()
        flat = {f"{part}.{name}": array for part, values in parts.items() for name, array in values.items()}
        return {**flat, "updates": np.array(self._updates)}

    def restore(self, state: State) -> None:
        """Go on from a `state`."""
        self.shim.restore(_inside(state, "weights"))
        if hasattr(self.parser.objective, "restore"):
            self.parser.objective.restore(_inside(state, "objective"))
        self._step_schedules(int(state["updates"]))

    def _step_schedules(self, times: int) -> None:
        for _ in range(times):
            self.optimizer.step_schedules()
        self._updates += times


def _inside(state: State, name: str) -> State:
    return {key.removeprefix(f"{name}."): value for key, value in state.items() if key.startswith(f"{name}.")}


class StepTraining:
    """Trains the scorer of an initialised parser as `spacy train` does with one sentence a batch, features found once.

    Arguments and methods are those of `LinearTraining`; no sentence is left out.
    """

    def __init__(self, parser: MatrixTreeParser, sentences: list[Sentence], optimizer: Optimizer, *, seed: int = 0):
        self.sentences = sentences
        self.excluded: dict[str, int] = {}
        self._trainer = Trainer(_Steps(parser, sentences, optimizer), seed=seed)
        self._passes = 0

    @property
    def passes(self) -> int:
        """How many are done."""
        return self._passes

    @property
    def usual_passes(self) -> int:
        """As of `LinearTraining`, for low-rank models with dropout (docs/low_rank.md)."""
        return 20

    def run(self, passes: int, after_pass: Callable[[Pass], None]) -> None:
        """Train for so many passes, those before a resumption included.

        after_pass: called when the parser has the weights of the pass; may raise to stop.
        """
        if self._passes >= passes:
            return
        for report in self._trainer.run(PassLimit(passes)):
            self._passes = report.number
            after_pass(Pass(report.number, report.values))

    def state(self) -> State:
        """All that `restore` needs, between two passes, as plain arrays."""
        return self._trainer.state()

    def restore(self, state: State) -> None:
        """Go on from a `state` of the same training."""
        self._trainer.restore(state)
        self._passes = int(state["passes"])
