"""`mtt_parser` with the low-rank tensor scorer: its scores, gradients, margins, learners and life in a pipeline."""

import numpy as np
import pytest
from spacy.tokens import Doc
from thinc.api import Adam

from spacy_mtt.learning.component_dropout import ComponentDropout
from spacy_mtt.learning.low_rank import LowRankWeights
from spacy_mtt.learning.low_rank_learner import low_rank_mira
from spacy_mtt.learning.online import CostAugmentedDecode
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.pipeline.segmentation import units_of
from spacy_mtt.pipeline.sparse_sentences import sentences_of
from spacy_mtt.pipeline.step_training import StepTraining, training_of
from spacy_mtt.scoring.sparse_model import weights_of
from tests.pipeline.helpers import parse_of
from tests.pipeline.linear_helpers import (
    DICTIONARY,
    HASHED,
    OBJECTIVES,
    las,
    linear_pipeline,
    low_rank_pipeline,
    plain_steps,
    saved_and_loaded,
    train,
    treebank,
)

gammas = pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])


def parts_of(nlp):
    parser = nlp.get_pipe("mtt_parser")
    return parser, weights_of(parser.model)


def draw_weights(shim, scale: float = 0.3, seed: int = 0) -> None:
    """Random weights of all parts."""
    rng = np.random.default_rng(seed)
    drawn = {name: scale * rng.normal(size=array.shape) for name, array in shim.means().items()}
    shim.replace({name: array.astype(np.float64) for name, array in drawn.items()})


def plain_weights(shim) -> LowRankWeights:
    """The same as `LowRankWeights`."""
    means = shim.means()
    factors = [means.get(name, np.zeros((15 if name == "W" else 0, 0))) for name in "UVW"]
    return LowRankWeights(shim.gamma, means["arcs"].copy(), *(each.copy() for each in factors))


def optimizer_for(name: str):
    """One that learns with an objective."""
    return plain_steps(averages=name in ("mira", "perceptron", "log-likelihood"), clip=1.0)


@gammas
def test_scores_are_those_of_the_plain_weights(gamma):
    nlp, examples = low_rank_pipeline(OBJECTIVES["mira"], gamma=gamma, count=8)
    parser, shim = parts_of(nlp)
    draw_weights(shim)
    docs = [each.predicted for each in examples]
    units = units_of(docs)
    scores = parser.model.predict((docs, units))
    weights = plain_weights(shim)
    assert {name: array.size > 0 for name, array in weights.arrays().items()} == {
        "theta": gamma > 0,
        **dict.fromkeys("UVW", gamma < 1),
    }
    for sentence, (bucket, row) in zip(sentences_of(parser, examples), _places(units), strict=True):
        n = len(sentence.heads)
        expected = weights.score(sentence.features)
        np.testing.assert_array_equal(scores.arcs[bucket][row, : n + 1, : n + 1], expected)


def _places(units):
    places = {unit: (b, row) for b, bucket in enumerate(units.buckets) for row, unit in enumerate(bucket.units)}
    return [places[unit] for unit in range(len(units))]


@pytest.mark.parametrize("name", OBJECTIVES)
def test_a_share_of_1_is_the_linear_scorer_exactly(name):
    found = []
    for make, settings in ((linear_pipeline, {}), (low_rank_pipeline, {"gamma": 1.0})):
        nlp, examples = make(OBJECTIVES[name], count=8, **settings)
        train(nlp, examples, plain_steps(averages=True, L2=1e-3 if name == "log-likelihood" else 0.0), 2)
        found.append(weights_of(nlp.get_pipe("mtt_parser").model).means())
    assert set(found[0]) == set(found[1])
    for part, array in found[0].items():
        np.testing.assert_array_equal(array, found[1][part])


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("gamma", [0.0, 0.3])
def test_a_step_follows_the_gradient_of_the_likelihood(gamma, labelled):
    objective = {**OBJECTIVES["log-likelihood"], "labelled": labelled}
    nlp, examples = low_rank_pipeline(objective, gamma=gamma, count=2)
    parser, shim = parts_of(nlp)
    draw_weights(shim)
    before = {name: array.copy() for name, array in shim.means().items()}

    def loss() -> float:
        docs = [each.predicted for each in examples]
        scores, _ = parser.model.begin_update((docs, units_of(docs)))
        return parser.get_loss(examples, scores)[0] / scores.units.n_words

    nlp.update(examples, sgd=plain_steps(rate=1.0, L2=0.0))
    gradients = {name: before[name] - array for name, array in shim.means().items()}
    rng = np.random.default_rng(1)
    assert set(gradients) == {"arcs", "labels", "U", "V", "W"}
    for name, gradient in gradients.items():
        assert gradient.any() or not gradient.size
        direction = np.sign(gradient) * rng.random(gradient.shape)
        values = []
        for change in (1e-5, -1e-5):
            shim.replace({**before, name: before[name] + change * direction})
            values.append(loss())
        shim.replace(before)
        assert (values[0] - values[1]) / 2e-5 == pytest.approx((gradient * direction).sum(), rel=1e-5, abs=1e-9)


