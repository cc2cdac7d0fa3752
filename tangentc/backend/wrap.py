"""Long lines of emitted code, broken where they bind least, in brackets, each row behind the first bracket.

    x_bar = f(y, g(z)) * a + b    ->    x_bar = (f(y, g(z)) * a
                                                 + b)

Brackets are put around whole expressions only, so that nothing changes what is computed.
"""

from __future__ import annotations

import io
import tokenize
from collections.abc import Iterator, Sequence

WIDEST = 110
DEEPEST = 60  # column at which rows in brackets may begin
MANY, SHORT = 6, 30  # items, and characters of each, that stand in rows as in a paragraph
LITTLE = 16  # characters in brackets that are not worth a break
INDENT = "    "
# what binds least comes first: at these a row is broken
OPERATORS = (
    ("or",),
    ("and",),
    ("==", "!=", "<", "<=", ">", ">="),
    ("|",),
    ("&",),
    ("+", "-"),
    ("*", "/", "@", "//", "%"),
)
OPENING = ("return", "if", "elif", "while")
HEADS = (":", "=", "+=", "-=", "*=", "/=", "@=", "|=", "&=", "**=", "//=", "%=")


def wrapped(row: str) -> list[str]:
    """The rows that a row of code is broken into, itself if it is short or has no place to break."""
    if len(row) <= WIDEST:
        return [row]
    pad = row[: len(row) - len(row.lstrip())]
    text, end = (row.strip()[:-1], ":") if row.endswith(":") else (row.strip(), "")
    tail = "," if text.endswith(",") else ""
    text = text.removesuffix(",")
    try:
        tokens = list(_top_level(text))
    except (tokenize.TokenError, SyntaxError):  # one row of a text of several
        return [row]
    start = _head(text, tokens)
    head, body = text[:start], text[start:]
    if body.startswith("lambda ") or " for " in body and not body.endswith((")", "]", "}")):
        return [row]
    if any(word == "," and at > start for at, word in tokens):
        return _bracketed(f"{pad}{head}(", _items(body), f"{pad}){end}{tail}")
    if any(word == "," for _, word in tokens) and head.count(" = ") == 1 and body.endswith("()"):
        return _bracketed(f"{pad}(", _items(head.removesuffix(" = ")), f"{pad}) = {body}")
    if pieces := _operands(text, tokens, start):
        return _bracketed(pad + head + "(", pieces, f"{pad}){end}{tail}")
    opened = [at for at, word in tokens if word in ("(", "[", "{") and at >= start]
    if not opened or text[-1] not in ")]}":
        return [row]
    at, close = opened[-1], len(text) - 1
    if close - at <= LITTLE and len(opened) > 1 and text[at - 1] in ")]}":  # f(...)[:, None]
        at, close = opened[-2], at - 1
    inner = text[at + 1 : close]
    group = at == 0 or not (text[at - 1].isalnum() or text[at - 1] in "_)]}")  # and not a call
    pieces = _operands(inner, list(_top_level(inner)), 0) if group and text[at] == "(" else []
    return _bracketed(pad + text[: at + 1], pieces or _items(inner), f"{pad}{text[close:]}{end}{tail}")


def _operands(text: str, tokens: Sequence[tuple[int, str]], start: int) -> list[str]:
    """What the operators that bind least stand between, each operator with what follows it; nothing if none does."""
    for operators in OPERATORS:
        places = [at for k, (at, word) in enumerate(tokens) if at > start and word in operators and _binary(tokens, k)]
        if places and not _chooses(tokens, start):
            return [text[a:b].strip() for a, b in zip([start, *places], [*places, len(text)])]
    return []


def _items(text: str) -> list[str]:
    """The items of a list, each with its comma; a comprehension is one item."""
    tokens = list(_top_level(text))
    commas = [at + 1 for at, word in tokens if word == ","] if all(word != "for" for _, word in tokens) else []
    pieces = [text[a:b].strip() for a, b in zip([0, *commas], [*commas, len(text)])]
    if commas and pieces[-1] and not pieces[-1].startswith("*"):
        pieces[-1] += ","
    return [p for p in pieces if p]


