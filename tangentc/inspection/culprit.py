"""The first statement of an adjoint sweep that is wrong."""

from __future__ import annotations

import inspect
import time
from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentc.backend.tracebacks import place
from tangentc.core import ops, texts
from tangentc.core.draws import Draws
from tangentc.core.nodes import Const
from tangentc.core.types import is_differentiable
from tangentc.core.values import is_array, type_of
from tangentc.derivative import Derivative
from tangentc.frontend.callables import python_function
from tangentc.inspection.differences import DISAGREES, compare, sizes_of
from tangentc.inspection.explain import name_of
from tangentc.inspection.observe import Node, Observed, Recorder, compiled, watching
from tangentc.rules.registry import REGISTRY

MOST_NODES = 300


def first_wrong(f: Any, args: Sequence[Any], moving: Sequence[int], cotangent: Any, limit: float) -> str:
    """What the first statement of the adjoint sweep is whose adjoint differences do not confirm, '' if none is found.

    Each value of the function is moved a little where it is made; the adjoint that the emitted code gives it is
    compared with how the result moves.  Going from the last to the first, the first that disagrees has a wrong
    contribution from one of the operations that it is given to: the one whose rule disagrees with differences.
    """
    base = python_function(f, "check")
    names = list(inspect.signature(base).parameters)[: len(args)]
    scope: dict[str, Any] = {"_f": base, "_cotangent": cotangent, "_np": np, "__name__": "__main__"}
    texts.run(f"def weighted({', '.join(names)}):\n    return _np.sum(_cotangent * _f({', '.join(names)}))\n", "check",
              scope)  # fmt: skip
    function, observed = compiled(Derivative(scope["weighted"], "value_and_grad", tuple(moving)), tuple(args))

    def run(instead: Any = None) -> tuple[Recorder, float]:
        recorder = Recorder(observed, instead=instead)
        own = [recorder.argument(n, a) for n, a in zip(names, args, strict=True)]
        with watching(recorder):
            value, _ = function(*own)
        return recorder, float(value)

    run = Draws(base, tuple(args)).each(run)
    nodes = run()[0].nodes
    rng = np.random.default_rng(0)
    shown = [n for n in nodes if n.site is not None and not n.site.is_store and n.site.span.text]
    until = time.monotonic() + limit
    for node in shown[::-1][:MOST_NODES]:
        direction = rng.normal(size=np.shape(node.value)) * sizes_of(np.asarray(node.value))

        def moved(t: float, node: Node = node, direction: Any = direction) -> float:
            return run(lambda number, value: value + t * direction if number == node.number else value)[1]

        given = float(np.sum(np.asarray(0.0 if node.adjoint is None else node.adjoint) * direction))
        found = compare(moved, given, rtol=1e-5, atol=1e-7)
        if found.verdict == DISAGREES:
            return _described(node, nodes, observed, given, float(found.value), base, args, moving)
        if time.monotonic() > until:
            return ""
    start = next((n for n in nodes if n.site is None), None)
    return "" if start is None else _described(start, nodes, observed, None, None, base, args, moving)


def _described(node: Node, nodes: list[Node], observed: Observed, given: Any, wanted: Any, base: Any,
               args: Sequence[Any], moving: Sequence[int]) -> str:  # fmt: skip
    users = [n for n in nodes if node.number in n.parents and n.site is not None and not n.site.is_store]
    wrong = [n for n in users if not _rule_holds(n)]
    culprit = (wrong or users or [node])[0]
    site = culprit.site
    lines = []
    if node.site is not None:
        what = "the value" if node.name.startswith("%") else node.name.split(".")[0]
        lines.append(f"The first adjoint that is wrong is that of {what} in\n{place(node.site.span)}")
        lines.append(f"which is {given:.8g} along a random direction, where differences give {wanted:.8g}.")
    if site is not None:
        emitted = _emitted(base, args, moving, site.span)
        if emitted:
            lines.append("The statement that is wrong:\n" + "\n".join(f"    {row}" for row in emitted))
        lines.append(f"It differentiates\n{place(site.span)}")
    if wrong and site is not None:
        rule = REGISTRY.find(site.op)
        lines.append(f"by the rule for {name_of(site.op)}, which differences do not confirm{_home(rule)}.")
    elif stopped := next((n for n in nodes if n.site is not None and n.site.op is ops.stopped), None):
        lines.append(f"stop_gradient leaves a derivative out, which differences see, in\n{place(stopped.site.span)}")
    elif site is not None:
        lines.append(
            "The rules of its operations agree with differences by themselves. If the function gives the same "
            "whenever it is given the same, please report this statement."
        )
    return "\n".join(lines)


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


def _emitted(base: Any, args: Sequence[Any], moving: Sequence[int], span: Any) -> list[str]:
    """The rows of the emitted adjoint that differentiate a line of the user's."""
    derivative: Derivative[..., Any] = Derivative(base, "adjoint", tuple(moving))
    from tangentc.api import vjp  # noqa: F401  (kinds are registered there)

    text = derivative._compile([type_of(a) for a in args]).text
    rows = text.whole.split("\n")
    found = []
    for number, s in text.of.items():
        own = getattr(s, "span", None)
        if own is not None and own.sweep == "adjoint" and (own.file, own.line) == (span.file, span.line):
            found.append(rows[number - 1].strip())
    return found
