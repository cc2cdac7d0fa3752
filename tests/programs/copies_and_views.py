"""Copies that look like views and views that look like copies; what a pullback reads; values read before a change."""

import numpy as np

from tangentc import jacfwd, jacrev, jvp, vjp


def up_to_a_slice_object(x):
    n = len(x) - 1
    return np.sum(x[slice(n)] ** 3) + np.sum(x[slice(1, n)]) * np.sum(x[slice(None, n, 2)] ** 2)


PROGRAMS = []
REFUSED = set()


def program(*args):
    def add(f):
        PROGRAMS.append((f, args))
        return f

    return add


def refused(f):
    REFUSED.add(f.__name__)
    return program(X)(f)


X = np.array([2.0, 3.0, 5.0, 7.0])


# ------------------------------------------------------------------ results that may be the argument itself
@program(X)
def cast_to_what_it_is(x):
    y = np.float64(x)
    y[0] *= 2
    return np.sum(x * y)


@program(X)
def cast_to_another_type(x):
    y = np.complex128(x)
    x[0] *= 3
    return np.sum(np.real(y) ** 2 * x)


@refused
def differences_of_order_zero(x):
    y = np.diff(x, n=0)
    y[0] *= 2
    return np.sum(x)


@refused
def first_power(x):
    y = np.linalg.matrix_power(x.reshape(2, 2), 1)
    y[0, 0] *= 3
    return np.sum(x)


@program(X)
def greater_of_two(x):
    y = max(x[:2], x[2:], key=np.sum)
    y[0] *= 2
    return np.sum(x**2)


@program(X)
def lesser_of_three(x):
    y = min(x[:2], x[1:3], x[2:], key=lambda t: t[0])
    x[0] *= 3
    return np.sum(y**2)


@refused
def complex_numbers_as_pairs(x):
    z = x * (1 + 2j)
    v = z.view(float)
    v[::2] *= x
    return np.sum(v * v) + np.sum(z.real)


# ------------------------------------------------------------------ copies
@program(X)
def ravelled_by_columns_and_changed(x):
    y = x.reshape(2, 2).ravel(order="F")
    y[0] = 0.0
    return np.sum(x**2) + np.sum(y**2)


@program(X)
def ravelled_by_columns_and_kept(x):
    y = np.ravel(x.reshape(2, 2), "F")
    x[1] = x[0] * 3
    return np.sum(y**2)


@program(X)
def reshaped_by_columns(x):
    y = np.reshape(x.reshape(2, 2), 4, order="F")
    y[1] *= 3
    return np.sum(y**2) + np.sum(x)


@program(X)
def reshaped_to_a_copy(x):
    y = np.reshape(x, (2, 2), copy=True)
    y[0] = 0.0
    return np.sum(x) + np.sum(y**2)


@program(X)
def array_of_its_own(x):
    y = np.asarray(x, copy=True)
    x[0] = 0.0
    return np.sum(y**2)


# ------------------------------------------------------------------ flat
@program(X)
def flat_times(x):
    y = np.copy(x)
    y.flat[1:] *= x[0]
    y.flat[0] /= x[1]
    y.flat[2] **= 2
    return np.sum(y)


@program(X)
def flat_of_a_view(x):
    x.reshape(2, 2)[1].flat[0] *= x[0]
    f = x.flat
    f[1] *= x[0]
    return np.sum(x**2)


# ------------------------------------------------------------------ what a pullback reads
@program(X)
def result_changed_before_the_pullback(x):
    y, pullback = vjp(lambda v: (np.sum(v**2), v), x)
    y[1][0] = 7.0
    (g,) = pullback((1.0, y[1]))
    return np.sum(g**2)


@program(X)
def view_changed_before_the_pullback(x):
    y, pullback = vjp(lambda v: {"a": v**2, "b": v[1:]}, x)
    y["b"][0] = 7.0 * x[0]
    return np.sum(x**2) + np.sum(pullback({"a": x, "b": y["b"]})[0])


@program(X)
def captured_changed_before_the_pullback(x):
    y = x.copy()
    both, pullback = vjp(lambda v: [np.sum(v**2 * y), y], x)
    both[1][0] = 5 * x[1]
    return np.sum(pullback([1.0, y])[0] ** 2) + np.sum(y)


# ------------------------------------------------------------------ values read before a change
@program(X)
def tangent_changed(x):
    (a, b), (a_dot, b_dot) = jvp(lambda v: (v, v**2), (x,), (x * 2,))
    a_dot[1] = x[2]
    return np.sum(a_dot * b_dot)


@program(X)
def products_before_a_change(x):
    a = x * 1.5
    s = 0.0
    for k in range(3):
        p = 2 * a
        a[k] = p[0] * x[1]
        s = s + np.sum(3 * p * (4 * p))
    return s


# ------------------------------------------------------------------ lists and tuples
@program(X)
def list_extended_by_itself(x):
    items = [x[0], x[1]]
    items += items
    items.extend(items)
    return items[0] * items[3] * items[6]


