"""Sums of outer products over the trips of a loop, what an adjoint makes once before its loop, loops left by return."""

import math

import numpy as np

rng = np.random.default_rng(21)


# ------------------------------------------------------------ outer products
def recurrent(params, xs):
    h = np.zeros(len(params["b"]))
    total = 0.0
    for x in xs:
        h = np.tanh(params["W"] @ x + params["U"] @ h + params["b"])
        total += np.sum(h**2)
    return total


def two_layers_a_trip(W, V, b, c, xs):
    total = 0.0
    for x in xs:
        h = np.tanh(W @ x + b)
        total += np.sum(np.sin(V @ h + c))
    return total


def from_the_left(W, b, xs):
    total = 0.0
    for x in xs:
        total += np.sum(np.cos(x @ W + b))
    return total


def as_many_trips_as_asked(W, b, x, n):
    for _ in range(n):
        x = np.tanh(W @ x + b)
    return np.sum(x)


def rows_from_the_end(W, b, xs):
    total = 0.0
    for k in range(len(xs)):
        total += np.sum(np.sin(W @ xs[len(xs) - 1 - k] + b))
    return total


def taken_off(W, b, xs):
    total = 0.0
    for x in xs:
        total -= np.sum(np.exp(-(W @ x) - b))
    return total


def used_besides(W, b, xs):
    total = np.sum(W**2) * np.sum(b)
    for x in xs:
        total += np.sum(np.tanh(W @ x + b))
    return total + np.sum(np.sin(W))


def stopped_early(W, b, xs):
    total = 0.0
    for x in xs:
        y = np.tanh(W @ x + b)
        if y[0] > 0.6:
            break
        total += np.sum(y)
    return total


def only_some_trips(W, b, xs):
    total = 0.0
    for k, x in enumerate(xs):
        if k % 2:
            total += np.sum(np.tanh(W @ x + b))
    return total


def rows_that_change(W, b, xs):
    ys = xs.copy()
    total = 0.0
    for k in range(len(ys)):
        ys[k] = np.tanh(W @ ys[k] + b)
        total += np.sum(ys[k] ** 2)
    return total + np.sum(ys)


def loops_in_loops(W, b, xs):
    total = 0.0
    for _ in range(2):
        for x in xs:
            total += np.sum(np.tanh(W @ x + b))
        W = W * 0.9
    return total


# ------------------------------------------------------------ made once
def the_same_weights(x, xs, at, steps):
    total = 0.0
    for k in range(steps):
        x = np.sin(x) + 0.1 * k
        total += np.sum(np.interp(at, xs, x) ** 2)
    return total


def knots_that_move(x, xs, at, steps):
    total = 0.0
    for k in range(steps):
        xs = xs + 0.01 * k
        total += np.sum(np.interp(at, xs, x) ** 2)
    return total


def places_that_change(x, xs, at, steps):
    at = at.copy()
    total = 0.0
    for _ in range(steps):
        total += np.sum(np.interp(at, xs, x) ** 2)
        at[0] += 0.3
        x = x * 0.9
    return total


# ------------------------------------------------------------ left by return
def kepler(M, ecc):
    E = M if ecc < 0.8 else math.pi
    while True:
        step = (E - ecc * math.sin(E) - M) / (1 - ecc * math.cos(E))
        E -= step
        if abs(step) < 1e-12:
            return E


def an_expression_at_the_end(x):
    k = 0
    while True:
        x = np.cos(x) * 0.9
        k += 1
        if k > 4:
            return x**2 + k * x


def two_ends(x):
    while True:
        x = 0.5 * x
        if x < 0.1:
            return 3.0 * x
        if x < 0.3:
            return x * x


def an_end_in_a_branch_of_a_branch(x, flag):
    k = 0
    while True:
        k += 1
        if flag:
            x = np.sin(x)
            if k == 3:
                return x * k
        else:
            x = x * 0.9
            flag = k > 1


