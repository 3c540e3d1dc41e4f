"""Trees with given arcs: scores whose distribution is the conditional one, and the probability of a set of arcs.

Conditioning on arcs needs no new algorithm: every arc that the condition rules out gets the score -inf. The kernels
are exact under any mask, so conditions that leave a single tree, or none, are as good as others.

An arc is a pair (head, modifier), with labels optionally a triple (head, modifier, label): the pair stands for the arc
with any label. A condition is one iterable of arcs for a sentence, or for a batch one (or None) for each sentence.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable

import numpy as np

from .checks import arc_mask, as_batch
from .posterior import Posterior


def constrained_scores(
    scores, lengths=None, *, required=None, forbidden=None, mask=None, labelled: bool = False
) -> np.ndarray:
    """The scores (new, float64) with -inf where the condition rules an arc out: p(tree | all of it).

    scores, lengths, labelled: as in :func:`checks.as_batch`. required: arcs that every tree must have; a required arc
    rules out all other heads of its modifier (and labels, if it names one). forbidden: arcs that no tree may have.
    mask: bool, in the shape of the scores, or without the axis of labels: the arcs that trees may have; entries
    where no arc is are not read. O(n^2).

    ValueError, naming the arc, for a malformed arc, for two required heads (or labels) of a word, and for a required
    arc that is forbidden, masked out or -inf. Whether a tree is left is not checked: inference raises NoTreeError then,
    which says why. Entries where no arc is stay as they are.
    """
    scores, lengths, batched = as_batch(scores, lengths, labelled=labelled)
    arcs = arc_mask(lengths, scores.shape[1])
    arcs = arcs[..., None] if labelled else arcs
    allowed = ~np.isneginf(scores)
    required = _read_arcs(required, scores, lengths, batched, "required")
    forbidden = _read_arcs(forbidden, scores, lengths, batched, "forbidden")
    _check_required(required, allowed, batched, "required, but its score is -inf")
    if mask is not None:
        allowed &= _as_mask(mask, scores, batched)
        _check_required(required, allowed, batched, "required, but the mask rules it out")
    for sentence, arc in forbidden:
        allowed[(sentence, *arc)] = False
    _check_required(required, allowed, batched, "required and forbidden at once")
    _require(required, allowed, batched)
    out = np.where(arcs & ~allowed, -np.inf, scores)
    return out if batched else out[0]


def log_prob_arcs(p: Posterior, arcs, *, batched: bool = True) -> np.ndarray:
    """log p(the tree has all of `arcs`), (B,); -inf for a set that no tree of the space has, 0 for an empty one.

    arcs: for each sentence an iterable of arcs, or None; with batched=False, p has one sentence and arcs are its.
    ValueError for a malformed arc; NoTreeError if a sentence has no tree at all. O(n^3).

    It is the log of a quotient of two partition functions, each relative to the best scores into the words, so that
    large scores do not cancel; only the words that `arcs` name have another best score in the constrained one.
    """
    p.require_trees()
    allowed = ~np.isneginf(p.scores)
    possible = np.ones(len(p.lengths), dtype=bool)
    named = [set() for _ in p.lengths]
    for sentence, arc in _read_arcs(arcs, p.scores, p.lengths, batched, "arcs"):
        possible[sentence] &= allowed[(sentence, *arc)].any()
        _keep_only(allowed[sentence], arc)
        named[sentence].add(arc[1])
    scores = np.where(allowed, p.scores, -np.inf)
    given = Posterior(scores, p.lengths, projective=p.projective, single_root=p.single_root)
    log_prob = np.full(len(possible), -np.inf)
    for sentence in np.flatnonzero(possible & ~np.isneginf(given.excess)):
        words = sorted(named[sentence])
        if words:
            best = [*given.best[sentence, words].tolist(), *(-p.best[sentence, words]).tolist()]
            log_prob[sentence] = math.fsum([given.excess[sentence], -p.excess[sentence], *best])
        else:
            log_prob[sentence] = 0.0
    return np.minimum(log_prob, 0.0)


# ---- reading conditions


def _read_arcs(arcs, scores: np.ndarray, lengths: np.ndarray, batched: bool, what: str) -> list[tuple[int, tuple]]:
    """(sentence, arc) for each arc of a condition; ValueError for one that is not an arc of its sentence."""
    if arcs is None:
        return []
    if not batched:
        arcs = [arcs]
    elif not hasattr(arcs, "__len__") or len(arcs) != len(lengths):
        raise ValueError(f"{what} must hold one iterable of arcs, or None, for each of the {len(lengths)} sentences")
    n_labels = scores.shape[3] if scores.ndim == 4 else 0
    out = []
    for sentence, own in enumerate(arcs):
        if own is not None and not isinstance(own, Iterable):
            raise ValueError(f"{what}{_of(sentence, batched)} must be arcs, pairs (head, modifier), not {own!r}")
        for arc in () if own is None else own:
            place = f"{what}{_of(sentence, batched)}: {arc!r}"
            out.append((sentence, _read_arc(arc, int(lengths[sentence]), n_labels, place)))
    return out


def _read_arc(arc, n: int, n_labels: int, place: str) -> tuple[int, ...]:
    kinds = "a pair (head, modifier)" + (" or a triple (head, modifier, label)" if n_labels else "")
    try:
        out = tuple(operator.index(part) for part in arc)
    except TypeError:
        raise ValueError(f"{place} is not an arc, {kinds} of ints") from None
    if len(out) not in ((2, 3) if n_labels else (2,)):
        raise ValueError(f"{place} is not an arc, {kinds}")
    head, modifier, *label = out
    if not 0 <= head <= n:
        raise ValueError(f"{place} has the head {head}, but heads are 0..{n}")
    if not 1 <= modifier <= n:
        raise ValueError(f"{place} has the modifier {modifier}, but modifiers are 1..{n}")
    if head == modifier:
        raise ValueError(f"{place} is no arc, since no word heads itself")
    if label and not 0 <= label[0] < n_labels:
        raise ValueError(f"{place} has the label {label[0]}, but labels are 0..{n_labels - 1}")
    return out


def _as_mask(mask, scores: np.ndarray, batched: bool) -> np.ndarray:
    """`mask` as bool, ready to be combined with the scores."""
    mask = np.asarray(mask)
    shape = scores.shape if batched else scores.shape[1:]
    without_labels = shape[:-1] if scores.ndim == 4 else shape
    if mask.dtype != bool or mask.shape not in (shape, without_labels):
        raise ValueError(f"mask must be bool of the shape {without_labels}, not {mask.dtype} {mask.shape}")
    if scores.ndim == 4 and mask.shape == without_labels:
        mask = mask[..., None]
    return mask if batched else mask[None]


# ---- required arcs


def _check_required(required, allowed: np.ndarray, batched: bool, trouble: str) -> None:
    for sentence, arc in required:
        if not allowed[(sentence, *arc)].any():
            raise ValueError(f"the arc {arc}{_of(sentence, batched)} is {trouble}")


def _require(required, allowed: np.ndarray, batched: bool) -> None:
    """Rule out what the required arcs exclude; ValueError where two of them exclude each other."""
    seen: dict[tuple[int, int], tuple[int, ...]] = {}
    for sentence, arc in required:
        before = seen.setdefault((sentence, arc[1]), arc)
        if before[0] != arc[0]:
            raise ValueError(
                f"the arcs {before} and {arc}{_of(sentence, batched)} are both required: two heads of a word"
            )
        if len(before) == len(arc) == 3 and before != arc:
            raise ValueError(
                f"the arcs {before} and {arc}{_of(sentence, batched)} are both required: two labels of an arc"
            )
        if len(arc) == 3:
            seen[sentence, arc[1]] = arc
        _keep_only(allowed[sentence], arc)


def _keep_only(allowed: np.ndarray, arc: tuple[int, ...]) -> None:
    """Rule out every head (and label) of the arc's modifier but the arc's own, in `allowed` (n+1, n+1[, L])."""
    kept = np.copy(allowed[arc])
    allowed[:, arc[1]] = False
    allowed[arc] = kept


def _of(sentence: int, batched: bool) -> str:
    return f" of sentence {sentence}" if batched else ""
