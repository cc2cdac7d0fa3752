"""Functions that write their result into an array that they are given, and methods that are named by their class."""

import bisect
import heapq
import operator

import numpy as np

PROGRAMS = []


def program(*args):
    def add(f):
        PROGRAMS.append((f, args))
        return f

    return add


X = np.array([0.3, -0.7, 1.2])


@program(X)
def out_in_a_tuple(x):
    b = np.zeros(3)
    np.multiply(x, x, out=(b,))
    return np.sum(b * b)


@program(X)
def out_by_position(x):
    b = np.zeros(3)
    np.cumsum(x, 0, None, b)
    return np.sum(b * b)


@program(X)
def out_before_an_option(x):
    b = np.zeros(3)
    np.choose([0, 1, 0], [x, x * 2], b)
    return np.sum(b * b)


@program(X)
def two_outs(x):
    a = np.zeros(3)
    b = np.zeros(3)
    np.divmod(x, 0.5, out=(a, b))
    return np.sum(b * b)


@program(X)
def out_of_a_sum(x):
    b = np.zeros(3)
    np.sum(np.outer(x, x), 0, None, b)
    return np.sum(b * b)


@program(X)
def out_of_a_method(x):
    b = np.zeros(3)
    np.outer(x, x).sum(0, None, b)
    return np.sum(b * b)


@program(X)
def out_of_a_mean(x):
    b = np.zeros(3)
    np.mean(np.outer(x, x), 0, None, b)
    return np.sum(b * b)


@program(X)
def out_of_a_deviation(x):
    b = np.zeros(3)
    np.std(np.outer(x, x), 0, None, b)
    return np.sum(b * b)


@program(X)
def out_of_a_product(x):
    b = np.zeros(3)
    np.cumprod(x, 0, None, b)
    return np.sum(b * b)


@program(X)
def out_of_a_reduction(x):
    b = np.zeros(3)
    np.add.reduce(np.outer(x, x), 0, None, b)
    return np.sum(b * b)


@program(X)
def out_of_an_accumulation(x):
    b = np.zeros(3)
    np.add.accumulate(x, 0, None, b)
    return np.sum(b * b)


@program(X)
def out_of_reduceat(x):
    b = np.zeros(2)
    np.add.reduceat(x, [0, 1], 0, None, b)
    return np.sum(b * b)


@program(X)
def out_of_dot(x):
    b = np.zeros(3)
    np.dot(np.eye(3), x, b)
    return np.sum(b * b)


@program(X)
def out_of_matmul(x):
    b = np.zeros(3)
    np.matmul(np.eye(3), x, b)
    return np.sum(b * b)


@program(X)
def copyto_by_keywords(x):
    a = x.copy()
    np.copyto(dst=a, src=x * 2)
    return np.sum(a * a)


@program(X)
def out_in_a_tuple_and_the_result(x):
    b = np.zeros(3)
    c = np.multiply(x, x, out=(b,))
    return np.sum(b * c)


@program(X)
def out_of_a_method_that_accumulates(x):
    b = np.zeros(3)
    x.cumsum(0, None, b)
    return np.sum(b * b)


@program(X)
def nan_to_num_in_its_place(x):
    a = np.where(x > 0, x, np.nan)
    np.nan_to_num(a, False)
    return np.sum(a * a)


@program(X)
def nan_to_num_in_its_place_by_keyword(x):
    a = np.where(x > 0, x, np.nan)
    np.nan_to_num(a, copy=False)
    return np.sum(a * a)


@program(X)
def two_outs_of_modf(x):
    a = np.zeros(3)
    b = np.zeros(3)
    np.modf(x, out=(a, b))
    return np.sum(a * a + b)


@program(X)
def out_that_is_a_view(x):
    b = np.zeros(3)
    np.add.outer(x[:1], x, out=b[None, :])
    return np.sum(b * b)


@program(X)
def out_of_outer(x):
    b = np.zeros((3, 3))
    np.add.outer(x, x, out=b)
    return np.sum(b * b)


@program(X)
def out_of_a_reduction_by_keyword(x):
    b = np.zeros(3)
    np.add.reduce(np.outer(x, x), axis=0, out=b)
    return np.sum(b * b)


@program(X)
def out_of_take(x):
    b = np.zeros(3)
    np.take(x, [0, 0, 2], 0, b)
    return np.sum(b * b)


@program(X)
def out_of_around(x):
    b = np.zeros(3)
    np.around(x * 3, 1, b)
    return np.sum(b * x)


@program(X)
def out_of_clip(x):
    b = np.zeros(3)
    np.clip(x, -0.5, 0.5, b)
    return np.sum(b * b)


@program(X)
def out_of_the_method_clip(x):
    b = np.zeros(3)
    x.clip(-0.5, 0.5, b)
    return np.sum(b * b)


