"""Reading treebank files as streams of sentences."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spacy_mtt.treebanks.blocks import Block, cut_blocks, read_blocks
from spacy_mtt.treebanks.errors import Problem, TreebankError
from spacy_mtt.treebanks.parsing import parse_block
from spacy_mtt.treebanks.sentence import CONLLU, CONLLX, FORMATS, Format, TreebankSentence
from spacy_mtt.treebanks.statistics import TreebankStatistics

PathLike = str | os.PathLike[str]


def find_format(path: PathLike, format: str | Format | None = None) -> Format:
    """The format that is given by name, or that the ending of the file name tells. Raises TreebankError."""
    if isinstance(format, Format):
        return format
    if format is not None:
        if format not in FORMATS:
            raise TreebankError(f"unknown treebank format {format!r}, choose from {', '.join(FORMATS)}")
        return FORMATS[format]
    suffix = Path(path).suffix.lower()
    for candidate in FORMATS.values():
        if suffix in candidate.suffixes:
            return candidate
    endings = ", ".join(suffix for each in FORMATS.values() for suffix in each.suffixes)
    raise TreebankError(f"{path}: the ending {suffix!r} tells no treebank format ({endings}), give the format")


def read_treebank(
    path: PathLike, format: str | Format | None = None, *, encoding: str = "utf8"
) -> Iterator[TreebankSentence]:
    """The sentences of a file, one at a time; its ending tells the format if `format` does not.

    Raises TreebankError at the first error of the file, with file, line and the offending value; also for a
    file without any sentence. Warnings (see `check_treebank`) pass.
    """
    format = find_format(path, format)
    empty = True
    for block in read_blocks(path, encoding):
        empty = False
        yield _strict(block, format, str(path))
    if empty:
        raise TreebankError(f"{path}: holds no sentence")


def read_conllx(path: PathLike, *, encoding: str = "utf8") -> Iterator[TreebankSentence]:
    """The sentences of a CoNLL-X file (Buchholz & Marsi 2006), one at a time; errors as `read_treebank`."""
    return read_treebank(path, CONLLX, encoding=encoding)


def read_conllu(path: PathLike, *, encoding: str = "utf8") -> Iterator[TreebankSentence]:
    """The sentences of a CoNLL-U file (Universal Dependencies), one at a time; errors as `read_treebank`."""
    return read_treebank(path, CONLLU, encoding=encoding)


def parse_treebank(text: str, format: str | Format, *, path: str = "") -> Iterator[TreebankSentence]:
    """The sentences of a text in memory; errors as `read_treebank`. `path` names the source in messages."""
    format = find_format(path, format)
    lines = text.split("\n")
    ended = [line + "\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    for block in cut_blocks((line, []) for line in ended):
        yield _strict(block, format, path)


def _strict(block: Block, format: Format, path: str) -> TreebankSentence:
    sentence, problems = parse_block(block, format, path)
    if sentence is None:
        first = next(problem for problem in problems if problem.severity == "error")
        raise TreebankError(f"{path or 'text'}:{first.line}: {first.message}")
    return sentence


@dataclass
class TreebankReport:
    """All problems of a file in the order of lines, and figures over its good sentences."""

    path: str
    format: Format
    problems: list[Problem] = field(default_factory=list)
    statistics: TreebankStatistics = field(default_factory=TreebankStatistics)

    @property
    def errors(self) -> int:
        """How many of the problems are errors."""
        return sum(problem.severity == "error" for problem in self.problems)


def check_treebank(path: PathLike, format: str | Format | None = None, *, encoding: str = "utf8") -> TreebankReport:
    """Read a file to its end and report every problem in it.

    Raises TreebankError only if it cannot be opened.
    """
    report = TreebankReport(str(path), find_format(path, format))
    empty = True
    for block in read_blocks(path, encoding):
        empty = False
        sentence, problems = parse_block(block, report.format, report.path)
        report.problems += problems
        if sentence is not None:
            report.statistics.add(sentence.heads)
    if empty:
        report.problems.append(Problem(1, "error", "the file holds no sentence"))
    return report
