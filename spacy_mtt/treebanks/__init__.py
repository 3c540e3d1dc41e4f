"""CoNLL-X and CoNLL-U treebanks: reading, writing, checking, evaluating.

What needs spaCy stands in modules of its own: `docs`, `from_docs`, `docbins`, `corpus`, `evaluation`,
`pipelines`.
"""

from spacy_mtt.treebanks.errors import Problem, TreebankError
from spacy_mtt.treebanks.reading import (
    TreebankReport,
    check_treebank,
    parse_treebank,
    read_conllu,
    read_conllx,
    read_treebank,
)
from spacy_mtt.treebanks.sentence import CONLLU, CONLLX, Format, TreebankSentence
from spacy_mtt.treebanks.statistics import TreebankStatistics, nonprojective_arcs
from spacy_mtt.treebanks.writing import write_conllu, write_conllx, write_treebank

__all__ = [
    "CONLLU",
    "CONLLX",
    "Format",
    "Problem",
    "TreebankError",
    "TreebankReport",
    "TreebankSentence",
    "TreebankStatistics",
    "check_treebank",
    "nonprojective_arcs",
    "parse_treebank",
    "read_conllu",
    "read_conllx",
    "read_treebank",
    "write_conllu",
    "write_conllx",
    "write_treebank",
]
