"""tangentc: derivatives of NumPy functions as readable Python."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # the same as in _HOMES, for type checkers
    from tangentc.api import adjoint, grad, jvp, stop_gradient, value_and_grad, vjp
    from tangentc.decorated import differentiable
    from tangentc.errors import (
        BadArgument,
        BadRule,
        BadSeed,
        InternalError,
        MissingRule,
        NoSource,
        NotDifferentiable,
        NotFinite,
        NotScalar,
        TangentcError,
        UnsafeMutation,
        UnsupportedSyntax,
    )
    from tangentc.frontend.again import checkpoint
    from tangentc.inspection.check import CannotTell, GradientMismatch, check_grads
    from tangentc.inspection.debug import debug
    from tangentc.inspection.explain import Explanation, explain
    from tangentc.inspection.export import export
    from tangentc.inspection.graph import Graph, graph
    from tangentc.inspection.insert import insert_grad_of
    from tangentc.inspection.report import report
    from tangentc.inspection.stages import Stage, Stages, stages
    from tangentc.inspection.trace import Trace, trace
    from tangentc.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
    from tangentc.kept.folder import cache
    from tangentc.rules.registry import adjoint_rule, elementwise, operation, tangent_rule, zero_gradient
    from tangentc.sparse.jacobians import sparse_hessian, sparse_jacobian
    from tangentc.vectorised import vmap

__version__ = "0.1.0"

_HOMES = {
    "tangentc.api": ("adjoint", "grad", "jvp", "stop_gradient", "value_and_grad", "vjp"),
    "tangentc.decorated": ("differentiable",),
    "tangentc.errors": (
        "BadArgument",
        "BadRule",
        "BadSeed",
        "InternalError",
        "MissingRule",
        "NoSource",
        "NotDifferentiable",
        "NotFinite",
        "NotScalar",
        "TangentcError",
        "UnsafeMutation",
        "UnsupportedSyntax",
    ),
    "tangentc.frontend.again": ("checkpoint",),
    "tangentc.inspection.check": ("CannotTell", "GradientMismatch", "check_grads"),
    "tangentc.inspection.debug": ("debug",),
    "tangentc.inspection.explain": ("Explanation", "explain"),
    "tangentc.inspection.export": ("export",),
    "tangentc.inspection.graph": ("Graph", "graph"),
    "tangentc.inspection.insert": ("insert_grad_of",),
    "tangentc.inspection.report": ("report",),
    "tangentc.inspection.stages": ("Stage", "Stages", "stages"),
    "tangentc.inspection.trace": ("Trace", "trace"),
    "tangentc.jacobians": ("hessian", "hvp", "jacfwd", "jacobian", "jacrev"),
    "tangentc.kept.folder": ("cache",),
    "tangentc.rules.registry": ("adjoint_rule", "elementwise", "operation", "tangent_rule", "zero_gradient"),
    "tangentc.sparse.jacobians": ("sparse_hessian", "sparse_jacobian"),
    "tangentc.vectorised": ("vmap",),
}
_MODULES = {name: home for home, names in _HOMES.items() for name in names}
__all__ = [
    "BadArgument", "BadRule", "BadSeed", "CannotTell", "Explanation", "GradientMismatch", "Graph",
    "InternalError", "MissingRule", "NoSource", "NotDifferentiable", "NotFinite", "NotScalar", "Stage", "Stages",
    "TangentcError", "Trace", "UnsafeMutation", "UnsupportedSyntax", "adjoint", "adjoint_rule", "cache", "check_grads",
    "checkpoint", "debug", "differentiable", "elementwise", "explain", "export", "grad", "graph", "hessian",
    "hvp", "insert_grad_of", "jacfwd", "jacobian", "jacrev", "jvp", "operation", "report", "sparse_hessian",
    "sparse_jacobian", "stages", "stop_gradient", "tangent_rule", "trace", "value_and_grad", "vjp", "vmap",
    "zero_gradient",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    """What the package offers is imported when it is first asked for: `import tangentc` costs next to nothing."""
    import importlib

    if name in _MODULES:
        # the rules of NumPy's functions come before those of users
        importlib.import_module("tangentc.compiler.context")
        value = getattr(importlib.import_module(_MODULES[name]), name)
        globals()[name] = value
        return value
    try:
        return importlib.import_module(f"tangentc.{name}")
    except ModuleNotFoundError as error:
        if error.name != f"tangentc.{name}":
            raise
        raise AttributeError(f"module 'tangentc' has no attribute {name!r}") from None


def __dir__() -> list[str]:
    return sorted({*__all__, "__all__", "__doc__", "__file__", "__name__", "__version__", "errors", "testing"})
