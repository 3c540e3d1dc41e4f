"""Dutch adverbials: time, frequency and negation hang on the finite verb, manner on the lexical one."""

from __future__ import annotations

import dutch_lexicon as lexicon
from dutch_phrases import Phrases, word
from dutch_slots import MANNER, NEGATION, TIME, Parts
from dutch_verbs import TIME_OF, Verbs
from selection import Group
from tree import Phrase, Word, attach


class Adverbials(Phrases):
    """Adverbials of a clause."""

    def time_adverb(self, finite: Word, tense: str) -> Phrase:
        """gisteren, vorige week, op maandag: always of the finite verb."""
        d = self.d
        time = TIME_OF[tense]
        kind = d.weighted({"adverb": 4, "period": 2.5, "day": 2, "month": 1})
        if kind in ("day", "month"):
            noun = word(
                d.zipf(lexicon.DAYS if kind == "day" else lexicon.MONTHS),
                "N(soort,ev)",
                feats="Number=Sing|Gender=Com",
            )
            return attach(self.prepositional("op" if kind == "day" else "in", Phrase(noun, [noun])), finite, "mod")
        if kind == "period":
            noun = word(d.zipf(lexicon.PERIODS), "N(soort,ev)", feats="Number=Sing|Gender=Com")
            form = {"past": "vorige", "future": "volgende", "present": "elke"}[time]
            which = attach(word(form, "VNW(onbep)" if time == "present" else "ADJ(prenom,met-e)"), noun,
                           "det" if time == "present" else "mod")  # fmt: skip
            which.coarse = "DET" if time == "present" else "ADJ"
            which.lemma = {"vorige": "vorig", "volgende": "volgend", "elke": "elk"}[form]
            return attach(Phrase(noun, [which, noun]), finite, "mod")
        adverb = attach(word(d.zipf(lexicon.TIME_ADVERBS[time]), "BW()"), finite, "mod")
        return Phrase(adverb, [adverb])

    def indefinite(self, parts: Parts) -> bool:
        """Whether a part has een or geen, which niet does not go with."""
        return any(word.lemma in ("een", "geen") for _, part in parts for word in part.words)

    def add_adverbials(self, parts: Parts, verbs: Verbs, group: Group, tense: str, depth: int, timed: bool) -> None:
        """Time, frequency, negation (all of the finite verb) and manner (of the lexical verb)."""
        d = self.d
        if not timed and d.chance(0.22 if depth == 0 else 0.14):
            parts.append((TIME, self.time_adverb(verbs.finite, tense)))
        if d.chance(0.08) and not self.indefinite(parts):
            parts.append((NEGATION, attach(Phrase(no := word("niet", "BW()"), [no]), verbs.finite, "mod")))
        elif d.chance(0.08):
            form = d.zipf(lexicon.FREQUENCY if d.chance(0.6) else lexicon.SENTENCE_ADVERBS)
            parts.append((TIME, attach(Phrase(adverb := word(form, "BW()"), [adverb]), verbs.finite, "mod")))
        if group.frame != "copula" and group.frame not in self.clausal_frames and d.chance(0.13):
            adverb = attach(word(d.zipf(lexicon.MANNER[group.manner]), "ADJ(vrij)"), verbs.lexical, "mod")
            parts.append((MANNER, Phrase(adverb, [adverb])))
