"""RBGParser's low-rank tensor model beside the linear one, as one table: shares of theta, ranks, dropout, dev and test.

    python -m benchmarks.low_rank --folder assets/treebanks --treebanks conllx-dutch-alpino6000 --out table.md

Each row is trained in a process of its own, so that its peak of memory is its own. A run that has been finished with
the same settings on the same files is not made again: the command can be stopped and started at any time, and
`--only-table` writes the table of what there is. Nothing is tuned on test files.
"""

from __future__ import annotations

import argparse
import itertools
import json
import os
import subprocess
import sys
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import spacy_mtt
from benchmarks.low_rank_run import Settings, files_of
from spacy_mtt.treebanks.assets import file_md5
from spacy_mtt.treebanks.writing import replacing

ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
# RBGParser itself: its first-order model "basic", 10 passes, one thread, whole training file; official script.
RBGPARSER = {
    "conllx-dutch-alpino6000": ("82.33", "592", "7.1"),
    "conllx-portuguese-bosque3500": ("90.20", "1,398", "7.3"),
}
SETTINGS = ("treebank", "gamma", "rank", "dropout")
COLUMNS = (*SETTINGS, "dev UAS", "test UAS", "seconds", "CPU seconds", "peak GB", "parameters MB")

PAGE = """# The low-rank tensor model on treebanks

Made by `{command}` (spacy-mtt {version}, Python {python}).

{description} UAS by the rules of CoNLL-X. Dev: the dev file, or every tenth sentence of the training file, left out of
training; test: trained on the whole training file. gamma = 1 is the linear model. Seconds: of the training for the test
score, reading and features included, by the wall, on a machine shared with other work, and of the processor. Memory:
the peak of the whole process. Tags are joined with morphology. The rows of RBGParser are its first-order `basic` model
on the same files and the same kind of machine.

{table}
"""


@dataclass(frozen=True)
class Cell:
    """A model. The linear one has no rank and no dropout: 0."""

    gamma: float
    rank: int = 0
    dropout: float = 0.0

    def __str__(self) -> str:
        return f"gamma{self.gamma:g}.rank{self.rank}.dropout{self.dropout:g}"

    @property
    def texts(self) -> list[str]:
        """Its cells in the table."""
        return [f"{self.gamma:g}", *((str(self.rank), f"{self.dropout:g}") if self.gamma < 1 else "--")]


def grid(options: argparse.Namespace) -> list[Cell]:
    """All models; the linear one stands there once."""
    tensors = list(itertools.product(options.ranks, options.dropouts))
    return [
        cell
        for gamma in options.gammas
        for cell in ([Cell(gamma, *tensor) for tensor in tensors] if gamma < 1 else [Cell(1.0)])
    ]


def record_of(folder: Path, part: str, cell: Cell, options: argparse.Namespace) -> dict[str, Any] | None:
    """The record of a run, which is made if there is none, unless `--only-table`."""
    path = options.records / f"{folder.name}.{part}.{cell}.json"
    names = ("C", "passes", "start", "update", "learner", "cache_up_to", "least", "seed")
    given = {"part": part, **asdict(cell), **{name: getattr(options, name) for name in names}}
    inputs = {name: file_md5(file) for name, file in files_of(folder).items() if name in ("train", part)}
    if path.is_file():
        record = json.loads(path.read_text(encoding="utf8"))
        if record["settings"] == asdict(Settings(folder.name, **given)) and record["inputs"] == inputs:
            return record
    if options.only_table:
        return None
    say(f"{folder.name}: {part}, gamma {cell.gamma:g}, rank {cell.rank}, dropout {cell.dropout:g}")
    command = [sys.executable, "-m", "benchmarks.low_rank_run", str(folder.resolve())]
    for name, value in given.items():
        command += [f"--{name.replace('_', '-')}", str(value)]
    here = Path(__file__).resolve().parents[1]
    done = subprocess.run(command, check=True, env={**os.environ, **ONE_THREAD}, cwd=here, stdout=subprocess.PIPE)
    record = {**json.loads(done.stdout), "inputs": inputs}
    options.records.mkdir(parents=True, exist_ok=True)
    with replacing(path) as file:
        file.write(json.dumps(record, indent=2).encode("utf8"))
    return record


