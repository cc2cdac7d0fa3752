"""One test over the registry: a rule's tests exist as soon as the rule does."""

import numpy as np
import pytest
import scipy.special as sp

import tangentc
from tangentc import runtime
from tangentc.inspection.check import GradientMismatch
from tangentc.rules.matrices import beyond_columns
from tangentc.rules.registry import REGISTRY, Rule
from tangentc.testing import check_rule, samples

REFUSING = {beyond_columns}  # what the algorithm chooses
RULES = [  # those of SciPy, which register once it is imported, are in test_calls.py
    rule
    for rules in REGISTRY.families().values()
    for rule in rules
    if rule.kind != "zero"
    and rule.source.startswith("tangentc.rules")
    and "scipy" not in rule.source
    and rule.function not in REFUSING
]
# the adjoint of this helper is one more helper, which is not differentiated again
FIRST_ORDER = {runtime.product_of_others}


def name_of(rule: Rule) -> str:
    return f"{rule.source.rsplit('.', 1)[-1]}-{getattr(rule.function, '__name__', rule.function)}"


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_rule(rule):
    assert check_rule(rule.function, second_order=rule.function not in FIRST_ORDER) >= 1


@pytest.mark.parametrize("rule", RULES, ids=name_of)
def test_other_draw(rule):
    assert check_rule(rule.function, seed=1, second_order=False) >= 1


def complete_basis(x):
    return np.sum(np.linalg.qr(np.outer(x, [1.0, 2.0]) + np.eye(3, 2), "complete")[0])


def test_what_the_algorithm_chooses_is_refused():
    x = np.array([0.3, 0.7, 0.2])
    with pytest.raises(tangentc.NotDifferentiable, match="beyond those of a tall matrix"):
        tangentc.grad(complete_basis)(x)
    with pytest.raises(tangentc.NotDifferentiable, match="beyond those of a tall matrix"):
        tangentc.jvp(complete_basis, (x,), (x,))


def test_elementwise_samples_broadcast_and_have_no_entries():
    shapes = [tuple(np.shape(a) for a in args) for args, _ in samples(REGISTRY.find(np.multiply))]
    assert ((3, 1), (1, 2)) in shapes and ((0, 2), (0, 2)) in shapes and ((), (3, 2)) in shapes


@pytest.mark.parametrize("scale", [1 + 1e-5, 1 - 1e-5])
def test_planted_error_is_caught(scale):
    def wrong(x):
        return np.tanh(x)

    def wrong_rule(x, y):
        return SCALE * (1 - y**2)  # noqa: F821

    wrong_rule.__globals__["SCALE"] = scale
    tangentc.elementwise(wrong)(wrong_rule)
    with pytest.raises(GradientMismatch):
        check_rule(wrong)


def test_planted_error_in_one_adjoint_is_caught():
    def scaled_sum(x, y):
        return np.sum(x) * y

    @tangentc.adjoint_rule(scaled_sum, samples=lambda rng: [((rng.normal(size=3), 1.3), {})])
    def rule(x, y, z, z_bar):
        return np.full_like(x, z_bar * y * (1 + 1e-5)), z_bar * np.sum(x)

    @tangentc.tangent_rule(scaled_sum)
    def tangent(x, y, z, x_dot, y_dot):
        return np.sum(x_dot) * y + np.sum(x) * y_dot

    with pytest.raises(GradientMismatch):
        check_rule(scaled_sum)


def test_a_rule_without_samples_fails():
    def f(x):
        return x

    @tangentc.adjoint_rule(f, linear="jointly")
    def rule(x, y, y_bar):
        return y_bar

    with pytest.raises(tangentc.BadRule, match="no samples"):
        check_rule(f)


