"""Small dense features and problems for the tests of linear learners."""

from __future__ import annotations

import numpy as np
import pytest

from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.tree_space import TreeSpace
from tests.oracle import SPACES, all_trees

SPACE_OBJECTS = [TreeSpace(projective=projective, single_root=single_root) for projective, single_root in SPACES]
spaces = pytest.mark.parametrize("space", SPACE_OBJECTS, ids=str)
labelled_or_not = pytest.mark.parametrize("n_labels", [0, 2], ids=["unlabelled", "labelled"])


class DenseFeatures:
    """Features held as one array (n+1, n+1[, L], d) of numbers; poisoned where no arc is."""

    def __init__(self, vectors: np.ndarray):
        self.vectors = vectors
        self.n = len(vectors) - 1
        self.arcs = ~np.eye(self.n + 1, dtype=bool)
        self.arcs[:, 0] = False

    def score(self, weights):
        scores = np.zeros(self.vectors.shape[:-1])
        scores[self.arcs] = self.vectors[self.arcs] @ weights
        return scores

    def add(self, weights, coefficients):
        assert not coefficients[~self.arcs].any()
        weights += self.total(coefficients)

    def squared_norm(self, coefficients):
        assert not coefficients[~self.arcs].any()
        return float((self.total(coefficients) ** 2).sum())

    def total(self, coefficients):
        arcs = coefficients[self.arcs]
        return arcs.ravel() @ self.vectors[self.arcs].reshape(arcs.size, self.vectors.shape[-1])


def draw_features(rng: np.random.Generator, n: int, n_features: int, n_labels: int = 0) -> DenseFeatures:
    shape = (n + 1, n + 1, n_features) if n_labels == 0 else (n + 1, n + 1, n_labels, n_features)
    features = DenseFeatures(rng.normal(size=shape))
    features.vectors[~features.arcs] = np.nan
    return features


def draw_problem(
    space: TreeSpace, *, seed: int = 0, lengths=(3, 4, 1, 2), n_features: int = 6, n_labels: int = 0, truth=None
) -> Problem:
    """Trees drawn at random, or with `truth` (weights) the best under it."""
    rng = np.random.default_rng(seed)
    examples = []
    for n in lengths:
        features = draw_features(rng, n, n_features, n_labels)
        trees = all_trees(n, space.projective, space.single_root)
        heads = trees[rng.integers(len(trees))]
        labels = rng.integers(n_labels, size=n) if n_labels else None
        if truth is not None:
            best = space.distribution(features.score(truth)).argmax()
            heads, labels = best if n_labels else (best, None)
        examples.append(ArcExample(features, heads, labels, n_labels=n_labels))
    return Problem.of(examples, space, n_features)


def every_tree(example: ArcExample, space: TreeSpace) -> list[tuple[np.ndarray, ...]]:
    """All trees over the words of `example`, with all labels if it is labelled, in the form of `example.tree`."""
    trees = all_trees(example.n, space.projective, space.single_root)
    if example.labels is None:
        return [(heads,) for heads in trees]
    labellings = list(np.ndindex(*[example.n_labels] * example.n))
    return [(heads, np.array(labels, dtype=int)) for heads in trees for labels in labellings]


def tree_vector(example: ArcExample, tree: tuple[np.ndarray, ...]) -> np.ndarray:
    """The feature vector of a tree."""
    words = np.arange(1, example.n + 1)
    return example.features.vectors[(tree[0], words, *tree[1:])].sum(axis=0)


def wrong_arcs(example: ArcExample, tree: tuple[np.ndarray, ...]) -> int:
    """How many words have another head than the example's, or another label."""
    return int(np.any([a != b for a, b in zip(tree, example.tree, strict=True)], axis=0).sum())


def vectors_and_costs(problem: Problem) -> list[tuple[np.ndarray, np.ndarray]]:
    """For each example, gold less tree vectors (T, d) and costs (T,), over all trees."""
    answer = []
    for example in problem.examples:
        trees = every_tree(example, problem.space)
        gold = tree_vector(example, example.tree)
        margins = np.array([gold - tree_vector(example, tree) for tree in trees])
        answer.append((margins, np.array([wrong_arcs(example, tree) for tree in trees])))
    return answer
