"""CuPy: the same code on the device.  Without one, the text is checked; with one, it runs."""

import re

import device
import emitted_targets
import numpy as np
import pytest
from programs.test_programs import IDS, PROGRAMS, flatten, fresh, moving
from test_targets import CASES

import tangentc


def on_device(dtype, shape):
    """Stands for a CuPy array: only its type is looked at when code is emitted."""
    cls = type("ndarray", (), {"__module__": "cupy"})
    array = cls()
    array.dtype, array.shape = np.dtype(dtype), shape
    return array


def as_device(x):
    if isinstance(x, np.ndarray):
        return on_device(x.dtype, x.shape)
    return {k: as_device(v) for k, v in x.items()} if isinstance(x, dict) else x


def creates(x, n):
    y = np.zeros(n)
    y[1:] = np.linspace(0.0, 1.0, n - 1) * x[1:]
    return np.sum(np.where(y > 0, np.sqrt(y), 0.0)) * np.float32(0.5) + np.linalg.norm(np.ones(3)) * np.pi


@pytest.mark.parametrize("name", [n for n in CASES if n not in ("cost", "bend", "logistic_map", "newton_sqrt")])
def test_targets_on_cupy(name):
    args, wrt = CASES[name]
    gradient = tangentc.grad(getattr(emitted_targets, name), wrt=wrt)
    text = gradient.source_for(*map(as_device, args))
    assert text.startswith("import cupy as cp\n") or "cp." not in text
    assert not re.search(r"\bnp\.|\bnumpy\b", re.sub(r"#.*", "", text))
    plain = gradient.source_for(*args)
    without_import = text.replace("import cupy as cp\n\n\n", "")
    without_import = re.sub(r"\b(\w+) = \1 \+ ", r"\1 += ", without_import)  # of a number, which others may have too
    assert re.sub(r"\bcp\.", "np.", re.sub(r"#.*", "", without_import)) == re.sub(r"#.*", "", plain)


def test_creation_functions_make_device_arrays():
    text = tangentc.grad(creates).source_for(on_device("float64", (12,)), 12)
    code = re.sub(r"#.*", "", text)
    assert "cp.zeros(n)" in code and "cp.linspace(" in code and "cp.float32(0.5)" in code and "np." not in code


def test_mixed_arrays_are_refused():
    with pytest.raises(tangentc.BadArgument, match="some arguments are NumPy arrays and some are CuPy arrays"):
        tangentc.grad(lambda x, y: np.sum(x * y)).source_for(np.ones(3), on_device("float64", (3,)))


def total_and_kept(x):
    """A program whose numbers are kept while arrays change."""
    y = np.zeros(4)
    seen = []
    s = 0.0
    for k in range(4):
        s += x[k]
        seen.append(s)
        y[k] = seen[k] * x[k]
    first, y[0] = y[0], 1.0
    with np.errstate(all="ignore"):
        return np.sum(y) * first + seen[1] + np.sum(np.array([[x[0], 1.0], [0.0, x[1]]]) ** 2)


@pytest.fixture
def stand_in():
    with device.cupy() as module:
        yield module


def test_numbers_are_values_on_the_device(stand_in):
    """An entry is a view of rank 0 there, and `s += x` changes all that has the name."""
    x = np.array([0.5, -0.4, 0.3, 0.2])
    gradient = tangentc.value_and_grad(total_and_kept)
    value, on_device = gradient(device.sent(x))
    wanted, on_host = gradient(x)
    np.testing.assert_allclose(device.fetched(value), wanted)
    np.testing.assert_allclose(device.fetched(on_device), on_host)
    text = gradient.source_for(device.sent(x))
    assert "s = s + x[k]" in text and "y[0].copy()" in text and "with np.errstate" in text
    product = tangentc.grad(lambda x: x[0] * x[1])
    assert "copy()" not in product.source_for(device.sent(x))


def holds_arrays(x):
    if isinstance(x, dict):
        return any(map(holds_arrays, x.values()))
    return isinstance(x, np.ndarray) or isinstance(x, (tuple, list)) and any(map(holds_arrays, x))


