"""Loops that Numba compiles: what is asked for, what is emitted, what raises, and what stays NumPy's."""

import importlib.util
import math
import pickle
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tangentc
from tangentc import cli

numba = pytest.importorskip("numba")
ROOT = Path(__file__).parents[1]


def smooth(u, c, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + c * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u**2)


def relax(u, f, sweeps):
    u = u.copy()
    n = len(u)
    for _ in range(sweeps):
        for i in range(1, n - 1):
            u[i] = 0.5 * (u[i - 1] + u[i + 1] + f[i] * u[i] ** 2)
    return np.sum(u * u)


def pendulum(x, v, dt, steps):
    for _ in range(steps):
        v = v - dt * math.sin(x)
        x = x + dt * v
    return x * x + v


def walk(x, a):
    """Reads beyond the end where `a` has more entries."""
    s = 0.0
    for i in range(len(a)):
        s = s + x[i] * a[i] * x[i]
    return s


def scaled(x, a):
    """`a` may be one number for all."""
    u = x.copy()
    for _ in range(2):
        u[:] = u * a + x
    return np.sum(u)


def shares(x, y, n):
    for _ in range(n):
        x = x / y
    return x


def roots(x, n):
    for _ in range(n):
        x = math.sqrt(x) + 0.1
    return x


def until(x, tolerance):
    """A number of trips that only the run knows."""
    y = x
    while abs(y * y - x) > tolerance:
        y = 0.5 * (y + x / y)
    return y * y * y


def left_with_a_value(x):
    """What is assigned before a `break` counts behind the loop."""
    m, n = 0.0, 0
    while True:
        k = m + x * x
        if n > 3:
            m = -k
            break
        m = k
        n += 1
    return m


def mixed(x, A, steps):
    """Sorting stays NumPy's, and so does the loop around it."""
    for _ in range(steps):
        x = np.sort(A @ x)
    return np.sum(x**2)


SCALE = 0.3


def of_the_module(x, steps):
    s = 0.0
    for i in range(steps):
        s = s + SCALE * x[i] * x[i]
    return s


def both(f, args, wrt=0, equal=True):
    """The value and the gradient with kernels; they are those without."""
    plain = tangentc.value_and_grad(f, wrt=wrt)(*args)
    compiled = tangentc.value_and_grad(f, wrt=wrt, kernels="numba")
    before = [np.copy(a) for a in args]
    value, gradient = compiled(*args)
    for a, b in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, b)
    if equal:
        assert np.array_equal(value, plain[0], equal_nan=True)
    np.testing.assert_allclose(value, plain[0], rtol=1e-12)
    pairs = zip(gradient, plain[1], strict=True) if isinstance(wrt, tuple) else [(gradient, plain[1])]
    for a, b in pairs:
        assert np.asarray(a).dtype == np.asarray(b).dtype and np.shape(a) == np.shape(b)
        np.testing.assert_allclose(a, b, rtol=2e-5 if np.asarray(b).dtype == np.float32 else 1e-9, atol=1e-12)
    return compiled


def test_a_stencil_in_place(rng):
    for n in (0, 1, 2, 3, 4, 11):
        for steps in (0, 1, 3):
            compiled = both(smooth, (rng.normal(size=n), 0.1, steps), (0, 1))
    text = compiled.source_for(rng.normal(size=7), 0.1, 2)
    assert "@kernel\ndef smooth_loop(" in text and "@relaxed_kernel\ndef smooth_loop_adjoint(" in text
    adjoint = text.partition("def smooth_loop_adjoint")[2].partition("\n\n\n")[0]
    assert adjoint.count("new_u_bar[i] = ") == 1, "each entry of the adjoint is written once"
    assert ".copy()" not in adjoint and "[1:-1]" not in re.sub("#.*", "", adjoint)


def test_a_sweep_over_entries(rng):
    for n in (1, 3, 9):
        both(relax, (rng.normal(size=n), rng.normal(size=n), 3), (0, 1))


