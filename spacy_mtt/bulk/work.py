"""What a worker does: parse a chunk with a pipeline that it keeps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import spacy
from spacy.language import Language

from .inputs import Chunk
from .outputs import WRITERS


@dataclass(frozen=True)
class Task:
    """How chunks are parsed. model: a package or a path that every worker can load. kind: of WRITERS.

    sure: the name of the parser that is to say how sure it is, if any.
    """

    model: str
    kind: str
    batch_size: int
    sure: str | None = None


@dataclass(frozen=True)
class Parsed:
    """A parsed chunk: the bytes of a file, and how many words are in it."""

    data: bytes
    words: int


def parse_chunk(task: Task, chunk: Chunk) -> Parsed:
    """Parse it; ValueError that says which texts, if the pipeline fails."""
    nlp = pipeline(task.model, task.sure)
    try:
        docs = list(nlp.pipe(chunk.for_pipe(nlp), batch_size=task.batch_size))
    except Exception as error:
        reason = str(error).strip().split("\n")[0]
        last = chunk.first + chunk.size - 1
        raise ValueError(f"texts {chunk.first} to {last}: the pipeline fails: {reason}") from error
    return Parsed(WRITERS[task.kind](docs), sum(map(len, docs)))


@lru_cache(maxsize=1)
def pipeline(model: str, sure: str | None) -> Language:
    """The pipeline of this process."""
    return spacy.load(model, config={"components": {sure: {"probabilities": True}}} if sure else {})
