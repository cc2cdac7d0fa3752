"""What the compiler knows of each function, operator and method: one record for each, and questions to them all."""

from tangentc.ops import arrays as arrays
