"""Calls that the samples of a rule cannot spell, or that meet other parts of the compiler."""

import math

import numpy as np
import pytest
import scipy.linalg
import scipy.sparse
import scipy.special as sp
import scipy.stats as st
from scipy.interpolate import CubicSpline

import tangentc
from tangentc import check_grads, grad

rng = np.random.default_rng(3)
A = rng.uniform(0.3, 2, (3, 4)) * rng.choice([-1, 1], (3, 4))
S = A @ A.T + 2 * np.eye(3)
v = A[0]
z = v + 1j * A[1]

CALLS = {
    "vector inf": (lambda x: np.linalg.norm(x, np.inf), v),
    "vector -inf": (lambda x: np.linalg.norm(x, -np.inf), v),
    "inf along an axis": (lambda x: np.linalg.norm(x, np.inf, axis=0), A),
    "matrix inf": (lambda x: np.linalg.norm(x, np.inf), A),
    "matrix -inf": (lambda x: np.linalg.norm(x, -np.inf), A),
    "matrix inf keepdims": (lambda x: np.linalg.norm(x, ord=np.inf, keepdims=True), A),
    "svd unpacked": (lambda x: singular(x), A),
    "singular values": (lambda x: np.sum(np.log(np.linalg.svd(x, compute_uv=False))), A),
    "eigh by name": (lambda x: eigen(x), S),
    "log determinant": (lambda x: np.linalg.slogdet(x @ x.T)[1], A),
    "log determinant by name": (lambda x: np.linalg.slogdet(x @ x.T).logabsdet, A),
    "cholesky solve": (lambda x: whitened(x), A),
    "qr": (lambda x: triangle(x), A.T),
    "split": (lambda x: pieces(x), A),
    "array_split": (lambda x: np.array_split(x, 3)[1] * np.split(x, [4, 7])[1], np.linspace(0.1, 1, 10)),
    "vstack with an unused part": (lambda x: np.sum(np.vstack([x, 2 * x[:1]])[1:] ** 3), A),
    "roll by a name": (lambda x: rolled(x), v),
    "repeat by an array": (lambda x: np.repeat(x, np.array([1, 0, 2, 1])) ** 2, v),
    "meshgrid": (lambda x: grids(x), v),
    "spectrum": (lambda x: np.sum(np.abs(np.fft.rfft(x)) ** 2 * np.arange(3)), v),
    "filter": (lambda x: np.fft.irfft(np.fft.rfft(x, 8) * 1j, 8)[:3], v),
    "complex norm": (lambda z: np.linalg.norm(z), z),
    "fft of complex": (lambda z: np.abs(np.fft.fft(z, axis=0)), z),
    "math.prod": (lambda x: math.prod([x[0], 2.0, x[1] ** 2]), v),
    "sort": (lambda x: np.sort(x)[::-1] * np.arange(4), v),
    "append a number": (lambda x: np.sum(np.append(x, 1) ** 2) * np.append(x, 3.0)[0], v),
    "linspace to": (lambda x: np.linspace(0, x, 5) ** 2, 1.5),
    "interp": (lambda x: np.interp(x, np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, -1.0])), 0.3),
    "methods": (lambda x: x.diagonal().sum() * x.trace() + x.cumsum()[2] * x.repeat(2)[3] * x.take([1, 2])[0], A),
    "trapezoid": (lambda x: np.trapezoid(x**2, np.array([0.0, 0.5, 2.0, 3.0])), v),
    "powers of a matrix": (lambda x: np.linalg.matrix_power(x, 3) @ np.linalg.inv(x), S),
    "sinc at and near zero": (lambda x: np.sinc(x), np.array([0.0, 1e-9, 1e-3, 0.0317, 0.0319, 2.0])),
    "select": (lambda x: np.select([x < 0, x < 1, x < 2], [x**2, 0, np.sin(x)], default=1), v),
    "astype": (lambda x: x.astype(np.float64) * x.astype(int), v),
    "nansum": (lambda x: np.nansum(np.where(x > 1, np.nan, x**2)) + np.nanmax(x**3) + np.nanmean(x), v),
    "irfftn": (lambda x: np.fft.irfftn(np.fft.rfftn(x, s=(4, 6), axes=(0, 1)) ** 2, s=(4, 6), axes=(0, 1)), A),
    "quantile": (lambda x: np.quantile(x, 0.3) * np.percentile(x, 62.5, axis=0), A),
    "covariance": (lambda x: np.linalg.slogdet(np.cov(x))[1], A),
    "angle": (lambda z: np.angle(z), z),
    "fmax": (lambda x: np.fmax(x, 0.5) + np.fmin(x, np.array([1.0, np.nan, 0.0, 2.0])), v),
    "average": (lambda x: np.average(x, axis=1, weights=np.arange(1.0, 5.0)), A),
    "mode": (lambda x: np.sum(np.pad(x, 1, mode="mean") ** 2), A),
    "weights": (lambda x: np.average(A, weights=x), A),
    "order": (lambda x: np.linalg.norm(x, -2), A),
    "kron": (lambda x: np.sum(np.kron(x, x[0]) ** 2), A),
    "spline in its data": (lambda x: CubicSpline(np.arange(4), x)(1.3) ** 2, v),
    "splines of columns": (lambda x: CubicSpline([0.0, 1.0, 3.0], x, bc_type="natural")([[0.3, 2.0]]) ** 2, A),
    "splines of rows": (lambda x: CubicSpline(np.arange(4.0), x, axis=1, bc_type="clamped")(x[0], 1), A),
    "spline in its data and place": (lambda x: CubicSpline(np.arange(4.0), x)(x[1:3]) * x[0], v),
    "area under a spline": (lambda x: CubicSpline(np.arange(4.0), x).integrate(0.2, x[0] ** 2) ** 2, v),
}


