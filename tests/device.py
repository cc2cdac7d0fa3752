"""A stand-in for CuPy where there is no device: NumPy's results by CuPy's rules.

What differs from NumPy is what code for the device has to heed: an entry is a view of rank 0 and no number, so that
it changes with its array, and `s += x` changes what `s` stands for; nothing turns into an array of NumPy unasked; and
functions other than ufuncs take arrays of the device alone.  The tests marked `gpu` run on CuPy itself.
"""

import copy
import sys
import types
from contextlib import contextmanager

import numpy as np

CREATE = frozenset(
    "array asarray ascontiguousarray asfortranarray zeros ones empty full arange linspace logspace eye identity tri "
    "meshgrid geomspace isscalar ndim shape size result_type finfo iinfo can_cast broadcast_shapes dtype seed choice default_rng normal uniform randn rand permutation randint diag_indices triu_indices tril_indices fftfreq rfftfreq".split()
)
ABSENT = frozenset("errstate nditer unstack histogram_bin_edges frompyfunc vectorize printoptions".split())


class ndarray:
    """An array of the device."""

    __slots__ = ("held",)
    __array_priority__ = 100

    def __init__(self, held):
        self.held = held

    def __array__(self, *args, **kwargs):
        raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")

    def __array_ufunc__(self, ufunc, method, *args, **kwargs):
        return called(getattr(ufunc, method), args, kwargs)

    def __array_function__(self, function, kinds, args, kwargs):
        return called(function, args, kwargs)

    @property
    def __cuda_array_interface__(self):
        raise AttributeError("there is no memory of a device here")

    def get(self):
        return self.held.copy()

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        found = getattr(self.held, name)
        if callable(found):
            return lambda *args, **kwargs: called(found, args, kwargs)
        return on_device(found) if isinstance(found, np.ndarray) else found

    def __setattr__(self, name, value):
        if name == "held":
            object.__setattr__(self, name, value)
        else:
            setattr(self.held, name, on_host(value))

    def __getitem__(self, key):
        key = on_host(key)
        found = self.held[key]
        if isinstance(found, np.ndarray):
            return ndarray(found)
        whole = key if isinstance(key, tuple) else (key,)  # a view of rank 0
        return ndarray(self.held[(*whole, ...)])

    def __setitem__(self, key, value):
        self.held[on_host(key)] = on_host(value)

    def __len__(self):
        return len(self.held)

    def __iter__(self):
        return (self[k] for k in range(len(self.held)))

    def __deepcopy__(self, memo):
        return ndarray(self.held.copy())

    def __copy__(self):
        return ndarray(self.held.copy())

    def __repr__(self):
        return repr(self.held)

    def __format__(self, spec):
        return format(self.held[()], spec)

    def __reduce__(self):
        return ndarray, (self.held,)

    __hash__ = None


