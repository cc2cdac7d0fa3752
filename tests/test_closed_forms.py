"""Adjoints in the form that an expert writes, whatever the user's spelling, and the values that they have."""

import numpy as np
import pytest
from scipy import special

import tangentc
from tangentc import check_grads, grad
from tangentc.analysis import activity
from tangentc.frontend import inline
from tangentc.simplify import algebra


def softmax(x, axis=-1):
    e = np.exp(x - np.max(x, axis=axis, keepdims=True))
    return e / np.sum(e, axis=axis, keepdims=True)


def softmax_without_a_shift(x):
    w = np.exp(x)
    w /= w.sum(axis=1)[:, None]
    return w


def of_softmax(x, y):
    return np.sum(softmax(x) * y)


def of_columns(x, y):
    return np.sum(softmax(x, 0) * y) + np.sum(softmax(x, 1) ** 2)


def of_the_other(x, y):
    return np.sum(softmax_without_a_shift(x) * y)


def logsumexp(x, y):
    m = np.max(x, axis=1)
    return np.sum((m + np.log(np.sum(np.exp(x - m[:, None]), axis=1))) ** 2) + 0 * np.sum(y)


def logsumexp_of_all(x, y):
    m = x.max()
    return m + np.log(np.sum(np.exp(x - m))) + np.sum(y)


def squeezed(x, axis):
    top = np.max(x, axis=axis, keepdims=True)
    return np.squeeze(top, axis=axis) + np.log(np.sum(np.exp(x - top), axis=axis))


def logsumexp_squeezed(x, y):
    return np.sum(squeezed(x, 1) ** 2) * np.sum(squeezed(x, 0) * y[0])


def log_softmax(x, y):
    z = x - np.max(x, axis=1, keepdims=True)
    return -np.mean(np.sum(y * (z - np.log(np.sum(np.exp(z), axis=1, keepdims=True))), axis=1))


def sigmoid(x, y):
    return np.sum(y * (1 / (1 + np.exp(-x)))) + np.sum(1.0 / (1.0 + np.exp(-x * y)))


def cross_entropy(x, y):
    p = 1 / (1 + np.exp(-x))
    t = np.abs(np.sin(y))
    return -np.mean(t * np.log(p) + (1 - t) * np.log(1 - p))


def saturated(x, t):
    p = 1 / (1 + np.exp(-x))
    return -np.sum(t * np.log(p) + (1 - t) * np.log(1 - p))


def weighted_cross_entropy(x, y):
    p = 1 / (1 + np.exp(-x))
    return np.sum(y**2 * np.log(p)) - 3.0 * np.sum(np.log(1 - p))


def layer_norm(x, y):
    mu = np.mean(x, axis=-1, keepdims=True)
    return np.sum(y * (x - mu) / np.sqrt(np.var(x, axis=-1, keepdims=True) + 1e-5))


def batch_norm(x, y):
    return np.sum(np.tanh(y * (x - x.mean(axis=0)) / np.sqrt(x.var(axis=0) + 1e-5)))


def leaky(x, y):
    h = x * y
    return np.sum(np.where(h > 0, h, 0.01 * h) ** 2)


def used_twice(x, y):
    tension = y * (x[1:, :] - x[:-1, :])[0]
    return np.sum(np.sin(tension)) - np.sum(np.cos(tension) * tension)


FORMS = [
    of_softmax, of_columns, of_the_other, logsumexp, logsumexp_of_all, logsumexp_squeezed, log_softmax, sigmoid,
    cross_entropy, weighted_cross_entropy, layer_norm, batch_norm, leaky, used_twice,
]  # fmt: skip
SHAPES = [(9, 10), (3, 4), (1, 8), (8, 1)]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", FORMS)
def test_values(function, shape, rng):
    if function is used_twice and shape[0] == 1:
        return
    x, y = rng.normal(size=shape), rng.normal(size=shape)
    check_grads(function, (x, y), quiet=True)


