"""The type of a result, asked of NumPy: the operation runs on small samples of its arguments.

A sample is believed only for what stays the same however it is changed.  The operation runs for several sets of
*values* (equal ones, different ones, zeros, both signs; numbers, masks and indices alike), and what differs between
them is taken to depend on values: ``np.arange(0.0, s)`` has a length that nobody knows, ``np.diff(x)`` has not.  Then
it runs with one *length* after the other made a little longer, and much longer: a length of the result that follows one
of them alone, entry by entry, is that one and an offset, ``n - 1``; one that follows none is a constant; any other is
known to the run only.  Samples have a few hundred entries, whatever the rank.
"""

from __future__ import annotations

import math
import operator
import warnings
from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np

from tangentc.analysis.samples import NoSample, Sampler
from tangentc.core import ops
from tangentc.core.lengths import EXACT, MOST_TIMES, Dim, Length, least_of
from tangentc.core.nodes import Const, Op
from tangentc.core.types import (
    PLAIN_ARRAYS,
    Array,
    Dict,
    Known,
    Opaque,
    Optional,
    Scalar,
    Tuple,
    Type,
    Unknown,
    lengths,
    map_lengths,
)
from tangentc.core.types import Sequence as List
from tangentc.core.values import name_of_dtype, scalar_of

Fresh = Callable[[], Length]
ENTRIES = 500  # of a sample, about
MOST_ENTRIES = 50_000  # of what is made of samples, about: of an outer product, say
LARGE = 23  # lengths of samples of few axes, and of those for which the short ones were too short
MOST_SYMBOLS = 40
MOST_TIED = 3  # known lengths that those which only the run knows are tried to be
VARIANTS = 4  # sets of values
MOST_ASKED, ASKED_ONCE = 10_000, {*ops.NUMERIC_MODULES, "builtins", "_operator", "tangentc"}  # a user's may change
_ASKED: dict[Hashable, Type] = {}  # what NumPy said
REFUSED = Unknown("NumPy refuses these types")


def sampled(op: Op, args: Sequence[Type], keywords: dict[str, Type], fresh: Fresh, tied: bool = False) -> Type:
    """The type that ``op`` gives for arguments of these types; `REFUSED` where NumPy takes no sample of them.  With
    ``tied``, lengths that only the run knows are taken to be those of other arrays.  NumPy is asked once a process."""
    if any(isinstance(t, Array) and _multiples(t) > ENTRIES for t in args):
        return _apart(op, args, keywords, fresh, tied)
    made: list[Length] = []

    def noted() -> Length:
        made.append(fresh())
        return made[-1]

    if runnable(op) is None:
        return Unknown(f"{getattr(op, '__name__', op)} is not known to NumPy")
    key = (Method, op.__name__) if isinstance(op, Method) else op, tuple(args), tuple(keywords.items()), tied
    try:
        if key in _ASKED:
            return _ASKED[key]
    except TypeError:  # of something that has no hash
        return _sampled(op, args, keywords, fresh, tied)
    found = _sampled(op, args, keywords, noted, tied)
    if not made and ops.module_root(op) in ASKED_ONCE:  # a length that only the run knows is another one each time
        if len(_ASKED) > MOST_ASKED:
            _ASKED.clear()
        _ASKED[key] = found
    return found


def _multiples(t: Array) -> int:
    """How many entries a sample has at least, since lengths are multiples of others."""
    return math.prod(d.times for d in t.shape if isinstance(d, Length))


def _apart(op: Op, args: Sequence[Type], keywords: dict[str, Type], fresh: Fresh, tied: bool) -> Type:
    """What is sampled with a symbol of its own for each multiple of a length, for samples that would be too large."""
    whole: dict[str, Length] = {}

    def own(d: Dim | None) -> Dim | None:
        if not isinstance(d, Length) or d.times == 1:
            return d
        symbol = f"{d.symbol}*{d.times}+{d.offset}"
        whole[symbol] = d
        return Length(symbol)

    def back(d: Dim | None) -> Dim | None:
        return d.of(whole[d.symbol]) if isinstance(d, Length) and d.symbol in whole else d

    args, keywords = [map_lengths(t, own) for t in args], {k: map_lengths(t, own) for k, t in keywords.items()}
    return map_lengths(sampled(op, args, keywords, fresh, tied), back)


