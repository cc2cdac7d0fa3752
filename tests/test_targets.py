"""The emitted code against hand-written targets: right, as short, and as readable.

Run with -s to see the table of lines.
"""

import ast
import math
import re

import emitted_targets as targets
import numpy as np
import pytest

import tangentc

rng = np.random.default_rng(0)
normal = rng.normal
LABELS = rng.integers(0, 3, 6)
CASES = {
    "cost": ((5.0, 2.0, 1.0, 1.0), (0, 1, 2, 3)),
    "nll": ((normal(size=3), normal(size=(20, 3)), (normal(size=20) > 0) * 1.0), 0),
    "bend": ((0.7,), 0),
    "logistic_map": ((0.3, 2.7, 9), (0, 1)),
    "energy": ((normal(size=7), 1.3), (0, 1)),
    "heat": ((normal(size=12), 5), 0),
    "burgers": ((normal(size=12) * 0.3, 0.2, 5), 0),
    "two_layers": (
        (normal(size=(4, 3)), normal(size=(3, 5)), normal(size=5), normal(size=(5, 2)), normal(size=2)),
        (0, 1, 2, 3, 4),
    ),
    "newton_sqrt": ((2.0,), 0),
    "affine": (({"W": normal(size=(2, 3)), "b": normal(size=2)}, normal(size=3)), 0),
    "cross_entropy": ((normal(size=(6, 3)), LABELS), 0),
}
WITH_PAIRS = {"two_layers": ["dense_primal", "dense_adjoint", "two_layers_grad"]}


def code_lines(text):
    """The lines of code in a text: no comments, docstrings, imports or blank lines."""
    tree = ast.parse(text)
    doc = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef) and ast.get_docstring(node) is not None:
            doc |= set(range(node.body[0].lineno, node.body[0].end_lineno + 1))
    rows = [
        row
        for number, row in enumerate(text.splitlines(), 1)
        if number not in doc and row.strip() and not row.strip().startswith(("#", "import", "from"))
    ]
    return rows


def emitted(name):
    args, wrt = CASES[name]
    return tangentc.grad(getattr(targets, name), wrt=wrt).source_for(*args)


def target_text(name):
    import inspect

    return "\n".join(inspect.getsource(getattr(targets, f)) for f in WITH_PAIRS.get(name, [name + "_grad"]))


def emitted_pendulum():
    jvp = tangentc.api.Derivative(targets.pendulum, "jvp", ("theta", "omega"))
    return jvp.source_for(0.4, 0.1, 0.05, 40)


def leaves(x):
    if isinstance(x, dict):
        return [x[k] for k in sorted(x)]
    return list(x) if isinstance(x, tuple) else [x]


@pytest.mark.parametrize("name", CASES)
def test_gradient_equals_target(name):
    args, wrt = CASES[name]
    got = tangentc.grad(getattr(targets, name), wrt=wrt)(*args)
    want = getattr(targets, name + "_grad")(*args)
    for g, w in zip(leaves(got), leaves(want), strict=True):
        np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-12)


def test_tangent_equals_target():
    value, tangent = tangentc.jvp(targets.pendulum, (0.4, 0.1, 0.05, 40), (1.0, -2.0, None, None))
    want = targets.pendulum_jvp(0.4, 0.1, 0.05, 40, 1.0, -2.0)
    np.testing.assert_allclose((value, tangent), want, rtol=1e-12)


def test_table_of_lines():
    ratios = []
    print(f"\n{'function':16}{'emitted':>8}{'target':>8}{'ratio':>8}")
    for name in [*CASES, "pendulum"]:
        text = emitted_pendulum() if name == "pendulum" else emitted(name)
        want = targets.pendulum_jvp if name == "pendulum" else None
        import inspect

        given = len(code_lines(text))
        wanted = len(code_lines(inspect.getsource(want) if want else target_text(name)))
        ratios.append(given / wanted)
        print(f"{name:16}{given:8}{wanted:8}{given / wanted:8.2f}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{'geometric mean':16}{mean:24.2f}")
    assert max(ratios) <= 1.3
    assert mean <= 1.15


@pytest.mark.parametrize("name", CASES)
def test_names_come_from_the_source(name):
    text = emitted(name)
    source_names = set(re.findall(r"\w+", target_text(name)))
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            assert len(node.id) > 1 or node.id in source_names or node.id == "_", node.id
            if re.search(r"_\d+(_bar)?$", node.id):
                assert re.sub(r"_\d+(_bar)?$", "", node.id) in source_names, node.id


@pytest.mark.parametrize("name", CASES)
def test_no_dead_statement(name):
    tree = ast.parse(emitted(name))
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            stored = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
            loaded = {n.id for n in ast.walk(function) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
            assert stored - loaded <= {"_"}


def test_docstring_says_what_is_differentiated():
    text = emitted("nll")
    doc = ast.get_docstring(ast.parse(text).body[-1])
    assert doc.startswith("The gradient of nll with respect to w.")
    assert '"emitted_targets.py", line' in doc
