"""Finding a function's source, and making sure that it is the code that runs."""

from __future__ import annotations

import ast
import functools
import types
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tangentc.core import texts
from tangentc.errors import NoSource, Span, UnsupportedSyntax
from tangentc.frontend.prompt import FILE, typed
from tangentc.frontend.trees import walk

LONGEST = 96  # characters of a statement that is quoted whole


@dataclass(frozen=True)
class Source:
    """A function's syntax tree, and the lines of the file that it stands in."""

    tree: ast.FunctionDef | ast.Lambda
    file: str
    lines: tuple[str, ...]
    name: str

    def fresh_tree(self) -> Any:
        """The tree parsed once more, so that it may be changed."""
        module = ast.parse("".join(self.lines))
        kind, place = type(self.tree), (self.tree.lineno, self.tree.col_offset)
        return next(n for n in walk(module) if isinstance(n, kind) and (n.lineno, n.col_offset) == place)

    def span(self, node: Any) -> Span:
        """The place of a node, with the whole text of its first line."""
        text = self.lines[node.lineno - 1].rstrip("\n") if node.lineno <= len(self.lines) else ""
        end = node.end_col_offset if node.end_lineno == node.lineno else len(text)
        return Span(
            node.lineno, _column(text, node.col_offset), _column(text, end), text, self.file, self.name,
            statement=self.long_statements.get(node.lineno, ""),
        )  # fmt: skip

    @functools.cached_property
    def long_statements(self) -> dict[int, str]:
        """For each line of a statement, or of the head of one, that has several lines, what is quoted for it."""
        out: dict[int, str] = {}
        for node in walk(self.tree):
            if isinstance(node, ast.stmt) and node is not self.tree:
                end = _end_of_head(node)
                rows = self.lines[node.lineno - 1 : end]
                whole = _joined(rows) if len(rows) > 1 else ""
                out |= {node.lineno + k: whole or _part(row, rows[0]) for k, row in enumerate(rows) if len(rows) > 1}
        return out


@dataclass(frozen=True)
class Quoted(Source):
    """The source of a function that stands for a call: all of it is at the place of that call."""

    place: Span

    def span(self, node: Any) -> Span:
        return self.place


def _end_of_head(s: ast.stmt) -> int:
    """The last line of a simple statement, or of what stands before the colon of another one."""
    if not isinstance(s, (ast.If, ast.For, ast.While, ast.With)):
        return s.lineno if hasattr(s, "body") or hasattr(s, "cases") else s.end_lineno or s.lineno
    heads = [getattr(s, name, None) for name in ("test", "iter")] + [i.context_expr for i in getattr(s, "items", ())]
    return max((h.end_lineno or s.lineno for h in heads if h is not None), default=s.lineno)


def _joined(rows: Sequence[str]) -> str:
    """Rows as one, without the spaces that indent them; nothing if that is too long to quote."""
    if any("#" in row or "\\" in row for row in rows):
        return ""
    text = " ".join(row.strip() for row in rows)
    for bracket in "([{":
        text = text.replace(f"{bracket} ", bracket)
    for bracket in ")]}":
        text = text.replace(f", {bracket}", bracket).replace(f" {bracket}", bracket)
    return text if len(text) <= LONGEST else ""


def _part(row: str, first: str) -> str:
    """One row of a long statement, if that is an item of it; else how the statement begins."""
    text = row.split("#")[0].strip().removesuffix(",")
    closed = all(text.count(a) == text.count(b) for a, b in ("()", "[]", "{}"))
    return text if closed and (text[:1].isalnum() or text[:1] in "'\"_") else f"{first.strip()} ..."


def _column(text: str, byte_offset: int) -> int:
    return len(text.encode()[:byte_offset].decode(errors="ignore"))


def source_of(function: types.FunctionType) -> Source:
    """The source of ``function``.  Raises `NoSource` if there is none, or if it has changed since."""
    code = function.__code__
    file, name = code.co_filename, function.__name__
    lines = texts.lines(file, function.__globals__) or (typed(code) if file == FILE else [])
    if not lines:
        raise _missing(function)
    try:
        module = _parse("".join(lines), file)
    except SyntaxError:
        raise _stale(function) from None
    tree = _find(module, code)
    if tree is None:
        raise _stale(function)
    if isinstance(tree, ast.AsyncFunctionDef):
        raise UnsupportedSyntax(
            f"{name} is an async function", Source(tree, file, tuple(lines), name).span(tree),  # type: ignore[arg-type]
            why="there is no adjoint of a coroutine", way_out="move the mathematics into a plain function",
        )  # fmt: skip
    twins = module.codes.get((code.co_name, code.co_firstlineno), [])
    if not any(_same_code(code, twin) for twin in twins):
        has_assert = any(isinstance(node, ast.Assert) for node in walk(tree))
        if not has_assert or not any(_same_names(code, twin) for twin in twins):
            raise _stale(function)
    return Source(tree, file, tuple(lines), "<lambda>" if isinstance(tree, ast.Lambda) else tree.name)


