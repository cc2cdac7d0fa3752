"""What of a model is trained: its arrays of real or complex numbers, but for those that are said to be state."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import numpy as np

from tangentc import tree
from tangentc.errors import BadArgument

State = Annotated[Any, "state"]


def parameters(model: Any) -> dict[str, Any]:
    """The arrays of a model that are trained, by their paths: those themselves, no copies.

    Numbers of Python are settings, and are not trained: a parameter that is one number is an array of rank 0.  An
    attribute that its class annotates with `State` is not trained, nor is what is in it.  An array that stands at two
    paths is one parameter, at the first of them.

    >>> class Line:
    ...     def __init__(self):
    ...         self.weight, self.bias, self.power = np.ones(3), np.array(0.0), 2.0
    >>> list(parameters({"lines": [Line()]}))
    ['lines.0.weight', 'lines.0.bias']
    """
    return {paths[0]: array for paths, array in _shared(model)}


def states(model: Any) -> dict[str, Any]:
    """The arrays of a model that are kept and not trained, by their paths, such as the averages of `BatchNorm`."""
    return {path: leaf for path, leaf, still in _arrays(model) if still}


def gradients(model: Any, gradient: Any) -> dict[str, Any]:
    """What `grad` gave by the model, by the paths of `parameters`; of an array at two paths the sum of both.

    >>> gradients({"w": np.ones(2), "n": 3}, {"w": np.zeros(2), "n": 0.0})
    {'w': array([0., 0.])}
    """
    beside = dict(zip(tree.flatten(model)[1].paths, tree.along(model, gradient)))
    found = {}
    for paths, array in _shared(model):
        parts = [beside[path] for path in paths]
        total = parts[0] if len(parts) == 1 else sum(parts[1:], start=parts[0])
        if np.shape(total) != array.shape:
            raise BadArgument(
                f"the gradient of {paths[0]} has shape {np.shape(total)}",
                why=f"the parameter has shape {array.shape}", way_out="give what grad has given by this model",
            )  # fmt: skip
        found[paths[0]] = total
    return found


def count(model: Any) -> int:
    """How many numbers of a model are trained."""
    return sum(array.size for array in parameters(model).values())


def _shared(model: Any) -> list[tuple[list[str], Any]]:
    """The arrays that are trained, each once, with all its paths."""
    found: dict[int, tuple[list[str], Any]] = {}
    for path, array, still in _arrays(model):
        if not still:
            found.setdefault(id(array), ([], array))[0].append(path)
    return list(found.values())


def _arrays(model: Any) -> list[tuple[str, Any, bool]]:
    """The arrays of a model with their paths, and whether each one is state."""
    out = []
    for way, (path, leaf) in zip(tree.ways(model), tree.items(model)):
        if hasattr(leaf, "shape") and not isinstance(leaf, np.generic):
            out.append((path, leaf, _is_state(model, way)))
    return out


def _is_state(model: Any, way: Any) -> bool:
    here = model
    for kind, key in way:
        if kind == "attribute" and key in _said_state(type(here)):
            return True
        here = getattr(here, key) if kind in ("attribute", "field") else here[key]
    return False


def _said_state(cls: type) -> set[str]:
    """The attributes that a class, or one above it, annotates with `State`."""
    said: dict[str, Any] = {}
    for c in reversed(cls.__mro__):
        said.update(inspect.get_annotations(c))
    return {
        name for name, what in said.items()
        if what is State or isinstance(what, str) and what.split(".")[-1] == "State"
    }  # fmt: skip
