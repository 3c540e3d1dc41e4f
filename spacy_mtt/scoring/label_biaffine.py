"""Label scores from head and modifier vectors: a biaffine form with biases, for chosen arcs or for all."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thinc.api import Model
from thinc.types import Floats2d, Floats3d, Floats4d, Ints1d

from .units import Units, by_bucket


def LabelBiaffine(width: int, nO: int | None = None) -> Model:
    """Score the labels of arcs.

        s(h, m, l) = [H_h; 1]' W_l [M_m; 1]

    (Dozat and Manning 2017, equation 3.) W starts at zero. It has two ways to run: `score_arcs`, one arc for each word,
    and `score_all_arcs`. The number of labels nO may be set as late as initialisation; `widened` raises it later.
    """
    return Model("label_biaffine", forward, init=init, dims={"nO": nO, "nI": width}, params={"W": None})


def init(model: Model, X=None, Y=None) -> None:
    side = model.get_dim("nI") + 1
    model.set_param("W", model.ops.alloc3f(model.get_dim("nO"), side, side))


def forward(model: Model, inputs: tuple[Floats2d, Floats2d], is_train: bool) -> tuple[Floats2d, Callable]:
    """Label scores (T, L) of the arcs from the vectors H to the vectors M, both (T, width), row by row."""
    H, M = inputs
    W = model.get_param("W")
    H1, M1 = _with_one(model, H), _with_one(model, M)
    L, side = W.shape[:2]
    HW = (H1 @ W.reshape(L * side, side).T).reshape(-1, L, side)  # (T, L, modifier side)
    scores = (HW @ M1[:, :, None])[:, :, 0]

    def backprop(dY: Floats2d) -> tuple[Floats2d, Floats2d]:
        dM1 = (dY[:, None, :] @ HW)[:, 0]
        dHW = (dY[:, :, None] * M1[:, None, :]).reshape(-1, L * side)
        model.inc_grad("W", (dHW.T @ H1).reshape(W.shape))
        dH1 = dHW @ W.reshape(L * side, side)
        return dH1[:, :-1], dM1[:, :-1]

    return scores, backprop


def score_arcs(
    model: Model, H: Floats2d, M: Floats2d, head_rows: Ints1d, word_rows: Ints1d, is_train: bool
) -> tuple[Floats2d, Callable]:
    """Label scores (n_words, L) of one arc a word, from flat vectors H and M (T, width)."""
    scores, backprop_rows = model((H[head_rows], M[word_rows]), is_train)

    def backprop(dY: Floats2d) -> tuple[Floats2d, Floats2d]:
        xp = model.ops.xp
        dH_rows, dM_rows = backprop_rows(dY)
        dH, dM = xp.zeros_like(H), xp.zeros_like(M)
        model.ops.scatter_add(dH, head_rows, model.ops.xp.ascontiguousarray(dH_rows))
        dM[word_rows] = dM_rows
        return dH, dM

    return scores, backprop


def score_all_arcs(
    model: Model, H: Floats2d, M: Floats2d, units: Units, is_train: bool = True
) -> tuple[Sequence[Floats4d], Callable]:
    """Label scores of every arc, for each bucket (B, N+1, N+1, L), from flat vectors H and M (T, width)."""
    return by_bucket(model.ops.xp, units, H, M, lambda H, M: _bucket_forward(model, H, M), is_train)


def _bucket_forward(model: Model, H: Floats3d, M: Floats3d) -> tuple[Floats4d, Callable]:
    W = model.get_param("W")
    L, side = W.shape[:2]
    B, N1 = H.shape[:2]
    H1, M1 = _with_one(model, H), _with_one(model, M)
    HW = (H1 @ W.reshape(L * side, side).T).reshape(B, N1 * L, side)
    scores = HW @ M1.transpose(0, 2, 1)  # (B, N1 * L, N1)

    def backprop(dY: Floats4d) -> tuple[Floats3d, Floats3d]:
        dS = dY.transpose(0, 1, 3, 2).reshape(B, N1 * L, N1)
        dM1 = dS.transpose(0, 2, 1) @ HW
        dHW = (dS @ M1).reshape(B * N1, L * side)
        model.inc_grad("W", (dHW.T @ H1.reshape(B * N1, side)).reshape(W.shape))
        dH1 = (dHW @ W.reshape(L * side, side)).reshape(H1.shape)
        return dH1[..., :-1], dM1[..., :-1]

    return scores.reshape(B, N1, L, N1).transpose(0, 1, 3, 2), backprop


def _with_one(model: Model, X):
    xp = model.ops.xp
    return xp.concatenate([X, xp.ones_like(X[..., :1])], axis=-1)


def widened(model: Model, nO: int) -> Model:
    """A layer with more labels, nO of them: the new labels start at zero, the old keep their weights."""
    wider = LabelBiaffine(model.get_dim("nI"), nO)
    if model.has_param("W"):
        old = model.get_param("W")
        if nO < len(old):
            raise ValueError(f"label_biaffine has {len(old)} labels and cannot shrink to {nO}")
        wider.initialize()
        weights = wider.get_param("W").copy()
        weights[: len(old)] = old
        wider.set_param("W", weights)
    return wider
