"""Arguments: what compiled code depends on in them, and what is refused."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from decimal import Decimal
from numbers import Number
from typing import Any

import numpy as np

from tangentc import runtime, tree
from tangentc.analysis.parts import gives_keys
from tangentc.core.lengths import surely_differ
from tangentc.core.tangents import completed
from tangentc.core.types import (
    Array,
    Known,
    Scalar,
    Sequence,
    Type,
    Unknown,
    components,
    describe,
    holds_nothing,
    is_complex,
    is_container,
    is_differentiable,
)
from tangentc.core.values import attributes_of, is_array, is_object, is_table, type_of, unseen
from tangentc.errors import BadArgument, BadSeed, NotDifferentiable, TurnedComplex, UnsafeMutation, table_of_pandas

UNITS = {"B": 1, "kB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def positions(wrt: Any, names: list[str], function: Any) -> tuple[tuple[int, ...], bool]:
    """The positions that ``wrt`` names, and whether it names one alone."""
    single = not isinstance(wrt, (tuple, list))
    out = []
    for item in (wrt,) if single else wrt:
        if isinstance(item, str) and item in names:
            out.append(names.index(item))
        elif isinstance(item, (int, np.integer)) and not isinstance(item, bool) and -len(names) <= item < len(names):
            out.append(int(item) % len(names))
        else:
            raise BadArgument(
                f"wrt={wrt!r} does not name {'a parameter' if single else 'parameters'} of {function.__name__}"
                + f": {item!r} is none" * (not single),
                why=f"its parameters are {', '.join(names)}" if names else "it has no parameters",
                way_out="give an index, a name, or a tuple of them",
            )
    if not out:
        raise BadArgument(
            f"wrt={wrt!r} names nothing", why="there is nothing to differentiate by", way_out="name a parameter"
        )
    return tuple(out), single


def in_tuples(name: str, primals: Any, tangents: Any) -> tuple[tuple, tuple]:
    """The primals and the tangents, each in a tuple; refuses an array, whose rows are no arguments."""
    for given, what in ((primals, "primals"), (tangents, "tangents")):
        if not isinstance(given, (tuple, list)):
            raise BadArgument(
                f"{name} is given {type(given).__name__} for the {what}",
                why="it takes them in a tuple", way_out=f"write {name}(f, (x,), (v,))",
            )  # fmt: skip
    return tuple(primals), tuple(tangents)


def states_within(memory: int | str | None) -> tuple[str, int] | None:
    """What ``memory`` says of the states that a loop keeps: how many, or how many bytes; None if it says nothing.

    >>> states_within(10), states_within("1.5 GB")
    (('most', 10), ('most_bytes', 1500000000))
    """
    if memory is None:
        return None
    if isinstance(memory, (int, np.integer)) and not isinstance(memory, bool) and memory > 0:
        return "most", int(memory)
    number, unit = ([*memory.split(), "", ""])[:2] if isinstance(memory, str) else ("", "")
    try:
        size = int(float(number) * UNITS[unit])
    except (KeyError, ValueError, OverflowError):
        size = 0
    if size <= 0:
        raise BadArgument(
            f"memory={memory!r} is no bound of the states that a loop keeps",
            why=f"it is a number of states, or of bytes with a unit, {', '.join(UNITS)}",
            way_out='say memory=10, or memory="200 MB"',
        )
    return "most_bytes", size


def wrt_of(text: str) -> Any:
    """What a text of a command names: parameters by their names and numbers, separated by commas.

    >>> wrt_of("w, b"), wrt_of("-1"), wrt_of("")
    (('w', 'b'), -1, ())
    """
    names = [w.strip() for w in text.split(",") if w.strip()]
    named = tuple(int(w) if w.removeprefix("-").isdigit() else w for w in names)
    return named[0] if len(named) == 1 else named


def with_paths(wrt: Any, names: list[str], function: Any) -> tuple[tuple[int, ...], tuple[str, ...], bool]:
    """The positions that ``wrt`` names, the path of attributes behind each, "" for the whole, and whether it is one."""
    single = not isinstance(wrt, (tuple, list))
    asked = [
        w.partition(".") if isinstance(w, str) and w.partition(".")[0] in names else (w, "", "")
        for w in ((wrt,) if single else wrt)
    ]
    plain = tuple(base for base, _, _ in asked)
    return positions(plain[0] if single else plain, names, function)[0], tuple(path for *_, path in asked), single


def refuse_repeated(named: tuple[tuple[int, str], ...], names: list[str], function: Any) -> None:
    """Refuse to differentiate by a parameter, or by a part of one, that is named twice."""
    for k, (i, path) in enumerate(named):
        for j, other in named[:k]:
            overlap = not path or not other or f"{path}.".startswith(f"{other}.") or f"{other}.".startswith(f"{path}.")
            if i == j and overlap:
                raise BadArgument(
                    f"wrt names {names[i]}{'.' * bool(path)}{path} of {function.__name__} twice",
                    why="the two gradients would be one and the same", way_out="name it once",
                )  # fmt: skip


def refuse_integers(t: Type, name: str, function: Any) -> None:
    if isinstance(t, Unknown) or is_differentiable(t) or holds_nothing(t):
        return
    raise NotDifferentiable(
        f"{function.__name__} cannot be differentiated with respect to {name}, which is {describe(t)}",
        why="a derivative is taken by a real or complex number" + _cannot_move(t), way_out=_as_float(t, name),
    )  # fmt: skip


def _cannot_move(t: Type) -> str:
    is_flag = isinstance(t, Known) and isinstance(t.value, bool) or getattr(t, "dtype", "") == "bool"
    is_integer = isinstance(t, (Scalar, Array)) and np.dtype(t.dtype).kind in "iu"
    return f", and {'a truth value' if is_flag else 'an integer'} cannot move by a little" * (is_flag or is_integer)


def _as_float(t: Type, name: str) -> str:
    if isinstance(t, Scalar) or isinstance(t, Known) and isinstance(t.value, (bool, Number, Decimal)):
        return f"pass a float: {name}=float({name})"
    return f"pass a float array: {name}.astype(float)" if isinstance(t, Array) else "pass numbers"


AS_ARRAY = {  # libraries whose arrays and tables have operations of their own, and how one gets an array of NumPy
    "polars": "{}.to_numpy()", "xarray": "{}.to_numpy()",
    "torch": "{}.detach().numpy()", "jax": "np.asarray({})", "jaxlib": "np.asarray({})", "tensorflow": "{}.numpy()",
}  # fmt: skip


def refuse_tables(args: Any, names: list[str], function: Any) -> None:
    """Refuse a DataFrame, a Series or another library's array, whose operations are its own."""
    for name, value in zip(names, args):
        items = enumerate(value) if isinstance(value, (list, tuple)) else ()
        parts = value.items() if isinstance(value, dict) else items
        for text, v in ((name, value), *((f"{name}[{k!r}]", part) for k, part in parts)):
            if is_table(type(v)):
                raise table_of_pandas(text, function.__name__, type(v), f"pass {text}.to_numpy()")
            library = type(v).__module__.split(".")[0]
            if library in AS_ARRAY and hasattr(type(v), "__array__"):
                raise BadArgument(
                    f"{text} of {function.__name__} is a {type(v).__name__} of {library}",
                    why="its operations are its own", way_out=f"pass {AS_ARRAY[library].format(text)}",
                )  # fmt: skip


