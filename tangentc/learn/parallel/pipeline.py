"""Models in several processes: what is sent to another rank, and what comes from it, with their adjoints.

The adjoint of `send` receives, that of `receive` sends.  So the gradient of a loss on the last rank reaches the
parameters of the first one, and several small batches sent one after the other keep all ranks at work (Huang et al.,
GPipe, arXiv:1811.06965)::

    def front(model, xs):                                # rank 0
        value = 0.0
        for k in range(len(xs)):
            value = value + send(np.tanh(xs[k] @ model.w), comm=comm, to=1, tag=k)
        return value

    def back(model, like, ys):                           # rank 1
        value = 0.0
        for k in range(len(ys)):
            h = receive(like, model.v, comm=comm, source=0, tag=k)
            value = value + np.mean((h @ model.v - ys[k]) ** 2) / len(ys)
        return value
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tangentc import adjoint_rule, operation
from tangentc.errors import BadArgument

BACK = 10_000  # is added to the tag of what goes back


def send(x: Any, comm: Any = None, to: int = 0, tag: int = 0) -> Any:
    """Send an array to another rank, and give 0.0, which has to be added to this rank's value.

    ``comm`` is a `Communicator`; ``tag``, below 10,000, tells messages apart and pairs them with their adjoints.
    """
    _put(x, comm, to, tag)
    return 0.0


def receive(like: Any, after: Any, comm: Any = None, source: int = 0, tag: int = 0) -> Any:
    """The array that another rank sends, of the shape and dtype of ``like``.

    ``after`` is an array by which the derivative is taken, any parameter: the adjoint is sent back where that of
    ``after`` is computed, to which it adds zero.  Raises `BadArgument` if another shape or dtype comes.
    """
    return _got(like, comm, source, tag)


def receive_adjoint(x: Any, s_bar: Any, comm: Any = None, source: int = 0, tag: int = 0) -> Any:
    """The adjoint of what was sent, from the rank that has it."""
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


def _first(like: Any, *others: Any) -> Any:
    return like


operation(receive, receive_adjoint, new=True, shaped=_first)
operation(send_adjoint, new=True, shaped=lambda y_bar, after: after)
operation(send, new=True, shaped=lambda x: ())


def _put(x: Any, comm: Any, to: int, tag: int) -> None:
    held = comm.__dict__.setdefault("on_their_way", [])  # buffers stay until they have been read
    held[:] = [pair for pair in held if not pair[0].Test()]
    x = np.array(x, order="C")
    held.append((comm.comm.Isend(x, to, tag), x))


def _got(like: Any, comm: Any, source: int, tag: int) -> Any:
    status = comm.mpi.Status()
    comm.until(lambda: comm.comm.Iprobe(source, tag, status), f"what rank {source} sends under tag {tag % BACK}")
    x = np.empty(like.shape, like.dtype)
    if status.Get_count(comm.mpi.BYTE) != x.nbytes:
        raise BadArgument(
            f"rank {source} sends {status.Get_count(comm.mpi.BYTE)} bytes under tag {tag % BACK}",
            why=f"an array of {x.dtype}{x.shape} has {x.nbytes}", way_out="give as `like` what is sent",
        )  # fmt: skip
    comm.comm.Recv(x, source, tag)
    return x
