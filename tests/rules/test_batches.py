"""Every rule of the registry, for a batch: what `vmap` gives is what the loop over the examples gives."""

import numpy as np
import pytest
import scipy.fft
import scipy.integrate
import scipy.interpolate
import scipy.linalg
import scipy.ndimage
import scipy.optimize
import scipy.signal
import scipy.sparse
import scipy.spatial
import scipy.special
import scipy.stats
from batches import assert_same, loop, stacked

import tangentc
from rules import calls
from tangentc.rules.registry import REGISTRY
from tangentc.testing import _moves, as_function, samples

tangentc.grad  # which loads the rules
REGISTRY.find(np.sin)
RULES = [r for rules in REGISTRY.families().values() for r in rules if r.kind != "zero" and r.source[:9] == "tangentc."]
FEW = 2  # samples of a rule
EACH_OF = 19  # one of so many calls that are listed is tried
OPEN = {"[2 * row[0] for row in A.tolist()]"}  # a list, of which nothing says how long it is


def moved(a, k):
    """An argument of another example."""
    if isinstance(a, (tuple, list)):
        return type(a)(moved(x, k) for x in a)
    return (
        a * (1 + 0.01 * k) if isinstance(a, (float, complex)) or getattr(a, "dtype", np.dtype(int)).kind in "fc" else a
    )


def batch(values):
    first = values[0]
    if isinstance(first, (tuple, list)):
        return type(first)(batch([v[k] for v in values]) for k in range(len(first)))
    is_number = isinstance(first, (float, int, complex, np.generic, np.ndarray)) and not isinstance(first, bool)
    return np.stack([np.asarray(v) for v in values]) if is_number else first


def cases(args):
    """All arguments batched, and each one alone."""
    yield (0,) * len(args)
    if len(args) > 1:
        yield from (tuple(0 if k == j else None for k in range(len(args))) for j in range(len(args)))


def tried(f, given):
    """Compare with the loop; gives how often that could be done."""
    count = 0
    for axes in cases(given):
        examples = [tuple(moved(a, k) if x == 0 else a for a, x in zip(given, axes)) for k in range(3)]
        args = tuple(batch([e[j] for e in examples]) if x == 0 else a for j, (a, x) in enumerate(zip(given, axes)))
        try:
            want = stacked([f(*e) for e in examples])
        except Exception:  # another example is outside of the function's domain
            continue
        assert_same(tangentc.vmap(f, axes)(*args), want)
        count += 1
    return count


@pytest.mark.parametrize(
    "family", sorted({r.source for r in RULES if r.samples is not None or r.kind == "elementwise"})
)
@pytest.mark.filterwarnings("ignore")
def test_rules_of_a_family(family):
    count = 0
    for rule in (r for r in RULES if r.source == family):
        for args, options in list(samples(rule, 0))[:FEW]:
            f = as_function(rule.function, len(args), options, list(args))
            count += tried(f, tuple(a for a in args if _moves(a)))
    assert count or family.endswith("interpolate")  # whose rule is given what no other example has


CALLS = [(f, e) for f, e in calls.expressions() if e not in OPEN][::EACH_OF]


@pytest.mark.parametrize("expression", [e for _, e in CALLS], ids=[f"{f}-{e}" for f, e in CALLS])
@pytest.mark.filterwarnings("ignore")
def test_calls(expression):
    tried(*calls.as_program(expression))


def test_most_rules_need_no_loop():
    """Elementwise functions, reductions, products and those that work on the last axes are written for the batch."""
    x = np.random.default_rng(0).uniform(0.2, 0.8, (5, 4, 4))
    functions = [
        lambda x: np.sum(x), lambda x: np.max(x, axis=0), lambda x: np.linalg.inv(x), lambda x: np.cumsum(x, axis=0),
        lambda x: np.sort(x), lambda x: np.linalg.eigh(x + x.T)[0], lambda x: x @ x[0], lambda x: np.trace(x),
        lambda x: np.fft.fft(x).real, lambda x: np.median(x, axis=1), lambda x: np.linalg.norm(x, axis=0),
        lambda x: np.linalg.solve(x + np.eye(4), x[0]), lambda x: scipy.special.logsumexp(x, axis=0),
        lambda x: np.tensordot(x, x), lambda x: np.kron(x[0], 1.0), lambda x: np.percentile(x, 30.0),
    ]  # fmt: skip
    for f in functions[:-2]:
        assert_same(tangentc.vmap(f)(x), loop(f, (x,)))
        assert tangentc.vmap(f).looped_for(x) == [], tangentc.vmap(f).source_for(x)
