"""What stands around the mathematics: context managers, warnings, texts, dates, records, names found by text."""

import contextlib
import warnings

import numpy as np
from scipy import ndimage
from scipy.interpolate import Akima1DInterpolator, CubicSpline


def silenced_twice(x):
    y = x.copy()
    with np.errstate(all="ignore"):
        y = y * y
    with np.errstate(all="ignore"):
        y = y * y
    return np.sum(y)


def silenced_in_a_loop(x):
    s = 0.0
    for _ in range(3):
        with np.errstate(all="ignore"), np.printoptions(precision=3):
            s = s + np.sum(x * s) + x[0]
    with np.printoptions(precision=3):
        s = s * s
    return s


def warnings_off(x):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return np.sum(x * x)


def checked_with_a_long_message(x):
    assert np.ndim(x) == 1 and len(x) > 0, (
        "the argument is to be a vector, which has one axis, and is not to be empty: " + repr(x)
    )
    return np.sum(x * x)


LABELS = np.array(["a", "b", "a"])
DAYS = np.array(["2020-01-01", "2020-01-03", "2020-02-01"], dtype="datetime64[D]")
RECORDS = np.array([(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)], dtype=[("a", float), ("b", float)])


def chosen_by_labels(x, labels):
    return sum(np.sum(x[labels == k] ** 2) * i for i, k in enumerate(np.unique(labels), 1)) + np.sum(x[LABELS == "b"])


def times_days(x):
    return np.sum(x * x * (DAYS - DAYS[0]).astype(float))


def times_a_field(x, records):
    return np.sum(x * x * records["a"]) + np.sum(x * RECORDS["b"])


def diagonals_of_a_matrix_with_more_columns(x):
    r = np.outer(x, np.array([1.0, 2.0, -1.0, 3.0]))
    r[0, 0] = 2.0
    r[1] *= x[0]
    return np.sum(np.diag(r) ** 2) + np.sum(np.diagonal(r)) * np.sum(np.diag(r.T) ** 3)


def over_one_axis(x):
    return np.sum(np.apply_over_axes(np.sum, np.outer(x, x), 0) ** 2)


def tuple_joined_and_changed(x):
    t = (3,) + (x * 2,)
    t[1][1] *= x[0]
    return t[1][1] * t[0]


# ------------------------------------------------------------------ what is refused
def evaluated(x):
    return np.sum(eval("x * 2"))


def executed(x):
    exec("y = x * 2")
    return np.sum(x)


def found_among_the_locals(x):
    x[1] *= 2
    v = locals()["x"]
    return np.sum(v) * x[1]


def found_among_the_globals(x):
    return np.sum(globals()["RECORDS"]["a"] * x)


def read_from_bytes(x):
    return np.sum(np.frombuffer(x.tobytes()))


def put_into_records(x):
    r = np.zeros(2, dtype=[("a", float), ("b", float)])
    r["a"] = x[:2]
    return np.sum(r["a"] ** 2)


def made_records(x):
    r = np.array([(x[0], x[1])], dtype=[("a", float), ("b", float)])
    return r["a"][0] * 2


def least_pair(x):
    return min(zip(x, x[::-1]))[1]


KNOTS = np.array([0.0, 1.0, 2.0])


def data_of_a_spline(x):
    return CubicSpline(KNOTS, x)(1.3) + x[0]


def knots_of_a_spline(x):
    return Akima1DInterpolator(KNOTS * x[0], x)(0.3)


def written_by_a_filter(x):
    y = np.zeros(3)
    ndimage.convolve1d(x, np.array([1.0, 2.0, 1.0]), output=y)
    return np.sum(y**2)


def written_by_a_filter_by_position(x):
    y = np.zeros(3)
    ndimage.convolve1d(x, np.array([1.0, 2.0, 1.0]), -1, y)
    return np.sum(y**2)


def constants_written_by_a_filter(x):
    y = np.zeros(3)
    ndimage.convolve1d(np.ones(3), np.array([1.0, 2.0, 1.0]), output=y)
    return np.sum(y * x)


def permuted_into_an_array(x):
    y = np.zeros(3)
    np.random.default_rng(0).permuted(x, out=y)
    return np.sum(y * np.arange(3))


def keys_unpacked(x):
    d = {1: x[0], 0: x[1]}
    a, b = d
    return a * x[0] + b * x[1] + d[0]


def name_deleted_in_a_try(x):
    s = x[0]
    try:
        t = s * 2
        del t
        y = x[9]
    except IndexError:
        y = x[1] * s
    return y


class Holder:
    pass


def set_by_the_special_method(x):
    k = Holder()
    k.__setattr__("w", x[0] ** 2)
    return k.w * x[1]


