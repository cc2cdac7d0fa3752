"""Update rules as programs: what a formula does to one entry of the arrays, as text for NumPy and for Numba.

A rule is written once, as a function of arrays that returns new ones.  To run so on memory it would make an array for
each of its operations.  `trace` calls it with placeholders that note the operations instead.  The text for NumPy writes
each result into an array that is there already: into the parameter or its state where the old value is no longer
needed, else into scratch.  That for Numba is one loop over the entries.  Both round alike, so their results have the
same bits.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.lib.mixins import NDArrayOperatorsMixin

_SIGNS = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}


@dataclass(frozen=True)
class Operation:
    """A ufunc by name, the names of what it is given, and that of its result."""

    ufunc: str
    given: tuple[str, ...]
    result: str


@dataclass(frozen=True, eq=False)
class Program:
    """A rule and its operations; ``results`` says which value each output gets."""

    rule: Callable[..., Any]
    arrays: tuple[str, ...]
    numbers: tuple[str, ...]
    operations: tuple[Operation, ...]
    results: tuple[tuple[str, str], ...]

    @property
    def numpy(self) -> tuple[str, int]:
        """The text for NumPy, and how many arrays of scratch it wants."""
        return _numpy_text(self)

    @property
    def numba(self) -> str:
        """The text for Numba: a loop over the entries."""
        lines = [f"def update({', '.join([*self.arrays, *self.numbers])}):", "    for i in range(p.size):"]
        entry = {name: f"{name}[i]" for name in self.arrays}
        for op in self.operations:
            given = [entry.get(name, name) for name in op.given]
            if op.ufunc in _SIGNS:
                value = f" {_SIGNS[op.ufunc]} ".join(given)
            else:
                value = f"{given[0]} * {given[0]}" if op.ufunc == "square" else f"np.{op.ufunc}({', '.join(given)})"
            lines.append(f"        {op.result} = {value}")
        lines += [f"        {name}[i] = {entry.get(value, value)}" for name, value in self.results]
        return "\n".join(lines) + "\n"


class _Value(NDArrayOperatorsMixin):
    """A value of a rule that is traced: its operators and ufuncs note what they would do."""

    def __init__(self, name: str, operations: list[Operation]):
        self.name, self.operations = name, operations

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *given: Any, **options: Any) -> _Value:
        result = _Value(f"t{len(self.operations)}", self.operations)
        self.operations.append(Operation(ufunc.__name__, tuple([value.name for value in given]), result.name))
        return result


def trace(
    rule: Callable[..., Any], arrays: tuple[str, ...], outputs: tuple[str, ...], numbers: tuple[str, ...]
) -> Program:
    """The program of ``rule(*arrays, numbers)``, whose results go into these of its arrays.

    >>> program = trace(lambda p, g, n: (p - n.rate * g,), ("p", "g"), ("p",), ("rate",))
    >>> print(program.numpy[0])
    def update(p, g, rate, s0):
        np.multiply(rate, g, s0)
        np.subtract(p, s0, p)
    <BLANKLINE>
    >>> print(program.numba)
    def update(p, g, rate):
        for i in range(p.size):
            t0 = rate * g[i]
            t1 = p[i] - t0
            p[i] = t1
    <BLANKLINE>
    """
    operations: list[Operation] = []
    given = [_Value(name, operations) for name in arrays]
    results = rule(*given, SimpleNamespace(**{name: _Value(name, operations) for name in numbers}))
    pairs = tuple([(name, value.name) for name, value in zip(outputs, results)])
    if any(value in arrays for _, value in pairs):
        raise ValueError("a rule computes each of its results")  # two arrays could not be swapped in place
    return Program(rule, arrays, numbers, tuple(operations), pairs)


def _numpy_text(program: Program) -> tuple[str, int]:
    """Each operation writes into the output that its result is for, where the old value is no longer needed; else over
    a value that nothing reads after it, and else into scratch.  Results of the rule do not lie in outputs of others."""
    last = {name: k for k, op in enumerate(program.operations) for name in op.given}
    last |= {value: len(program.operations) for _, value in program.results}
    goes_to = {value: name for name, value in program.results}
    place = {name: name for name in (*program.arrays, *program.numbers)}
    outputs = [name for name, _ in program.results]
    scratch: list[str] = []
    body = []
    free = [name for name in outputs if name not in last]
    for k, op in enumerate(program.operations):
        given = [place[name] for name in op.given]
        done = [place[name] for name in dict.fromkeys(op.given) if last[name] == k]
        done = [name for name in done if name in outputs or name in scratch]
        free += done
        own = goes_to.get(op.result)
        if own not in free:
            rest = [name for name in done if own is None or name in scratch] or [
                name for name in free if name in scratch
            ]
            if not rest:
                rest = [f"s{len(scratch)}"]
                scratch += rest
                free += rest
            own = rest[0]
        free.remove(own)
        place[op.result] = own
        out = f"out={own}" if op.ufunc in ("maximum", "minimum") else own  # NumPy 2.4 wants the name of those
        body.append(f"    np.{op.ufunc}({', '.join([*given, out])})")
    body += [f"    np.copyto({name}, {place[value]})" for name, value in program.results if place[value] != name]
    names = [*program.arrays, *program.numbers, *scratch]
    return "\n".join([f"def update({', '.join(names)}):", *body]) + "\n", len(scratch)


@lru_cache(256)
def with_numpy(program: Program) -> tuple[Callable[..., None], int]:
    """The program as a function of arrays, numbers and scratch, and how many arrays the scratch is."""
    text, count = program.numpy
    return _function(text), count


@lru_cache(256)
def with_numba(program: Program) -> Callable[..., None]:
    """The program as a function of vectors and numbers that Numba compiles."""
    import numba

    compiled: Callable[..., None] = numba.njit(error_model="numpy")(_function(program.numba))
    return compiled


def _function(text: str) -> Callable[..., None]:
    made: dict[str, Any] = {"np": np}
    exec(compile(text, "<update>", "exec"), made)
    function: Callable[..., None] = made["update"]
    return function
