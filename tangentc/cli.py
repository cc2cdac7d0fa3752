"""The command ``tangentc``."""

from __future__ import annotations

import argparse
import importlib.util
import os
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

EXAMPLES = """examples:
  tangentc show model.py:loss --wrt w,b
  tangentc show model.py:loss --wrt w --at "w=np.ones(3), X=np.ones((20, 3)), y=np.ones(20)" --annotate
  tangentc stages model.py:loss --args model:example
  tangentc explain model.py:cost --at "y=5.0, w=2.0, x=1.0, b=1.0"
  tangentc trace model.py:loss --args model:example
  tangentc check model.py:loss --args model:example
  tangentc graph model.py:cost --at "y=5.0, w=2.0, x=1.0, b=1.0" -o cost.svg
  tangentc report model.py:loss --args model:example -o loss.html
  tangentc serve model.py --function loss --args model:example
  tangentc build model.py:loss --wrt w -o loss_grad.py --args model:example
  tangentc build model.py:loss --wrt w -o loss_grad.py --args model:example --check

The arguments are given by --at, or by --args, which names a function that returns them, in a tuple or a dict.
The exit status is 0; 1 where the function is refused, a check fails, or a file is out of date; 2 for a wrong call.
"""
COMMANDS = {
    "show": "print the emitted derivative of a function",
    "stages": "print the program after every pass of the compiler",
    "explain": "print each value with its local derivatives and its adjoint",
    "trace": "run the gradient, and print what each statement computed",
    "check": "compare the derivatives with finite differences",
    "graph": "print the computational graph, as text for Graphviz or Mermaid, or as SVG",
    "report": "write a page that shows all of this, for a browser",
    "serve": "show the functions of a file in a browser, with their derivatives, anew at each save; runs the file",
    "build": "write the derivative to a module that needs NumPy alone",
}


