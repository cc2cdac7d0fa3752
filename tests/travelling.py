"""Functions that other processes import, for test_travelling.py."""

from dataclasses import dataclass

import numpy as np

import tangentc


def loss(w, x):
    return np.sum(np.tanh(x @ w) ** 2)


@tangentc.differentiable(wrt="w")
def decorated(w, x):
    return np.sum(np.sin(x @ w))


class Model:
    def __init__(self, w):
        self.w = w
        self.gradient = tangentc.grad(loss)

    def cost(self, x):
        return np.sum(self.w * x)

    @tangentc.differentiable(wrt="x")
    def energy(self, x):
        return np.sum(self.w * x**3)

    @tangentc.differentiable
    @classmethod
    def cube(cls, x):
        return np.sum(x**3)

    @staticmethod
    @tangentc.differentiable
    def square(x):
        return np.sum(x**2)


@dataclass
class Fit:
    w: np.ndarray

    def step(self, x):
        self.w = self.w - 0.1 * tangentc.grad(loss)(self.w, x)
        return self


def energy_gradient(model, x):
    return model.energy.grad(x)
