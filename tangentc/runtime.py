"""The few functions that emitted code may call beside NumPy's.

Each works for any argument types; where types are known when compiling, emitted code does without
them.  `tangentc.export` writes the ones that a module uses into it, so each stands by itself.
"""

import copy
import enum
import functools
import types

import numpy as np

from tangentc.errors import BadRule, NotDifferentiable, TurnedComplex, UnsafeMutation


def unbroadcast(x_bar, x):
    """The adjoint of ``x``, summed back over the axes on which ``x`` was broadcast.

    Parameters: ``x_bar``, an array or number whose shape ``x`` broadcasts to, or that broadcasts to the
    shape of ``x``; ``x``, the primal value.  Returns an array or number with the shape and dtype of ``x``.

    >>> unbroadcast(np.ones((3, 2)), np.zeros(2))
    array([3., 3.])
    """
    shape = np.shape(x)
    if np.iscomplexobj(x_bar) and not np.iscomplexobj(x):
        x_bar = np.real(x_bar)
    extra = max(np.ndim(x_bar) - len(shape), 0)
    if extra:
        x_bar = np.sum(x_bar, axis=tuple(range(extra)))
    bar_shape = np.shape(x_bar)
    offset = len(shape) - len(bar_shape)
    ones = tuple(k for k, n in enumerate(bar_shape) if shape[k + offset] == 1 and n != 1)
    if ones:
        x_bar = np.sum(x_bar, axis=ones, keepdims=True)
    if not shape:
        return x_bar if getattr(x, "dtype", None) is None else x.dtype.type(x_bar)
    if np.shape(x_bar) != shape:
        return np.broadcast_to(x_bar, shape).astype(x.dtype)  # a copy, which may be added to
    return x_bar.astype(x.dtype, copy=False)


def require_scalar(out, name):
    """Raise `ValueError` unless the value of ``name`` is one real number, as a gradient needs.

    >>> require_scalar(2.0, "loss")
    """
    if np.size(out) != 1 or np.iscomplexobj(out) or np.asarray(out).dtype.kind not in "fbiu":
        kind = (
            "a complex number" if np.iscomplexobj(out) and np.size(out) == 1 else f"an array of shape {np.shape(out)}"
        )
        raise ValueError(f"{name} returns {kind}, and its gradient needs one real number")


def require_bound(value, name):
    """Raise `UnboundLocalError`, as Python does, if a name that is read was given no value on the way.

    >>> require_bound(2.0, "y")
    """
    if value is None:
        raise UnboundLocalError(f"cannot access local variable {name!r} where it is not associated with a value")


def require_count(items, count):
    """Raise `ValueError`, as Python does, unless ``items`` are as many as the names that they are unpacked into.

    Parameters: ``items``, a sequence or an array; ``count``, the number of names.

    >>> require_count([1.0, 2.0], 2)
    """
    if len(items) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {len(items)})")
    if len(items) > count:
        raise ValueError(f"too many values to unpack (expected {count})")


def require_shape(given, rule, x, *around):
    """Raise `BadRule` unless what a rule gives for ``x`` can come from the shape of ``x``.

    Parameters: ``given``, what the rule named ``rule`` gives; ``x``, the value that it is given for; ``around``, the
    values that ``x`` may have been broadcast with.  Each axis that ``given`` has beyond those of ``x``, or longer
    than there, is one along which broadcasting has repeated ``x`` for one of them.

    >>> require_shape(np.ones(3), "squares_rule", np.zeros(3))
    """
    if any(isinstance(value, (list, tuple, dict)) for value in (given, x)):
        return
    shapes = [np.shape(value)[::-1] for value in around if not isinstance(value, (list, tuple, dict))]
    own, found = np.shape(x)[::-1], np.shape(given)[::-1]
    for k, length in enumerate(found):
        wanted = own[k] if k < len(own) else 1
        if length not in (wanted, 1) and (wanted != 1 or all(shape[k : k + 1] != (length,) for shape in shapes)):
            raise BadRule(
                f"the rule {rule} gives an array of shape {found[::-1]} for one of shape {own[::-1]}",
                why="only axes along which broadcasting has repeated a value are summed",
                way_out="return an array of the same shape, or one that broadcasts to it",
            )


