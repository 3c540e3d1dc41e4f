"""Perceptron and MIRA: steps by enumeration, margins of what they learn, averages."""

import numpy as np
import pytest

from spacy_mtt.learning.averaging import AveragedWeights
from spacy_mtt.learning.online import (
    CostAugmentedDecode,
    Decode,
    InferMarginals,
    PassiveAggressive,
    StepLearner,
    UnitStep,
    averaged_perceptron,
    mira,
)
from spacy_mtt.learning.trainer import PassLimit, Trainer
from spacy_mtt.learning.tree_space import TreeSpace
from tests.learning.linear_support import draw_problem, labelled_or_not, spaces, tree_vector, vectors_and_costs

TRUTH = np.array([3.0, -2.0, 1.0, 0.5, -1.0, 2.0])


@spaces
@labelled_or_not
def test_losses_and_directions_by_enumeration(space, n_labels):
    problem = draw_problem(space, n_labels=n_labels)
    weights = np.random.default_rng(1).normal(size=problem.n_features)
    for example, (margins, costs) in zip(problem.examples, vectors_and_costs(problem), strict=True):
        scores = example.features.score(weights)
        violations = -(margins @ weights)
        for infer, losses in ((Decode(), violations), (CostAugmentedDecode(), violations + costs)):
            inferred = infer(scores, example, space)
            assert inferred.loss == pytest.approx(losses.max(), abs=1e-12)
            np.testing.assert_allclose(example.features.total(inferred.direction), margins[losses.argmax()], atol=1e-12)
        inferred = InferMarginals()(scores, example, space)
        probabilities = np.exp(violations) / np.exp(violations).sum()
        assert inferred.loss == pytest.approx(np.log(np.exp(violations).sum()), abs=1e-12)
        np.testing.assert_allclose(example.features.total(inferred.direction), probabilities @ margins, atol=1e-12)


@spaces
@labelled_or_not
def test_the_perceptron_separates_what_can_be_separated(space, n_labels):
    problem = draw_problem(space, n_labels=n_labels, truth=TRUTH, lengths=(3, 3, 2, 3))
    trainer = Trainer(averaged_perceptron(problem), seed=0)
    reports = list(trainer.run(PassLimit(300), lambda reports: reports[-1].values["steps"] == 0))
    assert reports[-1].values == {"loss": 0.0, "errors": 0.0, "steps": 0.0}
    assert reports[0].values["steps"] > 0
    for margins, costs in vectors_and_costs(problem):
        assert (margins[costs > 0] @ trainer.learner.averaged.current > 0).all()


@spaces
@labelled_or_not
def test_mira_reaches_the_margin_and_each_step_closes_its_violation(space, n_labels):
    problem = draw_problem(space, n_labels=n_labels, truth=TRUTH, lengths=(3, 3, 2, 3))
    learner = mira(problem, C=100.0)
    for index, example in enumerate(problem.examples):
        scores = example.features.score(learner.averaged.current)
        before = CostAugmentedDecode()(scores, example, space)
        learner.visit(index)
        change = (example.features.score(learner.averaged.current) - scores) * before.direction
        assert change.sum() == pytest.approx(before.loss, abs=1e-10)  # that tree's margin is met exactly now
    reports = list(Trainer(learner, seed=0).run(PassLimit(500), lambda r: r[-1].values["loss"] < 1e-10))
    assert reports[-1].values["loss"] < 1e-10
    for margins, costs in vectors_and_costs(problem):
        assert (margins @ learner.averaged.current >= costs - 1e-9).all()


def test_mira_takes_no_step_longer_than_C():
    problem = draw_problem(TreeSpace(), lengths=(4,))
    learner = mira(problem, C=1e-3)
    learner.visit(0)
    direction = CostAugmentedDecode()(np.zeros((5, 5)), problem.examples[0], problem.space).direction
    np.testing.assert_allclose(
        learner.averaged.current, 1e-3 * problem.examples[0].features.total(direction), rtol=1e-12
    )
    with pytest.raises(ValueError, match="C must be above 0, not 0"):
        PassiveAggressive(0)


@pytest.mark.parametrize("initial", [None, np.arange(6.0)])
@pytest.mark.parametrize(
    "infer,step",
    [
        (Decode(), UnitStep()),
        (CostAugmentedDecode(), PassiveAggressive(0.3)),
        (InferMarginals(), PassiveAggressive(1.0)),
    ],
    ids=["perceptron", "mira", "log-linear"],
)
def test_lazy_averages_are_the_naive_ones(infer, step, initial):
    problem = draw_problem(TreeSpace(projective=True), lengths=(3, 4, 1, 2, 3))
    learner = StepLearner(problem, infer, step, initial=initial)
    np.testing.assert_array_equal(learner.weights, np.zeros(6) if initial is None else initial)
    weights = learner.weights
    seen = []
    for index in [0, 1, 2, 3, 4] * 4 + [0, 2]:
        example = problem.examples[index]
        inferred = infer(example.features.score(weights), example, problem.space)
        vector = example.features.total(inferred.direction)
        if vector.any():
            weights = weights + step(inferred, float(vector @ vector)) * vector
        seen.append(weights)
        learner.visit(index)
        np.testing.assert_allclose(learner.averaged.current, weights, atol=1e-12)
        np.testing.assert_allclose(learner.weights, np.mean(seen, axis=0), atol=1e-12)
    assert (np.ptp(seen, axis=0) > 0).all()


def test_a_resumed_run_is_the_same_as_one_that_never_stopped():
    problem = draw_problem(TreeSpace(), lengths=(3, 4, 2, 4))
    whole = Trainer(mira(problem, C=0.1), seed=5)
    list(whole.run(PassLimit(2)))
    resumed = Trainer(mira(problem, C=0.1), seed=5)
    resumed.restore({key: np.array(value) for key, value in whole.state().items()})
    for trainer in (whole, resumed):
        list(trainer.run(PassLimit(5)))
    np.testing.assert_array_equal(whole.learner.weights, resumed.learner.weights)
    assert whole.reports[-1] == resumed.reports[-1]
    with pytest.raises(ValueError, match=r"the state has weights of the shape \(6,\), but here it is \(2,\)"):
        AveragedWeights(np.zeros(2)).restore(whole.learner.state())


def test_trees_with_the_features_of_the_gold_one_cause_no_step():
    problem = draw_problem(TreeSpace(), lengths=(3,))
    example = problem.examples[0]
    example.features.vectors[:] = 0.0
    assert not tree_vector(example, example.tree).any()
    for learner in (averaged_perceptron(problem), mira(problem)):
        learner.visit(0)
        assert not learner.weights.any() and np.isfinite(learner.weights).all()
