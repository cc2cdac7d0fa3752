"""Distances of `scipy.spatial`.

At points that coincide the slope is 0, as that of `abs` at 0: a point stays at no distance from itself.
"""

import numpy as np
import scipy.spatial as spatial
import scipy.spatial.distance as ds

from tangentc.core.ops import stopped as stop_gradient
from tangentc.errors import NotDifferentiable
from tangentc.rules.registry import defined, static

METRICS = {
    "euclidean": ("euclid", "eu", "e"), "sqeuclidean": ("sqe", "sqeuclid"), "cityblock": ("cblock", "cb", "c"),
    "chebyshev": ("chebychev", "cheby", "cheb", "ch"), "minkowski": ("mi", "m", "pnorm"), "cosine": ("cos",),
    "correlation": ("co",), "seuclidean": ("se", "s"), "mahalanobis": ("mahal", "mah"),
}  # fmt: skip
OPTIONS = {"seuclidean": ("V",), "mahalanobis": ("VI",), "minkowski": ("p", "w")}


@static
def metric_of(name, p, w, V, VI):
    """The first name of a metric, if it takes the options that are given."""
    found = [m for m, others in METRICS.items() if name.lower() in (m, *others)]
    given = [option for option, there in (("p", p), ("w", w), ("V", V), ("VI", VI)) if there]
    if not found or not set(given) <= set(OPTIONS.get(found[0], ("w",))):
        raise NotDifferentiable(
            f"the metric {name!r} of scipy.spatial.distance is not differentiated" + " with ".join(["", *given]),
            why="there is no rule for it", way_out="write it with NumPy, or take another: " + ", ".join(METRICS),
        )  # fmt: skip
    return found[0]


def root(s, p):
    """The root of a sum of powers, without a slope at 0."""
    still = s == 0
    return (np.sqrt(s + still) if p is None else (s + still) ** (1 / p)) * ~still


def about(x, w):
    """An array less its mean."""
    return x - np.expand_dims(
        np.sum(x if w is None else x * w, axis=-1) / (np.shape(x)[-1] if w is None else np.sum(w)), -1
    )


def apart(u, v, w):
    """One minus the cosine of the angle, which rounding may bring out of bounds."""
    weighted = u if w is None else u * w
    squares = np.sum(weighted * u, axis=-1) * np.sum(v * v if w is None else v * v * w, axis=-1)
    distance = 1 - np.sum(weighted * v, axis=-1) / np.sqrt(squares)
    return distance + stop_gradient(np.clip(distance, 0.0, 2.0) - distance)


def between(u, v, metric, p=None, w=None, V=None, VI=None):
    """The distances along the last axis."""
    if metric == "cosine":
        return apart(u, v, w)
    if metric == "correlation":
        return apart(about(u, w), about(v, w), w)
    d = u - v
    if metric == "mahalanobis":
        return root(np.sum((d @ np.asarray(VI)) * d, axis=-1), None)
    if metric == "chebyshev" or metric == "minkowski" and p == np.inf:
        return np.max(np.abs(d) if w is None else np.abs(d) * (np.asarray(w) > 0), axis=-1)
    if metric == "seuclidean":
        return root(np.sum(d**2 / V, axis=-1), None)
    powers = np.abs(d) if metric == "cityblock" else np.abs(d) ** p if metric == "minkowski" else d**2
    total = np.sum(powers if w is None else powers * np.asarray(w), axis=-1)
    if metric == "minkowski":
        return root(total, p)
    return root(total, None) if metric == "euclidean" else total


def of_pairs(u, v, samples, metric, p, w, V, VI):
    name = metric_of(metric, p is not None, w is not None, V is not None, VI is not None)
    if name == "seuclidean" and V is None:
        V = np.var(samples, axis=0, ddof=1)
    if name == "mahalanobis" and VI is None:
        VI = np.linalg.inv(np.cov(samples.T)).T
    return between(u, v, name, 2 if p is None else p, w, V, VI)


def by_function(a, b, metric, options):
    """The distances of the rows of two arrays by a function of the program."""
    if options:
        raise ValueError("cdist and pdist with a function are differentiated without options: write them into it")
    return np.array([metric(a[k], b[k]) for k in range(len(a))])


@defined(ds.cdist)
def cdist(XA, XB, metric="euclidean", *, p=None, w=None, V=None, VI=None):
    a, b = np.asarray(XA, dtype=float), np.asarray(XB, dtype=float)
    if isinstance(metric, str):
        return of_pairs(np.expand_dims(a, 1), b, np.concatenate([a, b]), metric, p, w, V, VI)
    given = p is not None or w is not None or V is not None or VI is not None
    rows, others = np.repeat(a, len(b), axis=0), np.tile(b, (len(a), 1))
    return np.reshape(by_function(rows, others, metric, given), (len(a), len(b)))


@defined(ds.pdist)
def pdist(X, metric="euclidean", *, p=None, w=None, V=None, VI=None):
    x = np.asarray(X, dtype=float)
    i, j = np.triu_indices(len(x), 1)
    if isinstance(metric, str):
        return of_pairs(x[i], x[j], x, metric, p, w, V, VI)
    given = p is not None or w is not None or V is not None or VI is not None
    return by_function(x[i], x[j], metric, given)


@defined(ds.squareform)
def squareform(X, checks=True):
    if np.ndim(X) == 2:
        i, j = np.triu_indices(len(X), 1)
        return np.asarray(X)[i, j]
    n = int(np.ceil(np.sqrt(2 * len(X)))) + (len(X) == 0)
    square = np.zeros((n, n))
    i, j = np.triu_indices(n, 1)
    square[i, j] = X
    return square + square.T


# ------------------------------------------------------------------ of two points
def of_two(f, metric):
    def distance(u, v, w=None):
        return between(np.asarray(u), np.asarray(v), metric, w=w)

    defined(f)(distance)


for metric in ("euclidean", "sqeuclidean", "cityblock", "chebyshev", "cosine", "correlation"):
    of_two(getattr(ds, metric), metric)


@defined(ds.minkowski)
def minkowski(u, v, p=2, w=None):
    return between(np.asarray(u), np.asarray(v), "minkowski", p, w)


@defined(ds.mahalanobis)
def mahalanobis(u, v, VI):
    return between(np.asarray(u), np.asarray(v), "mahalanobis", VI=VI)


@defined(spatial.distance_matrix)
def distance_matrix(x, y, p=2.0):
    return between(np.expand_dims(np.asarray(x), 1), np.asarray(y), "minkowski", p)
