"""Training that goes wrong says so, or ends in a finite model; NaN is never what it leaves."""

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import SGD, Adam

from tests.pipeline.helpers import SENTENCES, TINY, examples, random_parser
from tests.pipeline.linear_helpers import OBJECTIVES, linear_pipeline, low_rank_pipeline, plain_steps

LABELLED = {"objective": {"@misc": "spacy_mtt.LogLikelihood.v1", "labelled": True}}


def is_finite(nlp) -> bool:
    model = nlp.get_pipe("mtt_parser").model
    return all(np.isfinite(node.get_param(name)).all() for node in model.walk() for name in node.param_names)


@pytest.mark.parametrize("config", [TINY, {**TINY, **LABELLED}, {}], ids=["plain", "labelled", "recommended"])
@pytest.mark.parametrize("optimizer", [Adam, SGD])
@pytest.mark.parametrize("rate", [0.2, 1e2, 1e5, 1e9])
def test_learning_rates_that_are_far_too_high(config, optimizer, rate):
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser", config=config)
    data = examples(nlp)
    nlp.initialize(lambda: data)
    sgd = optimizer(rate)
    try:
        for _ in range(12):
            losses = nlp.update(data, sgd=sgd)
            assert np.isfinite(losses["mtt_parser"])
    except ValueError as error:
        assert rate > 1
        assert "mtt_parser: training has diverged" in str(error) and "\n" not in str(error)
    else:
        assert is_finite(nlp)
        assert all(token.dep_ for token in nlp("the cat saw a dog"))


@pytest.mark.parametrize("build", [linear_pipeline, low_rank_pipeline])
def test_sparse_models_at_high_rates(build):
    nlp, data = build(OBJECTIVES["log-likelihood"], count=10)
    sgd = plain_steps(rate=1e6)
    try:
        for _ in range(6):
            assert np.isfinite(nlp.update(data, sgd=sgd)["mtt_parser"])
    except ValueError as error:
        assert "training has diverged" in str(error)


def test_errors_of_data_are_not_called_divergence():
    nlp = random_parser()
    data = examples(nlp, [("she slept", [1, 1], "unseen ROOT")])
    with pytest.raises(ValueError, match="unknown to the parser"):
        nlp.update(data)


def test_batches_without_annotation_or_words_teach_nothing():
    nlp = random_parser()
    optimizer = Adam(0.1, L2=0.0)  # spaCy's own lets weights decay whatever it gets
    weights = nlp.get_pipe("mtt_parser").model.to_bytes()
    assert nlp.update([], sgd=optimizer).get("mtt_parser", 0.0) == 0.0
    bare = [Example(Doc(nlp.vocab, words=["a", "b"]), Doc(nlp.vocab, words=["a", "b"]))] * 3
    assert nlp.update(bare, sgd=optimizer)["mtt_parser"] == pytest.approx(0.0, abs=1e-5)
    assert is_finite(nlp)
    assert nlp.get_pipe("mtt_parser").model.to_bytes() == weights


def test_one_label_only():
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser", config=TINY)
    sentences = [(words, heads, " ".join(["dep"] * len(heads))) for words, heads, _ in SENTENCES]
    data = examples(nlp, sentences)
    optimizer = nlp.initialize(lambda: data)
    for _ in range(60):
        losses = nlp.update(data, sgd=optimizer)
    assert np.isfinite(losses["mtt_parser"]) and nlp.get_pipe("mtt_parser").labels == ("dep",)
    assert nlp.evaluate(examples(nlp, sentences))["dep_uas"] == pytest.approx(1.0)


def test_the_same_seed_gives_the_same_model():
    models = []
    for _ in range(2):
        spacy.util.fix_random_seed(3)
        nlp = spacy.blank("xx")
        nlp.add_pipe("mtt_parser", config={})
        data = examples(nlp)
        optimizer = nlp.initialize(lambda data=data: data)
        for _ in range(5):
            nlp.update(data, sgd=optimizer, drop=0.3)
        models.append(nlp.get_pipe("mtt_parser").model.to_bytes())
    assert models[0] == models[1]
