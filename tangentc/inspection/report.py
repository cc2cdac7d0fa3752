"""A page that shows a function, its derivative and how one became the other."""

from __future__ import annotations

import ast
import difflib
import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from tangentc.backend.annotate import notes
from tangentc.backend.export import write
from tangentc.backend.highlight import STYLE, rows
from tangentc.core import texts
from tangentc.core.values import type_of
from tangentc.derivative import Derivative
from tangentc.errors import TangentcError
from tangentc.inspection.explain import brief_of, explain
from tangentc.inspection.facts import facts_of
from tangentc.inspection.graph import Graph
from tangentc.inspection.stages import stages
from tangentc.inspection.trace import Trace, of, traced
from tangentc.watch.tables import Table

MOST_VERTICES = 400  # of a graph that is drawn
OF_EMITTED = re.compile(r"_(?:\d+|bar|dot|saved|item|kept|new)$")


@dataclass
class Segment:
    """A function of the user, or the statement around a lambda: its rows in its file."""

    file: str
    name: str
    first: int
    text: list[str]
    names: set[str]
    groups: dict[int, int]  # for the number of a row that of the statement's first row


@dataclass
class Sources:
    """The functions of the user that a derivative was made of; a statement has a key that both sides know."""

    segments: list[Segment] = field(default_factory=list)

    def find(self, file: str, line: int) -> tuple[int, Segment] | None:
        for k, s in enumerate(self.segments):
            if s.file == file and s.first <= line < s.first + len(s.text):
                return k, s
        return None

    def key(self, file: str, line: int) -> str:
        """The key of the statement at a line."""
        found = self.find(file, line)
        return f"{found[0]}:{found[1].groups.get(line, line)}" if found else ""


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
        sources = _sources(fitted, text)
        types = compiled.types
        program = compiled.context.prepare(fitted.resolve(types), types)
        facts = facts_of(compiled.context, program, fitted.positions(types)[0])
        moving = ", ".join(f.name for f in facts if f.why.startswith("the derivative"))
        names = list(fitted.signature().parameters)[: len(bound)]
        at = ", ".join(f"{n} = {_brief(a)}" for n, a in zip(names, bound))
        panels = [
            ("Code", _code(sources, text, run, known)),
            ("Stages", _stages(stages(fitted, *bound))),
            ("Values", run.table().html()),
            *_explained(fitted, bound),
            ("Facts", _facts(facts, text, known)),
        ]
    title = f"{fitted.function.__name__}: its derivative"
    style, script = (files("tangentc.inspection").joinpath(f"page/report.{kind}").read_text() for kind in ("css", "js"))
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
        f"<script>\n{script}\n</script>\n</body>\n</html>\n"
    )


def _brief(value: Any) -> str:
    return value.__name__ if callable(value) and hasattr(value, "__name__") else brief_of(value)


# ------------------------------------------------------------------ the two sides
def _sources(derivative: Derivative, text: Any) -> Sources:
    """The functions that the statements of a derivative come from, that which is differentiated first."""
    code = getattr(derivative.function, "__code__", None)
    globals_ = getattr(derivative.function, "__globals__", {})
    places = [(code.co_filename, code.co_firstlineno)] if code is not None else []
    places += [(s.span.file, s.span.line) for s in text.of.values() if getattr(s, "span", None) and s.span.line]
    out = Sources()
    for file, line in places:
        if file and out.find(file, line) is None and (segment := _segment(file, line, globals_)) is not None:
            out.segments.append(segment)
    return out


