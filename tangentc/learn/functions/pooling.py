"""Pooling: the largest entry, or the mean, of each window."""

from __future__ import annotations

import math

import numpy as np

from tangentc import adjoint_rule, operation, zero_gradient
from tangentc.errors import BadArgument
from tangentc.learn.arrays import module_of
from tangentc.learn.functions.windows import each, few, inner, padded, plan, together


def max_pool(x, size, stride=None, padding=0, dilation=1):
    """The largest entry of each window; ``x`` is ``(batch, channels, *space)``, ``size`` a number or one a dimension.

    ``stride`` is the size where it is not given; padding is with ``-inf``.  Where several entries are largest, the
    derivative goes to the first of them, as in PyTorch (Dumoulin and Visin, arXiv:1603.07285, section 3).

    >>> max_pool(np.array([[[1.0, 3.0, 2.0, 0.0]]]), 2)
    array([[[3., 2.]]])
    """
    at = places_of_max(x, size, stride, padding, dilation)
    return picked(x, at=at, size=size, stride=stride, padding=padding, dilation=dilation)


def average_pool(x, size, stride=None, padding=0):
    """The mean of each window, zeros of the padding among it; ``x`` is ``(batch, channels, *space)``.

    >>> average_pool(np.array([[[1.0, 3.0, 2.0, 0.0]]]), 2)
    array([[[2., 1.]]])
    """
    return means(x, size=size, stride=stride, padding=padding)


def global_average_pool(x):
    """The mean of each channel, ``(batch, channels)``; ``x`` is ``(batch, channels, *space)`` (arXiv:1312.4400).

    >>> global_average_pool(np.array([[[1.0, 3.0]]]))
    array([[2.]])
    """
    return np.mean(x, axis=tuple(range(2, np.ndim(x))))


def global_max_pool(x):
    """The largest entry of each channel; ``(batch, channels, *space)`` gives ``(batch, channels)``."""
    return np.max(x, axis=tuple(range(2, np.ndim(x))))


def adaptive_average_pool(x, places):
    """Means of windows that give so many places; ``places`` is a number or one for each dimension.

    Window ``i`` of ``m`` begins at ``floor(i * n / m)`` and ends before ``ceil((i + 1) * n / m)``, as in PyTorch.

    >>> adaptive_average_pool(np.array([[[1.0, 2.0, 6.0]]]), 2)
    array([[[1.5, 4. ]]])
    """
    for k in range(2, np.ndim(x)):
        m = places if isinstance(places, int) else places[k - 2]
        x = np.moveaxis(np.moveaxis(x, k, -1) @ weights_of_means(x.shape[k], m, x), -1, k)
    return x


