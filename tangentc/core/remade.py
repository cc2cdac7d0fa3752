"""How what was made of a function travels to another process: as the function, and what was asked of it.

Emitted code is never pickled: it is written again where it arrives.  Of a function that no module has, as one of a
script, the text of its file goes with it.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType, MethodType
from typing import Any

from tangentc.core import texts

HELD = ".__wrapped__"


class WithText:
    """A function, and the text of the file that it stands in."""

    def __init__(self, function: Any, file: str, text: str):
        self.function, self.file, self.text = function, file, text

    def __reduce__(self) -> Any:
        return arrived, (self.function, self.file, self.text)


def is_at_home(thing: Any) -> bool:
    """Whether a module that others can import has a thing under its name."""
    return thing.__module__ != "__main__" and found_at(thing.__module__, thing.__qualname__) is thing


def found_at(module: str | None, name: str) -> Any:
    found: Any = sys.modules.get(module or "")
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


def travelling(function: Any) -> Any:
    """A function as it travels.  One that a module has only inside the decorated one of its name is found there from
    then on, as ``f.__wrapped__``; one that is in no module goes with its text."""
    if isinstance(function, MethodType):
        inner = travelling(function.__func__)
        return WithText(function, inner.file, inner.text) if isinstance(inner, WithText) else function
    if not isinstance(function, FunctionType):
        return function
    module, name = function.__module__, function.__qualname__
    if found_at(module, name) is not function and found_at(module, name + HELD) is function:
        function.__qualname__ = name + HELD
    if is_at_home(function):
        return function
    file = function.__code__.co_filename
    text = "".join(texts.lines(file, function.__globals__))
    return WithText(function, file, text) if text else function


def arrived(function: Any, file: str, text: str) -> Any:
    """A function that has come with the text of its file, which is that of the functions and classes beside it too."""
    own: FunctionType = getattr(function, "__func__", function)
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
        return [getattr(v, "__wrapped__", v) for v in vars(value).values()]
    return [value, getattr(value, "__wrapped__", None)]


def again(make: Callable[..., Any], function: Any, *asked: Any) -> Any:
    """What was made, made anew."""
    return make(function.function if isinstance(function, WithText) else function, *asked)
