"""Syntax tree to text, with the primal line that each adjoint statement differentiates as a comment.

The printer is astor's.  What astor does not know is given to `ast.unparse`, long lines are broken as in
`tangentc.backend.wrap`, and the text is read back and compared.
"""

from __future__ import annotations

import ast
import functools
import warnings
from typing import Any

from tangentc.backend.raise_ast import Line
from tangentc.backend.wrap import wrapped
from tangentc.core.nodes import Statement
from tangentc.errors import InternalError

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)
    import astor.code_gen
    import astor.op_util

WIDTH = 100
UNPARSED = ("JoinedStr", "Constant", "Match", "TemplateStr", "Interpolation", "TypeAlias", "TryStar")


class Printer(astor.code_gen.SourceGenerator):
    """Prints a tree; `Line`s print as their statement under or beside the line they differentiate."""

    def visit_Line(self, node: Line) -> None:
        self.visit(node.statement)

    def visit_Comment(self, node: Any) -> None:
        self.statement(node, "# ", node.text)

    def statement(self, node: Any, *params: Any, **kw: Any) -> None:
        super().statement(node, *params, **kw)

    def visit_ListComp(self, node: ast.ListComp) -> None:
        astor.code_gen.set_precedence(astor.op_util.Precedence.Comma, node.elt)
        super().visit_ListComp(node)

    def unparsed(self, node: Any) -> None:
        text = ast.unparse(ast.fix_missing_locations(node))
        if (
            isinstance(node, ast.Constant)
            and isinstance(node.value, str)
            and text[0] == "'"
            and '"' not in text
            and "\\" not in text
        ):
            text = f'"{text[1:-1]}"'
        self.write(text)


for _name in UNPARSED:
    setattr(Printer, "visit_" + _name, Printer.unparsed)
for _name, _kind in vars(ast).items():  # what astor does not know
    if isinstance(_kind, type) and issubclass(_kind, (ast.expr, ast.stmt)) and not hasattr(Printer, "visit_" + _name):
        setattr(Printer, "visit_" + _name, Printer.unparsed)


def print_tree(tree: ast.AST) -> str:
    """The text of a tree without comments."""
    printer = Printer("    ", False)
    printer.visit(tree)
    printer.result.append("\n")
    return "".join(map(str, printer.result)).strip("\n") + "\n"


class Rows(list[str]):
    """The rows of a text; ``of`` has for the number of a row, from 1, the statement of the core form behind it."""

    def __init__(self) -> None:
        super().__init__()
        self.of: dict[int, Statement] = {}

    def add(self, rows: list[str], node: ast.stmt) -> None:
        """Add the rows of a statement."""
        for row in rows:
            self.append(row)
            if (of := getattr(node, "of", None)) is not None:
                self.of[len(self)] = of

    def under(self, decorator: str) -> None:
        """Put a decorator above the function."""
        self.insert(0, decorator)
        self.of = {k + 1: s for k, s in self.of.items()}

    @property
    def text(self) -> str:
        return "\n".join(self) + "\n"


def print_function(tree: ast.FunctionDef) -> Rows:
    """The rows of an emitted function, comments included.  Raises `InternalError` if they do not read back."""
    lines = Rows()
    _header(tree, lines)
    _block(tree.body, 1, lines)
    _check(lines.text, tree)
    return lines


def _header(tree: ast.FunctionDef, lines: Rows) -> None:
    args = []
    first = len(tree.args.args) - len(tree.args.defaults)
    for k, arg in enumerate(tree.args.args):
        default = f"={_one_line(tree.args.defaults[k - first])}" if k >= first else ""
        args.append(arg.arg + default)
    lines.append(f"def {tree.name}({', '.join(args)}):")


def _one_line(node: ast.AST) -> str:
    if isinstance(node, ast.Tuple):
        items = ", ".join(map(_one_line, node.elts))
        return f"({items},)" if len(node.elts) == 1 else f"({items})"
    return print_tree(ast.Expr(node) if isinstance(node, ast.expr) else node).strip()  # type: ignore[arg-type]


