"""A GPU for want of one: arrays that, as cupy's do, refuse to become or to meet numpy arrays unless they are told to.

Within `on_gpu()` thinc takes `Array` for cupy's ndarray, and `StandInOps` are the current ops.
"""

from __future__ import annotations

import operator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import numpy as np
import thinc.optimizers
import thinc.util
from thinc.api import NumpyOps, Ops, get_current_ops, set_current_ops


class Array:
    """An array on the device."""

    __array_ufunc__ = None  # numpy arrays leave binary operators to this class

    def __init__(self, data: np.ndarray):
        self._data = data

    def __array__(self, *args, **kwargs):
        raise TypeError("implicit conversion of an array on the device to a numpy array")

    def get(self) -> np.ndarray:
        """To the host, as cupy's."""
        return self._data.copy()

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # __array_interface__ and the like
            raise AttributeError(name)
        found = getattr(self._data, name)
        return on_device(found) if not callable(found) else calling(found, name)

    def __getitem__(self, key):
        return on_device(self._data[to_host(key)])

    def __setitem__(self, key, value):
        self._data[to_host(key)] = to_host(value)

    def __len__(self):
        return len(self._data)

    def __iter__(self):
        return map(on_device, self._data)

    def __bool__(self):
        return bool(self._data)

    def __float__(self):
        return float(self._data)

    def __int__(self):
        return int(self._data)

    def __index__(self):
        return operator.index(self._data[()])

    def __buffer__(self, flags):
        raise TypeError("a kernel of the host reads an array on the device")


def _binary(name: str):
    def method(self, other):
        return on_device(getattr(self._data, name)(to_host(other)))

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "and", "or", "xor", "matmul"):
    for _kind in ("", "r", "i"):
        setattr(Array, f"__{_kind}{_name}__", _binary(f"__{_kind}{_name}__"))
for _name in ("lt", "le", "gt", "ge", "eq", "ne"):
    setattr(Array, f"__{_name}__", _binary(f"__{_name}__"))
for _name in ("neg", "abs", "invert"):
    setattr(Array, f"__{_name}__", lambda self, _name=_name: on_device(getattr(self._data, f"__{_name}__")()))
Array.__hash__ = None


def on_device(value: Any) -> Any:
    """Arrays and numbers of numpy as arrays on the device, within tuples and lists too; all else as it is."""
    if isinstance(value, (np.ndarray, np.generic)):
        return Array(np.asarray(value))
    if isinstance(value, (tuple, list)):
        return type(value)(map(on_device, value))
    return value


def to_host(value: Any, *, creating: bool = False) -> Any:
    """The other way round; TypeError for an array that is on the host already, unless one is `creating` from it."""
    if isinstance(value, Array):
        return value._data
    if isinstance(value, np.ndarray) and value.ndim and not creating:
        raise TypeError("an array of the host among those on the device")
    if isinstance(value, (tuple, list)):
        return type(value)(to_host(each, creating=creating) for each in value)
    return value


CREATING = ("array", "asarray", "ascontiguousarray")
PLACES = ("split", "array_split")  # of cupy's functions, those that take places from the host


def calling(function: Any, name: str) -> Any:
    """A function of numpy for arrays on the device."""

    def call(*args, **kwargs):
        creating = name in CREATING + PLACES
        args = [to_host(each, creating=creating) for each in args]
        kwargs = {key: to_host(each, creating=creating) for key, each in kwargs.items()}
        return on_device(function(*args, **kwargs))

    return call


class Module:
    """What cupy is to numpy."""

    ndarray = Array

    def __init__(self, module=np):
        self._module = module

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._module, name)
        if isinstance(found, np.ufunc):
            return Ufunc(found)
        if isinstance(found, type) or not callable(found):
            return Module(found) if type(found) is type(np) else found
        return calling(found, name)


class Ufunc:
    """One of numpy's."""

    def __init__(self, function: np.ufunc):
        self._function = function

    def __call__(self, *args, **kwargs):
        return calling(self._function, self._function.__name__)(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return calling(getattr(self._function, name), name)


class StandInOps(Ops):
    """thinc's generic operations on the stand-in."""

    name = "stand-in"
    xp = Module()

    def hash(self, ids, seed):  # thinc's generic one makes them signed, which its two real ones do not
        return on_device(NumpyOps().hash(ids.get(), seed))

    def to_numpy(self, data, *, byte_order=None):
        data = data.get() if isinstance(data, Array) else data
        return data.astype(data.dtype.newbyteorder(byte_order)) if byte_order else data


@contextmanager
def on_gpu():
    """Within this, models are made and arrays lie on the stand-in."""
    previous = get_current_ops()
    with (
        patch.object(thinc.util, "has_cupy", True),
        patch.object(thinc.util, "cupy", StandInOps.xp),
        patch.object(thinc.optimizers, "get_array_ops", lambda array: StandInOps()),  # thinc's would be CupyOps
    ):
        set_current_ops(StandInOps())
        try:
            yield
        finally:
            set_current_ops(previous)
