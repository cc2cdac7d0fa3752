"""The computational graph, as text for Graphviz and Mermaid, and as a picture."""

from __future__ import annotations

import html
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tangentc.inspection.explain import Explanation, brief_of, explain
from tangentc.inspection.observe import Node
from tangentc.inspection.trace import folded

FONT = "ui-monospace, monospace"
STYLE = """
.tangentc-edge {fill: none; stroke: currentColor; opacity: .55}
.tangentc-node rect {fill: none; stroke: currentColor}
.tangentc-argument rect {rx: 14}
.tangentc-result rect {stroke-width: 2.5}
.tangentc-folded rect {stroke-dasharray: 4}
text {fill: currentColor}
.tangentc-label {font-size: 11px; opacity: .8}
"""
WIDTH, HEIGHT, GAP = 8.0, 17, 14  # of a character, of a row, between nodes


@dataclass(frozen=True)
class Vertex:
    """A node of the picture: its rows of text, and the loops and the function that it stands in."""

    name: str
    rows: tuple[str, ...]
    kind: str  # "argument", "value", "result" or "folded"
    clusters: tuple[str, ...] = ()


@dataclass(frozen=True)
class Edge:
    """From a value to one that is computed from it, with the local derivative."""

    start: str
    end: str
    label: str = ""


