"""A run: a folder of parts that grows until all of the input is parsed, whatever happens on the way."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from hashlib import blake2b
from pathlib import Path
from typing import Any

from spacy_mtt.pipeline.integrity import digest as file_digest
from spacy_mtt.treebanks.writing import replacing

from .engines import Map
from .inputs import Chunk

LOG = "parts.jsonl"


class RunError(ValueError):
    """A folder that does not belong to this run."""


class Run:
    """The parts of a run in a folder: part-00000.conllu ..., and a log with a line for each.

    A part is complete or not there. The log says what each part is of, so that an input that was changed between two
    tries is noticed. settings: what all parts depend on.
    """

    def __init__(self, folder: Path, kind: str, settings: dict[str, Any]):
        self.folder = folder
        self.kind = kind
        self.settings = {**settings, "kind": kind}
        self.done: dict[int, dict[str, Any]] = {}
        if folder.exists() and not folder.is_dir():
            raise RunError(f"{folder} is a file, but the output is a folder of parts")
        if (folder / LOG).is_file():
            self._read()
        elif folder.is_dir() and any(folder.iterdir()):
            raise RunError(f"{folder} has files that this command did not write: give another folder")

    def _read(self) -> None:
        lines = (self.folder / LOG).read_text(encoding="utf8").splitlines()
        records = [json.loads(line) for line in lines if line.endswith("}")]  # the last one may be cut off
        if not records or records[0] != {"settings": self.settings}:
            raise RunError(f"{self.folder} holds a run of other settings: give the same ones, or another folder")
        self.done = {record["part"]: record for record in records[1:] if self.path(record["part"]).is_file()}

    def path(self, number: int) -> Path:
        """Of a part."""
        return self.folder / f"part-{number:05d}.{self.kind}"

    def parts(self, chunks: Iterable[Chunk], parse: Map) -> Iterator[dict[str, Any]]:
        """Parse and write what is missing; gives the record of each part, those that were there first."""
        self.folder.mkdir(parents=True, exist_ok=True)
        with replacing(self.folder / LOG) as file:
            for record in ({"settings": self.settings}, *self.done.values()):
                file.write(_line(record))
        yield from self.done.values()
        with open(self.folder / LOG, "ab") as log:
            for chunk, parsed in parse(self._missing(chunks)):
                with replacing(self.path(chunk.number)) as file:
                    file.write(parsed.data)
                record = {"part": chunk.number, "texts": chunk.size, "words": parsed.words, "input": chunk.digest}
                log.write(_line(record))
                log.flush()
                yield record

    def _missing(self, chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in chunks:
            record = self.done.get(chunk.number)
            if record is None:
                yield chunk
            elif record["input"] != chunk.digest:
                last = chunk.first + chunk.size - 1
                raise RunError(f"the input has changed: texts {chunk.first} to {last} were others in {self.folder}")


def _line(record: dict[str, Any]) -> bytes:
    return (json.dumps(record) + "\n").encode("utf8")


def folder_digest(folder: Path) -> str:
    """Of the names and contents of all files under a folder."""
    digest = blake2b(digest_size=16)
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            digest.update(str(path.relative_to(folder)).encode("utf8") + b"\0")
            digest.update(file_digest(path).encode("ascii"))
    return digest.hexdigest()
