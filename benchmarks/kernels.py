"""Which share of the statements in loops becomes kernels, over the programs of the tests, and why the others do not.

    python benchmarks/kernels.py                    # all programs: some minutes
    python benchmarks/kernels.py polybench entries  # those of some files
    python benchmarks/kernels.py --loops            # and each loop that stays

A statement is one of the emitted program, of the function or of its adjoint, inside of a loop.  Nothing is compiled.
"""

import argparse
import re
import sys
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))

from programs.test_programs import IDS, PROGRAMS, fresh, moving

import tangentc
from tangentc.core.nodes import Block, For, Statement, While
from tangentc.core.walk import statements
from tangentc.kernels import outline

NAMED = re.compile(r"^\S+(?= is (no number|one value|used behind))")


def in_loops(block: Block) -> Iterator[Statement]:
    """The statements inside of loops."""
    inside: dict[int, Statement] = {}
    for s in statements(block):
        if isinstance(s, (For, While)):
            inner = (*s.body, *s.head) if isinstance(s, While) else s.body
            inside.update((id(x), x) for x in statements(inner))
    yield from inside.values()


class Counted(outline.Outline):
    """Takes loops out, and counts what was in them, and what stayed."""

    found: list[tuple[int, int, dict[Statement, str]]] = []

    def run(self):  # type: ignore[no-untyped-def]
        before = sum(1 for _ in in_loops(self.program.function.body))
        whole = super().run()
        self.found.append((before, sum(1 for _ in in_loops(whole.function.body)), self.why))
        return whole


def outermost(why: dict[Statement, str]) -> Iterator[tuple[Statement, str]]:
    """The loops that stay, each with its reason, without those around it that stay for the same one."""
    for s, reason in why.items():
        inner = {id(x) for x in statements((s,)) if x is not s}
        if not any(id(other) in inner and reason == its for other, its in why.items()):
            yield s, reason


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", help="files of tests/programs; all where none is named")
    parser.add_argument("--loops", action="store_true", help="print each loop that stays, and its reason")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    from tangentc.compiler import context

    context.Outline = Counted  # type: ignore[misc, attr-defined]
    shares: dict[str, list[int]] = defaultdict(lambda: [0, 0])
    reasons: Counter[str] = Counter()
    for (file, function, args), name in zip(PROGRAMS, IDS, strict=True):
        if asked.files and file not in asked.files:
            continue
        Counted.found.clear()
        try:
            tangentc.value_and_grad(function, wrt=moving(args), kernels="numba").source_for(*fresh(args))
        except tangentc.TangentcError:
            continue
        for before, after, why in Counted.found:
            shares[file][0] += before
            shares[file][1] += before - after
            for s, reason in outermost(why):
                reasons[NAMED.sub("what has a name", reason)] += 1
                if asked.loops:
                    print(f"{name}: line {s.span.line}: {reason}")
    every, compiled = (sum(of[k] for of in shares.values()) for k in (0, 1))
    for file, (total, own) in sorted(shares.items(), key=lambda of: -of[1][0]):
        if total:
            print(f"{file:24}{own:6} of {total:6} statements in loops {100 * own / total:5.0f} %")
    print(f"{'all':24}{compiled:6} of {every:6} statements in loops {100 * compiled / max(every, 1):5.0f} %\n")
    for reason, count in reasons.most_common():
        print(f"{count:5}  {reason}")


if __name__ == "__main__":
    main()
