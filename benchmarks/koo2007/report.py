"""What the results say, as data: for each finished treebank the choices, scores and sentence by sentence counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from benchmarks.koo2007.corpora import Corpus, load_corpus
from benchmarks.koo2007.jobs import RiskSearch, Treebank
from benchmarks.koo2007.methods import METHODS
from benchmarks.koo2007.protocol import SETTINGS, Choice, choose, final_job, searches
from benchmarks.koo2007.sign_test import SignTest
from benchmarks.koo2007.store import Store
from spacy_mtt.treebanks.statistics import TreebankStatistics

Setting = tuple[str, bool]  # the method, and whether its training trees are projective
RISK_SETTING: Setting = ("log-linear", False)


@dataclass(frozen=True)
class Outcome:
    """A treebank of which all is done. seconds: processor time of all its jobs.

    risk: the choice and the result of decoding by minimum risk (see minimum_risk.py), if that was run.
    """

    name: str
    statistics: dict[str, TreebankStatistics]  # by part
    single_root: bool
    choices: dict[Setting, Choice]
    results: dict[Setting, dict[str, Any]]
    seconds: float
    risk: tuple[Choice, dict[str, Any]] | None = None

    def uas(self, setting: Setting) -> float:
        """On the test part, in percent."""
        return self.results[setting]["UAS"]

    def by_validation(self, method: str) -> Setting:
        """The setting of a method, projective or not, that the validation part prefers (table 3)."""
        return max(((method, False), (method, True)), key=lambda setting: self.choices[setting].uas)

    def sign_test(self, ours: Setting, theirs: Setting) -> SignTest:
        """Whether one setting is better than another on the test part."""
        return SignTest.of(self.results[ours]["correct"], self.results[theirs]["correct"])


def outcome(treebank: Treebank, store: Store) -> Outcome | None:
    """What was found on a treebank; None if something is left to do."""
    choices, results, seconds = {}, {}, 0.0
    for name, projective in SETTINGS:
        method = METHODS[name]
        job = final_job(treebank, method, projective, store.get)
        result = None if job is None else store.get(job)
        if result is None:
            return None
        choices[name, projective] = choose(treebank, method, projective, store.get)
        results[name, projective] = result
        jobs = [job, *searches(treebank, method, projective, store.get)]
        seconds += sum(map(store.seconds, jobs))
    corpus = load_corpus(treebank.project, treebank.name)
    risk = minimum_risk(treebank, store)
    return Outcome(treebank.name, statistics(corpus), corpus.single_root, choices, results, seconds, risk)


def minimum_risk(treebank: Treebank, store: Store) -> tuple[Choice, dict[str, Any]] | None:
    """What was chosen for decoding by minimum risk, and what came out on the test part; None if that was not run."""
    name, projective = RISK_SETTING
    asked = (treebank, METHODS[name], projective, store.get, RiskSearch)
    job = final_job(*asked)
    result = None if job is None else store.get(job)
    return None if result is None else (choose(*asked), result)


def statistics(corpus: Corpus) -> dict[str, TreebankStatistics]:
    """Counts of each part."""
    counts = {}
    for part in ("train", "validation", "test"):
        counts[part] = TreebankStatistics()
        for sentence in getattr(corpus, part):
            counts[part].add(sentence.heads)
    return counts


def total(tests: list[SignTest]) -> SignTest:
    """One sign test over the sentences of all."""
    return SignTest(
        sum(test.better for test in tests), sum(test.worse for test in tests), sum(test.sentences for test in tests)
    )
