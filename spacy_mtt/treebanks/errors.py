"""What can be wrong with a treebank file, and how it is told."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


class TreebankError(ValueError):
    """A treebank cannot be read or written: one sentence with the file, the line and the offending value."""


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding in a treebank file: an "error" makes the sentence unusable, a "warning" does not."""

    line: int
    severity: Literal["error", "warning"]
    message: str


def quoted(value: str, limit: int = 60) -> str:
    """`value` in quotes with escapes, cut to about `limit` characters so that a message stays one line."""
    return repr(value if len(value) <= limit else value[:limit] + "…")
