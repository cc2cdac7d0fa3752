"""What of a model is trained: its arrays of real or complex numbers, but for those that are said to be state."""

from __future__ import annotations

import inspect
from functools import lru_cache
from typing import Annotated, Any

import numpy as np

from tangentc import tree
from tangentc.errors import BadArgument

State = Annotated[Any, "state"]
_NONE: frozenset[str] = frozenset()


def parameters(model: Any) -> dict[str, Any]:
    """The arrays of a model that are trained, by their paths: those themselves, no copies.

    Numbers of Python are settings, and are not trained: a parameter that is one number is an array of rank 0.  An
    attribute that its class annotates with `State` is not trained, nor is what is in it.  An array that stands at two
    paths is one parameter, at the first of them.

    >>> from types import SimpleNamespace
    >>> line = SimpleNamespace(weight=np.ones(3), bias=np.array(0.0), power=2.0)
    >>> list(parameters({"lines": [line]}))
    ['lines.0.weight', 'lines.0.bias']
    """
    return {same[0].path: same[0].leaf for same in _shared(model)}


def states(model: Any) -> dict[str, Any]:
    """The arrays of a model that are kept and not trained, by their paths, such as the averages of `BatchNorm`."""
    return {found.path: found.leaf for found, still in _arrays(model) if still}


def gradients(model: Any, gradient: Any) -> dict[str, Any]:
    """What `grad` gave by the model, by the paths of `parameters`; of an array at two paths the sum of both.

    >>> gradients({"w": np.ones(2), "n": 3}, {"w": np.zeros(2), "n": 0.0})
    {'w': array([0., 0.])}
    """
    return paired(model, gradient)[1]


def paired(model: Any, gradient: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """The `parameters` of a model and the `gradients` beside them, which may be given as those already.

    >>> paired({"by": [np.ones(2)]}, {"by.0": np.zeros(2)})
    ({'by.0': array([1., 1.])}, {'by.0': array([0., 0.])})
    """
    shared = _shared(model)
    arrays = {same[0].path: same[0].leaf for same in shared}
    if isinstance(gradient, dict) and gradient.keys() == arrays.keys():
        found = gradient
    else:
        rest = iter(tree.follow(gradient, [one.way for same in shared for one in same]))
        parts = [[next(rest) for _ in same] for same in shared]
        found = {path: sum(part[1:], start=part[0]) for path, part in zip(arrays, parts)}
    for path, array in arrays.items():
        shape = getattr(found[path], "shape", ())
        if shape != array.shape:
            raise BadArgument(
                f"the gradient of {path} has shape {shape}",
                why=f"the parameter has shape {array.shape}", way_out="give what grad has given by this model",
            )  # fmt: skip
    return arrays, found


def count(model: Any) -> int:
    """How many numbers of a model are trained."""
    return sum(array.size for array in parameters(model).values())


def _shared(model: Any) -> list[list[tree.Found]]:
    """The arrays that are trained, each once, with all its places."""
    places: dict[int, list[tree.Found]] = {}
    for found, still in _arrays(model):
        if not still:
            places.setdefault(id(found.leaf), []).append(found)
    return list(places.values())


def _arrays(model: Any) -> list[tuple[tree.Found, bool]]:
    """The arrays of a model, and whether each is state: in an attribute of which its class says so."""
    out = []
    last: Any = None
    above, said = False, _NONE
    for found in tree.walk(model):
        _, way, nodes, leaf = found
        if isinstance(leaf, (float, complex, np.generic)):
            continue
        if nodes is not last and nodes:
            last, said = nodes, _said(nodes[-1])
            above = any(step[1] in _said(node) for node, step in zip(nodes, way[:-1]) if step[0] == "attribute")
        out.append((found, above or bool(said) and way[-1][1] in said and way[-1][0] == "attribute"))
    return out


def _said(node: Any) -> frozenset[str]:
    cls: Any = type(node)
    return _said_state(cls)


@lru_cache(999)
def _said_state(cls: Any) -> frozenset[str]:
    """The attributes that a class, or one above it, annotates with `State`."""
    said: dict[str, Any] = {}
    for c in reversed(cls.__mro__):
        said.update(inspect.get_annotations(c))
    return frozenset(
        name for name, what in said.items()
        if what is State or isinstance(what, str) and what.split(".")[-1] == "State"
    )  # fmt: skip
