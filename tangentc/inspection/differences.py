"""Derivatives by differences."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np


def five_point(g: Callable[[float], np.ndarray], h: float) -> np.ndarray:
    """g'(0) by the five-point stencil (Abramowitz and Stegun 25.3.6)."""
    return (8 * (g(h) - g(-h)) - (g(2 * h) - g(-2 * h))) / (12 * h)
