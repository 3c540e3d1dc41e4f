"""One training of the low-rank tensor model on a treebank, in a process of its own: accuracy, time, memory.

    python -m benchmarks.low_rank_run TREEBANK_FOLDER --gamma 0.3 --rank 50 --part dev --output run.json

With `--part dev` the dev file of the treebank is scored, or, if it has none, every tenth sentence of the training file,
which is then left out of training; with `--part test` the whole training file is trained on and the test file scored.
`--part block:9/10` scores the last tenth of the training file, `block:0/10` the first, and trains on the rest: a block
shares fewer texts with the rest than every tenth sentence does, and so says more about a test file.
"""

from __future__ import annotations

import argparse
import json
import re
import resource
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from tqdm import tqdm

from spacy_mtt.features.atoms import Words, informative_columns
from spacy_mtt.features.extraction import CachedUpTo, KeyExtractor
from spacy_mtt.features.tables import HashTable
from spacy_mtt.features.templates import first_order
from spacy_mtt.features.words import TreeArcFeatures
from spacy_mtt.learning.arc_labels import LabelExample, LabelLearner, LabelProblem, best_labels
from spacy_mtt.learning.component_dropout import ComponentDropout
from spacy_mtt.learning.low_rank import LowRankWeights
from spacy_mtt.learning.low_rank_learner import Alternately, ConstantRate, Jointly, LowRankLearner
from spacy_mtt.learning.low_rank_start import random_start, svd_start
from spacy_mtt.learning.online import CostAugmentedDecode, InferMarginals, PassiveAggressive
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.trainer import PassLimit, Trainer
from spacy_mtt.learning.tree_space import TreeSpace
from spacy_mtt.scoring.low_rank_features import LowRankExtractor, first_pass_tensor
from spacy_mtt.treebanks import read_treebank
from spacy_mtt.treebanks.errors import TreebankError
from spacy_mtt.treebanks.evaluation import evaluate_conllx
from spacy_mtt.treebanks.sentence import TreebankSentence
from spacy_mtt.treebanks.writing import replacing

EVERY = 10
LABEL_BITS = 18
LEARNERS = {  # by name: infer and step, given C
    "margin": lambda C: (CostAugmentedDecode(), PassiveAggressive(C)),
    "likelihood-pa": lambda C: (InferMarginals(), PassiveAggressive(C)),
    "likelihood-sgd": lambda C: (InferMarginals(), ConstantRate(C)),
}


@dataclass(frozen=True)
class Settings:
    """What is trained. part: "dev", "test" or "block:K/N". start: "svd" or "random". update: "joint" or "alternate"."""

    treebank: str
    part: str
    gamma: float
    rank: int
    learner: str = "margin"
    C: float = 0.01
    passes: int = 20
    dropout: float = 0.5
    start: str = "random"
    update: str = "joint"
    label_passes: int = 0
    cache_up_to: int = 40
    least: int = 2
    plain_tags: bool = False
    single_root: bool = False
    seed: int = 0


class Clock:
    """Seconds of each stage, of the wall and of the processor."""

    def __init__(self):
        self.seconds: dict[str, dict[str, float]] = {}
        self._last = time.perf_counter(), time.process_time()

    def stage(self, name: str) -> None:
        """The stage that ends now; one that comes again adds up."""
        now = time.perf_counter(), time.process_time()
        entry = self.seconds.setdefault(name, {"wall": 0.0, "cpu": 0.0})
        entry["wall"] += now[0] - self._last[0]
        entry["cpu"] += now[1] - self._last[1]
        self._last = now


def files_of(folder: Path) -> dict[str, Path]:
    """The files of a treebank by part; TreebankError if it has no train or no test file."""
    files = {path.stem: path for path in sorted(folder.glob("*.conll*")) if path.stem in ("train", "dev", "test")}
    for name in ("train", "test"):
        if name not in files:
            raise TreebankError(f"{folder}: there is no {name}.conll or {name}.conllu")
    return files