def test_numbers(rng):
    both(pendulum, (0.7, -0.2, 0.01, 50), (0, 1, 2))
    both(until, (2.0, 1e-9))
    both(of_the_module, (rng.normal(size=5), 5))


@pytest.mark.parametrize("layout", ["rows", "columns", "steps", "read-only", "float32", "reversed"])
def test_layouts(layout, rng):
    u = rng.normal(size=(9, 7))
    u = {
        "rows": u, "columns": np.asfortranarray(u), "steps": np.repeat(u, 2, 0)[::2], "float32": u.astype(np.float32),
        "reversed": u[::-1, ::-1], "read-only": u,
    }[layout]  # fmt: skip
    if layout == "read-only":
        u.flags.writeable = False

    def diffuse(u, k, steps):
        u = u.copy()
        for _ in range(steps):
            u[1:-1, 1:-1] += k * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
        return np.sum(u * u * u)

    both(diffuse, (u, np.float32(0.1) if layout == "float32" else 0.1, 3))


def test_one_derivative_for_other_lengths(rng):
    compiled = tangentc.grad(smooth, kernels="numba")
    plain = tangentc.grad(smooth)
    for n in (5, 8, 3, 1, 12):
        u = rng.normal(size=n)
        np.testing.assert_allclose(compiled(u, 0.2, 3), plain(u, 0.2, 3), rtol=1e-12)


def along_diagonals(x, n):
    """Two loops whose subscripts are the same sums, of another number in each trip."""
    u, v = x.copy(), np.zeros(8)
    for _ in range(2):
        for i in range(n):
            k = (n - i) // 2
            u[i + k] = u[i + k] * 0.5 + x[i]
        for i in range(n):
            k = (n - i) // 2
            v[i] = u[i + k] * u[i + k]
    return np.sum(v) + np.sum(u)


def through_two_names(A, c):
    """What is written under one name is read under another."""
    B = A.copy()
    D = B[:, 0]
    for k in range(B.shape[0]):
        B[k, :] = B[k, :] * D[k]
    return np.sum(B * c)


def views_before_the_loop(x, c):
    """Views that are made before the loop are parts of what they are views of."""
    u = x.copy()
    left, right = u[:-1], u[1:]
    for _ in range(3):
        left += 0.1 * right * c
        right -= 0.2 * left
    return np.sum(u * u)


def close_to_a_branch(x, c):
    """Rounded otherwise, the adjoint would take the other branch."""
    s = 0.0
    for i in range(1, len(x)):
        d = x[i] * x[i] - x[i - 1] * x[i - 1]
        if d == 0.0:
            s += c * x[i]
        else:
            s += x[i] / d
    return s


def factorials(x, n):
    s, p = 0.0, 1
    for i in range(1, n):
        p *= i
        s += x * p
    return s


def large_sums(x, m):
    s, k = 0.0, 0
    for i in range(len(x)):
        k = k + m
        s += x[i] * k
    return s


def beside_the_middle(x, steps):
    """Sums over the first and the last axis, and over the first two."""
    total = 0.0
    for k in range(steps):
        y = x * x + k
        outer = np.sum(y, axis=(0, 2))
        kept = np.mean(y, axis=(0, 2), keepdims=True)
        total = total + np.sum(outer * outer) + np.sum(kept * x) + np.sum(np.sum(y, axis=(0, 1)) * x)
    return total


def test_sums_over_axes_that_are_apart(rng):
    for dtype in (np.float64, np.float32):
        x = rng.normal(size=(3, 4, 5)).astype(dtype)
        value, gradient = tangentc.value_and_grad(beside_the_middle)(x, 3)
        own, own_gradient = tangentc.value_and_grad(beside_the_middle, kernels="numba")(x, 3)
        np.testing.assert_allclose(own, value, rtol=1e-5)
        np.testing.assert_allclose(own_gradient, gradient, rtol=1e-4)


