"""How sure a parse is: probabilities and entropies of the heads, labels and trees that were decoded."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from spacy_mtt.inference.distribution import TreeDistribution

TOKEN_ARRAYS = {"head_prob": 1.0, "dep_prob_given_head": 1.0, "head_entropy": 0.0}  # and what whitespace has
SENTENCE_ARRAYS = ("entropy", "log_prob")


@dataclass(frozen=True)
class Confidence:
    """That of the units of a bucket.

    tokens: (B, N) arrays by the names of `TOKEN_ARRAYS`, but for `dep_prob_given_head` where labels are not part of the
    distribution. units: (B,) arrays by those of `SENTENCE_ARRAYS`, in nats.
    """

    tokens: dict[str, np.ndarray]
    units: dict[str, np.ndarray]


def confidence(trees: TreeDistribution, heads: np.ndarray, labels: np.ndarray | None) -> Confidence:
    """That of decoded trees of a padded batch, heads and labels (B, N) with -1 as padding."""
    marginals = trees.marginals
    rows, words = np.ogrid[: len(heads), 1 : heads.shape[1] + 1]
    at = np.maximum(heads, 0)
    tokens = {"head_entropy": trees.head_entropy}
    if labels is None:
        tokens["head_prob"] = marginals[rows, at, words]
        log_prob = trees.log_prob(heads)
    else:
        of_labels = marginals[rows, at, words]
        joint = np.take_along_axis(of_labels, np.maximum(labels, 0)[..., None], axis=2)[..., 0]
        tokens["head_prob"] = of_labels.sum(axis=2)
        tokens["dep_prob_given_head"] = divided(joint, tokens["head_prob"])
        log_prob = trees.log_prob(heads, labels)
    return Confidence(tokens, {"entropy": trees.entropy, "log_prob": log_prob})


def divided(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """part / whole, 0 where whole is 0."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)


def token_value(arrays: Mapping[str, np.ndarray] | None, name: str, index: int) -> float | None:
    """A token's value in `doc._.mtt`; None if there is none."""
    if not arrays or "head_prob" not in arrays:
        return None
    if name == "dep_prob":
        return float(arrays["head_prob"][index] * arrays["dep_prob_given_head"][index])
    return float(arrays[name][index])


def span_value(arrays: Mapping[str, np.ndarray] | None, name: str, start: int, end: int, length: int) -> float | None:
    """The sum over the sentences of a span of tokens start to end; None if it is not made of whole sentences.

    Sentences are independent of each other, so entropies and log-probabilities add up. length: of the doc.
    """
    if not arrays or "head_prob" not in arrays:
        return None
    starts = arrays["sentence_starts"]
    first, last = np.searchsorted(starts, [start, end])
    bounds = [*starts.tolist(), length]
    if first == last or bounds[first] != start or bounds[last] != end:
        return None
    return float(arrays[name][first:last].sum())
