"""Programs drawn at random: reverse mode = forward mode = differences, or a clear refusal.

Programs that once failed are kept in `regressions.py`.  `make test-all` draws many more.
"""

import itertools
import linecache
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import tangentc
from tangentc.inspection.check import five_point

NUMBERS = st.sampled_from(["0.5", "1.5", "-0.7", "2.0"])
SCALARS = ["a", "b", "c"]
ARRAYS = ["u", "v", "p"]
VIEWS = ["{}[1:3]", "{}[::-1][:2]", "{}[::2]", "{}.reshape(2, 2)[0]", "{}.reshape(2, 2).T[1]", "np.ravel({})[2:]"]
THROUGH = ["w[0] = {scalar}", "w += {scalar}", "w[:] = w[::-1] * 0.5", "w *= np.cos(w)", "a = a + w[1] * {scalar}"]
CALLS = [
    "fill({}, {}, {})",
    "b = touched({}, {}, {})",
    "np.multiply({0}, {2}, out={0})",
    "np.add.at({0}, [0, 1, 0], {2})",
]
STARTS = ["u * v", "u + v", "v - u", "np.sin(u)", "v.copy()", "u", "np.zeros(4) + v"]
RESULTS = [  # those that use everything have sums of adjoints, the others adjoints that are handed on
    "a * b + c + np.sum(u * v) + np.sum(np.sin(u)) + np.sum(p)", "np.sum(np.sin(u))", "np.sum((u + p) ** 2)",
    "np.sum(np.cos(v - p))", "a + np.sum(p[1:] * u[:-1])", "np.sum(v * v)", "p @ (u + v)", "a * c",
]  # fmt: skip
LISTS = ["items.append({})", "items[0] = {}", "c = c + 0.3 * items[-1] * {}", "a = sum(items) * 0.2"]
_count = itertools.count()


@st.composite
def scalar(draw, depth=2):
    if depth == 0:
        return draw(
            st.one_of(st.sampled_from(SCALARS), NUMBERS, st.builds("{}[{}]".format, st.sampled_from(ARRAYS), index()))
        )
    left, right = draw(scalar(depth=depth - 1)), draw(scalar(depth=depth - 1))
    form = draw(
        st.sampled_from(
            ["({} + {})", "({} - {})", "({} * {})", "np.sin({}) * {}", "np.tanh({} - {})", "{} / (1.5 + np.square({}))"]
            + ["np.maximum({}, 0) + {}", "helper({}, {})", "({0} if {1} > 0.1 else {1})", "np.sum(u * {}) * 0.3 + {}"]
        )
    )
    return form.format(left, right)


def index():
    return st.sampled_from(["0", "1", "-1", "2"])


@st.composite
def array(draw, depth=2):
    if depth == 0:
        return draw(st.sampled_from(ARRAYS))
    form = draw(
        st.sampled_from(
            [
                "({} + {})",
                "({} * {})",
                "({0} + 0.5)",
                "np.sin({}) - {}",
                "np.where({0} > 0, {0}, {1} * 0.5)",
                "{}[::-1] + {}",
            ]
        )
    )
    if draw(st.booleans()):
        return form.format(draw(array(depth=depth - 1)), draw(array(depth=0)))
    return f"({draw(scalar(depth=1))}) * {draw(array(depth=depth - 1))}"