def left_in_two_ways(x, n):
    k = 0
    while True:
        x = np.sin(x) + 0.2
        k += 1
        if k == n:
            break
        if x > 1.15:
            return x**3
    return x * 2.0


def inner_loops_that_break(x):
    k = 0
    while True:
        for _ in range(3):
            x = np.sin(x) + 0.1
            if x > 0.9:
                break
        k += 1
        if k == 2:
            return x * x


def a_loop_with_a_return_in_a_loop(xs):
    total = 0.0
    for x in xs:
        while True:
            x = 0.5 * x
            if x < 0.2:
                break
        total += x * x
    return total


def with_an_else(x):
    while True:
        x = x * 0.5
        if x < 0.2:
            return x**2
    else:
        x = 7.0
    return x


def in_a_try(x):
    while True:
        try:
            x = x * 0.5
            if x < 0.2:
                return x**2
        finally:
            x = x * 0.9


def from_a_helper(x, y):
    return kepler(x, 0.3) * kepler(y, 0.1) + kepler(x, 0.9)


def scaled_some_times(K, a):
    u = np.ones_like(a)
    for k in range(200):
        v = 1.0 / (K.T @ u)
        if k > 3 and np.sum(u) > 0.0:
            break
        u = a / (K @ v)
    return u, v


def balanced(K, a):
    u, v = scaled_some_times(K, a)
    return np.sum(np.log(u)) + np.sum(v**2)


# ------------------------------------------------------------ ties, masks, keys
def between_lengths(x):
    n, m = x.shape
    return np.sum(np.clip(x, 0, n - 1) ** 2) + np.sum(np.maximum(x, m) * 1.5) + np.sum(np.minimum(x, n))


def counted_by_a_mask(x, keep):
    return np.sum(np.tanh(x)[keep]) + np.mean(x[keep] * 2.0)


def counted_by_a_short_mask(x, keep):
    return np.sum(np.tanh(x)[keep]) + np.sum(x[keep])


