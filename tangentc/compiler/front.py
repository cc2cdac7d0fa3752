"""A function up to its derivative: it, and each function that it calls, is prepared once for its types."""

from __future__ import annotations

import contextlib
import gc
import inspect
import types as pytypes
from collections import Counter, OrderedDict
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import replace

from tangentc import runtime
from tangentc.analysis.decide import without_never
from tangentc.analysis.fits import fitted
from tangentc.analysis.joins import lacks_something
from tangentc.analysis.keys import refuse_changes
from tangentc.analysis.outside import SEEN_AS
from tangentc.analysis.program import Program, has_effect
from tangentc.analysis.turning import are_complex
from tangentc.analysis.types import Types, certain
from tangentc.analysis.typing import typed
from tangentc.compiler.passes import FRONT
from tangentc.compiler.written import written_out
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.classes import holds_standing
from tangentc.core.nodes import Assign, Const, Effect, Function, Op, Place, Statement, Store
from tangentc.core.texts import is_emitted
from tangentc.core.types import Array, Known, Scalar, Struct, Tuple, Type, Unknown, is_container
from tangentc.core.values import type_of
from tangentc.core.verify import verify
from tangentc.core.walk import all_defines, changed_by, definitions, statements, transform, with_body
from tangentc.derive.context import Defined
from tangentc.errors import Span, TangentcError, UnsafeMutation, UnsupportedSyntax
from tangentc.frontend.assumed import Sites, without_assumed
from tangentc.frontend.callables import is_user_function
from tangentc.frontend.dependencies import Dependency, Signed, kept_by
from tangentc.frontend.effects import user_functions
from tangentc.frontend.iterators import used_once
from tangentc.frontend.lower import lower
from tangentc.frontend.nested import Nested
from tangentc.frontend.normalise import normalise
from tangentc.frontend.recursion import Lengths, at_call, calls_itself, calls_itself_by_others, counters, twin
from tangentc.frontend.settled import holds_code, holds_made_inside, is_code, refuse_open, with_settings
from tangentc.frontend.source import source_of
from tangentc.frontend.specialise import specialise
from tangentc.frontend.standing import refuse_told_apart
from tangentc.rules.registry import REGISTRY, load_families

load_families()

HIDDEN = (ops.assumed, runtime.require_count)  # what types answer, at first
DEEPEST = 24  # rounds until the type of what a function that calls itself gives is found
DEEPEST_CALL = 16  # types of a function that calls itself, one inside the other
MOST_VERSIONS = 200  # of one function inside itself
MOST_KEPT = 64  # functions that are kept for their next derivative
Observer = Callable[[str, str, Function, Types], None]

Key = tuple[pytypes.FunctionType, tuple[Type, ...]]
SMALL = 600  # bytes of code of a helper that becomes part of a compiled loop


class Summaries:
    """What lowering asks of functions that are called; nothing is refused for it, since the call may turn out to be
    another one."""

    def __init__(self, front: Front):
        self.front = front

    def call_type(self, op: Op, types: list[Type], keywords: dict[str, Type]) -> Type | None:
        refused = list(self.front.refused)
        try:
            return self.front.call_type(op, types, keywords)
        finally:
            self.front.refused = refused

    def inlined(self, op: Op, types: list[Type], keywords: dict[str, Type]) -> bool:
        given = (*types, *keywords.values())
        if any(map(lacks_something, given)) or op in self.front.in_progress or not is_user_function(op):
            return False
        code = any(is_code(t) or holds_made_inside(t) or holds_standing(t) for t in given)
        if (
            self.front.compiles
            and all(isinstance(t, (Scalar, Array)) for t in given)
            and len(op.__code__.co_code) <= SMALL
            and not calls_itself(op)
        ):
            return True  # it is part of the loop that calls it
        takes_any = bool(op.__code__.co_flags & (inspect.CO_VARARGS | inspect.CO_VARKEYWORDS))
        return takes_any or code or self.front.changes_or_gives(op, types, keywords)


