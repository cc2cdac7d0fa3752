"""The operations that have syntax of their own in Python, and those that only the compiler writes.

An operation is a Python callable, so that a program in core form can be run as it stands:
`operator.add` is ``+``, `make_tuple` is ``(a, b)``, `numpy.exp` is itself.
"""

from __future__ import annotations

import ast
import bisect
import builtins
import dataclasses
import functools
import operator
from collections.abc import Container, Iterable
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, SupportsIndex, TypeVar

import numpy as np

from tangentc.core.types import Type
from tangentc.ops.table import Op, every, known_of, say

X = TypeVar("X")

BINARY: dict[Op, str] = {
    operator.add: "+",
    operator.sub: "-",
    operator.mul: "*",
    operator.truediv: "/",
    operator.floordiv: "//",
    operator.mod: "%",
    operator.pow: "**",
    operator.matmul: "@",
    operator.and_: "&",
    operator.or_: "|",
    operator.xor: "^",
    operator.lshift: "<<",
    operator.rshift: ">>",
}
COMPARE: dict[Op, str] = {
    operator.lt: "<",
    operator.le: "<=",
    operator.gt: ">",
    operator.ge: ">=",
    operator.eq: "==",
    operator.ne: "!=",
    operator.is_: "is",
    operator.is_not: "is not",
}
UNARY: dict[Op, str] = {operator.neg: "-", operator.pos: "+", operator.not_: "not ", operator.invert: "~"}


def identity(x: X, present: bool = False, stands_for: object = None, parts: object = (), **values: object) -> X:
    """``y = x``: another name for the same object; with ``present``, of one that is not None here, with ``stands_for``,
    of a list or a dict that is an object of another class, with ``parts``, of a container of which ``values`` are what
    it holds at these paths."""
    return x


def once(x: X) -> X:
    """``y = x`` for an iterator, which one statement may run over."""
    return x


def make_tuple(*items: X) -> tuple[X, ...]:
    return items


def make_list(*items: X) -> list[X]:
    return list(items)


def make_dict(keys: Iterable[object], *values: X) -> dict[object, X]:
    return dict(zip(keys, values, strict=True))


def make_struct(cls: type, fields: tuple[str, ...], *values: object) -> object:
    """A dataclass or a NamedTuple from its fields."""
    from tangentc import runtime

    given = dict(zip(fields, values, strict=True))
    return cls(**given) if is_put_together(cls, fields) else runtime.struct(cls, **given)  # type: ignore[no-untyped-call]


def is_put_together(cls: type, fields: tuple[str, ...]) -> bool:
    """Whether calling a class does nothing but keep these values: one with a ``__post_init__`` may do more."""
    if not dataclasses.is_dataclass(cls):
        return True
    init = vars(cls).get("__init__")
    if hasattr(cls, "__post_init__") or init is None or init.__code__.co_filename != "<string>":
        return False
    return set(fields) <= {f.name for f in dataclasses.fields(cls) if f.init}


def select(test: object, x: X, y: X) -> X:
    """``x if test else y`` on scalars that both exist already."""
    return x if test else y


def method(receiver: object, name: str, *args: object, **keywords: object) -> object:
    """``receiver.name(*args)``, as long as the receiver's type is not known."""
    return getattr(receiver, name)(*args, **keywords)


def call(callee: Op, *args: object, **keywords: object) -> object:
    """``callee(*args)``, as long as it is not known what is called."""
    return callee(*args, **keywords)


def spread(x: X) -> X:
    """``*x`` or ``**x``, as long as it is not known how many items it has."""
    return x


def enter(manager: AbstractContextManager[X]) -> X:
    """``with manager``: its body begins."""
    return manager.__enter__()


def leave(manager: AbstractContextManager[object]) -> None:
    """The body of ``with manager`` is over."""
    manager.__exit__(None, None, None)


def new_object(cls: type[X]) -> X:
    """An object of a class, before its ``__init__``."""
    return object.__new__(cls)


class Attribute(str):
    """As the key of a store: ``object.name = value``."""


def item(x: np.ndarray | np.generic) -> object:
    """``x.item()``: the only entry of an array, as a Python number."""
    return x.item()


def snapshot(x: X) -> X:
    """``x`` as it is at this point of the program: a read of all that it holds."""
    return x


def inserted(x: X, block: object, **reads: object) -> X:
    """``x`` itself; in the adjoint sweep a block of the user's runs here, which has the adjoint of ``x`` in a name."""
    return x


say(inserted, pure=True)


class Insertion:
    """The block of ``with insert_grad_of(x) as x_bar``: its tree, the name of the adjoint, all the names that it
    assigns, and what those of its names stand for that are no variables."""

    def __init__(
        self, tree: ast.AST, text: str, bar: str, assigned: tuple[str, ...], constants: tuple[tuple[str, object], ...]
    ):
        self.tree, self.text, self.bar = tree, text, bar
        self.assigned, self.constants = assigned, constants


WATCHING: list[Any] = []  # who is shown the values of a run, the latest last


