"""A function and its derivative as two texts side by side, linked line by line and name by name."""

from __future__ import annotations

import ast
import html
import re
from collections import Counter
from collections.abc import Container, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib.resources import files
from pathlib import Path
from typing import Any

from tangentc.backend.highlight import rows
from tangentc.core import texts
from tangentc.derivative import Derivative
from tangentc.inspection.trace import Trace, shortened
from tangentc.watch.nonfinite import ARGUMENT
from tangentc.watch.summary import Summary

OF_EMITTED = re.compile(r"_(?:\d+|bar|dot|saved|item|kept|new)$")
QUOTED = re.compile(r"(?<=\S)  <span class=c>[^<]*</span>$")  # the user's line, behind one of its derivative
COLOURS = 12
OF_TARGET = re.compile(r"(?:_\d+)?(?:[.\[].*)?$")


@dataclass
class Segment:
    """A function of the user, or the statement around a lambda: its rows in its file."""

    file: str
    name: str
    first: int
    text: list[str]
    names: set[str]
    groups: dict[int, int]  # for the number of a row that of the statement's first row
    stores: dict[int, set[str]]  # for that of a statement the names that it gives a value, "out" where it returns one
    calls: list[tuple[str, str, int]] = field(default_factory=list)  # what it calls: the name, the call, its line
    called: str = ""  # the first call of it, and where that stands


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

    @cached_property
    def colours(self) -> dict[str, str]:
        """For the key of a statement one of the colours of the style sheet; statements near each other have others."""
        keys = {f"{k}:{s.groups.get(s.first + n, s.first + n)}": None for k, s in enumerate(self.segments)
                for n in range(len(s.text))}  # fmt: skip
        return {key: f"c{5 * k % COLOURS}" for k, key in enumerate(keys)}


@dataclass
class Values:
    """What a run computed: for a row of the emitted text at length and in short, for a user's line in short."""

    told: dict[int, list[str]] = field(default_factory=dict)
    of_row: dict[int, str] = field(default_factory=dict)
    of_line: dict[tuple[str, int], str] = field(default_factory=dict)


def sources_of(derivative: Derivative, text: Any) -> Sources:
    """The functions that the statements of a derivative come from, that which is differentiated first."""
    code = getattr(derivative.function, "__code__", None)
    globals_ = getattr(derivative.function, "__globals__", {})
    places = [(code.co_filename, code.co_firstlineno)] if code is not None else []
    places += [(s.span.file, s.span.line) for s in text.of.values() if getattr(s, "span", None) and s.span.line]
    out = Sources()
    for file, line in places:
        if file and out.find(file, line) is None and (segment := segment_at(file, line, globals_)) is not None:
            out.segments.append(segment)
    out.segments = list(_in_call_order(out.segments))
    return out


def _in_call_order(segments: list[Segment]) -> Iterator[Segment]:
    """The first function, and behind each function those that it calls, as they are called."""
    waiting, calls = list(segments), [("", "", 0)]
    while waiting and calls:
        name, call, line = calls.pop(0)
        found = next((s for s in waiting if not line or s.name == name), None)
        if found is not None:
            waiting.remove(found)
            found.called = f"{shortened(call, 60)}, called in line {line}: " * bool(line)
            calls[:0] = found.calls
            yield found
    yield from waiting


