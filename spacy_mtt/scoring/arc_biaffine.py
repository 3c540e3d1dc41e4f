"""Arc scores from head and modifier vectors: a biaffine form with terms of the distance."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from thinc.api import Model
from thinc.types import Floats2d, Floats3d

from .distance import N_BINS, distance_bins
from .units import Units, by_bucket

InT = tuple[Floats2d, Floats2d, Units]
OutT = Sequence[Floats3d]


def ArcBiaffine(width: int, *, distance: bool = True) -> Model[InT, OutT]:
    """Score every arc of every unit.

        s(h, m) = H_h' W M_m + H_h' b + d[bin] + H_h' u[bin] + M_m' v[bin]

    (Dozat and Manning 2017, equation 6, with a scalar and two vectors for each bin of the signed distance h - m.)
    All parameters start at zero, so that training starts from the uniform distribution over trees. Without
    `distance` the last three terms are left out. Input: head vectors and modifier vectors (T, width) in
    the flat layout of the units. Output: for each bucket (B, N+1, N+1).
    """
    names = "Wbduv" if distance else "Wb"
    return Model("arc_biaffine", forward, init=init, dims={"nI": width}, params=dict.fromkeys(names))


def init(model: Model[InT, OutT], X=None, Y=None) -> None:
    width = model.get_dim("nI")
    shapes = {"W": (width, width), "b": (width,), "d": (N_BINS,), "u": (N_BINS, width), "v": (N_BINS, width)}
    for name in model.param_names:
        model.set_param(name, model.ops.alloc(shapes[name]))


def forward(model: Model[InT, OutT], inputs: InT, is_train: bool) -> tuple[OutT, Callable]:
    H, M, units = inputs
    return by_bucket(model.ops.xp, units, H, M, lambda H, M: _bucket_forward(model, H, M), is_train)


def _bucket_forward(model: Model[InT, OutT], H: Floats3d, M: Floats3d) -> tuple[Floats3d, Callable]:
    W, b = model.get_param("W"), model.get_param("b")
    HW = H @ W
    S = HW @ M.transpose(0, 2, 1)  # (B, N+1, N+1) over [head, modifier]
    S += (H @ b)[:, :, None]
    add_distance_gradient = None
    if "d" in model.param_names:
        add_distance_gradient = _add_distance(model, H, M, S)

    def backprop(dS: Floats3d) -> tuple[Floats3d, Floats3d]:
        width = W.shape[0]
        dHW = dS @ M
        model.inc_grad("W", H.reshape(-1, width).T @ dHW.reshape(-1, width))
        by_head = dS.sum(axis=2)
        model.inc_grad("b", H.reshape(-1, width).T @ by_head.reshape(-1))
        dH = dHW @ W.T + by_head[:, :, None] * b
        dM = dS.transpose(0, 2, 1) @ HW
        if add_distance_gradient is not None:
            add_distance_gradient(dS, dH, dM)
        return dH, dM

    return S, backprop


def _add_distance(model: Model[InT, OutT], H: Floats3d, M: Floats3d, S: Floats3d) -> Callable:
    """Add the distance terms to S; return what adds their gradients to dH and dM."""
    d, u, v = model.get_param("d"), model.get_param("u"), model.get_param("v")
    xp = model.ops.xp
    bins = xp.asarray(distance_bins(S.shape[1]))
    S += d[bins]
    S += xp.take_along_axis(H @ u.T, bins[None], axis=2)
    S += xp.take_along_axis(M @ v.T, bins.T[None], axis=2).transpose(0, 2, 1)

    def add_gradient(dS: Floats3d, dH: Floats3d, dM: Floats3d) -> None:
        by_head = xp.zeros((*dS.shape[:2], N_BINS), dtype=dS.dtype)
        by_modifier = xp.zeros_like(by_head)
        for bin_ in range(N_BINS):
            in_bin = dS * (bins == bin_)
            by_head[:, :, bin_] = in_bin.sum(axis=2)
            by_modifier[:, :, bin_] = in_bin.sum(axis=1)
        width = u.shape[1]
        rows = by_head.reshape(-1, N_BINS)
        model.inc_grad("d", rows.sum(axis=0))
        model.inc_grad("u", rows.T @ H.reshape(-1, width))
        model.inc_grad("v", by_modifier.reshape(-1, N_BINS).T @ M.reshape(-1, width))
        dH += by_head @ u
        dM += by_modifier @ v

    return add_gradient
