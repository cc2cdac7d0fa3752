"""Products of matrices and vectors.

Formulas: Giles, "An extended collection of matrix derivative results for forward and reverse mode
algorithmic differentiation" (2008), section 2.
"""

import operator
import string

import numpy as np

from tangentc.rules.fragment import inline
from tangentc.rules.registry import adjoint_rule


def matrix_pairs(rng):
    n = rng.normal
    shapes = [
        ((3, 4), (4, 2)),
        ((4,), (4,)),
        ((3, 4), (4,)),
        ((4,), (4, 2)),
        ((2, 3, 4), (2, 4, 2)),
        ((2, 3, 4), (4, 2)),
    ]
    return [
        ((n(size=a), n(size=b)), {})
        for a, b in shapes + [((2, 3, 4), (4,)), ((4,), (2, 4, 3)), ((0, 4), (4, 2)), ((1, 3, 4), (2, 4, 2))]
    ]


@inline
def transposed(A):
    if np.ndim(A) == 2:
        return A.T
    return np.swapaxes(A, -1, -2)


# Y = A @ B        A_bar = Y_bar B^T      B_bar = A^T Y_bar
@adjoint_rule(operator.matmul, np.matmul, np.linalg.matmul, linear="each", samples=matrix_pairs)
def matmul(A, B, Y, Y_bar):
    if np.ndim(A) == 1 and np.ndim(B) == 1:
        return Y_bar * B, Y_bar * A
    if np.ndim(B) == 1:
        A_bar = np.outer(Y_bar, B) if np.ndim(A) == 2 else np.expand_dims(Y_bar, -1) * B
        B_bar = transposed(A) @ Y_bar if np.ndim(A) == 2 else (transposed(A) @ np.expand_dims(Y_bar, -1))[..., 0]
        return A_bar, B_bar
    if np.ndim(A) == 1:
        A_bar = B @ Y_bar if np.ndim(B) == 2 else (B @ np.expand_dims(Y_bar, -1))[..., 0]
        B_bar = np.outer(A, Y_bar) if np.ndim(B) == 2 else np.expand_dims(A, -1) * np.expand_dims(Y_bar, -2)
        return A_bar, B_bar
    return Y_bar @ transposed(B), transposed(A) @ Y_bar


def dot_pairs(rng):
    n = rng.normal
    shapes = [((3, 4), (4, 2)), ((4,), (4,)), ((3, 4), (4,)), ((4,), (4, 2)), ((2, 3, 4), (4, 2)), ((3, 4), (2, 4, 3))]
    return [((n(size=a), n(size=b)), {}) for a, b in shapes] + [((1.5, n(size=3)), {})]


# Y[i.., j.., l] = sum_k A[i.., k] B[j.., k, l]
@adjoint_rule(np.dot, linear="each", samples=dot_pairs)
def dot(A, B, Y, Y_bar):
    if np.ndim(A) == 0 or np.ndim(B) == 0 or np.ndim(A) == 1 and np.ndim(B) == 1:
        return Y_bar * B, Y_bar * A
    if np.ndim(A) == 2 and np.ndim(B) == 2:
        return Y_bar @ B.T, A.T @ Y_bar
    if np.ndim(B) == 1:
        A_bar = np.expand_dims(Y_bar, -1) * B
        B_bar = np.tensordot(Y_bar, A, axes=np.ndim(A) - 1)
        return A_bar, B_bar
    A_bar = np.tensordot(Y_bar, np.moveaxis(B, -2, -1), axes=np.ndim(B) - 1)
    B_bar = np.moveaxis(np.tensordot(np.moveaxis(A, -1, 0), Y_bar, axes=np.ndim(A) - 1), 0, -2)
    return A_bar, B_bar


def vector_pairs(rng):
    return [((rng.normal(size=3), rng.normal(size=4)), {}), ((rng.normal(size=(2, 3)), rng.normal(size=4)), {})]


@adjoint_rule(np.outer, linear="each", samples=vector_pairs)
def outer(a, b, Y, Y_bar):
    if np.ndim(a) == 1 and np.ndim(b) == 1:
        return Y_bar @ b, a @ Y_bar
    return np.reshape(Y_bar @ np.ravel(b), np.shape(a)), np.reshape(np.ravel(a) @ Y_bar, np.shape(b))


@adjoint_rule(np.linalg.outer, linear="each", samples=lambda rng: [((rng.normal(size=3), rng.normal(size=4)), {})])
def outer_of_vectors(a, b, Y, Y_bar):
    return Y_bar @ b, a @ Y_bar


