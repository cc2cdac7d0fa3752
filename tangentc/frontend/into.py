"""Functions of NumPy and SciPy that write their result into an array that they are given.

np.exp(x, out=y)                    y[...] = np.exp(x)
np.divmod(x, y, out=(q, r))         both = np.divmod(x, y); q[...] = both[0]; r[...] = both[1]
np.nan_to_num(x, copy=False)        x[...] = np.nan_to_num(x)
np.copyto(dst=x, src=y)             np.copyto(x, y)
gaussian_filter(x, 2, output=y)     y[...] = gaussian_filter(x, 2, output=y.dtype)
"""

from __future__ import annotations

import functools
import inspect
import operator
from typing import Any

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Store
from tangentc.core.types import Known, Tuple
from tangentc.frontend.part import Part
from tangentc.ops.table import known_of, place_of
from tangentc.rules.registry import is_definition

OUT_OF = {"reduce": 3, "accumulate": 3, "reduceat": 4}  # the position of `out` in the methods of ufuncs
BY_POSITION = {
    np.copyto: ("dst", "src"), np.put: ("a", "ind", "v"), np.fill_diagonal: ("a", "val"),
    np.put_along_axis: ("arr", "indices", "values", "axis"), np.place: ("arr", "mask", "vals"),
    np.putmask: ("a", "mask", "values"),
}  # fmt: skip


@functools.lru_cache(maxsize=2048)
def place_of_out(op: Any) -> int | None:
    """Where a function of NumPy, or its definition, takes ``out`` by position; None if it does not."""
    if isinstance(op, np.ufunc):
        return op.nin
    if isinstance(getattr(op, "__self__", None), np.ufunc):
        return OUT_OF.get(op.__name__)
    if op is np.dot:
        return 2
    if ops.module_root(op) != "numpy" and not is_definition(op):
        return None
    signature = known_of(op).signature
    parameters = signature.parameters if signature is not None else {}
    if "out" not in parameters or parameters["out"].kind is not inspect.Parameter.POSITIONAL_OR_KEYWORD:
        return None
    return list(parameters).index("out")


MAKING = {
    np.zeros, np.ones, np.empty, np.full, np.zeros_like, np.ones_like, np.empty_like, np.full_like, np.copy, np.array,
}  # fmt: skip
FILTERS = ("scipy.ndimage._filters", "scipy.ndimage._interpolation")  # whose `output` is an array or a dtype


class Into(Part):
    """The part of lowering that knows where results are written into."""

    def into(self, callee: Any, args: list, keywords: list, node: Any, target: str | None) -> Atom | None:
        """A call that writes its result into an array, as the call without that and a store; None for other calls."""
        if callee is np.nan_to_num:
            return self._in_its_place(args, dict(keywords), node, target)
        named = dict(keywords)
        try:
            place = place_of_out(callee)
        except TypeError:  # cannot be hashed
            return None
        if getattr(callee, "__module__", None) in FILTERS and place_of(callee, "output") is not None:
            return self._into_output(callee, args, named, node, target)
        known = place is not None or ops.module_root(callee) in ops.NUMERIC_MODULES or is_definition(callee)
        out = named.pop("out", None) if known else None
        if out is None and place is not None and len(args) > place:
            out, later = args[place], args[place + 1 :]
            if out == Const(None) and later:
                return None
            args = [*args[:place], Const(None), *later] if later else args[:place]
        if out is None:
            return None
        known_type = self.type_known(out)
        if out == Const(None) or isinstance(known_type, Known) and known_type.value is None:
            return self.invoke(callee, args, list(named.items()), node, target)
        where = named.pop("where", None) if isinstance(callee, np.ufunc) else None
        made = next((s for s in reversed(self.out) if isinstance(s, Assign) and s.target == out), None)
        outs = [out]
        if made is not None and made.op is ops.make_tuple and out.startswith("%"):
            outs = list(made.args)
        elif isinstance(known_type, Tuple):
            outs = [self.emit(operator.getitem, (out, Const(k)), node) for k in range(len(known_type.items))]
        value = self.invoke(callee, args, list(named.items()), node, None)
        values = [value]
        if len(outs) > 1:
            values = [self.emit(operator.getitem, (value, Const(k)), node) for k, _ in enumerate(outs)]
        for array, part in zip(outs, values):
            if array == Const(None):
                continue
            if where is not None:
                part = self.emit(np.where, (where, part, array), node)
            self.add(Store(self.named(array, node), Const(...), part, None, self.span(node)))
        given = outs[0] if len(outs) == 1 else value if Const(None) in outs else out
        return given if target is None else self.emit(ops.identity, (given,), node, target=target)

    def _into_output(self, callee: Any, args: list, named: dict, node: Any, target: str | None) -> Atom | None:
        """A filter of `scipy.ndimage` that is given an array as its ``output``, and not a dtype."""
        place = place_of(callee, "output")
        assert place is not None
        out = args[place] if len(args) > place else named.get("output", Const(None))
        if not self._is_surely_array(out):
            return None  # the analysis of activity refuses what may be one
        dtype = self.emit(getattr, (out, Const("dtype")), node)
        args = [*args[:place], dtype, *args[place + 1 :]] if len(args) > place else args
        named = named if len(args) > place else {**named, "output": dtype}
        value = self.invoke(callee, args, list(named.items()), node, None)
        self.add(Store(self.named(out, node), Const(...), value, None, self.span(node)))
        return out if target is None else self.emit(ops.identity, (out,), node, target=target)

    def _is_surely_array(self, atom: Atom) -> bool:
        """Whether this block has made a value as an array."""
        made: Any = None
        for s in reversed(self.out):
            if isinstance(s, Assign) and s.target == atom:
                made, atom = s, s.args[0] if s.op is ops.identity else ""
        return made is not None and (made.op in MAKING or made.op in ops.BINARY or isinstance(made.op, np.ufunc))

    def _in_its_place(self, args: list, keywords: dict, node: Any, target: str | None) -> Atom | None:
        """``np.nan_to_num(x, copy=False)``."""
        copy = keywords.pop("copy", args[1] if len(args) > 1 else Const(True))
        if copy in (Const(True), Const(1)):
            return None
        if copy not in (Const(False), Const(0)):
            raise self.unsupported(node, "np.nan_to_num with a `copy` that is not known when compiling",
                                   "write copy=True, or copy=False")  # fmt: skip
        values = dict(zip(("nan", "posinf", "neginf"), args[2:]), **keywords)
        array = self.named(args[0], node)
        value = self.invoke(np.nan_to_num, [array], list(values.items()), node, None)
        self.add(Store(array, Const(...), value, None, self.span(node)))
        return array if target is None else self.emit(ops.identity, (array,), node, target=target)


def _required(callee: Any) -> tuple[str, ...]:
    try:
        parameters = inspect.signature(callee).parameters.values()
    except (TypeError, ValueError):
        return ()
    return tuple(p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD and p.default is p.empty)


def ordered(callee: Any, args: list, keywords: list) -> tuple[list, list]:
    """The arguments of a function that changes an array by position, and those of another that it cannot do without."""
    try:
        names = BY_POSITION.get(callee, ())
    except TypeError:  # cannot be hashed
        names = ()
    if not names and not args and keywords and ops.module_root(callee) == "numpy":
        names = _required(callee)
    named, given = dict(keywords), list(args)
    for name in names[len(args) :]:
        if name not in named:
            break
        given.append(named.pop(name))
    return given, list(named.items())
