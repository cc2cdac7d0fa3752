"""A page that shows a function, its derivative and how one became the other."""

from __future__ import annotations

import difflib
import html
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from tangentc.backend.annotate import notes
from tangentc.backend.export import write
from tangentc.backend.highlight import STYLE
from tangentc.core.values import type_of
from tangentc.derivative import Derivative
from tangentc.errors import TangentcError
from tangentc.inspection.explain import brief_of, explain
from tangentc.inspection.facts import facts_of
from tangentc.inspection.graph import Graph
from tangentc.inspection.linked import asset, emitted, sides, sources_of, values_of, yours
from tangentc.inspection.stages import stages
from tangentc.inspection.trace import of, traced
from tangentc.watch.tables import Table

MOST_VERTICES = 400  # of a graph that is drawn


def report(f: Any, *args: Any, path: Any, wrt: Any = 0, **keywords: Any) -> Path:
    """Write a page about the gradient of ``f`` at these arguments to the file ``path``, and give the path.

    The page shows the function and its adjoint side by side, linked line by line and name by name, with what each
    statement computed; every stage of the compiler, with what it changed; the values; the table of `explain` and the
    `graph`, where the function gives one number; and why a value moves, is saved, or is computed again.  It is one
    file, which needs no network.

    ``f`` may be a function, a decorated one, or what `grad`, `value_and_grad` or `adjoint` gave, which brings its own
    ``wrt``.  Raises what the gradient raises, and `OSError` if the file cannot be written.

    >>> import tempfile
    >>> def energy(x, k):
    ...     return 0.5 * k * x ** 2
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     page = report(energy, 3.0, 2.0, path=f"{folder}/energy.html").read_text()
    >>> "energy_grad" in page and "https:" not in page
    True
    """
    derivative = of(f, wrt)
    return write(path, page(derivative, args, keywords))


