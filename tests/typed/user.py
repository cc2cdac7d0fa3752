"""What people write with tangentc, for type checkers: every line that is marked is an error, and no other is."""

from typing import assert_type

import numpy as np
import numpy.typing as npt

import tangentc

Vector = npt.NDArray[np.float64]


def loss(w: Vector, x: Vector, power: int = 2) -> float:
    return float(np.sum(np.abs(w * x) ** power))


@tangentc.differentiable(wrt="w")
def energy(w: Vector, k: float) -> float:
    return float(k * np.sum(w**2))


@tangentc.differentiable
def plain(w: Vector) -> float:
    return float(np.sum(w))


w, x = np.ones(3), np.ones(3)
gradient = tangentc.grad(loss, wrt=("w", "x"))
gradient(w, x)
gradient(w, x, power=3)
gradient(w, x, power="3")  # error
gradient(w)  # error
gradient(w, x, scale=2.0)  # error

value, of_w = tangentc.value_and_grad(loss)(w, x)
assert_type(value, float)
assert_type(energy(w, 2.0), float)
assert_type(plain(w), float)
energy(w, "2")  # error
energy.grad(w, 2.0)
energy.grad(w)  # error
assert_type(energy.value_and_grad(w, 2.0)[0], float)
tangentc.hessian(loss)(w, x)
tangentc.hessian(loss)(w, x, 2, 3)  # error
print(gradient.source_for(w, x), energy.source)
tangentc.check_grads(loss, (w, x), wrt="w", quiet=True)
number, pullback = tangentc.vjp(loss, w, x)
pullback(1.0)