def refuse_turned(result: Any, args: tuple, function: Any) -> None:
    """Refuse what came out complex for real arguments, of code that was compiled for real numbers."""
    if _holds_complex(type_of(result)) and not _holds_complex(type_of(args)):
        raise TurnedComplex(
            f"a power in {function.__name__} is a complex number",
            why="a negative Python float has complex roots, and the code was compiled for real ones",
            way_out="give it a complex number, x + 0j",
        )  # fmt: skip


def _holds_complex(t: Type) -> bool:
    return is_complex(t) or is_container(t) and any(map(_holds_complex, t.items))  # type: ignore[union-attr]


def arrays_of(args: Any) -> str:
    """The module of the arrays among the arguments.  Raises `BadArgument` if two are mixed."""
    found: set[str] = set()
    stack = list(args)
    while stack:
        a = stack.pop()
        if isinstance(a, np.ndarray):
            found.add("numpy")
        elif is_array(a):
            found.add("cupy")
        elif isinstance(a, (list, tuple)):
            stack.extend(a[:64] if len(a) > 64 and type(a[0]) in (int, float) else a)
        elif isinstance(a, dict):
            stack.extend(a.values())
    if len(found) > 1:
        raise BadArgument(
            "some arguments are NumPy arrays and some are CuPy arrays",
            why="a function runs on the processor or on the device, not on both",
            way_out="convert them: cupy.asarray(x), or x.get()",
        )
    return found.pop() if found else "numpy"


