"""The value and the gradient of a loss by its model, which keeps what the loss computes for its state."""

from __future__ import annotations

import inspect
import linecache
import zlib
from collections.abc import Callable
from typing import Any

import tangentc
from tangentc import tree
from tangentc.learn.trained import states


def value_and_grad(loss: Callable, has_aux: bool = False, **options: Any) -> Slope:
    """As `tangentc.value_and_grad` by the first argument, the model, whose state is moved as the loss moves it.

    A gradient changes nothing: what `BatchNorm` keeps of its batches would be lost.  This one hands on what the arrays
    become that the model's classes annotate with `State`, as a further result, and writes it into them.  ``options``
    are those of `tangentc.value_and_grad`.  ``source_for(model, *batch)`` gives the emitted text.

    >>> import numpy as np
    >>> from tangentc import learn
    >>> model = learn.Sequential([learn.BatchNorm.of(1)])
    >>> def loss(model, x):
    ...     return np.mean(model(x) ** 2)
    >>> value, gradient = learn.value_and_grad(loss)(model, np.array([[1.0], [3.0]]))
    >>> model.layers[0].running_mean
    array([0.2])
    """
    return Slope(loss, has_aux, options)


class Slope:
    """What `value_and_grad` gives."""

    def __init__(self, loss: Callable, has_aux: bool, options: dict[str, Any]):
        self.loss, self.has_aux, self.options = loss, has_aux, options
        self.made: dict[tuple[str, ...], Any] = {}

    def __call__(self, model: Any, *batch: Any) -> Any:
        kept = states(model)
        value, gradient = self._for(model, tuple(kept))(model, *batch)
        if not kept:
            return value, gradient
        value, new = value[:-1], value[-1]
        for array, now in zip(kept.values(), new):
            array[...] = now
        return (value if self.has_aux else value[0]), gradient

    def source_for(self, model: Any, *batch: Any) -> str:
        """The emitted text for arguments like these."""
        text: str = self._for(model, tuple(states(model))).source_for(model, *batch)
        return text

    def _for(self, model: Any, paths: tuple[str, ...]) -> Any:
        if paths not in self.made:
            loss = _with_state(self.loss, model, self.has_aux) if paths else self.loss
            self.made[paths] = tangentc.value_and_grad(loss, has_aux=self.has_aux or bool(paths), **self.options)
        return self.made[paths]


def _with_state(loss: Callable, model: Any, has_aux: bool) -> Any:
    """The loss, with what the state of the model becomes as a further result: a function with a text of its own."""
    names = list(inspect.signature(loss).parameters)
    first, given = names[0], ", ".join(names)
    kept = states(model)
    parts = "".join(
        f"        {first}{_spelled(way)},\n" for way, path in zip(tree.ways(model), tree.flatten(model)[1].paths)
        if path in kept
    )  # fmt: skip
    name = given_name if (given_name := getattr(loss, "__name__", "")).isidentifier() else "loss"
    whole = f"{name}_and_state"
    value = "value, aux, (" if has_aux else "value, ("
    text = (
        f"def {whole}({given}):\n    value{', aux' * has_aux} = {name}({given})\n"
        f"    return {value}\n{parts}    )\n"
    )  # fmt: skip
    file = f"<learn {whole} {zlib.crc32(text.encode()):08x}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    namespace: dict[str, Any] = {name: loss, "__name__": loss.__module__}
    exec(compile(text, file, "exec"), namespace)
    return namespace[whole]


def _spelled(way: Any) -> str:
    """A path as Python writes it behind a name."""
    return "".join(f".{key}" if kind in ("attribute", "field") else f"[{key!r}]" for kind, key in way)
