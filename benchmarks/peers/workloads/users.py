"""The eight programs of users in tests/more_targets.py, at the size that they have there."""

import sys
from pathlib import Path

from ..workload import Workload

sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "tests"))

import more_targets


def workload(name):
    wrt = more_targets.WRT[name]
    args = getattr(more_targets, f"args_{name}")
    by_hand = getattr(more_targets, f"{name}_by_hand")
    return Workload(name, getattr(more_targets, name), by_hand, wrt if isinstance(wrt, tuple) else (wrt,), args, args)


WORKLOADS = [workload(name) for name in more_targets.WRT]
