"""Elementary functions without branches, which LLVM makes SIMD code of where a loop calls them.

Each has at most 2 ulp of error anywhere, and the values of the C library at zeros, infinities and NaN.  A name is of
`float64`, with ``_32`` of `float32`; `sin` and `cos` are of `float64` alone: the C library's of `float32` are as quick.
What depends on the argument is selected, never branched on; nothing is contracted or reassociated, so that the value is
the same in a SIMD loop and out of it.  The text is for Numba, which only compiled code needs.

    exp(x)         x = k log 2 + r, 2^k by its bits, the rest by a polynomial: Cody and Waite, Software Manual for the
                   Elementary Functions (1980), chapter 6; Tang, ACM TOMS 15 (1989)
    log, log1p     x = 2^k (1 + f), log(1 + f) = f - f^2/2 + s (f^2/2 + R(s^2)), s = f / (2 + f): Ng, fdlibm (1993)
    tanh(x)        a rational function near 0, 1 - 2 / (exp(2x) + 1) beyond: Cody and Waite, chapter 12; Moshier,
                   Methods and Programs for Mathematical Functions (1989)
    sin, cos       x = k pi / 2 + r by the digits of 2 / pi that count: Payne and Hanek, ACM SIGNUM Newsletter 18
                   (1983); by products and sums that are exact: Dekker, Numerische Mathematik 18 (1971)
    erf(x)         a polynomial near 0, 1 - exp(-x^2) p(x) / q(x) beyond: W. J. Cody, Mathematics of Computation 23
                   (1969)
    sigmoid(x)     1 / (1 + exp(-x)), by exp(-|x|), which does not overflow

Polynomials without a source are Chebyshev interpolants of the function that their name says (`mpmath.chebyfit`), with
the lowest coefficient first.
"""

import math

import numba
import numpy as np

# What turns a number into a whole one, when it is added and taken off: 1.5 times the first number whose ulp is 1.
WHOLE, WHOLE_32 = 6755399441055744.0, np.float32(12582912.0)
LOG2_E, LOG2_E_32 = 1.4426950408889634, np.float32(1.4426950408889634)
ONE_BITS, ONE_BITS_32 = 0x3FF0000000000000, 0x3F800000
SQRT_HALF_BITS, SQRT_HALF_BITS_32 = 0x3FE6A09E667F3BCD, 0x3F3504F3
FRACTION, FRACTION_32 = 0x000FFFFFFFFFFFFF, 0x007FFFFF
POSITIVE, POSITIVE_32 = 0x7FFFFFFFFFFFFFFF, 0x7FFFFFFF
TWO_52, TWO_52_BITS = 4503599627370496.0, 0x4330000000000000
NORMAL, NORMAL_32 = 2.2250738585072014e-308, np.float32(1.17549435e-38)
ONE_32, TWO_32, HALF_32 = np.float32(1.0), np.float32(2.0), np.float32(0.5)
LOG_2, LOG_2_REST = 0.693145751953125, 1.42860682030941723212e-6  # whole numbers times the first are exact: few bits
LOG_2_32, LOG_2_REST_32 = np.float32(0.693359375), np.float32(-2.12194440e-4)
LONG_LOG_2, LONG_LOG_2_REST = 6.93147180369123816490e-01, 1.90821492927058770002e-10

