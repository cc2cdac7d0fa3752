"""Models as folders that run where neither tangentc nor the code that built the model is installed."""

from __future__ import annotations

import ast
import copy
import functools
import importlib.util
import inspect
import math
import shutil
import sys
import uuid
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tangentc
from tangentc import tree
from tangentc.errors import BadArgument
from tangentc.learn.served import ADJOINT, MAIN, MODULE

LITERALS = (bool, int, float, complex, str, bytes, type(None))
DRAWS = np.random.Generator, np.random.RandomState
MAY_IMPORT = {*sys.stdlib_module_names, "numpy", "scipy", "cupy", "cupyx"}  # the last two only on a device


def save(model: Any, path: Any, *examples: np.ndarray, adjoint: bool = False, batch: bool = True) -> Path:
    """Write what ``model(*examples)`` computes as a folder that runs by itself; returns its path.

    ``model`` is an object with ``__call__``, a bound method of one, a function, or a `functools.partial` of a function
    and its parameters.  In the folder are ``primal.py``, the emitted text of the call, which imports NumPy alone, and
    SciPy if the model does; ``parameters.npz``, the arrays that it reads; and with ``adjoint`` also ``adjoint.py``, the
    emitted adjoint by the model.  It is a package: ``predict(*inputs)`` gives what the model gives, to the bit, and
    ``adjoint(out_bar, *inputs)`` the gradients by the paths of the parameters.  In the shell,

        python -m FOLDER input.npz output.npz

    takes the inputs by the names of the model's parameters, and writes ``output``.  Inputs have the dtypes and shapes
    of the examples, but for the length of the first axis, if ``batch``; others are refused by name.  Before the folder
    gets its name, the examples are run in it and compared.

    Raises `BadArgument` for a model that cannot be written, that changes itself in the call, as a batch norm in
    training does, or that draws random numbers, and what `tangentc.export` raises.

    >>> from tempfile import mkdtemp
    >>> def line(parameters, x):
    ...     return x @ parameters["w"]
    >>> path = save(functools.partial(line, {"w": np.ones((3, 2))}), mkdtemp() + "/line", np.ones((5, 3)))
    >>> sorted(file.name for file in path.iterdir() if file.is_file())
    ['__init__.py', '__main__.py', 'parameters.npz', 'primal.py']
    >>> load(path).predict(np.ones((1, 3)))
    array([[3., 3.]])
    """
    call, target = _called(model, examples, batch), Path(path)
    _check_target(target)
    _refuse_draws(call)
    target.parent.mkdir(parents=True, exist_ok=True)
    folder = target.with_name(f"partial_{uuid.uuid4().hex}")
    folder.mkdir()
    try:
        _export(call.function, folder / "primal.py", *call.values)
        arrays = _write(folder, call)
        value = _value(folder, call, arrays)
        _compare(load(folder).predict(*examples), value, "the model")
        if adjoint:
            _write_adjoint(folder, call, value)
        _replace(folder, target)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return target


def load(path: Any) -> Any:
    """The module of a saved model, for use in Python: it has ``predict``, and ``adjoint`` if that was saved.

    Programs without tangentc import the folder as a package.
    """
    folder = Path(path).resolve()
    name = f"tangentc_saved_{abs(hash(folder))}_{folder.name.replace('.', '_')}"
    for known in [known for known in sys.modules if known == name or known.startswith(name + ".")]:
        del sys.modules[known]
    spec = importlib.util.spec_from_file_location(
        name, folder / "__init__.py", submodule_search_locations=[str(folder)]
    )
    if spec is None or spec.loader is None or not (folder / "__init__.py").exists():
        raise BadArgument(f"{path} is no saved model", why="it has no __init__.py", way_out="give a folder of `save`")
    module = sys.modules[name] = importlib.util.module_from_spec(spec)
    was, sys.dont_write_bytecode = sys.dont_write_bytecode, True
    try:
        spec.loader.exec_module(module)
    finally:
        sys.dont_write_bytecode = was
    return module


