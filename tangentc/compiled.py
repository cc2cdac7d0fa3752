"""Emitted programs with the types that they are for, and what they depend on."""

from __future__ import annotations

import contextlib
import functools
import inspect
import threading
import types as pytypes
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

from tangentc.analysis.masks import CHOOSES
from tangentc.analysis.outside import Part, Written, of_any_length, seen_as, with_part
from tangentc.analysis.program import draws
from tangentc.analysis.turning import are_complex, is_doubtful
from tangentc.arguments import refuse_overlap, refuse_shared
from tangentc.backend.load import Text, load
from tangentc.compiler.context import Context
from tangentc.compiler.dispatch import Dispatch
from tangentc.compiler.guards import common, form
from tangentc.core.draws import NOTHING, Draws
from tangentc.core.nodes import Global
from tangentc.core.types import Type
from tangentc.core.values import SIGHT, Sight, as_key, mutable_parts, seeing
from tangentc.errors import NeverReturns, TangentcError, TurnedComplex
from tangentc.frontend.dependencies import Dependency, Signed, kept_by
from tangentc.frontend.reached import NONE, Reached, reached
from tangentc.rules.registry import REGISTRY
from tangentc.singular import constants_of_numpy, math_of_numpy

X = TypeVar("X")
BY_IDENTITY = (pytypes.FunctionType, pytypes.MethodType, functools.partial)  # which is how these are equal
MOST_ALIKE = 3  # compilations for other lengths that gave one text, which then is not sought again for all lengths
MOST_KEPT, MOST_WITH_DATA = 500, 32  # derivatives whose code is kept, and those of what holds data: closures, methods


class Code:
    """What has been compiled of a derivative, shared by all that are made of one function in one way."""

    named: OrderedDict[Any, Code] = OrderedDict()  # of functions of modules
    holding: OrderedDict[Any, Code] = OrderedDict()  # of functions that hold data

    def __init__(self) -> None:
        self.found: dict[Any, Any] = {}
        self.forms: dict[Any, dict[Any, Any]] = {}  # what has been compiled, by types without their lengths
        self.turned: dict[Any, TurnedComplex] = {}  # what was refused while it was compiled for real numbers
        self.fitted: dict[Any, Any] = {}  # derivatives with more arguments than the signature names
        self.seen: Reached | None = NONE  # the names of the attributes that are looked into, None for all
        self.options: tuple[int, ...] = ()  # the integer arguments whose values are written into the code
        self.dispatches: tuple[Any, ...] = ()  # the functions that a call tries first
        self.lock = threading.RLock()
        self.version = REGISTRY.version

    @classmethod
    def of(cls, given: Any, *made: Any) -> Code:
        """What has been compiled of ``given`` in this way."""
        if type(given) not in (*BY_IDENTITY, Code):
            return cls()
        of_module = type(given) is pytypes.FunctionType and "<locals>" not in given.__qualname__
        kept, most = (cls.named, MOST_KEPT) if of_module else (cls.holding, MOST_WITH_DATA)
        kept[given, *made] = code = kept.pop((given, *made), None) or cls()
        while len(kept) > most:
            kept.popitem(last=False)
        return code

    def seeing(self, as_key: bool = False) -> contextlib.AbstractContextManager[Sight]:
        """Look at no more of objects than is read; ``as_key`` for the types that code is kept under."""
        return seeing(None) if self.seen is None else seeing(self.seen.names, self.seen.written, as_key)

    def look(
        self, write: Callable[[], Any], values: Iterable[Any], paths: Iterable[str],
        compiled_of: Callable[[Any], Compiled | None],
    ) -> Any:  # fmt: skip
        """What ``write`` compiles while no more is looked at of objects than the function and what it calls may read.

        What they may read is told by the names in their text, from ``values`` on, and by the ``paths`` that are asked
        for; it is asked again of all that turned out to be called.  A refusal counts only where all was looked at.
        """
        found = reached(values)
        self.see(None if found is None else found | Reached(frozenset(paths), frozenset()))
        while True:
            try:
                with self.seeing() as sight:
                    made = write()
            except TangentcError as error:
                if not sight.left or isinstance(error, TurnedComplex):
                    raise
                self.see(None)
                continue
            compiled = compiled_of(made)
            if not (sight.left or sight.written):
                return made
            found = compiled.facts.reached() if compiled is not None else None
            if found is not None and sight.left.isdisjoint(found.names):
                if sight.written.isdisjoint(found.names - found.written):
                    return made
            self.see(found)

    def see(self, found: Reached | None) -> None:
        """Look into the attributes of these names too, or into all."""
        before = self.seen
        self.seen = None if before is None or found is None else before | found
        if self.seen != before:
            self.forget()

    def widen(self, found: Compiled, key: Any, write: Callable[[list[Type]], str]) -> None:
        """Let code be right for other lengths too, where it is the same for those that it was compiled for before."""
        alike = self.forms.setdefault((form(key[0]), *key[1:]), {})
        same = [one for one in alike.values() if one.text.whole == found.text.whole and one.is_fresh(called=True)]
        if 0 < len(same) < MOST_ALIKE:
            both = [[*one.types, *([] if one.seed is None else [one.seed])] for one in (found, same[-1])]
            with self.seeing() as sight:
                made_for = common(write, found.text.whole, *both)
            found.made_for = made_for and [as_key(t, sight.written) for t in made_for]
        alike[key[0]] = found

    def forget(self) -> None:
        """Forget all code."""
        self.found.clear()
        self.forms.clear()
        self.turned = dict([*self.turned.items()][-MOST_KEPT:])
        self.dispatches = ()


