"""What users call."""

from __future__ import annotations

import builtins
import copy
import dataclasses
import functools
import inspect
import threading
import types as pytypes
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from tangentc.backend.load import Text, load, print_program
from tangentc.core import ops
from tangentc.core.nodes import Param
from tangentc.core.types import (
    EXACT,
    Array,
    Scalar,
    Type,
    Unknown,
    components,
    describe,
    is_array,
    is_container,
    is_differentiable,
    type_of,
)
from tangentc.errors import BadArgument, BadSeed, InternalError, NotDifferentiable, TangentcError, UnsupportedSyntax
from tangentc.pipeline import Context
from tangentc.rules.registry import REGISTRY
from tangentc.transform.assemble import gradient as write_gradient
from tangentc.transform.assemble import make_pair, make_tangent

Wrt = int | str | Sequence[int | str]


# ------------------------------------------------------------------ compiled code, found by types
class Compiled:
    """One emitted program; it is loaded when it is first run."""

    def __init__(self, text: Text, context: Context, root: Any):
        self.text, self.context = text, context
        self.seeds: tuple[float, ...] = ()
        self.dependencies = [
            (scope, name, value, type_of(value) if _is_data(value) else None)
            for (_, name), (scope, value) in context.dependencies.items()
        ]
        self.live = text.live
        self.root = root

    def with_seeds(self, args: tuple, seeded: bool) -> tuple:
        """The arguments with the seeds, 1.0, of the gradients that are differentiated again."""
        return (*args[:-1], *self.seeds, *args[-1:]) if seeded else (*args, *self.seeds)

    @functools.cached_property
    def function(self) -> Any:
        function = load(self.text, self.root.__module__)
        scope = function.__globals__
        for where, name, _, known in self.dependencies:
            if known is not None and name in self.live:
                scope[name] = where.lookup(name)
        return function

    def is_fresh(self) -> bool:
        """Whether the names that the code was compiled for still stand for the same things."""
        for scope, name, value, known in self.dependencies:
            try:
                now = scope.lookup(name)
            except NameError:
                return False
            if now is not value and (known is None or not _is_data(now) or type_of(now) != known):
                return False
        return True

    def sync(self) -> None:
        """Let the code see the present values of the module's data."""
        if self.live:
            scope = self.function.__globals__
            for where, name, _, known in self.dependencies:
                if known is not None and name in self.live:
                    scope[name] = where.lookup(name)


def _is_data(value: Any) -> bool:
    return not (callable(value) or isinstance(value, pytypes.ModuleType))


