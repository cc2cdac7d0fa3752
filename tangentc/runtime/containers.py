"""Adjoints of containers: zeros of their form, and additions into them."""

import copy
import random
import types

import numpy as np

from tangentc.errors import UnsafeMutation
from tangentc.runtime.arrays import unbroadcast
from tangentc.runtime.objects import _attributes, _entries, _has_memory, _is_array, _is_object, _memory, _module, _place


def or_zero(x_dot, x):
    """The tangent ``x_dot`` of ``x``, zero where it is None.

    >>> or_zero(None, np.ones(2))
    array([0., 0.])
    """
    if x_dot is None:
        return zeros_of(x)
    return x_dot if isinstance(x, (list, tuple, dict)) else unbroadcast(x_dot, x)


def zeros_of(x):
    """A zero adjoint for ``x``: of its shape, or for a container a container of zeros that can be changed.

    >>> zeros_of([1.0, (2.0, 3.0)])
    [0.0, [0.0, 0.0]]
    """
    if isinstance(x, (list, tuple)):
        return [zeros_of(item) for item in x]
    if isinstance(x, dict):
        return {key: zeros_of(item) for key, item in x.items()}
    if isinstance(x, np.generic) and x.dtype.kind in "biufc":  # a number, which is not changed in place
        return np.result_type(x.dtype, 0.0).type(0)
    if _is_array(x):
        return np.zeros_like(x, dtype=np.result_type(x.dtype, 0.0) if x.dtype.kind in "biu" else None)
    if _is_object(x):
        return types.SimpleNamespace(**{name: zeros_of(item) for name, item in _attributes(x).items()})
    return 0j if isinstance(x, (complex, np.complexfloating)) else 0.0


def struct(cls, **fields):
    """An object of a class with these attributes, as its ``__init__`` has left them.

    >>> class Point: pass
    >>> struct(Point, a=1.0).a
    1.0
    """
    made = object.__new__(cls)
    for name, value in fields.items():
        object.__setattr__(made, name, value)
    return made


def zeros_of_copy(x):
    """A zero adjoint for a copy of several values, in which what they hold several times has one adjoint.

    >>> part = [1.0]
    >>> zero = zeros_of_copy((part, part))
    >>> zero[0] is zero[1]
    True
    """
    zero = copied(x)
    return _cleared(zero, [])


def _cleared(x, seen):
    """``x`` itself with zeros for its numbers, tuples as lists."""
    if isinstance(x, tuple):
        return [_cleared(item, seen) for item in x]
    if _has_memory(x) and x.dtype.kind in "biu":
        return _module(x).zeros(x.shape)
    if _has_memory(x):
        x[...] = 0
        return x
    if not isinstance(x, (list, dict)) and not _is_object(x):
        return 0j if isinstance(x, (complex, np.complexfloating)) else 0.0
    for other, zero in seen:
        if other is x:
            return zero
    zero = x if isinstance(x, (list, dict)) else types.SimpleNamespace()
    seen.append((x, zero))
    place = zero if isinstance(zero, (list, dict)) else vars(zero)
    for key, item in _entries(x):
        place[key] = _cleared(item, seen)
    return zero


def once(x_bar, seen=None):
    """The adjoint ``x_bar`` in which what it holds several times stands once, with zeros in the other places.

    >>> part = np.ones(2)
    >>> once([part, [part, 3.0]])
    [array([1., 1.]), [array([0., 0.]), 3.0]]
    """
    seen = [] if seen is None else seen
    if any(x_bar is other for other in seen):
        return zeros_of(x_bar)
    if _has_memory(x_bar):
        if any(_has_memory(other) and np.may_share_memory(x_bar, other) for other in seen):
            raise UnsafeMutation(
                "the adjoint of what a call gives holds two arrays that share memory in part",
                why="what both have in common would count twice", way_out="let the function return copies",
            )  # fmt: skip
        seen.append(x_bar)
    elif isinstance(x_bar, (list, tuple, dict)) or _is_object(x_bar):
        seen.append(x_bar)
        parts = {key: once(item, seen) for key, item in _entries(x_bar)}
        if isinstance(x_bar, (list, tuple)):
            return list(parts.values())
        return parts if isinstance(x_bar, dict) else types.SimpleNamespace(**parts)
    return x_bar


