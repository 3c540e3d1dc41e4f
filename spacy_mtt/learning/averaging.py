"""The average of weights over all steps, exact, at the cost of one more vector."""

from __future__ import annotations

import numpy as np

from .arc_features import ArcFeatures


class AveragedWeights:
    """Weights w_t and the mean of w_1 .. w_T, the weights after each step, without a pass over all of them a step.

    With w_t = w_0 + u_1 + ... + u_t the mean is ((T+1) w_T - total) / T, where total = w_0 + sum_t t u_t.
    """

    def __init__(self, initial: np.ndarray):
        self.current = np.array(initial, dtype=np.float64)
        self._total = self.current.copy()
        self._steps = 0

    def step(self, features: ArcFeatures, direction: np.ndarray, tau: float) -> None:
        """w += tau * (the features of `direction`); a step of 0 counts as well."""
        self._steps += 1
        if tau != 0:
            features.add(self.current, tau * direction)
            features.add(self._total, self._steps * tau * direction)

    def mean(self) -> np.ndarray:
        """The mean, a new array; before the first step, the initial weights."""
        if self._steps == 0:
            return self.current.copy()
        return ((self._steps + 1) * self.current - self._total) / self._steps

    def state(self) -> dict[str, np.ndarray]:
        """Copies, as plain arrays."""
        return {"current": self.current.copy(), "total": self._total.copy(), "steps": np.array(self._steps)}

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`; ValueError if it belongs to another number of features."""
        if state["current"].shape != self.current.shape:
            raise ValueError(f"the state has {len(state['current'])} weights, the problem {len(self.current)}")
        self.current = np.array(state["current"], dtype=np.float64)
        self._total = np.array(state["total"], dtype=np.float64)
        self._steps = int(state["steps"])
