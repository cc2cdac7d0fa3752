"""What `test_parallel.py` starts as several ranks: ``mpiexec -n 2 python ranks.py CASE FOLDER``."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy as np

import tangentc
from tangentc import learn, tree
from tangentc.learn import functions as F
from tangentc.learn.parallel import Communicator, Lost, receive, send


def network(seed=0, norm=False):
    rng = np.random.default_rng(seed)
    return learn.Sequential(
        [learn.Conv.of(1, 3, 3, rng, padding="same"), *([learn.BatchNorm.of(3)] if norm else []), F.relu, learn.flatten,
         learn.Linear.of(48, 8, rng), np.tanh, learn.Linear.of(8, 3, rng)]
    )  # fmt: skip


def loss(model, x, y):
    return F.cross_entropy(model(x), y)


def batches(count=25, rows=8, last=5):
    rng = np.random.default_rng(1)
    sizes = [rows] * (count - 1) + [last]
    return [(rng.normal(size=(n, 1, 4, 4)), rng.integers(0, 3, n)) for n in sizes]


def trained(ranks, seed=0, epochs=2, data=None, **options):
    model = network(seed)
    losses = []
    history = learn.fit(
        model, loss, data or batches(), learn.Adam(0.01), epochs, parallel=ranks, progress=False,
        validation=batches(2, 3, 1), callbacks=[lambda run: losses.append(run.history.last["loss"])], **options,
    )  # fmt: skip
    return learn.parameters(model), history


def same(ranks, folder):
    """Two ranks that began with other parameters end with those of one process."""
    ours, history = trained(ranks, ranks.rank, timeline=folder / "timeline.json")
    theirs, alone = trained(None)
    for path, array in ours.items():
        np.testing.assert_allclose(array, theirs[path], atol=1e-12, rtol=0)
    for name in ("loss", "validation_loss"):
        np.testing.assert_allclose(history[name], alone[name], atol=1e-12, rtol=0)


def steps(ranks, folder):
    """The loss of each of 50 steps is that of one process; the text sends the last layer's gradient first."""
    sums, alone = ranks.value_and_grad(loss), learn.value_and_grad(loss)
    one, other, data = network(), network(), batches(50, 8, 8)
    adam, by = learn.Adam(0.01), learn.Adam(0.01)
    state, kept = adam.init(one), by.init(other)
    for x, y in data:
        mine = slice(4 * ranks.rank, 4 * ranks.rank + 4)
        value, gradient = sums(one, x[mine], y[mine])
        whole, theirs = alone(other, x, y)
        mean, count = ranks.mean(value, 4)
        assert abs(mean - whole) < 1e-12 and count == 8
        adam.update(one, gradient, state)
        by.update(other, theirs, kept)
    text = sums.source_for(one, *data[0])
    order = [text.index(part) for part in ('"model.layers.5.weight")', "linear_adjoint(linear_x_saved, ",
                                           '"model.layers.3.weight")', '"model.layers.0.weight")', "    wait()")]  # fmt: skip
    assert order == sorted(order)


def statistics(ranks, folder):
    """What batch normalisation keeps is each rank's own, or averaged; noise is each rank's own."""
    x, y = batches(1, 8, 8)[0]
    for kind, is_same in (("local", False), ("averaged", True)):
        own, model = Communicator(statistics=kind), network(norm=True)
        learn.fit(model, loss, [(x, y)], learn.SGD(0.1), parallel=own, progress=False)
        seen = ranks.comm.allgather(model.layers[1].running_mean)
        assert np.array_equal(*seen) == is_same
        halves = [network(norm=True).layers[0](half).mean((0, 2, 3)) for half in (x[:4], x[4:])]
        wanted = 0.1 * (sum(halves) / 2 if is_same else halves[ranks.rank])
        np.testing.assert_allclose(model.layers[1].running_mean, wanted, atol=1e-12)
    layer = learn.Dropout(0.5, np.random.default_rng(0))
    ranks.broadcast({"layer": layer}, {})
    first, second = ranks.comm.allgather(layer(np.ones(50)))
    assert not np.array_equal(first, second)
    assert np.array_equal(first, learn.Dropout(0.5, np.random.default_rng(0))(np.ones(50)))


