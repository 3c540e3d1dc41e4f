"""`spacy_mtt.Perceptron.v1` and `spacy_mtt.Mira.v1`: the learners of online.py as objectives."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import numpy as np

from . import label_steps
from .agreement import Agreement
from .gold_tree import GoldTree
from .objective import LabelledWords, LabelLoss, Sentences, TreeLoss, on_cpu
from .online import CostAugmentedDecode, Decode, Infer, Inferred, PassiveAggressive, averaged_perceptron, mira
from .problem import Problem
from .trainer import OnlineLearner
from .tree_space import TreeSpace


class _Online:
    """One inference a sentence, and a step along the difference of two trees.

    Of a partial annotation, the best tree that agrees with it takes the place of the gold tree.
    """

    def __init__(self, infer: Infer, space: TreeSpace, labelled: bool, conflicts: Literal["relax", "skip"]):
        self.infer = infer
        self.space = space
        self.labelled = labelled
        self.agreement = Agreement(space, labelled=labelled, conflicts=conflicts)

    def begin(self, keys: Iterable[bytes]) -> None:
        """Nothing is kept from one batch to the next."""

    def __call__(
        self, scores: np.ndarray, allowed: np.ndarray, lengths: np.ndarray, sentences: Sentences | None = None
    ) -> TreeLoss:
        """Losses and steps of a padded batch; arguments as those of `LogLikelihood`. One inference a sentence."""
        agreeing = self.agreement(scores, allowed, lengths)
        value, gradient = np.zeros(len(scores)), np.zeros(scores.shape)
        for row in np.flatnonzero(~agreeing.skipped):
            inside = slice(lengths[row] + 1)
            trees = self.space.distribution(agreeing.scores[row, inside, inside]).argmax()
            tree = GoldTree(*trees, n_labels=scores.shape[3]) if self.labelled else GoldTree(trees)
            inferred = self.infer(scores[row, inside, inside], tree, self.space)
            value[row] = inferred.loss
            if inferred.direction.any():
                size = self._step(inferred, row, sentences)
                gradient[row, inside, inside] = -size * inferred.direction
        return TreeLoss(value, gradient, agreeing.relaxed, agreeing.skipped, is_step=self._is_step(sentences))

    def _is_step(self, sentences: Sentences | None) -> bool:
        raise NotImplementedError

    def _step(self, inferred: Inferred, row: int, sentences: Sentences | None) -> float:
        raise NotImplementedError


class Perceptron(_Online):
    """The structured perceptron (Collins 2002; Koo et al. 2007, section 6): the best tree against the gold one.

    projective, single_root: the tree space, see `TreeSpace`. labelled: whether one tree of labelled arcs is learned, or
    heads alone, with labels learned beside them. conflicts: see `Agreement`.

    A linear model moves by the difference of the trees' features at each sentence; with an optimiser that keeps
    averages, the model parses with the mean of its weights. Any other model is given the gradient of
    s(best) - s(gold).
    """

    def __init__(
        self,
        *,
        projective: bool = False,
        single_root: bool = True,
        labelled: bool = False,
        conflicts: Literal["relax", "skip"] = "relax",
    ):
        space = TreeSpace(projective=projective, single_root=single_root)
        super().__init__(Decode(), space, labelled, conflicts)

    def label_loss(self, xp, scores, gold: np.ndarray, words: LabelledWords) -> LabelLoss:
        """The best label against the gold one."""
        return label_steps.perceptron(on_cpu(scores), gold, is_step=words.squared_norms is not None)

    def learner(self, problem: Problem) -> OnlineLearner:
        """The same as a learner of linear models."""
        return averaged_perceptron(problem)

    def _is_step(self, sentences: Sentences | None) -> bool:
        return sentences is not None and sentences.is_linear

    def _step(self, inferred: Inferred, row: int, sentences: Sentences | None) -> float:
        return 1.0


class Mira(_Online):
    """1-best MIRA (McDonald, Crammer and Pereira 2005): the tree that violates the margin most, and a step, of C at
    most, that makes the gold tree better than it by the number of its wrong arcs. For models whose weights belong to
    sparse features: in linear ones the step does what it says, in those of low rank it does to first order.

    C: the largest step. The other arguments are those of `Perceptron`.
    """

    def __init__(
        self,
        *,
        C: float = 0.1,
        projective: bool = False,
        single_root: bool = True,
        labelled: bool = False,
        conflicts: Literal["relax", "skip"] = "relax",
    ):
        space = TreeSpace(projective=projective, single_root=single_root)
        super().__init__(CostAugmentedDecode(), space, labelled, conflicts)
        self.C = C
        self.step = PassiveAggressive(C)

    def label_loss(self, xp, scores, gold: np.ndarray, words: LabelledWords) -> LabelLoss:
        """The same for labels: see `label_steps.passive_aggressive`."""
        if words.squared_norms is None:
            raise ValueError(NO_NORMS)
        return label_steps.passive_aggressive(on_cpu(scores), gold, words.squared_norms(), self.C)

    def learner(self, problem: Problem) -> OnlineLearner:
        """The same as a learner of linear models."""
        return mira(problem, C=self.C)

    def _is_step(self, sentences: Sentences | None) -> bool:
        return True

    def _step(self, inferred: Inferred, row: int, sentences: Sentences | None) -> float:
        if sentences is None or sentences.squared_norm is None:
            raise ValueError(NO_NORMS)
        return self.step(inferred, sentences.squared_norm(row, inferred.direction))


NO_NORMS = (
    "spacy_mtt.Mira.v1 needs the norms of gradients, which only models of sparse features know, such as LinearArcScorer"
)