MAGIC = "<magic-timeit>", "<timed exec>", "<timed eval>"
ABSENT = {
    FILE: "of what is typed or comes by a pipe Python has none but the history of its prompt, where this is not found",
    "<string>": "this one was made by exec or eval, or its file is gone",
    **dict.fromkeys(MAGIC, "IPython keeps none of a line of %time, %timeit and their kin"),
}


def _missing(function: types.FunctionType) -> NoSource:
    code = function.__code__
    return NoSource(
        f"the source of {function.__name__} cannot be found",
        Span(code.co_firstlineno, 0, 0, "", code.co_filename, function.__name__),
        why="tangentc reads a function's text, and " + ABSENT.get(code.co_filename, ABSENT["<string>"]),
        way_out="define the function in a cell before, and call it in this line"
        if code.co_filename in MAGIC
        else "put the function in a file, or in a notebook cell"
        + (", or type it in IPython or in Python 3.13" if code.co_filename == FILE else ""),
    )


def _stale(function: types.FunctionType) -> NoSource:
    code = function.__code__
    if code.co_filename == "<string>":  # the name that exec gives to any text
        return _missing(function)
    text = "".join(texts.lines(code.co_filename, function.__globals__)[code.co_firstlineno - 1 : code.co_firstlineno])
    return NoSource(
        f"the source of {function.__name__} is not the code that runs",
        Span(code.co_firstlineno, 0, len(text), text, code.co_filename, function.__name__),
        why="the file has changed since it was imported, so the text at this line belongs to something else",
        way_out="reload the module, or start Python again",
    )


class _Module:
    """The functions in a text: their trees by their names and first lines, and their code."""

    def __init__(self, tree: ast.Module, codes: list[types.CodeType]):
        self.trees: dict[tuple[str, int], list[Any]] = defaultdict(list)
        self.codes: dict[tuple[str, int], list[types.CodeType]] = defaultdict(list)
        for node in walk(tree):
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
                self.trees[node.name, min([node.lineno, *(d.lineno for d in node.decorator_list)])].append(node)
            elif isinstance(node, ast.Lambda):
                self.trees["<lambda>", node.lineno].append(node)
        for code in codes:
            self.codes[code.co_name, code.co_firstlineno].append(code)


@functools.lru_cache(maxsize=64)
def _parse(text: str, file: str) -> _Module:
    tree = ast.parse(text)
    codes, stack = [], [compile(text, file, "exec", dont_inherit=True)]
    while stack:
        code = stack.pop()
        codes.append(code)
        stack.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
    return _Module(tree, codes)


def _find(module: _Module, code: types.CodeType) -> Any:
    """The tree of a function; of several lambdas in a line that which stands where the code does."""
    found = module.trees.get((code.co_name, code.co_firstlineno), [])
    if code.co_name != "<lambda>" or not found:
        return found[0] if found else None
    places = [p for p in code.co_positions() if None not in p and p[2] != p[3]]
    if not places and len(found) > 1:  # Python 3.12 keeps no place of ``lambda: 2.0``
        value = repr(code.co_consts[-1])
        found = [n for n in found if isinstance(n.body, ast.Constant) and repr(n.body.value) == value]
        return found[0] if len({ast.dump(n) for n in found}) == 1 else None
    for node in found if places else ():
        body = node.body
        start, end = (body.lineno, body.col_offset), (body.end_lineno, body.end_col_offset)
        if max((p[1], p[3]) for p in places) == end and min((p[0], p[2]) for p in places) == start:
            return node
    return found[0] if len(found) == 1 else None


def _same_code(running: types.CodeType, written: types.CodeType) -> bool:
    def plain(code: types.CodeType) -> Any:
        consts = tuple(c.co_code if isinstance(c, types.CodeType) else repr(c) for c in code.co_consts)
        return code.co_code, consts, code.co_names, code.co_varnames

    return plain(running) == plain(written)


def _same_names(running: types.CodeType, written: types.CodeType) -> bool:
    """Whether two functions may be the same but for assertions, which a test runner may have rewritten."""
    return running.co_varnames[: running.co_argcount] == written.co_varnames[: written.co_argcount] and set(
        written.co_names
    ) <= set(running.co_names)
