"""Emitted code that reports what it computes.

Every expression of a text is handed through `Watcher.see` and every statement ends in `Watcher.done`; the lines stay
where they are, so that tracebacks and debuggers show the text as it is printed.

    x_bar = out_bar / y        ->        x_bar = see(2, see(0, out_bar) / see(1, y)); done(0, x_bar)
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from tangentc.backend.load import Text, load
from tangentc.core.nodes import NOWHERE
from tangentc.core.values import is_array
from tangentc.errors import Span

if TYPE_CHECKING:
    from tangentc.compiled import Compiled

FINITE, INFINITE, NAN = range(3)
# what computes nothing of its own: it takes what is there, and the whole of a list is not looked at for each item
TAKES = (ast.Name, ast.IfExp, ast.Tuple, ast.List, ast.Dict, ast.Subscript, ast.Attribute)

LOOKED_AT = (
    ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.BinOp, ast.UnaryOp, ast.Compare, ast.BoolOp, ast.IfExp,
    ast.Tuple, ast.List, ast.Dict,
)  # fmt: skip


@dataclass(frozen=True)
class Site:
    """An expression: its text, those that it is computed from, and whether it is computed, and entry by entry."""

    text: str
    operands: tuple[int, ...] = ()
    computes: bool = False
    entrywise: bool = False


@dataclass
class Line:
    """An emitted statement: its text and number of row, the user's line, and the expressions in it in their order."""

    function: str
    row: int
    text: str
    span: Span
    target: str
    sites: list[int] = field(default_factory=list)
    in_place: bool = False
    is_return: bool = False


@dataclass
class Watched:
    """An instrumented text: the tree, its statements and expressions, and the text of each loop by its number."""

    tree: ast.Module
    lines: list[Line]
    sites: list[Site]
    loops: list[str]


class Watcher:
    """What instrumented code calls; a subclass says what becomes of a statement that has run."""

    def __init__(self, watched: Watched):
        self.watched = watched
        self.values: list[Any] = [None] * len(watched.sites)
        self.states = [FINITE] * len(watched.sites)  # of the expressions of the statement that runs
        self.born: tuple[Site, Any, dict[str, Any]] | None = None  # the first operation in it that made one not finite
        self.path: list[list[int]] = []  # the loops that we are in, and which trip each is in
        self.frames: list[int] = []
        self.was_finite = True  # what is changed in place
        self.scope: dict[str, Any] = {}  # the names of the code that runs

    def names(self) -> dict[str, Callable]:
        """The functions that the instrumented text calls, by the names that it calls them by."""
        return {
            "_tangentc_see": self.see, "_tangentc_again": self.values.__getitem__, "_tangentc_begin": self.begin,
            "_tangentc_done": self.done, "_tangentc_enter": self.enter, "_tangentc_trip": self.trip,
            "_tangentc_after": self.after,
        }  # fmt: skip

    def see(self, site: int, value: Any) -> Any:
        self.values[site] = value
        state = self.states[site] = state_of(value)
        if state and self.born is None and (made := self.watched.sites[site]).computes and made.operands:
            given = [self.states[k] for k in made.operands]
            if NAN not in given and (state == NAN or INFINITE not in given):
                self.born = made, value, {self.watched.sites[k].text: self.values[k] for k in made.operands}
        return value

    def enter(self, line: int, *args: Any) -> None:
        """A function begins."""
        self.frames.append(len(self.path))

    def begin(self, line: int, value: Any) -> None:
        """A statement that changes ``value`` in place is about to run."""
        self.was_finite = state_of(value) == FINITE

    def trip(self, loop: int) -> None:
        """A trip of a loop begins."""
        if self.path and len(self.path) > (self.frames[-1] if self.frames else 0) and self.path[-1][0] == loop:
            self.path[-1][1] += 1
        else:
            self.path.append([loop, 0])

    def after(self, loop: int) -> None:
        """A loop has ended."""
        while self.path and self.path[-1][0] >= loop and len(self.path) > (self.frames[-1] if self.frames else 0):
            self.path.pop()

    def done(self, line: int, value: Any, leaves: bool = False) -> Any:
        """A statement has run and made ``value``."""
        statement = self.watched.lines[line]
        self.ran(statement, value)
        self.born = None
        for site in statement.sites:
            self.values[site], self.states[site] = None, FINITE
        if leaves and self.frames:
            del self.path[self.frames.pop() :]
        return value

    def ran(self, line: Line, value: Any) -> None:
        raise NotImplementedError

    def function(self, compiled: Compiled) -> Any:
        """The function that was compiled, watched."""
        function = load(compiled.text, compiled.root.__module__, self.watched.tree, self.names())
        function.__globals__.update({name: atom.lookup() for name, atom in compiled.live.items()})
        self.scope = function.__globals__
        return function


def watched(text: Text) -> Watched:
    """The instrumented tree of a text."""
    return _Instrument(text).result()


