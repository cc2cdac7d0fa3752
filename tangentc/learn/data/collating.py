"""Samples put together to a batch."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tangentc import tree
from tangentc.learn.data.failures import bad_sample


def collate(samples: Sequence[Any], index: Sequence[int]) -> Any:
    """Samples of one form as one of arrays with a new first axis; ``index`` are their numbers in the data.

    Raises `BadSample` for one of another form, shape or dtype than the first: numbers are not turned to another dtype.

    >>> collate([(np.ones(2), 3), (np.zeros(2), 4)], [0, 1])
    (array([[1., 1.],
           [0., 0.]]), array([3, 4]))
    """
    first = samples[0]
    steps = _steps(first)
    if steps is None:
        return _stacked(samples, index)
    for sample, number in zip(samples, index):
        if type(sample) is not type(first) or _steps(sample) != steps:
            raise bad_sample(
                number, f"it is a {_form(sample)}, and sample {index[0]} of its batch a {_form(first)}",
                "give samples of one form",
            )  # fmt: skip
    columns = zip(*[[part for _, part in tree.parts_of(sample) or ()] for sample in samples])
    return tree.rebuilt(first, [(step, collate(column, index)) for step, column in zip(steps, columns)])


def _steps(sample: Any) -> list[Any] | None:
    parts = tree.parts_of(sample)
    return None if parts is None else [step for step, _ in parts]


def _stacked(values: Sequence[Any], index: Sequence[int]) -> np.ndarray:
    """Arrays and numbers in one array."""
    arrays = [np.asarray(value) for value in values]
    first = arrays[0]
    for array, value, number in zip(arrays, values, index):
        if array.dtype.hasobject or isinstance(value, np.ma.MaskedArray):
            raise bad_sample(number, f"it has a {_form(value)}, which is no array", "use numpy.asarray in a map")
        alike = array.dtype == first.dtype or array.dtype.kind == first.dtype.kind in "US"
        if array.shape != first.shape or not alike:
            raise bad_sample(
                number, f"it has {array.dtype}{list(array.shape)}, and sample {index[0]} of its batch has "
                f"{first.dtype}{list(first.shape)}", "give samples of one shape and dtype",
            )  # fmt: skip
    return np.stack(arrays)


def _form(sample: Any) -> str:
    steps = _steps(sample)
    name = type(sample).__name__
    return name if steps is None else f"{name} of {', '.join(str(key) for _, key in steps)}"