def _block(body: list[ast.stmt], depth: int, lines: Rows) -> None:
    pad = "    " * depth
    k = 0
    while k < len(body):
        s = body[k]
        if isinstance(s, Line):
            group = [s]
            while k + len(group) < len(body) and isinstance(other := body[k + len(group)], Line) and (
                other.span.file, other.span.function, other.span.quoted
            ) == (s.span.file, s.span.function, s.span.quoted):  # fmt: skip
                group.append(other)
            k += len(group)
            _group(group, pad, lines)
            continue
        k += 1
        if isinstance(s, ast.If):
            _branch(s, depth, lines, "if")
        elif isinstance(s, (ast.For, ast.While)):
            if isinstance(s, ast.For):
                target = _one_line(s.target)
                if isinstance(s.target, ast.Tuple):
                    target = target.removeprefix("(").removesuffix(")")
                lines.add([f"{pad}for {target} in {_one_line(s.iter)}:"], s)
            else:
                lines.add(wrapped(f"{pad}while {_one_line(s.test)}:"), s)
            _block(s.body, depth + 1, lines)
        elif isinstance(s, ast.With):
            lines.add(wrapped(f"{pad}with {', '.join(map(_manager, s.items))}:"), s)
            _block(s.body, depth + 1, lines)
        elif isinstance(s, ast.Expr) and isinstance(s.value, ast.Constant) and isinstance(s.value.value, str):
            doc = s.value.value.replace("\\", "\\\\").replace('"""', r"\"\"\"")
            lines.extend((pad + row).rstrip() for row in f'"""{doc}"""'.split("\n"))
        else:
            lines.add(_rows(s, pad), s)


def _manager(item: ast.withitem) -> str:
    return _one_line(item.context_expr) + (f" as {_one_line(item.optional_vars)}" if item.optional_vars else "")


def _rows(s: ast.stmt, pad: str) -> list[str]:
    """A statement at its indentation, over several rows if it is long."""
    if isinstance(s, ast.Assert):  # its message stands behind a comma that no parenthesis may hold
        return [pad + row for row in _statement(s)]
    return [row for text in _statement(s) for row in wrapped(pad + text)]


def _statement(s: ast.stmt) -> list[str]:
    text = print_tree(s).strip("\n")
    if isinstance(s, ast.Return) and isinstance(s.value, ast.Tuple):
        if len(s.value.elts) > 1:
            return ["return " + ", ".join(_one_line(e) for e in s.value.elts)]
        return [f"return {_one_line(s.value)}"]
    return text.split("\n")


def _branch(s: ast.If, depth: int, lines: Rows, word: str) -> None:
    pad = "    " * depth
    lines.add(wrapped(f"{pad}{word} {_one_line(s.test)}:"), s)
    _block(s.body, depth + 1, lines)
    if len(s.orelse) == 1 and isinstance(s.orelse[0], ast.If):
        _branch(s.orelse[0], depth, lines, "elif")
    elif s.orelse:
        lines.append(f"{pad}else:")
        _block(s.orelse, depth + 1, lines)


def _group(group: list[Line], pad: str, lines: Rows) -> None:
    """The statements that differentiate one line: its text beside one statement, above several."""
    comment = "# " + group[0].span.quoted
    parts = [(_rows(line.statement, pad), line.statement) for line in group]
    rows = parts[0][0] if len(parts) == 1 else []
    is_said = _is_quoted(comment, pad, lines)
    if len(rows) == 1 and len(rows[0]) + len(comment) + 2 <= WIDTH and not is_said:
        lines.add([f"{rows[0]}  {comment}"], group[0].statement)
        return
    if not is_said:
        lines.append(pad + comment)
    for own, statement in parts:
        lines.add(own, statement)


def _is_quoted(comment: str, pad: str, lines: Rows) -> bool:
    """Whether a line is quoted beside the row before, or above rows of the same block with no other quotation since."""
    if lines and lines[-1].endswith(comment):
        return True
    for row in reversed(lines):
        if row == pad + comment:
            return True
        if "# " in row or row.endswith(":") or row.strip() and not row.startswith(pad):
            return False
    return False


def _check(text: str, tree: ast.FunctionDef) -> None:
    try:
        printed = ast.parse(text).body[0]
    except SyntaxError as error:
        raise InternalError(
            f"the text of {tree.name} cannot be read back", why=f"{error}", way_out="report this, with the function"
        ) from None
    if not _same(printed, tree):
        raise InternalError(
            f"the text of {tree.name} reads back as something else", why="the printer changed its meaning",
            way_out="report this, with the function",
        )  # fmt: skip


IGNORED = {"ctx", "kind", "type_comment", "type_params", "returns", "decorator_list"}


@functools.cache
def _compared(kind: type[ast.AST]) -> tuple[str, ...]:
    """The fields of a node that its meaning lies in."""
    return tuple(f for f in kind._fields if f not in IGNORED)


def _same(a: Any, b: Any) -> bool:
    stack = [(a, b)]
    while stack:
        x, y = stack.pop()
        while isinstance(y, Line):
            y = y.statement
        if isinstance(x, ast.AST):
            if type(x) is not type(y):
                return False
            if isinstance(x, ast.Expr) and isinstance(x.value, ast.Constant) and isinstance(x.value.value, str):
                continue  # a docstring is indented
            stack += [(getattr(x, f, None), getattr(y, f, None)) for f in _compared(type(x))]  # type: ignore[arg-type]
        elif isinstance(x, list):
            if len(x) != len(y or ()):
                return False
            stack += zip(x, y or (), strict=True)
        elif (type(x) is not type(y) or x != y) and not (x is None and y == []):
            return False
    return True
