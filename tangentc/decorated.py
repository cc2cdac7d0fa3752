"""Functions with their derivatives as attributes."""

from __future__ import annotations

import functools
import types as pytypes
from collections.abc import Callable, Sequence
from typing import Any, Generic, ParamSpec, TypeVar, overload

from tangentc.api import adjoint, grad, jvp, value_and_grad, vjp
from tangentc.compiling import loops_for
from tangentc.core.remade import again, is_at_home, travelling
from tangentc.derivative import Derivative
from tangentc.frontend.callables import python_function

P = ParamSpec("P")
R = TypeVar("R")


@overload
def differentiable(
    f: Callable[P, R], *, wrt: Any = 0, has_aux: bool = False, kernels: str | None = None, threads: int | None = None
) -> Differentiable[P, R]: ...
@overload
def differentiable(
    f: None = None, *, wrt: Any = 0, has_aux: bool = False, kernels: str | None = None, threads: int | None = None
) -> Callable[[Callable[P, R]], Differentiable[P, R]]: ...
def differentiable(
    f: Callable[..., Any] | None = None,
    *,
    wrt: Any = 0,
    has_aux: bool = False,
    kernels: str | None = None,
    threads: int | None = None,
) -> Any:
    """Decorate a function: what takes its place is called as it is, and has its derivatives as attributes.

    ``.grad``, ``.value_and_grad`` and ``.adjoint`` are functions, ``.vjp(*primals)`` and
    ``.jvp(primals, tangents)`` are those of the module, ``.source`` is the gradient's text.  With ``kernels="numba"``
    the three functions have their loops compiled, with "cuda" their statements on arrays of CuPy, see `grad`.

    >>> @differentiable(wrt=("x", "y"))
    ... def product(x, y):
    ...     return x * y
    >>> product(2.0, 3.0), product.grad(2.0, 3.0)
    (6.0, (3.0, 2.0))
    """
    if f is None:
        return functools.partial(differentiable, wrt=wrt, has_aux=has_aux, kernels=kernels, threads=threads)
    return Differentiable(f, wrt, has_aux, kernels=kernels, threads=threads)


class Differentiable(Generic[P, R]):
    """A decorated function; see `differentiable`."""

    __name__: str
    __qualname__: str

    def __init__(
        self,
        function: Any,
        wrt: Any,
        has_aux: bool,
        kind: Any = None,
        kernels: str | None = None,
        threads: int | None = None,
    ):
        if isinstance(function, (classmethod, staticmethod)):
            kind, function = type(function), function.__func__
        self._kind = kind  # `classmethod` or `staticmethod`, where the decorated function is one
        if kind is not None:
            self.__tangentc_descriptor__ = kind(function)  # what the class has, for those that look into it
        self.__tangentc_function__ = python_function(function, "differentiable")
        self.__tangentc_given__ = function
        self._bound: dict[int, Any] = {}  # of a method: for each object
        self._instance: Any = None
        self._derivatives: dict[str, Any] = {}
        self._wrt, self._has_aux, self._loops = wrt, has_aux, dict[str, Any](kernels=kernels, threads=threads)
        loops_for(kernels, threads, function)
        functools.update_wrapper(self, function, updated=())

    def __call__(self, *args: P.args, **keywords: P.kwargs) -> R:
        return self.__tangentc_given__(*args, **keywords)  # type: ignore[no-any-return]

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if self._kind is classmethod:
            instance = owner if owner is not None else type(instance)
        if instance is None or self._kind is staticmethod:
            return self
        bound = self._bound.get(id(instance))
        if bound is None or bound._instance is not instance:
            if len(self._bound) > 64:
                self._bound.clear()
            method = pytypes.MethodType(self.__tangentc_given__, instance)
            bound = self._bound[id(instance)] = Differentiable(method, self._wrt, self._has_aux, **self._loops)
            bound._instance = instance
        return bound

    def __repr__(self) -> str:
        return f"<differentiable {self.__tangentc_function__.__name__}, wrt {self._wrt!r}>"

    def __reduce__(self) -> Any:
        if self._instance is not None:
            return getattr, (self._instance, self.__name__)
        if is_at_home(self):
            return self.__qualname__
        return again, (
            Differentiable,
            travelling(self.__tangentc_given__),
            self._wrt,
            self._has_aux,
            self._kind,
            *self._loops.values(),
        )

    @property
    def grad(self) -> Derivative[P, Any]:
        return self._made("grad", grad)

    @property
    def value_and_grad(self) -> Derivative[P, tuple[R, Any]]:
        return self._made("value_and_grad", value_and_grad)

    @property
    def adjoint(self) -> Derivative[..., Any]:
        return self._made("adjoint", adjoint)

    def _made(self, kind: str, make: Callable[..., Any]) -> Any:
        if kind not in self._derivatives:
            aux = {} if kind == "adjoint" else {"has_aux": self._has_aux}
            self._derivatives[kind] = make(self.__tangentc_given__, self._wrt, **self._loops, **aux)
        return self._derivatives[kind]

    def vjp(self, *primals: Any) -> tuple[Any, Callable[[Any], tuple]]:
        return vjp(self.__tangentc_given__, *primals)

    def jvp(self, primals: Sequence[Any], tangents: Sequence[Any]) -> tuple[Any, Any]:
        return jvp(self.__tangentc_given__, primals, tangents)

    @property
    def source(self) -> str:
        """The gradient's emitted text, for the types of its last call."""
        return self.grad.source

    def source_for(self, *args: Any, annotate: bool = False, **keywords: Any) -> str:
        """The gradient's emitted text for arguments of these types; see `Derivative.source_for`."""
        return self.grad.source_for(*args, annotate=annotate, **keywords)

    def dispatch_for(self, *args: Any, **keywords: Any) -> str:
        """The text of the function that takes arguments of these types; see `Derivative.dispatch_for`."""
        return self.grad.dispatch_for(*args, **keywords)
