"""The way through the compiler, as tuples that one can read.

Each pass is a function from a program to a program.  `prepare` runs those of the front, from a Python
function to core form with known types; `derive.assemble` writes a derivative of that; `SIMPLIFY`
cleans it; `backend` prints and loads it.
"""

from __future__ import annotations

import builtins
import contextlib
import dataclasses
import functools
import inspect
import itertools
import operator
import types as pytypes
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import Aliases, arms
from tangentc.analysis.fits import fitted, without_computed
from tangentc.analysis.infer import MUTATING
from tangentc.analysis.masks import CHOOSES, NONZERO, has_places, masks, tests_of, unbounded
from tangentc.analysis.points import COPIES, DEEP_COPIES
from tangentc.analysis.types import Types, certain
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.classes import special
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    Function,
    Global,
    If,
    Opaque,
    Place,
    Statement,
    While,
)  # fmt: skip
from tangentc.core.resolve import named_by
from tangentc.core.texts import is_emitted
from tangentc.core.types import (
    SETTINGS,
    Array,
    Known,
    Scalar,
    Struct,
    Type,
    Unknown,
    is_complex,
    is_container,
    is_differentiable,
    rank,
    type_of,
)
from tangentc.core.types import Opaque as OpaqueType
from tangentc.core.types import Optional as OptionalType
from tangentc.core.verify import verify
from tangentc.core.walk import blocks, definitions, reads, statements, substitute_block, transform
from tangentc.derive.calls import Defined
from tangentc.errors import Span, TangentcError, UnsafeMutation, UnsupportedSyntax
from tangentc.frontend.callables import is_user_function
from tangentc.frontend.emulated import refuse_told_apart
from tangentc.frontend.environments import Environment
from tangentc.frontend.feedback import Feedback, without_assumed
from tangentc.frontend.iterators import used_once
from tangentc.frontend.lower import lower
from tangentc.frontend.normalise import normalise
from tangentc.frontend.recursion import Generalised, Lengths, Twinned, at_call, twin
from tangentc.frontend.source import source_of
from tangentc.frontend.specialise import asks_for_layout, specialise
from tangentc.ops import methods
from tangentc.rules.registry import REGISTRY, load_families
from tangentc.simplify.common import common
from tangentc.simplify.copies import copies, elide
from tangentc.simplify.dead import dead

load_families()

GIVING_AND_CHANGING = frozenset(map(Const, methods.names(changes=True, gives_item=True)))
HIDDEN = (ops.assumed, runtime.require_count)  # what types answer, at first
DEEPEST = 24  # rounds and types of a function that calls itself
MOST_VERSIONS = 200  # of one function inside itself
Observer = Callable[[str, str, Function, Types], None]


@dataclass
class Program:
    """A function in core form with the facts about it.

    ``pure`` says that calling it has no effect but its result; ``changes`` names the parameters that the
    user's function changes in place, ``gives_iterator`` whether its result can be run over once.
    """

    function: Function
    types: Types
    result: Type
    pure: bool
    source: pytypes.FunctionType
    changes: tuple[str, ...] = ()
    gives_iterator: bool = False

    @functools.cached_property
    def aliases(self) -> Aliases:
        """What may share memory, found out when it is first asked for."""
        return Aliases(self.function, self.types, _call_aliases)


@dataclass(frozen=True)
class Pass:
    """One step: its name, what it does in one line, and the step itself."""

    name: str
    does: str
    run: Callable[[Program], Function]


def _own_parameters(program: Program) -> Function:
    """Copy a parameter that the function writes, at its top, so that the caller's array is not changed."""
    function, aliases = _diagonals(program), program.aliases
    table: dict[str, str] = {}
    head: list[Statement] = []
    builder = Builder(program.types, [*program.types.of_name])
    carried = {c.name for s in statements(function.body) for c in getattr(s, "carried", ())}
    held: set[str] = set()  # what a container may stand for that changes, or is another one in each trip
    while held != (held := held | _held_by(function, program.types, carried | held, aliases)):
        pass
    for name in aliases.params:
        if not aliases.is_changed(name) and name not in held:
            continue
        copy = builder.fresh(name)
        op: Any = np.copy if isinstance(program.types.of(name), Array) else ops.copied
        keywords = (("order", Const("K")),) if op is np.copy and asks_for_layout(function) else ()
        head.append(Assign(copy, op, (name,), keywords, function.span))
        table[name] = copy
    if not table:
        return function
    body = substitute_block(function.body, table)
    result = table.get(function.result, function.result) if isinstance(function.result, str) else function.result
    return replace(function, body=(*head, *body), result=result)


