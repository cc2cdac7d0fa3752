"""The loop of training: what it measures, how it goes on after it was killed, what it says of a NaN."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tangentc import learn
from tangentc.errors import BadArgument, NotFinite
from tangentc.learn import functions as F
from tangentc.learn.optimisers import Cosine, Plateau
from tangentc.learn.train import checkpoints

RNG = np.random.default_rng(0)
X = RNG.normal(size=(60, 4))
Y = (X[:, 0] * X[:, 1] > 0).astype(int)
BATCHES = [(X[i : i + 16], Y[i : i + 16]) for i in range(0, 60, 16)]


def network(seed=0):
    rng = np.random.default_rng(seed)
    return learn.Sequential(
        [
            learn.Linear.of(4, 8, rng), learn.BatchNorm.of(8), F.relu,
            learn.Dropout(0.2, np.random.default_rng(seed + 1)), learn.Linear.of(8, 2, rng),
        ]
    )  # fmt: skip


def loss(model, x, y):
    return F.cross_entropy(model(x), y)


def accuracy(model, x, y):
    return np.mean(np.argmax(model(x), axis=1) == y)


def fitted(epochs=3, **options):
    model = network()
    options = {"progress": False, **options}
    return model, learn.fit(model, loss, BATCHES, learn.Adam(Cosine(0.05, 160)), epochs, **options)


def arrays(model):
    return checkpoints.arrays_of(model)


def same(a, b):
    return all(np.array_equal(x, y) for x, y in zip(arrays(a).values(), arrays(b).values(), strict=True))


def test_a_run_measures_and_learns():
    model, history = fitted(40, validation=[(X, Y)], metrics={"accuracy": accuracy})
    assert history["epoch"] == list(range(40)) and history.last["step"] == 160
    assert history.last["accuracy"] > 0.9 > history["accuracy"][0]
    with learn.evaluating(model):
        assert history.last["validation_loss"] == pytest.approx(loss(model, X, Y), rel=1e-12)
    assert model.layers[1].training and model.layers[1].running_mean.any()


def test_the_loss_of_an_epoch_is_the_mean_over_its_examples():
    seen = []

    class Still:
        rate = 0.0

        def init(self, model):
            return {}

        def update(self, model, gradient, state):
            seen.append(gradient)

    model = learn.Linear.of(4, 2, np.random.default_rng(0))
    history = learn.fit(model, loss, BATCHES, Still(), progress=False)
    assert history.last["loss"] == pytest.approx(loss(model, X, Y), rel=1e-12) and len(seen) == 4


def test_two_runs_are_the_same_to_the_bit():
    assert same(fitted()[0], fitted()[0])


@pytest.mark.parametrize("every", [None, 3])
def test_a_run_that_is_cut_off_goes_on_to_the_same_bits(every, tmp_path):
    whole, history = fitted(4)

    class Enough(Exception):
        pass

    def stop(run):
        if run.epoch == 1:
            raise Enough

    with pytest.raises(Enough):
        fitted(4, checkpoint=tmp_path, every=every, callbacks=[stop])
    rest, later = fitted(4, checkpoint=tmp_path, every=every)
    assert same(whole, rest) and later["loss"] == history["loss"]


KILLED = """
import sys
from learn.test_train import fitted
from tangentc.learn.train import checkpoints
write = checkpoints._written
def slow(path, what):
    print("writing", flush=True)
    write(path, what)
