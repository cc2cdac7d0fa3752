"""The first statement of an adjoint sweep that is wrong."""

from __future__ import annotations

import inspect
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc.backend.tracebacks import place
from tangentc.core import ops, texts
from tangentc.core.draws import Draws
from tangentc.core.nodes import Const
from tangentc.core.types import is_differentiable
from tangentc.core.values import is_array, type_of
from tangentc.derivative import Derivative
from tangentc.errors import Span
from tangentc.frontend.callables import python_function
from tangentc.inspection.differences import DISAGREES, compare, sizes_of
from tangentc.inspection.explain import name_of
from tangentc.inspection.leaves import flatten
from tangentc.inspection.observe import Node, Recorder, Site, compiled, watching
from tangentc.inspection.which_pass import Changed, which_pass
from tangentc.rules.registry import REGISTRY
from tangentc.runtime import copied

MOST_NODES = 300


def first_wrong(f: Any, args: Sequence[Any], moving: Sequence[int], cotangent: Any, limit: float) -> str:
    """What the first statement of the adjoint sweep is whose adjoint differences do not confirm, '' if none is found.

    Where the adjoint is another one before a pass of the compiler, the statements are wrong that this pass has written.
    Else each value of the function is moved a little where it is made; the adjoint that the emitted code gives it is
    compared with how the result moves.  Going from the last to the first, the first that disagrees is a sum of what the
    operations add to it that it is given to.  It is moved for each of them alone, as arguments are: the first that adds
    something else than differences say is wrong.  If there is none, the sum is.
    """
    base = python_function(f, "check")
    run = _Run(base, args, moving, cotangent)
    if changed := which_pass(run.weighted, tuple(args), lambda result: list(flatten(result[1]))):
        return run.of_a_pass(changed)
    until = time.monotonic() + limit
    run.look()
    wrong = run.first(lambda site: not site.is_use, until)
    if time.monotonic() > until:
        return ""
    if wrong is not None and (broken := run.broken(wrong.node)):
        return run.of_a_rule(wrong, broken)
    near = _Run(base, args, moving, cotangent)
    near.look("" if wrong is None else wrong.node.name)
    node = None if wrong is None else near.again(wrong.node)
    if use := near.first(lambda site: site.is_use, until, -1 if node is None else node.number):
        broken = near.broken(use.node)
        return near.of_a_rule(use, broken) if broken else near.of_a_use(use)
    return near.of_an_argument() if wrong is None or node is None else near.of_a_sum(node, wrong)


@dataclass(frozen=True)
class _Wrong:
    """A value, or what an operation adds to its adjoint, along a direction, and what differences say of it."""

    node: Node
    given: float
    wanted: float


