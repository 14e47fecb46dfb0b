"""Reads, markers and views of what is in scope."""

from __future__ import annotations

from tests.differential.generator.scope import FULL, Lines, Scope, Tensor, Value
from tests.differential.generator.views import MAYBE_COPIES, flat, views
from tests.differential.generator.writer import Writer

READS = (
    "{}.sum()",
    "{}.sin().sum()",
    "({} * 2).sum()",
    "F.silu({}).sum()",
    "torch.exp({}).sum()",
    "{}.clone().sum()",
    "torch.cat([{0}, {0}]).sum()",
    "torch.stack(({0}, {0})).sum()",
    "{}.max()",
    "{}.mean()",
    "(-{}).sum()",
    "({0} * {0}).sum()",
    "{}.double().sum().float()",
    "({} > 0).sum()",
    "{}[{} > 0].sum()",
    "float({}.sum())",
    "{}.sum().item()",
    "torch.where({0} > 0, {0}, 0.0).sum()",
    "{}.abs().amax()",
    "F.relu({}).sum()",
    "{}.cumsum(0).sum()",
    "torch.einsum('...i->...', {}).sum()",
    "{}.pow(2).sum()",
    "{}.norm()",
    "F.softmax({}, -1).max()",
    "abs({}.sum())",
    "sum({}).sum()",
    "torch.sum({})",
    "{}.add(1).sum()",
    "{}.mul({}).sum()",
    "{}.clamp(min=0).sum()",
    "F.dropout({}, 0.0).sum()",
    "{}.square().sum()",
    "{}.cpu().sum()",
    "{}.to('cpu').sin().sum()",
    "Scale.apply({}).sum()",
    "torch.add(*({0}, {0})).sum()",
    "functools.partial(torch.mul, 2)({}).sum()",
    "max({0}.sum(), {0}.cos().sum())",
    "operator.neg({}).sum()",
)
METADATA = (
    "{}.shape[0]",
    "len({})",
    "{}.dim()",
    "torch.zeros_like({}).sum()",
    "{}.numel()",
    "{}.size(0)",
    "torch.ones_like({}).sum()",
    "{}.new_zeros(2).sum()",
    "float({}.requires_grad)",
    "torch.empty({}.shape).numel()",
)
FULL_READS = (
    "x + {}",
    "lin({})",
    "norm({})",
    "torch.add(x, {})",
    "{} @ W",
    "seq({})",
    "x * {}",
    "F.linear({}, W)",
    "torch.lerp(x, {}, 0.5)",
)


