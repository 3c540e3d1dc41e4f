"""Small dense low-rank problems, and the tensor model written out."""

from __future__ import annotations

import numpy as np

from spacy_mtt.learning.low_rank import DISTANCES, LowRankFeatures, LowRankWeights
from spacy_mtt.learning.problem import ArcExample, Problem
from tests.learning.linear_support import draw_features
from tests.oracle import all_trees

ARC_FEATURES, WORD_FEATURES, RANK = 6, 7, 3


class DenseWords:
    """Features of words held as an array (n+1, size); a sentence has those of some columns."""

    def __init__(self, vectors: np.ndarray):
        self.vectors = vectors
        self.n, self.size = len(vectors) - 1, vectors.shape[1]
        self.slots = np.flatnonzero(vectors.any(axis=0)).astype(np.int32)

    def project(self, rows):
        return self.vectors @ rows.astype(np.float64)

    def collect(self, coefficients):
        return self.vectors[:, self.slots].T @ coefficients

    def add(self, rows, values, scale):
        rows[self.slots] += scale * values


def draw_words(rng: np.random.Generator, n: int) -> DenseWords:
    vectors = rng.normal(size=(n + 1, WORD_FEATURES))
    vectors[:, rng.integers(WORD_FEATURES)] = 0.0
    return DenseWords(vectors)


def draw_low_rank_features(rng: np.random.Generator, n: int) -> LowRankFeatures:
    return LowRankFeatures(draw_features(rng, n, ARC_FEATURES), draw_words(rng, n))


def draw_low_rank_problem(space, *, seed: int = 0, lengths=(3, 4, 1, 2)) -> Problem:
    rng, examples = np.random.default_rng(seed), []
    for n in lengths:
        trees = all_trees(n, space.projective, space.single_root)
        examples.append(ArcExample(draw_low_rank_features(rng, n), trees[rng.integers(len(trees))]))
    return Problem.of(examples, space, ARC_FEATURES)


def draw_weights(rng: np.random.Generator, gamma: float, dtype=np.float64) -> LowRankWeights:
    weights = LowRankWeights.zeros(gamma, ARC_FEATURES, WORD_FEATURES, RANK, dtype)
    for array in weights.arrays().values():
        array[...] = rng.normal(size=array.shape)
    return weights


def distance_vector(h: int, m: int) -> np.ndarray:
    """dis(h - m), in plain words."""
    vector = np.zeros(DISTANCES)
    vector[0] = 1.0
    length = abs(h - m)
    index = length if length <= 5 else 6 if length <= 10 else 7
    vector[index + (7 if h < m else 0)] = 1.0
    return vector


def written_out_score(weights: LowRankWeights, features: LowRankFeatures, h: int, m: int) -> float:
    """The formula, one rank-1 component at a time."""
    total = 0.0
    if weights.gamma > 0:
        total += weights.gamma * float(features.arcs.vectors[h, m] @ weights.theta)
    if weights.gamma < 1:
        head, modifier = features.words.vectors[h], features.words.vectors[m]
        for u, v, w in zip(weights.U.T, weights.V.T, weights.W.T, strict=True):
            total += (1 - weights.gamma) * (u @ head) * (v @ modifier) * (w @ distance_vector(h, m))
    return total


def without_other_cells(features: LowRankFeatures, coefficients: np.ndarray) -> np.ndarray:
    """Coefficients with zeros where no arc is."""
    return np.where(features.arcs.arcs, coefficients, 0.0)
