"""What a user knows of a parse before it is made: required heads and roots, forbidden arcs, labels, subtrees."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from spacy.tokens import Doc

from spacy_mtt.inference.distribution import TreeDistribution
from spacy_mtt.inference.labelled_spans import LabelledSpanTreeDistribution
from spacy_mtt.inference.spans import SpanTreeDistribution
from spacy_mtt.learning.tree_space import TreeSpace
from spacy_mtt.scoring.units import Units

from .labels import LabelSet

Distribution = TreeDistribution | SpanTreeDistribution | LabelledSpanTreeDistribution
KEYS = ("heads", "roots", "forbidden", "labels", "spans")
ROOT = -1


@dataclass(frozen=True)
class Constraint:
    """One of them, about the token `modifier`.

    head: a token or ROOT, of a required or a forbidden arc. label: of a label. span: its words, of a span, whose
    first word is the modifier. text: as error messages have it.
    """

    modifier: int
    text: str
    head: int | None = None
    forbidden: bool = False
    label: str | None = None
    span: tuple[int, ...] = ()


def has_constraints(doc: Doc) -> bool:
    """Whether any are set, without the cost of `doc._`."""
    return bool(doc.user_data.get(("._.", "mtt_constraints", None, None)))


def constraints_of(doc: Doc) -> list[Constraint]:
    """Those in `doc._.mtt_constraints`, a dict of

    heads: {token: its head}. roots: [token]. forbidden: [(head, token)], -1 for the root as head.
    labels: {token: its label}. spans: [(first token, last token + 1)] that are subtrees.

    Tokens are indices in the doc. ValueError, in one sentence, for anything else.
    """
    if not has_constraints(doc):
        return []
    given = doc._.mtt_constraints
    if not isinstance(given, Mapping) or not set(given) <= set(KEYS):
        raise ValueError(f"doc._.mtt_constraints must be a dict of {', '.join(KEYS)}, not {str(given)[:80]}")
    return list(_read(doc, given))


def _read(doc: Doc, given: Mapping[str, Any]) -> Iterator[Constraint]:
    for modifier, head in dict(given.get("heads", {})).items():
        m, h = _token(doc, modifier, "heads"), _token(doc, head, "heads")
        if m == h:
            raise ValueError(f"heads: token {m}, {doc[m].text!r}, cannot be its own head; a root stands in roots")
        yield Constraint(m, f"{_name(doc, m)} has the head {_name(doc, h)}", head=h)
    for modifier in given.get("roots", ()):
        m = _token(doc, modifier, "roots")
        yield Constraint(m, f"{_name(doc, m)} is a root", head=ROOT)
    for head, modifier in given.get("forbidden", ()):
        m, h = _token(doc, modifier, "forbidden"), ROOT if head == ROOT else _token(doc, head, "forbidden")
        what = "is no root" if h == ROOT else f"does not have the head {_name(doc, h)}"
        yield Constraint(m, f"{_name(doc, m)} {what}", head=h, forbidden=True)
    for modifier, label in dict(given.get("labels", {})).items():
        m = _token(doc, modifier, "labels")
        if not isinstance(label, str):
            raise ValueError(f"labels: the label of token {m} must be a text, not {label!r}")
        yield Constraint(m, f"{_name(doc, m)} has the label {label!r}", label=label)
    for start, end in given.get("spans", ()):
        words = tuple(token for token in _range(doc, start, end) if not doc[token].is_space)
        if words:
            yield Constraint(words[0], _subtree(doc, start, end), span=words)


def _token(doc: Doc, value: Any, key: str) -> int:
    if not isinstance(value, Integral) or not 0 <= value < len(doc):
        raise ValueError(f"{key}: {value!r} is no token of the doc, which has {len(doc)}")
    if doc[int(value)].is_space:
        raise ValueError(f"{key}: token {value} is whitespace, which has no place in a tree")
    return int(value)


def _range(doc: Doc, start: Any, end: Any) -> range:
    if not isinstance(start, Integral) or not isinstance(end, Integral) or not 0 <= start < end <= len(doc):
        raise ValueError(f"spans: {start!r} to {end!r} is no span of the doc, which has {len(doc)} tokens")
    return range(int(start), int(end))


def _subtree(doc: Doc, start: int, end: int) -> str:
    return f"{doc[start:end].text!r} (tokens {start} to {end - 1}) is a subtree"


def _name(doc: Doc, token: int) -> str:
    return f"{doc[token].text!r} (token {token})"


def without_starts_inside(found: np.ndarray, constraints: Iterable[Constraint]) -> np.ndarray:
    """Sentence starts that a model found, (n,) bool, without those that would part a token from its required head, or a
    span."""
    kept = found.copy()
    for each in constraints:
        if each.span:
            kept[each.span[0] + 1 : each.span[-1] + 1] = False
        elif each.head is not None and each.head != ROOT and not each.forbidden:
            kept[min(each.head, each.modifier) + 1 : max(each.head, each.modifier) + 1] = False
    return kept


class Conditions:
    """The constraints of a batch of docs, brought to its units.

    labels: (n_words,) the number of the label that a word must have, -1 where none is set. spaces: the tree spaces in
    which the constraints of a unit must be possible together.
    """

    def __init__(self, docs: list[Doc], units: Units, label_set: LabelSet, spaces: Sequence[TreeSpace]):
        self.units = units
        self.spaces = spaces
        self.possible = label_set.possible
        self.numbers = {label: number for number, label in enumerate(label_set.names)}
        self._of_unit: dict[int, list[tuple[Constraint, int, int | None]]] = {}
        self.labels = np.full(units.n_words, -1, dtype=np.intp)
        of_doc = {number: found for number, doc in enumerate(docs) if (found := constraints_of(doc))}
        rows = np.cumsum(units.lengths) - units.lengths
        for unit, (doc, words) in enumerate(zip(units.doc_of.tolist(), units.words, strict=True)):
            node = {token: place for place, token in enumerate(words.tolist(), 1)}
            for each in of_doc.get(doc, ()):
                if each.modifier in node:
                    self._add(unit, each, node, doc)
                    if each.label is not None:
                        self.labels[rows[unit] + node[each.modifier] - 1] = self._number(each, doc)
        self.labels_of = units.split(self.labels)  # of each unit

    def _add(self, unit: int, each: Constraint, node: dict[int, int], doc: int) -> None:
        if each.span:
            if not set(each.span) <= set(node):
                raise ValueError(f"document {doc} of the batch: {each.text}, but a sentence boundary lies in it")
            if any(node[token] in span for span in self.spans_of(unit) for token in each.span):
                raise ValueError(f"document {doc} of the batch: {each.text}, but another span shares a word with it")
        head = None if each.head is None else 0 if each.head == ROOT else node.get(each.head)
        if each.head is not None and head is None:
            if each.forbidden:
                return  # no arc leads from one sentence to another
            raise ValueError(f"document {doc} of the batch: {each.text}, but a sentence boundary lies between them")
        self._of_unit.setdefault(unit, []).append((each, node[each.modifier], head))

    def _number(self, each: Constraint, doc: int) -> int:
        if each.label not in self.numbers:
            raise ValueError(f"document {doc} of the batch: {each.text}, which the parser does not have")
        return self.numbers[each.label]

    def spans_of(self, unit: int) -> list[range]:
        """The nodes of the spans of a unit that must be subtrees."""
        return _spans(self._of_unit.get(unit, ()))

    def trees(self, unit: int, scores: np.ndarray, space: TreeSpace) -> Distribution:
        """The distribution of a unit, of scores that are -inf where an arc is not allowed, given its spans."""
        return _given_spans(scores, self.spans_of(unit), space)

    def allowed(self, unit: int) -> np.ndarray | None:
        """Which arcs of a unit are allowed, (n+1, n+1) bool; None: all are.

        ValueError that names a smallest set of constraints in conflict if one of the tree spaces has no tree of them.
        """
        found = self._of_unit.get(unit)
        if not found:
            return None
        n = int(self.units.lengths[unit])
        for space in self.spaces:
            if not self._holds(found, n, space):
                smallest = self._conflict(found, n, space)
                texts = "; ".join(each.text for each, _, _ in smallest)
                raise ValueError(f"document {self.units.doc_of[unit]} of the batch: no tree has all of this: {texts}")
        return self._mask(found, n)

    def _mask(self, found: list, n: int) -> np.ndarray:
        allowed = np.ones((n + 1, n + 1), dtype=bool)
        for each, modifier, head in found:
            if each.label is not None:
                may_be_arc, may_be_root = self.possible[:, self.numbers[each.label]]
                allowed[0, modifier] &= may_be_root
                allowed[1:, modifier] &= may_be_arc
            elif each.span:
                continue
            elif each.forbidden:
                allowed[head, modifier] = False
            else:
                kept = allowed[head, modifier]
                allowed[:, modifier] = False
                allowed[head, modifier] = kept
        return allowed

    def _holds(self, found: list, n: int, space: TreeSpace) -> bool:
        scores = np.where(self._mask(found, n), 0.0, -np.inf)
        return bool(np.isfinite(_given_spans(scores, _spans(found), space).log_partition))

    def _conflict(self, found: list, n: int, space: TreeSpace) -> list:
        """A smallest set: nothing can be left out of it without making it possible."""
        kept = list(found)
        for each in found:
            rest = [other for other in kept if other is not each]
            if not self._holds(rest, n, space):
                kept = rest
        return kept


def _spans(found: Iterable[tuple[Constraint, int, int | None]]) -> list[range]:
    """The nodes of the spans among constraints of a unit: words that follow each other."""
    return [range(modifier, modifier + len(each.span)) for each, modifier, _ in found if each.span]


def _given_spans(scores: np.ndarray, spans: list[range], space: TreeSpace) -> Distribution:
    if not spans:
        return space.distribution(scores)
    if space.projective:
        raise ValueError("spans as subtrees are not supported for projective trees")
    distribution = LabelledSpanTreeDistribution if scores.ndim == 3 else SpanTreeDistribution
    return distribution(scores, spans, single_root=space.single_root)
