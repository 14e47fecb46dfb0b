"""Write remat_lint/torch_ops/table.json from the PyTorch that is installed.

    python scripts/generate_torch_ops.py            # write
    python scripts/generate_torch_ops.py --check    # compare, exit 1 where it differs

Three sources inside the installed torch, none of them run on data: the operator schemas (alias and
write annotations, the tags ``nondeterministic_seeded`` and ``pointwise``), the type stubs of the C++
bindings (names and order of parameters, what comes back), and the signatures of Python functions and
modules.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import sys
from collections import defaultdict
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterator

TABLE = Path(__file__).parent.parent / "remat_lint" / "torch_ops" / "table.json"

NAMESPACES = {
    "torch": "",
    "torch.Tensor": "",
    "torch.nn.functional": "",
    "torch.linalg": "linalg_",
    "torch.special": "special_",
    "torch.fft": "fft_",
    "torch.nn.init": None,
}
"""Each namespace with the prefix that its functions have among the operators; None: none of them is one."""

NOT_OPERATIONS = {
    "assert_int_or_pair",
    "boolean_dispatch",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
}
"""Tools of torch.nn.functional's own code."""
CONTAINERS = {
    "Container",
    "Module",
    "ModuleDict",
    "ModuleList",
    "ParameterDict",
    "ParameterList",
    "Sequential",
}
USUAL = {"effect": "read", "result": "tensor", "draws": False, "keeps_order": False}
"""Fields that the table leaves out."""
NOT_A_SIGNATURE = {"self", "cls", "_stacklevel", "args", "kwargs"}

Entry = dict[str, Any]


@dataclass
class Signature:
    """One overload: names in order, the one that takes all remaining positionals, what comes back."""

    names: tuple[str, ...]
    positional: int
    variadic: str | None
    returns: str


@dataclass
class Schemas:
    """What the operator schemas of one name say together."""

    view: bool = False
    reads: bool = False
    draws: bool = False
    pointwise: bool = False
    sources: set[str] = field(default_factory=set)
    writes: set[str] = field(default_factory=set)
    outs: bool = False
    returns: set[str] = field(default_factory=set)
    names: tuple[str, ...] = ()


# What the schemas say.


@cache
def operators() -> dict[str, list[Any]]:
    """The schemas of each aten operator.

    TorchScript has overloads of its own, over Python values and lists (``add.str``): left out.
    """
    dispatched = set(torch._C._dispatch_get_all_op_names())
    found = defaultdict(list)
    for schema in torch._C._jit_get_all_schemas():
        full_name = ".".join(filter(None, (schema.name, schema.overload_name)))
        if schema.name.startswith("aten::") and full_name in dispatched and about_tensors(schema):
            found[schema.name.removeprefix("aten::")].append(schema)
    return dict(found)


def about_tensors(schema: Any) -> bool:
    """Whether a tensor goes in or comes out."""
    return any("Tensor" in str(part.type) for part in (*schema.arguments, *schema.returns))


def summary(name: str) -> Schemas | None:
    """The schemas of that operator, and what its tags say."""
    schemas = operators().get(name)
    if schemas is None:
        return None
    said = Schemas(
        draws=has_tag(name, torch.Tag.nondeterministic_seeded), pointwise=has_tag(name, torch.Tag.pointwise)
    )
    for schema in schemas:
        add_schema(said, schema)
    return said


def add_schema(said: Schemas, schema: Any) -> None:
    writes = {part.name for part in schema.arguments if part.alias_info and part.alias_info.is_write}
    if is_out_variant(schema):
        said.outs = True
        return
    said.writes |= writes
    said.returns |= {kind_of_returns(schema)}
    sources = set() if writes else set(aliased(schema))
    said.sources |= sources
    said.view |= bool(sources)
    said.reads |= not sources
    names = tuple(part.name for part in schema.arguments)
    said.names = max(said.names, names, key=len)


def is_out_variant(schema: Any) -> bool:
    return any(p.kwarg_only and p.alias_info and p.alias_info.is_write for p in schema.arguments)


def aliased(schema: Any) -> Iterator[str]:
    """The arguments whose storage a result may share."""
    returned: set[str] = set()
    for result in schema.returns:
        if result.alias_info:
            returned |= set(result.alias_info.before_set) | set(result.alias_info.after_set)
    returned |= {"*"} if any(str(r.type) == "List[Tensor]" for r in schema.returns) else set()
    for part in schema.arguments:
        if part.alias_info and (set(part.alias_info.before_set) | set(part.alias_info.after_set)) & returned:
            yield part.name