def page(derivative: Derivative, args: tuple, keywords: dict[str, Any]) -> str:
    """The text of the page."""
    fitted = derivative.fitted(args, keywords)
    bound = fitted.bind(args, keywords)
    with fitted.as_run(bound):
        compiled = fitted.compiled(bound)
        text = compiled.text
        with np.errstate(all="ignore"):
            run = traced(derivative, args, keywords, False)
        sizes: dict[int, Any] = {}
        for a in bound:
            type_of(a, sizes)
        known = notes(text, {length.symbol: n for n, length in sizes.items()})
        sources = sources_of(fitted, text)
        types = compiled.types
        program = compiled.context.prepare(fitted.resolve(types), types)
        facts = facts_of(compiled.context, program, fitted.positions(types)[0])
        moving = ", ".join(f.name for f in facts if f.why.startswith("the derivative"))
        names = list(fitted.signature().parameters)[: len(bound)]
        at = ", ".join(f"{n} = {_brief(a)}" for n, a in zip(names, bound))
        panels = [
            ("Code", sides(yours(sources, text), emitted(sources, text, values_of(run, sources), known))),
            ("Stages", _stages(stages(fitted, *bound))),
            ("Values", run.table().html()),
            *_explained(fitted, bound),
            ("Facts", _facts(facts, text, known)),
        ]
    title = f"{fitted.function.__name__}: its derivative"
    style, linked, script = map(asset, ("report.css", "linked.js", "report.js"))
    tabs = "".join(
        f'<button role="tab" id="tab-{k}" aria-controls="panel-{k}" aria-selected="{str(not k).lower()}" '
        f'tabindex="{0 if not k else -1}">{name}</button>'
        for k, (name, _) in enumerate(panels)
    )
    bodies = "\n".join(
        f'<section role="tabpanel" id="panel-{k}" aria-labelledby="tab-{k}"{" hidden" * bool(k)}>{body}</section>'
        for k, (_, body) in enumerate(panels)
    )
    e = html.escape
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{e(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<style>\n{style}\n{STYLE}\n</style>\n</head>\n<body>\n'
        f"<header><h1>{e(fitted.function.__name__)}</h1>\n<p>with respect to <b>{e(moving)}</b>, at "
        f'<code>{e(at)}</code></p></header>\n<main>\n<div role="tablist" aria-label="What to show">{tabs}</div>\n'
        f"{bodies}\n</main>\n"
        f"<script>\n{linked}\n{script}\n</script>\n</body>\n</html>\n"
    )


def _brief(value: Any) -> str:
    return value.__name__ if callable(value) and hasattr(value, "__name__") else brief_of(value)


# ------------------------------------------------------------------ the other panels
def _stages(every: Any) -> str:
    """The stages, each with the rows that it changed, behind tabs of their own."""
    tabs, panels = [], []
    before: dict[bool, list[str]] = {}
    shown = ""  # the stage whose text is the last that is there
    for k, stage in enumerate(every):
        lines = stage.text.rstrip("\n").split("\n")
        is_code = any(not line.startswith("#") for line in lines if line)
        last = before.get(is_code) if is_code else None
        code = f"<p>Nothing changed here: the program is as after <em>{html.escape(shown)}</em>.</p>"
        if lines != last:
            shown = stage.name
            code = (
                f'<ol class="tangentc-code stage" tabindex="0" aria-label="The program after '
                f'{html.escape(stage.name)}">{"".join(_changed(last, lines))}</ol>'
            )
        before[is_code] = lines
        tabs.append(
            f'<button role="tab" id="stage-{k}" aria-controls="stage-panel-{k}" tabindex="{0 if not k else -1}" '
            f'aria-selected="{str(not k).lower()}">{html.escape(stage.name)}</button>'
        )
        panels.append(
            f'<div role="tabpanel" id="stage-panel-{k}" aria-labelledby="stage-{k}"{" hidden" * bool(k)}>'
            f"<p>{html.escape(stage.does)}</p>{code}</div>"
        )
    return f'<div role="tablist" class="stages" aria-label="Stages">{"".join(tabs)}</div>{"".join(panels)}'


def _changed(before: list[str] | None, now: list[str]) -> Iterator[str]:
    e = html.escape
    if before is None:
        yield from (f"<li>{e(line) or ' '}</li>" for line in now)
        return
    if before == now:
        yield '<li class="title">Nothing is changed here.</li>'
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if kind != "equal":
            yield from (f'<li class="gone"><del>{e(line) or " "}</del></li>' for line in before[a:b])
        yield from (
            f"<li>{e(line) or ' '}</li>" if kind == "equal" else f'<li class="new"><ins>{e(line) or " "}</ins></li>'
            for line in now[c:d]
        )


def _explained(derivative: Derivative, bound: tuple) -> Iterator[tuple[str, str]]:
    """The table of the blackboard, and the graph."""
    if derivative.kind == "adjoint":
        return
    try:
        with np.errstate(all="ignore"):
            explanation = explain(derivative.function, *bound)
    except TangentcError as error:
        yield (
            "Chain rule",
            f"<p>There is no table of the chain rule for this function.</p><pre>{html.escape(str(error))}</pre>",
        )
        return
    yield "Chain rule", explanation.to_html()
    picture = Graph(explanation)
    if len(picture.vertices) <= MOST_VERTICES:
        yield "Graph", f'<div class="picture" tabindex="0" role="region" aria-label="The graph">{picture.svg()}</div>'
    else:
        yield "Graph", f"<p>The graph has {len(picture.vertices):,} nodes, which are too many for a picture.</p>"


def _facts(facts: list[Any], text: Any, known: dict[int, list[str]]) -> str:
    variables = Table("Variables", ("name", "in", "line", "type", "moves", "why"), numbers=frozenset({2}))
    for f in facts:
        moves = "yes" if f.is_active else "no"
        variables.rows.append((f.name, f.function, str(f.line or ""), f.type, moves, f.why))
    kept = Table("Saved and computed again", ("row", "statement", "why"), numbers=frozenset({0}))
    plain = text.whole.split("\n")
    for n, told in sorted(known.items()):
        for note in told:
            if note.startswith(("saved", "recomputed")):
                statement = plain[n - 1].partition("  #")[0].strip()
                if not statement.endswith("= []"):
                    kept.rows.append((str(n), statement, note))
    if not kept.rows:
        kept.notes.append("Nothing: the adjoint sweep reads what is there.")
    return variables.html() + kept.html()
