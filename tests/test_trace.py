"""What a traced gradient tells: the values of each statement, and where a NaN is born."""

import importlib.util
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import tangentc
from tangentc import NotFinite, UnsafeMutation, adjoint, grad, trace, value_and_grad, vjp
from tangentc.inspection.trace import folded

EXAMPLES = Path(__file__).parents[1] / "examples" / "debugging"


def recurrence(x, n):
    total = 0.0
    for k in range(n):
        x = np.sin(x) * 1.5
        total = total + np.sum(x) * k
    return total


def test_each_statement_has_its_line_and_its_values():
    x = np.array([0.5, 1.0])
    run = trace(recurrence, keep=True)(x, 3)
    assert np.array_equal(run.result, grad(recurrence)(x, 3))
    first = recurrence.__code__.co_firstlineno
    sines = [r for r in run.rows if r.sweep == "primal" and "np.sin" in r.statement]
    assert [r.line for r in sines] == [first + 3] * 3
    assert [r.trips[0][1] for r in sines] == [0, 1, 2]
    assert sines[0].text == "x = np.sin(x) * 1.5"
    value = x
    for row in sines:
        value = np.sin(value) * 1.5
        assert np.allclose(row.value, value) and row.summary.shape == (2,)
        assert row.summary.maximum == pytest.approx(value.max()) and row.summary.minimum == pytest.approx(value.min())
        assert row.summary.norm == pytest.approx(np.linalg.norm(value))
    last = [r for r in run.rows if r.sweep == "adjoint" and r.target == "x_bar"][-1]
    assert np.array_equal(last.value, run.result)
    assert np.array_equal(x, [0.5, 1.0])


def test_every_statement_of_the_emitted_code_is_there():
    x = np.array([0.5, 1.0])
    run = trace(recurrence)(x, 2)
    emitted = {r.row for r in run.rows}
    text = grad(recurrence).source_for(x, 2).split("\n")
    simple = {
        k for k, line in enumerate(text, 1)
        if line.startswith("    ") and ("=" in line or "append" in line or "return" in line)
        and not line.strip().startswith(("#", "def", '"""'))
    }  # fmt: skip
    assert simple <= emitted


def test_table_folds_long_loops():
    run = trace(recurrence)(np.ones(2), 200)
    text = run.table().text()
    assert len(run.rows) > 800 and len(text.split("\n")) < 60
    assert "trips 3 to 199 of `for k in reversed(range(n)):`" in text
    assert run.to_html().count("<tr") < 60 and "trips 3 to 199" in run._repr_html_()
    assert str(run) == text  # not a terminal


def test_short_loops_are_not_folded():
    run = trace(recurrence)(np.ones(2), 3)
    assert folded(run.rows, run.loops) == run.rows


def test_loop_that_is_begun_again():
    def f(x):
        for _ in range(2):
            for _ in range(3):
                x = np.sin(x)
        return x

    run = trace(f)(2.0)
    trips = [r.trips for r in run.rows if r.sweep == "primal" and r.statement == "x = np.sin(x)"]
    assert [tuple(t for _, t in pair) for pair in trips] == [(0, 0), (0, 1), (0, 2), (1, 0), (1, 1), (1, 2)]
    assert folded(run.rows, run.loops) == run.rows


def helper(v):
    logarithm = np.log(v)
    return logarithm


def calls(x):
    y = helper(x) * 2
    return np.sum(y) + 0.0 * np.sum(helper(np.ones(2)))  # twice, so that it stays a function


def test_statements_of_functions_that_are_called():
    run = trace(calls)(np.array([1.0, 2.0]))
    assert {r.function for r in run.rows} == {"calls_grad", "helper_primal", "helper_adjoint"}
    with np.errstate(all="ignore"):
        found = trace(calls)(np.array([1.0, 0.0])).first_nonfinite()
    assert found.line == helper.__code__.co_firstlineno + 1
    assert found.entry == (1,) and found.kind == "infinity"


def test_infinities_that_the_program_names_are_not_reported():
    def f(x):
        best = -np.inf
        for v in x:
            best = np.maximum(best, v)
        return best * 2

    assert trace(f)(np.array([1.0, 3.0])).first_nonfinite() is None


