"""The problem that learners are given, and the loop that they share."""

import numpy as np
import pytest

from spacy_mtt.learning.exponentiated_gradient import log_linear_eg, max_margin_eg
from spacy_mtt.learning.log_linear import train_log_linear
from spacy_mtt.learning.online import averaged_perceptron, mira
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.stochastic import StochasticGradient
from spacy_mtt.learning.trainer import PassLimit, Trainer, ValueBelow
from spacy_mtt.learning.tree_space import TreeSpace, batches_by_length
from tests.learning.linear_support import draw_features, draw_problem, labelled_or_not, spaces

RNG = np.random.default_rng(0)
ODD_TREES = {
    "crossing arcs": [3, 4, 0, 3],
    "several roots": [0, 0, 2, 3],
    "not a tree": [2, 1, 0, 3],
    "heads unknown": [-1, 0, 2, 3],
    "none": [2, 0, 2, 3],
}


class Recorder:
    """A learner that writes down what it is asked."""

    def __init__(self, problem):
        self.problem = problem
        self.weights = np.zeros(problem.n_features)
        self.order = []

    def visit(self, index):
        self.order.append(index)

    def end_pass(self):
        return {"gap": 1.0 / len(self.order)}

    def state(self):
        return {}

    def restore(self, state):
        assert state == {}


@spaces
def test_trees_outside_the_space_are_counted_by_reason(space):
    trees = [heads for heads in ODD_TREES.values() for _ in range(2)]
    examples = [ArcExample(draw_features(RNG, 4, 2), heads) for heads in trees]
    problem = Problem.of(examples, space, 2)
    excluded = {"not a tree": 2, "heads unknown": 2}
    if space.projective:
        excluded["crossing arcs"] = 2
    if space.single_root:
        excluded["several roots"] = 2
    assert problem.excluded == excluded
    assert len(problem.examples) == 10 - sum(excluded.values())
    report = Trainer(Recorder(problem)).run_pass()
    assert report.excluded == excluded and report.n_examples == len(problem.examples)
    if space.projective and space.single_root:
        with pytest.raises(ValueError, match=r"no sentence to learn from: 2 given, left out: .'crossing arcs': 2"):
            Problem.of(examples[:2], space, 2)


def test_orders_are_permutations_that_depend_on_seed_and_pass_alone():
    problem = draw_problem(TreeSpace(), lengths=(2,) * 20)
    whole, other = Trainer(Recorder(problem), seed=3), Trainer(Recorder(problem), seed=4)
    assert [report.number for report in whole.run(PassLimit(3))] == [1, 2, 3]
    orders = np.reshape(whole.learner.order, (3, 20))
    np.testing.assert_array_equal(np.sort(orders, axis=1), np.tile(np.arange(20), (3, 1)))
    assert (orders[0] != orders[1]).any()
    resumed = Trainer(Recorder(problem), seed=3)
    resumed.restore(whole.state())
    assert resumed.run_pass().number == 4
    whole.run_pass()
    assert whole.learner.order[-20:] == resumed.learner.order
    other.run_pass()
    assert other.learner.order != whole.learner.order[:20]
    plain = Trainer(Recorder(problem))
    list(plain.run(PassLimit(2)))
    assert plain.learner.order == 2 * list(range(20))


def test_a_run_stops_at_the_first_rule_that_says_so():
    problem = draw_problem(TreeSpace(), lengths=(2, 2))
    assert len(list(Trainer(Recorder(problem)).run(PassLimit(50), ValueBelow("gap", 0.1)))) == 5
    with pytest.raises(ValueError, match="no value 'dual' is reported, only"):
        list(Trainer(Recorder(problem)).run(ValueBelow("dual", 0.1)))
    with pytest.raises(ValueError, match="needs a rule"):
        next(Trainer(Recorder(problem)).run())


def test_batches_hold_every_sentence_once_and_are_bounded():
    lengths = [int(n) for n in RNG.integers(0, 30, 50)] + [200]
    batches = list(batches_by_length(lengths, max_cells=5000))
    assert sorted(index for batch in batches for index in batch) == list(range(51))
    assert len(batches) > 3
    assert [len(batch) for batch in batches_by_length([9] * 25, max_cells=1000)] == [10, 10, 5]
    for batch in batches:
        assert len(batch) == 1 or len(batch) * (max(lengths[i] for i in batch) + 1) ** 2 <= 5000


@labelled_or_not
def test_a_padded_batch_gives_what_single_sentences_give(n_labels):
    space = TreeSpace(projective=False, single_root=True)
    problem = draw_problem(space, n_labels=n_labels)
    scores = [example.features.score(np.arange(6.0)) for example in problem.examples]
    together = space.distributions(scores)
    for b, item in enumerate(scores):
        alone = space.distribution(item)
        n = len(item)
        assert together.log_partition[b] == pytest.approx(alone.log_partition, abs=1e-12)
        np.testing.assert_allclose(together.marginals[b, :n, :n], alone.marginals, atol=1e-13)


def test_bad_examples_are_named():
    features = draw_features(RNG, 3, 2)
    with pytest.raises(ValueError, match=r"heads have the shape \(2,\), but the sentence has 3 words"):
        ArcExample(features, [0, 1])
    with pytest.raises(ValueError, match=r"labels must be in 0\.\.1, not \[0, 2, 1\]"):
        ArcExample(features, [0, 1, 1], [0, 2, 1], n_labels=2)
    with pytest.raises(ValueError, match="n_labels is 0"):
        ArcExample(features, [0, 1, 1], [0, 1, 1])


@spaces
@labelled_or_not
def test_sentences_without_words_do_no_harm(space, n_labels):
    rng = np.random.default_rng(0)
    labels = [0] if n_labels else None
    empty = ArcExample(draw_features(rng, 0, 3, n_labels), [], labels and [], n_labels=n_labels)
    one_word = ArcExample(draw_features(rng, 1, 3, n_labels), [0], labels, n_labels=n_labels)
    for examples in ([empty], [empty, one_word, empty]):
        problem = Problem.of(examples, space, 3)
        assert len(problem.examples) == len(examples)
        learners = [averaged_perceptron(problem), mira(problem), StochasticGradient(problem, C=1.0)]
        for learner in [*learners, max_margin_eg(problem, C=1.0), log_linear_eg(problem, C=1.0)]:
            report = list(Trainer(learner, seed=0).run(PassLimit(3)))[-1]
            assert np.isfinite(learner.weights).all() and np.isfinite(list(report.values.values())).all()
        assert train_log_linear(problem, C=1.0)[1].converged
