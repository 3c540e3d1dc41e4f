"""How our time per sentence grows with its length."""

from __future__ import annotations

import time

import numpy as np

from spacy_mtt import TreeDistribution

LENGTHS = (25, 50, 100, 200, 350, 500, 700, 1000, 1400, 2000)


def _best_nonprojective(scores):
    TreeDistribution(scores).argmax()


def _nonprojective_marginals(scores):
    return TreeDistribution(scores).marginals


def _best_projective(scores):
    TreeDistribution(scores, projective=True).argmax()


def _projective_marginals(scores):
    return TreeDistribution(scores, projective=True).marginals


CURVES = {  # what to measure, up to which length, and the power of n that bounds it
    "best non-projective tree": (_best_nonprojective, 2000, 2),
    "non-projective marginals": (_nonprojective_marginals, 1000, 3),
    "best projective tree": (_best_projective, 1000, 3),
    "projective marginals": (_projective_marginals, 1000, 3),
}


def measure_growth(*, quick: bool = False) -> dict[str, tuple[np.ndarray, np.ndarray, int]]:
    """{name: (lengths, seconds per sentence (median), power)} of single-root trees over dense normal scores."""
    curves = {}
    for name, (solve, longest, power) in CURVES.items():
        lengths = [n for n in LENGTHS if n <= (min(longest, 350) if quick else longest)]
        curves[name] = np.array(lengths), np.array([_median_seconds(solve, n, quick) for n in lengths]), power
    return curves


def _median_seconds(solve, n: int, quick: bool) -> float:
    rng = np.random.default_rng(n)
    seconds = []
    for _ in range(3 if quick or n > 500 else 7):
        batch = rng.normal(size=(max(4, 10_000 // n**2), n + 1, n + 1))  # sentences differ in how many cycles they have
        start = time.process_time()
        solve(batch)
        seconds.append((time.process_time() - start) / len(batch))
    return float(np.median(seconds))
