"""Classes of modules: regions on their parts, template methods, inheritance, modules inside modules."""

from __future__ import annotations

from tests.differential.generator.functions import FunctionWriter
from tests.differential.generator.scope import FULL, Group, Helper, Kind, Lines, Scope, Tensor, indented


class ModuleWriter(FunctionWriter):
    """Writes classes, whose objects are called like helpers."""

    def _define_module(self) -> None:
        name = self._define_block()
        if self.chance(40):
            name = self._define_subclass(name)
        if self.chance(40):
            name = self.pick((self._define_stack, self._define_wrapper, self._define_configured))(name)
        if self.chance(15):
            self._define_carrier(name)
            return
        instance = name.lower()
        self._top += [f"{instance} = {name}()", "", ""]
        self._add_helper(instance, Tensor(FULL, True))

    def _add_helper(self, call: str, result: Kind) -> None:
        self._helpers.append(Helper(call, 1, False, result))

    def _define_class(self, head: str, methods: dict[str, Lines]) -> None:
        lines: Lines = []
        for signature, body in methods.items():
            lines += [f"def {signature}:", *indented(body), ""]
        self._top += [f"class {head}:", *indented(lines or ["extra = 1", ""]), ""]

    # --- a module with a region of its own

    def _define_block(self) -> str:
        name = self.name("Block")
        function = self.pick(("self.lin", "self._mix", "self.parts[1]", "self.parts", "self._static"))
        region = f"remat.region({function}, fresh('{self.name('r')}'), recompute={self._recompute()})"
        lines: Lines = ["acc = torch.ones(4, 6)", f"h = {region}(x)", *self._use_of_self()]
        scope = Scope({"x": Tensor(FULL, True), "acc": Tensor(), "h": Tensor(FULL, True)}, looped=True)
        for _ in range(self.pick((0, 1, 2))):
            lines += self.statement(scope)
        lines.append(f"return {self.value(scope, FULL).text}" if self.chance(60) else "return acc")
        mark = ["need(self.kept)"] if self.chance(50) else []
        passed = self.pick(("return t", "return t[...]", "return t * 1"))
        self._define_class(
            f"{name}(nn.Module)",
            {
                "__init__(self)": [
                    "super().__init__()",
                    "self.lin = nn.Linear(6, 6)",
                    "self.parts = nn.Sequential(self.lin, nn.SiLU())",
                ],
                "_mix(self, t)": ["return self.lin(t) * 2"],
                "_pass(self, t)": [*(["need(t)"] if self.chance(30) else []), passed],
                "_later(self)": [*mark, "return self.kept.sum()"],
                "forward(self, x)": lines,
            },
        )
        static = ["@staticmethod", "def _static(t):", "    return t.cos()", ""]
        self._top[-1:] = [
            *indented([*static, "@property", "def latest(self):", "    return self.kept"]),
            "",
            "",
        ]
        return name

    def _use_of_self(self) -> Lines:
        """What a forward does with its region's output through ``self``."""
        return self.pick(
            (
                [],
                [],
                ["self.kept = h", "acc = acc + self._later()"],
                ["self.kept = h", "acc = acc + self.latest.sum()"],
                ["self.kept = h", "need(self.latest)", "acc = acc + self.kept.sum()"],
                ["h = self._pass(h)"],
            )
        )

    # --- inheritance

    def _define_subclass(self, base: str) -> str:
        name = self.name("Sub")
        methods: dict[str, Lines] = {}
        if self.chance(50):
            methods["_mix(self, t)"] = self.pick((["return t.sin()"], ["return super()._mix(t) + 1"]))
        if self.chance(70):
            methods["forward(self, x)"] = self.pick(
                (
                    ["h = super().forward(x)", *self._after(), "return h"],
                    ["h = super(" + name + ", self).forward(x)", *self._after(), "return h.sin()"],
                    [f"h = {base}.forward(self, x)", *self._after(), "return x + h"],
                    ["return x.cos() + super().forward(x)[...].sum()"],
                )
            )
        self._define_class(f"{name}({base})", methods)
        return name

    def _after(self) -> Lines:
        return ["need(h)"] if self.chance(40) else []

    # --- modules inside modules

    def _define_stack(self, part: str) -> str:
        """A module with a list of others."""
        name = self.name("Stack")
        kind = self.pick(("list", "list", "dict", "loop"))
        made, over = {
            "list": (f"self.layers = nn.ModuleList([{part}(), {part}()])", "layer in self.layers"),
            "loop": (
                f"self.layers = nn.ModuleList({part}() for _ in range(2))",
                "_, layer in enumerate(self.layers)",
            ),
            "dict": (f"self.layers = nn.ModuleDict({{'a': {part}()}})", "layer in self.layers.values()"),
        }[kind]
        turn = self.pick(
            (
                ["h = layer(h)"],
                ["h = h + layer(h)"],
                ["out = layer(h)", "need(out)", "h = h + out"],
                ["need(h)", "h = layer(h).sin()"],
            )
        )
        end = self.pick(("return h", "return h.cos()"))
        self._define_class(
            f"{name}(nn.Module)",
            {
                "__init__(self)": ["super().__init__()", made],
                "forward(self, x)": ["h = x", f"for {over}:", *indented(turn), end],
            },
        )
        return name

    def _define_wrapper(self, part: str) -> str:
        """A module with another one, handed to it or made by it."""
        name = self.name("Outer")
        made = self.pick((f"self.inner: {part} = inner or {part}()", f"self.inner = {part}()"))
        forward = self.pick(
            (
                ["return x + self.inner(x)"],
                ["h = self.inner(x)", *self._after(), "return h * 2"],
                ["h = self.inner.forward(x)", "return h if self.flag else h.sin()"],
                ["return self._run(self.inner, x)"],
                [
                    f"h = remat.region(self.inner, fresh('{self.name('r')}'), recompute=False)(x)",
                    "return h[...]",
                ],
            )
        )
        self._define_class(
            f"{name}(nn.Module)",
            {
                "__init__(self, inner=None, flag=False)": ["super().__init__()", made, "self.flag = flag"],
                "_run(self, module, t)": ["h = module(t)", *self._after(), "return h + 1"],
                "forward(self, x)": forward,
            },
        )
        return name

    def _define_configured(self, part: str) -> str:
        """A module that is built from a configuration object, as torchtitan's are."""
        name, config = self.name("Built"), self.name("Config")
        self._top += [
            "@dataclasses.dataclass",
            f"class {config}:",
            "    scale: float = 2.0",
            "",
            f"    def build(self) -> {part}:",
            f"        return {part}()",
            "",
            "",
        ]
        forward = self.pick(
            (
                ["h = self.inner(x)", *self._after(), "return h * self.scale"],
                ["h = self.inner(x)", "return h.view(x.shape)"],
            )
        )
        self._define_class(
            f"{name}(nn.Module)",
            {
                "__init__(self, config=None)": [
                    "super().__init__()",
                    f"config = config or {config}()",
                    "self.scale = config.scale",
                    "self.inner = config.build()",
                ],
                "forward(self, x)": forward,
            },
        )
        return name

    def _define_carrier(self, part: str) -> None:
        """An object that is no module and returns more than one tensor."""
        name = self.name("Carrier")
        result = self.pick(("Pair(h, t.cos())", "Pair(t.cos(), b=h)", "Record(h, t)"))
        kind = "record" if result.startswith("Record") else "named"
        self._define_class(
            name,
            {
                "__init__(self)": [f"self.part = {part}()"],
                "__call__(self, t)": ["h = self.part(t)", *self._after(), f"return {result}"],
            },
        )
        self._top += [f"{name.lower()} = {name}()", "", ""]
        items = ((".a", Tensor(FULL, True)), (".b", Tensor(FULL, True)))
        self._add_helper(name.lower(), Group(kind, items))
