"""Objects, dicts and lists that stay inside of a function, as the variables that their attributes and items are.

    kf = KalmanFilter()
    kf.x = x0                         kf_x = x0
    for z in zs:             ->       for z in zs:
        kf.x = F @ kf.x                   kf_x = F @ kf_x
    return kf.x                       return kf_x

An object stays inside where all that is done with it is to give it attributes and to read them, and a dict or a list
where that is done with items whose keys stand in the text, under names that are surely its own: nobody sees it who is
not in the text, and each attribute is known where it is read, as any other variable is.  (Scalar replacement of
aggregates: Muchnick, Advanced Compiler Design and Implementation, section 12.2.)
"""

from __future__ import annotations

import ast
import builtins
import copy
import numbers
import operator
from collections.abc import Iterator, Mapping, Set
from dataclasses import replace

from tangentc.core import ops
from tangentc.core.classes import found_in_class, instance_of, own_access
from tangentc.core.nodes import (
    NOWHERE,
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    For,
    If,
    Op,
    Opaque,
    Statement,
    Store,
    While,
)
from tangentc.core.types import Dict, Held, Sequence, Struct, Type, is_long
from tangentc.core.walk import defines, reads, statements
from tangentc.frontend.leave import leaves

MADE = {ops.new_object, ops.make_struct, ops.make_dict, ops.make_list}
PUTTING = {"append", "extend", "insert"}
MOST_ITEMS = 16
Names = dict[
    str, frozenset[str | None]
]  # what a name may stand for: objects, by where they are made; None for all else
ELSE: frozenset[str | None] = frozenset([None])
NOTHING: Mapping[str, Struct] = {}


def dissolved(
    body: Block, result: str, assigned: Set[str], objects: Mapping[str, Struct] = NOTHING
) -> tuple[Block, frozenset[str]]:
    """A block without the objects that stay inside of it, which ``result`` does not.  ``assigned`` are the names of
    what a class has by which objects are known to have attributes of their own.

    Of ``objects`` that are given to the function, the attributes that it sets or changes become variables of its own,
    since nobody is to see that; which these objects are is the second part of the result.
    """
    made = {s.target: s for s in statements(body) if isinstance(s, Assign) and s.op in MADE}
    given = _given(objects) if any(_changes_part(s, made) for s in statements(body)) else {}
    made |= {path: _as_made(path, t) for path, t in given.items()}
    made = {name: s for name, s in made.items() if _is_plain(s) or name in given and s.op is ops.make_list}
    if not made:
        return body, frozenset()
    given = {name: t for name, t in given.items() if name in made}
    called = _called(body, made) | {name: name.removeprefix("self.").replace(".", "_") for name in given}
    walk = _Walk(made, called, assigned, given)
    while walk.inside:
        before = len(walk.inside), walk.owned
        walk.stored.clear()
        walk.read.clear()
        walk.asked.clear()
        walk.filled.clear()
        walk.asked_of.clear()
        names: Names = {name: frozenset([name]) for name in objects if name in walk.inside}
        out = walk.block(body, names)
        walk.let_out(result, names)
        walk.inside -= {name for name, slot in walk.read if slot not in walk.stored}
        walk.inside -= walk.filled & {name for name, _ in walk.asked_of}
        walk.owned = frozenset(walk.stored)
        if (len(walk.inside), walk.owned) == before:
            changed = {name for name in walk.inside & given.keys() if walk.slots_of(name) & walk.owned}
            sets = {name.split(".")[0] for name in changed | walk.filled}
            return (*walk.as_given(), *out), frozenset(sets)
    return body, frozenset()


def _changes_part(s: Statement, made: Mapping[str, Assign]) -> bool:
    return isinstance(s, Store) and s.object not in made or _puts(s)


def _puts(s: Statement) -> bool:
    """Whether a statement puts something into a list."""
    return isinstance(s, Effect) and s.op is ops.method and getattr(s.args[1], "value", None) in PUTTING


def _given(objects: Mapping[str, Type]) -> dict[str, Held]:
    """Objects, and the objects, dicts and lists that they hold, by their paths."""
    found: dict[str, Held] = {}
    for path, t in objects.items():
        if isinstance(t, (Struct, Dict, Sequence)) and not t.or_none:
            found[path] = t
            found |= _given({f"{path}.{word}": part for word, part in _parts(t).items()})
    return found


