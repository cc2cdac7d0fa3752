"""The networks of examples/models: as many parameters as their papers say, gradients, and PyTorch's results."""

import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parents[2]
sys.path.insert(0, str(ROOT))

from examples.models import gnmt, ncf  # noqa: E402
from examples.models.alexnet import alexnet  # noqa: E402
from examples.models.mobilenet import BLOCKS, mobilenet, separable  # noqa: E402
from examples.models.resnet import Block, bottleneck, resnet18, resnet50  # noqa: E402
from examples.models.vgg import DEPTHS, vgg  # noqa: E402
from tangentc import learn  # noqa: E402
from tangentc.learn import functions as F  # noqa: E402


class Zeros:
    """Draws nothing: arrays that take no time and no memory until they are written."""

    def uniform(self, low, high, size):
        return np.broadcast_to(np.float32(0), size)

    def normal(self, size):
        return np.broadcast_to(np.float32(0), size)


def conv(channels, out, kernel, bias=0):
    return out * (channels * kernel * kernel + bias)


def chain(sizes):
    return sum(b * (a + 1) for a, b in zip(sizes, sizes[1:]))


def of_vgg():
    sizes = [3, *[64 * 2 ** min(stage, 3) for stage, depth in enumerate(DEPTHS) for _ in range(depth)]]
    return sum(conv(a, b, 3, 1) for a, b in zip(sizes, sizes[1:])) + chain([512 * 49, 4096, 4096, 1000])


def of_resnet50():
    total, channels = conv(3, 64, 7) + 2 * 64, 64
    for stage, depth in enumerate((3, 4, 6, 3)):
        n = 64 * 2**stage
        total += conv(channels, 4 * n, 1) + 8 * n
        for _ in range(depth):
            total += conv(channels, n, 1) + conv(n, n, 3) + conv(n, 4 * n, 1) + 2 * (n + n + 4 * n)
            channels = 4 * n
    return total + chain([2048, 1000])


def of_mobilenet():
    sizes = [32, *[out for out, _ in BLOCKS]]
    blocks = sum(9 * a + 2 * a + a * b + 2 * b for a, b in zip(sizes, sizes[1:]))
    return conv(3, 32, 3) + 2 * 32 + blocks + chain([1024, 1000])


def of_alexnet():
    convs = [(3, 64, 11), (64, 192, 5), (192, 384, 3), (384, 256, 3), (256, 256, 3)]
    return sum(conv(*each, 1) for each in convs) + chain([256 * 36, 4096, 4096, 1000])


def of_ncf(f=8):
    return 3 * f * (6040 + 3706) + chain([4 * f, 4 * f, 2 * f, f]) + 2 * f


@pytest.mark.parametrize(
    "make, by_hand, said",
    [
        (alexnet, of_alexnet, 61_100_840),
        (vgg, of_vgg, 143_667_240),
        (resnet50, of_resnet50, 25_557_032),
        (mobilenet, of_mobilenet, 4_231_976),
        (ncf.NeuMF.of, of_ncf, 235_640),
    ],
)
def test_a_network_has_as_many_parameters_as_its_paper_says(make, by_hand, said):
    assert learn.count(make(Zeros())) == by_hand() == said


def test_gnmt_has_as_many_parameters_as_its_sizes_say():
    def wanted(n, layers, v):
        lstm = lambda m: 4 * n * (m + n + 2)
        encoder = 2 * lstm(n) + lstm(2 * n) + (layers - 2) * lstm(n)
        return 2 * v * n + encoder + layers * lstm(2 * n) + 2 * n * n + n + v * (n + 1)

    assert wanted(1024, 8, 32_000) == 280_928_512
    for n, layers, v in ((4, 8, 11), (6, 4, 7), (3, 2, 5)):
        assert learn.count(gnmt.GNMT.of(np.random.default_rng(0), v, n, layers)) == wanted(n, layers, v)


def test_resnet18_for_small_images_has_11_million_parameters():
    assert learn.count(resnet18(Zeros())) == 11_173_962


def classified(model, x, labels):
    return F.cross_entropy(model(x), labels)