def require_unchanged(tried, given):
    """Raise `UnsafeMutation` unless what a call in a ``try`` block was given is as it was before it raised.

    ``tried`` is a tuple of copies, which the call was made with; ``given`` of the values themselves.

    >>> require_unchanged(([1.0],), ([1.0],))
    """
    if not _same(tried, given):
        raise UnsafeMutation(
            "a call in a `try` block changed something in place and then raised an exception",
            why="a change that is half done is not followed",
            way_out="make it in a statement of its own, or after the `try` statement",
        )


def or_zero(x_dot, x):
    """The tangent ``x_dot`` of ``x``, zero where it is None.

    >>> or_zero(None, np.ones(2))
    array([0., 0.])
    """
    if x_dot is None:
        return zeros_of(x)
    return x_dot if isinstance(x, (list, tuple, dict)) else unbroadcast(x_dot, x)


def require_apart(changed, others):
    """Raise `UnsafeMutation` if an array or a list that a recursive function changes, or that lies in one, shares
    memory with another one, or with one of the other values.

    >>> x = np.zeros(3)
    >>> require_apart((x, [np.ones(3)]), (1.0, np.ones(3)))
    """
    met: dict[int, list] = {}
    for values, may_meet in ((changed, False), (others, True)):
        for part in values:
            for place, memory in _memory_in(part):
                known = met.setdefault(place, [])
                if any(a is memory or isinstance(a, np.ndarray) and np.shares_memory(a, memory) for a in known):
                    raise UnsafeMutation(
                        "a function that calls itself changes an array or a list that shares memory with another of its"
                        " values",
                        why="it works on copies, which do not share it", way_out="give it a copy",
                    )  # fmt: skip
                if not may_meet:
                    known.append(memory)


def require_apart_after(given, new, gave):
    """As `require_apart`, for what a recursive function made of its arguments, where it is not what they were.

    >>> x = np.zeros(3)
    >>> require_apart_after((np.zeros(3),), (x,), x)
    """
    require_apart(tuple(b for a, b in zip(given, new, strict=True) if not _is_same(a, b)), (gave,))


def _is_same(a, b):
    """Whether two values, one of which is a copy of the other with changes, hold the same numbers."""
    if isinstance(a, np.ndarray):
        return np.array_equal(a, b, equal_nan=a.dtype.kind in "fc")
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_is_same, a, b))
    if isinstance(a, dict):
        return list(a) == list(b) and all(_is_same(v, b[k]) for k, v in a.items())
    return type(a) is type(b) and (a == b or a != a) if isinstance(a, (int, float, complex, str)) else a is b


def _memory_in(value):
    """The arrays and containers in a value, each with the object that owns its memory."""
    if isinstance(value, np.ndarray):
        owner = value
        while isinstance(owner.base, np.ndarray):
            owner = owner.base
        yield id(owner), value
    elif isinstance(value, (list, tuple, dict)):
        if not isinstance(value, tuple):
            yield id(value), value
        for part in value.values() if isinstance(value, dict) else value:
            yield from _memory_in(part)
    elif _is_object(value) and not callable(value):
        yield id(value), value
        for part in _attributes(value).values():
            yield from _memory_in(part)


def _is_object(x):
    return hasattr(x, "__dict__") or hasattr(x, "__slots__")


def _attributes(x):
    """The attributes of an object with their names, those in slots too."""
    held = {}
    for cls in type(x).__mro__:
        slots = vars(cls).get("__slots__", ())
        names = (slots,) if isinstance(slots, str) else slots
        held.update({n: getattr(x, n) for n in names if n not in ("__dict__", "__weakref__") and hasattr(x, n)})
    return {**held, **getattr(x, "__dict__", {})}


def order(keys, reverse=False):
    """The positions of the keys of a list in the order in which `sorted` has them.

    >>> order([0.5, 0.1, 0.3])
    [1, 2, 0]
    """
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def passive(error):
    """An exception that was caught, or None.  Raises `NotDifferentiable` if it holds numbers that may move.

    >>> passive(KeyError("w"))
    KeyError('w')
    """
    held = [] if error is None else [*error.args, *error.__dict__.values()]
    if any(np.asarray(value).dtype.kind in "fcO" and not callable(value) for value in held if value is not None):
        raise NotDifferentiable(
            f"an exception of type {type(error).__name__} carries a number out of a `try` block",
            why="a derivative does not flow through an exception",
            way_out="assign the number to a variable before raising it",
        )
    return error


