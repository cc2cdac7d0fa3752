"""The picture of a computational graph: boxes in layers, loops and calls as boxes around boxes, which fold."""

from __future__ import annotations

import html
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tangentc.inspection.graph import Edge, Graph, Vertex


FONT = "ui-monospace, monospace"
PRIMAL, ADJOINT = ("#1666b5", "#6db3f2"), ("#b34700", "#ffa262")  # on white, on black
STYLE = f"""
.tangentc-graph {{background: Canvas}}
.tangentc-graph text {{fill: #1d2027; fill: light-dark(#1d2027, #e4e7ec)}}
.tangentc-edge {{fill: none; stroke: {PRIMAL[0]}; stroke: light-dark({", ".join(PRIMAL)}); opacity: .7}}
.tangentc-carries .tangentc-edge {{stroke: {ADJOINT[0]}; stroke: light-dark({", ".join(ADJOINT)})}}
.tangentc-near .tangentc-edge {{stroke-width: 2.5; opacity: 1}}
.tangentc-node rect, .tangentc-card rect {{fill: Canvas; stroke: #5c626d; stroke: light-dark(#5c626d, #9aa1ab)}}
.tangentc-result rect {{stroke-width: 2.5}}
.tangentc-folded rect {{stroke-dasharray: 4}}
.tangentc-loop rect, .tangentc-trip rect, .tangentc-call rect, .tangentc-cluster rect {{fill: #8881; stroke: #8888}}
.tangentc-loop, .tangentc-trip, .tangentc-call, .tangentc-cluster {{cursor: pointer}}
.tangentc-graph :focus-visible {{outline: 2px solid Highlight}}
.tangentc-graph .tangentc-is-primal {{fill: {PRIMAL[0]}; fill: light-dark({", ".join(PRIMAL)})}}
.tangentc-graph .tangentc-is-adjoint, .tangentc-graph .tangentc-label {{fill: {ADJOINT[0]};
  fill: light-dark({", ".join(ADJOINT)})}}
.tangentc-label {{font-size: 11px; paint-order: stroke; stroke: Canvas; stroke-width: 4px}}
#tangentc-arrow path {{fill: #888; fill: context-stroke}}
.tangentc-card {{pointer-events: none}}
"""
WIDTH, SMALL, HEIGHT, GAP = 8.0, 6.8, 17, 14  # of a character, of one of a label, of a row, inside a box
BETWEEN = 2.5 * GAP  # boxes
LABEL = 16  # longer local derivatives are told of a node that is pointed at


@dataclass
class Box:
    """A node of the picture, or a loop, a trip or a call with what stands in it.

    ``x`` and ``y`` are those of the upper left corner in the box around it.
    """

    name: str
    text: str
    kind: str
    values: tuple[str, ...] = ()
    about: tuple[tuple[str, str], ...] = ()
    inside: list[Box] = field(default_factory=list)
    is_shut: bool = False
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0

    @property
    def is_open(self) -> bool:
        return bool(self.inside) and not self.is_shut

    @property
    def title(self) -> str:
        """The text, of a loop that is folded with its trips."""
        if not self.inside:
            return self.text
        trips = self.inside[-1].text.removeprefix("trip ")
        sign = "\u25b8" if self.is_shut else "\u25be"
        return f"{sign} {self.text}" + f" ({trips} trips)" * (self.is_shut and self.kind == "loop")

    def places(self, x: float = 0.0, y: float = 0.0) -> Iterator[tuple[Box, float, float]]:
        """All boxes inside that are shown, the outer before the inner, with where they stand in the picture."""
        for box in self.inside if self.is_open else ():
            yield box, x + box.x, y + box.y
            yield from box.places(x + box.x, y + box.y)

    def stands_for(self) -> Iterator[str]:
        """The names of this and of all that is inside."""
        yield self.name
        for box in self.inside:
            yield from box.stands_for()

    def row(self) -> list[Any]:
        """What the page needs to draw it."""
        return [self.name, self.text, self.kind, self.values, self.about, [b.row() for b in self.inside]]


