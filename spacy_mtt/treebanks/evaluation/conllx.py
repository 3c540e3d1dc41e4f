"""The rules of the CoNLL-X shared task (Buchholz & Marsi 2006, and its script eval.pl)."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from itertools import zip_longest

from spacy_mtt.treebanks.errors import quoted
from spacy_mtt.treebanks.evaluation.results import Evaluation, EvaluationError, percent
from spacy_mtt.treebanks.sentence import TreebankSentence


def is_punctuation(form: str) -> bool:
    """Whether all characters of `form` are of a Unicode class P*: `,` and `%` are, `$` and `-LRB-` not."""
    return all(unicodedata.category(character).startswith("P") for character in form)


def evaluate_conllx(
    gold: Iterable[TreebankSentence], predicted: Iterable[TreebankSentence], *, punctuation: bool = False
) -> Evaluation:
    """UAS, LAS and label accuracy over the words whose FORM is not punctuation (over all with `punctuation`).

    UAS: the head is right. LA: the whole DEPREL is right, whatever the head. LAS: both. Any number of roots
    is fine, as in eval.pl. Both must have the same sentences of the same forms, otherwise EvaluationError
    names the first difference.

    Two departures: eval.pl compares CPOSTAG too, here predicted tags may differ; and a gold word without
    annotation is not scored (count "unannotated"), while eval.pl would want a `_` from the parser. O(n).
    """
    scored = heads = labels = both = skipped = unannotated = 0
    for gold_sentence, predicted_sentence in paired(gold, predicted):
        words = zip(
            gold_sentence.forms,
            gold_sentence.heads.tolist(),
            predicted_sentence.heads.tolist(),
            gold_sentence.deprels,
            predicted_sentence.deprels,
            strict=True,
        )
        for form, gold_head, head, gold_label, label in words:
            if not punctuation and is_punctuation(form):
                skipped += 1
            elif gold_head < 0:
                unannotated += 1
            else:
                scored += 1
                heads += head == gold_head
                labels += label == gold_label
                both += head == gold_head and label == gold_label
    return Evaluation(
        "CoNLL-X",
        {"UAS": percent(heads, scored), "LAS": percent(both, scored), "LA": percent(labels, scored)},
        {
            "scored words": scored,
            "correct heads": heads,
            "correct labels": labels,
            "correct heads and labels": both,
            "punctuation": skipped,
            "unannotated": unannotated,
        },
    )


def paired(
    gold: Iterable[TreebankSentence], predicted: Iterable[TreebankSentence]
) -> Iterator[tuple[TreebankSentence, TreebankSentence]]:
    """Pairs of sentences of the same words. Raises EvaluationError at the first pair of other words."""
    for number, (left, right) in enumerate(zip_longest(gold, predicted), 1):
        if left is None or right is None:
            which = "gold" if left is None else "predicted"
            raise EvaluationError(f"the {which} treebank ends before sentence {number} of the other one")
        if len(left) != len(right):
            raise EvaluationError(
                f"sentence {number} has {len(left)} words in gold{left.at} and {len(right)} in predicted{right.at}"
            )
        for word, (gold_form, form) in enumerate(zip(left.forms, right.forms, strict=True), 1):
            if gold_form != form:
                raise EvaluationError(
                    f"word {word} of sentence {number} is {quoted(gold_form)} in gold{left.at} "
                    f"and {quoted(form)} in predicted{right.at}"
                )
        yield left, right
