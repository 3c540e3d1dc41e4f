"""Dutch sentences: the types of sentence, their rates, and how each is put together."""

from __future__ import annotations

import dutch_lexicon as lexicon
import dutch_nouns as nouns
import dutch_verb_groups as verb_groups
from attachment import human
from draw import Draw, Reject
from dutch_clauses import Clauses
from dutch_phrases import word
from dutch_slots import NEGATION, TIME, of_slots
from dutch_verbs import finite_feats, finite_form
from tables import words
from tree import Phrase, Word, attach, join

LABELS = words("""ROOT app bijzin cmp cnj crd det ld mod num obj1 obj2 pc predc punct rel su sup svp te vc""")

# Sentence types and their shares in per cent; methods of the class below.
RATES = {
    "plain": 29.5, "passive": 8, "coordination": 11, "subordinate": 14, "presentational": 3, "imperative": 3,
    "polar_question": 4, "subject_question": 2, "adverb_question": 2.5, "object_question": 3,
    "long_question": 3, "stranded_question": 1.5, "stranded_topic": 2.5, "extraposed_object": 4,
    "cross_serial": 3, "parenthetical": 3.5, "two_roots": 2.5,
}  # fmt: skip

THINGS = ("document", "food", "vehicle", "garment", "animal", "event", "building", "furniture")


