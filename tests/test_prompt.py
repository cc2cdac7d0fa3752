"""Functions that are typed at Python's own prompt are differentiated, or refused: never with the text of another one."""

import os
import pty
import select
import subprocess
import sys
import time
from pathlib import Path

import pytest

import tangentc

pytest.importorskip("readline")
START = "import numpy as np, tangentc\n"
REFUSED = (
    "the source of f cannot be found\n"
    '  File "<stdin>", line {line}, in f\n'
    "  Why: tangentc reads a function's text, and of what is typed or comes by a pipe Python has none but the history of its "
    "prompt, where this is not found.\n"
    "  Way out: put the function in a file, or in a notebook cell, or type it in IPython or in Python 3.13.\n"
)
REFUSING = """
try:
    tangentc.grad(f)(1.0)
except tangentc.TangentcError as error:
    print(error)

"""


@pytest.fixture
def environment(tmp_path):
    """A home of its own, whose history is empty."""
    own = {"HOME": str(tmp_path), "TERM": "dumb", "PYTHON_BASIC_REPL": "1", "PYTHON_HISTORY": str(tmp_path / "history")}
    return {**os.environ, **own, "PYTHONPATH": str(Path(tangentc.__file__).parents[1])}


def typed(environment, text, *command):
    """What a session at the prompt shows after each line of a text; a line that is empty ends a statement."""
    leader, follower = pty.openpty()
    process = subprocess.Popen([sys.executable, *command], stdin=follower, stdout=follower, stderr=follower,
                               close_fds=True, env=environment)  # fmt: skip
    os.close(follower)
    shown, end = "", time.monotonic() + 60

    def until_asked():
        nonlocal shown
        shown += "\n"
        while not shown.endswith((">>> ", "... ")):
            ready, _, _ = select.select([leader], [], [], max(0, end - time.monotonic()))
            assert ready, shown
            shown += os.read(leader, 4096).decode(errors="replace").replace("\r\n", "\n")

    for line in text.split("\n"):
        until_asked()
        os.write(leader, (line + "\n").encode())
    until_asked()
    os.write(leader, b"exit()\n")
    process.wait(timeout=60)
    os.close(leader)
    return shown


def test_what_is_typed_is_differentiated(environment):
    shown = typed(environment, START + """
def f(x):
    y = x * 2.0
    return y * y

tangentc.grad(f)(1.0)
tangentc.grad(lambda x: x * 5.0)(2.0)
class Line:
    k = 3.0
    def at(self, x):
        return self.k * x

tangentc.grad(Line().at)(2.0)
@tangentc.differentiable
def decorated(x):
    return x**2

decorated.grad(3.0)
def outer(k):
    def inner(x):
        return k * decorated(x)
    return inner

tangentc.grad(outer(7.0))(1.0)
""")  # fmt: skip
    for value in ("\n8.0\n", "\n5.0\n", "\n3.0\n", "\n6.0\n", "\n14.0\n"):
        assert value in shown, shown


def test_each_of_two_definitions_has_its_own_text(environment):
    shown = typed(environment, START + """
def f(x):
    return (lambda y: 2.0 * y)(x)

old = f
def f(x):
    return (lambda y: 3.0 * y)(x)

"new", tangentc.grad(f)(1.0), "old", tangentc.grad(old)(1.0)
""")  # fmt: skip
    assert "('new', 3.0, 'old', 2.0)" in shown


@pytest.mark.skipif(sys.version_info >= (3, 13), reason="Python keeps what is typed itself")
def test_a_text_of_another_function_is_never_taken(environment):
    """Of equal lines, one after the other, the history has one, and what is not in it has no text."""
    twice = "def f(x):\n    x = x * x\n    x = x * x\n    return x\n\n"
    gone = "def f(x): return x * 3.0\n\nimport readline; readline.clear_history()\n"
    for text in (twice, gone + "readline.add_history('def f(x): return x * 4.0')\n"):
        shown = typed(environment, START + text + REFUSING)
        assert REFUSED.format(line=1) in shown, shown


def test_after_a_file(environment, tmp_path):
    (tmp_path / "model.py").write_text(START + "def f(x):\n    return x * x\n")
    text = "tangentc.grad(f)(3.0)\ndef g(x):\n    return f(x) * 2\n\ntangentc.grad(g)(3.0)\n"
    shown = typed(environment, text, "-i", str(tmp_path / "model.py"))
    assert "\n6.0\n" in shown and "\n12.0\n" in shown


def test_what_comes_by_a_pipe_is_refused(environment):
    program = START + "def f(x):\n    return x * x\n" + REFUSING
    done = subprocess.run([sys.executable], input=program, env=environment, capture_output=True, text=True)
    assert done.stdout == REFUSED.format(line=2)


def test_a_command_is_differentiated(environment):
    program = START + "def f(x):\n    return x * x\nprint(tangentc.grad(f)(3.0))"
    done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
    assert done.stdout == "6.0\n", done.stderr
