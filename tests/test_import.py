"""Looking costs nothing when one does not look: what importing tangentc brings in."""

import subprocess
import sys

import tangentc

HEAVY = ("rich", "pygments", "astor", "gast", "scipy", "matplotlib", "tangentc.inspection", "tangentc.compiler.context")


def run(program):
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_import_brings_in_neither_the_compiler_nor_what_shows():
    loaded = run("import numpy, tangentc, sys; print(sorted(sys.modules))")
    assert [m for m in HEAVY if repr(m) in loaded] == []


def test_taking_a_gradient_brings_in_nothing_that_shows():
    loaded = run("from tangentc import grad\nimport sys\ngrad(abs)\nprint(sorted(sys.modules))")
    assert [
        m for m in ("rich", "pygments", "tangentc.inspection.explain", "tangentc.inspection.trace") if repr(m) in loaded
    ] == []


def test_every_name_is_there():
    for name in tangentc.__all__:
        assert callable(getattr(tangentc, name))
    shown = {name for name in dir(tangentc) if not name.startswith("__")}
    assert shown == {*tangentc.__all__, "errors", "testing"}  # and no names of modules that happen to be imported
    assert run("from tangentc import *; print(grad.__name__, explain.__name__)") == "grad explain"
    assert not hasattr(tangentc, "no_such_name")
    assert tangentc.runtime.copied([1]) == [1]
