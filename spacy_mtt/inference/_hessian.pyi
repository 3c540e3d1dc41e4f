import numpy as np

def marginal_tangents(
    scores: np.ndarray,
    direction: np.ndarray,
    lengths: np.ndarray,
    projective: bool,
    single_root: bool,
    tangents: np.ndarray,
    *,
    force_wide: bool = False,
) -> int: ...
