"""Programs that use the language: closures, classes, containers that change, ways out of loops, aliases."""

import functools
import itertools
import math
import operator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np

normal = np.random.default_rng(5).normal
uniform = np.random.default_rng(6).uniform


# Functions made inside functions


def closure_sees_the_change(x):
    scale = 1.5

    def scaled(y):
        return y * scale

    first = scaled(x)
    scale = x * x
    return first * scaled(x) + scale


def closures_made_in_a_loop(x):
    late, early = [], []
    for k in range(1, 4):
        w = np.sin(k * x)
        late.append(lambda y: y * w)
        early.append(lambda y, w=w: y + w)
    total = 0.0
    for f, g in zip(late, early):
        total += f(x) * g(x)
    return total


def nonlocal_counter(x, n):
    calls = 0
    total = 0.0

    def visit(y):
        nonlocal calls, total
        calls += 1
        total += y / calls
        return total * y

    for k in range(n):
        x = np.sin(visit(x) + k)
    return total * calls + x


def make_filter(alpha):
    state = 0.0

    def step(u):
        nonlocal state
        state = alpha * u + (1 - alpha) * state
        return state

    return step


def two_filters(u, alpha):
    slow, fast = make_filter(alpha), make_filter(np.sqrt(alpha))
    out = 0.0
    for value in u:
        out += (fast(value) - slow(value)) ** 2
    return out


def closure_changes_array(x, y):
    buffer = np.zeros(len(x))
    trips = 0

    def deposit(i, amount):
        nonlocal trips
        buffer[i] += amount * x[i]
        buffer[i - 1] *= amount
        trips += 1

    for i, amount in enumerate(y):
        deposit(i, amount)
        deposit(-1 - i, amount * amount)
    return np.sum(buffer**2) / trips


def quadrature(f, a, b, n):
    h = (b - a) / n
    return h * (0.5 * f(a) + 0.5 * f(b) + sum(f(a + k * h) for k in range(1, n)))


def integrals(a, b, p):
    inner = lambda s: quadrature(lambda t: np.exp(-p * s * t), 0.0, s, 4)
    return quadrature(lambda t: t**p, a, b, 6) + quadrature(inner, a, b, 3)


def lambdas_on_a_line(x):
    f, g, h = lambda t: t * t, lambda t: np.sin(t) * x, lambda t, s=x: (lambda r: r * s)(t) + s
    return h(g(f(x))) + (lambda t: f(t) - g(t))(x) * (lambda: x * 3)()


def compose(*functions):
    def composed(value):
        for f in reversed(functions):
            value = f(value)
        return value

    return composed


def composition(x, c):
    pipeline = compose(np.sum, lambda v: v * c, np.tanh, lambda v: np.outer(v, v) + c)
    return pipeline(x) + compose(math.exp, math.sin)(c)


def defined_in_a_branch(x, c):
    if c > 1:

        def bend(v):
            return v * c

        rate = 2.0
    else:

        def bend(v):
            return np.sin(v) + c

        rate = c
    return np.sum(bend(x) * rate) + np.sum(bend(x * x))


def recursive_inner(x, n):
    def chebyshev(k):
        if k == 0:
            return 1.0
        if k == 1:
            return x
        return 2 * x * chebyshev(k - 1) - chebyshev(k - 2)

    return sum(chebyshev(k) / (k + 1) for k in range(n))


# Ways to pass arguments


def spring(x, k=2.0, *, rest=0.5, damping=0.0):
    return k * (x - rest) ** 2 + damping * x


def defaults_and_keywords(x, k):
    settings = {"rest": k * 0.1, "damping": x}
    return spring(x) + spring(x, k) + spring(x, damping=k) * spring(k, rest=x) + spring(x, **settings)


def weighted(*terms, power=1, **weights):
    total = 0.0
    for i, term in enumerate(terms):
        total += term**power * (i + 1)
    for name, weight in weights.items():
        total += weight * len(name)
    return total


def forward_all(*args, **kwargs):
    return weighted(*args, **kwargs) * weighted(args[0], *args[::-1], power=2)


def stars_on_both_sides(x, v):
    pair = (x * 2, x + 1.0)
    return forward_all(*pair, *v, gain=x, bias=v[0]) + weighted(*[t * t for t in v]) + weighted(*pair, power=3)


SHIFT = np.array([0.5, -0.25, 1.0])


def default_made_once(x, shift=SHIFT):
    def near(y, centre=x + shift, width=2.0):
        return np.exp(-np.sum((y - centre) ** 2) / width)

    x = x * 1.5
    return near(x) + near(x, width=3.0) * near(x, shift)


def power_law(a, b, x, *, c=1.0):
    return a * x**b + c


def partials(a, x):
    square = functools.partial(power_law, a, 2)
    shifted = functools.partial(square, c=a)
    by_name = functools.partial(power_law, b=0.5, c=a * a)
    return square(x) + shifted(x) * square(a, c=0.0) + by_name(2.0, x=x)


