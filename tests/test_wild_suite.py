"""Released libraries that nobody here wrote, unmodified: numpy-ml, filterpy, lmfit and pvlib.

`wild_suite/run.py` fetches their wheels without what they depend on, differentiates some 290 calls into them and compares
with differences of higher order. What is refused is refused; a wrong number, a crash and a call without end are faults.
"""

import collections
import json
import pathlib
import subprocess
import sys

import pytest

RUN = pathlib.Path(__file__).parent / "wild_suite" / "run.py"
RIGHT = {"numpy-ml": 100, "filterpy": 61, "lmfit": 76, "pvlib": 39}  # at least, of the releases that run.py names
NOT_MADE_ZERO = {
    "numpy-ml/Gaussian process's prediction"
}  # sqrt(0)**2, see "Singular points" in docs/reference/conventions.md


def run(only, folder):
    told = folder / "outcomes.json"
    done = subprocess.run(
        [sys.executable, str(RUN), "--jobs", "2", "--only", only, "--json", str(told)], capture_output=True, text=True
    )
    if "not there:" in done.stdout:
        pytest.skip(next(line for line in done.stdout.splitlines() if line.startswith("not there:")))
    assert told.exists(), done.stdout + done.stderr
    outcomes = json.loads(told.read_text())
    faults = [r for r in outcomes if r["outcome"] in ("WRONG", "crashed", "slow") and r["name"] not in NOT_MADE_ZERO]
    assert not faults, "\n".join(f"{r['outcome']} {r['name']}: {r.get('why')}" for r in faults)
    return collections.Counter(r["name"].split("/")[0] for r in outcomes if r["outcome"] == "ok")


def test_line_shapes(tmp_path):
    assert run("lmfit/*", tmp_path)["lmfit"] >= RIGHT["lmfit"]


@pytest.mark.nightly
def test_all(tmp_path):
    right = run("*", tmp_path)
    assert all(right[name] >= count for name, count in RIGHT.items()), right
    again = [sys.executable, str(RUN.with_name("again.py")), str(tmp_path / "outcomes.json")]
    done = subprocess.run(again, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert not done.stdout, f"compiled again at the second call:\n{done.stdout}"
