"""The command, as a user runs it."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

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
    assert "tangentc serve model.py --function loss --args model:example" in done.stdout


MODEL = """
import numpy as np


def loss(w, X, y):
    r = np.tanh(X @ w) - y
    return np.mean(r * r)


def cost(y, w, x, b):
    return y - max(0, w * x + b)


def example():
    return {"w": np.ones(3), "X": np.ones((5, 3)), "y": np.zeros(5)}


def numbers():
    return 5.0, 2.0, 1.0, 1.0
"""


@pytest.fixture
def model(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    return f"{tmp_path}/model.py"


def test_arguments_from_a_function(model):
    for given in (["--args", "model:example"], ["--at", "w=np.ones(3), X=np.ones((5, 3)), y=np.zeros(5)"]):
        done = run("show", f"{model}:loss", "--annotate", *given)
        assert done.returncode == 0, done.stderr
        assert "r = tanh_Xw - y  # r: f64[5]" in done.stdout


def test_explain(model):
    done = run("explain", f"{model}:cost", "--args", "model:numbers", "--wrt", "x")
    assert done.returncode == 0 and done.stdout.startswith("cost = 2\n")
    assert "dw5/dw2 = w3 = 1" in done.stdout and "along each path from x = w3" in done.stdout
    assert "\x1b" not in done.stdout  # not a terminal


def test_stages_and_trace(model):
    done = run("stages", f"{model}:loss", "--args", "model:example")
    assert done.returncode == 0 and done.stdout.startswith("# ---- 1 of 4: read\n\n# lower:")
    groups = re.findall(r"^# ---- (.*)", done.stdout, re.M)
    assert groups == ["1 of 4: read", "2 of 4: known", "3 of 4: derived", "4 of 4: made simple"]
    assert done.stdout.index(groups[2]) < done.stdout.index("# reverse:") < done.stdout.index(groups[3])
    done = run("trace", f"{model}:loss", "--args", "model:example")
    assert done.returncode == 0 and "argument w" in done.stdout and "r = np.tanh(X @ w) - y" in done.stdout


def test_check(model, tmp_path):
    done = run("check", f"{model}:loss", "--args", "model:example", "--order", "1")
    assert done.returncode == 0 and "the gradient of w" in done.stdout
    (tmp_path / "kink.py").write_text("import numpy as np\n\n\ndef kink(x):\n    return np.abs(x - 1.0)\n")
    done = run("check", f"{tmp_path}/kink.py:kink", "--at", "x=1.0")
    assert done.returncode == 0 and "cannot tell the second derivative" in done.stdout and done.stderr == ""
    (tmp_path / "stopped.py").write_text(
        "import tangentc\n\n\ndef f(x, k):\n    return x * x * tangentc.stop_gradient(k)\n"
    )
    assert run("check", f"{tmp_path}/stopped.py:f", "--at", "x=1.5, k=2.0", "--wrt", "x").returncode == 0
    done = run("check", f"{tmp_path}/stopped.py:f", "--at", "x=1.5, k=2.0")
    assert done.returncode == 1 and "disagrees" in done.stdout and "Traceback" not in done.stderr


def test_the_version_and_the_module(model):
    for command in (["-m", "tangentc"], ["-m", "tangentc.cli"]):
        done = subprocess.run([sys.executable, *command, "--version"], capture_output=True, text=True)
        assert done.returncode == 0 and done.stdout.startswith("tangentc ")


def test_missing_arguments_are_told_by_name(model, tmp_path):
    (tmp_path / "two.py").write_text("import numpy as np\n\n\ndef f(w, x, n=3):\n    return np.sum(w * x) * n\n")
    for command in ("check", "trace", "graph"):
        done = run(command, f"{tmp_path}/two.py:f")
        assert done.returncode == 2 and '--at "w=np.ones(3), x=np.ones(3)"' in done.stderr
    done = run("show", f"{tmp_path}/two.py:f")
    assert done.returncode == 0 and "def f_grad" in done.stdout
    assert 'for yours say --at "w=np.ones(3), x=np.ones(3)"' in done.stderr
    for command in ("show", "check", "trace", "stages", "explain"):
        done = run(command, f"{tmp_path}/two.py:f", "--at", "w=np.ones(3)")
        assert (
            done.returncode == 2 and done.stderr.count("\n") == 1 and "missing a required argument: 'x'" in done.stderr
        )


def test_a_graph_in_a_format_of_graphviz(model, tmp_path):
    done = run("graph", f"{model}:cost", "--args", "model:numbers", "-o", f"{tmp_path}/graph.png")
    if shutil.which("dot"):
        assert done.returncode == 0 and (tmp_path / "graph.png").read_bytes()[1:4] == b"PNG"
    else:
        assert done.returncode == 2 and "which is not there: write graph.svg" in done.stderr
        assert not (tmp_path / "graph.png").exists()


def test_output_to_a_file(model, tmp_path):
    done = run("explain", f"{model}:cost", "--args", "model:numbers", "-o", f"{tmp_path}/table.txt")
    assert done.returncode == 0 and done.stdout == ""
    assert (tmp_path / "table.txt").read_text().startswith("cost = 2\n")
    done = run("explain", f"{model}:cost", "--args", "model:numbers", "-o", f"{tmp_path}/no/such/folder.txt")
    assert done.returncode == 2 and "Traceback" not in done.stderr


ALONE = """
import sys
sys.modules["tangentc"] = None
sys.path.insert(0, {folder!r})
import numpy as np
from model import example
from built import {name}
print({name}(**example()).round(6).tolist())
"""


@pytest.mark.parametrize("types", [["--args", "model:example"], []], ids=["typed", "for any types"])
def test_build(model, tmp_path, types):
    built = ["build", f"{model}:loss", "--wrt", "w", "-o", f"{tmp_path}/built.py", *types]
    assert run(*built, "--check").returncode == 1  # there is none yet
    done = run(*built)
    assert done.returncode == 0, done.stderr
    program = ALONE.format(folder=str(tmp_path), name="loss_grad")
    alone = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert alone.stdout.strip() == "[0.019634, 0.019634, 0.019634]", alone.stderr
    assert run(*built, "--check").returncode == 0
    (tmp_path / "model.py").write_text(MODEL.replace("np.tanh", "np.sin"))
    done = run(*built, "--check")
    assert done.returncode == 1 and "out of date" in done.stdout
    assert "\n--- " in done.stdout and "\n+++ tangentc build" in done.stdout and re.search(r"(?m)^[-+] ", done.stdout)


def test_module_of_arrays(model):
    done = run("show", f"{model}:loss", "--module", "cupy", "--args", "model:example")
    assert done.returncode == 0 and "import cupy as cp" in done.stdout and "cp.tanh(" in done.stdout


def test_arguments_that_do_not_fit(model):
    for arguments in (
        ["explain", f"{model}:cost"],
        ["explain", f"{model}:cost", "--at", "q=1.0"],
        ["check", f"{model}:cost", "--at", "y=5.0,,"],
        ["check", f"{model}:cost", "--at", "y=5.0", "--args", "model:numbers"],
        ["check", f"{model}:cost", "--args", "model:absent"],
        ["build", f"{model}:cost"],
    ):
        done = run(*arguments)
        assert done.returncode == 2 and "Traceback" not in done.stderr and done.stderr, arguments


TROUBLE = """
import numpy as np


