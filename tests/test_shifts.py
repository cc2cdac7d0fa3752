"""A shift that is taken off and added again has no adjoint, and no other value is taken for one."""

import ast

import pytest
from programs import shifted

from tangentc import grad
from tangentc.inspection.report import page

OTHERS = "added_twice"  # the first program in which what is taken off is not added again
NAMES = [f.__name__ for f, _ in shifted.PROGRAMS]
ADJOINTS = {"top_bar", "first_bar", "s_bar", "test"}  # of shifts, and of what is an extreme


@pytest.mark.parametrize("k", range(len(NAMES)), ids=NAMES)
def test_only_a_shift_has_no_adjoint(k):
    f, args = shifted.PROGRAMS[k]
    if f is shifted.means_of_rows:  # whose means have an adjoint in closed form
        return
    moving = tuple(i for i, x in enumerate(args) if isinstance(x, float) or getattr(x, "dtype", None) == "float64")
    text = grad(f, moving).source_for(*args)
    names = {n.id for n in ast.walk(ast.parse(text)) if isinstance(n, ast.Name)}
    assert bool(names & ADJOINTS) == (k >= NAMES.index(OTHERS)), text


def test_the_report_says_why():
    told = "what it takes off is added again: the result is the same whatever it is"
    assert told in page(grad(shifted.log_of_running_sums), shifted.PROGRAMS[0][1], {})
