"""The gallery: each program gives what it says, its page is what it would be now, and nothing is slow."""

import sys
import time
from pathlib import Path

import numpy as np
import pytest

import tangentc

DOCS = Path(__file__).resolve().parent.parent / "docs"
sys.path.insert(0, str(DOCS))
import make_gallery  # noqa: E402

FACTS = {
    "curve": lambda f, m: np.max(np.abs(f["p"] - m.TRUE)) < 0.06 and np.max(np.abs(f["slope"])) < 1e-9,
    "logistic": lambda f, m: f["slopes"][-1] < 1e-10 and f["right"] > 0.9,
    "mixture": lambda f, m: (
        np.max(np.abs(f["means"] - m.CENTRES)) < 0.15
        and np.max(np.abs(f["widths"] - m.WIDTHS)) < 0.06
        and np.isclose(f["weights"].sum(), 1)
    ),
    "spirals": lambda f, m: f["losses"][-1] < 0.05 and f["right"] > 0.98,
    "heat": lambda f, m: np.linalg.norm(f["found"] - f["true"]) < 0.4 * np.linalg.norm(f["seen"] - f["true"]),
    "neural_ode": lambda f, m: np.sqrt(np.mean((f["found"] - f["seen"]) ** 2)) < 0.02,
    "pendulum": lambda f, m: (
        abs(f["angles"][-1] - np.pi) < 0.05 and abs(f["speed"]) < 0.05 and np.max(np.abs(f["torque"])) <= m.MOST
    ),
    "journey": lambda f, m: (
        np.linalg.norm(f["tries"][-1][-1] - m.ARRIVAL) < 1e-11 and np.max(np.abs(f["slope"])) < 1e-10
    ),
    "kalman": lambda f, m: np.max(np.abs(f["noise"] - m.TRUE)) < 0.05,
    "image": lambda f, m: np.mean((f["found"] - f["true"]) ** 2) < 0.1 * np.mean((f["noisy"] - f["true"]) ** 2),
    "arm": lambda f, m: all(np.linalg.norm(p[-1] - t) < 0.01 for p, t in zip(f["poses"], m.TARGETS)),
    "chain": lambda f, m: f["apart"] < 0.01,
}


def test_there_are_twelve():
    programs = {path.stem for path in make_gallery.PROGRAMS.glob("*.py")}
    assert set(make_gallery.NAMES) == set(FACTS) == programs and len(FACTS) == 12


@pytest.mark.parametrize("name", make_gallery.NAMES)
def test_a_program_and_its_page(name, monkeypatch):
    module = make_gallery.program(name)
    began = time.perf_counter()
    found = module.solve()
    assert time.perf_counter() - began < 30  # some two seconds at most where nothing else runs
    assert FACTS[name](found, module)
    monkeypatch.setattr(module, "solve", lambda: found)
    assert (make_gallery.PAGES / f"{name}.md").read_text() == make_gallery.page(name)


def test_the_index_is_up_to_date():
    assert (make_gallery.PAGES / "index.md").read_text() == make_gallery.index()


@pytest.mark.parametrize("name", make_gallery.NAMES)
def test_a_picture_is_small(name):
    text = (make_gallery.PICTURES / f"{name}.svg").read_text()
    assert len(text) < 100_000 and "<svg" in text and 'href="http' not in text


def test_gradients_of_the_gallery_are_right():
    curve, heat = make_gallery.program("curve"), make_gallery.program("heat")
    t = np.linspace(0.0, 6.0, 7)
    tangentc.check_grads(curve.residuals, (curve.TRUE, t, np.zeros(7)), order=1, quiet=True, wrt="p")
    u = np.sin(np.arange(9.0))
    tangentc.check_grads(heat.misfit, (u, np.zeros(9), 5), order=1, quiet=True, wrt="u")
    assert "append" not in tangentc.adjoint(heat.spread).source_for(u, 5, u)  # a linear loop saves nothing
