"""Parts of parameter vectors, halves and thirds of arrays, arrays as rows: lengths that follow from others."""

import numpy as np

rng = np.random.default_rng(8)


def parameters_side_by_side(theta, X):
    n, d = X.shape
    scale, shift = np.exp(theta[:d]), theta[d : 2 * d]
    return np.sum(np.tanh(X / scale + shift)) + theta[2 * d]


def scaled_by_the_first(theta, X):
    d = X.shape[1]
    return np.sum(X + theta[:d]) + np.sum(np.sin(theta))


def halves(x):
    h = len(x) // 2
    return np.sum(np.tanh(x[:h]) * x[h:])


def halves_of_rows(x):
    h = x.shape[0] // 2
    return np.sum((x[:h] - x[h : 2 * h]) ** 2)


def thirds(out):
    k = out.shape[1] // 3
    logits, mean, spread = out[:, :k], out[:, k : 2 * k], out[:, 2 * k :]
    mix = logits - np.log(np.sum(np.exp(logits), axis=1, keepdims=True))
    return np.sum(mix - 0.5 * (mean / np.exp(spread)) ** 2 - spread)


def in_a_row(x, y):
    return np.sum(x.ravel() * y.reshape(-1)) + np.mean((x.flatten() - y.ravel()) ** 2)


def rows_of_what_is_left(x, w, b):
    return np.sum(np.sin(x.reshape(len(x), -1) @ w + b))


def sampled_at_points(theta, image, target):
    grid = np.stack(np.meshgrid(np.arange(target.shape[0]), np.arange(target.shape[1]), indexing="ij"))
    y, x = theta[:, :2] @ grid.reshape(2, -1) + theta[:, 2:]
    y0, x0 = np.clip(y.astype(int), 0, 3), np.clip(x.astype(int), 0, 3)
    taken = image[y0, x0] * (1 - y + y0) + image[y0 + 1, x0 + 1] * (x - x0)
    return np.sum((taken - target.ravel()) ** 2)


def begun_with_the_penalty(tables, picked):
    loss = sum(np.sum(t**2) for t in tables.values())
    for user, item in picked:
        loss = loss + np.tanh(tables["users"][user] @ tables["items"][item])
    return loss


def of_one_number(b, x):
    return np.mean(x - b) + np.sum(b * 2.0)


def one_row_or_several(x, X):
    n, d = X.shape
    h = len(x) // 2
    rows = X.reshape(-1, X.shape[-1])[:h] + x[:n] * 0.3
    return np.sum(rows) + np.sum(X + x[:1]) - np.mean(X[:h] - x[:n])


def of_one_number_in_some_trips(c, b):
    v = np.tanh(c) + np.zeros(3)
    a = 0.0
    for _ in range(3):
        a = np.sum(np.sum(v))
    return np.sum((b * b) * np.sum(v)) + a * b


def of_one_number_in_all_trips(c, b):
    v = np.tanh(c) + np.zeros(3)
    a = 0.0
    for k in range(3):
        a = a + np.sum(v) * b
        v = v - c * k
    return np.sum(v - c) * a


def of_no_entries(x, X):
    return np.sum((X[:, :0] * x[:0]).ravel()) + np.sum(np.outer(np.tanh(X.reshape(-1)), X[:0].ravel())) + np.sum(x)


def v(*shape):
    return rng.uniform(0.2, 0.9, size=shape)


PROGRAMS = [
    (parameters_side_by_side, (v(7), v(5, 3))),
    (parameters_side_by_side, (v(25), v(9, 12))),
    (scaled_by_the_first, (v(5), v(4, 3))),
    (scaled_by_the_first, (v(14), v(9, 12))),
    (halves, (v(6),)),
    (halves, (v(20),)),
    (halves_of_rows, (v(5, 2),)),
    (halves_of_rows, (v(21, 3),)),
    (thirds, (v(4, 6),)),
    (thirds, (v(4, 24),)),
    (in_a_row, (v(3, 4), v(3, 4))),
    (in_a_row, (v(9, 10), v(9, 10))),
    (rows_of_what_is_left, (v(9, 2, 10), v(20, 8), v(8))),
    (rows_of_what_is_left, (v(3, 2, 2), v(4), 0.3)),
    (sampled_at_points, (v(2, 3) * 0.3, v(5, 5), v(3, 3))),
    (sampled_at_points, (v(2, 3) * 0.3, v(9, 9), v(9, 10))),
    (begun_with_the_penalty, ({"users": v(9, 4), "items": v(10, 4)}, [(0, 1), (2, 1), (0, 9)])),
    (of_one_number_in_some_trips, (0.7, 0.4)),
    (of_one_number_in_all_trips, (0.7, 0.4)),
    (of_no_entries, (v(9), v(9, 10))),
    (one_row_or_several, (v(10), v(1, 9))),
    (one_row_or_several, (v(20), v(9, 9))),
    (of_one_number, (v(12), v(9, 12))),
    (of_one_number, (v(1, 12), v(9, 12))),
    (of_one_number, (v(3, 1, 4), v(3, 5, 4))),
]
