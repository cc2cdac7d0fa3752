"""Derivative functions, and what holds them, travel: by pickle, copies, processes and threads."""

import copy
import multiprocessing
import os
import pickle
import subprocess
import sys
import threading
from pathlib import Path

import cloudpickle
import numpy as np
import pytest
import travelling as t

import tangentc

W, X = np.array([0.3, -0.2]), np.arange(6.0).reshape(3, 2)
MADE = {
    "grad": (tangentc.grad(t.loss), (W, X)),
    "value_and_grad": (tangentc.value_and_grad(t.loss, wrt=("w", "x")), (W, X)),
    "adjoint": (tangentc.adjoint(t.loss), (W, X, 2.0)),
    "checked": (tangentc.grad(t.loss, check="finite"), (W, X)),
    "jacfwd": (tangentc.jacfwd(t.loss), (W, X)),
    "jacrev": (tangentc.jacrev(t.loss, wrt="x"), (W, X)),
    "hessian": (tangentc.hessian(t.loss), (W, X)),
    "of a derivative": (tangentc.jacfwd(tangentc.grad(t.loss)), (W, X)),
    "decorated": (t.decorated, (W, X)),
    "of a decorated one": (t.decorated.grad, (W, X)),
    "of a method": (tangentc.grad(t.Model(W).cost), (W,)),
    "of a decorated method": (t.Model(W).energy.grad, (W,)),
    "of a checkpointed one": (tangentc.grad(tangentc.checkpoint(t.loss)), (W, X)),
    "of a class method": (t.Model.cube.grad, (W,)),
    "of a static method": (t.Model.square.grad, (W,)),
    "pullback": (tangentc.vjp(t.loss, W, X)[1], (1.5,)),
}
WAYS = {
    "pickle": lambda f: pickle.loads(pickle.dumps(f)),
    "cloudpickle": lambda f: cloudpickle.loads(cloudpickle.dumps(f)),
    "deepcopy": copy.deepcopy,
    "copy": copy.copy,
}


def same(a, b):
    if isinstance(a, (tuple, list)):
        return len(a) == len(b) and all(map(same, a, b))
    return a is b is None or np.array_equal(a, b)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", MADE)
def test_every_derivative_function_travels(kind, way):
    function, args = MADE[kind]
    there = WAYS[way](function)
    assert same(there(*args), function(*args))
    assert getattr(there, "__name__", "") == getattr(function, "__name__", "")


def test_a_decorated_function_is_the_same_in_its_module():
    assert pickle.loads(pickle.dumps(t.decorated)) is t.decorated
    assert pickle.loads(pickle.dumps(t.loss)) is t.loss


@pytest.mark.parametrize("way", WAYS)
def test_what_holds_a_derivative_travels(way):
    model = WAYS[way](t.Model(W))
    assert same(model.gradient(W, X), tangentc.grad(t.loss)(W, X))
    assert same(model.energy.grad(W), 3 * W * W**2)
    assert same(WAYS[way](t.Fit(W)).step(X).w, t.Fit(W).step(X).w)


@pytest.mark.parametrize("method", ["fork", "spawn"])
def test_processes(method):
    with multiprocessing.get_context(method).Pool(2) as pool:
        found = pool.starmap(tangentc.grad(t.loss), [(W * k, X) for k in range(4)], chunksize=1)
        assert same(found, [tangentc.grad(t.loss)(W * k, X) for k in range(4)])
        assert same(pool.map(tangentc.grad(t.Model(W).cost), [W, 2 * W]), [W, W])
        assert same(pool.map(t.Model(W).energy.grad, [W, 2 * W]), [3 * W**3, 12 * W**3])


@pytest.mark.parametrize("backend", ["loky", "threading"])
def test_joblib(backend):
    joblib = pytest.importorskip("joblib")
    k = 3.0  # what a lambda holds goes along
    made = [tangentc.grad(t.loss), tangentc.grad(lambda w, x: k * np.sum(w * w)), t.decorated.grad]
    asked = [(f, W * scale) for f in made for scale in (1, 2, 3)]
    found = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(f)(w, X) for f, w in asked)
    assert same(found, [f(w, X) for f, w in asked])
    one = joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(slope_of)(t.loss, W * scale) for scale in (1, 2))
    assert same(one, [tangentc.grad(t.loss)(W * scale, X) for scale in (1, 2)])


def slope_of(function, w):
    """Makes the derivative where it is called."""
    return tangentc.grad(function)(w, X)


