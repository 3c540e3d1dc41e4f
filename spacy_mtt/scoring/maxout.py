"""thinc's maxout layer with numpy's matrix products.

thinc computes them by BLIS, which takes three to five times as long as the OpenBLAS of numpy's wheels (one thread,
x86-64 with AVX-512).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
from thinc.api import Model, NumpyOps, glorot_uniform_init, zero_init
from thinc.layers.maxout import forward as thinc_forward
from thinc.layers.maxout import init
from thinc.types import Floats1d, Floats2d

from ._maxout_norm import maxout


def Maxout(nO: int | None = None, nI: int | None = None, nP: int = 3) -> Model[Floats2d, Floats2d]:
    """`thinc.api.Maxout`, but for how it is computed in float32 on a CPU."""
    return Model(
        "maxout",
        forward,
        init=partial(init, glorot_uniform_init, zero_init),
        dims={"nO": nO, "nI": nI, "nP": nP},
        params={"W": None, "b": None},
    )


def forward(model: Model[Floats2d, Floats2d], X: Floats2d, is_train: bool) -> tuple[Floats2d, Callable]:
    if not is_compiled(model, X):
        return thinc_forward(model, X, is_train)
    Y, b = products(model, X)
    if not is_train:
        best = np.empty((len(X), model.get_dim("nO")), dtype=np.float32)
        maxout(Y, b, best)
        return best, no_gradient
    Y += b
    nO, nP = model.get_dim("nO"), model.get_dim("nP")
    best, which = model.ops.maxout(Y.reshape(len(X), nO, nP))

    def backprop(d_best: Floats2d) -> Floats2d:
        W = model.get_param("W")
        dY = model.ops.backprop_maxout(d_best, which, nP).reshape(len(X), nO * nP)
        model.inc_grad("b", dY.sum(axis=0).reshape(nO, nP))
        model.inc_grad("W", (dY.T @ X).reshape(W.shape))
        return dY @ W.reshape(nO * nP, -1)

    return best, backprop


def is_compiled(model: Model, X: Floats2d) -> bool:
    """Whether this is numpy's, in float32."""
    return isinstance(model.ops, NumpyOps) and X.dtype == np.float32


def products(layer: Model, X: Floats2d) -> tuple[Floats2d, Floats1d]:
    """What the maxima of a layer are taken of, (T, nO * nP), without the bias, and that bias."""
    b = layer.get_param("b").reshape(-1)
    return X @ layer.get_param("W").reshape(len(b), -1).T, b


def no_gradient(dY):
    """The backward pass of what keeps nothing for it."""
    raise RuntimeError("a prediction has no backward pass")
