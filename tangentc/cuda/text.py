"""A nest of loops as a function of the device, in CUDA C.

    for i in range(n):                 extern "C" __global__ void f_fused(double* y, const double* x, long long n)
        y[i] = 2.0 * x[i]              {
                                ->         for (long long i = blockIdx.x * ...; i < n; i += ...) {
                                               y[i] = 2.0 * x[i];
                                           }
                                       }

A thread runs the trips that are as far apart as there are threads, so that any number of them does all of them.
"""

from __future__ import annotations

import operator
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence

from tangentc.core import ops
from tangentc.core.build import Types
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Atom, Block, Carry, Const, For, If, Statement, Store, is_temporary, version_base
from tangentc.core.types import Array, Scalar
from tangentc.core.walk import all_defines, all_reads, joins_of, statements
from tangentc.cuda.expressions import ATOM, C_TYPES, PLUS, REPEATS, TIMES, Term, cast, constant, written
from tangentc.cuda.names import Names
from tangentc.cuda.shape import Shape, is_index
from tangentc.kernels.accesses import Accesses
from tangentc.kernels.language import is_array, is_number
from tangentc.kernels.writing import NotSaid

DIMENSIONS, WIDTH = "xyz", 110
INTEGERS = {operator.add, operator.sub, operator.mul, operator.neg}
BLOCK_SUM = """\
// The sum over the threads of a block, always in the same order.
template <class T> __device__ T block_sum(T value)
{
    __shared__ T parts[32];
    for (int lane = 16; lane > 0; lane >>= 1) value += __shfl_xor_sync(0xffffffffu, value, lane);
    __syncthreads();  // the parts may still be read from the last sum
    if (threadIdx.x % 32 == 0) parts[threadIdx.x / 32] = value;
    __syncthreads();
    T total = 0;
    for (int warp = 0; warp < blockDim.x / 32; ++warp) total += parts[warp];
    return total;
}
"""


