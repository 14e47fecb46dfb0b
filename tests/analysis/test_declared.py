"""What is listed of a class where the analysis cannot see everything.

That the names are those of a run is proved in tests/end_to_end.
"""

from __future__ import annotations

import pytest

from remat_lint.analysis.declared import declaring_classes
from remat_lint.analysis.facts import DeclaringClass
from remat_lint.project import Project
from remat_lint.source import SourceFile

HEADER = """
import torch
import torch_remat as remat
from torch import nn

def save(function, name):
    return remat.region(function, name, recompute=False)

class Part(nn.Module):
    prefix = ""
    def __init__(self):
        super().__init__()
        self.lin = nn.Linear(4, 4)
    def name(self, local):
        return f"{self.prefix}.{local}"
    def forward(self, x):
        return save(self.lin, self.name("lin"))(x)
"""


def listed(body: str) -> dict[str, DeclaringClass]:
    """The declaring classes of a program by name, without the part that every program has."""
    source = SourceFile("model.py", (HEADER + body).encode())
    found = {one.name: one for one in declaring_classes(source, Project())}
    assert [region.name for region in found.pop("Part").regions] == [".lin"]
    return found


def model(*lines: str, init: str = "pass") -> DeclaringClass:
    """A model with a part, whose forward has the given lines."""
    body = "\n        ".join(lines)
    found = listed(f"""
class Model(nn.Module):
    def __init__(self, config):
        super().__init__()
        self.part = Part()
        {init}
    def forward(self, x):
        {body}
""")
    return found["Model"]


@pytest.mark.parametrize(
    ("lines", "init", "complete"),
    [
        (["return self.part(x)"], "pass", True),
        (["x = self.part(x)", "return torch.relu(x).unknown_method()"], "pass", True),
        (["return self.other(self.part(x))"], "self.other = config.other", False),
        (["x = self.part(x)", "return somewhere.run(self.part, x)"], "pass", False),
        (["x = self.part(x)", "return elsewhere(lambda t: t, x)"], "pass", False),
    ],
    ids=[
        "all in view",
        "a method of a tensor",
        "an unknown part",
        "a part handed over",
        "a function handed over",
    ],
)
def test_a_class_is_complete_where_everything_called_is_in_view(
    lines: list[str], init: str, complete: bool
) -> None:
    found = model(*lines, init=init)
    assert found.complete is complete
    assert "part.lin" in [region.name for region in found.regions]


def test_what_is_compiled_is_nothing_to_torch_remat() -> None:
    found = model("return self.fast(self.part(x))", init="self.fast = torch.compile(Part())")
    assert [region.name for region in found.regions] == ["part.lin"]


def test_a_handle_of_a_class_that_is_not_in_view_names_its_region() -> None:
    found = listed("""
from framework import Module

class Scores(Module):
    score_region = Module.register_remat_region("score")
    def forward(self, x):
        name = self.remat_region_name(self.score_region)
        again = self.remat_should_recompute(self.score_region)
        return remat.region(torch.sin, name, recompute=again)(x)

class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.scores = Scores()
    def forward(self, x):
        return self.scores(x)
""")
    names = {name: [region.name for region in one.regions] for name, one in found.items()}
    assert names == {"Scores": ["score"], "Model": ["scores.score"]}


def test_nested_classes_are_named_in_full() -> None:
    found = listed("""
class Outer:
    class Inner(nn.Module):
        def forward(self, x):
            return save(torch.sin, "sin")(x)
class Plain(nn.Module):
    def forward(self, x):
        return x
""")
    assert list(found) == ["Outer.Inner"]


def fan(levels: int) -> str:
    """Classes of which each holds two of the one before."""
    return "class L0(Part): pass\n" + "".join(
        f"class L{level}(nn.Module):\n"
        f"    def __init__(self):\n"
        f"        super().__init__()\n"
        f"        self.a, self.b = L{level - 1}(), L{level - 1}()\n"
        f"    def forward(self, x):\n"
        f"        return self.b(self.a(x))\n"
        for level in range(1, levels + 1)
    )


def test_a_class_that_needs_too_many_steps_is_not_complete_and_the_next_is(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("remat_lint.analysis.declared.MAX_CLASS_STEPS", 200)
    found = listed(fan(6) + "class Last(Part): pass\n")
    assert [len(found[f"L{level}"].regions) for level in range(4)] == [1, 2, 4, 8]
    assert found["L6"].regions
    assert not found["L6"].complete
    assert all(region.conditional for region in found["L6"].regions)
    assert found["Last"].complete


def test_parts_that_are_too_many_to_tell_apart_have_no_path(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remat_lint.analysis.naming.MAX_PARTS", 6)
    regions = listed(fan(3))["L3"].regions
    assert "a.a.a.lin" in [region.name for region in regions]
    assert [region.static for region in regions if region.name.startswith("*")] == [False]
