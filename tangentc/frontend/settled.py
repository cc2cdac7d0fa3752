"""What is settled once types are known, and what is refused because they left it open."""

from __future__ import annotations

import builtins
from dataclasses import replace

from tangentc.analysis.decide import refused
from tangentc.analysis.infer import MUTATING
from tangentc.analysis.joins import LISTED
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.classes import special
from tangentc.core.nodes import Assign, Const, Effect, Function, If, Opaque, While
from tangentc.core.types import SETTINGS, Array, Known, Struct, Type, Unknown, is_container, is_differentiable
from tangentc.core.types import Opaque as OpaqueType
from tangentc.core.types import Optional as OptionalType
from tangentc.core.walk import statements, substitute_block
from tangentc.errors import UnsafeMutation, UnsupportedSyntax
from tangentc.frontend.environments import Environment
from tangentc.frontend.typed.meaning import plain
from tangentc.ops import methods

GIVING_AND_CHANGING = frozenset(map(Const, methods.names(changes=True, gives_item=True)))


def holds_code(t: Type) -> bool:
    """Whether a value is a function, or holds one."""
    if isinstance(t, Known):
        return callable(t.value) and not isinstance(t.value, type)
    return is_container(t) and any(map(holds_code, t.items))


def holds_made_inside(t: Type) -> bool:
    """Whether a value is a function that is made while the program runs, or holds one."""
    if isinstance(t, Known):
        return ops.is_made_inside(t.value)
    return is_container(t) and any(map(holds_made_inside, t.items))


def is_code(t: Type) -> bool:
    """Whether a value is a function, which what is called with it is compiled for."""
    return isinstance(t, Known) and callable(t.value) or isinstance(t, Struct) and issubclass(t.cls, Environment)


def with_settings(function: Function, params: dict[str, Type]) -> Function:
    """The function with None, flags, texts and integers that are known, ``axis=None``, in place of their names: code
    is compiled for each of them."""
    given = {n: t.const for n, t in params.items() if isinstance(t, Known) and type(t.value) in SETTINGS}
    result = given.get(function.result, function.result) if isinstance(function.result, str) else function.result
    return replace(function, body=substitute_block(function.body, given), result=result) if given else function


def _refuse_named(program: Program, s: Assign | Effect) -> None:
    """Refuse an attribute of an object whose name only the run knows: it may be a method."""
    named = s.op is builtins.setattr or s.op is builtins.getattr and isinstance(program.types.of(s.args[0]), Struct)
    if named and not isinstance(s.args[1], Const):
        raise UnsupportedSyntax(
            f"{program.function.name} uses {s.op.__name__} of a name that is not known when compiling", s.span,
            why="there is no saying which attribute it means", way_out="write an `if` for each name",
        )  # fmt: skip


def _refuse_listed(program: Program, s: Assign | Effect) -> None:
    """Refuse to compute with what is a list on one path and an array on another: their adjoints differ."""
    for a in s.atoms:
        if s.op is not ops.identity and program.types.of(a) == Unknown(LISTED):
            raise UnsupportedSyntax(
                f"{program.function.name} uses {plain(a)}, which is a list on one path and an array on another",
                s.span, why="the adjoint of a list is a list, that of an array an array",
                way_out="make it an array before the paths part: np.array(...)",
            )  # fmt: skip


def refuse_open(program: Program) -> None:
    """Refuse what typing did not settle: a starred value of unknown length, a call of something unknown."""
    for p in program.function.params:
        if isinstance(t := program.types.of(p.name), Known) and program.aliases.points.is_changed(p.name):
            raise UnsafeMutation(
                f"{program.function.name} changes {p.name}, an object of {type(t.value).__name__}",
                program.function.span,
                why="only arrays, lists, dicts and objects of the user's classes are copied before they are changed",
                way_out="pass a dict, or make it inside",
            )  # fmt: skip
    for s in statements(program.function.body):
        if isinstance(s, (If, While)) and any(special(program.types.of(s.test), n) for n in ("__bool__", "__len__")):
            raise UnsupportedSyntax(
                f"{program.function.name} asks whether an object is true", s.span,
                why="its class decides, by __bool__ or __len__", way_out="call bool(...) or len(...)",
            )  # fmt: skip
        if isinstance(s, Opaque):
            _refuse_carried(program, s)
        if not isinstance(s, (Assign, Effect)):
            continue
        _refuse_named(program, s)
        _refuse_listed(program, s)
        if s.op is builtins.getattr and isinstance(program.types.of(s.args[0]), Array):
            name = getattr(s.args[1], "value", None)
            if name in MUTATING or str(name).startswith("__i") or name == "__setitem__":
                raise UnsafeMutation(
                    f"{program.function.name} takes the method {name} of an array as a value", s.span,
                    why="calls of it change the array, and would not be seen", way_out=f"call x.{name}(...) there",
                )  # fmt: skip
        made = [a for a in s.atoms if isinstance(t := program.types.of(a), Known) and ops.is_made_inside(t.value)]
        if made and ops.module_root(s.op) in ("numpy", "scipy"):
            raise UnsupportedSyntax(
                f"{program.function.name} gives a function that is made inside to {s.op.__name__}", s.span,
                why="its name stands for several functions", way_out="give each its own name",
            )  # fmt: skip
        if s.op is ops.spread or s.op is ops.call and s.args[0] == Const(None):
            what = "unpacks with a star something of unknown length, or makes a dict of unknown keys"
        elif (
            s.op is ops.call
            and not isinstance(t := program.types.of(s.args[0]), OpaqueType)
            and (isinstance(t, Unknown) or any(is_differentiable(program.types.of(a)) for a in s.atoms[1:]))
        ):
            what = "calls a value that is not known when compiling"
        elif (
            isinstance(s, (Assign, Effect))
            and s.op is ops.method
            and (isinstance(s, Effect) or s.args[1] in GIVING_AND_CHANGING)
            and isinstance(t := program.types.of(s.args[0]), Unknown)
            and not isinstance(t, (OpaqueType, OptionalType))
        ):
            what = f"calls the method {s.args[1].value} of a value of unknown type"
        else:
            continue
        raise UnsupportedSyntax(
            f"{program.function.name} {what}", s.span, why="which code runs would depend on the values",
            way_out="write the items out, or call a function by its name",
        )  # fmt: skip


def _refuse_carried(program: Program, s: Opaque) -> None:
    """Refuse code that is only carried along where it stands for what was refused, or cannot be carried along."""
    if (error := refused(s)) is not None:
        raise error
    if any(holds_made_inside(program.types.of(a)) for _, a in s.reads):
        raise UnsupportedSyntax(
            f"{program.function.name} uses a function that is made inside, in code that is only carried along",
            s.span, why="there is no translation of this construct into an adjoint yet",
            way_out="define it at the level of the module, or call it before",
        )  # fmt: skip
