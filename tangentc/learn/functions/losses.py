"""Losses: each is one number, the mean over the examples."""

from __future__ import annotations

import numpy as np

from tangentc.errors import BadArgument
from tangentc.learn.functions.activations import log_softmax, softplus


def cross_entropy(logits, target, smoothing=0.0):
    """The mean cross-entropy of classes on the last axis, from logits ``(..., classes)``.

    ``target`` has labels, integers of shape ``(...)``, or probabilities of the shape of the logits.  With
    ``smoothing`` so much of each target is shared evenly by all classes (Szegedy et al., arXiv:1512.00567, section 7).
    Raises `BadArgument` where the shapes do not fit.

    >>> cross_entropy(np.array([[1000.0, 0.0]]), np.array([1]))
    np.float64(1000.0)
    """
    refuse_targets("cross_entropy", np.shape(logits), np.shape(target), target.dtype.kind)
    log_probabilities = log_softmax(logits)
    if target.dtype.kind in "iu":
        own = -np.mean(np.take_along_axis(log_probabilities, target[..., None], axis=-1))
    else:
        own = -np.mean(np.sum(target * log_probabilities, axis=-1))
    if smoothing == 0:
        return own
    return (1 - smoothing) * own - smoothing * np.mean(log_probabilities)


def negative_log_likelihood(log_probabilities, labels):
    """The mean of ``-log_probabilities`` at the labels: ``(..., classes)``, and integers ``(...)``.

    >>> negative_log_likelihood(np.log([[0.25, 0.75]]), np.array([1])).round(3)
    np.float64(0.288)
    """
    refuse_targets("negative_log_likelihood", np.shape(log_probabilities), np.shape(labels), labels.dtype.kind)
    return -np.mean(np.take_along_axis(log_probabilities, labels[..., None], axis=-1))


def binary_cross_entropy(logits, target):
    """The mean of ``softplus(z) - z * target``: the cross-entropy of probabilities ``sigmoid(z)``, from their logits.

    ``target`` has numbers from 0 to 1, of the shape of the logits.

    >>> binary_cross_entropy(np.array([1000.0, 0.0]), np.array([0.0, 1.0])).round(3)
    np.float64(500.347)
    """
    return np.mean(softplus(logits) - logits * target)


def mean_square(x, target):
    """The mean of ``(x - target) ** 2``.

    >>> mean_square(np.array([1.0, 3.0]), np.array([1.0, 1.0]))
    np.float64(2.0)
    """
    return np.mean((x - target) ** 2)


def huber(x, target, delta=1.0):
    """The mean of ``d ** 2 / 2`` where ``d = abs(x - target)`` is at most ``delta``, else of
    ``delta * (d - delta / 2)`` (Huber, Annals of Mathematical Statistics 35, 1964).

    >>> huber(np.array([0.5, 3.0]), np.zeros(2))
    np.float64(1.3125)
    """
    distance = np.abs(x - target)
    inner = np.minimum(distance, delta)
    return np.mean(inner * (distance - 0.5 * inner))


def kl_divergence(log_q, p):
    """The Kullback-Leibler divergence of ``q`` from ``p``, ``sum(p * (log(p) - log_q))``, as the mean over the first
    axis; where ``p`` is 0 it adds nothing.

    >>> kl_divergence(np.log([[0.5, 0.5]]), np.array([[1.0, 0.0]])).round(4)
    np.float64(0.6931)
    """
    positive = p > 0
    terms = p * (np.log(np.where(positive, p, 1.0)) - log_q)
    return np.sum(np.where(positive, terms, 0.0)) / np.shape(p)[0]


def hinge(scores, target, margin=1.0):
    """The mean of ``max(0, margin - target * scores)``, with targets of 1 and -1 (Cortes and Vapnik, 1995).

    >>> hinge(np.array([2.0, 0.5]), np.array([1.0, -1.0]))
    np.float64(0.75)
    """
    return np.mean(np.maximum(margin - target * scores, 0))


def triplet(anchor, positive, negative, margin=1.0, eps=1e-6):
    """The mean of ``max(0, d(anchor, positive) - d(anchor, negative) + margin)``, with distances along the last axis of
    differences to which ``eps`` is added (Schroff, Kalenichenko and Philbin, arXiv:1503.03832).

    >>> triplet(np.zeros((1, 2)), np.zeros((1, 2)), np.array([[3.0, 4.0]])).round(3)
    np.float64(0.0)
    """
    near = np.sqrt(np.sum((anchor - positive + eps) ** 2, axis=-1))
    far = np.sqrt(np.sum((anchor - negative + eps) ** 2, axis=-1))
    return np.mean(np.maximum(near - far + margin, 0))


def refuse_targets(name, logits, target, kind):
    """Raise `BadArgument` unless targets are labels for these logits, or as many probabilities."""
    wanted = logits[:-1] if kind in "iu" else logits
    if tuple(target) != tuple(wanted) or kind not in "iuf":
        raise BadArgument(
            f"{name} is given logits of shape {tuple(logits)} and a target of shape {tuple(target)}",
            why="classes are on the last axis; a target has an integer for each row, or a share for each logit",
            way_out="move the classes to the last axis, or give the labels as integers",
        )
