"""Batches made by threads and processes: the same ones, their errors, and nothing left behind."""

import gc
import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from tangentc.errors import BadArgument
from tangentc.learn.data import BadSample, Loader, WorkerDied, cached

X = np.arange(40.0).reshape(20, 2)
KINDS = ["none", "prefetch", "threads", "processes"]


class Cubes:
    """Samples by number, some of which are bad."""

    def __init__(self, bad=None):
        self.bad = bad

    def __len__(self):
        return 20

    def __getitem__(self, k):
        if k == self.bad:
            raise OSError(f"cannot read picture {k}")
        return float(k) ** 3


class Awkward(Exception):
    def __init__(self, one, two):
        super().__init__(one + two)


def noisy(x, rng):
    return x + rng.normal(size=np.shape(x))


def slow(x):
    time.sleep(0.005 if x[0] % 4 else 0.02)
    return x * 2.0


def failing(x):
    if x[0] == 14.0:
        raise ValueError("seven is bad")
    return x


def awkward(x):
    raise Awkward("one ", "two")


def leaving(x):
    if x[0] == 14.0:
        os._exit(3)
    return x


def killed(x):
    if x[0] == 14.0:
        os.kill(os.getpid(), signal.SIGKILL)
    return x


def giving_a_function(x):
    return lambda: x


def sleepy(x):
    time.sleep(60.0)
    return x


def loader_of(kind, f=None, data=X, batch=4):
    loader = Loader(data, batch, shuffle=True, seed=1)
    if kind in ("threads", "processes"):
        return loader.map(f or slow, workers=2, by=kind)
    return loader.map(f or slow).prefetch(2 if kind == "prefetch" else 0)


def children():
    """The processes that this one has begun, but for Python's own that looks after shared memory."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            parent = int(stat.read_text().rpartition(")")[2].split()[1])
            text = (stat.parent / "cmdline").read_bytes()
        except (OSError, ValueError):
            continue
        if parent == os.getpid() and b"resource_tracker" not in text:
            found.append(text)
    return found


@pytest.fixture(autouse=True)
def nothing_is_left():
    before, others = set(threading.enumerate()), children()
    yield
    assert set(threading.enumerate()) <= before
    assert not multiprocessing.active_children()
    assert children() == others


# ---------------------------------------------------------- the same batches
@pytest.mark.parametrize("data", [X, Cubes()], ids=["arrays", "samples"])
def test_workers_change_nothing(data):
    want = [[b.tolist() for b in epoch] for epoch in _epochs(Loader(data, 4, shuffle=True, seed=1).map(noisy))]
    assert want[0] != want[1]
    for kind in KINDS[1:]:
        loader = loader_of(kind, noisy, data)
        assert [[b.tolist() for b in epoch] for epoch in _epochs(loader)] == want, kind
    one = Loader(data, 4, shuffle=True, seed=1).map(noisy, workers=1, by="threads")
    assert [[b.tolist() for b in epoch] for epoch in _epochs(one)] == want


def _epochs(loader):
    return [list(loader) for _ in range(2)]


@pytest.mark.parametrize("by", ["threads", "processes"])
def test_workers_may_read_samples_alone(by):
    loader = Loader(Cubes(), 4).map(None, workers=2, by=by)
    assert np.concatenate(list(loader)).tolist() == [float(k) ** 3 for k in range(20)]
    with pytest.raises(BadSample, match="picture 5"):
        list(Loader(Cubes(bad=5), 4).map(None, workers=2, by=by))


def test_two_maps_draw_apart_and_all_samples_differ():
    loader = Loader(np.zeros((20, 2)), 5).map(noisy).map(noisy, workers=2)
    twice, once = np.concatenate(list(loader)), np.concatenate(list(Loader(np.zeros((20, 2)), 5).map(noisy)))
    assert len(np.unique(once)) == 40 and not np.allclose(twice, 2 * once)


@pytest.mark.parametrize("kind", KINDS)
def test_a_state_is_that_of_the_loop_not_of_what_is_made_ahead(kind):
    want = [b.tolist() for b in Loader(X, 4, shuffle=True, seed=1).map(noisy)]
    loader = loader_of(kind, noisy)
    for k, _ in enumerate(loader):
        if k == 1:
            time.sleep(0.05)
            state = loader.state()
            break
    assert state["batch"] == 2
    other = loader_of(kind, noisy)
    other.resume(state)
    assert [b.tolist() for b in other] == want[2:]


def test_a_cache_may_be_made_by_workers(tmp_path):
    for by in ("threads", "processes"):
        data = cached(X, slow, folder=tmp_path / by, workers=2, by=by)
        np.testing.assert_array_equal(data, 2.0 * X)


# ---------------------------------------------------------- errors
@pytest.mark.parametrize("kind", KINDS)
def test_an_error_has_the_number_of_its_sample_and_its_traceback(kind):
    seen = []
    with pytest.raises(BadSample, match="sample 7 cannot be used") as caught:
        for batch in loader_of(kind, failing):
            seen.append(batch)
    error = caught.value
    assert error.index == 7 and type(error.__cause__) is ValueError and "seven is bad" in str(error)
    import traceback

    assert 'raise ValueError("seven is bad")' in "".join(traceback.format_exception(error))
    want = next(k for k, b in enumerate(Loader(X, 4, shuffle=True, seed=1)) if 14.0 in b[:, 0])
    assert len(seen) == want  # all batches before it


@pytest.mark.parametrize("kind", KINDS)
def test_an_error_of_the_data(kind):
    with pytest.raises(BadSample, match="cannot read picture 11") as caught:
        list(loader_of(kind, noisy, Cubes(bad=11)))
    assert caught.value.index == 11 and type(caught.value.__cause__) is OSError


def test_an_error_that_cannot_be_sent_is_told_as_text():
    with pytest.raises(BadSample, match="Awkward: one two") as caught:
        list(loader_of("processes", awkward))
    assert "def awkward" not in str(caught.value) and 'raise Awkward("one ", "two")' in str(caught.value.__cause__)


def test_a_result_that_cannot_be_sent():
    with pytest.raises(BadSample, match="no array"):
        list(loader_of("processes", giving_a_function))


@pytest.mark.parametrize("f, how", [(leaving, "exit code 3"), (killed, "signal SIGKILL")])
def test_the_death_of_a_process_is_told(f, how):
    with pytest.raises(WorkerDied, match=f"{how}, at sample 7"):
        list(loader_of("processes", f))


def test_what_cannot_be_sent_is_refused():
    with pytest.raises(BadArgument, match="threads"):
        list(loader_of("processes", lambda x: x))
    with pytest.raises(BadArgument, match="cannot be sent"):
        list(loader_of("processes", noisy, [threading.Lock()] * 20))
    with pytest.raises(BadArgument, match="by='fibres'"):
        Loader(X, 4).map(noisy, workers=2, by="fibres")
    with pytest.raises(BadArgument, match="workers=-1"):
        Loader(X, 4).map(noisy, workers=-1)


# ---------------------------------------------------------- loops that are left
@pytest.mark.parametrize("kind", KINDS)
def test_a_loop_that_is_left(kind):
    for _ in loader_of(kind):
        break


@pytest.mark.parametrize("kind", KINDS)
def test_an_iterator_that_is_dropped(kind):
    holder = [iter(loader_of(kind))]
    holder.append(holder)
    next(holder[0])
    del holder
    gc.collect()


@pytest.mark.parametrize("error, kind", [(RuntimeError, k) for k in KINDS] + [(KeyboardInterrupt, "processes")])
def test_a_loop_whose_body_raises(kind, error):
    def train():
        for k, _ in enumerate(loader_of(kind)):
            if k == 1:
                raise error

    with pytest.raises(error):
        train()


def test_a_loop_is_left_at_once_although_a_process_is_at_work():
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background work ignores it
    iterator = iter(loader_of("processes", sleepy))
    started = threading.Timer(1.0, lambda: os.kill(os.getpid(), signal.SIGINT))
    started.start()
    begun = time.monotonic()
    with pytest.raises(KeyboardInterrupt):
        next(iterator)
    signal.signal(signal.SIGINT, before)
    started.join()
    del iterator
    gc.collect()
    assert time.monotonic() - begun < 30.0


SCRIPT = """
import signal, sys, time
import numpy as np
from tangentc.learn.data import Loader

