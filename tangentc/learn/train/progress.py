"""The progress of a run, on the terminal: a bar of tqdm where that is installed, else a line for each epoch."""

from __future__ import annotations

import contextlib
from typing import Any


class Progress:
    """Shows where a run is; with ``shown=False`` it shows nothing."""

    def __init__(self, shown: bool, run: Any, data: Any):
        self.run, self.bar, self.shown = run, None, shown
        if not shown:
            return
        with contextlib.suppress(ImportError):
            from tqdm.auto import tqdm

            per_epoch = len(data) if hasattr(data, "__len__") else None
            total = per_epoch * run.epochs if per_epoch else None
            self.bar = tqdm(total=total, initial=run.step, unit="step", dynamic_ncols=True, disable=None)

    def __enter__(self) -> Progress:
        return self

    def __exit__(self, *raised: object) -> None:
        if self.bar is not None:
            self.bar.close()

    def step_done(self, loss: float) -> None:
        if self.bar is not None:
            self.bar.update(1)
            self.bar.set_postfix_str(f"epoch {self.run.epoch}, loss {loss:.4g}", refresh=False)

    def epoch_done(self) -> None:
        """Write the numbers of the epoch on a line of their own."""
        if not self.shown:
            return
        row = self.run.history.last
        said = [f"{name} {value:.4g}" for name, value in row.items() if name not in ("epoch", "step", "seconds")]
        text = f"epoch {row['epoch']}: {', '.join(said)} ({row['seconds']:.1f} s)"
        self.bar.write(text) if self.bar is not None else print(text, flush=True)