@st.composite
def statement(draw, depth, in_loop):
    kinds = ["scalar", "scalar", "array", "item", "slice", "augmented", "swap", "view", "through", "call", "list"]
    if depth:
        kinds += ["if", "for", "while"]
    if in_loop:
        kinds += ["break", "continue"]
    kind = draw(st.sampled_from(kinds))
    name, other = draw(st.sampled_from(SCALARS)), draw(st.sampled_from(ARRAYS))
    if kind == "scalar":
        return [f"{name} = {draw(scalar())}"]
    if kind == "array":
        return [f"{other} = {draw(array())}"]
    if kind == "item":
        return [f"{other}[{draw(index())}] {draw(st.sampled_from(['=', '+=', '*=']))} {draw(scalar())}"]
    if kind == "slice":
        key, value = draw(
            st.sampled_from(
                [
                    ("1:", f"{other}[:-1] * {draw(scalar(depth=1))}"),
                    (":2", draw(scalar())),
                    ("::2", "v[1::2]"),
                    ("0", "0.0"),
                    (":1", "0.5"),
                ]
            )
        )
        return [f"{other}[{key}] {draw(st.sampled_from(['=', '+=', '-=']))} {value}"]
    if kind == "augmented":
        return [f"{name} {draw(st.sampled_from(['+=', '*=', '-=']))} {draw(scalar(depth=1))}"]
    if kind == "swap":
        return [draw(st.sampled_from(["a, b = b, a * 0.9", "u, v = v, u", "u[0], v[1] = v[1], u[0]"]))]
    if kind == "view":
        return [f"w = {draw(st.sampled_from(VIEWS)).format(other)}"]
    if kind == "through":
        return [draw(st.sampled_from(THROUGH)).format(scalar=draw(scalar(depth=1)))]
    if kind == "call":
        return [draw(st.sampled_from(CALLS)).format(other, draw(st.sampled_from(ARRAYS)), draw(scalar(depth=1)))]
    if kind == "list":
        return [draw(st.sampled_from(LISTS)).format(draw(scalar(depth=1)))]
    if kind in ("break", "continue"):
        return [f"if {draw(scalar(depth=1))} > 0.4:", f"    {kind}"]
    inner = draw(block(depth - 1, in_loop or kind != "if"))
    if kind == "if":
        lines = [f"if {draw(scalar(depth=1))} > {draw(NUMBERS)}:", *inner]
        return lines + (["else:", *draw(block(depth - 1, in_loop))] if draw(st.booleans()) else [])
    counter = f"k{depth}"
    if kind == "for":
        return [f"for {counter} in range({draw(st.integers(0, 3))}):", *inner]
    return [f"{counter} = 0", f"while {counter} < 3 and {draw(scalar(depth=1))} < 2:", f"    {counter} += 1", *inner]


@st.composite
def block(draw, depth, in_loop):
    lines = list(itertools.chain(*draw(st.lists(statement(depth, in_loop), min_size=1, max_size=3))))
    return ["    " + line for line in lines]


@st.composite
def program(draw):
    lines = list(itertools.chain(*draw(st.lists(statement(2, False), min_size=2, max_size=5))))
    body = [
        "u = u.copy()",
        "v = v.copy()",
        "w = u[:2]",
        "items = [a, b]",
        f"p = {draw(st.sampled_from(STARTS))}",
        *lines,
        f"return {draw(st.sampled_from(RESULTS))}",
    ]
    return "\n".join(["def f(a, b, c, u, v):", *("    " + line for line in body)]) + "\n"


HELPER = """
import numpy as np


def helper(x, y):
    if x > y:
        return x * y
    return np.cos(x) + y


def fill(target, source, scale):
    for i in range(len(target)):
        if source[i] > 0.3:
            target[i] = source[i] * scale
        else:
            target[i] += 0.1


def touched(target, source, scale):
    target[1:] -= 0.3 * source[:-1]
    return target[2] * scale


"""


def load(text):
    name = f"<random program {next(_count)}>"
    source = HELPER + text
    linecache.cache[name] = (len(source), None, source.splitlines(True), name)
    namespace = {"__name__": "__main__"}
    exec(compile(source, name, "exec"), namespace)
    return namespace["f"]


ARGUMENTS = (0.3, -0.8, 1.1, np.array([0.4, -0.9, 1.3, 0.2]), np.array([-0.3, 0.7, 0.5, -1.2]))
TANGENTS = (0.7, 0.4, -0.6, np.array([0.3, -0.2, 0.9, 0.5]), np.array([-0.8, 0.1, 0.4, 0.6]))


