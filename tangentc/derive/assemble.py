"""From sweeps to functions: gradients, adjoints, pairs, tangents.

f_grad(x, ..., out_bar=1.0)              primal sweep, adjoint sweep, the gradients
f_adjoint(x, ..., out_bar)               the same, called with a seed
f_primal(x, ...) -> (out, saved)         with f_adjoint(saved, out_bar): a pair
"""

from __future__ import annotations

import builtins
import dataclasses
import inspect
import operator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis.activity import Activity
from tangentc.analysis.fits import may_raise
from tangentc.analysis.masks import has_places
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.naming import shown
from tangentc.core.nodes import (
    AFTERWARDS,
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    Function,
    Global,
    If,
    Merge,
    Opaque,
    Param,
    Statement,
    version_base,
)
from tangentc.core.types import (
    SAVED,
    SETTINGS,
    Array,
    Known,
    Scalar,
    Struct,
    Tuple,
    Type,
    Unknown,
    components,
    describe,
    is_complex,
    is_container,
    is_differentiable,
    is_long,
)
from tangentc.core.walk import (
    all_reads,
    changed_by,
    defines,
    definitions,
    reads,
    statements,
    substitute,
    substitute_block,
    transform,
)
from tangentc.derive.adjoints import allocates, bar_name, build_container, copies, get_part
from tangentc.derive.calls import Defined, to_define
from tangentc.derive.forward import forward
from tangentc.derive.link import Region
from tangentc.derive.reverse import Sweeps, reverse
from tangentc.errors import BadArgument, NotDifferentiable, NotScalar, UnsupportedSyntax
from tangentc.rules.registry import REGISTRY, Rule
from tangentc.simplify.algebra import simplify as peephole
from tangentc.simplify.copies import copies as without_copies
from tangentc.simplify.dead import dead

ZERO = Rule(ops.stopped, "zero")


@dataclass(frozen=True)
class Pair:
    """The pair of a callee at one call: what to call, with which arguments, and whose adjoints come back.

    Without a name for what the primal saves it gives its value alone, and the adjoint is given the arguments.
    """

    primal: Any
    adjoint: ops.Emitted
    arguments: tuple[Atom, ...]
    active: tuple[tuple[Atom, str], ...]
    saved_name: str | None


