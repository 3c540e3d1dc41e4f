"""The pages and their code blocks.

A comment on the line before a block says what is special about it:

    <!-- needs: torch -->           the block needs a package that the tests do without; skipped where that is missing
    <!-- not run: reason -->        of its commands only module, command and options are checked
    <!-- command: name -->          the same; a command of the README that others run
    <!-- varies: reason -->         the block is output that is not the same everywhere, and is not compared
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
MARKS = ("needs", "not run", "command", "varies")
_MARK = re.compile(r"<!-- ([\w ]+): (.+) -->")


def name_of(page: Path) -> str:
    """The page as test names and messages have it."""
    return page.relative_to(ROOT).as_posix()


@dataclass(frozen=True)
class Block:
    """A fenced block. language: "" if none is given. line: where its first line stands, from 1. mark, why: of the
    comment before it, "" if there is none."""

    page: Path
    language: str
    text: str
    line: int
    mark: str = ""
    why: str = ""

    @property
    def place(self) -> str:
        return f"{name_of(self.page)}:{self.line}"

    @property
    def is_output(self) -> bool:
        """Whether it shows what the block before it prints."""
        return self.language in ("", "text")


def blocks_of(page: Path) -> list[Block]:
    """The code blocks of a page, in its order. ValueError for a fence that is not closed and for an unknown mark."""
    lines = page.read_text(encoding="utf8").splitlines()
    fences = [number for number, line in enumerate(lines) if line.lstrip().startswith("```")]
    if len(fences) % 2:
        raise ValueError(f"{name_of(page)}: a fence is not closed")
    blocks = []
    for first, last in zip(fences[::2], fences[1::2], strict=True):
        mark, why = _mark(lines[first - 1] if first else "")
        if mark and mark not in MARKS:
            raise ValueError(f"{name_of(page)}:{first}: {mark!r} is none of {', '.join(MARKS)}")
        text = "".join(f"{line}\n" for line in lines[first + 1 : last])
        blocks.append(Block(page, lines[first].strip().removeprefix("```"), text, first + 2, mark, why))
    return blocks


def inline_commands(page: Path) -> list[str]:
    """The commands that stand in the text of a page, `python -m ...`."""
    return re.findall(r"(?<!`)`(python -m [^`]+)`(?!`)", page.read_text(encoding="utf8"))


def _mark(line: str) -> tuple[str, str]:
    found = _MARK.fullmatch(line.strip())
    return found.groups() if found else ("", "")
