"""Dutch clauses by topological fields: front, finite verb, middle field, verb cluster, what follows it.

The subject, time and sentence adverbs and the negation hang on the finite verb, everything else on the
lexical one, so a fronted object leaves a crossing behind and a cluster of verbs crosses the arcs to their
objects.
"""

from __future__ import annotations

import dutch_lexicon as lexicon
import dutch_nouns as nouns
from attachment import human
from draw import Reject
from dutch_adverbials import Adverbials
from dutch_phrases import word
from dutch_slots import (
    AFTER,
    LOWER_OBJECT,
    LOWER_PP,
    OBJECT,
    PP,
    PREDICATE,
    PRONOUN,
    RECEIVER,
    Parts,
    of_slots,
)
from dutch_verb_groups import Verb
from dutch_verbs import MODALS, TENSES, Verbs, as_infinitive, build_verbs, final_order
from selection import Group
from tree import Phrase, Word, attach, join, late_words

FRAMES = {
    "transitive": 9, "intransitive": 4, "prepositional": 2, "ditransitive": 1, "report": 1.6,
    "interrogative": 0.3, "control": 1.1, "object-control": 0.6, "perception": 0.5, "copula": 2,
}  # fmt: skip
CLAUSAL = ("report", "interrogative", "control", "object-control", "perception")
# Verbs whose infinitive may join the cluster, its objects left of all verbs (the third construction).
CLUSTERING = ("proberen", "weigeren", "durven", "beginnen", "dreigen")