def row(treebank: str, cell: Cell, dev: dict | None, test: dict | None) -> list[str]:
    """A line of the table; a dash for a run that was not made."""
    shown = test or dev
    cells = [treebank, *cell.texts]
    cells += [f"{record['UAS']:.2f}" if record else "-" for record in (dev, test)]
    if shown is None:
        return [*cells, "-", "-", "-", "-"]
    seconds = [f"{shown['training_seconds'][kind]:.0f}" for kind in ("wall", "cpu")]
    return [*cells, *seconds, f"{shown['peak_bytes'] / 1e9:.2f}", f"{shown['parameter_bytes'] / 1e6:.0f}"]


def page(rows: list[list[str]], options: argparse.Namespace) -> str:
    """The whole Markdown page."""
    names = " ".join(
        f"--{name} " + " ".join(f"{value:g}" for value in getattr(options, name))
        for name in ("gammas", "ranks", "dropouts")
    )
    command = f"python -m benchmarks.low_rank --folder FOLDER --treebanks {' '.join(options.treebanks)} {names}"
    lines = [COLUMNS, ["---", *["---:"] * (len(COLUMNS) - 1)], *rows]
    return PAGE.format(
        command=f"{command} --C {options.C:g} --passes {options.passes}",
        version=spacy_mtt.__version__,
        python=sys.version.split()[0],
        description=(
            f"{options.passes} passes, C = {options.C:g}, learner `{options.learner}`, update `{options.update}`, "
            f"start `{options.start}`, non-projective, multi-root, seed {options.seed}; features of arcs are kept for "
            f"sentences of up to {options.cache_up_to} words, features of words if {options.least} sentences have them."
        ),
        table="\n".join("| " + " | ".join(cells) + " |" for cells in lines),
    )


def rows_of(folder: Path, options: argparse.Namespace) -> list[list[str]]:
    """The rows of one treebank."""
    rows = []
    for cell in grid(options):
        dev, test = (
            record_of(folder, part, cell, options) if part in options.parts else None for part in ("dev", "test")
        )
        rows.append(row(folder.name, cell, dev, test))
    if folder.name in RBGPARSER:
        uas, seconds, memory = RBGPARSER[folder.name]
        rows.append([folder.name, "RBGParser", "50", "0", "-", uas, seconds, "-", memory, "-"])
    return rows


def say(message: str) -> None:
    """A line of progress."""
    print(f"[{time.strftime('%H:%M:%S')}] {message}", flush=True)


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, default=Path("assets/treebanks"), help="has a folder for each treebank")
    parser.add_argument("--treebanks", nargs="+", required=True, metavar="NAME")
    parser.add_argument("--parts", nargs="+", choices=("dev", "test"), default=("dev", "test"))
    parser.add_argument("--gammas", nargs="+", type=float, default=[0.0, 0.3, 1.0])
    parser.add_argument("--ranks", nargs="+", type=int, default=[10, 50])
    parser.add_argument("--dropouts", nargs="+", type=float, default=[0.5], help="of components; 0 is RBGParser's")
    parser.add_argument("--learner", default="margin")
    parser.add_argument("--C", type=float, default=0.01)
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--start", default="random")
    parser.add_argument("--update", default="joint")
    parser.add_argument("--cache-up-to", type=int, default=40, help="words of a sentence whose arc features are kept")
    parser.add_argument("--least", type=int, default=2, help="sentences that a feature of words must be found in")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--records", type=Path, default=Path("metrics/low_rank"), help="folder of finished runs")
    parser.add_argument("--only-table", action="store_true", help="run nothing")
    parser.add_argument("--out", type=Path, default=Path("metrics/low_rank/table.md"))
    options = parser.parse_args(arguments)
    options.out.parent.mkdir(parents=True, exist_ok=True)
    rows: list[list[str]] = []
    for name in options.treebanks:
        try:
            rows += rows_of(options.folder / name, options)
        except subprocess.CalledProcessError as error:
            sys.exit(f"error: {name}: exit code {error.returncode} of: {' '.join(map(str, error.cmd))}")
        with replacing(options.out) as file:
            file.write(page(rows, options).encode("utf8"))
        say(f"{options.out}: {len(rows)} rows")


if __name__ == "__main__":
    main()
