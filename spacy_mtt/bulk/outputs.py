"""Parsed Docs as the bytes of a file."""

from __future__ import annotations

import io
from collections.abc import Callable, Sequence

from spacy.tokens import Doc, DocBin

from spacy_mtt.treebanks.from_docs import doc_to_sentences
from spacy_mtt.treebanks.sentence import CONLLU
from spacy_mtt.treebanks.writing import treebank_texts

from .inputs import parquet_library


def as_docbin(docs: Sequence[Doc]) -> bytes:
    """With user data, which holds the probabilities."""
    return DocBin(docs=docs, store_user_data=True).to_bytes()


def as_conllu(docs: Sequence[Doc]) -> bytes:
    """Docs without words leave nothing."""
    sentences = (sentence for doc in docs for sentence in doc_to_sentences(doc, CONLLU))
    return "".join(treebank_texts(sentences)).encode("utf8")


def as_parquet(docs: Sequence[Doc]) -> bytes:
    """A row for each doc: `text`, and lists over its tokens: `tokens`, `spaces` (whether one follows), `heads`
    (indices), `deps`, `sent_starts`; with probabilities also `head_prob` and `dep_prob`."""
    pyarrow = parquet_library()
    columns = {
        "text": pyarrow.array([doc.text for doc in docs], pyarrow.string()),
        "tokens": _lists(docs, lambda token: token.text, pyarrow.string()),
        "spaces": _lists(docs, lambda token: bool(token.whitespace_), pyarrow.bool_()),
        "heads": _lists(docs, lambda token: token.head.i, pyarrow.int32()),
        "deps": _lists(docs, lambda token: token.dep_, pyarrow.string()),
        "sent_starts": _lists(docs, lambda token: bool(token.is_sent_start), pyarrow.bool_()),
    }
    arrays = [doc._.mtt for doc in docs]
    if all("head_prob" in each for each in arrays):
        values = pyarrow.list_(pyarrow.float32())
        columns["head_prob"] = pyarrow.array([each["head_prob"].tolist() for each in arrays], values)
        joint = [(each["head_prob"] * each["dep_prob_given_head"]).tolist() for each in arrays]
        columns["dep_prob"] = pyarrow.array(joint, values)
    buffer = io.BytesIO()
    pyarrow.parquet.write_table(pyarrow.table(columns), buffer)
    return buffer.getvalue()


def _lists(docs: Sequence[Doc], value: Callable, kind):
    pyarrow = parquet_library()
    return pyarrow.array([[value(token) for token in doc] for doc in docs], pyarrow.list_(kind))


WRITERS: dict[str, Callable[[Sequence[Doc]], bytes]] = {
    "spacy": as_docbin,
    "conllu": as_conllu,
    "parquet": as_parquet,
}
