"""The table that lectures draw on the blackboard: each value, its local derivatives, its adjoint."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc.analysis.program import Program
from tangentc.analysis.types import Types
from tangentc.backend.expressions import BINARY, COMPARE, UNARY
from tangentc.backend.load import load, print_program
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Const, Function, Global, Param, version_base
from tangentc.core.types import is_differentiable
from tangentc.core.values import is_array, type_of
from tangentc.derivative import Derivative
from tangentc.derive.calls import adjoints, covering, partials
from tangentc.errors import BadArgument, TangentcError
from tangentc.frontend.callables import fit, python_function
from tangentc.inspection.observe import Node, Recorder, Site, compiled, is_object, watching
from tangentc.inspection.trace import folded
from tangentc.rules.registry import REGISTRY
from tangentc.simplify.algebra import simplify as peephole
from tangentc.watch.summary import Summary
from tangentc.watch.tables import Shown, Table, number

MOST_PATHS = 8
MOST_NODES = 400  # of a graph whose paths are listed


@dataclass(frozen=True)
class Partial:
    """A local derivative: of a node in one of those that it is computed from.

    ``formula`` says it in nodes; ``value`` is the number, for an array those of its entries.  Of an operation that is
    not elementwise the formula is the contribution to the adjoint, and ``value`` None.
    """

    of: str
    by: str
    formula: str
    value: Any

    def __str__(self) -> str:
        if self.value is None:
            return f"{self.by}_bar += {self.formula}"
        shown = brief_of(self.value)
        formula = "" if self.formula == shown else f"{self.formula} = "
        return f"d{self.of}/d{self.by} = {formula}{shown}"


@dataclass(frozen=True)
class Path:
    """A way from an input to the result, with the product of the local derivatives along it."""

    nodes: tuple[str, ...]
    factors: tuple[float, ...]

    @property
    def product(self) -> float:
        return float(np.prod(self.factors))

    def __str__(self) -> str:
        steps = " ".join(f"d{a}/d{b}" for a, b in zip(self.nodes, self.nodes[1:]))
        factors = " * ".join(f"({number(f)})" if f < 0 else number(f) for f in self.factors)
        return f"{steps} = {factors} = {number(self.product)}"


class Explanation(Shown):
    """The values of a function, and how its derivatives come about; see `explain`.

    ``nodes`` are all the values in their order, those of the arguments first; ``label(node)`` is w1, w2, ...;
    ``result`` is the value of the function, ``gradients`` its derivatives by the names of the arguments.
    """

    def __init__(
        self, name: str, nodes: list[Node], loops: list[str], result: Any, gradients: dict[str, Any], wrt: str,
        objects: frozenset[str] = frozenset()
    ):  # fmt: skip
        self.name, self.nodes, self.loops, self.result, self.gradients = name, nodes, loops, result, gradients
        self.wrt, self._objects = wrt, objects
        self._partials: dict[int, list[Partial]] = {}
        leaves = {path: leaf for name, g in gradients.items() for path, leaf in leaves_of(name, g, name in objects)}
        for node in nodes:  # those of the arguments are what the gradient gives
            if node.site is None:
                node.adjoint = leaves.get(node.name)

    @staticmethod
    def label(node: Node | int) -> str:
        """w1, w2, ..."""
        return f"w{(node if isinstance(node, int) else node.number) + 1}"

    @staticmethod
    def name_of(node: Node) -> str:
        """What the user calls a value: ``h``, ``u[1:-1]``; "" for what stands inside an expression."""
        if node.site is None or not node.name.startswith("%"):
            return node.name if node.site is None else node.name.split(".")[0]
        is_part = getattr(node.site.op, "__name__", "") == "getitem"
        return node.site.written.get(node.name, "") if is_part else ""

    def expression(self, node: Node) -> str:
        """What a node is computed by, in nodes: ``w2 * w3``."""
        if node.site is None:
            return node.name
        return _stored(node, self.label) if node.site.is_store else ast.unparse(_expression(node, self.label))

    def partials(self, node: Node) -> list[Partial]:
        """The local derivatives of a node in the nodes that it is computed from."""
        if node.number not in self._partials:
            self._partials[node.number] = list(_partials(node, self.label))
        return self._partials[node.number]

    def paths(self, wrt: str) -> list[Path]:
        """The paths from an argument to the result, for a function of numbers; the sum of their products is the
        derivative."""
        end = next((n for n in reversed(self.nodes) if n.site is not None and n.adjoint is not None), None)
        starts = self._inputs(wrt)
        if not starts:
            raise BadArgument(f"{wrt!r} is not an argument that moves", why="paths begin at one", way_out="name one")
        if end is None or len(self.nodes) > MOST_NODES or any(is_array(n.value) for n in self.nodes):
            return []
        found: list[Path] = []

        def go(node: Node, names: tuple[str, ...], factors: tuple[float, ...]) -> None:
            if node in starts:
                found.append(Path(names, factors))
                return
            if len(found) > 1000:
                return
            for p in self.partials(node):
                if p.value is not None:
                    go(self.nodes[int(p.by[1:]) - 1], (*names, p.by), (*factors, float(p.value)))

        go(end, (self.label(end),), ())
        return found

    def _inputs(self, wrt: str) -> list[Node]:
        """The nodes of an argument: one, or one for each number in a container."""
        inside = f"{wrt}[", f"{wrt}."
        return [n for n in self.nodes if n.site is None and (n.name == wrt or n.name.startswith(inside))]

    def table(self) -> Table:
        """A row for each node; of a loop of many trips the first two and the last."""
        headings = ("node", "name", "expression", "value", "local derivatives", "adjoint", "line")
        table = Table(f"{self.name} = {brief_of(self.result)}", headings, numbers=frozenset({6}), below=(3, 4, 5))
        for node in folded(self.nodes, self.loops):
            if isinstance(node, str):
                table.rows.append(node)
                continue
            derivatives = tuple(map(str, self.partials(node)))
            adjoint = "" if node.adjoint is None else brief_of(node.adjoint)
            expression = self.expression(node) if node.site is not None else ""
            line = str(node.site.span.line) if node.site is not None else ""
            name, value = self.name_of(node), brief_of(node.value)
            table.rows.append((self.label(node), name, expression, value, derivatives, adjoint, line))
        for name, gradient in self.gradients.items():
            leaves = leaves_of(name, gradient, name in self._objects)
            table.notes += [f"d{self.name}/d{path} = {brief_of(leaf)}" for path, leaf in leaves]
        inputs = self._inputs(self.wrt)
        paths = self.paths(self.wrt) if inputs else []
        if paths:
            start = f" = {self.label(inputs[0])}" if len(inputs) == 1 else ""
            table.notes += ["", f"The chain rule along each path from {self.wrt}{start}:"]
            table.notes += [f"  {p}" for p in paths[:MOST_PATHS]]
            if len(paths) > MOST_PATHS:
                table.notes.append(f"  ... {len(paths) - MOST_PATHS} paths more")
            if len(paths) > 1 and len(inputs) == 1:
                table.notes.append(f"  the sum is {number(sum(p.product for p in paths))}")
        return table


def explain(f: Callable[..., Any], *args: Any, wrt: str | None = None) -> Explanation:
    """What ``f`` computes at these arguments, and how the chain rule gives its derivatives.

    For each value there is a node (w1, w2, ...) with its expression, its local derivatives as formulas and as numbers,
    and its adjoint, as the emitted code computes it; for the argument ``wrt`` (the first, if it is not named) the
    product along each path.  ``f`` gives one number.  If no argument is a float, whole numbers are taken for floats.
    Raises what the gradient of ``f`` raises.

    >>> def cost(y, w, x, b):
    ...     return y - max(0, w * x + b)
    >>> table = explain(cost, 5, 2, 1, 1, wrt="w")
    >>> [(table.label(n), n.value, n.adjoint) for n in table.nodes[4:]]
    [('w5', 2.0, -1.0), ('w6', 3.0, -1.0), ('w7', 3.0, -1.0), ('w8', 2.0, 1.0)]
    >>> print(table.paths("w")[0])
    dw8/dw7 dw7/dw6 dw6/dw5 dw5/dw2 = (-1) * 1 * 1 * 1 = -1
    """
    given = tuple(args)
    if not any(is_differentiable(type_of(a)) for a in given):
        given = tuple(float(a) if type(a) is int else a for a in given)
    base = python_function(fit(f, given), "explain")
    plain: Derivative[..., Any] = Derivative(base, "value_and_grad")
    bound = plain.bind(given, {})
    names = list(inspect.signature(base).parameters)
    moving = tuple(k for k, a in enumerate(bound) if is_differentiable(type_of(a)))
    derivative: Derivative[..., Any] = Derivative(base, "value_and_grad", moving or 0)
    try:
        with derivative.as_run(bound):
            function, observed = compiled(derivative, bound)
    except TangentcError as error:
        raise error.with_traceback(None) from None
    recorder = Recorder(observed)
    own = [recorder.argument(n, a) for n, a in zip(names, bound, strict=True)]
    with watching(recorder):
        result, gradients = function(*own)
    objects = frozenset(n for n, a in zip(names, bound) if is_object(a))
    named = dict(zip((names[k] for k in moving), gradients, strict=True))
    wanted = wrt or names[moving[0]]
    if wanted not in named:
        raise BadArgument(f"wrt={wrt!r} is not an argument that moves", why=f"those are {', '.join(named)}",
                          way_out="name one of them")  # fmt: skip
    return Explanation(base.__name__, recorder.nodes, observed.loops, result, named, wanted, objects)


SIGNS = {op: ast.unparse(ast.BinOp(ast.Name("a"), sign(), ast.Name("b")))[2:-2] for op, sign in BINARY.items()}


def brief_of(value: Any) -> str:
    """A number, or what an array is like: ``float64(50, 3) in [-1, 2.5], norm 12``."""
    s = Summary.of(value)
    if not is_array(value) or s.shape == () or s.minimum is None:
        return (
            number(value.item() if isinstance(value, np.generic) or is_array(value) else value)
            if s.shape == ()
            else s.text
        )
    if value.size <= 4:
        return np.array2string(np.asarray(value), precision=4, separator=", ").replace("\n", "")
    return f"{s.text} in [{number(s.minimum)}, {number(s.maximum)}], norm {number(s.norm)}"


def leaves_of(name: str, value: Any, is_object: bool = False) -> Iterator[tuple[str, Any]]:
    """The numbers and arrays in a gradient, with their paths: ``p['w']``, ``self.w``."""
    if isinstance(value, dict):
        for key, part in value.items():
            yield from leaves_of(f"{name}.{key}" if is_object or name == "self" else f"{name}[{key!r}]", part)
    elif isinstance(value, (list, tuple)):
        for k, part in enumerate(value):
            yield from leaves_of(f"{name}[{k}]", part)
    elif value is not None:
        yield name, value


# ------------------------------------------------------------------ expressions
def _expression(node: Node, label: Callable[[int], str]) -> ast.expr:
    """The operation of a node, on nodes."""
    site = node.site
    assert site is not None
    atom = _atoms(node, label)
    args = [atom(a) for a in site.args]
    if site.op in BINARY and len(args) == 2:
        return ast.BinOp(args[0], BINARY[site.op](), args[1])
    if site.op in UNARY and len(args) == 1:
        return ast.UnaryOp(UNARY[site.op](), args[0])
    if site.op in COMPARE and len(args) == 2:
        return ast.Compare(args[0], [COMPARE[site.op]()], [args[1]])
    if getattr(site.op, "__name__", "") == "getitem":
        return ast.Subscript(args[0], _key(site.args[1], atom))
    keywords = [ast.keyword(k, atom(v)) for k, v in site.keywords]
    return ast.Call(ast.Name(name_of(site.op)), args, keywords)


def _stored(node: Node, label: Callable[[int], str]) -> str:
    """``a[k] = w5``."""
    assert node.site is not None
    text, (array, key, value) = _atoms(node, label), node.site.args
    target = ast.Subscript(ast.Name(str(array).lstrip("%").split(".")[0]), _key(key, text))
    sign = "" if node.site.op is None else SIGNS.get(node.site.op, node.site.op.__name__)
    return f"{ast.unparse(target)} {sign}= {ast.unparse(text(value))}"


def _atoms(node: Node, label: Callable[[int], str]) -> Callable[[Atom], ast.expr]:
    site = node.site
    assert site is not None
    parents = dict(zip(site.operands, zip(node.parents, node.operands)))

    def text(atom: Atom) -> ast.expr:
        if isinstance(atom, Const):
            return _constant(atom.value)
        if isinstance(atom, Global):
            return ast.Name(atom.name)
        parent, value = parents.get(atom, (None, None))
        if parent is not None:
            return ast.Name(label(parent))
        if isinstance(value, (bool, int, float, str)):
            return ast.Constant(value)
        return ast.parse(site.written.get(atom, atom.lstrip("%").split(".")[0]), mode="eval").body

    return text


def _constant(value: Any) -> ast.expr:
    if isinstance(value, (bool, int, float, complex, str, type(None))) or value is Ellipsis:
        return ast.Constant(value)
    if isinstance(value, tuple):
        return ast.Tuple([_constant(v) for v in value])
    return ast.Name(name_of(value))


def _key(atom: Atom, text: Callable[[Atom], ast.expr]) -> ast.expr:
    value = atom.value if isinstance(atom, Const) else None
    if isinstance(value, slice):
        return ast.Slice(*(None if v is None else ast.Constant(v) for v in (value.start, value.stop, value.step)))
    if isinstance(value, tuple):
        return ast.Tuple([_key(Const(v), text) for v in value])
    return text(atom)


def name_of(value: Any) -> str:
    name = getattr(value, "__name__", str(value))
    module = (getattr(value, "__module__", None) or "").split(".")
    if isinstance(value, np.ufunc) or module[0] == "numpy":
        return f"np.linalg.{name}" if "linalg" in module else f"np.{name}"
    return name


# ------------------------------------------------------------------ local derivatives
def _partials(node: Node, label: Callable[[int], str]) -> Iterator[Partial]:
    """The local derivatives of a node, by the rule of its operation, simplified as emitted code is."""
    site = node.site
    if site is None or site.op is None or site.is_store:
        return
    for k, parent in enumerate(node.parents):
        if parent is None or not is_differentiable(type_of(node.operands[k])):
            continue
        try:
            found = _partial(site, node, k, label)
        except TangentcError:
            continue
        if found is not None:
            yield found


def _partial(site: Site, node: Node, k: int, label: Callable[[int], str]) -> Partial | None:
    rule = REGISTRY.find(site.op)
    if rule is None or rule.kind == "zero":
        return None
    names = {
        a: label(p) if p is not None else a.lstrip("%").replace(".", "_") for a, p in zip(site.operands, node.parents)
    }
    own, mine = label(node.number), names[site.operands[k]]
    bar = f"{own}_bar"
    types = Types()
    for atom, value in zip(site.operands, node.operands):
        types.of_name[names[atom]] = type_of(value)
    types.of_name[own] = types.of_name[bar] = type_of(node.value)
    b = Builder(types, [*types.of_name], peephole)
    args = tuple(names.get(a, a) if isinstance(a, str) else a for a in site.args)
    keywords = tuple((n, names.get(a, a) if isinstance(a, str) else a) for n, a in site.keywords)
    s = Assign(own, site.op, args, keywords, site.span)
    call = covering(b, s, rule, lambda a: a == mine)
    flat = [a for _, atom in call.inputs for a in (atom if isinstance(atom, list) else [atom])]
    if mine not in flat:
        return None
    number_: Any = None
    if rule.kind == "elementwise":
        found = [partials(b, call, own, [j])[j] for j, (_, a) in enumerate(call.inputs) if a == mine]
        result = None
        for part in found:
            if part is not None:
                result = part if result is None else b.add(result, part)
    else:
        place = next(j for j, (_, a) in enumerate(call.inputs) if a == mine or isinstance(a, list) and mine in a)
        result = adjoints(b, call, own, bar, place)  # type: ignore[assignment]
        if isinstance(result, (list, tuple)):
            result = result[call.inputs[place][1].index(mine)]
    if result is None:
        return None
    params = tuple(Param(n) for n in types.of_name if n in (*names.values(), own, bar))
    function = Function("partial", params, tuple(b.out), result)
    program = Program(function, types, types.of(result), True, HOME)
    text = print_program([(program, HOME)])
    users = {names[a]: site.written.get(str(a), version_base(str(a)))
             for a, parent in zip(site.operands, node.parents) if parent is None}  # fmt: skip
    formula = _formula(text.text, users)
    if rule.kind == "elementwise":
        given = {names[a]: v for a, v in zip(site.operands, node.operands)} | {own: node.value, bar: 1.0}
        with np.errstate(all="ignore"):
            partial = load(text, __name__)
            partial.__globals__.update({a.name: a.lookup() for a in site.args if isinstance(a, Global)})
            number_ = partial(*(given[p.name] for p in params))
    return Partial(own, mine, formula, number_)


def _home() -> None:
    """Whose globals the formulas see."""


HOME: Any = _home


def _formula(text: str, users: dict[str, str]) -> str:
    """The result of an emitted function, with what is named before it in its place, and names as the user has them."""
    body = ast.parse(text).body[0].body  # type: ignore[attr-defined]
    put: dict[str, ast.expr] = {
        name: ast.parse(written.lstrip("%"), mode="eval").body for name, written in users.items()
    }

    class Put(ast.NodeTransformer):
        def visit_Name(self, node: ast.Name) -> ast.expr:
            return put.get(node.id, node)

    lines = []
    for s in body:
        if isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant):
            continue
        s = Put().visit(s)
        if isinstance(s, ast.Assign) and isinstance(s.targets[0], ast.Name):
            put[s.targets[0].id] = s.value
        else:
            lines.append(ast.unparse(s))
    result = lines[-1].removeprefix("return ")
    return result if len(lines) == 1 else f"{result} where {'; '.join(lines[:-1])}"


__all__ = ["Explanation", "Partial", "Path", "explain"]
