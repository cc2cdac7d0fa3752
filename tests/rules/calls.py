"""The calls that the rules are tried on: a line for each, by family.

The names stand for the arguments that `arguments` draws; those of them that are floating point are what the
derivative is taken in.
"""

from __future__ import annotations

import ast
import bisect
import cmath
import linecache
import math
from typing import Any

import numpy as np
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.spatial.distance
import scipy.special
import scipy.stats

SCIPY = {
    "sp": scipy.special, "sl": scipy.linalg, "st": scipy.stats, "sg": scipy.signal, "sf": scipy.fft,
    "si": scipy.integrate, "so": scipy.optimize, "nd": scipy.ndimage, "sparse": scipy.sparse, "interpolate": scipy.interpolate,
    "ds": scipy.spatial.distance, "spatial": scipy.spatial,
}  # fmt: skip


def arguments(seed: int = 0) -> dict[str, Any]:
    """What the names in the calls stand for."""
    rng = np.random.default_rng(seed)
    n = rng.normal

    def regular(*shape: int) -> Any:
        return 0.3 * n(size=shape) + np.eye(*shape[-2:]) * np.array([2.0, 3.0, 5.0, 7.0])[: shape[-1]]

    def definite(*shape: int) -> Any:
        a = 0.3 * n(size=shape)
        return a + np.swapaxes(a, -1, -2) + np.diag([2.0, 4.0, 7.0][: shape[-1]])

    def spread(*shape: int) -> Any:
        return 0.3 * rng.permutation(int(np.prod(shape))).reshape(shape) + 0.1

    def z(*shape: int) -> Any:
        return n(size=shape) + 1j * n(size=shape)

    return {
        # numbers
        "s": 1.3, "t": 0.7, "c": 1.2 - 0.4j,
        # vectors
        "v": n(size=5), "u": n(size=5), "w": n(size=3), "o": n(size=1), "e": np.zeros(0), "p": rng.uniform(0.5, 2, 5),
        "q": rng.uniform(0.5, 2, 5), "d": spread(5), "z": z(5), "y": z(5), "r": rng.uniform(0.1, 0.8, 5),
        # matrices
        "A": n(size=(3, 4)), "C": n(size=(3, 4)), "B": n(size=(4, 2)), "M": regular(3, 3), "N": regular(3, 3),
        "P": rng.uniform(0.5, 2, (3, 4)), "Q": rng.uniform(0.5, 2, (3, 4)), "U": rng.uniform(-0.7, 0.7, (3, 4)),
        "D": spread(3, 4), "S": definite(3, 3), "Z": z(3, 4), "Y": z(4, 2), "H": regular(3, 3) + 0.5j * n(size=(3, 3)),
        "E": np.zeros((0, 3)), "L": n(size=(1, 4)), "X": regular(5, 3), "W": np.abs(n(size=(3, 4))) + 0.2,
        # more axes
        "T": n(size=(2, 3, 4)), "K": regular(2, 3, 3), "R": definite(2, 3, 3), "G": n(size=(2, 1, 3)),
        "F": n(size=(2, 3, 2, 2)), "J": z(2, 3, 4), "O": spread(2, 3, 4),
        # what does not move
        "mask": np.array([[1, 0, 1, 1], [0, 0, 1, 0], [1, 1, 1, 1]], bool), "yes": np.array([1, 0, 1, 1, 0], bool),
        "ints": np.array([0, 2, 2, 1]), "knots": np.array([0.0, 0.4, 1.0, 2.5, 3.0]),
        "dup": np.array([0, 2, 2, 1, 0]), "zn": np.array([1.0, np.nan, 2.0, 0.5, np.nan]),
    }  # fmt: skip


FAMILIES: dict[str, str] = {}

FAMILIES["random"] = """
np.random.default_rng(1).normal(s, t, 3); np.random.default_rng(1).normal(A, P); np.random.default_rng(1).normal(loc=s)
np.random.default_rng(1).normal(0, scale=P); np.random.default_rng(1).uniform(t, s, size=(2, 3)); np.random.default_rng(1).uniform(high=P)
np.random.default_rng(1).lognormal(A, 0.3); np.random.default_rng(1).lognormal(s, sigma=t, size=2); np.random.default_rng(1).exponential(P)
np.random.default_rng(1).exponential(s, 4); np.random.default_rng(1).gumbel(A, P); np.random.default_rng(1).laplace(A, P, (3, 4))
np.random.default_rng(1).logistic(s, t); np.random.default_rng(1).rayleigh(P); np.random.RandomState(1).normal(A, P)
np.random.RandomState(1).uniform(A, P); np.random.RandomState(1).lognormal(s, t, 3); np.random.RandomState(1).exponential(P)
np.random.default_rng(1).random(5) * v; np.random.default_rng(1).permutation(v); np.random.RandomState(1).permutation(A); np.random.default_rng(1).choice(v, 3)
np.random.default_rng(1).permutation(A, axis=1); np.random.RandomState(1).choice(v, size=(2, 2)); np.random.default_rng(1).choice(A, 2, replace=False)
np.random.default_rng(1).integers(0, 9, 5) * v
"""

FAMILIES["flat"] = """
A.flat[3]; A.flat[::2]; A.flat[ints]; np.array([a * a for a in A.flat]); sum(A.flat); np.array(v.tolist())
np.array(list(A.flat)); np.vectorize(lambda a: a * a if a > 0 else 0.0)(A); np.vectorize(lambda a, b: a * b if a > b else a - b)(A, L)
np.vectorize(np.sin, otypes=[float])(A); np.vectorize(math.sin)(v); np.vectorize(pyfunc=np.cos)(v)
"""

FAMILIES["scipy.linalg"] = """
sl.solve(M, w); sl.solve(M, M); sl.solve(M, w, transposed=True); sl.solve(S, w, assume_a="pos")
sl.solve(S, w, assume_a="sym", lower=True); sl.solve(H, w); sl.inv(M); sl.inv(K); sl.det(M); sl.det(K); sl.pinv(X); sl.norm(A)
sl.norm(A, 1); sl.norm(v, 2); sl.solve_triangular(M, w); sl.solve_triangular(M, N); sl.solve_triangular(M, w, lower=True)
sl.solve_triangular(M, w, trans=1); sl.solve_triangular(M, N, trans="T", lower=True)
sl.solve_triangular(M, w, unit_diagonal=True); sl.solve_triangular(M, N, 1, True, True); sl.solve_triangular(H, w)
sl.solve_triangular(H, w, trans=2); sl.cholesky(S); sl.cholesky(S, lower=True); sl.cho_factor(S)[0]
sl.qr(M)[0]; sl.qr(X.T)[1]; sl.qr(X, mode="economic")[1]; sl.qr(M, mode="r")[0]; sl.qr(X)[1]; sl.qr(X, mode="r")[0]
sl.cho_factor(S, lower=True)[0]; sl.cho_solve(sl.cho_factor(S), w); sl.cho_solve(sl.cho_factor(S, lower=True), N)
sl.cho_solve((M, True), w); sl.cho_solve((M, False), N); sl.lu_factor(M)[0]; sl.lu_factor(np.flipud(M))[0]
sl.lu_solve(sl.lu_factor(M), w); sl.lu_solve(sl.lu_factor(np.flipud(M)), N); sl.lu_solve(sl.lu_factor(np.flipud(M)), w, trans=1)
sl.lu_solve((M, np.array([1, 2, 2])), w); sl.expm(M); sl.expm(K); sl.sqrtm(M); sl.logm(M); sl.sinm(M); sl.coshm(M); sl.expm(H)
sl.block_diag(A, B); sl.block_diag(s, w, A); sl.toeplitz(v); sl.toeplitz(v, w); sl.toeplitz(z); sl.circulant(v); sl.hankel(v)
sl.hankel(v, w); sl.solve_sylvester(M, N, M); sl.solve_sylvester(M, np.eye(4) + B @ B.T, A)
sl.solve_banded((1, 1), np.stack([w, 4 + w * w, w]), w); sl.solve_banded((1, 1), np.stack([v, 4 + p, u]), v)
sl.solve_banded((2, 1), np.stack([v, 5 + p, u, d]), X); sl.solve_banded((0, 1), np.stack([v, 4 + p]), u)
sl.svd(X, full_matrices=False); sl.svd(X.T, full_matrices=False); sl.svd(M); sl.svd(K); sl.svd(X, compute_uv=False)
sl.svd(M, lapack_driver="gesvd"); sl.svd(M, True, True, True, False); sl.svd(H)[1]; sl.svdvals(X); sl.svdvals(K)
np.abs(sl.svd(H)[0]); sl.svd(X, False)[0] @ sl.svd(X, False)[2]; sl.svd(X[:1], full_matrices=False)[2]
sl.block_diag(*[A] * 3); sl.block_diag(*2 * [M]); sl.block_diag(*[s] * 2, A); sl.block_diag(*[A] * A.shape[0])
sl.eigh(S); sl.eigh(S, eigvals_only=True); sl.eigvalsh(S); sl.eigh(S, lower=False); sl.eigh(M, driver="evd"); sl.eigh(S, subset_by_index=[0, 1]); sl.eigh(S, subset_by_index=[1, 1], eigvals_only=True); sl.eigh(S, M @ M.T + np.eye(3))
sl.eigh(S, N @ N.T + np.eye(3), lower=False); sl.eigh(S, N @ N.T + np.eye(3), subset_by_index=[0, 1]); sl.eigvalsh(S, N @ N.T + np.eye(3)); sl.eigvalsh(S, lower=False, subset_by_index=(0, 1)); sl.eigh(H + np.conj(H.T))[0]; np.abs(sl.eigh(H + np.conj(H.T))[1])
sl.solve_continuous_lyapunov(M, N); sl.solve_discrete_lyapunov(0.1 * M, N); sl.solve_lyapunov(M, M); sl.solve_discrete_lyapunov(0.1 * H, N)
sl.solve_continuous_are(M, N, M @ M.T, np.eye(3)); sl.solve_continuous_are(M, A[:, :2], X.T @ X, B.T @ B); sl.solve_discrete_are(M, N, M @ M.T, N.T @ N + np.eye(3)); sl.solve_continuous_lyapunov(H, N)
sl.lstsq(X, v)[0]; sl.lstsq(X, v)[1]; sl.lstsq(X, X[:, :2])[1]; sl.lstsq(X.T, w)[0]; sl.lstsq(M, w)[0]; sl.lstsq(X, v)[3]; sl.lstsq(X, v, 1e-9)[0]; sl.lstsq(H, w)[0]; sl.lu(M)[1]; sl.lu(M)[2]; sl.lu(np.flipud(M))[1]
sl.lu(np.flipud(M))[2] @ sl.lu(np.flipud(M))[0]; sl.lu(np.flipud(M), permute_l=True)[0]; sl.lu(M[[2, 0, 1]], True)[1]; w[sl.lu(M[[2, 0, 1]], p_indices=True)[0]] * s; sl.lu(H)[2]; sl.lu(M[[2, 0, 1]])[0] @ N
"""

