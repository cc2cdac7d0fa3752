"""Whole messages: what failed, where, why, and the way out."""

import importlib
import sys
import textwrap
from decimal import Decimal

import numpy as np
import pytest

import tangentc
from errors import cases


def message_of(error, call):
    with pytest.raises(error) as caught:
        call()
    return str(caught.value).replace(cases.__file__, "cases.py")


def expect(error, call, text):
    assert message_of(error, call) == textwrap.dedent(text).strip("\n")


def test_unsupported_syntax():
    expect(tangentc.UnsupportedSyntax, lambda: tangentc.grad(cases.generates)(1.0), """
        generates uses `yield`, which tangentc does not differentiate
          File "cases.py", line 103, in generates
            yield x
            ^^^^^^^
          Why: there is no translation of this construct into an adjoint yet.
          Way out: return a list, or call a function in the loop.
        """)  # fmt: skip


def test_missing_rule():
    expect(tangentc.MissingRule, lambda: tangentc.grad(cases.no_rule)(np.ones(3)), """
        there is no rule for np.kaiser
          File "cases.py", line 15, in no_rule
            return np.sum(np.kaiser(4, y[0]))
                          ^^^^^^^^^^^^^^^^^^
          Why: a derivative flows through its argument y_item.
          Way out: register one with @tangentc.elementwise or @tangentc.adjoint_rule, or wrap the argument in tangentc.stop_gradient if it is a constant.
        """)  # fmt: skip


def test_active_value_through_opaque_code():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.through_a_set)(2.0), """
        a set is given what depends on the arguments
          File "cases.py", line 107, in through_a_set
            squares = {x * x}
                      ^^^^^^^
          Why: its items are found again by their values.
          Way out: a list, or a dict of what belongs together.
        """)  # fmt: skip


def test_non_scalar_output():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.vector)(np.ones(3)), """
        vector returns float64[3], and grad needs one number
          File "cases.py", line 24, in vector
            return 2 * x
                   ^^^^^
          Why: a gradient belongs to a function whose value is a scalar.
          Way out: sum the result, or use tangentc.vjp or tangentc.adjoint with a seed for it.
        """)  # fmt: skip


def test_complex_output():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.complex_value)(2.0), """
        complex_value returns a complex number
          File "cases.py", line 94, in complex_value
            return x * 1j
                   ^^^^^^
          Why: a gradient is that of a real function.
          Way out: return its real part, or its squared modulus, or use tangentc.vjp.
        """)  # fmt: skip


def test_integer_input():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.count)(3), """
        count cannot be differentiated with respect to n, which is int
          Why: a derivative is taken by a real or complex number, and an integer cannot move by a little.
          Way out: pass a float: n=float(n).
        """)  # fmt: skip


def test_integer_array_input():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.count)(np.arange(3)), """
        count cannot be differentiated with respect to n, which is int64[3]
          Why: a derivative is taken by a real or complex number, and an integer cannot move by a little.
          Way out: pass a float array: n.astype(float).
        """)  # fmt: skip


@pytest.mark.parametrize("wrt", ["z", 2, -3, 1.5, ("x", "z"), ()])
def test_bad_wrt(wrt):
    text = message_of(tangentc.BadArgument, lambda: tangentc.grad(cases.simple, wrt=wrt)(1.0, 2.0))
    if wrt == ():
        assert (
            text == "wrt=() names nothing\n  Why: there is nothing to differentiate by.\n  Way out: name a parameter."
        )
    else:
        several = ": 'z' is none" if isinstance(wrt, tuple) else ""
        assert text == (
            f"wrt={wrt!r} does not name {'parameters' if several else 'a parameter'} of simple{several}\n"
            "  Why: its parameters are x, y.\n"
            "  Way out: give an index, a name, or a tuple of them."
        )


