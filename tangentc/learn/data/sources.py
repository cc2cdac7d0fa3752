"""Where samples come from: arrays, of which a row is a sample, or what has a length and gives samples by number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tangentc import tree
from tangentc.errors import BadArgument


@dataclass(frozen=True, eq=False)
class Rows:
    """A tree of arrays of one length; ``index`` are the rows that count, all without it."""

    leaves: list[np.ndarray]
    structure: tree.Structure
    index: np.ndarray | None = None

    def __len__(self) -> int:
        return len(self.leaves[0] if self.index is None else self.index)

    def __getitem__(self, position: int) -> Any:
        row = position if self.index is None else self.index[position]
        return tree.unflatten(self.structure, [leaf[row] for leaf in self.leaves])

    def take(self, index: np.ndarray) -> Any:
        """The rows of these numbers, copied: a batch may be changed in place."""
        index = index if self.index is None else self.index[index]
        return tree.unflatten(self.structure, [_taken(leaf, index) for leaf in self.leaves])


@dataclass(frozen=True, eq=False)
class Part:
    """Some samples of a sequence, by their numbers."""

    data: Any
    index: np.ndarray

    def __len__(self) -> int:
        return len(self.index)

    def __getitem__(self, position: int) -> Any:
        return self.data[int(self.index[position])]


def source_of(data: Any) -> Any:
    """Data as `Rows`, or as they are if they give samples by number.

    A tuple, a dict or an object is a tree of arrays, whose first axes are the samples; a list, and whatever else has
    ``__len__`` and ``__getitem__``, is a sequence of samples.
    """
    if not isinstance(data, (tuple, dict, np.ndarray)) and hasattr(data, "__len__") and hasattr(data, "__getitem__"):
        source = data
    else:
        source = rows(data)
    if len(source) == 0:
        raise BadArgument(
            "the data have no samples", why="an epoch would have no batch", way_out="give at least one sample"
        )
    return source


def rows(data: Any) -> Rows:
    """A tree of arrays as a source; raises `BadArgument` for what is no array, or has another length."""
    leaves, structure = tree.flatten(data, every=True)
    for path, leaf in zip(structure.paths, leaves):
        is_plain = isinstance(leaf, np.ndarray) and not isinstance(leaf, np.ma.MaskedArray)
        if not is_plain or leaf.ndim == 0 or leaf.dtype.hasobject:
            kind = f"an array of dtype {leaf.dtype}, rank {leaf.ndim}" if is_plain else f"a {type(leaf).__name__}"
            raise BadArgument(
                f"{path or 'what is given'} is {kind}", why="data in tuples and dicts are NumPy arrays, a row a sample",
                way_out="use numpy.asarray, or give a list of samples",
            )  # fmt: skip
        if len(leaf) != len(leaves[0]):
            raise BadArgument(
                f"{path} has {len(leaf)} rows, and {structure.paths[0]} has {len(leaves[0])}",
                why="a sample is a row of each array", way_out="give arrays of one length",
            )  # fmt: skip
    if not leaves:
        raise BadArgument("the data hold no array", why="there is nothing to take rows of", way_out="give an array")
    return Rows(leaves, structure)


def split(data: Any, fractions: Sequence[float], seed: int | None = 0) -> list[Any]:
    """Data in parts that have no sample in common, drawn at random by the seed; None keeps the order.

    ``fractions`` add up to one.  The parts of arrays are arrays, copied; those of memory-mapped arrays and of other
    data are views, which `Loader` takes.  Raises `BadArgument` if a part would be empty.

    >>> train, test = split((np.arange(10.0), np.arange(10)), [0.8, 0.2], seed=0)
    >>> len(train[0]), test[1]
    (8, array([8, 1]))
    """
    source, shares = source_of(data), np.asarray(fractions, float)
    if shares.ndim != 1 or not np.isclose(shares.sum(), 1.0) or not (shares > 0).all():
        raise BadArgument(
            f"fractions={fractions!r} do not share out the data", why="they are positive, and add up to one",
            way_out="say [0.8, 0.2]",
        )  # fmt: skip
    n = len(source)
    order = np.arange(n) if seed is None else np.random.default_rng(seed).permutation(n)
    ends = np.rint(np.cumsum(shares) * n).astype(int)[:-1]
    parts = np.split(order, ends)
    if not all(map(len, parts)):
        raise BadArgument(
            f"a part of {n} samples in fractions {fractions!r} is empty", why="there are too few samples",
            way_out="give larger fractions",
        )  # fmt: skip
    if not isinstance(source, Rows):
        return [Part(source, part) for part in parts]
    if not any(isinstance(leaf, np.memmap) for leaf in source.leaves):
        return [source.take(part) for part in parts]
    return [replace(source, index=part if source.index is None else source.index[part]) for part in parts]


def _taken(leaf: np.ndarray, index: np.ndarray) -> np.ndarray:
    """The rows of an array, by one copy where they follow one another."""
    plain = leaf.view(np.ndarray)
    if len(index) and index[-1] - index[0] == len(index) - 1 and (np.diff(index) == 1).all():
        return plain[index[0] : index[-1] + 1].copy()
    return np.take(plain, index, axis=0)
