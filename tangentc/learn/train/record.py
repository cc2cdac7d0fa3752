"""The record of a run as one page of HTML: curves, the table, the model, and the emitted gradient."""

from __future__ import annotations

import html
import platform
import time
from typing import Any

import numpy as np

import tangentc
from tangentc.learn.modes import summary
from tangentc.learn.train.checkpoints import written_atomically

WIDTH, HEIGHT, LEFT, LOW = 460, 220, 56, 28
COLOURS = ("#2563eb", "#d97706", "#059669", "#dc2626")
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; color: #1f2937; max-width: 1000px; margin: 2rem auto; padding: 0 1rem; }
h1 { font-size: 1.5rem; } h2 { font-size: 1.1rem; margin-top: 2rem; }
.curves { display: flex; flex-wrap: wrap; gap: 1rem; } svg { background: #fafafa; border: 1px solid #e5e7eb; }
svg text { font-size: 11px; fill: #4b5563; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 0.15rem 0.8rem; text-align: right; border-bottom: 1px solid #e5e7eb; }
.facts td { text-align: left; }
pre { background: #f8fafc; border: 1px solid #e5e7eb; padding: 0.8rem; overflow-x: auto; font-size: 13px; }
"""


def write_record(path: Any, run: Any, loss: Any, text: str, begun: float) -> None:
    """Write the page of a run; ``text`` is its emitted gradient, ``begun`` the time when it began."""
    name = type(run.model).__name__
    row = run.history.last if run.history.rows else {}
    facts = {
        "loss": getattr(loss, "__name__", "loss"), "optimiser": repr(run.optimiser), "epochs": len(run.history.rows),
        "steps": run.step, "began": time.strftime("%Y-%m-%d %H:%M:%S", time.localtime(begun)),
        "seconds": round(sum(run.history["seconds"]), 1), "ended": run.stop or "after its last epoch",
        "with": f"tangentc {tangentc.__version__}, NumPy {np.__version__}, Python {platform.python_version()}",
    }  # fmt: skip
    parts = [
        f"<h1>{html.escape(name)}: {html.escape(_last(row))}</h1>",
        '<div class="curves">', *curves(run.history), "</div>",
        "<h2>The run</h2>", _table([list(map(str, pair)) for pair in facts.items()]),
        "<h2>The model</h2>", _pre(summary(run.model)),
        "<h2>Epochs</h2>", _table([[_number(r.get(n, "")) for n in run.history.names] for r in run.history.rows],
                                  run.history.names),
        "<h2>The gradient</h2>", _pre(text),
    ]  # fmt: skip
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{html.escape(name)}</title>'
    written_atomically(path, f"{head}<style>{STYLE}</style><body>\n" + "\n".join(parts) + "\n</body></html>\n")


def curves(history: Any) -> list[str]:
    """A picture of each number by the epoch; a number and that of its validation are in one."""
    names = [n for n in history.names if n not in ("epoch", "step", "seconds") and not n.startswith("validation_")]
    out = []
    for name in names:
        both = [n for n in (name, f"validation_{name}") if n in history.names]
        out.append(picture(name, {n: [(r["epoch"], r[n]) for r in history.rows if n in r] for n in both}))
    return out


def picture(title: str, lines: dict[str, list[tuple[float, float]]]) -> str:
    """Lines through points, as SVG.

    >>> picture("loss", {"loss": [(0, 2.0), (1, 1.0)]})[:4]
    '<svg'
    """
    points = [p for line in lines.values() for p in line if np.isfinite(p[1])]
    if not points:
        return ""
    (x0, x1), (y0, y1) = ((min(v), max(v)) for v in zip(*points))
    across, up = max(x1 - x0, 1e-12), max(y1 - y0, 1e-12)

    def place(x: float, y: float) -> str:
        return f"{LEFT + (x - x0) / across * (WIDTH - LEFT - 12):.1f},{24 + (y1 - y) / up * (HEIGHT - 24 - LOW):.1f}"

    out = [f'<svg width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{html.escape(title)}">']
    for k, (name, line) in enumerate(lines.items()):
        colour = COLOURS[k % len(COLOURS)]
        path = " ".join(place(*p) for p in line if np.isfinite(p[1]))
        out.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        out.append(f'<text x="{LEFT + 150 * k}" y="14" style="fill: {colour}">{html.escape(name)}</text>')
    for y in (y0, y1):
        at = place(x0, y).split(",")[1]
        out.append(f'<text x="{LEFT - 6}" y="{at}" text-anchor="end" dominant-baseline="middle">{y:.3g}</text>')
    for x, anchor in ((x0, "start"), (x1, "end")):
        at = place(x, y0).split(",")[0]
        out.append(f'<text x="{at}" y="{HEIGHT - 8}" text-anchor="{anchor}">epoch {x:g}</text>')
    return "".join([*out, "</svg>"])


def _last(row: dict[str, Any]) -> str:
    return ", ".join(f"{name} {value:.4g}" for name, value in row.items() if name not in ("epoch", "step", "seconds"))


def _number(value: Any) -> str:
    return f"{value:.5g}" if isinstance(value, float) else str(value)


def _pre(text: str) -> str:
    return f"<pre>{html.escape(text)}</pre>"


def _table(rows: list[list[str]], head: list[str] | None = None) -> str:
    lines = [f"<tr>{''.join(f'<th>{html.escape(c)}</th>' for c in head)}</tr>"] if head else []
    lines += [f"<tr>{''.join(f'<td>{html.escape(c)}</td>' for c in row)}</tr>" for row in rows]
    return f"<table{'' if head else ' class=facts'}>{''.join(lines)}</table>"
