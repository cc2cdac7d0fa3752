"""Sums of products of arrays as contractions, which need no array of the products.

    np.sum(a * b)                        ->  a @ b             np.vdot(a, b) for matrices
    np.sum(a * np.eye(n))                ->  np.trace(a)
    np.sum(a * b, axis=0)                ->  np.einsum("ij,ij->j", a, b)
    np.sum(v[:, None] * A, axis=0)       ->  v @ A
    np.sum(v[:, None] * d, axis=2)       ->  np.einsum("ik,ijk->ij", v, d)

What the user has written stays as he has written it: the adjoint's own sums alone are contracted.  They are added up in
another order, so that they are the same to rounding.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from tangentc.analysis.program import Program
from tangentc.core.nodes import Assign, Atom, Block, Const, Function, Op, Statement, is_temporary
from tangentc.core.types import Array
from tangentc.core.walk import changed_by, definitions, reads, rebuilt, statements, transform, with_blocks, with_body
from tangentc.simplify.newaxes import new_axes

PRODUCTS = (operator.mul, np.multiply)
LETTERS = "ijklmnopqrstuvwxyz"
REAL = ("float64", "float32")
FULL = slice(None)


def contracted(program: Program) -> Function:
    """The function whose adjoint sums no products that it does not need."""
    function = program.function
    contracting = _Contracting(program, _uses(function.body))
    body = contracting.block(function.body)
    while unused := contracting.spared - _uses(body).keys() - {function.result}:
        body = transform(body, lambda s: () if getattr(s, "target", None) in unused else (s,))
        contracting.spared -= unused
    return with_body(function, body)


def _uses(body: Block) -> Counter[Atom]:
    return Counter(a for s in statements(body) for a in reads(s))


class _Contracting:
    def __init__(self, program: Program, uses: Counter[Atom]):
        self.types, self.uses = program.types, uses
        self.spared: set[Atom] = set()  # what may be needed no more: products, and what is one number for all entries
        self.of, self.is_changed = program.types.of, program.aliases.is_changed
        self.definitions = definitions(program.function.body)

    def block(self, block: Block) -> Block:
        made: dict[Atom, Assign] = {}  # since anything was changed
        out: list[Statement] = []
        for s in block:
            if not isinstance(s, Assign) or changed_by(s) is not None:
                made.clear()
                out.append(with_blocks(s, self.block))
                continue
            found = self.contraction(s, made) if s.op is np.sum and s.span.sweep else None
            if found is None:
                out.append(s)
            else:
                self.spared |= {s.args[0], *made[s.args[0]].args} & made.keys()
                out += found
            made[s.target] = s
        return rebuilt(block, out)

    def contraction(self, s: Assign, made: dict[Atom, Assign]) -> Sequence[Statement] | None:
        """The statements in the place of a sum, None where it is no sum of products."""
        product, options = made.get(s.args[0]), dict(s.keywords)
        if product is None or product.op not in PRODUCTS or self.uses[product.target] != 1:
            return None
        whole = self.of(product.target)
        axis, kept = options.get("axis", Const(None)), options.get("keepdims", Const(False))
        if len(s.args) != 1 or options.keys() - {"axis", "keepdims"} or not product.span.sweep:
            return None
        if not isinstance(whole, Array) or not isinstance(axis, Const) or not isinstance(kept, Const):
            return None
        rank = len(whole.shape)
        axes = [k % rank for k in (range(rank) if axis.value is None else np.atleast_1d(axis.value).tolist())]
        operands = [o for a in product.args if (o := self.operand(a, whole, made)) is not None]
        if len(operands) != 2 or whole.dtype not in REAL or rank > len(LETTERS):
            return None
        rest = "".join(LETTERS[k] for k in range(rank) if k not in axes)
        return self.written(s, operands, rest, axes if kept.value else ())

    def operand(self, atom: Atom, whole: Array, made: dict[Atom, Assign]) -> tuple[Atom, str] | None:
        """A factor without the axes that broadcasting gives it, and the letters of those that it has."""
        filled = made.get(atom)
        if filled is not None and filled.op is np.full_like and not filled.keywords:  # a value for each entry
            atom = filled.args[1]
        t = self.of(atom)
        if not isinstance(t, Array) or t.or_number or t.or_narrower or t.dtype not in REAL:
            return None
        letters = LETTERS[len(whole.shape) - len(t.shape) : len(whole.shape)]
        key = made.get(atom)
        if (
            key is not None
            and key.op is operator.getitem
            and isinstance(key.args[1], Const)
            and is_temporary(key.target)
        ):
            base = self.of(key.args[0])
            if isinstance(base, Array) and (new := new_axes(key.args[1].value, len(base.shape))):
                atom, t = key.args[0], base
                letters = "".join(letter for k, letter in enumerate(letters) if k not in new)
        sizes = dict(zip(LETTERS, whole.shape))
        fits = len(letters) == len(t.shape) and all(sizes[a] == d for a, d in zip(letters, t.shape))
        return (atom, letters) if fits else None

    def written(
        self, s: Assign, operands: list[tuple[Atom, str]], rest: str, kept: Sequence[int]
    ) -> Sequence[Statement] | None:
        (a, p), (b, q) = operands
        if set(p) | set(q) != set(p + q + rest) or not set(p) & set(q):
            return None
        found = None if kept else self.product(s, a, p, b, q, rest)
        if found is not None:
            return found
        if not rest and (p != q or kept):
            return None
        op: Op = np.einsum if rest else np.vdot
        args: tuple[Atom, ...] = (Const(f"{p},{q}->{rest}"), a, b) if rest else (a, b)
        if op is np.vdot and len(p) == 2 and (self.is_eye(a) or self.is_eye(b)):
            op, args = np.trace, (b if self.is_eye(a) else a,)
        if not kept:
            return (replace(s, op=op, args=args, keywords=()),)
        key: tuple[object, ...] = tuple(None if k in kept else FULL for k in range(len(rest) + len(kept)))
        summed = self.fresh(s, key)
        key = (..., None) if key[-1] is None and len(kept) == 1 else key
        return (
            replace(s, target=summed, op=op, args=args, keywords=()),
            Assign(s.target, operator.getitem, (summed, Const(key)), (), s.span),
        )

    def is_eye(self, atom: Atom) -> bool:
        made = self.definitions.get(atom) if isinstance(atom, str) else None
        square = isinstance(made, Assign) and made.op in (np.eye, np.identity) and len(made.args) == 1
        return square and not made.keywords and not self.is_changed(atom)  # type: ignore[union-attr,arg-type]

    def product(self, s: Assign, a: Atom, p: str, b: Atom, q: str, rest: str) -> Sequence[Statement] | None:
        """The product of matrices and vectors that it is."""
        shared = [letter for letter in p if letter in q and letter not in rest]
        if len(shared) != 1 or max(len(p), len(q)) > 2 or set(p) & set(q) & set(rest):
            return None
        (k,) = shared
        if (p + q).replace(k, "") != rest:  # the other way around
            a, p, b, q = b, q, a, p
        if (p + q).replace(k, "") != rest:
            return None
        first = () if p[-1] == k else (self.turned(s, a),)
        second = () if q[0] == k else (self.turned(s, b),)
        args = (first[0].target if first else a, second[0].target if second else b)
        return *first, *second, replace(s, op=operator.matmul, args=args, keywords=())

    def turned(self, s: Assign, atom: Atom) -> Assign:
        t = self.of(atom)
        assert isinstance(t, Array)
        name = self.named(replace(t, shape=t.shape[::-1]))
        return Assign(name, getattr, (atom, Const("T")), (), s.span)

    def fresh(self, s: Assign, key: tuple[object, ...]) -> str:
        """A name for a sum that has not kept its axes."""
        t = self.of(s.target)
        assert isinstance(t, Array)
        return self.named(replace(t, shape=tuple(d for d, part in zip(t.shape, key, strict=True) if part is not None)))

    def named(self, t: Array) -> str:
        number = 0
        while (name := f"%contracted.{number}") in self.types.of_name:
            number += 1
        self.types.of_name[name] = t
        return name
