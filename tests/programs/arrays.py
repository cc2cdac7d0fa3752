"""Programs on arrays that are not changed in place."""

import numpy as np

normal = np.random.default_rng(1).normal
SCALE = 1.5
WEIGHTS = np.array([0.5, -1.0, 2.0])


def recurrent(x, W):
    h = np.zeros(3)
    for _ in range(4):
        h = np.tanh(W @ h + x)
    return np.sum(h * h)


def sum_of_items(xs):
    s = 0.0
    for x in xs:
        if x > 0:
            s += x * x
        else:
            continue
        s = s * 1.1
    return s


def rows(A, v):
    total = 0.0
    for i, row in enumerate(A):
        for j in range(len(v)):
            if j > i:
                break
            total = total + row[j] * v[j] * total + np.sin(v[j])
    return total


def normalised(x):
    mean = np.mean(x, axis=0, keepdims=True)
    variance = np.var(x, axis=0)
    return np.sum((x - mean) / np.sqrt(variance + 1e-3) * np.arange(3)) + np.sum(x) / len(x)


def broadcasting(x, y, z):
    a = x[:, None] * y
    b = a + z
    c = np.maximum(b, 0) / (1 + y**2)
    return np.mean(c * x[:, None] - z)


def shapes(x):
    a = x.reshape(2, -1).T
    b = np.concatenate([a, a * a], axis=1)
    c = np.stack([b[0], b[1]]).sum(axis=0)
    d = np.expand_dims(np.squeeze(c[None, :]), 0)
    return (d @ d.T).item() + np.broadcast_to(x, (2, 6)).sum() + x.ravel().dot(x)


def gather(x, index):
    return np.sum(x[index] ** 2) + x[-1] * np.sum(x[::-2]) + np.sum(x[x > 0] ** 3)


def softmax_loss(logits, labels):
    shifted = logits - np.max(logits, axis=1, keepdims=True)
    logp = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(logp[np.arange(len(labels)), labels])


def contraction(A, B):
    C = np.einsum("ij,jk->ik", A, B)
    return np.sum(np.outer(C[0], C[1]) ** 2) + np.dot(C[0], C[1]) + np.einsum("ij->", A)


def statistics(x):
    return np.std(x) + np.prod(x[:3]) + np.max(x) - np.min(x, axis=0) + np.var(x, ddof=1)


def live_globals(x):
    return np.sum(SCALE * x * WEIGHTS)


def masked(x):
    return np.sum(np.where(x > 0, np.sqrt(np.where(x > 0, x, 1.0)), x * x)) + np.sum(np.clip(x, -0.5, 0.5) ** 2)


def carried_array(x, n):
    v = x
    for i in range(n):
        v = v / np.sqrt(np.sum(v * v)) + 0.1 * i * x
    return np.sum(v[:2] * x[1:3])


def zero_dimensional(x):
    y = np.sum(x, keepdims=True)
    return (y * np.array(2.0))[0] + np.array(x[0])


PROGRAMS = [
    (recurrent, (normal(size=3), normal(size=(3, 3)))), (sum_of_items, (normal(size=6),)), (sum_of_items, (list(normal(size=6)),)),
    (sum_of_items, (normal(size=20),)), (rows, (normal(size=(4, 5)), normal(size=5))), (normalised, (normal(size=(5, 3)),)),
    (normalised, (normal(size=(15, 3)),)), (broadcasting, (normal(size=4), normal(size=3), 0.7)),
    (broadcasting, (normal(size=4), normal(size=(4, 3)), normal(size=(1, 3)))),
    (broadcasting, (normal(size=9), normal(size=(9, 1)), normal(size=(9, 12)))), (shapes, (normal(size=6),)),
    (gather, (normal(size=5), np.array([0, 2, 2, 4]))), (softmax_loss, (normal(size=(6, 3)), np.array([0, 1, 2, 2, 1, 0]))),
    (softmax_loss, (normal(size=(12, 10)), np.arange(12) % 10)), (contraction, (normal(size=(2, 3)), normal(size=(3, 4)))),
    (statistics, (normal(size=5),)), (live_globals, (normal(size=3),)), (masked, (normal(size=6),)),
    (carried_array, (normal(size=4), 3)), (zero_dimensional, (normal(size=3),)),
]  # fmt: skip
