"""torch-struct: potentials (B, n, n), head by modifier, the root's arcs on the diagonal."""

from __future__ import annotations

import numpy as np
import torch
from torch_struct import DependencyCRF, NonProjectiveDependencyCRF

from benchmarks.contenders.contender import NONPROJECTIVE_SUMS, PROJECTIVE_SUMS, PROJECTIVE_TREE, Contender


def _prepare(dtype=None, differentiable=False):
    """In `dtype`, or in that of the scores."""

    def prepare(scores, single_root):
        potentials = scores[:, 1:, 1:].copy()
        words = np.arange(potentials.shape[1])
        potentials[:, words, words] = scores[:, 0, 1:]
        # The projective model fails on potentials that do not require a gradient (torch 2.13).
        return torch.tensor(potentials, dtype=dtype, requires_grad=differentiable), not single_root

    return prepare


def _arcs(on_diagonal) -> np.ndarray:
    parts = on_diagonal.detach().double().numpy()
    batch, n, _ = parts.shape
    arcs = np.zeros((batch, n + 1, n + 1))
    arcs[:, 1:, 1:] = parts
    words = np.arange(1, n + 1)
    arcs[:, 0, 1:] = arcs[:, words, words]
    arcs[:, words, words] = 0.0
    return arcs


def _nonprojective_sums(prepared):
    potentials, multiroot = prepared
    trees = NonProjectiveDependencyCRF(potentials, multiroot=multiroot)
    return trees.partition, trees.marginals


def _projective(prepared):
    potentials, multiroot = prepared
    return DependencyCRF(potentials, multiroot=multiroot)


def _projective_sums(prepared):
    trees = _projective(prepared)
    return trees.partition, trees.marginals


def _read_sums(solution):
    log_z, marginals = solution
    return log_z.detach().double().numpy().reshape(-1), _arcs(marginals)


CONTENDERS = [
    Contender("torch-struct", NONPROJECTIVE_SUMS, _prepare(), _nonprojective_sums, _read_sums),
    Contender(
        "torch-struct", PROJECTIVE_SUMS, _prepare(torch.float32, differentiable=True), _projective_sums, _read_sums
    ),
    Contender(
        "torch-struct",
        PROJECTIVE_TREE,
        _prepare(torch.float32, differentiable=True),
        lambda prepared: _projective(prepared).argmax,
        lambda solution: _arcs(solution).argmax(axis=1)[:, 1:],
    ),
]
