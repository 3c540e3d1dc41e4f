"""Weights that move along few features at a time, with decay and an exact average that cost nothing a step."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

SMALLEST_SCALE = 1e-3


class LazyWeights:
    """w_t = (1 - decay_t) w_{t-1} + u_t, and the mean of w_1 .. w_T.

    With w_t = scale_t v_t, an update changes only what u_t touches in v, and

        sum_t w_t = S_T v_T - sum_t S_{t-1} (v_t - v_{t-1}),   S_t = scale_1 + ... + scale_t

    Memory: three vectors, one if no average is asked for.
    """

    def __init__(self, initial: np.ndarray, scale: float = 1.0):
        """w_0 is scale * initial."""
        self._v = np.array(initial, dtype=np.float64)
        self._scale = scale
        self._steps = 0
        self._sum_of_scales = 0.0
        self._past: np.ndarray | None = None  # the sum over steps before the last renewal
        self._late: np.ndarray | None = None  # sum_t S_{t-1} (v_t - v_{t-1})

    def keep_average(self) -> None:
        """From now on, count steps for the mean. Does nothing if that is done."""
        if self._late is None:
            self._past, self._late = np.zeros_like(self._v), np.zeros_like(self._v)
            self._steps, self._sum_of_scales = 0, 0.0

    @property
    def scaled(self) -> tuple[float, np.ndarray]:
        """(scale, v) with w = scale v; v is the array in use."""
        return self._scale, self._v

    @property
    def squared_norm(self) -> float:
        """|w|^2."""
        return self._scale**2 * float(self._v.ravel() @ self._v.ravel())

    def step(self, add: Callable[[np.ndarray, float], None], *, decay: float = 0.0) -> None:
        """One step. add(x, c): x += c u in place. decay: in [0, 1)."""
        if not 0.0 <= decay < 1.0:
            raise ValueError(f"the learning rate times L2 is {decay}, but must be in [0, 1)")
        self._scale *= 1.0 - decay
        add(self._v, 1.0 / self._scale)
        if self._late is not None:
            add(self._late, self._sum_of_scales / self._scale)
        self._steps += 1
        self._sum_of_scales += self._scale
        if self._scale < SMALLEST_SCALE:
            self._renew()

    def mean(self) -> np.ndarray:
        """The mean of w_1 .. w_T, a new array; w itself if there was no step or no average is kept."""
        if self._late is None or not self._steps:
            return self._scale * self._v
        return (self._past + self._sum_of_scales * self._v - self._late) / self._steps

    def _renew(self) -> None:
        """Begin anew with scale 1, before it vanishes."""
        if self._late is not None:
            self._past += self._sum_of_scales * self._v - self._late
            self._late[:] = 0.0
        self._sum_of_scales = 0.0
        self._v *= self._scale
        self._scale = 1.0
