"""Where a function raises it has no gradient: lengths that do not fit, names without a value, what nobody uses."""

# ruff: noqa: F841
import math

import numpy as np
import pytest

import tangentc


def ones(*shape):
    return np.linspace(0.5, 1.5, int(np.prod(shape))).reshape(shape)


def summed(x, y):
    return np.sum(x + y)


def product(A, x):
    return np.sum(A @ x)


def dotted(A, x):
    return np.sum(np.dot(A, x))


def inner(x, y):
    return np.inner(x, y)


def chosen(x, y):
    return np.sum(np.where(x > 0, x, y))


def stored(x, y):
    z = x.copy()
    z[:] = y
    return np.sum(z)


def stored_in_part(x, y):
    z = x * 1
    z[1:] = y
    return np.sum(z)


def added_in_place(x, y):
    z = x * 1
    z += y
    return np.sum(z)


def in_a_branch(x, y):
    total = np.sum(x)
    if x[0] > 0:
        total = total + np.sum(x + y)
    return total


def computed_in_the_other_branch(x, y):
    if x[0] > 100:
        return np.sum(np.exp(x + y))
    return np.sum(x + y)


def in_a_loop(x, y):
    total = np.sum(x)
    for _ in range(2):
        total = total + np.sum(x + y)
    return total


def in_a_helper(x, y):
    return summed(x, y) * 2


def of_cut_lengths(x, y):
    return np.sum(x[1:] + y)


APART = [
    (summed, ones(2), ones(3)),
    (summed, ones(12), ones(13)),
    (summed, ones(2, 3), ones(2)),
    (summed, ones(12, 9), ones(12)),
    (product, ones(2, 3), ones(2)),
    (product, ones(12, 13), ones(12)),
    (dotted, ones(2, 3), ones(2, 3)),
    (inner, ones(3), ones(4)),
    (chosen, ones(3), ones(4)),
    (stored, ones(3), ones(4)),
    (stored, ones(13), ones(14)),
    (stored_in_part, ones(13), ones(14)),
    (added_in_place, ones(3), ones(4)),
    (in_a_branch, ones(3), ones(4)),
    (in_a_loop, ones(12), ones(13)),
    (computed_in_the_other_branch, ones(3), ones(4)),
    (computed_in_the_other_branch, ones(12), ones(13)),
    (in_a_helper, ones(12), ones(13)),
    (of_cut_lengths, ones(12), ones(12)),
]
MODES = {
    "grad": lambda f, args, wrt: tangentc.grad(f, wrt=wrt)(*args),
    "value_and_grad": lambda f, args, wrt: tangentc.value_and_grad(f, wrt=wrt)(*args),
    "jvp": lambda f, args, wrt: tangentc.jvp(
        f, args, tuple(np.ones_like(a) if i in wrt else None for i, a in enumerate(args))
    ),
}
modes = pytest.mark.parametrize("mode", MODES)


@modes
@pytest.mark.parametrize("wrt", [(0,), (1,), (0, 1)], ids=str)
@pytest.mark.parametrize("f, x, y", APART, ids=[f"{f.__name__}-{x.shape}-{y.shape}" for f, x, y in APART])
def test_lengths_that_do_not_fit(f, x, y, wrt, mode):
    with pytest.raises(ValueError):
        f(x, y)
    with pytest.raises(ValueError):
        MODES[mode](f, (x, y), wrt)


def not_taken(x, y):
    total = np.sum(x)
    if x[0] > 100:
        total = total + np.sum(x + y)
    return total


def tried(x, y):
    try:
        total = np.sum(x + y)
    except ValueError:
        total = 2 * np.sum(x)
    return total


def fits_when_cut(x, y):
    return np.sum(x[1:] * y) + np.sum(x[1:] + y)


@pytest.mark.parametrize("f, x, y, slope", [(not_taken, ones(3), ones(4), 1.0), (tried, ones(3), ones(4), 2.0),
                                            (tried, ones(12), ones(13), 2.0), (fits_when_cut, ones(13), ones(12), None)])  # fmt: skip
