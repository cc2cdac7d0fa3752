"""A compiled program as a record that another process makes it of again, without compiling.

The record has the text, and the words for all that the code depends on (see `described`).  What names stand for is
looked up where the record is read, and its words are compared with those in the record: they differ where a function
has been written anew, or data have another type.
"""

from __future__ import annotations

import functools
import hashlib
import json
import operator
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from tangentc.analysis.outside import SEEN_AS, Part, Written
from tangentc.analysis.turning import are_complex
from tangentc.backend.load import Text, print_program
from tangentc.compiled import Compiled, Facts
from tangentc.compiler.context import Context
from tangentc.core import ops
from tangentc.core.nodes import Global, Place
from tangentc.core.types import Struct, Tuple, Type, is_container
from tangentc.core.values import SIGHT
from tangentc.frontend.dependencies import Dependency, functions_in
from tangentc.frontend.reached import Reached
from tangentc.kept import described as words
from tangentc.kept.described import Untold, described, described_type
from tangentc.kept.folder import in_use
from tangentc.rules.registry import REGISTRY


def compiled(
    write: Callable[[], Context], root: Any, types: list[Type], seed: Type | None = None, arrays: str = "numpy",
    inner: bool = False, asked: tuple[Any, ...] | None = None,
) -> Compiled:  # fmt: skip
    """The program that ``write`` writes: found on disk where it has been written before, and kept there if it can be.

    ``asked`` is what else decides what is written; None if it is for this process alone.
    """
    folder = in_use() if asked is not None else None
    key = key_of(root, types, seed, (arrays, inner, asked)) if folder else ""
    if folder and key and (found := folder.get(key)) is not None:
        kept = restored(found, root, types, seed, write, lambda: print_program(write().emitted, arrays, inner))
        if kept is not None:
            kept.file = folder.module(kept.text.whole, json.dumps(stamp())) if kept.text.is_compiled else None
            return kept
    context = write()
    text = print_program(context.emitted, arrays, inner)
    made = Compiled(text, Facts.of(context, root), root, types, seed, write=lambda: context)
    made.file = folder.module(text.whole, json.dumps(stamp())) if folder and key and text.is_compiled else None
    if folder and key and (record := recorded(made)) is not None:
        folder.put(key, record)
    return made


def key_of(root: Any, types: list[Type], seed: Type | None, asked: tuple[Any, ...]) -> str:
    """The name of a record: a hash of what the text is for, '' where that cannot be told."""
    sight = SIGHT.get()
    seen = None if sight.names is None else sorted(sight.names)
    if SEEN_AS.get():
        return ""
    try:
        said = [
            words.function(root, called=True), described_type([*types, seed]), repr(asked), are_complex(),
            seen, sorted(sight.written), [(described(f), facts) for f, facts in own_rules()],
        ]  # fmt: skip
    except Untold:
        return ""
    return hashlib.sha256(json.dumps([stamp(), *said]).encode()).hexdigest()


def own_rules() -> Iterator[tuple[Any, Any]]:
    """What the user has said of functions: the functions, and the words for it."""
    for function, said in REGISTRY.own:
        yield function, [words.with_names(part) for part in said]


@functools.cache
def stamp() -> list[Any]:
    """What tells one state of this package and of Python from another."""
    home = Path(__file__).parents[1]
    files = [(str(f.relative_to(home)), f.stat().st_size, f.stat().st_mtime_ns) for f in sorted(home.rglob("*.py"))]
    return [words.version_of("tangentc"), words.version_of("sys"), np.__version__, files]


# ---------------------------------------------------------------- writing
def recorded(made: Compiled) -> Any:
    """The record of a program, None if it depends on what another process cannot find."""
    facts, text = made.facts, made.text
    known = _Known(made.root, [*made.types, *([] if made.seed is None else [made.seed])])
    try:
        dependencies = []
        for d in made.dependencies:
            dependencies.append([known.place(d.place), d.name, words_for(d)])
            known.note(d)
        return {
            "text": [text.name, text.text, text.imports, text.same, sorted(text.blocks)],
            "bindings": {name: known.value(value) for name, value in text.bindings.items()},
            "live": {name: [known.place(atom.place), atom.name] for name, atom in text.live.items()},
            "dependencies": dependencies,
            "facts": [facts.changed, facts.written, facts.is_doubtful, facts.is_drawing, facts.chooses],
            "outside": [[*map(known.part, parts)] for parts in (facts.put, facts.changed_outside, facts.read)],
            "reached": (reach := facts.reached()) and [sorted(reach.names), sorted(reach.written)],
        }
    except Untold:
        return None


def words_for(d: Dependency) -> Any:
    """The words for what code depends on."""
    if d.overlooked:
        raise Untold(d.name)
    if d.place.kind == "compiled":
        return d.place.home.text.whole
    if d.held is None or d.place.kind in ("class", "option", "item"):
        return described(d.value)
    call: Any = getattr(type(d.value), "__call__", None)  # noqa: B004
    called = [words.function(call)] if callable(d.value) else []
    return [described_type(d.held), *called]


