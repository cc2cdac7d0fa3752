"""Optimisers: the steps of PyTorch and of the papers, in place, with the same bits however they are run."""

import io
import json
from dataclasses import dataclass
from types import SimpleNamespace

import device
import numpy as np
import pytest

from learn import optimiser_figures as figures
from tangentc import grad, tree
from tangentc.errors import BadArgument
from tangentc.learn import optimisers as o
from tangentc.learn.optimisers import base, steps
from tangentc.learn.trained import State, gradients, parameters

KEPT = json.loads(figures.FILE.read_text())
ALL = [
    o.SGD(0.1), o.Momentum(0.1), o.Momentum(0.1, damping=0.3), o.Nesterov(0.1), o.Adagrad(0.1), o.Adagrad(0.1, 0.5),
    o.RMSProp(), o.RMSProp(centered=True), o.RMSProp(momentum=0.5), o.RMSProp(momentum=0.5, centered=True), o.Adam(0.1),
    o.AdamW(0.1), o.Adamax(0.1), o.NAdam(0.1), o.Lion(0.1), o.LAMB(0.1),
]  # fmt: skip


def name_of(optimiser):
    return repr(optimiser)[:60]


def changed(optimiser, **settings):
    return type(optimiser)(**{**vars(optimiser), **settings})


def run(optimiser, model, count, slope=figures.slope, first=0, state=None):
    """Steps by a gradient of PyTorch's convention; what the model is after the first one, and the state."""
    state = optimiser.init(model) if state is None else state
    seen = None
    for step in range(first, first + count):
        gradient = {name: g.conj() for name, g in slope(model, step).items()}
        optimiser.update(model, gradient, state)
        seen = {name: p.copy() for name, p in model.items()} if seen is None else seen
    return seen, state


def assert_same(a, b, within=0.0):
    assert a.keys() == b.keys()
    for name in a:
        assert a[name].dtype == b[name].dtype
        np.testing.assert_allclose(a[name], b[name], rtol=within, atol=within, err_msg=name)


# ------------------------------------------------------------------ beside PyTorch
def ours(name, kernels):
    (cls, settings), _ = figures.CASES[name]
    if kernels:
        pytest.importorskip("numba")
    return getattr(o, cls)(**settings, kernels=kernels)


def restored(numbers, dtype):
    like = figures.start(dtype)
    return {name: np.array(flat).view(dtype).reshape(like[name].shape) for name, flat in numbers.items()}


@pytest.mark.parametrize("kernels", [None, "numba"])
@pytest.mark.parametrize("name", figures.CASES)
def test_fifty_steps_are_those_that_pytorch_took(name, kernels):
    model = figures.start()
    first, _ = run(ours(name, kernels), model, figures.STEPS)
    for found, kept in zip((first, model), KEPT["runs"][name]):
        assert_same(found, restored(kept, np.float64), 1e-10)


@pytest.mark.parametrize("name", figures.COMPLEX)
def test_complex_parameters_step_as_pytorch_s(name):
    model = figures.start(np.complex128)
    first, _ = run(ours(name, None), model, figures.STEPS)
    for found, kept in zip((first, model), KEPT["complex"][name]):
        assert_same(found, restored(kept, np.complex128), 1e-10)


@pytest.mark.parametrize("name", figures.CASES)
def test_fifty_steps_are_those_of_pytorch_now(name):
    pytest.importorskip("torch")
    model = figures.start()
    first, _ = run(ours(name, None), model, figures.STEPS)
    for found, theirs in zip((first, model), figures.torch_run(name)):
        assert_same(found, theirs, 1e-10)


def test_defaults_are_those_of_pytorch():
    torch = pytest.importorskip("torch")
    names = {"rate": "lr", "beta": "alpha", "initial": "initial_accumulator_value", "decay": "weight_decay"}
    for name in figures.DEFAULTS:
        mine = vars(getattr(o, name)())
        theirs = getattr(torch.optim, {"RMSProp": "RMSprop"}.get(name, name))(
            [torch.nn.Parameter(torch.zeros(1))]
        ).defaults
        given = {
            names.get(k, k): v for k, v in mine.items() if k not in ("decay_on", "clip", "kernels", "beta1", "beta2")
        }
        assert {k: theirs[k] for k in given} == given
        if "beta1" in mine:
            assert (mine["beta1"], mine["beta2"]) == tuple(theirs["betas"])


