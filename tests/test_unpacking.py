"""What is unpacked is taken apart before any of it is stored, as Python does it."""

import ast

import numpy as np
import pytest

import tangentc
from tangentc.backend.unpacking import with_zeros


def into_its_own_name(X):
    X, y = X
    return np.sum(X) + 10 * np.sum(y)


def state_in_a_loop(x):
    x, y, z = x
    for _ in range(20):
        x, y, z = x + 0.1 * (y - x), y + 0.01 * (x * (28 - z) - y), z + 0.01 * (x * y - 3 * z)
    return x + y * z


def pair_of_lists(p):
    p, q = p
    return p[0] * q[1]


def the_last_of_two(x):
    x, x = x
    return x * 3


def rest_into_its_own_name(x):
    x, *y = x
    return x * np.sum(np.array(y) ** 2)


def into_a_part_of_itself(x):
    x = x.copy()
    x[1], y = x
    return x[1] ** 2 + 3 * y


def into_attributes_of_itself(x):
    d = [x[0], x[1]]
    d[1], d[0] = d
    return d[0] * 3 + d[1] ** 2


def in_another_function(x):
    return into_its_own_name(x) ** 2


CASES = [
    (into_its_own_name, np.arange(4.0).reshape(2, 2)), (state_in_a_loop, np.array([1.0, 2.0, 3.0])),
    (pair_of_lists, ([1.0, 2.0], [3.0, 4.0])), (the_last_of_two, np.array([0.5, 2.0])),
    (rest_into_its_own_name, np.array([0.5, 2.0, 3.0])), (into_a_part_of_itself, np.array([0.5, 2.0])),
    (into_attributes_of_itself, np.array([0.5, 2.0])), (in_another_function, np.arange(4.0).reshape(2, 2)),
]  # fmt: skip


@pytest.mark.parametrize("function, given", CASES, ids=lambda f: getattr(f, "__name__", ""))
def test_unpacking(function, given):
    assert tangentc.value_and_grad(function)(given)[0] == pytest.approx(function(given))
    tangentc.check_grads(function, (given,), quiet=True)


def test_what_is_unpacked_is_written_in_one_line():
    assert "    x_1, y, z = x\n" in tangentc.grad(state_in_a_loop).source_for(np.ones(3))


def test_zeros_like_what_a_row_binds_are_a_row_of_their_own():
    block = with_zeros(
        ast.parse("x_bar = np.zeros_like(x)\ny_bar = np.zeros_like(x_bar)\nz_bar = np.zeros_like(x)").body
    )
    assert [ast.unparse(s) for s in block] == [
        "x_bar = np.zeros_like(x)", "y_bar, z_bar = (np.zeros_like(x_bar), np.zeros_like(x))",
    ]  # fmt: skip
