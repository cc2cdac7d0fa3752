"""What users call: sparse Jacobians and Hessians, whose patterns are found, kept, and tested in each call."""

from __future__ import annotations

import contextlib
import importlib.util
import inspect
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ParamSpec

import numpy as np

from tangentc.api import grad
from tangentc.arguments import refuse_integers
from tangentc.core.remade import again, travelling
from tangentc.core.types import Array, Scalar, describe, is_complex
from tangentc.core.values import type_of
from tangentc.derivative import Derivative
from tangentc.errors import BadArgument, NotDifferentiable
from tangentc.jacobians import Jacobian, asked, refuse_iterators
from tangentc.sparse import plans
from tangentc.sparse.checks import failing, refuse_missing
from tangentc.sparse.colouring import Sparse
from tangentc.sparse.linear import Linear
from tangentc.sparse.patterns import found
from tangentc.sparse.plans import Plan, in_rows

P = ParamSpec("P")
MOST = 100  # kinds of arguments whose patterns are kept


def sparse_jacobian(f: Callable[P, Any], wrt: Any = 0, pattern: Any = None) -> SparseJacobian:
    """The Jacobian of ``f`` by one array, as a `scipy.sparse.csr_array` that is made of few products.

    ``wrt`` is a parameter's index or name.  The matrix has a row for each entry of the result and a column for each
    entry of the argument, both in the order of C; a number is one entry.  Its dtype is that of the result, and its
    entries are those of the pattern, also where they are 0 at the point.

    The pattern is found in the first call, by derivatives along NaN (in the manner of Griewank and Mitev, Math.
    Programming 93, 2002), and kept for arguments of the same shapes and dtypes.  Columns that do not meet share a
    push-forward, or rows a pull-back (Curtis, Powell and Reid, 1974; Coleman and Moré, 1983).  Each call compares
    ``J @ v`` for a random ``v`` with one more push-forward; where they differ, as after a branch, the pattern is found
    anew.  ``pattern``, an array or a sparse matrix of the Jacobian's shape, is taken as given: its entries are those
    that may be other than 0.  It is tested likewise, and `BadArgument` says which entry it lacks.  ``pattern_for`` of
    what this gives is the pattern alone.

    Raises `BadArgument` without SciPy and for what is not one array, `NotDifferentiable` for an integer or complex
    argument, and what `jvp` and `vjp` raise.

    >>> import numpy as np
    >>> import tangentc
    >>> J = tangentc.sparse_jacobian(lambda x: x[1:] * x[:-1])
    >>> J(np.array([1.0, 2.0, 3.0])).toarray()
    array([[2., 1., 0.],
           [0., 3., 2.]])
    """
    return SparseJacobian("sparse_jacobian", f, wrt, pattern)


def sparse_hessian(f: Callable[P, Any], wrt: Any = 0, pattern: Any = None) -> SparseJacobian:
    """The matrix of second derivatives of a scalar function by one array, as a `scipy.sparse.csr_array`.

    As `sparse_jacobian` of the gradient, forward over reverse; a symmetric pattern needs fewer products, along the
    colours of a star colouring (Coleman and Moré, Math. Programming 28, 1984), and a ``pattern`` that is not symmetric
    is taken with its transpose.  Raises what `grad` raises, too.

    >>> import numpy as np
    >>> import tangentc
    >>> H = tangentc.sparse_hessian(lambda x: np.sum(x[1:] * x[:-1] ** 2))
    >>> H(np.array([1.0, 2.0, 3.0])).toarray()
    array([[4., 2., 0.],
           [2., 6., 4.],
           [0., 4., 0.]])
    """
    return SparseJacobian("sparse_hessian", f, wrt, pattern)


MAKERS = {"sparse_jacobian": sparse_jacobian, "sparse_hessian": sparse_hessian}


@dataclass(frozen=True)
class _Kept:
    """What was planned for arguments of some shapes and dtypes."""

    plan: Plan
    has_forward: bool


