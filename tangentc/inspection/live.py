"""A file that is being written: run again when it is saved, and what is shown of its functions then."""

from __future__ import annotations

import ast
import importlib
import importlib.util
import linecache
import os
import re
import sys
import time
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from tangentc.errors import Span, TangentcError

ARGUMENTS = "<arguments>"


@dataclass(frozen=True)
class Trouble:
    """What is wrong, as a person reads it, and the line of the served file that it is about, 0 if there is none."""

    text: str
    line: int = 0


class File:
    """A Python file, its module, and its functions, as they were when it could last be run.

    ``version`` counts how often it was read, ``trouble`` says why it could not be run the last time.
    """

    def __init__(self, path: Path):
        self.path = path.resolve()
        self.version, self.status = 0, ""
        self.module: ModuleType | None = None
        self.functions: dict[str, int] = {}  # with their lines
        self.trouble: Trouble | None = None
        self._others = frozenset(sys.modules)
        self._beside: dict[str, Path] = {}  # modules of the same folder that it imports
        self._stamps: dict[Path, Any] = {}

    def look(self) -> bool:
        """Run the file again if it has been saved, or a module of its folder that it imports; whether it was."""
        if not self.is_saved():
            return False
        self._stamps = stamps = self._now()
        for name in self._beside:
            sys.modules.pop(name, None)
        importlib.invalidate_caches()
        self.trouble = self._run()
        self._beside = dict(self._imported())
        self._stamps = {path: stamps.get(path, stamp) for path, stamp in self._now().items()}
        self.version += 1
        self.status = time.strftime("as saved at %X" if self.trouble is None else "the save at %X cannot be run")
        return True

    def is_saved(self) -> bool:
        """Whether there is something new since the last look."""
        return self._now() != self._stamps

    def _now(self) -> dict[Path, Any]:
        return {path: _stamp(path) for path in (self.path, *self._beside.values())}

    def function(self, name: str) -> Any:
        """A function of the file, or a method of one of its classes."""
        found: Any = self.module
        for part in name.split("."):
            found = getattr(found, part, None)
        return found.fget if isinstance(found, property) else found

    def arguments(self, text: str, more: str = "") -> tuple[tuple, dict[str, Any]]:
        """What ``text`` gives as arguments of a call, in the file's own names; those of the module ``more`` too."""
        import numpy as np

        scope = {"np": np, "numpy": np, **vars(self.module)}
        if more:
            importlib.import_module(more)
            scope[more.partition(".")[0]] = sys.modules[more.partition(".")[0]]
        scope["arguments of"] = lambda *args, **keywords: (args, keywords)
        tree = ast.parse(f"f({text}\n)", ARGUMENTS, "eval")
        if not isinstance(tree.body, ast.Call) or not isinstance(tree.body.func, ast.Name):
            raise ValueError("they are not those of one call")
        tree.body.func.id = "arguments of"
        given: tuple[tuple, dict[str, Any]] = eval(compile(tree, ARGUMENTS, "eval"), scope)
        return given

    def trouble_of(self, error: BaseException, what: str, way_out: str = "") -> Trouble:
        """What is told of an exception that was the end of ``what``."""
        if isinstance(error, TangentcError):
            line = error.span.line if error.span is not None and error.span.file == str(self.path) else 0
            return Trouble(self.short(str(error)), line)
        place, why = None, f"{type(error).__name__}: {error}".removesuffix(": ")
        frames = [f for f in traceback.extract_tb(error.__traceback__) if f.filename == str(self.path)]
        if isinstance(error, SyntaxError):
            why = error.msg
        if isinstance(error, SyntaxError) and Path(error.filename or ARGUMENTS).is_file():
            row, first, what = (error.text or "").rstrip("\n"), (error.offset or 1) - 1, f"{what}: it is not Python yet"
            end = (error.end_offset or 1) - 1 if error.end_lineno == error.lineno else len(row)
            place = Span(error.lineno or 0, first, end, row, error.filename or "", "the file")
        elif frames:
            row, function = frames[-1].line or "", frames[-1].name.replace("<module>", "the file")
            place = Span(frames[-1].lineno or 0, 0, len(row), row, str(self.path), function)
        told = TangentcError(what, place, why=why.rstrip("."), way_out=way_out)
        notes = "".join(f"\n{note}" for note in getattr(error, "__notes__", ()))
        noted = re.search(rf'File "{re.escape(str(self.path))}", line (\d+)', notes)
        line = int(noted[1]) if noted else place.line if place is not None and place.file == str(self.path) else 0
        return Trouble(self.short(f"{told}{notes}"), line)

    def short(self, text: str) -> str:
        """A message with the name of the file alone, without its folder."""
        return text.replace(str(self.path), self.path.name)

    def _run(self) -> Trouble | None:
        file, name = str(self.path), self.path.stem
        before = sys.modules.get(name), linecache.cache.get(file)
        module = ModuleType(name)
        module.__file__ = file
        try:
            text = importlib.util.decode_source(self.path.read_bytes())
            tree = ast.parse(text, file)
            code = compile(text, file, "exec", dont_inherit=True)
            # the text that this code is of, whatever is saved next
            linecache.cache[file] = (len(text), None, text.splitlines(True), file)
            sys.modules[name] = module
            exec(code, module.__dict__)
        except (Exception, SystemExit) as error:
            way_out = "mend it and save" + "; until then the page shows what was there before" * bool(self.module)
            trouble = self.trouble_of(error, f"{self.path.name} cannot be run", way_out)
            _put(sys.modules, name, before[0])
            _put(linecache.cache, file, before[1])
            return trouble
        self.module = module
        self.functions = {n: line for n, line in _functions(tree.body) if callable(self.function(n))}
        return None

    def _imported(self) -> Iterator[tuple[str, Path]]:
        for name, module in list(sys.modules.items()):
            file = getattr(module, "__file__", None) or ""
            if name in self._others or name.split(".")[0] in ("tangentc", self.path.stem) or not file.endswith(".py"):
                continue
            path = Path(file)
            if path.is_relative_to(self.path.parent) and "site-packages" not in path.parts:
                yield name, path


def _put(cache: dict[str, Any], key: str, value: Any) -> None:
    """Put back what was there, which may be nothing."""
    cache.pop(key, None)
    if value is not None:
        cache[key] = value


def _stamp(path: Path) -> tuple[int, int, int]:
    try:
        of = os.stat(path)
    except OSError:
        return 0, 0, 0
    return of.st_mtime_ns, of.st_size, of.st_ino


def _functions(body: list[Any], inside: str = "") -> Iterator[tuple[str, int]]:
    """The functions of a module and the methods of its classes; of those with special names ``__call__`` alone."""
    for s in body:
        if isinstance(s, (ast.FunctionDef, ast.AsyncFunctionDef)):
            if not s.name.startswith("__") or s.name == "__call__":
                yield f"{inside}{s.name}", s.lineno
        elif isinstance(s, ast.ClassDef):
            yield from _functions(s.body, f"{inside}{s.name}.")
        elif isinstance(s, (ast.If, ast.Try, ast.With)):
            parts = [s, *getattr(s, "handlers", ())]
            for part in parts:
                for name in ("body", "orelse", "finalbody"):
                    yield from _functions(getattr(part, name, []), inside)
