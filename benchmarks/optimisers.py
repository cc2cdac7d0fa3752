"""What an optimiser's step costs on ResNet-18's 11.2 million float32 parameters, beside PyTorch's, on one thread.

python benchmarks/optimisers.py
"""

import statistics
import time
from types import SimpleNamespace

import numpy as np

import tangentc
from tangentc.learn import optimisers
from tangentc.learn.trained import parameters

ROUNDS = 25


def resnet18(rng):
    """Its 62 parameters, in layers in blocks in a list, as a model has them."""

    def array(*shape):
        return rng.standard_normal(shape, np.float32)

    def conv(m, n, k):
        return SimpleNamespace(weight=array(n, m, k, k), stride=1, padding="same")

    def norm(n):
        return SimpleNamespace(weight=array(n), bias=array(n), eps=1e-5)

    model, m = SimpleNamespace(stem=conv(3, 64, 3), norm=norm(64), blocks=[]), 64
    for n in (64, 128, 256, 512):
        for k in range(2):
            block = SimpleNamespace(
                conv1=conv(m, n, 3), norm1=norm(n), conv2=conv(n, n, 3), norm2=norm(n), short=None, short_norm=None
            )
            if k == 0 and m != n:
                block.short, block.short_norm = conv(m, n, 1), norm(n)
            model.blocks.append(block)
            m = n
    model.head = SimpleNamespace(weight=array(10, 512), bias=array(10))
    return model


def loss(model):
    """Some loss of all parameters, for a gradient in the form that `grad` gives it."""
    total = np.sum(model.stem.weight**2) + np.sum(model.norm.weight * model.norm.bias)
    total += np.sum(model.head.weight**2) + np.sum(model.head.bias**2)
    for block in model.blocks:
        total += np.sum(block.conv1.weight**2) + np.sum(block.norm1.weight * block.norm1.bias)
        total += np.sum(block.conv2.weight**2) + np.sum(block.norm2.weight * block.norm2.bias)
        if block.short is not None:
            total += np.sum(block.short.weight**2) + np.sum(block.short_norm.weight * block.short_norm.bias)
    return total


CASES = {  # a name, ours, and PyTorch's with its settings
    "Adam": (optimisers.Adam(1e-6), "Adam", {}),
    "AdamW": (optimisers.AdamW(1e-6, decay=0.01), "AdamW", {"weight_decay": 0.01}),
    "SGD": (optimisers.SGD(1e-6), "SGD", {}),
    "momentum": (optimisers.Momentum(1e-6), "SGD", {"momentum": 0.9}),
}


def ours(optimiser, kernels):
    model = resnet18(np.random.default_rng(0))
    gradient = tangentc.grad(loss)(model)
    optimiser = type(optimiser)(**{**vars(optimiser), "kernels": kernels})
    state = optimiser.init(model)
    return lambda: optimiser.update(model, gradient, state)


def theirs(torch, name, options, form):
    given = parameters(resnet18(np.random.default_rng(0))).values()
    tensors = [torch.nn.Parameter(torch.from_numpy(a)) for a in given]
    for p in tensors:
        p.grad = torch.randn(p.shape)
    return getattr(torch.optim, name)(tensors, lr=1e-6, **options, **{form: True}).step


def measured(steps):
    """The milliseconds of each in every round, all in turns."""
    taken = {name: [] for name in steps}
    for round_ in range(ROUNDS + 3):
        for name, step in steps.items():
            start = time.perf_counter()
            step()
            if round_ >= 3:
                taken[name].append(1e3 * (time.perf_counter() - start))
    return taken


def ratio(ours, theirs):
    """The median of what the rounds give: what slows a while down slows both."""
    return statistics.median(a / b for a, b in zip(ours, theirs))


def optional(name):
    try:
        return __import__(name)
    except ImportError:
        print(f"{name} is not installed: what needs it is left out")
        return None


def main():
    torch, numba = optional("torch"), optional("numba")
    if torch:
        torch.set_num_threads(1)
    model = resnet18(np.random.default_rng(0))
    walk = statistics.median(measured({"walk": lambda: parameters(model)})["walk"])
    print(f"ResNet-18: {sum(p.size for p in parameters(model).values()):,} parameters; to find them: {walk:.2f} ms")
    print("median of a step in ms; ratio to PyTorch's quickest")
    for case, (optimiser, name, options) in CASES.items():
        steps = {"NumPy": ours(optimiser, None)}
        if numba:
            steps["Numba"] = ours(optimiser, "numba")
        if torch:
            steps |= {form: theirs(torch, name, options, form) for form in ("foreach", "fused")}
        taken = measured(steps)
        times = {kind: statistics.median(ms) for kind, ms in taken.items()}
        row = "  ".join(f"{kind} {ms:5.1f}" for kind, ms in times.items())
        if torch:
            quickest = taken[min(("foreach", "fused"), key=times.__getitem__)]
            row += "  ratio " + ", ".join(f"{k} {ratio(taken[k], quickest):.2f}" for k in times if k[0] == "N")
        print(f"{case:9} {row}")


if __name__ == "__main__":
    main()
