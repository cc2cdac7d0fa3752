"""Names in C for those of the program: none of C's own, and each free again where its block has ended."""

from __future__ import annotations

import re

from tangentc.core.nodes import version_base
from tangentc.cuda.expressions import NAMES

RESERVED = NAMES | set(
    """alignas alignof and asm auto bitand bitor bool break case catch char class compl const constexpr continue
    decltype default delete do double else enum explicit export extern false float for friend goto if inline int
    long mutable namespace new noexcept not nullptr operator or private protected public register return short
    signed sizeof static struct switch template this throw true try typedef typeid typename union unsigned using
    virtual void volatile while xor threadIdx blockIdx blockDim gridDim atomicAdd block_sum min max abs signbit
    round""".split()
)


class Names:
    """The names in the text of one kernel."""

    def __init__(self, kernel: str):
        self.names: dict[str, str] = {}
        self.taken = {*RESERVED, kernel}
        self.numbers: list[str] = []  # what the kernel is given beside arrays, as it is met
        self.ends: list[set[str]] = []  # the names that there were where a block began

    def name(self, name: str) -> str:
        if name not in self.names:
            self.names[name] = self.new(version_base(name))
        return self.names[name]

    def new(self, wanted: str) -> str:
        """A name in C that nothing has here."""
        base = re.sub(r"\W", "_", wanted.lstrip("%")) or "value"
        found, k = base, 0
        while found in self.taken:
            k += 1
            found = f"{base}_{k}"
        self.taken.add(found)
        return found

    def leave(self) -> None:
        """Forget the names of a block that has ended, but for those of what the kernel is given."""
        self.taken = self.ends.pop() | {self.names[a] for a in self.numbers}
