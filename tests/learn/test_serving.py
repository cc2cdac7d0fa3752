"""Models in folders that run alone."""

import functools
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

import tangentc
import tangentc.inspection.export
from tangentc import learn
from tangentc.errors import BadArgument, TangentcError
from tangentc.learn import functions as F
from tangentc.learn.serving import load, save

RNG = np.random.default_rng(0)
X = RNG.normal(size=(5, 3))


class LinearLayer:
    def __init__(self, m, n):
        self.weight = RNG.normal(size=(m, n)) / np.sqrt(m)
        self.bias = np.zeros(n)

    def __call__(self, x):
        return x @ self.weight + self.bias


class FullBasicModel:
    def __init__(self):
        self.first, self.second = LinearLayer(3, 4), LinearLayer(4, 2)
        self.log = [lambda: None]  # which no call reads

    def forward(self, x):
        return self.second(np.tanh(self.first(x)))

    def __call__(self, x):
        return self.forward(x)


def relu(x):
    return np.maximum(x, 0.0)


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


@dataclass
class Dense:
    weight: Any
    bias: Any
    activation: Any = None

    def __call__(self, x):
        y = x @ self.weight + self.bias
        return y if self.activation is None else self.activation(y)


@dataclass
class Network:
    layers: list
    scale: float = float("inf")
    temperature: Any = np.float32(2.0)
    mode: str = "softmax"
    more: dict = field(default_factory=lambda: {"shift": np.ones(2), 3: (1.0, None)})

    def __call__(self, x, y=None, factor=2.0):
        for layer in self.layers:
            x = layer(x)
        x = x + self.more["shift"] * self.more[3][0] + factor
        return softmax(np.minimum(x, self.scale) / self.temperature) if self.mode == "softmax" else x


def network():
    return Network([Dense(RNG.normal(size=(3, 4)), np.zeros(4), relu), Dense(RNG.normal(size=(4, 2)), np.ones(2))])


class Recurrent:
    """A loop over time, written in place."""

    def __init__(self):
        self.w, self.steps = RNG.normal(size=(3, 3)).astype(np.float32), 4

    def __call__(self, x, start):
        states = np.zeros((self.steps, len(x), 3), np.float32)
        h = start
        for k in range(self.steps):
            h = np.tanh(h @ self.w + x)
            states[k] = h
        return {"states": states, "ends": (h, h.sum(axis=1))}


class Pair(NamedTuple):
    a: Any
    b: Any


def line(parameters, x):
    return x @ parameters["w"] + parameters["by"].a * parameters["by"].b


def alone(folder, *arguments, program=None):
    """Run a folder in a process that has NumPy, and neither tangentc nor the site packages."""
    home = folder.parent / "packages"
    home.mkdir(exist_ok=True)
    packages = Path(np.__file__).parent.parent
    for part in ("numpy", "numpy.libs"):
        if (packages / part).exists() and not (home / part).exists():
            (home / part).symlink_to(packages / part)
    command = ["-m", folder.name, *map(str, arguments)] if program is None else ["-c", program]
    return subprocess.run(
        [sys.executable, "-S", "-B", *command], cwd=folder.parent, capture_output=True, text=True, timeout=60,
        env={"PYTHONPATH": str(home), "PATH": os.environ["PATH"], "OPENBLAS_NUM_THREADS": "1"},
    )  # fmt: skip


def output_of(folder, **inputs):
    np.savez(folder.parent / "input.npz", **inputs)
    done = alone(folder, "input.npz", "output.npz")
    assert done.returncode == 0, done.stderr
    with np.load(folder.parent / "output.npz", allow_pickle=False) as file:
        return dict(file)


# ---------------------------------------------------------- what runs alone
def test_the_classes_of_the_lecture_run_alone(tmp_path):
    model = FullBasicModel()
    folder = save(model, tmp_path / "saved", X)
    assert sorted(np.load(folder / "parameters.npz")) == [
        "first.bias", "first.weight", "second.bias", "second.weight",
    ]  # fmt: skip
    for n in (5, 1, 64):
        x = RNG.normal(size=(n, 3))
        assert output_of(folder, x=x)["output"].tobytes() == model(x).tobytes()
    done = alone(
        folder, program="import saved, sys; print([m for m in sys.modules if 'tangentc' in m or 'serving' in m])"
    )
    assert done.stdout == "[]\n", done.stderr
    assert "tangentc" not in "".join(
        line for file in folder.glob("*.py") for line in file.read_text().splitlines() if "import" in line
    )
    assert "self.weight + self.bias" in (folder / "primal.py").read_text()


