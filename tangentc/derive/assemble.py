"""From sweeps to functions: gradients, adjoints, pairs, tangents.

f_grad(x, ..., out_bar=1.0)              primal sweep, adjoint sweep, the gradients
f_adjoint(x, ..., out_bar)               the same, called with a seed
f_primal(x, ...) -> (out, saved)         with f_adjoint(saved, out_bar): a pair
"""

from __future__ import annotations

import builtins
import inspect
import operator
from dataclasses import dataclass
from functools import cached_property, partial
from types import FunctionType

from tangentc import runtime
from tangentc.analysis.activity import Activity
from tangentc.analysis.array_results import adjoint_type
from tangentc.analysis.felt import MULTIPLIED, multiplied
from tangentc.analysis.masks import Mask, Unbounded, has_places
from tangentc.analysis.outside import Part
from tangentc.analysis.paths import WHOLE, Path, Paths, demand, leaf_paths, part_type, word_for
from tangentc.analysis.program import Pass, Program
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
    Op,
    Param,
    Statement,
    Store,
    is_temporary,
    version_base,
)
from tangentc.core.splice import in_order
from tangentc.core.texts import is_emitted
from tangentc.core.types import Array, Scalar, Tuple, Type, Unknown, present
from tangentc.core.walk import all_reads, defines, definitions, perhaps_missing, reads, statements
from tangentc.derive.calls import is_of_definition, to_define
from tangentc.derive.context import Context, Defined
from tangentc.derive.demand import Made, as_tree
from tangentc.derive.docs import parameters, source_doc, with_respect_to
from tangentc.derive.forward import forward
from tangentc.derive.halves import link_pair
from tangentc.derive.parts import Adjoint, bar_name
from tangentc.derive.results import (
    check_scalar,
    final,
    finals,
    hooked,
    kept_results,
    part_or_paths,
    seed_type_of,
    with_unused,
)
from tangentc.derive.reverse import reverse
from tangentc.errors import NotDifferentiable, UnsafeMutation
from tangentc.rules.registry import REGISTRY, Rule
from tangentc.simplify.algebra import simplify as peephole
from tangentc.simplify.invariant import fixed

ZERO = Rule(ops.stopped, "zero")


@dataclass(frozen=True)
class Pair:
    """The pair of a callee at one call: what to call, with which arguments, the adjoints of which parts of the result
    it is given, and of which parts of which arguments it gives adjoints back.

    Without a name for what the primal saves it gives its value alone, and the adjoint is given the arguments.
    """

    primal: Op
    adjoint: ops.Emitted
    arguments: tuple[Atom, ...]
    asked: Paths
    given: tuple[tuple[Atom, Path], ...]
    saved_name: str | None


