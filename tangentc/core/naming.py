"""Names for values that the user gave no name to, made from what they hold.

>>> import numpy as np
>>> hint(np.exp, ("logits",)), hint(operator.matmul, ("X", "w")), hint(operator.add, ("x", "y"))
('%exp_logits', '%Xw', '%x_plus_y')
"""

from __future__ import annotations

import builtins
import keyword
import operator

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import Atom, Const, Global, Op, version_base

WORDS = {
    operator.add: "total",
    operator.sub: "difference",
    operator.mul: "product",
    operator.truediv: "ratio",
    operator.floordiv: "quotient",
    operator.mod: "remainder",
    operator.pow: "power",
    operator.matmul: "product",
    operator.neg: "minus",
    operator.pos: "plus",
    operator.not_: "negated",
    operator.invert: "inverted",
    operator.and_: "mask",
    operator.or_: "mask",
    operator.xor: "mask",
    ops.make_tuple: "items",
    ops.make_list: "items",
    ops.make_dict: "items",
    ops.identity: "value",
    ops.select: "chosen",
    operator.getitem: "item",
    builtins.slice: "key",
}


LONGEST_KEY = 16  # of a dict, that names its item
IN_PLACE_OF_BUILTINS = {"sum": "total", "max": "maximum", "min": "minimum", "abs": "magnitude", "pow": "power"}
JOINED = {operator.add: "plus", operator.sub: "minus", operator.mul: "times", operator.truediv: "over"}


def plain(atom: Atom) -> str:
    """The name of an atom as it can stand inside another name, '' if it has none."""
    if isinstance(atom, Global):
        return atom.name
    if isinstance(atom, str):
        return version_base(atom).lstrip("%")
    if isinstance(atom, Const) and isinstance(atom.value, int) and 0 <= atom.value < 1000:
        return str(atom.value)
    return ""


def _is_word(key: object) -> bool:
    """Whether the key of an item can name it."""
    return isinstance(key, str) and key.isidentifier() and not keyword.iskeyword(key) and len(key) <= LONGEST_KEY


def hint(op: Op, args: tuple[Atom, ...]) -> str:
    """A name for the result of an operation."""
    names = [plain(a) for a in args]
    joined = "".join(names)
    short = op in (operator.mul, operator.matmul) and all(0 < len(n) <= 2 for n in names)
    if short and not joined[0].isdigit() and not keyword.iskeyword(joined):
        return f"%{joined}"
    if op in JOINED and all(names):
        first = {"1": "one", "2": "two"}.get(names[0], names[0])
        if not first[0].isdigit() and "_" not in first + names[1] and len(first) + len(names[1]) <= 12:
            return f"%{first}_{JOINED[op]}_{names[1]}"
    if op is operator.pow and names[0] and len(names[0]) <= 8 and names[1] == "2":
        return f"%{names[0]}_squared"
    if op in ops.COMPARE:
        return "%test"
    if op is ops.method:
        name = args[1].value
        return f"%{names[0]}_{name}" if names[0] else f"%{name}"
    if op is builtins.getattr and isinstance(args[1], Const):
        if ("'" in str(args[0]) or names[0] == "self") and _is_word(args[1].value):
            return f"%{args[1].value}"
        return f"%{names[0]}_{args[1].value}" if names[0] else f"%{args[1].value}"
    if op is operator.getitem and names[0] and isinstance(args[1], Const) and _is_word(args[1].value):
        of_variable = not str(args[0]).startswith("%") or "'" in str(args[0])  # a parameter of what is written in place
        return f"%{args[1].value}" if of_variable else f"%{names[0]}_{args[1].value}"
    if op is operator.getitem and names[0]:
        return f"%{names[0]}_{names[1]}" if len(names[1]) <= 3 and names[1].isidentifier() else f"%{names[0]}_item"
    if op is np.transpose and len(args) == 1 and names[0]:
        return f"%{names[0]}_T"
    if op in WORDS:
        word = WORDS[op]
        return f"%{word}_{names[0]}" if op is operator.neg and 0 < len(names[0]) <= 12 else f"%{word}"
    name = getattr(op, "__name__", "value").strip("<>").lstrip("_") or "value"
    name = f"{name}_" if keyword.iskeyword(name) else name
    first = names[0] if names else ""
    if first and first.isidentifier() and len(first) <= 12:
        return f"%{name}_{first}"
    return f"%{IN_PLACE_OF_BUILTINS.get(name, f'{name}_') if hasattr(builtins, name) else name}"


def shown(name: Atom) -> str:
    """The name of a value as a message shows it: as the user wrote it, without its version."""
    if isinstance(name, Global):
        return name.name
    if isinstance(name, str):
        return name.lstrip("%").split(".")[0]
    return str(name.value)
