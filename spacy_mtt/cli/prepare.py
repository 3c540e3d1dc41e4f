"""`mtt prepare`: the files of a treebank as train, dev and test part in CoNLL-U."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spacy_mtt.cli._util import ProjectOption, one_sentence_errors
from spacy_mtt.treebanks.assets import asset_path, treebank_assets
from spacy_mtt.treebanks.parts import EVERY, PARTS, PartFile, write_parts


@one_sentence_errors
def prepare(
    treebank: Annotated[str, typer.Argument(help="Name of the treebank in the project file", show_default=False)],
    output: Annotated[Path, typer.Argument(help="Folder for the three parts", show_default=False)],
    project: ProjectOption = Path("project.yml"),
    folder: Annotated[
        Path | None, typer.Option("--from", help="Folder of treebanks (default: where the project puts the files)")
    ] = None,
    every: Annotated[
        int, typer.Option("--every", min=2, help="Without a dev file, every which sentence of train is for dev")
    ] = EVERY,
) -> None:
    """Write train.conllu, dev.conllu and test.conllu of a treebank, in UTF-8.

    The test part is the test file, always. Without a train file the dev file is the train part. If no dev file is
    left, every tenth sentence of the train part (numbers 10, 20, ...) is taken out of it and makes the dev part. The
    encoding of a file that is not UTF-8 stands in the project file.
    """
    files = {
        asset.part: PartFile(asset_path(asset, project, folder), asset.encoding)
        for asset in treebank_assets(project, treebank)
        if asset.part in PARTS
    }
    for part, count in write_parts(files, output, every=every).items():
        typer.echo(f"{output / part}.conllu: {count} sentences")
