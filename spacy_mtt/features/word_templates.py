"""Features of single words as a table, after those of RBGParser (Lei et al. 2014, "Low-rank tensors for scoring
dependency structures", section 5), whose products over head and modifier make a tensor.

A *word template* is a tuple of atoms as in templates.py, but with the places ``w``, ``w-1``, ``w+1``, ``w-2`` and
``w+2``: a word and those up to two away. The template ``("bias",)`` fires once at every word. The root is a word before
the first with the value ROOT in every column; before it is START, and after the last word END.

The table: the bias; the form of the word, of the one before and of the one after; the fine tag in the same places,
the two bigrams and the trigram of tags; the tags two words away, alone, with the one between and with the word's own
(RBGParser stops at the neighbours); form and tag; the prefix of five characters, alone and with the tag, for words
that were not seen (RBGParser has no prefixes). Lemmas take the place of forms once more, coarse tags that of fine tags
where there is no form or prefix. Each morphological feature comes alone, with the tag, and with the lemma (or the form,
if there are no lemmas).
"""

from __future__ import annotations

from spacy_mtt.features.templates import Template, replaced, split

BIAS = "bias"
WORD_PLACES = ("w", "w-1", "w+1", "w-2", "w+2")

FORMS: tuple[Template, ...] = (("w.form",), ("w-1.form",), ("w+1.form",), ("w.form", "w.tag"))
PREFIXES: tuple[Template, ...] = (("w.prefix",), ("w.prefix", "w.tag"))
TAGS: tuple[Template, ...] = (
    ("w.tag",),
    ("w-1.tag",),
    ("w+1.tag",),
    ("w-1.tag", "w.tag"),
    ("w.tag", "w+1.tag"),
    ("w-1.tag", "w.tag", "w+1.tag"),
)
FARTHER: tuple[Template, ...] = (
    ("w-2.tag",),
    ("w+2.tag",),
    ("w-2.tag", "w-1.tag"),
    ("w+1.tag", "w+2.tag"),
    ("w-2.tag", "w-1.tag", "w.tag"),
    ("w.tag", "w+1.tag", "w+2.tag"),
)


def word_templates(*, coarse: bool = True, lemmas: bool = True, morphology: bool = True) -> tuple[Template, ...]:
    """The table of word templates. coarse, lemmas, morphology: whether to use these columns."""
    table: tuple[Template, ...] = ((BIAS,), *FORMS, *PREFIXES, *TAGS, *FARTHER)
    if lemmas:
        table += replaced(FORMS, "form", "lemma")
    if coarse:
        table += replaced(TAGS + FARTHER, "tag", "coarse")
    if morphology:
        table += (("w.feat",), ("w.feat", "w.tag"), ("w.feat", "w.lemma" if lemmas else "w.form"))
    return table


def split_word_atom(atom: str) -> tuple[str, str]:
    """The place and the attribute of an atom other than the bias; raises ValueError if there are no such."""
    return split(atom, WORD_PLACES, BIAS, "an atom of a word")