def test_what_does_not_run_does_not_raise(f, x, y, slope):
    gradient = tangentc.grad(f)(x, y)
    wanted = np.append(0.0, y + 1.0) if slope is None else np.full(len(x), slope)
    np.testing.assert_allclose(gradient, wanted)


def test_lengths_that_only_the_run_knows():
    def of_cuts(x, i, j):
        return np.sum(x[:i] + x[:j]) + np.sum(np.stack([x[:i], x[:j]]))

    assert np.sum(tangentc.grad(of_cuts)(ones(12), 3, 3)) == 12.0
    with pytest.raises(ValueError):
        tangentc.grad(of_cuts)(ones(12), 3, 4)


# ---------------------------------------------------------------- names
def of_a_branch(x):
    if x > 5:
        y = x
    return y * 2


def of_an_elif(x):
    if x > 5:
        y = x * 2
    elif x < 0:
        y = x
    z = x
    if x > 1:
        z = y * 3
    return z


def of_a_loop(x):
    for _ in range(int(x) - 2):
        y = x * 2
    return y * x


def of_a_while(x):
    while x > 5:
        y = x
        x = x - 1
    return y + x


def of_an_array(x):
    z = np.full(3, x)
    if x > 5:
        y = z * 2
    return np.sum(y)


def of_a_list(x):
    if x > 5:
        y = [x]
    return y[0]


def of_a_function_inside(x):
    def inside(z):
        if z > 5:
            w = z
        return w

    return inside(x)


def of_a_deleted_name(x):
    y = x * 2
    if x < 5:
        del y
    return y * x


def of_an_exception(x):
    try:
        y = 1 / (x - 2.0)
    except ZeroDivisionError:
        pass
    return y * x


UNBOUND = [of_a_branch, of_an_elif, of_a_loop, of_a_while, of_an_array, of_a_list, of_a_function_inside,
           of_a_deleted_name, of_an_exception]  # fmt: skip


@modes
@pytest.mark.parametrize("f", UNBOUND)
def test_a_name_without_a_value(f, mode):
    with pytest.raises(UnboundLocalError):
        f(2.0)
    with pytest.raises(UnboundLocalError):
        MODES[mode](f, (2.0,), (0,))
    difference = (f(6.3 + 1e-6) - f(6.3 - 1e-6)) / 2e-6
    np.testing.assert_allclose(tangentc.grad(f)(6.3), difference, rtol=1e-6)


def none_is_a_value(x):
    if x > 1:
        y = None
    if x > 1 and y is None:
        return x * 3
    return x


def returns_from_branches(x):
    if x > 0:
        if x > 10:
            return x
        y = 2 * x
    else:
        y = 3 * x
    return y * y


def first_of_a_loop(x):
    for i in range(3):
        if i == 0:
            y = x
        else:
            y = y * x
    return y


@pytest.mark.parametrize("f", [none_is_a_value, returns_from_branches, first_of_a_loop])
def test_a_name_that_has_a_value_where_it_is_read(f):
    difference = (f(2.0 + 1e-6) - f(2.0 - 1e-6)) / 2e-6
    np.testing.assert_allclose(tangentc.grad(f)(2.0), difference, rtol=1e-6)


def test_a_path_that_leaves_is_not_asked_for_the_name():
    assert "require_bound" not in tangentc.grad(returns_from_branches).source_for(2.0)
    assert "require_bound" in tangentc.grad(of_a_branch).source_for(2.0)


# ---------------------------------------------------------------- what nobody uses
def unused_quotient(x):
    y = 1 / (x - 2.0)
    return x * x


def unused_inverse(x):
    y = np.linalg.inv(np.full((3, 3), x))
    return x * x


def unused_item(x):
    y = [x, x][int(x)]
    return x * x


def unused_in_a_loop(x):
    for i in range(3):
        y = 1 / (x - i)
    return x * x


@pytest.mark.parametrize("f", [unused_quotient, unused_inverse, unused_item, unused_in_a_loop])
def test_value_and_grad_raises_where_the_function_does(f):
    with pytest.raises(Exception) as wanted:
        f(2.0)
    with pytest.raises(type(wanted.value)):
        tangentc.value_and_grad(f)(2.0)
    assert tangentc.grad(f)(2.0) == 4.0  # which docs/reference/conventions.md says


