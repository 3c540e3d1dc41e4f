"""A batch on several threads: the kernels release the GIL, so plain threads share out its sentences."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np

# More chunks than threads, so that a thread that was lucky with its sentences can go on with others'.
CHUNKS_PER_THREAD = 4


def run_batch(
    function: Callable, scores: np.ndarray, lengths: np.ndarray, *, single_root: bool, n_threads: int = 1, **options
):
    """``function(scores, lengths, single_root=single_root, **options)``, the batch on up to `n_threads` threads.

    function: one of the functions of `matrix_tree`, `arborescence` and `eisner`, or any other that answers with an
        array or a tuple of arrays whose first axis is the batch, and whose answer for a sentence does not depend on the
        sentences beside it.
    scores: (B, N+1, N+1[, ...]); lengths: (B,).

    The answer is the same to the last bit whatever `n_threads` is, and so are errors. ValueError unless n_threads is an
    integer of 1 or more.
    """
    n_threads = check_n_threads(n_threads)
    chunks = split_batch(lengths, CHUNKS_PER_THREAD * n_threads) if n_threads > 1 else []
    if len(chunks) < 2:
        return function(scores, lengths, single_root=single_root, **options)

    def solve(chunk: slice):
        return function(scores[chunk], lengths[chunk], single_root=single_root, **options)

    try:
        with ThreadPoolExecutor(min(n_threads, len(chunks)), thread_name_prefix="spacy_mtt") as pool:
            answers = list(pool.map(solve, chunks))
    except ValueError:
        # It names a place in a chunk. The whole batch raises it with the place in the batch.
        return function(scores, lengths, single_root=single_root, **options)
    if isinstance(answers[0], tuple):
        return tuple(np.concatenate(parts) for parts in zip(*answers, strict=True))
    return np.concatenate(answers)


def split_batch(lengths: np.ndarray, n_chunks: int) -> list[slice]:
    """Cut a batch into at most `n_chunks` runs of neighbours with about equal work, taken to grow as n^3."""
    if len(lengths) == 0:
        return []
    work = np.cumsum((np.asarray(lengths, dtype=np.float64) + 4.0) ** 3)  # short sentences cost something, too
    shares = work[-1] * np.arange(1, n_chunks) / n_chunks
    # The cut next to each share of the work, from either side.
    after = np.searchsorted(work, shares)
    before_work = np.where(after > 0, work[after - 1], 0.0)
    cuts = np.where(shares - before_work <= work[after] - shares, after, after + 1)
    edges = np.unique(np.concatenate([[0], cuts, [len(lengths)]])).tolist()
    return [slice(start, stop) for start, stop in itertools.pairwise(edges)]


def check_n_threads(n_threads: int) -> int:
    """`n_threads` as an int; ValueError unless it is an integer of 1 or more."""
    try:
        number = operator.index(n_threads)
    except TypeError:
        number = 0
    if number < 1 or isinstance(n_threads, bool):
        raise ValueError(f"n_threads is {n_threads!r}, but must be an integer of 1 or more")
    return number
