import numpy as np

def tree_sums(
    scores: np.ndarray,
    lengths: np.ndarray,
    single_root: bool,
    log_z: np.ndarray,
    excess: np.ndarray,
    mu: np.ndarray | None = None,
    *,
    force_wide: bool = False,
    instruction_set: int = -1,
) -> tuple[int, int]: ...
def instruction_sets() -> list[int]: ...