def test_what_a_careless_loop_gets_wrong(rng):
    both(along_diagonals, (rng.normal(size=8), 4))
    both(through_two_names, (rng.normal(size=(2, 3)), 1.5), (0, 1))
    assert "@kernel" in both(views_before_the_loop, (rng.normal(size=9), 0.3), (0, 1)).source
    both(close_to_a_branch, (np.full(3, 0.1), 0.1), (0, 1))
    both(factorials, (0.5, 23))
    both(large_sums, (np.ones(5), 2**62))
    both(large_sums, (np.ones(5), 3))


def test_a_loop_that_is_left_keeps_what_it_was_given():
    compiled = both(left_with_a_value, (0.7,))
    assert "@kernel" in compiled.source and "\n    while True" not in compiled.source


# ------------------------------------------------------------------ what raises
def test_errors_are_those_of_numpy(rng):
    x = rng.normal(size=3)
    compiled = both(walk, (x, rng.normal(size=2)), (0, 1))
    with pytest.raises(IndexError, match="index 3 is out of bounds for axis 0 with size 3"):
        compiled(x, rng.normal(size=5))
    with pytest.raises(ZeroDivisionError):
        tangentc.grad(shares, wrt=(0, 1), kernels="numba")(1.0, 0.0, 2)
    with pytest.raises(ValueError, match="math domain error"):
        tangentc.grad(roots, kernels="numba")(-1.0, 2)
    compiled = both(scaled, (x, x), (0, 1))
    with pytest.raises(ValueError, match="broadcast"):
        compiled(x, rng.normal(size=2))


def second_from_the_end(v, c):
    s = 0.0
    for _ in range(2):
        s += v[-2] * c
    return s


def before_a_part(u, c):
    """At `i = 0` the last entry of the part is meant, not the one before its first."""
    w = u[1:]
    s = 0.0
    for i in range(3):
        s += w[i - 1] * w[i] * c
    return s


def behind_a_part(u, n):
    w = u[1:4]
    s = 0.0
    for i in range(n):
        if i < 9:
            s += w[i] * w[i]
    return s


def test_subscripts_count_from_the_end_once(rng):
    compiled = tangentc.value_and_grad(second_from_the_end, wrt=(0, 1), kernels="numba")
    for n in (1, 0):
        with pytest.raises(IndexError, match=f"index -2 is out of bounds for axis 0 with size {n}"):
            compiled(rng.normal(size=n), 0.5)
    for n in (2, 3, 40):
        both(second_from_the_end, (rng.normal(size=n), 0.5), (0, 1))
    for n in (4, 7, 40):
        both(before_a_part, (rng.normal(size=n), 0.5), (0, 1))
        both(behind_a_part, (rng.normal(size=n), 3))
        with pytest.raises(IndexError):
            tangentc.grad(behind_a_part, kernels="numba")(rng.normal(size=n), 5)


CALLS = []


def counted(x, n):
    CALLS.append(n)
    s = 0.0
    for i in range(n):
        s = s + x[i] * x[i]
    return s


def test_what_changes_the_module_runs_once(rng):
    """Where a kernel raises, the call is run again: not one that leaves something behind."""
    gradient = tangentc.grad(counted, kernels="numba")
    CALLS.clear()
    with pytest.raises(IndexError):
        gradient(rng.normal(size=9), 12)
    assert CALLS == [12] and "numba" not in gradient.source


def test_where_lengths_are_others_numpy_runs(rng):
    """A length that is one is broadcast, for which the loop is not made."""
    x = rng.normal(size=4)
    compiled = tangentc.value_and_grad(scaled, wrt=(0, 1), kernels="numba")
    for a in (rng.normal(size=4), rng.normal(size=1)):
        want = tangentc.value_and_grad(scaled, wrt=(0, 1))(x, a)
        got = compiled(x, a)
        np.testing.assert_allclose(got[0], want[0])
        for p, q in zip(got[1], want[1], strict=True):
            np.testing.assert_allclose(p, q)


