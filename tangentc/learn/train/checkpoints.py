"""Checkpoints: folders of an ``.npz`` and a JSON, which are there as a whole or not at all.

A checkpoint is written into a folder of another name, brought to the disk, and renamed, which is one step for the file
system: a process that is killed leaves the last one, and perhaps a folder that the next one clears away.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import numpy as np

from tangentc import tree
from tangentc.errors import BadArgument
from tangentc.learn.modes import nodes
from tangentc.learn.trained import parameters, states

ARRAYS, REST, BEGUN = "arrays.npz", "state.json", ".begun-"


def save(
    folder: Any, step: int, model: Any, state: Any, rest: dict, kept: dict[str, Any] | None = None, last: int = 2
) -> Path:  # fmt: skip
    """Write the checkpoint of a step into ``folder``, and give its path; the ``last`` ones stay.

    It holds the parameters and the state of the model, and its random generators; ``state``, a tree of arrays and
    numbers, such as an optimiser's; ``rest``, what JSON can say; and ``kept``, arrays by their names.

    >>> import tempfile
    >>> model, folder = {"w": np.arange(2.0)}, tempfile.mkdtemp()
    >>> save(folder, 3, model, {"step": 3, "mean": {"w": np.ones(2)}}, {"epoch": 1}).name
    '00000003'
    >>> model["w"][:] = 0.0
    >>> load(folder, model, {"step": 0, "mean": {"w": np.zeros(2)}})
    ({'epoch': 1}, {})
    >>> model["w"]
    array([0., 1.])
    """
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for left in folder.glob(f"{BEGUN}*"):
        shutil.rmtree(left, ignore_errors=True)
    begun = folder / f"{BEGUN}{os.getpid()}"
    begun.mkdir()
    arrays = {f"model/{path}": _host(a) for path, a in arrays_of(model).items()}
    arrays |= {f"kept/{name}": _host(a) for name, a in (kept or {}).items()}
    numbers = {}
    for path, leaf in tree.items(state, every=True):
        if hasattr(leaf, "shape"):
            arrays[f"state/{path}"] = _host(leaf)
        else:
            numbers[path] = leaf
    _written(begun / ARRAYS, lambda f: np.savez(f, **arrays))
    said = {"step": step, "state": numbers, "generators": _generators(model), "rest": rest}
    _written(begun / REST, lambda f: f.write(json.dumps(said, default=_plain, indent=1).encode()))
    _synced(begun)
    whole = folder / f"{step:08d}"
    if whole.exists():
        os.replace(whole, old := folder / f"{BEGUN}old-{os.getpid()}")
        os.replace(begun, whole)
        shutil.rmtree(old, ignore_errors=True)
    else:
        os.replace(begun, whole)
    _synced(folder)
    for old in found(folder)[:-last]:
        shutil.rmtree(old, ignore_errors=True)
    return whole


def found(folder: Any) -> list[Path]:
    """The checkpoints in a folder, from the oldest on."""
    return sorted(p for p in Path(folder).glob("[0-9]*") if (p / REST).exists())


def load(path: Any, model: Any, state: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Put what a checkpoint holds into the model and the state, in place, and give ``rest`` and ``kept``.

    ``path`` is a checkpoint, or a folder of them, of which the last one is taken.  Raises `BadArgument`, and changes
    nothing, where it is of another model: where arrays lack, or have other shapes or dtypes.
    """
    path = Path(path)
    if not (path / REST).exists():
        there = found(path)
        if not there:
            why = f"there is no {REST} in it"
            raise BadArgument(f"{path} holds no checkpoint", why=why, way_out="give the folder of a checkpoint")
        path = there[-1]
    said = json.loads((path / REST).read_text())
    with np.load(path / ARRAYS, allow_pickle=False) as arrays:
        held = {name: arrays[name] for name in arrays.files}
    kept = {name.removeprefix("kept/"): held.pop(name) for name in list(held) if name.startswith("kept/")}
    into = {f"model/{p}": a for p, a in arrays_of(model).items()}
    ways = dict(zip(tree.flatten(state, every=True)[1].paths, tree.ways(state, every=True)))
    into |= {f"state/{p}": leaf for p, leaf in tree.items(state, every=True) if hasattr(leaf, "shape")}
    _refuse_others(path, held, into)
    for name, array in into.items():
        array[...] = held[name] if isinstance(array, np.ndarray) else type(array)(held[name])
    for p, number in said["state"].items():
        if p in ways:
            tree.put(state, ways[p], number)
    for p, node in with_generators(model):
        if p in said["generators"]:
            node.bit_generator.state = _revived(said["generators"][p])
    return said["rest"], kept


def _refuse_others(path: Path, held: dict[str, Any], into: dict[str, Any]) -> None:
    for name in sorted(held.keys() | into.keys()):
        given = f"{held[name].dtype}{held[name].shape}" if name in held else "nothing"
        wanted = f"{into[name].dtype}{into[name].shape}" if name in into else "nothing"
        if given != wanted:
            raise BadArgument(
                f"{path} is a checkpoint of another model or optimiser",
                why=f"at {name} it has {given}, and there is {wanted}", way_out="make the model as it was made then",
            )  # fmt: skip


def arrays_of(model: Any) -> dict[str, Any]:
    """The parameters and the state of a model, by their paths."""
    return {**parameters(model), **states(model)}


def with_generators(model: Any) -> list[tuple[str, np.random.Generator]]:
    """The random generators of a model, with their paths."""
    every = [("", model), *nodes(model)]
    inside = [
        (f"{path}.{key}", part) for path, node in every for (_, key), part in tree.parts_of(node) or ()
        if isinstance(part, np.random.Generator)
    ]  # fmt: skip
    return list(dict(inside).items())


def _generators(model: Any) -> dict[str, Any]:
    return {path: rng.bit_generator.state for path, rng in with_generators(model)}


def _plain(value: Any) -> Any:
    """What JSON cannot say as it is: numbers and arrays of NumPy."""
    if isinstance(value, np.ndarray):
        return {"array": value.tolist(), "dtype": str(value.dtype)}
    return value.item()


def _revived(value: Any) -> Any:
    if isinstance(value, dict) and value.keys() == {"array", "dtype"}:
        return np.array(value["array"], value["dtype"])
    return {k: _revived(v) for k, v in value.items()} if isinstance(value, dict) else value


def _host(array: Any) -> Any:
    return array.get() if hasattr(array, "get") else array


def _written(path: Path, write: Any) -> None:
    with open(path, "wb") as f:
        write(f)
        f.flush()
        os.fsync(f.fileno())


def _synced(folder: Path) -> None:
    """Bring the names in a folder to the disk, where the system can."""
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def written_atomically(path: Any, text: str) -> None:
    """Write a text file that is there as a whole, or as it was before."""
    path = Path(path)
    begun = path.with_name(f"{BEGUN}{path.name}-{os.getpid()}")
    _written(begun, lambda f: f.write(text.encode()))
    os.replace(begun, path)
