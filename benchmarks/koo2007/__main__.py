"""The experiment of Koo et al. (2007) on treebanks of project.yml: six ways to train, their tables and sign tests.

    python -m benchmarks.koo2007 --from FOLDER --results FOLDER --jobs 2
    python -m benchmarks.koo2007 --treebanks conllx-dutch-alpino6000

Fetches the treebanks, does what has not been done yet, and writes docs/koo2007.md anew after each treebank, with all
that have been done at one time or another. It can be stopped and started at any time: each training run leaves a file
in the folder of results. `--report` runs nothing.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks.koo2007.corpora import fingerprint
from benchmarks.koo2007.grid import BACKENDS, run, workers
from benchmarks.koo2007.jobs import Treebank
from benchmarks.koo2007.page import page
from benchmarks.koo2007.report import outcome
from benchmarks.koo2007.store import Store
from benchmarks.koo2007.titles import TITLES
from spacy_mtt.treebanks.assets import fetch_treebank, read_assets
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.writing import replacing


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.koo2007", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--treebanks", nargs="+", default=["all"], metavar="NAME", help="in project.yml; all: the ten")
    parser.add_argument("--from", dest="folder", default="", help="local folder of treebanks, in place of downloads")
    parser.add_argument("--project", type=Path, default=Path("project.yml"), help="the project file")
    parser.add_argument("--results", type=Path, default=Path("metrics/koo2007"), help="folder of results")
    parser.add_argument("--out", type=Path, default=Path("docs/koo2007.md"), help="the page to write")
    parser.add_argument("--jobs", type=int, default=1, help="workers at a time")
    parser.add_argument("--backend", choices=BACKENDS, default="loky", help="what joblib runs them on")
    parser.add_argument("--scheduler", help="address of a Dask or Ray cluster that runs already")
    parser.add_argument("--together", action="store_true", help="plan all treebanks at once, for many workers")
    parser.add_argument("--report", action="store_true", help="write the page from the results that there are")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    options = options_of(arguments)
    project, store = options.project.resolve(), Store(options.results.resolve())
    names = names_of(options)
    try:
        if not options.report:
            fetch(names, project, options.folder)
        to_run, to_show = treebanks(project, names), treebanks(project, shown(project, names))
        if not options.report:
            with workers(options.backend, options.jobs, options.scheduler):
                for _ in run(to_run, store, together=options.together):
                    write_page(options.out, to_show, store)
        write_page(options.out, to_show, store)
    except (TreebankError, ValueError) as error:
        sys.exit(f"error: {error}")


def names_of(options: argparse.Namespace) -> list[str]:
    """The treebanks that the command line asks for."""
    return list(TITLES) if options.treebanks == ["all"] else options.treebanks


def fetch(names: Sequence[str], project: Path, folder: str) -> None:
    """Get the files of these treebanks, from a local `folder` if it is not empty."""
    for name in names:
        for _ in fetch_treebank(name, project, folder=folder or None):
            pass


def shown(project: Path, names: Sequence[str]) -> list[str]:
    """The treebanks that the page is about: the ten of the experiment, as far as the project has them, and `names`."""
    ten = [name for name in TITLES if name in read_assets(project)]
    return [*ten, *(name for name in names if name not in ten)]


def treebanks(project: Path, names: Sequence[str]) -> list[Treebank]:
    """The treebanks of these names."""
    return [Treebank(project, name, fingerprint(project, name)) for name in names]


def write_page(path: Path, to_show: Sequence[Treebank], store: Store) -> None:
    """Write the page of all treebanks that are done; the old one is replaced."""
    path.parent.mkdir(parents=True, exist_ok=True)
    found = [outcome(treebank, store) for treebank in to_show]
    done = [each for each in found if each is not None]
    missing = [treebank.name for treebank, each in zip(to_show, found, strict=True) if each is None]
    with replacing(path) as file:
        file.write(page(done, missing).encode("utf8"))


if __name__ == "__main__":
    main()