def pictures(rng, size):
    return rng.normal(size=(4, 3, size, size)), rng.integers(0, 5, 4)


SMALL = {  # the network, its loss, and a batch
    "alexnet": lambda r, d: (alexnet(r, 5, 2, 8, 1, d, np.random.default_rng(1)), classified, pictures(r, 63)),
    "vgg": lambda r, d: (vgg(r, (1, 2), 5, 2, 8, 2, d, np.random.default_rng(1)), classified, pictures(r, 8)),
    "resnet": lambda r, d: (resnet50(r, (1, 1), 5, 2, d), classified, pictures(r, 24)),
    "mobilenet": lambda r, d: (mobilenet(r, ((64, 1), (96, 2)), 5, 1 / 8, d), classified, pictures(r, 12)),
    "gnmt": lambda r, d: (
        gnmt.GNMT.of(r, 9, 5, 3, d), gnmt.loss, (r.integers(0, 9, (3, 4)), r.integers(0, 9, (3, 5))),
    ),
    "ncf": lambda r, d: (
        ncf.NeuMF.of(r, 7, 9, 2, d), ncf.loss,
        (r.integers(0, 7, 12), r.integers(0, 9, 12), r.integers(0, 2, 12).astype(d)),
    ),
}  # fmt: skip
EACH = pytest.mark.parametrize("name", SMALL)


@pytest.fixture(scope="module")
def steps():
    """A network that does not drop out, its loss, a batch, and its value and gradient, compiled once."""
    made = {}

    def step(name):
        if name not in made:
            model, loss, batch = SMALL[name](np.random.default_rng(0), float)
            still(model)
            made[name] = model, loss, batch, learn.value_and_grad(loss)
        return made[name]

    return step


def still(model):
    """Nothing is dropped any more; batches are still normalised by what is in them."""
    for layer in parts(model, learn.Dropout):
        layer.training = False


def parts(model, cls):
    found = [model] if isinstance(model, cls) else []
    return found + [p for layer in getattr(model, "layers", ()) for p in parts(layer, cls)]


@EACH
def test_the_gradient_agrees_with_differences(steps, name):
    model, loss, batch, slope = steps(name)
    arrays = learn.parameters(model)
    value, gradient = slope(model, *batch)
    found = learn.gradients(model, gradient)
    assert np.isclose(value, loss(model, *batch), rtol=1e-12) and all(np.any(g) for g in found.values())
    rng = np.random.default_rng(2)
    for _ in range(2):
        ways = {path: rng.normal(size=a.shape) for path, a in arrays.items()}
        kept = {path: a.copy() for path, a in arrays.items()}
        values = []
        for h in (-2e-6, -1e-6, 1e-6, 2e-6):
            for path, a in arrays.items():
                a[...] = kept[path] + h * ways[path]
            values.append(loss(model, *batch))
        for path, a in arrays.items():
            a[...] = kept[path]
        wanted = (values[0] - 8 * values[1] + 8 * values[2] - values[3]) / 12e-6
        assert np.isclose(sum(np.sum(found[p] * ways[p]) for p in arrays), wanted, rtol=1e-6, atol=1e-8)


@EACH
def test_results_and_gradients_are_those_of_pytorch(steps, name):
    torch = pytest.importorskip("torch")
    from benchmarks.steps import Torch

    model, _, batch, slope = steps(name)
    value, gradient = slope(model, *batch)
    made = Torch()
    loss = made.loss(model)(*map(torch.tensor, batch))
    loss.backward()
    np.testing.assert_allclose(value, loss.item(), rtol=1e-12)
    for path, found in learn.gradients(model, gradient).items():
        wanted = made.parameters[id(learn.parameters(model)[path])].grad.numpy()
        np.testing.assert_allclose(found, wanted, rtol=1e-8, atol=1e-11, err_msg=path)