def folds(x, A):
    longest = functools.reduce(lambda s, t: s * 0.5 + np.sin(t), x, 0.3)
    product = functools.reduce(operator.mul, [t + 2.0 for t in x])
    chain = functools.reduce(np.matmul, [A, A.T, A])
    return longest + product + np.sum(chain)


def scaled_by(factor):
    def decorate(f):
        @functools.wraps(f)
        def wrapper(*args, **kwargs):
            return factor * f(*args, **kwargs)

        return wrapper

    return decorate


def twice(f):
    @functools.wraps(f)
    def wrapper(x, *rest):
        return f(f(x, *rest), *rest)

    return wrapper


@twice
@scaled_by(0.5)
def relax(x, target):
    return x + 0.3 * np.sin(target - x)


def decorated(x, target):
    return np.sum(relax(x, target) ** 2) + np.sum(relax.__wrapped__(x, target))


# Recursion


def power(x, n):
    if n == 0:
        return 1.0
    half = power(x, n // 2)
    return half * half if n % 2 == 0 else x * half * half


def recursive_power(x, v):
    return power(x, 5) + np.sum(power(v, 6))


def tree_sum(tree, depth=1):
    if isinstance(tree, tuple):
        return 0.3 * sum(tree_sum(branch, depth + 1) for branch in tree) ** 2 / depth
    return np.sin(tree) * depth


def over_a_tree(tree):
    return tree_sum(tree)


def walk_left(x, k):
    return x if k <= 0 else walk_right(x * 0.5 + np.cos(x), k - 1) + x


def walk_right(x, k):
    if k <= 0:
        return x * x
    return walk_left(np.sin(x), k - 2) * x


def mutual_recursion(x, k):
    return walk_left(x, k) + walk_right(x, k)


def pairwise(v):
    if len(v) <= 2:
        return v.sum()
    m = len(v) // 2
    left, right = pairwise(v[:m]), pairwise(v[m:])
    return left + right + 0.1 * left * right


def recursive_halves(v):
    return pairwise(v)


def refine(a, i, n):
    if i >= n:
        return
    a[i] = np.sin(a[i - 1]) * a[i]
    refine(a, 2 * i, n)
    refine(a, 2 * i + 1, n)


def recursion_in_place(x):
    a = x.copy()
    refine(a, 1, len(a))
    return np.sum(a * x)


# Callables in containers


ACTIVATIONS = {"tanh": np.tanh, "soft": lambda v: np.log1p(np.exp(v)), "cube": lambda v: v**3}


def callables_in_containers(x, y):
    chain = [np.sin, lambda t: t * y, math.exp, functools.partial(power_law, y, 2)]
    for f in chain:
        x = f(x)
    total = sum(f(y) for f in ACTIVATIONS.values())
    for name in ("soft", "tanh"):
        total += ACTIVATIONS[name](x) * len(name)
    return total + {True: math.sqrt, False: math.cos}[y > 0](y)


# Classes


class Affine:
    def __init__(self, W, b, name="affine"):
        self.W = W
        self.b = b
        self.name = name

    def __call__(self, x):
        return x @ self.W + self.b


class Gated(Affine):
    gain = 0.5

    def __init__(self, W, b, gate):
        super().__init__(W, b, name="gated")
        self.gate = gate

    def __call__(self, x):
        return super().__call__(x) * self.squash(self.gate) * self.gain

    @staticmethod
    def squash(v):
        return 1 / (1 + np.exp(-v))

    @classmethod
    def diagonal(cls, d):
        return cls(np.diag(d), 0.1 * d, d)

    @property
    def strength(self):
        return np.sum(self.W**2) + np.sum(self.b) * self.gain


class Loud(Gated):
    gain = 2.0

    @property
    def strength(self):
        return super().strength * np.max(self.gate)


def callable_objects(x, W, b):
    layers = [Affine(W, b), Affine(W.T, b * 2, name="back")]
    for layer in layers:
        x = np.tanh(layer(x))
    return np.sum(x) * len(layers[1].name)


def inheritance(x, W, d):
    gated, loud = Gated(W, d, x), Loud.diagonal(d)
    total = 0.0
    for layer in (gated, loud):
        total += np.sum(layer(x)) + layer.strength
    return total * Loud.squash(d[0])


class Oscillator:
    def __init__(self, q, p, k):
        self.q, self.p, self.k = q, p, k
        self.time = 0.0
        self.trace = []

    def force(self):
        return -self.k * np.sin(self.q)

    def step(self, h):
        self.p = self.p + h * self.force()
        self.q += h * self.p
        self.time += h
        self.trace.append(self.energy)
        return self

    @property
    def energy(self):
        return 0.5 * self.p**2 - self.k * math.cos(self.q)


def attributes_assigned(q, p, k, h):
    pendulum = Oscillator(q, p, k)
    advance = pendulum.step
    for _ in range(4):
        advance(h)
    pendulum.k *= 1.5
    pendulum.step(h).step(h / 2)
    return pendulum.energy + sum(pendulum.trace) * pendulum.time


def early_closures(x):
    powers = [lambda t, k=k: t * k for k in range(1, 4)]
    for f in powers:
        x = f(x) + 1
    return x


def defined_in_a_loop(x):
    powers = []
    for k in range(1, 4):

        def power(t, k=k):
            return t**k

        powers.append(power)
    return sum(f(x) for f in powers)


def closures_of_a_factory_in_a_loop(x, n):
    def make(k):
        scale = np.sin(k * x)

        def made(t):
            return t * scale + x

        return made

    made = [make(k) for k in range(n)]
    t = 1.0
    for f in made:
        t = f(t)
    return t


def partials_made_in_a_loop(x):
    scaled = [functools.partial(operator.mul, k + x) for k in range(3)]
    for f in scaled:
        x = f(x) + x
    return x


def composed(x):
    def compose(f, g):
        return lambda t: f(g(t))

    h = lambda t: t
    for f in (np.sin, np.exp, lambda t: t * t):
        h = compose(f, h)
    return h(x)


class Dual:
    def __init__(self, re, eps):
        self.re, self.eps = re, eps

    def __add__(self, other):
        return Dual(self.re + other.re, self.eps + other.eps)

    def __mul__(self, other):
        if not isinstance(other, Dual):
            return Dual(self.re * other, self.eps * other)
        return Dual(self.re * other.re, self.re * other.eps + self.eps * other.re)

    __rmul__ = __mul__

    def __getitem__(self, i):
        return (self.re, self.eps)[i]


def operators_of_a_class(x, y):
    u, v = Dual(x, 1.0), Dual(y, x)
    w = u * v + 2.0 * u * u
    w = w * w + v
    return w[0] + w.eps * w[1]


class Registers:
    def __init__(self, n):
        self.cells = np.zeros(n)

    def __getitem__(self, i):
        return self.cells[i]

    def __setitem__(self, i, value):
        self.cells[i] = value

    def __len__(self):
        return len(self.cells)


def items_of_an_object(x):
    r = Registers(4)
    r[1:] = x[:3]
    r[0] = r[1] * r[2]
    r[-1] += r[0] ** 2
    r.cells[2] *= x[3]
    return np.sum(np.sin(r.cells)) * len(r)


@dataclass
class Body:
    mass: float
    position: np.ndarray
    velocity: np.ndarray

    def kick(self, force, h):
        self.velocity += force * h / self.mass

    def drift(self, h):
        self.position = self.position + h * self.velocity

    @property
    def kinetic(self):
        return 0.5 * self.mass * np.sum(self.velocity**2)


@dataclass
class Recorder:
    weight: float = 0.5
    rows: list = field(default_factory=list)

    def log(self, row):
        self.rows.append(self.weight * row)


def dataclass_that_moves(body, k, h):
    recorder = Recorder()
    for _ in range(3):
        body.kick(-k * body.position, h)
        body.drift(h)
        recorder.log(body.position)
    heavy = replace(body, mass=body.mass * 2)
    return heavy.kinetic + body.kinetic + np.sum(np.stack(recorder.rows) ** 2)


@dataclass(frozen=True)
class Ring:
    radius: float
    axis: np.ndarray

    def moved(self, by):
        return replace(self, radius=self.radius + by, axis=self.axis * by)


def frozen_dataclasses(rings, by):
    moved = [r.moved(by * k) for k, r in enumerate(rings, start=1)]
    return sum(r.radius**2 * np.sum(r.axis) for r in moved) + rings[0].radius


class State(NamedTuple):
    mean: np.ndarray
    count: float = 0.0

    def updated(self, x):
        n = self.count + 1
        return self._replace(mean=self.mean + (x - self.mean) / n, count=n)


def named_tuple_methods(X):
    state = State(np.zeros(X.shape[1]))
    for row in X[:-1]:
        state = state.updated(row * row)
    mean, count = state
    return np.sum(mean * X[-1]) * count


# Containers that change


def list_that_grows(x):
    history = [x]
    for k in range(3):
        history.append(np.sin(history[-1]) * (k + 1))
    history.extend([x * x, history[0] + history[1]])
    last = history.pop()
    history.insert(1, last * history.pop(0))
    history[2] = history[2] * x
    history[-1] += last
    history += [x]
    del history[0]
    return sum(h * (k + 1) for k, h in enumerate(history)) + len(history)


def stack_machine(a, b):
    stack = []
    for token in ["a", "b", "*", "a", "sin", "+", "b", "-"]:
        if token == "a":
            stack.append(a)
        elif token == "b":
            stack.append(b)
        elif token == "sin":
            stack.append(math.sin(stack.pop()))
        else:
            right, left = stack.pop(), stack.pop()
            stack.append({"*": operator.mul, "+": operator.add, "-": operator.sub}[token](left, right))
    (result,) = stack
    return result


def list_alias(x):
    rows = [x * k for k in (1.0, 2.0, 3.0)]
    same, copied = rows, rows[:]
    same[0] = same[0] * same[1]
    copied[1] += 1.0
    same.reverse()
    nested = [rows, [copied[2]]]
    nested[0][1] = nested[1][0] * 0.5
    return np.sum(rows[0] * rows[1] * rows[2]) + np.sum(copied[0] * copied[1])


def dict_filled_by_key(x):
    memo = {0: x, 1: x * x}
    for k in range(2, 6):
        memo[k] = memo[k - 1] * memo[k - 2] + memo.get(k - 4, 0.5)
    memo.update(last=memo[5], first=memo.pop(0))
    memo["last"] *= 2
    memo.setdefault("last", 0.0)
    extra = memo.setdefault("extra", x + 1)
    return sum(memo.values()) * extra if "first" in memo else x


def groups(x, labels):
    by_label = {}
    for value, label in zip(x, labels):
        by_label.setdefault(label, []).append(value)
    return sum(len(v) * np.mean(v) ** 2 for v in by_label.values()) + sum(by_label[max(by_label)])


def comprehensions(A, c):
    rows = [np.sin(row) * c for row in A if row[0] > 0]
    table = [[a * b for b in rows[0]] for a in A[1]]
    flat = [t for row in table for t in row if t < 1.5]
    scale = c
    sides = [scale * np.sum(r) for scale, r in enumerate(rows)]
    return np.sum(np.array(table)) + sum(flat) * scale + sum(sides) + np.sum(np.vstack(rows))


def dict_comprehensions(params, rate):
    grown = {name: value * (1 + rate) for name, value in params.items()}
    steps = {name: rate * np.cos(grown[name]) for name in grown if not name.startswith("fixed")}
    merged = {**params, **{name: grown[name] - step for name, step in steps.items()}}
    return sum(np.sum(v**2) for v in merged.values()) + len(steps)


def generators(x, y):
    norm = math.sqrt(sum(t * t for t in x))
    dot = sum((a * b for a, b in zip(x, y)), start=norm)
    largest = max(a * b for a in x for b in y) + max(tuple(norm - t for t in y))
    worst = min((a + b for a, b in zip(x, reversed(y))), default=0.0)
    several = all(t < 10 for t in x) and any(t > 0 for t in y)
    return dot * largest + worst + np.sum(np.array([t * norm for t in y])) * several


def series(x, n):
    term = 1.0
    for k in range(1, n + 1):
        yield term
        term = term * x / k


def yielded(x, n):
    total = 0.0
    for k, term in enumerate(series(x, n)):
        total += term * math.cos(k)
    return total * sum(series(-x, n))


def iterators(x, y):
    total = sum(map(lambda a, b: a * b * b, x, y))
    for i, (a, b) in enumerate(zip(x, y), start=1):
        total += i * a / (1 + b * b)
    for k, a in zip(itertools.count(2), reversed(x)):
        total = total * 0.9 + a**k
    ranked = sorted(x, reverse=True)
    by_size = sorted(zip(x, y), key=lambda pair: pair[0] * pair[1])
    total += ranked[0] * ranked[1] + by_size[0][1] * by_size[-1][0]
    total += sum(filter(lambda t: t > 0.5, y))
    for a, b in itertools.product(x[:2], y[1:]):
        total += np.sin(a * b)
    return total + list(itertools.accumulate(y, lambda s, t: s * t + 1.0))[-1]


# Ways out of loops


def early_return_in_a_loop(x, limit):
    total = 0.0
    for i in range(len(x)):
        for j in range(i + 1):
            total += x[i] * x[j]
            if total > limit:
                return total * x[i] + limit
        total *= 1.1
    return total * total - limit


def for_else(x, threshold):
    for k, value in enumerate(x):
        if value > threshold:
            found = value * threshold
            break
        x[k] = value * 2
    else:
        found = np.sum(x) * threshold
    return found + np.sum(x**2)


def while_true(x, y):
    trips = 0
    while True:
        trips += 1
        x, y = 0.5 * (x + y), math.sqrt(x * y)
        if trips % 2:
            continue
        x = x + 0.01 * y
        if abs(x - y) < 0.1 or trips > 20:
            break
    return math.pi / (2 * x) + trips * y


def while_else(x, n):
    k = 0
    while k < n:
        if x > 4:
            x = x * 0.5
            break
        x = x * 1.7 + k
        k += 1
    else:
        x = x * x
    return x


def walrus(x):
    total = 0.0
    while (step := 0.5 * x) > 0.2:
        total += step * step
        x = x - step
    if (rest := total - x) > 0 and (square := rest * rest) > 0:
        total += square
    return total * sum((last := t * x) for t in (1.0, 2.0)) + last


def apply_kind(kind, x):
    match kind:
        case "sin" | "cos" as name:
            return np.sin(x) if name == "sin" else np.cos(x)
        case "none":
            return x
        case str(name) if name.startswith("pow"):
            return x ** int(name[3:])
        case _:
            return x * 0.5


def match_number(x, k):
    match k:
        case 0:
            y = x * x
        case 1 | -2:
            y = np.sin(x)
        case _:
            y = 3 * x
    return y


def match_strings(x):
    total = 0.0
    for kind in ("sin", "pow3", "other", "cos", "none"):
        total += apply_kind(kind, x) * (1 + total)
    return total


def evaluate(tree):
    match tree:
        case ("add", left, right):
            return evaluate(left) + evaluate(right)
        case ("mul", *factors):
            return math.prod(evaluate(f) for f in factors)
        case {"sin": inner}:
            return math.sin(evaluate(inner))
        case float(x) | int(x):
            return x
    raise TypeError(tree)


def match_structures(x, y):
    return evaluate(("add", ("mul", x, y, 2), {"sin": ("add", x, ("mul", y, y))}))


def lookup(table, key, x):
    try:
        value = table[key] * x
    except KeyError:
        return x * x
    else:
        value += 1.0
    finally:
        table["reads"] += 1
    return value


def tries(x, y):
    table = {"a": y, "reads": 0}
    total = lookup(table, "a", x) + lookup(table, "b", x * y)
    for k in range(3):
        try:
            total += x / k
            total *= y
        except ZeroDivisionError as error:
            assert "zero" in str(error)
            total += y * 0.5
    return total * table["reads"]


def jittered(A, jitter):
    while True:
        try:
            return np.linalg.cholesky(A + jitter * np.eye(len(A)))
        except np.linalg.LinAlgError:
            jitter = jitter * 10


def cholesky_with_jitter(A, jitter):
    L = jittered(A @ A.T - np.eye(len(A)), jitter)
    return np.sum(np.log(np.diag(L))) + L[1, 0] * jitter


def checked_root(x):
    if x < 0:
        raise ValueError("negative")
    return math.sqrt(x)


def raised_in_a_callee(x):
    total, failed = 0.0, 0
    for value in x:
        try:
            total += checked_root(value)
        except (ValueError, TypeError):
            failed += 1
            total -= value**2
        finally:
            total *= 1.5
    return total / failed


def with_errstate(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = x / (x - x[0])
        y = np.where(np.isfinite(ratio), ratio, x * x)
    return np.sum(y)


# Names


def deleted(x, params):
    t = x * 2
    u = np.sin(t)
    del t
    params = dict(params)
    del params["scale"]
    x = x[1:]
    t = u * u
    return np.sum(t) * np.sum(x) + sum(params.values())


def star_unpacking(x):
    first, *middle, last = x
    (a, b), *_ = [(first * last, middle[0]), (0.0, 0.0)]
    head, *tail = [*middle, a, *(t * t for t in middle)]
    return head * sum(tail) + a * b + sum(np.array([*tail, first]))


def swaps(x):
    a, b, c = x
    for _ in range(5):
        a, b, c = b * c, a, b + 0.1 * a
    v = x.copy()
    v[0], v[2] = v[2] * v[1], v[0]
    v[[0, 1]] = v[[1, 0]]
    i, w = 0, [a, b, c]
    i, w[i] = 1, b * a
    w[i], w[i + 1] = w[i + 1], w[i]
    return a * b + c + np.sum(v * x) + w[0] * w[1] - w[2]


def chained_comparisons(x, y):
    total = 0.0
    for t in x:
        if 0 < t < y <= 2 * y:
            total += t * y
        elif t <= 0 or not y > t > 5:
            total += t * t
        total += (t > 0) * t + (0.2 < t < 0.9) * y
    band = x[(x > -1) & (x < y)]
    a = b = x[0] * y
    b *= 2
    return total + np.sum(band**3) + a * b


def imported_inside(x):
    from math import erf as error_function

    import numpy.linalg as la

    return error_function(x[0]) + la.norm(x) * la.det(np.outer(x, x) + np.eye(len(x)))


def kinds_of_values(x, v):
    total, names = 0.0, ("exp", "sin")
    for item in (x, v, [x, 2.0], {"x": x}, None, 3):
        if item is None:
            continue
        if isinstance(item, np.ndarray):
            total += item.sum()
        elif isinstance(item, list):
            total += item[0] * item[-1]
        elif isinstance(item, dict):
            total += item["x"] ** 2
        elif isinstance(item, float):
            total += getattr(math, names[1])(item) if hasattr(math, names[0]) else item
        else:
            total *= item
    return total


# Arrays under several names


def alias_in_place(x):
    a = x * 2
    b = a
    b += 1
    c = b[:]
    c *= x
    a = a + 1
    a[0] = 0.0
    return np.sum(a * b) + np.sum(c)


def alias_by_branch(x, c):
    a, b = x.copy(), x * x
    target = a if c > 0 else b
    target += c
    other = b if target is a else a
    other[1:] *= target[:-1]
    for k in range(3):
        (a if k % 2 else b)[k] = c * k
    return np.sum(a * b)


def views_of_views(A):
    B = A.copy()
    inner = B[1:-1, 1:-1]
    column = inner[:, 0]
    flat = B.reshape(-1)
    turned = B.T[::-1]
    column *= 2
    flat[::5] += column[0]
    turned[0, 1:3] = inner[0]
    inner[0] -= column[1] * flat[3]
    inner.T[1] *= 0.5
    B.ravel()[2] = B[0, 0] ** 2
    return np.sum(np.sin(B)) + np.sum(column * turned[1, 1:-1])


def smooth_into(out, u, c):
    out[1:-1] = u[1:-1] + c * (u[2:] - 2 * u[1:-1] + u[:-2])
    out[0], out[-1] = u[0], u[-1]


def buffers_swapped(u, c, steps):
    new = np.empty_like(u)
    for _ in range(steps):
        smooth_into(new, u, c)
        u, new = new, u
    return np.sum(u**2) + np.sum(new * u)


def buffers_in_a_list(u, c):
    levels = [u.copy(), np.zeros_like(u)]
    for k in range(5):
        now, then = levels[k % 2], levels[1 - k % 2]
        then[1:] = now[:-1] * c + np.sin(now[1:])
        then[0] = now[-1]
    return np.sum(levels[0] * levels[1])


def mix(y, x, c):
    y += c * x
    y[0] = x[1] * y[0]
    x[-1] *= y[-1]


def arguments_that_alias(u, c):
    a, b = u.copy(), u * u
    mix(a, b, c)
    mix(a, a, c)
    mix(a[1:], a[:-1], 0.5)
    mix(b[::2], b[1::2], c)
    mix(b[:3], a[:3], c)
    return np.sum(a * b)


def normalise(v):
    v /= np.sqrt(np.sum(v * v))
    return v


def returns_its_argument(x, y):
    u = normalise(x)
    u *= y
    w = normalise(x + y)
    w[0] += x[1]
    return np.sum(x * w) + np.sum(u)


def edge(A, side):
    return A[0] if side == "top" else A[:, -1]


def returned_views(A, c):
    top = edge(A, "top")
    top *= c
    edge(A, "right")[:] = np.sin(top)
    edge(A, "right")[1:] += c
    return np.sum(A @ A)


def rebound_and_stored(x):
    y = x
    for k in range(3):
        s = np.sum(np.sin(x))
        x = x * 2
        x[0] = s
        if k == 1:
            y = x
        x[1:] *= 0.5 * x[0]
    return np.sum(x * y)


def arrays_in_a_list(A, b):
    arrays = [A, b, A.sum(axis=0)]
    for a in arrays:
        a *= 0.5
    for k in range(len(arrays)):
        arrays[k] = arrays[k] + b
        arrays[k][..., 0] = b[1] * k
    return np.sum(arrays[0]) * np.sum(b) + np.sum(arrays[1] * arrays[2])


def arrays_in_a_dict(x, rate):
    weights = {"w": x.copy(), "m": np.zeros_like(x)}
    w = weights["w"]
    for _ in range(3):
        gradient = np.sin(w)
        weights["m"] *= 0.9
        weights["m"] += gradient
        w -= rate * weights["m"]
        weights["w"][0] = w[1] * rate
    return np.sum(weights["w"] ** 2) + weights["m"][0]


# Calls that write


def copied_to(x, y):
    out = np.empty(5)
    np.copyto(out, 2.0)
    np.copyto(out[1:], x * y[:4])
    np.copyto(out, y, where=y > 0.2)
    return np.sum(out**2)


def along_axis(A):
    B = A * A
    order = np.argsort(A, axis=1)
    np.put_along_axis(B, order[:, :1], np.sin(A[:, 2:3]), axis=1)
    low = np.take_along_axis(A, order, axis=1)
    np.put_along_axis(B, order[:, -1:], 0.5, axis=1)
    return np.sum(B * low)


def filled(x):
    y = np.empty((3, len(x)))
    y.fill(x[0] * x[1])
    y[1].fill(x[2])
    y[2] = x
    y[:, 1:].T[0].fill(0.25)
    z = np.full(len(x), x[-1])
    return np.sum(y * x) + np.sum(np.sin(y) @ z)


def sorted_in_place(x, A):
    y = x * x
    y.sort()
    A.sort(axis=0)
    values = [t * y[0] for t in x]
    values.sort(key=lambda t: -t)
    return np.sum(y * np.arange(len(x))) + A[0] @ A[-1] + values[0] * values[1]


def out_arguments(x, A):
    buffer = np.empty(len(x))
    total = np.zeros((len(x), len(x)))
    for k in range(3):
        np.multiply(x, x + k, out=buffer)
        np.sin(buffer, out=buffer)
        np.matmul(A, np.outer(buffer, x), out=total)
        np.add(total, A, total)
        A = A + 0.1 * total.T
        np.subtract(x, buffer, out=x[:])
    np.maximum(buffer, 0.1, out=buffer)
    np.clip(total, -2.0, 2.0, out=total)
    return np.sum(total * buffer) + np.cumsum(x, out=buffer)[-1]


def diagonal_filled(A, d):
    B = A @ A
    np.fill_diagonal(B, 2.0)
    C = np.zeros((4, 4))
    np.fill_diagonal(C, d)
    np.fill_diagonal(A, np.sum(d))
    A[np.diag_indices(4)] += d
    return np.sum(B @ C) + np.sum(A**2)


def rows_changed(A, x):
    for row in A:
        row += 1
        row[1] = row[0] * x[1]
    for i, column in enumerate(A.T):
        column *= x[i]
    for block, value in zip(A.reshape(2, -1), x):
        block -= value
    for (i, j), value in np.ndenumerate(A.copy()):
        A[i, j] = value * (i + 1) + A[j, i]
    return np.sum(np.tanh(A))


def doubled_in_place(x):
    x *= 2
    return x[0]


class Steps:
    def __init__(self, x):
        self.x, self.n = x, 0

    def next(self):
        self.x, self.n = self.x * 2, self.n + 1
        return self.n


def done_in_texts_and_assertions(x):
    x, steps, items, draws = x.copy(), Steps(x[0]), list(x), np.random.default_rng(0)
    text = f"{doubled_in_place(x):.2f} {steps.next()} {items.pop()}"
    assert doubled_in_place(x) < 1e9 and steps.next() == 2, text
    text = f"{draws.normal()} {(last := x[1] ** 2)}"
    numbers = {round(doubled_in_place(x)) for _ in range(2)}
    assert (last := last * 3) < 1e9 and len(numbers) == 2, text
    return np.sum(x) * steps.x + sum(items) ** 2 + last * draws.normal()


def scattered(x, i):
    y = np.zeros(4)
    np.add.at(y, i, x)
    np.subtract.at(y, i[:2], x[:2] ** 2)
    z = np.ones(len(x))
    z[i] = x
    np.put(z, [1, 3], x[:2])
    return np.sum(y**2) + np.sum(z * x)


def applied(A, c):
    rows = np.apply_along_axis(lambda row: np.cumsum(row) * c, 1, A)
    grid = np.array([[c * i + A[0, j] for j in range(3)] for i in range(3)])
    windows = [slice(k, k + 2) for k in range(2)]
    return np.sum(rows**2) + sum(np.sum(grid[w] * A[:2, :3]) for w in windows) + np.sum(grid[..., None, 0] * A[1])


PROGRAMS = [
    (closure_sees_the_change, (1.3,)),
    (done_in_texts_and_assertions, (normal(size=3),)),
    (closures_made_in_a_loop, (0.7,)),
    (nonlocal_counter, (0.6, 4)),
    (two_filters, (normal(size=6), 0.4)),
    (closure_changes_array, (normal(size=4), normal(size=3))),
    (integrals, (0.2, 1.1, 1.7)),
    (lambdas_on_a_line, (0.8,)),
    (composition, (normal(size=3), 0.7)),
    (defined_in_a_branch, (normal(size=4), 1.4)),
    (defined_in_a_branch, (normal(size=4), 0.6)),
    (recursive_inner, (0.45, 6)),
    (defaults_and_keywords, (0.9, 1.6)),
    (stars_on_both_sides, (0.8, normal(size=3))),
    (default_made_once, (normal(size=3) * 0.4,)),
    (default_made_once, (normal(size=3) * 0.4, normal(size=3) * 0.3)),
    (partials, (1.2, 0.7)),
    (folds, (uniform(0.2, 1.0, 4), normal(size=(3, 3)))),
    (decorated, (normal(size=4), 0.8)),
    (recursive_power, (1.1, uniform(0.5, 1.2, 3))),
    (over_a_tree, ((0.5, (1.2, (0.3, 0.9)), ((0.7,), -0.4)),)),
    (mutual_recursion, (0.7, 6)),
    (recursive_halves, (normal(size=9),)),
    (recursion_in_place, (uniform(0.5, 1.5, 9),)),
    (callables_in_containers, (0.6, 0.9)),
    (callable_objects, (normal(size=(2, 3)), normal(size=(3, 3)), normal(size=3))),
    (inheritance, (normal(size=3), normal(size=(3, 3)), normal(size=3))),
    (attributes_assigned, (0.5, 0.3, 1.2, 0.1)),
    (early_closures, (1.3,)),
    (defined_in_a_loop, (1.3,)),
    (closures_of_a_factory_in_a_loop, (1.3, 3)),
    (partials_made_in_a_loop, (0.4,)),
    (composed, (0.4,)),
    (operators_of_a_class, (0.7, -0.4)),
    (items_of_an_object, (normal(size=4),)),
    (dataclass_that_moves, (Body(1.4, normal(size=3), normal(size=3)), 0.8, 0.2)),
    (frozen_dataclasses, ([Ring(1.1, normal(size=3)), Ring(0.6, normal(size=3))], 0.7)),
    (named_tuple_methods, (normal(size=(4, 3)),)),
    (list_that_grows, (0.8,)),
    (stack_machine, (0.7, 1.3)),
    (list_alias, (uniform(0.5, 1.5, 3),)),
    (dict_filled_by_key, (0.9,)),
    (groups, (normal(size=6), [0, 1, 0, 2, 1, 0])),
    (comprehensions, (np.array([[0.4, -0.7, 1.1], [-0.3, 0.8, 0.5], [0.9, 0.2, -1.2]]), 0.6)),
    (dict_comprehensions, ({"w": normal(size=(2, 3)), "fixed_b": normal(size=3), "gain": 0.4}, 0.3)),
    (generators, ([0.5, -0.3, 1.2], [0.7, 0.9, -0.4])),
    (yielded, (0.8, 5)),
    (iterators, ([0.5, -0.3, 1.2], [0.7, 0.9, -0.4])),
    (early_return_in_a_loop, (uniform(0.4, 1.0, 6), 2.1)),
    (early_return_in_a_loop, (uniform(0.1, 0.3, 5), 9.0)),
    (for_else, (uniform(0.1, 0.8, 5), 0.85)),
    (for_else, (np.array([0.2, 0.5, 0.9, 0.3]), 0.75)),
    (while_true, (2.4, 0.5)),
    (while_else, (0.4, 3)),
    (while_else, (1.4, 6)),
    (walrus, (2.3,)),
    *((match_number, (0.6, k)) for k in (0, -2, 5)),
    (match_strings, (0.6,)),
    (match_structures, (0.6, 1.3)),
    (tries, (0.7, 1.2)),
    (cholesky_with_jitter, (np.eye(3) * 0.6 + 0.2 * normal(size=(3, 3)), 0.15)),
    (raised_in_a_callee, (np.array([0.5, -0.7, 1.4, -0.2]),)),
    (with_errstate, (np.array([0.5, -0.7, 1.4, 2.2]),)),
    (deleted, (normal(size=4), {"scale": 0.5, "bias": 0.3, "slope": -0.8})),
    (star_unpacking, (normal(size=5),)),
    (swaps, (uniform(0.5, 1.2, 3),)),
    (chained_comparisons, (np.array([0.4, -0.7, 1.9, 0.8]), 1.3)),
    (imported_inside, (normal(size=3),)),
    (kinds_of_values, (0.7, normal(size=3))),
    (alias_in_place, (normal(size=4),)),
    (alias_by_branch, (normal(size=4), 0.7)),
    (alias_by_branch, (normal(size=4), -0.7)),
    (views_of_views, (normal(size=(4, 4)),)),
    (buffers_swapped, (normal(size=6), 0.2, 3)),
    (buffers_swapped, (normal(size=6), 0.2, 4)),
    (buffers_in_a_list, (normal(size=5), 0.4)),
    (arguments_that_alias, (uniform(0.4, 1.1, 6), 0.6)),
    (returns_its_argument, (normal(size=3), 0.8)),
    (returned_views, (normal(size=(3, 3)), 0.7)),
    (rebound_and_stored, (uniform(0.3, 1.2, 4),)),
    (arrays_in_a_list, (normal(size=(2, 3)), normal(size=3))),
    (arrays_in_a_dict, (normal(size=3), 0.1)),
    (copied_to, (normal(size=4), np.array([0.5, -0.4, 1.2, 0.0, -0.9]))),
    (along_axis, (normal(size=(3, 4)),)),
    (filled, (normal(size=4),)),
    (sorted_in_place, (normal(size=4), normal(size=(4, 3)))),
    (out_arguments, (normal(size=3), normal(size=(3, 3)))),
    (diagonal_filled, (normal(size=(4, 4)), normal(size=4))),
    (rows_changed, (normal(size=(4, 4)) * 0.5, uniform(0.5, 1.0, 4))),
    (scattered, (normal(size=5), np.array([0, 3, 0, 2, 1]))),
    (applied, (normal(size=(4, 4)), 0.7)),
]

REFUSED = {  # not followed yet, and said so
    "iterators": "sorted"
}
