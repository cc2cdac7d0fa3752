"""The table of operations says at least what the sets said that it stands for, and says it of functions, not of names."""

import ast
import collections
import contextlib
import heapq
import operator

import numpy as np
import pytest
from rules import calls

import tangentc
from tangentc import runtime
from tangentc.core import ops
from tangentc.ops import methods
from tangentc.ops.table import FACTS, every, having, known_of, say
from tangentc.rules.registry import REGISTRY

CHANGING = "append appendleft extend insert add update setdefault pop popleft popitem remove discard clear sort reverse"
OF_ARRAYS = "fill sort put resize partition setfield byteswap setflags itemset"


def test_methods_that_change():
    assert set(CHANGING.split()) <= methods.names(list, collections.deque, dict, set, changes=True)
    assert set(OF_ARRAYS.split()) == methods.names(np.ndarray, changes=True)
    assert methods.names(keeps=True) == {"append", "appendleft", "insert", "setdefault", "add"}
    assert methods.names(changes=True, gives_item=True) == {"pop", "popleft", "popitem", "setdefault"}


@pytest.mark.parametrize("method", methods.METHODS, ids=lambda m: f"{m.owner.__name__}.{m.name}")
def test_methods_are_what_the_table_says(method):
    if method.name != "itemset":  # of NumPy 1
        assert hasattr(method.owner, method.name)


def samples():
    yield list, [3.0, 1.0, 2.0], {"append": (4.0,), "insert": (0, 4.0), "extend": ([4.0],), "remove": (1.0,)}
    yield collections.deque, [3.0, 1.0], {
        "append": (4.0,), "appendleft": (4.0,), "insert": (0, 4.0), "extend": ([4.0],), "extendleft": ([4.0],),
        "remove": (1.0,), "rotate": (1,),
    }  # fmt: skip
    yield dict, {"a": 1.0}, {"setdefault": ("b", 2.0), "pop": ("a",), "update": ({"c": 1.0},), "get": ("a",)}
    yield set, {1.0, 2.0}, {
        "add": (3.0,), "remove": (1.0,), "discard": (1.0,), "update": ({4.0},), "intersection_update": ({1.0},),
        "difference_update": ({1.0},), "symmetric_difference_update": ({1.0},),
    }  # fmt: skip


@pytest.mark.parametrize("owner, held, arguments", list(samples()), ids=["list", "deque", "dict", "set"])
def test_methods_do_what_the_table_says(owner, held, arguments):
    for method in (m for m in methods.METHODS if m.owner is owner):
        thing = owner(held)
        before = owner(held)
        given = getattr(thing, method.name)(*arguments.get(method.name, ()))
        assert (thing != before) == method.changes, method
        assert (given is not None) == method.gives_item, method


def str_of(function):
    return f"{function.__module__}.{function.__name__}"


def shown(view, x):
    """A function called with an array, and whether what it gives is memory of it."""
    if view in (np.broadcast_to,):
        out = view(x, (2, *x.shape))
    elif view in (np.reshape,):
        out = view(x, (-1,))
    elif view in (np.swapaxes, np.moveaxis):
        out = view(x, 0, 1)
    elif view is np.rollaxis:
        out = view(x, 1)
    elif view is np.expand_dims:
        out = view(x, 0)
    elif view in (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit):
        out = view(x, 2)[0]
    elif view is np.lib.stride_tricks.sliding_window_view:
        out = view(x, 2, axis=0)
    elif view is np.broadcast_arrays:
        out = view(x, np.zeros(()))[0]
    else:
        out = view(x)
    out = out[0] if isinstance(out, (tuple, list)) else out
    return np.shares_memory(out, x)


OF_NUMPY = sorted((v for v in every("view") if not v.__module__.startswith("tangentc")), key=str_of)


@pytest.mark.parametrize("view", OF_NUMPY, ids=str_of)
def test_views_are_memory_of_their_argument(view):
    assert shown(view, (np.arange(64.0) + 1j).reshape(4, 4, 4))


def test_new_memory_is_new():
    x = np.array([3.0, 1.0, 2.0])
    of_states = {runtime.snapshots, runtime.last_state, runtime.first_state}
    ours = {f for f in every("new") if f.__module__.startswith(("numpy", "builtins", "copy", "tangentc.runtime"))}
    for function in ours - {set, np.histogram2d, np.histogramdd} - of_states:
        two = function in (np.union1d, np.intersect1d, np.setdiff1d, np.setxor1d)
        given = function(x, x) if two else function(x)
        for part in given if isinstance(given, tuple) else (given,):
            assert not np.shares_memory(part, x), function
    states = runtime.snapshots(range(3), most=2)
    runtime.keep_state(states, 0, x)
    for _, state in (
        runtime.last_state(states, 2),
        runtime.last_state(states, 0),
        (None, runtime.first_state(states, 0, x)),
    ):
        assert not any(np.shares_memory(state, other) for other in (x, states["kept"][0][1][0]))


