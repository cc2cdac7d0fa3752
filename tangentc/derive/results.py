"""What a derivative gives: of which results it can be taken, and the adjoints as values of the caller's own."""

from __future__ import annotations

import ast
import builtins
import functools
import operator

import numpy as np

from tangentc import runtime
from tangentc.analysis.array_results import is_in_form
from tangentc.analysis.fits import may_raise
from tangentc.analysis.paths import WHOLE, Paths, leaf_paths, word_for
from tangentc.analysis.paths import parts as parts_of
from tangentc.analysis.program import Program
from tangentc.core import ops
from tangentc.core.build import Builder, build_container
from tangentc.core.naming import shown
from tangentc.core.nodes import (
    AFTERWARDS,
    Assign,
    Atom,
    Block,
    Const,
    Effect,
    Function,
    Op,
    Opaque,
    Statement,
    version_base,
)
from tangentc.core.splice import renamed
from tangentc.core.tangents import is_plain, steps
from tangentc.core.types import (
    Array,
    Known,
    Scalar,
    Struct,
    Tuple,
    Type,
    Unknown,
    components,
    describe,
    is_complex,
    is_container,
    is_differentiable,
    is_long,
    rank,
)
from tangentc.core.values import SIGHT
from tangentc.core.walk import all_defines, all_reads, defines, joins_of, statements, transform
from tangentc.derive.demand import adjoint_at, as_tree, part_at
from tangentc.derive.parts import Adjoint, bar_name, get_part
from tangentc.derive.reverse import Sweeps
from tangentc.derive.shadows import allocates, copies
from tangentc.errors import NeverReturns, NotScalar
from tangentc.simplify.dead import dead

PUT_TOGETHER = {ops.make_tuple: 0, ops.make_list: 0, ops.make_dict: 1, ops.make_struct: 2}  # what comes before items
WHOLE_VIEWS = (np.squeeze, np.reshape, np.ravel, np.transpose, np.swapaxes, np.moveaxis, np.expand_dims)


def kept_results(b: Builder, program: Program, result: Atom) -> tuple[tuple[Statement, ...], Atom]:
    """The result as it is before the adjoint sweep, which puts arrays and containers back to what they were."""
    t = b.type(result)
    if isinstance(t, Scalar) or not isinstance(result, str) or not program.aliases.is_changed(result):
        return (), result
    name = b.fresh(f"{shown(result)}_kept")
    b.types.of_name[name] = t
    return (Assign(name, copies(t), (result,), (), AFTERWARDS),), name


def with_unused(primal: Block, program: Program) -> Block:
    """The primal sweep, in which what the value does not need, but may raise, is run all the same."""
    needed = {n for s in statements(dead(program.function, program.types, program.aliases).body) for n in defines(s)}
    run: set[str] = set()  # for its effect
    reached: set[Atom] = set(needed)  # what is computed anyway
    for s in reversed(list(statements(program.function.body))):
        if isinstance(s, Assign) and s.target not in needed:
            if s.target not in reached and may_raise(s, program.types):
                run.add(s.target)
            if s.target in reached or s.target in run:
                reached.update(s.atoms)

    def rewrite(s: Statement) -> tuple[Statement, ...]:
        if isinstance(s, Assign) and s.target in run:
            return Effect(s.op, s.args, s.keywords, s.span), s
        return (s,)

    return transform(primal, rewrite) if run else primal


def part_or_paths(b: Builder, bar: Atom, t: Type, path: str, function: Function) -> Atom:
    """Of the gradient of an object the part at a path; of an object of a plain class a dict of its paths."""
    keys, t = steps(t, path, function.name)
    bar = functools.reduce(functools.partial(get_part, b), keys, bar)
    if not is_plain(t):
        return bar
    found: dict[str, Atom] = {}
    stack: list[tuple[str, Atom, Type]] = [("", bar, t)]
    while stack:
        prefix, atom, kind = stack.pop(0)
        if isinstance(kind, Struct) and is_plain(kind):
            parts = [
                (f"{prefix}{n}.", get_part(b, atom, n), p)
                for n, p in zip(kind.fields, kind.items, strict=True)
                if is_differentiable(p) and n not in SIGHT.get().written
            ]
            stack = parts + stack
        else:
            found[prefix[:-1]] = atom
    return b.emit(ops.make_dict, (Const(tuple(found)), *found.values()), name="%self_bar")


