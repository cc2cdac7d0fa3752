"""How a derivative is called: the parameters of the function, and what a call gives for each."""

from __future__ import annotations

import inspect
from typing import Any

from tangentc.compiled import Code
from tangentc.core.inside import Made
from tangentc.core.remade import passed_over
from tangentc.errors import BadArgument
from tangentc.frontend.callables import beyond, calling, defaults_after, python_function, with_keywords
from tangentc.frontend.dependencies import Signed


class Binding(Made):
    """The part of a derivative that knows parameters."""

    code: Code
    __name__: str
    _given_signed: Signed
    _signed: Signed | None = None  # what the signature was found for

    def alike(self, given: Any, kernels: str | None, threads: int | None) -> Any:
        """The same derivative of something else, or with other loops."""
        raise NotImplementedError

    def _signature(self) -> inspect.Signature:
        if self.function is not self.given and (given := Signed(self.given)) != self._given_signed:
            self.function, self._given_signed = python_function(self.given, self.kind), given
            self.code.forget()
        inner = self.function
        signed = Signed(inner)
        if self._signed != signed:
            self._signed = signed
            shown = inner.signature() if isinstance(inner, Binding) else inspect.signature(inner)
            self._known_signature = with_keywords(shown, self.given)
            self._parameters = len(self._known_signature.parameters)
            self._rest = defaults_after(self._known_signature)
            own = [p.kind for p in self._known_signature.parameters.values()]
            self._has_keywords = inspect.Parameter.KEYWORD_ONLY in own  # what is given by position is none of these
        return self._known_signature

    def signature(self) -> inspect.Signature:
        """The signature of the derivative function."""
        own = self._signature()
        if self.kind != "adjoint":
            return own
        name = "out_bar"
        while name in own.parameters:
            name += "_bar"
        plain = inspect.Parameter.POSITIONAL_OR_KEYWORD
        given = [
            p.replace(default=p.empty, kind=plain if p.kind is p.KEYWORD_ONLY else p.kind)
            for p in own.parameters.values()
        ]
        return own.replace(parameters=[*given, inspect.Parameter(name, plain)])

    @property
    def arity(self) -> int:
        self._signature()
        return self._parameters + (self.kind == "adjoint")

    def fitted(self, args: tuple, keywords: dict[str, Any]) -> Any:
        """The derivative for a call that gives ``*args`` or ``**kwargs``: each of them is a parameter then."""
        inner = self.given
        while isinstance(inner, Binding) and inner.kind != "adjoint":
            inner = inner.given
        key = (0, ()) if self.kind == "adjoint" or isinstance(inner, Binding) else beyond(inner, args, keywords)
        if key == (0, ()):
            return self
        if key not in self.code.fitted:
            own = self.given
            given = own.fitted(args, keywords) if isinstance(own, Binding) else calling(own, *key)
            self.code.fitted[key] = self.alike(given, self.kernels, self.threads)
        return self.code.fitted[key]

    def bind(self, args: tuple, keywords: dict[str, Any]) -> tuple:
        """Every argument by position, defaults filled in."""
        signature = self._signature()
        seed: tuple = ()
        if self.kind == "adjoint":
            if len(args) != self.arity or keywords:
                raise BadArgument(
                    f"{self.__name__} takes {self.arity} arguments by position",
                    why="an adjoint is called with every argument of the function, and then the seed out_bar",
                    way_out=f"call it as {self.__name__}({', '.join(signature.parameters)}, out_bar)",
                )
            args, seed = args[:-1], args[-1:]
            seed = (float(seed[0]),) if type(seed[0]) is int else seed
        if not keywords and (rest := self._rest.get(len(args))) is not None:
            return (*args, *rest, *seed)
        try:
            bound = signature.bind(*args, **keywords)
        except TypeError as error:
            raise TypeError(f"{self.function.__name__}: {error}{passed_over(self.function)}") from None
        bound.apply_defaults()
        return (*(bound.arguments[name] for name in signature.parameters), *seed)
