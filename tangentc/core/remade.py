"""How what was made of a function travels to another process: as the function, and what was asked of it.

Emitted code is never pickled: it is written again where it arrives.  Of a function that no module has, as one of a
script, the text of its file goes with it.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from tangentc.core import texts

HELD = ".__wrapped__"


CHECKPOINT = "__tangentc_checkpoint__"  # what a function has that `checkpoint` made
CHECKPOINTED: list[Callable[[Any], Any]] = []  # `tangentc.checkpoint`, put here where it is made


class Travels:
    """A function that pickle does not take as it is, and what gives it where it arrives."""

    def __init__(self, function: Any, way: Callable[..., Any], given: tuple[Any, ...]):
        self.function, self.way, self.given = function, way, given

    def __reduce__(self) -> Any:
        return self.way, self.given


def is_at_home(thing: Any) -> bool:
    """Whether a module that others can import has a thing under its name."""
    return thing.__module__ != "__main__" and found_at(thing.__module__, thing.__qualname__) is thing


def found_at(module: str | None, name: str) -> Any:
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def passed_over(function: Any) -> str:
    """What to say where a class method was given no class: from Python 3.13 on a `classmethod` passes on what its
    function has, and tells it of no class."""
    found = found_at(function.__module__, function.__qualname__)
    held = isinstance(found, MethodType) and hasattr(found.__func__, "__tangentc_given__")
    return "; write @tangentc.differentiable above @classmethod" if held else ""


def travelling(function: Any) -> Any:
    """A function as it travels.  One that a module has only inside the decorated one of its name is found there from
    then on, as ``f.__wrapped__``; one that is in no module goes with its text."""
    if isinstance(function, MethodType):
        inner = travelling(function.__func__)
        with_text = isinstance(inner, Travels) and inner.way is arrived
        return Travels(function, arrived, (function, *inner.given[1:])) if with_text else function
    if not isinstance(function, FunctionType):
        return function
    module, name = function.__module__, function.__qualname__
    found = found_at(module, name)
    if (
        CHECKPOINT in function.__dict__
        and getattr(found, "__code__", None) is function.__code__
        and found is not function
    ):
        inner = travelling(found)
        return Travels(function, CHECKPOINTED[0], (inner,))
    if found is not function and found_at(module, name + HELD) is function:
        function.__qualname__ = name + HELD
    if is_at_home(function):
        return function
    file = function.__code__.co_filename
    text = "".join(texts.lines(file, function.__globals__))
    return Travels(function, arrived, (function, file, text)) if text else function


def arrived(function: Any, file: str, text: str) -> Any:
    """A function that has come with the text of its file, which is that of the functions and classes beside it too."""
    own: Any = getattr(function, "__tangentc_given__", function)  # a decorated method arrives as its class has it
    own = getattr(own, "__func__", own)
    lost = own.__code__.co_filename
    if texts.lines(lost, own.__globals__):
        return function  # it was imported here
    name = texts.bring(text, file)
    beside = [held_in(v) for v in (type(getattr(function, "__self__", None)), *own.__globals__.values())]
    for f in (own, *(f for many in beside for f in many)):
        if isinstance(f, FunctionType) and f.__code__.co_filename == lost:
            f.__code__ = f.__code__.replace(co_filename=name)
    return function


def held_in(value: Any) -> list[Any]:
    """A value, what it decorates, or the functions of a class."""
    if isinstance(value, type):
        return [inspect.unwrap(v) for v in vars(value).values()]
    return [value, getattr(value, "__wrapped__", None)]


def again(make: Callable[..., Any], function: Any, *asked: Any) -> Any:
    """What was made, made anew."""
    return make(function.function if isinstance(function, Travels) else function, *asked)