def test_nan_and_infinity_count(rng):
    u = rng.normal(size=9)
    u[4] = np.nan
    with np.errstate(all="ignore"):
        both(smooth, (u, 0.1, 3), (0, 1))
        u[4] = np.inf
        both(smooth, (u, 0.1, 2), (0, 1))


# ------------------------------------------------------------------ what is asked for
def test_other_compilers_are_refused():
    with pytest.raises(tangentc.BadArgument, match="kernels='cython' is no compiler of loops"):
        tangentc.grad(smooth, kernels="cython")
    with pytest.raises(tangentc.BadArgument, match="no compiler of loops"):
        tangentc.differentiable(smooth, kernels="cython")


def test_without_numba_it_says_so(monkeypatch):
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(tangentc.BadArgument, match=r"(?s)needs Numba, which is not installed.*tangentc\[numba\]"):
        tangentc.grad(smooth, kernels="numba")


def test_what_has_no_words_stays_numpy(rng):
    A = np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    compiled = both(mixed, (rng.normal(size=3), A, 2), (0, 1))
    assert "numba" not in compiled.source
    assert compiled.source == tangentc.value_and_grad(mixed, wrt=(0, 1)).source_for(rng.normal(size=3), A, 2)


def test_decorated_functions_adjoints_and_pickles(rng):
    u = rng.normal(size=6)
    f = tangentc.differentiable(smooth, kernels="numba")
    assert "@kernel" in f.grad.source_for(u, 0.1, 2)
    np.testing.assert_allclose(f.grad(u, 0.1, 2), tangentc.grad(smooth)(u, 0.1, 2))
    adjoint = tangentc.adjoint(smooth, kernels="numba")
    np.testing.assert_allclose(adjoint(u, 0.1, 2, 3.0), tangentc.adjoint(smooth)(u, 0.1, 2, 3.0))
    again = pickle.loads(pickle.dumps(tangentc.grad(smooth, kernels="numba")))
    assert "@kernel" in again.source_for(u, 0.1, 2)
    direction = rng.normal(size=6)  # what is differentiated again is NumPy's
    _, product = tangentc.jvp(tangentc.grad(smooth, kernels="numba"), (u, 0.1, 2), (direction, None, None))
    _, plain = tangentc.jvp(tangentc.grad(smooth), (u, 0.1, 2), (direction, None, None))
    np.testing.assert_allclose(product, plain)


def test_an_exported_module_keeps_its_kernels(tmp_path, rng):
    u = rng.normal(size=6)
    gradient = tangentc.grad(smooth, kernels="numba")
    path = tmp_path / "smooth_grad.py"
    tangentc.export(gradient, path, u, 0.1, 2)
    text = path.read_text()
    assert "import numba\n" in text and "tangentc" not in text.partition('"""')[2].partition('"""')[2]
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import numpy as np, smooth_grad\n"
    code += f"print(repr(smooth_grad.smooth_grad(np.array({u.tolist()!r}), 0.1, 2).tolist()))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    np.testing.assert_allclose(eval(done.stdout), gradient(u, 0.1, 2))


def test_the_command_shows_them(tmp_path, capsys):
    path = tmp_path / "model.py"
    path.write_text(
        "import numpy as np\n\n\ndef f(x):\n    s = 0.0\n    for i in range(len(x)):\n        s += x[i] ** 2\n    return s\n"
    )
    assert cli.main(["show", f"{path}:f", "--kernels", "numba", "--at", "x=np.ones(4)"]) == 0
    assert "@relaxed_kernel\ndef f_loop_adjoint(" in capsys.readouterr().out


