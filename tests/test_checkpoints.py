"""Computing again in place of saving: loops of a few states, and functions of which the arguments alone are kept."""

import functools
import importlib.util
import re
import tracemalloc
import types

import numpy as np
import programs.test_programs as every
import pytest

import tangentc
from tangentc import checkpoint, grad, value_and_grad
from tangentc.inspection.check import flatten
from tangentc.runtime import keep_state, last_state, snapshots

u0 = np.linspace(0.1, 1.0, 12)


# ---------------------------------------------------------- loops
def carried(u, nu, steps):
    for _ in range(steps):
        u = u + nu * np.sin(u) * np.roll(u, 1)
    return np.sum(u**2)


def in_place(u, nu, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] = u[1:-1] + nu * u[1:-1] * (u[2:] - u[:-2])
    return np.sum(u**2)


def of_the_caller(u, nu, steps):
    before = np.sum(u[::2] ** 3)
    rows = u[1:]
    for _ in range(steps):
        rows[:] = rows + nu * np.cos(rows) * u[0]
    return np.sum(u**2) + before


def items_and_numbers(u, nu, forces):
    v, energy = np.zeros_like(u), 0.0
    for t, f in enumerate(forces, start=2):
        v = v - nu * np.sin(u) + f * t
        u = u + nu * v * u
        energy += np.sum(v * u)
    return energy + np.sum(u)


def two_sequences(u, nu, forces):
    for a, b in zip(forces, reversed(forces)):
        u = np.tanh(u * a) + nu * b * u
    return np.sum(u)


def backwards(u, nu, steps):
    for t in reversed(range(2, steps, 3)):
        u = u + nu * np.sin(u * t)
    return np.sum(u)


def until(u, nu, end):
    t, dt = 0.0, 0.1
    while t < end:
        u = u + dt * nu * np.sin(u) * np.roll(u, 1)
        dt = 0.05 + 0.01 * np.max(u)
        t += dt
    return np.sum(u**2) + t


def with_branches_and_loops(u, nu, steps):
    for t in range(steps):
        if t % 3 == 0:
            u = np.sin(u)
        for k in range(2):
            u = u * (1 + nu * u[k])
    return np.sum(u)


def swapped(u, nu, steps):
    a, b = u.copy(), np.zeros_like(u)
    for _ in range(steps):
        b = a * np.cos(a) + nu * b
        a, b = b, a
    return np.sum(a * b)


def twice(u, nu, steps):
    for _ in range(steps):
        u = np.sin(u) + nu * u
    for _ in range(steps):
        u = u * np.cos(nu * u)
    return np.sum(u)


def simulated(u, nu, steps):
    return 2.0 * in_place(u, nu, steps) + carried(u, nu, steps)


def counted(u, nu, steps):
    steps_done, log = 0, []
    for t in range(steps):
        u = u + nu * u * u
        steps_done += 1
        log.append(t)
    return np.sum(u) * steps_done / max(len(log), 1)


FORCES = np.linspace(0.3, 1.0, 9)
LOOPS = [
    (carried, 13), (in_place, 13), (of_the_caller, 7), (items_and_numbers, FORCES), (two_sequences, FORCES),
    (backwards, 30), (until, 2.0), (with_branches_and_loops, 8), (swapped, 9), (twice, 6), (simulated, 5),
    (counted, 9), (carried, 0), (carried, 1), (of_the_caller, 0), (until, 0.0), (until, 0.05), (backwards, 1),
]  # fmt: skip