X = np.array([0.4, 0.7, 0.9])
PROGRAMS = [
    *((f, (X,)) for f in (
        silenced_twice, silenced_in_a_loop, warnings_off, checked_with_a_long_message, times_days,
        diagonals_of_a_matrix_with_more_columns, over_one_axis, tuple_joined_and_changed,
        constants_written_by_a_filter, name_deleted_in_a_try, set_by_the_special_method, written_by_a_filter,
        written_by_a_filter_by_position, permuted_into_an_array, keys_unpacked,
    )),
    (chosen_by_labels, (X, LABELS)), (times_a_field, (X, RECORDS)),
    *((f, (X,)) for f in (
        evaluated, executed, found_among_the_locals, found_among_the_globals, read_from_bytes, put_into_records,
        made_records, least_pair, data_of_a_spline, knots_of_a_spline,
    )),
]  # fmt: skip
REFUSED = {
    "permuted_into_an_array", "keys_unpacked",
    "evaluated", "executed", "found_among_the_locals", "found_among_the_globals", "read_from_bytes", "put_into_records",
    "made_records", "knots_of_a_spline",
}  # fmt: skip


LIMIT, WHOLE, COMPLEX, PAIR = 0.3, 2, 0.3 + 1j, [0.5, 0.2]
BOUNDS, TOGETHER = np.array([0.1, 2.0]), (0.3, np.array([1.0, 2.0]))


def takes_a_limit(x):
    d = x
    if d >= LIMIT:
        d = LIMIT
    return d * x


def takes_a_whole_number(x):
    return (WHOLE if x > 0 else x) * x


def takes_a_complex_number(x):
    d = x
    if d >= LIMIT:
        d = COMPLEX
    return np.abs(d * x)


def takes_an_array(x):
    d = np.array([x, x * x])
    if x >= 0:
        d = BOUNDS
    return np.sum(d * x)


def takes_containers(x):
    d, e = [x, x * x], (x, np.array([x, 1.0]))
    if x >= 0:
        d, e = PAIR, TOGETHER
    return d[0] * d[1] * x * e[0] * np.sum(e[1])


def takes_a_limit_in_a_loop(x):
    d, e = x, LIMIT
    for _ in range(3):
        e = e * d * x
        d = LIMIT
    return d * e


PROGRAMS += [
    (f, (x,))
    for f in (
        takes_a_limit, takes_a_whole_number, takes_a_complex_number, takes_an_array, takes_containers,
        takes_a_limit_in_a_loop,
    )
    for x in (0.7, -0.6)
]  # fmt: skip


@contextlib.contextmanager
def doubled(v, log):
    log.append(v)
    try:
        yield v * 2
    finally:
        log.append(v * v)


def entered_and_left(x):
    log = []
    with doubled(x[0], log) as s, doubled(x[1], log) as t:
        y = s * t
    return y * log[0] * log[1] * log[2] * log[3]


def entered_in_a_loop(x):
    log, y = [], 0.0
    for k in range(3):
        with doubled(x[k], log) as s:
            y += s * s * len(log)
    return y * log[-1]


@contextlib.contextmanager
def scaled_meanwhile(a, i):
    a[i] = a[i] * 5
    yield
    a[i] *= 3


@contextlib.contextmanager
def replaced_meanwhile(d, value):
    old = d["k"]
    d["k"] = value
    try:
        yield
    finally:
        d["k"] = old


def changed_by_managers(x):
    y, d = x.copy(), {"k": x[0]}
    with scaled_meanwhile(y, 1):
        s = np.sum(y**2)
    with replaced_meanwhile(d, x[1] ** 2):
        s = s * d["k"] * x[2]
    return s * np.sum(y) * d["k"]


def returned_from_a_block(x):
    log = []
    with doubled(x[0], log) as s:
        y = s * s
        return y * log[0]


def left_by_a_break(x):
    total = 0.0
    for v in x:
        with doubled(v, []) as s:
            total += s * s
            if total > 1:
                break
    return total


def named_before_it_is_entered(x):
    log = []
    manager = doubled(x[0], log)
    with manager as s:
        y = s * s
    return y * log[0]


MANAGED = (
    named_before_it_is_entered,
    entered_and_left,
    entered_in_a_loop,
    changed_by_managers,
    returned_from_a_block,
    left_by_a_break,
)
PROGRAMS += [(f, (np.array([0.3, 0.5, 0.9]),)) for f in MANAGED]
REFUSED = {*globals().get("REFUSED", ()), "left_by_a_break", "named_before_it_is_entered", "manager_that_is_a_method"}
