"""Shifted additions to one array as one loop that gathers them.

    for i in range(n - 2):                     for i in range(n):
        A[i] += f(i)                               total = A[i]
    for i in range(n - 2):             ->          if i < n - 2:
        A[i + 2] += g(i)                               total += f(i)
                                                   if i >= 2:
                                                       total += g(i - 2)
                                                   A[i] = total

Each entry is read once and written once, and no trip depends on another one.
"""

from __future__ import annotations

import builtins
import operator
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np

from tangentc.analysis.linear import ONE, Form, plus
from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.nodes import Assign, Atom, Block, Const, For, If, Merge, Op, Statement, Store, version_base
from tangentc.core.types import Known, Scalar, Tuple
from tangentc.core.walk import definitions, statements, substitute
from tangentc.errors import Span
from tangentc.kernels.accesses import Accesses, say, touches
from tangentc.kernels.fission import Fission
from tangentc.kernels.perfect import Perfect, bounds, offsets, perfect

INTEGER = Scalar("int64", True)


@dataclass(frozen=True)
class Term:
    """One addition: the loops, by how much its subscripts lie ahead, and where these begin and end."""

    loops: Perfect
    ahead: tuple[int, ...]
    low: tuple[Form, ...]
    high: tuple[Form, ...]


def gathered(
    block: Block, types: Types, fresh: Callable[[str], str], root: Callable[[str], str], said: Callable
) -> Block:
    """The block with shifted additions gathered; ``said`` gives a name for the symbol of a form."""
    return _Gather(block, types, fresh, root, said).block(block)


