"""Dropout whose rate belongs to the architecture."""

from __future__ import annotations

from collections.abc import Callable

from thinc.api import Model
from thinc.types import Floats2d


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
    mask = model.ops.get_dropout_mask(X.shape, rate)
    return X * mask, lambda dY: dY * mask
