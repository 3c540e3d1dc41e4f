"""Batch and stochastic training of log-linear models, against enumeration, differences and each other."""

import numpy as np
import pytest

from spacy_mtt.learning.log_linear import LBFGS, ConjugateGradient, LogLinearObjective, train_log_linear
from spacy_mtt.learning.merged_features import MergedFeatures
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.stochastic import StochasticGradient
from spacy_mtt.learning.trainer import PassLimit, Trainer
from spacy_mtt.learning.tree_space import TreeSpace
from tests.learning.linear_support import DenseFeatures, draw_problem, labelled_or_not, spaces, vectors_and_costs

C = 0.7


def enumerated_objective(problem, weights) -> float:
    value = 0.5 * weights @ weights
    for margins, _ in vectors_and_costs(problem):
        value += C * np.log(np.exp(-(margins @ weights)).sum())
    return value


@spaces
@labelled_or_not
def test_the_objective_by_enumeration_and_its_gradient_by_differences(space, n_labels):
    problem = draw_problem(space, n_labels=n_labels, lengths=(3, 2, 1, 3))
    objective = LogLinearObjective(problem, C=C)
    weights = np.random.default_rng(2).normal(size=problem.n_features)
    value, gradient = objective(weights)
    assert value == pytest.approx(enumerated_objective(problem, weights), rel=1e-12)
    step = 1e-5
    for j, direction in enumerate(np.eye(problem.n_features)):
        rise = objective(weights + step * direction)[0] - objective(weights - step * direction)[0]
        assert gradient[j] == pytest.approx(rise / (2 * step), abs=1e-7)


@spaces
@labelled_or_not
def test_conjugate_gradient_and_lbfgs_reach_the_same_optimum(space, n_labels):
    problem = draw_problem(space, n_labels=n_labels, lengths=(3, 2, 1, 3))
    found = {}
    for optimiser in (ConjugateGradient(), LBFGS()):
        reports = []
        weights, report = train_log_linear(problem, C=C, optimiser=optimiser, tolerance=1e-7, report=reports.append)
        assert report.converged and report.gradient_norm <= 1e-7 * np.linalg.norm(weights)
        assert reports[-1] == report
        assert [r.iterations for r in reports] == list(range(1, len(reports) + 1))
        assert not any(r.converged for r in reports[:-1])
        value, gradient = LogLinearObjective(problem, C=C)(weights)
        assert report.value == pytest.approx(value, rel=1e-14)
        assert report.gradient_norm == pytest.approx(np.linalg.norm(gradient), rel=1e-6)
        found[optimiser] = weights
    one, other = found.values()
    np.testing.assert_allclose(one, other, atol=1e-6 * np.linalg.norm(one))


def test_training_stops_at_its_limit_and_goes_on_from_given_weights():
    problem = draw_problem(TreeSpace())
    weights, report = train_log_linear(problem, C=C, max_iterations=2, tolerance=1e-7)
    assert report.iterations == 2 and not report.converged
    optimum, at_optimum = train_log_linear(problem, C=C, initial=weights, tolerance=1e-7)
    assert at_optimum.converged and at_optimum.value < report.value
    again, report = train_log_linear(problem, C=C, initial=optimum, tolerance=1e-6)
    assert report.converged and report.iterations == 0
    np.testing.assert_array_equal(again, optimum)
    with pytest.raises(ValueError, match=r"initial weights have the shape \(2,\), but there are 6 features"):
        train_log_linear(problem, C=C, initial=np.zeros(2))
    with pytest.raises(ValueError, match="C must be above 0, not 0"):
        train_log_linear(problem, C=0)


COPIES = [3, 0, 1, 0, 0, 2, 4, 5, 1]  # which feature of a problem each of another one is


def with_copies(problem: Problem) -> Problem:
    """The same trees, with whole numbers as features, some of them several times."""
    examples = []
    for each in problem.examples:
        features = DenseFeatures(np.rint(2 * each.features.vectors[..., COPIES]))
        examples.append(ArcExample(features, each.heads, each.labels, n_labels=each.n_labels))
    return Problem.of(examples, problem.space, len(COPIES))


@labelled_or_not
def test_features_that_occur_together_are_one(n_labels):
    problem = with_copies(draw_problem(TreeSpace(), n_labels=n_labels, lengths=(3, 2, 1, 3)))
    features, objective = MergedFeatures(problem), LogLinearObjective(problem, C=C)
    rng = np.random.default_rng(3)
    merged = rng.normal(size=6)
    weights = features.spread(merged)
    assert len({*zip(COPIES, weights, strict=True)}) == len(set(weights)) == 6
    assert weights @ weights == pytest.approx(merged @ merged)
    np.testing.assert_allclose(features.merge(weights), merged)
    _, gradient = objective(weights)
    np.testing.assert_allclose(features.spread(features.merge_gradient(gradient)), gradient, atol=1e-12)
    other = rng.normal(size=len(COPIES))
    mean = features.spread(features.merge(other))
    for example in problem.examples:
        np.testing.assert_allclose(example.features.score(mean), example.features.score(other), atol=1e-12)
    assert objective(mean)[0] < objective(other)[0]


