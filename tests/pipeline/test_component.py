"""Training, parsing and the life cycle of the component."""

import pickle
import subprocess
import sys

import numpy as np
import pytest
import spacy
from scipy.special import logsumexp
from spacy.tokens import Doc, DocBin
from spacy.training import Example

from spacy_mtt import TreeDistribution
from tests.pipeline.helpers import SENTENCES, TINY, examples, gold_doc, parse_of, random_parser, trained_parser

LABELLED = {"objective": {"@misc": "spacy_mtt.LogLikelihood.v1", "labelled": True}}
DECODERS = [
    {"@misc": "spacy_mtt.ChuLiuEdmonds.v1", "single_root": True},
    {"@misc": "spacy_mtt.Eisner.v1", "single_root": True},
    {"@misc": "spacy_mtt.MinimumRisk.v1", "projective": False, "single_root": True},
]


def test_factory_follows_the_parser_of_spacy():
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser")
    meta, parser_meta = nlp.get_pipe_meta("mtt_parser"), nlp.get_factory_meta("parser")
    assert meta.default_score_weights == parser_meta.default_score_weights
    assert set(parser_meta.assigns) <= set(meta.assigns)
    assert nlp.config["components"]["mtt_parser"]["objective"]["@misc"] == "spacy_mtt.LogLikelihood.v1"
    nlp.analyze_pipes()


@pytest.mark.parametrize("config", [{}, LABELLED, *({"decoder": decoder} for decoder in DECODERS)])
def test_learns_its_training_data(config):
    nlp = trained_parser(150 if config is LABELLED else 80, **config)
    projective = config.get("decoder", {}).get("@misc") == "spacy_mtt.Eisner.v1"
    for sentence in SENTENCES:
        gold = gold_doc(nlp.vocab, sentence)
        doc = nlp(Doc(nlp.vocab, words=sentence[0].split()))
        if projective and sentence[0].startswith(("a man", "what")):
            assert parse_of(doc) != parse_of(gold)  # crossing arcs are not to be had
        else:
            assert parse_of(doc) == parse_of(gold)
    scores = nlp.evaluate(examples(nlp))
    assert scores["dep_las"] == 1.0 if not projective else scores["dep_las"] < 1.0


@pytest.mark.parametrize("projective", [True, False])
@pytest.mark.parametrize("single_root", [True, False])
def test_objective_in_every_tree_space(projective, single_root):
    objective = {"@misc": "spacy_mtt.LogLikelihood.v1", "projective": projective, "single_root": single_root}
    decoder = {"@misc": "spacy_mtt.Eisner.v1" if projective else "spacy_mtt.ChuLiuEdmonds.v1"}
    nlp = trained_parser(sentences=[SENTENCES[0], SENTENCES[3]], objective=objective, decoder=decoder)
    for sentence in (SENTENCES[0], SENTENCES[3]):
        assert parse_of(nlp(Doc(nlp.vocab, words=sentence[0].split()))) == parse_of(gold_doc(nlp.vocab, sentence))


def test_loss_is_that_of_the_distribution():
    nlp = random_parser()
    parser = nlp.get_pipe("mtt_parser")
    (example,) = examples(nlp, SENTENCES[:1])
    from spacy_mtt.pipeline.segmentation import units_of

    scores = parser.model.predict(([example.predicted], units_of([example.predicted])))
    arcs = scores.arcs[0][0].astype(float)
    heads = np.array([0 if head == word else head + 1 for word, head in enumerate(SENTENCES[0][1])])
    labels = scores.labels_at(heads.astype(np.int32))
    label_set = parser.label_set
    labels[~label_set.possible[(heads == 0).astype(int)]] = -np.inf
    gold = [parser.labels.index(label) for label in SENTENCES[0][2].split()]
    expected = -TreeDistribution(arcs).log_prob(heads)
    expected += sum(logsumexp(row) - row[label] for row, label in zip(labels, gold, strict=True))
    loss, _ = parser.get_loss([example], scores)
    assert loss == pytest.approx(expected, rel=1e-5)


