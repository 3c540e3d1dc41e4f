"""Dropout at a rate of its own."""

import numpy as np
import pytest
from scipy.stats import binomtest

from spacy_mtt.scoring.dropout import FixedDropout, random_mask


@pytest.mark.parametrize("rate", [0.0, 0.1, 0.33, 0.5, 0.9])
def test_masks_have_the_rate_and_the_mean_1(rate):
    np.random.seed(0)
    mask = random_mask((300, 200), rate)
    assert mask.dtype == np.float32 and mask.shape == (300, 200)
    assert binomtest(int((mask == 0).sum()), mask.size, rate).pvalue > 1e-3
    kept = mask[mask != 0]
    assert (kept == kept[0]).all() and kept[0] * (1 - rate) == pytest.approx(1, abs=2e-4)


def test_gradients_pass_where_values_did():
    np.random.seed(0)
    model = FixedDropout(0.4)
    X, dY = np.random.normal(size=(2, 50, 30)).astype(np.float32)
    Y, backprop = model(X, True)
    np.testing.assert_allclose(backprop(dY), dY * (Y / X), rtol=1e-5)
    assert 0 < (Y == 0).mean() < 1
    np.testing.assert_array_equal(model.predict(X), X)


def test_the_seed_of_numpy_sets_the_mask():
    masks = []
    for seed in (1, 1, 2):
        np.random.seed(seed)
        masks.append(random_mask((4, 5), 0.5))
    np.testing.assert_array_equal(masks[0], masks[1])
    assert (masks[0] != masks[2]).any()


def test_a_rate_of_one_is_refused():
    with pytest.raises(ValueError, match="at least 0 and below 1, not 1"):
        FixedDropout(1)
