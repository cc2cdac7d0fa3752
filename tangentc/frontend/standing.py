"""Queues, ordered dicts and dicts with default values are written as the lists and dicts that they are like.

q = deque(maxlen=3)              q = []
q.append(x)             ->       q.append(x)
                                 if len(q) > 3: q.pop(0)

d = defaultdict(list)            d = {}
d[k].append(x)          ->       if k not in d: d[k] = []
                                 d[k].append(x)

The type says what each is (`StandsFor`), wherever it is handed.  What would tell it from a list or a dict is refused.
"""

from __future__ import annotations

import builtins
import collections
import operator
from collections.abc import Iterator
from typing import Any

from tangentc.core import ops
from tangentc.core.classes import standing_for
from tangentc.core.nodes import Assign, Atom, Const, Effect, If, Opaque, Statement, Store
from tangentc.core.types import Known, StandsFor, is_slice
from tangentc.errors import UnsupportedSyntax
from tangentc.frontend import prelude
from tangentc.frontend.part import Part

ASKING = {builtins.type, builtins.repr, builtins.str, builtins.format, builtins.print, operator.eq, operator.ne}
PLAIN = {"append": "append", "appendleft": "insert"}
JOINING = {operator.add, operator.mul, operator.or_}  # which give one of the same class


class Standing(Part):
    """The part of lowering that makes them, and writes out what they do beyond a list and a dict."""

    def standing(self, cls: type, args: list, keywords: dict[str, Atom], node: Any, target: str | None) -> Atom:
        """``deque(items, maxlen)``, ``defaultdict(make, items)``, ``OrderedDict(items)``."""
        most, make, args = Const(None), Const(None), list(args)
        if cls is collections.defaultdict and args:
            make = args.pop(0)
        elif cls is collections.deque:
            args, rest = [*args[:1], *(v for k, v in keywords.items() if k == "iterable")], args[1:]
            most = next(iter([*rest, *(v for k, v in keywords.items() if k == "maxlen")]), most)
            keywords = {}
        kind = StandsFor(cls, self.most(most, node), self.maker(make, node))
        plain = builtins.list if cls is collections.deque else builtins.dict
        made = self.invoke(plain, args, list(keywords.items()), node, None)
        if kind.most is not None and args:
            made = self.invoke(prelude.last_of, [made, Const(kind.most)], [], node, None)
        return self.emit(ops.identity, (self.named(made, node),), node, (("stands_for", Const(kind)),), target=target)

    def most(self, atom: Atom, node: Any) -> int | None:
        """How many items a queue holds at most."""
        found = self.asks.number(atom)
        if found is None and atom != Const(None):
            raise self.unsupported(node, "a queue of a length that is not known when compiling",
                                   "give maxlen as a number, or as an argument that is an integer")  # fmt: skip
        return found

    def maker(self, atom: Atom, node: Any) -> Any:
        """What makes an item that is missing."""
        t = None if isinstance(atom, Const) else self.type_known(atom)
        if not isinstance(atom, Const) and not isinstance(t, Known):
            raise self.unsupported(node, "a dict whose default values are made by a function that is not known",
                                   "give the function by its name")  # fmt: skip
        return atom.value if isinstance(atom, Const) else t.value  # type: ignore[union-attr]

    def of_standing(self, base: Atom, name: str, args: list, node: Any, target: str | None) -> Atom | None:
        """A method that a queue has beyond those of a list, or does in its own way; None of others."""
        kind = standing_for(self.state.of(base))
        if kind is None or kind.cls is not collections.deque:
            return None
        if not self.is_library and (name == "pop" and args or name == "insert" and kind.most is not None):
            raise self.unsupported(node, f"{name} with a place, of a queue that has no such, or may be full",
                                   "use a list")  # fmt: skip
        if name in ("append", "appendleft") and len(args) == 1:
            place = () if name == "append" else (Const(0),)
            self.add(Effect(ops.method, (base, Const(PLAIN[name]), *place, *args), (), self.span(node)))
            if kind.most is not None:
                self.drop_beyond(base, kind.most, Const(0 if name == "append" else -1), node)
            return Const(None)
        written = prelude.OF_QUEUES.get(name)
        return None if written is None else self.invoke(written, [base, *args], [], node, target)

    def drop_beyond(self, base: Atom, most: int, place: Const, node: Any) -> None:
        """``if len(q) > most: q.pop(place)``"""
        length = self.emit(builtins.len, (base,), node)
        test = self.emit(operator.gt, (length, Const(most)), node)
        drop = self.path(lambda: self.emit(ops.method, (base, Const("pop"), place), node))
        self.add(If(test, drop, (), (), self.span(node), "statement"))

    def of_its_class(self, base: Atom, name: str) -> Atom | None:
        """An attribute that a queue has, and a list has not: ``q.maxlen``."""
        kind = standing_for(self.state.of(base)) if isinstance(base, str) else None
        return None if kind is None or name != "maxlen" else Const(kind.most)

    def with_default(self, base: Atom, key: Atom, node: Any, target: str | None = None) -> Atom | None:
        """``d[key]`` of a dict that makes what is missing; None of others."""
        if not self.make_missing(base, key, node):
            return None
        return self.emit(operator.getitem, (base, key), node, target=target)

    def make_missing(self, base: Atom, key: Atom, node: Any) -> bool:
        """``if key not in d: d[key] = make()`` for a dict that makes what is missing; False of others."""
        kind = None if self.is_library or not isinstance(base, str) else standing_for(self.state.of(base))
        if kind is None or kind.make is None:
            return False

        def make() -> None:
            value = self.invoke(kind.make, [], [], node, None)
            self.add(Store(base, key, value, None, self.span(node)))  # type: ignore[arg-type]

        missing = self.emit(ops.not_contains, (key, base), node)
        known = self.decided(missing, node)
        if known is None:
            self.add(If(missing, self.path(make), (), (), self.span(node), "statement"))
        elif known:
            make()
        return True

    @property
    def is_library(self) -> bool:
        """Whether what is lowered is written here for lists and dicts, whatever these stand for."""
        return self.activation.scope.function.__module__ == prelude.__name__


def refuse_told_apart(s: Statement, types: Any) -> None:
    """Refuse an operation on what stands for another class which gives something else for that class, or raises."""
    for atom, what in _asked(s, types):
        kind = standing_for(types.of(atom))
        if kind is not None:
            plain = "list" if kind.cls is collections.deque else "dict"
            raise UnsupportedSyntax(
                f"{what} tells a {kind.cls.__name__} from a {plain}", s.span,
                why=f"a {kind.cls.__name__} is followed as a {plain}, which differs in this",
                way_out=f"use a {plain}",
            )  # fmt: skip


def _asked(s: Statement, types: Any) -> Iterator[tuple[Atom, str]]:
    """What a statement asks for its class, or does what depends on it, and the words for that."""
    if isinstance(s, Opaque):
        yield from ((atom, "code that runs as it stands, `try`, `match` or a text,") for _, atom in s.reads)
    if not isinstance(s, (Assign, Effect)):
        return
    op = s.op.op if isinstance(s.op, ops.augmented) else s.op
    if op in ASKING or op in JOINING:
        sign = {**ops.BINARY, **ops.COMPARE}.get(op, op.__name__)
        given = [standing_for(types.of(atom)) for atom in s.args]
        extends = isinstance(s.op, ops.augmented) and op is operator.add and given[0] == StandsFor(collections.deque)
        yield from ((atom, f"`{sign}`") for atom in s.args[extends:])
    if op is operator.getitem and is_slice(types.of(s.args[1])):
        yield s.args[0], "a slice"
