"""The table of the blackboard: what people see of values, local derivatives and adjoints."""

import ast
import re

import numpy as np
import pytest

import tangentc
from tangentc import explain, grad


def cost(y, w, x, b):
    return y - max(0, w * x + b)


def rows_of(text):
    return {line.split()[0]: line for line in text.split("\n") if re.match(r"w\d+ ", line)}


@pytest.mark.parametrize("args", [(5, 2, 1, 1), (5.0, 2.0, 1.0, 1.0)])
def test_the_lecture(args):
    table = explain(cost, *args, wrt="w")
    values = {table.label(n): (n.value, n.adjoint) for n in table.nodes}
    assert values == {
        "w1": (5.0, 1.0), "w2": (2.0, -1.0), "w3": (1.0, -2.0), "w4": (1.0, -1.0),
        "w5": (2.0, -1.0), "w6": (3.0, -1.0), "w7": (3.0, -1.0), "w8": (2.0, 1.0),
    }  # fmt: skip
    assert table.result == 2.0 and table.gradients == {"y": 1.0, "w": -1.0, "x": -2.0, "b": -1.0}
    rows = rows_of(str(table))
    assert "w2 * w3" in rows["w5"] and "dw5/dw2 = w3 = 1, dw5/dw3 = w2 = 2" in rows["w5"]
    assert "w5 + w4" in rows["w6"] and "max(0, w6)" in rows["w7"] and "w1 - w7" in rows["w8"]
    assert "dw8/dw7 dw7/dw6 dw6/dw5 dw5/dw2 = (-1) * 1 * 1 * 1 = -1" in str(table)
    assert "dcost/dx = -2" in str(table)


def test_paths_sum_up_to_the_derivative():
    def f(a, b):
        c = a * b
        return c * a + np.sin(c)

    table = explain(f, 2.0, 3.0)
    for name, k in (("a", 0), ("b", 1)):
        paths = table.paths(name)
        assert len(paths) == (3 if name == "a" else 2)
        assert sum(p.product for p in paths) == pytest.approx(grad(f, wrt=k)(2.0, 3.0))
    assert "the sum is" in str(table)


def net(W, x, y):
    h = np.tanh(W @ x)
    e = h - y
    return np.mean(e * e)


def test_arrays_show_shape_dtype_range_and_norm():
    W = np.linspace(-1, 1, 15).reshape(3, 5)
    text = str(explain(net, W, np.ones(5), np.zeros(3)))
    assert f"float64(3, 5) in [-1, 1], norm {np.linalg.norm(W):.4g}" in text
    assert "w1_bar += np.outer(w4_bar, w2), w2_bar += w1.T @ w4_bar" in text
    assert re.search(r"w5 +h +np.tanh\(w4\)", text) and "dw5/dw4 = 1 - w5 ** 2" in text


def test_adjoints_are_those_of_the_emitted_code():
    W, x, y = np.linspace(-1, 1, 15).reshape(3, 5), np.ones(5), np.zeros(3)
    table = explain(net, W, x, y)
    for node, gradient in zip(table.nodes[:3], grad(net, wrt=(0, 1, 2))(W, x, y), strict=True):
        assert np.allclose(node.adjoint, gradient)
    h = next(n for n in table.nodes if n.name == "h")
    assert np.allclose(h.adjoint, 2 * (np.tanh(W @ x) - y) / 3)


def square(v):
    return v * v if v > 1 else np.exp(v)


def test_functions_that_are_called_are_looked_into():
    table = explain(lambda a, b: square(a) * square(b) + a, 2.0, 0.5)
    expressions = [table.expression(n) for n in table.nodes if n.site is not None]
    assert expressions == ["w1 * w1", "np.exp(w2)", "w3 * w4", "w5 + w1"]
    assert table.nodes[2].site.span.line == square.__code__.co_firstlineno + 1


def test_what_is_stored_into_an_array():
    def f(x):
        a = np.zeros(2)
        a[0] = x * 2
        a[1] += x
        return np.sum(a * a)

    table = explain(f, 3.0)
    expressions = [table.expression(n) for n in table.nodes if n.site is not None]
    assert any(re.fullmatch(r"a\[0\] = w\d+", e) for e in expressions)
    assert table.gradients == {"x": pytest.approx(30.0)}
    assert [n.adjoint for n in table.nodes if n.site is not None and table.expression(n) == "w1 * 2"] == [12.0]


def loop(x, n):
    for _ in range(n):
        x = np.sin(x) * 1.1 + 0.01
    return x


def test_long_loops_fold():
    table = explain(loop, 0.5, 3400)
    assert len(table.nodes) > 10_000
    text = str(table)
    assert len(text.split("\n")) < 30 and "trips 3 to 3399 of `for _ in range(n):`: 10,191 rows" in text
    assert table.to_html().count("<tr") < 30


def test_containers():
    table = explain(lambda p: p["a"] * p["b"][0] ** 2, {"a": 2.0, "b": [3.0, 1.0]})
    assert {n.name: n.adjoint for n in table.nodes if n.site is None} == {
        "p['a']": 9.0,
        "p['b'][0]": 12.0,
        "p['b'][1]": 0.0,
    }


