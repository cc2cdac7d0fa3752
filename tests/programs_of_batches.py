"""Programs made at random, of numbers, vectors and matrices: branches, loops, stores, subscripts, lists."""

import numpy as np

N = 4
EXPRESSIONS = {
    "v": [
        "{v} + {n} * {v}", "np.tanh({v})", "{M} @ {v}", "{v} @ {M}", "{M}[{i}]", "{M}[:, {i}]", "{v}[::-1]",
        "np.cumsum({v})", "np.sort({v})", "{M}.sum(axis=0)", "{M}.max(axis=1)", "np.concatenate([{v}[:2], {v}[2:]])",
        "np.array([{n}, {n}, 1.0, {n}])", "np.where({v} > 0, {v}, {n})", "{v} - {v}.mean()", "np.diag({M})",
        "{v}[[{i}, 1, {i}, 0]]", "np.full(4, {n})", "np.zeros(4) + {n}", "np.roll({v}, 1)", "np.linalg.solve({M}, {v})",
        "np.clip({v}, -1, {n} + 2)", "{M}[{i}, :]", "{M}[[0, 1, 2, 3], [{i}, 0, {i}, 1]]", "np.maximum({v}, {v})",
        "np.stack([{v}, {v}]).sum(axis=0)", "{M}.reshape(-1)[:4]", "np.interp({v}, np.arange(4.0), {v})", "abs({v})",
        "np.einsum('ij,j->i', {M}, {v})", "np.hstack([{v}[:1], {v}[1:]])", "np.diff(np.append({v}, {n}))",
    ],
    "n": [
        "{v} @ {v}", "np.sum({v})", "np.max({v})", "{v}[{i}]", "{M}[{i}, 1]", "{M}[2, {i}]", "{n} * {n} - 0.5",
        "np.sin({n})", "float({n}) + 0.5", "{n} if {n} > {n} else -{n}", "np.trace({M})", "np.linalg.norm({v})",
        "np.mean({M})", "len({v}) * {n}", "{v}.var()", "max({n}, {n})", "np.dot({v}, {v})", "{v}[{i}:].sum()",
        "{v}[{v} > {n}].sum()", "np.prod({v})", "{M}.shape[1] + {n}", "helper({n}, {v})", "math.tanh({n})",
    ],
    "M": [
        "np.outer({v}, {v})", "{M}.T", "{M} @ {M}", "{M} + {v}", "{n} * {M}", "{M} + np.eye(4)", "{M} - {M}[{i}]",
        "np.stack([{v}, {v}, {v}, {v}])", "np.array([{v}, {v}, {v}, {v}]).T", "np.broadcast_to({v}, (4, 4))",
        "np.tile({v}, (4, 1))", "{v}[:, None] * {v}", "np.tril({M})", "np.reshape(np.ravel({M}), (4, 4))", "np.flip({M})",
    ],
}  # fmt: skip
STATEMENTS = [
    "{v0} = {v0} * 1.0\n{v0}[{i}] = {n}",
    "{v0} = {v0}.copy()\n{v0}[1:] += {v}[:-1]",
    "{M0} = {M0}.copy()\n{M0}[{i}] = {v}",
    "{M0} = {M0} + 0.0\n{M0}[:, {i}] *= {n}",
    "{M0} = np.zeros((4, 4))\n{M0}[1, 2] = {n}\n{M0}[{i}, 0] += 1.0",
    "{v0} = {v0} * 1.0\nnp.add.at({v0}, [{i}, 0, {i}], {n})",
    "{v0} = {v0} * 2.0\n{v0}[{v0} > 1.0] = 1.0",
    "{v0} = {v0} * 2.0\nwindow = {v0}[1:3]\nwindow[0] = {n}\nwindow *= {n}",
    "if {n} > 0:\n    {v0} = {v}\nelse:\n    {v0} = -{v}",
    "if {n} > 0.3:\n    {n0} = np.log({n} ** 2 + 1.5)\n    {v0} = {v0} * 2.0",
    "{v0} = {v0} * 1.0\nif {n} > 0:\n    {v0}[{i}] = np.sqrt(abs({n}))\nelif {n} < -1:\n    {v0}[0] = {n}",
    "for k in range(3):\n    {v0} = 0.5 * {v0} + {M}[k]\n    {n0} = {n0} + {v}[k]",
    "for k in range(4):\n    if {v}[k] > {n}:\n        break\n    {n0} = {n0} + {v}[k]",
    "kept = []\nfor k in range(3):\n    kept.append({v} * k)\n{v0} = kept[1] + kept[-1]",
    "kept = [{n}, 2.0]\nfor row in {M}:\n    kept.append(row[{i}])\n{n0} = sum(kept)",
    "{n0} = abs({n0})\nwhile {n0} > 1.0:\n    {n0} = {n0} / 2.5",
    "{v0} = {v0} / (1.0 + {v0} @ {v0})\nwhile {v0} @ {v0} > 0.1:\n    {v0} = {v0} * 0.6\n    {n0} = {n0} + 0.5",
    "pair = ({n}, {v})\nfor k in range(2):\n    pair = (pair[0] * 0.5, pair[1] + pair[0])\n{n0}, {v0} = pair",
    "held = {{'a': {v}, 'b': 2.0}}\nheld['b'] = held['b'] * {n}\n{v0} = held['a'] * held['b']",
    "total = 0.0\nfor x_ in {v}:\n    total += x_ * x_\n{n0} = total",
    "total = 0.0\nfor k in range(3):\n    total = total + {M}[k]\n{v0} = total",
]  # fmt: skip


def program(seed):
    """The text of a function of ``(x, A, s, i)``, which are a vector, a matrix, a number and an integer."""
    rng = np.random.default_rng(seed)
    pool = {"v": ["x"], "n": ["s"], "M": ["A"], "i": ["i", "2"]}
    lines = []

    def filled(template):
        out = template
        for kind in ("v", "n", "M", "i"):
            while f"{{{kind}}}" in out:
                out = out.replace(f"{{{kind}}}", str(rng.choice(pool[kind])), 1)
            out = out.replace(f"{{{kind}0}}", str(pool[kind][-1]))
        return out.replace("{{", "{").replace("}}", "}")

    for k in range(rng.integers(3, 8)):
        if rng.random() < 0.55:
            kind = str(rng.choice(["v", "n", "M"], p=[0.5, 0.3, 0.2]))
            lines.append(f"{kind}{k} = {filled(rng.choice(EXPRESSIONS[kind]))}")
            pool[kind].append(f"{kind}{k}")
        else:
            lines += filled(rng.choice(STATEMENTS)).split("\n")
    result = ", ".join(pool[kind][-1] for kind in ("v", "n", "M"))
    head = ["import math", "import numpy as np", "def helper(a, b):", "    return np.sum(b) * a + a", ""]
    return "\n".join([*head, "def f(x, A, s, i):", *(f"    {line}" for line in lines), f"    return {result}"]) + "\n"
