"""What people write without a thought: copies, derivatives of derivatives in methods, parts of complex arrays."""

import copy
import itertools

import numpy as np

from tangentc import grad, hessian, jvp, value_and_grad

WEIGHTS = np.array([0.2, 0.4, 0.6])


def hessian_at_a_gradient(x):
    value, g = value_and_grad(lambda a: np.sum(a**2))(x)
    return np.sum(hessian(lambda a: np.sum(a**3))(g) @ g) * value


def tangent_at_a_tangent(x, y):
    v, t = jvp(lambda a: a**2 * y, (x,), (y,))
    w, u = jvp(lambda a: a**3 * t, (v,), (t,))
    return np.sum(w * u)


class Fit:
    def __init__(self, w):
        self.w = w

    def step(self, x):
        self.w = self.w - 0.1 * grad(lambda w: np.sum((w * x) ** 3))(self.w)


def steps_by_data_of_the_module(w):
    fit = Fit(w)
    for _ in range(2):
        fit.step(WEIGHTS)
    fit.step(WEIGHTS)
    return np.sum(fit.w**2)


def exception_with_a_name(x):
    a = x.copy()
    try:
        a *= 0.5
        a[9] = 1.0
    except IndexError as error:
        a[0] *= len(str(error)) > 0
    return np.sum(a**2)


def list_taken_twice(x):
    items = [x, x * 2]
    items *= 2
    return np.sum(items[0] * items[3])


def shallow_copies(x):
    items = [x, x * 2]
    others = copy.copy(items)
    others[0] = x * x
    table = {"a": items}
    both = copy.copy(table)
    both["b"] = copy.copy(x)
    both["b"] *= 2
    return np.sum(items[0] * others[0]) + np.sum(both["b"] * both["a"][1]) + len(table)


def casts_that_copy_or_not(x):
    y = x.astype(np.float64, copy=True)
    y *= 2
    z = y.astype(np.float64, copy=False)
    z[0] = 1.0
    return np.sum(y * x)


def state_of_a_wave(x, y):
    psi = x + 1j * y
    total = 0.0
    for k in range(3):
        psi *= np.exp(0.1j * k * x)
        psi[1:] += 0.2j * psi[:-1]
        total += np.sum(psi.real**2 + psi.imag**2 * y)
    return total


def imaginary_part_of_what_changed(x, y):
    z = x + 1j * y
    z[0] *= 2j
    return np.sum(z.imag)


class Layer:
    def __init__(self, w, b):
        self.w, self.b = w, b
        self.cache = None

    def __call__(self, x):
        self.cache = x
        return np.tanh(self.w @ x + self.b)


class Network:
    def __init__(self, *layers):
        self.layers = list(layers)

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def layers_that_keep_what_they_were_given(w, b, x):
    network = Network(Layer(w, b), Layer(w.T, b * 2))
    y = network(network(x))
    return np.sum(y * network.layers[1].cache)


def root(v):
    return np.sqrt(v)


def doubled_after_a_call(x):
    y = root(x + 0.1)
    y *= 2
    z = y[1:]
    z *= x[1:]
    return np.sum(y * y)


def changed_after_calls_in_a_loop(x):
    total = 0.0
    for k in range(3):
        y = root(x + k)
        if k % 2:
            y *= x
            y[0] *= 2
        total += np.sum(y**2)
    return total


def checked(v):
    if v > 1:
        raise ValueError("big")
    return v


def arguments_of_exceptions(x):
    items = []
    for k in range(3):
        v = x[k]
        try:
            w = checked(v)
        except ValueError as error:
            w = v**2 * len(error.args)
        items.append(w)
    return sum(items)


X, Y = np.array([0.3, 1.2, 0.7]), np.array([0.5, 0.9, 1.1])


def permanent(m):
    s = 0.0
    for p in itertools.permutations(range(3)):
        sign = 1
        for i in range(3):
            for j in range(i):
                if p[j] > p[i]:
                    sign = -sign
        t = 1.0
        for i in range(3):
            t *= m[i, p[i]]
        s += sign * t + t
    return s


MASSES = {"H": 1.008, "O": 15.999, "C": 12.011}


def mass_of_a_formula(x, formula):
    i = 0
    total = 0.0
    while i < len(formula):
        atom = formula[i]
        i += 1
        count = ""
        while i < len(formula) and formula[i].isdigit():
            count += formula[i]
            i += 1
        total += MASSES[atom] * (int(count) if count else 1)
    return total * x


PROGRAMS = [
    (hessian_at_a_gradient, (X,)),
    (doubled_after_a_call, (X,)),
    (changed_after_calls_in_a_loop, (X,)),
    (arguments_of_exceptions, (X,)),
    (tangent_at_a_tangent, (X, Y)),
    (steps_by_data_of_the_module, (X,)),
    (exception_with_a_name, (X,)),
    (list_taken_twice, (X,)),
    (shallow_copies, (X,)),
    (casts_that_copy_or_not, (X,)),
    (state_of_a_wave, (X, Y)),
    (imaginary_part_of_what_changed, (X, Y)),
    (layers_that_keep_what_they_were_given, (np.outer(X, Y) - 0.3, X, Y)),
    (permanent, (np.random.default_rng(0).normal(size=(3, 3)),)),
    (mass_of_a_formula, (2.0, "CH3OH")),
]