FAMILIES["scipy.ndimage"] = """
nd.correlate(A, B); nd.convolve(A, B); nd.correlate(A, B, mode="nearest"); nd.convolve(A, M, mode="mirror")
nd.correlate(A, B, mode="wrap", origin=-1); nd.convolve(A, B, mode="wrap", origin=(1, 0)); nd.correlate(A, B, mode="grid-mirror", origin=(-2, 0))
nd.correlate(A, B, mode="constant"); nd.convolve(A, B, mode="constant", cval=0.7); nd.correlate(A, M, mode="grid-constant", cval=s, origin=-1)
nd.correlate(A, B, None, "grid-wrap", 0.0, -1); nd.convolve(v, w[:2]); nd.correlate(v, w, axes=0); nd.correlate(input=v, weights=w)
nd.correlate(z, y[:3]); nd.convolve(z, y[:4], mode="nearest"); nd.correlate(v, y[:3]); nd.correlate(z, w, mode="mirror"); nd.convolve(v, y[:2])
nd.correlate1d(z, y[:3], mode="wrap"); nd.convolve1d(v, y[:4]); nd.correlate1d(z, y[:3], mode="constant", cval=1.5)
nd.correlate(T, B, axes=(0, 2)); nd.correlate(T, B, axes=(2, 0), origin=(0, -1)); nd.convolve(T, w, axes=1)
nd.correlate(T, B, axes=(2, -3), mode="constant", cval=0.3); nd.convolve(T, T[:, :2, :3], mode="reflect"); nd.correlate(A, B, axes=(1, 0), origin=(-2, 0))
nd.correlate1d(A, w); nd.correlate1d(A, w, 0); nd.convolve1d(A, w[:2], axis=0, mode="mirror", origin=-1); nd.convolve1d(T, w, 1, mode="wrap")
nd.correlate1d(A, w, axis=0, mode="constant", cval=1.5, origin=1); nd.convolve1d(v, p[:4], mode="constant", cval=s); nd.correlate1d(v, [1, 2, 1])
nd.correlate1d(v, [s, 2 * s, 1.0]); nd.correlate(A, [[1.0, 2.0], [s, 4.0]]); nd.correlate1d([s, t, 2.0], w); nd.correlate(v, v)
nd.convolve(w, v); nd.correlate(w[:2], v, mode="wrap"); nd.correlate(w[:2], v, mode="mirror"); nd.correlate(o, v, mode="mirror"); nd.convolve(o, v, mode="nearest")
nd.correlate(w[:2], np.concatenate([v, u]), mode="reflect"); nd.convolve1d(w[:2], np.concatenate([v, u]), mode="wrap"); nd.correlate(e, w) * s; nd.correlate1d(E, w, mode="wrap")
nd.correlate(A, B, output=float); nd.correlate1d(v, w, output=v.dtype); nd.correlate(L, B); nd.correlate(A, L, mode="wrap")
nd.gaussian_filter1d(v, 1.1); nd.gaussian_filter1d(v, s); nd.gaussian_filter1d(A, 0.9, axis=0, order=1); nd.gaussian_filter1d(v, t, order=3, mode="wrap")
nd.gaussian_filter1d(v, 1.1, order=2, mode="constant", cval=2.0); nd.gaussian_filter1d(v, 3.0, truncate=2.0); nd.gaussian_filter1d(v, s, radius=2)
nd.gaussian_filter(A, 0.8); nd.gaussian_filter(A, s); nd.gaussian_filter(A, (0.8, 1.2), order=(1, 0), mode=("wrap", "nearest")); nd.gaussian_filter(A, [s, t], order=1)
nd.gaussian_filter(A, [0.8, 0.0], order=3); nd.gaussian_filter(A, 0); nd.gaussian_filter(A, np.array([0.5, 1.0]), truncate=2.0); nd.gaussian_filter(Z, 1.0)
nd.gaussian_filter(T, 1.0, axes=(1, 2), radius=2); nd.gaussian_filter(T, 1.0, axes=1, mode="constant", cval=-1.0); nd.gaussian_filter(A, 5.0, mode="mirror")
nd.uniform_filter1d(v, 3); nd.uniform_filter1d(A, 4, axis=0, mode="constant", cval=0.3, origin=1); nd.uniform_filter1d(w, 8, mode="wrap"); nd.uniform_filter1d(z, 2)
nd.uniform_filter(A, 3); nd.uniform_filter(A); nd.uniform_filter(A, size=(1, 2), mode=("wrap", "mirror"), origin=(0, -1)); nd.uniform_filter(T, 2, axes=(0, 2))
nd.sobel(A); nd.sobel(T, axis=1, mode="wrap"); nd.prewitt(A, 0, mode="constant", cval=2.0); nd.sobel(v); nd.laplace(A); nd.laplace(T, mode=("wrap", "nearest", "mirror")); nd.laplace(T, axes=(0, 2))
nd.gaussian_laplace(A, 1.0); nd.gaussian_laplace(A, (s, 0.7), mode="wrap"); nd.gaussian_gradient_magnitude(A, 1.0); nd.gaussian_gradient_magnitude(T, t, mode="nearest", truncate=3.0)
"""

FAMILIES["scipy.optimize"] = """
so.rosen(v); so.rosen(A); so.rosen(v[:2]); so.rosen(o); so.rosen([s, t, s * t]); so.rosen_der(v); so.rosen_der(v[:2]); so.rosen_der(A)
so.rosen_hess(v); so.rosen_hess(v[:2]); so.rosen_hess_prod(v, u); so.rosen_hess_prod(x=w, p=v[:3])
"""

FAMILIES["scipy.integrate"] = """
si.quad(lambda x, a: x**2 * a, 0, 1, args=(s))[0]; si.quad(lambda x, a: np.exp(-a * x), 0, t, args=s)[0]; si.quad(lambda x, a, b: a * x + b, 0, 1, (s, t))[0]
si.simpson(v); si.simpson(v[:4]); si.simpson(A, axis=0); si.simpson(A, dx=s); si.simpson(v, x=np.cumsum(p)); si.simpson(v[:4], x=np.cumsum(p[:4])); si.simpson(A, x=np.cumsum(P, axis=-1))
si.simpson(A[:, :2], x=w, axis=0); si.simpson(A, x=np.cumsum(P, 0), axis=0); si.simpson(v[:2], x=p[:2]); si.simpson(Z); si.simpson(T, x=w, axis=1); si.simpson(v, x=[0.0, 1, 1, 2, 3]); si.simpson(o)
si.simpson([s, t, s * t]); si.romb(v); si.romb(A.T[:3], axis=0); si.romb(A[:, :3], s); si.romb(Z[:, :3], dx=0.5)
si.fixed_quad(lambda x, a: np.exp(a * x), 0, t, args=(s,), n=4)[0]; si.fixed_quad(lambda x: v[:, None] * x**2, s, 2.0)[0]; si.fixed_quad(np.sin, 0.0, s)[0]
si.dblquad(lambda y, x: s * y * x * x, 0.0, t, lambda x: 0.0, np.exp)[0]; si.dblquad(lambda y, x: np.exp(s * x - y), 0, 1, lambda x: 0.0, lambda x: t * x)[0]; si.dblquad(lambda y, x, a: a * y + x, 0, 1, lambda x: x * 0, lambda x: s, (t,))[0]
"""

FAMILIES["windows"] = """
np.lib.stride_tricks.as_strided(v, (3, 3), v.strides * 2); np.lib.stride_tricks.as_strided(v, (2, 3), (v.strides[0] * 2, v.strides[0]))
np.lib.stride_tricks.as_strided(v, shape=(len(v) - 1, 2), strides=v.strides * 2); np.lib.stride_tricks.as_strided(v[::-1], (4,), (-v.itemsize,))
np.lib.stride_tricks.as_strided(v[::-2], (2, 2), (-v.itemsize * 2,) * 2); np.lib.stride_tricks.as_strided(z, (3, 2), (z.itemsize, z.itemsize * 2))
np.lib.stride_tricks.as_strided(A[:, 1], (3, 2), (A.strides[0], 0)); np.lib.stride_tricks.as_strided(v); np.lib.stride_tricks.as_strided(v, (3,))
np.lib.stride_tricks.as_strided(np.ascontiguousarray(A.T), (2, 5), (A.itemsize, A.itemsize * 2))
np.lib.stride_tricks.as_strided(A.ravel(), (2, 3, 2), (A.itemsize * 4, A.itemsize, A.itemsize * 2), writeable=False)
np.lib.stride_tricks.as_strided((A.T * 2).ravel(), (4, 3), (A.itemsize, A.itemsize * 3)); np.lib.stride_tricks.as_strided(np.pad(v, 1), (5, 3), (v.itemsize,) * 2) @ w
np.lib.stride_tricks.sliding_window_view(T, (2, 2), axis=(0, 2)); np.lib.stride_tricks.sliding_window_view(A, 2, axis=-1) @ B[:2]; np.lib.stride_tricks.sliding_window_view(z, 3)
"""

FAMILIES["searches"] = """
knots[np.searchsorted(knots, s)] * s; sum([knots[bisect.bisect(knots, a)] * a for a in r]); v[bisect.bisect_left([0.0, 0.4, 1.0], s)] * t
bisect.bisect_right(sorted(v), s) * t; bisect.bisect([0.0, 0.4, 1.0], t, 0, 2) * t; bisect.bisect([3, 2, 1], -s, key=lambda k: -k) * s
sum(A.tolist()[1]); [2 * row[0] for row in A.tolist()]; np.sum(v).tolist() * s; np.array(z.tolist()); T.tolist()[1][2][0] * s
"""

FAMILIES["scipy.stats"] = """
st.norm.pdf(A); st.norm.pdf(A, C, P); st.norm.logpdf(s, loc=t, scale=1.5); st.norm.cdf(A, scale=P); st.norm.logcdf(A)
st.norm.sf(A); st.norm.logsf(A, s); st.norm.ppf(r, s, t); st.gamma.pdf(P, 2.5); st.gamma.logpdf(P, Q, 0.1, 1.5)
st.gamma.pdf(v, 2.0, scale=s); st.gamma.cdf(P, 2.0); st.gamma.logcdf(P, 2.0, scale=Q); st.chi2.pdf(P, Q); st.chi2.logpdf(P, 3)
st.chi2.cdf(P, 3); st.chi2.logcdf(P, 3, 0, s); st.expon.pdf(P, 0, Q); st.expon.pdf(A); st.expon.logpdf(P, scale=s)
st.expon.cdf(A); st.expon.cdf(P, 0.1, Q); st.expon.logcdf(P); st.lognorm.pdf(P, s); st.lognorm.logpdf(P, s, 0.1, Q)
st.lognorm.cdf(P, t); st.lognorm.logcdf(P, t, scale=Q); st.beta.pdf(r, s, t); st.beta.logpdf(r, 2.0, p, 0, 1.2)
st.beta.cdf(r, 2.0, 3.0); st.beta.logcdf(r, 2.0, 3.0); st.t.pdf(A, P); st.t.logpdf(A, 3.0, s, P); st.t.cdf(A, 3.0)
st.t.logcdf(A, 3.0, s, t); st.t.cdf(s, 4, loc=t); st.uniform.pdf(r, -0.1, s); st.uniform.logpdf(r, -0.1, s)
st.uniform.cdf(r, -0.1, s); st.uniform.logcdf(r, -0.1, s); st.uniform.cdf(v); st.poisson.logpmf(ints, s); st.poisson.pmf(ints, s)
st.poisson.logpmf(dup, p); st.poisson.cdf(dup, p); st.poisson.pmf(3, s)
st.dirichlet.logpdf(np.array([0.2, 0.3, 0.5]), w * w + 0.5); st.dirichlet.pdf(np.array([0.2, 0.3]), w * w + 0.5)
st.multivariate_normal.logpdf(w); st.multivariate_normal.logpdf(w, w * w); st.multivariate_normal.logpdf(w, w * w, S)
st.multivariate_normal.pdf(X, w, S); st.multivariate_normal.logpdf(X, cov=S)
st.multivariate_normal.logpdf(w, np.zeros(3), w * w + 1); st.multivariate_normal.logpdf(s, t, 2.0)
st.multivariate_normal.logpdf(v); st.multivariate_normal.logpdf(T[:, :, :3], w, S)
st.skew(v); st.skew(A); st.skew(A, axis=1, bias=False, keepdims=True); st.skew(A, axis=None); st.skew(T, axis=(0, 2)); st.kurtosis(v); st.kurtosis(A, 1, False); st.kurtosis(v, bias=False)
st.kurtosis(A, bias=False); st.moment(v, 3); st.moment(A, 2, axis=1); st.moment(A, [2, 3]); st.moment(v, 3, center=s); st.moment(v, 1); st.variation(p); st.variation(P, axis=1, ddof=1, keepdims=True)
st.sem(v); st.sem(A, axis=1); st.sem(A, axis=None, ddof=0); st.zmap(v, u); st.zmap(A, C, axis=1, ddof=1); st.zscore(v); st.zscore(A, axis=1); st.zscore(A, axis=None); st.gzscore(p)
st.median_abs_deviation(p); st.median_abs_deviation(P[:, :3], axis=1, scale=0.5); st.median_abs_deviation(p, scale="normal", keepdims=True); st.skew(ints * s); st.gmean(p); st.gmean(P, axis=1)
st.gmean(P, weights=Q); st.gmean(P, axis=None); st.hmean(p); st.hmean(P, axis=1, keepdims=True); st.hmean(P, weights=Q, axis=0); st.gstd(p); st.gstd(P, axis=1); st.entropy(p); st.entropy(p, q)
st.entropy(P, axis=1, base=2); st.entropy(P, Q, base=s + 1); st.pearsonr(v, u)[0]; st.pearsonr(v, u).statistic; st.pearsonr(v, u).pvalue; st.pearsonr(v[:2], u[:2])[1] + s; st.linregress(v, u).slope
st.linregress(v, u)[1]; st.linregress(v, u).pvalue; st.linregress(v, u).stderr; st.linregress(v, u).rvalue; st.pearsonr(v[:3], u[:3])[1]; st.linregress(v[:3], u[:3])[3]
"""

