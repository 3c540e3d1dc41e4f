"""Dutch noun phrases and prepositional phrases: gender, endings, what hangs on which word."""

from __future__ import annotations

import dutch_lexicon as lexicon
import dutch_nouns as nouns
import dutch_verb_groups as verb_groups
from attachment import Attachment, human
from draw import Reject
from tree import Phrase, Word, attach, join, late_words

COARSE = {"N": "NOUN", "WW": "VERB", "ADJ": "ADJ", "BW": "ADV", "LID": "DET", "VNW": "PRON", "VZ": "ADP",
          "VG": "CCONJ",
          "TW": "NUM", "LET": "PUNCT", "SPEC": "PROPN"}  # fmt: skip

PRONOUNS = {  # (form as subject, form as object, number, person)
    True: (("hij", "hem", "Sing", 3), ("ze", "haar", "Sing", 3), ("ik", "mij", "Sing", 1), ("we", "ons",
           "Plur", 1),
           ("ze", "hen", "Plur", 3), ("jij", "jou", "Sing", 2), ("jullie", "jullie", "Plur", 2)),
    False: (("het", "het", "Sing", 3), ("ze", "ze", "Plur", 3)),
}  # fmt: skip


def word(form: str, tag: str, lemma: str | None = None, feats: str = "_", coarse: str | None = None) -> Word:
    """A token of the CGN-like tag `tag`, as in `N(soort,ev)`."""
    return Word(form, lemma or form, coarse or COARSE[tag.partition("(")[0]], tag, feats)


