"""Which jobs a treebank needs next, given the results that there are, and what was chosen by them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from benchmarks.koo2007.jobs import Final, Job, Search, Treebank
from benchmarks.koo2007.methods import METHODS, Method

Results = Callable[[Job], dict[str, Any] | None]  # None: not done
SETTINGS = tuple((name, projective) for name in METHODS for projective in (True, False))


@dataclass(frozen=True)
class Choice:
    """The meta-parameters with the best UAS on the validation part."""

    C: float | None
    passes: int
    decoding: str
    uas: float


def best_point(C: float | None, result: dict[str, Any]) -> Choice:
    """The best pass of one search; of equal ones the earliest, and there non-projective parsing."""
    points = [
        Choice(C, point["passes"], decoding, uas) for point in result["curve"] for decoding, uas in point["UAS"].items()
    ]
    return max(points, key=lambda point: point.uas)


def searches(
    treebank: Treebank, method: Method, projective: bool, results: Results, kind: type[Search] = Search
) -> list[Search]:
    """The searches of a setting, by C: those of the range, then, while the best C is at an end, one more there."""
    constants = sorted(method.constants) or [None]
    for _ in range(method.widen):
        done = {C: results(kind(treebank, method.name, projective, C)) for C in constants}
        if None in done.values():
            break
        best = max(constants, key=lambda C: best_point(C, done[C]).uas)
        if best == constants[0]:
            constants.insert(0, further(constants[0], -1))
        elif best == constants[-1]:
            constants.append(further(constants[-1], 1))
    return [kind(treebank, method.name, projective, C) for C in constants]


def further(C: float, steps: int) -> float:
    """The value so many half orders of magnitude from C, to one digit: ... 0.01, 0.03, 0.1, 0.3 ..."""
    return float(f"{10 ** ((round(2 * math.log10(C)) + steps) / 2):.1g}")


def choose(
    treebank: Treebank, method: Method, projective: bool, results: Results, kind: type[Search] = Search
) -> Choice | None:
    """What the searches of a setting chose; None if they are not done. Of equal ones the smallest C."""
    found = [(job.C, results(job)) for job in searches(treebank, method, projective, results, kind)]
    if any(result is None for _, result in found):
        return None
    return max((best_point(C, result) for C, result in found), key=lambda point: point.uas)


def final_job(
    treebank: Treebank, method: Method, projective: bool, results: Results, kind: type[Search] = Search
) -> Final | None:
    """The final run of a setting; None if its searches are not done."""
    choice = choose(treebank, method, projective, results, kind)
    if choice is None:
        return None
    return Final(treebank, method.name, projective, choice.C, choice.passes, choice.decoding)


def next_jobs(treebank: Treebank, results: Results) -> list[Job]:
    """The jobs of a treebank that can be done now; none if all is done.

    Final runs wait until no search is left, so that a worker that keeps the features of one part at a time does not
    change between the two.
    """
    left: list[Job] = [
        job
        for name, projective in SETTINGS
        for job in searches(treebank, METHODS[name], projective, results)
        if results(job) is None
    ]
    if left:
        return left
    finals = [final_job(treebank, METHODS[name], projective, results) for name, projective in SETTINGS]
    return [job for job in finals if job is not None and results(job) is None]
