"""The sign test at the level of sentences (Koo et al. 2007, footnote 7)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from scipy.stats import binomtest


@dataclass(frozen=True)
class SignTest:
    """On how many sentences one method is better, and worse, than another; the others are ties."""

    better: int
    worse: int
    sentences: int

    @classmethod
    def of(cls, ours: Sequence[int], theirs: Sequence[int]) -> SignTest:
        """From how many heads each has right in each sentence."""
        pairs = list(zip(ours, theirs, strict=True))
        return cls(sum(a > b for a, b in pairs), sum(a < b for a, b in pairs), len(pairs))

    @property
    def p(self) -> float:
        """The two-sided p-value, ties left out; 1 if there are only ties."""
        differing = self.better + self.worse
        return float(binomtest(self.better, differing).pvalue) if differing else 1.0