class Phrases(Attachment):
    """Noun phrases and prepositional phrases of Dutch."""

    groups = verb_groups.GROUPS
    noun_modifiers = nouns.NOUN_MODIFIERS
    alike = nouns.ALIKE
    pp_label, relative_label, conjunct_label, coordinator_label = "mod", "rel", "cnj", "crd"
    conjunctions = ("en", "of")

    def coordinator(self, form: str) -> Word:
        return word(form, "VG(neven)")

    def noun_phrase(self, classes: tuple[str, ...], depth: int, *, subject=False, full=False, extraposed=False):
        """A noun phrase of one of the classes; `full`, `extraposed` as in English."""
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
        nominative, accusative, number, person = self.d.zipf(PRONOUNS[human(meaning)])
        form = nominative if subject else accusative
        head = word(form, f"VNW(pers,{'nomin' if subject else 'obl'})", nominative, f"Number={number}|Person={person}")
        return Phrase(head, [head], meaning=meaning, number=number, person=person)

    def name(self) -> Phrase:
        """First name, or first name and surname, which hangs on it (`app`)."""
        d = self.d
        first = word(d.zipf(lexicon.FIRST_NAMES), "SPEC(deeleigen)", feats="Number=Sing")
        words = [first]
        if d.chance(0.5):
            surname = d.zipf(lexicon.SURNAME_STEMS) + d.zipf(lexicon.SURNAME_ENDS)
            parts = d.weighted({(): 3, ("van",): 1.5, ("van", "de"): 0.5})
            last = attach(word(surname, "SPEC(deeleigen)", feats="Number=Sing"), first, "app")
            words += [attach(word(part, "SPEC(deeleigen)"), last, "app") for part in parts] + [last]
        return Phrase(first, words, meaning="person")

    def town(self) -> Phrase:
        head = word(
            self.d.zipf(lexicon.TOWN_STEMS) + self.d.zipf(lexicon.TOWN_ENDS),
            "SPEC(deeleigen)",
            feats="Number=Sing",
        )
        return Phrase(head, [head], meaning="town")

    def core(self, meaning: str, depth: int, *, determiner: str = "", indefinite=False) -> Phrase:
        """Determiner (deze, welk, de), numeral, adjectives and the noun, now and then a compound."""
        d = self.d
        noun = d.zipf(nouns.NOUNS[meaning])
        prefix = d.zipf(nouns.COMPOUNDS[meaning]) if meaning in nouns.COMPOUNDS and d.chance(0.08) else ""
        plural = noun.plural is not None and not determiner and d.chance(0.3)
        number = "Plur" if plural else "Sing"
        form = prefix + (noun.plural if plural else noun.lemma)
        gender = "" if plural else "|Gender=Neut" if noun.neuter else "|Gender=Com"
        head = word(form, "N(soort,mv)" if plural else "N(soort,ev)", prefix + noun.lemma, f"Number={number}{gender}")
        neuter = noun.neuter and not plural
        if determiner:
            front, bare = [self.article(determiner, neuter, head)], determiner == "welk" and neuter
        else:
            front, bare = self.determiners(head, noun, plural, depth, indefinite)
        return Phrase(head, join(front, self.adjectives(head, meaning, bare), head), meaning=meaning, number=number)

    def article(self, kind: str, neuter: bool, head: Word) -> Word:
        """The determiner in the noun's gender."""
        form = {"de": ("de", "het"), "deze": ("deze", "dit"), "die": ("die", "dat"), "welk": ("welke",
                "welk"),
                "elk": ("elke", "elk"), "ons": ("onze", "ons")}.get(kind, (kind, kind))[neuter]  # fmt: skip
        tag = {
            "de": "LID(bep)",
            "een": "LID(onbep)",
            "deze": "VNW(aanw)",
            "die": "VNW(aanw)",
            "welk": "VNW(vb)",
        }
        return attach(word(form, tag.get(kind, "VNW(onbep)"), kind, coarse="DET"), head, "det")

    def determiners(self, head: Word, noun: nouns.Noun, plural: bool, depth: int, indefinite: bool):
        """(words, whether the adjective behind them stays bare: een groot huis)."""
        d, neuter = self.d, noun.neuter and not plural
        if indefinite:
            form = "" if noun.plural is None else d.weighted({"": 2, "enkele": 1, "veel": 1}) if plural else "een"
            return ([self.article(form, neuter, head)] if form else []), neuter
        if d.chance(0.11):
            form = d.zipf(("zijn", "haar", "hun", "mijn", "ons", "jouw"))
            possessive = self.article("ons", neuter, head) if form == "ons" else word(form, "VNW(bez)", coarse="DET")
            possessive.fine = "VNW(bez)"
            return [attach(possessive, head, "det")], neuter
        if noun.plural is None:
            kind = d.weighted({"de": 7, "": 4, "geen": 0.3, "deze": 0.6, "wat": 0.7})
        elif plural:
            kind = d.weighted(
                {"de": 8, "": 2, "enkele": 1, "veel": 1, "deze": 0.7, "die": 0.4, "alle": 0.4, "geen": 0.2}
            )
        else:
            kind = d.weighted({"de": 9, "een": 6, "deze": 0.6, "die": 0.5, "elk": 0.2, "geen": 0.2})
        words = [self.article(kind, neuter, head)] if kind else []
        if plural and kind in ("de", "", "deze", "die", "alle") and d.chance(0.2):
            words.append(attach(word(d.zipf(lexicon.NUMBERS), "TW(hoofd)"), head, "num"))
        return words, neuter and kind in ("een", "", "elk", "geen", "wat")

    def adjectives(self, head: Word, meaning: str, bare: bool) -> list[Word]:
        """No, one or two adjectives; bare or with the ending -e."""
        d = self.d
        if not d.chance(0.34):
            return []
        options = nouns.adjectives(meaning)
        first, second = d.zipf(options), d.zipf(options)
        words = [attach(self.adjective(first, bare), head, "mod")]
        if d.chance(0.12):
            words.insert(0, attach(word(d.zipf(lexicon.DEGREE[:4]), "BW()"), words[0], "mod"))
        elif first != second and frozenset((first.form, second.form)) not in nouns.OPPOSITES and d.chance(0.16):
            other = self.adjective(second, bare)
            if d.chance(0.4):
                coordinator = attach(self.coordinator("en"), words[0], "crd")
                words += [coordinator, attach(other, words[0], "cnj")]
            else:
                words.append(attach(other, head, "mod"))
        return words

    def adjective(self, adjective: nouns.Adjective, bare: bool) -> Word:
        form = adjective.form if bare else adjective.inflected
        return word(form, f"ADJ(prenom,{'zonder' if bare else 'met-e'})", adjective.form)

    def prepositional(self, preposition: str, phrase: Phrase) -> Phrase:
        """The preposition is the head, its noun phrase its `obj1`."""
        if phrase.words[0].lemma == "geen":
            raise Reject
        if preposition == "in" and phrase.head.lemma.endswith(nouns.OP_PLACES):
            preposition = "op"
        head = word(preposition, "VZ(init)")
        attach(phrase, head, "obj1")
        return Phrase(head, join(head, phrase), late_words(phrase), meaning=phrase.meaning)

    def pp(self, preposition: str, meaning: str, depth: int) -> Phrase:
        """A prepositional phrase with a noun phrase of the class."""
        full = depth > 0 or self.d.chance(0.75)
        return self.prepositional(preposition, self.noun_phrase((meaning,), depth + 1, full=full))

    def extrapose(self, phrase: Phrase, depth: int) -> None:
        """Give the noun a relative clause, or an over-PP, and leave it to the clause to place it."""
        options = [pair for pair in self.noun_modifiers.get(phrase.meaning, ()) if pair[0] == "over"]
        if options and self.d.chance(0.4):
            late = attach(self.pp(*self.d.pick(options), depth + 1), phrase.head, "mod")
        else:
            late = attach(self.relative_clause(phrase, depth + 1), phrase.head, "rel")
        phrase.late = late.whole()
