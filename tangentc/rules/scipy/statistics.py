"""Statistics of samples: moments, means and correlation.

Formulas: Joanes and Gill, "Comparing measures of sample skewness and kurtosis" (1998), for those without bias.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.special as sp
import scipy.stats as st

from tangentc.core.ops import stopped as stop_gradient
from tangentc.rules.registry import defined


# ------------------------------------------------------------------ moments
def central(x, order, axis, keepdims=False):
    return np.mean((x - np.mean(x, axis=axis, keepdims=True)) ** order, axis=axis, keepdims=keepdims)


def standardised(a, order, axis, keepdims):
    """A central moment by that power of the deviation, NaN where entries are equal, and how many entries there are."""
    x = np.asarray(a)
    m2, mean = central(x, 2, axis, keepdims), np.mean(x, axis=axis, keepdims=keepdims)
    spread = np.where(m2 <= (np.finfo(m2.dtype).resolution * mean) ** 2, np.nan, m2)
    return central(x, order, axis, keepdims) / spread ** (order / 2), np.size(x) // np.size(m2)


@defined(st.skew)
def skew(a, axis=0, bias=True, *, keepdims=False):
    g, n = standardised(a, 3, axis, keepdims)
    return g if bias or n < 3 else g * (np.sqrt(n * (n - 1)) / (n - 2))


@defined(st.kurtosis)
def kurtosis(a, axis=0, fisher=True, bias=True, *, keepdims=False):
    b, n = standardised(a, 4, axis, keepdims)
    if not bias and n > 3:
        b = ((n**2 - 1) * b - 3 * (n - 1) ** 2) / ((n - 2) * (n - 3)) + 3
    return b - 3 if fisher else b


@defined(st.moment)
def moment(a, order=1, axis=0, *, center=None, keepdims=False):
    x = np.asarray(a)
    d = x - (np.mean(x, axis=axis, keepdims=True) if center is None else center)
    if np.ndim(order) > 0:
        return np.stack([np.mean(d**k, axis=axis, keepdims=keepdims) for k in order])
    return np.mean(d**order, axis=axis, keepdims=keepdims)


@defined(st.variation)
def variation(a, axis=0, *, ddof=0, keepdims=False):
    return np.std(a, axis=axis, ddof=ddof, keepdims=keepdims) / np.mean(a, axis=axis, keepdims=keepdims)


@defined(st.sem)
def sem(a, axis=0, ddof=1, *, keepdims=False):
    deviation = np.std(a, axis=axis, ddof=ddof, keepdims=keepdims)
    return deviation / np.sqrt(np.size(a) // np.size(deviation))


@defined(st.zmap)
def zmap(scores, compare, axis=0, ddof=0):
    deviation = np.std(compare, axis=axis, ddof=ddof, keepdims=True)
    return (scores - np.mean(compare, axis=axis, keepdims=True)) / np.where(deviation == 0, np.nan, deviation)


@defined(st.zscore)
def zscore(a, axis=0, ddof=0):
    return zmap(np.asarray(a), np.asarray(a), axis, ddof)


@defined(st.gzscore)
def gzscore(a, *, axis=0, ddof=0):
    return zscore(np.log(a), axis, ddof)


@defined(st.median_abs_deviation)
def median_abs_deviation(x, axis=0, *, scale=1.0, keepdims=False):
    away = np.abs(x - np.median(x, axis=axis, keepdims=True))
    unit = st.norm.ppf(0.75) if isinstance(scale, str) else scale  # "normal"
    return np.median(away, axis=axis, keepdims=keepdims) / unit


# ------------------------------------------------------------------ means and entropies
@defined(st.gmean)
def gmean(a, axis=0, dtype=None, weights=None, *, keepdims=False):
    return np.exp(np.average(np.log(np.asarray(a, dtype=dtype)), axis=axis, weights=weights, keepdims=keepdims))


@defined(st.hmean)
def hmean(a, axis=0, dtype=None, *, weights=None, keepdims=False):
    x = np.asarray(a, dtype=dtype)
    return 1 / np.average(1 / np.where(x < 0, np.nan, x), axis=axis, weights=weights, keepdims=keepdims)


@defined(st.gstd)
def gstd(a, axis=0, ddof=1, *, keepdims=False):
    return np.exp(np.std(np.log(a), axis=axis, ddof=ddof, keepdims=keepdims))


@defined(st.entropy)
def entropy(pk, qk=None, base=None, axis=0, *, keepdims=False):
    p = pk / np.sum(pk, axis=axis, keepdims=True)
    terms = sp.entr(p) if qk is None else sp.rel_entr(p, qk / np.sum(qk, axis=axis, keepdims=True))
    return np.sum(terms, axis=axis, keepdims=keepdims) / (1 if base is None else np.log(base))


# ------------------------------------------------------------------ correlation and regression
class Correlation(NamedTuple):
    statistic: Any
    pvalue: Any


class Line(NamedTuple):
    slope: Any
    intercept: Any
    rvalue: Any
    pvalue: Any
    stderr: Any


@defined(st.pearsonr)
def pearsonr(x, y):
    u, v = x - np.mean(x), y - np.mean(y)
    r = np.sum(u * v) / np.sqrt(np.sum(u * u) * np.sum(v * v))
    r = r + stop_gradient(np.clip(r, -1, 1) - r)
    if len(x) == 2:
        return Correlation(r, np.ones_like(r))
    return Correlation(r, 2 * sp.betainc(len(x) / 2 - 1, len(x) / 2 - 1, (1 - np.abs(r)) / 2))


@defined(st.linregress)
def linregress(x, y):
    r, p = pearsonr(np.asarray(x), np.asarray(y))
    slope = np.sum((x - np.mean(x)) * y) / (np.var(x) * len(x))
    error = np.sqrt((1 - r**2) * np.var(y) / np.var(x) / (len(x) - 2))
    return Line(slope, np.mean(y) - slope * np.mean(x), r, p, error)
