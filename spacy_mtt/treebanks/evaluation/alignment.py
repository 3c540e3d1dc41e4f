"""Words of two tokenisations of one text, matched as the CoNLL 2018 shared task describes it.

The text is the concatenation of all tokens without white space; a token is a range of its characters. Words
that are tokens themselves match iff their ranges are equal. The words of multi-word tokens have no range of
their own: all multi-word tokens of both sides that share characters, directly or through others, form a span,
and the words that lie inside one span are matched by a longest common subsequence of their lower-cased forms
(https://universaldependencies.org/conll18/evaluation.html).

That is the shared task's description, and what its script does wherever tokens lie either inside a span or
outside. If a token sticks out of a span the script also compares words that are not completely inside; here
such words match nothing.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field

from spacy_mtt.treebanks.errors import quoted
from spacy_mtt.treebanks.evaluation.results import EvaluationError
from spacy_mtt.treebanks.sentence import TreebankSentence


@dataclass
class Words:
    """All words of a treebank over its text, as parallel lists: where the word's token starts and ends, its
    form, and whether it is part of a multi-word token.
    """

    text: str = ""
    starts: list[int] = field(default_factory=list)
    ends: list[int] = field(default_factory=list)
    forms: list[str] = field(default_factory=list)
    multiword: list[bool] = field(default_factory=list)
    sentences: list[tuple[int, int]] = field(default_factory=list)  # character ranges


def read_words(sentences: Sequence[TreebankSentence]) -> Words:
    """The words and the text of a treebank. Raises EvaluationError for a FORM of nothing but spaces. O(n)."""
    words = Words()
    texts: list[str] = []
    position = 0
    for sentence in sentences:
        sentence_start, inside_until = position, 0
        ranges = {each.first: each for each in sentence.ranges}
        for number, form in enumerate(sentence.forms, 1):
            if number > inside_until:
                token = ranges.get(number)
                text = _without_spaces(token.form if token else form, sentence)
                texts.append(text)
                start, position = position, position + len(text)
                inside_until = token.last if token else number
            words.starts.append(start)
            words.ends.append(position)
            words.forms.append(form if token else text)
            words.multiword.append(token is not None)
        words.sentences.append((sentence_start, position))
    words.text = "".join(texts)
    return words


def _without_spaces(form: str, sentence: TreebankSentence) -> str:
    """The FORM without spaces (Unicode class Zs), which are no part of the text."""
    text = "".join(character for character in form if unicodedata.category(character) != "Zs")
    if not text:
        raise EvaluationError(f"{sentence.place}: the form {quoted(form)} is nothing but white space")
    return text


def align_words(gold: Words, predicted: Words) -> list[tuple[int, int]]:
    """Pairs (gold index, predicted index) of matching words, increasing in both.

    Raises EvaluationError if the texts differ. O(n), and O(a b) for a span of a gold and b predicted words.
    """
    check_same_text(gold.text, predicted.text)
    spans = _multiword_spans(gold, predicted)
    starts = [start for start, _ in spans]
    gold_tokens, gold_inside = _assign(gold, spans, starts)
    predicted_tokens, predicted_inside = _assign(predicted, spans, starts)
    by_range = {(gold.starts[i], gold.ends[i]): i for i in gold_tokens}
    pairs = []
    for j in predicted_tokens:
        i = by_range.get((predicted.starts[j], predicted.ends[j]))
        if i is not None:
            pairs.append((i, j))
    for span, inside in gold_inside.items():
        others = predicted_inside.get(span, [])
        left = [gold.forms[i].lower() for i in inside]
        right = [predicted.forms[j].lower() for j in others]
        pairs += [(inside[a], others[b]) for a, b in common_subsequence(left, right)]
    return sorted(pairs)


def check_same_text(gold: str, predicted: str) -> None:
    """Raise EvaluationError, with the first difference, if two texts are not the same."""
    if gold == predicted:
        return
    both = zip(gold, predicted, strict=False)
    shorter = min(len(gold), len(predicted))
    at = next((i for i, (a, b) in enumerate(both) if a != b), shorter)
    left, right = (text[max(at - 10, 0) : at + 10] for text in (gold, predicted))
    raise EvaluationError(
        f"the texts differ at character {at + 1}: {quoted(left)} in gold, {quoted(right)} in predicted"
    )


def _multiword_spans(gold: Words, predicted: Words) -> list[tuple[int, int]]:
    """The smallest disjoint character ranges, in order, such that one holds each multi-word token."""
    tokens = sorted(
        {
            (words.starts[i], words.ends[i])
            for words in (gold, predicted)
            for i, inside in enumerate(words.multiword)
            if inside
        }
    )
    spans: list[tuple[int, int]] = []
    for start, end in tokens:
        if spans and start < spans[-1][1]:
            spans[-1] = (spans[-1][0], max(end, spans[-1][1]))
        else:
            spans.append((start, end))
    return spans


def _assign(words: Words, spans, starts) -> tuple[list[int], dict[int, list[int]]]:
    """The words that are tokens outside all spans, and those completely inside each span (by its number)."""
    outside: list[int] = []
    inside: dict[int, list[int]] = {}
    for i, (start, end) in enumerate(zip(words.starts, words.ends, strict=True)):
        span = bisect_right(starts, start) - 1
        if span >= 0 and end <= spans[span][1]:
            inside.setdefault(span, []).append(i)
        elif not words.multiword[i]:
            outside.append(i)
    return outside, inside


def common_subsequence(left: Sequence[str], right: Sequence[str]) -> list[tuple[int, int]]:
    """Index pairs of a longest common subsequence, the one that takes equal items early. O(a b)."""
    # best[a][b]: length of the longest common subsequence of left[a:] and right[b:]
    best = [[0] * (len(right) + 1) for _ in range(len(left) + 1)]
    for a in reversed(range(len(left))):
        for b in reversed(range(len(right))):
            equal = left[a] == right[b]
            best[a][b] = best[a + 1][b + 1] + 1 if equal else max(best[a + 1][b], best[a][b + 1])
    pairs, a, b = [], 0, 0
    while a < len(left) and b < len(right):
        if left[a] == right[b]:
            pairs.append((a, b))
            a, b = a + 1, b + 1
        elif best[a][b] == best[a + 1][b]:
            a += 1
        else:
            b += 1
    return pairs
