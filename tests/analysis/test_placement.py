"""What a marker would be given, and why sometimes none can be written."""

from __future__ import annotations

import textwrap

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import BareRead
from remat_lint.project import Project
from remat_lint.source import SourceFile

PRELUDE = "import torch\nimport torch.nn.functional as F\nimport torch_remat as remat\n"

TARGETS = {
    "a_name": ("y = remat.region(f, 's', recompute=False)(x)\nreturn y + 1", ["y"]),
    "the_base_of_a_view": ("y = remat.region(f, 's', recompute=False)(x)\nreturn y.t() * 2", ["y"]),
    "a_slice_of_a_name": ("y = remat.region(f, 's', recompute=False)(x)\nreturn y[:, 0] * 2", ["y"]),
    "views_in_the_order_of_their_reads": (
        "a, b = remat.region(f, 's', recompute=False)(x).chunk(2)\nreturn b * F.silu(a)",
        ["a", "b"],
    ),
    "an_item": ("p = remat.region(f, 's', recompute=False)(x)\nreturn p[0] + 1", ["p[0]"]),
    "an_attribute": ("p = remat.region(f, 's', recompute=False)(x)\nreturn p.rows + 1", ["p.rows"]),
    "a_list_of_views": (
        "y = remat.region(f, 's', recompute=False)(x)\nparts = list(y.unbind(0))\nreturn torch.stack(parts)",
        ["*parts"],
    ),
    "an_alias": ("y = remat.region(f, 's', recompute=False)(x)\nz = y\nreturn z + 1", ["z"]),
    "a_region_call_is_named_after_the_region": (
        "return F.silu(remat.region(f, 'ffn.w13', recompute=False)(x))",
        ["w13_out"],
    ),
    "a_method_call_is_named_after_the_method": (
        "def project(t):\n    return remat.region(f, 's', recompute=False)(t)\nreturn x + project(x)",
        ["project_out"],
    ),
    "a_name_that_every_path_has": (
        "p = remat.region(f, 's', recompute=False)(x)\nif flag:\n    a = p[0]\nb = p[0]\n"
        "def reads():\n    return b.sin()\nreturn reads()",
        ["b"],
    ),
    "a_name_read_in_a_comprehension": (
        "y = remat.region(f, 's', recompute=False)(x)\nreturn sum([part.sin() for part in y.chunk(2)])",
        ["y"],
    ),
    "never_what_was_moved_to_another_device": (
        "p = remat.region(lambda t: t.chunk(2), 's', recompute=False)(x)\na = p[1].to(device='cpu')\n"
        "return sum(part.sum() for part in p)",
        ["*p"],
    ),
    "two_calls_in_one_expression": (
        "return remat.region(f, 'a', recompute=False)(x) + remat.region(f, 'b', recompute=False)(x)",
        ["a_out", "b_out"],
    ),
    "a_call_inside_the_arguments_of_another": (
        "return x + remat.region(f, 'a', recompute=False)(x + remat.region(f, 'b', recompute=False)(x))",
        ["b_out", "a_out"],
    ),
    "the_iterable_of_a_comprehension": (
        "return [row.sin() for row in remat.region(lambda t: t @ t, 's', recompute=False)(x)]",
        ["s_out"],
    ),
    "several_outputs_of_one_call": (
        "return torch.add(*remat.region(lambda t: (t * 2, t * 3), 'p', recompute=False)(x))",
        ["*p_out"],
    ),
    "values_of_a_dict": (
        "d = {'a': remat.region(f, 'a', recompute=False)(x)}\nreturn sum(d.values())",
        ["*d.values()"],
    ),
    "a_pure_operation_in_front": (
        "return x.sin() + remat.region(f, 'a', recompute=False)(x)",
        ["a_out"],
    ),
}

OBSTACLES = {
    "an_output_of_which_only_detached_views_are_left": (
        "y = remat.region(f, 's', recompute=False)(x).detach()\nreturn x + y.chunk(2)[0]",
        "no name or expression",
    ),
    "a_lambda": ("return lambda t: F.silu(remat.region(f, 's', recompute=False)(t))", "lambda"),
    "the_condition_of_a_loop": (
        "while remat.region(f, 's', recompute=False)(x).any():\n    x = x + 1\nreturn x",
        "condition of a loop",
    ),
    "the_condition_of_an_elif": (
        "if n:\n    return x\nelif remat.region(f, 's', recompute=False)(x).any():\n    return x.sin()\nreturn x",
        "elif",
    ),
    "an_arm_of_a_conditional_expression": (
        "return n + (F.silu(remat.region(f, 's', recompute=False)(x)) if n else x)",
        "only under a condition",
    ),
    "the_right_side_of_an_and": (
        "return n and remat.region(f, 's', recompute=False)(x).any()",
        "only under a condition",
    ),
    "an_element_of_a_comprehension": (
        "return [remat.region(f, f's{i}', recompute=False)(x).sin() for i in range(2)]",
        "only under a condition",
    ),
    "a_detached_alias_whose_output_is_gone": (
        "y = remat.region(f, 's', recompute=False)(x)\nv = y.detach()\ndel y\nreturn x * v",
        "no name",
    ),
    "detached_aliases_in_a_list": (
        "y = remat.region(f, 's', recompute=False)(x).detach()\npair = [y, y]\nreturn x * pair[1]",
        "no name",
    ),
    "an_awaited_call": (
        "async def h(t):\n    return remat.region(f, 's', recompute=False)(t)\nreturn F.gelu(await h(x))",
        "awaited",
    ),
    "an_unknown_call_in_front": (
        "return g(x) + remat.region(f, 's', recompute=False)(x)",
        "may have an effect",
    ),
    "a_write_in_front": (
        "return x.add_(1) + remat.region(f, 's', recompute=False)(x)",
        "may have an effect",
    ),
    "a_name_bound_in_the_same_statement": (
        "if (y := remat.region(f, 's', recompute=False)(x)).any():\n    return y\nreturn x",
        "bound inside the statement",
    ),
}


def read_in(body: str) -> BareRead:
    code = PRELUDE + "def body(x, f, g, n):\n" + textwrap.indent(body, "    ") + "\n"
    (read,) = analyse(SourceFile("model.py", code.encode()), Project()).of(BareRead)
    return read


@pytest.mark.parametrize("name", TARGETS)
def test_a_marker_is_given(name: str) -> None:
    body, expected = TARGETS[name]
    read = read_in(body)
    assert read.obstacle is None
    assert read.insertion is not None
    assert [target.expression for target in read.insertion.targets] == expected


@pytest.mark.parametrize("name", OBSTACLES)
def test_no_marker_is_written_into(name: str) -> None:
    body, reason = OBSTACLES[name]
    read = read_in(body)
    assert read.insertion is None
    assert read.obstacle is not None
    assert reason in read.obstacle
