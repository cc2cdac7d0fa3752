"""The kernels of convolutions: columns of windows and one product of matrices, or shifted products for single channels.

The columns of a few images at a time stay in the cache (Chellapilla, Puri and Simard, High performance convolutional
neural networks for document processing, 2006, have those of all at once).
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from tangentc.errors import BadArgument
from tangentc.learn.arrays import module_of

WIDE = 256  # columns of a product that are enough for BLAS


@dataclass(frozen=True)
class Plan:
    """The numbers of one convolution, each tuple with one for each dimension."""

    shape: tuple[int, ...]  # of x
    kernel: tuple[int, ...]
    out: int
    stride: tuple[int, ...]
    before: tuple[int, ...]  # the padding
    after: tuple[int, ...]
    dilation: tuple[int, ...]
    groups: int
    places: tuple[int, ...]

    @property
    def padded(self) -> tuple[int, ...]:
        return tuple(n + a + b for n, a, b in zip(self.shape[2:], self.before, self.after))

    @property
    def weight(self) -> tuple[int, ...]:
        return (self.out, self.shape[1] // self.groups, *self.kernel)

    @property
    def shifts(self):
        """Each place of the kernel, with the part of a padded array that it meets."""
        for at in product(*map(range, self.kernel)):
            first = [k * d for k, d in zip(at, self.dilation)]
            yield at, tuple(slice(f, f + s * (n - 1) + 1, s) for f, s, n in zip(first, self.stride, self.places))


def each(what, value, n):
    """A setting for each of ``n`` dimensions."""
    values = tuple(value) if isinstance(value, (tuple, list)) else (value,) * n
    if len(values) != n or any(not isinstance(v, (int, np.integer)) or v < 0 for v in values):
        raise BadArgument(
            f"{what}={value!r} does not fit {n} dimensions",
            why="it is a number, or one for each dimension of the kernel", way_out=f"say {what}=1",
        )  # fmt: skip
    return values


def plan(x_shape, w_shape, stride, padding, dilation, groups):
    """What these arguments of a convolution mean; raises `BadArgument` where they do not fit."""
    settings = [tuple(s) if isinstance(s, list) else s for s in (stride, padding, dilation)]
    return _plan(tuple(x_shape), tuple(w_shape), *settings, groups)


@functools.lru_cache(maxsize=4096)
def _plan(x_shape, w_shape, stride, padding, dilation, groups):
    n = len(w_shape) - 2
    if n < 1 or len(x_shape) != n + 2 or x_shape[1] != w_shape[1] * groups or w_shape[0] % groups:
        raise BadArgument(
            f"a convolution with {groups} group{'s' * (groups != 1)} is given x of shape {x_shape} "
            f"and a weight of shape {w_shape}",
            why="x is (batch, channels, *space), the weight (out, channels / groups, *kernel)",
            way_out="move the axes, or give a weight for these channels",
        )
    kernel, stride, dilation = w_shape[2:], each("stride", stride, n), each("dilation", dilation, n)
    if 0 in stride or 0 in dilation:
        raise BadArgument("a stride or a dilation is 0", why="windows would not move", way_out="say 1")
    reach = [d * (k - 1) for d, k in zip(dilation, kernel)]
    if padding == "same":
        if set(stride) != {1}:
            raise BadArgument(
                f'padding="same" is asked for with stride {stride}',
                why="the result has fewer places than x", way_out="give the padding as a number",
            )  # fmt: skip
        before, after = tuple(r // 2 for r in reach), tuple(r - r // 2 for r in reach)
    else:
        before = after = each("padding", 0 if padding == "valid" else padding, n)
    room = [size + b + a - r for size, b, a, r in zip(x_shape[2:], before, after, reach)]
    if min(room) < 1:
        raise BadArgument(
            f"a kernel of shape {kernel} does not fit into {x_shape[2:]}",
            why="with dilation it is larger than x with its padding", way_out="pad more, or take a smaller kernel",
        )  # fmt: skip
    places = tuple((r - 1) // s + 1 for r, s in zip(room, stride))
    return Plan(x_shape, kernel, w_shape[0], stride, before, after, dilation, groups, places)


def padded(x, p, value=0):
    """``x`` with its padding; itself where there is none."""
    if not any(p.before) and not any(p.after):
        return x
    xp = module_of(x)
    out = xp.full((*x.shape[:2], *p.padded), value, x.dtype) if value else xp.zeros((*x.shape[:2], *p.padded), x.dtype)
    out[inner(p)] = x
    return out


def inner(p):
    """Where ``x`` is in what is padded."""
    return (..., *[slice(b, b + n) for b, n in zip(p.before, p.shape[2:])])


def windows_of(x, p):
    """A view of a padded array: ``(batch, groups, channels, *kernel, *places)``."""
    xp, n = module_of(x), len(p.kernel)
    batch, channels, *steps = x.strides
    strides = [d * s for d, s in zip(p.dilation, steps)] + [s * step for s, step in zip(p.stride, steps)]
    shape = (x.shape[0], p.groups, p.shape[1] // p.groups, *p.kernel, *p.places)
    own = channels * (p.shape[1] // p.groups)
    view = xp.lib.stride_tricks.as_strided
    return view(x, shape, (batch, own, channels, *strides[:n], *strides[n:]))


def blocks(p, wide):
    """How many images a product takes at once."""
    return max(1, min(p.shape[0], -(-wide // max(1, prod(p.places)))))


def is_pointwise(p):
    return set(p.kernel) == {1} == set(p.stride) and not any(p.before) and not any(p.after)


def is_depthwise(p):
    return p.groups == p.shape[1] and p.groups > 1


def columns(x, p, wide):
    """The windows of a few images at a time as ``(groups, channels * kernel, images * places)``, with their images."""
    xp, batch = module_of(x), p.shape[0]
    m, width = blocks(p, wide), prod(p.places)
    depth = p.shape[1] // p.groups * prod(p.kernel)
    if is_pointwise(p) and m == 1:
        flat = x.reshape(batch, p.groups, depth, width)
        yield from ((slice(n, n + 1), flat[n]) for n in range(batch))
        return
    n, view = len(p.kernel), windows_of(padded(x, p), p)
    order = (1, 2, *range(3, 3 + n), 0, *range(3 + n, 3 + 2 * n))
    room = None
    for start in range(0, batch, m):
        part = view[start : start + m].transpose(order)
        if room is None or room.shape != part.shape:
            room = xp.empty(part.shape, x.dtype)
        room[...] = part
        yield slice(start, start + m), room.reshape(p.groups, depth, -1)


def forward(x, w, p):
    """The convolution of ``x`` with ``w``."""
    xp, dtype = module_of(x), np.result_type(x.dtype, w.dtype)
    if is_depthwise(p):
        return _shifted(x, w, p)
    y = xp.empty((p.shape[0], p.groups, p.out // p.groups, *p.places), dtype)
    flat, rows = y.reshape(*y.shape[:3], prod(p.places)), w.reshape(p.groups, p.out // p.groups, -1)
    for images, cols in columns(x, p, WIDE):
        if images.stop - images.start == 1:
            xp.matmul(rows, cols, out=flat[images.start])
        else:
            made = (rows @ cols).reshape(*rows.shape[:2], -1, flat.shape[-1])
            flat[images] = made.transpose(2, 0, 1, 3)
    return y.reshape(p.shape[0], p.out, *p.places)


def to_weight(x, y, p):
    """The adjoint of the weight: the sum over images of the adjoint of the result times the windows."""
    xp, dtype = module_of(x), np.result_type(x.dtype, y.dtype)
    if is_depthwise(p):
        return _shifted_to_weight(x, y, p)
    total = xp.zeros((p.groups, p.out // p.groups, prod(p.weight[1:])), dtype)
    rows = y.reshape(p.shape[0], p.groups, p.out // p.groups, prod(p.places))
    for images, cols in columns(x, p, 4 * WIDE):
        part = rows[images].transpose(1, 2, 0, 3).reshape(p.groups, p.out // p.groups, -1)
        total += part @ cols.transpose(0, 2, 1)
    return total.reshape(p.weight)


def to_input(y, w, p):
    """The adjoint of the argument: with stride 1 a convolution with the kernel turned round, else windows added up."""
    if is_depthwise(p):
        return _shifted_to_input(y, w, p)
    back = tuple(d * (k - 1) - b for d, k, b in zip(p.dilation, p.kernel, p.before))
    if set(p.stride) == {1} and min(back) >= 0 and p.before == p.after:
        turned = _turned(w, p)
        return forward(y, turned, _plan(y.shape, turned.shape, 1, back, p.dilation, p.groups))
    xp, dtype = module_of(y), np.result_type(y.dtype, w.dtype)
    full = xp.zeros((*p.shape[:2], *p.padded), dtype)
    rows = w.reshape(p.groups, p.out // p.groups, -1).transpose(0, 2, 1)
    flat = y.reshape(p.shape[0], p.groups, p.out // p.groups, prod(p.places))
    m = blocks(p, WIDE)
    for start in range(0, p.shape[0], m):
        part = flat[start : start + m].transpose(1, 2, 0, 3)
        cols = (rows @ part.reshape(*part.shape[:2], -1)).reshape(p.shape[1], *p.kernel, -1, *p.places)
        into = full[start : start + m].swapaxes(0, 1)
        for at, where in p.shifts:
            into[(slice(None), slice(None), *where)] += cols[(slice(None), *at)]
    return full if full.shape == p.shape else full[inner(p)]


def _turned(w, p):
    """The weight of the convolution that goes back: ``(channels, out / groups, *kernel)``, turned round."""
    n = len(p.kernel)
    grouped = w.reshape(p.groups, p.out // p.groups, p.shape[1] // p.groups, *p.kernel)
    turned = grouped.swapaxes(1, 2)[(..., *[slice(None, None, -1)] * n)]
    return turned.reshape(p.shape[1], p.out // p.groups, *p.kernel)


def _by_channel(w, p):
    """For each channel its own results, and the weight with one entry for each image and place."""
    return w.reshape(p.groups, p.out // p.groups, *p.kernel)[(..., *[None] * len(p.kernel))]


def _shifted(x, w, p):
    """One kernel for each channel: the sum of shifted copies of ``x``, each times a number."""
    xp, full, n = module_of(x), padded(x, p), len(p.kernel)
    weights = w.reshape(p.groups, p.out // p.groups, *p.kernel)
    y = xp.zeros((p.shape[0], p.groups, p.out // p.groups, *p.places), np.result_type(x.dtype, w.dtype))
    for at, where in p.shifts:
        y += full[(slice(None), slice(None), *where)][:, :, None] * weights[(..., *at)][(..., *[None] * n)]
    return y.reshape(p.shape[0], p.out, *p.places)


def _shifted_to_weight(x, y, p):
    xp, full = module_of(x), padded(x, p)
    rows = y.reshape(p.shape[0], p.groups, p.out // p.groups, prod(p.places))
    total = xp.empty((p.groups, p.out // p.groups, *p.kernel), np.result_type(x.dtype, y.dtype))
    for at, where in p.shifts:
        part = full[(slice(None), slice(None), *where)].reshape(p.shape[0], p.groups, prod(p.places))
        total[(..., *at)] = xp.einsum("ngop,ngp->go", rows, part)
    return total.reshape(p.weight)


def _shifted_to_input(y, w, p):
    xp = module_of(y)
    weights = w.reshape(p.groups, p.out // p.groups, *p.kernel)
    rows = y.reshape(p.shape[0], p.groups, p.out // p.groups, *p.places)
    full = xp.zeros((*p.shape[:2], *p.padded), np.result_type(y.dtype, w.dtype))
    for at, where in p.shifts:
        into = full[(slice(None), slice(None), *where)]
        into += xp.einsum("ngo...,go->ng...", rows, weights[(..., *at)])
    return full if full.shape == p.shape else full[inner(p)]