class Derivative:
    """A derivative function of ``f``, compiled for the types it is called with.

    ``source`` is the emitted text for the types of the last call, ``source_for(*args)`` for those of the
    given arguments; neither runs the code.
    """

    def __init__(self, function: Callable[..., Any], kind: str, wrt: Any = 0, has_aux: bool = False):
        self.function = python_function(function, kind)
        self.kind, self.wrt, self.has_aux = kind, wrt, has_aux
        functools.update_wrapper(self, self.function, updated=())
        self.__name__ = f"{self.function.__name__}_{kind}"
        self._cache: dict[Any, Compiled] = {}
        self.last: Compiled | None = None
        self._lock = threading.RLock()
        self._version = REGISTRY.version

    def __repr__(self) -> str:
        return f"<{self.kind} of {self.function.__name__}, wrt {self.wrt!r}>"

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
            context, _ = self._context(types)
            return print_program(context.emitted).whole
        except TangentcError as error:
            raise error.with_traceback(None) from None

    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The emitted text for arguments of these types, compiled but not run."""
        bound = self.bind(args, keywords)
        return self.compiled(bound).text.whole

    def _repr_html_(self) -> str:
        import html

        return f"<pre>{html.escape(self.source)}</pre>"

    # ---------------------------------------------------------- calling
    def __call__(self, *args: Any, **keywords: Any) -> Any:
        bound = self.bind(args, keywords) if keywords or self._needs_binding(args) else args
        compiled = self.compiled(bound)
        compiled.sync()
        if compiled.seeds:
            bound = compiled.with_seeds(bound, self.kind == "adjoint")
        return compiled.function(*bound)

    def _signature(self) -> inspect.Signature:
        if not hasattr(self, "_known_signature"):
            inner = self.function
            self._known_signature = inner.signature() if isinstance(inner, Derivative) else inspect.signature(inner)
            self._parameters = len(self._known_signature.parameters)
        return self._known_signature

    def signature(self) -> inspect.Signature:
        """The signature of the derivative function."""
        own = self._signature()
        if self.kind != "adjoint":
            return own
        seed = inspect.Parameter("out_bar", inspect.Parameter.POSITIONAL_OR_KEYWORD)
        return own.replace(
            parameters=[p.replace(default=inspect.Parameter.empty) for p in own.parameters.values()] + [seed]
        )

    @property
    def arity(self) -> int:
        self._signature()
        return self._parameters + (self.kind == "adjoint")

    def _needs_binding(self, args: tuple) -> bool:
        return len(args) != self.arity

    def bind(self, args: tuple, keywords: dict[str, Any]) -> tuple:
        """Every argument by position, defaults filled in."""
        signature = self._signature()
        seed: tuple = ()
        if self.kind == "adjoint":
            if len(args) != self.arity or keywords:
                raise BadArgument(
                    f"{self.__name__} takes {self.arity} arguments by position",
                    why="an adjoint is called with every argument of the function, and then the seed out_bar",
                    way_out=f"call it as {self.__name__}({', '.join(signature.parameters)}, out_bar)",
                )
            args, seed = args[:-1], args[-1:]
            seed = (float(seed[0]),) if type(seed[0]) is int else seed
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"{self.function.__name__}: {error}") from None
        bound.apply_defaults()
        return (*(bound.arguments[name] for name in signature.parameters), *seed)

    # ---------------------------------------------------------- compiling
    def compiled(self, args: tuple) -> Compiled:
        """The code for arguments of these types.  A refusal is raised without the compiler's own frames."""
        try:
            return self._compiled(args)
        except TangentcError as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            raise internal(error, self.function) from error

    def _compiled(self, args: tuple) -> Compiled:
        key = key_of(args)
        found = self._cache.get(key)
        if found is not None and found.is_fresh() and self._version == REGISTRY.version:
            self.last = found
            return found
        with self._lock:
            sizes: dict[int, Any] = {}
            types = [type_of(a, sizes) for a in args[: self.arity]]
            if self.kind == "adjoint":
                types.pop()
            arrays = arrays_of(args)
            if self._version != REGISTRY.version:
                self._cache.clear()
                self._version = REGISTRY.version
            wide = (tuple(types), arrays, seed_key(args) if self.kind == "adjoint" else None)
            found = self._cache.get(wide)
            if found is None or not found.is_fresh():
                found = self._compile(types, arrays, args)
            if len(self._cache) > 1000:
                self._cache.clear()
            self._cache[wide] = self._cache[key] = found
        self.last = found
        return found

    def _compile(self, types: list[Type], arrays: str = "numpy", args: tuple | None = None) -> Compiled:
        context, source = self._context(types, arrays, args)
        text = print_program(context.emitted, arrays)
        compiled = Compiled(text, context, source)
        compiled.seeds = (1.0,) * seeds_inside(source, types)
        return compiled

    def _context(self, types: list[Type], arrays: str = "numpy", args: tuple | None = None) -> tuple[Context, Any]:
        source = self.resolve(types)
        context = Context(source, arrays)
        self.write(context, source, types, args)
        return context, source

    def resolve(self, types: list[Type]) -> Any:
        """The Python function to differentiate: for a derivative, its emitted text for these types."""
        if not isinstance(self.function, Derivative):
            return self.function
        inner = self.function
        own = types[:-1] if inner.kind == "adjoint" else types
        return inner._compile(own).function

    def write(self, context: Context, source: Any, types: list[Type], args: tuple | None) -> None:
        """Write the derivative of ``source`` for these types into a compilation."""
        wrt, single = self.positions(types)
        name = f"{_plain_name(self.function)}_{self.kind}"
        context.names.add(name)
        types = [*types, *(Scalar("float64", True) for _ in range(seeds_inside(source, types)))]
        if self.kind == "jvp":
            make_tangent(context, source, types, tuple(i in wrt for i in range(len(types))), name)
            return
        seed: Type | None = None
        if self.kind == "adjoint":
            seed = Unknown("no call has been made yet") if args is None else type_of(args[-1], _sizes(args))
            check_seed(self.function.__name__, seed, context.prepare(source, types).result)
        write_gradient(
            context, source, types, wrt, single, value=self.kind == "value_and_grad", aux=self.has_aux,
            seed_given=seed, name=name,
        )  # fmt: skip

    def positions(self, types: list[Type]) -> tuple[tuple[int, ...], bool]:
        """The positions of the parameters to differentiate by, and whether there is one, not a tuple."""
        names = list(self._signature().parameters)
        wrt, single = positions(self.wrt, names, self.function)
        for i in wrt:
            refuse_integers(types[i], names[i], self.function)
        return wrt, single


