"""An exported module stands by itself."""

import enum
import functools
import math
import runpy
import subprocess
import sys
from dataclasses import dataclass, field

import emitted_targets
import numpy as np
import pytest
from test_targets import CASES

import tangentc

FACTOR = 3.0
TABLE = np.ones(3)


def with_constant(x):
    return FACTOR * np.sum(x * x)


def with_array_constant(x):
    return np.sum(x * TABLE)


def product(x):
    return np.prod(x) ** 2


@dataclass
class Track:
    start: float
    history: list = field(default_factory=lambda: [1.0, 2.0])


def with_a_default_made_by_a_lambda(x):
    track = Track(x)
    return track.start**2 * len(track.history)


BLOCKED = "import sys; sys.modules['tangentc'] = None\n"


def run_alone(path, expression):
    program = f"{BLOCKED}import sys; sys.path.insert(0, {str(path.parent)!r})\nimport numpy as np, {path.stem} as m\nprint({expression})"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.mark.parametrize("name", ["energy", "two_layers", "cross_entropy", "burgers"])
def test_exported_target(name, tmp_path):
    args, wrt = CASES[name]
    gradient = tangentc.grad(getattr(emitted_targets, name), wrt=wrt)
    path = tangentc.export(gradient, tmp_path / f"{name}_module.py", *args)
    assert "import tangentc" not in path.read_text() and "from tangentc" not in path.read_text()
    np.savez(tmp_path / "args.npz", *[np.asarray(a) for a in args])
    call = f"m.{name}_grad(*[a if a.ndim else a.item() for a in np.load({str(tmp_path / 'args.npz')!r}).values()])"
    shown = run_alone(
        path,
        f"[float(np.sum(g)) for g in np.atleast_1d({call}) ]"
        if not isinstance(wrt, tuple)
        else f"[float(np.sum(g)) for g in {call}]",
    )
    want = gradient(*args)
    want = np.atleast_1d(want) if not isinstance(wrt, tuple) else want
    np.testing.assert_allclose(eval(shown), [float(np.sum(g)) for g in want], rtol=1e-12)


def test_a_lambda_is_written_in_alone(tmp_path):
    path = tangentc.export(tangentc.grad(with_a_default_made_by_a_lambda), tmp_path / "m1.py", 3.0)
    assert run_alone(path, "m.with_a_default_made_by_a_lambda_grad(3.0)") == "12.0"


def test_helpers_and_constants_are_written_in(tmp_path):
    path = tangentc.export(tangentc.grad(product), tmp_path / "product_module.py", np.ones(3))
    assert "def product_of_others(" in path.read_text()
    assert run_alone(path, "m.product_grad(np.array([1.0, 2.0, 0.5])).tolist()") == "[2.0, 1.0, 4.0]"
    path = tangentc.export(tangentc.grad(with_constant), tmp_path / "constant_module.py", np.ones(3))
    assert "FACTOR = 3.0" in path.read_text()
    assert run_alone(path, "m.with_constant_grad(np.ones(2)).tolist()") == "[6.0, 6.0]"


def test_what_cannot_be_exported_is_refused_and_leaves_nothing(tmp_path):
    path = tmp_path / "refused.py"
    with pytest.raises(tangentc.BadArgument, match="reads TABLE from its module"):
        tangentc.export(tangentc.grad(with_array_constant), path, np.ones(3))
    with pytest.raises(tangentc.BadArgument, match="has not been called yet"):
        tangentc.export(tangentc.grad(with_constant), path)
    assert list(tmp_path.iterdir()) == []


def appended(l, x):
    l.append(x * 2)
    s = 0.0
    for a in l:
        s = s + np.sum(a * x)
    return s


def test_helpers_of_helpers_are_written_too(tmp_path):
    gradient = tangentc.grad(appended, wrt="x")
    path = tangentc.export(gradient, tmp_path / "appended_grad.py", [np.ones(2)], np.ones(2))
    assert run_alone(path, "m.appended_grad([np.ones(2)], np.ones(2)).tolist()") == "[5.0, 5.0]"


def root_of_a_number(x):
    return abs(x**0.5) * 2.0


def test_a_root_that_is_complex_is_refused_by_what_was_written_for_real_numbers(tmp_path):
    path = tangentc.export(tangentc.grad(root_of_a_number), tmp_path / "root.py", 4.0)
    scope = {}
    exec(path.read_text(), scope)
    assert scope["root_of_a_number_grad"](4.0) == tangentc.grad(root_of_a_number)(4.0) == 0.5
    assert tangentc.grad(root_of_a_number)(-4.0) == -0.5  # compiled for complex numbers
    with pytest.raises(ValueError, match="written for real numbers"):
        scope["root_of_a_number_grad"](-4.0)


class Place(enum.IntEnum):
    FIRST = 0
    SECOND = 1


def at_a_place(x):
    for place in Place:
        match place:
            case Place.FIRST:
                x = x * 2.0
            case Place.SECOND:
                x = x * x
    return x


def test_members_of_an_enumeration_are_written_as_their_values(tmp_path):
    path = tangentc.export(tangentc.grad(at_a_place), tmp_path / "at_a_place.py", 3.0)
    namespace = runpy.run_path(str(path))
    assert namespace["at_a_place_grad"](3.0) == tangentc.grad(at_a_place)(3.0) == 24.0


@functools.lru_cache
def _plan(n):
    return Plan(n, math.prod([n, 2]))


@dataclass(frozen=True)
class Plan:
    """A class of a helper, whose method names another helper."""

    n: int
    twice: int

    def times(self, x):
        return doubled(x) * self.n + self.twice


def doubled(x):
    return 2.0 * x


def planned(x):
    return _plan(3).times(x)


def planned_adjoint(x_bar):
    return _plan(3).times(x_bar) - _plan(3).twice


tangentc.operation(planned, planned_adjoint, pure=True, new=True)


@tangentc.adjoint_rule(planned, samples=lambda rng: [((rng.normal(size=3),), {})])
def _planned_rule(x, y, y_bar):
    return planned_adjoint(y_bar)


def test_classes_and_cached_functions_of_helpers_are_written_in(tmp_path):
    x = np.arange(3.0)
    grad = tangentc.grad(lambda x: np.sum(planned(x) ** 2))
    path = tangentc.export(grad, tmp_path / "made.py", x, bare=True)
    module = runpy.run_path(str(path))
    text = path.read_text()
    assert "@functools.lru_cache" in text and "import test_export" not in text and "from test_export" not in text
    np.testing.assert_array_equal(module["lambda__grad"](x), grad(x))


def test_two_helpers_of_one_name_are_refused(tmp_path):
    text = """import tangentc
def _scaled(x):
    return {factor} * x
def {name}(x):
    return _scaled(x)
def rule(x, y, y_bar):
    return {name}(y_bar)
tangentc.operation({name}, pure=True, new=True)
tangentc.adjoint_rule({name})(rule)
"""
    made = []
    for name, factor in (("first", 2.0), ("second", 3.0)):
        (tmp_path / f"{name}.py").write_text(text.format(name=name, factor=factor))
        made.append(runpy.run_path(str(tmp_path / f"{name}.py"))[name])
    first, second = made

    def both(x):
        return np.sum(first(x) * second(x))

    with pytest.raises(tangentc.errors.BadArgument, match="another value has that name"):
        tangentc.export(tangentc.grad(both), tmp_path / "made.py", np.ones(2))
    assert not (tmp_path / "made.py").exists()
