"""Random programs of stencils, sweeps, reductions, branches, index arrays, arrays that are made in a trip, rows that get
shorter, ranges with steps, and loops that are left, in loops: compiled loops give what NumPy gives."""

import linecache
import random

import numpy as np
import pytest

import tangentc

pytest.importorskip("numba")
BY_DAY, BY_NIGHT = 12, 2000
NUMBERS = ("c", "s", "k", "0.7")
SUMS = ("np.sum", "np.mean", "@", "sin", "tanh", "exp")  # which loops add up, or compute, otherwise


def cut(begin, end):
    return f"{begin or ''}:{-end if end else ''}"


class Program:
    """One function of two arrays, a number and a number of trips."""

    def __init__(self, seed):
        self.draw = random.Random(seed)
        self.arrays = "u", "v", "x", "y"
        lines = ["def f(x, y, c, steps):", "    n = len(x)", "    u = x.copy()", "    v = y * 1.5"]
        lines += ["    s = 0.2", "    k = c * 0.5"]
        lines += ["    idx = (np.arange(n) * 3 + 1) % n", "    jdx = idx[::-1] // 2 - n * (np.arange(n) % 2)"]
        if self.draw.random() < 0.3:
            lines += ["    t = 0", "    while t < steps:", "        t += 1"]
        else:
            lines.append(self.draw.choice(["    for t in range(steps):", "    for t in range(1, steps + 1):"]))
        for _ in range(self.draw.randint(1, 4)):
            lines += ["        " + row for row in self.statement()]
        if self.draw.random() < 0.3:
            lines += [
                f"        if {self.draw.choice(['s > 0.25', 'abs(u[0]) > 0.5', 'k < v[-1]'])}:",
                "            break",
            ]
        self.text = "\n".join([*lines, "    return np.sum(u * u) + np.sum(v) * s + k", ""])

    def expression(self, depth, less):
        """Of arrays with ``less`` entries less than there are."""
        if depth == 0 or self.draw.random() < 0.2:
            if self.draw.random() < 0.25:
                return self.draw.choice(NUMBERS)
            begin = self.draw.randint(0, less)
            array = self.draw.choice(self.arrays)
            return f"{array}[{cut(begin, less - begin)}]" if less else array
        a, b = self.expression(depth - 1, less), self.expression(depth - 1, less)
        return self.draw.choice(
            [f"({a} + {b})", f"({a} - {b})", f"({a} * {b})", f"({a} * {b})", f"np.tanh(0.3 * {a})",
             f"np.where({a} > {b}, {a}, 0.5 * {b})", f"({a} / (2.0 + {b} ** 2))"]
        )  # fmt: skip

    def statement(self):
        target, kind = self.draw.choice("uv"), self.draw.random()
        if self.draw.random() < 0.2:
            return self.by_index(target)
        if self.draw.random() < 0.2:
            return self.filled(target)
        if self.draw.random() < 0.3:
            return self.rows(target)
        if kind < 0.4:
            less = self.draw.randint(0, 2)
            begin = self.draw.randint(0, less)
            op = self.draw.choice(["=", "+=", "*=", "-="])
            return [f"{target}[{cut(begin, less - begin)}] {op} 0.3 * {self.expression(2, less)}"]
        if kind < 0.5:
            made = f"w = {self.expression(2, 1)} + 0.0 * u[1:]"
            return [made, f"{target}[1:] += 0.1 * w", f"{target}[:-1] -= 0.2 * w"]
        if kind < 0.6:
            return [f"s = 0.5 * s + 0.1 * ({self.draw.choice(self.arrays)} @ {self.draw.choice(self.arrays)})"]
        if kind < 0.9:
            return self.sweep(target)
        return [self.draw.choice(["v = 0.5 * (u + v) * c", "k = k * 0.9 + 0.01 * u[-1]", "u = u * c + v"])]

    def by_index(self, target):
        one, other = self.draw.choice(["idx", "jdx"]), self.draw.choice(["idx", "jdx"])
        array = self.draw.choice(self.arrays)
        return self.draw.choice([
            [f"{target} = {target} + 0.2 * np.tanh({array}[{one}])"],
            [f"np.add.at({target}, {one}, 0.2 * {array}[{other}])"],
            [f"{target}[{one}] = 0.5 * {array} * {self.draw.choice(self.arrays)}[{other}]"],
            [f"{target}[{one}] += 0.3 * {array}"],
            [f"d = {target}[{one}] - {array}[{other}]", f"np.add.at({target}, {one}, -0.1 * d * d)"],
            ["for e in range(n):", f"    {target}[{one}[e]] += 0.1 * {array}[{other}[e]] * c"],
        ])  # fmt: skip

    def filled(self, target):
        """An array that is made in the trip, filled entry by entry, and handed on."""
        a, b = self.draw.choice(self.arrays), self.draw.choice(self.arrays)
        again = self.draw.choice([target, "w", a])
        return [
            "w = np.empty(n)", f"w[0] = {a}[0]", f"w[n - 1] = c * {b}[n - 1]", "for i in range(1, n - 1):",
            f"    w[i] = {a}[i] + 0.2 * ({b}[i + 1] - {target}[i] * c) * {a}[i] - 0.1 * {again}[i - 1]",
            self.draw.choice([f"{target} = w", f"u, v = w, {target}", f"{target} = w + 0.1 * {b}"]),
        ]  # fmt: skip

    def rows(self, target):
        """Parts of arrays that are others in each trip, of ranges of all kinds."""
        trips = self.draw.choice(
            ["range(n)", "range(1, n)", "range(n - 1)", "range(n - 1, -1, -1)", "range(0, n, 2)", "range(n - 1, 0, -2)",
             "range(1, n, 3)", "(0, 1)", "(1, 0, 0)", "range(n - 2, 0, -1)"]
        )  # fmt: skip
        part = self.draw.choice(
            ["i + 1 :", "i:", ": i", ": i + 1", "i : i + 3", "max(i - 2, 0) : i", "i : n - 1", "n - i :", "i : n - i",
             "min(i + 2, n) :", "i - 1 : n - 1"]
        )  # fmt: skip
        a, b, other = (f"{self.draw.choice(self.arrays)}[{part}]" for _ in range(3))
        own = f"{target}[{part}]"
        return [f"for i in {trips}:", *("    " + row for row in self.draw.choice([
            [f"{own} = 0.4 * {a} * {b} + c * 0.1"],
            [f"{own} -= 0.2 * {self.draw.choice(self.arrays)}[i] * {other}"],
            [f"s = 0.5 * s + 0.1 * ({a} @ {b})", f"{own} *= 0.9 + 0.1 * np.tanh(s)"],
            [f"d = np.sin({a})", f"d += 0.1 * {b}", f"{own} = {other} - 0.3 * d * d"],
            [f"{target}[i] = 0.5 * {target}[i] - 0.2 * np.sum({a} * {b})"],
            [f"for j in range(i, n, {self.draw.randint(1, 3)}):", f"    {target}[j] *= 0.5 + 0.1 * {self.draw.choice(self.arrays)}[i]"],
        ]))]  # fmt: skip

    def sweep(self, target):
        first, last = self.draw.choice([("1", "n - 1"), ("0", "n"), ("1", "n"), ("0", "n - 1")])
        ways = ["i", *(["i - 1"] if first == "1" else []), *(["i + 1"] if last == "n - 1" else [])]

        def entry():
            return f"{self.draw.choice(self.arrays)}[{self.draw.choice(ways)}]"

        trips = f"for i in range({first}, {last}):"
        if self.draw.random() < 0.5:
            op = self.draw.choice(["=", "+=", "*="])
            return [trips, f"    {target}[{self.draw.choice(ways)}] {op} 0.3 * {entry()} * {entry()}"]
        return [
            trips, f"    if {entry()} > {entry()}:", f"        {target}[i] = 0.5 * {entry()} * {entry()}", "    else:",
            f"        s = s * 0.9 + 0.1 * {entry()}",
        ]  # fmt: skip