class Front:
    """The functions met on the way to a derivative, each prepared for its types."""

    def __init__(
        self, root: pytypes.FunctionType, observer: Observer | None = None, checked: bool = False,
        watch: Callable[[Program], Function] | None = None, compiles: bool = False,
    ):  # fmt: skip
        self.compiles = compiles  # whether loops are to be compiled
        self.watch = watch  # puts into each program what shows its values
        self.root, self.observer, self.checked = root, observer, checked
        self.prepared: dict[Key, Program] = {}
        self.entered: Counter[pytypes.FunctionType] = Counter()  # how often a function was met inside itself
        self.in_progress: list[pytypes.FunctionType] = []
        self.assumed: dict[Key, Program] = {}  # what is being prepared, as far as it is known
        self.recursive: set[Key] = set()
        self.failed: dict[Key, TangentcError] = {}
        self.dependencies: dict[tuple[Place, str], Place] = {}  # names, where the code found them
        self.depended: dict[tuple[Place, str], Dependency] = {}  # and what they stood for
        self.signed, self.kept = Signed(root), kept_by(root)
        self.refused: list[TangentcError] = []
        self.lengths = Lengths()
        self.lifted: dict[Hashable, pytypes.FunctionType] = {}  # functions defined inside that call themselves
        self.derivatives: dict[Hashable, object] = {}  # derivatives taken inside, compiled
        self.twins: dict[pytypes.FunctionType, pytypes.FunctionType | None] = {}  # of those that change arguments
        self.written: dict[Hashable, tuple[Function, Program]] = {}  # with calls as what they compute

    def note(self) -> None:
        """Note what the names stand for that have been found."""
        for place, name in self.dependencies:
            if (place, name) not in self.depended:
                self.depended[place, name] = Dependency(place, name)

    def is_fresh(self) -> bool:
        """Whether all that was prepared is good for what the names stand for now."""
        if Signed(self.root) != self.signed or kept_by(self.root) != self.kept:
            return False
        inside = [place.home for place, _ in self.depended if place.kind == "compiled"]
        return all(inner.is_fresh() for inner in inside) and all(d.is_fresh() for d in self.depended.values())

    def prepare(self, function: pytypes.FunctionType, types: Sequence[Type]) -> Program:
        """The function in core form, typed for these parameters."""
        key = self.key(function, types)
        types = list(key[1])
        if key in self.prepared:
            return self.prepared[key]
        if key in self.assumed:  # it calls itself
            self.recursive.add(key)
            return self.assumed[key]
        if self.in_progress.count(function) > DEEPEST_CALL or self.entered[function] > MOST_VERSIONS:
            raise UnsupportedSyntax(
                f"{function.__name__} calls itself with arguments of ever other types", _where(function),
                why="each call would need code of its own", way_out="write it as a loop",
            )  # fmt: skip
        if key in self.failed:
            raise self.failed[key]
        return self._settled(function, types, key)

    def key(self, function: pytypes.FunctionType, types: Sequence[Type]) -> Key:
        """The function with the types that its code for these is compiled for."""
        if calls_itself(function):  # a counter is another number in each call
            other, names = counters(function.__code__, function), inspect.signature(function).parameters
            types = [
                replace(t, value=None) if isinstance(t, Scalar) and (n in other or None in other) else t
                for n, t in zip(names, types, strict=False)
            ]
            types = self.lengths.general(function, types)
        return function, tuple(types)

    def _settled(self, function: pytypes.FunctionType, types: Sequence[Type], key: Key) -> Program:
        if function in self.in_progress:
            self.entered[function] += 1
            self.lengths.note(function, list(types))
        self.in_progress.append(function)
        self.assumed[key] = _unknown_yet(function)
        others = set(self.prepared)
        try:
            for _ in range(DEEPEST):
                program, before = self._fronted(function, types), self.assumed[key]
                if self.key(function, types) != key:  # it has been met with ever other lengths
                    program = self.prepare(*self.key(function, types))
                    break
                twinned = program.changes and calls_itself(function) and self._twinned(function, program)
                known = _promises(before) == _promises(program)
                if not twinned and (known or key not in self.recursive):
                    break
                self.assumed[key] = program  # what it gives is known better now: so is what the others give
                self.prepared = {k: p for k, p in self.prepared.items() if k in others}
                self.failed = {}
                if twinned and len(self.in_progress) > 1:  # nobody calls it any more
                    break
        except TangentcError as error:
            self.failed[key] = error
            raise
        finally:
            self.in_progress.pop()
            del self.assumed[key]
        self.prepared[key] = program
        return program

    def _twinned(self, function: pytypes.FunctionType, program: Program) -> bool:
        """Whether a function that changes its arguments and calls itself has got a twin now, which it calls instead."""
        if calls_itself_by_others(function):
            raise UnsafeMutation(
                f"{function.__name__} changes its argument {program.changes[0]} in place, and calls itself by way of "
                "another function", _where(function), why="changes in place are followed through the calls of one "
                "function by itself", way_out="let the function return a new array",
            )  # fmt: skip
        known = function in self.twins
        if not known:
            changed = {n: program.types.of(n) for n in program.changes}
            self.twins[function] = twin(function, changed, program.gives_changed)
        return not known and self.twins[function] is not None

    def _fronted(self, source: pytypes.FunctionType, types: Sequence[Type]) -> Program:
        lowered, program, params = self._lowered(source, types)
        gives_iterator = program.gives_iterator
        self.observe("lower", "one operation a statement, names resolved to objects", lowered, None)
        self.observe("normalise", "one definition a name; control flow joins where it says so",
                     program.function, program.types)  # fmt: skip
        program = self._through(program, params, source, True)
        if self.watch is not None:
            before = program
            program = self.typed(self.watch(program), params, source)
            program.keep_changes_of(before)
        program.gives_iterator = gives_iterator
        program.pure = _is_pure(program)
        return program

    def with_calls_written_out(self, program: Program, calls: Mapping[int, Defined | None]) -> Program:
        """The program with what ``calls`` compute in their place: see `written_out`."""
        key = id(program.function), *((k, d and (d[0], d[-1])) for k, d in calls.items())
        if key in self.written:
            return self.written[key][1].copied()
        params = {p.name: program.types.of(p.name) for p in program.function.params}
        new = self.typed(written_out(self, program, calls), params, program.source)
        self.observe("written out", "calls that no rule covers are what they compute", new.function, new.types)
        new = self._through(new, params, program.source, False)
        new.keep_changes_of(program)
        new.gives_iterator = program.gives_iterator
        new.pure = _is_pure(new)
        self.written[key] = program.function, new
        return new.copied()

    def _through(
        self, program: Program, params: dict[str, Type], source: pytypes.FunctionType, all_lengths: bool
    ) -> Program:
        """A program after the passes of the front; without ``all_lengths`` those that it has are known to fit."""
        sets, changes = program.changes, program.changes
        gives_changed, writes = False, program.writes
        for step in FRONT:
            if step.name == "own":
                changes, result = program.aliases.changed_params(program.function), program.function.result
                roots = set(map(program.aliases.root, changes))
                writes = _writes(program, changes)
                changes = tuple(dict.fromkeys((*sets, *changes)))
                gives_changed = isinstance(result, str) and program.aliases.root(result) in roots
            if step.name == "specialise":
                builder = Builder(program.types, program.types.of_name)
                new = specialise(program.function, program.types, builder.fresh)
            elif step.name == "fits":
                if not all_lengths:
                    continue
                fresh = Builder(program.types, program.types.of_name).fresh
                body = fitted(program.function.body, program.types, fresh, self.in_progress == [source])
                new = with_body(program.function, body)
            elif step.name == "calls":
                new = user_functions(program, self)
            else:
                new = step.run(program)
            keeps_types = step.keeps_types and all_defines(new.body) <= program.types.of_name.keys()
            if new is not program.function and keeps_types:
                program = self.with_facts(new, program.types, source)
            elif new is not program.function:
                program = self.typed(new, params, source)
            self.observe(step.name, step.does, program.function, program.types)
        program.changes, program.gives_changed, program.writes = changes, gives_changed, writes
        return program

    @contextlib.contextmanager
    def aside(self, function: pytypes.FunctionType) -> Iterator[None]:
        """While a function is prepared that nobody wrote: it is not shown, and what it names does not change."""
        self.in_progress.append(function)
        shown, self.watch, self.observer = (self.watch, self.observer), None, None
        try:
            yield
        finally:
            self.in_progress.pop()
            self.watch, self.observer = shown
            own = function.__globals__
            self.dependencies = {k: v for k, v in self.dependencies.items() if k[0].home is not own}

    def _lowered(
        self, source: pytypes.FunctionType, types: Sequence[Type]
    ) -> tuple[Function, Program, dict[str, Type]]:
        """Lower, and type."""
        known = Sites(lifted=self.lifted, derivatives=self.derivatives, twins=self.twins)
        names = list(inspect.signature(source, follow_wrapped=False).parameters)
        params = dict(zip(names, types, strict=False))
        while True:
            before = known.from_further_on()
            lowered, places = lower(source, params, known, Summaries(self))
            if known.from_further_on() == before:
                break
        objects = {n: t for n, t in params.items() if isinstance(t, Struct)} if not calls_itself(source) else {}
        normal, sets = normalise(lowered, is_emitted(source), known.assigned, objects)
        function, gives_iterator = used_once(normal)
        params = dict(zip((p.name for p in function.params), types, strict=True))
        program = self.typed(with_settings(function, params), params, source)
        refused = self.refused
        if refused:
            raise refused[0]
        self._refuse_derivatives(program)
        refuse_changes(program.function, program.types)
        refuse_open(program)
        for s in statements(program.function.body):
            refuse_told_apart(s, program.types)
        if any(isinstance(s, Assign) and s.op is ops.assumed for s in statements(program.function.body)):
            program = self.with_facts(without_assumed(program), program.types, source)
        self.dependencies.update(places)
        program.gives_iterator, program.changes = gives_iterator, tuple(sorted(sets))
        shown = transform(lowered.body, lambda s: () if getattr(s, "op", None) in HIDDEN else (s,))
        return replace(lowered, body=shown), program, params

    def _refuse_derivatives(self, program: Program) -> None:
        """What a derivative inside is refused for, that could not be compiled where it is called."""
        for s in statements(program.function.body):
            if isinstance(s, Assign) and s.op is ops.call and isinstance(s.args[0], Const):
                if isinstance(nested := s.args[0].value, Nested):
                    nested.compiled([program.types.of(a) for a in s.args[1:]], self.derivatives)

    def changes_or_gives(self, op: pytypes.FunctionType, types: list[Type], keywords: dict[str, Type]) -> bool:
        """Whether a function changes its arguments, gives a function or an iterator, or is refused by itself."""
        try:
            callee = self.prepare(op, _bound_types(op, types, keywords))
        except TangentcError:
            return True
        gives = holds_code(callee.result) or callee.gives_iterator or holds_standing(callee.result)
        return gives or bool(callee.changes) or _loses_parts(callee.result)

    def typed(self, function: Function, params: dict[str, Type], source: pytypes.FunctionType) -> Program:
        """The program with its types and aliases worked out anew."""
        types = typed(function, params, self.call_type, self._begin)
        known = without_never(function, types.chosen)
        if self.checked:
            verify(known, closed=True)
        return self.with_facts(known, types, source)

    def with_facts(self, function: Function, types: Types, source: pytypes.FunctionType) -> Program:
        if self.checked:
            verify(function, types)
        return Program(function, types, types.of(function.result), True, source)

    def _begin(self) -> None:
        """What was refused while types were still open may be right now."""
        self.refused = []

    def call_type(self, op: Op, types: list[Type], keywords: dict[str, Type]) -> Type | None:
        if isinstance(op, ops.Emitted):
            return op.result
        if isinstance(op, ops.UserFunction):
            op = op.function
        if not is_user_function(op):
            return None
        try:
            given = _bound_types(op, types, keywords)
            return at_call(self.prepare(op, given).result, self.key(op, given)[1], given)
        except TangentcError as error:
            self.refused.append(error)  # unless the call is lowered into its caller
            return Unknown("what is called is refused")

    def callee(self, function: pytypes.FunctionType, s: Assign | Effect, types: Types) -> Program:
        given = [types.of(a) for a in s.args]
        return self.prepare(function, _bound_types(function, given, {k: types.of(v) for k, v in s.keywords}))

    def observe(self, name: str, does: str, function: Function, types: Types | None) -> None:
        if self.checked and types is not None:
            verify(function, types)
        if self.observer is not None and len(self.in_progress) <= 1:
            self.observer(name, does, function, types)  # type: ignore[arg-type]