def _same(a, b):
    if isinstance(a, (list, tuple)):
        return len(a) == len(b) and all(map(_same, a, b))
    if isinstance(a, dict):
        return a.keys() == b.keys() and all(_same(a[k], b[k]) for k in a)
    if _is_array(a):
        return a.shape == b.shape and bool((np.equal(a, b) | (np.not_equal(a, a) & np.not_equal(b, b))).all())
    if _is_object(a) and not isinstance(a, (type, types.FunctionType, types.ModuleType)):
        return _same(_attributes(a), _attributes(b))
    return a is b or a == b or a != a


def _is_array(x):
    return isinstance(x, (np.ndarray, np.generic)) or hasattr(type(x), "__cuda_array_interface__")


def _has_memory(x):
    """Whether it is an array, and no number."""
    return _is_array(x) and not isinstance(x, np.generic)


def zeros_of(x):
    """A zero adjoint for ``x``: of its shape, or for a container a container of zeros that can be changed.

    >>> zeros_of([1.0, (2.0, 3.0)])
    [0.0, [0.0, 0.0]]
    """
    if isinstance(x, (list, tuple)):
        return [zeros_of(item) for item in x]
    if isinstance(x, dict):
        return {key: zeros_of(item) for key, item in x.items()}
    if _is_array(x) and x.shape:
        return np.zeros_like(x)
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


def _entries(holder):
    """The items of a list, of a dict, or of the attributes of an object, with their keys."""
    if isinstance(holder, list):
        return list(enumerate(holder))
    return list((holder if isinstance(holder, dict) else _attributes(holder)).items())


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


def _memory(x):
    """The array whose memory an array is a part of."""
    while isinstance(x.base, np.ndarray):
        x = x.base
    return x


def _place(x):
    """Where in its memory an array lies."""
    memory = _memory(x)
    start = x.__array_interface__["data"][0] - memory.__array_interface__["data"][0]
    return memory.shape, memory.strides, start, x.shape, x.strides


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
            x_bar[k][...] += item
        elif np.ndim(x_bar[k]) and np.shape(item) != np.shape(x_bar[k]):  # an item that was broadcast
            x_bar[k] = x_bar[k] + unbroadcast(item, x_bar[k])
        else:
            x_bar[k] = x_bar[k] + item


