"""Lists of arrays that loops run over, fill and take apart: their adjoints are set item by item, and loops meet."""

from dataclasses import dataclass

import numpy as np

PROGRAMS = []
RNG = np.random.default_rng(11)
X = RNG.normal(size=(3, 4))
SIZES = (4, 5, 5, 2)
WS = [RNG.normal(size=(n, m)) for n, m in zip(SIZES, SIZES[1:])]
BS = [RNG.normal(size=m) for m in SIZES[1:]]
FLAT = [a for pair in zip(WS, BS) for a in pair]
SQUARES = [RNG.normal(size=(4, 4)) / 2 for _ in range(4)]
V = RNG.normal(size=4)
NINE = RNG.normal(size=9)


def program(*args):
    def add(f):
        PROGRAMS.append((f, args))
        return f

    return add


@dataclass
class Layer:
    W: np.ndarray
    b: np.ndarray


def fresh_layers():
    return [Layer(W, b) for W, b in zip(WS, BS)]


@program(WS, BS, X)
def layers_in_two_lists(Ws, bs, x):
    for W, b in zip(Ws, bs):
        x = np.tanh(x @ W + b)
    return np.sum(x**2)


@program(tuple(WS), tuple(BS), X)
def layers_in_two_tuples(Ws, bs, x):
    for W, b in zip(Ws, bs):
        x = np.tanh(x @ W + b)
    return np.sum(x**2)


@program(FLAT, X)
def weights_in_turn(weights, x):
    for W, b in zip(weights[0::2], weights[1::2]):
        x = np.tanh(x @ W + b)
    return np.sum(x**2)


