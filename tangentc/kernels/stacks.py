"""What a loop saves, in arrays: where it is put, and where it is taken from.

    saved.append((r, u))            saved[top] = r; saved[top + 1] = u; top += 2
    r, u = saved.pop()              top -= 2; r = saved[top]; u = saved[top + 1]

Values of one dtype and one shape have an array of their own, so that what is pushed last is popped first from it too.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Hashable
from dataclasses import replace

import numpy as np

from tangentc.core import ops
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Const, Effect, For, If, Statement, version_base
from tangentc.core.types import Array, Known, Scalar, Tuple, Type
from tangentc.kernels.language import is_array, is_number, leaves
from tangentc.kernels.saves import Stack
from tangentc.kernels.trips import Irregular, Trips
from tangentc.kernels.writing import INTEGER, Axis, Into, NotSaid, View


class Stacks(Trips):
    """The part that saves."""

    def effect(self, s: Effect) -> None:
        if s.op == np.add.at and len(s.args) == 3:
            return self.add_at(s)
        found = self._saved(s.args[1]) if s.op is ops.push else None
        if found is None:
            raise NotSaid(f"{getattr(s.op, '__name__', 'this')}")
        if any(self.is_array(a) and self.is_changed(str(a)) and a not in self.settled for a in found):
            raise NotSaid("an array is saved that changes later, as it is then")
        name = str(s.args[0])
        if name not in self.irregular:
            return self._push_in_place(name, found)
        for stack, items in self._by_stack(name, found):
            if self.grows:
                self._make_room(stack, len(items))
            for k, a in enumerate(items):
                place = self._place(stack, k)
                if is_number(self.types.of(a)):
                    self._store(View(stack.array, (), ((0, place),)), (), a, None)
                else:
                    self._put(stack, self._of_stack(stack, place), a)
            self.add(Assign(stack.top, operator.add, (stack.top, Const(len(items))), (), s.span))

    def _push_in_place(self, name: str, found: list[Atom]) -> None:
        """Save at the place of this trip.  Raises `Irregular` where trips have none."""
        if name in self.begun:
            raise Irregular(name)
        self.begun.add(name)
        for k, a in enumerate(found):
            if self._is_length(self.types.of(a)) or a in self.kept_copies:
                continue
            stack, part = self._stack_of_trip(name, k, len(found), a, a)
            if stack.lengths:
                self._put(stack, part, a)
            else:
                self._store(part, (), a, None)

    def _stack_of_trip(self, name: str, k: int, count: int, a: Atom, like: Atom) -> tuple[Stack, View]:
        """Where the k-th of so many values is saved, which is an array like another one, and its place in this trip."""
        trips, most = self.forms(False), self.most()
        if trips is None or most is None:
            raise Irregular(name)
        t, place = self.types.of(a), self.place_of_trip()
        lengths = tuple(x.length for x in self.view(like).axes) if self.is_array(like) else ()
        own_name = version_base(a).lstrip("%") if isinstance(a, str) else ""
        base = name if count == 1 or not own_name else f"{own_name.removesuffix('_saved')}_saved"
        extents = tuple(map(self.extent, lengths))
        stack = Stack(self.fresh(base), "", t, lengths, Const(0), trips, tuple(most), extents)
        self.stacks.setdefault(name, {})[k, *_kind(t)] = stack
        own = tuple(self.axis_of(stack.array, j, *both) for j, both in enumerate(zip(lengths, extents)))
        self.types.of_name[stack.array] = Array(t.dtype, (*self.trips_of(stack), *own))  # type: ignore
        self.own.add(stack.array)
        return stack, self._of_stack(stack, *place) if lengths else View(stack.array, (), tuple(enumerate(place)))

    def save_copy(self, s: Assign) -> bool:
        """Make a copy where it is saved, if that is done in this trip."""
        name, k, count = self.copies.get(s.target, ("", 0, 0))
        if not name or name in self.irregular or not self.is_array(s.args[0]):
            return False
        stack, part = self._stack_of_trip(name, k, count, s.target, s.args[0])
        self._put(stack, part, s.args[0])
        self.views[s.target] = part
        self.kept_copies.add(s.target)
        return True

    @staticmethod
    def _is_length(t: Type) -> bool:
        """Whether a number is one that has a name in each kernel that is given arrays of that length."""
        value = t.value if isinstance(t, Scalar) else None
        return isinstance(value, int) or isinstance(value, Length) and not value.symbol.startswith("?")

    def _put(self, stack: Stack, part: View, a: Atom) -> None:
        self.nest(stack.lengths, lambda at: self._store(part, at, self.entry(a, at, stack.lengths), None))

    def _make_room(self, stack: Stack, count: int) -> None:
        """Twice the room for what is saved, where it does not suffice."""
        needed = self.emit(operator.add, (stack.top, Const(count)), "%needed", INTEGER)
        there = self.emit(builtins.len, (stack.array,), "%room", INTEGER)
        test = self.emit(operator.gt, (needed, there), "%test", Scalar("bool"))
        body: list[Statement] = []
        with Into(self, body):
            more = self.fresh("more")
            t = self.types.of_name[more] = self.types.of(stack.array)
            twice = self.emit(operator.mul, (Const(2), needed), "%room", INTEGER)
            self._allocate(more, (twice, *stack.lengths), np.empty)
            at = (stack.top, *stack.lengths)
            both = [View(a, tuple(Axis(k, Const(0), 1, n) for k, n in enumerate(at))) for a in (more, stack.array)]

            def copy(at: tuple[Atom, ...]) -> None:
                held = self.fresh("%held")
                self.types.of_name[held] = Scalar(t.dtype)  # type: ignore[union-attr]
                self.add(self._read(held, both[1], at))
                self._store(both[0], at, held, None)

            self.nest(at, copy)
            self.add(Assign(stack.array, ops.identity, (more,), (), self.span))
        self.add(If(test, tuple(body), (), (), self.span))

    def _place(self, stack: Stack, k: int) -> Atom:
        return (
            self.emit(operator.add, (stack.top, Const(k)), "%at", INTEGER)
            if k
            else self.emit(ops.identity, (stack.top,), "%at", INTEGER)
        )

    def _of_stack(self, stack: Stack, *place: Atom) -> View:
        """What is saved at a place."""
        axes = tuple(Axis(k + len(place), Const(0), 1, n) for k, n in enumerate(stack.lengths))
        return View(stack.array, axes, tuple(enumerate(place)))

    def _by_stack(self, name: str, values: list[Atom]) -> list[tuple[Stack, list[Atom]]]:
        """The arrays that values are saved in, each with those that go there."""
        found: dict[Hashable, list[Atom]] = {}
        for a in values:
            t = self.types.of(a)
            found.setdefault(_kind(t), []).append(a)
        return [(self._stack(name, key, items[0]), items) for key, items in found.items()]

    def _stack(self, name: str, key: Hashable, like: Atom) -> Stack:
        of_list = self.stacks.setdefault(name, {})
        if key not in of_list:
            if name not in self.pushes:
                raise NotSaid("what it takes was not saved like that")
            t = self.types.of(like)
            lengths = tuple(x.length for x in self.view(like).axes) if self.is_array(like) else ()
            array, top = self.fresh(self._called(name, t)), self.fresh("top")
            self.types.of_name[array] = Array(
                t.dtype,
                (Length(f"{array} saved"), *(self.dims.get(n, 1) if isinstance(n, str) else n.value for n in lengths)),
            )  # type: ignore
            self.types.of_name[top] = INTEGER
            self.own.add(array)
            of_list[key] = Stack(array, top, t, lengths)
        self.own.add(of_list[key].array)
        return of_list[key]

    @staticmethod
    def _called(name: str, t: object) -> str:
        kind = {"int64": "_numbers", "bool": "_flags", "float32": "_singles"}.get(t.dtype, "")  # type: ignore
        name = version_base(name)
        return f"{name}{kind}_rows" if isinstance(t, Array) else f"{name}{kind}"

    def _saved(self, atom: Atom) -> list[Atom] | None:
        if isinstance(atom, str) and atom in self.parts:
            items = [self._saved(a) for a in self.parts[atom]]
            return None if any(i is None for i in items) else [a for i in items for a in i]  # type: ignore[union-attr]
        return [atom] if is_number(self.types.of(atom)) or is_array(self.types.of(atom)) else None

    def _pop(self, s: Assign) -> None:
        found = leaves(self.types.of(s.target))
        if found is None:
            raise NotSaid("what is saved is no number and no array")
        left: list[Atom] = list(self._taken(str(s.args[0]), found))

        def tree(t: object) -> Atom:
            if not isinstance(t, Tuple):
                return left.pop(0)
            name = self.fresh("%saved")
            self.types.of_name[name] = t
            self.parts[name] = tuple(map(tree, t.items))
            return name

        made = tree(self.types.of(s.target))
        if isinstance(made, str) and made in self.parts:
            self.parts[s.target] = self.parts[made]
        else:
            self._rename(s, made)

    def _taken(self, name: str, found: list[Type]) -> list[str]:
        """The values of these types that were saved last, from where they lie."""
        if name not in self.irregular:
            return [self._taken_in_place(name, k, t) for k, t in enumerate(found)]
        keys: dict[Hashable, list[int]] = {}
        for k, t in enumerate(found):
            keys.setdefault(_kind(t), []).append(k)
        out: dict[int, str] = {}
        for key, places in keys.items():
            stack = self.stacks.get(name, {}).get(key)
            if stack is None:
                raise NotSaid("what it takes was not saved like that")
            self.own.add(stack.array)
            self.add(Assign(stack.top, operator.sub, (stack.top, Const(len(places))), (), self.span))  # type: ignore
            for n, k in enumerate(places):
                place = self._place(stack, n)
                out[k] = self.fresh("%saved")
                self.types.of_name[out[k]] = found[k]
                if isinstance(found[k], Array):
                    lengths = tuple(self.of_dim(d) for d in found[k].shape)  # type: ignore[union-attr]
                    axes = tuple(Axis(i + 1, Const(0), 1, m) for i, m in enumerate(lengths))
                    self.views[out[k]] = View(stack.array, axes, ((0, place),))
                else:
                    self.add(self._read(out[k], View(stack.array, (), ((0, place),)), ()))
        return [out[k] for k in range(len(found))]

    def _taken_in_place(self, name: str, k: int, t: Type) -> str:
        """What this trip has saved.  Raises `Irregular` where the loops around do not run over the same trips."""
        if self._is_length(t):
            return self.of_dim(t.value)  # type: ignore
        stack = self.stacks.get(name, {}).get((k, *_kind(t)))
        if stack is None or stack.array in self.own or self.forms(True) != stack.trips:
            raise Irregular(name)
        self.own.add(stack.array)
        target = self.fresh("%saved")
        self.types.of_name[target] = t
        place = self.place_of_trip()
        if isinstance(t, Array):
            lengths = tuple(
                self.of_dim(d) if e is None else self.computed(e.value) for d, e in zip(t.shape, stack.extents)
            )
            self.views[target] = self._of_stack(replace(stack, lengths=lengths), *place)
        else:
            self.add(self._read(target, View(stack.array, (), tuple(enumerate(place))), ()))
        return target

    def _popping(self, s: For) -> For:
        """A loop over what was saved, as one over so many trips that take it."""
        name = self.backwards[str(s.iterable)]
        if name not in self.irregular:  # how many trips there were is not what the loop says
            raise Irregular(name)
        found = leaves(self.types.of(s.target))
        if not found:
            raise NotSaid("what is saved is no number and no array")
        key = _kind(found[0])
        if (stack := self.stacks[name].get(key)) is None:
            raise NotSaid("what it takes was not saved like that")
        each = sum(_kind(t) == key for t in found)
        trips = (
            self.emit(operator.floordiv, (stack.top, Const(each)), "%trips", INTEGER)
            if each > 1
            else self.emit(ops.identity, (stack.top,), "%trips", INTEGER)
        )
        trip, over = self.fresh("%trip"), self.fresh("%range")
        self.types.of_name[trip], self.types.of_name[over] = INTEGER, Known(Const(range(0)))
        self.ranges[over] = (Const(0), trips)
        return replace(s, target=trip, iterable=over, body=(Assign(s.target, ops.pop, (name,), (), s.span), *s.body))

    def _rename(self, s: Assign, atom: Atom) -> None:
        """Another name for a value that is there."""
        if self.is_array(atom):
            self.views[s.target] = self.view(atom)
        elif isinstance(atom, str) and atom in self.parts:
            self.parts[s.target] = self.parts[atom]
        elif is_number(self.types.of(atom)):
            self.add(Assign(s.target, ops.identity, (atom,), (), s.span))
        else:
            raise NotSaid("another name")


def _kind(t: Type) -> tuple[Hashable, ...]:
    """The dtype and the lengths of what is saved."""
    return t.dtype, getattr(t, "shape", ())  # type: ignore[union-attr]