def singular(x):
    U, s, Vt = np.linalg.svd(x, full_matrices=False)
    return np.sum((U * np.sqrt(s)) @ Vt)


def eigen(x):
    both = np.linalg.eigh(x)
    return np.sum(both.eigenvalues**3) + np.sum((both.eigenvectors * np.exp(-both.eigenvalues)) @ both.eigenvectors.T)


def whitened(x):
    L = np.linalg.cholesky(x @ x.T + np.eye(3))
    return np.sum(np.linalg.solve(L, x) ** 2) + np.sum(np.log(np.diag(L)))


def triangle(x):
    Q, R = np.linalg.qr(x)
    return np.sum(R**2 * S) + np.sum((Q @ S) ** 3)


def pieces(x):
    left, right = np.hsplit(x, 2)
    return left * right + np.split(x, [1, 2], axis=1)[1]


def rolled(x):
    k = x.size - 2
    return x * np.roll(x, k) ** 2


def grids(x):
    X, Y = np.meshgrid(x, x[:2] ** 2)
    return X * Y


@pytest.mark.parametrize("name", CALLS)
def test_call(name):
    f, x = CALLS[name]
    check_grads(f, (x,), rtol=1e-6, atol=1e-7)


def test_a_cut_off_part_is_a_view():
    def f(x):
        a = x * 1.0
        parts = np.vsplit(a, 2)
        a[0, 0] = 5.0
        return np.sum(parts[0] ** 2)

    np.testing.assert_allclose(grad(f)(np.ones((2, 2))), [[0.0, 2.0], [0.0, 0.0]])


def changed_after_diag(x):
    a = x * 1.0
    d = np.diag(a)
    a[0, 0] = 5.0
    return np.sum(d * d)


def changed_after_power(x):
    a = x * 1.0
    b = np.linalg.matrix_power(a, 1)
    a[0, 0] = 5.0
    return np.sum(b * b)


def test_a_matrix_that_is_changed_while_its_diagonal_is_held():
    np.testing.assert_array_equal(grad(changed_after_diag)(3 * np.eye(2)), [[0.0, 0.0], [0.0, 6.0]])


