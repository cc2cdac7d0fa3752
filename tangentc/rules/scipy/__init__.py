from tangentc.errors import NotDifferentiable


def unknown(what):
    raise NotDifferentiable(
        f"the derivative in {what} is not known in closed form", why="SciPy has no function for it",
        way_out="keep it constant, by tangentc.stop_gradient",
    )  # fmt: skip