@program(FLAT, X)
def weights_by_index(weights, x):
    for k in range(len(weights) // 2):
        x = np.tanh(x @ weights[2 * k] + weights[2 * k + 1])
    return np.sum(x**2)


@program(fresh_layers(), X)
def layers_as_objects(layers, x):
    for layer in layers[:-1]:
        x = np.maximum(x @ layer.W + layer.b, 0.0)
    return np.sum((x @ layers[-1].W + layers[-1].b) ** 2)


@program([{"W": W, "b": b, "name": "dense"} for W, b in zip(WS, BS)], X)
def layers_with_names(layers, x):
    for layer in layers:
        x = np.tanh(x @ layer["W"] + layer["b"])
    return np.sum(x**2)


@program([(W, b, 2) for W, b in zip(WS, BS)], X)
def layers_with_numbers(layers, x):
    for W, b, power in layers:
        x = np.tanh(x @ W + b) ** power
    return np.sum(x)


@program([(W, b) for W, b in zip(WS, BS)], X)
def half_of_each_pair(layers, x):
    for W, _ in layers:
        x = np.tanh(x @ W)
    return np.sum(x**2)


@program(WS, X)
def all_but_the_ends(Ws, x):
    h = np.tanh(x @ Ws[0])
    for W in Ws[1:-1]:
        h = np.tanh(h @ W)
    return np.sum(h @ Ws[-1]) + sum(np.sum(W**2) for W in Ws)


@program(SQUARES, V)
def every_second_one(As, v):
    for A in As[::2]:
        v = A @ v
    return np.sum(v**2)


@program(SQUARES, V)
def backwards_through_a_slice(As, v):
    for A in reversed(As[1:]):
        v = A @ v
    return np.sum(v**2)


@program(SQUARES, V)
def slices_that_overlap(As, v):
    for A, B in zip(As[1:], As[:-1]):
        v = A @ v - B.T @ v
    return np.sum(v**2)


@program(SQUARES, V)
def one_item_for_two_places(As, v):
    both = [As[0], As[0], As[1]]
    for A in both:
        v = A @ v
    return np.sum(v**2)


@program(SQUARES, V)
def items_used_in_a_branch(As, v):
    for k, A in enumerate(As):
        if k % 2 == 0:
            v = A @ v
    return np.sum(v**2)


@program(SQUARES, V)
def left_before_the_end(As, v):
    for A in As:
        v = A @ v
        if np.sum(v**2) > 1.0:
            break
    return np.sum(v**2)


@program(SQUARES, V)
def each_item_twice_in_a_trip(As, v):
    for A in As:
        v = A @ v + A.T @ v
    return np.sum(v**2)


@program(SQUARES, V)
def twice_over_one_list(As, v):
    for _ in range(2):
        for A in As:
            v = A @ v
    return np.sum(v**2)


@program(SQUARES, V)
def items_and_their_neighbours(As, v):
    for k in range(len(As) - 1):
        v = As[k] @ v + As[k + 1] @ v
    return np.sum(v**2)


@program([1.5, -0.5, 2.0], 0.7)
def numbers_in_a_list(cs, x):
    total = 0.0
    for c in cs:
        total = total * x + c
    return total


@program([V, V[:2].copy(), NINE])
def of_several_lengths(parts):
    return sum(np.sum(np.sin(p)) * len(p) for p in parts)


@program([V, X, 2.0])
def of_several_ranks(parts):
    return sum(np.sum(np.sin(p)) for p in parts)


@program([V[None, :].copy(), X], V)
def of_lengths_that_broadcast(parts, v):
    total = 0.0
    for p in parts:
        total = total + np.sum((p + X) ** 2 * v)
    return total


@program([V[:1].copy(), V.copy()], V)
def one_that_is_repeated(parts, v):
    total = 0.0
    for p in parts:
        total = total + np.sum(np.sin(p) * v)
    return total


# ---------------------------------------------------------------- loops that meet
def turned(angle):
    c, s = np.cos(angle), np.sin(angle)
    return np.array([[c, -s, angle], [s, c, 1.0], [0.0, 0.0, 1.0]])


@program(V)
@program(NINE)
def poses_along_a_chain(angles):
    turns = [turned(a) for a in angles]
    T = np.eye(3)
    ends = []
    for A in turns:
        T = T @ A
        ends.append(T[:2, 2])
    low = sum(np.maximum(0.0, 0.5 - p[1]) ** 2 for p in ends)
    return np.sum(ends[-1] ** 2) + low


@program(V)
def taken_in_the_other_order(angles):
    turns = [turned(a) for a in angles]
    T = np.eye(3)
    for A in reversed(turns):
        T = T @ A
    return np.sum(T[:2, 2])


@program(V)
def taken_and_kept(angles):
    turns = [turned(a) for a in angles]
    T = np.eye(3)
    for A in turns:
        T = T @ A
    return np.sum(T) + np.sum(turns[0]) + np.sum(turns[2])


@program(V)
def needed_before_it_is_taken(angles):
    turns = [np.sin(a) for a in angles]
    scale = turns[-1]
    total = 0.0
    for t in turns:
        total = total + t * scale
    return total


@program(V, NINE)
def filled_for_longer(v, w):
    first = [np.sin(a) for a in v]
    total = 0.0
    for a, b in zip(first, w):
        total = total * b + a
    return total


@program(V, NINE)
def filled_for_less(v, w):
    first = [np.sin(a) for a in w]
    total = 0.0
    for a, b in zip(first, v):
        total = total * b + a
    return total


@program(V)
def filled_with_what_is_there(v):
    first = [0.5]
    for a in v:
        first.append(np.sin(a))
    total = 0.0
    for k in range(len(first)):
        total = total * 0.5 + first[k]
    return total


@program(V)
def filled_under_a_test(v):
    first = []
    for a in v:
        if a > 0:
            first.append(np.sin(a))
    total = 0.0
    for a in first:
        total = total * 0.5 + a
    return total


@program(V)
def filled_and_changed(v):
    rows = [v * k for k in range(3)]
    for r in rows:
        r[0] = r[1] * r[2]
    return sum(np.sum(r**2) for r in rows)


@program(V)
def one_reads_the_last_of_the_other(v):
    xs = []
    x = v[0]
    for a in v:
        x = np.sin(x) + a
        xs.append(x)
    y = x
    for b in xs:
        y = y * 0.5 + b
    return y


@program(V)
def three_that_meet(v):
    squares = [a**2 for a in v]
    roots = [np.sqrt(s + 1.0) for s in squares]
    return sum(r * s for r, s in zip(roots, squares))


@program(V)
def states_and_their_loss(v):
    h = np.zeros(4)
    states = []
    for k in range(5):
        h = np.tanh(h * v + k)
        states.append(h)
    loss = 0.0
    for k, s in enumerate(states):
        loss = loss + np.sum(s**2) * k
    return loss + np.sum(states[-1])


@program(V)
def last_of_what_is_viewed(v):
    h = np.outer(v, v)
    seen = []
    for _ in range(3):
        h = np.tanh(h @ h)
        seen.append(h[1:3, 0])
    return np.sum(seen[-1])


@program(V)
def last_of_what_is_changed(v):
    h = v.copy()
    seen = []
    for k in range(3):
        h[k] = h[k] * h[k + 1]
        seen.append(h[:2])
    return np.sum(seen[-1] ** 2)


@program(V, 0)
@program(V, 2)
def last_of_perhaps_nothing(v, n):
    h, seen = v, [v]
    for _ in range(n):
        h = np.sin(h)
        seen.append(h)
    return np.sum(seen[-1] ** 2)


# ---------------------------------------------------------------- entries of parts, copies
@program(X)
def entries_of_parts(x):
    part = x[1:, ::2]
    row = x[2]
    return part[0, 1] * part[-1, 0] + row[-1] * row[1] + x[:, 1][2] * x[::-1][0, 0]


@program(X)
def entries_of_parts_that_change(x):
    x = x.copy()
    part = x[1:, 1:]
    before = part[0, 1]
    part[0, 1] = before * x[0, 0]
    return part[0, 1] * before + np.sum(part)


@program(V)
def adjoints_that_start_from_others(v):
    T = np.outer(v, v)
    total = 0.0
    for k in range(3):
        T = np.tanh(T @ T)
        total = total + T[k, k] * T[0, 1]
    return total + T[2, 3]


@program(V)
def adjoints_kept_for_two(v):
    a = np.sin(v)
    b = a * a
    c = b + a
    return np.sum(c * b) + b[1] * c[2] + a[0]


# ---------------------------------------------------------------- entries that are picked
LABELS = np.array([2, 0, 3])
WEIGHTS = np.array([0.5, 2.0, 1.0])


@program(X, LABELS)
def entropy_of_labels(z, labels):
    shifted = z - np.max(z, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


@program(X, LABELS, WEIGHTS)
def entropy_of_weighted_labels(z, labels, weights):
    shifted = z - np.max(z, axis=1, keepdims=True)
    log_p = shifted - np.log(np.sum(np.exp(shifted), axis=1, keepdims=True))
    return -np.sum(weights * log_p[np.arange(len(z)), labels])


@program(X, LABELS)
def entropy_by_the_sum_of_powers(z, labels):
    m = z.max(axis=1)
    lse = m + np.log(np.exp(z - m[:, None]).sum(axis=1))
    return np.sum(lse - z[np.arange(len(z)), labels]) / len(z)


@program(X, LABELS)
def entropy_of_shares(z, labels):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    p = e / e.sum(axis=1, keepdims=True)
    return -np.log(p[np.arange(len(labels)), labels]).mean()


@program(X, np.array([2, 0]))
def entries_of_some_rows(z, labels):
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(log_p[np.arange(len(labels)), labels])


@program(X, np.array([2, 2, 0]), np.array([1, 1, 3]))
def entries_met_twice(z, rows, columns):
    log_p = z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))
    return -np.sum(log_p[rows, columns])


