"""English clauses: verb frames, the verb group, relative clauses, phrases that leave their clause."""

from __future__ import annotations

import english_lexicon as lexicon
import english_nouns as nouns
from attachment import human
from draw import Reject
from english_phrases import Phrases, word
from english_verbs import AUXILIARIES, CHAINS, FEATS, PERIOD_WORDS, TENSES, TIME_OF, inflect
from selection import Group
from tree import Phrase, Word, attach, join, late_words

FRAMES = {
    "transitive": 9, "intransitive": 3.5, "prepositional": 1.6, "particle": 1.2, "ditransitive": 1,
    "report": 1.6, "interrogative": 0.3, "control": 1.3, "object-control": 0.8, "perception": 0.3,
    "copula": 2,
}  # fmt: skip
CLAUSAL = ("report", "interrogative", "control", "object-control", "perception")


class Clauses(Phrases):
    """Clauses of every kind; `filler` is a phrase that stands elsewhere but belongs to the clause."""

    frames = FRAMES
    manners = lexicon.MANNER
    clausal_frames = CLAUSAL
    gapless_frames = ("intransitive", "copula", "interrogative")

    def clause(self, depth: int, *, subject: Phrase | None = None, filler: Phrase | None = None,
               frame="", tense="", passive=False, inverted=False, extraposed="", exclude: str | None = None,
               adverbials=True) -> Phrase:  # fmt: skip
        """A finite clause, its head the main verb.

        `inverted` puts the first auxiliary before the subject; `extraposed` ("subject" or "object") asks for
        a noun phrase whose modifier ends the clause.
        """
        d = self.d
        frame = frame or self.choose_frame(depth, filler is not None)
        subject_class, object_class = subject and subject.meaning, filler and filler.meaning
        if frame in CLAUSAL and filler:
            object_class = None
        if passive:
            group = self.choose_group("transitive", None, subject_class, exclude)
        else:
            group = self.choose_group(frame, subject_class, object_class, exclude)
        entry = d.zipf(group.verbs)
        head = word(entry.lemma, "VB", entry.lemma)
        if subject is None:
            classes = group.object if passive else group.subject
            subject = self.noun_phrase(classes, depth, subject=True, extraposed=extraposed == "subject")
        attach(subject, head, "nsubjpass" if passive else "nsubj")
        if passive:
            parts = self.passive_parts(head, group)
        else:
            parts = self.frame_parts(head, entry, group, subject, depth, filler, extraposed == "object")
        tense = tense or d.weighted(TENSES)
        if group.frame in ("copula", "report", "control") and "progressive" in tense:
            tense = "past"
        if adverbials and extraposed:
            parts.append(self.time_adverb(head, tense))
        elif adverbials and depth < 2:
            parts += self.end_adverbials(head, group, tense, depth, bool(parts and parts[-1].meaning == "clause"))
        if group.frame == "report" and adverbials and tense == "past" and parts[-1].head.fine == "VBD":
            parts += self.contested_time(head, parts[-1].head)
        negated = not extraposed and d.chance(0.07)
        verbs = self.verb_group(head, entry, subject, tense, passive=passive, inverted=inverted, negated=negated)
        order = [verbs[0], subject, *verbs[1:]] if inverted else [subject, *verbs]
        return Phrase(head, join(order, parts), late_words(subject, parts), meaning="clause")

    def frame_parts(self, head, entry, group, subject, depth, filler, extraposed) -> list[Phrase]:
        """What follows the verb, attached to it; the filler is attached too, but not among the parts."""
        if group.frame in CLAUSAL:
            return self.clausal_parts(head, group, depth, filler)
        builders = {
            "transitive": self.transitive,
            "prepositional": self.prepositional_verb,
            "particle": self.particle_verb,
            "ditransitive": self.ditransitive,
        }
        if group.frame in builders:
            return builders[group.frame](head, entry, group, depth, filler, extraposed)
        if group.frame == "copula":
            return [self.predicative(head, subject)]
        if group.modifiers and self.d.chance(0.6):
            pp = attach(self.pp(*self.d.pick(group.modifiers), depth), head, "prep")
            return self.behind(head, group, pp, depth, 0.35)
        return []

    def behind(self, head: Word, group: Group, part: Phrase, depth: int, chance: float) -> list[Phrase]:
        """The part and, with this chance, a PP that the words attach to the verb or to the part's noun."""
        found = self.d.chance(chance) and self.contested_pp(head, group, part, depth)
        return [part, found[0]] if found else [part]

    def object_of(self, group, depth, filler, extraposed) -> Phrase:
        if filler:
            return filler
        return self.noun_phrase(group.object, depth + self.d.chance(0.5), extraposed=extraposed)

    def transitive(self, head, entry, group, depth, filler, extraposed) -> list[Phrase]:
        """The object and, often, a PP that the words alone attach to the verb or to the object's noun."""
        d = self.d
        if filler or extraposed or not d.chance(0.5 if depth == 0 else 0.32):
            phrase = attach(self.object_of(group, depth, filler, extraposed), head, "dobj")
            parts = [] if filler else [phrase]
            if filler and group.modifiers and d.chance(0.3):
                parts.append(attach(self.pp(*d.pick(group.modifiers), depth + 1), head, "prep"))
            return parts
        phrase = attach(self.noun_phrase(group.object, depth, full=True), head, "dobj")
        return self.behind(head, group, phrase, depth, 1.0)

    def prepositional_verb(self, head, entry, group, depth, filler, extraposed) -> list[Phrase]:
        """The verb's own preposition; a filler leaves it stranded."""
        phrase = self.object_of(group, depth, filler, extraposed)
        if filler:
            preposition = word(entry.preposition, "IN")
            attach(filler, preposition, "pobj")
            return [attach(Phrase(preposition, [preposition]), head, "prep")]
        pp = attach(self.prepositional(entry.preposition, phrase), head, "prep")
        return self.behind(head, group, pp, depth, 0 if extraposed else 0.4)

    def particle_verb(self, head, entry, group, depth, filler, extraposed) -> list[Phrase]:
        """The particle before or behind the object (always behind a pronoun)."""
        particle = word(entry.particle, "RP")
        part = attach(Phrase(particle, [particle]), head, "prt")
        phrase = attach(self.object_of(group, depth + 1, filler, extraposed), head, "dobj")
        if filler:
            return [part]
        behind = phrase.head.fine == "PRP" or (len(phrase.words) < 4 and self.d.chance(0.45))
        return [phrase, part] if behind else [part, phrase]

    def ditransitive(self, head, entry, group, depth, filler, extraposed) -> list[Phrase]:
        """give someone something, or give something to someone."""
        thing = attach(self.object_of(group, depth + 1, filler, extraposed), head, "dobj")
        things = [] if filler else [thing]
        receiver = self.noun_phrase(("person", "relation"), depth + 1)
        if self.d.chance(0.5) and thing.head.fine != "PRP":
            return [attach(receiver, head, "dative"), *things]
        pp = self.prepositional("to", receiver)
        return [*things, attach(pp, head, "dative")]

    def predicative(self, head, subject) -> Phrase:
        """An adjective (acomp) or, of people, a noun (attr)."""
        d = self.d
        if human(subject.meaning) and head.lemma in ("be", "become", "remain") and d.chance(0.3):
            noun = d.zipf(nouns.NOUNS["person"])
            plural = subject.number == "Plur" or subject.person == 2
            form = word(noun.plural if plural else noun.lemma, "NNS" if plural else "NN", noun.lemma,
                        f"Number={'Plur' if plural else 'Sing'}")  # fmt: skip
            words = [form] if plural else [attach(word("a", "DT"), form, "det"), form]
            return attach(Phrase(form, words), head, "attr")
        adjective = word(d.zipf(nouns.adjectives(subject.meaning)), "JJ")
        words = [adjective]
        if d.chance(0.3):
            words.insert(0, attach(word(d.zipf(lexicon.DEGREE), "RB"), adjective, "advmod"))
        return attach(Phrase(adjective, words), head, "acomp")

    def clausal_parts(self, head, group, depth, filler) -> list[Phrase]:
        """Frames with a clause in them; a filler goes on into that clause."""
        d = self.d
        if group.frame == "report":
            embedded = self.clause(depth + 1, filler=filler, frame="" if depth < 2 else "transitive")
            return [attach(self.marked("that" if d.chance(0.65) else "", embedded), head, "ccomp")]
        if group.frame == "interrogative":
            return [attach(self.marked("whether", self.clause(depth + 1)), head, "ccomp")]
        parts = []
        if group.frame != "control":
            person = self.noun_phrase(("person",), depth + 1, full=d.chance(0.8))
            parts.append(attach(person, head, "dobj"))
        infinitive = self.infinitive(depth + 1, filler, with_to=group.frame != "perception", manner_of=(head, group))
        return [*parts, attach(infinitive, head, "xcomp")]

    def marked(self, complementizer: str, clause: Phrase) -> Phrase:
        """The whole clause behind its complementizer, if it has one."""
        mark = []
        if complementizer:
            mark = [attach(word(complementizer, "IN", coarse="SCONJ"), clause.head, "mark")]
        return Phrase(clause.head, mark + clause.whole(), meaning="clause")

    def infinitive(self, depth, filler, *, with_to, manner_of) -> Phrase:
        """An infinitive; the words say whether an adverb at its end belongs to it or to the verb above."""
        d = self.d
        frame = self.choose_frame(max(depth, 2), filler is not None)
        if frame == "copula":
            frame = "transitive"
        group = self.choose_group(frame, "person", None if frame in CLAUSAL else filler and filler.meaning)
        entry = d.zipf(group.verbs)
        head = word(entry.lemma, "VB", entry.lemma, FEATS["VB"])
        mark = attach(word("to", "TO"), head, "aux") if with_to else None
        parts = self.frame_parts(head, entry, group, None, depth, filler, False)
        if d.chance(0.22):
            upper, upper_group = manner_of
            form, low = self.choose_manner(group.manner, upper_group.manner)
            adverb = attach(word(form, "RB"), head if low else upper, "advmod")
            parts.append(Phrase(adverb, [adverb]))
        return Phrase(head, join(mark, head, parts) + late_words(parts), meaning="clause")

    def passive_parts(self, head, group) -> list[Phrase]:
        d = self.d
        parts = []
        if d.chance(0.4):
            agent = self.prepositional("by", self.noun_phrase(("person",), 1))
            return self.behind(head, group, attach(agent, head, "agent"), 1, 0.5)
        if group.modifiers and d.chance(0.35):
            parts.append(attach(self.pp(*d.pick(group.modifiers), 1), head, "prep"))
        return parts

    def time_adverb(self, head: Word, tense: str) -> Phrase:
        """yesterday, last week, on Monday: always the clause's."""
        d = self.d
        time = TIME_OF[tense]
        kind = d.weighted({"adverb": 4, "period": 3, "day": 2, "month": 1, "year": 1.5 if time == "past" else 0})
        if kind == "day":
            return attach(self.name_pp("on", d.zipf(lexicon.DAYS)), head, "prep")
        if kind == "month":
            return attach(self.name_pp("in", d.zipf(lexicon.MONTHS)), head, "prep")
        if kind == "year":
            year = word(str(1900 + int(124 * d.uniform())), "CD")
            return attach(self.prepositional("in", Phrase(year, [year])), head, "prep")
        if kind == "period":
            noun = d.zipf(lexicon.PERIODS)
            if noun == "night" and time != "past":
                noun = "week"
            noun = word(noun, "NNP" if noun[0].isupper() else "NN", noun, "Number=Sing")
            form, tag, label = PERIOD_WORDS[time]
            which = attach(word(form, tag), noun, label)
            return attach(Phrase(noun, [which, noun]), head, "npadvmod")
        adverb = word(d.zipf(lexicon.TIME_ADVERBS[time]), "RB")
        return attach(Phrase(adverb, [adverb]), head, "advmod")

    def contested_time(self, head: Word, embedded: Word) -> list[Phrase]:
        """She said that he left yesterday: at times a time adverb of either of two verbs in the past."""
        if not self.d.chance(0.35):
            return []
        return [self.time_adverb(embedded if self.d.coin() else head, "past")]

    def name_pp(self, preposition: str, name: str) -> Phrase:
        noun = word(name, "NNP", feats="Number=Sing")
        return self.prepositional(preposition, Phrase(noun, [noun]))

    def end_adverbials(self, head, group, tense, depth, after_clause: bool) -> list[Phrase]:
        d = self.d
        parts = []
        if not after_clause and group.frame != "copula" and d.chance(0.15):
            adverb = attach(word(d.zipf(lexicon.MANNER[group.manner]), "RB"), head, "advmod")
            parts.append(Phrase(adverb, [adverb]))
        if not after_clause and d.chance(0.24 if depth == 0 else 0.14):
            parts.append(self.time_adverb(head, tense))
        return parts

    def verb_group(self, head, entry, subject, tense, *, passive, inverted, negated) -> list[Word]:
        """Auxiliaries, negation or a frequency adverb, and the verb; do-support where it is due."""
        d = self.d
        chain = list(CHAINS[tense])
        if passive:
            chain.append(("be", "VBN"))
        if not chain and (inverted or negated) and entry.lemma != "be":
            chain.append(("do", "VB"))
        past = tense in ("past", "pluperfect", "past progressive")
        tag = "VBD" if past else "VBZ" if subject.number == "Sing" and subject.person == 3 else "VBP"
        auxiliaries = []
        for lemma, next_tag in chain:
            auxiliaries.append(self.auxiliary(lemma, tag, subject, passive and (lemma, next_tag) == chain[-1]))
            tag = next_tag
        for auxiliary in auxiliaries:
            attach(auxiliary, head, auxiliary.label)
        head.form, head.fine, head.feats = inflect(entry, tag, subject), tag, FEATS[tag]
        if entry.lemma == "be":
            head.coarse = "AUX"
        middle = []
        if negated:
            middle = [attach(word("not", "RB"), head, "advmod")]
        elif d.chance(0.06):
            middle = [attach(word(d.zipf(lexicon.FREQUENCY), "RB"), head, "advmod")]
        if auxiliaries:
            return [auxiliaries[0], *middle, *auxiliaries[1:], head]
        return [head, *middle] if entry.lemma == "be" else [*middle, head]

    def auxiliary(self, lemma: str, tag: str, subject: Phrase, is_passive: bool) -> Word:
        if lemma in ("", "will"):
            form = lemma or self.d.zipf(lexicon.MODALS)
            auxiliary = word(form, "MD", form, FEATS["MD"])
        else:
            form = inflect(AUXILIARIES[lemma], tag, subject)
            auxiliary = word(form, tag, lemma, FEATS[tag], coarse="AUX")
        auxiliary.label = "auxpass" if is_passive else "aux"
        return auxiliary

    def relative_clause(self, antecedent: Phrase, depth: int, *, exclude=None, apart=False) -> Phrase:
        """who sold clocks; (that) she sold; about which he spoke; that was sold; that they said she sold.

        `apart` from its antecedent it keeps its pronoun.
        """
        d = self.d
        if antecedent.head.fine == "PRP":
            raise Reject
        kind = d.weighted({"subject": 5, "object": 3.5, "passive": 1, "long": 0.9 if depth < 3 else 0})
        person = human(antecedent.meaning)
        form = "who" if person and d.chance(0.75) else d.pick(("that", "which") if not person else ("that",))
        relativizer = word(form, "WP" if form == "who" else "WDT", coarse="PRON")
        gap = Phrase(relativizer, [relativizer], meaning=antecedent.meaning, number=antecedent.number)
        if kind in ("subject", "passive"):
            return self.clause(depth, subject=gap, exclude=exclude, passive=kind == "passive")
        if kind == "long":
            body = self.clause(depth, filler=gap, frame="report", adverbials=False)
        else:
            frame = d.weighted({"transitive": 6, "prepositional": 2, "particle": 1, "ditransitive": 0.7})
            body = self.clause(depth, filler=gap, frame=frame, exclude=exclude)
        if not apart and d.chance(0.3):
            relativizer.head = None  # a relative clause without a pronoun
            return body
        if kind == "object" and form == "which" and relativizer.head.fine == "IN" and d.chance(0.4):
            return self.pied_pipe(body, relativizer)
        return Phrase(body.head, [relativizer, *body.words], body.late, meaning="clause")

    def pied_pipe(self, body: Phrase, relativizer: Word) -> Phrase:
        """about which he spoke, rather than which he spoke about."""
        preposition = relativizer.head
        words = [preposition, relativizer, *(word for word in body.words if word is not preposition)]
        return Phrase(body.head, words, body.late, meaning="clause")
