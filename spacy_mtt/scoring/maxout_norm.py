"""Maxout, layer normalisation, and both in one, with less work in prediction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from thinc.api import LayerNorm, Maxout, Model, NumpyOps
from thinc.types import Floats1d, Floats2d

from ._maxout_norm import maxout, maxout_norm


def MaxoutNorm(nO: int, nI: int, nP: int) -> Model[Floats2d, Floats2d]:
    """`thinc.api.Maxout` with `normalize`.

    The layers and their parameters are thinc's. In prediction in float32 on a CPU, bias, maxima and normalisation run
    in one compiled pass over each row, in place of ten passes over the array.
    """
    layers = [Maxout(nO, nI, nP), LayerNorm(nO)]
    return Model("maxout_norm", forward, init=init, layers=layers, dims={"nO": nO, "nI": nI})


def Norm(nO: int) -> Model[Floats2d, Floats2d]:
    """`thinc.api.LayerNorm`, in prediction as in `MaxoutNorm`."""
    return Model("norm", forward, init=init, layers=[LayerNorm(nO)], dims={"nO": nO, "nI": nO})


def init(model: Model[Floats2d, Floats2d], X: Floats2d | None = None, Y=None) -> None:
    for layer in model.layers:
        layer.initialize()


def forward(model: Model[Floats2d, Floats2d], X: Floats2d, is_train: bool) -> tuple[Floats2d, Callable]:
    if not is_train and _is_compiled(model, X):
        return _predicted(*model.layers, X=X), no_gradient
    backprops = []
    for layer in model.layers:
        X, backprop_layer = layer(X, is_train)
        backprops.append(backprop_layer)

    def backprop(dY: Floats2d) -> Floats2d:
        for backprop_layer in reversed(backprops):
            dY = backprop_layer(dY)
        return dY

    return X, backprop


def predict_maxout(layer: Model[Floats2d, Floats2d], X: Floats2d) -> Floats2d:
    """What `layer`, a `thinc.api.Maxout`, predicts."""
    if not _is_compiled(layer, X):
        return layer.predict(X)
    products, b = _products(layer, X)
    Y = np.empty((len(X), layer.get_dim("nO")), dtype=np.float32)
    maxout(products, b, Y)
    return Y


def _is_compiled(model: Model, X: Floats2d) -> bool:
    return isinstance(model.ops, NumpyOps) and X.dtype == np.float32


def _products(layer: Model, X: Floats2d) -> tuple[Floats2d, Floats1d]:
    """What the maxima of a maxout layer are taken of, (T, nO * nP), without the bias, and that bias."""
    b = layer.get_param("b").reshape(-1)
    return X @ layer.get_param("W").reshape(len(b), -1).T, b


def _predicted(*layers: Model, X: Floats2d) -> Floats2d:
    *maxouts, norm = layers
    G, s = norm.get_param("G"), norm.get_param("b")
    b = np.zeros_like(s)
    for layer in maxouts:
        X, b = _products(layer, X)
    Y = np.empty((len(X), len(s)), dtype=np.float32)
    maxout_norm(np.ascontiguousarray(X), b, G, s, Y)
    return Y


def no_gradient(dY):
    """The backward pass of what keeps nothing for it."""
    raise RuntimeError("a prediction has no backward pass")
