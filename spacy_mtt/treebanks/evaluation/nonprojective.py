"""How well non-projective arcs are found."""

from __future__ import annotations

from collections.abc import Iterable

from spacy_mtt.treebanks.evaluation.conllx import paired
from spacy_mtt.treebanks.evaluation.results import Evaluation, percent
from spacy_mtt.treebanks.sentence import TreebankSentence
from spacy_mtt.treebanks.statistics import nonprojective_arcs


def evaluate_nonprojective(gold: Iterable[TreebankSentence], predicted: Iterable[TreebankSentence]) -> Evaluation:
    """Precision and recall of unlabelled non-projective arcs; all words count.

    An arc (h, d) is non-projective iff some word between h and d does not descend from h; root arcs never
    are. Precision: of the non-projective arcs of the predicted trees, those that are arcs of the gold tree.
    Recall: of the non-projective arcs of the gold trees, those that are arcs of the predicted tree. Words
    without a gold head are left out of both.

    Raises EvaluationError if the words differ.
    """
    found = found_right = wanted = wanted_right = 0
    for gold_sentence, predicted_sentence in paired(gold, predicted):
        right = gold_sentence.heads == predicted_sentence.heads
        annotated = gold_sentence.heads >= 0
        in_gold = nonprojective_arcs(gold_sentence.heads)
        in_predicted = nonprojective_arcs(predicted_sentence.heads) & annotated
        wanted += int(in_gold.sum())
        wanted_right += int((in_gold & right).sum())
        found += int(in_predicted.sum())
        found_right += int((in_predicted & right).sum())
    precision, recall = percent(found_right, found), percent(wanted_right, wanted)
    return Evaluation(
        "non-projective arcs",
        {"precision": precision, "recall": recall},
        {
            "predicted arcs": found,
            "correct predicted arcs": found_right,
            "gold arcs": wanted,
            "recovered gold arcs": wanted_right,
        },
    )
