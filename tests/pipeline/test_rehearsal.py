"""Rehearsal: its loss by differences, and that it keeps a parser from forgetting."""

import numpy as np
import pytest
from spacy.tokens import Doc
from spacy.training import Example

from spacy_mtt.pipeline.rehearsal import divergence
from spacy_mtt.pipeline.segmentation import units_of
from tests.pipeline.helpers import examples, trained_parser
from tests.pipeline.linear_helpers import OBJECTIVES, linear_pipeline, plain_steps, train
from tests.pipeline.test_probabilities import LABELLED, SPACES, soft_parser

NEW = [("dogs sing", [0, 0], "ROOT advmod"), ("small dogs sing well", [1, 1, 1, 2], "amod ROOT relcl obj")]


@pytest.mark.parametrize("config", SPACES, ids=["plain", "labelled", "projective"])
def test_the_gradient_is_that_of_the_divergence(config):
    nlp, parser = soft_parser(**config)
    docs = [example.predicted for example in examples(nlp)]
    then, now = parser.model.predict((docs, units_of(docs))), parser.model.predict((docs, units_of(docs)))
    rng = np.random.default_rng(0)
    old = [np.array(bucket, dtype=np.float64) for bucket in then.arcs]
    new = [bucket + 0.5 * rng.normal(size=bucket.shape) for bucket in old]
    direction = [rng.normal(size=bucket.shape) for bucket in old]

    def loss(step: float):
        moved = [bucket + step * change for bucket, change in zip(new, direction, strict=True)]
        return divergence(parser.reader(), with_arcs(then, old), with_arcs(now, moved))

    value, gradients = loss(0.0)
    assert value > 0 and divergence(parser.reader(), with_arcs(then, old), with_arcs(now, old))[0] == pytest.approx(0.0)
    slope = (loss(1e-5)[0] - loss(-1e-5)[0]) / 2e-5 / now.units.n_words
    found = sum(float((g * change).sum()) for g, change in zip(gradients.arcs, direction, strict=True))
    assert found == pytest.approx(slope, rel=1e-5)


def with_arcs(scores, arcs):
    from dataclasses import replace

    return replace(scores, arcs=arcs)


@pytest.mark.parametrize("config", [{}, LABELLED], ids=["plain", "labelled"])
def test_what_is_rehearsed_is_not_forgotten(config):
    forgotten, kept = (learned_on(config, rehearsing=rehearsing) for rehearsing in (False, True))
    assert kept["old"] > 0.9 and kept["old"] > forgotten["old"] and kept["new"] == 1.0


def learned_on(config: dict, *, rehearsing: bool) -> dict[str, float]:
    """LAS on old and new sentences after new ones were learned."""
    nlp = trained_parser(80, **config)
    old, new = examples(nlp), examples(nlp, NEW)
    assert nlp.rehearse(old, sgd=None) == {}  # nothing to remember yet
    optimizer = nlp.resume_training()
    optimizer.learn_rate = 0.005
    raw = [Example(each.predicted, Doc(nlp.vocab, words=[token.text for token in each.predicted])) for each in old]
    for _ in range(60):
        nlp.update(new, sgd=optimizer)
        if rehearsing:
            losses = nlp.rehearse(raw, sgd=optimizer)
            assert losses["mtt_parser"] >= 0.0
    return {
        name: nlp.evaluate([Example(each.predicted.copy(), each.reference) for each in data])["dep_las"]
        for name, data in (("old", old), ("new", new))
    }


def test_a_linear_parser_rehearses_too():
    nlp, data = linear_pipeline(OBJECTIVES["log-likelihood"], count=20)
    train(nlp, data, plain_steps(rate=0.3), 3)
    nlp.resume_training()
    parser = nlp.get_pipe("mtt_parser")
    before = parser.rehearse(data)["mtt_parser"]
    train(nlp, data[:2], plain_steps(rate=0.5), 5)
    moved = parser.rehearse(data)["mtt_parser"]
    for _ in range(5):
        parser.rehearse(data, sgd=plain_steps(rate=0.3))
    after = parser.rehearse(data)["mtt_parser"]
    assert before == pytest.approx(0.0, abs=1e-9) and 0 < after < moved
    with pytest.raises(ValueError, match=r"nlp\.rehearse hands it none: call the component's own rehearse"):
        nlp.rehearse(data)


def test_empty_docs_and_no_words():
    nlp = trained_parser(2)
    nlp.resume_training()
    blank = [Example(nlp.make_doc(text), nlp.make_doc(text)) for text in ("", " ")]
    assert nlp.rehearse(blank)["mtt_parser"] == 0.0