@EACH
def test_the_loss_falls_and_float32_stays(name):
    model, loss, batch = SMALL[name](np.random.default_rng(0), np.float32)
    batch = [a.astype(np.float32) if a.dtype.kind == "f" else a for a in batch]
    slope, optimiser = learn.value_and_grad(loss), learn.Adam(0.01)
    state = optimiser.init(model)
    losses = []
    for _ in range(25):
        value, gradient = slope(model, *batch)
        optimiser.update(model, gradient, state)
        losses.append(float(value))
    assert np.mean(losses[-5:]) < 0.95 * np.mean(losses[:3])
    dtypes = {
        leaf.dtype for found in (learn.parameters(model), learn.gradients(model, gradient)) for leaf in found.values()
    }
    assert dtypes == {np.dtype(np.float32)} and value.dtype == np.float32


@pytest.mark.parametrize(
    "make, pixels, wanted",
    [
        (lambda r: alexnet(r, 7, 1, 4), 224, (2, 7)),
        (lambda r: vgg(r, classes=7, width=1, hidden=4), 224, (2, 7)),
        (lambda r: resnet50(r, classes=7, width=1), 224, (2, 7)),
        (lambda r: resnet18(r, classes=7, width=1), 32, (2, 7)),
        (lambda r: mobilenet(r, classes=7, share=1 / 16), 224, (2, 7)),
    ],
)
def test_a_network_of_the_depth_of_its_paper_takes_its_pictures(make, pixels, wanted):
    rng = np.random.default_rng(0)
    model = make(rng)
    assert model(rng.normal(size=(2, 3, pixels, pixels)).astype(np.float32)).shape == wanted


def test_blocks_keep_their_shapes():
    rng = np.random.default_rng(0)
    inner, channels = bottleneck(8, 4, 2, rng, float)
    assert channels == 16 and learn.Sequential(inner)(rng.normal(size=(2, 8, 6, 6))).shape == (2, 16, 3, 3)
    assert separable(8, 12, 2, rng, float)(rng.normal(size=(2, 8, 6, 6))).shape == (2, 12, 3, 3)
    with pytest.raises(ValueError):
        Block(learn.Sequential(inner))(rng.normal(size=(2, 8, 6, 6)))


def test_translations_and_ratings_have_their_shapes():
    rng = np.random.default_rng(0)
    model = gnmt.GNMT.of(rng, 9, 4, 4)
    logits = model(rng.integers(0, 9, (2, 6)), rng.integers(0, 9, (2, 3)))
    assert logits.shape == (2, 3, 9) and logits.dtype == np.float32
    assert ncf.NeuMF.of(rng, 5, 6, 2)(np.array([0, 4]), np.array([5, 5])).shape == (2,)


def test_a_translation_looks_at_nothing_that_comes_later():
    rng = np.random.default_rng(0)
    model = gnmt.GNMT.of(rng, 9, 4, 3, float)
    source, target = rng.integers(0, 9, (1, 4)), rng.integers(0, 9, (1, 5))
    other = np.where(np.arange(5) < 3, target, (target + 1) % 9)
    first, second = model(source, target), model(source, other)
    assert np.array_equal(first[:, :3], second[:, :3]) and not np.allclose(first[:, 3:], second[:, 3:])
    assert not np.allclose(first, model(source[:, ::-1], target))


@pytest.mark.gpu
@EACH
def test_a_step_on_the_device_is_that_of_the_processor(name):
    cupy = pytest.importorskip("cupy")
    from benchmarks.models import on_device

    model, loss, batch = SMALL[name](np.random.default_rng(0), float)
    still(model)
    value, gradient = learn.value_and_grad(loss)(model, *batch)
    there, moved = on_device(cupy, model, batch)
    its_value, its_gradient = learn.value_and_grad(loss)(there, *moved)
    np.testing.assert_allclose(float(its_value), value, rtol=1e-10)
    others = learn.gradients(there, its_gradient)
    for path, found in learn.gradients(model, gradient).items():
        np.testing.assert_allclose(others[path].get(), found, rtol=1e-8, atol=1e-10, err_msg=path)
    optimiser = learn.SGD(0.1)
    optimiser.update(there, its_gradient, optimiser.init(there))
    assert all(isinstance(a, cupy.ndarray) for a in learn.parameters(there).values())
