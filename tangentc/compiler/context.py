"""One compilation: the derivatives that are written of the functions that its front has prepared."""

from __future__ import annotations

import inspect
import types as pytypes
from collections.abc import Callable, Collection, Iterator, Sequence

from tangentc.analysis.masks import CHOOSES, NONZERO, Mask, Unbounded, has_places, masks, tests_of, unbounded
from tangentc.analysis.outside import Part, Written
from tangentc.analysis.program import Pass, Program
from tangentc.analysis.recording import KERNELS, NUMPY
from tangentc.analysis.types import Types
from tangentc.compiler.front import Front
from tangentc.compiler.passes import SIMPLIFY
from tangentc.core.nodes import Assign, Atom, For, Function, Op, Statement
from tangentc.core.remade import CHECKPOINT
from tangentc.core.types import Type
from tangentc.core.walk import statements
from tangentc.cuda.launches import with_launches
from tangentc.derive.context import Key
from tangentc.derive.demand import Made
from tangentc.errors import TangentcError, UnsafeMutation
from tangentc.frontend.recursion import calls_itself
from tangentc.kernels.outline import Outline
from tangentc.rules.registry import REGISTRY


class Context:
    """One compilation: what was prepared, and the pairs written for it."""

    steps: tuple[Pass, ...] = SIMPLIFY

    def __init__(self, front: Front, arrays: str = "numpy", inner: bool = False, compiles: bool = False):
        self.front, self.arrays = front, arrays
        self.compiles, self.prices = compiles, KERNELS if compiles else NUMPY
        self.inner = inner  # what is written is differentiated again
        self.ready: tuple[Op, ...] = ()  # what is given each part of a gradient once it is final, and what ends that
        self.prepare, self.key = front.prepare, front.key
        self.with_facts, self.observe = front.with_facts, front.observe
        self.with_calls_written_out = front.with_calls_written_out
        self.pairs: dict[Key, Made] = {}
        self.adjoints: dict[Key, str] = {}
        self.tangents: dict[Key, tuple[str, bool]] = {}
        self.emitted: list[tuple[Program, pytypes.FunctionType]] = []
        self.names: set[str] = set()
        self.put: set[Written] = set()  # what belongs to the module, and is written into
        self.changed: set[Written] = set()  # and all that is changed
        self.read: set[Part] = set()  # and what is read
        self.left: dict[Statement, str] = {}  # the loops that no kernel was made of, and why
        self.chooses = False  # whether an adjoint was written under a mask
        self.choosing: dict[int, tuple[Program, set[str]]] = {}  # with the parameters of which it takes some entries

    def recomputes(self, function: pytypes.FunctionType, types: list[Type]) -> bool:
        """Whether the adjoint of a callee is given its arguments again, in place of what its primal saved.

        What a function saves that calls itself lies in itself as deep as the calls go, which no type says; where
        its adjoint is differentiated again, it is computed again instead (a checkpoint at each call: Griewank and
        Walther, Evaluating Derivatives, chapter 12), as is one of which the user has asked for that.
        """
        if not hasattr(function, CHECKPOINT):
            return self.inner and calls_itself(function) and self.prepare(function, types).pure
        program = self.prepare(function, types)
        if not program.pure:
            raise UnsafeMutation(
                f"{function.__name__} is to be computed again, and changes something, or draws random numbers",
                program.function.span, why="computing it again would do it once more",
                way_out="let it give what it makes, or call it without `checkpoint`",
            )  # fmt: skip
        return True

    def simplify(
        self, function: Function, types: Types, source: pytypes.FunctionType, steps: Sequence[Pass] | None = None
    ) -> Program:
        program = self.with_facts(function, types, source)
        for step in self.steps if steps is None else steps:
            if step.compiled and not self.compiles:
                continue
            left_out = self.inner and step.last or self.compiles and step.numpy
            program = program if left_out else self.after(program, step)
            self.observe(step.name, step.does, program.function, types)
        return program

    def take_out_kernels(self, as_python: bool = True, threads: int = 1) -> bool:
        """Make functions of the loops of what was emitted, for a compiler; False if there are none.  ``as_python``:
        what raises in Python raises; ``threads`` is how many share a loop."""
        emitted = []
        for program, source in self.emitted:
            outline = Outline(program, self.unique_name, self.names, as_python, threads)
            whole = outline.run()
            emitted += [*((kernel, source) for kernel in outline.kernels), (whole, source)]
            self.left.update(outline.why)
            told = {s.target: f"not compiled: {why}" for s, why in outline.why.items() if isinstance(s, For)}
            program.types.reasons.update(told)
        self.emitted = emitted
        return any(program.decorator for program, _ in emitted)

    def statements(self) -> Iterator[Statement]:
        """All that is emitted."""
        return (s for program, _ in self.emitted for s in statements(program.function.body))

    def take_out_launches(self, atomic: bool) -> bool:
        """Make kernels of the device of the runs of statements on arrays in what was emitted; False if there are none.
        ``atomic`` says that threads may add to an entry in any order."""
        emitted = []
        for program, source in self.emitted:
            is_called = program is self.emitted[-1][0]
            emitted += [
                (part, source) for part in with_launches(program, self.unique_name, self.names, is_called, atomic)
            ]
        self.emitted = emitted
        return any(program.device for program, _ in emitted)

    def after(self, program: Program, step: Pass) -> Program:
        """A program after a step that leaves its types as they are, with the facts that the step keeps."""
        if (new := step.run(program)) is program.function:
            return program
        after = self.with_facts(new, program.types, program.source)
        if step.keeps_memory:
            after.keep_memory_of(program)
        return after

    def masks(self, program: Program, chosen: bool | str) -> dict[str, Mask]:
        inside = self.chooses_in(program)
        found = masks(program.function, program.types, _has_no_derivative, bool(chosen), inside)
        for name, mask in list(found.items()):  # what is changed is another one where the value is computed
            if any(isinstance(test, str) and program.aliases.is_changed(test) for test in tests_of(mask)):
                if has_places(mask):
                    del found[name]
                else:
                    found[name] = NONZERO
        if program.source.__globals__.get(CHOOSES):  # zeros of what was not taken pass through any value
            names = {s.target for s in statements(program.function.body) if isinstance(s, Assign)}
            return dict.fromkeys(names, NONZERO) | found
        return found

    def chooses_in(self, program: Program) -> Callable[[Assign], set[int]]:
        """For the calls in a program, the arguments of which the callee takes some entries, and others not."""

        def chooses(call: Assign) -> set[int]:
            try:
                callee = self.front.callee(call.op.function, call, program.types)  # type: ignore[attr-defined]
            except TangentcError:
                return set()
            if id(callee) not in self.choosing:
                self.choosing[id(callee)] = callee, set()  # where it calls itself
                found = masks(callee.function, callee.types, _has_no_derivative, False, self.chooses_in(callee))
                self.choosing[id(callee)] = callee, {p.name for p in callee.function.params if p.name in found}
            chosen = self.choosing[id(callee)][1]
            names = list(inspect.signature(call.op.function).parameters)  # type: ignore[attr-defined]
            params = [p.name for p in callee.function.params]
            places = [*range(len(call.args)), *(names.index(k) if k in names else -1 for k, _ in call.keywords)]
            return {k for k, place in enumerate(places) if 0 <= place < len(params) and params[place] in chosen}

        return chooses

    def unbounded(
        self, program: Program, wrt: set[str], chosen: bool | str, moving: Collection[Atom]
    ) -> Unbounded:  # fmt: skip
        return unbounded(program.function, program.types, _is_singular, wrt, chosen, moving)

    def unique_name(self, name: str) -> str:
        k, wanted = 1, name
        while wanted in self.names:
            k += 1
            head, _, tail = name.rpartition("_")
            wanted = f"{head}_{k}_{tail}" if head else f"{name}_{k}"
        self.names.add(wanted)
        return wanted


def _has_no_derivative(op: Op) -> bool:
    rule = REGISTRY.find(op)
    return rule is not None and rule.kind == "zero"


def _is_singular(op: Op) -> bool:
    rule = REGISTRY.find(op)
    return rule is not None and rule.singular