def test_wrong_seed_shape():
    value, pullback = tangentc.vjp(cases.vector, np.ones(3))
    expect(tangentc.BadSeed, lambda: pullback(np.ones(4)), """
        the seed of vector does not have the shape of its result
          Why: the result is float64[3], and the seed is float64[4].
          Way out: give a seed of the result's shape, np.ones_like(result) for instance.
        """)  # fmt: skip
    expect(tangentc.BadSeed, lambda: tangentc.adjoint(cases.vector)(np.ones(3), 1.0), """
        the seed of vector does not have the shape of its result
          Why: the result is float64[3], and the seed is float.
          Way out: give a seed of the result's shape, np.ones_like(result) for instance.
        """)  # fmt: skip


def test_wrong_tangents():
    expect(tangentc.BadSeed, lambda: tangentc.jvp(cases.simple, (1.0, 2.0), (1.0,)), """
        jvp got 2 primals and 1 tangents
          Why: each primal has one tangent.
          Way out: give None for a tangent that is zero.
        """)  # fmt: skip
    expect(tangentc.BadSeed, lambda: tangentc.jvp(cases.simple, (1.0, 2), (1.0, 1.0)), """
        the tangent of argument 1 of simple must be None or zero
          Why: the argument is int, which has no tangent.
          Way out: pass a float.
        """)  # fmt: skip


def test_broken_user_rule():
    @tangentc.elementwise(cases.twice)
    def twice_rule(x, y):
        return 2 * y.no_such_attribute_anywhere(y)

    expect(tangentc.BadRule, lambda: tangentc.grad(cases.uses_broken_rule)(1.0), """
        a rule calls the method no_such_attribute_anywhere
          Way out: call it as a function: np.no_such_attribute_anywhere(...).
        """)  # fmt: skip

    @tangentc.elementwise(cases.twice)
    def twice_rule_again(x, y):
        for _ in range(2):
            x = x * 2
        return x

    expect(tangentc.BadRule, lambda: tangentc.grad(cases.uses_broken_rule)(1.0), """
        the rule twice_rule_again cannot be read
          Why: `for _ in range(2):` is not an assignment, an if or a return.
          Way out: write it with arithmetic, NumPy functions, and choices about ranks and options.
        """)  # fmt: skip
    with pytest.raises(tangentc.BadRule, match="too few parameters"):

        @tangentc.elementwise(cases.twice)
        def no_result(x):
            return x

    @tangentc.elementwise(cases.twice)
    def twice_rule_right(x, y):
        return 2 * y

    assert tangentc.grad(cases.uses_broken_rule)(0.0) == 2.0


def test_rule_that_returns_too_few_values():
    @tangentc.elementwise(cases.times)
    def times_rule(x, y, z):
        return y

    text = message_of(tangentc.BadRule, lambda: tangentc.grad(cases.uses_times)(2.0, 3.0))
    head, file, *rest = text.split("\n")
    assert head == "the rule times_rule returns 1 value for 2 arguments" and file.endswith(", in times_rule")
    assert "\n".join(rest) == (
        "    return y\n    ^^^^^^^^\n  Why: each argument has one of its own.\n"
        "  Way out: return a tuple of them, with None where there is none."
    )

    @tangentc.elementwise(cases.times)
    def times_rule_again(x, y, z):
        return y, x, z

    for mode in (tangentc.grad(cases.uses_times), lambda *a: tangentc.jvp(cases.uses_times, a, (1.0, 1.0))):
        with pytest.raises(tangentc.BadRule, match="returns 3 values for 2 arguments"):
            mode(2.0, 3.0)

    @tangentc.elementwise(cases.times)
    def times_rule_right(x, y, z):
        both = y, x
        return both

    np.testing.assert_array_equal(tangentc.grad(cases.uses_times)(2.0, np.ones(3)), 3.0)


