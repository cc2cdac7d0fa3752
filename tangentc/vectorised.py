"""`vmap`: a function of one example as a function of a batch, that can be read, differentiated and exported."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from tangentc.batching.axes import mapped, of_result, resolved
from tangentc.batching.function import Functions, mark_of, one_example, put_first, put_last
from tangentc.batching.marks import EACH, Mark, is_batched, parts
from tangentc.batching.writer import Writer
from tangentc.compiled import Compiled, seeds_inside
from tangentc.compiler.context import Context
from tangentc.core.inside import MADE
from tangentc.core.nodes import Atom, Const
from tangentc.core.remade import again, travelling
from tangentc.core.types import Array, Scalar, Type, is_container
from tangentc.derivative import Derivative
from tangentc.errors import BadArgument, UnsafeMutation
from tangentc.frontend.callables import beyond, calling, plain_name

KIND = "vmap"


def vmap(f: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0) -> Vectorised:
    """``f`` for a batch of examples at once: what ``np.stack([f(x) for x in X])`` gives, without the loop.

    ``in_axes`` says along which axis each argument holds the examples: an int for all arguments, or a tuple or a list
    with an entry for each, an int, None for one that all examples share, or a container of such for a container.
    ``out_axes`` says in the same way where in the result the examples are; None is for what is the same for all.
    Raises `BadArgument` for axes that do not fit, for mapped axes of several lengths, and if nothing is mapped, and
    `UnsafeMutation` for a function that changes its arguments.

    >>> import numpy as np
    >>> def distance(x, y):
    ...     return np.sqrt(np.sum((x - y) ** 2))
    >>> distances = vmap(distance, in_axes=(0, None))
    >>> distances(np.array([[3.0, 4.0], [0.0, 1.0]]), np.zeros(2))
    array([5., 1.])
    >>> print(distances.source_for(np.ones((9, 2)), np.zeros(2)))
    def distance_vmap(x, y):
        \"\"\"distance for a batch of examples.\"\"\"
        return np.sqrt(np.sum((x - y) ** 2, axis=1))
    <BLANKLINE>
    """
    return Vectorised(f, in_axes, out_axes)


class Vectorised(Derivative):
    """A function of a batch, compiled for the types that it is called with: what `vmap` gives.

    ``source_for(*args)`` is its text, ``looped_for(*args)`` says what is done for one example after the other there.
    """

    def __init__(self, function: Callable[..., Any], in_axes: Any = 0, out_axes: Any = 0, captured: int = 0):
        in_axes = tuple(in_axes) if isinstance(in_axes, list) else in_axes
        if in_axes is not None and not isinstance(in_axes, (int, tuple)) or isinstance(in_axes, bool):
            raise BadArgument(
                f"in_axes={in_axes!r} are no axes", why="there is one for all arguments, or one for each",
                way_out="give an int, or a tuple with an int or None for each argument",
            )  # fmt: skip
        self.in_axes, self.out_axes, self.captured = in_axes, out_axes, captured
        super().__init__(function, KIND, (in_axes, out_axes, captured))

    def said(self) -> str:
        return (
            f"{self.function.__name__} for a batch of examples: a function of the same parameters.\n"
            "Its emitted Python is `source_for(*args)`."
        )

    def __repr__(self) -> str:
        return f"<vmap of {self.function.__name__}, in_axes {self.in_axes!r}, out_axes {self.out_axes!r}>"

    def __reduce__(self) -> Any:
        return again, (type(self), travelling(self.given), self.in_axes, self.out_axes, self.captured)

    def looped_for(self, *args: Any, **keywords: Any) -> list[str]:
        """What is done for one example after the other, in a loop, for arguments of these types: the operation, or the
        kind of statement, and its line.

        >>> import numpy as np
        >>> vmap(lambda x: np.interp(0.5, x, x))(np.array([[0.0, 1.0]]))
        array([0.5])
        """
        fitted = self.fitted(args, keywords)
        compiled = fitted.compiled(fitted.bind(args, keywords))
        return list(compiled.context.looped)  # type: ignore[attr-defined]

    # ---------------------------------------------------------- axes
    def axes_for(self, count: int) -> tuple[Any, ...]:
        """The axes of each parameter."""
        given = count - self.captured
        parameters = list(self._signature().parameters.values())
        if not isinstance(self.in_axes, tuple):
            own = (self.in_axes if p.default is p.empty else None for p in parameters[:given])
            return (*own, *(None,) * self.captured)
        rest = parameters[len(self.in_axes) : given]
        if len(self.in_axes) > given or any(p.default is p.empty for p in rest):
            raise BadArgument(
                f"in_axes of vmap({self.function.__name__}) has {len(self.in_axes)} entries, and the function has "
                f"{given} parameters", why="there is one axis for each argument",
                way_out="give an int or None for each argument, or one int for all",
            )  # fmt: skip
        return (*self.in_axes, *(None,) * (len(rest) + self.captured))

    def checked(self, bound: tuple) -> int:
        """How many examples there are.  Raises `BadArgument` for arguments that do not fit the axes."""
        parameters = list(self._signature().parameters.values())
        found: list[tuple[str, int, int]] = []
        for p, value, axes in zip(parameters, bound, self.axes_for(len(bound)), strict=True):
            found += mapped(value, axes, f"argument {p.name} of {self.function.__name__}")
        if not found:
            raise BadArgument(
                f"nothing is mapped in a call of vmap({self.function.__name__})", why="then there are no examples",
                way_out="give an axis for at least one argument in in_axes",
            )  # fmt: skip
        for name, axis, length in found[1:]:
            if length != found[0][2]:
                raise BadArgument(
                    f"{found[0][0]} has {found[0][2]} examples along axis {found[0][1]}, and {name} has {length} along "
                    f"axis {axis}", why="each example has a part of both",
                    way_out="give them the same number of examples",
                )  # fmt: skip
        return found[0][2]

    def _axes_of(self, types: list[Type]) -> list[Any]:
        names = list(self._signature().parameters)
        return [resolved(t, axes, n) for t, axes, n in zip(types, self.axes_for(len(types)), names, strict=True)]

    # ---------------------------------------------------------- calling
    def _call_in_general(self, args: tuple, keywords: dict[str, Any]) -> Any:
        fitted = self._for_given(args, keywords)
        if fitted is self:
            return super()._call_in_general(args, keywords)
        try:
            return fitted(*args, **keywords)
        finally:
            self.last = fitted.last

    def run_found(self, compiled: Compiled, bound: tuple, tangents: tuple = (), in_numpy_numbers: bool = False) -> Any:
        self.checked(bound)
        return super().run_found(compiled, bound, tangents, in_numpy_numbers)

    def compiled(self, args: tuple, any_lengths: bool = False) -> Compiled:
        self.checked(args)
        return super().compiled(args, any_lengths)

    def fitted(self, args: tuple, keywords: dict[str, Any]) -> Vectorised:
        inner = self.given
        key: Any = (0, ()) if isinstance(inner, Derivative) else beyond(inner, args, keywords)
        if key == (0, ()):
            return self._for_given(args, keywords)
        if key not in self.code.fitted:
            self.code.fitted[key] = Vectorised(calling(inner, *key), self.in_axes, self.out_axes)
        return self.code.fitted[key]  # type: ignore[no-any-return]

    def _for_given(self, args: tuple, keywords: dict[str, Any]) -> Vectorised:
        """The same, where one axis for all is that of arguments that have defaults, and are given."""
        parameters = list(self._signature().parameters.values())
        if not isinstance(self.in_axes, int) or all(p.default is p.empty for p in parameters):
            return self
        given = [k < len(args) and p.kind is not p.KEYWORD_ONLY or p.name in keywords for k, p in enumerate(parameters)]
        if all(g == (p.default is p.empty) for g, p in zip(given, parameters, strict=True)):
            return self
        key = "given", tuple(given)
        if key not in self.code.fitted:
            axes = tuple(self.in_axes if g else None for g in given)
            self.code.fitted[key] = Vectorised(self.given, axes, self.out_axes)
        return self.code.fitted[key]  # type: ignore[no-any-return]

    # ---------------------------------------------------------- compiling
    def _wanted(self) -> tuple[Any, ...]:
        return ()

    def positions(self, types: list[Type]) -> tuple[tuple[int, ...], bool]:
        axes = self.axes_for(len(types))
        return tuple(k for k, a in enumerate(axes) if a is not None), False

    def resolve(self, types: list[Type]) -> Any:
        if not isinstance(self.function, Derivative):
            return self.function
        inner = self.function
        examples = [one_example(t, a) for t, a in zip(types, self._axes_of(types), strict=True)]
        if inner.kind == "adjoint":
            return inner._compile(examples[:-1], seed=examples[-1], inner=True).function
        return inner._compile(examples, inner=True).function

    def _compile(self, *args: Any, **keywords: Any) -> Compiled:
        compiled = super()._compile(*args, **keywords)
        compiled.seeds = ()
        return compiled

    def write(self, context: Context, source: Any, types: list[Type], seed: Type | None) -> None:
        axes = self._axes_of(types)
        if all(a is None for a in axes):
            raise BadArgument(
                f"nothing is mapped in a call of vmap({self.function.__name__})", why="then there are no examples",
                way_out="give an axis for at least one argument in in_axes",
            )  # fmt: skip
        examples = [one_example(t, a) for t, a in zip(types, axes, strict=True)]
        seeds = seeds_inside(source, types)
        inherited: list[Type] = [Scalar("float64", True)] * seeds
        program = context.prepare(source, [*examples, *inherited])
        if program.changes:
            raise UnsafeMutation(
                f"{self.function.__name__} changes its argument {program.changes[0]} in place", program.function.span,
                why="a function of a batch works on copies, so that the change would be lost",
                way_out="let it change a copy, and return that",
            )  # fmt: skip
        params = [p.name for p in program.function.params]

        def given(w: Writer) -> None:
            for p, a, t in zip(params, axes, types):
                w.names[p] = put_first(w, p, t, a)
            w.names.update({p: Const(1.0) for p in params[len(types) :]})

        def end(w: Writer) -> tuple[Atom, Mark]:
            result = program.function.result
            out = of_result(program.result, self.out_axes)
            mark = w.mark(result)
            if mark is EACH and is_container(program.result):
                out = out if isinstance(out, tuple) else (out,) * len(program.result.items)
            _refuse_shared(mark, program.result, out, self.function.__name__)
            root = w.program.aliases.root
            own = not isinstance(result, str) or all(root(result) != root(p) for p in params)
            return put_last(w, w.now(result), mark, program.result, out, own), True

        name = f"{plain_name(self.function)}_{KIND}"
        context.names.add(name)
        functions = Functions(context)
        marks = [*map(mark_of, axes), *(False,) * seeds]
        functions.write(
            program, marks, name, given, end, [*types, *inherited], seeds=seeds, is_empty=_is_empty(types, axes)
        )
        context.looped = [  # type: ignore[attr-defined]
            f"{op}, line {span.line}: {span.text.strip()}" for span, op in functions.looped.items()
        ]


def _is_empty(types: Sequence[Type], axes: Sequence[Any]) -> bool:
    """Whether there are no examples."""
    for t, a in zip(types, axes):
        if isinstance(a, tuple) and _is_empty(t.items, a):  # type: ignore[union-attr]
            return True
        if isinstance(a, int) and isinstance(t, Array) and t.shape[a] == 0:
            return True
    return False


def _refuse_shared(mark: Mark, t: Type, axes: Any, name: str) -> None:
    """What is said to be the same for all examples is so."""
    if isinstance(axes, tuple) and is_container(t):
        for m, i, a in zip(parts(mark, t), t.items, axes):
            _refuse_shared(m, i, a, name)
    elif axes is None and is_batched(mark):
        raise BadArgument(
            f"out_axes is None for a result of {name} that is another one for each example",
            why="None says that it is the same for all", way_out="give the axis of the result along which examples are",
        )  # fmt: skip


MADE["Vectorised"] = Vectorised
vmap.__tangentc_kind__ = KIND  # type: ignore[attr-defined]
