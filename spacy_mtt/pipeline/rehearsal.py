"""How far a model's beliefs have moved from those of an earlier one."""

from __future__ import annotations

import numpy as np

from spacy_mtt.scoring.scores import ScoreGradients, Scores

from .decoding import Flat, ScoreReader, label_probabilities

LEAST = 1e-30  # a probability below this costs no more


def divergence(reader: ScoreReader, then: Scores, now: Scores) -> tuple[float, ScoreGradients]:
    """KL(then || now) over the trees of all units, summed, in nats, and the gradient of its mean over words by `now`.

    Labels that are no part of the trees: the same of the labels at the best heads of then. O(n^3) a unit.
    """
    space, n_words = reader.objective.space, now.units.n_words
    total, d_arcs, d_joint = 0.0, [], []
    best = Flat(n_words + len(now.units))
    pairs = zip(now.units.buckets, reader.arc_scores(then), reader.arc_scores(now), now.arcs, strict=True)
    for bucket, old_scores, new_scores, given in pairs:
        old, new = (space.padded(scores, bucket.lengths) for scores in (old_scores, new_scores))
        total += float(np.sum(old.kl(new)))
        gradient = (new.marginals - old.marginals) / n_words
        d_joint.append(reader.ops.asarray(gradient, dtype=given.dtype))
        d_arcs.append(reader.ops.asarray(gradient.sum(axis=3) if gradient.ndim == 4 else gradient, dtype=given.dtype))
        if gradient.ndim == 3:
            best.put(bucket, "heads", old.argmax())
    if reader.objective.labelled:
        return total, ScoreGradients(d_arcs, labels_everywhere=d_joint)
    heads = best.arrays["heads"][now.units.word_rows]
    old_labels, new_labels = (
        label_probabilities(reader.ops.to_numpy(reader.label_scores(scores, heads))) for scores in (then, now)
    )
    known = old_labels > 0
    total += float((old_labels[known] * np.log(old_labels[known] / np.maximum(new_labels[known], LEAST))).sum())
    d_labels = reader.ops.asarray((new_labels - old_labels) / n_words, dtype=d_arcs[0].dtype)
    return total, ScoreGradients(d_arcs, labels_at=d_labels)