FAMILIES["scipy.signal"] = """
sg.convolve(v, w); sg.convolve(v, w, mode="same"); sg.convolve(v, w, mode="valid"); sg.convolve(w, v, "valid")
sg.convolve(w, v, "same"); sg.convolve(A, np.ones((2, 2))); sg.convolve(A, M[:2, :2], mode="same")
sg.convolve(A, M[:2, :2], "valid"); sg.convolve(v, u, method="direct"); sg.convolve(v, w, method="fft"); sg.convolve(z, y)
sg.fftconvolve(v, w); sg.fftconvolve(A, M[:2], "same"); sg.oaconvolve(v, w, "valid"); sg.correlate(v, w)
sg.correlate(v, w, "same"); sg.correlate(v, w, "valid"); sg.correlate(w, v, "valid"); sg.correlate(A, M[:2, :2], "same")
sg.correlate(z, y); sg.correlate(w, v, "same"); sg.correlate(v[:4], w, "same"); sg.convolve(T, T[:, :2, :1], "valid")
sg.lfilter(w, [1.0, 0.3, -0.2], v); sg.lfilter([1.0], np.array([2.0, 0.3]), v); sg.lfilter(w, p[:3], X, axis=0)
sg.lfilter(w, p[:2], A); sg.lfilter(w, 1.0, v); sg.lfilter(w, [1.0], v); sg.lfilter([0.5, 0.5], [1.0], z)
sg.lfilter(w, p[:3], v, zi=p[1:3])[0]; sg.lfilter(w, p[:2], X, 0, zi=X[:2])[1]; sg.lfilter(w, p[:4], v[:2], zi=p[:3])[1]
sg.convolve2d(A, B); sg.convolve2d(A, M[:2], "same"); sg.convolve2d(X, M, mode="valid", boundary="fill"); sg.convolve2d(B, A, "same"); sg.convolve2d(Z, Y, "full", "fill"); sg.convolve2d(M, X, "valid")
sg.correlate2d(A, B); sg.correlate2d(A, M[:2], "same"); sg.correlate2d(X, M[:2], mode="valid"); sg.correlate2d(M[:2], X, mode="valid"); sg.correlate2d(Z, Y, "same"); sg.correlate2d(A, B[:, :1], "same", boundary="fill")
sg.hilbert(v); sg.hilbert(A); sg.hilbert(A, axis=0); sg.hilbert(v, 4); sg.hilbert(v, N=8); sg.detrend(v); sg.detrend(A, axis=0); sg.detrend(A, 0, "constant"); sg.detrend(T, axis=1, type="c"); sg.detrend(z); sg.detrend(v, bp=2); sg.detrend(A, bp=[1, 3])
sg.savgol_filter(v, 3, 1); sg.savgol_filter(v, 5, 2, deriv=1, delta=0.5); sg.savgol_filter(A, 3, 2, axis=0); sg.savgol_filter(T, 4, 1); sg.savgol_filter(v, 3, 1, mode="mirror"); sg.savgol_filter(A, 3, 1, 1, 0.3, 0, "wrap")
sg.savgol_filter(v, 3, 2, mode="constant", cval=0.7); sg.savgol_filter(v, 5, 3, mode="nearest"); sg.savgol_filter(v, 1, 0); sg.savgol_filter(v, 4, 1, mode="wrap")
sg.lfilter_zi(w, p[:3]); sg.lfilter_zi(w, [1.0, 0.3]); sg.lfilter_zi(w[:2], p[:4]); sg.filtfilt(w, [1.0, 0.3, -0.2], v, padlen=3); sg.filtfilt(w, p[:2] + [2.0, 0.0], X, axis=0, padlen=2); sg.filtfilt(w, [1.0], v, padtype=None)
sg.filtfilt(w[:2], 1.0, np.concatenate([v, u]), padtype="even"); sg.filtfilt(w[:2], [2.0, s], np.concatenate([v, u]), padtype="constant"); sg.filtfilt([s, t], [1.0, 0.2], np.concatenate([v, u])); sg.correlate2d(M, A, "same"); sg.correlate2d(A, C, "same")
sg.sosfilt([[1.0, s, t, 1.0, 0.2, 0.1]], v); sg.sosfilt(np.array([[1.0, s, t, 1.0, 0.2, 0.1], [0.5, 0.2, 0.0, 1.0, 0.3, s / 9]]), A, axis=0); sg.sosfilt([[1.0, s, t, 1.0, 0.2, 0.1]], v, zi=w[None, :2])[0]
sg.sosfilt([[1.0, s, t, 1.0, t, 0.1], [1.0, 0.2, 0.0, 1.0, 0.3, 0.2]], A, zi=T[:2, :, :2])[1]
"""

FAMILIES["scipy.fft"] = """
sf.fft(v); sf.ifft(z, 7); sf.rfft(v, norm="ortho"); sf.irfft(z, n=6); sf.hfft(z); sf.ihfft(v); sf.fft2(A)
sf.ifft2(Z, axes=(0, 1)); sf.rfft2(A); sf.irfft2(Z); sf.fftn(T); sf.ifftn(J, s=(2, 2), axes=(0, 1)); sf.rfftn(T, axes=(1, 2))
sf.irfftn(J); sf.fftshift(v); sf.ifftshift(A, axes=0); sf.fft(A, 3, 0, "forward"); sf.dct(v); sf.dct(A, 1)
sf.dct(v, type=2, norm="ortho"); sf.dct(v, 3); sf.dct(v, 3, norm="ortho"); sf.dct(v, 4); sf.dct(v, 4, norm="ortho")
sf.dct(v, 1, norm="ortho"); sf.dct(A, axis=0); sf.dct(v, n=3); sf.dct(v, n=8); sf.dct(v, 2, norm="forward"); sf.idct(v)
sf.idct(v, 1); sf.idct(A, 3, axis=0); sf.idct(v, 4); sf.idct(v, norm="ortho"); sf.idct(v, 3, norm="ortho")
sf.idct(v, 1, norm="ortho"); sf.idct(v, norm="forward"); sf.dst(v); sf.dst(v, 1); sf.dst(v, 3); sf.dst(v, 4)
sf.dst(v, norm="ortho"); sf.dst(v, 1, norm="ortho"); sf.dst(v, 3, norm="ortho"); sf.idst(v); sf.idst(v, 3)
sf.idst(v, norm="ortho"); sf.dctn(A); sf.idctn(A, norm="ortho"); sf.dctn(A, axes=(0,)); sf.dctn(A, s=(5, 2)); sf.idctn(A, s=(2,), axes=(1,)); sf.dctn(A, s=(3,)); sf.idst(v, 1)
"""

FAMILIES["scipy.interpolate"] = """
interpolate.CubicSpline(knots, knots**2)(r); interpolate.CubicSpline(knots, knots**3)(A, 1)
interpolate.CubicSpline(knots, np.sin(knots), bc_type="natural")(s); interpolate.PchipInterpolator(knots, np.sin(knots))(r)
interpolate.CubicSpline(knots, np.sin(knots))(r, nu=1) ** 2; interpolate.Akima1DInterpolator(knots, np.sin(knots))(r)
interpolate.interp1d(knots, np.sin(knots))(r); interpolate.interp1d(knots, v)(r); interpolate.interp1d(knots, v)(s); interpolate.interp1d(knots, v, kind="cubic")(r); interpolate.interp1d(knots, v, kind="quadratic")(s)
interpolate.interp1d(knots, X, axis=0)(r); interpolate.interp1d(knots, X.T)(r); interpolate.interp1d(knots, X, "cubic", 0)(P); interpolate.interp1d(knots, v, fill_value="extrapolate")(A * 3)
interpolate.interp1d(knots, v, bounds_error=False, fill_value=(s, t))(4 * A); interpolate.interp1d(knots, v, bounds_error=False, fill_value=(v[0], v[-1]))(4 * A)
interpolate.interp1d(knots, v, bounds_error=False, fill_value=0.5)(4 * A); interpolate.interp1d(knots[::-1], v)(r); interpolate.interp1d(knots + v * 0.1, u, fill_value="extrapolate")(r)
interpolate.interp1d(knots, v, "cubic", fill_value="extrapolate")(3 * A); interpolate.interp1d(knots, X, axis=0, bounds_error=False, fill_value=0.0)(3 * A); interpolate.PchipInterpolator(knots, v)(r)
interpolate.PchipInterpolator(knots, np.cumsum(p))(3 * r); interpolate.PchipInterpolator(knots, v)(r, 1); interpolate.PchipInterpolator(knots, X)(r); interpolate.PchipInterpolator(knots, X.T, axis=1)(A, extrapolate=True)
interpolate.PchipInterpolator(np.cumsum(p), v)(1 + r); interpolate.PchipInterpolator(knots[:2], v[:2])(r); interpolate.CubicHermiteSpline(knots, v, u)(r); interpolate.CubicHermiteSpline(knots, v, u)(A * 3)
interpolate.CubicHermiteSpline(np.cumsum(p), X, 2 * X, 0)(A * 3, 2); interpolate.RegularGridInterpolator((knots, knots), X @ X.T)((r, r))
interpolate.RegularGridInterpolator((knots[:3], knots[:4]), A)(np.stack([r, r / 2], -1)); interpolate.RegularGridInterpolator((knots[:3], knots[:4]), A)([s / 2, t])
interpolate.RegularGridInterpolator((knots[:3], knots[:4]), A, bounds_error=False, fill_value=None)((2 * v, u)); interpolate.RegularGridInterpolator((knots[:3], knots[:4]), A, bounds_error=False, fill_value=s)((2 * v, u))
interpolate.RegularGridInterpolator((knots[:3],), A)(r); interpolate.RegularGridInterpolator((knots[:2], knots[:3], knots[:4]), T)((r / 3, r, r))
interpolate.RegularGridInterpolator((w * w + np.array([0.0, 9, 20]), knots[:4]), A, bounds_error=False, fill_value=None)((2 * v, u)); interpolate.RegularGridInterpolator((knots[2::-1], knots[:4]), A)((r, r))
interpolate.interpn((knots, knots), X @ X.T, (r, r)); interpolate.interpn((knots[:3], knots[:4]), A, np.stack([r, r / 2], -1)); interpolate.interpn((knots[:3], knots[:4]), np.arange(12.0).reshape(3, 4), (r, r))
interpolate.RegularGridInterpolator((knots[:3], knots[:4]), np.arange(12.0).reshape(3, 4)**2)((r, r))
"""

