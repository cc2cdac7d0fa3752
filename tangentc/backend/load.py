"""Text to functions: compile what was printed, and let Python's tools find it."""

from __future__ import annotations

import ast
import builtins
import contextlib
import inspect
import types
import weakref
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from tangentc.backend.arrays import Spelling
from tangentc.backend.compilers import NUMBA, compilers, with_tests
from tangentc.backend.device import for_device
from tangentc.backend.emit import print_function
from tangentc.backend.raise_ast import raise_function
from tangentc.core import texts
from tangentc.core.jitted import is_jitted
from tangentc.core.nodes import Global, Opaque, Statement
from tangentc.core.ops import DeviceText
from tangentc.core.walk import reads, statements


@dataclass(frozen=True)
class Text:
    """An emitted program: its text, what its names are bound to, and the user's data that it reads."""

    name: str
    text: str
    imports: tuple[str, ...]
    bindings: Mapping[str, Any]
    live: Mapping[str, Global]
    same: Mapping[str, str] = field(default_factory=dict)
    of: Mapping[int, Statement] = field(default_factory=dict)  # for a row of ``whole``, the statement behind it
    blocks: frozenset[str] = frozenset()  # the names in ``live`` that only blocks of the user's in the adjoint read
    types: Mapping[int, Any] = field(default_factory=dict)  # for such a row, the types of the function it stands in

    @property
    def is_compiled(self) -> bool:
        """Whether a compiler makes loops of some of its functions."""
        return "import numba" in self.imports

    @property
    def is_of_device(self) -> bool:
        """Whether it launches kernels of the device."""
        return ".RawKernel(" in self.text

    @property
    def whole(self) -> str:
        head = "\n".join(self.imports)
        return f"{head}\n\n\n{self.text}" if head else self.text


def print_program(emitted: list[tuple[Any, types.FunctionType]], arrays: str = "numpy", inner: bool = False) -> Text:
    """The text of a program: the functions that it calls, then the function itself."""
    if arrays == "cupy":
        emitted = [(program if program.device else for_device(program), source) for program, source in emitted]
    root = emitted[-1][1]
    scope = {**root.__globals__, **_cells(root)}
    spelling = Spelling(scope, arrays)
    own = {program.function.name for program, _ in emitted}
    own |= {"numba", *NUMBA} if any(program.decorator for program, _ in emitted) else set()
    spelling.own, spelling.inner = own, inner
    spelling.by_id = {k: v for k, v in spelling.by_id.items() if v not in own}
    texts: list[str] = []
    of: dict[int, Statement] = {}
    types: dict[int, Any] = {}
    row = 0
    seen: dict[str, str] = {}
    spelling.data = spelled(emitted, own | set(spelling.bindings))
    live = {name: atom for atom, name in spelling.data.items()}
    for program, _ in emitted:
        if program.device:
            texts.append(kernel_text(program.function.name, program.device, spelling.numpy_name()))
            row += texts[-1].count("\n") + 2
            continue
        names = {spelling.data[a] for a in _data(program.function)}
        reserved = names | own | _called(program.function)
        spelling.local = frozenset()
        tree = raise_function(program.function, program.types, program.aliases, spelling, reserved)
        rows = print_function(with_tests(tree) if program.decorator else tree)
        if program.decorator:
            rows.under(f"@{program.decorator}")
        text = rows.text
        name = program.function.name
        if program is not emitted[-1][0]:
            twin = seen.setdefault(text.replace(name, "@", 1), name)
            if twin != name and not any(name in earlier for earlier in texts):  # the same text, written for other types
                spelling.same[name] = twin
                continue
        texts.append(text)
        of.update({row + k: s for k, s in rows.of.items()})
        types.update({row + k: program.types for k in rows.of})
        row += len(rows) + 2
    imports = (*_imports(spelling.imports.values()), *compilers(program.decorator for program, _ in emitted))
    every = [s for program, _ in emitted for s in statements(program.function.body)]
    inside = {a for s in every if _is_block(s) for a in reads(s)}
    outside = {a for s in every if not _is_block(s) for a in reads(s)}
    blocks = frozenset(name for name, atom in live.items() if atom in inside - outside)
    above = len(imports) + 2 if imports else 0
    of, types = ({k + above: v for k, v in rows_.items()} for rows_ in (of, types))
    return Text(
        emitted[-1][0].function.name, "\n\n".join(texts), imports, spelling.bindings, live, spelling.same, of, blocks,
        types,
    )  # fmt: skip


