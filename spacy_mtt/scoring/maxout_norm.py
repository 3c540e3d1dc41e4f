"""Layer normalisation, and maxout with it in one, with less work in prediction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from thinc.api import LayerNorm, Model
from thinc.types import Floats2d

from ._maxout_norm import maxout_norm
from .maxout import Maxout, is_compiled, no_gradient, products


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
    if not is_train and is_compiled(model, X):
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


def _predicted(*layers: Model, X: Floats2d) -> Floats2d:
    *maxouts, norm = layers
    G, s = norm.get_param("G"), norm.get_param("b")
    b = np.zeros_like(s)
    for layer in maxouts:
        X, b = products(layer, X)
    Y = np.empty((len(X), len(s)), dtype=np.float32)
    maxout_norm(np.ascontiguousarray(X), b, G, s, Y)
    return Y
