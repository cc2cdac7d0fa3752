"""tangentc: derivatives of NumPy functions as readable Python."""

from tangentc.api import adjoint, differentiable, grad, jvp, stop_gradient, value_and_grad, vjp
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
from tangentc.inspection.check import GradientMismatch, check_grads
from tangentc.inspection.export import export
from tangentc.inspection.stages import Stage, Stages, stages
from tangentc.inspection.trace import Trace, trace
from tangentc.jacobians import hessian, hvp, jacfwd, jacobian, jacrev
from tangentc.rules.registry import adjoint_rule, elementwise, tangent_rule, zero_gradient

__version__ = "0.1.0"

__all__ = [
    "BadArgument",
    "BadRule",
    "BadSeed",
    "GradientMismatch",
    "InternalError",
    "MissingRule",
    "NoSource",
    "NotDifferentiable",
    "NotFinite",
    "NotScalar",
    "Stage",
    "Stages",
    "TangentcError",
    "Trace",
    "UnsafeMutation",
    "UnsupportedSyntax",
    "adjoint",
    "adjoint_rule",
    "check_grads",
    "differentiable",
    "elementwise",
    "export",
    "grad",
    "hessian",
    "hvp",
    "jacfwd",
    "jacobian",
    "jacrev",
    "jvp",
    "stages",
    "stop_gradient",
    "tangent_rule",
    "trace",
    "value_and_grad",
    "vjp",
    "zero_gradient",
]
