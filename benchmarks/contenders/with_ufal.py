"""ufal.chu-liu-edmonds: one sentence a call, scores (n+1, n+1), modifier by head, NaN for no arc.

It knows multi-root trees alone. For a single root its users subtract a constant from the root's arcs, more than any
other arcs can make up for; exact in float64 as long as that constant is not huge.
"""

from __future__ import annotations

import numpy as np
from ufal.chu_liu_edmonds import chu_liu_edmonds

from benchmarks.contenders.contender import NONPROJECTIVE_TREE, Contender


def _prepare(scores, single_root):
    by_modifier = scores.transpose(0, 2, 1).copy()
    nodes = np.arange(by_modifier.shape[1])
    by_modifier[:, nodes, nodes] = np.nan
    by_modifier[:, 0] = np.nan
    if single_root:
        finite = by_modifier[np.isfinite(by_modifier)]
        by_modifier[:, :, 0] -= (finite.max() - finite.min() + 1.0) * len(nodes)
    return list(by_modifier)


def _solve(sentences):
    return [chu_liu_edmonds(scores)[0] for scores in sentences]


def _read(solution):
    return np.array(solution)[:, 1:]


CONTENDERS = [Contender("ufal.chu-liu-edmonds", NONPROJECTIVE_TREE, _prepare, _solve, _read)]
