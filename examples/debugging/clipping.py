"""A gradient of a recurrent network that is NaN, found with `trace` and cured by clipping.

A short signal stands at the end of a long sequence that is filled up with zeros.  The loss and every state are finite.
In the adjoint sweep the adjoint of the state is multiplied by the weights in each step of the filling, until it is
infinite, and there the state is zero: their product is NaN.
"""

import numpy as np

import tangentc
from tangentc import insert_grad_of


def loss(W, inputs, target):
    h = np.zeros(len(W))
    for x in inputs:
        h = np.tanh(W @ h + x)
    return np.sum((h - target) ** 2)


def clipped_loss(W, inputs, target):
    h = np.zeros(len(W))
    for x in inputs:
        h = np.tanh(W @ h + x)
        with insert_grad_of(h) as h_bar:
            h_bar = h_bar / max(np.linalg.norm(h_bar), 1.0)
    return np.sum((h - target) ** 2)


def setting():
    """The weights, a signal of five steps after 1200 steps of nothing, and what the last state should be."""
    rng = np.random.default_rng(0)
    W = 1.9 * np.eye(3) + 0.1 * rng.normal(size=(3, 3))
    inputs = np.zeros((1205, 3))
    inputs[-5:] = 0.3 * rng.normal(size=(5, 3))
    return W, inputs, np.array([0.5, -0.5, 0.2])


def descent(f, W, inputs, target, steps=60, rate=0.02):
    """The weights after some steps of gradient descent."""
    gradient = tangentc.grad(f)
    for _ in range(steps):
        W = W - rate * gradient(W, inputs, target)
    return W


def story() -> str:
    """What is seen on the way from the NaN to its cure."""
    W, inputs, target = setting()
    with np.errstate(all="ignore"):
        found = tangentc.trace(loss)(W, inputs, target).first_nonfinite()
        before = tangentc.grad(loss)(W, inputs, target)
    assert found is not None
    better = descent(clipped_loss, W, inputs, target)
    return "\n".join(
        [
            f"the loss      {loss(W, inputs, target):.4f}",
            f"its gradient  {np.count_nonzero(np.isnan(before))} of {before.size} entries are NaN",
            f"found         {found.kind} in the {found.sweep} sweep, line {found.line}: {found.text}",
            f"with clipping the loss after 60 steps is {loss(better, inputs, target):.4f}",
        ]
    )


def main():
    print(story())


if __name__ == "__main__":
    main()
