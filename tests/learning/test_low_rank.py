"""The low-rank tensor model: its scores by the formula, its gradients by differences, its learners by their margins."""

from pathlib import Path

import numpy as np
import pytest

from spacy_mtt.features.atoms import Words
from spacy_mtt.features.extraction import CachedFeatures, KeyExtractor, extract
from spacy_mtt.features.tables import HashTable
from spacy_mtt.features.templates import LONGEST_OF_BIN, first_order
from spacy_mtt.features.word_templates import word_templates
from spacy_mtt.features.words import WordFeatures, WordKeyExtractor, word_dictionary
from spacy_mtt.learning import low_rank
from spacy_mtt.learning.component_dropout import ComponentDropout
from spacy_mtt.learning.low_rank import PARTS, AveragedLowRank, LowRankFeatures, LowRankWeights
from spacy_mtt.learning.low_rank_learner import (
    Alternately,
    ConstantRate,
    Jointly,
    LowRankLearner,
    low_rank_mira,
)
from spacy_mtt.learning.low_rank_start import random_start
from spacy_mtt.learning.online import CostAugmentedDecode, InferMarginals, PassiveAggressive, mira
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.trainer import PassLimit, Trainer
from spacy_mtt.learning.tree_space import TreeSpace
from spacy_mtt.treebanks import read_treebank
from tests.learning.linear_support import spaces
from tests.learning.low_rank_support import (
    ARC_FEATURES,
    RANK,
    WORD_FEATURES,
    draw_low_rank_features,
    draw_low_rank_problem,
    draw_weights,
    without_other_cells,
    written_out_score,
)

gammas = pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])


class Silent:
    """Features that must not be asked."""

    def __init__(self, n):
        self.n = n


def test_bins_of_distances_are_those_of_arc_features():
    assert tuple(low_rank.LONGEST_OF_BIN) == LONGEST_OF_BIN


@gammas
@pytest.mark.parametrize("n", [0, 1, 2, 13])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_scores_are_those_of_the_formula(gamma, n, dtype):
    rng = np.random.default_rng(n)
    weights, features = draw_weights(rng, gamma, dtype), draw_low_rank_features(rng, n)
    scores = weights.score(features)
    for h in range(n + 1):
        for m in range(n + 1):
            arc = m > 0 and h != m
            assert scores[h, m] == pytest.approx(written_out_score(weights, features, h, m) if arc else 0.0, abs=1e-11)


def test_a_share_of_1_is_the_linear_model_and_one_of_0_has_no_arc_features():
    rng = np.random.default_rng(0)
    features = draw_low_rank_features(rng, 5)
    weights = draw_weights(rng, 1.0)
    arcs_alone = LowRankFeatures(features.arcs, None)
    np.testing.assert_array_equal(weights.score(arcs_alone), features.arcs.score(weights.theta))
    words_alone = LowRankFeatures(Silent(5), features.words)
    weights = draw_weights(rng, 0.0)
    assert weights.theta.size == 0
    coefficients = rng.normal(size=(6, 6))
    gradient = weights.gradient(words_alone, coefficients)
    assert weights.score(words_alone).any() and gradient.squared_norm() > 0
    gradient.add_to(weights, 0.1)
    assert weights.score(LowRankFeatures(None, features.words)).any()


