"""Which way of learning the low-rank tensor model is best? The same scorer, features and sentences, by each learner.

    python -m benchmarks.low_rank_learners TREEBANK_FOLDER --sentences 1500 --out learners.json

Trains on the first sentences of the training file, scores the dev part as `benchmarks.low_rank` does, and prints UAS by
the rules of CoNLL-X for every learner and C. Finished ones are kept in the JSON file and not run again.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from tqdm import tqdm

from benchmarks.low_rank_run import parsed, parts_of, words_of
from spacy_mtt.learning.component_dropout import ComponentDropout
from spacy_mtt.learning.duals import LogLinearLoss, MaxMarginLoss
from spacy_mtt.learning.low_rank import LowRankWeights
from spacy_mtt.learning.low_rank_blocks import BlockwiseExponentiatedGradient
from spacy_mtt.learning.low_rank_learner import Alternately, ConstantRate, Jointly, LowRankLearner
from spacy_mtt.learning.low_rank_start import random_start, svd_start
from spacy_mtt.learning.online import CostAugmentedDecode, InferMarginals, PassiveAggressive
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.step_sizes import SearchedPerExample
from spacy_mtt.learning.trainer import PassLimit, Trainer
from spacy_mtt.learning.tree_space import TreeSpace
from spacy_mtt.scoring.low_rank_features import LowRankExtractor, first_pass_tensor
from spacy_mtt.treebanks.evaluation import evaluate_conllx
from spacy_mtt.treebanks.writing import replacing

SPACE = TreeSpace(projective=False, single_root=False)


@dataclass(frozen=True)
class Contender:
    """A learner: its name, how to train it from a start with C, from which start, and which values of C to try."""

    name: str
    train: Callable[[Problem, LowRankWeights, float, int], LowRankWeights]
    start: str
    values: tuple[float, ...]


def online(infer, step, update, dropout=0.0) -> Callable[[Problem, LowRankWeights, float, int], LowRankWeights]:
    """Passes of a `LowRankLearner`, averaged; twice as many with dropout, which takes longer to learn."""

    def train(problem: Problem, start: LowRankWeights, C: float, passes: int) -> LowRankWeights:
        passes = 2 * passes if dropout else passes
        left_out = ComponentDropout(dropout)
        trainer = Trainer(LowRankLearner(problem, infer, step(C), update, initial=start, dropout=left_out), seed=0)
        for _ in tqdm(trainer.run(PassLimit(passes)), total=passes, leave=False):
            pass
        return trainer.learner.weights

    return train


def blockwise(loss, largest: float) -> Callable[[Problem, LowRankWeights, float, int], LowRankWeights]:
    """Exponentiated gradient: theta and U, theta and V, theta and W, so many passes in all."""

    def train(problem: Problem, start: LowRankWeights, C: float, passes: int) -> LowRankWeights:
        step_size = SearchedPerExample(largest=largest)
        learner = BlockwiseExponentiatedGradient(problem, loss, step_size, C=C, initial=start, beta=3.0)
        for report in learner.run(1, max(passes // 3, 1)):
            tqdm.write(f"{report.part}: relative gap {report.values['relative_gap']:.3f}")
        return learner.weights

    return train


CONTENDERS = (
    Contender(
        "max-margin, jointly", online(CostAugmentedDecode(), PassiveAggressive, Jointly()), "random", (0.01, 0.03)
    ),
    Contender(
        "max-margin, jointly, from SVD", online(CostAugmentedDecode(), PassiveAggressive, Jointly()), "svd", (0.01,)
    ),
    Contender(
        "max-margin, in turn", online(CostAugmentedDecode(), PassiveAggressive, Alternately()), "svd", (0.01, 0.03)
    ),
    Contender(
        "likelihood, passive-aggressive", online(InferMarginals(), PassiveAggressive, Jointly()), "random", (0.01, 0.03)
    ),
    Contender(
        "likelihood, stochastic gradient", online(InferMarginals(), ConstantRate, Jointly()), "random", (0.01, 0.03)
    ),
    Contender(
        "max-margin, jointly, dropout 0.5",
        online(CostAugmentedDecode(), PassiveAggressive, Jointly(), 0.5),
        "random",
        (0.01, 0.03),
    ),
    Contender(
        "likelihood, passive-aggressive, dropout 0.5",
        online(InferMarginals(), PassiveAggressive, Jointly(), 0.5),
        "random",
        (0.01, 0.03),
    ),
    Contender(
        "likelihood, stochastic gradient, dropout 0.5",
        online(InferMarginals(), ConstantRate, Jointly(), 0.5),
        "random",
        (0.01,),
    ),
    Contender("likelihood, exponentiated gradient", blockwise(LogLinearLoss(), 1.0), "svd", (0.003, 0.03)),
    Contender("max-margin, exponentiated gradient", blockwise(MaxMarginLoss(), 4.0), "svd", (0.003, 0.03)),
)


def main(arguments: list[str] | None = None) -> None:
    """The command; see the module's text."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sentences", type=int, default=1500)
    parser.add_argument("--gamma", type=float, default=0.3)
    parser.add_argument("--rank", type=int, default=50)
    parser.add_argument("--passes", type=int, default=9)
    parser.add_argument("--only", default="", help="only learners whose name has this in it")
    parser.add_argument("--out", type=Path, default=Path("metrics/low_rank/learners.json"))
    options = parser.parse_args(arguments)
    train, dev = parts_of(options.folder, "dev")
    train = train[: options.sentences]
    words, heads = words_of(train, plain_tags=False), [sentence.heads for sentence in train]
    extractor = LowRankExtractor.of(words, heads, gamma=options.gamma)
    examples = [ArcExample(extractor(w), tree) for w, tree in zip(words, heads, strict=True)]
    problem = Problem.of(examples, SPACE, extractor.arc_table.size)
    tensor = first_pass_tensor(extractor, words, heads, SPACE)
    starts = {
        "random": random_start(options.gamma, extractor.arc_table.size, extractor.word_table.size, options.rank),
        "svd": svd_start(options.gamma, extractor.arc_table.size, tensor, options.rank),
    }
    options.out.parent.mkdir(parents=True, exist_ok=True)
    records = json.loads(options.out.read_text(encoding="utf8")) if options.out.is_file() else {}
    settings = f"{options.folder.name} {options.sentences} {options.gamma:g} {options.rank} {options.passes}"
    for contender in CONTENDERS:
        for C in contender.values if options.only in contender.name else ():
            key = f"{settings}: {contender.name}, C = {C:g}"
            if key not in records:
                begin = time.process_time()
                weights = contender.train(problem, starts[contender.start], C, options.passes)
                seconds = time.process_time() - begin
                uas = evaluate_conllx(
                    dev, parsed(weights, extractor, None, dev, words_of(dev, plain_tags=False), SPACE)
                ).scores["UAS"]
                records[key] = {"UAS": uas, "CPU seconds": seconds}
                with replacing(options.out) as file:
                    file.write(json.dumps(records, indent=2).encode("utf8"))
            print(f"{key}: UAS {records[key]['UAS']:.2f}, {records[key]['CPU seconds']:.0f} s", flush=True)


if __name__ == "__main__":
    main()
