"""Derivatives taken inside programs that are differentiated: of one another's results, in loops, of functions that
capture functions."""

import functools

import numpy as np

from tangentc import grad, hessian, jvp, value_and_grad, vjp


def cubic(a, x):
    return a**3 * x


def gradient_at_a_gradient(x):
    return grad(cubic)(grad(cubic)(x, 1.0), x)


def energy(r):
    return np.sum(np.sin(r) * r**2)


def force_carried_by_a_loop(r, dt):
    f = grad(energy)(r)
    for _ in range(2):
        r = r + dt * f
        f = grad(energy)(r)
    return np.sum(r**2)


def verlet(q, p, dt):
    for _ in range(3):
        p = p - 0.5 * dt * grad(energy)(q)
        q = q + dt * p
        p = p - 0.5 * dt * grad(energy)(q)
    return np.sum(q**2) + np.sum(p**2)


def gradient_of_a_local_function_in_a_lambda(x):
    def e(a):
        return a**3

    return grad(lambda t: grad(e)(t) * t)(x)


def named_gradient_in_a_lambda(x):
    g = grad(lambda a: a**2 * x)
    return grad(lambda t: g(t) * g(x))(x)


def values_and_gradients_in_a_lambda(x):
    def e(a):
        return a**3 * x

    g = value_and_grad(e)
    return grad(lambda t: g(t)[0] * g(x)[1])(x)


def third(q):
    return q**3


def tangent_of_a_gradient(q, v):
    g = grad(third)
    return jvp(lambda q: g(q), (q,), (v,))[1] + jvp(lambda q: grad(third)(q), (q,), (v,))[1]


def steps_inside(w, x, y):
    def loss(w):
        return np.mean((x @ w - y) ** 2)

    for _ in range(2):
        w = w - 0.1 * grad(loss)(w)
    return loss(w)


def generator_asked_in_an_inner_function(x):
    def loss(w):
        return w**2 if any(v > 0.5 for v in x) else w * 3

    def power(n):
        if all(v > 0.1 for v in x):
            return x[n] * power(n - 1) if n else x[0]
        return 1.0

    return grad(loss)(x[0]) * x[1] * power(1)


def captured_name_used_twice(x):
    product = lambda t: t * x

    def other(t):
        x = 5.0
        return grad(lambda s: product(s) * x * s)(t)

    return other(x * x)


def gradient_of_a_function_from_elsewhere(x):
    square = lambda t: t * t * x

    def other(t):
        x = 5.0
        slope = grad(square)
        return grad(lambda s: slope(s) * x * s)(t)

    return other(x * x)


def function_from_a_function(x):
    def scaled_square(y):
        return lambda t: t * t * y

    square = scaled_square(x * x)
    y = 3.0
    return grad(lambda s: square(s) * y)(x)


def gradient_from_a_function(x):
    def slope_of_square(y):
        def square(t):
            return t * t * y

        return grad(square)

    slope = slope_of_square(x * x)
    y = 3.0
    return jvp(lambda s: slope(s) * y * s, (x,), (1.0,))[1]


def pullbacks_kept(x):
    pullbacks, y = [], x
    for k in range(1, 3):
        y, pullback = vjp(lambda q, k=k: np.sin(q * k), y)
        pullbacks.append(pullback)
    c = 1.0
    for pullback in reversed(pullbacks):
        (c,) = pullback(c)
    return c


def captured_name_assigned_before_the_pullback(x):
    a = x
    value, pullback = vjp(lambda q: q**2 * a, x)
    a = x * 5
    return pullback(1.0)[0] * value + a


def primal_changed_before_the_pullback(x):
    a = np.array([x, x])
    value, pullback = vjp(lambda q: q * q, a)
    a[0] = 5.0
    return np.sum(pullback(np.ones(2))[0]) * np.sum(value)


def tangent_changed_after_it(x):
    y = np.array([x, 2 * x])
    value, tangent = jvp(lambda q: q, (y,), (y,))
    y[0] = 9.0
    return value @ tangent


class Layer:
    def __init__(self, w):
        self.w = w

    def __call__(self, x):
        return np.sum(np.tanh(self.w * x))


LAYER = Layer(np.array([0.3, 0.4]))


def gradient_of_an_object(x):
    value, pullback = vjp(lambda z: LAYER(z) * z, x)
    return np.sum(grad(LAYER)(x) * x) + np.sum(pullback(x)[0] * value)


class Model:
    def __init__(self, w):
        self.w = w

    def energy(self, x):
        return self.w * x**3

    def __call__(self, x):
        return self.w * x**3

    @staticmethod
    def fourth(x):
        return x**4

    def force(self, x):
        return -grad(self.energy)(x)


MODEL = Model(2.0)


def scaled(q, x):
    return q**2 * x


def slope(f, v):
    return grad(f)(v)


def force_of_an_object_of_the_module(x):
    return MODEL.force(x)


