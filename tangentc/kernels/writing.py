"""Writing loops over entries: statements, names, views of arrays, nests of loops."""

from __future__ import annotations

import operator
from collections.abc import Callable, Hashable
from dataclasses import dataclass

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import NOWHERE, Assign, Atom, Const, Effect, Op, Statement
from tangentc.core.types import Scalar
from tangentc.errors import Span
from tangentc.kernels.accesses import Bounds
from tangentc.kernels.language import is_array, is_number
from tangentc.kernels.saves import Stack

INTEGER = Scalar("int64", True)
SIGN: dict[Op, int] = {operator.add: 1, operator.sub: -1}


class NotSaid(Exception):
    """A statement that a kernel has no words for; the message says what it is."""

    statement: Statement | None = None


@dataclass(frozen=True)
class Axis:
    """One axis of a view: which axis of the array it runs along, None if it is new, from where, and its length."""

    of: int | None
    start: Atom
    step: int
    length: Atom


@dataclass(frozen=True)
class View:
    """The part of an array that a name stands for; ``fixed`` says which entry it has of the axes that it lacks."""

    array: str
    axes: tuple[Axis, ...]
    fixed: tuple[tuple[int, Atom], ...] = ()


@dataclass(frozen=True)
class Around:
    """A loop around what is written: its variable, where it begins and ends, forwards, and whether it is turned; not
    ``counted`` is one that may be left, has steps other than one, or is none over a range."""

    target: str
    first: Atom
    end: Atom
    turned: bool
    counted: bool
    step: int = 1


class Writing:
    """Statements of a kernel, and what they are made of."""

    def __init__(
        self, types: Types, fresh: Callable[[str], str], root: Callable[[str], str], is_changed: Callable[[str], bool]
    ):
        self.types, self.fresh, self.root, self.is_changed = types, fresh, root, is_changed
        self.views: dict[Atom, View] = {}
        self.dims: dict[Atom, Length] = {}
        self.equal: dict[Atom, Atom] = {}  # lengths that are the same as others
        self.parts: dict[str, tuple[Atom, ...]] = {}  # the items of tuples
        self.slices: dict[str, tuple[Atom, ...]] = {}  # where slices begin and end, whose ends are computed
        self.made: dict[str, Statement] = {}
        self.bounds = Bounds(types, self.made, self.dims)
        self.backwards: dict[str, str] = {}  # lists of what was saved, from their ends on
        self.ranges: dict[str, tuple[Atom, ...]] = {}
        self.turned: set[str] = set()  # those that run backwards
        self.listed: dict[Atom, tuple[float, ...]] = {}  # numbers that loops run over, which are known
        self.early: set[Hashable] = set()  # integers that are computed before the loop
        self.known: dict[Dim, Atom] = {}
        self.head: list[Statement] = []
        self.out: list[Statement] = self.head
        self.stacks: dict[str, dict[Hashable, Stack]] = {}  # what is saved, by the list, and the dtype and lengths
        self.pushes: set[Atom] = set()  # the lists that this region saves into
        self.begun: set[str] = set()  # and those that a trip has saved into
        self.copies: dict[str, tuple[str, int, int]] = {}  # copies that are saved: in which list, which of how many
        self.kept_copies: set[Atom] = set()  # and those of them that were made where they are saved
        self.around: list[Around] = []  # the loops around what is written
        self.irregular: set[str] = set()  # the lists that trips save into, but not each once
        self.grows = False  # whether room for what is saved is made when it is needed
        self.own: set[str] = set()  # the arrays of what is saved
        self.params: set[str] = set()
        self.contiguous: set[str] = set()  # arrays that are made here, and lie row by row in memory
        self.in_rows: dict[str, str] = {}  # what the kernel is given, as arrays that do
        self.small: set[str] = set()  # those that are asked before the loop not to be large integers
        self.carried: set[Atom] = set()  # what one trip hands to the next
        self.finished: set[str] = set()  # copies that are the array itself, which nobody touches behind them
        self.unchanged: set[str] = set()  # arrays in another shape, whose memory nobody changes behind them
        self.settled: set[Atom] = set()  # arrays that change no more once they are saved
        self.apart: set[str] = set()  # arrays with memory of their own, though what makes them may hand on its argument
        self.gives_back: Callable[[Assign], bool] = lambda s: False  # whether that may be an array that is written
        self.within: set[Hashable] = set()  # the forms that were asked before the loop whether they are zero or more
        self.cuts: dict[tuple[Atom, ...], tuple[Atom, int, Atom]] = {}  # where slices begin, and their lengths
        self.asked: set[Hashable] = set()  # where it was asked whether a number is in the domain, up to here
        self.as_python = True  # whether the functions of `math` raise, and integers have any size
        self.in_loop = True  # whether all of this is one loop of the program
        self.is_checked = False  # whether subscripts have to be looked at each time
        self.outright = True  # whether a statement runs in each trip of the loops around it
        self.span: Span = NOWHERE

    def add(self, s: Statement) -> None:
        """Write a statement."""
        self.out.append(s)
        if isinstance(s, Assign):
            self.made[s.target] = s

    def emit(self, op: Op, args: tuple[Atom, ...], name: str = "%entry", of: object = None) -> str:
        target = self.fresh(name)
        self.types.of_name[target] = of or self.types.result(op, args)  # type: ignore[assignment]
        self.add(Assign(target, op, args, (), self.span))  # type: ignore[arg-type]
        return target

    def plus(self, a: Atom, b: Atom, op: Op = operator.add) -> Atom:
        """The sum of two integers."""
        if isinstance(a, Const) and not isinstance(b, Const) and op is operator.add:
            a, b = b, a
        made = self.made.get(a) if isinstance(a, str) and isinstance(b, Const) else None
        if isinstance(made, Assign) and made.op in SIGN and isinstance(made.args[1], Const):  # n - 1 - 1 is n - 2
            a, b = made.args[0], Const(SIGN[made.op] * made.args[1].value + SIGN[op] * b.value)
            op = operator.add
        if isinstance(a, Const) and isinstance(b, Const):
            return Const(op(a.value, b.value))
        if isinstance(b, Const):
            if b.value == 0:
                return a
            if b.value < 0:
                op, b = (operator.sub if op is operator.add else operator.add), Const(-b.value)
        return self.emit(op, (a, b), "%index", INTEGER)

    def fail_if(self, test: Atom, error: type[Exception], message: str) -> None:
        self.add(Effect(ops.fail_if, (test, Const(error), Const(message)), (), self.span))

    def _number(self, atom: Atom) -> None:
        if not is_number(self.types.of(atom)):
            raise NotSaid(f"{atom} is no number")

    def is_array(self, atom: Atom) -> bool:
        return isinstance(atom, str) and is_array(self.types.of(atom))


class Into:
    """Write into a list of statements for a while."""

    def __init__(self, nests: Writing, out: list[Statement]):
        self.nests, self.out = nests, out

    def __enter__(self) -> None:
        self.before, self.asked = self.nests.out, self.nests.asked
        self.nests.out = self.out
        self.nests.asked = set() if self.out is self.nests.head else set(self.asked)

    def __exit__(self, *error: object) -> None:
        self.nests.out, self.nests.asked = self.before, self.asked
