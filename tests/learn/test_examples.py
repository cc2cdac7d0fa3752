"""The examples of learning run, and reach what they say."""

import runpy
import sys
from pathlib import Path

import numpy as np
import pytest

EXAMPLES = Path(__file__).parents[2] / "examples" / "learning"


def run(name, monkeypatch):
    monkeypatch.setattr(sys, "argv", [name])
    return runpy.run_path(str(EXAMPLES / f"{name}.py"), run_name="__main__")


def test_the_classes_of_the_lecture_learn_and_are_saved(monkeypatch, capsys):
    run("lecture", monkeypatch)
    told = capsys.readouterr().out
    assert "def loss_value_and_grad(model, x, y, out_bar=1.0):" in told and "the same bits: True" in told


def test_the_network_for_digits_reaches_99_percent(monkeypatch, capsys):
    pytest.importorskip("sklearn")
    run("cnn", monkeypatch)
    share = capsys.readouterr().out.rpartition("%")[0].split("\n")[-1]
    assert float(share) >= 99


def test_the_network_for_digits_has_a_readable_gradient():
    pytest.importorskip("sklearn")
    from tangentc import learn

    parts = runpy.run_path(str(EXAMPLES / "cnn.py"))
    rng = np.random.default_rng(0)
    (images, labels), _ = parts["digits"](rng)
    text = learn.value_and_grad(parts["loss"]).source_for(parts["network"](rng), images[:8], labels[:8])
    assert "conv_weight(" in text and "standardise_adjoint(" in text and "put_back(" in text
    inside = text[text.index("def dropout_adjoint") :].split("\ndef ")[0]  # of a mask whose shape only the run knows
    assert "unbroadcast(" not in text.replace(inside, "")
