"""The passes in their order, as tuples that one can read.

Each is a function from a program to a function in core form. Those of `FRONT` end with types known and effects said;
`derive.assemble` writes a derivative of that; those of `SIMPLIFY` clean it.
"""

from __future__ import annotations

from tangentc.analysis.finished import finished
from tangentc.analysis.fits import without_computed
from tangentc.analysis.handed import handed_on, taken_back
from tangentc.analysis.program import Pass, Program
from tangentc.core.nodes import Function
from tangentc.core.texts import is_emitted
from tangentc.frontend.buffers import one_buffer
from tangentc.frontend.carried import carried_by_items
from tangentc.frontend.entries import in_their_arrays
from tangentc.frontend.fused import fused
from tangentc.frontend.hoisted import hoisted
from tangentc.frontend.lasts import lasts
from tangentc.frontend.own import own_parameters
from tangentc.frontend.places import in_their_lists
from tangentc.frontend.recursion import calls_itself
from tangentc.ops.table import every
from tangentc.simplify.alike import alike
from tangentc.simplify.begun import begun
from tangentc.simplify.common import common
from tangentc.simplify.contract import contracted
from tangentc.simplify.copies import borrowed, copies, elide
from tangentc.simplify.dead import dead
from tangentc.simplify.early import early
from tangentc.simplify.filled import filled
from tangentc.simplify.firsts import firsts, firsts_of_trips
from tangentc.simplify.gather import gathered
from tangentc.simplify.invariant import invariant
from tangentc.simplify.items import items
from tangentc.simplify.owned import given, owned
from tangentc.simplify.products import products
from tangentc.simplify.rows import rows
from tangentc.simplify.runs import runs
from tangentc.simplify.scattered import scattered
from tangentc.simplify.summed import summed
from tangentc.simplify.together import together
from tangentc.simplify.whole import whole

FREE = frozenset(every("free"))


def _common(program: Program) -> Function:
    """What has been emitted computes nothing twice."""
    return program.function if is_emitted(program.source) else common(program.function, program.aliases, FREE)


def _finished(program: Program) -> Function:
    """What a function that calls itself may give back was found out while it was prepared: it stays as it is."""
    return program.function if calls_itself(program.source) else finished(program)


FRONT = (
    Pass("specialise", "methods, augmented assignments and loops mean what their types say", lambda p: p.function),
    Pass("fits", "lengths that cannot fit raise where they meet", lambda p: p.function),
    Pass("calls", "functions of the user are known with their effects", lambda p: p.function, True),
    Pass("hoisted", "parts that stay the same in a loop are read before it", hoisted),
    Pass("carried", "loops carry the items of a tuple in its place", carried_by_items),
    Pass("copies", "names that only repeat other names are gone", lambda p: copies(p.function, False)),
    Pass("common", "equal expressions are computed once", _common, True),
    Pass("fused", "a loop takes what it appends where another one would", fused, True),
    Pass("lasts", "the last item of a list is what the last trip has appended", lasts, True),
    Pass("entries", "entries of parts of arrays are entries of the arrays", in_their_arrays, True),
    Pass("places", "items of a slice of a list are items of the list", in_their_lists, True),
    Pass("buffers", "arrays that take turns are one, and copies that nothing needs are none", one_buffer),
    Pass("finished", "an array that is filled where it is made is a value from then on", _finished, keeps_memory=False),
    Pass("handed", "a part that is read before its array changes is a copy", handed_on, keeps_memory=False),
    Pass("own", "a parameter that is written is copied first", own_parameters),
)


SIMPLIFY = (
    Pass("copies", "names that only repeat other names are gone", lambda p: copies(p.function)),
    Pass("invariant", "numbers that are the same in all trips are made before", invariant),
    Pass("common", "equal expressions are computed once", lambda p: common(p.function, p.aliases)),
    Pass("alike", "lists that hold one thing several times are that thing", alike),
    Pass("dead", "what the result does not need is gone", lambda p: dead(p.function, p.types, p.aliases)),
    Pass("gather", "each part of an array is added to once", gathered),
    Pass("firsts", "what is added to zeros takes their place", firsts),
    Pass("scattered", "what is put into zeros is added to what these are added to", scattered),
    Pass("products", "sums of outer products over trips are products behind the loop", products, last=True, numpy=True),
    Pass("begun", "sums begin with what is added to them at last", begun),
    Pass("trips", "what a trip adds to zeros of its own takes their place", firsts_of_trips),
    Pass("rows", "zeros whose items are all set are made of these", rows),
    Pass("filled", "lists whose items are all set are not made of zeros", filled, last=True),
    Pass(
        "elide",
        "copies that are read once, at once, are gone",
        lambda p: elide(p.function, p.types, p.aliases),
        keeps_memory=False,
    ),  # fmt: skip
    Pass("entries", "entries of parts of arrays are entries of the arrays", in_their_arrays, last=True),
    Pass("owned", "what nothing else needs is not copied", owned, keeps_memory=False),
    Pass("given", "what is filled and handed on is not copied", given, keeps_memory=False, last=True, numpy=True),
    Pass("copies", "names that only repeat other names are gone", lambda p: copies(borrowed(p))),
    Pass(
        "whole",
        "an array that changes but for its edges is saved whole",
        whole,
        keeps_memory=False,
        last=True,
        compiled=True,
    ),
    Pass("checks", "what is computed is not tried before", lambda p: without_computed(p.function, p.types)),
    Pass("dead", "what the result does not need is gone", lambda p: dead(p.function, p.types, p.aliases)),
    Pass("summed", "rows of products are added up before they are multiplied", summed, last=True),
    Pass("contract", "sums of products are contractions", contracted, last=True, numpy=True),
    Pass("runs", "loops that take what they run over one by one run over it", runs, last=True, numpy=True),
    Pass("together", "what a trip saves is one tuple", together, last=True),
    Pass("taken", "what is joined at once is not copied", taken_back, keeps_memory=False, last=True, numpy=True),
    Pass("early", "what a hook is given is made, and given to it, as soon as it may be", early, last=True),
    Pass("items", "the items of a tuple are taken where it is made", items, last=True),
)
