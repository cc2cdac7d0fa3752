"""Tables that people read: with rich in a terminal, as HTML in a notebook, as plain text elsewhere."""

from __future__ import annotations

import html
import sys
import textwrap
from collections.abc import Iterator
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


GAP = "  "  # between columns
Cell = str | tuple[str, ...]  # what has several parts is shown with commas between them, or a part a line


@dataclass
class Table:
    """Rows of text under headings.  A row that is one string stands for rows that are left out.

    Where a table is wider than the terminal, columns that only say more (``more``) are left out, and if it still is,
    some (``below``) stand under their rows.
    """

    title: str
    headings: tuple[str, ...]
    rows: list[tuple[Cell, ...] | str] = field(default_factory=list)
    numbers: frozenset[int] = frozenset()  # the columns that are aligned at the right
    bad: set[int] = field(default_factory=set)  # rows that are to be noticed
    notes: list[str] = field(default_factory=list)
    more: tuple[int, ...] = ()
    below: tuple[int, ...] = ()

    def text(self, width: int | None = None) -> str:
        """The table as plain text, a row a line; in lines of at most ``width``, if it is given."""
        lines = [line for _, line in self.lines(width)]
        notes = [part for note in self.notes for part in (_wrapped(note, width) if width else [note])]
        return "\n".join([*lines, *(["", *notes] if notes else [])])

    def lines(self, width: int | None = None) -> Iterator[tuple[str, str]]:
        """The lines of the table, each with the style that it has in a terminal."""
        cells = [tuple(map(_joined, r)) for r in self.rows if not isinstance(r, str)]
        widths = [max(map(len, column)) for column in zip(self.headings, *cells)]
        shown = [*range(len(widths))]
        under: tuple[int, ...] = ()

        def room() -> int:
            return sum(widths[k] for k in shown) + len(GAP) * (len(shown) - 1)

        if width is not None and room() > width:
            shown = [k for k in shown if k not in self.more and any(row[k] for row in cells)]
        if width is not None and room() > width:
            under, shown = self.below, [k for k in shown if k not in self.below]
            widest = max(shown, key=lambda k: widths[k])
            widths[widest] -= max(0, min(room() - width, widths[widest] - 8))

        def line(row: tuple[str, ...]) -> str:
            short = ((k, c if len(c) <= widths[k] else c[: widths[k] - 1] + "\u2026") for k, c in enumerate(row))
            parts = (c.rjust(widths[k]) if k in self.numbers else c.ljust(widths[k]) for k, c in short if k in shown)
            return GAP.join(parts).rstrip()

        if self.title:
            yield "bold", self.title
        yield "bold", line(self.headings)
        yield "dim", GAP.join("-" * widths[k] for k in shown)
        for k, row in enumerate(self.rows):
            if isinstance(row, str):
                told = f"{GAP}... {row}"
                yield from (("dim italic", part) for part in (_wrapped(told, width) if width else [told]))
                continue
            style = "bold red" if k in self.bad else ""
            yield style, line(tuple(map(_joined, row)))
            if under and width:
                yield from ((style, part) for part in self._under(row, under, width))

    def _under(self, row: tuple[Cell, ...], columns: tuple[int, ...], width: int) -> Iterator[str]:
        """What stands under a row: in one line, or a part a line."""
        parts = []
        for k in columns:
            cell = row[k]
            parts += list(cell) if isinstance(cell, tuple) else [f"{self.headings[k]} {cell}"] * bool(cell)
        pad = " " * 6
        if len(pad + GAP.join(parts)) <= width:
            parts = [GAP.join(parts)] * bool(parts)
        for part in parts:
            yield from _wrapped(pad + part, width)

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
                         for i, c in enumerate(map(_joined, row)))  # fmt: skip
                body.append(f"<tr{bad}>{''.join(cells)}</tr>")
        caption = f"<caption>{e(self.title)}</caption>" if self.title else ""
        notes = f"<pre>{e(chr(10).join(self.notes))}</pre>" if self.notes else ""
        rows = "\n".join(body)
        return (
            f'<div class="tangentc">{STYLE}<table>{caption}<thead><tr>{head}</tr></thead>\n'
            f"<tbody>{rows}</tbody></table>{notes}</div>"
        )

    def __rich_console__(self, console: Any, options: Any) -> Iterator[Any]:
        from rich.text import Text

        for style, line in self.lines(options.max_width):
            yield Text(line, style=style, no_wrap=True, overflow="ellipsis")
        yield from (Text(n) for n in ("", *self.notes) if self.notes)

    def shown(self) -> str:
        """The table as it is best read where standard output goes."""
        if not sys.stdout.isatty():
            return self.text()
        from rich.console import Console

        console = Console(file=sys.stdout)
        with console.capture() as capture:
            console.print(self)
        return capture.get().rstrip("\n")


def _joined(cell: Cell) -> str:
    return cell if isinstance(cell, str) else ", ".join(cell)


def _wrapped(text: str, width: int) -> list[str]:
    """A text in lines of at most this width, those after the first further in."""
    pad = " " * (len(text) - len(text.lstrip()))
    return textwrap.wrap(text, width, subsequent_indent=f"{pad}    ", drop_whitespace=True) or [""]


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
        return self.table()

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