def _held_by(function: Function, types: Types, chosen: set[str], aliases: Aliases) -> set[str]:
    """What containers may be that are chosen, or changed: what joins hand on, and lists that are joined."""
    names = set(arms(function, lambda n: is_container(types.of(n)) and (n in chosen or aliases.is_mirrored(n))))
    for s in statements(function.body):
        if isinstance(s, Assign) and s.op in COPIES and s.target in chosen and is_container(types.of(s.target)):
            names |= {a for a in s.args if isinstance(a, str) and is_container(types.of(a))}
    return names


def calls_itself(function: pytypes.FunctionType) -> bool:
    """Whether a function may call itself, by way of functions that it names."""
    return any(named is function for named in named_by(function))


def holds_code(t: Type) -> bool:
    """Whether a value is a function, or holds one."""
    if isinstance(t, Known):
        return callable(t.value) and not isinstance(t.value, type)
    return is_container(t) and any(map(holds_code, t.items))


def _holds_made_inside(t: Type) -> bool:
    """Whether a value is a function that is made while the program runs, or holds one."""
    if isinstance(t, Known):
        return ops.is_made_inside(t.value)
    return is_container(t) and any(map(_holds_made_inside, t.items))


def _is_code(t: Type) -> bool:
    """Whether a value is a function, which what is called with it is compiled for."""
    return isinstance(t, Known) and callable(t.value) or isinstance(t, Struct) and issubclass(t.cls, Environment)


def _square(x: str, s: Assign, program: Program) -> tuple[Any, ...]:
    """The statements that take the part of a matrix in which its diagonal lies, and at last its name."""
    t = program.types.of(x)
    if isinstance(t, Array) and t.shape[0] == t.shape[1]:
        return (x,)
    fresh = Builder(program.types, program.types.of_name).fresh
    shape, count, side, key, square = map(fresh, ("%shape", "%count", "%side", "%key", "%square"))
    before = (
        Assign(shape, np.shape, (x,), (), s.span), Assign(count, builtins.min, (shape,), (), s.span),
        Assign(side, builtins.slice, (Const(None), count, Const(None)), (), s.span),
        Assign(key, ops.make_tuple, (side, side), (), s.span),
        Assign(square, operator.getitem, (x, key), (), s.span),
    )  # fmt: skip
    for made in before:
        program.types.of_name[made.target] = program.types.result(made.op, made.args)
    return *before, square


def _diagonals(program: Program) -> Function:
    """The diagonal of a matrix that is changed in place, as a view that its shadow can have too."""

    momentary = set(_momentary(program))

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Assign) and s.op in (np.diag, np.diagonal) and len(s.args) == 1 and not s.keywords:
            x = s.args[0]
            if rank(program.types.of(x)) == 2 and isinstance(x, str) and program.aliases.is_changed(x):
                *before, square = _square(x, s, program)
                return *before, replace(s, op=np.einsum, args=(Const("ii->i"), square))
        if isinstance(s, Assign) and s.op is np.imag and isinstance(s.args[0], str):
            if is_complex(program.types.of(s.args[0])) and program.aliases.is_changed(s.args[0]):
                if s.target in momentary:  # and nobody sees that it is no memory of the array
                    copied = f"{s.target}_of"
                    program.types.of_name[copied] = program.types.of(s.args[0])
                    return Assign(copied, np.copy, s.args, (), s.span), replace(s, args=(copied,))
                raise UnsafeMutation(
                    "the imaginary part of an array that is changed in place is taken", s.span,
                    why="it is memory of the array, and its adjoint has the other sign",
                    way_out="take it of a copy: np.imag(z.copy())",
                )  # fmt: skip
        return (s,)

    return replace(program.function, body=transform(program.function.body, rewrite))


