"""One list, dict, object or array under two names: what is written by one is not followed to the other."""

import copy

import numpy as np
import pytest

import tangentc
from tangentc import grad


class Holder:
    def __init__(self, **attributes):
        self.__dict__.update(attributes)


LIST = [1.0, 2.0]
ALIAS = LIST
EVERY = [LIST]
PAIR = (LIST, 5.0)
TABLE = {"a": 1.0}
SAME_TABLE = TABLE
NESTED = {"p": LIST}
ARRAY = np.arange(4.0)
VIEW = ARRAY[1:]
MODEL = Holder(weights=LIST, table=TABLE, array=ARRAY)
OTHER = [7.0, 8.0]
HISTORY = []
BEST = [OTHER, OTHER]


def list_and_alias(x):
    LIST[0] = x * x
    return ALIAS[0]


def dict_and_alias(x):
    TABLE["a"] = x * x
    return SAME_TABLE["a"]


def attribute_then_name(x):
    MODEL.weights[0] = x * x
    return LIST[0]


def name_then_attribute(x):
    LIST[0] = x * x
    return MODEL.weights[0]


def dict_of_an_attribute(x):
    MODEL.table["a"] = x * x
    return TABLE["a"]


def within_a_list(x):
    LIST[0] = x * x
    return EVERY[0][0]


def by_the_list_around(x):
    EVERY[0][0] = x * x
    return LIST[0]


def within_a_tuple(x):
    LIST[0] = x * x
    return PAIR[0][0]


def within_a_dict(x):
    NESTED["p"][0] = x * x
    return LIST[0]


def array_and_view(x):
    ARRAY[1] = x * x
    return VIEW[0]


def view_and_array_of_an_object(x):
    VIEW[0] = x * x
    return MODEL.array[1]


def appended(x):
    LIST.append(x * x)
    last = ALIAS[-1]
    LIST.pop()
    return last


def default_and_default(x, p=LIST, q=LIST):
    p[0] = x * x
    return q[0]


def default_then_name(x, p=LIST):
    p[0] = x * x
    return LIST[0]


def name_then_default(x, p=LIST):
    LIST[0] = x * x
    return p[0]


def fills(x):
    LIST[0] = x * x
    return 0.0


def reads_alias():
    return ALIAS[0]


def helper_writes(x):
    return fills(x) + ALIAS[0]


def helper_reads(x):
    LIST[0] = x * x
    return reads_alias()


def one_helper_writes_and_one_reads(x):
    return fills(x) + reads_alias()


def helper_writes_the_same_name(x):
    fills(x)
    fills(x)  # twice, so that it stays a function
    return LIST[0]


def fills_by_another(x):
    y = 2.0 * x
    fills(y)
    return 1


def helper_of_a_helper_writes(x):
    return fills_by_another(x) * LIST[0]


MEMORY = {}


def cached(n):
    if n not in MEMORY:
        MEMORY[n] = float(n * n)
    return MEMORY[n]


def closed_over():
    mine = LIST

    def f(x):
        mine[0] = x * x
        return LIST[0]

    return f


def closed_over_twice():
    mine = [1.0]
    yours = mine

    def f(x):
        mine[0] = x * x
        return yours[0]

    return f


def given_then_name(x, p):
    p[0] = x * x
    return LIST[0] + ARRAY[1]


def name_then_given(x, p):
    LIST[0] = x * x
    return p[0]


def given_attribute(x, p):
    p.weights[0] = x * x
    return LIST[0]


REFUSED = [
    *(list_and_alias, dict_and_alias, attribute_then_name, name_then_attribute, dict_of_an_attribute, within_a_list),
    *(by_the_list_around, within_a_tuple, within_a_dict, array_and_view, view_and_array_of_an_object, appended),
    *(default_and_default, default_then_name, name_then_default, helper_writes, helper_reads),
    *(closed_over(), closed_over_twice(), one_helper_writes_and_one_reads, helper_writes_the_same_name),
    helper_of_a_helper_writes,
]


@pytest.fixture(autouse=True)
def restored():
    kept = LIST[:], dict(TABLE), ARRAY.copy(), OTHER[:]
    yield
    LIST[:], OTHER[:], ARRAY[:] = kept[0], kept[3], kept[2]
    TABLE.update(kept[1])
    HISTORY.clear()


@pytest.mark.parametrize("function", REFUSED)
def test_what_the_module_has_under_two_names(function):
    with pytest.raises(tangentc.UnsafeMutation):
        tangentc.grad(function)(1.5)
    with pytest.raises(tangentc.UnsafeMutation):
        tangentc.jvp(function, (1.5,), (1.0,))


