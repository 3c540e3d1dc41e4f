"""Writing treebank files: whole or not at all."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from spacy_mtt.treebanks.blocks import check_encoding
from spacy_mtt.treebanks.conversion import to_conllu, to_conllx
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.sentence import TreebankSentence


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[BinaryIO]:
    """A binary file that takes the place of `path` when the block ends, and vanishes if the block raises."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        with open(temporary, "wb") as file:
            yield file
        os.replace(temporary, path)
    except BaseException as error:
        with suppress(OSError):
            temporary.unlink()
        if isinstance(error, OSError):
            raise TreebankError(f"{path}: cannot be written ({error.strerror})") from error
        raise


@contextmanager
def replacing_folder(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A path for a new folder that takes the place of `path` when the block ends, and vanishes if the block raises."""
    path = Path(path)
    new, old = (path.with_name(f".{path.name}.{os.getpid()}.{kind}") for kind in ("new", "old"))
    try:
        yield new
        if path.exists():
            os.replace(path, old)
        os.replace(new, path)
    finally:
        shutil.rmtree(new, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def write_treebank(
    path: str | os.PathLike[str], sentences: Iterable[TreebankSentence], *, encoding: str = "utf8"
) -> int:
    """Write sentences to a file, each in its own format, and return their number.

    Sentences that were read and not changed give back the same bytes. The file appears at the end: if
    anything fails, an older file of that name stays as it was. Raises TreebankError if a character is not in
    `encoding`.
    """
    check_encoding(path, encoding)
    count = 0
    with replacing(path) as file:
        for text in treebank_texts(sentences):
            try:
                file.write(text.encode(encoding))
            except UnicodeEncodeError as error:
                bad = text[error.start]
                raise TreebankError(f"{path}: {bad!r} in sentence {count + 1} is not in {encoding}") from None
            count += 1
    return count


def write_conllx(path: str | os.PathLike[str], sentences: Iterable[TreebankSentence], *, encoding: str = "utf8") -> int:
    """`write_treebank`, with every sentence turned into CoNLL-X (see `to_conllx`)."""
    return write_treebank(path, map(to_conllx, sentences), encoding=encoding)


def write_conllu(path: str | os.PathLike[str], sentences: Iterable[TreebankSentence], *, encoding: str = "utf8") -> int:
    """`write_treebank`, with every sentence turned into CoNLL-U (see `to_conllu`)."""
    return write_treebank(path, map(to_conllu, sentences), encoding=encoding)


def treebank_texts(sentences: Iterable[TreebankSentence]) -> Iterator[str]:
    """The text of each sentence, closed by a blank line where another one follows."""
    previous = None
    for sentence in sentences:
        if previous is not None:
            yield _closed(previous)
        previous = sentence
    if previous is not None:
        yield str(previous)


def _closed(sentence: TreebankSentence) -> str:
    missing = 2 - sentence.tail.count("\n")
    return str(sentence) + sentence.line_end * max(missing, 0)