EXP = (  # (exp(r) - 1 - r) / r^2, |r| < log(2) / 2
    0.5, 0.1666666666666667, 0.04166666666666667, 0.008333333333326136, 0.0013888888888883748, 0.00019841269874820627,
    2.4801587325547743e-05, 2.7557255400206422e-06, 2.75572736431103e-07, 2.5105217004720745e-08,
    2.0914686968086876e-09,
)  # fmt: skip
EXP_32 = (
    np.float32(0.5), np.float32(0.16666667), np.float32(0.041666467), np.float32(0.0083333105), np.float32(0.001393365),
    np.float32(0.00019890991),
)  # fmt: skip
LOG = (  # (log((1 + s) / (1 - s)) - 2 s) / s^3 in s^2, where the quotient lies between 1 / sqrt(2) and sqrt(2)
    0.666666666666667, 0.39999999999899505, 0.28571428625975487, 0.2222221113479508, 0.18182889125261723,
    0.15331721600556042, 0.14616449685043406,
)  # fmt: skip
LOG_32 = (np.float32(0.6666667), np.float32(0.40000123), np.float32(0.28550822), np.float32(0.23330468))
TANH = (  # Moshier: (tanh(x) / x - 1) / x^2 in x^2 for |x| < 0.625, the numerator and the denominator
    (-1.61468768441708447952e3, -9.92877231001918586564e1, -9.64399179425052238628e-1),
    (4.84406305325125486048e3, 2.23548839060100448583e3, 1.12811678491632931402e2),
)
TANH_32 = (
    np.float32(-0.33333334), np.float32(0.13333304), np.float32(-0.053959258), np.float32(0.021768918),
    np.float32(-0.008343945), np.float32(0.0022927448),
)  # fmt: skip
ERF = (  # erf(x) / x - 1 in x^2 for |x| < 1.125
    0.1283791670955126, -0.37612638903183754, 0.11283791670955097, -0.026866170645125722, 0.005223977625387409,
    -0.0008548327020180941, 0.0001205533285425926, -1.4925646943345033e-05, 1.6462049632839944e-06,
    -1.63649613991563e-07, 1.4798469004412754e-08, -1.2228551876345938e-09, 9.111659606143843e-11,
    -5.6506481870594715e-12, 2.169506620003183e-13,
)  # fmt: skip
ERFC = (  # Cody: erfc(x) exp(x^2), the numerator and the denominator
    (
        1.23033935479799725e3, 2.05107837782607147e3, 1.71204761263407058e3, 8.81952221241769090e2,
        2.98635138197400131e2, 6.61191906371416295e1, 8.88314979438837594, 5.64188496988670089e-1,
        2.15311535474403846e-8,
    ),
    (
        1.23033935480374942e3, 3.43936767414372164e3, 4.36261909014324716e3, 3.29079923573344963e3,
        1.62138957456669019e3, 5.37181101862009858e2, 1.17693950891312499e2, 1.57449261107098347e1,
    ),
)  # fmt: skip
ERF_32 = (  # for |x| < 1
    np.float32(0.12837917), np.float32(-0.37612626), np.float32(0.11283594), np.float32(-0.026854211),
    np.float32(0.0051890872), np.float32(-0.00080168643), np.float32(7.875875e-05),
)  # fmt: skip
ERFC_32 = (  # erfc(x) exp(x^2) in 1 / (1 + x / 2), between 1 and 4
    np.float32(0.0006157792), np.float32(0.27349544), np.float32(0.33150294), np.float32(0.09938354),
    np.float32(0.40682164), np.float32(-0.059829425), np.float32(-0.052683588),
)  # fmt: skip

SIN = (  # (sin(r) / r - 1) / r^2 in r^2 for |r| < pi / 4
    -0.16666666666666666, 0.008333333333330946, -0.0001984126983675497, 2.755731610068303e-06, -2.5051131455427946e-08,
    1.591810123027412e-10,
)  # fmt: skip
COS = (  # (cos(r) - 1 + r^2 / 2) / r^4 in r^2
    0.041666666666666664, -0.0013888888888887395, 2.4801587298763433e-05, -2.7557317270560326e-07,
    2.0876146024689747e-09, -1.1382614868556325e-11,
)  # fmt: skip
HALF_PI = (1.5707963109016418, 1.5893254773528196e-08, 1.5707963267948966)  # its first 26 bits, the rest, and all
# 2 / pi in digits of base 2^26 between -2^25 and 2^25: in each entry the digits k and k + 1, from k = -2 on.
TWO_OVER_PI = np.array((
    0.0, 1.0, 42722830.0, -1636519057759167.0, -1245123815244022.0, 1453537852117493.0, -739662812186877.0,
    930032448317786.0, 1927054757925092.0, -1904063956255151.0, 290242171940731.0, 1753437238482459.0,
    -297587852108913.0, 2010380679400915.0, -1960191742437083.0, -562517991579491.0, -1202305422293184.0,
    442128196823837.0, -2120217270114659.0, -1386920304277469.0, -76826001192017.0, 1676955942683882.0,
    -824549323980645.0, -1751511633365020.0, -818175963929482.0, 344773503845203.0, -1998855014460814.0,
    1019564171589820.0, 307738424789519.0, -570473744172904.0, -985289656928234.0, -2334960582925.0,
    1693229850583767.0, -262184767951585.0, -2205944633828869.0, 1921293170670769.0, 1066469411378130.0,
    -1768773728115042.0, -1972959908484938.0, 1687350234217388.0, -763135393072772.0, 2229697668398343.0,
    1667908084686377.0, 1019765445963431.0, 1307021278107628.0, -1130986471453347.0, 1264667953551373.0,
    146648219283400.0,
))  # fmt: skip
TWO_OVER_PI.flags.writeable = False