class Unit:
    """One function while its derivative is written: its facts, and the services that the writers use.

    With ``chosen`` a caller takes some entries of its result, and others not; with ``tangents`` it is forward mode.
    """

    def __init__(self, context: Any, program: Any, wrt: set[str], chosen: bool = False, tangents: bool = False):
        self.context, self.program, self.chosen, self.wrt = context, program, chosen, wrt
        self.activity = Activity(program.function, wrt, program.types, program.aliases, self._is_zero, tangents)
        self.active = self.activity.active
        self._note_outside(program, self.activity, set())
        self.builder = Builder(program.types, [*program.types.of_name], peephole)
        self._ask_for_definitions()

    def _note_outside(self, program: Any, activity: Activity, met: set[Any]) -> None:
        """Note what belongs to the module and is written into or read, by calls without a derivative among others."""
        self.context.put |= activity.put
        self.context.read |= activity.read
        for s in statements(program.function.body):
            if not isinstance(s, (Assign, Effect)) or not self.is_user_call(s.op):
                continue
            if isinstance(s, Assign) and s.target in activity.active:
                continue
            function, atoms = self.callee_arguments(s)
            callee = self.context.prepare(function, [program.types.of(a) for a in atoms])
            params = inspect.signature(function).parameters
            wrt = {p for p, a in zip(params, atoms, strict=True) if a in activity.varied}
            if not wrt:
                self.context.read.update(
                    a for t in statements(callee.function.body) for a in reads(t) if isinstance(a, Global)
                )
            elif (function, *sorted(wrt)) not in met:
                met.add((function, *sorted(wrt)))
                inner = Activity(callee.function, wrt, callee.types, callee.aliases, self._is_zero)
                self._note_outside(callee, inner, met)

    def _ask_for_definitions(self) -> None:
        """Have the calls through which a derivative flows, and that no rule covers, written out."""
        sites: dict[Any, Any] = {}
        made: set[Any] = set()  # what is of another type then
        known = self.context.defined.get(self.program.source, {})
        for s in statements(self.program.function.body):
            if isinstance(s, Assign) and made.intersection(s.atoms):
                made.add(s.target)
            elif isinstance(s, Assign) and s.span.site is not None and s.span.site not in known:
                found = to_define(self.builder, s, self.rule(s.op), self.active.__contains__)
                if found is not None:
                    sites[s.span.site] = found
                    made |= {s.target} if isinstance(self.builder.type(s.target), Unknown) else set()
        if sites:
            raise Defined(self.program.source, sites)

    @cached_property
    def masks(self) -> Any:
        return self.context.masks(self.program, self.chosen)

    def mask(self, name: str) -> Any:
        """The mask under which the adjoint of a value is to be computed, if there is one."""
        found = self.masks.get(name)
        self.context.chooses |= found is not None
        return found

    @cached_property
    def unbounded(self) -> set[Atom]:
        found: set[Atom] = self.context.unbounded(self.program, self.wrt)
        return found

    @cached_property
    def definitions(self) -> Any:
        return definitions(self.program.function.body)

    def rule(self, op: Any) -> Rule | None:
        return ZERO if op is ops.stopped else REGISTRY.find(op)

    def _is_zero(self, op: Any) -> bool:
        rule = self.rule(op)
        return rule is not None and rule.kind == "zero"

    def is_user_call(self, op: Any) -> bool:
        return isinstance(op, ops.UserFunction)

    def callee_arguments(self, s: Assign | Effect) -> tuple[Any, list[Atom]]:
        """The function that a statement calls, and its arguments in the order of its parameters."""
        function = s.op.function  # type: ignore[attr-defined]
        signature = inspect.signature(function)
        try:
            bound = signature.bind(*s.args, **dict(s.keywords))
        except TypeError as error:
            raise UnsupportedSyntax(f"{function.__name__} is called with the wrong arguments", s.span, why=str(error),
                                    way_out="correct the call") from None  # fmt: skip
        atoms = []
        for name, parameter in signature.parameters.items():
            atoms.append(bound.arguments[name] if name in bound.arguments else Const(parameter.default))
        return function, atoms

    def pair(self, s: Assign, active: set[str]) -> Pair:
        function, atoms = self.callee_arguments(s)
        types = [self.builder.type(a) for a in atoms]
        flags = tuple(isinstance(a, str) and a in active for a in atoms)
        params = list(inspect.signature(function).parameters)
        wrt = tuple((a, p) for a, p, flag in zip(atoms, params, flags, strict=True) if flag)
        gives = tuple(_adjoint_type(t) for t, flag in zip(types, flags, strict=True) if flag)
        bars = gives[0] if len(gives) == 1 else Tuple(gives)
        mask = self.masks.get(s.target)
        chosen = mask is not None and not has_places(mask)
        if self.context.recomputes(function, types):
            adjoint = make_adjoint(self.context, function, types, flags, chosen)
            return Pair(s.op, ops.Emitted(adjoint, True, bars, False), tuple(atoms), wrt, None)
        primal, adjoint, pure = make_pair(self.context, function, types, flags, chosen=chosen)
        both = Tuple((self.builder.type(s.target), Unknown("what a primal saves")))
        shown = version_base(s.target).lstrip("%")
        saved = f"{function.__name__}_saved" if s.target.startswith("%") else f"{function.__name__}_{shown}_saved"
        return Pair(ops.Emitted(primal, pure, both), ops.Emitted(adjoint, True, bars, False), tuple(atoms), wrt, saved)

    def tangent_call(self, s: Assign, dots: dict[Atom, Atom]) -> tuple[ops.Emitted, tuple[Atom, ...]]:
        function, atoms = self.callee_arguments(s)
        types = [self.builder.type(a) for a in atoms]
        flags = tuple(a in dots for a in atoms)
        name, pure = make_tangent(self.context, function, types, flags)
        t = self.builder.type(s.target)
        op = ops.Emitted(name, pure, Tuple((t, _adjoint_type(t))))
        return op, (*atoms, *(dots[a] for a, flag in zip(atoms, flags, strict=True) if flag))


def _source_doc(program: Any, what: str) -> str:
    span = program.function.span
    place = f'"{_short(span.file)}", line {span.line}'
    known = ((p.name, program.types.of(p.name)) for p in program.function.params)
    settings = [f"{n}={t.value!r}" for n, t in known if isinstance(t, Known) and type(t.value) in SETTINGS]
    written_for = f"  This code is for {_with_respect_to(settings)}." if settings else ""
    return f"{what}\n\n{program.function.name} stands in {place}.{written_for}\n"


