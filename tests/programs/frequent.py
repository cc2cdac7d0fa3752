"""Programs of every day: parts of arrays, lists where NumPy takes arrays, tableaus, options and joined arrays."""

from typing import NamedTuple

import numpy as np

import tangentc


def lstm(W, x, h, c):
    for t in range(3):
        i, f, o, g = np.split(W @ np.concatenate([x[t], h]), 4)
        c = 1 / (1 + np.exp(-f)) * c + 1 / (1 + np.exp(-i)) * np.tanh(g)
        h = 1 / (1 + np.exp(-o)) * np.tanh(c)
    return np.sum(h * h)


def halves(x):
    a, b = np.split(x, 2)
    return np.sum(a * b)


def halves_of_columns(X):
    a, b = np.split(X, 2, axis=1)
    return np.sum(a * b)


def uneven_parts(x):
    a, b, c = np.array_split(x, 3)
    return np.sum(a) * np.sum(b) * np.sum(c**2)


def left_and_right(X):
    l, r = np.hsplit(X, 2)
    return np.sum(l @ r.T)


def parts_at_places(x):
    p = np.split(x, [2, 5])
    return np.sum(p[0]) * np.sum(p[1]) + np.sum(p[2] ** 2)


def loop_over_parts(X):
    t = 0.0
    for part in np.split(X, 3):
        t = t + np.sum(part**2) * np.sum(part)
    return t


def parts_of_the_last_axis(X):
    a, b = np.split(X, 2, -1)
    return np.sum(a * b)


def part_changed(x):
    a, b = np.split(x, 2)
    a[0] = b[1] ** 2
    return np.sum(x**2)


class P(NamedTuple):
    a: float
    b: np.ndarray


def nt_replace(x):
    p = P(x[0], x[1:])
    q = p._replace(a=p.a**2)
    return q.a * q.b[0]


def scaled(x, **o):
    s = x
    for v in o.values():
        s *= v
    return s


def called_with_and_without_options(x):
    return scaled(x[0]) * scaled(x[1], k=x[2])


def rk_tableau(y):
    for row in [[], [0.5], [-1, 2.0]]:
        yi = y
        for c in row:
            yi = yi + 0.1 * c * y
        y = yi * yi
    return np.sum(y)


def runge_kutta_of_a_tableau(y, h):
    A = [[], [0.5], [-1, 2.0]]
    b = [1 / 6, 4 / 6, 1 / 6]
    for _ in range(2):
        ks = []
        for row in A:
            yi = y + h * sum(c * k for c, k in zip(row, ks))
            ks.append(np.array([yi[1], -np.sin(yi[0])]))
        y = y + h * sum(bi * k for bi, k in zip(b, ks))
    return np.sum(y**2)


def joined_rows_and_columns(x):
    return np.sum(np.r_[x, 1.0] ** 2) + np.prod(np.c_[x, x])


def joined_with_a_range(x):
    return np.sum(np.r_[0.0, x[1:], x[0], 1:3] ** 3)


def columns_joined(x):
    return np.sum(np.c_[x, np.ones(3), x**2] @ np.arange(3.0))


def joined_alone(x):
    return np.sum(np.r_[x] * np.r_[0:3])


def matrices_joined(X):
    return np.sum(np.r_[X, X * 2] ** 2) + np.sum(np.c_[X, X[:, 0]] ** 3)


def select_from_a_number(x):
    return np.sum(np.select([x > 0, x < -1], [x**2, 0.0], default=x))


def list_of_none_filled(x):
    gs = [None] * 2
    for l in range(2):
        gs[l] = np.outer(x, x) * l
    return np.sum(gs[1] ** 2)


def reduce_from_a_number(x):
    return np.add.reduce(x, initial=2.0) ** 2


def outer_into_an_array(x):
    C = np.empty((3, 3))
    np.multiply.outer(x, x, out=C)
    return np.sum(C**2)


def block_of_integers(x):
    return np.sum(np.block([[1, x[0]], [0, 1]]) ** 3)


def hessian_inside(x):
    return np.sum(tangentc.hessian(lambda y: np.sum(y**3))(x))


def lists_a1(x):
    return np.linalg.det([[1.0, 2], [3, x]])


def lists_a2(x):
    return np.sum(np.linalg.inv([[1.0, 2], [3, x]]))


def lists_a3(x):
    return np.sum(np.linalg.solve([[1.0, 2], [3, x]], [x, 1.0]))


def lists_a4(x):
    return np.trapezoid([x, x * x, 1.0])


def lists_a5(x):
    return np.sum(np.correlate([x, 1.0, 2.0], [1.0, x]))


def lists_a6(x):
    return np.sum(np.tile([x, 1.0], 2) ** 2)


def lists_a7(x):
    return np.sum(np.repeat([x, 1.0], 2) ** 2)


def lists_a8(x):
    return np.take([x, x**2], 1)


def lists_a9(x):
    return np.sum(np.vander([x, 2.0], 3))


def lists_b1(x):
    return np.sum(np.outer([1, 2], [x, 1.0]) ** 2)


def lists_b2(x):
    return np.interp(0.3, [0, 1], [x, x**2])


def lists_b3(x):
    return np.sum(np.clip([x, 2.0], [0.0, 1.0], 3.0))


def lists_b4(x):
    return np.sum(np.full((2, 2), [x, 1]) ** 2)


def lists_b5(x):
    return np.sum(np.einsum("i,ij", [1, x], np.array([[x, 2], [3, 4.0]])))


def lists_b6(x):
    return np.sum(np.cov([[x, 1.0, 2.0], [2, x, 1]]))


def lists_b7(x):
    return np.sum(np.gradient([x, x**2, 1.0]) ** 2)


def lists_b8(x):
    return np.abs(np.fft.fft([x, 1.0, 2.0])[1]) ** 2


