"""Sparse Jacobians and Hessians: their entries, what they cost, and that no pattern is believed where it does not hold."""

import copy
import linecache
import pickle
import random

import numpy as np
import pytest
import scipy.ndimage
import scipy.optimize
import scipy.sparse as sp
from scipy.integrate import solve_ivp

import tangentc
import tangentc.sparse.linear
from tangentc import hessian, jacobian, sparse_hessian, sparse_jacobian
from tangentc.errors import BadArgument, NotDifferentiable
from tangentc.sparse.patterns import ENOUGH

RNG = np.random.default_rng(5)
BY_DAY, BY_NIGHT = 20, 1000


class Calls(list):
    """The push-forwards and pull-backs that are asked for, "push" and "pull"."""

    def taken(self):
        made = self[:]
        self.clear()
        return made


@pytest.fixture
def calls(monkeypatch):
    found = Calls()
    jvp, vjp = tangentc.sparse.linear.jvp, tangentc.sparse.linear.vjp

    def pushes(*args):
        found.append("push")
        return jvp(*args)

    def with_pulls(*args):
        value, pullback = vjp(*args)

        def pulls(seed):
            found.append("pull")
            return pullback(seed)

        return value, pulls

    monkeypatch.setattr(tangentc.sparse.linear, "jvp", pushes)
    monkeypatch.setattr(tangentc.sparse.linear, "vjp", with_pulls)
    return found


# ------------------------------------------------------------------ functions
def tridiagonal(x):
    y = x**3 - 2 * x
    y[1:] += x[:-1] * x[1:]
    y[:-1] += np.sin(x[1:])
    return y


def laplacian(u):
    out = np.exp(-u * u) - 4 * u
    out[1:] += u[:-1]
    out[:-1] += u[1:]
    out[:, 1:] += u[:, :-1]
    out[:, :-1] += u[:, 1:]
    return out


def with_a_long_row(x):
    y = x * x
    y[0] = np.sum(x**3)
    return y


def with_a_long_column(x):
    return x * x + x[0]


def arrow(x):
    y = x * x + x[0]
    y[0] = np.sum(x**3)
    return y


def upwind(u):
    flux = u**2 / 2
    back, forth = np.zeros_like(u), np.zeros_like(u)
    back[1:] = flux[1:] - flux[:-1]
    forth[:-1] = flux[1:] - flux[:-1]
    return np.where(u > 0, back, forth)


def by_a_branch(x):
    if x[0] > 0:
        return x * x
    return x[::-1] * x


def swept(x):
    x[0] = x[0] * 2  # its own argument, which stays as it is
    for _ in range(2):
        for i in range(1, len(x)):
            x[i] = x[i] - 0.3 * x[i - 1] * x[i]
    return x[2:]


def by_rows(A):
    return np.cumsum(A * A, axis=1) * A[:, :1]


def roots(x):
    return np.sqrt(x) * x[::-1] + x


def filtered(w):
    return scipy.ndimage.correlate1d(np.arange(1.0, 8.0), w)


def shifted(x, by, k):
    return x * np.roll(x, k) + by


def cubed(x):
    return x**3


@tangentc.adjoint_rule(cubed)
def cubed_adjoint(x, y, y_bar):
    return 3 * x**2 * y_bar


def by_rows_alone(x):
    return cubed(x[1:]) * x[:-1] + x[0]


