"""Templates in the form that the kernel reads.

The key of a feature is ``mix(head + modifier + between + distance)`` modulo 2^64, each of the four the hash of a *side*
of the template: of its atoms at the head and its neighbours, at the modifier and its neighbours, at a word between,
and of the distance; 0 where there are no such atoms. A side knows the names of its atoms, and so templates need no
number. Sides are hashed once a word and shared by templates: an arc costs one addition and one `mix` for a feature.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from spacy_mtt.features.atoms import hash_text
from spacy_mtt.features.templates import ATTRIBUTES, DISTANCE, LONGEST_OF_BIN, Template, split

SHIFTS = {"h": 0, "h-1": -1, "h+1": 1, "m": 0, "m-1": -1, "m+1": 1, "b": 0}
PLAIN, DISTANT = 1, 2  # which variants of a template there are
WIDTH = (1 << 64) - 1


def mix(x: int) -> int:
    """The finalizer of SplitMix64 (Steele, Lea & Flood 2014), a bijection of 64-bit numbers."""
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9 & WIDTH
    x = (x ^ (x >> 27)) * 0x94D049BB133111EB & WIDTH
    return x ^ (x >> 31)


def bin_names() -> list[str]:
    """The values of the atom "distance": for arcs to the left, then to the right, "left 1" ... "left 6-10" ..."""
    names = []
    for direction in ("left", "right"):
        shortest = 1
        for longest in LONGEST_OF_BIN:
            names.append(f"{direction} {shortest}" if shortest == longest else f"{direction} {shortest}-{longest}")
            shortest = longest + 1
        names.append(f"{direction} {shortest}-")
    return names


@dataclass(frozen=True)
class CompiledTemplates:
    """Templates as arrays.

    side_starts (S+1,), shifts, attributes (atoms,): the atoms of side s are those of side_starts[s] and on; seeds
    (S,) uint64. templates (T, 5): head side, modifier side, between side or -1, variants, whether prefixes gate it.
    distances (2 * bins,) uint64; longest (bins - 1,).
    """

    side_starts: np.ndarray
    shifts: np.ndarray
    attributes: np.ndarray
    seeds: np.ndarray
    templates: np.ndarray
    distances: np.ndarray
    longest: np.ndarray

    @classmethod
    def of(cls, templates: Iterable[Template]) -> CompiledTemplates:
        """Compile a table of templates. Raises ValueError on atoms that there are not and on repeated templates."""
        sides: dict[Template, int] = {(): 0}
        rows: dict[tuple[int, int, int], list[int]] = {}
        for template in templates:
            variant = DISTANT if DISTANCE in template else PLAIN
            parts = _sides(template)
            head, modifier, between = (sides.setdefault(side, len(sides)) for side in parts)
            row = rows.setdefault((head, modifier, between), [0, 0])
            if row[0] & variant:
                raise ValueError(f"the template {' '.join(template)!r} is there twice")
            row[0] |= variant
            row[1] |= any(atom.endswith(".prefix") for atom in parts[0] + parts[1])
        if not rows:
            raise ValueError("there must be one template or more")
        table = [(h, m, b or -1, *row) for (h, m, b), row in rows.items()]
        atoms = [split(atom) for side in sides for atom in side]
        return cls(
            side_starts=np.cumsum([0, *map(len, sides)], dtype=np.int32),
            shifts=np.array([SHIFTS[place] for place, _ in atoms], dtype=np.int32),
            attributes=np.array([ATTRIBUTES.index(name) for _, name in atoms], dtype=np.int32),
            seeds=np.array([hash_text(" ".join(side)) if side else 0 for side in sides], dtype=np.uint64),
            templates=np.array(sorted(table, key=lambda row: row[2] >= 0), dtype=np.int32),
            distances=np.array(
                [mix((hash_text(DISTANCE) + hash_text(name)) & WIDTH) for name in bin_names()], dtype=np.uint64
            ),
            longest=np.array(LONGEST_OF_BIN, dtype=np.int32),
        )


def _sides(template: Template) -> tuple[Template, Template, Template]:
    """The atoms of a template at the head, at the modifier and between, each sorted: their order means nothing."""
    places: dict[str, list[str]] = {"h": [], "m": [], "b": []}
    for atom in template:
        if atom != DISTANCE:
            places[split(atom)[0][0]].append(atom)
    if len(set(template)) < len(template):
        raise ValueError(f"the template {' '.join(template)!r} repeats an atom")
    return tuple(sorted(places["h"])), tuple(sorted(places["m"])), tuple(sorted(places["b"]))
