"""The objectives of ADBench (arXiv:1807.10129) in which sums over many terms dominate: mixture and bundle adjustment.

ADBench asks for Jacobians; here the residuals are squared and summed, and the gradient is asked for.
"""

import math

import numpy as np

from ..workload import Workload
from . import adbench_data


def log_multigamma(a, p):
    """The logarithm of the multivariate gamma function."""
    out = 0.25 * p * (p - 1) * math.log(math.pi)
    for j in range(p):
        out += math.lgamma(a - 0.5 * j)
    return out


def logsumexp(x):
    """Over the first axis of x."""
    largest = np.max(x, axis=0)
    return largest + np.log(np.sum(np.exp(x - largest), axis=0))


def assembled(icf, diagonal):
    """The lower triangular factors, of shape (K, d, d)."""
    K, d = diagonal.shape
    columns, rows = np.triu_indices(d, 1)
    factors = np.zeros((K, d, d))
    factors[:, np.arange(d), np.arange(d)] = diagonal
    factors[:, rows, columns] = icf[:, d:]
    return factors


def gmm(alphas, means, icf, x, gamma, m):
    """The log-likelihood of a Gaussian mixture, with a Wishart prior on its inverse covariances.

    alphas (K,), means (K, d), icf (K, d (d + 1) / 2): the factors' log-diagonals, and what is below by columns;
    x (n, d).
    """
    K, d = means.shape
    n = len(x)
    diagonal = np.exp(icf[:, :d])
    factors = assembled(icf, diagonal)
    y = (x - means[:, None, :]) @ np.swapaxes(factors, 1, 2)
    log_det = np.sum(icf[:, :d], axis=1)
    inner = (alphas + log_det)[:, None] - 0.5 * np.sum(y**2, axis=2)
    likelihood = np.sum(logsumexp(inner)) - n * logsumexp(alphas) - 0.5 * n * d * math.log(2 * math.pi)
    freedom = d + m + 1
    prior = 0.5 * gamma**2 * (np.sum(diagonal**2) + np.sum(icf[:, d:] ** 2)) - m * np.sum(log_det)
    scale = freedom * d * math.log(gamma / math.sqrt(2)) - log_multigamma(0.5 * freedom, d)
    return likelihood + prior - K * scale


def gmm_by_hand(alphas, means, icf, x, gamma, m):
    """A component's share of a point is its softmax; sums over the points come before the products with factors."""
    K, d = means.shape
    n = len(x)
    diagonal = np.exp(icf[:, :d])
    factors = assembled(icf, diagonal)
    centred = x - means[:, None, :]
    y = centred @ factors.transpose(0, 2, 1)
    log_det = np.sum(icf[:, :d], axis=1)
    inner = (alphas + log_det)[:, None] - 0.5 * np.einsum("kni,kni->kn", y, y)
    largest = np.max(inner, axis=0)
    share = np.exp(inner - largest)
    total = np.sum(share, axis=0)
    share /= total
    weight = np.exp(alphas - np.max(alphas))
    likelihood = np.sum(largest + np.log(total)) - n * (np.max(alphas) + np.log(np.sum(weight)))
    freedom = d + m + 1
    prior = 0.5 * gamma**2 * (np.sum(diagonal**2) + np.sum(icf[:, d:] ** 2)) - m * np.sum(log_det)
    scale = freedom * d * math.log(gamma / math.sqrt(2)) - log_multigamma(0.5 * freedom, d)
    value = likelihood - 0.5 * n * d * math.log(2 * math.pi) + prior - K * scale

    members = np.sum(share, axis=1)
    y *= share[:, :, None]  # the adjoint of y, but for its sign
    means_bar = (np.sum(y, axis=1)[:, None, :] @ factors)[:, 0]
    factors_bar = -(y.transpose(0, 2, 1) @ centred)
    columns, rows = np.triu_indices(d, 1)
    icf_bar = gamma**2 * icf
    icf_bar[:, :d] = factors_bar[:, np.arange(d), np.arange(d)] * diagonal
    icf_bar[:, :d] += members[:, None] - m + gamma**2 * diagonal**2
    icf_bar[:, d:] += factors_bar[:, rows, columns]
    return value, (members - n * weight / np.sum(weight), means_bar, icf_bar)


