"""The text of what was typed at Python's own prompt, which before 3.13 only readline's history has.

The history has lines, of this session and of others, and none of those that are empty.  So a text counts only if its
code is that of the function to the last instruction, constant and column.
"""

from __future__ import annotations

import ast
import sys
import types
from collections.abc import Iterator

FILE = "<stdin>"
MOST_LINES = 500  # of one statement


def typed(code: types.CodeType) -> list[str]:
    """The lines of the statement in which a function was typed, the latest that has its code; none if there is none."""
    history = _history()
    starts = ("lambda",) if code.co_name == "<lambda>" else (f"def {code.co_name}", "@")
    for number in reversed(range(len(history))):
        first = number - code.co_firstlineno + 1
        if first < 0 or history[first][0].isspace() or not any(start in history[number] for start in starts):
            continue
        lines = _statement(history[first : first + MOST_LINES])
        if any(code == one for one in _codes("".join(lines))):
            return lines
    return []


def _history() -> list[str]:
    readline = sys.modules.get("readline")  # which `site` imports where there is a prompt
    if readline is None:
        return []
    count = readline.get_current_history_length()
    return [f"{readline.get_history_item(k) or ''}\n" for k in range(1, count + 1)]


def _statement(lines: list[str]) -> list[str]:
    """The longest beginning of some lines that is one statement, which is what a prompt takes at once."""
    found = 0
    for end in range(1, len(lines) + 1):
        try:
            statements = ast.parse("".join(lines[:end])).body
        except (SyntaxError, ValueError):  # not yet a whole one
            continue
        if any(s.lineno > statements[0].lineno and s.col_offset == 0 for s in statements[1:]):
            break
        found = end
    return lines[:found]


def _codes(text: str) -> Iterator[types.CodeType]:
    """The code of a text, and of all functions in it."""
    try:
        waiting = [compile(text, FILE, "exec", dont_inherit=True)]
    except (SyntaxError, ValueError):
        return
    while waiting:
        code = waiting.pop()
        yield code
        waiting.extend(c for c in code.co_consts if isinstance(c, types.CodeType))
