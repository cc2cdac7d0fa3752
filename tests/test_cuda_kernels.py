"""Kernels of the device: what is emitted, what it computes where g++ runs it, and that NVRTC compiles it."""

import importlib
import importlib.util
import re
import shutil
import time
from pathlib import Path

import cuda_on_cpu
import device
import kernel_targets
import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tangentc
from tangentc import cli

ROOT = Path(__file__).parents[1]
runs = pytest.mark.skipif(shutil.which("g++") is None, reason="g++ runs the kernels here, and is not installed")


@pytest.fixture
def cupy():
    with device.cupy() as module:
        module.RawKernel = cuda_on_cpu.RawKernel
        yield module


def rng():
    return np.random.default_rng(0)


# ------------------------------------------------------------------ programs
def chain(x, y):
    z = np.exp(-x) * y + np.sqrt(np.abs(x))
    z = z / (1.0 + z**2) - np.tanh(y) ** 3
    return np.sum(z * x)


def diffuse(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] + k * (
            u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4.0 * u[1:-1, 1:-1]
        )
    return np.sum(u**2)


def masked(x, y):
    m = (x > 0.5) & ~(y <= 0.0)
    a = np.where(m, x * y, x - y)
    b = np.maximum(a, y) + np.minimum(x, 0.25) * np.sign(y)
    return np.sum(np.where(b >= x, b**2, np.abs(b)))


def counted(x, k):
    """Integers: quotients, remainders, and what they become beside real numbers."""
    q = k // 3 + k % 4
    y = x * q + k / 2
    return np.sum(y * x - q)


def broadcast(x, c, r):
    y = x * c + r
    z = np.sin(y) * c - r * x
    return np.sum(z * y)


def columns(x, w):
    y = x * w
    s = np.sum(y * y, axis=0)
    t = np.mean(np.cos(x), axis=0, keepdims=True)
    return np.sum(s * w) + np.sum(t * x)


def rows(x, w):
    y = np.exp(x - np.mean(x, axis=1, keepdims=True)) * w
    s = np.sum(y, axis=1, keepdims=True)
    p = y / s
    return np.sum(p * p * w)


def softmax(x, w):
    e = np.exp(x - np.max(x, axis=-1, keepdims=True))
    p = e / np.sum(e, axis=-1, keepdims=True)
    return np.sum(p * w)


def middle(x):
    s = np.sum(x * x, axis=1)
    t = np.sum(x * x, axis=(0, 2))
    return np.sum(s * np.sin(s)) + np.sum(t * np.cos(t))


def in_place(x, a):
    y = x * 2.0
    y[1:] += a * x[1:]
    y *= x
    y[0] = 3.0
    y[2:5] -= y[3:6] * a
    return np.sum(y * y)


def gathers(x, k, w):
    y = x[k] * w
    z = np.sin(x[k]) - y
    return np.sum(z * y)


def rounds(x, k, n):
    """Saves in each trip, and takes entries by an index array."""
    y = x * 1.0
    for _ in range(n):
        y = np.sin(y[k]) * y + x[k]
        y[1:] = y[1:] * y[:-1]
    z = y[k] * x
    return np.sum(z * z)


def scattered(x, k, v):
    y = x * 1.0
    np.add.at(y, k, v * v)
    z = np.zeros(len(x))
    np.add.at(z, k, np.sin(v))
    return np.sum(y * y * z)


def rescaled(x, y):
    """A number of the device, which no trip waits for."""
    s = np.sum(x * y)
    z = x / s + y
    z = z * s - x * x[0]
    return np.sum(z * z)


def growing(x, n):
    """A number that begins as an integer."""
    c = 0
    for _ in range(n):
        x = x * c + np.sin(x) - c
        c = c + 0.5
    return np.sum(x * x)


def by_numbers(x, c, k):
    """Numbers of the host, and such of the device as CuPy's functions of them are."""
    d = c / k + 1.0
    e = np.sqrt(c) * d
    f = -c if k > 2 else np.exp(c)
    y = x * d + np.sin(x) * e
    y = y * f - x / k + c * y
    return np.sum(y * y) * e


