"""What is expensive to make of samples, made once, and kept in memory or in a folder."""

from __future__ import annotations

import hashlib
import inspect
import os
import shutil
import uuid
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from tangentc import tree
from tangentc.errors import BadArgument
from tangentc.learn.data.failures import bad_sample
from tangentc.learn.data.loader import Loader
from tangentc.learn.data.making import Recipe, Task, draws
from tangentc.learn.data.sources import Rows, source_of

FORMAT, LOOKED_AT, BATCH = 1, 8, 64


def cached(
    data: Any, f: Callable[[Any], Any] | None = None, folder: Any = None, key: str = "", workers: int = 0,
    by: str = "threads",
) -> Any:  # fmt: skip
    """All samples of some data, or what ``f`` makes of each, as a tree of arrays that `Loader` takes.

    In a ``folder`` they are .npy files, which are memory-mapped, and made once: a later call finds them.  They are
    found by the text of ``f``, by ``key``, by what the arrays hold (of memory-mapped ones their file, its size and
    time), and by the first, the last and six other samples, which are made again at each call.  A change that shows in
    none of these, as of a file in the middle of many, is to be told by another ``key``.  The files appear whole or not
    at all.  Raises `BadArgument` if ``f`` draws random numbers, and `BadSample` for samples of several shapes.

    >>> from tempfile import mkdtemp
    >>> def slow(x):
    ...     return {"x": x, "square": x * x}
    >>> data = cached(np.arange(4.0), slow, folder=mkdtemp())
    >>> type(data["square"]).__name__, data["square"].tolist()
    ('memmap', [0.0, 1.0, 4.0, 9.0])
    """
    if f is not None and draws(f):
        raise BadArgument(
            f"{f.__name__} draws random numbers", why="they would be the same in each epoch",
            way_out="cache what does not, and draw in a map of the loader",
        )  # fmt: skip
    source, maps = source_of(data), () if f is None else (f,)
    some = _some(source, maps)
    leaves, structure = tree.flatten(some, every=True)
    forms = [((len(source), *leaf.shape[1:]), leaf.dtype) for leaf in leaves]
    loader = Loader(source, BATCH).map(f, workers, by)
    if folder is None:
        arrays = [np.empty(*form) for form in forms]
        _fill(arrays, structure, loader)
        return tree.unflatten(structure, arrays)
    home = Path(folder) / _key(source, f, key, structure, leaves)
    if not home.exists():
        _write(home, forms, structure, loader)
    return tree.unflatten(structure, [np.load(home / f"{k}.npy", mmap_mode="r") for k in range(len(forms))])


def _some(source: Any, maps: tuple[Callable[..., Any], ...]) -> Any:
    """The batch of a few samples, the first and the last among them."""
    index = np.unique(np.linspace(0, len(source) - 1, LOOKED_AT).astype(int))
    if isinstance(source, Rows):
        return Recipe(None, maps, 0)(Task(0, index, source.take(index)))
    return Recipe(source, maps, 0)(Task(0, index))


def _fill(arrays: list[Any], structure: tree.Structure, loader: Loader) -> None:
    """Put all batches into arrays; refuses those of another form."""
    start = 0
    for batch in loader:
        parts, found = tree.flatten(batch, every=True)
        forms = [(part.shape[1:], part.dtype) for part in parts]
        if found.paths != structure.paths or forms != [(array.shape[1:], array.dtype) for array in arrays]:
            raise bad_sample(
                start, "it, or one of those behind it, has another form, shape or dtype than sample 0",
                "give samples of one form, or do not cache them",
            )  # fmt: skip
        for array, part in zip(arrays, parts):
            array[start : start + len(part)] = part
        start += len(parts[0])


def _write(home: Path, forms: list[Any], structure: tree.Structure, loader: Loader) -> None:
    """Write the arrays into a folder beside, which gets its name when it is whole."""
    home.parent.mkdir(parents=True, exist_ok=True)
    partial = home.with_name(f"partial-{uuid.uuid4().hex}")
    partial.mkdir()
    try:
        files = [partial / f"{k}.npy" for k in range(len(forms))]
        arrays = [_opened(file, *form) for file, form in zip(files, forms)]
        _fill(arrays, structure, loader)
        for file, array in zip(files, arrays):
            array.flush() if isinstance(array, np.memmap) else np.save(file, array)
        try:
            os.rename(partial, home)
        except OSError:  # another process was quicker
            if not home.exists():
                raise
    finally:
        shutil.rmtree(partial, ignore_errors=True)


def _opened(file: Path, shape: tuple[int, ...], dtype: np.dtype) -> np.ndarray:
    """An array in a file, to be filled; one without entries cannot be mapped."""
    return np.lib.format.open_memmap(file, "w+", dtype, shape) if 0 not in shape else np.empty(shape, dtype)


def _key(source: Any, f: Any, key: str, structure: tree.Structure, leaves: list[np.ndarray]) -> str:
    """What the cache of these data, made in this way, is called."""
    digest = hashlib.blake2b(digest_size=16)
    said = FORMAT, key, len(source), _text(f), structure.paths, [(leaf.shape, leaf.dtype.str) for leaf in leaves]
    digest.update(repr(said).encode())
    for array in [*leaves, *(source.leaves if isinstance(source, Rows) else ())]:
        file = array.filename if isinstance(array, np.memmap) else None
        if file is not None:
            stat = os.stat(file)
            digest.update(repr((str(file), stat.st_size, stat.st_mtime_ns, array.offset, array.shape)).encode())  # type: ignore[attr-defined]
        else:
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).tobytes())
    if isinstance(source, Rows) and source.index is not None:
        digest.update(source.index.tobytes())
    return digest.hexdigest()


def _text(f: Any) -> str:
    """The text of a function, or its code where there is none."""
    try:
        return inspect.getsource(f)
    except (OSError, TypeError):
        return repr(getattr(getattr(f, "__code__", None), "co_code", None))
