"""The learners over the real features, on a part of an embedded treebank."""

from pathlib import Path

import numpy as np
import pytest

from spacy_mtt.features.atoms import Words
from spacy_mtt.features.extraction import KeyExtractor, extract
from spacy_mtt.features.tables import HashTable
from spacy_mtt.features.templates import first_order
from spacy_mtt.learning.exponentiated_gradient import log_linear_eg, max_margin_eg
from spacy_mtt.learning.log_linear import ConjugateGradient, train_log_linear
from spacy_mtt.learning.online import averaged_perceptron, mira
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.step_sizes import SearchedPerExample
from spacy_mtt.learning.trainer import PassLimit, Trainer, ValueBelow
from spacy_mtt.learning.tree_space import TreeSpace
from spacy_mtt.treebanks import read_treebank
from spacy_mtt.treebanks.projectivisation import projectivise

TREEBANK = Path(__file__).parents[2] / "assets" / "grammar-dutch"
SPACE = TreeSpace(projective=False, single_root=False)
SIZE = 1 << 18


@pytest.fixture(scope="module")
def parts():
    """(features, heads) of each sentence, of 200 training sentences and of 100 test sentences."""
    extractor, table = KeyExtractor(first_order()), HashTable(18)
    found = []
    for part, count in (("train", 200), ("test", 100)):
        sentences = list(read_treebank(TREEBANK / f"{part}.conll"))[:count]
        features = extract([Words.from_treebank(sentence) for sentence in sentences], extractor, table)
        found.append([(each, sentence.heads) for each, sentence in zip(features, sentences, strict=True)])
    return found


def share_of_right_heads(weights: np.ndarray, part) -> float:
    trees = [SPACE.distribution(features.score(weights)).argmax() for features, _ in part]
    right = [tree == heads for tree, (_, heads) in zip(trees, part, strict=True)]
    return float(np.concatenate(right).mean())


@pytest.mark.parametrize("make", [averaged_perceptron, lambda problem: mira(problem, C=0.1), None])
def test_learners_parse_unseen_sentences(parts, make):
    train, test = parts
    problem = Problem.of([ArcExample(features, np.asarray(heads)) for features, heads in train], SPACE, SIZE)
    assert share_of_right_heads(np.zeros(SIZE), test) < 0.5
    if make is None:
        weights, _ = train_log_linear(problem, C=1.0, tolerance=0.05)
    else:
        trainer = Trainer(make(problem), seed=0)
        for _ in trainer.run(PassLimit(3)):
            pass
        weights = np.ascontiguousarray(trainer.learner.weights)
    assert share_of_right_heads(weights, test) > 0.85


@pytest.mark.parametrize("projective", [False, True])
def test_the_gap_of_exponentiated_gradient_closes(parts, projective):
    space = TreeSpace(projective=projective, single_root=False)
    trees = [(features, projectivise(heads) if projective else heads) for features, heads in parts[0][:60]]
    problem = Problem.of([ArcExample(*tree) for tree in trees], space, SIZE)
    trainer = Trainer(
        max_margin_eg(problem, C=0.001, step_size=SearchedPerExample(2.0, growth=1.5, largest=1e4)), seed=0
    )
    reports = list(trainer.run(PassLimit(40), ValueBelow("relative_gap", 1e-3)))
    assert reports[-1].values["relative_gap"] <= 1e-3
    assert share_of_right_heads(trainer.learner.weights, parts[1]) > 0.6


def test_exponentiated_gradient_meets_the_optimum_of_conjugate_gradient(parts):
    problem = Problem.of([ArcExample(*tree) for tree in parts[0][:30]], SPACE, SIZE)
    optimum, report = train_log_linear(problem, C=0.1, optimiser=ConjugateGradient(), tolerance=1e-4)
    trainer = Trainer(log_linear_eg(problem, C=0.1), seed=0)
    for _ in trainer.run(PassLimit(60), ValueBelow("relative_gap", 1e-6)):
        pass
    assert report.converged
    assert np.linalg.norm(trainer.learner.weights - optimum) <= 2e-3 * np.linalg.norm(optimum)
