"""The program after every pass, as Python that runs."""

from __future__ import annotations

import contextvars
import html
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tangentc.analysis.aliases import Aliases
from tangentc.arguments import own_copy
from tangentc.backend.arrays import Spelling
from tangentc.backend.emit import print_function
from tangentc.backend.highlight import block, fragment
from tangentc.backend.load import Text, load, print_program, spelled
from tangentc.backend.raise_ast import raise_function
from tangentc.compiler.context import Context
from tangentc.compiler.front import Front
from tangentc.core.nodes import Function
from tangentc.core.types import Unknown, describe
from tangentc.decorated import Differentiable
from tangentc.derivative import Derivative
from tangentc.inspection.facts import activity_of, shown

GROUPS = "read", "known", "derived", "made simple"


@dataclass(frozen=True)
class Stage:
    """The program after one pass: its name, what the pass did, and the text.

    ``run(*args)`` runs the text: a stage before the chain rule gives the value of the function, one after
    it the gradient.  A stage of facts has comments for a text and runs as the stage before it.  The stages are in four
    groups: the function is read, what is known of it is found, the chain rule is applied, and what comes out is made
    simple.
    """

    name: str
    does: str
    text: str
    group: str
    _load: Callable[[], Any] = field(repr=False, compare=False)
    _bind: Callable[..., Any] = field(repr=False, compare=False)

    @property
    def is_facts(self) -> bool:
        return self.group == GROUPS[1]

    @property
    def is_derivative(self) -> bool:
        return self.group in GROUPS[2:]

    def run(self, *args: Any, **keywords: Any) -> Any:
        """Run the text with arguments as the function itself takes them."""
        return self._load()(*map(own_copy, self._bind(args, keywords)))

    def __str__(self) -> str:
        return f"# {self.name}: {self.does}\n{self.text}"


class Stages(tuple):
    """The stages in order; prints as one text."""

    def __str__(self) -> str:
        out, group = [], ""
        for s in self:
            out += [f"# ---- {GROUPS.index(s.group) + 1} of {len(GROUPS)}: {s.group}"] * (s.group != group)
            out.append(str(s))
            group = s.group
        return "\n\n".join(out)

    def _repr_html_(self) -> str:
        """The text of each stage under its name, the last one open."""
        return "".join(
            f"<details{' open' * (s is self[-1])}><summary>{s.group}: <b>{s.name}</b>, {html.escape(s.does)}</summary>"
            f"{(block if k else fragment)(s.text)}</details>"
            for k, s in enumerate(self)
        )

    def __getitem__(self, key: Any) -> Any:
        """A stage by its position, or the last one of a name."""
        if isinstance(key, str):
            return next(s for s in reversed(tuple(self)) if s.name == key)
        return super().__getitem__(key)


def stages(f: Any, *args: Any, wrt: Any = 0) -> Stages:
    """The program after every pass of the compiler, for the gradient of ``f`` at arguments like these.

    ``f`` may be a function, a decorated one, or what `grad`, `value_and_grad` or `adjoint` gave, which
    brings its own ``wrt``.  Each stage prints as Python and runs.

    >>> def cube(x):
    ...     return x * x * x
    >>> [s.name for s in stages(cube, 2.0)][:2]
    ['lower', 'normalise']
    >>> float(stages(cube, 2.0)["reverse"].run(2.0))
    12.0
    """
    if isinstance(f, Differentiable):
        f = f.grad
    derivative = (f if isinstance(f, Derivative) else Derivative(f, "grad", wrt)).fitted(args, {})
    bound = derivative.bind(args, {})
    with derivative.as_run(bound):
        return _stages(derivative, bound)