def seen(number: int, value: X) -> X:
    """``value``, shown to who watches the run, who may give another one in its place."""
    return WATCHING[-1].value(number, value) if WATCHING else value


def seen_bar(number: int, bar: X) -> X:
    """The adjoint of a value that is shown."""
    return WATCHING[-1].adjoint(number, bar) if WATCHING else bar


def tell(what: str, number: int, *values: object) -> None:
    """Show what an operation is about to be given, what is stored, or that a trip of a loop begins."""
    if WATCHING:
        getattr(WATCHING[-1], what)(number, *values)


def contains(item: object, container: Container[object]) -> bool:
    return item in container


def not_contains(item: object, container: Container[object]) -> bool:
    return item not in container


def new_list() -> list[object]:
    """An empty list on which a loop saves what the adjoint sweep takes back."""
    return []


def push(saved: list[X], value: X) -> None:
    saved.append(value)


def fail_if(test: object, error: type[Exception], message: str) -> None:
    """``if test: raise error(message)``, in a kernel: what follows was written for where it does not hold."""
    if test:
        raise error(message)


def pop(saved: list[X], *position: SupportsIndex) -> X:
    return saved.pop(*position)


def append(items: list[X], value: X) -> None:
    """``items.append(value)`` on a list of the user."""
    items.append(value)


def take(items: Any, *position: object) -> object:
    """``items.pop(position)`` on a list or dict of the user."""
    return items.pop(*position)


def insert(items: list[X], position: int, value: X) -> None:
    items.insert(position, value)


def reverse(items: list[object]) -> None:
    items.reverse()


def old_item(container: Any, key: object) -> object:
    """What a container holds under a key, None if it does not hold it yet."""
    if isinstance(key, Attribute):
        return getattr(container, key, None)
    return container.get(key) if isinstance(container, dict) else container[key]


def in_order(x: np.ndarray) -> np.ndarray:
    """What a definition gives, with its entries in the order in which the function gives them that it stands for."""
    return np.ascontiguousarray(x)


def copied(x: object, views: bool = True) -> object:
    """A container with all that it holds, made once more; without ``views``, these become arrays of their own."""
    from tangentc import runtime

    return runtime.copied(x, views)  # type: ignore[no-untyped-call]


def items_from(items: Iterable[X], start: int, stop: int) -> list[X]:
    """``*rest`` in an unpacking: the items from ``start`` to before ``stop``, in a list."""
    return list(items)[start : stop or None]


CHANGES = every("changes")  # what changes the container that comes first
SYNTAX: list[Op] = [
    identity, make_tuple, make_list, make_dict, make_struct, operator.getitem, slice, getattr, select,
]  # fmt: skip
PURE_BUILTINS: tuple[Op, ...] = (
    builtins.abs, builtins.bool, builtins.complex, builtins.dict, builtins.divmod, builtins.enumerate,
    builtins.float, builtins.getattr, builtins.int, builtins.isinstance, builtins.len, builtins.list,
    builtins.max, builtins.min, builtins.pow, builtins.range, builtins.reversed, builtins.round,
    builtins.slice, builtins.sorted, builtins.str, builtins.sum, builtins.tuple, builtins.type,
    builtins.zip, builtins.callable, builtins.hasattr, builtins.repr, builtins.all, builtins.any,
)  # fmt: skip
SEARCHES = (bisect.bisect_left, bisect.bisect_right)
PURE = every("pure")
say(in_order, view=True)
WHOLE: set[Op] = {
    operator.matmul,
    operator.is_,
    operator.is_not,
    operator.not_,
}  # which do not take arrays entry by entry
say(*(f for f in (*BINARY, *COMPARE, *UNARY) if f not in WHOLE), select, elementwise=True)
say(*BINARY, *COMPARE, *UNARY, *SYNTAX, *PURE_BUILTINS, *SEARCHES, contains, not_contains, pure=True)
NUMERIC_MODULES = ("numpy", "math", "cmath", "cupy", "scipy")
IMPURE_NAMES = {"copyto", "put", "fill_diagonal", "put_along_axis", "place", "putmask", "at", "save", "seterr"}


def module_root(op: object) -> str:
    """The top-level package that an operation comes from, '' where it does not say."""
    module = getattr(op, "__module__", None)
    if module is None and "ufunc" in (type(op).__name__, type(getattr(op, "__self__", None)).__name__):
        module = "numpy"
    if module is None and hasattr(op, "__self__"):
        module = getattr(type(op.__self__), "__module__", None) if not hasattr(op.__self__, "__name__") else None
    return (module or "").split(".")[0]


def is_pure(op: Op) -> bool:
    """Whether calling ``op`` twice is the same as calling it once, and leaves no trace."""
    if op in PURE or isinstance(op, (UserFunction, Emitted)) and op.pure:
        return True
    if module_root(op) not in NUMERIC_MODULES:
        return False
    name = getattr(op, "__name__", "")
    if name == "printoptions" or isinstance(op, type) and hasattr(op, "__enter__"):  # what is entered once
        return False
    return name not in IMPURE_NAMES and "random" not in (getattr(op, "__module__", None) or "")


