"""`mtt fetch`: the files of a treebank, downloaded or copied, and verified."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spacy_mtt.cli._util import ProjectOption, one_sentence_errors
from spacy_mtt.treebanks.assets import fetch_treebank


@one_sentence_errors
def fetch(
    treebank: Annotated[str, typer.Argument(help="Name of the treebank in the project file", show_default=False)],
    project: ProjectOption = Path("project.yml"),
    folder: Annotated[
        str, typer.Option("--from", help="Local folder of treebanks: copy FOLDER/TREEBANK/FILE instead of downloading")
    ] = "",
    to: Annotated[
        Path | None, typer.Option("--to", help="Folder of treebanks to put the files in (default: as the project says)")
    ] = None,
) -> None:
    """Get the files of a treebank and verify each by its checksum.

    The addresses and MD5 checksums are those of the assets in the project file. Files that are there and right are
    not fetched again. Exit code 1 at the first file that cannot be had or has another checksum; nothing of it is kept.
    """
    for file in fetch_treebank(treebank, project, folder=folder or None, to=to):
        typer.echo(f"{file.path}: {'fetched' if file.fetched else 'is there'}, MD5 {file.checksum}")