def drawn(graph: Graph, folded: bool, is_still: bool = True) -> str:
    """The graph as SVG, which scripts draw so that it can be folded, zoomed and asked, and which shows where none run,
    if it ``is_still``, what is there at first."""
    whole = _nested(graph.vertices, folded)
    if is_still:
        _lay_out(whole, graph.edges)
    script = files("tangentc.inspection").joinpath("page/graph.js").read_text(encoding="utf-8")
    data = {
        "boxes": [b.row() for b in whole.inside],
        "edges": [[e.start, e.end, e.label if len(e.label) <= LABEL else "", int(e.carries)] for e in graph.edges],
        "folded": folded,
    }
    size = f'viewBox="0 0 {whole.width:.0f} {whole.height:.0f}" width="{whole.width:.0f}" height="{whole.height:.0f}"'
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" {size} role="group" aria-label="The graph of '
        f'{html.escape(graph.name)}" class="tangentc-graph" font-family="{FONT}" font-size="13">\n'
        f"<style>{STYLE}</style>\n"
        '<defs><marker id="tangentc-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z"/></marker></defs>\n'
        f'<g class="tangentc-content">\n{_content(whole, graph.edges) if is_still else ""}</g>\n'
        f"<metadata>{html.escape(json.dumps(data, separators=(',', ':')), False)}</metadata>\n"
        f"<script><![CDATA[{script}]]></script>\n</svg>"
    )


def _content(whole: Box, edges: list[Edge]) -> str:
    """What is there at first: the open boxes, the edges, the nodes."""
    shown = [*whole.places()]
    places = {name: place for place in shown if not place[0].is_open for name in place[0].stands_for()}
    lines: dict[tuple[str, str], str] = {}
    for e in edges:
        pair = places[e.start][0].name, places[e.end][0].name
        if pair[0] != pair[1]:
            lines.setdefault(pair, _edge(e, places))
    parts = [_cluster(*place) for place in shown if place[0].is_open]
    parts += [*lines.values(), *(_node(*place) for place in shown if not place[0].is_open)]
    return "".join(f"{part}\n" for part in parts)


def _nested(vertices: list[Vertex], folded: bool) -> Box:
    """The boxes of the vertices, each in those of its clusters."""
    whole = Box("", "", "whole")
    path: list[tuple[str, Box]] = []
    number = 0
    for v in vertices:
        common = 0
        while common < min(len(path), len(v.clusters)) and path[common][0] == v.clusters[common]:
            common += 1
        del path[common:]
        for title in v.clusters[common:]:
            number += 1
            kind = "call" if title.endswith("()") else "trip" if title.startswith("trip ") else "loop"
            box = Box(f"c{number}", title, kind, is_shut=folded and kind != "call")
            (path[-1][1] if path else whole).inside.append(box)
            path.append((title, box))
        (path[-1][1] if path else whole).inside.append(Box(v.name, v.rows[0], v.kind, v.values, v.about))
    return whole


