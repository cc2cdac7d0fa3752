"""Options of NumPy's functions together: every one with every other.  `make test` tries some, the nightly run all."""

import itertools

import numpy as np
import pytest

from rules import calls
from tangentc import vjp
from tangentc.testing import _check

HOLES = "np.where(np.arange(24).reshape(2, 3, 4) % 7 == 3, np.nan, T)"
AXES = (None, 0, 1, -1, (0, 1), (0, 2), (-1,), (2, 0, 1))
SOME_AXES = (None, 1, (0, 2))
ONE_AXIS = (0, 1, -1)
KEEP = (False, True)
METHODS = (
    "linear", "lower", "higher", "midpoint", "nearest", "hazen", "weibull", "median_unbiased", "normal_unbiased",
    "inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf",
)  # fmt: skip
NORMS = ("fro", "nuc", 1, -1, 2, -2)
TABLE: dict[str, dict[str, tuple]] = {
    "np.{}(T, axis={}, keepdims={})": {"f": ("sum", "mean", "prod", "max", "min", "var", "std", "ptp"), "a": AXES, "k": KEEP},
    "np.{}(T, axis={}, keepdims={}, where=T < 1.5, initial=0.3)": {"f": ("sum", "prod", "max"), "a": SOME_AXES, "k": KEEP},
    "np.{}(T, axis={}, keepdims={}, where=T < 1.5)": {"f": ("mean", "var"), "a": (None, (0, 2)), "k": KEEP},
    "np.{}(T, axis={}, keepdims={}, ddof={})": {"f": ("var", "std"), "a": SOME_AXES, "k": KEEP, "d": (1, 0.5)},
    "np.{}(" + HOLES + ", axis={}, keepdims={})": {
        "f": ("nansum", "nanmean", "nanprod", "nanmax", "nanmin", "nanmedian"), "a": AXES, "k": KEEP,
    },
    "np.{}(" + HOLES + ", axis={}, keepdims={}, correction={})": {
        "f": ("nanvar", "nanstd"), "a": (None, 1, -1, (0, 2)), "k": KEEP, "c": (0, 0.5),
    },
    "np.median(T, axis={}, keepdims={})": {"a": AXES, "k": KEEP},
    "np.quantile(T, {}, axis={}, keepdims={})": {"q": (0.3, [0.2, 0.7]), "a": AXES, "k": KEEP},
    "np.nanquantile(" + HOLES + ", {}, axis={}, keepdims={})": {"q": (0.3, [0.2, 0.7]), "a": AXES, "k": KEEP},
    "np.percentile(T, {}, axis={}, method={!r})": {"q": (30, [20, 70]), "a": SOME_AXES, "m": METHODS},
    "np.average(T, axis={}, keepdims={}, weights=T**2 + 0.1)": {"a": SOME_AXES, "k": KEEP},
    "np.average(T, axis=-1, keepdims={}, weights=p[:4], returned=True)[{}]": {"k": KEEP, "i": (0, 1)},
    "np.{}(T, axis={})": {"f": ("cumsum", "cumprod", "sort"), "a": (None, *ONE_AXIS)},
    "np.{}(" + HOLES + ", axis={})": {"f": ("nancumsum", "nancumprod"), "a": (None, *ONE_AXIS)},
    "np.{}(T, axis={}, include_initial={})": {"f": ("cumulative_sum", "cumulative_prod"), "a": ONE_AXIS, "i": KEEP},
    "np.diff(T, n={}, axis={})": {"n": (1, 2), "a": ONE_AXIS},
    "np.{}(T, axis={}) * 2": {"f": ("gradient", "unwrap", "trapezoid"), "a": ONE_AXIS},
    "np.take(T, {}, axis={})": {"i": (1, [0, 1], [[1, 0]]), "a": (None, *ONE_AXIS)},
    "np.repeat(T, 2, axis={})": {"a": (None, *ONE_AXIS)},
    "np.delete(T, {}, axis={})": {"i": (0, [0, 1]), "a": (None, 1, 2)},
    "np.{}(T, offset={}, axis1={}, axis2=1)": {"f": ("trace", "diagonal"), "o": (0, 1, -1), "a": (0, 2)},
    "np.rot90(T, {}, {})": {"k": (-1, 0, 1, 2, 3), "a": ((0, 1), (1, 2), (2, 0))},
    "np.linalg.norm(T, {}, {}, {})": {"o": (1, 2, 3, -1), "a": ONE_AXIS, "k": KEEP},
    "np.linalg.norm(T, {!r}, {}, {})": {"o": NORMS, "a": ((0, 1), (1, 2), (2, 0)), "k": KEEP},
    "np.linalg.matrix_norm(T, ord={!r}, keepdims={})": {"o": ("fro", "nuc", 1, 2), "k": KEEP},
    "np.abs(np.fft.{}(T, {}, {}, {!r}))": {
        "f": ("fft", "ifft", "rfft", "irfft", "hfft"), "n": (None, 5, 6), "a": (0, -1), "m": (None, "ortho", "forward"),
    },
    "np.abs(np.fft.{}(T, {}, {}, 'ortho'))": {
        "f": ("fftn", "ifftn", "rfftn"), "s": (None, (3, 5)), "a": ((0, 1), (1, 2), (2, 0)),
    },
    "np.pad(T, {}, {!r})": {
        "w": (1, ((1, 0), (0, 2), (1, 1))), "m": (
            "constant", "edge", "linear_ramp", "maximum", "mean", "median", "minimum", "reflect", "symmetric", "wrap",
        ),
    },
    "np.pad(T, 1, {!r}, stat_length={})": {"m": ("maximum", "mean", "median", "minimum"), "l": (1, 2)},
    "np.pad(T, 1, {!r}, reflect_type='odd')": {"m": ("reflect", "symmetric")},
}  # fmt: skip
CALLS = [text.format(*values) for text, options in TABLE.items() for values in itertools.product(*options.values())]
EACH = 7  # of so many one is tried by `make test`


@pytest.mark.parametrize(
    "expression", [pytest.param(c, marks=[] if k % EACH == 0 else pytest.mark.nightly) for k, c in enumerate(CALLS)]
)
def test_options_together(expression):
    function, args = calls.as_program(expression)
    with np.errstate(all="ignore"):
        value, expected = vjp(function, *args)[0], function(*args)
        assert np.shape(value) == np.shape(expected)
        np.testing.assert_allclose(value, expected, rtol=1e-10)
        _check(function, args, 0, False)