# ---- life cycle


def test_round_trips_through_disk_bytes_and_pickle(tmp_path):
    nlp = trained_parser(20)
    texts = [sentence[0] for sentence in SENTENCES]
    expected = [parse_of(doc) for doc in nlp.pipe(texts)]
    nlp.to_disk(tmp_path / "pipeline")
    others = [
        spacy.load(tmp_path / "pipeline"),
        spacy.blank("xx").from_config(nlp.config).from_bytes(nlp.to_bytes()),
        pickle.loads(pickle.dumps(nlp)),
    ]
    parser = nlp.get_pipe("mtt_parser")
    bytes_alone = spacy.blank("xx")
    bytes_alone.add_pipe("mtt_parser", config=TINY).from_bytes(parser.to_bytes())
    for other in [*others, bytes_alone]:
        assert [parse_of(doc) for doc in other.pipe(texts)] == expected
        assert other.get_pipe("mtt_parser").labels == parser.labels
        assert other.get_pipe("mtt_parser").label_data == parser.label_data


def test_loads_in_a_fresh_process_without_an_import(tmp_path):
    nlp = trained_parser(20)
    nlp.to_disk(tmp_path / "pipeline")
    text = SENTENCES[0][0]
    code = (
        "import sys, spacy; nlp = spacy.load(sys.argv[1]); "
        "print([(t.head.i, t.dep_) for t in nlp(sys.argv[2])], nlp(sys.argv[2])._.mtt['heads'].tolist())"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "pipeline"), text], capture_output=True, text=True, check=True
    )
    doc = nlp(text)
    assert run.stdout.strip() == f"{parse_of(doc)} {doc._.mtt['heads'].tolist()}"


def test_parse_survives_bytes_and_docbin():
    nlp = random_parser()
    doc = nlp("the cat saw a small dog")
    again = Doc(nlp.vocab).from_bytes(doc.to_bytes())
    (binned,) = DocBin(docs=[doc], store_user_data=True, attrs=["HEAD", "DEP"]).get_docs(nlp.vocab)
    for other in (again, binned, pickle.loads(pickle.dumps(doc))):
        assert parse_of(other) == parse_of(doc)
        np.testing.assert_array_equal(other._.mtt["heads"], doc._.mtt["heads"])
        np.testing.assert_array_equal(other._.mtt["labels"], doc._.mtt["labels"])


def test_arrays_on_the_doc_tell_the_tree():
    nlp = trained_parser()
    doc = nlp("the  cat saw a small dog")  # two blanks
    assert doc._.mtt["heads"].tolist() == [3, -1, 4, 0, 7, 7, 4]
    labels = [nlp.vocab.strings[label] if label else "" for label in doc._.mtt["labels"]]
    assert labels == ["det", "", "nsubj", "ROOT", "det", "amod", "obj"]


@pytest.mark.parametrize("batch_size", [1, 2, 3, 50])
def test_results_do_not_depend_on_batches(batch_size):
    nlp = random_parser()
    words = "the cat saw a small dog who sang yesterday".split()
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words, size=n)) for n in rng.integers(0, 20, size=40)]
    alone = [parse_of(nlp(text)) for text in texts]
    assert [parse_of(doc) for doc in nlp.pipe(texts, batch_size=batch_size)] == alone


def test_two_processes():
    nlp = random_parser()
    texts = [sentence[0] for sentence in SENTENCES] * 3
    docs = list(nlp.pipe(texts, n_process=2, batch_size=4))
    assert [parse_of(doc) for doc in docs] == [parse_of(nlp(text)) for text in texts]
    assert all(doc._.mtt is not None for doc in docs)


def test_select_pipes_leaves_boundaries_alone():
    nlp = random_parser()
    doc = Doc(nlp.vocab, words=["a", "b", "c"], sent_starts=[True, False, True])
    with nlp.select_pipes(disable=["mtt_parser"]):
        doc = nlp(doc)
    assert not doc.has_annotation("DEP") and len(list(doc.sents)) == 2