@dataclass(frozen=True)
class Facts:
    """What is known of a program beside its text."""

    dependencies: list[Dependency]
    reached: Callable[[], Reached | None]  # gives the names in the text of what may be called
    changed: tuple[int, ...]  # the parameters that are changed,
    written: tuple[int, ...]  # and those of them in whose arrays it is written
    is_doubtful: bool
    is_drawing: bool
    chooses: bool  # whether an adjoint was written under a mask
    put: Collection[Written] = ()  # what belongs to the module, and is written into
    changed_outside: Collection[Written] = ()  # and all that is changed
    read: Collection[Part] = ()  # and what is read

    @classmethod
    def of(cls, context: Context, root: Any) -> Facts:
        prepared, dependencies = context.front.prepared, [*context.front.depended.values()]
        names = list(inspect.signature(root).parameters)
        own = [p for (f, _), p in prepared.items() if f is root]
        changed, written = (
            tuple(k for k, n in enumerate(names) if n in found)
            for found in ({n for p in own for n in p.changes}, {n for p in own for n in p.writes})
        )
        doubtful = not are_complex() and any(is_doubtful(p.function, p.types) for p in prepared.values())
        followed = [*(f for f, _ in prepared), *(d.value for d in dependencies), root]
        return cls(
            dependencies, lambda: reached(followed), changed, written, doubtful, any(map(draws, prepared.values())),
            context.chooses, context.put, context.changed, context.read,
        )  # fmt: skip


