"""What is told of a value in a line: shape, dtype, range, norm."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from tangentc.core.values import is_array
from tangentc.watch.tables import number
from tangentc.watch.watcher import leaves


@dataclass(frozen=True)
class Summary:
    """What is told of a value: shape, dtype, least and largest entry, 2-norm, and how many entries are not finite.

    A container is summed up over all the numbers in it.
    """

    kind: str
    shape: tuple[int, ...] | None = None
    dtype: str = ""
    minimum: float | None = None
    maximum: float | None = None
    norm: float | None = None
    nans: int = 0
    infinities: int = 0

    @classmethod
    def of(cls, value: Any) -> Summary:
        """The summary of a value.  Minimum and maximum of complex numbers are those of their moduli."""
        parts = [np.asarray(p.get() if is_array(p) and not isinstance(p, np.ndarray) else p) for p in leaves(value)]
        plain = [p for p in parts if p.dtype.kind in "fciub"]
        if not plain:
            return cls(type(value).__name__ if not isinstance(value, (int, str, bool)) else repr(value)[:40])
        flat = np.concatenate([p.ravel() for p in plain]) if len(plain) > 1 else plain[0].ravel()
        flat = np.abs(flat) if flat.dtype.kind == "c" else flat.astype(np.float64) if flat.dtype.kind != "f" else flat
        nans, infinities = int(np.count_nonzero(np.isnan(flat))), int(np.count_nonzero(np.isinf(flat)))
        known = flat[~np.isnan(flat)]
        least, most = (float(known.min()), float(known.max())) if known.size else (None, None)
        norm = _norm(flat.astype(np.float64))
        single = len(plain) == 1 and plain[0] is not None and not isinstance(value, (list, tuple, dict))
        shape = plain[0].shape if single else None
        kind = "" if single else f"{type(value).__name__} of {len(plain)}"
        dtypes = sorted({str(p.dtype) for p in plain})
        return cls(kind, shape, ", ".join(dtypes), least, most, norm, nans, infinities)

    @property
    def is_finite(self) -> bool:
        return not self.nans and not self.infinities

    @property
    def text(self) -> str:
        """``0.5`` or ``float64(50, 3)``."""
        if self.shape == () and self.minimum is not None and not self.dtype.startswith("complex"):
            return number(self.minimum)
        if self.shape == () and self.nans:
            return "nan"
        return f"{self.dtype}{self.shape}" if self.shape is not None else self.kind


def _norm(x: np.ndarray) -> float:
    """The 2-norm, also of numbers whose squares are too large or too small (Higham, Accuracy and Stability, 27.8)."""
    largest = float(np.max(np.abs(x), initial=0.0))
    if not 0 < largest < np.inf:
        return largest
    with np.errstate(over="ignore", under="ignore"):
        return largest * float(np.linalg.norm(x / largest))


def brief(value: Any) -> str:
    """A number, or what kind of array or container it is."""
    if isinstance(value, np.generic):
        return number(value.item())
    if isinstance(value, (int, float, complex)):
        return number(value)
    return Summary.of(value).text
