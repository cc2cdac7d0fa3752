"""The folder of texts: no other user may write there, nothing half written is read, and it stays small."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import stat
import tempfile
from pathlib import Path
from typing import Any

from tangentc.errors import BadArgument

VARIABLE = "TANGENTC_CACHE"
MOST = 100_000_000  # bytes
KERNELS = "kernels"  # where the text of what Numba compiles lies, and what it makes of it


class Folder:
    """A folder of records, each a file of JSON under its key.

    Any number of processes may read and write at once: a file appears whole, or not at all.
    """

    def __init__(self, path: str | os.PathLike[str], most: int = MOST):
        self.path, self.most = Path(path).expanduser().absolute(), most
        try:
            self.path.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            raise BadArgument(
                f"the cache {self.path} cannot be made", why=str(error), way_out="name a folder of your own"
            ) from None
        if why := open_to_others(self.path):
            raise BadArgument(
                f"the cache {self.path} is not used", why=f"{why}, and what is read there is run",
                way_out="name a folder that only you can write to, or take the right from others: chmod go-w",
            )  # fmt: skip

    def get(self, key: str) -> Any:
        """The record under a key, None if there is none that can be read."""
        file = self.path / f"{key}.json"
        try:
            number = os.open(file, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
            with os.fdopen(number, encoding="utf-8") as stream:
                if not _is_own(os.fstat(number)):
                    return None
                found = json.load(stream)
            os.utime(file)  # what is used stays longest
        except (OSError, ValueError):
            return None
        return found

    def put(self, key: str, record: Any) -> None:
        """Keep a record; where that fails, as on a full disk, there is none."""
        with contextlib.suppress(OSError):
            self._write(self.path / f"{key}.json", json.dumps(record))
            self._forget_oldest()

    def module(self, text: str, made_by: str) -> str | None:
        """The file of a text whose functions are compiled: what a compiler keeps of them lies beside it, with what they
        call of this package, whose state is told by ``made_by``.  None where it cannot be written, or others can write
        there."""
        home = self.path / KERNELS
        file = home / f"kernels_{hashlib.sha256((made_by + text).encode()).hexdigest()[:32]}.py"
        try:
            home.mkdir(mode=0o700, exist_ok=True)
            (home / "__pycache__").mkdir(mode=0o700, exist_ok=True)
            if home.is_symlink() or open_to_others(home) or open_to_others(home / "__pycache__"):
                return None
            if not file.exists() or file.is_symlink() or file.read_text(encoding="utf-8") != text:
                self._write(file, text)
        except OSError:
            return None
        return str(file)

    def _write(self, file: Path, text: str) -> None:
        """Write a file whole or not at all."""
        number, name = tempfile.mkstemp(dir=file.parent, prefix=".", suffix=".part")
        try:
            with os.fdopen(number, "w", encoding="utf-8") as stream:
                stream.write(text)
            os.replace(name, file)
        except BaseException:
            os.unlink(name)
            raise

    def _forget_oldest(self) -> None:
        held = []
        for home in (self.path, self.path / KERNELS, self.path / KERNELS / "__pycache__"):
            for entry in os.scandir(home) if home.is_dir() else ():
                with contextlib.suppress(OSError):  # another process forgets too
                    if entry.is_file(follow_symlinks=False):
                        held.append((entry.stat().st_mtime, entry.stat().st_size, entry.path))
        total = sum(size for _, size, _ in held)
        for _, size, path in sorted(held):
            if total <= self.most:
                return
            with contextlib.suppress(OSError):
                os.unlink(path)
            total -= size


def open_to_others(path: Path) -> str:
    """Who else may put something into a folder, '' if nobody."""
    if not hasattr(os, "getuid"):
        return ""
    if path.stat().st_uid != os.getuid():
        return "it belongs to another user"
    if path.stat().st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        return "others may write there"
    for above in path.resolve().parents:
        found = above.stat()
        if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH) and not found.st_mode & stat.S_ISVTX:
            return f"others may put another folder in its place, in {above}"
        if found.st_uid not in (0, os.getuid()):
            return f"it lies in {above}, which belongs to another user"
    return ""


def _is_own(found: os.stat_result) -> bool:
    if not hasattr(os, "getuid"):
        return True
    return found.st_uid == os.getuid() and not found.st_mode & (stat.S_IWGRP | stat.S_IWOTH)


_in_use: dict[str, Folder | None] = {}


def cache(path: str | os.PathLike[str] | None, most: int = MOST) -> None:
    """Keep emitted text in a folder, where other processes find it: their first call does not compile again.

    ``path`` None is for no folder, ``most`` the bytes that the folder may hold; what was used longest ago goes first.
    The environment variable ``TANGENTC_CACHE`` names a folder as well.  Text is kept with what it was compiled for: the
    code of the function and of what it calls, the types of arguments and of data, and the versions of Python, of NumPy
    and of tangentc; it is found where all of that is the same.  It is plain text in JSON.  What Numba compiles of it is
    kept by Numba's own cache, beside a file with the text in ``kernels``.  Raises `BadArgument` if others can write to
    the folder, since what stands there is run.

    >>> import tangentc, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     tangentc.cache(folder)
    ...     tangentc.grad(lambda x: x * x)(3.0)
    ...     tangentc.cache(None)
    6.0
    """
    _in_use[""] = Folder(path, most) if path is not None else None


def in_use() -> Folder | None:
    """The folder that texts are kept in, None for none."""
    if "" in _in_use:
        return _in_use[""]
    path = os.environ.get(VARIABLE, "")
    if path and path not in _in_use:
        _in_use[path] = Folder(path)
    return _in_use[path] if path else None
