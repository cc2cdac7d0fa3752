"""How long functions take to compile, the package to import and a first gradient to come, beside what each may take.

python benchmarks/compile_time.py
"""

import importlib
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from statistics import median

import tangentc

LINES = ["np.sin({a}) + y", "{a} * x", "x - {a} / 2.0", "np.tanh({a}) * {a}", "{a} + np.exp(-{a} * {a})"]
STATE = """
@dataclass
class State:
    x: float
    v: float

    def step(self):
        v = self.v - 0.1 * np.sin(self.x)
        return State(self.x + 0.1 * v, v)


"""
TYPICAL = {
    "heat equation, 15 lines": """
    u = np.zeros(20)
    u[0], u[-1] = x, y
    dx, dt = 1.0 / 19.0, 0.001
    rate = dt / dx**2
    for step in range(30):
        new = u.copy()
        for i in range(1, 19):
            new[i] = u[i] + rate * (u[i + 1] - 2.0 * u[i] + u[i - 1])
        u = new
    mean = np.mean(u)
    spread = np.sum((u - mean) ** 2)
    if spread > 1.0:
        spread = np.sqrt(spread)
    return mean + spread
""",
    "two bodies, 20 lines": """
    place, speed = np.array([x, 0.0]), np.array([0.0, y])
    energies = []
    lost = 0.0
    for step in range(20):
        r2 = place @ place + 0.01
        r = np.sqrt(r2)
        force = -place / (r2 * r)
        speed = speed + 0.01 * force
        place = place + 0.01 * speed
        kinetic = 0.5 * np.sum(speed**2)
        potential = -1.0 / r
        energies.append(kinetic + potential)
        if r > 5.0:
            lost = lost + r
            break
    first, last = energies[0], energies[-1]
    drift = (last - first) ** 2
    momentum = place[0] * speed[1] - place[1] * speed[0]
    return drift + momentum + lost
""",
    "network, 30 lines": """
    inputs = np.linspace(-1.0, 1.0, 12).reshape(4, 3)
    w1, b1 = x * np.ones((3, 5)), np.zeros(5)
    w2, b2 = y * np.ones((5, 5)), np.zeros(5)
    w3, b3 = np.ones((5, 2)) * 0.1, np.zeros(2)

    def layer(a, w, b):
        z = a @ w + b
        return np.tanh(z)

    def softmax(z):
        z = z - np.max(z, axis=1, keepdims=True)
        e = np.exp(z)
        return e / np.sum(e, axis=1, keepdims=True)

    a = inputs
    for w, b in ((w1, b1), (w2, b2)):
        a = layer(a, w, b)
        scale = np.sqrt(np.mean(a**2) + 1e-6)
        a = a / scale
    p = softmax(a @ w3 + b3)
    labels = np.array([0, 1, 0, 1])
    chosen = p[np.arange(4), labels]
    loss = -np.mean(np.log(chosen))
    penalty = 0.0
    for w in (w1, w2, w3):
        penalty = penalty + np.sum(w**2)
    if penalty > 100.0:
        penalty = 100.0
    return loss + 1e-3 * penalty
""",
}


def programs() -> list[tuple[str, float, str, str]]:
    """What is compiled: its name, the seconds that it may take, what stands before its function, and its body."""

    def straight(n: int) -> str:
        return (
            "    a = x * y\n" + "".join(f"    a = {LINES[i % 5].format(a='a')}\n" for i in range(n)) + "    return a\n"
        )

    ifs = "".join(f"    if a > {i}.0:\n        a = np.sin(a) + y\n" for i in range(500))
    stores = "".join(f"    u[{i}] = u[{max(i - 1, 0)}] * x + np.sin(y)\n" for i in range(1000))
    steps = "    s = s.step()\n" * 48
    terms = " + ".join(f"x * {i}.0" for i in range(1500))
    return [
        ("2,000 statements", 2.5, "", straight(2000)),
        ("8,000 statements", 10.0, "", straight(8000)),
        ("500 ifs", 2.0, "", f"    a = x * y\n{ifs}    return a\n"),
        ("1,000 stores", 3.0, "", f"    u = np.ones(1000) * x\n{stores}    return np.sum(u)\n"),
        ("s = s.step(), 48 times", 1.5, STATE, f"    s = State(x, y)\n{steps}    return s.x\n"),
        ("a sum of 1,500 terms", 2.0, "", f"    return {terms}\n"),
    ]


def module(folder: Path, name: str, before: str, body: str):
    """The function that a module of the folder defines."""
    head = "from dataclasses import dataclass\n\nimport numpy as np\n\n"
    (folder / f"{name}.py").write_text(f"{head}{before}\ndef f(x, y):\n{body}")
    return importlib.import_module(name).f


def seconds_to_compile(function) -> float:
    start = time.perf_counter()
    tangentc.grad(function, wrt=(0, 1)).source_for(1.0, 2.0)
    return time.perf_counter() - start


def printed(name: str, seconds: float, may: float) -> None:
    print(f"{name:36} {seconds:8.3f} s   of {may:6.3f} s{'' if seconds <= may else '   OVER'}", flush=True)


def in_new_processes(code: str, folder: Path) -> float:
    """The median of the seconds that ``code``, run in processes of its own, prints."""

    def once() -> float:
        run = [sys.executable, "-c", code]
        return float(subprocess.run(run, cwd=folder, capture_output=True, text=True, check=True).stdout)

    return median(once() for _ in range(7))


TIMED = "import time, numpy; t = time.perf_counter(); {}; print(time.perf_counter() - t)"


def main():
    """Print the seconds of each, and what it may take."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        sys.path.insert(0, name)
        small = module(folder, "typical_0", "", TYPICAL["heat equation, 15 lines"])
        printed("import tangentc, beyond NumPy", in_new_processes(TIMED.format("import tangentc"), folder), 0.12)
        first = "from typical_0 import f; import tangentc; tangentc.grad(f)(1.0, 2.0)"
        printed("that and the first gradient", in_new_processes(TIMED.format(first), folder), 0.2)
        seconds_to_compile(small)
        for k, (title, body) in enumerate(TYPICAL.items()):
            functions = [module(folder, f"typical_{k}_{again}", "", body) for again in range(7)]
            printed(title, median(map(seconds_to_compile, functions)), 0.1)
        for k, (title, may, before, body) in enumerate(programs()):
            printed(title, seconds_to_compile(module(folder, f"long_{k}", before, body)), may)


if __name__ == "__main__":
    main()
