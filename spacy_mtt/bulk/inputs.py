"""Texts and Docs from files, in chunks of a few."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from hashlib import blake2b
from itertools import islice
from pathlib import Path

from spacy.language import Language
from spacy.tokens import Doc, DocBin
from spacy.vocab import Vocab


class InputError(ValueError):
    """An input that cannot be read; names the file and the place."""


@dataclass(frozen=True)
class Chunk:
    """Some texts, or some Docs as the bytes of a DocBin, that follow each other in the input.

    number: from 0. first: of the first text, from 1, over the whole input.
    """

    number: int
    first: int
    texts: list[str] | None
    docs: bytes | None
    size: int

    @property
    def digest(self) -> str:
        """Tells chunks apart."""
        data = self.docs if self.docs is not None else json.dumps(self.texts).encode("utf8")
        return blake2b(data, digest_size=16).hexdigest()

    def for_pipe(self, nlp: Language) -> Iterable[str | Doc]:
        """What `nlp.pipe` is to get."""
        return self.texts if self.texts is not None else DocBin().from_bytes(self.docs).get_docs(nlp.vocab)


def read_chunks(path: Path, size: int, *, text_key: str = "text", encoding: str = "utf8") -> Iterator[Chunk]:
    """All of a file, or of the files of a folder in the order of their names; a chunk is of one file.

    .txt: a text a line, empty lines left out. .jsonl: the string at `text_key` of each line. .parquet: that column.
    .spacy: the Docs of a DocBin with all that is set on them. InputError for what is none of these.
    """
    number, first = 0, 1
    for file in _files(path):
        items = READERS[file.suffix](file, text_key, encoding)
        while found := list(islice(items, size)):
            if file.suffix == ".spacy":
                chunk = Chunk(number, first, None, DocBin(docs=found, store_user_data=True).to_bytes(), len(found))
            else:
                chunk = Chunk(number, first, found, None, len(found))
            yield chunk
            number, first = number + 1, first + len(found)


def _files(path: Path) -> list[Path]:
    if path.is_dir():
        found = sorted(file for file in path.iterdir() if file.suffix in READERS)
        if not found:
            raise InputError(f"{path}: the folder has no file that ends in {', '.join(READERS)}")
        return found
    if not path.is_file():
        raise InputError(f"{path}: no such file")
    if path.suffix not in READERS:
        raise InputError(f"{path}: the name of the input must end in one of {', '.join(READERS)}")
    return [path]


def _lines(path: Path, encoding: str) -> Iterator[tuple[int, str]]:
    """The lines that are not empty, with their numbers."""
    number = 0
    try:
        with open(path, encoding=encoding, newline="\n") as file:
            for number, line in enumerate(file, 1):
                if text := line.strip():
                    yield number, text
    except (UnicodeDecodeError, LookupError) as error:
        raise InputError(f"{path}:{number + 1}: cannot be read as {encoding} ({error})") from None


def _read_txt(path: Path, text_key: str, encoding: str) -> Iterator[str]:
    return (text for _, text in _lines(path, encoding))


def _read_jsonl(path: Path, text_key: str, encoding: str) -> Iterator[str]:
    for number, line in _lines(path, encoding):
        try:
            record = json.loads(line)
        except ValueError as error:
            raise InputError(f"{path}:{number}: no JSON ({error})") from None
        text = record.get(text_key) if isinstance(record, dict) else None
        if not isinstance(text, str):
            raise InputError(f"{path}:{number}: there is no string {text_key!r}")
        yield text


def _read_parquet(path: Path, text_key: str, encoding: str) -> Iterator[str]:
    pyarrow = parquet_library()
    try:
        file = pyarrow.parquet.ParquetFile(path)
    except pyarrow.ArrowException as error:
        raise InputError(f"{path}: no parquet file ({error})") from None
    with file:
        if text_key not in file.schema_arrow.names:
            raise InputError(f"{path}: there is no column {text_key!r}, only {', '.join(file.schema_arrow.names)}")
        texts = (text for batch in file.iter_batches(columns=[text_key]) for text in batch.column(0).to_pylist())
        for row, text in enumerate(texts, 1):
            if not isinstance(text, str):
                raise InputError(f"{path}: row {row} of {text_key!r} is {text!r}, no string")
            yield text


def _read_docbin(path: Path, text_key: str, encoding: str) -> Iterator[Doc]:
    try:
        docs = DocBin().from_disk(path)
    except Exception as error:  # msgpack and zlib have no common one
        raise InputError(f"{path}: no DocBin ({type(error).__name__}: {error})") from None
    return docs.get_docs(Vocab())


def parquet_library():
    """pyarrow with pyarrow.parquet; InputError if it is not installed."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError("parquet needs the package pyarrow: pip install pyarrow") from None
    return pyarrow


READERS: dict[str, Callable[[Path, str, str], Iterator]] = {
    ".txt": _read_txt,
    ".jsonl": _read_jsonl,
    ".parquet": _read_parquet,
    ".spacy": _read_docbin,
}
