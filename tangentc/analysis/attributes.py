"""Whether an object has an attribute yet where it is assigned: what is there has to be saved, and only that."""

from __future__ import annotations

import builtins
import inspect

from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, Statement, Store
from tangentc.core.walk import all_reads, blocks, statements

ADDS = {ops.append, ops.insert, ops.push, ops.reverse, builtins.print}


def first_stores(block: Block) -> set[int]:
    """The stores (by `id`) that give an attribute of a new object its first value: before them there is none."""
    found: set[int] = set()
    new: dict[Atom, tuple[type, set[str]]] = {}  # the objects that nothing else can know, and their attributes
    for s in block:
        match s:
            case Store(key=Const(value=ops.Attribute() as name)) if s.object in new and s.value not in new:
                cls, attributes = new[s.object]
                if name not in attributes and not _has_one(cls, name):
                    found.add(id(s))
                attributes.add(name)
            case Assign(op=builtins.getattr) if s.args[0] in new:
                pass
            case _:
                for read in all_reads((s,)):
                    new.pop(read, None)
        if isinstance(s, Assign) and s.op is ops.new_object:
            new[s.target] = s.args[0].value, set()
        for inner in blocks(s):
            found |= first_stores(inner)
    return found


def _has_one(cls: type, name: str) -> bool:
    """Whether objects of a class have an attribute before it is assigned to them."""
    found = inspect.getattr_static(cls, name, None)
    return hasattr(cls, name) and not inspect.ismemberdescriptor(found) or hasattr(cls, "__getattr__")


def later_stores(block: Block, known: frozenset[tuple[Atom, str]] = frozenset()) -> set[int]:
    """The stores (by `id`) to attributes that have been read or assigned before, and so are there for certain."""
    found: set[int] = set()
    for s in block:
        match s:
            case Store(key=Const(value=ops.Attribute() as name)):
                if (s.object, name) in known:
                    found.add(id(s))
                known |= {(s.object, str(name))}
            case Assign(op=builtins.getattr, args=(of, Const(value=name))):
                known |= {(of, name)}
        if any(map(_may_delete, statements((s,)))):
            known = frozenset()
        for inner in blocks(s):
            found |= later_stores(inner, known)
    return found


def _may_delete(s: Statement) -> bool:
    return isinstance(s, (Assign, Effect)) and s.op not in ADDS and not ops.is_pure(s.op)
