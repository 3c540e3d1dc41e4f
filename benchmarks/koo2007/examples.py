"""Sentences with features, ready to learn from and to parse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from spacy_mtt.features.atoms import Words, informative_columns
from spacy_mtt.features.extraction import CachedFeatures, KeyExtractor, extract
from spacy_mtt.features.tables import FeatureDictionary
from spacy_mtt.features.templates import first_order
from spacy_mtt.learning.problem import MAX_CELLS, ArcExample, Problem
from spacy_mtt.learning.tree_space import TreeSpace, batches_by_length
from spacy_mtt.treebanks.projectivisation import projectivise
from spacy_mtt.treebanks.sentence import TreebankSentence

Decoder = Callable[[Sequence[np.ndarray]], np.ndarray]  # from scores of sentences to their heads, padded


class ToParse:
    """Sentences with features, to be parsed."""

    def __init__(self, features: Sequence[CachedFeatures]):
        self.features = features
        self._batches = list(batches_by_length([item.n for item in features], MAX_CELLS))

    def trees(self, weights: np.ndarray, *decoders: Decoder) -> list[list[np.ndarray]]:
        """For each decoder the trees that it finds under the weights, heads (n,) of each sentence."""
        answer: list[list] = [[None] * len(self.features) for _ in decoders]
        for batch in self._batches:
            scores = [self.features[index].score(weights) for index in batch]
            for trees, decode in zip(answer, decoders, strict=True):
                for index, heads in zip(batch, decode(scores), strict=True):
                    trees[index] = heads[: self.features[index].n].copy()
        return answer


@dataclass(frozen=True)
class Material:
    """What to learn from, by whether its trees are projective, and what to parse."""

    problems: dict[bool, Problem]
    to_parse: ToParse
    n_features: int


def prepare(train: Sequence[TreebankSentence], held_out: Sequence[TreebankSentence], *, single_root: bool) -> Material:
    """The features of both parts, and the two training sets: trees as they are, and projectivised (footnote 4).

    The dictionary has the features of the arcs of both sets, so that all models have the same ones; it knows nothing of
    `held_out`.
    """
    trees = {False: [sentence.heads for sentence in train]}
    trees[True] = [projectivise(heads, single_root=single_root) for heads in trees[False]]
    words = [Words.from_treebank(sentence) for sentence in train]
    extractor = KeyExtractor(first_order(**informative_columns(words)))
    keys = [extractor(each) for each in words]
    changed = [i for i, (a, b) in enumerate(zip(trees[False], trees[True], strict=True)) if (a != b).any()]
    dictionary = FeatureDictionary.of(
        keys + [keys[i] for i in changed], trees[False] + [trees[True][i] for i in changed]
    )
    features = [CachedFeatures(each, dictionary) for each in keys]
    problems = {
        projective: Problem.of(
            [ArcExample(each, heads) for each, heads in zip(features, trees[projective], strict=True)],
            TreeSpace(projective=projective, single_root=single_root),
            dictionary.size,
        )
        for projective in (False, True)
    }
    rest = extract(map(Words.from_treebank, held_out), extractor, dictionary, storage=CachedFeatures)
    return Material(problems, ToParse(rest), dictionary.size)
