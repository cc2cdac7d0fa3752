"""tangentc behind the adapter of a converted copy of autograd's test suite.

The suite's functions are given their parameters by name, so that those with ``*args`` and keywords have an adjoint,
and a tangent is a function of the arguments and the direction, which can be differentiated again.
"""

import inspect
import itertools
import linecache
import os
import types

from adsuite._base import Adapter

import tangentc

_numbers = itertools.count()


def indices(argnum):
    """The tests write several arguments as a tuple or as a list; tangentc takes a tuple."""
    return tuple(argnum) if isinstance(argnum, (tuple, list)) else argnum


def is_option(value):
    """Whether an argument says how something is computed."""
    if isinstance(value, (tuple, list)):
        return all(map(is_option, value))
    return value is None or isinstance(value, (bool, int, str))


def explicit(f, args):
    """``f`` as a function of parameters in place of ``*args`` and defaults, with its options written out."""
    if isinstance(f, types.FunctionType):
        kinds = [p.kind for p in inspect.signature(f).parameters.values()]
        if len(kinds) == len(args) and all(k is inspect.Parameter.POSITIONAL_OR_KEYWORD for k in kinds):
            return f
    names = [f"x{k}" for k in range(len(args))]
    given = [repr(a) if is_option(a) else n for n, a in zip(names, args)]
    text = f"def wrapped({', '.join(names)}):\n    return _f({', '.join(given)})\n"
    return made(text, "wrapped", _f=f)


def made(text, name, **scope):
    """A function from its text, which its source can be read from."""
    file = f"<{name} {next(_numbers)}>"
    linecache.cache[file] = (len(text), None, text.splitlines(True), file)
    scope["__name__"] = "__main__"
    exec(compile(text, file, "exec"), scope)
    return scope[name]


def tangent_function(f, count, moving):
    """``g(x0, x1, v)``: the tangent of ``f`` along v, which is a tuple if several arguments move."""
    names = [f"x{k}" for k in range(count)]
    several = isinstance(moving, tuple)
    given = {k: f"v[{n}]" for n, k in enumerate(moving)} if several else {moving: "v"}
    directions = ", ".join(given.get(k, "None") for k in range(count))
    text = (
        f"def g({', '.join(names)}, v):\n"
        f"    value, tangent = jvp(_f, ({', '.join(names)},), ({directions},))\n"
        f"    return tangent\n"
    )
    return made(text, "g", _f=f, jvp=tangentc.jvp)


class TangentC(Adapter):
    name = "tangentc"
    modes = tuple(os.environ.get("ADSUITE_MODES", "fwd,rev").split(","))
    max_order = int(os.environ.get("ADSUITE_ORDER", "2"))
    refusals = (tangentc.TangentcError,)

    def make_vjp(self, f, argnum=0):
        argnum = indices(argnum)

        def run(*args):
            value, pullback = tangentc.vjp(f, *args)

            def pull(seed):
                cotangents = pullback(seed)
                return tuple(cotangents[i] for i in argnum) if isinstance(argnum, tuple) else cotangents[argnum]

            return pull, value

        return run

    def make_jvp(self, f, argnum=0):
        argnum = indices(argnum)
        picked = argnum if isinstance(argnum, tuple) else (argnum,)

        def run(*args):
            def push(tangent):
                given = dict(zip(picked, tangent if isinstance(argnum, tuple) else (tangent,)))
                return tangentc.jvp(f, args, tuple(given.get(i) for i in range(len(args))))

            return push

        return run

    def grad(self, f, argnum=0):
        return tangentc.grad(f, wrt=indices(argnum))

    def value_and_grad(self, f, argnum=0):
        return tangentc.value_and_grad(f, wrt=indices(argnum))

    def jacobian(self, f, argnum=0):
        return lambda *args: tangentc.jacobian(f, wrt=argnum)(*args)

    def hessian(self, f, argnum=0):
        return lambda *args: tangentc.hessian(f, wrt=argnum)(*args)

    def vjp_function(self, f, argnum, args, seed):
        return tangentc.adjoint(explicit(f, args), wrt=indices(argnum)), (*args, seed)

    def jvp_function(self, f, argnum, args, v):
        return tangent_function(explicit(f, args), len(args), indices(argnum)), (*args, v)