class Line:
    def __init__(self, n=2):
        self.w = np.ones(n)

    def loss(self, x, k=1.0):
        return np.sum(np.abs(self.w @ x) * k)


class Deep:
    def __init__(self, sizes):
        self.sizes = sizes

    def loss(self, x):
        return np.sum(self.sizes[0] * x)


def loss(w, b):
    return np.sum(w * b)


def of_one(n):
    return np.ones(n), 2.0


def fails():
    return 1 / 0


def ends():
    raise SystemExit("done")
"""


def test_what_goes_wrong_in_the_file_is_said_in_a_line(tmp_path):
    (tmp_path / "model.py").write_text(TROUBLE)
    (tmp_path / "script.py").write_text(TROUBLE + '\nprint("running")\nraise SystemExit("bye")\n')
    model = f"{tmp_path}/model.py"
    for maker, said in (
        ("of_one", "gives no arguments: TypeError: of_one() missing 1 required positional argument: 'n'"),
        ("fails", "gives no arguments: ZeroDivisionError: division by zero, in line 30 of model.py"),
        ("ends", "gives no arguments: SystemExit: done, in line 34 of model.py"),
    ):
        done = run("show", f"{model}:loss", "--args", f"model:{maker}")
        assert (done.returncode, done.stdout) == (2, "") and done.stderr == f"tangentc: --args model:{maker} {said}\n"
    done = run("show", f"{tmp_path}/script.py:loss")
    assert (
        done.returncode == 2 and done.stderr == f"tangentc: {tmp_path}/script.py cannot be imported: SystemExit: bye\n"
    )


def test_a_method_without_arguments_is_told_how_to_give_its_object(tmp_path):
    (tmp_path / "model.py").write_text(TROUBLE)
    for command in ("show", "build"):
        done = run(command, f"{tmp_path}/model.py:Line.loss", "-o", f"{tmp_path}/out.py")
        assert done.returncode == 1 and "no rule for this attribute" in done.stderr
        assert 'for yours say --at "self=Line(), x=np.ones(3)"\n' in done.stderr
    assert '--at "self=Deep(...), x=np.ones(3)"' in run("trace", f"{tmp_path}/model.py:Deep.loss").stderr


def test_parameters_by_number_and_those_that_are_none(tmp_path):
    (tmp_path / "model.py").write_text(TROUBLE)
    model = f"{tmp_path}/model.py:loss"
    for command in ("show", "stages", "trace", "check", "explain"):
        given = (command, model, "--at", "w=np.ones(2), b=2.0")
        last, named = run(*given, "--wrt", "1"), run(*given, "--wrt", "b")
        assert last.returncode == 0 and last.stdout.splitlines()[1:] == named.stdout.splitlines()[1:], last.stderr
        assert last.stdout != run(*given).stdout or command == "explain"  # which has all adjoints in its table
    assert "w_bar, b_bar" in run("show", model, "--wrt", "0,b").stdout
    done = run("show", model, "--wrt", "w,c")
    assert done.returncode == 2 and "wrt=('w', 'c') does not name parameters of loss: 'c' is none" in done.stderr


def test_graph(model, tmp_path):
    done = run("graph", f"{model}:cost", "--args", "model:numbers")
    assert done.returncode == 0 and done.stdout.startswith('digraph "cost" {')
    done = run("graph", f"{model}:cost", "--args", "model:numbers", "-o", f"{tmp_path}/cost.svg")
    assert done.returncode == 0 and (tmp_path / "cost.svg").read_text().startswith("<svg")
    done = run("graph", f"{model}:cost", "--args", "model:numbers", "--format", "mermaid")
    assert done.stdout.startswith("flowchart TB")


def test_report(tmp_path):
    page = tmp_path / "cost.html"
    done = run("report", f"{TARGETS}:cost", "--wrt", "w", "--at", "y=5., w=2., x=1., b=1.", "-o", str(page))
    assert done.returncode == 0 and done.stdout == f"{page} has been written\n" and done.stderr == ""
    assert "cost_grad" in page.read_text() and "with respect to <b>w</b>" in page.read_text()
    done = run("report", f"{TARGETS}:cost", "--at", "y=5., w=2., x=1., b=1.")
    assert done.returncode == 2 and done.stderr == "tangentc: report needs -o FILE\n"
    done = run("report", f"{TARGETS}:cost", "--at", "y=5., w=2., x=1., b=1.", "-o", str(tmp_path / "no" / "page.html"))
    assert done.returncode == 2 and "cannot be written" in done.stderr


def in_terminal(columns, *arguments):
    """What a terminal of so many columns is sent."""
    import fcntl
    import os
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    environment = {k: v for k, v in os.environ.items() if k not in ("COLUMNS", "NO_COLOR")} | {"TERM": "xterm"}
    done = subprocess.Popen([sys.executable, "-m", "tangentc", *arguments], stdout=follower, cwd=ROOT,
                            stdin=subprocess.DEVNULL, env=environment)  # fmt: skip
    os.close(follower)
    shown = b""
    while True:
        try:
            part = os.read(leader, 65536)
        except OSError:
            break
        if not part:
            break
        shown += part
    os.close(leader)
    done.wait()
    return shown.decode().replace("\r\n", "\n")


WIDE = """
import numpy as np