def test_rule_whose_result_has_another_shape_where_only_the_run_knows():
    x = np.arange(1.0, 4.0)

    def refused(derivative, *args):
        with pytest.raises(tangentc.BadRule, match=r"gives an array of shape \(3, 3\) for one of shape \(3,\)"):
            derivative(cases.uses_entry_squares, *args)

    @tangentc.adjoint_rule(cases.entry_squares)
    def matrix_rule(x, y, y_bar):
        return np.outer(2 * x, y_bar)

    @tangentc.tangent_rule(cases.entry_squares)
    def matrix_tangent(x, y, x_dot):
        return np.outer(2 * x, x_dot)

    refused(lambda f, x: tangentc.grad(f)(x), x)
    refused(tangentc.jvp, (x,), (x,))

    @tangentc.elementwise(cases.entry_squares)
    def partial_rule(x, y):
        return np.outer(2 * x, x)

    refused(lambda f, x: tangentc.grad(f)(x), x)

    @tangentc.adjoint_rule(cases.entry_squares)
    def right_rule(x, y, y_bar):
        return 2 * x * y_bar

    np.testing.assert_array_equal(tangentc.grad(cases.uses_entry_squares)(x), 2 * x)


def test_rule_of_too_many_results_where_only_the_run_knows():
    @tangentc.adjoint_rule(cases.times)
    def times_rule(x, y, z, z_bar):
        if np.ndim(z) == 0:
            return y * z_bar, x * z_bar, 0.0
        return y * z_bar, x * z_bar, 0.0

    with pytest.raises((ValueError, tangentc.BadRule)):
        tangentc.grad(cases.uses_times)(2.0, 3.0)


def test_rule_whose_adjoint_has_another_shape():
    def refused(rule, gives, of):
        with pytest.raises(tangentc.BadRule) as caught:
            tangentc.grad(cases.uses_squares)(np.ones(3))
        head, file, *rest = str(caught.value).split("\n")
        assert head == f"the rule {rule} gives {gives} for {of}" and file.endswith(f", in {rule}")
        assert rest[2:] == [
            "  Why: only axes along which broadcasting has repeated a value are summed.",
            "  Way out: return an array of the same shape, or one that broadcasts to it.",
        ]

    @tangentc.adjoint_rule(cases.squares)
    def matrix_rule(x, y, y_bar):
        return y_bar * np.outer(x, x)

    refused("matrix_rule", "float64[3, 3]", "an argument of float64[3]")

    @tangentc.adjoint_rule(cases.squares)
    def longer_rule(x, y, y_bar):
        return y_bar * np.ones(4)

    refused("longer_rule", "float64[4]", "an argument of float64[3]")

    @tangentc.elementwise(cases.squares)
    def partial_rule(x, y):
        return 2 * x

    refused("partial_rule", "float64[3]", "a result of float64")

    @tangentc.adjoint_rule(cases.squares)
    def right_rule(x, y, y_bar):
        return 2 * y_bar * x

    np.testing.assert_array_equal(tangentc.grad(cases.uses_squares)(np.ones(3)), 2.0)

    @tangentc.adjoint_rule(cases.weighed)
    def weighed_rule(x, w, y, y_bar):  # both are repeated
        return y_bar * w, y_bar * x

    by_x, by_w = tangentc.grad(cases.uses_weighed, wrt=(0, 1))(np.ones(3), np.ones((2, 1)))
    np.testing.assert_array_equal(by_x, [2.0, 2.0, 2.0])
    np.testing.assert_array_equal(by_w, [[3.0], [3.0]])


def test_method_without_an_adjoint():
    text = message_of(tangentc.UnsafeMutation, lambda: tangentc.grad(cases.cleared)(1.0))
    assert text.startswith("cleared changes items by its method popitem\n")
    assert 'File "cases.py", line 113, in cleared' in text and "Way out: use append" in text


def test_unknown_callee():
    text = message_of(tangentc.UnsupportedSyntax, lambda: tangentc.grad(cases.calls_something)(1.0, 1))
    assert text.startswith("calls_something calls a value that is not known when compiling\n")


def test_closure_kept_from_trip_to_trip():
    text = message_of(tangentc.UnsupportedSyntax, lambda: tangentc.grad(cases.closures_of_trips)(1.0, 3))
    assert "a function that was made in a trip of a loop" in text