class _Known:
    """What both processes have: the function, the classes in the types of its arguments, and what names stood for."""

    def __init__(self, root: Any, types: list[Type]):
        self.values: list[Any] = [root, *(cls for t in types for cls in classes_in(t))]

    def note(self, d: Dependency) -> None:
        """Know what a name stands for, and the functions and classes in that."""
        self.values.append(d.value)
        for value in (d.value, *(functions_in(d.held) if d.held else ())):
            while inner := getattr(value, "func", None) or getattr(value, "__func__", None):
                self.values.append(value := inner)
        self.values += classes_in(d.held) if d.held else ()

    def index(self, holds: Callable[[Any], bool]) -> int:
        found = next((k for k, v in enumerate(self.values) if holds(v)), None)
        if found is None:
            raise Untold("a place")
        return found

    def value(self, value: Any) -> Any:
        """How another process finds a value."""
        if isinstance(value, ops.UserFunction):
            return ["user", self.value(value.function), value.pure, value.aliases]
        for k, v in enumerate(self.values):
            if v is value:
                return ["known", k]
        said = described(value)
        if words.of_library(said) and words.found(said) is value:
            return said
        raise Untold(repr(value))

    def place(self, place: Place) -> Any:
        """How another process finds where a name keeps its value."""
        home = place.home
        match place.kind:
            case "option":
                return ["option", self.place(home)]
            case "namespace":
                return ["namespace", self.index(lambda v: getattr(v, "__globals__", None) is home)]
            case "cell":
                k = self.index(lambda v: any(home is c for c in getattr(v, "__closure__", None) or ()))
                cells = self.values[k].__closure__
                return ["cell", k, next(n for n, c in enumerate(cells) if c is home)]
            case "compiled":
                return ["compiled", self.index(lambda v: getattr(v, "__tangentc_compiled__", None) is home)]
        return [place.kind, self.index(lambda v: v is home)]

    def part(self, part: Part | Written) -> Any:
        """How another process finds what belongs to the module."""
        if isinstance(part, Written):
            return [self.part(part.part), None if part.key is None else [part.key[0] is getattr, part.key[1]]]
        keys = [[by is getattr, key] for by, key in part.keys]
        return [self.place(part.of.place), part.of.name, keys, part.deep, part.inside]

    # ------------------------------------------------------------ and back
    def value_of(self, said: Any) -> Any:
        match said:
            case ["known", k]:
                return self.values[k]
            case ["user", inner, pure, aliases]:
                return ops.UserFunction(self.value_of(inner), pure, aliases)
        found = words.found(said)
        if described(found) != said:
            raise Untold(said)
        return found

    def place_of(self, said: Any) -> Place:
        match said:
            case ["option", inner]:
                return Place("option", self.place_of(inner))
            case ["namespace", k]:
                return Place("namespace", self.values[k].__globals__)
            case ["cell", k, n]:
                return Place("cell", self.values[k].__closure__[n])
            case ["compiled", k]:
                return Place("compiled", self.values[k].__tangentc_compiled__)
        kind, k = said
        return Place(kind, self.values[k])

    def atom_of(self, said: Any) -> Global:
        place, name = said
        return Global(name, self.place_of(place))

    def part_of(self, said: Any) -> Part:
        *atom, keys, deep, inside = said
        return Part(self.atom_of(atom), tuple(map(_key_of, keys)), deep, inside)

    def written_of(self, said: Any) -> Written:
        part, key = said
        return Written(self.part_of(part), key and _key_of(key))


def _key_of(said: Any) -> Any:
    by_name, key = said
    return getattr if by_name else operator.getitem, key


def classes_in(t: Type) -> Iterator[type]:
    """The classes of the objects that a value of this type consists of."""
    if isinstance(t, (Struct, Tuple)) and t.cls is not None:
        yield t.cls
    for item in t.items if is_container(t) else ():
        yield from classes_in(item)


# ---------------------------------------------------------------- reading
def restored(
    record: Any, root: Any, types: list[Type], seed: Type | None, write: Callable[[], Context],
    text: Callable[[], Text],
) -> Compiled | None:  # fmt: skip
    """The program of a record; None if something that it depends on is another thing by now."""
    known = _Known(root, [*types, *([] if seed is None else [seed])])
    dependencies = []
    try:
        for place, name, said in record["dependencies"]:
            d = Dependency(known.place_of(place), name)
            if json.loads(json.dumps(words_for(d))) != said:
                return None
            dependencies.append(d)
            known.note(d)
        name, body, imports, same, blocks = record["text"]
        rows = Later(text, "of")
        own = Text(
            name, body, tuple(imports), {n: known.value_of(said) for n, said in record["bindings"].items()},
            {n: known.atom_of(said) for n, said in record["live"].items()}, same, rows, frozenset(blocks),
            Later(text, "types"),
        )  # fmt: skip
        changed, written, *flags = record["facts"]
        put, all_changed, read = record["outside"]
        outside: Any = [*map(known.written_of, put)], [*map(known.written_of, all_changed)], [*map(known.part_of, read)]
        reach = record["reached"] and Reached(*map(frozenset, record["reached"]))
    except (Untold, NameError, AttributeError, LookupError, TypeError, ValueError, ImportError):
        return None
    facts = Facts(dependencies, lambda: reach, tuple(changed), tuple(written), *flags, *outside)
    return Compiled(own, facts, root, types, seed, write=write)


class Later(Mapping[int, Any]):
    """The statements behind the rows of a text, or their types, which are only known to a compilation: it is done once
    more where somebody asks for one, as where an error is to be told by the line of the user's."""

    def __init__(self, text: Callable[[], Text], part: str):
        self.text, self.part = text, part

    @functools.cached_property
    def rows(self) -> Mapping[int, Any]:
        return getattr(self.text(), self.part)  # type: ignore[no-any-return]

    def __getitem__(self, row: int) -> Any:
        return self.rows[row]

    def __iter__(self) -> Iterator[int]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)