def test_sourced_and_frozen():
    trained = trained_parser()
    expected = [parse_of(trained(sentence[0])) for sentence in SENTENCES]
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser", source=trained)
    assert [parse_of(nlp(sentence[0])) for sentence in SENTENCES] == expected
    nlp.add_pipe("tagger").add_label("X")
    data = examples(nlp)
    for example in data:
        for token in example.reference:
            token.tag_ = "X"
    with nlp.select_pipes(enable=["tagger"]):
        nlp.initialize(lambda: data)
    before = nlp.get_pipe("mtt_parser").model.to_bytes()
    nlp.update(data, exclude=["mtt_parser"], annotates=["mtt_parser"], sgd=nlp.create_optimizer())
    assert nlp.get_pipe("mtt_parser").model.to_bytes() == before


def test_use_params():
    nlp = random_parser()
    parser = nlp.get_pipe("mtt_parser")
    layer = parser.model.get_ref("arcs")
    zeros = {(layer.id, name): np.zeros_like(layer.get_param(name)) for name in layer.param_names}
    before = parse_of(nlp("the cat saw a small dog"))
    with nlp.use_params(zeros):
        assert not layer.get_param("W").any()
    assert parse_of(nlp("the cat saw a small dog")) == before


def listening_parser() -> tuple[spacy.language.Language, list[Example]]:
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("xx")
    width = 16
    nlp.add_pipe("tok2vec", config={"model": TINY["model"]["tok2vec"]})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": width}
    nlp.add_pipe("mtt_parser", config={"model": {**TINY["model"], "tok2vec": listener}})
    return nlp, examples(nlp)


def test_listens_to_a_shared_tok2vec():
    nlp, data = listening_parser()
    optimizer = nlp.initialize(lambda: data)
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    for _ in range(120):
        nlp.update(data, sgd=optimizer)
    assert nlp.get_pipe("tok2vec").model.to_bytes() != before  # gradients arrive
    assert nlp.evaluate(data)["dep_las"] == 1.0
    expected = [parse_of(doc) for doc in nlp.pipe([sentence[0] for sentence in SENTENCES])]
    nlp.replace_listeners("tok2vec", "mtt_parser", ["model.tok2vec"])
    nlp.remove_pipe("tok2vec")
    assert [parse_of(nlp(sentence[0])) for sentence in SENTENCES] == expected


def test_frozen_tok2vec_that_annotates():
    nlp, data = listening_parser()
    optimizer = nlp.initialize(lambda: data)
    for _ in range(60):
        nlp.update(data, sgd=optimizer)
    before = nlp.get_pipe("tok2vec").model.to_bytes()
    for _ in range(60):
        nlp.update(data, sgd=optimizer, exclude=["tok2vec"], annotates=["tok2vec"])
    assert nlp.get_pipe("tok2vec").model.to_bytes() == before
    assert nlp.evaluate(data)["dep_las"] == 1.0


# ---- labels


def test_labels_and_label_data(tmp_path):
    nlp = random_parser()
    parser = nlp.get_pipe("mtt_parser")
    assert parser.labels == tuple(sorted({label for _, _, labels in SENTENCES for label in labels.split()}))
    assert parser.label_data["root"] == {"ROOT": 5}
    assert parser.label_data["arc"]["nsubj"] == 5 and "ROOT" not in parser.label_data["arc"]
    other = spacy.blank("xx")
    other_parser = other.add_pipe("mtt_parser", config=TINY)
    other_parser.initialize(lambda: examples(other)[:1], nlp=other, labels=parser.label_data)
    assert other_parser.labels == parser.labels and other_parser.label_data == parser.label_data
    with pytest.raises(ValueError, match="label data must be"):
        other_parser.initialize(lambda: examples(other), nlp=other, labels=["nsubj"])


def test_root_labels_stand_on_roots_alone():
    nlp = random_parser()
    rng = np.random.default_rng(0)
    for n in range(1, 15):
        for token in nlp(Doc(nlp.vocab, words=[str(word) for word in rng.integers(50, size=n)])):
            assert (token.dep_ == "ROOT") == (token.head == token)