def on_device(value):
    if isinstance(value, (np.ndarray, np.generic)):
        return ndarray(np.asarray(value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(on_device, value))
    return type(value)(map(on_device, value)) if type(value) in (tuple, list) else value


def on_host(value):
    """What CuPy hands its kernels.  Raises what CuPy raises where an array is NumPy's."""
    if isinstance(value, ndarray):
        return value.held
    if isinstance(value, np.ndarray):
        raise TypeError(f"Unsupported type {type(value)}")
    if type(value) in (tuple, list):
        return type(value)(map(on_host, value))
    if isinstance(value, slice):
        return slice(
            *(int(part) if isinstance(part, ndarray) else part for part in (value.start, value.stop, value.step))
        )
    return value


def leaves(value):
    return [x for v in value for x in leaves(v)] if type(value) in (tuple, list) else [value]


def called(function, args, kwargs):
    return on_device(function(*map(on_host, args), **{name: on_host(value) for name, value in kwargs.items()}))


def operator(name):
    held = getattr(np.ndarray, name)

    def apply(self, *others):
        return called(held, (self, *others), {})

    return apply


def updating(name):
    held = getattr(np.ndarray, name)

    def apply(self, other):
        held(self.held[...] if self.held.ndim == 0 else self.held, on_host(other))
        return self

    return apply


OPERATORS = "add sub mul truediv floordiv mod pow matmul and or xor lshift rshift".split()
for op in OPERATORS:
    setattr(ndarray, f"__{op}__", operator(f"__{op}__"))
    setattr(ndarray, f"__r{op}__", operator(f"__r{op}__"))
    setattr(ndarray, f"__i{op}__", updating(f"__i{op}__"))
for op in "neg pos abs invert eq ne lt le gt ge divmod".split():
    setattr(ndarray, f"__{op}__", operator(f"__{op}__"))
for op in "bool int float complex".split():
    setattr(ndarray, f"__{op}__", lambda self, _op=f"__{op}__": getattr(self.held, _op)())


def function_of(module, name):
    held = getattr(module, name)
    if isinstance(held, type) or not callable(held):
        return held

    def apply(*args, **kwargs):
        if name in ("array", "asarray") and args and type(args[0]) in (tuple, list):
            kinds = {isinstance(x, ndarray) for x in leaves(args[0])}
            if len(kinds) > 1:
                raise TypeError("Implicit conversion to a NumPy array is not allowed. Please use `.get()`")
        elif name in ("array", "asarray") and args and isinstance(args[0], np.ndarray):
            return ndarray(held(*args, **kwargs))  # sent to the device
        elif not isinstance(held, np.ufunc) and name not in CREATE and args and not arrays_first(args[0]):
            raise AttributeError(f"{type(args[0]).__name__!r} object has no attribute 'dtype': {name}")
        return called(held, args, kwargs)

    apply.__name__ = name
    if isinstance(held, np.ufunc):
        for method in ("reduce", "accumulate", "outer", "at", "reduceat"):
            setattr(apply, method, lambda *args, _m=method, **kw: called(getattr(held, _m), args, kw))
    return apply


def arrays_first(value):
    if type(value) in (tuple, list):
        return all(map(arrays_first, value))
    return isinstance(value, (ndarray, np.generic, str, types.FunctionType))


def module(held, name):
    made = types.ModuleType(name)

    def __getattr__(wanted):
        if wanted in ABSENT or wanted.startswith("__"):
            raise AttributeError(f"module {name!r} has no attribute {wanted!r}")
        made.__dict__[wanted] = function_of(held, wanted)
        return made.__dict__[wanted]

    made.__getattr__ = __getattr__
    return made


ndarray.__module__ = "cupy"


@contextmanager
def cupy():
    """Let `import cupy` find the stand-in."""
    made = module(np, "cupy")
    made.ndarray = ndarray
    made.asnumpy = lambda x: x.get() if isinstance(x, ndarray) else np.asarray(x)
    made.linalg, made.fft, made.random = (module(getattr(np, n), f"cupy.{n}") for n in ("linalg", "fft", "random"))
    made.lib = types.SimpleNamespace(stride_tricks=module(np.lib.stride_tricks, "cupy.lib.stride_tricks"))
    before = sys.modules.get("cupy")
    sys.modules["cupy"] = made
    try:
        yield made
    finally:
        if before is None:
            del sys.modules["cupy"]
        else:
            sys.modules["cupy"] = before


def sent(value):
    """The nest with its arrays on the device."""
    if isinstance(value, np.ndarray):
        return ndarray(value.copy())
    if type(value) is dict:
        return {key: sent(v) for key, v in value.items()}
    return type(value)(map(sent, value)) if type(value) in (tuple, list) else copy.copy(value)


def fetched(value):
    """The nest with its arrays on the host."""
    if isinstance(value, ndarray):
        return value.get()
    if type(value) is dict:
        return {key: fetched(v) for key, v in value.items()}
    return type(value)(map(fetched, value)) if type(value) in (tuple, list) else value
