"""Weights that move lazily against weights that move as written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from spacy_mtt.learning import lazy_weights
from spacy_mtt.learning.lazy_weights import LazyWeights


@settings(max_examples=60, deadline=None)
@given(
    steps=st.lists(st.tuples(st.integers(0, 3), st.floats(-2, 2), st.sampled_from([0.0, 0.1, 0.9])), max_size=12),
    begin=st.integers(0, 4),
    smallest=st.sampled_from([1e-3, 0.5, 1.0]),
)
def test_steps_decay_and_average_are_those_of_plain_vectors(steps, begin, smallest):
    initial = np.array([1.0, -2.0, 0.5, 0.0])
    lazy, plain, visited = LazyWeights(initial), initial.copy(), []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lazy_weights, "SMALLEST_SCALE", smallest)
        for number, (slot, amount, decay) in enumerate(steps):
            if number == begin:
                lazy.keep_average()

            def add(weights, factor, slot=slot, amount=amount):
                weights[slot] += factor * amount

            lazy.step(add, decay=decay)
            plain *= 1 - decay
            plain[slot] += amount
            if number >= begin:
                visited.append(plain.copy())
    scale, vector = lazy.scaled
    np.testing.assert_allclose(scale * vector, plain, atol=1e-12)
    assert lazy.squared_norm == pytest.approx(plain @ plain)
    np.testing.assert_allclose(lazy.mean(), np.mean(visited, axis=0) if visited else plain, atol=1e-10)


def test_decay_must_leave_something():
    with pytest.raises(ValueError, match=r"the learning rate times L2 is 1.5, but must be in \[0, 1\)"):
        LazyWeights(np.zeros(2)).step(lambda weights, factor: None, decay=1.5)