def kind_of_returns(schema: Any) -> str:
    types = [str(part.type) for part in schema.returns]
    if not types:
        return "none"
    if len(types) > 1 or types == ["List[Tensor]"]:
        return "tensors" if any("Tensor" in kind for kind in types) else "value"
    return "tensor" if "Tensor" in types[0] else "value"


def has_tag(name: str, tag: torch.Tag) -> bool:
    packet = getattr(torch.ops.aten, name, None)
    if packet is None:
        return False
    overloads = (getattr(packet, overload) for overload in packet.overloads())
    return any(tag in overload.tags for overload in overloads)


# What the stubs and signatures say.


@cache
def stubs(path: str, inside: str | None = None) -> dict[str, list[Signature]]:
    """The overloads of each function of a stub file, or of one class in it."""
    tree = ast.parse((Path(inspect.getfile(torch)).parent / path).read_text(encoding="utf-8"))
    body = tree.body
    if inside is not None:
        body = next(node.body for node in body if isinstance(node, ast.ClassDef) and node.name == inside)
    found: dict[str, list[Signature]] = defaultdict(list)
    for node in body:
        if isinstance(node, ast.FunctionDef) and not is_deprecated(node, inside):
            found[node.name].append(from_stub(node))
    return dict(found)


def is_deprecated(node: ast.FunctionDef, inside: str | None) -> bool:
    """Old overloads, a number before the tensors, still stand in the stubs: ``add(self, alpha, other)``."""
    names = [part.arg for part in node.args.args]
    if inside is None:
        return "self" in names
    return names[1:2] in (["alpha"], ["beta"]) and len(names) > 2


def from_stub(node: ast.FunctionDef) -> Signature:
    parts = node.args
    variadic = parts.vararg.arg if parts.vararg else None
    names = [part.arg for part in (*parts.posonlyargs, *parts.args)]
    names += [variadic] if variadic else []
    names += [part.arg for part in parts.kwonlyargs]
    kept = tuple(name for name in names if name not in NOT_A_SIGNATURE or name == variadic)
    positional = len(kept) - len(parts.kwonlyargs)
    return Signature(kept, positional, variadic, ast.unparse(node.returns) if node.returns else "")


def from_python(function: Any) -> Signature | None:
    """The signature of a Python function, or of the stand-in that torch keeps for overriding it."""
    real = inspected(function)
    stand_in = overrides().get(function)
    if stand_in and (real is None or list(real.parameters) == ["args", "kwargs"]):
        real = inspected(stand_in)
    if real is None:
        return None
    variadic = [part.name for part in real.parameters.values() if part.kind is part.VAR_POSITIONAL]
    names = (part.name for part in real.parameters.values() if part.kind is not part.VAR_KEYWORD)
    kept = tuple(name for name in names if name not in NOT_A_SIGNATURE or name in variadic)
    returns = "" if real.return_annotation is real.empty else str(real.return_annotation)
    by_name = sum(part.kind is part.KEYWORD_ONLY for part in real.parameters.values())
    return Signature(kept, len(kept) - by_name, variadic[0] if variadic else None, returns)


def inspected(function: Any) -> inspect.Signature | None:
    """The signature of a function, if it is not C++."""
    try:
        return inspect.signature(function)
    except (TypeError, ValueError):
        return None


@cache
def overrides() -> dict[Any, Any]:
    return dict(torch.overrides.get_testing_overrides())


def signatures(namespace: str, name: str, function: Any) -> list[Signature]:
    """All overloads that Python code can call, the one with most positions first."""
    if namespace == "torch.Tensor":
        found = stubs("_C/__init__.pyi", "TensorBase").get(name, [])
    elif namespace == "torch":
        found = stubs("_C/_VariableFunctions.pyi").get(name, [])
    elif namespace == "torch.nn.functional":
        found = stubs("nn/functional.pyi").get(name, [])
    else:
        found = []
    if not found or inspect.isfunction(function):
        python = from_python(function)
        found = [python] if python and python.names else found
    return sorted(found, key=lambda one: (-one.positional, -len(one.names)))