class Compiled:
    """One emitted program, and the types of its arguments; it is loaded when it is first run.

    ``write`` gives the compilation that it was written in, or writes it once more.
    """

    def __init__(
        self, text: Text, facts: Facts, root: Any, types: list[Type], seed: Type | None = None, *,
        write: Callable[[], Context],
    ):  # fmt: skip
        self.text, self.facts, self.types, self.seed = text, facts, types, seed
        self.seen, self.only_written = SIGHT.get().names, SIGHT.get().written  # the names of attributes
        self.write = write
        self.batches: dict[Any, Any] = {}  # the same for many seeds at once: see `directions.Code`
        self.widths: dict[Any, int] = {}  # how many bytes one seed takes there
        self.refused = 0  # ways to write it that there are not
        self.trial: Any = None  # whether kernels are quicker, where that is to be found out
        self.file: str | None = None  # where the text stands, if what is compiled of it is kept
        self.made_for: list[Type] | None = None  # the types, with what is known of lengths alone: see `guards.common`
        self.seeds: tuple[float, ...] = ()  # 1.0 for each gradient that is differentiated again
        self.dependencies = facts.dependencies
        self.inside = [
            d.place.home for d in self.dependencies if d.place.kind == "compiled"
        ]  # derivatives taken inside
        self.live = text.live
        self.root, self.kept, self.signed = root, kept_by(root), Signed(root)
        self.is_doubtful, self.changed, self.written = facts.is_doubtful, facts.changed, facts.written
        self.outside = bool(facts.read or facts.put)  # whether it reads or writes what belongs to the module
        self.writes = bool(self.changed or facts.put)
        self.dispatches: list[Dispatch] = []  # what takes arguments for it, and how often one was written
        self.written_for = 0

    @functools.cached_property
    def context(self) -> Context:
        """The compilation that it was written in."""
        return self.write()

    @functools.cached_property
    def function(self) -> Any:
        function = load(self.text, self.root.__module__, file=self.file)
        function.__globals__.update({name: atom.lookup() for name, atom in self.live.items()})
        function.__globals__[CHOOSES] = self.facts.chooses
        function.__tangentc_compiled__ = self  # type: ignore[attr-defined]
        return function

    def seeing(self) -> contextlib.AbstractContextManager[Sight]:
        """Look at no more of objects than it was compiled for."""
        return seeing(self.seen, self.only_written)

    def draws(self, args: tuple) -> Draws:
        """What a run with these arguments draws from, as it is now."""
        return Draws(self.root, args) if self.facts.is_drawing else NOTHING

    def function_of_numpy(self) -> Any:
        """The function with NumPy's numbers: those that stand in it, and those that `math` gives."""
        tree, number = constants_of_numpy(self.text.whole)
        function = load(self.text, self.root.__module__, tree, number)
        function.__globals__.update({name: self.function.__globals__[name] for name in (*self.live, CHOOSES)})
        function.__globals__.update(math_of_numpy(function.__globals__))
        return function

    def is_fresh(self, called: bool = False) -> bool:
        """Whether the names that the code was compiled for still stand for the same things.

        Where it is ``called`` with an argument for each parameter, what its defaults hold makes no difference.
        """
        if Signed(self.root) != self.signed or not called and kept_by(self.root) != self.kept:
            return False
        for inner in self.inside:
            if not inner.is_fresh():
                return False
            inner.sync(())
        return all(dependency.is_fresh() for dependency in self.dependencies)

    def overlook_growing(self, before: Compiled, write: Callable[[], str]) -> None:
        """Let lists that the code only writes into hold any number of items from now on, if ``write`` gives the same
        text for these.  ``before`` is the code for what they held before."""
        if before.text.whole != self.text.whole:
            return
        then = {(d.place, d.name): d.held for d in before.dependencies}
        found: list[tuple[Dependency, Part]] = []
        of_any: dict[Global, Type] = {}
        for written in self.facts.changed_outside:
            of, read = written.part.of, any(map(written.is_read_by, self.facts.read))
            for d in self.dependencies:
                if (d.place, d.name) != (of.place, of.name) or read or d.held is None:
                    continue
                if d.held != then.get((d.place, d.name)):
                    found.append((d, written.part))
                    of_any[of] = with_part(of_any.get(of, d.held), written.part.keys, of_any_length)
        try:
            with seen_as(*of_any.items()), seeing(self.seen):
                same = bool(found) and write() == self.text.whole
        except TangentcError:
            same = False
        for d, part in found if same else ():
            d.overlook(part.keys)

    def sync(self, args: tuple) -> None:
        """Let the code see the present values of the module's data; refuses what `apart` refuses."""
        if args and self.writes:
            self.apart(args)
        for inner in self.inside:
            inner.sync(())
        if self.live:
            scope = self.function.__globals__
            for name, atom in self.live.items():
                scope[name] = atom.lookup()

    def apart(self, args: tuple) -> bool:
        """Refuses arguments, and what the module has, that share memory where the function writes into one: it would
        see two arrays where the user's function sees one.  True if there are none.
        """
        with seeing(self.seen):
            held = [
                (f"argument {k}", mutable_parts(value), k in self.changed, k in self.written)
                for k, value in enumerate(args)
            ]
            held += [(part.name, part.leaves(), False, False) for part in self.facts.read]
        refuse_overlap(self.root.__name__, held)
        for written in self.facts.put:
            for name, leaves, *_ in held[: len(args)]:
                if written.is_among(leaves):
                    refuse_shared(self.root.__name__, written.name, f"shares memory with {name}")
            for part in filter(written.is_read_by, self.facts.read):
                same = part.of == written.part.of
                shares = "another function reads" if same else f"shares memory with {part.name}"
                refuse_shared(self.root.__name__, written.name, shares)
        return True


def or_raised(compile: Callable[[], X], function: Any, args: tuple) -> X:
    """What is compiled of a function; where that never returns, what it raises for these arguments is raised."""
    try:
        return compile()
    except NeverReturns:
        function(*args)
        raise


def seeds_inside(source: Any, types: list) -> int:
    """How many seeds an emitted function takes beyond the arguments of the user's function."""
    return len(inspect.signature(source).parameters) - len(types)