class Dutch(Clauses):
    """Draws sentences; `sentence(kind)` gives the words of one of the types in RATES."""

    labels = LABELS
    rates = RATES

    def __init__(self, seed: int):
        super().__init__(Draw(seed))

    def sentence(self, kind: str) -> list[Word]:
        """A sentence of this type: its words in order, attached, with capital letters. Raises Reject."""
        words = getattr(self, kind)()
        first = words[0]
        first.form = first.form[0].upper() + first.form[1:]
        return words

    def end(self, words: list[Word], root: Word, mark: str = ".") -> list[Word]:
        """Add the final mark, which hangs on the root (of two, the last)."""
        return [*words, attach(word(mark, "LET()"), root, "punct")]

    def comma(self, head: Word, form: str = ",") -> Word:
        return attach(word(form, "LET()"), head, "punct")

    def plain(self) -> list[Word]:
        clause = self.clause(0)
        return self.end(clause.whole(), clause.head)

    def passive(self) -> list[Word]:
        clause = self.clause(0, passive=True)
        return self.end(clause.whole(), clause.head)

    def coordination(self) -> list[Word]:
        """Two clauses, or two predicates of one subject."""
        d = self.d
        shared = d.chance(0.4)
        first = self.clause(1, front="subject", tense="past" if shared else "")
        second = self.shared_predicate(first) if shared else self.clause(1)
        attach(second, first.head, "cnj")
        coordinator = word(d.weighted({"en": 5, "maar": 3}), "VG(neven)")
        attach(coordinator, first.head, "crd")
        comma = None if shared else self.comma(second.head)
        return self.end(first.whole() + join(comma, coordinator) + second.whole(), first.head)

    def shared_predicate(self, first: Phrase) -> Phrase:
        """A second predicate in the past tense, whose subject the first one has."""
        subject = next(w for w in first.words if w.head is first.head and w.label == "su")
        people = subject.fine.startswith(("VNW(pers", "SPEC")) or subject.lemma in PEOPLE
        if not people or subject.form in ("het", "ze"):
            raise Reject
        number = "Plur" if "Number=Plur" in subject.feats else "Sing"
        if any(w.head is subject and w.label == "cnj" for w in first.words):
            number = "Plur"
        silent = Phrase(subject, [], meaning="person", number=number)
        frame = self.d.weighted({"transitive": 5, "intransitive": 2, "prepositional": 1})
        second = self.clause(1, front="subject", subject=silent, frame=frame, tense="past", adverbials=False)
        attach(subject, first.head, "su")
        return second

    def subordinate(self) -> list[Word]:
        """A main clause with a subordinate clause in front of it or behind it."""
        d = self.d
        tense = d.weighted({"past": 5, "present": 3})
        side = self.complement(d.zipf(lexicon.SUBORDINATORS[tense]), 1, tense=tense)
        first = d.chance(0.4)
        main = self.clause(1, front="none" if first else "", tense=tense)
        embedded = next((w for w in main.words if w.label == "vc" and w.head.lemma in REPORTS), None)
        low = not first and embedded is not None and d.coin()
        attach(side, embedded if low else main.head, "bijzin")
        comma = self.comma(side.head)
        if first:
            return self.end([*side.words, comma, *main.whole()], main.head)
        return self.end([*main.whole(), *([comma] if d.chance(0.6) else []), *side.words], main.head)

    def presentational(self) -> list[Word]:
        """Er stond gisteren een man op het plein die ..."""
        d = self.d
        meaning = d.pick(("person", "animal", "vehicle"))
        subject = self.core(meaning, 0, indefinite=True)
        if subject.words[0].lemma not in ("een", "enkele", "veel"):
            raise Reject
        if d.chance(0.6):
            self.extrapose(subject, 0)
        frame = "intransitive"
        clause = self.clause(1, frame=frame, subject=subject, front="none", adverbials=d.chance(0.5))
        there = attach(word("er", "VNW(aanw)"), clause.head, "sup")
        return self.end([there, *clause.whole()], clause.head)

    def imperative(self) -> list[Word]:
        d = self.d
        frame = d.weighted({"transitive": 6, "ditransitive": 2, "intransitive": 1})
        group = self.choose_group(frame, "person", None)
        entry = d.zipf(group.verbs)
        head = word(entry.stem, "WW(pv,tgw,ev)", entry.lemma, "Mood=Imp|VerbForm=Fin")
        parts, _ = self.frame_parts(head, entry, group, None, 0, None, False, False)
        if d.chance(0.25) and not self.indefinite(parts):
            parts.append((NEGATION, attach(Phrase(no := word("niet", "BW()"), [no]), head, "mod")))
        if d.chance(0.3):
            parts.append((TIME, self.time_adverb(head, "future")))
        particle = attach(word(entry.particle, "VZ(fin)"), head, "svp") if entry.particle else None
        middle, after = of_slots(parts, after=False), of_slots(parts, after=True)
        return self.end(join(head, middle, particle, after), head, d.pick((".", "!")))

    def polar_question(self) -> list[Word]:
        clause = self.clause(1, front="none", passive=self.d.chance(0.15))
        return self.end(clause.whole(), clause.head, "?")

    def subject_question(self) -> list[Word]:
        if self.d.chance(0.5):
            head = word("wie", "VNW(vb)")
            subject = Phrase(head, [head], meaning="person")
        else:
            subject = self.core("person", 1, determiner="welk")
        clause = self.clause(1, subject=subject, front="subject")
        return self.end(clause.whole(), clause.head, "?")

    def adverb_question(self) -> list[Word]:
        """Wanneer vertrok ze? With a clause inside, where the adverb belongs is the hearer's guess."""
        d = self.d
        adverb = word(d.pick(("wanneer", "waar", "waarom", "hoe")), "BW()")
        frame = d.weighted({"transitive": 5, "intransitive": 3, "report": 1.5})
        clause = self.clause(1, front="none", frame=frame, adverbials=False)
        embedded = next((w for w in clause.words if w.label == "vc" and w.head.lemma in REPORTS), None)
        low = embedded is not None and d.coin()
        attach(adverb, embedded if low else clause.head, "mod")
        return self.end([adverb, *clause.whole()], clause.head, "?")

    def wh_phrase(self) -> Phrase:
        d = self.d
        meaning = d.pick((*THINGS, "person"))
        if d.chance(0.35):
            head = word("wie" if human(meaning) else "wat", "VNW(vb)")
            return Phrase(head, [head], meaning=meaning)
        return self.core(meaning, 2, determiner="welk")

    def led(self, filler: Phrase, frame: str, mark: str) -> list[Word]:
        """A main clause behind a phrase that belongs somewhere inside it."""
        clause = self.clause(1, front="none", filler=filler, frame=frame)
        if filler.head.head is None:
            raise Reject
        return self.end(join(filler) + clause.whole(), clause.head, mark)

    def object_question(self) -> list[Word]:
        return self.led(self.wh_phrase(), "transitive", "?")

    def long_question(self) -> list[Word]:
        """Welk boek denkt de leraar dat ze heeft gelezen?"""
        return self.led(self.wh_phrase(), self.d.weighted({"report": 5, "control": 2}), "?")

    def r_word(self, form: str) -> Phrase:
        head = word(form, "VNW(vb)" if form == "waar" else "VNW(aanw)")
        return Phrase(head, [head], meaning=self.d.pick(("document", "animal", "vehicle", "topic", "event")))

    def stranded_question(self) -> list[Word]:
        """Waar wacht je op?"""
        return self.led(self.r_word("waar"), "prepositional", "?")

    def stranded_topic(self) -> list[Word]:
        """Daar heeft hij gisteren over gesproken."""
        return self.led(self.r_word(self.d.weighted({"daar": 4, "hier": 1})), "prepositional", ".")

    def extraposed_object(self) -> list[Word]:
        """Ze heeft gisteren een man ontmoet die klokken verkocht."""
        tense = self.d.weighted({"perfect": 5, "modal": 1, "future": 1, "pluperfect": 1})
        front = self.d.weighted({"subject": 3, "time": 2})
        clause = self.clause(0, front=front, frame="transitive", extraposed="object", tense=tense)
        return self.end(clause.whole(), clause.head)

    def cross_serial(self) -> list[Word]:
        """Ik weet dat Jan de kinderen de paarden zag voeren."""
        d = self.d
        frame = d.weighted({"perception": 4, "control": 1})
        if d.chance(0.5):
            group = self.choose_group("report", "person", None)
            entry = d.zipf(group.verbs)
            subject = self.noun_phrase(("person",), 1, subject=True)
            lexical = word(entry.lemma, "WW(inf)", entry.lemma)
            return self.report(subject, entry, lexical, self.complement("dat", 2, frame=frame))
        tense = d.weighted({"past": 5, "present": 2})
        side = self.complement(d.zipf(lexicon.SUBORDINATORS[tense]), 2, frame=frame, tense=tense)
        main = self.clause(2, front="subject", tense=tense, adverbials=False)
        attach(side, main.head, "bijzin")
        return self.end(main.whole() + side.words, main.head)

    def report(self, subject: Phrase, entry, lexical: Word, clause: Phrase) -> list[Word]:
        past = self.d.chance(0.6)
        lexical.form = finite_form(entry.infinitive, past, subject, False, entry)
        lexical.fine, lexical.feats = finite_feats(past, subject)
        particle = attach(word(entry.particle, "VZ(fin)"), lexical, "svp") if entry.particle else None
        attach(subject, lexical, "su")
        attach(clause, lexical, "vc")
        return self.end(join(subject, lexical, particle, clause) + subject.late, lexical)

    def parenthetical(self) -> list[Word]:
        """De brug , zei de ingenieur , was onveilig ."""
        d = self.d
        quote = self.clause(1, front="subject", passive=d.chance(0.2), adverbials=False)
        group = self.choose_group("report", "person", None)
        entry = d.pick([v for v in group.verbs[:6] if not v.particle])
        speaker = self.noun_phrase(("person", "relation"), 2, subject=True)
        head = word(finite_form(entry.infinitive, True, speaker, True, entry), finite_feats(True,
                    speaker)[0], entry.lemma,
                    finite_feats(True, speaker)[1])  # fmt: skip
        attach(speaker, head, "su")
        attach(quote, head, "vc")
        cut = quote.words.index(quote.head) if d.chance(0.5) else len(quote.words)
        inset = join(self.comma(head), head, speaker)
        rest = quote.words[cut:] + quote.late
        return self.end([*quote.words[:cut], *inset, *([self.comma(head)] if rest else []), *rest], head)

    def two_roots(self) -> list[Word]:
        """Two parts that nothing connects: a call and a clause, two clauses, a headline and a clause."""
        d = self.d
        kind = d.weighted({"call": 3, "clauses": 4, "headline": 3})
        second = self.clause(1)
        if kind == "call":
            first, form = self.name(), ","
        elif kind == "clauses":
            first, form = self.clause(1), ";"
        else:
            first, form = self.noun_phrase(("event", "topic", "document"), 1), ":"
        return self.end([*first.whole(), self.comma(first.head, form), *second.whole()], second.head)


PEOPLE = {noun.lemma for name in ("person", "relation") for noun in nouns.NOUNS[name]}
REPORTS = {v.lemma for group in verb_groups.GROUPS if group.frame == "report" for v in group.verbs}
