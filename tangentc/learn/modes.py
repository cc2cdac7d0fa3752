"""Whether a model is trained or used, and what it consists of."""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Iterator
from typing import Any

from tangentc import tree
from tangentc.learn.trained import parameters, states


def nodes(model: Any) -> Iterator[tuple[str, Any]]:
    """The objects that a model is made of, with their paths, each once."""
    seen: set[int] = set()
    stack: list[tuple[str, Any]] = [("", model)]
    while stack:
        path, node = stack.pop()
        parts = tree.parts_of(node)
        if parts is None or id(node) in seen:
            continue
        seen.add(id(node))
        if not isinstance(node, (list, tuple, dict)):
            yield path, node
        stack += [(f"{path}.{key}" if path else str(key), part) for (_, key), part in reversed(parts)]


def set_training(model: Any, training: bool) -> None:
    """Set the attribute ``training`` of every layer that has one.

    >>> from tangentc import learn
    >>> model = learn.Sequential([learn.Dropout(0.5, None)])
    >>> set_training(model, False)
    >>> model.layers[0].training
    False
    """
    for _, node in nodes(model):
        if hasattr(node, "training"):
            node.training = training


@contextlib.contextmanager
def evaluating(model: Any) -> Iterator[Any]:
    """Inside, no layer of the model is ``training``; behind it, each is what it was.

    >>> from tangentc import learn
    >>> model = learn.Dropout(0.5, None)
    >>> with evaluating(model):
    ...     print(model.training)
    False
    >>> model.training
    True
    """
    before = [(node, node.training) for _, node in nodes(model) if hasattr(node, "training")]
    set_training(model, False)
    try:
        yield model
    finally:
        for node, training in before:
            node.training = training


def summary(model: Any, *inputs: Any) -> str:
    """A table of the layers: path, class, the shape of what each gives for these inputs, and its parameters.

    A layer counts what is in it.  The model is called once, as it is when it is used.

    >>> import numpy as np
    >>> from tangentc import learn
    >>> rng = np.random.default_rng(0)
    >>> print(summary(learn.Sequential([learn.Linear.of(3, 2, rng)]), np.ones((5, 3))))
    layer     class       result  parameters
    --------  ----------  ------  ----------
              Sequential  (5, 2)           8
    layers.0  Linear      (5, 2)           8
    <BLANKLINE>
    8 parameters, 64 B
    """
    found = list(nodes(model))
    results = _results(model, inputs, {id(node): path for path, node in found}) if inputs else {}
    rows = [("layer", "class", "result", "parameters")]
    for path, node in found:
        count = sum(a.size for a in parameters(node).values())
        rows.append((path, type(node).__name__, results.get(path, ""), f"{count:,}"))
    widths = [max(len(row[k]) for row in rows) for k in range(4)]
    rows.insert(1, tuple("-" * w for w in widths))  # type: ignore[arg-type]
    lines = [
        "  ".join([*(cell.ljust(w) for cell, w in zip(row[:3], widths)), row[3].rjust(widths[3])]).rstrip()
        for row in rows
    ]
    own, kept = parameters(model), states(model)
    size = sum(a.nbytes for a in own.values())
    end = f"{sum(a.size for a in own.values()):,} parameters, {_bytes(size)}"
    if kept:
        end += f"; {sum(a.size for a in kept.values()):,} numbers of state"
    return "\n".join([*lines, "", end])


def _results(model: Any, inputs: Any, paths: dict[int, str]) -> dict[str, str]:
    """The shapes of what each layer gives, where its ``__call__`` is seen to return."""
    found: dict[str, str] = {}

    def watch(frame: Any, event: str, value: Any) -> None:
        if event == "return" and frame.f_code.co_name == "__call__":
            owner = frame.f_locals.get(frame.f_code.co_varnames[0])
            if id(owner) in paths and value is not None:
                found[paths[id(owner)]] = _shape(value)

    before = sys.getprofile()
    with evaluating(model):
        sys.setprofile(watch)
        try:
            model(*inputs)
        finally:
            sys.setprofile(before)
    return found


def _shape(value: Any) -> str:
    if isinstance(value, tuple):
        return ", ".join(map(_shape, value))
    return str(tuple(getattr(value, "shape", ())))


def _bytes(size: int) -> str:
    """A number of bytes as people write it.

    >>> _bytes(64), _bytes(45_000_000)
    ('64 B', '45.0 MB')
    """
    power = min(int(math.log(max(size, 1), 1000)), 4)
    return f"{size} B" if not power else f"{size / 1000**power:.1f} {('B', 'kB', 'MB', 'GB', 'TB')[power]}"