def half_of_the_levels(A, x):
    half = len(x) // 2
    levels, _ = np.linalg.eigh(A + A.T + np.diag(x))
    return 2 * np.sum(levels[: len(x) // 2]) + np.sum(np.sin(x[:half]))


def corners_of_cells(image, y, x):
    i, j = y.astype(int), x.astype(int)
    fy, fx = y - i, x - j
    top = image[i, j] * (1 - fx) + image[i, j + 1] * fx
    low = image[i + 1, j] * (1 - fx) + image[i + 1, j + 1] * fx
    return np.sum((top * (1 - fy) + low * fy) ** 2)


def swapped_names(x, y):
    x, y = y * 2.0, x
    for _ in range(3):
        x, y = y, x * 0.5 + y
    return x * x + y


def slopes_of_bars(nodes, pairs, areas):
    total = 0.0
    for (i, j), area in zip(pairs, areas):
        d = nodes[j] - nodes[i]
        length = np.linalg.norm(d)
        c, s = d / length
        b = np.array([-c, -s, c, s])
        total += np.sum(area / length * np.outer(b, b)[0]) + area * length
    return total


def two_pi(x, var):
    total = 0.0
    for k in range(3):
        total += 0.5 * (math.log(2 * math.pi * var) + (x - k) ** 2 / var)
        var = var * 0.9
    return total


def if_it_is_below(gamma, es):
    var = 1.0
    for e in es:
        var = 0.1 + (0.2 + (gamma if e < 0 else 0.0)) * e * e + 0.7 * var
    return var


def powers_of_a_growing_number(s, x):
    u = math.exp(s * 0.3)
    e = np.exp(x)
    return np.sum(u ** np.arange(3, -4, -2)) + np.sum(e ** np.arange(3)) + np.sum(e**s)


def curves_of_one_vector(theta, ts):
    total = 0.0
    for t in ts:
        level, slope, hump, tau = theta
        e = np.exp(-t / tau)
        total += np.sum((level + slope * (1 - e) * tau / t + hump * e) ** 2)
    return total + np.sum(theta**2)


def an_entry_of_what_may_be_a_number(x, n):
    s = 0.5
    a = x * 2.0
    for _ in range(1):
        a, b = np.sin(a), a * s
        for _ in range(n):
            s = b[1]
            s = np.sum(b) + np.sin(s)
        a = a * b @ b
    return s + np.sum(a)


def v(*shape):
    return rng.uniform(0.2, 0.9, size=shape)


def w(*shape):
    return rng.normal(size=shape)


params = {"W": w(4, 3), "U": w(4, 4) * 0.5, "b": w(4)}
pairs = np.array([[0, 1], [1, 2], [3, 0]])

PROGRAMS = [
    (recurrent, (params, w(5, 3))),
    (recurrent, (params, np.zeros((0, 3)))),
    (two_layers_a_trip, (w(4, 3), w(2, 4), w(4), w(2), w(6, 3))),
    (from_the_left, (w(3, 4), w(4), w(6, 3))),
    (as_many_trips_as_asked, (w(3, 3), w(3), w(3), 4)),
    (as_many_trips_as_asked, (w(3, 3), w(3), w(3), -2)),
    (rows_from_the_end, (w(4, 3), w(4), w(6, 3))),
    (taken_off, (w(4, 3), w(4), w(6, 3))),
    (used_besides, (w(4, 3), w(4), w(6, 3))),
    (stopped_early, (w(4, 3), w(4), w(6, 3))),
    (only_some_trips, (w(4, 3), w(4), w(6, 3))),
    (rows_that_change, (w(3, 3), w(3), w(6, 3))),
    (loops_in_loops, (w(4, 3), w(4), w(6, 3))),
    (the_same_weights, (w(5), np.arange(5.0), np.array([0.3, 2.2, 3.9]), 3)),
    (knots_that_move, (w(5), np.arange(5.0), np.array([0.3, 2.2, 3.9]), 3)),
    (places_that_change, (w(5), np.arange(5.0), np.array([0.3, 2.2, 3.9]), 3)),
    (kepler, (1.0, 0.3)),
    (kepler, (1.0, 0.85)),
    (an_expression_at_the_end, (0.7,)),
    (two_ends, (0.9,)),
    (two_ends, (0.35,)),
    (an_end_in_a_branch_of_a_branch, (0.7, True)),
    (an_end_in_a_branch_of_a_branch, (0.7, False)),
    (left_in_two_ways, (0.3, 3)),
    (left_in_two_ways, (0.9, 9)),
    (inner_loops_that_break, (0.4,)),
    (a_loop_with_a_return_in_a_loop, (v(3) + 0.3,)),
    (with_an_else, (0.9,)),
    (in_a_try, (0.9,)),
    (from_a_helper, (1.1, 0.7)),
    (balanced, (v(3, 3) + 0.5, np.full(3, 1.0))),
    (between_lengths, (w(3, 2) * 2,)),
    (counted_by_a_mask, (w(4), np.array([True, False, True, True]))),
    (counted_by_a_mask, (w(2, 2), np.array([[True, False], [True, True]]))),
    (counted_by_a_short_mask, (w(2, 2), np.array([True, False]))),
    (half_of_the_levels, (w(4, 4), w(4))),
    (corners_of_cells, (w(4, 4), v(5) * 2.9, v(5) * 2.9)),
    (swapped_names, (0.3, 0.8)),
    (slopes_of_bars, (w(4, 2), pairs, v(3))),
    (two_pi, (0.3, 0.8)),
    (if_it_is_below, (0.3, w(5))),
    (curves_of_one_vector, (v(4) + 0.5, v(3, 5) + 0.5)),
    (an_entry_of_what_may_be_a_number, (w(3), 2)),
    (powers_of_a_growing_number, (0.7, w(3))),
]
