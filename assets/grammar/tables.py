"""Lexical tables written as text: a name, a colon and its entries, which may go on over indented lines."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from selection import Group, Pairs


def words(text: str) -> tuple[str, ...]:
    """The entries of a text, separated by blanks."""
    return tuple(text.split())


def read_table(text: str) -> dict[str, tuple[str, ...]]:
    """`name: entry entry ...`; whatever ends in a colon is a name."""
    table: dict[str, tuple[str, ...]] = {}
    name = ""
    for entry in text.split():
        if entry.endswith(":"):
            name = entry[:-1]
            table[name] = ()
        else:
            table[name] += (entry,)
    return table


def pairs(entries: tuple[str, ...]) -> Pairs:
    """`with-fork` as (preposition, class)."""
    return tuple((entry.split("-")[0], entry.split("-")[1]) for entry in entries)


def read_groups(text: str, read_verb: Callable[[str], Any]) -> tuple[Group, ...]:
    """Blocks separated by blank lines, each a table of the fields of `Group`."""
    groups = []
    for block in text.strip().split("\n\n"):
        fields = read_table(block)
        groups.append(
            Group(
                frame=fields["frame"][0],
                verbs=tuple(map(read_verb, fields["verbs"])),
                subject=fields["subject"],
                object=fields.get("object", ()),
                modifiers=pairs(fields.get("modifiers", ())),
                manner=fields.get("manner", ("handle",))[0],
            )
        )
    return tuple(groups)
