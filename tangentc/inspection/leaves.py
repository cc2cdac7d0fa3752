"""The numbers that a value is made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from tangentc import tree
from tangentc.core.values import is_array


def flatten(x: Any) -> Iterator[tuple[str, np.ndarray]]:
    """The numeric leaves of a value, each with its path.  Raises `BadArgument` for an object that holds itself."""
    for _, way, _, leaf in tree.walk(x):
        on_device = is_array(leaf) and not isinstance(leaf, np.ndarray)
        yield "".join(f"[{key!r}]" for _, key in way), np.asarray(leaf.get() if on_device else leaf)


def rebuild(x: Any, leaves: Iterator[np.ndarray]) -> Any:
    """A value of the structure of ``x`` with other leaves."""
    own, structure = tree.flatten(x)
    return tree.unflatten(structure, [_alike(leaf, next(leaves)) for leaf in own])


def _alike(leaf: Any, given: np.ndarray) -> Any:
    """A number or an array of the kind of a leaf."""
    if is_array(leaf):
        return given.astype(leaf.dtype) if isinstance(leaf, np.ndarray) else type(leaf)(given)
    if isinstance(leaf, np.generic):
        return type(leaf)(given)
    return complex(given) if isinstance(leaf, complex) else float(given)
