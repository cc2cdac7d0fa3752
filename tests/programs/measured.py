"""Arrays that are given a shape: their lengths are those of others for which the same integers stand."""

import numpy as np

rng = np.random.default_rng(5)


def heads(x, Wq, Wk, Wv, count):
    B, T, D = x.shape
    d = D // count
    q, k, v = ((x @ W).reshape(B, T, count, d).transpose(0, 2, 1, 3) for W in (Wq, Wk, Wv))
    scores = q @ k.transpose(0, 1, 3, 2) / np.sqrt(d)
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    weights = weights / weights.sum(axis=-1, keepdims=True)
    return np.sum(np.tanh((weights @ v).transpose(0, 2, 1, 3).reshape(B, T, D)))


def filled_side_by_side(x, n):
    a, b = np.zeros(n), np.ones(n)
    a[:] = x[:n] * 2
    b[:] += x[-n:]
    return np.sum(a * b + a**2)


def with_borders(x, n):
    u = np.zeros(n + 2)
    v = np.zeros(n + 2)
    u[1:-1] = x[:n]
    v[1:-1] = np.sin(u[2:]) + u[:-2]
    return np.sum(u * v)


def another_length_in_each_trip(x):
    total = np.zeros(1)
    for k in range(1, 5):
        w = np.ones(k) * x[:k]
        total = np.sum(total) * w + np.sum(np.ones(k) * w)
    return np.sum(total)


def kept_from_the_trip_before(x):
    before, out = np.zeros(1), 0.0
    for k in (1, 3, 1):
        w = np.zeros(k) + x[:k]
        out = out + np.sum(before * w)
        before = w[:1] * x[k]
    return out


def as_long_as_is_left(x, y, k):
    return np.sum(x.reshape(k) * y.reshape(k)) + np.sum(x.reshape(k, 2) ** 2)


def reshaped_with_one(x, y, k):
    return np.sum(np.sin(x.reshape(2, k)) * y.reshape(2, k))


def longer_in_one_trip(x, n):
    u = np.ones(n) * x[:n]
    before, total = u[1:], 0.0
    for k in range(3):
        if k == 1:
            u = np.concatenate((u, u)) * x[1]
        if len(before) in (1, len(u) - 1):
            total = total + np.sum(before * u[1:])
        before = u[1:]
    return total


def kept_beside_a_longer_one(x, n):
    total, kept = 0.0, np.zeros(1)
    for i in range(1, n):
        w = np.zeros(i)
        for j in range(i):
            w[j] = x[j] * x[i]
        if kept.size in (1, w.size):
            total = total + np.sum(kept * w)
        kept = w
    return total


def another_number_of_the_same_name(x, n):
    a = np.ones(n) * x[:n]
    n = 1
    b = np.ones(n) * x[1]
    return np.sum(a * b) + np.sum(a[1:] * b)


def on_one_path(x, n):
    a = np.ones(n) * x[0]
    m = n if n > 2 else 1
    b = np.ones(m) * x[1]
    return np.sum(a * b) + np.sum(a[:1] * b)


def what_is_left(x, n):
    a = np.zeros(n) + x[:n]
    pairs = np.sum(a[1:] * a[:-1]) + np.sum(a[2:] * a[1:-1]) + np.sum(a[3:] * a[:-3])
    return pairs + np.sum(a[:2] * a[-2:]) + np.sum(a[::2] ** 2 * a[::2]) + np.sum(a[1:] * a[:-1][:1])


def cut_off_far(x):
    return np.sum(x[10:] * x[:1]) + np.sum(x[9:] * x[:-9]) + np.sum(x[2:][:1] * x[1:])


x, y = rng.normal(size=12), rng.normal(size=12)
W = [rng.normal(size=(10, 10)) * 0.3 for _ in range(3)]
PROGRAMS = [
    (heads, (rng.normal(size=(2, 9, 10)), *W, 5)),
    (heads, (rng.normal(size=(2, 9, 10)), *W, 1)),
    (heads, (rng.normal(size=(1, 1, 10)), *W, 10)),
    (filled_side_by_side, (x, 12)),
    (filled_side_by_side, (x, 1)),
    (with_borders, (x, 10)),
    (with_borders, (x, 0)),
    (another_length_in_each_trip, (x,)),
    (kept_from_the_trip_before, (x,)),
    (as_long_as_is_left, (x, y, -1)),
    (as_long_as_is_left, (x, y[:1], -1)),
    (reshaped_with_one, (x, y, -1)),
    (reshaped_with_one, (x, y[:2], -1)),
    (reshaped_with_one, (x, y, 6)),
    *((f, (x, n)) for n in (2, 3, 9) for f in (longer_in_one_trip, kept_beside_a_longer_one, what_is_left)),
    *((f, (x, n)) for n in (1, 2, 5) for f in (another_number_of_the_same_name, on_one_path)),
    (what_is_left, (x, 1)),
    (cut_off_far, (x,)),
    (cut_off_far, (x[:11],)),
]
