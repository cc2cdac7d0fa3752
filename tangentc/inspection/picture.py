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
STYLE = """
.tangentc-edge {fill: none; stroke: currentColor; opacity: .55}
.tangentc-node rect {fill: Canvas; stroke: currentColor}
.tangentc-argument rect {rx: 14}
.tangentc-result rect {stroke-width: 2.5}
.tangentc-folded rect {stroke-dasharray: 4}
.tangentc-cluster rect {fill: currentColor; fill-opacity: .04; stroke: currentColor; stroke-opacity: .35}
.tangentc-cluster {cursor: pointer}
.tangentc-cluster:focus-visible {outline: 2px solid Highlight}
text {fill: currentColor}
.tangentc-label {font-size: 11px; opacity: .8}
"""
WIDTH, SMALL, HEIGHT, GAP = 8.0, 6.8, 17, 14  # of a character, of one of a label, of a row, inside a box
BETWEEN = 3 * GAP  # boxes


@dataclass
class Box:
    """A node of the picture, or a loop, a trip or a call with what stands in it.

    ``x`` and ``y`` are those of the upper left corner in the box around it; in ``row`` stand the boxes of a layer.
    """

    name: str
    rows: tuple[str, ...]
    vertex: Vertex | None = None
    inside: list[Box] = field(default_factory=list)
    x: float = 0.0
    y: float = 0.0
    width: float = 0.0
    height: float = 0.0
    row: str = ""

    def places(self, x: float = 0.0, y: float = 0.0) -> Iterator[tuple[Box, float, float]]:
        """All boxes inside, the outer before the inner, with where they stand in the picture."""
        for box in self.inside:
            yield box, x + box.x, y + box.y
            yield from box.places(x + box.x, y + box.y)

    def tree(self) -> list[Any]:
        """What the folding needs: the name, the place, the size, the row, and what is inside."""
        return [
            self.name, round(self.x, 1), round(self.y, 1), round(self.width, 1), round(self.height, 1), self.row,
            [b.tree() for b in self.inside],
        ]  # fmt: skip


def drawn(graph: Graph) -> str:
    """The graph as SVG.  The layout of what stands in a box is that of layers (grandalf's, after Sugiyama, Tagawa and
    Toda, IEEE Trans. SMC 11, 1981), and a box is laid out as one node of what it stands in.

    Loops, trips and calls fold by a click, or by Enter, where scripts run."""
    whole = _nested(graph.vertices)
    _lay_out(whole, graph.edges)
    places = {box.name: (box, x, y) for box, x, y in whole.places()}
    for e in graph.edges:
        whole.width = max(whole.width, _label_at(e, places)[0] + len(e.label) * SMALL + GAP)
    name = html.escape(graph.name)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {whole.width:.0f} {whole.height:.0f}" '
        f'width="{whole.width:.0f}" height="{whole.height:.0f}" role="group" aria-label="The graph of {name}" '
        f'font-family="{FONT}" font-size="13">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tangentc-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>',
        *(_cluster(box, x, y) for box, x, y in places.values() if box.vertex is None),
        *(_edge(e, places) for e in graph.edges),
        *(_node(box, x, y) for box, x, y in places.values() if box.vertex is not None),
    ]
    if any(box.vertex is None for box in whole.inside):
        sizes = json.dumps({"tree": whole.tree(), "title": _titled(), "gap": GAP, "between": BETWEEN})
        script = files("tangentc.inspection").joinpath("page/graph.js").read_text()
        parts += [f"<metadata>{html.escape(sizes)}</metadata>", f"<script><![CDATA[{script}]]></script>"]
    return "\n".join([*parts, "</svg>"])


def _nested(vertices: list[Vertex]) -> Box:
    """The boxes of the vertices, each in those of its clusters."""
    whole = Box("", ())
    path: list[tuple[str, Box]] = []
    number = 0
    for v in vertices:
        common = 0
        while common < min(len(path), len(v.clusters)) and path[common][0] == v.clusters[common]:
            common += 1
        del path[common:]
        for title in v.clusters[common:]:
            number += 1
            box = Box(f"c{number}", (title,))
            (path[-1][1] if path else whole).inside.append(box)
            path.append((title, box))
        (path[-1][1] if path else whole).inside.append(Box(v.name, v.rows, v))
    return whole


def _titled() -> int:
    """The height of the row with the title of a box."""
    return HEIGHT + GAP // 2