def internal(error: Exception, function: Any) -> InternalError:
    """A fault of the compiler, as something that a user can report."""
    return InternalError(
        f"tangentc failed on {function.__name__}",
        why=f"this is a fault of tangentc itself: {type(error).__name__}: {error}",
        way_out="report it, with the function; nothing wrong has been computed",
    )


def _plain_name(function: Any) -> str:
    return function.__name__.replace("<lambda>", "lambda_")


def python_function(function: Any, kind: str) -> Any:
    """The Python function behind what the user gave."""
    function = getattr(function, "__tangentc_function__", function)
    if isinstance(function, (Derivative, pytypes.FunctionType)):
        return function
    if REGISTRY.find(function) is not None:
        return _wrapped(function)
    raise UnsupportedSyntax(
        f"{function!r} is not a function that tangentc can read",
        why="methods, partial functions and callable objects are not differentiated yet",
        way_out="write a def that calls it",
    )


@functools.lru_cache(maxsize=256)
def _wrapped(function: Any) -> pytypes.FunctionType:
    """A function with a rule, as a function of Python: ``def f(x, y): return np.multiply(x, y)``."""
    import linecache

    rule = REGISTRY.find(function)
    assert rule is not None
    names = [n.strip("*") for n in rule.inputs] or ["x"]
    name = getattr(function, "__name__", "function").strip("_")
    text = f"def {name}({', '.join(names)}):\n    return _function({', '.join(names)})\n"
    filename = f"<tangentc rule {name}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    namespace: dict[str, Any] = {"_function": function, "__name__": "__main__"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace[name]


def seeds_inside(source: Any, types: list) -> int:
    """How many seeds an emitted function takes beyond the arguments of the user's function."""
    return len(inspect.signature(source).parameters) - len(types)


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
                f"wrt={wrt!r} does not name a parameter of {function.__name__}",
                why=f"its parameters are {', '.join(names)}" if names else "it has no parameters",
                way_out="give an index, a name, or a tuple of them",
            )
    if not out:
        raise BadArgument(
            f"wrt={wrt!r} names nothing", why="there is nothing to differentiate by", way_out="name a parameter"
        )
    return tuple(out), single


def refuse_integers(t: Type, name: str, function: Any) -> None:
    if isinstance(t, Unknown) or is_differentiable(t):
        return
    raise NotDifferentiable(
        f"{function.__name__} cannot be differentiated with respect to {name}, which is {describe(t)}",
        why="a derivative is taken by a real or complex number, and an integer cannot move by a little",
        way_out=_as_float(t, name),
    )  # fmt: skip


def _as_float(t: Type, name: str) -> str:
    if isinstance(t, Scalar):
        return f"pass a float: {name}=float({name})"
    return f"pass a float array: {name}.astype(float)" if isinstance(t, Array) else "pass numbers"


def key_of(args: tuple) -> Any:
    """What compiled code depends on in its arguments, cheap to make."""
    out: list[Any] = []
    for a in args:
        cls = type(a)
        if cls is float:
            out.append(float)
        elif cls is np.ndarray:
            out.append((a.dtype, a.shape))
        elif cls is int:
            out.append((int, a) if 8 <= a < 1 << 20 else int)
        else:
            out.append(_key(a))
    return tuple(out)


def _key(a: Any) -> Any:
    cls = type(a)
    if is_array(a):
        return cls, a.dtype, a.shape
    if cls in (int, float, complex):
        return cls
    if cls is list and a and type(a[0]) in (int, float) and len(builtins.set(map(type, a))) == 1:
        return list, type(a[0]), len(a)
    if isinstance(a, (list, tuple)):
        return cls, tuple(map(_key, a))
    if cls is dict:
        return dict, tuple(a), tuple(map(_key, a.values()))
    if isinstance(a, (bool, str, bytes)) or a is None:
        return cls, a
    if isinstance(a, np.generic):
        return cls
    t = type_of(a)
    if is_container(t):
        return cls, tuple(_key(getattr(a, k)) for k, _ in components(t))
    return cls, id(a)


