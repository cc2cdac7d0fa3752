"""Trees: what containers, dataclasses and objects hold, as a list of leaves and back.

Lists, tuples, dicts, NamedTuples, dataclasses and objects of plain classes are nodes.  A leaf is a real or complex
number, or an array of such; all else (integers, text, None, functions, generators) belongs to the structure, so that
what `grad` gives by a tree has a leaf wherever the tree has one.  With ``every`` all that has no parts is a leaf.  The
path of a leaf is written with dots, ``layers.0.weight``.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple

import numpy as np

from tangentc import runtime
from tangentc.core.values import is_array, is_object
from tangentc.errors import BadArgument
from tangentc.runtime.objects import _module

Steps = tuple[tuple[str, Any], ...]


@dataclass(frozen=True, eq=False)
class Structure:
    """What a tree is besides its leaves; ``paths`` are those of the leaves, in their order."""

    root: Any
    paths: tuple[str, ...]

    def __repr__(self) -> str:
        return f"Structure({', '.join(self.paths)})"


class Found(NamedTuple):
    """A leaf with its path, the steps to it, and the nodes that these start from."""

    path: str
    way: Steps
    nodes: tuple[Any, ...]
    leaf: Any


class _Leaf:
    """The place of a leaf in a structure."""


@dataclass(frozen=True, eq=False)
class _Node:
    like: Any  # a node of this class, whose parts stand in ``parts``
    parts: tuple[tuple[tuple[str, Any], Any], ...]


LEAF = _Leaf()


def flatten(value: Any, every: bool = False) -> tuple[list[Any], Structure]:
    """The leaves of a tree, and its structure; raises `BadArgument` if the tree is a part of itself.

    >>> leaves, structure = flatten({"w": np.ones(2), "by": [0.5, "x"]})
    >>> leaves, structure
    ([array([1., 1.]), 0.5], Structure(w, by.0))
    """
    leaves: list[Any] = []
    paths: list[str] = []

    def taken(v: Any, way: Steps, nodes: tuple[Any, ...]) -> Any:
        parts = parts_of(v)
        if is_leaf(v) or every and parts is None:
            leaves.append(v)
            paths.append(dotted(way))
            return LEAF
        if parts is None:
            return v
        _open(v, way, nodes)
        within = (*nodes, v)
        return _Node(v, tuple([(step, taken(part, (*way, step), within)) for step, part in parts]))

    root = taken(value, (), ())
    return leaves, Structure(root, tuple(paths))


def walk(value: Any, every: bool = False) -> list[Found]:
    """The leaves of a tree with all that leads to them, where no structure is needed; raises as `flatten` does.

    >>> [(found.path, found.leaf) for found in walk({"w": 1.0, "by": [0.5, "x"]})]
    [('w', 1.0), ('by.0', 0.5)]
    """
    out: list[Found] = []

    def go(v: Any, path: str, way: Steps, nodes: tuple[Any, ...]) -> None:
        parts = parts_of(v)
        if parts is None:
            if every or is_leaf(v):
                out.append(Found(path, way, nodes, v))
            return
        _open(v, way, nodes)
        start, within = path + "." if way else "", (*nodes, v)
        for step, part in parts:
            if type(part) is np.ndarray and part.dtype.kind in "fc":
                out.append(Found(f"{start}{step[1]}", (*way, step), within, part))
            elif every or type(part) not in _NO_LEAVES:
                go(part, f"{start}{step[1]}", (*way, step), within)

    go(value, "", (), ())
    return out


def _open(value: Any, way: Steps, nodes: tuple[Any, ...]) -> None:
    """Raise `BadArgument` where a node stands in itself."""
    for node in nodes:
        if node is value:
            raise BadArgument(
                f"{dotted(way)} is a {type(value).__name__} that holds itself",
                why="such a tree has no end", way_out="keep the reference back to the whole out of it",
            )  # fmt: skip


def unflatten(structure: Structure, leaves: Any) -> Any:
    """A tree of this structure with other leaves; raises `BadArgument` if these are too few or too many.

    >>> unflatten(flatten({"w": 1.0, "by": (0.5, "x")})[1], [2.0, 3.0])
    {'w': 2.0, 'by': (3.0, 'x')}
    """
    given = list(leaves)
    if len(given) != len(structure.paths):
        raise BadArgument(
            f"{len(given)} leaves are given for a tree that has {len(structure.paths)}",
            why=f"its leaves are {_some(structure.paths)}", way_out="give one for each",
        )  # fmt: skip
    rest = iter(given)

    def built(node: Any) -> Any:
        if node is LEAF:
            return next(rest)
        if not isinstance(node, _Node):
            return node
        return rebuilt(node.like, [(step, built(part)) for step, part in node.parts])

    return built(structure.root)


def items(value: Any, every: bool = False) -> list[tuple[str, Any]]:
    """The leaves of a tree with their paths.

    >>> items({"w": 1.0, "by": [0.5, "x"]})
    [('w', 1.0), ('by.0', 0.5)]
    >>> items({"w": 1.0, "by": [0.5, "x"]}, every=True)
    [('w', 1.0), ('by.0', 0.5), ('by.1', 'x')]
    """
    return [(found.path, found.leaf) for found in walk(value, every)]


def map(f: Callable[..., Any], value: Any, *others: Any, every: bool = False) -> Any:
    """A tree of what ``f`` gives for each leaf, and for what stands at its path in the others.

    The others have what the first one has, and may have more; a gradient has it.  Raises `BadArgument` where one
    has nothing at the path of a leaf.

    >>> map(lambda w, g: w - 0.5 * g, {"w": 1.0, "b": (2.0,)}, {"w": 1.0, "b": [4.0]})
    {'w': 0.5, 'b': (0.0,)}
    """
    leaves, structure = flatten(value, every)
    beside = [along(value, other, every) for other in others]
    return unflatten(structure, [f(*leaf) for leaf in zip(leaves, *beside)])


def along(value: Any, other: Any, every: bool = False) -> list[Any]:
    """What stands in ``other`` at the path of each leaf of ``value``.

    >>> along({"w": 1.0, "b": (2.0,)}, {"b": [4.0], "w": 3.0})
    [3.0, 4.0]
    """
    return follow(other, ways(value, every))


def ways(value: Any, every: bool = False) -> list[Steps]:
    """The steps to each leaf: an attribute, a key of a dict or a place in a list, each with its kind."""
    return [found.way for found in walk(value, every)]


def follow(value: Any, ways: Iterable[Steps]) -> list[Any]:
    """What stands at the end of each of these ways; raises `BadArgument` where nothing does.

    >>> follow({"w": 1.0, "by": [0.5, "x"]}, [(("key", "by"), ("item", 1))])
    ['x']
    """
    found = []
    start, here, whole = None, value, True  # the node that the last way has come by, if one stands there
    for way in ways:
        if way[:-1] != start:
            start = way[:-1]
            here, whole = _there(value, start)
        part = _part(here, way[-1]) if way and whole else _NOTHING
        found.append(_follow(value, way) if part is _NOTHING else part)
    return found


_NOTHING = object()


def _there(value: Any, way: Steps) -> tuple[Any, bool]:
    """What stands at the end of these steps, and whether something does."""
    for step in way:
        value = _part(value, step)
        if value is _NOTHING:
            return value, False
    return value, True


def _part(value: Any, step: tuple[str, Any]) -> Any:
    """What a step leads to."""
    kind, key = step
    if kind == "item":
        return value[key] if isinstance(value, (list, tuple)) and key < len(value) else _NOTHING
    if isinstance(value, dict):
        return value.get(key, _NOTHING)
    return getattr(value, key, _NOTHING) if kind != "key" else _NOTHING


def ravel(value: Any) -> tuple[Any, Callable[[Any], Any]]:
    """The real and complex numbers of a tree as one vector, and the function that puts a vector back into the tree.

    The vector has the common dtype of the leaves; each leaf gets its own back.

    >>> vector, back = ravel({"W": np.eye(2), "b": 3.0, "n": 5})
    >>> vector
    array([1., 0., 0., 1., 3.])
    >>> back(2 * vector)["b"]
    6.0
    """
    leaves, structure = flatten(value)
    xp = next((_module(leaf) for leaf in leaves if is_array(leaf)), np)
    flat = [xp.ravel(xp.asarray(leaf)) for leaf in leaves]
    vector = xp.concatenate(flat) if flat else np.zeros(0)
    ends = np.cumsum([part.size for part in flat], dtype=int)

    def back(v: Any) -> Any:
        if np.shape(v) != vector.shape:
            raise BadArgument(
                f"the vector of a tree has shape {np.shape(v)}",
                why=f"the tree has {vector.size} numbers", way_out=f"give an array of shape {vector.shape}",
            )  # fmt: skip
        cut = zip(leaves, flat, ends)
        return unflatten(structure, [_like(leaf, v[end - part.size : end]) for leaf, part, end in cut])

    return vector, back


def _like(leaf: Any, numbers: Any) -> Any:
    """These numbers in the form of a leaf: its shape, and its dtype or its class."""
    if is_array(leaf):
        return numbers.reshape(leaf.shape).astype(leaf.dtype)
    return type(leaf)(numbers[0])


def is_leaf(value: Any) -> bool:
    """Whether a value is a real or complex number, or an array of such.

    >>> is_leaf(1.0), is_leaf(np.ones(2)), is_leaf(1), is_leaf(np.arange(2))
    (True, True, False, False)
    """
    kind = _kind(value)
    return kind is _NUMBER or kind is _ARRAY and value.dtype.kind in "fc"


def parts_of(value: Any) -> list[tuple[tuple[str, Any], Any]] | None:
    """The parts of a node, each behind the step that leads to it; None for what has none.

    >>> parts_of({"w": 1.0}), parts_of("w")
    ([(('key', 'w'), 1.0)], None)
    """
    kind = _kind(value)
    if type(kind) is tuple:
        held = getattr(value, "__dict__", ())
        names = dict.fromkeys([*[n for n in kind if hasattr(value, n)], *held]) if kind else held
        return [(("attribute", name), getattr(value, name)) for name in names]
    if kind is dict:
        return [(("key", key), part) for key, part in value.items()]
    if kind is list:
        return [(("item", k), part) for k, part in enumerate(value)]
    if kind is _FIELDS:
        return [(("field", name), part) for name, part in zip(value._fields, value)]
    return None


_ARRAY, _NUMBER, _FIELDS, _OTHER = "array", "number", "fields", "other"
_NO_LEAVES = frozenset({int, bool, str, type(None)})
_KINDS: dict[type, Any] = {}


def _kind(value: Any) -> Any:
    """What a value is to a tree, by its class; of an object the attributes that its class declares."""
    cls = type(value)
    kind = _KINDS.get(cls)
    if kind is None:
        if len(_KINDS) > 999:
            _KINDS.clear()  # a session that defines classes again and again holds on to none
        kind = _KINDS[cls] = _kind_of(value, cls)
    return kind


def _kind_of(value: Any, cls: type) -> Any:
    if is_array(value):
        return _ARRAY
    if isinstance(value, (float, complex, np.inexact)):
        return _NUMBER
    if isinstance(value, dict):
        return dict
    if isinstance(value, (list, tuple)):
        return _FIELDS if isinstance(value, tuple) and hasattr(cls, "_fields") else list
    if not is_object(value):
        return _OTHER
    if is_dataclass(cls):
        return tuple(f.name for f in fields(cls))
    slots = [getattr(c, "__slots__", ()) for c in cls.__mro__]
    return tuple(n for s in slots for n in ((s,) if isinstance(s, str) else s))


def rebuilt(like: Any, parts: list[tuple[tuple[str, Any], Any]]) -> Any:
    """A node as ``like`` of other parts; of an object the constructor is not called."""
    cls, values = type(like), [part for _, part in parts]
    if isinstance(like, tuple):
        return cls(*values) if hasattr(like, "_fields") else cls(values)
    if isinstance(like, dict):
        new = {} if cls is dict else copy.copy(like)
        new.update((key, part) for (_, key), part in parts)
        return new
    if isinstance(like, list):
        return values if cls is list else cls(values)
    made = runtime.blank(cls)  # type: ignore[no-untyped-call]
    for (_, name), part in parts:
        object.__setattr__(made, name, part)
    return made


def _follow(value: Any, way: Steps) -> Any:
    """What stands at the end of these steps; a dict may have paths of attributes for keys, as a gradient has."""
    here, done = value, 0
    while done < len(way):
        found = next(_next(here, way[done:]), None)
        if found is None:
            raise BadArgument(
                f"there is nothing at {dotted(way)} in the other tree",
                why=f"it has no {dotted(way[: done + 1])}", way_out="give trees with the same paths",
            )  # fmt: skip
        here, taken = found
        done += taken
    return here


def _next(value: Any, way: Steps) -> Iterator[tuple[Any, int]]:
    """What the first step leads to, and how many steps that took."""
    kind, key = way[0]
    if isinstance(value, dict) and kind in ("attribute", "field"):
        for n in range(1, len(way) + 1):
            if dotted(way[:n]) in value:
                yield value[dotted(way[:n])], n
    part = _part(value, way[0])
    if part is not _NOTHING:
        yield part, 1


def put(value: Any, way: Steps, leaf: Any) -> None:
    """Put a leaf at the end of these steps into a tree, in place; raises `BadArgument` where a tuple is to change.

    >>> tree = {"by": [0.5, 2.0]}
    >>> put(tree, ways(tree)[1], 3.0)
    >>> tree
    {'by': [0.5, 3.0]}
    """
    here, (kind, key) = _follow(value, way[:-1]), way[-1]
    if isinstance(here, tuple):
        raise BadArgument(
            f"{dotted(way)} cannot be changed", why="it stands in a tuple", way_out="keep it in a list or in an array"
        )
    if kind == "attribute":
        object.__setattr__(here, key, leaf)
    else:
        here[key] = leaf


def dotted(way: Steps) -> str:
    """The path of some steps as text."""
    return ".".join([str(key) for _, key in way])


def _some(paths: tuple[str, ...]) -> str:
    return ", ".join(paths[:8]) + ", ..." * (len(paths) > 8) if paths else "none"
