"""The custom gradients that docs/inference.md shows, run as they stand there, where PyTorch or JAX is installed."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from spacy_mtt import TreeDistribution
from tests.strategies import random_scores

PAGE = Path(__file__).parents[1] / "docs" / "inference.md"
LENGTHS = [4, 2, 5]


def shown(framework: str) -> dict:
    """What the page's block for the framework defines; skips where it is not installed."""
    pytest.importorskip(framework, reason=f"{framework} is not installed")
    (code,) = re.findall(rf"^<!-- needs: {framework} -->\n```python\n(.*?)^```$", PAGE.read_text("utf8"), re.M | re.S)
    names: dict = {}
    exec(compile(code, PAGE.name, "exec"), names)
    return names


@pytest.fixture
def scores():
    rng = np.random.default_rng(0)
    batch = np.zeros((len(LENGTHS), 6, 6))
    for i, n in enumerate(LENGTHS):
        batch[i, : n + 1, : n + 1] = np.nan_to_num(random_scores(rng, n))
    return batch


@pytest.mark.parametrize("projective", [False, True])
@pytest.mark.parametrize("single_root", [False, True])
def test_torch_gradient(scores, projective, single_root):
    names = shown("torch")
    import torch

    options = {"projective": projective, "single_root": single_root}
    trees = TreeDistribution(scores, lengths=LENGTHS, **options)
    leaf = torch.tensor(scores, requires_grad=True)
    log_z = names["log_partition"](leaf, LENGTHS, **options)
    np.testing.assert_array_equal(log_z.detach().numpy(), trees.log_partition)
    weights = torch.tensor([1.0, -2.0, 0.5], dtype=torch.float64)
    (log_z * weights).sum().backward()
    np.testing.assert_allclose(leaf.grad.numpy(), weights.numpy()[:, None, None] * trees.marginals, rtol=1e-15)
    # gradcheck: against finite differences of log Z itself
    assert torch.autograd.gradcheck(lambda x: names["log_partition"](x, LENGTHS, **options), (leaf,))


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_torch_gradient_keeps_the_dtype(scores, dtype):
    names = shown("torch")
    import torch

    leaf = torch.tensor(scores, dtype=getattr(torch, dtype), requires_grad=True)
    log_z = names["log_partition"](leaf, LENGTHS)
    log_z.sum().backward()
    assert log_z.dtype == leaf.grad.dtype == leaf.dtype
    expected = TreeDistribution(leaf.detach().double().numpy(), lengths=LENGTHS).marginals
    np.testing.assert_allclose(leaf.grad.double().numpy(), expected, atol=4e-3)


def test_torch_training_step_lowers_the_loss(scores):
    names = shown("torch")
    import torch

    gold = torch.tensor([[0, 1, 1, 3, 0], [2, 0, 0, 0, 0], [0, 1, 2, 2, 2]])
    inside = torch.arange(5) < torch.tensor(LENGTHS)[:, None]

    def loss(x):
        gold_scores = x[torch.arange(3)[:, None], gold, torch.arange(1, 6)]
        return (names["log_partition"](x, LENGTHS) - (gold_scores * inside).sum(1)).sum()

    leaf = torch.tensor(scores, requires_grad=True)
    before = loss(leaf)
    before.backward()
    with torch.no_grad():
        after = loss(leaf - 0.5 * leaf.grad)
    assert 0 < after < before


@pytest.mark.parametrize("jitted", [False, True])
def test_jax_gradient(scores, jitted):
    names = shown("jax")
    import jax

    log_partition = jax.jit(names["log_partition"]) if jitted else names["log_partition"]
    weights = np.array([1.0, -2.0, 0.5], dtype=np.float32)
    single = scores.astype(np.float32)
    trees = TreeDistribution(single, lengths=LENGTHS)
    lengths = jax.numpy.array(LENGTHS)
    np.testing.assert_allclose(log_partition(single, lengths), trees.log_partition, rtol=1e-6)
    gradient = jax.grad(lambda x: (log_partition(x, lengths) * weights).sum())(jax.numpy.array(single))
    np.testing.assert_allclose(gradient, weights[:, None, None] * trees.marginals, atol=1e-6)
