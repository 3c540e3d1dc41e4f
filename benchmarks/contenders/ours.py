"""TreeDistribution, as a user calls it: checks of the input included."""

from __future__ import annotations

from benchmarks.contenders.contender import (
    NONPROJECTIVE_SUMS,
    NONPROJECTIVE_TREE,
    PROJECTIVE_SUMS,
    PROJECTIVE_TREE,
    Contender,
)
from spacy_mtt import TreeDistribution


def _sums(projective: bool):
    def solve(prepared):
        scores, single_root = prepared
        trees = TreeDistribution(scores, projective=projective, single_root=single_root)
        marginals = trees.marginals
        return trees.log_partition, marginals

    return solve


def _tree(projective: bool):
    def solve(prepared):
        scores, single_root = prepared
        return TreeDistribution(scores, projective=projective, single_root=single_root).argmax()

    return solve


def _contender(task, solve):
    return Contender("spacy_mtt", task, lambda scores, single_root: (scores, single_root), solve, lambda x: x, "ours")


CONTENDERS = [
    _contender(NONPROJECTIVE_SUMS, _sums(False)),
    _contender(NONPROJECTIVE_TREE, _tree(False)),
    _contender(PROJECTIVE_SUMS, _sums(True)),
    _contender(PROJECTIVE_TREE, _tree(True)),
]
