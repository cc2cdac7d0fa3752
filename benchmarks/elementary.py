"""Elementary functions of kernels: nanoseconds a number by our routines, by Numba's own functions, and by NumPy's.

python benchmarks/elementary.py

``loop`` is a loop over an array, which becomes SIMD code where the function can; ``sum`` is one that adds up, whose
calls are made one after the other; in ``chain`` each call waits for the one before.  The least of many, in turns.
"""

import math
import time

import numba
import numpy as np

from tangentc.runtime import elementary

N = 8192
kernel = numba.njit(error_model="numpy")


@kernel
def plain_sigmoid(x):
    return 1 / (1 + math.exp(-x))


def numpy_sigmoid(x, out):
    return np.divide(1, 1 + np.exp(-x), out=out)


def numpy_erf(x, out):
    from scipy import special

    return special.erf(x, out=out)


CASES = {  # Numba's, NumPy's, and what keeps a chain where the function is defined
    "exp": (math.exp, np.exp, (-0.7, 0.5)),
    "log": (math.log, np.log, (0.1, 2.0)),
    "log1p": (math.log1p, np.log1p, (-0.7, 0.5)),
    "tanh": (math.tanh, np.tanh, (-0.7, 0.5)),
    "sigmoid": (plain_sigmoid, numpy_sigmoid, (-0.7, 0.5)),
    "erf": (math.erf, numpy_erf, (-0.7, 0.5)),
    "sin": (math.sin, np.sin, (-0.7, 0.5)),
    "cos": (math.cos, np.cos, (-0.7, 0.5)),
}


def loop(f):
    @kernel
    def run(x, y):
        for i in range(x.shape[0]):
            y[i] = f(x[i])

    return run


def adding(f):
    @kernel
    def run(x, y):
        s = 0.0
        for i in range(x.shape[0]):
            s += f(x[i])
        y[0] = s

    return run


def chain(f, a, b):
    @kernel
    def run(x, y):
        v = x[0]
        for _ in range(x.shape[0]):
            v = a * f(v) + b
        y[0] = v

    return run


def nanoseconds(functions, x, rounds=200):
    """The least time a number of each function, measured in turns."""
    y, least = np.empty_like(x), [math.inf] * len(functions)
    for f in functions:
        f(x, y)
    for _ in range(rounds):
        for k, f in enumerate(functions):
            began = time.perf_counter()
            f(x, y)
            least[k] = min(least[k], time.perf_counter() - began)
    return [1e9 * t / len(x) for t in least]


def main():
    """Print the table."""
    heads = ["loop: ours", "Numba", "NumPy", "sum: ours", "Numba", "chain: ours", "Numba"]
    print(f"{'':18}" + "".join(f"{h:>12}" for h in heads))
    for dtype in (np.float64, np.float32):
        x = np.random.default_rng(0).uniform(0.01, 4, N).astype(dtype)
        for name, (numbas, numpys, (a, b)) in CASES.items():
            if dtype == np.float32 and name in ("sin", "cos"):
                continue  # which are of `float64`
            ours = getattr(elementary, name if dtype == np.float64 else f"{name}_32")
            a, b = dtype(a), dtype(b)
            ways = [loop(ours), loop(numbas), lambda x, y, f=numpys: f(x, out=y)]
            found = nanoseconds(ways, x) + nanoseconds([adding(ours), adding(numbas)], x, 60)
            found += nanoseconds([chain(ours, a, b), chain(numbas, a, b)], x, 60)
            print(f"{name:9}{np.dtype(dtype).name:9}" + "".join(f"{t:12.2f}" for t in found))


if __name__ == "__main__":
    main()
