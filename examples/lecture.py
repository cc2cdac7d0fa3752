"""The hinge cost of a single unit, and the code that differentiates it.

The cost of predicting y as max(0, w x + b) is C = y - max(0, w x + b).  This program prints its value at
y = 5, w = 2, x = 1, b = 1, its four derivatives, and the emitted code that computes them.
"""

import tangentc


@tangentc.differentiable(wrt=("y", "w", "x", "b"))
def cost(y, w, x, b):
    return y - max(0, w * x + b)


def main():
    """Print the value, the derivatives and the code."""
    point = {"y": 5.0, "w": 2.0, "x": 1.0, "b": 1.0}
    value = cost(**point)
    derivatives = cost.grad(**point)

    print(f"C = {value:g}")
    for name, derivative in zip(point, derivatives, strict=True):
        print(f"dC/d{name} = {derivative:g}")
    print()
    print(cost.grad.source)

    assert value == 2
    assert derivatives == (1, -1, -2, -1)


if __name__ == "__main__":
    main()
