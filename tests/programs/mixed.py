"""Programs in which several parts of the language meet: views, containers, loops, exceptions."""

import numpy as np


def views_of_a_carried_pair(x):
    st = (x.copy(), x * 2)
    for _ in range(2):
        a, b = st
        a[0] += b[1]
        st = (b, a * b)
    return np.sum(st[0] * st[1])


def buffers_in_a_carried_list(x):
    bufs = [x.copy(), np.zeros_like(x)]
    for _ in range(3):
        bufs[1][1:-1] = bufs[0][2:] + 0.5 * bufs[0][:-2]
        bufs = [bufs[1], bufs[0]]
    return np.sum(bufs[0] ** 2)


def history_of_a_state(x):
    hist = []
    s = {"u": x.copy(), "t": 0.0}
    for k in range(3):
        s["u"] = s["u"] * 1.1 + k
        s = {"u": s["u"] + s["t"], "t": s["t"] + 1.0}
        hist.append(s["u"])
    return np.sum(np.array(hist)[1] * hist[-1])


def rows_doubled_then_added(x):
    rows = [x * k for k in range(1, 4)]
    for r in rows:
        r *= 2
    rows = [r + rows[0] for r in rows]
    rows[0][1] = 7.0
    return np.sum(np.stack(rows) ** 2)


def stack_that_grows(x):
    stack = [x, x * 2]
    while len(stack) < 6:
        a = stack.pop()
        b = stack[-1]
        stack.append(a * 0.5)
        stack.append(a + b)
    return np.sum(stack[2] * stack[-1])


def stores_that_are_tried(x):
    a = x.copy()
    for k in range(4):
        try:
            a[k] = a[k] * a[k + 1]
            if k == 2:
                raise ValueError
            a[0] += 1
        except (IndexError, ValueError):
            a[-1] *= 2
        finally:
            a[1] += 0.1
    return np.sum(a**2)


def names_of_one_array(x):
    y = x + 0.0
    z = y
    y = y * 2
    z += 1
    w = -y
    y[:] = z * w
    return np.sum(w * y * z)


def kept_by_where(x):
    a = x.copy()
    b = np.where(a > 0, a, 0.0)
    c = np.maximum(a, b)
    a -= 1
    b *= a
    return np.sum(a * b * c)


def worked_off_a_queue(x):
    q = list(x)
    out = 0.0
    while q:
        v = q.pop(0)
        if v > 1:
            q.append(v / 3)
        out = out + v * v
    return out


def rows_as_views(x):
    u = np.zeros((3, len(x)))
    u[0] = x
    for t in range(2):
        prev, cur = u[t], u[t + 1]
        cur[:] = prev
        cur[1:] -= 0.3 * (prev[1:] - prev[:-1])
    return np.sum(u[-1] ** 2)


def state_with_a_log(x):
    def step(state, k):
        s, log = state
        log.append(s * k)
        return (s * 1.5 + k, log)

    st = (x[0], [])
    for k in range(3):
        st = step(st, k)
    return st[0] * sum(st[1])


def grouped_by_sign(x):
    d = {}
    for v in x:
        key = "pos" if v > 0 else "neg"
        d[key] = d.get(key, 0.0) + v * v
    return d["pos"] * d.get("neg", 1.0)


def list_grown_and_sorted(x):
    L = [x[0]]
    for i in range(1, len(x)):
        L = L + [L[-1] * 0.5 + x[i]]
    L.sort(key=lambda t: t)
    return L[0] * L[-1] + L[1]


def extremes_by_key(x):
    m = max(x, key=lambda t: abs(t))
    i = min(range(len(x)), key=lambda k: x[k])
    return m * x[i]


def gauss_with_pivots(A, b):
    n = len(b)
    A = A.copy()
    b = b.copy()
    for k in range(n):
        p = k + np.argmax(np.abs(A[k:, k]))
        if p != k:
            A[[k, p]] = A[[p, k]]
            b[[k, p]] = b[[p, k]]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k:] -= f * A[k, k:]
            b[i] -= f * b[k]
    x = np.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return np.sum(x**2)


def transposed_block_ravelled(x):
    a = x.reshape(2, 2).T
    b = a.ravel()
    a = a * 2
    b[0] = 5.0
    return np.sum(a * b.reshape(2, 2))


def rows_zipped_with_numbers(x):
    out = np.empty((2, 4))
    for row, s in zip(out, (1.0, 2.0)):
        row[:] = x * s
        row[::2] += row[1::2]
    return np.sum(out[0] * out[1])


def rows_and_columns(x):
    a = np.array([x, x * 2])
    v = a[0]
    w = a.T[1]
    v += 1
    w *= v[1]
    return np.sum(a**2)


def views_in_a_list(x):
    w = x.copy()
    views = [w[:2], w[2:]]
    for v in views:
        v[0] = v[1] * 3
    views[0] += views[1]
    return np.sum(w**2)


def upd(p, g, lr=0.1):
    for k in p:
        p[k] = p[k] - lr * g[k]


def updated_by_a_helper(x):
    p = {"a": x.copy(), "b": x * 2}
    upd(p, {"a": p["b"] * x, "b": p["a"]})
    upd(p, {"a": p["b"], "b": p["a"] ** 2}, lr=0.5)
    return np.sum(p["a"] * p["b"])