class Unit:
    """One function while its derivative is written: its facts, and the services that the writers use.

    With ``chosen`` a caller takes some entries of its result, and others not; with ``tangents`` it is forward mode.
    ``asked`` are the parts of the result that have an adjoint.
    """

    def __init__(
        self, context: Context, program: Program, wrt: set[str], chosen: bool | str = False, tangents: bool = False,
        asked: Paths = WHOLE, limit: tuple[str, int] | None = None,
    ):  # fmt: skip
        self.context, self.chosen, self.wrt, program = context, chosen, wrt, program.copied()
        self.limit = limit  # of the states that a loop keeps
        self.at_hand: set[str] = set()  # what has a name and is there for the adjoint, whether it is needed or not
        calls: dict[int, Defined | None] = {}
        while True:
            self.program = program = context.with_calls_written_out(program, calls) if calls else program
            self.activity = self._activity(program, tangents, asked)
            moved = context.after(program, Pass("fixed", "", partial(fixed, active=self.activity.active)))
            if moved is not program:
                self.program, program, self.activity = moved, moved, self._activity(moved, tangents, asked)
            self.active = self.activity.active
            self.builder = Builder(program.types, [*program.types.of_name], peephole)
            self.builder.prices = context.prices
            if not (calls := self._calls_to_write_out()):
                break
        self._note_outside(program, self.activity, set())
        self._refuse_cut_off()

    def _activity(self, program: Program, tangents: bool, asked: Paths) -> Activity:
        return Activity(program.function, self.wrt, program.types, program.aliases, self._is_zero, tangents, asked)

    def _refuse_cut_off(self) -> None:
        """Refuse what moves and is written into an array that holds integers on another path, which cuts it off.  What
        an emitted function writes back was there before."""
        for s in () if is_emitted(self.program.source) else statements(self.program.function.body):
            if isinstance(s, Store) and s.op is None and s.key is not None and s.value in self.active:
                t = present(self.program.types.of(s.object))
                made = self.definitions.get(s.object)
                held = isinstance(made, Assign) and made.op in (operator.getitem, builtins.getattr)  # of all its life
                if isinstance(t, Array) and t.or_narrower and not held:
                    raise UnsafeMutation(
                        f"{shown(s.object)} is written, and has another dtype on another path", s.span,
                        why="an array of integers cuts off what is written into it, and one of real numbers the "
                        "imaginary part", way_out="begin with floats, np.zeros(n) or a.astype(float)",
                    )  # fmt: skip

    def _note_outside(self, program: Program, activity: Activity, met: set[tuple[object, ...]]) -> None:
        """Note what belongs to the module and is written into or read, by calls without a derivative among others."""
        self.context.put |= activity.put
        self.context.changed |= activity.changed
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
                    Part(a) for t in statements(callee.function.body) for a in reads(t) if isinstance(a, Global)
                )
            elif (function, *sorted(wrt)) not in met:
                met.add((function, *sorted(wrt)))
                inner = Activity(callee.function, wrt, callee.types, callee.aliases, self._is_zero)
                self._note_outside(callee, inner, met)

    def _calls_to_write_out(self) -> dict[int, Defined | None]:
        """The calls through which a derivative flows and that no rule covers, by their identity, with what they
        compute; those of what these give later, when its type is known."""
        calls: dict[int, Defined | None] = {}
        made: set[Atom] = set()  # what is of another type then
        for s in statements(self.program.function.body):
            if isinstance(s, Assign) and made.intersection(s.atoms):
                made.add(s.target)
            elif isinstance(s, Assign):
                found = to_define(self.builder, s, self.rule(s.op), self.active.__contains__)
                if found is not None or is_of_definition(self.builder, s):
                    calls[id(s)] = found
                    made |= {s.target} if isinstance(self.builder.type(s.target), Unknown) else set()
        return calls

    @cached_property
    def masks(self) -> dict[str, Mask]:
        return self.context.masks(self.program, self.chosen)

    def mask(self, name: str) -> Mask | None:
        """The mask under which the adjoint of a value is to be computed, if there is one."""
        found = self.masks.get(name)
        self.context.chooses |= found is not None
        return found

    @cached_property
    def unbounded(self) -> Unbounded:
        return self.context.unbounded(self.program, self.wrt, self.chosen, self.active)

    @cached_property
    def definitions(self) -> dict[str, Statement]:
        return definitions(self.program.function.body)

    def rule(self, op: Op) -> Rule | None:
        return ZERO if op is ops.stopped else REGISTRY.find(op)

    def _is_zero(self, op: Op) -> bool:
        rule = self.rule(op)
        return rule is not None and rule.kind == "zero"

    def is_user_call(self, op: Op) -> bool:
        return isinstance(op, ops.UserFunction)

    def callee_arguments(self, s: Assign | Effect) -> tuple[FunctionType, list[Atom]]:
        """The function that a statement calls, and its arguments in the order of its parameters."""
        function = s.op.function  # type: ignore[attr-defined]
        return function, in_order(function, s)

    @cached_property
    def calls(self) -> dict[FunctionType, list[str]]:
        """What the calls of each function of the user give."""
        found: dict[FunctionType, list[str]] = {}
        for s in statements(self.program.function.body):
            if isinstance(s, Assign) and self.is_user_call(s.op) and s.target in self.active:
                found.setdefault(s.op.function, []).append(s.target)  # type: ignore[attr-defined]
        return found

    def asked(self, y: str, function: FunctionType, types: list[Type]) -> Paths:
        """The parts of what a call gives that have an adjoint, at this call or another one of the same kind."""
        t, useful = self.builder.type(y), self.activity.useful
        alike = [n for n in self.calls.get(function, ()) if self.builder.type(n) == t] or [y]
        is_other = leaf_paths(self.context.prepare(function, types).result) != leaf_paths(t)
        if is_other or any(map(self.program.aliases.is_changed, alike)):
            return WHOLE
        return demand(t, lambda path: any(useful.has_path(n, path) for n in alike))

    def pair(self, s: Assign, active: set[str], in_loop: bool) -> Pair | None:
        """The pair for a call, None if no derivative flows through it."""
        function, atoms = self.callee_arguments(s)
        types = [self.builder.type(a) for a in atoms]
        flags = tuple(isinstance(a, str) and a in active for a in atoms)
        mask = self.masks.get(s.target)
        chosen: bool | str = mask is not None and not has_places(mask)
        if chosen and s.target in multiplied(self.program.function, self.active):
            chosen = MULTIPLIED
        if self.context.recomputes(function, types):
            bars = [adjoint_type(t) for t, flag in zip(types, flags, strict=True) if flag]
            name = make_adjoint(self.context, function, types, flags, chosen)
            adjoint = ops.Emitted(name, True, bars[0] if len(bars) == 1 else Tuple(tuple(bars)), False)
            given = tuple((a, ()) for a, flag in zip(atoms, flags, strict=True) if flag)
            return Pair(s.op, adjoint, tuple(atoms), WHOLE, given, None)
        asked = self.asked(s.target, function, types)
        limit = None if in_loop else self.limit
        made = make_pair(self.context, function, types, flags, None, chosen, asked, limit) if asked else None
        if made is None or not made.given:
            return None
        bars = [adjoint_type(part_type(types[k], path)) for k, path in made.given]
        both = Tuple((self.builder.type(s.target), Unknown("what a primal saves")))
        shown = version_base(s.target).lstrip("%")
        saved = f"{function.__name__}_saved" if s.target.startswith("%") else f"{function.__name__}_{shown}_saved"
        primal = ops.Emitted(made.primal, made.pure, both)
        adjoint = ops.Emitted(made.adjoint, True, bars[0] if len(bars) == 1 else Tuple(tuple(bars)), False)
        return Pair(primal, adjoint, tuple(atoms), asked, tuple((atoms[k], path) for k, path in made.given), saved)

    def given(self, name: str) -> Paths:
        """The parts of a parameter that have an adjoint."""
        if self.program.aliases.is_changed(name):
            return WHOLE if name in self.active else ()
        return demand(self.builder.type(name), lambda path: self._reaches(name, path))

    def leaves(self, name: str) -> Paths:
        """The numbers and arrays in a parameter that have an adjoint."""
        return leaf_paths(self.builder.type(name), lambda path: self._reaches(name, path))

    def _reaches(self, name: str, path: Path) -> bool:
        return all(reach.has_path(name, path) for reach in (self.activity.varied, self.activity.useful))

    def tangent_call(self, s: Assign, dots: dict[Atom, Atom]) -> tuple[ops.Emitted, tuple[Atom, ...]]:
        function, atoms = self.callee_arguments(s)
        types = [self.builder.type(a) for a in atoms]
        flags = tuple(a in dots for a in atoms)
        name, pure = make_tangent(self.context, function, types, flags)
        t = self.builder.type(s.target)
        op = ops.Emitted(name, pure, Tuple((t, adjoint_type(t))))
        return op, (*atoms, *(dots[a] for a, flag in zip(atoms, flags, strict=True) if flag))


