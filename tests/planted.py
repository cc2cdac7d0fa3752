"""One statement of an emitted adjoint made wrong, as a fault of the compiler would make it.

A fault is planted as the last pass of a compilation, so that whatever is compiled while it is there has it: it is looked
for by the user's expression that a statement belongs to, and by its operation.
"""

import operator
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace

from tangentc.analysis.program import Pass
from tangentc.compiler.context import Context
from tangentc.core import ops
from tangentc.core.nodes import Assign, Const, Effect, Store
from tangentc.core.types import Array
from tangentc.core.walk import statements, transform, with_body
from tangentc.derive.adjoints import Adjoints
from tangentc.derive.reverse import _Reverse

OTHER_SIGN = {operator.add: operator.sub, operator.sub: operator.add}
SHIFTED = [slice(1, None), slice(None, -1)]


@dataclass(frozen=True)
class Fault:
    """What is done to the statement of that place in the user's text, and of that operation."""

    what: str
    place: tuple
    number: int  # among several of one place
    line: int
    text: str
    of_the_chain_rule: bool = False

    def __str__(self):
        return f"{self.what}: {self.text}"


def _place(s):
    at = s.span
    return at.file, at.line, at.column, at.end_column, at.sweep, type(s).__name__, getattr(s, "op", None)


def _placed(program):
    """The statements of the adjoint sweep, and those that save for it, each with its place and its number there."""
    met = Counter()
    for s in statements(program.function.body):
        if s.span.sweep in ("adjoint", "recalled") or isinstance(s, Effect) and s.op is ops.push:
            yield s, _place(s), met[_place(s)]
            met[_place(s)] += 1


def _like(program, s, atom):
    """The last name before a statement that has another value of the same type as an atom in it."""
    wanted, found = program.types.of(atom), None
    for other in statements(program.function.body):
        if other is s:
            return found
        if isinstance(other, Assign) and other.target not in (atom, s.args[0]) and not other.target.startswith("%"):
            found = other.target if program.types.of(other.target) == wanted else found
    return None


def _alone(program, s, kept):
    """The statement with one of its operands for the result, where that has its form."""
    same = program.types.of(s.args[kept]) == program.types.of(s.target)
    return replace(s, op=ops.identity, args=(s.args[kept],), keywords=()) if same else None


def _sliced(key):
    if isinstance(key, Const) and key.value in SHIFTED:
        return Const(SHIFTED[1 - SHIFTED.index(key.value)])
    if isinstance(key, Const) and type(key.value) is int:
        return Const(key.value - 1 if key.value > 0 else key.value + 1)
    return None


def _of_assign(program, s):
    if s.op in (operator.mul, operator.truediv):
        yield "a lost factor", _alone(program, s, 0)
        yield "another lost factor", _alone(program, s, 1) if s.op is operator.mul else None
    if s.op in (operator.add, operator.sub):
        yield "a dropped contribution", _alone(program, s, 0)
        yield "another dropped contribution", _alone(program, s, 1)
        yield "a wrong sign", replace(s, op=OTHER_SIGN[s.op])
    if s.op is operator.neg:
        yield "a lost sign", _alone(program, s, 0)
    if s.op is operator.getitem and isinstance(program.types.of(s.args[0]), Array):
        key = _sliced(s.args[1])
        yield "a wrong slice", key and replace(s, args=(s.args[0], key))
    if s.op in (operator.sub, operator.truediv, operator.matmul) and len({*map(program.types.of, s.args)}) == 1:
        yield "two names swapped", replace(s, args=s.args[::-1])


def _of_store(program, s):
    if s.op in OTHER_SIGN:
        yield "a wrong sign in place", replace(s, op=OTHER_SIGN[s.op])
        yield "set where it is added", replace(s, op=None, key=Const(slice(None)) if s.key is None else s.key)
    elif s.op is None:
        yield "added where it is set", replace(s, op=operator.add)
    yield "a dropped statement", ()
    if s.key is not None:
        key = _sliced(s.key)
        yield "a wrong slice in place", key and replace(s, key=key)