FUNCTIONS = {
    "tridiagonal": (tridiagonal, (RNG.normal(size=40),)),
    "laplacian": (laplacian, (RNG.normal(size=(7, 9)),)),
    "a long row": (with_a_long_row, (RNG.normal(size=40),)),
    "a long column": (with_a_long_column, (RNG.normal(size=40),)),
    "arrow": (arrow, (RNG.normal(size=50),)),
    "upwind": (upwind, (RNG.normal(size=40),)),
    "in place": (swept, (RNG.normal(size=12),)),
    "small and dense": (lambda x: np.outer(x, x) @ np.sin(x), (RNG.normal(size=4),)),
    "dense": (lambda x: np.outer(x, x) @ np.sin(x), (RNG.normal(size=ENOUGH + 9),)),
    "a matrix": (by_rows, (RNG.normal(size=(3, 4)),)),
    "fewer results": (lambda x: x[::5] * x[1::5], (RNG.normal(size=50),)),
    "more results": (lambda x: np.outer(x, [1.0, 2.0, 3.0]) ** 2, (RNG.normal(size=9),)),
    "one result": (lambda x: np.sum(x * x[::-1]), (RNG.normal(size=20),)),
    "by a number": (lambda s: s * np.arange(4.0), (1.5,)),
    "a number by a number": (lambda s: s * s, (1.5,)),
    "by a NumPy number": (lambda s: s * np.arange(4.0), (np.float32(1.5),)),
    "an array without axes": (lambda x: x * x, (np.array(3.0),)),
    "no entries": (lambda x: x * x, (np.zeros(0),)),
    "no results": (lambda x: x[:0] * 2, (np.ones(3),)),
    "nothing by nothing": (lambda x: np.sum(x) * np.ones(3), (np.zeros((0, 2)),)),
    "a constant": (lambda x: np.ones(3), (np.ones(2),)),
    "complex results": (lambda x: 1j * x * x[::-1] + x, (RNG.normal(size=5),)),
    "other arguments": (shifted, (RNG.normal(size=20), 2.0, 3)),
    "a refusal of NaN": (lambda b: scipy.linalg.solve_triangular(np.eye(3) + 1, b), (np.ones(3),)),
    "rows that do not move": (lambda x: np.concatenate([np.ones(50), x[:3]]) ** 2, (RNG.normal(size=64),)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_jacobian(name):
    f, args = FUNCTIONS[name]
    before = copy.deepcopy(args)
    J = sparse_jacobian(f)
    wanted = jacobian(f)(*args)
    for _ in range(2):
        got = J(*args)
        assert isinstance(got, sp.csr_array) and got.has_canonical_format
        assert got.shape == (np.size(f(*copy.deepcopy(args))), np.size(args[0]))
        np.testing.assert_allclose(got.toarray(), np.reshape(wanted, got.shape), rtol=1e-12, atol=1e-13)
    for a, b in zip(args, before):
        np.testing.assert_array_equal(a, b)


def test_a_jacobian_by_another_argument():
    x, y = RNG.normal(size=6), RNG.normal(size=6)
    for wrt in ("y", 1, -1):
        got = sparse_jacobian(lambda x, y: x * y[::-1], wrt)(x, y)
        np.testing.assert_array_equal(got.toarray(), np.diag(x)[:, ::-1])


def test_dtypes_are_those_of_derivatives():
    x = RNG.normal(size=30).astype(np.float32)
    J = sparse_jacobian(tridiagonal)(x)
    assert J.dtype == np.float32 and J.indices.dtype == np.int32
    np.testing.assert_allclose(J.toarray(), jacobian(tridiagonal)(x), rtol=1e-5)
    H = sparse_hessian(rosenbrock)(x)
    assert H.dtype == np.float32
    np.testing.assert_allclose(H.toarray(), hessian(rosenbrock)(x), rtol=1e-4, atol=1e-3)
    for f in (lambda x: x[:2] * np.array([1.0, 2.0]), lambda x: np.sum(x * np.arange(30.0)), lambda x: np.ones(3)):
        assert sparse_jacobian(f)(x).dtype == jacobian(f)(x).dtype == np.float64
    assert sparse_jacobian(lambda x: x.astype(np.float32)[:9] ** 2)(x.astype(float)).dtype == np.float32


# ------------------------------------------------------------------ what it costs
def test_a_tridiagonal_jacobian_takes_three_products_and_a_check(calls):
    J = sparse_jacobian(tridiagonal)
    x = RNG.normal(size=10_000)
    J(x)
    assert len(calls.taken()) < 80  # the pattern
    got = J(2 * x)
    assert calls == ["push"] * 4
    main, after, before = 12 * x**2 - 2, np.cos(2 * x[1:]), 2 * x[1:]
    main[1:] += 2 * x[:-1]
    np.testing.assert_allclose(got.diagonal(), main)
    np.testing.assert_allclose(got.diagonal(1), after)
    np.testing.assert_allclose(got.diagonal(-1), before)
    assert got.nnz == 3 * 10_000 - 2


def test_a_pattern_takes_few_probes(calls):
    sparse_jacobian(laplacian).pattern_for(RNG.normal(size=(60, 60)))
    assert len(calls.taken()) < 100
    sparse_jacobian(arrow).pattern_for(RNG.normal(size=5000))
    assert len(calls.taken()) < 70
    sparse_jacobian(lambda x: np.outer(x, x) @ x).pattern_for(RNG.normal(size=500))
    assert len(calls.taken()) < 4 * ENOUGH  # it is dense, which is seen before all columns are asked for


def test_columns_or_rows_or_both(calls):
    x = RNG.normal(size=300)
    products = [(with_a_long_row, 2), (with_a_long_column, 2), (arrow, 3), (lambda x: np.sum(x * x), 1)]
    for f, count in products:
        J = sparse_jacobian(f)
        J(x)
        calls.clear()
        J(2 * x)
        assert len(calls.taken()) == count + 1, f.__name__


def test_shapes_and_dtypes_have_patterns_of_their_own(calls):
    J = sparse_jacobian(tridiagonal)
    inputs = RNG.normal(size=20), RNG.normal(size=30), RNG.normal(size=20).astype(np.float32)
    for x in inputs:
        J(x)
        assert len(calls.taken()) > 10
    for x in inputs:
        J(x + 1)
        assert calls.taken() == ["push"] * 4


# ------------------------------------------------------------------ patterns
def test_what_is_zero_at_the_point_is_in_the_pattern():
    J = sparse_jacobian(lambda x: np.array([x[0] * x[1], x[1] ** 2, x[2] * 0 + x[0] ** 3]))
    zero = np.zeros(3)
    assert J.pattern_for(zero).toarray()[:2].tolist() == [[True, True, False], [False, True, False]]
    assert J(zero).nnz >= 4 and not J(zero).toarray().any()
    x = np.array([2.0, 3.0, 5.0])
    np.testing.assert_array_equal(J(x).toarray(), [[3, 2, 0], [0, 6, 0], [12, 0, 0]])


def test_a_branch_that_changes(calls):
    J = sparse_jacobian(by_a_branch)
    x = np.abs(RNG.normal(size=50)) + 0.1
    for s in (1.0, -1.0, 2.0, -3.0, 1.0):
        np.testing.assert_allclose(J(s * x).toarray(), jacobian(by_a_branch)(s * x), rtol=1e-13)
    calls.clear()
    J(x), J(-x)
    assert len(calls.taken()) <= 8  # the pattern of both branches is kept, as both come


def test_a_pattern_that_moves_does_not_fill_up():
    def ordered(x):
        return np.sort(x) ** 2

    J = sparse_jacobian(ordered)
    for _ in range(40):
        x = RNG.normal(size=64)
        got = J(x)
        np.testing.assert_allclose(got.toarray(), jacobian(ordered)(x), rtol=1e-13)
    assert got.nnz < 64 * 30


def test_a_result_whose_length_changes():
    def part(x, n):
        return x[:n] * x[1 : n + 1]

    J, x = sparse_jacobian(part), RNG.normal(size=20)
    for n in (5, 9, 5, 0):
        assert J(x, n).shape == (n, 20)
        np.testing.assert_allclose(J(x, n).toarray(), jacobian(part)(x, n))


def test_a_function_that_forward_mode_does_not_take(calls):
    J, x = sparse_jacobian(by_rows_alone), RNG.normal(size=15)
    J(x)
    calls.clear()
    np.testing.assert_allclose(J(2 * x).toarray(), jacobian(by_rows_alone)(2 * x))
    assert set(calls) == {"pull"}
    energy = lambda x: np.sum(cubed(x[1:]) * x[:-1] ** 2)
    calls.clear()
    np.testing.assert_allclose(sparse_hessian(energy)(x).toarray(), jacobian(tangentc.grad(energy))(x))
    J = sparse_jacobian(by_rows_alone, pattern=np.eye(14, 15))
    with pytest.raises(BadArgument, match="lacks an entry of column 14"):
        J(x)


# ------------------------------------------------------------------ patterns that are given
def banded(n, width=1):
    return sp.diags_array([np.ones(n)] * (2 * width + 1), offsets=range(-width, width + 1), shape=(n, n))


@pytest.mark.parametrize(
    "make", [lambda p: p, lambda p: p.tocsc() * 0, lambda p: p.toarray() != 0, lambda p: p.toarray()]
)
def test_a_pattern_that_is_given(make, calls):
    x = RNG.normal(size=30)
    J = sparse_jacobian(tridiagonal, pattern=make(banded(30)))
    np.testing.assert_allclose(J(x).toarray(), jacobian(tridiagonal)(x))
    calls.clear()
    J(2 * x)
    assert calls == ["push"] * 4


def test_a_wider_pattern_is_taken(calls):
    x = RNG.normal(size=30)
    J = sparse_jacobian(tridiagonal, pattern=banded(30, 2))
    np.testing.assert_allclose(J(x).toarray(), jacobian(tridiagonal)(x), atol=1e-15)
    assert J(x).nnz == banded(30, 2).tocsr().nnz


def test_what_a_matrix_of_zeros_reaches_is_left_out_by_a_pattern():
    A = banded(20).toarray()
    f, x = lambda x: A @ x + x**3, RNG.normal(size=20)
    assert sparse_jacobian(f)(x).nnz == 400  # NaN * 0 is NaN
    J = sparse_jacobian(f, pattern=A)
    assert J(x).nnz == 58
    np.testing.assert_allclose(J(x).toarray(), jacobian(f)(x))


def test_a_pattern_that_lacks_an_entry():
    x = RNG.normal(size=30)
    lacking = banded(30).tolil()
    lacking[7, 8] = 0
    with pytest.raises(
        BadArgument, match=r"lacks the entry in column 8, .*, of row 7 of the derivative of tridiagonal"
    ):
        sparse_jacobian(tridiagonal, pattern=lacking.tocsr())(x)
    J = sparse_jacobian(by_a_branch, pattern=np.eye(30))
    np.testing.assert_array_equal(J(np.abs(x)).toarray(), np.diag(2 * np.abs(x)))
    with pytest.raises(BadArgument, match="lacks the entry"):  # it held in another branch
        J(-np.abs(x))
    with pytest.raises(BadArgument, match="lacks the entry"):
        sparse_hessian(rosenbrock, pattern=np.eye(30))(x)
    with pytest.raises(BadArgument, match="lacks the entry in column 2"):  # which is seen by rows alone too
        sparse_jacobian(lambda x: np.sum(x * x), pattern=[[1, 1, 0]])(np.ones(3))


def test_rounding_is_not_taken_for_a_wrong_pattern():
    def cancelled(x):
        return (1e9 * x + x**2) - 1e9 * x + 1e-9 * np.roll(x, 1)

    x = RNG.normal(size=30)
    wanted = np.diag(2 * x) + 1e-9 * np.roll(np.eye(30), -1, axis=1)
    pattern = np.eye(30) + np.roll(np.eye(30), -1, axis=1)
    for J in (sparse_jacobian(cancelled), sparse_jacobian(cancelled, pattern=pattern)):
        for _ in range(2):
            np.testing.assert_allclose(J(x).toarray(), wanted, atol=1e-6)


def test_what_is_no_number_at_the_point():
    at_zero = np.arange(4.0)
    with (
        np.errstate(all="ignore"),
        pytest.raises(NotDifferentiable, match="that of entry 0 of the result is not a number"),
    ):
        sparse_jacobian(roots)(at_zero)
    J = sparse_jacobian(roots)
    J(at_zero + 1)
    with np.errstate(all="ignore"):
        got, wanted = J(at_zero).toarray(), tangentc.jacfwd(roots)(at_zero)
    np.testing.assert_array_equal(got[1:], wanted[1:])
    assert not np.isfinite(got[0]).all()


def test_a_rule_that_hides_nan_is_not_believed():
    """SciPy leaves out weights that are not larger than the rounding error, and NaN is not."""
    w = np.array([1.0, 2.0, 4.0])
    with pytest.raises(NotDifferentiable, match="a NaN did not show the entry in column"):
        sparse_jacobian(filtered)(w)
    got = sparse_jacobian(filtered, pattern=np.ones((7, 3)))(w)
    np.testing.assert_allclose(got.toarray(), jacobian(filtered)(w))


# ------------------------------------------------------------------ random programs
def random_program(seed, form="{}"):
    """A function of an array and a number, of stencils, masks, orders, sums, loops and stores."""
    draw = random.Random(seed)

    def array(depth=2):
        if depth == 0:
            begin = draw.choice(["x", "y", "x[::-1]", "np.roll(y, 1)", "np.roll(x, 2)", "np.sort(x)", "np.cumsum(y)"])
            return draw.choice([begin, "x", "y", "y"])
        a, b = array(depth - 1), array(depth - 1)
        made = [
            f"({a} + {b})",
            f"({a} * {b})",
            f"np.where({a} > {b}, {a}, 0.5)",
            f"np.maximum({a}, {b})",
            f"np.sin({a})",
        ]
        return draw.choice([*made, f"({a} * 0.0)", f"({a} - c * {b} ** 2)"])

    def statement():
        k = draw.choice([
            [f"y = {array()}"], [f"y[1:] += x[:-1] * {draw.choice(['y[1:]', 'c', 'np.cos(y[:-1])'])}"],
            [f"y[{draw.randint(0, 3)}] = {draw.choice(['np.sum(x)', 'x[1] * y[2]', 'np.max(y)', 'x @ y'])}"],
            ["for i in range(1, len(x)):", f"    y[i] = 0.5 * y[i] + {draw.choice(['x[i - 1]', 'x[i] * y[i - 1]', 'c * x[-i]'])}"],
            ["if np.sum(y) > 0:", f"    y = y * {array(1)}", "else:", f"    y = 0.3 * {array(1)}"],
            [f"y[y > {draw.choice(['0', 'c', 'x'])}] *= 0.5"],
        ])  # fmt: skip
        return ["    " + line for line in k]

    lines = ["def f(x, c):", "    y = 0.5 * x", *(s for _ in range(draw.randint(1, 4)) for s in statement())]
    result = draw.choice(["y", "y", "y[1:-2]", "np.outer(y, [1.0, c])", "y * np.mean(x)"])
    text = "\n".join([*lines, f"    return {form.format(result)}", ""])
    file = f"<random sparse {seed} {form}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    scope = {"np": np}
    exec(compile(text, file, "exec"), scope)
    return scope["f"], text


def seeds(by_day):
    every = [pytest.param(k, marks=() if k < by_day else pytest.mark.nightly) for k in range(BY_NIGHT)]
    return pytest.mark.parametrize("seed", every)


@seeds(BY_DAY)
def test_a_random_program(seed):
    f, text = random_program(seed)
    rng = np.random.default_rng(seed)
    J = sparse_jacobian(f)
    for n in (6, 6, 6, 9):
        x, c = rng.normal(size=n), float(rng.normal())
        wanted = jacobian(f)(x, c).reshape(-1, n)
        np.testing.assert_allclose(
            J(x, c).toarray(), wanted, rtol=1e-9, atol=1e-11 * (1 + abs(wanted).max()), err_msg=text
        )
        assert not (wanted * ~J.pattern_for(x, c).toarray()).any(), text


@seeds(BY_DAY // 4)
def test_a_random_hessian(seed):
    f, text = random_program(seed, "np.sum(np.sin({0}) * {0})")
    rng = np.random.default_rng(seed)
    H = sparse_hessian(f)
    for n in (6, 6, 9):
        x, c = rng.normal(size=n), float(rng.normal())
        wanted = hessian(f)(x, c)
        np.testing.assert_allclose(
            H(x, c).toarray(), wanted, rtol=1e-9, atol=1e-11 * (1 + abs(wanted).max()), err_msg=text
        )


# ------------------------------------------------------------------ Hessians
def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def separable(x):
    """Powell's singular function, in parts of four."""
    a, b, c, d = x[::4], x[1::4], x[2::4], x[3::4]
    return np.sum((a + 10 * b) ** 2 + 5 * (c - d) ** 2 + (b - 2 * c) ** 4 + 10 * (a - d) ** 4)


def surface(u):
    return np.sum(np.sqrt(1 + (u[1:, 1:] - u[:-1, :-1]) ** 2 + (u[1:, :-1] - u[:-1, 1:]) ** 2)) + np.sum(u**4)


def in_a_loop(x):
    total = 0.0
    for i in range(len(x) - 2):
        if x[i] > 0:
            total += x[i] * x[i + 2] ** 2
    return total


HESSIANS = {
    "rosenbrock": (rosenbrock, RNG.normal(size=40), 3),
    "separable": (separable, RNG.normal(size=40), 4),
    "surface": (surface, RNG.normal(size=(8, 8)), 9),
    "arrow": (lambda x: x[0] * np.sum(x**2) + np.sum(x**4), RNG.normal(size=40), 2),
    "in a loop": (in_a_loop, RNG.normal(size=12), 3),
    "dense": (lambda x: np.sum(x) ** 3, RNG.normal(size=6), 6),
    "linear": (lambda x: np.sum(x), RNG.normal(size=6), 1),
    "a number": (lambda s: s**3, 2.0, 1),
    "nothing": (lambda x: np.sum(x**2), np.zeros(0), 1),
}


@pytest.mark.parametrize("name", HESSIANS)
def test_a_hessian(name, calls):
    f, x, most = HESSIANS[name]
    H, n = sparse_hessian(f), np.size(x)
    wanted = np.reshape(hessian(f)(x), (n, n))
    H(x)
    calls.clear()
    got = H(x)
    assert len(calls) <= most + 1 and isinstance(got, sp.csr_array) and got.shape == (n, n)
    np.testing.assert_allclose(got.toarray(), wanted, rtol=1e-11, atol=1e-11)


def test_a_hessian_where_a_branch_changes():
    H = sparse_hessian(in_a_loop)
    for _ in range(6):
        x = RNG.normal(size=12)
        np.testing.assert_allclose(H(x).toarray(), hessian(in_a_loop)(x), rtol=1e-12)


def test_a_hessian_of_a_given_pattern(calls):
    x = RNG.normal(size=30)
    H = sparse_hessian(rosenbrock, pattern=np.triu(banded(30).toarray()))
    np.testing.assert_allclose(H(x).toarray(), hessian(rosenbrock)(x), rtol=1e-11)
    calls.clear()
    H(x)
    assert len(calls) <= 4


# ------------------------------------------------------------------ in SciPy, and as an object
def test_in_solvers_of_scipy():
    def residual(u, h):
        out = 3 * u + np.tanh(u) - np.sin(np.arange(len(u)) * h)
        out[1:] -= u[:-1]
        out[:-1] -= u[1:]
        return out

    n = 60
    J = sparse_jacobian(residual)
    found = scipy.optimize.least_squares(residual, np.zeros(n), jac=J, args=(1 / n,), method="trf")
    assert np.max(np.abs(residual(found.x, 1 / n))) < 1e-8

    def rate(t, u, h):
        return -residual(u, h)

    solved = solve_ivp(rate, (0, 20), np.zeros(n), "BDF", jac=sparse_jacobian(rate, wrt="u"), args=(1 / n,), rtol=1e-6)
    assert solved.success and np.max(np.abs(residual(solved.y[:, -1], 1 / n))) < 1e-2

    newton = np.zeros(n)
    for _ in range(8):
        newton -= sp.linalg.spsolve(J(newton, 1 / n).tocsc(), residual(newton, 1 / n))
    np.testing.assert_allclose(newton, found.x, atol=1e-8)


class Chain:
    def __init__(self):
        self.k = 3.0

    def force(self, x):
        return self.k * np.sin(x) * np.roll(x, 1)


def test_methods_and_pickles():
    chain, x = Chain(), RNG.normal(size=8)
    J = sparse_jacobian(chain.force)
    np.testing.assert_allclose(J(x).toarray(), jacobian(chain.force)(x))
    chain.k = 5.0
    np.testing.assert_allclose(J(x).toarray(), jacobian(chain.force)(x))
    by_x = sparse_jacobian(Chain.force, wrt="x")
    np.testing.assert_allclose(by_x(chain, x).toarray(), jacobian(chain.force)(x))
    J = pickle.loads(pickle.dumps(sparse_jacobian(tridiagonal, pattern=banded(8))))
    np.testing.assert_allclose(J(x).toarray(), jacobian(tridiagonal)(x))
    assert repr(J) == "<sparse_jacobian of tridiagonal, wrt 0>" and J.__name__ == "tridiagonal_sparse_jacobian"


def test_random_numbers_are_the_same_in_each_product():
    rng = np.random.default_rng(1)

    def noisy(x):
        return x * x[::-1] * rng.normal(size=len(x))

    J, x = sparse_jacobian(noisy), np.ones(6)
    for _ in range(2):
        now = copy.deepcopy(rng)
        got = J(x).toarray()
        drawn = now.normal(size=6)
        np.testing.assert_allclose(got, np.diag(drawn) + np.diag(drawn)[:, ::-1])
        assert rng.normal() == now.normal()


def pair(x):
    return x, x


def accumulated(x):
    return np.sum(x) * x


def pairs(x):
    return x[:1] * x[1:]


MESSAGES = {
    "an integer": (
        lambda: sparse_jacobian(tridiagonal)(np.arange(3)),
        """tridiagonal cannot be differentiated with respect to x, which is int64[3]
  Why: a derivative is taken by a real or complex number, and an integer cannot move by a little.
  Way out: pass a float array: x.astype(float).""",
    ),
    "complex": (
        lambda: sparse_jacobian(tridiagonal)(np.ones(3) + 1j),
        """a sparse derivative of tridiagonal by x, which is complex128[3]
  Why: one number for each entry does not hold its derivatives by the real and the imaginary part.
  Way out: pass the two parts as one real array, or take jacobian, which is dense.""",
    ),
    "a list": (
        lambda: sparse_jacobian(shifted)([1.0, 2.0], 1.0, 1),
        """a sparse derivative of shifted by x, which is list of float
  Why: the matrix has a column for each entry of one array of NumPy.
  Way out: pass an array of floats.""",
    ),
    "two arguments": (
        lambda: sparse_jacobian(shifted, wrt=("x", "by"))(np.ones(3), 1.0, 1),
        """shifted_sparse_jacobian is asked for by ('x', 'by')
  Why: a sparse matrix is a derivative by one array.
  Way out: name one argument, and ask for others by functions of their own.""",
    ),
    "a container": (
        lambda: sparse_jacobian(pair)(np.ones(3)),
        """the result of pair is a container, and its sparse derivative is one matrix
  Why: the matrix has a row for each entry of one array.
  Way out: let the function return one array, np.concatenate of its parts.""",
    ),
    "another shape": (
        lambda: sparse_jacobian(tridiagonal, pattern=np.eye(3, 2))(np.ones(3)),
        """the pattern of tridiagonal_sparse_jacobian has the shape (3, 2), and the derivative (3, 3)
  Why: it has a row for each entry of the result and a column for each of the argument.
  Way out: give a pattern of the derivative's shape, or none.""",
    ),
    "a pattern that is no matrix": (
        lambda: sparse_jacobian(tridiagonal, pattern=[1, 1, 0]),
        """a pattern of 1 axes
  Why: it has a row for each result and a column for each entry of the argument.
  Way out: give a matrix of SciPy, or an array of two axes.""",
    ),
    "a pattern that lacks an entry": (
        lambda: sparse_jacobian(pairs, pattern=[[1, 0]])(np.array([1.0, 2.0])),
        """the pattern lacks the entry in column 1, 1, of row 0 of the derivative of pairs
  Why: entries that share a product would be taken for each other, and be wrong.
  Way out: add it to the pattern, or leave the pattern out: it is found then.""",
    ),
    "a NaN that is hidden": (
        lambda: sparse_jacobian(filtered)(np.array([1.0, 2.0, 4.0])),
        """a NaN did not show the entry in column 2, 3, of row 1 of the derivative of filtered
  Why: a rule takes NaN for something else, or the function does not compute the same each time.
  Way out: give the pattern.""",
    ),
    "what is dense": (
        lambda: sparse_jacobian(accumulated)(np.ones(20_000)),
        """the derivative of accumulated is dense, of 20,000 times 20,000 entries
  Why: each result depends on each entry of the argument, as far as a NaN tells, or NaN is refused.
  Way out: give the pattern, or ask jvp or vjp for products with it.""",
    ),
    "no number": (
        lambda: sparse_jacobian(roots)(np.arange(4.0)),
        """the pattern of the derivative of roots cannot be found here: that of entry 0 of the result is not a number, along \
whatever direction
  Why: what depends on an argument is seen by a NaN, which is there in any case.
  Way out: call it first with arguments at which the function is smooth, or give the pattern.""",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_a_message(name):
    refused, text = MESSAGES[name]
    with np.errstate(all="ignore"), pytest.raises(tangentc.errors.TangentcError) as error:
        refused()
    assert str(error.value) == text


def test_what_others_raise():
    with pytest.raises(tangentc.errors.NotScalar):
        sparse_hessian(tridiagonal)(np.ones(3))
    with pytest.raises(ZeroDivisionError):
        sparse_jacobian(lambda x, a: x / (1 // a))(np.ones(3), 0)
    with pytest.raises(BadArgument, match="does not name a parameter"):
        sparse_jacobian(tridiagonal, wrt="y")(np.ones(3))


def test_a_derivative_through_a_sparse_one_is_refused():
    J = sparse_jacobian(tridiagonal)
    with pytest.raises(tangentc.errors.MissingRule, match="there is no rule for .*tridiagonal_sparse_jacobian"):
        tangentc.grad(lambda x: np.sum(J(x) @ x))(np.ones(3))
    x = RNG.normal(size=3)
    by_a_constant = tangentc.grad(lambda x: np.sum(J(np.ones(3)) @ x))(x)
    np.testing.assert_allclose(by_a_constant, J(np.ones(3)).toarray().sum(axis=0))


def test_without_scipy(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(BadArgument, match=r'install it: pip install "tangentc\[scipy\]"'):
        sparse_jacobian(tridiagonal)
