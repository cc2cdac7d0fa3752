"""Core form to a Python syntax tree.

%power = out ** 2                         pre_bar = out_bar * (1 - out ** 2)
%difference = 1 - %power            ->
%pre_bar = out_bar * %difference
"""

from __future__ import annotations

import ast
import copy
import operator
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tangentc.backend.arrays import Spelling
from tangentc.backend.comprehensions import with_comprehensions
from tangentc.backend.device import changes_in, is_entry
from tangentc.backend.expressions import BINARY, Expressions, negated
from tangentc.backend.fold import Folding
from tangentc.backend.managers import with_statements
from tangentc.backend.naming import Naming
from tangentc.backend.unpacking import with_pairs, with_unpacking, with_zeros
from tangentc.core import ops
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Carry,
    Const,
    Effect,
    For,
    Function,
    Global,
    If,
    Leave,
    Merge,
    Opaque,
    Statement,
    Store,
    While,
    is_temporary,
    version_base,
)
from tangentc.core.types import Array, Scalar, components, is_differentiable, present
from tangentc.core.walk import statements
from tangentc.errors import Span

FETCHES = (ops.pop, ops.take, operator.getitem)  # what only brings a value


class Line(ast.stmt):
    """A statement together with the primal line that it differentiates."""

    _fields = ("statement",)

    def __init__(self, statement: ast.stmt, span: Span):
        super().__init__()
        self.statement, self.span = statement, span


def raise_function(
    function: Function, types: Any, aliases: Any, spelling: Spelling, globals_: set[str], plain: bool = False
) -> ast.FunctionDef:
    """The function's syntax tree; `Line`s in it say which primal line a statement differentiates.

    Each statement has in ``of`` the one of the core form that it was made of.

    With ``plain`` no temporary is folded and no name is shared: the program as a pass left it.
    """
    return _Raise(function, types, aliases, spelling, globals_, plain).function()


class _Unfolded:
    """No folding: every operation is a statement of its own."""

    def __init__(self) -> None:
        self.folded: set[str] = set()
        self.made: dict[str, Any] = {}
        self.expressions: dict[str, Any] = {}
        self.unpacked: dict[str, list[str | None]] = {}
        self.items: set[str] = set()
        self.uses: Counter[str] = Counter()
        self.unpacked_params: list[str] = []
        self.blank_is_free = False


def _own_names(function: Function, globals_: set[str]) -> dict[str, str]:
    """Each name of the program as a name of its own, which is none of the module's that it reads."""
    from tangentc.backend.naming import plain_base
    from tangentc.core.walk import all_defines, all_reads, reads

    out: dict[str, str] = {}
    params = [p.name for p in function.params]
    read = {a.name for s in statements(function.body) for a in reads(s) if isinstance(a, Global)}
    taken = (globals_ | read) - {plain_base(name) for name in params}
    for name in (*params, *sorted((all_defines(function.body) | all_reads(function.body)) - set(params))):
        number = name[len(version_base(name)) :].replace(".", "_")
        wanted = plain_base(name) + (number if not name.startswith("%") or number != "_1" else "")
        while wanted in taken:
            wanted += "_"
        taken.add(wanted)
        out[name] = wanted
    return out


def _handed_on(function: Function) -> set[Atom]:
    """The names that are copied as they are, so that they must have a value even where none is meant."""
    out: set[Atom] = set()
    for s in statements(function.body):
        match s:
            case If():
                out.update(a for m in s.merged for a in (m.then, m.orelse))
            case For() | While():
                out.update(a for c in s.carried for a in (c.init, c.next))
            case Effect() if s.op in (ops.push, ops.append):
                out.add(s.args[-1])
            case Assign() if s.op in (ops.identity, ops.make_tuple):
                out.update(s.args)
    return out | {function.result}