# ------------------------------------------------------------------ beside the papers
def by_the_paper_of_lion(model, count, rate, beta1, beta2, decay):
    m = {name: np.zeros_like(p) for name, p in model.items()}
    for step in range(count):
        g = figures.slope(model, step)
        for name, theta in model.items():
            update = np.sign(beta1 * m[name] + (1 - beta1) * g[name])
            theta[...] = theta - rate * (update + decay * theta)
            m[name] = beta2 * m[name] + (1 - beta2) * g[name]


def by_the_paper_of_lamb(model, count, rate, beta1, beta2, eps, decay):
    m = {name: np.zeros_like(p) for name, p in model.items()}
    v = {name: np.zeros_like(p) for name, p in model.items()}
    for t in range(1, count + 1):
        g = figures.slope(model, t - 1)
        for name, x in model.items():
            m[name] = beta1 * m[name] + (1 - beta1) * g[name]
            v[name] = beta2 * v[name] + (1 - beta2) * g[name] ** 2
            r = (m[name] / (1 - beta1**t)) / (np.sqrt(v[name] / (1 - beta2**t)) + eps)
            u = r + decay * x
            x[...] = x - rate * np.linalg.norm(x) / np.linalg.norm(u) * u


def test_lion_does_what_its_paper_says():
    model, theirs = figures.start(), figures.start()
    run(o.Lion(0.01, 0.8, 0.95, decay=0.2), model, 50)
    by_the_paper_of_lion(theirs, 50, 0.01, 0.8, 0.95, 0.2)
    assert_same(model, theirs, 1e-12)


def test_lamb_does_what_its_paper_says():
    model, theirs = figures.start(), figures.start()
    run(o.LAMB(0.02, 0.8, 0.95, decay=0.2), model, 50)
    by_the_paper_of_lamb(theirs, 50, 0.02, 0.8, 0.95, 1e-6, 0.2)
    assert_same(model, theirs, 1e-12)


def test_lamb_steps_by_the_rate_itself_where_a_parameter_is_zero():
    model = {"w": np.zeros(2)}
    optimiser = o.LAMB(0.1)
    optimiser.update(model, {"w": np.array([2.0, -2.0])}, optimiser.init(model))
    np.testing.assert_allclose(model["w"], [-0.1, 0.1], rtol=1e-6)


# ------------------------------------------------------------------ one rule, run in several ways
def wavy(model, step):
    return {
        name: np.asarray(np.cos(step + np.arange(p.size)).reshape(p.shape).astype(p.dtype) + p * p.dtype.type(0.5))
        for name, p in model.items()
    }


def large(rng, dtype=np.float32):
    """More than one block of memory, and not a whole number of these."""
    size = 2 * steps.BLOCK // np.dtype(dtype).itemsize + 77
    return {
        "w": rng.normal(size=size).astype(dtype),
        "b": rng.normal(size=(3, 5)).astype(dtype),
        "s": np.array(2, dtype),
    }


@pytest.mark.parametrize("optimiser", ALL, ids=name_of)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_numba_gives_the_same_bits(optimiser, dtype, rng):
    pytest.importorskip("numba")
    optimiser = changed(optimiser, decay=0.1, decay_on=("w", "s"), clip=0.5)
    model = large(rng, dtype)
    other = {name: p.copy() for name, p in model.items()}
    _, state = run(optimiser, model, 4, wavy)
    _, compiled = run(changed(optimiser, kernels="numba"), other, 4, wavy)
    assert_same(model, other)
    for buffer in optimiser.buffers:
        assert_same(state[buffer], compiled[buffer])


@pytest.mark.parametrize("optimiser", ALL, ids=name_of)
@pytest.mark.parametrize("layout", ["Fortran", "every second", "reversed", "turned", "slice"])
def test_layouts_of_memory_do_not_matter(optimiser, layout, rng):
    def laid(a):
        if layout == "Fortran":
            return np.asfortranarray(a)
        if layout == "every second":
            return np.repeat(a, 2, axis=-1)[..., ::2]
        if layout == "reversed":
            return a[::-1].copy()[::-1]
        return a.T.copy().T if layout == "turned" else np.pad(a, 2)[2:-2, 2:-2]

    optimiser = changed(optimiser, decay=0.1)
    plain = {"w": rng.normal(size=(40, 30)).astype(np.float32)}
    model = {"w": laid(plain["w"])}
    run(optimiser, model, 3, wavy)
    other = {"w": plain["w"].copy()}
    run(optimiser, other, 3, lambda m, k: {"w": laid(wavy(m, k)["w"])})
    run(optimiser, plain, 3, wavy)
    close = 1e-6 if isinstance(optimiser, o.LAMB) else 0.0  # its norms add up in another order
    assert_same(model, plain, close)
    assert_same(other, plain)


