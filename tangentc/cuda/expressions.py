"""Operations on numbers in C, with the values that NumPy gives them.

np.maximum(x, 0.5) ** 2         x >= 0.5 || isnan(x) ? x : 0.5
i // 2                          (i - ((i % 2) + 2) % 2) / 2
x * 0.5                         x * 0.5f            for x of float32
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from tangentc.core import ops
from tangentc.core.nodes import Const, Op
from tangentc.kernels.writing import NotSaid

C_TYPES = {"float64": "double", "float32": "float", "int64": "long long", "bool": "bool"}
ATOM, UNARY, TIMES, PLUS, LESS, SAME, AND, OR, CHOICE = range(9, 0, -1)  # how strongly an expression holds together


class Term(NamedTuple):
    """An expression in C, how strongly it holds together, and its dtype; ``weak`` is a number of Python, ``value`` a
    constant's."""

    text: str
    level: int
    dtype: str
    weak: bool = False
    value: object = None

    def at(self, level: int) -> str:
        return self.text if self.level >= level else f"({self.text})"


def constant(c: Const) -> Term:
    """A number that is known when compiling."""
    value = c.value
    dtype = str(np.asarray(value).dtype)
    if dtype not in C_TYPES or isinstance(value, np.ndarray):
        raise NotSaid("a constant that is no number")
    return literal(value, dtype, not isinstance(value, np.generic))


def literal(value: object, dtype: str, weak: bool = False) -> Term:
    """A number as one of a dtype."""
    if dtype == "bool":
        return Term("true" if value else "false", ATOM, dtype, weak, bool(value))
    if dtype == "int64":
        n = int(value)  # type: ignore[call-overload]
        if abs(n) >= 2**63:
            raise NotSaid("an integer beyond those of a machine")
        return Term(str(n), ATOM if n >= 0 else UNARY, dtype, weak, n)
    x = np.dtype(dtype).type(value)
    if not np.isfinite(x):
        text = f"({'0' if np.isnan(x) else '1' if x > 0 else '-1'}.0 / 0.0)"  # NVRTC has no names for them
        text = text if dtype == "float64" else text.replace(".0", ".0f")
    else:
        text = str(x) + ("f" if dtype == "float32" else "")
    return Term(text, UNARY if text[0] in "(-" else ATOM, dtype, weak, value)


def cast(term: Term, dtype: str) -> Term:
    """The number as one of a dtype."""
    if term.dtype == dtype:
        return term
    if term.value is not None and term.weak:
        return literal(term.value, dtype, True)
    if dtype == "bool":
        return Term(f"{term.at(SAME + 1)} != 0", SAME, dtype)
    return Term(f"({C_TYPES[dtype]}){term.at(UNARY)}", UNARY, dtype)


def promoted(terms: list[Term]) -> str:
    """The dtype in which NumPy compares numbers, or calls a function of several."""
    strong = [np.dtype(t.dtype) for t in terms if not t.weak]
    weak = [{"float64": 0.0, "int64": 0, "bool": False}[t.dtype] for t in terms if t.weak]
    found = str(np.result_type(*strong, *weak)) if strong or weak else ""
    if found not in C_TYPES:
        raise NotSaid("a type")
    return found


def _infix(sign: str, level: int) -> Callable[..., Term]:
    def write(terms: list[Term], dtype: str) -> Term:
        a, b = (cast(t, dtype) for t in terms)
        return Term(f"{a.at(level)} {sign} {b.at(level + 1)}", level, dtype)

    return write


def _compared(sign: str, level: int) -> Callable[..., Term]:
    def write(terms: list[Term], dtype: str) -> Term:
        common = promoted(terms)
        a, b = (cast(t, common) for t in terms)
        return Term(f"{a.at(level + 1)} {sign} {b.at(level + 1)}", level, "bool")

    return write


def _truths(sign: str, level: int) -> Callable[..., Term]:
    def write(terms: list[Term], dtype: str) -> Term:
        a, b = (cast(t, "bool") for t in terms)
        return Term(f"{a.at(level + 1)} {sign} {b.at(level + 1)}", level, "bool")

    return write


def _called(name: str) -> Callable[..., Term]:
    """A function of real numbers: that of single precision has an f behind its name."""

    def write(terms: list[Term], dtype: str) -> Term:
        if dtype not in ("float64", "float32"):
            raise NotSaid(f"{name} of integers")
        own = name + "f" * (dtype == "float32")
        return Term(f"{own}({', '.join(cast(t, dtype).text for t in terms)})", ATOM, dtype)

    return write


def _asked(name: str) -> Callable[..., Term]:
    def write(terms: list[Term], dtype: str) -> Term:
        (x,) = terms
        x = x if x.dtype in ("float64", "float32") else cast(x, "float64")
        return Term(f"(bool){name}({x.text})", UNARY, "bool")

    return write


def _form(of_real: str | None, of_integers: str | None, level: int = CHOICE) -> Callable[..., Term]:
    """A form into which the numbers are put as {0} and {1}, each as something that holds together."""

    def write(terms: list[Term], dtype: str) -> Term:
        real = dtype in ("float64", "float32")
        form = of_real if real else of_integers
        if form is None or dtype == "bool":
            raise NotSaid("this of integers")
        values = [cast(t, dtype).at(ATOM) for t in terms]
        return Term(form.format(*values, f="f" * (dtype == "float32"), t=C_TYPES[dtype]), level, dtype)

    return write


