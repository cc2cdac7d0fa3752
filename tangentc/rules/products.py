"""Products of vectors and arrays other than the product of matrices, and `math`'s functions of several numbers.

Formulas: Magnus and Neudecker, "Matrix differential calculus" (2019), chapters 2 and 9.
"""

import math

import numpy as np

from tangentc.ops.table import existing
from tangentc.rules.fragment import has_length, inline
from tangentc.rules.registry import adjoint_rule, tangent_rule
from tangentc.runtime import product_of_others


def complex_pairs(rng):
    def n(shape):
        return rng.normal(size=shape) + 1j * rng.normal(size=shape)

    return pairs_of((3, 3), ((2, 3), (3, 2)))(rng) + [((n(3), n(3)), {})]


def pairs_of(*shapes, **options):
    return lambda rng: [((rng.normal(size=a), rng.normal(size=b)), options) for a, b in shapes]


@adjoint_rule(np.vdot, linear="each", samples=complex_pairs)
def vdot(a, b, y, y_bar):  # y is the sum of conj(a[i]) b[i]
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return np.conj(y_bar * b), y_bar * np.conj(a)
    a_bar = np.reshape(np.conj(y_bar * np.ravel(b)), np.shape(a))
    return a_bar, np.reshape(y_bar * np.conj(np.ravel(a)), np.shape(b))


@adjoint_rule(
    *existing("vecdot"), np.linalg.vecdot,
    linear="each", samples=lambda rng: pairs_of(((2, 3), 3), ((2, 3), (2, 3)))(rng) + complex_pairs(rng)[::2],
)  # fmt: skip
def vecdot(a, b, y, y_bar):  # y is the sum of conj(a[..., i]) b[..., i]
    across = np.expand_dims(y_bar, -1)
    return np.conj(across * b), across * np.conj(a)


@inline
def turned(v, axis):
    return np.stack([np.take(v, 1, axis=axis), -np.take(v, 0, axis=axis)], axis=axis)


@inline
def like(v, v_bar, axis):  # the third entry of a vector in a plane is zero, and does not move
    if has_length(v, axis, 2):
        return np.take(v_bar, [0, 1], axis=axis)
    return v_bar


triples = pairs_of((3, 3), ((2, 3), 3), ((2, 3), (4, 1, 3)))


@adjoint_rule(
    np.cross, np.linalg.cross,
    linear="each", samples=lambda rng: triples(rng) + pairs_of(((3, 2), (3, 2)), axis=0)(rng),
)  # fmt: skip
def cross(a, b, y, y_bar, axis=-1):  # the triple product y_bar . (a x b) does not change under rotation
    if np.ndim(y) < max(np.ndim(a), np.ndim(b)):  # a[0] b[1] - a[1] b[0], of vectors in a plane
        along = -1 if axis is None else axis
        across = np.expand_dims(y_bar, along)
        return across * turned(b, along), -across * turned(a, along)
    if axis is None or axis == -1:
        return like(a, np.cross(b, y_bar), -1), like(b, np.cross(y_bar, a), -1)
    return like(a, np.cross(b, y_bar, axis=axis), axis), like(b, np.cross(y_bar, a, axis=axis), axis)


# Y[i k, j l] = A[i, j] B[k, l]
@adjoint_rule(
    np.kron, linear="each", samples=pairs_of((3, 2), ((2, 3), (4, 2)), ((1, 2), (2, 1))),
    covers=lambda ranks, options: ranks[0] == ranks[1] and ranks[0] in (1, 2),
)  # fmt: skip
def kron(A, B, Y, Y_bar):
    if np.ndim(A) == 1:
        blocks = np.reshape(Y_bar, (np.size(A), np.size(B)))
        return blocks @ B, A @ blocks
    blocks = np.reshape(Y_bar, (np.shape(A)[0], np.shape(B)[0], np.shape(A)[1], np.shape(B)[1]))
    return np.einsum("ikjl,kl->ij", blocks, B), np.einsum("ikjl,ij->kl", blocks, A)


# ------------------------------------------------------------------ several numbers
def numbers(rng):
    return [(([1.5, -0.5, 2.0],), {}), (([0.7],), {}), ((rng.normal(size=4),), {})]


@adjoint_rule(math.fsum, samples=numbers)
def fsum(items, y, y_bar):
    return np.full(len(items), y_bar)


@tangent_rule(math.fsum)
def fsum_tangent(items, y, items_dot):
    return math.fsum(items_dot)


@adjoint_rule(math.prod, samples=numbers)
def prod(items, y, y_bar):
    return y_bar * product_of_others(np.asarray(items))


@tangent_rule(math.prod)
def prod_tangent(items, y, items_dot):
    return np.sum(product_of_others(np.asarray(items)) * np.asarray(items_dot))


def points(rng):
    return [(([1.5, -0.5, 2.0], [1.0, 0.5, 3.0]), {}), ((rng.normal(size=2), rng.normal(size=2)), {})]


@inline
def direction(p, q, y):
    return (np.asarray(p) - np.asarray(q)) / y


@adjoint_rule(math.dist, samples=points)
def dist(p, q, y, y_bar):
    return y_bar * direction(p, q, y), -y_bar * direction(p, q, y)


@tangent_rule(math.dist)
def dist_tangent(p, q, y, p_dot, q_dot):
    return np.sum(direction(p, q, y) * (np.asarray(p_dot) - np.asarray(q_dot)))
