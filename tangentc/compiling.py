"""What runs the loops of emitted code: NumPy's calls, or kernels that Numba compiles, or CuPy for the device."""

from __future__ import annotations

import ast
import contextlib
import importlib
import importlib.util
import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

from tangentc.compiler.context import Context
from tangentc.compiler.front import front_for
from tangentc.core.jitted import is_jitted
from tangentc.core.types import Type
from tangentc.cuda.launches import adds_at
from tangentc.errors import BadArgument

DEVICE = ("cuda", "cuda in order")  # where threads add to entries one after the other, or each on its own


class Loops(NamedTuple):
    """What runs loops ("auto": NumPy, then kernels if they pay), how many threads share one, and whether what raises in
    Python raises in them."""

    by: str = "numpy"
    threads: int = 1
    as_python: bool = True

    @property
    def are_compiled(self) -> bool:
        return self.by == "numba"

    @property
    def of_device(self) -> bool:
        return self.by in DEVICE


def loops_for(kernels: str | None, threads: int | None, function: Any) -> Loops:
    """What runs the loops of a function's derivatives; where Numba compiles the function itself, it compiles these too.

    Raises `BadArgument` for a compiler that there is none of, or that is not installed, and for no number of threads.
    """
    if threads is not None and (type(threads) is not int or threads < 1):
        raise BadArgument(
            f"threads={threads!r} is no number of threads", why="it is how many share a loop",
            way_out="say threads=2, or leave it out",
        )  # fmt: skip
    found = kernels or ("numba" if is_jitted(function) or (threads or 1) > 1 else "numpy")
    if found == "numpy":
        if threads is not None and threads > 1:
            raise BadArgument(
                f"threads={threads} and kernels={kernels!r}", why="threads share the loops of kernels",
                way_out='say kernels="numba"',
            )  # fmt: skip
        return Loops()
    if found in DEVICE:
        return _of_device(found, threads)
    if found not in ("numba", "auto"):
        raise BadArgument(
            f"kernels={kernels!r} is no compiler of loops",
            why='there are "numba", "auto", and "cuda" for the device', way_out='say kernels="numba", or leave it out',
        )  # fmt: skip
    if importlib.util.find_spec("numba") is None:
        raise BadArgument(
            f'kernels="{found}" needs Numba, which is not installed', why="it compiles the loops of the emitted code",
            way_out='install it: pip install "tangentc[numba]"',
        )  # fmt: skip
    return Loops(found, threads or 1, not is_jitted(function))


def _of_device(by: str, threads: int | None) -> Loops:
    if threads is not None and threads > 1:
        raise BadArgument(
            f"threads={threads} and kernels={by!r}", why="the threads of the device are as many as there are entries",
            way_out="leave threads out",
        )  # fmt: skip
    try:
        importlib.import_module("cupy")
    except ImportError:
        raise BadArgument(
            f'kernels="{by}" needs CuPy, which is not installed', why="it compiles the kernels, and launches them",
            way_out='install it: pip install "tangentc[cuda12]"',
        ) from None  # fmt: skip
    return Loops(by, 1, False)


def written(
    loops: Loops, source: Any, types: list[Type], arrays: str, inner: bool, watch: Any,
    write: Callable[[Context], None],
) -> Context:  # fmt: skip
    """The compilation in which ``write`` has written a derivative, its loops as kernels where they are to be."""
    left: dict[Any, str] = {}
    if loops.of_device:
        return _written_for_device(loops.by, source, types, arrays, inner, watch, write)
    if loops.are_compiled and arrays == "numpy" and not inner and not watch:
        with front_for(source, types, watch, True) as front:
            write(context := Context(front, arrays, inner, True))
        if not context.changed and context.take_out_kernels(loops.as_python, loops.threads):  # what raises is run again
            return context
        left = context.left  # for all of its loops NumPy has to be the best that it can
    with front_for(source, types, watch) as front:
        write(context := Context(front, arrays, inner))
    context.left = left
    return context