@pytest.mark.parametrize(
    "seed", [pytest.param(k, marks=() if k < BY_DAY else pytest.mark.nightly) for k in range(BY_NIGHT)]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning", "error:Numba does not compile")
def test_a_random_program(seed):
    text, file = Program(seed).text, f"<random kernels {seed}>"
    linecache.cache[file] = len(text), None, text.splitlines(True), file
    scope = {"np": np}
    exec(compile(text, file, "exec"), scope)
    rng = np.random.default_rng(seed)
    by_numpy = tangentc.value_and_grad(scope["f"], wrt=(0, 1, 2))
    by_loops = tangentc.value_and_grad(scope["f"], wrt=(0, 1, 2), kernels="numba")
    for _ in range(3):
        n = int(rng.integers(2, 14))
        args = rng.normal(size=n) * 0.5, rng.normal(size=n) * 0.5, float(rng.normal()), int(rng.integers(0, 4))
        want, got = by_numpy(*args), by_loops(*args)
        rounds = any(word in text for word in SUMS)
        np.testing.assert_allclose(got[0], want[0], rtol=1e-11 if rounds else 0, err_msg=text)
        for a, b in zip(got[1], want[1], strict=True):
            np.testing.assert_allclose(a, b, rtol=1e-8, atol=1e-11, err_msg=text)
