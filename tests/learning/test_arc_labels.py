"""Labels of given trees: margins, averages, and what is learned on a part of an embedded treebank."""

from pathlib import Path

import numpy as np
import pytest

from spacy_mtt.features.atoms import Words
from spacy_mtt.features.extraction import KeyExtractor
from spacy_mtt.features.tables import HashTable
from spacy_mtt.features.templates import first_order
from spacy_mtt.features.words import SparseRows, TreeArcFeatures
from spacy_mtt.learning.arc_labels import LabelExample, LabelLearner, LabelProblem, best_labels
from spacy_mtt.learning.trainer import PassLimit, Trainer
from spacy_mtt.treebanks import read_treebank
from tests.features.test_features import TOY, kernel_features

SIZE, LABELS = 9, 3
TREEBANK = Path(__file__).parents[2] / "assets" / "grammar-dutch"


class Rows(SparseRows):
    """Random features of n arcs."""

    def __init__(self, rng, n):
        self.n = n
        super().__init__(rng.integers(n, size=6 * n), rng.integers(-1, SIZE, size=6 * n), n, SIZE)
        self.dense = self.project(np.eye(SIZE))


def draw_problem(seed=0, lengths=(4, 1, 6, 3)):
    rng, truth = np.random.default_rng(seed), np.random.default_rng(99).normal(size=(SIZE, LABELS))
    features = [Rows(rng, n) for n in lengths]
    return LabelProblem.of([LabelExample(each, best_labels(truth, each)) for each in features], LABELS)


def violation(weights, example):
    """The loss of a sentence, written out, and the features of gold less found labels, (SIZE, LABELS)."""
    loss, direction = 0.0, np.zeros((SIZE, LABELS))
    for phi, label in zip(example.features.dense, example.labels, strict=True):
        scores = phi @ weights
        worst = max(range(LABELS), key=lambda l: scores[l] + (l != label))
        if worst != label:
            loss += scores[worst] + 1.0 - scores[label]
            direction[:, label] += phi
            direction[:, worst] -= phi
    return loss, direction


def test_steps_and_averages_are_those_written_out():
    problem = draw_problem()
    learner, weights, seen = LabelLearner(problem, C=0.05), np.zeros((SIZE, LABELS)), []
    np.testing.assert_array_equal(learner.weights, 0.0)
    for index in [0, 1, 2, 3] * 6:
        loss, direction = violation(weights, problem.examples[index])
        if direction.any():
            weights = weights + min(0.05, loss / (direction**2).sum()) * direction
        seen.append(weights)
        learner.visit(index)
        np.testing.assert_allclose(learner.current, weights, atol=1e-5)
        np.testing.assert_allclose(learner.weights, np.mean(seen, axis=0), atol=1e-5)
    assert np.ptp(seen, axis=0).max() > 0.1


def test_a_step_meets_the_margin_of_the_labels_that_were_found():
    problem = draw_problem()
    learner = LabelLearner(problem, C=1e6)
    for index, example in enumerate(problem.examples):
        loss, direction = violation(learner.current, example)
        before = learner.current.astype(np.float64)
        learner.visit(index)
        assert ((learner.current - before) * direction).sum() == pytest.approx(loss, rel=1e-5)


def test_a_resumed_run_is_the_same_as_one_that_never_stopped():
    whole, resumed = (Trainer(LabelLearner(draw_problem()), seed=3) for _ in range(2))
    list(whole.run(PassLimit(2)))
    resumed.restore({key: np.array(value) for key, value in whole.state().items()})
    for trainer in (whole, resumed):
        list(trainer.run(PassLimit(4)))
    np.testing.assert_array_equal(whole.learner.weights, resumed.learner.weights)
    assert whole.reports[-1] == resumed.reports[-1]


def test_features_of_the_arcs_of_a_tree_are_those_of_its_arcs():
    keys, table, heads = KeyExtractor(first_order())(TOY), HashTable(12), [3, 3, 0]
    features = TreeArcFeatures(keys, heads, table)
    for m, (h, row) in enumerate(zip(heads, features.project(np.eye(table.size)), strict=True), start=1):
        expected = np.zeros(table.size)
        for key, value in kernel_features(keys, h, m).items():
            expected[key % table.size] += value
        np.testing.assert_array_equal(row, expected)
    with pytest.raises(ValueError, match="3 -> 3 is not an arc"):
        TreeArcFeatures(keys, [3, 3, 3], table)
    with pytest.raises(ValueError, match="there are 2 heads for a sentence of 3 words"):
        TreeArcFeatures(keys, [3, 3], table)


def test_labels_of_unseen_sentences():
    extractor, table = KeyExtractor(first_order()), HashTable(14)
    parts = [list(read_treebank(TREEBANK / f"{part}.conll"))[:150] for part in ("train", "test")]
    names = sorted({label for sentence in parts[0] for label in sentence.deprels})
    examples = [
        [
            LabelExample(
                TreeArcFeatures(extractor(Words.from_treebank(sentence)), sentence.heads, table),
                np.array([names.index(label) if label in names else 0 for label in sentence.deprels]),
            )
            for sentence in part
        ]
        for part in parts
    ]
    trainer = Trainer(LabelLearner(LabelProblem.of(examples[0], len(names))), seed=0)
    list(trainer.run(PassLimit(3)))
    right = [best_labels(trainer.learner.weights, example.features) == example.labels for example in examples[1]]
    commonest = np.bincount(np.concatenate([example.labels for example in examples[1]])).max()
    assert np.concatenate(right).mean() > 0.9 and commonest < 0.3 * len(np.concatenate(right))


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="no sentence to learn labels from"):
        LabelProblem.of([], 2)
    features = Rows(np.random.default_rng(0), 2)
    with pytest.raises(ValueError, match=r"there must be 2 labels in 0..1, not \[0, 2\]"):
        LabelProblem.of([LabelExample(features, np.array([0, 2]))], 2)
    with pytest.raises(ValueError, match="C must be above 0, not 0"):
        LabelLearner(draw_problem(), C=0)
    with pytest.raises(ValueError, match=r"the state has weights \(9, 3\), the problem \(9, 4\)"):
        other = LabelProblem.of(draw_problem().examples, 4)
        LabelLearner(other).restore(LabelLearner(draw_problem()).state())
