"""Classes of modules: regions on their parts, template methods, inheritance."""

from __future__ import annotations

from tests.differential.generator.functions import FunctionWriter
from tests.differential.generator.scope import FULL, Helper, Lines, Scope, Tensor, indented


class ModuleWriter(FunctionWriter):
    """Writes classes, whose objects are called like helpers."""

    def _define_module(self) -> None:
        name = self.name("Block")
        scope = Scope({"x": Tensor(FULL, True), "acc": Tensor()}, [], looped=True)
        lines: Lines = ["acc = torch.ones(4, 6)"]
        function, label = self.pick(("lin", "_mix")), self.name("r")
        region = f"remat.region(self.{function}, fresh('{label}'), recompute={self._recompute()})"
        draw = self._choose.integer(1, 4)
        scope.names["h"] = Tensor(FULL, True)
        lines.append(f"h = {region}(x)")
        if draw == 1:
            lines += ["self.kept = h", "acc = acc + self._later()"]
        elif draw == 2:
            lines += ["h = self._pass(h)"]
        for _ in range(self.pick((0, 1, 2))):
            lines += self.statement(scope)
        lines.append(f"return {self.value(scope, FULL).text}" if self.chance(60) else "return acc")
        mark = ["need(self.kept)"] if self.chance(50) else []
        self._top += [
            f"class {name}(nn.Module):",
            "    def __init__(self):",
            "        super().__init__()",
            "        self.lin = nn.Linear(6, 6)",
            "",
            "    def _mix(self, t):",
            "        return self.lin(t) * 2",
            "",
            "    def _pass(self, t):",
            *indented(
                indented(
                    [
                        *(["need(t)"] if self.chance(30) else []),
                        self.pick(("return t", "return t[...]", "return t * 1")),
                    ]
                )
            ),
            "",
            "    def _later(self):",
            *indented(indented([*mark, "return self.kept.sum()"])),
            "",
            "    def forward(self, x):",
            *indented(indented(lines)),
            "",
            "",
        ]
        if self.chance(40):
            sub = self.name("Sub")
            after = self.pick(
                (
                    ["return h"],
                    ["return h.sin()"],
                    ["need(h)", "return h.sin()"],
                    ["return x + h"],
                    ["return x.cos() + h[...].sum()"],
                )
            )
            self._top += [f"class {sub}({name}):"]
            if self.chance(50):
                override = self.pick((["return t.sin()"], ["return super()._mix(t) + 1"]))
                self._top += ["    def _mix(self, t):", *indented(indented(override)), ""]
            if self.chance(70):
                self._top += [
                    "    def forward(self, x):",
                    *indented(indented(["h = super().forward(x)", *after])),
                    "",
                ]
            else:
                self._top += ["    extra = 1", ""]
            self._top += [""]
            name = sub
        instance = name.lower()
        self._top += [f"{instance} = {name}()", "", ""]
        self._helpers.append(Helper(instance, 1, False, Tensor(FULL, True)))