class SparseJacobian(Jacobian):
    """A function that gives sparse derivatives, and keeps what it has found of their patterns."""

    def __init__(self, kind: str, f: Any, wrt: Any, pattern: Any):
        _need_scipy(kind)
        super().__init__(self._matrix, kind, f, wrt)
        name = getattr(f, "__name__", "function")
        self.__name__, self.__doc__ = f"{name}_{kind}", f"The {kind} of {name}, wrt {wrt!r}."
        with contextlib.suppress(TypeError, ValueError):
            self.__signature__ = inspect.signature(f)
        self.function = f  # as `Draws` looks for it
        self.is_hessian = kind == "sparse_hessian"
        self.given = None if pattern is None else in_rows(pattern)
        if self.given is not None and self.is_hessian:
            if self.given.shape != self.given.shape[::-1]:
                raise _of_other_shape(self.given, (self.given.shape[1],) * 2, self.__name__)
            self.given = in_rows(self.given + self.given.T)
        self._kept: dict[Any, _Kept] = {}
        self._gradients: dict[Any, Derivative] = {}
        self._random = np.random.default_rng(0)

    def pattern_for(self, *args: Any) -> Sparse:
        """The pattern at these arguments, as a `csr_array` of flags: found, not taken from earlier calls.

        >>> import numpy as np
        >>> import tangentc
        >>> tangentc.sparse_jacobian(lambda x: x * x[::-1]).pattern_for(np.zeros(3)).toarray()
        array([[ True, False,  True],
               [False,  True, False],
               [ True, False,  True]])
        """
        return found(self._linear(args)).pattern

    def __reduce__(self) -> Any:
        kind, f, wrt = self.asked
        return again, (MAKERS[kind], travelling(f), wrt, self.given)

    def _matrix(self, *args: Any) -> Sparse:
        linear = self._linear(args)
        key = tuple(map(_form, args))
        kept = self._kept.get(key)
        if kept is not None:
            linear.has_forward = kept.has_forward
            made = kept.plan.run(linear)
            if made is not None and not failing(linear, made, self._random).size:
                return made
        if kept is None or self.given is None:
            kept = self._planned(linear, kept)
        made = kept.plan.run(linear)
        if made is None:
            raise _of_other_shape(kept.plan.pattern, linear.shape, self.__name__)
        refuse_missing(linear, made, self._random, self.given is not None)
        self._kept[key] = kept
        if len(self._kept) > MOST:
            self._kept.pop(next(iter(self._kept)))
        return made

    def _planned(self, linear: Linear, before: _Kept | None) -> _Kept:
        """The plan for the pattern here, or here and before if that costs less than finding patterns each time."""
        if self.given is not None:
            return self._plan(linear, self.given)
        new = found(linear)
        kept = self._plan(linear, new.pattern)
        if before is not None and before.plan.pattern.shape == new.pattern.shape:
            both = self._plan(linear, in_rows(before.plan.pattern + new.pattern))
            kept = both if both.plan.cost <= new.probes else kept
        return kept

    def _plan(self, linear: Linear, pattern: Sparse) -> _Kept:
        if pattern.shape != linear.shape:
            raise _of_other_shape(pattern, linear.shape, self.__name__)
        if self.is_hessian:
            return _Kept(plans.of_hessian(pattern), linear.has_forward)
        by_columns = linear.has_forward
        return _Kept(plans.of_jacobian(pattern, by_columns, not by_columns or linear.has_both), by_columns)

    def _linear(self, args: tuple[Any, ...]) -> Linear:
        _, f, wrt = self.asked
        f, args, wanted, single = asked(f, wrt, args)
        refuse_iterators(args)
        if not single or wanted[0].path:
            raise BadArgument(
                f"{self.__name__} is asked for by {wrt!r}", why="a sparse matrix is a derivative by one array",
                way_out="name one argument, and ask for others by functions of their own",
            )  # fmt: skip
        position, _, function, name = wanted[0]
        _refuse(args[position], name, f, function)
        if self.is_hessian:
            if position not in self._gradients or self._gradients[position].given is not f:
                self._gradients[position] = grad(f, position)
            f = self._gradients[position]
        return Linear(f, args, position, self.is_hessian)


def _refuse(x: Any, name: str, f: Any, function: str) -> None:
    """Refuse an argument that is not one array of real numbers."""
    t = type_of(x)
    if not isinstance(t, (Array, Scalar)) or isinstance(t, Array) and not isinstance(x, np.ndarray):
        raise BadArgument(
            f"a sparse derivative of {function} by {name}, which is {describe(t)}",
            why="the matrix has a column for each entry of one array of NumPy", way_out="pass an array of floats",
        )  # fmt: skip
    refuse_integers(t, name, f)
    if is_complex(t):
        raise NotDifferentiable(
            f"a sparse derivative of {function} by {name}, which is {describe(t)}",
            why="one number for each entry does not hold its derivatives by the real and the imaginary part",
            way_out="pass the two parts as one real array, or take jacobian, which is dense",
        )


def _form(a: Any) -> Any:
    return (a.shape, a.dtype) if isinstance(a, np.ndarray) else type(a)


def _of_other_shape(pattern: Sparse, shape: tuple[int, int], name: str) -> BadArgument:
    return BadArgument(
        f"the pattern of {name} has the shape {pattern.shape}, and the derivative {shape}",
        why="it has a row for each entry of the result and a column for each of the argument",
        way_out="give a pattern of the derivative's shape, or none",
    )


def _need_scipy(kind: str) -> None:
    if importlib.util.find_spec("scipy") is None:
        raise BadArgument(
            f"{kind} needs SciPy, which is not installed", why="it gives a scipy.sparse.csr_array",
            way_out='install it: pip install "tangentc[scipy]"',
        )  # fmt: skip
