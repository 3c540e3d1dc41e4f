"""The average of the weights of a linear model over all steps, exact, at the cost of one more vector."""

from __future__ import annotations

import numpy as np

from .arc_features import ArcFeatures
from .lazy_weights import LazyWeights


class AveragedWeights:
    """Weights w_t and the mean of w_1 .. w_T, the weights after each step, without a pass over all of them a step."""

    def __init__(self, initial: np.ndarray):
        self._weights = LazyWeights(initial)
        self._weights.keep_average()

    @property
    def current(self) -> np.ndarray:
        """w_T, the array in use."""
        return self._weights.scaled[1]  # there is no decay, and so no scale

    def step(self, features: ArcFeatures, direction: np.ndarray, tau: float) -> None:
        """w += tau * (the features of `direction`); a step of 0 counts as well."""
        self._weights.step(None if tau == 0 else lambda array, factor: features.add(array, (factor * tau) * direction))

    def mean(self) -> np.ndarray:
        """The mean, a new array; before the first step, the initial weights."""
        return self._weights.mean()

    def state(self) -> dict[str, np.ndarray]:
        """Copies, as plain arrays."""
        return self._weights.state()

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`; ValueError if it belongs to another number of features."""
        self._weights.restore(state)
