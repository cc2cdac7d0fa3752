"""What the page of `serve` shows of a function: the two texts, what they computed, or why there is no derivative."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from tangentc.arguments import own_copy, wrt_of
from tangentc.backend.annotate import notes
from tangentc.backend.highlight import rows
from tangentc.core.types import Unknown
from tangentc.core.values import is_array, type_of
from tangentc.derivative import Derivative
from tangentc.errors import NotScalar, TangentcError, internal
from tangentc.inspection.explain import brief_of, leaves_of
from tangentc.inspection.linked import Sources, emitted, not_finite, segment_at, sources_of, values_of, yours
from tangentc.inspection.live import File, Trouble
from tangentc.inspection.trace import Trace, of, traced
from tangentc.watch.summary import Summary

STOPS = (Exception, SystemExit)  # what ends the user's code, but not the page
BY_NAME = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


@dataclass(frozen=True)
class Asked:
    """What is to be shown: a function, the arguments of its call as text, and by which parameters.

    What is None has not been said.  ``module`` is one whose name the arguments use, ``maker`` a call that gives them.
    """

    function: str | None = None
    at: str | None = None
    wrt: str | None = None
    module: str = ""
    maker: str = ""


@dataclass
class Shown:
    """What is shown of a function: the sources and the emitted text, a run, and what went wrong."""

    derivative: Derivative | None = None
    compiled: Any = None
    bound: tuple = ()
    run: Trace | None = None
    value: Any = None
    troubles: list[Trouble] = field(default_factory=list)


MINE = "Your function"
UNKNOWN = (
    "No arguments are given, so it is not known of which types they are.  With some in the box above it may go.\n\n"
)
NO_PARAMETERS = (
    "has no parameters, so that there is nothing to take a derivative by.\n"
    "Where it gives arguments for another function, say *{0}() there if it returns a tuple, **{0}() if a dict."
)


def _title(title: str, is_old: bool) -> str:
    return title + ", as it was before" * is_old


class View:
    """The states of a page about a file; what could be shown last of a function is kept."""

    def __init__(self, file: File, first: Asked):
        self.file, self.first = file, first
        self._last: dict[str, str] = {}  # emitted texts

    def state(self, asked: Asked) -> dict[str, Any]:
        """What the page shows, ready for JSON."""
        file, names = self.file, self.file.functions
        name = next((n for n in (asked.function, self.first.function) if n in names), None) or self._start()
        out = {"file": file.path.name, "version": file.version, "status": file.status, "functions": list(names)}
        troubles = [file.trouble] if file.trouble is not None else []
        if name is None:
            troubles = troubles or [Trouble(f"{file.path.name} has no function: write one, and save")]
            return {**out, "function": None, "troubles": [t.text for t in troubles]}
        try:
            return {**out, **self._of(name, asked, troubles)}
        except Exception as error:  # of the page, not of the user's code
            failed = internal(error, file.function(name))
            return {**out, "function": None, "troubles": [str(failed)]}

    def _of(self, name: str, asked: Asked, troubles: list[Trouble]) -> dict[str, Any]:
        """What the page shows of a function."""
        file, function = self.file, self.file.function(name)
        shown = Shown()
        said = self._said(replace(asked, function=name), shown)
        if not shown.troubles:
            self._show(shown, function, said)
        return {
            **self._texts(name, function, shown, {(str(file.path), t.line) for t in shown.troubles}),
            "function": name,
            "signature": f"{name}{_signature(function)}",
            "parameters": [p.name for p in _parameters(function)],
            "hint": _hint(name, function),
            "moving": _moving(function),
            "at": said.at,
            "wrt": said.wrt,
            "told": [*self._told(shown)],
            "troubles": [t.text for t in (*troubles, *shown.troubles)],
        }

    def _start(self) -> str | None:
        """The first function that has parameters."""
        names = list(self.file.functions)
        return next((n for n in names if _parameters(self.file.function(n))), names[0] if names else None)

    def _said(self, asked: Asked, shown: Shown) -> Asked:
        """What is asked for, with what the command was given where the page has not said anything."""
        if asked.at is not None:
            return replace(asked, module=self.first.module, wrt=asked.wrt or "")
        if asked.function != (self.first.function or self._start()):
            return Asked(asked.function, "", "")
        at = self.first.at or ""
        if self.first.maker:
            try:
                (made,), _ = self.file.arguments(self.first.maker, self.first.module)
            except STOPS as error:
                shown.troubles.append(self.file.trouble_of(error, f"{self.first.maker} cannot be called"))
                return Asked(asked.function, "", "")
            stars = "**" if isinstance(made, dict) else "*" if isinstance(made, tuple) else ""
            at = f"{stars}{self.first.maker}"
        return replace(self.first, function=asked.function, at=at, wrt=self.first.wrt or "")

    def _show(self, shown: Shown, function: Any, asked: Asked) -> None:
        if not _parameters(function) and not isinstance(_signature(function), str):
            shown.troubles.append(Trouble(f"{asked.function} {NO_PARAMETERS.format(asked.function)}"))
            return
        try:
            given = self.file.arguments(asked.at or "", asked.module) if (asked.at or "").strip() else None
        except STOPS as error:
            shown.troubles.append(self.file.trouble_of(error, "the arguments cannot be read"))
            return
        derivative = None
        wrt = wrt_of(asked.wrt or "")
        try:
            derivative = Derivative(function, "grad", wrt) if wrt != () else of(function, 0)
            if given is None:
                shown.derivative, shown.compiled = derivative, _general(derivative)
            else:
                _run(shown, derivative, *given)
        except STOPS as error:
            trouble = self.file.trouble_of(error, f"{asked.function} stops with an error")
            before = UNKNOWN if given is None and derivative is not None else ""
            shown.troubles.append(replace(trouble, text=before + trouble.text))

    def _texts(self, name: str, function: Any, shown: Shown, bad: set[tuple[str, int]]) -> dict[str, Any]:
        """Both texts; if there is no new derivative, the last one, which belongs to no line any more."""
        is_old = self.file.trouble is not None
        if shown.compiled is None:
            plain, sources = self._last.get(name, ""), Sources()
            inner = inspect.unwrap(getattr(function, "__tangentc_given__", function))
            if (code := getattr(inner, "__code__", None)) is not None:
                segment = segment_at(code.co_filename, code.co_firstlineno, inner.__globals__)
                sources.segments += [segment] if segment is not None else []
            numbered = enumerate(rows(plain) if plain else (), 1)
            return {
                "yours": yours(sources, bad=bad),
                "emitted": "".join(f'<li data-n="{n}">{row or " "}</li>' for n, row in numbered),
                "titles": [_title(MINE, is_old), _title("Its derivative", True) if plain else "No derivative"],
                "old": [is_old, bool(plain)],
            }
        derivative, text = shown.derivative, shown.compiled.text
        sizes: dict[int, Any] = {}
        for a in shown.bound:
            type_of(a, sizes)
        known = notes(text, {length.symbol: n for n, length in sizes.items()})
        sources = sources_of(derivative, text)  # type: ignore[arg-type]
        values = values_of(shown.run, sources, shown.value)
        self._last[name] = text.whole.rstrip("\n")
        theirs = "Its adjoint, with ones for out_bar" if derivative.kind == "adjoint" else "Its derivative"
        return {
            "yours": yours(sources, text, values, bad),
            "emitted": emitted(sources, text, values, known, beside=True),
            "titles": [
                _title(MINE, is_old),
                _title(theirs + ", for arguments of any kind" * (not shown.bound), is_old),
            ],
            "old": [is_old] * 2,
        }

    def _told(self, shown: Shown) -> Iterator[list[str]]:
        """The value and the derivatives of a run, each with its name, and where the first NaN came from."""
        if shown.run is None or shown.derivative is None:
            return
        derivative = shown.derivative
        name = derivative.function.__name__
        yield [name, _brief(shown.value)]
        names = list(derivative.signature().parameters)
        positions, single = derivative.positions(shown.compiled.types)
        result = shown.run.result[0] if derivative.has_aux else shown.run.result
        result = (result,) if single else result
        for i, path, part in zip(positions, derivative.paths, result):
            for leaf, value in leaves_of(f"{names[i]}.{path}" if path else names[i], part):
                yield [f"adjoint of {leaf}" if derivative.kind == "adjoint" else f"d{name}/d{leaf}", _brief(value)]
        if (found := shown.run.first_nonfinite()) is not None:
            yield ["not finite", self.file.short(str(found))]


def _brief(value: Any) -> str:
    text, summary = brief_of(value), Summary.of(value)
    return text if "nan" in text or "inf" in text else f"{text}{not_finite(summary)}"


def _general(derivative: Derivative) -> Any:
    """The derivative for arguments of any kind."""
    types: list[Any] = [Unknown("no arguments are given") for _ in derivative.signature().parameters]
    try:
        return derivative._compile(types)
    except TangentcError:
        raise
    except Exception as error:
        raise internal(error, derivative.function) from error


def _run(shown: Shown, derivative: Derivative, args: tuple, keywords: dict[str, Any]) -> None:
    """The derivative for these arguments, and what it computes; of a value that is no number its adjoint, for ones."""
    fitted = derivative.fitted(args, keywords)
    bound = fitted.bind(args, keywords)

    def value(f: Any = derivative.given, args: tuple = args, keywords: dict[str, Any] = keywords) -> Any:
        return f(*map(own_copy, args), **own_copy(keywords))

    with np.errstate(all="ignore"):
        try:
            fitted.compiled(bound)
        except NotScalar:
            if (seed := _ones(value())) is None:
                raise
            args, keywords = (*bound, seed), {}
            derivative = fitted = Derivative(fitted.given, "adjoint", fitted.wrt)
            bound = fitted.bind(args, keywords)
        shown.derivative, shown.bound = fitted, bound
        with fitted.as_run(bound):
            shown.compiled = fitted.compiled(bound)
            shown.value = value()  # first, since what it raises has the user's lines alone
            shown.run = traced(derivative, args, keywords, False)


def _ones(value: Any) -> Any:
    """A seed for a value: ones of its structure; None if something in it is no real number."""
    if is_array(value) or isinstance(value, np.generic):
        return np.ones_like(value) if value.dtype.kind == "f" else None
    if isinstance(value, float):
        return 1.0
    if type(value) in (tuple, list):
        parts = [_ones(v) for v in value]
        return type(value)(parts) if parts and all(p is not None for p in parts) else None
    if type(value) is dict:
        named = {k: _ones(v) for k, v in value.items()}
        return named if named and all(v is not None for v in named.values()) else None
    return None


def _parameters(function: Any) -> list[inspect.Parameter]:
    signature = _signature(function)
    return list(signature.parameters.values()) if isinstance(signature, inspect.Signature) else []


def _moving(function: Any) -> str:
    """The parameters that the derivative is taken by where nothing is said."""
    given = getattr(function, "_wrt", 0)
    names = [p.name for p in _parameters(function)]
    wanted = given if isinstance(given, (tuple, list)) else (given,)
    return ", ".join(str(names[w]) if isinstance(w, int) and w < len(names) else str(w) for w in wanted)


def _hint(name: str, function: Any) -> str:
    """Arguments that may be of the kind that a function takes."""
    known = {"self": f"{name.rpartition('.')[0]}()"} if "." in name else {}
    numbers = {int: "3", float: "1.0", "int": "3", "float": "1.0"}
    needed = [p for p in _parameters(function) if p.default is p.empty and p.kind not in BY_NAME]
    values = [known.get(p.name) or numbers.get(p.annotation, "np.ones(3)") for p in needed]
    return ", ".join(f"{p.name}={value}" for p, value in zip(needed, values))


def _signature(function: Any) -> Any:
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return "(...)"