def test_array_of_the_module():
    text = message_of(tangentc.UnsafeMutation, lambda: tangentc.grad(cases.fills_the_module)(1.0))
    assert "which belongs to the module or to a function around this one" in text


def test_global_that_is_assigned():
    text = message_of(tangentc.UnsupportedSyntax, lambda: tangentc.grad(cases.assigns_global)(1.0))
    assert text.startswith("assigns_global uses `global COUNT` and assigns to it")


def test_change_that_is_half_done_when_an_exception_is_raised():
    with pytest.raises(tangentc.UnsafeMutation, match="changed something in place and then raised an exception"):
        tangentc.grad(cases.changes_in_try)(1.0, 4)
    assert tangentc.grad(cases.changes_in_try)(1.0, 12) == 45


def test_exception_that_carries_a_value():
    with pytest.raises(tangentc.NotDifferentiable, match="ValueError carries a number out of a `try` block"):
        tangentc.grad(cases.carried_by_an_exception)(2.0)


def test_try_inside_try():
    text = message_of(tangentc.UnsupportedSyntax, lambda: tangentc.grad(cases.try_inside_try)(1.0))
    assert text.startswith("try_inside_try uses a statement inside `try` that may be left half done")


def test_wrong_call():
    text = message_of(tangentc.UnsupportedSyntax, lambda: tangentc.grad(cases.wrong_call)(1.0))
    assert "is called with the wrong arguments" in text and "it is given a twice" in text


def test_option_without_a_place_in_the_rule():
    text = message_of(tangentc.MissingRule, lambda: tangentc.grad(cases.with_option)(np.ones(2)))
    assert text.startswith("the rule for np.clip does not cover this call\n") and "its argument casting" in text


def test_undefined_name():
    text = message_of(tangentc.UnsupportedSyntax, lambda: cases.decorated.grad(1.0))
    assert text.startswith("name 'undefined_name' is not defined\n")


def test_no_source():
    namespace = {}
    exec("def made(x):\n    return x * x\n", namespace)
    text = message_of(tangentc.NoSource, lambda: tangentc.grad(namespace["made"])(1.0))
    assert text == (
        "the source of made cannot be found\n"
        '  File "<string>", line 1, in made\n'
        "  Why: tangentc reads a function's text, and this one was made by exec or eval, or its file is gone.\n"
        "  Way out: put the function in a file, or in a notebook cell."
    )


def test_stale_source(tmp_path, monkeypatch):
    path = tmp_path / "changes.py"
    path.write_text("def f(x):\n    return x * x\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    module = importlib.import_module("changes")
    path.write_text("def f(x):\n    return x * x * x\n")
    text = message_of(tangentc.NoSource, lambda: tangentc.grad(module.f)(2.0)).replace(str(path), "changes.py")
    assert text == (
        "the source of f is not the code that runs\n"
        '  File "changes.py", line 1, in f\n'
        "    def f(x):\n"
        "    ^^^^^^^^^\n"
        "  Why: the file has changed since it was imported, so the text at this line belongs to something else.\n"
        "  Way out: reload the module, or start Python again."
    )
    importlib.reload(module)
    assert tangentc.grad(module.f)(2.0) == 12.0
    del sys.modules["changes"]


def test_a_refusal_shows_no_frame_of_the_compiler():
    import traceback

    try:
        tangentc.grad(cases.no_rule)(np.ones(3))
    except tangentc.MissingRule as error:
        files = [frame.filename for frame in traceback.extract_tb(error.__traceback__)]
        assert not any("/derive/" in f or "frontend" in f or "compiler" in f for f in files)
        assert error.__cause__ is None and error.__suppress_context__


def test_an_error_of_the_users_code_keeps_its_type():
    with pytest.raises(np.linalg.LinAlgError, match="Singular"):
        tangentc.grad(lambda W: np.sum(np.linalg.inv(W)))(np.zeros((2, 2)))


def test_lengths_that_do_not_fit():
    expect(tangentc.BadArgument, lambda: tangentc.grad(cases.lengths_apart)(np.ones(2), np.ones(3)), """
        lengths do not fit: float64[2] and float64[3]
          File "cases.py", line 221, in lengths_apart
            return np.sum(x + y)
                          ^^^^^
          Why: NumPy raises here for arguments of these shapes.
          Way out: call it with others.
        """)  # fmt: skip


def test_what_tells_a_queue_from_a_list():
    expect(tangentc.UnsupportedSyntax, lambda: tangentc.grad(cases.tells_a_queue)(1.0), """
        `==` tells a deque from a list
          File "cases.py", line 228, in tells_a_queue
            return x if q == [x] else 2 * x
                        ^^^^^^^^
          Why: a deque is followed as a list, which differs in this.
          Way out: use a list.
        """)  # fmt: skip


def test_strides_of_what_may_lie_otherwise():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.strided_in_doubt)(np.ones((2, 2))), """
        as_strided of x2, of which it is not known in which order its entries lie
          File "cases.py", line 240, in strided_in_doubt
            return np.sum(np.lib.stride_tricks.as_strided(x * 2, (2, 2), (8, 8)))
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          Why: copies are left out where only the values count, and with them their order in memory.
          Way out: as_strided(np.ascontiguousarray(x), ...) if its strides are those, or of x.ravel().
        """)  # fmt: skip