FAMILIES["joining"] = """
np.vstack(v); np.vstack(A); np.vstack(T); np.vstack(F); np.hstack(v); np.hstack(A); np.hstack(T); np.hstack(F)
np.column_stack(v); np.column_stack(A); np.column_stack(T); np.vstack((v, u)); np.hstack([A, C])
np.column_stack((v, u, X)); np.column_stack((s, t))
"""

FAMILIES["arithmetic"] = """
A + C; s + A; A - L; A * o; A / P; s / P; A**2; P**A; P**t; P**0.5; A**3; 2**A; A**0; -A; +A; A % P; P // 2
np.add(A, C); np.subtract(A, s); np.multiply(A, C); np.divide(A, P); np.true_divide(s, P); np.power(P, A)
np.float_power(P, t); np.negative(A); np.positive(A); np.reciprocal(P); np.square(A); np.mod(A, P); np.remainder(A, P)
np.fmod(A, P); np.floor_divide(A, P) * A; np.divmod(A, P)[1]; divmod(A, P)[1]; np.square(Z); Z * Z; Z / (Z + 3); Z**2; Z**2.5
c * Z; A * c; Z + A; Z * s; np.reciprocal(Z); z**y; np.power(z, 3); pow(s, t); s**t; s % t; divmod(s, t)[1]
np.add(A, C, where=mask, out=np.zeros((3, 4))); np.multiply(A, C, out=np.zeros((3, 4))); np.add(A, 1, dtype=np.float64)
np.exp(A, where=mask, out=np.ones((3, 4))); np.add(E, E); np.multiply(A, np.float32(2)); abs(A); abs(Z); abs(s)
"""

FAMILIES["elementary"] = """
np.exp(A); np.exp(Z); np.exp2(A); np.exp2(Z); np.expm1(A); np.expm1(Z); np.log(P); np.log(Z); np.log2(P); np.log10(P); np.log2(Z)
np.log10(Z); np.log1p(U); np.log1p(Z); np.sqrt(P); np.sqrt(Z); np.cbrt(P); np.sin(A); np.cos(A); np.tan(U); np.sin(Z); np.cos(Z)
np.tan(Z); np.arcsin(U); np.arccos(U); np.arctan(A); np.arcsin(0.3 * Z); np.arccos(0.3 * Z); np.arctan(0.3 * Z); np.sinh(A)
np.cosh(A); np.tanh(A); np.sinh(Z); np.cosh(Z); np.tanh(Z); np.arcsinh(A); np.arccosh(1 + P); np.arctanh(U); np.arcsinh(0.3 * Z)
np.arccosh(Z); np.frexp(P)[1] * P; np.arctanh(0.3 * Z); np.arctan2(A, P); np.arctan2(P, s); np.hypot(P, Q); np.hypot(A, s); np.logaddexp(A, C)
np.logaddexp(A, s); np.logaddexp2(A, C); np.deg2rad(A); np.rad2deg(A); np.radians(A); np.degrees(A); np.fabs(P); np.absolute(P)
np.absolute(Z); np.abs(Z); np.copysign(P, A); np.heaviside(A, t); np.nan_to_num(A); np.nan_to_num(np.where(np.isnan(zn), zn, v)); np.sinc(A)
np.nan_to_num(np.where(np.isnan(zn), zn, v), nan=2.0); np.i0(A); np.real(Z); np.imag(Z); np.angle(Z); np.angle(Z, deg=True); np.conj(Z); np.conjugate(Z)
np.real(A); np.imag(A); np.sign(A) * A; np.floor(A) * A; np.ceil(A) * A; np.trunc(A) * A; np.rint(A) * A; np.round(A, 1) * A
np.fix(A) * A; np.frexp(P)[0]; np.modf(A)[0]; np.modf(A)[1] * A; np.ldexp(A, 2); np.spacing(A) * A; np.isnan(A) * A
np.exp(s); np.sin(s); np.sqrt(s); np.exp(e); np.tanh(E); Z.real; Z.imag; z.real; z.conj(); Z.conjugate()
np.abs(z) ** 2; np.real(z * np.conj(y)); np.absolute(s); np.arctan2(s, t); np.float64(s)
np.maximum(A, C); np.minimum(A, C); np.fmax(A, C); np.fmin(A, C); np.maximum(A, 0.1); np.minimum(s, A); np.clip(A, -0.5, 0.5)
"""

FAMILIES["math"] = """
math.exp(s); math.log(s); math.log(s, 2); math.log(s, 10.0); math.log2(s); math.log10(s); math.log1p(s); math.expm1(s); math.sqrt(s)
math.sin(s); math.cos(s); math.tan(s); math.asin(t); math.acos(t); math.atan(s); math.atan2(s, t); math.sinh(s); math.cosh(s)
math.tanh(s); math.asinh(s); math.acosh(s); math.atanh(t); math.hypot(s, t); math.hypot(s, t, 2.0); math.pow(s, t); math.fabs(s)
math.copysign(s, t); math.degrees(s); math.radians(s); math.erf(s); math.erfc(s); math.fmod(s, t)
math.fsum([s, t, s]); math.prod([s, t, 2.0]); math.dist([s, t], [1.0, 2.0]); math.cbrt(s); math.exp2(s); math.floor(s) * t
math.modf(s)[0]; math.ldexp(s, 3); math.frexp(s)[0]; math.remainder(s, t); math.isnan(s) * s; math.trunc(s) * s
abs(cmath.exp(c)); cmath.exp(c); cmath.log(c); cmath.sin(c); cmath.cos(c); cmath.tan(c); cmath.sqrt(c); cmath.sinh(c); cmath.cosh(c)
cmath.tanh(c); cmath.phase(c); cmath.log10(c); cmath.asin(c); cmath.acos(c); cmath.atan(c); cmath.asinh(c); cmath.acosh(c); cmath.atanh(c)
cmath.rect(s, t); cmath.polar(c)[0]; cmath.polar(c)[1]; complex(s, t); complex(s); complex(s, t).real; float(s); int(s) * t; round(s, 1) * t
max(s, t); min(s, t); max(s, t, 3.0); sum([s, t]); sum([s, t], 1.0); sorted([s, t])[0]; pow(s, 2); abs(s); abs(c); max([s, t]); round(s) * t
"""

FAMILIES["selection"] = """
np.where(A > 0, A, C); np.where(mask, A, s); np.where(A > 0, np.exp(A), 0); np.where(mask, Z, A); A[np.where(mask)]
np.select([A > 1, A > 0], [A, C]); np.select([A > 1, A > 0], [A**2, C], default=1.5); np.select([mask], [A], s)
np.piecewise(v, [v < 0, v >= 0], [lambda x: -x, lambda x: x**2]); np.piecewise(v, [v < 0], [0, lambda x: x**2]); np.choose(dup, [v, u, p])
np.choose(dup, [v, s, 2.0]); np.choose(np.array([0, 3, 1, -1, 2]), [v, u, p], mode="clip"); np.choose(np.array([0, 3, 1, -1, 2]), [v, u, p], mode="wrap")
np.clip(A, -1, 1); np.clip(A, None, 0.5); np.clip(A, -0.5, None); np.clip(A, -P, P); np.clip(A, a_min=-1, a_max=1); A.clip(-1, 1); A.clip(min=0)
np.maximum(A, C); np.minimum(A, s); np.fmax(A, s); np.fmin(C, A); np.interp(p, knots, u); np.interp(p, np.sort(d), u)
np.interp(v, knots, u, left=1.5); np.interp(v, knots, u, left=s, right=t); np.interp(s, knots, u); np.interp(P, knots, u)
np.take(v, [0, 2, 2]); np.take(A, [0, 2], axis=1); np.take(A, 1, axis=0); np.take(A, [[0, 5], [7, 1]]); np.take(v, [7, -2], mode="wrap")
np.take(A, ints[:2], axis=0, mode="clip"); v.take([1, 1]); A.take([0, 1], axis=1); np.take(Z, [0, 1], axis=1)
np.take_along_axis(A, np.argsort(A, axis=1), axis=1); np.take_along_axis(v, dup, None); np.take_along_axis(A, np.argsort(A, axis=0), 0)
np.compress([True, False, True], A, axis=0); np.compress([1, 0, 1, 0], v); v.compress(yes); np.extract(mask, A); A[np.argsort(A[:, 0])]
v[np.argsort(v)]; np.select([yes, ~yes], [v, 2 * v]); np.heaviside(v, 0.5) * v
"""

