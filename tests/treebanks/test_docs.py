import numpy as np
import pytest
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab

from spacy_mtt.treebanks.docs import USER_DATA_KEY, blank_doc, sentence_to_doc, sentences_to_doc, spaces_of
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.from_docs import doc_to_sentences
from tests.treebanks.samples import CONLLU_TEXT, CONLLX_TEXT, conllx_sentence, sentence, sentences


@pytest.fixture
def vocab():
    return Vocab()


@pytest.fixture
def mtt():
    """`doc._.mtt`, as the parser component registers it."""
    registered = Doc.has_extension("mtt")
    if not registered:
        Doc.set_extension("mtt", default=None)
    yield
    if not registered:
        Doc.remove_extension("mtt")


def text_of(found):
    return "".join(map(str, found))


def test_attributes(vocab):
    doc = sentence_to_doc(sentences(CONLLU_TEXT)[0], vocab)
    assert [token.text for token in doc] == ["Vamos", "nos", "a", "el", "mar", "10 000", "_", "."]
    assert doc.text == "Vamosnos ael" + "mar10 000 _." + " "
    assert [token.lemma_ for token in doc][:2] == ["ir", "nosotros"] and doc[6].lemma_ == "_"
    assert [token.pos_ for token in doc][:2] == ["VERB", "PRON"]
    assert [token.tag_ for token in doc][:2] == ["V", ""]
    assert str(doc[1].morph) == "Case=Acc,Dat|Number=Plur" and str(doc[6].morph) == ""
    assert [token.head.i for token in doc] == [0, 0, 4, 4, 0, 4, 0, 0]
    assert doc[0].dep_ == "root" and doc[4].dep_ == "obl:arg"
    assert len(list(doc.sents)) == 1


def test_spaces():
    first = sentences(CONLLU_TEXT)[0]
    assert spaces_of(first) == [False, True, False, False, False, True, False, True]


def test_conllx_attributes(vocab):
    first, second = (sentence_to_doc(each, vocab) for each in sentences(CONLLX_TEXT, "conllx"))
    assert first.has_unknown_spaces
    assert [token.tag_ for token in first] == ["Adv", "PronPer", "V", "Punc"]
    assert [token.pos_ for token in first] == ["", "", "", ""]
    assert [token.pos_ for token in second] == ["ADJ", ""]
    assert not first.has_annotation("MORPH")  # "eigen|ev" does not read as name=value
    assert [token.has_head() for token in first] == [True] * 4 and first[3].dep_ == "_"
    assert [token.has_head() for token in second] == [True, False]


@pytest.mark.parametrize("text, format", [(CONLLU_TEXT, "conllu"), (CONLLX_TEXT, "conllx")])
@pytest.mark.parametrize("sents_per_doc", [1, 2])
def test_nothing_is_lost(vocab, text, format, sents_per_doc):
    gold = sentences(text, format)
    docs = [sentences_to_doc(gold[i : i + sents_per_doc], vocab) for i in range(0, len(gold), sents_per_doc)]
    assert text_of(each for doc in docs for each in doc_to_sentences(doc)) == text
    from_bytes = [Doc(Vocab()).from_bytes(doc.to_bytes()) for doc in docs]
    assert text_of(each for doc in from_bytes for each in doc_to_sentences(doc)) == text
    docbin = DocBin().from_bytes(DocBin(docs=docs, store_user_data=True).to_bytes())
    assert text_of(each for doc in docbin.get_docs(Vocab()) for each in doc_to_sentences(doc)) == text


@pytest.mark.parametrize(
    "heads",
    [
        [0],
        [-1],
        [-1, -1, -1],
        [0, 0, 0],
        [0, -1, 1],
        [-1, 0, 2],
        [3, 4, 0, 0],
        [0, 0, 1, 2, 1],
        [2, 0, 2, 2, -1],
    ],
)
@pytest.mark.parametrize("root", ["root", "ROOT", "_", "UTT"])
def test_all_kinds_of_trees_without_the_kept_text(vocab, heads, root):
    """Several roots (also interleaved ones) and unannotated words, from the Doc's own attributes."""
    labels = [root if head == 0 else "_" if head < 0 else "x" for head in heads]
    gold = sentence(heads, labels)
    doc = sentence_to_doc(gold, vocab)
    assert text_of(doc_to_sentences(doc)) == str(gold)
    del doc.user_data[USER_DATA_KEY]
    assert [token.has_head() for token in doc] == [head >= 0 for head in heads]
    offset, found_heads, found_labels = 0, [], []
    for each in doc_to_sentences(doc):
        found_heads += [head + offset if head > 0 else head for head in each.heads.tolist()]
        found_labels += each.deprels
        offset += len(each)
    assert found_heads == heads
    assert found_labels == labels


def test_the_current_annotation_is_written(vocab):
    first, second = sentences(CONLLU_TEXT)
    doc = sentences_to_doc([first, second], vocab)
    doc[1].head, doc[1].dep_ = doc[4], "iobj"
    doc[4].lemma_ = "sea"
    doc[5].tag_ = "N"
    doc[6].pos_ = "NOUN"
    doc[2].set_morph("B=1|A=2")
    found, unchanged = doc_to_sentences(doc)
    assert str(unchanged) == str(second)
    assert found.comments == first.comments and found.ranges == first.ranges
    expected = [list(row) for row in first.rows]
    expected[1][6:8] = ["5", "iobj"]
    expected[4][2], expected[5][4], expected[6][3], expected[2][5] = "sea", "N", "NOUN", "A=2|B=1"
    for row in expected:
        row[8] = "_"
    assert [list(row) for row in found.rows] == expected


