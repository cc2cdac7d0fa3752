"""Python as HTML, in the colours of the page that it stands in, light or dark."""

from __future__ import annotations

import html
from collections.abc import Callable

COLOURS = {  # kind of token: class, colour on white, colour on black; all have a contrast of more than 4.5
    "Keyword": ("k", "#8a3ffc", "#c9a6ff"),
    "Name.Builtin": ("b", "#0f5fa8", "#7cc4ff"),
    "Name.Function": ("f", "#0f5fa8", "#7cc4ff"),
    "Literal.String": ("s", "#1a7335", "#7fd49a"),
    "Literal.Number": ("m", "#a2500a", "#ffb37a"),
    "Comment": ("c", "#63676e", "#9aa1ab"),
}
STYLE = "\n".join(
    f".tangentc-code .{name} {{color: light-dark({light}, {dark})}}" for name, light, dark in COLOURS.values()
)


def rows(code: str, mark: Callable[[int, str], str] | None = None) -> list[str]:
    """The rows of a text as HTML.  ``mark(row, name)`` gives attributes for a name that stands by itself."""
    from pygments.lexers import PythonLexer
    from pygments.token import Name

    out = [""]
    before = ""
    for kind, text in PythonLexer(stripnl=False, ensurenl=False).get_tokens(code):
        known = next((row[0] for name, row in COLOURS.items() if str(kind).startswith(f"Token.{name}")), "")
        is_name = kind in Name and kind is not Name.Function and before != "."
        attributes = mark(len(out), text) if mark is not None and is_name else ""
        for k, part in enumerate(text.split("\n")):
            if k:
                out.append("")
            if part and (known or attributes):
                out[-1] += f"<span{f' class={known}' * bool(known)}{attributes}>{html.escape(part)}</span>"
            else:
                out[-1] += html.escape(part)
        before = text.strip() or before
    return out


def fragment(code: str) -> str:
    """A text as a piece of HTML that stands alone, as in a notebook."""
    scheme = (
        ".tangentc-code {color-scheme: light dark}\n[data-jp-theme-light=true] .tangentc-code {color-scheme: light}"
    )
    dark = "[data-jp-theme-light=false] .tangentc-code {color-scheme: dark}"
    return f"<style>{scheme}\n{dark}\n{STYLE}</style>{block(code)}"


def block(code: str) -> str:
    """A text in a piece of HTML that has the style already."""
    body = "\n".join(rows(code))
    return f'<pre class="tangentc-code">{body}</pre>'