FAMILIES["reductions"] = """
np.sum(A); np.sum(A, axis=0); np.sum(T, axis=(0, -1)); np.sum(T, axis=-1, keepdims=True); np.sum(T, axis=None, keepdims=True); np.sum(A, where=mask)
np.sum(A, axis=1, where=mask, keepdims=True); np.sum(A, initial=2.5); np.sum(A, axis=0, initial=s); np.sum(A, dtype=np.float64); np.sum(E); np.sum(E, axis=0); np.sum(s)
np.sum(A, 1); np.sum(Z, axis=0); A.sum(); A.sum(0); T.sum(axis=(1, 2)); np.sum([s, t]); np.sum([v, u], axis=0); np.sum(A, axis=()); np.sum(A, axis=0, out=np.zeros(4))
np.prod(A); np.prod(A, axis=0); np.prod(T, axis=(0, 2)); np.prod(A, axis=1, keepdims=True); np.prod(A, where=mask); np.prod(A, initial=2.0); np.prod(Z, axis=0); v.prod(); np.prod(e)
np.mean(A); np.mean(A, axis=0); np.mean(T, axis=(0, 2), keepdims=True); np.mean(A, where=mask); np.mean(A, axis=1, where=mask); np.mean(A, dtype=np.float64); np.mean(Z, axis=-1); A.mean(1); np.mean([s, t])
np.average(A); np.average(A, axis=0); np.average(T, axis=(2, 1), weights=W.T); np.average(A, axis=(0, 1), returned=True)[0]; np.average(A, weights=P); np.average(A, axis=0, weights=w**2); np.average(A, axis=1, weights=P, keepdims=True); np.average(A, axis=1, weights=P, returned=True)[1]
np.average(v, weights=p)
np.var(A); np.var(A, axis=0); np.var(A, axis=1, ddof=1); np.var(T, axis=(0, 2), keepdims=True); np.var(A, where=mask); np.var(A, axis=0, correction=1); np.var(Z); np.var(Z, axis=0); A.var(0); np.var(A, axis=0, mean=np.mean(A, axis=0, keepdims=True))
np.std(A); np.std(A, axis=0); np.std(A, axis=1, ddof=1); np.std(T, axis=(0, 2), keepdims=True); np.std(A, where=mask); np.std(A, axis=0, correction=1); np.std(Z); A.std(axis=1); np.std(Z, axis=0)
np.max(A); np.max(A, axis=0); np.max(T, axis=(0, 2), keepdims=True); np.max(A, where=mask, initial=-9.0); np.max(A, initial=s); np.amax(A, axis=1); A.max(); np.min(A); np.min(A, axis=-1); np.min(A, where=mask, initial=9.0); np.amin(A, axis=1); A.min(0); np.max([s, t])
np.max(A, initial=0.0); np.max(A[:0], axis=0, initial=s); np.min(v[:0], initial=s); np.min(A, axis=0, initial=0.5, where=mask); np.max(-A, axis=1); np.min(1 - v**2); np.max(-np.abs(v)) ** 2; max(-v); (-v).min()
np.ptp(D); np.ptp(D, axis=0); np.ptp(O, axis=(0, 1)); np.ptp(D, axis=1, keepdims=True)
np.median(D); np.median(D, axis=0); np.median(D, axis=1); np.median(O, axis=(0, 2)); np.median(D, axis=1, keepdims=True); np.median(d)
np.quantile(D, 0.3); np.quantile(D, 0.3, axis=0); np.quantile(D, [0.2, 0.5, 0.75]); np.quantile(D, [0.2, 0.75], axis=1); np.quantile(D, 0.4, axis=0, keepdims=True); np.quantile(D, t); np.quantile(O, 0.3, axis=(0, 1))
np.quantile(D, 0.33, method="nearest"); np.quantile(D, 0.33, method="lower", axis=0); np.quantile(D, 0.33, method="higher"); np.quantile(D, 0.33, method="midpoint"); np.quantile(D, 0.33, method="hazen", axis=1); np.quantile(D, 0.33, method="weibull"); np.quantile(D, 0.33, method="median_unbiased")
np.quantile(d, r[:2])
np.percentile(D, 30); np.percentile(D, 30.0, axis=0); np.percentile(D, [20, 75], axis=1); np.percentile(D, 40, keepdims=True); np.percentile(D, 10 * s); np.percentile(D, 40, method="linear")
np.nansum(np.where(np.isnan(zn), zn, v)); np.nansum(A, axis=0); np.nanmean(np.where(np.isnan(zn), zn, v)); np.nanmean(A, axis=0, keepdims=True); np.nanmax(np.where(np.isnan(zn), zn, v)); np.nanmin(A, axis=1); np.nanprod(np.where(np.isnan(zn), zn, v)); np.nanprod(A, axis=0); np.nanvar(np.where(np.isnan(zn), zn, v)); np.nanvar(A, axis=0, ddof=1); np.nanstd(np.where(np.isnan(zn), zn, v)); np.nanstd(A, axis=1)
np.nanmedian(A, axis=1, keepdims=True); np.nanmedian(T, axis=(1, 0)); np.nanquantile(T, [0.2, 0.7], axis=1); np.nanquantile(T, [0.2, 0.7], axis=(0, 2), keepdims=True); np.nanpercentile(T, [20, 70], axis=-1); np.nanmedian(D); np.nanmedian(np.where(np.isnan(zn), zn, d)); np.nanmedian(D, axis=0); np.nanquantile(np.where(np.isnan(zn), zn, d), 0.3); np.nanquantile(D, 0.3, axis=0); np.nanpercentile(np.where(np.isnan(zn), zn, d), 30); np.nancumsum(np.where(np.isnan(zn), zn, v)); np.nancumsum(A, axis=0); np.nancumprod(np.where(np.isnan(zn), zn, v)); np.nancumprod(A, axis=1)
np.nanmean(A, where=mask); np.nansum(A, where=mask, initial=1.0)
np.cumsum(v); np.cumsum(A); np.cumsum(A, axis=0); np.cumsum(T, axis=-1); np.cumsum(Z, axis=1); np.cumsum(A, axis=1, dtype=np.float64); v.cumsum(); A.cumsum(0); np.cumsum(e); np.cumprod(v); np.cumprod(A, axis=0); np.cumprod(Z, axis=1); A.cumprod(); np.cumulative_sum(A, axis=0); np.cumulative_sum(v, include_initial=True); np.cumulative_prod(A, axis=1); np.cumulative_prod(v, include_initial=True)
np.trace(M); np.trace(A, offset=1); np.trace(T, axis1=0, axis2=2); np.trace(T, 1, 1, 2); M.trace(); np.diff(v); np.diff(A, axis=0); np.diff(A, n=2); np.diff(v, prepend=0.0); np.diff(A, axis=0, append=L); np.diff(v, prepend=u[:2], append=s); np.diff(Z, axis=1); np.diff(A, n=3, axis=-1); np.diff(v[:3], n=4)
np.ediff1d(v); np.ediff1d(A); np.ediff1d(v, to_end=s); np.ediff1d(v, to_begin=0.0, to_end=u[:2])
np.gradient(v); np.gradient(v, 2.0); np.gradient(A)[0]; np.gradient(A, axis=0); np.gradient(A, 0.5, axis=1); np.gradient(v, knots); np.gradient(A, 1.0, 0.5)[1]; np.gradient(v, edge_order=2); np.gradient(A, axis=(0, 1))[1]; np.gradient(A, knots[:4], axis=1); np.gradient(v, p.cumsum()); np.gradient(v, s)
np.trapezoid(v); np.trapezoid(A, dx=0.5); np.trapezoid(A, axis=0); np.trapezoid(v, knots); np.trapezoid(v, np.cumsum(p)); np.trapezoid(A, np.cumsum(p)[:4], axis=1); np.trapezoid(v, dx=s)
np.unwrap(3 * v); np.unwrap(3 * A, axis=0); np.unwrap(3 * v, period=4.0); np.unwrap(3 * v, discont=4.0)
np.bincount(dup, weights=v); np.bincount(dup, v, minlength=7); np.histogram(p, bins=3, weights=v)[0]; np.histogram(p, bins=np.array([0.0, 1.0, 1.5, 3.0]), weights=v)[0]; np.histogram(p, bins=3, range=(0, 2), weights=v, density=True)[0]
np.cov(A); np.cov(A, rowvar=False); np.cov(A, bias=True); np.cov(A, ddof=0); np.cov(v); np.cov(v, u); np.cov(A, C); np.cov(A, aweights=p[:4]); np.cov(A, fweights=[1, 2, 1, 3]); np.cov(Z); np.corrcoef(A); np.corrcoef(v, u); np.corrcoef(A, rowvar=False); np.cov(A, C, rowvar=False)
np.cross(w, M); np.cross(A[:, :2], C[:, :2]); np.cross(w[:2], u[:2]); np.cross(A[:2], C[:2], axis=0); np.cross(A[:, :3], M); np.cross(A[:, :3], M, axis=0); np.cross(M, N, axisa=0, axisb=1); np.cross(M, N, axisa=0, axisb=0, axisc=0); np.cross(M, w); np.linalg.cross(M, N); np.cross(w[:2], u[:3]); np.cross(A[:, :2], C[:, :3]); np.cross(w[:3], A[:, :2]); np.cross(A[:2], C[:3], axis=0)
np.convolve(v, w); np.convolve(v, w, mode="same"); np.convolve(v, w, "valid"); np.convolve(w, v, "same"); np.convolve(z, w); np.correlate(v, w); np.correlate(v, w, mode="full"); np.correlate(v, w, "same"); np.correlate(z, y, "full"); np.correlate(w, v, "full")
np.polyval(w, v); np.polyval(w, s); np.polyval(w, A); np.polyval([s, t, 1.0], v); np.polyval(z, c); np.polyfit(knots, v, 2); np.polyfit(np.cumsum(p), v, 1); np.polyfit(knots, v, 2, w=q); np.vander(v); np.vander(v, 3); np.vander(v, 3, increasing=True); np.polyder(v); np.polyint(v); np.polymul(v, w); np.polyadd(v, w); np.polysub(v, w)
np.polyfit(knots, X, 1)
np.linspace(s, t, 5); np.geomspace(P, Q, 4, axis=-1); np.geomspace(1 + 0.1j * t, -4 + 1j * s, 3); np.linspace(0, s, 7, endpoint=False); np.linspace(v, u, 4); np.linspace(v, u, 4, axis=1); np.linspace(s, t, 1); np.linspace(s, 3, num=4, retstep=True)[1]; np.logspace(s, t, 5); np.logspace(0, s, 4, base=2.0); np.geomspace(s, t, 5); np.geomspace(p, q, 4); np.logspace(v, u, 3, axis=-1)
np.linspace(s, 2.0, endpoint=True, num=3, dtype=np.float64)
np.sort(D); np.sort(z); np.sort(Z, axis=0); np.median(z); np.interp([0.3, 0.9, 7.0], [0.1, 0.5, 1.0, 1.2, 2.0], z); np.interp(p, [0.1, 0.8, 2.5], z[:3]); np.sort(D, axis=0); np.sort(D, axis=None); np.sort(d)[::-1]; np.partition(d, 2); np.partition(D, 1, axis=0); np.partition(D, 2, axis=None); np.partition(D, (1, 2)); np.sort(O, axis=1); np.sort(D, kind="stable"); np.sort(np.real(z))
np.apply_along_axis(np.sum, 0, A); np.apply_along_axis(lambda x: x / np.sum(x * x), 1, A); np.apply_along_axis(lambda x: np.outer(x, x), 1, A); np.apply_over_axes(np.sum, T, [0, 2]); np.median(D, axis=(0, 1))
np.add.reduce(A); np.add.reduce(A, axis=1); np.add.reduce(A, axis=None, keepdims=True); np.multiply.reduce(A, axis=0); np.subtract.reduce(A); np.maximum.reduce(A, axis=1); np.minimum.reduce(A); np.logaddexp.reduce(A, axis=0); np.logaddexp.reduce(v); np.add.reduce([A, C]); np.add.reduce(A, axis=(0, 1)); np.logaddexp.reduce(A, axis=-1, keepdims=True)
np.add.accumulate(v); np.add.accumulate(A, axis=1); np.multiply.accumulate(A); np.maximum.accumulate(d); np.maximum.accumulate(D, axis=1); np.minimum.accumulate(D); np.logaddexp.accumulate(v); np.subtract.accumulate(v); np.logaddexp.accumulate(A, axis=1)
np.add.outer(v, w); np.subtract.outer(v, w); np.multiply.outer(v, w); np.maximum.outer(v, w); np.minimum.outer(A, w); np.logaddexp.outer(v, w); np.divide.outer(v, p); np.power.outer(p, v)
np.add.reduceat(v, [0, 2, 3]); np.add.reduceat(A, [0, 2], axis=1); np.add.reduceat(v, [3, 1, 1]); np.multiply.reduceat(v, [0, 2]); np.maximum.reduceat(d, [0, 2, 3]); np.minimum.reduceat(D, [0, 2], axis=0); np.logaddexp.reduceat(v, [0, 3]); np.subtract.reduceat(v, [0, 2])
np.count_nonzero(A) * A; np.argmax(A) * A; np.all(A) * A; np.any(A > 0) * A; np.digitize(v, knots) * v
"""

