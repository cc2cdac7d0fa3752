"""Derivative functions: compiled for the types they are called with, and found again by them."""

from __future__ import annotations

import contextlib
import functools
import inspect
from collections.abc import Callable, Iterator
from collections.abc import Sequence as Sequence_
from typing import TYPE_CHECKING, Any, Generic, ParamSpec, TypeVar

from tangentc.analysis.turning import are_complex, complex_results, seen_to_turn
from tangentc.arguments import (
    arrays_of,
    check_seed,
    hooks,
    refuse_again,
    refuse_integers,
    refuse_repeated,
    refuse_tables,
    refuse_turned,
    states_within,
    with_paths,
)
from tangentc.backend.load import print_program
from tangentc.backend.tracebacks import locate
from tangentc.binding import Binding
from tangentc.compiled import Code, Compiled, or_raised, seeds_inside
from tangentc.compiler.context import Context
from tangentc.compiler.dispatch import MOST, MOST_OF_ONE, Dispatch, written
from tangentc.compiler.front import uncollected
from tangentc.compiler.guards import covers, form
from tangentc.compiling import Trial, loops_for, loops_in, warn_uncompiled, with_threads
from tangentc.compiling import written as written_by
from tangentc.core.inside import MADE, undecorated
from tangentc.core.jitted import in_python
from tangentc.core.nodes import Const
from tangentc.core.types import Scalar, Type, Unknown
from tangentc.core.values import holds_itself, type_of, types_of
from tangentc.derive.assemble import gradient as write_gradient
from tangentc.derive.assemble import make_tangent
from tangentc.derive.results import check_result
from tangentc.errors import BadArgument, TangentcError, TurnedComplex, internal
from tangentc.frontend.callables import plain_name, python_function
from tangentc.frontend.dependencies import Signed
from tangentc.integers import settled, with_values
from tangentc.kept.record import compiled as compiled_or_kept
from tangentc.rules.registry import REGISTRY
from tangentc.singular import RAISED, in_numpy, without_raising

P = ParamSpec("P")
R = TypeVar("R")


