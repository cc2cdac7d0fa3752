# ruff: noqa: C416, C417, B007
"""Programs at the corners of the language, each of which once had a wrong derivative or none."""

import collections
import contextlib
import copy

import numpy as np


def popped(x):
    l = [x, 2.0]
    l.pop()
    return l.pop() * x


def popped_b(x):
    d = {"a": x}
    v = d.pop("a")
    return v * v * len(d) + v


def popped_c(xs):
    t = xs.pop() * xs.pop(0)
    return t * xs[0]


def rpn(x):
    st = []
    for t in "x x * 2 x - +".split():
        if t == "x":
            st.append(x)
        elif t in "+-*":
            b, a = st.pop(), st.pop()
            st.append(a + b if t == "+" else a - b if t == "-" else a * b)
        else:
            st.append(float(t))
    return st.pop()


def rebuilt(xs):
    for _ in range(1):
        xs = [v * v for v in xs]
    return xs[0]


def rebuilt_b(x):
    ys = [x, x * x]
    for _ in range(2):
        ys = [v * v for v in ys]
    return ys[0]


def euler(y0):
    y = list(y0)
    for _ in range(3):
        d = [-y[1], y[0]]
        y = [a + 0.1 * b for a, b in zip(y, d)]
    return y[0] * y[1]


def descended(xs):
    w = xs
    for g in ([1.0, 2.0], [3.0, 4.0]):
        w = [a - 0.1 * b for a, b in zip(w, g)]
    return w[0] * w[1]


def rebuilt_c(p):
    s = [1.0, p]
    for _ in range(3):
        s = [v * p for v in s]
    return s[1]


def rebuilt_d(p):
    s = [1.0, p]
    for _ in range(4):
        s = [sum(s[i] * p for i in range(2)) for j in range(2)]
    return s[1]


def rebuilt_e(xs):
    for _ in range(2):
        xs = [a + b for a, b in zip(xs, xs[1:])]
    return xs[0]


def rebuilt_f(xs):
    for _ in range(2):
        xs = sorted(xs)
    return xs[0]


def computed_key(w):
    return sum(w[f"k{i}"] ** 2 for i in range(2))


def computed_key_b(w):
    return [w["k" + s] for s in ["0", "1"]][0]


def computed_key_c(w):
    return list(map(lambda i: w[f"k{i}"], range(2)))[0]


def computed_key_d(w):
    l = []
    for i in range(2):
        l.append(w[f"k{i}"])
    return l[0] * l[1]


def computed_key_e(w):
    return sum(np.sum(w[f"k{i}"] ** 2) for i in range(2))


def united(x):
    d = {"a": x} | {"b": x * x}
    return d["b"]


def dict_of_pairs(xs):
    d = {k: v for k, v in zip("ab", xs)}
    return d["a"] * d["b"]


def dict_of_pairs_b(xs):
    d = {i: v for i, v in enumerate(xs)}
    return d[0] * d[1]


def in_order(x):
    n = x

    def step():
        nonlocal n
        n = n * n
        return n

    return step() + step()


def in_order_b(x):
    y = x
    return y + (y := y * x) + y


def in_order_c(x):
    n = x

    def bump():
        nonlocal n
        n = n * 2 * x
        return 1.0

    return n + bump() * n


def in_order_d(x):
    n = x

    def step():
        nonlocal n
        n = n * x
        return n

    return np.sum(np.array([step(), step()]) * np.array([1.0, 2.0])) + max(step(), step()) - (step(), step())[0]


def started(xs):
    return sum(xs, 2.0)


def started_b(x):
    d = {"a": x, "b": 1.0}
    return d.pop("zz", 2.0) * x


def started_c(xs):
    return sum((x * x for x in xs), 2.0)


def zipped(a):
    p = list(zip(a, a[1:]))
    return p[0][0] * p[0][1]


def zipped_b(a):
    t = 0.0
    for i, v in list(enumerate(a)):
        t += i * v
    return t