ON_DEVICE = [(*row, name) for row, name in zip(PROGRAMS, IDS, strict=True) if holds_arrays(list(row[2]))]
RUNS = ("polybench", "entries", "in_place", "views_of_views", "scalars", "carried", "layouts")  # all of these do
OTHERWISE = {  # what differs on the device by itself: the class of a number, and what CuPy has or does otherwise
    "matched-numbers_with_a_guard", "in_place-shuffled", "in_place-batches_of_a_shuffled_order",
    "in_place-index_set_through_a_view", "language-scattered",  # two values are stored into one entry
    "corners-drawn_globally", "exceptions-chol", "language-cholesky_with_jitter",  # other numbers, and NaN for an error
    *(f"layouts-{name}" for name in ("product_of_transposed", "negated_transposed", "sine_of_transposed",
                                     "asked_for_in_columns")),
}  # fmt: skip
REFUSES = (TypeError, AttributeError, ValueError, IndexError, NotImplementedError, tangentc.TangentcError)


def agrees_on(module, family, function, args, name, send, fetch):
    """Where code runs on the device at all, it gives what it gives on the host."""
    wrt = moving(args)
    try:
        wanted, on_host = tangentc.value_and_grad(function, wrt=wrt)(*fresh(args))
        value, gradients = tangentc.value_and_grad(function, wrt=wrt)(*send(list(fresh(args))))
    except REFUSES as error:
        assert family not in RUNS or name in OTHERWISE, error
        pytest.skip(f"CuPy has not all of this: {error}")
    if name in OTHERWISE:
        return
    np.testing.assert_allclose(np.asarray(fetch(value)), wanted, rtol=1e-9, atol=1e-12)
    for (_, a), (_, b) in zip(flatten(fetch(list(gradients))), flatten(list(on_host)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)


def by_day(k, row):
    return () if k % 8 == 0 or row[0] in RUNS else pytest.mark.nightly


programs_ = pytest.mark.parametrize("family, function, args, name", ON_DEVICE, ids=[row[3] for row in ON_DEVICE])
some_by_day = pytest.mark.parametrize(
    "family, function, args, name",
    [pytest.param(*row, marks=by_day(k, row)) for k, row in enumerate(ON_DEVICE)],
    ids=[row[3] for row in ON_DEVICE],
)


@some_by_day
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_programs_by_the_rules_of_the_device(stand_in, family, function, args, name):
    agrees_on(stand_in, family, function, args, name, device.sent, device.fetched)


@pytest.mark.gpu
@programs_
@pytest.mark.filterwarnings("ignore")
def test_programs_on_the_device(family, function, args, name):
    import cupy

    def moved(x, array, change):
        if isinstance(x, array):
            return change(x)
        if type(x) is dict:
            return {key: moved(v, array, change) for key, v in x.items()}
        return type(x)(moved(v, array, change) for v in x) if type(x) in (tuple, list) else x

    agrees_on(
        cupy, "any", function, args, name,
        lambda x: moved(x, np.ndarray, cupy.asarray), lambda x: moved(x, cupy.ndarray, cupy.asnumpy),
    )  # fmt: skip


@pytest.mark.gpu
@pytest.mark.parametrize("name", [n for n in CASES if n not in ("cost", "bend", "logistic_map", "newton_sqrt")])
def test_targets_run_on_the_device(name):
    import cupy

    def move(x):
        if isinstance(x, np.ndarray):
            return cupy.asarray(x)
        return {k: move(v) for k, v in x.items()} if isinstance(x, dict) else x

    args, wrt = CASES[name]
    gradient = tangentc.grad(getattr(emitted_targets, name), wrt=wrt)
    on_host, on_gpu = gradient(*args), gradient(*map(move, args))
    pairs = zip(on_host, on_gpu, strict=True) if isinstance(on_host, tuple) else [(on_host, on_gpu)]
    for a, b in pairs:
        for x, y in zip(a.values(), b.values(), strict=True) if isinstance(a, dict) else [(a, b)]:
            assert not isinstance(y, np.ndarray)
            np.testing.assert_allclose(x, cupy.asnumpy(y), rtol=1e-10)
