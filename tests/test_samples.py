"""Types are found by running NumPy on samples: they stay small, and nothing is believed that depends on values."""

import math

import numpy as np
import pytest

from tangentc.analysis import samples, sampling
from tangentc.core.lengths import Length
from tangentc.core.types import Array, Scalar, Sequence, Unknown

FLOAT = Scalar("float64", True)


def lengths_of(op, *args):
    """The shape that samples say, with "?" for a length that only the run knows."""
    t = sampling.sampled(op, args, {}, lambda: Length("?"))
    return tuple(d if isinstance(d, int) else f"{d.symbol}{d.offset or ''}" for d in t.shape)


def several(n, rank):
    return (
        Array("float64", tuple(Length(f"n{k}") for k in range(rank)))
        if n is None
        else Array("float64", (Length(n),) * rank)
    )


@pytest.mark.parametrize("rank", range(1, 9))
@pytest.mark.parametrize("same", [None, "n0"], ids=["apart", "equal"])
def test_samples_are_small_whatever_the_rank(rank, same, monkeypatch):
    made, entries = [], samples._entries
    monkeypatch.setattr(samples, "_ARRAYS", {})
    monkeypatch.setattr(sampling, "_ASKED", {})
    monkeypatch.setattr(samples, "_entries", lambda *key: made.append(math.prod(key[1])) or entries(*key))
    x = several(same, rank)
    assert lengths_of(np.sort, x) == lengths_of(np.moveaxis, x, Scalar("int64", True, 0), Scalar("int64", True, 0))
    assert lengths_of(np.sort, x) == tuple(d.symbol for d in x.shape)
    assert made[0] <= sampling.ENTRIES * 1.1 and max(made) <= 2 * sampling.MOST_ENTRIES


def test_an_outer_product_of_large_ranks_stays_small(monkeypatch):
    x = several(None, 3)
    assert lengths_of(np.multiply.outer, x, x) == ("n0", "n1", "n2", "n0", "n1", "n2")


N, M = Array("float64", (Length("n"),)), Array("float64", (Length("m"),))


@pytest.mark.parametrize("op, args, wanted", [
    (np.diff, (N,), ("n-1",)),
    (np.arange, (FLOAT, FLOAT, FLOAT), ("?",)),
    (np.arange, (FLOAT,), ("?",)),
    (np.linspace, (FLOAT, FLOAT, Scalar("int64", True, 5)), (5,)),
    (np.convolve, (N, M), ("?",)),
    (np.convolve, (N, M, Scalar("str", True)), ("?",)),
    (np.setdiff1d, (N, M), ("?",)),
    (np.intersect1d, (N, N), ("?",)),
    (np.unique, (N,), ("?",)),
    (np.trim_zeros, (N,), ("?",)),
    (np.flatnonzero, (N,), ("?",)),
    (np.delete, (N, Array("int64", (3,))), ("?",)),
    (np.repeat, (N, Array("int64", (Length("n"),))), ("?",)),
    (np.atleast_2d, (N,), (1, "n")),
    (np.outer, (N, M), ("n", "m")),
    (np.bincount, (Array("int64", (Length("n"),)),), ("?",)),
], ids=lambda p: getattr(p, "__name__", ""))  # fmt: skip
def test_what_depends_on_values_has_no_length(op, args, wanted):
    if op is np.convolve and len(args) == 3:
        op, args = lambda x, k: np.convolve(x, k, "same"), args[:2]
    assert lengths_of(op, *args) == wanted


def test_a_rank_that_depends_on_a_length_is_not_known():
    assert isinstance(
        sampling.sampled(np.squeeze, [Array("float64", (Length("?1"),))], {}, lambda: Length("?")), Unknown
    )
    assert lengths_of(np.squeeze, N) == ("n",)


def test_a_count_is_not_a_length():
    count = sampling.sampled(np.count_nonzero, [N], {}, lambda: Length("?"))
    assert count.dtype == "int64" and count.value is None


def test_lengths_of_items_that_may_differ_are_not_those_of_their_sample():
    items = Sequence(list, (Array("float64", (Length("?1"),)),), None)
    assert lengths_of(np.stack, items) == ("?", "?")
    assert lengths_of(np.concatenate, items) == ("?",)
    assert lengths_of(np.array, Sequence(list, (Array("float64", (Length("n"),)),), 3)) == (3, "n")


def test_a_function_of_the_user_is_asked_each_time(monkeypatch):
    """What it gives may be of another type once a name that it reads stands for something else."""
    monkeypatch.setattr(sampling, "_ASKED", {})
    held = [1.0]
    gives = lambda: held[0]
    assert sampling.sampled(gives, (), {}, lambda: Length("?")) == FLOAT
    held[0] = np.zeros(2)
    assert isinstance(sampling.sampled(gives, (), {}, lambda: Length("?")), Array)
