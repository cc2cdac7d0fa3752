"""Networks are trained on the device as on the host; a stand-in for CuPy says what it would refuse."""

import device
import numpy as np
import pytest

from tangentc import learn, tree
from tangentc.learn import functions as F


def last(x):
    return x[:, -1]


def dense(rng):
    return [learn.Linear.of(4, 5, rng), np.tanh, learn.LayerNorm.of(5), learn.Linear.of(5, 3, rng)], (6, 4)


def convolutions(rng):
    first = [learn.Conv.of(1, 3, 3, rng, padding="same"), learn.BatchNorm.of(3), F.relu, learn.MaxPool(2)]
    each = [learn.Conv.of(3, 3, 2, rng, groups=3), F.global_average_pool, learn.Linear.of(3, 3, rng)]
    return [*first, *each], (6, 1, 8, 8)


def transposed(rng):
    first = [learn.ConvTranspose.of(1, 2, 3, rng, stride=2), learn.GroupNorm.of(2, 2), learn.AveragePool(2)]
    return [*first, F.silu, learn.flatten, learn.Linear.of(18, 3, rng)], (6, 1, 3, 3)


def rnn(rng):
    return [learn.RNN.of(4, 5, rng), last, learn.Linear.of(5, 3, rng)], (6, 5, 4)


def lstm(rng):
    return [learn.LSTM.of(4, 5, rng), last, learn.Linear.of(5, 3, rng)], (6, 5, 4)


def gru(rng):
    return [learn.GRU.of(4, 5, rng), last, learn.Linear.of(5, 3, rng)], (6, 5, 4)


def heads(rng):
    return [learn.MultiHeadAttention.of(4, 2, rng, causal=True), last, learn.Linear.of(4, 3, rng)], (6, 5, 4)


def loss(model, x, y):
    return F.cross_entropy(model(x), y)


def accuracy(model, x, y):
    return np.mean(np.argmax(model(x), axis=-1) == y)


def trained(layers, batch, there=lambda value: value, **options):
    model = learn.Sequential(tree.map(there, layers))
    data = [tuple(map(there, batch))]
    return learn.fit(
        model, loss, data, learn.Adam(0.05, clip=1.0), 3, validation=data, metrics={"accuracy": accuracy},
        progress=False, **options,
    )  # fmt: skip


@pytest.mark.parametrize("make", [dense, convolutions, transposed, rnn, lstm, gru, heads])
def test_a_network_learns_there_what_it_learns_here(make, tmp_path):
    layers, shape = make(np.random.default_rng(0))
    batch = np.random.default_rng(1).normal(size=shape), np.array([0, 1, 2, 0, 1, 2])
    with device.cupy():
        there = trained(layers, batch, device.sent, checkpoint=tmp_path)
    here = trained(layers, batch)
    for name in ("loss", "validation_loss", "accuracy"):
        np.testing.assert_allclose(there[name], here[name], rtol=1e-12)
    with np.load(max(tmp_path.glob("*/arrays.npz")), allow_pickle=False) as held:
        assert sum(name.startswith("model/layers.0") for name in held.files) > 1
