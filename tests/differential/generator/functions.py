"""Functions: lambdas, nested functions, and helpers at the top of the module."""

from __future__ import annotations

from tests.differential.generator.control import ControlWriter
from tests.differential.generator.scope import FULL, Group, Helper, Kind, Lines, Scope, Tensor, indented


class FunctionWriter(ControlWriter):
    """Writes functions, and calls of them."""

    def _lambda(self, scope: Scope) -> Lines:
        value = self.value(scope)
        name = self.name("f")
        draw = self._choose.integer(1, 5)
        if draw == 1:
            return [f"{name} = lambda: {value.text}.sum()", f"acc = acc + {name}()"]
        if draw == 2:
            return [f"{name} = lambda t: t.sum()", f"acc = acc + {name}({value.text})"]
        if draw == 3:
            return [f"{name} = lambda: need({value.text})", f"{name}()"]
        if draw == 4:
            return [
                f"{name} = lambda t: t[...]",
                f"{self.new(scope, Tensor(value.shape, value.saved))} = {name}({value.text})",
            ]
        return [f"{name} = lambda: {value.text}.sum()"]

    def _generator(self, scope: Scope) -> Lines:
        """A function that yields, and a loop over what it yields."""
        name, element = self.name("parts"), self.name("e")
        value = self.viewed(self.value(scope))
        marked = self.pick(([], [], [f"need({value.text})"], ["need(t)"]))
        lines = [f"def {name}(t):", *indented([*marked, "yield t", "yield t[...]"])]
        read = self.pick((f"acc = acc + {element}.sum()", f"acc = acc + {element}.shape[0]"))
        return [*lines, f"for {element} in {name}({value.text}):", f"    {read}"]

    def _nonlocal(self, scope: Scope) -> Lines:
        """A nested function that binds a name of the function around it."""
        if scope.depth:
            return []
        target, name = self.name("h"), self.name("binds")
        value = self.value(scope, FULL)
        region = f"{self._wrapper(scope, 'double', 'False')}({value.text})"
        scope.names[target] = Tensor(FULL, True)
        body = [f"nonlocal {target}", f"{target} = {region}", *self.pick(([], [f"need({target})"]))]
        return [f"{target} = x", f"def {name}():", *indented(body), f"{name}()"]

    def _default(self, scope: Scope) -> Lines:
        """A function that keeps an output as the default of a parameter."""
        name, value = self.name("f"), self.viewed(self.value(scope))
        made = self.pick((f"lambda t, u={value.text}: t * u.sum()", f"lambda *, u={value.text}: u.shape[0]"))
        return [f"{name} = {made}", f"acc = acc * {name}({'x' if 't, u' in made else ''})"]

    def _define_recursion(self) -> None:
        name, label = self.name("again"), self.name("r")
        region = f"remat.region(double, fresh('{label}'), recompute={self._recompute()})(t)"
        marked = ["need(h)"] if self.chance(40) else []
        step = self.pick(("h", "h.sin()", "h[...]"))
        self._top += [
            f"def {name}(t, n=2):",
            *indented(
                ["if n == 0:", "    return t", f"h = {region}", *marked, f"return {name}({step}, n - 1)"]
            ),
            "",
            "",
        ]
        self._helpers.append(Helper(name, 1, False, Tensor(FULL, True)))

    def _nested_def(self, scope: Scope) -> Lines:
        name = self.name("inner")
        scope_inner = scope.inner(looped=True, returns=None, depth=1)
        scope_inner.flags = scope.flags
        own: dict[str, Kind] = {k: v for k, v in scope.names.items() if k != "acc"}
        parameter = self.name("t")
        value = self.value(scope)
        scope_inner.names = {**own, parameter: Tensor(value.shape, value.saved), "acc": Tensor()}
        scope_inner.frozen = frozenset(scope_inner.names)
        lines = ["acc = x * 2"]
        for _ in range(self.pick((1, 2))):
            lines += self._pure(scope_inner)
        lines.append(f"return acc.sin(), {parameter}" if self.chance(50) else "return acc.sin()")
        defined = [f"def {name}({parameter}):", *indented(lines)]
        if lines[-1] == "return acc.sin()":
            return [*defined, f"acc = acc + {name}({value.text})"]
        result = self.name("h")
        scope.names[result] = Tensor(value.shape, value.saved)
        return [*defined, f"part, {result} = {name}({value.text})", "acc = acc + part"]

    def _pure(self, scope: Scope) -> Lines:
        """A statement that rebinds no name of an outer function."""
        old = dict(scope.names)
        for _ in range(6):
            lines = self.pick(self.table(scope))(scope)
            bound = {line.strip().split(" ")[0].rstrip(",") for line in lines}
            if (
                lines
                and not bound & (set(old) - {"acc"})
                and not any(line.strip().startswith("del ") for line in lines)
            ):
                return lines
            scope.names = dict(old)
        return [f"acc = acc + {self.value(scope).text}.sum()"]

    def _define_helper(self) -> None:
        if self.chance(35):
            self._define_module()
            return
        if self.chance(10):
            self._define_recursion()
            return
        name = self.name("helper")
        parameters = self.pick((1, 1, 2))
        flagged = self.chance(30)
        names = ["t", "u"][:parameters]
        scope = Scope({n: Tensor(FULL, True) for n in names}, ["flag"] if flagged else [], looped=True)
        scope.names["x"] = scope.names["t"]
        scope.names["acc"] = Tensor()
        lines = ["x = t", "acc = torch.ones(4, 6)"]
        scope.returns, lines_end, result = self._helper_result(scope)
        for _ in range(self.pick((1, 2, 3))):
            lines += self.statement(scope)
        if lines_end == "any":
            value = self.value(scope, FULL)
            lines_end, result = f"return {value.text}", Tensor(FULL, True)
        lines.append(lines_end)
        header = ", ".join(names + ["flag"] * flagged)
        self._top += [f"def {name}({header}):", *indented(lines), "", ""]
        self._helpers.append(Helper(name, parameters, flagged, result))

    def _helper_result(self, scope: Scope) -> tuple[str | None, str, Kind | None]:
        draw = self._choose.integer(1, 6)
        if draw == 1:
            return "nothing", "return None", None
        if draw <= 3:
            return "tensor", "return acc", Tensor(FULL, False)
        if draw == 4:
            items = (("[0]", Tensor()), ("[1]", Tensor(FULL, True)))
            return None, "return acc, t", Group("tuple", items)
        return None, "any", Tensor(FULL, True)

    def _helper_call(self, scope: Scope) -> Lines:
        if not self._helpers:
            return []
        helper = self.pick(self._helpers)
        arguments = [self.value(scope, FULL).text for _ in range(helper.parameters)]
        if helper.flagged:
            flag = self.flag(scope)
            if flag is None:
                return []
            arguments.append(flag if self.chance(50) else f"flag={flag}")
        call = f"{helper.call}({', '.join(arguments)})"
        if helper.result is None:
            return [call]
        if isinstance(helper.result, Group):
            name = self.name("got")
            scope.names[name] = helper.result
            return [f"{name} = {call}"]
        if self.chance(25):
            return [f"acc = acc + {call}"]
        return [f"{self.new(scope, helper.result)} = {call}"]
