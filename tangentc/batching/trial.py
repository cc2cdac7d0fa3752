"""Whether a way of writing a call for a batch gives what the calls for one example after the other give, on samples."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from tangentc.analysis.sampling import runnable
from tangentc.batching.marks import EACH, Mark
from tangentc.batching.writer import Writer
from tangentc.core.lengths import Dim, Length
from tangentc.core.nodes import Assign, Atom, Const, Global, Statement
from tangentc.core.types import Array, Dict, Known, Scalar, Tuple, Type
from tangentc.core.types import Sequence as List

EXAMPLES = 8  # which no length of a sample is, so that axes are not taken for one another
DRAWS = ((0.15, 0.85), (1.1, 2.0), (-2.0, 2.0), (0.1, 0.9))  # from which entries are drawn; in the first two matrices
WIDE = 2  # are symmetric and positive definite


class _NoSample(Exception):
    """Nothing says how a value of a type is made."""


def agrees(w: Writer, s: Assign, block: Sequence[Statement], made: Atom) -> bool:
    """Whether a block gives what a statement of one example gives, for examples that are drawn at random."""
    op = runnable(s.op)
    if op is None or not all(isinstance(b, Assign) for b in block):
        return False
    borne_out = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for draw, _ in enumerate(DRAWS):
            try:
                given, examples = _drawn(w, s, draw)
                wanted = [_run(s, op, one) for one in examples]
            except Exception:
                continue
            try:
                found = _interpreted(w, block, made, given)
                if not _alike(found, wanted, w.type(s.target)):
                    return False
            except Exception:
                return False
            borne_out += _says_something(wanted)
    return borne_out > 0


def are_alike(w: Writer, s: Assign) -> bool:
    """Whether what a statement gives has the same form for examples whose entries are unlike: drawn at random, all
    zero, and few values several times."""
    op = runnable(s.op)
    if op is None or any(w.mark(a) is EACH for a in s.atoms):
        return False
    found = 0
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for draw in (WIDE, WIDE + 1):
            try:
                _, examples = _drawn(w, s, draw, True)
                forms = [_form(_run(s, op, one)) for one in examples]
            except Exception:
                continue
            if any(f != forms[0] for f in forms):
                return False
            found += 1
    return found > 0


def _form(x: Any) -> Any:
    return (type(x), [*map(_form, x)]) if isinstance(x, (tuple, list)) else (np.shape(x), np.asarray(x).dtype)


def _run(s: Assign, op: Any, given: dict[Atom, Any]) -> Any:
    return op(*(given[a] for a in s.args), **{k: given[a] for k, a in s.keywords})


def _drawn(w: Writer, s: Assign, draw: int, unlike: bool = False) -> tuple[dict[Atom, Any], list[dict[Atom, Any]]]:
    """Arguments of the batch, and of each example."""
    rng = np.random.default_rng(draw)
    draws = _Draws(rng, draw)
    given: dict[Atom, Any] = {}
    examples: list[dict[Atom, Any]] = [{} for _ in range(EXAMPLES)]
    for a in dict.fromkeys(s.atoms):
        if isinstance(a, Global):
            raise _NoSample
        mark = w.mark(a)
        if isinstance(a, Const) or not mark:
            value = a.value if isinstance(a, Const) else draws.of(w.type(a))
            given[a] = value
            for one in examples:
                one[a] = value
            continue
        values = [draws.of(w.type(a), k if unlike else 0) for k, _ in enumerate(examples)]
        for one, value in zip(examples, values, strict=True):
            one[a] = value
        given[a] = _batch(values, mark, w.type(a))
    return given, examples


def _batch(values: list[Any], mark: Mark, t: Type) -> Any:
    if mark is EACH:
        raise _NoSample
    if mark is True:
        return np.stack(values)
    if not mark:
        return values[0]
    held = [[*v.values()] if isinstance(v, dict) else [*v] for v in values]
    marks = mark if len(mark) == len(held[0]) else mark * len(held[0])  # type: ignore[operator, arg-type]
    parts = [_batch([h[k] for h in held], marks[k], t) for k in range(len(held[0]))]
    return type(values[0])(parts) if not isinstance(values[0], dict) else dict(zip(values[0], parts, strict=True))


def _interpreted(w: Writer, block: Sequence[Statement], made: Atom, given: dict[Atom, Any]) -> Any:
    values: dict[Atom, Any] = {w.now(a): value for a, value in given.items()}
    values[w.size] = EXAMPLES

    def value(a: Atom) -> Any:
        return values[a] if isinstance(a, str) else a.value  # type: ignore[union-attr]

    for b in block:
        assert isinstance(b, Assign)
        values[b.target] = b.op(*map(value, b.args), **{k: value(a) for k, a in b.keywords})
    return values[made]


def _alike(found: Any, wanted: list[Any], t: Type) -> bool:
    """Whether a value of the batch is made of those of the examples."""
    if isinstance(wanted[0], (tuple, list)):
        same = type(found) is type(wanted[0]) and len(found) == len(wanted[0])
        return same and all(_alike(f, [x[k] for x in wanted], t) for k, f in enumerate(found))
    want = np.stack([np.asarray(x) for x in wanted])
    found = np.asarray(found)
    if found.shape != want.shape or found.dtype != want.dtype or want.dtype.kind not in "biufc":
        return False
    return bool(np.allclose(found, want, rtol=1e-9 if want.dtype.itemsize > 4 else 1e-4, atol=1e-12, equal_nan=True))


def _says_something(wanted: list[Any]) -> bool:
    """Whether values are not the same for all examples, and numbers."""
    flat = [np.concatenate([np.ravel(leaf) for leaf in _leaves(x)]) for x in wanted]
    return not np.array_equal(flat[0], flat[1]) and bool(np.isfinite(flat[0]).any())


def _leaves(x: Any) -> Iterator[Any]:
    if isinstance(x, (tuple, list)):
        for item in x:
            yield from _leaves(item)
    else:
        yield x


class _Draws:
    """Draws values of types."""

    def __init__(self, rng: np.random.Generator, draw: int):
        self.rng, self.draw = rng, draw
        self.sizes: dict[str, int] = {}

    def size(self, d: Dim) -> int:
        if isinstance(d, int):
            return d
        known = self.sizes.setdefault(d.symbol, 9 + 2 * len(self.sizes))
        return d.where(known)

    def of(self, t: Type, entries: int = 0) -> Any:
        """A value of a type: with entries as they are drawn, with zeros, or with few values."""
        if isinstance(t, Array) and entries:
            drawn = self.entries(t.dtype, tuple(map(self.size, t.shape)))
            return drawn * 0 if entries == 1 or drawn.dtype.kind == "b" else np.round(drawn)
        match t:
            case Scalar(dtype, weak, value):
                if value is not None:
                    return self.size(value) if isinstance(value, Length) else value
                number = self.entries(dtype, ())
                return number.item() if weak else number[()]
            case Array(dtype, shape):
                return self.entries(dtype, tuple(map(self.size, shape)))
            case Known(const):
                return const.value
            case Tuple(items, None):
                return tuple(map(self.of, items))
            case List(kind, items, length) if kind is list and length is not None:
                return [self.of(t.item(k)) for k in range(length)]
            case Dict(keys, items):
                return {k: self.of(i) for k, i in zip(keys, items, strict=True)}
        raise _NoSample

    def entries(self, dtype: str, shape: tuple[int, ...]) -> np.ndarray:
        kind = np.dtype(dtype).kind
        if kind == "b":
            return self.rng.random(shape) < 0.5
        if kind in "iu":
            return self.rng.integers(0, 3, shape).astype(dtype)
        if kind not in "fc":
            raise _NoSample
        x = self.rng.uniform(*DRAWS[self.draw], shape)
        if kind == "c":
            x = x + 1j * self.rng.uniform(-1, 1, shape)
        if len(shape) >= 2 and shape[-1] == shape[-2] and self.draw < WIDE:
            x = x + np.conj(np.swapaxes(x, -1, -2)) + 2 * shape[-1] * np.eye(shape[-1])
        return np.asarray(x).astype(dtype)
