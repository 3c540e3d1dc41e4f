"""Results of jobs, one JSON file each, in a folder that all workers see."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from benchmarks.koo2007.jobs import Job
from spacy_mtt.treebanks.writing import replacing


class Store:
    """Results by the digest of their jobs. A file is there whole or not at all."""

    def __init__(self, folder: Path):
        self.folder = folder

    def path(self, job: Job) -> Path:
        """Where the result of a job belongs."""
        return self.folder / job.treebank.name / f"{job.digest}.json"

    def get(self, job: Job) -> dict[str, Any] | None:
        """The result of a job; None if it has not been done."""
        record = self._record(job)
        return None if record is None else record["result"]

    def seconds(self, job: Job) -> float:
        """The processor time that a job took; 0 if it has not been done."""
        record = self._record(job)
        return 0.0 if record is None else record["seconds"]

    def put(self, job: Job, result: dict[str, Any], seconds: float) -> None:
        """Keep a result, with the settings of the job and the processor time that it took."""
        path = self.path(job)
        path.parent.mkdir(parents=True, exist_ok=True)
        record = {"settings": job.settings(), "seconds": round(seconds, 2), "result": result}
        with replacing(path) as file:
            file.write(json.dumps(record).encode("utf8"))

    def _record(self, job: Job) -> dict[str, Any] | None:
        try:
            return json.loads(self.path(job).read_text(encoding="utf8"))
        except FileNotFoundError:
            return None