def lists_b9(x):
    return np.sum(np.cross([x, 1.0, 2.0], [1.0, x, 3]) ** 2)


def lists_c1(x):
    return np.linalg.norm([x, 1.0, 2.0])


def lists_c2(x):
    return np.sum(np.roll([x, 1.0, 2.0], 1) * np.arange(3.0))


def lists_c3(x):
    return np.sum(np.flip([x, 1.0, 2.0]) * np.arange(3.0))


def lists_c4(x):
    return np.sum(np.diff([x, 1.0, x**2]))


def lists_c5(x):
    return np.sum(np.where([True, False], [x, 1.0], [2.0, x]))


def lists_c6(x):
    return np.sum(np.kron([x, 1.0], [1.0, x]))


def lists_c7(x):
    return np.sum(np.polyval([x, 1.0, 2.0], x))


def lists_c8(x):
    return (
        np.sum(np.median([x, 1.0, 2.0]))
        + np.var([x, 1.0, 2.0])
        + np.std([x, 1, 3.0])
        + np.average([x, 2.0], weights=[1.0, x])
    )


def lists_c9(x):
    return np.sum(np.sort([x, 0.1, 2.0]) * np.arange(3)) + np.ptp([x, 2.0])


def lists_d1(x):
    return np.sum(np.convolve([x, 1.0], [1.0, x, 2.0]) ** 2)


def lists_d2(x):
    return np.dot([x, 1.0], [2.0, x]) + np.vdot([x, 1.0], [2.0, x]) + np.inner([x, 1.0], [2.0, x])


def lists_d3(x):
    return np.trace([[x, 1.0], [2.0, x]]) + np.sum(np.diag([x, 2.0]) ** 2) + np.sum(np.triu([[x, 1.0], [2.0, x]]))


def lists_d4(x):
    return np.sum(np.transpose([[x, 1.0], [2.0, x]]) @ [x, 1.0])


def lists_d5(x):
    return np.sum(np.reshape([x, 1.0, 2.0, x], (2, 2)) @ np.ones(2) * [x, 1.0])


def lists_d6(x):
    return np.max([x, 1.0]) + np.sum(np.maximum([x, 0.1], [0.2, x])) + np.prod([x, 2.0])


def lists_d7(x):
    return np.sum(np.cumsum([x, 1.0, 2.0]) ** 2) + np.mean([[x, 1.0], [2, 3.0]])


def lists_d8(x):
    return (
        np.sum(np.pad([x, 1.0], 1) ** 2)
        + np.sum(np.append([x, 1.0], [x]) ** 2)
        + np.sum(np.insert([x, 1.0], 1, x) ** 2)
    )


def lists_d9(x):
    return (
        np.sum(np.expand_dims([x, 1.0], 0) ** 2)
        + np.sum(np.squeeze([[x, 1.0]]) ** 2)
        + np.sum(np.atleast_2d([x, 1.0]) ** 2)
        + np.sum(np.ravel([[x], [1.0]]) ** 2)
    )


def lists_e1(x):
    return np.sum(np.broadcast_to([x, 1.0], (3, 2)) ** 2) + np.sum(np.moveaxis([[x, 1.0]], 0, 1) ** 2)


def lists_e2(x):
    return np.sum(np.gradient(np.array([x, x**2, 1.0, x]), [0, 1.0, 3.0, 4.0]))


def lists_e3(x):
    return np.gradient(np.array([x, x**2, 1.0, x]), edge_order=2)[0]


def lists_e4(x):
    return np.sum(np.diff(np.array([x, 1.0]), append=[x]) ** 2)


def lists_e5(x):
    return np.sum(np.matmul([[x, 1.0], [2.0, x]], [x, 1.0])) + np.sum(np.multiply([x, 1.0], 2) * np.add([x, 1], [1, x]))


def lists_e6(x):
    return np.sum(np.tensordot([[x, 1.0], [2.0, x]], [x, 1.0], axes=1))


def lists_e7(x):
    return np.sum(np.quantile([x, 1.0, 2.0], 0.3)) + np.percentile([x, 1.0, 2.0], 30)


def lists_e8(x):
    return np.sum(np.linalg.eigvalsh([[x + 2, 0.5], [0.5, x]]) ** 2) + np.linalg.slogdet([[1.0, 2], [3, x]])[1]


r = np.random.default_rng(0).normal
V = np.array([0.3, 0.7, -0.4])
PROGRAMS = [
    (lstm, (r(size=(12, 7)), r(size=(3, 4)), r(size=3), r(size=3))),
    (halves, (r(size=10),)),
    (halves_of_columns, (r(size=(3, 10)),)),
    (uneven_parts, (r(size=11),)),
    (left_and_right, (r(size=(3, 10)),)),
    (parts_at_places, (r(size=10),)),
    (loop_over_parts, (r(size=(12, 2)),)),
    (parts_of_the_last_axis, (r(size=(9, 10)),)),
    (part_changed, (r(size=10),)),
    (nt_replace, (V,)),
    (called_with_and_without_options, (V,)),
    (rk_tableau, (V[:2],)),
    (runge_kutta_of_a_tableau, (V[:2], 0.1)),
    (joined_rows_and_columns, (V,)),
    (joined_with_a_range, (V,)),
    (columns_joined, (V,)),
    (joined_alone, (V,)),
    (matrices_joined, (np.outer(V, V),)),
    (select_from_a_number, (V,)),
    (list_of_none_filled, (V,)),
    (reduce_from_a_number, (V,)),
    (outer_into_an_array, (V,)),
    (block_of_integers, (V,)),
    (hessian_inside, (V,)),
    *((f, (0.7,)) for name, f in list(globals().items()) if name.startswith("lists_")),
]