def force_of_an_object_made_inside(x):
    m = Model(x)
    return m.force(x)


def gradient_of_a_called_object(x):
    m = Model(x)
    return grad(m)(x)


def gradient_of_a_static_method(x):
    return grad(Model.fourth)(x)


def gradient_of_a_partial_by_name(x):
    return grad(functools.partial(scaled, x=x))(x)


def gradient_of_a_partial(x):
    return grad(functools.partial(scaled, x))(x)


def two_functions_of_one_name(x):
    f = lambda q: q**2 * x
    a = grad(f)(x)
    f = lambda q: q**3 * x
    return a * grad(f)(x)


def function_in_a_dict(x):
    d = {"a": lambda q: q**2 * x}
    return grad(d["a"])(x)


def function_given(x):
    return slope(lambda q: q**2 * x, x) * slope(lambda q: q**3 * x, x)


def function_as_a_default(x, e=lambda q: q**3):
    return grad(e)(x)


def pullback_of_a_library_function(x):
    v, pb = vjp(np.sin, x)
    return pb(1.0)[0] * v


def gradient_of_a_library_function(x):
    return grad(np.sin)(x)


def tangent_of_a_method(x):
    m = Model(x)
    return jvp(m.energy, (x,), (1.0,))[1]


def pullback_of_a_method(x):
    m = Model(x)
    v, pb = vjp(m.energy, x)
    return pb(1.0)[0]


def hessian_of_a_method(x):
    return hessian(MODEL.energy)(x)


def second_derivative_of_a_method(x):
    return grad(grad(MODEL.energy))(x)


def method_in_a_lambda(x):
    m = Model(x)
    return grad(lambda q: m.energy(q) * q)(x)


def value_and_gradient_of_a_method(x):
    m = Model(x)
    return value_and_grad(m.energy)(x)[1]


def named_gradient_of_a_method(x):
    g = grad(MODEL.energy)
    return g(x)


X = np.array([0.3, 0.7])
PROGRAMS = [
    *((f, (0.7,)) for f in (
        gradient_at_a_gradient, gradient_of_a_local_function_in_a_lambda, named_gradient_in_a_lambda,
        values_and_gradients_in_a_lambda, captured_name_used_twice, gradient_of_a_function_from_elsewhere,
        function_from_a_function, gradient_from_a_function, pullbacks_kept,
        captured_name_assigned_before_the_pullback, primal_changed_before_the_pullback, tangent_changed_after_it,
    )),
    (force_carried_by_a_loop, (X, 0.1)), (verlet, (X, X + 1, 0.1)), (tangent_of_a_gradient, (0.7, 0.3)),
    (steps_inside, (X, np.array([[0.3, 0.1], [0.2, 0.5]]), X + 0.1)), (generator_asked_in_an_inner_function, (X,)),
    (gradient_of_an_object, (X,)),
]  # fmt: skip
OF_ALL_KINDS = (
    force_of_an_object_of_the_module,
    force_of_an_object_made_inside,
    gradient_of_a_called_object,
    gradient_of_a_static_method,
    gradient_of_a_partial_by_name,
    gradient_of_a_partial,
    two_functions_of_one_name,
    function_in_a_dict,
    function_given,
    function_as_a_default,
    pullback_of_a_library_function,
    gradient_of_a_library_function,
    tangent_of_a_method,
    pullback_of_a_method,
    hessian_of_a_method,
    second_derivative_of_a_method,
    method_in_a_lambda,
    value_and_gradient_of_a_method,
    named_gradient_of_a_method,
)
PROGRAMS += [(f, (0.7,)) for f in OF_ALL_KINDS]


def captured_beside_a_parameter_of_its_name(x):
    def k(y):
        return x * y**3

    return grad(lambda x: x * k(x))(x)


def captured_beside_a_variable_of_its_name(x):
    def k(y):
        return x * y**3

    def g(y):
        x = 2.0 * y
        return k(y) * x

    return grad(g)(x)


def captured_by_a_captured_function(x):
    def k(y):
        return x * y**3

    def m(z):
        return k(z) + x

    def g(y):
        k = y * y
        return m(y) * k

    return grad(g)(x) * x


def captured_beside_another_parameter(x):
    def k(y):
        return x * y**3

    def g(x, y):
        return k(y) * x

    return grad(g, wrt=1)(x * 2, x)


def captured_at_two_depths(x):
    a = x * x

    def k(y):
        return a * y**3

    def outer(t):
        a = t * 3

        def inner(s):
            return k(s) * a

        return grad(inner)(t)

    return grad(outer)(x)


PROGRAMS += [
    (f, (0.7,))
    for f in (
        captured_beside_a_parameter_of_its_name,
        captured_beside_a_variable_of_its_name,
        captured_by_a_captured_function,
        captured_beside_another_parameter,
        captured_at_two_depths,
    )
]
