"""Units: the stretches of words that each get one tree, and their layout in flat and in padded arrays."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

# A bucket holds units of like length; its padded arc matrices have at most about this many entries.
BUCKET_ENTRIES = 1 << 17


@dataclass(frozen=True)
class Units:
    """The units of a batch of docs.

    doc_of: (U,) which doc a unit belongs to.
    words: for each unit the indices of its words within the doc, ascending, (n_u,) ints. Tokens that are
        no words (whitespace) belong to no unit.

    *Flat layout*: the nodes of all units one after the other, each unit's root before its words: T = sum(n_u + 1) rows.
    *Padded layout*: units of like length together in a bucket (B, N+1), see `buckets`.
    """

    doc_of: np.ndarray
    words: list[np.ndarray]
    doc_lengths: list[int] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.words)

    @cached_property
    def lengths(self) -> np.ndarray:
        """(U,) the number of words of each unit."""
        return np.array([len(words) for words in self.words], dtype=np.intp)

    @cached_property
    def n_words(self) -> int:
        """The number of words of all units."""
        return int(self.lengths.sum())

    @cached_property
    def starts(self) -> np.ndarray:
        """(U,) the flat row of each unit's root; its words follow."""
        return np.concatenate([[0], np.cumsum(self.lengths + 1)])[:-1].astype(np.intp)

    @cached_property
    def is_root(self) -> np.ndarray:
        """(T,) bool: which flat rows are roots."""
        roots = np.zeros(self.n_words + len(self), dtype=bool)
        roots[self.starts] = True
        return roots

    @cached_property
    def word_rows(self) -> np.ndarray:
        """(n_words,) the flat rows that are words, in order."""
        return np.flatnonzero(~self.is_root)

    def head_rows(self, heads: np.ndarray) -> np.ndarray:
        """(n_words,) int32, the flat row of each word's head, from heads (n_words,) in 0..n within its unit."""
        return (np.repeat(self.starts, self.lengths) + heads).astype(np.int32)

    def split(self, flat: np.ndarray) -> list[np.ndarray]:
        """The part of each unit of an array of all words, (n_words, ...)."""
        return np.split(flat, np.cumsum(self.lengths)[:-1])

    @cached_property
    def token_rows(self) -> np.ndarray:
        """(n_words,) for each word its row among the tokens of all docs laid end to end."""
        offsets = np.concatenate([[0], np.cumsum(self.doc_lengths)]).astype(np.intp)
        rows = [offsets[doc] + words for doc, words in zip(self.doc_of, self.words, strict=True)]
        return np.concatenate(rows) if rows else np.zeros(0, dtype=np.intp)

    @cached_property
    def buckets(self) -> list[Bucket]:
        """Units of like length together, so that little of a padded matrix is padding."""
        order = np.argsort(self.lengths, kind="stable")
        buckets: list[Bucket] = []
        first = 0
        for last in range(1, len(order) + 1):
            if last < len(order):
                shortest, size = self.lengths[order[first]], self.lengths[order[last]] + 1
                if size <= shortest * 1.25 + 5 and (last - first + 1) * size * size <= BUCKET_ENTRIES:
                    continue
            buckets.append(self._bucket(order[first:last]))
            first = last
        return buckets

    def _bucket(self, units: np.ndarray) -> Bucket:
        lengths = self.lengths[units]
        nodes = np.arange(lengths.max() + 1)
        rows = self.starts[units][:, None] + np.minimum(nodes, lengths[:, None])
        return Bucket(units, lengths, rows, nodes <= lengths[:, None])


# The units of a batch, or how they are made from the log-odds (n_tokens,) that each token of all docs starts a
# sentence, None of a model that has no notion of it.
Segmentation = Units | Callable[[Any], Units]


def settled(segmentation: Segmentation, starts: Any = None) -> Units:
    """The units."""
    return segmentation if isinstance(segmentation, Units) else segmentation(starts)


@dataclass(frozen=True)
class Bucket:
    """Some units, padded to the longest of them.

    units: (B,) their numbers. lengths: (B,) their words. rows: (B, N+1) the flat row of each node, a valid row in the
    padding too. inside: (B, N+1) bool, False in the padding.
    """

    units: np.ndarray
    lengths: np.ndarray
    rows: np.ndarray
    inside: np.ndarray


def gather(xp, bucket: Bucket, *flat) -> list:
    """The rows of a bucket, (B, N+1, W), of each of the `flat` arrays (T, W)."""
    rows = xp.asarray(bucket.rows)
    return [array[rows] for array in flat]


def scatter(xp, bucket: Bucket, flat, padded) -> None:
    """Write the rows of a bucket (B, N+1, W) to where they stand in `flat` (T, W): each stands in one bucket alone."""
    inside = xp.asarray(bucket.inside)
    flat[xp.asarray(bucket.rows)[inside]] = padded[inside]


class BucketScores(Sequence):
    """The scores of each bucket, computed when they are asked for and not kept, so that memory holds one bucket.

    On a GPU the scores of the next bucket are under way while those of one are looked at.
    """

    def __init__(self, xp, units: Units, H, M, forward: Callable):
        self._xp = xp
        self._buckets = units.buckets
        self._flat = (H, M)
        self._forward = forward

    def __len__(self) -> int:
        return len(self._buckets)

    def __getitem__(self, number: int):
        return self._forward(*gather(self._xp, self._buckets[number], *self._flat))[0]

    def __iter__(self) -> Iterator:
        scores = map(self.__getitem__, range(len(self)))
        if self._xp is np:
            yield from scores
            return
        ahead = next(scores, None)
        while ahead is not None:
            current, ahead = ahead, next(scores, None)
            yield current


def by_bucket(xp, units: Units, H, M, forward: Callable, is_train: bool = True) -> tuple[Sequence, Callable | None]:
    """Run `forward`, from padded head and modifier vectors to scores and a backward pass, on each bucket.

    H, M: (T, W) in the flat layout. Returns the scores of each bucket, and the backward pass from their gradients to
    those of H and M. In prediction there is none, and each bucket's scores are computed when they are asked for.
    """
    if not is_train:
        return BucketScores(xp, units, H, M, forward), None
    passes = [forward(*gather(xp, bucket, H, M)) for bucket in units.buckets]

    def backprop(d_scores: list) -> tuple:
        dH, dM = xp.zeros_like(H), xp.zeros_like(M)
        for bucket, (_, bucket_backprop), d_bucket in zip(units.buckets, passes, d_scores, strict=True):
            dH_bucket, dM_bucket = bucket_backprop(d_bucket)
            scatter(xp, bucket, dH, dH_bucket)
            scatter(xp, bucket, dM, dM_bucket)
        return dH, dM

    return [scores for scores, _ in passes], backprop
