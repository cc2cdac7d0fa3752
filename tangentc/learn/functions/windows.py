"""The kernels of convolutions: columns of windows, and products of matrices with them.

The columns of a few images at a time stay in the cache (Chellapilla, Puri and Simard, High performance convolutional
neural networks for document processing, 2006, have those of all at once); where each channel has its own kernel, those
of a few channels do.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from itertools import product
from math import prod

import numpy as np

from tangentc.errors import BadArgument
from tangentc.learn.arrays import module_of

WIDE = 128  # columns of a product that are enough for BLAS
LARGE = 1 << 21  # numbers in the columns of an image that are too many at once
ROOM = 1 << 19  # numbers in the windows of a few channels


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
    """The windows of a few images at a time, or of rows of one, as ``(groups, channels * kernel, images * places)``,
    with their images and places."""
    xp, batch = module_of(x), p.shape[0]
    m, width = blocks(p, wide), prod(p.places)
    depth = p.shape[1] // p.groups * prod(p.kernel)
    if is_pointwise(p) and (m == 1 or width >= WIDE):
        flat = x.reshape(batch, p.groups, depth, width)
        yield from ((slice(n, n + 1), slice(None), flat[n]) for n in range(batch))
        return
    n, view = len(p.kernel), windows_of(padded(x, p), p)
    order = (1, 2, *range(3, 3 + n), 0, *range(3 + n, 3 + 2 * n))
    room, row = None, prod(p.places[1:])
    tall = max(1, LARGE // (p.groups * depth * row)) if m == 1 and xp is np else p.places[0]
    for start, top in product(range(0, batch, m), range(0, p.places[0], tall)):
        part = view[(slice(start, start + m), *[slice(None)] * (2 + n), slice(top, top + tall))].transpose(order)
        if room is None or room.shape != part.shape:
            room = xp.empty(part.shape, x.dtype)
        room[...] = part
        yield slice(start, start + m), slice(top * row, (top + tall) * row), room.reshape(p.groups, depth, -1)


def forward(x, w, p):
    """The convolution of ``x`` with ``w``."""
    xp, dtype = module_of(x), np.result_type(x.dtype, w.dtype)
    if is_depthwise(p):
        return _each(x, w, p)
    y = xp.empty((p.shape[0], p.groups, p.out // p.groups, *p.places), dtype)
    flat, rows = y.reshape(*y.shape[:3], prod(p.places)), w.reshape(p.groups, p.out // p.groups, -1)
    for images, places, cols in columns(x, p, WIDE):
        if images.stop - images.start == 1:
            xp.matmul(rows, cols, out=flat[images.start][..., places])
        else:
            made = (rows @ cols).reshape(*rows.shape[:2], -1, flat.shape[-1])
            flat[images] = made.transpose(2, 0, 1, 3)
    return y.reshape(p.shape[0], p.out, *p.places)


def to_weight(x, y, p):
    """The adjoint of the weight: the sum over images of the adjoint of the result times the windows."""
    xp, dtype = module_of(x), np.result_type(x.dtype, y.dtype)
    if is_depthwise(p):
        return _each_to_weight(x, y, p)
    total = xp.zeros((p.groups, p.out // p.groups, prod(p.weight[1:])), dtype)
    rows = y.reshape(p.shape[0], p.groups, p.out // p.groups, prod(p.places))
    for images, places, cols in columns(x, p, 4 * WIDE):
        part = rows[images][..., places].transpose(1, 2, 0, 3).reshape(p.groups, p.out // p.groups, -1)
        total += part @ cols.transpose(0, 2, 1)
    return total.reshape(p.weight)


def to_input(y, w, p):
    """The adjoint of the argument: with stride 1 a convolution with the kernel turned round, else windows added up."""
    back = tuple(d * (k - 1) - b for d, k, b in zip(p.dilation, p.kernel, p.before))
    if set(p.stride) == {1} and min(back) >= 0 and p.before == p.after:
        turned = _turned(w, p)
        return forward(y, turned, _plan(y.shape, turned.shape, 1, back, p.dilation, p.groups))
    if is_depthwise(p):
        return _each_to_input(y, w, p)
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
    return module_of(w).ascontiguousarray(turned.reshape(p.shape[1], p.out // p.groups, *p.kernel))


@functools.lru_cache(maxsize=4096)
def _lines(p):
    """How `by_channel` lays out a channel: the size of a part, the places up to the last result, and for each entry of
    the kernel its part and where that begins."""
    size = tuple(n + (k - 1) * d // s for n, k, d, s in zip(p.places, p.kernel, p.dilation, p.stride))
    steps = [prod(size[k + 1 :]) for k in range(len(size))]
    taps = []
    for at in product(*map(range, p.kernel)):
        each = [divmod(k * d, s) for k, d, s in zip(at, p.dilation, p.stride)]
        taps.append((tuple(rest for _, rest in each), sum(q * step for (q, _), step in zip(each, steps))))
    return size, sum((n - 1) * step for n, step in zip(p.places, steps)) + 1, taps


def together(p, xp, each):
    """How many images and channels are done at once, if a channel takes so many numbers; on a device all are."""
    most = ROOM // max(1, each) + 1 if xp is np else p.shape[0] * p.groups
    return max(1, min(p.shape[0], most // p.groups)), min(p.groups, most)


def few(p, m, c):
    """So many images and channels at a time."""
    return [(slice(i, i + m), slice(k, k + c)) for i in range(0, p.shape[0], m) for k in range(0, p.groups, c)]


def by_channel(x, p, dtype):
    """Windows of a few channels at a time, ``(images, channels, kernel, places)``, with their images and channels, and
    room for what they give, ``(images, channels, out, places)``.

    A padded channel is one line for each remainder of a place by the stride, in which an entry of the kernel is a
    shift: places go on over the ends of rows, and what begins there is no result.
    """
    xp, (size, reach, taps), n = module_of(x), _lines(p), len(p.kernel)
    m, c = together(p, xp, len(taps) * prod(size))
    full = xp.zeros((m, c, *[q * s for q, s in zip(size, p.stride)]), x.dtype)
    kept = [slice(min(k, f - b)) for k, f, b in zip(p.shape[2:], full.shape[2:], p.before)]
    into = full[(..., *[slice(b, b + k.stop) for b, k in zip(p.before, kept)])]
    parts = full.reshape(m, c, *[k for pair in zip(size, p.stride) for k in pair])
    parts = parts.transpose(0, 1, *range(3, 3 + 2 * n, 2), *range(2, 2 + 2 * n, 2))
    cols = xp.empty((m, c, len(taps), reach), x.dtype)
    rows = xp.zeros((m, c, p.out // p.groups, *size), dtype)
    for where in few(p, m, c):
        part = x[(*where, *kept)]
        some = (slice(part.shape[0]), slice(part.shape[1]))
        into[some] = part
        lines = parts.reshape(m, c, *p.stride, -1)
        for t, (rest, start) in enumerate(taps):
            cols[:, :, t] = lines[(slice(None), slice(None), *rest, slice(start, start + reach))]
        yield where, cols[some], rows[some]


def _each(x, w, p):
    """One kernel, or some, for each channel."""
    y = module_of(x).empty((p.shape[0], p.groups, p.out // p.groups, *p.places), np.result_type(x.dtype, w.dtype))
    weights = w.reshape(*y.shape[1:3], -1)
    for some, cols, rows in by_channel(x, p, y.dtype):
        module_of(x).matmul(weights[some[1]], cols, out=rows.reshape(*rows.shape[:3], -1)[..., : cols.shape[-1]])
        y[some] = rows[(..., *map(slice, p.places))]
    return y.reshape(p.shape[0], p.out, *p.places)


def _each_to_weight(x, y, p):
    total = module_of(x).zeros((p.groups, p.out // p.groups, prod(p.kernel)), np.result_type(x.dtype, y.dtype))
    given = y.reshape(p.shape[0], *total.shape[:2], *p.places)
    for some, cols, rows in by_channel(x, p, y.dtype):
        rows[(..., *map(slice, p.places))] = given[some]
        line = rows.reshape(*rows.shape[:3], -1)[..., : cols.shape[-1]]
        total[some[1]] += (line @ cols.swapaxes(-1, -2)).sum(axis=0)
    return total.reshape(p.weight)


def _each_to_input(y, w, p):
    xp, n, shifts = module_of(y), len(p.kernel), list(p.shifts)
    weights = w.reshape(p.groups, p.out // p.groups, *p.kernel, *[1] * n)
    rows = y.reshape(p.shape[0], p.groups, p.out // p.groups, *p.places)
    full = xp.zeros((*p.shape[:2], *p.padded), np.result_type(y.dtype, w.dtype))
    for some in few(p, *together(p, xp, 4 * prod(p.padded))):
        part, of = full[some], weights[some[1]]
        for (at, where), k in product(shifts, range(rows.shape[2])):
            part[(..., *where)] += rows[some][:, :, k] * of[(slice(None), k, *at)]
    return full if full.shape == p.shape else full[inner(p)]