def refused_when_large(x):
    if x > 1.5:
        raise ValueError("too large")
    return x * x


def unused_call(x):
    y = refused_when_large(x)
    return x * x


def unused_calls(x):
    y = [refused_when_large(x - k) for k in range(2)]
    return x * x


@pytest.mark.parametrize("f", [unused_call, unused_calls])
def test_value_and_grad_calls_what_nobody_uses(f):
    with pytest.raises(ValueError, match="too large"):
        tangentc.value_and_grad(f)(2.0)
    assert tangentc.value_and_grad(f)(1.0) == (1.0, 2.0)


# ---------------------------------------------------------------- items and names for them
def two_of(items):
    a, b = items
    return a * b


def two_of_some(x):
    items = [x, x * 2]
    if x > 5:
        items.append(x)
    a, b = items
    return a * b


def two_of_those_found(x):
    found = []
    for v in x:
        found.append(v * v)
    a, b = found
    return a * b


def two_in_a_branch(x):
    y = x[0] * 3.0
    if x[0] > 0:
        a, b = x
        y = a * b
    return y


@pytest.mark.parametrize(
    "f, right, wrong",
    [
        (two_of, [1.0, 2.0], [1.0, 2.0, 3.0]),
        (two_of, np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])),
        (two_of, np.array([1.0, 2.0]), np.array([1.0])),
        (two_of, (1.0, 2.0), (1.0, 2.0, 3.0)),
        (two_of_some, 2.0, 6.0),
        (two_of_those_found, [1.0, 2.0], [1.0, 2.0, 3.0]),
        (two_of_those_found, np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])),
        (two_in_a_branch, np.array([1.0, 2.0]), np.array([1.0, 2.0, 3.0])),
    ],
)
@pytest.mark.parametrize("derivative", [tangentc.grad, tangentc.value_and_grad])
def test_items_are_as_many_as_the_names_for_them(f, right, wrong, derivative):
    derivative(f)(right)
    with pytest.raises(ValueError):
        f(wrong)
    with pytest.raises(ValueError, match="unpack"):
        derivative(f)(wrong)


def test_what_types_count_is_not_counted_again():
    assert "require_count" not in tangentc.grad(two_of).source_for([1.0, 2.0])
    assert "require_count" in tangentc.grad(two_of_some).source_for(2.0)


@pytest.mark.parametrize("convert", [float, complex, math.fabs, math.sin, int], ids=lambda f: f.__name__)
@pytest.mark.parametrize("n", [3, 9])
def test_a_number_of_an_array(convert, n):
    def f(x):
        return x[0] * np.real(convert(x))

    with pytest.raises(TypeError):
        f(ones(n))
    with pytest.raises(tangentc.BadArgument, match="takes one number"):
        tangentc.grad(f)(ones(n))


def test_a_number_of_an_array_of_a_length_that_only_the_run_knows():
    gradient = tangentc.grad(lambda x: float(np.squeeze(x[x > 0])) * 2)
    assert np.array_equal(gradient(np.array([-1.0, 2.0, -3.0])), [0.0, 2.0, 0.0])
    with pytest.raises(TypeError):
        gradient(np.array([1.0, 2.0, -3.0]))
    assert tangentc.grad(lambda x: math.sin(float(x)))(np.array(0.0)) == 1.0


def halves(x):
    h = len(x) // 2
    return np.sum(x[:h] + x[h:])


def thirds(x):
    k = len(x) // 3
    return np.sum(x[:k] * x[k : 2 * k] + x[2 * k :])


def from_the_front(x):
    return np.sum(x + np.ones(14)[: len(x)])


@pytest.mark.parametrize("f, fits, odd", [(halves, 20, 21), (halves, 4, 5), (thirds, 24, 25), (from_the_front, 12, 19)])
def test_parts_that_are_not_as_long(f, fits, odd):
    gradient = tangentc.grad(f)
    for n in (fits, odd, fits, odd):
        if n == fits:
            assert gradient(ones(n)).shape == (n,)
            continue
        for g in (f, gradient, tangentc.grad(f)):
            with pytest.raises(ValueError, match="broadcast|lengths do not fit"):
                g(ones(n))
