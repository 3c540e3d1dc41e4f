"""Shared by the tests of Eisner's chart: calls for one sentence, inside-outside in 50-digit arithmetic."""

from __future__ import annotations

from collections import defaultdict

import mpmath
import numpy as np
import pytest

from spacy_mtt.inference import eisner

ROOTS = pytest.mark.parametrize("single_root", [False, True], ids=["multi_root", "single_root"])
PATHS = pytest.mark.parametrize("wide_only", [False, True], ids=["any_path", "wide_path"])


def intp(*lengths: int) -> np.ndarray:
    return np.array(lengths, dtype=np.intp)


def argmax(scores, single_root):
    return eisner.argmax(scores[None], intp(len(scores) - 1), single_root=single_root)[0]


def inside_outside(scores, single_root, wide_only=False):
    """(log Z, excess, mu) of one sentence, after a look at what every answer must satisfy."""
    log_z, excess, mu = eisner._inside_outside(
        scores[None], intp(len(scores) - 1), single_root, with_marginals=True, wide_only=wide_only
    )
    assert not (np.isnan(log_z).any() or np.isnan(excess).any() or np.isnan(mu).any())
    assert (mu >= 0).all() and (mu <= 1 + 1e-12).all()
    assert (mu[0][~(scores > -np.inf)] == 0.0).all()  # also where NaN says that no arc exists
    return log_z[0], excess[0], mu[0]


def column_maxima(scores):
    return np.nanmax(np.where(np.isnan(scores), -np.inf, scores)[:, 1:], axis=0)


def exact_inside_outside(scores, single_root):
    """(log Z, excess, mu) in 50-digit arithmetic: spans by width, the adjoint by a tape of all products."""
    n = len(scores) - 1
    first = 1 if single_root else 0
    value, adjoint, tape = defaultdict(mpmath.mpf), defaultdict(mpmath.mpf), []

    def add(target, *factors):
        term = mpmath.fprod(value[factor] for factor in factors)
        if term:
            value[target] += term
            tape.append((target, factors))

    with mpmath.workdps(50):
        for h, m in zip(*np.nonzero(scores > -np.inf), strict=True):
            value["weight", h, m] = mpmath.exp(mpmath.mpf(scores[h, m]))
        for i in range(n + 1):
            value["right", i, i] = value["left", i, i] = mpmath.mpf(1)
        for width in range(1, n + 1):
            for i in range(first, n + 1 - width):
                j = i + width
                for r in range(i, j):
                    add(("between", i, j), ("right", i, r), ("left", r + 1, j))
                add(("arc", i, j), ("weight", i, j), ("between", i, j))
                add(("arc", j, i), ("weight", j, i), ("between", i, j))
                for r in range(i + 1, j + 1):
                    add(("right", i, j), ("arc", i, r), ("right", r, j))
                for r in range(i, j):
                    add(("left", i, j), ("left", i, r), ("arc", j, r))
        if single_root:
            for r in range(1, n + 1):
                add("Z", ("weight", 0, r), ("left", 1, r), ("right", r, n))
        else:
            add("Z", ("right", 0, n))
        mu = np.zeros((n + 1, n + 1))
        z = value["Z"]
        if not z:
            return -np.inf, -np.inf, mu
        adjoint["Z"] = 1 / z
        for target, factors in reversed(tape):
            for k, factor in enumerate(factors):
                others = (value[other] for other in factors[:k] + factors[k + 1 :])
                adjoint[factor] += adjoint[target] * mpmath.fprod(others)
        for h, m in zip(*np.nonzero(scores > -np.inf), strict=True):
            mu[h, m] = value["weight", h, m] * adjoint["weight", h, m]
        log_z = mpmath.log(z)
        excess = log_z - mpmath.fsum(mpmath.mpf(best) for best in column_maxima(scores))
        return float(log_z), float(excess), mu


def assert_agree(found, expected, where):
    (log_z, excess, mu), (true_log_z, true_excess, true_mu) = found, expected
    if np.isneginf(true_log_z):
        assert np.isneginf(log_z) and np.isneginf(excess) and not mu.any(), where
        return
    assert abs(log_z - true_log_z) <= 1e-12 * max(1.0, abs(true_log_z)), where
    assert abs(excess - true_excess) <= 1e-12 * max(1.0, abs(true_excess)), where
    np.testing.assert_allclose(mu, true_mu, rtol=0, atol=1e-12, err_msg=str(where))