class Graph:
    """The graph of one run; see `graph`.  ``vertices`` and ``edges`` are what the texts and the picture show."""

    def __init__(self, explanation: Explanation):
        self.name = explanation.name
        self.vertices: list[Vertex] = []
        self.edges: list[Edge] = []
        self._build(explanation)

    def _build(self, e: Explanation) -> None:
        result = next((n.number for n in reversed(e.nodes) if n.site is not None and n.adjoint is not None), None)
        shown = folded(e.nodes, e.loops)
        place: dict[int, str] = {n.number: e.label(n) for n in shown if isinstance(n, Node)}
        after = 0
        for k, row in enumerate(shown):
            if isinstance(row, Node):
                after = row.number + 1
                kind = "argument" if row.site is None else "result" if row.number == result else "value"
                self.vertices.append(Vertex(e.label(row), tuple(_rows(e, row)), kind, tuple(_clusters(e, row))))
                continue
            following = next((r.number for r in shown[k + 1 :] if isinstance(r, Node)), len(e.nodes))
            name = f"f{k}"
            place.update(dict.fromkeys(range(after, following), name))
            self.vertices.append(Vertex(name, (f"... {row}",), "folded", tuple(_clusters(e, e.nodes[after]))[:-1]))
            after = following
        seen: set[tuple[str, str]] = set()
        for node in e.nodes:
            labels = {p.by: p for p in e.partials(node)} if place[node.number] == e.label(node) else {}
            for parent in dict.fromkeys(p for p in node.parents if p is not None):
                pair = place[parent], place[node.number]
                if pair[0] == pair[1] or pair in seen:
                    continue
                seen.add(pair)
                partial = labels.get(e.label(parent))
                shown_value = "" if partial is None or partial.value is None else brief_of(partial.value)
                label = "" if partial is None else partial.formula
                label += f" = {shown_value}" if shown_value and shown_value != label else ""
                self.edges.append(Edge(*pair, label))

    # ---------------------------------------------------------- texts
    def dot(self) -> str:
        """The text for Graphviz; loops and calls are clusters."""
        shapes = {"argument": "ellipse", "value": "box", "result": "doubleoctagon", "folded": "note"}
        fonts = "node [fontname=monospace]; edge [fontname=monospace];"
        lines = [f"digraph {_quoted(self.name)} {{", f"  rankdir=TB; {fonts}"]

        def vertex(v: Vertex, pad: str) -> str:
            return f"{pad}{v.name} [shape={shapes[v.kind]}, label={_quoted(chr(10).join(v.rows))}];"

        def opened(title: str, pad: str, number: int) -> str:
            return f"{pad}subgraph cluster_{number} {{ label={_quoted(title)}; style=rounded;"

        lines += self._nested(vertex, opened, lambda pad: f"{pad}}}")
        lines += [f"  {e.start} -> {e.end} [label={_quoted(e.label)}];" for e in self.edges]
        return "\n".join([*lines, "}"]) + "\n"

    def mermaid(self) -> str:
        """The text for Mermaid, which many pages draw; loops and calls are subgraphs."""
        brackets = {"argument": "(", "value": "[", "result": "[[", "folded": ">"}
        ends = {"(": ")", "[": "]", "[[": "]]", ">": "]"}

        def vertex(v: Vertex, pad: str) -> str:
            text = "<br>".join(map(_entities, v.rows))
            return f'{pad}{v.name}{brackets[v.kind]}"{text}"{ends[brackets[v.kind]]}'

        def opened(title: str, pad: str, number: int) -> str:
            return f'{pad}subgraph s{number} ["{_entities(title)}"]'

        lines = ["flowchart TB", *self._nested(vertex, opened, lambda pad: f"{pad}end")]
        for e in self.edges:
            label = f'|"{_entities(e.label)}"|' if e.label else ""
            lines.append(f"  {e.start} -->{label} {e.end}")
        return "\n".join(lines) + "\n"

    def _nested(
        self, vertex: Callable[[Vertex, str], str], opened: Callable[[str, str, int], str], closed: Callable[[str], str]
    ) -> Iterator[str]:
        """The vertices, each in its clusters."""
        current: tuple[str, ...] = ()
        number = 0
        for v in self.vertices:
            common = 0
            while common < min(len(current), len(v.clusters)) and current[common] == v.clusters[common]:
                common += 1
            for depth in range(len(current), common, -1):
                yield closed("  " * depth)
            for depth in range(common, len(v.clusters)):
                number += 1
                yield opened(v.clusters[depth], "  " * (depth + 1), number)
            current = v.clusters
            yield vertex(v, "  " * (len(current) + 1))
        for depth in range(len(current), 0, -1):
            yield closed("  " * depth)

    # ---------------------------------------------------------- the picture
    def svg(self) -> str:
        """The picture, drawn in layers (the layout is grandalf's, after Sugiyama, Tagawa and Toda, 1981)."""
        from grandalf.graphs import Edge as Line
        from grandalf.graphs import Graph as Drawing
        from grandalf.graphs import Vertex as Point
        from grandalf.layouts import SugiyamaLayout

        points = {v.name: Point(v) for v in self.vertices}
        for point in points.values():
            point.view = _View(point.data)
        lines = [Line(points[e.start], points[e.end], data=e) for e in self.edges]
        drawing = Drawing(list(points.values()), lines)
        left = 0.0
        boxes: list[tuple[Vertex, float, float, float, float]] = []
        at: dict[str, tuple[float, float, float]] = {}
        for part in drawing.C:
            layout = SugiyamaLayout(part)
            layout.xspace, layout.yspace = 3 * GAP, 3 * GAP
            layout.init_all(roots=[v for v in part.sV if not v.e_in()], inverted_edges=[])
            layout.draw(3)
            views = [(v.data, v.view) for v in part.sV]
            shift = left + GAP - min(w.xy[0] - w.w / 2 for _, w in views)
            top = GAP - min(w.xy[1] - w.h / 2 for _, w in views)
            for vertex, w in views:
                x, y = w.xy[0] + shift, w.xy[1] + top
                boxes.append((vertex, x - w.w / 2, y - w.h / 2, w.w, w.h))
                at[vertex.name] = x, y, w.h
            left = max(b[1] + b[3] for b in boxes)
        width, height = left + GAP, max(b[2] + b[4] for b in boxes) + GAP
        return _drawn(self, boxes, at, width, height)

    def _repr_html_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<graph of {self.name}: {len(self.vertices)} nodes, {len(self.edges)} edges>"


