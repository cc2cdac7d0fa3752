"""The types of the package are what users see: by `mypy --strict` and by pyright."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

USER = Path(__file__).parent / "typed" / "user.py"
WRONG = {n for n, line in enumerate(USER.read_text().split("\n"), 1) if line.endswith("# error")}


def run(*command):
    env = {**os.environ, "MYPYPATH": str(USER.parents[2])}  # an editable installation hides the package from checkers
    return subprocess.run([sys.executable, "-m", *command], capture_output=True, text=True, cwd=USER.parent, env=env)


def test_mypy(tmp_path):
    done = run("mypy", "--strict", "--follow-imports=silent", "--config-file=", f"--cache-dir={tmp_path}", str(USER))
    found = {int(n) for n in re.findall(r"user\.py:(\d+): error", done.stdout)}
    assert found == WRONG, done.stdout + done.stderr


def test_pyright():
    done = run("basedpyright", "--outputjson", "--level=error", "--project", str(USER.parent), str(USER))
    found = json.loads(done.stdout)["generalDiagnostics"]
    assert {d["range"]["start"]["line"] + 1 for d in found if d["severity"] == "error"} == WRONG, found