@pytest.mark.parametrize("flags", [[], ["-I"], ["-P"]])
def test_the_folder_itself_is_a_program(tmp_path, flags):
    model = network()
    folder = save(model, tmp_path / "saved", X)
    np.savez(tmp_path / "in.npz", x=X)
    command = [sys.executable, *flags, "-B", folder, tmp_path / "in.npz", tmp_path / "out.npz"]
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True, cwd="/", timeout=60)
    assert done.returncode == 0, done.stderr
    assert np.load(tmp_path / "out.npz")["output"].tobytes() == model(X).tobytes()


def test_dataclasses_settings_and_functions_in_attributes(tmp_path):
    model = network()
    folder = save(model, tmp_path / "saved", X)
    assert output_of(folder, x=X)["output"].tobytes() == model(X).tobytes()
    model.mode, model.layers[0].activation = "logits", np.tanh
    folder = save(model, tmp_path / "saved", X)  # in place of the other
    assert output_of(folder, x=X)["output"].tobytes() == model(X).tobytes()
    assert sorted(p.name for p in tmp_path.iterdir() if "-" in p.name) == []


def test_a_folder_that_gives_something_else_is_not_kept(tmp_path, monkeypatch):
    def other(f, file, *args, bare):
        path = tangentc.inspection.export.export(f, file, *args, bare=bare)
        path.write_text(
            path.read_text().replace("x @ self.weight + self.bias", "self.bias + x @ self.weight * 1.0000001")
        )

    monkeypatch.setitem(vars(tangentc), "export", other)
    with pytest.raises(BadArgument, match="not the same"):
        save(FullBasicModel(), tmp_path / "saved", X)
    assert not list(tmp_path.iterdir())


def test_containers_come_out_by_their_paths(tmp_path):
    model, x, start = Recurrent(), X.astype(np.float32), np.ones((5, 3), np.float32)
    want = model(x, start)
    got = output_of(save(model, tmp_path / "saved", x, start), x=x, start=start)
    assert sorted(got) == ["output.ends.0", "output.ends.1", "output.states"]
    for name, array in zip(sorted(got), [*want["ends"], want["states"]]):
        assert got[name].dtype == np.float32 and got[name].tobytes() == array.tobytes()


@pytest.mark.parametrize("kind", ["partial", "method", "function", "namespace"])
def test_other_things_that_are_called(tmp_path, kind):
    parameters = {"w": np.asfortranarray(RNG.normal(size=(3, 2))), "by": Pair(np.ones(2), 0.5)}
    model = {
        "partial": functools.partial(line, parameters),
        "method": FullBasicModel().forward,
        "function": relu,
        "namespace": functools.partial(lambda p, x: x @ p.layer.w, SimpleNamespace(layer=SimpleNamespace(w=X.T))),
    }[kind]
    folder = save(model, tmp_path / "saved", X)
    assert output_of(folder, x=X)["output"].tobytes() == model(X).tobytes()
    assert load(folder).predict(X).tobytes() == model(X).tobytes()


def test_an_axis_of_any_length_only_where_it_is_a_batch(tmp_path):
    model = FullBasicModel()
    fixed = load(save(model, tmp_path / "fixed", X, batch=False))
    with pytest.raises(ValueError, match=r"x is float64\[4, 3\]; the model was made for float64\[5, 3\]"):
        fixed.predict(X[:4])
    assert load(save(model, tmp_path / "free", X)).predict(X[:0]).shape == (0, 2)


class Remembering(FullBasicModel):
    def forward(self, x):
        self.hidden = np.tanh(self.first(x))
        return self.second(self.hidden)


def test_what_a_call_keeps_and_does_not_read_again_is_no_change(tmp_path):
    model = Remembering()
    folder = save(model, tmp_path / "saved", X)
    assert not hasattr(model, "hidden")  # saving calls a copy
    assert output_of(folder, x=X)["output"].tobytes() == model(X).tobytes()