def shadowed(x, w, n):
    """Names that are those of what the kernel is given, and of C."""
    double = x * n + w
    exp = np.exp(-double) * w
    threadIdx = np.sum(exp * n, axis=1, keepdims=True)
    i = exp / threadIdx - double * n
    return np.sum(i * exp * x)


def turned(x):
    y = x.T * 2.0 + np.exp(x.T)
    z = np.cos(y) * y[:, ::1]
    return np.sum(z[1:] * z[:-1])


def f32(*arrays):
    return tuple(a.astype(np.float32) for a in arrays)


def normal(*shape):
    return rng().standard_normal(shape)


def index(n, size):
    return rng().integers(-size, size, n)


def targets(name, cut=lambda args: args):
    return getattr(kernel_targets, name), lambda: cut(getattr(kernel_targets, name + "_args")("small"))


def odd_box(args):
    return args[0][:5, :, :7].copy(), args[1][:5, :, :7].copy(), 3


def narrow(args):
    return tuple(a[:9, :70].copy() if a.ndim == 2 and len(a) > 9 else a[..., :70].copy() for a in args)


def own_edges(args):
    h, w, src, dst = (a[:200].copy() for a in args)
    h = args[0].copy()
    src[:5] -= len(h)
    src[7] = dst[7]
    return h, w, src, dst


PROGRAMS = {  # a function, what it is given, with respect to what, and how many kernels there are at least
    "chain": (chain, lambda: (normal(37), normal(37)[::-1].copy()), (0, 1), 1),
    "chain in two axes": (chain, lambda: (normal(5, 41), normal(5, 41) + 1.0), (0, 1), 1),
    "chain of float32": (chain, lambda: f32(normal(300), normal(300) + 1), (0, 1), 1),
    "chain of nothing": (chain, lambda: (normal(0), normal(0)), (0, 1), 1),
    "chain of one": (chain, lambda: (normal(1), normal(1)), (0, 1), 1),
    "burgers": (*targets("burgers"), (0, 1), 3),
    "burgers of 3": (kernel_targets.burgers, lambda: (normal(3), 0.1, 0.5, 0.01, 3), (0, 1), 3),
    "burgers of 2": (kernel_targets.burgers, lambda: (normal(2), 0.1, 0.5, 0.01, 2), (0, 1), 0),
    "burgers without trips": (kernel_targets.burgers, lambda: (normal(12), 0.1, 0.5, 0.01, 0), (0, 1), 3),
    "heat_3d": (*targets("heat_3d", odd_box), 0, 4),
    "layer_norm_gelu": (*targets("layer_norm_gelu", narrow), (0, 1, 2, 3), 2),
    "message_passing": (*targets("message_passing", own_edges), (0, 1), 3),
    "diffuse": (diffuse, lambda: (normal(9, 34), 0.1, 3), (0, 1), 2),
    "masked": (masked, lambda: (normal(70), np.roll(normal(70), 1)), (0, 1), 1),
    "masked, not numbers": (masked, lambda: (np.array([np.nan, 1.0, 2.0, np.inf] * 3), normal(12)), (0, 1), 1),
    "counted": (counted, lambda: (normal(40), np.arange(-20, 20)), 0, 1),
    "broadcast": (broadcast, lambda: (normal(6, 35), normal(6, 1), normal(35)), (0, 1, 2), 1),
    "broadcast of float32": (broadcast, lambda: f32(normal(6, 35), normal(6, 1), normal(35)), (0, 1, 2), 1),
    "columns": (columns, lambda: (normal(11, 40), normal(40)), (0, 1), 1),
    "rows": (rows, lambda: (normal(5, 100), normal(100)), (0, 1), 1),
    "rows of float32": (rows, lambda: f32(normal(5, 100), normal(100)), (0, 1), 1),
    "narrow rows": (rows, lambda: (normal(50, 3), normal(3)), (0, 1), 1),
    "softmax": (softmax, lambda: (normal(5, 40), normal(5, 40)), (0, 1), 1),
    "softmax of float32": (softmax, lambda: f32(normal(5, 40), normal(5, 40)), (0, 1), 1),
    "no rows": (rows, lambda: (normal(0, 20), normal(20)), (0, 1), 1),
    "middle": (middle, lambda: (normal(4, 12, 33),), 0, 1),
    "in place": (in_place, lambda: (normal(20), 1.5), (0, 1), 1),
    "gathers": (gathers, lambda: (normal(30), index(50, 30), normal(50)), (0, 2), 1),
    "rounds": (rounds, lambda: (normal(30), index(30, 30), 3), 0, 2),
    "scattered": (scattered, lambda: (normal(30), index(50, 30), normal(50)), (0, 2), 1),
    "scattered, nothing": (scattered, lambda: (normal(30), index(0, 30), normal(0)), (0, 2), 1),
    "rescaled": (rescaled, lambda: (normal(30), normal(30) + 1.0), (0, 1), 1),
    "growing": (growing, lambda: (normal(30), 3), 0, 1),
    "by numbers": (by_numbers, lambda: (normal(30), 0.7, 3), (0, 1), 1),
    "by numbers of NumPy": (by_numbers, lambda: (normal(30), np.float64(0.7), 3), (0, 1), 1),
    "by numbers, float32": (by_numbers, lambda: (*f32(normal(30)), np.float32(0.7), 3), (0, 1), 1),
    "shadowed": (shadowed, lambda: (normal(5, 40), normal(40), 0.5), (0, 1, 2), 1),
    "turned": (turned, lambda: (normal(12, 15),), 0, 1),
}  # fmt: skip