def zipped_c(a):
    i, v = min(enumerate(a), key=lambda t: t[1])
    return v * v * (i + 1)


def zipped_d(a):
    p = sorted(zip(a, [3, 1, 2]))
    return p[0][0] * p[1][0] ** 2


def zipped_e(a):
    u, v = zip(*[(t, t * t) for t in a])
    return sum(u) * v[0]


def passed_through(x):
    with contextlib.nullcontext(x * 2) as v:
        y = v * 3
    return y


class Temperature:
    def __init__(self, c):
        self._c = c

    @property
    def f(self):
        return self._c * 1.8 + 32

    @f.setter
    def f(self, v):
        self._c = (v - 32) / 1.8


def property_set(x):
    t = Temperature(20.0)
    t.f = x
    return t._c**2


class Suppressing:
    def __enter__(self):
        return self

    def __exit__(self, t, v, tb):
        return True


def suppressed(x):
    y = x
    with Suppressing():
        y = x * x
        raise ValueError
    return y * 2


def suppressed_b(x):
    with contextlib.suppress(ValueError):
        y = x * x
        if x > 1:
            raise ValueError
        y = x
    return y


def deep_copied(A):
    B = copy.deepcopy(A)
    B[0][0] *= 3.0
    C = [r.copy() for r in A]
    C[1][1] += B[0][0]
    return C[1][1] * C[0][1]


def updated_with_a_view(x):
    d = dict(a=x.copy())
    d.update(b=d["a"][1:])
    d["b"] *= 2
    return np.sum(d["a"] ** 2)


def broadcast_arrays_then_changed(x):
    a = x.copy()
    c = np.broadcast_arrays(a, np.ones((2, 1)))[0]
    a[0] = 2.0
    return np.sum(c**2)


def broadcast_then_changed(x):
    a = x.copy()
    b = np.broadcast_to(a, (2, 5))
    a[0] = 2.0
    return np.sum(b**2)


def indices_where(x):
    i = np.where(x > 1)
    return np.sum(x[i] ** 2)


def set_by_default(x):
    d = {}
    v = d.setdefault("a", x)
    return v * v


def counted(x):
    d = {}
    for w in ("a", "b", "a"):
        d[w] = d.get(w, 0.0) + x
    return d["a"] ** 2


def keyed_by_tuples(xs):
    D = {(0, 0): xs[0]}
    for i in range(1, 3):
        D[i, 0] = D[i - 1, 0] * xs[i]
    return D[2, 0]


def memo_inside(x):
    c = {}

    def p(n):
        if n in c:
            return c[n]
        c[n] = x if n == 0 else x * p(n - 1)
        return c[n]

    return p(1)


def folded(a):
    if len(a) == 1:
        return a[0]
    return folded(a[1:]) * a[0]


def cast_without_copy(x):
    a = x.copy()
    c = a.astype(float, copy=False)
    c[0] *= 2
    return np.sum(a * x)


def fortran_order(x):
    a = x.copy()
    c = np.asfortranarray(a)
    c[0] *= 2
    return np.sum(a * x)


def trimmed(x):
    a = x.copy()
    c = np.trim_zeros(a)
    c[1] *= 2
    return np.sum(a * x)


def array_without_copy(x):
    a = x.copy()
    c = np.array(a, copy=False)
    c[0] *= 2
    return np.sum(a * x)


def shape_assigned(x):
    a = x.copy()
    a.shape = (5, 1)
    return np.sum(a * x)


def drawn(x):
    rng = np.random.default_rng(0)
    return np.sum(x**2 * rng.normal(size=5))


def drawn_globally(x):
    np.random.seed(0)
    return np.sum(x**2 * np.random.randn(5))


def queue(x):
    q = collections.deque([1.0, 2.0])
    return x * q.popleft()


def ordered(x):
    d = collections.OrderedDict(a=x)
    return d["a"] ** 2