class _Run:
    """A function weighted by a cotangent, with its gradient, which runs with all of its values shown, and may be given
    others for them."""

    def __init__(self, base: Any, args: Sequence[Any], moving: Sequence[int], cotangent: Any):
        self.base, self.args, self.moving, self.cotangent = base, args, moving, cotangent
        self.names = list(inspect.signature(base).parameters)[: len(args)]
        scope: dict[str, Any] = {"_f": base, "_cotangent": cotangent, "_np": np, "__name__": "__main__"}
        called = f"_f({', '.join(self.names)})"
        texts.run(
            f"def weighted({', '.join(self.names)}):\n    return _np.sum(_cotangent * {called})\n", "check", scope
        )
        self.weighted: Derivative[..., Any] = Derivative(scope["weighted"], "value_and_grad", tuple(moving))
        self.rng = np.random.default_rng(0)

    def look(self, uses: str | None = None) -> None:
        """Run once, and see the values; with ``uses`` what operations are given of this name, and of the arguments."""
        self.function, self.observed = compiled(self.weighted, tuple(self.args), uses)
        self.run = Draws(self.base, tuple(self.args)).each(self._run)
        self.nodes = self.run()[0].nodes

    def _run(self, instead: Any = None) -> tuple[Recorder, float]:
        recorder = Recorder(self.observed, instead=instead)
        own = [recorder.argument(n, a) for n, a in zip(self.names, self.args, strict=True)]
        with watching(recorder):
            value, _ = self.function(*own)
        return recorder, float(value)

    def again(self, node: Node) -> Node | None:
        """The node of this run that is the same value as one of another run."""
        return next((n for n in self.nodes if _is_again(n, node)), None)

    def first(self, asked: Callable[[Site], bool], until: float, after: int = -1) -> _Wrong | None:
        """From the last to the first, the first value whose adjoint differences contradict, of those after a number."""
        shown = [n for n in self.nodes if n.site is not None and not n.site.is_store and _is_users(n.site.span)]
        for node in [n for n in shown if n.number > after and n.site and asked(n.site)][::-1][:MOST_NODES]:
            direction = self.rng.normal(size=np.shape(node.value)) * sizes_of(np.asarray(node.value))

            def moved(t: float, node: Node = node, direction: Any = direction) -> float:
                return self.run(lambda number, value: value + t * direction if number == node.number else value)[1]

            given = float(np.sum(_adjoint(node) * direction))
            found = compare(moved, given, rtol=1e-5, atol=1e-7)
            if found.verdict == DISAGREES:
                return _Wrong(node, given, float(found.value))
            if time.monotonic() > until:
                break
        return None

    # ---------------------------------------------------------- what is said
    def of_a_rule(self, wrong: _Wrong, broken: Site) -> str:
        """Of an operation whose rule differences contradict."""
        by = f"by the rule for {name_of(broken.op)}, which differences do not confirm{_home(REGISTRY.find(broken.op))}."
        return "\n".join([_first(wrong), self.statements([broken.span]), by])

    def of_a_use(self, wrong: _Wrong) -> str:
        """Of an operation that adds something wrong to the adjoint of what it is given."""
        assert wrong.node.site is not None
        return "\n".join([_first(wrong), self.statements([wrong.node.site.span]), self.report()])

    def of_a_sum(self, node: Node, wrong: _Wrong) -> str:
        """Of a value whose adjoint is not the sum of what is added to it."""
        assert node.site is not None
        users = [n.site.span for n in self._users(node)]
        blamed = self._blamed(_adjoint(wrong.node), node) or users or [node.site.span]
        return "\n".join([_first(wrong), self.statements(blamed), self.report()])

    def broken(self, node: Node) -> Site | None:
        """The first operation on a value whose rule differences contradict."""
        return next((n.site for n in self._users(node) if not _rule_holds(n)), None)

    def _users(self, node: Node) -> list[Any]:
        """What is computed of a value."""
        own = [n for n in self.nodes if n.site is not None and node.number in n.parents and not n.site.is_store]
        return [made for n in own for made in (self._users(n) if n.site and n.site.is_use else [n])]

    def of_an_argument(self) -> str:
        """Of an argument whose gradient is not the sum of what is added to it."""
        _, gradients = self.weighted(*copied(tuple(self.args)))
        for k, gradient in zip(self.moving, gradients):
            name = self.names[k]
            own = [n for n in self.nodes if n.site is None and re.split(r"\W", n.name)[0] == name]
            for node, (_, leaf) in zip(own, flatten(gradient)):
                if leaf.shape == np.shape(node.value) and (blamed := self._blamed(leaf, node)):
                    told = f"What is added to the adjoint of {node.name} is right, and the sum is not."
                    return "\n".join([told, self.statements(blamed), self.report()])
        return ""

    def _blamed(self, given: np.ndarray, node: Node) -> list[Span]:
        """The lines of the user's whose adjoints are added in a wrong way: the one that explains the difference by
        itself, being left out, or of another size, or in the place of those before it, or those that may; else all."""
        parts: dict[int, np.ndarray] = {}
        spans: dict[int, Span] = {}
        for n in self._added(node):
            parts[n.site.number] = parts.get(n.site.number, 0.0) + _adjoint(n)
            spans[n.site.number] = n.site.span
        off, before = given - sum(parts.values()), np.zeros(np.shape(given))
        size = float(max((np.max(np.abs(x), initial=0.0) for x in (given, *parts.values())), default=0.0))
        if np.max(np.abs(off), initial=0.0) <= 1e-6 * size:
            return []
        found = []
        for number, part in parts.items():
            along = np.sum(off * part) / (np.sum(part * part) or 1.0) * part
            if any(np.max(np.abs(off - one), initial=0.0) <= 1e-6 * size for one in (along, -before)):
                found.append(spans[number])
            before = before + part
        return found or list(spans.values())

    def _added(self, node: Node) -> list[Any]:
        """What operations add to the adjoint of a value, as the adjoint sweep comes to it; of a call of a function of
        the user's, what those in that function do."""
        own = [n for n in self.nodes[::-1] if n.site is not None and n.site.is_use and node.number in n.parents]
        return [inner for n in own for inner in self._added(n) or [n]]

    def of_a_pass(self, changed: Changed) -> str:
        """Of statements that a pass of the compiler has written."""
        told = f"The adjoint is another one before the pass {changed.step.name!r} of the compiler"
        spans = [s.span for s in changed.written if s.span.line]
        rows = "\n".join(f"    {row}" for row in changed.rows)
        said = self.statements(spans) if spans else f"The statement that is wrong:\n{rows}"
        return f"{told}: {changed.step.does}.\n{said}\nPlease report this statement."

    def statements(self, spans: Sequence[Span]) -> str:
        """The emitted statements that differentiate some lines of the user's, and these."""
        lines = list({(s.file, s.line): s for s in spans}.values())
        rows = [f"    {row}" for s in lines for row in _emitted(self.base, self.args, self.moving, self.cotangent, s)]
        one = len(lines) == 1
        head = ["The statement that is wrong:" if one else "One of these statements is wrong:", *rows] if rows else []
        return "\n".join([*head, "It differentiates" if one else "They differentiate", *map(place, lines)])

    def report(self) -> str:
        if stopped := next((n for n in self.nodes if n.site is not None and n.site.op is ops.stopped), None):
            assert stopped.site is not None
            return f"stop_gradient leaves a derivative out, which differences see, in\n{place(stopped.site.span)}"
        return (
            "The rules of its operations agree with differences by themselves. If the function gives the same "
            "whenever it is given the same, please report this statement."
        )


