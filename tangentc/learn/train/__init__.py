"""Training: the loop, its checkpoints, its logs and its record."""

from tangentc.learn.train.history import History
from tangentc.learn.train.loop import EarlyStopping, Run, fit

__all__ = ["EarlyStopping", "History", "Run", "fit"]
