"""Sentence boundaries that the component finds itself: learned, obeyed where set, found in one pass of the tok2vec."""

import logging
from itertools import product

import numpy as np
import pytest
import spacy
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example
from thinc.api import NumpyOps, chain, noop

from spacy_mtt.learning.cross_entropy import logistic_loss
from spacy_mtt.pipeline.segmentation import gold_starts, sentence_starts, training_starts, units_of
from spacy_mtt.scoring.sentence_starts import build_sentence_starts
from tests.pipeline.helpers import SENTENCES, TINY, gold_doc, parse_of, trained_parser
from tests.pipeline.helpers import examples as one_sentence_examples

SEGMENTER = {"@architectures": "spacy_mtt.SentenceStarts.v1", "hidden_width": 16, "dropout": 0.0}
CONFIG = {**TINY, "model": {**TINY["model"], "segmenter": SEGMENTER}}
ORDERS = ((0, 1, 2), (3, 4, 0), (1, 4, 3), (2, 3, 1), (4, 2, 0), (0, 3, 2, 1))


def doc_of(vocab, order) -> Doc:
    return Doc.from_docs([gold_doc(vocab, SENTENCES[number]) for number in order])


def examples(nlp, orders=ORDERS) -> list[Example]:
    """Docs of several sentences, without boundaries in the predicted docs."""
    docs = [doc_of(nlp.vocab, order) for order in orders]
    return [Example(Doc(nlp.vocab, words=[token.text for token in doc]), doc) for doc in docs]


def pipeline(steps: int = 0):
    spacy.util.fix_random_seed(0)
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser", config=CONFIG)
    data = examples(nlp)
    optimizer = nlp.initialize(lambda: data)
    for _ in range(steps):
        nlp.update(data, sgd=optimizer)
    return nlp


@pytest.fixture(scope="module")
def trained():
    return pipeline(80)


def starts_of(doc: Doc) -> list[int]:
    return [token.i for token in doc if token.is_sent_start]


def test_finds_the_sentences_and_trees_of_its_training_data(trained):
    for example in examples(trained):
        parsed = trained(example.predicted)
        assert starts_of(parsed) == starts_of(example.reference)
        assert parse_of(parsed) == parse_of(example.reference)
    scores = trained.evaluate(examples(trained))
    assert scores["sents_f"] == 1.0 and scores["dep_las"] == 1.0


@settings(max_examples=60, deadline=None)
@given(order=st.lists(st.integers(0, 4), min_size=1, max_size=4), data=st.data())
def test_what_is_set_is_obeyed_in_any_mix(trained, order, data):
    gold = doc_of(trained.vocab, order)
    n = len(gold)
    marks = data.draw(st.lists(st.sampled_from([True, False, None]), min_size=n, max_size=n))
    doc = Doc(trained.vocab, words=[token.text for token in gold], sent_starts=marks)
    free = trained(Doc(trained.vocab, words=[token.text for token in gold]))
    parsed = trained(doc)
    for token, mark in zip(parsed, marks, strict=True):
        if token.i == 0:
            assert token.is_sent_start
        elif mark is None:
            assert token.is_sent_start == free[token.i].is_sent_start
        else:
            assert token.is_sent_start == mark
    for sentence in parsed.sents:
        assert sum(token.head == token for token in sentence) == 1
        assert all(token.head in sentence for token in sentence)


@pytest.mark.parametrize("batch_size", [1, 2, 50])
def test_results_do_not_depend_on_batches(trained, batch_size):
    docs = [example.predicted for example in examples(trained)]
    alone = [(starts_of(doc), parse_of(doc)) for doc in map(trained, (doc.copy() for doc in docs))]
    together = list(trained.pipe([doc.copy() for doc in docs], batch_size=batch_size))
    assert [(starts_of(doc), parse_of(doc)) for doc in together] == alone


