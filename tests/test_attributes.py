"""Attributes of objects that a function sets or does not read: variables of its own, and nothing to look at."""

import time
import types
from dataclasses import dataclass

import numpy as np
import pytest

import tangentc
from tangentc import grad, value_and_grad
from tangentc.frontend.reached import reached


class Linear:
    def __init__(self, n, m, seed):
        self.w = np.random.default_rng(seed).normal(size=(n, m))
        self.b = np.zeros(m)
        self.x = None

    def forward(self, x):
        self.x = x
        return x @ self.w + self.b


class Tanh:
    def forward(self, x):
        self.y = np.tanh(x)
        return self.y


class Net:
    rate = 0.5

    def __init__(self):
        self.fc1, self.act, self.fc2 = Linear(3, 4, 0), Tanh(), Linear(4, 1, 1)
        self.losses, self.steps = [], 0

    def forward(self, x):
        return self.fc2.forward(self.act.forward(self.fc1.forward(x)))

    def loss(self, x, y):
        self.steps += 1
        self.out = self.forward(x)
        self.diff = self.out[:, 0] - y
        return np.mean(self.diff**2)

    def of_class(self, x):
        self.rate = self.rate * x
        return self.rate * np.sum(self.fc1.b + 1.0)

    def in_place(self, x):
        self.fc1.b += x
        self.fc1.b[0] *= x
        return np.sum(self.fc1.b**2)

    def in_both(self, x):
        self.fc1.b += x
        return np.sum(self.fc2.b)


X = np.random.default_rng(2).normal(size=(5, 3))
Y = np.arange(5.0)


def slope(f, x, h=1e-6):
    return (f(x + h) - f(x - h)) / (2 * h)


def test_layers_that_keep_what_they_saw_have_the_adjoint_of_a_function():
    net = Net()
    text = grad(Net.loss).source_for(net, X, Y)
    assert "copied" not in text and "zeros_of" not in text and "getattr" not in text
    assert '"fc1.w": x.T @ x_1_bar' in text
    value, g = value_and_grad(Net.loss)(net, X, Y)
    assert net.steps == 0 and net.fc1.x is None and not hasattr(net, "out")
    assert value == pytest.approx(Net().loss(X, Y))

    def along(e):
        net = Net()
        net.fc1.w = net.fc1.w + e
        return net.loss(X, Y)

    assert np.sum(g["fc1.w"]) == pytest.approx(slope(along, 0.0), rel=1e-6)


def test_a_value_of_the_class_that_the_object_hides():
    net = Net()
    assert grad(Net.of_class, wrt="x")(net, 2.0) == pytest.approx(2.0)
    text = grad(Net.of_class, wrt="x").source_for(net, 2.0)
    assert "copied" not in text
    try:
        Net.rate = 0.25
        assert grad(Net.of_class, wrt="x")(net, 2.0) == pytest.approx(1.0)
    finally:
        Net.rate = 0.5


class Counter:
    rate = 0.5


def counted(x):
    counter = Counter()
    counter.rate = counter.rate * x
    return counter.rate * x


def test_an_object_made_inside_has_what_its_class_has_now():
    assert grad(counted)(2.0) == pytest.approx(2.0)
    try:
        Counter.rate = 0.25
        assert grad(counted)(2.0) == pytest.approx(1.0)
    finally:
        Counter.rate = 0.5


class Pair:
    def __init__(self):
        self.log, self.w = [2.0], 3.0

    def matched(self, x):
        self.log.append(x)
        match self:
            case Pair(log=seen):
                return seen[0] * x * self.w
        return x


def test_a_pattern_reads_what_it_names():
    assert grad(Pair.matched, wrt="x")(Pair(), 1.0) == pytest.approx(6.0)
    pair = Pair()
    pair.log = [4.0, 1.0]
    assert grad(Pair.matched, wrt="x")(pair, 1.0) == pytest.approx(12.0)


class Bodies:
    def __init__(self):
        self.bodies, self.seen, self.by_name = (
            [Linear(2, 2, k) for k in range(3)],
            [],
            {"a": np.ones(2), "n": 3, "c": np.ones(3)},
        )

    def moved(self, x):
        for body in self.bodies:
            for other in self.bodies:
                if body is not other:
                    body.b = body.b + other.w @ x
        self.seen.append(x)
        self.by_name["a"] = self.by_name["a"] * x
        self.bodies[0].w[0] *= x
        self.by_name["c"][1:] *= x
        return sum(np.sum(b.b * b.w) for b in self.bodies) + np.sum(self.by_name["a"] * self.by_name["c"][1:])


def test_objects_in_lists_and_items_of_dicts_are_variables_too():
    bodies, x = Bodies(), np.array([0.3, -0.2])
    text = grad(Bodies.moved, wrt="x").source_for(bodies, x)
    assert "copied" not in text and "zeros_of" not in text and "is not" not in text and "seen" not in text
    g = grad(Bodies.moved, wrt="x")(bodies, x)
    for k in range(2):
        h = np.eye(2)[k] * 1e-6
        assert g[k] == pytest.approx((Bodies().moved(x + h) - Bodies().moved(x - h)) / 2e-6, rel=1e-6)
    assert bodies.seen == [] and not bodies.bodies[0].b.any()


