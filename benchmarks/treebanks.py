"""Accuracy and speed of `mtt_parser` and of spaCy's own parser on treebanks, as one table.

    python -m benchmarks.treebanks --treebanks UD_English-EWT=5000 UD_Latin-Perseus --out docs/treebanks.md

Runs the commands of the `compare` workflow in project.yml for each treebank, and writes the table anew after each. A
training that has been finished with the same settings on the same data is not run again, so the command can be stopped
and started at any time. Test files are scored by the model that is best on the dev part; nothing is tuned on them.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import spacy

import spacy_mtt
from spacy_mtt.treebanks.assets import file_md5
from spacy_mtt.treebanks.writing import replacing

DEFAULT_STEPS = 3000
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}


@dataclass(frozen=True)
class Parser:
    """A parser: how the table names it, its name in file names, its config, its two commands in project.yml."""

    title: str
    name: str
    config: str
    train: str
    evaluate: str


PARSERS = (
    Parser("mtt_parser", "mtt_parser", "configs/biaffine.cfg", "train", "evaluate"),
    Parser("spaCy parser", "parser", "configs/spacy-parser.cfg", "train-spacy", "evaluate-spacy"),
)


@dataclass(frozen=True)
class Run:
    """One treebank in a project folder, with the variables of the workflow."""

    project: Path
    treebank: str
    variables: dict[str, Any]

    def command(self, name: str, *options: str) -> None:
        """Run a command of project.yml; CalledProcessError if it fails."""
        given = {"treebank": self.treebank, **self.variables}
        overrides = [text for key, value in given.items() if value != "" for text in (f"--vars.{key}", str(value))]
        command = [sys.executable, "-m", "spacy", "project", "run", *options, name, str(self.project), *overrides]
        subprocess.run(command, check=True)

    def output(self, parser: Parser) -> Path:
        """The folder with the models of a parser."""
        return self.project / "training" / f"{self.treebank}.{parser.name}"

    @property
    def corpus(self) -> Path:
        """The folder with the three parts of the treebank."""
        return self.project / "corpus" / self.treebank

    def train(self, parser: Parser) -> dict[str, Any]:
        """The record of a finished training: settings and seconds. Trains if there is none with these settings."""
        record_path = self.output(parser) / "training.json"
        settings = {
            **{name: self.variables[name] for name in ("steps", "eval_frequency", "seed")},
            "config": file_md5(self.project / parser.config),
            "train": file_md5(self.corpus / "train.conllu"),
            "dev": file_md5(self.corpus / "dev.conllu"),
        }
        if record_path.is_file():
            record = json.loads(record_path.read_text(encoding="utf8"))
            if record["settings"] == settings:
                say(f"{self.treebank}, {parser.title}: has been trained")
                return record
            record_path.unlink()
        say(f"{self.treebank}, {parser.title}: training")
        start = time.perf_counter()
        self.command(parser.train, "--force")
        record = {"settings": settings, "seconds": time.perf_counter() - start}
        with replacing(record_path) as file:
            file.write(json.dumps(record, indent=2).encode("utf8"))
        return record

    def scores(self, parser: Parser) -> dict[str, Any]:
        """The scores on the test part, as `mtt evaluate` writes them."""
        self.command(parser.evaluate)
        path = self.project / "metrics" / f"{self.treebank}.{parser.name}.json"
        return json.loads(path.read_text(encoding="utf8"))

    def speeds(self, rounds: int) -> list[float]:
        """Median words per second of each parser on the test part, one thread."""
        models = [str(self.output(parser) / "model-best") for parser in PARSERS]
        output = self.project / "metrics" / f"{self.treebank}.speed.json"
        command = [sys.executable, "-m", "benchmarks.parsing_speed", str(self.corpus / "test.conllu"), *models]
        command += ["--rounds", str(rounds), "--output", str(output)]
        folder = Path(__file__).resolve().parents[1]  # the one that holds `benchmarks`, wherever the project is
        subprocess.run(command, check=True, env={**os.environ, **ONE_THREAD}, cwd=folder)
        measured = json.loads(output.read_text(encoding="utf8"))
        return [median(measured[model]) for model in models]


def say(message: str) -> None:
    """A line of progress."""
    print(f"[{time.strftime('%H:%M:%S')}] {message}", flush=True)


COLUMNS = (
    "treebank",
    "parser",
    *(f"{rules} {score}" for rules in ("CoNLL-X", "UD", "spaCy") for score in ("UAS", "LAS")),
    "non-projective recall",
    "non-projective precision",
    "words/s",
    "ratio",
    "training s",
    "steps",
)


def compare(run: Run, rounds: int) -> list[list[str]]:
    """The rows of one treebank, one a parser."""
    for name in ("fetch", "prepare"):
        run.command(name)
    records = [run.train(parser) for parser in PARSERS]
    scores = [run.scores(parser) for parser in PARSERS]
    speeds = run.speeds(rounds)
    return [
        row(run.treebank, parser, *measured, reference=speeds[-1])
        for parser, *measured in zip(PARSERS, records, scores, speeds, strict=True)
    ]


def row(treebank: str, parser: Parser, record: dict, scores: dict, speed: float, *, reference: float) -> list[str]:
    """A line of the table; "-" where a rule set rejects the treebank or there is nothing to score."""
    cells = [scores[rules].get(score) for rules in ("conllx", "ud", "spacy") for score in ("UAS", "LAS")]
    cells += [scores["nonprojective"].get(score) for score in ("recall", "precision")]
    shown = ["-" if value is None else f"{value:.2f}" for value in cells]
    return [
        treebank,
        parser.title,
        *shown,
        f"{speed:.0f}",
        f"{speed / reference:.2f}",
        f"{record['seconds']:.0f}",
        str(record["settings"]["steps"]),
    ]


PAGE = """# Treebanks

