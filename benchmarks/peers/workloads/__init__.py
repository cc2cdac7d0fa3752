"""All that is measured, family by family."""

from . import adbench, adbench_steps, linear_algebra, mechanics, networks, scalars, stencils, users

FAMILIES = (adbench, adbench_steps, networks, stencils, linear_algebra, mechanics, scalars, users)
WORKLOADS = {workload.name: workload for family in FAMILIES for workload in family.WORKLOADS}