def _short(path: str) -> str:
    return path.replace("\\", "/").rsplit("/", 1)[-1]


def _with_respect_to(names: list[str]) -> str:
    return ", ".join(names[:-1]) + " and " + names[-1] if len(names) > 1 else names[0]


def _parameters(program: Any) -> list[str]:
    return [p.name for p in program.function.params]


# ------------------------------------------------------------------ gradients and adjoints
def gradient(
    context: Any, source: Any, types: list[Type], wrt: tuple[int, ...], single: bool, *,
    value: bool = False, aux: bool = False, seed_given: Type | None = None, name: str = "",
    paths: tuple[str, ...] = (), inherited: int = 0, chosen: bool = False,
) -> Any:  # fmt: skip
    """The gradient function in core form.  With a type for the seed, it is an argument of its own (an adjoint).

    The last ``inherited`` parameters are the seeds, 1.0, of gradients inside; they stay the last.
    """
    seeded = seed_given is not None
    program = context.prepare(source, types)
    names = [_parameters(program)[i] for i in wrt]
    unit = Unit(context, program, set(names), chosen=chosen)
    b, function = unit.builder, program.function
    seed_type = program.result
    target: Atom = function.result
    if aux:
        if not isinstance(program.result, Tuple) or len(program.result.items) != 2:
            raise NotDifferentiable(
                f"{function.name} does not return a pair", function.span,
                why="with has_aux=True a function returns its value and what goes along with it",
                way_out="return (value, aux), or leave out has_aux",
            )  # fmt: skip
        seed_type = program.result.items[0]
    if not seeded:
        _check_scalar(program, seed_type)
    check: tuple[Statement, ...] = ()
    if isinstance(seed_type, Unknown) and not seeded and isinstance(target, str) and not aux:
        check = (Effect(runtime.require_scalar, (target, Const(function.name)), (), function.span),)
        seed_type = b.types.of_name[target] = Scalar("float64")
    seed = b.fresh("out_bar")
    b.types.of_name[seed] = _seed_type(seed_type) if seed_given is None else seed_given
    seeds: dict[str, Any] = {}
    if isinstance(target, str):
        seeds[target] = {0: seed} if aux else seed
    sweeps = reverse(function, seeds, b, program.aliases, unit.active, unit)
    kept, value_given = _kept(b, program, target) if value else ((), target)
    primal = _with_unused(sweeps.primal, program) if value else sweeps.primal
    b.out = [*primal, *check, *kept, *sweeps.adjoint]
    b.span = AFTERWARDS
    finals = {n: _final(sweeps, n) for n in dict.fromkeys(names)}
    parts = zip(names, paths or ("",) * len(names), strict=True)
    results = [_part_or_paths(b, finals[n], b.type(n), path, function) for n, path in parts]
    gradients: Atom = results[0] if single else b.emit(ops.make_tuple, tuple(results))
    result = b.emit(ops.make_tuple, (value_given, gradients)) if value else gradients
    what = f"The {'adjoint' if seeded else 'gradient'} of {function.name} with respect to {_with_respect_to(names)}"
    if value:
        what = f"The value of {function.name}, and its gradient with respect to {_with_respect_to(names)}"
    place = len(function.params) - inherited if seeded else len(function.params)
    params = (*function.params[:place], Param(seed, None if seeded else Const(1.0)), *function.params[place:])
    doc = _source_doc(program, what + (", for the seed out_bar." if seeded else "."))
    out = Function(name or context.unique_name(f"{function.name}_grad"), params, b.take(), result, function.span, doc)
    context.observe("reverse", "the chain rule: adjoint statements follow the primal ones", out, b.types)
    return _finished(context, out, b, program)


def _kept(b: Builder, program: Any, result: Atom) -> tuple[tuple[Statement, ...], Atom]:
    """The result as it is before the adjoint sweep, which puts arrays and containers back to what they were."""
    t = b.type(result)
    if isinstance(t, Scalar) or not isinstance(result, str) or not program.aliases.is_changed(result):
        return (), result
    name = b.fresh(f"{shown(result)}_kept")
    b.types.of_name[name] = t
    return (Assign(name, copies(t), (result,), (), AFTERWARDS),), name


