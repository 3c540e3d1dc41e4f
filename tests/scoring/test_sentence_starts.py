"""The segmenter: its gradient, and its place in the model."""

import numpy as np
import pytest
from thinc.api import Model

from spacy_mtt.learning.cross_entropy import logistic_loss
from spacy_mtt.scoring.arc_biaffine import ArcBiaffine
from spacy_mtt.scoring.sentence_starts import build_sentence_starts
from tests.scoring.test_gradients import UNITS, WIDTH, assert_gradient, node_vectors, randomise


def random_segmenter(rng, **settings) -> Model:
    model = build_sentence_starts(hidden_width=4, **settings)
    model.initialize(X=[np.zeros((1, WIDTH), dtype=np.float32)])
    assert not model.layers[0].layers[-1].get_param("W").any()  # starts at zero
    randomise(model, rng, np.float32)
    return model


def random_vectors(rng) -> list[np.ndarray]:
    return [rng.normal(size=(n, WIDTH)).astype(np.float32) for n in (4, 1, 6)]


@pytest.mark.parametrize("window_size", [0, 1, 2])
def test_gradient_of_the_loss(window_size):
    """In float32, the precision of thinc's layers on a CPU: with one piece, so that steps can be large."""
    rng = np.random.default_rng(window_size)
    model = random_segmenter(rng, window_size=window_size, maxout_pieces=1, dropout=0.0)
    docs = random_vectors(rng)
    gold = rng.choice([0, 1, -1], size=11)

    def loss():
        return logistic_loss(np, np.concatenate(model.predict(docs))[:, 0], gold)[0]

    scores, backprop = model.begin_update(docs)
    _, gradient = logistic_loss(np, np.concatenate(scores)[:, 0], gold)
    d_docs = backprop([part[:, None].astype(np.float32) for part in np.split(gradient, [4, 5])])
    near = {"step": 5e-3, "tolerance": 2e-3}
    for doc, d_doc in zip(docs, d_docs, strict=True):
        assert_gradient(loss, doc, d_doc, rng, **near)
    for node in model.walk():
        for name in node.param_names:
            assert_gradient(loss, node.get_param(name), node.get_grad(name), rng, **near)


def test_logistic_loss_at_any_scale():
    gold = np.array([1, 0, 1, 0, -1])
    loss, gradient = logistic_loss(np, np.array([1e4, -1e4, -1e4, 0.0, 3.0], dtype=np.float32), gold)
    assert loss == pytest.approx(1e4 + np.log(2))
    np.testing.assert_allclose(gradient, [0.0, 0.0, -1.0, 0.5, 0.0])


def test_docs_do_not_see_each_other():
    rng = np.random.default_rng(0)
    model, docs = random_segmenter(rng, window_size=2), random_vectors(rng)
    for doc, scores in zip(docs, model.predict(docs), strict=True):
        np.testing.assert_allclose(model.predict([doc])[0], scores, rtol=1e-4, atol=1e-4)


def test_prediction_gives_the_scores_of_a_bucket_when_asked():
    rng = np.random.default_rng(0)
    model = ArcBiaffine(WIDTH)
    model.initialize()
    randomise(model, rng)
    inputs = (*node_vectors(rng), UNITS)
    lazy, kept = model.predict(inputs), model.begin_update(inputs)[0]
    assert len(lazy) == len(kept) == len(UNITS.buckets)
    for scores, expected, again in zip(lazy, kept, lazy, strict=True):
        np.testing.assert_array_equal(scores, expected)
        assert scores is not again
