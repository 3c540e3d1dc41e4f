"""Dutch verb forms: agreement, tense chains, and the order of the verbs at the end of a clause."""

from __future__ import annotations

from dataclasses import dataclass

import dutch_verb_groups as verb_groups
from dutch_phrases import word
from dutch_verb_groups import Verb
from tree import Phrase, Word, attach

# ik, jij, hij, plural; then the past.
IRREGULAR = {
    "zijn": (("ben", "bent", "is", "zijn"), ("was", "waren")),
    "hebben": (("heb", "hebt", "heeft", "hebben"), ("had", "hadden")),
    "kunnen": (("kan", "kunt", "kan", "kunnen"), ("kon", "konden")),
    "zullen": (("zal", "zult", "zal", "zullen"), ("zou", "zouden")),
    "mogen": (("mag", "mag", "mag", "mogen"), ("mocht", "mochten")),
    "willen": (("wil", "wilt", "wil", "willen"), ("wilde", "wilden")),
    "moeten": (("moet", "moet", "moet", "moeten"), ("moest", "moesten")),
}
WORDEN = verb_groups.verb("~worden/word/werd/werden/geworden")
TENSES = {
    "past": 7,
    "present": 3.5,
    "perfect": 3,
    "pluperfect": 0.8,
    "modal": 1.8,
    "past modal": 0.8,
    "future": 1.2,
}
TIME_OF = {"past": "past", "pluperfect": "past", "perfect": "past", "past modal": "past",
           "present": "present", "modal": "future", "future": "future"}  # fmt: skip
MODALS = ("moeten", "kunnen", "willen", "mogen")


@dataclass
class Verbs:
    """A clause's verbs: the finite one, the others in order, the lexical one, a particle left alone."""

    finite: Word
    others: list[Word]
    lexical: Word
    particle: Word | None


def finite_form(infinitive: str, past: bool, subject: Phrase, inverted: bool, entry: Verb | None = None) -> str:
    """The form that agrees with the subject; jij loses its -t when it follows (werk jij, jij werkt)."""
    plural, person = subject.number == "Plur", subject.person
    if infinitive in IRREGULAR:
        present, past_forms = IRREGULAR[infinitive]
        if past:
            return past_forms[plural]
        if person == 2 and not plural and inverted:
            return {"zijn": "ben", "hebben": "heb", "kunnen": "kan", "zullen": "zal", "willen": "wil"}.get(
                infinitive, present[1]
            )
        return present[3] if plural else present[person - 1]
    if past:
        return entry.past_plural if plural else entry.past
    if plural:
        return entry.infinitive
    if person == 1 or (person == 2 and inverted) or entry.stem.endswith("t"):
        return entry.stem
    return entry.stem + ("at" if entry.stem.endswith("a") else "t")


def finite_feats(past: bool, subject: Phrase) -> tuple[str, str]:
    """(fine tag, features) of a finite verb."""
    tense, number = ("verl" if past else "tgw"), ("mv" if subject.number == "Plur" else "ev")
    return (
        f"WW(pv,{tense},{number})",
        f"Tense={'Past' if past else 'Pres'}|VerbForm=Fin|Number={subject.number}",
    )


def as_infinitive(lexical: Word, entry: Verb) -> None:
    lexical.form, lexical.fine, lexical.feats = entry.lemma, "WW(inf)", "VerbForm=Inf"


def as_participle(lexical: Word, entry: Verb) -> None:
    lexical.form, lexical.fine, lexical.feats = entry.particle + entry.participle, "WW(vd)", "VerbForm=Part"


def chain_of(tense: str, entry: Verb, passive: bool, modal: str) -> list[tuple[str, str]]:
    """The auxiliaries, the finite one first, each with the form (inf, part) of the verb below it."""
    chain = {"modal": [(modal, "inf")], "past modal": [(modal, "inf")], "future": [("zullen", "inf")]}.get(tense, [])
    if tense in ("perfect", "pluperfect"):
        return [("zijn" if passive else entry.auxiliary, "part")]
    return [*chain, ("worden", "part")] if passive else chain


def build_verbs(lexical: Word, entry: Verb, subject: Phrase, tense: str, *, passive: bool, final: bool,
                inverted: bool,
                modal: str, infinitive_for_participle=False) -> Verbs:  # fmt: skip
    """Inflect `lexical` and build its auxiliaries; each verb hangs on the one above it as `vc`."""
    past = tense in ("past", "pluperfect", "past modal")
    fine, feats = finite_feats(past, subject)
    chain = chain_of(tense, entry, passive, modal)
    if not chain:
        particle = None
        form = finite_form(entry.infinitive, past, subject, inverted, entry)
        if entry.particle and not final:
            particle = attach(word(entry.particle, "VZ(fin)"), lexical, "svp")
        lexical.form = entry.particle + form if final else form
        lexical.fine, lexical.feats = fine, feats
        return Verbs(lexical, [], lexical, particle)
    first, _ = chain[0]
    form = finite_form(first, past, subject, inverted, WORDEN)
    finite = word(form, fine, first, feats, coarse="AUX")
    others, above = [], finite
    for (_, kind), (name, _) in zip(chain, [*chain[1:], ("", "")], strict=True):
        if name:
            below = word(name, "WW(inf)", name, "VerbForm=Inf", coarse="AUX")
        else:
            below = lexical
            inflect = as_infinitive if kind == "inf" or infinitive_for_participle else as_participle
            inflect(lexical, entry)
        others.append(attach(below, above, "vc"))
        above = below
    return Verbs(finite, others, lexical, None)


def final_order(verbs: Verbs, lower: list[Word], green: bool) -> list[Word]:
    """The verbs at the clause's end, heeft gelezen (red) or gelezen heeft (green), then `lower`."""
    if green and not lower and len(verbs.others) == 1 and verbs.lexical.fine == "WW(vd)":
        return [*verbs.others, verbs.finite]
    return [verbs.finite, *verbs.others, *lower]