def seed_key(args: tuple) -> Any:
    return _key(args[-1])


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


def _surely_differ(a: Any, b: Any) -> bool:
    """Whether two lengths cannot be the same: a symbol may be any length from `EXACT` on."""
    if isinstance(a, int) and isinstance(b, int):
        return a != b
    if isinstance(a, int) or isinstance(b, int):
        known, other = (a, b) if isinstance(a, int) else (b, a)
        return other.many and known < EXACT + min(other.offset, 0)
    return a.many and b.many and a.symbol == b.symbol and a.offset != b.offset


def check_seed(name: str, seed: Type, result: Type, shape: Any = None) -> None:
    """Refuse a seed that does not have the result's shape."""
    if isinstance(result, Unknown) or isinstance(seed, Unknown):
        return
    if is_container(result):
        given, wanted = (
            [k for k, _ in components(seed)] if is_container(seed) else None,
            [k for k, _ in components(result)],
        )
        if given != wanted:
            raise BadSeed(
                f"the seed of {name} does not have the structure of its result",
                why=f"the result is {describe(result)}, and the seed is {describe(seed)}",
                way_out="give a seed for each part of the result",
            )
        for (_, s), (_, r) in zip(components(seed), components(result), strict=True):
            check_seed(name, s, r)
        return
    if isinstance(result, (Scalar, Array)):
        wanted_shape = result.shape if isinstance(result, Array) else ()
        given_shape = seed.shape if isinstance(seed, Array) else () if isinstance(seed, Scalar) else None
        if (
            given_shape is None
            or len(given_shape) != len(wanted_shape)
            or any(_surely_differ(a, b) for a, b in zip(given_shape, wanted_shape, strict=True))
        ):
            raise BadSeed(
                f"the seed of {name} does not have the shape of its result",
                why=f"the result is {describe(result)}, and the seed is {describe(seed)}",
                way_out="give a seed of the result's shape, np.ones_like(result) for instance",
            )