class Written(Names):
    """The text of one nest, and what it is given: arrays, those that it writes first, then numbers."""

    def __init__(
        self, name: str, nest: For, shape: Shape, types: Types, made: Mapping[str, Statement],
        root: Callable[[str], str], size: Callable[[Length], Atom], is_of_host: Callable[[Atom], bool],
    ):  # fmt: skip
        self.is_of_host = is_of_host  # whether a number is handed on by value; others may lie on the device
        self.nest, self.shape, self.types, self.made, self.root, self.size = nest, shape, types, made, root, size
        super().__init__(name)
        self.inside = all_defines((nest,)) | {s.target for s in statements((nest,)) if isinstance(s, For)}
        self.uses = Counter(a for s in statements((nest,)) for a in _atoms(s) if isinstance(a, str))
        self.accesses = Accesses(types, made, root)
        self.held: dict[tuple[str, str], Term] = {}  # what entries hold that this thread has written
        self.changing: set[str] = set()  # the names whose values change
        self.handed_on = {a for s in statements((nest,)) for _, *arms in joins_of(s) for a in arms}
        self.folded: dict[str, Term] = {}
        self.arrays: dict[str, None] = {}
        self.pending: tuple[set[str], set[str]] = (set(), set())  # what a block has read and written since it met
        self.quoted: object = None
        self.rows: list[str] = []
        stores = [s for s in statements((nest,)) if isinstance(s, Store)]
        self.written = list(dict.fromkeys(s.object for s in stores))
        for a in (*self.written, *(s.args[0] for s in statements((nest,)) if self._is_entry(s))):
            self.arrays.setdefault(str(a))
            self.name(str(a))
        for loop in (*shape.grid, *shape.inner):
            self.name(loop.target)
        self._loops()
        self.given = [*self.arrays, *self.numbers]
        self.text = self._whole(name)

    # ---------------------------------------------------------- the function
    def _whole(self, name: str) -> str:
        params = []
        for a in self.arrays:
            kind = C_TYPES[self.types.of(a).dtype]  # type: ignore[union-attr]
            params.append(
                f"{kind}* __restrict__ {self.name(a)}"
                if a in self.written
                else f"const {kind}* __restrict__ {self.name(a)}"
            )
        for a in self.numbers:
            kind = C_TYPES[self.types.of(a).dtype]  # type: ignore[union-attr]
            params.append(
                f"{kind} {self.name(a)}" if self.is_of_host(a) else f"const {kind}* __restrict__ {self.name(a)}"
            )
        head, lines = f'extern "C" __global__ void {name}(', [""]
        for k, p in enumerate(params):
            part = p + (")" if k == len(params) - 1 else ",")
            if lines[-1] and len(lines[-1]) + len(part) > 92:
                lines.append("")
            lines[-1] += (" " if lines[-1] else "") + part
        if len(head) + len(lines[0]) <= 110 and len(lines) == 1:
            top = [head + lines[0]]
        else:
            top = [head, *("    " + row for row in lines)]
        helper = BLOCK_SUM + "\n" if any("block_sum(" in row for row in self.rows) else ""
        return helper + "\n".join([*top, "{", *self.rows, "}"]) + "\n"

    def _loops(self) -> None:
        depth = 1
        if not self.shape.grid:
            self.row("if (blockIdx.x == 0 && threadIdx.x == 0) {  // one after the other", depth)
            depth += 1
        for k, s in enumerate(self.shape.grid):
            self._open(s, depth, DIMENSIONS[len(self.shape.grid) - 1 - k], self.shape.rows)
            depth += 1
        for s in self.shape.inner:
            self._open(s, depth)
            depth += 1
        self.block((*self.shape.between, *self.shape.body), depth, self.shape.rows)
        for k in range(depth - 1, 0, -1):
            self.rows.append("    " * k + "}")

    def _open(self, s: For, depth: int, dimension: str = "", by_block: bool = False, shared: bool = False) -> None:
        made = self.made[str(s.iterable)]
        assert isinstance(made, Assign)
        first, *rest = made.args if len(made.args) > 1 else (Const(0), *made.args)
        if len(rest) != 1:
            raise NotSaid("a loop with steps")
        i, start, end = self.name(s.target), self.term(first), self.term(rest[0]).at(PLUS)
        if shared:
            begin, step = "threadIdx.x", f"{i} += blockDim.x"
        elif by_block:
            begin, step = f"blockIdx.{dimension}", f"{i} += gridDim.{dimension}"
        elif dimension == "x":  # of which there are as many threads as are needed
            begin = "" if start.value == 0 else f"{start.at(PLUS)} + "
            self.row(f"const long long {i} = {begin}(long long)blockIdx.x * blockDim.x + threadIdx.x;", depth)
            return self.row(f"if ({i} < {end}) {{", depth)
        elif dimension:
            d = dimension
            begin, step = f"blockIdx.{d} * blockDim.{d} + threadIdx.{d}", f"{i} += gridDim.{d} * blockDim.{d}"
        else:
            begin, step = "", f"++{i}"
        begin = start.text if not begin else begin if start.value == 0 else f"{start.at(PLUS)} + {begin}"
        self.row(f"for (long long {i} = {begin}; {i} < {end}; {step}) {{", depth)

    def row(self, text: str, depth: int) -> None:
        pad = "    " * depth
        while len(pad) + len(text) > WIDTH and not text.startswith("//") and (cut := _cut(text, WIDTH - len(pad))):
            self.rows.append(pad + text[:cut])
            pad, text = "    " * (depth + 1), text[cut + 1 :]
        self.rows.append(pad + text)

    # ---------------------------------------------------------- names
    def number(self, name: str) -> Term:
        """A number that the nest is given; sums of lengths are computed in it."""
        made = self.made.get(name)
        t = self.types.of(name)
        if not is_number(t):
            raise NotSaid("something else than a number")
        if isinstance(made, Assign) and made.op in INTEGERS and self.is_of_host(name) and t.dtype == "int64":  # type: ignore
            return written(made.op, [self.term(a) for a in made.args], "int64")
        if name not in self.numbers:
            self.numbers.append(name)
        own = self.name(name)
        return Term(own if self.is_of_host(name) else f"{own}[0]", ATOM, t.dtype)  # type: ignore[union-attr]

    def term(self, atom: Atom) -> Term:
        if isinstance(atom, Const):
            return constant(atom)
        if atom in self.folded:
            return self.folded[atom]  # type: ignore[index]
        if not isinstance(atom, str):
            raise NotSaid("data of the module")
        if atom in self.names and atom in self.inside:
            t = self.types.of(atom)
            return Term(self.names[atom], ATOM, t.dtype, isinstance(t, Scalar) and t.weak)  # type: ignore[union-attr]
        if atom in self.inside:
            raise NotSaid("what is used before it is made")
        found = self.number(atom)
        t = self.types.of(atom)
        return found._replace(weak=isinstance(t, Scalar) and t.weak)

    # ---------------------------------------------------------- statements
    def block(self, block: Block, depth: int, shared: bool = False) -> None:
        """The statements of a thread; ``shared`` where all threads of a block run them, and share the loops."""
        own = set(self.taken)
        for k, s in enumerate(block):
            if is_index(s):
                continue
            if shared:
                self._meet(s, depth)
            if isinstance(s, Assign):
                self.assign(s, block[k + 1 :], depth)
            elif isinstance(s, Store):
                self._quote(s, depth)
                self.store(s, block[k + 1 :], depth, "if (threadIdx.x == 0) " if shared else "")
            elif isinstance(s, For):
                self.shared_loop(s, depth) if shared else self.loop(s, depth)
            elif isinstance(s, If) and not shared:
                self.branch(s, depth)
            else:
                raise NotSaid("this statement, on the device")
        self.ends.append(own)

    def _meet(self, s: Statement, depth: int) -> None:
        """Let the threads of a block wait for one another where one touches what others have written, or will."""
        reads = {self.root(str(x.args[0])) for x in statements((s,)) if self._is_entry(x)}
        writes = {self.root(x.object) for x in statements((s,)) if isinstance(x, Store)}
        before_r, before_w = self.pending
        if writes & (before_r | before_w) or reads & before_w:
            self.row("__syncthreads();", depth)
            before_r, before_w = set(), set()
        self.pending = before_r | reads, before_w | writes
        if isinstance(s, For) and s.carried:  # the sum is one of all, behind which each has done its part
            self.pending = set(), set()

    def _quote(self, s: Statement, depth: int) -> None:
        span = getattr(s, "span", None)
        if span is None or not span.line:
            return
        if (key := (span.file, span.line, span.quoted)) != self.quoted:
            self.quoted = key
            self.row("// " + span.quoted.replace("\\", "/").replace('"""', "..."), depth)

    def _is_entry(self, s: Statement) -> bool:
        return isinstance(s, Assign) and s.op is operator.getitem and is_array(self.types.of(s.args[0]))

    def assign(self, s: Assign, behind: Sequence[Statement], depth: int) -> None:
        t = self.types.of(s.target)
        if not is_number(t) or s.keywords:
            raise NotSaid("something else than a number, on the device")
        if self._is_entry(s):
            place = self.entry(str(s.args[0]), s.args[1])
            value = self.held.get((self.root(str(s.args[0])), place), Term(place, ATOM, t.dtype))  # type: ignore[union-attr]
        else:
            value = written(s.op, [self.term(a) for a in s.args], t.dtype)  # type: ignore[union-attr]
            value = cast(value, t.dtype)  # type: ignore[union-attr]
        if self._folds(s, behind):
            self.folded[s.target] = value
            return
        self._quote(s, depth)
        self.row(f"const {C_TYPES[t.dtype]} {self.name(s.target)} = {value.text};", depth)  # type: ignore[union-attr]

    def _folds(self, s: Assign, behind: Sequence[Statement]) -> bool:
        """Whether a value is written where it is used: once, in this block, before anything is stored."""
        if s.op in (operator.add, operator.sub) and self._is_step(s):
            return True
        if self.uses[s.target] != 1 or not (is_temporary(s.target) or s.target in self.handed_on or self._is_entry(s)):
            return False
        for x in behind:
            if is_index(x):
                continue
            own = _atoms(x)
            if s.target in own:
                return (
                    not isinstance(x, For)
                    and not (isinstance(x, If) and s.target != x.test)
                    and not (isinstance(x, Assign) and x.op in REPEATS)
                )
            if isinstance(x, (For, If, Store)):
                return False
        return s.target in self.handed_on

    def _is_step(self, s: Assign) -> bool:
        """Whether this is a subscript some entries further."""
        t = self.types.of(s.target)
        is_subscript = isinstance(t, Scalar) and t.weak and t.dtype == "int64"
        return is_subscript and is_temporary(s.target) and any(isinstance(a, Const) for a in s.args)

    def store(self, s: Store, behind: Sequence[Statement], depth: int, guard: str = "") -> None:
        t = self.types.of(s.object)
        assert isinstance(t, Array)
        place, value = self.entry(s.object, s.key), cast(self.term(s.value), t.dtype)
        if self.root(s.object) in self.shape.atomic:
            minus = "-" if s.op is operator.sub else ""
            text = f"atomicAdd(&{place}, {minus}{value.at(ATOM if minus else 0)});"
        else:
            sign = {None: "=", operator.add: "+=", operator.sub: "-=", operator.mul: "*=", operator.truediv: "/="}.get(
                s.op
            )  # type: ignore
            if sign is None or t.dtype in ("int64", "bool") and s.op is operator.truediv or t.dtype == "bool" and s.op:
                raise NotSaid("this store")
            kept = self._kept(s, value, behind, depth)
            text = f"{place} {sign} {kept.text};"
        self.held = {k: v for k, v in self.held.items() if k[0] != self.root(s.object)}
        if s.op is None and value is not kept:
            self.held[self.root(s.object), place] = kept
        self.row(guard + text, depth)

    def _kept(self, s: Store, value: Term, behind: Sequence[Statement], depth: int) -> Term:
        """What is stored, under a name if it is read again behind."""
        at = self.accesses.subscripts(s.key)
        again = None not in at and any(
            self._is_entry(x) and x.args[0] == s.object and self.accesses.subscripts(x.args[1]) == at
            for x in behind  # type: ignore
        )
        if not again or s.op is not None:
            return value
        own = self.new(f"{version_base(s.object)}_entry")
        self.row(f"const {C_TYPES[value.dtype]} {own} = {value.text};", depth)
        return Term(own, ATOM, value.dtype)

    def entry(self, array: str, key: Atom | None) -> str:
        """An entry of an array that lies in memory row by row."""
        t = self.types.of(array)
        assert isinstance(t, Array)
        made = self.made.get(key) if isinstance(key, str) else None
        keys = made.args if isinstance(made, Assign) and made.op is ops.make_tuple else (key,)
        if len(keys) != len(t.shape):
            raise NotSaid("a row of an array")
        at: Term | None = None
        for k, d in zip(keys, t.shape):
            own = cast(self.term(k), "int64")  # type: ignore[arg-type]
            if at is not None:
                n = self.term(Const(d) if isinstance(d, int) else self.size(d))
                at = Term(f"{at.at(TIMES)} * {n.at(TIMES + 1)}", TIMES, "int64") if at.text != "0" else at
                own = Term(f"{at.at(PLUS)} + {own.at(PLUS)}", PLUS, "int64") if at.text != "0" else own
                own = at if own.text.endswith(" + 0") and own.text == f"{at.at(PLUS)} + 0" else own
            at = own
        assert at is not None
        return f"{self.name(array)}[{at.text}]"

    # ---------------------------------------------------------- loops and branches
    def loop(self, s: For, depth: int) -> None:
        """A loop that one thread runs."""
        self.carried(s, depth)
        before, self.held = set(self.taken), {}
        self._open(s, depth)
        self.block(s.body, depth + 1)
        self._next(s, depth + 1)
        self.leave()
        self.ends.append(before)
        self.leave()
        self.held = {}
        self.row("}", depth)

    def carried(self, s: For, depth: int, zero: bool = False) -> None:
        for c in s.carried:
            dtype = self.types.of(c.name).dtype  # type: ignore[union-attr]
            init = constant(Const(0)) if zero else self.term(c.init)
            init = init._replace(weak=init.value is not None)
            self.row(f"{C_TYPES[dtype]} {self.name(c.name)} = {cast(init, dtype).text};", depth)
            self.inside.add(c.name)

    def _next(self, s: For, depth: int) -> None:
        sums = [self._added(c, s) for c in s.carried]
        if None not in sums:
            for row in sums:
                self.row(str(row), depth)
            return
        moves = [(self.name(c.name), cast(self.term(c.next), self.types.of(c.name).dtype).text) for c in s.carried]  # type: ignore
        if len(moves) > 1:
            for k, (_, value) in enumerate(moves):
                kind = C_TYPES[self.types.of(s.carried[k].name).dtype]  # type: ignore[union-attr]
                own = self.new(f"{version_base(s.carried[k].name)}_next")
                self.row(f"const {kind} {own} = {value};", depth)
                moves[k] = (moves[k][0], own)
        for name, value in moves:
            self.row(f"{name} = {value};", depth)

    def _added(self, c: Carry, s: For) -> str | None:
        """What adds to a sum, None where a trip hands something else on."""
        made = self.made.get(str(c.next))
        if not isinstance(made, Assign) or made.target not in self.folded or made.args[0] != c.name:
            return None
        sign = {operator.add: "+=", operator.sub: "-="}.get(made.op)  # type: ignore[call-overload]
        added = cast(self.term(made.args[1]), self.types.of(c.name).dtype)  # type: ignore[union-attr]
        read = set(re.findall(r"\w+", added.text))
        if sign is None or any(self.name(other.name) in read for other in s.carried):
            return None
        return f"{self.name(c.name)} {sign} {added.text};"

    def shared_loop(self, s: For, depth: int) -> None:
        """A loop whose trips the threads of a block share, and whose sums they add up."""
        self.carried(s, depth, zero=True)
        self._quote(next((x for x in s.body if x.span.line), s), depth)  # type: ignore[union-attr]
        before, self.held = set(self.taken), {}
        self._open(s, depth, shared=True)
        self.block(s.body, depth + 1)
        self._next(s, depth + 1)
        self.leave()
        self.ends.append(before)
        self.leave()
        self.held = {}
        self.row("}", depth)
        for c in s.carried:
            own = self.name(c.name)
            start = self.term(c.init)
            total = f"block_sum({own})"
            self.row(f"{own} = {total};" if start.value == 0 else f"{own} = {start.at(PLUS)} + {total};", depth)

    def branch(self, s: If, depth: int) -> None:
        for m in s.merged:
            self.inside.add(m.name)
            inside = sum(a == m.orelse for x in statements(s.then) for a in _atoms(x))
            alone = len(s.merged) == 1 and m.orelse in self.changing
            if alone and self.uses[str(m.orelse)] == inside + 1:  # it has that value already
                self.names[m.name] = self.names[str(m.orelse)]
            else:
                self.row(f"{C_TYPES[self.types.of(m.name).dtype]} {self.name(m.name)};", depth)  # type: ignore[union-attr]
            self.changing.add(m.name)
        held = dict(self.held)
        self.row(f"if ({cast(self.term(s.test), 'bool').text}) {{", depth)
        for block, which in ((s.then, 0), (s.orelse, 1)):
            moves = [m for m in s.merged if not which or self.name(m.name) != self.names.get(str(m.orelse))]
            if which and not (block or moves):
                break
            self.held = dict(held)
            if which:
                self.row("} else {", depth)
            self.block(block, depth + 1)
            for m in moves:
                value = cast(self.term((m.then, m.orelse)[which]), self.types.of(m.name).dtype)  # type: ignore[union-attr]
                self.row(f"{self.name(m.name)} = {value.text};", depth + 1)
            self.leave()
        written = {self.root(x.object) for x in statements((s,)) if isinstance(x, Store)}
        self.held = {k: v for k, v in held.items() if k[0] not in written}
        self.row("}", depth)


def _cut(text: str, most: int) -> int:
    """Where a statement is broken that is too long: before the sign that stands in the fewest parentheses; 0 for
    nowhere."""
    depth, best, cut = 0, len(text), 0
    for k, c in enumerate(text[:most]):
        depth += (c in "([") - (c in ")]")
        if c == " " and k > 8 and text[k + 1] in "+-*/?:&|" and depth <= best:
            best, cut = depth, k
    return cut


def _atoms(s: Statement) -> list[Atom]:
    """What a statement itself reads."""
    if isinstance(s, For):
        return [s.iterable, *(a for c in s.carried for a in (c.init, c.next))]
    if isinstance(s, If):
        return [s.test, *(a for m in s.merged for a in (m.then, m.orelse))]
    return [*all_reads((s,))] if not isinstance(s, Assign) else list(s.atoms)
