"""Other shapes, orders of axes, and arrays that are put together, of a batch.

x.reshape(2, -1)        ->      x.reshape(batch_size, 2, -1)
np.array([a, b])        ->      np.stack([a, b], axis=1)
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from tangentc.batching.generic import moved
from tangentc.batching.marks import EACH, Mark, parts
from tangentc.batching.registry import batches
from tangentc.batching.writer import Writer
from tangentc.core import ops
from tangentc.core.build import is_default
from tangentc.core.nodes import Assign, Atom, Const
from tangentc.core.types import Array, Known, Scalar, Sequence, Tuple, Type
from tangentc.ops.table import existing, known_of

Found = tuple[Atom, Mark] | None


def arguments(w: Writer, s: Assign) -> dict[str, Atom] | None:
    """The arguments by the names of their parameters, without those that say what would be so anyway."""
    signature = known_of(s.op).signature
    if signature is None:
        return None
    try:
        bound = signature.bind(*s.args, **dict(s.keywords)).arguments
    except TypeError:
        return None
    return {k: a for k, a in bound.items() if not is_default(s.op, k, a)}


def constant(w: Writer, atom: Atom) -> Any:
    """What a value is known to be when compiling, `...` if it is not."""
    if isinstance(atom, Const):
        return atom.value
    t = w.type(atom)
    if isinstance(t, Known):
        return t.value
    if isinstance(t, Tuple) and t.cls is None:
        held = [getattr(i, "value", None) for i in t.items]
        return tuple(held) if all(type(v) is int for v in held) else ...
    return t.value if isinstance(t, Scalar) and type(t.value) is int else ...


def lengths_of(w: Writer, shape: Atom) -> list[Atom] | None:
    """The lengths that a shape is made of."""
    if w.mark(shape):
        return None
    if isinstance(shape, Const):
        return [Const(v) for v in (shape.value if isinstance(shape.value, (tuple, list)) else (shape.value,))]
    made, t = w.made.get(shape) if isinstance(shape, str) else None, w.type(shape)
    if isinstance(made, Assign) and made.op in (ops.make_tuple, ops.make_list):
        return [w.now(a) for a in made.args]
    if isinstance(t, Scalar):
        return [w.now(shape)]
    if isinstance(t, Tuple) and t.cls is None:
        return [w.emit(operator.getitem, (w.now(shape), Const(k))) for k in range(len(t.items))]
    return None


@batches(np.reshape)
def reshape(w: Writer, s: Assign) -> Found:
    given = arguments(w, s)
    if given is None or set(given) - {"a", "shape"} or w.rank(s.args[0]) is None:
        return None
    lengths = lengths_of(w, given["shape"])
    return (w.emit(np.reshape, (w.now(s.args[0]), w.joined((w.size, *lengths)))), True) if lengths is not None else None


@batches(np.ravel)
def ravel(w: Writer, s: Assign) -> Found:
    rank = w.rank(s.args[0])
    if rank is None or len(s.atoms) > 1:
        return None
    return (
        w.now(s.args[0]) if rank == 1 else w.emit(np.reshape, (w.now(s.args[0]), w.joined((w.size, Const(-1)))))
    ), True


@batches(np.transpose)
def transpose(w: Writer, s: Assign) -> Found:
    given, rank = arguments(w, s), w.rank(s.args[0])
    if given is None or rank is None:
        return None
    axes = constant(w, given["axes"]) if "axes" in given else None
    if axes is ...:
        return None
    if rank < 2:
        return w.now(s.args[0]), True
    axes = tuple(range(rank))[::-1] if axes is None else tuple(a % rank for a in axes)
    if axes == (1, 0):
        return w.emit(np.swapaxes, (w.now(s.args[0]), Const(1), Const(2))), True
    return w.emit(np.transpose, (w.now(s.args[0]), Const((0, *moved(axes))))), True


AXES = ("axis", "axis1", "axis2", "source", "destination", "axes")


def with_axes_moved(w: Writer, s: Assign, added: int = 0) -> Found:
    """The call with the axes that it names behind that of the batch."""
    given = arguments(w, s)
    if given is None or w.rank(s.args[0]) is None or any(map(w.mark, s.atoms[1:])):
        return None
    names = list(known_of(s.op).signature.parameters)  # type: ignore[union-attr]
    args = [w.now(s.args[0])]
    for k, a in enumerate(s.args[1:], 1):
        value = constant(w, a)
        if names[k] in AXES and value is ...:
            return None
        args.append(Const(moved(value)) if names[k] in AXES else w.now(a))
    keywords = []
    for k, a in s.keywords:  # type: ignore[assignment]
        value = constant(w, a)
        if k in AXES and value is ...:
            return None
        keywords.append((k, Const(moved(value)) if k in AXES else w.now(a)))  # type: ignore[arg-type]
    return w.emit(s.op, tuple(args), tuple(keywords)), True  # type: ignore[arg-type]


@batches(np.swapaxes, np.moveaxis, np.expand_dims)
def moved_axes(w: Writer, s: Assign) -> Found:
    return with_axes_moved(w, s)


@batches(np.squeeze)
def squeeze(w: Writer, s: Assign) -> Found:
    t, given = w.type(s.args[0]), arguments(w, s)
    if given is None or not isinstance(t, Array):
        return None
    if "axis" in given:
        return with_axes_moved(w, s)
    ones = tuple(k + 1 for k, d in enumerate(t.shape) if d == 1)
    if len(t.shape) - len(ones) != (w.rank(s.target) or 0):
        return None
    return (w.emit(np.squeeze, (w.now(s.args[0]), Const(ones))) if ones else w.now(s.args[0])), True


@batches(np.diagonal, np.trace)
def diagonal(w: Writer, s: Assign) -> Found:
    given = arguments(w, s)
    if given is None or w.rank(s.args[0]) is None or any(map(w.mark, s.atoms[1:])) or set(given) - {
        "a", "offset", "axis1", "axis2"}:  # fmt: skip
        return None
    axes = [constant(w, given[n]) if n in given else k for k, n in enumerate(("axis1", "axis2"))]
    if ... in axes:
        return None
    named = (("axis1", Const(moved(axes[0]))), ("axis2", Const(moved(axes[1]))))
    offset = (given["offset"],) if "offset" in given else ()
    return w.emit(s.op, (w.now(s.args[0]), *map(w.now, offset)), named), True


@batches(np.broadcast_to)
def broadcast_to(w: Writer, s: Assign) -> Found:
    if len(s.args) != 2 or s.keywords or w.rank(s.args[0]) is None:
        return None
    lengths = lengths_of(w, s.args[1])
    if lengths is None:
        return None
    return w.emit(np.broadcast_to, (w.aligned(s.args[0], len(lengths)), w.joined((w.size, *lengths)))), True


@batches(np.full)
def full(w: Writer, s: Assign) -> Found:
    given = arguments(w, s)
    if given is None or set(given) - {"shape", "fill_value", "dtype"} or w.rank(given["fill_value"]) is None:
        return None
    lengths = lengths_of(w, given["shape"])
    if lengths is None:
        return None
    value = w.aligned(given["fill_value"], len(lengths))
    dtype = (given["dtype"],) if "dtype" in given else ()
    return w.emit(np.full, (w.joined((w.size, *lengths)), value, *dtype)), True


@batches(np.full_like)
def full_like(w: Writer, s: Assign) -> Found:
    given = arguments(w, s)
    rank = w.rank(s.args[0])
    if given is None or rank is None or set(given) - {"a", "fill_value", "dtype"}:
        return None
    dtype = (("dtype", given["dtype"]),) if "dtype" in given else ()
    return w.emit(np.full_like, (w.batched(s.args[0]), w.aligned(given["fill_value"], rank)), dtype), True


@batches(np.linspace)
def linspace(w: Writer, s: Assign) -> Found:
    given = arguments(w, s)
    ends = s.args[:2]
    if given is None or len(ends) < 2 or set(given) - {"start", "stop", "num", "endpoint", "dtype"}:
        return None
    if w.ranks(*ends) != [0, 0] or any(map(w.mark, (*s.args[2:], *dict(s.keywords).values()))):
        return None
    rest = tuple((k, w.now(a)) for k, a in s.keywords)
    return w.emit(np.linspace, tuple(map(w.now, s.args)), (*rest, ("axis", Const(1)))), True


# ---------------------------------------------------------------- put together
def items_of(w: Writer, atom: Atom) -> list[Atom] | None:
    """The items of a list or a tuple that is written out."""
    made = w.made.get(atom) if isinstance(atom, str) else None
    known = isinstance(made, Assign) and made.op in (ops.make_list, ops.make_tuple)
    return list(made.args) if known and not w.program.aliases.is_changed(atom) else None  # type: ignore[union-attr, arg-type]


@batches(np.array, np.asarray, np.asanyarray)
def array(w: Writer, s: Assign) -> Found:
    given = arguments(w, s)
    if given is None or set(given) - {"object", "a", "dtype", "copy"} or any(map(w.mark, s.atoms[1:])):
        return None
    x = s.args[0]
    if w.rank(x) is not None:
        return w.emit(s.op, (w.now(x), *s.args[1:]), s.keywords), True
    made = nested(w, x)
    t = w.type(s.target)
    if made is None or not isinstance(t, Array):
        return None
    if "dtype" in given or any(dtype != t.dtype for dtype in _dtypes(w.type(x))):
        made = w.emit(np.astype, (made, given.get("dtype", Const(np.dtype(t.dtype).type))))
    return made, True


def _dtypes(t: Type) -> set[str]:
    if isinstance(t, (Array, Scalar)):
        return {t.dtype}
    return set().union(*map(_dtypes, t.items)) if hasattr(t, "items") else {""}


def nested(w: Writer, x: Atom) -> Atom | None:
    """An array of the batch, of lists within lists."""
    if w.rank(x) is not None:
        return w.batched(x)
    t, items = w.type(x), items_of(w, x)
    if items is None:
        if not isinstance(t, (Sequence, Tuple)) or w.mark(x) is EACH or not all(
            isinstance(i, (Array, Scalar)) for i in t.items
        ) or not all(parts(w.mark(x), t)):  # fmt: skip
            return None
        return w.emit(np.stack, (w.now(x),), (("axis", Const(1)),))
    made = [nested(w, a) for a in items]
    if not made or None in made:
        return None
    return w.emit(np.stack, (w.emit(ops.make_list, tuple(made)),), (("axis", Const(1)),))  # type: ignore[arg-type]


def joined_along(w: Writer, s: Assign, op: Any, axis: int, at_least: int = 0) -> Found:
    """The items of a list, each a batch, joined along an axis."""
    arrays = s.args[0]
    t = w.type(arrays)
    if w.mark(arrays) is EACH:
        return None
    items = items_of(w, arrays)
    if items is not None:
        ranks = w.ranks(*items)
        if ranks is None or any(r < at_least for r in ranks):
            return None
        given: Atom = w.emit(ops.make_list, tuple(map(w.batched, items)))
    elif isinstance(t, (Sequence, Tuple)) and t.items and all(isinstance(i, Array) for i in t.items):
        held = parts(w.mark(arrays), t)
        given = w.now(arrays) if all(held) else w.raised_to(arrays, (True,) * len(held))
    else:
        return None
    return w.emit(op, (given,), (("axis", Const(moved(axis))),)), True


def _list_rank(w: Writer, arrays: Atom) -> int | None:
    items = items_of(w, arrays)
    held = [w.type(a) for a in items] if items is not None else list(getattr(w.type(arrays), "items", ()))
    ranks = {0 if isinstance(t, Scalar) else len(t.shape) if isinstance(t, Array) else None for t in held}
    return ranks.pop() if len(ranks) == 1 else None


@batches(np.stack, np.concatenate)
def join_arrays(w: Writer, s: Assign) -> Found:
    given = arguments(w, s)
    if given is None or set(given) - {"arrays", "axis"}:
        return None
    axis = constant(w, given["axis"]) if "axis" in given else 0
    return joined_along(w, s, s.op, axis, int(s.op is np.concatenate)) if isinstance(axis, int) else None


@batches(np.vstack, np.hstack, np.column_stack, np.dstack, *existing("row_stack"))
def stacks(w: Writer, s: Assign) -> Found:
    rank = _list_rank(w, s.args[0])
    if rank is None or s.keywords or len(s.args) > 1:
        return None
    if s.op is np.hstack and rank >= 1:
        return joined_along(w, s, np.concatenate, int(rank > 1))
    if s.op is np.column_stack and rank in (1, 2):
        return joined_along(w, s, np.stack if rank == 1 else np.concatenate, 1)
    if s.op in (np.hstack, np.column_stack, np.dstack) or rank == 0:
        return None
    return joined_along(w, s, np.stack if rank == 1 else np.concatenate, 0)


@batches(np.tile)
def tile(w: Writer, s: Assign) -> Found:
    rank, lengths = w.rank(s.args[0]), lengths_of(w, s.args[1]) if len(s.args) == 2 else None
    if rank is None or lengths is None:
        return None
    missing = max(rank - len(lengths), 0)
    reps = (Const(1), *(Const(1),) * missing, *lengths)
    return w.emit(np.tile, (w.aligned(s.args[0], max(rank, len(lengths))), w.joined(reps))), True


def allocated(w: Writer, s: Assign) -> Atom | None:
    """An array that is made of one value, for all examples, as one that is written into; None if it is another one."""
    if s.op not in (np.zeros, np.ones, np.empty, np.full):
        return None
    given = arguments(w, s)
    lengths = lengths_of(w, given["shape"]) if given is not None and "shape" in given else None
    if lengths is None:
        return None
    place = list(known_of(s.op).signature.parameters).index("shape")  # type: ignore[union-attr]
    args = [w.now(a) for a in s.args]
    if place >= len(args):
        return None
    args[place] = w.joined((w.size, *lengths))
    return w.emit(s.op, tuple(args), tuple((k, w.now(a)) for k, a in s.keywords))
