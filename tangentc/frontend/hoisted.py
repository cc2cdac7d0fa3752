"""Parts of containers that a loop reads and nothing changes, read once before it.

    for x in xs:                              W = p["W"]
        h = np.tanh(p["W"] @ h + x)      ->   for x in xs:
                                                  h = np.tanh(W @ h + x)

Each part has an adjoint of its own then, which the loop adds to, and the parts that it does not read have none.  Where
a loop calls a function with the container itself, the call is told what its parts are.  (Loop-invariant code motion:
Muchnick, Advanced Compiler Design and Implementation, section 13.2.)
"""

from __future__ import annotations

import builtins
import keyword
import operator
from collections.abc import Hashable, Iterator
from dataclasses import replace

from tangentc.analysis.paths import leaf_paths, parts
from tangentc.analysis.points import ANY
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder
from tangentc.core.naming import shown
from tangentc.core.nodes import Assign, Atom, Const, For, Function, Statement, While, is_temporary
from tangentc.core.types import Struct, Tuple, Type
from tangentc.core.walk import all_defines, perhaps_missing, substitute, transform, with_body

MOST = 64  # parts of a container that are told to a call


def hoisted(program: Program) -> Function:
    """The function with such reads before the outermost loop that they are the same in."""
    hoist = _Hoisted(program)
    return with_body(program.function, transform(program.function.body, hoist.rewrite))


class _Hoisted:
    def __init__(self, program: Program):
        self.types, self.points = program.types, program.aliases.points
        self.b = Builder(program.types, [*program.types.of_name])
        self.moved: dict[tuple[Atom, Hashable], Assign] = {}  # before this loop, by container and key
        self.same: dict[Atom, str] = {}  # what the loop calls what is read before it
        self.missing = perhaps_missing(program.function.body, program.types.of_name)  # type: ignore[arg-type]
        self.inside: set[Atom] = set()

    def rewrite(self, s: Statement) -> tuple[Statement, ...]:
        """A loop, whose inner loops have been seen to, behind what is read before it."""
        if not isinstance(s, (For, While)):
            return (s,)
        self.moved, self.same, self.inside = {}, {}, all_defines((s,)) | self.missing
        (loop,) = transform((s,), lambda inner: (inner,) if inner is s else tuple(self._inside(inner)))
        return (*self.moved.values(), loop)

    def _inside(self, s: Statement) -> Iterator[Statement]:
        if isinstance(s, Assign) and s.op in (operator.getitem, builtins.getattr) and isinstance(s.args[1], Const):
            x, key = self.same.get(s.args[0], s.args[0]), s.args[1].value
            if len(s.args) == 2 and x not in self.inside and (part := self._part(x, key)) is not None:
                self.same[s.target] = self._before(x, key, part, s)
                yield Assign(s.target, ops.identity, (self.same[s.target],), (), s.span)
                return
        if (
            isinstance(s, Assign)
            and s.op is ops.identity
            and (known := self.same.get(s.args[0], s.args[0])) not in self.inside
        ):
            self.same |= {s.target: known} if isinstance(known, str) else {}
        if isinstance(s, Assign) and isinstance(s.op, ops.UserFunction):
            table: dict[str, Atom] = {}
            for x in dict.fromkeys(s.atoms):
                known = self.same.get(x, x)
                if isinstance(known, str) and known not in self.inside and (paths := self._paths(known)):
                    atoms = [self._at(known, path, s) for path in paths]
                    named = ((f"part{k}", a) for k, a in enumerate(atoms))
                    again = table[str(x)] = self.b.fresh(f"%{shown(x)}")
                    yield Assign(again, ops.identity, (known,), (("parts", Const(paths)), *named), s.span)
            s = substitute(s, table)
        yield s

    # ---------------------------------------------------------- parts
    def _part(self, x: Atom, key: object) -> Type | None:
        """The type of a part that is surely there, and that stays the same."""
        t = self.types.of(x)
        if not isinstance(x, str) or parts(t) is None or isinstance(key, slice) or not self.points.keeps(x, key):
            return None
        if isinstance(t, Tuple) and isinstance(key, str):
            return None if t.cls is None else self._part(x, getattr(t.cls, "_fields", ()).index(key))
        return dict(parts(t) or ()).get(key)  # type: ignore[call-overload]

    def _paths(self, x: str) -> tuple[tuple[Hashable, ...], ...]:
        t = self.types.of(x)
        found = leaf_paths(t) if parts(t) and not self.points.is_changed(x) else ()  # nor what its parts hold
        return found if len(found) <= MOST else ()

    def _at(self, x: str, path: tuple[Hashable, ...], s: Assign) -> str:
        for key in path:
            t = self.types.of(x)
            field = isinstance(t, Struct)
            read = Assign("%part", builtins.getattr if field else operator.getitem, (x, Const(key)), (), s.span)
            x = self._before(x, key, dict(parts(t) or ())[key], read)
        return x

    def _before(self, x: Atom, key: Hashable, part: Type, s: Assign) -> str:
        """The name of a part that is read before the loop, as a statement in it does."""
        if (x, key) not in self.moved:
            is_name = str(key).isidentifier() and not keyword.iskeyword(str(key))
            word = str(key) if is_name else f"{shown(x)}_{key}"
            name = self.b.fresh(f"%{word}" if is_temporary(s.target) else s.target)
            self.types.of_name[name] = part
            places = self.points.of.get(str(x), set())
            self.points.of[name] = {q for p in places for k in (key, ANY) for q in self.points.held[p].get(k, ())}
            self.moved[x, key] = replace(s, target=name, args=(x, *s.args[1:]))
        return self.moved[x, key].target
