"""Random programs without loops, on matrices and vectors: compiled runs of statements give what NumPy does."""

import linecache
import random

import numpy as np
import pytest

import tangentc

pytest.importorskip("numba")
ROUNDED = ("np.sin", "np.exp", "np.tanh", "np.log1p", "@", "** 3")  # which the compiled code may round otherwise
BY_DAY, BY_NIGHT = 12, 1500


class Program:
    """A program on ``x`` (n, m), ``v`` (m,), ``w`` (n,) and ``c``, with index arrays ``at`` of rows."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.names = {"nm": ["x"], "m": ["v"], "n": ["w"], "n1": ["w[:, None]"], "": ["c"], "k": [], "km": ["x[at]"],
                      "n3": ["x[:, :3]", "x[:, -3:]"]}  # fmt: skip
        lines = ["def f(x, v, w, c, at):"]
        for k in range(self.random.randint(3, 9)):
            shape, made = self.statement(f"a{k}")
            self.names[shape].append(f"a{k}")
            lines += [f"    {line}" for line in made]
        ends = [self.random.choice(self.names[s]) for s in ("nm", "m", "n", "n3") for _ in range(2)]
        lines.append("    return " + " + ".join(f"np.sum({e})" for e in dict.fromkeys(ends)))
        self.text = "\n".join(lines) + "\n"

    def value(self, shape, depth=2):
        """An expression that is broadcast to a shape, most often one that has it."""
        r = self.random
        fits = {"nm": ("nm", "nm", "nm", "m", "n1", ""), "m": ("m", "m", ""), "n": ("n", "n", ""), "": ("",),
                "n1": ("n1", "n1", ""), "km": ("km", "km", "m"), "n3": ("n3", "n3", "n1", "")}[shape]  # fmt: skip
        if depth == 0:
            return r.choice(self.names[r.choice(fits)] or self.names[shape] or ["c"])
        a, b = self.value(shape, depth - 1), self.value(shape, depth - 1)
        kind = r.randrange(12)
        if kind < 6:
            return f"({a} {r.choice('++-**')} {b})"
        if kind == 6:
            return f"{a} / (1.5 + {b} ** 2)"
        if kind == 7:
            return f"{r.choice(['np.sin', 'np.tanh', 'np.abs', '-'])}({a})"
        if kind == 8:
            return f"np.where({a} > {b}, {a}, 0.5 * {b})"
        if kind == 9:
            return f"np.{r.choice(['maximum', 'minimum'])}({a}, {b})"
        if kind == 10 and shape in ("nm", "m", "n") and r.random() < 0.5:
            a = self.whole(shape, 0)
            made = [
                f"np.roll({a}, {r.choice([-2, -1, 1, 2])}, axis=-1)",
                f"np.flip({a}, -1)",
                f"np.cumsum({a}, axis=-1)",
            ]
            return f"(0.5 * {r.choice(made)})"
        return f"({a}) ** {r.choice([2, 2, 3])}"

    def whole(self, shape, depth=2):
        """One that has the shape for sure."""
        base = self.random.choice(self.names[shape])
        return f"{base} {self.random.choice('+-*')} {self.value(shape, depth)}"

    def again(self, shape):
        """A store into what was made before."""
        own = [n for n in self.names[shape] if n.startswith("a")]
        return [f"{self.random.choice(own)} {self.random.choice('+*')}= {self.value(shape, 1)}"] if own else []

    def statement(self, name):
        r = self.random
        kind = r.randrange(28)
        if kind > 19:
            return self.newer(name, kind)
        if kind > 17:  # what has no words, of what is written behind
            a, b = (r.choice(self.names["m"]) for _ in range(2))
            without = [f"np.hstack(({a}, {b}))[:len(v)]", f"np.sort({a})", f"np.concatenate([{a}, {b}])[-len(v):]",
                       f"np.cumsum({a})", f"{r.choice(self.names['nm'])}.T @ {r.choice(self.names['n'])}"]  # fmt: skip
            return "m", [f"{name} = {r.choice(without)}"]
        if kind > 15:
            shape = r.choice(["nm", "m", "n"])
            return shape, [f"{name} = {self.whole(shape)}", f"{name} {r.choice('+-*')}= {self.value(shape, 1)}",
                           *self.again(shape)]  # fmt: skip
        if kind < 5:
            shape = r.choice(["nm", "nm", "m", "n"])
            return shape, [f"{name} = {self.whole(shape)}"]
        if kind < 8:  # over rows and columns
            reduce = r.choice(["sum", "mean", "max"])
            of, axis, keep, shape = r.choice([
                ("nm", 1, False, "n"), ("nm", 0, False, "m"), ("nm", 1, True, "n1"), ("nm", -1, True, "n1"),
            ])  # fmt: skip
            keeps = ", keepdims=True" if keep else ""
            return shape, [f"{name} = np.{reduce}({self.whole(of, 1)}, axis={axis}{keeps})"]
        if kind == 8:
            return "", [f"{name} = 0.1 * np.{r.choice(['sum', 'mean'])}({self.whole(r.choice(['m', 'n', 'nm']), 1)})"]
        if kind == 9:  # stores in place
            target, value = r.choice([
                ("[1:]", f"{name}[:-1]"), ("[:, 0]", self.value("n", 1)), ("[0]", self.value("m", 1)),
                ("[:, 1:]", f"0.5 * {name}[:, :-1]"), ("[:]", self.value("nm", 1)), ("[::-1]", self.value("nm", 1)),
            ])  # fmt: skip
            return "nm", [f"{name} = {self.whole('nm', 1)}", f"{name}{target} {r.choice(['', '+', '*'])}= {value}"]
        if kind == 10:
            return "nm", [f"{name} = np.zeros_like(x)", f"np.add.at({name}, at, {self.whole('km', 1)})"]
        if kind == 11:
            return "km", [f"{name} = {r.choice(self.names['nm'])}[at] * {self.value('km', 1)}"]
        if kind == 12:
            return "n", [f"{name} = {r.choice(self.names['nm'])} @ ({self.whole('m', 1)})"]
        if kind == 13:
            return "nm", [f"{name} = ({r.choice(self.names['nm'])}.T * {r.choice(self.names['n'])}).T"]
        if kind == 14:  # another name, that is written under
            return "nm", [
                f"{name} = {self.whole('nm', 1)}",
                f"{name}v = {name}[1:]",
                f"{name}v *= {self.value('m', 1)}",
            ]
        return "m", [f"{name} = {r.choice(self.names['nm'])}[{r.choice([0, -1])}] + {self.value('m', 1)}"]

    def newer(self, name, kind):
        """Functions that kernels write out, and slices of so many entries or with steps."""
        r = self.random
        if kind == 20:
            return "n3", [f"{name} = np.cross({self.whole('n3', 1)}, {self.whole('n3', 1)})"]
        if kind == 21:
            which = r.choice([":, :3", ":, -3:", ":, 2::-1", ":, np.array([0, 2, 1])"])
            return "n3", [f"{name} = ({self.whole('nm', 1)})[{which}] * {self.value('n3', 1)}"]
        if kind == 22:
            of = r.choice(["n3", "nm"])
            how = r.choice(["np.linalg.norm({}, axis=1)", "np.sum({}, axis=1)", "np.min({}, axis=1)"])
            return "n", [f"{name} = " + how.format(self.whole(of, 1))]
        if kind == 23:
            a, b = self.whole("m", 1), self.whole("m", 1)
            made = [f"np.stack(({a}, {b}))[1]", f"np.stack([{a}, {b}], axis=1)[:, 0]", f"np.concatenate(({a}, {b}))[2:][:len(v)]",
                    f"np.pad(np.diff({a}), (1, 0))", f"np.vstack(({a}, {b}))[{r.choice([0, -1])}]"]  # fmt: skip
            return "m", [f"{name} = {r.choice(made)} + {self.value('m', 1)}"]
        if kind == 24:  # stores with steps
            part = r.choice(
                ["[::2]", "[1::2]", "[1:-1:3]", "[:2]", "[-2:]", "[:, ::2]", "[:, 1:3]", "[::-1]", "[1:3, -2:]"]
            )
            value = r.choice([self.value("", 1), f"0.5 * {name}{part}", f"({self.value('nm', 1)} + x){part}"])
            return "nm", [f"{name} = {self.whole('nm', 1)}", f"{name}{part} {r.choice(['', '+', '*', '-'])}= {value}"]
        if kind == 25:
            made = [f"np.outer({r.choice(self.names['n'])}, {r.choice(self.names['m'])})",
                    f"np.swapaxes(np.swapaxes({self.whole('nm', 1)}, 0, 1) * {r.choice(self.names['n'])}, 1, 0)",
                    f"np.hstack(({self.whole('nm', 1)}, {r.choice(self.names['n3'])}))[:, 3:]",
                    f"np.concatenate([{self.whole('nm', 1)}, x[1:2]])[:-1]",
                    f"np.pad(np.diff({self.whole('nm', 1)}, axis=0), ((0, 1), (0, 0)))"]  # fmt: skip
            return "nm", [f"{name} = {r.choice(made)}"]
        if kind == 26:
            how = r.choice(["max", "min", "sum", "mean"])
            keep = r.choice([", keepdims=True)[0]", ")"])
            return "m", [f"{name} = np.{how}({self.whole('nm', 1)}, axis=0{keep} + {self.value('m', 1)}"]
        half = f"({self.whole('m', 1)})[::2]"
        return "m", [f"{name} = {self.whole('m', 1)}", f"{name}[::2] = {half} * ({self.whole('m', 1)})[::2]"]


def check(seed, size=None):
    text, file = Program(seed).text, f"<random runs {seed}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    scope = {"np": np}
    exec(compile(text, file, "exec"), scope)
    f = scope["f"]
    rng = np.random.default_rng(seed)
    plain, compiled = (tangentc.value_and_grad(f, wrt=(0, 1, 2, 3), kernels=k) for k in (None, "numba"))
    for _ in range(2):
        n, m = rng.integers(3, 12, 2)
        args = (
            rng.normal(size=(n, m)),
            rng.normal(size=m),
            rng.normal(size=n),
            float(rng.normal()),
            rng.integers(-n, n, 7),
        )
        before = [np.copy(a) for a in args]
        want, got = plain(*args), compiled(*args)
        assert all(map(np.array_equal, args, before))
        rtol = 1e-12 if any(w in text for w in ROUNDED) else 0
        np.testing.assert_allclose(got[0], want[0], rtol=rtol or 1e-13, err_msg=text)
        for a, b in zip(got[1], want[1], strict=True):
            np.testing.assert_allclose(
                a, b, rtol=1e-8, atol=1e-9 * max(1.0, np.max(np.abs(b), initial=0.0)), err_msg=text
            )
    return compiled, f, args


@pytest.mark.parametrize(
    "seed", [*range(BY_DAY), *(pytest.param(k, marks=pytest.mark.nightly) for k in range(BY_DAY, BY_NIGHT))]
)
@pytest.mark.filterwarnings("error:Numba does not compile")
def test_a_random_program(seed):
    check(seed)
