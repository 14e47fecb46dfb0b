"""What is said of markers, program by program: the line of a marker ends in what is wrong with it."""

from __future__ import annotations

import re
import textwrap

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import Fate, Marker
from remat_lint.project import Project
from remat_lint.source import SourceFile

PRELUDE = """
import torch
import torch.nn.functional as F
import torch_remat as remat
from torch import nn

def double(t):
    return t * 2

def halves(t):
    return t * 2, t * 3

save = lambda t, name="s": remat.region(double, name, recompute=False)(t)
"""

PROGRAMS = {
    # --- unneeded
    "only_views_and_a_region": """
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)  # unneeded
            return remat.region(F.silu, "act", recompute=True)(y.view(-1))
    """,
    "one_of_two_arguments": """
        def body(x):
            y, z = save(x), save(x, "z")
            remat.recompute_needs_tensor(y, z)  # unneeded
            return remat.region(F.silu, "act", recompute=True)(y) + z
    """,
    "a_view_of_it_is_read": """
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)
            return y.view(-1).sin()
    """,
    "one_of_many_is_enough": """
        def body(x):
            outs = remat.region(halves, "halves", recompute=False)(x)
            remat.recompute_needs_tensor(*outs)
            return outs[0].sin()
    """,
    "none_of_many": """
        def body(x):
            outs = remat.region(halves, "halves", recompute=False)(x)
            remat.recompute_needs_tensor(*outs)  # unneeded
            return remat.region(torch.add, "add", recompute=True)(*outs)
    """,
    "returned_in_a_record": """
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)
            return {"y": y}
    """,
    "kept_in_self": """
        class Block(nn.Module):
            def forward(self, x):
                y = save(x)
                remat.recompute_needs_tensor(y)
                self.last = y
                return x.sin()
    """,
    "appended_to_an_outer_list": """
        SEEN = []
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)
            SEEN.append(y)
            return x.sin()
    """,
    "handed_to_unknown_code": """
        def body(x, log):
            y = save(x)
            remat.recompute_needs_tensor(y)
            log(y)
            return x.sin()
    """,
    "seen_by_a_function_that_is_handed_on": """
        def body(x, later):
            y = save(x)
            remat.recompute_needs_tensor(y)
            later(lambda: y.sum())
            return x.sin()
    """,
    "read_in_a_helper": """
        def helper(t):
            return t.sin()
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)
            return helper(y)
    """,
    "read_by_the_caller": """
        class Part(nn.Module):
            def forward(self, x):
                y = save(x)
                remat.recompute_needs_tensor(y)
                return y
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.part = Part()
            def forward(self, x):
                return remat.region(F.silu, "act", recompute=True)(self.part(x))
    """,
    "marked_in_a_helper": """
        def mark(t):
            remat.recompute_needs_tensor(t)
        def body(x):
            y = save(x)
            mark(y)
            return remat.region(F.silu, "act", recompute=True)(y)
    """,
    "a_parameter_may_be_anything": """
        def body(x):
            remat.recompute_needs_tensor(x)
            return x.sin()
    """,
    "a_view_of_a_parameter_may_be_anything": """
        def body(x):
            remat.recompute_needs_tensor(x.view(-1))
            return x.sin()
    """,
    "computed_in_the_body": """
        def body(x):
            y = x.view(-1) * 2
            remat.recompute_needs_tensor(y)  # unneeded
            return y.sin()
    """,
    "an_optional_norm_in_between": """
        def body(x, norm=None):
            q = save(x)
            if norm is not None:
                remat.recompute_needs_tensor(q)
                q = norm(q)
            remat.recompute_needs_tensor(q)
            return q.sin()
    """,
    "an_output_on_one_path": """
        def body(x, flag=True):
            y = save(x) if flag else x.sin()
            remat.recompute_needs_tensor(y)
            return y.cos()
    """,
    "read_under_the_guard_only": """
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)  # unneeded
            if not remat.is_recomputing():
                print(y)
            return remat.region(F.silu, "act", recompute=True)(y)
    """,
    "hidden_from_a_replayed_region": """
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)
            return remat.region(lambda t: t * y, "mul", recompute=True)(x)
    """,
    "hidden_from_a_saved_region": """
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)  # unneeded
            return remat.region(lambda t: t * y, "mul", recompute=False)(x)
    """,
    "inside_a_region_that_is_replayed": """
        def body(x):
            def inner(t):
                y = save(t)
                remat.recompute_needs_tensor(y)
                return y.sin()
            return remat.region(inner, "outer", recompute=True)(x)
    """,
    "before_a_region_hands_on_its_storage": """
        def body(x):
            z = x.sin()
            remat.recompute_needs_tensor(z)  # unneeded
            return remat.region(lambda t: t.view(-1), "flat", recompute=False)(z).cos()
    """,
    "after_a_region_handed_on_its_storage": """
        def body(x):
            z = x.sin()
            h = remat.region(lambda t: t.view(-1), "flat", recompute=False)(z)
            remat.recompute_needs_tensor(z)
            return h.cos()
    """,
    "in_eval_dropout_hands_it_on": """
        def body(x):
            y = F.dropout(save(x), 0.5, training=x.requires_grad)
            remat.recompute_needs_tensor(y)
            return y.sin()
    """,
    "a_subclass_may_return_an_output": """
        class Block(nn.Module):
            def act(self, t):
                return t.sin()
            def forward(self, x):
                y = self.act(x)
                remat.recompute_needs_tensor(y)
                return y.cos()
    """,
    "a_subclass_may_read_it": """
        class Block(nn.Module):
            def consume(self, t):
                return t.view(-1)
            def forward(self, x):
                y = save(x)
                remat.recompute_needs_tensor(y)
                return remat.region(F.silu, "act", recompute=True)(self.consume(y))
    """,
    "a_part_that_was_made_here_is_known": """
        class Part(nn.Module):
            def forward(self, t):
                return t.sin()
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.part = Part()
            def forward(self, x):
                y = self.part(x)
                remat.recompute_needs_tensor(y)  # unneeded
                return y.cos()
    """,
    "a_part_of_a_declared_class_may_be_another": """
        class Part(nn.Module):
            def forward(self, t):
                return t.sin()
        class Block(nn.Module):
            part: Part
            def forward(self, x):
                y = self.part(x)
                remat.recompute_needs_tensor(y)
                return y.cos()
    """,
    "contiguous_may_copy": """
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)
            return remat.region(F.silu, "act", recompute=True)(y.contiguous())
    """,
    # --- after the consumer
    "after_the_consumer": """
        def body(x):
            y = save(x)
            z = y.sin()
            remat.recompute_needs_tensor(y)  # late
            return z
    """,
    "between_two_consumers": """
        def body(x):
            y = save(x)
            z = y.sin()
            remat.recompute_needs_tensor(y)  # late
            return z * y
    """,
    "in_a_finally": """
        def body(x):
            y = save(x)
            try:
                z = y.sin()
            finally:
                remat.recompute_needs_tensor(y)  # late
            return z
    """,
    "after_something_that_may_read": """
        def body(x, log):
            y = save(x)
            log(y)
            remat.recompute_needs_tensor(y)
            return y.sin()
    """,
    "at_the_end_of_a_loop": """
        def body(x):
            y = save(x)
            out = x
            for _ in range(2):
                out = out + y
                remat.recompute_needs_tensor(y)  # late
            return out
    """,
    "late_for_one_branch_only": """
        def body(x, flag=True):
            y = save(x)
            if flag:
                x = x + y
            remat.recompute_needs_tensor(y)
            return y.sin() * x
    """,
    # --- outside the branch
    "outside_the_branch": """
        def body(x, flag=True):
            y = save(x)
            remat.recompute_needs_tensor(y)  # outside
            if flag:
                return y.sin()
            return x.sin()
    """,
    "outside_a_branch_that_goes_on": """
        def body(x, flag=True):
            y = save(x)
            remat.recompute_needs_tensor(y)  # outside
            out = x.sin()
            if flag:
                z = out * 2
                out = z + y
            return out.cos()
    """,
    "outside_a_case": """
        def body(x, mode="a"):
            y = save(x)
            remat.recompute_needs_tensor(y)  # outside
            match mode:
                case "a":
                    return y.sin()
                case _:
                    return x.sin()
    """,
    "in_both_arms": """
        def body(x, flag=True):
            y = save(x)
            remat.recompute_needs_tensor(y)
            if flag:
                return y.sin()
            return y.cos()
    """,
    "in_two_of_three_arms": """
        def body(x, flag=True, other=True):
            y = save(x)
            remat.recompute_needs_tensor(y)
            if flag:
                return y.sin()
            elif other:
                return y.cos()
            return x.sin()
    """,
    "in_a_loop_that_may_not_run": """
        def body(x, n):
            y = save(x)
            remat.recompute_needs_tensor(y)
            out = x
            for _ in range(n):
                out = out + y
            return out
    """,
    "in_a_conditional_expression": """
        def body(x, flag=True):
            y = save(x)
            remat.recompute_needs_tensor(y)
            return y.sin() if flag else x.sin()
    """,
    "before_a_way_out": """
        def body(x, stop=False):
            y = save(x)
            remat.recompute_needs_tensor(y)  # outside
            if stop:
                return x.sin()
            return y.cos()
    """,
    "before_a_way_out_that_hands_it_on": """
        def body(x, stop=False):
            y = save(x)
            remat.recompute_needs_tensor(y)
            if stop:
                return y
            return y.cos()
    """,
    "before_an_error": """
        def body(x, wrong=False):
            y = save(x)
            remat.recompute_needs_tensor(y)
            if wrong:
                raise ValueError("no")
            return y.cos()
    """,
    "read_in_the_condition": """
        def body(x):
            y = save(x)
            remat.recompute_needs_tensor(y)
            if y.sum() > 0:
                return x.sin()
            return x.cos()
    """,
    "read_by_a_helper_in_the_branch": """
        def helper(t):
            return t.sin()
        def body(x, flag=True):
            y = save(x)
            remat.recompute_needs_tensor(y)  # outside
            if flag:
                x = helper(y)
            return x.cos()
    """,
    # --- without effect
    "on_a_clone": """
        def body(x):
            y = save(x)
            z = y.clone()
            remat.recompute_needs_tensor(z)  # ineffective
            return z.sin()
    """,
    "on_a_contiguous_copy": """
        def body(x):
            y = save(x).t().contiguous()
            remat.recompute_needs_tensor(y)  # ineffective
            return y.sin()
    """,
    "on_contiguous_that_copies_nothing": """
        def body(x):
            y = save(x).contiguous()
            remat.recompute_needs_tensor(y)
            return y.sin()
    """,
    "on_a_cast_that_may_copy_nothing": """
        def body(x):
            y = save(x).float()
            remat.recompute_needs_tensor(y)
            return y.sin()
    """,
    "on_replay_only": """
        def body(x):
            y = save(x)
            if remat.is_recomputing():
                remat.recompute_needs_tensor(y)  # ineffective
            return y.sin()
    """,
    "in_the_forward_only": """
        def body(x):
            y = save(x)
            if not remat.is_recomputing():
                remat.recompute_needs_tensor(y)
            return y.sin()
    """,
    "in_a_compiled_function": """
        @torch.compile
        def act(t):
            remat.recompute_needs_tensor(t)  # ineffective
            return t.sin()
    """,
    "in_a_function_compiled_with_options": """
        @torch.compile(fullgraph=True)
        def act(t):
            y = remat.region(double, "d", recompute=False)(t)
            remat.recompute_needs_tensor(y)  # ineffective
            return y.sin()
    """,
    "in_a_helper_that_others_call_too": """
        def mark(t):
            remat.recompute_needs_tensor(t)
        @torch.compile
        def act(t):
            mark(t)
            return t.sin()
        def body(x):
            y = save(x)
            mark(y)
            return y.sin()
    """,
    # --- several calls for one consumer
    "two_calls_for_one_statement": """
        def body(x):
            a, b = save(x, "a"), save(x, "b")
            remat.recompute_needs_tensor(a)
            remat.recompute_needs_tensor(b)  # ungrouped
            return a * b
    """,
    "each_before_its_own": """
        def body(x):
            a, b = save(x, "a"), save(x, "b")
            remat.recompute_needs_tensor(a)
            a = a.sin()
            remat.recompute_needs_tensor(b)
            return a * b
    """,
    "in_different_suites": """
        def body(x, flag=True):
            a, b = save(x, "a"), save(x, "b")
            remat.recompute_needs_tensor(a)
            if flag:
                remat.recompute_needs_tensor(b)
                return a * b
            return a.sin()
    """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    code = PRELUDE + textwrap.dedent(PROGRAMS[name])
    source = SourceFile("model.py", code.encode())
    found = {(source.span(fact.place.node).line, fact.fate) for fact in analyse(source, Project()).of(Marker)}
    comments = "|".join(fate.value for fate in Fate)
    expected = {
        (number, Fate(match[1]))
        for number, line in enumerate(code.splitlines(), start=1)
        if (match := re.search(rf"# ({comments})$", line))
    }
    assert found == expected
