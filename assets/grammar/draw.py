"""Random choices that are the same on every machine and in every version of Python.

Everything rests on `random.Random(seed).random()`, the one method whose sequence Python promises to keep.
Sets are never iterated.
"""

from __future__ import annotations

import random
from bisect import bisect
from collections.abc import Mapping, Sequence
from functools import cache
from itertools import accumulate
from typing import TypeVar

T = TypeVar("T")

ZIPF_EXPONENT = 0.8
ZIPF_OFFSET = 3.0


class Reject(Exception):
    """The choices made so far leave no way on; the sentence is drawn afresh."""


@cache
def _zipf_sums(n: int) -> list[float]:
    return list(accumulate((rank + ZIPF_OFFSET) ** -ZIPF_EXPONENT for rank in range(n)))


class Draw:
    """A seeded source of choices."""

    def __init__(self, seed: int):
        self._random = random.Random(seed).random
        self.coins = 0

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self._random() < probability

    def coin(self) -> bool:
        """Heads or tails, for an attachment that nothing in the sentence decides; `coins` counts them."""
        self.coins += 1
        return self.chance(0.5)

    def uniform(self) -> float:
        """A number of [0, 1)."""
        return self._random()

    def pick(self, options: Sequence[T]) -> T:
        """One of the options, all alike. Raises Reject where there is none."""
        if not options:
            raise Reject
        return options[int(self._random() * len(options))]

    def zipf(self, options: Sequence[T]) -> T:
        """One of the options, by (rank + offset) ** -exponent (Zipf-Mandelbrot)."""
        if not options:
            raise Reject
        sums = _zipf_sums(len(options))
        return options[bisect(sums, self._random() * sums[-1], hi=len(options) - 1)]

    def weighted(self, options: Mapping[T, float] | Sequence[tuple[T, float]]) -> T:
        """One of the options by its weight."""
        pairs = list(options.items()) if isinstance(options, Mapping) else list(options)
        if not pairs:
            raise Reject
        sums = list(accumulate(weight for _, weight in pairs))
        return pairs[bisect(sums, self._random() * sums[-1], hi=len(pairs) - 1)][0]

    def shuffled(self, options: Sequence[T]) -> list[T]:
        """A random order (Fisher-Yates)."""
        order = list(options)
        for i in range(len(order) - 1, 0, -1):
            j = int(self._random() * (i + 1))
            order[i], order[j] = order[j], order[i]
        return order
