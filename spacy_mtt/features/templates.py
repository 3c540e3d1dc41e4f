"""First-order features as a table (McDonald, Crammer & Pereira 2005a, "Online large-margin training of dependency
parsers", section 3.2 and table 1).

A *template* is a tuple of *atoms*. An atom is a place and an attribute: ``"h-1.tag"`` is the tag of the word before
the head. Places are the head ``h``, the modifier ``m``, their left and right neighbours ``h-1 h+1 m-1 m+1``, and ``b``,
each word strictly between the two. The atom ``"distance"`` is the direction and the binned length of the arc. An atom
may have several values (morphology, words between) or none (a column that is empty): a template fires once for every
combination of the values of its atoms; two firings with equal values are one feature with the value 2.

Attributes: ``form``; ``prefix``, the first five characters of the form; ``lemma``; ``tag``, the fine tag; ``coarse``,
the coarse tag; ``feat``, each morphological feature. A template with prefixes at the head or the modifier (or
their neighbours) fires only if one of these, at least, is shorter than its word: otherwise it would repeat the template
with the forms.

Where the paper and the programs built after it differ, or the paper is silent, this is what we take:

* The seven bigram templates are the paper's; the Scala MSTParser has another two in place of two of them.
* Neighbours belong to the head and to the modifier, as in the paper, not to the left and right end of the arc. If head
  and modifier are adjacent, the one is the neighbour of the other like any word. Before the root is START, after the
  last word END; the root is a word before the first.
* The back-offs of the four surrounding templates are the trigrams left when one neighbour goes.
* In between: one firing for every word, so that the value is a count, as in MSTParser.
* Distances are 1, 2, 3, 4, 5, 6 to 10, and more, as in MSTParser and RBGParser; every template fires with and without.
* Prefixes and lemmas replace the form in the templates that have one, all forms of the template at once. Coarse tags
  replace the fine tags, next to forms but not next to prefixes and lemmas.
* Morphology, which the paper does not use: every pair of a feature of the head and one of the modifier, alone and with
  both tags; and every feature with the tag of its word.
"""

from __future__ import annotations

from typing import TypeAlias

Template: TypeAlias = tuple[str, ...]

PLACES = ("h", "m", "h-1", "h+1", "m-1", "m+1", "b")
ATTRIBUTES = ("form", "prefix", "lemma", "tag", "coarse", "feat")
DISTANCE = "distance"
PREFIX_LENGTH = 5
LONGEST_OF_BIN = (1, 2, 3, 4, 5, 10)  # the bins of distances; one more for all above

UNIGRAM: tuple[Template, ...] = (
    ("h.form", "h.tag"),
    ("h.form",),
    ("h.tag",),
    ("m.form", "m.tag"),
    ("m.form",),
    ("m.tag",),
)
BIGRAM: tuple[Template, ...] = (
    ("h.form", "h.tag", "m.form", "m.tag"),
    ("h.tag", "m.form", "m.tag"),
    ("h.form", "m.form", "m.tag"),
    ("h.form", "h.tag", "m.tag"),
    ("h.form", "h.tag", "m.form"),
    ("h.form", "m.form"),
    ("h.tag", "m.tag"),
)
BETWEEN: tuple[Template, ...] = (("h.tag", "b.tag", "m.tag"),)
SURROUNDING: tuple[Template, ...] = (
    ("h.tag", "h+1.tag", "m-1.tag", "m.tag"),
    ("h-1.tag", "h.tag", "m-1.tag", "m.tag"),
    ("h.tag", "h+1.tag", "m.tag", "m+1.tag"),
    ("h-1.tag", "h.tag", "m.tag", "m+1.tag"),
    ("h.tag", "h+1.tag", "m.tag"),
    ("h-1.tag", "h.tag", "m.tag"),
    ("h.tag", "m-1.tag", "m.tag"),
    ("h.tag", "m.tag", "m+1.tag"),
)
MORPHOLOGY: tuple[Template, ...] = (
    ("h.tag", "h.feat"),
    ("m.tag", "m.feat"),
    ("h.feat", "m.feat"),
    ("h.tag", "h.feat", "m.tag", "m.feat"),
)


def first_order(*, coarse: bool = True, lemmas: bool = True, morphology: bool = True) -> tuple[Template, ...]:
    """The table of first-order templates, each without and with the distance.

    coarse, lemmas, morphology: whether to use these columns (see `informative_columns`).
    """
    basic = UNIGRAM + BIGRAM + BETWEEN + SURROUNDING
    table = basic + replaced(UNIGRAM + BIGRAM, "form", "prefix")
    if lemmas:
        table += replaced(UNIGRAM + BIGRAM, "form", "lemma")
    if coarse:
        table += replaced(basic, "tag", "coarse")
    if morphology:
        table += MORPHOLOGY
    return with_distance(table)


def replaced(templates: tuple[Template, ...], old: str, new: str) -> tuple[Template, ...]:
    """Those of `templates` that use the attribute `old`, with `new` in its place."""
    changed = []
    for template in templates:
        atoms = tuple(f"{atom[: -len(old)]}{new}" if atom.endswith(f".{old}") else atom for atom in template)
        if atoms != template:
            changed.append(atoms)
    return tuple(changed)


def with_distance(templates: tuple[Template, ...]) -> tuple[Template, ...]:
    """Each of `templates` as it is and joined with direction and distance."""
    return tuple(variant for template in templates for variant in (template, (*template, DISTANCE)))


def split(atom: str, places: tuple[str, ...] = PLACES, lone: str = DISTANCE, kind: str = "an atom") -> tuple[str, str]:
    """The place and the attribute of an atom other than `lone`, which has neither; ValueError if there are no such."""
    place, _, attribute = atom.partition(".")
    if place not in places or attribute not in ATTRIBUTES:
        raise ValueError(
            f"{atom!r} is not {kind}: it must be {lone!r} or one of {', '.join(places)}, a dot "
            f"and one of {', '.join(ATTRIBUTES)}"
        )
    return place, attribute