def _with_unused(primal: Block, program: Any) -> Block:
    """The primal sweep, in which what the value does not need, but may raise, is run all the same."""
    needed = {n for s in statements(dead(program.function, program.types, program.aliases).body) for n in defines(s)}
    run: set[str] = set()  # for its effect
    reached: set[Atom] = set(needed)  # what is computed anyway
    for s in reversed(list(statements(program.function.body))):
        if isinstance(s, Assign) and s.target not in needed:
            if s.target not in reached and may_raise(s, program.types):
                run.add(s.target)
            if s.target in reached or s.target in run:
                reached.update(s.atoms)

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Assign) and s.target in run:
            return Effect(s.op, s.args, s.keywords, s.span), s
        return (s,)

    return transform(primal, rewrite) if run else primal


def _part_or_paths(b: Builder, bar: Atom, t: Type, path: str, function: Function) -> Atom:
    """Of the gradient of an object the part at a path; of an object of a plain class a dict of its paths."""
    for name in path.split(".") if path else ():
        if not isinstance(t, (Struct, Tuple)) or name not in getattr(t, "fields", getattr(t.cls, "_fields", ())):
            raise BadArgument(
                f"wrt={path!r} is not an attribute of the argument of {function.name}",
                why=f"{name} is not among its attributes", way_out="name an attribute that holds numbers",
            )  # fmt: skip
        k = (t.fields if isinstance(t, Struct) else t.cls._fields).index(name)
        bar, t = get_part(b, bar, name if isinstance(t, Struct) else k), t.items[k]
    if not isinstance(t, Struct) or dataclasses.is_dataclass(t.cls):
        return bar
    found: dict[str, Atom] = {}
    stack: list[tuple[str, Atom, Type]] = [("", bar, t)]
    while stack:
        prefix, atom, kind = stack.pop(0)
        if isinstance(kind, Struct) and not dataclasses.is_dataclass(kind.cls):
            parts = [
                (f"{prefix}{n}.", get_part(b, atom, n), p)
                for n, p in zip(kind.fields, kind.items, strict=True)
                if is_differentiable(p)
            ]
            stack = parts + stack
        else:
            found[prefix[:-1]] = atom
    return b.emit(ops.make_dict, (Const(tuple(found)), *found.values()), name="%self_bar")


def _finished(context: Any, function: Function, b: Builder, program: Any) -> Any:
    done = context.simplify(function, b.types, program.source)
    context.emitted.append((done, program.source))
    return done


def check_result(program: Any) -> None:
    """Refuse a function whose value is computed from something that is never there: its derivative would be zero."""
    if isinstance(program.result, Known) and program.result.value is ops.UNDEFINED:
        raise UnsupportedSyntax(
            f"what {program.function.name} returns has no type", program.function.span,
            why="it is computed from something into which nothing was put",
            way_out="leave out what is never there, or start from a number",
        )  # fmt: skip


def _check_scalar(program: Any, t: Type) -> None:
    function = program.function
    if isinstance(t, Scalar) and np.dtype(t.dtype).kind == "f" or isinstance(t, Unknown):
        return
    if isinstance(t, Array) and all(d == 1 for d in t.shape) and np.dtype(t.dtype).kind == "f":
        return  # an array of one entry is one number
    span = next(
        (
            s.span
            for s in reversed(list(statements(function.body)))
            if isinstance(s, Assign) and s.target == function.result
        ),
        function.span,
    )
    if isinstance(t, (Scalar, Array)) and np.dtype(t.dtype).kind == "c":
        raise NotScalar(
            f"{function.name} returns a complex number", span, why="a gradient is that of a real function",
            way_out="return its real part, or its squared modulus, or use tangentc.vjp",
        )  # fmt: skip
    if isinstance(t, Known) and t.value is ops.UNDEFINED:
        ways = [s.span for s in statements(function.body) if isinstance(s, Opaque) and type(s.tree).__name__ == "Raise"]
        raise NotScalar(
            f"{function.name} never returns for arguments of these types", (*ways, function.span)[0],
            why="every way through it ends in an error", way_out="call the function itself to see which",
        )  # fmt: skip
    raise NotScalar(
        f"{function.name} returns {describe(t)}, and grad needs one number",
        span,
        why="a gradient belongs to a function whose value is a scalar",
        way_out="sum the result, or use tangentc.vjp or tangentc.adjoint with a seed for it",
    )


def _seed_type(t: Type) -> Type:
    """The type of the seed 1.0, a Python number."""
    return Scalar(t.dtype, True) if isinstance(t, Scalar) else Scalar("float64", True) if isinstance(t, Array) else t


def _adjoint_type(t: Type) -> Type:
    if isinstance(t, Scalar):
        return Scalar(t.dtype, t.weak)
    return t