def _first(wrong: _Wrong) -> str:
    site = wrong.node.site
    assert site is not None
    what = "the value" if site.name.startswith("%") else site.name.split(".")[0]
    return (
        f"The first adjoint that is wrong is {'what is added to ' * site.is_use}that of {what} in\n{place(site.span)}\n"
        f"which is {wrong.given:.8g} along a random direction, where differences give {wrong.wanted:.8g}."
    )


def _adjoint(node: Node) -> np.ndarray:
    return np.zeros(np.shape(node.value)) if node.adjoint is None else np.asarray(node.adjoint)


def _is_users(span: Span) -> bool:
    """Whether a place is in the user's text, and not in what is written around it here."""
    return bool(span.text) and not span.file.startswith("<tangentc ")


def _is_again(a: Node, b: Node) -> bool:
    """Whether two nodes of two runs are one value."""
    one, other = a.site, b.site
    if one is None or other is None or one.is_use:
        return False
    own = [t for _, t in a.trips] == [t for _, t in b.trips]
    return own and (one.name, one.function, one.span) == (other.name, other.function, other.span)


def _home(rule: Any) -> str:
    """Where a rule is written."""
    function = getattr(getattr(rule, "formula", None), "function", None)
    if function is None:
        return ""
    return f' (File "{function.__code__.co_filename}", line {function.__code__.co_firstlineno}, in {function.__name__})'


def _rule_holds(user: Node) -> bool:
    """Whether the adjoint of an operation in one of its operands is what differences say."""
    from tangentc.api import vjp

    site = user.site
    assert site is not None
    values = dict(zip(site.operands, user.operands))
    args = [a.value if isinstance(a, Const) else a.lookup() if not isinstance(a, str) else values[a] for a in site.args]
    options = {k: a.value if isinstance(a, Const) else values.get(a) for k, a in site.keywords}  # type: ignore[arg-type]
    active = [k for k, a in enumerate(site.args) if isinstance(a, str) and is_differentiable(type_of(values[a]))]
    names = [f"x{k}" for k in active]
    by_position = [f"x{k}" if k in active else f"_a{k}" for k in range(len(args))]
    given = ", ".join([*by_position, *(f"{k}=_o_{k}" for k in options)])
    scope = {"_op": site.op, **{f"_a{k}": a for k, a in enumerate(args)}, **{f"_o_{k}": v for k, v in options.items()}}
    scope["__name__"] = "__main__"
    texts.run(f"def op({', '.join(names)}):\n    return _op({given})\n", "check", scope)
    op, points = scope["op"], [args[k] for k in active]
    rng = np.random.default_rng(1)
    bar = rng.normal(size=np.shape(user.value))
    try:
        _, pullback = vjp(op, *points)
        bars = pullback(bar if is_array(user.value) else float(bar))
    except Exception:
        return True
    for k, point in enumerate(points):
        direction = rng.normal(size=np.shape(point)) * sizes_of(np.asarray(point))

        def moved(t: float, k: int = k, direction: Any = direction) -> float:
            there = [p + t * direction if j == k else p for j, p in enumerate(points)]
            return float(np.sum(bar * op(*there)))

        if compare(moved, float(np.sum(bars[k] * direction)), rtol=1e-5, atol=1e-7).verdict == DISAGREES:
            return False
    return True


def _emitted(base: Any, args: Sequence[Any], moving: Sequence[int], cotangent: Any, span: Any) -> list[str]:
    """The rows of the emitted adjoint that differentiate a line of the user's."""
    derivative: Derivative[..., Any] = Derivative(base, "adjoint", tuple(moving))
    from tangentc.api import vjp  # noqa: F401  (kinds are registered there)

    text = derivative._compile([type_of(a) for a in args], seed=type_of(cotangent)).text
    rows = text.whole.split("\n")
    found = []
    for number, s in text.of.items():
        own = getattr(s, "span", None)
        if own is not None and own.sweep == "adjoint" and (own.file, own.line) == (span.file, span.line):
            found.append(rows[number - 1].strip())
    return found
