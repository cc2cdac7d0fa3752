"""What MkDocs makes of the examples: no marks that only doctest needs, and emitted code in the colours of code."""

from __future__ import annotations

import re
from typing import Any

BLOCK = re.compile(r"^```pycon\n(.*?)^```$", re.M | re.S)
CODE = ("def ", "from ", "import ", "class ", '"""')


def on_page_markdown(markdown: str, **_: Any) -> str:
    """The page, each example of which is split where it shows code."""
    return BLOCK.sub(lambda block: shown(block[1]), markdown)


def shown(example: str) -> str:
    """One example: what was typed, and what it printed; printed code in a block of its own."""
    example = re.sub(r"  # doctest: \+\w+$", "", example, flags=re.M).rstrip("\n")
    parts: list[tuple[str, list[str]]] = [("pycon", [])]
    for line in example.split("\n"):
        kind, lines = parts[-1]
        typed = line.startswith(">>> ") or (line.startswith("... ") and bool(lines) and is_typed(lines[-1]))
        if typed and kind == "python":
            parts.append(("pycon", [line]))
        elif not typed and kind == "pycon" and line.startswith(CODE) and lines and is_typed(lines[-1]):
            parts.append(("python", [line]))
        else:
            lines.append("" if line == "<BLANKLINE>" else line)
    return "\n\n".join(f"```{kind}\n" + "\n".join(lines) + "\n```" for kind, lines in parts)


def is_typed(line: str) -> bool:
    return line.startswith((">>> ", "... "))
