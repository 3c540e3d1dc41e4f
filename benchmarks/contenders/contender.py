"""The form of a contender."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Task:
    title: str
    projective: bool
    sums: bool  # log Z and all marginals; else the best tree


NONPROJECTIVE_SUMS = Task("non-projective log Z + all marginals", projective=False, sums=True)
NONPROJECTIVE_TREE = Task("best non-projective tree", projective=False, sums=False)
PROJECTIVE_SUMS = Task("projective log Z + all marginals", projective=True, sums=True)
PROJECTIVE_TREE = Task("best projective tree", projective=True, sums=False)
TASKS = (NONPROJECTIVE_SUMS, NONPROJECTIVE_TREE, PROJECTIVE_SUMS, PROJECTIVE_TREE)


@dataclass(frozen=True)
class Contender:
    """One way to solve one task for a batch of sentences of one length.

    prepare(scores, single_root): bring scores (B, n+1, n+1), in our conventions, into the library's own form; not
        timed.
    solve(prepared): all of the work that is timed.
    read(solution): ours again: heads (B, n), or log Z (B,) and marginals (B, n+1, n+1); None for a floor, which solves
        no task.
    """

    name: str
    task: Task
    prepare: Callable[[np.ndarray, bool], Any]
    solve: Callable[[Any], Any]
    read: Callable[[Any], Any] | None
    kind: str = "peer"  # or "ours", or "floor": plain linear algebra
    roots: tuple[bool, ...] = (True, False)  # the values of single_root that it can do
