"""The axes that are mapped: ``in_axes`` and ``out_axes`` over the parts of arguments and results.

Axes are an int or None for a value and all that it holds, or a container of such, as in JAX: a tuple or a list for a
tuple or a list, a dict for a dict or for the attributes of an object.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tangentc.core.types import Array, Dict, Scalar, Sequence, Struct, Tuple, Type, is_array_of_a_class, is_container
from tangentc.core.values import attributes_of, is_array, is_object
from tangentc.errors import BadArgument

Axes = Any


def mapped(value: Any, axes: Axes, name: str) -> Iterator[tuple[str, int, int]]:
    """The arrays in a value that are mapped: what each is called, its axis, and how long that is."""
    if axes is None:
        return
    parts = _parts(value)
    if parts is not None:
        for key, part, path in parts:
            yield from mapped(
                part, axes if isinstance(axes, int) else of_part(axes, key, len(parts), name), name + path
            )
        return
    if not isinstance(axes, int):
        raise BadArgument(
            f"{name} has axes {axes!r}, and is no container", why="a container of axes goes with a container of arrays",
            way_out="give it an int, or None",
        )  # fmt: skip
    if is_array(value):
        if not -value.ndim <= axes < value.ndim:
            raise BadArgument(
                f"{name} has no axis {axes} to be mapped along: its shape is {value.shape}",
                why="each example is a part of it along that axis",
                way_out="say None for it in in_axes, or another axis",
            )  # fmt: skip
        yield name, axes, value.shape[axes]
    elif isinstance(value, (int, float, complex, np.generic)) and not isinstance(value, bool):
        raise BadArgument(
            f"{name} is a number, and is to be mapped along axis {axes}", why="a number has no axes",
            way_out="say None for it in in_axes, or give an array with a number for each example",
        )  # fmt: skip


def _parts(value: Any) -> list[tuple[Any, Any, str]] | None:
    """The parts of a container, with their keys and how these are written; None if it is none."""
    if isinstance(value, dict):
        return [(k, v, f"[{k!r}]") for k, v in value.items()]
    if isinstance(value, (list, tuple)):
        return [(k, v, f"[{k}]") for k, v in enumerate(value)]
    return [(n, getattr(value, n), f".{n}") for n in attributes_of(value)] if is_object(value) else None


def of_part(axes: Axes, key: Any, count: int, name: str) -> Axes:
    """The axes of a part of a container."""
    if axes is None or isinstance(axes, int):
        return axes
    if isinstance(axes, dict) and key in axes:
        return axes[key]
    if isinstance(axes, (list, tuple)) and len(axes) == count and isinstance(key, int):
        return axes[key]
    raise BadArgument(
        f"axes {axes!r} do not fit {name}", why="a container of axes has an entry for each part of the container",
        way_out="give an int for all parts, or an entry for each: an axis, or None",
    )  # fmt: skip


def resolved(t: Type, axes: Axes, name: str) -> Axes:
    """The axes of a value by its type: an int or None for each leaf, in tuples as the items of types are."""
    if axes is None:
        return None
    if is_container(t) and not (isinstance(t, Tuple) and t.cls is slice):
        keys: Any = range(len(t.items))
        if isinstance(t, (Dict, Struct)):
            keys = t.keys if isinstance(t, Dict) else t.fields
        if isinstance(t, Sequence) and len(t.items) == 1:
            count = t.length or 0
            each = {repr(resolved(t.items[0], of_part(axes, k, count, name), name)) for k in range(count)}
            if len(each) > 1:
                raise BadArgument(
                    f"the items of {name} are mapped along several axes", why="the list is one value to the compiler",
                    way_out="give a tuple",
                )  # fmt: skip
            return (resolved(t.items[0], of_part(axes, 0, count, name), name),) if count else None
        found = tuple(
            resolved(i, of_part(axes, k, len(t.items), name), name) for k, i in zip(keys, t.items, strict=True)
        )
        return found if any(f is not None for f in found) else None
    if is_array_of_a_class(t):
        raise BadArgument(
            f"{name} is an array of a class of its own", why="its operations are not those of NumPy's arrays",
            way_out="give np.asarray of it",
        )  # fmt: skip
    if isinstance(t, Array):
        return axes % len(t.shape) if t.shape else None
    return axes if isinstance(t, Scalar) and name == "" else None


def of_result(t: Type, axes: Axes) -> Axes:
    """The axes of a result by the type of it in one example."""
    if is_container(t):
        keys: Any = range(len(t.items))
        if isinstance(t, (Dict, Struct)):
            keys = t.keys if isinstance(t, Dict) else t.fields
        if axes is None or isinstance(axes, int):
            return tuple(of_result(i, axes) for i in t.items)
        if isinstance(t, Sequence) and len(t.items) == 1:
            return (of_result(t.items[0], of_part(axes, 0, len(axes), "the result")),)
        return tuple(
            of_result(i, of_part(axes, k, len(t.items), "the result")) for k, i in zip(keys, t.items, strict=True)
        )  # fmt: skip
    if axes is None or isinstance(axes, int):
        rank = len(t.shape) + 1 if isinstance(t, Array) else 1
        if axes is None or not isinstance(t, (Array, Scalar)):
            return axes
        if not -rank <= axes < rank:
            raise BadArgument(
                f"the result has no axis {axes}: with the batch it has {rank}",
                why="out_axes says where in the result the batch is",
                way_out=f"give an axis from {-rank} to {rank - 1}",
            )  # fmt: skip
        return axes % rank
    raise BadArgument(
        f"out_axes has {axes!r} for a result that is no container",
        why="a container of axes goes with a container of results", way_out="give it an int, or None",
    )  # fmt: skip
