"""Writing emitted code to a module of its own."""

from __future__ import annotations

import inspect
import types
from pathlib import Path
from typing import Any

from tangentc import runtime
from tangentc.core import ops
from tangentc.errors import BadArgument

LITERALS = (int, float, complex, str, bool, type(None))


def module_text(text: Any, live: dict[str, Any], name: str) -> str:
    """A module that imports only the array module and `math`: helpers, constants, then the program."""
    imports: list[str] = []
    helpers: list[str] = []
    for bound, value in sorted(text.bindings.items()):
        value = value.function if isinstance(value, ops.UserFunction) else value
        if isinstance(value, types.ModuleType) or type(value).__name__ == "Module":
            root = value.__name__
            imports.append(f"import {root} as {bound}" if bound != root else f"import {root}")
        elif getattr(runtime, bound, None) is value:
            helpers.append(inspect.getsource(value))  # type: ignore[arg-type]
        elif inspect.isfunction(value) and not value.__closure__:
            helpers.append(inspect.getsource(value))
        else:
            raise BadArgument(
                f"{name} cannot be exported, because it refers to {bound}",
                why="it is neither a plain function nor a number, so its text cannot be written into a module",
                way_out="pass it in as an argument",
            )
    constants = []
    for bound, value in sorted(live.items()):
        if not isinstance(value, LITERALS):
            raise BadArgument(
                f"{name} cannot be exported, because it reads {bound} from its module",
                why="only numbers and strings can be written into a module as constants",
                way_out=f"pass {bound} in as an argument",
            )
        constants.append(f"{bound} = {value!r}")
    if helpers and "import numpy as np" not in imports:
        imports.append("import numpy as np")
    parts = [f'"""{name}, written by tangentc."""', "\n".join(sorted(imports))]
    parts += ["\n".join(constants)] if constants else []
    body = "\n\n\n".join(part.strip("\n") for part in [*helpers, text.text])
    return "\n\n".join(p for p in parts if p) + "\n\n\n" + body + "\n"


def write(path: Any, text: str) -> Path:
    """Write a file whole or not at all."""
    target = Path(path)
    partial = target.with_name(target.name + ".partial")
    partial.write_text(text)
    partial.replace(target)
    return target
