"""The parts of a container by their paths: ``("layers", 0, "W")`` is ``model.layers[0].W``."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from tangentc.core.types import Struct, Tuple, Type, components, is_container, is_differentiable, is_long, may_be_none

Path = tuple[Hashable, ...]
Paths = tuple[Path, ...]
WHOLE: Paths = ((),)
MANY = 6  # parts, beyond which all of them are better given as the container that they are


def parts(t: Type) -> list[tuple[Hashable, Type]] | None:
    """The parts of a container through which a derivative may flow, None of what has none that are told apart."""
    if not is_container(t) or is_long(t) or may_be_none(t) or isinstance(t, Struct) and t.unsure:
        return None
    return [(key, part) for key, part in components(t) if is_differentiable(part)]


def leaf_paths(t: Type, is_asked: Callable[[Path], bool] = lambda _: True, path: Path = ()) -> Paths:
    """The paths of all numbers and arrays in a value, or of those that are asked for."""
    if (inner := parts(t)) is None:
        return (path,) if is_asked(path) else ()
    return tuple(p for key, part in inner for p in leaf_paths(part, is_asked, (*path, key)))


def demand(t: Type, is_asked: Callable[[Path], bool], path: Path = ()) -> Paths:
    """The paths of the parts that are asked for: where all of a container are, and many, it itself."""
    if (inner := parts(t)) is None:
        return (path,) if is_asked(path) else ()
    found = tuple(p for key, part in inner for p in demand(part, is_asked, (*path, key)))
    leaves = leaf_paths(t, path=path)
    return (path,) if len(leaves) > MANY and leaf_paths(t, is_asked, path) == leaves else found


def part_type(t: Type, path: Path) -> Type:
    for key in path:
        t = dict(components(t))[key]
    return t


def word_for(name: str, t: Type, path: Path) -> str:
    """A name for a part of what has a name: ``state_h``."""
    words = [name]
    for key in path:
        fields = getattr(t.cls, "_fields", None) if isinstance(t, Tuple) else None
        words.append(str(fields[key] if fields else key))
        t = part_type(t, (key,))
    return "_".join(words)
