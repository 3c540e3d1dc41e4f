"""What a model is trained on: the losses of heads, labels, tags and sentence starts, and their gradients by its scores.

Losses are in nats, summed over words; gradients are those of the mean over words, or steps if an objective gives those.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np
from spacy.training import Example

from spacy_mtt.learning.annotation import allowed_arcs, allowed_labelled_arcs
from spacy_mtt.learning.cross_entropy import cross_entropy, logistic_loss
from spacy_mtt.learning.objective import LabelledWords, Sentences
from spacy_mtt.scoring.scores import ScoreGradients, Scores
from spacy_mtt.scoring.units import Bucket

from .decoding import ScoreReader
from .gold import GoldTrees, gold_tags
from .segmentation import gold_starts

Key = Callable[[int], bytes]  # tells units apart, see `Sentences`


def parse_loss(reader: ScoreReader, gold: GoldTrees, scores: Scores, key: Key) -> tuple[float, ScoreGradients]:
    """The loss of heads and labels."""
    if reader.objective.labelled:
        loss, d_joint, is_step = tree_loss(reader, gold, scores, key, gold.label_numbers(reader.labels))
        d_arcs = [d_bucket.sum(axis=3) for d_bucket in d_joint]
        return loss, ScoreGradients(d_arcs, labels_everywhere=d_joint, own_steps=(is_step, is_step))
    loss, d_arcs, is_step = tree_loss(reader, gold, scores, key)
    label_loss, d_labels, labels_are_step = loss_of_labels(reader, gold, scores, key)
    return loss + label_loss, ScoreGradients(d_arcs, labels_at=d_labels, own_steps=(is_step, labels_are_step))


def tree_loss(
    reader: ScoreReader, gold: GoldTrees, scores: Scores, key: Key, labels: np.ndarray | None = None
) -> tuple[float, list[Any], bool]:
    """The loss of trees, of labelled ones if `labels` are given; the gradient for each bucket; whether it is a step."""
    total, gradients, is_step = 0.0, [], False
    possible = reader.labels.possible
    for bucket, given, arcs in zip(scores.units.buckets, scores.arcs, reader.arc_scores(scores), strict=True):
        heads, size = gold.padded(bucket, gold.heads), arcs.shape[1]
        if labels is None:
            allowed = allowed_arcs(heads, size)
        else:
            allowed = allowed_labelled_arcs(heads, gold.padded(bucket, labels), size, possible)
        loss = reader.objective(arcs, allowed, bucket.lengths, _sentences(reader, bucket, scores, key))
        total += float(loss.value.sum())
        is_step = loss.is_step
        gradient = loss.gradient if is_step else loss.gradient / scores.units.n_words
        gradients.append(reader.ops.asarray(gradient, dtype=given.dtype))
    return total, gradients, is_step


def _sentences(reader: ScoreReader, bucket: Bucket, scores: Scores, key: Key) -> Sentences:
    """What the objective may ask of the units of a bucket, by their rows."""
    units, sparse = bucket.units.tolist(), scores.sparse
    if sparse is None:
        return Sentences(lambda row: key(units[row]))
    of_weights = partial(sparse.weights_squared_norm, labels=reader.objective.labelled)
    return Sentences(
        lambda row: key(units[row]),
        lambda row, coefficients: sparse.squared_norm(units[row], coefficients),
        of_weights if sparse.is_linear else None,
    )


def loss_of_labels(reader: ScoreReader, gold: GoldTrees, scores: Scores, key: Key) -> tuple[float, Any, bool]:
    """The loss of labels at the gold heads; its gradient (n_words, L); whether it is a step."""
    sparse = scores.sparse
    norms = None if sparse is None else partial(sparse.label_norms, gold.head_rows())
    label_scores = reader.label_scores(scores, gold.heads)
    words = LabelledWords(scores.units.lengths, key, norms)
    loss = reader.objective.label_loss(reader.ops.xp, label_scores, gold.label_numbers(reader.labels), words)
    gradient = loss.gradient if loss.is_step else loss.gradient / len(gold.heads)
    return loss.value, reader.ops.asarray(gradient, dtype=label_scores.dtype), loss.is_step


def tag_loss(reader: ScoreReader, examples: Sequence[Example], scores: Scores, weight: float) -> tuple[float, Any]:
    """The loss of tags times `weight`; its gradient, None without tags."""
    if scores.tags is None or not weight:
        return 0.0, None
    gold = gold_tags(examples, scores.units)
    loss, gradient = cross_entropy(reader.ops.xp, scores.tags, gold)
    return weight * loss, reader.ops.asarray2f(gradient * (weight / len(gold)))


def start_loss(reader: ScoreReader, examples: Sequence[Example], scores: Scores, weight: float) -> tuple[float, Any]:
    """The loss of sentence starts times `weight`; its gradient, None where none are found."""
    if scores.starts is None or not weight:
        return 0.0, None
    loss, gradient = logistic_loss(reader.ops.xp, scores.starts, gold_starts(examples))
    return weight * loss, reader.ops.asarray1f(gradient * (weight / scores.units.n_words))
