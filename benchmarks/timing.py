"""Times of contenders in turn, within one process and one thread.

A shared machine's speed varies by a factor of two and more from minute to minute. So the contenders take turns, and
what counts is the median over the rounds of the ratio *within* a round. The processor's time is taken, not the
clock's: what other processes do in between does not count.
"""

from __future__ import annotations

import gc
import time
from dataclasses import dataclass, field

import numpy as np

from benchmarks.contenders.contender import Contender
from spacy_mtt import TreeDistribution

BATCH = 32


@dataclass
class Plan:
    """How much to measure: rounds, sentences a round at n = 10 (fewer when longer), seconds a round and contender."""

    rounds: int = 7
    sentences: int = 2048
    seconds: float = 0.15
    longest: float = 10.0  # a contender that takes more seconds than this for one sentence is left out

    def sentences_of(self, n: int) -> int:
        return max(4, self.sentences * 100 // (n * n) if n > 10 else self.sentences)


@dataclass
class Turn:
    """A contender and the batches that it solves each round."""

    contender: Contender
    batches: list
    sentences: int
    seconds: list[float] = field(default_factory=list)  # per sentence, one entry a round

    def take(self) -> None:
        start = time.process_time()
        for batch in self.batches:
            self.contender.solve(batch)
        self.seconds.append((time.process_time() - start) / self.sentences)


class WrongAnswer(Exception):
    """What a contender solved is not the task: its time would mean nothing."""


def measure(
    contenders: list[Contender], n: int, single_root: bool, plan: Plan, deviation: float = 1.0, seed: int = 0
) -> dict[str, list[float]]:
    """Seconds per sentence of each contender (all of one task), by round; without those that are too slow.

    Scores are dense and normal, all sentences distinct; each contender gets batches of at most 32 of them, and a slow
    one fewer sentences.
    """
    rng = np.random.default_rng([seed, n])
    scores = rng.normal(scale=deviation, size=(plan.sentences_of(n), n + 1, n + 1))
    turns = []
    for contender in contenders:
        if single_root in contender.roots:
            turn = _prepare(contender, scores, single_root, plan)
            if turn is not None:
                turns.append(turn)
    gc.collect()
    gc.disable()
    try:
        for turn in turns:
            turn.take()  # warm up
            turn.seconds.clear()
        for _ in range(plan.rounds):
            for turn in turns:
                turn.take()
    finally:
        gc.enable()
    return {turn.contender.name: turn.seconds for turn in turns}


def _prepare(contender, scores, single_root, plan) -> Turn | None:
    one = contender.prepare(scores[:1], single_root)
    for _ in range(2):  # the first call is slower
        start = time.process_time()
        solution = contender.solve(one)
        seconds = time.process_time() - start
        if seconds > plan.longest:
            return None
    if contender.read is not None:
        check(contender, scores[:1], single_root, contender.read(solution))
    size = min(BATCH, len(scores), max(1, int(plan.seconds / max(seconds, 1e-9))))
    count = max(1, min(len(scores) // size, int(plan.seconds / max(seconds * size, 1e-9))))
    batches = [contender.prepare(scores[i * size : (i + 1) * size], single_root) for i in range(count)]
    return Turn(contender, batches, size * count)


def check(contender: Contender, scores: np.ndarray, single_root: bool, answer) -> None:
    """Raise WrongAnswer unless the answer is right to the 1e-3 that a float32 peer may be off."""
    trees = TreeDistribution(scores, projective=contender.task.projective, single_root=single_root)
    if contender.task.sums:
        log_z, marginals = answer
        right = np.allclose(log_z, trees.log_partition, rtol=1e-3, atol=1e-3)
        right &= np.allclose(marginals, trees.marginals, atol=1e-3)
    else:
        best = trees.score(trees.argmax())
        right = (
            np.allclose(trees.score(np.asarray(answer)), best, rtol=1e-5)
            and np.isfinite(trees.log_prob(np.asarray(answer))).all()
        )
    if not right:
        raise WrongAnswer(f"{contender.name} does not solve: {contender.task.title}, single_root={single_root}")