def test_a_list_that_is_asked_for_what_was_put_into_it():
    class Keeping:
        def __init__(self):
            self.seen = []

        def f(self, x):
            self.seen.append(x * x)
            return self.seen[-1] * len(self.seen)

    assert grad(Keeping.f, wrt="x")(Keeping(), 3.0) == pytest.approx(6.0)
    keeping = Keeping()
    keeping.seen = [1.0]
    assert grad(Keeping.f, wrt="x")(keeping, 3.0) == pytest.approx(12.0)


def test_an_array_that_is_changed_is_copied_and_nothing_else():
    net = Net()
    text = grad(Net.in_place, wrt="x").source_for(net, 1.5)
    assert ".b.copy()" in text and "copied" not in text
    assert grad(Net.in_place, wrt="x")(net, 1.5) == pytest.approx(slope(lambda x: Net().in_place(x), 1.5))
    assert not net.fc1.b.any()


def test_one_array_under_two_names_is_refused_where_it_is_changed():
    net = Net()
    net.fc2.b = net.fc1.b
    assert grad(Net.in_place, wrt="x")(net, 1.5) == pytest.approx(slope(lambda x: Net().in_place(x), 1.5))
    with pytest.raises(tangentc.errors.UnsafeMutation, match="holds the same memory twice"):
        grad(Net.in_both, wrt="x")(net, 1.5)


def test_one_object_in_two_places_is_refused_where_its_attributes_are_set():
    def f(a, b, x):
        a.x = x
        return np.sum(b.forward(x) * a.x)

    layer = Linear(3, 3, 0)
    with pytest.raises(tangentc.errors.UnsafeMutation, match="shares memory"):
        grad(f, wrt="x")(layer, layer, np.ones(3))


def test_an_object_that_is_handed_on_whole_is_copied():
    def f(net, x):
        net.fc1.x = x
        held = [net.fc1, net.fc2]
        return np.sum(held[0].x * net.rate)

    net = Net()
    np.testing.assert_allclose(grad(f, wrt="x")(net, np.ones(3)), 0.5)
    assert net.fc1.x is None


def test_an_attribute_that_one_path_sets():
    class Late:
        def f(self, x):
            for k in range(3):
                self.total = self.total + k * x if k else x
            return self.total * x

        def g(self, x):
            if x > 1.0:
                self.total = x
            return self.total * x

    assert grad(Late.f, wrt="x")(Late(), 3.0) == pytest.approx(slope(lambda x: Late().f(x), 3.0))
    assert grad(Late.g, wrt="x")(Late(), 3.0) == pytest.approx(6.0)
    with pytest.raises(AttributeError):
        grad(Late.g, wrt="x")(Late(), 0.5)


# ---------------------------------------------------------------- what is not read
class Trainer:
    def __init__(self):
        self.w, self.log, self.owner = np.ones(5), [], self

    def loss(self, x):
        return np.sum((self.w * x) ** 2)

    def kept(self, x):
        self.last = self.w * x
        return np.sum(self.last**2)

    def show(self):
        return f"{self.log} {self.owner}"


@pytest.mark.parametrize("method", [Trainer.loss, Trainer.kept])
def test_a_log_that_grows_costs_nothing(method):
    trainer, x = Trainer(), np.arange(5.0)
    gradient = grad(method)
    g = gradient(trainer, x)
    np.testing.assert_allclose(g["w"], 2 * x**2)
    assert "log" not in g and "owner" not in g
    compiled = gradient.last
    for _ in range(50):
        trainer.log.append({"w": trainer.w.copy(), "loss": 1.0})
        gradient(trainer, x)
    assert gradient.last is compiled
    trainer.log = [{"w": np.ones(5)} for _ in range(20000)]
    began = time.perf_counter()
    gradient(trainer, x)
    assert time.perf_counter() - began < 0.1  # to look at 20,000 dicts takes longer
    np.testing.assert_allclose(tangentc.vjp(method, trainer, x)[1](1.0)[1], 2 * trainer.w**2 * x)
    np.testing.assert_allclose(grad(getattr(trainer, method.__name__))(x), 2 * trainer.w**2 * x)


def by_name(t, x):
    return np.sum(getattr(t, "lo" + "g")[0]["w"] * x)


def by_constant(t, x):
    return np.sum(getattr(t, "log")[0]["w"] * x)  # noqa: B009


def by_table(t, x):
    return TABLE["of_log"](t, x)


def of_log(t, x):
    return np.sum(t.log[0]["w"] * x)


def asked(t, x):
    return np.sum(x) if hasattr(t, "log") else np.sum(2 * x)


def by_inner(t, x):
    def inner(key):
        return np.sum(t.log[0][key] * x)

    return inner("w")


TABLE = {"of_log": of_log}


@pytest.mark.parametrize("f", [by_name, by_constant, by_table, of_log, by_inner])
def test_what_is_read_in_some_other_way_is_seen(f):
    trainer, x = Trainer(), np.arange(5.0)
    trainer.owner = None
    trainer.log.append({"w": 3 * np.ones(5)})
    np.testing.assert_allclose(grad(f, wrt=1)(trainer, x), 3.0)
    np.testing.assert_allclose(grad(f)(trainer, x)["log"][0]["w"], x)