def _sampled(op: Op, args: Sequence[Type], keywords: dict[str, Type], fresh: Fresh, tied: bool) -> Type:
    given = [*args, *keywords.values()]
    symbols = list(dict.fromkeys(d.symbol for d in lengths(*given) if isinstance(d, Length)))
    if len(symbols) > MOST_SYMBOLS:
        return Unknown(f"{getattr(op, '__name__', op)} is not known to NumPy")
    whole = any(map(_holds_integer, given))
    partly: _Reading | None = None  # of some values only
    trials = [_Trials(runnable(op) or op, args, keywords, n) for n in (_tied if tied else _sizes)(given, symbols)]
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            for as_axis in (False, True) if whole and not _takes_orders(op) else (False,):
                for trial in trials:  # an integer that nothing is known of may be meant as an axis
                    results = trial.of_values(as_axis)
                    if op is operator.getitem:  # an axis of one entry has no second place
                        results = [results[0] if r is None else r for r in results]
                    if all(r is not None for r in results[:2]):
                        return _Reading(trial, results, not whole, fresh).type()
                    if any(r is not None for r in results[:2]) and partly is None:
                        partly = _Reading(trial, results, not whole, fresh)
            return partly.type() if partly is not None else REFUSED
    except NoSample:
        return Unknown("an argument's type is not known")


def _takes_orders(op: Op) -> bool:
    """Whether integers are orders and dimensions, of which zero is often one of another kind, and never axes."""
    return (getattr(op, "__module__", None) or "").startswith("scipy.special")