def refused(ranks, folder):
    """Other functions, other models, shares that are no parts of a whole, batches that are no rows."""
    given = {"w": np.ones(3), "b": np.array(0.5), "scale": 2.0}

    def first(m, x):
        return np.sum(x * m["w"]) * m["scale"] + m["b"]

    def second(m, x):
        return np.sum(x * m["w"]) * m["b"]

    _, gradient = ranks.value_and_grad(first)(given, np.full(3, float(ranks.rank)))
    np.testing.assert_array_equal(gradient["w"], np.ones(3))
    assert gradient["b"].shape == () and np.isnan(gradient["scale"])
    asked = [
        lambda: ranks.value_and_grad([first, second][ranks.rank])(given | {"scale": 1.0}, np.ones(3)),
        lambda: ranks.broadcast({"w": np.ones(3 if ranks.rank else 4)}, {}),
        lambda: list(ranks.sharded([(np.ones(4), np.ones(3))])),
        lambda: list(ranks.sharded([np.ones(1)])),
    ]
    ranks.share = 0.75
    asked.append(lambda: ranks.value_and_grad(first)(given, np.ones(3)))
    for k, ask in enumerate(asked):
        try:
            ask()
        except tangentc.errors.BadArgument as error:
            assert ["be averaged", "another model", "[3, 4] rows", "[1] rows", "shares of the batch"][k] in str(error)
        else:
            assert k == 1 and ranks.is_first, k


def pipeline(ranks, folder):
    """A model in two processes, given small batches, has the gradient of the whole."""
    rng = np.random.default_rng(3)
    model = {"w": rng.normal(size=(3, 5)), "v": rng.normal(size=5)}
    xs, ys = rng.normal(size=(4, 6, 3)), rng.normal(size=(4, 6))

    def whole(m, xs, ys):
        return np.mean((np.tanh(xs @ m["w"]) @ m["v"] - ys) ** 2)

    def front(m, xs):
        value = 0.0
        for k in range(len(xs)):
            value = value + send(np.tanh(xs[k] @ m["w"]), comm=ranks, to=1, tag=k)
        return value

    def back(m, like, ys):
        value = 0.0
        for k in range(len(ys)):
            h = receive(like, m["v"], comm=ranks, source=0, tag=k)
            value = value + np.mean((h @ m["v"] - ys[k]) ** 2)
        return value / len(ys)

    value, gradient = tangentc.value_and_grad(whole)(model, xs, ys)
    for _ in range(3):
        if ranks.is_first:
            part = tangentc.value_and_grad(front)({"w": model["w"]}, xs)
        else:
            part = tangentc.value_and_grad(back)({"v": model["v"]}, np.empty((6, 5)), ys)
        assert np.isclose(part[0], [0.0, value][ranks.rank], rtol=1e-12)
        name = "wv"[ranks.rank]
        np.testing.assert_allclose(part[1][name], gradient[name], atol=1e-14, rtol=1e-12)
    try:
        if ranks.is_first:
            send(np.ones(3), comm=ranks, to=1)
        else:
            receive(np.ones(4), np.ones(1), comm=ranks, source=0)
    except tangentc.errors.BadArgument as error:
        assert "24 bytes" in str(error)
    else:
        assert ranks.is_first
    ranks.comm.Barrier()


class Until:
    """Batches, one of which a rank does not get: ``then`` happens in its place, in the first of all runs."""

    def __init__(self, ranks, step, folder, then):
        self.ranks, self.step, self.mark, self.then = ranks, step, folder / "happened", then

    def __iter__(self):
        for k, batch in enumerate(batches()):
            if k == self.step and self.ranks.rank == 1 and not self.mark.exists():
                self.mark.touch()
                self.then()
            yield batch


def dies(ranks, folder):
    """A rank is killed; what goes on from the last checkpoint, with fewer ranks, ends where one process does."""
    data = Until(ranks, 17, folder, lambda: os.kill(os.getpid(), signal.SIGKILL))
    ours, history = trained(ranks, data=data, checkpoint=folder / "run", every=5)
    theirs, alone = trained(None)
    for path, array in ours.items():
        np.testing.assert_allclose(array, theirs[path], atol=1e-12, rtol=0)
    (folder / "ranks").write_text(json.dumps([ranks.size, history["step"]]))


def raises(ranks, folder):
    def fail():
        raise ValueError("a broken sample")

    trained(ranks, data=Until(ranks, 3, folder, fail))


def sleeps(ranks, folder):
    own = Communicator(limit=2.0)
    try:
        trained(own, data=Until(own, 3, folder, lambda: time.sleep(30)))
    except Lost as error:
        print(error, file=sys.stderr, flush=True)
        raise


if __name__ == "__main__":
    assert tree  # what a model is
    globals()[sys.argv[1]](Communicator(bucket=400), Path(sys.argv[2]))