def _segment(file: str, line: int, globals_: dict[str, Any]) -> Segment | None:
    """The outermost function around a line, or else the statement."""
    lines = texts.lines(file, globals_)
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        return None
    around = [s for s in ast.walk(tree) if isinstance(s, ast.stmt) and _first(s) <= line <= (s.end_lineno or 0)]
    functions = [s for s in around if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef))]
    simple = [s for s in around if not isinstance(s, ast.ClassDef)]
    if not simple:
        return None
    whole = min(functions or simple, key=_first)
    groups = {}
    for s in ast.walk(whole):
        if isinstance(s, ast.stmt) and s is not whole:
            body = getattr(s, "body", None) or getattr(s, "cases", None)
            last = (s.end_lineno or s.lineno) if not body else max(s.lineno, _line(body[0]) - 1)
            groups.update(dict.fromkeys(range(s.lineno, last + 1), s.lineno))
    names = {n.id for n in ast.walk(whole) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {a.arg for a in ast.walk(whole) if isinstance(a, ast.arg)}
    first, last = _first(whole), whole.end_lineno or whole.lineno
    rows_ = [row.rstrip("\n") for row in lines[first - 1 : last]]
    return Segment(file, getattr(whole, "name", ""), first, rows_, names, groups)


def _first(s: ast.stmt) -> int:
    return min([s.lineno, *(d.lineno for d in getattr(s, "decorator_list", ()))])


def _line(part: Any) -> int:
    return part.lineno if hasattr(part, "lineno") else part.pattern.lineno


def _written_in_place(sources: Sources, text: Any) -> dict[str, str]:
    """For the lines of the first function that do nothing but call others which are written in their place, the key of
    what one of these does."""
    spans = [span for s in text.of.values() if (span := getattr(s, "span", None)) is not None and span.site]
    sites = [(span, span.site) for span in spans if isinstance(span.site, tuple) and len(span.site) == 6]
    above = next((span.line - site[2] for span, site in sites if not site[0]), None)
    if above is None or not sources.segments:
        return {}
    file, own = sources.segments[0].file, {sources.key(span.file, span.line) for span, _ in sites}
    calls = (
        (sources.key(file, above + site[0][0][2]), sources.key(span.file, span.line)) for span, site in sites if site[0]
    )
    return {call: inside for call, inside in calls if call and call not in own}


def _code(sources: Sources, text: Any, run: Trace, known: dict[int, list[str]]) -> str:
    mine, in_place = [], _written_in_place(sources, text)
    for k, s in enumerate(sources.segments):
        marked = rows("\n".join(s.text), lambda row, name: f' data-v="{k}:{name}"' if name in s.names else "")  # noqa: B023
        title = f'<li class="title">{html.escape(Path(s.file).name)}, line {s.first}</li>'
        mine.append(title + "".join(
            _row(row, s.first + n, in_place.get(key := f"{k}:{s.groups.get(s.first + n, s.first + n)}", key))
            for n, row in enumerate(marked)
        ))  # fmt: skip
    plain = text.whole.rstrip("\n").split("\n")
    keys = _keys(sources, text, plain)
    values = _values(run)

    def mark(row: int, name: str) -> str:
        found = _named(sources, int(keys[row].partition(":")[0]) if keys.get(row) else 0, name)
        return f' data-v="{found}"' if found else ""

    theirs = "".join(
        _row(row, n, keys.get(n, ""), "; ".join([*known.get(n, ()), *values.get(n, ())]))
        for n, row in enumerate(rows("\n".join(plain), mark), 1)
    )
    return (
        '<div class="sides"><div class="side"><h2 id="mine">Your function</h2>'
        f'<ol class="tangentc-code" tabindex="0" aria-labelledby="mine" id="yours">{"".join(mine)}</ol></div>'
        '<div class="side"><h2 id="theirs">Its derivative</h2>'
        f'<ol class="tangentc-code" tabindex="0" aria-labelledby="theirs" id="emitted">{theirs}</ol></div></div>'
        '<aside id="details" aria-live="polite"><p>Point at a line, or click it; with the keyboard go into one of '
        "the two texts, and use the arrow keys.  The lines that belong to it on the other side light up, and what "
        "they compute is shown here.</p></aside>"
    )


def _row(row: str, number: int, key: str, note: str = "") -> str:
    group = f' data-g="{key}"' if key else ""
    about = f' data-note="{html.escape(note)}"' if note else ""
    return f'<li{group}{about} data-n="{number}">{row or " "}</li>'


def _keys(sources: Sources, text: Any, plain: list[str]) -> dict[int, str]:
    """For a row of the emitted text the key of the user's statement; a comment has that of the statement under it."""
    keys: dict[int, str] = {}
    for n in range(len(plain), 0, -1):
        span = getattr(text.of.get(n), "span", None)
        if span is not None and span.line:
            keys[n] = sources.key(span.file, span.line)
        elif plain[n - 1].lstrip().startswith("#") and n + 1 in keys:
            keys[n] = keys[n + 1]
    return {n: key for n, key in keys.items() if key}


def _named(sources: Sources, segment: int, name: str) -> str:
    """The variable of the user that an emitted name speaks of: ``h`` for ``h``, ``h_bar`` and ``h_1_saved``."""
    while True:
        for k in dict.fromkeys((segment, 0)):
            if k < len(sources.segments) and name in sources.segments[k].names:
                return f"{k}:{name}"
        shorter = OF_EMITTED.sub("", name)
        if shorter == name:
            return ""
        name = shorter


def _values(run: Trace) -> dict[int, list[str]]:
    """For a row of the emitted text what it computed, in a loop the last time."""
    times: dict[int, int] = {}
    out: dict[int, list[str]] = {}
    for r in run.rows:
        s = r.summary
        times[r.row] = times.get(r.row, 0) + 1
        if s.shape == () or s.minimum is None:
            told = f"= {s.text}"
        else:
            told = f"{s.text} from {s.minimum:.4g} to {s.maximum:.4g}, norm {s.norm:.4g}"
        bad = f", {s.nans} NaN" * bool(s.nans) + f", {s.infinities} infinite" * bool(s.infinities)
        out[r.row] = [f"{told}{bad}" + f" (the last of {times[r.row]} times)" * (times[r.row] > 1)]
    return out


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
