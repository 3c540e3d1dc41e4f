import pytest
import spacy
from spacy.language import Language
from spacy.tokens import Doc

from spacy_mtt.treebanks.evaluation import EvaluationError, evaluate_conllx, evaluate_ud
from spacy_mtt.treebanks.pipelines import parse_with
from tests.treebanks.samples import CONLLU_TEXT, sentence, sentences


@Language.component("test_chain", assigns=["token.dep", "token.head"])
def chain(doc):
    """Every token hangs on the one before, the first of a sentence is the root."""
    heads = [token.i if token.is_sent_start else token.i - 1 for token in doc]
    deps = ["ROOT" if token.is_sent_start else "dep" for token in doc]
    tags = [token.tag_ for token in doc]
    return Doc(doc.vocab, words=[t.text for t in doc], heads=heads, deps=deps, tags=tags, user_data=doc.user_data)


@Language.component("test_tags", assigns=["token.tag"])
def tags(doc):
    for token in doc:
        token.tag_ = "PREDICTED"
    return doc


@Language.component("test_sents", assigns=["doc.sents"])
def one_word_sentences(doc):
    for token in doc:
        token.is_sent_start = True
    return doc


@Language.component("test_broken", assigns=["token.dep"])
def broken(doc):
    raise KeyError("no such\nfeature")


@pytest.fixture
def nlp():
    nlp = spacy.blank("xx")
    for name in ("test_tags", "test_sents", "test_chain"):
        nlp.add_pipe(name)
    return nlp


GOLD = [sentence([0, 1, 1]), sentence([0, 1])]


def test_gold_boundaries(nlp):
    parsed = parse_with(nlp, GOLD, sents_per_doc=2)
    assert [each.heads.tolist() for each in parsed.sentences] == [[0, 1, 2], [0, 1]]
    assert parsed.sentences[0].deprels == ["root", "dep", "dep"]  # the treebank's spelling of ROOT
    assert parsed.words == 5 and parsed.words_per_second > 0
    assert {row[4] for each in parsed.sentences for row in each.rows} == {"PREDICTED"}
    # Four of five heads are right: word 3 of the first sentence hangs on word 1 in gold.
    assert evaluate_conllx(GOLD, parsed.sentences).scores["UAS"] == pytest.approx(80)
    assert nlp.pipe_names == ["test_tags", "test_sents", "test_chain"]


def test_gold_tags(nlp):
    parsed = parse_with(nlp, GOLD, gold_tags=True)
    assert {row[4] for each in parsed.sentences for row in each.rows} == {"X"}


def test_predicted_boundaries(nlp):
    parsed = parse_with(nlp, GOLD, gold_sents=False, sents_per_doc=2)
    assert [each.heads.tolist() for each in parsed.sentences] == [[0]] * 5
    assert evaluate_ud(GOLD, parsed.sentences).scores["UAS"] == pytest.approx(40)  # the two roots of five words


def test_other_root_labels_stay():
    nlp = spacy.blank("xx")
    nlp.add_pipe("test_chain")
    gold = [sentence([0, 1], ["UTT", "x"])]
    assert parse_with(nlp, gold).sentences[0].deprels == ["ROOT", "dep"]


def test_lines_around_the_words_stay():
    nlp = spacy.blank("xx")
    nlp.add_pipe("test_chain")
    gold = sentences(CONLLU_TEXT)
    parsed = parse_with(nlp, gold)
    assert parsed.sentences[0].comments == gold[0].comments
    assert parsed.sentences[0].ranges == gold[0].ranges
    assert evaluate_ud(gold, parsed.sentences).scores["words"] == 100


def test_errors():
    with pytest.raises(EvaluationError, match="needs a dependency parser"):
        parse_with(spacy.blank("xx"), GOLD)
    nlp = spacy.blank("xx")
    nlp.add_pipe("test_broken")
    with pytest.raises(EvaluationError, match="the pipeline fails: KeyError") as caught:
        parse_with(nlp, GOLD)
    assert "\n" not in str(caught.value)
