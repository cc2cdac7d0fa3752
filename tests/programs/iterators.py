"""Iterators, which give their items once: a second run over one finds what the first has left."""

import functools
import itertools

import numpy as np


def generator_summed_twice(xs):
    squares = (x * x for x in xs)
    return sum(squares) + 2 * sum(squares)


def generator_left_and_taken_up(xs):
    squares = (x * x for x in xs)
    total = 0.0
    for s in squares:
        total += s
        if total > 0.1:
            break
    for s in squares:
        total += 3 * s
    return total


def pairs_run_over_twice(xs):
    pairs = zip(xs, xs[1:])
    total = 0.0
    for a, b in pairs:
        total += a * b
    for a, b in pairs:
        total += 5 * a * b
    return total


def mapped_twice(xs):
    return (lambda squares: sum(squares))(map(lambda x: x * x, xs))


def mapped_and_named(xs):
    squares = map(lambda x: x * x, xs)
    return sum(squares) + 3 * sum(squares)


def reversed_and_left(xs):
    backwards = reversed(xs)
    total = 0.0
    for x in backwards:
        total += x * x
        break
    return total + 5 * sum(backwards)


def numbered_twice(xs):
    numbered = enumerate(xs)
    total = 0.0
    for k, x in numbered:
        total += x * x * k
    for _, x in numbered:
        total += 5 * x
    return total


def filtered_twice(xs):
    positive = filter(lambda x: x > 0.25, xs)
    return sum(positive) + 3 * sum(positive)


def listed_twice(xs):
    pairs = zip(xs, xs)
    some, none = list(pairs), list(pairs)
    return sum(a * b for a, b in some) + len(none) * xs[0]


def head_and_rest(xs):
    rest = iter(xs)
    result = next(rest)
    for x in rest:
        result = result * x + 1
    return result


def head_of_pairs(xs):
    pairs = zip(xs, xs[1:])
    first = next(pairs)
    return first[0] * first[1] + sum(a * b * b for a, b in pairs)


def head_or_another(xs):
    rest = iter(xs[:1])
    a = next(rest, 2.0)
    b = next(rest, xs[1] * 3)
    return a * b


def first_that(xs):
    return next(x * x for x in xs if x > 0.4)


def first_or_another(xs):
    return next((x * x for x in xs if x > 10), xs[0] * 3)


def chained_twice(xs):
    both = itertools.chain(xs, xs)
    total = 0.0
    for x in both:
        total += x * x
        if total > 0.3:
            break
    return total + sum(both)


def given_to_a_function(xs):
    def total(items):
        result = 0.0
        for x in items:
            result += x * x
        return result

    return total(x * 2 for x in xs)


def summed(items):
    return sum(items)


def given_to_a_function_of_the_module(xs):
    return summed(x * x for x in xs) * xs[0]


def squares_of(xs):
    return (x * x for x in xs)


def given_back(xs):
    return sum(squares_of(xs)) * xs[1]


def run_over_in_each_trip(xs):
    total = 0.0
    for k in range(3):
        pairs = zip(xs, xs[k:])
        total += sum(a * b for a, b in pairs)
    return total


def pairs_of_one_iterator(xs):
    it = iter(xs)
    return sum(a * b for a, b in zip(it, it))


def grouped(xs):
    its = [iter(xs)] * 2
    return sum(a * b for a, b in zip(*its))


def twice_inside(xs):
    def twice(items):
        return sum(items) + 2 * sum(items)

    return twice(x * x for x in xs)


def given_back_and_used_twice(xs):
    squares = squares_of(xs)
    return sum(squares) + sum(x for x in squares) * xs[1]


def until_it_stops(xs):
    it = iter(xs)
    total = 0.0
    while True:
        try:
            total += next(it) ** 2
        except StopIteration:
            return total


def outer_run_over_in_each_trip(xs):
    pairs = map(lambda x: x * x, xs)
    total = 0.0
    for k in range(2):
        total += (k + 1) * max(pairs, default=0.5)
    return total


class Pair:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __iter__(self):
        return iter((self.x, self.y))


class Bag:
    def __init__(self):
        self.items = []

    def add(self, item):
        self.items.append(item)
        return self

    def __iter__(self):
        return iter(self.items)

    def __len__(self):
        return len(self.items)


class Squares:
    def __init__(self, xs):
        self.xs = xs

    def __iter__(self):
        for x in self.xs:
            yield x * x


def object_unpacked(xs):
    a, b = Pair(xs[0], xs[1] * xs[0])
    return a * b


def object_run_over(xs):
    total = 0.0
    for item in Pair(xs[0], xs[1]):
        total = total + item * item
    return total


def object_listed(xs):
    pair = Pair(xs[0], xs[1])
    return sum(list(pair)) * xs[2] + sum(x * x for x in pair) + max(pair)


