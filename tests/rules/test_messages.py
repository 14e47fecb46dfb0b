"""The messages, word by word: each names the object, says what happens and what to write."""

from __future__ import annotations

import textwrap

import pytest

from remat_lint.analysis import analyse
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

MESSAGES = {
    "RMT101 of one saved output": (
        "y = remat.region(f, 'proj', recompute=False)(x)\nreturn y.sin()",
        "`y.sin` reads `y`, an output of region `proj`, without a marker. Replay skips the region and leaves an "
        "empty placeholder: backward raises here. Write `remat.recompute_needs_tensor(y)` before this statement.",
    ),
    "RMT101 of two outputs under a policy": (
        "a, b = remat.region(f, 'w13', recompute=policy('w13'))(x)\nreturn a * b",
        "`*` reads `a` and `b`, outputs of region `w13`, without a marker. Under a policy that saves it, replay "
        "skips the region and leaves empty placeholders: backward raises here. Write "
        "`remat.recompute_needs_tensor(a, b)` before this statement.",
    ),
    "RMT101 of two operations in one statement": (
        "a, b = remat.region(f, 'w13', recompute=False)(x)\nreturn a.sin() * b",
        "This statement reads `a` and `b`, outputs of region `w13`, without a marker. Replay skips the region and "
        "leaves empty placeholders: backward raises here. Write `remat.recompute_needs_tensor(a, b)` before this "
        "statement.",
    ),
    "RMT101 of an output without a name": (
        "return x + remat.region(f, 'ffn.w2', recompute=False)(x)",
        "`+` reads the output of region `ffn.w2` without a marker. Replay skips the region and leaves an empty "
        "placeholder: backward raises here. Give it a name first (`w2_out = ...`), then write "
        "`remat.recompute_needs_tensor(w2_out)` before this statement.",
    ),
    "RMT101 of an operation that may copy": (
        "y = remat.region(f, 'proj', recompute=False)(x)\nreturn y.float()",
        "`y.float` may read `y`, an output of region `proj`, without a marker. Replay skips the "
        "region and leaves an empty placeholder: backward raises here if it does. Write "
        "`remat.recompute_needs_tensor(y)` before this statement.",
    ),
    "RMT101 of a call of something unknown": (
        "y = remat.region(f, 'proj', recompute=False)(x)\nreturn policy.scan(y)",
        "`policy.scan` may read `y`, an output of region `proj`, without a marker. Replay skips the region and "
        "leaves an empty placeholder: backward raises here if it does. Write "
        "`remat.recompute_needs_tensor(y)` before this statement.",
    ),
    "RMT101 where no marker can be written": (
        "return lambda t: remat.region(f, 'proj', recompute=False)(t).sin()",
        "`remat.region(f, 'proj', recompute=False)(t).sin` reads the output of region `proj` without a marker. "
        "Replay skips the region and leaves an empty placeholder: backward raises here. Call "
        "`remat.recompute_needs_tensor(...)` on it before this statement (a lambda has no room for a statement: make it "
        "a function).",
    ),
    "RMT105": (
        "pair = remat.region(f, 'pair', recompute=False)(x)\nremat.recompute_needs_tensor([x])\nreturn x",
        "`[x]` is a list: `remat.recompute_needs_tensor` takes tensors only and raises in the forward. "
        "Unpack it: write `*` before `[x]`.",
    ),
    "RMT106": (
        "y = remat.region(f, 'proj', recompute=False)(x)\nremat.recompute_needs_tensor(y)\ny += x\nreturn y",
        "`+=` changes `y` in place, which region `proj` keeps for the replay: backward raises, marker or not. "
        "Change a copy (`y.clone()`), or use the operation that returns a new tensor.",
    ),
    "RMT107": (
        "y = remat.region(f, 'gate', recompute=False)(x)\n"
        "return remat.region(lambda t: t * y, 'mul', recompute=True)(x)",
        "region `mul` reads `y`, an output of region `gate`, through a closure, where torch_remat does not see it. "
        "On replay it finds an empty placeholder, and backward raises. Pass `y` as an argument, or write "
        "`remat.recompute_needs_tensor(y)` before the call.",
    ),
    "RMT201 of two regions": (
        "y = remat.region(torch.sin, 'wave', recompute=True)(x)\n"
        "with remat.name_scope('a'):\n"
        "    y = remat.region(torch.cos, 'b', recompute=True)(y)\n"
        "return remat.region(torch.cos, 'a/b', recompute=True)(y)",
        "region name `a/b` is used a second time here in one checkpoint: the second use raises in the forward. "
        "Give each region a name of its own, or enter another scope for each use: "
        '`with remat.name_scope(f"...{index}"):`.',
    ),
    "RMT201 of a loop": (
        "for _ in range(4):\n    x = remat.region(torch.sin, 'wave', recompute=True)(x)\nreturn x",
        "region name `wave` is used each time this runs in one checkpoint: the second use raises in the forward. "
        "Give each region a name of its own, or enter another scope for each use: "
        '`with remat.name_scope(f"...{index}"):`.',
    ),
    "RMT202": (
        "inner = remat.region(torch.sin, 'inner', recompute=True)\n"
        "return remat.region(lambda t: inner(t), 'outer', recompute=False)(x)",
        "region `inner` has `recompute=True` and runs inside region `outer`, which has `recompute=False`: replay "
        "never runs the outer region, and torch_remat raises in the forward. Write `recompute=False` for the "
        "inner region, or `recompute=True` for the outer one.",
    ),
    "RMT203": (
        "y = remat.region(torch.sin, 'sin', recompute=False)\nreturn x",
        "region `sin` is declared here and never called: its function never runs. Call what `remat.region` "
        "returns: `remat.region(function, ...)(x)`.",
    ),
    "RMT205": (
        "return remat.region(f, policy.name('k'), recompute=policy.recompute('q'))(x)",
        "this region is named after `'k'`, and the policy is asked about `'q'`: it decides about another region. "
        "Write `'k'` in both calls.",
    ),
    "RMT205 of a name that is not listed": (
        """class Wave(Base):
    REQUIRED_REMAT_SAVE_REGIONS = ('send', 'receive')

    def forward(self, x):
        return remat.region(f, self.name('sent'), recompute=self.again('sent'))(x)

return Wave()(x)""",
        "region `sent` is none of those that `Wave` lists, `send` and `receive`: no policy decides about it. Write "
        "a name that is listed, or add this one to the list.",
    ),
    "RMT205 of a handle made in a method": (
        """class Wave(Base):
    def forward(self, x):
        send = Base.register_remat_region('send')
        return remat.region(f, self.name(send), recompute=self.again(send))(x)

return Wave()(x)""",
        "the handle `send` of this region is made in a method: only an attribute of the class is registered, so no "
        "policy decides about the region. Make it in the body of the class.",
    ),
    "RMT207": (
        "return remat.op(f, 'sin', policy=remat.SAVE)(x)",
        "`op` and `SAVE` are names of torch_remat before 0.2: they are gone, and this raises. Write instead of `op` "
        "`remat.region(function, name, recompute=...)`; instead of `SAVE` `recompute=False`.",
    ),
    "RMT206": (
        "return remat.region(lambda t: {'y': t * 2}, 'pack', recompute=True)(x)['y']",
        "region `pack` returns a dict: under a checkpoint torch_remat raises in the forward. Return a tensor, or a "
        "flat tuple or list of tensors and `None`.",
    ),
    "RMT208": (
        """for name, module in x.named_modules():
    module.forward = remat.region(module.forward, name, recompute=policy(name))""",
        "region `name` is put around modules of a model from outside: the model's code marks none of their outputs, "
        "and under a policy that saves it a bare operation that reads one raises in backward. Assign a function that "
        "calls the region, marks its output with `remat.recompute_needs_tensor` and returns it.",
    ),
    "RMT209": (
        "chosen = x.softmax(-1).topk(2).indices\n"
        "x = remat.region(torch.sin, 'sin', recompute=True)(x)\n"
        "return x.gather(-1, chosen)",
        "`x.softmax(-1).topk` chooses between elements, and replay chooses again, outside of every region. Where a "
        "kernel rounds differently the second time it may choose others: other shapes raise in backward, equal ones "
        "give wrong gradients. Choose in a region with `recompute=False`.",
    ),
    "RMT209 under a policy": (
        "return remat.region(lambda t: t[t.argmax(-1)], 'pick', recompute=policy('pick'))(x)",
        "`t.argmax` chooses between elements, and replay chooses again, in region `pick` under a policy that "
        "recomputes it. Where a kernel rounds differently the second time it may choose others: other shapes raise in "
        "backward, equal ones give wrong gradients. Choose in a region with `recompute=False`.",
    ),
    "RMT209 of an operation that a region is handed": (
        "return x[remat.region(torch.argmax, 'pick', recompute=True)(x, -1)]",
        "`argmax` chooses between elements, and replay chooses again, in region `pick`. Where a kernel rounds "
        "differently the second time it may choose others: other shapes raise in backward, equal ones give wrong "
        "gradients. Choose in a region with `recompute=False`.",
    ),
    "RMT301": (
        "return remat.checkpoint(torch.sin)(x)",
        "`remat.checkpoint` is given `torch.sin` by position: it takes options by keyword only and raises "
        "`TypeError`. Write `remat.checkpoint(...)(function)(x)`.",
    ),
    "RMT302": (
        "inner = remat.checkpoint(region_name='inner')(torch.sin)\n"
        "return remat.checkpoint(region_name='outer')(lambda t: inner(t))(x)",
        "this checkpoint runs inside another one: torch_remat raises `NotImplementedError` in the forward. Keep one "
        "of the two, and say with `remat.region` what is kept.",
    ),
    "RMT303 of random state": (
        "return remat.checkpoint(preserve_rng_state=True)(torch.sin)(x)",
        "`preserve_rng_state` raises `NotImplementedError`: torch_remat does not preserve random state. "
        "Leave it out, and give a `remat.RecomputeStateHook` that does: `recompute_state_hooks=(hook,)`.",
    ),
    "RMT303 of torch's options": (
        "return remat.checkpoint(use_reentrant=False)(torch.sin)(x)",
        "`use_reentrant` is no option of `remat.checkpoint`, and raises `TypeError`. Leave it out: it is never "
        "reentrant.",
    ),
    "RMT304": (
        "return remat.checkpoint()(lambda t: (t * 2, None))(x)[0]",
        "the lambda returns a `None` among its tensors: as the result of a checkpoint that raises in the "
        "forward. Return a tensor, or a flat tuple or list of tensors.",
    ),
    "RMT503": (
        "return remat.checkpoint()(lambda t: (print(t.shape), t.sin())[1])(x)",
        "`print` runs again when the checkpoint replays this: it prints twice per step. Write `if not "
        "remat.is_recomputing():` before it (with what it computes from tensors detached), or move it out "
        "of the checkpointed code.",
    ),
    "RMT503 under a checkpoint of torch": (
        "import torch.utils.checkpoint as tuc\nimport wandb\n"
        "return tuc.checkpoint(lambda t: (wandb.log({}), t.sin())[1], x)",
        "`wandb.log` runs again when the checkpoint replays this: the metric is recorded twice per step. Move it "
        "out of the checkpointed function.",
    ),
    "RMT503 in a region that a policy decides about": (
        "def g(t):\n    print(t.shape)\n    return t.sin()\n"
        "return remat.region(g, 'sin', recompute=policy('sin'))(x)",
        "`print` runs again where a checkpoint replays this under a policy that recomputes region `sin`: it prints "
        "twice per step. Write `if not remat.is_recomputing():` before it, or move it out of the checkpointed code.",
    ),
    "RMT504": (
        "import torch.distributed as dist\nreturn remat.checkpoint()(lambda t: (dist.barrier(), t.sin())[1])(x)",
        "`dist.barrier` runs again when the checkpoint replays this: the ranks communicate twice per "
        "step, and hang where one of them replays otherwise. Write `if not remat.is_recomputing():` "
        "before it, or move it out of the checkpointed code.",
    ),
    "RMT504 with a result": (
        "import torch.distributed as dist\nreturn remat.checkpoint()(lambda t: (dist.all_reduce(t + 1), t.sin())[1])(x)",
        "`dist.all_reduce` runs again when the checkpoint replays this: the ranks communicate twice per "
        "step, and hang where one of them replays otherwise. Run it in a region with `recompute=False` "
        "that returns the result, or move it out of the checkpointed code.",
    ),
    "RMT506 of another operand": (
        "def block(t):\n    if remat.is_recomputing():\n        return (t * 2).exp()\n    return (t * 3).exp()\n"
        "return remat.checkpoint()(block)(x)",
        "`exp` keeps tensors for backward, and is given something else when the checkpoint replays this: if its "
        "result has gradients, the gradients are wrong. Compute the same in both phases, and guard only what is "
        "recorded.",
    ),
    "RMT504 under a checkpoint of torch": (
        "import torch.utils.checkpoint as tuc\nimport torch.distributed as dist\n"
        "return tuc.checkpoint(lambda t: (dist.barrier(), t.sin())[1], x)",
        "`dist.barrier` runs again when the checkpoint replays this: the ranks communicate twice per step, and hang "
        "where one of them replays otherwise. Move it out of the checkpointed function.",
    ),
    "RMT505 of the time": (
        "import time\nreturn remat.checkpoint()(lambda t: (t * time.time()).sin())(x)",
        "`time.time()` goes into what is computed here, and is another value when the checkpoint replays this: the "
        "gradients are silently wrong. Read it before the checkpoint, and pass it in as an argument.",
    ),
    "RMT505 of the environment": (
        "import os\nreturn remat.checkpoint()(lambda t: t.sin() if os.environ.get('FAST') else t.cos())(x)",
        "`os.environ.get('FAST')` decides which code runs here, and may be another value when the checkpoint replays "
        "this: if it is, backward raises, or the gradients are silently wrong. Read it before the checkpoint, and "
        "pass it in as an argument.",
    ),
    "RMT204": (
        "return remat.region(torch.sin, 'sin', recompute=0)(x)",
        "region `sin`: `recompute` is `0`, no bool: write `True` or `False`. It raises in the forward.",
    ),
    "RMT501 of a counter": (
        "calls = 0\n"
        "def inner(t):\n"
        "    nonlocal calls\n"
        "    calls += 1\n"
        "    return t.sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`calls` advances a second time when the checkpoint replays this. Write `if not "
        "remat.is_recomputing():` before it, or move it out of the checkpointed code.",
    ),
    "RMT501 of a list": (
        "seen = []\n"
        "def inner(t):\n"
        "    seen.append(t.shape)\n"
        "    return t.sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`seen` changes a second time when the checkpoint replays this. Write `if not "
        "remat.is_recomputing():` before it, or move it out of the checkpointed code.",
    ),
    "RMT501 of an attribute": (
        "def inner(t):\n    f.last = t.detach()\n    return t.sin()\nreturn remat.checkpoint()(inner)(x)",
        "`f.last` is written a second time when the checkpoint replays this: what reads it afterwards "
        "sees the replay's value. Return it, and keep it outside the checkpointed code.",
    ),
    "RMT501 of a counter that is computed with": (
        "calls = 0\n"
        "def inner(t):\n"
        "    nonlocal calls\n"
        "    calls += 1\n"
        "    return (t * calls).sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`calls` changes here and is computed with: when the checkpoint replays this, it has another "
        "value, and the gradients are wrong. Pass its value as an argument, and change it outside the "
        "checkpointed code.",
    ),
    "RMT501 of a counter that is read": (
        "seen = [0]\n"
        "def inner(t):\n"
        "    n = seen[0]\n"
        "    seen[0] += 1\n"
        "    f(n)\n"
        "    return t.sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`seen[0]` changes a second time when the checkpoint replays this. Pass its value as an argument, and "
        "change it outside the checkpointed code: the code also reads it, and what is read before a guarded "
        "change is another value on replay.",
    ),
    "RMT501 of an iterator": (
        "scales = iter([1.0, 2.0])\nreturn remat.checkpoint()(lambda t: (t * next(scales)).sin())(x)",
        "`scales` changes here and is computed with: when the checkpoint replays this, it has another "
        "value, and the gradients are wrong. Take it before the checkpoint and pass it as an argument.",
    ),
    "RMT501 of a guarded counter in a loop": (
        "calls = [0]\n"
        "def inner(t):\n"
        "    for _ in range(2):\n"
        "        if not remat.is_recomputing():\n"
        "            calls[0] += 1\n"
        "        t = (t * calls[0]).sin()\n"
        "    return t\n"
        "return remat.checkpoint()(inner)(x)",
        "`calls[0]` changes here, in the forward only, after it was computed with: when the checkpoint replays "
        "this, it is what the last write left, and the gradients are wrong. Pass its value as an argument, and "
        "change it outside the checkpointed code.",
    ),
    "RMT501 of a memo": (
        "memo = {}\n"
        "def inner(t):\n"
        "    if 'y' not in memo:\n"
        "        memo['y'] = t.sin()\n"
        "    return memo['y'] * t\n"
        "return remat.checkpoint()(inner)(x)",
        "`memo['y']` keeps a result with gradients: when the checkpoint replays this, it is there already, "
        "nothing computes it again, and backward raises. Compute it under `torch.no_grad()`, or before the "
        "checkpoint.",
    ),
    "RMT501 of a way that the code goes": (
        "memo = {}\n"
        "def inner(t):\n"
        "    if 'y' not in memo:\n"
        "        y = memo['y'] = t.sin()\n"
        "    else:\n"
        "        y = torch.cat([memo['y'], t])\n"
        "    return y\n"
        "return remat.checkpoint()(inner)(x)",
        "`memo['y']` decides which way the code goes: when the checkpoint replays this, it is what the forward "
        "left here, and the code goes the other way. Pass its value as an argument, and change it outside the "
        "checkpointed code.",
    ),
    "RMT501 of something deleted": (
        "table = {'y': 1}\n"
        "def inner(t):\n"
        "    del table['y']\n"
        "    return t.sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`table['y']` is deleted here: when the checkpoint replays this, it is gone, and backward raises. "
        "Keep it until the step is done.",
    ),
    "RMT501 where no checkpoint is in view": (
        "f.last = x.detach()\nreturn remat.region(torch.sin, 'sin', recompute=True)(x)",
        "`f.last` is written a second time where a checkpoint replays this: what reads it afterwards sees "
        "the replay's value. Return it, and keep it outside the checkpointed code.",
    ),
    "RMT501 under a policy": (
        "seen = []\n"
        "def inner(t):\n"
        "    seen.append(t.shape)\n"
        "    return t.sin()\n"
        "return remat.checkpoint()(remat.region(inner, 'inner', recompute=policy('inner')))(x)",
        "`seen` changes a second time when the checkpoint replays this under a policy that recomputes region "
        "`inner`. Write `if not remat.is_recomputing():` before it, or move it out of the checkpointed code.",
    ),
    "RMT501 under torch.utils.checkpoint": (
        "seen = []\n"
        "def inner(t):\n"
        "    seen.append(t.shape)\n"
        "    return t.sin()\n"
        "return torch.utils.checkpoint.checkpoint(inner, x, use_reentrant=False)",
        "`seen` changes a second time when the checkpoint replays this. Move it out of the checkpointed "
        "function.",
    ),
    "RMT502 of a buffer": (
        "load = torch.zeros(8)\n"
        "def inner(t):\n"
        "    policy.load.add_(t.detach())\n"
        "    return t.sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`policy.load` is updated a second time when the checkpoint replays this. Write `if not "
        "remat.is_recomputing():` before it, or move it out of the checkpointed code.",
    ),
    "RMT502 of a buffer that is computed with": (
        "def inner(t):\n"
        "    policy.load.add_(t.detach())\n"
        "    return (t * policy.load).sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`policy.load` changes here and is computed with: when the checkpoint replays this, it has other "
        "values, and the gradients are wrong. Pass its value as an argument, and change it outside the "
        "checkpointed code.",
    ),
    "RMT502 of an input": (
        "def inner(t):\n    t.mul_(2)\n    return t.sin()\nreturn remat.checkpoint()(inner)(x)",
        "`t`, an input of the checkpointed function, is changed in place: backward raises. Change a copy "
        "(`t.clone()`).",
    ),
    "RMT502 of an input in a closure": (
        "scale = torch.ones(8)\n"
        "def inner(t):\n"
        "    scale.mul_(2)\n"
        "    return (t * scale).sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`scale`, an input of the checkpointed function, is changed in place: when the checkpoint replays "
        "this, it is what the forward left, and the gradients are wrong. Change a copy (`scale.clone()`).",
    ),
    "RMT502 of what a saved region fills": (
        "def fill(out, t):\n"
        "    out.add_(t.detach())\n"
        "    return t.sin()\n"
        "def inner(t):\n"
        "    out = torch.zeros(4, 8)\n"
        "    y = remat.region(fill, 'fill', recompute=False)(out, t)\n"
        "    remat.recompute_needs_tensor(y)\n"
        "    return (y * out).sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`out` is changed in a saved region, and was made outside it: when the checkpoint replays this, it is "
        "made anew, the region is skipped, and the gradients are wrong. Return it from the region.",
    ),
    "RMT502 of statistics": (
        "norm = torch.nn.BatchNorm1d(8)\nreturn remat.checkpoint()(norm)(x)",
        "the running statistics of `BatchNorm1d` move on a second time when the checkpoint replays this. Put "
        "it into evaluation mode (`.eval()`), or move it out of the checkpointed code.",
    ),
    "RMT502 of a normed weight": (
        "lin = torch.nn.utils.spectral_norm(torch.nn.Linear(8, 8))\n"
        "return remat.checkpoint()(lambda t: lin(t).sin())(x)",
        "the state of `lin` moves on a second time when the checkpoint replays this, and the gradients are "
        "wrong. Put it into evaluation mode (`.eval()`), or move it out of the checkpointed code.",
    ),
    "RMT506 of a name": (
        "def inner(t):\n"
        "    if not remat.is_recomputing():\n"
        "        t = t * 2\n"
        "    return t.sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`t` is something else when the checkpoint replays this: the forward's operations get other values "
        "for backward, and the gradients are wrong. Compute the same in both phases, and guard only what is "
        "recorded.",
    ),
    "RMT506 of a result": (
        "def scaled(t):\n"
        "    if remat.is_recomputing():\n"
        "        return t\n"
        "    return t * 2\n"
        "return remat.checkpoint()(lambda t: scaled(t).sin())(x)",
        "`scaled` returns something else when the checkpoint replays this: the forward's operations get other"
        " values for backward, or another number of them. Compute the same in both phases, and guard only "
        "what is recorded.",
    ),
    "RMT506 of an operation": (
        "def inner(t):\n"
        "    if not remat.is_recomputing():\n"
        "        f(t.norm().item())\n"
        "    return t.sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`norm` keeps tensors for backward, and does not run when the checkpoint replays this: if its "
        "result has gradients, another number of tensors is saved, and backward raises. Compute the same in"
        " both phases; what is only recorded goes under `torch.no_grad()`.",
    ),
    "RMT506 of an operation on replay": (
        "def inner(t):\n"
        "    if remat.is_recomputing():\n"
        "        f(t.norm().item())\n"
        "    return t.sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`norm` keeps tensors for backward, and runs only when the checkpoint replays this: if its result "
        "has gradients, backward takes them for those of the forward, and raises or is wrong. Compute the "
        "same in both phases.",
    ),
    "RMT401": (
        "return remat.checkpoint()(lambda t: remat.region(torch.nn.Dropout(0.5), 'drop', recompute=False)(t))(x)",
        "region `drop` draws from torch's random state, which no state hook restores: replay skips region "
        "`drop` and its draws. Nothing in view draws after it: that does no harm until something does, and "
        "gets other numbers than in the forward. Restore that state with a hook, `recompute_state_hooks=(hook,)` (`torch.get_rng_state`, "
        "`torch.set_rng_state`; on a GPU those of `torch.cuda`).",
    ),
    "RMT401 where no checkpoint is in view": (
        "y = remat.region(torch.rand_like, 'noise', recompute=False)(x)\nremat.recompute_needs_tensor(y)\nreturn x * y",
        "region `noise` draws from torch's random state. Unless the checkpoint that replays this has a "
        "state hook for that, replay skips region `noise` and its draws. Nothing in view draws after it: that "
        "does no harm until something does, and gets other numbers than in the forward. Restore that state with a hook, "
        "`recompute_state_hooks=(hook,)` (`torch.get_rng_state`, `torch.set_rng_state`; on a GPU those of "
        "`torch.cuda`).",
    ),
    "RMT402": (
        "return remat.checkpoint()(lambda t: t * torch.rand_like(t))(x)",
        "`torch.rand_like` draws from torch's random state, which no state hook restores: the replay draws "
        "other numbers, and the gradients are silently wrong. Restore that state with a hook, "
        "`recompute_state_hooks=(hook,)` (`torch.get_rng_state`, `torch.set_rng_state`; on a GPU those of "
        "`torch.cuda`), or draw outside the checkpoint and pass the result in.",
    ),
    "RMT402 under a policy": (
        "f = remat.region(torch.rand_like, 'noise', recompute=policy('noise'))\nreturn remat.checkpoint()(lambda t: f(t))(x)",
        "region `noise` draws from torch's random state, which no state hook restores: where the policy "
        "recomputes region `noise`, the replay draws other numbers, and the gradients are silently wrong. "
        "Restore that state with a hook, `recompute_state_hooks=(hook,)` (`torch.get_rng_state`, "
        "`torch.set_rng_state`; on a GPU those of `torch.cuda`), or draw outside the checkpoint and pass "
        "the result in.",
    ),
    "RMT402 of a probability that nobody knows": (
        "return remat.checkpoint()(lambda t: torch.nn.functional.dropout(t, policy.p).sin())(x)",
        "`torch.nn.functional.dropout` may draw from torch's random state, which no state hook restores: if"
        " it does, the replay draws other numbers, and the gradients are silently wrong. Restore that state"
        " with a hook, `recompute_state_hooks=(hook,)` (`torch.get_rng_state`, `torch.set_rng_state`; on a "
        "GPU those of `torch.cuda`), or draw outside the checkpoint and pass the result in.",
    ),
    "RMT402 of what no backward needs": (
        "import random\nreturn remat.checkpoint()(lambda t: t * random.random())(x)",
        "`random.random` draws from the state of Python's `random`, which no state hook restores: the "
        "replay draws other numbers, and the gradients are right only as long as no operation behind it "
        "needs what comes out for backward. Restore that state with a hook, `recompute_state_hooks=(hook,)`"
        " (`random.getstate`, `random.setstate`), or draw outside the checkpoint and pass the result in.",
    ),
    "RMT402 of what decides": (
        "import random\ndef inner(t):\n    if random.random() < 0.5:\n        return t\n    return t.sin()\n"
        "return remat.checkpoint()(inner)(x)",
        "`random.random` draws from the state of Python's `random`, which no state hook restores: the "
        "replay draws other numbers, and where it goes another way, backward raises or the gradients are "
        "silently wrong. Restore that state with a hook, `recompute_state_hooks=(hook,)` "
        "(`random.getstate`, `random.setstate`), or draw outside the checkpoint and pass the result in.",
    ),
    "RMT506 of an operation that is switched off": (
        "return remat.checkpoint()(lambda t: torch.dropout(t, 0.5, not remat.is_recomputing()).sin())(x)",
        "`dropout` keeps tensors for backward, and does not run when the checkpoint replays this: if its "
        "result has gradients, another number of tensors is saved, and backward raises. Compute the same in"
        " both phases; what is only recorded goes under `torch.no_grad()`.",
    ),
    "RMT402 in one phase": (
        "class Hook:\n    def snapshot(self):\n        return torch.get_rng_state()\n"
        "    def restore(self, state):\n        torch.set_rng_state(state)\n"
        "def block(t):\n    if not remat.is_recomputing():\n        torch.rand(1)\n    return t.sin()\n"
        "return remat.checkpoint(recompute_state_hooks=(Hook(),))(block)(x)",
        "`torch.rand` draws from torch's random state, but not in both the forward and the replay: what draws after "
        "it gets other numbers in the replay. Draw in both, or from a generator of its own.",
    ),
    "RMT402 of the system": (
        "import os\nreturn remat.checkpoint()(lambda t: t * os.urandom(1)[0])(x)",
        "`os.urandom` draws from the operating system, whose numbers nobody can restore: the replay draws"
        " other numbers, and the gradients are silently wrong. Draw outside the checkpoint and pass the "
        "result in.",
    ),
    "RMT402 under torch's checkpoint": (
        "import random\nimport torch.utils.checkpoint as c\nreturn c.checkpoint(lambda t: (t * random.random()).sin(), x, use_reentrant=False)",
        "`random.random` draws from the state of Python's `random`, which `torch.utils.checkpoint` does "
        "not restore: the replay draws other numbers, and the gradients are silently wrong. Draw outside "
        "the checkpoint and pass the result in.",
    ),
    "RMT402 of a generator": (
        "g = torch.Generator()\nreturn remat.checkpoint()(lambda t: t * torch.rand(8, generator=g))(x)",
        "`torch.rand` draws from the state of `g`, which no state hook restores: the replay draws other "
        "numbers, and the gradients are silently wrong. Restore that state with a hook, "
        "`recompute_state_hooks=(hook,)`, or draw outside the checkpoint and pass the result in.",
    ),
    "RMT403 of a hook": (
        "class Hook:\n    def snapshot(self):\n        return torch.get_rng_state()\nreturn remat.checkpoint(recompute_state_hooks=(Hook(),))(torch.sin)(x)",
        "state hook `Hook` has no `restore`: backward raises `AttributeError`. Write `restore`.",
    ),
    "RMT403 of a draw": (
        "class Hook:\n    def snapshot(self):\n        return torch.get_rng_state()\n    def restore(self, state):\n        torch.set_rng_state(state)\nimport random\nreturn remat.checkpoint(recompute_state_hooks=(Hook(),))(lambda t: (t * random.random()).sin())(x)",
        "`random.random` draws from the state of Python's `random`, which none of the checkpoint's state "
        "hooks restores: the replay draws other numbers, and the gradients are silently wrong. Restore that"
        " state with a hook, `recompute_state_hooks=(hook,)` (`random.getstate`, `random.setstate`).",
    ),
    "RMT404": (
        "import torch.utils.checkpoint as c\nreturn c.checkpoint(torch.dropout, x, 0.5, True, use_reentrant=False, preserve_rng_state=False)",
        "the function of this checkpoint draws from torch's random state under `preserve_rng_state=False`: the replay "
        "draws other numbers, and the gradients are silently wrong. Leave `preserve_rng_state` out.",
    ),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_message(name: str) -> None:
    body, expected = MESSAGES[name]
    code = "import torch\nimport torch_remat as remat\ndef body(x, f, policy):\n" + textwrap.indent(
        body, "    "
    )
    facts = analyse(SourceFile("model.py", code.encode()), Project())
    messages = [finding.message for rule in all_rules() for finding in rule.check(facts)]
    assert messages == [expected]
