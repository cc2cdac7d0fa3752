# ruff: noqa: C416, B007
"""Programs at the corners of the language, each of which once had a wrong derivative or none."""

import collections
import contextlib
import copy
import itertools

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


def pair_carried(x):
    st = (x, x * 2)
    for _ in range(3):
        st = (st[0] * st[1], st[0] + st[1])
    return st[0]


def list_carried(x):
    xs = [x, 2.0]
    for _ in range(3):
        xs = [xs[1] * xs[0], xs[0]]
    return xs[0] + xs[1]


def dict_carried(x):
    p = {"w": x, "b": 1.0}
    for _ in range(3):
        p = {"w": p["w"] * 0.5 + p["b"], "b": p["b"] * x}
    return p["w"] * p["b"]


def mixed_pair_carried(x):
    st = (x, np.ones(2) * x)
    for _ in range(3):
        u, v = st
        st = (u * np.sum(v), v * u)
    return np.sum(st[1])


def pair_in_a_while(x):
    st = (x, 1.0)
    k = 0
    while st[0] < 10:
        st = (st[0] * 1.7, st[1] * st[0])
        if k == 5:
            break
        k += 1
    return st[1]


def pairs_carried(x):
    params = [(x, 1.0), (2.0, x)]
    for _ in range(2):
        params = [(w * 0.9 + b, b * w) for w, b in params]
    return params[0][0] * params[1][1]


def best_pair(x):
    best = (x, 0)
    for k in range(3):
        cand = (x * k, k)
        if cand[0] > best[0]:
            best = cand
    return best[0] * best[1]


def list_accumulated(v):
    acc = []
    for x in v:
        acc = acc + [x * x]
    return sum(acc)


def lists_added(v):
    a = [x * 2 for x in v]
    b = a + [v[0]]
    b.append(v[1])
    a[0] = b[0] * 3
    return sum(a) * sum(b)


def slice_of_a_list_changed(v):
    a = list(v)
    b = a[1:]
    a[0] = a[1] * 2
    b[0] = b[0] * a[0]
    return sum(a) * sum(b)


def copy_of_a_list_changed(v):
    a = list(v)
    c = a[:]
    a.append(v[0] * v[1])
    c.append(a[-1] ** 2)
    return sum(c) * a[-1] * a[0]


def list_of_a_tuple(v):
    a = tuple(v)
    b = list(a)
    b[0] = b[1] * 2
    return sum(a) * sum(b)


def arrays_accumulated(x):
    rows = []
    for k in range(3):
        rows = rows + [x * k]
    rows[1] *= 2
    return np.sum(np.stack(rows))


def lists_of_arrays_added(x):
    rows = [x * 1.0, x * 2.0]
    more = rows + [x * 3]
    more[0] += 1
    rows[1] *= x
    return np.sum(more[0] * more[1] * more[2])


def dict_copied(d):
    e = dict(d)
    e["a"] = e["b"] * 2
    return e["a"] * d["a"] * e["b"]


def dict_spread(d):
    e = {**d, "c": 2.0}
    e["a"] *= e["b"]
    return e["a"] * d["a"] * e["c"]


class Linear:
    def __init__(self, w, b):
        self.w = w
        self.b = b

    def __call__(self, x):
        return self.w * x + self.b


class Sequential:
    def __init__(self, *ls):
        self.ls = ls

    def __call__(self, x):
        for l in self.ls:
            x = l(x)
        return x


class Layers:
    def __init__(self, ls):
        self.ls = ls

    def __call__(self, x):
        for l in self.ls:
            x = l(x)
        return x


class Square:
    def __call__(self, x):
        return x * x


def layers_in_a_tuple(x):
    return Sequential(Linear(x, 2.0), Linear(2.0, x))(x)


def layers_of_two_kinds(x):
    return Layers([Linear(x, 2.0), Square()])(x)


def layers_called_twice(x):
    m = Sequential(Linear(x, 2.0), Square())
    return m(x) * m(2.0)


def layers_in_a_loop(x):
    ls = [Linear(x, 2.0), Linear(x, 3.0)]
    for l in ls:
        x = l(x)
    return x


def product_of_ranges(a):
    s = 0.0
    for i, j in itertools.product(range(2), range(2)):
        s += a[i, j] * a[j, i]
    return s


def product_kept(a):
    idx = itertools.product(range(2), range(2))
    b = a.copy()
    for i, j in idx:
        b[i, j] *= b[j, i]
    return np.sum(b)


def zip_kept(a):
    z = zip(range(2), range(2))
    b = a.copy()
    for i, j in z:
        b[i, j] *= b[j, i]
    return np.sum(b)


def iterator_kept(a):
    b = a.copy()
    it = iter([0, 1, 1])
    for i in it:
        b[i] *= b[0]
    return np.sum(b)


