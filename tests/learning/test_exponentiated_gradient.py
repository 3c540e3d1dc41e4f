"""Exponentiated gradient: its dual by enumeration, its gap, and the optimum that it reaches."""

import math

import numpy as np
import pytest

from spacy_mtt.learning.exponentiated_gradient import log_linear_eg, max_margin_eg
from spacy_mtt.learning.log_linear import train_log_linear
from spacy_mtt.learning.step_sizes import HalvedPerPass, SearchedPerExample
from spacy_mtt.learning.trainer import PassLimit, Trainer, ValueBelow
from spacy_mtt.learning.tree_space import TreeSpace
from tests.learning.linear_support import draw_problem, every_tree, labelled_or_not, spaces, vectors_and_costs

C = 0.3
LEARNERS = {"max-margin": max_margin_eg, "log-linear": log_linear_eg}
losses = pytest.mark.parametrize("loss", LEARNERS)


def tree_probabilities(example, space, theta) -> np.ndarray:
    words = np.arange(1, example.n + 1)
    values = np.array([theta[(tree[0], words, *tree[1:])].sum() for tree in every_tree(example, space)])
    weights = np.exp(values - values.max())
    return weights / weights.sum()


def enumerated_objectives(learner, loss: str) -> tuple[float, float, np.ndarray]:
    """(dual, primal, w) of the learner's duals, over all trees."""
    problem = learner.problem
    weights, dual, enumerated = np.zeros(problem.n_features), 0.0, vectors_and_costs(problem)
    for example, theta, (margins, costs) in zip(problem.examples, learner.theta, enumerated, strict=True):
        p = tree_probabilities(example, problem.space, theta)
        weights += C * p @ margins
        entropy = -(p[p > 0] * np.log(p[p > 0])).sum()
        dual += C * (p @ costs if loss == "max-margin" else entropy)
    primal = 0.0
    for margins, costs in enumerated:
        violations = -(margins @ weights)
        if loss == "max-margin":
            primal += C * (costs + violations).max()
        else:
            primal += C * (violations.max() + np.log(np.exp(violations - violations.max()).sum()))
    norm = 0.5 * weights @ weights
    return dual - norm, primal + norm, weights


@spaces
@labelled_or_not
@losses
def test_objectives_are_those_of_the_definition(space, n_labels, loss):
    learner = LEARNERS[loss](draw_problem(space, n_labels=n_labels, lengths=(2, 3, 1)), C=C)
    trainer = Trainer(learner, seed=0)
    for _ in range(3):
        values = trainer.run_pass().values
        dual, primal, weights = enumerated_objectives(learner, loss)
        np.testing.assert_allclose(learner.weights, weights, atol=1e-12)
        assert values["dual"] == pytest.approx(dual, rel=1e-11)
        assert values["primal"] == pytest.approx(primal, rel=1e-11)
        assert values["gap"] == pytest.approx(primal - dual, rel=1e-9, abs=1e-12)
        assert values["gap"] > 0


def test_one_pass_is_that_of_the_papers_figure_2():
    """Figure 2 once more, over trees instead of arcs."""
    space = TreeSpace(projective=False, single_root=False)
    problem = draw_problem(space, lengths=(3, 2, 3))
    learner = max_margin_eg(problem, C=C)
    eta, beta, previous = 1 / C, 9.0, -math.inf
    enumerated = vectors_and_costs(problem)
    thetas = [beta * (example.n - costs) for example, (_, costs) in zip(problem.examples, enumerated, strict=True)]

    def distribution(values):
        weights = np.exp(values - values.max())
        return weights / weights.sum()

    weights = sum(C * distribution(theta) @ margins for theta, (margins, _) in zip(thetas, enumerated, strict=True))
    np.testing.assert_allclose(learner.weights, weights, atol=1e-12)
    trainer = Trainer(learner)
    halvings = 0
    for _ in range(40):
        objective = 0.0
        for i, (margins, costs) in enumerate(enumerated):
            # theta + eta C (l + w . f), summed over the arcs of each tree; w . f(gold) is the same for all trees.
            updated = thetas[i] + eta * C * (costs - margins @ weights)
            weights = weights + C * (distribution(updated) - distribution(thetas[i])) @ margins
            thetas[i] = updated
            objective += C * distribution(updated) @ costs
        objective -= 0.5 * weights @ weights
        if not objective > previous:
            eta /= 2
            halvings += 1
        previous = objective
        values = trainer.run_pass().values
        assert values["dual"] == pytest.approx(objective, rel=1e-10)
        assert values["rate"] == eta * C
        np.testing.assert_allclose(learner.weights, weights, atol=1e-10)
    assert halvings > 0, "the test never saw the rate halved"


