"""The slots of the Dutch clause behind its front and its finite verb."""

from __future__ import annotations

from tree import Phrase

# The middle field's order, then what follows the verbs.
PRONOUN, TIME, RECEIVER, OBJECT, NEGATION, MANNER, PP, PREDICATE, LOWER_OBJECT, LOWER_PP, AFTER = range(11)

Slotted = tuple[int, Phrase]
Parts = list[Slotted]


def of_slots(parts: Parts, *, after: bool) -> list[Phrase]:
    """The parts of the middle field, or those behind the verbs, in the order of their slots."""
    return [part for slot, part in sorted(parts, key=lambda item: item[0]) if (slot == AFTER) == after]