@pytest.mark.parametrize("update", ["joint", "alternating"])
@pytest.mark.parametrize("gamma", [0.0, 0.3])
@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_steps_of_mira_are_those_of_the_learner_over_arrays(gamma, update, dropout):
    nlp, examples = low_rank_pipeline(OBJECTIVES["mira"], gamma=gamma, update=update, dropout=dropout, count=12)
    parser, shim = parts_of(nlp)
    draw_weights(shim)
    sentences = sentences_of(parser, examples)
    space = parser.objective.space
    problem = Problem.of([ArcExample(each.features, each.heads) for each in sentences], space, shim.table.size)
    learner = low_rank_mira(
        problem,
        initial=plain_weights(shim),
        C=0.05,
        alternate=update == "alternating",
        dropout=ComponentDropout(dropout),
    )
    for _ in range(2):
        for index in range(len(problem.examples)):
            learner.visit(index)
    train(nlp, examples, plain_steps(averages=True), 2)
    for name, array in learner.weights.arrays().items():
        np.testing.assert_allclose(shim.means()["arcs" if name == "theta" else name], array, atol=1e-9)


def test_the_margin_holds_after_an_alternating_step():
    nlp, examples = low_rank_pipeline({**OBJECTIVES["mira"], "C": 1e6}, update="alternating", count=9)
    parser, shim = parts_of(nlp)
    draw_weights(shim)
    space, closed = parser.objective.space, 0
    for example, sentence in zip(examples, sentences_of(parser, examples), strict=True):
        gold = ArcExample(sentence.features, sentence.heads)
        before = plain_weights(shim).score(sentence.features)
        violated = CostAugmentedDecode()(before, gold, space)
        nlp.update([example], sgd=plain_steps())
        change = (plain_weights(shim).score(sentence.features) - before) * violated.direction
        assert change.sum() == pytest.approx(violated.loss, abs=1e-7)
        closed += violated.loss > 0
    assert closed >= 6


@pytest.mark.parametrize("name,labelled", [*((name, False) for name in OBJECTIVES), ("mira", True)])
def test_learns_and_parses_unseen_sentences(name, labelled):
    objective = {**OBJECTIVES[name], "labelled": labelled}
    nlp, examples = low_rank_pipeline(objective, table=DICTIONARY, count=30)
    test = treebank(nlp, "test", 20)
    before = las(nlp, test)
    train(nlp, examples, optimizer_for(name), 3)
    assert las(nlp, test) > before + 0.4


@pytest.mark.parametrize("settings", [{"start": "svd"}, {"gamma": 0.0}, {"join_tags": True}, {"dropout": 0.5}], ids=str)
def test_other_settings_learn_too(settings):
    nlp, examples = low_rank_pipeline(OBJECTIVES["mira"], count=40, **settings)
    _, shim = parts_of(nlp)
    assert all(shim.means()[name].any(axis=0).all() for name in "UVW")
    train(nlp, examples, plain_steps(averages=True), 2)
    assert las(nlp, treebank(nlp, "test", 20)) > 0.6


def test_clipped_gradients_have_the_length_that_was_asked_for():
    found = []
    for clip in (0.0, 1e6, 0.05):
        nlp, examples = low_rank_pipeline(OBJECTIVES["log-likelihood"], count=1)
        _, shim = parts_of(nlp)
        draw_weights(shim)
        before = shim.means()
        nlp.update(examples, sgd=plain_steps(clip=clip))
        found.append({name: array - before[name] for name, array in shim.means().items()})
    plain, long, short = found
    length = np.sqrt(sum((plain[name] ** 2).sum() for name in ("arcs", *"UVW")))
    assert length > 0.05
    for name, array in plain.items():
        np.testing.assert_array_equal(array, long[name])
        np.testing.assert_allclose(short[name], array * (1 if name == "labels" else 0.05 / length), atol=1e-12)


def test_partial_annotation():
    nlp, examples = low_rank_pipeline(OBJECTIVES["log-likelihood"], count=40)
    for example in examples:
        words = [token.text for token in example.reference]
        heads = [token.head.i for token in example.reference]
        deps = [token.dep_ if token.i % 3 else "" for token in example.reference]
        example.reference = Doc(nlp.vocab, words=words, heads=heads, deps=deps)
    nlp.initialize(lambda: examples)
    train(nlp, examples, optimizer_for("log-likelihood"), 3)
    assert las(nlp, treebank(nlp, count=40)) > 0.5


# ---- batch training


