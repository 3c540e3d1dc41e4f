"""`mtt parse`: parse a corpus of any size, here or on a cluster."""

from __future__ import annotations

from contextlib import AbstractContextManager
from enum import Enum
from pathlib import Path
from typing import Annotated

import typer
from tqdm import tqdm

from spacy_mtt.bulk.engines import EngineError, Map, dask, here, processes
from spacy_mtt.bulk.inputs import InputError, parquet_library, read_chunks
from spacy_mtt.bulk.run import Run, RunError, folder_digest
from spacy_mtt.bulk.work import Task
from spacy_mtt.cli._util import EncodingOption, fail, load_pipeline, one_sentence_errors, parser_of


class Engine(str, Enum):
    """Where texts are parsed."""

    local = "local"
    dask = "dask"


class Kind(str, Enum):
    """What is written."""

    spacy = "spacy"
    conllu = "conllu"
    parquet = "parquet"


@one_sentence_errors
def parse(
    source: Annotated[
        Path, typer.Argument(metavar="INPUT", help="A .txt, .jsonl, .spacy or .parquet file, or a folder of such files")
    ],
    output: Annotated[Path, typer.Argument(help="Folder for the parts", show_default=False)],
    model: Annotated[str, typer.Option("--model", "-m", help="Pipeline with an mtt_parser")] = "training/model-best",
    kind: Annotated[Kind, typer.Option("--to", "-t", help="What to write")] = Kind.spacy,
    probabilities: Annotated[bool, typer.Option("--probabilities", help="Say how sure the parser is")] = False,
    text_key: Annotated[str, typer.Option(help="Key or column of the text, in .jsonl and .parquet")] = "text",
    part_size: Annotated[int, typer.Option("--part-size", min=1, help="Texts in a part")] = 1000,
    batch_size: Annotated[int, typer.Option("--batch-size", min=1, help="Texts that are parsed together")] = 64,
    workers: Annotated[int, typer.Option("--workers", "-n", min=1, help="Processes on this machine")] = 1,
    engine: Annotated[
        Engine, typer.Option("--engine", help="dask: a cluster, or processes that Dask starts")
    ] = Engine.local,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler that runs already")] = None,
    encoding: EncodingOption = "utf8",
) -> None:
    """Parse a corpus into a folder of parts, and go on where it stopped if it is run again.

    Memory is bounded by the size of a part, whatever the size of the corpus; a .spacy file is read as a whole.
    Whatever the engine and the number of workers, the parts are the same.
    """
    if scheduler is not None and engine is not Engine.dask:
        fail(f"--scheduler {scheduler} is of no use to the engine {engine.value}: add --engine dask")
    nlp = load_pipeline(model, -1)
    parser = parser_of(nlp)
    name = str(Path(model).resolve()) if Path(model).exists() else model
    task = Task(name, kind.value, batch_size, parser.name if probabilities else None)
    settings = {"model": folder_digest(nlp.path), "part_size": part_size, "probabilities": probabilities}
    try:
        if kind is Kind.parquet:
            parquet_library()
        run = Run(output, kind.value, settings)
        chunks = read_chunks(source, part_size, text_key=text_key, encoding=encoding)
        texts = words = 0
        with _engine(engine, task, workers, scheduler) as map_, tqdm(unit=" texts", disable=None) as bar:
            for record in run.parts(chunks, map_):
                texts, words = texts + record["texts"], words + record["words"]
                bar.update(record["texts"])
    except (InputError, RunError, EngineError, ValueError) as error:
        fail(str(error))
    typer.echo(f"{output}: {texts} texts, {words} words")


def _engine(engine: Engine, task: Task, workers: int, scheduler: str | None) -> AbstractContextManager[Map]:
    if engine is Engine.dask:
        return dask(task, workers, scheduler)
    return here(task) if workers == 1 else processes(task, workers)
