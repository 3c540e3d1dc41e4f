"""The pieces of the experiment by themselves: parts of treebanks, features, scores, sign tests, choices."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.stats import binom

from benchmarks.koo2007 import paper
from benchmarks.koo2007.corpora import fingerprint, load_corpus, without_numbers
from benchmarks.koo2007.examples import prepare
from benchmarks.koo2007.jobs import Final, Search, Treebank
from benchmarks.koo2007.methods import METHODS
from benchmarks.koo2007.protocol import SETTINGS, Choice, best_point, choose, further, next_jobs, searches
from benchmarks.koo2007.scoring import GoldHeads
from benchmarks.koo2007.sign_test import SignTest
from spacy_mtt.inference.trees import is_projective
from spacy_mtt.treebanks import parse_treebank
from spacy_mtt.treebanks.evaluation import evaluate_conllx
from spacy_mtt.treebanks.sentence import CONLLX, FEATS


def test_the_parts_of_a_treebank_without_dev_file(treebank):
    corpus = load_corpus(treebank.project, "tiny")
    assert [len(part) for part in (corpus.train, corpus.validation, corpus.test)] == [36, 4, 15]
    whole = [*corpus.train[:9], corpus.validation[0], *corpus.train[9:18], corpus.validation[1]]
    assert [sentence.line for sentence in whole] == sorted(sentence.line for sentence in whole)


def test_the_fingerprint_changes_with_a_file(treebank):
    text = treebank.project.read_text(encoding="utf8")
    start = text.index("checksum: ") + len("checksum: ")
    treebank.project.write_text(text[:start] + "f" * 32 + text[start + 32 :], encoding="utf8")
    assert fingerprint(treebank.project, "tiny") != treebank.fingerprint


def test_numbers_of_words_are_no_features():
    text = "1\tde\tde\tD\tD\tgender=c|id=7\t2\tdet\t_\t_\n2\tbog\tbog\tN\tN\tid=8\t0\tROOT\t_\t_\n\n"
    (sentence,) = parse_treebank(text, CONLLX)
    assert [row[FEATS] for row in without_numbers(sentence).rows] == ["gender=c", "_"]
    assert without_numbers(sentence).heads.tolist() == [2, 0]


def test_both_problems_have_the_same_features_and_their_own_trees(treebank):
    corpus = load_corpus(treebank.project, "tiny")
    material = prepare(corpus.train, corpus.validation, single_root=corpus.single_root)
    free, projective = material.problems[False], material.problems[True]
    assert not free.excluded and not projective.excluded
    assert len(free.examples) == len(projective.examples) == 36
    changed = 0
    for a, b, sentence in zip(free.examples, projective.examples, corpus.train, strict=True):
        assert a.features is b.features and (a.heads == sentence.heads).all() and is_projective(b.heads)
        changed += int((a.heads != b.heads).any())
        ones = np.ones(material.n_features)
        for example in (a, b):  # every template without morphology fires once at each arc of the training trees
            words = np.arange(1, example.n + 1)
            assert (example.features.score(ones)[example.heads, words] > 50).all()
    assert changed == sum(not is_projective(sentence.heads) for sentence in corpus.train) > 0


def test_counts_of_right_heads_give_the_uas_of_the_conllx_rules(treebank):
    test = load_corpus(treebank.project, "tiny").test
    rng = np.random.default_rng(0)
    trees = [np.where(rng.random(len(each)) < 0.3, 0, each.heads) for each in test]
    gold = GoldHeads(test)
    correct = gold.correct(trees)
    predicted = [each.with_tree(heads, each.deprels) for each, heads in zip(test, trees, strict=True)]
    expected = evaluate_conllx(test, predicted)
    assert sum(correct) == expected.counts["correct heads"] and gold.words == expected.counts["scored words"]
    assert gold.uas(correct) == pytest.approx(expected.scores["UAS"]) and 50 < gold.uas(correct) < 90


def test_the_sign_test_is_that_of_the_definition():
    assert SignTest.of([3, 2, 5, 1], [1, 2, 4, 2]) == SignTest(better=2, worse=1, sentences=4)
    test = SignTest(better=14, worse=5, sentences=30)
    assert test.p == pytest.approx(2 * binom.cdf(5, 19, 0.5))
    assert SignTest(0, 0, 9).p == 1.0
    for better, worse in paper.SIGN_TESTS.values():
        assert SignTest(better, worse, paper.SENTENCES).p < 0.001


def test_the_papers_tables_agree_with_each_other():
    for place in range(3):
        column = [paper.TABLE_3[language][place] for language in paper.LANGUAGES]
        assert math.isclose(sum(column) / 6, paper.AVERAGE_3[place], abs_tol=0.07 if place == 0 else 0.011)
        for language in paper.LANGUAGES:
            assert paper.TABLE_3[language][place] in paper.TABLE_2[language][2 * place : 2 * place + 2]


# ---- the protocol, with results that are made up

TREEBANK = Treebank(project=None, name="none", fingerprint="0")


def point(passes: int, uas: float) -> dict:
    return {"passes": passes, "UAS": {"projective": uas}}


def made_up(scores, done=None):
    """Results in which the UAS of a search is `scores(job)` from pass 4 on; `done` collects what was asked."""

    def results(job):
        if done is not None and job not in done:
            return None
        if isinstance(job, Search):
            return {"curve": [point(2, 1.0), point(4, scores(job)), point(6, scores(job))]}
        return {"correct": []}

    return results


def test_ranges_of_C_are_widened_at_their_ends_and_no_further():
    method = METHODS["max-margin"]

    def tried(best):
        results = made_up(lambda job: 90 - abs(math.log(job.C / best)))
        return [job.C for job in searches(TREEBANK, method, True, results)]

    low, middle, high = method.constants
    assert tried(middle) == [low, middle, high]
    assert len(tried(low * 1e-9)) == len(tried(high * 1e9)) == 3 + method.widen
    assert tried(high * 1e9)[:3] == [low, middle, high] and tried(high * 1e9)[3] > high
    assert tried(low * 1e-9)[-3:] == [low, middle, high]
    assert tried(high * 3)[-1] > high * 3  # the best one has a worse one beyond it


def test_constants_go_in_half_orders_of_magnitude():
    assert [further(0.003, steps) for steps in (-2, -1, 0, 1, 2)] == [0.0003, 0.001, 0.003, 0.01, 0.03]
    assert [further(1.0, steps) for steps in (-1, 1)] == [0.3, 3.0]


def test_the_best_point_is_the_earliest_of_equal_ones():
    curve = [
        {"passes": 1, "UAS": {"non-projective": 1.0, "projective": 2.0}},
        {"passes": 2, "UAS": {"non-projective": 3.0, "projective": 3.0}},
        {"passes": 3, "UAS": {"projective": 3.0}},
    ]
    assert best_point(0.1, {"curve": curve}) == Choice(0.1, 2, "non-projective", 3.0)


def test_final_runs_come_when_all_searches_are_done():
    done: set = set()
    results = made_up(lambda job: 50.0 if job.C is None else 90 - abs(math.log(job.C / 0.01)), done)
    rounds = []
    while jobs := next_jobs(TREEBANK, results):
        rounds.append(jobs)
        assert not done & set(jobs)
        done.update(jobs)
    assert all(isinstance(job, Search) for jobs in rounds[:-1] for job in jobs)
    finals = rounds[-1]
    assert [(job.method, job.projective) for job in finals] == list(SETTINGS)
    assert all(isinstance(job, Final) and job.passes == 4 and job.decoding == "projective" for job in finals)
    for name, projective in SETTINGS:
        choice = choose(TREEBANK, METHODS[name], projective, results)
        assert (None if name == "perceptron" else 0.01) == choice.C
    assert choose(TREEBANK, METHODS["max-margin"], True, lambda job: None) is None


def test_every_setting_of_a_job_is_in_its_digest():
    job = Final(TREEBANK, "max-margin", True, 0.1, passes=3, decoding="projective")
    others = [
        replace(job, treebank=replace(TREEBANK, fingerprint="1")),
        replace(job, method="log-linear"),
        replace(job, projective=False),
        replace(job, C=0.2),
        replace(job, passes=4),
        replace(job, decoding="non-projective"),
        Search(TREEBANK, "max-margin", True, 0.1),
    ]
    assert len({each.digest for each in [job, *others]}) == 8
    assert replace(job, treebank=replace(TREEBANK, project="elsewhere")).digest == job.digest
