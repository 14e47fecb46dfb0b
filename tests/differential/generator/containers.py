"""Containers: made, taken apart, run through."""

from __future__ import annotations

from tests.differential.generator.regions import RegionWriter
from tests.differential.generator.scope import FULL, Group, Lines, Scope, Tensor, indented


class ContainerWriter(RegionWriter):
    """Writes statements about tuples, lists, dicts and records of tensors."""

    def _container(self, scope: Scope) -> Lines:
        first, second = self.value(scope), self.viewed(self.value(scope))
        items = (Tensor(first.shape, first.saved), Tensor(second.shape, second.saved))
        name = self.name("c")

        def group(kind: str, *reaches: str) -> None:
            scope.names[name] = Group(kind, tuple(zip(reaches, items, strict=True)))

        form = self._choose.integer(1, 11)
        if form <= 2:
            group("tuple", "[0]", "[-1]")
            return [f"{name} = ({first.text}, {second.text})"]
        if form == 3:
            group("list", "[0]", "[1]")
            return [f"{name} = [{first.text}]", f"{name}.append({second.text})"]
        if form == 4:
            group("dict", "['a']", "['b']")
            return [f"{name} = {{'a': {first.text}, 'b': {second.text}}}"]
        if form == 5:
            group("dict", "['a']", ".get('b')")
            return [f"{name} = dict(a={first.text})", f"{name}['b'] = {second.text}"]
        if form == 6:
            group("named", ".a", "[1]")
            return [f"{name} = Pair({first.text}, b={second.text})"]
        if form == 7:
            group("record", ".a", ".b")
            return [f"{name} = Record({first.text}, {second.text})"]
        if form == 8:
            group("object", ".a", ".b")
            return [f"{name} = Holder()", f"{name}.a = {first.text}", f"{name}.b = {second.text}"]
        if form == 9:
            group("list", "[0]", "[1]")
            return [f"{name} = [None] * 2", f"{name}[0] = {first.text}", f"{name}[1] = {second.text}"]
        if form == 10:
            group("list", "[0]", "[1]")
            return [f"{name} = [{first.text}] + [{second.text}]"]
        group("tuple", "[0]", "[1]")
        return [f"{name} = *({first.text},), {second.text}"]

    def _gather(self, scope: Scope) -> Lines:
        """A loop that appends outputs to a list, which is read later."""
        name, label = self.name("many"), self.name("r")
        value = self.value(scope, FULL)
        region = f"remat.region(double, fresh('{label}'), recompute={self._recompute()})({value.text})"
        made = [f"{name} = []", "for _ in range(2):", f"    {name}.append({region})"]
        if self.chance(30):
            made = [f"{name} = [{region} for _ in range(2)]"]
        marked = self.pick(
            ([], [], [f"need(*{name})"], [f"need({name}[0])"], [f"for m in {name}:", "    need(m)"])
        )
        scope.names[name] = Group("list", tuple((f"[{i}]", Tensor(FULL, True)) for i in range(2)))
        return [*made, *marked]

    def _dict_loop(self, scope: Scope) -> Lines:
        groups = self.groups(scope, "dict")
        if not groups:
            return []
        name, _ = self.pick(groups)
        element = self.name("e")
        head = self.pick((f"for {element} in {name}.values():", f"for _, {element} in {name}.items():"))
        marked = [f"need({element})"] if self.chance(30) else []
        return [head, *indented([*marked, f"acc = acc + {element}.sum()"])]

    def _zip(self, scope: Scope) -> Lines:
        groups = self.groups(scope, "tuple", "list", "named")
        if not groups:
            return []
        first, second = self.pick(groups)[0], self.pick(groups)[0]
        left, right = self.name("e"), self.name("e")
        body = self.pick(
            (
                [f"acc = acc + {left}.sum() * {right}.shape[0]"],
                [f"acc = acc + ({left}.sum() + {right}.sum())"],
                [f"need({left})", f"acc = acc + {left}.sum()"],
                [f"need({left}, {right})"],
            )
        )
        head = self.pick((f"in zip({first}, {second}):", f"in list(zip({first}, {second})):"))
        return [f"for {left}, {right} {head}", *indented(body)]

    def _unpack(self, scope: Scope) -> Lines:
        groups = [(n, g) for n, g in self.groups(scope, "tuple", "list", "named") if len(g.items) > 1]
        if not groups:
            return []
        name, group = self.pick(groups)
        if len(group.items) != 2:
            return []
        left, right = self.name("h"), self.name("h")
        scope.names[left], scope.names[right] = group.items[0][1], group.items[1][1]
        return [
            self.pick(
                (
                    f"{left}, {right} = {name}",
                    f"[{left}, {right}] = {name}",
                    f"({left}, *_), {right} = [{name}[0]], {name}[1]",
                )
            )
        ]

    def _comprehension(self, scope: Scope) -> Lines:
        value = self.value(scope)
        element = self.name("p")
        if not value.shape:
            return []
        groups = self.groups(scope, "tuple", "list", "named")
        over = self.pick(
            (f"{value.text}.chunk(2)", f"{value.text}.unbind(0)", value.text, f"{value.text}.split(2)")
        )
        if groups and self.chance(50):
            over = self.pick(groups)[0]
        if self.chance(30):
            name = self.name("parts")
            shape = value.shape[1:] if "unbind" in over else None
            if shape:
                scope.names[name] = Group(
                    "list", (("[0]", Tensor(shape, value.saved)), ("[-1]", Tensor(shape, value.saved)))
                )
                return [f"{name} = [{element}[...] for {element} in {over}]"]
        return [
            self.pick(
                (
                    f"acc = acc + sum({element}.sum() for {element} in {over})",
                    f"acc = acc + sum([{element}.cos().sum() for {element} in {over}])",
                    f"acc = acc + sum({element}.shape[0] if {element}.dim() else 1 for {element} in {over})",
                    f"acc = acc + len({{i: {element}.sum() for i, {element} in enumerate({over})}})",
                    f"acc = acc + sum(map(torch.sum, {over}))",
                )
            )
        ]
