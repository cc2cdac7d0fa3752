"""An image without its noise.

A noisy picture is made smooth where it is flat and keeps its edges: the sum of all slopes is made small (the total
variation of Rudin, Osher and Fatemi, 1992), rounded off a little where a slope is zero.
"""

import numpy as np
from scipy.optimize import minimize

import tangentc


def objective(pixels, noisy):
    image = pixels.reshape(noisy.shape)
    down = image[1:, :-1] - image[:-1, :-1]
    right = image[:-1, 1:] - image[:-1, :-1]
    variation = np.sum(np.sqrt(down**2 + right**2 + 1e-4))
    return 0.5 * np.sum((image - noisy) ** 2) + 0.2 * variation


derivative = tangentc.value_and_grad(objective)


def picture():
    y, x = np.mgrid[:64, :64]
    image = np.where((x - 24) ** 2 + (y - 26) ** 2 < 200, 0.8, 0.1)
    return np.where((x > 34) & (x < 56) & (y > 30) & (y < 54), 0.5, image)


def solve():
    true = picture()
    noisy = true + 0.2 * np.random.default_rng(7).normal(size=true.shape)
    found = minimize(derivative, noisy.ravel(), (noisy,), method="L-BFGS-B", jac=True, options={"maxiter": 300})
    return {"true": true, "noisy": noisy, "found": found.x.reshape(true.shape)}


def main():
    found = solve()
    error = {name: np.sqrt(np.mean((found[name] - found["true"]) ** 2)) for name in ("noisy", "found")}
    print(f"the error of a pixel was {error['noisy']:.2f} and is {error['found']:.2f}")


if __name__ == "__main__":
    main()
