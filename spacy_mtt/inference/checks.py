"""Checks of what callers hand in: each failure is one sentence with the value and the place."""

from __future__ import annotations

import numpy as np


def as_batch(scores, lengths=None, *, labelled: bool = False) -> tuple[np.ndarray, np.ndarray, bool]:
    """Check arc scores and bring them into the form that the kernels read.

    scores: (n+1, n+1) or a padded batch (B, N+1, N+1), with `labelled` one more axis L at the end; any real dtype.
    lengths: the number of words of each item of a batch, (B,) ints in 0..N; None: all N.

    Returns the scores as float64 (B, N+1, N+1[, L]) C-contiguous (the caller's memory where possible: never
    written to), the lengths (B,) as intp, and whether the caller gave a batch. Raises ValueError on a wrong rank
    or shape, on bad lengths, and on NaN or +inf at an arc that exists (column 0, diagonal and padding are not read).
    """
    array = np.asarray(scores)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"scores must be real numbers, not of dtype {array.dtype}")
    rank = 3 if labelled else 2
    axes = "(n+1, n+1, L) or (B, N+1, N+1, L)" if labelled else "(n+1, n+1) or (B, N+1, N+1)"
    if array.ndim not in (rank, rank + 1):
        raise ValueError(f"scores must have the shape {axes}, not {array.shape}")
    batched = array.ndim == rank + 1
    if not batched:
        array = array[None]
    rows, columns = array.shape[1:3]
    if rows != columns or rows == 0:
        raise ValueError(f"scores must be square over heads and modifiers, {axes}, not {np.shape(scores)}")
    if labelled and array.shape[3] == 0:
        raise ValueError(f"labelled scores need one label or more, but their shape is {np.shape(scores)}")
    lengths = _check_lengths(lengths, len(array), rows - 1, batched)
    array = np.ascontiguousarray(array, dtype=np.float64)
    _check_values(array, lengths, batched)
    return array, lengths, batched


def _check_lengths(lengths, batch: int, longest: int, batched: bool) -> np.ndarray:
    if lengths is None:
        return np.full(batch, longest, dtype=np.intp)
    if not batched:
        raise ValueError("lengths belong to a batch of sentences, but the scores are of one sentence")
    given = np.asarray(lengths)
    if given.shape != (batch,) or (given.dtype.kind not in "iu" and given.size):
        raise ValueError(f"lengths must be {batch} integers, one for each sentence, not {lengths!r}")
    bad = np.flatnonzero((given < 0) | (given > longest))
    if len(bad):
        place = bad[0]
        raise ValueError(f"lengths[{place}] is {given[place]}, but must be in 0..{longest}")
    return given.astype(np.intp)


def arc_mask(lengths: np.ndarray, size: int) -> np.ndarray:
    """Which entries of a padded batch are arcs: (B, size, size) bool, False in column 0, diagonal and padding."""
    nodes = np.arange(size)
    inside = nodes <= lengths[:, None]
    mask = inside[:, :, None] & inside[:, None, :]
    mask[:, :, 0] = False
    mask[:, nodes, nodes] = False
    return mask


def _check_values(array: np.ndarray, lengths: np.ndarray, batched: bool) -> None:
    if array.size == 0 or array.max() < np.inf:  # one pass; not so for NaN either
        return
    wrong = np.isnan(array) | np.isposinf(array)
    mask = arc_mask(lengths, array.shape[1])
    _name_first(array, wrong & (mask[..., None] if array.ndim == 4 else mask), batched, "scores")


def _name_first(array: np.ndarray, wrong: np.ndarray, batched: bool, what: str) -> None:
    places = np.argwhere(wrong)
    if len(places):
        place = tuple(places[0])
        shown = place if batched else place[1:]
        index = ", ".join(str(i) for i in shown)
        raise ValueError(f"{what}[{index}] is {array[place]}, but must be a finite number or -inf")


def as_siblings(siblings, lengths: np.ndarray, size: int, batched: bool) -> np.ndarray:
    """Check the sibling scores that belong to arc scores of (B, size, size), as `as_batch` returned them.

    siblings: (n+1, n+1, n+1) or (B, N+1, N+1, N+1), [head, sibling, modifier]; any real dtype. Returns them as float64
    (B, N+1, N+1, N+1) C-contiguous (the caller's memory where possible: never written to). Raises ValueError on a
    wrong shape, and on NaN or +inf at a part that exists (see `part_mask`; the root's count with a single root, too).
    """
    array = np.asarray(siblings)
    if array.dtype.kind not in "fiu":
        raise ValueError(f"siblings must be real numbers, not of dtype {array.dtype}")
    expected = (len(lengths),) * batched + (size,) * 3
    if array.shape != expected:
        raise ValueError(
            f"siblings must have the shape {expected} over heads, siblings and modifiers, not {array.shape}"
        )
    array = np.ascontiguousarray(array, dtype=np.float64).reshape(len(lengths), size, size, size)
    wrong = np.isnan(array) | np.isposinf(array)
    if wrong.any():
        _name_first(array, wrong & part_mask(lengths, size), batched, "siblings")
    return array


def part_mask(lengths: np.ndarray, size: int) -> np.ndarray:
    """Which [head h, sibling r, modifier m] are parts: (B, size, size, size) bool.

    h -> m is an arc, and r lies strictly between h and m, or is h itself.
    """
    h, r, m = np.ogrid[:size, :size, :size]
    between = (r == h) | ((h < r) & (r < m)) | ((m < r) & (r < h))
    return arc_mask(lengths, size)[:, :, None, :] & between


def as_heads(heads, lengths: np.ndarray, size: int, batched: bool, what: str = "heads") -> np.ndarray:
    """Check trees given by a caller: (n,) or (B, N) ints; returns (B, N) intp, entries in the padding set to -1.

    Raises ValueError on a wrong shape and on entries outside 0..n; cycles are the caller's concern.
    """
    array = np.asarray(heads)
    expected = (len(lengths), size - 1) if batched else (size - 1,)
    if array.shape != expected or (array.dtype.kind not in "iu" and array.size):
        raise ValueError(f"{what} must be integers of the shape {expected}, not {array.dtype} {array.shape}")
    array = array.reshape(len(lengths), size - 1).astype(np.intp)
    inside = np.arange(1, size) <= lengths[:, None]
    upper = lengths[:, None] if what == "heads" else np.iinfo(np.intp).max
    bad = np.argwhere(inside & ((array < 0) | (array > upper)))
    if len(bad):
        sentence, word = bad[0]
        where = f"{what}[{sentence}, {word}]" if batched else f"{what}[{word}]"
        limit = f"0..{lengths[sentence]}" if what == "heads" else "0 or above"
        raise ValueError(f"{where} is {array[sentence, word]}, but must be in {limit}")
    array[~inside] = -1
    return array
