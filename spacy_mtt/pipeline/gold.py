"""Gold trees of examples, brought to the units of the predicted docs."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

import numpy as np
from spacy.attrs import ORTH
from spacy.tokens import Doc
from spacy.training import Example

from spacy_mtt.inference.trees import find_cycle
from spacy_mtt.learning.annotation import UNKNOWN
from spacy_mtt.scoring.tags import tag_numbers
from spacy_mtt.scoring.units import Bucket, Units

from .labels import LabelSet
from .segmentation import training_starts, units_of


@dataclass(frozen=True)
class GoldTrees:
    """The annotation of the words of all units, in their flat order.

    heads: (n_words,) 0 for the root, 1..n within the unit, -1 where the head is not annotated or not
        within reach (merged away, whitespace, or in another unit).
    labels: (n_words,) the gold label, None where there is none; only words with a head have one.
    """

    units: Units
    heads: np.ndarray
    labels: list[str | None]

    def head_rows(self) -> np.ndarray:
        """(n_words,) the flat row of each word's head; the root's where it is not known."""
        return self.units.head_rows(np.maximum(self.heads, 0))

    def padded(self, bucket: Bucket, flat: np.ndarray) -> np.ndarray:
        """The entries of a bucket's words, (B, N), from any flat array (n_words,); -1 as padding."""
        rows = np.concatenate([[0], np.cumsum(self.units.lengths)])[bucket.units]
        out = np.full((len(bucket.units), bucket.inside.shape[1] - 1), UNKNOWN, dtype=np.intp)
        for place, (row, n) in enumerate(zip(rows, bucket.lengths, strict=True)):
            out[place, :n] = flat[row : row + n]
        return out

    def key(self, unit: int, docs: list[Doc]) -> bytes:
        """16 bytes that tell a unit of `docs` from those with other words, heads or labels."""
        first = int(self.units.lengths[:unit].sum())
        rows = slice(first, first + int(self.units.lengths[unit]))
        digest = blake2b(digest_size=16)
        digest.update(docs[self.units.doc_of[unit]].to_array(ORTH)[self.units.words[unit]].tobytes())
        digest.update(self.heads[rows].astype(np.int64).tobytes())
        digest.update("\n".join(label or "" for label in self.labels[rows]).encode("utf8"))
        return digest.digest()

    def label_numbers(self, label_set: LabelSet) -> np.ndarray:
        """(n_words,) the number of each word's label, -1 where it has none or too rare a one.

        ValueError for a label that `label_set` has never seen.
        """
        numbers = {label: number for number, label in enumerate(label_set.names)}
        for row, label in enumerate(self.labels):
            if label not in numbers:
                if label is not None and label not in label_set:
                    raise ValueError(
                        f"the gold label {label!r} of token {self._token(row)} is unknown to the parser: initialize it "
                        "with all training data, or add the label with add_label"
                    )
                numbers[label] = UNKNOWN
        return np.array([numbers[label] for label in self.labels], dtype=np.intp)

    def _token(self, row: int) -> str:
        unit = int(np.searchsorted(np.cumsum(self.units.lengths), row, side="right"))
        token = self.units.words[unit][row - int(self.units.lengths[:unit].sum())]
        return f"{token} in document {self.units.doc_of[unit]} of the batch"


def gold_of(example: Example) -> GoldTrees:
    """The gold trees of one example, in the units that it is learned in."""
    return gold_trees([example], units_of([example.predicted], [training_starts(example)]))


def gold_trees(examples: list[Example], units: Units) -> GoldTrees:
    """The gold trees of `examples`, whose predicted docs have the `units`. A cycle is a ValueError.

    A token of the reference without a label (token.dep) is unannotated, whatever its head says: that is how
    spaCy writes a missing head.
    """
    heads = np.full(units.n_words, UNKNOWN, dtype=np.intp)
    labels: list[str | None] = [None] * units.n_words
    units_of_doc: dict[int, list[int]] = {}
    for unit, doc in enumerate(units.doc_of.tolist()):
        units_of_doc.setdefault(doc, []).append(unit)
    first_rows = np.concatenate([[0], np.cumsum(units.lengths)]).tolist()
    for doc, doc_units in units_of_doc.items():
        aligned_heads, aligned_labels = examples[doc].get_aligned_parse(projectivize=False)
        for unit in doc_units:
            words = units.words[unit].tolist()
            node_of = {token: node for node, token in enumerate(words, 1)}
            row = first_rows[unit]
            for offset, token in enumerate(words):
                head, label = aligned_heads[token], aligned_labels[token]
                if head is None or not label:
                    continue
                node = 0 if head == token else node_of.get(head, UNKNOWN)
                heads[row + offset] = node
                if node != UNKNOWN:
                    labels[row + offset] = label
            _refuse_cycle(heads[row : row + len(words)], words, doc, examples[doc])
    return GoldTrees(units, heads, labels)


def _refuse_cycle(heads: np.ndarray, words: list[int], number: int, example: Example) -> None:
    cycle = find_cycle(heads)
    if cycle is None:
        return
    doc = example.predicted
    tokens = [doc[words[node - 1]] for node in [*cycle, cycle[0]]]
    path = " -> ".join(f"{token.text!r} (token {token.i})" for token in tokens)
    text = doc.text if len(doc.text) <= 60 else doc.text[:57] + "..."
    raise ValueError(f"the gold heads of document {number} of the batch, {text!r}, form a cycle: {path}")


def gold_tags(examples: list[Example], units: Units) -> np.ndarray:
    """(n_words,) the number of the gold universal part of speech of each word, -1 where it has none."""
    pos = [tag or 0 for example in examples for tag in example.get_aligned("POS")]
    return tag_numbers(np.array(pos, dtype=np.intp)[units.token_rows])