def heat(u, k, steps):
    u = u.copy()
    for _ in range(steps):
        u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])
    return np.sum(np.tanh(u) ** 2) + 0.0 * np.sum(np.exp(-u)) + 0.0 * np.sum(np.log(1.0 + np.abs(u)))


def example():
    return np.linspace(0, 1, 12) ** 2, 0.2, 10
"""


@pytest.mark.parametrize("columns", [80, 100])
def test_nothing_is_wrapped_in_a_terminal(tmp_path, columns):
    (tmp_path / "wide.py").write_text(WIDE)
    given = f"{tmp_path}/wide.py:heat", "--args", "wide:example"
    statement = "u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])"
    plain = {}
    for command in ("explain", "trace", "check", "show", "stages"):
        shown = in_terminal(columns, command, *given)
        assert "\x1b[" in shown
        lines = re.sub(r"\x1b\[[\d;]*m", "", shown).split("\n")
        is_code = command in ("show", "stages")  # a statement is what it is, and stays in one piece
        assert max(len(line) for line in lines if not is_code or "# " in line) <= columns, command
        plain[command] = lines
    node = next(k for k, line in enumerate(plain["explain"]) if line.startswith("w10 "))
    assert plain["explain"][node].split() == ["w10", "w2", "*", "w9", "8"]
    assert plain["explain"][node + 1 : node + 5] == [
        "      value float64(10,) in [0.003306, 0.003306], norm 0.01045",
        "      dw10/dw2 = w9 = float64(10,) in [0.01653, 0.01653], norm 0.05227",
        "      dw10/dw9 = w2 = 0.2",
        next(line for line in plain["explain"][node:] if line.startswith("      adjoint ")),
    ]
    row = next(k for k, line in enumerate(plain["trace"]) if line.startswith(" 5  primal"))
    assert re.fullmatch(rf" 5  primal    {re.escape(statement)}\s.*\b8", plain["trace"][row])
    assert plain["trace"][row + 1] == "      shape (10,)  least 0.01157  greatest 0.8298  norm 1.323"
    check = next(k for k, line in enumerate(plain["check"]) if line.startswith("the gradient of u"))
    under = plain["check"][check : check + 2] if columns == 80 else plain["check"][check : check + 1]
    assert re.fullmatch(r"the gradient of u\s+agrees\s+\S+(\s+\d+)?\s+(computed )?-?\d.*\d", " ".join(under))


def test_comments_are_grey_in_a_terminal(tmp_path):
    (tmp_path / "wide.py").write_text(WIDE)
    shown = in_terminal(80, "show", f"{tmp_path}/wide.py:heat", "--args", "wide:example")
    assert "\x1b[90m# u[1:-1] += k * (u[2:] - 2 * u[1:-1] + u[:-2])\x1b[39;49;00m\n" in shown
    assert re.search(r"\x1b\[90m# return np\.sum\(np\.tanh\(u\).*\u2026\x1b", shown)  # what would not fit ends


def test_a_pipe_gets_plain_rows(tmp_path):
    (tmp_path / "wide.py").write_text(WIDE)
    given = f"{tmp_path}/wide.py:heat", "--args", "wide:example"
    for command, first in (("explain", r"w\d+ "), ("trace", r" *\d+  "), ("check", r"the ")):
        done = run(command, *given)
        table = done.stdout.split("\n\n")[0].split("\n")
        assert "\x1b" not in done.stdout and set(table[2]) == {"-", " "}
        assert all(re.match(f"{first}|  \\.\\.\\. ", line) for line in table[3:] if line)  # a row a line
    assert "\x1b" not in run("show", *given).stdout


def test_a_method_is_named_with_its_class(tmp_path, capsys):
    path = tmp_path / "model.py"
    path.write_text(
        "import numpy as np\n\n\nclass Line:\n    def __init__(self):\n        self.w = np.ones(2)\n\n"
        "    def loss(self, x):\n        return np.sum(self.w * x)\n"
    )
    from tangentc.cli import main

    assert main(["show", f"{path}:Line.loss", "--wrt", "x", "--at", "self=Line(), x=np.ones(2)"]) == 0
    assert "x_bar = out_bar * self.w" in capsys.readouterr().out
    assert main(["show", f"{path}:Line.nothing"]) == 2
    assert "has no function Line.nothing" in capsys.readouterr().err