@contextlib.contextmanager
def uncollected() -> Iterator[None]:
    """A compilation makes many small objects and few circles: to look for these meanwhile is a tenth of its time."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


KEPT: OrderedDict[Hashable, Front] = OrderedDict()


@contextlib.contextmanager
def front_for(
    root: pytypes.FunctionType, types: Sequence[Type], watch: Callable[[Program], Function] | None = None,
    compiles: bool = False,
) -> Iterator[Front]:  # fmt: skip
    """The front for a derivative of a function: that of another derivative of it, if nothing has changed since."""
    key = root, tuple(types), REGISTRY.version, are_complex(), SEEN_AS.get(), compiles
    found = KEPT.pop(key, None) if watch is None else None  # nobody else works with it meanwhile
    front = found if found is not None and found.is_fresh() else Front(root, watch=watch, compiles=compiles)
    yield front
    front.note()
    if watch is not None:
        return
    KEPT[key] = front
    while len(KEPT) > MOST_KEPT:
        KEPT.popitem(last=False)


def _promises(program: Program) -> tuple[Hashable, ...]:
    """What its callers rely on."""
    return certain(program.result), program.pure, program.changes


def _unknown_yet(function: pytypes.FunctionType) -> Program:
    """What is known of a function that is met while it is being prepared."""
    nothing = Function(function.__name__, (), (), Const(None))
    types = Types()
    return Program(nothing, types, Known(Const(ops.UNDEFINED)), True, function)


def _loses_parts(t: Type) -> bool:
    """Whether it is not known of a list, a dict or an object what it holds, which its caller may see."""
    lost = is_container(t) and not isinstance(t, Tuple) and any(type(item) is Unknown for item in t.items)
    return lost or is_container(t) and any(map(_loses_parts, t.items))


def _where(function: pytypes.FunctionType) -> Span:
    source = source_of(function)
    return source.span(source.tree)


def _writes(program: Program, changes: Sequence[str]) -> tuple[str, ...]:
    """The parameters in whose arrays a function writes, of those that it changes: of a list to which it appends, or an
    object whose attributes it sets, the arrays stay as they are."""
    if not any(is_container(program.types.of(n)) for n in changes):
        return tuple(changes)

    def without(s: Statement) -> tuple[Statement, ...]:
        changed = changed_by(s) if isinstance(s, (Store, Effect)) else None
        return () if isinstance(changed, str) and is_container(program.types.of(changed)) else (s,)

    rest = with_body(program.function, transform(program.function.body, without))
    return replace(program, function=rest).aliases.changed_params(rest)


def _is_pure(program: Program) -> bool:
    """Whether a function has no effect but its result, and gives the same again each time."""
    made, body = definitions(program.function.body), [*statements(program.function.body)]
    changing = (s for s in body if program.changes and isinstance(s, (Assign, Effect)) and changed_by(s) is not None)
    return not any(has_effect(s, made) for s in body) and not any(changing)


def _bound_types(function: pytypes.FunctionType, types: list[Type], keywords: dict[str, Type]) -> list[Type]:
    """The type of each parameter, defaults included."""
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        bound = signature.bind(*types, **keywords)
    except TypeError as error:
        return [Unknown(str(error))] * len(signature.parameters)
    out = []
    for name, parameter in signature.parameters.items():
        default = parameter.default
        of_default = Scalar("int64", True, default) if type(default) is int else type_of(default)
        out.append(bound.arguments.get(name, of_default))
    return out
