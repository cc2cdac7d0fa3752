"""The cache on disk: found by the next process, for what it was written for alone, and in no folder of others."""

import json
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import tangentc
from tangentc import BadArgument, grad, hessian, vjp
from tangentc.kept import folder as folders
from tangentc.kept import record

MODULE = """
import functools
from typing import NamedTuple

import numpy as np
from scipy.special import expit

SCALE = 3.0
WEIGHTS = np.array([1.0, 2.0, 0.5])
LOG = []


class Net:
    rate = 2.0

    def __init__(self):
        self.w, self.b, self.kept = np.ones(3), 1.0, []

    def __call__(self, x):
        return np.tanh(self.w * x + self.b) * self.rate


def helper(x, power=2):
    return np.sin(x) * SCALE + x ** power


def made(c):
    def inner(x):
        return np.sum(c * x * x)
    return inner


closure = made(2.0)


def plain(x):
    return np.sum(helper(x) * WEIGHTS) + np.sum(expit(x))


def loop(x, n=3):
    out = 0.0
    for i in range(n):  # each entry
        out += x[i] ** 2
    return out


def stencil(u):
    u[1:] -= WEIGHTS[1:] * u[:-1]
    return np.sum(u * u)


def model(net, x):
    return np.mean(net(x) ** 2)


def logs(x):
    LOG.append(x)
    return np.sum(x ** 3)


def draws(x):
    return np.sum(x * np.random.default_rng(0).normal(size=3))


class Point(NamedTuple):
    a: float
    b: np.ndarray


def point(p):
    return p.a * np.sum(p.b ** 2)


def apply(f, x):
    return np.sum(f(x))


partial = functools.partial(apply, np.sin)
net = Net()


def uses(x):
    return np.sum(net(x) * net.w)


def raises(A):
    return np.sum(np.linalg.inv(A))
"""

RUN = """
import json, sys
import numpy as np
import tangentc
import kept_module as m
from tangentc.compiler import context

compiled = []
first = context.Context.__init__
def init(self, *args, **keywords):
    compiled.append(1)
    first(self, *args, **keywords)
context.Context.__init__ = init

x = np.array([0.5, 1.0, 2.0])
out = {}
def run(name, f, *args):
    compiled.clear()
    given = f(*args)
    flat = given if not isinstance(given, dict) else given["w"]
    out[name] = [np.asarray(flat).tolist(), len(compiled)]

run("plain", tangentc.grad(m.plain), x)
run("value", lambda x: tangentc.value_and_grad(m.plain)(x)[1], x)
run("loop", tangentc.grad(m.loop), x)
run("closure", tangentc.grad(m.closure), x)
run("model", tangentc.grad(m.model), m.Net(), x)
run("stencil", tangentc.grad(m.stencil), x.copy())
run("hessian", tangentc.hessian(m.plain), x)
run("pullback", lambda x: tangentc.vjp(m.loop, x)[1](1.0)[0], x)
run("tangent", lambda x: tangentc.jvp(m.plain, (x,), (x,))[1], x)
run("draws", tangentc.grad(m.draws), x)
run("point", lambda x: tangentc.grad(m.point)(m.Point(2.0, x)).b, x)
run("partial", tangentc.grad(m.partial), x)
run("uses", tangentc.grad(m.uses), x)
run("method", tangentc.jacobian(m.net.__call__), x)
run("logs", tangentc.grad(m.logs), x)
print(json.dumps(out))
"""


@pytest.fixture
def home(tmp_path):
    (tmp_path / "kept_module.py").write_text(MODULE)
    (tmp_path / "run.py").write_text(RUN)
    return tmp_path


@pytest.fixture
def here(tmp_path):
    """A folder that this process keeps texts in."""
    tangentc.cache(tmp_path / "texts")
    yield tmp_path / "texts"
    tangentc.cache(None)