def object_that_grows(xs):
    bag = Bag()
    bag.add(xs[0]).add(xs[1] * xs[0])
    total = 0.0
    for item in bag:
        total += item * item
    return total * len(bag)


def iterator_unpacked(xs):
    squares = (x * x for x in xs)
    a, b, c, d = squares
    return a * b + c * d


def scaled_when_it_is_run_over(xs):
    scale = 2.0
    scaled = (x * scale for x in xs)
    scale = 5.0
    return sum(scaled) * scale


def mapped_when_it_is_run_over(xs):
    scale = 2.0

    def scaled(x):
        return x * scale

    items = map(scaled, xs)
    scale = 5.0
    return sum(items)


def changed_before_it_is_run_over(xs):
    scale = [2.0]
    scaled = (x * scale[0] for x in xs)
    scale[0] = 5.0
    return sum(scaled)


def shortened_before_it_is_run_over(xs):
    items = list(xs)
    squares = (x * x for x in items)
    items.pop()
    return sum(squares)


def grown_and_then_run_over(xs):
    items = list(xs)
    items.append(xs[0] * xs[1])
    squares = (x * x for x in items)
    return sum(squares)


def scaled_once(xs):
    scale = xs[0] * 2
    scaled = (x * scale for x in xs)
    return sum(scaled) * scale


def object_that_generates(xs):
    return sum(Squares(xs))


def loops_over_all_places(A):
    s = 0.0
    for ij in np.ndindex(A.shape):
        s += A[ij] ** 2
    y = np.zeros(A.shape)
    for ij in np.ndindex(A.shape):
        y[ij] = A[ij] * s
    return np.sum(y)


def places_run_over_twice(A):
    places = np.ndindex(2, 3)
    s = sum(A[ij] for ij in places)
    for ij in places:
        s += A[ij] ** 2
    return s


def places_listed_and_tested(A):
    upper = [ij for ij in np.ndindex(2, 3) if ij[0] < ij[1]]
    squares = [A[ij] ** 2 for ij in np.ndindex(2, 3)]
    return sum(A[ij] for ij in upper) * sum(squares)


def entries_and_their_places(A):
    s = 0.0
    for ij, a in np.ndenumerate(A):
        s += a * ij[0]
    for ij, a in np.ndenumerate(A):
        s += a**2 * A[ij] * ij[1]
    return s


def entries_taken_one_by_one(A):
    entries = np.ndenumerate(A)
    ij, a = next(entries)
    s = a * A[ij]
    for ij, a in entries:
        s += a**2 * ij[1]
    for _, a in entries:
        s += a**3
    return s


def places_with_entries(A):
    entries = [((0, j), A[0, j] ** 2) for j in range(3)]
    rest = list(entries)
    ij, a = rest.pop(0)
    return a * A[ij] + rest[0][1]


def history_turned_into_columns(x):
    history, t, y = [], 0.0, x
    while t < 1.0:
        history.append((t, y, y * y))
        y = y + 0.13 * np.sin(y)
        t += 0.13
    T, Y, Z = map(np.array, zip(*history))
    return np.trapezoid(Y * Z, T)


def columns_one_after_the_other(x):
    rows = [[x, 1.0]]
    for _ in range(9):
        rows.append([rows[-1][0] * x, rows[-1][1] + x])
    total = 0.0
    for column in zip(*rows):
        total += np.prod(np.array(column[:3]))
    u, v = (np.array(c) for c in zip(*rows))
    return total + u @ v


def columns_of_unlike_rows(x):
    rows = [(x, 1.0)]
    for k in range(9):
        rows.append((x,) if k % 2 else (x, x * k))
    return sum(list(zip(*rows))[0])


def held_in_a_list(xs):
    its = [iter(xs)]
    return sum(its[0]) + 2 * sum(its[0])


def held_twice(xs):
    its = [iter(xs)] * 2
    return sum(its[0]) + 2 * sum(its[1])


def held_in_a_tuple(xs):
    its = (iter(xs), xs)
    return sum(its[0]) + 2 * sum(its[0]) + sum(its[1])


def held_in_a_dict(xs):
    d = {"a": iter(xs)}
    return sum(d["a"]) + 2 * sum(d["a"])


def held_by_keyword(xs):
    d = dict(a=map(np.sin, xs))
    return sum(d["a"]) + 2 * sum(d["a"])


def appended(xs):
    its = []
    its.append(reversed(xs))
    return sum(its[0]) + 2 * sum(its[0])


def held_by_a_comprehension(xs):
    its = [iter([x, 2 * x]) for x in xs]
    return sum(sum(i) for i in its) + 3 * sum(sum(i) for i in its)


def two_at_once(xs):
    a, b = iter(xs), iter(xs)
    return sum(a) + 2 * sum(b) + 3 * sum(a)


def unpacked_from_a_list(xs):
    (it,) = [iter(xs)]
    return sum(it) + 2 * sum(it)


def starred_parameter(xs):
    def total(*its):
        return sum(its[0]) + 2 * sum(its[0])

    return total(iter(xs))