def test_argument_that_is_not_finite():
    found = trace(lambda x: np.sum(x * x))(np.array([1.0, np.nan])).first_nonfinite()
    assert found.sweep == "argument" and found.operation == "x" and found.entry == (1,)
    assert "NaN in the argument x at entry 1" in str(found)


def test_in_place_changes_that_overflow():
    def f(x):
        a = np.zeros(3)
        a[1] += x * 1e150
        a *= 1e200
        return np.sum(a * a)

    with np.errstate(all="ignore"):
        found = trace(f)(1.0).first_nonfinite()
    assert found.text == "a *= 1e200" and found.kind == "infinity"


def test_broadcast_operands_are_shown_at_the_entry():
    def f(X):
        return np.sum((X / np.sum(X, axis=1)[:, None]) ** 2)

    with np.errstate(all="ignore"):
        found = trace(f)(np.array([[1.0, 2.0], [0.0, 0.0]])).nonfinite[0]
    assert found.entry == (1, 0)
    assert list(found.operands.values()) == [0.0, 0.0]


@pytest.mark.parametrize("of", [grad, value_and_grad])
def test_derivatives_are_traced_as_they_are(of):
    run = trace(of(recurrence))(np.ones(2), 2)
    wanted = of(recurrence)(np.ones(2), 2)
    assert str(run.result) == str(wanted)


def test_adjoints_are_traced():
    def double(x):
        return x * x

    assert np.array_equal(trace(adjoint(double))(np.ones(2), np.array([1.0, 3.0])).result, [2.0, 6.0])


def test_errors_keep_their_type_and_gain_the_line():
    with pytest.raises(ValueError) as caught:
        trace(lambda A, x, n: np.sum(np.exp(A[:n] + x)))(np.ones((5, 3)), np.ones((4, 3)), 3)
    assert "A is (5, 3)" in caught.value.__notes__[0] and "x is (4, 3)" in caught.value.__notes__[0]


def test_norms_of_very_large_and_very_small_numbers():
    for size in (1e-200, 1.0, 1e200):
        assert trace(lambda x: x[0])(size * np.array([3.0, 4.0])).rows[0].summary.norm == pytest.approx(5 * size)
    with np.errstate(all="ignore"):
        assert trace(lambda x: x[0])(np.array([1.0, np.inf])).rows[0].summary.norm == np.inf


