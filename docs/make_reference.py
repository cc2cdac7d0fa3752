"""Write docs/reference/ from the compiler's own tables.

python docs/make_reference.py            writes api.md, command.md, rules.md and syntax.md
python docs/make_reference.py --check    exits with 1 if the files on disk differ
"""

from __future__ import annotations

import builtins
import cmath
import inspect
import math
import operator
import sys
import types
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
import scipy.fft
import scipy.interpolate
import scipy.linalg
import scipy.signal
import scipy.sparse
import scipy.sparse.linalg
import scipy.special
import scipy.stats
from make_api import api, command
from scipy.spatial import distance

import tangentc
import tangentc.compiler.context  # noqa: F401  (the rules register themselves)
from tangentc.core import ops
from tangentc.frontend import fence
from tangentc.frontend.forms import OF_FUNCTIONS
from tangentc.frontend.into import BY_POSITION
from tangentc.ops.table import having
from tangentc.rules.definitions.polynomials import KINDS
from tangentc.rules.registry import FAMILIES, REGISTRY, SCIPY, Rule

HERE = Path(__file__).resolve().parent / "reference"
NOTE = "<!-- Made by docs/make_reference.py; do not edit. -->\n"
OPERATORS = {
    operator.add: "x + y",
    operator.sub: "x - y",
    operator.mul: "x * y",
    operator.truediv: "x / y",
    operator.floordiv: "x // y",
    operator.mod: "x % y",
    operator.pow: "x ** y",
    operator.matmul: "x @ y",
    operator.neg: "-x",
    operator.pos: "+x",
    operator.invert: "~x",
    operator.not_: "not x",
    operator.and_: "x & y",
    operator.or_: "x | y",
    operator.xor: "x ^ y",
    operator.lshift: "x << y",
    operator.rshift: "x >> y",
    operator.lt: "x < y",
    operator.le: "x <= y",
    operator.gt: "x > y",
    operator.ge: "x >= y",
    operator.eq: "x == y",
    operator.ne: "x != y",
    operator.is_: "x is y",
    operator.is_not: "x is not y",
    operator.getitem: "x[i]",
}
OF_DISTANCES = types.SimpleNamespace(**{f: getattr(distance, f) for f in distance.__all__})
NAMESPACES = (
    ("np", np), ("np.linalg", np.linalg), ("np.fft", np.fft), ("math", math), ("cmath", cmath),
    *((f"np.polynomial.{m.__name__.rsplit('.', 1)[1]}", m) for m, _ in KINDS.values()),
    *((f"scipy.{name}", getattr(scipy, name)) for name in SCIPY), ("scipy.spatial.distance", OF_DISTANCES),
    ("scipy.sparse.linalg", types.SimpleNamespace(spsolve=scipy.sparse.linalg.spsolve)),
    ("", builtins),
)  # fmt: skip
PARTS = {"bessel": "special", "hypergeometric": "special", "lu": "linalg"}  # which stand in files of their own
LEAVING = ("row_stack",)  # what newer versions of NumPy do not have; the pages are the same with all
OWNERS = ("ufunc", "self")  # parameters that stand for what a method belongs to


# ------------------------------------------------------------------ the syntax
def syntax() -> str:
    """The three tables of the fence."""
    supported = [(f"`{kind}`", what) for kind, what in fence.SUPPORTED.items()]
    passive = [(f"`{kind}`", what) for kind, what in fence.PASSIVE.items()]
    refused = [(f"`{kind}`", what, way_out) for kind, (what, way_out) in fence.REFUSED.items()]
    return "\n".join([
        NOTE,
        "# Supported syntax\n",
        "The first column names the node of Python's syntax tree.\n",
        "## Differentiated\n",
        table(("Node", "Python"), supported),
        "## Carried along\n",
        "These are kept as written, and run once. A derivative that would flow through them is refused.\n",
        table(("Node", "Python"), passive),
        "## Refused\n",
        table(("Node", "Python", "Way out"), refused),
    ])  # fmt: skip