def check(text):
    """Whether the program is differentiated; a refusal is an answer too, a wrong number is not."""
    f = load(text)
    with np.errstate(all="ignore"):
        value = f(*ARGUMENTS)
        if not np.isfinite(value) or abs(value) > 1e3:
            return False
        try:
            computed, gradients = tangentc.value_and_grad(f, wrt=(0, 1, 2, 3, 4))(*ARGUMENTS)
            _, pullback = tangentc.vjp(f, *ARGUMENTS)
            _, forward = tangentc.jvp(f, ARGUMENTS, TANGENTS)
        except (tangentc.UnsafeMutation, tangentc.UnsupportedSyntax):
            return False
        assert computed == pytest.approx(value, rel=1e-12), text
        reverse = sum(np.sum(g * t) for g, t in zip(gradients, TANGENTS, strict=True))
        for again in (pullback(1.0), pullback(1.0)):
            assert sum(np.sum(g * t) for g, t in zip(again, TANGENTS, strict=True)) == pytest.approx(
                reverse, rel=1e-10, abs=1e-10
            ), text
        assert forward == pytest.approx(reverse, rel=1e-10, abs=1e-10), text

        def moved(t):
            return f(*(a + t * d for a, d in zip(ARGUMENTS, TANGENTS, strict=True)))

        coarse, fine = five_point(moved, 1e-4), five_point(moved, 1e-5)
        left, right = (value - moved(-1e-6)) / 1e-6, (moved(1e-6) - value) / 1e-6
        if abs(coarse - fine) <= 1e-6 * (1 + abs(fine)) and abs(left - right) <= 1e-3 * (
            1 + abs(fine)
        ):  # not at a kink
            assert reverse == pytest.approx(fine, rel=1e-5, abs=1e-6), text
    return True


def dot(xs, ys):
    return sum(np.sum(x * y) for x, y in zip(xs, ys, strict=True))


def check_second(text):
    """Whether the gradient of the program is differentiated in both modes."""
    f = load(text)
    directions = (0.2, -0.5, 0.3, np.array([0.1, 0.6, -0.3, 0.2]), np.array([0.5, -0.1, 0.2, 0.3]))
    gradient = tangentc.grad(f, wrt=(0, 1, 2, 3, 4))

    def along(a, b, c, u, v):
        a_bar, b_bar, c_bar, u_bar, v_bar = tangentc.grad(f, wrt=(0, 1, 2, 3, 4))(a, b, c, u, v)
        du, dv = np.array([0.1, 0.6, -0.3, 0.2]), np.array([0.5, -0.1, 0.2, 0.3])
        return a_bar * 0.2 - b_bar * 0.5 + c_bar * 0.3 + np.sum(u_bar * du) + np.sum(v_bar * dv)

    def moved(t):
        return dot(gradient(*(a + t * d for a, d in zip(ARGUMENTS, TANGENTS, strict=True))), directions)

    with np.errstate(all="ignore"):
        value = f(*ARGUMENTS)
        if not np.isfinite(value) or abs(value) > 1e3:
            return False
        try:
            here = moved(0)
            coarse, fine = ((moved(h) - moved(-h)) / (2 * h) for h in (1e-5, 1e-6))
            left, right = (here - moved(-1e-6)) / 1e-6, (moved(1e-6) - here) / 1e-6
            _, forward = tangentc.jvp(gradient, ARGUMENTS, TANGENTS)
            reverse = tangentc.grad(along, wrt=(0, 1, 2, 3, 4))(*ARGUMENTS)
        except (tangentc.UnsafeMutation, tangentc.UnsupportedSyntax):
            return False
        assert dot(reverse, TANGENTS) == pytest.approx(dot(forward, directions), rel=1e-8, abs=1e-8), text
        if (
            np.isfinite(fine)
            and abs(coarse - fine) <= 1e-4 * (1 + abs(fine))
            and abs(left - right) <= 1e-2 * (1 + abs(fine))
        ):
            assert dot(forward, directions) == pytest.approx(fine, rel=1e-4, abs=1e-4), text
    return True


MORE = int(os.environ.get("TANGENTC_PROGRAMS", "200"))
SETTINGS = {"deadline": None, "suppress_health_check": list(HealthCheck), "derandomize": True}


@settings(max_examples=MORE, **SETTINGS)
@given(program())
def test_random_program(text):
    check(text)


@settings(max_examples=MORE // 10, **SETTINGS)
@given(program())
def test_second_order_of_a_random_program(text):
    check_second(text)


@pytest.mark.nightly
@settings(max_examples=500, **SETTINGS)
@given(program())
def test_second_order_of_many_random_programs(text):
    check_second(text)


@pytest.mark.nightly
@settings(max_examples=2000, **SETTINGS)
@given(program())
def test_many_random_programs(text):
    check(text)