# ---------------------------------------------------------- the adjoint
@pytest.mark.parametrize("make", [FullBasicModel, network], ids=["classes", "dataclasses"])
def test_the_adjoint_is_saved_beside(tmp_path, make):
    model = make()
    folder = save(model, tmp_path / "saved", X, adjoint=True)
    seed, x = RNG.normal(size=(7, 2)), RNG.normal(size=(7, 3))
    got = load(folder).adjoint(seed, x)
    want = tangentc.grad(lambda m: np.sum(seed * m(x)))(model)
    flat = {p: g for p, g in tangentc.tree.items(want) if np.ndim(g) or "scale" in p or "temp" in p}
    assert {"first.weight", "second.bias"} <= set(got) or {"layers.0.weight", "layers.1.bias"} <= set(got)
    for path, array in flat.items():
        np.testing.assert_allclose(got[path], array, rtol=1e-12, atol=1e-14)
    np.savez(tmp_path / "both.npz", x=x, seed=seed)
    program = (
        "import numpy as np, saved, hashlib\nf = np.load('both.npz')\ng = saved.adjoint(f['seed'], f['x'])\n"
        "print({k: hashlib.sha256(np.asarray(v).tobytes()).hexdigest() for k, v in g.items()})"
    )
    done = alone(folder, program=program)
    import hashlib

    assert eval(done.stdout) == {k: hashlib.sha256(v.tobytes()).hexdigest() for k, v in got.items()}, done.stderr
    with pytest.raises(ValueError, match=r"out_bar is float64\[7, 3\]; the model was made for float64\[\*, 2\]"):
        load(folder).adjoint(x, x)


def windows(x, n):
    return np.lib.stride_tricks.sliding_window_view(x, n, axis=-1)


def convolved(x, w, pad=1):
    return windows(np.pad(x, ((0, 0), (pad, pad))), len(w)) @ w


@tangentc.adjoint_rule(convolved)
def convolved_rule(x, w, pad, y, y_bar):
    return convolved(y_bar, w[::-1].copy(), len(w) - 1 - pad), by_weights(y_bar, x, pad), None


def by_weights(y_bar, x, pad):
    x = np.pad(x, ((0, 0), (pad, pad)))
    return np.einsum("nk,nkj->j", y_bar, windows(x, x.shape[1] - y_bar.shape[1] + 1))


@dataclass
class Convolution:
    w: Any
    pad: int = 1

    def __call__(self, x):
        return convolved(np.tanh(convolved(x, self.w, self.pad)), self.w, self.pad)


def test_functions_with_rules_and_the_errors_of_helpers_are_written_in(tmp_path):
    model, seed = Convolution(np.array([0.5, 1.0, -0.3])), np.ones((5, 3))
    folder = save(model, tmp_path / "saved", X, adjoint=True)
    assert "class BadRule(Exception)" in (folder / "adjoint.py").read_text()
    got, step = load(folder).adjoint(seed, X)["w"], 1e-6
    for k in range(3):
        ends = [Convolution(model.w + sign * step * np.eye(3)[k])(X).sum() for sign in (1, -1)]
        assert abs(got[k] - (ends[0] - ends[1]) / (2 * step)) < 1e-7
    np.savez(tmp_path / "in.npz", x=X)
    program = "import numpy as np, saved; print(saved.adjoint(np.ones((5, 3)), np.load('in.npz')['x'])['w'].tolist())"
    done = alone(folder, program=program)
    assert eval(done.stdout) == got.tolist(), done.stderr


def test_without_asking_there_is_no_adjoint(tmp_path):
    folder = save(FullBasicModel(), tmp_path / "saved", X)
    assert not hasattr(load(folder), "adjoint") and not (folder / "adjoint.py").exists()
    with pytest.raises(BadArgument, match="no adjoint"):
        save(Recurrent(), tmp_path / "other", X.astype("f4"), X.astype("f4"), adjoint=True)
    assert not (tmp_path / "other").exists()


# ---------------------------------------------------------- what is refused
@pytest.mark.parametrize(
    "inputs, said",
    [
        ({"x": np.ones((5, 4))}, r"x is float64\[5, 4\]; the model was made for float64\[\*, 3\]"),
        ({"x": np.ones(3)}, r"x is float64\[3\]"),
        ({"x": np.ones((5, 3), np.float32)}, r"x is float32\[5, 3\]"),
        ({"y": X}, "the inputs are x; the file has y"),
        ({}, "the inputs are x; the file has none"),
    ],
)
def test_other_inputs_are_refused_by_name(tmp_path, inputs, said):
    folder = save(FullBasicModel(), tmp_path / "saved", X)
    np.savez(tmp_path / "input.npz", **inputs)
    done = alone(folder, "input.npz", "output.npz")
    assert done.returncode == 1 and not (tmp_path / "output.npz").exists() and "Traceback" not in done.stderr
    import re

    assert re.search(said, done.stderr), done.stderr


class Averaging:
    def __init__(self):
        self.mean = np.zeros(3)

    def __call__(self, x):
        self.mean *= 0.9
        self.mean += 0.1 * np.mean(x, axis=0)
        return x - self.mean


