"""`mtt check`: every problem of a treebank, and how non-projective it is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from spacy_mtt.cli._util import EncodingOption, FormatOption
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.reading import TreebankReport, check_treebank

HEADER = ("file", "sentences", "words", "crossing %", "non-proj %", "multi-root %", "errors", "warnings")


def check(
    files: Annotated[list[Path], typer.Argument(help="Treebank files", show_default=False)],
    format: FormatOption = None,
    encoding: EncodingOption = "utf8",
    max_warnings: Annotated[
        int | None, typer.Option("--max-warnings", "-w", min=0, help="List no more warnings of a file (default: all)")
    ] = None,
) -> None:
    """List every problem of treebank files with file and line, then count.

    The figures are over the sentences without errors, punctuation included. "crossing": arcs that cross
    another arc, where arcs from the root start left of the first word. "non-proj": arcs (h, d) with a word
    between h and d that does not descend from h. "multi-root": sentences with several words of head 0. Exit
    code 1 if there is any error.
    """
    reports: list[TreebankReport] = []
    failed = False
    for path in files:
        try:
            report = check_treebank(path, format, encoding=encoding)
        except TreebankError as error:
            typer.echo(f"error: {error}", err=True)
            failed = True
            continue
        warnings = 0
        for problem in report.problems:
            warnings += problem.severity == "warning"
            if problem.severity == "error" or max_warnings is None or warnings <= max_warnings:
                typer.echo(f"{path}:{problem.line}: {problem.severity}: {problem.message}")
        if max_warnings is not None and warnings > max_warnings:
            typer.echo(f"{path}: {warnings - max_warnings} more warnings")
        failed |= report.errors > 0
        reports.append(report)
    if reports:
        typer.echo(figures_table(reports))
    if failed:
        raise typer.Exit(1)


def figures_table(reports: list[TreebankReport]) -> str:
    """The figures of each file as an aligned line of text."""
    rows = [HEADER]
    for report in reports:
        figures = report.statistics
        percentages = (
            figures.crossing_percent,
            figures.nonprojective_percent,
            figures.multi_root_percent,
        )
        rows.append(
            (
                report.path,
                str(figures.sentences),
                str(figures.words),
                *(f"{value:.2f}" for value in percentages),
                str(report.errors),
                str(len(report.problems) - report.errors),
            )
        )
    widths = [max(len(row[i]) for row in rows) for i in range(len(HEADER))]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    )
