"""The elementary functions of kernels: at most 2 ulp anywhere, the limits of the C library's, and SIMD code."""

import functools
import importlib
import math
import os
import platform
import re
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tangentc

numba = pytest.importorskip("numba")
mpmath = pytest.importorskip("mpmath")
elementary = importlib.import_module("tangentc.runtime.elementary")

MOST_ULP = 2
POINTS = 250  # of each kind
EXACT = {
    "exp": mpmath.exp, "log": mpmath.log, "log1p": mpmath.log1p, "tanh": mpmath.tanh, "erf": mpmath.erf,
    "sigmoid": lambda x: 1 / (1 + mpmath.exp(-x)), "sin": mpmath.sin, "cos": mpmath.cos,
}  # fmt: skip
# Where something else is computed: where formulas meet, where results overflow, are subnormal, or are rounded to a limit.
MEET = {
    "exp": [-745.2, -708.4, -103.98, -87.34, 88.73, 709.79, *(math.log(2) * (k + 0.5) for k in range(-4, 4))],
    "log": [2.0**k * m for k in (-1074, -1022, -149, -126, -1, 0, 1, 127) for m in (1.0, math.sqrt(2))],
    "log1p": [-1.0, math.sqrt(0.5) - 1, math.sqrt(2) - 1, 2.0**-53, 2.0**-24, 1.0, 2.0**24, 2.0**53, 3.0],
    "tanh": [0.625, -0.625, 9.01, 10.0, 19.06, 20.0, 2.0**-27, 2.0**-13],
    "erf": [1.0, -1.0, 1.125, -1.125, 3.9, 4.0, 5.9, 6.0, 2.0**-1022],
    "sigmoid": [-1.0, 0.0, -745.2, -708.4, -103.98, -87.34, 17.4, 37.0, 709.8],
    # multiples of pi / 4, the number that is nearest to one of pi / 2 (Muller), and where other digits of 2 / pi count
    "sin": [
        *(k * math.pi / 4 for k in range(-9, 9)),
        6381956970095103 * 2.0**797,
        *(2.0**k for k in range(-60, 1024, 26)),
    ],
}
MEET["cos"] = MEET["sin"]
SPAN = {"exp": 750, "log": 4, "log1p": 4, "tanh": 22, "erf": 6.5, "sigmoid": 750, "sin": 1e6, "cos": 1e6}
LIMITS = {  # of 0.0, -0.0, infinity and minus infinity
    "exp": [1.0, 1.0, math.inf, 0.0],
    "log": [-math.inf, -math.inf, math.inf, math.nan],
    "log1p": [0.0, -0.0, math.inf, math.nan],
    "tanh": [0.0, -0.0, 1.0, -1.0],
    "erf": [0.0, -0.0, 1.0, -1.0],
    "sigmoid": [0.5, 0.5, 1.0, 0.0],
    "sin": [0.0, -0.0, math.nan, math.nan],
    "cos": [1.0, 1.0, math.nan, math.nan],
}
both_dtypes = pytest.mark.parametrize("dtype", [np.float64, np.float32], ids=lambda d: d.__name__)
each = pytest.mark.parametrize("name", sorted(EXACT))
OF_DOUBLES = {"sin", "cos"}
each_of_both = pytest.mark.parametrize(
    "name, dtype",
    [pytest.param(n, d, id=f"{n}-{d.__name__}") for n in sorted(EXACT) for d in (np.float64, np.float32)
     if not (n in OF_DOUBLES and d == np.float32)],
)  # fmt: skip


def of(name, dtype):
    return getattr(elementary, name if dtype == np.float64 else f"{name}_32")


@functools.cache
def over(name, dtype=np.float64):
    """A loop over an array."""
    function = of(name, dtype)

    @numba.njit(error_model="numpy")
    def run(x):
        y = np.empty_like(x)
        for i in range(x.shape[0]):
            y[i] = function(x[i])
        return y

    return run