def run(op: Op, samples: Sequence[object], keywords: Mapping[str, object]) -> Any:
    """What an operation gives for samples, None where it refuses them."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        try:
            return op(*samples, **keywords)
        except Exception:
            return None


def exceptions_of(op: Op, types: Sequence[Type]) -> set[type[BaseException]]:
    """What an operation raises for values of these types, one after the other; nothing if it takes one of them."""
    symbols = list(dict.fromkeys(d.symbol for d in lengths(*types) if isinstance(d, Length)))
    found: set[type[BaseException]] = set()
    for values in range(VARIANTS if runnable(op) else 0):
        sampler = Sampler(_sizes(list(types), symbols)[0], values, False)
        try:
            samples = [sampler.of(t) for t in types]
        except NoSample:
            return set()
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            try:
                op(*samples)
                return set()
            except Exception as error:
                found.add(type(error))
    return found


def sample(t: Type) -> object:
    """A value of a type whose lengths do not matter."""
    return Sampler(dict.fromkeys((d.symbol for d in lengths(t) if isinstance(d, Length)), LARGE), 0, False).of(t)


class Method:
    """``x.name(...)`` as a function that may be run on samples."""

    __module__ = "numpy"

    def __init__(self, name: str):
        self.__name__ = name

    def __call__(self, x: object, *args: object, **keywords: object) -> object:
        return getattr(x, self.__name__)(*args, **keywords)


# ------------------------------------------------------------------ what is tried
def _sizes(given: list[Type], symbols: list[str]) -> list[dict[str, int]]:
    """The lengths to try: short ones that all differ, longer ones, and, for operations that want some of them to be
    the same, one for all."""
    least = dict.fromkeys(symbols, 2)
    for d in (d for t in given for d in lengths(t) if isinstance(d, Length)):
        least[d.symbol] = max(least[d.symbol], -((d.offset - 2) // d.times))
    shapes = [t.shape for t in _parts(given) if isinstance(t, Array)] or [()]
    axes = [sum(isinstance(d, Length) for d in shape) for shape in shapes]
    known = max(math.prod(d if isinstance(d, int) else d.times for d in shape) for shape in shapes)
    of_one = _side(ENTRIES / max(known, 1), max(axes, default=0))
    short = max(2, min(LARGE, of_one, _side(MOST_ENTRIES, max(sum(axes), len(symbols)))))
    apart = {s: max(short + k * (max(axes) < 4), least[s]) for k, s in enumerate(symbols)}
    apart |= {s: least_of(s) + k for k, s in enumerate(symbols) if s.startswith("s")}  # as few as there may be
    tried = [apart]
    if short < LARGE and known * (LARGE + 13 * len(symbols)) ** sum(axes) < 20 * MOST_ENTRIES:
        tried.append({s: max(LARGE + 13 * k, least[s]) for k, s in enumerate(symbols)})
    elif short < EXACT and max(axes) < 7:
        tried.append({s: max(EXACT + k * (max(axes) < 4), least[s]) for k, s in enumerate(symbols)})
    if len(symbols) > 1:
        tried.append(dict.fromkeys(symbols, max(*least.values(), EXACT if max(axes) < 4 else short)))
    return tried


def _tied(given: list[Type], symbols: list[str]) -> list[dict[str, int]]:
    """Lengths to try where NumPy refuses all others: what only the run knows may be a length that is known, or one."""
    known = sorted({d for t in given for d in lengths(t) if isinstance(d, int) and d > 1})
    unsure = [s for s in symbols if s.startswith("?")]
    return [{**_sizes(given, symbols)[0], **dict.fromkeys(unsure, d)} for d in (*known[:MOST_TIED], 1) if unsure]


def _side(entries: float, axes: int) -> int:
    """The length of the axes of an array of so many entries."""
    return int(entries ** (1 / max(axes, 1)))


class _Trials:
    """One operation, to be run with these lengths, or with one of them longer."""

    def __init__(self, op: Op, args: Sequence[Type], keywords: dict[str, Type], sizes: dict[str, int]):
        self.op, self.args, self.keywords, self.sizes = op, args, keywords, sizes
        self.as_axis = False

    def of_values(self, as_axis: bool) -> list[object]:
        self.as_axis = as_axis
        first = [self.result(self.sizes, values) for values in (0, 1)]
        if any(r is not None for r in first) and not all(_has_no_length(r) for r in first):
            first += [self.result(self.sizes, values) for values in range(2, VARIANTS)]
        return first

    def result(self, sizes: dict[str, int], values: int, as_axis: bool | None = None) -> object:
        sampler = Sampler(sizes, values, self.as_axis if as_axis is None else as_axis)
        samples = [sampler.of(t) for t in self.args]
        named = {k: sampler.of(t) for k, t in self.keywords.items()}
        try:
            return self.op(*samples, **named)
        except Exception:
            return None


def _has_no_length(result: object) -> bool:
    return isinstance(result, (np.generic, float, complex, bool))


# ------------------------------------------------------------------ what is believed
class _Reading:
    """The type of what several trials gave.

    ``whole`` says that no integer of unknown value is among the arguments: with one, that results are the same
    proves nothing.
    """

    def __init__(self, trial: _Trials, results: list[object], whole: bool, fresh: Fresh):
        self.trial, self.whole, self.fresh = trial, whole, fresh
        self.results = results
        self.symbols = list(trial.sizes)
        self.of_items = {d.symbol for t in _lists([*trial.args, *trial.keywords.values()]) for d in lengths(t.items[0])
                         if isinstance(d, Length) and d.symbol.startswith("?")}  # fmt: skip
        self.longer = {s: self.added(s) for s in self.symbols}
        self.elsewhere: list[list[Any]] = []

    def added(self, symbol: str) -> tuple[int, int]:
        """What is added to a length to see what follows it: at first little; then, if it is not the length of many
        axes, so much that it is more than all others."""
        times = [d for t in [*self.trial.args, *self.trial.keywords.values()] for d in lengths(t)
                 if isinstance(d, Length) and d.symbol == symbol]  # fmt: skip
        much = min(max(self.trial.sizes.values()) + 41, _side(MOST_ENTRIES, len(times))) - self.trial.sizes[symbol]
        return (3, much) if much > 6 else (1, 2)

    def type(self) -> Type:
        a, b = self.results[:2]
        if a is None or b is None:  # outside the domain of arcsin, say
            only = a if b is None else b
            if not isinstance(only, (float, complex, np.floating, np.complexfloating)):
                return REFUSED
            a = b = only
        if _has_no_length(a) and _has_no_length(b):
            return self.read([a, b])
        values = [r for r in (a, b, *self.results[2:]) if r is not None]
        longer = self.with_longer(0, self.trial.as_axis)
        self.elsewhere = [] if self.whole or not isinstance(a, np.ndarray) else self.of_other_integers(a.ndim)
        may_be_one = {s: 1 if s.startswith("?") and least_of(s) < 2 else n for s, n in self.trial.sizes.items()}
        if may_be_one != self.trial.sizes and isinstance(a, np.ndarray):
            one = self.trial.result(may_be_one, 0)
            if isinstance(one, (np.ndarray, np.generic)) and np.ndim(one) != a.ndim:
                return Unknown("the rank depends on a length")
        self.count = len(values)
        return self.read([*values, *longer])

    def with_longer(self, values: int, as_axis: bool) -> list[Any]:
        """What comes with each length made longer, twice."""
        sizes = self.trial.sizes
        made = [{**sizes, s: sizes[s] + more} for s in self.symbols for more in self.longer[s]]
        return [self.trial.result(one, values, as_axis) for one in made]

    def of_other_integers(self, rank: int) -> list[list[Any]]:
        """The shapes that come where the integers are others, such as other axes: whatever follows a length follows it
        there too."""
        out = []
        for values, as_axis in ((1, False), (0, True), (1, True)):
            results = [self.trial.result(self.trial.sizes, values, as_axis), *self.with_longer(values, as_axis)]
            if all(isinstance(r, np.ndarray) and r.ndim == rank for r in results):
                out.append([r.shape for r in results])
        return out

    def dim(self, found: list[Any], axis: int | None = None) -> Dim:
        """The length that trials gave: those of other values, then, for each symbol, the two of its longer lengths."""
        same, longer = found[: self.count], found[self.count :]
        if any(m != same[0] for m in same) or None in longer:
            return self.fresh()
        added = [(longer[k] - same[0], longer[k + 1] - same[0]) for k in range(0, len(longer), 2)]
        follows = [k for k, more in enumerate(added) if more != (0, 0)]
        more = [n for pair in added for n in pair]
        if axis is not None and any([n[axis] - base[axis] for n in rest] != more for base, *rest in self.elsewhere):
            return self.fresh()
        if not follows:
            return same[0] if self.whole else self.fresh()
        symbol = self.symbols[follows[0]]
        little, much = self.longer[symbol]
        times, rest = divmod(added[follows[0]][0], little)
        if len(follows) > 1 or symbol in self.of_items or rest or added[follows[0]][1] != times * much:
            return self.fresh()
        found_ = Length(symbol, same[0] - times * self.trial.sizes[symbol], times)
        if not 1 <= times <= MOST_TIMES or abs(found_.offset) > EXACT - 2:
            return self.fresh()
        return found_ if found_.many or not found_.offset else self.fresh()

    def read(self, found: list[Any]) -> Type:
        a, b = found[:2]
        if isinstance(a, np.ndarray) and type(a) not in PLAIN_ARRAYS:
            return Opaque("its class has operations of its own", type(a))
        if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
            if a.dtype != b.dtype or a.dtype.kind == "O" or any(np.ndim(r) != a.ndim for r in found if r is not None):
                return Unknown("the rank depends on values")
            axes = range(a.ndim)
            return Array(name_of_dtype(a.dtype), tuple(self.dim([_at(r, "shape", k) for r in found], k) for k in axes))
        if isinstance(a, np.generic):
            return scalar_of(a.dtype) if type(a) is type(b) else Unknown("the type depends on values")
        if type(a) is not type(b):
            return Unknown("the type depends on values")
        if isinstance(a, bool):
            return Scalar("bool", True)
        if isinstance(a, int):
            d = self.dim(found)
            return Scalar("int64", True, d if isinstance(d, int) or d.many else None)
        if isinstance(a, (float, complex)):
            return Scalar("float64" if isinstance(a, float) else "complex128", True)
        if isinstance(a, (tuple, list, dict)):
            return self.container(found)
        if isinstance(a, str):
            return Scalar("str", True)
        if a is None or isinstance(a, (bytes, type, np.dtype, slice, range)):
            same = all(type(r) is type(a) and r == a for r in found if r is not None)
            return Known(Const(a)) if same else Unknown("it depends on values")
        return Opaque("it is neither a number nor an array", type(a))

    def container(self, found: list[Any]) -> Type:
        """The type of a tuple, a list or a dict that an operation gives."""
        a = found[0]
        alike = all(type(r) is type(a) and len(r) == len(a) for r in found if r is not None)
        if isinstance(a, dict):
            if not alike or any(tuple(r) != tuple(a) for r in found if r is not None):
                return Unknown("a dict whose keys depend on values")
            return Dict(tuple(a), tuple(self.read([_at(r, k) for r in found]) for k in a))
        least = min(len(r) if type(r) is type(a) else 0 for r in found if r is not None)
        items = tuple(self.read([_at(r, k) for r in found]) for k in range(least))
        if isinstance(a, tuple):
            cls = None if type(a) is tuple else type(a)
            return Tuple(items, cls) if alike else Unknown("a tuple whose length depends on values")
        if len(set(items)) == 1:
            return List(list, items[:1], len(a) if alike else None)
        return List(list, items, len(a)) if alike else Unknown("a list of several types")


def _at(result: Any, *path: str | int) -> Any:
    """A part of what a trial gave, None where it gave nothing or something else."""
    try:
        for key in path:
            result = getattr(result, key) if isinstance(key, str) and not isinstance(result, dict) else result[key]
    except (AttributeError, LookupError, TypeError):
        return None
    return result


def _parts(types: Sequence[Type]) -> list[Type]:
    """Types, and those of what they hold."""
    found: list[Type] = []
    waiting = list(types)
    while waiting:
        t = waiting.pop()
        found.append(t)
        waiting += getattr(t, "items", ()) if not isinstance(t, Optional) else [t.type]
    return found


def _lists(types: Sequence[Type]) -> list[List]:
    """The lists among arguments whose items have one type."""
    return [t for t in types if isinstance(t, List) and len(t.items) == 1]


def _holds_integer(t: Type) -> bool:
    """Whether an integer of unknown value is among the arguments: equal results prove nothing."""
    match t:
        case Scalar(dtype, _, None):
            return np.dtype(dtype).kind in "iu"
        case Tuple(items) | List(_, items):
            return any(map(_holds_integer, items))
    return False


def runnable(op: Op) -> Op | None:
    """``op`` itself if it may be run on samples; draws come from a generator of their own."""
    if op is np.random.default_rng:
        return op
    if getattr(op, "__module__", None) == "numpy.random" or isinstance(
        getattr(op, "__self__", None), np.random.RandomState
    ):
        return getattr(np.random.RandomState(0), op.__name__, None)
    if isinstance(getattr(op, "__self__", None), np.random.Generator):
        return getattr(np.random.default_rng(0), op.__name__, None)
    if ops.is_pure(op) or ops.module_root(op) in ops.NUMERIC_MODULES or getattr(op, "__name__", "") == "<lambda>":
        return op
    return None
