"""The likeliest heads and labels of each word, for somebody to choose from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .confidence import divided
from .decoding import label_probabilities
from .queries import DocTrees


@dataclass(frozen=True)
class Candidates:
    """Those of the n words of a sentence, best first; k of them, or fewer where a word has fewer heads.

    tokens: (n,) the words' tokens. heads: (n, k) nodes 0..n, 0 the root. labels: (n, k) numbers of the best label at
    each head. probabilities: (n, k) of head and label together; 0 where there is no further candidate.
    entropies: (n,) of the heads, in nats.
    """

    tokens: np.ndarray
    heads: np.ndarray
    labels: np.ndarray
    probabilities: np.ndarray
    entropies: np.ndarray


def candidates(trees: DocTrees, k: int) -> list[Candidates]:
    """The k likeliest heads of each word of each sentence, by the probability of the head. ValueError if k < 1."""
    if k < 1:
        raise ValueError(f"the number of candidates is {k}, but must be 1 or more")
    found, row = [], 0
    sentences = trees.sentences()
    chosen = [_best_heads(each.marginals, k) for each in sentences]
    labels = None if trees.reader.objective.labelled else _labels_at(trees, [heads for heads, _ in chosen])
    for sentence, (heads, of_heads) in zip(sentences, chosen, strict=True):
        n = len(heads)
        if labels is None:
            best, given_head = _labels_within(sentence.trees.marginals, heads)
        else:
            best, given_head = (array[row : row + n, : heads.shape[1]] for array in labels)
        row += n
        found.append(Candidates(sentence.tokens, heads, best, of_heads * given_head, sentence.trees.head_entropy))
    return found


def _best_heads(marginals: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """(n, k) heads and their probabilities."""
    of_words = marginals[:, 1:].T  # (n, n+1); 0 for the word itself
    heads = np.argsort(-of_words, axis=1, kind="stable")[:, : min(k, len(of_words))]
    return heads, np.take_along_axis(of_words, heads, axis=1)


def _labels_within(marginals: np.ndarray, heads: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The best label at each head, and its probability given the head, of a labelled distribution."""
    words = np.arange(1, len(heads) + 1)[:, None]
    joint = marginals[heads, words]  # (n, k, L)
    total = joint.sum(axis=2)
    best = joint.argmax(axis=2)
    share = np.take_along_axis(joint, best[..., None], axis=2)[..., 0]
    return best, divided(share, total)


def _labels_at(trees: DocTrees, heads: list[np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    """The same from the scores of labels, for all words: (n_words, k), as many as any sentence has."""
    if not heads:
        return np.zeros((0, 0), dtype=np.intp), np.zeros((0, 0))
    width = max(each.shape[1] for each in heads)
    padded = np.concatenate([np.pad(each, ((0, 0), (0, width - each.shape[1])), mode="edge") for each in heads])
    best, share = np.zeros(padded.shape, dtype=np.intp), np.zeros(padded.shape)
    for place in range(width):
        scores = trees.reader.label_scores(trees.scores, padded[:, place])
        of_labels = label_probabilities(trees.reader.ops.to_numpy(scores))
        best[:, place] = of_labels.argmax(axis=1)
        share[:, place] = of_labels.max(axis=1)
    return best, share