def test_windows_of_what_is_written():
    forward = lambda: tangentc.jvp(cases.windows_of_a_buffer, (np.ones(4),), (np.ones(4),))
    expect(tangentc.NotDifferentiable, forward, """
        windows and strided views of an array that is changed in place are not differentiated
          Why: they are memory of the array, and would change with it.
          Way out: take them of a copy: sliding_window_view(x.copy(), ...).
        """)  # fmt: skip
    expect(tangentc.UnsafeMutation, lambda: tangentc.grad(cases.windows_of_a_buffer)(np.ones(4)), """
        an array is changed that as_strided gives a view of
          File "cases.py", line 245, in windows_of_a_buffer
            windows = np.lib.stride_tricks.as_strided(buffer, (3, 2), (8, 8))
                      ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          Why: the view cannot be written, so its adjoint cannot be gathered in it.
          Way out: take a copy of the view.
        """)  # fmt: skip


def test_lists_in_lists_in_lists():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.nested_lists)(np.ones((1, 1, 1, 1, 1))), """
        tolist of an array of 5 axes
          File "cases.py", line 251, in nested_lists
            return x.tolist()[0][0][0][0][0]
                   ^^^^^^^^^^
          Why: its loops are written for at most four.
          Way out: reshape it before, or loop over its first axis.
        """)  # fmt: skip


@pytest.mark.parametrize("name", ["jvp", "hvp"])
@pytest.mark.parametrize("primals, tangents", [(np.ones(2), np.ones(2)), ((1.0, 2.0), np.ones(2)), (1.0, 2.0)])
def test_arguments_that_stand_in_no_tuple(name, primals, tangents):
    kind = type(tangents if isinstance(primals, tuple) else primals).__name__
    expect(
        tangentc.BadArgument,
        lambda: getattr(tangentc, name)(lambda x, y: np.sum(x * y), primals, tangents),
        f"""
        {name} is given {kind} for the {"tangents" if isinstance(primals, tuple) else "primals"}
          Why: it takes them in a tuple.
          Way out: write {name}(f, (x,), (v,)).
    """,
    )


def test_a_part_that_is_too_short():
    expect(tangentc.BadArgument, lambda: tangentc.grad(cases.stores_too_many)(np.ones(4)), """
        lengths do not fit: float64[2] and float64[3]
          File "cases.py", line 256, in stores_too_many
            y[0:2] = np.ones(3)
            ^^^^^^
          Why: NumPy raises here for arguments of these shapes.
          Way out: call it with others.
        """)  # fmt: skip