# ---------------------------------------------------------- the stories of examples/debugging
def story(name):
    spec = importlib.util.spec_from_file_location(f"debugging_{name}", EXAMPLES / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    with np.errstate(all="ignore"):
        return module.main(), (EXAMPLES / f"{name}.py").read_text().split("\n")


def test_the_branch_that_was_not_taken(capsys):
    (found, *_), lines = story("untaken_branch")
    assert lines[found.line - 1].strip() == "return np.sqrt(d)"
    assert "np.sqrt(d), where d = -0.5" in capsys.readouterr().out


def test_overflow_in_a_recurrent_network(capsys):
    found, lines = story("overflow")
    assert lines[found.line - 1].strip() == "h = np.exp(gate * (W @ h) + x) * b"
    assert "in trip 4 of" in capsys.readouterr().out


def test_a_norm_that_is_zero(capsys):
    found, lines = story("zero_norm")
    assert lines[found.line - 1].strip() == "unit = X / lengths[:, np.newaxis]"
    assert found.entry == (1, 0) and list(found.operands.values()) == [0.0, 0.0]
    assert "in line 14" in capsys.readouterr().out


def test_an_exploding_gradient_is_clipped(capsys):
    _, lines = story("clipping")
    shown = capsys.readouterr().out
    assert "9 of 9 entries are NaN" in shown and "infinity in the adjoint sweep" in shown
    line = int(re.search(r"line (\d+)", shown).group(1))
    assert lines[line - 1].strip() == "h = np.tanh(W @ h + x)"
    assert float(shown.split()[-1]) < 0.2


# ---------------------------------------------------------- check="finite"
def norm(x):
    return np.sqrt(np.sum(x * x))


def test_checked_gradient_gives_the_same():
    x = np.array([3.0, 4.0])
    assert np.array_equal(grad(norm, check="finite")(x), grad(norm)(x))
    value, gradient = value_and_grad(norm, check="finite")(x)
    assert value == 5.0 and np.array_equal(gradient, grad(norm)(x))


def test_checked_gradient_names_the_line():
    with np.errstate(all="ignore"), pytest.raises(NotFinite) as caught:
        grad(norm, check="finite")(np.zeros(2))
    text = str(caught.value)
    assert f"line {norm.__code__.co_firstlineno + 1}, in norm" in text and "return np.sqrt(np.sum(x * x))" in text
    assert isinstance(caught.value, FloatingPointError)


def test_checked_gradient_names_the_primal_operation_behind_it():
    def f(x):
        y = np.exp(x)
        return np.sum(y / (1 + y))

    with np.errstate(all="ignore"), pytest.raises(NotFinite, match=r"np\.exp\(x\), where x = 800"):
        grad(f, check="finite")(np.array([800.0]))


def test_values_that_are_called_back_are_not_adjoints():
    def f(x):  # infinities in the primal sweep that no adjoint meets
        limit = 1e200
        for _ in range(2):
            limit = limit * 1e200
            x = np.minimum(x * 2.0, limit)
        return x

    with np.errstate(all="ignore"):
        assert grad(f, check="finite")(1.0) == 4.0


def test_checks_that_do_not_exist():
    with pytest.raises(tangentc.BadArgument, match='check="finite"'):
        grad(norm, check="infinite")


# ---------------------------------------------------------- vjp that is checked
def test_pullback_of_changed_arguments_is_refused():
    def f(x, p):
        return np.sum(x * x * p["w"])

    x, p = np.ones(3), {"w": np.ones(3)}
    _, pullback = vjp(f, x, p, check=True)
    assert np.array_equal(pullback(1.0)[0], 2 * np.ones(3))
    p["w"][0] = 5.0
    with pytest.raises(UnsafeMutation, match="p has been changed since vjp called f"):
        pullback(1.0)
    p["w"][0] = 1.0
    assert np.array_equal(pullback(1.0)[0], 2 * np.ones(3))


DATA = np.ones(2)


def test_pullback_of_changed_data_is_refused():
    def f(x):
        return np.sum(x * DATA)

    _, pullback = vjp(f, np.ones(2), check=True)
    pullback(1.0)
    DATA[0] = 3.0
    try:
        with pytest.raises(UnsafeMutation, match="DATA has been changed"):
            pullback(1.0)
    finally:
        DATA[0] = 1.0


TABLE = np.array([[1.0, 2.0], [0.0, 0.0]])


def rows_of_length_one(K):
    s = np.sum(K**2, axis=1, keepdims=True)
    r = np.sqrt(s)
    if K.shape[0] > 100:
        r = r * 2
    return K / r


def with_constants(w):
    a = rows_of_length_one(TABLE)
    return np.sum(a * w) + np.sum(rows_of_length_one(w))


def test_a_nan_of_constants_has_its_line_in_the_helper():
    """The zero row of a table is told where it is divided by, not where the helper is called."""
    line = rows_of_length_one.__code__.co_firstlineno + 5
    with np.errstate(all="ignore"):
        found = tangentc.trace(with_constants)(np.ones((2, 2))).first_nonfinite()
        assert found.line == line and found.text == "return K / r" and "where K = 0" in str(found)
        with pytest.raises(tangentc.NotFinite, match=f"first value that is not finite in line {line}: K / r"):
            tangentc.grad(with_constants, check="finite")(np.ones((2, 2)))


def test_a_trace_takes_time_in_proportion_to_the_steps():
    """The lists that the primal sweep fills are not looked at from the start for each of their items."""
    from tangentc.watch import watcher

    def decay(x, n):
        v = 1.0
        for _ in range(n):
            v = v - 0.001 * x * v
        return v

    looked, leaves = [0], watcher.leaves

    def counting(value, depth=0):
        for leaf in leaves(value, depth):
            looked[0] += 1
            yield leaf

    counts = []
    watcher.leaves = counting
    try:
        for n in (50, 100, 200):
            looked[0] = 0
            tangentc.trace(decay)(0.7, n)
            counts.append(looked[0])
    finally:
        watcher.leaves = leaves
    assert counts[2] - counts[1] == 2 * (counts[1] - counts[0]) > 0
