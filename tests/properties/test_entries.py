"""Loops that fill and change arrays entry by entry, drawn at random: reverse mode = forward mode.

What is overwritten is put back only where it may be read again (`analysis/regions.py`), what was put into an entry is
read out of it, and what is added to one part is added at once (`simplify/gather.py`): each of these would show here if
it believed too much.
"""

import linecache
import random
import warnings

import numpy as np
import pytest

import tangentc
from tangentc.errors import UnsafeMutation

BY_DAY, BY_NIGHT = 60, 1500
LOOPS = ["range(n)", "range(1, n)", "range(1, n - 1)", "range(n - 1, 0, -1)", "reversed(range(n))", "range(0, n, 2)"]
INNER = [
    "range(i)", "range(i + 1)", "range(i, n)", "range(i + 1, n)", "range(i, 0, -1)", "reversed(range(i))", "range(n)",
    "range(1, n - 1)",
]  # fmt: skip
KEYS = [
    "{v}", "{v}", "{v} - 1", "{v} + 1", ":{v}", "{v}:", "{v} + 1:", ":{v} + 1", ":{v} - 1", "{v} - 1:{v} + 1",
    "{v}:{v} + 2", "0", "-1", "1:", ":-1", "k", "{v} - k", "::2", "::-1",
]  # fmt: skip
VALUES = [
    "np.sin(np.sum({b})) * np.sum({c}) * 0.5", "np.exp(-np.sum({b}) ** 2)", "np.sum({b} ** 2) * 0.1",
    "np.sum({b}) * np.sum({c}) * 0.2", "np.sqrt(1.0 + np.sum({b}) ** 2)", "np.sum({b}) / (2.0 + np.sum({c}) ** 2)",
    "np.sin({a}) * 0.7", "{a} * np.sum({b}) + {a} ** 2",
]  # fmt: skip


def program(seed):
    draw = random.Random(seed)
    axes = draw.choice([1, 1, 2])
    views = []

    def key(variables):
        return ", ".join(draw.choice(KEYS).format(v=draw.choice(variables)) for _ in range(axes))

    def read(variables):
        return draw.choice(views) if views and draw.random() < 0.2 else f"A[{key(variables)}]"

    def stores(variables, indent, count):
        for _ in range(count):
            a = f"A[{key(variables)}]"
            value = draw.choice(VALUES).format(a=a, b=read(variables), c=read(variables))
            lines.append(f"{indent}{a} {draw.choice(['=', '=', '=', '+=', '*=', '-='])} {value}")

    lines = ["def f(A, k):", "    A = A.copy()" if axes == 2 else "    A = A[:, 0].copy()", "    n = A.shape[0]"]
    for _ in range(draw.choice([1, 1, 2])):
        lines.append(f"    for i in {draw.choice(LOOPS)}:")
        views.clear()
        if draw.random() < 0.4:
            lines.append(f"        v = A[{key(['i'])}]")
            views.append("v")
        stores(["i"], "        ", draw.randint(1, 2))
        if draw.random() < 0.5:
            lines.append(f"        for j in {draw.choice(INNER)}:")
            stores(["i", "j"], "            ", draw.randint(1, 2))
            stores(["i"], "        ", draw.randint(0, 1))
    return "\n".join([*lines, "    return np.sum(A * A)"]) + "\n"


def load(seed):
    name, text = f"<loops {seed}>", program(seed)
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    namespace = {"np": np, "__name__": "__main__"}
    exec(compile(text, name, "exec"), namespace)
    return namespace["f"]


def check(seed):
    """Whether the program runs, and both modes agree on it."""
    f, rng = load(seed), np.random.default_rng(seed)
    A, along = rng.random((5, 5)) * 0.5, rng.standard_normal((5, 5))
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            value = f(A, 2)
        except (IndexError, ValueError):
            return False
        if not np.isfinite(value) or abs(value) > 1e6:
            return False
        try:
            gradient = tangentc.grad(f)(A, 2)
        except UnsafeMutation:  # a name that is a number at first and an array then
            return False
        _, tangent = tangentc.jvp(f, (A, 2), (along, None))
    if not np.isfinite(tangent):  # a value in between is beyond all numbers
        return False
    size = np.sum(np.abs(gradient * along)) + 1e-9
    assert abs(np.sum(gradient * along) - tangent) <= 1e-7 * size, program(seed)
    return True


@pytest.mark.parametrize("begin", range(0, BY_DAY, 20))
def test_loops_over_entries(begin):
    assert sum(map(check, range(begin, begin + 20))) >= 3


@pytest.mark.nightly
@pytest.mark.parametrize("begin", range(BY_DAY, BY_NIGHT, 40))
def test_many_loops_over_entries(begin):
    assert sum(map(check, range(begin, begin + 40))) >= 6


@pytest.mark.parametrize("name", ["forward_substitution", "back_substitution", "cholesky_by_rows"])
def test_nothing_is_saved_that_nobody_reads(name):
    from programs import entries

    function, args = next((f, a) for f, a in entries.PROGRAMS if f.__name__ == name)
    text = tangentc.grad(function).source_for(*args)
    assert "_saved" not in text and "unbroadcast" not in text, text