# ------------------------------------------------------------------ gradients and adjoints
def gradient(
    context: Context, source: FunctionType, types: list[Type], wrt: tuple[int, ...], single: bool, *,
    value: bool = False, aux: bool = False, seed_given: Type | None = None, name: str = "",
    paths: tuple[str, ...] = (), inherited: int = 0, chosen: bool | str = False, limit: tuple[str, int] | None = None,
) -> Program:  # fmt: skip
    """The gradient function in core form.  With a type for the seed, it is an argument of its own (an adjoint).

    The last ``inherited`` parameters are the seeds, 1.0, of gradients inside; they stay the last.  With a ``limit``
    loops keep some states, and run their trips again.
    """
    seeded = seed_given is not None
    beside, value = aux and not value and not seeded, value or aux and not seeded  # the gradient, and what goes along
    program = context.prepare(source, types)
    names = [parameters(program)[i] for i in wrt]
    unit = Unit(context, program, set(names), chosen=chosen, asked=((0,),) if aux else WHOLE, limit=limit)
    program = unit.program
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
        check_scalar(program, seed_type)
    check: tuple[Statement, ...] = ()
    if isinstance(seed_type, Unknown) and not seeded and isinstance(target, str) and not aux:
        check = (Effect(runtime.require_scalar, (target, Const(function.name)), (), function.span),)
        seed_type = b.types.of_name[target] = Scalar("float64")
    seed = b.fresh("out_bar")
    b.types.of_name[seed] = seed_type_of(seed_type) if seed_given is None else seed_given
    seeds: dict[str, Adjoint] = {}
    if isinstance(target, str):
        seeds[target] = {0: seed} if aux else seed
    if value:  # the primal sweep makes them all; what may be missing is None there
        unit.at_hand = {n for s in function.body for n in defines(s) if not is_temporary(n)}
        unit.at_hand -= perhaps_missing(function.body, b.types.of_name)  # type: ignore[arg-type]
    sweeps = reverse(function, seeds, b, program.aliases, unit.active, unit)
    kept, value_given = kept_results(b, program, target) if value else ((), target)
    primal = with_unused(sweeps.primal, program) if value else sweeps.primal
    b.out = [*primal, *check, *kept, *sweeps.adjoint]
    b.span = AFTERWARDS
    ends = {n: final(sweeps, n, unit.leaves(n)) for n in dict.fromkeys(names)}
    parts = [*zip(names, paths or ("",) * len(names), strict=True)]
    results = hooked(b, [part_or_paths(b, ends[n], b.type(n), p, function) for n, p in parts], parts, context.ready)
    result: Atom = results[0] if single else b.emit(ops.make_tuple, tuple(results))
    if value:
        pair = (result, b.emit(operator.getitem, (value_given, Const(1)))) if beside else (value_given, result)
        result = b.emit(ops.make_tuple, pair)
    what = _said(function.name, with_respect_to(names), seeded, value, beside)
    place = len(function.params) - inherited if seeded else len(function.params)
    params = (*function.params[:place], Param(seed, None if seeded else Const(1.0)), *function.params[place:])
    doc = source_doc(program, what + (", for the seed out_bar." if seeded else "."))
    out = Function(name or context.unique_name(f"{function.name}_grad"), params, b.take(), result, function.span, doc)
    context.observe("reverse", "the chain rule: adjoint statements follow the primal ones", out, program.types)
    return _finished(context, out, program)


