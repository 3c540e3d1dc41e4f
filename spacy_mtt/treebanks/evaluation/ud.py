"""The rules of the CoNLL 2018 shared task on Universal Dependencies (Zeman et al. 2018)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from spacy_mtt.inference.trees import find_cycle
from spacy_mtt.treebanks.evaluation.alignment import align_words, read_words
from spacy_mtt.treebanks.evaluation.results import Evaluation, EvaluationError, percent
from spacy_mtt.treebanks.sentence import TreebankSentence

# fmt: off
CONTENT_RELATIONS = frozenset([
    "nsubj", "obj", "iobj", "csubj", "ccomp", "xcomp", "obl", "vocative", "expl", "dislocated", "advcl",
    "advmod", "discourse", "nmod", "appos", "nummod", "acl", "amod", "conj", "fixed", "flat", "compound",
    "list", "parataxis", "orphan", "goeswith", "reparandum", "root", "dep",
])
# fmt: on
_NOT_ALIGNED = -1
_ROOT = -2


def evaluate_ud(gold: Iterable[TreebankSentence], predicted: Iterable[TreebankSentence]) -> Evaluation:
    """UAS, LAS, CLAS, words and sentences as F1 over all words, punctuation included, aligned by characters.

    Labels are cut at the first ":". CLAS scores words whose label is one of UD v2's content relations
    (CONTENT_RELATIONS; labels of UD v1 that v2 dropped, as `dobj`, are not among them). The head of a word is
    right if the predicted head is aligned with the gold head. Tokenisation and sentence boundaries may
    differ, the text may not.

    Raises EvaluationError, as the official evaluator rejects a file, if a sentence of either side has a
    cycle, no root, several roots or a word without a head, or if the texts differ. O(n) for equal tokens.
    """
    gold, predicted = list(gold), list(predicted)
    for name, sentences in (("gold", gold), ("predicted", predicted)):
        for number, sentence in enumerate(sentences, 1):
            _check_tree(sentence, f"sentence {number} of {name}{sentence.at}")
    gold_words, predicted_words = read_words(gold), read_words(predicted)
    pairs = align_words(gold_words, predicted_words)
    gold_heads, gold_labels = _global_tree(gold)
    heads, labels = _global_tree(predicted)
    gold_of = {j: i for i, j in pairs}
    gold_of[_ROOT] = _ROOT
    right_head = [gold_of.get(heads[j], _NOT_ALIGNED) == gold_heads[i] for i, j in pairs]
    right_both = [right_head[k] and labels[j] == gold_labels[i] for k, (i, j) in enumerate(pairs)]

    def totals(keep: Callable[[str], bool]) -> tuple[int, int]:
        return sum(map(keep, gold_labels)), sum(map(keep, labels))

    content = CONTENT_RELATIONS.__contains__
    content_totals = totals(content)
    content_correct = sum(right_both[k] for k, (i, _) in enumerate(pairs) if content(gold_labels[i]))
    word_totals = len(gold_labels), len(labels)
    same_sentences = len(set(gold_words.sentences) & set(predicted_words.sentences))
    return Evaluation(
        "UD",
        {
            "UAS": _f1(sum(right_head), word_totals),
            "LAS": _f1(sum(right_both), word_totals),
            "CLAS": _f1(content_correct, content_totals),
            "words": _f1(len(pairs), word_totals),
            "sentences": _f1(same_sentences, (len(gold), len(predicted))),
        },
        {
            "gold words": word_totals[0],
            "predicted words": word_totals[1],
            "aligned words": len(pairs),
            "correct heads": sum(right_head),
            "correct heads and labels": sum(right_both),
            "gold content words": content_totals[0],
            "predicted content words": content_totals[1],
            "correct content words": content_correct,
        },
    )


def _f1(correct: int, totals: tuple[int, int]) -> float | None:
    return percent(2 * correct, sum(totals))


def _check_tree(sentence: TreebankSentence, place: str) -> None:
    """Raise EvaluationError unless the sentence is a tree with one root."""
    heads = sentence.heads
    if (heads < 0).any():
        raise EvaluationError(f"{place}: word {int(np.argmin(heads)) + 1} has no head")
    if (heads > len(heads)).any():
        word = int(np.argmax(heads))
        raise EvaluationError(f"{place}: the head {heads[word]} of word {word + 1} lies outside the sentence")
    if cycle := find_cycle(heads):
        names = " -> ".join(map(str, [*cycle[:8], "…" if len(cycle) > 8 else cycle[0]]))
        raise EvaluationError(f"{place}: the heads form a cycle ({names})")
    roots = (np.flatnonzero(heads == 0) + 1).tolist()
    if len(roots) > 1:
        names = ", ".join(map(str, roots[:5])) + (", …" if len(roots) > 5 else "")
        raise EvaluationError(f"{place}: {len(roots)} words are roots ({names}), Universal Dependencies allow one")


def _global_tree(sentences: Sequence[TreebankSentence]) -> tuple[list[int], list[str]]:
    """The head of every word as an index into all words (_ROOT for a root), and its label without subtype."""
    heads: list[int] = []
    labels: list[str] = []
    for sentence in sentences:
        offset = len(heads)
        heads += [offset + head - 1 if head else _ROOT for head in sentence.heads.tolist()]
        labels += [label.split(":", 1)[0] for label in sentence.deprels]
    return heads, labels