@pytest.mark.parametrize(
    "gamma,shares", [(0.0, None), (0.3, None), (1.0, None), (0.0, (2.0, 0.0, 2.0)), (0.3, (0.0, 1.5, 0.5))]
)
def test_gradients_by_differences(gamma, shares):
    rng = np.random.default_rng(1)
    weights, features = draw_weights(rng, gamma), draw_low_rank_features(rng, 12)
    coefficients = without_other_cells(features, rng.normal(size=(13, 13)))
    coefficients[rng.random(size=coefficients.shape) < 0.3] = 0.0

    def factors():
        found = weights.factors(features)
        return found if shares is None else found.shared(np.array(shares))

    gradient = weights.gradient(features, coefficients, factors())
    dense = LowRankWeights.zeros(gamma, ARC_FEATURES, WORD_FEATURES, RANK)
    gradient.add_to(dense, 1.0)
    step = 1e-6
    for name, array in weights.arrays().items():
        for place in np.ndindex(array.shape):
            kept, values = array[place], []
            for change in (step, -step):
                array[place] = kept + change
                values.append((coefficients * weights.score(features, factors())).sum())
            array[place] = kept
            slope = (values[0] - values[1]) / (2 * step)
            assert dense.arrays()[name][place] == pytest.approx(slope, abs=1e-6)
        squares = float((dense.arrays()[name] ** 2).sum())
        assert gradient.squared_norm((name,)) == pytest.approx(squares, rel=1e-12)
    assert gradient.squared_norm() == pytest.approx(sum(gradient.squared_norm((name,)) for name in PARTS), rel=1e-12)


@spaces
@gammas
def test_gradients_of_the_log_likelihood_by_differences(space, gamma):
    rng = np.random.default_rng(3)
    weights, problem = draw_weights(rng, gamma), draw_low_rank_problem(space, lengths=(4,))
    example = problem.examples[0]

    def loss():
        return InferMarginals()(weights.score(example.features), example, space).loss

    direction = InferMarginals()(weights.score(example.features), example, space).direction
    dense = LowRankWeights.zeros(gamma, ARC_FEATURES, WORD_FEATURES, RANK)
    weights.gradient(example.features, direction).add_to(dense, -1.0)
    for name, array in weights.arrays().items():
        for place in np.ndindex(array.shape):
            kept, values = array[place], []
            for change in (1e-5, -1e-5):
                array[place] = kept + change
                values.append(loss())
            array[place] = kept
            assert dense.arrays()[name][place] == pytest.approx((values[0] - values[1]) / 2e-5, abs=1e-6)


@spaces
@gammas
def test_the_margin_holds_exactly_after_an_alternating_step(space, gamma):
    problem = draw_low_rank_problem(space, lengths=(3, 3, 2, 3))
    learner = low_rank_mira(problem, initial=draw_weights(np.random.default_rng(4), gamma), C=1e6, alternate=True)
    closed = 0
    for _ in range(6):
        for index, example in enumerate(problem.examples):
            scores = learner.averaged.current.score(example.features)
            before = CostAugmentedDecode()(scores, example, space)
            learner.visit(index)
            change = (learner.averaged.current.score(example.features) - scores) * before.direction
            assert change.sum() == pytest.approx(before.loss, abs=1e-9)
            closed += before.loss > 0
    assert closed > 3


def test_the_margin_holds_to_first_order_after_a_joint_step():
    rng, space = np.random.default_rng(5), TreeSpace()
    problem = draw_low_rank_problem(space, lengths=(4,))
    example, weights = problem.examples[0], draw_weights(rng, 0.3)
    scores = weights.score(example.features)
    direction = CostAugmentedDecode()(scores, example, space).direction
    errors = []
    for loss in (1e-2, 1e-3):  # as if the loss were small, for which the step is
        changed, gradient = weights.copy(), weights.gradient(example.features, direction)
        gradient.add_to(changed, loss / gradient.squared_norm())
        change = (changed.score(example.features) - scores) * direction
        errors.append(abs(change.sum() - loss) / loss)
    assert 0 < errors[1] < errors[0] / 5 and errors[1] < 0.01


@pytest.mark.parametrize("alternate", [False, True])
def test_no_step_is_longer_than_C(alternate):
    problem = draw_low_rank_problem(TreeSpace(), lengths=(4,))
    initial = draw_weights(np.random.default_rng(6), 0.3)
    example, learner = problem.examples[0], low_rank_mira(problem, initial=initial, C=1e-4, alternate=alternate)
    inferred = CostAugmentedDecode()(initial.score(example.features), example, problem.space)
    learner.visit(0)
    expected = initial.copy()
    parts = ("theta", "U") if alternate else PARTS
    initial.gradient(example.features, inferred.direction).add_to(expected, 1e-4, parts)
    for name, array in expected.arrays().items():
        np.testing.assert_allclose(learner.averaged.current.arrays()[name], array, atol=1e-14)
        assert (array != initial.arrays()[name]).any() == (name in parts)


