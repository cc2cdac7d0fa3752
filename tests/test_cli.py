"""The command, as a user runs it."""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
TARGETS = "tests/emitted_targets.py"


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "tangentc.cli", *arguments],
        capture_output=True,
        text=True,
        cwd=ROOT,
        stdin=subprocess.DEVNULL,
    )


def test_show_at_arguments():
    done = run("show", f"{TARGETS}:energy", "--wrt", "q,k", "--at", "q=np.ones(9), k=2.0")
    assert done.returncode == 0 and done.stderr == ""
    assert done.stdout.startswith("def energy_grad(q, k, out_bar=1.0):\n")
    assert "for i in reversed(range(len(q) - 1)):" in done.stdout and "\x1b" not in done.stdout


def test_show_without_types_uses_general_helpers():
    done = run("show", f"{TARGETS}:nll", "--wrt", "w")
    assert done.returncode == 0
    assert "unbroadcast(" in done.stdout and "from tangentc.runtime import" in done.stdout


def test_colours_on_a_terminal():
    import os
    import pty

    leader, follower = pty.openpty()
    done = subprocess.Popen(
        [sys.executable, "-m", "tangentc.cli", "show", f"{TARGETS}:cost", "--at", "y=5., w=2., x=1., b=1."],
        stdout=follower, cwd=ROOT, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    done.wait()
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 4096)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(leader)
    assert b"\x1b[" in shown and b"cost_grad" in shown


def test_a_refusal_is_status_1_and_no_stack_trace():
    done = run("show", "tests/errors/cases.py:no_rule", "--at", "x=np.ones(3)")
    assert done.returncode == 1 and done.stdout == ""
    assert done.stderr.startswith("there is no rule for np.kaiser\n") and "Traceback" not in done.stderr


def test_wrong_calls_are_status_2():
    for arguments in (["show", "nowhere.py:f"], ["show", "f"], ["show", f"{TARGETS}:absent"], ["sing"], []):
        done = run(*arguments)
        assert done.returncode == 2 and "Traceback" not in done.stderr and done.stderr


def test_help_has_examples():
    done = run("--help")
    assert done.returncode == 0 and "tangentc show model.py:loss --wrt w,b" in done.stdout