def test_one_pass_of_the_tok2vec(trained, monkeypatch):
    parser, calls = trained.get_pipe("mtt_parser"), []
    tok2vec = parser.model.get_ref("tok2vec")
    forward = tok2vec._func
    monkeypatch.setattr(tok2vec, "_func", lambda *given, **named: calls.append(1) or forward(*given, **named))
    docs = [example.predicted for example in examples(trained)]
    list(trained.pipe(docs))
    assert len(calls) == 1
    trained.update(examples(trained)[:2], sgd=None)
    assert len(calls) == 2


def test_survives_disk_and_bytes(trained, tmp_path):
    trained.to_disk(tmp_path / "pipeline")
    for other in (
        spacy.load(tmp_path / "pipeline"),
        spacy.blank("xx").from_config(trained.config).from_bytes(trained.to_bytes()),
    ):
        for example in examples(other):
            assert starts_of(other(example.predicted)) == starts_of(example.reference)


def test_whitespace_starts_no_sentence(trained):
    for text in ("", " ", "\n\n go", "go \n she slept \n ", " \n "):
        doc = trained(text)
        assert all(not token.is_sent_start for token in doc[1:] if token.is_space)
        assert len(list(doc.sents)) >= bool(text)


def test_data_of_single_sentences_teach_no_boundary(caplog):
    nlp = spacy.blank("xx")
    parser = nlp.add_pipe("mtt_parser", config=CONFIG)
    data = one_sentence_examples(nlp)
    with caplog.at_level(logging.INFO, logger="spacy"):
        nlp.initialize(lambda: data)
    assert "no training example has several sentences" in caplog.text
    assert not parser.cfg["finds_sentences"]
    scores, _ = parser.model.begin_update(([data[0].predicted], units_of([data[0].predicted])))
    assert parser.get_loss(data[:1], scores)[1].starts is None
    assert len(list(nlp("she slept go the cat").sents)) == 1


def test_a_model_without_a_segmenter_takes_a_doc_as_one_sentence():
    nlp = trained_parser(5, model={**TINY["model"], "segmenter": None})
    assert not nlp.get_pipe("mtt_parser").model.has_ref("segmenter")
    doc = Doc(nlp.vocab, words="she slept go".split(), sent_starts=[True, None, True])
    assert starts_of(nlp(doc)) == [0, 2]
    assert starts_of(nlp("she slept go")) == [0]


def test_learns_with_a_shared_tok2vec():
    nlp = spacy.blank("xx")
    nlp.add_pipe("tok2vec", config={"model": TINY["model"]["tok2vec"]})
    listener = {"@architectures": "spacy.Tok2VecListener.v1", "width": 16, "upstream": "tok2vec"}
    nlp.add_pipe("mtt_parser", config={"model": {**CONFIG["model"], "tok2vec": listener}})
    data = examples(nlp)
    optimizer = nlp.initialize(lambda: data)
    for _ in range(80):
        nlp.update(data, sgd=optimizer)
    assert nlp.evaluate(data)["sents_f"] == 1.0


def test_gold_starts():
    nlp = spacy.blank("xx")
    reference = doc_of(nlp.vocab, (3, 4))
    predicted = Doc(nlp.vocab, words=["she", "\n", "slept", "go"])
    assert gold_starts([Example(predicted, reference)]).tolist() == [-1, -1, 0, 1]
    unknown = Doc(nlp.vocab, words=["she", "slept"])
    assert gold_starts([Example(unknown.copy(), unknown)]).tolist() == [-1, -1]
    assert gold_starts([]).tolist() == []


def test_gold_starts_leave_out_what_is_not_known():
    nlp = spacy.blank("xx")
    words = ["she", "slept", " ", "go", "go"]
    reference = Doc(nlp.vocab, words=words, spaces=[False] * 5, sent_starts=[True, False, False, True, None])
    predicted = Doc(nlp.vocab, words=words, spaces=[False] * 5)
    assert gold_starts([Example(predicted, reference)]).tolist() == [-1, 0, -1, 1, -1]


