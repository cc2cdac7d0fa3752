"""The sum of the rows of a product of matrices is the sum of the rows of the first, times the second.

    b_bar = np.sum(y_bar @ W.T, axis=0)              b_bar = np.sum(y_bar, axis=0) @ W.T
    c_bar = np.sum(z_bar @ F, axis=1)        ->      c_bar = (np.sum(z_bar, axis=1, keepdims=True) @ F)[:, 0]

Matrices may stand in stacks.  An adjoint is the same to rounding, and has as many products less as there are rows.
"""

from __future__ import annotations

import operator
from collections import Counter
from dataclasses import replace

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core.build import Builder
from tangentc.core.nodes import Assign, Atom, Block, Const, Function, Opaque, Statement
from tangentc.core.types import Array, Type
from tangentc.core.walk import all_changed_by, reads, rebuilt, statements, transform, with_blocks, with_body
from tangentc.runtime import unbroadcast

PRODUCTS = (operator.matmul, np.matmul)
FULL = slice(None)


def summed(program: Program) -> Function:
    """The function whose adjoint sums rows before it multiplies them."""
    if not any(isinstance(s, Assign) and s.op in PRODUCTS for s in statements(program.function.body)):
        return program.function
    work = _Summed(program)
    body = work.block(program.function.body)
    return with_body(
        program.function, transform(body, lambda s: () if getattr(s, "target", None) in work.spared else (s,))
    )


class _Summed:
    def __init__(self, program: Program):
        self.types, self.uses = program.types, Counter(a for s in statements(program.function.body) for a in reads(s))
        self.spared: set[str] = set()  # what nothing needs any more
        self.root = program.aliases.root
        self.builder = Builder(program.types, [*program.types.of_name])

    def block(self, block: Block) -> Block:
        made: dict[Atom, Assign] = {}  # of what has not changed since
        out: list[Statement] = []
        for s in block:
            changed = {self.root(n) for x in statements((s,)) for n in all_changed_by(x)}
            opaque = any(isinstance(x, Opaque) for x in statements((s,)))
            made = {n: m for n, m in made.items() if not opaque and changed.isdisjoint(map(self._root_of, m.atoms))}
            if not isinstance(s, Assign):
                out.append(with_blocks(s, self.block))
                continue
            out += self.of(s, made) if s.op is np.sum and s.span.sweep else (s,)
            made[s.target] = s
        return rebuilt(block, out)

    def _root_of(self, atom: Atom) -> Atom:
        return self.root(atom) if isinstance(atom, str) else atom

    def of(self, s: Assign, made: dict[Atom, Assign]) -> tuple[Statement, ...]:
        """What stands for a sum."""
        given = made.get(s.args[0])
        back = given if given is not None and given.op is unbroadcast else None
        product = given if back is None else made.get(back.args[0])
        options = dict(s.keywords)
        axis = options.pop("axis", None)
        if product is None or product.op not in PRODUCTS or options or len(s.args) != 1 or not isinstance(axis, Const):
            return (s,)
        if self.uses[s.args[0]] != 1 or self.uses[product.target] != 1 or not product.span.sweep:
            return (s,)
        a, b = (self.types.of(x) for x in product.args)
        if (
            not (_is_stack(a) and _is_stack(b))
            or axis.value not in (len(a.shape) - 2, -2)
            or len(a.shape) < len(b.shape)
        ):  # type: ignore
            return (s,)
        like = None if back is None else self.types.of(back.args[1])
        if back is not None and (not isinstance(like, Array) or len(like.shape) != len(a.shape) or like.or_number):  # type: ignore
            return (s,)
        return self.written(s, product, back)

    def written(self, s: Assign, product: Assign, back: Assign | None) -> tuple[Statement, ...]:
        self.spared |= {product.target} | ({back.target} if back is not None else set())
        (a, b), (axis,) = product.args, (v for _, v in s.keywords)
        t, whole = self.types.of(a), self.types.of(product.target)
        assert isinstance(t, Array) and isinstance(whole, Array)
        k = len(t.shape) - 2
        if not k and back is None:
            total = self.named("%rows_sum", replace(t, shape=t.shape[1:]))
            rows = Assign(total, np.sum, (a,), s.keywords, s.span)
            return rows, replace(s, op=operator.matmul, args=(total, b), keywords=())
        total = self.named("%rows_sum", replace(t, shape=(*t.shape[:k], 1, t.shape[-1])))
        times = self.named("%product", replace(whole, shape=(*whole.shape[:k], 1, whole.shape[-1])))
        out = (
            Assign(total, np.sum, (a,), (("axis", axis), ("keepdims", Const(True))), s.span),
            Assign(times, operator.matmul, (total, b), (), product.span),
        )
        if back is None:
            return *out, replace(s, op=operator.getitem, args=(times, Const((*(FULL,) * k, 0))), keywords=())
        like = self.types.of(back.args[1])
        assert isinstance(like, Array)
        key = Const((*(FULL,) * k, slice(1)) if k else slice(1))
        first = self.named("%item", self.types.result(operator.getitem, (back.args[1], key)))
        fitted = self.named("%unbroadcast", self.types.of(first))
        return (
            *out,
            Assign(first, operator.getitem, (back.args[1], key), (), s.span),
            Assign(fitted, unbroadcast, (times, first), (), s.span),
            replace(s, args=(fitted,)),
        )

    def named(self, name: str, t: Type) -> str:
        new = self.builder.fresh(name)
        self.types.of_name[new] = t
        return new


def _is_stack(t: Type) -> bool:
    return isinstance(t, Array) and len(t.shape) >= 2 and not t.or_number and t.dtype in ("float64", "float32")