class _Raise(Expressions):
    def __init__(
        self, function: Function, types: Any, aliases: Any, spelling: Spelling, globals_: set[str], plain: bool
    ):
        self.source, self.types, self.spelling = function, types, spelling
        self.on_device = spelling.arrays == "cupy"  # a number is an array there, which several names may share
        self.copies_entries = self.on_device and changes_in(function.body)
        self.folding: Any = _Unfolded() if plain else Folding(function, types, aliases)
        self.names = _own_names(function, globals_) if plain else Naming(function, self.folding, globals_, types).final
        spelling.local = set(self.names.values())
        spelling.by_id = {k: v for k, v in spelling.by_id.items() if v not in spelling.local}
        self.handed_on = _handed_on(function)
        self.nexts: list[tuple[Carry, ...]] = []
        self.open: list[list[tuple[If, int]]] = [[]]  # for each loop, the branches that we are in

    def function(self) -> ast.FunctionDef:
        f = self.source
        args = [ast.arg(self.name(p.name)) for p in f.params]
        defaults = [self.atom(p.default) for p in f.params if p.default is not None]
        body: list[ast.stmt] = [ast.Expr(ast.Constant(f.doc))] if f.doc else []
        for param in self.folding.unpacked_params:
            body.append(ast.Assign([self.targets(self.folding.unpacked[param])], ast.Name(self.name(param))))
        body += self.block(f.body)
        if not (isinstance(f.result, Const) and f.result.value is None):
            given = ast.Return(self.atom(f.result))
            for made in self._written_out(f.result):
                given.of = made  # type: ignore[attr-defined]
            body.append(given)
        signature = ast.arguments([], args, None, [], [], None, defaults)
        return ast.FunctionDef(f.name, signature, body or [ast.Pass()], [], None, None)

    def _written_out(self, atom: Atom) -> Iterator[Assign]:
        """The statements that are folded into the place of an atom and belong to a line of the user's."""
        made = self.folding.made.get(atom) if isinstance(atom, str) and atom in self.folding.folded else None
        if isinstance(made, Assign):
            for part in made.atoms:
                yield from self._written_out(part)
            if made.span.line:
                yield made

    def name(self, name: str) -> str:
        return self.names[name]

    # ---------------------------------------------------------- statements
    def block(self, block: Block) -> list[ast.stmt]:
        out: list[ast.stmt] = []
        for s in block:
            made = self.statement(s)
            for node in made:
                own = node.statement if isinstance(node, Line) else node
                if not hasattr(own, "of"):
                    own.of = s  # type: ignore[attr-defined]
            out += made
        out = with_unpacking(with_comprehensions(out, self.folding.uses), self.types.of, self.folding.blank_is_free)
        return with_statements(with_zeros(with_pairs(out)), self.folding.uses)

    def statement(self, s: Statement) -> list[ast.stmt]:
        match s:
            case Assign():
                if s.target in self.folding.folded or s.target in self.folding.items:
                    return []
                if s.target in self.folding.unpacked:
                    names = self.targets(self.folding.unpacked[s.target])
                    return [self.line(ast.Assign([names], self.operation(s)), s)]
                return self.assign(s)
            case Store():
                return [self.line(self.store(s), s)]
            case Effect(op=ops.fail_if):
                error = ast.Call(ast.Name(s.args[1].value.__name__), [self.atom(s.args[2])], [])  # type: ignore[union-attr]
                return [ast.If(self.atom(s.args[0]), [ast.Raise(error, None)], [])]
            case Effect():
                return [self.line(ast.Expr(self.call(s.op, s.args, s.keywords)), s)]
            case If():
                return self.branch(s)
            case For() | While():
                return self.loop(s)
            case Leave(kind="return"):
                return [ast.Return(self.atom(s.values[0]))]
            case Leave():
                return self.leave(s.kind)
            case Opaque():
                return self.opaque(s)

    def line(self, statement: ast.stmt, s: Statement) -> ast.stmt:
        """Mark a statement of the adjoint sweep with the primal line that it belongs to."""
        span = getattr(s, "span", None)
        written = getattr(s, "target", "") or ""
        of_adjoint = (
            "_bar" in written or "_dot" in written or getattr(s, "adjoint_of", False) or "adjoints" in written
            or isinstance(s, Effect) and s.op == np.add.at and "_bar" in str(s.args[0])
            or span is not None and span.sweep and is_temporary(written) and getattr(s, "op", None) not in FETCHES
        )  # fmt: skip
        return Line(statement, span) if of_adjoint and span is not None and span.line else statement

    def assign(self, s: Assign) -> list[ast.stmt]:
        target = self.name(s.target)
        value = self.operation(s)
        if isinstance(value, ast.Name) and value.id == target:
            return []
        if self.copies_entries and is_entry(s, self.types):
            value = ast.Call(ast.Attribute(value, "copy"), [], [])
        if (
            s.op in (operator.add, operator.sub)
            and isinstance(s.args[0], str)
            and s.args[0] not in self.folding.folded
            and self.name(s.args[0]) == target
            and isinstance(self.types.of(s.target), Scalar)
            and isinstance(self.types.of(s.args[0]), Scalar)
            and not self.on_device
        ):
            return [self.line(ast.AugAssign(ast.Name(target), BINARY[s.op](), self.atom(s.args[1])), s)]
        return [self.line(ast.Assign([ast.Name(target)], value), s)]

    def store(self, s: Store) -> ast.stmt:
        target = self.atom(s.object)
        if isinstance(s.key, Const) and isinstance(s.key.value, ops.Attribute):
            target = ast.Attribute(target, str(s.key.value))
        elif s.key is not None:
            target = ast.Subscript(target, self.key(s.key))
        elif not isinstance(target, (ast.Name, ast.Subscript)):  # A.T[...] += x: an attribute would be assigned
            target = ast.Subscript(target, ast.Constant(...))
        if s.op is not None:
            value = s.value
            op = s.op
            made = self.folding.made.get(value) if isinstance(value, str) and value in self.folding.folded else None
            if op is operator.add and isinstance(made, Assign) and made.op is operator.neg:
                op, value = operator.sub, made.args[0]
            if self.on_device and self.is_number_held(s):
                return ast.Assign([target], ast.BinOp(target, BINARY[op](), self.atom(value)))  # type: ignore[arg-type]
            return ast.AugAssign(target, BINARY[op](), self.atom(value))  # type: ignore[arg-type]
        put = self.atom(s.value)
        return self.scaled(s, target, put) or ast.Assign([target], put)

    def is_number_held(self, s: Store) -> bool:
        """Whether a number is added to that a list, a dict or an object holds."""
        holder = present(self.types.of(s.object))
        return s.key is not None and not isinstance(holder, Array) and isinstance(self.types.of(s.value), Scalar)

    def scaled(self, s: Store, target: Any, value: ast.expr) -> ast.AugAssign | None:
        """``x[k] *= a`` for ``x[k] = x[k] * a``, where both are of one dtype."""
        t = self.types.of(s.object)
        if not isinstance(value, ast.BinOp) or not isinstance(value.op, (ast.Mult, ast.Div)):
            return None
        if (
            not isinstance(t, Array)
            or not is_differentiable(t)
            or getattr(self.types.of(s.value), "dtype", 0) != t.dtype
        ):
            return None
        named = s.key == Const(...) and isinstance(target.value, ast.Name)
        places = [ast.dump(target), *[ast.dump(target.value)] * named]
        factors = (value.left, value.right) if isinstance(value.op, ast.Mult) else (value.left,)
        for k, factor in enumerate(factors):
            if ast.dump(factor) in places:
                return ast.AugAssign(target.value if named else target, value.op, (value.right, value.left)[k])
        return None

    def opaque(self, s: Opaque) -> list[ast.stmt]:
        mapping = {text: self.atom(atom) for text, atom in s.reads}
        written = {text: self.names.get(name, text) for text, name in s.writes}
        asked = {n.id for n in ast.walk(s.tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
        for text in asked & {t for t, name in written.items() if not name.strip("_0123456789")}:  # by a guard alone
            written[text] = self._free(text)
        tree = _Rename(mapping, written).visit(copy.deepcopy(s.tree))
        if isinstance(tree, ast.Module):
            return [s for s in tree.body if not _says_nothing(s)]
        if not s.writes:
            return [tree]
        return [ast.Assign([ast.Name(self.name(s.writes[0][1]))], tree)]

    def _free(self, name: str) -> str:
        """A name that nothing else has."""
        while name in self.names.values() or name in self.spelling.scope or name in self.spelling.own:
            name += "_"
        return name

    # ---------------------------------------------------------- joins
    def copies(self, pairs: list[tuple[str, Atom]], after_branch: bool = False) -> list[ast.stmt]:
        """Assignments that happen at once; one statement if their order matters."""
        wanted = []
        for name, atom in pairs:
            if name not in self.names:
                continue
            if isinstance(atom, Const) and atom.value is ops.UNDEFINED:
                if not after_branch and name not in self.handed_on:
                    continue
                atom = Const(None)
            value = self.atom(atom)
            if not (isinstance(value, ast.Name) and value.id == self.name(name)):
                wanted.append((self.name(name), value))
        for k, (name, _) in enumerate(wanted):
            later = [n.id for _, value in wanted[k + 1 :] for n in ast.walk(value) if isinstance(n, ast.Name)]
            if name in later:
                return [
                    ast.Assign([ast.Tuple([ast.Name(n) for n, _ in wanted])], ast.Tuple([value for _, value in wanted]))
                ]
        return [ast.Assign([ast.Name(n)], value) for n, value in wanted]

    def copies_at_end(self) -> list[ast.stmt]:
        return self.copies([(c.name, c.next) for c in self.nexts[-1]]) if self.nexts else []

    def branch(self, s: If) -> list[ast.stmt]:
        if s.merged and s.merged[0].name in self.folding.folded:
            return []
        if s.merged and s.merged[0].name in self.folding.expressions:
            return [self.line(self.chosen(s), Assign(s.merged[0].name, ops.identity, (), (), s.span))]
        sides: list[list[ast.stmt]] = []
        for block, pick in ((s.then, 0), (s.orelse, 1)):
            self.open[-1].append((s, pick))
            side = self.block(block)
            self.open[-1].pop()
            if not _ends_in_leave(block):
                side += self.merges(s.merged, pick, s.span)
            sides.append(side)
        then, orelse = sides
        if _ends_in_leave(s.then):
            return [ast.If(self.atom(s.test), then, []), *orelse]
        if not then and not orelse:
            return []
        if not then:
            return [ast.If(negated(self.atom(s.test)), orelse, [])]
        return [ast.If(self.atom(s.test), then, orelse)]

    def chosen(self, s: If) -> ast.stmt:
        """``x = a if c else b``; ``x = x + a if c else x`` is ``x += a if c else 0.0``."""
        target, choice = ast.Name(self.name(s.merged[0].name)), self.conditional(s)
        number = isinstance(self.types.of(s.merged[0].name), Scalar) and s.span.sweep == "adjoint"
        match choice:
            case ast.IfExp(test, ast.BinOp(ast.Name(old), ast.Add() | ast.Sub() as op, part), ast.Name(other)) if (
                number and old == other == target.id
            ):
                return ast.AugAssign(target, op, ast.IfExp(test, part, ast.Constant(0.0)))
        return ast.Assign([target], choice)

    def leave(self, kind: str) -> list[ast.stmt]:
        """Leaving a trip from inside branches: what they and the loop's end would have assigned comes first."""
        leaves = ast.Break() if kind == "break" else ast.Continue()
        given = {m.name: (m.then, m.orelse)[pick] for branch, pick in self.open[-1] for m in branch.merged}
        pairs = [(c.name, self.through(c.next, given)) for c in (self.nexts or [()])[-1]]
        counts = Counter(a for _, a in pairs)
        if all(n == 1 or a not in self.folding.folded for a, n in counts.items()):
            return [*self.copies(pairs), leaves]
        out: list[ast.stmt] = []
        for branch, pick in reversed(self.open[-1]):
            out += self.merges(branch.merged, pick, branch.span)
        return [*out, *self.copies_at_end(), leaves]

    @staticmethod
    def through(atom: Atom, given: Mapping[str, Atom]) -> Atom:
        """What a value is that branches join, in those arms that are taken."""
        while isinstance(atom, str) and atom in given:
            atom = given[atom]
        return atom

    def merges(self, merged: tuple[Merge, ...], pick: int, span: Span) -> list[ast.stmt]:
        pairs = [(m.name, (m.then, m.orelse)[pick]) for m in merged]
        out = self.copies(pairs, after_branch=True)
        return [Line(x, span) if any("_bar" in n for n, _ in pairs) and span.line else x for x in out]

    def loop(self, s: For | While) -> list[ast.stmt]:
        before = self.copies([(c.name, c.init) for c in s.carried])
        self.nexts.append(s.carried)
        self.open.append([])
        if isinstance(s, For):
            target = ast.Name(self.name(s.target))
            body_block, unpacked = self.loop_target(s)
            body = self.block(body_block)
            statement: ast.stmt
            if not _ends_in_leave(s.body):
                body += self.copies_at_end()
            statement = ast.For(unpacked or target, self.atom(s.iterable), body or [ast.Pass()], [])
        else:
            head = self.block(s.head)
            body = self.block(s.body)
            if not _ends_in_leave(s.body):
                body += self.copies_at_end()
            if head:
                stop = ast.If(negated(self.atom(s.test)), [ast.Break()], [])
                statement = ast.While(ast.Constant(True), [*head, stop, *body], [])
            else:
                statement = ast.While(self.atom(s.test), body or [ast.Pass()], [])
        self.nexts.pop()
        self.open.pop()
        return [*before, statement]

    def loop_target(self, s: For) -> tuple[Block, ast.expr | None]:
        """``for t in xs: a = t[0]; b = t[1]`` is ``for a, b in xs``."""
        if not s.target.startswith("%"):
            return s.body, None
        parts: list[str] = []
        for inner in s.body:
            if (
                isinstance(inner, Assign)
                and inner.op is operator.getitem
                and inner.args == (s.target, Const(len(parts)))
            ):
                parts.append(inner.target)
            else:
                break
        if len(parts) < 2 or self.folding.uses[s.target] != len(parts) or any(p in self.folding.folded for p in parts):
            return s.body, None
        unread = len(list(components(self.types.of(s.target)))) - len(parts)
        if unread < 0 or unread and not self.folding.blank_is_free:
            return s.body, None
        whole = self.targets(parts)
        whole.elts += [ast.Name("_")] * unread
        return s.body[len(parts) :], whole

    def targets(self, parts: Sequence[str | None]) -> ast.Tuple:
        """What a tuple is unpacked into, with what its items are unpacked into."""
        inner = self.folding.unpacked

        def target(part: str | None) -> ast.expr:
            if part is None:
                return ast.Name("_")
            return self.targets(inner[part]) if part in inner else ast.Name(self.name(part))

        return ast.Tuple([*map(target, parts)])

    # ---------------------------------------------------------- expressions


def _says_nothing(s: ast.stmt) -> bool:
    """``x = x``."""
    return isinstance(s, ast.Assign) and isinstance(s.value, ast.Name) and ast.dump(s.targets[0]) == ast.dump(s.value)


def _ends_in_leave(block: Block) -> bool:
    return bool(block) and isinstance(block[-1], Leave)


class _Rename(ast.NodeTransformer):
    """Code that is carried along, with the names that its values have in the emitted text."""

    def __init__(self, mapping: dict[str, ast.expr], written: dict[str, str]):
        self.mapping, self.written = mapping, written

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.written:
            return ast.Name(self.written[node.id], node.ctx)
        if isinstance(node.ctx, ast.Load) and node.id in self.mapping:
            return copy.deepcopy(self.mapping[node.id])
        return node

    def visit_ExceptHandler(self, node: ast.ExceptHandler) -> Any:
        node.name = self.written.get(node.name, node.name) if node.name else None
        return self.generic_visit(node)

    def _captured(self, node: Any) -> Any:
        for attribute in ("name", "rest"):
            if (name := getattr(node, attribute, None)) in self.written:
                new = self.written[name]
                setattr(node, attribute, new if new.strip("_0123456789") else None)  # what nothing reads
        self.generic_visit(node)
        return node.pattern if isinstance(node, ast.MatchAs) and node.name is None and node.pattern else node

    visit_MatchAs = visit_MatchStar = visit_MatchMapping = _captured

    def visit_FunctionDef(self, node: ast.FunctionDef) -> Any:
        own = {a.arg for a in node.args.args}
        inner = _Rename({k: v for k, v in self.mapping.items() if k not in own}, {})
        node.body = [inner.visit(s) for s in node.body]
        return node