FAMILIES["shape"] = """
np.reshape(A, (4, 3)); np.reshape(A, -1); np.reshape(A, (2, -1), order="F"); A.reshape(6, 2); A.reshape((4, 3)); A.reshape(-1, order="F"); np.reshape(s, (1, 1)); np.ravel(A); np.ravel(A, order="F"); A.flatten(); A.flatten("F"); A.ravel("F")
np.transpose(T); np.transpose(T, (2, 0, 1)); T.transpose(1, 0, 2); T.transpose((1, 0, 2)); A.T; T.mT; np.swapaxes(T, 0, 2); T.swapaxes(-1, 0); np.moveaxis(T, 0, -1); np.moveaxis(T, [0, 1], [-1, 0]); np.rollaxis(T, 2); np.rollaxis(T, 0, 3)
np.expand_dims(A, 1); np.expand_dims(A, (0, 3)); A[:, None]; A[None, ..., None]; np.squeeze(G); np.squeeze(G, axis=1); G.squeeze(); G.squeeze(1); np.broadcast_to(v, (3, 5)); np.broadcast_to(s, (2, 2)); np.broadcast_arrays(A, L)[1]; np.broadcast_arrays(v, X.T)[0]
np.atleast_1d(s); np.atleast_2d(v); np.atleast_3d(A); np.atleast_1d(A); np.atleast_2d(s, v)[1]; np.atleast_1d(s, v)[0]; np.permute_dims(T, (1, 2, 0)); np.matrix_transpose(T)
np.concatenate([A, C]); np.concatenate((A, L)); np.concatenate([A, C], axis=1); np.concatenate([A, C], axis=None); np.concatenate([v, [1.0, 2.0]]); np.concatenate([A, C], -1); np.concat([v, u]); np.concatenate([Z, A])
np.stack([A, C]); np.stack([A, C], axis=1); np.stack([A, C], axis=-1); np.stack([s, t]); np.stack(A); np.vstack([v, u]); np.vstack([A, L]); np.vstack(A); np.hstack([v, u]); np.hstack([A, C]); np.hstack([s, v]); np.dstack([A, C]); np.dstack([v, u]); np.column_stack([v, u]); np.column_stack([A, w])
np.block([[A, C], [C, A]]); np.block([v, u]); np.block([[M, np.zeros((3, 1))], [np.ones((1, 4))]]); np.block([[s, t], [1.0, 2.0]]); np.block(A); np.append(v, u); np.append(A, C, axis=0); np.append(A, s); np.append(v, [1.0, 2.0])
np.split(A, 2, axis=1)[0]; np.split(v, [1, 3])[1]; np.array_split(v, 2)[0]; np.array_split(v, 3)[2]; np.array_split(A, 3, axis=1)[1]; np.hsplit(A, 2)[1]; np.vsplit(B, 2)[0]; np.dsplit(T, 2)[0]; np.split(A, 3)[1]; np.unstack(A)[1]; np.unstack(T, axis=1)[2]; np.hsplit(v, [2])[0]
np.tile(v, 2); np.tile(v, (2, 2)); np.tile(A, (2, 1, 1)); np.tile(s, 3); np.tile(T, 2); np.repeat(v, 2); np.repeat(A, 2, axis=1); np.repeat(A, [1, 0, 2], axis=0); np.repeat(A, 3); np.repeat(s, 3); v.repeat(2); A.repeat(2, axis=0); np.repeat(v, dup)
np.roll(v, 2); np.roll(A, 1); np.roll(A, -1, axis=1); np.roll(A, (1, 2), axis=(0, 1)); np.roll(A, 2, axis=(0, 1)); np.roll(A, (1, 1), axis=(1, 1)); np.rot90(A); np.rot90(A, 2); np.rot90(A, -1); np.rot90(T, 1, (1, 2)); np.flip(A); np.flip(A, 0); np.flip(T, (0, 2)); np.fliplr(A); np.flipud(A); np.flip(v)
np.pad(v, 2); np.pad(v, (1, 2)); np.pad(A, ((1, 2), (0, 1))); np.pad(v, 2, constant_values=1.5); np.pad(v, 2, constant_values=s); np.pad(A, 1, mode="constant", constant_values=((1, 2), (3, 4))); np.pad(v, (2, 1), mode="edge"); np.pad(A, 1, mode="edge"); np.pad(v, 2, mode="reflect"); np.pad(A, ((1, 1), (2, 0)), mode="reflect"); np.pad(v, 2, mode="symmetric"); np.pad(v, 6, mode="wrap"); np.pad(v, 2, mode="reflect", reflect_type="odd"); np.pad(v, 3, mode="symmetric", reflect_type="odd")
np.pad(v, 2, mode="linear_ramp"); np.pad(A, ((1, 2), (2, 1)), mode="linear_ramp", end_values=1.5); np.pad(v, 2, mode="linear_ramp", end_values=s); np.pad(v, 2, mode="mean"); np.pad(A, 1, mode="mean"); np.pad(v, 2, mode="mean", stat_length=2); np.pad(d, 2, mode="maximum"); np.pad(D, 1, mode="maximum"); np.pad(d, 2, mode="minimum"); np.pad(D, ((1, 1), (0, 2)), mode="minimum", stat_length=2); np.pad(v, 2, mode="empty")[2:-2]; np.pad(v, 2, mode="median"); np.pad(A, ((1, 2), (0, 1)), mode="median", stat_length=2); np.pad(A, {-2: (1, 0), 1: 2}) if np.lib.NumpyVersion(np.__version__) >= "2.2.0" else np.pad(A, 1); np.pad(v, {0: (1, 2)}) if np.lib.NumpyVersion(np.__version__) >= "2.2.0" else np.pad(v, (1, 2))
np.insert(v, 1, s); np.insert(v, [1, 3], u[:2]); np.insert(A, 1, L, axis=0); np.insert(v, 2, [1.0, 2.0]); np.insert(A, 1, w, axis=1); np.insert(A, 2, s); np.insert(A, [1], A[0], axis=0); np.insert(A, [2], A[:2], axis=0); np.insert(A, [0, 2], s, axis=1); np.delete(v, 1); np.delete(A, 1, axis=0); np.delete(A, [0, 2], axis=1); np.delete(v, slice(1, 3)); np.delete(v, yes); np.resize(v, (2, 4)); np.resize(A, 5); np.resize(v, 3); np.resize(A, (2, 2))
np.diag(v); np.diag(v, 1); np.diag(A); np.diag(A, -1); np.diagflat(v); np.diagflat(A, 1); np.diagonal(A); np.diagonal(T, 0, 1, 2); np.diagonal(A, offset=1); M.diagonal(); np.tril(A); np.tril(T, 1); np.triu(A, -1); np.triu(v); np.tri(3) * M
np.meshgrid(v, w)[0]; np.meshgrid(v, w, indexing="ij")[1]; np.meshgrid(v, w, sparse=True)[0]; np.meshgrid(v, w, u)[2]; M[np.ix_([0, 2], [1, 2])]; A[np.ix_([True, False, True], [0, 2])]; np.ix_(v, w)[1]; np.asfortranarray(A); np.copy(A); A.copy(); A.astype(np.float64); A.astype(float); A.astype(complex); np.astype(A, np.float64); v.astype(np.float32).astype(np.float64)[:0]
np.array([s, t]); np.array([[s, 1.0], [t, 2.0]]); np.array([v, u]); np.array(A); np.array(A, dtype=float); np.array(A, ndmin=3); np.array([s, t], dtype=np.float64); np.asarray(A); np.asarray([s, t]); np.asarray(v, dtype=float); np.asanyarray(A); np.ascontiguousarray(A.T); np.array([[v, u], [p, q]])
np.full((2, 3), s); np.full(4, s, dtype=float); np.full((2, 5), v); np.full_like(A, s); np.full_like(A, L); np.full((3,), fill_value=t); np.full((), s); np.full_like(A, s, dtype=float); np.full_like(v, t, shape=(2, 2))
np.nan_to_num(A, copy=True); np.nanmax(A, initial=0.3); np.nanmin(A, axis=1, initial=0.2, where=A > 0.1)
np.lib.stride_tricks.sliding_window_view(v, 3); np.lib.stride_tricks.sliding_window_view(A, (2, 2)); np.lib.stride_tricks.sliding_window_view(A, 2, axis=1); np.trim_zeros(v)
A[0]; A[1, 2]; A[-1]; A[:, 1]; A[::2]; A[::-1, 1:3]; A[..., 0]; T[0, ..., 1]; T[:, [0, 2]]; T[[0, 1], [1, 2]]; T[[0, 1], :, [1, 2]]; A[mask]; A[mask, ...]; A[np.array([True, False, True])]; A[:, np.array([1, 0, 1, 1], bool)]; v[dup]; A[ints[:2], ints[:2]]; A[ints[:2][:, None], ints]; v[yes]; v[[0, -1]]; A[None, 1]; T[1][0][2]; A[0, [1, 1, 2]]; A[[[0, 1], [2, 0]]]; v[np.newaxis, :]; A[1:1]; T[..., ints[:2], 0]; A.item(3); A.item(0, 1); v.item(2)
np.tril_indices(3)[0] * w[0]; M[np.tril_indices(3)]; M[np.triu_indices(3, 1)]; A[np.nonzero(mask)]; A[np.diag_indices(3)]; A[np.unravel_index([1, 5], (3, 4))]; np.fromiter([s, t], float); np.fromiter((x * 2 for x in v), dtype=float); np.fromiter([x * x for x in v], float, count=2); np.fromiter(v, float, 3); np.fromfunction(lambda i, j: s * i + j, (2, 3)); np.indices((2, 2))[0] * s; np.unique(d); np.real(v) + 0; np.moveaxis(T, 1, 0)[..., 1]; np.union1d(d, [0.05]); np.searchsorted(knots, v) * v
"""

FAMILIES["stores"] = """
store(np.put, v.copy(), [0, 2], u[:2]); store(np.put, A.copy(), [0, 5], s); store(np.put, v.copy(), [7, -9], u[:2], mode="clip"); store(np.put_along_axis, A.copy(), np.array([[0], [2], [1]]), s, 1); store(np.put_along_axis, A.copy(), np.array([[0], [2], [1]]), w[:, None], 1)
store(np.fill_diagonal, M.copy(), s); store(np.fill_diagonal, M.copy(), w); store(np.fill_diagonal, M.copy(), v); store(np.fill_diagonal, M.copy(), w[:2]); np.cov(A[:1]) * s; np.corrcoef(A[:1]) * s; store(np.fill_diagonal, X.copy(), s, wrap=True); store(np.copyto, A.copy(), C); store(np.copyto, A.copy(), L); store(np.copyto, A.copy(), C, where=mask); store(np.copyto, v.copy(), s)
store(np.putmask, A.copy(), mask, C); store(np.place, A.copy(), mask, p); store(np.add.at, v.copy(), dup, u); store(np.add.at, v.copy(), [0, 0, 1], s); store(np.subtract.at, v.copy(), dup, u); store(np.multiply.at, v.copy(), [0, 2], u[:2]); store(np.multiply.at, v.copy(), [0, 0], s); store(np.maximum.at, v.copy(), dup, u); store(np.minimum.at, v.copy(), dup, u); store(np.divide.at, v.copy(), [0, 2], p[:2]); store(np.negative.at, v.copy(), [0, 2]); store(np.logaddexp.at, v.copy(), dup, u); store(np.add.at, A.copy(), (ints[:2], ints[:2]), u[:2])

"""

