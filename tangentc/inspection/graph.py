"""The computational graph, as text for Graphviz and Mermaid, and as a picture."""

from __future__ import annotations

import html
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from tangentc.inspection.explain import Explanation, brief_of, explain
from tangentc.inspection.observe import Node
from tangentc.inspection.picture import drawn
from tangentc.inspection.trace import folded

SHORT = 8  # values of so many characters stand in their node


@dataclass(frozen=True)
class Vertex:
    """A node of the picture: its rows of text, and the loops and the function that it stands in.

    In the picture the first row stands, with the value and the adjoint if these are short; ``about`` is what is told of
    a node that is pointed at, each row with "primal", "adjoint" or "" for its colour.
    """

    name: str
    rows: tuple[str, ...]
    kind: str  # "argument", "value", "result" or "folded"
    clusters: tuple[str, ...] = ()
    values: tuple[str, ...] = ()
    about: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Edge:
    """From a value to one that is computed from it, with the local derivative; whether an adjoint flows back."""

    start: str
    end: str
    label: str = ""
    carries: bool = False


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
                rows, about = tuple(_rows(e, row)), tuple(_about(e, row))
                values = tuple("" if v is None or len(brief_of(v)) > SHORT else brief_of(v)
                               for v in (row.value, row.adjoint))  # fmt: skip
                self.vertices.append(Vertex(e.label(row), rows, kind, tuple(_clusters(e, row)), values, about))
                continue
            following = next((r.number for r in shown[k + 1 :] if isinstance(r, Node)), len(e.nodes))
            name = f"f{k}"
            place.update(dict.fromkeys(range(after, following), name))
            head, _, rest = row.partition(" of ")
            rows = f"... {head}", f"of {rest}"
            around = zip(_clusters(e, e.nodes[after - 1]), _clusters(e, e.nodes[following]))
            clusters = tuple(a for a, _ in itertools.takewhile(lambda pair: pair[0] == pair[1], around))
            self.vertices.append(Vertex(name, rows, "folded", clusters, (), tuple((r, "") for r in rows)))
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
                is_value = place[node.number] == e.label(node) and node.adjoint is None
                flows = partial is not None or not is_value or bool(node.site and node.site.is_store)
                self.edges.append(Edge(*pair, label, flows and e.nodes[parent].adjoint is not None))

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

    def svg(self, folded: bool = True) -> str:
        """The picture, which needs no other program.

        Loops, trips and calls are boxes that fold by a click, where scripts run; loops and their trips are folded at
        first, without ``folded`` they are not.  A node that is pointed at tells its value, its adjoint and its line.
        """
        return drawn(self, folded)

    def _repr_html_(self) -> str:
        return self.svg()

    def __repr__(self) -> str:
        return f"<graph of {self.name}: {len(self.vertices)} nodes, {len(self.edges)} edges>"


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
    expression = "" if node.site is None else e.expression(node)
    yield " = ".join(dict.fromkeys(t for t in (e.label(node), e.name_of(node), expression) if t))
    yield brief_of(node.value)
    if node.adjoint is not None:
        yield f"adjoint {brief_of(node.adjoint)}"
    if node.site is not None:
        yield f"line {node.site.span.line}"


def _about(e: Explanation, node: Node) -> Iterator[tuple[str, str]]:
    """What is told of a node that is pointed at."""
    first, value, *_ = _rows(e, node)
    yield first, ""
    yield f"value {value}", "primal"
    if node.adjoint is not None:
        yield f"adjoint {brief_of(node.adjoint)}", "adjoint"
    for p in e.partials(node):
        yield str(p), "adjoint"
    if node.site is not None:
        yield f"line {node.site.span.line}: {node.site.span.text.strip()}", ""


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