def close(got, wanted, arrays):
    narrow = any(getattr(a, "dtype", None) == np.float32 for a in arrays)
    got, wanted = (x if isinstance(x, tuple) else (x,) for x in (got, wanted))
    for x, y in zip(got, wanted, strict=True):
        if isinstance(y, tuple):
            close(x, y, arrays)
            continue
        y = np.asarray(y)
        scale = np.max(np.abs(y[np.isfinite(y)]), initial=1e-30)
        np.testing.assert_allclose(x, y, rtol=2e-5 if narrow else 1e-11, atol=(2e-5 if narrow else 1e-12) * scale)
        assert np.shape(x) == np.shape(y)


def compare(f, wrt, args, least=1):
    with np.errstate(all="ignore"):
        wanted = tangentc.value_and_grad(f, wrt=wrt)(*[a.copy() if isinstance(a, np.ndarray) else a for a in args])
        derivative = tangentc.value_and_grad(f, wrt=wrt, kernels="cuda")
        close(device.fetched(derivative(*map(device.sent, args))), wanted, args)
    assert derivative.source.count("RawKernel(") >= least, derivative.source
    return derivative


@runs
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs(cupy, name):
    f, args, wrt, least = PROGRAMS[name]
    compare(f, wrt, args(), least)


@pytest.mark.parametrize("name", PROGRAMS)
def test_nvrtc_compiles(cupy, name):
    library = cuda_on_cpu.nvrtc()
    if library is None:
        pytest.skip("NVRTC is not installed: pip install nvidia-cuda-nvrtc-cu12")
    f, args, wrt, least = PROGRAMS[name]
    text = tangentc.value_and_grad(f, wrt=wrt, kernels="cuda").source_for(*map(device.sent, args()))
    found = kernels_in(text)
    assert len(found) >= least
    for kernel, source, options in found:
        ptx = cuda_on_cpu.assembled(library, source, kernel, options)
        assert f".entry {kernel}(" in ptx
        if "--fmad=false" in options and not re.search(r"\b(exp|sin|cos|tanh|sqrt)f?\(", source):
            assert not re.search(r"\bfma\.rn\.f(32|64)\b", ptx)


def kernels_in(text):
    found = re.findall(r'RawKernel\(\n    r"""\n(.*?)""",\n    "(\w+)", options=\((.*?)\)', text, re.S)
    return [(name, source, re.findall(r'"(.*?)"', options)) for source, name, options in found]


# ------------------------------------------------------------------ what is given
def outer(x, w):
    return np.sum(inner_part(x * w, 0) * w)


def inner_part(y, c):
    for _ in range(2):
        y = y * c + np.sin(y)
        c = c + 0.25
    return y * c


def halves(x, y, k, m):
    z = x[:k] * 2.0 + np.sin(x[:k])
    z = z * y[:m] - y[:m]
    return np.sum(z * z)


