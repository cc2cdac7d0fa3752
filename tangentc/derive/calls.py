"""Applying rules: from a call and its function's rule to contributions or tangents."""

from __future__ import annotations

import builtins
import inspect
import math
import operator
import types
from collections.abc import Callable, Container, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis.elementwise import is_elementwise
from tangentc.core import ops
from tangentc.core.build import Builder, shape_of
from tangentc.core.lengths import Dim, Length
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Const, For, Op, Statement, While, Within
from tangentc.core.types import (
    Array,
    Known,
    Opaque,
    Scalar,
    Struct,
    Type,
    Unknown,
    components,
    describe,
    is_complex,
    is_container,
    is_differentiable,
    is_narrow,
    rank,
)
from tangentc.derive.context import Defined
from tangentc.derive.parts import Given
from tangentc.errors import BadRule, MissingRule, NotDifferentiable, UnsupportedSyntax
from tangentc.ops.table import every, say
from tangentc.rules.fragment import Fragment, Undecided, Value, binding
from tangentc.rules.registry import REGISTRY, Formula, Rule, is_definition

# what is given a list or a tuple item by item; everything else takes numbers and arrays
TAKES_ITEMS = every("takes_items")
LISTS = every("joins_arrays")
PUTS_TOGETHER = every("puts_together")


@dataclass(frozen=True)
class Call:
    """A call bound to its rule's parameters."""

    rule: Rule
    inputs: tuple[tuple[str, Atom | list[Atom]], ...]  # parameter, atom (a list of atoms for a starred one)
    options: dict[str, Any]
    statement: Assign


SYNTAX = {operator.getitem: "this subscript", builtins.getattr: "this attribute"}


def spelled(op: Op) -> str:
    """A function's name as a message shows it."""
    if op in SYNTAX:
        return SYNTAX[op]
    if op in ops.BINARY or op in ops.UNARY or op in ops.COMPARE:
        table = {**ops.BINARY, **ops.UNARY, **ops.COMPARE}
        return f"the operator {table[op].strip()}"
    module = ops.module_root(op)
    if getattr(getattr(op, "__objclass__", op), "__module__", "") == "_ctypes":
        return "a function of a C library"
    name = getattr(op, "__qualname__", getattr(op, "__name__", str(op)))
    full = getattr(op, "__module__", None) or module
    if isinstance(op, np.ufunc) and getattr(np, name, None) is not op:
        return f"scipy.special.{name}"
    if module == "numpy":
        tail = full.removeprefix("numpy").strip(".")
        return (
            "np."
            + (f"{tail}." if tail and not tail.startswith("_") and tail != "lib" and "._" not in tail else "")
            + name
        )
    return name if module in ("", "builtins") else f"{full}.{name}"


def missing(s: Assign, why: str, way_out: str = "") -> MissingRule:
    name = f"the method {s.args[1].value}" if s.op is ops.method else spelled(s.op)
    return MissingRule(
        f"the rule for {name} does not cover this call" if why.startswith("its") else f"there is no rule for {name}",
        s.span,
        why=why,
        way_out=way_out or "register one with @tangentc.elementwise or @tangentc.adjoint_rule, or wrap the argument in "
        "tangentc.stop_gradient if it is a constant",
    )  # fmt: skip


def unruled(b: Builder, s: Assign, active: str) -> MissingRule:
    """What is said of an operation that has no rule."""
    name = s.args[1].value if s.op in (ops.method, builtins.getattr) and isinstance(s.args[1], Const) else None
    if name is not None and isinstance(b.type(s.args[0]), Array) and not hasattr(np.ndarray, name):
        return MissingRule(
            f"an array has no attribute {name}", s.span, why="it is none of those of numpy.ndarray",
            way_out="call a function of the array, or see whether it is spelled otherwise",
        )  # fmt: skip
    return missing(s, f"a derivative flows through its argument {active}")