def _of_push(program, s):
    if len(s.args) == 2 and isinstance(s.args[1], str) and (other := _like(program, s, s.args[1])):
        yield "a wrong saved value", replace(s, args=(s.args[0], other))


WAYS = {Assign: _of_assign, Store: _of_store, Effect: _of_push}


def _ways(program, s):
    for what, new in WAYS.get(type(s), lambda *_: ())(program, s):
        if new is not None:
            yield what, new


# ------------------------------------------------------------------ in a pass
@contextmanager
def _with_pass(change: Callable) -> Iterator[None]:
    before = Context.steps
    Context.steps = (*before, Pass("planted", "a fault", change))
    try:
        yield
    finally:
        Context.steps = before


def _changed(fault: Fault) -> Callable:
    def plant(program):
        wrong = {}
        for s, place, number in _placed(program):
            if (place, number) == (fault.place, fault.number):
                wrong.update({id(s): new for what, new in _ways(program, s) if what == fault.what})

        def rewrite(s):
            new = wrong.get(id(s), s)
            return new if isinstance(new, tuple) else (new,)

        return with_body(program.function, transform(program.function.body, rewrite)) if wrong else program.function

    return plant


def of_a_pass(compile_: Callable[[], object]) -> list[Fault]:
    """The faults that a pass may make in what is compiled by this."""
    found = []

    def look(program):
        for s, place, number in _placed(program):
            found.extend(Fault(what, place, number, s.span.line, s.span.text.strip()) for what, _ in _ways(program, s))
        return program.function

    with _with_pass(look):
        compile_()
    return found


# ------------------------------------------------------------------ in the chain rule
def _dropped(adjoints, x, x_bar):
    return None


def _of_the_other_sign(adjoints, x, x_bar):
    return adjoints.b.emit(operator.neg, (x_bar,))


def _twice(adjoints, x, x_bar):
    return adjoints.b.emit(operator.mul, (Const(2.0), x_bar))


def _the_only_one(adjoints, x, x_bar):
    adjoints.values.pop(x, None)
    return x_bar


SLIPS = {f.__name__.strip("_").replace("_", " "): f for f in (_dropped, _of_the_other_sign, _twice, _the_only_one)}


@contextmanager
def _with_slip(slip: Callable) -> Iterator[None]:
    """While this runs, what a statement adds to an adjoint is given to ``slip`` first."""
    add, ways = Adjoints.add, {name: getattr(_Reverse, name) for name in ("assign", "store", "call")}
    inside: list = []

    def adding(self, x, x_bar, fitted=False):
        if inside and isinstance(x, str) and x in self.active and isinstance(x_bar, (str, Const)):
            s, count = inside[-1]
            count[0] += 1
            x_bar = slip(self, s, count[0], x, x_bar)
        add(self, x, x_bar, fitted)

    def around(way):
        def differentiated(self, s, *more):
            shown = getattr(s, "op", None) is ops.seen
            if not shown:
                inside.append((s, [0]))
            try:
                return way(self, s, *more)
            finally:
                if not shown:
                    inside.pop()

        return differentiated

    Adjoints.add = adding
    for name, way in ways.items():
        setattr(_Reverse, name, around(way))
    try:
        yield
    finally:
        Adjoints.add = add
        for name, way in ways.items():
            setattr(_Reverse, name, way)


def of_the_chain_rule(compile_: Callable[[], object]) -> list[Fault]:
    """The faults that the chain rule may make in what is compiled by this."""
    found = []

    def look(adjoints, s, number, x, x_bar):
        found.extend(Fault(what, _place(s), number, s.span.line, s.span.text.strip(), True) for what in SLIPS)
        return x_bar

    with _with_slip(look):
        compile_()
    return list(dict.fromkeys(found))


def planted(fault: Fault) -> AbstractContextManager[None]:
    """While this runs, what is compiled has this fault."""
    if not fault.of_the_chain_rule:
        return _with_pass(_changed(fault))

    def slip(adjoints, s, number, x, x_bar):
        if (_place(s), number) != (fault.place, fault.number):
            return x_bar
        return SLIPS[fault.what](adjoints, x, x_bar)

    return _with_slip(slip)
