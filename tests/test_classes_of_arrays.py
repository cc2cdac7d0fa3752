"""Arrays of classes of their own (masked arrays, matrices, units): their operations are not NumPy's, and are refused."""

import numpy as np
import pytest
import scipy.sparse

import tangentc


class Metres(np.ndarray):
    """An array whose products are its own."""

    def __mul__(self, other):
        return np.asarray(self) * other * 1000.0


class Holder:
    def __init__(self, data):
        self.data = data


MASK = np.array([False, True])
MASKED = np.ma.array([1.0, 2.0], mask=MASK)
MATRIX = np.matrix([[1.0, 2.0], [3.0, 4.0]])
LENGTHS = np.array([1.0, 2.0]).view(Metres)
HOLDER = Holder(MASKED)
MATRICES = [MATRIX]
RECORDS = np.rec.array([(1.0, 2.0), (3.0, 4.0)], dtype=[("a", float), ("b", float)])
SPARSE = scipy.sparse.csr_matrix(np.array([[1.0, 2.0], [0.0, 4.0]]))
X = np.array([0.3, 0.9])


def masked_of_the_module(x):
    return np.sum(MASKED * x)


def slice_of_a_masked_one(x):
    return np.sum(MASKED[0:] * x)


def masked_in_an_object(x):
    return np.sum(x * HOLDER.data)


def matrix_in_a_list(x):
    return np.sum(MATRICES[0] @ x)


def matrix_in_a_product(x):
    return np.sum(MATRIX * x[:, None])


def units_of_the_module(x):
    return np.sum(LENGTHS * x)


def units_two_steps_away(x):
    twice = LENGTHS + LENGTHS
    return np.sum(x / twice)


def made_masked(x):
    return np.ma.array(x, mask=MASK).sum() ** 2


def made_masked_of_a_helper(x):
    def masked():
        m = np.full(x.shape, False)
        m[-1] = True
        return np.ma.array(x, mask=m).sum() ** 2

    return masked() * 1.0


def made_by_its_class(x):
    return np.ma.MaskedArray(x, mask=MASK).mean()


def made_of_zeros(x):
    y = np.ma.zeros(2)
    y[:] = x
    return np.sum(y**2)


def made_matrix(x):
    return np.sum(np.matrix([[1.0, 2.0], [3.0, 4.0]]) * x[:, None])


def made_of_blocks(x):
    return np.sum(np.bmat([[np.outer(x, x)]]) ** 2)


def viewed(x):
    return np.sum(x.view(Metres) * 2.0)


def added_in_place(x):
    y = 2.0 * x
    y += MASKED
    return np.sum(y)


def function_of_masked(x):
    return np.sum(np.ma.log(x))


REFUSED = [
    *(masked_of_the_module, slice_of_a_masked_one, masked_in_an_object, matrix_in_a_list, matrix_in_a_product),
    *(units_of_the_module, units_two_steps_away, made_masked, made_masked_of_a_helper, made_by_its_class),
    *(made_of_zeros, made_matrix, made_of_blocks, viewed, added_in_place, function_of_masked),
]


@pytest.mark.parametrize("function", REFUSED)
def test_what_depends_on_the_arguments_does_not_meet_them(function):
    with pytest.raises(tangentc.TangentcError):
        tangentc.grad(function)(X)
    with pytest.raises(tangentc.TangentcError):
        tangentc.jvp(function, (X,), (X,))


@pytest.mark.parametrize("given", [MASKED, MATRIX, LENGTHS])
@pytest.mark.parametrize("held", [lambda a: a, lambda a: [a], lambda a: {"a": [a]}, Holder])
def test_they_are_refused_as_arguments(given, held):
    def product(x, h):
        a = (
            h.data
            if isinstance(h, Holder)
            else h["a"][0]
            if isinstance(h, dict)
            else h[0]
            if isinstance(h, list)
            else h
        )
        return np.sum(a * x)

    with pytest.raises(tangentc.NotDifferentiable, match="an array of the class"):
        tangentc.grad(product)(X, held(given))
    with pytest.raises(tangentc.TangentcError):
        tangentc.grad(lambda a: np.sum(a * a))(given)


def test_the_whole_message():
    with pytest.raises(tangentc.NotDifferentiable) as caught:
        tangentc.grad(masked_of_the_module)(X)
    lines = str(caught.value).split("\n")
    assert [*lines[:1], *lines[2:]] == [
        "what depends on the arguments meets an array of the class MaskedArray",
        "    return np.sum(MASKED * x)",
        "                  ^^^^^^^^^^",
        "  Why: such an array has operations of its own, and no derivatives of these are known.",
        "  Way out: a plain array: np.asarray(...) of it, and its mask or unit apart.",
    ]


def test_what_is_plain_is_followed(tmp_path):
    on_disk = np.memmap(tmp_path / "numbers", dtype=float, mode="w+", shape=2)
    on_disk[:] = [1.0, 2.0]
    np.testing.assert_array_equal(tangentc.grad(lambda x, a: np.sum(x * a))(X, on_disk), [1.0, 2.0])
    np.testing.assert_array_equal(tangentc.grad(lambda x: np.sum(x * RECORDS.a))(X), [1.0, 3.0])
    np.testing.assert_array_equal(tangentc.grad(lambda x: np.sum(x * np.asarray(LENGTHS)))(X), [1.0, 2.0])
    np.testing.assert_array_equal(tangentc.grad(lambda x: np.sum(np.asanyarray(x) ** 2))(X), 2 * X)
    np.testing.assert_array_equal(tangentc.grad(lambda x: np.sum(SPARSE @ x))(X), [1.0, 6.0])
    np.testing.assert_array_equal(tangentc.grad(lambda x: np.sum(x) * len(MASKED))(X), [2.0, 2.0])