@pytest.mark.parametrize("function", FORMS)
def test_rewriting_changes_no_value(function, rng, monkeypatch):
    x, y = rng.normal(size=(9, 10)), rng.normal(size=(9, 10))
    found = grad(function, wrt=(0, 1))(x, y)
    for name in ("joined", "without_leading", "cancelled", "_primal_ratio"):
        monkeypatch.setattr(algebra, name, lambda *_: None)
    monkeypatch.setattr(inline, "is_short", lambda *_: False)
    monkeypatch.setattr(activity, "shifts", lambda *_: set())
    module = dict(function.__globals__)
    again = type(function)(function.__code__, module, function.__name__)  # nothing compiled is kept for it
    for a, b in zip(found, grad(again, wrt=(0, 1))(x, y), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def text(function, shape=(9, 10)):
    return grad(function).source_for(np.ones(shape), np.ones(shape))


@pytest.mark.parametrize(
    "function", [of_softmax, of_columns, logsumexp, logsumexp_of_all, logsumexp_squeezed, log_softmax]
)
def test_the_maximum_that_is_only_subtracted_has_no_adjoint(function):
    assert "==" not in text(function)


def test_softmax_is_three_factors():
    assert '(e_bar - np.einsum("ij,ij->i", e_bar, e)[..., None]) * e' in text(of_softmax)


def test_a_sigmoid_keeps_its_own_value():
    assert "np.exp(x" not in text(sigmoid)


def test_the_adjoint_of_logits_is_probability_less_target():
    assert "(p - t)" in text(cross_entropy) and "1 - p" not in text(cross_entropy)
    x, t = np.array([800.0, -800.0, 2.0]), np.array([1.0, 0.0, 0.5])
    with np.errstate(all="ignore"):
        found = grad(saturated)(x, t)
        np.testing.assert_allclose(found, 1 / (1 + np.exp(-x)) - t, atol=1e-300)


def test_one_where_for_a_leaky_unit():
    assert "0.0" not in text(leaky).replace("0.01", "").replace("0.02", "")


def test_reductions_of_leading_axes_need_no_new_axes():
    assert "None" not in text(batch_norm) and "keepdims" not in text(batch_norm)


def test_what_is_shared_is_summed_first():
    found = text(used_twice, (9, 9))
    assert found.count("tension_bar, y") == 1 and "* y" not in found


def shifted(v, k):
    t = np.sin(v)
    return t * k


def calls_once(x):
    return np.sum(shifted(x, 2.0))


def calls_twice(x):
    return np.sum(shifted(x, 2.0)) + np.sum(shifted(x, 3.0))


def calls_for_each(xs):
    return np.sum(np.array([shifted(x, 2.0) for x in xs]))


def test_short_functions_are_written_where_they_are_called():
    x = np.ones(9)
    assert "shifted_primal" not in grad(calls_once).source_for(x)
    assert "shifted_adjoint" in grad(calls_twice).source_for(x) and "shifted_primal" in grad(calls_for_each).source_for(
        x
    )
    np.testing.assert_allclose(grad(calls_once)(x), 2 * np.cos(x))
    np.testing.assert_allclose(grad(calls_twice)(x), 5 * np.cos(x))
    np.testing.assert_allclose(grad(calls_for_each)(x), 2 * np.cos(x))


def heads(x, y):
    q, k = (np.transpose(np.reshape(a, (1, *a.shape, 1)), (0, 3, 1, 2)) for a in (x, y))
    scores = np.tanh(q @ np.transpose(k, (0, 1, 3, 2)))
    return np.sum(scores**2) + np.sum(np.sin(k.swapaxes(-1, -2) @ q))


def residuals(x, y):
    v = y - x @ np.sin(x.T) @ y
    return np.sum(v**2) + np.sum((v - y @ (y.T @ v)) ** 3)


def divergence(x, y):
    return -0.5 * np.sum(1 + x - y**2 - np.exp(x))


def times_identity(x, y):
    S = x @ x.T + np.exp(y[0, 0]) * np.eye(len(x))
    return np.sum(S**3)


ALGEBRA = [heads, residuals, divergence, times_identity]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("function", ALGEBRA)
def test_values_of_products_and_sums(function, shape, rng):
    check_grads(function, (rng.normal(size=shape), rng.normal(size=shape)), quiet=True)


def test_what_was_transposed_is_there():
    found = text(heads)
    assert "np.transpose(np.swapaxes(" not in found and "@ k" in found


def test_signs_move_out_of_products():
    found = text(residuals)
    assert "+ -" not in found and "@ -" not in found


def test_a_factor_that_stands_alone_is_taken_out():
    assert "(exp_x - 1)" in text(divergence) or "(np.exp(x) - 1)" in text(divergence)


def test_a_product_with_the_identity_is_a_trace():
    assert "np.trace(" in grad(times_identity, wrt=1).source_for(np.ones((9, 10)), np.ones((9, 10)))


def two_layers(x, y):
    b, h = x[0], x
    for W, c in ((y, b), (y.T, b[: len(y)])):
        h = np.tanh(h @ W.T if W is y else h @ y)
        h = h * np.mean(c)
    return np.sum(h) + np.sum(W * c[: W.shape[1]].sum()) + sum(np.sum(p**2) for p in (x, y))


def last_of_few(x, y):
    total = 0.0
    for a in (x, y, x * y):
        total += np.sum(np.sin(a))
    return total * np.sum(a)


@pytest.mark.parametrize("function", [two_layers, last_of_few])
def test_short_loops_over_a_few_things_are_written_out(function, rng):
    check_grads(function, (rng.normal(size=(9, 10)), rng.normal(size=(9, 10))), quiet=True)
    assert " for " not in text(function).split('"""')[2].replace("# for", "").replace("p**2) for", "")


def test_loops_over_numbers_stay(rng):
    def powers(x, y):
        return sum(np.sum(x**k) for k in (2, 3)) + np.sum(y)

    assert "for " in text(powers).split('"""')[2].split("# return")[0]
    check_grads(powers, (rng.normal(size=(9, 10)), rng.normal(size=(9, 10))), quiet=True)


def test_nothing_is_made_like_what_may_be_missing():
    def left_early(x, y):
        h = None
        for k in range(len(y)):
            h = np.sin(x) * k if h is None else h * y[0]
            if k > 5:
                break
        z = np.zeros(3) if h is None else h[0] * h[0]
        return np.sum(z) + np.sum(y)

    args = np.ones((9, 10)), np.ones((9, 10))
    value, gradients = tangentc.value_and_grad(left_early, wrt=(0, 1))(*args)
    assert all(g.dtype == "float64" for g in gradients)
    assert "np.zeros_like(h)" not in tangentc.value_and_grad(left_early).source_for(*args)


def over_rows(x, y):
    h, total = np.zeros(x.shape[1]), 0.0
    for row, other in zip(x, y):
        h = np.tanh(row + h)
        total += np.sum(h * other)
    return total


def over_places(x, y):
    return sum(np.sum(row) * k for k, row in enumerate(y)) + np.sum(x)


def over_what_changes(x, y):
    z = x * 1.0
    for row in z:
        z[-1] += np.sin(row) * y[0]
    return np.sum(z**2)


@pytest.mark.parametrize("function", [over_rows, over_places, over_what_changes])
def test_loops_over_rows(function, rng):
    check_grads(function, (rng.normal(size=(5, 4)), rng.normal(size=(5, 4))), quiet=True)
    check_grads(function, (rng.normal(size=(9, 8)), rng.normal(size=(9, 8))), quiet=True)


def test_loops_run_over_what_they_take():
    assert "for row, other in zip(x, y):" in text(over_rows)
    assert "for row_index in range(len(z)):" in text(over_what_changes)


def logits_of_scipy(a, b):
    p = special.log_softmax(a, axis=1)
    return special.logsumexp(a) * special.logsumexp(b) + np.sum(special.softmax(a, axis=0) * p)


def test_library_text_is_not_written_out():
    """A sum of exponentials, a median or a covariance stays the call that the user wrote, with a short adjoint."""
    a, b = np.random.default_rng(0).normal(size=(2, 3, 4))
    written = tangentc.grad(logits_of_scipy, wrt=("a", "b")).source_for(a, b)
    assert "np.max" not in written and "isfinite" not in written
    assert "out_bar * logsumexp_a * np.exp(b - logsumexp_b)" in written
    tangentc.check_grads(logits_of_scipy, (a, b), order=2)

    def spread(x, y):
        return np.median(x) * np.percentile(y, 30) + np.average(x, weights=y) + np.cov(x, y)[0, 1]

    x, y = np.random.default_rng(1).uniform(0.5, 2, size=(2, 7))
    written = tangentc.grad(spread, wrt=("x", "y")).source_for(x, y)
    assert "quantile_shares(x, 0.5)" in written and "np.sort" not in written and "np.ones" not in written
    tangentc.check_grads(spread, (x, y), order=2)


def test_a_line_is_quoted_once_in_a_row():
    """What is computed again between two statements of one adjoint does not make its quotation come twice."""

    def blurred(x, y):
        return np.sum(np.interp(x, np.arange(4.0), y)) * np.sum(np.interp(y, np.arange(4.0), x))

    written = tangentc.grad(blurred, wrt=("x", "y")).source_for(np.linspace(0.2, 2.8, 4), np.linspace(1.3, 0.1, 4))
    assert written.count("# return np.sum(np.interp(x") == 1


def test_options_that_say_what_holds_anyway_are_not_written():
    def total(x):
        return np.sum(x, axis=None, keepdims=False) ** 2

    assert "2 * out_bar * np.sum(x))" in tangentc.grad(total).source_for(np.ones((2, 3)))


def of_unpacked(p, A):
    a, b, c = p
    w, V = np.linalg.eigh(A @ A.T)
    return np.sum(a * np.exp(-b * w) + c)


def test_an_array_whose_items_are_all_set_is_made_of_them():
    A = np.random.default_rng(0).normal(size=(4, 4))
    written = tangentc.grad(of_unpacked, wrt=("p", "A")).source_for(np.array([1.0, 0.5, 2.0]), A)
    assert "p_bar = np.array([a_bar, b_bar, c_bar])" in written and "zeros" not in written
    assert "c_bar = out_bar * w.size" in written and "V * w_bar @ V.T" in written
    tangentc.check_grads(of_unpacked, (np.array([1.0, 0.5, 2.0]), A), order=2)
    narrow = tangentc.grad(of_unpacked)(np.array([1.0, 0.5, 2.0], np.float32), A)
    assert narrow.dtype == np.float32  # as an array is that is filled

    def of_four(p):
        a, b, *rest = p
        return a * b + rest[0] * rest[1] + p[0] ** 2

    np.testing.assert_allclose(tangentc.grad(of_four)(np.array([1.0, 2.0, 3.0, 4.0])), [4.0, 1.0, 4.0, 3.0])


def test_one_entry_is_inserted_in_place():
    def means(x, w):
        c = np.cumsum(np.insert(x, 0, 0.0))
        return np.sum((c[w:] - c[:-w]) ** 2 / w)

    x = np.arange(1.0, 7.0)
    assert "np.delete(" in tangentc.grad(means).source_for(x, 3) and "argsort" not in tangentc.grad(means).source_for(
        x, 3
    )
    tangentc.check_grads(means, (x, 3), order=2)
    for k in (0, 2, -1, 5):
        tangentc.check_grads(
            lambda x, v, k=k: np.sum(np.insert(x, k, v[0]) ** 3 * np.arange(6)), (x[:5], x[5:]), order=2
        )


def entropy_at_the_edge(u, v):
    p = np.clip(u @ v, -1, 1)
    return np.arccos(p) - np.sum(u * np.log(u))


def test_choices_by_two_tests_and_quotients_of_equals():
    u, v = np.array([0.2, 0.3]), np.array([0.5, 1.5])
    written = tangentc.grad(entropy_at_the_edge, wrt=("u", "v")).source_for(u, v)
    assert written.count("else 0.0") == 1 and "u / u" not in written and "np.log(u) - out_bar" in written
    tangentc.check_grads(entropy_at_the_edge, (u, v), order=2)


def test_halves_of_squares_in_a_loop_are_collected():
    def energy(v, h, n):
        total = 0.0
        for _ in range(n):
            v -= h * v * v
            total += 0.5 * v * v
        return total

    assert "v_bar += out_bar * v_1  #" in tangentc.grad(energy).source_for(0.7, 0.1, 5)
    tangentc.check_grads(lambda v: energy(v, 0.1, 5), (0.7,), order=2)


def mean_of_a_list(x, k):
    out = []
    for i in range(0, len(x), k):
        out.append(np.max(x[i : i + k]) ** 2)
    return np.mean(out)


def rows_of_a_list(X, W):
    rows, h = [], np.zeros(W.shape[0])
    for x in X:
        h = np.tanh(W @ h + x)
        rows.append(h)
    H = np.stack(rows)
    H[0] = 2.0
    return np.sum(H**2)


def list_as_an_array(x, n):
    s = [x[0]]
    for _ in range(n):
        s.append(s[-1] * x[1] + s[0])
    s = np.array(s)
    return s.mean() + s[2:].sum() + np.max(s)


@pytest.mark.parametrize(
    "function, arguments, told",
    [
        (mean_of_a_list, (np.arange(1.0, 6.0), 2), "out_bar / np.array(out).size"),
        (rows_of_a_list, (np.full((3, 2), 0.3), np.full((2, 2), 0.4)), "rows_bar = list(H_bar)"),
        (list_as_an_array, (np.array([0.5, 0.7]), 4), "s_bar = list(s_bar)"),
    ],
)
def test_an_array_made_of_a_list_gives_its_adjoint_to_the_items(function, arguments, told):
    written = tangentc.grad(function).source_for(*arguments)
    assert told in written and "zeros_of" not in written and "add_items" not in written
    check_grads(function, arguments, order=2)


def last_of_the_loop(x, y):
    s, a = x[1], x[0]
    for a, b in zip(x, y):  # noqa: B007
        if np.sum(b) > 0.31:
            s = s * b
    return s + a**2


def test_a_loop_whose_names_are_read_behind_it_is_no_comprehension():
    x, y = np.linspace(0.1, 0.9, 5), np.linspace(0.8, 0.2, 5)
    assert "test_saved = []" in tangentc.grad(last_of_the_loop).source_for(x, y)
    np.testing.assert_allclose(tangentc.grad(last_of_the_loop)(x, y), [0, 0.8 * 0.65 * 0.5 * 0.35, 0, 0, 1.8])


@pytest.mark.parametrize(
    "function",
    [
        lambda c, X, v: np.sum(X + c, axis=0) @ v,
        lambda c, X, v: np.sum((X * 1.0 - c) * v),
        lambda c, X, v: np.sum(np.sum(np.exp(X) + c, axis=0) * v),
    ],
    ids=["product", "difference", "sums"],
)
def test_a_number_beside_rows_is_summed_over_the_rows(function):
    """The adjoint of a sum may be one row for all, which is not one number for all."""
    X, v = np.arange(6.0).reshape(2, 3), np.array([1.0, 2.0, 4.0])
    assert abs(grad(function)(1.5, X, v)) == 2 * np.sum(v)
    check_grads(function, (1.5, X, v), quiet=True)
