"""English sentences: the types of sentence, their rates, and how each is put together."""

from __future__ import annotations

from itertools import pairwise

import english_lexicon as lexicon
import english_nouns as nouns
from attachment import human
from draw import Draw, Reject
from english_clauses import Clauses
from english_phrases import word
from tables import words
from tree import Phrase, Word, attach, join

LABELS = words(
    """ROOT acomp advcl advmod agent amod attr aux auxpass case cc ccomp compound conj dative det dobj
    expl mark npadvmod nsubj nsubjpass nummod pobj poss prep prt punct relcl xcomp"""
)

# Sentence types and their shares in per cent; methods of the class below.
RATES = {
    "plain": 20, "fronted_adverbial": 8, "passive": 6, "coordination": 9, "subordinate": 12,
    "existential": 2.5, "imperative": 3, "polar_question": 4, "subject_question": 1.5, "adverb_question": 2.5,
    "object_question": 3.5, "long_question": 6, "stranded_question": 3, "extraposed_subject": 6,
    "extraposed_object": 4.5, "parenthetical": 3, "topicalised": 3, "two_roots": 2.5,
}  # fmt: skip

ASKED_FOR = ("document", "food", "person", "vehicle", "garment", "animal", "event", "building")


def correct_articles(words: list[Word]) -> None:
    """`an` before a vowel."""
    for this, following in pairwise(words):
        vowel = following.form[0] in "aeiouAEIO" or following.form.startswith(("heir", "honest"))
        if this.form == "a" and vowel and not following.form.startswith(("uni", "use")):
            this.form = "an"


