"""What a parser finds in its training data before it learns from them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

import numpy as np
from spacy.tokens import Doc
from spacy.training import Example
from spacy.util import logger

from spacy_mtt.learning.tree_space import TreeSpace
from spacy_mtt.scoring.units import Units

from .gold import gold_of


def count_labels(examples: Iterable[Example], space: TreeSpace, name: str) -> dict[str, Counter]:
    """Count labels and check trees in all examples; say once, by the parser's name, what cannot be learned from."""
    counts = {"root": Counter(), "arc": Counter()}
    n_examples, n_words, n_unknown, n_sentences, n_conflicts = 0, 0, 0, 0, 0
    for example in examples:
        n_examples += 1
        gold = gold_of(example)
        n_words += len(gold.heads)
        n_unknown += int((gold.heads < 0).sum())
        sentences = gold.units.split(gold.heads)
        n_sentences += len(gold.units)
        n_conflicts += sum(bool(space.conflicting(heads).any()) for heads in sentences)
        for head, label in zip(gold.heads.tolist(), gold.labels, strict=True):
            if label is not None:
                counts["root" if head == 0 else "arc"][label] += 1
    if n_unknown == n_words:
        raise ValueError(
            f"{name} finds no dependency label in {n_examples} examples ({n_words} words): set token.head and "
            "token.dep of the reference docs, or give the labels"
        )
    if n_unknown:
        logger.info("%s: %d of %d words have no gold head and are summed over", name, n_unknown, n_words)
    if n_conflicts:
        logger.warning(
            "%s: %d of %d gold sentences have roots or crossing arcs that the objective's tree space cannot hold",
            name,
            n_conflicts,
            n_sentences,
        )
    return counts


def trees_of(examples: Iterable[Example]) -> Iterator[tuple[list[Doc], Units, np.ndarray]]:
    """The predicted doc of each example, with its units and their gold heads."""
    for example in examples:
        gold = gold_of(example)
        if len(gold.units):
            yield [example.predicted], gold.units, gold.heads


def keys_of(get_examples: Callable[[], Iterable[Example]]) -> Iterator[bytes]:
    """The key of each unit of all examples, which are asked for with the first one."""
    for example in get_examples():
        gold = gold_of(example)
        for unit in range(len(gold.units)):
            yield gold.key(unit, [example.predicted])