FAMILIES["linear_algebra"] = """
np.dot(v, u); np.dot(A, B); np.dot(A, v[:4]); np.dot(v[:3], A); np.dot(T, B); np.dot(A, F[..., 0].swapaxes(0, 2).swapaxes(1, 2).repeat(2, 1)[:, :4]); np.dot(s, A); np.dot(s, t); A.dot(B); np.dot(Z, Y); np.vdot(v, u); np.vdot(A, C); np.vdot(z, y); np.inner(v, u); np.inner(A, C); np.inner(T, v[:4]); np.inner(T, A); np.inner(s, A); np.outer(v, w); np.outer(A, w); np.outer(s, w); np.outer(z, w); np.linalg.outer(v, w)
A @ B; v @ u; A @ v[:4]; v[:3] @ A; T @ B; T @ v[:4]; K @ N; K @ K; Z @ Y; np.matmul(A, B); np.matmul(T, F[:, :, 0, :].repeat(2, 2).swapaxes(1, 2)); np.linalg.matmul(A, B); np.vecdot(A, C); np.vecdot(A, v[:4]); np.vecdot(A, C, axis=0); np.vecdot(Z, Z + 1); np.linalg.vecdot(A, C); np.matvec(A, v[:4]) if hasattr(np, "matvec") else A @ v[:4]; np.matvec(K, w) if hasattr(np, "matvec") else K @ w; np.vecmat(w, A) if hasattr(np, "vecmat") else w @ A; np.vecmat(z[:3], Z) if hasattr(np, "vecmat") else np.conj(z[:3]) @ Z
np.tensordot(A, B, 1); np.tensordot(A, C, axes=2); np.tensordot(v, w, axes=0); np.tensordot(T, A, axes=([1, 2], [0, 1])); np.tensordot(T, A, axes=[[2], [1]]); np.tensordot(A, B, axes=(1, 0)); np.tensordot(A, B, axes=(-1, 0)); np.tensordot(T, T, axes=([0, 2], [0, 2])); np.linalg.tensordot(A, B, axes=1); np.tensordot(s, A, axes=0); np.tensordot(Z, Y, 1)
np.einsum("ij,jk->ik", A, B); np.einsum("ij,jk", A, B); np.einsum("ij->ji", A); np.einsum("ij->", A); np.einsum("ii->i", M); np.einsum("ii", M); np.einsum("ii->", M); np.einsum("iij->j", T[:, :2]); np.einsum("i,j->ij", v, w); np.einsum("...ij,jk->...ik", T, B); np.einsum("...i,...i->...", A, C); np.einsum("...ij->...ji", T); np.einsum("ijk,ik->j", T, T[:, 0]); np.einsum("ij,ij->i", A, C); np.einsum("ij,kj,lk->il", A, A, B[:, :1].repeat(3, 1)); np.einsum(A, [0, 1], B, [1, 2], [0, 2]); np.einsum(A, [0, 1], B, [1, 2]); np.einsum("ij,jk->ik", A, B, optimize=True); np.einsum("ij,jk->ik", A, B, optimize="greedy"); np.einsum("ij,jk,k->i", A, B, w[:2], optimize="optimal"); np.einsum("i->", v); np.einsum("ij,k->ik", A, w); np.einsum("ab,ab->ab", A, C); np.einsum("...,...->...", A, s); np.einsum("ij,jk->ik", Z, Y); np.einsum("i...->...", T); np.einsum(T, [Ellipsis, 0, 1], B, [1, 2], [Ellipsis, 0, 2]); np.einsum("iji->j", K[:, :, :2]); np.einsum("ij,j", A, v[:4]); np.einsum("kij,kj->ki", K, E.T[:0].sum() + T[:, :, 0])
np.kron(v, w); np.kron(A, B); np.kron(A, v); np.kron(T, A); np.kron(s, A); np.kron(Z, B)
np.linalg.inv(M); np.linalg.inv(K); np.linalg.inv(H); np.linalg.pinv(X); np.linalg.pinv(X, 1e-9); np.linalg.pinv(X, rcond=1e-9); np.linalg.pinv(X, rtol=1e-9); np.linalg.pinv(X.T); np.linalg.pinv(K); np.linalg.pinv(H); np.linalg.solve(M, w); np.linalg.solve(M, A); np.linalg.solve(K, A); np.linalg.solve(K, T[..., :2]); np.linalg.solve(K, w); np.linalg.solve(H, w); np.linalg.solve(M, Z); np.linalg.lstsq(X, v)[0]; np.linalg.lstsq(X, v, rcond=None)[0]; np.linalg.lstsq(X, F.reshape(-1)[:10].reshape(5, 2), rcond=None)[0]; np.linalg.lstsq(X, v)[1]; np.linalg.lstsq(M, w)[0]; np.linalg.lstsq(X.T, w, rcond=None)[0]
np.linalg.det(M); np.linalg.det(K); np.linalg.det(H); np.linalg.slogdet(M)[1]; np.linalg.slogdet(K)[1]; np.linalg.slogdet(H)[1]; np.linalg.slogdet(M).logabsdet; np.linalg.cholesky(S); np.linalg.cholesky(R); np.linalg.cholesky(S, upper=True); np.linalg.cholesky(H @ H.conj().T)
np.linalg.qr(X)[0]; np.linalg.qr(X)[1]; np.linalg.qr(M).R; np.linalg.qr(X, mode="r"); np.linalg.qr(X.T)[0]; np.linalg.qr(X.T)[1]; np.linalg.qr(K)[0]; np.linalg.qr(H)[1]; np.linalg.qr(M, "complete")[0]; np.linalg.qr(X, "complete")[1]
np.linalg.svd(X, full_matrices=False)[0]; np.linalg.svd(X, full_matrices=False)[1]; np.linalg.svd(X, full_matrices=False)[2]; np.linalg.svd(X, compute_uv=False); np.linalg.svd(K, full_matrices=False)[1]; np.linalg.svd(M)[1]; np.linalg.svd(M)[0]; np.linalg.svd(M, full_matrices=True)[2]; np.linalg.svd(H, compute_uv=False); np.abs(np.linalg.svd(H)[0]); np.linalg.svdvals(X); np.linalg.svdvals(H); np.linalg.svd(X.T, full_matrices=False)[2]
np.linalg.eigh(S)[0]; np.linalg.eigh(S)[1]; np.linalg.eigh(S, "U")[1]; np.linalg.eigh(S, UPLO="U")[0]; np.linalg.eigh(R)[1]; np.linalg.eigh(H + H.conj().T)[0]; np.abs(np.linalg.eigh(H + H.conj().T)[1]); np.linalg.eigvalsh(S); np.linalg.eigvalsh(S, "U"); np.linalg.eigvalsh(H + H.conj().T); np.linalg.eig(M)[0]; np.abs(np.linalg.eig(M)[1]); np.linalg.eigvals(M); np.linalg.eigvals(H); np.abs(np.linalg.eig(H)[1]); np.linalg.eigvals(K); np.linalg.eig(K)[0]; np.linalg.eigvals(K @ K).real
np.linalg.norm(v); np.linalg.norm(A); np.linalg.norm(A, axis=0); np.linalg.norm(v, 1); np.linalg.norm(v, 3); np.linalg.norm(v, np.inf); np.linalg.norm(v, -np.inf); np.linalg.norm(v, 0) * v; np.linalg.norm(p, 0.5); np.linalg.norm(p, -1); np.linalg.norm(A, "fro"); np.linalg.norm(A, "nuc"); np.linalg.norm(A, 1); np.linalg.norm(A, -1); np.linalg.norm(A, np.inf); np.linalg.norm(A, -np.inf); np.linalg.norm(A, 2); np.linalg.norm(A, -2); np.linalg.norm(T, axis=(1, 2)); np.linalg.norm(T, "nuc", axis=(0, 1)); np.linalg.norm(T, 2, axis=(0, 2)); np.linalg.norm(T, 1, axis=(1, 2)); np.linalg.norm(T, -np.inf, axis=(1, 2), keepdims=True); np.linalg.norm(T, "fro", axis=(-2, -1)); np.linalg.norm(A, axis=1, keepdims=True); np.linalg.norm(z); np.linalg.norm(Z); np.linalg.norm(Z, axis=0); np.linalg.norm(z, 3); np.linalg.norm(z, 1); np.linalg.norm(z, np.inf); np.linalg.norm(Z, "nuc"); np.linalg.norm(T); np.linalg.norm(A, 3, axis=0); np.linalg.norm(Z, 2)
np.linalg.vector_norm(v); np.linalg.vector_norm(A, axis=0); np.linalg.vector_norm(A, ord=3); np.linalg.vector_norm(T, axis=(0, 2), keepdims=True); np.linalg.matrix_norm(A); np.linalg.matrix_norm(T); np.linalg.matrix_norm(A, ord=2); np.linalg.matrix_norm(T, ord="nuc"); np.linalg.matrix_norm(A, ord=1, keepdims=True); np.linalg.matrix_norm(K, ord=np.inf)
np.linalg.matrix_power(M, 3); np.linalg.matrix_power(M, 0); np.linalg.matrix_power(M, -2); np.linalg.matrix_power(K, 2); np.linalg.matrix_power(H, 3); np.linalg.matrix_power(M, 1); np.linalg.multi_dot([A, B, B.T]); np.linalg.multi_dot([w, A, B]); np.linalg.multi_dot([A, B, w[:2]]); np.linalg.multi_dot([w, M, w]); np.linalg.multi_dot([A, B])
np.linalg.cond(M); np.linalg.cond(M, 1); np.linalg.cond(X); np.linalg.cond(M, "fro"); np.linalg.cond(M, np.inf); np.linalg.cond(K); np.linalg.cond(M, -2); np.linalg.trace(T); np.linalg.trace(M, offset=1); np.linalg.diagonal(T); np.linalg.diagonal(M, offset=-1); np.linalg.tensorinv(M, ind=1); np.linalg.tensorsolve(M, w); np.linalg.tensorsolve(M, w, axes=(0,)); np.linalg.tensorsolve((np.eye(6) + 0.1 * np.outer(F.ravel()[:6], F.ravel()[6:12])).reshape(2, 6, 3), F.ravel()[:6], axes=(0, 2)); np.linalg.tensorinv((np.eye(6) + 0.1 * np.outer(F.ravel()[:6], F.ravel()[6:12])).reshape(2, 3, 6), ind=2); np.linalg.matrix_rank(M) * s; np.linalg.matrix_transpose(T)
"""

FAMILIES["fourier"] = """
np.fft.fft(v); np.fft.fft(z); np.fft.fft(Z, axis=0); np.fft.fft(z, n=4); np.fft.fft(z, n=8); np.fft.fft(z, norm="ortho"); np.fft.fft(z, 6, norm="forward"); np.fft.ifft(z); np.fft.ifft(Z, n=3, axis=0); np.fft.ifft(v); np.fft.ifft(z, norm="ortho"); np.fft.rfft(v); np.fft.rfft(A); np.fft.rfft(A, axis=0); np.fft.rfft(v, n=4); np.fft.rfft(v, n=8); np.fft.rfft(v, norm="ortho"); np.fft.irfft(z); np.fft.irfft(Z); np.fft.irfft(z, n=7); np.fft.irfft(z, n=6); np.fft.irfft(Z, axis=0); np.fft.irfft(z, norm="forward"); np.fft.irfft(z, n=9); np.fft.irfft(v)
np.fft.hfft(z); np.fft.hfft(z, n=7); np.fft.hfft(Z, axis=0); np.fft.hfft(z, norm="ortho"); np.fft.ihfft(v); np.fft.ihfft(A, axis=0); np.fft.ihfft(v, n=4); np.fft.ihfft(v, norm="forward"); np.fft.fft2(Z); np.fft.fft2(J); np.fft.fft2(Z, s=(2, 6)); np.fft.ifft2(Z, norm="ortho"); np.fft.fftn(J); np.fft.fftn(J, axes=(0, 2)); np.fft.fftn(J, s=(2, 2), axes=(0, 1)); np.fft.ifftn(J); np.fft.rfft2(A); np.fft.rfft2(T, s=(4, 4)); np.fft.irfft2(Z); np.fft.irfft2(Z, s=(3, 5)); np.fft.rfftn(T); np.fft.rfftn(T, axes=(0, 1)); np.fft.irfftn(J); np.fft.irfftn(J, s=(3, 5), axes=(1, 2)); np.fft.fftshift(A); np.fft.fftshift(A, axes=0); np.fft.ifftshift(v); np.fft.ifftshift(A, axes=(0, 1)); np.fft.fftfreq(5) * v; np.fft.rfftfreq(5) * w
np.fft.fft2(Z, axes=(1, 0)); np.fft.fftn(J, axes=(0, 0)) if 0 else np.fft.fftn(J, norm="ortho"); np.fft.fftn(v)
"""


