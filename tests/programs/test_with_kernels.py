"""The programs with their loops compiled: equal to NumPy's gradient, by day a part, by night all."""

import numpy as np
import pytest

import tangentc
from programs.test_programs import IDS, PROGRAMS, flatten, fresh, moving

pytest.importorskip("numba")
ROUNDS = {  # whose values are sums or products of matrices that a loop makes, or third powers
    "list_or_array_by_a_number", "correlation_array", "deriche_columns", "covariance", "conjugate_gradient",
    "own_square", "reversed_twice", "infinite_by_several_steps", "decorated_twice_by_functions_of_one_text",
    "squeezed_length_that_the_run_knows", "set_and_added_to_in_two_loops", "rows_and_columns_that_grow",
    "turned_and_taken_in_part", "jacobi_rotations", "divided_at_last",
}  # fmt: skip
LOOPED = ("in_place", "entries", "polybench", "carried", "over_trips")
rows = [
    pytest.param(*row[1:], id=name, marks=() if k % (3 if row[0] in LOOPED else 24) == 0 else pytest.mark.nightly)
    for k, (row, name) in enumerate(zip(PROGRAMS, IDS, strict=True))
]


@pytest.mark.parametrize("function, args", rows)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_kernels_agree(function, args):
    wrt = moving(args)
    try:
        value, gradients = tangentc.value_and_grad(function, wrt=wrt)(*fresh(args))
    except tangentc.NotScalar:
        pytest.skip("the value is no number")
    compiled = tangentc.value_and_grad(function, wrt=wrt, kernels="numba")
    got, by_loops = compiled(*fresh(args))
    if function.__name__ in ROUNDS or "tangentc.runtime.elementary" in compiled.source:
        np.testing.assert_allclose(got, value, rtol=1e-12)
    else:
        np.testing.assert_array_equal(got, value)
    for (_, a), (_, b) in zip(flatten(list(by_loops)), flatten(list(gradients)), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)
