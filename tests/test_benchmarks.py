"""What `make bench` compares: the adjoints by hand are right, tangentc's and the peers' agree, tables say what was found."""

import copy
import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peers import figure, report, rounds  # noqa: E402
from benchmarks.peers.tools import CALLS, TOOLS, flat  # noqa: E402
from benchmarks.peers.workload import leaves, mapped  # noqa: E402
from benchmarks.peers.workloads import WORKLOADS  # noqa: E402

EACH = pytest.mark.parametrize("workload", WORKLOADS.values(), ids=WORKLOADS)


def moved(workload, args, directions, step):
    """The function's value where its arguments have gone so far along the directions, one for each leaf."""
    directions = iter(directions)
    given = list(args)
    for place in workload.places:
        given[place] = mapped(args[place], lambda x: x + step * next(directions))
    return workload.function(*given)


@EACH
def test_an_adjoint_by_hand_agrees_with_differences(workload):
    args = workload.small()
    value, gradient = workload.by_hand(*args)
    assert np.isclose(value, workload.function(*args), rtol=1e-12)
    rng = np.random.default_rng(0)
    for _ in range(2):
        directions = [rng.normal(size=x.shape) for x in leaves([args[p] for p in workload.places])]
        terms = [np.sum(g * d) for g, d in zip(leaves(gradient), directions, strict=True)]
        h = 1e-5
        f = [moved(workload, args, directions, k * h) for k in (-2, -1, 1, 2)]
        want = (f[0] - 8 * f[1] + 8 * f[2] - f[3]) / (12 * h)
        assert abs(sum(terms) - want) < 1e-6 * max(abs(want), *map(abs, terms))


def agrees(workload, call, want):
    for got, wanted in zip(flat(call()), want, strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=1e-9 * np.max(np.abs(wanted)))


@EACH
def test_the_gradient_of_tangentc_agrees(workload):
    args = workload.small()
    kept = copy.deepcopy(args)
    want = flat(workload.by_hand(*args))
    call, calls = TOOLS["tangentc"](workload, args)
    agrees(workload, call, want)
    for again in calls().values():
        agrees(workload, again, want)
    for mine, given in zip(leaves(args), leaves(kept), strict=True):
        np.testing.assert_array_equal(mine, given)


@EACH
@pytest.mark.parametrize("tool", ["autograd", "PyTorch"])  # JAX compiles each for seconds: a run of the benchmark looks
def test_the_gradient_of_a_peer_agrees(tool, workload):
    if importlib.util.find_spec({"autograd": "autograd", "PyTorch": "torch"}[tool]) is None:
        pytest.skip(f"{tool} is not installed")
    args = workload.small()
    call, _ = TOOLS[tool](workload, args)
    agrees(workload, call, flat(workload.by_hand(*args)))


def found(*seconds):
    return {"seconds": list(seconds), "compile": 0.25, "memory": 3 * 2**20}


@pytest.fixture
def record():
    """Two workloads; there is no JAX, autograd is wrong in one, and tangentc takes twice and thrice the time."""
    one = {
        "heat": {
            "by hand": found(1e-3, 2e-3, 1e-3),
            "tangentc": found(2e-3, 4e-3, 2e-3),
            "tangentc, called": found(3e-3, 6e-3, 3e-3),
            "autograd": {"error": "wrong by 2.0e+00"},
            "PyTorch": found(4e-2, 4e-2),
        },
        "solve": {"by hand": found(2e-6), "tangentc": found(1e-6), "autograd": found(0.5)},
    }
    about = {"date": "2026-01-02", "processor": "a processor", "cores": 2, "load": 0.1, "system": "Linux x86_64"}
    about["versions"] = {"Python": "3.11.7", "NumPy": "2.4.6", "JAX": None, "PyTorch": "2.2"}
    return {"about": about, "rounds": 3, "threads": {"1": one, "2": one}}


def test_the_tables(record):
    text = report.markdown(record)
    assert text.startswith(
        "2026-01-02, a processor, 2 cores, Linux x86_64; load average 0.1 before; Python 3.11.7, NumPy 2.4.6, PyTorch 2.2.\n\n### One thread\n"
    )
    rows = [line for line in text.splitlines() if line.startswith(("| heat", "| solve", "| geometric"))]
    assert rows[0] == ("| heat | 1 ms | 2.00 (2.00–2.00) | 3.00 (3.00–3.00) |  | wrong by 2.0e+00 |  | 30 (25–35) |")
    assert rows[1] == "| solve | 2 µs | 0.50 (0.50–0.50) |  |  | 250,000 (250,000–250,000) |  |  |"
    assert rows[2] == "| geometric mean | | 1.00 of 2 | 3.00 of 1 |  | 250,000 of 1 |  | 30 of 1 |"
    assert rows[6] == "| heat | 250 ms |  | 3.0 MiB | 3.0 MiB |  |  |  | 3.0 MiB |"


