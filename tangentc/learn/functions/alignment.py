"""Connectionist temporal classification: the loss of all alignments of a sequence with its labels."""

from __future__ import annotations

import numpy as np

from tangentc import operation, zero_gradient
from tangentc.errors import BadArgument
from tangentc.learn.arrays import module_of

NEVER = -1e30  # the logarithm of the probability of what cannot be


def ctc(log_probabilities, labels, steps, lengths, blank=0):
    """The mean over the batch of ``-log p(labels | x) / length`` (Graves et al., ICML 2006, equations 6 to 8).

    ``log_probabilities`` is ``(steps, batch, classes)``, from `log_softmax`; ``labels`` ``(batch, most)`` has integers
    other than ``blank``, of which example ``k`` has ``lengths[k]``; it has ``steps[k]`` steps.  A label that cannot be
    reached in so many steps raises `BadArgument`.  As in PyTorch, a length of 0 counts as 1.

    >>> half = np.log(np.full((2, 1, 2), 0.5))
    >>> ctc(half, np.array([[1]]), np.array([2]), np.array([1])).round(4)
    np.float64(0.2877)
    """
    refuse_lengths(np.shape(log_probabilities), labels, steps, lengths, blank)
    states, skips, ends, batch, places = extended(labels, lengths, blank)
    first = log_probabilities[0][batch, states]
    alpha = np.where(places < np.minimum(2, ends[:, None] + 1), first, NEVER)
    for t in range(1, np.shape(log_probabilities)[0]):
        one = later(alpha, 1)
        two = np.where(skips, later(alpha, 2), NEVER)
        reached = np.logaddexp(np.logaddexp(alpha, one), two) + log_probabilities[t][batch, states]
        alpha = np.where(t < steps[:, None], reached, alpha)
    last = np.take_along_axis(alpha, ends[:, None], axis=1)[:, 0]
    before = np.take_along_axis(alpha, np.maximum(ends - 1, 0)[:, None], axis=1)[:, 0]
    total = np.where(lengths > 0, np.logaddexp(last, before), last)
    return np.mean(-total / np.maximum(lengths, 1))


def later(alpha, by):
    """The states ``by`` places before each, where there are any."""
    none = np.full_like(alpha[:, :by], NEVER)
    return np.concatenate([none, alpha[:, :-by]], axis=1)


def extended(labels, lengths, blank):
    """The labels with blanks around them; whether a state may be reached from two before; the last state; the numbers
    of the examples, in a column; those of the states."""
    xp = module_of(labels)
    batch, most = labels.shape
    states = xp.full((batch, 2 * most + 1), blank, labels.dtype)
    states[:, 1::2] = xp.where(xp.arange(most) < lengths[:, None], labels, blank)
    skips = xp.zeros(states.shape, bool)
    skips[:, 2:] = (states[:, 2:] != blank) & (states[:, 2:] != states[:, :-2])
    return states, skips, 2 * lengths, xp.arange(batch)[:, None], xp.arange(2 * most + 1)


def refuse_lengths(shape, labels, steps, lengths, blank):
    """Raise `BadArgument` where labels, or numbers of them and of steps, do not fit."""
    labels, steps, lengths = (a.get() if hasattr(a, "get") else a for a in (labels, steps, lengths))
    batch = (shape[1],)
    if len(shape) != 3 or labels.shape[:1] != batch or steps.shape != batch or lengths.shape != batch:
        raise BadArgument(
            f"ctc is given log_probabilities of shape {shape} and labels of shape {labels.shape}",
            why="they are (steps, batch, classes) and (batch, most), steps and lengths (batch,)",
            way_out="move the axes",
        )
    for k in range(shape[1]):
        own = labels[k, : lengths[k]]
        if len(own) < lengths[k] or (own == blank).any() or own.size and (own.min() < 0 or own.max() >= shape[2]):
            raise BadArgument(
                f"the labels of example {k} are {own.tolist()}",
                why=f"there are {shape[2]} classes, and {blank} is the blank", way_out="give labels without it",
            )  # fmt: skip
        least = lengths[k] + np.count_nonzero(own[1:] == own[:-1])
        if steps[k] > shape[0] or steps[k] < max(least, 1):
            raise BadArgument(
                f"example {k} has {steps[k]} steps for {lengths[k]} labels",
                why=f"these labels need {max(least, 1)}, one more between equal ones, and there are {shape[0]}",
                way_out="give more steps, or leave the example out",
            )  # fmt: skip


zero_gradient(extended, refuse_lengths)
operation(extended, pure=True, new=True)
