"""Treebanks as .spacy files and back."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from itertools import islice

from spacy.tokens import DocBin
from spacy.vocab import Vocab

from spacy_mtt.treebanks.docs import sentences_to_doc
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.from_docs import doc_to_sentences
from spacy_mtt.treebanks.sentence import Format, TreebankSentence
from spacy_mtt.treebanks.writing import replacing


def write_docbin(path: str | os.PathLike[str], sentences: Iterable[TreebankSentence], *, sents_per_doc: int = 1) -> int:
    """Write sentences to a .spacy file, ready to be got back; return the number of Docs."""
    if sents_per_doc < 1:
        raise TreebankError(f"sents_per_doc = {sents_per_doc}: has to be at least 1")
    vocab, docbin = Vocab(), DocBin(store_user_data=True)
    sentences = iter(sentences)
    while group := list(islice(sentences, sents_per_doc)):
        docbin.add(sentences_to_doc(group, vocab))
    with replacing(path) as file:
        file.write(docbin.to_bytes())
    return len(docbin)


def read_docbin(path: str | os.PathLike[str], format: str | Format | None = None) -> Iterator[TreebankSentence]:
    """The sentences of a .spacy file, see `doc_to_sentences`. Raises TreebankError if it is none."""
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise TreebankError(f"{path}: cannot be read ({error.strerror})") from None
    try:
        docs = list(DocBin().from_bytes(data).get_docs(Vocab()))
    except Exception as error:  # zlib, msgpack and spaCy each fail in their own ways on other files
        raise TreebankError(f"{path}: is no .spacy file ({error})") from None
    for number, doc in enumerate(docs, 1):
        try:
            yield from doc_to_sentences(doc, format)
        except TreebankError as error:
            raise TreebankError(f"{path}, Doc {number}: {error}") from None
