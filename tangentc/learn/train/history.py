"""What a run has measured: one row for each epoch."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import Any

from tangentc.errors import BadArgument
from tangentc.learn.train.checkpoints import written_atomically


@dataclass
class History:
    """The rows of a run: dicts of numbers, with ``epoch``, ``step``, ``loss``, ``seconds``, and what was asked for.

    >>> history = History([{"epoch": 0, "loss": 2.0}, {"epoch": 1, "loss": 1.5}])
    >>> history["loss"], history.last["loss"]
    ([2.0, 1.5], 1.5)
    """

    rows: list[dict[str, Any]] = field(default_factory=list)
    stopped: str = ""  # why the run ended before its last epoch

    def __getitem__(self, name: str) -> list[Any]:
        return [row[name] for row in self.rows if name in row]

    @property
    def last(self) -> dict[str, Any]:
        """The row of the last epoch."""
        return self.rows[-1]

    @property
    def names(self) -> list[str]:
        """What was measured, in the order in which it came."""
        return list(dict.fromkeys(name for row in self.rows for name in row))


def write_csv(history: History, path: Any) -> None:
    """Write the rows as a table, which is whole at any time.

    >>> import tempfile
    >>> from pathlib import Path
    >>> path = Path(tempfile.mkdtemp()) / "log.csv"
    >>> write_csv(History([{"epoch": 0, "loss": 2.0}]), path)
    >>> path.read_text().splitlines()
    ['epoch,loss', '0,2.0']
    """
    text = io.StringIO()
    table = csv.DictWriter(text, history.names, lineterminator="\n")
    table.writeheader()
    table.writerows(history.rows)
    written_atomically(path, text.getvalue())


class TensorBoard:
    """A callback that writes the numbers of each epoch for TensorBoard, by the library tensorboardX."""

    def __init__(self, folder: Any):
        try:
            from tensorboardX import SummaryWriter
        except ImportError:
            raise BadArgument(
                "a log for TensorBoard needs tensorboardX", why="it is not installed",
                way_out="install it: pip install tensorboardX; or write a table: log=...",
            ) from None  # fmt: skip
        self.writer = SummaryWriter(str(folder))

    def __call__(self, run: Any) -> None:
        row = run.history.last
        for name, value in row.items():
            if isinstance(value, (int, float)) and name not in ("epoch", "step"):
                self.writer.add_scalar(name, value, row["epoch"])
        self.writer.flush()

    def close(self) -> None:
        """Close the files."""
        self.writer.close()