def ulps(name, x, got):
    """How far a value is from the exact one, in units of the last place of the exact one."""
    x, facts = mpmath.mpf(float(x)), np.finfo(got.dtype)
    if name in ("exp", "sigmoid"):  # beyond it is 0, 1 or infinite
        x = max(min(x, mpmath.mpf(800)), mpmath.mpf(-800))
    with mpmath.workprec(150):
        exact = EXACT[name](x)
        if abs(exact) >= 2 * mpmath.mpf(2) ** (facts.maxexp - 1) - mpmath.mpf(2) ** (facts.maxexp - facts.nmant - 2):
            return 0.0 if got == mpmath.sign(exact) * math.inf else math.inf
        if not np.isfinite(got):
            return math.inf
        exponent = max(mpmath.frexp(exact)[1] - 1, facts.minexp) if exact else facts.minexp
        return float(abs(mpmath.mpf(float(got)) - exact) / mpmath.mpf(2) ** (exponent - facts.nmant))


def in_domain(name, x):
    x = x[np.isfinite(x)]
    return x[x > 0] if name == "log" else x[x > -1] if name == "log1p" else x


def points(name, dtype, rng):
    """Numbers of random bits, evenly spread ones, those beside the places where formulas meet, and subnormal ones."""
    bits = np.uint64 if dtype == np.float64 else np.uint32
    any_bits = rng.integers(0, np.iinfo(bits).max, POINTS, dtype=bits, endpoint=True).view(dtype)
    spread = rng.uniform(-SPAN[name], SPAN[name], POINTS).astype(dtype)
    small = rng.uniform(-1.3, 1.3, POINTS).astype(dtype)
    tiny = (rng.normal(size=20) * np.finfo(dtype).tiny).astype(dtype)
    with np.errstate(over="ignore"):
        meet = np.array(MEET[name], dtype=dtype)
    beside = [meet]
    for way in (math.inf, -math.inf):
        at = meet
        for _ in range(3):
            beside.append(at := np.nextafter(at, dtype(way)))
    ends = np.array(
        [np.finfo(dtype).max, -np.finfo(dtype).max, np.finfo(dtype).tiny, np.finfo(dtype).smallest_subnormal]
    )
    return in_domain(name, np.concatenate([any_bits, spread, small, tiny, *beside, ends.astype(dtype)]).astype(dtype))


@each_of_both
def test_the_error_is_small_over_the_whole_range(name, dtype, rng):
    x = points(name, dtype, rng)
    y = over(name, x.dtype.type)(x)
    assert y.dtype == dtype
    errors = [ulps(name, *pair) for pair in zip(x, y, strict=True)]
    worst = int(np.argmax(errors))
    assert errors[worst] <= MOST_ULP, (x[worst], y[worst], errors[worst])


@pytest.mark.skipif(np.finfo(np.longdouble).nmant < 63, reason="there is no longer number to compare with")
@each_of_both
def test_the_error_is_small_at_very_many_points(name, dtype, rng):
    """Where errors are largest is found by many points; eleven more bits tell them."""
    longer = {"sigmoid": lambda x: 1 / (1 + np.exp(-x))}.get(name) or getattr(np, name, None)
    if longer is None:
        pytest.skip("NumPy does not have it")
    span = {"log": (0.3, 3), "log1p": (-0.7, 3), "sin": (-20, 20), "cos": (-20, 20)}.get(name, (-4, 4))
    x = rng.uniform(*span, 150_000).astype(dtype)
    exact = longer(x.astype(np.longdouble))
    last = np.ldexp(np.longdouble(1), np.frexp(exact)[1] - 1 - np.finfo(dtype).nmant)
    errors = np.abs(over(name, x.dtype.type)(x) - exact) / last
    assert np.max(errors) <= MOST_ULP, x[np.argmax(errors)]


@each_of_both
def test_limits_and_signs_of_zero(name, dtype):
    x = np.array([0.0, -0.0, np.inf, -np.inf, np.nan], dtype=dtype)
    y = over(name, x.dtype.type)(x)
    np.testing.assert_array_equal(y, np.array([*LIMITS[name], np.nan], dtype=dtype))
    np.testing.assert_array_equal(np.signbit(y[:2]), np.signbit(np.array(LIMITS[name][:2])))
    if name in ("log", "log1p"):
        end = dtype(0.0 if name == "log" else -1.0)
        at = np.array([end, np.nextafter(end, dtype(-2)), -np.finfo(dtype).max], dtype=dtype)
        np.testing.assert_array_equal(over(name, dtype)(at), np.array([-np.inf, np.nan, np.nan], dtype=dtype))