def _parts(t: Held) -> dict[str, Type]:
    """What is held, by the attributes, or by what keys and indices are called."""
    if is_long(t):
        return {}
    names = t.fields if isinstance(t, Struct) else map(str, t.keys) if isinstance(t, Dict) else None
    items = t.items * t.length if isinstance(t, Sequence) and t.length and len(t.items) == 1 else t.items
    return dict(zip(map(str, range(len(items))) if names is None else names, items))


def _as_made(path: str, t: Held) -> Assign:
    """A statement that would make what is given."""
    nothing = (Const(None),) * len(_parts(t))
    if isinstance(t, Struct):
        return Assign(path, ops.new_object, (Const(t.cls),), (), NOWHERE)
    is_dict = isinstance(t, Dict) and t.stands_for is None
    if is_dict or not isinstance(t, Sequence) or t.kind is not list or t.stands_for is not None:
        return Assign(path, ops.make_dict, (Const(t.keys if is_dict else ("",)), *nothing), (), NOWHERE)  # type: ignore[union-attr]
    return Assign(path, ops.make_list, nothing, (), NOWHERE)


def _is_plain(made: Assign) -> bool:
    """Whether an object has attributes as objects have them, or a container only items that have names."""
    if made.op in (ops.make_list, ops.make_dict) and any(map(_is_code, made.args[made.op is ops.make_dict :])):
        return False
    if made.op is ops.make_list:
        return 0 < len(made.args) <= MOST_ITEMS
    if made.op is ops.make_dict:
        return all(isinstance(key, str) and key.isidentifier() for key in made.args[0].value)  # type: ignore[union-attr]
    return not issubclass(_class(made), tuple) and own_access(_class(made)) is None


def _is_code(atom: Atom) -> bool:
    """Whether what is put into a container is a function, say, which is called as one of several that are there."""
    return isinstance(atom, Const) and not isinstance(atom.value, (numbers.Number, str, type(None)))


def _class(made: Assign) -> type:
    kinds: dict[Op, type] = {ops.make_list: list, ops.make_dict: dict}
    return kinds.get(made.op) or made.args[0].value  # type: ignore[union-attr]


def _word(made: Assign, key: Atom) -> str | None:
    """What an attribute, or an item, is called, None if that does not stand in the text or it is none."""
    value = key.value if isinstance(key, Const) else None
    if made.op is ops.make_list:
        count = len(made.args)
        return str(value % count) if type(value) is int and -count <= value < count else None
    if made.op is ops.make_dict:
        return value if type(value) is str and value.isidentifier() else None
    return str(value) if isinstance(value, ops.Attribute) else None


def _called(body: Block, made: dict[str, Assign]) -> dict[str, str]:
    """A word for each object: the name that it is given, or the attribute that it is given to."""
    words: dict[str, str] = {}
    for s in statements(body):
        given = ""
        if isinstance(s, Assign) and s.op is ops.identity and not s.target.startswith("%"):
            given, source = s.target.split("'")[0], s.args[0]
        elif isinstance(s, Store) and isinstance(s.key, Const) and isinstance(s.key.value, ops.Attribute):
            given, source = str(s.key.value), s.value
        if given not in ("", "self") and isinstance(source, str) and source in made:
            words.setdefault(source, given)
    for s in made.values():
        words |= {a: k for k, a in _pairs(s) if a in made and a not in words and k.isidentifier()}  # type: ignore[misc]
    own = {
        name: name.split("'")[0] if not name.startswith("%") else _class(s).__name__.lower() for name, s in made.items()
    }
    return {name: words.get(name, own[name]) for name in made}


def _pairs(made: Assign) -> list[tuple[str, Atom]]:
    """What an object is made of, by the attributes or keys."""
    if made.op is ops.make_list:
        return [(str(k), a) for k, a in enumerate(made.args)]
    keys, *values = made.args[made.op is ops.make_struct :] if made.op is not ops.new_object else (Const(()),)
    return list(zip(keys.value, values, strict=True))  # type: ignore[union-attr]