@spaces
@labelled_or_not
def test_the_max_margin_gap_closes(space, n_labels):
    problem = draw_problem(space, n_labels=n_labels, lengths=(3, 2, 3))
    reports = list(Trainer(max_margin_eg(problem, C=C)).run(ValueBelow("relative_gap", 1e-3), PassLimit(400)))
    assert 0 <= reports[-1].values["relative_gap"] <= 1e-3
    assert reports[0].values["relative_gap"] > 1e-2


@spaces
@losses
def test_with_searched_steps_the_dual_never_falls_and_the_gap_closes(space, loss):
    problem = draw_problem(space, lengths=(3, 4, 2))
    step_size = SearchedPerExample(largest=100.0 if loss == "max-margin" else 1.0)
    trainer = Trainer(LEARNERS[loss](problem, C=C, step_size=step_size), seed=1)
    limit = 1e-4 if loss == "max-margin" else 1e-10
    reports = list(trainer.run(ValueBelow("relative_gap", limit), PassLimit(400)))
    duals = np.array([report.values["dual"] for report in reports])
    assert (np.diff(duals) >= -1e-13 * np.abs(duals[1:])).all()
    assert -1e-14 <= reports[-1].values["relative_gap"] <= limit


@spaces
@labelled_or_not
def test_the_log_linear_one_meets_the_optimum_of_lbfgs(space, n_labels):
    problem = draw_problem(space, n_labels=n_labels, lengths=(3, 2, 3))
    weights, report = train_log_linear(problem, C=C, tolerance=1e-7)
    assert report.converged
    trainer = Trainer(log_linear_eg(problem, C=C), seed=0)
    last = list(trainer.run(ValueBelow("relative_gap", 1e-13), PassLimit(300)))[-1]
    assert last.values["primal"] == pytest.approx(report.value, rel=1e-10)
    np.testing.assert_allclose(trainer.learner.weights, weights, atol=1e-5)


@losses
def test_without_the_primal_all_else_is_the_same(loss):
    problem = draw_problem(TreeSpace())
    whole, short = (Trainer(LEARNERS[loss](problem, C=C, primal=primal), seed=0) for primal in (True, False))
    for _ in range(3):
        expected, found = whole.run_pass().values, short.run_pass().values
        assert found == {"dual": expected["dual"], "rate": expected["rate"]}
        np.testing.assert_array_equal(whole.learner.weights, short.learner.weights)


@spaces
@losses
def test_negligible_changes_wait(space, loss):
    problem = draw_problem(space, lengths=(3, 4, 2))
    limit = 1e-3
    trainer = Trainer(LEARNERS[loss](problem, C=C, step_size=SearchedPerExample(), negligible=limit), seed=1)
    exact = Trainer(LEARNERS[loss](problem, C=C, step_size=SearchedPerExample()), seed=1)
    apart = 0.0
    for _ in range(40):
        values, expected = trainer.run_pass().values, exact.run_pass().values
        learner = trainer.learner
        for theta, mu in zip(learner.theta, learner.mu, strict=True):
            off = np.abs(mu - space.distribution(theta).marginals).max()
            assert off <= limit
            apart = max(apart, off)
        weights = np.zeros(problem.n_features)
        for example, mu in zip(problem.examples, learner.mu, strict=True):
            example.features.add(weights, C * (example.gold - mu))
        np.testing.assert_allclose(learner.weights, weights, atol=1e-12)
    assert apart > 0.0, "nothing has waited"
    assert values["primal"] == pytest.approx(expected["primal"], rel=0.02)


@losses
@pytest.mark.parametrize("negligible", [0.0, 0.01])
def test_a_resumed_run_is_the_same_as_one_that_never_stopped(loss, negligible):
    problem = draw_problem(TreeSpace(projective=True), lengths=(3, 4, 2))
    for step_size in (HalvedPerPass, SearchedPerExample):
        options = {"C": C, "negligible": negligible}
        whole = Trainer(LEARNERS[loss](problem, step_size=step_size(), **options), seed=2)
        list(whole.run(PassLimit(3)))
        resumed = Trainer(LEARNERS[loss](problem, step_size=step_size(), **options), seed=2)
        resumed.restore({key: np.array(value) for key, value in whole.state().items()})
        for trainer in (whole, resumed):
            list(trainer.run(PassLimit(8)))
        np.testing.assert_array_equal(whole.learner.weights, resumed.learner.weights)
        assert whole.reports[-1] == resumed.reports[-1]
    other = max_margin_eg(draw_problem(TreeSpace(), lengths=(2,)), C=C)
    with pytest.raises(ValueError, match="the state has 50 duals, the problem 9"):
        other.restore(whole.learner.state())


def test_bad_settings_are_named():
    problem = draw_problem(TreeSpace())
    with pytest.raises(ValueError, match="C must be above 0, not -1"):
        max_margin_eg(problem, C=-1)
    with pytest.raises(ValueError, match="a rate must be above 0, not 0"):
        HalvedPerPass(0)
    with pytest.raises(ValueError, match=r"growth must be at least 1, not 0\.5"):
        SearchedPerExample(growth=0.5)
