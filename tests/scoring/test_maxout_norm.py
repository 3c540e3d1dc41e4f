"""Maxout with layer normalisation in one pass against thinc's own layers."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thinc.api import LayerNorm, Maxout, chain

from spacy_mtt.scoring.maxout import Maxout as OurMaxout
from spacy_mtt.scoring.maxout_norm import MaxoutNorm, Norm
from tests.scoring.test_gradients import assert_gradient, randomise


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 6), st.integers(1, 40), st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_prediction_is_that_of_thinc(rows, width, nI, pieces, seed):
    rng = np.random.default_rng(seed)
    ours, theirs = MaxoutNorm(width, nI, pieces), chain(Maxout(width, nI, pieces), LayerNorm(width))
    ours.initialize()
    theirs.initialize()
    randomise(ours, rng, np.float32)
    for layer, own in zip(theirs.layers, ours.layers, strict=True):
        for name in layer.param_names:
            layer.set_param(name, own.get_param(name))
    X = rng.normal(scale=10, size=(rows, nI)).astype(np.float32)
    expected = theirs.predict(X)
    np.testing.assert_allclose(ours.predict(X), expected, rtol=1e-3, atol=1e-3)
    np.testing.assert_allclose(ours.begin_update(X)[0], expected, rtol=1e-3, atol=1e-3)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 6), st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_normalisation_alone(rows, width, seed):
    rng = np.random.default_rng(seed)
    ours, theirs = Norm(width), LayerNorm(width)
    ours.initialize()
    theirs.initialize()
    X = rng.normal(loc=5, size=(rows, width)).astype(np.float32)
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), atol=1e-4)


@settings(max_examples=40, deadline=None)
@given(st.integers(1, 6), st.integers(1, 40), st.integers(1, 5), st.integers(1, 5), st.integers(0, 2**32 - 1))
def test_maxout_alone(rows, width, nI, pieces, seed):
    rng = np.random.default_rng(seed)
    ours, theirs = OurMaxout(width, nI, pieces), Maxout(width, nI, pieces)
    ours.initialize()
    randomise(ours, rng, np.float32)
    for name in ours.param_names:
        theirs.set_param(name, ours.get_param(name))
    X, dY = (rng.normal(size=(rows, width_)).astype(np.float32) for width_ in (nI, width))
    np.testing.assert_allclose(ours.predict(X), theirs.predict(X), rtol=1e-5, atol=1e-5)
    (Y, backprop), (expected, backprop_theirs) = ours.begin_update(X), theirs.begin_update(X)
    np.testing.assert_allclose(Y, expected, rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(backprop(dY), backprop_theirs(dY), rtol=1e-4, atol=1e-4)
    for name in ours.param_names:
        np.testing.assert_allclose(ours.get_grad(name), theirs.get_grad(name), rtol=1e-4, atol=1e-4)
    backprop(dY)
    for name in ours.param_names:
        np.testing.assert_allclose(ours.get_grad(name), 2 * theirs.get_grad(name), rtol=1e-4, atol=1e-4)


def test_gradients():
    rng = np.random.default_rng(0)
    model = MaxoutNorm(5, 4, 3)
    model.initialize()
    randomise(model, rng, np.float32)
    X = rng.normal(size=(6, 4)).astype(np.float32)
    weight = rng.normal(size=(6, 5)).astype(np.float32)

    def loss():
        return (weight.astype(np.float64) * model.predict(X)).sum()

    dX = model.begin_update(X)[1](weight)
    assert_gradient(loss, X, dX, rng, step=1e-3, tolerance=2e-2)
    for node in model.layers:
        for name in node.param_names:
            assert_gradient(loss, node.get_param(name), node.get_grad(name), rng, step=1e-3, tolerance=2e-2)


@pytest.mark.parametrize("place", [0, 1, 2])
def test_nan_is_not_hidden(place):
    model = MaxoutNorm(1, 1, 3)
    model.initialize()
    model.layers[0].get_param("b")[0, place] = np.nan
    assert np.isnan(model.predict(np.ones((1, 1), dtype=np.float32))).all()


def test_a_prediction_has_no_backward_pass():
    model = Norm(2)
    model.initialize()
    with pytest.raises(RuntimeError, match="no backward pass"):
        model(np.ones((1, 2), dtype=np.float32), False)[1](np.ones((1, 2), dtype=np.float32))
