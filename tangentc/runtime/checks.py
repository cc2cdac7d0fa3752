"""What emitted code asserts: it raises where its function raises, or where it was not written for what it is given."""

import types

import numpy as np

from tangentc.errors import BadRule, NotDifferentiable, TurnedComplex, UnsafeMutation
from tangentc.runtime.objects import _attributes, _is_array, _is_object, _memory_in, _module


def require_scalar(out, name):
    """Raise `ValueError` unless the value of ``name`` is one real number, as a gradient needs.

    >>> require_scalar(2.0, "loss")
    """
    if np.size(out) != 1 or np.iscomplexobj(out) or _module(out).asarray(out).dtype.kind not in "fbiu":
        kind = f"an array of shape {np.shape(out)}" if out is not None else "None here"
        if np.iscomplexobj(out) and np.size(out) == 1:
            kind = "a complex number"
        raise ValueError(f"{name} returns {kind}, and its gradient needs one real number")


def require_bound(value, name, kind=UnboundLocalError):
    """Raise what Python does if a name, an item of a dict or an attribute that is read was given no value on the way.

    Parameters: ``value``, None if there is none; ``name``, the name, key or attribute; ``kind``, the exception.

    >>> require_bound(2.0, "y")
    """
    if value is None and kind is KeyError:
        raise KeyError(name)
    if value is None and kind is AttributeError:
        raise AttributeError(f"the object has no attribute {name!r}")
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


def require_without_gaps(x):
    """Raise `UnsafeMutation` for an array, to be changed, whose entries do not lie side by side in one order of its
    axes: a reshape of it is a copy where that of its own copy would be a view.

    >>> require_without_gaps(np.ones((2, 3)).T)
    """
    sides = sorted((s, n) for s, n in zip(x.strides, x.shape) if n > 1) if x.size else []
    together = x.itemsize
    for stride, length in sides:
        if stride != together:
            raise UnsafeMutation(
                f"an array of shape {x.shape} is reshaped and changed, whose entries do not lie side by side",
                why="its reshape is a copy, and no part of it", way_out="give the function a copy of it: x.copy()",
            )  # fmt: skip
        together *= length


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
