"""Long functions compile, whatever the recursion limit."""

import importlib
import sys


def test_two_thousand_statements_and_a_long_sum(tmp_path, monkeypatch):
    body = "\n".join(
        f"    a = a * x + {k}.0 if x > {k} else a - x" if k % 7 == 0 else "    a = a * 0.999 + x" for k in range(2000)
    )
    terms = " + ".join(f"x * {i}.0" for i in range(1500))
    (tmp_path / "long_functions.py").write_text(
        f"def f(x):\n    a = x\n{body}\n    return a\n\n\ndef g(x):\n    return {terms}\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("long_functions")
    import tangentc

    limit = sys.getrecursionlimit()
    difference = (module.f(0.3 + 1e-6) - module.f(0.3 - 1e-6)) / 2e-6
    assert abs(tangentc.grad(module.f)(0.3) - difference) < 1e-5 * abs(difference)
    assert tangentc.grad(module.g)(1.0) == sum(range(1500))
    assert sys.getrecursionlimit() == limit