def leaves(value: Any, depth: int = 0) -> Iterator[Any]:
    """The numbers and arrays in a value."""
    if isinstance(value, (float, complex, np.number)) or is_array(value):
        yield value
    elif isinstance(value, dict):
        for part in value.values():
            yield from leaves(part, depth + 1)
    elif isinstance(value, (list, tuple)):
        for part in value:
            yield from leaves(part, depth + 1)
    elif depth < 20 and hasattr(value, "__dict__") and not callable(value) and not isinstance(value, type):
        for part in vars(value).values():
            yield from leaves(part, depth + 1)


def state_of(value: Any) -> int:
    """Whether there is a NaN in a value, or an infinity, or neither."""
    state = FINITE
    for leaf in leaves(value):
        if getattr(getattr(leaf, "dtype", None), "kind", "f") in "fc" and not bool(np.all(np.isfinite(leaf))):
            if bool(np.any(np.isnan(leaf))):
                return NAN
            state = INFINITE
    return state


class _Instrument:
    def __init__(self, text: Text):
        self.text = text
        self.tree = ast.parse(text.whole)
        self.sites: list[Site] = []
        self.lines: list[Line] = []
        self.loops: list[str] = []
        self.given = set(text.live)
        self.emitted = {node.name for node in self.tree.body if isinstance(node, ast.FunctionDef)}

    def result(self) -> Watched:
        for node in self.tree.body:
            if isinstance(node, ast.FunctionDef):
                self.function(node)
        ast.fix_missing_locations(self.tree)
        return Watched(self.tree, self.lines, self.sites, self.loops)

    def function(self, node: ast.FunctionDef) -> None:
        self.name = node.name
        self.local = {a.arg for a in node.args.args} | self.given
        self.local |= {n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
        doc = bool(node.body) and isinstance(node.body[0], ast.Expr) and isinstance(node.body[0].value, ast.Constant)
        body = self.block(node.body[doc:])
        names = [ast.Name(a.arg, ast.Load()) for a in node.args.args]
        opening = ast.Expr(self.call("enter", self.line(node, ", ".join(a.arg for a in node.args.args), ""), *names))
        ending: list[ast.stmt] = []
        if not isinstance(node.body[-1], ast.Return):
            ending = [self.at(ast.Return(self.done(node, "", ast.Constant(None), True)), node)]
        node.body = [*node.body[:doc], self.at(opening, node), *body, *ending]

    # ---------------------------------------------------------- statements
    def block(self, body: list[ast.stmt]) -> list[ast.stmt]:
        return [made for s in body for made in self.statement(s)]

    def statement(self, s: ast.stmt) -> list[ast.stmt]:
        if isinstance(s, (ast.For, ast.While)):
            number = len(self.loops)
            self.loops.append(ast.unparse(s).partition("\n")[0])
            if isinstance(s, ast.For):
                s.iter = self.expression(s.iter)
            s.body = [self.at(ast.Expr(self.call("trip", number)), s), *self.block(s.body)]
            s.orelse = self.block(s.orelse)
            return [s, self.at(ast.Expr(self.call("after", number)), s)]
        if isinstance(s, ast.If):
            s.body, s.orelse = self.block(s.body), self.block(s.orelse)
            return [s]
        if isinstance(s, ast.With):
            s.body = self.block(s.body)
            return [s]
        if isinstance(s, ast.Try):
            s.body, s.orelse, s.finalbody = self.block(s.body), self.block(s.orelse), self.block(s.finalbody)
            for handler in s.handlers:
                handler.body = self.block(handler.body)
            return [s]
        text = ast.unparse(s)
        if isinstance(s, ast.Return):
            value = s.value or ast.Constant(None)
            s.value = self.done(s, text, value, True, target="what is returned")
            return [s]
        if isinstance(s, ast.Assign) and len(s.targets) == 1:
            target = s.targets[0]
            written = self.read(target)
            name = ast.unparse(target)
            line = self.line(s, text, name)
            s.value = self.expression(s.value, line)
            if written is None:  # reading it again might have an effect
                written = self.seen_again(s.value)
            return [s, self.at(ast.Expr(self.call("done", line, written)), s)]
        if isinstance(s, ast.AugAssign):
            written = self.read(s.target)
            line = self.line(s, text, ast.unparse(s.target))
            s.value = self.expression(s.value, line)
            if written is None:
                return [s, self.at(ast.Expr(self.call("done", line, self.seen_again(s.value))), s)]
            self.lines[line].in_place = True
            again = self.read(s.target)
            assert again is not None
            before = self.at(ast.Expr(self.call("begin", line, written)), s)
            return [before, s, self.at(ast.Expr(self.call("done", line, again)), s)]
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Call):
            call = s.value
            line = self.line(s, text, ast.unparse(call.func))
            call.args = [self.expression(a, line) for a in call.args]
            last = self.seen_again(call.args[-1]) if call.args else ast.Constant(None)
            return [s, self.at(ast.Expr(self.call("done", line, last)), s)]
        return [s]

    def read(self, target: ast.expr) -> ast.expr | None:
        """An expression that reads what a statement has written; None if reading it might have an effect."""
        if any(isinstance(n, (ast.Call, ast.Starred)) for n in ast.walk(target)):
            return None
        return ast.parse(ast.unparse(target), mode="eval").body

    def seen_again(self, value: ast.expr) -> ast.expr:
        """The value of an expression that has been seen."""
        if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id == "_tangentc_see":
            return self.call("again", value.args[0].value)  # type: ignore[attr-defined]
        return ast.Constant(None)

    def done(self, s: Any, text: str, value: ast.expr, leaves: bool, target: str = "") -> ast.expr:
        line = self.line(s, text, target)
        self.lines[line].is_return = isinstance(s, ast.Return)
        return self.call("done", line, self.expression(value, line), ast.Constant(leaves))

    def line(self, s: Any, text: str, target: str) -> int:
        span = getattr(self.text.of.get(s.lineno), "span", NOWHERE)
        self.lines.append(Line(self.name, s.lineno, text, span, target))
        return len(self.lines) - 1

    def call(self, name: str, number: int, *args: ast.expr) -> ast.Call:
        return ast.Call(ast.Name(f"_tangentc_{name}", ast.Load()), [ast.Constant(number), *args], [])

    def at(self, node: Any, place: Any) -> Any:
        for n in ast.walk(node):
            if not hasattr(n, "lineno"):
                ast.copy_location(n, place)
        return node

    # ---------------------------------------------------------- expressions
    def expression(self, e: ast.expr, line: int | None = None) -> ast.expr:
        """The expression, with all that it is computed from, handed through `Watcher.see`."""
        made, _ = self.seen(e, line)
        return made

    def seen(self, e: ast.expr, line: int | None) -> tuple[ast.expr, int | None]:
        text = ast.unparse(e)
        operands: list[int] = []

        def part(x: Any) -> Any:
            if x is None:
                return None
            new, site = self.seen(x, line)
            if site is not None:
                operands.append(site)
            return new

        if isinstance(e, ast.Starred):
            e.value = part(e.value)
            return e, operands[0] if operands else None
        if not self.is_looked_at(e):
            return e, None
        computes = not isinstance(e, TAKES)
        if isinstance(e, ast.Call):
            computes = self.computes(e)
        self.look_at_parts(e, part)
        entrywise = isinstance(e, (ast.BinOp, ast.UnaryOp)) and not isinstance(getattr(e, "op", None), ast.MatMult)
        self.sites.append(Site(text, tuple(operands), computes, entrywise))
        number = len(self.sites) - 1
        if line is not None:
            self.lines[line].sites.append(number)
        return ast.copy_location(self.call("see", number, e), e), number

    def is_looked_at(self, e: ast.expr) -> bool:
        """Whether an expression has a value of the function's own."""
        if isinstance(e, ast.Name):
            return e.id in self.local
        return isinstance(e, LOOKED_AT) and not (isinstance(e, ast.Attribute) and self.is_module(e))

    def computes(self, e: ast.Call) -> bool:
        """Whether a call gives a new value: what an emitted function computes, its own lines tell."""
        if isinstance(e.func, ast.Attribute) and not self.is_module(e.func):
            return e.func.attr != "pop"
        return not (isinstance(e.func, ast.Name) and e.func.id in self.emitted)

    def look_at_parts(self, e: Any, part: Callable[[Any], Any]) -> None:
        """Have the operands of an expression looked at."""
        match e:
            case ast.Call():
                if isinstance(e.func, ast.Attribute) and not self.is_module(e.func) and e.func.attr != "pop":
                    e.func.value = part(e.func.value)
                e.args = [part(a) for a in e.args]
                for keyword in e.keywords:
                    keyword.value = part(keyword.value)
            case ast.Subscript():
                e.value = e.value if isinstance(e.value, ast.Name) else part(e.value)
                e.slice = self.key(e.slice, part)
            case ast.Attribute():
                e.value = e.value if isinstance(e.value, ast.Name) else part(e.value)
            case ast.BinOp():
                e.left, e.right = part(e.left), part(e.right)
            case ast.UnaryOp():
                e.operand = part(e.operand)
            case ast.Compare():
                e.left, e.comparators = part(e.left), [part(c) for c in e.comparators]
            case ast.BoolOp() | ast.Dict():
                e.values = [part(v) for v in e.values]
            case ast.IfExp():
                e.body, e.orelse = part(e.body), part(e.orelse)
            case ast.Tuple() | ast.List():
                e.elts = [part(x) for x in e.elts]

    def key(self, key: Any, part: Callable[[Any], Any]) -> Any:
        if isinstance(key, ast.Slice):
            return ast.Slice(part(key.lower), part(key.upper), part(key.step))
        if isinstance(key, ast.Tuple):
            return ast.Tuple([self.key(k, part) for k in key.elts], ast.Load())
        return part(key)

    def is_module(self, e: ast.Attribute) -> bool:
        """Whether this is ``np.linalg.inv``, a name of a module."""
        root: ast.expr = e
        while isinstance(root, ast.Attribute):
            root = root.value
        return isinstance(root, ast.Name) and root.id not in self.local
