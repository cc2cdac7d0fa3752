"""Which temporaries are written as part of the expression that uses them.

    %product = r * x                          x_bar * x * (1 - x)
    %difference = 1 - x              ->
    x_bar * %product * %difference

A temporary that is used once, in its own block, is folded, unless a store in between changes an array
that it reads.  Subscripts, slices, attributes, lengths and ranges are written again at each use.  What is popped
is not folded into an arm of a conditional expression, which may not be run.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter, defaultdict
from typing import Any

import numpy as np

from tangentc import runtime
from tangentc.analysis.aliases import Aliases
from tangentc.analysis.points import DEEP_COPIES
from tangentc.backend.expressions import BINARY, UNARY
from tangentc.core import ops
from tangentc.core.naming import shown
from tangentc.core.nodes import (
    Assign,
    Atom,
    Block,
    Const,
    For,
    Function,
    If,
    Leave,
    Merge,
    Statement,
    While,
    is_temporary,
    version_base,
)
from tangentc.core.types import SAVED, Array, Dict, Scalar, components, is_container, is_slice
from tangentc.core.walk import all_changed_by, asks_for_form, blocks, reads, statements

REPEATED = {
    builtins.len, builtins.range, builtins.slice, builtins.getattr, builtins.reversed, ops.make_tuple, builtins.zip,
    builtins.enumerate, np.size, np.shape,
}  # fmt: skip
KEYS = (builtins.slice, ops.make_tuple)
SHORT = {*BINARY, *UNARY, operator.getitem, builtins.getattr}  # what is written as a sign
HOLDING = {ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct}  # whose items have lines of their own
TOGETHER = {*DEEP_COPIES, runtime.zeros_of_copy}  # of what they give, containers in several places may be one
AROUND = (ops.enter, ops.leave)  # what is computed between them stays there
MAX_SIZE = 18  # operations in one expression
MAX_LENGTH = 90  # characters, about, of what is written inside another expression: more would be broken into lines
MAX_DEPTH = 60


class Folding:
    """``folded`` holds the temporaries that are written inside other expressions."""

    def __init__(self, function: Function, types: Any, aliases: Aliases):
        self.types, self.aliases, self.result = types, aliases, function.result
        self.uses: Counter[str] = Counter()
        for s in statements(function.body):
            self.uses.update(a for a in reads(s) if isinstance(a, str))
        if isinstance(function.result, str):
            self.uses[function.result] += 1
        for s in statements(function.body):
            if isinstance(s, If) and isinstance(s.test, str) and len(s.merged) == 1:
                if s.test in (s.merged[0].then, s.merged[0].orelse):
                    self.uses[s.test] -= 1  # `a and b` names a once
        self.managed = any(getattr(s, "op", None) in AROUND for s in statements(function.body))
        self.stored = {name for s in statements(function.body) for name in all_changed_by(s)}
        self.copies = {
            aliases.root(s.target) for s in statements(function.body) if isinstance(s, Assign) and s.op in TOGETHER
        }
        self.made: dict[str, Assign | If] = {}
        self.folded: set[str] = set()
        self.expressions: dict[str, If] = {}  # branches that are conditional expressions
        self.size: dict[str, int] = {}
        self.length: dict[str, int] = defaultdict(int)
        self.depth: dict[str, int] = {}
        self.content: dict[str, set[str]] = {}
        self.names: dict[str, set[str]] = {}
        self.again: dict[str, bool] = {}  # whether what is folded may be written more than once
        self.pops: set[str] = set()  # what has to be run once, whatever is chosen
        self.valid: dict[str, int] = Counter()
        self.order: list[str] = []
        self.unpacked: dict[str, list[str | None]] = {}  # a tuple's name -> the names of its items, None if unread
        self.items: set[str] = set()
        self.unpacked_params: list[str] = []
        self.named: set[str] = set()  # the items that a loop takes apart what it runs over into
        self.blank_is_free = not any(version_base(n) == "_" and used for n, used in self.uses.items())
        at = 0
        for p in function.params:  # `x, W = saved` at the head of an adjoint
            if found := self._items_at(function.body, at, p.name):
                self.unpacked_params.append(p.name)
                at += found
        self._find_unpacking(function.body)
        self._block(function.body, set(), result=function.result)
        for name in list(self.made):
            if name in self.folded and self.valid[name] != self.uses[name]:
                self.folded.discard(name)

    def _find_unpacking(self, block: Block) -> None:
        """``t = f(x); a = t[0]; b = t[1]`` with no other use of t is ``a, b = f(x)``."""
        for k, s in enumerate(block):
            for inner in blocks(s):
                self._find_unpacking(inner)
            if isinstance(s, For) and is_temporary(s.target):
                parts = [x for x in s.body if isinstance(x, Assign) and x.op is operator.getitem]
                items = [x.target for x in parts if x.args[0] == s.target]
                self.named.update(items if len(items) == self.uses[s.target] > 1 else ())
            if isinstance(s, Assign) and s.target not in self.items and s.target not in self.unpacked:
                self._items_at(block, k + 1, s.target, isinstance(s.op, ops.Emitted))

    def _items_at(self, block: Block, k: int, name: str, emitted: bool = False) -> int:
        """Note what a tuple is taken apart into from a place of a block on, and its items too; how many statements
        these are, none if it is used for more."""
        t, count = self.types.of(name), self.uses[name]
        known = 0 if isinstance(t, (Dict, Array)) else len(list(components(t)))
        if not known and (t == SAVED or emitted and not isinstance(t, Array)):
            known = count
        parts = block[k : k + count]
        names: list[str | None] = [None] * known
        for p in parts:
            if not (isinstance(p, Assign) and p.op is operator.getitem and p.args[0] == name):
                return 0
            place = p.args[1].value if isinstance(p.args[1], Const) else None
            if type(place) is not int or not 0 <= place < known or names[place] is not None:
                return 0
            names[place] = p.target
        if not 2 <= count == len(parts) or None in names and not self.blank_is_free:
            return 0
        self.unpacked[name] = names
        self.items.update(p.target for p in parts)  # type: ignore[union-attr]
        for p in parts:
            count += self._items_at(block, k + count, p.target)  # type: ignore[union-attr]
        return count

    # ---------------------------------------------------------- one block
    def _block(self, block: Block, outer: set[str], result: Atom | None = None, next_of: Any = None) -> None:
        """``outer`` holds the repeatable temporaries of the blocks around this one."""
        pending: dict[str, bool] = {}  # temporary -> repeatable
        killed_by: dict[str, list[str]] = defaultdict(list)
        for carry, nxt in (next_of or {}).items():
            killed_by[nxt].append(carry)
        visible = set(outer)
        reading: dict[str, list[str]] = defaultdict(list)  # a class of memory -> the temporaries that read it
        for name in visible:
            self._note(name, reading)
        for s in block:
            for atom in self._direct_reads(s):
                self._use(atom, pending, visible, isinstance(s, Assign) and s.op is ops.select and atom != s.args[0])
            changes = self._changes(s)
            self._inside(s, pending, visible, changes)
            if self.managed and any(getattr(inner, "op", None) in AROUND for inner in statements((s,))):
                pending = {name: True for name, again in pending.items() if again}  # the rest is computed here
            for changed in changes:
                for name in reading.pop(changed, ()):
                    pending.pop(name, None)
                    visible.discard(name)
            if isinstance(s, If) and s.merged and s.merged[0].name in pending:
                self._note(s.merged[0].name, reading)
            if isinstance(s, Assign):
                self._define(s, pending, visible)
                if s.target in pending:
                    self._note(s.target, reading)
                for carry in killed_by.get(s.target, ()):
                    self._kill(pending, visible, [carry])
        if result is not None:
            self._use(result, pending, visible)

    def _note(self, name: str, reading: dict[str, list[str]]) -> None:
        for root in self.content.get(name, ()):
            reading[root].append(name)

    def _inside(self, s: Statement, pending: dict[str, bool], visible: set[str], changes: set[str]) -> None:
        """The blocks of a statement."""
        if not isinstance(s, (If, For, While)):
            return
        inner = visible | {n for n, again in pending.items() if again}
        if isinstance(s, (For, While)):  # by an earlier trip
            inner = {n for n in inner if changes.isdisjoint(self.content.get(n, ()))}
        match s:
            case If():
                self._block(s.then, inner)
                self._block(s.orelse, inner)
                self._conditional(s, pending, visible)
            case For():
                self._kill(pending, inner, [c.name for c in s.carried])
                self._block(s.body, inner, next_of={c.name: c.next for c in s.carried if isinstance(c.next, str)})
            case While():
                nexts = {c.name: c.next for c in s.carried if isinstance(c.next, str)}
                self._block(s.head, inner, s.test)
                self._block(s.body, inner, next_of=nexts)

    def _direct_reads(self, s: Statement) -> list[Atom]:
        match s:
            case If():
                return [s.test]
            case For():
                return [s.iterable, *(c.init for c in s.carried)]
            case While():
                return [c.init for c in s.carried]
            case Leave():
                return []
        return list(reads(s))

    def _changes(self, s: Statement) -> set[str]:
        """The classes of memory that a statement stores into."""
        return {self.aliases.root(name) for inner in statements((s,)) for name in all_changed_by(inner)}

    def _kill(self, pending: dict[str, bool], visible: set[str], names: list[str]) -> None:
        """From here on these names mean something else."""
        for name in [n for n in (*pending, *visible) if not self.names.get(n, set()).isdisjoint(names)]:
            pending.pop(name, None)
            visible.discard(name)

    def _use(self, atom: Atom, pending: dict[str, bool], visible: set[str], chosen: bool = False) -> None:
        if not isinstance(atom, str) or atom not in self.made:
            return
        if chosen and atom in self.pops:
            pending.pop(atom, None)
        if atom in pending or atom in visible:
            self.valid[atom] += 1
            self.folded.add(atom)

    # ---------------------------------------------------------- definitions
    def _define(self, s: Assign, pending: dict[str, bool], visible: set[str]) -> None:
        name = s.target
        if not self._may_fold(s):
            return
        repeatable = self._repeatable(s)
        if repeatable and self.uses[name] != 1 and s.op in KEYS:
            self._name_parts(s)
        repeatable = repeatable and all(self.again.get(str(a), True) for a in s.atoms if a in self.folded)
        self.again[name] = repeatable
        if self.uses[name] != 1 and not repeatable:
            return
        size, depth, length = 1, 1, _written_length(s.op)
        content, names = set(self._content(s)), {a for a in s.atoms if isinstance(a, str)}
        for atom in s.atoms:
            if isinstance(atom, str) and atom in self.folded and (atom in pending or atom in visible):
                size += self.size[atom]
                length += self.length[atom] + 2
                depth = max(depth, self.depth[atom] + 1)
                content |= self.content[atom]
                names |= self.names[atom]
            else:
                length += _written_length(atom) + 2
        gives = name == self.result and s.op in HOLDING  # what is returned is written where it is
        if (
            size > MAX_SIZE
            and not gives
            or depth > MAX_DEPTH
            or length > MAX_LENGTH
            and s.op not in (*HOLDING, np.array)
        ):
            return
        self.length[name] = length
        if s.op is ops.pop or any(a in self.pops and a in pending for a in s.atoms):
            self.pops.add(name)
        self.made[name] = s
        self.size[name], self.depth[name], self.content[name], self.names[name] = size, depth, content, names
        pending[name] = repeatable

    def _name_parts(self, s: Assign) -> None:
        """Give a name to what a key is made of, so that the key may be written where it is used."""
        for a in s.atoms:
            if isinstance(a, str) and a in self.folded and not self.again.get(a, True):
                made = self.made[a]
                if isinstance(made, Assign) and made.op in KEYS:
                    self._name_parts(made)
                    self.again[a] = True
                else:
                    self.folded.discard(a)

    def _may_fold(self, s: Assign) -> bool:
        name = s.target
        if name in self.unpacked or name in self.items or name in self.named:
            return False
        if name in self.stored and s.op not in (operator.getitem, builtins.getattr, np.transpose, ops.pop):
            return False
        if name in self.stored and s.op is operator.getitem and is_container(self.types.of(name)):
            if is_slice(self.types.of(s.args[1])):
                return False  # another list each time
        if s.op is ops.pop:
            return is_temporary(name)
        if not ops.is_pure(s.op) or s.op is ops.new_list or s.op is np.zeros_like and name.endswith("_bar"):
            return False
        if is_temporary(name):
            return True
        return version_base(name).endswith("_saved") and s.op is not ops.new_list

    def _repeatable(self, s: Assign) -> bool:
        if s.op in REPEATED:
            held = [t for t in map(self.types.of, s.args) if is_container(t) and not is_slice(t)]
            return s.op is not ops.make_tuple or not held  # as a key
        if s.op is np.transpose and len(s.args) == 1:
            return True
        if s.op is operator.getitem:
            if not isinstance(s.args[0], str) or not is_temporary(s.args[0]):
                return True
            made = self.made.get(s.args[0])
            return isinstance(made, Assign) and asks_for_form(made, self.types.of)
        if s.op in ops.COMPARE or s.op in (operator.add, operator.sub, operator.mul, operator.neg, operator.floordiv):
            return (
                all(isinstance(self.types.of(a), Scalar) for a in s.args)
                and self._plain(s)
                and (
                    s.op in ops.COMPARE or self.types.of(s.target).dtype == "int64"  # type: ignore[union-attr]
                )
            )
        return False

    def _plain(self, s: Assign) -> bool:
        lengths = {a for a in s.args if getattr(self.made.get(str(a)), "op", None) is builtins.len}
        return not any(isinstance(a, str) and is_temporary(a) and a not in lengths for a in s.args)

    def _content(self, s: Assign) -> set[str]:
        """The classes of memory whose content the statement reads now."""
        out = set()
        for atom in s.atoms:
            if isinstance(atom, str) and self.aliases.is_changed(atom):
                together = is_container(self.types.of(atom)) and self.aliases.root(atom) in self.copies
                if together or self.aliases.points.is_changed(atom):  # a container: it may hold something else later
                    out.add(self.aliases.root(atom))
                    continue
                if atom in self.aliases.shares(s) and not self.aliases.may_copy(s):
                    continue  # a view: read where it is used
                if s.op in (builtins.len, builtins.getattr, np.shape, np.size):
                    if isinstance(self.types.of(atom), (Array, Scalar)):
                        continue  # the shape of an array does not change
                out.add(self.aliases.root(atom))
        return out

    def _conditional(self, s: If, pending: dict[str, bool], visible: set[str]) -> None:
        """A branch that only chooses between two expressions is an expression itself."""
        if len(s.merged) != 1 or s.tag.startswith("statement"):
            return
        m = s.merged[0]
        inside: list[Any] = [*s.then, *s.orelse]
        made = {_result(x): x for x in inside if isinstance(x, (Assign, If))}
        tails = {a for a in (m.then, m.orelse) if isinstance(a, str) and a in made}
        size = sum(self.size.get(a, 1) for a in tails) + self.size.get(s.test, 0) + 1  # type: ignore[arg-type]
        if not self._is_choice(s, m, made, tails) or size > MAX_SIZE:
            return
        for name in tails:
            self._fold_tail(name, made[name])
        self.expressions[m.name] = s
        for arm in (m.then, m.orelse):
            if arm not in tails and arm != s.test:
                self._use(arm, pending, visible, chosen=True)
        if is_temporary(m.name) and self.uses[m.name] == 1:
            self.made[m.name] = s
            self.size[m.name], self.depth[m.name] = size, 3
            involved = [*tails, *([s.test] if isinstance(s.test, str) else [])]
            self.content[m.name] = set().union(*(self.content.get(n, set()) for n in involved))
            self.names[m.name] = set().union(*(self.names.get(n, {n}) for n in involved))
            pending[m.name] = False
            if any(n in self.pops for n in (*involved, m.then, m.orelse)) or _pops(inside):
                self.pops.add(m.name)

    def _is_choice(self, s: If, m: Merge, made: dict[str, Any], tails: set[Any]) -> bool:
        """Whether all that the arms of a branch do is compute the two values, each in an expression."""
        if len(made) != len(s.then) + len(s.orelse) or ops.UNDEFINED in [
            getattr(a, "value", None) for a in (m.then, m.orelse)
        ]:
            return False
        for name, x in made.items():
            if isinstance(x, If) and x.merged and name not in self.expressions:
                return False
            if name not in tails:
                if name not in self.folded or self.valid[name] != self.uses[name]:
                    return False
            elif self.uses[name] != 1 or not (isinstance(x, If) or ops.is_pure(x.op)):
                return False
            elif name not in self.made and (
                isinstance(x, If) or not is_temporary(name) and not self._same_base(name, m.name)
            ):
                return False
        return True

    def _fold_tail(self, name: str, made: Any) -> None:
        """Write the value of an arm where the choice is."""
        if name not in self.made:
            self.made[name] = made
            self.size[name], self.depth[name] = 1, 1
            self.content[name] = self._content(made)
            self.names[name] = {a for a in made.atoms if isinstance(a, str)}
        self.folded.add(name)
        self.valid[name] = self.uses[name]

    def _same_base(self, a: str, b: str) -> bool:
        return version_base(a) == version_base(b)


def _result(s: Assign | If) -> str:
    """The name of the one value of a statement."""
    return s.target if isinstance(s, Assign) else s.merged[0].name if s.merged else ""


def _pops(block: list[Statement]) -> bool:
    return any(isinstance(s, Assign) and s.op is ops.pop for s in statements(tuple(block)))


def _written_length(part: Any) -> int:
    """About how long the text of a name, of a constant or of a function is."""
    value = part.value if isinstance(part, Const) else None
    if isinstance(value, slice):
        return 3
    if isinstance(value, tuple):
        return sum(_written_length(Const(v)) + 2 for v in value)
    if hasattr(value, "__name__"):  # a module, a function
        return len(value.__name__)
    if isinstance(part, (str, Const)):
        return 0 if value is None and isinstance(part, Const) else len(shown(part))
    return 0 if part in (builtins.slice, ops.make_tuple) else len(getattr(part, "__name__", "")) * (part not in SHORT)
