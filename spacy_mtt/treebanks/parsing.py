"""From a block of lines to a sentence, with every problem found on the way."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from spacy_mtt.treebanks.blocks import Block
from spacy_mtt.treebanks.errors import Problem, quoted
from spacy_mtt.treebanks.sentence import DEPREL, HEAD, ID, MISSING, PHEAD, Format, TreebankSentence

# Nine digits are plenty, and no longer number is ever turned into an int.
_NUMBER = re.compile(r"0|[1-9][0-9]{0,8}")
_RANGE = re.compile(r"([1-9][0-9]{0,8})-([1-9][0-9]{0,8})")
_EMPTY_NODE = re.compile(rf"({_NUMBER.pattern})\.([1-9][0-9]{{0,8}})")


def parse_block(block: Block, format: Format, path: str = "") -> tuple[TreebankSentence | None, list[Problem]]:
    """The sentence of a block (None if there is an error in it) and its problems by line. O(n)."""
    parser = _BlockParser(block, format)
    parser.parse()
    problems = sorted(parser.problems, key=lambda problem: (problem.line, problem.severity))
    if any(problem.severity == "error" for problem in problems):
        return None, problems
    sentence = TreebankSentence(
        rows=tuple(parser.rows),
        format=format,
        extras=tuple(parser.extras),
        lead=block.lead,
        line_end=next(iter(block.ends), "\r\n" if block.tail.startswith("\r") else "\n"),
        tail=block.tail,
        path=path,
        line=block.line,
    )
    return sentence, problems


class _BlockParser:
    """The state of reading one block: words and other lines so far, and problems."""

    def __init__(self, block: Block, format: Format) -> None:
        self.block = block
        self.format = format
        self.problems = list(block.problems)
        self.rows: list[tuple[str, ...]] = []
        self.row_lines: list[int] = []
        self.extras: list[tuple[int, str]] = []
        self.next_id = 1
        self.ids_are_good = True
        self.seen_ids: set[str] = set()
        self.open_range: tuple[int, int, int] | None = None  # first, last, line
        self.empty_nodes_here = 0

    def error(self, line: int, message: str) -> None:
        self.problems.append(Problem(line, "error", message))

    def parse(self) -> None:
        first_line, complete = self.block.line, True
        if len(self.block.ends) > 1:
            self.error(first_line, "the lines of this sentence end partly in CR LF and partly in LF")
        for line, text in enumerate(self.block.lines, first_line):
            complete &= self._line(line, text)
        if self.open_range and self.open_range[1] >= self.next_id and complete and self.ids_are_good:
            first, last, line = self.open_range
            self.error(line, f"the range {first}-{last} ends after the last word {self.next_id - 1}")
        if not self.rows and complete:
            self.error(first_line, "the sentence has no word")
        if complete and self.ids_are_good:
            self.problems += tree_problems(self.rows, self.row_lines, self.format)

    def _line(self, line: int, text: str) -> bool:
        """Read one line; False if it cannot be told what the line was meant to be."""
        if text.startswith("#") and self.format.has_extras:
            if self.rows or any(not extra.startswith("#") for _, extra in self.extras):
                self.error(line, f"comment {quoted(text)} inside a sentence")
            self.extras.append((len(self.rows), text))
            return True
        columns = tuple(text.split("\t"))
        if len(columns) != 10:
            self._wrong_column_count(line, text, len(columns))
            return False
        if "" in columns:
            self.error(line, f"the column {self.format.columns[columns.index('')]} is empty")
        name = columns[ID]
        if name == str(self.next_id):
            self._word(line, columns)
        elif self.format.has_extras and "-" in name:
            self._range(line, name)
            self.extras.append((len(self.rows), text))
        elif self.format.has_extras and "." in name:
            self._empty_node(line, name)
            self.extras.append((len(self.rows), text))
        else:
            self._wrong_id(line, columns)
        self.seen_ids.add(name)
        return True

    def _word(self, line: int, columns: tuple[str, ...]) -> None:
        self.rows.append(columns)
        self.row_lines.append(line)
        self.next_id += 1
        self.empty_nodes_here = 0

    def _wrong_id(self, line: int, columns: tuple[str, ...]) -> None:
        name = columns[ID]
        self.ids_are_good = False
        if not _NUMBER.fullmatch(name):
            self.error(line, f"the ID {quoted(name)} is no word number")
        elif name in self.seen_ids:
            self.error(line, f"the ID {name} occurs twice in this sentence")
        else:
            self.error(line, f"the ID {name} stands where {self.next_id} was expected")
            self.next_id = int(name)
        self._word(line, columns)

    def _wrong_column_count(self, line: int, text: str, count: int) -> None:
        is_last = line == self.block.line + len(self.block.lines) - 1
        if is_last and not self.block.tail:
            self.error(line, f"the file breaks off in this line, after {count} of 10 columns: {quoted(text)}")
        elif text.startswith("#"):
            self.error(line, f"the comment {quoted(text)}: {self.format} has no comments (is this CoNLL-U?)")
        elif "\t" not in text and len(text.split()) == 10:
            self.error(line, f"the columns of {quoted(text)} are separated by spaces instead of tabs")
        else:
            columns = "1 column" if count == 1 else f"{count} columns"
            self.error(line, f"{columns} instead of 10: {quoted(text)}")

    def _range(self, line: int, name: str) -> None:
        match = _RANGE.fullmatch(name)
        if not match:
            return self.error(line, f"the ID {quoted(name)} is no range of word numbers")
        first, last = int(match[1]), int(match[2])
        if last < first:
            self.error(line, f"the range {name} runs backwards")
        elif first != self.next_id:
            self.error(line, f"the range {name} stands before word {self.next_id} instead of word {first}")
        elif self.open_range and first <= self.open_range[1]:
            self.error(line, f"the range {name} overlaps the range {self.open_range[0]}-{self.open_range[1]}")
        else:
            self.open_range = (first, last, line)

    def _empty_node(self, line: int, name: str) -> None:
        match = _EMPTY_NODE.fullmatch(name)
        if not match:
            return self.error(line, f"the ID {quoted(name)} is no number of an empty node")
        self.empty_nodes_here += 1
        expected = f"{self.next_id - 1}.{self.empty_nodes_here}"
        if name != expected:
            self.error(line, f"the empty node {name} stands where {expected} was expected")


def tree_problems(rows: Sequence[tuple[str, ...]], lines: Sequence[int], format: Format) -> Iterator[Problem]:
    """What is wrong with heads and labels of the n words `rows`, whose ids are 1..n. O(n) for a good tree."""
    n = len(rows)
    heads = [-1] * n
    good = n > 0
    for i, (row, line) in enumerate(zip(rows, lines, strict=True)):
        head, word = row[HEAD], f"word {i + 1} ({quoted(row[1], 20)})"
        message = None
        if head == MISSING:
            if row[DEPREL] != MISSING:
                message = f"{word} has the label {quoted(row[DEPREL])} but no head"
        elif not _NUMBER.fullmatch(head):
            message = f"the head {quoted(head)} of {word} is no word number"
        elif int(head) > n:
            message = f"the head {quoted(head)} of {word} lies outside 0..{n}"
        elif int(head) == i + 1:
            message = f"{word} is its own head"
        else:
            heads[i] = int(head)
        if message:
            good = False
            yield Problem(line, "error", message)
        if format.name == "conllx" and row[PHEAD] != MISSING and not _NUMBER.fullmatch(row[PHEAD]):
            yield Problem(line, "warning", f"the PHEAD {quoted(row[PHEAD])} of {word} is no number")
    if good:
        yield from _structure_problems(heads, rows, lines, format)


def _structure_problems(heads, rows, lines, format: Format) -> Iterator[Problem]:
    """Cycles (each once), no root, several roots."""
    roots = [i for i, head in enumerate(heads) if head == 0]
    if not roots and -1 not in heads:
        yield Problem(lines[0], "error", "no word of this sentence has the head 0")
    if len(roots) > 1 and format.name == "conllu":
        words = ", ".join(str(i + 1) for i in roots[:5]) + (", …" if len(roots) > 5 else "")
        message = f"{len(roots)} words have the head 0 ({words}), Universal Dependencies allow one"
        yield Problem(lines[roots[1]], "warning", message)
    for cycle in _cycles(heads):
        names = " -> ".join(f"{word} ({quoted(rows[word - 1][1], 20)})" for word in cycle[:8])
        more = f" -> … ({len(cycle)} words)" if len(cycle) > 8 else f" -> {cycle[0]}"
        yield Problem(lines[cycle[0] - 1], "error", f"the heads form a cycle: {names}{more}")


def _cycles(heads: Sequence[int]) -> Iterator[list[int]]:
    """Every cycle of `heads` (n,) once, as the words modifier, its head, ... O(n) for all."""
    seen_in_walk = [0] * (len(heads) + 1)
    for start in range(1, len(heads) + 1):
        word = start
        while word > 0 and not seen_in_walk[word]:
            seen_in_walk[word] = start
            word = heads[word - 1]
        if word > 0 and seen_in_walk[word] == start:
            cycle = [word]
            while (word := heads[word - 1]) != cycle[0]:
                cycle.append(word)
            yield cycle
