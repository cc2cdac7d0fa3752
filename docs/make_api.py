"""The pages about the interface and the command, for make_reference.py: what the docstrings and the parser say."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Any

import tangentc
from tangentc import cli, testing
from tangentc.derivative import Derivative
from tangentc.sparse.jacobians import SparseJacobian
from tangentc.vectorised import Vectorised

GROUPS = {
    "Derivatives": (
        "grad", "value_and_grad", "differentiable", "vjp", "jvp", "adjoint", "jacobian", "jacrev", "jacfwd", "hessian",
        "hvp", "sparse_jacobian", "sparse_hessian", "stop_gradient", "checkpoint",
    ),
    "Batches": ("vmap",),
    "To look inside": ("explain", "graph", "trace", "stages", "report", "debug", "insert_grad_of", "export"),
    "To check": ("check_grads",),
    "To write rules": ("elementwise", "adjoint_rule", "tangent_rule", "zero_gradient", "operation"),
}  # fmt: skip
OF_DERIVATIVES = ("source", "source_for", "dispatch_for")
FRONT = """# The interface

What `import tangentc` offers, with the text that `help` shows. The examples take these lines as given:

```pycon
>>> import numpy as np
>>> import tangentc
>>> from tangentc import *
>>> from tangentc.testing import assert_gradient, check_rule

```
"""


def api() -> str:
    """The public names, by what they are for; those that no group knows stand under a head of their own."""
    public = {name: getattr(tangentc, name) for name in tangentc.__all__}
    errors = {n: o for n, o in public.items() if isinstance(o, type) and issubclass(o, (Exception, Warning))}
    results = {n: o for n, o in public.items() if isinstance(o, type) and n not in errors and n[0].isupper()}
    grouped = {name for names in GROUPS.values() for name in names}
    groups = {head: {name: public[name] for name in names} for head, names in GROUPS.items()}
    groups["To check"] |= {f"testing.{f.__name__}": f for f in (testing.assert_gradient, testing.check_rule)}
    groups["More"] = {n: o for n, o in public.items() if n not in {*grouped, *errors, *results}}
    parts = [FRONT]
    for head, members in groups.items():
        if members:
            parts.append(f"## {head}\n")
            parts += [entry(name, member) for name, member in members.items()]
    parts.append("## What derivatives can say\n")
    parts.append("What `grad`, `value_and_grad` and `adjoint` give is called like the function, and can say more:\n")
    parts += [entry(f"Derivative.{name}", inspect.getattr_static(Derivative, name)) for name in OF_DERIVATIVES]
    parts.append(entry("sparse_jacobian(f).pattern_for", SparseJacobian.pattern_for))
    parts.append("What `vmap` gives can say these things too, and one more:\n")
    parts.append(entry("Vectorised.looped_for", inspect.getattr_static(Vectorised, "looped_for")))
    parts.append("## What the tools give\n")
    for name, cls in results.items():
        parts.append(entry(name, cls, called=False))
        parts += [entry(f"{name}.{n}", member) for n, member in public_members(cls)]
    parts.append("## Errors and warnings\n")
    parts += [f"`{name}` ({errors[name].__base__.__name__}): {first_line(errors[name])}\n" for name in errors]
    return "\n".join(parts)


def public_members(cls: Any) -> Iterator[tuple[str, Any]]:
    """The methods and properties of a class that have a text."""
    for name, member in vars(cls).items():
        if not name.startswith("_") and (inspect.isfunction(member) or isinstance(member, property)) and member.__doc__:
            yield name, member


def entry(name: str, member: Any, called: bool = True) -> str:
    """A head, the call, and the text."""
    text = markdown(inspect.getdoc(member) or "")
    if isinstance(member, property) or not called:
        return f"### {name}\n\n{text}"
    return f"### {name}\n\n```python\n{name}{without_types(member)}\n```\n\n{text}"


def without_types(member: Any) -> str:
    """The parameters with their defaults."""
    signature = inspect.signature(member)
    parameters = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    kept = [p for p in parameters if p.name != "self"]
    return str(signature.replace(parameters=kept, return_annotation=inspect.Signature.empty))


def markdown(text: str) -> str:
    """A docstring as Markdown: its examples in blocks of their own."""
    parts = []
    for part in re.split(r"\n\n(?=>>>)", re.sub(r"``([^`]+)``", r"`\1`", text)):
        parts.append(f"```pycon\n{part}\n\n```\n" if part.startswith(">>>") else f"{part}\n")
    return "\n".join(parts)


def first_line(member: Any) -> str:
    return " ".join((inspect.getdoc(member) or "").split("\n\n")[0].split())


def command() -> str:
    """What `tangentc --help` says, and what each command takes."""
    parser = cli._parser()
    (commands,) = (action for action in parser._actions if action.dest == "command")
    parts = [
        "# The command\n",
        "`tangentc`, or `python -m tangentc`, shows from a shell what the functions of Python show.\n",
        "| Command | What it does |\n|---|---|",
        *(f"| [`tangentc {name}`](#tangentc-{name}) | {does} |" for name, does in cli.COMMANDS.items()),
        "",
        f"## Examples\n\n```sh\n{examples()}\n```\n",
        f"{' '.join(cli.EXAMPLES.split(chr(10) * 2)[1].split())}\n",
    ]
    for name, sub in commands.choices.items():
        rows = [
            f"| `{', '.join(a.option_strings) or a.metavar}` | {chosen(a)} |" for a in sub._actions if a.dest != "help"
        ]
        parts.append(f"## tangentc {name}\n\nTo {cli.COMMANDS[name]}.\n\n| | |\n|---|---|\n" + "\n".join(rows) + "\n")
    return "\n".join(parts)


def examples() -> str:
    return "\n".join(line.strip() for line in cli.EXAMPLES.split("\n") if line.startswith("  "))


def chosen(action: Any) -> str:
    """What an option is for, and the values that it may have."""
    values = ", ".join(f"`{c}`" for c in action.choices or () if c != "")
    return f"{action.help}: {values}" if values else str(action.help)
