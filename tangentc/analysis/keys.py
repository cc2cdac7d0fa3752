"""Dicts that are changed while something looks at all their keys, or their items: what is refused.

An adjoint goes through a dict in the order in which the program did.  Where its keys would stand in another order by
then, or a view of it show other items, nothing that is emitted would be right.
"""

from __future__ import annotations

import builtins
import operator

from tangentc.analysis.parts import gives_keys
from tangentc.analysis.points import Points, change_of
from tangentc.analysis.types import Types
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Block, Const, Effect, For, Function, Statement, Store, While
from tangentc.core.types import Dict, Sequence, Unknown
from tangentc.core.walk import blocks, statements
from tangentc.errors import UnsupportedSyntax

LENT = {builtins.enumerate, builtins.zip, builtins.reversed, builtins.iter, ops.identity, ops.once}
RUNNING = (Const("items"), Const("values"), Const("keys"))


def refuse_changes(function: Function, types: Types) -> None:
    """Raises `UnsupportedSyntax` where a dict that was run over gets or loses keys, or a view of it is read late."""
    points = Points(function, types)
    if points.changes:
        _refuse_reordering(function, types, points)
        _refuse_late_views(function, types, points)
        _refuse_new_keys(function, types, points)


def _refuse_new_keys(function: Function, types: Types, points: Points) -> None:
    """Refuse to give a dict new keys after a loop over it."""
    looped: set[str] = set()
    any_keys: set[str] = set()  # those of which only the program knows the keys
    keys = {p.name: set(getattr(types.of_name.get(p.name), "keys", ())) for p in function.params}
    for s in statements(function.body):
        if isinstance(s, Assign) and s.op is ops.make_dict:
            keys[s.target] = set(s.args[0].value)
        if (change := change_of(s)) is not None:
            new = {key for key, _ in change.puts if key != "*"}
            for place in points.places(change.container):
                is_dict = isinstance(types.of_name.get(place), (Dict, Unknown, type(None)))
                any_keys |= {place} if any(key == "*" for key, _ in change.puts) else set()
                if place in looped and is_dict and place not in any_keys and not new <= keys.get(place, new):
                    raise UnsupportedSyntax(
                        f"{function.name} gives a dict new keys after a loop over it", s.span,
                        why="which keys there are at the loop would depend on where it stands",
                        way_out="make a new dict: {**d, key: value}",
                    )  # fmt: skip
                keys.get(place, new).update(new)
        looped |= _run_over(s, points)


def _refuse_reordering(function: Function, types: Types, points: Points) -> None:
    """Refuse to take keys out of a dict that was run over before: put back, they would stand at its end."""
    seen: list[tuple[str, set[int]]] = []
    inside: dict[int, set[int]] = {}

    def go(block: Block, loops: set[int]) -> None:
        for s in block:
            inside[id(s)] = loops
            for b in blocks(s):
                go(b, loops | {id(s)} if isinstance(s, (For, While)) else loops)

    go(function.body, set())
    found = [(s, inside[id(s)]) for s in statements(function.body)]
    for s, loops in found:
        seen += [(place, loops) for place in _run_over(s, points)]
    before: set[str] = set()
    for s, loops in found:
        before |= _run_over(s, points)
        if not isinstance(s, (Assign, Effect)) or not s.args:
            continue
        takes = s.op is ops.take or s.op is ops.method and s.args[1] in (Const("pop"), Const("popitem"))
        places = points.places(s.args[0]) if takes else set()
        places = {p for p in places if getattr(types.of_name.get(p), "keys", None) or _has_keys(types, p)}
        if places & before or any(p in places and loops & around for p, around in seen):
            raise UnsupportedSyntax(
                f"{function.name} takes a key out of a dict that it has run over", s.span,
                why="the adjoint puts it back at the end, and would find the items in another order",
                way_out="make a new dict without the key, or run over sorted(d)",
            )  # fmt: skip


def _refuse_late_views(function: Function, types: Types, points: Points) -> None:
    """Refuse ``d.items()`` and ``d.values()`` that are looked at when the dict holds something else: what they
    give is what it held at first."""
    program = list(statements(function.body))
    views: dict[Atom, set[str]] = {}
    for s in program:
        if isinstance(s, Assign) and s.op is ops.method and s.args[1] in RUNNING and gives_keys(types.of(s.args[0])):
            views[s.target] = points.places(s.args[0])
        elif isinstance(s, Assign) and s.op in LENT and any(a in views for a in s.args):
            views[s.target] = set().union(*(views.get(a, set()) for a in s.args))
    for s in program:
        if isinstance(s, For) and s.iterable in views:
            _refuse_late(list(statements(s.body)), views[s.iterable], points, _keys_of(s))
    for k, s in enumerate(program):
        if isinstance(s, Assign) and s.target in views and not s.target.startswith("%"):
            _refuse_late(program[k:], views[s.target], points, set())


def _refuse_late(program: list[Statement], places: set[str], points: Points, keys: set[Atom]) -> None:
    for s in program:
        change = change_of(s)
        if change is None or places.isdisjoint(points.places(change.container)):
            continue
        if isinstance(s, Store) and s.key in keys:
            continue  # the item that has been looked at already
        raise UnsupportedSyntax(
            "a dict is changed while its items() or values() are in use", s.span,
            why="they show what it holds then, and not what it held before",
            way_out="loop over its keys, for k in list(d), and take d[k]",
        )  # fmt: skip


def _keys_of(loop: For) -> set[Atom]:
    """The names of the key in a loop over the items of a dict."""
    names: set[Atom] = set()
    for s in statements(loop.body):
        if isinstance(s, Assign) and (
            s.op is operator.getitem
            and s.args == (loop.target, Const(0))
            or s.op is ops.identity
            and s.args[0] in names
        ):
            names.add(s.target)
    return names


def _has_keys(types: Types, place: str) -> bool:
    t = types.of_name.get(place)
    return isinstance(t, Sequence) and t.kind is dict


def _run_over(s: Statement, points: Points) -> set[str]:
    if isinstance(s, For):
        return points.places(s.iterable)
    if isinstance(s, (Assign, Effect)) and s.op is ops.method and s.args[1] in RUNNING:
        return points.places(s.args[0])
    return set()
