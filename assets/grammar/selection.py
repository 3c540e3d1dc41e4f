"""Which words go with which: verb groups and attachments that only the words decide."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from draw import Draw, Reject

# Share of the attachment decisions whose words allow both readings; which one holds is then a coin's choice.
AMBIGUITY = 0.4

Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Group:
    """Verbs with one frame that select the same classes; `modifiers` are the PPs that go with them."""

    frame: str
    verbs: tuple[Any, ...]
    subject: tuple[str, ...]
    object: tuple[str, ...] = ()
    modifiers: Pairs = ()
    manner: str = "handle"


class Selection:
    """Choices of verb groups and attachments over the tables of a language."""

    groups: Sequence[Group]
    noun_modifiers: dict[str, Pairs]
    manners: dict[str, tuple[str, ...]]  # adverbs by the kind of verb
    frames: dict[str, float]
    clausal_frames: tuple[str, ...]  # those with a clause as a part
    gapless_frames: tuple[str, ...]  # those that nothing is extracted from

    def __init__(self, draw: Draw):
        self.d = draw

    def choose_frame(self, depth: int, has_filler: bool) -> str:
        """A frame by its weight; clauses inside clauses get rarer with the depth."""
        weights = dict(self.frames)
        for frame in self.clausal_frames:
            weights[frame] *= (1.0, 0.5, 0.12, 0)[min(depth, 3)]
        if has_filler:
            for frame in self.gapless_frames:
                del weights[frame]
        return self.d.weighted(weights)

    def choose_group(self, frame: str, subject: str | None, object_: str | None, exclude: str | None = None) -> Group:
        """A verb group of the frame that takes these classes and, where one is asked for, not `exclude`."""
        fits = []
        for group in self.groups:
            asked = [(subject, group.subject), (object_, group.object)]
            if group.frame != frame or any(wanted and wanted not in classes for wanted, classes in asked):
                continue
            if exclude and any(wanted and exclude in classes for wanted, classes in asked):
                continue
            fits.append((group, len(group.verbs) ** 0.5))
        return self.d.weighted(fits)

    def choose_manner(self, manner: str, upper_manner: str) -> tuple[str, bool]:
        """(an adverb, whether it belongs to the lower of two verbs of these kinds).

        A share AMBIGUITY are adverbs of every kind, and so are all where the verbs are of one kind.
        """
        if manner == upper_manner or self.d.chance(AMBIGUITY):
            return self.d.zipf(self.manners["both"]), self.d.coin()
        low = self.d.chance(0.5)
        return self.d.zipf(self.manners[manner if low else upper_manner]), low

    def choose_attachment(self, group: Group, noun_class: str) -> tuple[str, str, bool]:
        """(preposition, class of its noun, whether the PP hangs on the verb).

                A share AMBIGUITY of the PPs is of a kind that both the verb and the noun take; the rest
        fits one of them.
        """
        verbal, nominal = group.modifiers, self.noun_modifiers.get(noun_class, ())
        both = [pair for pair in verbal if pair in nominal]
        if both and self.d.chance(AMBIGUITY):
            return (*self.d.pick(both), self.d.coin())
        to_verb = self.d.chance(0.5)
        options = [pair for pair in (verbal if to_verb else nominal) if pair not in both]
        if not options:
            raise Reject
        return (*self.d.pick(options), to_verb)