@pytest.mark.parametrize(
    "function, given",
    [(given_then_name, LIST), (given_then_name, VIEW), (name_then_given, LIST), (given_attribute, MODEL)],
)
def test_an_argument_that_is_the_modules_own(function, given):
    derivative = tangentc.grad(function)
    apart = copy.deepcopy(given)
    assert derivative(1.5, apart) == 0.0  # the same code, for an argument that is its own
    with pytest.raises(tangentc.UnsafeMutation):
        derivative(1.5, given)


def test_a_second_name_that_comes_later(monkeypatch):
    monkeypatch.setitem(globals(), "ALIAS", [3.0, 4.0])
    derivative = tangentc.grad(list_and_alias)
    assert derivative(1.5) == 0.0
    monkeypatch.setitem(globals(), "ALIAS", LIST)
    with pytest.raises(tangentc.UnsafeMutation):
        derivative(1.5)


def test_the_whole_message(monkeypatch):
    derivative = tangentc.grad(list_and_alias)
    monkeypatch.setitem(globals(), "ALIAS", [3.0, 4.0])
    derivative(1.5)  # compiled where they are two
    monkeypatch.setitem(globals(), "ALIAS", LIST)
    with pytest.raises(tangentc.UnsafeMutation) as caught:
        derivative(1.5)
    assert str(caught.value) == (
        "list_and_alias writes into LIST, which shares memory with ALIAS\n"
        "  Why: a gradient works on copies, and two copies would not change together.\n"
        "  Way out: pass a copy of one of them."
    )
    with pytest.raises(tangentc.UnsafeMutation) as caught:
        tangentc.grad(helper_writes_the_same_name)(1.5)
    assert str(caught.value) == (
        "helper_writes_the_same_name writes into LIST, which another function reads\n"
        "  Why: a gradient works on copies, and two copies would not change together.\n"
        "  Way out: pass a copy of one of them."
    )


def test_what_is_apart_or_only_written_or_only_read_is_followed():
    def kept(x):
        HISTORY.append(x)
        return x * OTHER[0]

    def only_read(x):
        return x * LIST[0] * ALIAS[0] * EVERY[0][1] * ARRAY[1] * VIEW[0]

    def written(x, p):
        p[0] = x * x
        return p[0] * ALIAS[0] * BEST[0][1]

    def remembers(x):
        return x * cached(3)

    HISTORY.extend([[1.0]] * 2)  # one list, twice
    assert tangentc.grad(kept)(1.5) == 7.0
    assert tangentc.grad(only_read)(1.5) == 2.0
    assert tangentc.grad(remembers)(1.5) == tangentc.grad(remembers)(1.5) == 9.0
    assert tangentc.grad(written)(1.5, [1.0, 2.0]) == 24.0


def flattened_and_doubled(x):
    flat = x.reshape(-1)
    flat *= 2
    return np.sum(x**2)


def two_reshapes(x):
    one, other = x.reshape(-1), x.ravel()
    one *= 2
    return np.sum(other**2)


def reshaped_in_each_trip(x):
    for _ in range(2):
        flat = x.reshape(-1)
        flat *= 2
    return np.sum(flat**2)


def reshaped_alone(x):
    flat = x.reshape(-1)
    flat *= 2
    return np.sum(flat**2)


@pytest.mark.parametrize("function", [two_reshapes, reshaped_in_each_trip])
def test_two_reshapes_of_a_slice_with_gaps_are_not_taken_for_one(function):
    whole = np.arange(1.0, 13).reshape(3, 4)
    assert np.allclose(grad(function)(whole), (8 if function is two_reshapes else 32) * whole)
    with pytest.raises(tangentc.UnsafeMutation, match="side by side"):
        grad(function)(whole[:, ::2])
    assert np.allclose(grad(reshaped_alone)(whole[:, ::2]), 8 * whole[:, ::2])


def test_a_slice_with_gaps_is_not_taken_for_what_its_reshape_would_change():
    whole = np.arange(1.0, 13).reshape(3, 4)
    assert np.allclose(grad(flattened_and_doubled)(whole), 8 * whole)
    assert np.allclose(grad(flattened_and_doubled)(whole.T), 2 * whole.T)  # its reshape is a copy
    for part in (whole[:, ::2], whole[::-1], whole[:, 1]):
        assert np.shares_memory(part, whole)
        with pytest.raises(tangentc.UnsafeMutation, match="side by side"):
            grad(flattened_and_doubled)(part)