def hooked(b: Builder, results: list[Atom], of: list[tuple[str, str]], ready: tuple[Op, ...]) -> list[Atom]:
    """Gradients of parts of parameters; where there are hooks, with what the first one gives in place of each array or
    number in them that has a name in the text.  The second one is called behind them."""
    if ready:
        ways = [".".join(filter(None, way)) for way in of]
        results = [_hooked(b, bar, way, ready[0]) for bar, way in zip(results, ways, strict=True)]
    b.out += [Effect(ops.Hook(wait, Known(Const(None))), (), (), AFTERWARDS) for wait in ready[1:]]
    return results


def _hooked(b: Builder, bar: Atom, path: str, hook: Op) -> Atom:
    made = b.definitions.get(str(bar))
    if made is None or made.op not in PUT_TOGETHER or not is_container(b.type(bar)):
        if not isinstance(bar, str) or not is_differentiable(b.type(bar)):
            return bar
        word = path.rpartition(".")[2]
        name = bar_name(word if word.isidentifier() else path.replace(".", "_"))
        return b.emit(ops.Hook(hook, b.type(bar)), (bar, Const(path)), name=name)
    count = PUT_TOGETHER[made.op]
    parts = made.args[count:]
    keys = made.args[count - 1].value if count else range(len(parts))
    new = [_hooked(b, part, f"{path}.{key}", hook) for key, part in zip(keys, parts, strict=True)]
    return b.emit(made.op, (*made.args[:count], *new), made.keywords, name=str(bar))


def check_result(program: Program) -> None:
    """Refuse a function whose value is computed from something that is never there: its derivative would be zero."""
    if isinstance(program.result, Known) and program.result.value is ops.UNDEFINED:
        raise NeverReturns(
            f"what {program.function.name} returns has no type", program.function.span,
            why="it is computed from something into which nothing was put, or is never there",
            way_out="call the function itself to see whether it raises, or start from a number",
        )  # fmt: skip


def check_scalar(program: Program, t: Type) -> None:
    function = program.function
    if isinstance(t, Scalar) and np.dtype(t.dtype).kind == "f" or isinstance(t, Unknown):
        return
    if isinstance(t, Array) and all(d == 1 for d in t.shape) and np.dtype(t.dtype).kind == "f":
        return  # an array of one entry is one number
    span = next(
        (
            s.span
            for s in reversed(list(statements(function.body)))
            if isinstance(s, Assign) and s.target == function.result
        ),
        function.span,
    )
    if isinstance(t, (Scalar, Array)) and np.dtype(t.dtype).kind == "c":
        raise NotScalar(
            f"{function.name} returns a complex number", span, why="a gradient is that of a real function",
            way_out="return its real part, or its squared modulus, or use tangentc.vjp",
        )  # fmt: skip
    if isinstance(t, Scalar) and np.dtype(t.dtype).kind in "biu":
        kind = "a truth value" if np.dtype(t.dtype).kind == "b" else f"an integer ({describe(t)})"
        raise NotScalar(
            f"{function.name} returns {kind}, and grad needs one real number", span,
            why="it does not move by a little", way_out="return a real number, float(...) of it where it is one",
        )  # fmt: skip
    if isinstance(t, Known) and t.value is ops.UNDEFINED:
        ways = [s for s in statements(function.body) if isinstance(s, Opaque) and isinstance(s.tree, ast.Raise)]
        called = (program.source.__globals__.get(name) for name in program.source.__code__.co_names)
        if not ways and any(f is program.source for f in called):
            raise NotScalar(
                f"{function.name} calls itself on every way through it", function.span,
                why="no call of it ever returns", way_out="return something before the call where it is to end",
            )  # fmt: skip
        raise NeverReturns(
            f"{function.name} never returns for arguments of these types", ways[0].span if ways else function.span,
            why=": ".join(["every way through it ends in an error", *(ast.unparse(s.tree) for s in ways[:1])]),
            way_out="call the function itself to see which",
        )  # fmt: skip
    way_out = "sum the result, or use tangentc.vjp or tangentc.adjoint with a seed for it"
    if isinstance(t, Tuple) and len(t.items) == 2 and rank(t.items[0]) == 0:
        way_out = "say has_aux=True, if it is a value and what goes along with it, or use tangentc.vjp with a seed"
    elif isinstance(t, Struct) and program.source.__name__ == t.cls.__name__:
        way_out = "differentiate a function that makes the object and returns a number of it"
    if isinstance(t, Known):
        way_out = "return a number" + ": a `return` may be missing" * (t.value is None)
    raise NotScalar(
        f"{function.name} returns {describe(t)}, and grad needs one number", span,
        why="a gradient belongs to a function whose value is a scalar", way_out=way_out,
    )  # fmt: skip