def _final(sweeps: Sweeps, name: str) -> Atom:
    """The gradient of one parameter, in arrays of its own, in the parameter's shape and structure."""
    adj, b = sweeps.adjoints, sweeps.builder
    t = b.type(name)
    shadowed = adj.shadow_key(name) in adj.shadows
    bar = adj.take(name)
    if shadowed and is_container(t):
        assert isinstance(bar, str)
        return b.emit(runtime.shaped_like, (bar, name), name=bar_name(name))
    if is_container(t):
        return _own_leaves(sweeps, adj.whole(bar, name), t)
    whole = adj.full(adj.whole(bar, name), name)
    if isinstance(t, Array) and not t.shape:  # a number: back into an array without axes
        return b.emit(np.full_like, (name, whole), name=bar_name(name))
    if isinstance(t, Unknown) and isinstance(whole, Const):
        return b.emit(runtime.unbroadcast, (whole, name), name=bar_name(name))
    if isinstance(t, Scalar) and not t.weak and isinstance(b.type(whole), Scalar) and b.type(whole).dtype != t.dtype:
        return b.emit(np.dtype(t.dtype).type, (whole,), name=bar_name(name))
    if is_complex(t) and isinstance(t, Scalar) and not is_complex(b.type(whole)):
        return b.emit(builtins.complex, (whole,), name=bar_name(name))
    if isinstance(whole, Const):
        return whole
    if isinstance(t, Scalar) and isinstance(b.type(whole), Array):
        return b.emit(operator.getitem, (whole, Const(())), name=bar_name(name))
    if isinstance(t, Scalar) and t.weak and getattr(b.type(whole), "dtype", "") in ("float16", "float32"):
        return b.emit(builtins.float, (whole,), name=bar_name(name))
    if not shadowed:
        whole = _own_array(sweeps, whole, t, name)
    return b.rename(whole, bar_name(name))


def _own_array(sweeps: Sweeps, x_bar: Atom, t: Type, name: str) -> Atom:
    """An array that is returned once, and that nobody else holds."""
    b, given = sweeps.builder, sweeps.given
    made = b.maker(x_bar)
    owned = x_bar in sweeps.adjoints.own or made is not None and allocates(b, sweeps.adjoints.aliases, made)
    if isinstance(t, (Array, Unknown)) and (x_bar in given or not owned):
        x_bar = b.emit(copies(t), (x_bar,), name=bar_name(name))
    given.add(x_bar)
    return x_bar


def _own_leaves(sweeps: Sweeps, whole: Atom, t: Type) -> Atom:
    """A container whose arrays are all its own."""
    b = sweeps.builder
    if is_long(t):
        given = whole in sweeps.given
        sweeps.given.add(whole)
        return b.emit(runtime.copied, (whole,)) if given or whole not in sweeps.adjoints.own else whole
    made = b.maker(whole)
    if made is None or made.op not in (ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct):
        if made is not None and allocates(b, sweeps.adjoints.aliases, made) and whole not in sweeps.given:
            sweeps.given.add(whole)
            return whole  # what an emitted adjoint returns is nobody else's
        parts = [get_part(b, whole, key) for key, _ in components(t)]
    else:
        parts = list(made.args[len(made.args) - len(list(components(t))) :])
    owned = []
    for atom, (_, part) in zip(parts, components(t), strict=True):
        if is_container(part):
            owned.append(_own_leaves(sweeps, atom, part))
        elif isinstance(atom, str) and isinstance(part, (Array, Unknown)) and is_differentiable(part):
            shadowed = atom in sweeps.adjoints.shadow_names
            owned.append(atom if shadowed else _own_array(sweeps, atom, part, "%part"))
        else:
            owned.append(atom)
    return (
        whole
        if owned == parts and made is not None and made.op is not operator.getitem
        else build_container(b, t, owned)
    )