# ------------------------------------------------------------ float64
@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def power_of_two(k):
    """2^k, for a whole number from -1022 to 1023."""
    return np.int64((np.float64(k + WHOLE).view(np.int64) << 52) + ONE_BITS).view(np.float64)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def exp_and_power(x):
    """exp(x) / 2^k, and k."""
    k = (x * LOG2_E + WHOLE) - WHOLE
    r = (x - k * LOG_2) - k * LOG_2_REST
    r2 = r * r
    r4 = r2 * r2
    low = (EXP[0] + EXP[1] * r) + (EXP[2] + EXP[3] * r) * r2
    middle = (EXP[4] + EXP[5] * r) + (EXP[6] + EXP[7] * r) * r2
    high = (EXP[8] + EXP[9] * r) + EXP[10] * r2
    return 1.0 + (r + r2 * (low + r4 * (middle + r4 * high))), k


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def exp(x):
    """The exponential function.

    The power of 2 in two factors: the first product is exact, the second overflows or is rounded once.
    """
    x = np.float64(x)
    x = -746.0 if x < -746.0 else x
    x = 710.0 if x > 710.0 else x
    y, k = exp_and_power(x)
    half = (k * 0.5 + WHOLE) - WHOLE
    return y * power_of_two(half) * power_of_two(k - half)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def sigmoid(x):
    """The logistic function, 1 / (1 + exp(-x)).

    Where e = exp(x) is small, e / (1 + e) = e - e e / (1 + e), in which few errors count.
    """
    x = np.float64(x)
    small = exp(-abs(x))
    y = (1.0 if x >= 0.0 else small) / (1.0 + small)
    return small - small * y if x < -1.0 else y


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def log_parts(x):
    """k and m with x = 2^k m, m between 1 / sqrt(2) and sqrt(2), for x that is normal and positive."""
    bits = (np.float64(x).view(np.int64) + (ONE_BITS - SQRT_HALF_BITS)) & POSITIVE
    k = np.int64((bits >> 52) | TWO_52_BITS).view(np.float64) - (TWO_52 + 1023.0)
    return k, np.int64((bits & FRACTION) + SQRT_HALF_BITS).view(np.float64)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def log_sum(k, f, rest):
    """k log(2) + log(1 + f) + rest."""
    s = f / (2.0 + f)
    z = s * s
    w = z * z
    even = LOG[1] + w * (LOG[3] + w * LOG[5])
    odd = LOG[0] + w * (LOG[2] + w * (LOG[4] + w * LOG[6]))
    half = 0.5 * f * f
    return k * LONG_LOG_2 - ((half - (s * (half + (z * odd + w * even)) + (k * LONG_LOG_2_REST + rest))) - f)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def log(x):
    """The natural logarithm.  Subnormal numbers are scaled by 2^54 first."""
    x = np.float64(x)
    tiny = x < NORMAL
    k, m = log_parts(x * 18014398509481984.0 if tiny else x)
    y = log_sum(k - 54.0 if tiny else k, m - 1.0, 0.0)
    y = y if x < math.inf else x  # NaN too
    y = y if x > 0.0 else math.nan
    return -math.inf if x == 0.0 else y


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def log1p(x):
    """The natural logarithm of 1 + x.

    Where 1 + x is near 1 its logarithm is that of x itself; else what rounding 1 + x lost is added.
    """
    x = np.float64(x)
    u = 1.0 + x
    lost = 1.0 - (u - x) if x >= 1.0 else x - (u - 1.0)
    k, m = log_parts(u)
    near = k == 0.0
    y = log_sum(k, x if near else m - 1.0, 0.0 if near else lost / u)
    y = y if x < math.inf else x
    y = y if x > -1.0 else math.nan
    y = -math.inf if x == -1.0 else y
    return x if x == 0.0 else y  # -0.0 too


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def tanh(x):
    """The hyperbolic tangent.  Both formulas are x + p / q: one division does."""
    x = np.float64(x)
    a = abs(x)
    z = x * x
    p = (TANH[0][2] * z + TANH[0][1]) * z + TANH[0][0]
    q = ((z + TANH[1][2]) * z + TANH[1][1]) * z + TANH[1][0]
    a = 20.0 if a > 20.0 else a
    y, k = exp_and_power(2.0 * a)
    near = a < 0.625
    over = a * z * p if near else -2.0
    under = q if near else y * power_of_two(k) + 1.0
    return math.copysign((a if near else 1.0) + over / under, x)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def at_degree_7(c, x, x2):
    """A polynomial up to the term x^7, pair by pair (Estrin)."""
    low = (c[0] + c[1] * x) + (c[2] + c[3] * x) * x2
    return low + ((c[4] + c[5] * x) + (c[6] + c[7] * x) * x2) * (x2 * x2)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def erf(x):
    """The error function.

    From 6 on erf is 1; up to there the second formula of Cody's three is exact enough, since erfc is small.
    """
    x = np.float64(x)
    a = abs(x)
    a = 6.0 if a > 6.0 else a
    z = a * a
    near = ERF[14]
    for n in range(13, -1, -1):
        near = near * z + ERF[n]
    p, q = at_degree_7(ERFC[0], a, z) + ERFC[0][8] * (z * z) * (z * z), at_degree_7(ERFC[1], a, z) + (z * z) * (z * z)
    y, k = exp_and_power(-z)
    far = 1.0 - y * power_of_two(k) * p / q
    return math.copysign(a + a * near if a < 1.125 else far, x)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def two_sum(a, b):
    """a + b as it is rounded, and what that lost (Knuth)."""
    total = a + b
    part = total - a
    return total, (a - (total - part)) + (b - part)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def scaled_and_digits(x):
    """M 2^s and where the digits of 2 / pi begin, for x = M 2^e with a whole M of 53 bits: those before would give
    multiples of 4.  The one that begins has the weight 2^(s - 24)."""
    bits = np.float64(x).view(np.int64) & POSITIVE
    above = (bits >> 52) - 999  # e + 76
    n = 0 if above < 0 else above
    k = (n * 2521) >> 16  # n // 26
    return np.int64((bits & FRACTION) | ((n - 26 * k + 1075) << 52)).view(np.float64), k


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def without_multiples_of_4(x):
    """x up to a multiple of 4, between -2 and 2."""
    return x - ((x + 4.0 * WHOLE) - 4.0 * WHOLE)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def quadrant(x):
    """|x| = k pi / 2 + r + rest: a number whose last bits are those of k, r between -pi / 4 and pi / 4, and the rest.

    M has two halves, and each entry of the table two digits, so that their products and the sums of two are exact.
    """
    m, k = scaled_and_digits(x)
    high = np.int64(np.float64(m).view(np.int64) & -0x4000000).view(np.float64)
    low = m - high
    p0, p2 = TWO_OVER_PI[k] * 2.0**-50, TWO_OVER_PI[k + 2] * 2.0**-102
    p4, p6 = TWO_OVER_PI[k + 4] * 2.0**-154, TWO_OVER_PI[k + 6] * 2.0**-206
    w0 = (p0 + WHOLE * 2.0**-24) - WHOLE * 2.0**-24
    w2 = (p2 + WHOLE * 2.0**-76) - WHOLE * 2.0**-76
    w4 = (p4 + WHOLE * 2.0**-128) - WHOLE * 2.0**-128
    w1, w3, w5 = p0 - w0, p2 - w2, p4 - w4
    most = without_multiples_of_4(low * w0 + high * w1) + without_multiples_of_4(low * w1 + high * w2)
    next_ = low * w2 + high * w3
    whole = (most + next_) + WHOLE
    f, lost = two_sum(most - (whole - WHOLE), next_)
    f, lost_2 = two_sum(f, low * w3 + high * w4)
    f, lost_3 = two_sum(f, low * w4 + high * w5)
    tail = ((lost + lost_2) + lost_3) + (low * w5 + m * p6)
    turn = f + tail
    tail = (f - turn) + tail
    head = np.int64(np.float64(turn).view(np.int64) & -0x8000000).view(np.float64)
    first = head * HALF_PI[0]
    more = (turn - head) * HALF_PI[0] + (turn * HALF_PI[1] + tail * HALF_PI[2])
    r = first + more
    return whole, r, (first - r) + more


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def sin_and_cos_near_0(r, rest):
    """The sine and the cosine of r + rest."""
    z = r * r
    z2 = z * z
    sine = (SIN[0] + SIN[1] * z) + ((SIN[2] + SIN[3] * z) + (SIN[4] + SIN[5] * z) * z2) * z2
    cosine = (COS[0] + COS[1] * z) + ((COS[2] + COS[3] * z) + (COS[4] + COS[5] * z) * z2) * z2
    half = 0.5 * z
    most = 1.0 - half
    return r + (r * z * sine + rest * most), most + (((1.0 - most) - half) + (z2 * cosine - r * rest))


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def sin(x):
    """The sine.  By the quadrant, with the sign of x."""
    x = np.float64(x)
    whole, r, rest = quadrant(x)
    near = abs(x) < 0.7853981633974483
    whole, r, rest = WHOLE if near else whole, abs(x) if near else r, 0.0 if near else rest
    sine, cosine = sin_and_cos_near_0(r, rest)
    k = np.float64(whole).view(np.int64)
    y = cosine if k & 1 else sine
    sign = ((k & 2) << 62) ^ (np.float64(x).view(np.int64) & ~POSITIVE)
    y = np.int64(np.float64(y).view(np.int64) ^ sign).view(np.float64)
    return y if abs(x) < math.inf else math.nan


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def cos(x):
    """The cosine.  By the quadrant."""
    x = np.float64(x)
    whole, r, rest = quadrant(x)
    near = abs(x) < 0.7853981633974483
    whole, r, rest = WHOLE if near else whole, abs(x) if near else r, 0.0 if near else rest
    sine, cosine = sin_and_cos_near_0(r, rest)
    k = np.float64(whole).view(np.int64)
    y = sine if k & 1 else cosine
    y = np.int64(np.float64(y).view(np.int64) ^ (((k + 1) & 2) << 62)).view(np.float64)
    return y if abs(x) < math.inf else math.nan


