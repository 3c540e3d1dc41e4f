"""A bidirectional recurrence whose steps are elementwise: all matrix products stand outside the loop over time."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from thinc.api import Model, NumpyOps, glorot_uniform_init, to_numpy
from thinc.types import Floats1d, Floats2d, Ints1d, Ragged

from ._recurrence import scan, scan_back

Scan = tuple[Floats2d, Callable[[Floats2d], Floats2d]]


def ElementwiseRecurrence(nO: int, nI: int) -> Model[Ragged, Ragged]:
    """Read each sequence in both directions, half of the nO channels in each.

        [z; f; o] = W x + b,    c_t = s(f_t) c_(t-1) + (1 - s(f_t)) z_t,    y_t = s(o_t) tanh(c_t)

    with c_0 = 0 and s the logistic function: a quasi-recurrent network (Bradbury et al. 2017, equations 4 and 5) of
    window 1, without activation of z. As gates see x_t alone, one product gives them all, and what is left is a scan.
    The bias of f starts at 1, so that much of a state is kept.

    Sequences end to end, (T, nI) to (T, nO); the first nO / 2 channels run left to right. Numpy arrays in float32 are
    scanned by a compiled kernel, others, such as a GPU's, token by token, all sequences of the batch side by side.
    """
    if nO % 2 or nO <= 0:
        raise ValueError(f"the width of a bidirectional recurrence must be even and above 0, not {nO}")
    return Model("elementwise_recurrence", forward, init=init, dims={"nO": nO, "nI": nI}, params={"W": None, "b": None})


def init(model: Model[Ragged, Ragged], X: Ragged | None = None, Y: Ragged | None = None) -> None:
    nO, nI = model.get_dim("nO"), model.get_dim("nI")
    b = model.ops.alloc1f(3 * nO)
    b[nO : 2 * nO] = 1.0
    model.set_param("W", glorot_uniform_init(model.ops, (3 * nO, nI)))
    model.set_param("b", b)


def forward(model: Model[Ragged, Ragged], Xr: Ragged, is_train: bool) -> tuple[Ragged, Callable]:
    W, X = model.get_param("W"), Xr.dataXd
    gates = X @ W.T
    compiled = isinstance(model.ops, NumpyOps) and gates.dtype == np.float32
    Y, backprop_scan = (compiled_scan if compiled else stepwise_scan)(
        model.ops.xp, gates, model.get_param("b"), Xr.lengths
    )

    def backprop(dYr: Ragged) -> Ragged:
        d_gates = backprop_scan(dYr.dataXd)
        model.inc_grad("W", d_gates.T @ X)
        model.inc_grad("b", d_gates.sum(axis=0))
        return Ragged(d_gates @ W, dYr.lengths)

    return Ragged(Y, Xr.lengths), backprop


def compiled_scan(xp, gates: Floats2d, bias: Floats1d, lengths: Ints1d) -> Scan:
    """Outputs (T, 2h) of gates (T, 6h) without bias (6h,), and the way back to the gates, which are overwritten.

    Of numpy's arrays in float32.
    """
    T, h = len(gates), gates.shape[1] // 6
    gates, lengths = np.ascontiguousarray(gates), np.ascontiguousarray(lengths, dtype=np.int32)
    zero = np.zeros(h, dtype=np.float32)
    C, Y = np.empty((2, T, 2 * h), dtype=np.float32)
    scan(gates, np.ascontiguousarray(bias), lengths, zero, C, Y)

    def backprop(dY: Floats2d) -> Floats2d:
        d_gates = np.empty_like(gates)
        scan_back(gates, lengths, zero, np.empty_like(zero), C, np.ascontiguousarray(dY), d_gates)
        return d_gates

    return Y, backprop


def stepwise_scan(xp, gates: Floats2d, bias: Floats1d, lengths: Ints1d) -> Scan:
    """The same with operations of `xp`, numpy's or cupy's, in any precision; the gates stay as they are."""
    T, h = len(gates), gates.shape[1] // 6
    gates = gates + bias
    rows = [xp.asarray(each) for each in _rows_by_step(to_numpy(lengths))]
    z, f, o = (_by_step(xp, gates[:, 2 * h * i : 2 * h * (i + 1)], rows) for i in range(3))
    f, o = (1 / (1 + xp.exp(-xp.clip(gate, -80, 80))) for gate in (f, o))
    c = xp.zeros_like(z)
    for t in range(len(z)):
        c[t] = (1 - f[t]) * z[t] + (f[t] * c[t - 1] if t else 0)
    squashed = xp.tanh(c)

    def backprop(dY: Floats2d) -> Floats2d:
        dy = _by_step(xp, dY, rows)
        g = dy * o * (1 - squashed**2)
        for t in reversed(range(len(g) - 1)):
            g[t] += f[t + 1] * g[t + 1]
        before = xp.zeros_like(c)
        before[1:] = c[:-1]
        d_gates = (g * (1 - f), g * (before - z) * f * (1 - f), dy * squashed * o * (1 - o))
        return xp.concatenate([_end_to_end(xp, each, rows, T) for each in d_gates], axis=1)

    return _end_to_end(xp, o * squashed, rows, T), backprop


def _rows_by_step(lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """For each step and sequence, (L, B), the row that each direction reads: T, a row of zeros, after the end."""
    steps = np.arange(lengths.max(initial=0))[:, None]
    ends = np.cumsum(lengths)
    over = steps >= lengths
    return np.where(over, ends[-1:], ends - lengths + steps), np.where(over, ends[-1:], ends - 1 - steps)


def _by_step(xp, flat: Floats2d, rows):
    """(T, 2h) to (L, B, 2h), either direction in the order in which it reads; zeros after the end of a sequence."""
    h = flat.shape[1] // 2
    padded = xp.concatenate([flat, xp.zeros_like(flat[:1], shape=(1, 2 * h))])
    return xp.concatenate([padded[rows[0], :h], padded[rows[1], h:]], axis=2)


def _end_to_end(xp, by_step, rows, T: int) -> Floats2d:
    """The inverse of `_by_step`."""
    h = by_step.shape[2] // 2
    flat = xp.empty((T + 1, 2 * h), dtype=by_step.dtype)
    flat[rows[0], :h] = by_step[:, :, :h]
    flat[rows[1], h:] = by_step[:, :, h:]
    return flat[:T]