class English(Clauses):
    """Draws sentences; `sentence(kind)` gives the words of one of the types in RATES."""

    labels = LABELS
    rates = RATES

    def __init__(self, seed: int):
        super().__init__(Draw(seed))

    def sentence(self, kind: str) -> list[Word]:
        """A sentence of this type: its words in order, attached, with capital letters. Raises Reject."""
        words = getattr(self, kind)()
        correct_articles(words)
        first = words[0]
        first.form = first.form[0].upper() + first.form[1:]
        return words

    def end(self, words: list[Word], root: Word, mark: str = ".") -> list[Word]:
        """Add the final mark, which hangs on the root (of two, the last)."""
        return [*words, attach(word(mark, ".", feats="_"), root, "punct")]

    def comma(self, head: Word, form: str = ",") -> Word:
        return attach(word(form, "," if form == "," else ":"), head, "punct")

    def plain(self) -> list[Word]:
        clause = self.clause(0)
        return self.end(clause.whole(), clause.head)

    def passive(self) -> list[Word]:
        clause = self.clause(0, passive=True)
        return self.end(clause.whole(), clause.head)

    def fronted_adverbial(self) -> list[Word]:
        """Yesterday the farmer ...; In the village , ...; Perhaps ..."""
        d = self.d
        tense = d.weighted({"past": 5, "present": 2, "future": 2})
        clause = self.clause(0, tense=tense, adverbials=False)
        kind = d.weighted({"time": 3, "place": 2, "adverb": 2})
        if kind == "time":
            front = self.time_adverb(clause.head, tense)
        elif kind == "place":
            preposition, meaning = d.pick(
                (("in", "place"), ("in", "town"), ("at", "event"), ("during", "event"), ("near", "building"))
            )
            front = attach(self.pp(preposition, meaning, 1), clause.head, "prep")
        else:
            adverb = attach(word(d.zipf(lexicon.SENTENCE_ADVERBS), "RB"), clause.head, "advmod")
            front = Phrase(adverb, [adverb])
        comma = self.comma(front.head) if kind == "adverb" or len(front.words) > 2 else None
        return self.end(join(front, comma) + clause.whole(), clause.head)

    def coordination(self) -> list[Word]:
        """Two clauses, or two predicates of one subject."""
        d = self.d
        first = self.clause(1)
        coordinator = word(d.weighted({"and": 5, "but": 3, "or": 0.5}), "CC")
        shared = d.chance(0.45)
        if shared:
            subject = next((w for w in first.words if w.head is first.head and w.label.startswith("nsubj")), None)
            silent = Phrase(subject, [], meaning="person", number="Sing")
            second = self.shared_predicate(silent, first)
        else:
            second = self.clause(1)
        attach(second, first.head, "conj")
        attach(coordinator, first.head, "cc")
        comma = None if shared else self.comma(second.head)
        return self.end(first.whole() + join(comma, coordinator) + second.whole(), first.head)

    def shared_predicate(self, silent: Phrase, first: Phrase) -> Phrase:
        """A second predicate in the past tense, whose subject the first one has."""
        subject, label = silent.head, silent.head.label
        if first.meaning != "clause" or first.head.fine != "VBD" or first.head.lemma == "be":
            raise Reject
        if not (subject.fine in ("PRP", "NNP") or subject.lemma in PEOPLE) or subject.form == "it":
            raise Reject
        frame = self.d.weighted({"transitive": 5, "intransitive": 2, "particle": 1, "prepositional": 1})
        second = self.clause(1, subject=silent, frame=frame, tense="past", adverbials=self.d.chance(0.4))
        attach(subject, first.head, label)
        return second

    def subordinate(self) -> list[Word]:
        """A main clause with an adverbial clause in front of it or behind it."""
        d = self.d
        tense = d.weighted({"past": 5, "present": 3})
        main, side = self.clause(1, tense=tense), self.clause(1, tense=tense)
        mark = attach(word(d.zipf(lexicon.SUBORDINATORS), "IN", coarse="SCONJ"), side.head, "mark")
        words = [mark, *side.whole()]
        first = d.chance(0.4)
        embedded = next((w for w in main.words if w.label == "ccomp" and w.head is main.head), None)
        low = not first and embedded is not None and d.coin()
        attach(side, embedded if low else main.head, "advcl")
        if first:
            return self.end([*words, self.comma(side.head), *main.whole()], main.head)
        return self.end(main.whole() + words, main.head)

    def existential(self) -> list[Word]:
        """There was a man in the garden who ..."""
        d = self.d
        noun = self.core(d.pick(("person", "animal", "building")), 0, indefinite=True)
        if d.chance(0.5):
            self.extrapose(noun, 0)
        past = d.chance(0.7)
        form = ("was" if past else "is") if noun.number == "Sing" else "were" if past else "are"
        head = word(form, "VBD" if past else "VBZ" if noun.number == "Sing" else "VBP", "be", coarse="AUX")
        expletive = attach(word("there", "EX"), head, "expl")
        attach(noun, head, "nsubj")
        place = attach(self.pp(*d.pick((("in", "place"), ("near", "building"), ("in", "town"))), 1), head, "prep")
        return self.end(join(expletive, head, noun, place) + noun.late, head)

    def imperative(self) -> list[Word]:
        d = self.d
        frame = d.weighted({"transitive": 6, "particle": 3, "ditransitive": 2, "intransitive": 1})
        group = self.choose_group(frame, "person", None)
        entry = d.zipf(group.verbs)
        head = word(entry.lemma, "VB", entry.lemma, "VerbForm=Inf")
        parts = self.frame_parts(head, entry, group, None, 0, None, False)
        front = []
        if d.chance(0.25):
            front = [
                attach(word("do", "VB", coarse="AUX"), head, "aux"),
                attach(word("not", "RB"), head, "advmod"),
            ]
        elif d.chance(0.25):
            front = [attach(word("please", "UH"), head, "advmod")]
        tail = [self.time_adverb(head, "future")] if d.chance(0.3) else []
        return self.end(join(front, head, parts, tail), head, d.pick((".", "!")))

    def polar_question(self) -> list[Word]:
        clause = self.clause(1, inverted=True, passive=self.d.chance(0.15))
        return self.end(clause.whole(), clause.head, "?")

    def subject_question(self) -> list[Word]:
        if self.d.chance(0.5):
            head = word("who", "WP")
            subject = Phrase(head, [head], meaning="person")
        else:
            subject = self.core("person", 1, determiner=word("which", "WDT"))
        clause = self.clause(1, subject=subject)
        return self.end(clause.whole(), clause.head, "?")

    def adverb_question(self) -> list[Word]:
        """When did she leave? With a clause inside, where the adverb belongs is the hearer's guess."""
        d = self.d
        adverb = word(d.pick(("when", "where", "why", "how")), "WRB")
        frame = d.weighted({"transitive": 5, "intransitive": 3, "particle": 1, "report": 1.5})
        clause = self.clause(1, inverted=True, frame=frame, tense="past", adverbials=False)
        embedded = next((w for w in clause.words if w.label == "ccomp" and w.head is clause.head), None)
        low = embedded is not None and d.coin()
        attach(adverb, embedded if low else clause.head, "advmod")
        return self.end([adverb, *clause.whole()], clause.head, "?")

    def wh_phrase(self, classes: tuple[str, ...]) -> Phrase:
        d = self.d
        meaning = d.pick(classes)
        if d.chance(0.4):
            head = word("who" if human(meaning) else "what", "WP")
            return Phrase(head, [head], meaning=meaning)
        return self.core(meaning, 2, determiner=word(d.weighted({"which": 4, "what": 1}), "WDT"))

    def fronted(self, filler: Phrase, frame: str, mark: str, *, inverted: bool, comma: bool = False) -> list[Word]:
        clause = self.clause(1, filler=filler, frame=frame, inverted=inverted)
        if filler.head.head is None:
            raise Reject
        return self.end(join(filler, self.comma(filler.head) if comma else None) + clause.whole(), clause.head, mark)

    def object_question(self) -> list[Word]:
        filler = self.wh_phrase(ASKED_FOR)
        return self.fronted(filler, self.d.weighted({"transitive": 5, "particle": 1}), "?", inverted=True)

    def long_question(self) -> list[Word]:
        """Which book did the teacher say that she read?"""
        filler = self.wh_phrase(ASKED_FOR)
        return self.fronted(
            filler, self.d.weighted({"report": 5, "control": 2, "object-control": 1}), "?", inverted=True
        )

    def stranded_question(self) -> list[Word]:
        """Who did she talk about?"""
        filler = self.wh_phrase(("person", "document", "animal", "event", "topic", "vehicle"))
        return self.fronted(filler, "prepositional", "?", inverted=True)

    def topicalised(self) -> list[Word]:
        """This book the teacher said that she had read."""
        classes = ("document", "food", "person", "vehicle", "garment", "building", "furniture")
        filler = self.core(self.d.pick(classes), 1, determiner=word(self.d.pick(("this", "that", "the")), "DT"))
        frame = self.d.weighted({"report": 5, "control": 1, "transitive": 1, "prepositional": 1})
        return self.fronted(filler, frame, ".", inverted=False, comma=self.d.chance(0.5))

    def extraposed_subject(self) -> list[Word]:
        """A man arrived yesterday who sold old clocks."""
        if self.d.chance(0.4):
            clause = self.clause(0, passive=True, extraposed="subject")
        else:
            clause = self.clause(0, frame="intransitive", extraposed="subject")
        return self.end(clause.whole(), clause.head)

    def extraposed_object(self) -> list[Word]:
        """She met a man yesterday who sold old clocks."""
        clause = self.clause(0, frame=self.d.weighted({"transitive": 5, "particle": 1}), extraposed="object")
        return self.end(clause.whole(), clause.head)

    def parenthetical(self) -> list[Word]:
        """The bridge , the engineer claimed , was unsafe."""
        quote = self.clause(1, passive=self.d.chance(0.2), adverbials=False)
        subject = next(w for w in quote.words if w.head is quote.head and w.label.startswith("nsubj"))
        group = self.choose_group("report", "person", None)
        entry = self.d.zipf(group.verbs[:6])
        head = word(entry.past, "VBD", entry.lemma, "Tense=Past|VerbForm=Fin")
        speaker = attach(self.noun_phrase(("person", "relation"), 2, subject=True), head, "nsubj")
        attach(quote, head, "ccomp")
        cut = self.right_edge(quote.words, subject) if self.d.chance(0.6) else len(quote.words)
        inset = join(self.comma(head), speaker, head)
        rest = quote.words[cut:] + quote.late
        return self.end([*quote.words[:cut], *inset, *([self.comma(head)] if rest else []), *rest], head)

    def right_edge(self, words: list[Word], top: Word) -> int:
        """The position behind the last word of the phrase of `top`."""
        last = 0
        for i, candidate in enumerate(words):
            above = candidate
            while above is not None and above is not top:
                above = above.head
            last = i + 1 if above is top else last
        return last

    def two_roots(self) -> list[Word]:
        """Two parts that nothing connects: a call and a clause, two clauses, a headline and a clause."""
        d = self.d
        kind = d.weighted({"call": 3, "clauses": 4, "headline": 3})
        second = self.clause(1)
        if kind == "call":
            first = self.name()
            joint = self.comma(first.head)
        elif kind == "clauses":
            first = self.clause(1)
            joint = self.comma(first.head, ";")
        else:
            first = self.noun_phrase(("event", "topic", "document"), 1)
            joint = self.comma(first.head, ":")
        return self.end([*first.whole(), joint, *second.whole()], second.head)


PEOPLE = {noun.lemma for name in ("person", "relation") for noun in nouns.NOUNS[name]}