class ReadWriter(Writer):
    """Writes statements that read, mark, view, copy and rebind tensors."""

    def read_of(self, value: Value) -> str:
        """An expression that reads it and fits ``acc``."""
        if value.shape == FULL and self.chance(30):
            return self.pick(FULL_READS).replace("{}", value.text)
        text = self.pick(READS)
        if "einsum" in text and len(value.shape) > 2:
            text = "{}.sum()"
        return text.replace("{0}", value.text).replace("{}", value.text)

    def _read(self, scope: Scope) -> Lines:
        value = self.value(scope)
        marked = [f"need({value.text})"] if value.saved and self.chance(45) else []
        viewed = self.viewed(value)
        form = self._choose.integer(1, 12)
        if form == 12:
            other = self.value(scope)
            read = f"({viewed.text}.sum() + {other.text}.sum())"
        else:
            read = self.read_of(viewed)
        if form == 11:
            return [*marked, f"{self.new(scope, Tensor((), False), 's')} = {viewed.text}.sum()"]
        after = marked and self.chance(20)
        line = f"acc = acc {self.pick('+*')} {read}"
        return [line, *marked] if after else [*marked, line]

    def _python_read(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        return [
            self.pick(
                (
                    f"print({value.text})",
                    f"_ = f'{{{value.text}}}'",
                    f"assert {value.text}.isfinite().all()",
                    f"_ = str({value.text})",
                    f"_ = {value.text}.tolist()",
                    f"_ = {value.text}.detach().numpy()",
                    f"print({value.text}.shape)",
                    f"_ = f'{{{value.text}.shape}}'",
                    f"_ = bool({value.text}.sum() > 0)",
                    f"_ = {value.text} is None",
                    f"_ = isinstance({value.text}, torch.Tensor)",
                    f"_ = torch.equal({value.text}, {value.text})",
                )
            )
        ]

    def _metadata(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        return [f"acc = acc * {self.pick(METADATA).replace('{}', value.text)}"]

    def _marker(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        call = self.pick(("need", "need", "remat.recompute_needs_tensor"))
        draw = self._choose.integer(1, 10)
        if draw == 10:
            return [f"{call}({value.text}.clone())"]
        if draw >= 8:
            return [f"{call}({value.text}, {self.value(scope).text})"]
        return [f"{call}({value.text})"]

    def _starred_marker(self, scope: Scope) -> Lines:
        groups = self.groups(scope, "tuple", "list", "named")
        if not groups:
            return []
        name, _ = self.pick(groups)
        element = self.name("each")
        return self.pick(
            (
                [f"need(*{name})"],
                [f"need(*{name}[:1])"],
                [f"for {element} in {name}:", f"    need({element})"],
                [f"list(map(need, {name}))"],
                [f"[need({element}) for {element} in {name}]"],
            )
        )

    def _view(self, scope: Scope) -> Lines:
        value = self.value(scope)
        text, shape = self.pick(views(value.shape))
        return [f"{self.new(scope, Tensor(shape, value.saved))} = {text.replace('{}', value.text)}"]

    def _copy(self, scope: Scope) -> Lines:
        value = self.viewed(self.value(scope))
        text = self.pick(MAYBE_COPIES if len(value.shape) > 1 else MAYBE_COPIES[:1])
        shape = value.shape if "contiguous" in text else (flat(value.shape),)
        return [f"{self.new(scope, Tensor(shape, value.saved))} = {text.replace('{}', value.text)}"]

    def _move(self, scope: Scope) -> Lines:
        """To the device where it is already: elsewhere it is a copy, so a marker there is no use."""
        value = self.viewed(self.value(scope))
        text = self.pick(("{}.cpu()", "{}.to('cpu')", "{}.to(device='cpu')"))
        return [f"{self.new(scope, Tensor(value.shape, False))} = {text.replace('{}', value.text)}"]

    def _rebind(self, scope: Scope) -> Lines:
        names = [
            n
            for n, k in scope.names.items()
            if isinstance(k, Tensor) and n not in ("x", "acc") and k.shape == FULL
        ]
        if not names:
            return []
        name = self.pick(names)
        form = self.pick(
            (
                f"{name} = {name} + 1",
                f"{name} = x",
                f"{name} = {name}.clone()",
                f"{name} = x.cos()",
                f"{name} = {name}[...]",
                f"{name} = x = {name}",
                f"{name}, _ = x, {name}",
            )
        )
        if form.startswith(f"{name} = x = "):
            return [f"{name} = alias = {name}", "acc = acc + alias.sum()"]
        return [form]

    def _augmented(self, scope: Scope) -> Lines:
        value = self.value(scope, FULL)
        name = self.name("total")
        scope.names[name] = Tensor(FULL, False)
        return [f"{name} = x * 3", f"{name} {self.pick(('+=', '*=', '-='))} {value.text}"]

    def _in_place(self, scope: Scope) -> Lines:
        if not self.chance(30):
            return []
        value = self.value(scope, FULL)
        if value.text == "x":
            return []
        return [
            self.pick(
                (
                    f"{value.text}.add_(1)",
                    f"{value.text}.t().mul_(2)",
                    f"{value.text}[0] = 0",
                    f"{value.text} += 1",
                )
            )
        ]

    def _delete(self, scope: Scope) -> Lines:
        names = [n for n in scope.names if n not in ("x", "acc") and n not in scope.frozen]
        if not names:
            return []
        name = self.pick(names)
        del scope.names[name]
        return [f"del {name}"]