def test_what_is_asked_for_is_there():
    trainer = Trainer()
    trainer.owner = None
    np.testing.assert_allclose(grad(asked, wrt=1)(trainer, np.ones(2)), 1.0)


def test_a_method_that_is_added_later_is_followed():
    trainer, x = Trainer(), np.arange(5.0)
    trainer.owner = None
    trainer.log.append(np.ones(5))
    gradient = grad(Trainer.loss, wrt="x")
    np.testing.assert_allclose(gradient(trainer, x), 2 * x)

    def other(self, x):
        return np.sum(self.log[0] * x)

    before = Trainer.loss
    try:
        Trainer.loss = other
        np.testing.assert_allclose(grad(Trainer.loss, wrt="x")(trainer, x), 1.0)
    finally:
        Trainer.loss = before


def test_a_part_that_is_asked_for_by_its_path():
    trainer = Trainer()
    trainer.owner = None
    trainer.log = [1.0, 2.0]
    assert grad(Trainer.loss, wrt="self.log")(trainer, np.ones(5)) == [0.0, 0.0]


def test_numbers_and_arrays_have_a_gradient_though_nobody_reads_them():
    trainer = Trainer()
    trainer.unread, trainer.number = np.ones(2), 3.0
    g = grad(Trainer.loss)(trainer, np.ones(5))
    assert g["number"] == 0.0 and not g["unread"].any()


@dataclass
class Parameters:
    w: np.ndarray
    more: list

    def loss(self, x):
        return np.sum(self.w * x)


def test_a_dataclass_says_itself_what_it_consists_of():
    g = grad(Parameters.loss)(Parameters(np.ones(2), [1.0]), np.ones(2))
    assert g.more == [0.0]


def test_a_list_that_kept_an_argument_is_no_hindrance():
    class Layer:
        def __init__(self):
            self.w, self.seen = np.ones(3), []

        def forward(self, x):
            self.seen.append(x)
            return np.sum(self.w * x)

    layer, x = Layer(), np.arange(3.0)
    layer.forward(x)
    np.testing.assert_allclose(grad(Layer.forward, wrt="x")(layer, x), 1.0)
    assert len(layer.seen) == 1
    text = grad(Layer.forward, wrt="x").source_for(layer, x)
    assert "seen" not in text and "copied" not in text


# ---------------------------------------------------------------- numbers of axes
def test_the_number_of_axes_decides():
    def rows(x):
        if x.ndim == 1:
            x = x.reshape(1, -1)
        if len(x.shape) != 2 or not x.ndim % 2 == 0:
            raise ValueError("rows")
        n = x.ndim - 1
        return np.sum(np.tanh(x).sum(axis=n) ** 2)

    text = grad(rows).source_for(X)
    assert "if " not in text.split('"""')[2] and "ndim" not in text.replace("n = x.ndim - 1", "")
    for x in (X, X[0]):
        e = 1e-6 * np.cos(np.arange(x.size)).reshape(x.shape)
        assert np.sum(grad(rows)(x) * e) == pytest.approx((rows(x + e) - rows(x - e)) / 2, rel=1e-6)


def test_a_number_of_axes_that_is_another_one_on_another_path():
    def f(x):
        n = x.ndim
        if x[0, 0] > 0:
            n = 5
        for k in range(2):
            n += k
        return np.sum(x**2) * n

    for x in (np.abs(X), -np.abs(X)):
        np.testing.assert_allclose(grad(f)(x), 2 * x * (6 if x[0, 0] > 0 else 3))


def array(x):
    """What a function calls that only has an attribute of this name: np.array."""
    return x.never_asked_for_by_others


def made_of(x):
    return np.sum(np.array([x, x]))


def test_what_only_an_attribute_is_called_like_is_not_followed():
    assert "never_asked_for_by_others" not in reached([made_of]).names
    assert "never_asked_for_by_others" in reached([made_of, array]).names
    gradient = tangentc.grad(made_of)
    assert gradient(1.0) == 2.0
    assert '"array"' not in gradient.dispatch_for(1.0)


OWN = types.ModuleType("own_module")
exec("def asked(x):\n    return x.one\n\ndef other(x):\n    return x.two", vars(OWN))


def test_of_a_module_only_what_the_text_asks_for_is_followed():
    def asks(x):
        return OWN.asked(x)

    def names_the_other(x):
        return asks(x) + x.other

    for f in (asks, names_the_other):
        found = reached([f]).names
        assert "one" in found and "two" not in found


class Copies:
    def __copy_of__(self):
        return self.k


class Estimator(Copies):
    def loss(self, w):
        return np.sum(w * w) * self.k


def test_what_python_does_not_call_by_itself_is_not_followed():
    estimator = Estimator()
    estimator.k, estimator.parent = 2.0, {"child": estimator}
    assert np.array_equal(grad(estimator.loss)(np.ones(2)), [4.0, 4.0])
