"""One block of the tensor model at a time: a linear model, solved exactly, and an objective that never rises."""

from itertools import pairwise

import numpy as np
import pytest

from spacy_mtt.learning.duals import LogLinearLoss, MaxMarginLoss
from spacy_mtt.learning.exponentiated_gradient import log_linear_eg
from spacy_mtt.learning.log_linear import train_log_linear
from spacy_mtt.learning.low_rank_blocks import (
    BLOCKS,
    BlockwiseExponentiatedGradient,
    block_problem,
    with_block,
)
from spacy_mtt.learning.step_sizes import SearchedPerExample
from spacy_mtt.learning.trainer import PassLimit, Trainer, ValueBelow
from spacy_mtt.learning.tree_space import TreeSpace
from tests.learning.linear_support import spaces
from tests.learning.low_rank_support import ARC_FEATURES, draw_low_rank_problem, draw_weights, without_other_cells

blocks = pytest.mark.parametrize("part", BLOCKS)


def flat(weights, part):
    return np.concatenate([weights.theta, weights.arrays()[part].ravel()])


@blocks
@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_a_block_is_a_linear_model(part, gamma):
    rng, problem = np.random.default_rng(0), draw_low_rank_problem(TreeSpace(), lengths=(5,))
    weights, features = draw_weights(rng, gamma), problem.examples[0].features
    linear = block_problem(problem, weights, part)
    block = linear.examples[0].features
    here = flat(weights, part)
    assert linear.n_features == len(here) and len(weights.theta) == (ARC_FEATURES if gamma else 0)
    np.testing.assert_array_equal(block.score(here), weights.score(features))
    other, coefficients = rng.normal(size=len(here)), without_other_cells(features, rng.normal(size=(6, 6)))
    np.testing.assert_allclose(block.score(here + other), block.score(here) + block.score(other), atol=1e-11)
    vector = np.zeros(len(here))
    block.add(vector, coefficients)  # the adjoint
    assert vector @ other == pytest.approx((coefficients * block.score(other)).sum(), abs=1e-10)
    assert block.squared_norm(coefficients) == pytest.approx(vector @ vector, rel=1e-12)


@spaces
@blocks
def test_a_block_is_solved_to_the_optimum_of_batch_training(space, part):
    problem = draw_low_rank_problem(space, lengths=(3, 2, 3))
    linear = block_problem(problem, draw_weights(np.random.default_rng(1), 0.5), part)
    trainer = Trainer(log_linear_eg(linear, C=0.5), seed=0)
    reports = list(trainer.run(PassLimit(1000), ValueBelow("relative_gap", 1e-9)))
    assert reports[-1].values["relative_gap"] <= 1e-9
    optimum, _ = train_log_linear(linear, C=0.5, tolerance=1e-7)
    np.testing.assert_allclose(trainer.learner.weights, optimum, atol=1e-4)


@pytest.mark.parametrize("loss", [LogLinearLoss(), MaxMarginLoss()], ids=["log-linear", "max-margin"])
def test_the_objective_falls_from_block_to_block(loss):
    problem, C = draw_low_rank_problem(TreeSpace(), lengths=(3, 4, 2, 3)), 0.05
    step_size = SearchedPerExample(largest=1.0 if isinstance(loss, LogLinearLoss) else 4.0)
    initial = draw_weights(np.random.default_rng(2), 0.3)
    learner = BlockwiseExponentiatedGradient(problem, loss, step_size, C=C, initial=initial, beta=1.0)

    def objective(weights):
        scores = [weights.score(example.features) for example in problem.examples]
        losses = [
            loss.losses([item], [example], problem.space).sum()
            for item, example in zip(scores, problem.examples, strict=True)
        ]
        return C * sum(losses) + sum((array**2).sum() for array in weights.arrays().values()) / 2

    values = [objective(initial)]
    for report in learner.run(2, 80):
        values.append(objective(learner.weights))
        rest = sum((learner.weights.arrays()[other] ** 2).sum() for other in BLOCKS if other != report.part) / 2
        assert report.values["primal"] + rest == pytest.approx(values[-1], rel=1e-9)
        assert report.values["relative_gap"] < 0.05
    assert all(after <= before * 1.02 for before, after in pairwise(values))
    assert values[-1] < 0.5 * values[0]


def test_bad_input_is_refused():
    problem, weights = draw_low_rank_problem(TreeSpace()), draw_weights(np.random.default_rng(0), 0.3)
    with pytest.raises(ValueError, match=r"a block is one of U, V, W, with gamma below 1, not 'theta', 0\.3"):
        block_problem(problem, weights, "theta")
    with pytest.raises(ValueError, match="a block is one of U, V, W, with gamma below 1, not 'U', 1"):
        block_problem(problem, draw_weights(np.random.default_rng(0), 1.0), "U")
    with pytest.raises(ValueError, match=r"the weights have the shape \(3,\), but must have \(27,\)"):
        with_block(weights, "U", np.zeros(3))