def test_add_label_before_and_after_initialisation():
    nlp = trained_parser()
    parser = nlp.get_pipe("mtt_parser")
    expected = [parse_of(nlp(sentence[0])) for sentence in SENTENCES]
    assert parser.add_label("nsubj") == 0
    assert parser.add_label("vocative") == 1 and parser.labels[-1] == "vocative"
    assert [parse_of(nlp(sentence[0])) for sentence in SENTENCES] == expected
    new = ("Anna she slept", [2, 2, 2], "vocative nsubj ROOT")
    data = examples(nlp, [*SENTENCES, new])
    optimizer = nlp.resume_training()
    for _ in range(60):
        nlp.update(data, sgd=optimizer)
    assert parse_of(nlp("Anna she slept")) == [(2, "vocative"), (2, "nsubj"), (2, "ROOT")]
    again = spacy.blank("xx").from_config(nlp.config).from_bytes(nlp.to_bytes())
    assert parse_of(again("Anna she slept"))[0][1] == "vocative"
    with pytest.raises(ValueError):
        parser.add_label(3)
    early = spacy.blank("xx")
    early_parser = early.add_pipe("mtt_parser", config=TINY)
    assert early_parser.add_label("zzz") == 1
    early.initialize(lambda: examples(early))
    assert "zzz" in early_parser.labels and "nsubj" in early_parser.labels


def test_min_label_freq():
    nlp = spacy.blank("xx")
    parser = nlp.add_pipe("mtt_parser", config={**TINY, "min_label_freq": 2})
    optimizer = nlp.initialize(lambda: examples(nlp))
    assert "amod" not in parser.labels and "nsubj" in parser.labels
    assert parser.label_data["arc"]["amod"] == 1  # seen, but too rare: the word has no label to learn
    assert np.isfinite(nlp.update(examples(nlp), sgd=optimizer)["mtt_parser"])
    rare = spacy.blank("xx")
    rare.add_pipe("mtt_parser", config={**TINY, "min_label_freq": 99})
    with pytest.raises(ValueError, match="no label was seen min_label_freq = 99 times: the most frequent was 5 times"):
        rare.initialize(lambda: examples(rare))


# ---- bad input


def test_needs_labels():
    nlp = spacy.blank("xx")
    parser = nlp.add_pipe("mtt_parser", config=TINY)
    with pytest.raises(ValueError, match="mtt_parser"):
        nlp("not initialised")
    words = ["no", "labels"]
    bare = [Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words))]
    with pytest.raises(ValueError, match=r"finds no dependency label in 1 examples \(2 words\)"):
        nlp.initialize(lambda: bare)
    with pytest.raises(TypeError):
        parser.initialize(bare, nlp=nlp)
    with pytest.raises(TypeError):
        parser.initialize(list, nlp=nlp)


def test_a_cycle_in_gold_is_named():
    nlp = random_parser()
    words = ["Ann", "saw", "Bob", "here"]
    cyclic = Doc(nlp.vocab, words=words, heads=[1, 2, 1, 1], deps=["nsubj", "ROOT", "obj", "advmod"])
    good = examples(nlp)[0]
    message = (
        r"document 1 of the batch, 'Ann saw Bob here.?', form a cycle: "
        r"'saw' \(token 1\) -> 'Bob' \(token 2\) -> 'saw'"
    )
    with pytest.raises(ValueError, match=message):
        nlp.update([good, Example(Doc(nlp.vocab, words=words), cyclic)])


def test_a_label_unknown_to_the_model_is_named():
    nlp = random_parser()
    data = examples(nlp, [SENTENCES[0], ("then she slept", [2, 2, 2], "advmod unseen ROOT")])
    message = "the gold label 'unseen' of token 1 in document 1 of the batch is unknown to the parser"
    with pytest.raises(ValueError, match=message):
        nlp.update(data)
    nlp.get_pipe("mtt_parser").add_label("unseen")
    assert np.isfinite(nlp.update(data)["mtt_parser"])
