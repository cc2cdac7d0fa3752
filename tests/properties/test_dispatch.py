"""The functions that a call tries first take nothing that the general way would not find the same code for.

The general way is the definition: it finds the types of all arguments and looks at all that the code depends on.  Here
arguments and what is around the function are changed in every way that there is a list of, and what a written function
takes is held against what the general way says.
"""

import contextlib
import copy
import dataclasses
import itertools

import numpy as np
import pytest
from programs.test_programs import PROGRAMS, fresh, moving

import tangentc
from tangentc import api
from tangentc.analysis.turning import complex_results
from tangentc.compiler.matching import Rows
from tangentc.core.types import lengths
from tangentc.core.values import attributes_of, is_object
from tangentc.rules.registry import REGISTRY

BY_DAY = 8
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning", "ignore::DeprecationWarning")


class OwnFloat(float):
    """A float of another class."""


class OwnArray(np.ndarray):
    """An array of another class."""


def other_values(value, lengths):
    """Values that differ from one in some way, or in none that matters."""
    if isinstance(value, np.ndarray):
        for dtype in ("float64", "float32", "complex128", "int64", "int8", "bool", ">f8", "<U3", object):
            yield np.ones(value.shape).astype(dtype)
        yield from (value.view(OwnArray), np.ma.array(value), value[None], value.tolist(), None, 1.5)
        yield np.lib.stride_tricks.as_strided(value, value.shape, value.strides, writeable=False)
        for axis in range(value.ndim):
            for count in (0, 1, 2, 3, 7, 8, 9, 30, value.shape[axis] + 1, value.shape[axis], *lengths):
                yield np.resize(value, (*value.shape[:axis], count, *value.shape[axis + 1 :]))
        yield from (value.T.copy(), value[..., :1] if value.ndim else value[()], value.copy())
    elif isinstance(value, (bool, int, float, complex, np.generic)):
        yield from (value, 1, 3, 8, 2**21, *lengths, True, False, 1.5, float("nan"), OwnFloat(1.5), 1j, None, "sum")
        yield from (np.float64(1.5), np.float32(1.5), np.int64(3), np.bool_(True), np.array(1.5), np.ones(1), [1.5])
        yield np.datetime64("2020-01-01")
    elif isinstance(value, (list, tuple)):
        yield from (list(value), tuple(value), [*value, 1.5], [*value, *value], list(value)[1:], None, {})
    elif isinstance(value, dict):
        yield from (dict(reversed(value.items())), {**value, "more": 1.5}, dict(list(value.items())[1:]), None, [])
        yield type("OwnDict", (dict,), {})(value)
    elif is_object(value):
        more, less, other = copy.copy(value), copy.copy(value), copy.copy(value)
        yield from (value, None, 1.5)
        try:
            more.more_than_it_had = 1.5
            for name in attributes_of(value)[:1]:
                delattr(less, name)
            other.__class__ = type("Own", (type(value),), {})
        except (AttributeError, TypeError, dataclasses.FrozenInstanceError):
            return
        yield from (more, less, other)
    else:
        yield from (None, "sum", "mean", True, 0, 1.5, value, np.sum, lambda *args: 1.5)


def replaced(value, lengths, depth=0):
    """Copies of a value in which one part, or all of it, is another one."""
    yield from other_values(value, lengths)
    if depth > 3:
        return
    if isinstance(value, (list, tuple)) and len(value) < 20:
        for k, part in enumerate(value):
            for other in replaced(part, lengths, depth + 1):
                parts = [*value[:k], other, *value[k + 1 :]]
                yield type(value)(*parts) if hasattr(value, "_fields") else type(value)(parts)
    elif isinstance(value, dict):
        for key, part in value.items():
            for other in replaced(part, lengths, depth + 1):
                yield {**value, key: other}
    elif is_object(value):
        for name in attributes_of(value):
            for other in replaced(getattr(value, name), lengths, depth + 1):
                made = copy.copy(value)
                object.__setattr__(made, name, other)
                yield made


def lengths_in(args):
    """The lengths of the arrays among arguments."""
    return sorted({n for a in args if isinstance(a, np.ndarray) for n in a.shape})


def other_arguments(args):
    """Arguments of which one is another one, or is one with another of them."""
    lengths = lengths_in(args)
    for k, a in enumerate(args):
        for other in replaced(a, lengths):
            yield (*args[:k], other, *args[k + 1 :])
        for b in args:
            yield (*args[:k], b, *args[k + 1 :])
            if isinstance(b, np.ndarray) and b.ndim:
                yield (*args[:k], b[::-1], *args[k + 1 :])
    yield tuple(args)


def refused_in_general(derivative, compiled, args):
    """Why the general way would not run this code with these arguments; "" if it would."""
    key = derivative._key(args)
    found = derivative._kept(key)
    if compiled is not found and compiled not in derivative._alike(key):
        if found is None and any(getattr(d, "times", 1) > 1 for d in lengths(*key[0])):
            return ""  # what is right for lengths of which nothing is known is right for multiples of one another
        return "it has no code for these types" if found is None else "it has other code for these types"
    try:
        compiled.sync(args)
    except Exception as error:
        return str(error)
    return ""


