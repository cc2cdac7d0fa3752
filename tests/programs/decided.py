"""What types decide: branches that cannot run are not looked at, and a handler that surely runs stands for its try."""

import numpy as np

from tangentc import grad


def name_given_to_an_array(x):
    projection = np.sin(x) * 2
    try:
        projection.name = "projection"
    except AttributeError:
        pass
    return np.sum(projection**2)


def named(values, name):
    try:
        values.name = name
    except (AttributeError, TypeError):
        values = values * 2
    finally:
        values = values + 1
    return values


def name_given_by_a_helper(x):
    return np.sum(named(x * x, "squares")) * named(x[0], "first")


def pad1D(X, pad, width=None, stride=None):
    if isinstance(pad, int):
        pad = (pad, pad)
    if isinstance(pad, tuple):
        padded = np.pad(X, pad_width=((pad[0], pad[1]), (0, 0)), mode="constant")
    if pad in ["same", "causal"] and width and stride:
        both = (len(X) - 1) * stride + width - len(X)
        p = (both, 0) if pad == "causal" else (both // 2, both - both // 2)
        padded, pad = pad1D(X, p)
    return padded, pad


def padded_by_a_word(x):
    padded, _ = pad1D(np.outer(x, x), "same", 3, 1)
    return np.sum(padded[1:].reshape(-1) ** 2)


def padded_by_a_number(x):
    padded, (before, after) = pad1D(np.outer(x, x), 2)
    return np.sum(padded[1:].reshape(-1) ** 2) * (before + after)


def name_of_no_path(x, level=0):
    if level == 1:
        scale = np.sum(x)
    if level > 2:
        return scale
    return np.sum(x * x)


class Smoother:
    """Makes its weights when they are first asked for."""

    def __init__(self, decay):
        self.decay, self.weights, self.seen = decay, None, []

    def smooth(self, x):
        if self.weights is None:
            self.weights = self.decay ** np.arange(len(x))
        elif isinstance(self.weights, dict):
            self.weights = self.weights["now"].missing()
        self.seen.append(np.sum(x))
        return x * self.weights


def made_when_it_is_asked_for(x):
    smoother = Smoother(x[0])
    total = 0.0
    for _ in range(3):
        x = smoother.smooth(x)
        total = total + np.sum(x)
    return total + smoother.seen[-1] * smoother.weights[1]


def words_and_numbers(x):
    total = 0.0
    for kind, weight in [("mean", 2.0), ("sum", 3.0), (3, 1.0)]:
        if kind in ("sum", "total"):
            total += weight * np.sum(x)
        elif kind in ["mean", "average"]:
            total += weight * np.mean(x * x)
        else:
            total += weight * x[kind - 1]
    return total


def function_of_a_list_inside(x):
    functions = [lambda t: t**2]

    def first(q):
        return functions[0](q) * x[1]

    return grad(first)(x[0])


def root_that_may_raise(x):
    try:
        y = np.sqrt(x)
    except ValueError:
        y = 0.0
    return y * x


def quotient_that_may_raise(x):
    try:
        y = 1 / x
    except ZeroDivisionError:
        y = 0.0
    return y * x * x


def item_that_may_be_missing(x, n):
    try:
        y = x[n]
    except IndexError:
        y = x[0]
    return y * 2


def key_that_may_be_missing(x, d):
    try:
        y = d["a"] * x
    except KeyError:
        y = x
    return np.sum(y)


def product_that_may_not_fit(x, w):
    try:
        return np.sum(x @ w)
    except ValueError:
        return np.sum(x)


def axes_that_are_asked_for(x):
    try:
        rows, cols = x.shape
    except ValueError:
        rows, cols = x.shape[0], 1
    return np.sum(x) * rows * cols


def number_or_array_by_its_iterator(x):
    try:
        iter(x)
    except TypeError:
        x = np.array([x])
    return np.sum(x**2)


def number_by_its_conversion(x):
    try:
        x = float(x)
        y = x**2
    except TypeError:
        y = np.sum(x**3)
    else:
        y = y * 5
    finally:
        z = 2.0
    return y * z


def attribute_that_the_first_trip_makes(x):
    a = Held()
    for _ in range(2):
        try:
            a.n = a.n * x
        except AttributeError:
            a.n = x
    return a.n


def items_until_none_is_left(x, lst):
    out = 0.0
    for k in range(4):
        try:
            out = out + lst[k] * x
        except IndexError:
            break
    return out


def gain_of_a_filter(P, H, R):
    S = np.dot(np.dot(H, P), H.T) + R
    try:
        K = np.dot(np.dot(P, H.T), np.linalg.inv(S))
    except:  # noqa: E722
        K = np.dot(np.dot(P, H.T), 1.0 / S)
    KH = np.dot(K, H)
    try:
        rest = np.eye(KH.shape[0]) - KH
    except:  # noqa: E722
        rest = np.array([1 - KH])
    return np.sum(np.dot(np.dot(rest, P), rest.T) + np.dot(np.dot(K, R), K.T))


def length_of_a_number(x, s):
    try:
        count = len(s)
    except TypeError:
        count = 1
        s = np.array([s])
    try:
        columns = x.shape[1]
    except IndexError:
        columns = 1
    return np.sum(x * s) * count * columns


def padded_twice(X, pad, width=None, stride=None):
    p = pad
    if isinstance(p, int):
        p = (p, p)
    if isinstance(p, tuple):
        padded = np.pad(X, pad_width=((0, 0), (p[0], p[1])))
    if p in ["same", "causal"] and width and stride:
        p = (X.shape[1] - width, width)
        padded, p = padded_twice(X, p)
    return padded, p


def padded_by_two_integers(x):
    y, p = padded_twice(x, "same", 2, 1)
    return np.sum(y**2) * p[0]


def layer_with_a_stride(x, layer):
    y, p = padded_twice(x, "same", 2, layer.stride)
    return np.sum(y**2) * p[0]


def asked_for_a_shape(x, z):
    if x.ndim == 1 and np.shape(z) == (1, 1):
        z = z[0]
    if np.shape(z) == ():
        z = np.asarray([z])
    return np.sum(x - z)


def sliced_by_ranges(A):
    n, _, m = A.shape
    return np.sum(A[range(n), :, range(m)][..., None] ** 2)


def squeezed_length_that_the_run_knows(x, n):
    y = np.concatenate([x[:n], x[n:]])[None]
    return np.sum(np.squeeze(y, axis=0) ** 3)


def limited(power, rated):
    power = np.minimum(rated, power)
    below = power < 0.8
    try:
        power[below] = -0.5
    except TypeError:
        if below:
            power = -0.5
    return power


def limits_of_arrays_and_numbers(x, y):
    return np.sum(limited(x * 2, 1.9) ** 2) * limited(y * 2, 1.9)


def quotient_that_warns(x, y):
    with np.errstate(all="raise"):
        try:
            z = x / y
        except FloatingPointError:
            z = x * y * 2.0
    return np.sum(z)


class Held:
    pass


class Layer:
    def __init__(self, stride):
        self.stride = stride


X = np.array([0.9, 0.7, 1.3])
PROGRAMS = [
    (f, (X,))
    for f in (
        name_given_to_an_array, name_given_by_a_helper, padded_by_a_word, padded_by_a_number, name_of_no_path,
        made_when_it_is_asked_for, words_and_numbers, function_of_a_list_inside,
    )
]  # fmt: skip
M = np.arange(6.0).reshape(2, 3) * 0.3 + 0.4
PROGRAMS += [
    (root_that_may_raise, (2.0,)), (quotient_that_may_raise, (2.0,)), (item_that_may_be_missing, (X, 1)),
    (item_that_may_be_missing, (X, 7)), (key_that_may_be_missing, (X, {"a": 2.0})),
    (key_that_may_be_missing, (X, {"b": 2.0})), (product_that_may_not_fit, (M, X)),
    (product_that_may_not_fit, (M, X[:2])), (axes_that_are_asked_for, (M,)), (axes_that_are_asked_for, (X,)),
    (number_or_array_by_its_iterator, (2.0,)), (number_or_array_by_its_iterator, (X,)),
    (number_by_its_conversion, (2.0,)), (number_by_its_conversion, (X,)), (attribute_that_the_first_trip_makes, (2.0,)),
    (items_until_none_is_left, (2.0, [1.0, 2.0])), (items_until_none_is_left, (2.0, [1.0, 2.0, 3.0, 4.0, 5.0])),
    (gain_of_a_filter, (np.eye(2) + 0.1, np.array([[1.0, 0.2]]), np.array([[2.0]]))),
    (length_of_a_number, (X[:2], 3.0)), (length_of_a_number, (M, X)), (padded_by_two_integers, (M,)),
    (layer_with_a_stride, (M, Layer(1))), (layer_with_a_stride, (M, Layer(2))), (asked_for_a_shape, (X, M[:1, :1])),
    (asked_for_a_shape, (M, M[:1, :1])), (asked_for_a_shape, (M, 0.3)), (sliced_by_ranges, (np.outer(X, X)[:, None],)),
    (squeezed_length_that_the_run_knows, (X, 2)), (limits_of_arrays_and_numbers, (X, 0.7)),
    (limits_of_arrays_and_numbers, (X * 0.5, 0.2)), (quotient_that_warns, (X, X + 1)),
]  # fmt: skip


def shapes_by_slices_with_names(x):
    n, A = 1, np.outer(x, x)
    k = A.ndim - n
    rows = np.reshape(A, (3, *A.shape[n:]))[0] + np.reshape(A, (-1,) + A.shape[n:])[1]
    return np.sum((rows + np.reshape(A, A.shape[:k] + (-1,))[2] + A.reshape(A.shape[:-n] + (3,))[0]) ** 2)


PROGRAMS.append((shapes_by_slices_with_names, (np.array([0.3, 0.5, 0.9]),)))
