"""Bins of the signed distance between head and modifier."""

from __future__ import annotations

import numpy as np

# The lower edge of each bin of |head - modifier|; the last bin is open. Each exists once for either sign.
EDGES = (1, 2, 3, 4, 5, 6, 10, 20)
ROOT_BIN = 2 * len(EDGES)
N_BINS = ROOT_BIN + 1


def distance_bins(size: int) -> np.ndarray:
    """The bin of every arc among `size` nodes: (size, size) ints in 0..N_BINS-1 over [head, modifier].

    Bins 0..7 are heads to the left of their modifier at the distances 1, 2, 3, 4, 5, 6-9, 10-19, 20 or more;
    8..15 the same to the right; the last is for arcs from the root, whose position means nothing.
    """
    distance = np.arange(1 - size, size)  # of one diagonal each
    by_length = np.searchsorted(EDGES, np.abs(distance), side="right") - 1
    of_diagonal = np.where(distance > 0, by_length + len(EDGES), by_length)
    of_diagonal[size - 1 : size] = 0  # no arc: any valid bin
    bins = np.lib.stride_tricks.sliding_window_view(of_diagonal[::-1], size)[::-1].copy()
    bins[0] = ROOT_BIN
    return bins