@pytest.mark.parametrize("function, last", LOOPS, ids=lambda x: getattr(x, "__name__", str(x)))
@pytest.mark.parametrize("memory", [1, 2, 3, 5, 50, "250 B", "1 GB"])
def test_the_gradient_is_the_same(function, last, memory):
    want = value_and_grad(function, (0, 1))(u0.copy(), 0.1, last)
    derivative = value_and_grad(function, (0, 1), memory=memory)
    got = derivative(u0.copy(), 0.1, last)
    for (_, a), (_, b) in zip(flatten(list(got)), flatten(list(want)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    assert "last_state(" in derivative.source


@functools.cache
def fewest(trips, states):
    """The fewest runs of trips again with which as many can be reversed, by trying all ways."""
    if trips <= 1 or states == 1:
        return trips * (trips - 1) // 2
    return min(m + fewest(trips - m, states - 1) + fewest(m, states) for m in range(1, trips))


def runs(trips, most, known):
    """How many trips run, and how many states are kept at once."""
    states, x, count, kept = snapshots(range(trips) if known else None, most=most), 0, 0, 0
    for t in range(trips):
        keep_state(states, t, x)
        x, count, kept = x + 1, count + 1, max(kept, len(states["kept"]))
    for t in reversed(range(trips)):
        since, x = last_state(states, t)
        for k in since:
            keep_state(states, k, x)
            x, count, kept = x + 1, count + 1, max(kept, len(states["kept"]))
        assert x == t
    return count, kept


@pytest.mark.parametrize("most", [1, 2, 3, 5, 10])
def test_no_schedule_runs_fewer_trips(most):
    for trips in (*range(20), 60):
        count, kept = runs(trips, most, True)
        assert count == fewest(trips + 1, most) and kept <= most  # the rest of the function is one trip more
        assert runs(trips, most, False)[1] <= most


def test_memory_is_that_of_the_states():
    def peak(derivative):
        derivative(u, 0.1, 3)
        tracemalloc.start()
        try:
            derivative(u, 0.1, 200)
            return tracemalloc.get_traced_memory()[1] / u.nbytes
        finally:
            tracemalloc.stop()

    u = np.linspace(0.1, 1.0, 20_000)
    assert peak(grad(in_place)) > 150
    assert peak(grad(in_place, memory=4)) < 12
    assert peak(grad(in_place, memory=f"{4 * u.nbytes} B")) < 12


def test_what_is_emitted():
    text = grad(in_place, memory=10).source_for(u0, 0.1, 5)
    assert "states = snapshots(range(steps), most=10)" in text and "since, u = last_state(states, _)" in text
    assert ".append(" not in text and "u_saved" not in text


def test_a_loop_that_saves_nothing_keeps_no_states():
    def diffused(u, steps):
        u = u.copy()
        for _ in range(steps):
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return np.sum(u)

    assert "snapshots" not in grad(diffused, memory=3).source_for(u0, 5)


def test_trips_that_begin_with_nothing_run_again_without_states():
    def filled(x, n):
        out = np.zeros(n)
        for i in range(n):
            out[i] = np.sin(x * i) * x
        return np.sum(out)

    derivative = grad(filled, memory=3)
    np.testing.assert_allclose(derivative(0.3, 5), grad(filled)(0.3, 5), rtol=1e-12)
    assert "snapshots" not in derivative.source and ".append(" not in derivative.source


def test_loops_of_a_callee_in_a_loop_keep_no_states_of_their_own():
    def runs_again(u, nu, steps):
        for _ in range(steps):
            u = u * carried(u, nu, steps)
        return np.sum(u)

    text = grad(runs_again, memory=2).source_for(u0, 0.01, 2)
    assert text.count("= snapshots(") == 1
    want, got = (grad(runs_again, memory=m)(u0, 0.01, 2) for m in (None, 2))
    np.testing.assert_allclose(got, want, rtol=1e-12)


def test_what_a_trip_prints_is_printed_once(capsys):
    def told(x, n):
        for k in range(n):
            x = np.sin(x) * x
            if k == 1:
                print("one")
        return np.sum(x)

    np.testing.assert_allclose(grad(told, memory=1)(u0, 4), grad(told)(u0, 4), rtol=1e-12)
    assert capsys.readouterr().out == "one\n" * 2


def left(x, n):
    for _ in range(n):
        x = np.sin(x) * x
        if np.sum(x) < 0.1:
            break
    return np.sum(x)


def drawn(x, n):
    rng = np.random.default_rng(0)
    for _ in range(n):
        x = np.sin(x) * rng.normal()
    return np.sum(x)


def in_turn(x, n):
    both = [x, 2 * x]
    for k in range(n):
        both[k % 2] = np.sin(both[(k + 1) % 2]) * x
    return np.sum(both[0] * both[1])


def first_value(x, n):
    total = 0.0
    for k in range(n):
        if k > 0:
            total = total + np.sum(old * x)  # noqa: F821
        old = x * x  # noqa: F841
        x = np.sin(x)
    return total


SEEN = types.SimpleNamespace(calls=0)


def seen(x, n):
    for _ in range(n):
        x = np.sin(x) * x
        SEEN.calls += 1
    return np.sum(x)


@pytest.mark.parametrize(
    "function, says",
    [
        (left, "is left by `break`"), (drawn, "does more than to compute"), (seen, "does more than to compute"),
        (in_turn, "changes a container of what moves"), (first_value, "gives old its first value"),
    ],
)  # fmt: skip
def test_what_cannot_run_again_is_refused(function, says):
    with pytest.raises(tangentc.UnsupportedSyntax, match=re.escape(says)) as error:
        grad(function, memory=3)(u0, 4)
    assert "Way out: leave `memory` out" in str(error.value)


@pytest.mark.parametrize("memory", [0, -1, True, 2.5, "ten", "10 parsecs", "MB", "-3 MB", "inf GB", []])
def test_bounds_that_are_none(memory):
    with pytest.raises(tangentc.BadArgument, match="no bound of the states"):
        grad(carried, memory=memory)


def test_second_derivatives():
    inner = grad(carried, memory=2)
    got = tangentc.jacobian(inner)(u0, 0.1, 5)
    np.testing.assert_allclose(got, tangentc.hessian(carried)(u0, 0.1, 5), rtol=1e-10)


def test_export_and_stages(tmp_path):
    derivative = grad(in_place, memory=3)
    want = derivative(u0, 0.1, 6)
    path = tangentc.export(derivative, tmp_path / "emitted.py", u0, 0.1, 6)
    assert "import tangentc" not in path.read_text()
    spec = importlib.util.spec_from_file_location("emitted", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    np.testing.assert_array_equal(module.in_place_grad(u0, 0.1, 6), want)
    for stage in tangentc.stages(derivative, u0, 0.1, 6):
        result = stage.run(u0, 0.1, 6)
        np.testing.assert_allclose(result, want if stage.is_derivative else in_place(u0, 0.1, 6), rtol=1e-12)
    np.testing.assert_array_equal(grad(in_place, memory=3, check="finite")(u0, 0.1, 6), want)


def agree_with_two_states(function, args):
    wrt = every.moving(args)
    want = grad(function, wrt)(*every.fresh(args))
    try:
        got = grad(function, wrt, memory=2)(*every.fresh(args))
    except tangentc.UnsupportedSyntax:
        return
    for (_, a), (_, b) in zip(flatten(list(got)), flatten(list(want)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-11)


with_warnings = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@with_warnings
@pytest.mark.parametrize("function, args", [row[1:] for row in every.PROGRAMS[::12]], ids=every.IDS[::12])
def test_some_programs(function, args):
    agree_with_two_states(function, args)


@with_warnings
@pytest.mark.nightly
@every.cases
def test_all_programs(function, args):
    agree_with_two_states(function, args)


# ---------------------------------------------------------- functions
def plain_step(u, v, nu):
    a = np.exp(-u * u)
    b = np.zeros_like(a)
    b[:] = np.sin(a * v)
    return u + nu * b, v - nu * a


step = checkpoint(plain_step)
rng = np.random.default_rng(0)


def steps(u, v, nu, n):
    for _ in range(n):
        u, v = step(u, v, nu)
    return np.sum(u * v)


def plain_steps(u, v, nu, n):
    for _ in range(n):
        u, v = plain_step(u, v, nu)
    return np.sum(u * v)


def steps_here(u, v, nu, n):
    again = tangentc.checkpoint(plain_step)
    for _ in range(n):
        u, v = again(u, v, nu)
    return np.sum(u * v)


@pytest.mark.parametrize("function", [steps, steps_here])
@pytest.mark.parametrize("memory", [None, 2])
def test_functions_computed_again(function, memory):
    args = u0, u0 + 1, 0.1, 5
    want = grad(plain_steps, (0, 1, 2))(*args)
    derivative = grad(function, (0, 1, 2), memory=memory)
    for a, b in zip(derivative(*args), want, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-12)
    text = derivative.source
    assert "plain_step_adjoint(u, v, nu, (u_bar, v_bar))" in text and "primal" not in text


@checkpoint
def by_keyword(u, dt=0.1, *, k=2.0):
    return u + dt * np.sin(k * u)


def test_arguments_that_are_given_by_keyword():
    def f(u):
        v, total = u.copy(), np.zeros_like(u)
        for _ in range(3):
            total = total + by_keyword(v) + by_keyword(dt=0.3, u=v, k=3.0)
            v[0] = v[0] * 2
        return np.sum(total * v)

    want = [(f(u0 + h) - f(u0 - h)) / 2e-6 for h in 1e-6 * np.eye(12)]
    np.testing.assert_allclose(grad(f)(u0), want, atol=1e-6)


def test_a_checkpoint_in_other_derivatives():
    def both(f):
        return lambda x: f(x, x + 1, 0.1, 3)

    np.testing.assert_allclose(tangentc.hessian(both(steps))(u0), tangentc.hessian(both(plain_steps))(u0), rtol=1e-10)
    assert tangentc.jvp(both(steps), (u0,), (u0,)) == tangentc.jvp(both(plain_steps), (u0,), (u0,))
    _, pullback = tangentc.vjp(both(steps), u0)
    first, second = pullback(1.0)[0], pullback(1.0)[0]
    np.testing.assert_array_equal(first, second)
    np.testing.assert_allclose(first, grad(both(plain_steps))(u0), rtol=1e-12)


def test_a_checkpoint_is_the_function():
    assert checkpoint(plain_step) is step and step.__name__ == "plain_step"
    np.testing.assert_array_equal(step(u0, u0, 0.1), plain_step(u0, u0, 0.1))
    for wrong in (np.sin, 3.0, np.vectorize(plain_step)):
        with pytest.raises(tangentc.BadArgument, match="whose text is run again"):
            checkpoint(wrong)


@checkpoint
def draws(x):
    return x * rng.normal()


@checkpoint
def changes(x):
    x[0] = x[1] ** 2


@checkpoint
def counts(x):
    SEEN.calls += 1
    return np.sin(x) * x


def counted_again(x):
    return np.sum(counts(counts(x)))


def drawn_again(x):
    return np.sum(draws(x))


def changed_again(x):
    x = x.copy()
    changes(x)
    return np.sum(x)


def made_inside(x):
    @checkpoint
    def inside(y):
        return np.sin(y) * y

    return np.sum(inside(inside(x)))


@pytest.mark.parametrize("function", [drawn_again, changed_again, counted_again, made_inside])
def test_functions_that_cannot_be_computed_again(function):
    with pytest.raises(tangentc.TangentcError, match="Way out"):
        grad(function)(u0)