FAMILIES["special"] = """
sp.gamma(P); sp.gammaln(P); sp.loggamma(P); sp.rgamma(P); sp.digamma(P); sp.psi(P); sp.polygamma(2, P); sp.beta(P, Q); sp.betaln(P, s); sp.gammainc(2.5, P); sp.gammaincc(1.5, P); sp.betainc(1.5, 2.5, r); sp.gammasgn(P) * P; sp.multigammaln(s + 3, 3)
sp.erf(A); sp.erfc(A); sp.erfcx(A); sp.wofz(A); sp.wofz(0.5 * Z); sp.wofz(s); sp.dawsn(A); sp.dawsn(Z / 2); sp.erfinv(U); sp.erfcinv(1 + U); sp.ndtr(A); sp.ndtri(r); sp.log_ndtr(A); sp.exp1(P); sp.expi(P); sp.expit(A); sp.log_expit(A); sp.logit(r); sp.xlogy(P, Q); sp.xlog1py(P, Q); sp.entr(P); sp.rel_entr(P, Q); sp.kl_div(P, Q); sp.huber(s, A); sp.pseudo_huber(t, A); sp.pseudo_huber(P, A)
sp.logsumexp(A); sp.logsumexp(A, axis=0); sp.logsumexp(A, axis=1, keepdims=True); sp.logsumexp(A, axis=0, b=P); sp.logsumexp(v, b=np.arange(v.size) % 2); sp.logsumexp(T, axis=(0, 2)); sp.logsumexp([s, t]); sp.softmax(A); sp.softmax(A, axis=1); sp.log_softmax(A, axis=0); sp.log_softmax(v)
sp.log1p(P); sp.expm1(A); sp.exp2(A); sp.exp10(A); sp.cbrt(P); sp.k0(P); sp.k1(P); sp.kn(2, P); sp.j0(P); sp.j1(P); sp.y0(P); sp.y1(P); sp.i0(A); sp.i1(A); sp.jv(2.5, P); sp.jn(2, P); sp.yv(1.5, P); sp.yn(2, P); sp.iv(1.5, P); sp.ive(1.5, P); sp.kv(1.5, P); math.gamma(s); math.lgamma(s); math.log(s + 4, t + 5); np.sum(A)[()]; np.sum(A)[None]
sp.i0e(A); sp.i1e(A); sp.k0e(P); sp.k1e(P); sp.kve(1.5, P); sp.jve(1.5, P); sp.yve(1.5, P); sp.hankel1(1.5, P); sp.hankel2(1.5, P); sp.jvp(1.5, P); sp.jvp(2, P, n=2); sp.ivp(2, P); sp.kvp(2, P); sp.yvp(2, P, 1); sp.h1vp(2, P); sp.h2vp(2, P)
sp.spherical_jn(0, P); sp.spherical_jn(2, P); sp.spherical_yn(2, P); sp.spherical_in(1, P); sp.spherical_kn(0, P); sp.spherical_kn(1, P); sp.struve(1.5, P); sp.modstruve(1.5, P)
sp.hyp2f1(0.3, 0.7, 1.2, r); sp.hyp1f1(0.3, 1.2, A); sp.hyp0f1(1.2, A); sp.hyperu(1.2, 2.3, P); sp.ellipk(A - 2); sp.ellipk(0 * v); sp.ellipe(r); sp.ellipkm1(P); sp.ellipkm1(r); sp.ellipkinc(s, 0.3); sp.ellipeinc(A, 0.3); sp.exprel(A); sp.spence(P)
sp.boxcox(P, t); sp.boxcox(P, t * 0); sp.boxcox1p(P, t); sp.inv_boxcox(P, t); sp.inv_boxcox(P, t * 0); sp.inv_boxcox1p(P, Q); sp.eval_jacobi(2, 0.5, 1.5, U); sp.eval_gegenbauer(3, 0.7, A); sp.eval_legendre(3, A); sp.eval_legendre(0, A)
sp.eval_chebyt(np.arange(4), A); sp.eval_chebyu(2, A); sp.eval_laguerre(3, A); sp.eval_genlaguerre(2, 0.3, A); sp.eval_hermite(3, A); sp.eval_hermite(0, A); sp.eval_hermitenorm(2, A); sp.betaincc(1.5, 2.5, r); sp.gammaincinv(2.0, r)
sp.gammainccinv(2.0, r); sp.betaincinv(1.5, 2.5, r); sp.poch(P, Q); sp.binom(P + 2, Q); sp.comb(5 + P, Q); sp.comb(s, 2 * P); sp.factorial(A); sp.factorial(s); sp.zeta(2.0, Q); sp.zeta(1.5, q=Q); sp.stdtrit(3.0, r)
sp.erfi(A); sp.erfi(Z / 2); sp.expn(2, P); sp.expn(0, P); sp.expn(1, P); sp.expn(ints, P[0])
sp.sici(P); sp.sici(A)[0]; sp.sici(0 * v)[0]; sp.fresnel(A); sp.fresnel(Z / 2)[1]; sp.lambertw(P); sp.lambertw(P).real; np.real(sp.lambertw(s * 0)); sp.lambertw(-r / 4, k=-1).real; sp.lambertw(3 + z, 2)
sp.wrightomega(A); sp.wrightomega(Z); sp.cosm1(A); sp.powm1(P, Q)
"""

FAMILIES["scipy.spatial"] = """
ds.cdist(A, C); ds.cdist(A, C, "sqeuclidean"); ds.cdist(A, C, "cityblock"); ds.cdist(A, C, "cheb"); ds.cdist(A, C, "cosine"); ds.cdist(A, C, "correlation"); ds.cdist(A, C, "minkowski", p=3); ds.cdist(A, C, "minkowski", p=2 + s)
ds.cdist(A, C, "minkowski", p=s, w=p[:4]); ds.cdist(A, C, "minkowski"); ds.cdist(A, C, "euclidean", w=p[:4]); ds.cdist(A, C, "cityblock", w=p[:4]); ds.cdist(A, C, "chebyshev", w=[1.0, 0, 2, 0]); ds.cdist(A, C, "cosine", w=p[:4])
ds.cdist(A, C, "correlation", w=p[:4]); ds.cdist(A, C, "seuclidean"); ds.cdist(A, C, "seuclidean", V=p[:4]); ds.cdist(X, np.eye(3), "mahalanobis"); ds.cdist(A, C, "mahalanobis", VI=np.eye(4)); ds.cdist(A, A); ds.cdist(A, A[:0])
ds.cdist(A, C, lambda a, b: np.sum((a - b) ** 4)); ds.cdist(A, C, ds.cityblock); ds.cdist(A, C, "minkowski", p=np.inf); ds.pdist(A); ds.pdist(A, "sqeuclidean"); ds.pdist(A, "cosine"); ds.pdist(A, "minkowski", p=1.5); ds.pdist(X, "mahalanobis")
ds.pdist(X, "seuclidean"); ds.pdist(A, lambda a, b: np.sum(a * b)); ds.squareform(ds.pdist(A)); ds.squareform(p[:3]); ds.squareform(p[:1]); ds.squareform(S - np.diag(np.diag(S)), checks=False); ds.pdist(A[:1])
ds.euclidean(v, u); ds.euclidean(v, u, w=p); ds.cosine(v, u); ds.cosine(v, u, p); ds.cityblock(v, u); ds.cityblock(v, u, p); ds.sqeuclidean(v, u); ds.sqeuclidean(v, u, p); ds.correlation(v, u); ds.correlation(v, u, p)
ds.minkowski(v, u, 3); ds.minkowski(v, u); ds.minkowski(v, u, s, p); ds.minkowski(v, u, 1); ds.minkowski(v, u, np.inf); ds.chebyshev(v, u); ds.mahalanobis(w, p[:3], S @ S); spatial.distance_matrix(A, C); spatial.distance_matrix(A, C, p=3)
"""

FAMILIES["polynomials"] = """
np.poly1d(v)(r); np.poly1d([1.0, 2.0, s])(t); np.poly1d(v)(A); np.poly1d([1.0, 2.0])(v); np.polynomial.polynomial.polyval(r, v); np.polynomial.polynomial.polyval(A, v); np.polynomial.polynomial.polyval(s, X); np.polynomial.polynomial.polyval(r, X)
np.polynomial.polynomial.polyval(w, X, tensor=False); np.polynomial.polynomial.polyval(z, v); np.polynomial.polynomial.polyval(s, y); np.polynomial.polynomial.polyval([s, t], v); np.polynomial.polynomial.polyval(r, [s, t]); np.polynomial.polynomial.polyval(r, o)
np.polynomial.chebyshev.chebval(r, v); np.polynomial.chebyshev.chebval(A, X); np.polynomial.legendre.legval(r, v); np.polynomial.hermite.hermval(r, v); np.polynomial.hermite_e.hermeval(r, v); np.polynomial.laguerre.lagval(r, v)
np.polynomial.Polynomial(v)(r); np.polynomial.Polynomial([1.0, s, t])(r); np.polynomial.Polynomial(v, domain=[0, 2])(r); np.polynomial.Polynomial(v, [0, 2], [-2, 3.0])(s); np.polynomial.Polynomial([1.0, 2.0])(v); np.polynomial.Chebyshev(v)(r)
np.polynomial.Legendre(v, domain=(0, s))(r); np.polynomial.Laguerre(v)(A); np.polynomial.Hermite(v)(s); np.polynomial.HermiteE(v)(s); np.polynomial.Chebyshev([1.0, 2.0, 3.0])(v); np.polynomial.polynomial.polyvander(v, 3); np.polynomial.chebyshev.chebvander(A, 2)
np.polynomial.legendre.legvander(s, 2)
"""


HELPERS = """
def store(f, x, *rest, **options):
    f(x, *rest, **options)
    return x
"""


def split(line: str) -> list[str]:
    """The expressions of a line, which semicolons part."""
    out, depth, quote, start = [], 0, "", 0
    for k, c in enumerate(line):
        if quote:
            quote = "" if c == quote else quote
        elif c in "\"'":
            quote = c
        elif c in "([{":
            depth += 1
        elif c in ")]}":
            depth -= 1
        elif c == ";" and depth == 0:
            out.append(line[start:k])
            start = k + 1
    return [e.strip() for e in [*out, line[start:]] if e.strip()]


def expressions() -> list[tuple[str, str]]:
    every = [(family, e) for family, text in FAMILIES.items() for line in text.splitlines() for e in split(line)]
    try:
        np.cross([1.0, 2.0], [3.0, 4.0])
    except ValueError:  # newer versions of NumPy take vectors of three entries alone
        every = [(f, e) for f, e in every if "np.cross" not in e or "[:2" not in e and ":2]" not in e]
    return every


def as_program(expression: str) -> tuple[Any, tuple[Any, ...]]:
    """The expression as a function of those of its names that can move, and their values."""
    values = arguments()
    tree = ast.parse(expression)
    bound = {a.arg for n in ast.walk(tree) if isinstance(n, ast.Lambda) for a in n.args.args}
    used = sorted({n.id for n in ast.walk(tree) if isinstance(n, ast.Name)} & set(values) - bound - {"knots", "zn"})
    moving = [n for n in used if np.asarray(values[n]).dtype.kind in "fc"]
    text = f"{HELPERS}\ndef f({', '.join(moving)}):\n    return {expression}\n"
    filename = f"<call of {expression}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    scope: dict[str, Any] = {
        "np": np, **SCIPY, "bisect": bisect, "math": math, "cmath": cmath, "__name__": "__main__",
        **{k: v for k, v in values.items() if k not in moving},
    }  # fmt: skip
    exec(compile(text, filename, "exec"), scope)
    return scope["f"], tuple(values[n] for n in moving)
