"""Weights that move along few features at a time, with decay and an exact average that cost nothing a step."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

SMALLEST_SCALE = 1e-3


class LazyWeights:
    """w_t = (1 - decay_t) w_{t-1} + u_t, and the mean of w_1 .. w_T.

    With w_t = scale_t v_t, an update changes only what u_t touches in v, and

        sum_t w_t = S_T v_T - sum_t S_{t-1} (v_t - v_{t-1}),   S_t = scale_1 + ... + scale_t

    Memory: one array in the dtype, and for the average one or, if there is decay, two in float64.
    """

    def __init__(self, initial: np.ndarray, scale: float = 1.0, dtype=np.float64):
        """w_0 is scale * initial. dtype: of v; float32 rounds every change to 7 digits."""
        self._v = np.array(initial, dtype=dtype)
        self._scale = scale
        self._steps = 0
        self._sum_of_scales = 0.0
        self._late: np.ndarray | None = None  # sum_t S_{t-1} (v_t - v_{t-1})
        self._past: np.ndarray | None = None  # the sum over steps before the last renewal

    def keep_average(self) -> None:
        """From now on, count steps for the mean. Does nothing if that is done."""
        if self._late is None:
            self._late = np.zeros(self._v.shape)
            self._steps, self._sum_of_scales = 0, 0.0

    @property
    def scaled(self) -> tuple[float, np.ndarray]:
        """(scale, v) with w = scale v; v is the array in use."""
        return self._scale, self._v

    @property
    def squared_norm(self) -> float:
        """|w|^2."""
        return self._scale**2 * float(self._v.ravel() @ self._v.ravel())

    def step(self, add: Callable[[np.ndarray, float], None] | None, *, decay: float = 0.0) -> None:
        """One step. add(x, c): x += c u in place; None where u is 0. decay: in [0, 1)."""
        if not 0.0 <= decay < 1.0:
            raise ValueError(f"the learning rate times L2 is {decay}, but must be in [0, 1)")
        self._scale *= 1.0 - decay
        if add is not None:
            add(self._v, 1.0 / self._scale)
            if self._late is not None and self._sum_of_scales:
                add(self._late, self._sum_of_scales / self._scale)
        self._steps += 1
        self._sum_of_scales += self._scale
        if self._scale < SMALLEST_SCALE:
            self._renew()

    def mean(self) -> np.ndarray:
        """The mean of w_1 .. w_T, a new array; w itself if there was no step or no average is kept."""
        if self._late is None or not self._steps:
            return (self._scale * self._v).astype(self._v.dtype, copy=False)
        return (self._sum_of_steps() / self._steps).astype(self._v.dtype, copy=False)

    def state(self) -> dict[str, np.ndarray]:
        """Copies of all there is, as plain arrays."""
        arrays = {"v": self._v, "late": self._late, "past": self._past}
        numbers = {"scale": self._scale, "steps": self._steps, "sum_of_scales": self._sum_of_scales}
        kept = {name: array.copy() for name, array in arrays.items() if array is not None}
        return kept | {name: np.array(number) for name, number in numbers.items()}

    def check(self, state: dict[str, np.ndarray], name: str = "weights") -> None:
        """ValueError if a `state` is of another shape; `name` is what the message calls the weights."""
        if state["v"].shape != self._v.shape:
            raise ValueError(f"the state has {name} of the shape {state['v'].shape}, but here it is {self._v.shape}")

    def restore(self, state: dict[str, np.ndarray]) -> None:
        """Go on from a `state`; ValueError if it is of another shape."""
        self.check(state)
        self._v = np.array(state["v"], dtype=self._v.dtype)
        self._late, self._past = (np.array(state[name]) if name in state else None for name in ("late", "past"))
        self._scale, self._sum_of_scales = float(state["scale"]), float(state["sum_of_scales"])
        self._steps = int(state["steps"])

    def _sum_of_steps(self) -> np.ndarray:
        total = self._sum_of_scales * self._v - self._late
        return total if self._past is None else total + self._past

    def _renew(self) -> None:
        """Begin anew with scale 1, before it vanishes."""
        if self._late is not None:
            self._past = self._sum_of_steps()
            self._late[:] = 0.0
        self._sum_of_scales = 0.0
        self._v *= self._scale
        self._scale = 1.0


def state_of(parts: Mapping[str, LazyWeights]) -> dict[str, np.ndarray]:
    """The states of several, as one."""
    return {f"{name}.{key}": array for name, part in parts.items() for key, array in part.state().items()}


def restore_parts(parts: Mapping[str, LazyWeights], state: Mapping[str, np.ndarray]) -> None:
    """Go on from a `state_of` as many; ValueError, with nothing changed, if one is of another shape."""
    given = {
        name: {key.removeprefix(f"{name}."): array for key, array in state.items() if key.startswith(f"{name}.")}
        for name in parts
    }
    for name, part in parts.items():
        part.check(given[name], name)
    for name, part in parts.items():
        part.restore(given[name])
