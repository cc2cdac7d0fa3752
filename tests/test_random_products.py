"""Random programs of products, solvers and other shapes of small and large matrices, in loops and without: compiled code
gives what NumPy gives."""

import linecache
import random

import numpy as np
import pytest

import tangentc

pytest.importorskip("numba")
pytest.importorskip("scipy")
BY_DAY, BY_NIGHT = 1, 600


class Program:
    """A program on ``A``, ``B`` (n, n), ``C`` (n, m), ``S`` (b, n, n), ``v`` (n,), ``x`` (k, n) and a number of trips."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.names = {
            "nn": ["A", "B"],
            "nm": ["C"],
            "mn": ["C.T"],
            "bnn": ["S"],
            "n": ["v"],
            "kn": ["x"],
            "nk": ["x.T"],
        }
        self.loops = self.draw.random() < 0.5
        lines = []
        if self.loops:
            lines += ["for t in range(steps):"]
        body = []
        for k in range(self.draw.randint(2, 6)):
            body += self.statement(f"a{k}")
        ends = [self.draw.choice(self.names[s]) for s in ("nn", "nm", "bnn", "kn", "n")]
        if self.loops:
            ends = [e.replace(".T", "") for e in ends]
            body += [f"total += np.sum(np.tanh({e}))" for e in dict.fromkeys(ends)]
            body += [
                f"{name} = np.tanh({self.draw.choice(self.names[s])})"
                for name, s in (("A", "nn"), ("v", "n"), ("S", "bnn"))
            ]
            lines += [f"    {line}" for line in body]
            end = "return total"
        else:
            lines += body
            end = "return total + " + " + ".join(f"np.sum(np.tanh({e}))" for e in dict.fromkeys(ends))
        lines = ["A = A * 1.0", "S = S * 0.5", "total = 0.0", *lines, end]
        self.text = "def f(A, B, C, S, v, x, steps):\n" + "".join(f"    {line}\n" for line in lines)

    def one(self, shape):
        """A value of a shape, at times turned."""
        r = self.draw
        turned = {"nn": "nn", "nm": "mn", "mn": "nm", "kn": "nk", "nk": "kn"}
        if shape in turned and r.random() < 0.4:
            return f"{r.choice(self.names[turned[shape]])}.T"
        if shape == "bnn" and r.random() < 0.3:
            return f"np.swapaxes({r.choice(self.names['bnn'])}, 1, 2)"
        return r.choice(self.names[shape])

    def product(self, shape):
        r, one = self.draw, self.one
        made = {
            "nn": [("nn", "nn"), ("nn", "nn"), ("nm", "mn"), ("nk", "kn")],
            "nm": [("nn", "nm")], "mn": [("mn", "nn")], "bnn": [("bnn", "bnn"), ("nn", "bnn"), ("bnn", "nn")],
            "n": [("nn", "n"), ("n", "nn")], "kn": [("kn", "nn")], "nk": [("nn", "nk")],
        }[shape]  # fmt: skip
        a, b = r.choice(made)
        if r.random() < 0.2 and "bnn" not in (a, b):
            return f"np.dot({one(a)}, {one(b)})"
        return f"{one(a)} @ {one(b)}"

    def value(self, shape):
        r = self.draw
        kind = r.randrange(8)
        if kind < 4:
            return self.product(shape)
        if kind == 4:
            return f"np.tanh({self.product(shape)}) + 0.3 * {self.one(shape)}"
        if kind == 5:
            return f"{self.product(shape)} * {self.one(shape)}"
        if kind == 6:
            return f"{self.one(shape)} - 0.2 * {self.product(shape)}"
        return f"({self.product(shape)}) @ {self.one('nn')}" if shape[-1] == "n" else self.product(shape)

    def statement(self, name):
        r, one = self.draw, self.one
        shape = r.choice(["nn", "nn", "nm", "bnn", "bnn", "n", "kn"])
        kind = r.randrange(12)
        if kind < 6:
            made = [f"{name} = {self.value(shape)}"]
        elif kind == 6:
            made = [
                f"{name} = 0.5 * {one(shape)}",
                f"{name}[:] = {self.value(shape)}",
                f"{name} += {self.product(shape)}",
            ]
        elif kind == 7:
            shape = r.choice(["nn", "n"])
            solver = f"np.linalg.solve(np.eye(n) * 3 + 0.1 * np.tanh({one('nn')}), {one(shape)})"
            made = [f"n = {r.choice(['A', 'B', 'v'])}.shape[0]", f"{name} = {solver}"]
            if shape == "nn" and r.random() < 0.5:
                made[1] = f"{name} = np.linalg.inv(np.eye(n) * 3 + 0.1 * np.tanh({one('nn')}))"
        elif kind == 8:
            shape, of = "bnn", [one("nn") for _ in range(3)]
            made = [
                f"{name} = np.stack(({of[0]}, {of[1]}, {of[2]})) @ {one('nn')}",
                f"{name} = np.concatenate(({one('bnn')}[1:], ({self.product('nn')})[None]))",
            ]
            made = [r.choice(made)]
        elif kind == 9:
            shape = "nn"
            made = [f"{name} = {one('bnn')}[{r.choice([0, 1, -1])}] @ {one('nn')}"]
        elif kind == 10:
            shape = "bnn"
            own = r.choice(["(3, 16)", "(12, 4)", "(48,)", "(3, 2, 2, 4)", "(4, 3, 4)", "(6, 1, 8)"])
            made = [f"{name} = np.tanh(np.reshape({one('bnn')}, {own})).reshape(3, 4, 4) + {self.product('bnn')}"]
        else:
            shape = "bnn"
            made = [f"{name} = {one('bnn')} * 0.7", f"{name}[1] = {self.product('nn')}",
                    f"{name}[{r.choice(['0', '2', ':2'])}] += {one('nn')} @ {name}[1]"]  # fmt: skip
        self.names[shape] = [*self.names[shape], name]
        return made


def check(seed):
    program = Program(seed)
    n = 4 if "reshape" in program.text else random.Random(seed).choice([1, 2, 4, 4, 4, 9])
    name = f"<product {seed}>"
    linecache.cache[name] = (len(program.text), None, program.text.splitlines(keepends=True), name)
    space = {"np": np}
    exec(compile(program.text, name, "exec"), space)
    rng = np.random.default_rng(seed)
    b, m, k = 3, rng.integers(1, 4), rng.choice([1, 5, 12])
    shapes = (n, n), (n, n), (n, m), (b, n, n), (n,), (k, n)
    args = [rng.normal(size=shape) * 0.5 for shape in shapes]
    args = [np.asfortranarray(a) if rng.random() < 0.2 else a for a in args]
    args.append(int(rng.integers(0, 4)))
    wrt = tuple(range(6))
    want = tangentc.value_and_grad(space["f"], wrt=wrt)(*args)
    compiled = tangentc.value_and_grad(space["f"], wrt=wrt, kernels="numba")
    before = [np.copy(a) for a in args]
    found = compiled(*args)
    for a, old in zip(args, before, strict=True):
        np.testing.assert_array_equal(a, old)
    np.testing.assert_allclose(found[0], want[0], rtol=1e-9, atol=1e-10, err_msg=program.text)
    for one, other in zip(found[1], want[1], strict=True):
        assert one.shape == other.shape and one.dtype == other.dtype
        size = max(1.0, float(np.max(np.abs(other), initial=0.0)))
        np.testing.assert_allclose(one / size, other / size, rtol=1e-7, atol=1e-9, err_msg=program.text)
    return compiled


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(BY_DAY))
def test_a_random_program(seed):
    check(seed)


@pytest.mark.nightly
@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("seed", range(BY_DAY, BY_NIGHT))
def test_a_random_program_by_night(seed):
    check(seed)