def test_a_missing_tool_has_no_marks(record):
    found = figure.marks(record["threads"]["1"])
    assert list(found) == ["tangentc", "tangentc, called", "PyTorch", "autograd"]
    assert found["tangentc"] == ([0, 1], [(2.0, 2.0, 2.0), (0.5, 0.5, 0.5)])
    assert found["autograd"][0] == [1]


def test_the_figure_is_drawn(record, tmp_path):
    pytest.importorskip("matplotlib")
    figure.draw(record, tmp_path / "pictures" / "benchmarks.svg")
    drawn = (tmp_path / "pictures" / "benchmarks.svg").read_text()
    assert "<!-- PyTorch -->" in drawn and "<!-- heat -->" in drawn and "JAX" not in drawn
    assert len(drawn) < 150_000


def test_tables_take_the_place_of_those_before(tmp_path):
    page = tmp_path / "benchmarks.md"
    report.put_into(page, "a table")
    page.write_text(f"# A page\n\n{page.read_text()}\nThe end.\n")
    report.put_into(page, r"another \1 table")
    assert page.read_text() == (
        "# A page\n\n<!-- measured -->\nanother \\1 table\n<!-- end of what was measured -->\n\nThe end.\n"
    )


class Answers:
    """Workers of which one finds a wrong gradient and one has none."""

    threads, tools = 1, ["by hand", "autograd", "PyTorch"]

    def __init__(self):
        self.timed = set()

    def ask(self, tool, method, *arguments):
        if method == "prepare" and tool == "PyTorch":
            raise rounds.Failed("TypeError: no")
        if method == "prepare":
            result = [np.array(1.0), np.array([1.0, 2.0 if tool == "by hand" else 2.1])]
            return 0.5, {tool: 0.1}, [result, result]
        self.timed.add(tool)
        return 0.1 if method == "seconds" else 0


def test_what_is_wrong_is_said_and_not_timed():
    workers = Answers()
    found = rounds.measure(workers, "heat", rounds=4)
    assert found == {
        "by hand": {"seconds": [0.1] * 4, "compile": 0.4, "memory": 0},
        "autograd": {"error": "wrong by 1.0e-01"},
        "PyTorch": {"error": "TypeError: no"},
    }
    assert workers.timed == {"by hand"}


def test_results_of_other_number_and_shape_disagree():
    one = np.ones(3)
    assert rounds.disagreement([one, one * (1 + 1e-8)], [one, one]) is None
    assert rounds.disagreement([one], [one, one]) == "1 results, not 2"
    assert rounds.disagreement([np.ones(2)], [one]) == "shape (2,), not (3,)"
    assert rounds.disagreement([one * np.nan], [one]) == "wrong by nan"


def test_a_run_of_one_workload():
    command = [sys.executable, "-m", "benchmarks.peers", "black_scholes", "--rounds", "2", "--threads", "1"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    [row] = [line for line in done.stdout.splitlines() if line.startswith("| black_scholes")][:1]
    cells = dict(zip(["", "", *CALLS], row.split("|")))
    assert all("(" in cells[call] for call in ("tangentc", "tangentc, called", "autograd"))


def test_an_unknown_workload_is_refused():
    command = [sys.executable, "-m", "benchmarks.peers", "sudoku"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True)
    assert done.returncode == 1 and done.stderr.startswith("no workload sudoku; there are adbench_gmm, ")


def test_the_page_shows_what_was_measured():
    measured = json.loads((ROOT / "docs" / "benchmarks.json").read_text())
    assert report.markdown(measured) in (ROOT / "docs" / "benchmarks.md").read_text()
    assert list(measured["threads"]["1"]) == list(WORKLOADS)


def test_the_arguments_of_adbench_are_those_of_its_files():
    shapes = {name: [np.shape(x) for x in leaves(WORKLOADS[name].args())] for name in WORKLOADS if "adbench" in name}
    assert shapes == {
        "adbench_gmm": [(25,), (25, 10), (25, 55), (1000, 10), (), ()],
        "adbench_ba": [(49, 11), (7776, 3), (31843,), (31843, 2), (31843,), (31843,)],
        "adbench_lstm": [(4, 56), (3, 14), (4, 14), (1024, 14)],
        "adbench_hand": [(26,), (22, 4, 4), (22, 4, 4), (544, 4), (544, 22), (100, 3), (100,)],
    }
    theta, base, inverse, rest, weights, *_ = WORKLOADS["adbench_hand"].args()
    np.testing.assert_allclose(np.sum(weights, axis=1), 1, atol=1e-5)
