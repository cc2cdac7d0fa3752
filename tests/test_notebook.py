"""A notebook, run by a kernel: what is shown under a cell, and functions that are defined in cells and defined anew."""

import re

import nbformat
import pytest
from nbclient import NotebookClient

CELLS = [
    "import numpy as np\nimport tangentc\nfrom tangentc import differentiable, explain, grad, graph, trace",
    "@differentiable\ndef cost(y, w, x, b):\n    return y - max(0, w * x + b)",
    "cost.grad",
    "cost.grad(5.0, 2.0, 1.0, 1.0)",
    "explain(cost, 5, 2, 1, 1)",
    "trace(cost)(5.0, 2.0, 1.0, 1.0)",
    "graph(cost, 5, 2, 1, 1)",
    "def square(x):\n    return x * x",
    "g = grad(lambda x: square(x))\ng(3.0)",
    "def square(x):\n    return 5.0 * x",
    "g(3.0)",
    "@differentiable\ndef cost(y, w):\n    return y * w",
    "cost.grad(5.0, 2.0), cost.grad.source",
    "def series(x):\n    yield x\ngrad(series)(2.0)",
    "%time grad(lambda x: x * x)(1.0)",
    "%timeit -n1 -r1 grad(lambda x: x * x)(1.0)",
    "%%time\nslope = grad(lambda x: x * x)(1.0)\nslope",
    "tangentc.stages(square, 2.0)",
]


@pytest.fixture(scope="module")
def outputs():
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in CELLS])
    NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    return [cell.outputs for cell in notebook.cells]


def shown(outputs, cell, kind="text/plain"):
    assert [o.output_type for o in outputs[cell]] == ["execute_result"], outputs[cell]
    return outputs[cell][0].data[kind]


def test_a_derivative_is_shown_highlighted(outputs):
    page = shown(outputs, 2, "text/html")
    text = re.sub(r"<style>.*?</style>|<[^>]*>", "", page, flags=re.S)
    assert "\ndef cost_grad(y, w, x, b, out_bar=1.0):\n" in text and "# return y - max(0, w * x + b)\n" in text
    assert "<span class=k>def</span> <span class=f>cost_grad</span>" in page and ".tangentc-code .k {color:" in page
    assert float(shown(outputs, 3)) == 1.0


def test_tables_and_pictures_are_shown(outputs):
    assert "<td>w2 * w3</td>" in shown(outputs, 4, "text/html")
    assert "<th>statement</th>" in shown(outputs, 5, "text/html")
    assert shown(outputs, 6, "text/html").startswith("<svg")
    assert shown(outputs, 4).startswith("cost = 2")  # and as text where there is no HTML


def test_functions_that_are_defined_anew(outputs):
    assert shown(outputs, 8) == "6.0" and shown(outputs, 10) == "5.0"
    assert shown(outputs, 12).startswith("(2.0,") and "y * w" not in shown(outputs, 12).split("return")[-1]


def test_a_refusal_shows_the_line_of_the_cell(outputs):
    (error,) = outputs[13]
    assert error.ename == "UnsupportedSyntax" and "yield x" in error.evalue and "line 2, in series" in error.evalue


@pytest.mark.parametrize("cell", [14, 15, 16])
def test_a_lambda_in_a_line_of_ipython_is_told_where_to_stand(outputs, cell):
    error = next(o for o in outputs[cell] if o.output_type == "error")
    assert error.ename == "NoSource" and "IPython keeps none of a line of %time, %timeit" in error.evalue
    assert error.evalue.endswith("Way out: define the function in a cell before, and call it in this line.")


def test_stages_are_shown_under_their_names(outputs):
    page = shown(outputs, 17, "text/html")
    assert page.count("<details") > 20 and page.count("<details open>") == page.count("<style>") == 1
    assert "<summary>read: <b>lower</b>, " in page and "<span class=f>square_grad</span>" in page.split("open>")[1]