# ------------------------------------------------------------------ pairs
def make_pair(
    context: Any, source: Any, types: list[Type], flags: tuple[bool, ...], names: tuple[str, str] | None = None,
    chosen: bool = False,
) -> tuple[str, str, bool]:  # fmt: skip
    """The names of the primal and of the adjoint of a function, for these types and these active arguments, and
    whether the primal is pure.  With ``chosen`` the caller takes some entries of its result, and others not."""
    program = context.prepare(source, types)
    key = "pair", *context.key(source, types), flags, chosen
    if key in context.pairs:
        known: tuple[str, str, bool] = context.pairs[key]
        return known
    function = program.function
    wrt = [p for p, flag in zip(_parameters(program), flags, strict=True) if flag]
    primal_name, adjoint_name = names or _pair_names(context, function.name)
    context.pairs[key] = primal_name, adjoint_name, program.pure  # from here on: the function may call itself
    unit = Unit(context, program, set(wrt), chosen=chosen)
    b = unit.builder
    seed = b.fresh("out_bar")
    b.types.of_name[seed] = _adjoint_type(program.result)
    seeds = {function.result: seed} if isinstance(function.result, str) else {}
    sweeps = reverse(function, seeds, b, program.aliases, unit.active, unit)  # type: ignore[arg-type]
    b.span = AFTERWARDS
    results = [_final(sweeps, n) for n in wrt]
    result = results[0] if len(results) == 1 else b.emit(ops.make_tuple, tuple(results))
    adjoint = Function("", (), b.take(), result, function.span)
    adjoint, primal, value, saved = _link_pair(context, program, sweeps, adjoint, b, seed, adjoint_name, wrt)
    _emit_primal(context, program, primal, value, saved, b, primal_name)
    context.emitted.append((context.with_facts(adjoint, b.types, program.source), program.source))
    found: tuple[str, str, bool] = context.pairs[key]
    return found


def make_adjoint(context: Any, source: Any, types: list[Type], flags: tuple[bool, ...], chosen: bool) -> str:
    """The name of the adjoint of a function as one of its arguments and the seed, which runs the primal itself."""
    program = context.prepare(source, types)
    key = "adjoint", *context.key(source, types), flags, chosen
    if key not in context.pairs:
        wrt = tuple(k for k, flag in enumerate(flags) if flag)
        name = context.unique_name(f"{program.function.name}_adjoint")
        context.pairs[key] = name  # from here on: the function may call itself
        seed = _adjoint_type(program.result)
        gradient(context, source, types, wrt, len(wrt) == 1, seed_given=seed, name=name, chosen=chosen)
    found: str = context.pairs[key]
    return found


def _pair_names(context: Any, name: str) -> tuple[str, str]:
    return context.unique_name(f"{name}_primal"), context.unique_name(f"{name}_adjoint")