def bind(s: Assign, rule: Rule) -> Call:
    """Bind a call's arguments to the parameters of its rule."""
    required = list(rule.inputs)
    options = dict(rule.options)
    given = dict(s.keywords)
    positional = list(s.args)
    inputs: list[tuple[str, Atom | list[Atom]]] = []
    signature = _positional_names(s.op)
    for k, name in enumerate(required):
        if name.startswith("*"):
            inputs.append((name, positional))
            positional = []
        elif positional:
            inputs.append((name, positional.pop(0)))
        elif name in given:
            inputs.append((name, given.pop(name)))
        elif k < len(signature) and signature[k] in given:
            inputs.append((name, given.pop(signature[k])))
        else:
            raise missing(s, f"its argument {name} is not given")
    names = signature[len(required) :] if signature else [n for n, _ in rule.options]
    for k, atom in enumerate(positional):
        if k >= len(names):
            raise missing(s, "its rule takes fewer arguments", "split it into calls with fewer arguments")
        given[names[k]] = atom
    for name, atom in given.items():
        if name not in options:
            raise missing(s, f"its argument {name} has no place in the rule", f"write the call without {name}")
        options[name] = atom.value if isinstance(atom, Const) else Value(atom)
    return Call(rule, tuple(inputs), options, s)


def _positional_names(op: Op) -> list[str]:
    if op in (builtins.sum, builtins.max, builtins.min) or ops.module_root(op) in ("math", "_operator", "operator"):
        return []
    try:
        parameters = inspect.signature(op).parameters.values()
    except (TypeError, ValueError):
        return []
    return [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]


def _in_floats(b: Builder, call: Call) -> Call:
    """The call with floats for integers of few bits or without a sign, with which a formula would wrap around."""
    types = [None if isinstance(a, list) else b.type(a) for _, a in call.inputs]
    narrow = [is_narrow(t) for t in types]
    if not any(narrow) or call.statement.op in TAKES_INTEGERS:
        return call
    dtype = np.result_type(*(t.dtype for t in types if isinstance(t, (Array, Scalar))), np.float16).type
    inputs = []
    for (name, atom), is_changed in zip(call.inputs, narrow, strict=True):
        if is_changed and not isinstance(atom, list):
            is_array = isinstance(b.type(atom), Array)
            atom = b.emit(np.asarray, (atom,), (("dtype", Const(dtype)),)) if is_array else b.emit(dtype, (atom,))
        inputs.append((name, atom))
    return replace(call, inputs=tuple(inputs))


def environment(call: Call, formula: Formula, extra: list[object]) -> dict[str, Any]:
    """The formula's names: arguments, options, and what follows the arguments (result, adjoint)."""
    env: dict[str, Any] = dict(call.options)
    for name, atom in call.inputs:
        env[name.lstrip("*")] = [binding(a) for a in atom] if isinstance(atom, list) else binding(atom)
    rest = [n for n in formula.required if n.lstrip("*") not in env]
    env.update(zip(rest, extra, strict=True))
    return env


def check_domain(b: Builder, call: Call) -> None:
    """Refuse what the rule does not hold for."""
    s = call.statement
    fixed = call.rule.formula.fixed if call.rule.formula is not None else ()
    for k, (_, atom) in enumerate(call.inputs):
        for a in atom if isinstance(atom, list) else [atom]:
            if call.rule.real and is_complex(b.type(a)):
                raise NotDifferentiable(
                    f"{spelled(s.op)} is not differentiated for complex arguments", s.span,
                    why="its rule holds for real numbers", way_out="take real and imaginary parts",
                )  # fmt: skip
            if call.rule.kind != "zero" and s.op in ops.BINARY and library_class(b.type(a)) is not None:
                raise missing(s, f"its argument is a {library_class(b.type(a)).__name__}")
            if s.op in LISTS and isinstance(b.type(a), Array):
                raise missing(s, "its argument is an array, not a list", "make a list of it with list")
            if isinstance(t := b.type(a), Struct):
                raise missing(s, f"its argument is an object of {t.cls.__name__}", "give it an array")
            takes_items = call.rule.kind == "adjoint" and s.op in TAKES_ITEMS
            if is_container(b.type(a)) and is_differentiable(b.type(a)) and not takes_items and k not in fixed:
                raise missing(
                    s, "its argument is a list or a tuple, not a number or an array",
                    "make an array of it with np.array",
                )  # fmt: skip


