"""The table of operations: one record a function.

`say` writes facts into the records of functions, `every` asks for all functions of which a fact holds.  Rules and
definitions register into the records too.  A function is found by what it is, never by its name.

    >>> from tangentc.ops import arrays
    >>> np.unique in every("new"), known_of(np.reshape).view
    (True, True)
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
from collections.abc import Callable, Iterator, Set
from dataclasses import dataclass
from typing import Any

import numpy as np

Op = Callable[..., object]


@dataclass
class Operation:
    """What is known of one function or operator; a fact that nobody has said does not hold."""

    function: Op
    pure: bool = False  # calling it twice is the same as calling it once, and leaves no trace
    elementwise: bool = False  # its result has one entry for each entry of the broadcast arguments
    keeps_shape: bool = False  # its result has the shape of the first argument, whatever the others are
    # ---- memory
    view: bool = False  # its result is memory of its first argument, or may be
    may_copy: bool = False  # of a view: for some arguments it is memory of its own
    by_layout: bool = False  # of one that may copy: the order in which the entries lie decides
    own_order: bool = False  # its result lies in an order of its own, in which its definition gives it too
    read_only: bool = False  # of a view: it cannot be written, or an entry of it is several of the argument's
    may_share: bool = False  # its result is no view of its argument for all arguments, and for some it is one
    new: bool = False  # its result is no memory of any argument, which its rule would say if it had one
    compact: bool = False  # its result is an array in the order of C
    holds: bool = False  # its result holds its arguments, or is one of them, or shares what they hold
    puts_together: bool = False  # its result is a new container of its arguments
    allocates: bool = False  # two calls give two things, though they hold the same
    deep_copy: bool = False  # its result is its argument with copies of all that it holds
    changes: bool = False  # it changes the container that comes first
    only_settings: bool = False  # it makes a context manager that changes settings and puts them back, and no more
    # ---- arguments
    takes_items: bool = False  # its rule sees the items of a list or a tuple one by one
    joins_arrays: bool = False  # for its list of arrays one array may stand
    asks_form: bool = False  # of its first argument it asks the shape and the dtype alone
    # ---- lengths
    exact_adjoint: bool = False  # of arrays of at most two axes: the adjoint of an argument has its very shape
    uniform: bool = False  # where the adjoint of its result is one number for all entries, its rule takes that
    # ---- cost
    free: bool = False  # computing it again costs nothing
    cheap: bool = False  # of numbers, computing it again costs no more than saving it
    cheap_on_arrays: bool = False  # of arrays too
    # ---- the type of its result, where NumPy is not asked: a function of the types of the arguments, or a type
    # ---- the shape of its result, an array of the common dtype of its arguments, or of a dtype of its own: the option
    # that gives it, or a function of the shapes of the arguments, with None for a length that only the run knows, or
    # both, the function for where the option is not known
    shaped: Any = None
    dtype: str = ""
    result: Any = None
    result_of_known: Any = None  # of arguments whose types are known
    # ---- values
    turns_complex: bool = False  # of a real argument its result may be complex
    distinct_places: bool = False  # its result is an index that names no place twice
    # ---- what stands for it
    methods: tuple[str, ...] = ()  # the methods of arrays that mean it, beside those of NumPy that have its name
    rule: Any = None  # its derivative
    definition: Any = None  # what it computes, in other operations
    kernel: object = None  # its spelling in compiled code
    routine: str = ""  # the branch-free function of `tangentc.runtime.elementary` that computes it
    batching: Any = None  # how it is written for a batch of examples

    @functools.cached_property
    def signature(self) -> inspect.Signature | None:
        """Its parameters, None where it does not say them."""
        try:
            return inspect.signature(self.function)
        except (TypeError, ValueError):
            return None


PLACES = tuple(f.name for f in dataclasses.fields(Operation))[1:]
FACTS = tuple(f.name for f in dataclasses.fields(Operation) if f.type == "bool")
_RECORDS: dict[Op, Operation] = {}
_EVERY: dict[str, set[Op]] = {fact: set() for fact in FACTS}


def say(*functions: Op, **facts: object) -> None:
    """Write facts into the records of functions.  Raises `TypeError` for one that no record has a place for."""
    if wrong := [fact for fact in facts if fact not in PLACES]:
        raise TypeError(f"{wrong[0]} is no fact of an operation; these are: {', '.join(PLACES)}")
    for function in functions:
        record = record_of(function)
        for fact, holds in facts.items():
            setattr(record, fact, holds)
            if fact in _EVERY:
                (_EVERY[fact].add if holds else _EVERY[fact].discard)(function)


def every(fact: str) -> Set[Op]:
    """The functions of which a fact holds, also those of which it will be said later."""
    return _EVERY[fact]


def having(part: str) -> Iterator[Operation]:
    """The records in which a part, as ``rule``, is written."""
    return (record for record in list(_RECORDS.values()) if getattr(record, part))


@functools.lru_cache(maxsize=512)
def place_of(function: Op, name: str) -> int | None:
    """Where a function takes a parameter by position; None if it has none of this name."""
    signature = known_of(function).signature
    names = list(signature.parameters) if signature is not None else []
    return names.index(name) if name in names else None


def existing(*names: str) -> list[Op]:
    """The functions of these names that the installed NumPy has."""
    return [getattr(np, name) for name in names if hasattr(np, name)]


def record_of(function: Op) -> Operation:
    """The record of a function, to be written to."""
    return _RECORDS.setdefault(function, Operation(function))


def known_of(function: Op) -> Operation:
    """The record of a function, of which nothing may be known."""
    try:
        return _RECORDS.get(function) or Operation(function)
    except TypeError:  # an object that has no hash
        return Operation(function)
