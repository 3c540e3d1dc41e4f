"""`spacy_mtt.AffixEmbed.v1`: words as hashed form, prefixes, suffixes and shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import lru_cache

import numpy as np
from spacy.attrs import ORTH
from spacy.lang.lex_attrs import word_shape
from spacy.strings import hash_string
from spacy.tokens import Doc
from thinc.api import HashEmbed, Model, chain, concatenate
from thinc.types import Floats2d

from .dropout import FixedDropout
from .maxout_norm import MaxoutNorm
from .unknown_words import UnknownWords

CACHED_WORDS = 1 << 16  # about 20 MB


def build_affix_embed(
    *,
    width: int = 96,
    prefixes: Sequence[int] = (1, 2, 3),
    suffixes: Sequence[int] = (1, 2, 3, 4, 5),
    form_rows: int = 5000,
    affix_rows: int = 2000,
    shape_rows: int = 2500,
    unknown_rate: float = 0.25,
    dropout: float = 0.33,
) -> Model[list[Doc], list[Floats2d]]:
    """Embed words by their form, prefixes and suffixes, all in lower case, and their shape: each has a hashed table.

    width: the width of the tables and of the output. prefixes, suffixes: their lengths in characters.
    form_rows, affix_rows, shape_rows: the rows of the tables.
    unknown_rate: r, so that a form seen c times is replaced by the unknown-word key at the rate r / (r + c) in
        training; in prediction forms that training never saw are. See `spacy_mtt.MultiHashEmbed.v1`.
    dropout: dropout on the concatenated embeddings. The rate is the layer's own: `training.dropout` does not reach it.

    What a token is mapped to depends on its text alone. In prediction each distinct word of a batch is embedded once.
    """
    lengths = (*prefixes, *suffixes)
    if any(length < 1 for length in lengths):
        raise ValueError(f"prefixes and suffixes must be lengths of 1 or more, but are {prefixes} and {suffixes}")
    rows = [form_rows, *[affix_rows] * len(lengths), shape_rows]
    tables = [HashEmbed(width, count, column=i, seed=8 + i) for i, count in enumerate(rows)]
    embed = chain(
        UnknownWords(unknown_rate),
        concatenate(*tables),
        FixedDropout(dropout),
        MaxoutNorm(width, width * len(tables), nP=3),
    )
    return Model(
        "affix_embed",
        forward,
        init=init,
        layers=[embed],
        dims={"nO": width},
        attrs={"prefixes": list(prefixes), "suffixes": list(suffixes)},
    )


def init(model: Model[list[Doc], list[Floats2d]], X: list[Doc] | None = None, Y=None) -> None:
    model.layers[0].initialize()


def forward(
    model: Model[list[Doc], list[Floats2d]], docs: list[Doc], is_train: bool
) -> tuple[list[Floats2d], Callable]:
    ops, embed = model.ops, model.layers[0]
    lengths = [len(doc) for doc in docs]
    orths = [doc.to_array(ORTH) for doc in docs]
    distinct, place = np.unique(np.concatenate([*orths, np.zeros(0, dtype=np.uint64)]), return_inverse=True)
    keys = word_keys(_texts(distinct, docs), tuple(model.attrs["prefixes"]), tuple(model.attrs["suffixes"]))
    if is_train:  # here words are replaced and dropped one by one
        vectors, backprop_embed = embed(ops.asarray2i(keys[place], dtype="uint64"), True)
    else:
        vectors = embed.predict(ops.asarray2i(keys, dtype="uint64"))[ops.xp.asarray(place)]

    def backprop(d_vectors: list[Floats2d]) -> list[Doc]:
        backprop_embed(ops.flatten(d_vectors))
        return []

    return ops.unflatten(vectors, lengths), backprop


def _texts(orths: np.ndarray, docs: list[Doc]) -> Iterable[str]:
    """The strings of hashes that come from any of `docs`."""
    stores = list({id(doc.vocab): doc.vocab.strings for doc in docs}.values())
    if len(stores) == 1:
        return map(stores[0].__getitem__, orths.tolist())
    return (next(store[orth] for store in stores if orth in store) for orth in orths.tolist())


def word_keys(texts: Iterable[str], prefixes: tuple[int, ...], suffixes: tuple[int, ...]) -> np.ndarray:
    """The keys of words, (n, columns) uint64: form, prefixes, suffixes, shape; the same on every machine."""
    keys = b"".join(_keys_of(text, prefixes, suffixes) for text in texts)
    return np.frombuffer(keys, dtype=np.uint64).reshape(-1, 2 + len(prefixes) + len(suffixes))


@lru_cache(maxsize=CACHED_WORDS)
def _keys_of(text: str, prefixes: tuple[int, ...], suffixes: tuple[int, ...]) -> bytes:
    form = text.lower()
    parts = [form, *(form[:n] for n in prefixes), *(form[-n:] for n in suffixes), word_shape(text)]
    return np.array([hash_string(part) for part in parts], dtype=np.uint64).tobytes()