def run(home, *, folder="texts", script="run.py"):
    found = os.environ | {"TANGENTC_CACHE": str(home / folder), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run([sys.executable, script], cwd=home, env=found, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout) if done.stdout else None


def compiled(out):
    return {name for name, (_, times) in out.items() if times}


def test_the_second_process_compiles_nothing(home):
    first, second = run(home), run(home)
    assert compiled(first) == set(first)
    assert not compiled(second)
    assert {k: v[0] for k, v in first.items()} == {k: v[0] for k, v in second.items()}


@pytest.mark.parametrize(
    "old, new, stale",
    [
        ("np.sin(x) * SCALE", "np.cos(x) * SCALE", {"plain", "value", "hessian", "tangent"}),
        ("SCALE = 3.0", "SCALE = np.array([1.0, 2.0, 3.0])", {"plain", "value", "hessian", "tangent"}),
        ("SCALE = 3.0", "SCALE = 4.0", set()),  # data are read by the text
        ("power=2", "power=3", {"plain", "value", "hessian", "tangent"}),
        ("np.tanh(self.w", "np.sin(self.w", {"model", "uses", "method"}),
        ("rate = 2.0", "rate = np.float32(2.0)", {"model", "uses", "method"}),
        ("# each entry", "# every one", {"loop", "pullback"}),  # which the text quotes
        ("c * x * x", "c * x * x * x", {"closure"}),
        ("made(2.0)", "made(np.ones(3))", {"closure"}),
        ("from scipy.special import expit", "expit = np.tanh", {"plain", "value", "hessian", "tangent"}),
        ("WEIGHTS = np.array([1.0, 2.0, 0.5])", "WEIGHTS = [1.0, 2.0, 0.5]", {"plain", "value", "hessian", "tangent", "stencil"}),
    ],
)  # fmt: skip
def test_what_was_written_anew_is_compiled_anew(home, old, new, stale):
    run(home)
    assert old in MODULE
    (home / "kept_module.py").write_text(MODULE.replace(old, new))
    again, plain = run(home), run(home, folder="others")
    assert compiled(again) == stale
    assert {k: v[0] for k, v in again.items()} == {k: v[0] for k, v in plain.items()}


def test_other_types_and_other_derivatives_are_other_texts(here):
    def f(x, y):
        return np.sum(x * y)

    x = np.ones(3)
    for wrt, args in [(0, (x, x)), (1, (x, x)), ((0, 1), (x, x)), (0, (x, 2.0)), (0, (np.float32(x), x))]:
        grad(f, wrt)(*args)
    assert len([*here.glob("*.json")]) == 5
    assert np.all(grad(f, 1)(x, 2 * x) == x) and np.all(grad(f, 0)(x, 2 * x) == 2 * x)


def test_a_rule_of_the_users_is_part_of_what_a_text_is_for(home):
    script = """
    import json, sys
    import numpy as np, tangentc
    import kept_module as m
    def own(x):
        return m.np.sin(x)
    FACTOR = %s
    @tangentc.elementwise(own)
    def own_rule(x, y):
        return FACTOR * np.cos(x)
    def f(x):
        return own(x) * 2
    print(json.dumps(float(tangentc.grad(f)(0.0))))
    """
    given = []
    for factor in ("1.0", "5.0", "1.0"):
        (home / "own.py").write_text(textwrap.dedent(script % factor))
        given.append(run(home, script="own.py"))
    assert given == [2.0, 10.0, 2.0]


def test_errors_are_told_by_the_line_of_the_users(home):
    script = """
    import json, traceback
    import numpy as np, tangentc
    import kept_module as m
    d = tangentc.grad(m.raises)
    try:
        d(np.zeros((2, 2)))
    except np.linalg.LinAlgError as error:
        print(json.dumps(error.__notes__))
    """
    (home / "error.py").write_text(textwrap.dedent(script))
    first, second = run(home, script="error.py"), run(home, script="error.py")
    assert first == second and "np.linalg.inv(A)" in first[0]


def test_a_folder_of_others_is_refused(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    with pytest.raises(BadArgument, match="others may write there.*\n.*chmod go-w") as told:
        tangentc.cache(shared)
    assert str(shared) in str(told.value)
    inside = shared / "own"
    inside.mkdir(mode=0o700)
    with pytest.raises(BadArgument, match="others may put another folder in its place"):
        tangentc.cache(inside)
    file = tmp_path / "file"
    file.write_text("")
    with pytest.raises(BadArgument, match="cannot be made"):
        tangentc.cache(file)


def test_the_variable_names_no_folder_of_others_either(tmp_path, monkeypatch):
    tmp_path.chmod(0o777)
    monkeypatch.setattr(folders, "_in_use", {})
    monkeypatch.setenv("TANGENTC_CACHE", str(tmp_path))
    with pytest.raises(BadArgument, match="others may write there"):
        grad(lambda x: x * x)(2.0)


def test_a_record_that_others_can_write_or_that_is_broken_is_not_read(here, monkeypatch):
    def f(x):
        return x**3

    read = []
    monkeypatch.setattr(record, "restored", lambda *args: read.append(1))
    grad(f)(2.0)
    (file,) = here.glob("*.json")
    whole = file.read_text()

    def times_read():
        read.clear()
        tangentc.compiled.Code.named.clear(), tangentc.compiled.Code.holding.clear()
        assert grad(f)(2.0) == 12.0
        return len(read)

    assert times_read() == 1
    file.chmod(0o666)
    assert times_read() == 0  # and it is written anew
    assert not file.stat().st_mode & 0o022 and times_read() == 1
    file.write_text(whole[: len(whole) // 2])
    assert times_read() == 0 and json.loads(file.read_text())
    moved = here / "elsewhere"
    file.rename(moved)
    file.symlink_to(moved)
    assert times_read() == 0


def test_the_folder_stays_small(tmp_path):
    kept = folders.Folder(tmp_path / "texts", most=3000)
    for k in range(20):
        kept.put(f"{k:02}", "x" * 500)
        os.utime(kept.path / f"{k:02}.json", (k, k))
    left = sorted(p.stem for p in kept.path.glob("*.json"))
    assert left[-1] == "19" and sum(p.stat().st_size for p in kept.path.iterdir()) <= 3000 < 502 * (len(left) + 1)


def test_many_processes_at_once(home):
    environment = os.environ | {"TANGENTC_CACHE": str(home / "texts")}
    every = [
        subprocess.Popen([sys.executable, "run.py"], cwd=home, env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(16)
    ]
    given = [json.loads(p.communicate()[0]) for p in every]
    assert not any(p.returncode for p in every)
    assert all({k: v[0] for k, v in g.items()} == {k: v[0] for k, v in given[0].items()} for g in given)
    assert not [*(home / "texts").glob("*.part")] and not compiled(run(home))


def test_the_text_is_the_same_with_and_without(here):
    def f(x):
        return np.sum(np.tanh(x) ** 2)

    x = np.linspace(0.0, 1.0, 5)
    tangentc.cache(None)
    plain = grad(f).source_for(x), grad(f).source_for(x, annotate=True), hessian(f)(x), vjp(f, x)[1](1.0)
    for _ in range(2):
        tangentc.compiled.Code.named.clear(), tangentc.compiled.Code.holding.clear()
        tangentc.cache(here)
        again = grad(f).source_for(x), grad(f).source_for(x, annotate=True), hessian(f)(x), vjp(f, x)[1](1.0)
        assert again[:2] == plain[:2]
        assert np.array_equal(again[2], plain[2]) and np.array_equal(again[3][0], plain[3][0])


# ------------------------------------------------------------------ kernels
KERNELS = """
import sys
import numpy as np
import tangentc


def wave(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] -= c * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u**2)


tangentc.cache("texts")
gradient = tangentc.value_and_grad(wave, kernels="numba")
print(gradient(np.arange(9.0), 0.1, 3)[0])
scope = gradient.last.function.__globals__
print(sum(sum(f.stats.cache_hits.values()) for f in scope.values() if hasattr(f, "py_func")))
"""


def test_what_numba_compiles_is_kept_too(tmp_path):
    (tmp_path / "run.py").write_text(KERNELS)

    def run_once():
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
        done = subprocess.run([sys.executable, "run.py"], cwd=tmp_path, env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        value, hits = done.stdout.split()
        return float(value), int(hits)

    first, second = run_once(), run_once()
    assert first[1] == 0 and second == (first[0], 2)
    home = tmp_path / "texts" / "kernels"
    (text,) = home.glob("*.py")
    assert "def wave_loop_adjoint(" in text.read_text() and not home.stat().st_mode & 0o077
    text.write_text("raise SystemExit(3)\n")  # which is none of its text: it is written anew, and not run
    assert run_once()[0] == first[0] and "SystemExit" not in text.read_text()
    home.chmod(0o777)
    assert run_once() == (first[0], 0)