Made by `{command}` ({versions}).

Both parsers get the words and the sentence boundaries of the treebank, one sentence a Doc, and no tags. Both are
trained on the same docs for the same number of steps: `mtt_parser` as `configs/biaffine.cfg` says, in batches of 500
words, spaCy's parser as its own default for efficiency says (`configs/spacy-parser.cfg`), in batches that grow from 100
to 1000 words. The model with the best score on the dev part is scored on the test part, in percent, by the rules of
CoNLL-X, of Universal Dependencies (CoNLL 2018) and of spaCy. A dash: the rules reject the treebank, or there is nothing
to score. Words per second: parsing on one thread, both parsers in turn in one process, median of {rounds} rounds.
Ratio: to spaCy's parser. Training: seconds of the whole command, on a machine shared with other work, so a rough guide.

{table}
"""


def page(rows: list[list[str]], options: argparse.Namespace) -> str:
    """The whole Markdown page."""
    table = [
        "| " + " | ".join(COLUMNS) + " |",
        "|" + "|".join(" --- " if i < 2 else " ---: " for i in range(len(COLUMNS))) + "|",
        *("| " + " | ".join(cells) + " |" for cells in rows),
    ]
    treebanks = " ".join(f"{name}={steps}" for name, steps in options.treebanks)
    command = f"python -m benchmarks.treebanks --treebanks {treebanks}"
    return PAGE.format(
        command=f"{command} --seed {options.seed} --rounds {options.rounds}",
        versions=f"spacy-mtt {spacy_mtt.__version__}, spaCy {spacy.__version__}, Python {sys.version.split()[0]}",
        rounds=options.rounds,
        table="\n".join(table),
    )


def treebank_and_steps(given: str) -> tuple[str, int]:
    """NAME or NAME=STEPS; the last of ten evaluations has to fall on the last step."""
    name, _, steps = given.partition("=")
    if not (steps or str(DEFAULT_STEPS)).isdecimal():
        raise argparse.ArgumentTypeError(f"{given}: the steps are no number")
    number = int(steps or DEFAULT_STEPS)
    if number == 0 or (number > 10 and number % 10):
        raise argparse.ArgumentTypeError(f"{given}: steps have to be a multiple of 10")
    return name, number


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--treebanks",
        nargs="+",
        required=True,
        type=treebank_and_steps,
        metavar="NAME[=STEPS]",
        help="names in project.yml, and steps if not 3000",
    )
    parser.add_argument("--folder", default="", help="local folder of treebanks, in place of downloads")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which speed is measured")
    parser.add_argument("--project", type=Path, default=Path(), help="folder of project.yml")
    parser.add_argument("--out", type=Path, default=Path("docs/treebanks.md"))
    options = parser.parse_args(arguments)
    folder = str(Path(options.folder).resolve()) if options.folder else ""
    options.out.parent.mkdir(parents=True, exist_ok=True)
    rows: list[list[str]] = []
    for number, (treebank, steps) in enumerate(options.treebanks, 1):
        variables = {
            "steps": steps,
            "eval_frequency": steps // 10 or 1,
            "seed": options.seed,
            "treebanks_folder": folder,
        }
        say(f"{treebank} ({number} of {len(options.treebanks)})")
        try:
            rows += compare(Run(options.project.resolve(), treebank, variables), options.rounds)
        except subprocess.CalledProcessError as error:
            sys.exit(f"error: {treebank}: exit code {error.returncode} of: {' '.join(map(str, error.cmd))}")
        with replacing(options.out) as file:
            file.write(page(rows, options).encode("utf8"))
        say(f"{options.out}: {len(rows)} rows")


if __name__ == "__main__":
    main()
