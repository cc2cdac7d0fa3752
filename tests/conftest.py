"""What all tests share."""

import gc
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))


def pytest_addoption(parser):
    parser.addoption("--rewrite-golden", action="store_true", help="write tests/golden anew from what is emitted")


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture
def compilations(monkeypatch):
    """The types that something is compiled for while a test runs."""
    from tangentc.derivative import Derivative

    found, compile_ = [], Derivative._compile

    def noted(self, types, *args, **keywords):
        found.append(types)
        return compile_(self, types, *args, **keywords)

    monkeypatch.setattr(Derivative, "_compile", noted)
    return found


def pytest_configure():
    gc.set_threshold(50_000, 20, 50)  # a tenth of the time is looking through trees that are all still in use


def pytest_collection_modifyitems(items):
    """The tests of one function run one after the other, since what its derivatives share is compiled once then."""
    first = {}
    place = {item: first.setdefault(_function_of(item), k) for k, item in enumerate(items)}
    items.sort(key=place.__getitem__)
    for item in items:
        if "gpu" in item.keywords and not _has_device():
            item.add_marker(pytest.mark.skip(reason="there is no CUDA device"))


def _function_of(item):
    given = getattr(item, "callspec", None)
    return id(given.params["function"]) if given is not None and "function" in given.params else item


def _has_device():
    try:
        import cupy

        return cupy.cuda.runtime.getDeviceCount() > 0
    except Exception:
        return False


def pytest_collection_finish():
    """What is there before the tests run is not looked through each time that memory is collected."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(100_000, 20, 100)
