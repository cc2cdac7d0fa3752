"""Training by several processes: the mean of gradients over MPI or NCCL, models in two processes, and a launcher.

Each process, a rank, has the whole model and a part of each batch.  The emitted gradient calls ``all_reduce`` on the
line where the gradient of a parameter is final, so that it travels while those of earlier layers are computed::

    x_bar, weight_bar, bias_bar = linear_adjoint(linear_x_saved, y_bar)
    weight_bar = all_reduce(weight_bar, "model.layers.2.weight")

``learn.fit(..., parallel=Communicator())`` does all of it; ``python -m tangentc.learn.parallel -n 2 script.py`` starts
the ranks, one BLAS thread each.  ``pip install "tangentc[mpi]"`` brings what MPI needs.
"""

import importlib
from typing import Any

_HOMES = {"Communicator": "communicator", "Lost": "communicator", "NcclCommunicator": "nccl"}
_HOMES |= {"receive": "pipeline", "send": "pipeline"}
__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f"{__name__}.{_HOMES[name]}"), name)
