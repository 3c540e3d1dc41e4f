"""Calibration: the error by hand, the temperature at its optimum, and the command that fits it."""

import numpy as np
import pytest
import spacy
from typer.testing import CliRunner

from spacy_mtt.cli import app
from spacy_mtt.learning.tree_space import TreeSpace
from spacy_mtt.pipeline.calibration import Bucketed, Reliability, best_temperature, head_loss
from spacy_mtt.treebanks.conversion import to_conllu
from spacy_mtt.treebanks.from_docs import doc_to_sentences
from spacy_mtt.treebanks.writing import write_treebank
from tests.pipeline.helpers import SENTENCES, examples, gold_doc, parse_of, random_parser, trained_parser


def test_error_by_hand():
    found = Reliability.of(np.array([0.95, 1.0, 0.05, 0.55]), np.array([True, False, False, True]))
    assert found.counts.tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 2]
    assert found.confidence[9] == pytest.approx(0.975) and found.accuracy[9] == 0.5
    assert found.ece == pytest.approx((2 * 0.475 + 0.45 + 0.05) / 4)
    assert Reliability.of(np.zeros(0), np.zeros(0, dtype=bool)).ece == 0.0


@pytest.mark.parametrize("space", [TreeSpace(), TreeSpace(projective=True), TreeSpace(single_root=False)])
@pytest.mark.parametrize("truth", [0.4, 2.5])
def test_the_temperature_of_the_data_is_found(space, truth):
    rng = np.random.default_rng(0)
    scores = 2.0 * rng.normal(size=(300, 5, 5))
    lengths = np.full(300, 4)
    heads = np.stack([space.distribution(each / truth).sample(1, rng)[0] for each in scores])
    heads[::7, 1] = -1
    buckets = [Bucketed(scores[:200], lengths[:200], heads[:200]), Bucketed(scores[200:], lengths[200:], heads[200:])]
    found = best_temperature(buckets, space)
    assert found == pytest.approx(truth, rel=0.25)
    assert head_loss(buckets, space, found) < min(head_loss(buckets, space, found * f) for f in (0.9, 1.1))


def test_labelled_scores():
    rng = np.random.default_rng(0)
    scores, heads = rng.normal(size=(2, 4, 4, 3)), np.array([[0, 1, 1], [2, 0, 2]])
    joint = np.log(np.exp(scores / 2.0).sum(axis=3))
    labelled = head_loss([Bucketed(scores, np.array([3, 3]), heads)], TreeSpace(), 2.0)
    assert labelled == pytest.approx(head_loss([Bucketed(joint, np.array([3, 3]), heads)], TreeSpace(), 1.0))


def test_a_fitted_temperature_lowers_the_loss_and_is_kept(tmp_path):
    nlp = random_parser(probabilities=True)
    parser, data = nlp.get_pipe("mtt_parser"), examples(nlp)
    parses = [parse_of(nlp(each.predicted.copy())) for each in data]
    before = parser.reliability(data)
    temperature = parser.fit_temperature(data)  # scores are random and large: they mean nothing
    assert temperature > 2.0 and parser.cfg["temperature"] == temperature
    assert parser.reliability(data).ece < before.ece
    assert before.counts.sum() == sum(len(each.predicted) for each in data)
    assert [parse_of(nlp(each.predicted.copy())) for each in data] == parses
    nlp.to_disk(tmp_path / "pipeline")
    assert spacy.load(tmp_path / "pipeline").get_pipe("mtt_parser").cfg["temperature"] == temperature
    with pytest.raises(ValueError, match="there is no gold head to fit a temperature to"):
        parser.fit_temperature([])


def test_the_command(tmp_path):
    nlp = trained_parser(30)
    sentences = [each for sentence in SENTENCES for each in doc_to_sentences(gold_doc(nlp.vocab, sentence))]
    write_treebank(tmp_path / "dev.conllu", map(to_conllu, sentences))
    nlp.to_disk(tmp_path / "pipeline")
    given = [str(tmp_path / name) for name in ("pipeline", "dev.conllu")]
    result = CliRunner().invoke(app, ["calibrate", *given, "--output", str(tmp_path / "calibrated")])
    assert result.exit_code == 0, result.output
    assert "expected calibration error" in result.output and "0.9 to 1.0" in result.output
    temperature = spacy.load(tmp_path / "calibrated").get_pipe("mtt_parser").cfg["temperature"]
    assert f"temperature {temperature:.3f}" in result.output
    spacy.blank("xx").to_disk(tmp_path / "empty")
    refused = CliRunner().invoke(app, ["calibrate", str(tmp_path / "empty"), given[1]])
    assert refused.exit_code == 1 and "has 0 mtt_parser, but must have one" in refused.output
