"""The command ``tangentc``."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

EXAMPLES = """examples:
  tangentc show model.py:loss --wrt w,b
  tangentc show model.py:loss --wrt w --at "w=np.ones(3), X=np.ones((20, 3)), y=np.ones(20)"
"""


def main(argv: list[str] | None = None) -> int:
    """Run the command; the exit status is 0, or 1 if the function is refused, or 2 for a wrong call."""
    parser = argparse.ArgumentParser(prog="tangentc", description="Derivatives of NumPy functions as readable Python.",
                                     epilog=EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    show = commands.add_parser("show", help="print the emitted gradient of a function", epilog=EXAMPLES,
                               formatter_class=argparse.RawDescriptionHelpFormatter)  # fmt: skip
    show.add_argument("target", metavar="FILE:FUNCTION", help="where the function stands")
    show.add_argument(
        "--wrt", default="", help="parameters to differentiate by, separated by commas (default: the first)"
    )
    show.add_argument("--at", default="", help='arguments whose types to compile for: "x=np.ones(3), k=2.0"')
    show.add_argument(
        "--kind", choices=("grad", "value_and_grad", "adjoint", "jvp"), default="grad", help="what to emit"
    )
    options = parser.parse_args(argv)
    from tangentc.errors import TangentcError

    try:
        text = _show(options)
    except TangentcError as error:
        print(error, file=sys.stderr)
        return 1
    except _Usage as error:
        print(f"tangentc: {error}", file=sys.stderr)
        return 2
    print(_coloured(text) if sys.stdout.isatty() else text, end="")
    return 0


class _Usage(Exception):
    """The command was called in a way that makes no sense."""


def _show(options: Any) -> str:
    from tangentc.derivative import Derivative

    function = _load(options.target)
    wrt: Any = tuple(w.strip() for w in options.wrt.split(",") if w.strip()) or 0
    wrt = wrt[0] if isinstance(wrt, tuple) and len(wrt) == 1 else wrt
    derivative = Derivative(function, options.kind, wrt)
    if not options.at:
        return derivative.source
    return derivative.source_for(**_arguments(options.at))


def _arguments(text: str) -> dict[str, Any]:
    import numpy as np

    try:
        return eval(f"dict({text})", {"np": np, "numpy": np})
    except Exception as error:
        raise _Usage(f"--at {text!r} cannot be read: {error}") from None


def _load(target: str) -> Any:
    file, colon, name = target.rpartition(":")
    if not colon or not name:
        raise _Usage(f"{target!r} is not FILE:FUNCTION")
    path = Path(file)
    if not path.is_file():
        raise _Usage(f"there is no file {file}")
    module = _import(path)
    if not hasattr(module, name):
        raise _Usage(f"{file} has no function {name}")
    return getattr(module, name)


def _import(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise _Usage(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise _Usage(f"{path} cannot be imported: {type(error).__name__}: {error}") from None
    finally:
        sys.path.pop(0)
    return module


def _coloured(text: str) -> str:
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.lexers import PythonLexer
    except ImportError:
        return text
    return highlight(text, PythonLexer(), TerminalFormatter())


if __name__ == "__main__":
    sys.exit(main())
