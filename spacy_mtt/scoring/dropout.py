"""Dropout whose rate belongs to the architecture."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
from thinc.api import Model, NumpyOps
from thinc.types import Floats2d

STEPS = 1 << 16


def FixedDropout(rate: float) -> Model[Floats2d, Floats2d]:
    """Dropout at `rate`, 0 <= rate < 1, while training.

    Unlike thinc's `Dropout` it has no attribute "dropout_rate", so that spaCy's one `training.dropout` does not
    overwrite it.
    """
    if not 0 <= rate < 1:
        raise ValueError(f"a dropout rate must be at least 0 and below 1, not {rate}")
    return Model("fixed_dropout", forward, attrs={"rate": rate})


def forward(model: Model[Floats2d, Floats2d], X: Floats2d, is_train: bool) -> tuple[Floats2d, Callable]:
    rate = model.attrs["rate"]
    if not is_train or rate == 0:
        return X, lambda dY: dY
    mask = random_mask(X.shape, rate) if isinstance(model.ops, NumpyOps) else model.ops.get_dropout_mask(X.shape, rate)
    return X * mask, lambda dY: dY * mask


def random_mask(shape: tuple[int, ...], rate: float) -> np.ndarray:
    """Zeros at `rate`, rounded to 1 in 65536, and numbers that make the mean 1, float32.

    By numpy's global generator, 16 bits a number: thinc draws a float64 for each, which takes six times as long.
    """
    dropped = min(round(rate * STEPS), STEPS - 1)
    bits = np.frombuffer(np.random.bytes(2 * math.prod(shape)), dtype=np.uint16).reshape(shape)
    return np.multiply(bits >= dropped, np.float32(STEPS / (STEPS - dropped)), dtype=np.float32)