def _written_for_device(
    by: str, source: Any, types: list[Type], arrays: str, inner: bool, watch: Any, write: Callable[[Context], None]
) -> Context:
    if arrays != "cupy":
        raise BadArgument(
            f'kernels="{by}" takes arrays of CuPy, and there are none among the arguments',
            why="its kernels run on the device, where their arrays have to be",
            way_out='send them there: cupy.asarray(x); or say kernels="numba" for arrays of NumPy',
        )  # fmt: skip
    if not inner and not watch:
        with front_for(source, types, watch, True) as front:
            write(context := Context(front, arrays, inner, True))
        if not context.changed and context.take_out_launches(by == "cuda"):  # what raises is run again
            return _in_order(context, by)
    with front_for(source, types, watch) as front:
        write(context := Context(front, arrays, inner))
    return _in_order(context, by)


def _in_order(context: Context, by: str) -> Context:
    """The compilation.  Raises `BadArgument` if it adds up in any order, and is not to."""
    if by != "cuda" and any(map(adds_at, context.statements())):
        raise BadArgument(
            f"kernels={by!r}, and the derivative adds at index arrays where no kernel does",
            why="CuPy adds there in an order that nobody knows", way_out='say kernels="cuda"',
        )  # fmt: skip
    return context


@contextlib.contextmanager
def with_threads(loops: Loops) -> Iterator[None]:
    """Let no more threads than that share a loop."""
    if loops.threads == 1:
        yield
        return
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(min(loops.threads, numba.config.NUMBA_NUM_THREADS))  # type: ignore[attr-defined]
    try:
        yield
    finally:
        numba.set_num_threads(before)


def warn_uncompiled(error: Exception, function: Any) -> None:
    """Say that Numba could not compile the loops of a function for these arguments."""
    module = type(error).__module__ or ""
    if module.startswith(("numba", "llvmlite")):
        said = str(error).strip().splitlines()
        name = getattr(function, "__name__", "a function")
        warnings.warn(f"Numba does not compile the loops of {name} here, NumPy runs: {said[0]}", stacklevel=4)


# ------------------------------------------------------------------ kernels once they pay
SECONDS_A_LOOP = 0.5  # that compiling one takes, until it was measured
RUNS = 4  # of kernels that are measured before it is decided


def loops_in(text: str) -> int:
    """How many loops a text has that are in no other one."""

    def count(body: list[Any]) -> int:
        return sum(1 if isinstance(s, ast.For | ast.While) else count([*ast.iter_child_nodes(s)]) for s in body)

    return count(ast.parse(text).body)


class Trial:
    """Which code is quicker for arguments of some types: NumPy's runs first; once it has taken as long as compiling the
    loops will, kernels are compiled, and the quicker code is kept.

    So a program takes at most twice the time that it would if it was known before (ski rental: Karlin, Manasse, Rudolph
    and Sleator, Competitive snoopy caching, Algorithmica 1988).
    """

    seconds = SECONDS_A_LOOP

    def __init__(self, loops: int):
        self.loops = loops
        self.spent, self.runs = 0.0, 0
        self.best = self.best_of_kernels = float("inf")
        self.is_decided = loops == 0
        self.kernels = False

    def run(self, by_numpy: Callable[[], Any], by_kernels: Callable[[], Any]) -> Any:
        """What one of them gives."""
        if self.is_decided:
            return by_kernels() if self.kernels else by_numpy()
        self.kernels = self.kernels or self.spent > Trial.seconds * self.loops
        began = time.perf_counter()
        result = by_kernels() if self.kernels else by_numpy()
        taken = time.perf_counter() - began
        if not self.kernels:
            self.spent, self.best = self.spent + taken, min(self.best, taken)
        elif self.runs == 0:  # which compiles
            Trial.seconds = 0.5 * (Trial.seconds + taken / self.loops)
        else:
            self.best_of_kernels = min(self.best_of_kernels, taken)
        self.runs += self.kernels
        if self.runs > RUNS:
            self.is_decided, self.kernels = True, self.best_of_kernels < self.best
        return result