def _momentary(program: Program) -> Iterator[str]:
    """The imaginary parts that are read before anything changes, by operations that give new values."""
    every = list(statements(program.function.body))
    if any(isinstance(s, Assign) and s.op is np.imag for s in every):
        count = Counter(a for s in every for a in reads(s) if isinstance(a, str))
        yield from _momentary_in(program, program.function.body, count)


def _momentary_in(program: Program, block: Block, count: Counter[str]) -> Iterator[str]:
    for k, s in enumerate(block):
        for inner in blocks(s):
            yield from _momentary_in(program, inner, count)
        if not isinstance(s, Assign) or s.op is not np.imag:
            continue
        left, root = count[s.target], program.aliases.root(s.target)
        if s.target == program.function.result:
            left += block is not program.function.body or not all(isinstance(t, Assign) for t in block[k:])
        for after in block[k + 1 :]:
            if not left or not isinstance(after, Assign) or isinstance(after.op, ops.UserFunction):
                break
            if s.target in after.atoms and program.aliases.root(after.target) == root:
                break
            left -= after.atoms.count(s.target)
        if not left:
            yield s.target


def _user_functions(program: Program, context: Context) -> Function:
    """Say of each function of the user that is called whether it has effects."""

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, (Assign, Effect)) and is_user_function(s.op):
            callee = context.callee(s, program.types)
            if callee.changes:
                function: Any = s.op
                if function not in context.twins:
                    types = {n: callee.types.of(n) for n in callee.changes}
                    context.twins[function] = twin(function, types)
                    if context.twins[function] is not None:
                        raise Twinned
                raise UnsafeMutation(
                    f"{s.op.__name__} changes its argument {callee.changes[0]} in place, and calls itself", s.span,
                    why="changes in place are not followed through recursion",
                    way_out="let the function return a new array",
                )  # fmt: skip
            shares = _gives_back(callee)
            if isinstance(s, Assign) and (
                (shares or _holds_arrays(callee.result))
                and _is_changed(program, s)
                or _changed_copies(callee)
                or any(program.aliases.root(n) == program.aliases.root(s.target) for n in _changed_copies(program))
            ):
                shared = Shared(s)
                if not calls_itself(s.op):  # type: ignore[arg-type]
                    raise shared
                if shares:
                    raise shared.refusal
            op = ops.UserFunction(s.op, callee.pure, shares)
            return (replace(s, op=op),)
        if isinstance(s, Assign) and isinstance(s.op, type) and (built := _structure(s)) is not None:
            return (built,)
        return (s,)

    return replace(program.function, body=transform(program.function.body, rewrite))


class Shared(Exception):
    """What a function gives may be memory of its argument, or twice the same, and is changed: its call at this
    site is lowered into the caller, or refused."""

    def __init__(self, call: Any):
        self.site = call.span.site
        self.refusal = UnsafeMutation(
            f"what {call.op.__name__} gives may be memory of its argument, and one of them is changed", call.span,
            why="changes in place are followed through calls that can be written into their caller, which those of a "
            "function that calls itself cannot",
            way_out="change a copy of what it gives",
        )  # fmt: skip


def _changed_copies(program: Program) -> list[str]:
    """What a function copies with all that it holds, to change it: which parts of it are one and the same, and so
    change together, only those know who put it together."""
    copies = (s for s in statements(program.function.body) if isinstance(s, Assign) and s.op in DEEP_COPIES)
    return [s.args[0] for s in copies if isinstance(s.args[0], str) and program.aliases.is_changed(s.target)]


def _holds_arrays(t: Type) -> bool:
    return is_container(t) and any(isinstance(i, (Array, Unknown)) or _holds_arrays(i) for i in t.items)


def _structure(s: Assign) -> Assign | None:
    """A call of a NamedTuple or a dataclass puts its fields together."""
    cls: Any = s.op
    if hasattr(cls, "_fields"):
        fields = cls._fields
    elif dataclasses.is_dataclass(cls):
        fields = tuple(f.name for f in dataclasses.fields(cls))
    else:
        return None
    try:
        bound = inspect.signature(cls).bind(*s.args, **dict(s.keywords))
    except TypeError:
        return None
    bound.apply_defaults()
    values = [v if isinstance(v, (str, Const)) else Const(v) for v in (bound.arguments[f] for f in fields)]
    return replace(s, op=ops.make_struct, args=(Const(cls), Const(tuple(fields)), *values), keywords=())