def test_training_with_copies_ends_at_the_optimum():
    problem = with_copies(draw_problem(TreeSpace()))
    weights, report = train_log_linear(problem, C=C, tolerance=1e-7)
    value, gradient = LogLinearObjective(problem, C=C)(weights)
    assert report.converged and value == pytest.approx(report.value, rel=1e-12)
    assert np.linalg.norm(gradient) == pytest.approx(report.gradient_norm, rel=1e-3)
    assert np.linalg.norm(gradient) <= 1.1e-7 * np.linalg.norm(weights)


@pytest.mark.parametrize("optimiser", [LBFGS(), ConjugateGradient()], ids=["L-BFGS", "CG"])
def test_training_can_be_watched_and_stopped(optimiser):
    problem = draw_problem(TreeSpace())
    seen = []

    def watch(number, weights):
        seen.append((number, weights))
        return number == 3

    weights, report = train_log_linear(problem, C=C, optimiser=optimiser, tolerance=1e-7, watch=watch)
    assert [number for number, _ in seen] == [1, 2, 3] and report.iterations == 3 and not report.converged
    np.testing.assert_array_equal(seen[-1][1], weights)
    limited, _ = train_log_linear(problem, C=C, optimiser=optimiser, tolerance=1e-7, max_iterations=2)
    np.testing.assert_array_equal(seen[1][1], limited)


def test_sentences_outside_the_space_are_in_the_report():
    problem = draw_problem(TreeSpace(projective=False, single_root=False), seed=3, lengths=(4,) * 8)
    single = type(problem).of(problem.examples, TreeSpace(projective=True, single_root=True), problem.n_features)
    assert single.excluded and len(single.examples) + sum(single.excluded.values()) == 8
    assert train_log_linear(single, C=C)[1].excluded == single.excluded


@spaces
@labelled_or_not
def test_stochastic_gradient_nears_the_optimum(space, n_labels):
    problem = draw_problem(space, n_labels=n_labels, lengths=(3, 2, 1, 3))
    best = train_log_linear(problem, C=C, tolerance=1e-6)[1].value
    objective = LogLinearObjective(problem, C=C)
    trainer = Trainer(StochasticGradient(problem, C=C, rate=0.1), seed=0)
    excess = {}
    for report in trainer.run(PassLimit(100)):
        if report.number in (5, 100):
            excess[report.number] = objective(trainer.learner.weights)[0] / best - 1
    assert 0 <= excess[100] < 5e-3
    assert excess[100] < excess[5]


def test_lazy_decay_is_the_plain_one(monkeypatch):
    problem = draw_problem(TreeSpace(), lengths=(3, 2))
    # A threshold that every visit falls below, and one that none does.
    for smallest in (2.0, 0.0):
        monkeypatch.setattr("spacy_mtt.learning.lazy_weights.SMALLEST_SCALE", smallest)
        learner = StochasticGradient(problem, C=C, rate=0.5)
        weights = np.zeros(6)
        for t in range(30):
            example = problem.examples[t % 2]
            mu = problem.space.distribution(example.features.score(weights)).marginals
            step = 0.5 / (1 + 0.5 * t / (2 * C))
            weights = weights * (1 - step / (2 * C)) + step * example.features.total(example.gold - mu)
            learner.visit(t % 2)
            np.testing.assert_allclose(learner.weights, weights, atol=1e-12)


def test_a_resumed_run_is_the_same_as_one_that_never_stopped():
    problem = draw_problem(TreeSpace(), lengths=(3, 4, 2))
    whole = Trainer(StochasticGradient(problem, C=C), seed=5)
    list(whole.run(PassLimit(2)))
    resumed = Trainer(StochasticGradient(problem, C=C), seed=5)
    resumed.restore(whole.state())
    for trainer in (whole, resumed):
        list(trainer.run(PassLimit(4)))
    np.testing.assert_array_equal(whole.learner.weights, resumed.learner.weights)
    assert whole.reports[-1] == resumed.reports[-1]
    with pytest.raises(ValueError, match="the rate must be above 0 and below C times the number of examples, not 3"):
        StochasticGradient(problem, C=C, rate=3)