def _said(name: str, by: str, seeded: bool, value: bool, beside: bool) -> str:
    if value and not beside:
        return f"The value of {name}, and its gradient with respect to {by}"
    along = ", and what goes along with its value" if beside else ""
    return f"The {'adjoint' if seeded else 'gradient'} of {name} with respect to {by}{along}"


def _finished(context: Context, function: Function, program: Program) -> Program:
    done = context.simplify(function, program.types, program.source)
    context.emitted.append((done, program.source))
    return done


# ------------------------------------------------------------------ pairs
def make_pair(
    context: Context, source: FunctionType, types: list[Type], flags: tuple[bool, ...],
    names: tuple[str, str] | None = None, chosen: bool | str = False, asked: Paths = WHOLE,
    limit: tuple[str, int] | None = None,
) -> Made:  # fmt: skip
    """The primal and the adjoint of a function, for these types, these active arguments and the parts of its result
    that have an adjoint.  With ``chosen`` the caller takes some entries of its result, and others not.  With ``names``
    for the two it is for users: adjoints are whole."""
    program = context.prepare(source, types)
    key = *context.key(source, types), flags, chosen, asked, limit
    if key in context.pairs:
        return context.pairs[key]
    moving = [p if flag else "" for p, flag in zip(parameters(program), flags, strict=True)]
    unit = Unit(context, program, {p for p in moving if p}, chosen=chosen, asked=asked, limit=limit)
    given = [(k, path) for k, p in enumerate(moving) if p for path in (WHOLE if names else unit.given(p))]
    names = names or _pair_names(context, program.function.name) if given else ("", "")
    # from here on: the function may call itself
    made = context.pairs[key] = Made(*names, program.pure, tuple(given))
    if given:
        _write_pair(context, unit, made, moving, asked)
    return made


