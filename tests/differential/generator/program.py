"""Whole programs."""

from __future__ import annotations

from collections.abc import Callable

from tests.differential.generator.modules import ModuleWriter
from tests.differential.generator.prelude import PRELUDE
from tests.differential.generator.scope import Lines, Scope, Tensor, indented


class ProgramWriter(ModuleWriter):
    """Writes one program."""

    def program(self) -> str:
        """The source."""
        for _ in range(self.pick((0, 0, 1, 1, 2))):
            self._define_helper()
        scope = Scope({"x": Tensor(), "acc": Tensor()}, ["flag_a", "flag_b"], returns="tensor")
        lines = ["acc = x.sin()"]
        lines += self._region(scope)
        for _ in range(self.pick((2, 3, 4, 5, 6, 7, 8))):
            lines += self.statement(scope)
        lines += self._end(scope)
        body = ["def body(x, w, flag_a, flag_b):", *indented(lines)]
        return PRELUDE + "\n".join([*self._top, *body]) + "\n"

    def _end(self, scope: Scope) -> Lines:
        values = [v for v in self.values(scope) if v.saved]
        if values and self.chance(30):
            value = self.pick(values)
            return [self.pick((f"return acc, {value.text}", f"return [{value.text}, acc.sin()]"))]
        if values and self.chance(15):
            return [f"return acc * {self.pick(values).text}.sum()"]
        return ["return acc.sin()"]

    def table(self, scope: Scope) -> list[Callable[[Scope], Lines]]:
        simple = (
            [self._read] * 8
            + [self._marker] * 6
            + [self._region] * 5
            + [self._view] * 5
            + [self._copy] * 2
            + [self._container] * 3
            + [self._unpack] * 2
            + [self._helper_call] * 3
            + [self._metadata]
            + [self._rebind] * 2
            + [self._hidden] * 2
            + [self._comprehension] * 2
            + [self._walrus]
            + [self._conditional] * 2
            + [self._starred_marker] * 2
            + [self._python_read]
            + [self._delete]
            + [self._consumer] * 3
            + [self._boolean]
            + [self._in_place]
            + [self._augmented]
            + [self._lambda] * 2
            + [self._move]
            + [self._gather]
            + [self._zip]
            + [self._dict_loop]
            + [self._generator]
            + [self._nonlocal]
            + [self._default]
        )
        if scope.depth >= 2:
            return simple
        compound = (
            [self._if] * 5
            + [self._loop] * 3
            + [self._over] * 3
            + [self._while]
            + [self._try] * 2
            + [self._with] * 2
            + [self._guard] * 3
            + [self._match]
            + [self._nested_def] * 3
            + [self._early_return]
        )
        return simple + compound

    def fallback(self, scope: Scope) -> Lines:
        """A read."""
        return self._read(scope)