def merged_names(overloads: list[Signature]) -> list[str]:
    """The names of the first overload, then those that only others have; ``out`` comes last."""
    names = dict.fromkeys(name for one in overloads for name in one.names)
    return [name for name in names if name != "out"] + ["out"] * ("out" in names)


def kinds_returned(overloads: list[Signature]) -> set[str]:
    return {kind for one in overloads if (kind := kind_of_annotation(one.returns))}


def kind_of_annotation(annotation: str) -> str | None:
    if annotation == "" or "Any" in annotation or "Callable" in annotation:
        return None
    if annotation == "None":
        return "none"
    if "Tensor" in annotation or "return_types" in annotation:
        several = ("tuple", "Tuple", "List", "list", "Sequence", "return_types")
        return "tensors" if any(word in annotation for word in several) else "tensor"
    return "value"


# One entry from both.


def entry(namespace: str, name: str, function: Any) -> Entry:
    """Fields that differ from the usual ones: reads, returns a tensor."""
    prefix = NAMESPACES[namespace]
    said = None if prefix is None else summary(prefix + name)
    overloads = signatures(namespace, name, function)
    is_method = namespace == "torch.Tensor"
    names = parameters(is_method, overloads, said)
    receiver = "self" if is_method else next(iter(names), "input")
    kinds = kinds_returned(overloads) or (said.returns if said else set())
    found = effect_of(said, name, names, receiver)
    if found.get("result") is None:
        found["result"] = kinds.pop() if len(kinds) == 1 else "unknown"
    variadic = [one.variadic for one in overloads if one.variadic]
    if variadic:
        found["variadic"] = variadic[0]
    if "inplace" in names:
        found["indirect_inplace"] = "inplace"
    return {**found, "parameters": " ".join(names)}


def parameters(is_method: bool, overloads: list[Signature], said: Schemas | None) -> list[str]:
    """Signatures first, as Python code sees them; the schemas know more about ``out``."""
    names = merged_names(overloads) or list(said.names if said else ())
    if is_method:
        without = [name for name in names if name != "self"]
        return without[1:] if without[:1] == ["input"] else without
    if said and said.outs and "out" not in names:
        names.append("out")
    return ["input" if name == "self" else name for name in names]


def effect_of(said: Schemas | None, name: str, names: list[str], receiver: str) -> Entry:
    """What is read and written. Schemas call the receiver ``self`` (``A`` in linalg), signatures differ."""
    found: Entry = {}
    writes = ["out"] * ("out" in names)
    in_place = name.endswith("_") and not name.endswith("__")
    if said is None:
        if in_place:
            writes.insert(0, receiver)
    else:
        writes = renamed(said.writes, names, receiver) + writes
        found["draws"] = said.draws
        if said.view and not said.reads:
            found["effect"] = "view"
            found["sources"] = " ".join(renamed(said.sources, names, receiver))
        elif not in_place:
            found["keeps_order"] = said.pointwise
    if in_place:
        found["result"] = "self"
    found["writes"] = " ".join(writes)
    return found


def renamed(schema_names: set[str], names: list[str], receiver: str) -> list[str]:
    return sorted({part if part in names else receiver for part in schema_names})


def trimmed(full: Entry) -> Entry:
    return {key: value for key, value in sorted(full.items()) if value != USUAL.get(key, "")}


# The namespaces.


def public_callables(namespace: str) -> Iterator[tuple[str, Any]]:
    place = find(namespace)
    for name in sorted(dir(place)):
        value = getattr(place, name, None)
        hidden = name in NOT_OPERATIONS or (name.startswith("_") and namespace != "torch.Tensor")
        if callable(value) and not hidden and not isinstance(value, type) and is_torchs(value):
            yield name, value


def is_torchs(value: Any) -> bool:
    """Not a typing helper that some module of torch imports."""
    origin = getattr(value, "__module__", None) or "torch"
    return origin.split(".")[0] in ("torch", "builtins")


def find(namespace: str) -> Any:
    place: Any = torch
    for part in namespace.split(".")[1:]:
        place = getattr(place, part)
    return place


def functions(namespace: str) -> dict[str, Entry]:
    return {name: trimmed(entry(namespace, name, value)) for name, value in public_callables(namespace)}


