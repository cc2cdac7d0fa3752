"""Lengths, counts and ranks that depend on values: what a sample of the arguments happens to have says nothing of them."""

import math

import numpy as np


def trips_of_a_range_of_floats(s):
    total = 0.0
    for k in np.arange(0.0, 3.0, 1.0):
        total += s * k
    return total


def trips_up_to_an_argument(s, stop):
    total = 0.0
    for k in np.arange(0.5, stop):
        total += s * k
    return total


def trips_beside_an_array(x):
    total = 0.0
    for a, b in zip(x, np.arange(0.5, 4.0)):
        total += a * b
    return total


def trips_that_are_counted(x):
    total = 0.0
    for i, b in enumerate(np.arange(0.5, 4.0)):
        total += x[i] * b
    return total


def trips_of_single_precision(s):
    total = 0.0
    for k in np.arange(0.0, 3.0, 1.0, dtype=np.float32):
        total += s * float(k)
    return total


def items_of_a_range_of_floats(s):
    return sum([s * k for k in np.arange(1.0, 2.5, 0.5)])


def range_of_floats_in_a_list(s):
    grids = [np.arange(0.0, 1.0, 0.25), np.arange(0.0, 2.0, 0.25)]
    return s * sum(len(g) + np.sum(g) for g in grids)


def mean_beside_a_range_of_floats(x):
    y = np.concatenate([x, np.arange(0.0, 1.0, 0.3)])
    return np.mean(y**2)


def mean_over_what_is_not_zero(x):
    return np.sum(x**2) / np.count_nonzero(x > 0.5)


def mean_over_entries_that_are_not_zero(x, mask):
    return np.sum(x**2) / np.count_nonzero(mask)


def kernel_longer_than_the_signal(x, k):
    y = np.convolve(x, k, "same")
    return np.mean(y * y)


def deleted_twice(x, where):
    return np.mean(np.delete(x, where) ** 2)


def squeezed_selection(x, least):
    y = np.squeeze(x[x > least])
    return np.sum(y) * 2.0 + np.sum(x)


def product_of_polynomials_with_leading_zeros(x):
    c = np.polymul([0.0, 1.0, 2.0], [1.0, 3.0])
    return np.sum(x) * np.mean(c) * len(c)


def residuals_of_a_fit(x):
    design = np.vander(np.linspace(0.0, 1.0, 9), 2)
    return np.sum(x) * len(np.linalg.lstsq(design, x, rcond=None)[1])


def grid_of_computed_steps(x, h):
    return sum(np.sum(x) * k for k in np.linspace(0.0, 1.0, int(1 / h) + 1))


def trips_of_a_rounded_number(s):
    total = 0.0
    for k in range(math.floor(3 * s)):
        total += s * k
    return total


def six_axes(x):
    y = np.cumsum(np.moveaxis(x, 0, -1), axis=2).repeat(2, axis=3)
    return np.mean(np.pad(y, 1) ** 2)


def local_of_six_axes(x):
    grid = np.multiply.outer(np.multiply.outer(x, x), np.multiply.outer(x, x))
    y = np.sort(np.multiply.outer(grid, np.multiply.outer(x[:2], x[:2])), axis=1)
    return np.mean(np.transpose(y, (5, 0, 4, 1, 3, 2)) ** 2)


def repeated_images(x):
    return np.sum(x.repeat(2, axis=2).repeat(2, axis=3) ** 2)


LINE = np.linspace(0.2, 1.7, 9)
PROGRAMS = [
    (trips_of_a_range_of_floats, (0.7,)),
    (trips_up_to_an_argument, (0.7, 3.1)),
    (trips_beside_an_array, (LINE,)),
    (trips_that_are_counted, (LINE,)),
    (trips_of_single_precision, (0.7,)),
    (items_of_a_range_of_floats, (0.7,)),
    (range_of_floats_in_a_list, (0.7,)),
    (mean_beside_a_range_of_floats, (LINE,)),
    (mean_over_what_is_not_zero, (LINE,)),
    (mean_over_entries_that_are_not_zero, (LINE, np.arange(9) % 3)),
    (kernel_longer_than_the_signal, (LINE, np.linspace(0.5, 1.0, 12))),
    (deleted_twice, (LINE, np.array([1, 1, 2]))),
    (squeezed_selection, (LINE, 1.0)),
    (product_of_polynomials_with_leading_zeros, (LINE,)),
    (residuals_of_a_fit, (LINE,)),
    (grid_of_computed_steps, (LINE, np.float64(0.3).item())),
    (trips_of_a_rounded_number, (1.5,)),
    (six_axes, (np.linspace(-1.0, 1.0, 2592).reshape(3, 3, 2, 2, 8, 9),)),
    (local_of_six_axes, (np.linspace(0.5, 1.0, 8),)),
    (repeated_images, (np.linspace(-1.0, 1.0, 36).reshape(2, 2, 3, 3),)),
]


def lengths_that_values_decide(x):
    apart = np.setdiff1d([1.0, 2.0, 4.0], [2.0]) * x[:2]
    both = np.intersect1d([1.0, 2.0, 3.0], [2.0, 3, 5.0]) * x[:2] ** 2
    one = np.setxor1d([1.0, 2, 3], [2.0, 5]) * x[:3]
    return np.sum(apart) + np.sum(both) + np.sum(one)


PROGRAMS.append((lengths_that_values_decide, (LINE,)))
