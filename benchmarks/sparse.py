"""What sparse Jacobians and Hessians cost: the products that a pattern and a call take, and the time beside dense ones.

python benchmarks/sparse.py
"""

import time

import numpy as np

import tangentc
from tangentc.sparse import linear


def tridiagonal(x):
    y = x**3 - 2 * x
    y[1:] += x[:-1] * x[1:]
    y[:-1] += np.sin(x[1:])
    return y


def laplacian(u):
    out = np.exp(-u * u) - 4 * u
    out[1:] += u[:-1]
    out[:-1] += u[1:]
    out[:, 1:] += u[:, :-1]
    out[:, :-1] += u[:, 1:]
    return out


def arrow(x):
    y = x * x + x[0]
    y[0] = np.sum(x**3)
    return y


def rosenbrock(x):
    return np.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


def of_an_arrow(x):
    return x[0] * np.sum(x**2) + np.sum(x**4)


def laplacian_energy(u):
    return np.sum((u[1:] - u[:-1]) ** 4) + np.sum((u[:, 1:] - u[:, :-1]) ** 4) + np.sum(np.cos(u))


CASES = [  # a function, the shape of its argument, and whether a dense derivative is taken too
    ("jacobian", tridiagonal, (1_000,), True),
    ("jacobian", tridiagonal, (10_000,), False),
    ("jacobian", tridiagonal, (100_000,), False),
    ("jacobian", laplacian, (100, 100), False),
    ("jacobian", arrow, (10_000,), False),
    ("hessian", rosenbrock, (1_000,), True),
    ("hessian", rosenbrock, (10_000,), False),
    ("hessian", rosenbrock, (100_000,), False),
    ("hessian", laplacian_energy, (100, 100), False),
    ("hessian", of_an_arrow, (10_000,), False),
]


class Count:
    """How many products with a derivative are asked for."""

    def __init__(self):
        self.products = 0
        jvp, vjp = linear.jvp, linear.vjp

        def pushes(*args):
            self.products += 1
            return jvp(*args)

        def with_pulls(*args):
            value, pullback = vjp(*args)

            def pulls(seed):
                self.products += 1
                return pullback(seed)

            return value, pulls

        linear.jvp, linear.vjp = pushes, with_pulls

    def of(self, run):
        self.products = 0
        run()
        return self.products


def seconds(run, least=0.2):
    """The least of some times that it takes."""
    times, end = [], time.perf_counter() + least
    while not times or time.perf_counter() < end:
        start = time.perf_counter()
        run()
        times.append(time.perf_counter() - start)
    return min(times)


def row(count, kind, f, shape, has_dense):
    """What is measured of one derivative, as a row of a table."""
    x = np.random.default_rng(0).normal(size=shape)
    make = getattr(tangentc, f"sparse_{kind}")
    make(f)(x[tuple(slice(8) for _ in shape)].copy())  # which compiles
    D, dense = make(f), getattr(tangentc, kind)(f)
    start = time.perf_counter()
    first = count.of(lambda: D(x))
    took = time.perf_counter() - start
    later = count.of(lambda: D(x))
    own, sparse = seconds(lambda: f(x)), seconds(lambda: D(x))
    if has_dense:
        dense(x)  # which compiles
    ratio = f"{seconds(lambda: dense(x)) / sparse:.0f}" if has_dense else ""
    cells = (
        f"{kind} of `{f.__name__}`", " x ".join(f"{n:,}" for n in shape), first - later, f"{took:.2f}", later,
        f"{1e3 * sparse:.1f}", f"{sparse / own:.0f}", ratio,
    )  # fmt: skip
    return f"| {' | '.join(map(str, cells))} |"


def main():
    count = Count()
    print("| | Entries | Pattern: products | First call, s | Later: products | Later: ms | Times f | Dense / sparse |")
    print("|---|---|---|---|---|---|---|---|")
    for case in CASES:
        print(row(count, *case), flush=True)


if __name__ == "__main__":
    main()
