"""Features with labels against the same features written out, and a learner that needs them."""

import numpy as np
import pytest

from spacy_mtt.learning.labelled_features import LabelledFeatures, n_labelled_features
from spacy_mtt.learning.online import averaged_perceptron
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.trainer import PassLimit, Trainer
from spacy_mtt.learning.tree_space import TreeSpace
from tests.learning.linear_support import DenseFeatures, draw_features

LABELS, SIZE = 3, 4


def written_out(features: DenseFeatures, shared: bool) -> DenseFeatures:
    n = features.n
    vectors = np.zeros((n + 1, n + 1, LABELS, n_labelled_features(SIZE, n_labels=LABELS, shared=shared)))
    for label in range(LABELS):
        vectors[:, :, label, label * SIZE : (label + 1) * SIZE] = features.vectors
        if shared:
            vectors[:, :, label, LABELS * SIZE :] = features.vectors
    return DenseFeatures(vectors)


@pytest.mark.parametrize("shared", [False, True])
def test_they_are_blocks_by_label(shared):
    rng = np.random.default_rng(0)
    plain = draw_features(rng, 3, SIZE)
    labelled = LabelledFeatures(plain, n_labels=LABELS, n_features=SIZE, shared=shared)
    expected = written_out(plain, shared)
    weights = rng.normal(size=n_labelled_features(SIZE, n_labels=LABELS, shared=shared))
    np.testing.assert_allclose(labelled.score(weights), expected.score(weights), atol=1e-13)
    coefficients = rng.normal(size=(4, 4, LABELS)) * plain.arcs[:, :, None]
    coefficients[:, :, 1] = 0
    other = weights.copy()
    labelled.add(weights, coefficients)
    expected.add(other, coefficients)
    np.testing.assert_allclose(weights, other, atol=1e-13)
    assert labelled.squared_norm(coefficients) == pytest.approx(expected.squared_norm(coefficients), rel=1e-12)


def test_wrong_weights_are_named():
    labelled = LabelledFeatures(draw_features(np.random.default_rng(0), 2, SIZE), n_labels=2, n_features=SIZE)
    with pytest.raises(ValueError, match=r"the weights have the shape \(8,\), but must have \(12,\)"):
        labelled.score(np.zeros(8))


@pytest.mark.parametrize("shared", [False, True])
def test_a_perceptron_learns_labelled_trees(shared):
    rng = np.random.default_rng(1)
    space = TreeSpace(projective=True, single_root=True)
    size = n_labelled_features(SIZE, n_labels=LABELS, shared=shared)
    truth = rng.normal(size=size)
    examples = []
    for n in (3, 4, 5, 4, 3):
        features = LabelledFeatures(draw_features(rng, n, SIZE), n_labels=LABELS, n_features=SIZE, shared=shared)
        examples.append(ArcExample(features, *space.distribution(features.score(truth)).argmax(), n_labels=LABELS))
    trainer = Trainer(averaged_perceptron(Problem.of(examples, space, size)), seed=0)
    reports = list(trainer.run(PassLimit(300), lambda reports: reports[-1].values["errors"] == 0))
    assert reports[0].values["errors"] > 0 and reports[-1].values["errors"] == 0