def test_a_matrix_that_is_changed_while_a_power_of_it_is_held():
    with pytest.raises((tangentc.NotDifferentiable, tangentc.UnsafeMutation)):
        grad(changed_after_power)(np.eye(2))


def test_a_diagonal_matrix_may_be_changed():
    def f(x):
        a = np.diag(x)
        a[0, 1] = x[1]
        return np.sum(a @ a)

    check_grads(f, (v[:2],))


def test_eigenvalues_may_coincide_where_no_vector_matters():
    np.testing.assert_allclose(grad(lambda x: np.sum(np.linalg.eigh(x)[0] ** 2))(np.eye(3)), 2 * np.eye(3))
    np.testing.assert_allclose(grad(lambda x: np.linalg.norm(x, "nuc"))(np.eye(3)), np.eye(3))


def test_the_norm_has_no_slope_at_zero():
    with np.errstate(all="ignore"):
        assert np.isnan(grad(lambda x: np.linalg.norm(x))(np.zeros(2))).all()


REFUSED = {"full": lambda x: np.sum(np.linalg.svd(x)[0])}


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    with pytest.raises((tangentc.NotDifferentiable, tangentc.MissingRule, ValueError)):
        grad(REFUSED[name])(A)


def test_an_option_that_is_none_by_another_name():
    settings = {"axis": None}
    x = rng.normal(size=(5, 5))
    _, pullback = tangentc.vjp(lambda *a: np.gradient(*a, **settings), x)
    seeds = (rng.normal(size=(5, 5)), rng.normal(size=(5, 5)))
    _, wanted = tangentc.vjp(lambda x: np.gradient(x), x)
    np.testing.assert_allclose(pullback(seeds)[0], wanted(seeds)[0])


AXES = [(1,), (0,)]


def test_options_that_only_the_run_knows_are_refused():
    with pytest.raises(tangentc.TangentcError):
        tangentc.grad(lambda a: np.sum(np.tensordot(a, A.T, axes=AXES)))(A)


def test_functions_of_scipy_as_they_are():
    special = pytest.importorskip("scipy.special")
    assert tangentc.grad(special.j0)(2.3) == pytest.approx(-special.j1(2.3))
    adjoint = tangentc.adjoint(special.multigammaln, wrt=0)
    for a in (4.3, np.full((2, 3), 4.3)):
        np.testing.assert_allclose(adjoint(a, 1, np.ones(np.shape(a))), special.digamma(a))


def test_extremes_of_complex_numbers():
    z = np.array([[1 + 2j, 3 - 1j], [0.2j, -1 + 1j]])
    assert tangentc.vjp(np.max, z)[1](1 + 1j)[0].tolist() == [[0, 1 + 1j], [0, 0]]
    assert tangentc.jvp(lambda z: np.min(z, axis=1), (z,), (2 * z,))[1].tolist() == [2 + 4j, -2 + 2j]
    assert tangentc.vjp(np.max, 1 + 1j)[1](2j)[0] == 2j


def test_tangent_of_a_number_made_complex():
    value, tangent = tangentc.jvp(lambda x: complex(x), (2.0,), (3.0,))
    assert (value, tangent) == (2 + 0j, 3 + 0j) and isinstance(tangent, complex)


def test_numbers_that_are_real_if_close():
    z = np.array([1 + 0.1j, 2 - 0.3j])
    assert tangentc.vjp(np.real_if_close, z)[1](z)[0].tolist() == z.tolist()
    value, pullback = tangentc.vjp(np.real_if_close, np.array([1 + 0j, 2]))
    assert value.dtype == float and pullback(value)[0].tolist() == [1 + 0j, 2 + 0j]
    assert grad(lambda x: np.sum(np.real_if_close(x) ** 2))(np.array([1.0, 2.0])).tolist() == [2.0, 4.0]


def test_a_deviation_that_is_not_a_number_has_no_slope():
    with np.errstate(all="ignore"):
        assert np.isnan(grad(lambda x: np.std(x, ddof=1))(np.ones(1)))
    assert grad(lambda x: np.std(x))(np.ones(1)) == 0.0