# ---------------------------------------------------------- what is called
def _parts(model: Any) -> tuple[Any, tuple[Any, ...]]:
    """The function of a model, and the arguments that are part of the model."""
    if isinstance(model, functools.partial) and not model.keywords:
        function, bound = _parts(model.func)
        return function, (*bound, *model.args)
    if inspect.ismethod(model):
        return model.__func__, (model.__self__,)
    if inspect.isfunction(model):
        return model, ()
    call = inspect.getattr_static(type(model), "__call__", None)
    if not inspect.isfunction(call):
        raise BadArgument(
            f"a {type(model).__name__} cannot be saved", why="it has no call of which there is source",
            way_out="give an object with `__call__`, a method, a function, or functools.partial(f, parameters)",
        )  # fmt: skip
    return call, (model,)


@dataclass(frozen=True)
class _Call:
    """A call of a model as one of a function: what belongs to the model, the inputs, and then settings."""

    function: Any
    bound: tuple[Any, ...]
    names: list[str]
    examples: tuple[np.ndarray, ...]
    settings: list[Any]
    batch: bool

    @property
    def values(self) -> tuple[Any, ...]:
        return (*self.bound, *self.examples, *self.settings)


def _called(model: Any, examples: tuple[Any, ...], batch: bool) -> _Call:
    """The call of a model with inputs like these; the parameters behind them have defaults."""
    function, bound = _parts(model)
    parameters = list(inspect.signature(function).parameters.values())
    own, rest = parameters[len(bound) :][: len(examples)], parameters[len(bound) + len(examples) :]
    if len(own) < len(examples) or any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in parameters):
        raise BadArgument(
            f"{function.__name__} has no names for {len(examples)} inputs", why="inputs are given by name",
            way_out="save a function with a named parameter for each",
        )  # fmt: skip
    for p, example in zip(own, examples):
        if not isinstance(example, np.ndarray) or example.dtype.hasobject:
            raise BadArgument(
                f"the example of {p.name} is a {type(example).__name__}", why="inputs are arrays in a file",
                way_out="give a NumPy array of numbers; what is fixed, by functools.partial or a default",
            )  # fmt: skip
    for p in rest:
        if p.default is p.empty:
            raise BadArgument(
                f"there is no example of {p.name}", why=f"{function.__name__} needs it", way_out="give an array like it"
            )
    return _Call(function, bound, [p.name for p in own], examples, [p.default for p in rest], batch)


def _export(f: Any, file: Path, *args: Any) -> None:
    """Write emitted text; refuses what needs more than NumPy."""
    tangentc.export(f, file, *args, bare=True)
    for node in ast.walk(ast.parse(file.read_text())):
        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []
        names += [str(node.module)] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            if name.split(".")[0] not in MAY_IMPORT:
                raise BadArgument(
                    f"the model needs the module {name}", why="the folder is to run where only NumPy is installed",
                    way_out=f"let its functions import what they use of {name} by name",
                )  # fmt: skip


