"""What containers and objects hold, and which of it is memory."""

import enum
import sys

import numpy as np


def _memory_in(value):
    """The arrays and containers in a value, each with the object that owns its memory."""
    if isinstance(value, np.ndarray):
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        yield id(owner), value
    elif isinstance(value, (list, tuple, dict)):
        if not isinstance(value, tuple):
            yield id(value), value
        for part in value.values() if isinstance(value, dict) else value:
            yield from _memory_in(part)
    elif _is_object(value) and not callable(value):
        yield id(value), value
        for part in _attributes(value).values():
            yield from _memory_in(part)


def _is_object(x):
    return (hasattr(x, "__dict__") or hasattr(x, "__slots__")) and not isinstance(x, enum.Enum)


def _attributes(x):
    """The attributes of an object with their names, those in slots too."""
    held = {}
    for cls in type(x).__mro__:
        slots = vars(cls).get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        held.update({n: getattr(x, n) for n in names if n not in ("__dict__", "__weakref__") and hasattr(x, n)})
    return {**held, **getattr(x, "__dict__", {})}


def _is_array(x):
    return isinstance(x, (np.ndarray, np.generic)) or hasattr(type(x), "__cuda_array_interface__")


def _has_memory(x):
    """Whether it is an array, and no number: on the device, these are arrays of rank 0."""
    return isinstance(x, np.ndarray) or _is_array(x) and np.ndim(x) > 0


def _module(x):
    """The module that makes arrays beside this one: CuPy for one on the device, else NumPy."""
    return sys.modules["cupy"] if hasattr(type(x), "__cuda_array_interface__") else np


def _entries(holder):
    """The items of a list, of a dict, or of the attributes of an object, with their keys."""
    if isinstance(holder, list):
        return list(enumerate(holder))
    return list((holder if isinstance(holder, dict) else _attributes(holder)).items())


def _memory(x):
    """The array whose memory an array is a part of."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def _place(x):
    """Where in its memory an array lies."""
    memory = _memory(x)
    start = x.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return memory.shape, memory.strides, start, x.shape, x.strides
