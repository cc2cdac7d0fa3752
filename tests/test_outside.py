"""What a function writes into what belongs to its module: it is changed once, as the function changes it."""

import numpy as np
import pytest

import tangentc


class Layer:
    def __init__(self, k):
        self.k, self.seen = k, []


class Model:
    def __init__(self):
        self.w = np.array([0.5, -0.3, 0.8])
        self.log, self.by_name, self.calls, self.last = [], {"a": []}, 0, None
        self.layers = [Layer(2.0), Layer(0.5)]


MODEL = Model()
STATE = {"log": [], "deep": {"n": 0}, "scale": 2.0}


def logged(x):
    v = np.sum((x - MODEL.w) ** 2)
    MODEL.log.append(float(v))
    return v


def counted_and_kept(x):
    MODEL.calls += 1
    MODEL.last = x
    MODEL.by_name["a"].append(np.sum(x))
    return np.sum((x * MODEL.w) ** 2)


def in_a_dict(x):
    v = np.sum(x**2) * STATE["scale"]
    STATE["log"].append(v)
    STATE["deep"]["n"] += 1
    return v


def in_a_loop(x):
    for _ in range(3):
        x = x * 2 - MODEL.w
        MODEL.log.append(np.sum(x))
    return np.sum(x**2)


def layers_that_keep_what_they_see(x):
    for layer in MODEL.layers:
        layer.seen.append(np.sum(x))
        x = np.tanh(x * layer.k)
    return np.sum(x**2)


def numbered_layers(x):
    for k, layer in enumerate(MODEL.layers):
        layer.seen.append(x[k])
        x = x * layer.k
    return np.sum(x**3) * MODEL.w[0]


def one_of_two(x):
    layer = MODEL.layers[0] if x[0] > 0 else MODEL.layers[1]
    layer.seen.append(x[0])
    return np.sum(x**2)


def one_after_the_other(x):
    layer = MODEL.layers[0]
    for k in range(2):
        layer.seen.append(x[k])
        layer = MODEL.layers[1]
    return np.sum(x**2)


def by_way_of_a_list_and_a_dict(x):
    held = [MODEL.layers[0], {"it": MODEL}]
    held[0].seen.append(x[0])
    held[1]["it"].calls += 1
    return np.sum(x**2)


def by_an_object():
    model = Model()

    def loss(x):
        v = np.sum((x - model.w) ** 2)
        model.log.append(v)
        return v

    return loss, model


def state():
    MODEL.__init__()
    STATE.update(log=[], deep={"n": 0})
    return MODEL, STATE


def shown(value):
    return repr([{**vars(value[0]), "w": None, "layers": [vars(layer) for layer in value[0].layers]}, value[1]])


CALLS = {
    "grad": lambda f, x: tangentc.grad(f)(x),
    "value_and_grad": lambda f, x: tangentc.value_and_grad(f)(x)[1],
    "vjp": lambda f, x: tangentc.vjp(f, x)[1](1.0)[0],
    "jvp": lambda f, x: tangentc.jvp(f, (x,), (np.array([1.0, 0.0, 0.0]),))[1],
}


FUNCTIONS = [
    logged, counted_and_kept, in_a_dict, in_a_loop, layers_that_keep_what_they_see, numbered_layers, one_of_two,
    one_after_the_other, by_way_of_a_list_and_a_dict,
]  # fmt: skip


@pytest.mark.parametrize("kind", CALLS)
@pytest.mark.parametrize("function", FUNCTIONS)
def test_is_changed_once(function, kind):
    x = np.array([0.2, 0.7, -0.4])
    now = state()
    function(x)
    wanted = shown(now)
    now = state()
    got = CALLS[kind](function, x)
    assert shown(now) == wanted
    change = [(function(x + h) - function(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(got, change[0] if kind == "jvp" else change, rtol=1e-6)


def test_a_list_that_grows_is_compiled_for_once(compilations):
    function, model = by_an_object()
    gradient = tangentc.grad(function)
    for k in range(30):
        np.testing.assert_allclose(gradient(np.ones(3) * k), 2 * (k - model.w))
    assert len(model.log) == 30
    assert len(compilations) == 3  # without items, with one, and for any number of them


HISTORY = []


def first_of_all(x):
    if not HISTORY:
        HISTORY.append("begun")
    return np.sum(x**2)


def only_so_many(x):
    if len(HISTORY) < 4:
        HISTORY.append(1.0)
    return np.sum(x**2)


def test_how_many_there_are_is_asked_each_time():
    HISTORY.clear()
    gradient = tangentc.grad(first_of_all)
    for _ in range(6):
        np.testing.assert_array_equal(gradient(np.ones(2)), [2.0, 2.0])
        assert HISTORY == ["begun"]
    HISTORY.clear()
    gradient = tangentc.grad(only_so_many)
    for k in range(8):
        np.testing.assert_array_equal(gradient(np.ones(2)), [2.0, 2.0])
        assert len(HISTORY) == min(k + 1, 4)


def item_that_was_added(x):
    MODEL.log.append(np.sum(x))
    return np.sum(x**2) + sum(MODEL.log)


def given_to_one_of_two(x):
    layer = MODEL.layers[0] if x[0] > 0 else MODEL.layers[1]
    layer.k = x[0]
    return np.sum(x**2) * MODEL.layers[0].k


def given_to_one_after_the_other(x):
    layer = MODEL.layers[0]
    for _ in range(2):
        layer.k = x[0]
        layer = MODEL.layers[1]
    return np.sum(x**2) * MODEL.layers[0].k


def given_by_way_of_a_list(x):
    layers = [MODEL.layers[0]]
    layers[0].k = x[0]
    return np.sum(x**2) * MODEL.layers[0].k


def read_by_another_name(x):
    v = np.sum(x**2)
    MODEL.log.append(v)
    return v * len(MODEL.log)


def last_that_was_kept(x):
    MODEL.last = x
    return np.sum(MODEL.last * x)


OTHER = MODEL


def by_two_names(x):
    MODEL.last = x
    return np.sum(OTHER.last * x)


REFUSED = [
    item_that_was_added,
    given_to_one_of_two,
    given_to_one_after_the_other,
    given_by_way_of_a_list,
    read_by_another_name,
    last_that_was_kept,
    by_two_names,
]


@pytest.mark.parametrize("function", REFUSED)
def test_what_is_written_is_not_read(function):
    state()
    MODEL.last = np.ones(3)
    with pytest.raises(tangentc.UnsafeMutation, match="is given a value|writes into"):
        tangentc.grad(function)(np.ones(3))


def of_the_module_on_one_path(x):
    layer = MODEL.layers[0] if x[0] > 0 else Layer(1.0)
    layer.seen.append(1.0)
    return np.sum(x**2)


def by_a_loop_over_a_list_that_is_made(x):
    layers = []
    layers.append(MODEL.layers[0])
    for layer in layers:
        layer.seen.append(1.0)
    return np.sum(x**2)


@pytest.mark.parametrize("function", [of_the_module_on_one_path, by_a_loop_over_a_list_that_is_made])
def test_a_change_that_may_stay_is_not_left_out(function):
    state()
    with pytest.raises(tangentc.UnsafeMutation, match="may be a part of MODEL.layers"):
        tangentc.grad(function)(np.ones(3))
    assert MODEL.layers[0].seen == []