def bumped_by_a_closure(x):
    a = x.copy()

    def bump(k):
        a[k] += a[k - 1]
        return a[k]

    s = bump(1) * bump(2) + a[0]
    return s * np.sum(a)


def masked_and_shifted(x):
    a = x[:, None] * np.ones(3)
    a[a > 1] = 0.5
    a[:, 1] += a[:, 0]
    a[1:] = a[:-1]
    return np.sum(a**2)


def real_part_filled(x):
    z = np.zeros(4, complex)
    z.real = x
    z[1:] *= np.exp(1j * x[:-1])
    z += z.conj()[::-1]
    return np.sum(np.abs(z) ** 2)


def swapped_or_left(x):
    a, b = x.copy(), x * 2
    for _ in range(3):
        a, b = b, a
        a[0] = b[0] * b[1]
        if a[0] > 2:
            break
    else:
        b += 1
    return np.sum(a * b)


def weights_by_default(v, ks=(2, 3, 1)):
    s = 0.0
    for k in range(len(v)):
        s += v[k] * ks[k]
    return s


def kinds_zipped(v):
    names = ("a", "b", "a")
    s = 0.0
    for n, x in zip(names, v):
        s += x * (2 if n == "a" else 3)
    return s


def edges_of_a_graph(v):
    table = [(0, 1), (1, 2), (0, 2)]
    s = 0.0
    for i, j in table:
        s += v[i] * v[j]
    for k in range(3):
        i, j = table[k]
        s += v[i] ** j
    return s


def table_of_numbers(v):
    W = ((1.0, 2.0), (3.0, 4.0))
    s = 0.0
    for i in range(2):
        for j in range(2):
            s += W[i][j] * v[i] * v[j]
    return s


VECTOR = np.array([0.9, -2.1, 3.3, 0.5, 2.2])
FOUR = np.array([0.9, -1.1, 1.3, 0.5])


def pairs_kept_and_popped(xs, c):
    kept = []
    if c > 0.5:
        for x in xs:
            pair = (x * c, x)
            kept.append(pair)
    else:
        pair = (c, c * c)
    total = 0.0
    if c > 0.5:
        for x in xs:
            last = kept.pop()
            total += last[0] * last[1] * x
    return total + pair[0] * pair[1]


def last_pair_kept(xs, c):
    kept = []
    pair = (c, c)
    for x in xs:
        pair = (x * c * pair[0], x)
        kept.append(pair)
    total = 0.0
    for x in xs:
        last = kept.pop()
        total += last[0] * last[1] * x
    return total * pair[0]


def product_and_factors(x, y):
    return x * y, (x, y)


def factors_kept_and_popped(a, b, c, u):
    kept = []
    if c > 0.5:
        for _ in range(2):
            h, factors = product_and_factors(a * u[0], b)
            kept.append(factors)
            a -= h
    else:
        h, factors = product_and_factors(u[1], 0.3)
    total = a
    if c > 0.5:
        for _ in range(2):
            x, y = kept.pop()
            total += x * y * y
    else:
        total += factors[0] * factors[1]
    return total


PROGRAMS = [
    (pairs_kept_and_popped, (VECTOR, 0.7)),
    (pairs_kept_and_popped, (VECTOR, 0.3)),
    (last_pair_kept, (VECTOR, 0.7)),
    (factors_kept_and_popped, (0.3, -0.8, 1.1, FOUR)),
    (factors_kept_and_popped, (0.3, -0.8, 0.1, FOUR)),
    (views_of_a_carried_pair, (VECTOR,)),
    (buffers_in_a_carried_list, (VECTOR,)),
    (history_of_a_state, (VECTOR,)),
    (rows_doubled_then_added, (VECTOR,)),
    (stack_that_grows, (VECTOR,)),
    (stores_that_are_tried, (VECTOR,)),
    (names_of_one_array, (VECTOR,)),
    (kept_by_where, (VECTOR,)),
    (worked_off_a_queue, (VECTOR,)),
    (rows_as_views, (VECTOR,)),
    (state_with_a_log, (VECTOR,)),
    (grouped_by_sign, (VECTOR,)),
    (list_grown_and_sorted, (VECTOR,)),
    (extremes_by_key, (VECTOR,)),
    (transposed_block_ravelled, (FOUR,)),
    (rows_zipped_with_numbers, (FOUR,)),
    (rows_and_columns, (FOUR,)),
    (views_in_a_list, (FOUR,)),
    (updated_by_a_helper, (FOUR,)),
    (bumped_by_a_closure, (FOUR,)),
    (masked_and_shifted, (FOUR,)),
    (real_part_filled, (FOUR,)),
    (swapped_or_left, (FOUR,)),
    (weights_by_default, (np.array([0.3, 1.2, 0.8]),)),
    (kinds_zipped, (np.array([0.3, 1.2, 0.8]),)),
    (edges_of_a_graph, (np.array([0.3, 1.2, 0.8]),)),
    (table_of_numbers, (np.array([0.3, 1.2, 0.8]),)),
    (gauss_with_pivots, (np.array([[1.0, 2, 0.5], [3, 1.1, 0.4], [0.3, 0.8, 2]]), np.array([1.0, 0.5, 2]))),
]