@pytest.mark.parametrize("optimiser", ALL, ids=name_of)
def test_float32_is_computed_in_float32(optimiser, rng, monkeypatch):
    seen, run_one = set(), steps.Steps.run

    def noted(self, rule, arrays):
        def watched(n, *own):
            new = rule(n, *own)
            seen.update(a.dtype.name for a in (*n, *own, *new))
            return new

        run_one(self, watched, arrays)

    monkeypatch.setattr(steps.Steps, "run", noted)
    model = large(rng)
    _, state = run(changed(optimiser, decay=0.1, clip=0.5), model, 3, wavy)
    assert seen == {"float32"}
    assert {a.dtype.name for _, a in tree.items(state) if hasattr(a, "dtype")} <= {"float32"}
    assert all(p.dtype == np.float32 for p in model.values())


# ------------------------------------------------------------------ state
def through_files(state):
    """A state as `.npz` and JSON have it."""
    leaves = tree.items(state, every=True)
    numbers = json.loads(json.dumps({path: x for path, x in leaves if not isinstance(x, np.ndarray)}))
    file = io.BytesIO()
    np.savez(file, **{path: x for path, x in leaves if isinstance(x, np.ndarray)})
    arrays = np.load(io.BytesIO(file.getvalue()), allow_pickle=False)
    return tree.unflatten(tree.flatten(state, every=True)[1], [numbers.get(p, arrays.get(p)) for p, _ in leaves])


@pytest.mark.parametrize("optimiser", [*ALL, o.Accumulate(o.Adam(0.1), 2)], ids=name_of)
def test_a_run_resumes_to_the_bit(optimiser):
    whole, halves = figures.start(), figures.start()
    run(optimiser, whole, 10)
    _, state = run(optimiser, halves, 5)
    again = through_files(state)
    assert {type(x) for _, x in tree.items(again, every=True)} <= {int, float, np.ndarray}
    run(optimiser, halves, 5, first=5, state=again)
    assert_same(whole, halves)


def test_updates_are_in_place():
    model = figures.start()
    held, optimiser = dict(model), o.Adam(0.1)
    state = optimiser.init(model)
    mean = state["mean"]["weight"]
    assert optimiser.update(model, figures.slope(model, 0), state) is None
    assert all(model[name] is held[name] for name in model) and state["mean"]["weight"] is mean
    assert state["step"] == 1 and mean.any()


def test_states_of_others_are_refused():
    model = figures.start()
    slope = figures.slope(model, 0)
    with pytest.raises(BadArgument, match="no 'mean'"):
        o.Adam().update(model, slope, o.SGD().init(model))
    with pytest.raises(BadArgument, match="no 'mean'"):
        o.Adam().update(model, slope, o.Adam().init({"weight": model["weight"]}))
    with pytest.raises(BadArgument, match="of shape"):
        o.Adam().update(model, slope, o.Adam().init({**model, "bias": np.zeros(3)}))
    with pytest.raises(BadArgument, match="float32"):
        o.Adam().update(model, slope, o.Adam().init({**model, "bias": np.zeros(2, np.float32)}))
    assert_same(model, figures.start())


# ------------------------------------------------------------------ models and gradients
@dataclass
class Layer:
    weight: np.ndarray
    mean: State
    power: float = 2.0


def test_gradients_by_objects_are_taken_as_they_come():
    shared = np.array([1.0, 2.0])
    model = SimpleNamespace(first=Layer(shared, np.ones(2)), rest=[Layer(np.array([3.0]), np.ones(1))], last=shared)

    def loss(model):
        return (
            np.sum(model.first.weight * model.first.mean) + 2 * np.sum(model.last) + np.sum(model.rest[0].weight ** 2)
        )

    optimiser, gradient = o.SGD(0.1), grad(loss)(model)
    optimiser.update(model, gradient, optimiser.init(model))
    np.testing.assert_allclose(shared, [0.7, 1.7])  # of both its places
    np.testing.assert_allclose(model.rest[0].weight, [2.4])
    assert model.first.mean.tolist() == [1.0, 1.0]
    optimiser.update(model, gradients(model, gradient), optimiser.init(model))
    np.testing.assert_allclose(shared, [0.4, 1.4])


