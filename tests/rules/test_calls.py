"""Every function and argument that the table of calls lists: both modes, first and second order, both precisions."""

import numpy as np
import pytest

from rules import calls
from tangentc.testing import _check

ALL = calls.expressions()


@pytest.mark.parametrize("expression", [e for _, e in ALL], ids=[f"{family}-{e}" for family, e in ALL])
def test_call(expression):
    function, args = calls.as_program(expression)
    with np.errstate(all="ignore"):
        _check(function, args, 0, True)