@pytest.mark.parametrize("x", [-1e6, -1e8, -1e9, -40.0, 3.0])
def test_the_logarithm_of_the_normal_distribution_far_out(x):
    want = float(np.exp(-(x**2) / 2 - sp.log_ndtr(x)) / math.sqrt(2 * math.pi)) if x > -30 else -x - 1 / x
    np.testing.assert_allclose(tangentc.grad(lambda x: sp.log_ndtr(x))(x), want, rtol=1e-5)


def test_densities_at_the_ends_of_their_parameters():
    assert tangentc.grad(lambda m: st.poisson.logpmf(0, m))(0.0) == -1.0
    assert tangentc.grad(lambda x: sp.gammainc(1.0, x))(0.0) == 1.0
    assert tangentc.grad(lambda x: sp.betainc(1.0, 1.0, x))(1.0) == 1.0
    gradient = tangentc.grad(lambda c: st.multivariate_normal.entropy(np.zeros(2), c))(np.array([[2, 0.5], [0.5, 1]]))
    np.testing.assert_allclose(gradient, [[2 / 7, 0], [-2 / 7, 4 / 7]])  # SciPy reads the lower triangle


def test_terms_without_weight_are_no_terms():
    np.testing.assert_array_equal(
        tangentc.grad(lambda x: sp.logsumexp(x, b=[1.0, 0.0]))(np.array([1.0, 1000.0])), [1.0, 0.0]
    )


def test_a_spline_of_arrays_is_refused():
    spline = CubicSpline(np.arange(4.0), [[0, 1], [1, 0], [4, 2], [9, 5]])
    with pytest.raises(tangentc.NotDifferentiable, match="arrays"):
        tangentc.grad(lambda x: np.sum(spline(x)))(np.array([0.5, 1.5]))


def test_a_spline_in_its_knots_is_refused():
    with pytest.raises(tangentc.NotDifferentiable, match="knots"):
        tangentc.grad(lambda x: CubicSpline(x, np.arange(4.0))(0.5))(np.arange(4.0))
    with pytest.raises(tangentc.NotDifferentiable, match="linear"):
        tangentc.grad(lambda x: CubicSpline(np.arange(4.0), x, bc_type=((1, 0.5), (2, 0.0)))(0.5))(np.arange(4.0))


@pytest.mark.parametrize("make", [scipy.sparse.diags, scipy.sparse.diags_array, lambda d: scipy.sparse.lil_matrix(d)])
def test_a_matrix_made_by_a_function_without_a_rule_is_refused(make):
    for product in (lambda d: np.sum(make(d) @ np.ones(3)), lambda d: np.sum(np.ones(3) @ make(d))):
        with pytest.raises(tangentc.MissingRule):
            tangentc.grad(product)(np.eye(3) if make.__name__ == "<lambda>" else np.ones(3))


@pytest.mark.parametrize("f", [np.median, lambda x: np.percentile(x, 30), np.nanvar, np.nanstd, np.max, np.ptp])
def test_single_precision_stays(f):
    x = np.array([1.0, 3.0, 2.0, 7.0], np.float32)
    value, tangent = tangentc.jvp(lambda x: f(x), (x,), (x,))
    assert value.dtype == tangent.dtype == tangentc.grad(lambda x: f(x))(x).dtype == np.float32


def test_a_square_of_an_absolute_value_is_a_square():
    assert tangentc.hessian(lambda x: np.abs(x) ** 2)(0.0) == 2.0


def test_the_entries_of_a_sparse_matrix_that_move_are_not_shown():
    places = (np.array([0, 0, 1]), np.array([0, 0, 1]))
    with pytest.raises(tangentc.UnsupportedSyntax, match="data"):
        tangentc.grad(lambda d: np.sum(scipy.sparse.csr_matrix((d, places)).data ** 2))(np.array([1.0, 2.0, 3.0]))