def _with_settings(function: Function, params: dict[str, Type]) -> Function:
    """The function with None, flags, texts and integers that are known, ``axis=None``, in place of their names: code
    is compiled for each of them."""
    given = {n: t.const for n, t in params.items() if isinstance(t, Known) and type(t.value) in SETTINGS}
    result = given.get(function.result, function.result) if isinstance(function.result, str) else function.result
    return replace(function, body=substitute_block(function.body, given), result=result) if given else function


def _refuse_open(program: Program) -> None:
    """Refuse what typing did not settle: a starred value of unknown length, a call of something unknown."""
    for p in program.function.params:
        if isinstance(t := program.types.of(p.name), Known) and program.aliases.points.is_changed(p.name):
            raise UnsafeMutation(
                f"{program.function.name} changes {p.name}, an object of {type(t.value).__name__}",
                program.function.span,
                why="only arrays, lists, dicts and objects of the user's classes are copied before they are changed",
                way_out="pass a dict, or make it inside",
            )  # fmt: skip
    for s in statements(program.function.body):
        if isinstance(s, (If, While)) and any(special(program.types.of(s.test), n) for n in ("__bool__", "__len__")):
            raise UnsupportedSyntax(
                f"{program.function.name} asks whether an object is true", s.span,
                why="its class decides, by __bool__ or __len__", way_out="call bool(...) or len(...)",
            )  # fmt: skip
        if isinstance(s, Opaque) and any(_holds_made_inside(program.types.of(a)) for _, a in s.reads):
            raise UnsupportedSyntax(
                f"{program.function.name} uses a function that is made inside, in code that is only carried along",
                s.span, why="there is no translation of this construct into an adjoint yet",
                way_out="define it at the level of the module, or call it before",
            )  # fmt: skip
        if not isinstance(s, (Assign, Effect)):
            continue
        if s.op is builtins.getattr and isinstance(program.types.of(s.args[0]), Array):
            name = getattr(s.args[1], "value", None)
            if name in MUTATING or str(name).startswith("__i") or name == "__setitem__":
                raise UnsafeMutation(
                    f"{program.function.name} takes the method {name} of an array as a value", s.span,
                    why="calls of it change the array, and would not be seen", way_out=f"call x.{name}(...) there",
                )  # fmt: skip
        made = [a for a in s.atoms if isinstance(t := program.types.of(a), Known) and ops.is_made_inside(t.value)]
        if made and ops.module_root(s.op) in ("numpy", "scipy"):
            raise UnsupportedSyntax(
                f"{program.function.name} gives a function that is made inside to {s.op.__name__}", s.span,
                why="its name stands for several functions", way_out="give each its own name",
            )  # fmt: skip
        if s.op is ops.spread or s.op is ops.call and s.args[0] == Const(None):
            what = "unpacks with a star something of unknown length, or makes a dict of unknown keys"
        elif (
            s.op is ops.call
            and not isinstance(program.types.of(s.args[0]), OpaqueType)
            and any(is_differentiable(program.types.of(a)) for a in s.atoms[1:])
        ):
            what = "calls a value that is not known when compiling"
        elif (
            isinstance(s, (Assign, Effect))
            and s.op is ops.method
            and (isinstance(s, Effect) or s.args[1] in GIVING_AND_CHANGING)
            and isinstance(t := program.types.of(s.args[0]), Unknown)
            and not isinstance(t, (OpaqueType, OptionalType))
        ):
            what = f"calls the method {s.args[1].value} of a value of unknown type"
        else:
            continue
        raise UnsupportedSyntax(
            f"{program.function.name} {what}", s.span, why="which code runs would depend on the values",
            way_out="write the items out, or call a function by its name",
        )  # fmt: skip


def _unknown_yet(function: pytypes.FunctionType) -> Program:
    """What is known of a function that is met while it is being prepared."""
    nothing = Function(function.__name__, (), (), Const(None))
    types = Types()
    return Program(nothing, types, Known(Const(ops.UNDEFINED)), True, function)


