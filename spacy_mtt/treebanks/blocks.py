"""Cutting a file into blocks of lines, one block a sentence, without losing a byte."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from spacy_mtt.treebanks.errors import Problem, TreebankError

_BYTE_ORDER_MARKS = (b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff")


@dataclass(slots=True)
class Block:
    """The lines between two blank lines, without their line ends, and all that stands around them."""

    line: int  # number of the first of `lines` in the file, from 1
    lead: str = ""
    lines: list[str] = field(default_factory=list)
    ends: set[str] = field(default_factory=set)  # line ends between the lines
    tail: str = ""
    problems: list[Problem] = field(default_factory=list)


def read_blocks(path: str | os.PathLike[str], encoding: str) -> Iterator[Block]:
    """The blocks of a file, read as a stream. Undecodable bytes become problems of their block.

    Raises TreebankError if there is no such file or `encoding` cannot be used line by line.
    """
    check_encoding(path, encoding)
    try:
        if not Path(path).is_file():
            raise TreebankError(f"{path}: {'is no file' if Path(path).exists() else 'no such file'}")
        with open(path, "rb") as file:
            yield from cut_blocks(_decoded(file, encoding))
    except OSError as error:
        raise TreebankError(f"{path}: cannot be read ({error.strerror})") from error


def check_encoding(path: str | os.PathLike[str], encoding: str) -> None:
    """Raise TreebankError unless tabs and line ends are single bytes in `encoding`."""
    try:
        if "\n\t_".encode(encoding) != b"\n\t_":
            raise TreebankError(f"{path}: encoding {encoding!r} is no extension of ASCII, use UTF-8")
    except (LookupError, UnicodeError):
        raise TreebankError(f"{path}: unknown encoding {encoding!r}") from None


def cut_blocks(lines: Iterable[tuple[str, list[Problem]]]) -> Iterator[Block]:
    """Blocks from (line with its line end, problems of that line) pairs."""
    block, pending_end = Block(line=1), ""
    for number, (raw, problems) in enumerate(lines, 1):
        text = raw.removesuffix("\n").removesuffix("\r") if raw.endswith("\n") else raw
        end = raw[len(text) :]
        if not text or text.isspace():
            if text:
                problems.append(Problem(number, "warning", f"a blank line holds white space {text!r}"))
            if block.lines:
                if block.tail:
                    problems.append(Problem(number, "warning", "more than one blank line after a sentence"))
                block.tail += pending_end + raw
                pending_end = ""
            else:
                block.lead += raw
                problems.append(Problem(number, "warning", "blank line before the first sentence"))
            block.problems += problems
            continue
        if block.tail:
            yield block
            block = Block(line=number)
        elif not block.lines:
            block.line = number
        else:
            block.ends.add(pending_end)
        block.lines.append(text)
        block.problems += problems
        pending_end = end
    if block.lines:
        yield _last(block, pending_end)


def _last(block: Block, pending_end: str) -> Block:
    """The last block of a file, complete and with the warnings about the end of the file."""
    last_line = block.line + len(block.lines) - 1
    if not block.tail:
        block.tail = pending_end
        what = "no blank line after the last sentence" if pending_end else "the file ends without a line end"
        block.problems.append(Problem(last_line, "warning", what))
    return block


def _decoded(file: Iterable[bytes], encoding: str) -> Iterator[tuple[str, list[Problem]]]:
    """Each line of a binary file as text, with what is wrong with its bytes."""
    offset = 0
    for number, raw in enumerate(file, 1):
        problems: list[Problem] = []
        if number == 1 and raw.startswith(_BYTE_ORDER_MARKS):
            mark = next(mark for mark in _BYTE_ORDER_MARKS if raw.startswith(mark))
            message = f"the file begins with the byte order mark {mark.hex(' ').upper()}, which has to go"
            problems.append(Problem(number, "error", message))
        if b"\0" in raw:
            message = f"NUL character at byte {offset + raw.index(0)} of the file"
            problems.append(Problem(number, "error", message))
        try:
            text = raw.decode(encoding)
        except UnicodeDecodeError as error:
            message = f"byte 0x{raw[error.start]:02X} at byte {offset + error.start} of the file is not {encoding}"
            problems.append(Problem(number, "error", message))
            text = raw.decode(encoding, errors="replace")
        yield text.removeprefix("\ufeff") if number == 1 else text, problems
        offset += len(raw)