@program(X, LABELS)
def entries_picked_and_all(z, labels):
    e = np.exp(z)
    return np.sum(e[np.arange(len(z)), labels] ** 2) + np.sum(e * z) + np.sum(e[0])


@program(X)
def rows_picked_in_order(z):
    total = 0.0
    for k in range(3):
        w = z - z[k]
        total = total + np.sum(w[k + 1 :] ** 2) * w[0, k]
    return total


@program(V)
@program(-V)
def last_before_a_break(v):
    h, seen = v, []
    for k in range(3):
        h = np.sin(h)
        if h[k] < 0:
            break
        seen.append(h)
    return np.sum(seen[-1] ** 2) if seen else np.sum(v)


@program(V, NINE)
def two_that_are_handed_on_as_one(v, w):
    a = b = v
    for k in range(3):
        c = np.sin(a) * w[k]
        total = c[k] * b[0]
        a = b = c * total
    return np.sum(a * b) + a[1]


FAR = np.array([[1.0, 800.0, 2.0, 3.0], [0.5, 1.0, 2.0, -900.0], [0.1, 0.2, 0.3, 0.4]])


@program(FAR, np.array([1, 2, 0]))
def logs_of_shares_far_apart(z, labels):
    e = np.exp(z - z.max(axis=1, keepdims=True))
    with np.errstate(divide="ignore"):
        log_p = np.log(e / e.sum(axis=1, keepdims=True))
    return -np.mean(log_p[np.arange(len(labels)), labels])


@program(FAR, np.array([1, 2, 0]))
def roots_of_what_is_too_small(z, labels):
    e = np.exp(-(z**2))
    return np.sum(np.sqrt(e)[np.arange(1, 3), labels[:2] * 0]) + np.sum(np.exp(-np.abs(z)))


@program(FAR)
def shares_of_all_picked_by_place(z):
    e = np.exp(z - np.max(z))
    p = e / np.sum(e)
    return np.log(p[0, 1]) + p[1, 2]


@program(SQUARES, V)
def each_item_twice_where_its_number_is_not_known(As, v):
    total, norms = 0.3, []
    for A in As:
        v = np.tanh(A @ v)
        norms.append(np.sum(v**2))
    for k in range(len(norms)):
        total = total * norms[k] * 0.3 + norms[k]
    return total


@program(SQUARES[:2], V)
def one_value_for_two_places(As, v):
    for k in range(len(As) - 1):
        v = np.tanh(As[k + 1] @ v + As[k] @ v)
    return np.sum(v)


PAIRS = [a for A in SQUARES[:3] for a in (A, A[0] * 0.5)]


@program(PAIRS, V)
def set_and_added_to_in_two_loops(weights, x):
    h, total = x, 0.3
    for k in range(len(weights) // 2):
        h = np.tanh(h @ weights[2 * k] + weights[2 * k + 1])
    for k in range(0, len(weights), 2):
        A, b = weights[k], weights[k + 1]
        h = np.sin(h @ A) + b
        h = h + x * 0.1
        total = total + np.sum(h**2)
    return total + np.sum(h)