def test_kept_text_has_its_kernels(tmp_path, rng):
    u = rng.normal(size=6)
    tangentc.cache(tmp_path / "texts")
    try:
        first = tangentc.grad(smooth, kernels="numba").source_for(u, 0.1, 2)
        plain = tangentc.grad(smooth).source_for(u, 0.1, 2)
    finally:
        tangentc.cache(None)
    assert "@kernel" in first and "numba" not in plain


def on_the_page(tmp_path, monkeypatch, name):
    """A program of the page, and the text that the page shows for it."""
    page = (ROOT / "docs" / "kernels.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", page, re.DOTALL)
    at = next(k for k, b in enumerate(blocks) if b.startswith("import numpy") and f"def {name}(" in b)
    (tmp_path / f"{name}.py").write_text(blocks[at])
    monkeypatch.syspath_prepend(tmp_path)
    return getattr(importlib.import_module(name), name), blocks[at + 1].rstrip()


def test_the_page_shows_what_is_emitted(tmp_path, monkeypatch):
    traffic, shown = on_the_page(tmp_path, monkeypatch, "traffic")
    gradient = tangentc.value_and_grad(traffic, wrt=("u", "c"), kernels="numba")
    assert gradient.source_for(np.ones(200), 0.1, 3).rstrip() == shown


def test_the_page_shows_a_run_of_statements(tmp_path, monkeypatch):
    softmax, shown = on_the_page(tmp_path, monkeypatch, "softmax")
    gradient = tangentc.grad(softmax, kernels="numba")
    assert gradient.source_for(np.ones((40, 30)), np.ones((40, 30))).rstrip() == shown


# ------------------------------------------------------------------ threads
def rows_of(x, w):
    total = 0.0
    for i in range(x.shape[0]):
        s = 0.0
        for j in range(x.shape[1]):
            s += np.exp(w[j] * x[i, j])
        total += np.log(s)
    return total


def plate(u, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1, 1:-1] += 0.1 * (u[2:, 1:-1] + u[:-2, 1:-1] + u[1:-1, 2:] + u[1:-1, :-2] - 4 * u[1:-1, 1:-1])
    return np.sum(u * u)


@pytest.mark.parametrize("threads", [2, 3])
def test_threads_share_loops_that_carry_nothing(rng, threads):
    for f, args, wrt in (
        (rows_of, (rng.normal(size=(11, 5)), rng.normal(size=5)), (0, 1)),
        (plate, (rng.normal(size=(9, 8)), 3), 0),
        (lambda x, y: sum_of_squares(x - y), (rng.normal(size=40), rng.normal(size=40)), (0, 1)),
    ):
        alone = tangentc.value_and_grad(f, wrt, kernels="numba")
        shared = tangentc.value_and_grad(f, wrt, kernels="numba", threads=threads)
        value, gradient = shared(*args)
        assert np.isclose(value, alone(*args)[0], rtol=1e-13) and "numba.prange(" in shared.source
        for a, b in zip(parts(gradient), parts(alone(*args)[1])):
            np.testing.assert_allclose(a, b, rtol=1e-12, atol=1e-14)
        for _ in range(3):
            again = shared(*args)
            assert again[0] == value and all(map(np.array_equal, parts(again[1]), parts(gradient)))


def sum_of_squares(d):
    s = 0.0
    for i in range(3, len(d)):
        s -= d[i] * d[i]
    return s


def parts(gradient):
    return gradient if isinstance(gradient, tuple) else (gradient,)


def test_a_loop_whose_trips_write_one_entry_is_not_shared():
    def f(x, k):
        y = np.zeros(3)
        for i in range(len(x)):
            y[k[i]] += x[i] * x[i]
        return y[0] * y[1]

    derivative = tangentc.grad(f, kernels="numba", threads=2)
    x, k = np.arange(6.0), np.array([0, 1, 0, 1, 2, 0])
    np.testing.assert_allclose(derivative(x, k), tangentc.grad(f)(x, k))
    loop = derivative.source.partition("def f_loop(")[2].partition("\n\n\n")[0]
    assert "prange" not in loop