TAKES_INTEGERS = {np.ldexp, math.ldexp}


def covering(b: Builder, s: Assign, rule: Rule, is_active: Callable[[Atom], bool]) -> Call:
    """The call bound to its rule.  Raises `MissingRule` or `NotDifferentiable` if the rule does not cover it."""
    call = bind(s, rule)
    check_domain(b, call)
    for name, option in call.options.items():  # what is known of it by its type
        t = b.type(option.atom) if isinstance(option, Value) else None
        if isinstance(t, Known) and (t.value is None or isinstance(t.value, (bool, str))):
            call.options[name] = t.value
    for name, values in rule.only:
        if call.options[name] not in values:
            raise missing(s, f"its argument {name} is none of {', '.join(map(repr, values))}")
    if rule.covers is not None and not rule.covers([_ranks(b, a) for _, a in call.inputs], call.options):
        raise missing(s, "its arguments are of other ranks, or its options of other kinds")
    has_objects = rule.source.startswith("tangentc.rules.scipy")
    fixed = rule.formula.fixed if rule.formula is not None and has_objects else ()
    for k, (_, a) in enumerate(call.inputs):
        if k in fixed and isinstance(a, str) and is_active(a) and isinstance(b.type(a), Unknown):
            raise missing(s, f"a derivative flows through {shown(a)}, which the rule takes for a constant")
    for option in call.options.values():
        if isinstance(option, Value) and is_active(option.atom):
            raise missing(s, f"its argument {shown(option.atom)} is active, and the rule takes it for a constant")
    return call


def _ranks(b: Builder, given: Atom | list[Atom]) -> object:
    """The rank of an argument, None if it is not known; of a list those of its items; a text as it is."""
    if isinstance(given, list):
        return [_ranks(b, a) for a in given]
    if isinstance(given, Const) and isinstance(given.value, str):
        return given.value
    t = b.type(given)
    return [rank(part) for _, part in components(t)] if is_container(t) else rank(t)


def _called(b: Builder, s: Assign) -> Op | None:
    """The function that a call calls, also where it is a method of an object of a library."""
    if s.op in (operator.matmul, operator.mul):  # of a sparse matrix
        for name, a in zip((f"__{s.op.__name__}__", f"__r{s.op.__name__}__"), s.args):
            if (cls := library_class(b.type(a))) is not None:
                return getattr(cls, name, None)
    t = b.type(s.args[0]) if s.op in (ops.method, ops.call) and s.args else None
    name = s.args[1].value if s.op is ops.method else "__call__"
    cls = np.ndarray if isinstance(t, Array) else None if t is None else library_class(t)
    return s.op if cls is None else getattr(cls, name, None)


def library_class(t: Type) -> type | None:
    """The class of an object of a library, which is neither a number nor an array."""
    cls = t.cls if isinstance(t, Opaque) else type(t.value) if isinstance(t, Known) else type(None)
    of_library = cls is np.poly1d or cls.__module__.startswith(("scipy.", "numpy."))
    return cls if of_library and not issubclass(cls, (np.generic, np.ufunc)) else None


def _takes(definition: tuple[types.FunctionType, tuple[object, ...]], s: Assign) -> bool:
    """Whether a definition has a place for the arguments of a call."""
    function, first = definition
    args = s.args[1:] if s.op is ops.method else s.args
    try:
        inspect.signature(function).bind(*first, *args, **dict(s.keywords))
    except TypeError:
        return False
    return True


def to_define(b: Builder, s: Statement, rule: Rule | None, is_active: Callable[[Atom], bool]) -> Defined | None:
    """The definition that a call needs, if it has one, and whether it is given the object whose method is called: a
    derivative flows through the call that its rule does not cover."""
    if not isinstance(s, Assign) or not any(map(is_active, s.atoms)) or rule is not None and rule.kind == "zero":
        return None
    definition = REGISTRY.definition(_called(b, s))
    if definition is None or not _takes(definition, s):
        return None
    if isinstance(s.span.site, Within) and definition[0] in s.span.site:
        return None  # what computes the value for its own definition
    found = *definition, not isinstance(s.op, types.MethodType)
    try:
        if rule is not None:
            covering(b, s, rule, is_active)
            return None
    except (MissingRule, NotDifferentiable):
        pass
    return found