def refuse_shared(name: str, written: str, shares: str) -> None:
    """Refuse to write into what shares memory with something else."""
    raise UnsafeMutation(
        f"{name} writes into {written}, which {shares}",
        why="a gradient works on copies, and two copies would not change together",
        way_out="pass a copy of one of them",
    )


def refuse_overlap(name: str, held: list[tuple[str, list[object], bool, bool]]) -> None:
    """Refuse values that share memory with those that are written into, or hold such memory twice.

    Each has its name before its parts, and behind them whether the function changes it, and whether it writes into
    arrays of it.
    """

    def refuse(k: int, other: int) -> None:
        own, with_ = (k, other) if held[k][2] else (other, k)
        shares = f"shares memory with {held[with_][0]}" if with_ != own else "holds the same memory twice"
        refuse_shared(name, held[own][0], shares)

    every = [(k, leaf) for k, (_, leaves, *_) in enumerate(held) for leaf in leaves]
    holders: dict[int, list[int]] = {}
    for k, leaf in every:
        for other in () if isinstance(leaf, np.ndarray) else holders.setdefault(id(leaf), []):
            if held[k][2] or held[other][2]:
                refuse(k, other)
        holders.setdefault(id(leaf), []).append(k)
    leaves = [(k, leaf) for k, leaf in every if isinstance(leaf, np.ndarray) and leaf.size]
    ends = sorted((*np.lib.array_utils.byte_bounds(leaf), k, i) for i, (k, leaf) in enumerate(leaves))
    open_: list[tuple[int, int, int]] = []  # the arrays that reach as far as the next one begins
    for start, end, k, i in ends:
        open_ = [other for other in open_ if other[0] > start]
        for _, other, j in open_:
            if (held[k][3] or held[other][3]) and _share(leaves[i][1], leaves[j][1]):
                refuse(k, other)
        open_.append((end, k, i))