def enumeration_kept(a):
    b = a.copy()
    e = enumerate([0, 1, 1])
    r = reversed([0, 1])
    for k, i in e:
        b[i] *= b[k % 2]
    for i in r:
        b[i] *= 2
    return np.sum(b)


def indices_of_an_array(A):
    a = A.copy()
    for i, j in np.ndindex(a.shape):
        a[i, j] *= a[j, i]
    return np.sum(a)


def out_given_back(x):
    b = np.empty(5)
    s = np.exp(x, out=b)
    s += 1
    return np.sum(b * s)


def product_of_a_list(x):
    return np.prod([v for v in x])


def cast_while_made(x):
    a = np.asarray(x, dtype=float)
    b = np.array(x, float)
    return np.sum(a * b)


def app(x, acc=None):
    if acc is None:
        acc = []
    acc.append(x * x)
    acc.append(x)
    return acc


def none_as_a_default(x):
    return sum(app(x)) * app(x, [x])[0]


def added_to_after_a_call(x):
    n = x

    def step():
        nonlocal n
        n = n * 2
        return n * x

    n += step()
    return n * x


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
PROGRAMS += [
    (pair_carried, (1.3,)),
    (list_carried, (1.3,)),
    (dict_carried, (1.3,)),
    (mixed_pair_carried, (1.3,)),
    (pair_in_a_while, (1.3,)),
    (pairs_carried, (1.3,)),
    (best_pair, (1.3,)),
    (list_accumulated, (LIST,)),
    (lists_added, (LIST,)),
    (slice_of_a_list_changed, (LIST,)),
    (copy_of_a_list_changed, (LIST,)),
    (list_of_a_tuple, (LIST,)),
    (arrays_accumulated, (VECTOR[:2],)),
    (lists_of_arrays_added, (VECTOR[:2],)),
    (dict_copied, ({"a": 1.2, "b": 0.7},)),
    (dict_spread, ({"a": 1.2, "b": 0.7},)),
    (layers_in_a_tuple, (1.3,)),
    (layers_of_two_kinds, (1.3,)),
    (layers_called_twice, (1.3,)),
    (layers_in_a_loop, (1.3,)),
    (product_of_ranges, (np.array([[1.1, 0.7], [0.4, 0.9]]),)),
    (product_kept, (np.array([[1.1, 0.7], [0.4, 0.9]]),)),
    (zip_kept, (np.array([[1.1, 0.7], [0.4, 0.9]]),)),
    (iterator_kept, (np.array([[1.1, 0.7], [0.4, 0.9]]),)),
    (enumeration_kept, (np.array([[1.1, 0.7], [0.4, 0.9]]),)),
    (indices_of_an_array, (np.array([[1.1, 0.7], [0.4, 0.9]]),)),
    (out_given_back, (VECTOR,)),
    (product_of_a_list, (VECTOR,)),
    (cast_while_made, (VECTOR,)),
    (none_as_a_default, (1.3,)),
]
PROGRAMS += [(added_to_after_a_call, (1.3,))]


def mask_that_shrinks(x):
    m = x > 0
    y = x * x
    m[0] = False
    y[m] = 0.0
    return np.sum(np.sqrt(y + 1.0))


def test_that_grows(x):
    m = x < 0.5
    y = np.sqrt(np.abs(x) + 1.0)
    z = np.where(m, y * y, 0.0)
    m[:] = True
    return np.sum(z) + np.sum(np.where(m, y, 0.0))


def test_that_changes_in_between(x):
    m = x > 0.5
    y = np.sqrt(x * x + 1.0)
    m[:] = ~m
    return np.sum(np.where(m, y, 0.0))


def mask_by_another_name(x):
    m = x > 0.5
    n = m
    y = np.sqrt(x * x + 1.0)
    n[0] = True
    return np.sum(np.where(m, y, 0.0))


CHANGED_MASKS = (mask_that_shrinks, test_that_grows, test_that_changes_in_between, mask_by_another_name)
PROGRAMS += [(f, (np.array([0.3, -0.9, 0.7, 1.4]),)) for f in CHANGED_MASKS]
REFUSED = {
    "array_without_copy", "broadcast_arrays_then_changed", "broadcast_then_changed",
    "fortran_order", "memo_inside", "suppressed", "trimmed",
}  # fmt: skip


def first_of_an_array(x):
    return next(iter(x)) ** 2 * x[1]


def first_of_a_dict(x):
    d = {"a": x[0], "b": x[1]}
    return next(iter(d.values())) ** 2 * x[1] * len(next(iter(d))) + next(iter([]), x[2])


def cast_to_complex(x):
    return np.complex128(x[0]).real * np.sum(np.abs(np.complex128(x) + 1j))


PROGRAMS += [(f, (np.array([0.3, 0.7, 1.2]),)) for f in (first_of_an_array, first_of_a_dict, cast_to_complex)]
