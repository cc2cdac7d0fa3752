"""Two ranks on two cores against one process on one: a CNN on the digits, one BLAS thread each.

    python benchmarks/parallel.py

Starts `mpiexec` for both, and prints examples a second, how much quicker two ranks are, and which part of the time that
gradients are on their way is spent on waiting for them.  "Both at once" is what the machine gives: two processes that
know nothing of one another, each with the batch of a rank, side by side.
"""

import json
import subprocess
import sys
import time

import numpy as np

from tangentc import learn
from tangentc.learn import functions as F

BATCH, STEPS, WARM = 128, 120, 10


def model(seed=0, dtype=np.float32):
    """Three convolutions with batch normalisation, and one linear layer."""
    rng = np.random.default_rng(seed)

    def conv(channels, out):
        return learn.Conv.of(channels, out, 3, rng, padding="same", dtype=dtype), learn.BatchNorm.of(out, dtype), F.relu

    return learn.Sequential(
        [*conv(1, 32), *conv(32, 32), learn.MaxPool(2), *conv(32, 64), learn.MaxPool(2), learn.flatten,
         learn.Linear.of(256, 10, rng, dtype=dtype)]
    )  # fmt: skip


def loss(model, x, y):
    return F.cross_entropy(model(x), y)


def batches(rows):
    from sklearn.datasets import load_digits

    digits = load_digits()
    order = np.random.default_rng(1).permutation(len(digits.target))
    x = (digits.images[order, None] / 16).astype(np.float32)
    found = [(x[k : k + rows], digits.target[order[k : k + rows]]) for k in range(0, len(x) - rows + 1, rows)]
    return [found[k % len(found)] for k in range(STEPS + WARM)]


class Clock:
    """A list of batches that notes when the one behind the warm-up is taken."""

    def __init__(self, data):
        self.data, self.begun = data, 0.0

    def __iter__(self):
        for k, batch in enumerate(self.data):
            if k == WARM:
                self.begun = time.perf_counter()
            yield batch


def one(rows, ranks=None, path=None):
    """Seconds a step."""
    data = Clock(batches(rows))
    learn.fit(model(), loss, data, learn.Momentum(0.01), parallel=ranks, timeline=path, progress=False)
    return (time.perf_counter() - data.begun) / STEPS


def waited(path):
    """Of a timeline: the share of the steps' time that is spent on waiting, and of what is sent that is waited for."""
    events = [e for e in json.load(open(path))["traceEvents"] if e["ph"] == "X" and e["pid"] == 0]
    steps = [e for e in events if e["name"] == "forward and backward"][WARM:]
    begun = steps[0]["ts"]
    total = {
        name: sum(e["dur"] for e in events if e["name"] == name and e["ts"] >= begun) for name in ("wait", "all_reduce")
    }
    whole = events[-1]["ts"] + events[-1]["dur"] - begun
    return total["wait"] / whole, total["wait"] / total["all_reduce"]


def child(kind, path):
    if kind == "one":
        print(json.dumps(one(BATCH)))
    elif kind == "half":
        print(json.dumps(one(BATCH // 2)))
    else:
        from tangentc.learn.parallel import Communicator

        ranks = Communicator()
        seconds = one(BATCH, ranks)
        one(BATCH, ranks, path)
        if ranks.is_first:
            print(json.dumps(seconds))


def main():
    import os
    import tempfile

    from tangentc.learn.parallel.__main__ import THREADS, mpiexec

    path = os.path.join(tempfile.mkdtemp(), "timeline.json")
    env = {**os.environ, **dict.fromkeys(THREADS, "1")}

    def start(kind, *before):
        command = [*before, sys.executable, __file__, kind, path]
        return subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True)

    def seconds(*started):
        return max(float(p.communicate()[0].splitlines()[-1]) for p in started)

    alone, together, apart = [], [], []
    for _ in range(3):
        alone.append(seconds(start("one")))
        together.append(seconds(start("ranks", mpiexec(), "-n", "2")))
        apart.append(seconds(start("half"), start("half")))
    best = [min(found) for found in (alone, together, apart)]
    print(f"one process:  {BATCH / best[0]:7.0f} examples a second ({1e3 * best[0]:.1f} ms a step)")
    print(f"two ranks:    {BATCH / best[1]:7.0f} examples a second ({1e3 * best[1]:.1f} ms a step)")
    print(f"both at once: {BATCH / best[2]:7.0f} examples a second ({1e3 * best[2]:.1f} ms a step)")
    print(f"two ranks are {best[0] / best[1]:.2f} times as quick; the machine allows {best[0] / best[2]:.2f}")
    share, of_sent = waited(path)
    print(f"waiting for gradients: {100 * share:.1f} % of the time; {100 * (1 - of_sent):.0f} % of sending is hidden")


if __name__ == "__main__":
    child(*sys.argv[1:]) if len(sys.argv) > 1 else main()
