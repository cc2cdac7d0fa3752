"""How fast emitted gradients are against hand-written ones: interleaved, in one process.

python benchmarks/targets.py
"""

import math
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import emitted_targets as targets

import tangentc

rng = np.random.default_rng(0)
normal = rng.normal
CASES = {
    "cost": ((5.0, 2.0, 1.0, 1.0), (0, 1, 2, 3)),
    "nll": ((normal(size=20), normal(size=(2000, 20)), (normal(size=2000) > 0) * 1.0), 0),
    "bend": ((0.7,), 0),
    "logistic_map": ((0.3, 2.7, 500), (0, 1)),
    "energy": ((normal(size=300), 1.3), (0, 1)),
    "heat": ((normal(size=2000), 50), 0),
    "burgers": ((normal(size=2000) * 0.05, 0.1, 50), 0),
    "two_layers": (
        (normal(size=(64, 30)), normal(size=(30, 50)), normal(size=50), normal(size=(50, 20)), normal(size=20)),
        (0, 1, 2, 3, 4),
    ),
    "newton_sqrt": ((2.0,), 0),
    "affine": (({"W": normal(size=(20, 30)), "b": normal(size=20)}, normal(size=30)), 0),
    "cross_entropy": ((normal(size=(200, 10)), rng.integers(0, 10, 200)), 0),
}


def seconds(function, args, repeats):
    start = time.perf_counter()
    for _ in range(repeats):
        function(*args)
    return (time.perf_counter() - start) / repeats


def main():
    """Print, for each target, the emitted gradient's time, the hand-written one's, and their ratio."""
    ratios = []
    print(f"{'function':16}{'emitted':>12}{'by hand':>12}{'ratio':>8}{'with dispatch':>15}")
    for name, (args, wrt) in CASES.items():
        gradient = tangentc.grad(getattr(targets, name), wrt=wrt)
        gradient(*args)
        emitted, by_hand = gradient.last.function, getattr(targets, name + "_grad")
        repeats = max(3, int(0.01 / seconds(by_hand, args, 3)))
        rounds = [
            [seconds(f, args, repeats) for f in (emitted, by_hand, gradient)] for _ in range(15)
        ]  # interleaved, so that a slow moment of the machine meets all three
        best = [min(row[k] for row in rounds) for k in range(3)]
        ratios.append(best[0] / best[1])
        print(f"{name:16}{best[0] * 1e6:10.1f}us{best[1] * 1e6:10.1f}us{ratios[-1]:8.2f}{best[2] / best[1]:15.2f}")
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    print(f"{'geometric mean':16}{mean:32.2f}")


if __name__ == "__main__":
    main()
