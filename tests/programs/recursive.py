"""Functions that call themselves, on arguments of ever other lengths; also differentiated twice."""

import numpy as np

from tangentc import grad


def fourier(x):
    n = len(x)
    if n == 1:
        return x
    even, odd = fourier(x[::2]), fourier(x[1::2])
    w = np.exp(-2j * np.pi * np.arange(n // 2) / n)
    return np.concatenate([even + w * odd, even - w * odd])


def spectrum(x):
    y = fourier(x.astype(complex))
    return np.sum(np.real(y) ** 2 * np.arange(len(x)))


def nested_sum(x):
    if len(x) == 1:
        return x[0] ** 2
    return x[0] * 0.5 + nested_sum(x[1:]) * x[0]


def halved(x):
    if len(x) <= 2:
        return np.sum(np.sin(x))
    m = len(x) // 2
    return halved(x[:m]) * halved(x[m:])


def merged(x):
    if len(x) <= 1:
        return x
    m = len(x) // 2
    a, b = merged(x[:m]), merged(x[m:])
    out = np.zeros(len(x))
    i = j = 0
    for k in range(len(x)):
        if j >= len(b) or (i < len(a) and a[i] <= b[j]):
            out[k] = a[i]
            i += 1
        else:
            out[k] = b[j]
            j += 1
    return out


def merge_sort(x):
    return np.sum(merged(x) * np.arange(len(x)))


def parted(x):
    if len(x) <= 1:
        return x
    rest = x[1:]
    return np.concatenate([parted(rest[rest < x[0]]), x[:1], parted(rest[rest >= x[0]])])


def quick_sort(x):
    return np.sum(parted(x) * np.arange(len(x)))


def sines(x, n):
    if n == 0:
        return x
    return x * np.sin(sines(x, n - 1))


def fibonacci(x, n):
    if n < 2:
        return x
    return fibonacci(x, n - 1) * 0.5 + fibonacci(x, n - 2) * x


def product_of_a_tree(t):
    if isinstance(t, tuple):
        return product_of_a_tree(t[0]) * product_of_a_tree(t[1]) + 1.0
    return t**2


def even(x, n):
    return x if n == 0 else odd(x, n - 1) * x


def odd(x, n):
    return 2 * x if n == 0 else even(x, n - 1) + x


def haar(x):
    if len(x) == 1:
        return x
    return np.concatenate((haar((x[::2] + x[1::2]) / 2), (x[::2] - x[1::2]) / 2))


def wavelets(x):
    return np.sum(haar(x) ** 3)


def horner(c, x):
    if not c:
        return 0.0
    return c[0] + x * horner(c[1:], x)


def adaptive(f, a, b, depth):
    m = (a + b) / 2
    if depth == 0:
        return (b - a) * f(m)
    return adaptive(f, a, m, depth - 1) + adaptive(f, m, b, depth - 1)


def integral_of_a_closure(k, a, b):
    return adaptive(lambda t: np.sin(k * t), a, b, 2)


def _walk(f, g, x, n):
    if n == 0:
        return g(x)
    k = f(x)
    return _walk(f, g, k, n - 1) * f(k)


def two_functions_that_capture(k, c):
    def f(x):
        return k * np.sin(x)

    return _walk(f, lambda y: y * c + k, 0.4, 3)


def _descend(f, df, x, n):
    return x if n == 0 else _descend(f, df, x - f(x) / df(x), n=n - 1)


def root_by_recursion(a):
    return _descend(lambda x: x**3 - a, lambda x: 3 * x**2, 1.5, 6)


def _exchanged(f, g, n):
    return f(n) if n == 0 else _exchanged(g, f, n - 1) * g(n)


def functions_that_change_places(k):
    return _exchanged(lambda x: k * x + 1, lambda x: k + x, 3)


def power_of_the_spectrum(u):
    return np.sum(np.abs(fourier(u)) ** 4)


def gradient_of_one_that_calls_itself(u):
    return np.sum(grad(power_of_the_spectrum)(u) ** 2)


def doubled_by_turns(a, n):
    if n > 0:
        a[0] = a[0] * a[1]
        handed_on_by_turns(a, n - 1)


def handed_on_by_turns(a, n):
    if n > 0:
        doubled_by_turns(a, n - 1)


def changed_by_turns(x):
    y = x.copy()
    doubled_by_turns(y, 4)
    return y[0] ** 2


def changed_by_turns_below(x):
    y = x.copy()
    handed_on_by_turns(y, 4)
    return y[0] ** 2


def given_back(a, k):
    if k == 0:
        return a
    a[0] *= 2
    return given_back(a, k - 1)


def changed_and_given_back(x):
    y = x.copy()
    return np.sum(given_back(y, 2) * y)


def rest_given_back(a, k):
    if k == 0:
        return a[1:]
    v = rest_given_back(a, k - 1)
    a[1] *= 2.0
    return v


def rest_changed_behind(x):
    y = x.copy()
    return rest_given_back(y, 2)[0] ** 2


def appending(add, v, n):
    if n > 0:
        add(v * n)
        appending(add, v * v, n - 1)


def appended_by_a_name(x):
    out = []
    appending(out.append, x[0], 3)
    return sum(out)


R = np.random.default_rng(0)
THREE = R.normal(size=3)
PROGRAMS = [
    (changed_by_turns, (THREE,)), (changed_by_turns_below, (THREE,)), (changed_and_given_back, (THREE,)),
    (appended_by_a_name, (THREE,)), (rest_changed_behind, (THREE,)),
    (spectrum, (R.normal(size=16),)), (nested_sum, (R.normal(size=12),)), (halved, (R.normal(size=33),)),
    (merge_sort, (R.normal(size=9),)), (quick_sort, (R.normal(size=9),)), (sines, (0.7, 5)), (fibonacci, (0.7, 6)),
    (product_of_a_tree, (((0.5, 0.2), (0.1, (0.3, 0.7))),)), (even, (0.4, 5)), (wavelets, (R.normal(size=16),)),
    (horner, ([0.3, 0.7, -0.2], 0.4)), (integral_of_a_closure, (2.0, 0.1, 1.3)),
    (two_functions_that_capture, (1.3, 0.4)), (root_by_recursion, (2.5,)), (functions_that_change_places, (1.3,)),
    (gradient_of_one_that_calls_itself, (R.normal(size=4),)),
]  # fmt: skip
REFUSED = {
    "functions_that_change_places",
    "changed_by_turns",
    "changed_by_turns_below",
    "changed_and_given_back",
    "appended_by_a_name",
    "rest_changed_behind",
}
