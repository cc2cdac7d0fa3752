"""An estimator of scikit-learn whose fit goes along a gradient that tangentc has written.

Multinomial logistic regression: the loss is a plain function, and its gradient with respect to the weights goes to
SciPy's L-BFGS.  The estimator stands in a pipeline and in a grid search with two processes, as scikit-learn's own do.
This program prints what the search has found, and exits with an error if it classifies badly.
"""

import sys

import numpy as np
from scipy.optimize import minimize
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.datasets import load_digits
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

import tangentc


def loss(w, X, target, penalty):
    """The mean negative log-likelihood; ``w`` has a column for each class, the last row of it is the intercept."""
    z = X @ w[:-1] + w[-1]
    largest = np.max(z, axis=1, keepdims=True)
    log_sum = np.log(np.sum(np.exp(z - largest), axis=1)) + largest[:, 0]
    return np.mean(log_sum - np.sum(z * target, axis=1)) + penalty * np.sum(w[:-1] ** 2) / (2 * len(X))


slope = tangentc.value_and_grad(loss)


class Logistic(ClassifierMixin, BaseEstimator):
    """Multinomial logistic regression with weights that are kept small by ``penalty``."""

    def __init__(self, penalty=1.0, steps=200):
        self.penalty = penalty
        self.steps = steps

    def fit(self, X, y):
        X, y = validate_data(self, X, y, dtype=float)
        check_classification_targets(y)
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError(f"Logistic needs two classes, and there is one class: {self.classes_[0]}")
        shape, target = (X.shape[1] + 1, len(self.classes_)), np.eye(len(self.classes_))[number]

        def flat(w):
            value, gradient = slope(w.reshape(shape), X, target, self.penalty)
            return value, gradient.ravel()

        found = minimize(flat, np.zeros(shape).ravel(), jac=True, method="L-BFGS-B", options={"maxiter": self.steps})
        self.weights_, self.n_iter_ = found.x.reshape(shape), found.nit
        return self

    def predict(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, reset=False, dtype=float)
        return self.classes_[np.argmax(X @ self.weights_[:-1] + self.weights_[-1], axis=1)]


def main():
    X, y = load_digits(return_X_y=True)
    X, X_test, y, y_test = train_test_split(X, y, random_state=0)
    model = make_pipeline(StandardScaler(), Logistic(steps=50))
    search = GridSearchCV(model, {"logistic__penalty": [0.1, 1.0, 10.0]}, cv=3, n_jobs=2).fit(X, y)
    score = search.score(X_test, y_test)
    print(f"{search.best_params_}: {score:.1%} of the digits that were kept back are right")
    if score < 0.93:
        sys.exit("that is too few")


if __name__ == "__main__":
    main()
