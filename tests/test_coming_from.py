"""The tables for those who come from autograd, JAX and PyTorch: both columns of a row give the same."""

import importlib.util
import itertools
import linecache
import re
from pathlib import Path

import numpy as np
import pytest

import tangentc.inspection.observe  # noqa: F401  (the rules register themselves)
from tangentc.ops.table import having
from tangentc.rules.registry import REGISTRY

PAGES = Path(__file__).resolve().parent.parent / "docs" / "coming_from"
PEERS = {"autograd": "autograd", "jax": "jax", "pytorch": "torch"}
TEXT = {page: (PAGES / f"{page}.md").read_text() for page in PEERS}
NUMBER = itertools.count()


ROWS = [
    pytest.param(page, left, right, id=f"{page}: {left}")
    for page, text in TEXT.items()
    for left, right in re.findall(r"^\| `([^`]*)` \| `([^`]*)` \|$", text, re.M)
]


@pytest.fixture(autouse=True)
def own_rules():
    rules = {record.function: record.rule for record in having("rule")}
    yield
    for record in having("rule"):
        record.rule = rules.get(record.function)
    REGISTRY.version += 1


def run(text, names):
    """What a cell gives; of a statement, what `x` is after it."""
    name = f"<cell {next(NUMBER)}>"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    try:
        return eval(compile(text, name, "eval"), names)
    except SyntaxError:
        exec(compile(text, name, "exec"), names)
        return names["x"]


def column(page, k):
    """The names that the left column, or the right one, takes as given."""
    block = re.findall(r"(?:takes this as given|as given|takes this):\n\n```python\n(.*?)```", TEXT[page], re.S)[k]
    names = {"__name__": "given", "x": None}
    run(block, names)
    return names


def leaves(value):
    """The numbers in a result, in the order of its parts."""
    if isinstance(value, dict):
        return [leaf for key in sorted(value) for leaf in leaves(value[key])]
    if isinstance(value, (tuple, list)):
        return [leaf for item in value for leaf in leaves(item)]
    return [value.detach().numpy() if hasattr(value, "detach") else np.asarray(value)]


@pytest.mark.parametrize("page, left, right", ROWS)
def test_both_columns_give_the_same(page, left, right):
    here = leaves(run(right, column(page, 1)))
    assert here and all(np.all(np.isfinite(leaf)) for leaf in here)
    if importlib.util.find_spec(PEERS[page]) is None:
        pytest.skip(f"{PEERS[page]} is not installed")
    there = leaves(run(left, column(page, 0)))
    assert [leaf.shape for leaf in here] == [leaf.shape for leaf in there]
    for a, b in zip(here, there):
        np.testing.assert_allclose(a, b, rtol=1e-9)


def test_every_page_has_a_table():
    assert {page: sum(row.values[0] == page for row in ROWS) >= 13 for page in PEERS} == dict.fromkeys(PEERS, True)