SCALE = 2.5


def of_module(x):
    y = x * SCALE + np.cos(x)
    return np.sum(y * y)


@runs
@pytest.mark.parametrize("name", ["chain in two axes", "diffuse", "rows", "message_passing", "broadcast"])
def test_arrays_may_lie_in_any_order(cupy, name):
    f, args, wrt, _ = PROGRAMS[name]
    given = [np.asfortranarray(a) if isinstance(a, np.ndarray) and a.ndim > 1 else a for a in args()]
    wide = [np.repeat(a, 2, -1)[..., ::2] if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a for a in args()]
    with np.errstate(all="ignore"):
        wanted = tangentc.value_and_grad(f, wrt=wrt)(*args())
        for other in (given, wide):
            sent = [device.ndarray(a) if isinstance(a, np.ndarray) else a for a in other]
            close(device.fetched(tangentc.value_and_grad(f, wrt=wrt, kernels="cuda")(*sent)), wanted, other)


@runs
def test_callees_and_numbers_of_the_module(cupy):
    compare(outer, (0, 1), (normal(40), normal(40)))
    compare(of_module, 0, (normal(40),))


@runs
def test_other_lengths(cupy):
    """Code for some lengths is right for others, or written again."""
    derivative = tangentc.value_and_grad(broadcast, wrt=(0, 1, 2), kernels="cuda")
    for n, m in ((6, 35), (9, 40), (1, 40), (40, 1), (9, 9)):
        args = normal(n, m), normal(n, 1), normal(m)
        close(
            device.fetched(derivative(*map(device.sent, args))),
            tangentc.value_and_grad(broadcast, wrt=(0, 1, 2))(*args),
            args,
        )


@runs
@pytest.mark.parametrize("wrong", [30, -31])
def test_subscripts_out_of_range_raise(cupy, wrong):
    for f, moving in ((gathers, (0, 2)), (scattered, (0, 2))):
        x, k, v = PROGRAMS[f.__name__][1]()
        k[7] = wrong
        with pytest.raises(IndexError, match="out of bounds"):
            tangentc.value_and_grad(f, wrt=moving, kernels="cuda")(*map(device.sent, (x, k, v)))
    k = index(30, 30)
    k[7] = wrong
    for n in (0, 2):
        with pytest.raises(IndexError, match="out of bounds"):
            tangentc.value_and_grad(rounds, kernels="cuda")(device.sent(normal(30)), device.sent(k), n)


@runs
def test_lengths_that_only_the_run_knows(cupy):
    """They are looked at before the launch; where they differ, CuPy's code says what is wrong."""
    derivative = tangentc.value_and_grad(halves, wrt=(0, 1), kernels="cuda")
    x, y = normal(24), normal(24)
    for f in (derivative, tangentc.value_and_grad(halves, wrt=(0, 1))):
        send = device.sent if f is derivative else lambda a: a
        with pytest.raises(ValueError):
            f(send(x), send(y), 12, 11)
    wanted = tangentc.value_and_grad(halves, wrt=(0, 1))(x, y, 12, 12)
    close(device.fetched(derivative(device.sent(x), device.sent(y), 12, 12)), wanted, ())