@pytest.mark.parametrize("update", [Jointly(), Alternately()], ids=["jointly", "alternately"])
@pytest.mark.parametrize(
    "infer,step",
    [(CostAugmentedDecode(), PassiveAggressive(0.3)), (InferMarginals(), ConstantRate(0.05))],
    ids=["mira", "log-likelihood"],
)
def test_lazy_averages_are_the_naive_ones(infer, step, update):
    problem = draw_low_rank_problem(TreeSpace(projective=True), lengths=(3, 4, 1, 2, 3))
    learner = LowRankLearner(problem, infer, step, update, initial=draw_weights(np.random.default_rng(7), 0.5))
    for name, array in learner.weights.arrays().items():
        np.testing.assert_array_equal(array, learner.averaged.current.arrays()[name])
    seen = []
    for index in [0, 1, 2, 3, 4] * 4 + [0, 2]:
        learner.visit(index)
        seen.append(learner.averaged.current.copy())
        for name, array in learner.weights.arrays().items():
            mean = np.mean([weights.arrays()[name] for weights in seen], axis=0)
            np.testing.assert_allclose(array, mean, atol=1e-12)
    for name in PARTS:
        assert np.ptp([weights.arrays()[name] for weights in seen], axis=0).any()


def test_a_share_of_1_learns_what_mira_learns():
    problem = draw_low_rank_problem(TreeSpace(), lengths=(3, 4, 2, 4))
    arcs = [ArcExample(example.features.arcs, example.heads) for example in problem.examples]
    linear = Trainer(mira(Problem.of(arcs, problem.space, ARC_FEATURES), C=0.1), seed=0)
    initial = LowRankWeights.zeros(1.0, ARC_FEATURES, WORD_FEATURES, RANK)
    tensor = Trainer(low_rank_mira(problem, initial=initial, C=0.1), seed=0)
    for trainer in (linear, tensor):
        list(trainer.run(PassLimit(4)))
    np.testing.assert_array_equal(tensor.learner.weights.theta, linear.learner.weights)
    assert tensor.reports[-1] == linear.reports[-1]


def test_components_are_left_out_at_a_rate_and_the_others_count_for_more():
    rng = np.random.default_rng(0)
    weights, features = draw_weights(rng, 0.3), draw_low_rank_features(rng, 3)
    factors, dropout = weights.factors(features), ComponentDropout(0.25, seed=3)
    shares = np.array([dropout(factors, step).shares for step in range(4000)])
    assert set(shares.ravel()) == {0.0, 1 / 0.75}
    assert abs((shares == 0).mean(axis=0) - 0.25).max() < 4 * np.sqrt(0.25 * 0.75 / len(shares))
    np.testing.assert_array_equal(dropout(factors, 7).shares, shares[7])
    mean = np.mean([weights.score(features, dropout(factors, step)) for step in range(4000)], axis=0)
    spread = np.std([weights.score(features, dropout(factors, step)) for step in range(400)], axis=0)
    assert (abs(mean - weights.score(features)) <= 4.5 * spread / np.sqrt(4000) + 1e-12).all()
    assert ComponentDropout(0.0)(factors, 0) is factors and dropout(None, 0) is None
    for rate in (-0.1, 1.0):
        with pytest.raises(ValueError, match=f"dropout of components is {rate}, but must be at least 0 and below 1"):
            ComponentDropout(rate)


