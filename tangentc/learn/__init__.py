"""Learning: functions, layers, optimisers, data and training on plain arrays, whose derivatives are emitted text.

The functions are in `learn.functions`; all else is here by its name.
"""

import importlib
from typing import Any

_HOMES = {
    "tangentc.learn.layers": (
        "GRU", "LSTM", "RNN", "AveragePool", "BatchNorm", "Conv", "ConvTranspose", "Dropout", "Embedding", "GroupNorm",
        "InstanceNorm", "LayerNorm", "Linear", "MaxPool", "MultiHeadAttention", "RMSNorm", "Residual", "Sequential",
        "TransformerBlock", "flatten", "glorot_normal", "glorot_uniform", "he_normal", "he_uniform", "orthogonal",
        "truncated_normal",
    ),
    "tangentc.learn.modes": ("evaluating", "set_training", "summary"),
    "tangentc.learn.trained": ("State", "count", "gradients", "parameters", "states"),
    "tangentc.learn.optimisers": (
        "LAMB", "LBFGS", "SGD", "Adagrad", "Adam", "AdamW", "Adamax", "Lion", "Momentum", "NAdam", "Nesterov",
        "RMSProp",
    ),
    "tangentc.learn.data": ("Loader", "cached", "mapped", "read_csv", "split"),
    "tangentc.learn.serving": ("load", "save"),
    "tangentc.learn.train": ("EarlyStopping", "History", "Run", "fit"),
    "tangentc.learn.slope": ("value_and_grad",),
}  # fmt: skip
_MODULES = {name: home for home, names in _HOMES.items() for name in names}
_ROOMS = ("data", "functions", "layers", "optimisers", "parallel", "train")
__all__ = sorted([*_MODULES, *_ROOMS])


def __getattr__(name: str) -> Any:
    """What the room offers is imported when it is first asked for."""
    if name in _MODULES:
        value = getattr(importlib.import_module(_MODULES[name]), name)
    elif name in _ROOMS:
        value = importlib.import_module(f"tangentc.learn.{name}")
    else:
        raise AttributeError(f"module 'tangentc.learn' has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*__all__, "__all__", "__doc__", "__file__", "__name__"]
