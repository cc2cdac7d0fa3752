"""The computational graph: what its texts and its picture show."""

import itertools
import re
import xml.etree.ElementTree as ET

import numpy as np

from tangentc import graph


def cost(y, w, x, b):
    return y - max(0, w * x + b)


def inner(v):
    e = np.exp(v)
    for _ in range(1):  # so that it stays a function
        e = e * v
    return e


def loop(x, w, n):
    for _ in range(n):
        x = np.sin(x) * w + inner(x) * 0.01
    return np.sum(x)


def test_nodes_and_edges():
    picture = graph(cost, 5, 2, 1, 1)
    assert repr(picture) == "<graph of cost: 8 nodes, 7 edges>"
    rows = {v.name: v.rows for v in picture.vertices}
    line = cost.__code__.co_firstlineno + 1
    assert rows["w5"] == ("w5 = w2 * w3", "2", "adjoint -1", f"line {line}")
    assert rows["w1"] == ("w1 = y", "5", "adjoint 1")
    assert {v.name: v.kind for v in picture.vertices}["w8"] == "result"
    edges = {(e.start, e.end): e.label for e in picture.edges}
    short = {v.name: v.values for v in picture.vertices}
    assert short["w5"] == ("2", "-1") and short["w1"] == ("5", "1")
    told = {v.name: v.about for v in picture.vertices}
    assert told["w5"] == (
        ("w5 = w2 * w3", ""), ("value 2", "primal"), ("adjoint -1", "adjoint"), ("dw5/dw2 = w3 = 1", "adjoint"),
        ("dw5/dw3 = w2 = 2", "adjoint"), (f"line {line}: return y - max(0, w * x + b)", ""),
    )  # fmt: skip
    assert all(e.carries for e in picture.edges)
    assert edges == {
        ("w2", "w5"): "w3 = 1", ("w3", "w5"): "w2 = 2", ("w5", "w6"): "1", ("w4", "w6"): "1",
        ("w6", "w7"): "1 if w6 > 0 else 0 = 1", ("w1", "w8"): "1", ("w7", "w8"): "-1",
    }  # fmt: skip


def test_arrays_that_are_changed_are_on_the_way():
    """They were left out, and the graph fell into pieces."""

    def filled(x):
        y = np.zeros(2)
        y = y + x * 2
        y[0] = x[1] ** 2
        return np.sum(y * y)

    picture = graph(filled, np.array([1.0, 3.0]))
    expressions = [v.rows[0] for v in picture.vertices]
    assert "w4 = y = w2 + w3" in expressions and "w7 = y = y[0] = w6" in expressions
    ends = {(e.start, e.end) for e in picture.edges}
    assert {("w1", "w3"), ("w3", "w4"), ("w4", "w7"), ("w6", "w7"), ("w7", "w8"), ("w8", "w9")} <= ends


def test_text_for_graphviz():
    text = graph(cost, 5, 2, 1, 1).dot()
    assert text.startswith('digraph "cost" {') and text.endswith("}\n")
    assert 'w2 -> w5 [label="w3 = 1"];' in text
    assert r'label="w7 = max(0, w6)\n3\nadjoint -1' in text
    assert text.count("{") == text.count("}") and text.count('"') % 2 == 0


def test_loops_and_calls_are_clusters_and_long_loops_fold():
    picture = graph(loop, np.ones(3), 0.5, 9)
    text = picture.dot()
    assert text.count('label="for _ in range(n):"') >= 1 and 'label="trip 1"' in text and 'label="inner()"' in text
    assert text.count("{") == text.count("}")
    (folded,) = [v for v in picture.vertices if v.kind == "folded"]
    assert folded.rows == ("... trips 3 to 8", "of `for _ in range(n):`: 36 rows")
    assert folded.clusters == ("for _ in range(n):",)
    assert [e for e in picture.edges if e.start == folded.name] and [e for e in picture.edges if e.end == folded.name]
    assert len(picture.vertices) == 2 + 3 * 6 + 1 + 1
    mermaid = picture.mermaid()
    assert mermaid.count("subgraph ") == len(re.findall(r"^ *end$", mermaid, re.M))


def test_text_for_mermaid():
    lines = graph(cost, 5, 2, 1, 1).mermaid().strip().split("\n")
    assert lines[0] == "flowchart TB"
    assert '  w2 -->|"w3 = 1"| w5' in lines and '  w8[["w8 = w1 - w7<br>2<br>adjoint 1<br>line' in "\n".join(lines)
    assert not any("[" in part for line in lines for part in re.findall(r'"([^"]*)"', line))  # they end a label


def place_of(g):
    """Left, top, right and bottom of a box."""
    left, top = map(float, re.fullmatch(r"translate\((.*),(.*)\)", g.attrib["transform"]).groups())
    rect = next(r for r in g if r.tag.endswith("rect"))
    return left, top, left + float(rect.attrib["width"]), top + float(rect.attrib["height"])


def test_picture_is_drawn_without_any_program(monkeypatch):
    monkeypatch.setenv("PATH", "")
    pictures = graph(cost, 5, 2, 1, 1), graph(loop, np.ones(3), 0.5, 9), graph(lambda x, y: x * 1.0, 2.0, 3.0)
    for picture, is_folded in itertools.product(pictures, (False, True)):
        root = ET.fromstring(picture.svg(is_folded))
        width, height = map(float, root.attrib["viewBox"].split()[2:])
        boxes = {g.attrib["data-box"]: place_of(g) for g in root.iter() if "data-box" in g.attrib}
        if not is_folded:
            assert {v.name for v in picture.vertices} == {name for name in boxes if not name.startswith("c")}
        for k, (name, a) in enumerate(boxes.items()):
            assert 0 <= a[0] and a[2] <= width and 0 <= a[1] and a[3] <= height
            for other, b in list(boxes.items())[:k]:  # none lies on another, but those in a cluster in it
                apart = a[0] >= b[2] or b[0] >= a[2] or a[1] >= b[3] or b[1] >= a[3]
                inside = b[0] < a[0] and a[2] < b[2] and b[1] < a[1] and a[3] < b[3]
                assert apart or inside and other.startswith("c"), (name, other)
        arrows = [p for p in root.iter() if p.tag.endswith("path") and p.attrib.get("class") == "tangentc-edge"]
        texts = [t.text for t in root.iter() if t.tag.endswith("text")]
        if not is_folded:
            assert len(arrows) == len(picture.edges)
            assert all(v.rows[0] in texts for v in picture.vertices)
        told = "".join(t.text or "" for t in root.iter() if t.tag.endswith("title"))
        assert all(line in told for v in picture.vertices if v.name in boxes for line, _ in v.about)
    assert picture._repr_html_().startswith("<svg")


def test_loops_are_folded_at_first():
    boxes = re.findall(r'data-box="(\w+)"', graph(loop, np.ones(3), 0.5, 50).svg())
    assert len(boxes) == 4  # two arguments, the loop, the sum
    assert "\u25b8 for _ in range(n): (50 trips)" in graph(loop, np.ones(3), 0.5, 50).svg()