# ------------------------------------------------------------------ the functions
def grad(f: Callable[..., Any], wrt: Any = 0, has_aux: bool = False) -> Derivative:
    """The gradient of a scalar function, as a function.

    ``wrt`` is a parameter's index or name, or a tuple of them; a tuple gives a tuple of gradients.  Each
    gradient has its parameter's shape, dtype and structure.  With ``has_aux`` the function returns
    ``(value, aux)`` and only the value is differentiated.  Raises `NotDifferentiable` if the value is not
    one real number or the parameter is an integer, and the other subclasses of `TangentcError`.

    >>> import numpy as np
    >>> def energy(x):
    ...     return np.sum(x * x)
    >>> grad(energy)(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    return Derivative(f, "grad", wrt, has_aux)


def value_and_grad(f: Callable[..., Any], wrt: Any = 0, has_aux: bool = False) -> Derivative:
    """As `grad`, giving ``(value, gradient)``; with ``has_aux``, ``((value, aux), gradient)``.

    >>> def square(x):
    ...     return x * x
    >>> value_and_grad(square)(3.0)
    (9.0, 6.0)
    """
    return Derivative(f, "value_and_grad", wrt, has_aux)


def adjoint(f: Callable[..., Any], wrt: Any = 0) -> Derivative:
    """The adjoint function ``(*args, out_bar)``: the gradient of ``sum(out_bar * f(*args))``.

    Every argument is given by position.  Raises `BadSeed` if ``out_bar`` does not have the result's shape.

    >>> import numpy as np
    >>> def double(x):
    ...     return 2 * x
    >>> adjoint(double)(np.ones(2), np.array([1.0, 3.0]))
    array([2., 6.])
    """
    return Derivative(f, "adjoint", wrt)


class _Pairs:
    """The compiled pairs of one function."""

    def __init__(self) -> None:
        self.found: dict[Any, tuple[Any, Any, Any, tuple[float, ...]]] = {}


_PAIRS: dict[Any, _Pairs] = {}


def vjp(f: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], tuple]]:
    """``(value, pullback)``; ``pullback(seed)`` gives one cotangent for each primal, in a tuple.

    The cotangent of an integer, a flag or a string is None.  A pullback may be called any number of times
    and changes nothing.  Raises `BadSeed` if the seed does not fit the value.

    >>> value, pullback = vjp(lambda x, y: x * y, 2.0, 3.0)
    >>> value, pullback(1.0)
    (6.0, (3.0, 2.0))
    """
    derivative = Derivative(f, "vjp")
    function = derivative.function
    args = derivative.bind(primals, {})
    sizes: dict[int, Any] = {}
    types = [type_of(a, sizes) for a in args]
    flags = tuple(map(is_differentiable, types))
    if not any(flags):
        value = function(*primals)
        return value, lambda seed: (None,) * len(primals)
    store = _PAIRS.setdefault(function, _Pairs())
    key = key_of(args), arrays_of(args), REGISTRY.version
    found = store.found.get(key)
    if found is None or not found[2].is_fresh():
        source = derivative.resolve(types)
        types = [*types, *(Scalar("float64", True) for _ in range(seeds_inside(source, types)))]
        context = Context(source, arrays_of(args))
        name = _plain_name(function)
        context.names |= {f"{name}_primal", f"{name}_adjoint"}
        more = tuple(False for _ in range(len(types) - len(flags)))
        try:
            make_pair(context, source, types, flags + more, (f"{name}_primal", f"{name}_adjoint"))
            text = print_program(context.emitted, arrays_of(args))
        except TangentcError as error:
            raise error.with_traceback(None) from None
        except Exception as error:
            raise internal(error, function) from error
        compiled = Compiled(text, context, source)
        loaded = compiled.function
        defaults = (1.0,) * len(more)
        found = loaded.__globals__[f"{name}_primal"], loaded.__globals__[f"{name}_adjoint"], compiled, defaults
        store.found[key] = found
        if len(_PAIRS) > 500:
            _PAIRS.pop(next(iter(_PAIRS)))
    primal, adjoint_function, compiled, defaults = found
    compiled.sync()
    value, saved = primal(*map(_own_copy, args), *defaults)

    def pullback(seed: Any) -> tuple:
        check_seed(function.__name__, type_of(seed, _sizes(value)), type_of(value, _sizes(value)))
        given = adjoint_function(saved, _as_seed(seed, value))
        parts = iter((given,) if sum(flags) == 1 else given)
        return tuple(next(parts) if flag else None for flag in flags)

    return _own_copy(value), pullback


def _as_seed(seed: Any, value: Any) -> Any:
    """A seed with the dtypes of the value."""
    if isinstance(value, np.generic):
        return type(value)(seed)
    if is_array(value) and is_array(seed):
        return seed.astype(value.dtype, copy=False)
    if isinstance(value, dict):
        return {k: _as_seed(seed[k], v) for k, v in value.items()}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(_as_seed(s, v) for s, v in zip(seed, value, strict=True)))
    if isinstance(value, (list, tuple)):
        return type(value)(_as_seed(s, v) for s, v in zip(seed, value, strict=True))
    return seed


def _sizes(value: Any) -> dict:
    sizes: dict = {}
    type_of(value, sizes)
    return sizes


def _own_copy(value: Any) -> Any:
    """Arrays copied, so that nobody can change what was saved."""
    if is_array(value):
        return value.copy()
    if type(value) in (list, tuple):
        return type(value)(map(_own_copy, value))
    if isinstance(value, tuple):
        return type(value)(*map(_own_copy, value))
    if type(value) is dict:
        return {k: _own_copy(v) for k, v in value.items()}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        copied = copy.copy(value)
        for f in dataclasses.fields(value):
            object.__setattr__(copied, f.name, _own_copy(getattr(value, f.name)))
        return copied
    return value


def jvp(f: Callable[..., Any], primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
    """``(value, tangent)``: the derivative of ``f`` along ``tangents``, of which None is zero.

    Raises `BadSeed` if a tangent does not fit its primal, or an integer has one.

    >>> jvp(lambda x: x * x, (3.0,), (1.0,))
    (9.0, 6.0)
    """
    primals, tangents = tuple(primals), tuple(tangents)
    if len(primals) != len(tangents):
        raise BadSeed(
            f"jvp got {len(primals)} primals and {len(tangents)} tangents", why="each primal has one tangent",
            way_out="give None for a tangent that is zero",
        )  # fmt: skip
    moving = tuple(i for i, t in enumerate(tangents) if t is not None and not _is_zero_of_integer(primals[i], t))
    base = python_function(f, "jvp")
    if not moving:
        value = base(*primals)
        return value, _zero_like(value)
    for i in moving:
        t = type_of(primals[i], _sizes(primals))
        if not is_differentiable(t):
            raise BadSeed(
                f"the tangent of argument {i} of {base.__name__} must be None or zero",
                why=f"the argument is {describe(t)}, which has no tangent", way_out="pass a float",
            )  # fmt: skip
        check_seed(f"argument {i} of {base.__name__}", type_of(tangents[i], _sizes(primals)), t)
    derivative = _jvp_of(base, moving)
    bound = derivative.bind(primals, {})
    compiled = derivative.compiled(bound)
    compiled.sync()
    value, tangent = compiled.function(*bound, *compiled.seeds, *(tangents[i] for i in moving))
    return value, _own_copy(tangent)


@functools.lru_cache(maxsize=512)
def _jvp_of(function: Any, moving: tuple[int, ...]) -> Derivative:
    return Derivative(function, "jvp", moving)


def _is_zero_of_integer(primal: Any, t: Any) -> bool:
    return not is_differentiable(type_of(primal)) and isinstance(t, (int, float)) and t == 0


def _zero_like(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return type(value)(map(_zero_like, value))
    if isinstance(value, dict):
        return {k: _zero_like(v) for k, v in value.items()}
    return (
        np.zeros_like(value) if is_array(value) else 0.0 * value if isinstance(value, (float, complex, int)) else None
    )


def stop_gradient(x: Any) -> Any:
    """``x`` itself, as a constant: no derivative flows through it.

    >>> float(grad(lambda x: x * stop_gradient(x))(3.0))
    3.0
    """
    return x


stop_gradient.__tangentc_op__ = ops.stopped  # type: ignore[attr-defined]


def differentiable(f: Callable[..., Any] | None = None, *, wrt: Any = 0, has_aux: bool = False) -> Any:
    """Decorate a function: it stays as it is, and has its derivatives as attributes.

    ``.grad``, ``.value_and_grad`` and ``.adjoint`` are functions, ``.vjp(*primals)`` and
    ``.jvp(primals, tangents)`` are those of the module, ``.source`` is the gradient's text.

    >>> @differentiable(wrt=("x", "y"))
    ... def product(x, y):
    ...     return x * y
    >>> product(2.0, 3.0), product.grad(2.0, 3.0)
    (6.0, (3.0, 2.0))
    """
    if f is None:
        return functools.partial(differentiable, wrt=wrt, has_aux=has_aux)
    return Differentiable(f, wrt, has_aux)


class Differentiable:
    """A decorated function; see `differentiable`."""

    def __init__(self, function: Any, wrt: Any, has_aux: bool):
        self.__tangentc_function__ = python_function(function, "differentiable")
        self._wrt, self._has_aux = wrt, has_aux
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: Any, **keywords: Any) -> Any:
        return self.__tangentc_function__(*args, **keywords)

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        return self if instance is None else pytypes.MethodType(self, instance)

    def __repr__(self) -> str:
        return f"<differentiable {self.__tangentc_function__.__name__}, wrt {self._wrt!r}>"

    @functools.cached_property
    def grad(self) -> Derivative:
        return grad(self.__tangentc_function__, self._wrt, self._has_aux)

    @functools.cached_property
    def value_and_grad(self) -> Derivative:
        return value_and_grad(self.__tangentc_function__, self._wrt, self._has_aux)

    @functools.cached_property
    def adjoint(self) -> Derivative:
        return adjoint(self.__tangentc_function__, self._wrt)

    def vjp(self, *primals: Any) -> tuple[Any, Callable[[Any], tuple]]:
        return vjp(self.__tangentc_function__, *primals)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return jvp(self.__tangentc_function__, primals, tangents)

    @property
    def source(self) -> str:
        """The gradient's emitted text, for the types of its last call."""
        return self.grad.source

    def source_for(self, *args: Any, **keywords: Any) -> str:
        """The gradient's emitted text for arguments of these types."""
        return self.grad.source_for(*args, **keywords)


__all__ = [
    "Derivative",
    "Differentiable",
    "Param",
    "TangentcError",
    "adjoint",
    "differentiable",
    "grad",
    "jvp",
    "stop_gradient",
    "value_and_grad",
    "vjp",
]
