import pytest
import spacy
from spacy.tokens import Doc
from spacy.training import Example

from spacy_mtt.pipeline.scorer import score_parses
from tests.pipeline.helpers import TINY, examples, trained_parser

SCORER = {"@scorers": "spacy_mtt.parser_scorer.v1"}


def example(words: str, gold, predicted) -> Example:
    vocab = spacy.blank("xx").vocab
    docs = [Doc(vocab, words=words.split(), heads=heads, deps=labels.split()) for heads, labels in (predicted, gold)]
    return Example(*docs)


def test_three_rule_sets_side_by_side():
    # Four words, the last a full stop. Wrong: the label of "b" (by its subtype alone), the head of ".".
    gold = ([1, 1, 1, 1], "nsubj ROOT obj:x punct")
    predicted = ([1, 1, 1, 0], "nsubj ROOT obj:y punct")
    scores = score_parses([example("a saw b .", gold, predicted)])
    assert scores["dep_uas"] == 1 and scores["dep_las"] == pytest.approx(2 / 3)  # spaCy: no punctuation, whole labels
    assert scores["dep_uas_conllx"] == 1 and scores["dep_las_conllx"] == pytest.approx(2 / 3)
    assert scores["dep_uas_ud"] == pytest.approx(3 / 4)  # all words
    assert scores["dep_las_ud"] == pytest.approx(3 / 4)  # labels without subtypes


def test_rule_sets_that_do_not_apply_are_none():
    vocab = spacy.blank("xx").vocab
    gold = Doc(vocab, words=["ab", "c"], spaces=[True, False], heads=[0, 0], deps=["ROOT", "x"])
    spaces, labels = [False, True, False], ["ROOT", "x", "x"]
    predicted = Doc(vocab, words=["a", "b", "c"], spaces=spaces, heads=[0, 0, 0], deps=labels)
    scores = score_parses([Example(predicted, gold)])
    assert scores["dep_uas_conllx"] is None and scores["dep_uas_ud"] is not None


def test_as_the_scorer_of_a_pipeline():
    scores = trained_parser(scorer=SCORER)
    assert {"dep_las", "dep_las_conllx", "dep_las_ud", "sents_f"} <= set(scores.evaluate(examples(scores)))
    nlp = spacy.blank("xx")
    nlp.add_pipe("mtt_parser", config={**TINY, "scorer": None})
    nlp.initialize(lambda: examples(nlp))
    assert "dep_las" not in nlp.evaluate(examples(nlp))