class _Gather:
    def __init__(self, block: Block, types: Types, fresh: Callable, root: Callable[[str], str], said: Callable):
        self.types, self.fresh, self.said = types, fresh, said
        self.accesses = Accesses(types, definitions(block), root)
        self.root = root
        self.fission = Fission(types, fresh, self.accesses)

    def block(self, block: Block, before: Sequence[Statement] = ()) -> Block:
        """A block with its additions gathered, behind ``before``, which is done in the same trip."""
        out: list[Statement] = [*before]
        left = list(block)
        while left:
            group, end = self._group(left)
            if group is None:
                s = left.pop(0)
                if isinstance(s, For):
                    if not self._split(s, out):
                        out.append(replace(s, body=self.block(s.body)))
                else:
                    out.append(s)
                continue
            members = {id(t.loops.loops[0]) for t in group}
            out[:] = self.block(tuple(s for s in left[: end + 1] if id(s) not in members), out)
            out += self._written(group, self._begun(out, group))
            del left[: end + 1]
        return tuple(out)

    def _split(self, s: For, out: list[Statement]) -> bool:
        """Write what a loop is that adds to several entries in a trip, where that can be gathered."""
        parts = self.fission.split(s)
        if parts is None:
            return False
        gathered = self.block(tuple(parts), out)
        arrays = Counter((x.object, x.op) for x in statements(s.body) if isinstance(x, Store))
        wanted = {name for name, op in arrays if op is not None}
        clears = sum(op is None for _, op in arrays.elements())
        own = bool(s.carried)  # what it adds up to numbers
        if sum(isinstance(x, For) for x in gathered[len(out) :]) != len(wanted) + clears + own:
            return False
        out[:] = gathered
        return True

    # ---------------------------------------------------------- which
    def _group(self, left: Sequence[Statement]) -> tuple[list[Term] | None, int]:
        """The additions to one array from the first statement on, and where the last of them stands."""
        first = self._term(left[0])
        if first is None:
            return None, 0
        memory = self.root(first.loops.store.object)
        group, end = [first], 0
        read = self._read(first)
        if memory in read:
            return None, 0
        for k, s in enumerate(left[1:], 1):
            touched = touches(self.accesses, s)
            if touched is None:
                break
            term = self._term(s)
            if memory in touched[0] | touched[1]:
                if term is None or memory in self._read(term):
                    break
                if term.loops.store.op is None and group[-1].loops.store.op is not None:
                    break
                if term.loops.store.object != first.loops.store.object or not self._alike(first, term):
                    break
                group.append(term)
                read |= self._read(term)
                end = k
            elif touched[1] & read:
                break
        if len({t.ahead for t in group}) < 2:
            return None, 0
        return group, end

    def _read(self, term: Term) -> set[str]:
        found = self.accesses.of(term.loops.body)
        return {a.memory for a in found or ()}

    def _term(self, s: Statement) -> Term | None:
        p = perfect(s, self.accesses.definitions)
        if p is None or p.store.op not in (None, operator.add) or self.accesses.of(p.body) is None:
            return None
        ahead, at = offsets(p, self.accesses), bounds(p, self.accesses)
        if ahead is None or at is None:
            return None
        low = tuple(plus(f, {ONE: o} if o else {}) for (f, _), o in zip(at, ahead))
        high = tuple(plus(f, {ONE: o} if o else {}) for (_, f), o in zip(at, ahead))
        return Term(p, ahead, low, high)

    @staticmethod
    def _alike(a: Term, b: Term) -> bool:
        """Whether the loops of two terms begin and end at places whose order is known."""
        return len(a.low) == len(b.low) and all(
            not (plus(f, g, -1).keys() - {ONE}) for f, g in (*zip(a.low, b.low), *zip(a.high, b.high))
        )

    def _begun(self, out: list[Statement], group: list[Term]) -> bool:
        """Whether the additions are to zeros that were made for them.  Where all entries are added to, the array need
        not be zero then."""
        name = group[0].loops.store.object
        for k in range(len(out) - 1, -1, -1):
            s = out[k]
            if isinstance(s, Assign) and s.target == name:
                if s.op is not np.zeros or self.types.of(name).dtype != "float64":  # type: ignore[union-attr]
                    return False
                if self._ends(group) == ([{}] * len(group[0].low), self._lengths(s)):
                    out[k] = replace(s, op=np.empty)
                return True
            touched = self.accesses.touched(s)
            if (
                touched.memory is None
                or self.root(name) in touched.memory[0] | touched.memory[1]
                or name in touched.read
            ):
                return False
        return False

    def _lengths(self, made: Assign) -> list[Form | None]:
        shape = self.accesses.definitions.get(str(made.args[0]))
        is_tuple = isinstance(shape, Assign) and shape.op is ops.make_tuple
        return [self.accesses.forms.form(self._clipped(a)) for a in (shape.args if is_tuple else made.args[:1])]  # type: ignore

    def _clipped(self, length: Atom) -> Atom:
        """What a length is where that is no less than zero: below, neither entries nor trips there are."""
        made = self.accesses.definitions.get(str(length))
        is_clipped = isinstance(made, Assign) and made.op is builtins.max and made.args[1] == Const(0)
        return made.args[0] if is_clipped else length  # type: ignore[union-attr]

    # ---------------------------------------------------------- what stands for them
    @staticmethod
    def _ends(group: list[Term]) -> tuple[list[Form], list[Form]]:
        """From where to where something is added."""
        axes = range(len(group[0].low))
        low = [min((t.low[k] for t in group), key=lambda f: f.get(ONE, 0)) for k in axes]
        return low, [max((t.high[k] for t in group), key=lambda f: f.get(ONE, 0)) for k in axes]

    def _written(self, group: list[Term], from_zero: bool) -> list[Statement]:
        """The loop that gathers; ``from_zero`` where the entries are zero before it."""
        rank = len(group[0].low)
        low, high = self._ends(group)
        store = group[-1].loops.store
        span = store.span
        names = tuple(self._new("%" + "ijklmn"[k], INTEGER) for k in range(rank))
        edges: list[Statement] = []  # what the guards compare with, before the loops
        at: dict[tuple, Atom] = {}

        def place(form: Form) -> Atom:
            key = tuple(sorted(form.items(), key=str))
            if key not in at:
                at[key] = self._say(form, edges, span)
            return at[key]

        limits = [(place(a), place(b)) for a, b in zip(low, high)]
        levels: list[list[Statement]] = [[] for _ in names]  # what is done in each loop before the next one
        body = levels[-1]
        key: Atom = names[0]
        if rank > 1:
            key = self._new("%items", Tuple((INTEGER,) * rank))
            body.append(Assign(key, ops.make_tuple, names, (), span))
        self.inside: dict[tuple, Atom] = {}
        dtype = getattr(self.types.of(store.object), "dtype", "float64")
        number = Scalar(dtype)
        total: Atom | None = None
        for domain, terms in self._by_domain(group).items():
            test = self._test(domain, low, high, names, place, levels, span)
            first = terms[0].loops.store.op is None
            if total is None or first:
                own = terms[0] if first else None
                begun = Const(0.0) if total is None and from_zero else total
                total = self._begin(store.object, key, test, own, begun, names, number, body, span)
                terms = terms[first:]
                if not terms:
                    continue
            then: list[Statement] = []
            after: Atom = total
            for t in self._counted(terms):
                value = self._value(t, names, then)
                new = self._new("total", number)
                then.append(Assign(new, operator.add, (after, value), (), span))
                after = new
            total = self._joined(test, then, after, total, body, span)
        assert total is not None
        body.append(Store(store.object, key, total, None, span))
        inner: Block = tuple(body)
        for k in reversed(range(rank)):
            over = self._new("%range", Known(Const(range(0))))
            before = levels[k - 1] if k else []
            inner = (*before, Assign(over, builtins.range, limits[k], (), span), For(names[k], over, inner, (), span))
        return [*edges, *inner]

    def _joined(
        self, test: Atom | None, then: list[Statement], after: Atom, total: Atom, body: list[Statement], span: Span
    ) -> Atom:  # fmt: skip
        """A total behind additions that are made where a test is true."""
        if test is None:
            body += then
            return after
        joined = self._new("total", self.types.of(total) if isinstance(total, str) else Scalar("float64"))
        body.append(If(test, tuple(then), (), (Merge(joined, after, total),), span))
        return joined

    def _by_domain(self, group: list[Term]) -> dict[tuple, list[Term]]:
        """The terms by where they are added, those that are added at the same places together."""
        out: dict[tuple[object, ...], list[Term]] = {}
        for k, t in enumerate(group):
            key: tuple[object, ...] = tuple(
                (tuple(sorted(f.items(), key=str)), tuple(sorted(g.items(), key=str))) for f, g in zip(t.low, t.high)
            )
            if t.loops.store.op is None:
                key = (*key, k)  # the last one counts
            out.setdefault(key, []).append(t)
        return out

    def _counted(self, terms: list[Term]) -> list[Term]:
        """Terms of an adjoint that are numbers times one entry, as one term each."""
        out: dict[object, tuple[float, Term]] = {}
        for t in terms:
            times, entry, at = self._multiple(t)
            found = out.get(at) if at is not None and t.loops.store.span.sweep == "adjoint" else None
            if found is None:
                out[at or id(t)] = times, t
                continue
            times += found[0]
            value, body = entry, t.loops.body
            if times != 1.0:
                value = self._new("%product", self.types.of(entry))
                body = (*body, Assign(value, operator.mul, (Const(times), entry), (), t.loops.store.span))
            out[at] = times, replace(t, loops=replace(t.loops, body=body, store=replace(t.loops.store, value=value)))
        return [t for _, t in out.values()]

    def _multiple(self, t: Term) -> tuple[float, Atom, object]:
        """How many times which entry a term is, and what is the same for all terms of that entry."""
        times, value = 1.0, t.loops.store.value
        while isinstance(made := self.accesses.definitions.get(str(value)), Assign):
            number = next((a.value for a in made.args if isinstance(a, Const)), None)
            if made.op is operator.neg:
                times, value = -times, made.args[0]
            elif made.op is operator.mul and type(number) is float:
                times, value = times * number, next(a for a in made.args if not isinstance(a, Const))
            elif made.op is operator.getitem and self.types.of(value) == Scalar("float64"):
                places: dict[object, object] = dict(zip(t.loops.variables, range(len(t.ahead))))
                forms = self.accesses.subscripts(made.args[1])
                known = [frozenset((places.get(k, k), n) for k, n in f.items()) for f in forms if f is not None]
                return times, value, (made.args[0], t.ahead, *known) if None not in forms else None
            else:
                break
        return times, value, None

    def _begin(
        self, array: str, key: Atom, test: Atom | None, first: Term | None, total: Atom | None, names: tuple[str, ...],
        number: Scalar, body: list[Statement], span: Span,
    ) -> Atom:  # fmt: skip
        """What an entry is before the additions: the ``total`` so far or what is there, or what takes its place."""
        if first is not None and test is None:
            return self._value(first, names, body)
        orelse: list[Statement] = []
        if total is None:
            total = self._new("total", number)
            orelse = [Assign(total, operator.getitem, (array, key), (), span)]
        if first is None or test is None:
            body += orelse
            return total
        then: list[Statement] = []
        value = self._value(first, names, then)
        joined = self._new("total", number)
        body.append(If(test, tuple(then), tuple(orelse), (Merge(joined, value, total),), span))
        return joined

    def _value(self, t: Term, names: tuple[str, ...], out: list[Statement]) -> Atom:
        """The value that a term adds, for an entry."""
        table: dict[str, Atom] = {}
        for name, i, o in zip(t.loops.variables, names, t.ahead):
            at: Atom = i
            if o:
                at = self._new("%index", INTEGER)
                op = operator.sub if o > 0 else operator.add
                out.append(Assign(at, op, (i, Const(abs(o))), (), t.loops.store.span))
            table[name] = at
        for s in t.loops.body:
            new = self._new(s.target, self.types.of_name[s.target])  # type: ignore[union-attr]
            made = substitute(s, table)
            assert isinstance(made, Assign)
            out.append(replace(made, target=new))
            table[s.target] = new  # type: ignore[union-attr]
        value = t.loops.store.value
        return table.get(value, value) if isinstance(value, str) else value

    def _test(
        self, domain: tuple, low: list[Form], high: list[Form], names: tuple[str, ...], place: Callable,
        levels: list[list[Statement]], span: Span,
    ) -> Atom | None:  # fmt: skip
        """Whether an entry is one of those that terms are added to; None where all are.  What an outer loop decides is
        decided there."""
        test: Atom | None = None
        for k, i in enumerate(names):
            own: Atom | None = None
            first, last = (dict(f) for f in domain[k])
            if (key := (k, *domain[k])) in self.inside:
                own = self.inside[key]
            else:
                for form, hull, op in ((first, low[k], operator.ge), (last, high[k], operator.lt)):
                    if form != hull:
                        one = self._new("%within", Scalar("bool"))
                        levels[k].append(Assign(one, op, (i, place(form)), (), span))
                        own = (
                            one
                            if own is None
                            else self._both(own, one, levels[k], span, f"{version_base(i).lstrip('%')}_inside")
                        )
                self.inside[key] = own  # type: ignore[assignment]
            if own is not None:
                test = own if test is None else self._both(test, own, levels[-1], span, "%within")
        return test

    def _both(self, a: Atom, b: Atom, out: list[Statement], span: Span, name: str) -> str:
        both = self._new(version_base(name), Scalar("bool"))
        out.append(Assign(both, operator.and_, (a, b), (), span))
        return both

    def _say(self, form: Form, out: list[Statement], span: Span) -> Atom:
        """An integer as statements, or as a number."""

        def write(op: Op, a: Atom, b: Atom) -> str:
            new = self._new("%end", INTEGER)
            out.append(Assign(new, op, (a, b), (), span))
            return new

        return say(form, self.said, write)

    def _new(self, base: str, t: object) -> str:
        name = self.fresh(base)
        self.types.of_name[name] = t  # type: ignore[assignment]
        return name
