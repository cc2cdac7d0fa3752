"""What the user is told when a function cannot be differentiated.

Each message says what failed, where (file, line, function, the line with a caret), why, and one way
out.

    >>> from tangentc.errors import Span
    >>> print(MissingRule("there is no rule for np.foo", Span(3, 8, 17, "    y = np.foo(x)", "m.py", "f"),
    ...                   why="x is active here", way_out="register one with @tangentc.elementwise"))
    there is no rule for np.foo
      File "m.py", line 3, in f
        y = np.foo(x)
            ^^^^^^^^^
      Why: x is active here.
      Way out: register one with @tangentc.elementwise.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any


@dataclass(frozen=True, slots=True)
class Span:
    """Where a statement stands in the user's file: a line, a column range, and its text.

    ``sweep`` says what a statement that the compiler wrote is for: "" computes the user's values, "adjoint" and
    "tangent" their derivatives, "recalled" has one of his values again in the adjoint sweep.
    """

    line: int
    column: int
    end_column: int
    text: str
    file: str = ""
    function: str = ""
    site: Any = field(default=None, compare=False, repr=False)  # the node, along the calls that led to it
    sweep: str = field(default="", compare=False)
    statement: str = field(default="", compare=False, repr=False)  # all of it, where it has several lines

    @property
    def quoted(self) -> str:
        """The statement as a comment quotes it."""
        return self.statement or self.text.strip()

    def within(self, sweep: str) -> Span:
        """The same place, for a statement of this sweep."""
        return self if self.sweep == sweep else replace(self, sweep=sweep)


CALLERS = "<tangentc caller", "<tangentc rule"  # texts that stand for what the user gave, which he has not written


class TangentcError(Exception):
    """The base of every error that tangentc raises on purpose."""

    def __init__(self, what: str, span: Span | None = None, *, why: str = "", way_out: str = ""):
        self.what, self.span, self.why, self.way_out = what, span, why, way_out
        lines = [what]
        if span is not None and (not span.line or span.file.startswith(CALLERS)):
            span = None
        if span is not None:
            lines.append(f'  File "{span.file}", line {span.line}, in {span.function}')
        if span is not None and (text := span.text.rstrip()):
            indent = len(text) - len(text.lstrip())
            lines.append("    " + text.strip())
            end = min(max(span.end_column, span.column + 1), len(text))
            start = max(span.column - indent, 0)
            lines.append("    " + " " * start + "^" * max(end - indent - start, 1))
        if why:
            lines.append(f"  Why: {why}.")
        if way_out:
            lines.append(f"  Way out: {way_out}.")
        super().__init__("\n".join(lines))

    def at(self, span: Span) -> TangentcError:
        """The same, at a place, if it has none: what a rule refuses, it refuses of a call."""
        return self if self.span is not None else type(self)(self.what, span, why=self.why, way_out=self.way_out)

    def __reduce__(self):
        return _rebuild, (type(self), self.what, self.span, self.why, self.way_out)


def _rebuild(cls: type, what: str, span: Span | None, why: str, way_out: str) -> TangentcError:
    return cls(what, span, why=why, way_out=way_out)


class NoSource(TangentcError):
    """The source of a function cannot be found, or is not the code that runs."""


class UnsupportedSyntax(TangentcError):
    """A construct that tangentc does not differentiate."""


class MissingRule(TangentcError):
    """An active value goes into a function that has no rule."""


class NotDifferentiable(TangentcError):
    """The value asked for has no derivative: an integer, a result that is not a scalar, ..."""


class TurnedComplex(NotDifferentiable):
    """A value that was compiled as a real number is a complex one in this run."""


class NeverReturns(UnsupportedSyntax, NotDifferentiable):
    """A function that raises on every way through it: a call of its derivative raises what it raises."""


class NotScalar(NotDifferentiable, TypeError):
    """A gradient of a function whose value is not one real number."""


class UnsafeMutation(TangentcError):
    """A change in place whose aliases cannot be followed."""


class NotFinite(TangentcError, FloatingPointError):
    """An adjoint that is NaN or infinite, where finite ones were asked for."""


class BadSeed(TangentcError):
    """A cotangent or tangent that does not fit the value that it belongs to."""


class BadRule(TangentcError):
    """A rule that cannot be read, or gives something of the wrong form."""


class BadArgument(TangentcError, ValueError):
    """An argument of one of tangentc's own functions that makes no sense."""


class InternalError(TangentcError):
    """A fault of tangentc itself."""


def table_of_pandas(text: str, function: str, cls: type, way_out: str, span: Span | None = None) -> BadArgument:
    """What is said of a DataFrame or a Series, in the arguments and around the function."""
    return BadArgument(
        f"{text} of {function} is a {cls.__name__} of pandas", span,
        why="its operations are its own, and look at labels", way_out=way_out,
    )  # fmt: skip


def internal(error: Exception, function: Any) -> TangentcError:
    """A fault of the compiler, as something that a user can report."""
    if isinstance(error, RecursionError):
        return UnsupportedSyntax(
            f"{function.__name__} is given, or reads, an object that holds itself, or is nested very deeply",
            why="its parts are looked through one after the other", way_out="leave out references to what holds it",
        )  # fmt: skip
    return InternalError(
        f"tangentc failed on {function.__name__}",
        why=f"this is a fault of tangentc itself: {type(error).__name__}: {error}",
        way_out="report it, with the function; nothing wrong has been computed",
    )