def test_attributes_with_the_names_of_methods_of_dicts_are_found():
    model = SimpleNamespace(values=SimpleNamespace(items=np.array([1.0])), keys=np.array([2.0]))
    gradient = {"values.items": np.array([3.0]), "keys": np.array([4.0])}
    assert gradients(model, gradient) == gradient
    with pytest.raises(BadArgument, match="nothing at keys"):
        gradients(model, {"values.items": np.array([3.0])})


def test_complex_parameters_fall_with_what_grad_gives():
    model = {"z": np.zeros(3, complex)}
    optimiser, slope = o.Adam(0.1), grad(lambda m: np.sum(np.abs(m["z"] - (1.0 + 2.0j)) ** 2))
    state = optimiser.init(model)
    for _ in range(400):
        optimiser.update(model, slope(model), state)
    np.testing.assert_allclose(model["z"], 1 + 2j, atol=1e-3)


def test_a_gradient_may_be_memory_of_parameters():
    model = {"a": np.array([1.0, 2.0]), "b": np.array([3.0, 4.0]), "c": np.array([1.0, 1.0, 1.0])}
    gradient = {"a": model["b"], "b": model["a"], "c": model["c"][::-1]}
    o.SGD(0.5).update(model, gradient, {"step": 0})
    assert [p.tolist() for p in model.values()] == [[-0.5, 0.0], [2.5, 3.0], [0.5, 0.5, 0.5]]


@pytest.mark.parametrize("kernels", [None, "numba"])
def test_a_gradient_may_be_broadcast_read_only_or_a_number(kernels):
    if kernels:
        pytest.importorskip("numba")
    model = {"w": np.ones((2, 3)), "r": np.ones(2), "s": np.array(1.0), "none": np.ones((0, 3))}
    fixed = np.ones(2)
    fixed.flags.writeable = False
    gradient = {"w": np.broadcast_to(2.0, (2, 3)), "r": fixed, "s": np.float64(3.0), "none": np.ones((0, 3))}
    optimiser = o.Momentum(0.5, kernels=kernels)
    optimiser.update(model, gradient, optimiser.init(model))
    assert (model["w"] == 0.0).all() and model["r"].tolist() == [0.5, 0.5] and model["s"] == -0.5


def test_decay_is_limited_to_paths():
    def after(**settings):
        model = {"layers": [{"weight": np.ones(1), "bias": np.ones(1)}], "scale": np.ones(1)}
        optimiser = o.SGD(0.5, decay=1.0, **settings)
        optimiser.update(model, tree.map(np.zeros_like, model), optimiser.init(model))
        return [float(p[0]) for p in parameters(model).values()]

    assert after() == [0.5, 0.5, 0.5]
    assert after(decay_on="*weight") == [0.5, 1.0, 1.0]
    assert after(decay_on=("*bias", "scale")) == [1.0, 0.5, 0.5]
    assert after(decay_on=()) == [1.0, 1.0, 1.0]


def test_what_does_not_fit_is_refused_before_anything_changes():
    model = {"a": np.ones(2), "w": np.ones(2, np.float32)}
    optimiser = o.Momentum()
    state, good = optimiser.init(model), {"a": np.ones(2)}
    for bad, message in [
        (np.ones(2), "of float64"), (np.ones(3, np.float32), r"shape \(3,\)"), (np.ones(2, np.complex64), "complex64"),
    ]:  # fmt: skip
        with pytest.raises(BadArgument, match=message):
            optimiser.update(model, {**good, "w": bad}, state)
    model["w"].flags.writeable = False
    with pytest.raises(BadArgument, match="read-only"):
        optimiser.update(model, {**good, "w": np.ones(2, np.float32)}, state)
    with pytest.raises(BadArgument, match="nothing at w"):
        optimiser.update(model, good, state)
    assert model["a"].tolist() == [1.0, 1.0] and state["step"] == 0 and not state["velocity"]["a"].any()