@program(X)
def out_of_the_method_dot(x):
    b = np.zeros(3)
    x.dot(np.outer(x, x), b)
    return np.sum(b * b)


@program(X)
def out_of_a_median(x):
    b = np.zeros(3)
    np.median(np.outer(x, x), 0, b)
    return np.sum(b * b)


@program(X)
def out_of_a_maximum(x):
    b = np.zeros(2)
    np.trace(np.outer(x, x))
    np.max(np.outer(x, x)[:2], 1, b)
    return np.sum(b * b)


@program(X)
def out_of_the_method_mean(x):
    b = np.zeros(3)
    np.outer(x, x).mean(axis=0, out=b)
    return np.sum(b * b)


@program(X)
def out_of_compress(x):
    b = np.zeros(2)
    np.compress([True, False, True], x, 0, b)
    return np.sum(b * b)


@program(X)
def out_of_stack(x):
    b = np.zeros((2, 3))
    np.stack([x, x * x], 0, b)
    return np.sum(b * b)


@program(X)
def out_of_concatenate(x):
    b = np.zeros(6)
    np.concatenate([x, x * x], 0, b)
    return np.sum(b * b)


@program(X)
def out_of_einsum(x):
    b = np.zeros(3)
    np.einsum("ij,j->i", np.outer(x, x), x, out=b)
    return np.sum(b * b)


@program(X)
def nan_to_num_of_an_argument(x):
    a = x * 1
    np.nan_to_num(x, copy=False)
    return np.sum(a * x)


@program(X)
def value_of_nan_to_num_in_its_place(x):
    a = np.nan_to_num(x * 2, copy=False)
    return np.sum(a * x)


@program(X)
def append_of_the_class(x):
    q = [x[0]]
    list.append(q, x[1])
    return q[0] * q[1]


@program(X)
def setitem_of_the_class(x):
    d = {"a": x[0]}
    dict.__setitem__(d, "a", x[1])
    return d["a"] ** 2


@program(X)
def setitem_of_the_class_of_arrays(x):
    b = np.zeros(3)
    np.ndarray.__setitem__(b, 0, x[0])
    return np.sum(b * b)


@program(X)
def update_of_the_class(x):
    d = {"a": x[0]}
    dict.update(d, b=x[1])
    dict.setdefault(d, "c", x[2])
    return d["a"] * d["b"] * d["c"]


@program(X)
def setitem_as_a_function(x):
    b = np.zeros(3)
    operator.setitem(b, 0, x[0])
    return np.sum(b * b)


@program(X)
def fill_of_the_class(x):
    b = x.copy()
    np.ndarray.fill(b, x[0])
    return np.sum(b * b)


@program(X)
def sort_of_the_class(x):
    b = x.copy()
    np.ndarray.sort(b)
    return np.sum(b * b * [1, 2, 3])


@program(X)
def methods_of_the_class_of_lists(x):
    q = [x[0], x[1]]
    q2 = list.copy(q)
    list.reverse(q)
    list.extend(q2, q)
    return q2[0] * q2[2] + q2[3] ** 2


@program(X)
def pop_of_the_class(x):
    q = [x[0], x[1]]
    m = list.pop(q)
    return m * m * q[0]


@program(X)
def pushed_on_a_heap(x):
    q = []
    heapq.heappush(q, x[0] ** 2)
    heapq.heappush(q, x[1] ** 2)
    q.append(x[2])
    return q[0] + q[1] + q[2]


@program(X)
def inserted_by_bisection(x):
    q = [x[0]]
    bisect.insort(q, x[1])
    return q[0] * q[1]


@program(X)
def replaced_in_a_heap(x):
    q = [5.0 * x[0]]
    heapq.heapreplace(q, x[1])
    return q[0] ** 2


@program(X)
def added_in_place_by_a_function(x):
    b = x.copy()
    operator.iadd(b, x)
    return np.sum(b * b)


@program(X)
def popped_from_a_heap(x):
    h = []
    for v in x:
        heapq.heappush(h, v * v)
    return heapq.heappop(h) * x[0]


REFUSED = {
    "pushed_on_a_heap", "inserted_by_bisection", "replaced_in_a_heap", "added_in_place_by_a_function",
    "popped_from_a_heap",
}  # fmt: skip


W = np.array([0.8, -1.1, 0.4])


@program(X, W)
def out_in_a_tuple_where(x, w):
    o = np.zeros(3)
    np.exp(x, out=(o,), where=w > 0.5)
    return np.sum(o * x)


@program(X, W)
def out_in_a_tuple_of_a_view(a, b):
    o = np.zeros(3)
    np.exp(a, out=(o[:],), where=b > 0)
    return np.sum(o * b)


@program(X, W)
def out_in_a_tuple_with_a_name(a, b):
    o = np.zeros(4)
    t = (o[1:],)
    np.multiply(a, b, out=t)
    return np.sum(o * o)