@program(X)
def arrays_extended_by_another_name(x):
    items = [x * 1, x * 2]
    other = items
    items.extend(other)
    items[3][0] = x[1]
    return np.sum(items[0] * items[3] * items[1])


@program(X)
def unstacked(x):
    a = x.reshape(4, 1) * np.ones(2)
    rows = np.unstack(a)
    rows[0][:] = rows[1] * 2
    return np.sum(a**2) + np.sum(rows[0] * rows[1])


@program(X)
def polynomial_of_constants(x):
    return np.polyval([1, 2, 3], x[0]) * np.sum(np.polyval([1.5, 2], x))


# ------------------------------------------------------------------ recursion
def merged(x):
    if len(x) <= 1:
        return x
    m = len(x) // 2
    a, b = merged(x[:m]), merged(x[m:])
    out = np.zeros(len(x))
    out[:m], out[m:] = a * 2, b
    return out


@program(X)
def argument_or_new(x):
    return np.sum(merged(x) ** 2)


# ------------------------------------------------------------------ loops over what is changed after them
@program(X)
def entries_added_in_a_loop_over_them(x):
    for v in x:
        v *= 2
        x[3] += v
    return np.sum(x**2)


@program(X)
def item_changed_after_a_loop_over_its_dict(x):
    d = {}
    for i in range(3):
        d[i] = x[i]
    for k in d:
        d[k] *= x[0]
    d[0] += d[2]
    return d[0] * d[1]


# ------------------------------------------------------------------ tangents of tangents
def scaled_by_what_it_was(x):
    y = x[0]
    x[0] *= y
    return y * x[0]


def scaled_by_its_exponential(x):
    z = np.exp(x / 10)
    x *= z
    return np.sum(x * z)


@program(X)
def tangent_of_a_value_from_before(x):
    return jvp(lambda z: scaled_by_what_it_was(z), (x,), (np.array([1.5, 2.0, 0.5, 1.0]),))[1]


@program(X)
def tangent_of_an_array_from_before(x):
    return jvp(lambda z: scaled_by_its_exponential(z), (x,), (np.array([1.5, 2.0, 0.5, 1.0]),))[1]


@program(X)
def columns_of_a_function_that_changes(x):
    return np.sum(jacfwd(scaled_by_what_it_was)(x) ** 2)


# ------------------------------------------------------------------ pullbacks of functions that change their argument
def power(x):
    x[0] *= x[1]
    return x * x


def both(z, w):
    z *= w
    w += z * z
    return np.sum(z * w)


@program(X)
def pullback_of_a_function_that_changes(x):
    value, pullback = vjp(power, x)
    return np.sum(pullback(value)[0] ** 2)


@program(X)
def rows_of_a_function_that_changes(x):
    return np.sum(jacrev(power)(x) ** 2)


@program(X)
def pullback_by_two_that_change(x):
    value, pullback = vjp(both, x, x * 2)
    a, b = pullback(value)
    return np.sum(a * b)


# ------------------------------------------------------------------ arrays without axes
@program(X)
def sum_of_an_array_without_axes(x):
    a = np.array(x[0])
    p = a + 1
    a *= 3
    return a * p


@program(X)
def product_of_an_array_without_axes(x):
    a = np.squeeze(x[:1])
    b = a * 1.0
    c = [a.real + 0]
    a *= x[1]
    return a * b * c[0]


# ------------------------------------------------------------------ names: many products, one of them named by its number
@program(np.array([0.31, 0.52, -0.7, 0.9]), np.array([1.1, -0.4, 0.63, 0.2]))
def many_products(x, y):
    p = x * x
    a = x[0] * y[1]
    b = x[1] * 0.3 * y[2]
    c = x[2] * y[3]
    d = x[3] * y[0]
    x[0] *= a * 0.3
    x[1] *= b * 0.4
    x[2] *= c * 0.5
    x[3] *= d * 0.6
    x[0] *= np.sum(y) * 0.3
    z = y[0]
    for _ in range(2):
        y[1] *= np.cos(x[0]) * p[0]
    x[1] *= y[1] * 0.4 * z
    return np.sum(p * x)


@program(np.array([0.31, 0.52, -0.7, 0.9]), np.array([1.1, -0.4, 0.63, 0.2]))
def many_products_of_two_shapes(x, y):
    s = x * 0.7
    q = x
    s[1] *= y[1] * 0.3
    q[:2] -= q[2:] * 0.6 * x[:2]
    q[1::2] = s[::2] * 0.6 * s[1::2]
    p = s * s.copy()
    s *= 0.5 * p
    s[3] *= y[3] * 0.3
    p *= y[0] * 0.3
    for _ in range(2):
        y[1] *= np.cos(q[1]) * p[2]
    s[2] *= y[1] * 0.3
    return np.sum(p * np.sin(p)) + np.sum(s * np.sin(s + 2.0)) + np.sum(q * np.sin(q + 3.0))