def _stages(derivative: Derivative, bound: tuple) -> Stages:
    compiled = derivative.compiled(bound)
    types, seed = compiled.types, compiled.seed
    source = derivative.resolve(types)
    seen: list[tuple[str, str, Function, Any]] = []

    def note(*row: Any) -> None:
        if row[0] == "lower":  # begun again with what has been learned
            seen[:] = [r for r in seen if (r[2].name, r[2].span) != (row[2].name, row[2].span)]
        seen.append(row)

    compiles = compiled.text.is_compiled
    context = Context(Front(source, observer=note, checked=True, compiles=compiles), compiles=compiles)
    derivative.write(context, source, types, seed)
    final = print_program(context.emitted)
    pairs, last = context.emitted[:-1], context.emitted[-1][0].function
    root, own = last.name, {source.__name__, "lambda_", last.name}
    now = contextvars.copy_context()
    out: list[Stage] = []
    for name, does, function, known in seen:
        if function.name not in own or function.span != last.span:  # a function that is called
            continue
        text = plain_text(function, known, source, pairs)
        group = GROUPS[0] if function.name != root else GROUPS[2 if not out or out[-1].is_facts else 3]
        out.append(Stage(name, does, text.text, group, _loader(text, source), derivative.bind))
        if name == "own":
            out += _facts(context, source, types, derivative, out[-1])

    def last_of_all() -> Any:
        return now.run(derivative.compiled, bound).function

    does = "temporaries are folded, names are final, each line says what it differentiates"
    load_it = _loader(final, source) if compiles else last_of_all
    out.append(Stage("emit", does, final.text, GROUPS[3], load_it, derivative.bind))
    if compiles:
        does = "loops are functions of their own, which Numba compiles"
        out.append(Stage("kernels", does, compiled.text.whole, GROUPS[3], last_of_all, derivative.bind))
    return Stages(out)


def _loader(text: Text, source: Any) -> Callable[[], Any]:
    def loaded() -> Any:
        function = load(text, source.__module__)
        function.__globals__.update({name: atom.lookup() for name, atom in text.live.items()})
        return function

    return loaded


def plain_text(function: Function, types: Any, source: Any, pairs: list) -> Text:
    """A function in core form as Python, one operation a statement."""
    known: Any = types or _NoTypes()
    printed = print_program(pairs) if pairs else None
    spelling = Spelling({**source.__globals__, **_cells(source)})
    spelling.same = dict(printed.same) if printed else {}
    spelling.data = spelled([(_Holder(function), source)], set())
    tree = raise_function(function, known, Aliases(function, known) if types else None, spelling, set(), plain=True)
    own = print_function(tree).text
    called = printed.text + "\n\n" if printed and function.doc else ""
    globals_ = printed if called else None
    bindings = {**(globals_.bindings if globals_ else {}), **spelling.bindings}
    imports = tuple(sorted({*spelling.imports.values(), *(globals_.imports if globals_ else ())}))
    for name in source.__code__.co_names:
        if name in source.__globals__:
            bindings.setdefault(name, source.__globals__[name])
    bindings.update({k: v for k, v in _cells(source).items() if k not in bindings})
    live = {**(globals_.live if globals_ else {}), **{v: k for k, v in spelling.data.items()}}
    return Text(function.name, called + own, imports, bindings, live)


class _Holder:
    """A function where a program is expected."""

    def __init__(self, function: Function):
        self.function = function


def _cells(function: Any) -> dict[str, Any]:
    from tangentc.backend.load import _cells as cells

    return cells(function)


class _NoTypes:
    """Before types are known every value is unknown."""

    of_name: dict[str, Any] = {}

    def of(self, atom: Any) -> Any:
        return Unknown()


def _facts(context: Context, source: Any, types: list, derivative: Derivative, before: Stage) -> list[Stage]:
    """What the analyses found, a line a name."""
    program = context.prepare(source, types)
    wrt, _ = derivative.positions(types)
    activity = activity_of(context, program, wrt)
    known = [n for n in program.types.of_name if not n.startswith("%out")]
    lines = [f"# {shown(n)}: {describe(program.types.of_name[n])}" for n in known]
    shared = [f"# {shown(n)} shares memory with {shown(program.aliases.root(n))}" for n in known
              if program.aliases.root(n) != n]  # fmt: skip
    active = [f"# {shown(n)}" for n in known if n in activity.active]
    run = before._load, before._bind
    return [
        Stage("types", "what is known of each value", "\n".join(lines) + "\n", GROUPS[1], *run),
        Stage("aliases", "which names may be the same array", "\n".join(shared) + "\n", GROUPS[1], *run),
        Stage("activity", "the values that a derivative flows through", "\n".join(active) + "\n", GROUPS[1], *run),
    ]
