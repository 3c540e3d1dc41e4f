"""One training in a process of its own; its last line of output is the record, as JSON. Run by jobs.py."""

from __future__ import annotations

import argparse
import json
import resource
import sys
import time

from spacy.training.initialize import init_nlp
from spacy.training.loop import train

from benchmarks.accuracy.contenders import config_for, contender
from benchmarks.accuracy.jobs import add_job, job_of


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_job(parser)
    options = parser.parse_args(arguments)
    job, places = job_of(options)
    config = config_for(contender(job.contender), places.corpus / job.treebank, job.steps, job.seed)
    start = time.perf_counter(), time.process_time()
    nlp = init_nlp(config)
    begun = time.perf_counter(), time.process_time()
    output = job.model(places).parent
    output.mkdir(parents=True, exist_ok=True)
    train(nlp, output, stdout=sys.stderr)
    end = time.perf_counter(), time.process_time()
    record = {
        "seconds": {"wall": end[0] - begun[0], "cpu": end[1] - begun[1]},
        "preparation": {"wall": begun[0] - start[0], "cpu": begun[1] - start[1]},
        "peak_bytes": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024,
    }
    print(json.dumps(record))


if __name__ == "__main__":
    main()