SCRIPT = """
import cloudpickle, copy, multiprocessing, pickle, sys
import numpy as np
import tangentc

@tangentc.differentiable
def f(x):
    return np.sum(x ** 3)

def g(x):
    return helper(x)

def helper(x):
    y = np.exp(x)
    if x[0] > 100:
        y = y * 2
    return np.sum(y) + 0 * helped(x)

def helped(x):
    return x[0]

class Model:
    def __init__(self, w):
        self.w = w
    @tangentc.differentiable(wrt="x")
    def energy(self, x):
        return np.sum(self.w * x**3)
    @tangentc.differentiable
    @classmethod
    def cube(cls, x):
        return np.sum(x**3)
    def scaled(self, x):
        return self.w * x
    def cost(self, x):
        return np.sum(self.scaled(x) ** 2)

if __name__ == "__main__" and sys.argv[1] == "dump":
    k = 2.0
    made = [f, f.grad, tangentc.grad(g), tangentc.hessian(g), tangentc.grad(lambda x: np.sum(x * k)),
            tangentc.grad(Model(3.0).cost), Model(2.0).energy.grad, Model.cube.grad,
            tangentc.grad(tangentc.checkpoint(g))]
    open(sys.argv[2], "wb").write(cloudpickle.dumps(made))
    assert pickle.loads(pickle.dumps(f.grad))(np.ones(2)).tolist() == [3.0, 3.0]
    assert pickle.loads(pickle.dumps(f))(np.ones(2)) == 2.0
    for again in (lambda made: pickle.loads(pickle.dumps(made)), copy.copy, copy.deepcopy):
        assert again(Model(2.0).energy)(np.ones(2)) == 4.0
        assert again(Model(2.0).energy.grad)(np.ones(2)).tolist() == [6.0, 6.0]
        assert again(Model.cube.grad)(np.ones(2)).tolist() == [3.0, 3.0]
        assert again(tangentc.grad(tangentc.checkpoint(g)))(np.zeros(2)).tolist() == [1.0, 1.0]
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(Model(2.0).energy.grad, [np.ones(2)])[0].tolist() == [6.0, 6.0]
"""
READER = """
import cloudpickle, sys
import numpy as np
f, of_f, of_g, h, of_lambda, of_method, energy, cube, checkpointed = cloudpickle.loads(open(sys.argv[1], "rb").read())
x = np.array([1.0, 2.0])
print(f(x), of_f(x), of_g(x).round(3), h(x).round(3).tolist(), of_lambda(x), of_method(x))
print(energy(x), cube(x), checkpointed(x).round(3))
"""


def test_functions_of_a_script_travel_by_value(tmp_path):
    """What stands in no module that others can import goes with its source, which is the text of its file."""
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "reader.py").write_text(READER)
    env = {**os.environ, "PYTHONPATH": str(Path(tangentc.__file__).parents[1])}

    def run(*args):
        done = subprocess.run([sys.executable, *args], capture_output=True, text=True, env=env, cwd=tmp_path)
        assert done.returncode == 0, done.stderr
        return done.stdout

    run("script.py", "dump", "made.pkl")
    assert (
        run("reader.py", "made.pkl").split()
        == (
            "9.0 [ 3. 12.] [2.718 7.389] [[2.718, 0.0], [0.0, 7.389]] [2. 2.] [18. 36.] "
            "[ 6. 24.] [ 3. 12.] [2.718 7.389]"
        ).split()
    )


def test_sixteen_threads_compile_and_call_at_once():
    def work(x, k):
        for _ in range(k):
            x = np.tanh(x) * k
        return np.sum(x)

    gradient, found, start = tangentc.grad(work), {}, threading.Barrier(16)

    def one(number):
        start.wait()
        x = np.linspace(0.1, 0.5, 2 + number % 4).astype([np.float64, np.float32][number % 2])
        found[number] = [gradient(x, 1 + number % 3) for _ in range(20)]

    threads = [threading.Thread(target=one, args=(k,)) for k in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for number, all_equal in found.items():
        x = np.linspace(0.1, 0.5, 2 + number % 4).astype([np.float64, np.float32][number % 2])
        wanted = tangentc.grad(work)(x, 1 + number % 3)
        assert all(np.array_equal(got, wanted) and got.dtype == x.dtype for got in all_equal)
    assert len(found) == 16


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork")
def test_fork_after_a_compilation():
    gradient = tangentc.grad(t.loss)
    gradient(W, X)
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert same(pool.starmap(gradient, [(W, X), (W.astype(np.float32), X.astype(np.float32))])[0], gradient(W, X))
