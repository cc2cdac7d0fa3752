"""Blocks in the adjoint sweep, and debuggers in emitted code, driven by a pseudo-terminal as a user drives them."""

import os
import pty
import select
import subprocess
import sys
import time

import numpy as np
import pytest

import tangentc
from tangentc import grad, insert_grad_of, jvp, value_and_grad, vjp

LOG = []


def clipped(x):
    y = x * x
    with insert_grad_of(y) as y_bar:
        LOG.append(y_bar)
        y_bar = min(y_bar, 2.0)
    return y * y


def test_a_block_sees_the_adjoint_and_replaces_it():
    LOG.clear()
    assert clipped(3.0) == 81.0 and LOG == []  # a plain run leaves it out
    assert grad(clipped)(3.0) == 12.0 and LOG == [18.0]
    assert value_and_grad(clipped)(0.5) == (0.0625, 0.5)  # 2 * 0.25 * 2 * 0.5
    value, pullback = vjp(clipped, 3.0)
    assert value == 81.0 and pullback(1.0) == (12.0,) and LOG[-1] == 18.0
    assert jvp(clipped, (3.0,), (1.0,)) == (81.0, 108.0)  # forward mode has no adjoint
    assert grad(grad(clipped))(1.0) == 12.0


def normalised(x, n):
    for k in range(n):
        x = np.sin(x)
        with insert_grad_of(x) as x_bar:
            size = np.linalg.norm(x_bar)
            LOG.append((k, x.copy(), size))
            x_bar /= max(size, 0.5)
    return np.sum(x * x)


def test_blocks_in_loops_run_backwards_and_see_their_trip():
    LOG.clear()
    x = np.array([1.0, 2.0])
    gradient = grad(normalised)(x, 3)
    assert [k for k, _, _ in LOG] == [2, 1, 0]
    values = [np.sin(x), np.sin(np.sin(x)), np.sin(np.sin(np.sin(x)))]
    for k, value, _ in LOG:
        assert np.allclose(value, values[k])
    bar = 2 * values[2]
    for before in (values[1], values[0], x):
        bar = bar / max(np.linalg.norm(bar), 0.5) * np.cos(before)
    assert np.allclose(gradient, bar)
    assert "x_bar /= max(size, 0.5)" in grad(normalised).source_for(x, 3)


def test_a_block_on_an_array_that_changes():
    def f(x):
        a = np.zeros(3)
        a[0] = x
        with insert_grad_of(a) as a_bar:
            LOG.append(a_bar.copy())
            a_bar[0] = 5.0
        a[1] = a[0] * x
        return np.sum(a * a)

    LOG.clear()
    assert grad(f)(2.0) == 5.0 + 2 * 4.0 * 2.0  # through a[0], replaced, and through the factor x
    assert np.allclose(LOG[0][0], 2 * 2.0 + 2 * 4.0 * 2.0)


@pytest.mark.parametrize(
    "text, reason",
    [
        ("with insert_grad_of(x * 2) as b:\n        pass", "in another form"),
        ("with insert_grad_of(x):\n        pass", "in another form"),
        ("with insert_grad_of(x) as b:\n        return x", "left early"),
    ],
)
def test_other_forms_are_refused(text, reason, tmp_path, monkeypatch):
    (tmp_path / "inserting.py").write_text(
        f"from tangentc import insert_grad_of\n\n\ndef f(x):\n    {text}\n    return x * x\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    sys.modules.pop("inserting", None)
    import inserting

    with pytest.raises(tangentc.UnsupportedSyntax, match=reason):
        grad(inserting.f)(2.0)


def test_a_plain_run_under_a_debugger_or_coverage():
    seen = []

    def tracer(frame, event, arg):
        seen.append(event)
        return tracer

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        assert clipped(2.0) == 16.0
        assert sys.gettrace() is tracer
    finally:
        sys.settrace(before)
    assert "return" in seen


# ---------------------------------------------------------- pdb, in a pseudo-terminal
class Terminal:
    def __init__(self, program, *more):
        self.leader, follower = pty.openpty()
        self.process = subprocess.Popen(
            [sys.executable, *more, program], stdin=follower, stdout=follower, stderr=follower, close_fds=True,
            env={**os.environ, "TERM": "dumb"},
        )  # fmt: skip
        os.close(follower)

    def until(self, mark, seconds=60):
        """What is shown until a mark comes."""
        shown, end = "", time.monotonic() + seconds
        while mark not in shown:
            ready, _, _ = select.select([self.leader], [], [], max(0, end - time.monotonic()))
            assert ready, f"{mark!r} did not come in {shown!r}"
            try:
                part = os.read(self.leader, 4096).decode(errors="replace")
            except OSError:
                break
            if not part:
                break
            shown += part
        return shown

    def say(self, line, mark="(Pdb) "):
        os.write(self.leader, (line + "\n").encode())
        return self.until(mark)

    def close(self):
        self.process.wait(timeout=60)
        os.close(self.leader)
        return self.process.returncode


STEPPED = """
import numpy as np
import tangentc


def f(x):
    y = np.sin(x) * x
    z = y * y
    return np.sum(z)


print("result", tangentc.debug(f)(np.array([1.0, 2.0])))
"""


def test_stepping_through_the_adjoint_sweep(tmp_path):
    (tmp_path / "stepped.py").write_text(STEPPED)
    terminal = Terminal(str(tmp_path / "stepped.py"))
    shown = terminal.until("(Pdb) ")
    assert "y_bar = 2 * out_bar * y  # z = y * y" in shown  # the first line of the adjoint sweep, as it is printed
    assert "0.84147098" in terminal.say("p y")
    assert "x_bar = " in terminal.say("next")
    y = np.sin([1.0, 2.0]) * [1.0, 2.0]
    shown = terminal.say("p y_bar")
    assert np.allclose([float(v) for v in shown.partition("[")[2].partition("]")[0].split(",")], 2 * y)
    assert "def f_grad(x, out_bar=1.0):" in terminal.say("list 1, 12")
    shown = terminal.say("continue", "result [2.32544426 0.28007726]")
    assert "result [2.32544426 0.28007726]" in shown
    assert terminal.close() == 0


BROKEN_INTO = """
import numpy as np
from tangentc import grad, insert_grad_of


def f(x):
    y = x * 2.0
    breakpoint()
    with insert_grad_of(y) as y_bar:
        breakpoint()
    return y * y


print("result", grad(f)(3.0))
"""


def test_breakpoints_in_the_function_stop_in_either_sweep(tmp_path):
    (tmp_path / "broken_into.py").write_text(BROKEN_INTO)
    terminal = Terminal(str(tmp_path / "broken_into.py"))
    terminal.until("(Pdb) ")
    assert "6.0" in terminal.say("p y")  # in the primal sweep
    assert "NameError" in terminal.say("p y_bar")
    assert "12.0" in terminal.say("continue") + terminal.say("p y_bar")  # in the adjoint sweep
    assert "result 24.0" in terminal.say("continue", "result 24.0")
    assert terminal.close() == 0


def test_python_m_pdb_steps_into_emitted_code(tmp_path):
    (tmp_path / "plain.py").write_text(STEPPED.replace("tangentc.debug(f)", "tangentc.grad(f)"))
    terminal = Terminal(str(tmp_path / "plain.py"), "-m", "pdb")
    terminal.until("(Pdb) ")
    terminal.say("import tangentc")
    terminal.say("from tangentc.backend import load")
    shown = terminal.say("continue", "result")
    assert "result" in shown
    os.close(terminal.leader)
    terminal.process.terminate()
    terminal.process.wait(timeout=60)
