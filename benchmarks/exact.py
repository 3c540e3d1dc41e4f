"""log Z and marginals by LU in as many digits as it takes: slow, independent of the package, right."""

from __future__ import annotations

import mpmath
import numpy as np


def exact_sums(scores: np.ndarray, single_root: bool) -> tuple[float, np.ndarray]:
    """(log Z, marginals (n+1, n+1)) of non-projective trees by Koo et al. (2007), sections 3.1 and 3.2.

    The working precision doubles until neither log Z nor any marginal changes in double precision and all columns of
    marginals sum to 1. A tree must exist.
    """
    digits, before = 60, None
    while True:
        with mpmath.workdps(digits):
            try:
                found = _sums_by_inverse(scores, single_root)
            except (ZeroDivisionError, ValueError):  # singular in this precision
                found = None
        if before is not None and found is not None and _agree(before, found):
            return found
        before, digits = found, 2 * digits


def _agree(before, found) -> bool:
    (log_z, marginals), (new_log_z, new_marginals) = before, found
    same = abs(log_z - new_log_z) <= 1e-15 * max(1.0, abs(new_log_z)) and np.allclose(
        marginals, new_marginals, rtol=1e-13, atol=1e-17
    )
    return same and np.allclose(new_marginals[:, 1:].sum(axis=0), 1.0, rtol=0, atol=1e-13)


def _sums_by_inverse(scores, single_root):
    n = len(scores) - 1
    is_arc = np.isfinite(scores) & ~np.eye(n + 1, dtype=bool)
    weight = [
        [mpmath.exp(mpmath.mpf(scores[h, m])) if m and is_arc[h, m] else mpmath.mpf(0) for m in range(n + 1)]
        for h in range(n + 1)
    ]
    laplacian = mpmath.zeros(n)
    for m in range(1, n + 1):
        for h in range(1, n + 1):
            laplacian[h - 1, m - 1] = -weight[h][m]
        laplacian[m - 1, m - 1] = mpmath.fsum(weight[h][m] for h in range(1, n + 1))
        if not single_root:
            laplacian[m - 1, m - 1] += weight[0][m]
        else:
            laplacian[0, m - 1] = weight[0][m]
    log_z = mpmath.log(abs(mpmath.det(laplacian)))
    inverse = mpmath.inverse(laplacian)
    marginals = np.zeros((n + 1, n + 1))
    for m in range(1, n + 1):
        marginals[0, m] = float(weight[0][m] * inverse[m - 1, 0 if single_root else m - 1])
        for h in range(1, n + 1):
            own = inverse[m - 1, m - 1] if not (single_root and m == 1) else mpmath.mpf(0)
            other = inverse[m - 1, h - 1] if not (single_root and h == 1) else mpmath.mpf(0)
            marginals[h, m] = float(weight[h][m] * (own - other))
    return float(log_z), marginals
