"""The runs by which optimisers are compared with PyTorch's, and what PyTorch computes for them.

python tests/learn/optimiser_figures.py    writes optimisers.json anew; it needs torch
"""

import json
import sys
from pathlib import Path

import numpy as np

FILE = Path(__file__).with_name("optimisers.json")
STEPS = 50

# a name, our class and its settings, PyTorch's class and its settings
CASES = {
    "SGD": (("SGD", {"rate": 0.05}), ("SGD", {"lr": 0.05})),
    "SGD, decay": (("SGD", {"rate": 0.05, "decay": 0.1}), ("SGD", {"lr": 0.05, "weight_decay": 0.1})),
    "momentum": (("Momentum", {"rate": 0.02}), ("SGD", {"lr": 0.02, "momentum": 0.9})),
    "momentum, damping, decay": (
        ("Momentum", {"rate": 0.02, "momentum": 0.8, "damping": 0.3, "decay": 0.1}),
        ("SGD", {"lr": 0.02, "momentum": 0.8, "dampening": 0.3, "weight_decay": 0.1}),
    ),
    "Nesterov": (("Nesterov", {"rate": 0.02}), ("SGD", {"lr": 0.02, "momentum": 0.9, "nesterov": True})),
    "Nesterov, decay": (
        ("Nesterov", {"rate": 0.02, "decay": 0.1}),
        ("SGD", {"lr": 0.02, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1}),
    ),
    "Adagrad": (("Adagrad", {"rate": 0.1}), ("Adagrad", {"lr": 0.1})),
    "Adagrad, initial, decay": (
        ("Adagrad", {"rate": 0.1, "initial": 0.5, "decay": 0.1}),
        ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.5, "weight_decay": 0.1}),
    ),
    "RMSProp": (("RMSProp", {}), ("RMSprop", {})),
    "RMSProp, eps, decay": (
        ("RMSProp", {"beta": 0.9, "eps": 1e-2, "decay": 0.1}),
        ("RMSprop", {"alpha": 0.9, "eps": 1e-2, "weight_decay": 0.1}),
    ),
    "RMSProp, centred": (("RMSProp", {"centered": True}), ("RMSprop", {"centered": True})),
    "RMSProp, momentum": (("RMSProp", {"momentum": 0.5}), ("RMSprop", {"momentum": 0.5})),
    "RMSProp, centred, momentum, decay": (
        ("RMSProp", {"centered": True, "momentum": 0.5, "decay": 0.1}),
        ("RMSprop", {"centered": True, "momentum": 0.5, "weight_decay": 0.1}),
    ),
    "Adam": (("Adam", {"rate": 0.05}), ("Adam", {"lr": 0.05})),
    "Adam, betas, eps, decay": (
        ("Adam", {"rate": 0.05, "beta1": 0.8, "beta2": 0.95, "eps": 1e-3, "decay": 0.1}),
        ("Adam", {"lr": 0.05, "betas": (0.8, 0.95), "eps": 1e-3, "weight_decay": 0.1}),
    ),
    "AdamW": (("AdamW", {"rate": 0.05}), ("AdamW", {"lr": 0.05})),
    "AdamW, decay": (("AdamW", {"rate": 0.05, "decay": 0.3}), ("AdamW", {"lr": 0.05, "weight_decay": 0.3})),
    "Adamax": (("Adamax", {"rate": 0.05}), ("Adamax", {"lr": 0.05})),
    "Adamax, decay": (("Adamax", {"rate": 0.05, "decay": 0.1}), ("Adamax", {"lr": 0.05, "weight_decay": 0.1})),
    "NAdam": (("NAdam", {"rate": 0.05}), ("NAdam", {"lr": 0.05})),
    "NAdam, momentum, decay": (
        ("NAdam", {"rate": 0.05, "momentum_decay": 0.05, "decay": 0.1}),
        ("NAdam", {"lr": 0.05, "momentum_decay": 0.05, "weight_decay": 0.1}),
    ),
}
DEFAULTS = ["SGD", "Adagrad", "RMSProp", "Adam", "AdamW", "Adamax", "NAdam"]  # compared by their signatures
COMPLEX = ["momentum", "Adagrad, initial, decay", "RMSProp, centred", "Adam, betas, eps, decay", "Adamax", "NAdam"]