@each
@given(x=st.floats(allow_nan=False, allow_infinity=False), single=st.booleans())
@settings(max_examples=60, deadline=None)
def test_any_number(name, x, single):
    single = single and name not in OF_DOUBLES
    with np.errstate(over="ignore", under="ignore"):
        x = in_domain(name, np.array([x], dtype=np.float32 if single else np.float64))
    for value, got in zip(x, over(name, x.dtype.type)(x), strict=True):
        assert ulps(name, value, got) <= MOST_ULP


@pytest.mark.parametrize("name", ["exp", "log", "tanh", "sin"])
def test_alone_a_number_gives_what_it_gives_in_a_loop(name, rng):
    for dtype in (np.float64, np.float32)[: 1 if name in OF_DOUBLES else 2]:
        x = rng.uniform(0.1, 3, 37).astype(dtype)
        alone = np.array([of(name, dtype)(v) for v in x])
        np.testing.assert_array_equal(alone, over(name, dtype)(x).astype(alone.dtype))


@pytest.mark.parametrize("name", ["exp", "sin"])
def test_integers_and_truth_values_are_numbers_of_float64(name):
    function = getattr(elementary, name)
    assert function(1) == function(True) == function(1.0)
    assert function.overloads[(numba.int64,)].signature.return_type == numba.float64


def has_avx2():
    if platform.machine() not in ("x86_64", "AMD64"):
        return False
    from llvmlite import binding

    return bool(binding.get_host_cpu_features().get("avx2"))


@pytest.mark.skipif(not has_avx2(), reason="the registers that are looked for are those of AVX2")
@each_of_both
def test_a_loop_becomes_simd_code(name, dtype):
    run = over(name, dtype)
    run(np.ones(3, dtype=dtype))
    (code,) = (text for types, text in run.inspect_asm().items() if types[0].dtype == numba.from_dtype(np.dtype(dtype)))
    kind = "pd" if dtype == np.float64 else "ps"
    packed = re.findall(rf"\bv(?:mul|add|sub|fmadd\w*){kind}\s.*[yz]mm", code)
    assert len(packed) > 10
    assert not re.search(rf"call.*\b{name}f?\b", code), "nothing of the C library"


# ------------------------------------------------------------------ in kernels
def layers(x, w, steps):
    u = x.copy()
    for _ in range(steps):
        u[:] = np.tanh(w * u) + np.exp(-u * u) + np.log(1.5 + u * u) - np.log1p(u * u)
    return np.sum(u)


def waves(x, w, steps):
    u = x.copy()
    for _ in range(steps):
        u[:] = np.sin(w * u) + np.cos(u) + np.tanh(u)
    return np.sum(u)


def total(x, w):
    s = 0.0
    for i in range(len(x)):
        s += np.exp(-w * x[i]) + np.tanh(x[i])
    return s


def chain(x):
    x = x.copy()
    for i in range(1, len(x)):
        x[i] = np.exp(-x[i - 1])
    return np.sum(x)


def texts_of(f, *args):
    """The text of the value and the gradient, which are those of NumPy."""
    gradient = tangentc.value_and_grad(f, kernels="numba")
    for a, b in zip(gradient(*args), tangentc.value_and_grad(f)(*args), strict=True):
        assert np.asarray(a).dtype == np.asarray(b).dtype
        np.testing.assert_allclose(a, b, rtol=1e-5 if np.asarray(b).dtype == np.float32 else 1e-13)
    return gradient.source_for(*args)


@both_dtypes
def test_loops_whose_trips_do_not_wait_call_them(dtype, rng):
    text = texts_of(layers, rng.normal(size=7).astype(dtype), dtype(0.3), 3)
    kind = "" if dtype == np.float64 else "_32"
    names = ", ".join(sorted(f"{name}{kind}" for name in ("exp", "log", "log1p", "tanh")))
    assert f"from tangentc.runtime.elementary import {names}\n" in text
    assert f" = exp{kind}(-u[i] * u[i])\n" in text and "np.exp" not in re.sub("#.*", "", text)


