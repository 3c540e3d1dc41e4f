"""English noun phrases and prepositional phrases: what hangs on which of their words."""

from __future__ import annotations

import english_lexicon as lexicon
import english_nouns as nouns
import english_verb_groups as verb_groups
from attachment import Attachment, human
from tree import Phrase, Word, attach, join, late_words

COARSE = {
    "NN": "NOUN", "NNS": "NOUN", "NNP": "PROPN", "VB": "VERB", "VBD": "VERB", "VBZ": "VERB", "VBP": "VERB",
    "VBN": "VERB", "VBG": "VERB", "MD": "AUX", "JJ": "ADJ", "RB": "ADV", "DT": "DET", "PRP": "PRON",
    "PRP$": "DET",
    "WP": "PRON", "WDT": "DET", "WRB": "ADV", "IN": "ADP", "TO": "PART", "CC": "CCONJ", "CD": "NUM",
    "RP": "ADP",
    "EX": "PRON", "POS": "PART", ".": "PUNCT", ",": "PUNCT", ":": "PUNCT", "UH": "INTJ",
}  # fmt: skip

PRONOUNS = {  # (form as subject, form as object, number, person)
    True: (("he", "him", "Sing", 3), ("she", "her", "Sing", 3), ("they", "them", "Plur", 3), ("I", "me",
           "Sing", 1),
           ("we", "us", "Plur", 1), ("you", "you", "Plur", 2)),
    False: (("it", "it", "Sing", 3), ("they", "them", "Plur", 3)),
}  # fmt: skip


def word(form: str, tag: str, lemma: str | None = None, feats: str = "_", coarse: str | None = None) -> Word:
    """A token of the Penn-like tag `tag`."""
    return Word(form, lemma or form.lower(), coarse or COARSE[tag], tag, feats)


