"""One training run as plain data, which any worker can do: a search for meta-parameters, or the final run."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from hashlib import blake2b
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from benchmarks.koo2007.corpora import Corpus, load_corpus
from benchmarks.koo2007.examples import Decoder, Material, prepare
from benchmarks.koo2007.methods import METHODS
from benchmarks.koo2007.scoring import GoldHeads
from spacy_mtt.learning.tree_space import TreeSpace

VERSION = 1  # of what jobs compute; results of other versions are not used
DECODINGS = ("non-projective", "projective")
RISK = "minimum risk"  # over non-projective trees; no part of the paper's experiment


@dataclass(frozen=True)
class Treebank:
    """Where a treebank is, and a digest of its files."""

    project: Path
    name: str
    fingerprint: str


@dataclass(frozen=True)
class Job:
    """A training run of a method on trees of one kind. C: None for a method without."""

    treebank: Treebank
    method: str
    projective: bool
    C: float | None

    def settings(self) -> dict[str, Any]:
        """All that the result depends on; where the files are is not among it."""
        return {
            "version": VERSION,
            "treebank": self.treebank.name,
            "files": self.treebank.fingerprint,
            "method": METHODS[self.method].settings(),
            "projective": self.projective,
            "C": self.C,
        }

    @property
    def digest(self) -> str:
        """The name of the job's result."""
        text = json.dumps(self.settings(), sort_keys=True)
        return blake2b(text.encode("utf8"), digest_size=10).hexdigest()

    def run(self) -> dict[str, Any]:
        """Do it; the result is plain data."""
        raise NotImplementedError


@dataclass(frozen=True)
class Search(Job):
    """Train on the train part, and score the validation part on the way.

    Models of projective trees parse projectively, the others both ways. The result has `curve`: each time the number of
    `passes` and the `UAS` of each decoding.
    """

    kind: ClassVar[str] = "search"

    def settings(self) -> dict[str, Any]:
        return {"kind": self.kind, **super().settings()}

    def decodings(self) -> tuple[str, ...]:
        """What is tried."""
        return DECODINGS[1:] if self.projective else DECODINGS

    def run(self) -> dict[str, Any]:
        corpus, material = search_material(self.treebank)
        gold = GoldHeads(corpus.validation)
        decodings = self.decodings()
        decoders = [decoder_of(decoding, corpus) for decoding in decodings]
        method = METHODS[self.method]
        curve: list[dict[str, Any]] = []

        def watch(number: int, weights: np.ndarray) -> bool:
            if number % method.every:
                return False
            trees = material.to_parse.trees(weights, *decoders)
            scores = [gold.uas(gold.correct(each)) for each in trees]
            curve.append({"passes": number, "UAS": dict(zip(decodings, scores, strict=True))})
            best = [max(point["UAS"].values()) for point in curve]
            return number >= method.earliest and len(best) - 1 - best.index(max(best)) >= method.patience

        method.train(material.problems[self.projective], self.C, watch)
        return {"curve": curve}


@dataclass(frozen=True)
class RiskSearch(Search):
    """The same with minimum risk as the decoding."""

    kind: ClassVar[str] = "risk search"

    def decodings(self) -> tuple[str, ...]:
        return (RISK,)


@dataclass(frozen=True)
class Final(Job):
    """Train on the train and the validation part for a chosen number of passes, and parse the test part.

    The result has `heads` and `correct` (scored words with the right head) of each sentence, `words` (scored ones),
    `UAS`, and the number of `features`.
    """

    passes: int
    decoding: str

    def settings(self) -> dict[str, Any]:
        return {"kind": "final", **super().settings(), "passes": self.passes, "decoding": self.decoding}

    def run(self) -> dict[str, Any]:
        corpus, material = final_material(self.treebank)
        gold = GoldHeads(corpus.test)
        last: list[np.ndarray] = []

        def watch(number: int, weights: np.ndarray) -> bool:
            last[:] = [weights]
            return False

        method = METHODS[self.method]
        method.train(material.problems[self.projective], self.C, watch, passes=self.passes)
        (trees,) = material.to_parse.trees(last[0], decoder_of(self.decoding, corpus))
        correct = gold.correct(trees)
        return {
            "heads": [heads.tolist() for heads in trees],
            "correct": correct,
            "words": gold.words,
            "UAS": gold.uas(correct),
            "features": material.n_features,
        }


def decoder_of(decoding: str, corpus: Corpus) -> Decoder:
    """From scores to trees."""
    space = TreeSpace(projective=decoding == "projective", single_root=corpus.single_root)
    if decoding == RISK:
        return lambda scores: space.distributions(scores).mbr()
    return lambda scores: space.distributions(scores).argmax()


# A worker keeps the features of one treebank: the jobs of a treebank come one after the other.
@lru_cache(maxsize=1)
def _material(treebank: Treebank, parts: Callable[[Corpus], tuple[Any, Any]]) -> tuple[Corpus, Material]:
    corpus = load_corpus(treebank.project, treebank.name)
    train, held_out = parts(corpus)
    return corpus, prepare(train, held_out, single_root=corpus.single_root)


def _search_parts(corpus: Corpus) -> tuple[Any, Any]:
    return corpus.train, corpus.validation


def _final_parts(corpus: Corpus) -> tuple[Any, Any]:
    return corpus.train + corpus.validation, corpus.test


def search_material(treebank: Treebank) -> tuple[Corpus, Material]:
    """The treebank and its features, to learn from train and parse validation."""
    return _material(treebank, _search_parts)


def final_material(treebank: Treebank) -> tuple[Corpus, Material]:
    """The treebank and its features, to learn from train and validation and parse test."""
    return _material(treebank, _final_parts)
