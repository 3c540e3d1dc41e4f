"""The rules of spaCy's own scorer."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from spacy.pipeline.dep_parser import parser_score
from spacy.training import Example
from spacy.vocab import Vocab

from spacy_mtt.treebanks.docs import sentences_to_doc
from spacy_mtt.treebanks.evaluation.alignment import check_same_text
from spacy_mtt.treebanks.evaluation.results import Evaluation
from spacy_mtt.treebanks.sentence import TreebankSentence


def evaluate_spacy(examples: Iterable[Example]) -> Evaluation:
    """UAS, LAS and sentences as spaCy's `parser_scorer` gives them, in percent.

    Labels are lower-cased; tokens whose label is `p` or `punct` and tokens of white space are left out;
    F-scores over aligned tokens. A predicted label other than `punct` on a gold `punct` counts as a false
    positive for UAS as well.
    """
    examples = list(examples)
    results = parser_score(examples)
    names = {"UAS": "dep_uas", "LAS": "dep_las", "sentences": "sents_f"}
    scores = {name: _percent(results.get(key)) for name, key in names.items()}
    return Evaluation("spaCy", scores, {"tokens": sum(len(each.predicted) for each in examples)})


def _percent(value: float | None) -> float | None:
    return None if value is None else 100 * value


def examples_from(
    gold: Sequence[TreebankSentence], predicted: Sequence[TreebankSentence], vocab: Vocab
) -> list[Example]:
    """Examples from two treebanks of one text: one for each sentence, or one for all if the sentences differ.

    Raises EvaluationError if the words of the two do not make up the same text, as spaCy cannot align them.
    """
    if [each.forms for each in gold] == [each.forms for each in predicted]:
        groups = [([left], [right]) for left, right in zip(gold, predicted, strict=True)]
    else:
        check_same_text(_text(gold), _text(predicted))
        groups = [(gold, predicted)]
    return [Example(sentences_to_doc(right, vocab), sentences_to_doc(left, vocab)) for left, right in groups]


def _text(sentences: Sequence[TreebankSentence]) -> str:
    """All words in a row, without white space."""
    return "".join(part for sentence in sentences for form in sentence.forms for part in form.split())
