"""Arrays in files: memory-mapped ones of NumPy, and columns of text."""

from __future__ import annotations

import csv
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from tangentc.errors import BadArgument


def mapped(path: Any) -> Any:
    """The array of a .npy file, or a dict of those of an .npz file, read from the disk as they are used.

    Members of an .npz file can be mapped as `numpy.savez` writes them.  Raises `BadArgument` for what
    `numpy.savez_compressed` wrote, and for arrays of objects, which are never unpickled.

    >>> from tempfile import mkdtemp
    >>> path = mkdtemp() + "/data.npz"
    >>> np.savez(path, x=np.ones((4, 2)), y=np.arange(4))
    >>> data = mapped(path)
    >>> type(data["x"]).__name__, data["y"].sum()
    ('memmap', np.int64(6))
    """
    if not zipfile.is_zipfile(path):
        with open(path, "rb") as file:
            return _array(path, file, str(path), 0)
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        return {m.filename.removesuffix(".npy"): _member(path, file, m) for m in archive.infolist()}


def _member(path: Any, file: Any, member: zipfile.ZipInfo) -> np.ndarray:
    """An array that is stored in an archive as it is: behind a header of 30 bytes, a name and extra fields."""
    if member.compress_type != zipfile.ZIP_STORED:
        raise BadArgument(
            f"{member.filename} of {path} cannot be mapped", why="it is compressed",
            way_out="write it by numpy.savez, or read it by numpy.load",
        )  # fmt: skip
    file.seek(member.header_offset)
    head = file.read(30)
    start = member.header_offset + 30 + int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little")
    return _array(path, file, f"{member.filename} of {path}", start)


def _array(path: Any, file: Any, name: str, start: int) -> np.ndarray:
    """The array whose .npy begins at this place in a file."""
    file.seek(start)
    try:
        version = np.lib.format.read_magic(file)
        read = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}[version]
        shape, fortran, dtype = read(file)
        if dtype.hasobject:
            raise ValueError("it holds objects of Python")
        if 0 in shape:
            return np.empty(shape, dtype)
        return np.memmap(path, dtype, "r", file.tell(), shape, "F" if fortran else "C")
    except (ValueError, KeyError) as error:
        raise BadArgument(
            f"{name} cannot be mapped", why=str(error), way_out="write a plain array by numpy.save or numpy.savez"
        ) from error


def read_csv(
    path: Any, columns: Sequence[str] | None = None, types: Mapping[str, Any] | None = None,
    names: Sequence[str] | None = None, delimiter: str = ",", missing: Any = None,
) -> dict[str, np.ndarray]:  # fmt: skip
    """The columns of a text file, by the names in its first line, or by ``names`` if it has none.

    A column is of float64, or of what ``types`` says of it: ``int``, ``str``, a dtype.  ``columns`` are those that are
    read, all without it.  ``missing`` stands for empty fields; without it these are refused, except in text.  Raises
    `BadArgument` with the line of what is no number, or of another count of fields.

    >>> from pathlib import Path
    >>> from tempfile import mkdtemp
    >>> path = Path(mkdtemp()) / "data.csv"
    >>> size = path.write_text("height,kind\\n1.5,oak\\n2.0,elm\\n")
    >>> read_csv(path, types={"kind": str})
    {'height': array([1.5, 2. ]), 'kind': array(['oak', 'elm'], dtype='<U3')}
    """
    with open(path, newline="", encoding="utf-8-sig") as file:
        reader = csv.reader(file, delimiter=delimiter, strict=True)
        lines = _lines(path, reader)
        head = list(names) if names is not None else next(lines, (0, []))[1]
        _check(path, head, [*(columns or ()), *(types or ())])
        body = list(lines)
    for line, fields in body:
        if len(fields) != len(head):
            raise BadArgument(
                f"line {line} of {path} has {len(fields)} fields", why=f"there are {len(head)} columns",
                way_out="mend the line, or say another delimiter",
            )  # fmt: skip
    wanted = head if columns is None else columns
    dtypes = {name: np.dtype((types or {}).get(name, float)) for name in wanted}
    return {name: _column(path, name, body, head.index(name), dtypes[name], missing) for name in wanted}


def _lines(path: Any, reader: Any) -> Iterator[tuple[int, list[str]]]:
    """The lines that are not empty, with their numbers."""
    try:
        for fields in reader:
            if fields:
                yield reader.line_num, fields
    except csv.Error as error:
        raise BadArgument(f"line {reader.line_num} of {path} cannot be read", why=str(error)) from error


def _check(path: Any, head: list[str], wanted: list[str]) -> None:
    """Refuse names that a file has twice, or has not."""
    twice = sorted({name for name in head if head.count(name) > 1})
    unknown = [name for name in wanted if name not in head]
    if twice or unknown:
        raise BadArgument(
            f"{path} has {'twice' if twice else 'no'} column {(twice or unknown)[0]!r}",
            why=f"its columns are {', '.join(head)}", way_out="say names=[...] if its first line is no header",
        )  # fmt: skip


def _column(path: Any, name: str, body: list[Any], place: int, dtype: np.dtype, missing: Any) -> np.ndarray:
    """One column as an array."""
    values = [(line, fields[place]) for line, fields in body]
    if dtype.kind == "U":
        return np.array([text for _, text in values], dtype)
    made = float if dtype.kind == "f" else int
    out = np.empty(len(values), dtype)
    for k, (line, text) in enumerate(values):
        try:
            if "_" in text or dtype.kind not in "fiu":
                raise ValueError("it is a number for Python, not for others" if "_" in text else f"of dtype {dtype}")
            out[k] = missing if missing is not None and not text.strip() else made(text)
        except (ValueError, OverflowError) as error:
            raise BadArgument(
                f"{text!r} in column {name!r}, line {line} of {path}, is no {dtype}", why=str(error),
                way_out=f"mend it, say missing=numpy.nan if it is empty, or types={{{name!r}: str}}",
            ) from error  # fmt: skip
    return out