def test_html_is_escaped():
    html = explain(lambda x: x if x < 2 else x * x, 3.0)._repr_html_()
    assert "&lt;lambda&gt;" in html and "<lambda>" not in html


def test_in_a_terminal(monkeypatch):
    import sys

    table = explain(cost, 5, 2, 1, 1)
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "200")
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    text = str(table)
    assert "\x1b[" in text and "w2 * w3" in text and "max(0, w6)" in text


def test_what_cannot_be_explained():
    with pytest.raises(tangentc.NotScalar):
        explain(lambda x: np.array([x, x]), 1.0)
    with pytest.raises(tangentc.BadArgument, match="not an argument that moves"):
        explain(loop, 0.5, 3, wrt="n")
    with pytest.raises(tangentc.NotDifferentiable):
        explain(lambda s: 1.0, "text")


def heat(u, k):
    u = u.copy()
    for _ in range(2):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(u * u)


class Spring:
    def __init__(self):
        self.k, self.m, self.x = 2.0, 1.5, np.array([0.0, 1.0])

    def force(self, x):
        return -self.k * (x - self.x) / self.m

    def energy(self, v):
        return np.sum(self.force(v) ** 2)


def entropy(scores, y):
    p = np.exp(scores - np.max(scores, axis=1, keepdims=True))
    return np.mean(np.log(p)[np.arange(len(y)), y])


def test_values_in_place_have_the_names_of_the_user():
    table = explain(heat, np.linspace(0, 1, 5) ** 2, 0.2)
    rows = [(table.name_of(n), table.expression(n)) for n in table.nodes][3:11]
    assert rows == [
        ("u[2:]", "w3[2:]"), ("u[1:-1]", "w3[1:-1]"), ("", "2 * w5"), ("", "w4 - w6"), ("u[:-2]", "w3[:-2]"),
        ("", "w7 + w8"), ("", "w2 * w9"), ("u", "u[1:-1] += w10"),
    ]  # fmt: skip
    assert "w4 = u[2:] = w3[2:]" in [v.rows[0] for v in tangentc.graph(heat, np.ones(5), 0.2).vertices]
    difference = next(n for n in table.nodes if n.site is not None and table.expression(n) == "w4 - w6")
    assert list(map(str, table.partials(difference))) == ["dw7/dw4 = 1", "dw7/dw6 = -1"]


def test_parameters_in_objects_are_nodes():
    spring = Spring()
    table = explain(Spring.energy, spring, np.array([0.5, 2.0]))
    gradient = grad(Spring.energy)(spring, np.array([0.5, 2.0]))
    inputs = {n.name: n.adjoint for n in table.nodes if n.site is None}
    assert list(inputs) == ["self.k", "self.m", "self.x", "v"]
    assert inputs["self.k"] == gradient["k"] and np.array_equal(inputs["self.x"], gradient["x"])
    expressions = [table.expression(n) for n in table.nodes if n.site is not None]
    assert expressions[:4] == ["-w1", "w4 - w3", "w5 * w6", "w7 / w2"]
    assert [n.name for n in table._inputs("self")] == ["self.k", "self.m", "self.x"]
    assert (spring.k, spring.m, list(spring.x)) == (2.0, 1.5, [0.0, 1.0])
    kinds = {v.rows[0]: v.kind for v in tangentc.graph(Spring.energy, spring, np.ones(2)).vertices}
    assert kinds["w1 = self.k"] == "argument"


@pytest.mark.parametrize(
    "f, args",
    [
        (heat, (np.linspace(0, 1, 5) ** 2, 0.2)),
        (Spring.energy, (Spring(), np.ones(2))),
        (entropy, (np.arange(6.0).reshape(2, 3), np.array([0, 2]))),
    ],
)
def test_no_name_of_the_compiler_is_told(f, args):
    """Each name is a node, its adjoint, a module, a function that is called, or stands in the file."""
    table = explain(f, *args)
    known = set(re.findall(r"\w+", "".join(n.site.span.text for n in table.nodes if n.site is not None)))
    for node in table.nodes:
        texts = [table.expression(node), *(p.formula for p in table.partials(node))] if node.site is not None else []
        for text in texts:
            names = {
                n.id for n in ast.walk(ast.parse(text.split(" = ")[0].split(" += ")[0])) if isinstance(n, ast.Name)
            }
            assert all(re.fullmatch(r"w\d+(_bar)?|np", name) or name in known for name in names), text
            assert " where " not in text


WEIGHTS = np.array([1.0, 2.0])


def weighted(x):
    return np.sum(WEIGHTS * x)


def test_what_stands_in_the_module_has_its_name():
    table = explain(weighted, np.ones(2))
    product = table.nodes[1]
    assert table.expression(product) == "WEIGHTS * w1"
    assert list(map(str, table.partials(product))) == ["dw2/dw1 = WEIGHTS = [1., 2.]"]