def _link_pair(
    context: Any, program: Any, sweeps: Sweeps, adjoint: Function, b: Builder, seed: str, name: str, wrt: list[str]
) -> tuple[Function, Block, Atom, list[str]]:
    """The adjoint as a function of what the primal saves, the primal, its value, and what it saves.

    The primal is what the adjoint was planned for: the statements that are left when both are one function.
    """
    # the value is a result too, so that every store that the primal makes is seen here
    both = b.fresh("%both")
    b.types.of_name[both] = Tuple((program.result, Unknown("the adjoints")))
    value = b.fresh("%value")
    b.types.of_name[value] = Unknown("the value")
    snapshot = Assign(value, ops.snapshot, (program.function.result,))
    together = Assign(both, ops.make_tuple, (value, adjoint.result))
    joint = Function(
        "joint",
        (*program.function.params, Param(seed)),
        (*sweeps.primal, snapshot, *adjoint.body, together),
        both,
        program.function.span,
    )
    inputs = [p.name for p in program.function.params]
    done = context.with_facts(joint, b.types, program.source)
    for step in context.steps:
        done = context.with_facts(step.run(done), b.types, program.source)
    body, together = done.function.body[:-1], done.function.body[-1]
    cut_at = next(k for k, s in enumerate(body) if isinstance(s, Assign) and s.op is ops.snapshot)
    primal, rest = body[:cut_at], body[cut_at + 1 :]
    target: Atom = body[cut_at].args[0]
    region = Region(b, done.aliases, primal, rest, inputs, extra=(together.args[1],))
    saved, linked = region.link_pair()
    inside = saved
    saved, linked, primal = _export(saved, linked, primal, b)
    origin = dict(zip(saved, inside, strict=True))  # the names inside branches, whose memory is known
    head: list[Statement] = []
    parameter = b.fresh("saved")
    b.types.of_name[parameter] = SAVED
    table: dict[str, Atom] = {}
    changes = {changed_by(s) for s in statements(linked)}
    stored = {done.aliases.root(origin.get(n, n)) for n in changes if n is not None}
    root = {n: done.aliases.root(origin[n]) for n in saved}
    restored = {n for n in saved if root[n] in stored and isinstance(b.types.of_name.get(n), Array)}
    popped = {s.args[0] for s in statements(linked) if isinstance(s, Assign) and s.op is ops.pop}
    together_ = {n for n in saved if root[n] in stored or n in popped}
    held = {n for n in saved if _may_hold(primal, origin[n], stored, done.aliases)}  # arrays that are put back
    together_ |= held
    shared = len({root[n] for n in restored}) < len(restored) or bool(sweeps.adjoints.mirror) or bool(held)
    shared = shared or any(is_container(b.types.of_name.get(n, Unknown())) for n in together_)
    shared = shared or any(  # what was saved in a list: it may be there several times, and in other lists
        isinstance(s, Assign) and s.op is ops.pop and (
            done.aliases.root(s.target) in stored
            and (isinstance(b.type(s.target), Array) or is_container(b.type(s.target)))
            or isinstance(b.type(s.target), Unknown) and stored  # what the primal of a call saved
        )
        for s in statements(linked)
    )  # fmt: skip
    changed = {n for n in together_ if not isinstance(b.types.of_name.get(n), Scalar)} if shared else restored | popped
    keeps = {n: b.fresh(f"{n}_kept") for n in saved}
    for k, n in enumerate(saved):
        source: Atom = parameter if len(saved) == 1 else ""
        if len(saved) > 1:
            head.append(Assign(n if n not in changed else keeps[n], operator.getitem, (parameter, Const(k))))
            b.types.of_name.setdefault(keeps[n], b.types.of(n) if n in b.types.of_name else Unknown())
            source = keeps[n]
        if n in changed:
            table[n] = b.fresh(n)
            b.types.of_name[table[n]] = b.types.of_name.get(n, Unknown())
        elif len(saved) == 1:
            head.append(Assign(n, ops.identity, (source,)))
    own = [n for n in saved if n in table]  # what the adjoint changes it changes in copies of its own
    sources = {n: parameter if len(saved) == 1 else keeps[n] for n in own}
    if shared and own:
        kept, all_ = b.fresh("%kept"), b.fresh("%own")
        given = [sources[n] for n in own]
        b.types.of_name[kept] = b.types.of_name[all_] = Tuple(tuple(b.types.of_name.get(n, Unknown()) for n in own))
        head.append(Assign(kept, ops.make_tuple, tuple(given)))
        head.append(Assign(all_, runtime.copied, (kept,)))
        head += [Assign(table[n], operator.getitem, (all_, Const(k))) for k, n in enumerate(own)]  # type: ignore[arg-type]
    for n in [] if shared else own:
        t = b.types.of_name.get(n)
        copy = ops.method if isinstance(t, (Unknown, type(None))) or n in popped else np.copy
        args: tuple[Atom, ...] = (sources[n], Const("copy")) if copy is ops.method else (sources[n],)
        head.append(Assign(table[n], copy, args))  # type: ignore[arg-type]
    linked = substitute_block(linked, table)
    result = substitute(together, table).args[1]
    out = _adjoint_function(program, name, parameter, seed, wrt, head, linked, result, saved, table)
    return out, primal, target, saved


def _may_hold(primal: Block, saved: str, stored: set[str], aliases: Any) -> bool:
    """Whether what the primal of a call saved may hold memory of what is changed: its arguments, or its result."""
    made = definitions(primal)
    part = made.get(saved)
    call = made.get(part.args[0]) if isinstance(part, Assign) and part.op is operator.getitem else None  # type: ignore
    if not isinstance(call, Assign) or not isinstance(aliases.types.of(saved), Unknown):
        return False
    results = {s.target for s in made.values() if isinstance(s, Assign) and s.args[:1] == (call.target,)}
    return any(isinstance(a, str) and aliases.root(a) in stored for a in (*call.atoms, *results))


def _adjoint_function(
    program: Any, name: str, parameter: str, seed: str, wrt: list[str], head: list[Statement], linked: Block,
    result: Atom, saved: list[str], table: dict[str, Atom],
) -> Function:  # fmt: skip
    doc = _source_doc(
        program,
        f"The adjoint of {program.function.name} with respect to {_with_respect_to(wrt)}, from what its primal saved.",
    )
    out = Function(name, (Param(parameter), Param(seed)), (*head, *linked), result, program.function.span, doc)
    return without_copies(out) if len(saved) != 1 else _single(out, parameter, saved[0], table)