def _share(a: Any, b: Any) -> bool:
    try:
        return np.shares_memory(a, b, max_work=1000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def hooks(ready: Any, check: str | None) -> tuple[Callable[..., Any], ...]:
    """The functions that ``ready=`` names: none, one, or two."""
    found = () if ready is None else ready if isinstance(ready, tuple) else (ready,)
    if len(found) > 2 or not all(map(callable, found)):
        raise BadArgument(
            f"ready={ready!r} is no hook", why="it is a function of an adjoint and its path, or a pair of that and a "
            "function of nothing", way_out="say ready=sent, or ready=(sent, wait)",
        )  # fmt: skip
    if found and check is not None:
        raise BadArgument(f"ready= with check={check!r}", why="what is checked runs twice", way_out="leave out check")
    return found


def refuse_again(ready: tuple[Any, ...], again: bool, function: Any) -> None:
    """Refuse a derivative with hooks that is differentiated again, or that may run twice."""
    if ready and again:
        raise BadArgument(
            f"the derivative of {function.__name__} has hooks, and may run twice, or is differentiated again",
            why="each part of a gradient is given to a hook once", way_out="leave out ready=",
        )  # fmt: skip


def check_seed(name: str, seed: Type, result: Type, what: str = "seed", of: str = "result") -> None:
    """Refuse a seed that does not have the result's shape, or a tangent that does not have its argument's."""
    if isinstance(result, Unknown) or isinstance(seed, Unknown):
        return
    if is_container(result):
        given = [k for k, _ in components(seed)] if is_container(seed) else None
        wanted: list[Any] | None = [k for k, _ in components(result)]
        if isinstance(result, Sequence) and result.length is None:  # as many as there are: only the call knows
            wanted = None if (result.kind is dict) != gives_keys(seed) else given
        if given != wanted or given is None:
            raise BadSeed(
                f"the {what} of {name} does not have the structure of its {of}",
                why=f"the {of} is {describe(result)}, and the {what} is {describe(seed)}",
                way_out=f"give a {what} for each part of the {of}",
            )
        for (_, s), (_, r) in zip(components(seed), components(result)):
            check_seed(name, s, r, what, of)
        return
    if isinstance(result, (Scalar, Array)):
        wanted_shape = result.shape if isinstance(result, Array) else ()
        given_shape = seed.shape if isinstance(seed, Array) else () if isinstance(seed, Scalar) else None
        if (
            given_shape is None
            or len(given_shape) != len(wanted_shape)
            or any(surely_differ(a, b) for a, b in zip(given_shape, wanted_shape, strict=True))
        ):
            raise BadSeed(
                f"the {what} of {name} does not have the shape of its {of}",
                why=f"the {of} is {describe(result)}, and the {what} is {describe(seed)}",
                way_out=f"give a {what} of the {of}'s shape, np.ones_like({of}) for instance",
            )


def fitted_seed(given: Any, value: Any, said: tuple[str, str, str], beside: Any = None) -> Any:
    """A seed for a value, or a tangent, as the code takes it.  Raises `BadSeed` if it does not fit.

    ``said`` is whose it is, what it is, and of what; lengths are told by those of the values ``beside``.
    """
    name, what, of = said
    t = type_of(value, sizes := sizes_of(value if beside is None else beside))
    if what == "tangent" and not is_differentiable(t):
        raise BadSeed(
            f"the tangent of {name} must be None or zero",
            why=f"the argument is {describe(t)}, which has no tangent", way_out="pass a float",
        )  # fmt: skip
    complete = completed(t, value, given, said)
    check_seed(name, type_of(complete, sizes), t, what, of)
    return as_seed(complete, value)


def as_seed(seed: Any, value: Any) -> Any:
    """A seed with the dtypes of the value."""
    if isinstance(value, np.generic):
        return type(value)(seed)
    if is_array(value) and is_array(seed):
        return seed.astype(value.dtype, copy=False)
    if isinstance(value, dict):
        return {k: as_seed(seed[k], v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(as_seed(s, v) for s, v in zip(seed, value, strict=True)))
    if isinstance(value, (list, tuple)):
        return type(value)(as_seed(s, v) for s, v in zip(seed, value, strict=True))
    if is_object(value) and seed is not None:
        for name, part in vars(seed).items() if hasattr(seed, "__dict__") else ():
            object.__setattr__(seed, name, as_seed(part, getattr(value, name)))
    if isinstance(value, (float, complex)) and isinstance(seed, (int, float, complex, np.generic)):
        return seed if isinstance(seed, (float, complex)) and type(value) is float else type(value)(seed)  # type: ignore[arg-type]
    return seed


def sizes_of(value: Any) -> dict:
    sizes: dict = {}
    type_of(value, sizes)
    return sizes


def own_copy(value: Any) -> Any:
    """Arrays copied, so that nobody can change what was saved."""
    if is_array(value):
        return value.copy(order="K")  # whether a view of it can be taken depends on how it lies
    if type(value) in (list, tuple):
        return type(value)(map(own_copy, value))
    if isinstance(value, tuple):
        return type(value)(*map(own_copy, value))
    if type(value) is dict:
        return {k: own_copy(v) for k, v in value.items()}
    if is_object(value):
        return runtime.copied(value, leave=unseen(value))
    return value


def fingerprint(value: Any) -> Any:
    """What tells whether an array, or one in a container or an object, has been changed."""
    if is_array(value):
        host = value if isinstance(value, np.ndarray) else value.get()
        return (
            str(host.dtype),
            host.shape,
            hashlib.blake2b(np.ascontiguousarray(host).tobytes(), digest_size=16).digest(),
        )
    if isinstance(value, (list, tuple)):
        return tuple(map(fingerprint, value))
    if isinstance(value, dict):
        return tuple((k, fingerprint(v)) for k, v in value.items())
    if is_object(value):
        return fingerprint({name: getattr(value, name) for name in attributes_of(value)})
    return repr(value) if isinstance(value, (bool, int, float, complex, str, bytes, np.generic)) else id(value)


def is_zero_of_integer(primal: Any, t: Any) -> bool:
    if type(primal) in (dict, list, tuple) and not primal:
        return t == primal
    return isinstance(t, (int, float)) and t == 0 and not is_differentiable(type_of(primal))


def zero_like(value: Any) -> Any:
    """The tangent of what nothing moves: zeros for numbers and arrays, None for what has no tangent."""
    return tree.map(_zero_of_leaf, value, every=True)


def _zero_of_leaf(leaf: Any) -> Any:
    if is_array(leaf):
        return np.zeros_like(leaf)
    return 0.0 * leaf if isinstance(leaf, (float, complex, int)) else None