def arrays_in(value):
    if isinstance(value, (list, tuple, dict)):
        return [a for item in (value.values() if isinstance(value, dict) else value) for a in arrays_in(item)]
    return [value] if isinstance(value, np.ndarray) else []


def called_functions():
    """The calls that the rules are tried on: the function, what it is given, and what it gives."""
    names = {"np": np, **calls.SCIPY, **calls.arguments()}
    for _, expression in calls.expressions():
        for n in ast.walk(ast.parse(expression)):
            if not isinstance(n, ast.Call) or any(k.arg == "out" for k in n.keywords):
                continue
            with contextlib.suppress(Exception):  # of a name that the call is inside of
                values = [eval(ast.unparse(v), names) for v in (n.func, *n.args, *(k.value for k in n.keywords))]
                yield values[0], values[1:], eval(ast.unparse(n), names)


@pytest.mark.filterwarnings("ignore")
def test_what_may_be_memory_of_an_argument_is_said():
    """A function of which no record says that it gives a view gives an array of its own."""
    wrong, tried = set(), 0
    for function, given, result in called_functions():
        if not hasattr(function, "__self__") and getattr(function, "__module__", None):
            tried += 1
            if any(np.shares_memory(a, b) for a in arrays_in(result) for b in arrays_in(given)):
                facts = known_of(function)
                if not (facts.view or facts.may_share or facts.holds):
                    wrong.add(function.__name__)
    assert tried > 1000
    assert wrong == {"einsum", "matrix_power"}  # by their options, which the analysis looks at


def test_what_puts_together_holds():
    assert every("puts_together") - {ops.new_list, ops.new_object} <= every("holds")  # but for what is empty
    changing = {ops.append, ops.insert, ops.take, ops.reverse, runtime.keep_state, runtime.last_state}
    assert every("changes") == changing


def test_a_fact_without_a_place_is_refused():
    with pytest.raises(TypeError, match="colour is no fact of an operation; these are: pure, elementwise"):
        say(np.exp, colour=True)
    assert "view" in FACTS and known_of(np.reshape).view and not known_of(heapq.heappush).view


def test_one_record_says_all_of_a_function():
    for function in (np.tanh, np.sum, np.linalg.solve, operator.matmul):
        assert known_of(function).rule is REGISTRY.find(function)
    assert known_of(np.median).definition is not None and known_of(np.conjugate).methods == ("conj",)
    assert list(known_of(np.median).signature.parameters)[:2] == ["a", "axis"] and known_of(np.median).kernel is None
    assert known_of(operator.add).elementwise and not known_of(operator.matmul).elementwise
    rules = {id(rule) for family in REGISTRY.families().values() for rule in family}
    assert {id(record.rule) for record in having("rule")} == rules and len(rules) > 300


def attenuated(x):
    return np.exp(-x) * 0.5


@tangentc.elementwise(attenuated)
def attenuated_rule(x, y):
    return -y


def changed_afterwards(x):
    y = attenuated(x) * x
    y[0] = 0.0
    return np.sum(y)


def test_what_a_user_says_of_a_function_is_known_at_the_next_call():
    """The type of what a function of the user's gives, of which only a rule is known, is not known: it is not run while
    compiling unless he says that it leaves no trace."""
    gradient, x = tangentc.grad(changed_afterwards), np.array([1.0, 2.0, 3.0])
    with pytest.raises(tangentc.UnsafeMutation):
        gradient(x)
    tangentc.operation(attenuated, pure=True, new=True)
    try:
        np.testing.assert_allclose(gradient(x), [0.0, *(0.5 * np.exp(-x) * (1 - x))[1:]])
    finally:
        tangentc.operation(attenuated, pure=False, new=False)
    with pytest.raises(TypeError, match="colour is no fact"):
        tangentc.operation(attenuated, colour=True)


def reshape(x):  # the user's, and no view
    return x * 2.0


def test_a_function_is_found_by_what_it_is_and_not_by_its_name():
    def loss(x):
        y = reshape(x)
        y[0] = 0.0
        return np.sum(y * x)

    x = np.array([1.0, 2.0, 3.0])
    np.testing.assert_allclose(tangentc.grad(loss)(x), [0.0, 8.0, 12.0])
