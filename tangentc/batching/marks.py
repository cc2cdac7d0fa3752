"""What of a value is batched.

A mark is False for what is the same for all examples, True for a number or an array with the batch along its first
axis, and a tuple for a container: one mark for each item of its type.  `EACH` stands for a list of the values of the
examples, which need not be alike: arrays of different lengths, objects.

>>> from tangentc.core.values import type_of
>>> whole(type_of((2.0, None))), join(False, (False, True)), join((True,), EACH)
((True, False), (False, True), 'each')
"""

from __future__ import annotations

from tangentc.core.types import Array, Known, Scalar, Sequence, Tuple, Type, is_container, is_slice

EACH = "each"
Mark = bool | str | tuple  # type: ignore[type-arg]


def is_batched(mark: Mark) -> bool:
    """Whether anything of a value is another one in each example."""
    return any(map(is_batched, mark)) if isinstance(mark, tuple) else bool(mark)


def join(a: Mark, b: Mark) -> Mark:
    """The mark of what is one value or another."""
    if EACH in (a, b):
        return EACH
    if not isinstance(a, tuple) or not isinstance(b, tuple):
        return a or b
    return tidy(tuple(map(join, a, b))) if len(a) == len(b) else EACH


def tidy(parts: tuple[Mark, ...]) -> Mark:
    """The mark of a container whose items have these."""
    if EACH in parts:
        return EACH
    return parts if any(map(is_batched, parts)) else False


def whole(t: Type) -> Mark:
    """The mark of a value all of whose numbers are batched."""
    if isinstance(t, Scalar):
        return EACH if t.dtype == "str" else True
    if isinstance(t, Array):
        return True
    if isinstance(t, Known):
        return False
    if not is_container(t) or getattr(t, "or_none", False) or is_slice(t) or isinstance(t, Sequence) and t.kind is dict:
        return EACH
    if isinstance(t, Tuple) and t.cls is not None and any("__init__" in vars(c) for c in t.cls.__mro__[:-2]):
        return EACH  # it is not made of its items alone
    return tidy(tuple(map(whole, t.items)))


def parts(mark: Mark, t: Type) -> tuple[Mark, ...]:
    """The marks of the items of a container."""
    return mark if isinstance(mark, tuple) else (mark,) * len(t.items)  # type: ignore[union-attr]


def place(t: Type, key: object) -> int | None:
    """Which item of the type of a container a key or an attribute stands for, None where any may be meant."""
    if isinstance(t, Sequence) and len(t.items) == 1:
        return 0
    names = getattr(t, "fields", getattr(t, "keys", None))
    if names is None and type(key) is int and -len(t.items) <= key < len(t.items):  # type: ignore[union-attr]
        return key % len(t.items)  # type: ignore[union-attr]
    if names is None and isinstance(key, str):
        names = getattr(getattr(t, "cls", None), "_fields", ())
    return names.index(key) if names is not None and isinstance(key, str) and key in names else (
        next((k for k, n in enumerate(names or ()) if type(n) is type(key) and n == key), None)
    )  # fmt: skip