checkpoints._written = slow
fitted(6, checkpoint=sys.argv[1], every=1)
"""


def test_a_run_that_is_killed_while_it_writes_goes_on_to_the_same_bits(tmp_path):
    tests = Path(__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(tests), str(tests.parent)])}
    for k, lines in enumerate((5, 8, 13, 20)):
        run = subprocess.Popen(
            [sys.executable, "-c", KILLED, str(tmp_path)], env=environment, stdout=subprocess.PIPE, text=True
        )
        for _ in range(lines):
            run.stdout.readline()
        time.sleep(0.0004 * k)
        run.send_signal(signal.SIGKILL)
        run.wait()
        run.stdout.close()
    left = checkpoints.found(tmp_path)
    assert left and all((path / "arrays.npz").exists() for path in left)
    assert same(fitted(6)[0], fitted(6, checkpoint=tmp_path)[0])
    assert not list(tmp_path.glob(".begun-*"))


def test_early_stopping_puts_the_best_parameters_back_also_after_it_went_on(tmp_path):
    def stopping():
        return learn.EarlyStopping("loss", patience=2)

    rising = [(X, Y), (X, 1 - Y)]

    def run(epochs, folder):
        model = learn.Linear.of(4, 2, np.random.default_rng(0))
        watch = stopping()
        history = learn.fit(
            model, loss, rising, learn.SGD(3.0), epochs, callbacks=[watch], checkpoint=folder, progress=False
        )
        return model, history, watch

    model, history, watch = run(20, tmp_path / "a")
    assert "was best in epoch" in history.stopped and watch.at == int(np.argmin(history["loss"]))
    run(2, tmp_path / "b")
    again, _, _ = run(20, tmp_path / "b")
    assert same(model, again)


def test_a_checkpoint_of_another_model_is_refused_and_changes_nothing(tmp_path):
    fitted(1, checkpoint=tmp_path)
    other = learn.Linear.of(3, 2, np.random.default_rng(0))
    before = other.weight.copy()
    with pytest.raises(BadArgument, match="another model"):
        checkpoints.load(tmp_path, other, {})
    assert np.array_equal(other.weight, before)
    with pytest.raises(BadArgument, match="no checkpoint"):
        checkpoints.load(tmp_path / "nothing", other, {})


def test_checkpoints_are_npz_and_json(tmp_path):
    fitted(1, checkpoint=tmp_path)
    (last,) = checkpoints.found(tmp_path)
    assert sorted(p.name for p in last.iterdir()) == ["arrays.npz", "state.json"]
    with np.load(last / "arrays.npz", allow_pickle=False) as held:
        assert "model/layers.0.weight" in held.files
    assert json.loads((last / "state.json").read_text())["rest"]["epoch"] == 1


class Bad:
    def __init__(self):
        self.w = np.array([1.0, -1.0])

    def __call__(self, x):
        return np.log(x * self.w)


def bad_loss(model, x):
    y = model(x)
    return np.sum(y)


def test_a_nan_is_named_with_its_line():
    model = Bad()
    with np.errstate(all="ignore"), pytest.raises(NotFinite) as refused:
        learn.fit(model, bad_loss, [(np.ones(2),)], learn.SGD(0.1), progress=False, anomaly=True)
    assert "return np.log(x * self.w)" in str(refused.value) and "step 0, epoch 0" in str(refused.value)
    assert np.array_equal(model.w, [1.0, -1.0])
    with np.errstate(all="ignore"), pytest.raises(NotFinite, match="anomaly=True"):
        learn.fit(model, bad_loss, [(np.ones(2),)], learn.SGD(0.1), progress=False)


def test_logs_and_the_record_tell_the_run(tmp_path):
    _, history = fitted(
        3, validation=[(X, Y)], metrics={"accuracy": accuracy}, log=tmp_path / "log.csv", record=tmp_path / "run.html"
    )
    lines = (tmp_path / "log.csv").read_text().splitlines()
    assert lines[0] == "epoch,step,loss,validation_loss,accuracy,seconds" and len(lines) == 4
    page = (tmp_path / "run.html").read_text()
    assert "def loss_and_state_value_and_grad" in page and "<polyline" in page and "validation_loss" in page
    assert f"{history.last['loss']:.5g}" in page and "layers.0" in page


def test_a_log_for_tensorboard_has_the_numbers_of_each_epoch(tmp_path):
    pytest.importorskip("tensorboardX")
    from tensorboardX.proto.event_pb2 import Event

    _, history = fitted(3, validation=[(X, Y)], tensorboard=tmp_path)
    (file,) = tmp_path.iterdir()
    content, found = file.read_bytes(), {}
    while content:  # records: a length of 8 bytes, 4 of a checksum, the event, 4 of a checksum
        size = int.from_bytes(content[:8], "little")
        event = Event.FromString(content[12 : 12 + size])
        content = content[16 + size :]
        for value in event.summary.value:
            found.setdefault(value.tag, {})[event.step] = value.simple_value
    assert sorted(found) == ["loss", "seconds", "validation_loss"]
    for name in ("loss", "validation_loss"):
        assert list(found[name]) == [0, 1, 2]
        np.testing.assert_allclose(list(found[name].values()), history[name], rtol=1e-6)


def test_the_rate_falls_where_the_loss_does_not():
    scales = []
    model = learn.Linear.of(4, 2, np.random.default_rng(0))
    learn.fit(
        model, loss, [(X, Y), (X, 1 - Y)], learn.SGD(3.0), 12, progress=False,
        callbacks=[Plateau(factor=0.5, patience=0), lambda run: scales.append(run.state["plateau"]["scale"])],
    )  # fmt: skip
    assert scales == sorted(scales, reverse=True) and scales[-1] < 0.2


def test_progress_writes_a_line_for_each_epoch(capfd):
    fitted(2, progress=True)
    told = "".join(capfd.readouterr())
    assert "epoch 0: loss" in told and "epoch 1: loss" in told


def test_what_cannot_be_trained_is_refused():
    with pytest.raises(BadArgument, match="nothing to train"):
        learn.fit({"w": 1.0}, loss, BATCHES, learn.SGD(0.1), progress=False)
    with pytest.raises(BadArgument, match="no batch"):
        learn.fit(network(), loss, [], learn.SGD(0.1), progress=False)
    with pytest.raises(BadArgument, match="EarlyStopping watches"):
        fitted(1, callbacks=[learn.EarlyStopping("validation_loss")])
    x, y = np.ones((4, 3)), np.zeros(4, int)
    for wrong in ((x, y), x):
        with pytest.raises(BadArgument, match="data of fit is a"):
            learn.fit(network(), loss, wrong, learn.SGD(0.1), progress=False)
    with pytest.raises(BadArgument, match="validation of fit is a tuple"):
        learn.fit(network(), loss, BATCHES, learn.SGD(0.1), validation=(x, y), progress=False)
    with pytest.raises(BadArgument, match="'adam' is no optimiser"):
        learn.fit(network(), loss, BATCHES, "adam", progress=False)
