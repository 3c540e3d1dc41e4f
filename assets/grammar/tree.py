"""Words, phrases that may be discontinuous, and how a sentence becomes the rows of a CoNLL-X file.

Dependencies and order are kept apart. A word refers to its head as an object, so a phrase can be built,
attached and only then cut up: what a phrase owns but does not want in place it hands on in `late`, and the
clause around puts that at its right edge (extraposition); what is fronted is attached where it belongs and
written elsewhere. Positions exist only once the whole sentence stands.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field


@dataclass(eq=False)
class Word:
    """One token. `head` is None for a root; `label` is its dependency label."""

    form: str
    lemma: str
    coarse: str
    fine: str
    feats: str = "_"
    head: Word | None = None
    label: str = "ROOT"


@dataclass(eq=False)
class Phrase:
    """A head, the words of its phrase in order, and `late`: those that wait for the right edge."""

    head: Word
    words: list[Word]
    late: list[Word] = field(default_factory=list)
    meaning: str = ""  # the semantic class of a noun phrase
    number: str = "Sing"
    person: int = 3

    def whole(self) -> list[Word]:
        """The words with the late ones at the end: how the phrase reads where nothing stands between."""
        return self.words + self.late


def attach(part: Word | Phrase, head: Word, label: str) -> Word | Phrase:
    """Make `head` the head of `part` under `label`; the part itself is returned, to be placed."""
    word = part.head if isinstance(part, Phrase) else part
    word.head, word.label = head, label
    return part


def join(*parts: Word | Phrase | Iterable | None) -> list[Word]:
    """The words of the parts in order, nested lists flattened, without what is late."""
    words: list[Word] = []
    for part in parts:
        if isinstance(part, Word):
            words.append(part)
        elif isinstance(part, Phrase):
            words.extend(part.words)
        elif part is not None:
            words.extend(join(*part))
    return words


def late_words(*parts: Word | Phrase | Iterable | None) -> list[Word]:
    """The late words of the parts, in the order of the parts."""
    words: list[Word] = []
    for part in parts:
        if isinstance(part, Phrase):
            words.extend(part.late)
        elif part is not None and not isinstance(part, Word):
            words.extend(late_words(*part))
    return words


def to_rows(words: list[Word]) -> list[str]:
    """The sentence's lines in CoNLL-X: ID FORM LEMMA CPOSTAG POSTAG FEATS HEAD DEPREL PHEAD PDEPREL."""
    position = {id(word): i for i, word in enumerate(words, start=1)}
    rows = []
    for i, word in enumerate(words, start=1):
        head = 0 if word.head is None else position[id(word.head)]
        columns = (i, word.form, word.lemma, word.coarse, word.fine, word.feats, head, word.label, "_", "_")
        rows.append("\t".join(map(str, columns)))
    return rows