def keeps_shape(op: Op) -> bool:
    """Whether the result has the shape of the first argument, whatever the others are."""
    return known_of(op).keeps_shape or getattr(op, "__module__", None) == "scipy.ndimage._filters"


def is_used_up(op: object) -> bool:
    """Whether what ``op`` makes is run over once, by one loop."""
    return op is builtins.iter or isinstance(op, type) and hasattr(op, "__next__")


class _Undefined:
    """Stands where a name has no value: before a loop that defines it, after a branch that does not."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = _Undefined()


class augmented:
    """``x op= y`` on a name, as long as it is not known whether ``x`` is changed or rebound."""

    def __init__(self, op: Op):
        self.op = op
        self.__name__ = op.__name__

    def __call__(self, x: object, y: object) -> object:
        return getattr(operator, "i" + self.op.__name__.strip("_"))(x, y)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, augmented) and self.op is other.op

    def __hash__(self) -> int:
        return hash((augmented, self.op))


def stopped(x: X) -> X:
    """``x`` as a constant: no derivative flows through it."""
    return x


def reshaped(x: np.ndarray, shape: int | tuple[int, ...]) -> np.ndarray:
    """``x.shape = shape`` on a name: the array under that name from there on."""
    return np.reshape(x, shape)


class MadeInside:
    """A function that is made while the program runs: its calls are written out, and it is known by a word."""


def is_made_inside(value: object) -> bool:
    return isinstance(value, MadeInside)


def assumed(fact: object, *values: object) -> None:
    """What the code was written for, of these values: it is only right while their types bear it out."""


say(item, methods=("item",))
SYNTAX.append(stopped)
say(stopped, reshaped, assumed, item, snapshot, old_item, copied, items_from, functools.partial, pure=True)


class UserFunction:
    """A function of the user's module, called from the program.

    ``pure`` says that it has no effect; ``aliases`` that its result may share memory with an argument.
    """

    def __init__(self, function: Op, pure: bool, aliases: bool):
        self.function = function
        self.__name__ = function.__name__
        self.pure = pure
        self.aliases = aliases

    def __call__(self, *args: object, **keywords: object) -> object:
        return self.function(*args, **keywords)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UserFunction) and other.function is self.function

    def __hash__(self) -> int:
        return hash((UserFunction, id(self.function)))


class Emitted:
    """A function that the compiler wrote, called from another one: half of a primal/adjoint pair.

    What an adjoint returns is nobody else's, so it has ``aliases`` False.  ``changes`` are the positions of the
    arguments that it writes into.
    """

    def __init__(self, name: str, pure: bool, result: Type, aliases: bool = True, changes: tuple[int, ...] = ()):
        self.__name__ = name
        self.changes = changes
        self.aliases = aliases
        self.pure = pure
        self.result = result

    def __call__(self, *args: object) -> object:
        raise NotImplementedError(self.__name__)


class Hook(Emitted):
    """A function of the caller's that is given a part of a gradient as soon as it is final, and gives what takes its
    place; or one that is called once, before the gradient is returned."""

    def __init__(self, function: Op, result: Type):
        super().__init__(getattr(function, "__name__", type(function).__name__.lower()), False, result)
        self.function = function


class DeviceText(NamedTuple):
    """The text of a kernel of the device, and the options that it is compiled with."""

    text: str
    options: tuple[str, ...]


class Launch(Emitted):
    """A kernel of the device, launched: so many of the arguments are handed on to it, the first of them those that it
    writes into; the others say how many trips its loops have.  With ``rows`` a block of threads shares each row."""

    def __init__(self, name: str, given: int, changes: tuple[int, ...], rows: bool = False):
        super().__init__(name, False, None, False, changes)  # type: ignore[arg-type]
        self.given, self.rows = given, rows


say(append, insert, take, reverse, changes=True)
say(make_tuple, make_list, make_dict, make_struct, puts_together=True, holds=True)
say(new_list, new_object, puts_together=True)
say(
    identity, stopped, inserted, select, pop, take, old_item, items_from, builtins.reversed, builtins.enumerate,
    builtins.zip, builtins.list, builtins.tuple, builtins.dict, operator.add, operator.mul, holds=True,
)  # fmt: skip
say(new_list, pop, make_list, make_dict, make_struct, copied, builtins.list, builtins.dict, allocates=True)
say(copied, deep_copy=True)
say(builtins.len, asks_form=True)
say(
    operator.getitem, builtins.getattr, builtins.len, builtins.range, builtins.slice, make_tuple, make_list, identity,
    builtins.reversed, builtins.zip, builtins.enumerate, free=True,
)  # fmt: skip
say(operator.add, operator.sub, operator.mul, operator.neg, *COMPARE, cheap=True, cheap_on_arrays=True)
say(
    operator.truediv, operator.pow, operator.floordiv, operator.mod, operator.not_, select, builtins.abs, builtins.min,
    builtins.max, builtins.int, builtins.float, cheap=True,
)  # fmt: skip
