"""`mtt_parser` with the linear scorer: learners inside spaCy are those of the batch; its life is a component's."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import Adam

from spacy_mtt.pipeline.gold import gold_trees
from spacy_mtt.pipeline.linear_training import LinearTraining
from spacy_mtt.pipeline.segmentation import units_of
from spacy_mtt.pipeline.sparse_sentences import sentences_of
from spacy_mtt.scoring.sparse_model import weights_of
from tests.pipeline.helpers import TINY, parse_of, trained_parser
from tests.pipeline.helpers import examples as tiny_examples
from tests.pipeline.linear_helpers import (
    DICTIONARY,
    HASHED,
    OBJECTIVES,
    las,
    linear_pipeline,
    plain_steps,
    saved_and_loaded,
    train,
    treebank,
)

tables = pytest.mark.parametrize("table", [HASHED, DICTIONARY], ids=["hashed", "dictionary"])


def arc_weights(nlp) -> np.ndarray:
    return weights_of(nlp.get_pipe("mtt_parser").model).means()["arcs"]


def optimizer_for(name: str):
    if name == "log-likelihood":
        return plain_steps(averages=True, rate=0.3, L2=1e-4)
    return plain_steps(averages=name in ("perceptron", "mira"))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_learns_and_parses_unseen_sentences(name):
    nlp, examples = linear_pipeline(OBJECTIVES[name], table=DICTIONARY if name == "mira" else HASHED, count=60)
    test = treebank(nlp, "test", 20)
    before = las(nlp, test)
    train(nlp, examples, optimizer_for(name), 2)
    assert las(nlp, test) > max(0.6, before + 0.2)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_learns_labelled_trees(name):
    nlp, examples = linear_pipeline({**OBJECTIVES[name], "labelled": True}, count=12)
    before = las(nlp, examples)
    train(nlp, examples, optimizer_for(name), 3)
    assert las(nlp, examples) > max(0.8, before + 0.2)


@pytest.mark.parametrize("labelled", [False, True])
@pytest.mark.parametrize("name", ["perceptron", "mira"])
def test_steps_are_those_of_the_batch_learner(name, labelled):
    nlp, examples = linear_pipeline({**OBJECTIVES[name], "labelled": labelled}, count=12)
    parser = nlp.get_pipe("mtt_parser")
    if labelled:  # the batch learner has no notion of labels that root arcs cannot have
        parser.cfg["label_counts"] = {kind: dict.fromkeys(parser.labels, 1) for kind in ("arc", "root")}
    optimizer = plain_steps(averages=True)
    training = LinearTraining(parser, sentences_of(parser, examples), optimizer)
    for _ in range(2):
        for index in range(len(training.problem.examples)):
            training._trainer.learner.visit(index)
    train(nlp, examples, optimizer, 2)
    found, expected = weights_of(parser.model).means(), training._trainer.learner.weights
    size = len(found["arcs"])
    np.testing.assert_allclose(found["arcs"], expected[:size], atol=1e-9)
    if labelled:
        np.testing.assert_allclose(found["labels"].ravel(), expected[size:], atol=1e-9)


@pytest.mark.parametrize("steps", ["halved", "searched"])
@pytest.mark.parametrize("loss,C", [("max_margin", 0.02), ("log_linear", 0.5)])
def test_exponentiated_gradient_meets_the_optimum_of_the_batch_learner(loss, C, steps):
    rate = 4.0 if loss == "max_margin" else 0.5
    objective = {**OBJECTIVES["max-margin"], "loss": loss, "C": C, "steps": steps, "rate": rate}
    nlp, examples = linear_pipeline(objective, count=8)
    examples = [*examples, *examples[:2]]  # two sentences come twice
    nlp.initialize(lambda: examples)
    parser = nlp.get_pipe("mtt_parser")
    training = LinearTraining(parser, sentences_of(parser, examples), plain_steps())
    values = {}
    training.run(40, lambda done: values.update(done.values))
    optimum, gap = training._trainer.learner.weights, values["gap"]
    weights_of(parser.model).set_weights(arcs=np.zeros_like(optimum))
    train(nlp, examples, plain_steps(), 40)
    objective_of = training._trainer.learner
    objective_of._weights = arc_weights(nlp)
    # The minimum lies between dual and primal: ours is no worse than as far above it again.
    assert objective_of.primal_objective() <= values["primal"] + gap + 0.02 * values["primal"]
    assert values["relative_gap"] < 0.1


def test_a_gradient_step_is_that_of_the_mean_loss_over_words():
    nlp, examples = linear_pipeline(OBJECTIVES["log-likelihood"], count=2)
    parser = nlp.get_pipe("mtt_parser")
    shim = weights_of(parser.model)
    start = np.random.default_rng(0).normal(size=shim.table.size) * 0.1
    shim.set_weights(arcs=start)
    nlp.update(examples, sgd=plain_steps(rate=0.25, L2=0.5))
    sentences = sentences_of(parser, examples)
    expected = (1 - 0.25 * 0.5) * start
    n_words = sum(len(each.heads) for each in sentences)
    for each in sentences:
        distribution = parser.objective.space.distribution(each.features.score(start))
        gold = np.zeros((each.features.n + 1,) * 2)
        gold[each.heads, np.arange(1, each.features.n + 1)] = 1.0
        each.features.add(expected, 0.25 / n_words * (gold - distribution.marginals))
    np.testing.assert_allclose(shim.means()["arcs"], expected, atol=1e-9)


def test_gradients_of_labels_are_those_of_scores():
    nlp, examples = linear_pipeline(OBJECTIVES["log-likelihood"], count=3)
    parser = nlp.get_pipe("mtt_parser")
    shim = weights_of(parser.model)
    rng = np.random.default_rng(1)
    shim.set_weights(
        arcs=rng.normal(size=shim.table.size), labels=rng.normal(size=(1 << shim.label_bits, shim.n_labels)) * 0.1
    )
    docs = [each.predicted for each in examples]
    units = units_of(docs)
    heads = gold_trees(examples, units).head_rows()
    scores, backprop = parser.model.begin_update((docs, units))
    before = scores.labels_at(heads).copy()
    direction = rng.normal(size=before.shape)
    backprop(_gradients(scores, labels_at=direction))
    parser.model.finish_update(plain_steps(rate=1e-3))
    scores, _ = parser.model.begin_update((docs, units))
    moved = (scores.labels_at(heads) - before).ravel() @ direction.ravel()
    slots = shim.parts["labels"].mean().ravel()
    assert moved < 0 and np.isfinite(slots).all()


def _gradients(scores, **parts):
    from spacy_mtt.scoring.scores import ScoreGradients

    return ScoreGradients([np.zeros_like(bucket) for bucket in scores.arcs], **parts)


# ---- life cycle


@tables
def test_round_trips_through_disk_bytes_and_pickle(tmp_path, table):
    nlp, examples = linear_pipeline(OBJECTIVES["perceptron"], table=table)
    train(nlp, examples, plain_steps(averages=True), 1)
    docs = [each.predicted for each in treebank(nlp, "test", 10)]
    expected = [parse_of(nlp(doc.copy())) for doc in docs]
    others = saved_and_loaded(nlp, tmp_path / "pipeline")
    for other in others:
        found = [Doc(other.vocab).from_bytes(doc.to_bytes()) for doc in docs]
        assert [parse_of(other(doc)) for doc in found] == expected
        assert other.get_pipe("mtt_parser").labels == nlp.get_pipe("mtt_parser").labels
    again = others[0]
    train(again, treebank(again, count=5), plain_steps(averages=True), 1)  # a loaded parser learns on
    assert las(again, treebank(again, "test", 10)) > 0.5


def test_loading_weights_of_another_shape_says_so():
    nlp, _ = linear_pipeline(OBJECTIVES["perceptron"], count=5)
    other, _ = linear_pipeline(OBJECTIVES["perceptron"], table={**HASHED, "bits": 10}, count=5)
    shim, other_shim = (weights_of(each.get_pipe("mtt_parser").model) for each in (nlp, other))
    with pytest.raises(ValueError, match=r"2\^16 hashed features, the model of 2\^10"):
        other_shim.from_bytes(shim.to_bytes())
    dictionary, _ = linear_pipeline(OBJECTIVES["perceptron"], table=DICTIONARY, count=5)
    with pytest.raises(ValueError, match="not those of a dictionary"):
        weights_of(dictionary.get_pipe("mtt_parser").model).from_bytes(shim.to_bytes())


def test_new_labels_start_at_zero_and_can_be_learned():
    nlp, examples = linear_pipeline(OBJECTIVES["perceptron"], count=10)
    train(nlp, examples, plain_steps(averages=True), 1)
    parser = nlp.get_pipe("mtt_parser")
    before = weights_of(parser.model).means()["labels"]
    assert parser.add_label("brandnew") == 1
    after = weights_of(parser.model).means()["labels"]
    np.testing.assert_array_equal(after[:, :-1], before)
    assert not after[:, -1].any()
    reference = examples[0].reference
    for token in reference:
        token.dep_ = "brandnew"
    train(nlp, examples[:1], plain_steps(), 8)
    assert {token.dep_ for token in nlp(examples[0].predicted.copy())} == {"brandnew"}


@pytest.mark.parametrize("batch_size", [1, 3, 50])
def test_results_do_not_depend_on_batches(batch_size):
    nlp, examples = linear_pipeline(OBJECTIVES["perceptron"])
    train(nlp, examples, plain_steps(averages=True), 1)
    docs = [each.predicted for each in treebank(nlp, "test", 20)]
    alone = [parse_of(nlp(doc.copy())) for doc in docs]
    assert [parse_of(doc) for doc in nlp.pipe([doc.copy() for doc in docs], batch_size=batch_size)] == alone


def test_odd_documents():
    nlp, examples = linear_pipeline(OBJECTIVES["perceptron"], count=5)
    train(nlp, examples, plain_steps(averages=True), 1)
    with pytest.warns(UserWarning, match="was trained with tags, but these docs have none"):
        for text in ("", "  ", "een", "een \n kat", "een kat " * 200):
            doc = nlp(text)
            assert len(list(doc.sents)) == (1 if text else 0)


def test_learning_needs_plain_steps():
    nlp, examples = linear_pipeline(OBJECTIVES["log-likelihood"], count=3)
    with pytest.raises(ValueError, match=r"it needs the optimizer SGD.v1 with grad_clip = 0.0, not one with beta1"):
        nlp.update(examples, sgd=Adam(0.001))
    nlp, examples = linear_pipeline(OBJECTIVES["perceptron"], count=3)
    nlp.update(examples, sgd=Adam(0.001))  # steps of its own, whatever the optimizer
    assert arc_weights(nlp).any()


def test_what_cannot_be_learned_from_is_said():
    with pytest.raises(ValueError, match="loss must be 'max_margin' or 'log_linear', not 'hinge'"):
        linear_pipeline({**OBJECTIVES["max-margin"], "loss": "hinge"})
    with pytest.raises(ValueError, match="steps must be 'halved' or 'searched', not 'fixed'"):
        linear_pipeline({**OBJECTIVES["max-margin"], "steps": "fixed"})
    with pytest.raises(ValueError, match="C must be above 0, not 0"):
        linear_pipeline({**OBJECTIVES["mira"], "C": 0})


@pytest.mark.parametrize("name", ["max-margin", "log-linear-eg", "perceptron", "log-likelihood"])
def test_partial_annotation(name):
    nlp, examples = linear_pipeline(OBJECTIVES[name], count=40)
    for example in examples:
        words = [token.text for token in example.reference]
        heads = [token.head.i for token in example.reference]
        deps = [token.dep_ if token.i % 3 else "" for token in example.reference]
        example.reference = Doc(nlp.vocab, words=words, heads=heads, deps=deps)
    train(nlp, examples, optimizer_for(name), 3)
    assert las(nlp, treebank(nlp, count=40)) > 0.6


# ---- objectives of other models


@pytest.mark.parametrize("loss", ["max_margin", "log_linear"])
def test_exponentiated_gradient_drives_the_biaffine_model(loss):
    objective = {"@misc": "spacy_mtt.ExponentiatedGradient.v1", "loss": loss, "rate": 0.5}
    nlp = trained_parser(120, objective=objective)
    assert nlp.evaluate(tiny_examples(nlp))["dep_las"] == 1.0


def test_perceptron_drives_the_biaffine_model():
    nlp = trained_parser(120, objective=OBJECTIVES["perceptron"])
    assert nlp.evaluate(tiny_examples(nlp))["dep_uas"] == 1.0


def test_mira_needs_a_linear_model():
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser", config={**TINY, "objective": OBJECTIVES["mira"]})
    data = tiny_examples(nlp)
    nlp.initialize(lambda: data)
    with pytest.raises(ValueError, match="needs the norms of gradients, which only models of sparse features know"):
        nlp.update(data)


def test_keys_tell_sentences_apart():
    nlp = spacy.blank("xx")
    a, b = (Doc(nlp.vocab, words=["x", "y"], heads=heads, deps=["d", "e"]) for heads in ([0, 0], [1, 1]))
    examples = [Example(Doc(nlp.vocab, words=["x", "y"]), each) for each in (a, b, a)]
    docs = [each.predicted for each in examples]
    gold = gold_trees(examples, units_of(docs))
    keys = [gold.key(unit, docs) for unit in range(3)]
    assert keys[0] == keys[2] != keys[1] and all(len(key) == 16 for key in keys)


@pytest.mark.parametrize("name", OBJECTIVES)
def test_initialize_reads_the_examples_once(name):
    nlp, examples = linear_pipeline(OBJECTIVES[name], count=12)
    fresh = spacy.blank("xx").from_config(nlp.config)
    parser = fresh.get_pipe("mtt_parser")
    read = []

    def get_examples():
        for example in examples:
            read.append(example)
            yield example

    parser.initialize(get_examples, nlp=fresh)
    assert len(read) == len(examples)
    assert parser.labels == nlp.get_pipe("mtt_parser").labels