def _export(saved: list[str], linked: Block, primal: Block, b: Builder) -> tuple[list[str], Block, Block]:
    """What is saved inside a branch is handed out of it; it is None where the other branch is taken."""
    table: dict[str, Atom] = {}

    def block(statements_: Block) -> tuple[Block, list[str]]:
        out: list[Statement] = []
        here: list[str] = []
        for s in statements_:
            if isinstance(s, If):
                then, from_then = block(s.then)
                orelse, from_else = block(s.orelse)
                merged = list(s.merged)
                for names, pick in ((from_then, 0), (from_else, 1)):
                    for n in names:
                        new = b.fresh(n)
                        b.types.of_name[new] = b.types.of(n)
                        merged.append(Merge(new, n if pick == 0 else Const(None), n if pick else Const(None)))
                        for old in [k for k, v in table.items() if v == n]:
                            table[old] = new
                        table[n] = new
                        here.append(new)
                s = replace(s, then=then, orelse=orelse, merged=tuple(merged))
            here.extend(n for n in defines(s) if n in saved)
            out.append(s)
        return tuple(out), here

    def top(statements_: Block) -> Block:
        out: list[Statement] = []
        for s in statements_:
            out.extend(block((s,))[0] if isinstance(s, If) else (s,))
        return tuple(out)

    exported = top(primal)
    if not table:
        return saved, linked, primal
    names = [str(table.get(n, n)) for n in saved]
    return names, substitute_block(linked, table), exported


def _single(function: Function, parameter: str, name: str, table: dict[str, Atom]) -> Function:
    """With one saved value the parameter is that value itself."""
    if name in table:
        return function
    body = tuple(s for s in function.body if not (isinstance(s, Assign) and s.op is ops.identity and s.target == name))
    params = tuple(Param(name) if p.name == parameter else p for p in function.params)
    return replace(function, params=params, body=body)


def _emit_primal(
    context: Any, program: Any, primal: Block, target: Atom, saved: list[str], b: Builder, name: str
) -> None:
    everything = Builder(b.types, [*b.types.of_name])
    everything.out = list(primal)
    kept = everything.emit(ops.make_tuple, tuple(saved), name="%saved") if len(saved) != 1 else saved[0]
    result = everything.emit(ops.make_tuple, (target, kept), name="%result")
    doc = _source_doc(program, f"The value of {program.function.name}, and what its adjoint needs.")
    function = Function(name, program.function.params, everything.take(), result, program.function.span, doc)
    for n in all_reads(function.body):
        b.types.of_name.setdefault(n, Unknown("a list of saved values"))
    # equal expressions are found in both halves together: what the adjoint changes looks like a constant here
    steps = [step for step in context.steps if step.name != "common"]
    context.emitted.append((context.simplify(function, b.types, program.source, steps), program.source))


# ------------------------------------------------------------------ tangents
def make_tangent(
    context: Any, source: Any, types: list[Type], flags: tuple[bool, ...], name: str = ""
) -> tuple[str, bool]:
    """The name of the function that gives a value and its tangent, ``f_jvp(*args, *tangents of the active ones)``,
    and whether it is pure."""
    program = context.prepare(source, types)
    key = "tangent", *context.key(source, types), flags
    if key in context.pairs:
        known: tuple[str, bool] = context.pairs[key]
        return known
    function = program.function
    wrt = [p for p, flag in zip(_parameters(program), flags, strict=True) if flag]
    name = name or context.unique_name(f"{function.name}_jvp")
    context.pairs[key] = name, program.pure  # known from here on: the function may call itself
    unit = Unit(context, program, set(wrt), tangents=True)
    b = unit.builder
    params = []
    dots: dict[str, Atom] = {}
    for n in wrt:
        dot = b.fresh(f"{n}_dot")
        b.types.of_name[dot] = _adjoint_type(b.types.of(n))
        params.append(Param(dot))
        dots[n] = dot
    dot_result = forward(program, dots, unit)
    result = b.emit(ops.make_tuple, (function.result, dot_result), name="%result")
    along = _with_respect_to(wrt) if wrt else "nothing"
    doc = _source_doc(
        program,
        f"The value of {function.name} and its tangent, along tangents of {along}.",
    )
    out = Function(name, (*function.params, *params), b.take(), result, function.span, doc)
    context.observe("forward", "the chain rule: a tangent beside each active value", out, b.types)
    _finished(context, out, b, program)
    found: tuple[str, bool] = context.pairs[key]
    return found