@pytest.mark.parametrize("name", ["mira", "perceptron", "max-margin", "log-likelihood"])
def test_batch_training_makes_the_steps_of_spacy(name):
    found = []
    for batch in (False, True):
        nlp, examples = low_rank_pipeline(OBJECTIVES[name], count=10)
        parser, shim = parts_of(nlp)
        optimizer = optimizer_for(name)
        if batch:
            training = training_of(parser, sentences_of(parser, examples), optimizer)
            assert isinstance(training, StepTraining)
            for _ in range(2):
                for index in range(len(examples)):
                    training._trainer.learner.visit(index)
        else:
            train(nlp, examples, optimizer, 2)
        found.append(shim.means())
    for part, array in found[0].items():
        np.testing.assert_allclose(array, found[1][part], atol=1e-12)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_resumed_batch_training_is_the_same_as_one_that_never_stopped(name):
    trainings = []
    for _ in range(2):
        nlp, examples = low_rank_pipeline(OBJECTIVES[name], update="alternating", count=10)
        parser, _ = parts_of(nlp)
        trainings.append(training_of(parser, sentences_of(parser, examples), optimizer_for(name), seed=3))
    whole, resumed = trainings
    whole.run(2, lambda done: None)
    resumed.restore({key: np.array(value) for key, value in whole.state().items()})
    reports = []
    for training in trainings:
        training.run(4, reports.append)
    assert resumed.passes == 4 and reports[:2] == reports[2:]
    for part, array in whole._trainer.learner.weights.items():
        np.testing.assert_array_equal(array, resumed._trainer.learner.weights[part])


# ---- life cycle


@pytest.mark.parametrize("gamma", [0.0, 0.3, 1.0])
@pytest.mark.parametrize("table", [HASHED, DICTIONARY], ids=["hashed", "dictionary"])
def test_round_trips_through_disk_bytes_and_pickle(tmp_path, table, gamma):
    nlp, examples = low_rank_pipeline(OBJECTIVES["mira"], table=table, gamma=gamma, count=20)
    train(nlp, examples, plain_steps(averages=True), 1)
    docs = [each.predicted for each in treebank(nlp, "test", 10)]
    expected = [parse_of(nlp(doc.copy())) for doc in docs]
    others = saved_and_loaded(nlp, tmp_path / "pipeline")
    for other in others:
        found = [Doc(other.vocab).from_bytes(doc.to_bytes()) for doc in docs]
        assert [parse_of(other(doc)) for doc in found] == expected
    again = others[0]
    train(again, treebank(again, count=5), plain_steps(averages=True), 4)  # a loaded parser learns on
    assert las(again, treebank(again, count=5)) > 0.9


def test_loading_weights_of_another_model_says_so():
    one, other = (low_rank_pipeline(OBJECTIVES["mira"], rank=rank, count=4)[0] for rank in (8, 5))
    with pytest.raises(ValueError, match=r"'rank': 8}, the model of gamma 0.3 and rank 5"):
        parts_of(other)[1].from_bytes(parts_of(one)[1].to_bytes())
    linear, _ = linear_pipeline(OBJECTIVES["mira"], count=4)
    with pytest.raises(ValueError, match=r"'gamma': None, 'rank': None}, the model of gamma 0.3"):
        parts_of(other)[1].from_bytes(parts_of(linear)[1].to_bytes())


def test_new_labels_start_at_zero():
    nlp, examples = low_rank_pipeline(OBJECTIVES["mira"], count=10)
    train(nlp, examples, plain_steps(averages=True), 1)
    parser, shim = parts_of(nlp)
    before = shim.means()
    parser.add_label("brandnew")
    np.testing.assert_array_equal(shim.means()["labels"][:, :-1], before["labels"])
    assert not shim.means()["labels"][:, -1].any()
    np.testing.assert_array_equal(shim.means()["U"], before["U"])
    assert shim.means()["U"].dtype == np.float32


@pytest.mark.parametrize(
    "settings,message",
    [
        ({"gamma": 1.5}, "gamma is 1.5, but must be in 0..1"),
        ({"rank": 0}, "the rank is 0, but must be 1 or more"),
        ({"min_word_freq": 0}, "min_word_freq is 0, but must be 1 or more"),
        ({"start": "zeros"}, "start must be 'random' or 'svd', not 'zeros'"),
        ({"update": "cyclic"}, "update must be 'joint' or 'alternating', not 'cyclic'"),
        ({"label_bits": 40}, "label_bits is 40, but must be in 1..30"),
    ],
)
def test_bad_settings_are_named(settings, message):
    from spacy_mtt.scoring.low_rank import build_low_rank_tensor_arc_scorer

    with pytest.raises(ValueError, match=message):
        build_low_rank_tensor_arc_scorer(**settings)


def test_what_cannot_be_learned_from_is_said():
    nlp, examples = low_rank_pipeline(OBJECTIVES["log-likelihood"], count=3)
    with pytest.raises(ValueError, match=r"it needs the optimizer SGD.v1, not one with beta1 = 0.9"):
        nlp.update(examples, sgd=Adam(0.001))
    blank = Doc(nlp.vocab, words=["een", "kat"], heads=[1, 1], deps=["", "ROOT"])
    for example in examples:
        example.reference, example.predicted = blank, Doc(nlp.vocab, words=["een", "kat"])
    svd, _ = low_rank_pipeline(OBJECTIVES["log-likelihood"], start="svd", count=3)
    with pytest.raises(ValueError, match="start = 'svd' needs sentences whose heads are all annotated, but there are"):
        svd.initialize(lambda: examples)
