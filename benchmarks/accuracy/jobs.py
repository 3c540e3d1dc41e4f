"""What is trained and scored, as data, and the files that keep it."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from pathlib import Path
from typing import Any

from benchmarks.accuracy.contenders import config_for, contender
from spacy_mtt.treebanks.assets import file_md5
from spacy_mtt.treebanks.writing import replacing

Record = dict[str, Any]


@dataclass(frozen=True)
class Places:
    """Folders. corpus: has a folder for each treebank, with its three parts. models: what is trained; it can be thrown
    away. records: what was found, small JSON files."""

    corpus: Path
    models: Path
    records: Path


@dataclass(frozen=True)
class Job:
    """A training of a contender on a treebank."""

    treebank: str
    contender: str
    steps: int
    seed: int

    @property
    def name(self) -> str:
        """In file names."""
        return f"{self.treebank}.{self.contender}.{self.steps}.{self.seed}"

    def model(self, places: Places) -> Path:
        """The folder of the model that is best on the dev part."""
        return places.models / self.name / "model-best"

    def settings(self, places: Places) -> Record:
        """All that the model depends on but the code."""
        corpus = places.corpus / self.treebank
        config = config_for(contender(self.contender), Path(), self.steps, self.seed).to_str(interpolate=False)
        return {
            "config": blake2b(config.encode("utf8"), digest_size=8).hexdigest(),
            **{part: file_md5(corpus / f"{part}.conllu") for part in ("train", "dev")},
        }


def add_folders(parser: argparse.ArgumentParser) -> None:
    """The options of a command that runs jobs."""
    parser.add_argument("--from", dest="folder", help="local folder of treebanks, in place of downloads")
    parser.add_argument("--project", type=Path, default=Path("project.yml"), help="the project file")
    parser.add_argument("--corpus", type=Path, default=Path("corpus"), help="folder of prepared treebanks")
    parser.add_argument("--models", type=Path, default=Path("training/accuracy"), help="folder of models")
    parser.add_argument("--records", type=Path, default=Path("docs/benchmarks/accuracy"), help="folder of results")


def add_job(parser: argparse.ArgumentParser) -> None:
    """The arguments of a process that does a job."""
    for name, kind in (("corpus", Path), ("models", Path), ("treebank", str), ("contender", str)):
        parser.add_argument(name, type=kind)
    for name in ("steps", "seed"):
        parser.add_argument(name, type=int)


def job_of(options: argparse.Namespace) -> tuple[Job, Places]:
    """What `add_job` was given."""
    job = Job(options.treebank, options.contender, options.steps, options.seed)
    return job, Places(options.corpus, options.models, Path())


def record_of(job: Job, kind: str, places: Places) -> Record | None:
    """What was found by a kind of run, "training", "dev" or "test", if its settings are still the same."""
    path = places.records / f"{job.name}.{kind}.json"
    if not path.is_file():
        return None
    record = json.loads(path.read_text(encoding="utf8"))
    return record if record["settings"] == job.settings(places) else None


def made(job: Job, kind: str, places: Places, say: Callable[[str], None]) -> Record:
    """The same, run in a process of its own if there is none; CalledProcessError if that fails."""
    found = record_of(job, kind, places)
    if found is not None and (kind != "training" or job.model(places).is_dir() or _is_scored(job, places)):
        return found
    say(f"{job.name}: {kind}")
    module = "train" if kind == "training" else "score"
    given = [job.treebank, job.contender, str(job.steps), str(job.seed), *([] if kind == "training" else [kind])]
    folders = [str(folder.resolve()) for folder in (places.corpus, places.models)]
    command = [sys.executable, "-m", f"benchmarks.accuracy.{module}", *folders, *given]
    here = Path(__file__).resolve().parents[2]
    done = subprocess.run(command, check=True, cwd=here, stdout=subprocess.PIPE)
    record = {"settings": job.settings(places), **json.loads(done.stdout.splitlines()[-1])}
    places.records.mkdir(parents=True, exist_ok=True)
    with replacing(places.records / f"{job.name}.{kind}.json") as file:
        file.write((json.dumps(record, indent=1) + "\n").encode("utf8"))
    return record


def _is_scored(job: Job, places: Places) -> bool:
    """A model whose scores are known is not needed again."""
    return all(record_of(job, part, places) for part in ("dev", "test"))