# ------------------------------------------------------------ float32
@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def power_of_two_32(k):
    """2^k, for a whole number from -126 to 127."""
    return np.int32((np.float32(k + WHOLE_32).view(np.int32) << 23) + ONE_BITS_32).view(np.float32)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def exp_and_power_32(x):
    """exp(x) / 2^k, and k."""
    k = (x * LOG2_E_32 + WHOLE_32) - WHOLE_32
    r = (x - k * LOG_2_32) - k * LOG_2_REST_32
    r2 = r * r
    low = EXP_32[0] + EXP_32[1] * r
    high = (EXP_32[2] + EXP_32[3] * r) + (EXP_32[4] + EXP_32[5] * r) * r2
    return ONE_32 + (r + r2 * (low + r2 * high)), k


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def exp_32(x):
    """As `exp`."""
    x = np.float32(-105.0) if x < np.float32(-105.0) else x
    x = np.float32(90.0) if x > np.float32(90.0) else x
    y, k = exp_and_power_32(x)
    half = (k * HALF_32 + WHOLE_32) - WHOLE_32
    return y * power_of_two_32(half) * power_of_two_32(k - half)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def sigmoid_32(x):
    """As `sigmoid`."""
    small = exp_32(-abs(x))
    y = (ONE_32 if x >= np.float32(0.0) else small) / (ONE_32 + small)
    return small - small * y if x < -ONE_32 else y


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def log_parts_32(x):
    """As `log_parts`."""
    bits = np.int32(np.float32(x).view(np.int32) + (ONE_BITS_32 - SQRT_HALF_BITS_32)) & POSITIVE_32
    k = np.float32(np.int32((bits >> 23) - 127))
    return k, np.int32((bits & FRACTION_32) + SQRT_HALF_BITS_32).view(np.float32)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def log_sum_32(k, f, rest):
    """As `log_sum`."""
    s = f / (TWO_32 + f)
    z = s * s
    series = z * (LOG_32[0] + z * (LOG_32[1] + z * (LOG_32[2] + z * LOG_32[3])))
    half = HALF_32 * f * f
    return k * LOG_2_32 - ((half - (s * (half + series) + (k * LOG_2_REST_32 + rest))) - f)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def log_32(x):
    """As `log`; subnormal numbers are scaled by 2^25."""
    tiny = x < NORMAL_32
    k, m = log_parts_32(x * np.float32(33554432.0) if tiny else x)
    y = log_sum_32(k - np.float32(25.0) if tiny else k, m - ONE_32, np.float32(0.0))
    y = y if x < np.float32(math.inf) else x
    y = y if x > np.float32(0.0) else np.float32(math.nan)
    return np.float32(-math.inf) if x == np.float32(0.0) else y


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def log1p_32(x):
    """As `log1p`."""
    u = ONE_32 + x
    lost = ONE_32 - (u - x) if x >= ONE_32 else x - (u - ONE_32)
    k, m = log_parts_32(u)
    near = k == np.float32(0.0)
    y = log_sum_32(k, x if near else m - ONE_32, np.float32(0.0) if near else lost / u)
    y = y if x < np.float32(math.inf) else x
    y = y if x > -ONE_32 else np.float32(math.nan)
    y = np.float32(-math.inf) if x == -ONE_32 else y
    return x if x == np.float32(0.0) else y


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def tanh_32(x):
    """As `tanh`, with a polynomial near 0."""
    a = abs(x)
    z = x * x
    low = (TANH_32[0] + TANH_32[1] * z) + (TANH_32[2] + TANH_32[3] * z) * (z * z)
    series = low + (TANH_32[4] + TANH_32[5] * z) * (z * z) * (z * z)
    a = np.float32(10.0) if a > np.float32(10.0) else a
    y, k = exp_and_power_32(TWO_32 * a)
    far = ONE_32 - TWO_32 / (y * power_of_two_32(k) + ONE_32)
    return math.copysign(a + a * (z * series) if a < np.float32(0.625) else far, x)


@numba.njit(error_model="numpy", fastmath=False, forceinline=True)
def erf_32(x):
    """A polynomial near 0, and one in 1 / (1 + |x| / 2) beyond."""
    a = abs(x)
    a = np.float32(4.0) if a > np.float32(4.0) else a
    z = a * a
    near = ERF_32[6]
    for n in range(5, -1, -1):
        near = near * z + ERF_32[n]
    t = ONE_32 / (ONE_32 + HALF_32 * a)
    tail = ERFC_32[6]
    for n in range(5, -1, -1):
        tail = tail * t + ERFC_32[n]
    y, k = exp_and_power_32(-z)
    far = ONE_32 - y * power_of_two_32(k) * tail
    return math.copysign(a + a * near if a < ONE_32 else far, x)
