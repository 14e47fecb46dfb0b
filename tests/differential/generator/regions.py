"""Regions: what they compute, and how they are called."""

from __future__ import annotations

from tests.differential.generator.reads import ReadWriter
from tests.differential.generator.scope import FULL, Group, Lines, Scope, Shape, Tensor
from tests.differential.generator.views import views

ONE_TO_ONE = (
    "lambda a: a @ W",
    "lambda a: a * 2",
    "double",
    "lin",
    "norm",
    "seq",
    "torch.sin",
    "F.silu",
    "affine",
    "functools.partial(affine, scale=3.0)",
    "lambda a: affine(a, 2.0)",
    "lambda a: (a * 2).t().contiguous().t()",
    "nn.Sequential(lin, norm)",
    "F.gelu",
    "lambda a: a.sin().view(2, 12).view(4, 6)",
)
RESIDENT = ("torch.sigmoid", "torch.exp", "lambda a: a.tanh()", "F.softmax")
TWO_TO_ONE = (
    "torch.add",
    "torch.mul",
    "join",
    "lambda a, b: a + b.cos()",
    "lambda a, b: a * b",
    "torch.maximum",
)
TO_MANY: tuple[tuple[str, str, tuple[Shape, ...]], ...] = (
    ("two", "tuple", (FULL, FULL)),
    ("lambda a: (a * 2, a @ W)", "tuple", (FULL, FULL)),
    ("lambda a: [a * 2, a.sin()]", "list", (FULL, FULL)),
    ("lambda a: Pair(a * 2, a.cos())", "named", (FULL, FULL)),
    ("lambda a: (a * 2).chunk(2)", "tuple", ((2, 6), (2, 6))),
    ("lambda a: torch.cat([a, a], -1).chunk(2, -1)", "tuple", (FULL, FULL)),
    ("lambda a: (a @ W).unbind(0)", "tuple", ((6,), (6,), (6,), (6,))),
    ("lambda a: (a * 2).split([1, 3])", "tuple", ((1, 6), (3, 6))),
    ("lambda a: (a * 2, a * 3, a * 4)", "tuple", (FULL, FULL, FULL)),
)


