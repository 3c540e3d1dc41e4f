"""`mtt fill-config`: `mtt_parser` in the place of spaCy's parser."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from spacy.cli._util import import_code, show_validation_error
from spacy.util import load_config

from spacy_mtt.cli._util import fail
from spacy_mtt.pipeline.replacement import ReplacementError, replace_parser
from spacy_mtt.treebanks.writing import replacing


def fill_config(
    source: Annotated[
        Path, typer.Argument(metavar="IN", help="Config to start from", exists=True, dir_okay=False, show_default=False)
    ],
    target: Annotated[
        Path, typer.Argument(metavar="[OUT]", help="Config to write, or - for the output stream", allow_dash=True)
    ] = Path("-"),
    recurrence: Annotated[
        bool | None,
        typer.Option(
            "--recurrence/--no-recurrence",
            "-r/-R",
            help="Let the parser read the token vectors with a recurrence of its own",
            show_default="if their width is set, so not over a transformer",
        ),
    ] = None,
    code: Annotated[
        Path | None, typer.Option("--code", "-c", help="Python file with registered functions to import")
    ] = None,
) -> None:
    """Put `mtt_parser` in the place of `parser` in a config for `spacy train`.

    The component keeps its name, its place in the pipeline and its token vectors, so that it listens to the same
    `tok2vec` or `transformer`; no other setting is changed, and what is missing is filled in, as by
    `spacy init fill-config`.
    """
    import_code(code)
    with show_validation_error(source, hint_fill=False):
        config = load_config(source)
        try:
            filled, lost = replace_parser(config, recurrence=recurrence)
        except ReplacementError as error:
            fail(f"{source}: {error}")
    for message in lost:
        typer.echo(f"warning: {message}", err=True)
    if str(target) == "-":
        typer.echo(filled.to_str())
        return
    target.parent.mkdir(parents=True, exist_ok=True)
    with replacing(target) as file:
        file.write(filled.to_bytes())
    typer.echo(f"{target}: mtt_parser is in the place of spaCy's parser")