class Phrases(Attachment):
    """Noun phrases and prepositional phrases; relative clauses come from the class below it."""

    groups = verb_groups.GROUPS
    noun_modifiers = nouns.NOUN_MODIFIERS
    alike = nouns.ALIKE
    pp_label, relative_label, conjunct_label, coordinator_label = "prep", "relcl", "conj", "cc"
    conjunctions = ("and", "or")

    def coordinator(self, form: str) -> Word:
        return word(form, "CC")

    def noun_phrase(self, classes: tuple[str, ...], depth: int, *, subject=False, full=False, extraposed=False):
        """A noun phrase of one of the classes.

        `full` asks for a noun without anything behind it, `extraposed` for one whose relative clause or PP is
        late.
        """
        d, meaning = self.d, self.d.pick(classes)
        if not (full or extraposed):
            if d.chance((0.3 if subject else 0.1) if human(meaning) else 0.04):
                return self.pronoun(meaning, subject)
            if meaning == "person" and d.chance(0.25):
                return self.name()
        if meaning == "town":
            return self.town()
        phrase = self.core(meaning, depth, indefinite=extraposed or meaning in nouns.PARTS)
        if extraposed:
            self.extrapose(phrase, depth)
        elif not full:
            self.post_modify(phrase, depth)
        return phrase

    def pronoun(self, meaning: str, subject: bool) -> Phrase:
        options = PRONOUNS[human(meaning)]
        nominative, accusative, number, person = self.d.zipf(options)
        form = nominative if subject else accusative
        head = word(form, "PRP", nominative, f"Number={number}|Person={person}")
        return Phrase(head, [head], meaning=meaning, number=number, person=person)

    def name(self) -> Phrase:
        """A person's name: first name, surname or both (the first name depends on the surname)."""
        d = self.d
        first = word(d.zipf(lexicon.FIRST_NAMES), "NNP", feats="Number=Sing")
        if d.chance(0.5):
            return Phrase(first, [first], meaning="person")
        surname = d.zipf(lexicon.SURNAME_STEMS) + d.zipf(lexicon.SURNAME_ENDS)
        head = word(surname, "NNP", feats="Number=Sing")
        attach(first, head, "compound")
        return Phrase(head, [first, head], meaning="person")

    def town(self) -> Phrase:
        head = word(self.d.zipf(lexicon.TOWN_STEMS) + self.d.zipf(lexicon.TOWN_ENDS), "NNP", feats="Number=Sing")
        return Phrase(head, [head], meaning="town")

    def core(self, meaning: str, depth: int, *, determiner: Word | None = None, indefinite=False) -> Phrase:
        """Determiner, numeral, adjectives, compound nouns and the noun."""
        d = self.d
        noun = d.zipf(nouns.NOUNS[meaning])
        plural = noun.plural is not None and determiner is None and d.chance(0.3)
        head = word(noun.plural if plural else noun.lemma, "NNS" if plural else "NN", noun.lemma,
                    f"Number={'Plur' if plural else 'Sing'}")  # fmt: skip
        number = "Plur" if plural else "Sing"
        front = (
            [attach(determiner, head, "det")] if determiner else self.determiners(head, noun, plural, depth, indefinite)
        )
        modifiers = self.adjectives(head, meaning) + self.compounds(head, meaning)
        return Phrase(head, join(front, modifiers, head), meaning=meaning, number=number)

    def determiners(self, head: Word, noun: nouns.Noun, plural: bool, depth: int, indefinite: bool):
        d = self.d
        if indefinite:
            form = "a"
            if plural or noun.plural is None:
                form = d.weighted({"": 2, "many": 1, "some": 1}) if plural else "some"
            return [attach(word(form, "DT"), head, "det")] if form else []
        if d.chance(0.12):
            form = d.zipf(("his", "her", "their", "my", "our", "your"))
            return [attach(word(form, "PRP$"), head, "poss")]
        if depth < 2 and d.chance(0.05):
            owner = self.name() if d.chance(0.5) else self.core("person", 2)
            bare = owner.number == "Plur" and owner.head.form.endswith("s")
            clitic = word("'" if bare else "'s", "POS", "'s")
            return join(attach(owner, head, "poss"), attach(clitic, owner.head, "case"))
        if noun.plural is None:
            form = d.weighted({"the": 7, "": 3, "some": 1.5, "no": 0.3, "this": 0.7})
        elif plural:
            form = d.weighted({"the": 8, "": 2, "some": 1.2, "many": 0.8, "these": 0.7, "those": 0.4, "all": 0.3})
        else:
            form = d.weighted({"the": 8, "a": 6, "this": 0.6, "that": 0.4, "every": 0.2, "no": 0.15, "another": 0.4})
        front = [attach(word(form, "DT"), head, "det")] if form else []
        if plural and form in ("the", "", "these", "those", "all") and d.chance(0.2):
            front.append(attach(word(d.zipf(lexicon.NUMBERS), "CD"), head, "nummod"))
        return front

    def adjectives(self, head: Word, meaning: str) -> list[Word]:
        """No, one or two adjectives, at times coordinated, at times of the type red-haired."""
        d = self.d
        if not d.chance(0.34):
            return []
        options = nouns.adjectives(meaning)
        if meaning in nouns.BAHUVRIHI and d.chance(0.22):
            part = d.zipf(nouns.BAHUVRIHI[meaning])
            form = f"{d.zipf(nouns.FIRST_PARTS[part])}-{part}"
        else:
            form = d.zipf(options)
        first = attach(word(form, "JJ"), head, "amod")
        if d.chance(0.12) and "-" not in form:
            return [attach(word(d.zipf(lexicon.DEGREE[:3]), "RB"), first, "advmod"), first]
        second = d.zipf(options)
        if second == form or frozenset((form, second)) in nouns.OPPOSITES or not d.chance(0.15):
            return [first]
        if d.chance(0.4):
            return [first, attach(word("and", "CC"), first, "cc"), attach(word(second, "JJ"), first, "conj")]
        return [first, attach(word(second, "JJ"), head, "amod")]

    def compounds(self, head: Word, meaning: str) -> list[Word]:
        """Nouns in front of the noun.

                Of two, a thing made for the next noun hangs on it ([coffee cup] collection), a season or a
        place does not         (summer [garden party]): only the words say which.
        """
        d = self.d
        if not d.chance(0.14) or meaning not in nouns.COMPOUNDS:
            return []
        nearest = attach(self.modifier_noun(d.pick(nouns.COMPOUNDS[meaning])), head, "compound")
        if not d.chance(0.25):
            return [nearest]
        if d.chance(0.5):
            return [
                attach(self.modifier_noun(d.pick(("season", "place", "business"))), head, "compound"),
                nearest,
            ]
        return [
            attach(self.modifier_noun(d.pick(("material", "drink", "topping"))), nearest, "compound"),
            nearest,
        ]

    def modifier_noun(self, meaning: str) -> Word:
        noun = self.d.zipf(nouns.NOUNS[meaning])
        return word(noun.lemma, "NN", noun.lemma, "Number=Sing")

    def prepositional(self, preposition: str, phrase: Phrase) -> Phrase:
        """The preposition is the head, its noun phrase the `pobj`."""
        if preposition == "in" and phrase.head.lemma in nouns.ON_PLACES:
            preposition = "on"
        head = word(preposition, "IN")
        attach(phrase, head, "pobj")
        return Phrase(head, join(head, phrase), late_words(phrase), meaning=phrase.meaning)

    def pp(self, preposition: str, meaning: str, depth: int) -> Phrase:
        """A prepositional phrase with a noun phrase of the class."""
        full = depth > 0 or self.d.chance(0.75)
        return self.prepositional(preposition, self.noun_phrase((meaning,), depth + 1, full=full))

    def extrapose(self, phrase: Phrase, depth: int) -> None:
        """Give the noun a relative clause or a PP that only nouns take, for the clause to place."""
        d = self.d
        options = [pair for pair in nouns.NOUN_MODIFIERS.get(phrase.meaning, ()) if pair[0] in ("about", "by")]
        if options and d.chance(0.3):
            preposition, meaning = d.pick(options)
            late = attach(self.pp(preposition, meaning, depth + 1), phrase.head, "prep")
        else:
            late = attach(self.relative_clause(phrase, depth + 1, apart=True), phrase.head, "relcl")
        phrase.late = late.whole()
