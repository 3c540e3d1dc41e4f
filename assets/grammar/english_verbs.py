"""English verb forms: tenses and their auxiliaries, agreement."""

from __future__ import annotations

import english_verb_groups as verb_groups
from english_verb_groups import Verb
from tree import Phrase

TENSES = {"past": 8, "present": 3.5, "perfect": 1.3, "pluperfect": 0.8, "modal": 2, "future": 1.5,
          "progressive": 0.9, "past progressive": 0.6}  # fmt: skip
TIME_OF = {"past": "past", "pluperfect": "past", "past progressive": "past", "future": "future",
           "modal": "future", "present": "present", "progressive": "present",
           "perfect": "perfect"}  # fmt: skip
# The auxiliaries of each tense with the form that the verb behind them takes.
CHAINS = {
    "past": [],
    "present": [],
    "perfect": [("have", "VBN")],
    "pluperfect": [("have", "VBN")],
    "modal": [("", "VB")],
    "future": [("will", "VB")],
    "progressive": [("be", "VBG")],
    "past progressive": [("be", "VBG")],
}
PERIOD_WORDS = {
    "past": ("last", "JJ", "amod"),
    "future": ("next", "JJ", "amod"),
    "present": ("every", "DT", "det"),
    "perfect": ("this", "DT", "det"),
}
BE = verb_groups.verb("be/was/been")
AUXILIARIES = {"be": BE, "have": verb_groups.verb("have/had/had"), "do": verb_groups.verb("do/did/done")}
BE_FORMS = {("Sing", 1): "am", ("Sing", 3): "is"}


def inflect(verb: Verb, tag: str, subject: Phrase | None) -> str:
    """The form of the verb for the Penn tag; the finite ones agree with the subject."""
    lemma = verb.lemma
    if lemma == "be" and tag in ("VBZ", "VBP", "VBD"):
        key = (subject.number, subject.person)
        if tag == "VBD":
            return "was" if subject.number == "Sing" and subject.person != 2 else "were"
        return BE_FORMS.get(key, "are")
    if tag == "VBZ":
        if lemma == "have":
            return "has"
        if lemma.endswith(("s", "x", "ch", "sh", "o")):
            return lemma + "es"
        return lemma[:-1] + "ies" if lemma[-1] == "y" and lemma[-2] not in "aeiou" else lemma + "s"
    if tag == "VBG":
        if lemma in ("be", "see"):
            return lemma + "ing"
        if lemma.endswith("ie"):
            return lemma[:-2] + "ying"
        stem = lemma[:-1] if lemma[-1] == "e" and not lemma.endswith(("ee", "ye")) else lemma
        return stem + (stem[-1] if verb_groups.doubles(lemma) else "") + "ing"
    return {"VBD": verb.past, "VBN": verb.participle}.get(tag, lemma)


FEATS = {"VBD": "Tense=Past|VerbForm=Fin", "VBZ": "Tense=Pres|VerbForm=Fin|Number=Sing",
         "VBN": "VerbForm=Part",
         "VBP": "Tense=Pres|VerbForm=Fin", "VB": "VerbForm=Inf", "VBG": "VerbForm=Ger",
         "MD": "VerbForm=Fin"}  # fmt: skip
