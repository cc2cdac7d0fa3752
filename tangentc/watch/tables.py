"""Tables that people read: with rich in a terminal, as HTML in a notebook, as plain text elsewhere."""

from __future__ import annotations

import html
import sys
from dataclasses import dataclass, field
from typing import Any

STYLE = """<style>
.tangentc table {border-collapse: collapse; font: 13px/1.5 ui-monospace, monospace}
.tangentc th, .tangentc td {padding: 1px 10px; text-align: left; white-space: pre; border: 0}
.tangentc th {border-bottom: 1px solid #8888}
.tangentc td.number {text-align: right}
.tangentc td.fold {opacity: .65; font-style: italic}
.tangentc tr.bad td {color: #d02030; font-weight: 600}
.tangentc caption {text-align: left; font-weight: 600; padding: 4px 10px}
</style>"""


@dataclass
class Table:
    """Rows of text under headings.  A row that is one string stands for rows that are left out."""

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[str, ...] | str] = field(default_factory=list)
    numbers: frozenset[int] = frozenset()  # the columns that are aligned at the right
    bad: set[int] = field(default_factory=set)  # rows that are to be noticed
    notes: list[str] = field(default_factory=list)

    def text(self) -> str:
        """The table as plain text."""
        cells = [r for r in self.rows if not isinstance(r, str)]
        widths = [max(map(len, column)) for column in zip(self.headings, *cells)]

        def line(row: tuple[str, ...]) -> str:
            parts = [c.rjust(w) if k in self.numbers else c.ljust(w) for k, (c, w) in enumerate(zip(row, widths))]
            return "  ".join(parts).rstrip()

        lines = [self.title] if self.title else []
        lines += [line(self.headings), "  ".join("-" * w for w in widths)]
        lines += [f"  ... {r}" if isinstance(r, str) else line(r) for r in self.rows]
        return "\n".join([*lines, *(["", *self.notes] if self.notes else [])])

    def html(self) -> str:
        """The table as a fragment of HTML that carries its style."""
        e = html.escape
        head = "".join(f"<th>{e(h)}</th>" for h in self.headings)
        body = []
        for k, row in enumerate(self.rows):
            bad = ' class="bad"' if k in self.bad else ""
            if isinstance(row, str):
                body.append(f'<tr><td class="fold" colspan="{len(self.headings)}">… {e(row)}</td></tr>')
            else:
                cells = (f'<td class="number">{e(c)}</td>' if i in self.numbers else f"<td>{e(c)}</td>"
                         for i, c in enumerate(row))  # fmt: skip
                body.append(f"<tr{bad}>{''.join(cells)}</tr>")
        caption = f"<caption>{e(self.title)}</caption>" if self.title else ""
        notes = f"<pre>{e(chr(10).join(self.notes))}</pre>" if self.notes else ""
        rows = "\n".join(body)
        return (
            f'<div class="tangentc">{STYLE}<table>{caption}<thead><tr>{head}</tr></thead>\n'
            f"<tbody>{rows}</tbody></table>{notes}</div>"
        )

    def rich(self) -> Any:
        """The table for rich."""
        from rich.console import Group
        from rich.table import Table as RichTable
        from rich.text import Text

        made = RichTable(title=Text(self.title, style="bold") if self.title else None, title_justify="left",
                         box=None, header_style="bold", pad_edge=False)  # fmt: skip
        for k, heading in enumerate(self.headings):
            made.add_column(Text(heading), justify="right" if k in self.numbers else "left", overflow="fold")
        for k, row in enumerate(self.rows):
            if isinstance(row, str):
                made.add_row(Text("..."), Text(row, style="dim italic"), *([Text("")] * (len(self.headings) - 2)))
            else:
                made.add_row(*map(Text, row), style="bold red" if k in self.bad else None)
        return Group(made, *(Text(n) for n in ("", *self.notes) if self.notes))

    def shown(self) -> str:
        """The table as it is best read where standard output goes."""
        if not sys.stdout.isatty():
            return self.text()
        from rich.console import Console

        console = Console(file=sys.stdout)
        with console.capture() as capture:
            console.print(self.rich())
        return capture.get().rstrip("\n")


class Shown:
    """What is shown as a table."""

    def table(self) -> Table:
        raise NotImplementedError

    def to_html(self) -> str:
        """The table as a fragment of HTML."""
        return self.table().html()

    def _repr_html_(self) -> str:
        return self.to_html()

    def __rich__(self) -> Any:
        return self.table().rich()

    def __str__(self) -> str:
        return self.table().shown()

    __repr__ = __str__


def number(x: Any) -> str:
    """A number as people write it: 0.5, 1e-09, 3, nan."""
    if isinstance(x, complex):
        return f"{x:.4g}"
    if isinstance(x, bool):
        return str(x)
    return f"{x:.4g}" if isinstance(x, float) else str(x)
