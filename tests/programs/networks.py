"""Networks as people write them: layers with a common base class, composites of layers, optimisers, and what they keep."""

from itertools import product

import numpy as np


class Layer:
    def __call__(self, x):
        return self.forward(x)


class Scale(Layer):
    def __init__(self, w):
        self.w = w

    def forward(self, x):
        self.x = x
        return x * self.w

    def backward(self, y_bar):
        self.w_bar = np.sum(y_bar * self.x)
        return y_bar * self.w


class Tanh(Layer):
    def forward(self, x):
        self.y = np.tanh(x)
        return self.y

    def backward(self, y_bar):
        return y_bar * (1 - self.y**2)


class Sequential(Layer):
    def __init__(self, *layers):
        self.layers = layers

    def forward(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

    def backward(self, y_bar):
        for layer in reversed(self.layers):
            y_bar = layer.backward(y_bar)
        return y_bar


class Residual(Layer):
    def __init__(self, inner):
        self.inner = inner

    def forward(self, x):
        self.x = x
        return x + self.inner(x)

    def backward(self, y_bar):
        return y_bar + self.inner.backward(y_bar)


def layers_of_one_base(x):
    return np.sum(Sequential(Scale(x[0]), Tanh())(x))


def composite_in_a_composite(x):
    return np.sum(Sequential(Scale(x[0]), Residual(Sequential(Tanh(), Scale(2 * x[1]))), Residual(Tanh()))(x))


def backward_through_composites(x):
    net = Sequential(Scale(x[0]), Residual(Sequential(Tanh(), Scale(2 * x[1]))))
    y = net(x)
    x_bar = net.backward(2 * y)
    return np.sum(x_bar * x) + net.layers[0].w_bar


def trained_composite(x):
    net = Sequential(Scale(x[0]), Tanh(), Scale(x[1] * 2))
    for _ in range(2):
        net.backward(net(x))
        net.layers[0].w = net.layers[0].w - 0.1 * net.layers[0].w_bar
    return np.sum(net(x) ** 2)


class Parameter:
    def __init__(self, value):
        self.value, self.grad = value, 0.0

    def add(self, grad):
        self.grad += grad


class Constant:
    def add(self, grad):
        pass


def gradient_that_is_a_number_first(x):
    held = [Parameter(x), Constant()]
    for p in held:
        p.add(x * 2)
    return (held[0].grad * held[0].value).sum()


def gradient_by_another_name(x):
    a, b = Parameter(x), Constant()
    pair = (a, b)
    pair[0].add(x)
    return (a.grad * a.value).sum()


def gradients_of_several(x):
    held = [Parameter(x), Parameter(x * 2)]
    for p in held:
        p.grad = p.grad + p.value * 2
    for p in held:
        p.grad += p.value
    return sum((p.grad * p.value).sum() for p in held)


class Momentum:
    def __init__(self, parameters):
        self.parameters, self.moments = parameters, [0.0 for _ in parameters]

    def step(self, gradients):
        self.moments = [0.9 * m + g for m, g in zip(self.moments, gradients)]
        self.parameters = [p - 0.1 * m for p, m in zip(self.parameters, self.moments)]


def lists_that_are_made_again(x):
    momentum = Momentum([np.outer(x, x), x])
    for _ in range(3):
        momentum.step([2 * p for p in momentum.parameters])
    return sum(np.sum(p**2) for p in momentum.parameters)


def list_that_grows_while_it_is_run_over_by_another_name(x):
    held = [x[0]]
    for _ in range(2):
        same = held
        for v in held:
            if len(same) < 4:
                same.append(v * x[1])
    return sum(held)


def neighbours(x):
    s = 0.0
    for place in product(range(-1, 2), repeat=2):
        if place == (0, 0):
            continue
        s += x[0] ** 2 * (place[0] + 2.5)
    return s + sum(x[1] for place in product((0, 1), repeat=2) if place > (0, 1))


def numbered_places(x):
    d = {m: x[0] ** (j + 1) for j, m in enumerate(product((-1, 0, 1), repeat=2)) if m != (0, 0)}
    return sum(d.values())


def items_that_nobody_reads(x):
    s = 0.0
    for a, b, _ in [(1.0, 2.0, "k"), (2.0, 1.0, "l")]:
        s += b * np.sin(a * x[0])
    for strike, rate, count in [(1.0, 2.0, 3.0), (2.0, 0.5, 4.0)]:
        s += count * np.exp(x[1] * strike + rate)
    for strike, rate, count in {"a": (1.0, 2.0, 3.0), "b": (2.0, 0.5, 4.0)}.values():
        s += count * np.exp(x[2] * strike + rate)
    return s


def parameters_by_number(x):
    p, a = {}, x
    for k in range(1, 3):
        p["W" + str(k)], p["b" + str(k)] = np.outer(x, x) * k, x
    for k in range(1, 3):
        a = np.tanh(p["W" + str(k)] @ a + p["b" + str(k)])
    return a.sum() + p["W1"].sum()


def parameters_by_a_format(x):
    p, a = {}, x
    for k in range(1, 3):
        p[f"W{k}"], p["b%d" % k] = np.outer(x, x) * k, x  # noqa: UP031
    for k in range(1, 3):
        a = a @ p["W%d" % k] + p[f"b{k}"]  # noqa: UP031
    return a.sum()


def layers_made_by_a_function(x):
    return np.sum(made_of_two(x[0]).forward(x)) + made_in_a_dict(x[1])["first"].forward(x).sum()


def made_of_two(w):
    net = Growing()
    net.add(Scale(w))
    net.add(Tanh())
    return net


def made_in_a_dict(w):
    held = {}
    held["first"] = Scale(w)
    held["second"] = Tanh()
    return held


class Growing(Layer):
    def __init__(self):
        self.layers = []

    def add(self, layer):
        self.layers.append(layer)

    def forward(self, x):
        for layer in self.layers:
            x = layer.forward(x)
        return x


def patches_of_one_channel(x):
    image = np.outer(x, x).reshape(1, 1, 3, 3)
    k = np.repeat(np.arange(1), 4).reshape(-1, 1)
    i = np.array([0, 0, 1, 1]).reshape(-1, 1) + np.array([0, 0, 1, 1])
    j = np.array([0, 1, 0, 1]).reshape(-1, 1) + np.array([0, 1, 0, 1])
    columns = image[:, k, i, j].transpose(1, 2, 0).reshape(4, -1)
    return np.sum((np.array([0.5, 1.0, -1.0, 2.0]) @ columns) ** 2)


def name_that_was_a_number(x):
    r = x[0] * 2
    U = np.ones((3, 4)) * r
    for _ in range(2):
        r = U[0]
        U -= 0.1 * r * x[1]
    return np.sum(U[0] ** 2)


def index_that_was_none(x):
    X, best = np.outer(x, x), None
    for k in range(2):
        if X[k, k] < 10:
            best = k
    return X[:, best].sum()


V = np.array([0.3, 0.7, -0.4])
FUNCTIONS = (layers_of_one_base, composite_in_a_composite, backward_through_composites, trained_composite)
FUNCTIONS += (gradient_that_is_a_number_first, gradient_by_another_name, gradients_of_several)
FUNCTIONS += (lists_that_are_made_again, list_that_grows_while_it_is_run_over_by_another_name)
FUNCTIONS += (neighbours, numbered_places, items_that_nobody_reads, parameters_by_number, parameters_by_a_format)
FUNCTIONS += (layers_made_by_a_function, patches_of_one_channel, name_that_was_a_number, index_that_was_none)
PROGRAMS = [(f, (V,)) for f in FUNCTIONS]