def _bracketed(first: str, pieces: Sequence[str], last: str) -> list[str]:
    """Pieces in brackets: below one another behind the first bracket; where there is no room, in rows of their own."""
    rows = _aligned(first, pieces, last.strip()) if len(first) <= DEEPEST else []
    if rows and max(map(len, rows)) <= WIDEST:
        return rows
    pad = first[: len(first) - len(first.lstrip())] + INDENT
    in_one = pad + " ".join(pieces)
    in_one = in_one.removesuffix(",") if len(pieces) > 1 else in_one  # of one item the comma makes a tuple
    if len(in_one) <= WIDEST:
        return [first, in_one, last]
    if len(pieces) >= MANY and all(len(p) <= SHORT for p in pieces):
        return [first, *_filled(pieces, pad), last]
    rows = [row for piece in pieces for row in wrapped(pad + piece)]
    if len(pieces) == 1 and pieces[0][0] != "(" and rows[0] == f"{pad}(" and rows[-1] == f"{pad})":  # one pair will do
        rows = [row.removeprefix(INDENT) for row in rows[1:-1]]
    return [first, *rows, last]


def _aligned(first: str, pieces: Sequence[str], last: str) -> list[str]:
    """As many pieces in a row as it takes, each row beginning where the first piece does; nothing where one of them
    would be broken into rows that begin elsewhere."""
    pad, rows = " " * len(first), [first]
    for k, piece in enumerate(pieces):
        ends = k == len(pieces) - 1
        piece = piece.removesuffix(",") if ends and k else piece  # of one item the comma makes a tuple
        room = WIDEST - len(last) * ends - len(piece)
        if k and len(rows[-1]) + 1 <= room:
            rows[-1] += f" {piece}"
            continue
        new = [pad + piece] if len(pad) <= room else wrapped(pad + piece)
        if any(row.endswith(("(", "[", "{")) for row in new):
            return []
        rows = [first + new[0].lstrip(), *new[1:]] if not k else rows + new
    return [*rows[:-1], rows[-1] + last]


def _filled(pieces: Sequence[str], pad: str) -> Iterator[str]:
    """As many pieces in a row as it takes."""
    row = pad + pieces[0]
    for piece in pieces[1:]:
        if len(row) + 1 + len(piece) > WIDEST:
            yield row
            row = pad + piece
        else:
            row += f" {piece}"
    yield row


def _top_level(text: str) -> Iterator[tuple[int, str]]:
    """The tokens outside of all brackets, and the brackets themselves, with their places."""
    depth = 0
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type in (tokenize.NEWLINE, tokenize.NL, tokenize.ENDMARKER):
            continue
        if token.string in (")", "]", "}"):
            depth -= 1
        elif depth == 0:
            yield token.start[1], token.string
        if token.string in ("(", "[", "{"):
            depth += 1


def _head(text: str, tokens: Sequence[tuple[int, str]]) -> int:
    """Where the expression begins, after ``x =``, ``return``, ``axis=``, a key or the operator of a broken row."""
    if not tokens or any(word == "lambda" for _, word in tokens):
        return 0
    assigned = [at + len(word) for at, word in tokens if word in HEADS]
    first = tokens[0][1]
    spaced = text[len(first) : len(first) + 1] == " "  # and not a sign
    begins = first in OPENING or spaced and any(first in group for group in OPERATORS)
    start = assigned[-1] if assigned else len(first) if begins else 0
    return start + (text[start : start + 1] == " ")


def _binary(tokens: Sequence[tuple[int, str]], k: int) -> bool:
    """Whether an operator has an operand on its left, and is not a sign."""
    return k > 0 and not any(tokens[k - 1][1] in group for group in (*OPERATORS, HEADS, (*OPENING, "not", "**", ",")))


def _chooses(tokens: Sequence[tuple[int, str]], start: int) -> bool:
    return any(word in ("if", "lambda", "for", ",") and at >= start for at, word in tokens)