def f(x):
    return x + 1.0

if {guard}:
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background work ignores it
    loader = Loader(np.ones((40, 2)), 2).map(f, workers=2, by={by!r})
    iterator = iter(loader)
    print(next(iterator).sum(), flush=True)
    {end}
"""


def run(tmp_path, end="", by="processes", guard='__name__ == "__main__"', **more):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT.format(end=end, by=by, guard=guard))
    return subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    )


def group(session):
    """The processes of a session."""
    found = []
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[3]) == session and fields[0] != "Z":
            found.append(int(stat.parent.name))
    return found


def gone(session):
    for _ in range(100):
        if not group(session):
            return True
        time.sleep(0.1)
    return False


@pytest.mark.parametrize("by", ["threads", "processes"])
def test_a_program_ends_although_a_loop_is_open(tmp_path, by):
    process = run(tmp_path, by=by)
    out, said = process.communicate(timeout=60)
    assert (process.returncode, out, said) == (0, "8.0\n", "") and gone(process.pid)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_a_program_that_is_interrupted_or_killed_leaves_no_process(tmp_path, how):
    process = run(tmp_path, end="time.sleep(60)")
    assert process.stdout.readline() == "8.0\n"
    os.killpg(process.pid, how) if how is signal.SIGINT else os.kill(process.pid, how)
    _, said = process.communicate(timeout=60)
    assert gone(process.pid)
    assert how is signal.SIGKILL or said.count("Traceback") == 1 and said.endswith("KeyboardInterrupt\n")


def test_a_script_without_a_guard_is_told(tmp_path):
    process = run(tmp_path, guard="True")
    _, said = process.communicate(timeout=60)
    assert process.returncode == 1 and "WorkerDied" in said and 'if __name__ == "__main__"' in said
    assert gone(process.pid)


@pytest.mark.parametrize("how", ["-c", "-"])
def test_a_function_that_was_typed_at_a_prompt_is_refused(how):
    text = SCRIPT.format(guard="True", by="processes", end="")
    command = [sys.executable, *(("-c", text) if how == "-c" else "-")]
    done = subprocess.run(command, input=text, capture_output=True, text=True, timeout=60)
    assert "f cannot be sent to processes" in done.stderr and "was typed at a prompt" in done.stderr
