"""Queues and ordered dicts: their class is known; what a list or a dict in their place would do otherwise is refused."""

import collections
from collections import OrderedDict, defaultdict, deque

import numpy as np
import pytest

import tangentc


def asked_for_its_class(x):
    q = deque([x, 2 * x])
    return x * 3 if isinstance(q, deque) else x


def asked_for_a_list(x):
    q = deque([x, 2 * x])
    return x * 3 if isinstance(q, list) else x


def ordered_dict_asked_for_its_class(x):
    d = OrderedDict(a=x)
    return x * 3 if isinstance(d, OrderedDict) else x


def name_of_its_class(x):
    q = deque([x, 2 * x])
    return x * len(type(q).__name__)


def empty_queue_in_try(x):
    q = deque([])
    try:
        y = q.popleft()
    except IndexError:
        y = x * 5
    return y


def exhausted_in_try(x):
    q = deque([x])
    try:
        y = q.popleft()
        y = q.popleft()
    except IndexError:
        y = x * 5
    return y


def compared_with_a_list(x):
    q = deque([x])
    return x * 2 if q == [x] else x


def class_compared(x):
    q = deque([x])
    return x * 2 if type(q) is deque else x


def matched(x):
    q = deque([x])
    match q:
        case [a]:
            return a * 2
    return x * 7


def text_of_an_ordered_dict(x):
    d = OrderedDict(a=x)
    return x * len(repr(d))


def formatted(x):
    q = deque([x])
    return x * len(f"{q}")


def asked_in_a_list(x):
    l = [deque([x])]
    return x * 2 if isinstance(l[0], deque) else x


def cut_in_try(x):
    q = deque([x, x * 2, x * 3])
    try:
        y = q[0:2]
        z = sum(y)
    except TypeError:
        z = x * 9
    return z


def joined_in_try(x):
    q = deque([x, x * 2, x * 3])
    try:
        z = (q + [x])[0]
    except TypeError:
        z = x * 9
    return z


def order_compared(x):
    a = OrderedDict(a=x, b=2 * x)
    b = OrderedDict(b=2 * x, a=x)
    return x * 2 if a == b else x * 3


def asked_for_a_method(x):
    q = deque([x, 2 * x, 3 * x])
    return x * 2 if hasattr(q, "rotate") else x * 3


def dict_with_default(x):
    d = defaultdict(float)
    d["a"] += x
    y = d["b"] + x
    return y * len(d)


def class_by_attribute(x):
    q = deque([x, 2 * x])
    return x * 2 if q.__class__ is deque else x * 3


def asked_for_one_of_several(x):
    q = deque([x, 2 * x])
    return x * 2 if isinstance(q, (list, tuple)) else x * 3


def array_of_a_queue(x):
    q = deque([x, 2 * x])
    a = np.array(q)
    return np.sum(a * a)


def text_of_its_class(x):
    q = deque([x, 2 * x])
    return str(type(q)).count("deque") * x


def asked_for_a_sequence(x):
    q = deque([x, 2 * x])
    return x * 3 if isinstance(q, collections.abc.Sequence) else x


def subclass(x):
    q = deque([x, 2 * x])
    return x * 3 if issubclass(type(q), list) else x


def pop_of_a_place_in_try(x):
    q = deque([x])
    q.pop()
    try:
        q.pop(0)
    except TypeError:
        return x * 4
    except IndexError:
        return x * 5
    return x


def in_a_helper(x):
    return told(deque([x, 2 * x]), x)


def told(items, x):
    return x * 2 if isinstance(items, list) else x * 3


def asked_for_something_else(x):
    q = deque([x, 2 * x])
    total = 0.0
    while q:
        v = q.popleft()
        total += v if isinstance(v, float) else 0.0
    return total * 2


def list_beside_no_queue(x):
    return told([x], x)


PROGRAMS = [
    f for f in list(globals().values()) if callable(f) and getattr(f, "__module__", "") == __name__ and f is not told
]
RIGHT = {
    "asked_for_a_list",
    "asked_for_a_method",
    "asked_for_its_class",
    "asked_for_one_of_several",
    "asked_in_a_list",
    "in_a_helper",
    "matched",
    "ordered_dict_asked_for_its_class",
    "dict_with_default",
    "array_of_a_queue",
    "asked_for_a_sequence",
    "asked_for_something_else",
    "list_beside_no_queue",
}


def reverse(f, x):
    return tangentc.value_and_grad(f)(x)


def forward(f, x):
    return tangentc.jvp(f, (x,), (1.0,))


@pytest.mark.parametrize("derivative", [reverse, forward])
@pytest.mark.parametrize("f", PROGRAMS)
def test_right_or_refused(f, derivative):
    if f.__name__ not in RIGHT:
        with pytest.raises(tangentc.TangentcError):
            derivative(f, 1.5)
        return
    value, slope = derivative(f, 1.5)
    assert value == pytest.approx(f(1.5), rel=1e-12)
    assert slope == pytest.approx((f(1.5 + 1e-6) - f(1.5 - 1e-6)) / 2e-6, rel=1e-6)
