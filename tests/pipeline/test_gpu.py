"""The component on arrays that refuse to become numpy arrays by themselves: what it does on a GPU, it does there."""

from pathlib import Path

import numpy as np
import pytest
import spacy
from spacy.tokens import Doc
from thinc.api import Adam, to_numpy

from spacy_mtt.scoring.dropout import FixedDropout
from tests.pipeline.helpers import SENTENCES, TINY, examples, gold_doc, parse_of
from tests.pipeline.linear_helpers import OBJECTIVES, linear_pipeline, low_rank_pipeline, plain_steps
from tests.pipeline.linear_helpers import treebank as dutch_examples
from tests.stand_in_gpu import Array, StandInOps, on_gpu

LABELLED = {"objective": {"@misc": "spacy_mtt.LogLikelihood.v1", "labelled": True}}
PROJECTIVE = {
    "objective": {"@misc": "spacy_mtt.LogLikelihood.v1", "projective": True},
    "decoder": {"@misc": "spacy_mtt.Eisner.v1"},
}
WITHOUT_DROPOUT = {
    "model": {
        "hidden_dropout": 0.0,
        "vector_dropout": 0.0,
        "segmenter": {"dropout": 0.0},
        "tok2vec": {"embed": {"dropout": 0.0}},
    }
}
SMALL = {**TINY, "model": {**TINY["model"], "segmenter": {"dropout": 0.0}}}
CONFIGS = {
    "convolutions": SMALL,
    "recommended": WITHOUT_DROPOUT,
    "labelled": {**SMALL, **LABELLED, "probabilities": True},
    "projective": {**SMALL, **PROJECTIVE, "decoder": {"@misc": "spacy_mtt.Eisner.v1"}},
    "minimum risk": {**SMALL, "decoder": {"@misc": "spacy_mtt.MinimumRisk.v1"}, "probabilities": True},
    "eg": {**SMALL, "objective": {"@misc": "spacy_mtt.ExponentiatedGradient.v1", "C": 0.1}},
}


@pytest.fixture
def gpu():
    with on_gpu():
        yield


def built(config: dict):
    """A pipeline on the current device, and examples of single sentences and of a doc of all of them."""
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser", config=config)
    whole = Doc.from_docs([gold_doc(nlp.vocab, sentence) for sentence in SENTENCES])
    blank = Doc(nlp.vocab, words=[token.text for token in whole])
    data = [*examples(nlp), spacy.training.Example(blank, whole)]
    nlp.initialize(lambda: data)
    return nlp, data


def learned(nlp, data, steps: int = 4) -> list[float]:
    optimizer = Adam(0.003)
    return [nlp.update(data, sgd=optimizer)["mtt_parser"] for _ in range(steps)]


def test_dropout(gpu):
    """Whose masks are not those of the CPU."""
    model = FixedDropout(0.25)
    ones = model.ops.xp.ones((200, 100), dtype="float32")
    Y, backprop = model(ones, True)
    assert isinstance(Y, Array)
    assert 0.2 < (to_numpy(Y) == 0).mean() < 0.3
    np.testing.assert_array_equal(to_numpy(backprop(ones)), to_numpy(Y))


@pytest.mark.parametrize("name", CONFIGS)
def test_learns_and_parses_as_on_the_cpu(name):
    config = CONFIGS[name]
    cpu, data = built(config)
    start = cpu.to_bytes()
    losses = learned(cpu, data)
    parses = [parse_of(cpu(example.predicted.copy())) for example in data]
    with on_gpu():
        nlp, data = built(config)
        nlp.from_bytes(start)
        model = nlp.get_pipe("mtt_parser").model
        assert isinstance(model.ops, StandInOps) and isinstance(model.get_ref("arcs").get_param("W"), Array)
        found = learned(nlp, data)
        docs = list(nlp.pipe([example.predicted.copy() for example in data]))
    np.testing.assert_allclose(found, losses, rtol=2e-3)
    assert list(map(parse_of, docs)) == parses
    for doc in docs:
        assert type(doc._.mtt["heads"]) is np.ndarray
        assert ("head_prob" in doc._.mtt) == config.get("probabilities", False)