def kernel_text(name: str, device: DeviceText, cupy: str) -> str:
    """The rows that make a kernel of the device."""
    options = "".join(f'"{option}", ' for option in device.options)
    options = options.rstrip(", ") if len(device.options) > 1 else options.rstrip()
    return f'{name} = {cupy}.RawKernel(\n    r"""\n{device.text}""",\n    "{name}", options=({options}),\n)\n'


def _is_block(s: Statement) -> bool:
    """Whether this is a block of `insert_grad_of`."""
    return isinstance(s, Opaque) and s.span.sweep == "adjoint"


def _data(function: Any) -> list[Global]:
    """The data of the user's modules that a function reads, in the order of the text."""
    atoms = [a for s in statements(function.body) for a in (*reads(s), function.result) if isinstance(a, Global)]
    return list(dict.fromkeys(atoms))


def spelled(emitted: list[tuple[Any, types.FunctionType]], taken: set[str]) -> dict[Global, str]:
    """How each datum is written: by its name, unless two modules have one of that name, or it belongs to a class or to
    another module and the name is a function or a module in the text.
    """
    root = emitted[-1][1].__globals__
    code = {"np", "cp", "math", *vars(builtins), *(n for n, v in root.items() if callable(v) or inspect.ismodule(v))}
    atoms = dict.fromkeys(a for program, _ in emitted for a in _data(program.function))
    out: dict[Global, str] = {}
    for atom in sorted(atoms, key=lambda a: a.place.home is not root):
        name, k, home = atom.name, 1, atom.place.home
        if home is not root and name in code and (name not in root or root[name] is not atom.lookup()):
            name = f"{getattr(home, '__name__', 'its').rpartition('.')[2]}_{name}"  # `Settings_max`
        while name in taken or name in out.values():
            k += 1
            name = f"{atom.name}_{k}"
        out[atom] = name
    return out


def _imports(lines: Iterable[str]) -> tuple[str, ...]:
    """Import lines, those from one module on one line."""
    plain = sorted({line for line in lines if line.startswith("import")})
    names: dict[str, set[str]] = {}
    for line in lines:
        if line.startswith("from"):
            module, _, name = line.removeprefix("from ").partition(" import ")
            names.setdefault(module, set()).add(name)
    return (*plain, *(f"from {module} import {', '.join(sorted(names[module]))}" for module in sorted(names)))


def _called(function: Any) -> set[str]:
    """The names of modules and functions that the text refers to, which no local may take."""
    names = {"np", "cp", "math"}
    for s in statements(function.body):
        op = getattr(s, "op", None)
        name = getattr(op, "__name__", "")
        module = getattr(op, "__module__", None) or "numpy"
        if name.isidentifier() and not module.startswith(("numpy", "_operator", "math")):
            names.add(name)
    return names


def _cells(function: types.FunctionType) -> dict[str, Any]:
    out = {}
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        try:
            out[name] = cell.cell_contents
        except ValueError:
            continue
    return out


def load(
    text: Text, module: str, tree: ast.Module | None = None, more: Mapping[str, Any] | None = None,
    file: str | None = None,
) -> types.FunctionType:  # fmt: skip
    """The function that a text defines.  Its lines are known to tracebacks, pdb and `inspect`, and are
    forgotten when the function is.

    ``tree`` may be the text's tree with calls of the functions in ``more`` put in, at the same lines.  ``file`` is one
    that has this text: what Numba compiles of it is kept beside it.
    """
    from tangentc.core import ops

    namespace: dict[str, Any] = {"__name__": module, **(more or {})}
    for name, value in text.bindings.items():
        namespace[name] = value.function if isinstance(value, ops.UserFunction) else value
    bound = dict(namespace)
    named = texts.run(text.whole, text.name, namespace, of=text.of, tree=tree, file=file)
    namespace["__file__"] = named
    for name, value in namespace.items() if file is not None else ():
        if is_jitted(value) and name not in bound:  # what the text makes, not what it is given
            with contextlib.suppress(RuntimeError):  # it finds no place for it
                value.enable_caching()
    namespace.update({k: v for k, v in bound.items() if k in text.bindings})
    function = namespace[text.name]
    weakref.finalize(function, texts.forget, named)
    return function