def attributes() -> dict[str, Entry]:
    """Properties of tensors: views by their schema, else metadata."""
    found = {}
    for name in sorted(dir(torch.Tensor)):
        if name == "__weakref__" or not inspect.isdatadescriptor(getattr(torch.Tensor, name, None)):
            continue
        said = summary({"T": "numpy_T", "H": "matrix_H"}.get(name, name))
        view = said is not None and said.view
        found[name] = trimmed(
            {"effect": "view", "sources": "self"} if view else {"effect": "metadata", "result": "value"}
        )
    return found


def modules() -> dict[str, Entry]:
    """Classes of torch.nn, containers left out."""
    found = {}
    for name in sorted(dir(torch.nn)):
        cls = getattr(torch.nn, name)
        if isinstance(cls, type) and issubclass(cls, torch.nn.Module) and name not in CONTAINERS:
            found[name] = trimmed(module_entry(cls))
    return found


def module_entry(cls: Any) -> Entry:
    forward = from_python(cls.forward)
    constructor = from_python(cls.__init__)
    taken = constructor.names if constructor and not constructor.variadic else ()
    kind = kind_of_annotation(forward.returns) if forward else None
    full = {
        "parameters": " ".join(forward.names if forward else ()),
        "constructor": " ".join(taken),
        "result": kind or "unknown",
    }
    return {**full, "indirect_inplace": "inplace"} if "inplace" in taken else full


def other_operators(known: set[str]) -> dict[str, Entry]:
    """Operators that no function or method is named after, unless they only read."""
    found = {}
    for name in sorted(operators()):
        said = summary(name)
        if said is None or name in known or name.startswith("__"):
            continue
        names = [*said.names, *["out"] * said.outs]
        full = effect_of(said, name, names, "self")
        full["result"] = full.get("result") or (said.returns.pop() if len(said.returns) == 1 else "unknown")
        kept = trimmed({**full, "parameters": " ".join(names)})
        if kept.keys() & {"effect", "draws", "writes"} - (
            {"writes"} if kept.get("writes") == "out" else set()
        ):
            found[name] = kept
    return found


def generate() -> dict[str, Any]:
    """The whole table, as it is written."""
    operations = {namespace: functions(namespace) for namespace in NAMESPACES}
    operations["torch.Tensor attributes"] = attributes()
    operations["torch.nn"] = modules()
    known = set(operations["torch"]) | set(operations["torch.Tensor"])
    operations["torch.ops.aten"] = other_operators(known)
    return {"torch": torch.__version__.split("+")[0], "operations": operations}


def rendered(table: dict[str, Any]) -> str:
    """JSON with one operation a line, so that a change of torch reads as a diff."""
    spaces = []
    for namespace, entries in sorted(table["operations"].items()):
        lines = (
            f"  {json.dumps(name)}: {json.dumps(one, sort_keys=True)}"
            for name, one in sorted(entries.items())
        )
        spaces.append(f" {json.dumps(namespace)}: {{\n" + ",\n".join(lines) + "\n }")
    return f'{{"torch": {json.dumps(table["torch"])}, "operations": {{\n' + ",\n".join(spaces) + "\n}}\n"


def differences(old: dict[str, Any], new: dict[str, Any]) -> list[str]:
    """What of the table on disk the installed torch contradicts.

    The same torch must give the same table. Another one has other names and signatures: there, what
    both know must agree in what is read, shared, written and drawn.
    """
    if old["torch"] == new["torch"]:
        return [] if rendered(old) == rendered(new) else ["the table is not what this torch gives"]
    found = []
    for namespace, entries in old["operations"].items():
        for name in sorted(entries.keys() & new["operations"][namespace].keys()):
            for told in ("effect", "sources", "writes", "draws"):
                was, now = entries[name].get(told), new["operations"][namespace][name].get(told)
                if was != now:
                    found.append(f"{namespace}.{name}: {told} is {was!r}, {now!r} in torch {new['torch']}")
    return found


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--check", action="store_true", help="compare with the table on disk, write nothing")
    arguments = parser.parse_args()
    table = generate()
    if not arguments.check:
        TABLE.write_text(rendered(table), encoding="utf-8")
        return 0
    found = differences(json.loads(TABLE.read_text(encoding="utf-8")), table)
    print("\n".join(found) or f"{TABLE.name} agrees with torch {torch.__version__}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