def segment_at(file: str, line: int, globals_: dict[str, Any]) -> Segment | None:
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
    groups, stores = {}, {}
    for s in ast.walk(whole):
        if isinstance(s, ast.stmt) and s is not whole:
            stores[s.lineno] = _stored(s)
            body = getattr(s, "body", None) or getattr(s, "cases", None)
            last = (s.end_lineno or s.lineno) if not body else max(s.lineno, _line(body[0]) - 1)
            groups.update(dict.fromkeys(range(s.lineno, last + 1), s.lineno))
    names = {n.id for n in ast.walk(whole) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    names |= {a.arg for a in ast.walk(whole) if isinstance(a, ast.arg)}
    first, last = _first(whole), whole.end_lineno or whole.lineno
    rows_ = [row.rstrip("\n") for row in lines[first - 1 : last]]
    called = sorted(
        (n for n in ast.walk(whole) if isinstance(n, ast.Call)), key=lambda n: (n.end_lineno, n.end_col_offset)
    )
    calls = [(_name(n.func, globals_), ast.unparse(n), n.lineno) for n in called]
    return Segment(file, getattr(whole, "name", ""), first, rows_, names, groups, stores, calls)


def _name(called: ast.expr, globals_: dict[str, Any]) -> str:
    """The name of the function of the user that may be called, which is in no module of NumPy."""
    if isinstance(called, ast.Attribute):
        base = globals_.get(getattr(called.value, "id", ""))
        return "" if getattr(base, "__name__", "").partition(".")[0] == "numpy" else called.attr
    return getattr(called, "id", "")


def _stored(s: Any) -> set[str]:
    if isinstance(s, ast.Return):
        return {"out"}
    targets = getattr(s, "targets", None) or [getattr(s, "target", None) or ast.Pass()]
    return {n.id for t in targets for n in ast.walk(t) if isinstance(n, ast.Name)}


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


def yours(sources: Sources, text: Any = None, values: Values | None = None, bad: Container[Any] = ()) -> str:
    """The rows of the user's functions, linked with those of the emitted text if it is given; ``bad`` are the files
    and lines in which something is wrong."""
    out, in_place = [], _written_in_place(sources, text) if text is not None else {}
    for k, s in enumerate(sources.segments):
        marked = rows("\n".join(s.text), lambda row, name: f' data-v="{k}:{name}"' if name in s.names else "")  # noqa: B023
        out.append(f'<li class="title">{html.escape(f"{s.called}{Path(s.file).name}, line {s.first}")}</li>')
        for n, row in enumerate(marked, s.first):
            key = f"{k}:{s.groups.get(n, n)}"
            key = in_place.get(key, key)
            value = values.of_line.get((s.file, n), "") if values is not None else ""
            out.append(_row(row, n, key, "", value, sources.colours[key] + " bad" * ((s.file, n) in bad)))
    return "".join(out)


def emitted(sources: Sources, text: Any, values: Values, known: dict[int, list[str]], beside: bool = False) -> str:
    """The rows of the emitted text, each with what is known of it; with ``beside`` its value stands beside it too."""
    plain = text.whole.rstrip("\n").split("\n")
    keys, sweeps = _keys(sources, text, plain), _sweeps(text, plain)

    def mark(row: int, name: str) -> str:
        found = _named(sources, int(keys[row].partition(":")[0]) if keys.get(row) else 0, name)
        return f' data-v="{found}"' if found else ""

    def kind(row: int) -> str:
        return f"{sources.colours.get(keys.get(row, ''), '')} {sweeps.get(row, '')}"

    return "".join(
        _row(row, n, keys.get(n, ""), "; ".join([*known.get(n, ()), *values.told.get(n, ())]),
             values.of_row.get(n, "") if beside else "", kind(n))
        for n, row in enumerate(rows("\n".join(plain), mark), 1)
    )  # fmt: skip


def sides(mine: str, theirs: str, titles: tuple[str, str] = ("Your function", "Its derivative")) -> str:
    """Two texts side by side, and below them what is told of a line."""
    legend = "".join(f'<span class="{sweep}">{sweep} sweep</span> ' for sweep in ("primal", "adjoint"))
    panes = "".join(
        f'<div class="side"><h2><span id="{own}">{title}</span> {more}</h2><div class="pane">'
        f'<ol class="tangentc-code" tabindex="0" aria-labelledby="{own}" id="{name}">{text}</ol>'
        f'<div class="marks" aria-hidden="true"></div></div></div>'
        for own, title, more, name, text in (
            ("mine", titles[0], "", "yours", mine),
            ("theirs", titles[1], f'<small class="legend">{legend}</small>', "emitted", theirs),
        )
    )
    return (
        f'<div class="sides">{panes}</div>'
        '<aside id="details" aria-live="polite"><p>Point at a line: the lines that belong to it light up, and what '
        "they compute is shown here. A click scrolls to them, another one to the next of them. By keyboard: Tab, the "
        "arrow keys, Enter, Escape.</p></aside>"
    )


def _row(row: str, number: int, key: str, note: str = "", value: str = "", kind: str = "") -> str:
    group = f' data-g="{key}"' if key else ""
    about = f' data-note="{html.escape(note)}"' if note else ""
    beside = f'<span class="value">{html.escape(value)}</span>' if value else ""
    code, quoted = (row.removesuffix(found[0]), found[0]) if (found := QUOTED.search(row)) else (row or " ", "")
    of = f' class="{kind.strip()}"' * bool(kind.strip())
    return f'<li{of}{group}{about} data-n="{number}">{code}{beside}{quoted}</li>'


def _sweeps(text: Any, plain: list[str]) -> dict[int, str]:
    """For a row of the emitted text its sweep; a comment has that of the row under it, what has none that of the row
    above."""
    out: dict[int, str] = {}
    comments: list[int] = []
    now = ""
    for n, row in enumerate(plain, 1):
        if row.startswith("def "):
            now = ""
        if row.lstrip().startswith("#"):
            comments.append(n)
            continue
        span = getattr(text.of.get(n), "span", None)
        now = now if span is None else {"": "primal", "tangent": "tangent"}.get(span.sweep, "adjoint")
        if now and row.strip():
            out.update(dict.fromkeys([*comments, n], now))
        comments = []
    return out


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


def values_of(run: Trace | None, sources: Sources, value: Any = None) -> Values:
    """What a run computed, of a loop in its last trip; ``value`` is that of the function, which a run may not have."""
    out, times = Values(), Counter[int]()
    for r in run.rows if run is not None else ():
        s = r.summary
        times[r.row] += 1
        again = f" (the last of {times[r.row]} times)" * (times[r.row] > 1)
        told = f"= {s.text}"
        if s.shape != () and s.minimum is not None:
            told = f"{s.text} from {s.minimum:.4g} to {s.maximum:.4g}, norm {s.norm:.4g}"
        out.told[r.row] = [f"{told}{not_finite(s)}{again}"]
        if r.sweep != ARGUMENT:
            out.of_row[r.row] = ", ".join(_short(part) for _, part in r.parts) or _short(s)
        found = sources.find(r.span.file, r.line) if r.sweep == "primal" and r.line else None
        if found is not None:
            stored = found[1].stores.get(r.line, set())
            for name, part in r.parts or ((r.target, s),):
                if OF_TARGET.sub("", name) in stored:
                    out.of_line[r.span.file, r.line] = _short(part)
    for whole in sources.segments[:1]:
        returns = [line for line, stored in whole.stores.items() if "out" in stored]
        if len(returns) == 1 and value is not None:
            out.of_line[whole.file, returns[0]] = _short(Summary.of(value))
    return out


def _short(s: Summary) -> str:
    if s.shape == () and s.dtype:
        return f"= {s.text}"
    if s.minimum is None or s.maximum is None:
        return not_finite(s).removeprefix(", ")
    span = f"all {s.minimum:.4g}" if s.minimum == s.maximum else f"{s.minimum:.4g} \u2026 {s.maximum:.4g}"
    return f"{s.text} {span}{not_finite(s)}"


def not_finite(s: Summary) -> str:
    """``, 3 NaN``; nothing if all is finite."""
    return f", {s.nans} NaN" * bool(s.nans) + f", {s.infinities} infinite" * bool(s.infinities)


def asset(name: str) -> str:
    """A file that pages are made of."""
    return files("tangentc.inspection").joinpath(f"page/{name}").read_text(encoding="utf-8")
