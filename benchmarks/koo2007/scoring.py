"""Unlabelled attachment by the rules of CoNLL-X (see `spacy_mtt.treebanks.evaluation.conllx`), sentence by sentence."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from spacy_mtt.treebanks.evaluation.conllx import is_punctuation
from spacy_mtt.treebanks.sentence import TreebankSentence


class GoldHeads:
    """The trees to compare with. Words whose form is punctuation, and words without annotation, are not scored."""

    def __init__(self, sentences: Sequence[TreebankSentence]):
        self._heads = [sentence.heads for sentence in sentences]
        self._scored = [
            np.array([not is_punctuation(form) for form in sentence.forms], dtype=bool) & (sentence.heads >= 0)
            for sentence in sentences
        ]
        self.words = int(sum(scored.sum() for scored in self._scored))

    def correct(self, trees: Sequence[np.ndarray]) -> list[int]:
        """How many scored words of each sentence have their head right."""
        together = zip(trees, self._heads, self._scored, strict=True)
        return [int((tree == heads)[scored].sum()) for tree, heads, scored in together]

    def uas(self, correct: Sequence[int]) -> float:
        """The share of right heads in percent."""
        return 100.0 * sum(correct) / self.words
