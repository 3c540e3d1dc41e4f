"""What stands behind a noun and to which of two nouns it belongs: the same in both languages."""

from __future__ import annotations

from draw import Reject
from selection import AMBIGUITY, Group, Selection
from tree import Phrase, Word, attach, join


def human(meaning: str) -> bool:
    """Whether the class denotes people (who, he, she)."""
    return meaning in ("person", "relation")


class Attachment(Selection):
    """Builds what stands behind nouns; a language supplies the phrases and the labels."""

    alike: dict[str, tuple[str, ...]]
    pp_label: str
    relative_label: str
    conjunct_label: str
    coordinator_label: str
    conjunctions: tuple[str, str]  # and, or

    def core(self, meaning: str, depth: int) -> Phrase:
        """A noun with what stands before it."""
        raise NotImplementedError

    def noun_phrase(self, classes: tuple[str, ...], depth: int, *, full=False) -> Phrase:
        """A noun phrase of one of the classes; `full`: a noun without anything behind it."""
        raise NotImplementedError

    def name(self) -> Phrase:
        """A person's name."""
        raise NotImplementedError

    def pp(self, preposition: str, meaning: str, depth: int) -> Phrase:
        """The PP of a preposition and a noun phrase of the class."""
        raise NotImplementedError

    def prepositional(self, preposition: str, phrase: Phrase) -> Phrase:
        """The PP of a preposition and a noun phrase."""
        raise NotImplementedError

    def coordinator(self, form: str) -> Word:
        """The conjunction as a word."""
        raise NotImplementedError

    def relative_clause(self, antecedent: Phrase, depth: int, *, exclude: str | None = None) -> Phrase:
        """A clause about the antecedent; with `exclude`, one that nouns of that class could not be in."""
        raise NotImplementedError

    def verb_label(self, preposition: str, meaning: str) -> str:
        """The label of a PP that hangs on a verb."""
        return self.pp_label

    def contested_pp(self, verb: Word, group: Group, noun: Phrase, depth: int) -> tuple[Phrase, bool] | None:
        """(a PP to stand behind the noun, whether it hangs on the verb), or None where only one takes PPs.

        `noun` is a noun phrase or the PP around it.
        """
        word = noun.head
        if word.coarse == "ADP":
            word = next(part for part in noun.words if part.head is noun.head)
        if word.coarse != "NOUN" or not group.modifiers or noun.meaning not in self.noun_modifiers:
            return None
        preposition, meaning, to_verb = self.choose_attachment(group, noun.meaning)
        pp = self.pp(preposition, meaning, depth + 1)
        if to_verb:
            return attach(pp, verb, self.verb_label(preposition, meaning)), True
        return attach(pp, word, self.pp_label), False

    def post_modify(self, phrase: Phrase, depth: int) -> None:
        """Put nothing, a PP, a relative clause or a conjunct behind a noun, all of them in place."""
        share = (0.5, 0.24)[depth] if depth < 2 else 0.04
        if not self.d.chance(share):
            return
        kind = self.d.weighted({"pp": 5, "relative": 2.5, "conjunct": 2})
        if kind == "pp" and phrase.meaning in self.noun_modifiers:
            self.add_pp(phrase, depth)
        elif kind == "relative":
            self.add_relative(phrase, phrase, depth)
        elif kind == "conjunct":
            self.add_conjunct(phrase, phrase, depth)

    def add_pp(self, phrase: Phrase, depth: int) -> None:
        """A PP behind the noun and sometimes a relative clause or a conjunct that belongs to either noun."""
        d = self.d
        preposition, meaning = d.pick(self.noun_modifiers[phrase.meaning])
        inner = self.noun_phrase((meaning,), depth + 1, full=True)
        phrase.words += attach(self.prepositional(preposition, inner), phrase.head, self.pp_label).words
        if depth > 1 or not d.chance(0.25) or meaning == "town":
            return
        contested = d.chance(AMBIGUITY)
        low = d.coin() if contested else d.chance(0.5)
        target, other = (inner, phrase) if low else (phrase, inner)
        if d.chance(0.5):
            self.add_relative(target, phrase, depth, exclude=None if contested else other.meaning)
        elif inner.meaning != phrase.meaning or contested:
            self.add_conjunct(target, phrase, depth)

    def add_relative(self, target: Phrase, outer: Phrase, depth: int, *, exclude: str | None = None) -> None:
        """A relative clause on `target`, at the end of `outer`."""
        relative = self.relative_clause(target, depth + 1, exclude=exclude)
        outer.words += attach(relative, target.head, self.relative_label).whole()

    def add_conjunct(self, target: Phrase, outer: Phrase, depth: int) -> None:
        """Put a conjunction and a noun phrase like `target`, both hanging on it, at the end of `outer`."""
        d = self.d
        both = d.chance(0.83)
        alike = d.pick(self.alike.get(target.meaning, (target.meaning,)))
        other = self.name() if alike == "person" and d.chance(0.2) else self.core(alike, depth + 2)
        if other.head.lemma == target.head.lemma:
            raise Reject
        coordinator = attach(self.coordinator(self.conjunctions[not both]), target.head, self.coordinator_label)
        outer.words += join(coordinator, attach(other, target.head, self.conjunct_label))
        if target is outer:
            outer.number = "Plur" if both else other.number
