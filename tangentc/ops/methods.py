"""The methods of Python's containers and NumPy's arrays: which of them change their object, and what they give."""

from __future__ import annotations

import collections
import functools
from dataclasses import dataclass

import numpy as np

from tangentc.ops.table import Op, having, say


@dataclass(frozen=True)
class Method:
    """What is known of one method of one class."""

    owner: type
    name: str
    changes: bool = False  # it changes its object
    gives_item: bool = False  # it gives an item of its object, or of what the object held
    keeps: bool = False  # its object holds its argument afterwards
    view: bool = False  # its result is memory of its object, or may be


def _of(owner: type, names: str, **facts: bool) -> list[Method]:
    return [Method(owner, name, **facts) for name in names.split()]


METHODS = (
    *_of(list, "append insert", changes=True, keeps=True),
    *_of(list, "extend remove clear sort reverse", changes=True),
    *_of(list, "pop", changes=True, gives_item=True),
    *_of(collections.deque, "append appendleft insert", changes=True, keeps=True),
    *_of(collections.deque, "extend extendleft remove clear reverse rotate", changes=True),
    *_of(collections.deque, "pop popleft", changes=True, gives_item=True),
    *_of(dict, "setdefault", changes=True, gives_item=True, keeps=True),
    *_of(dict, "pop popitem", changes=True, gives_item=True),
    *_of(dict, "update clear", changes=True),
    *_of(dict, "get", gives_item=True),
    *_of(set, "add", changes=True, keeps=True),
    *_of(set, "pop", changes=True, gives_item=True),
    *_of(set, "remove discard clear update intersection_update difference_update symmetric_difference_update",
         changes=True),
    *_of(np.ndarray, "fill sort put resize partition setfield setflags itemset", changes=True),
    *_of(np.ndarray, "byteswap", changes=True, view=True),
    *_of(np.ndarray, "reshape ravel transpose swapaxes squeeze diagonal real imag view", view=True),
    *_of(np.ndarray, "conj conjugate astype", view=True),  # which may give the array itself
)  # fmt: skip

_OTHERWISE = {"compress"}  # the function takes the array elsewhere
say(np.conjugate, methods=("conj",))


@functools.cache
def function_of(name: str) -> Op | None:
    """The function that a method of an array is, which is called with the array and then the method's arguments; None
    if there is none, as the method changes its array, or as the function's arguments are others.

    >>> function_of("dot") is np.dot, function_of("sort")
    (True, None)
    """
    if name in names(np.ndarray, changes=True) or name in _OTHERWISE:
        return None
    meant = (record.function for record in having("methods") if name in record.methods)
    return next(meant, None) or getattr(np, name, None)


def names(*owners: type, **facts: bool) -> frozenset[str]:
    """The names of the methods of some classes, of all if none is given, of which the facts hold.

    >>> sorted(names(dict, changes=True, gives_item=True))
    ['pop', 'popitem', 'setdefault']
    """
    found = (m for m in METHODS if not owners or m.owner in owners)
    return frozenset(m.name for m in found if all(getattr(m, fact) == holds for fact, holds in facts.items()))
