"""Texts that the compiler writes and runs, which tracebacks, debuggers and the compiler itself can read again.

`linecache` is where Python's tools look for lines; but it is a cache, which anybody may clear, and these texts stand in
no file that it could read them from again.  So they are kept here too.
"""

from __future__ import annotations

import ast
import itertools
import linecache
import sys
import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from types import FunctionType

from tangentc.core.nodes import Statement


@dataclass(frozen=True)
class Written:
    """A text, and for the number of a row of it the statement of the core form behind it."""

    text: str
    of: Mapping[int, Statement]


_kept: dict[str, Written] = {}
_brought: dict[str, str] = {}  # texts of other processes' files, by the names that their functions have here
_numbers = itertools.count(1)


def run(
    text: str, what: str, globals_: dict[str, object], names: dict[str, object] | None = None,
    of: Mapping[int, Statement] | None = None, tree: ast.Module | None = None, file: str | None = None,
) -> str:  # fmt: skip
    """Run a text under a name of its own, such as ``<tangentc f_adjoint 3>``, or that of a file which has it, and give
    this name back.

    ``tree`` may be its tree with something more in it, at the lines that it has in the text.
    """
    file = file or f"<tangentc {what} {next(_numbers)}>"
    _kept[file] = Written(text, of if of is not None else {})
    _show(file)
    with warnings.catch_warnings():  # constants stand where the user has names: `None(x)` in what is only tried
        warnings.simplefilter("ignore", SyntaxWarning)
        code = compile(tree or text, file, "exec", dont_inherit=True)
    exec(code, globals_, globals_ if names is None else names)
    return file


def is_emitted(function: FunctionType) -> bool:
    """Whether a function is one of these texts."""
    return function.__code__.co_filename in _kept


def bring(text: str, file: str) -> str:
    """Keep the text of a file that stands elsewhere, and give the name under which its lines are found."""
    name = next((k for k, known in _brought.items() if known == text), f"<{file}, brought {next(_numbers)}>")
    _brought[name] = text
    return name


def lines(file: str, globals_: dict[str, object]) -> list[str]:
    """The lines of a file, or of a text that was run under this name."""
    if file in _kept and file not in linecache.cache:
        _show(file)
    if file in _brought and file not in linecache.cache:
        linecache.cache[file] = (len(_brought[file]), None, _brought[file].splitlines(True), file)
    linecache.checkcache(file)
    return linecache.getlines(file, globals_) or (_of_command() if file == "<string>" else [])


def _of_command() -> list[str]:
    """The text that ``python -c`` was given: that of the functions in it, and not of what `exec` runs, which the caller
    finds out by their code."""
    given = sys.orig_argv[1:]
    return given[given.index("-c") + 1].splitlines(True) if "-c" in given[:-1] else []


def statement_of(file: str, line: int) -> Statement | None:
    """The statement of the core form behind a line of a text that was run under this name, None if there is none."""
    written = _kept.get(file)
    return written.of.get(line) if written is not None else None


def forget(file: str) -> None:
    """Forget a text whose functions are gone."""
    _kept.pop(file, None)
    linecache.cache.pop(file, None)


def _show(file: str) -> None:
    text = _kept[file].text
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
