"""Batches on several threads: the same bits, the same errors."""

from __future__ import annotations

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spacy_mtt.inference import arborescence, eisner, matrix_tree
from spacy_mtt.inference.threads import run_batch, split_batch
from tests.strategies import poison_unread, random_scores

FUNCTIONS = {
    f"{face.__name__.rpartition('.')[2]}.{name}": getattr(face, name)
    for face, names in [
        (matrix_tree, ("log_partition", "marginals")),
        (arborescence, ("argmax",)),
        (eisner, ("argmax", "log_partition", "marginals")),
    ]
    for name in names
}
each_function = pytest.mark.parametrize("function", FUNCTIONS.values(), ids=FUNCTIONS)


def padded_batch(lengths, size, scale=3.0):
    """Sentences of these lengths, easy and hard ones, NaN where nothing is read."""
    rng = np.random.default_rng(len(lengths))
    scores = np.full((len(lengths), size + 1, size + 1), np.nan)
    for i, n in enumerate(lengths):
        scores[i, : n + 1, : n + 1] = random_scores(rng, n, 300.0 if i % 5 == 4 else scale)
    scores.setflags(write=False)
    return scores, np.array(lengths, dtype=np.intp)


def as_tuple(answer):
    return answer if isinstance(answer, tuple) else (answer,)


@each_function
@pytest.mark.parametrize("single_root", [False, True])
def test_any_number_of_threads_gives_the_same_bits(function, single_root):
    scores, lengths = padded_batch([3, 12, 0, 1, 25, 7, 7, 2, 18, 5, 30, 4, 9], 32)
    expected = as_tuple(function(scores, lengths, single_root=single_root))
    for n_threads in (1, 2, 3, 64):
        found = as_tuple(run_batch(function, scores, lengths, single_root=single_root, n_threads=n_threads))
        assert len(found) == len(expected)
        for mine, others in zip(found, expected, strict=True):
            assert mine.dtype == others.dtype
            np.testing.assert_array_equal(mine, others, strict=True)


@each_function
@pytest.mark.parametrize("lengths", [[], [4], [0, 0, 0]])
def test_batches_with_little_to_share_out(function, lengths):
    scores, lengths = padded_batch(lengths, 5)
    expected = as_tuple(function(scores, lengths, single_root=True))
    found = as_tuple(run_batch(function, scores, lengths, single_root=True, n_threads=4))
    for mine, others in zip(found, expected, strict=True):
        np.testing.assert_array_equal(mine, others, strict=True)


def test_other_threads_do_the_work():
    threads = set()

    def remember(scores, lengths, *, single_root):
        threads.add(threading.current_thread())
        return lengths + 0

    _, lengths = padded_batch([5] * 12, 5)
    batch = np.zeros((12, 6, 6))
    np.testing.assert_array_equal(run_batch(remember, batch, lengths, single_root=True, n_threads=3), lengths)
    assert threads and threading.current_thread() not in threads
    threads.clear()
    run_batch(remember, batch, lengths, single_root=True)
    assert threads == {threading.current_thread()}


def test_options_reach_the_function():
    def scaled(scores, lengths, *, single_root, by):
        return lengths * by

    lengths = np.arange(9)
    found = run_batch(scaled, np.zeros((9, 9, 9)), lengths, single_root=False, n_threads=2, by=7)
    np.testing.assert_array_equal(found, 7 * lengths)


def test_errors_name_the_place_in_the_batch():
    scores, lengths = padded_batch([4] * 20, 4)
    scores = scores.copy()
    scores[13] = poison_unread(np.full((5, 5), 0.0))
    scores[13, 0] = -1e300  # every tree needs such an arc
    with pytest.raises(ValueError, match=r"^scores\[13\]: every tree needs") as alone:
        matrix_tree.marginals(scores, lengths, single_root=False)
    with pytest.raises(ValueError) as shared:
        run_batch(matrix_tree.marginals, scores, lengths, single_root=False, n_threads=4)
    assert str(shared.value) == str(alone.value)


@pytest.mark.parametrize("n_threads", [0, -1, 1.5, "2", None, True])
def test_bad_numbers_of_threads(n_threads):
    scores, lengths = padded_batch([2, 2], 2)
    with pytest.raises(ValueError, match=r"n_threads is .* must be an integer of 1 or more"):
        run_batch(arborescence.argmax, scores, lengths, single_root=True, n_threads=n_threads)


def test_numpy_integers_are_numbers_of_threads():
    scores, lengths = padded_batch([2, 2, 3], 3)
    run_batch(arborescence.argmax, scores, lengths, single_root=True, n_threads=np.int64(2))


@given(lengths=st.lists(st.integers(0, 60), max_size=40), n_chunks=st.integers(1, 20))
def test_chunks_cover_the_batch_in_order_and_share_the_work(lengths, n_chunks):
    chunks = split_batch(np.array(lengths, dtype=np.intp), n_chunks)
    assert [i for chunk in chunks for i in range(len(lengths))[chunk]] == list(range(len(lengths)))
    assert len(chunks) <= n_chunks and all(chunk.start < chunk.stop for chunk in chunks)
    work = [(n + 4) ** 3 for n in lengths]
    for chunk in chunks:  # no chunk is more than one sentence above its share
        assert sum(work[chunk]) <= sum(work) / n_chunks + max(work[chunk]) + 1e-6