def test_the_number_of_threads_is_as_before(rng):
    import numba

    before = numba.get_num_threads()
    tangentc.grad(plate, kernels="numba", threads=1)(rng.normal(size=(5, 5)), 1)
    tangentc.grad(plate, kernels="numba", threads=2)(rng.normal(size=(5, 5)), 1)
    assert numba.get_num_threads() == before


@pytest.mark.parametrize("threads, kernels", [(0, "numba"), (2, "numpy"), (1.5, "numba"), (True, "numba")])
def test_a_wrong_number_of_threads_is_refused(threads, kernels):
    with pytest.raises(tangentc.BadArgument, match="threads"):
        tangentc.grad(plate, kernels=kernels, threads=threads)


# ------------------------------------------------------------------ index arrays
def messages(h, src, dst, w, steps):
    for _ in range(steps):
        d = h[src] - h[dst]
        f = w * d / (1.0 + np.sum(d * d, axis=1, keepdims=True))
        out = np.zeros_like(h)
        np.add.at(out, src, -f)
        np.add.at(out, dst, f)
        h = h + 0.05 * out
    return np.sum(h**2)


def test_index_arrays_are_read_and_added_to(rng):
    args = rng.normal(size=(12, 3)), rng.integers(-12, 12, 30), rng.integers(0, 12, 30), 0.7, 4
    compiled = both(messages, args, (0, 3))
    assert "@relaxed_kernel\ndef messages_loop_adjoint(" in compiled.source_for(*args)


def test_an_index_that_names_no_entry_is_numpys_error(rng):
    derivative = tangentc.grad(messages, kernels="numba")
    with pytest.raises(IndexError, match="index 12 is out of bounds for axis 0 with size 12"):
        derivative(rng.normal(size=(12, 3)), np.array([0, 12]), np.array([1, 2]), 0.7, 2)


def test_of_several_stores_into_one_entry_the_last_one_counts(rng):
    def f(x, idx, v, steps):
        x = x.copy()
        for _ in range(steps):
            x[idx] = 0.5 * x[idx] + v
            x[idx] += 0.1 * v * v
        return np.sum(x**2)

    both(f, (rng.normal(size=6), np.array([0, 3, 3, -1, 0]), rng.normal(size=5), 3), (0, 2))


# ------------------------------------------------------------------ what is saved has the place of its trip
def test_what_a_trip_saves_has_a_place_of_its_own(rng):
    def f(x, w):
        total = 0.0
        for i in range(x.shape[0]):
            for j in range(i):
                total += np.exp(w[j] * x[i, j]) * x[j, i]
        return total

    args = rng.normal(size=(9, 9)), rng.normal(size=9)
    text = both(f, args, (0, 1)).source_for(*args)
    assert "_saved[i, j] = " in text and "top" not in text


def test_a_loop_that_is_left_saves_as_it_goes(rng):
    def f(x, limit):
        total = 0.0
        for i in range(len(x)):
            total += np.exp(x[i]) * total + x[i] * x[i]
            if total > limit:
                return total * x[i]
        return total

    x = rng.normal(size=20)
    for limit in (-10.0, 0.0, 3.0, 1e9):
        assert "@" in both(f, (x, limit), 0).source_for(x, limit)


# ------------------------------------------------------------------ once they pay
def test_kernels_once_they_pay(rng, monkeypatch):
    from tangentc import compiling

    args = rng.normal(size=(30, 30)), 3
    derivative = tangentc.value_and_grad(plate, kernels="auto")
    want = tangentc.value_and_grad(plate)(*args)
    derivative(*args)
    trial = derivative.last.trial
    assert trial.loops == 2 and not trial.kernels and not trial.is_decided
    monkeypatch.setattr(compiling.Trial, "seconds", 0.0)
    for _ in range(compiling.RUNS + 1):
        assert not trial.is_decided
        np.testing.assert_allclose(derivative(*args)[1], want[1], rtol=1e-12, atol=1e-14)
    assert trial.is_decided and trial.best_of_kernels < float("inf")


