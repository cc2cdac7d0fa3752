"""Where in a loop its guards are true.

(i >= 1) & (i < n - 1)                     from 1 on, up to n - 1
"""

from __future__ import annotations

import operator
from collections.abc import Sequence

from tangentc.analysis.linear import ONE, Form, constant, plus
from tangentc.core.nodes import Assign, Atom, Op
from tangentc.kernels.accesses import Accesses

BOUNDS: dict[Op, tuple[int, int]] = {  # that is true where so many times (a - b), and so much, is zero or more
    operator.ge: (1, 0), operator.gt: (1, -1), operator.le: (-1, 0), operator.lt: (-1, -1),
}  # fmt: skip


class Guards:
    """Reads tests of integers."""

    def __init__(self, accesses: Accesses):
        self.accesses = accesses

    def tests(self, test: Atom) -> list[Atom]:
        """The tests that all have to be true for one to be true."""
        made = self.accesses.definitions.get(str(test))
        if isinstance(made, Assign) and made.op is operator.and_:
            return [t for a in made.args for t in self.tests(a)]
        return [test]

    def tightest(self, tests: Sequence[Atom]) -> list[Atom]:
        """The tests without those that are true where another one is."""
        forms = [self._zero_or_more(t) for t in tests]

        def is_implied(k: int) -> bool:
            for j, other in enumerate(forms):
                if j != k and other is not None and forms[k] is not None:
                    more = plus(forms[k], other, -1)  # type: ignore[arg-type]
                    if not more.keys() - {ONE} and (more.get(ONE, 0) > 0 or not more and j < k):
                        return True
            return False

        return [t for k, t in enumerate(tests) if not is_implied(k)]

    def _zero_or_more(self, test: Atom) -> Form | None:
        """A form that is zero or more where a test is true, and there alone."""
        made = self.accesses.definitions.get(str(test))
        if not isinstance(made, Assign) or made.op not in BOUNDS:
            return None
        a, b = (self.accesses.forms.form(x) for x in made.args)
        if a is None or b is None:
            return None
        times, more = BOUNDS[made.op]
        return plus(plus(constant(more), a, times), b, -times)

    def bound(self, test: Atom, i: str, changing: set[str]) -> tuple[bool, Form] | None:
        """From where on a test is true of a loop's variable, or up to where."""
        form = self._zero_or_more(test)
        if form is None:
            return None
        sign = form.get(i, 0)
        rest = plus(form, {i: 1}, -sign)
        if abs(sign) != 1 or not changing.isdisjoint(rest):
            return None
        return (True, plus({}, rest, -1)) if sign == 1 else (False, plus(rest, constant(1)))

    def place(self, test: Atom, i: str, changing: set[str]) -> tuple[Form | None, Form | None] | None:
        """From where on, and up to where, a test is true of a loop's variable; None where it asks more."""
        low = end = None
        for one in self.tests(test):
            found = self.bound(one, i, changing) if one in changing else None
            if found is None or (low if found[0] else end) is not None:
                return None
            low, end = (found[1], end) if found[0] else (low, found[1])
        return low, end