def main(argv: list[str] | None = None) -> int:
    """Run the command; the exit status is 0, 1 if the function is refused or a check fails, 2 for a wrong call."""
    options = _parser().parse_args(argv)
    from tangentc.errors import BadArgument, TangentcError

    try:
        text, status = _RUN[options.command](options)
        if options.output and options.command not in ("build", "report"):
            Path(options.output).write_text(text if text.endswith("\n") else text + "\n")
            return status
    except TangentcError as error:
        print(error, file=sys.stderr)
        return 2 if isinstance(error, BadArgument) else 1
    except _Usage as error:
        print(f"tangentc: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"tangentc: {options.output} cannot be written: {error.strerror}", file=sys.stderr)
        return 2
    is_code = options.command in ("show", "stages") and sys.stdout.isatty()
    try:
        print(_coloured(text) if is_code else text, end="" if text.endswith("\n") or not text else "\n", flush=True)
    except BrokenPipeError:  # nobody reads on, as with `| head`
        sys.stdout = open(os.devnull, "w")
    return status


def _parser() -> argparse.ArgumentParser:
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(prog="tangentc", description="Derivatives of NumPy functions as readable Python.",
                                     epilog=EXAMPLES, formatter_class=raw)  # fmt: skip
    parser.add_argument("--version", action="version", version=f"tangentc {_version()}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    for name, does in COMMANDS.items():
        command = commands.add_parser(name, help=does, description=does, epilog=EXAMPLES, formatter_class=raw)
        if name == "serve":
            command.add_argument("target", metavar="FILE", help="the file; it is run when it is saved")
            command.add_argument(
                "--function", default="", metavar="NAME", help="that is shown first; the arguments are its"
            )
            command.add_argument("--port", type=int, default=0, metavar="N", help="(default: one that is free)")
            command.add_argument("--no-browser", action="store_true", help="only print the address")
        else:
            command.add_argument("target", metavar="FILE:FUNCTION", help="where the function stands")
        command.add_argument("--wrt", default="", help="parameters, separated by commas (default: the first)")
        command.add_argument("--at", default="", help='the arguments: "x=np.ones(3), k=2.0"')
        command.add_argument(
            "--args", default="", metavar="MODULE:FUNCTION", help="a function that gives the arguments"
        )
        if name == "serve":
            command.set_defaults(output="")
        else:
            command.add_argument("-o", "--output", default="", metavar="FILE", help="write to a file")
        if name in ("show", "build"):
            kinds = ("grad", "value_and_grad", "adjoint", "jvp")
            command.add_argument("--kind", choices=kinds, default="grad", help="what to emit")
            command.add_argument("--module", choices=("numpy", "cupy"), default="numpy", help="for whose arrays")
            command.add_argument("--kernels", choices=("numba", "cuda", "cuda in order"), help="compile the loops")
            command.add_argument("--threads", type=int, help="let so many threads share a compiled loop")
        if name == "show":
            command.add_argument("--annotate", action="store_true", help="with the type of what each line makes")
        if name == "graph":
            command.add_argument("--format", choices=("dot", "mermaid", "svg"), default="", help="(default: dot)")
        if name == "build":
            command.add_argument("--check", action="store_true", help="fail if the file on disk is out of date")
        if name == "check":
            command.add_argument("--order", type=int, choices=(1, 2), default=2, help="derivatives of this order")
    return parser


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("tangentc")
    except PackageNotFoundError:
        return "of a folder that is not installed"


class _Usage(Exception):
    """The command was called in a way that makes no sense."""


def _derivative(options: Any) -> Any:
    from tangentc.derivative import Derivative

    kernels, threads = getattr(options, "kernels", None), getattr(options, "threads", None)
    kind = getattr(options, "kind", "grad")
    return Derivative(_load(options.target), kind, _wrt(options), kernels=kernels, threads=threads)


def _wrt(options: Any) -> Any:
    from tangentc.arguments import wrt_of

    wrt = wrt_of(options.wrt)
    return 0 if wrt == () else wrt


def _name(options: Any, function: Any) -> str | None:
    """The name of the one parameter that ``--wrt`` says, None if it says none."""
    import inspect

    from tangentc.arguments import positions

    wrt = _wrt(options) if options.wrt else None
    if isinstance(wrt, tuple):
        raise _Usage(f"{options.command} takes one parameter for --wrt")
    names = list(inspect.signature(function).parameters)
    return names[positions(wrt, names, function)[0][0]] if isinstance(wrt, int) else wrt


def _emitted(options: Any) -> Any:
    """The derivative and its code, for arguments of these types, or of any."""
    from tangentc.core.types import Unknown
    from tangentc.core.values import types_of
    from tangentc.errors import TangentcError
    from tangentc.integers import settled

    derivative = _derivative(options)
    given = _arguments(options, derivative.given)
    if given is None:
        types: list[Any] = [Unknown("no arguments are given") for _ in derivative.signature().parameters]
        types = types[: len(types) - (derivative.kind == "adjoint")]
        try:
            return derivative, derivative._compile(types, options.module)
        except TangentcError:
            _say_of_any(derivative)
            raise
    else:
        fitted = derivative.fitted(*given)
        plain = type(derivative)(fitted.function, "grad", fitted.wrt) if derivative.kind == "adjoint" else fitted
        bound = plain.bind(*given)
        types = types_of(bound)
        moving = fitted.positions(types)[0]
        return fitted, settled(lambda types: fitted._compile(types, options.module), types, bound, moving, ())[0]


def _say_of_any(derivative: Any) -> None:
    hint = _at(derivative.given)
    print(f"tangentc: this is for arguments of any kind; for yours say {hint}", file=sys.stderr)


def _show(options: Any) -> tuple[str, int]:
    if not options.annotate:
        derivative, emitted = _emitted(options)
        if not options.at and not options.args:
            _say_of_any(derivative)
        return emitted.text.whole, 0
    derivative = _derivative(options)
    args, keywords = _needed(options, derivative.given)
    return derivative.source_for(*args, annotate=True, **keywords), 0


def _stages(options: Any) -> tuple[str, int]:
    from tangentc.inspection.stages import stages

    derivative = _derivative(options)
    args, keywords = _needed(options, derivative.given)
    fitted = derivative.fitted(args, keywords)
    return str(stages(fitted, *fitted.bind(args, keywords))), 0


def _explain(options: Any) -> tuple[str, int]:
    from tangentc.inspection.explain import explain

    function = _load(options.target)
    args, keywords = _needed(options, function)
    bound = _by_position(function, args, keywords)
    return str(explain(function, *bound, wrt=_name(options, function))), 0


def _trace(options: Any) -> tuple[str, int]:
    from tangentc.inspection.trace import trace

    derivative = _derivative(options)
    args, keywords = _needed(options, derivative.given)
    import numpy as np

    with np.errstate(all="ignore"):
        return str(trace(derivative)(*args, **keywords)), 0


def _graph(options: Any) -> tuple[str, int]:
    from tangentc.inspection.graph import graph

    function = _load(options.target)
    picture = graph(function, *_by_position(function, *_needed(options, function)))
    suffix = Path(options.output).suffix
    kind = options.format or {
        ".svg": "svg",
        ".mmd": "mermaid",
        ".dot": "dot",
        ".gv": "dot",
        ".txt": "dot",
        "": "dot",
    }.get(suffix)
    if kind is not None:
        return getattr(picture, kind)(), 0
    _drawn(picture.dot(), suffix, options.output)
    options.output = ""  # it is written
    return "", 0


def _drawn(text: str, suffix: str, file: str) -> None:
    """Let Graphviz draw a graph in a format that it knows."""
    import shutil
    import subprocess

    dot = shutil.which("dot")
    if dot is None:
        raise _Usage(
            f"a graph is drawn as {suffix} by dot of Graphviz, which is not there: write {Path(file).stem}.svg"
        )
    done = subprocess.run([dot, f"-T{suffix[1:]}", "-o", file], input=text, capture_output=True, text=True)
    if done.returncode:
        raise _Usage(f"{file} cannot be drawn: {done.stderr.strip().splitlines()[0]}")


def _check(options: Any) -> tuple[str, int]:
    import contextlib
    import io
    import warnings

    from tangentc.inspection.check import CannotTell, GradientMismatch, check_grads

    function = _load(options.target)
    args = _by_position(function, *_needed(options, function))
    shown = io.StringIO()
    shown.isatty = sys.stdout.isatty  # type: ignore[method-assign]  # what it is for is shown there
    try:
        with contextlib.redirect_stdout(shown), warnings.catch_warnings():
            warnings.simplefilter("ignore", CannotTell)  # which the table says
            check_grads(function, args, order=options.order, wrt=_wrt(options) if options.wrt else None)
    except GradientMismatch as error:
        return str(error), 1
    return shown.getvalue(), 0


def _report(options: Any) -> tuple[str, int]:
    from tangentc.inspection.report import report

    if not options.output:
        raise _Usage("report needs -o FILE")
    derivative = _derivative(options)
    args, keywords = _needed(options, derivative.given)
    page = report(derivative, *args, path=options.output, **keywords)
    return f"{page} has been written", 0


def _serve(options: Any) -> tuple[str, int]:
    from tangentc.inspection.live import File
    from tangentc.inspection.serve import serve
    from tangentc.inspection.view import Asked

    path = Path(options.target)
    if not path.is_file() and options.target.count(":"):  # as the other commands have it
        file, _, options.function = options.target.rpartition(":")
        path = Path(file)
    if not path.is_file():
        raise _Usage(f"there is no file {path}")
    if options.at and options.args:
        raise _Usage("give --at or --args, not both")
    module, _, maker = options.args.removesuffix("()").partition(":")
    if options.args and not maker:
        raise _Usage(f"{options.args!r} is not MODULE:FUNCTION")
    sys.path.insert(0, str(path.resolve().parent))
    sys.dont_write_bytecode = True  # which would be taken for new for the rest of the second
    is_own = module.removesuffix(".py") == path.stem
    call = f"{maker}()" if is_own or not maker else f"{module}.{maker}()"
    first = Asked(options.function or None, options.at, options.wrt, "" if is_own else module, call if maker else "")
    file = File(path)
    try:
        file.look()
        if options.function and file.trouble is None and options.function not in file.functions:
            raise _Usage(f"{path} has no function {options.function}")
        serve(file, first, options.port, not options.no_browser)
    except (OSError, OverflowError) as error:
        raise _Usage(f"port {options.port} cannot be used: {getattr(error, 'strerror', None) or error}") from None
    except KeyboardInterrupt:
        pass
    return "", 0


def _build(options: Any) -> tuple[str, int]:
    from tangentc.backend.export import write
    from tangentc.inspection.export import text_of

    if not options.output:
        raise _Usage("build needs -o FILE")
    derivative, compiled = _emitted(options)
    module = text_of(derivative, compiled)
    target = Path(options.output)
    if options.check:
        old = target.read_text() if target.is_file() else ""
        if old == module:
            return f"{target} is up to date", 0
        import difflib

        rows = difflib.unified_diff(old.splitlines(True), module.splitlines(True), str(target), "tangentc build")
        return f"{target} is out of date: run tangentc build without --check\n\n{''.join(rows)}", 1
    write(target, module)
    return f"{target} has been written", 0


_RUN = {"show": _show, "stages": _stages, "explain": _explain, "trace": _trace, "check": _check, "graph": _graph,
        "report": _report, "serve": _serve, "build": _build}  # fmt: skip


def _by_position(function: Any, args: tuple, keywords: dict[str, Any]) -> tuple:
    import inspect

    try:
        bound = inspect.signature(function).bind(*args, **keywords)
    except TypeError as error:
        raise _Usage(f"the arguments do not fit: {error}; say {_at(function)}") from None
    return tuple(bound.arguments.values())


def _needed(options: Any, function: Any) -> tuple[tuple, dict[str, Any]]:
    given = _arguments(options, function)
    if given is None:
        raise _Usage(f"{options.command} needs arguments: {_at(function)}, or --args MODULE:FUNCTION")
    return given


def _at(function: Any) -> str:
    """How the arguments of a function are given: ``--at "w=np.ones(3), x=np.ones(3)"``, of a method ``self=Line()``."""
    import inspect

    owner, _, _ = getattr(function, "__qualname__", "").rpartition(".")
    of_class = function.__globals__.get(owner) if inspect.isfunction(function) else None
    kinds = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    parameters = inspect.signature(function).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.kind not in kinds]
    examples = dict.fromkeys(needed, "np.ones(3)")
    if isinstance(of_class, type) and needed and needed[0] == next(iter(parameters)).name:
        made = inspect.signature(of_class).parameters.values()
        more = any(p.default is p.empty and p.kind not in kinds for p in made)
        examples[needed[0]] = f"{owner}({'...' * more})"
    return f'--at "{", ".join(f"{name}={value}" for name, value in examples.items())}"'


def _arguments(options: Any, function: Any) -> tuple[tuple, dict[str, Any]] | None:
    """The arguments that the command is given, by position and by name."""
    import numpy as np

    if options.at and options.args:
        raise _Usage("give --at or --args, not both")
    if not options.args and not options.at:
        return None
    if options.args:
        made = _made_by(_load_by_name(options.args, options.target), options.args)
        given = ((), made) if isinstance(made, dict) else (made if isinstance(made, tuple) else (made,), {})
    else:
        try:
            inner = getattr(function, "__tangentc_given__", function)
            names = {"np": np, "numpy": np, **getattr(inner, "__globals__", {})}  # those of the file
            given = (), eval(f"dict({options.at})", names)
        except Exception as error:
            raise _Usage(f"--at {options.at!r} cannot be read: {error}") from None
    _by_position(function, *given)
    return given


def _made_by(maker: Any, name: str) -> Any:
    import traceback

    try:
        return maker()
    except (Exception, SystemExit) as error:
        *_, last = traceback.extract_tb(error.__traceback__)
        where = f", in line {last.lineno} of {Path(last.filename).name}" if last.filename != __file__ else ""
        raise _Usage(f"--args {name} gives no arguments: {type(error).__name__}: {error}{where}") from None


def _load_by_name(name: str, target: str) -> Any:
    """A function of a module, which may stand beside the target, or be the target's own file."""
    module, _, function = name.partition(":")
    beside = Path(target.rpartition(":")[0]).parent / f"{module}.py"
    if not function:
        raise _Usage(f"{name!r} is not MODULE:FUNCTION")
    return _load(f"{module if module.endswith('.py') else beside}:{function}")


def _load(target: str) -> Any:
    file, colon, name = target.rpartition(":")
    if not colon or not name:
        raise _Usage(f"{target!r} is not FILE:FUNCTION")
    path = Path(file)
    if not path.is_file():
        raise _Usage(f"there is no file {file}")
    found: Any = _import(path)
    for part in name.split("."):  # a method stands in its class
        found = getattr(found, part, None)
        if found is None:
            raise _Usage(f"{file} has no function {name}")
    return found


def _import(path: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(path.stem, path)
    if spec is None or spec.loader is None:
        raise _Usage(f"{path} is not a Python file")
    module = importlib.util.module_from_spec(spec)
    sys.modules[path.stem] = module
    sys.path.insert(0, str(path.resolve().parent))
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:  # a script may end itself
        raise _Usage(f"{path} cannot be imported: {type(error).__name__}: {error}") from None
    finally:
        sys.path.pop(0)
    return module


def _coloured(text: str) -> str:
    """Code as a terminal shows it: comments are grey, and end where the line does."""
    import shutil

    width = shutil.get_terminal_size().columns
    text = "\n".join(_short_comment(line, width) for line in text.split("\n"))
    try:
        from pygments import highlight
        from pygments.formatters import TerminalFormatter
        from pygments.formatters.terminal import TERMINAL_COLORS
        from pygments.lexers import PythonLexer
        from pygments.token import Comment, Whitespace
    except ImportError:
        return text
    colours = {**TERMINAL_COLORS, Comment: ("brightblack", "brightblack"), Whitespace: ("", "")}
    return highlight(text, PythonLexer(), TerminalFormatter(colorscheme=colours))


def _short_comment(line: str, width: int) -> str:
    code, sign, comment = line.partition("# ")
    if len(line) <= width or not sign or code.count('"') % 2 or code.count("'") % 2:
        return line
    room = width - len(code) - 3
    return f"{code}{sign}{comment[:room]}\u2026" if room > 5 else code.rstrip()


if __name__ == "__main__":
    sys.exit(main())
