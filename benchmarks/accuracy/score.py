"""A trained model on a part of a treebank; the last line of output is the record, as JSON. Run by jobs.py."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import spacy

from benchmarks.accuracy.contenders import SENTENCES_PER_DOC
from benchmarks.accuracy.jobs import add_job, job_of
from spacy_mtt.cli.evaluate import evaluate_all
from spacy_mtt.treebanks.evaluation import EvaluationError
from spacy_mtt.treebanks.pipelines import parse_with
from spacy_mtt.treebanks.reading import read_treebank


def scores(model: Path, treebank: Path) -> dict[str, dict[str, Any]]:
    """For gold and for predicted boundaries, docs of ten sentences each: scores and counts by each rule set."""
    nlp, sentences = spacy.load(model), list(read_treebank(treebank))
    found: dict[str, dict[str, Any]] = {}
    for boundaries in ("gold", "predicted"):
        parsed = parse_with(nlp, sentences, gold_sents=boundaries == "gold", sents_per_doc=SENTENCES_PER_DOC)
        results = evaluate_all(sentences, parsed.sentences, parsed)
        found[boundaries] = {
            rules: None if isinstance(each, EvaluationError) else {"scores": each.scores, "counts": each.counts}
            for rules, each in results.items()
        }
    return found


def main(arguments: list[str] | None = None) -> None:
    """The command."""
    parser = argparse.ArgumentParser(description=__doc__)
    add_job(parser)
    parser.add_argument("part", choices=("dev", "test"))
    options = parser.parse_args(arguments)
    job, places = job_of(options)
    print(json.dumps(scores(job.model(places), places.corpus / job.treebank / f"{options.part}.conllu")))


if __name__ == "__main__":
    main()