@runs
def test_the_other_faces(cupy, tmp_path):
    x, y = normal(20), normal(20) + 1.0
    sent = device.sent(x), device.sent(y)
    wanted = tangentc.grad(chain)(x, y)
    decorated = tangentc.differentiable(kernels="cuda")(chain)
    close(device.fetched(decorated.grad(*sent)), wanted, ())
    value, pull = tangentc.value_and_grad(chain, kernels="cuda"), tangentc.adjoint(masked, kernels="cuda")
    close(device.fetched(value(*sent))[1], wanted, ())
    close(device.fetched(pull(*sent, 2.0)), 2.0 * tangentc.grad(masked)(x, y), ())
    path = tangentc.export(tangentc.grad(chain, kernels="cuda"), tmp_path / "chain_grad.py", *sent)
    spec = importlib.util.spec_from_file_location("chain_grad", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    assert "tangentc." not in path.read_text().split('"""', 2)[2] and "RawKernel(" in path.read_text()
    close(device.fetched(module.chain_grad(*sent)), wanted, ())


@runs
@pytest.mark.parametrize("name", ["message_passing", "scattered", "gathers"])
def test_sums_in_one_order(cupy, name):
    """No thread adds to what another one adds to."""
    f, args, wrt, _ = PROGRAMS[name]
    derivative = tangentc.value_and_grad(f, wrt=wrt, kernels="cuda in order")
    found = device.fetched(derivative(*map(device.sent, args())))
    close(found, tangentc.value_and_grad(f, wrt=wrt)(*args()), ())
    assert "atomicAdd" not in derivative.source and "cp.add.at" not in derivative.source
    assert "atomicAdd" in tangentc.value_and_grad(f, wrt=wrt, kernels="cuda").source_for(*map(device.sent, args()))


def fills(x, out):
    out[:] = x * 2.0 + np.sin(x)
    return np.sum(out * out * x)


@runs
def test_what_writes_into_its_arguments(cupy):
    """The derivative works on copies, as everywhere."""
    derivative = tangentc.value_and_grad(fills, kernels="cuda")
    x, out = normal(20), normal(20)
    sent = device.sent(out)
    close(device.fetched(derivative(device.sent(x), sent)), tangentc.value_and_grad(fills)(x, out.copy()), ())
    assert np.array_equal(sent.held, out) and "RawKernel" in derivative.source


# ------------------------------------------------------------------ what is refused
def test_arrays_of_numpy_are_refused(cupy):
    with pytest.raises(tangentc.BadArgument, match='kernels="cuda" takes arrays of CuPy'):
        tangentc.grad(chain, kernels="cuda")(normal(3), normal(3))
    with pytest.raises(tangentc.BadArgument, match="leave threads out"):
        tangentc.grad(chain, kernels="cuda", threads=2)

    with pytest.raises(tangentc.BadArgument, match="where no kernel does"):
        pairs = tangentc.grad(lambda x, k: np.sum(x[k] ** 2), kernels="cuda in order")
        pairs(device.sent(normal(9)), device.sent(index(9, 9).reshape(3, 3)))


@pytest.mark.skipif(importlib.util.find_spec("cupy") is not None, reason="CuPy is installed")
def test_without_cupy_it_is_refused():
    with pytest.raises(tangentc.BadArgument, match='kernels="cuda" needs CuPy, which is not installed'):
        tangentc.grad(chain, kernels="cuda")
    with pytest.raises(tangentc.BadArgument, match="cuda12"):
        tangentc.differentiable(kernels="cuda")(chain)


# ------------------------------------------------------------------ any program
TERMS = (
    "{a} * {e}", "np.sin({e})", "({e} - {b})", "np.where({e} > 0.1, {a}, {e})", "np.maximum({e}, {b})",
    "{e} / ({b} * {b} + 1.0)", "-{e}", "np.exp(-({e}) * {e})",
)  # fmt: skip
SHIFTS = ("u[1:-1]", "u[2:]", "u[:-2]", "v[1:-1]", "v[2:]", "w[0]", "2.0 * v[1:-1]")


@st.composite
def expressions(draw, leaves):
    text = draw(st.sampled_from(leaves))
    for _ in range(draw(st.integers(1, 4))):
        other, another = draw(st.sampled_from(leaves)), draw(st.sampled_from(leaves))
        form = draw(st.sampled_from((*TERMS, "({e} + {a})", "({e} * {b})")))
        text = f"({form.format(e=text, a=other, b=another)})"
    return text


def made(text):
    from tangentc.core import texts

    namespace = {"np": np}
    texts.run(text, "random program", namespace)
    return namespace["f"]


def any_chain(rows):
    body = "".join(f"    z = {row}\n" for row in rows)
    return f"def f(x, y):\n    z = x - y\n{body}    return np.sum(z * x)\n"


def any_stencil(first, second):
    return (
        "def f(u, v, w):\n    u = u.copy()\n    v = v.copy()\n    for _ in range(2):\n"
        f"        u[1:-1] = {first} + 0.0 * u[1:-1]\n        v[1:-1] += {second}\n"
        "    return np.sum(u * u) + np.sum(v)\n"
    )


CHAINS = st.lists(expressions(["x", "y", "0.5 * x", "z"]), min_size=2, max_size=3).map(any_chain)
STENCILS = st.builds(any_stencil, expressions(list(SHIFTS)), expressions(list(SHIFTS)))


def compare_any(text):
    args = (normal(11), normal(22)[11:].copy(), normal(3))[: 2 if "(x, y)" in text else 3]
    with device.cupy() as module:
        module.RawKernel = cuda_on_cpu.RawKernel
        compare(made(text), tuple(range(len(args))), args, 0)


def some(count):
    return settings(max_examples=count, deadline=None, suppress_health_check=list(HealthCheck))


@runs
@some(4)
@given(CHAINS)
def test_any_chain(text):
    compare_any(text)


@runs
@some(3)
@given(STENCILS)
def test_any_stencil(text):
    compare_any(text)


@runs
@pytest.mark.nightly
@some(150)
@given(st.one_of(CHAINS, STENCILS))
def test_any_program(text):
    compare_any(text)


# ------------------------------------------------------------------ on a device
@pytest.mark.gpu
@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_on_a_device(name):
    import cupy

    f, args, wrt, _ = PROGRAMS[name]
    derivative = tangentc.value_and_grad(f, wrt=wrt, kernels="cuda")
    with np.errstate(all="ignore"):
        wanted = tangentc.value_and_grad(f, wrt=wrt)(*args())
    close(_fetched(derivative(*[cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in args()])), wanted, args())


@pytest.mark.gpu
@pytest.mark.parametrize("name", ["heat_3d", "burgers", "layer_norm_gelu", "message_passing"])
def test_time_on_a_device(name):
    """Prints what the value and the gradient take by kernels, and by the same chain in CuPy."""
    import cupy

    f, wrt = getattr(kernel_targets, name), PROGRAMS[name][2]
    args = [
        cupy.asarray(a) if isinstance(a, np.ndarray) else a for a in getattr(kernel_targets, name + "_args")("large")
    ]
    for kernels in ("cuda", None):
        derivative = tangentc.value_and_grad(f, wrt=wrt, kernels=kernels)
        best = float("inf")
        for _ in range(7):
            began = time.perf_counter()
            derivative(*args)
            cupy.cuda.Device().synchronize()
            best = min(best, time.perf_counter() - began)
        print(f"{name} {kernels or 'CuPy'}: {best * 1e3:.2f} ms")


def _fetched(value):
    return tuple(map(_fetched, value)) if isinstance(value, tuple) else value.get() if hasattr(value, "get") else value


# ------------------------------------------------------------------ the page
def test_the_page_shows_what_is_emitted(cupy, tmp_path, monkeypatch):
    page = (ROOT / "docs" / "kernels.md").read_text().partition("## On the GPU")[2]
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    program = next(b for b in blocks if b.startswith("import numpy"))
    (tmp_path / "rows_of_device.py").write_text(program)
    monkeypatch.syspath_prepend(tmp_path)
    scored = importlib.import_module("rows_of_device").scored
    gradient = tangentc.value_and_grad(scored, kernels="cuda")
    shown = next(b for b in blocks if b.startswith("import cupy"))
    assert gradient.source_for(device.sent(np.ones((40, 30))), device.sent(np.ones(30))).rstrip() == shown.rstrip()


def test_commands(cupy, tmp_path, capsys):
    (tmp_path / "chains.py").write_text(
        "import numpy as np\n\n\ndef chain(x, y):\n    z = x * y + np.sin(x)\n    return np.sum(z * z * x)\n"
    )
    at = ["--at", "x=np.ones(40), y=np.ones(40)", "--module", "cupy", "--kernels", "cuda"]
    assert cli.main(["show", f"{tmp_path}/chains.py:chain", *at]) == 0
    assert "cp.RawKernel(" in capsys.readouterr().out
    assert cli.main(["build", f"{tmp_path}/chains.py:chain", *at, "-o", f"{tmp_path}/chain_grad.py"]) == 0
    assert "cp.RawKernel(" in (tmp_path / "chain_grad.py").read_text()
