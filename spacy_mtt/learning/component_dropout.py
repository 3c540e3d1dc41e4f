"""Learning with some components of the low-rank tensor at a time, so that each learns to do without the others."""

from __future__ import annotations

import numpy as np

from .low_rank import Factors


class ComponentDropout:
    """Leaves each component out with a probability, and lets the others count for more (Srivastava et al. 2014).

    rate: the probability, at least 0 and below 1. seed: with the number of a step, it tells which components are left
        out, so that learning can go on anywhere.
    """

    def __init__(self, rate: float, *, seed: int = 0):
        if not 0 <= rate < 1:
            raise ValueError(f"the dropout of components is {rate}, but must be at least 0 and below 1")
        self.rate, self.seed = rate, seed

    def __call__(self, factors: Factors | None, step: int) -> Factors | None:
        """The factors to learn from in a step; None stays None."""
        if factors is None or not self.rate:
            return factors
        kept = np.random.default_rng((self.seed, step)).random(factors.distance.shape[1]) >= self.rate
        return factors.shared(kept / (1 - self.rate))