def _gives_back(callee: Program) -> bool:
    """Whether the result of a function may share memory with an argument."""
    result = callee.function.result
    return isinstance(result, str) and any(
        callee.aliases.root(p.name) == callee.aliases.root(result) for p in callee.function.params
    )


def _is_changed(program: Program, s: Assign) -> bool:
    return any(isinstance(a, str) and program.aliases.is_changed(a) for a in (s.target, *s.atoms))


FRONT = (
    Pass("specialise", "methods, augmented assignments and loops mean what their types say", lambda p: p.function),
    Pass("fits", "lengths that cannot fit raise where they meet", lambda p: p.function),
    Pass("calls", "functions of the user are known with their effects", lambda p: p.function),
    Pass("copies", "names that only repeat other names are gone", lambda p: copies(p.function, False)),
    Pass("own", "a parameter that is written is copied first", _own_parameters),
)
SIMPLIFY = (
    Pass("copies", "names that only repeat other names are gone", lambda p: copies(p.function)),
    Pass("common", "equal expressions are computed once", lambda p: common(p.function, p.aliases)),
    Pass("dead", "what the result does not need is gone", lambda p: dead(p.function, p.types, p.aliases)),
    Pass("elide", "copies that are read once, at once, are gone", lambda p: elide(p.function, p.types, p.aliases)),
    Pass("copies", "names that only repeat other names are gone", lambda p: copies(p.function)),
    Pass("checks", "what is computed is not tried before", lambda p: without_computed(p.function)),
    Pass("dead", "what the result does not need is gone", lambda p: dead(p.function, p.types, p.aliases)),
)


MOST_LEARNED = 500  # rounds in which the types tell what is called


