"""`mtt_parser` against spaCy's parser on treebanks of project.yml: accuracy, boundaries, crossing arcs, speed.

    python -m benchmarks.accuracy --from FOLDER --treebanks UD_English-EWT=5000 UD_Latin-Perseus --seeds 0 1
    python -m benchmarks.accuracy --treebanks UD_English-EWT=5000 --parts dev --contenders recommended

Trains what has not been trained yet with the same settings on the same data, and writes docs/accuracy.md anew after
each treebank that all have been trained and scored on. It can be stopped and started at any time. Nothing is tuned on
test parts.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path

from benchmarks.accuracy.contenders import CONTENDERS
from benchmarks.accuracy.jobs import Job, Places, Record, add_folders, made, record_of
from benchmarks.accuracy.page import Found, draw, page
from spacy_mtt.treebanks.assets import asset_path, fetch_treebank, treebank_assets
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.parts import PARTS, PartFile, write_parts
from spacy_mtt.treebanks.writing import replacing

DEFAULT_STEPS = 3000
ONE_THREAD = {name: "1" for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")}
KINDS = ("training", "dev", "test")


def say(message: str) -> None:
    """A line of progress."""
    print(f"[{time.strftime('%H:%M:%S')}] {message}", flush=True)


def prepared(treebank: str, project: Path, folder: str | None, corpus: Path) -> None:
    """The three parts of a treebank under `corpus`, in CoNLL-U."""
    if all((corpus / treebank / f"{part}.conllu").is_file() for part in PARTS):
        return
    for _ in fetch_treebank(treebank, project, folder=folder):
        pass
    assets = [asset for asset in treebank_assets(project, treebank) if asset.part in PARTS]
    write_parts(
        {asset.part: PartFile(asset_path(asset, project), asset.encoding) for asset in assets}, corpus / treebank
    )


def speeds(jobs: Sequence[Job], places: Places, rounds: int) -> dict[str, list[list[float]]] | None:
    """Words per second of the models of a treebank; measured if all of them are there and it has not been done."""
    path = places.records / f"{jobs[0].treebank}.{jobs[0].steps}.speed.json"
    settings = [job.settings(places) for job in jobs]
    if path.is_file():
        record = json.loads(path.read_text(encoding="utf8"))
        if record["settings"] == settings and record["rounds"] == rounds:
            return record["words_per_second"]
    models = [job.model(places) for job in jobs]
    if not all(model.is_dir() for model in models):
        return None
    say(f"{jobs[0].treebank}: speed")
    treebank = places.corpus / jobs[0].treebank / "dev.conllu"
    command = [
        sys.executable,
        "-m",
        "benchmarks.accuracy.speed",
        *map(str, (treebank, *models)),
        "--rounds",
        str(rounds),
    ]
    here = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, check=True, cwd=here, env={**os.environ, **ONE_THREAD}, stdout=subprocess.PIPE)
    record = {"settings": settings, "rounds": rounds, "words_per_second": json.loads(done.stdout.splitlines()[-1])}
    with replacing(path) as file:
        file.write((json.dumps(record, indent=1) + "\n").encode("utf8"))
    return record["words_per_second"]


def found_on(treebank: str, steps: int, seeds: Sequence[int], places: Places, rounds: int) -> Found | None:
    """All that is known of a treebank; None if something is missing."""
    runs: dict[str, list[dict[str, Record]]] = {}
    for contender in CONTENDERS:
        jobs = [Job(treebank, contender, steps, seed) for seed in seeds]
        runs[contender] = [{kind: record_of(job, kind, places) for kind in KINDS} for job in jobs]
        if any(record is None for run in runs[contender] for record in run.values()):
            return None
    return Found(
        treebank, steps, runs, speeds([Job(treebank, name, steps, seeds[0]) for name in CONTENDERS], places, rounds)
    )


def treebank_and_steps(given: str) -> tuple[str, int]:
    """NAME or NAME=STEPS."""
    name, _, steps = given.partition("=")
    if not (steps or str(DEFAULT_STEPS)).isdecimal() or steps == "0":
        raise argparse.ArgumentTypeError(f"{given}: the steps have to be a number above 0")
    return name, int(steps or DEFAULT_STEPS)


def options_of(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebanks", nargs="+", required=True, type=treebank_and_steps, metavar="NAME[=STEPS]")
    parser.add_argument("--contenders", nargs="+", choices=CONTENDERS, default=list(CONTENDERS))
    parser.add_argument("--parts", nargs="+", choices=("dev", "test"), default=["dev", "test"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0])
    parser.add_argument("--rounds", type=int, default=5, help="rounds in which speed is measured")
    add_folders(parser)
    parser.add_argument("--out", type=Path, default=Path("docs/accuracy.md"))
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    options = options_of(arguments)
    project, places = options.project.resolve(), Places(options.corpus, options.models, options.records)
    try:
        for treebank, steps in options.treebanks:
            prepared(treebank, project, options.folder, places.corpus)
            for seed in options.seeds:
                for contender in options.contenders:
                    for kind in ("training", *options.parts):
                        record = made(Job(treebank, contender, steps, seed), kind, places, say)
                        if kind != "training":
                            say(f"{treebank}, {contender}, seed {seed}, {kind}: {shown(record)}")
            write_page(options, places)
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: exit code {error.returncode} of: {' '.join(map(str, error.cmd))}")
    except TreebankError as error:
        sys.exit(f"error: {error}")


def shown(record: Record) -> str:
    """Scores in a line."""
    gold, predicted = record["gold"]["CoNLL-X"], record["predicted"]["spaCy"]["scores"]
    own = "rejected" if gold is None else f"{gold['scores']['UAS']:.2f} / {gold['scores']['LAS']:.2f}"
    return (
        f"{own}; boundaries predicted {predicted['UAS']:.2f} / {predicted['LAS']:.2f}, F {predicted['sentences']:.1f}"
    )


def write_page(options: argparse.Namespace, places: Places) -> None:
    """Write the page with all treebanks of the command line that are done."""
    every = [found_on(*treebank, options.seeds, places, options.rounds) for treebank in options.treebanks]
    found = [each for each in every if each is not None]
    if not found:
        return
    given = [f"{each.treebank}={each.steps}" for each in found]
    command = f"python -m benchmarks.accuracy --treebanks {' '.join(given)} --seeds {' '.join(map(str, options.seeds))}"
    plot = options.records / "las.svg"
    draw(found, plot)
    with replacing(options.out) as file:
        file.write(page(found, command, os.path.relpath(plot, options.out.parent)).encode("utf8"))
    say(f"{options.out}: {len(found)} treebanks")


if __name__ == "__main__":
    main()