def add_copied(x_bar, copy_bar):
    """Add the adjoint of a copy of ``x`` to that of ``x``; what both hold several times is added once.

    >>> part, copy = [1.0], [2.0]
    >>> add_copied([part, part, 1.0], [copy, copy, 3.0])
    >>> part
    [3.0]
    >>> a, b = np.zeros(3), np.ones(3)
    >>> add_copied([a, a[1:]], [b, b[1:]])
    >>> a
    array([1., 1., 1.])
    """
    arrays: list = []
    _add_copied(x_bar, copy_bar, [], arrays)
    for k, (x, y) in enumerate(arrays):
        memory = _memory(x), _memory(y)
        others = [pair for pair in arrays if pair[1] is not y and np.may_share_memory(pair[1], y)]
        if not others:
            x[...] += y
        elif any(_memory(a) is not memory[0] or _place(a) != _place(b) for a, b in [(x, y), *others]):
            raise UnsafeMutation(
                "the adjoint of a copy of arrays that share memory is differentiated again",
                why="they do not share it as the arrays do", way_out="copy them one by one",
            )  # fmt: skip
        elif not any(_memory(b) is memory[1] for _, b in arrays[:k]):
            memory[0][...] += memory[1]


def _add_copied(x_bar, copy_bar, seen, arrays):
    if any(copy_bar is other for other in seen):
        return
    seen.append(copy_bar)
    if _has_memory(copy_bar):
        arrays.append((x_bar, copy_bar))
        return
    place = vars(x_bar) if isinstance(x_bar, types.SimpleNamespace) else x_bar
    for key, item in _entries(copy_bar):
        if _is_nothing(item):
            continue
        if isinstance(item, (list, dict, types.SimpleNamespace)) or _has_memory(item) and _has_memory(place[key]):
            _add_copied(place[key], item, seen, arrays)
        else:
            place[key] = place[key] + item


def insertion(i, length):
    """The position at which ``items.insert(i, x)`` puts x into a list of this length.

    >>> insertion(-1, 3), insertion(9, 3)
    (2, 3)
    """
    return min(max(i + length if i < 0 else i, 0), length)


def _is_nothing(contribution):
    """Whether there is nothing to add: what stands for a text, a function or None has no adjoint, which is None."""
    if isinstance(contribution, (list, tuple)):
        return all(map(_is_nothing, contribution))
    if isinstance(contribution, (dict, types.SimpleNamespace)):
        held = contribution if isinstance(contribution, dict) else vars(contribution)
        return all(map(_is_nothing, held.values()))
    return contribution is None or not np.any(contribution)


def add_items(x_bar, contribution, places=None, in_place=False):
    """Add a list or an array of contributions to the adjoints of a list's items; ``places`` says to which
    items, by default all; with ``in_place`` arrays are added to, since others see them too.

    >>> x_bar = [0.0, [1.0]]
    >>> add_items(x_bar, [2.0, [3.0]])
    >>> x_bar
    [2.0, [4.0]]
    """
    if x_bar is None and _is_nothing(contribution):
        return
    if isinstance(contribution, dict):
        places, contribution = contribution.keys(), contribution.values()
    for k, item in zip(range(len(x_bar)) if places is None else places, contribution):
        if item is None or x_bar[k] is None and _is_nothing(item):
            continue
        if isinstance(x_bar[k], (list, dict)):
            add_items(x_bar[k], item, None, in_place)
        elif isinstance(x_bar[k], types.SimpleNamespace):
            add_items(vars(x_bar[k]), vars(item), None, in_place)
        elif in_place and _has_memory(x_bar[k]):
            x_bar[k][...] += _as_in(x_bar[k], item)
        elif np.ndim(x_bar[k]) and np.shape(item) != np.shape(x_bar[k]):  # an item that was broadcast
            x_bar[k] = x_bar[k] + unbroadcast(item, x_bar[k])
        else:
            x_bar[k] = x_bar[k] + item


