"""How far exponentiated gradient goes in each of its updates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, TypeVar

import numpy as np


class Attempt(Protocol):
    """An update that was computed, but not made."""

    def gain(self) -> float:
        """By how much it raises the dual objective."""
        ...


AttemptT = TypeVar("AttemptT", bound=Attempt)


class StepSize(Protocol):
    """Chooses the rate (eta C in Koo et al. 2007) of each update."""

    def start(self, n_examples: int) -> None:
        """Called once, before the first pass."""
        ...

    def choose(self, index: int, attempt: Callable[[float], AttemptT]) -> AttemptT | None:
        """The update of an example to make, of those that `attempt` computes for a rate; None for no update."""
        ...

    def end_pass(self, improved: bool) -> None:
        """Called after each pass, with whether the dual rose over the pass before."""
        ...

    def state(self) -> np.ndarray:
        """The current rates."""
        ...

    def restore(self, state: np.ndarray) -> None:
        """Go on from a `state`."""
        ...


class HalvedPerPass:
    """One rate for all, halved after each pass that did not raise the dual: Koo et al. (2007), Figure 2.

    rate: the first eta C; 1, as in the paper, is eta = 1 / C.
    """

    def __init__(self, rate: float = 1.0):
        self.rate = _above_zero(rate)

    def start(self, n_examples: int) -> None:
        pass

    def choose(self, index: int, attempt: Callable[[float], AttemptT]) -> AttemptT:
        return attempt(self.rate)

    def end_pass(self, improved: bool) -> None:
        if not improved:
            self.rate /= 2

    def state(self) -> np.ndarray:
        return np.array([self.rate])

    def restore(self, state: np.ndarray) -> None:
        self.rate = float(state[0])


class SearchedPerExample:
    """A rate for each example, halved until the update does not lower the dual, and raised after each success.

    So the dual never falls (in the manner of Collins et al. 2008). An update that needs more
    than `max_halvings` is not made.

    rate: the first rate. growth: the factor after a success. largest: where growth ends; at most 1 for
        `LogLinearLoss`, where 1 goes all the way to the scores.
    """

    def __init__(self, rate: float = 0.5, *, growth: float = 1.05, largest: float = 1.0, max_halvings: int = 20):
        if growth < 1:
            raise ValueError(f"growth must be at least 1, not {growth}")
        self.rate = _above_zero(rate)
        self.growth = growth
        self.largest = _above_zero(largest)
        self.max_halvings = max_halvings
        self.rates = np.zeros(0)

    def start(self, n_examples: int) -> None:
        self.rates = np.full(n_examples, min(self.rate, self.largest))

    def choose(self, index: int, attempt: Callable[[float], AttemptT]) -> AttemptT | None:
        if index >= len(self.rates):  # an example that was not announced
            more = np.full(index + 1 - len(self.rates), min(self.rate, self.largest))
            self.rates = np.concatenate([self.rates, more])
        rate = self.rates[index]
        for _ in range(self.max_halvings + 1):
            update = attempt(rate)
            if update.gain() >= 0:
                self.rates[index] = min(rate * self.growth, self.largest)
                return update
            rate /= 2
        return None

    def end_pass(self, improved: bool) -> None:
        pass

    def state(self) -> np.ndarray:
        return self.rates.copy()

    def restore(self, state: np.ndarray) -> None:
        self.rates = np.array(state, dtype=np.float64)


def _above_zero(rate: float) -> float:
    if not rate > 0:
        raise ValueError(f"a rate must be above 0, not {rate}")
    return float(rate)
