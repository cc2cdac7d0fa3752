"""Data for training: sources of samples, and loaders of batches that can be shuffled, shared out and resumed."""

from tangentc.learn.data.caching import cached
from tangentc.learn.data.failures import BadSample, WorkerDied
from tangentc.learn.data.files import mapped, read_csv
from tangentc.learn.data.loader import Loader
from tangentc.learn.data.sources import split

__all__ = ["BadSample", "Loader", "WorkerDied", "cached", "mapped", "read_csv", "split"]
