"""Which arrays of a function may be memory of one another: views of one, and names for one or another.

    u = x.copy(); v = u[1:]; w = u + 1              u and v are one class, x and w are others

`Aliases` has one class for all that one container holds, as a tuple that is returned; here an array is of the class of
a container only if it is read out of it.  And what a trip makes and hands on is none of the arrays that it was handed.
"""

from __future__ import annotations

from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, For, While
from tangentc.core.types import Array
from tangentc.core.walk import all_defines, joins_of, statements


class Memory:
    """Classes of arrays that may share memory."""

    def __init__(self, program: Program):
        self.parent: dict[str, str] = {}
        self.types, self.aliases = program.types, program.aliases
        aliases = self.aliases
        mixed: set[str] = set()  # classes of containers out of which arrays are read
        for s in statements(program.function.body):
            inside = all_defines((s,)) if isinstance(s, (For, While)) else set()
            handed: dict[str, str] = {}  # what a trip makes and hands on, and under which name the next one has it
            for name, *arms in joins_of(s):
                for arm in arms:
                    made = self._made(arm)
                    self._unite(name, handed.setdefault(made, name) if made in inside else arm)
            if not isinstance(s, Assign) or not self._is_array(s.target) or s.op is ops.pop:
                continue
            for a in aliases.shares(s):
                if self._is_array(a):
                    self._unite(s.target, a)
                else:
                    mixed.add(aliases.root(s.target))
        for name in list(program.types.of_name):
            if self._is_array(name) and (root := aliases.root(name)) in mixed:
                self.parent[self.root(name)] = f"%held {root}"

    def _made(self, atom: Atom) -> str:
        """The name under which an array is made that nothing else refers to, of a view that of the array."""
        while isinstance(atom, str) and atom in self.aliases.views:
            atom = self.aliases.views[atom].args[0]
        made = self.aliases.made.get(atom) if isinstance(atom, str) else None
        return made.target if made is not None and self.aliases.makes_memory(made) else ""

    def _is_array(self, atom: Atom) -> bool:
        return isinstance(atom, str) and isinstance(self.types.of_name.get(atom), Array)

    def _unite(self, a: Atom, b: Atom) -> None:
        if self._is_array(a) and self._is_array(b):
            self.parent[self.root(str(a))] = self.root(str(b))

    def root(self, name: str) -> str:
        """What stands for all of a class."""
        path = []
        while (up := self.parent.get(name, name)) != name:
            path.append(name)
            name = up
        for p in path:
            self.parent[p] = name
        return name
