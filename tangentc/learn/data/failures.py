"""What goes wrong with a sample, or with a process that makes some."""

from __future__ import annotations

import pickle
import traceback
from typing import Any

from tangentc.errors import TangentcError


class BadSample(TangentcError):
    """A sample that could not be made; ``index`` says which of the data, and the cause is the error itself."""

    index = -1

    def __reduce__(self) -> Any:
        return _again, (super().__reduce__()[1], self.index)


class WorkerDied(TangentcError):
    """A process that made samples has ended."""


class InProcess(Exception):
    """The traceback of an error in another process, as text."""

    def __str__(self) -> str:
        return "in a worker process:\n" + self.args[0]


def bad_sample(index: int, why: str, way_out: str = "") -> BadSample:
    """The error of one sample."""
    way_out = way_out or "mend it or leave it out: `index` of this error says which it is"
    error = BadSample(f"sample {index} cannot be used", why=why, way_out=way_out)
    error.index = int(index)
    return error


def packed(error: BaseException) -> bytes:
    """An error, its cause, and the text of its traceback, to be sent to another process."""
    text = "".join(traceback.format_exception(error))
    for cause in (error.__cause__, None):
        for one in (error, RuntimeError(f"{type(error).__name__}: {error}")):
            try:
                parcel = pickle.dumps((one, cause, text))
                pickle.loads(parcel)  # which an exception with a constructor of its own may not survive
            except Exception:
                continue
            return parcel
    raise AssertionError("text can be pickled")


def unpacked(parcel: bytes) -> BaseException:
    """The error again; the last of its causes is the traceback of the other process."""
    error, cause, text = pickle.loads(parcel)
    error.__cause__ = cause
    (cause or error).__cause__ = InProcess(text)
    return error


def _again(made: tuple[Any, ...], index: int) -> BadSample:
    cls, what, span, why, way_out = made
    error = cls(what, span, why=why, way_out=way_out)
    error.index = index
    return error