def test_gold_starts_of_merged_and_split_tokens():
    nlp = spacy.blank("xx")
    reference = Doc(nlp.vocab, words="a b c d".split(), spaces=[True, False, True, True], sent_starts=[1, 1, -1, 1])
    merged = Doc(nlp.vocab, words=["a", "bc", "d"])
    assert gold_starts([Example(merged, reference)])[2] == 1
    split = Doc(nlp.vocab, words=["a", "b", "c", "d1", "d2"], spaces=[True, False, True, False, False])
    reference = Doc(nlp.vocab, words=["a", "bc", "d1d2"], sent_starts=[1, -1, 1])
    assert gold_starts([Example(split, reference)]).tolist() == [-1, 0, 0, 1, 0]


def test_the_reference_fills_what_the_predicted_doc_leaves_open():
    nlp = spacy.blank("xx")
    reference = doc_of(nlp.vocab, (3, 4, 3))  # starts at 0, 2, 3
    words = [token.text for token in reference]
    for marks in product([True, False, None], repeat=2):
        predicted = Doc(nlp.vocab, words=words, sent_starts=[None, *marks, None, None])
        expected = [True, marks[0] is True, marks[1] is not False, True, False]
        assert training_starts(Example(predicted, reference)).tolist() == expected


def test_docs_that_say_it_all_do_not_ask_the_segmenter(trained, monkeypatch):
    segmenter = trained.get_pipe("mtt_parser").model.get_ref("segmenter")
    monkeypatch.setattr(segmenter, "_func", lambda *_, **settings: pytest.fail("the segmenter ran"))
    doc = trained(Doc(trained.vocab, words="go she slept".split(), sent_starts=[True, True, False]))
    assert starts_of(doc) == [0, 1]


def test_a_sentencizer_before_it_decides(trained):
    nlp = spacy.blank("xx")
    nlp.add_pipe("sentencizer")
    nlp.add_pipe("mtt_parser", source=trained)
    assert starts_of(nlp("go . she slept . go")) == [0, 2, 5]


def test_found_starts_are_those_of_words_that_are_not_marked():
    nlp = spacy.blank("xx")
    doc = Doc(nlp.vocab, words=["a", "b", "\n", "c", "d"], sent_starts=[None, None, None, False, True])
    assert sentence_starts(doc, np.ones(5, dtype=bool)).tolist() == [True, True, False, False, True]
    assert sentence_starts(doc).tolist() == [True, False, False, False, True]


def test_gradient_of_the_segmenter_and_its_loss_by_differences():
    model = chain(noop(), build_sentence_starts(hidden_width=5, dropout=0.0))
    rng = np.random.default_rng(0)
    X = [rng.normal(size=(n, 4)).astype(np.float32) for n in (3, 1, 4)]
    gold = np.array([1, 0, -1, 1, -1, 0, 0, 1])
    model.initialize(X=X)
    for node in model.walk():
        for name in node.param_names:
            node.set_param(name, rng.normal(size=node.get_param(name).shape).astype(np.float32))

    def loss(inputs) -> float:
        return logistic_loss(np, np.concatenate(model.predict(inputs)).ravel().astype(np.float64), gold)[0]

    scores, backprop = model.begin_update(X)
    gradient = logistic_loss(np, np.concatenate(scores).ravel(), gold)[1].astype(np.float32)
    d_inputs = backprop(NumpyOps().unflatten(gradient.reshape(-1, 1), [len(each) for each in X]))
    direction = [rng.normal(size=each.shape).astype(np.float32) for each in X]
    step = 1e-2
    moved = [loss([x + sign * step * d for x, d in zip(X, direction, strict=True)]) for sign in (1, -1)]
    expected = sum(float((d * g).sum()) for d, g in zip(direction, d_inputs, strict=True))
    assert (moved[0] - moved[1]) / (2 * step) == pytest.approx(expected, rel=2e-2)
    assert np.isfinite(logistic_loss(np, np.array([1e4, -1e4]), np.array([0, 1]))[0])