def parts_of(folder: Path, part: str) -> tuple[list[TreebankSentence], list[TreebankSentence]]:
    """The sentences to train on and those to score."""
    files = files_of(folder)
    train = list(read_treebank(files["train"]))
    if part in files:
        return train, list(read_treebank(files[part]))
    if part.startswith("block:"):
        number, blocks = map(int, part[len("block:") :].split("/"))
        first, end = len(train) * number // blocks, len(train) * (number + 1) // blocks
        return train[:first] + train[end:], train[first:end]
    return [s for i, s in enumerate(train, 1) if i % EVERY], [s for i, s in enumerate(train, 1) if i % EVERY == 0]


def part_name(text: str) -> str:
    """`text` if it is the name of a part; ValueError otherwise."""
    if text in ("dev", "test"):
        return text
    match = re.fullmatch(r"block:(\d+)/(\d+)", text)
    if match is None or not int(match[1]) < int(match[2]) > 1:
        raise ValueError(f"{text!r} is no part: it must be dev, test or block:K/N with K in 0..N-1 and N above 1")
    return text


def words_of(sentences: list[TreebankSentence], plain_tags: bool) -> list[Words]:
    """The columns of sentences; unless `plain_tags`, tags are joined with morphology."""
    words = map(Words.from_treebank, sentences)
    return list(words) if plain_tags else [each.with_joined_tags() for each in words]


def start_of(settings: Settings, extractor: LowRankExtractor, words: list[Words], heads: list, space: TreeSpace):
    """The weights to start from."""
    n_arc_features, n_word_features = extractor.arc_table.size, extractor.word_table.size
    if settings.gamma == 1:
        return LowRankWeights.zeros(1.0, n_arc_features, 0, 0)
    if settings.start == "random":
        return random_start(settings.gamma, n_arc_features, n_word_features, settings.rank, seed=settings.seed)
    tensor = first_pass_tensor(extractor, words, heads, space, C=settings.C, seed=settings.seed)
    return svd_start(settings.gamma, n_arc_features, tensor, settings.rank, seed=settings.seed)


class Labels:
    """A model of labels given trees, over the features of arcs hashed to `LABEL_BITS` bits."""

    def __init__(self, words: list[Words], sentences: list[TreebankSentence], passes: int, C: float, seed: int):
        self.names = sorted({label for sentence in sentences for label in sentence.deprels})
        self.extractor, self.table = KeyExtractor(first_order(**informative_columns(words))), HashTable(LABEL_BITS)
        number = {name: i for i, name in enumerate(self.names)}
        examples = [
            LabelExample(self.features(w, s.heads), np.array([number[label] for label in s.deprels]))
            for w, s in zip(words, sentences, strict=True)
        ]
        trainer = Trainer(LabelLearner(LabelProblem.of(examples, len(self.names)), C=C), seed=seed)
        for _ in tqdm(trainer.run(PassLimit(passes)), total=passes, desc="labels"):
            pass
        self.weights = trainer.learner.weights

    def features(self, words: Words, heads) -> TreeArcFeatures:
        """Of the arcs of a tree."""
        return TreeArcFeatures(self.extractor(words), heads, self.table)

    def __call__(self, words: Words, heads) -> list[str]:
        """The labels of a tree."""
        return [self.names[i] for i in best_labels(self.weights, self.features(words, heads))]


def parsed(
    weights: LowRankWeights,
    extractor: LowRankExtractor,
    labels: Labels | None,
    sentences: list[TreebankSentence],
    words: list[Words],
    space: TreeSpace,
) -> list[TreebankSentence]:
    """The sentences with the trees of the model, and its labels."""
    answer = []
    for sentence, columns in zip(sentences, words, strict=True):
        heads = space.distribution(weights.score(extractor(columns))).argmax()
        found = ["_"] * len(heads) if labels is None else labels(columns, heads)
        answer.append(sentence.with_tree(heads, found))
    return answer