def contractions(rng):
    n = rng.normal
    return [
        (("ij,jk->ik", n(size=(2, 3)), n(size=(3, 4))), {}),
        (("bij,bjk->bik", n(size=(2, 2, 3)), n(size=(2, 3, 2))), {}),
        (("ij->j", n(size=(2, 3))), {}),
        (("ij,ij->", n(size=(2, 3)), n(size=(2, 3))), {}),
        (("i,j,k->ijk", n(size=2), n(size=3), n(size=2)), {}),
        (("ij,jk", n(size=(2, 3)), n(size=(3, 4))), {}),
        (("ij,k->ik", n(size=(2, 3)), n(size=4)), {}),
    ]


def explicit(subscripts, ranks):
    """The subscripts with the result written, and letters in place of each ellipsis."""
    text = subscripts.replace(" ", "")
    inputs, arrow, output = text.partition("->")
    terms = inputs.split(",")
    free = [c for c in string.ascii_letters if c not in text]
    counts = [rank - len(t.replace("...", "")) if "..." in t else 0 for t, rank in zip(terms, ranks, strict=True)]
    dots = "".join(free[: max(counts)])
    if not arrow:
        letters = inputs.replace(",", "").replace(".", "")
        output = ("..." if dots else "") + "".join(sorted(c for c in set(letters) if letters.count(c) == 1))
    terms = [t.replace("...", dots[len(dots) - n :]) for t, n in zip(terms, counts, strict=True)]
    return ",".join(terms) + "->" + output.replace("...", dots)


def term(subscripts, k):
    """The indices of an operand, those that it has twice under another name the second time."""
    spare = [c for c in string.ascii_letters if c not in subscripts][::-1]
    own = subscripts.partition("->")[0].split(",")[k]
    return "".join(c if c not in own[:i] else spare[i] for i, c in enumerate(own))


def twins(subscripts, k):
    """The axes of an operand whose index stands further left too, and that index with its other name."""
    own = subscripts.partition("->")[0].split(",")[k]
    return [(i, c + term(subscripts, k)[i]) for i, c in enumerate(own) if c in own[:i]]


def other_operands(subscripts, k):
    return [i for i in range(subscripts.count(",") + 1) if i != k]


def given_terms(subscripts, k):
    inputs, _, output = subscripts.partition("->")
    others = [inputs.split(",")[i] for i in other_operands(subscripts, k)]
    return [output, *others, *(pair for _, pair in twins(subscripts, k))]


def lone_axes(subscripts, k):
    """The axes of an operand that einsum sums over without looking at anything else."""
    known = "".join(given_terms(subscripts, k))
    return tuple(axis for axis, c in enumerate(term(subscripts, k)) if c not in known)


def adjoint_subscripts(subscripts, k):
    given = given_terms(subscripts, k)
    return ",".join(given) + "->" + "".join(c for c in term(subscripts, k) if c in "".join(given))


@inline
def contraction(subscripts, k, Y_bar, operands):
    """The adjoint of an operand: the result's adjoint contracted with the other operands, and with an identity
    for each index that it has twice."""
    given = [operands[i] for i in other_operands(subscripts, k)]
    identities = [np.eye(np.shape(operands[k])[i]) for i, pair in twins(subscripts, k)]
    X_bar = np.einsum(adjoint_subscripts(subscripts, k), Y_bar, *given, *identities)
    if lone_axes(subscripts, k):
        return np.expand_dims(X_bar, lone_axes(subscripts, k))
    return X_bar


@adjoint_rule(np.einsum, linear="each", samples=contractions, covers=lambda ranks, options: isinstance(ranks[0], str))
def einsum(subscripts, *operands, Y, Y_bar, optimize=False):
    full = explicit(subscripts, [np.ndim(x) for x in operands])
    return None, [contraction(full, k, Y_bar, operands) for k, _ in enumerate(operands)]


def tensor_pairs(rng):
    n = rng.normal
    pairs = [((2, 3), (3, 4), 1), ((2, 3), (2, 3), 2), ((2,), (3,), 0), ((2, 3, 4), (3, 4), 2)]
    return [((n(size=a), n(size=b)), {"axes": k}) for a, b, k in pairs]


@adjoint_rule(
    np.tensordot, np.linalg.tensordot,
    linear="each", samples=tensor_pairs, covers=lambda ranks, options: isinstance(options["axes"], int),
)  # fmt: skip
def tensordot(A, B, Y, Y_bar, axes=2):
    kept = np.ndim(A) - axes
    A_bar = np.tensordot(Y_bar, np.transpose(B, cycled(np.ndim(B), axes)), axes=np.ndim(B) - axes)
    B_bar = np.tensordot(np.transpose(A, cycled(np.ndim(A), kept)), Y_bar, axes=kept)
    return A_bar, B_bar


def cycled(rank, shift):
    """The order of axes that puts the first ``shift`` of them last."""
    return tuple((k + shift) % rank for k in range(rank)) if rank else ()
