"""Branches, loops, guards and expressions that run under a condition."""

from __future__ import annotations

from tests.differential.generator.containers import ContainerWriter
from tests.differential.generator.scope import Lines, Scope, Tensor, indented
from tests.differential.generator.views import views


class ControlWriter(ContainerWriter):
    """Writes compound statements."""

    def _if(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None:
            return []
        lines = [f"if {flag}:", *indented(self.block(scope))]
        other = self.flag(scope) if self.chance(25) else None
        if other is not None:
            lines += [f"elif {other}:", *indented(self.block(scope))]
        if self.chance(40):
            lines += ["else:", *indented(self.block(scope))]
        return lines

    def _early_return(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None or scope.returns is None or scope.depth:
            return []
        before = self.block(scope) if self.chance(50) else []
        if scope.returns == "nothing":
            return [f"if {flag}:", *indented([*before, "return"])]
        return [f"if {flag}:", *indented([*before, "return acc.cos()"])]

    def _conditional(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None:
            return []
        value = self.value(scope)
        draw = self._choose.integer(1, 4)
        if draw == 1:
            return [f"acc = acc + ({self.read_of(value)} if {flag} else x)"]
        if draw == 2:
            return [f"need({value.text}) if {flag} else None"]
        other = self.value(scope, value.shape)
        if other.shape != value.shape:
            return []
        kind = Tensor(value.shape, value.saved or other.saved)
        return [f"{self.new(scope, kind)} = {value.text} if {flag} else {other.text}"]

    def _boolean(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None:
            return []
        value = self.value(scope)
        return [
            self.pick(
                (
                    f"{flag} and need({value.text})",
                    f"({flag}) or need({value.text})",
                    f"_ = {flag} and {value.text}.sum()",
                    f"_ = {value.text}.shape[0] > 0 and {value.text}.sum() > 0",
                    f"_ = ({flag}) or print({value.text})",
                    f"_ = {value.text} if {flag} else None",
                )
            )
        ]

    def _loop(self, scope: Scope) -> Lines:
        index = self.name("i")
        head = f"for {index} in range(2):"
        lines = [head, *indented(self.block(scope, looped=True))]
        flag = self.flag(scope) if self.chance(30) else None
        if flag is not None:
            lines += indented([f"if {flag}:", f"    {self.pick(('break', 'continue'))}"])
            if self.chance(50):
                lines += indented(self.block(scope, looped=True, depth=2))
        if self.chance(15):
            lines += ["else:", *indented(self.block(scope))]
        return lines

    def _over(self, scope: Scope) -> Lines:
        element = self.name("e")
        value = self.value(scope)
        groups = self.groups(scope, "tuple", "list", "named")
        if groups and self.chance(50):
            name, group = self.pick(groups)
            shapes = {item.shape for _, item in group.items}
            if len(shapes) != 1:
                return []
            kind = Tensor(shapes.pop(), any(item.saved for _, item in group.items))
            head = self.pick(
                (
                    f"for {element} in {name}:",
                    f"for _, {element} in enumerate({name}):",
                    f"for {element}, _ in zip({name}, range(9)):",
                )
            )
        elif len(value.shape) >= 2:
            kind = Tensor(value.shape[1:], value.saved)
            head = self.pick((f"for {element} in {value.text}:", f"for {element} in {value.text}.unbind(0):"))
        else:
            return []
        inner = scope.inner(looped=True, names={**scope.names, element: kind})
        inner.flags = scope.flags
        lines: Lines = []
        for _ in range(self.pick((1, 1, 2))):
            lines += self.statement(inner)
        if self.chance(40):
            lines.append(f"acc = acc + {element}.sum()")
        if self.chance(25):
            lines.insert(0, f"need({element})")
        return [head, *indented(lines)]

    def _while(self, scope: Scope) -> Lines:
        count = self.name("n")
        block = self.block(scope, looped=True)
        flag = self.flag(scope) if self.chance(40) else None
        stop = f"if {count} > 1 or ({flag}):" if flag else f"if {count} > 1:"
        return [f"{count} = 0", "while True:", *indented([f"{count} += 1", *block, stop, "    break"])]

    def _try(self, scope: Scope) -> Lines:
        flag = self.flag(scope) if self.chance(40) else None
        raised = [f"if {flag}:", "    raise ZeroDivisionError"] if flag is not None else []
        lines = ["try:", *indented([*raised, *self.block(scope)])]
        if flag is not None:
            lines += ["except ZeroDivisionError:", *indented(self.block(scope))]
            if self.chance(40):
                lines += ["else:", *indented(self.block(scope))]
        if flag is None or self.chance(40):
            lines += ["finally:", *indented(self.block(scope))]
        return lines

    def _with(self, scope: Scope) -> Lines:
        if self.chance(50):
            scope_name = self.name("scope")
            label = f'fresh("{scope_name}")' if scope.looped else f'"{scope_name}"'
            return [f"with remat.name_scope({label}):", *indented(self.block(scope))]
        return ["with torch.no_grad():", *indented(self.block(scope, graded=False))]

    def _match(self, scope: Scope) -> Lines:
        flag = self.flag(scope)
        if flag is None:
            return []
        lines = [f"match {flag}:", "    case True:", *indented(indented(self.block(scope)))]
        return [*lines, "    case _:", *indented(indented(self.block(scope)))]

    def _guard(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        read = self.pick((f"print({value.text}.sum().item())", f"_ = float({value.text}.detach().sum())"))
        marker = f"need({value.text})"
        return self.pick(
            (
                ["if not remat.is_recomputing():", f"    {read}"],
                ["if remat.is_recomputing():", f"    {marker}"],
                ["if not remat.is_recomputing():", f"    {marker}"],
                [f"if not remat.is_placeholder({value.text}):", f"    {read}"],
                ["if remat.is_recomputing():", "    pass", "else:", f"    {read}"],
                [f"if remat.is_placeholder({value.text}):", "    pass", "else:", f"    {read}"],
            )
        )

    def _walrus(self, scope: Scope) -> Lines:
        value = self.value(scope)
        text, shape = self.pick(views(value.shape))
        name = self.name("v")
        scope.names[name] = Tensor(shape, value.saved)
        view = text.replace("{}", value.text)
        flag = self.flag(scope) if self.chance(60) else None
        if flag is None:
            return [f"acc = acc + ({name} := {view}).shape[0]"]
        lines = [f"if ({name} := {view}).dim() > 0 and {flag}:"]
        return [*lines, *indented(self.block(scope))]