SINGULAR = [
    (lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)), 0.0),
    (lambda x: np.sum(np.where(x > 0, np.log(x), 0.0)), 0.0),
    (lambda x: np.sum(np.where(x > 0, 1 / x, 0.0)), 0.0),
    (lambda x: np.sum(np.where(x == 0, 0.0, np.log(np.sqrt(x)) * 2)), 0.0),
    (lambda x: np.sum(np.where(x > 0, x**0.5, 0.0)), 0.0),
    (lambda x: np.sum(np.where(x > 0, x * np.log(x), 0.0)), 0.0),
    (lambda x: np.sum(np.where(x > 0, np.where(x < 0.5, np.log(x), 1 / x), 0.0)), 0.0),
    (lambda x: np.sum(np.where((x > 0)[:, None], np.sqrt(x)[:, None] * np.array([1.0, 2.0]), 0.0)), 0.0),
    (lambda x: np.sum(np.where(x > 0, np.sqrt(x).copy(), 0.0)), 0.0),
    (lambda x: np.sum(np.where(x[::-1] > 0, np.sqrt(x)[::-1], 0.0)), 0.0),
    (lambda x: np.sum(np.where(x > 0, np.concatenate([np.log(x[:1]), np.log(x[1:])]), 0.0)), 0.0),
    (lambda x: np.sum(np.where(x > 0, np.exp(1000 / x), 0.0)[:1]), 0.0),
    (lambda x: np.sum(np.where(x > 0, sp.gammaln(x), 0.0)), 0.0),
    (lambda x: np.sum(np.sqrt(x)[x > 0]), 0.0),
    (lambda x: np.sum(np.clip(np.log(x), -5, None)), 0.0),
    (lambda x: np.sum(np.maximum(np.log(x), -5.0)), 0.0),
    (lambda x: np.sum(np.sqrt(x), where=x > 0), 0.0),
    (lambda x: np.mean(np.sqrt(x), where=x > 0), 0.0),
    (lambda x: np.nansum(np.sqrt(x - 0.5)), 0.0),
    (lambda x: np.nan_to_num(np.log(x), neginf=0.0).sum(), 0.0),
]


@pytest.mark.parametrize("order", [1, 2])
def test_rows_of_zeros_put_no_nan_into_the_gradient(order):
    def unit(r):
        n = np.linalg.norm(r, axis=1, keepdims=True)
        return np.sum(np.where(n > 0, r / n, 0.0))

    r = np.array([[0.0, 0.0], [3.0, 4.0]])
    with np.errstate(all="ignore"):
        gradient = tangentc.grad(unit)(r) if order == 1 else tangentc.hessian(unit)(r)
    assert np.all(np.isfinite(gradient)) and np.any(gradient[1] != 0)


@pytest.mark.parametrize("case", range(len(SINGULAR)))
def test_the_branch_not_taken_puts_no_nan_into_the_gradient(case):
    f, want = SINGULAR[case]
    with np.errstate(all="ignore"):
        gradient = tangentc.grad(f)(np.array([0.0, 4.0]))
    assert gradient[0] == want and np.isfinite(gradient[1])


def test_no_zero_times_infinity_outside_where():
    with np.errstate(all="ignore"):
        assert np.isnan(tangentc.grad(lambda x: np.sum(np.sqrt(x) ** 2))(np.zeros(1)))[0]


CONVENTIONS = {
    "maximum shares a tie": (lambda x: np.sum(np.maximum(x, np.array([1.0, 2.0]))), np.array([1.0, 5.0]), [0.5, 1.0]),
    "a number is a clip": (lambda x: np.sum(np.maximum(x, 0)), np.array([0.0, 5.0]), [0.0, 1.0]),
    "max shares ties": (lambda x: np.max(x), np.array([2.0, 2.0, 1.0]), [0.5, 0.5, 0.0]),
    "clip": (lambda x: np.sum(np.clip(x, 0, 1)), np.array([0.0, 0.5, 1.0]), [0.0, 1.0, 0.0]),
    "abs at 0": (lambda x: np.sum(np.abs(x)), np.array([0.0, -2.0]), [0.0, -1.0]),
    "power 0": (lambda x: np.sum(x**0), np.array([0.0, 2.0]), [0.0, 0.0]),
    "prod with a zero": (lambda x: np.prod(x), np.array([0.0, 2.0, 3.0]), [6.0, 0.0, 0.0]),
}


@pytest.mark.parametrize("name", CONVENTIONS)
def test_convention(name):
    f, x, want = CONVENTIONS[name]
    np.testing.assert_array_equal(tangentc.grad(f)(x), want)


def test_complex_gradient_follows_jax():
    """The derivative of a real function of x + iy is du/dx - i du/dy."""
    z = np.array([1.0 + 2.0j, -0.5 + 1.0j])
    gradient = tangentc.grad(lambda z: np.sum(np.abs(z) ** 2))(z)
    np.testing.assert_allclose(gradient, 2 * np.conj(z))
    gradient = tangentc.grad(lambda z: np.sum(np.real(z * z)))(z)
    np.testing.assert_allclose(gradient, 2 * z)


def test_real_argument_of_a_complex_function_has_a_real_gradient():
    x = np.array([0.3, -1.2])
    gradient = tangentc.grad(lambda x: np.sum(np.real(np.exp(1j * x))))(x)
    assert gradient.dtype == np.float64
    np.testing.assert_allclose(gradient, -np.sin(x))
