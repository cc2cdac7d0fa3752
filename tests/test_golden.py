"""The emitted text of the small programs, kept in tests/golden and read as prose when it changes.

python -m pytest tests/test_golden.py --rewrite-golden
"""

import ast
import re
from pathlib import Path

import emitted_targets
import numpy as np
import pytest
from programs.test_programs import PROGRAMS, fresh, moving
from test_targets import CASES

import tangentc
from tangentc.backend.wrap import wrapped
from tangentc.core.types import describe
from tangentc.core.values import type_of

GOLDEN = Path(__file__).parent / "golden"
ALL = [(name, getattr(emitted_targets, name), args, wrt) for name, (args, wrt) in CASES.items()]
_seen: dict[str, int] = {}
READ = (
    "scalars",
    "arrays",
    "in_place",
    "containers",
    "everyday",
    "regressions",
    "parts",
    "entries",
    "measured",
    "spans",
)  # the others are run only
for _family, _function, _args in PROGRAMS:
    if _family not in READ:
        continue
    _seen[_function.__name__] = _seen.get(_function.__name__, 0) + 1
    _number = "" if _seen[_function.__name__] == 1 else f"_{_seen[_function.__name__]}"
    ALL.append((_function.__name__ + _number, _function, _args, moving(_args)))


def golden_text(function, args, wrt):
    sizes = {}
    types = ", ".join(describe(type_of(a, sizes)) for a in args)
    text = tangentc.grad(function, wrt=wrt).source_for(*fresh(args))
    text = re.sub(
        r'(stands in "\w+\.py"), line \d+\.', r"\1.", text
    )  # a new program must not change the files of others
    return f"# arguments: {types}\n\n{text}"


@pytest.mark.parametrize("name, function, args, wrt", ALL, ids=[row[0] for row in ALL])
def test_emitted_text(name, function, args, wrt, request):
    path, text = GOLDEN / f"{name}.txt", golden_text(function, args, wrt)
    if request.config.getoption("--rewrite-golden"):
        GOLDEN.mkdir(exist_ok=True)
        path.write_text(text)
    assert plain(path.read_text()) == plain(text)


def plain(text):
    """Without the choice between two quotes, which versions of Python make differently in f-strings."""
    return text.replace('"', "'")


def test_no_golden_file_is_left_over():
    assert {p.stem for p in GOLDEN.glob("*.txt")} == {row[0] for row in ALL}


def test_values_do_not_show_in_the_text():
    text = golden_text(emitted_targets.nll, CASES["nll"][0], 0)
    assert text == golden_text(emitted_targets.nll, tuple(np.array(a) * 2 for a in CASES["nll"][0]), 0)


def test_no_row_of_code_is_long():
    for path in GOLDEN.glob("*.txt"):
        for row in path.read_text().splitlines():
            assert len(row) <= 110 or row.lstrip().startswith("#"), (path.name, row)


@pytest.mark.parametrize(
    "row",
    [
        "x = -a * b + c",
        "x = a - -b * c ** -d + (e - f)",
        "return f(a, *b, key=c)[0], {'k': -a * b, **d}, (a,)",
        "if a * b > c and not d or e == f:",
        "while a < -b * c:",
        "x[i, 1:n] -= a @ b - (c if d else e)",
        "x = a if b else c",
        "x = f(lambda a: a * b + c)",
        "x = [a * b for a, d in c]",
        "x = f((a * b, c * d))",
        "x = f((a * b + c) * d + e)",
        "x = f(g(a * b + c * d))[(a, b)]",
        "x = -a",
        "x = a * b if c else f(d)(e)",
    ],
)
def test_a_broken_row_means_the_same(row, monkeypatch):
    monkeypatch.setattr("tangentc.backend.wrap.WIDEST", 12)
    rows = wrapped("    " + row)
    more = ["        pass"] if row.endswith(":") else []
    text, whole = ("\n".join(["def f():", *r, *more]) for r in (rows, ["    " + row]))
    assert ast.dump(ast.parse(text)) == ast.dump(ast.parse(whole))
    assert len(rows) > 1 or row.startswith(("x = -a", "x = a if", "x = a * b if"))
