"""Compiling is linear in the program: twice the text is at most 2.2 times the work, counted in calls, not in seconds."""

import sys

import numpy as np
import pytest

import tangentc

LINES = ["np.sin(a) + y", "a * x", "x - a / 2.0", "np.tanh(a) * a", "a + np.exp(-a * a)"]


def straight(n):
    return ["a = x * y", *(f"a = {LINES[k % 5]}" for k in range(n)), "return a"], (1.0, 2.0)


def branches(n):
    one = ["if a > {k}.0:", "    a = a * 0.5 + y", "else:", "    a = np.sin(a) * x"]
    return ["a = x * y", *(line.format(k=k) for k in range(n) for line in one), "return a"], (1.0, 2.0)


def entries(n):
    stores = (f"u[{k % 7}] = u[{(k + 1) % 7}] * u[{(k + 3) % 7}] + y" for k in range(n))
    return ["u = x * y", *stores, "return np.sum(u)"], (np.full(20, 0.5), 0.2)


def slices(n):
    return ["u = x * y", *["u[1:-1] = u[2:] * 0.5 + u[:-2] * 0.25"] * n, "return np.sum(u)"], (np.full(20, 0.5), 0.2)


def terms(n):
    return ["return " + " + ".join(f"x * {k}.0" for k in range(n))], (1.0,)


def nested(n):
    loops = [f"{'    ' * k}for i{k} in range(2):" for k in range(n)]
    return ["a = x * y", *loops, f"{'    ' * n}a = np.sin(a) * x", "return a"], (1.0, 2.0)


def calls_to_compile(write, n, folder):
    """How many Python functions are called to compile the gradient of a program of size n."""
    body, args = write(n)
    name = f"{write.__name__}_{n}"
    parameters = ", ".join("xy"[: len(args)])
    text = f"import numpy as np\n\n\ndef f({parameters}):\n" + "".join(f"    {line}\n" for line in body)
    (folder / f"{name}.py").write_text(text)
    namespace = {"__name__": name}
    exec(compile(text, str(folder / f"{name}.py"), "exec"), namespace)
    count = 0

    def counted(frame, event, arg):
        nonlocal count
        count += event == "call"

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        tangentc.grad(namespace["f"]).source_for(*args)
    finally:
        sys.setprofile(before)
    return count


@pytest.mark.parametrize("write, n", [(straight, 100), (branches, 50), (entries, 60), (slices, 60), (terms, 100), (nested, 4)],
                         ids=lambda p: getattr(p, "__name__", ""))  # fmt: skip
def test_twice_the_program_is_twice_the_work(write, n, tmp_path):
    calls_to_compile(write, 3, tmp_path)  # the rules are parsed once
    small, large = (calls_to_compile(write, k * n, tmp_path) for k in (1, 2))
    assert large <= 2.2 * small, f"{n}: {small}, {2 * n}: {large}, {large / small:.2f} times"
