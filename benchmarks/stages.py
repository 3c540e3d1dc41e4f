"""Where the time of a pipeline with an `mtt_parser` goes: token vectors, scores, trees and labels, writing to the Doc.

    OMP_NUM_THREADS=1 python -m benchmarks.stages UD_English-EWT/dev.conllu MODEL MODEL --out docs/benchmarks/stages.md

Words of the treebank in docs of ten sentences whose boundaries the pipeline finds, in batches of 16 docs. Processor
time of `nlp.pipe` on one thread; pipelines take turns, the first round is left out, and the median of the others
counts. A trained model is needed: untrained scores would make other trees.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import spacy
from spacy.language import Language
from tqdm import tqdm

from benchmarks.accuracy.contenders import SENTENCES_PER_DOC
from spacy_mtt.pipeline.component import MatrixTreeParser
from spacy_mtt.treebanks.docs import blank_doc
from spacy_mtt.treebanks.reading import read_treebank
from spacy_mtt.treebanks.writing import replacing

BATCH = 16
VECTORS, SCORES, TREES, WRITING, REST = "token vectors", "arc scores", "trees and labels", "writing", "all else"
STAGES = (VECTORS, SCORES, TREES, WRITING, REST)


class Clock:
    """Processor seconds by stage. A stage inside another one does not count for that."""

    def __init__(self):
        self.seconds = dict.fromkeys(STAGES, 0.0)
        self._inner = [0.0]

    def timed(self, stage: str, function: Callable) -> Callable:
        """The function, on the clock."""

        def run(*args, **kwargs):
            self._inner.append(0.0)
            start = time.process_time()
            try:
                return function(*args, **kwargs)
            finally:
                took = time.process_time() - start
                self.seconds[stage] += took - self._inner.pop()
                self._inner[-1] += took

        return run


def on_the_clock(nlp: Language) -> tuple[Clock, Callable]:
    """A clock in the parser of a pipeline, and its `pipe` as a function that uses up what it is given."""
    clock = Clock()
    for _, component in nlp.pipeline:
        if isinstance(component, MatrixTreeParser):
            component.predict = clock.timed(TREES, component.predict)
            component.set_annotations = clock.timed(WRITING, component.set_annotations)
            model, tok2vec = component.model, component.model.get_ref("tok2vec")
            model._func = clock.timed(SCORES, model._func)
            tok2vec._func = clock.timed(VECTORS, tok2vec._func)
        elif hasattr(component, "listener_map"):  # a tok2vec of the pipeline
            component.predict = clock.timed(VECTORS, component.predict)

    def run(docs) -> None:
        for _ in nlp.pipe(docs, batch_size=BATCH):
            pass

    return clock, clock.timed(REST, run)


def measure(pipelines: dict[str, Language], treebank: Path, rounds: int) -> dict[str, np.ndarray]:
    """For each pipeline the microseconds a word in each stage, (rounds, stages)."""
    sentences = list(read_treebank(treebank))
    words = sum(len(sentence.forms) for sentence in sentences)
    groups = [sentences[i : i + SENTENCES_PER_DOC] for i in range(0, len(sentences), SENTENCES_PER_DOC)]
    clocks = {name: on_the_clock(nlp) for name, nlp in pipelines.items()}
    found: dict[str, list] = {name: [] for name in pipelines}
    for number in tqdm(range(rounds + 1), desc="stages", disable=None):
        for name, (clock, run) in clocks.items():
            docs = [blank_doc(group, pipelines[name].vocab, gold_tags=False, gold_sents=False) for group in groups]
            clock.seconds = dict.fromkeys(STAGES, 0.0)
            run(docs)
            if number:
                found[name].append([1e6 * clock.seconds[stage] / words for stage in STAGES])
    return {name: np.array(each) for name, each in found.items()}


def page(found: dict[str, np.ndarray], treebank: Path) -> str:
    """The table in Markdown."""
    n_rounds = len(next(iter(found.values())))
    lines = [
        "# Where the time goes",
        "",
        f"Written by `python -m benchmarks.stages` on {'/'.join(treebank.parts[-2:])}, docs of {SENTENCES_PER_DOC} "
        f"sentences, batches of {BATCH} docs: processor microseconds a word on one thread, medians of {n_rounds} "
        "rounds. *Share*: of all but the token vectors in the whole, from token vectors to the written Doc.",
        "",
        f"| pipeline | {' | '.join(STAGES)} | together | share |",
        "|---|" + "---:|" * (len(STAGES) + 2),
    ]
    for name, rounds in found.items():
        each, whole = np.median(rounds, axis=0), rounds.sum(axis=1)
        share = np.median(1 - rounds[:, 0] / whole)
        cells = [*(f"{value:.1f}" for value in each), f"{np.median(whole):.1f}", f"{100 * share:.0f} %"]
        lines.append(f"| {name} | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("treebank", type=Path)
    parser.add_argument("models", nargs="+", help="[TITLE=]PATH or package of a pipeline")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=Path, help="Markdown page")
    options = parser.parse_args(arguments)
    if options.rounds < 1:
        parser.error(f"--rounds {options.rounds}: has to be at least 1")
    pipelines = {}
    for model in options.models:
        title, _, path = model.rpartition("=")
        pipelines[title or Path(path).name] = spacy.load(path)
    text = page(measure(pipelines, options.treebank, options.rounds), options.treebank)
    print(text)
    if options.out is not None:
        with replacing(options.out) as file:
            file.write(text.encode("utf8"))


if __name__ == "__main__":
    main()
