"""What Jacobians and Hessians cost as batches of seeds, beside one row or column after the other.

python benchmarks/jacobians.py
"""

import time

import numpy as np

from tangentc import hessian, jacfwd, jacrev


def network(x, A, a, B, b):
    return np.tanh(np.tanh(x @ A + a) @ B + b)


def stencil(u):
    out = np.exp(-u * u) - 4 * u
    out[1:] += u[:-1]
    out[:-1] += u[1:]
    return out


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def ode(y, k):
    for _ in range(20):
        y = y + 0.01 * (k * np.sin(y) - 0.1 * y**2)
    return y


def attraction(x, m):
    out = np.zeros_like(x)
    for i in range(len(m)):
        d = x - x[i]
        r = np.sum(d * d, axis=1) + 0.01
        out[i] = np.sum((m / r**1.5)[:, None] * d, axis=0)
    return out


def square_of_a_matrix(A):
    return A @ A


rng = np.random.default_rng(0)
LAYERS = rng.normal(size=(64, 32)), rng.normal(size=32), rng.normal(size=(32, 16)), rng.normal(size=16)
CASES = [
    ("a network, 64 to 32 to 16", (jacrev, jacfwd), network, (rng.normal(size=64), *LAYERS)),
    ("a stencil of 200 entries", (jacrev, jacfwd), stencil, (rng.normal(size=200),)),
    ("a stencil of 2,000 entries", (jacrev, jacfwd), stencil, (rng.normal(size=2_000),)),
    ("20 steps of 10 states", (jacrev, jacfwd), ode, (rng.normal(size=10), rng.normal(size=10))),
    ("8 bodies in space", (jacrev, jacfwd), attraction, (rng.normal(size=(8, 3)), np.ones(8))),
    ("`A @ A`, 30 by 30", (jacrev, jacfwd), square_of_a_matrix, (rng.normal(size=(30, 30)),)),
    ("Rosenbrock's function of 50", (hessian,), rosenbrock, (rng.normal(size=50),)),
    ("Rosenbrock's function of 1,000", (hessian,), rosenbrock, (rng.normal(size=1_000),)),
]


def seconds(*runs, least=1.0):
    """The least of some times that each takes, in turn."""
    times, end = [[] for _ in runs], time.perf_counter() + least
    while not times[0] or time.perf_counter() < end:
        for run, own in zip(runs, times):
            start = time.perf_counter()
            run()
            own.append(time.perf_counter() - start)
    return [min(own) for own in times]


def main():
    print("| | | One after the other, ms | Batches, ms | Ratio |")
    print("|---|---|---|---|---|")
    for name, makers, f, args in CASES:
        for make in makers:
            single, batched = make(f, batch=1), make(f)
            np.testing.assert_allclose(batched(*args), single(*args), rtol=1e-9, atol=1e-9)
            one, many = seconds(lambda: single(*args), lambda: batched(*args))  # noqa: B023
            cells = name, f"`{make.__name__}`", f"{1e3 * one:.2f}", f"{1e3 * many:.2f}", f"{one / many:.1f}"
            print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