def _write_pair(context: Context, unit: Unit, made: Made, moving: list[str], asked: Paths) -> None:
    b, program, function = unit.builder, unit.program, unit.program.function
    bars: list[Atom] = []
    for path in asked:
        bars.append(b.fresh(bar_name(word_for("out", program.result, path))))
        b.types.of_name[str(bars[-1])] = adjoint_type(part_type(program.result, path))
    seeds = {function.result: as_tree(asked, bars)} if isinstance(function.result, str) else {}
    sweeps = reverse(function, seeds, b, program.aliases, unit.active, unit)
    b.span = AFTERWARDS
    wrt = [moving[k] for k in dict.fromkeys(k for k, _ in made.given)]
    paths = [tuple(path for k, path in made.given if moving[k] == n) for n in wrt]
    results = [atom for n, parts in zip(wrt, paths, strict=True) for atom in finals(sweeps, n, parts, unit.leaves(n))]
    result = results[0] if len(results) == 1 else b.emit(ops.make_tuple, tuple(results))
    adjoint = Function(made.adjoint, tuple(Param(str(seed)) for seed in bars), b.take(), result, function.span)
    adjoint, primal, value, saved = link_pair(context, program, sweeps, adjoint, b, wrt)
    _emit_primal(context, program, primal, value, saved, b, made.primal)
    last = [step for step in context.steps if step.last]  # the others have seen both halves
    context.emitted.append((context.simplify(adjoint, program.types, program.source, last), program.source))


def make_adjoint(
    context: Context, source: FunctionType, types: list[Type], flags: tuple[bool, ...], chosen: bool | str
) -> str:
    """The name of the adjoint of a function as one of its arguments and the seed, which runs the primal itself."""
    program = context.prepare(source, types)
    key = *context.key(source, types), flags, chosen
    if key not in context.adjoints:
        wrt = tuple(k for k, flag in enumerate(flags) if flag)
        name = context.unique_name(f"{program.function.name}_adjoint")
        context.adjoints[key] = name  # from here on: the function may call itself
        seed = adjoint_type(program.result)
        gradient(context, source, types, wrt, len(wrt) == 1, seed_given=seed, name=name, chosen=chosen)
    return context.adjoints[key]


def _pair_names(context: Context, name: str) -> tuple[str, str]:
    return context.unique_name(f"{name}_primal"), context.unique_name(f"{name}_adjoint")


def _emit_primal(
    context: Context, program: Program, primal: Block, target: Atom, saved: list[str], b: Builder, name: str
) -> None:
    everything = Builder(b.types, [*b.types.of_name])
    everything.out = list(primal)
    kept = everything.emit(ops.make_tuple, tuple(saved), name="%saved") if len(saved) != 1 else saved[0]
    result = everything.emit(ops.make_tuple, (target, kept), name="%result")
    doc = source_doc(program, f"The value of {program.function.name}, and what its adjoint needs.")
    function = Function(name, program.function.params, everything.take(), result, program.function.span, doc)
    for n in all_reads(function.body):
        b.types.of_name.setdefault(n, Unknown("a list of saved values"))
    # equal expressions are found in both halves together: what the adjoint changes looks like a constant here
    steps = [step for step in context.steps if step.name != "common"]
    context.emitted.append((context.simplify(function, program.types, program.source, steps), program.source))


# ------------------------------------------------------------------ tangents
def make_tangent(
    context: Context, source: FunctionType, types: list[Type], flags: tuple[bool, ...], name: str = ""
) -> tuple[str, bool]:
    """The name of the function that gives a value and its tangent, ``f_jvp(*args, *tangents of the active ones)``,
    and whether it is pure."""
    program = context.prepare(source, types)
    key = *context.key(source, types), flags
    if key in context.tangents:
        return context.tangents[key]
    function = program.function
    wrt = [p for p, flag in zip(parameters(program), flags, strict=True) if flag]
    name = name or context.unique_name(f"{function.name}_jvp")
    context.tangents[key] = name, program.pure  # known from here on: the function may call itself
    unit = Unit(context, program, set(wrt), tangents=True)
    b, program, function = unit.builder, unit.program, unit.program.function
    params = []
    dots: dict[str, Atom] = {}
    for n in wrt:
        dot = b.fresh(f"{n}_dot")
        b.types.of_name[dot] = adjoint_type(b.types.of(n))
        params.append(Param(dot))
        dots[n] = dot
    dot_result = forward(program, dots, unit)
    result = b.emit(ops.make_tuple, (function.result, dot_result), name="%result")
    along = with_respect_to(wrt) if wrt else "nothing"
    doc = source_doc(program, f"The value of {function.name} and its tangent, along tangents of {along}.")
    out = Function(name, (*function.params, *params), b.take(), result, function.span, doc)
    context.observe("forward", "the chain rule: a tangent beside each active value", out, program.types)
    _finished(context, out, program)
    return context.tangents[key]