def _lay_out(whole: Box, edges: list[Edge]) -> None:
    """Give every box its size, and its place in the box around it: in layers (grandalf's, after Sugiyama, Tagawa and
    Toda, IEEE Trans. SMC 11, 1981), where a box that is open is one node of what it stands in."""
    from grandalf.graphs import Edge as Line
    from grandalf.graphs import Graph as Drawing
    from grandalf.graphs import Vertex as Point
    from grandalf.layouts import SugiyamaLayout

    held: dict[str, Box] = {}
    for box in whole.inside:
        if box.is_open:
            _lay_out(box, edges)
        else:
            box.width = len("  ".join(filter(None, (box.title, *box.values)))) * WIDTH + 2 * GAP
            box.height = HEIGHT + GAP
        held.update(dict.fromkeys(box.stands_for(), box))
    points = {box.name: Point(box) for box in whole.inside}
    for point in points.values():
        point.view = _View(point.data)
    pairs = {(held[e.start].name, held[e.end].name): None for e in edges if e.start in held and e.end in held}
    lines = [Line(points[a], points[b]) for a, b in pairs if a != b]
    left, bottom = float(GAP), 0.0
    titled = HEIGHT + GAP // 2 if whole.name else 0
    for part in Drawing(list(points.values()), lines).C:
        layout = SugiyamaLayout(part)
        layout.xspace, layout.yspace = BETWEEN, BETWEEN
        layout.init_all(roots=[v for v in part.sV if not v.e_in()], inverted_edges=[])
        layout.draw(3)
        shift = left - min(v.view.xy[0] - v.view.w / 2 for v in part.sV)
        top = float(titled + GAP)
        for layer in layout.layers:
            row = [v for v in layer if v in points.values()]
            height = max((v.data.height for v in row), default=0.0)
            for v in row:
                v.data.x = v.view.xy[0] + shift - v.data.width / 2
                v.data.y = top + (height - v.data.height) / 2
            top += height + BETWEEN if row else 0.0
        bottom = max(bottom, top - BETWEEN)
        left = max(v.data.x + v.data.width for v in part.sV) + BETWEEN
    title = len(whole.title) * WIDTH + 2 * GAP
    whole.width, whole.height = max(left - BETWEEN + GAP, title), bottom + GAP


class _View:
    """The size of a box, as the layout asks for it."""

    def __init__(self, box: Box):
        self.w, self.h = box.width, box.height
        self.xy = (0.0, 0.0)


def _cluster(box: Box, x: float, y: float) -> str:
    return (
        f'<g class="tangentc-cluster" data-box="{box.name}" transform="translate({x:.1f},{y:.1f})">'
        f'<rect width="{box.width:.1f}" height="{box.height:.1f}" rx="4"/>'
        f'<text x="{GAP / 2}" y="{HEIGHT}">{html.escape(box.title)}</text></g>'
    )


def _node(box: Box, x: float, y: float) -> str:
    kinds = zip(("primal", "adjoint"), box.values)
    values = (f'<tspan class="tangentc-is-{k}" dx="{2 * WIDTH}">{html.escape(v)}</tspan>' for k, v in kinds if v)
    about = html.escape("\n".join(text for text, _ in box.about))
    return (
        f'<g class="tangentc-node tangentc-{box.kind}" data-box="{box.name}" '
        f'transform="translate({x:.1f},{y:.1f})"><title>{about}</title>'
        f'<rect width="{box.width:.1f}" height="{box.height:.1f}" rx="{14 if box.kind == "argument" else 4}"/>'
        f'<text x="{GAP}" y="{GAP / 2 + 0.75 * HEIGHT:.1f}">{html.escape(box.title)}{"".join(values)}</text></g>'
    )


def _edge(e: Edge, places: dict[str, tuple[Box, float, float]]) -> str:
    (start, x0, y0), (end, x1, y1) = places[e.start], places[e.end]
    x0, y0, x1 = x0 + start.width / 2, y0 + start.height, x1 + end.width / 2
    middle = (y0 + y1) / 2
    label = ""
    if e.label and len(e.label) <= LABEL and (start.name, end.name) == (e.start, e.end):
        x, y = (x0 + x1) / 2 + 4, (y0 + y1) / 2 + 3
        label = f'<text class="tangentc-label" x="{x:.1f}" y="{y:.1f}">{html.escape(e.label)}</text>'
    return (
        f'<g class="tangentc-line{" tangentc-carries" * e.carries}" data-from="{start.name}" data-to="{end.name}">'
        f'<path class="tangentc-edge" d="M{x0:.1f} {y0:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} '
        f'{y1:.1f}" marker-end="url(#tangentc-arrow)"/>{label}</g>'
    )
