"""Hypothesis strategies for arc scores and trees, named after what they draw."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays


def score_matrices(
    n: int | None = None, max_n: int = 5, scale: float = 10.0, masked: bool = False
) -> st.SearchStrategy[np.ndarray]:
    """Arc scores (n+1, n+1) in [-scale, scale]; with `masked`, some arcs are -inf. Unread entries are NaN."""

    def of_size(n: int) -> st.SearchStrategy[np.ndarray]:
        finite = st.floats(-scale, scale, allow_nan=False, width=64)
        elements = st.one_of(finite, st.just(-np.inf)) if masked else finite
        return arrays(np.float64, (n + 1, n + 1), elements=elements).map(poison_unread)

    sizes = st.just(n) if n is not None else st.integers(1, max_n)
    return sizes.flatmap(of_size)


def poison_unread(scores: np.ndarray) -> np.ndarray:
    """Put NaN where no arc exists (column 0, diagonal): reading it would show."""
    scores = scores.copy()
    scores[:, 0] = np.nan
    np.fill_diagonal(scores, np.nan)
    return scores


def random_scores(rng: np.random.Generator, n: int, scale: float = 1.0, masked: float = 0.0) -> np.ndarray:
    """Normal arc scores (n+1, n+1) of standard deviation `scale`, a share `masked` of the arcs at -inf."""
    scores = rng.normal(size=(n + 1, n + 1)) * scale
    scores[rng.random(scores.shape) < masked] = -np.inf
    return poison_unread(scores)
