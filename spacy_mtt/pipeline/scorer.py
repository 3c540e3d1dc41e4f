"""`spacy_mtt.parser_scorer.v1`: spaCy's scores of a parser, with those of two other rule sets beside them."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from spacy.pipeline.dep_parser import parser_score
from spacy.training import Example

from spacy_mtt.treebanks.evaluation import EvaluationError, evaluate_conllx, evaluate_ud
from spacy_mtt.treebanks.from_docs import doc_to_sentences

RULES = {"conllx": evaluate_conllx, "ud": evaluate_ud}


def make_parser_scorer() -> Callable[..., dict[str, Any]]:
    """A scorer that gives what `spacy.parser_scorer.v1` gives, and `dep_uas_conllx`, `dep_las_conllx` by the rules of
    CoNLL-X, `dep_uas_ud`, `dep_las_ud` by those of Universal Dependencies, between 0 and 1.

    They are None where a rule set does not accept the documents: CoNLL-X wants the same tokens and sentences,
    Universal Dependencies one root in each sentence.
    """
    return score_parses


def score_parses(examples: Iterable[Example], **kwargs) -> dict[str, Any]:
    examples = list(examples)
    scores = parser_score(examples, **kwargs)
    gold = [sentence for example in examples for sentence in doc_to_sentences(example.reference)]
    predicted = [sentence for example in examples for sentence in doc_to_sentences(example.predicted)]
    for name, evaluate in RULES.items():
        try:
            found = evaluate(gold, predicted).scores
        except EvaluationError:
            found = {}
        for metric in ("UAS", "LAS"):
            value = found.get(metric)
            scores[f"dep_{metric.lower()}_{name}"] = None if value is None else value / 100
    return scores
