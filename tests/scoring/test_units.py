import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from spacy_mtt.scoring.distance import N_BINS, ROOT_BIN, distance_bins
from spacy_mtt.scoring.units import Units, gather, scatter


def units_of_lengths(lengths: list[int]) -> Units:
    """One doc per unit, every token a word."""
    return Units(np.arange(len(lengths)), [np.arange(n) for n in lengths], lengths)


@given(st.lists(st.integers(1, 60), min_size=1, max_size=30))
def test_buckets_hold_every_unit_once(lengths):
    units = units_of_lengths(lengths)
    seen = np.concatenate([bucket.units for bucket in units.buckets])
    assert sorted(seen) == list(range(len(lengths)))
    for bucket in units.buckets:
        assert bucket.lengths.tolist() == [lengths[u] for u in bucket.units]
        assert bucket.rows.shape == bucket.inside.shape == (len(bucket.units), bucket.lengths.max() + 1)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=20))
def test_gather_and_scatter_are_inverse(lengths):
    units = units_of_lengths(lengths)
    flat = np.arange(len(units.is_root) * 2, dtype=float).reshape(-1, 2)
    back = np.full_like(flat, -1)
    for bucket in units.buckets:
        (padded,) = gather(np, bucket, flat)
        assert (padded[:, 0] == flat[units.starts[bucket.units]]).all()
        scatter(np, bucket, back, padded)
    assert (back == flat).all()


def test_flat_layout():
    units = Units(np.array([0, 0, 2]), [np.array([0, 2]), np.array([3]), np.array([1])], [4, 0, 2])
    assert units.starts.tolist() == [0, 3, 5]
    assert units.word_rows.tolist() == [1, 2, 4, 6]
    assert units.token_rows.tolist() == [0, 2, 3, 5]
    assert units.n_words == 4


def test_distance_bins():
    bins = distance_bins(40)
    assert (bins[0, 1:] == ROOT_BIN).all()
    assert bins[1, 2] == 0 and bins[2, 1] == 8  # the neighbour to the left as head, and to the right
    assert bins[1, 6] == 4 and bins[1, 7] == bins[1, 10] == 5 and bins[1, 11] == bins[1, 20] == 6 and bins[1, 21] == 7
    assert bins[30, 1] == 15
    assert bins.min() == 0 and bins.max() == N_BINS - 1
