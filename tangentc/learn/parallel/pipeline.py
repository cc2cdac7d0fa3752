"""Models in several processes: what is sent to another rank, and what comes from it, with their adjoints.

The adjoint of `send` receives, that of `receive` sends, so that the gradient of a loss on the last rank reaches the
parameters of the first one.  Small batches that are sent one after the other keep all ranks at work (Huang et al.,
GPipe, arXiv:1811.06965)::

    value = value + send(np.tanh(xs[k] @ model.w), comm=comm, to=1, tag=k)                        # on rank 0
    h = receive(like, model.v, comm=comm, source=0, tag=k)                                        # on rank 1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentc import adjoint_rule, operation
from tangentc.errors import BadArgument

BACK = 10_000  # is added to the tag of what goes back


def send(x: Any, comm: Any = None, to: int = 0, tag: int = 0) -> Any:
    """Send an array to another rank of a `Communicator`, and give 0.0, which has to be added to this rank's value.

    The ``tag``, below 10,000, is another one for each message of a call, and pairs it with its adjoint.
    """
    _put(x, comm, to, tag)
    return 0.0


def receive(like: Any, after: Any, comm: Any = None, source: int = 0, tag: int = 0) -> Any:
    """The array that another rank sends, of the shape and dtype of ``like``; raises `BadArgument` if another one comes.

    The derivative has to be taken by ``after``, any parameter: where its adjoint is computed, to which this adds zero,
    that of what was received is sent back.
    """
    return _got(like, comm, source, tag)


def receive_adjoint(x: Any, s_bar: Any, comm: Any = None, source: int = 0, tag: int = 0) -> Any:
    """The adjoint of what was sent."""
    return _got(x, comm, source, tag + BACK)


def send_adjoint(y_bar: Any, after: Any, comm: Any = None, to: int = 0, tag: int = 0) -> Any:
    """Send the adjoint of what was received back, and give zeros like ``after``."""
    _put(y_bar, comm, to, tag + BACK)
    return np.zeros_like(after)


@adjoint_rule(send)
def _send_rule(x, s, s_bar, comm=None, to=0, tag=0):
    return receive_adjoint(x, s_bar, comm=comm, source=to, tag=tag)


@adjoint_rule(receive)
def _receive_rule(like, after, y, y_bar, comm=None, source=0, tag=0):
    return np.zeros_like(like), send_adjoint(y_bar, after, comm=comm, to=source, tag=tag)


operation(receive, receive_adjoint, new=True, shaped=lambda like, _: like)
operation(send_adjoint, new=True, shaped=lambda y_bar, after: after)
operation(send, new=True, shaped=lambda x: ())


def _put(x: Any, comm: Any, to: int, tag: int) -> None:
    comm.leaving[:] = [(request, kept) for request, kept in comm.leaving if not request.Test()]
    x = np.array(x, order="C")
    comm.leaving.append((comm.comm.Isend(x, to, tag), x))


def _got(like: Any, comm: Any, source: int, tag: int) -> Any:
    status = comm.mpi.Status()
    comm.until(lambda: comm.comm.Iprobe(source, tag, status), f"what rank {source} sends with tag {tag % BACK}")
    x = np.empty(like.shape, like.dtype)
    if status.Get_count(comm.mpi.BYTE) != x.nbytes:
        raise BadArgument(
            f"rank {source} sends {status.Get_count(comm.mpi.BYTE)} bytes with tag {tag % BACK}",
            why=f"{x.dtype}{x.shape} is wanted, of {x.nbytes}", way_out="give as `like` an array like what is sent",
        )  # fmt: skip
    comm.comm.Recv(x, source, tag)
    return x
