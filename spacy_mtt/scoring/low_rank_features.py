"""From sentences to the features of the low-rank tensor model, and the tensor that its factors can start from."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from spacy_mtt.features.atoms import Words, informative_columns
from spacy_mtt.features.extraction import ArcKeys, CachedFeatures, ComputedFeatures, KeyExtractor, SlotFeatures
from spacy_mtt.features.pairs import pair_keys, pairs_of, read_pairs
from spacy_mtt.features.tables import FeatureDictionary, FeatureTable
from spacy_mtt.features.templates import first_order
from spacy_mtt.features.word_templates import word_templates
from spacy_mtt.features.words import WordFeatures, WordKeyExtractor, word_dictionary
from spacy_mtt.learning.low_rank import LowRankFeatures
from spacy_mtt.learning.low_rank_start import SparseTensor
from spacy_mtt.learning.online import mira
from spacy_mtt.learning.problem import ArcExample, Problem
from spacy_mtt.learning.trainer import Trainer
from spacy_mtt.learning.tree_space import TreeSpace


@dataclass(frozen=True)
class LowRankExtractor:
    """Features of arcs and of words, each from a table of templates and with a table of slots.

    storage: `CachedFeatures` or `ComputedFeatures`, of the features of arcs. gamma: 0 does without those of arcs, and
    1 without those of words.
    """

    arcs: KeyExtractor
    words: WordKeyExtractor
    arc_table: FeatureTable
    word_table: FeatureTable
    gamma: float
    storage: Callable[[ArcKeys, FeatureTable], SlotFeatures] = CachedFeatures

    @classmethod
    def of(
        cls,
        sentences: Sequence[Words],
        heads: Sequence[Sequence[int]],
        *,
        gamma: float = 0.3,
        storage: Callable[[ArcKeys, FeatureTable], SlotFeatures] = CachedFeatures,
        least: int = 1,
    ) -> LowRankExtractor:
        """For a training set: templates of its informative columns, dictionaries of the arcs of its trees and of all of
        its words. least: the number of sentences that a feature of words must be found in."""
        columns = informative_columns(sentences)
        arcs, words = KeyExtractor(first_order(**columns)), WordKeyExtractor(word_templates(**columns))
        arc_table = FeatureDictionary.of((arcs(s) for s in sentences) if gamma > 0 else (), heads if gamma > 0 else ())
        word_table = word_dictionary((words(s) for s in sentences) if gamma < 1 else (), least=least)
        return cls(arcs, words, arc_table, word_table, gamma, storage)

    def __call__(self, words: Words) -> LowRankFeatures:
        """The features of a sentence."""
        return LowRankFeatures(
            self.storage(self.arcs(words), self.arc_table) if self.gamma > 0 else None,
            WordFeatures(self.words(words), self.word_table) if self.gamma < 1 else None,
        )


def first_pass_tensor(
    extractor: LowRankExtractor,
    sentences: Sequence[Words],
    heads: Sequence[Sequence[int]],
    space: TreeSpace,
    *,
    C: float = 0.01,
    seed: int = 0,
) -> SparseTensor:
    """The weights after one pass of MIRA, not averaged, as a tensor for `svd_start` (Lei et al. 2014, section 4.2).

    Features are the products of features of words that the templates of arcs name (see `pairs_of`), those of the given
    trees alone. Each has a slot of its own, which tells its place in the tensor, so that none leaks into another.
    """
    pairs = pairs_of(extractor.arcs.templates, extractor.words.templates)
    keys = [pair_keys(extractor.words(words), pairs, extractor.word_table) for words in sentences]
    dictionary = FeatureDictionary.of(keys, heads)
    features = [ComputedFeatures(each, dictionary) for each in keys]
    examples = [ArcExample(each, tree) for each, tree in zip(features, heads, strict=True)]
    learner = mira(Problem.of(examples, space, dictionary.size), C=C)
    Trainer(learner, seed=seed).run_pass()
    size = extractor.word_table.size
    return SparseTensor(*read_pairs(dictionary, size), learner.averaged.current, size)