SCHEDULES = {  # a name, our class and its settings, PyTorch's schedulers one after the other, with their settings
    "step": (("Step", {"rate": 0.5, "every": 7, "factor": 0.3}), [("StepLR", {"step_size": 7, "gamma": 0.3})]),
    "steps": (
        ("Step", {"rate": 0.5, "at": (3, 20), "factor": 0.3}),
        [("MultiStepLR", {"milestones": [3, 20], "gamma": 0.3})],
    ),
    "cosine": (
        ("Cosine", {"rate": 0.5, "steps": STEPS - 1, "least": 0.01}),
        [("CosineAnnealingLR", {"T_max": STEPS - 1, "eta_min": 0.01})],
    ),
    "warm-up": (
        ("WarmUp", {"then": 0.5, "steps": 8, "start": 0.1}),
        [("LinearLR", {"start_factor": 0.1, "total_iters": 8})],
    ),
    "one cycle": (("OneCycle", {"peak": 0.5, "steps": STEPS}), [("OneCycleLR", {"max_lr": 0.5, "total_steps": STEPS})]),
    "one cycle, other": (
        ("OneCycle", {"peak": 0.5, "steps": STEPS, "rising": 0.1, "first": 5.0, "last": 10.0}),
        [
            (
                "OneCycleLR",
                {"max_lr": 0.5, "total_steps": STEPS, "pct_start": 0.1, "div_factor": 5.0, "final_div_factor": 10.0},
            )
        ],
    ),
    "warm-up, cosine": (
        ("WarmUp", {"then": ("Cosine", {"rate": 0.5, "steps": STEPS}), "steps": 8, "start": 0.1}),
        [("LinearLR", {"start_factor": 0.1, "total_iters": 8}), ("CosineAnnealingLR", {"T_max": STEPS})],
    ),
}
PLATEAU = {
    "plateau": ({"factor": 0.5, "patience": 2}, {"factor": 0.5, "patience": 2, "eps": 0}),
    "plateau, pause": (
        {"factor": 0.3, "patience": 1, "threshold": 0.05, "pause": 3, "least": 0.1},
        {"factor": 0.3, "patience": 1, "threshold": 0.05, "cooldown": 3, "min_lr": 0.1, "eps": 0},
    ),
}
LOSSES = [float(1 / (1 + k) + 0.05 * np.cos(3 * k)) for k in range(STEPS)]


def start(dtype=np.float64):
    real = {"weight": np.linspace(-1.0, 2.0, 12).reshape(4, 3), "bias": np.array([0.3, -0.7])}
    return {name: (a + 1j * a[::-1] if np.dtype(dtype).kind == "c" else a).astype(dtype) for name, a in real.items()}


def slope(parameters, step):
    """A gradient by PyTorch's convention, to a minimum that moves with the steps."""
    out = {}
    for name, p in parameters.items():
        wave = np.cos(0.7 * step + np.arange(p.size)).reshape(p.shape)
        out[name] = (
            p - 0.5 + 0.1 * p * abs(p) ** 2 + (0.4 + 0.2j) * wave if p.dtype.kind == "c" else p - 0.5 + 0.4 * wave
        )
    return out


def torch_run(name, dtype=np.float64):
    """The parameters after the first step and the last."""
    import torch

    torch.set_default_dtype(torch.float64)  # NAdam keeps a product in it
    _, (cls, settings) = CASES[name]
    tensors = {key: torch.nn.Parameter(torch.tensor(a)) for key, a in start(dtype).items()}
    optimiser = getattr(torch.optim, cls)(tensors.values(), **settings)
    seen = []
    for step in range(STEPS):
        now = slope({key: p.detach().numpy() for key, p in tensors.items()}, step)
        for key, p in tensors.items():
            p.grad = torch.tensor(now[key])
        optimiser.step()
        seen.append({key: p.detach().numpy().copy() for key, p in tensors.items()})
    return seen[0], seen[-1]


def torch_rates(name):
    import torch

    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=0.5)
    _, schedulers = SCHEDULES[name]
    made = [getattr(torch.optim.lr_scheduler, cls)(optimiser, **settings) for cls, settings in schedulers]
    if len(made) == 2:
        made = [torch.optim.lr_scheduler.SequentialLR(optimiser, made, [SCHEDULES[name][0][1]["steps"]])]
    rates = []
    for _ in range(STEPS):
        rates.append(optimiser.param_groups[0]["lr"])
        optimiser.step()
        made[0].step()
    return rates


def torch_plateau(name):
    import torch

    optimiser = torch.optim.SGD([torch.nn.Parameter(torch.zeros(1))], lr=1.0)
    scheduler = torch.optim.lr_scheduler.ReduceLROnPlateau(optimiser, **PLATEAU[name][1])
    rates = []
    for loss in LOSSES:
        scheduler.step(loss)
        rates.append(optimiser.param_groups[0]["lr"])
    return rates


def banana(p):
    return np.sum(100 * (p["x"][1:] - p["x"][:-1] ** 2) ** 2 + (1 - p["x"][:-1]) ** 2)


def torch_lbfgs():
    """Where PyTorch's L-BFGS finds Rosenbrock's valley to end."""
    import torch

    torch.set_default_dtype(torch.float64)
    x = torch.nn.Parameter(torch.zeros(4))
    optimiser = torch.optim.LBFGS(
        [x], max_iter=500, tolerance_grad=1e-12, tolerance_change=1e-16, line_search_fn="strong_wolfe"
    )

    def closure():
        optimiser.zero_grad()
        value = torch.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)
        value.backward()
        return value

    optimiser.step(closure)
    return x.detach().numpy()


def listed(parameters):
    return {key: np.ascontiguousarray(a).view(np.float64).ravel().tolist() for key, a in parameters.items()}


def main():
    import torch

    found = {
        "torch": torch.__version__.split("+")[0],
        "runs": {name: [listed(p) for p in torch_run(name)] for name in CASES},
        "complex": {name: [listed(p) for p in torch_run(name, np.complex128)] for name in COMPLEX},
        "rates": {name: torch_rates(name) for name in SCHEDULES},
        "plateau": {name: torch_plateau(name) for name in PLATEAU},
        "lbfgs": torch_lbfgs().tolist(),
    }
    FILE.write_text(json.dumps(found) + "\n")


if __name__ == "__main__":
    sys.exit(main())
