"""For PyTorch: NumPy's names where it has others, and stores into its tensors, which it differentiates."""

import math
from functools import partial

import torch

from ..workload import with_numpy
from ..workloads import WORKLOADS
from . import functional


def _tensor(x):
    return x if isinstance(x, torch.Tensor) else torch.tensor(x)


class Names:
    """NumPy's names for functions of PyTorch; a name that is not here is PyTorch's own."""

    pi = math.pi

    def __getattr__(self, name):
        return getattr(torch, name)

    def max(self, x, axis=None, keepdims=False):
        return torch.max(x) if axis is None else torch.amax(x, axis, keepdims)

    def maximum(self, a, b):
        return torch.maximum(_tensor(a), _tensor(b))

    def logaddexp(self, a, b):
        return torch.logaddexp(_tensor(a), _tensor(b))

    def sqrt(self, x):
        return torch.sqrt(x) if isinstance(x, torch.Tensor) else math.sqrt(x)

    def log(self, x):
        return torch.log(x) if isinstance(x, torch.Tensor) else math.log(x)

    def cumsum(self, x):
        return torch.cumsum(x, 0)

    def cross(self, a, b):
        return torch.linalg.cross(a, b)

    def array(self, rows):
        return torch.stack([torch.stack([_tensor(x) for x in row]) for row in rows])


np = Names()


def assembled(icf, diagonal):
    d = diagonal.shape[1]
    columns, rows = torch.triu_indices(d, d, 1)
    factors = torch.diag_embed(diagonal)
    factors[:, rows, columns] = icf[:, d:]
    return factors


def jacobi_2d(A, B, steps):
    A = A.clone()
    B = B.clone()
    for _ in range(steps):
        B[1:-1, 1:-1] = functional.smoothed(A)
        A[1:-1, 1:-1] = functional.smoothed(B)
    return torch.sum(A * A)


def gauss_seidel(u, f, sweeps):
    u = u.clone()
    n = len(u)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i, 1:-1] = 0.25 * (u[i - 1, 1:-1] + u[i + 1, 1:-1] + u[i, 2:] - f[i, 1:-1])
            for j in range(1, n - 1):
                u[i, j] += 0.25 * u[i, j - 1]
    return torch.sum(u * u)


def horizontal_diffusion(field, coefficient, steps):
    divergence = with_numpy(functional.divergence, np)
    u = field.clone()
    for _ in range(steps):
        u[2:-2, 2:-2] -= coefficient * divergence(u)
    return torch.sum(u * u)


def triangular_solve(L, b):
    """What a product keeps may not be stored into later, hence the clone."""
    x = b.clone()
    for i in range(len(b)):
        x[i] = (x[i] - L[i, :i] @ x[:i].clone()) / L[i, i]
    return torch.sum(x * x)


def cholesky(A, weights):
    """Columns in place; what a product or a root keeps may not be stored into later, hence the clones."""
    L = A.clone()
    for k in range(len(L)):
        row = L[k, :k].clone()
        diagonal = torch.sqrt(L[k, k] - row @ row)
        column = (L[k + 1 :, k] - L[k + 1 :, :k].clone() @ row) / diagonal
        L[k, k] = diagonal
        L[k + 1 :, k] = column
    return torch.sum(weights * L)


def attention_loss(x, Wq, Wk, Wv, Wo, n_heads, target):
    B, T, D = x.shape
    d = D // n_heads
    q, k, v = ((x @ W).reshape(B, T, n_heads, d).permute(0, 2, 1, 3) for W in (Wq, Wk, Wv))
    scores = q @ k.permute(0, 1, 3, 2) / math.sqrt(d)
    scores = torch.where(torch.tril(torch.ones((T, T), dtype=torch.bool)), scores, -1e9)
    out = (torch.softmax(scores, -1) @ v).permute(0, 2, 1, 3).reshape(B, T, D)
    return torch.mean((out @ Wo + x - target) ** 2)


def batchnorm(x, gamma, beta, eps=1e-5):
    return gamma * (x - x.mean(dim=0)) / torch.sqrt(x.var(dim=0, correction=0) + eps) + beta


def _functional(name, **others):
    return partial(with_numpy(getattr(functional, name), np), **others)


def _beside(name, helper):
    """A function that stands beside a workload's, with PyTorch in NumPy's place."""
    return with_numpy(WORKLOADS[name].function.__globals__[helper], np)


VERSIONS = {
    "adbench_gmm": with_numpy(WORKLOADS["adbench_gmm"].function, np, assembled=assembled),
    "adbench_lstm": _functional("adbench_lstm", cell_of=_beside("adbench_lstm", "cell_of")),
    "bn_net_loss": with_numpy(WORKLOADS["bn_net_loss"].function, np, batchnorm=batchnorm),
    "nbody": _functional("nbody", accelerations=_beside("nbody", "accelerations")),
    "black_scholes": _functional("black_scholes", erf=torch.erf),
    "pendulum": _functional("pendulum"),
    "spring_chain": _functional("spring_chain"),
    **{
        version.__name__: version
        for version in (jacobi_2d, gauss_seidel, horizontal_diffusion, triangular_solve, cholesky, attention_loss)
    },
}
