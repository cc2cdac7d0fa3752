"""Samples: values of a type, to run an operation on."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from tangentc.core.lengths import Dim
from tangentc.core.types import Array, Dict, Known, Opaque, Optional, Scalar, Struct, Tuple, Type, is_generator
from tangentc.core.types import Sequence as List


class NoSample(Exception):
    """Nothing says how a value of this type is made."""


class Sampler:
    """Makes samples.  Each number and array among them is another one, so that nothing is empty, or the same, by
    accident."""

    def __init__(self, sizes: dict[str, int], values: int, as_axis: bool):
        self.sizes, self.values, self.as_axis = sizes, values, as_axis
        self.count = 0  # of numbers and arrays

    def size(self, d: Dim) -> int:
        return d if isinstance(d, int) else d.where(self.sizes[d.symbol])

    def of(self, t: Type) -> object:
        match t:
            case Scalar(dtype, weak, value):
                return self.number(dtype, weak) if value is None else self.size(value)
            case Array(dtype, shape):
                return self.array(dtype, tuple(map(self.size, shape)))
            case Known(const) if isinstance(const.value, range):
                return range(2 + self.values)  # any range is meant
            case Optional(type=item):
                return self.of(item)
            case Tuple(items, cls) if cls is slice:
                return slice(*map(self.of, items))
            case Tuple(items, cls):
                values = tuple(map(self.of, items))
                return values if cls is None else cls(*values)
            case List(kind, items, length) if items or length is not None:
                count = (11, 18, 5, 1)[self.values] if length is None else length
                return kind([self.of(t.item(k) if length is not None else items[0]) for k in range(count)])
            case Dict(keys, items):
                return {k: self.of(item) for k, item in zip(keys, items, strict=True)}
            case Struct(cls, fields, items) if dataclasses.is_dataclass(cls):
                return cls(**{f: self.of(item) for f, item in zip(fields, items, strict=True)})
            case Known(const):
                return const.value
            case Opaque() if is_generator(t):
                return np.random.default_rng(0) if t.cls is np.random.Generator else np.random.RandomState(0)
        raise NoSample  # nothing says how an object of any other class is made

    def number(self, dtype: str, weak: bool) -> object:
        if dtype == "str":
            return "abcd"[self.values]
        kind = np.dtype(dtype).kind
        if kind == "b":
            number: complex = self.values % 2 == 0
        elif kind in "fc":
            number = (0.7, 1.7, 2.6, -1.3)[self.values] + (0.09, 1.9, 0.0, 5.0)[self.values] * self.count
            number = complex(number, 0.2) if kind == "c" else number
        else:
            number = -(self.values % 2) if self.as_axis else (2, 3, 5, 4)[self.values]
        self.count += 1
        return number if weak else np.dtype(dtype).type(number)

    def array(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        key = dtype, shape, self.values, self.count % 8
        self.count += 1
        if key not in _ARRAYS:
            if len(_ARRAYS) > 2000:
                _ARRAYS.clear()
            _ARRAYS[key] = _entries(*key)
        return _ARRAYS[key]


_ARRAYS: dict[tuple[str, tuple[int, ...], int, int], np.ndarray] = {}


def _entries(dtype: str, shape: tuple[int, ...], values: int, count: int) -> np.ndarray:
    """An array that is read only.  The matrices of the first values are symmetric and positive definite."""
    kind, size = np.dtype(dtype).kind, math.prod(shape)
    places = np.arange(size).reshape(shape)
    if kind in "fc":
        made = (0.25 + 0.01 * count, 0.3 + 0.01 * (places % (5 + count)), 0, 0.45 * (-1.0) ** places + 0.01 * count)
        array = np.full(shape, made[values]).astype(dtype)
        if len(shape) >= 2 and values != 2:
            n = min(shape[-2:])
            array[..., range(n), range(n)] += 2
    elif kind == "b":
        marked = min((1, 2, 0, size // 2)[values], size) if size > 1 else 1 - values % 2
        array = places < marked
    elif kind in "iu":
        array = np.asarray((0 * places, 0 * places + 1, places % 2, 0 * places)[values]).astype(dtype)
    else:
        array = np.full(shape, values % 2, dtype)
    array.setflags(write=False)
    return array
