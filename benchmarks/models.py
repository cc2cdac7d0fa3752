"""One training step of six known networks beside PyTorch's eager mode: value, gradient and an SGD update, in float32.

    python -m benchmarks.models [alexnet] [vgg] [resnet] [mobilenet] [gnmt] [ncf]

The networks of `examples/models` at the sizes of their papers on synthetic data; on the processor with one thread and
small batches, and where CuPy has a device on it, with larger ones.  Both run in turns; figures are medians, and the
ratio that of each turn.  *First call* is the first step, in which the gradient is compiled.
"""

import os

os.environ.update(dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1"))

import gc
import sys

import numpy as np

from benchmarks.steps import Torch, loss, measured, table
from examples.models import gnmt, ncf
from examples.models.alexnet import alexnet
from examples.models.mobilenet import mobilenet
from examples.models.resnet import resnet50
from examples.models.vgg import vgg
from tangentc import learn, tree

RATE = 1e-4


def device():
    """CuPy where it has a device, else None."""
    try:
        import cupy

        return cupy if cupy.cuda.runtime.getDeviceCount() else None
    except Exception:
        return None


def images(rng, batch):
    return rng.normal(size=(batch, 3, 224, 224)).astype(np.float32), rng.integers(0, 1000, batch)


def sentences(rng, batch):
    return rng.integers(0, 32_000, (batch, 12)), rng.integers(0, 32_000, (batch, 13))


def ratings(rng, batch):
    return rng.integers(0, 6040, batch), rng.integers(0, 3706, batch), rng.integers(0, 2, batch).astype(np.float32)


NETWORKS = {  # the network, its loss, its batch, and how many examples this has on the processor and on a device
    "alexnet": (alexnet, loss, images, 8, 128),
    "vgg": (vgg, loss, images, 1, 64),
    "resnet": (resnet50, loss, images, 4, 64),
    "mobilenet": (mobilenet, loss, images, 8, 64),
    "gnmt": (gnmt.GNMT.of, gnmt.loss, sentences, 4, 64),
    "ncf": (ncf.NeuMF.of, ncf.loss, ratings, 1024, 1024),
}


def stepped(model, loss, batch, cupy=None):
    """A function that runs both sweeps on a batch and moves the model."""
    slope, optimiser = learn.value_and_grad(loss), learn.SGD(RATE)
    state = optimiser.init(model)

    def step():
        value, gradient = slope(model, *batch)
        optimiser.update(model, gradient, state)
        if cupy:
            cupy.cuda.Device().synchronize()
        return value

    return step


def on_device(cupy, model, batch):
    """The model and the batch with arrays of the device."""
    moved = lambda leaf: cupy.asarray(leaf) if isinstance(leaf, np.ndarray) else leaf  # noqa: E731
    return tree.map(moved, model), [cupy.asarray(a) for a in batch]


def one(name):
    """Measure one network."""
    make, loss, batch_of, small, large = NETWORKS[name]
    gc.collect()
    rng, cupy = np.random.default_rng(0), device()
    drawn = {"draws": cupy.random.default_rng(0)} if cupy and make in (alexnet, vgg) else {}
    model, batch = make(rng, **drawn), batch_of(rng, large if cupy else small)
    if cupy:
        model, batch = on_device(cupy, model, batch)
    try:
        made = Torch("cuda" if cupy else "cpu")
        theirs = made.step(made.loss(model), batch, RATE)
    except ImportError:
        theirs = None
    ours = stepped(model, loss, batch, cupy)
    return measured(f"{name} {len(batch[0])}", learn.count(model), ours, theirs, 6)


if __name__ == "__main__":
    table(sys.argv[1:] or NETWORKS, one)