def _lay_out(whole: Box, edges: list[Edge]) -> None:
    """Give every box its size, and its place in the box around it."""
    from grandalf.graphs import Edge as Line
    from grandalf.graphs import Graph as Drawing
    from grandalf.graphs import Vertex as Point
    from grandalf.layouts import SugiyamaLayout

    held: dict[str, Box] = {}
    for box in whole.inside:
        if box.vertex is None:
            _lay_out(box, edges)
        else:
            box.width = max(map(len, box.rows)) * WIDTH + 2 * GAP
            box.height = len(box.rows) * HEIGHT + GAP
        held[box.name] = box
        held.update((inner.name, box) for inner, _, _ in box.places())
    points = {box.name: Point(box) for box in whole.inside}
    for point in points.values():
        point.view = _View(point.data)
    pairs = {(held[e.start].name, held[e.end].name): None for e in edges if e.start in held and e.end in held}
    lines = [Line(points[a], points[b]) for a, b in pairs if a != b]
    left, bottom = float(GAP), 0.0
    titled = _titled() if whole.name else 0
    for number, part in enumerate(Drawing(list(points.values()), lines).C):
        layout = SugiyamaLayout(part)
        layout.xspace, layout.yspace = BETWEEN, BETWEEN
        layout.init_all(roots=[v for v in part.sV if not v.e_in()], inverted_edges=[])
        layout.draw(3)
        shift = left - min(v.view.xy[0] - v.view.w / 2 for v in part.sV)
        top = float(titled + GAP)
        for rank, layer in enumerate(layout.layers):
            row = [v for v in layer if v in points.values()]
            height = max((v.data.height for v in row), default=0.0)
            for v in row:
                v.data.x = v.view.xy[0] + shift - v.data.width / 2
                v.data.y = top + (height - v.data.height) / 2
                v.data.row = f"{number}.{rank}"
            top += height + BETWEEN if row else 0.0
        bottom = max(bottom, top - BETWEEN)
        left = max(v.data.x + v.data.width for v in part.sV) + BETWEEN
    title = max(map(len, whole.rows), default=0) * WIDTH + 5 * GAP
    whole.width, whole.height = max(left - BETWEEN + GAP, title), bottom + GAP


class _View:
    """The size of a box, as the layout asks for it."""

    def __init__(self, box: Box):
        self.w, self.h = box.width, box.height
        self.xy = (0.0, 0.0)


def _cluster(box: Box, x: float, y: float) -> str:
    title = html.escape(box.rows[0])
    return (
        f'<g class="tangentc-cluster" data-box="{box.name}" transform="translate({x:.1f},{y:.1f})">'
        f'<title>{title}</title><rect width="{box.width:.1f}" height="{box.height:.1f}" rx="6"/>'
        f'<text x="{GAP / 2}" y="{HEIGHT}">{title}</text></g>'
    )


def _node(box: Box, x: float, y: float) -> str:
    assert box.vertex is not None
    rows = "".join(
        f'<text x="{box.width / 2:.1f}" y="{GAP / 2 + (k + 0.75) * HEIGHT:.1f}" text-anchor="middle">'
        f"{html.escape(row)}</text>"
        for k, row in enumerate(box.rows)
    )
    return (
        f'<g class="tangentc-node tangentc-{box.vertex.kind}" data-box="{box.name}" '
        f'transform="translate({x:.1f},{y:.1f})"><title>{html.escape(box.rows[0])}</title>'
        f'<rect width="{box.width:.1f}" height="{box.height:.1f}" rx="3"/>{rows}</g>'
    )


def _label_at(e: Edge, places: dict[str, tuple[Box, float, float]]) -> tuple[float, float]:
    """Where the label of an edge stands: on the curve, a quarter of the way."""
    (start, x0, y0), (end, x1, y1) = places[e.start], places[e.end]
    x0, y0, x1 = x0 + start.width / 2, y0 + start.height, x1 + end.width / 2
    return x0 + (x1 - x0) * 0.156 + 4, y0 + (y1 - y0) * 0.36


def _edge(e: Edge, places: dict[str, tuple[Box, float, float]]) -> str:
    (start, x0, y0), (end, x1, y1) = places[e.start], places[e.end]
    x0, y0, x1 = x0 + start.width / 2, y0 + start.height, x1 + end.width / 2
    middle = (y0 + y1) / 2
    label = ""
    if e.label:
        x, y = _label_at(e, places)
        label = f'<text class="tangentc-label" x="{x:.1f}" y="{y:.1f}">{html.escape(e.label)}</text>'
    return (
        f'<g class="tangentc-line" data-from="{e.start}" data-to="{e.end}"><path class="tangentc-edge" '
        f'd="M{x0:.1f} {y0:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} {x1:.1f} {y1:.1f}" '
        f'marker-end="url(#tangentc-arrow)"/>{label}</g>'
    )
