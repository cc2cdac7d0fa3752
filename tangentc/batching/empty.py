"""A batch without examples: its results have the axes that those of examples would have, and no entries.

It is known when compiling, as lengths below `EXACT` are, and nothing is run.
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

import numpy as np

from tangentc.batching.writer import NoWay, Writer
from tangentc.core.build import build_container
from tangentc.core.lengths import Dim
from tangentc.core.nodes import Atom, Const
from tangentc.core.types import Array, Known, Scalar, Type, components, is_container


def without_examples(w: Writer, t: Type, params: Sequence[str]) -> Atom:
    """The value of a type for no examples.  Raises `NoWay` where only a run knows its lengths."""
    if isinstance(t, Known):
        return t.const
    if isinstance(t, (Array, Scalar)):
        shape = t.shape if isinstance(t, Array) else ()
        lengths = w.joined((Const(0), *(_length(w, d, params) for d in shape)))
        return w.emit(np.empty, (lengths, Const(np.dtype(t.dtype).type)))
    held = [part for _, part in components(t)]
    if not is_container(t) or not held and t.items:
        raise NoWay
    return build_container(w, t, [without_examples(w, part, params) for part in held])  # type: ignore[arg-type]


def _length(w: Writer, d: Dim, params: Sequence[str]) -> Atom:
    if isinstance(d, int):
        return Const(d)
    for p in params:
        t = w.type(p)
        if isinstance(t, Array) and d in t.shape:
            axis = t.shape.index(d) + (w.mark(p) is True)
            shape = w.emit(getattr, (w.now(p), Const("shape")))
            return w.emit(operator.getitem, (shape, Const(axis)))
    raise NoWay