class RegionWriter(ReadWriter):
    """Writes statements that declare and call regions."""

    def _recompute(self) -> str:
        draw = self._choose.integer(1, 100)
        if draw <= 62:
            return "False"
        if draw <= 78:
            return "True"
        if self._policies < 2:
            self._policies += 1
        return f'policy("p{self._choose.integer(0, self._policies - 1)}")'

    def _wrapper(self, scope: Scope, function: str, recompute: str) -> str:
        name = self.name("r")
        label = f'fresh("{name}")' if scope.looped else f'"{name}"'
        form = self._choose.integer(1, 10)
        if form == 9 and recompute == "False":
            return f"saved({function}, {label})"
        if form == 10:
            return f"remat.region(function={function}, name={label}, recompute={recompute})"
        return f"remat.region({function}, {label}, recompute={recompute})"

    def _region(self, scope: Scope) -> Lines:
        draw = self._choose.integer(1, 10)
        if draw <= 3:
            return self._region_to_many(scope)
        if draw <= 5:
            return self._region_of_two(scope)
        recompute = self._recompute()
        saved = recompute != "True"
        before: Lines = []
        if draw == 6 and scope.graded:
            function = self.pick(RESIDENT)
            if function == "F.softmax":
                function = "functools.partial(F.softmax, dim=-1)"
        elif draw == 7:
            function, before = self._local_function(scope)
        elif draw == 8:
            function = "lambda a: (a * 2).t()"
            argument = self.value(scope, FULL).text
            name = self.new(scope, Tensor((6, 4), saved))
            return [f"{name} = {self._wrapper(scope, function, recompute)}({argument})"]
        else:
            function = self.pick(ONE_TO_ONE)
        argument = self.value(scope, FULL).text if not self.chance(30) else "x"
        call = self._called(scope, before, self._wrapper(scope, function, recompute), argument)
        if self.chance(12):
            text, shape = self.pick(views(FULL))
            if text.count("{}") == 1:
                return [*before, f"{self.new(scope, Tensor(shape, saved))} = {text.replace('{}', call)}"]
        if self.chance(8):
            return [*before, f"acc = acc + {call}"]
        return [*before, f"{self.new(scope, Tensor(FULL, saved))} = {call}"]

    def _called(self, scope: Scope, before: Lines, wrapper: str, arguments: str) -> str:
        if self.chance(15):
            name = self.name("wrapped")
            before.append(f"{name} = {wrapper}")
            return f"{name}({arguments})"
        return f"{wrapper}({arguments})"

    def _local_function(self, scope: Scope) -> tuple[str, Lines]:
        name = self.name("local")
        form = self._choose.integer(1, 4)
        if form == 1:
            return name, [f"def {name}(a):", "    return a * 2 + 1"]
        if form == 2:
            return name, [f"def {name}(a):", "    b = a @ W", "    return b.sin() * a"]
        if form == 3:
            inner = self.name("r")
            kept = self.pick(("False", "True"))
            mark = ["    need(b)"] if self.chance(50) else []
            label = f'fresh("{inner}")' if scope.looped else f'"{inner}"'
            body = [
                f"    b = remat.region(double, {label}, recompute={kept})(a)",
                *mark,
                "    return b.sin() * 2",
            ]
            return name, [f"def {name}(a):", *body]
        return name, [f"{name} = lambda a: a.cos()"]

    def _region_of_two(self, scope: Scope) -> Lines:
        recompute = self._recompute()
        first, second = self.value(scope, FULL).text, self.value(scope, FULL).text
        function = self.pick(TWO_TO_ONE)
        arguments = f"{first}, {second}"
        if function == "join" and self.chance(40):
            arguments = self.pick((f"{first}, b={second}", f"a={first}, b={second}", f"*[{first}, {second}]"))
        elif self.chance(20):
            function = "lambda p: p[0] * p[1].sin()"
            arguments = self.pick(
                (f"[{first}, {second}]", f"({first}, {second})", f"Pair({first}, {second})")
            )
        before: Lines = []
        call = self._called(scope, before, self._wrapper(scope, function, recompute), arguments)
        return [*before, f"{self.new(scope, Tensor(FULL, recompute != 'True'))} = {call}"]

    def _region_to_many(self, scope: Scope) -> Lines:
        recompute = self._recompute()
        saved = recompute != "True"
        function, form, shapes = self.pick(TO_MANY)
        before: Lines = []
        argument = self.value(scope, FULL).text
        call = self._called(scope, before, self._wrapper(scope, function, recompute), argument)
        style = self._choose.integer(1, 10)
        if style <= 5:
            names = [self.name("h") for _ in shapes]
            scope.names.update((n, Tensor(s, saved)) for n, s in zip(names, shapes, strict=True))
            return [*before, f"{', '.join(names)} = {call}"]
        if style <= 6 and len(shapes) > 2:
            first, rest = self.name("h"), self.name("rest")
            scope.names[first] = Tensor(shapes[0], saved)
            items = tuple((f"[{i}]", Tensor(s, saved)) for i, s in enumerate(shapes[1:]))
            scope.names[rest] = Group("list", items)
            return [*before, f"{first}, *{rest} = {call}"]
        if style == 7:
            index = self._choose.integer(0, len(shapes) - 1)
            name = self.name("h")
            scope.names[name] = Tensor(shapes[index], saved)
            return [*before, f"{name} = {call}[{index}]"]
        name = self.name("outs")
        reaches = (".a", "[1]") if form == "named" else tuple(f"[{i}]" for i in range(len(shapes)))
        scope.names[name] = Group(
            form, tuple((r, Tensor(s, saved)) for r, s in zip(reaches, shapes, strict=True))
        )
        return [*before, f"{name} = {call}"]

    def _consumer(self, scope: Scope) -> Lines:
        """A region that takes saved outputs: with ``recompute=True`` it makes them persist."""
        value = self.viewed(self.value(scope))
        recompute = self.pick(("True", "True", "True", "False", 'policy("hidden")'))
        argument = self.pick((value.text, value.text, f"*({value.text},)", f"**{{'t': {value.text}}}"))
        function = "double" if argument.startswith("**") else "lambda a: a.sin()"
        call = f"{self._wrapper(scope, function, recompute)}({argument})"
        return [f"{self.new(scope, Tensor(value.shape, recompute != 'True'))} = {call}"]

    def _hidden(self, scope: Scope) -> Lines:
        """A region that gets at an output by a way that torch_remat does not look along."""
        value = self.value(scope, FULL)
        recompute = self.pick(("True", "True", "True", "False", 'policy("hidden")'))
        function, argument = self.pick(
            (
                ("lambda a: a * {}", "x"),
                ("functools.partial(torch.mul, {})", "x"),
                ("lambda d: d['k'].sin()", "{{'k': {}}}"),
                ("lambda p: p[0][0].sin()", "[[{}]]"),
                ("lambda r: r.a * 2", "Record({}, None)"),
                ("lambda a, b={}: a * b", "x"),
                ("{}.mul", "x"),
                ("lambda a, d: a * d['k']", "x, d={{'k': {}}}"),
                ("lambda a: a * {}.shape[0]", "x"),
                ("lambda a: a + {}.t().sum()", "x"),
            )
        )
        wrapper = self._wrapper(scope, function.replace("{}", value.text), recompute)
        argument = argument.replace("{}", value.text).replace("{{", "{").replace("}}", "}")
        return [f"{self.new(scope, Tensor(FULL, recompute != 'True'))} = {wrapper}({argument})"]
