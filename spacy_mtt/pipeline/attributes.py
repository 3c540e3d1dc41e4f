"""The attributes `token._.head_prob` and their like, read from the arrays of `doc._.mtt`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from spacy.tokens import Span, Token

from .confidence import span_value, token_value

TOKEN_ATTRIBUTES = ("head_prob", "dep_prob", "dep_prob_given_head", "head_entropy")
SPAN_ATTRIBUTES = ("parse_entropy", "parse_prob")


class _Getter:
    """A getter that can be told from those of others, also after a copy."""

    def __init__(self, name: str):
        self.name = name

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and other.name == self.name

    def __hash__(self) -> int:
        return hash(self.name)


class TokenGetter(_Getter):
    """The value of a token."""

    def __call__(self, token: Token) -> float | None:
        return token_value(token.doc._.mtt, self.name, token.i)


class SpanGetter(_Getter):
    """The value of a span of whole sentences."""

    def __call__(self, span: Span) -> float | None:
        array = "entropy" if self.name == "parse_entropy" else "log_prob"
        value = span_value(span.doc._.mtt, array, span.start, span.end, len(span.doc))
        return math.exp(value) if value is not None and self.name == "parse_prob" else value


def register(names: Mapping[str, str]) -> None:
    """Make the attributes known to spaCy, each under the name that `names` gives it, or else its own.

    ValueError if `names` has another attribute, or if a name belongs to somebody else.
    """
    known = (*TOKEN_ATTRIBUTES, *SPAN_ATTRIBUTES)
    for attribute in names:
        if attribute not in known:
            raise ValueError(f"attribute_names has {attribute!r}, but the attributes are {', '.join(known)}")
    for attribute in TOKEN_ATTRIBUTES:
        _set(Token, names.get(attribute, attribute), TokenGetter(attribute))
    for attribute in SPAN_ATTRIBUTES:
        _set(Span, names.get(attribute, attribute), SpanGetter(attribute))


def _set(kind: Any, name: str, getter: Callable) -> None:
    if not kind.has_extension(name):
        kind.set_extension(name, getter=getter)
    elif kind.get_extension(name)[2] != getter:
        raise ValueError(
            f"{kind.__name__.lower()}._.{name} belongs to another component: give it another name in attribute_names"
        )
