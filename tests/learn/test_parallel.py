"""Several ranks on this machine: the losses of one process, a pipeline, and what happens when one of them dies."""

import json
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tangentc.learn.parallel.__main__ import mpiexec
from tangentc.learn.train import checkpoints

RANKS = Path(__file__).with_name("ranks.py")
LAUNCHER = [sys.executable, "-m", "tangentc.learn.parallel", "-n", "2"]


def run(*command, limit=90):
    return subprocess.run([*map(str, command)], capture_output=True, text=True, timeout=limit)


@pytest.mark.parametrize("case", ["same", "steps", "statistics", "refused", "pipeline"])
def test_two_ranks(case, tmp_path):
    done = run(mpiexec(), "-n", 2, sys.executable, RANKS, case, tmp_path)
    assert done.returncode == 0, done.stderr[-3000:]
    if case != "same":
        return
    events = json.loads((tmp_path / "timeline.json").read_text())["traceEvents"]
    for rank in (0, 1):
        mine = [e for e in events if e["pid"] == rank and e["ph"] == "X"]
        computed = [e for e in mine if e["name"] == "forward and backward"]
        sent = [e for e in mine if e["name"] == "all_reduce"]
        assert {e["name"] for e in mine} == {"batch", "forward and backward", "all_reduce", "wait", "update"}
        assert len(computed) == 50 and len(sent) > 100
        waits = [e["ts"] for e in mine if e["name"] == "wait"]
        early = [e for e in sent if any(c["ts"] < e["ts"] < w for c, w in zip(computed, waits))]
        assert len(early) >= 50  # under way while earlier layers are computed


def test_a_rank_that_is_killed_is_named_and_the_run_goes_on_with_fewer(tmp_path):
    done = run(*LAUNCHER, "--restarts", 1, "--fewer", RANKS, "dies", tmp_path)
    assert done.returncode == 0, (done.stdout + done.stderr)[-3000:]
    assert "rank 1 of 2 has died" in done.stderr and "starts again with 1 ranks" in done.stderr
    assert json.loads((tmp_path / "ranks").read_text()) == [1, [25, 50]]
    assert len(checkpoints.found(tmp_path / "run")) == 2


def test_a_rank_that_raises_stops_all_and_is_named(tmp_path):
    begun = time.monotonic()
    done = run(*LAUNCHER, RANKS, "raises", tmp_path)
    assert done.returncode != 0 and time.monotonic() - begun < 60
    assert "ValueError: a broken sample" in done.stdout and "rank 1 of 2 raised ValueError" in done.stdout


def test_a_rank_that_stands_still_is_named(tmp_path):
    done = run(*LAUNCHER, RANKS, "sleeps", tmp_path)
    assert done.returncode != 0
    assert "rank 0 has waited 2 s" in done.stdout and "rank 1 has died or stands still" in done.stdout


def test_a_communicator_without_mpi_says_what_to_install(monkeypatch):
    from tangentc.errors import BadArgument
    from tangentc.learn.parallel import Communicator

    monkeypatch.setitem(sys.modules, "mpi4py", None)
    with pytest.raises(BadArgument, match="needs mpi4py"):
        Communicator()
    with pytest.raises(BadArgument, match="statistics='none'"):
        Communicator(statistics="none")


@pytest.mark.gpu
def test_nccl_adds_up_on_the_device():
    cupy = pytest.importorskip("cupy")
    from tangentc.learn.parallel import NcclCommunicator

    ranks = NcclCommunicator()
    sums = ranks.value_and_grad(lambda m, x: ((x @ m["w"]) ** 2).mean())
    model = {"w": cupy.ones(3)}
    x = cupy.arange(6.0).reshape(2, 3)
    _, gradient = sums(model, x)
    np.testing.assert_allclose(gradient["w"].get(), (x.T @ (x @ model["w"])).get() * 2 / 2 * ranks.share * ranks.size)