def adaptive_max_pool(x, places):
    """The largest entries of windows that give so many places, see `adaptive_average_pool`.

    >>> adaptive_max_pool(np.array([[[1.0, 2.0, 6.0]]]), 2)
    array([[[2., 6.]]])
    """
    for k in range(2, np.ndim(x)):
        m = places if isinstance(places, int) else places[k - 2]
        n = x.shape[k]
        moved = np.moveaxis(x, k, -1)
        parts = [np.max(moved[..., i * n // m : -(-(i + 1) * n // m)], axis=-1) for i in range(m)]
        x = np.moveaxis(np.stack(parts, axis=-1), -1, k)
    return x


def weights_of_means(n, m, x):
    """The matrix that takes ``n`` entries to the means of ``m`` windows, with the dtype of ``x``."""
    weights = np.zeros((n, m), x.dtype)
    for i in range(m):
        window = slice(i * n // m, -(-(i + 1) * n // m))
        weights[window, i] = 1 / (window.stop - window.start)
    return module_of(x).asarray(weights)


def _windows(shape, size, stride, padding, dilation):
    n = len(shape) - 2
    kernel = each("size", size, n)
    found = plan(shape, (shape[1], 1, *kernel), kernel if stride is None else stride, padding, dilation, shape[1])
    if any(b > k // 2 for b, k in zip(found.before, kernel)):
        raise BadArgument(
            f"padding={padding!r} is more than half of the window {kernel}",
            why="a window would hold nothing but padding", way_out="pad less",
        )  # fmt: skip
    return found


def _met(x, p, value):
    """The parts of a padded array that each place of the window meets, in order."""
    full = padded(x, p, value)
    return [full[(slice(None), slice(None), *where)] for _, where in p.shifts]


def places_of_max(x, size, stride=None, padding=0, dilation=1):
    """Which place of its window each largest entry is at, counted in the order of C."""
    p, xp = _windows(x.shape, size, stride, padding, dilation), module_of(x)
    lowest = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min
    at = xp.zeros((*x.shape[:2], *p.places), np.uint16)
    for some in few(p, *together(p, xp, 4 * math.prod(p.padded))):
        first, *rest = _met(x[some], p, lowest)
        best, found = first.copy(), at[some]
        for k, part in enumerate(rest, start=1):
            part = part.copy()
            larger = (part > best) | (part != part)  # NaN is passed on
            xp.maximum(best, part, out=best)
            xp.maximum(found, larger * at.dtype.type(k), out=found)
    return at


def picked(x, at=None, size=None, stride=None, padding=0, dilation=1):
    """The entries of windows of ``x`` at these places."""
    p = _windows(x.shape, size, stride, padding, dilation)
    first, *rest = _met(x, p, 0)
    y = first.copy()
    for k, part in enumerate(rest, start=1):
        module_of(x).copyto(y, part, where=at == k)
    return y


def put_back(y, at=None, shape=None, size=None, stride=None, padding=0, dilation=1):
    """The adjoint of `picked` by ``x``: each entry at its place of its window, added up where windows overlap."""
    p = _windows(shape, size, stride, padding, dilation)
    full = module_of(y).zeros((*shape[:2], *p.padded), y.dtype)
    for k, (_, where) in enumerate(p.shifts):
        full[(slice(None), slice(None), *where)] += y * (at == k)
    return full if full.shape == tuple(shape) else full[inner(p)]


def means(x, size=None, stride=None, padding=0):
    """The means of windows, see `average_pool`."""
    first, *rest = _met(x, p := _windows(x.shape, size, stride, padding, 1), 0)
    total = first.copy()
    for part in rest:
        total += part
    total *= x.dtype.type(1 / math.prod(p.kernel))
    return total


def spread(y, shape=None, size=None, stride=None, padding=0):
    """The adjoint of `means`: each entry shared by its window."""
    p = _windows(shape, size, stride, padding, 1)
    full = module_of(y).zeros((*shape[:2], *p.padded), y.dtype)
    share = y * y.dtype.type(1 / math.prod(p.kernel))
    for _, where in p.shifts:
        full[(slice(None), slice(None), *where)] += share
    return full if full.shape == tuple(shape) else full[inner(p)]


def _cases(rng):
    cases = [((2, 3, 7), 2, {}), ((1, 2, 5, 6), (3, 2), {"stride": 2, "padding": 1}), ((0, 1, 4), 2, {"stride": 1})]
    return [(rng.normal(size=shape), {"size": size, **options}) for shape, size, options in cases]


def _of_x(rng):
    return [((x,), options) for x, options in _cases(rng)]


@adjoint_rule(
    picked, linear="jointly", samples=lambda rng: [((x,), {"at": places_of_max(x, **o), **o}) for x, o in _cases(rng)]
)
def _picked_rule(x, y, y_bar, at=None, size=None, stride=None, padding=0, dilation=1):
    return put_back(y_bar, at=at, shape=np.shape(x), size=size, stride=stride, padding=padding, dilation=dilation)


@adjoint_rule(
    put_back, linear="jointly",
    samples=lambda rng: [
        ((rng.normal(size=at.shape),), {"at": at, "shape": x.shape, **o})
        for x, o in _cases(rng) for at in [places_of_max(x, **o)]
    ],
)  # fmt: skip
def _put_back_rule(y, x, x_bar, at=None, shape=None, size=None, stride=None, padding=0, dilation=1):
    return picked(x_bar, at=at, size=size, stride=stride, padding=padding, dilation=dilation)


@adjoint_rule(means, linear="jointly", samples=_of_x)
def _means_rule(x, y, y_bar, size=None, stride=None, padding=0):
    return spread(y_bar, shape=np.shape(x), size=size, stride=stride, padding=padding)


@adjoint_rule(
    spread, linear="jointly",
    samples=lambda rng: [((means(x, **o),), {"shape": x.shape, **o}) for x, o in _cases(rng)],
)  # fmt: skip
def _spread_rule(y, x, x_bar, shape=None, size=None, stride=None, padding=0):
    return means(x_bar, size=size, stride=stride, padding=padding)


def _shape(x):
    return (*x[:2], *[None] * (len(x) - 2))


zero_gradient(places_of_max, weights_of_means)
operation(weights_of_means, pure=True, new=True)
operation(places_of_max, pure=True, new=True, shaped=_shape, dtype="uint16")
operation(picked, means, pure=True, new=True, shaped=_shape)
operation(put_back, spread, pure=True, new=True, shaped="shape")