class Context:
    """One compilation: the functions met on the way, and the pairs written for them."""

    steps = SIMPLIFY

    def __init__(
        self, root: pytypes.FunctionType, arrays: str = "numpy", observer: Observer | None = None,
        checked: bool = False, inner: bool = False, watch: Callable[[Program], Function] | None = None,
    ):  # fmt: skip
        self.watch = watch  # puts into each program what shows its values
        self.root, self.arrays, self.observer, self.checked = root, arrays, observer, checked
        self.inner = inner  # what is written is differentiated again
        self.prepared: dict[Any, Program] = {}
        self.entered: Counter[pytypes.FunctionType] = Counter()  # how often a function was met inside itself
        self.in_progress: list[pytypes.FunctionType] = []
        self.assumed: dict[Any, Program] = {}  # what is being prepared, as far as it is known
        self.recursive: set[Any] = set()
        self.failed: dict[Any, TangentcError] = {}
        self.pairs: dict[Any, Any] = {}
        self.emitted: list[tuple[Program, pytypes.FunctionType]] = []
        self.names: set[str] = set()
        self.dependencies: dict[tuple[Place, str], Place] = {}  # names, where the code found them
        self.refused: list[TangentcError] = []
        self.lengths = Lengths()
        self.lifted: dict[Any, Any] = {}  # functions defined inside that call themselves
        self.defined: dict[Any, dict[Any, Any]] = {}  # definitions that stand for calls, by function and site
        self.lists: dict[Any, dict[Any, Any]] = {}  # arguments that stand for arrays, by function and site
        self.derivatives: dict[Any, Any] = {}  # derivatives taken inside, compiled
        self.twins: dict[Any, Any] = {}  # what is called in place of functions that change arguments and do so
        self.put: set[Global] = set()  # what belongs to the module, and is written into
        self.read: set[Global] = set()  # and what is read
        self.emulated: set[type] = set()  # what lists and dicts stand for in the functions met so far
        self.chooses = False  # whether an adjoint was written under a mask
        self.choosing: dict[int, Any] = {}  # a program -> it, and the parameters of which it takes some entries

    def settle(self, write: Callable[[], Any]) -> Any:
        """What ``write`` gives, which writes a derivative: begun again when a call needs its definition."""
        names = set(self.names)
        while True:
            try:
                return write()
            except Defined as needed:
                self.defined.setdefault(needed.function, {}).update(needed.sites)
                for made in (self.prepared, self.failed, self.pairs, self.emitted, self.recursive, self.entered):
                    made.clear()
                self.names = set(names)

    # ---------------------------------------------------------- the front
    def prepare(self, function: pytypes.FunctionType, types: Sequence[Type]) -> Program:
        """The function in core form, typed for these parameters."""
        key = self.key(function, types)
        types = list(key[1])
        if key in self.prepared:
            return self.prepared[key]
        if key in self.assumed:  # it calls itself
            self.recursive.add(key)
            return self.assumed[key]
        if self.in_progress.count(function) > DEEPEST or self.entered[function] > MOST_VERSIONS:
            raise UnsupportedSyntax(
                f"{function.__name__} calls itself with arguments of ever other types", _where(function),
                why="each call would need code of its own", way_out="write it as a loop",
            )  # fmt: skip
        if key in self.failed:
            raise self.failed[key]
        if not self.in_progress:
            with contextlib.suppress(Twinned, Generalised):
                return self._settled(function, types, key)
            self.prepared, self.failed, self.recursive = {}, {}, set()
            self.entered.clear()
            return self.prepare(function, types)
        return self._settled(function, types, key)

    def key(self, function: pytypes.FunctionType, types: Sequence[Type]) -> tuple[Any, tuple[Type, ...]]:
        """The function with the types that its code for these is compiled for."""
        if calls_itself(function):  # a counter is another number in each call
            types = [replace(t, value=None) if isinstance(t, Scalar) else t for t in types]
            types = self.lengths.general(function, types)
        return function, tuple(types)

    def _settled(self, function: pytypes.FunctionType, types: Sequence[Type], key: Any) -> Program:
        if function in self.in_progress:
            self.entered[function] += 1
            self.lengths.note(function, list(types))
        self.in_progress.append(function)
        self.assumed[key] = _unknown_yet(function)
        others = set(self.prepared)
        try:
            for _ in range(DEEPEST):
                program = self._prepare(function, types)
                before = self.assumed[key]
                if key not in self.recursive or (certain(before.result), before.pure) == (
                    certain(program.result),
                    program.pure,
                ):
                    break
                self.assumed[key] = program  # what it gives is known better now: so is what the others give
                self.prepared = {k: p for k, p in self.prepared.items() if k in others}
                self.failed = {}
        except TangentcError as error:
            self.failed[key] = error
            raise
        finally:
            self.in_progress.pop()
            del self.assumed[key]
        self.prepared[key] = program
        return program

    def _prepare(self, source: pytypes.FunctionType, types: Sequence[Type]) -> Program:
        inline: set[Any] = set()
        while True:
            try:
                return self._fronted(source, types, inline)
            except Shared as shared:
                if shared.site in inline or shared.site is None:
                    raise shared.refusal from None
                inline.add(shared.site)

    def _fronted(self, source: pytypes.FunctionType, types: Sequence[Type], inline: set[Any]) -> Program:
        lowered, program, params = self._lowered(source, types, inline)
        gives_iterator = program.gives_iterator
        self.observe("lower", "one operation a statement, names resolved to objects", lowered, None)
        self.observe("normalise", "one definition a name; control flow joins where it says so",
                     program.function, program.types)  # fmt: skip
        changes: tuple[str, ...] = ()
        for step in FRONT:
            if step.name == "own":
                changes = program.aliases.changed_params(program.function)
            if step.name == "specialise":
                builder = Builder(program.types, program.types.of_name)
                new = specialise(program.function, program.types, builder.fresh)
            elif step.name == "fits":
                fresh = Builder(program.types, program.types.of_name).fresh
                body = fitted(program.function.body, program.types, fresh, self.in_progress == [source])
                new = replace(program.function, body=body) if body != program.function.body else program.function
            elif step.name == "calls":
                new = _user_functions(program, self)
            else:
                new = step.run(program)
            if new is not program.function:
                program = self.typed(new, params, source)
            self.observe(step.name, step.does, program.function, program.types)
        if self.watch is not None:
            program = self.typed(self.watch(program), params, source)
        program.changes, program.gives_iterator = changes, gives_iterator
        program.pure = all(map(_is_pure_statement, statements(program.function.body)))
        return program

    def _lowered(
        self, source: pytypes.FunctionType, types: Sequence[Type], inline: set[Any]
    ) -> tuple[Function, Program, dict[str, Type]]:
        """Lower, and type, until the types tell nothing more of what is called."""
        known = Feedback(
            inline=set(inline),
            defined=self.defined.get(source, {}),
            lists=self.lists.setdefault((source, tuple(types)), {}),
            lifted=self.lifted,
            derivatives=self.derivatives,
            emulated=self.emulated,
            twins={f: t for f, t in self.twins.items() if t is not None},
        )
        names = list(inspect.signature(source, follow_wrapped=False).parameters)
        params = dict(zip(names, types, strict=False))
        for learning in itertools.count():
            if learning > MOST_LEARNED:
                raise UnsupportedSyntax(
                    f"{source.__name__} calls functions that are made elsewhere while it runs",
                    why="which they are does not come out, however often it is looked at",
                    way_out="give it the functions as arguments, by their names",
                )
            lowered, places = lower(source, params, known)
            function, gives_iterator = used_once(normalise(lowered, is_emitted(source)))
            params = dict(zip((p.name for p in function.params), types, strict=True))
            function = _with_settings(function, params)
            program = self.typed(function, params, source, hopeful=True)
            before = known.size()
            self._inline(program, known)
            known.learn(program)
            if known.size() == before:
                program = self.typed(function, params, source)
                refused = self.refused
                known.learn(program)  # of lists that were empty at first
                if known.size() == before:
                    break
        if refused:
            raise refused[0]
        _refuse_open(program)
        for s in statements(program.function.body) if self.emulated else ():
            refuse_told_apart(s, program.types, self.emulated)
        if any(isinstance(s, Assign) and s.op is ops.assumed for s in statements(program.function.body)):
            program = self.typed(without_assumed(program), params, source)
        self.dependencies.update(places)
        program.gives_iterator = gives_iterator
        shown = transform(lowered.body, lambda s: () if getattr(s, "op", None) in HIDDEN else (s,))
        return replace(lowered, body=shown), program, params

    def _inline(self, program: Program, known: Feedback) -> None:
        """Note the calls that cannot have an adjoint of their own: what is called changes its arguments, or gives
        a function or an iterator."""
        for s in statements(program.function.body):
            if not (isinstance(s, (Assign, Effect)) and is_user_function(s.op)) or s.span.site is None:
                continue
            if s.op in self.in_progress:
                continue
            if any(map(_is_code, map(program.types.of, s.atoms))):
                known.inline.add(s.span.site)
                continue
            try:
                callee = self.callee(s, program.types)
            except TangentcError:
                known.inline.add(s.span.site)
                continue
            if holds_code(callee.result) or callee.gives_iterator or callee.changes:
                known.inline.add(s.span.site)

    def typed(
        self, function: Function, params: dict[str, Type], source: pytypes.FunctionType, hopeful: bool = False
    ) -> Program:
        """The program with its types and aliases worked out anew."""
        types = Types(self.call_type, hopeful, self._begin).function(function, params)
        return self.with_facts(function, types, source)

    def with_facts(self, function: Function, types: Types, source: pytypes.FunctionType) -> Program:
        if self.checked:
            verify(function)
        return Program(function, types, types.of(function.result), True, source)

    def _begin(self) -> None:
        """What was refused while types were still open may be right now."""
        self.refused = []

    def call_type(self, op: Any, types: list[Type], keywords: dict[str, Type]) -> Type | None:
        if isinstance(op, ops.Emitted):
            found: Type = op.result
            return found
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

    def callee(self, s: Any, types: Types) -> Program:
        given = [types.of(a) for a in s.args]
        return self.prepare(s.op, _bound_types(s.op, given, {k: types.of(v) for k, v in s.keywords}))

    def recomputes(self, function: pytypes.FunctionType, types: list[Type]) -> bool:
        """Whether the adjoint of a callee is given its arguments again, in place of what its primal saved.

        What a function saves that calls itself lies in itself as deep as the calls go, which no type says; where
        its adjoint is differentiated again, it is computed again instead (a checkpoint at each call: Griewank and
        Walther, Evaluating Derivatives, chapter 12).
        """
        return self.inner and calls_itself(function) and self.prepare(function, types).pure

    def observe(self, name: str, does: str, function: Function, types: Types | None) -> None:
        if self.checked and types is not None:
            verify(function)
        if self.observer is not None and len(self.in_progress) <= 1:
            self.observer(name, does, function, types)  # type: ignore[arg-type]

    # ---------------------------------------------------------- the back
    def simplify(
        self, function: Function, types: Types, source: pytypes.FunctionType, steps: Sequence[Pass] = SIMPLIFY
    ) -> Program:
        program = self.with_facts(function, types, source)
        for step in steps:
            if (new := step.run(program)) is not program.function:
                program = self.with_facts(new, types, source)
            self.observe(step.name, step.does, program.function, types)
        return program

    def masks(self, program: Program, chosen: bool) -> Any:
        inside = self.chooses_in(program)
        found = masks(program.function, program.types, _has_no_derivative, chosen, inside)
        for name, mask in list(found.items()):  # what is changed is another one where the value is computed
            if any(isinstance(test, str) and program.aliases.is_changed(test) for test in tests_of(mask)):
                if has_places(mask):
                    del found[name]
                else:
                    found[name] = NONZERO
        if program.source.__globals__.get(CHOOSES):  # zeros of what was not taken pass through any value
            names = {s.target for s in statements(program.function.body) if isinstance(s, Assign)}
            return dict.fromkeys(names, NONZERO) | found
        return found

    def chooses_in(self, program: Program) -> Callable[[Assign], set[int]]:
        """For the calls in a program, the arguments of which the callee takes some entries, and others not."""

        def chooses(call: Assign) -> set[int]:
            try:
                callee = self.callee(replace(call, op=call.op.function), program.types)  # type: ignore[attr-defined]
            except TangentcError:
                return set()
            if id(callee) not in self.choosing:
                self.choosing[id(callee)] = callee, set()  # where it calls itself
                found = masks(callee.function, callee.types, _has_no_derivative, False, self.chooses_in(callee))
                self.choosing[id(callee)] = callee, {p.name for p in callee.function.params if p.name in found}
            chosen = self.choosing[id(callee)][1]
            names = list(inspect.signature(call.op.function).parameters)  # type: ignore[attr-defined]
            params = [p.name for p in callee.function.params]
            places = [*range(len(call.args)), *(names.index(k) if k in names else -1 for k, _ in call.keywords)]
            return {k for k, place in enumerate(places) if 0 <= place < len(params) and params[place] in chosen}

        return chooses

    def unbounded(self, program: Program, wrt: set[str]) -> set[Atom]:
        return unbounded(program.function, program.types, _is_singular, wrt)

    def definitions(self, program: Program) -> Any:
        return definitions(program.function.body)

    def unique_name(self, name: str) -> str:
        k, wanted = 1, name
        while wanted in self.names:
            k += 1
            head, _, tail = name.rpartition("_")
            wanted = f"{head}_{k}_{tail}" if head else f"{name}_{k}"
        self.names.add(wanted)
        return wanted


