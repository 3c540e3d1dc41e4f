"""Scores by three rule sets, which are never mixed: CoNLL-X, Universal Dependencies, spaCy."""

from spacy_mtt.treebanks.evaluation.conllx import evaluate_conllx
from spacy_mtt.treebanks.evaluation.nonprojective import evaluate_nonprojective
from spacy_mtt.treebanks.evaluation.results import Evaluation, EvaluationError, format_table
from spacy_mtt.treebanks.evaluation.spacy_rules import evaluate_spacy, examples_from
from spacy_mtt.treebanks.evaluation.ud import evaluate_ud

__all__ = [
    "Evaluation",
    "EvaluationError",
    "evaluate_conllx",
    "evaluate_nonprojective",
    "evaluate_spacy",
    "evaluate_ud",
    "examples_from",
    "format_table",
]