def bundle_adjustment(cameras, points, weights, features, camera_of, point_of):
    """Squared reprojection errors and errors of the weights.

    cameras (n, 11): rotation 3, centre 3, focal length, principal point 2, radial distortion 2; points (m, 3);
    weights (p,), features (p, 2), camera_of (p,), point_of (p,): one for each observation.
    """
    angle = np.sqrt(np.sum(cameras[:, :3] ** 2, axis=1, keepdims=True))
    axis = (cameras[:, :3] / angle)[camera_of]
    cosine, sine = np.cos(angle)[camera_of], np.sin(angle)[camera_of]
    camera = cameras[camera_of]
    x = points[point_of] - camera[:, 3:6]
    along = np.sum(axis * x, axis=1, keepdims=True)
    turned = x * cosine + np.cross(axis, x) * sine + axis * along * (1 - cosine)
    seen = turned[:, :2] / turned[:, 2:]
    square = np.sum(seen**2, axis=1, keepdims=True)
    distorted = seen * (1 + camera[:, 9:10] * square + camera[:, 10:11] * square**2)
    error = weights[:, None] * (distorted * camera[:, 6:7] + camera[:, 7:9] - features)
    return np.sum(error**2) + np.sum((1 - weights**2) ** 2)


def crossed(a, b):
    """The cross product of columns, of shape (3, p)."""
    return np.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def dotted(a, b):
    """The dot product of columns, of shape (rows, p): shape (p,)."""
    return np.einsum("ip,ip->p", a, b)


def summed(values, places, count):
    """The columns of `values`, of shape (rows, p), summed by place: shape (count, rows)."""
    return np.stack([np.bincount(places, row, count) for row in values], axis=1)


def bundle_adjustment_by_hand(cameras, points, weights, features, camera_of, point_of):
    """A quantity a row, of shape (rows, p); observations are summed into cameras and points by np.bincount."""
    angle = np.sqrt(np.sum(cameras[:, :3] ** 2, axis=1))
    axes = cameras[:, :3] / angle[:, None]
    table = np.concatenate([axes.T, np.cos(angle)[None], np.sin(angle)[None], cameras[:, 3:].T])[:, camera_of]
    axis, cosine, sine, centre, focal, middle, (k1, k2) = np.split(table, [3, 4, 5, 8, 9, 11])
    cosine, sine, focal = cosine[0], sine[0], focal[0]
    x = points.T[:, point_of] - centre
    along, cross = dotted(axis, x), crossed(axis, x)
    turned = x * cosine + cross * sine + axis * (along * (1 - cosine))
    seen = turned[:2] / turned[2]
    square = dotted(seen, seen)
    factor = 1 + square * (k1 + k2 * square)
    distorted = seen * factor
    residual = distorted * focal + middle - features.T
    error = weights * residual
    lack = 1 - weights**2
    value = np.sum(error**2) + np.sum(lack**2)

    residual_bar = 2 * weights * error
    weights_bar = 2 * dotted(error, residual) - 4 * weights * lack
    focal_bar = dotted(residual_bar, distorted)
    distorted_bar = residual_bar * focal
    factor_bar = dotted(distorted_bar, seen)
    seen_bar = distorted_bar * factor + seen * (2 * factor_bar * (k1 + 2 * k2 * square))
    turned_bar = np.empty_like(turned)
    np.divide(seen_bar, turned[2], out=turned_bar[:2])
    turned_bar[2] = -dotted(turned_bar[:2], seen)
    along_bar = dotted(axis, turned_bar)
    rest = 1 - cosine
    x_bar = turned_bar * cosine + crossed(turned_bar, axis) * sine + axis * (along_bar * rest)
    axis_bar = crossed(x, turned_bar) * sine + (turned_bar * along + x * along_bar) * rest
    cosine_bar, sine_bar = dotted(turned_bar, x) - along * along_bar, dotted(turned_bar, cross)
    radial_bar = [factor_bar * square, factor_bar * square**2]
    rows = np.concatenate([axis_bar, [cosine_bar, sine_bar], -x_bar, focal_bar[None], residual_bar, radial_bar])
    sums = summed(rows, camera_of, len(cameras))
    angle_bar = np.cos(angle) * sums[:, 4] - np.sin(angle) * sums[:, 3]
    angle_bar -= np.sum(axes * sums[:, :3], axis=1) / angle
    turn_bar = axes * angle_bar[:, None] + sums[:, :3] / angle[:, None]
    return value, (np.concatenate([turn_bar, sums[:, 5:]], axis=1), summed(x_bar, point_of, len(points)), weights_bar)


WORKLOADS = [
    Workload(
        "adbench_gmm", gmm, gmm_by_hand, ("alphas", "means", "icf"), adbench_data.gmm, lambda: adbench_data.gmm(9)
    ),
    Workload(
        "adbench_ba",
        bundle_adjustment,
        bundle_adjustment_by_hand,
        ("cameras", "points", "weights"),
        adbench_data.bundle_adjustment,
        lambda: adbench_data.bundle_adjustment(11),
    ),
]
