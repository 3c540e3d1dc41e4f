"""LabelledSpanTreeDistribution: `SpanTreeDistribution` with labels on its arcs."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
from scipy.special import logsumexp, softmax

from .spans import SpanTreeDistribution, ranked


class LabelledSpanTreeDistribution:
    """The labelled non-projective `TreeDistribution` given that each of some sets of words hangs together.

    scores: (n+1, n+1, L). spans, single_root: see `SpanTreeDistribution`. A tree is (heads, labels), (n,) each.

    Given an arc, its label does not depend on the rest of the tree: labels are summed out, or maximised out, before
    spans are contracted, and come back at the end.
    """

    def __init__(self, scores, spans: Sequence[Sequence[int]], *, single_root: bool = True):
        self.scores = np.array(scores, dtype=np.float64)
        self.n = len(self.scores) - 1
        with np.errstate(divide="ignore"):
            arcs = logsumexp(self.scores, axis=2)
        self.arcs = SpanTreeDistribution(arcs, spans, single_root=single_root)
        self.spans, self.single_root = self.arcs.spans, self.arcs.single_root

    @property
    def log_partition(self) -> float:
        """log Z, the log of the summed weights of all trees."""
        return self.arcs.log_partition

    @cached_property
    def _given_arc(self) -> np.ndarray:
        """The probability of each label given the arc, (n+1, n+1, L), 0 where no arc is."""
        possible = np.isfinite(self.arcs.scores)
        found = np.zeros_like(self.scores)
        found[possible] = softmax(self.scores[possible], axis=1)
        return found

    @cached_property
    def marginals(self) -> np.ndarray:
        """The probability of each labelled arc, (n+1, n+1, L)."""
        return self.arcs.marginals[..., None] * self._given_arc

    @property
    def head_entropy(self) -> np.ndarray:
        """The entropy in nats of each word's head, (n,)."""
        return self.arcs.head_entropy

    @property
    def entropy(self) -> float:
        """The entropy in nats of the tree with its labels: of the heads, and of the labels given them."""
        logs = np.log(self._given_arc, out=np.zeros_like(self.scores), where=self._given_arc > 0)
        return self.arcs.entropy - float((self.marginals * logs).sum())

    def log_prob(self, heads, labels) -> float:
        """log p(tree), -inf for a tree that splits a span."""
        of_heads, heads, labels = self.arcs.log_prob(heads), np.asarray(heads), np.asarray(labels)
        if math.isinf(of_heads):
            return of_heads
        return math.fsum(self.scores[heads, np.arange(1, self.n + 1), labels]) - self.log_partition

    def sample(self, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
        """k independent draws: heads and labels, (k, n) each."""
        heads = self.arcs.sample(k, rng)
        sums = self._given_arc[heads, np.arange(1, self.n + 1)].cumsum(axis=2)
        labels = (sums <= rng.random(heads.shape)[..., None] * sums[..., -1:]).sum(axis=2)
        return heads, labels

    # ---- best trees

    def argmax(self) -> tuple[np.ndarray, np.ndarray]:
        """The tree of the highest score."""
        return self._best(self.scores)

    def mbr(self) -> tuple[np.ndarray, np.ndarray]:
        """The tree with the largest expected number of correct labelled arcs."""
        return self._best(np.where(self.marginals > 0, self.marginals, -np.inf))

    def _best(self, weights: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        heads = SpanTreeDistribution(weights.max(axis=2), self.spans, single_root=self.single_root).argmax()
        return heads, weights[heads, np.arange(1, self.n + 1)].argmax(axis=1)

    def k_best(self, k: int | None = None) -> Iterator[tuple[np.ndarray, np.ndarray, float]]:
        """The k best trees, or all, best first: (heads, labels, score)."""
        return ((*tree, score) for tree, score in ranked(self.scores, k, self._best))