@pytest.mark.parametrize("alternate", [False, True])
@pytest.mark.parametrize("rate", [0.0, 0.5])
def test_a_resumed_run_is_the_same_as_one_that_never_stopped(alternate, rate):
    problem = draw_low_rank_problem(TreeSpace(), lengths=(3, 4, 2, 4))

    def trainer(seed):
        initial = draw_weights(np.random.default_rng(seed), 0.3)
        dropout = ComponentDropout(rate)
        return Trainer(low_rank_mira(problem, initial=initial, C=0.1, alternate=alternate, dropout=dropout), seed=5)

    whole, resumed = trainer(0), trainer(1)
    list(whole.run(PassLimit(2)))
    resumed.restore({key: np.array(value) for key, value in whole.state().items()})
    for each in (whole, resumed):
        list(each.run(PassLimit(5)))
    for name, array in whole.learner.weights.arrays().items():
        np.testing.assert_array_equal(array, resumed.learner.weights.arrays()[name])
    assert whole.reports[-1] == resumed.reports[-1]
    other = AveragedLowRank(LowRankWeights.zeros(0.3, ARC_FEATURES, WORD_FEATURES, RANK + 1))
    with pytest.raises(ValueError, match=r"the state has U of the shape \(7, 3\), but here it is \(7, 4\)"):
        other.restore(whole.learner.state())


def test_random_starts_have_unit_columns_and_depend_on_the_seed_alone():
    one, same, other = (random_start(0.3, 5, 20, 4, seed=seed) for seed in (0, 0, 1))
    for name in "UVW":
        np.testing.assert_allclose(np.linalg.norm(one.arrays()[name], axis=0), 1.0, rtol=1e-6)
        np.testing.assert_array_equal(one.arrays()[name], same.arrays()[name])
        assert (one.arrays()[name] != other.arrays()[name]).any()
    assert not one.theta.any()


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match=r"gamma is 1.5, but must be in 0\.\.1"):
        LowRankWeights.zeros(1.5, 1, 1, 1)
    with pytest.raises(ValueError, match=r"must have \(N, R\) twice and \(15, R\)"):
        LowRankWeights(0.5, np.zeros(2), np.zeros((3, 2)), np.zeros((3, 2)), np.zeros((14, 2)))
    with pytest.raises(ValueError, match="the rate must be above 0, not 0"):
        ConstantRate(0)
    problem = draw_low_rank_problem(TreeSpace())
    with pytest.raises(ValueError, match="two of U, V and W are 0"):
        low_rank_mira(problem, initial=LowRankWeights.zeros(0.3, ARC_FEATURES, WORD_FEATURES, RANK))
    weights = draw_weights(np.random.default_rng(0), 0.3)
    weights.U[:] = np.inf
    with np.errstate(invalid="ignore"), pytest.raises(ValueError, match="they must be finite"):
        weights.score(problem.examples[0].features)


TREEBANK = Path(__file__).parents[2] / "assets" / "grammar-dutch"


def test_the_tensor_alone_learns_to_parse_unseen_sentences():
    space = TreeSpace(projective=False, single_root=False)
    sentences = [list(read_treebank(TREEBANK / f"{part}.conll"))[:200] for part in ("train", "test")]
    words = [[Words.from_treebank(sentence) for sentence in part] for part in sentences]
    keys = [list(map(WordKeyExtractor(word_templates()), part)) for part in words]
    table, dictionary = HashTable(16), word_dictionary(keys[0])
    arcs = [extract(part, KeyExtractor(first_order()), table, storage=CachedFeatures) for part in words]
    train, test = (
        [LowRankFeatures(a, WordFeatures(k, dictionary)) for a, k in zip(*part, strict=True)]
        for part in zip(arcs, keys, strict=True)
    )
    problem = Problem.of([ArcExample(f, s.heads) for f, s in zip(train, sentences[0], strict=True)], space, table.size)
    for gamma in (0.0, 0.3):
        initial = random_start(gamma, table.size, dictionary.size, 10)
        trainer = Trainer(low_rank_mira(problem, initial=initial, C=0.1), seed=0)
        list(trainer.run(PassLimit(5)))
        weights = trainer.learner.weights
        trees = [space.distribution(weights.score(features)).argmax() for features in test]
        right = [tree == sentence.heads for tree, sentence in zip(trees, sentences[1], strict=True)]
        assert np.concatenate(right).mean() > 0.85