def _has_no_derivative(op: Any) -> bool:
    rule = REGISTRY.find(op)
    return rule is not None and rule.kind == "zero"


def _is_singular(op: Any) -> bool:
    rule = REGISTRY.find(op)
    return rule is not None and rule.singular


def _where(function: pytypes.FunctionType) -> Span:
    source = source_of(function)
    return source.span(source.tree)


def _is_pure_statement(s: Statement) -> bool:
    if isinstance(s, Effect):
        return ops.is_pure(s.op)  # what only raises
    if isinstance(s, Assign):
        return ops.is_pure(s.op)
    return not (isinstance(s, Opaque) and not s.writes)


def _call_aliases(op: Any) -> bool | None:
    if isinstance(op, ops.UserFunction):
        return op.aliases
    return op.aliases if isinstance(op, ops.Emitted) else None


def _bound_types(function: pytypes.FunctionType, types: list[Type], keywords: dict[str, Type]) -> list[Type]:
    """The type of each parameter, defaults included."""
    signature = inspect.signature(function, follow_wrapped=False)
    try:
        bound = signature.bind(*types, **keywords)
    except TypeError as error:
        return [Unknown(str(error))] * len(signature.parameters)
    out = []
    for name, parameter in signature.parameters.items():
        out.append(bound.arguments[name] if name in bound.arguments else type_of(parameter.default))
    return out
