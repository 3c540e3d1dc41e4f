"""supar: scores (B, n+1, n+1), modifier by head.

Importing supar imports its parsers and what those need (transformers, stanza, nltk ...). Its structures need torch
alone, so they are imported without running the __init__ of the packages around them.
"""

from __future__ import annotations

import importlib.util
import sys
import types
import warnings

import numpy as np
import torch

from benchmarks.contenders.contender import (
    NONPROJECTIVE_SUMS,
    NONPROJECTIVE_TREE,
    PROJECTIVE_SUMS,
    PROJECTIVE_TREE,
    Contender,
)


def _import_structures():
    for name in ("supar", "supar.utils"):
        spec = importlib.util.find_spec(name)
        if spec is None:
            raise ModuleNotFoundError(f"No module named {name!r}")
        package = types.ModuleType(name)
        package.__path__ = list(spec.submodule_search_locations)
        sys.modules[name] = package
    from supar.structs import DependencyCRF, MatrixTree

    return DependencyCRF, MatrixTree


DependencyCRF, MatrixTree = _import_structures()
warnings.filterwarnings("ignore", message="Using a non-tuple sequence")


def _prepare(dtype=None):
    """In `dtype`, or in that of the scores."""

    def prepare(scores, single_root):
        by_modifier = scores.transpose(0, 2, 1).copy()
        nodes = np.arange(by_modifier.shape[1])
        by_modifier[:, nodes, nodes] = -np.inf  # MatrixTree adds up the diagonal, too
        return torch.tensor(by_modifier, dtype=dtype), not single_root

    return prepare


def _sums(structure):
    def solve(prepared):
        scores, multiroot = prepared
        # A leaf of its own for each call, or the gradients' graphs would pile up on the scores.
        trees = structure(scores.detach(), multiroot=multiroot)
        return trees.log_partition, trees.marginals

    return solve


def _tree(structure):
    def solve(prepared):
        scores, multiroot = prepared
        return structure(scores.detach(), multiroot=multiroot).argmax

    return solve


def _read_sums(solution):
    log_z, marginals = solution
    return log_z.detach().double().numpy(), marginals.detach().double().numpy().transpose(0, 2, 1)


def _read_tree(solution):
    return solution.detach().numpy()[:, 1:]


CONTENDERS = [
    Contender("supar", NONPROJECTIVE_SUMS, _prepare(), _sums(MatrixTree), _read_sums),
    Contender("supar", NONPROJECTIVE_TREE, _prepare(), _tree(MatrixTree), _read_tree),
    Contender("supar", PROJECTIVE_SUMS, _prepare(torch.float32), _sums(DependencyCRF), _read_sums),
    Contender("supar", PROJECTIVE_TREE, _prepare(torch.float32), _tree(DependencyCRF), _read_tree),
]
