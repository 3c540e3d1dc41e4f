"""Batch training of an `mtt_parser` with a linear scorer by learners of linear models."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from thinc.api import Optimizer

from spacy_mtt.learning.exponentiated_gradient import ExponentiatedGradient
from spacy_mtt.learning.lazy_weights import LazyWeights
from spacy_mtt.learning.log_linear import BatchReport
from spacy_mtt.learning.objective import LabelledWords
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.trainer import PassLimit, Trainer
from spacy_mtt.scoring.joint_features import JointFeatures, split
from spacy_mtt.scoring.linear_weights import LABELS, UnitGradient, plain_step, sum_of
from spacy_mtt.scoring.sparse_model import weights_of

from .component import MatrixTreeParser
from .sparse_sentences import Pass, Sentence, State

ONLINE_PASSES = 10  # of the perceptron and MIRA


class LinearTraining:
    """Trains the linear scorer of an initialised parser by the learner that its objective stands for.

    sentences: those of `sentences_of`. optimizer: that of the training config. Its averages have no meaning here:
        perceptron and MIRA always parse with the mean of their weights, the others with the last. Its L2 is the C of
        log-linear models, C = 1 / (words * L2); its rate and L2 are those of the labels of log-linear models.
    seed: for the order of sentences in each pass.

    Sentences that the learner cannot take are left out and counted, in `excluded`.
    """

    def __init__(self, parser: MatrixTreeParser, sentences: list[Sentence], optimizer: Optimizer, *, seed: int = 0):
        self.parser = parser
        self.objective = parser.objective
        self.shim = weights_of(parser.model)
        self.sentences = sentences
        self.optimizer = optimizer
        self.seed = seed
        self.problem = self._problem()
        self.labels: _Labels | None = None
        if not self.objective.labelled:
            self.labels = _Labels(parser, sentences, optimizer, seed)
        self._trainer: Trainer | None = None
        self._start: np.ndarray | None = None  # where a resumed batch run begins
        self._passes = 0
        if hasattr(self.objective, "learner"):
            self._trainer = Trainer(self.objective.learner(self.problem), seed=seed)

    @property
    def excluded(self) -> dict[str, int]:
        """How many sentences were left out, by reason."""
        return self.problem.excluded

    @property
    def passes(self) -> int:
        """How many are done."""
        return self._passes

    @property
    def usual_passes(self) -> int:
        """How many bring nearly all there is to gain on some thousand sentences (docs/koo2007.md)."""
        if self._trainer is None:
            return 100
        return 30 if isinstance(self._trainer.learner, ExponentiatedGradient) else ONLINE_PASSES

    def run(self, passes: int, after_pass: Callable[[Pass], None]) -> None:
        """Train for so many passes, those before a resumption included. Batch methods count iterations as passes.

        after_pass: called when the parser has the weights of the pass; may raise to stop.
        """
        if self._trainer is None:
            self._run_batch(passes, after_pass)
            return
        if self._passes >= passes:
            return
        for report in self._trainer.run(PassLimit(passes)):
            self._passes = report.number
            self._pass_is_over(self._trainer.learner.weights, report.values, False, after_pass)

    def state(self) -> State:
        """All that `restore` needs, between two passes, as plain arrays."""
        state = {"passes": np.array(self._passes)}
        if self._trainer is None:
            state["weights"] = self._start
        else:
            state |= {f"arcs.{name}": value for name, value in self._trainer.state().items()}
        if self.labels is not None:
            state["labels"] = self.labels.weights.mean()
        return state

    def restore(self, state: State) -> None:
        """Go on from a `state` of the same training. Labels go on from the mean of their weights."""
        self._passes = int(state["passes"])
        if self._trainer is None:
            self._start = np.array(state["weights"])
        else:
            arcs = {name[5:]: value for name, value in state.items() if name.startswith("arcs.")}
            self._trainer.restore(arcs)
        if self.labels is not None:
            self.labels.weights = LazyWeights(state["labels"])

    def _run_batch(self, passes: int, after_pass: Callable[[Pass], None]) -> None:
        if not self.optimizer.L2 > 0:
            raise ValueError(
                "training.optimizer.L2 is 0, but a log-linear model needs a weight of |w|^2 / 2, such as 0.001"
            )
        n_words = sum(example.n for example in self.problem.examples)
        before = self._passes

        standing: list[BatchReport] = []

        def watch(iteration: int, weights: np.ndarray) -> bool:
            self._passes, self._start = before + iteration, weights
            last = standing.pop()
            values = {"objective": last.value, "gradient_norm": last.gradient_norm}
            self._pass_is_over(weights, values, last.converged, after_pass)
            return False

        C = 1.0 / (n_words * self.optimizer.L2)
        if passes > before:
            options = {"initial": self._start, "max_iterations": passes - before}
            self.objective.train(self.problem, C=C, report=standing.append, watch=watch, **options)

    def _pass_is_over(
        self, weights: np.ndarray, values: dict[str, float], finished: bool, after_pass: Callable[[Pass], None]
    ) -> None:
        """Train labels for a pass as well, and give all weights to the parser."""
        if self.labels is None:
            arcs, labels = split(weights, self.shim.table.size, self.shim.n_labels)
            self.shim.set_weights(arcs=arcs, labels=labels)
        else:
            values = {**values, "label_loss": self.labels.run_pass(self._passes)}
            self.shim.set_weights(arcs=weights, labels=self.labels.weights.mean())
        after_pass(Pass(self._passes, values, finished))

    def _problem(self) -> Problem:
        if not self.objective.labelled:
            examples = [ArcExample(each.slots, each.heads) for each in self.sentences]
            return Problem.of(examples, self.objective.space, self.shim.table.size)
        rows, n_labels = 1 << self.shim.label_bits, self.shim.n_labels
        known = [each for each in self.sentences if (each.labels >= 0).all()]
        examples = [
            ArcExample(JointFeatures(each.slots, rows, n_labels), each.heads, each.labels, n_labels=n_labels)
            for each in known
        ]
        problem = Problem.of(examples, self.objective.space, self.shim.table.size + rows * n_labels)
        if len(known) < len(self.sentences):
            problem.excluded["labels unknown"] = len(self.sentences) - len(known)
        return problem


class _Labels:
    """Passes over the labels of all sentences, at their gold heads."""

    def __init__(self, parser: MatrixTreeParser, sentences: list[Sentence], optimizer: Optimizer, seed: int):
        shim = weights_of(parser.model)
        self.objective = parser.objective
        self.optimizer = optimizer
        self.seed = seed
        self.possible = parser.label_set.possible
        self.sentences = [each for each in sentences if (each.labels >= 0).any()]
        self._norms: dict[bytes, np.ndarray] = {}
        self.rows = 1 << shim.label_bits
        self.weights = LazyWeights(np.zeros((self.rows, shim.n_labels)))
        if optimizer.averages is not None:
            self.weights.keep_average()

    def run_pass(self, number: int) -> float:
        """The loss, summed over words."""
        total = 0.0
        for index in np.random.default_rng([self.seed, number]).permutation(len(self.sentences)):
            total += self._visit(self.sentences[index])
        return total

    def _visit(self, sentence: Sentence) -> float:
        heads = _some_heads(sentence.heads)
        scale, weights = self.weights.scaled
        scores = scale * sentence.slots.score_labels(weights, heads)
        scores[~self.possible[(sentence.heads == 0).astype(int)]] = -np.inf
        words = LabelledWords(np.array([len(heads)]), lambda _: sentence.key, partial(self._squared_norms, sentence))
        loss = self.objective.label_loss(np, scores, np.where(sentence.heads >= 0, sentence.labels, -1), words)
        rate, decay = (1.0, 0.0) if loss.is_step else plain_step(self.optimizer)
        gradient = loss.gradient if loss.is_step else loss.gradient / len(heads)
        change = UnitGradient(sentence.slots, None, gradient, heads)
        self.weights.step(sum_of([change], LABELS, -rate), decay=decay)
        return loss.value

    def _squared_norms(self, sentence: Sentence) -> np.ndarray:
        """Those of its arcs, found once."""
        if sentence.key not in self._norms:
            self._norms[sentence.key] = sentence.slots.row_norms(_some_heads(sentence.heads), self.rows)
        return self._norms[sentence.key]


def _some_heads(heads: np.ndarray) -> np.ndarray:
    """The root in place of unknown heads."""
    return np.maximum(heads, 0)