class Clauses(Adverbials):
    """Clauses of every kind; `filler` is a phrase that stands elsewhere but belongs to the clause."""

    frames = FRAMES
    manners = lexicon.MANNER
    clausal_frames = CLAUSAL
    gapless_frames = ("intransitive", "copula", "interrogative", "prepositional")

    def clause(self, depth: int, *, final=False, front="", subject: Phrase | None = None,
               filler: Phrase | None = None, frame="", tense="", passive=False, extraposed="",
               exclude: str | None = None, adverbials=True) -> Phrase:  # fmt: skip
        """A finite clause, its head the finite verb.

        `final`: the verbs at the end (subordinate). Else `front` says what stands before the finite verb:
        "subject", "time", "object", "pp", or "none" where the caller or nobody fills the place.
        """
        d = self.d
        frame = frame or self.choose_frame(depth, filler is not None)
        subject_class, object_class = subject and subject.meaning, filler and filler.meaning
        if passive:
            group = self.choose_group("transitive", None, subject_class, exclude)
        else:
            group = self.choose_group(frame, subject_class, None if frame in CLAUSAL else object_class, exclude)
        entry = d.zipf(group.verbs)
        lexical = word(entry.lemma, "WW(inf)", entry.lemma)
        if subject is None:
            classes = group.object if passive else group.subject
            subject = self.noun_phrase(classes, depth, subject=True, extraposed=extraposed == "subject")
        parts, lower = self.frame_parts(lexical, entry, group, subject, depth, filler, passive, extraposed == "object")
        tense = tense or d.weighted(TENSES)
        front = front or d.weighted({"subject": 6, "time": 2, "object": 0.8, "pp": 0.8})
        fronted, front = (None, front) if final else self.choose_front(parts, front)
        verbs = build_verbs(
            lexical,
            entry,
            subject,
            tense,
            passive=passive,
            final=final,
            inverted=front != "subject",
            modal=d.zipf(MODALS),
            infinitive_for_participle=group.frame == "perception",
        )
        attach(subject, verbs.finite, "su")
        if front == "time":
            fronted = self.time_adverb(verbs.finite, tense)
        if adverbials and not extraposed:
            self.add_adverbials(parts, verbs, group, tense, depth, front == "time")
        return self.linearise(verbs, subject, fronted, parts, lower, final=final, subject_first=front == "subject")

    def choose_front(self, parts: Parts, front: str) -> tuple[Phrase | None, str]:
        """Take the part out that shall stand first; without one, the subject stands there."""
        wanted = {"object": (OBJECT, RECEIVER), "pp": (PP,)}.get(front, ())
        for item in parts:
            if item[0] in wanted and not item[1].late:
                parts.remove(item)
                return item[1], front
        return None, front if front in ("time", "none", "subject") else "subject"

    def linearise(self, verbs: Verbs, subject, fronted, parts, lower, *, final, subject_first) -> Phrase:
        middle, after = of_slots(parts, after=False), of_slots(parts, after=True)
        if final:
            cluster = final_order(verbs, lower, self.d.chance(0.55))
            words = join(subject, middle, cluster)
        else:
            before, behind = (subject, None) if subject_first else (fronted, subject)
            words = join(before, verbs.finite, behind, middle, verbs.particle, verbs.others, lower)
        return Phrase(verbs.finite, words + join(after), late_words(subject, middle, after), meaning="clause")

    def frame_parts(
        self, lexical, entry, group, subject, depth, filler, passive, extraposed
    ) -> tuple[Parts, list[Word]]:
        """(the parts around the verb, attached to it; the words that follow it inside the cluster)."""
        if passive:
            return self.passive_parts(lexical, group), []
        if group.frame in CLAUSAL:
            return self.clausal_parts(lexical, entry, group, depth, filler)
        if group.frame == "transitive":
            return self.transitive(lexical, group, depth, filler, extraposed), []
        if group.frame == "prepositional":
            return self.prepositional_verb(lexical, entry, group, depth, filler), []
        if group.frame == "ditransitive":
            return self.ditransitive(lexical, group, depth, filler, extraposed), []
        if group.frame == "copula":
            return [(PREDICATE, self.predicative(lexical, subject))], []
        if group.modifiers and self.d.chance(0.6):
            slot, pp = self.verb_pp(lexical, *self.d.pick(group.modifiers), depth)
            return self.behind(lexical, group, (slot, pp), depth, 0.35), []
        return [], []

    def behind(self, lexical: Word, group: Group, item: tuple[int, Phrase], depth: int, chance: float) -> Parts:
        """The part and, with this chance, a PP that the words attach to the verb or to the part's noun."""
        slot, part = item
        found = self.d.chance(chance) and self.contested_pp(lexical, group, part, depth)
        if not found:
            return [item]
        pp, to_verb = found
        if to_verb or self.d.chance(0.15):
            return [item, (AFTER if slot == AFTER or self.d.chance(0.15) else PP, pp)]
        part.words += pp.whole()
        return [item]

    def verb_pp(self, lexical: Word, preposition: str, meaning: str, depth: int) -> tuple[int, Phrase]:
        """A PP of the verb: `ld` if it names a goal or a source of a movement, else `mod`."""
        pp = self.pp(preposition, meaning, depth)
        slot = AFTER if self.d.chance(0.15) else PP
        return slot, attach(pp, lexical, self.verb_label(preposition, meaning))

    def verb_label(self, preposition: str, meaning: str) -> str:
        return "ld" if preposition in ("naar", "uit", "langs") else "mod"

    def object_of(self, group, depth, filler, extraposed) -> Phrase:
        return filler or self.noun_phrase(group.object, depth + self.d.chance(0.5), extraposed=extraposed)

    def slot_of(self, phrase: Phrase) -> int:
        return PRONOUN if phrase.head.fine.startswith("VNW(pers") else OBJECT

    def transitive(self, lexical, group, depth, filler, extraposed) -> Parts:
        """The object and, often, a PP that the words alone attach to the verb or to the object's noun."""
        d = self.d
        if filler or extraposed or not d.chance(0.5 if depth == 0 else 0.32):
            phrase = attach(self.object_of(group, depth, filler, extraposed), lexical, "obj1")
            parts = [] if filler else [(self.slot_of(phrase), phrase)]
            if filler and group.modifiers and d.chance(0.3):
                parts.append(self.verb_pp(lexical, *d.pick(group.modifiers), depth + 1))
            return parts
        phrase = attach(self.noun_phrase(group.object, depth, full=True), lexical, "obj1")
        return self.behind(lexical, group, (OBJECT, phrase), depth, 1.0)

    def prepositional_verb(self, lexical, entry, group, depth, filler) -> Parts:
        """The verb's own preposition (`pc`); left behind, before the verbs, by a fronted daar or waar."""
        if filler:
            form = lexicon.STRANDED.get(entry.preposition, entry.preposition)
            preposition = word(form, "VZ(fin)", entry.preposition)
            attach(filler, preposition, "obj1")
            return [(PREDICATE, attach(Phrase(preposition, [preposition]), lexical, "pc"))]
        phrase = self.noun_phrase(group.object, depth + self.d.chance(0.5))
        if phrase.head.form in ("het", "ze"):
            raise Reject
        slot = AFTER if self.d.chance(0.25) else PP
        pp = attach(self.prepositional(entry.preposition, phrase), lexical, "pc")
        return self.behind(lexical, group, (slot, pp), depth, 0.4)

    def ditransitive(self, lexical, group, depth, filler, extraposed) -> Parts:
        """iemand iets geven, or iets aan iemand geven."""
        thing = attach(self.object_of(group, depth + 1, filler, extraposed), lexical, "obj1")
        parts = [] if filler else [(self.slot_of(thing), thing)]
        receiver = self.noun_phrase(("person", "relation"), depth + 1, full=self.d.chance(0.6))
        if self.d.chance(0.5):
            slot = PRONOUN if receiver.head.fine.startswith("VNW(pers") else RECEIVER
            return [(slot, attach(receiver, lexical, "obj2")), *parts]
        return [*parts, (PP, attach(self.prepositional("aan", receiver), lexical, "obj2"))]

    def predicative(self, lexical: Word, subject: Phrase) -> Phrase:
        """An adjective or, of people, a noun (`predc`)."""
        d = self.d
        if human(subject.meaning) and lexical.lemma != "lijken" and d.chance(0.25) and subject.number == "Sing":
            noun = d.zipf(nouns.NOUNS["person"])
            head = word(
                noun.lemma,
                "N(soort,ev)",
                noun.lemma,
                "Number=Sing|Gender=" + ("Neut" if noun.neuter else "Com"),
            )
            return attach(Phrase(head, [self.article("een", noun.neuter, head), head]), lexical, "predc")
        adjective = d.zipf(nouns.adjectives(subject.meaning))
        head = word(adjective.form, "ADJ(vrij)", adjective.form)
        degree = [attach(word(d.zipf(lexicon.DEGREE), "BW()"), head, "mod")] if d.chance(0.3) else []
        return attach(Phrase(head, [*degree, head]), lexical, "predc")

    def passive_parts(self, lexical, group) -> Parts:
        parts = []
        if self.d.chance(0.4):
            agent = self.prepositional("door", self.noun_phrase(("person",), 1))
            return self.behind(lexical, group, (PP, attach(agent, lexical, "mod")), 1, 0.5)
        if group.modifiers and self.d.chance(0.35):
            parts.append(self.verb_pp(lexical, *self.d.pick(group.modifiers), 1))
        return parts

    def complement(self, complementizer: str, depth: int, **kwargs) -> Phrase:
        """A subordinate clause; the complementizer hangs on its finite verb as `cmp`."""
        body = self.clause(depth, final=True, **kwargs)
        mark = attach(word(complementizer, "VG(onder)", coarse="SCONJ"), body.head, "cmp")
        return Phrase(body.head, [mark, *body.whole()], meaning="clause")

    def clausal_parts(self, lexical, entry, group, depth, filler) -> tuple[Parts, list[Word]]:
        """Frames with a clause in them; a filler goes on into that clause."""
        d = self.d
        if group.frame in ("report", "interrogative"):
            frame = "" if depth < 2 else "transitive"
            form = "dat" if group.frame == "report" else "of"
            clause = self.complement(form, depth + 1, filler=filler, frame=frame)
            return [(AFTER, attach(clause, lexical, "vc"))], []
        parts: Parts = []
        if group.frame != "control":
            person = self.noun_phrase(("person",), depth + 1, full=d.chance(0.8))
            parts.append((self.slot_of(person), attach(person, lexical, "obj1")))
        verb, tokens, below = self.infinitive(
            depth + 1, filler, with_te=group.frame != "perception", manner_of=(lexical, group)
        )
        attach(verb, lexical, "vc")
        joins = group.frame == "perception" or (entry.infinitive in CLUSTERING and d.chance(0.5))
        if joins and not any(slot == AFTER for slot, _ in below):
            slots = {PRONOUN: LOWER_OBJECT, OBJECT: LOWER_OBJECT, RECEIVER: LOWER_OBJECT, PP: LOWER_PP}
            return parts + [(slots.get(slot, LOWER_PP), part) for slot, part in below], tokens
        if group.frame == "perception":
            raise Reject
        words = join(of_slots(below, after=False), tokens, of_slots(below, after=True))
        return [
            *parts,
            (AFTER, Phrase(verb, words + late_words([part for _, part in below]), meaning="clause")),
        ], []

    def infinitive(self, depth: int, filler, *, with_te: bool, manner_of) -> tuple[Word, list[Word], Parts]:
        """(the infinitive, its words: op te bellen, its parts); `manner_of`: the verb above and its group."""
        d = self.d
        frame = d.weighted({"transitive": 6, "intransitive": 0 if filler else 2, "ditransitive": 1})
        group = self.choose_group(frame, "person", filler and filler.meaning)
        entry: Verb = d.zipf(group.verbs)
        verb = word(entry.lemma, "WW(inf)", entry.lemma)
        as_infinitive(verb, entry)
        parts, _ = self.frame_parts(verb, entry, group, None, max(depth, 2), filler, False, False)
        if d.chance(0.2):
            upper, upper_group = manner_of
            form, low = self.choose_manner(group.manner, upper_group.manner)
            adverb = attach(word(form, "ADJ(vrij)"), verb if low else upper, "mod")
            parts.append((LOWER_PP, Phrase(adverb, [adverb])))
        if not with_te:
            return verb, [verb], parts
        tokens = [attach(word("te", "VZ(init)", coarse="PART"), verb, "te"), verb]
        if entry.particle:
            verb.form = entry.infinitive
            tokens.insert(0, attach(word(entry.particle, "VZ(fin)"), verb, "svp"))
        return verb, tokens, parts

    def relative_clause(self, antecedent: Phrase, depth: int, *, exclude=None) -> Phrase:
        """die klokken verkocht; dat ze las; waar hij over sprak; op wie hij wacht."""
        d = self.d
        if antecedent.head.fine.startswith("VNW"):
            raise Reject
        kind = d.weighted(
            {"subject": 5, "object": 3, "passive": 0.8, "preposition": 1.6, "long": 0.6 if depth < 3 else 0}
        )
        neuter = "Gender=Neut" in antecedent.head.feats
        pronoun = word("dat" if neuter else "die", "VNW(betr)")
        gap = Phrase(pronoun, [pronoun], meaning=antecedent.meaning, number=antecedent.number)
        if kind in ("subject", "passive"):
            return self.clause(depth, final=True, subject=gap, exclude=exclude, passive=kind == "passive")
        if kind == "preposition":
            pronoun.form = pronoun.lemma = "wie" if human(antecedent.meaning) else "waar"
            body = self.clause(depth, final=True, filler=gap, frame="prepositional", exclude=exclude)
            return self.pied_pipe(body, pronoun) if human(antecedent.meaning) else self.led_by(pronoun, body)
        frame = "report" if kind == "long" else d.weighted({"transitive": 6, "ditransitive": 0.7})
        return self.led_by(pronoun, self.clause(depth, final=True, filler=gap, frame=frame, exclude=exclude))

    def led_by(self, pronoun: Word, body: Phrase) -> Phrase:
        return Phrase(body.head, [pronoun, *body.words], body.late, meaning="clause")

    def pied_pipe(self, body: Phrase, pronoun: Word) -> Phrase:
        """op wie hij wacht: the preposition goes along."""
        preposition = pronoun.head
        preposition.form, preposition.fine = preposition.lemma, "VZ(init)"
        words = [preposition, pronoun, *(w for w in body.words if w is not preposition)]
        return Phrase(body.head, words, body.late, meaning="clause")
