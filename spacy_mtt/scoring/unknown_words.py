"""An unknown-word key for embeddings by hashing, and the embedding layer that uses it."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from spacy.ml.featureextractor import FeatureExtractor
from spacy.tokens import Doc
from thinc.api import HashEmbed, Maxout, Model, chain, concatenate, list2ragged, ragged2list, with_array
from thinc.types import Floats2d, Ints2d

UNKNOWN_KEY = 1  # no string hashes to it: spaCy's own symbols aside, keys are 64-bit hashes


def build_multi_hash_embed(
    *,
    width: int,
    attrs: list[str | int],
    rows: list[int],
    unknown_rate: float = 0.25,
) -> Model[list[Doc], list[Floats2d]]:
    """`spacy.MultiHashEmbed.v2` with an unknown-word key in the column of the first attribute.

    A plain hashed table gives a form that was never trained the sum of rows that were trained for other words. Here all
    such forms share one key, which is trained on words that it stands in for at random, rare ones most often.

    width: the width of the table of each attribute, and of the output. attrs: token attributes, the word form first.
    rows: the rows of each table. unknown_rate: r, so that a word seen c times is replaced at the rate r / (r + c).
    """
    if len(attrs) != len(rows) or not attrs:
        raise ValueError(f"attrs and rows must be of one length, 1 or more, but are {attrs} and {rows}")
    tables = [HashEmbed(width, count, column=i, seed=8 + i, dropout=0.0) for i, count in enumerate(rows)]
    return chain(
        FeatureExtractor(attrs),
        list2ragged(),
        with_array(chain(UnknownWords(unknown_rate), concatenate(*tables) if len(tables) > 1 else tables[0])),
        with_array(Maxout(width, width * len(tables), nP=3, dropout=0.0, normalize=True)),
        ragged2list(),
    )


def UnknownWords(rate: float) -> Model[Ints2d, Ints2d]:
    """Replace keys in column 0 that were never seen in training by UNKNOWN_KEY; in training, seen ones at random.

    The keys seen and their counts are kept in the attributes "keys" (sorted, uint64) and "counts", and are saved
    with the model.
    """
    if not rate >= 0:
        raise ValueError(f"unknown_rate must be 0 or above, not {rate}")
    return Model(
        "unknown_words",
        forward,
        attrs={"rate": rate, "keys": np.zeros(0, dtype=np.uint64), "counts": np.zeros(0, dtype=np.int64)},
    )


def forward(model: Model[Ints2d, Ints2d], X: Ints2d, is_train: bool) -> tuple[Ints2d, Callable]:
    keys = model.ops.to_numpy(X[:, 0])
    if is_train:
        _count(model, keys)
    known, counts = model.attrs["keys"], model.attrs["counts"]
    if not len(known):  # not trained yet: nothing can be told
        return X, lambda dY: dY
    places = np.minimum(np.searchsorted(known, keys), len(known) - 1)
    unknown = known[places] != keys
    if is_train:
        rate = model.attrs["rate"]
        unknown = np.random.random(len(keys)) < rate / (rate + counts[places])
    Y = X.copy()
    Y[model.ops.xp.asarray(unknown), 0] = UNKNOWN_KEY
    return Y, lambda dY: dY


def _count(model: Model[Ints2d, Ints2d], keys: np.ndarray) -> None:
    known, counts = model.attrs["keys"], model.attrs["counts"]
    merged, inverse = np.unique(np.concatenate([known, keys]), return_inverse=True)
    if len(merged) == len(known):
        np.add.at(counts, inverse[len(known) :], 1)
        return
    weights = np.concatenate([counts, np.ones(len(keys), dtype=np.int64)])
    model.attrs["keys"] = merged
    model.attrs["counts"] = np.bincount(inverse, weights).astype(np.int64)
