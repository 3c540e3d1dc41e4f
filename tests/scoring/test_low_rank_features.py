"""The features of the low-rank model of a training set, and the tensor of a first pass over it."""

from pathlib import Path

import numpy as np
import pytest

from spacy_mtt.features.atoms import Words
from spacy_mtt.features.extraction import CachedFeatures, ComputedFeatures
from spacy_mtt.learning.low_rank_start import svd_start
from spacy_mtt.learning.tree_space import TreeSpace
from spacy_mtt.scoring.low_rank_features import LowRankExtractor, first_pass_tensor
from spacy_mtt.treebanks import read_treebank

TREEBANK = Path(__file__).parents[2] / "assets" / "grammar-dutch" / "train.conll"
SPACE = TreeSpace(projective=False, single_root=False)


@pytest.fixture(scope="module")
def treebank():
    """(words, heads) of 60 sentences."""
    sentences = list(read_treebank(TREEBANK))[:60]
    return [Words.from_treebank(sentence) for sentence in sentences], [sentence.heads for sentence in sentences]


def test_features_that_gamma_makes_superfluous_are_left_out(treebank):
    words, heads = treebank
    for gamma, has_arcs, has_words in ((0.0, False, True), (0.3, True, True), (1.0, True, False)):
        extractor = LowRankExtractor.of(words, heads, gamma=gamma)
        features = extractor(words[0])
        assert (extractor.arc_table.size > 0, extractor.word_table.size > 0) == (has_arcs, has_words)
        assert (features.arcs is not None, features.words is not None) == (has_arcs, has_words)
        assert features.n == len(words[0])
    computed = LowRankExtractor.of(words, heads, storage=ComputedFeatures)(words[0])
    assert isinstance(computed.arcs, ComputedFeatures)
    assert isinstance(LowRankExtractor.of(words, heads)(words[0]).arcs, CachedFeatures)


def test_the_singular_vectors_of_the_first_pass_parse(treebank):
    words, heads = treebank
    extractor = LowRankExtractor.of(words, heads, gamma=0.0)
    tensor = first_pass_tensor(extractor, words, heads, SPACE)
    again = first_pass_tensor(extractor, words, heads, SPACE)
    np.testing.assert_array_equal(tensor.value, again.value)
    assert tensor.value.any() and tensor.size == extractor.word_table.size
    weights = svd_start(0.0, extractor.arc_table.size, tensor, 20)
    trees = [SPACE.distribution(weights.score(extractor(each))).argmax() for each in words]
    assert np.concatenate([t == h for t, h in zip(trees, heads, strict=True)]).mean() > 0.7
