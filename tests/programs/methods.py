"""Gradients of methods inside functions that are differentiated, and values beside lists."""

import math

import numpy as np

from tangentc import grad, hvp, jvp, value_and_grad, vjp


class Spring:
    def __init__(self, k):
        self.k = k

    def energy(self, x, y=0.5):
        return self.k * x**3 * y + np.sin(y * self.k)

    def force(self, x):
        return -grad(self.energy)(x)

    def forces(self, x, y):
        value, (x_bar, y_bar) = value_and_grad(self.energy, wrt=(0, 1))(x, y)
        return value * x_bar + y_bar


class Stiffened(Spring):
    def energy(self, x, y=0.5):
        return super().energy(x, y) + self.k**2 * x * x


def force_of_an_energy(k, x):
    return Spring(k).force(x) * x


def forces_of_an_energy(k, x):
    return Spring(k).forces(x, x * x) + Stiffened(k).force(x)


def stepped_by_its_force(k, x):
    spring, v = Stiffened(k), 0.3
    for _ in range(3):
        v = v + 0.1 * spring.force(x)
        x = x + 0.1 * v
    return x * v


def integers_among_numbers(x):
    return min([x, 3]) * sum([x * x, 1]) + math.prod([x, x, 2])


def number_or_integer(x, first):
    y, z = (x, 1) if first else (1, x)
    return y * z + y


def list_beside_an_array(x):
    return np.dot(x, [1, 2, 3, 4]) + np.sum(x * [1, 2, 3, 4]) * (x @ [1.0, 2, 3, 4]) + np.inner([x[0], x[1], 1, 2], x)


def copied_as_an_array(x):
    a = np.array(x, copy=True)
    a[0] = a[1] * 2
    return np.sum(a * x)


def transposed_and_stored(x):
    table = np.arange(24.0).reshape(2, 3, 4) * 0.1 * x[0]
    turned = table.transpose(2, 0, 1)
    turned[1] *= x[1]
    return np.sum(np.sin(table))


def key_that_is_tried(d, x):
    try:
        s = d["q"] * x
    except KeyError:
        s = d["a"] * x**2
    return s


def cubed(x, y=0.5):
    return x**3 * y


def gradient_with_a_default(x):
    return grad(cubed)(x) * x + grad(lambda t, y=2.0: t * t * y)(x)


def gradient_with_a_keyword(x):
    return grad(cubed)(x, y=x)


def tangent_with_a_default(x):
    return jvp(cubed, (x,), (1.0,))[1] + hvp(cubed, (x,), (1.0,))


def pullback_with_a_default(x):
    value, pullback = vjp(cubed, x)
    return pullback(1.0)[0] * value


class Layer:
    def __init__(self, w, activation):
        self.w, self.activation = w, activation

    def __call__(self, x):
        return self.activation(self.w * x)


class Layers:
    def __init__(self, w):
        self.layers = [Layer(w, np.tanh), Layer(w * 2, np.sin)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


def layers_of_several_activations(w, x):
    first, second = Layer(w, np.tanh), Layer(w * 2, np.sin)
    return np.sum(Layers(w)(x)) * np.sum(second(first(x)))


X = np.array([0.3, -0.7, 1.2, 0.5])
PROGRAMS = [
    (force_of_an_energy, (1.3, 0.4)), (forces_of_an_energy, (1.3, 0.4)), (stepped_by_its_force, (1.3, 0.4)),
    (integers_among_numbers, (1.3,)), (number_or_integer, (1.3, True)), (number_or_integer, (1.3, False)),
    *((f, (1.3,)) for f in (
        gradient_with_a_default, gradient_with_a_keyword, tangent_with_a_default, pullback_with_a_default,
    )),
    (layers_of_several_activations, (X, X * 2)),
    (list_beside_an_array, (X,)), (copied_as_an_array, (X,)), (transposed_and_stored, (X,)),
    (key_that_is_tried, ({"a": 0.4}, 1.2)), (key_that_is_tried, ({"q": 0.4}, 1.2)),
]  # fmt: skip
