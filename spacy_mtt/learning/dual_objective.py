"""`spacy_mtt.ExponentiatedGradient.v1`: exponentiated gradient as an objective, with duals kept for each sentence."""

from __future__ import annotations

import logging
import math
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Literal

import numpy as np

from .agreement import Agreement
from .duals import DualLoss, LogLinearLoss, MaxMarginLoss, rise_of_dual
from .exponentiated_gradient import ExponentiatedGradient as Learner
from .label_duals import LARGEST_DAMPED_RATE, LabelDuals
from .objective import LabelledWords, LabelLoss, Sentences, TreeLoss, on_cpu
from .problem import Problem
from .step_sizes import HalvedPerPass, SearchedPerExample, StepSize
from .trainer import OnlineLearner
from .tree_space import TreeSpace

LOSSES: dict[str, type[DualLoss]] = {"max_margin": MaxMarginLoss, "log_linear": LogLinearLoss}
log = logging.getLogger("spacy.mtt")


@dataclass
class _Dual:
    """The dual of a sentence: arc scores theta, their marginals less the gold arcs, what it adds to the dual, over C.

    Of a partial annotation, the gold arcs are the marginals of the trees that agree with it, under theta as well.
    """

    theta: np.ndarray
    residual: np.ndarray
    value: float


class ExponentiatedGradient:
    """Max-margin (Koo et al. 2007, section 4.2 and Figure 2) or log-linear models (Globerson et al. 2007) by
    exponentiated gradient.

    Each sentence keeps a distribution over its trees, which every visit moves a step towards what the scores say. Those
    of a linear model w = C sum_i (gold_i - mu_i) phi_i move by just the change of the marginals mu_i, so that the model
    is the minimum of ``C sum_i loss_i + |w|^2 / 2`` once no step changes anything. Any other model is given
    mu_i - gold_i, the gradient of the loss with respect to the scores where the sentence's distribution is that of the
    dual. Duals that only grow would swing to and fro with such a model: here the dual of the hinge loss has the entropy
    in it, which makes the loss the softmax-margin (Gimpel and Smith 2010), and steps are of at most 0.5; C has no
    meaning.

    loss: "max_margin" or "log_linear".
    C: the weight of the losses against |w|^2 / 2.
    beta: theta at the arcs of the gold trees to start from, 0 elsewhere.
    rate: the first step size, eta C of the paper, where it is 1. At most 0.5 in a log-linear model.
    steps: "halved" after each pass that did not raise the dual, as in the paper; or "searched" for each
        sentence, so that the dual never falls (Collins et al. 2008).
    projective, single_root: the tree space, see `TreeSpace`. labelled: whether one distribution of labelled trees is
        learned, or one of heads, with labels learned beside it in the same way. conflicts: see `Agreement`.

    Sentences are told apart by their words and gold trees; what comes twice shares one dual of twice the weight, which
    has the same optimum. Memory: two arrays in the shape of its scores for each sentence. What scores are made of, such
    as tags, must not change while it learns. Weights that are not 0 at the start, those of a pipeline that learns on,
    take the place of 0 in |w|^2 / 2.
    """

    def __init__(
        self,
        *,
        loss: Literal["max_margin", "log_linear"] = "max_margin",
        C: float = 0.01,
        beta: float = 9.0,
        rate: float = 10.0,
        steps: Literal["halved", "searched"] = "searched",
        projective: bool = False,
        single_root: bool = True,
        labelled: bool = False,
        conflicts: Literal["relax", "skip"] = "relax",
    ):
        if loss not in LOSSES:
            raise ValueError(f"loss must be 'max_margin' or 'log_linear', not {loss!r}")
        if steps not in ("halved", "searched"):
            raise ValueError(f"steps must be 'halved' or 'searched', not {steps!r}")
        if not C > 0:
            raise ValueError(f"C must be above 0, not {C}")
        self.loss = LOSSES[loss]()
        self.C = C
        self.beta = beta
        self.space = TreeSpace(projective=projective, single_root=single_root)
        self.labelled = labelled
        self.agreement = Agreement(self.space, labelled=labelled, conflicts=conflicts)
        self._rate = rate if loss == "max_margin" else min(rate, 0.5)
        self._steps = steps
        self.begin(())

    def _new_step_size(self) -> StepSize:
        if self._steps == "halved":
            return HalvedPerPass(self._rate)
        return SearchedPerExample(self._rate, growth=1.5, largest=1e4 if isinstance(self.loss, MaxMarginLoss) else 1.0)

    def begin(self, keys: Iterable[bytes]) -> None:
        """Forget all duals. keys: of each sentence to come, as often as it comes in a pass."""
        self.step_size = self._new_step_size()
        self._counts = Counter(keys)
        self._duals: dict[bytes, _Dual] = {}
        self._index: dict[bytes, int] = {}
        self._labels = LabelDuals(self.loss, self.C, self.beta, self._rate)
        self._visits = 0
        self._last_dual = -math.inf
        self.step_size.start(len(self._counts))

    def __call__(
        self, scores: np.ndarray, allowed: np.ndarray, lengths: np.ndarray, sentences: Sentences | None = None
    ) -> TreeLoss:
        """Losses and steps of a padded batch; arguments as those of `LogLikelihood`. An inference or two a sentence."""
        if sentences is None:
            raise ValueError("spacy_mtt.ExponentiatedGradient.v1 keeps duals, and must be told which sentence is which")
        agreeing = self.agreement(scores, allowed, lengths)
        value, gradient = np.zeros(len(scores)), np.zeros(scores.shape)
        for row in np.flatnonzero(~agreeing.skipped):
            inside = slice(lengths[row] + 1)
            own, right = scores[row, inside, inside], agreeing.scores[row, inside, inside]
            cost = np.where(np.isfinite(right), 0.0, 1.0)
            value[row] = self.loss.loss(own, cost, right, self.space)
            gradient[row, inside, inside] = self._visit(row, own, cost, right, sentences)
        return TreeLoss(value, gradient, agreeing.relaxed, agreeing.skipped, is_step=sentences.is_linear)

    def label_loss(self, xp, scores, gold: np.ndarray, words: LabelledWords) -> LabelLoss:
        """The same for labels: a distribution over the labels of each word, see `LabelDuals`."""
        return self._labels(on_cpu(scores), gold, words, self._counts)

    def learner(self, problem: Problem) -> OnlineLearner:
        """The same as a learner of linear models, with the exact gap of every pass."""
        return Learner(problem, self.loss, self._new_step_size(), C=self.C, beta=self.beta)

    def state(self) -> dict[str, np.ndarray]:
        """The duals, of models that are not linear, as plain arrays: the others have a `learner` with a state."""
        trees = {f"trees.{key.hex()}": dual.theta for key, dual in self._duals.items()}
        return trees | {f"labels.{name}": array for name, array in self._labels.state().items()}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`."""
        for name, array in state.items():
            part, _, key = name.partition(".")
            if part == "trees":
                self._duals[bytes.fromhex(key)] = _Dual(array, np.zeros(0), 0.0)  # a damped step asks for theta alone
        self._labels.restore({name.removeprefix("labels."): a for name, a in state.items() if name[:7] == "labels."})

    def _visit(
        self, row: int, scores: np.ndarray, cost: np.ndarray, agreeing: np.ndarray, sentences: Sentences
    ) -> np.ndarray:
        """Move the dual of a sentence; by how much its weighted marginals less gold arcs change."""
        key = sentences.key(row)
        weight = self.C * self._counts.get(key, 1)
        possible, right = np.isfinite(scores), np.isfinite(agreeing)
        scores = np.where(possible, scores, 0.0)

        def dual_of(theta: np.ndarray) -> _Dual:
            distribution = self.space.distribution(np.where(possible, theta, -np.inf))
            gold = self.space.distribution(np.where(right, theta, -np.inf)).marginals
            return _Dual(theta, distribution.marginals - gold, self.loss.value(distribution, cost))

        old = self._duals.get(key)
        start = old or dual_of(self.beta * _annotated(agreeing))
        new = self._moved(key, start, dual_of, scores, cost, weight, row, sentences)
        self._duals[key] = new
        if not sentences.is_linear:
            return new.residual
        before = 0.0 if old is None else old.residual
        self._count_visit(sentences)
        return weight * (new.residual - before)

    def _moved(
        self,
        key: bytes,
        dual: _Dual,
        dual_of: Callable[[np.ndarray], _Dual],
        scores: np.ndarray,
        cost: np.ndarray,
        weight: float,
        row: int,
        sentences: Sentences,
    ) -> _Dual:
        """The dual after a step of the size that the step sizes choose, or of a fixed one."""
        if not sentences.is_linear:
            return dual_of(self.loss.damped_update(dual.theta, scores, cost, min(self._rate, LARGEST_DAMPED_RATE)))

        def attempt(rate: float) -> _Attempt:
            new = dual_of(self.loss.update(dual.theta, scores, cost, rate))
            return _Attempt(new, dual, scores, weight, partial(sentences.squared_norm, row))

        index = self._index.setdefault(key, len(self._index))
        made = self.step_size.choose(index, attempt)
        return dual if made is None else made.new

    def _count_visit(self, sentences: Sentences) -> None:
        """At the end of a pass, tell the step sizes whether the dual rose."""
        self._visits += 1
        if self._visits < max(1, self._counts.total()):
            return
        self._visits = 0
        values = sum(self._counts.get(key, 1) * dual.value for key, dual in self._duals.items())
        objective = self.C * values - 0.5 * sentences.weights_squared_norm()
        log.info("exponentiated gradient: the dual objective is %.6g after a pass", objective)
        self.step_size.end_pass(objective > self._last_dual)
        self._last_dual = objective


def _annotated(agreeing: np.ndarray) -> np.ndarray:
    """1.0 at the arcs of words with one right (labelled) arc alone, 0.0 elsewhere."""
    right = np.isfinite(agreeing)
    right[:, 0] = False
    right[np.arange(len(right)), np.arange(len(right))] = False
    choices = right.sum(axis=0, keepdims=True) if right.ndim == 2 else right.sum(axis=(0, 2), keepdims=True)
    return (right & (choices == 1)).astype(np.float64)


@dataclass(frozen=True)
class _Attempt:
    """A step that was computed, but not made."""

    new: _Dual
    old: _Dual
    scores: np.ndarray
    weight: float
    squared_norm: partial

    def gain(self) -> float:
        direction = self.old.residual - self.new.residual
        square = self.squared_norm(direction)
        return rise_of_dual(self.new.value, self.old.value, direction, self.scores, self.weight, square)
