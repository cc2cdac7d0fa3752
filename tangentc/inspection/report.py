"""A page that shows a function, its derivative and how one became the other."""

from __future__ import annotations

import difflib
import html
import json
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
from tangentc.inspection.picture import drawn
from tangentc.inspection.stages import Stages, stages
from tangentc.inspection.trace import of, traced
from tangentc.watch.tables import Table

MOST_VERTICES = 1000  # of a graph that is drawn
ZOOM = (
    '<p class="legend"><span class="primal">values</span> <span class="adjoint">adjoints</span> '
    '<span class="zoom"><button data-zoom="1.25" aria-label="nearer">+</button> '
    '<button data-zoom="0.8" aria-label="farther">\u2212</button> <button>fit</button></span></p>'
)


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
    tabs = "".join(_tab(str(k), name, not k) for k, (name, _) in enumerate(panels))
    bodies = "\n".join(_tabpanel(str(k), body, not k, "section") for k, (_, body) in enumerate(panels))
    e = html.escape
    return (
        f'<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n<title>{e(title)}</title>\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f'<link rel="icon" href="data:,">\n<style>\n{style}\n{STYLE}\n</style>\n</head>\n<body class="report">\n'
        f'<header><h1>{e(fitted.function.__name__)}</h1>\n<p tabindex="0" title="{e(at)}">with respect to '
        f"<b>{e(moving)}</b>, at <code>{e(at)}</code></p></header>\n<main>\n"
        f'<div role="tablist" aria-label="What to show">{tabs}</div>\n'
        f"{bodies}\n</main>\n"
        f"<script>\n{linked}\n{script}\n</script>\n</body>\n</html>\n"
    )


def _brief(value: Any) -> str:
    return value.__name__ if callable(value) and hasattr(value, "__name__") else brief_of(value)


# ------------------------------------------------------------------ the other panels
def _stages(every: Stages) -> str:
    """The stages in their groups, each as what it changed in the text before it, of which the page makes the text."""
    e, texts = html.escape, []
    tabs: dict[str, str] = {}
    panels: dict[str, str] = {}
    base: int | None = None  # the stage before, which had a program
    shown = ""  # the last that changed it
    for k, stage in enumerate(every):
        lines, before = _lines(stage), None if stage.is_facts else base
        old = [] if before is None else _lines(every[before])
        texts.append({"base": before, "ops": _changed(old, lines)})
        base = base if stage.is_facts else k
        same = lines == old
        shown = shown if same else stage.name
        code = (
            f"<p>Nothing changed here: the program is as after <em>{e(shown)}</em>.</p>" if same
            else f'<ol class="tangentc-code stage" tabindex="0" data-stage="{k}" aria-label="The program after '
            f'{e(stage.name)}"></ol>'
        )  # fmt: skip
        is_first = stage.group not in tabs
        tabs[stage.group] = tabs.get(stage.group, "") + _tab(f"stage-{k}", stage.name, is_first, "same" * same)
        panels[stage.group] = panels.get(stage.group, "") + _tabpanel(
            f"stage-{k}", f"<p>{e(stage.does)}</p>{code}", is_first
        )
    groups = "".join(_tab(f"group-{j}", f"{j + 1}. {g}", not j) for j, g in enumerate(tabs))
    bodies = "".join(
        _tabpanel(
            f"group-{j}", f'<div role="tablist" class="stages" aria-label="{g}">{tabs[g]}</div>{panels[g]}', not j
        )
        for j, g in enumerate(tabs)
    )
    data = json.dumps(texts, separators=(",", ":")).replace("<", "\\u003c")
    return (
        f'<div role="tablist" class="groups" aria-label="Groups of stages">{groups}</div>{bodies}'
        f'<script type="application/json" id="stages">{data}</script>'
    )


def _tab(name: str, title: str, is_chosen: bool, kind: str = "") -> str:
    return (
        f'<button role="tab" id="tab-{name}" aria-controls="panel-{name}" aria-selected="{str(is_chosen).lower()}" '
        f'tabindex="{0 if is_chosen else -1}"{f" class={kind}" * bool(kind)}>{html.escape(title)}</button>'
    )


def _tabpanel(name: str, body: str, is_chosen: bool, tag: str = "div") -> str:
    return (
        f'<{tag} role="tabpanel" id="panel-{name}" aria-labelledby="tab-{name}"{" hidden" * (not is_chosen)}>'
        f"{body}</{tag}>"
    )


def _lines(stage: Any) -> list[str]:
    lines: list[str] = stage.text.rstrip("\n").split("\n")
    return lines


def _changed(before: list[str], now: list[str]) -> list[int | str]:
    """How one text is made of the other: so many rows stay, so many (below zero) are gone, or these are new."""
    out: list[int | str] = []
    for kind, a, b, c, d in difflib.SequenceMatcher(None, before, now, autojunk=False).get_opcodes():
        if kind == "equal":
            out.append(b - a)
            continue
        out += [a - b] * (b > a)
        out += ["\n".join(now[c:d])] * (d > c)
    return out


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
        svg = drawn(picture, True, is_still=False)
        yield "Graph", f'<div class="picture" role="region" aria-label="The graph">{svg}{ZOOM}</div>'
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