class Rebinding(Averaging):
    def __call__(self, x):
        self.mean = 0.9 * self.mean + 0.1 * np.mean(x, axis=0)
        return x - self.mean


class Drawing:
    def __init__(self):
        self.rng = np.random.default_rng(0)

    def __call__(self, x):
        return x * self.rng.normal(size=x.shape)


@pytest.mark.parametrize("make", [Averaging, Rebinding, Drawing])
def test_a_model_that_changes_or_draws_is_refused(tmp_path, make):
    model = make()
    said = "draws random numbers from rng" if make is Drawing else "the call changes mean"
    with pytest.raises(BadArgument, match=said):
        save(model, tmp_path / "saved", X)
    assert not list(tmp_path.iterdir())
    assert make is Drawing or not model.mean.any()


def test_a_model_with_dropout_is_saved_while_it_is_evaluated(tmp_path):
    rng = np.random.default_rng(0)
    model = learn.Sequential([learn.Linear.of(3, 4, rng), learn.Dropout(0.5, rng), learn.Linear.of(4, 2, rng)])
    x, before = np.ones((2, 3)), repr(rng.bit_generator.state)
    with pytest.raises(BadArgument, match=r"draws random numbers from layers\.1\.rng"):
        save(model, tmp_path / "saved", x)
    with learn.evaluating(model):
        path = save(model, tmp_path / "saved", x, adjoint=True)
        np.testing.assert_array_equal(load(path).predict(x), model(x))
    assert repr(rng.bit_generator.state) == before


def convolutions(rng):
    conv = learn.Conv.of(1, 3, 3, rng, padding="same")
    return [conv, learn.BatchNorm.of(3), F.relu, learn.MaxPool(2), learn.Conv.of(3, 3, 2, rng, groups=3), F.silu]


def transposed(rng):
    return [learn.ConvTranspose.of(1, 2, 3, rng, stride=2), learn.GroupNorm.of(2, 2), learn.AveragePool(2)]


@pytest.mark.parametrize("layers", [convolutions, transposed])
def test_networks_of_convolutions_run_alone(tmp_path, layers):
    rng = np.random.default_rng(0)
    end = [learn.flatten, learn.Linear.of(27 if layers is convolutions else 128, 2, rng)]
    model, x = learn.Sequential([*layers(rng), *end]), rng.normal(size=(2, 1, 8, 8))
    with learn.evaluating(model):
        path = save(model, tmp_path / "saved", x, adjoint=True)
        np.testing.assert_array_equal(output_of(path, x=x)["output"], model(x))


@pytest.mark.parametrize(
    "model, examples, said",
    [
        (3.0, [X], "float cannot be saved"),
        (np.tanh, [X], "ufunc cannot be saved"),
        (lambda *xs: xs[0], [X], "no names"),
        (lambda x, y: x + y, [X], "no example of y"),
        (lambda x: x, [X, X], "no names for 2"),
        (lambda x: x, [3.0], "example of x is a float"),
        (functools.partial(lambda x, k: x * k, k=2.0), [X], "partial cannot be saved"),
    ],
)
def test_what_cannot_be_saved(tmp_path, model, examples, said):
    with pytest.raises(TangentcError, match=said):
        save(model, tmp_path / "saved", *examples)
    assert not list(tmp_path.iterdir())


def test_paths_that_are_taken_or_no_names_are_refused(tmp_path):
    (tmp_path / "mine").mkdir()
    with pytest.raises(BadArgument, match="mine exists"):
        save(relu, tmp_path / "mine", X)
    with pytest.raises(BadArgument, match="no name for a package"):
        save(relu, tmp_path / "a.b", X)
    with pytest.raises(BadArgument, match="no saved model"):
        load(tmp_path / "mine")


# ---------------------------------------------------------- exporting a function itself
def test_a_function_itself_is_exported_to_the_bit(tmp_path):
    def stencil(u, steps):
        u = u.copy()
        total = 0.0
        for _ in range(steps):
            u[1:-1] += 0.1 * (u[2:] - 2.0 * u[1:-1] + u[:-2])
            total += u[1] * u[2] + 0.1 * u[3] * 3.0
        return u, total

    path = tangentc.export(stencil, tmp_path / "stencil.py", X[:, 0], 3)
    made: dict = {}
    exec(path.read_text(), made)
    for got, want in zip(made["stencil"](X[:, 0], 3), stencil(X[:, 0], 3)):
        assert np.asarray(got).tobytes() == np.asarray(want).tobytes()
    with pytest.raises(ValueError, match="stencil was made for"):
        made["stencil"](X, 3)