def check_arguments(derivative, args):
    """How many of the changed arguments the written functions take; each of them the general way takes too."""
    taken = 0
    for dispatch in derivative.code.dispatches:
        for other in other_arguments(args):
            if dispatch.accepts(other):
                why = refused_in_general(derivative, dispatch.compiled, other)
                assert not why, f"{why}: {other}\n{dispatch.text}"
                taken += 1
    return taken


def called_twice(function, args):
    derivative = tangentc.grad(function, wrt=moving(args))
    for _ in range(2):
        derivative(*fresh(args))
    return derivative


cases = pytest.mark.parametrize(
    "function, args",
    [pytest.param(*row[1:], marks=[] if k % BY_DAY == 3 else pytest.mark.nightly) for k, row in enumerate(PROGRAMS)],
    ids=[f"{family}-{function.__name__}" for family, function, _ in PROGRAMS],
)


@cases
def test_nothing_is_taken_that_the_general_way_refuses(function, args):
    derivative = called_twice(function, args)
    if derivative.last.is_doubtful or derivative._key(fresh(args)) in derivative.code.turned:
        return
    assert derivative.code.dispatches, "no function was written"
    assert check_arguments(derivative, derivative.bind(fresh(args), {})) >= 1


@cases
def test_pullbacks_are_those_of_the_general_way(function, args):
    for _ in range(2):
        tangentc.vjp(function, *fresh(args))
    for primals in other_arguments(fresh(args)):
        found, bound = api._taken(function, None, primals)
        if found is not None:
            pair, general = api._pair_for(function, primals)
            # what the code depends on may have gone back to what it was when an older pair was compiled
            assert pair is found or pair.compiled.text.whole == found.compiled.text.whole
            assert all(a is b for a, b in zip(bound, general, strict=True))


@cases
def test_what_the_code_depends_on_changes(function, args, monkeypatch):
    derivative = called_twice(function, args)
    for dispatch in derivative.code.dispatches:
        compiled, given = dispatch.compiled, derivative.bind(fresh(args), {})
        for dependency in compiled.dependencies:
            place = dependency.place
            if place.kind not in ("namespace", "cell", "attribute", "item"):
                continue
            now = place.lookup(dependency.name)
            for other in replaced(now, lengths_in(args)):
                with monkeypatch.context() as patch:
                    put(patch, place, dependency.name, other)
                    if dispatch.accepts(given):
                        assert not refused_in_general(derivative, compiled, given), f"{dependency.name} = {other}"
                        for name, atom in compiled.live.items():
                            assert compiled.function.__globals__[name] is atom.lookup()
        for change in (a_rule_more, complex_results):
            with change():
                assert not dispatch.accepts(given)


def put(patch, place, name, value):
    """Let a name stand for another value."""
    if place.kind == "cell":
        patch.setattr(place.home, "cell_contents", value)
    elif place.kind == "attribute":
        try:
            patch.setattr(place.home, name, value)
        except (AttributeError, TypeError):  # of a class of C
            pass
    else:
        patch.setitem(place.home, name, value)


@contextlib.contextmanager
def a_rule_more():
    REGISTRY.version += 1
    try:
        yield
    finally:
        REGISTRY.version -= 1


@dataclasses.dataclass
class Layer:
    W: np.ndarray
    size: int
    name: str = "layer"


LIMIT, OPTIONS = 2.0, {"power": 2, "scales": [1.0, 2.0]}


def watchful(x, n, layer, more, flag=True, *, order=2):
    """A function whose arguments are of every kind."""
    total = np.sum(x[:n] @ layer.W) * LIMIT + sum(more["rates"]) * OPTIONS["scales"][1]
    return total + np.sum(more["b"] ** order) if flag and layer.name == "layer" else total * more["pair"][0]


def watchful_arguments():
    more = {"rates": [0.5, 1.5], "b": np.ones(9), "pair": (2.0, None)}
    return np.ones((12, 3)), 12, Layer(np.ones((3, 9)), 9), more, True, 2


def test_every_test_is_needed(monkeypatch):
    """Without any one test of the arguments, a function takes what the general way refuses: this file would see it."""
    args = watchful_arguments()
    derivative = tangentc.grad(watchful, wrt=("x", "layer", "more"))
    for _ in range(2):
        derivative(*args[:5], order=2)
    (dispatch,) = derivative.code.dispatches
    assert check_arguments(derivative, args) > 5
    compiled, key, test = derivative.last, derivative._key(args), Rows.test
    count = dispatch.text.partition("# what")[0].count(" and ") + dispatch.text.partition("# what")[0].count("if not")
    missed = []
    for left_out in range(count):
        numbers = itertools.count()

        def but_one(self, expression, once=False, left_out=left_out, numbers=numbers):
            test(self, expression if next(numbers) != left_out else f"({expression} or True)", once)

        monkeypatch.setattr(Rows, "test", but_one)
        weaker = derivative._dispatch(compiled, key, args)
        monkeypatch.setattr(Rows, "test", test)
        taken = (other for other in other_arguments(args) if weaker.accepts(other))
        if not any(refused_in_general(derivative, compiled, other) for other in taken):
            (row,) = [r for r in weaker.text.splitlines() if "or True" in r]
            missed.append(row)
    assert missed == []
