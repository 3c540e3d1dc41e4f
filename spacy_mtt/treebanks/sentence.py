"""A treebank sentence as plain data, complete enough to be written back byte for byte."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

ID, FORM, LEMMA, UPOS, XPOS, FEATS, HEAD, DEPREL, DEPS, MISC = range(10)
CPOSTAG, POSTAG, PHEAD, PDEPREL = UPOS, XPOS, DEPS, MISC  # CoNLL-X has its own names for four columns
MISSING = "_"


@dataclass(frozen=True, slots=True)
class Format:
    """A ten-column treebank format: its name, file name endings, columns, and what it has besides words."""

    name: str
    suffixes: tuple[str, ...]
    columns: tuple[str, ...]
    has_extras: bool  # comments, multi-word token ranges, empty nodes

    def __str__(self) -> str:
        return self.name


CONLLX = Format(
    name="conllx",
    suffixes=(".conll", ".conllx"),
    columns=("ID", "FORM", "LEMMA", "CPOSTAG", "POSTAG", "FEATS", "HEAD", "DEPREL", "PHEAD", "PDEPREL"),
    has_extras=False,
)
CONLLU = Format(
    name="conllu",
    suffixes=(".conllu",),
    columns=("ID", "FORM", "LEMMA", "UPOS", "XPOS", "FEATS", "HEAD", "DEPREL", "DEPS", "MISC"),
    has_extras=True,
)
FORMATS = {format.name: format for format in (CONLLX, CONLLU)}


class Range(NamedTuple):
    """A multi-word token over the words first..last (1-based, both included)."""

    first: int
    last: int
    form: str
    misc: str


@dataclass(frozen=True)
class TreebankSentence:
    """One sentence of ``n`` words in CoNLL-X or CoNLL-U.

    rows: the ten columns of each word, as text; ``rows[i]`` is word ``i + 1``.
    extras: every other line (comment, multi-word token range, empty node) as ``(words before it, text)``, in
    order.
    lead: blank lines before the first line, which only the first sentence of a file can have.
    line_end: what ends each line, ``"\\n"`` or ``"\\r\\n"``.
    tail: what follows the text of the last line: its line end and the blank lines up to the next sentence.
    path, line: where the sentence was read, for messages; not compared.
    """

    rows: tuple[tuple[str, ...], ...]
    format: Format
    extras: tuple[tuple[int, str], ...] = ()
    lead: str = ""
    line_end: str = "\n"
    tail: str = "\n\n"
    path: str = field(default="", compare=False)
    line: int = field(default=0, compare=False)

    def __len__(self) -> int:
        return len(self.rows)

    @cached_property
    def heads(self) -> np.ndarray:
        """(n,) int32, read-only: the head of each word, 0 for the root, -1 for a word without one (`_`)."""
        heads = [-1 if row[HEAD] == MISSING else int(row[HEAD]) for row in self.rows]
        array = np.array(heads, dtype=np.int32)
        array.flags.writeable = False  # it is kept, and the rows would not follow
        return array

    @property
    def forms(self) -> list[str]:
        """The FORM of each word."""
        return [row[FORM] for row in self.rows]

    @property
    def deprels(self) -> list[str]:
        """The DEPREL of each word, `_` where it has none."""
        return [row[DEPREL] for row in self.rows]

    @property
    def comments(self) -> list[str]:
        """The comment lines, "#" included."""
        return [text for _, text in self.extras if text.startswith("#")]

    @property
    def ranges(self) -> list[Range]:
        """The multi-word tokens in order."""
        found = []
        for _, text in self.extras:
            columns = text.split("\t")
            if not text.startswith("#") and "-" in columns[ID]:
                first, last = columns[ID].split("-")
                found.append(Range(int(first), int(last), columns[FORM], columns[MISC]))
        return found

    @property
    def place(self) -> str:
        """`path:line` of the sentence, as far as they are known."""
        return f"{self.path or 'sentence'}:{self.line}" if self.line else self.path or "sentence"

    @property
    def at(self) -> str:
        """` (path:line)` for messages, empty if the sentence does not come from a file."""
        return f" ({self.place})" if self.path else ""

    def with_tree(self, heads: Sequence[int], deprels: Sequence[str]) -> TreebankSentence:
        """This sentence with another tree: `heads` (n,) in 0..n or -1 for none, and as many `deprels`.

        If the tree differs, what refines or repeats the old one goes: DEPS or PHEAD and PDEPREL become `_`
        and empty nodes are dropped.
        """
        tree = [
            (MISSING, MISSING) if head < 0 else (str(int(head)), deprel or MISSING)
            for head, deprel in zip(heads, deprels, strict=True)
        ]
        if tree == [(row[HEAD], row[DEPREL]) for row in self.rows]:
            return self
        rows = []
        for row, (head, deprel) in zip(self.rows, tree, strict=True):
            misc = row[MISC] if self.format is CONLLU else MISSING
            rows.append((*row[:HEAD], head, deprel, MISSING, misc))
        extras = tuple((before, text) for before, text in self.extras if not is_empty_node(text))
        return replace(self, rows=tuple(rows), extras=extras)

    def __str__(self) -> str:
        """The text of the sentence, as it stands in its file."""
        lines = ["\t".join(row) for row in self.rows]
        if self.extras:
            merged, position = [], 0
            for before, text in self.extras:
                merged += lines[position:before]
                merged.append(text)
                position = before
            lines = merged + lines[position:]
        return self.lead + self.line_end.join(lines) + self.tail


def is_empty_node(text: str) -> bool:
    """Whether an extra line is an empty node (`3.1 ...`)."""
    return not text.startswith("#") and "." in text.split("\t", 1)[0]