def slice_deleted(x):
    L = [v for v in x]
    del L[2:4]
    L[-1] += L[0]
    return L[2] * L[1]


def real_part_assigned(x):
    z = np.exp(1j * x)
    z.real *= 2
    return np.sum(np.abs(z) ** 2 * x)


def tuples_popped(x):
    saved = []
    for k in range(2):
        saved.append((x * (k + 1), x))
    p = saved.pop()
    q = saved.pop()
    return np.sum(p[0] * q[1])


def arrays_popped(x):
    saved = []
    for k in range(2):
        saved.append(x * (k + 1))
    p = saved.pop()
    q = saved.pop()
    return np.sum(p * q)


def last_popped(x):
    saved = []
    for k in range(2):
        saved.append(x * (k + 1))
    p = saved.pop()
    return np.sum(p * p)


def two_popped(x):
    saved = []
    saved.append(x * 3)
    saved.append(x * 2)
    p = saved.pop()
    q = saved.pop()
    return np.sum(p * q)


def popped_in_a_while(x):
    saved = []
    for k in range(2):
        saved.append(x * (k + 1))
    s = 0.0
    while saved:
        s = s + np.sum(saved.pop() ** 2)
    return s


x = np.array([0.3, 0.4])


def middle_deleted(x):
    L = [v for v in x]
    del L[2:4]
    L[-1] += L[0]
    return L[2] * L[1]


def middle_replaced(x):
    L = [v for v in x]
    L[1:3] = [L[0] * 2, L[1], L[4]]
    L[0] = L[2] * L[3]
    return L[0] * L[1] * L[-1]


def whole_replaced(x):
    L = [v * 2 for v in x]
    L[:] = [v * v for v in L[1:]]
    return L[0] * L[1] * L[-1]


def every_second_replaced(x):
    L = [v * 2 for v in x]
    L[::2] = [1.0, L[1], L[0]]
    return L[0] * L[1] * L[2] + L[4]


def rows_replaced(x):
    rows = [v * x for v in x]
    rows[1:3] = [rows[0] * 2]
    return np.sum(rows[1] * rows[2])


def replaced_in_a_loop(x):
    L = [v * 2 for v in x]
    for k in range(2):
        L[1:2] = [L[0], L[1] * L[2]]
    return L[1] * L[2] * L[3]


def sorted_range(x):
    s = 0.0
    for i in sorted(range(3), key=lambda k: -k):
        s = s * x[i] + x[i]
    return s


def listed_range(x):
    idx = list(range(3))
    idx.reverse()
    return x[idx[0]] * x[idx[1]]


def range_in_a_tuple(x):
    t = tuple(range(3))
    return x[t[1]] * x[t[0]]


def range_as_an_array(x):
    a = np.array(range(3))
    return np.sum(x[a] * a)


def reversed_range(x):
    return sum(x[i] * i for i in reversed(range(3))) + x[max(range(3), key=lambda i: i % 2)] ** 2


def starred_range(x):
    l = [*range(3)]
    return x[l[2]] ** 2 + x[sum(range(2))] ** 2


def range_in_a_dict(x):
    d = dict(enumerate(range(3)))
    return x[d[1]] ** 2


def continued_then_returned(x):
    for i in range(3):
        x = x * x
        if i == 0:
            continue
        if i == 1:
            return x
    return x


def returned_or_broken(x):
    for i in range(3):
        x = x * x
        if i == 1:
            return x
        if i == 5:
            break
    return x


def passed_then_returned(x):
    for i in range(3):
        x = x * x
        if i == 0:
            pass
        elif i == 1:
            return x
    return x


def gotten(d):
    return d.get("a") * d.get("b", 2.0) * d.get("zz", 3.0)


def largest_so_far(x):
    best = None
    for v in x:
        if best is None or v > best:
            best = v
    return best * best


def summed_from_none(x):
    s = None
    for v in x:
        if s is None:
            s = v * 1.0
        else:
            s += v * v
    return np.sum(s)