def test_trained_on_the_cpu_it_parses_the_same():
    cpu, data = built({})
    learned(cpu, data, 15)
    expected = [parse_of(cpu(example.predicted.copy())) for example in data]
    with on_gpu():
        nlp, data = built({})
        nlp.from_bytes(cpu.to_bytes())
        assert [parse_of(nlp(example.predicted.copy())) for example in data] == expected


def test_everything_that_can_be_asked(gpu):
    nlp, data = built({**SMALL, "probabilities": True})
    parser = nlp.get_pipe("mtt_parser")
    doc = nlp.make_doc("the cat saw a small dog")
    assert np.isfinite(parser.distribution(doc)[0].trees.log_partition)
    np.testing.assert_allclose(parser.marginals(doc)[0][:, 1:].sum(axis=0), 1.0)
    assert len(parser.k_best(doc, 3)) == 3 and len(parser.sample(doc, 2, seed=0)) == 2
    assert len(parser.candidates(doc, 2)) == 1 and len(parser.explain(doc).sentences) == 1
    assert 0 <= parser.reliability(data).ece <= 1 and parser.fit_temperature(data) > 0
    doc._.mtt_constraints = {"heads": {0: 2}, "labels": {5: "obj"}, "spans": [(3, 6)]}
    parsed = nlp(doc)
    assert parsed[0].head.i == 2 and parsed[5].dep_ == "obj"


def test_rehearsal(gpu):
    nlp, data = built(TINY)
    optimizer = nlp.resume_training()
    learned(nlp, data[:1])
    assert nlp.rehearse(data, sgd=optimizer)["mtt_parser"] > 0


def test_a_shared_tok2vec(gpu):
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec", config={"model": TINY["model"]["tok2vec"]})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16}
    nlp.add_pipe("mtt_parser", config={"model": {**TINY["model"], "tok2vec": listener}})
    data = examples(nlp)
    nlp.initialize(lambda: data)
    losses = learned(nlp, data, 8)
    assert losses[-1] < losses[0]
    assert all(token.dep_ for token in nlp("the cat saw a dog"))


@pytest.mark.parametrize("build", [linear_pipeline, low_rank_pipeline])
def test_sparse_models_stay_on_the_cpu(gpu, build):
    nlp, data = build(OBJECTIVES["mira"], count=15)
    optimizer = plain_steps(averages=True)
    for _ in range(2):
        for example in data:
            nlp.update([example], sgd=optimizer)
    scores = nlp.evaluate(dutch_examples(nlp, "test", 10))
    assert scores["dep_las"] > 0.3


def test_the_stand_in_refuses_what_cupy_refuses():
    array = StandInOps().alloc2f(2, 3)
    with pytest.raises(TypeError):
        np.asarray(array)
    with pytest.raises(TypeError):
        np.exp(array)
    with pytest.raises(TypeError):
        array + np.zeros((2, 3))
    with pytest.raises(TypeError):
        StandInOps.xp.exp(np.zeros(3))
    with pytest.raises(TypeError):
        memoryview(array)
    assert isinstance(array + 1.0, Array) and isinstance(array.sum(), Array) and float(array.sum()) == 0.0


def test_the_command_that_compares_says_that_there_is_no_gpu(tmp_path, capsys):
    from benchmarks import gpu as command

    nlp, _ = built(TINY)
    nlp.to_disk(tmp_path / "nlp")
    treebank = Path(__file__).parents[2] / "assets" / "grammar-english" / "test.conll"
    one, other = (command.parsed_on(None, str(tmp_path / "nlp"), treebank, 64) for _ in range(2))
    assert command.same(one, other) == 100.0 and one.words > 0
    if not spacy.prefer_gpu():
        with pytest.raises(SystemExit, match="error: no GPU 0"):
            command.main([str(tmp_path / "nlp"), str(treebank)])
    else:
        command.main([str(tmp_path / "nlp"), str(treebank)])
        assert "words the same" in capsys.readouterr().out