def given_to_a_partial_function(xs):
    def total(it):
        return sum(it) + 2 * sum(it)

    return functools.partial(total, iter(xs))()


def default_that_is_used_up(xs):
    def total(it=iter(xs)):  # noqa: B008
        return sum(it)

    return total() + 2 * total()


def given_back_in_a_tuple(xs):
    def pair():
        return iter(xs), 2.0

    it, c = pair()
    return sum(it) + c * sum(it)


def looped_over(xs):
    total = 0.0
    for it in (iter(xs), iter(xs[1:])):
        total = sum(it) + 2 * sum(it)
    return total


def two_used_once(xs):
    a, b = iter(xs), reversed(xs)
    return sum(p * q for p, q in zip(a, b)) + sum([*iter(xs)])


def unpacked_after_a_change(xs):
    z = xs
    a, b = (z[i] * 2 for i in range(2))
    z = [a, b]
    a, b = (z[i] * z[1 - i] * a for i in range(2))
    return a + 3 * b


def changed_while_it_is_run_over(A):
    a, total = A.copy(), 0.0
    for (i, j), value in np.ndenumerate(a):
        a[i, (j + 1) % 3] += value / 2
        total += value**2
    for (i,), value in np.ndenumerate(a[0] * a[1]):
        total += i * value
    return total + np.sum(a**2)


def changed_while_it_is_chained(l):
    items, total = list(l), 0.0
    for v in itertools.chain(items, [1.0]):
        items[2] *= 1.3
        total += v**2
    return total


def changed_while_a_part_is_run_over(l):
    a, total = np.array(l), 0.0
    for v in itertools.islice(a, 3):
        a[1] += v
        total += v
    return total


def constants_by_twos(l):
    s = l[0]
    for a, b in zip(*[iter([1, 2, 3, 4])] * 2):
        s = s * (l[1] + a * b)
    return s


def moving_ones_by_twos(l):
    return sum(a * b for a, b in zip(*[iter([l[0], l[1], l[2], l[3]])] * 2))


def letters_by_twos(l):
    it = iter("abcd")
    return l[0] ** len(dict(zip(it, it)))


def letters_run_over_twice(l):
    it = iter("abcd")
    first, second = [c for c in it], [c for c in it]  # noqa: C416
    return l[0] ** (len(first) + len(second))


ONCE = (
    constants_by_twos, moving_ones_by_twos, letters_by_twos,
    held_in_a_list, held_twice, held_in_a_tuple, held_in_a_dict, held_by_keyword, appended, held_by_a_comprehension,
    two_at_once, unpacked_from_a_list, starred_parameter, given_to_a_partial_function, default_that_is_used_up,
    given_back_in_a_tuple, looped_over,
)  # fmt: skip
LIST = [0.3, 0.5, 0.7, 0.2]
MATRIX = np.array([[0.4, 0.7, 0.2], [0.3, 0.9, 0.5]])
PROGRAMS = [
    *((f, (0.7,)) for f in (history_turned_into_columns, columns_one_after_the_other, columns_of_unlike_rows)),
    *((f, (MATRIX,)) for f in (
        loops_over_all_places, places_run_over_twice, places_listed_and_tested, entries_and_their_places,
        entries_taken_one_by_one, places_with_entries, changed_while_it_is_run_over,
    )),
    *((f, (LIST,)) for f in (
        generator_summed_twice, generator_left_and_taken_up, pairs_run_over_twice, mapped_twice, mapped_and_named,
        reversed_and_left, numbered_twice, filtered_twice, listed_twice, head_and_rest, head_of_pairs, head_or_another,
        first_that, first_or_another, chained_twice, given_to_a_function, given_to_a_function_of_the_module, given_back,
        run_over_in_each_trip, pairs_of_one_iterator, grouped, twice_inside, given_back_and_used_twice, until_it_stops,
        outer_run_over_in_each_trip, object_unpacked, object_run_over, object_listed, object_that_grows,
        iterator_unpacked, scaled_when_it_is_run_over, mapped_when_it_is_run_over, changed_before_it_is_run_over,
        two_used_once, unpacked_after_a_change, letters_run_over_twice,
        *ONCE,
        changed_while_it_is_chained, changed_while_a_part_is_run_over,
        scaled_once, shortened_before_it_is_run_over, grown_and_then_run_over, object_that_generates,
    )),
]  # fmt: skip
REFUSED = {
    *(f.__name__ for f in ONCE),
    "columns_of_unlike_rows", "changed_while_it_is_chained", "changed_while_a_part_is_run_over",
    "pairs_of_one_iterator", "grouped", "twice_inside", "given_back_and_used_twice", "until_it_stops",
    "scaled_when_it_is_run_over",
    "mapped_when_it_is_run_over",
    "changed_before_it_is_run_over",
    "shortened_before_it_is_run_over",
}  # fmt: skip
