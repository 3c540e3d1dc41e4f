"""Documents of every shape: sentences, whitespace, empty docs, partial gold, several roots."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from spacy.tokens import Doc
from spacy.training import Example

from spacy_mtt.pipeline.annotate import Parse, write_parses
from spacy_mtt.pipeline.gold import gold_trees
from spacy_mtt.pipeline.segmentation import sentence_starts, training_starts, units_of
from spacy_mtt.pipeline.training_data import count_labels
from tests.pipeline.helpers import examples, gold_doc, random_parser

NLP = random_parser()
MULTI_ROOT = random_parser(decoder={"@misc": "spacy_mtt.ChuLiuEdmonds.v1", "single_root": False})
WORDS = st.lists(st.sampled_from(["cat", "dog", "saw", " ", "\n\n", "the", "."]), max_size=25)


@st.composite
def docs(draw):
    words = draw(WORDS)
    starts = draw(st.lists(st.sampled_from([True, False, None]), min_size=len(words), max_size=len(words)))
    return words, starts


@pytest.mark.parametrize("nlp", [NLP, MULTI_ROOT], ids=["single-root", "multi-root"])
@given(drawn=docs())
@settings(max_examples=150, deadline=None)
def test_any_document_gets_valid_trees(nlp, drawn):
    words, starts = drawn
    doc = Doc(nlp.vocab, words=words, spaces=[False] * len(words), sent_starts=starts)
    before = [token.is_sent_start for token in doc]
    doc = nlp(doc)
    after = [token.is_sent_start for token in doc]
    for was, now in zip(before[1:], after[1:], strict=True):
        assert was is None or was == now  # boundaries that were set stay
    if nlp is NLP and words:
        assert [now for now in after[1:]] == [was is True for was in before[1:]]
    for sent in doc.sents:
        roots = [token for token in sent if token.head == token]
        assert len(roots) == 1
        assert all(token.head in sent for token in sent)
        assert set(sent) == {roots[0], *(t for t in sent if roots[0] in t.ancestors)}  # no cycle
        if any(not token.is_space for token in sent):
            assert not any(child.is_space and child.n_lefts + child.n_rights for child in sent)
            assert not roots[0].is_space
    heads = doc._.mtt["heads"]
    assert [head == -1 for head in heads] == [token.is_space for token in doc]
    assert all(token.dep for token in doc)


@pytest.mark.parametrize("texts", [["", "a", " ", ""], ["", ""], [" "], ["a"], []])
@pytest.mark.parametrize("batch_size", [1, 2, 4])
def test_empty_documents(texts, batch_size):
    parsed = list(NLP.pipe(texts, batch_size=batch_size))
    assert [doc.text for doc in parsed] == texts
    for doc in parsed:
        assert len(list(doc.sents)) == (1 if len(doc) else 0)


def test_update_on_empty_documents():
    nlp = random_parser()
    optimizer = nlp.create_optimizer()
    blanks = [Example(Doc(nlp.vocab, words=w), Doc(nlp.vocab, words=w)) for w in ([], [" "], ["\n", " "])]
    assert nlp.update(blanks, sgd=optimizer) == {"mtt_parser": 0.0}
    loss = nlp.update([blanks[0], *examples(nlp), blanks[1]], sgd=optimizer)["mtt_parser"]
    assert loss == pytest.approx(random_parser().update(examples(nlp))["mtt_parser"], rel=1e-5)


def test_a_doc_without_boundaries_is_one_sentence():
    doc = NLP("the cat saw a dog . the dog saw a cat .")
    assert len(list(doc.sents)) == 1
    assert [token.head == token for token in doc].count(True) == 1


def test_whitespace_hangs_from_the_word_before_it():
    doc = NLP(" the  cat \n saw ")
    assert [(token.head.text, token.dep_) for token in doc if token.is_space] == [
        ("the", "dep"),
        ("the", "dep"),
        ("cat", "dep"),
    ]


# ---- several roots


def parse(doc: Doc, heads: list[int]) -> Doc:
    labels = [doc.vocab.strings.add("ROOT" if head == 0 else "dep") for head in heads]
    parse = Parse(np.array(heads, dtype=np.int32), np.array(labels, dtype=np.uint64), sentence_starts(doc))
    write_parses([doc], [parse])
    return doc


def test_roots_side_by_side_become_sentences():
    doc = parse(Doc(NLP.vocab, words="a b c d".split()), [2, 0, 0, 3])
    assert [sent.text for sent in doc.sents] == ["a b", "c d"]
    assert doc._.mtt["heads"].tolist() == [2, 0, 0, 3]


def test_roots_that_interleave_stay_one_sentence():
    doc = parse(Doc(NLP.vocab, words="a b c d".split()), [0, 0, 1, 2])
    assert [sent.text for sent in doc.sents] == ["a b c d"]
    assert [(token.head.i, token.dep_) for token in doc] == [(0, "ROOT"), (0, "ROOT"), (0, "dep"), (1, "dep")]
    assert doc._.mtt["heads"].tolist() == [0, 0, 1, 2]


def test_roots_never_break_a_boundary_that_was_set():
    doc = Doc(NLP.vocab, words="a b c d".split(), sent_starts=[True, False, False, False])
    doc = parse(doc, [2, 0, 0, 3])
    assert [sent.text for sent in doc.sents] == ["a b c d"]
    assert doc._.mtt["heads"].tolist() == [2, 0, 0, 3]


# ---- gold


def gold_heads(reference: Doc, predicted: Doc) -> list[int]:
    example = Example(predicted, reference)
    return gold_trees([example], units_of([predicted], [training_starts(example)])).heads.tolist()


def test_gold_is_cut_to_the_sentences_of_the_predicted_doc():
    reference = gold_doc(NLP.vocab, ("a b c d", [1, 2, 2, 1], "x x ROOT x"))
    predicted = Doc(NLP.vocab, words="a b c d".split(), sent_starts=[True, False, True, False])
    assert gold_heads(reference, predicted) == [2, -1, 0, -1]  # heads in the other sentence are not known


def test_gold_boundaries_serve_where_the_doc_has_none():
    reference = Doc(NLP.vocab, words="a b c d".split(), heads=[1, 1, 2, 2], deps=["x", "ROOT", "ROOT", "x"])
    assert gold_heads(reference, Doc(NLP.vocab, words="a b c d".split())) == [2, 0, 0, 1]


def test_tokens_without_label_are_not_annotated():
    reference = Doc(NLP.vocab, words="a b c".split(), heads=[1, 1, 1], deps=["x", "ROOT", ""])
    assert gold_heads(reference, Doc(NLP.vocab, words="a b c".split())) == [2, 0, -1]


def test_merged_and_split_tokens():
    reference = gold_doc(NLP.vocab, ("a b c", [1, 1, 1], "x ROOT y"))
    merged = Doc(NLP.vocab, words=["ab", "c"], spaces=[True, False])
    reference_spaces = Doc(
        NLP.vocab, words="a b c".split(), spaces=[False, True, False], heads=[1, 1, 1], deps=["x", "ROOT", "y"]
    )
    assert gold_heads(reference_spaces, merged) == [-1, 1]  # "ab" is two gold tokens, "c" hangs from one of them
    split = Doc(NLP.vocab, words=["a", "b", "c1", "c2"], spaces=[True, True, False, False])
    reference = Doc(NLP.vocab, words=["a", "b", "c1c2"], heads=[1, 1, 1], deps=["x", "ROOT", "y"])
    assert gold_heads(reference, split) == [2, 0, 2, 2]


def test_unannotated_sentence_has_no_gradient():
    nlp = random_parser()
    words = "the cat saw a dog".split()
    example = Example(Doc(nlp.vocab, words=words), Doc(nlp.vocab, words=words))
    parser = nlp.get_pipe("mtt_parser")
    units = units_of([example.predicted])
    scores, _ = parser.model.begin_update(([example.predicted], units))
    loss, gradients = parser.get_loss([example], scores)
    assert loss == pytest.approx(0, abs=1e-9)
    assert all(np.abs(gradient).max() < 1e-9 for gradient in gradients.arcs)
    assert not gradients.labels_at.any()


def test_half_annotated_sentence_learns_its_half():
    nlp = random_parser()
    words = "the cat saw a small dog".split()
    reference = Doc(nlp.vocab, words=words, heads=[1, 2, 2, 5, 5, 2], deps=["det", "nsubj", "", "", "amod", ""])
    data = [Example(Doc(nlp.vocab, words=words), reference)]
    optimizer = nlp.resume_training()
    for _ in range(60):
        losses = nlp.update(data, sgd=optimizer)
    assert losses["mtt_parser"] < 0.1
    doc = nlp(" ".join(words))
    for place in (0, 1, 4):
        assert (doc[place].head.i, doc[place].dep_) == (reference[place].head.i, reference[place].dep_)
    assert all(token.dep_ for token in doc)


def test_conflicts_and_gaps_are_reported_once(caplog):
    nlp = random_parser()
    data = examples(nlp, [("a b c", [0, 1, 1], "ROOT ROOT x"), ("a b", [1, 1], "x ROOT")])
    for example in data:
        example.predicted[1].is_sent_start = False  # one sentence, whatever the gold says
    data[1].reference[0].dep_ = ""
    parser = nlp.get_pipe("mtt_parser")
    with caplog.at_level("INFO", logger="spacy"):
        count_labels(data, parser.objective.space, parser.name)
    assert "mtt_parser: 1 of 5 words have no gold head" in caplog.text
    assert "1 of 2 gold sentences have roots or crossing arcs" in caplog.text