# ---------------------------------------------------------- what is written
def _write(folder: Path, call: _Call, more: str = "") -> dict[str, np.ndarray]:
    """Write the module around the emitted text, and the arrays that this reads, which are given back."""
    parts, values = _read(folder, call.bound)
    text = MODULE.format(
        name=_last_of(folder / "primal.py"), values="".join(f"{v}, " for v in values), classes=parts.definitions(),
        inputs=repr({n: _form(example, call.batch) for n, example in zip(call.names, call.examples)}), **_words(call),
    )  # fmt: skip
    (folder / "__init__.py").write_text(text + more)
    (folder / "__main__.py").write_text(MAIN)
    with zipfile.ZipFile(folder / "parameters.npz", "w") as archive:
        for name, array in parts.arrays.items():
            with archive.open(f"{name}.npy", "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array, allow_pickle=False)
    return parts.arrays


def _read(folder: Path, bound: tuple[Any, ...]) -> tuple[_Written, list[str]]:
    """What the emitted text reads of the model: the arrays, and the text of what holds them."""
    parts = _Written(set().union(*[_names_in(file) for file in folder.glob("[ap]*.py")]))
    return parts, [parts.text(value, str(k) if len(bound) > 1 else "") for k, value in enumerate(bound)]


def _words(call: _Call) -> dict[str, str]:
    """The inputs and the settings as they stand in calls."""
    settings = [_Written(set()).text(value, "a default") for value in call.settings]
    return {"names": ", ".join(call.names), "settings": "".join(f", {text}" for text in settings)}


def _write_adjoint(folder: Path, call: _Call, value: Any) -> None:
    """Write the adjoint by the model beside the primal, and compare what it gives."""
    if len(call.bound) != 1 or not isinstance(value, np.ndarray):
        raise BadArgument(
            "the model has no adjoint to save", why="it is that of one object or tree, whose call gives one array",
            way_out="save an object with `__call__`, or functools.partial(f, parameters)",
        )  # fmt: skip
    derivative, seed = tangentc.adjoint(call.function), np.ones_like(value)
    _export(derivative, folder / "adjoint.py", *call.values, seed)
    is_batched = call.batch and any(value.shape[:1] == example.shape[:1] != () for example in call.examples)
    more = "".join(f", {name}" for name in call.names)
    words = {"name": _last_of(folder / "adjoint.py"), "form": _form(value, is_batched), **_words(call)}
    _write(folder, call, ADJOINT.format(more=more, **words))
    _compare(load(folder).raw_adjoint(seed, *call.examples), derivative(*call.values, seed), "its adjoint")


def _value(folder: Path, call: _Call, arrays: dict[str, np.ndarray]) -> Any:
    """What a copy of the model gives; refuses a model that is another one after the call."""
    copies, examples = tree.map(_copied, (call.bound, call.examples), every=True)
    value = call.function(*copies, *examples, *call.settings)
    now = _read(folder, copies)[0].arrays
    for name, array in arrays.items():
        if not _is_same(now[name], array):
            raise BadArgument(
                f"the call changes {name} of the model", why="a saved model gives the same for the same inputs",
                way_out="turn off training, and save the model then",
            )  # fmt: skip
    return value


def _refuse_draws(call: _Call) -> None:
    """Refuse a call that draws from the generators of the model."""
    generators = [(path, leaf) for path, leaf in tree.items(call.bound, every=True) if isinstance(leaf, DRAWS)]
    if not generators:
        return
    copies, examples = tree.map(_copied, (call.bound, call.examples), every=True)
    call.function(*copies, *examples, *call.settings)
    after = dict(tree.items(copies, every=True))
    for path, rng in generators:
        if repr(_state(rng)) != repr(_state(after[path])):
            raise BadArgument(
                f"the call draws random numbers from {path.partition('.')[2]} of the model",
                why="a saved model gives the same again", way_out="save it within learn.evaluating(model)",
            )  # fmt: skip


def _copied(leaf: Any) -> Any:
    if isinstance(leaf, DRAWS):
        return copy.deepcopy(leaf)
    return leaf.copy("A") if isinstance(leaf, np.ndarray) else leaf


def _state(rng: Any) -> Any:
    return rng.bit_generator.state if isinstance(rng, np.random.Generator) else rng.get_state()


def _last_of(file: Path) -> str:
    """The name of the last function in a text."""
    return [node.name for node in ast.parse(file.read_text()).body if isinstance(node, ast.FunctionDef)][-1]


def _names_in(file: Path) -> set[str]:
    """The names of attributes that a text reads."""
    nodes = list(ast.walk(ast.parse(file.read_text())))
    texts = {n.value for n in nodes if isinstance(n, ast.Constant) and isinstance(n.value, str)}
    return texts | {n.attr for n in nodes if isinstance(n, ast.Attribute)}


class _Written:
    """The parts of a model as text: arrays by their paths, and of objects the attributes that are read."""

    def __init__(self, names: set[str]):
        self.names, self.arrays, self.classes = names, {}, {}  # type: ignore[var-annotated]

    def text(self, value: Any, path: str) -> str:
        if isinstance(value, (np.ndarray, np.generic)) and not value.dtype.hasobject:
            name = path or "parameters"
            self.arrays[name] = np.asarray(value)
            return f"_arrays[{name!r}]" + "[()]" * isinstance(value, np.generic)
        parts = tree.parts_of(value)
        if parts is None:
            return self._leaf(value, path)
        inner = {key: f"{path}.{key}" if path else str(key) for (_, key), _ in parts}
        read = [(key, part) for (kind, key), part in parts if kind != "attribute" or key in self.names]
        texts = [(key, self.text(part, inner[key])) for key, part in read]
        if isinstance(value, dict):
            return f"{{{', '.join(f'{self._leaf(key, path)}: {text}' for key, text in texts)}}}"
        if isinstance(value, list):
            return f"[{', '.join(text for _, text in texts)}]"
        if isinstance(value, tuple) and not hasattr(value, "_fields"):
            return f"({''.join(text + ', ' for _, text in texts)})"
        self.classes[type(value).__name__] = getattr(value, "_fields", None)
        return f"{type(value).__name__}({', '.join(f'{key}={text}' for key, text in texts)})"

    def _leaf(self, value: Any, path: str) -> str:
        if type(value) in LITERALS:
            numbers = (value.real, value.imag) if isinstance(value, complex) else (value,)
            if all(not isinstance(n, float) or math.isfinite(n) for n in numbers):
                return repr(value)
            return f"{type(value).__name__}({str(value)!r})"
        name = getattr(value, "__name__", "")
        if name and getattr(np, name, None) is value:
            return f"np.{name}"
        if isinstance(value, DRAWS):
            return "None"  # nothing is drawn
        if inspect.isfunction(value):
            return f"_Function(__name__={name!r})"
        raise BadArgument(
            f"{path or 'the model'} is a {type(value).__name__}", why="it is read in the call, and has no text",
            way_out="keep arrays, numbers, text and functions in the model",
        )  # fmt: skip

    def definitions(self) -> str:
        """The classes whose objects a model is made of."""
        return "".join(
            f"class {name}(_Object):\n    pass\n\n\n" if fields is None
            else f"{name} = collections.namedtuple({name!r}, {list(fields)})\n\n\n"
            for name, fields in self.classes.items()
        )  # fmt: skip


def _form(array: np.ndarray, batch: bool) -> tuple[str, tuple[int | None, ...]]:
    return array.dtype.name, ((None, *array.shape[1:]) if batch and array.ndim else array.shape)


# ---------------------------------------------------------- what is compared
def _compare(got: Any, want: Any, what: str) -> None:
    """Refuse a folder that does not give the same to the bit."""
    mine, own = [
        [(path, leaf if leaf is None else np.asarray(leaf)) for path, leaf in tree.items(value, every=True)]
        for value in (got, want)
    ]
    same = len(mine) == len(own) and all(
        a == b and (x is y is None or x is not None and y is not None and _is_same(x, y))
        for (a, x), (b, y) in zip(mine, own)
    )
    if not same:
        raise BadArgument(
            f"the saved text does not give what {what} gives", why="their results for the examples are not the same",
            way_out="if the model draws random numbers, turn that off; make arrays that are views contiguous",
        )  # fmt: skip


def _is_same(a: np.ndarray, b: np.ndarray) -> bool:
    return a.shape == b.shape and a.dtype == b.dtype and a.tobytes() == b.tobytes()


def _check_target(target: Path) -> None:
    if not target.name.replace("-", "_").isidentifier():
        raise BadArgument(f"{target.name!r} is no name for a package", why="python -m is to find it",
                          way_out="use letters, digits and _")  # fmt: skip
    if target.exists() and not (target / "primal.py").exists():
        raise BadArgument(f"{target} exists", why="it is no saved model", way_out="give another path, or remove it")


def _replace(folder: Path, target: Path) -> None:
    """Give a folder its name, in place of one that was saved before."""
    old = target.with_name(f"old_{uuid.uuid4().hex}")
    if target.exists():
        target.rename(old)
    folder.rename(target)
    shutil.rmtree(old, ignore_errors=True)
