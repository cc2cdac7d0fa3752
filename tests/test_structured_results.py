"""Results that are lists, tuples and dicts of which only the call knows how long they are."""

import numpy as np
import pytest
from programs import growing

import tangentc
from tangentc.inspection.check import five_point, flatten, rebuild


@pytest.mark.parametrize("function, args", growing.STRUCTURED, ids=[f.__name__ for f, _ in growing.STRUCTURED])
def test_pullback_and_tangent_agree_with_differences(function, args):
    x, *rest = args
    rng = np.random.default_rng(0)
    direction = rng.normal(size=x.shape)
    value, pullback = tangentc.vjp(function, *args)
    wanted = function(*args)
    assert type(value) is type(wanted) and str(value) == str(wanted)
    seed = rebuild(value, iter([rng.normal(size=a.shape) for _, a in flatten(value)]))
    _, tangent = tangentc.jvp(function, args, (direction, *(None for _ in rest)))
    given = float(np.sum(pullback(seed)[0] * direction))

    def product(a):
        return sum(float(np.sum(u * v)) for (_, u), (_, v) in zip(flatten(seed), flatten(a), strict=True))

    assert given == pytest.approx(product(tangent), rel=1e-12)
    assert given == pytest.approx(five_point(lambda t: product(function(x + t * direction, *rest)), 1e-3), rel=1e-8)
