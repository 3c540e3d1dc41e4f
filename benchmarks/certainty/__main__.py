"""How reliable the probabilities of `mtt_parser` are, and what the parses are worth that it is most certain of.

    python -m benchmarks.certainty --from FOLDER --treebanks UD_English-EWT=3000 UD_Latin-Perseus

Uses the models of `python -m benchmarks.accuracy` with the same options, and trains those that are not there. Can be
stopped and started at any time. Writes docs/certainty.md anew after each treebank.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from benchmarks.accuracy.__main__ import prepared, say, treebank_and_steps
from benchmarks.accuracy.jobs import Job, Places, add_folders, made
from benchmarks.certainty.measure import measured
from benchmarks.certainty.page import draw_curves, draw_reliability, page
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.writing import replacing


def record_of(job: Job, places: Places) -> dict[str, Any]:
    """What is known of a model, measured if it is not."""
    path = places.records / f"{job.name}.certainty.json"
    settings = job.settings(places)
    if path.is_file():
        record = json.loads(path.read_text(encoding="utf8"))
        if record["settings"] == settings:
            return record
    made(job, "training", places, say)
    say(f"{job.name}: certainty")
    record = {"settings": settings, **measured(job.model(places), places.corpus / job.treebank)}
    with replacing(path) as file:
        file.write((json.dumps(record, indent=1) + "\n").encode("utf8"))
    return record


def write_page(found: dict[str, dict[str, Any]], options: argparse.Namespace) -> None:
    """The page and its pictures, which stand beside the records."""
    pictures = {name: options.records / f"{name}.svg" for name in ("reliability", "selective")}
    draw_reliability(found, pictures["reliability"])
    draw_curves(found, pictures["selective"])
    given = " ".join(f"{name}={steps}" for name, steps in options.treebanks if name in found)
    command = f"python -m benchmarks.certainty --treebanks {given} --seed {options.seed}"
    links = [os.path.relpath(path, options.out.parent) for path in pictures.values()]
    with replacing(options.out) as file:
        file.write(page(found, command, *links).encode("utf8"))
    say(f"{options.out}: {len(found)} treebanks")


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--treebanks", nargs="+", required=True, type=treebank_and_steps, metavar="NAME[=STEPS]")
    parser.add_argument("--seed", type=int, default=0)
    add_folders(parser)
    parser.add_argument("--out", type=Path, default=Path("docs/certainty.md"))
    options = parser.parse_args(arguments)
    places = Places(options.corpus, options.models, options.records)
    found: dict[str, dict[str, Any]] = {}
    try:
        for treebank, steps in options.treebanks:
            prepared(treebank, options.project.resolve(), options.folder, places.corpus)
            found[treebank] = record_of(Job(treebank, "recommended", steps, options.seed), places)
            write_page(found, options)
    except subprocess.CalledProcessError as error:
        sys.exit(f"error: exit code {error.returncode} of: {' '.join(map(str, error.cmd))}")
    except TreebankError as error:
        sys.exit(f"error: {error}")


if __name__ == "__main__":
    main()