def seed_type_of(t: Type) -> Type:
    """The type of the seed 1.0, a Python number."""
    return Scalar(t.dtype, True) if isinstance(t, Scalar) else Scalar("float64", True) if isinstance(t, Array) else t


def final(sweeps: Sweeps, name: str, active: Paths) -> Atom:
    """The gradient of one parameter, in arrays of its own, in the parameter's shape and structure; ``active`` are the
    parts that something reaches, and all others are zero."""
    return finals(sweeps, name, WHOLE, active)[0]


def finals(sweeps: Sweeps, name: str, paths: Paths, active: Paths = WHOLE) -> list[Atom]:
    """The same of parts of a parameter."""
    adj, b = sweeps.adjoints, sweeps.builder
    shadowed = adj.shadow_key(name) in adj.shadows
    bar, t = adj.take(name), b.type(name)
    if isinstance(bar, str) and parts_of(t) is not None and leaf_paths(t) != active != WHOLE:
        bar = as_tree(active, [adjoint_at(b, bar, path) for path in active])  # type: ignore[misc]
        shadowed = False
    parts = [(adjoint_at(b, bar, path), part_at(b, name, path), path) for path in paths]
    return [_final(sweeps, part, x, word_for(name, t, path), shadowed) for part, x, path in parts]


def _final(sweeps: Sweeps, bar: Adjoint | None, x: Atom, name: str, shadowed: bool) -> Atom:
    adj, b = sweeps.adjoints, sweeps.builder
    t = b.type(x)
    if shadowed and is_container(t):
        assert isinstance(bar, str)
        return _called(sweeps, _in_form(sweeps, bar, x, name), bar_name(name))
    if is_container(t):
        return b.rename(_own_leaves(sweeps, adj.whole(bar, x), x), f"%{bar_name(name).lstrip('%')}")
    whole = adj.full(adj.whole(bar, x), x)
    if isinstance(t, Array) and not t.shape:  # a number: back into an array without axes
        return b.emit(np.full_like, (x, whole), name=bar_name(name))
    if isinstance(t, Unknown) and isinstance(whole, Const):
        return b.emit(runtime.unbroadcast, (whole, x), name=bar_name(name))
    if isinstance(t, Scalar) and not t.weak and isinstance(b.type(whole), Scalar) and b.type(whole).dtype != t.dtype:
        return b.emit(np.dtype(t.dtype).type, (whole,), name=bar_name(name))
    if is_complex(t) and isinstance(t, Scalar) and not is_complex(b.type(whole)):
        return b.emit(builtins.complex, (whole,), name=bar_name(name))
    if isinstance(whole, Const):
        return whole
    if isinstance(t, Scalar) and isinstance(b.type(whole), Array):
        return b.emit(operator.getitem, (whole, Const(())), name=bar_name(name))
    if isinstance(t, Scalar) and t.weak and getattr(b.type(whole), "dtype", "") in ("float16", "float32"):
        return b.emit(builtins.float, (whole,), name=bar_name(name))
    if not shadowed:
        whole = _own_array(sweeps, whole, t, name)
    return _called(sweeps, b.rename(whole, bar_name(name)), bar_name(name))


def _called(sweeps: Sweeps, x_bar: Atom, name: str) -> Atom:
    """The gradient under its name, where it has that of the adjoint of a later version of the parameter."""
    b, mirrored = sweeps.builder, sweeps.adjoints.mirror.values()
    if not isinstance(x_bar, str) or x_bar in mirrored or x_bar == name:
        return x_bar
    used = all_reads((*sweeps.primal, *b.out)) | all_defines((*sweeps.primal, *b.out)) | sweeps.params
    base = version_base(x_bar)
    if not base.endswith("_bar") or bar_name(version_base(base.removesuffix("_bar"))) != name or name in used:
        return x_bar
    b.out[:] = renamed(tuple(b.out), {x_bar: name}, {x_bar: name})
    b.types.of_name[name] = b.types.of_name[x_bar]
    b.renamed[x_bar] = name
    sweeps.given.add(name)
    return name