def is_of_definition(b: Builder, s: Assign) -> bool:
    """Whether a statement is an operation of an object that a definition has made, in place of one of a library."""
    owned = [t for a in s.atoms if isinstance(t := b.type(a), Struct) and is_definition(t.cls)]
    if not owned or s.op is ops.identity or s.op in PUTS_TOGETHER:
        return False
    reads = s.op is builtins.getattr and isinstance(s.args[1], Const)
    return not reads or s.args[1].value not in owned[0].fields


def refuse_active_key(s: Assign, active: Container[str]) -> None:
    """Refuse a derivative that flows through what stands between the brackets, as in ``np.r_[x, 0]``."""
    if isinstance(s.args[1], str) and s.args[1] in active:
        raise missing(
            s, f"a derivative flows through the subscript {shown(s.args[1])}", "use np.concatenate or np.array"
        )


def refuse_active_items(s: For | While, active: set[str]) -> None:
    """Refuse a loop whose items are active and have no positions."""
    if isinstance(s, For) and s.target in active:
        raise UnsupportedSyntax(
            "a derivative flows through what this loop runs over, which is not an array, a list or a tuple", s.span,
            why="its items cannot be found again by their positions",
            way_out="loop over the positions, and take the items by subscript",
        )  # fmt: skip


def prefers_math(op: Op) -> bool:
    return getattr(math, getattr(op, "__name__", ""), None) is op


def partials(b: Builder, call: Call, y: Atom, indices: list[int]) -> dict[int, Atom | None]:
    """The partial derivatives of an elementwise call for the arguments asked for."""
    formula = call.rule.formula
    assert formula is not None
    out: dict[int, Atom | None] = {}
    for index in indices:
        fragment = Fragment(b, formula, prefers_math(call.statement.op))
        env = environment(_in_floats(b, call), formula, [binding(y)])
        try:
            result = fragment.run(env, index, len(call.inputs))
        except Undecided:
            raise missing(
                call.statement, "its rule chooses by a value, or by a rank that is not known",
                "let the rule choose entry by entry, with np.where(x > 0, a, b)",
            ) from None  # fmt: skip
        except NotDifferentiable as refused:
            raise refused.at(call.statement.span) from None
        out[index] = None if result is None else fragment.atom(result)
        inputs = [a for _, a in call.inputs if not isinstance(a, list)]
        check_shape(b, formula, out[index], "a result", y, [], inputs)
    return out


def check_shape(
    b: Builder, formula: Formula, given: Given | None, what: str, x: Atom, others: list[Atom], values: Iterable[Atom]
) -> None:
    """Refuse what a rule gives for ``x`` if it cannot come from the shape of ``x``: each axis that it has beyond those
    of ``x``, or longer than there, is one along which broadcasting has repeated ``x`` for one of the ``others``.
    Where types do not say, the run does, unless it is computed from ``values`` entry by entry.
    """
    if formula.function.__module__.startswith("tangentc.") or not isinstance(given, str):
        return  # the tests of the rules see those forms
    shape, wanted = shape_of(b.type(given)), shape_of(b.type(x))
    around = [() if isinstance(t := b.type(a), Known) else shape_of(t) for a in others]
    known = wanted is not None and shape is not None and None not in around
    axes = enumerate(reversed(shape or ()), 1)
    fits = [_comes_from(length, wanted, k, around) for k, length in axes] if known else [None]  # type: ignore[arg-type]
    if False in fits:
        raise BadRule(
            f"the rule {formula.name} gives {describe(b.type(given))} for {what} of {describe(b.type(x))}",
            formula.span(formula.tree),
            why="only axes along which broadcasting has repeated a value are summed",
            way_out="return an array of the same shape, or one that broadcasts to it",
        )  # fmt: skip
    if None in fits and not _by_entries(b, given, {x, *others, *values}):
        b.effect(runtime.require_shape, (given, Const(formula.name), x, *others))