def train(settings: Settings, folder: Path, say: Callable[[str], None]) -> dict[str, Any]:
    """Train and score; the record of the run."""
    clock = Clock()
    sentences, scored = parts_of(folder, settings.part)
    space = TreeSpace(projective=False, single_root=settings.single_root)
    words, heads = words_of(sentences, settings.plain_tags), [sentence.heads for sentence in sentences]
    storage = CachedUpTo(settings.cache_up_to)
    extractor = LowRankExtractor.of(words, heads, gamma=settings.gamma, storage=storage, least=settings.least)
    examples = [ArcExample(extractor(w), tree) for w, tree in zip(words, heads, strict=True)]
    problem = Problem.of(examples, space, extractor.arc_table.size)
    clock.stage("features")
    initial = start_of(settings, extractor, words, heads, space)
    clock.stage("start")
    infer, step = LEARNERS[settings.learner](settings.C)
    update = Alternately() if settings.update == "alternate" else Jointly()
    dropout = ComponentDropout(settings.dropout, seed=settings.seed)
    learner = LowRankLearner(problem, infer, step, update, initial=initial, dropout=dropout)
    trainer = Trainer(learner, seed=settings.seed)
    del initial
    for report in tqdm(trainer.run(PassLimit(settings.passes)), total=settings.passes, desc=settings.treebank):
        say(f"{report.number} {report.values}")
    clock.stage("passes")
    weights = trainer.learner.weights
    labels = (
        Labels(words, sentences, settings.label_passes, settings.C, settings.seed) if settings.label_passes else None
    )
    clock.stage("labels")
    trees = parsed(weights, extractor, labels, scored, words_of(scored, settings.plain_tags), space)
    clock.stage("parsing")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    result = evaluate_conllx(scored, trees)
    stages = ("features", "start", "passes", "labels")
    seconds = {kind: sum(clock.seconds[stage][kind] for stage in stages) for kind in ("wall", "cpu")}
    return {
        "settings": asdict(settings),
        "UAS": result.scores["UAS"],
        "LAS": result.scores["LAS"] if labels else None,
        "counts": result.counts,
        "training_seconds": seconds,
        "stages": clock.seconds,
        "peak_bytes": peak,
        "sentences": {"trained": len(problem.examples), "excluded": problem.excluded, "scored": len(scored)},
        "parameters": {name: list(array.shape) for name, array in weights.arrays().items()},
        "parameter_bytes": sum(array.nbytes for array in weights.arrays().values()),
        "values": trainer.reports[-1].values,
    }


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="has train.conll or train.conllu, test, and maybe dev")
    parser.add_argument("--part", type=part_name, default="dev", help="dev, test or block:K/N")
    parser.add_argument("--gamma", type=float, default=0.3)
    parser.add_argument("--rank", type=int, default=50)
    parser.add_argument("--learner", choices=tuple(LEARNERS), default="margin")
    parser.add_argument("--C", type=float, default=0.01, help="of the passive-aggressive steps; the rate of SGD")
    parser.add_argument("--passes", type=int, default=20)
    parser.add_argument("--dropout", type=float, default=0.5, help="of components, in each step")
    parser.add_argument("--start", choices=("random", "svd"), default="random")
    parser.add_argument("--update", choices=("joint", "alternate"), default="joint")
    parser.add_argument("--label-passes", type=int, default=0, help="0: no labels")
    parser.add_argument("--cache-up-to", type=int, default=40, help="words of a sentence whose arc features are kept")
    parser.add_argument("--least", type=int, default=2, help="sentences that a feature of words must be found in")
    parser.add_argument("--plain-tags", action="store_true", help="do not join tags with morphology")
    parser.add_argument("--single-root", action="store_true")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--output", type=Path, help="JSON file of the record")
    options = vars(parser.parse_args(arguments))
    folder, output = options.pop("folder"), options.pop("output")
    record = train(Settings(treebank=folder.name, **options), folder, partial(tqdm.write, file=sys.stderr))
    text = json.dumps(record, indent=2)
    print(text)
    if output is not None:
        output.parent.mkdir(parents=True, exist_ok=True)
        with replacing(output) as file:
            file.write(text.encode("utf8"))


if __name__ == "__main__":
    main()
