"""The loop of training."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

import tangentc
from tangentc.errors import BadArgument, NotFinite
from tangentc.learn.modes import evaluating, set_training
from tangentc.learn.train import checkpoints
from tangentc.learn.train.alone import Alone
from tangentc.learn.train.history import History, TensorBoard, write_csv
from tangentc.learn.train.progress import Progress
from tangentc.learn.train.record import write_record
from tangentc.learn.trained import gradients, parameters

Metrics = Mapping[str, Callable[..., Any]]


@dataclass
class Run:
    """What callbacks see of a run: all that it has, which they may change between two steps."""

    model: Any
    optimiser: Any
    state: Any
    history: History = field(default_factory=History)
    epoch: int = 0
    step: int = 0
    epochs: int = 0
    stop: str = ""  # a reason ends the run after this epoch


@dataclass
class EarlyStopping:
    """A callback that ends the run once ``monitor`` has not become less for more than ``patience`` epochs.

    With ``restore`` the model is left with the parameters of the best epoch.  ``largest=True`` waits for a number to
    grow, such as an accuracy (Prechelt, Early stopping - but when?, 1998).
    """

    monitor: str = "validation_loss"
    patience: int = 5
    restore: bool = True
    largest: bool = False
    best: float = math.inf
    at: int = -1
    kept: dict[str, Any] = field(default_factory=dict, repr=False)

    def __call__(self, run: Run) -> None:
        if self.monitor not in run.history.last:
            raise BadArgument(
                f"EarlyStopping watches {self.monitor}, which is not measured",
                why=f"there are {', '.join(run.history.names)}", way_out="name one of these, or give validation",
            )  # fmt: skip
        value = run.history.last[self.monitor] * (-1 if self.largest else 1)
        if value < self.best:
            self.best, self.at = value, run.epoch
            self.kept = {path: a.copy() for path, a in checkpoints.arrays_of(run.model).items()}
        elif run.epoch - self.at > self.patience:
            run.stop = f"{self.monitor} was best in epoch {self.at}"

    def end(self, run: Run) -> None:
        """Put the best parameters back."""
        if self.restore and self.kept:
            for path, array in checkpoints.arrays_of(run.model).items():
                array[...] = self.kept[path]


def fit(
    model: Any, loss: Callable[..., Any], data: Iterable[Any], optimiser: Any, epochs: int = 1, *,
    validation: Iterable[Any] | None = None, metrics: Metrics | None = None, callbacks: Iterable[Callable] = (),
    checkpoint: Any = None, every: int | None = None, resume: bool = True, log: Any = None, tensorboard: Any = None,
    record: Any = None, progress: bool = True, anomaly: bool = False, parallel: Any = None, timeline: Any = None,
    **options: Any,
) -> History:  # fmt: skip
    """Train ``model``, in place, along the gradient of ``loss(model, *batch)`` for each batch of ``data``.

    ``data`` is a `Loader`, or anything that gives batches, tuples of arrays, whenever it is iterated.  ``optimiser``
    has ``init`` and ``update``.  After each epoch ``validation``'s batches are evaluated: the loss as
    ``validation_loss``, and each of ``metrics``, functions of ``(model, *batch)``, as means over the examples.  Each of
    ``callbacks`` is then called with the `Run`; if it has ``end``, that is called at the end.  What comes back is the
    `History`.

    - ``checkpoint``: a folder, into which the run is written after each epoch, and after each ``every`` steps; a run
      that finds one there goes on from it, to the same bits, unless ``resume=False``.
    - ``log``: a table of the history as CSV; ``tensorboard``: a folder for TensorBoard; ``record``: a page with curves.
    - ``anomaly=True``: where a loss or a gradient is not finite, nothing is updated, and `NotFinite` names the line of
      the first NaN.  Without it a loss that is not finite raises, too, but names the batch alone.
    - ``parallel``: the `learn.parallel.Communicator` of several processes that all call `fit` alike; each has its part
      of every batch, and the first one alone writes.  Losses, metrics and gradients are means over all examples.
    - ``timeline``: a file for what was done when, which Chrome and Perfetto show.
    - ``options`` are those of `tangentc.value_and_grad`, such as ``kernels="numba"``.

    >>> from tangentc import learn
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(64, 3))
    >>> y = X @ np.array([1.0, -2.0, 0.5])
    >>> model = learn.Linear.of(3, 1, rng)
    >>> def loss(model, X, y):
    ...     return np.mean((model(X)[:, 0] - y) ** 2)
    >>> history = fit(model, loss, [(X, y)], learn.Adam(0.1), epochs=100, progress=False)
    >>> bool(history["loss"][-1] < 1e-3)
    True
    """
    ranks = parallel or Alone()
    loop = _Loop(model, loss, data, optimiser, epochs, options, ranks)
    _refuse_no_batches(validation, "validation")
    loop.validation, loop.metrics, loop.anomaly = validation, metrics or {}, anomaly
    loop.folder, loop.every = checkpoint, every
    loop.callbacks = [*callbacks, *([TensorBoard(tensorboard)] if tensorboard and ranks.is_first else [])]
    begun = time.time()
    if ranks.from_first(lambda: checkpoint is not None and resume and bool(checkpoints.found(checkpoint))):
        loop.resume()
    run = loop.run
    ranks.broadcast(model, run.state)
    set_training(model, True)
    with ranks.noting(timeline):
        loop.every_epoch(Progress(progress and ranks.is_first, run, data), log)
    for callback in loop.callbacks:
        if hasattr(callback, "end"):
            callback.end(run)
    run.history.stopped = run.stop
    if record is not None and ranks.is_first:
        write_record(record, run, loss, loop.text, begun)
    return run.history


class _Loop:
    """The parts of `fit`, and where it is."""

    def __init__(
        self, model: Any, loss: Callable, data: Any, optimiser: Any, epochs: int, options: dict[str, Any], ranks: Any
    ):  # fmt: skip
        if not parameters(model):
            raise BadArgument(
                f"a {type(model).__name__} has nothing to train",
                why="its parameters are arrays of real numbers in its attributes, and there are none",
                way_out="make arrays of them: np.array(0.5) in place of 0.5",
            )  # fmt: skip
        _refuse_no_batches(data, "data")
        if not (hasattr(optimiser, "init") and hasattr(optimiser, "update")):
            raise BadArgument(f"{optimiser!r} is no optimiser", why="it has no init and update", way_out="learn.Adam()")
        self.run = Run(model, optimiser, optimiser.init(model), epochs=epochs)
        self.loss, self.data, self.ranks = loss, ranks.sharded(data), ranks
        self.slope = ranks.value_and_grad(loss, **options)
        self.validation: Any = None
        self.metrics: Metrics = {}
        self.anomaly = False
        self.folder: Any = None
        self.every: int | None = None
        self.callbacks: list[Any] = []
        self.total, self.count, self.batches = 0.0, 0, 0  # of the epoch so far
        self.text = ""

    def every_epoch(self, bar: Progress, log: Any) -> None:
        run = self.run
        try:
            with bar:
                while run.epoch < run.epochs and not run.stop:
                    self.one_epoch(bar)
                    if log is not None and self.ranks.is_first:
                        write_csv(run.history, log)
                    bar.epoch_done()
        finally:
            for callback in self.callbacks:
                if hasattr(callback, "close"):
                    callback.close()

    def one_epoch(self, bar: Progress) -> None:
        """All batches of an epoch, or those that are left of it; what is measured behind them, and a checkpoint."""
        run, begun = self.run, time.time()
        left = self.left()
        while (batch := self.timed("batch", next, left, None)) is not None:
            value, n = self.one_step(batch)
            self.total, self.count, self.batches = self.total + value * n, self.count + n, self.batches + 1
            run.step += 1
            bar.step_done(self.total / self.count)
            if self.every is not None and run.step % self.every == 0:
                self.save()
        if not self.count:
            raise BadArgument(
                "the data have given no batch", why="they are empty, or can be iterated once alone",
                way_out="give a Loader, or a list of batches",
            )  # fmt: skip
        row = {"epoch": run.epoch, "step": run.step, "loss": self.total / self.count, **self.measured()}
        run.history.rows.append({**row, "seconds": round(time.time() - begun, 3)})
        self.total, self.count, self.batches = 0.0, 0, 0
        for callback in self.callbacks:
            callback(run)
        run.epoch += 1
        self.save()

    def left(self) -> Iterator[tuple]:
        """The batches of an epoch that are left; of data without a state those that were taken are passed over."""
        done = 0 if hasattr(self.data, "state") else self.batches
        for batch in itertools.islice(self.data, done, None):
            yield batch if isinstance(batch, tuple) else (batch,)

    def timed(self, name: str, f: Callable, *args: Any) -> Any:
        """What a function gives, whose time the timeline has, if there is one."""
        with self.ranks.timeline.span(name) if self.ranks.timeline else nullcontext():
            return f(*args)

    def one_step(self, batch: tuple) -> tuple[float, int]:
        """The loss of a batch, and of how many examples it is the mean."""
        run, n = self.run, _examples(batch)
        value, gradient = self.timed("forward and backward", self.slope, run.model, *batch)
        self.ranks.settle(run.model)
        if not self.text:
            self.text = self.slope.source_for(run.model, *batch)
        value, n = self.ranks.mean(float(value), n)
        if not math.isfinite(value) or self.anomaly and not _finite(run.model, gradient):
            self.refuse(batch, value)
        self.timed("update", run.optimiser.update, run.model, gradient, run.state)
        return value, n

    def measured(self) -> dict[str, float]:
        """The means of the loss and of the metrics over the data for validation."""
        if self.validation is None:
            return {}
        wanted = {"validation_loss": self.loss, **self.metrics}
        totals, count = dict.fromkeys(wanted, 0.0), 0
        with evaluating(self.run.model):
            for batch in self.ranks.sharded(self.validation, False):
                batch = batch if isinstance(batch, tuple) else (batch,)
                n = _examples(batch)
                count += n
                for name, f in wanted.items():
                    totals[name] += float(f(self.run.model, *batch)) * n
        count, *sums = self.ranks.sum(np.array([count, *totals.values()])).tolist()
        return {name: total / max(count, 1) for name, total in zip(totals, sums)}

    def refuse(self, batch: tuple, value: float) -> None:
        """Raise `NotFinite`, with the line where the first NaN or infinity was made if that is asked for."""
        run = self.run
        what = f"the loss is {value}" if not math.isfinite(value) else "a gradient is not finite"
        where = f"in step {run.step}, epoch {run.epoch}"
        if not self.anomaly:
            raise NotFinite(f"{what} {where}", why="the loss has a NaN or an infinity", way_out="say anomaly=True")
        with np.errstate(all="ignore"):
            row = tangentc.trace(tangentc.value_and_grad(self.loss))(run.model, *batch).first_nonfinite()
        if row is None:
            raise NotFinite(f"{what} {where}", why="run again, the loss is finite: it draws random numbers")
        raise NotFinite(
            f"{what} {where}", row.where.span, why=f"{row.operation} gave the first {row.kind}",
            way_out="look at its arguments there: tangentc.trace(loss)(model, *batch)",
        )  # fmt: skip

    def save(self) -> None:
        if self.folder is None or not self.ranks.is_first:
            return
        run = self.run
        rest = {
            "epoch": run.epoch, "step": run.step, "total": self.total, "count": self.count, "batches": self.batches,
            "stop": run.stop, "rows": run.history.rows, "callbacks": [_settings(c) for c in self.callbacks],
            "data": self.data.state() if hasattr(self.data, "state") else None,
        }  # fmt: skip
        kept = {f"{k}/{path}": a for k, c in enumerate(self.callbacks) for path, a in getattr(c, "kept", {}).items()}
        checkpoints.save(self.folder, run.step, run.model, run.state, rest, kept)

    def resume(self) -> None:
        run = self.run
        rest, kept = self.ranks.from_first(lambda: checkpoints.load(self.folder, run.model, run.state))
        run.epoch, run.step, run.stop = rest["epoch"], rest["step"], rest["stop"]
        run.history.rows = rest["rows"]
        self.total, self.count, self.batches = rest["total"], rest["count"], rest["batches"]
        if rest["data"] is not None and hasattr(self.data, "resume"):
            self.data.resume(rest["data"])
        for k, (callback, numbers) in enumerate(zip(self.callbacks, rest["callbacks"])):
            if hasattr(callback, "__dict__"):
                vars(callback).update(numbers)
            if hasattr(callback, "kept"):
                callback.kept = {p.partition("/")[2]: a for p, a in kept.items() if p.startswith(f"{k}/")}


def _refuse_no_batches(data: Any, what: str) -> None:
    """Refuse an array, or a tuple of some, whose rows would be taken for batches."""
    if isinstance(data, tuple) and any(hasattr(part, "shape") for part in data) or hasattr(data, "shape"):
        raise BadArgument(
            f"{what} of fit is {'a tuple with an array' if isinstance(data, tuple) else 'an array'}",
            why="it gives batches, one after the other", way_out="say [(x, y)] for one batch, or Loader((x, y), 32)",
        )  # fmt: skip


def _settings(callback: Any) -> dict[str, Any]:
    """The numbers of a callback, which it has again when a run goes on."""
    held = vars(callback) if hasattr(callback, "__dict__") else {}
    return {name: value for name, value in held.items() if type(value) in (int, float, str, bool, type(None))}


def _examples(batch: tuple) -> int:
    """How many examples a batch has: the length of its first array."""
    return next((len(part) for part in batch if getattr(part, "shape", ())), 1)


def _finite(model: Any, gradient: Any) -> bool:
    return all(bool(np.isfinite(g.sum())) for g in gradients(model, gradient).values())