def copied(values, views=True, known=None):
    """Copies of all arrays, lists, dicts and objects in ``values``, which share memory as the originals do; without
    ``views``, as `copy.deepcopy` copies them, views become arrays of their own.

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
            whole = copied(base, views, known)
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
            new.update({key: copied(item, views, known) for key, item in values.items()})
        else:
            new.extend(copied(item, views, known) for item in values)
    elif isinstance(values, (list, dict)):  # of a class of its own
        new = known.setdefault(id(values), (copy.copy(values), values))[0]
        of = dict if isinstance(values, dict) else list
        for key, item in _entries(values):
            of.__setitem__(new, key, copied(item, views, known))  # type: ignore[attr-defined]
    elif isinstance(values, tuple):
        items = [copied(item, views, known) for item in values]
        new = type(values)(*items) if hasattr(values, "_fields") else tuple(items)
    elif type(values).__module__.startswith("numpy.random"):
        new = copy.deepcopy(values)  # which draws the same numbers
    elif _is_object(values) and not isinstance(
        values,
        (type, types.FunctionType, types.BuiltinFunctionType, types.MethodType, types.ModuleType, functools.partial,
         np.ufunc, enum.Enum, BaseException),
    ):  # fmt: skip
        new = known.setdefault(id(values), (type(values).__new__(type(values)), values))[0]  # type: ignore[call-overload]
        held = {name: copied(item, views, known) for name, item in _attributes(values).items()}
        if hasattr(new, "__dict__"):
            new.__dict__.update({name: held.pop(name) for name in values.__dict__})
        for name, item in held.items():
            object.__setattr__(new, name, item)
    known[id(values)] = new, values
    return new


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
        x_bar[...] += contribution
        return x_bar
    if isinstance(x_bar, list):
        add_items(x_bar, contribution, None, True)
        return x_bar
    return plus(x_bar, contribution)


def shaped_like(x_bar, x):
    """The adjoint ``x_bar`` of a container in the container's own types: tuples where ``x`` has tuples.

    >>> shaped_like([0.0, [1.0, 2.0]], [5.0, (6.0, 7.0)])
    [0.0, (1.0, 2.0)]
    """
    if isinstance(x, list):
        return [shaped_like(b, item) for b, item in zip(x_bar, x, strict=True)]
    if isinstance(x, tuple):
        items = [shaped_like(b, item) for b, item in zip(x_bar, x, strict=True)]
        return type(x)(*items) if hasattr(x, "_fields") else tuple(items)
    if isinstance(x, dict):
        return {key: shaped_like(x_bar[key], item) for key, item in x.items()}
    if hasattr(x, "__dataclass_fields__"):
        return type(x)(**{key: shaped_like(getattr(x_bar, key), getattr(x, key)) for key in x.__dataclass_fields__})
    if isinstance(x_bar, types.SimpleNamespace):
        return x_bar
    return x_bar if hasattr(x, "shape") or isinstance(x, (float, complex)) else None


def reduce_to_shape(x_bar, shape):
    """Sum ``x_bar`` over the axes on which an array of this shape was broadcast to it.

    >>> reduce_to_shape(np.ones((3, 2)), (3, 1))
    array([[2.],
           [2.],
           [2.]])
    """
    extra = np.ndim(x_bar) - len(shape)
    if extra:
        x_bar = np.sum(x_bar, axis=tuple(range(extra)))
    ones = tuple(k for k, n in enumerate(shape) if n == 1 and np.shape(x_bar)[k] != 1)
    return np.sum(x_bar, axis=ones, keepdims=True) if ones else x_bar


def along_axis(x, indices, axis):
    """The subscript with which ``x[...]`` takes what `numpy.take_along_axis` takes.

    >>> x = np.array([[3.0, 1.0], [2.0, 5.0]])
    >>> x[along_axis(x, np.array([[1], [0]]), 1)]
    array([[1.],
           [2.]])
    """
    axis = axis % np.ndim(x)
    key = list(np.indices(np.shape(indices), sparse=True))
    key[axis] = indices
    return tuple(key)


def last_written(x_bar, key):
    """``x_bar[key]`` for the adjoint of ``x[key] = values``: of values written to one entry, only the last counts.

    >>> last_written(np.array([1.0, 2.0]), np.array([0, 0, 1]))
    array([0., 1., 2.])
    """
    order = np.full(np.shape(x_bar), -1)
    taken = x_bar[key]
    numbers = np.arange(np.size(taken)).reshape(np.shape(taken))
    order[key] = numbers
    return np.where(order[key] == numbers, taken, 0)


def add_if_copied(x_bar, y_bar, order="C"):
    """Add ``y_bar`` to the shadow ``x_bar`` unless it is a view of it: for ``y = x.reshape(...)``.

    >>> x_bar = np.zeros((2, 2))
    >>> add_if_copied(x_bar, np.ones(4))
    >>> x_bar
    array([[1., 1.],
           [1., 1.]])
    """
    if not np.may_share_memory(x_bar, y_bar):
        x_bar += np.reshape(y_bar, np.shape(x_bar), order=order)


def split_like(x, arrays, axis=0):
    """Cut ``x`` along ``axis`` into parts as long as those of ``arrays``, the inverse of concatenate.

    >>> [part.tolist() for part in split_like(np.arange(3.0), [np.zeros(2), np.zeros(1)])]
    [[0.0, 1.0], [2.0]]
    """
    if axis is None:
        return [
            np.reshape(p, np.shape(a))
            for p, a in zip(split_like(x, [np.ravel(a) for a in arrays]), arrays, strict=True)
        ]
    ends = np.cumsum([np.shape(a)[axis] for a in arrays])
    return np.split(x, [int(end) for end in ends[:-1]], axis=axis)


def product_of_others(x, axis=None):
    """For each entry the product of the other entries along ``axis``: right also where entries are zero.

    >>> product_of_others(np.array([2.0, 0.0, 3.0]))
    array([0., 6., 0.])
    """
    x = np.asarray(x)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(a % x.ndim for a in axes)
    rest = tuple(a for a in range(x.ndim) if a not in axes)
    order = (*rest, *axes)
    moved = np.transpose(x, order)
    flat = np.reshape(moved, (*[x.shape[a] for a in rest], int(np.prod([x.shape[a] for a in axes]))))
    ones = np.ones_like(flat[..., :1])
    before = np.cumprod(np.concatenate([ones, flat[..., :-1]], axis=-1), axis=-1)
    after = np.cumprod(np.concatenate([ones, flat[..., :0:-1]], axis=-1), axis=-1)[..., ::-1]
    return np.transpose(np.reshape(before * after, moved.shape), [order.index(a) for a in range(x.ndim)])


def product_of_pairs(x, v, axis=None):
    """For each entry i the sum over k of v[k] times the product of the entries other than i and k: the
    derivative of `product_of_others` along ``v``, which is also its adjoint.

    >>> product_of_pairs(np.array([2.0, 0.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    array([3., 5., 2.])
    """
    x = np.asarray(x)
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, tuple) else (axis,)
    axes = tuple(a % x.ndim for a in axes)
    v = np.broadcast_to(v, x.shape)
    total = np.zeros_like(x)
    for index in np.ndindex(*(x.shape[a] for a in axes)):
        place = [slice(None)] * x.ndim
        for a, k in zip(axes, index, strict=True):
            place[a] = slice(k, k + 1)
        without = x.copy()
        without[tuple(place)] = 1
        others = product_of_others(without, axis)
        others[tuple(place)] = 0
        total = total + v[tuple(place)] * others
    return total


def positions(x):
    """The place of each entry of ``x`` among all of them, counted row by row.

    >>> positions(np.zeros((2, 2)))
    array([[0, 1],
           [2, 3]])
    """
    return np.reshape(np.arange(np.size(x)), np.shape(x))


def steps_without_kinks(slope, solver, rtol, atol):
    """The times that a solver of SciPy steps through, and others between them, such that the slope has no kink that
    matters from one to the next.

    A step of length h over a kink of the slope is off by the order of h**2, and its derivative by the order of h: steps
    that just do for a solution leave its derivative with the root of the tolerance. So a step is halved while the sixth
    difference of the slopes in it, which is of the order of h where there is a kink and of h**6 elsewhere, is above the
    tolerances, of which ``rtol`` is at least 1e-10.

    Raises `NotDifferentiable` where the slope jumps and it is the solution that says when: the time of the jump moves
    with the solution, and the steps do not.
    """
    span, points = abs(solver.t_bound - solver.t), [solver.t]
    while solver.status == "running":
        solver.step()
        y, waiting = solver.dense_output(), [(points[-1], solver.t)]
        while waiting:
            times = np.linspace(*waiting.pop(), 7)
            states = [y(t) for t in times]
            slopes = np.array([slope(t, at) for t, at in zip(times, states, strict=True)])
            near = np.maximum(rtol, 1e-10) * np.maximum(np.abs(states[0]), np.abs(states[6])) + atol
            near = near + 1e-12 * span * np.max(np.abs(slopes), axis=0)  # the rounding of the slopes
            bends = span * np.abs(np.array([1, -6, 15, -20, 15, -6, 1]) @ slopes) > near
            if not np.any(bends):  # nor where they are no numbers
                points.append(times[6])
            elif abs(times[6] - times[0]) > 1e-14 * span:
                waiting += [(times[3], times[6]), (times[0], times[3])]
            elif np.any(np.abs(slope(times[6], states[0]) - slopes[6]) > np.abs(slopes[0] - slopes[6]) / 2):
                raise NotDifferentiable(
                    f"the right-hand side of a differential equation jumps at {times[6]:.6g}",
                    why="it is the solution that says when, and the derivative by that time is not followed",
                    way_out="a right-hand side without jumps, or one that jumps at times that are given",
                )
            else:
                points.append(times[6])
    return np.array(points)


def passing(mesh, wanted):
    """The points of a mesh and other points between its ends, in the order in which the mesh passes them.

    >>> passing(np.array([2.0, 0.0]), [1.0, 2.0])
    array([2., 1., 0.])
    """
    points = np.union1d(mesh, wanted)
    return points[::-1].copy() if mesh[-1] < mesh[0] else points


def passed(points, wanted):
    """The numbers of some of the points that `passing` gave.

    >>> passed(np.array([2.0, 1.0, 0.0]), [1.0, 2.0])
    array([1, 0])
    """
    sign = -1 if points[-1] < points[0] else 1
    return np.searchsorted(sign * points, sign * np.asarray(wanted))


def units(x):
    """For each entry of ``x``, an array of zeros with a one there; for a number, a one.

    >>> units(np.zeros(2))
    array([[1., 0.],
           [0., 1.]])
    """
    dtype = np.result_type(np.asarray(x).dtype, np.float16)
    return np.reshape(np.eye(np.size(x), dtype=dtype), (np.size(x), *np.shape(x)))


def scatter(values, places, x):
    """Add ``values`` up at flat ``places`` in an array of the shape of ``x``: the adjoint of taking entries.

    >>> scatter(np.array([1.0, 2.0, 3.0]), np.array([0, 1, 1]), np.zeros(3))
    array([1., 5., 0.])
    """
    total = np.zeros(np.size(x), np.asarray(values).dtype)
    np.add.at(total, places, values)
    return np.reshape(total, np.shape(x))


def real_power(x, y):
    """``x ** y`` of Python's numbers, as long as it is real: the code around it was compiled for real numbers.

    >>> real_power(4.0, 0.5)
    2.0
    """
    z = x**y
    if isinstance(z, complex):
        raise TurnedComplex(
            "a power of a negative number is complex", why="the code was compiled for real ones",
            way_out="give it a complex number, x + 0j",
        )  # fmt: skip
    return z


def require_real(y):
    """Raise `ValueError` if ``y`` is complex: the code around it was written for real numbers.

    >>> require_real(2.0)
    """
    if np.iscomplexobj(y):
        raise ValueError("a root or a function of a matrix is complex here, and this was written for real numbers")


def taken(y_bar, partial):
    """``y_bar * partial``, and zero where the adjoint is zero and the partial is not a finite number: what was not
    taken by `np.where`, a mask or a bound.

    >>> taken(np.array([0.0, 2.0]), np.array([np.inf, 3.0]))
    array([0., 6.])
    """
    return y_bar * np.where((y_bar == 0) & ~np.isfinite(partial), 0, partial)[()]


def unpad(y, x, pad_width):
    """What `np.pad` was given: ``y`` without its margins, in the shape of ``x``.

    >>> unpad(np.arange(5.0), np.zeros(2), (1, 2))
    array([1., 2.])
    """
    if isinstance(pad_width, dict):
        every = [(0, 0)] * np.ndim(x)
        for axis, width in pad_width.items():
            every[axis] = np.broadcast_to(width, 2)
        pad_width = every
    margins = np.broadcast_to(pad_width, (np.ndim(x), 2))
    inside = tuple(slice(int(before), int(before) + n) for (before, _), n in zip(margins, np.shape(x), strict=True))
    return np.copy(y[inside])


def resized(y, x):
    """``y`` cut off, or continued by zeros, at the end of each axis, in the shape of ``x``.

    >>> resized(np.ones(2), np.zeros(4)), resized(np.ones(3), np.zeros(1))
    (array([1., 1., 0., 0.]), array([1.]))
    """
    both = tuple(slice(min(m, n)) for m, n in zip(np.shape(y), np.shape(x), strict=True))
    out = np.zeros(np.shape(x), y.dtype)
    out[both] = y[both]
    return out


def recurrence(a, b):
    """``s`` with ``s[i] = a[i] * s[i - 1] + b[i]`` along the first axis, from ``s[-1] = 0``.

    >>> recurrence(np.array([5.0, 2.0, 3.0]), np.array([1.0, 1.0, 1.0]))
    array([ 1.,  3., 10.])
    """
    s = np.zeros(np.broadcast_shapes(np.shape(a), np.shape(b)), np.result_type(a, b))
    for i in range(len(s)):
        s[i] = a[i] * s[i - 1] + b[i] if i else b[i]
    return s


def trapezoid_weights(y, x=None, dx=1.0, axis=-1):
    """The weight of each entry of ``y`` in `np.trapezoid`, in a shape that broadcasts to that of ``y``.

    >>> trapezoid_weights(np.zeros(3), np.array([0.0, 1.0, 3.0]))
    array([0.5, 1.5, 1. ])
    """
    n, rank = np.shape(y)[axis], np.ndim(y)
    if x is not None and np.ndim(x) == 1:
        x = np.reshape(x, [-1 if a == axis % rank else 1 for a in range(rank)])
    if x is None:
        widths = np.full([max(n - 1, 0) if a == axis % rank else 1 for a in range(rank)], dx)
    else:
        widths = np.diff(x, axis=axis)
    none = np.zeros([1 if a == axis % rank else m for a, m in enumerate(np.shape(widths))])
    return (np.concatenate([none, widths], axis=axis) + np.concatenate([widths, none], axis=axis)) / 2


def adjoint_of_gradient(y, axis=-1):
    """The adjoint of `np.gradient` with unit spacing along one axis.

    >>> adjoint_of_gradient(np.array([1.0, 2.0, 4.0]))
    array([-2., -3.,  5.])
    """
    y = np.moveaxis(y, axis, 0)
    x = np.zeros_like(y)
    x[2:] += y[1:-1] / 2
    x[:-2] -= y[1:-1] / 2
    x[1] += y[0]
    x[0] -= y[0]
    x[-1] += y[-1]
    x[-2] -= y[-1]
    return np.moveaxis(x, 0, axis)


def hermitian_weights(y, axis=-1):
    """How often `np.fft.irfft` counts each entry of its argument for the result ``y``: once or twice.

    >>> hermitian_weights(np.zeros(6)), hermitian_weights(np.zeros(5))
    (array([1., 2., 2., 1.]), array([1., 2., 2.]))
    """
    n = np.shape(y)[axis]
    weights = np.full(n // 2 + 1, 2.0)
    weights[0] = 1
    if n % 2 == 0:
        weights[-1] = 1
    return np.reshape(weights, [-1 if a == axis % np.ndim(y) else 1 for a in range(np.ndim(y))])


def marks(x, *keys):
    """An array of flags of the shape of ``x``, which are true at the entries that a subscript in ``keys`` takes.

    >>> marks(np.zeros(4), 0, slice(2, None))
    array([ True, False,  True,  True])
    """
    flags = np.zeros_like(x, dtype=bool)
    for key in keys:
        flags[key] = True
    return flags


def cofactors(A):
    """The matrices of cofactors, ``det(A) * inv(A).T``, which singular matrices have as well.

    Parameters: ``A``, square matrices of shape (..., n, n).  Returns an array of that shape.  Where one is nearly
    singular, they are the products of those of the factors U, S and V of ``A = U @ S @ V`` (Horn and Johnson, Matrix
    Analysis, 2nd edition, 0.8.2: cofactors are multiplicative).

    >>> cofactors(np.array([[1.0, 2.0], [2.0, 4.0]])).round(12)
    array([[ 4., -2.],
           [-2.,  1.]])
    """
    try:
        inverse = np.linalg.inv(A)
        condition = np.linalg.norm(A, axis=(-2, -1)) * np.linalg.norm(inverse, axis=(-2, -1))
        if np.all(condition < 1e8):
            return np.linalg.det(A)[..., None, None] * np.swapaxes(inverse, -1, -2)
    except np.linalg.LinAlgError:
        pass
    U, s, V = np.linalg.svd(A)
    others = np.prod(np.where(np.eye(np.shape(A)[-1], dtype=bool), 1.0, s[..., None, :]), axis=-1)
    unit = (np.linalg.det(U) * np.linalg.det(V))[..., None, None]
    return (unit * (np.conj(U) * others[..., None, :]) @ np.conj(V)).astype(A.dtype)


for _helper in (
    struct, unbroadcast, zeros_of, zeros_of_copy, shaped_like, reduce_to_shape, split_like, product_of_others,
    product_of_pairs, along_axis, copied, taken, last_written, positions, scatter, unpad, resized, recurrence,
    insertion, trapezoid_weights, adjoint_of_gradient, hermitian_weights, require_unchanged,
    require_bound, require_count, require_real, require_scalar, require_shape, passive, or_zero, order, cofactors,
    marks,
):  # fmt: skip
    _helper.__tangentc_pure__ = True  # type: ignore[attr-defined]
del _helper
