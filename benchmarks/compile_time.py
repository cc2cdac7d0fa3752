"""How long long functions take to compile.

python benchmarks/compile_time.py
"""

import importlib
import sys
import tempfile
import time
from pathlib import Path

import tangentc

LINES = ["np.sin({a}) + y", "{a} * x", "x - {a} / 2.0", "np.tanh({a}) * {a}", "{a} + np.exp(-{a} * {a})"]


def write_function(path: Path, statements: int) -> None:
    """A function of straight-line statements that overwrite one name."""
    body = ["import numpy as np", "", "", "def f(x, y):", "    a = x * y"]
    body += ["    a = " + LINES[i % 5].format(a="a") for i in range(statements)]
    path.write_text("\n".join([*body, "    return a", ""]))


def main():
    """Print the seconds for functions of 500 to 8,000 statements, and for a sum of 1,500 terms."""
    with tempfile.TemporaryDirectory() as folder:
        sys.path.insert(0, folder)
        for statements in (500, 2000, 8000):
            write_function(Path(folder) / f"straight_{statements}.py", statements)
            function = importlib.import_module(f"straight_{statements}").f
            start = time.perf_counter()
            text = tangentc.grad(function, wrt=(0, 1)).source_for(1.0, 2.0)
            seconds = time.perf_counter() - start
            print(f"{statements:6} statements {seconds:7.2f} s {len(text.splitlines()):7} lines")
        terms = " + ".join(f"x * {i}.0" for i in range(1500))
        (Path(folder) / "long_sum.py").write_text(f"def g(x):\n    return {terms}\n")
        function = importlib.import_module("long_sum").g
        start = time.perf_counter()
        gradient = tangentc.grad(function)(1.0)
        print(f"  1500 terms      {time.perf_counter() - start:7.2f} s, gradient {gradient}")
        assert gradient == sum(range(1500))


if __name__ == "__main__":
    main()