def _by_entries(b: Builder, given: Atom, values: set[Atom]) -> bool:
    """Whether something is computed from values by elementwise operations alone."""
    if not isinstance(given, str) or given in values:
        return True
    made = b.maker(given)
    return made is not None and is_elementwise(made.op) and all(_by_entries(b, a, values) for a in made.args)


def _comes_from(length: Dim, wanted: tuple[Dim, ...], k: int, around: list[tuple[Dim, ...]]) -> bool | None:
    """Whether an axis, the k-th from the end, is one of a value or one that broadcasting has repeated it along."""
    own = wanted[-k] if k <= len(wanted) else 1
    repeated = {s[-k] for s in around if len(s) >= k} if own == 1 else set()
    if length in (own, 1) or length in repeated:
        return True
    if repeated - {1} or isinstance(length, Length) and not length.many:
        return None
    return False if own == 1 or isinstance(own, int) and isinstance(length, int) else None


def adjoints(b: Builder, call: Call, y: Atom, y_bar: Atom, index: int) -> Any:
    """What an adjoint rule gives for one argument: an atom, a list of atoms, or None."""
    formula = call.rule.formula
    assert formula is not None
    fragment = Fragment(b, formula)
    env = environment(call, formula, [binding(y), Value(y_bar) if isinstance(y_bar, str) else y_bar.value])
    try:
        result = fragment.run(env, index, len(call.inputs))
    except Undecided:
        result = _call_rule(b, call, formula, [y, y_bar], index)
    except NotDifferentiable as refused:
        raise refused.at(call.statement.span) from None
    made = _to_atoms(fragment, result)
    given = [a for _, a in call.inputs if not isinstance(a, list)]
    options = [v.atom for v in call.options.values() if isinstance(v, Value)]
    if len(given) == len(call.inputs):
        others = [y, *given[:index], *given[index + 1 :], *options]
        check_shape(b, formula, made, "an argument", given[index], others, [y_bar])
    return made


def _to_atoms(fragment: Fragment, result: object) -> Any:
    if isinstance(result, (list, tuple)):
        return [_to_atoms(fragment, r) for r in result]
    return None if result is None else fragment.atom(result)


def _call_rule(b: Builder, call: Call, formula: Formula, extra: list[Atom], index: int) -> Value:
    """Leave a choice about unknown types to the rule itself, called by the emitted code."""
    function = formula.function
    if not ops.is_pure(function):
        say(function, pure=True)
    args: list[Atom] = []
    for _, atom in call.inputs:
        args.extend(atom if isinstance(atom, list) else [atom])
    if any(n.startswith("*") for n, _ in call.inputs):
        raise missing(call.statement, "its rule depends on a type that is not known")
    defaults = dict(call.rule.options)
    keywords = tuple(
        (k, Const(v) if not isinstance(v, Value) else v.atom)
        for k, v in call.options.items()
        if v is not defaults.get(k)
    )
    atom = b.emit(function, (*args, *extra), keywords, name=f"%{formula.name}_adjoints")
    if len(call.rule.inputs) == 1:
        return Value(atom)
    if not formula.function.__module__.startswith("tangentc."):
        b.effect(runtime.require_count, (atom, Const(len(call.rule.inputs))))
    return Value(b.emit(operator.getitem, (atom, Const(index))))


def tangent(b: Builder, call: Call, y: Atom, dots: list[Atom | None]) -> Atom:
    """What a tangent rule gives."""
    formula = call.rule.tangent
    assert formula is not None
    fragment = Fragment(b, formula)
    env = environment(call, formula, [binding(y), *(binding(d) for d in dots)])
    try:
        made = fragment.atom(fragment.run(env))
    except Undecided:
        raise missing(call.statement, "its tangent rule depends on a type that is not known") from None
    check_shape(b, formula, made, "a result", y, [], [d for d in dots if isinstance(d, (str, Const))])
    return made