class _Walk:
    """Goes through a block in the order in which it runs; ``inside`` are the objects that nothing has let out."""

    def __init__(
        self, made: dict[str, Assign], called: dict[str, str], assigned: Set[str], given: Mapping[str, Held]
    ):  # fmt: skip
        self.made, self.called, self.assigned, self.given = made, called, assigned, given
        self.owned: frozenset[str] = frozenset()  # the variables that attributes of what is given become
        self.new: dict[str, dict[str, None]] = {}  # the attributes that it gets
        self.parts: dict[Atom, str] = {}  # what was read of it, and the variables that these attributes would become
        self.filled: set[str] = set()  # the lists of it into which something is put
        self.asked_of: set[tuple[str, str]] = set()  # what is read or stored of it
        self.asked: set[str] = set()  # the attributes of it that are objects, which something is asked of
        self.inside = set(made)
        self.number = {name: k for k, name in enumerate(made)}
        self.stored: set[str] = set()
        self.read: set[tuple[str, str]] = set()

    def slot(self, name: str, attribute: str) -> str:
        """The variable that an attribute of an object becomes."""
        kind = "item" if _class(self.made[name]) is dict else "object"
        word = attribute if name == "self" and name in self.given else f"{self.called[name]}_{attribute}"
        return f"{word}'{attribute}'{kind}{self.number[name]}"

    def object_of(self, atom: Atom, names: Names) -> str | None:
        """The object that an atom surely stands for."""
        found = names.get(atom, ELSE) if isinstance(atom, str) else ELSE
        if len(found) == 1:
            return next(iter(found))
        self.let_out(atom, names)
        return None

    def let_out(self, atom: Atom, names: Names) -> None:
        """Note that something else is done with what an atom stands for."""
        if isinstance(atom, str):
            for name in names.get(atom, ELSE) & self.inside:
                self.inside -= {name, *(other for other in self.inside if other.startswith(f"{name}."))}

    # ---------------------------------------------------------- statements
    def block(self, block: Block, names: Names) -> Block:
        out: list[Statement] = []
        for s in block:
            out += self.statement(s, names)
        return tuple(out)

    def statement(self, s: Statement, names: Names) -> tuple[Statement, ...]:
        match s:
            case If():
                return (self.branch(s, names),)
            case For() | While():
                return (self.loop(s, names),)
            case Assign():
                found = self.assign(s, names)
            case Store(key=Const()):
                found = self.store(s, names)
            case Effect() if s.op is ops.assumed:
                found = self.assumed(s, names)
            case Effect() if _puts(s):
                found = self.fill(s, names)
            case Opaque():
                found = self.opaque(s, names)
            case _:
                found = None
        if found is not None:
            return found
        for atom in reads(s):
            self.let_out(atom, names)
        for name in defines(s):
            names.pop(name, None)
        return (s,)

    def assign(self, s: Assign, names: Names) -> tuple[Statement, ...] | None:
        if s.op in MADE and s.target in self.inside:
            return self.make(s, names)
        if s.op is ops.assumed:
            return self.assumed(s, names)
        source = self.object_of(s.args[0], names) if s.args else None
        if s.op is ops.identity and s.args[0] in self.parts:
            self.parts[s.target] = self.parts[s.args[0]]  # type: ignore[index]
        if source not in self.inside:
            return None
        if s.op is ops.identity:
            names[s.target] = frozenset([source])
            return ()
        is_object = self.made[source].op not in (ops.make_dict, ops.make_list)
        if s.op is (builtins.getattr if is_object else operator.getitem) and len(s.args) == 2:
            key = s.args[1]
            word = str(key.value) if is_object and isinstance(key, Const) else _word(self.made[source], key)
            return None if word is None else self.take(s, source, word, names)
        answer = self.answer(s, source, names)
        if answer is None:
            return None
        names.pop(s.target, None)
        return (replace(s, op=ops.identity, args=(Const(answer),)),)

    def make(self, s: Assign, names: Names) -> tuple[Statement, ...]:
        for name, objects in names.items():  # that of the trip before is another one
            if s.target in objects:
                names[name] = objects | ELSE
        names[s.target] = frozenset([s.target])
        return tuple(x for field, value in _pairs(s) for x in self.put(s.target, field, value, s, names))

    def put(self, name: str, attribute: str, value: Atom, s: Assign | Store, names: Names) -> tuple[Statement, ...]:
        slot, held = self.slot(name, attribute), self.object_of(value, names)
        self.stored.add(slot)
        self.asked_of.add((name, attribute))
        self.inside -= {
            path for path in self.inside if path.startswith(f"{name}.{attribute}.") or path == f"{name}.{attribute}"
        }
        if name in self.given and attribute not in _parts(self.given[name]):
            self.new.setdefault(name, {})[attribute] = None
        names.pop(slot, None)
        if held in self.inside:
            names[slot] = frozenset([held])
            return ()
        return (Assign(slot, ops.identity, (value,), (), s.span),)

    def store(self, s: Store, names: Names) -> tuple[Statement, ...] | None:
        name = self.object_of(s.object, names)
        if s.object in self.parts:
            self.stored.add(self.parts[s.object])
        if name not in self.inside or s.key is None:
            return None
        made = self.made[name]
        attribute = _word(made, s.key)
        if made.op in (ops.make_list, ops.make_dict) and _is_code(s.value):
            return None
        if attribute is None or s.op is not None and made.op not in (ops.make_dict, ops.make_list):
            return None
        if s.op is not None:
            slot = self.slot(name, attribute)
            self.let_out(slot, names)
            self.let_out(s.value, names)
            self.read.add((name, slot))
            return (Assign(slot, ops.augmented(s.op), (slot, s.value), (), s.span),)
        kind = found_in_class(_class(made), attribute)[0] if made.op in (ops.new_object, ops.make_struct) else ""
        if kind and not (kind == "data" and attribute in self.assigned):
            return None  # a property, or what hides something of the class
        return self.put(name, attribute, s.value, s, names)

    def slots_of(self, name: str) -> frozenset[str]:
        """The variables that the attributes of an object that is given would become."""
        return frozenset(self.slot(name, n) for n in (*_parts(self.given[name]), *self.new.get(name, ())))

    def as_given(self) -> Iterator[Assign]:
        """The variables with what the attributes are before the function sets them."""
        owned = [
            (path, word)
            for path in self.inside & self.given.keys()
            for word in _parts(self.given[path])
            if self.slot(path, word) in self.owned
        ]
        held = {path: self.object(path) for path, _ in owned}
        for path in self.given:
            if path in self.asked:
                base, _, word = path.rpartition(".")
                yield self.part(self.object(path), base, word)
            for word in [w for p, w in owned if p == path]:
                yield self.part(self.slot(path, word), path, word, held[path])

    def part(self, name: str, path: str, word: str, held: str = "") -> Assign:
        """The statement that gives a name to a part of what is given."""
        t = self.given[path]
        op, key = builtins.getattr, Const(word)
        if not isinstance(t, Struct):
            op, key = operator.getitem, Const(int(word) if isinstance(t, Sequence) else word)  # type: ignore[assignment]
        return Assign(name, op, (held or self.object(path), key), (), NOWHERE)

    def object(self, path: str) -> str:
        """The variable that an object is which is given, or a part of one."""
        base, _, word = path.rpartition(".")
        if base and path not in self.asked:
            self.asked.add(path)
            self.object(base)
        hint = f"{base.rpartition('.')[2]}_{word}" if word.isdigit() else word
        return path if not base else f"{hint}'{path.replace('.', '_')}'given"

    def fill(self, s: Effect, names: Names) -> tuple[Statement, ...] | None:
        """What is put into a list that is given is nothing where nobody asks for what is in it."""
        name = self.object_of(s.args[0], names)
        if name not in self.inside or not isinstance(self.given.get(name), Sequence):
            return None
        self.filled.add(name)
        return ()

    def take(self, s: Assign, name: str, word: str, names: Names) -> tuple[Statement, ...]:
        self.asked_of.add((name, word))
        slot = self.slot(name, word)
        if name in self.given and slot not in self.owned and word in _parts(self.given[name]):
            names.pop(s.target, None)
            if (path := f"{name}.{word}") in self.inside:
                names[s.target] = frozenset([path])
                return ()
            self.parts[s.target] = slot
            return (replace(s, args=(self.object(name), *s.args[1:])),)
        self.read.add((name, slot))
        held = self.object_of(slot, names)
        names.pop(s.target, None)
        if held in self.inside:
            names[s.target] = frozenset([held])
            return ()
        return (replace(s, op=ops.identity, args=(slot,)),)

    def answer(self, s: Assign, name: str, names: Names) -> bool | None:
        """What a question about an object has for an answer, as it is one of a known class, and no other one."""
        if s.op in (operator.is_, operator.is_not) and self.object_of(s.args[1], names) in self.inside:
            return (self.object_of(s.args[1], names) == name) is (s.op is operator.is_)
        if s.op in (operator.is_, operator.is_not) and s.args[1] == Const(None):
            return s.op is operator.is_not
        if s.op is builtins.isinstance and isinstance(s.args[1], Const):
            return issubclass(_class(self.made[name]), s.args[1].value)
        return None

    def assumed(self, s: Assign | Effect, names: Names) -> tuple[Statement, ...] | None:
        """What was written for an object of this class holds."""
        fact, name = s.args[0].value, self.object_of(s.args[1], names) if len(s.args) == 2 else None  # type: ignore[union-attr]
        if name not in self.inside:
            return None
        if _class(self.made[name]) in (dict, list):
            self.asked_of.add((name, fact.kind))
            return () if fact.kind == "unroll" and fact.value == len(self.made[name].args) else None
        t = Struct(_class(self.made[name]), (), ())
        if fact.kind == "classes":
            return () if instance_of(t, fact.value) else None
        about, answer = fact.value if fact.kind == "answers" else (None, None)
        return () if isinstance(about, (type, tuple)) and instance_of(t, about) == answer else None

    def opaque(self, s: Opaque, names: Names) -> tuple[Statement, ...] | None:
        """Code that is carried along, where all it does with objects is to read their attributes."""
        found = {text: self.object_of(atom, names) for text, atom in s.reads}
        held = {text: name for text, name in found.items() if name in self.inside}
        if not held or any(
            isinstance(n, ast.Try) for n in ast.walk(s.tree)
        ):  # where an attribute that is not there is caught
            return None
        reader = _Attributes(held)
        tree = reader.visit(copy.deepcopy(s.tree))
        slots = {word: self.slot(held[text], attribute) for (text, attribute), word in reader.words.items()}
        if any(n.id in held for n in ast.walk(tree) if isinstance(n, ast.Name)):
            return None
        if any(names.get(slot, ELSE) != ELSE for slot in slots.values()):
            return None
        self.read |= {(held[text], slots[word]) for (text, _), word in reader.words.items()}
        for atom in (atom for text, atom in s.reads if text not in held):
            self.let_out(atom, names)
        for name in defines(s):
            names.pop(name, None)
        kept = tuple(pair for pair in s.reads if pair[0] not in held)
        return (replace(s, tree=tree, text=ast.unparse(tree), reads=(*kept, *slots.items())),)

    # ---------------------------------------------------------- control flow
    def branch(self, s: If, names: Names) -> If:
        self.let_out(s.test, names)
        ends: list[Names] = []
        arms = []
        for arm in (s.then, s.orelse):
            inner = dict(names)
            arms.append(self.block(arm, inner))
            ends += [] if leaves(arm) else [inner]
        after = _joined(*ends) if len(ends) == 2 else ends[0] if ends else names
        names.clear()
        names.update(after)
        return replace(s, then=arms[0], orelse=arms[1])

    def loop(self, s: For | While, names: Names) -> For | While:
        if isinstance(s, For):
            self.let_out(s.iterable, names)
        while True:
            at_head = dict(names)
            if isinstance(s, While):
                head = self.block(s.head, at_head)
                self.let_out(s.test, at_head)
            inner = dict(at_head)
            if isinstance(s, For):
                inner.pop(s.target, None)
            body = self.block(s.body, inner)
            joined = _joined(names, inner)
            if joined == names:
                break
            names.update(joined)
        names.clear()
        names.update(at_head)
        return replace(s, body=body) if isinstance(s, For) else replace(s, head=head, body=body)


def _joined(a: Names, b: Names) -> Names:
    """What names may stand for behind two paths."""
    return {name: a.get(name, ELSE) | b.get(name, ELSE) for name in (*a, *(n for n in b if n not in a))}


class _Attributes(ast.NodeTransformer):
    """Puts names of their own in place of the attributes of some names."""

    def __init__(self, names: dict[str, str]):
        self.names = names
        self.words: dict[tuple[str, str], str] = {}

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        if isinstance(node.value, ast.Name) and node.value.id in self.names and isinstance(node.ctx, ast.Load):
            word = self.words.setdefault((node.value.id, node.attr), f"{node.value.id} {node.attr}")
            return ast.copy_location(ast.Name(word, ast.Load()), node)
        return self.generic_visit(node)