def test_more_differences_than_entries_have_no_slope():
    assert tangentc.grad(lambda x: np.sum(np.diff(x, n=5)))(np.arange(3.0)).tolist() == [0.0, 0.0, 0.0]
    with pytest.raises(ValueError):
        tangentc.grad(lambda x: np.sum(np.diff(x[x > 0], n=5)))(np.arange(3.0))


@pytest.mark.parametrize("A", [np.arange(1.0, 10).reshape(3, 3), np.array([[1.0, 2.0], [2.0, 4.0]]), np.zeros((1, 1))])
def test_the_determinant_of_a_singular_matrix_has_its_cofactors_for_a_gradient(A):
    n = range(len(A))
    minors = [[np.linalg.det(np.delete(np.delete(A, i, 0), j, 1)) for j in n] for i in n]
    cofactors = np.array(minors) * (-1.0) ** np.add.outer(n, n)
    for matrix, want in ((A, cofactors), (A * (1 + 2j), cofactors * (1 + 2j) ** (len(A) - 1))):
        gradient = tangentc.vjp(lambda A: np.linalg.det(A), matrix)[1](1.0 + 0 * np.linalg.det(matrix))[0]
        np.testing.assert_allclose(gradient, want, atol=1e-12)
        tangent = tangentc.jvp(lambda A: np.linalg.det(A), (matrix,), (np.ones_like(matrix),))[1]
        np.testing.assert_allclose(tangent, np.sum(want), atol=1e-12)


def mixed_with_integers(x, n):
    y = np.exp(-(n * x) / 400) + (1 - n * x) ** 2 + 2 * (n * x) ** 3
    z = np.arctan2(n, x) + np.arctan2(x, n) + np.power(n, x / 4) + sp.pseudo_huber(x, n) + sp.rel_entr(n, x)
    return np.sum(y + z + x ** (n * 0)) + np.sum(np.append(x, n) ** 2) + np.sum(x * n - x * (n * 0 - n))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int16, np.int32, np.uint32, np.int64])
def test_integers_do_not_wrap_around_in_derivatives(dtype):
    """Also in emitted text, where -(n * x) is not (-n) * x."""
    x, n = np.array([0.6, 1.3, 0.9]), np.array([7, 3, 120])
    f = mixed_with_integers

    def exact(x):
        return f(x, n.astype(float))

    value, gradient = tangentc.value_and_grad(f)(x, n.astype(dtype))
    np.testing.assert_allclose(value, f(x, n.astype(dtype)), rtol=1e-13)
    if np.iinfo(dtype).min < 0:  # what the function itself makes of these integers is what it makes of floats
        np.testing.assert_allclose(gradient, grad(exact)(x), rtol=2e-3)
    _, tangent = tangentc.jvp(f, (x, n.astype(dtype)), (np.array([1.0, -0.5, 0.3]), None))
    np.testing.assert_allclose(tangent, gradient @ np.array([1.0, -0.5, 0.3]), rtol=1e-10)
    check_grads(lambda x: f(x, n.astype(dtype)), (x,), rtol=1e-5, atol=1e-5)


def test_an_option_of_a_definition_is_not_passed_over():
    x, A = np.array([1.0, 2.0, 4.0, 7.0]), np.array([[1.0, 2.0, 3.0], [2.0, 4.0, 6.1], [1.0, 0.0, 1.0]])
    check_grads(lambda x: np.nanvar(x, correction=1) + np.nanstd(x, correction=1, mean=np.mean(x)), (x,))
    for f in (lambda x: np.nanvar(x, correction=1), lambda x: np.sum(np.linalg.lstsq(A, x[:3], rcond=0.05)[0] ** 2)):
        assert tangentc.value_and_grad(f)(x)[0] == pytest.approx(f(x))
        check_grads(f, (x,))


@pytest.mark.parametrize("shape", [(3, 2), (2, 3)])
def test_all_singular_vectors_of_what_is_not_square_are_refused(shape):
    def first(A):
        return scipy.linalg.svd(A)[1][0]

    with pytest.raises(ValueError, match=r"scipy.linalg.svd .* full_matrices=False"):
        tangentc.grad(first)(np.eye(*shape))
