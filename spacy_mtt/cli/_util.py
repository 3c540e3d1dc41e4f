"""What the commands share: options and errors of one sentence."""

from __future__ import annotations

import functools
from collections.abc import Callable
from pathlib import Path
from typing import Annotated

import spacy
import typer
from spacy.cli._util import setup_gpu
from spacy.language import Language

from spacy_mtt.pipeline.component import MatrixTreeParser
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.evaluation import EvaluationError

FormatOption = Annotated[
    str | None,
    typer.Option("--format", "-f", help="conllx or conllu (default: by the ending .conllu, .conllx or .conll)"),
]
EncodingOption = Annotated[str, typer.Option("--encoding", "-e", help="Encoding of the treebank files")]
GpuOption = Annotated[int, typer.Option("--gpu-id", "-g", help="GPU, or -1 for the CPU")]
ProjectOption = Annotated[Path, typer.Option("--project", "-p", help="Project file that names the treebank's files")]


def one_sentence_errors(command: Callable) -> Callable:
    """Turn what a user can cause into one sentence on the error stream and exit code 1."""

    @functools.wraps(command)
    def wrapped(*args, **kwargs):
        try:
            return command(*args, **kwargs)
        except (TreebankError, EvaluationError) as error:
            fail(str(error))

    return wrapped


def fail(message: str) -> None:
    """Print `message` to the error stream and leave with exit code 1."""
    typer.echo(f"error: {message}", err=True)
    raise typer.Exit(1)


def load_pipeline(model: str, gpu_id: int) -> Language:
    """`spacy.load` with errors of one sentence."""
    try:
        setup_gpu(gpu_id, silent=True)
        return spacy.load(model)
    except (OSError, ValueError, ImportError) as error:
        first_line = str(error).strip().split("\n")[0]
        raise EvaluationError(f"the pipeline {model} cannot be loaded: {first_line}") from None


def parser_of(nlp: Language) -> MatrixTreeParser:
    """The one mtt_parser of a pipeline."""
    found = [component for _, component in nlp.pipeline if isinstance(component, MatrixTreeParser)]
    if len(found) != 1:
        fail(f"the pipeline has {len(found)} mtt_parser, but must have one")
    return found[0]


def components_before(nlp: Language, *, gold_tags: bool) -> list[str]:
    """The names of the components that run before the parser; with gold tags, of those that tag nothing."""
    before = nlp.pipe_names[: nlp.pipe_names.index(parser_of(nlp).name)]
    return [name for name in before if "tok2vec" in name] if gold_tags else before