def last_kept(x):
    last = None
    out = []
    for k in range(len(x)):
        if last is not None:
            out.append(x[k] * last)
        last = x[k]
    return sum(out)


def pivot(A):
    p = max(range(2), key=lambda r: abs(A[r][0]))
    return A[p][1] * A[p][0]


LIST = [0.7, 1.2, 0.4]
ROWS = [[0.7, 0.3], [0.9, 0.8]]
ENTRIES = {"k0": 0.3, "k1": 0.6}
VECTOR = np.array([0.9, -2.1, 3.0, 0.5, 2.2])
PROGRAMS = (
    [
        (f, (1.3,))
        for f in (
            popped,
            popped_b,
            rpn,
            rebuilt_b,
            rebuilt_c,
            rebuilt_d,
            united,
            in_order,
            in_order_b,
            in_order_c,
            in_order_d,
            started_b,
            passed_through,
            property_set,
            suppressed,
            suppressed_b,
            set_by_default,
            counted,
            memo_inside,
            queue,
            ordered,
        )
    ]
    + [
        (f, (LIST,))
        for f in (
            popped_c,
            rebuilt,
            descended,
            rebuilt_e,
            rebuilt_f,
            dict_of_pairs,
            dict_of_pairs_b,
            started,
            started_c,
            zipped,
            zipped_b,
            zipped_c,
            zipped_d,
            zipped_e,
            keyed_by_tuples,
        )
    ]
    + [(euler, ([0.7, 1.2],)), (deep_copied, (ROWS,))]
    + [(f, (ENTRIES,)) for f in (computed_key, computed_key_b, computed_key_c, computed_key_d)]
    + [(computed_key_e, ({"k0": VECTOR, "k1": VECTOR[:2]},)), (folded, (VECTOR[:2],))]
    + [
        (f, (VECTOR,))
        for f in (
            updated_with_a_view,
            broadcast_arrays_then_changed,
            broadcast_then_changed,
            indices_where,
            cast_without_copy,
            fortran_order,
            trimmed,
            array_without_copy,
            shape_assigned,
            drawn,
            drawn_globally,
            slice_deleted,
            real_part_assigned,
        )
    ]
    + [
        (tuples_popped, (VECTOR[:2],)),
        (arrays_popped, (VECTOR[:2],)),
        (last_popped, (VECTOR[:2],)),
        (two_popped, (VECTOR[:2],)),
        (popped_in_a_while, (VECTOR[:2],)),
        (middle_deleted, (VECTOR,)),
        (middle_replaced, (VECTOR,)),
        (whole_replaced, (VECTOR,)),
        (every_second_replaced, (VECTOR,)),
        (rows_replaced, (VECTOR,)),
        (replaced_in_a_loop, (VECTOR,)),
        (sorted_range, (VECTOR[:3],)),
        (listed_range, (VECTOR[:3],)),
        (range_in_a_tuple, (VECTOR[:3],)),
        (range_as_an_array, (VECTOR[:3],)),
        (reversed_range, (VECTOR[:3],)),
        (starred_range, (VECTOR[:3],)),
        (range_in_a_dict, (VECTOR[:3],)),
        (continued_then_returned, (1.1,)),
        (returned_or_broken, (1.1,)),
        (passed_then_returned, (1.1,)),
        (gotten, ({"a": 1.2, "b": 3.0},)),
        (largest_so_far, (np.array([0.3, 0.9, 0.2]),)),
        (summed_from_none, (np.array([0.3, 0.9, 0.2]),)),
        (last_kept, (np.array([0.3, 0.9, 0.2]),)),
        (pivot, (ROWS,)),
    ]
)
REFUSED = {
    "array_without_copy", "broadcast_arrays_then_changed", "broadcast_then_changed", "cast_without_copy",
    "fortran_order", "memo_inside", "shape_assigned", "suppressed", "trimmed",
}  # fmt: skip