def test_code_that_may_round_otherwise_does_not_change_them():
    """Numba hands the options of the first caller on to what it calls, where that does not say its own."""
    text = """
import numba, numpy as np
from tangentc.runtime import elementary, rows
@numba.njit(error_model="numpy", fastmath={"reassoc", "nsz", "contract"})
def relaxed(x):
    out = np.empty((6, len(x)))
    for i in range(len(x)):
        out[0, i], out[1, i], out[2, i] = elementary.exp(x[i]), elementary.sin(x[i]), elementary.cos(x[i])
        out[3, i], out[4, i] = elementary.tanh(x[i]), elementary.log1p(abs(x[i]))
        out[5, i] = rows.row_sum(x)
    return out
x = np.linspace(-9.0, 9.0, 300) ** 3 / 20
for got, f in zip(relaxed(x), (np.exp, np.sin, np.cos, np.tanh, lambda x: np.log1p(np.abs(x)), lambda x: x * 0 + np.sum(x))):
    np.testing.assert_allclose(got, f(x), rtol=1e-15)
"""
    subprocess.run([sys.executable, "-c", text], check=True, timeout=300)


def test_sines_of_float64(rng):
    text = texts_of(waves, rng.normal(size=7), 0.3, 1)
    assert "import cos, sin, tanh\n" in text
    text = texts_of(waves, rng.normal(size=7).astype(np.float32), np.float32(0.3), 1)
    assert "np.sin(" in text and "import tanh_32\n" in text


def test_where_trips_wait_the_quicker_function_is_called(rng):
    text = texts_of(total, rng.normal(size=7), 0.3)
    assert "np.exp(-w * x[i])" in text and " tanh(x[i])" in text
    assert "np.exp(-x[i - 1])" in texts_of(chain, rng.normal(size=7))


def test_special_functions_of_scipy_are_compiled(rng):
    special = pytest.importorskip("scipy.special")

    def gates(x, steps):
        u = x.copy()
        for _ in range(steps):
            u[:] = special.expit(u) + special.erf(u)
        return np.sum(u)

    def gate(x, steps):
        for _ in range(steps):
            x = special.expit(x) + special.erf(x)
        return x

    text = texts_of(gates, rng.normal(size=5), 3)
    assert "sigmoid(u[i])\n" in text and "erf(u[i])" in text and "math.erf" not in text
    text = texts_of(gate, 0.4, 3)
    assert "sigmoid(x)" in text and "math.erf(x)" in text


def test_an_exported_module_has_them(tmp_path, rng):
    x = rng.normal(size=6)

    def rows(x, w):
        y = np.empty(len(x))
        for i in range(len(x)):
            y[i] = np.sin(w * x[i]) * np.tanh(x[i])
        return np.sum(y)

    gradient = tangentc.grad(rows, kernels="numba")
    tangentc.export(gradient, tmp_path / "rows_grad.py", x, 0.3)
    text = (tmp_path / "rows_grad.py").read_text()
    assert (
        "def sin(x):" in text
        and "def tanh(x):" in text
        and "_32" not in text
        and "tangentc" not in text.partition('"""')[2].partition('"""')[2]
    )
    code = f"import numpy as np, sys; sys.path.insert(0, {str(tmp_path)!r}); import rows_grad\n"
    code += f"print(rows_grad.rows_grad(np.array({x.tolist()!r}), 0.3).tolist(), 'tangentc' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path)
    found, imported = done.stdout.rsplit(" ", 1)
    np.testing.assert_array_equal(eval(found), gradient(x, 0.3))
    assert imported == "False\n"


def test_kept_code_has_them(tmp_path):
    """A second process compiles none of them."""
    (tmp_path / "program.py").write_text(
        "import numpy as np\n\n\ndef f(x):\n    y = np.zeros(len(x))\n    for i in range(len(x)):\n"
        "        y[i] = np.exp(x[i])\n    return np.sum(y)\n"
    )
    code = "import numpy as np, tangentc, program\n"
    code += "print(tangentc.grad(program.f, kernels='numba')(np.zeros(3)).tolist())\n"
    code += "from tangentc.runtime import elementary\nprint(len(elementary.exp.overloads))"
    environment = {**os.environ, "TANGENTC_CACHE": str(tmp_path / "texts")}
    for compiled in (1, 0):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
        )
        assert done.stdout == f"[1.0, 1.0, 1.0]\n{compiled}\n"


def test_without_kernels_numba_is_not_imported():
    code = "import sys, numpy as np, tangentc\ntangentc.grad(lambda x: np.sum(np.exp(x)))(np.ones(3))\n"
    code += "print('numba' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