class _View:
    """The size of a node, as the layout asks for it."""

    def __init__(self, vertex: Vertex):
        self.w = max(map(len, vertex.rows)) * WIDTH + 2 * GAP
        self.h = len(vertex.rows) * HEIGHT + GAP
        self.xy = (0.0, 0.0)


def graph(f: Callable[..., Any], *args: Any) -> Graph:
    """The computational graph of ``f`` at these arguments.

    It has a node for each value, with its operation, what it is like, its adjoint and its line, and edges with the
    local derivatives, along which the adjoints flow back.

    ``.dot()`` is text for Graphviz, ``.mermaid()`` for Mermaid, ``.svg()`` a picture that needs no other program; in a
    notebook it is shown.  Loops and calls are clusters; of a long loop the first two trips and the last are shown.

    >>> def cost(y, w, x, b):
    ...     return y - max(0, w * x + b)
    >>> picture = graph(cost, 5, 2, 1, 1)
    >>> picture
    <graph of cost: 8 nodes, 7 edges>
    >>> print(picture.mermaid().split("\\n")[-2].strip())
    w7 -->|"-1"| w8
    """
    return Graph(explain(f, *args))


def _rows(e: Explanation, node: Node) -> Iterator[str]:
    name = "" if node.name.startswith("%") else node.name.split(".")[0]
    expression = "" if node.site is None else e.expression(node)
    yield " = ".join(dict.fromkeys(t for t in (e.label(node), name, expression) if t))
    yield brief_of(node.value)
    if node.adjoint is not None:
        yield f"adjoint {brief_of(node.adjoint)}"
    if node.site is not None:
        yield f"line {node.site.span.line}"


def _clusters(e: Explanation, node: Node) -> Iterator[str]:
    for loop, trip in node.trips:
        yield e.loops[loop]
        yield f"trip {trip + 1}"
    if node.site is not None and node.site.function != e.name:
        yield f"{node.site.function}()"


def _quoted(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
    return f'"{escaped}"'


def _entities(text: str) -> str:
    return html.escape(text).replace("[", "&#91;").replace("]", "&#93;").replace("&quot;", "#quot;")


def _drawn(picture: Graph, boxes: list, at: dict, width: float, height: float) -> str:
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height:.0f}" width="{width:.0f}" '
        f'height="{height:.0f}" role="img" aria-label="The graph of {html.escape(picture.name)}" '
        f'font-family="{FONT}" font-size="13">',
        f"<style>{STYLE}</style>",
        '<defs><marker id="tangentc-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" '
        'orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker></defs>',
    ]
    for e in picture.edges:
        (x0, y0, h0), (x1, y1, h1) = at[e.start], at[e.end]
        a, b = (y0 + h0 / 2, y1 - h1 / 2) if y1 >= y0 else (y0 - h0 / 2, y1 + h1 / 2)
        middle = (a + b) / 2
        parts.append(
            f'<path class="tangentc-edge" d="M{x0:.1f} {a:.1f}C{x0:.1f} {middle:.1f} {x1:.1f} {middle:.1f} '
            f'{x1:.1f} {b:.1f}" marker-end="url(#tangentc-arrow)"/>'
        )
        if e.label:
            at_ = f'x="{(x0 + x1) / 2 + 4:.1f}" y="{middle:.1f}"'
            parts.append(f'<text class="tangentc-label" {at_}>{html.escape(e.label)}</text>')
    for vertex, x, y, w, h in boxes:
        parts.append(f'<g class="tangentc-node tangentc-{vertex.kind}"><title>{html.escape(vertex.rows[0])}</title>'
                     f'<rect x="{x:.1f}" y="{y:.1f}" width="{w:.1f}" height="{h:.1f}" rx="3"/>')  # fmt: skip
        for k, row in enumerate(vertex.rows):
            place = y + GAP / 2 + (k + 0.75) * HEIGHT
            parts.append(f'<text x="{x + w / 2:.1f}" y="{place:.1f}" text-anchor="middle">{html.escape(row)}</text>')
        parts.append("</g>")
    return "\n".join([*parts, "</svg>"])