def test_what_has_no_loops_is_never_compiled(rng):
    derivative = tangentc.grad(lambda x: np.sum(np.tanh(x)), kernels="auto")
    derivative(rng.normal(size=5))
    assert derivative.last.trial.is_decided and not derivative.last.trial.kernels


def test_the_quicker_code_is_kept(monkeypatch):
    from tangentc import compiling

    now = [0.0]
    monkeypatch.setattr(compiling.time, "perf_counter", lambda: now[0])

    def taking(seconds, result):
        def run():
            now[0] += seconds
            return result

        return run

    for kernels, kept in ((0.1, "kernels"), (5.0, "numpy")):
        trial = compiling.Trial(1)
        monkeypatch.setattr(compiling.Trial, "seconds", 2.5)
        results = [trial.run(taking(1.0, "numpy"), taking(kernels, "kernels")) for _ in range(12)]
        assert results[:3] == ["numpy"] * 3 and results[3 : 4 + compiling.RUNS] == ["kernels"] * (1 + compiling.RUNS)
        assert trial.is_decided and results[-1] == kept


def test_stages_end_with_kernels(rng):
    args = rng.normal(size=(6, 5)), 2
    shown = tangentc.stages(tangentc.grad(plate, kernels="numba"), *args)
    assert [s.name for s in shown][-2:] == ["emit", "kernels"] and "@kernel" in shown["kernels"].text
    assert "@" not in shown["emit"].text
    want = tangentc.grad(plate)(*args)
    for s in shown:
        if s.is_derivative:
            np.testing.assert_allclose(s.run(*args), want, rtol=1e-12, atol=1e-14)


def test_a_loop_that_stays_is_annotated():
    def f(x, A):
        s = 0.0
        for i in range(len(x)):
            s += x[i] * np.sin(x[i])
        for _ in range(3):
            x = np.sort(A @ x)
        return s + np.sum(x)

    text = tangentc.grad(f, kernels="numba").source_for(np.ones(20), np.eye(20), annotate=True)
    assert "not compiled: sort" in text and "@kernel" in text


def test_what_a_row_adds_is_added_once_where_its_entries_are_gathered(rng):
    def f(u, p, c):
        n, m = u.shape
        last = m - 1
        v, w = np.zeros((n, m)), np.zeros(n)
        for i in range(n):
            for j in range(1, last):
                v[i, j] = c * u[i, j - 1] + u[i, j + 1] - 2.0 * u[i, j]
            w[i] = p[i] * 3.0
        return np.sum(v * v) + np.sum(w * w) + np.sum(p * p)

    for m in (1, 2, 3, 10):
        both(f, (rng.normal(size=(9, m)), rng.normal(size=9), 0.3), (0, 1))


def test_two_names_for_what_a_trip_hands_on(rng):
    def f(x, steps):
        u, v = x * 1.0, x * 2.0
        for _ in range(steps):
            for i in range(1, len(x)):
                u[i] = 0.5 * u[i] + v[i - 1]
            w = u * 0.3 + v
            u = w
            v = w
        return np.sum(u * v)

    both(f, (rng.normal(size=9), 4))


def test_a_power_that_is_no_product_is_saved(rng):
    def f(x, steps):
        x = x.copy()
        for _ in range(steps):
            d = 1.0 + x * x
            x = x + 0.1 * d**-1.5 * x + 0.01 * d**2
        return np.sum(x)

    x = rng.normal(size=5)
    gradient = tangentc.grad(f, kernels="numba")
    np.testing.assert_allclose(gradient(x, 3), tangentc.grad(f)(x, 3), rtol=1e-13)
    text = gradient.source_for(x, 3)
    adjoint = text[text.index("def f_loop_adjoint(") :]
    assert "** -1.5" not in adjoint and "** -2.5" not in adjoint, "which takes as long as ten numbers to save"