def _as_in(x_bar, contribution):
    """What a contribution adds to an adjoint: to that of real numbers its real part."""
    return np.real(contribution) if np.iscomplexobj(contribution) and not np.iscomplexobj(x_bar) else contribution


def copied(values, views=True, known=None, leave=()):
    """Copies of all arrays, lists, dicts and objects in ``values``, which share memory as the originals do; without
    ``views``, as `copy.deepcopy` copies them, views become arrays of their own.  Attributes of the names ``leave``
    stay what they are.

    >>> a = np.zeros(3)
    >>> b, view = copied([a, a[1:]])
    >>> view[0] = 1.0
    >>> b
    array([0., 1., 0.])
    """
    known = {} if known is None else known
    if id(values) in known:
        return known[id(values)][0]
    new = values
    if isinstance(values, np.ndarray):
        base = values
        while isinstance(base.base, np.ndarray):
            base = base.base
        if base is values or not views:
            new = values.copy(order="K")
        elif base.flags.c_contiguous or base.flags.f_contiguous:
            whole = copied(base, views, known, leave)
            start = values.__array_interface__["data"][0] - base.__array_interface__["data"][0]
            buffer = whole if whole.flags.c_contiguous else whole.T
            new = np.ndarray(values.shape, values.dtype, buffer, start, values.strides)
        else:
            new = values.copy(order="K")
    elif hasattr(values, "__cuda_array_interface__"):
        new = values.copy()
    elif type(values) in (list, dict):
        new = known.setdefault(id(values), (type(values)(), values))[0]
        if isinstance(values, dict):
            new.update({key: copied(item, views, known, leave) for key, item in values.items()})
        else:
            new.extend(copied(item, views, known, leave) for item in values)
    elif isinstance(values, (list, dict)):  # of a class of its own
        new = known.setdefault(id(values), (copy.copy(values), values))[0]
        of = dict if isinstance(values, dict) else list
        for key, item in _entries(values):
            of.__setitem__(new, key, copied(item, views, known, leave))  # type: ignore[attr-defined]
    elif isinstance(values, tuple):
        items = [copied(item, views, known, leave) for item in values]
        new = type(values)(*items) if hasattr(values, "_fields") else tuple(items)
    elif type(values).__module__.startswith("numpy.random") or isinstance(values, random.Random):
        new = copy.deepcopy(values)  # which draws the same numbers
    elif _is_object(values) and (made := blank(type(values))) is not None:
        new = known.setdefault(id(values), (made, values))[0]
        held = {
            name: item if name in leave else copied(item, views, known, leave)
            for name, item in _attributes(values).items()
        }
        if hasattr(new, "__dict__"):
            new.__dict__.update({name: held.pop(name) for name in values.__dict__})
        for name, item in held.items():
            object.__setattr__(new, name, item)
    known[id(values)] = new, values
    return new


def blank(cls):
    """An object of a class without its attributes; None where a class of C holds more than those.

    >>> blank(types.SimpleNamespace), blank(list)
    (namespace(), None)
    """
    if cls is types.SimpleNamespace:
        return cls()
    try:
        return object.__new__(cls)  # which Python refuses where it is not safe
    except TypeError:
        return None


def plus(x_bar, contribution):
    """The sum of two adjoints of unknown structure; None stands for that of something without one.

    >>> plus([1.0, None], [2.0, None])
    [3.0, None]
    """
    if x_bar is None or contribution is None:
        return contribution if x_bar is None else x_bar
    if isinstance(x_bar, (list, tuple)):
        return [plus(a, b) for a, b in zip(x_bar, contribution)]
    return x_bar + contribution


def plus_in_place(x_bar, contribution):
    """The sum of two adjoints of unknown structure, the first of which others may see: an array is added to.

    >>> x_bar = np.zeros(2)
    >>> plus_in_place(x_bar, np.ones(2)) is x_bar
    True
    """
    if x_bar is None or contribution is None:
        return copied(contribution) if x_bar is None else x_bar
    if _has_memory(x_bar):
        x_bar[...] += _as_in(x_bar, contribution)
        return x_bar
    if isinstance(x_bar, list):
        add_items(x_bar, contribution, None, True)
        return x_bar
    return plus(x_bar, contribution)