def _cast_to(dtype: str) -> Callable[..., Term]:
    return lambda terms, _: cast(terms[0], dtype)


def _negated(terms: list[Term], dtype: str) -> Term:
    x = cast(terms[0], dtype)
    return Term(f"-{x.at(ATOM)}", UNARY, dtype)


def _not(terms: list[Term], dtype: str) -> Term:
    return Term(f"!{cast(terms[0], 'bool').at(ATOM)}", UNARY, "bool")


def _chosen(terms: list[Term], dtype: str) -> Term:
    test, a, b = cast(terms[0], "bool"), cast(terms[1], dtype), cast(terms[2], dtype)
    return Term(f"{test.at(CHOICE + 1)} ? {a.at(CHOICE + 1)} : {b.at(CHOICE)}", CHOICE, dtype)


def _rounded(name: str) -> Callable[..., Term]:
    call = _called(name)
    return lambda terms, dtype: terms[0] if terms[0].dtype == dtype == "int64" else call(terms, dtype)


IN_C: dict[Op, Callable[[list[Term], str], Term]] = {
    operator.add: _infix("+", PLUS), operator.sub: _infix("-", PLUS), operator.mul: _infix("*", TIMES),
    operator.truediv: _infix("/", TIMES),
    operator.neg: _negated, operator.pos: lambda terms, dtype: cast(terms[0], dtype), operator.not_: _not,
    operator.lt: _compared("<", LESS), operator.le: _compared("<=", LESS), operator.gt: _compared(">", LESS),
    operator.ge: _compared(">=", LESS), operator.eq: _compared("==", SAME), operator.ne: _compared("!=", SAME),
    operator.and_: _truths("&&", AND), operator.or_: _truths("||", OR), np.logical_and: _truths("&&", AND),
    np.logical_or: _truths("||", OR), ops.select: _chosen, ops.identity: lambda terms, dtype: cast(terms[0], dtype),
    builtins.abs: _form("fabs{f}({0})", "llabs({0})", ATOM), math.fabs: _called("fabs"),
    operator.floordiv: _form(None, "({0} - ({0} % {1} + {1}) % {1}) / {1}", TIMES),
    operator.mod: _form(None, "({0} % {1} + {1}) % {1}", TIMES),
    np.maximum: _form("{0} >= {1} || isnan({0}) ? {0} : {1}", "{0} >= {1} ? {0} : {1}"),
    np.minimum: _form("{0} <= {1} || isnan({0}) ? {0} : {1}", "{0} <= {1} ? {0} : {1}"),
    builtins.max: _form("{1} > {0} ? {1} : {0}", "{1} > {0} ? {1} : {0}"),
    builtins.min: _form("{1} < {0} ? {1} : {0}", "{1} < {0} ? {1} : {0}"),
    np.sign: _form("{0} > 0 ? 1 : {0} < 0 ? -1 : {0} == 0 ? 0 : {0}", "{0} > 0 ? 1 : {0} < 0 ? -1 : 0"),
    np.reciprocal: _form("1 / {0}", None, TIMES),
    np.degrees: _form("{0} * ({t})57.29577951308232", None, TIMES),
    np.radians: _form("{0} * ({t})0.017453292519943295", None, TIMES),
    np.isnan: _asked("isnan"), np.isinf: _asked("isinf"), np.isfinite: _asked("isfinite"),
    builtins.float: _cast_to("float64"), builtins.bool: _cast_to("bool"), builtins.int: _cast_to("int64"),
    np.float64: _cast_to("float64"), np.float32: _cast_to("float32"), np.int64: _cast_to("int64"),
    operator.pow: _called("pow"), np.floor: _rounded("floor"), np.ceil: _rounded("ceil"), np.trunc: _rounded("trunc"),
    np.arcsin: _called("asin"), np.arccos: _called("acos"), np.arctan: _called("atan"), np.arctan2: _called("atan2"),
    np.arcsinh: _called("asinh"), np.arccosh: _called("acosh"), np.arctanh: _called("atanh"),
}  # fmt: skip
for _name in (
    "exp", "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh",
    "hypot", "copysign",
):  # fmt: skip
    IN_C[getattr(np, _name)] = _called(_name)
OF_REAL = {operator.truediv}
REPEATS: set[Op] = {  # which read what they are given more than once
    operator.floordiv, operator.mod, np.maximum, np.minimum, builtins.max, builtins.min, np.sign,
}  # fmt: skip
NAMES = {"isnan", "isinf", "isfinite", "llabs"} | {
    name + f for f in ("", "f") for name in (
        "fabs", "pow", "floor", "ceil", "trunc", "asin", "acos", "atan", "atan2", "asinh", "acosh", "atanh", "exp",
        "exp2", "expm1", "log", "log2", "log10", "log1p", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "hypot",
        "copysign",
    )
}  # fmt: skip


def written(op: Op, terms: list[Term], dtype: str) -> Term:
    """An operation in C, whose result has a dtype.  Raises `NotSaid` for one that there is no text for."""
    if op not in IN_C:
        raise NotSaid(f"{getattr(op, '__name__', 'this')} in C")
    if op in OF_REAL and dtype not in ("float64", "float32"):
        raise NotSaid("a quotient of integers")
    return IN_C[op](terms, dtype)
