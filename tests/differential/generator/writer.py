"""The base of all writers: choices, names, and the values in scope."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeVar

from tests.differential.generator.chooser import Chooser
from tests.differential.generator.scope import FULL, Group, Helper, Kind, Lines, Scope, Shape, Tensor, Value
from tests.differential.generator.views import views

T = TypeVar("T")


class Writer:
    """Writes statements; the layers above say which there are."""

    def __init__(self, chooser: Chooser) -> None:
        self._choose = chooser
        self._count: dict[str, int] = {}
        self._top: Lines = []
        self._helpers: list[Helper] = []
        self._policies = 0

    # --- choices -----------------------------------------------------------------------

    def pick(self, options: Sequence[T]) -> T:
        """One of the options."""
        return options[self._choose.integer(0, len(options) - 1)]

    def chance(self, percent: int) -> bool:
        """True in about this share of draws."""
        return self._choose.integer(1, 100) > 100 - percent

    def name(self, stem: str) -> str:
        """A name that is new in this program."""
        self._count[stem] = self._count.get(stem, -1) + 1
        return f"{stem}{self._count[stem]}"

    # --- values ------------------------------------------------------------------------

    def values(self, scope: Scope) -> list[Value]:
        """Every tensor that has an expression here, without ``x`` and ``acc``."""
        found = []
        for name, kind in scope.names.items():
            if isinstance(kind, Tensor):
                found.append(Value(name, kind.shape, kind.saved))
            else:
                found += [Value(name + reach, item.shape, item.saved) for reach, item in kind.items]
        return [value for value in found if value.text != "acc"]

    def value(self, scope: Scope, shape: Shape | None = None) -> Value:
        """One tensor, a saved one where there is one; ``x`` where there is none."""
        fitting = [v for v in self.values(scope) if shape is None or v.shape == shape]
        saved = [v for v in fitting if v.saved]
        if saved and self.chance(90):
            # The newest is the most interesting one.
            return saved[-1] if self.chance(40) else self.pick(saved)
        return self.pick(fitting) if fitting else Value("x", FULL, False)

    def viewed(self, value: Value) -> Value:
        """A view of it, in some cases."""
        if not self.chance(35):
            return value
        text, shape = self.pick(views(value.shape))
        return Value(text.replace("{}", value.text), shape, value.saved)

    def groups(self, scope: Scope, *kinds: str) -> list[tuple[str, Group]]:
        """The containers in scope, of some kinds."""
        return [
            (name, kind)
            for name, kind in scope.names.items()
            if isinstance(kind, Group) and (not kinds or kind.kind in kinds)
        ]

    def flag(self, scope: Scope) -> str | None:
        """A condition that nothing else on the path depends on, where one is left."""
        if not scope.flags:
            return None
        flag = scope.flags.pop(self._choose.integer(0, len(scope.flags) - 1))
        return f"not {flag}" if self.chance(30) else flag

    def new(self, scope: Scope, kind: Kind, stem: str = "h") -> str:
        """A name for it: mostly a new one, or one that held the same kind."""
        same = [
            name
            for name, old in scope.names.items()
            if name not in ("x", "acc")
            and isinstance(old, Tensor)
            and isinstance(kind, Tensor)
            and old.shape == kind.shape
        ]
        if same and self.chance(25):
            name = self.pick(same)
        else:
            name = self.name(stem)
        scope.names[name] = kind
        return name

    # --- statements --------------------------------------------------------------------

    def statement(self, scope: Scope) -> Lines:
        """One statement, with what it needs before it."""
        for _ in range(5):
            lines = self.pick(self.table(scope))(scope)
            if lines:
                return lines
        return self.fallback(scope)

    def table(self, scope: Scope) -> list[Callable[[Scope], Lines]]:
        """The writers of one statement, each as often as it is likely."""
        raise NotImplementedError

    def fallback(self, scope: Scope) -> Lines:
        """A statement that is always possible."""
        raise NotImplementedError

    def block(self, scope: Scope, **changes: object) -> Lines:
        """A nested block of one to three statements."""
        inner = scope.inner(**changes)
        inner.flags = scope.flags
        lines: Lines = []
        for _ in range(self.pick((1, 1, 2, 3))):
            lines += self.statement(inner)
        return lines