class Derivative(Binding, Generic[P, R]):
    """A derivative function of ``f``, compiled for the types it is called with.

    ``source`` is the emitted text for the types of the last call, ``source_for(*args)`` for those of the
    given arguments; neither runs the code.
    """

    def __init__(
        self, function: Callable[..., Any], kind: str, wrt: Any = 0, has_aux: bool = False, check: str | None = None,
        memory: int | str | None = None, kernels: str | None = None, threads: int | None = None, ready: Any = None,
    ):  # fmt: skip
        if check not in (None, "finite"):
            raise BadArgument(f"check={check!r} is not a check", why="there is one", way_out='say check="finite"')
        self.memory, self.limit = memory, states_within(memory)
        self.given = undecorated(function, "__tangentc_given__")
        self.loops, self.ready = loops_for(kernels, threads, self.given), hooks(ready, check)
        self._given_signed = Signed(self.given)
        self.function = python_function(function, kind)
        self.kind, self.wrt, self.has_aux, self.check = kind, wrt, has_aux, check
        functools.update_wrapper(self, self.function, updated=())
        self.__name__ = f"{self.function.__name__}_{kind}"
        self.__doc__ = "\n\n".join([self.said(), *([self.function.__doc__] if self.function.__doc__ else [])])
        given: Any = self.given.code if isinstance(self.given, Derivative) else in_python(self.given)
        self.code: Code = Code.of(
            given, kind, repr(wrt), has_aux, check, self.limit, self.loops, *map(Const, self.ready)
        )
        self.last: Compiled | None = None

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.function.__name__}, wrt {self.wrt!r}>"

    if not TYPE_CHECKING:  # type checkers would ask it of what a property gives

        def __get__(self, instance: Any, owner: Any = None) -> Any:
            return self if instance is None else functools.partial(self, instance)

    # ---------------------------------------------------------- looking
    @property
    def source(self) -> str:
        """The emitted text for the types of the last call; before any call, for unknown types."""
        if self.last is not None:
            return self.last.text.whole
        types: list[Type] = [Unknown("no call has been made yet") for _ in self._signature().parameters]
        try:
            return print_program(self._context(self.resolve(types), types).emitted).whole
        except TangentcError as error:
            raise error.with_traceback(None) from None

    def source_for(self, *args: Any, annotate: bool = False, **keywords: Any) -> str:
        """The emitted text for arguments of these types, compiled but not run.

        With ``annotate`` each line says the type of what it makes, ``# h: f64[64, 50]``, and each value that is saved
        for the adjoint sweep, or computed again in it, why.
        """
        fitted = self.fitted(args, keywords)
        bound = fitted.bind(args, keywords)
        text = fitted.compiled(bound).text
        if not annotate:
            return text.whole
        from tangentc.backend.annotate import annotated

        sizes: dict[int, Any] = {}
        for a in bound:
            type_of(a, sizes)
        return annotated(text, {length.symbol: n for n, length in sizes.items()})

    def dispatch_for(self, *args: Any, **keywords: Any) -> str:
        """The text of the function that takes arguments of these types; it is written, but the code is not run.

        A call tries it first.  It gives the arguments by position if the emitted code is right for them: if they are
        of the types that it was compiled for, and what it depends on is as it was.  Else it gives None, and the call
        looks for other code, or compiles.  Arguments of very many parts have none: the text is empty then.

        >>> import tangentc
        >>> print(tangentc.grad(lambda x: x * x).dispatch_for(2.0))  # doctest: +ELLIPSIS
        def lambda__grad_takes(x):
            # x: float
            if not (type(x) is float):
                return None
            ...
            return (x,)
        <BLANKLINE>
        """
        fitted = self.fitted(args, keywords)
        bound = fitted.bind(args, keywords)
        made = fitted._dispatch(fitted.compiled(bound), fitted._key(bound), bound)
        return made.text if made is not None else ""

    def njit_for(self, *args: Any, **keywords: Any) -> Any:
        """The derivative for arguments of these types as a function of Numba, which other functions call that Numba
        compiles.  Raises `UnsupportedSyntax` where the text has something that Numba has no words for, `BadArgument`
        where it is not installed; the function raises `ValueError` for lengths that it was not made for.

        >>> import numba, tangentc
        >>> slope = tangentc.grad(lambda x: x * x).njit_for(2.0)
        >>> numba.njit(lambda x: x - 0.1 * slope(x))(2.0)
        1.6
        """
        if not self.loops.are_compiled:
            return self.alike(self.given, "numba", None).njit_for(*args, **keywords)
        from tangentc.entry import jitted

        fitted = self.fitted(args, keywords)
        return jitted(fitted, fitted.bind(args, keywords))

    def _repr_html_(self) -> str:
        from tangentc.backend.highlight import fragment

        return fragment(self.source)

    # ---------------------------------------------------------- calling
    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R:
        for dispatch in self.code.dispatches:
            try:
                bound = dispatch.takes(*args, **keywords)
            except Exception:  # too few arguments, an attribute that cannot be read: the general way says what is wrong
                continue
            if bound is not None:
                self.last = compiled = dispatch.compiled
                try:
                    return self.run_found(compiled, bound)
                except TurnedComplex:
                    with complex_results():
                        return self.run(bound)
        return self._call_in_general(args, keywords)

    def _call_in_general(self, args: tuple, keywords: dict[str, Any]) -> Any:
        """A call that no written function takes: it may have to be compiled, or to be refused."""
        if keywords or len(args) != self.arity or self._has_keywords and self.kind != "adjoint":
            fitted = self.fitted(args, keywords)
            if fitted is not self:
                try:
                    return fitted(*args, **keywords)
                finally:
                    self.last = fitted.last
            args = self.bind(args, keywords)
        try:
            return self.run(args)
        except TurnedComplex:
            with complex_results():
                return self.run(args)

    def run(self, bound: tuple, tangents: tuple = (), in_numpy_numbers: bool = False) -> Any:
        """What the code for these arguments gives.  Raises `TurnedComplex` if it was compiled for real numbers and
        they are not.  Where Python's numbers raise, and the function itself does not, NumPy's are used.
        """
        own = bound[: len(self._signature().parameters)]
        compiled = or_raised(lambda: self.compiled(bound, True), self.function, own)
        compiled.sync(bound)
        return self.run_found(compiled, bound, tangents, in_numpy_numbers)

    def run_found(self, compiled: Compiled, bound: tuple, tangents: tuple = (), in_numpy_numbers: bool = False) -> Any:
        """What the code that was found for these arguments gives."""
        if self.loops.by != "auto" or in_numpy_numbers or self.check is not None:
            return self._run_found(compiled, bound, tangents, in_numpy_numbers)
        if compiled.trial is None:
            compiled.trial = Trial(loops_in(compiled.text.text))
        return compiled.trial.run(
            lambda: self._run_found(compiled, bound, tangents, False), lambda: self.with_kernels.run(bound, tangents)
        )

    def _run_found(self, compiled: Compiled, bound: tuple, tangents: tuple, in_numpy_numbers: bool) -> Any:
        draws = compiled.draws(bound)
        refuse_again(self.ready, compiled.is_doubtful, self.function)
        if compiled.text.is_compiled or compiled.text.is_of_device:
            if compiled.is_doubtful or in_numpy_numbers or self.check is not None:
                return self.without_kernels.run(bound, tangents, in_numpy_numbers)
            try:
                with with_threads(self.loops):
                    return compiled.function(*bound, *compiled.seeds, *tangents)
            except Exception as error:  # NumPy's code says it in its own words, or takes what loops were not made for
                if self.ready or compiled.text.is_of_device and not isinstance(error, (ValueError, *RAISED)):
                    locate(error)
                    raise
                warn_uncompiled(error, self.function)
                draws.again()
                return self.without_kernels.run(bound, tangents, in_numpy_numbers)
        try:
            if compiled.is_doubtful or in_numpy_numbers or self.check is not None:
                return self._run_watched(compiled, bound, tangents, in_numpy_numbers)
            return compiled.function(*bound, *compiled.seeds, *tangents)
        except RAISED as error:
            locate(error)
            if in_numpy_numbers or self.ready:
                raise
            draws.again()
            given = without_raising(error, self.function, bound[: self._parameters])
            return self.run(given + in_numpy(bound[self._parameters :]), in_numpy(tangents), True)
        except Exception as error:
            locate(error)
            raise

    @functools.cached_property
    def without_kernels(self) -> Derivative:
        """The same derivative in NumPy's code."""
        return self.alike(self.given, "numpy", None)

    @functools.cached_property
    def with_kernels(self) -> Derivative:
        """The same derivative with its loops compiled."""
        return self.alike(self.given, "numba", self.loops.threads)

    def alike(self, given: Any, kernels: str | None, threads: int | None) -> Derivative:
        """The same derivative of something else, or with other loops."""
        return Derivative(
            given, self.kind, self.wrt, self.has_aux, self.check, self.memory, kernels, threads, self.ready
        )

    @property
    def kernels(self) -> str:
        """What runs the loops."""
        return self.loops.by

    @property
    def threads(self) -> int | None:
        """How many share one."""
        return self.loops.threads if self.loops.by != "numpy" else None

    def _run_watched(self, compiled: Compiled, bound: tuple, tangents: tuple, in_numpy_numbers: bool) -> Any:
        """What code gives whose numbers are other ones than it was compiled for, or may turn out to be."""
        if self.check is not None:
            from tangentc.watch.finite import checked

            return checked(compiled, bound)
        seeds = compiled.seeds
        if in_numpy_numbers and self.kind in ("grad", "value_and_grad"):
            seeds = in_numpy((*seeds, 1.0))
        with seen_to_turn(compiled.is_doubtful):
            function = compiled.function_of_numpy() if in_numpy_numbers else compiled.function
            result = function(*bound, *seeds, *tangents)
        if compiled.is_doubtful:
            refuse_turned(result, bound, self.function)
        return result

    def as_run(self, bound: tuple) -> contextlib.AbstractContextManager:
        """Compile, in the context, as a call with these arguments does: for real numbers, unless they are not."""
        try:
            if self.compiled(bound).is_doubtful:
                self.run(bound)
        except TurnedComplex:
            return complex_results()
        except Exception:  # which the caller's own run will raise
            pass
        return contextlib.nullcontext()

    # ---------------------------------------------------------- compiling
    def compiled(self, args: tuple, any_lengths: bool = False) -> Compiled:
        """The code for arguments of these types; with ``any_lengths``, that for other lengths which is right for these
        too.  A refusal is raised without the compiler's own frames."""
        try:
            return self._compiled(args, any_lengths)
        except TangentcError as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            raise internal(error, self.function) from error

    def _compiled(self, args: tuple, any_lengths: bool) -> Compiled:
        key = self._key(args)
        if (found := self._kept(key) or (next(self._alike(key), None) if any_lengths else None)) is not None:
            self.last = found
            self._take(found, key, args)
            return found
        if key in self.code.turned and self._kept((*key[:-1], True)) is not None:
            raise self.code.turned[key]
        with self.code.lock:
            if self.code.version != REGISTRY.version:
                self.code.forget()
                self.code.version = REGISTRY.version
            if (found := self._kept(key)) is None:
                found = self._compile_kept(key, args)
        self.last = found
        return found

    def _compile_kept(self, key: Any, args: tuple) -> Compiled:
        """The code for these arguments, compiled and put where it is found again."""
        refuse_tables(args, list(self.signature().parameters), self.function)
        options = self.code.options

        def compiled(given: list[Type]) -> Compiled:
            seed = given.pop() if self.kind == "adjoint" else None
            return self._compile(given, key[1], seed)

        def settle() -> tuple[Compiled, tuple[int, ...]]:
            types = types_of(args[: self.arity])
            if any(map(holds_itself, types)):
                raise RecursionError
            moving = self.positions(types[: len(types) - (self.kind == "adjoint")])[0]
            return settled(lambda types: compiled(list(types)), types, args, moving, options)

        paths = ".".join(map(str, self._wanted())).split(".")
        try:
            found, self.code.options = self.code.look(settle, (self.function, *args), paths, lambda found: found[0])
        except TurnedComplex as turned:
            self.code.turned[key] = turned
            raise
        if len(self.code.found) > 1000 or self.code.options != options:  # which gave what was compiled before no values
            self.code.forget()
        if (before := self.code.found.get(key := self._key(args))) is not None:
            found.overlook_growing(before, lambda: self._compile(found.types, key[1], found.seed).text.whole)
        self.code.found[key] = found
        self.code.widen(found, key, lambda types: compiled(types).text.whole)
        return found

    def _kept(self, key: Any) -> Compiled | None:
        """The code that was compiled before, if it is still right."""
        found = self.code.found.get(key)
        return found if found is not None and self._is_right(found) else None

    def _alike(self, key: Any) -> Iterator[Compiled]:
        """The code that was compiled for other lengths, and is right for these."""
        for one in self.code.forms.get((form(key[0]), *key[1:]), {}).values():
            if one.made_for and covers(one.made_for, key[0]) and self._is_right(one):
                yield one

    def _is_right(self, compiled: Compiled) -> bool:
        """Whether all that code depends on is as it was."""
        return compiled.is_fresh(called=True) and self.code.version == REGISTRY.version

    def _key(self, args: tuple) -> Any:
        """Under which the code for arguments is found again: their types, and the values that are written into it."""
        with self.code.seeing(as_key=True):
            types = types_of(args)
        return tuple(with_values(types, args, self.code.options)), arrays_of(args), are_complex()

    def _take(self, compiled: Compiled, key: Any, args: tuple) -> None:
        """Let the next call with such arguments find the code at once."""
        found = self.taking(compiled, key, args) if len(args) == self.arity else None
        if found is not None:
            self.code.dispatches = (found, *(d for d in self.code.dispatches if d is not found))[:MOST]

    def taking(self, compiled: Compiled, key: Any, args: tuple, called: bool = True) -> Dispatch | None:
        """The function that takes such arguments, which have been found to be right for the code."""
        if key[-1]:  # what may be complex was taken to be, which is not so in another call
            return None
        found = next((d for d in compiled.dispatches if d.accepts(args)), None)
        if found is None and compiled.written_for < MOST_OF_ONE:
            compiled.written_for += 1
            made = self._dispatch(compiled, key, args, called)
            if made is not None and made.accepts(args) and compiled.is_fresh(called):
                compiled.dispatches.append(found := made)
        return found

    def _dispatch(self, compiled: Compiled, key: Any, args: tuple, called: bool = True) -> Dispatch | None:
        functions = (self.given, self.function)[self.given is self.function :]
        signature = self.signature()
        if self.kind == "adjoint":
            only = inspect.Parameter.POSITIONAL_ONLY
            signature = signature.replace(parameters=[p.replace(kind=only) for p in signature.parameters.values()])
        types = compiled.made_for or key[0]
        return written(compiled, f"{compiled.text.name}_takes", signature, types, args, functions, called)

    @uncollected()
    def _compile(
        self, types: list[Type], arrays: str = "numpy", seed: Type | None = None, inner: bool = False, watch: Any = None
    ) -> Compiled:
        source = self.resolve(types)

        def write() -> Context:
            return self._context(source, types, arrays, seed, inner, watch)

        asked = self.kind, self.wrt, self.has_aux, self.limit, *self.loops
        compiled = compiled_or_kept(write, source, types, seed, arrays, inner, None if watch or self.ready else asked)
        compiled.seeds = (1.0,) * seeds_inside(source, types)
        return compiled

    def _context(
        self, source: Any, types: list[Type], arrays: str = "numpy", seed: Type | None = None, inner: bool = False,
        watch: Any = None,
    ) -> Context:  # fmt: skip
        def write(context: Context) -> None:
            self.write(context, source, types, seed)

        return written_by(self.loops, source, types, arrays, inner, watch, write)

    def resolve(self, types: list[Type]) -> Any:
        """The Python function to differentiate: for a derivative, its emitted text for these types."""
        if not isinstance(self.function, Derivative):
            return self.function
        inner = self.function
        if inner.kind == "adjoint":
            return inner._compile(types[:-1], seed=types[-1], inner=True).function
        return inner._compile(types, inner=True).function

    def write(self, context: Context, source: Any, types: list[Type], seed: Type | None) -> None:
        """Write the derivative of ``source`` for these types, and of this seed, into a compilation."""
        wrt, single = self.positions(types)
        name = f"{plain_name(self.function)}_{self.kind}"
        context.names.add(name)
        context.ready = self.ready
        refuse_again(self.ready, context.inner, self.function)
        inherited = seeds_inside(source, types)
        types = [*types, *(Scalar("float64", True) for _ in range(inherited))]
        if self.kind == "jvp":
            make_tangent(context, source, types, tuple(i in wrt for i in range(len(types))), name)
            check_result(context.prepare(source, types))
            return
        if self.kind == "adjoint":
            seed = seed or Unknown("no call has been made yet")
            check_seed(self.function.__name__, seed, context.prepare(source, types).result)
        write_gradient(
            context, source, types, wrt, single, value=self.kind == "value_and_grad", aux=self.has_aux,
            seed_given=seed, name=name, paths=self.paths, inherited=inherited,
            limit=None if context.inner else self.limit,  # what is differentiated again saves what it needs
        )  # fmt: skip
        check_result(context.prepare(source, types))

    def _wanted(self) -> Sequence_[Any]:
        return self.wrt if isinstance(self.wrt, (tuple, list)) else (self.wrt,)

    def positions(self, types: list[Type]) -> tuple[tuple[int, ...], bool]:
        """The positions of the parameters to differentiate by, and whether there is one, not a tuple."""
        names = list(self._signature().parameters)
        wrt, self.paths, single = with_paths(self.wrt, names, self.function)
        for i in wrt:
            refuse_integers(types[i], names[i], self.function)
        refuse_repeated(tuple(zip(wrt, self.paths)), names, self.function)
        return wrt, single


MADE["Derivative"] = Derivative