def _own_array(sweeps: Sweeps, x_bar: Atom, t: Type, name: str) -> Atom:
    """An array that is returned once, and that nobody else holds."""
    b, given = sweeps.builder, sweeps.given
    made = _made_anew(sweeps, x_bar)
    if isinstance(t, (Array, Unknown)) and not (made and given.isdisjoint(made)):
        x_bar = b.emit(copies(t), (x_bar,), name=bar_name(name))
        made = {x_bar}
    given.update(made or {x_bar})
    return x_bar


def _made_anew(sweeps: Sweeps, x_bar: Atom, met: frozenset[Atom] = frozenset()) -> set[Atom]:
    """The names of the arrays that an adjoint may be, if each is made for it alone; else none.  ``met`` are those that
    joins of control flow have made of it."""
    b = sweeps.builder
    made = b.maker(x_bar)
    if x_bar in sweeps.adjoints.own or made is not None and allocates(b, sweeps.adjoints.aliases, made):
        return {x_bar}
    if made is not None and made.op in WHOLE_VIEWS and isinstance(made.args[0], str) and not b.mutable(made.args[0]):
        return _made_anew(sweeps, b.current(made.args[0]), met)  # of which the view is all that is given
    joined = next((s for s in statements(b.out) if not isinstance(s, Assign) and x_bar in defines(s)), None)
    joins = joins_of(joined) if joined is not None else []
    found: set[Atom] = {x_bar}
    for arm in {arm for name, *arms in joins if name == x_bar for arm in arms} - {x_bar}:
        others = {a for name, *arms in joins if name != x_bar for a in arms}
        parts = _made_anew(sweeps, arm, met | {x_bar}) if arm not in others | met else set()
        if not parts:
            return set()
        found |= parts
    return found if joins else set()


def _in_form(sweeps: Sweeps, shadow: Atom, x: Atom, name: str) -> Atom:
    """A shadow as what an adjoint is given as: with tuples where ``x`` has tuples."""
    b = sweeps.builder
    return shadow if is_in_form(b.type(x)) else b.emit(runtime.shaped_like, (shadow, x), name=bar_name(name))


def _own_leaves(sweeps: Sweeps, whole: Atom, x: Atom) -> Atom:
    """A container whose arrays are all its own, the adjoint of ``x``."""
    b = sweeps.builder
    t = b.type(x)
    if is_long(t):
        given = whole in sweeps.given
        sweeps.given.add(whole)
        return b.emit(runtime.copied, (whole,)) if given or whole not in sweeps.adjoints.own else whole
    made = b.maker(whole)
    begun = b.definitions.get(str(whole))
    if begun is not None and begun.op is runtime.zeros_of and whole in sweeps.adjoints.own - sweeps.given:
        sweeps.given.add(whole)
        return _in_form(sweeps, whole, x, version_base(str(whole)).removesuffix("_bar"))
    if made is None or made.op not in (ops.make_tuple, ops.make_list, ops.make_dict, ops.make_struct):
        if made is not None and allocates(b, sweeps.adjoints.aliases, made) and whole not in sweeps.given:
            sweeps.given.add(whole)
            return whole  # what an emitted adjoint returns is nobody else's
        parts = [get_part(b, whole, key) for key, _ in components(t)]
    else:
        parts = list(made.args[len(made.args) - len(list(components(t))) :])
    owned = []
    for atom, (key, part) in zip(parts, components(t), strict=True):
        if is_container(part):
            owned.append(_own_leaves(sweeps, atom, get_part(b, x, key)))
        elif isinstance(atom, str) and isinstance(part, (Array, Unknown)) and is_differentiable(part):
            shadowed = atom in sweeps.adjoints.shadow_names
            owned.append(atom if shadowed else _own_array(sweeps, atom, part, "%part"))
        else:
            owned.append(atom)
    return (
        whole
        if owned == parts and made is not None and made.op is not operator.getitem
        else build_container(b, t, owned)
    )
