"""Calibration: whether arcs of probability p are right in p of all cases, and a temperature that sees to it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar

from spacy_mtt.learning.tree_space import TreeSpace

BINS = 10
RANGE = (0.05, 20.0)  # of temperatures
LEAST = 1e-12  # a probability below this costs no more


@dataclass(frozen=True)
class Bucketed:
    """Arc scores of a padded batch of sentences, (B, N+1, N+1) or labelled, their lengths, and gold heads (B, N), -1
    where unknown."""

    scores: np.ndarray
    lengths: np.ndarray
    heads: np.ndarray


@dataclass(frozen=True)
class Reliability:
    """Predicted heads by their probability, in bins of equal width.

    counts, confidence, accuracy: (10,) how many, their mean probability, and the share that is right; 0 where empty.
    """

    counts: np.ndarray
    confidence: np.ndarray
    accuracy: np.ndarray

    @classmethod
    def of(cls, probabilities: np.ndarray, right: np.ndarray) -> Reliability:
        """probabilities: (T,) of the predicted heads. right: (T,) bool."""
        bins = np.minimum((probabilities * BINS).astype(int), BINS - 1)
        counts = np.bincount(bins, minlength=BINS)
        sums = (np.bincount(bins, values, minlength=BINS) for values in (probabilities, right.astype(float)))
        return cls(counts, *(np.divide(each, counts, out=np.zeros(BINS), where=counts > 0) for each in sums))

    @property
    def ece(self) -> float:
        """The expected calibration error (Naeini, Cooper and Hauskrecht 2015): |confidence - accuracy|, weighted by
        counts; 0 if there is nothing to count."""
        gaps = np.abs(self.confidence - self.accuracy)
        return float((self.counts * gaps).sum() / max(1, self.counts.sum()))


def head_loss(buckets: Sequence[Bucketed], space: TreeSpace, temperature: float) -> float:
    """-log of the probabilities of the gold heads, each word for itself, summed, in nats."""
    total = 0.0
    for bucket in buckets:
        marginals = space.padded(bucket.scores / temperature, bucket.lengths).marginals
        if marginals.ndim == 4:
            marginals = marginals.sum(axis=3)
        rows, words = np.nonzero(bucket.heads >= 0)
        found = marginals[rows, bucket.heads[rows, words], words + 1]
        total -= float(np.log(np.maximum(found, LEAST)).sum())
    return total


def best_temperature(buckets: Sequence[Bucketed], space: TreeSpace) -> float:
    """The temperature under which the gold heads are most probable (Guo et al. 2017, section 4.2, for arcs).

    ValueError if no gold head is known. O(n^3) a sentence, some 20 times.
    """
    if not any((bucket.heads >= 0).any() for bucket in buckets):
        raise ValueError("there is no gold head to fit a temperature to")
    low, high = map(math.log, RANGE)
    found = minimize_scalar(
        lambda x: head_loss(buckets, space, math.exp(x)), bounds=(low, high), method="bounded", options={"xatol": 1e-3}
    )
    return math.exp(found.x)