@pytest.mark.parametrize(
    "name, line, shown", [("calls_no_method", 261, "total()"), ("reads_no_attribute", 265, "total")]
)
def test_what_is_no_attribute_of_an_array(name, line, shown):
    f, text = getattr(cases, name), f"""
        an array has no attribute total
          File "cases.py", line {line}, in {name}
            return np.sum(x.{shown})
                          {"^" * (2 + len(shown))}
          Why: it is none of those of numpy.ndarray.
          Way out: call a function of the array, or see whether it is spelled otherwise.
        """  # fmt: skip
    expect(tangentc.MissingRule, lambda: tangentc.grad(f)(np.ones(4)), text)
    expect(tangentc.MissingRule, lambda: tangentc.jvp(f, (np.ones(4),), (np.ones(4),)), text)


def test_no_value():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.returns_nothing)(1.0), """
        returns_nothing returns None, and grad needs one number
          File "cases.py", line 268, in returns_nothing
            def returns_nothing(x):
            ^^^^^^^^^^^^^^^^^^^^^^^
          Why: a gradient belongs to a function whose value is a scalar.
          Way out: return a number: a `return` may be missing.
        """)  # fmt: skip
    with pytest.raises(ValueError, match="returns_nothing_below_zero returns None here, and its gradient needs one"):
        tangentc.grad(cases.returns_nothing_below_zero)(-1.0)


def test_a_value_and_more():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.value_and_more)(np.ones(2)), """
        value_and_more returns (float64, {'x': float64[2]}), and grad needs one number
          File "cases.py", line 278, in value_and_more
            return np.sum(x**2), {"x": x}
                   ^^^^^^^^^^^^^^^^^^^^^^
          Why: a gradient belongs to a function whose value is a scalar.
          Way out: say has_aux=True, if it is a value and what goes along with it, or use tangentc.vjp with a seed.
        """)  # fmt: skip


def test_a_class():
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.Made)(1.0), """
        Made returns Made, and grad needs one number
          Why: a gradient belongs to a function whose value is a scalar.
          Way out: differentiate a function that makes the object and returns a number of it.
        """)  # fmt: skip


NO_NUMBERS = {
    None: ("None", "", "pass numbers"),
    "text": ("'text'", "", "pass numbers"),
    True: ("True", ", and a truth value cannot move by a little", "pass a float: n=float(n)"),
    Decimal("1.5"): ("Decimal", "", "pass a float: n=float(n)"),
}


@pytest.mark.parametrize("value", NO_NUMBERS)
def test_what_is_no_number(value):
    shown, why, way_out = NO_NUMBERS[value]
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.count)(value), f"""
        count cannot be differentiated with respect to n, which is {shown}
          Why: a derivative is taken by a real or complex number{why}.
          Way out: {way_out}.
        """)  # fmt: skip


def test_exception_groups():
    expect(tangentc.UnsupportedSyntax, lambda: tangentc.grad(cases.tries_groups)(1.0), """
        tries_groups uses `except*`, which tangentc does not differentiate
          File "cases.py", line 287, in tries_groups
            try:
            ^^^^
          Why: there is no translation of this construct into an adjoint yet.
          Way out: write `except`, or move the try to the caller.
        """)  # fmt: skip


def test_a_refusal_of_a_definition_has_the_line_of_the_call():
    pytest.importorskip("scipy")
    expect(tangentc.NotDifferentiable, lambda: tangentc.grad(cases.pads_by_symmetry)(np.ones((3, 3))), """
        scipy.signal.convolve2d is differentiated with zeros around its arrays
          File "cases.py", line 297, in pads_by_symmetry
            return np.sum(scipy.signal.convolve2d(x, np.ones((2, 2)), boundary="symm"))
                          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
          Why: boundary='symm' has no rule.
          Way out: pad the array by np.pad.
        """)  # fmt: skip


def test_orders_that_are_not_compared():
    expect(tangentc.BadArgument, lambda: tangentc.check_grads(cases.simple, (1.0, 2.0), order=3), """
        order=3 is none that check_grads compares
          Why: it compares first derivatives, and second ones.
          Way out: say order=1 or order=2, and take check_grads of grad(f) for more.
        """)  # fmt: skip
