"""``match`` as the tests and assignments that it stands for.

match tree:                          if isinstance(tree, (list, tuple)) and len(tree) == 2 and tree[0] == "sin":
    case ("sin", inner):       ->        inner = tree[1]
        return np.sin(inner)             return np.sin(inner)
    case float(x) if x > 0:          elif isinstance(tree, float) and tree > 0:
        return x                         x = tree
                                         return x

What a pattern captures has its value once all of the pattern matches (Python's reference, 8.6.4).
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from tangentc.frontend.iterators import ARRAY, QUEUE
from tangentc.frontend.trees import walk

THEMSELVES = ("bool", "bytearray", "bytes", "dict", "float", "frozenset", "int", "list", "set", "str", "tuple")
IS_SEQUENCE = 1 << 5  # of the flags of a class, by which a pattern knows it; arrays have it from NumPy 2.5 on
SEQUENCES = ("list", "tuple", QUEUE, *([ARRAY] if np.ndarray.__flags__ & IS_SEQUENCE else []))

Captures = list[tuple[str, Any]]


NamesOf = Callable[[Any], tuple[str, ...] | None]


def as_tests(node: Any, subject: str, names_of: NamesOf) -> list:
    """The statements of a ``match`` whose subject has a name.  ``names_of`` gives the ``__match_args__`` of a class;
    None for one that is not known, which raises `LookupError`."""
    others: list[Any] = []
    for case in reversed(node.cases):
        captured: Captures = []
        tests = _tests(case.pattern, _name(subject), captured, names_of)
        if case.guard is not None:
            tests.append(_Parts(dict(captured)).visit(copy.deepcopy(case.guard)))
        bound = [gast.Assign([_name(n, gast.Store())], value, None) for n, value in captured]
        others = _if(tests, [*bound, *case.body], others)
    for statement in others:
        _place(statement, node)
    return others or [gast.copy_location(gast.Pass(), node)]


class _Parts(gast.NodeTransformer):
    """A guard that asks for parts of the subject in place of the names that they get."""

    def __init__(self, captured: dict[str, Any]):
        self.captured = captured

    def visit_Name(self, node: Any) -> Any:
        return copy.deepcopy(self.captured.get(node.id, node))


def _place(tree: Any, node: Any) -> None:
    """Give what is new the place of the statement that it stands for."""
    for n in walk(tree):
        if isinstance(n, (gast.expr, gast.stmt, gast.keyword)) and not hasattr(n, "lineno"):
            gast.copy_location(n, node)


def _tests(pattern: Any, subject: Any, captured: Captures, names_of: Any) -> list:
    """What has to be true of a subject, in order; ``captured`` gets the names of parts of it."""

    def inner(part: Any, of: Any) -> list:
        return _tests(part, of, captured, names_of)

    match pattern:
        case gast.MatchValue():
            return [gast.Compare(copy.deepcopy(subject), [gast.Eq()], [pattern.value])]
        case gast.MatchSingleton():
            return [gast.Compare(copy.deepcopy(subject), [gast.Is()], [_constant(pattern.value)])]
        case gast.MatchAs():
            tests = inner(pattern.pattern, subject) if pattern.pattern is not None else []
            captured += [(pattern.name, copy.deepcopy(subject))] if pattern.name is not None else []
            return tests
        case gast.MatchOr():
            return _one_of(pattern, subject, captured, names_of)
        case gast.MatchSequence():
            return _sequence(pattern, subject, captured, inner)
        case gast.MatchMapping():
            keys = [gast.Compare(key, [gast.In()], [copy.deepcopy(subject)]) for key in pattern.keys]
            parts = [inner(p, _item(subject, copy.deepcopy(k))) for k, p in zip(pattern.keys, pattern.patterns)]
            if pattern.rest is not None:
                raise LookupError("the rest of a mapping")
            return [_is_a(subject, [_name("dict")]), *keys, *(t for tests in parts for t in tests)]
        case gast.MatchClass():
            own = isinstance(pattern.cls, gast.Name) and pattern.cls.id in THEMSELVES
            parts = [inner(p, subject) for p in pattern.patterns if own]
            if not own:
                names = names_of(pattern.cls) if pattern.patterns else ()
                if names is None or len(names) < len(pattern.patterns):
                    raise LookupError("a class whose __match_args__ are not known")
                parts = [inner(p, _attribute(subject, n)) for n, p in zip(names, pattern.patterns)]
            parts += [inner(p, _attribute(subject, n)) for n, p in zip(pattern.kwd_attrs, pattern.kwd_patterns)]
            return [_is_a(subject, [pattern.cls]), *(t for tests in parts for t in tests)]
    raise LookupError(type(pattern).__name__)


def _sequence(pattern: Any, subject: Any, captured: Captures, inner: Callable[[Any, Any], list]) -> list:
    count = len(pattern.patterns)
    star = next((k for k, p in enumerate(pattern.patterns) if isinstance(p, gast.MatchStar)), None)
    length = gast.Call(_name("len"), [copy.deepcopy(subject)], [])
    right = gast.Eq() if star is None else gast.GtE()
    least = gast.Compare(length, [right], [_constant(count if star is None else count - 1)])
    tests = [_is_a(subject, [_name(n) for n in SEQUENCES]), least]
    for k, part in enumerate(pattern.patterns):
        if isinstance(part, gast.MatchStar):
            rest = gast.Slice(_constant(k), _constant(k + 1 - count) if k + 1 < count else None, None)
            whole = gast.Call(_name("list"), [_item(subject, rest)], [])
            captured += [(part.name, whole)] if part.name is not None else []
        else:
            tests += inner(part, _item(subject, _constant(k if star is None or k < star else k - count)))
    return tests


def _one_of(pattern: Any, subject: Any, captured: Captures, names_of: Any) -> list:
    """Several patterns, which capture the same names: the first that matches does."""
    several: list[tuple[Any, dict[str, Any]]] = []
    for part in pattern.patterns:
        own: Captures = []
        several.append((_all(_tests(part, subject, own, names_of)), dict(own)))
    for name in several[-1][1]:
        value = several[-1][1][name]
        for test, own_ in reversed(several[:-1]):
            value = gast.IfExp(copy.deepcopy(test), own_[name], value)
        captured.append((name, value))
    return [gast.BoolOp(gast.Or(), [test for test, _ in several])]


def _all(tests: list) -> Any:
    if len(tests) < 2:
        return tests[0] if tests else _constant(True)
    return gast.BoolOp(gast.And(), tests)


def _if(tests: list, body: list, orelse: list) -> list:
    return [gast.If(_all(tests), body, orelse)] if tests else body


def _is_a(subject: Any, classes: list) -> Any:
    wanted = classes[0] if len(classes) == 1 else gast.Tuple(classes, gast.Load())
    return gast.Call(_name("isinstance"), [copy.deepcopy(subject), wanted], [])


def _name(name: str, ctx: Any = None) -> Any:
    return gast.Name(name, ctx or gast.Load(), None, None)


def _constant(value: Any) -> Any:
    return gast.Constant(value, None)


def _item(subject: Any, key: Any) -> Any:
    return gast.Subscript(copy.deepcopy(subject), key, gast.Load())


def _attribute(subject: Any, name: str) -> Any:
    return gast.Attribute(copy.deepcopy(subject), name, gast.Load())