def test_blank_doc_shows_no_gold(vocab):
    gold = sentences(CONLLU_TEXT)
    doc = blank_doc(gold, vocab)
    assert not doc.has_annotation("DEP") and not doc.has_annotation("TAG") and not doc.has_annotation("LEMMA")
    assert [token.is_sent_start for token in doc] == [True] + [False] * 7 + [True]
    first, second = doc_to_sentences(doc)
    assert set(first.heads) == {-1} and set(first.deprels) == {"_"}
    assert {cell for row in first.rows for cell in row[3:6]} == {"_"}
    assert {row[2] for row in first.rows} == {"_"}
    assert len(second) == 1
    tagged = blank_doc(gold, vocab, gold_tags=True, gold_sents=False)
    assert tagged[0].tag_ == "V" and tagged[0].lemma_ == "ir" and tagged[0].pos_ == "VERB"
    assert str(tagged[0].morph) == "Mood=Imp|Number=Plur"
    assert {token.is_sent_start for token in tagged} == {True, None}


def test_mtt_attribute_wins(vocab, mtt):
    gold = conllx_sentence([0, 1, 1, 1], ["root", "a", "b", "c"])
    doc = blank_doc([gold, gold], vocab)
    labels = [vocab.strings.add(label) for label in ("R", "x", "R", "y")]
    doc._.mtt = {
        "heads": np.array([0, 3, 0, 1, 0, 7, -1, 5], dtype=np.int32),
        "labels": np.array([*labels, *labels[:2], 0, labels[3]], dtype=np.uint64),
    }
    first, second = doc_to_sentences(doc)
    assert first.heads.tolist() == [0, 3, 0, 1] and first.deprels == ["R", "x", "R", "y"]
    assert second.heads.tolist() == [0, 3, -1, 1] and second.deprels == ["R", "x", "_", "y"]
    doc._.mtt = {"heads": np.zeros(3), "labels": np.zeros(3)}
    with pytest.raises(TreebankError, match=r"doc\._\.mtt"):
        doc_to_sentences(doc)


def test_arcs_across_the_boundaries_of_the_file(vocab):
    first, second = sentences(CONLLU_TEXT)
    doc = sentences_to_doc([first, second], vocab)
    doc[8].head, doc[8].dep_ = doc[0], "discourse"
    (joined,) = doc_to_sentences(doc)
    assert len(joined) == 9 and joined.heads.tolist() == [*first.heads.tolist(), 1]
    assert joined.ranges == first.ranges and joined.comments == []
    assert [row[0] for row in joined.rows] == [str(i) for i in range(1, 10)]


def test_boundaries_of_the_doc(vocab):
    gold = sentences(CONLLU_TEXT)
    words = [form for each in gold for form in each.forms]
    kept = sentences_to_doc(gold, vocab).user_data
    heads = [0, 0, 4, 4, 4, 4, 4, 6, 8]
    doc = Doc(vocab, words=words, heads=heads, deps=["a"] * 9, user_data=kept)
    found = doc_to_sentences(doc, doc_sents=True)
    assert [each.heads.tolist() for each in found] == [[0, 1], [3, 3, 0, 3, 3, 5], [0]]
    assert [[(r.first, r.last, r.form) for r in each.ranges] for each in found] == [
        [(1, 2, "Vámonos")],
        [(1, 2, "al")],
        [],
    ]
    assert [each.heads.tolist() for each in doc_to_sentences(doc)] == [[0, 1, 5, 5, 0, 5, 5, 7], [0]]


def test_changed_tokens_make_the_kept_text_void(vocab):
    doc = sentence_to_doc(sentences(CONLLU_TEXT)[0], vocab)
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
    (found,) = doc_to_sentences(doc)
    assert found.forms[2] == "ael" and not found.ranges


def test_docs_from_elsewhere(vocab):
    doc = Doc(
        vocab,
        words=["Hi", ",", "\n", "you", "!", "Bye"],
        spaces=[False, True, False, False, True, False],
        heads=[0, 2, 0, 0, 3, 5],
        deps=["ROOT", "punct", "dep", "x", "punct", "ROOT"],
        pos=["INTJ", "PUNCT", "SPACE", "PRON", "PUNCT", "INTJ"],
    )
    first, second = doc_to_sentences(doc)
    assert str(first) == (
        "1\tHi\t_\tINTJ\t_\t_\t0\tROOT\t_\tSpaceAfter=No\n"
        "2\t,\t_\tPUNCT\t_\t_\t1\tpunct\t_\t_\n"
        "3\tyou\t_\tPRON\t_\t_\t1\tx\t_\tSpaceAfter=No\n"
        "4\t!\t_\tPUNCT\t_\t_\t3\tpunct\t_\t_\n\n"
    )
    assert str(second) == "1\tBye\t_\tINTJ\t_\t_\t0\tROOT\t_\t_\n\n"
    assert doc_to_sentences(doc, "conllx")[1].format.name == "conllx"


def test_space_as_root(vocab):
    doc = Doc(vocab, words=[" ", "a", "b", "\t"], heads=[0, 0, 0, 0], deps=["ROOT", "x", "y", "dep"])
    (found,) = doc_to_sentences(doc)
    assert found.heads.tolist() == [0, 1] and found.forms == ["a", "b"]


def test_docs_without_words_or_trees(vocab):
    assert doc_to_sentences(Doc(vocab)) == []
    assert doc_to_sentences(Doc(vocab, words=[" ", "\n"])) == []
    (found,) = doc_to_sentences(Doc(vocab, words=["a", "b"]))
    assert found.heads.tolist() == [-1, -1] and found.rows[0][9] == "_"
    assert len(sentences_to_doc([], vocab)) == 0


def test_unwritable_tokens(vocab):
    with pytest.raises(TreebankError, match="tab or a line break"):
        doc_to_sentences(Doc(vocab, words=["a\tb"]))
