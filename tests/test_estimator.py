"""The example of an estimator: scikit-learn's own checks take it, and it searches, pipes and clones as others do."""

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import tangentc

pytest.importorskip("sklearn", minversion="1.6")
EXAMPLES = Path(__file__).parents[1] / "examples"
sys.path.insert(0, str(EXAMPLES))

from estimator import Logistic, loss  # noqa: E402
from sklearn.base import clone  # noqa: E402
from sklearn.datasets import load_iris  # noqa: E402
from sklearn.linear_model import LogisticRegression  # noqa: E402
from sklearn.model_selection import GridSearchCV  # noqa: E402
from sklearn.pipeline import make_pipeline  # noqa: E402
from sklearn.preprocessing import StandardScaler  # noqa: E402
from sklearn.utils.estimator_checks import check_estimator  # noqa: E402


@pytest.mark.filterwarnings("ignore")
def test_it_passes_the_checks_of_scikit_learn():
    results = check_estimator(Logistic(), on_skip=None, on_fail=None)
    assert [(r["check_name"], r["exception"]) for r in results if r["status"] not in ("passed", "skipped")] == []
    assert sum(r["status"] == "passed" for r in results) > 40


def test_it_finds_what_scikit_learn_finds():
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    own, other = Logistic(penalty=1.0, steps=500).fit(X, y), LogisticRegression(C=1.0, tol=1e-8).fit(X, y)
    assert np.allclose(own.weights_[:-1], other.coef_.T, atol=2e-3)
    assert np.array_equal(own.predict(X), other.predict(X))


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_it_searches_in_a_pipeline(n_jobs):
    X, y = load_iris(return_X_y=True)
    model = make_pipeline(StandardScaler(), Logistic())
    search = GridSearchCV(model, {"logistic__penalty": [0.1, 100.0]}, cv=3, n_jobs=n_jobs, error_score="raise").fit(
        X, y
    )
    assert search.best_params_ == {"logistic__penalty": 0.1} and search.best_score_ > 0.9
    again = clone(search.best_estimator_)
    assert not hasattr(again[-1], "weights_") and again.fit(X, y).score(X, y) > 0.95


def test_its_gradient_is_right():
    rng = np.random.default_rng(0)
    target = np.eye(3)[rng.integers(0, 3, 5)]
    tangentc.check_grads(loss, (rng.normal(size=(3, 3)), rng.normal(size=(5, 2)), target, 0.7), wrt="w", quiet=True)


def test_it_runs_as_a_program():
    environment = {**os.environ, "PYTHONPATH": str(EXAMPLES.parent)}
    command = [sys.executable, str(EXAMPLES / "estimator.py")]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)
    assert done.returncode == 0 and "of the digits that were kept back are right" in done.stdout, done.stderr
