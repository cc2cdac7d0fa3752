"""Convolutions of any number of dimensions, and their adjoints, which are convolutions too.

Arrays have the channels second, ``(batch, channels, *space)``, and weights are ``(out, in / groups, *kernel)``, as in
PyTorch.  What is called a convolution here is a correlation: the kernel is not turned round (Goodfellow, Bengio and
Courville, Deep Learning, 2016, equation 9.6; Dumoulin and Visin, arXiv:1603.07285, for strides and padding).
"""

from __future__ import annotations

import numpy as np

from tangentc import adjoint_rule, operation
from tangentc.errors import BadArgument
from tangentc.learn.functions.windows import each, forward, plan, to_input, to_weight


def conv(x, weight, bias=None, stride=1, padding=0, dilation=1, groups=1):
    """The convolution of ``x`` with ``weight``, in as many dimensions as the kernel has.

    ``x`` is ``(batch, channels, *space)``, ``weight`` ``(out, channels / groups, *kernel)``, ``bias`` ``(out,)``; the
    result is ``(batch, out, *places)``.  ``stride``, ``padding`` and ``dilation`` are a number or one for each
    dimension; ``padding`` may be "valid" (none) or "same" (as many places as ``x`` has, with stride 1).  Its gradients
    are `conv_input` and `conv_weight`.  Raises `BadArgument` where shapes do not fit.

    >>> conv(np.ones((1, 1, 4)), np.array([[[1.0, 2.0]]]))
    array([[[3., 3., 3.]]])
    """
    y = correlate(x, weight, stride=stride, padding=padding, dilation=dilation, groups=groups)
    return y if bias is None else y + np.reshape(bias, (-1,) + (1,) * (np.ndim(weight) - 2))


def conv_transpose(x, weight, bias=None, stride=1, padding=0, output_padding=0, dilation=1, groups=1):
    """The transposed convolution: what takes the result of `conv` back to the shape of its argument.

    ``x`` is ``(batch, channels, *space)``, ``weight`` ``(channels, out / groups, *kernel)``; each dimension of the
    result has ``(n - 1) * stride - 2 * padding + dilation * (kernel - 1) + output_padding + 1`` places (Dumoulin and
    Visin, section 4).

    >>> conv_transpose(np.ones((1, 1, 2)), np.array([[[1.0, 2.0, 3.0]]]), stride=2)
    array([[[1., 2., 4., 2., 3.]]])
    """
    size = transposed_shape(x, weight, stride, padding, output_padding, dilation, groups)
    y = conv_input(x, weight, size=size, stride=stride, padding=padding, dilation=dilation, groups=groups)
    return y if bias is None else y + np.reshape(bias, (-1,) + (1,) * (np.ndim(weight) - 2))


def correlate(x, w, stride=1, padding=0, dilation=1, groups=1):
    """The convolution of ``x`` with ``w``, without a bias; see `conv`."""
    return forward(x, w, plan(x.shape, w.shape, stride, padding, dilation, groups))


def conv_input(y, w, size=None, stride=1, padding=0, dilation=1, groups=1):
    """The adjoint of `conv` by its argument, of shape ``size``: a convolution with the kernel turned round."""
    return to_input(y, w, plan(size, w.shape, stride, padding, dilation, groups))


def conv_weight(x, y, size=None, stride=1, padding=0, dilation=1, groups=1):
    """The adjoint of `conv` by its weight, of shape ``size``: the convolution of ``x`` with the adjoint ``y``."""
    return to_weight(x, y, plan(x.shape, size, stride, padding, dilation, groups))


def transposed_shape(x, weight, stride, padding, output_padding, dilation, groups):
    """The shape of what `conv_transpose` gives."""
    n = np.ndim(weight) - 2
    if np.ndim(x) != n + 2 or np.shape(x)[1] != np.shape(weight)[0]:
        raise BadArgument(
            f"conv_transpose is given x of shape {np.shape(x)} and a weight of shape {np.shape(weight)}",
            why="x is (batch, channels, *space), the weight (channels, out / groups, *kernel)",
            way_out="move the axes, or give a weight for these channels",
        )
    numbers = zip(
        np.shape(x)[2:], np.shape(weight)[2:], each("stride", stride, n), each("padding", padding, n),
        each("output_padding", output_padding, n), each("dilation", dilation, n),
    )  # fmt: skip
    if any(more >= s for more, s in zip(each("output_padding", output_padding, n), each("stride", stride, n)) if more):
        raise BadArgument(
            f"output_padding={output_padding} with stride {stride}", why="it completes a stride, and is less",
            way_out="pad the result by numpy.pad",
        )  # fmt: skip
    space = [(size - 1) * s - 2 * p + d * (k - 1) + o + 1 for size, k, s, p, o, d in numbers]
    return (np.shape(x)[0], np.shape(weight)[1] * groups, *space)


def _samples(rng):
    """Arguments of `correlate`: odd sizes, strides that leave places over, groups, an empty batch."""
    shapes = [
        ((2, 3, 7), (4, 3, 3), {}),
        ((1, 2, 6, 5), (3, 2, 3, 2), {"stride": 2, "padding": (1, 0)}),
        ((2, 4, 5, 5), (6, 2, 3, 3), {"padding": "same", "groups": 2}),
        ((2, 3, 6, 6), (3, 1, 3, 3), {"padding": 1, "groups": 3}),
        ((0, 2, 5), (3, 2, 2), {"dilation": 2}),
        ((1, 1, 4, 3, 4), (2, 1, 2, 2, 2), {"stride": (1, 1, 2)}),
    ]
    return [((rng.normal(size=x), rng.normal(size=w)), options) for x, w, options in shapes]


def _samples_of_input(rng):
    return [((correlate(x, w, **o), w), {"size": x.shape, **o}) for (x, w), o in _samples(rng)]


def _samples_of_weight(rng):
    return [((x, correlate(x, w, **o)), {"size": w.shape, **o}) for (x, w), o in _samples(rng)]


@adjoint_rule(correlate, linear="each", samples=_samples)
def _correlate_rule(x, w, y, y_bar, stride=1, padding=0, dilation=1, groups=1):
    return (
        conv_input(y_bar, w, size=np.shape(x), stride=stride, padding=padding, dilation=dilation, groups=groups),
        conv_weight(x, y_bar, size=np.shape(w), stride=stride, padding=padding, dilation=dilation, groups=groups),
    )


@adjoint_rule(conv_input, linear="each", samples=_samples_of_input)
def _conv_input_rule(y, w, x, x_bar, size=None, stride=1, padding=0, dilation=1, groups=1):
    return (
        correlate(x_bar, w, stride=stride, padding=padding, dilation=dilation, groups=groups),
        conv_weight(x_bar, y, size=np.shape(w), stride=stride, padding=padding, dilation=dilation, groups=groups),
    )


@adjoint_rule(conv_weight, linear="each", samples=_samples_of_weight)
def _conv_weight_rule(x, y, w, w_bar, size=None, stride=1, padding=0, dilation=1, groups=1):
    return (
        conv_input(y, w_bar, size=np.shape(x), stride=stride, padding=padding, dilation=dilation, groups=groups),
        correlate(x, w_bar, stride=stride, padding=padding, dilation=dilation, groups=groups),
    )


def _shape(x, w):
    return (x[0], w[0], *[None] * (len(w) - 2))


def _shape_of_input(y, w):
    return (y[0], *[None] * (len(w) - 1))


operation(correlate, pure=True, new=True, shaped=_shape)
operation(conv_input, pure=True, new=True, shaped=("size", _shape_of_input))
operation(conv_weight, pure=True, new=True, shaped="size")
