"""What a hook is given is made, and given to it, as soon as it may be.

    x_bar = y_bar @ w.T                    weight_bar = hook(x.T @ y_bar, "weight")
    ...                             ->     x_bar = y_bar @ w.T
    weight_bar = x.T @ y_bar               ...
    weight_bar = hook(weight_bar, "weight")

A statement moves up to behind the last one that makes, or changes, something that it reads.  Those move that give the
hook its argument, and that nothing else needs.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from dataclasses import replace

from tangentc.analysis.aliases import Aliases
from tangentc.analysis.program import Program, call_aliases
from tangentc.core import ops
from tangentc.core.nodes import Assign, Atom, Const, Effect, Function, Opaque, Statement
from tangentc.core.walk import all_changed_by, defines, reads, statements, with_body

FENCES = (ops.enter, ops.leave)  # what is computed between them stays there
LISTS = (ops.push, ops.pop)  # of which the sweeps save in, and take from
DEPTH = 20  # statements that stand behind one another where they have moved to
Place = tuple[int, ...]  # behind which statement of the old block, and behind which of those that have moved there


def early(program: Program) -> Function:
    """The function in which hooks are called early."""
    function = program.function
    moving = _moving(function)
    if not moving:
        return function
    root = _aliases(program).root
    fence: Place = (next(k for k, s in enumerate(function.body) if s.span.sweep == "adjoint"),)
    places: list[Place] = []
    made: dict[object, Place] = {}
    changed: dict[str, Place] = {}
    grown: dict[Atom, Place] = {}
    for k, s in enumerate(function.body):
        place: Place = (k,)
        if k in moving:
            names = [a for a in reads(s) if isinstance(a, str)]
            behind = max([fence, *(max(made.get(n, ()), changed.get(root(n), ()), grown.get(n, ())) for n in names)])
            place = (*behind, k) if len(behind) < DEPTH else place
        elif any(isinstance(x, Opaque) or getattr(x, "op", None) in FENCES for x in statements((s,))):
            fence = max(fence, place)
        places.append(place)
        made.update(dict.fromkeys(defines(s), place))
        for x in statements((s,)):
            if getattr(x, "op", None) in LISTS:  # what it holds stays as it is
                grown[x.args[0]] = place  # type: ignore[union-attr]
            else:
                changed.update(dict.fromkeys(map(root, _changed(x)), place))
    return with_body(function, tuple(s for _, s in sorted(zip(places, function.body, strict=True), key=_place)))


def _aliases(program: Program) -> Aliases:
    """What shares memory before the hooks are called: what they give is put together, and is not changed."""
    late: set[str] = set()
    body = []
    for s in program.function.body:
        if isinstance(getattr(s, "op", None), ops.Hook) or not late.isdisjoint(map(str, reads(s))):
            late.update(defines(s))
        else:
            body.append(s)
    return Aliases(replace(program.function, body=tuple(body), result=Const(None)), program.types, call_aliases)


def _place(pair: tuple[Place, Statement]) -> Place:
    return pair[0]


def _moving(function: Function) -> set[int]:
    """The statements of the outermost block that call a hook, or make its argument and nothing else."""
    uses = Counter(a for s in statements(function.body) for a in reads(s))
    uses[function.result] += 1
    inside: Counter[Atom] = Counter()
    hooks: dict[Atom, set[int]] = defaultdict(set)  # those that a value is for
    found = set()
    for k, s in reversed([*enumerate(function.body)]):
        if not isinstance(s, Assign) or s.span.sweep != "adjoint":
            continue
        own = {k} if isinstance(s.op, ops.Hook) else hooks[s.target] if uses[s.target] == inside[s.target] else set()
        if len(own) == 1 and (isinstance(s.op, ops.Hook) or _may_move(s)):
            found.add(k)
            inside.update(reads(s))
            for a in reads(s):
                hooks[a] |= own
    return found


def _may_move(s: Assign) -> bool:
    return ops.is_pure(s.op) and not ops.is_used_up(s.op) and not all_changed_by(s)


def _changed(s: Statement) -> set[str]:
    """The names of what a statement may change, those inside it left out."""
    found = set(all_changed_by(s))
    if isinstance(s, Effect) or isinstance(s, Assign) and not (ops.is_pure(s.op) or isinstance(s.op, ops.Hook)):
        found.update(a for a in reads(s) if isinstance(a, str))
    return found
