"""A list of adjoints whose items are all set is not made of zeros first.

    W_bars = zeros_of(Ws)                         W_bars = [None] * len(Ws)
    for k in reversed(range(len(Ws))):     ->     for k in reversed(range(len(Ws))):
        W_bars[k] += h.T @ y_bar                      W_bars[k] = h.T @ y_bar

An item that is a container itself, whose parts are added to one by one, is made of them at once.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import numpy as np

from tangentc import runtime
from tangentc.analysis.array_results import adjoint_type, all_moves, shadow_type
from tangentc.analysis.linear import ONE, Forms
from tangentc.analysis.program import Program, has_effect
from tangentc.core import ops
from tangentc.core.build import Builder, build_container
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, Leave, Op, Statement, Store
from tangentc.core.types import Scalar, Type, components, is_container, is_differentiable, is_long
from tangentc.core.types import Sequence as List
from tangentc.core.walk import changed_by, definitions, reads, rebuilt, statements, with_blocks, with_body

Tree: TypeAlias = "Store | dict[Hashable, Tree]"  # what is added to an item, or to each of its parts


@dataclass(eq=False)
class Deposit:
    """All that is added to one item of a list in one trip, and the statements that do it."""

    key: Atom
    tree: Tree
    by: list[Statement]


def filled(program: Program) -> Function:
    """The function in which such lists have nothing in them until their items are set."""
    function = program.function
    if not any(isinstance(s, Assign) and s.op is runtime.zeros_of for s in statements(function.body)):
        return function
    return with_body(function, _Filled(program).block(function.body))


class _Filled:
    def __init__(self, program: Program):
        self.types, self.aliases = program.types, program.aliases
        self.body = body = program.function.body
        self.made = definitions(body)
        self.forms = Forms(program.types.of, self.made)
        self.mentions: Counter[Atom] = Counter(a for s in statements(body) for a in set(reads(s)))
        self.mentions[program.function.result] += 1
        self.b = Builder(program.types, [*program.types.of_name])
        self.new: dict[int, tuple[Statement, ...]] = {}  # what stands for a statement

    def block(self, block: Block) -> Block:
        for k, s in enumerate(block):
            if isinstance(s, Assign) and s.op is runtime.zeros_of and isinstance(self.types.of(s.args[0]), List):
                self.fill(s, block[k + 1 :])
        out: list[Statement] = []
        for s in block:
            new = self.new.get(id(s), (s,))
            out += [with_blocks(x, self.block) for x in new]
        return rebuilt(block, out)

    def fill(self, zeros: Assign, after: Block) -> None:
        """Set the items of one list, if what is added first covers each of them once."""
        z, t = zeros.target, self.types.of(zeros.args[0])
        assert isinstance(t, List)
        found: list[tuple[Deposit, Sequence[int]]] = []
        left = None if t.length is None else set(range(t.length))
        for s, deposits in self.in_turn(after, z):
            if not deposits:
                return
            for k, d in enumerate(deposits):
                places = self.places(d.key, s, zeros.args[0], t.length)
                if places is None or left is not None and not left.issuperset(places):
                    return
                if not all(self.is_whole(d.tree, t.item(p)) for p in places or (0,)):
                    return
                found.append((d, places))
                left = set() if left is None else left - set(places)
                if not left:  # what comes after that is added, to what is there in this trip
                    there = {d.key for d in deposits[: k + 1]}
                    if all(later.key in there for later in deposits[k + 1 :]):
                        self.write(zeros, found, t, after)
                    return

    # ---------------------------------------------------------- what is added
    def in_turn(self, block: Block, z: str) -> list[tuple[Statement, list[Deposit]]]:
        """The statements of a block, in their order, that have to do with a list, each with what it adds to items of
        it; with nothing where it does something else."""
        here = self.deposits(block, z)
        out: list[tuple[Statement, list[Deposit]]] = []
        for s in block:
            count = sum(z in reads(x) for x in statements((s,)))
            if not count and id(s) not in here:
                continue
            if id(s) in here:
                found = [here[id(s)]] if here[id(s)].by[-1] is s else None
            else:
                inner = self.deposits(s.body, z) if isinstance(s, For) and not self.may_leave(s) else {}
                all_there = count == sum(z in reads(x) for d in set(inner.values()) for x in d.by)
                found = list(dict.fromkeys(inner.values())) if all_there else []
            if found is not None:
                out.append((s, found))
        return out

    @staticmethod
    def may_leave(s: For) -> bool:
        return any(isinstance(x, Leave) for x in statements(s.body))

    def deposits(self, block: Block, z: str) -> dict[int, Deposit]:
        """What the statements of a block add to items of a container, by the ids of the statements."""
        out: dict[int, Deposit] = {}
        for k, s in enumerate(block):
            if id(s) not in out and (found := self.deposit(s, block[k + 1 :], z)) is not None:
                out |= {id(x): found for x in found.by}
        return out

    def deposit(self, s: Statement, after: Block, z: str) -> Deposit | None:
        """What begins with a statement: ``z[k] += y``; or ``item = z[k]``, and what is done with that."""
        if isinstance(s, Store):
            is_added = s.object == z and s.key is not None and s.op is operator.add
            return Deposit(s.key, s, [s]) if is_added else None  # type: ignore[arg-type]
        if not (isinstance(s, Assign) and s.op in (operator.getitem, builtins.getattr) and s.args[0] == z):
            return None
        users = [x for x in after if s.target in reads(x)]
        if len(users) != self.mentions[s.target] or not users:
            return None
        if (put_back := self.put_back(s, users, after)) is not None:
            return put_back
        inner = self.deposits(after, s.target)
        parts = list(dict.fromkeys(inner.values()))
        tree: dict[Hashable, Tree] = {_plain(d.key).value: d.tree for d in parts if isinstance(_plain(d.key), Const)}
        if any(id(x) not in inner for x in users) or len(tree) != len(parts):
            return None
        return Deposit(s.args[1], tree, [s, *(x for x in after if id(x) in inner)])

    def put_back(self, read: Assign, users: list[Statement], after: Block) -> Deposit | None:
        """``item = z[k]; new = item + y; z[k] = new``."""
        z, key = read.args
        first = users[0]
        if len(users) > 1 or not isinstance(first, Assign) or first.op not in (operator.add, runtime.plus):
            return None
        stores = [x for x in after if first.target in reads(x)]
        store = stores[0] if len(stores) == self.mentions[first.target] == 1 else None
        if first.args[0] != read.target or not isinstance(store, Store) or store.op is not None:
            return None
        if (store.object, _plain(store.key), store.value) != (z, key, first.target):
            return None
        added = Store(store.object, store.key, first.args[1], operator.add, store.span, True, store.whole)
        return Deposit(key, added, [read, first, store])

    # ---------------------------------------------------------- where
    def places(self, key: Atom, s: Statement, xs: Atom, length: int | None) -> Sequence[int] | None:
        """The places of a list that a key is in all trips of a loop; of one whose length is not known, nothing says
        that these are all. None if nobody knows."""
        if not isinstance(s, For):
            k = self.number(key)
            return None if k is None or length is None or not -length <= k < length else [k % length]
        source = self.made.get(s.iterable)  # type: ignore[arg-type]
        if isinstance(source, Assign) and source.op is builtins.reversed:
            source = self.made.get(source.args[0])  # type: ignore[arg-type]
        if not (isinstance(source, Assign) and source.op is builtins.range):
            return None
        if length is None:
            counted = self.made.get(source.args[0]) if len(source.args) == 1 else None  # type: ignore[arg-type]
            is_all = isinstance(counted, Assign) and counted.op is builtins.len and counted.args[0] == xs
            return () if is_all and key == s.target else None
        ends = [self.number(a) for a in source.args]
        form = self.forms.form(key)
        if None in ends or form is None or form.keys() - {s.target, ONE} or not form.get(s.target):
            return None
        places = [form[s.target] * k + form.get(ONE, 0) for k in range(*ends)]  # type: ignore[arg-type]
        return places if all(0 <= p < length for p in places) else None

    def number(self, atom: Atom) -> int | None:
        """An integer that is known."""
        if isinstance(atom, Const):
            return atom.value if type(atom.value) is int else None
        value = getattr(self.types.of(atom), "value", None)
        return value if type(value) is int else None

    def is_whole(self, tree: Tree, t: Type) -> bool:
        """Whether what is added to an item is as large as the item, and there for all of its parts."""
        if isinstance(tree, Store):
            return tree.whole and not is_container(t)
        if not is_container(t) or is_long(t):
            return False
        parts = dict(components(t))
        return tree.keys() <= parts.keys() and all(
            self.is_whole(tree[key], part) if key in tree else not is_differentiable(part) and not is_container(part)
            for key, part in parts.items()
        )

    # ---------------------------------------------------------- writing
    def write(self, zeros: Assign, found: list[tuple[Deposit, Sequence[int]]], t: List, after: Block) -> None:
        """Set the items, and begin with a list of nothing."""
        mine = {id(x) for d, _ in found for x in d.by}
        others = [x for x in statements(after) if zeros.target in reads(x) and id(x) not in mine]
        at_rest = all(isinstance(x, Assign) and x.op in (runtime.shaped_like, ops.make_tuple) for x in others)
        shaped = [x for x in others if isinstance(x, Assign) and x.op is runtime.shaped_like]
        in_form = at_rest and len(others) == len(shaped) == 1 and all_moves(t)
        if in_form:
            op = builtins.tuple if t.kind is tuple else ops.identity
            self.new[id(shaped[0])] = (replace(shaped[0], op=op, args=(zeros.target,)),)
        for d, places in found:
            out: list[Statement] = []
            last = d.by[-1]
            assert isinstance(last, Store)
            item = (adjoint_type if in_form else shadow_type)(t.item(places[0] if places else 0))
            value = self.value(d.tree, item, last, out, at_rest)
            self.new |= {id(x): () for x in d.by}
            self.new[id(last)] = (*out, Store(zeros.target, d.key, value, None, last.span, True))
        self.new[id(zeros)] = tuple(self._nothing(zeros))
        loop = next((x for x in after if isinstance(x, For) and any(found[0][0].by[-1] is y for y in x.body)), None)
        if loop is not None and len(found) == 1 and self.does_nothing_else(loop, found[0][0]):
            self.in_order(zeros, loop, found[0][0])

    def does_nothing_else(self, loop: For, deposit: Deposit) -> bool:
        """Whether the trips of a loop over all places could be made in any order."""
        backwards = self.made.get(loop.iterable)  # type: ignore[arg-type]
        if loop.carried or not isinstance(backwards, Assign) or backwards.op is not builtins.reversed:
            return False
        rest = [x for x in loop.body if all(x is not y for y in deposit.by)]
        return deposit.key == loop.target and all(
            isinstance(x, Assign) and not has_effect(x, self.made) and changed_by(x) is None for x in rest
        )

    def in_order(self, zeros: Assign, loop: For, deposit: Deposit) -> None:
        """Append the items from the first to the last."""
        backwards, (*made, store) = self.made[loop.iterable], self.new[id(deposit.by[-1])]  # type: ignore[index]
        assert isinstance(backwards, Assign) and isinstance(store, Store)
        self.new[id(zeros)] = ()
        self.new[id(deposit.by[-1])] = (*made, Effect(ops.append, (zeros.target, store.value), (), store.span))
        begun = replace(zeros, op=ops.make_list, args=())
        self.new[id(loop)] = (begun, replace(loop, iterable=backwards.args[0]))

    def _nothing(self, zeros: Assign) -> list[Statement]:
        nothing, length = self.b.fresh("%items"), self.b.fresh("%length")
        self.types.of_name[nothing] = List(list, (self.types.of(Const(None)),), 1)
        self.types.of_name[length] = self.types.result(builtins.len, zeros.args[:1])
        return [
            Assign(nothing, ops.make_list, (Const(None),), (), zeros.span),
            Assign(length, builtins.len, zeros.args[:1], (), zeros.span),
            replace(zeros, op=operator.mul, args=(nothing, length)),
        ]

    def value(self, tree: Tree, t: Type, at: Store, out: list[Statement], at_rest: bool) -> Atom:
        """What an item is set to: memory of its own, since it may be added to later."""
        if isinstance(tree, Store):
            if isinstance(self.types.of(tree.value), Scalar) or self.is_own(tree.value, at_rest):
                return tree.value
            return self.emit(np.copy, (tree.value,), self.types.of(tree.value), at, out)
        parts: list[Atom] = []
        for key, part in components(t):
            zero = Const(0.0) if isinstance(part, Scalar) else Const(None)
            parts.append(self.value(tree[key], part, at, out, at_rest) if key in tree else zero)
        with self.b.reopen(out):
            self.b.span = at.span
            return build_container(self.b, t, parts)

    def is_own(self, x: Atom, at_rest: bool) -> bool:
        """Whether an array is memory of its own that nothing else is going to hold."""
        made = self.made.get(x) if isinstance(x, str) else None
        if not isinstance(made, Assign) or self.aliases.is_changed(made.target):
            return False
        if self.mentions[x] > 1 and not (at_rest and self.is_only_read(made.target)):
            return False
        if made.op is runtime.unbroadcast:
            return self.is_own(made.args[0], at_rest)
        return self.aliases.makes_memory(made)

    def is_only_read(self, x: str) -> bool:
        """Whether nothing but one list holds an array, or a view of it."""
        users = [s for s in statements(self.body) if x in reads(s) and not isinstance(s, Store)]
        return len(users) == self.mentions[x] - 1 and all(
            isinstance(s, Assign) and self.aliases.makes_memory(s) for s in users
        )

    def emit(self, op: Op, args: tuple[Atom, ...], t: Type, at: Store, out: list[Statement]) -> str:
        name = self.b.fresh("%part")
        self.types.of_name[name] = t
        out.append(Assign(name, op, args, (), at.span))
        return name


def _plain(key: Atom | None) -> Atom | None:
    """The key of a part as it is read: the attribute of an object by its name."""
    return Const(str(key.value)) if isinstance(key, Const) and isinstance(key.value, ops.Attribute) else key