def test_arrays_that_cannot_be_stepped_are_refused():
    fixed = np.ones(2)
    fixed.flags.writeable = False
    for w, message in [
        (np.ones(2, np.float16), "float16"), (np.ones((3, 3), complex)[::2, ::2], "complex128 and cannot"),
        (fixed, "w cannot be updated"),
    ]:  # fmt: skip
        model, optimiser = {"a": np.ones(2), "w": w}, o.Momentum()
        state = optimiser.init(model)
        with pytest.raises(BadArgument, match=message):
            optimiser.update(model, tree.map(np.ones_like, model), state)
        assert model["a"].tolist() == [1.0, 1.0]
    model = {"w": np.ones(2)}
    z = np.ones((2, 2), complex)
    with pytest.raises(BadArgument, match="in other orders"):
        o.Momentum().update({"z": z}, {"z": z}, {"step": 0, "velocity": {"z": np.asfortranarray(z)}})
    with pytest.raises(BadArgument, match="the state of w cannot be updated"):
        o.Momentum().update(model, model, {"step": 0, "velocity": {"w": fixed}})


def test_settings_and_models_that_make_no_sense_are_refused():
    for make, message in [
        (lambda: o.Adam(beta1=1.0), "beta1=1.0"), (lambda: o.Adam(-0.1), "rate=-0.1"),
        (lambda: o.Momentum(momentum=-0.5), "momentum"), (lambda: o.Adam(eps=float("nan")), "eps=nan"),
        (lambda: o.Adam(kernels="cuda"), "'cuda' is not known"), (lambda: o.Adam().init({"w": 1.0}), "no parameters"),
        (lambda: o.Accumulate(o.Adam(), 0), "0 batches"), (lambda: o.EMA(1.5), "decay=1.5"),
    ]:  # fmt: skip
        with pytest.raises(BadArgument, match=message):
            make()
    w = np.ones((3, 3))
    with pytest.raises(BadArgument, match="share memory"):
        o.Adam().init({"w": w, "tied": w.T})
    o.Adam().init({"left": w[:, :1], "right": w[:, 1:]})  # of one memory, but apart
    with pytest.raises(BadArgument, match="rate of step 0 is nan"):
        o.SGD(lambda step: float("nan")).update({"w": w}, {"w": w}, {"step": 0})


def test_without_numba_it_is_said_what_to_install(monkeypatch):
    monkeypatch.setattr(base, "find_spec", lambda name: None)
    with pytest.raises(BadArgument, match="needs Numba"):
        o.Adam(kernels="numba")


@pytest.mark.parametrize("optimiser", ALL, ids=name_of)
def test_arrays_of_the_device_step_there(optimiser):
    optimiser = changed(optimiser, decay=0.1, clip=0.5)
    there, here = {"w": np.linspace(-1, 1, 6).reshape(2, 3), "s": np.array(2.0)}, None
    here = {name: p.copy() for name, p in there.items()}
    with device.cupy():
        there = device.sent(there)
        held, state = dict(there), optimiser.init(there)
        local = optimiser.init(here)
        for step in range(4):
            gradient = wavy(here, step)
            optimiser.update(there, device.sent(gradient), state)
            optimiser.update(here, gradient, local)
        for name, p in here.items():
            assert there[name] is held[name]
            np.testing.assert_allclose(there[name].get(), p, rtol=1e-12)
        with pytest.raises(BadArgument, match="is a ndarray"):
            optimiser.update(there, gradient, state)


def test_gathering_and_averages_on_the_device():
    with device.cupy():
        there = device.sent({"w": np.ones(3), "s": np.array(1.0)})
        optimiser, average = o.Accumulate(o.SGD(1.0), 2), o.EMA(0.5)
        state, mean = optimiser.init(there), average.init(there)
        for g in (1.0, 3.0):
            optimiser.update(there, device.sent({"w": np.full(3, g), "s": np.array(g)}), state)
        average.update(there, mean)
        assert there["w"].get().tolist() == [-1.0] * 3 and mean["mean"]["s"].get() == 0.0
        average.swap(there, mean)
        assert there["s"].get() == 0.0 and mean["mean"]["w"].get().tolist() == [-1.0] * 3
        with pytest.raises(BadArgument, match="not an array of NumPy"):
            o.LBFGS().minimise(lambda m: np.sum(m["w"] ** 2), there)
