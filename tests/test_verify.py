"""What is checked of every program between the passes: names, branches and types."""

import operator

import numpy as np
import pytest

from tangentc.analysis.types import Types
from tangentc.core.lengths import Length
from tangentc.core.nodes import Assign, Carry, Const, For, Function, If, Merge, Param
from tangentc.core.types import Array, Known, Scalar, Sequence, Tuple, Unknown, contradict
from tangentc.core.verify import verify
from tangentc.errors import InternalError, Span

N, M = Length("n0"), Length("n1")
X = Array("float64", (N,))


def program(*body, result="y"):
    return Function("f", (Param("x"),), body, result, Span(1, 0, 0, ""))


def typed(**names):
    types = Types(None)
    types.of_name.update(names)
    return types


def test_what_is_well_formed_passes():
    body = (
        Assign("a", np.sin, ("x",)),
        For("i", "x", (Assign("c", operator.add, ("b", "i")),), (Carry("b", Const(0.0), "c"),)),
        Assign("y", operator.mul, ("a", "b")),
    )
    types = typed(x=X, a=X, i=Scalar("float64"), b=Scalar("float64"), c=Scalar("float64"), y=X)
    verify(program(*body), types, closed=True)


@pytest.mark.parametrize(
    "body, told",
    [
        ((Assign("y", np.sin, ("x",)), Assign("y", np.cos, ("x",))), "defined twice"),
        ((Assign("y", np.sin, ("z",)),), "z is read in f where it is not defined"),
        ((Assign("x", np.sin, ("x",)),), "x is defined twice"),
        ((Assign("z", np.sin, ("x",)),), "f returns y"),
        ((For("i", "x", (Assign("z", np.sin, ("i",)),)), Assign("y", np.cos, ("z",))), "z is read"),
    ],
)
def test_names_are_defined_once_and_before_they_are_read(body, told):
    with pytest.raises(InternalError, match=told):
        verify(program(*body))


def test_what_a_branch_defines_leaves_it_by_a_merge():
    arms = (Assign("a", np.sin, ("x",)),), (Assign("b", np.cos, ("x",)),)
    verify(program(If("x", *arms, (Merge("y", "a", "b"),))), closed=True)
    read = If("x", *arms), Assign("y", np.exp, ("a",))
    verify(program(*read))  # as adjoints do
    with pytest.raises(InternalError, match="a is read in f"):
        verify(program(*read), closed=True)


@pytest.mark.parametrize("wrong", [Scalar("float64"), Array("float64", (M, N)), Array("complex128", (N,)), Tuple((X,))])
def test_a_statement_gives_what_its_type_says(wrong):
    with pytest.raises(InternalError, match="y is a"):
        verify(program(Assign("y", np.sin, ("x",))), typed(x=X, y=wrong))


def test_types_that_may_be_those_of_one_value_do_not_contradict():
    list_of = lambda t: Sequence(list, (t,), None)
    for a, b in [
        (X, X), (X, Unknown()), (X, Array("float64", (Length("?1"),))), (X, Array("float64", (N,), "?")),
        (Array("float64", (), ""), Scalar("float64")), (Scalar("int64", True), Scalar("float64")),
        (Known(Const(None)), X), (list_of(X), list_of(Unknown())), (X, Array("float64", (N,), "s")),
    ]:  # fmt: skip
        assert not contradict(a, b) and not contradict(b, a)
    for a, b in [
        (X, Array("float64", (M, N))), (list_of(X), list_of(Scalar("float64"))), (Scalar("str", True), Scalar("int64", True)),
        (X, list_of(X)), (Tuple((X,)), Tuple((X, X))),
    ]:  # fmt: skip
        assert contradict(a, b) and contradict(b, a)
