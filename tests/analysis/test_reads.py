"""Which reads are found, as a table of small programs.

A line that ends in ``# read`` is the consumer of a finding, no other line is. ``S`` declares a SAVE
region, ``R`` a RECOMPUTE region, ``P`` one that a policy decides, ``M`` is the marker.
"""

from __future__ import annotations

import re
import textwrap

import pytest

from remat_lint.analysis import analyse
from remat_lint.analysis.facts import BareRead, HiddenDependency
from remat_lint.project import Project
from remat_lint.source import SourceFile

PRELUDE = """\
import collections, contextlib, copy, dataclasses, functools, typing
import torch
import torch.nn.functional as F
import torch_remat as remat
from torch import nn
from torch_remat import recompute_needs_tensor as M
def S(f, name="s"): return remat.region(f, name, recompute=False)
def R(f, name="r"): return remat.region(f, name, recompute=True)
def P(f, name="p"): return remat.region(f, name, recompute=POLICY(name))
"""

PROGRAMS = {
    "a_list_of_zip_ends_with_its_shortest_argument": """
        def body(x):
            outs = S(lambda t: (t * 2, t * 3, t * 4))(x)
            parts = (lambda t: (t * 2).split(3))(outs[2])  # read
            for _, (_, out) in enumerate(list(zip(parts, outs))):
                M(out)
            return x.sin()
    """,
    "a_marker_on_what_is_another_value_on_the_path_that_reads": """
        def helper(t, flag):
            if flag:
                return t * 2
            return t
        def body(x, f, flag):
            h = S(f)(x)
            out = helper(h, flag)  # read
            M(out)
            return out.shape
    """,
    "a_marker_on_what_is_read_by_the_path_that_has_it": """
        def body(x, f, flag):
            h = S(f)(x) if flag else x
            y = h * 2
            M(h)
            return y
    """,
    "zip_ends_with_its_shortest_argument": """
        def body(x):
            outs = S(lambda t: (t * 2, t * 3, t * 4))(x)
            parts = (lambda t: (t * 2).split(3))(outs[2])  # read
            for _, out in zip(parts, outs):
                M(out)
            return x.sin()
    """,
    "detached_alias_of_what_is_gone_in_a_replayed_region": """
        def body(x):
            h = S(lambda t: t * 2)(x).detach()
            R(lambda t: t * 2)(h)  # read
            return x.sin()
    """,
    "detached_alias_of_what_is_there_in_a_replayed_region": """
        def body(x):
            y = S(lambda t: t * 2)(x)
            h = y.detach()
            R(lambda t: t * 2)(h)
            return x.sin() * y.shape[0]
    """,
    "copied_into_a_fresh_buffer": """
        def body(x):
            y = S(torch.neg)(x)
            out = torch.empty(4, 8)
            out.copy_(y)  # read
            return out
    """,
    "assigned_to_a_part_of_a_fresh_buffer": """
        def body(x):
            y = S(torch.neg)(x)
            out = torch.zeros_like(x)
            out[:, :2] = y[:, :2]  # read
            return out
    """,
    "yielded_by_a_context_manager": """
        @contextlib.contextmanager
        def hold(t):
            y = S(torch.neg)(t)
            yield y
        def body(x):
            with hold(x) as y:
                return y * 2  # read
    """,
    "guard_held_in_a_name_and_used_in_an_expression": """
        def body(x):
            y = S(torch.neg)(x)
            replay = remat.is_recomputing()
            (not replay) and y.sum().item()
            return x.sin()
    """,
    "mixin_before_a_class_that_declares": """
        class Residual:
            def forward(self, x):
                return x + super().forward(x)  # read
        class Core(nn.Module):
            def forward(self, x):
                return S(torch.neg)(x)
        class Block(Residual, Core):
            pass
        def body(x):
            return Block()(x)
    """,
    "built_from_the_nested_config_of_its_class": """
        class Part(nn.Module):
            class Config:
                def build(self):
                    return Part()
            def forward(self, x):
                return S(torch.neg)(x)
        class Whole(nn.Module):
            @dataclasses.dataclass
            class Config:
                part: Part.Config = dataclasses.field(default_factory=Part.Config)
            def __init__(self, config):
                super().__init__()
                self.part = config.part.build()
            def forward(self, x):
                return self.part(x) * 2  # read
        def body(x):
            return Whole(Whole.Config())(x)
    """,
    "to_nothing_in_particular": """
        def body(x):
            y = S(lambda t: t * 2)(x)
            y.to()
            return x.sin()
    """,
    "read_in_one_branch_of_a_helper_then_by_the_caller": """
        def helper(t, flag):
            return t.sin() if flag else t
        def body(x, flag=True):
            y = remat.region(lambda t: t * 2, "a", recompute=False)(x)
            z = helper(y, flag)  # read
            return z * y  # read
    """,
    "method_left_to_subclasses_may_read": """
        class Rotation(nn.Module):
            def rotate(self, q, k):
                \"\"\"Each kind rotates in its own way.\"\"\"
                raise NotImplementedError(f"{type(self)} does not rotate")
            def forward(self, q, k):
                return self.rotate(q, k)
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.rotation = Rotation()
            def forward(self, x, f):
                y = S(f)(x)
                q, k = self.rotation(x, y)  # read
                z = S(f)(q)
                return z + k  # read
        """,
    "stub_of_a_protocol_may_read": """
        class Step(typing.Protocol):
            def run(self, y): ...
        def body(x, f, step: Step):
            y = S(f)(x)
            z = step.run(y)  # read
            return z
        """,
    "types_of_distributed_tensors_are_no_data": """
        import spmd_types as spmd
        def body(x, f, group):
            y = S(f)(x)
            with spmd.local():
                if spmd.is_type_checking():
                    spmd.assert_type(y, {"dp": spmd.S(0)})
                    spmd.assert_local_type_like(y, x, {group: spmd.P})
                    spec = spmd.get_partition_spec(y)
                y = spmd.assert_type(y.view(3, -1), spmd.R)
            return spmd.redistribute(y, group, src=spmd.P, dst=spmd.R)  # read
        """,
    "marker_after_the_read_serves_it": """
        def body(x, f):
            y = S(f)(x)
            z = y + 1
            M(y)
            return z
        """,
    "marker_in_finally_serves_the_return": """
        def body(x, f):
            y = S(f)(x)
            try:
                return y + 1
            finally:
                M(y)
        """,
    "marker_under_the_condition_of_the_read": """
        def body(x, f, flag):
            y = S(f)(x)
            if flag:
                M(y)
            x = x.sin()
            if flag:
                x = x + y
            return x
        """,
    "marker_under_the_opposite_condition": """
        def body(x, f, flag):
            y = S(f)(x)
            if flag:
                M(y)
            if not flag:
                x = x + y  # read
            return x
        """,
    "condition_that_was_rebound_says_nothing": """
        def body(x, f, flag):
            y = S(f)(x)
            if flag:
                M(y)
            flag = other(flag)
            if flag:
                x = x + y  # read
            return x
        """,
    "is_none_and_is_not_none_are_opposites": """
        def body(x, f, mask):
            y = S(f)(x)
            if mask is not None:
                M(y)
            if mask is None:
                return x
            return x + y
        """,
    "early_return_of_the_other_path": """
        def body(x, f, flag):
            y = S(f)(x)
            if flag:
                return y
            M(y)
            return y * 2
        """,
    "optional_output_that_was_checked": """
        def body(x, f, flag):
            y = S(f)(x) if flag else None
            if y is not None:
                M(y)
                x = x + y
            return x
        """,
    "guard_makes_a_read_harmless": """
        def body(x, f, log):
            y = S(f)(x)
            if not remat.is_recomputing():
                log.append(y.sum().item())
            return y
        """,
    "guard_held_in_a_name": """
        def body(x, f, log):
            y = S(f)(x)
            first_run = not remat.is_recomputing()
            if first_run:
                log.append(y.sum().item())
            return y
        """,
    "marker_under_the_guard_serves_the_replay": """
        def body(x, f):
            y = S(f)(x)
            if not remat.is_recomputing():
                M(y)
            return y + 1
        """,
    "marker_in_the_replay_does_nothing": """
        def body(x, f):
            y = S(f)(x)
            if remat.is_recomputing():
                M(y)
            return y + 1  # read
        """,
    "early_return_guard": """
        def body(x, f, log):
            y = S(f)(x)
            if remat.is_recomputing():
                return y
            log.append(y.sum().item())
            return y
        """,
    "guard_with_a_second_condition": """
        def body(x, f, log, flag):
            y = S(f)(x)
            if flag and not remat.is_recomputing():
                log.append(y.sum().item())
            return y
        """,
    "marker_under_a_guard_with_a_second_condition": """
        def body(x, f, flag):
            y = S(f)(x)
            if flag and not remat.is_recomputing():
                M(y)
            return y + 1  # read
        """,
    "placeholder_test": """
        def body(x, f):
            y = S(f)(x)
            if not remat.is_placeholder(y):
                x = x + y.mean()
            return x
        """,
    "recompute_region_discharges_before_and_after": """
        def body(x, f, g):
            y = S(f)(x)
            z = y + 1
            return R(g)(y) + z
        """,
    "recompute_region_on_one_path_only": """
        def body(x, f, g, flag):
            y = S(f)(x)
            if flag:
                x = R(g)(y)
            return x + y  # read
        """,
    "saved_region_discharges_nothing": """
        def body(x, f, g):
            y = S(f)(x)
            z = S(g, "g")(y)
            return y + 1  # read
        """,
    "policy_region_discharges_nothing": """
        def body(x, f, g):
            y = S(f)(x)
            z = P(g)(y)
            M(z)
            return z + y  # read
        """,
    "recompute_region_sees_one_hop": """
        def body(x, f):
            y = S(f)(x)
            return R(lambda pair: pair[0] * pair[1])((y, x))
        """,
    "recompute_region_does_not_see_a_dict": """
        def body(x, f):
            y = S(f)(x)
            return R(lambda d: d["y"] * 2)({"y": y})  # read
        """,
    "dict_that_the_region_does_not_read": """
        def body(x, f):
            y = S(f)(x)
            return R(lambda t, d: t * 2)(x, {"y": y})
        """,
    "marker_inside_the_recompute_region": """
        def body(x, f):
            y = S(f)(x)
            def inner(t):
                M(y)
                return t * y
            return R(inner)(x)
        """,
    "saved_region_may_read_a_closure": """
        def body(x, f):
            y = S(f)(x)
            return S(lambda t: t * y, "t")(x)
        """,
    "inner_saved_output_read_in_a_recompute_region": """
        def body(x, f):
            def inner(t):
                y = S(f)(t)
                return y * 2  # read
            return R(inner)(x)
        """,
    "inner_saved_output_read_in_a_saved_region": """
        def body(x, f):
            def inner(t):
                y = S(f)(t)
                return y * 2
            return S(inner, "outer")(x)
        """,
    "recompute_region_that_returns_an_inner_saved_output": """
        def body(x, f):
            y = R(lambda t: S(f)(t))(x)
            return y * 2  # read
        """,
    "marker_on_a_copy": """
        def body(x, f):
            y = S(f)(x)
            M(y.clone())  # read
            return y * 2
        """,
    "marker_on_a_detached_alias_of_a_live_output": """
        def body(x, f):
            y = S(f)(x)
            M(y.detach())
            return y * 2
        """,
    "marker_on_a_detached_alias_of_a_dead_output": """
        def body(x, f):
            y = S(f)(x)
            v = y.detach()
            del y
            M(v)
            return x * v  # read
        """,
    "chunks_of_one_buffer_share_a_marker": """
        def body(x):
            q, k, v = S(lambda t: (t @ t).chunk(3))(x)
            M(q)
            return q + k + v
        """,
    "separate_outputs_do_not_share_a_marker": """
        def body(x, pair):
            a, b = S(pair)(x)
            M(a)
            return a * b  # read
        """,
    "starred_marker": """
        def body(x, many):
            outs = S(many)(x)
            M(*outs)
            first, *rest = outs
            return first + sum(rest)
        """,
    "field_of_a_named_result": """
        def body(x, send):
            sent = S(send)(x)
            M(sent.rows)
            return sent.rows * 2
        """,
    "last_marker_of_a_loop_is_not_enough": """
        def body(x, f):
            hs = []
            for i in range(3):
                hs.append(S(f, f"s{i}")(x))
            M(hs[-1])
            return hs[0] * hs[2]  # read
        """,
    "marker_for_every_element": """
        def body(x, f):
            hs = [S(f, f"s{i}")(x) for i in range(3)]
            for h in hs:
                M(h)
            return hs[0] * hs[2]
        """,
    "output_carried_into_the_next_iteration": """
        def body(x, fs):
            y = x
            for f in fs:
                x = x + y  # read
                y = S(f)(x)
            return x
        """,
    "while_condition": """
        def body(x, f):
            y = S(f)(x)
            while y.sum() > 0:  # read
                y = y - x
            return y
        """,
    "loop_with_break": """
        def body(x, f, items):
            y = S(f)(x)
            for item in items:
                if item:
                    x = x + y  # read
                    break
            return x
        """,
    "augmented_assignment_reads_its_value": """
        def body(x, f):
            y = S(f)(x)
            total = x.sin()
            total += y  # read
            return total
        """,
    "list_concatenation_reads_nothing": """
        def body(x, f):
            y = S(f)(x)
            parts = [x] + [y]
            return parts[1]
        """,
    "formatting_reads": """
        def body(x, f):
            y = S(f)(x)
            print(f"{y}")  # read
            return y
        """,
    "formatting_a_shape_does_not": """
        def body(x, f):
            y = S(f)(x)
            print(f"{y.shape}")
            return y
        """,
    "condition_reads": """
        def body(x, f):
            y = S(f)(x)
            if y.any():  # read
                return x
            return x.sin()
        """,
    "comparison_with_none_does_not": """
        def body(x, f):
            y = S(f)(x)
            if y is None:
                return x
            return y
        """,
    "helper_that_reads_is_the_consumer_at_its_call": """
        def helper(a, b):
            return a * b
        def body(x, f):
            y = S(f)(x)
            return helper(x, y)  # read
        """,
    "helper_that_marks": """
        def helper(a, b):
            M(b)
            return a * b
        def body(x, f):
            y = S(f)(x)
            return helper(x, y)
        """,
    "helper_that_hands_on": """
        def helper(a, b):
            return b.view(-1), a
        def body(x, f):
            v, _ = helper(x, S(f)(x))
            return v
        """,
    "helper_of_a_helper": """
        def inner(t):
            return t.exp()
        def outer(t):
            return inner(t)
        def body(x, f):
            y = S(f)(x)
            return outer(y)  # read
        """,
    "helper_that_returns_an_output": """
        def project(x, f):
            return S(f)(x)
        def body(x, f):
            return project(x, f).tanh()  # read
        """,
    "recursion_ends": """
        def walk(t, n):
            return t if n == 0 else walk(t, n - 1)
        def body(x, f):
            y = S(f)(x)
            return walk(y, 3)
        """,
    "inherited_forward": """
        class Base(nn.Module):
            def __init__(self):
                super().__init__()
                self.lin = nn.Linear(8, 8)
            def forward(self, x):
                return S(self.lin)(x)
        class Child(Base):
            def forward(self, x):
                y = super().forward(x)
                return y * 2  # read
        """,
    "template_method_of_the_subclass": """
        class Base(nn.Module):
            def produce(self, x):
                return x.sin()
            def forward(self, x):
                return self.produce(x) * 2
        class Child(Base):
            def produce(self, x):
                return x.cos()
        """,
    "property_that_returns_a_module": """
        class Block(nn.Module):
            @property
            def branch(self):
                return S(nn.Linear(8, 8))
            def forward(self, x):
                return self.branch(x) + x  # read
        """,
    "checkpoint_result_is_real": """
        def step(x, f):
            def body(t):
                return S(f)(t)
            out = remat.checkpoint(region_name="b")(body)(x)
            return out.sum()
        """,
    "torch_checkpoint_is_a_bare_consumer": """
        from torch.utils.checkpoint import checkpoint
        def body(x, f, g):
            y = S(f)(x)
            return checkpoint(g, y, use_reentrant=False)  # read
        """,
    "compiled_function_reads": """
        @torch.compile
        def squash(a, b):
            return a * b
        def body(x, f):
            y = S(f)(x)
            return squash(x, y)  # read
        """,
    "swallowed_error": """
        def body(x, f):
            y = S(f)(x)
            try:
                z = y * 2
            except RuntimeError:
                z = x
            return z
        """,
    "reraised_error": """
        def body(x, f):
            y = S(f)(x)
            try:
                z = y * 2  # read
            except RuntimeError:
                raise
            return z
        """,
    "deque_is_opaque": """
        def body(x, f):
            y = S(f)(x)
            return R(lambda d: d[0] * 2)(collections.deque([y]))  # read
        """,
    "dataclass_field": """
        @dataclasses.dataclass
        class Pair:
            a: torch.Tensor
            b: torch.Tensor
        def body(x, f):
            pair = Pair(S(f)(x), x)
            return pair.a * 2  # read
        """,
    "named_tuple_field": """
        class Pair(typing.NamedTuple):
            a: torch.Tensor
            b: torch.Tensor
        def body(x, f):
            pair = Pair(a=S(f)(x), b=x)
            return pair.b * 2
        """,
    "sequential_runs_its_parts": """
        class Proj(nn.Module):
            def forward(self, x):
                return S(torch.sin)(x)
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.net = nn.Sequential(Proj(), nn.GELU())
            def forward(self, x):
                return self.net(x)  # read
        """,
    "dropout_in_eval_is_identity": """
        def body(x, f):
            y = S(f)(x)
            return F.dropout(y, 0.1, training=False)
        """,
    "dropout_in_training_reads": """
        def body(x, f):
            y = S(f)(x)
            return F.dropout(y, 0.1)  # read
        """,
    "sigmoid_keeps_its_own_output": """
        def body(x):
            y = S(torch.sigmoid)(x)
            return y * 2
        """,
    "tanh_of_what_a_loop_made_under_no_grad_does_not": """
        def total(x):
            with torch.no_grad():
                n = 0
                while True:
                    n += 1
                    out = x.sum()
                    if n:
                        break
            return out
        def body(x):
            h = S(lambda t: t.tanh())(total(x))
            return x * h  # read
    """,
    "sigmoid_under_no_grad_does_not": """
        def body(x):
            with torch.no_grad():
                y = S(torch.sigmoid)(x)
            return x * y  # read
        """,
    "double_transpose_is_contiguous_again": """
        def body(x, f):
            y = S(f)(x)
            return y.transpose(1, 2).transpose(1, 2).contiguous()
        """,
    "match_statement": """
        def body(x, f, mode):
            y = S(f)(x)
            match mode:
                case "a":
                    M(y)
                    return y * 2
                case other:
                    return y
        """,
    "nonlocal_rebinding": """
        def body(x, f):
            y = x
            def produce():
                nonlocal y
                y = S(f)(x)
            produce()
            return y * 2  # read
        """,
    "generator_expression": """
        def body(x, f):
            y = S(f)(x)
            return sum(part * 2 for part in y.chunk(2))  # read
        """,
    "conditional_expression_keeps_its_paths": """
        def body(x, f, flag):
            y = S(f)(x) if flag else x
            if flag:
                M(y)
            return y * 2
        """,
    "del_and_rebinding": """
        def body(x, f):
            y = S(f)(x)
            del y
            y = x
            return y * 2
        """,
    "fields_of_a_named_result_are_its_items": """
        def body(x):
            r = S(lambda t: torch.topk(t, 2))(x)
            M(r.values, r.indices)
            best, where = r
            return best * x.gather(-1, where)
        """,
    "results_of_one_operation_have_storages_of_their_own": """
        def body(x):
            u, s, v = S(torch.linalg.svd)(x)
            M(u)
            return u * s  # read
        """,
    "sequence_pattern": """
        def body(x):
            match S(lambda t: (t * 2, t * 3))(x):
                case (u, v):
                    M(u, v)
                    return u + v
        """,
    "class_pattern": """
        @dataclasses.dataclass
        class Pair:
            a: torch.Tensor
            b: torch.Tensor
        def body(x, f):
            match Pair(S(f)(x), x):
                case Pair(a=u, b=v):
                    return u + v  # read
        """,
    "positional_class_pattern": """
        @dataclasses.dataclass
        class Pair:
            a: torch.Tensor
            b: torch.Tensor
        def body(x, f):
            match Pair(S(f)(x), x):
                case Pair(u, v):
                    M(u)
                    return u + v
        """,
    "mapping_pattern": """
        def body(x, f):
            match {"y": S(f)(x), "x": x}:
                case {"y": u, **others}:
                    return u + x  # read
        """,
    "autograd_function_that_only_views": """
        class Fn(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                return a.view_as(a)
        def body(x, f):
            return Fn.apply(S(f)(x))
        """,
    "autograd_function_that_saves": """
        class Fn(torch.autograd.Function):
            @staticmethod
            def forward(ctx, a):
                ctx.save_for_backward(a)
                return a.view_as(a)
        def body(x, f):
            return Fn.apply(S(f)(x))  # read
        """,
    "literal_argument_decides_a_branch": """
        def repeat(t, n):
            if n == 1:
                return t
            return t.repeat_interleave(n)
        def body(x, f):
            return repeat(S(f)(x), 1)
        """,
    "attribute_does_not_decide_a_branch": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.twice = False
            def forward(self, x):
                y = S(torch.sin)(x)
                if self.twice:
                    y = y * 2  # read
                return y
        """,
    "decorator_of_the_project": """
        def saved(name):
            def decorate(fn):
                @functools.wraps(fn)
                def wrapper(*args, **kwargs):
                    return remat.region(fn, name, recompute=False)(*args, **kwargs)
                return wrapper
            return decorate
        @saved("foo")
        def foo(x):
            return x * 2
        def body(x):
            return foo(x) + 1  # read
        """,
    "default_argument": """
        def body(x, f):
            h = S(f)(x)
            g = lambda a, b=h: a * b
            return g(x)  # read
        """,
    "strided_slice_breaks_contiguity": """
        def body(x, f):
            h = S(f)(x)
            return h[::2].flatten()  # read
        """,
    "slice_of_outputs": """
        def body(x):
            o = S(lambda t: (t * 2, t * 3))(x)
            M(*o[:1])
            return o[0] + o[1]  # read
        """,
    "marker_in_a_loop_over_the_rows": """
        def body(x):
            h = S(lambda t: t @ t)(x)
            for row in h:
                M(row)
            return x + h
        """,
    "returned_tuples_are_joined_item_by_item": """
        def body(x, f, flag):
            h = S(f)(x)
            def both(t):
                if flag:
                    return x.cos(), t
                return x.sin(), t
            p, g = both(h)
            return x.sin() + p
        """,
    "output_of_a_visible_function_is_one_tensor": """
        def double(t):
            return t * 2
        def body(x):
            h = S(double)(x)
            M(h[0])
            return x + h
        """,
    "detached_alias_of_an_output_that_only_a_dead_list_holds": """
        def body(x):
            h, g = S(lambda a: [a * 2, a.sin()])(x)
            v = g.detach()
            del g
            M(v)
            return x + v  # read
        """,
    "handler_of_a_path_that_raised_before_the_read": """
        def body(x, f):
            y = S(f)(x)
            try:
                total = x * 3
                total = total - y  # read
            except ZeroDivisionError:
                total = x * y  # read
            return total
        """,
    "marker_in_a_loop_over_all_outputs": """
        def body(x, f):
            h, *rest = S(f)(x)
            y = x + rest[2]
            for e in rest:
                M(e)
            return y
        """,
    "helper_that_walks_containers": """
        def mark(obj):
            if isinstance(obj, torch.Tensor):
                M(obj)
            elif isinstance(obj, (tuple, list)):
                for o in obj:
                    mark(o)
            elif isinstance(obj, dict):
                for v in obj.values():
                    mark(v)
        def body(x):
            y = S(lambda t: (t * 2, t * 3))(x)
            mark({"a": y, "b": [y]})
            return y[0] + y[1]
        """,
    "optional_arguments_of_a_marking_helper": """
        def maybe_mark(*ts):
            for t in ts:
                if t is not None:
                    M(t)
        def body(x, f):
            y = S(f)(x)
            maybe_mark(y, None)
            return y * 2
        """,
    "tree_map_of_the_marker": """
        from torch.utils._pytree import tree_map
        def body(x):
            y = S(lambda t: (t * 2, t * 3))(x)
            tree_map(M, y)
            return y[0] + y[1]
        """,
    "fallback_for_a_missing_torch_remat": """
        try:
            from torch_remat import region
        except ImportError:
            def region(fn, name, *, recompute): return fn
        def body(x, f):
            y = region(f, "d", recompute=False)(x)
            return y + 1  # read
        """,
    "global_name": """
        def body(x, f):
            global Y
            Y = S(f)(x)
            return Y * 2  # read
        """,
    "guard_of_a_case": """
        def body(x, f):
            y = S(f)(x)
            match x.dim():
                case 2:
                    return y * 2  # read
                case n if y.sum() > n:  # read
                    return x
        """,
    "marker_under_the_condition_of_the_policy": """
        def body(x, f, save):
            y = remat.region(f, "l", recompute=not save)(x)
            if save:
                M(y)
            return y * 2
        """,
    "marker_under_the_opposite_of_the_policy": """
        def body(x, f, save):
            y = remat.region(f, "l", recompute=not save)(x)
            if not save:
                M(y)
            return y * 2  # read
        """,
    "replaced_field_of_a_named_tuple": """
        class Pair(typing.NamedTuple):
            a: torch.Tensor
            b: torch.Tensor
        def body(x, f):
            pair = Pair(x, x)._replace(a=S(f)(x))
            M(pair.a)
            return pair.a * pair.b
        """,
    "replaced_field_of_a_dataclass": """
        @dataclasses.dataclass
        class Pair:
            a: torch.Tensor
            b: torch.Tensor
        def body(x, f):
            pair = dataclasses.replace(Pair(x, x), a=S(f)(x))
            return pair.a * pair.b  # read
        """,
    "merged_dicts": """
        def body(x, f):
            d = {"y": S(f)(x)} | {"z": x}
            M(d["y"])
            return d["y"] + d["z"]
        """,
    "call_that_marks_for_one_caller_only": """
        def use(t, g):
            return R(g)(t)
        def body(x, f, g, flag):
            y = S(f)(x)
            if flag:
                M(y)
            z = x + y
            return use(y, g) + z
        """,
    "same_helper_called_with_two_outputs": """
        def helper(t):
            return t.exp()
        def body(x, f):
            a = S(f, "a")(x)
            b = S(f, "b")(x)
            p = helper(a)  # read
            q = helper(b)  # read
            return p + q
        """,
    "marker_on_one_of_many_outputs": """
        def body(x, f, p):
            ys = []
            if p(0): ys.append(S(f, "a0")(x))
            if p(1): ys.append(S(f, "a1")(x))
            if p(2): ys.append(S(f, "a2")(x))
            if p(3): ys.append(S(f, "a3")(x))
            out = x
            for t in ys:
                M(t)
                out = out + t
            return out
        """,
    "move_is_needed_where_something_reads_what_it_gave": """
        def body(x, f):
            y = S(f)(x)
            m = y.cpu()  # read
            m = m[1:]
            return m + 1
        """,
    "move_that_nothing_reads": """
        def body(x, f):
            y = S(f, "a")(x)
            y.cpu()
            z = S(f, "b")(y.to("cpu"))
            return z.to(device="cpu")
        """,
    "marker_on_what_was_moved": """
        def body(x, f):
            y = S(f)(x)
            m = y.to("cpu")  # read
            M(m)
            return m + 1
        """,
    "marker_on_what_is_moved": """
        def body(x, f):
            y = S(f)(x)
            m = y.to("cpu")
            M(y)
            return m + 1
        """,
    "region_that_recomputes_with_what_was_moved": """
        def body(x, f):
            y = S(f)(x)
            R(f)(y.cpu())
            return y + 1  # read
        """,
    "move_in_a_function_that_returns_it": """
        def moved(t):
            return t.cpu()
        def body(x, f):
            y = S(f, "a")(x)
            m = moved(y)  # read
            z = S(f, "b")(x)
            n = moved(z)
            return m + 1, n
        """,
    "move_into_a_container": """
        def body(x, f):
            y = S(f)(x)
            kept = [y.cpu()]  # read
            return torch.stack(kept)
        """,
    "move_that_is_a_cast_or_does_not_wait": """
        def body(x, f, device):
            y = S(f, "a")(x)
            y.to("cpu", torch.float16)  # read
            z = S(f, "b")(x)
            z.to("cpu", non_blocking=True)  # read
            w = S(f, "c")(x)
            w.to(device)  # read
            v = S(f, "d")(x)
            return v.to("cpu", copy=True)  # read
        """,
    "read_in_a_function_whose_only_caller_marks": """
        def part(x, f):
            y = S(f)(x)
            y.sum()
            return y
        def body(x, f):
            y = part(x, f)
            M(y)
            return x
        """,
    "read_in_a_function_that_one_of_two_callers_marks": """
        def part(x, f):
            y = S(f)(x)
            y.sum()  # read
            return y
        def body(x, f):
            M(part(x, f))
        def other(x, f):
            return part(x, f)
        """,
    "read_in_a_function_that_returns_something_else": """
        def part(x, f, flag):
            y = S(f)(x)
            y.sum()  # read
            if flag:
                return x
            return y
        def body(x, f, flag):
            M(part(x, f, flag))
        """,
    "read_in_a_function_whose_callers_have_one_caller": """
        def part(x, f):
            y = S(f)(x)
            y.sum()
            return y
        def middle(x, f):
            return part(x, f)
        def body(x, f):
            M(middle(x, f))
        """,
    "read_in_a_function_that_calls_itself": """
        def part(x, f, n):
            y = S(f)(x)
            y.sum()  # read
            if n > 0:
                part(x, f, n - 1)
            return y
        """,
    "read_in_functions_that_call_each_other": """
        def even(x, f, n):
            y = S(f)(x)
            y.sum()  # read
            if n > 0:
                odd(x, f, n - 1)
            return y
        def odd(x, f, n):
            return even(x, f, n)
        """,
    "pointwise_region_of_a_transposed_argument": """
        def body(x):
            y = S(lambda t: t * 2, "a")(x.t())
            y.reshape(-1)  # read
            z = S(torch.sin, "b")(x.mT)
            z.contiguous()  # read
            z.t().contiguous()
            w = S(nn.GELU(), "c")(x.transpose(0, 1))
            return w.flatten()  # read
        """,
    "pointwise_region_of_a_transposed_and_another_argument": """
        def body(x, scale):
            y = S(lambda t, u: t + u, "a")(scale, x.t())
            y.reshape(-1)  # read
            z = S(lambda t, u: t @ u, "b")(x.t(), scale)
            return z.reshape(-1)
        """,
    "pointwise_region_of_a_cut_argument": """
        def body(x):
            y = S(lambda t: t * 2)(x[:, :2])
            return y.reshape(-1)
        """,
    "region_that_does_not_keep_the_order_of_dimensions": """
        def body(x):
            y = S(lambda t: t.softmax(-1), "a")(x.t())
            y.reshape(-1)
            z = S(lambda t: (t * 2).contiguous(), "b")(x.t())
            return z.reshape(-1)
        """,
    "import_that_may_fail": """
        try:
            import torch_remat as maybe
        except ImportError:
            maybe = None
        def body(x, f):
            y = maybe.region(f, "n", recompute=False)(x)
            return y * 2  # read
        """,
    "other_package_called_remat": """
        import other.remat as remat2
        def body(x, f):
            y = remat2.region(f, "n", recompute=False)(x)
            return y * 2
        """,
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    code = PRELUDE + textwrap.dedent(PROGRAMS[name])
    source = SourceFile("model.py", code.encode())
    facts = analyse(source, Project())
    found = {
        source.span(fact.place.node).line
        for kind in (BareRead, HiddenDependency)
        for fact in facts.of(kind)
        if not getattr(fact, "resident", False)
    }
    expected = {n for n, line in enumerate(code.splitlines(), start=1) if re.search(r"# read$", line)}
    assert found == expected


def test_a_deep_chain_of_modules_is_followed_or_given_up_but_never_guessed() -> None:
    classes = [
        f"class C{i}(nn.Module):\n"
        "    def __init__(self):\n"
        "        super().__init__()\n"
        f"        self.lin, self.n = nn.Linear(8, 8), {f'C{i + 1}()' if i < 24 else 'nn.Identity()'}\n"
        "    def forward(self, x):\n"
        f"        return self.n(remat.region(self.lin, 'c{i}', recompute=False)(x))\n"
        for i in reversed(range(25))
    ]
    source = SourceFile("model.py", (PRELUDE + "".join(classes)).encode())
    assert list(analyse(source, Project()).of(BareRead)) == []