# ------------------------------------------------------------------ the rules
def rules() -> str:
    """The registered rules, a table for each family."""
    parts = [
        NOTE,
        "# Rules\n",
        "Methods of arrays have the rules of the functions of the same name: `x.sum()` is `np.sum(x)`.\n"
        "An elementwise rule gives partial derivatives, an adjoint rule gives adjoints, and the derivative\n"
        "of a zero rule is zero. The arguments that have a default are the options that a call may use.\n",
    ]
    REGISTRY.find(scipy.special.gamma)  # those of SciPy are registered when they are looked for
    families = REGISTRY.families()
    for family in (*FAMILIES, *(f"scipy.{name}" for name in (*SCIPY, *PARTS))):
        found = families.get(f"tangentc.rules.{family}", [])
        rows = sorted(
            {row for rule in found if (row := describe(rule)) is not None},
            key=lambda row: (row[0].strip("`").lower(), row),
        )
        if not rows:
            continue
        title = family if "." in family else family.replace("_", " ").capitalize()
        title = f"scipy.{PARTS[title[6:]]}: {title[6:]}" if title[6:] in PARTS else title
        parts.append(f"## {title}\n")
        parts.append(sources(sys.modules[f"tangentc.rules.{family}"]))
        parts.append(table(("Function", "Kind", "Modes", "Arguments"), rows))
    parts.append("## Definitions\n")
    parts.append(
        "Calls of these functions that no rule above covers are written out, with functions that have rules, where a\n"
        "derivative flows through them: in both modes, to any order. A ufunc is every one that has a rule.\n"
    )
    parts.append(table(("Function", "Arguments"), sorted(set(definitions()), key=lambda row: row[0].lower())))
    parts.append("## In place, and of functions\n")
    parts.append(
        "These change an argument, as a store into it does, or call a function that they are given, as a loop does.\n"
    )
    known = {**BY_POSITION, **OF_FUNCTIONS}
    rows = [(f"`{written(f)}`", ", ".join(f"`{a}`" for a in arguments)) for f, arguments in known.items()]
    parts.append(table(("Function", "Arguments"), sorted(rows, key=lambda row: row[0].lower())))
    return "\n".join(parts)


def sources(module: Any) -> str:
    """Where the formulas of a family come from, as its module says."""
    text = " ".join((module.__doc__ or "").split())
    return f"Formulas: {text.partition('Formulas: ')[2]}\n" if "Formulas: " in text else ""


def definitions() -> Iterable[tuple[str, str]]:
    """Each function that has a definition, with its arguments."""
    for function, definition in ((r.function, r.definition) for r in having("definition")):
        name = f"ufunc.{function[1]}" if isinstance(function, tuple) else written(function)
        if name is not None:
            arguments = [p for p in inspect.signature(definition.body).parameters.values() if p.name not in OWNERS]
            yield names(function, name), ", ".join(f"`{'*' * (p.kind == p.VAR_POSITIONAL)}{p.name}`" for p in arguments)


def describe(rule: Rule) -> tuple[str, str, str, str] | None:
    """A row of the table; None for what only emitted code calls."""
    name = written(rule.function)
    if name is None:
        return None
    modes = "forward, reverse" if has_forward(rule) else "reverse"
    options = [f"{option}={default!r}" for option, default in rule.options]
    return names(rule.function, name), rule.kind, modes, ", ".join(f"`{a}`" for a in (*rule.inputs, *options))


def has_forward(rule: Rule) -> bool:
    return rule.kind in ("elementwise", "zero") or bool(rule.linear) or rule.tangent is not None


def written(function: Any) -> str | None:
    """The name under which users call a function."""
    if function in OPERATORS:
        return OPERATORS[function]
    if function is ops.item:
        return "x.item()"
    name = getattr(function, "__name__", "")
    if name in LEAVING:
        return None
    owner = getattr(function, "__self__", None)
    if isinstance(function, types.MethodType):  # of a distribution
        found = [f"{prefix}.{n}" for prefix, module in NAMESPACES for n, v in vars(module).items() if v is owner]
        return f"{found[0]}.{name}" if found else None
    if (cls := getattr(function, "__objclass__", None)) in (np.random.Generator, np.random.RandomState, np.ndarray):
        return f"{cls.__name__}.{name}"
    for prefix, module in NAMESPACES:
        if vars(module).get(name) is function:
            return f"{prefix}.{name}".lstrip(".")
    for prefix, module in NAMESPACES:
        for alias in sorted(vars(module)):
            if not alias.startswith("_") and vars(module)[alias] is function:
                return f"{prefix}.{alias}".lstrip(".")
    return None


def names(function: Any, name: str) -> str:
    """A function's name, and the others that NumPy and SciPy have for it."""
    others = {
        f"{prefix}.{n}" for prefix, module in NAMESPACES[:-1] for n, v in vars(module).items()
        if v is function and not n.startswith("_")
    }  # fmt: skip
    return ", ".join(f"`{n}`" for n in (name, *sorted(others - {name})))


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A table in Markdown."""
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> int:
    """Write or check the pages; the exit status is 1 if a page on disk differs."""
    pages = {
        "syntax.md": syntax(),
        "rules.md": rules(),
        "api.md": NOTE + "\n" + api(),
        "command.md": NOTE + "\n" + command(),
    }
    differ = [name for name, text in pages.items() if not (HERE / name).is_file() or (HERE / name).read_text() != text]
    if "--check" in arguments:
        for name in differ:
            print(f"docs/reference/{name} is out of date: run python docs/make_reference.py")
        return 1 if differ else 0
    HERE.mkdir(exist_ok=True)
    for name in differ:
        (HERE / name).write_text(pages[name])
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
