"""What `vmap` is compared with: the loop over the examples."""

import numpy as np

import tangentc


def stacked(results):
    """The results of the examples, put together leaf by leaf."""
    first = results[0]
    if isinstance(first, (tuple, list)):
        return type(first)(stacked([r[k] for r in results]) for k in range(len(first)))
    if isinstance(first, dict):
        return {k: stacked([r[k] for r in results]) for k in first}
    return np.stack([np.asarray(r) for r in results])


def example(value, axes, k):
    """What the k-th example has of a value that is mapped along axes."""
    if axes is None:
        return value
    if isinstance(value, (tuple, list)):
        each = [axes] * len(value) if isinstance(axes, int) else axes
        return type(value)(example(v, a, k) for v, a in zip(value, each, strict=True))
    if isinstance(value, dict):
        return {n: example(v, axes if isinstance(axes, int) else axes[n], k) for n, v in value.items()}
    return np.take(value, k, axis=axes)[()]


def count(value, axes):
    """How many examples a value has, None if it is none of the batch."""
    if axes is None:
        return None
    if isinstance(value, (tuple, list, dict)):
        parts = value.items() if isinstance(value, dict) else enumerate(value)
        found = [count(v, axes if isinstance(axes, int) else axes[k]) for k, v in parts]
        return next((n for n in found if n is not None), None)
    return np.shape(value)[axes]


def loop(f, args, in_axes=0):
    """The results of a function for one example after the other, stacked."""
    each = (in_axes,) * len(args) if isinstance(in_axes, int) else in_axes
    n = next(c for c in map(count, args, each) if c is not None)
    return stacked([f(*(example(a, axes, k) for a, axes in zip(args, each, strict=True))) for k in range(n)])


def assert_same(given, want, rtol=1e-11):
    """Two results of one structure, shape and dtype, equal but for rounding."""
    if isinstance(want, (tuple, list, dict)):
        assert type(given) is type(want) and len(given) == len(want)
        for k in want if isinstance(want, dict) else range(len(want)):
            assert_same(given[k], want[k], rtol)
        return
    if want is None:
        assert given is None
        return
    assert type(given) is type(want) or np.ndim(want) == 0
    given, want = np.asarray(given), np.asarray(want)
    assert given.shape == want.shape and given.dtype == want.dtype, (given.shape, want.shape, given.dtype, want.dtype)
    if given.dtype.kind not in "fc":
        assert (given == want).all()
        return
    rtol = 2e-4 if given.dtype.itemsize * (1 + (given.dtype.kind == "f")) <= 8 else rtol
    scale = np.max(np.abs(want[np.isfinite(want)]), initial=0.0) + 1
    np.testing.assert_allclose(given, want, rtol=rtol, atol=rtol * scale)


def assert_like_loop(f, args, in_axes=0, rtol=1e-11):
    """Fail where `vmap` gives something else than the loop; gives what is done in a loop."""
    batched = tangentc.vmap(f, in_axes)
    assert_same(batched(*args), loop(f, args, in_axes), rtol)
    return batched.looped_for(*args)