def test_what_is_added_to_zeros_starts_from_zero(rng):
    def f(x, steps):
        x = x.copy()
        for _ in range(steps):
            lap = x[2:] - 2.0 * x[1:-1] + x[:-2]
            flux = np.where(lap[1:] > lap[:-1], 0.3, 1.0) * (lap[1:] - lap[:-1])
            x[2:-2] -= 0.1 * (flux[1:] - flux[:-1])
        return np.sum(x * x)

    gradient, plain = tangentc.grad(f, kernels="numba"), tangentc.grad(f)
    for n in (4, 5, 6, 12):
        x = rng.normal(size=n)
        np.testing.assert_allclose(gradient(x, 3), plain(x, 3), rtol=1e-12)
    adjoint = gradient.source_for(x, 3)
    adjoint = adjoint[adjoint.index("def f_loop_adjoint(") : adjoint.index("def f_grad(")]
    assert "lap_bar = np.zeros" not in adjoint and "flux_bar = np.zeros" not in adjoint


def test_an_array_that_is_all_that_reads_others_takes_their_place(rng):
    def f(x, steps):
        x = x.copy()
        for _ in range(steps):
            lap = 4.0 * x[1:-1] - (x[2:] + x[:-2] + np.tanh(x[2:]) + x[1:-1] * x[:-2])
            x[2:-2] += np.where((lap[2:] - lap[:-2]) * x[2:-2] > 0, 0.1, 0.2) * (lap[2:] - lap[:-2])
        return np.sum(x * x)

    gradient = tangentc.value_and_grad(f, kernels="numba")
    x = rng.normal(size=9)
    (value, x_bar), (expected, other) = gradient(x, 2), tangentc.value_and_grad(f)(x, 2)
    assert value == expected
    np.testing.assert_allclose(x_bar, other, rtol=1e-12)
    primal = gradient.source_for(x, 2)
    assert primal[: primal.index("f_loop_adjoint(")].count("np.empty(") == 1, "room for lap alone"


def test_what_a_users_loop_adds_to_zeros_starts_from_zero(rng):
    def f(x, steps):
        n = x.shape[0]
        u = x.copy()
        for _ in range(steps):
            v = np.empty(n)
            v[0] = u[0]
            v[n - 1] = u[n - 1]
            for i in range(1, n - 1):
                v[i] = u[i] + 0.1 * (u[i + 1] - 2.0 * u[i] + u[i - 1]) * u[i]
            u = v
        return np.sum(u * u)

    gradient, plain = tangentc.grad(f, kernels="numba"), tangentc.grad(f)
    for n in (2, 3, 4, 9):
        x = rng.normal(size=n)
        np.testing.assert_allclose(gradient(x, 3), plain(x, 3), rtol=1e-12)
    text = gradient.source_for(x, 3)
    assert "u_bar = np.empty(n)\n" in text and "u_bar = np.zeros(n)\n" not in text


def columns(x):
    a = x.copy().reshape(3, 2)
    a[0, 0] = 2.0
    return np.sum(a[:, 0].ravel() ** 2)


def every_other(x):
    a = x.copy()
    a[0] = 2.0
    return np.sum(a[::2].ravel() ** 2)


def turned_round(x):
    a = x.copy()
    a[0] = 2.0
    return np.sum(a[::-1].ravel() ** 2)


@pytest.mark.parametrize("f", [columns, every_other, turned_round])
def test_what_numpy_copies_to_ravel_is_added_once(f, rng):
    x = rng.normal(size=6)
    np.testing.assert_allclose(tangentc.grad(f, kernels="numba")(x), tangentc.grad(f)(x), rtol=1e-13)
