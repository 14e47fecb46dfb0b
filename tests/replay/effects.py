"""Every effect of SEMANTICS sections 4 and 5, spelled in many ways, and what only looks like one."""

from __future__ import annotations

from tests.replay.deeds import (
    ANY,
    DIVERGES,
    PRINTED,
    RAISES,
    TWICE,
    WRONG,
    Deed,
    Expected,
    Outcome,
)

PASS_ON = "y = t * 2"
WRONG_TWICE = Expected(WRONG, state=True)
DIVERGES_TWICE = Expected(DIVERGES, state=True)
ANY_TWICE = Expected(ANY, state=True)
"""Right by luck, where it comes round to the same value."""
CONVERGES = Expected(frozenset({Outcome.RIGHT, Outcome.WRONG}), state=True)
"""Wrong until the iteration has converged: then the difference is one of last bits."""
ZEROS = "torch.zeros(8)"
ONES = "torch.ones(8)"


def _counter(name: str, write: str, start: str, *, rebound: bool = False, setup: str = "") -> Deed:
    part = {"kept": start} if start else {}
    return Deed(
        name,
        PASS_ON,
        write,
        part,
        setup,
        rebound=("kept",) if rebound else (),
        replayed=TWICE,
    )


TALLY = """\
class Tally:
    calls = 0
    seen = []
"""
WRITER = """\
class Writer:
    def __init__(self):
        self.rows = []

    def add_scalar(self, tag, value):
!        self.rows.append((tag, value))
"""

COUNTERS = [
    _counter("attribute += 1", "!$kept += 1", "0", rebound=True),
    _counter("attribute = attribute + 1", "!$kept = $kept + 1", "0", rebound=True),
    _counter("list.append", "!$kept.append(t.shape)", "[]"),
    _counter("list.extend", "!$kept.extend([1, 2])", "[]"),
    _counter("list +=", "!$kept += [1]", "[]", rebound=True),
    _counter("auxiliary loss", "!$kept.append(t.sum())", "[]"),
    _counter("dict count", '!$kept["n"] = $kept.get("n", 0) + 1', "{}"),
    _counter("dict item += 1", '!$kept["n"] += 1', '{"n": 0}'),
    _counter("nested list in a dict", '!$kept["n"].append(1)', '{"n": []}'),
    _counter("defaultdict", '!$kept["n"] += 1', "collections.defaultdict(int)"),
    _counter("Counter.update", '!$kept.update(["n"])', "collections.Counter()"),
    _counter("deque.append", "!$kept.append(1)", "collections.deque()"),
    _counter("queue.put", "!$kept.put(1)", "queue.Queue()"),
    _counter("list item += 1", "!$kept[0] += 1", "[0]"),
    _counter("class attribute", "!Tally.calls += 1", "", setup=TALLY),
    _counter("list of a class", "!Tally.seen.append(1)", "", setup=TALLY),
    _counter("writer of the project", '!$kept.add_scalar("loss", 1.0)', "Writer()", setup=WRITER),
    _counter("StringIO.write", '!$kept.write("x")', "io.StringIO()"),
    _counter("tensor += outside", "!$kept += t.detach().sum(0)", ZEROS, rebound=True),
    _counter("tensor rebound", "!$kept = $kept + t.detach().sum(0)", ZEROS, rebound=True),
    _counter("tensor.add_ outside", "!$kept.add_(t.detach().sum(0))", ZEROS),
    _counter("tensor.data.add_", "!$kept.data.add_(t.detach().sum(0))", ZEROS),
    _counter("tensor item += 1", "!$kept[0] += 1", ZEROS),
    _counter("torch.add out=", "!torch.add($kept, 1.0, out=$kept)", ZEROS),
    _counter("method of a view", "!$kept.view(2, 4).add_(1.0)", ZEROS),
    _counter("elapsed time", "!$kept += time.perf_counter()", "0.0", rebound=True),
]

EFFECTS_OUTSIDE = [
    Deed("print", PASS_ON, '!print("step")', replayed=PRINTED),
    Deed("print a shape", PASS_ON, "!print(t.shape)", replayed=PRINTED),
    Deed("sys.stdout.write", PASS_ON, '!sys.stdout.write("step")', replayed=PRINTED),
    Deed("logger.info", PASS_ON, '!LOGGER.info("step %s", t.shape)', replayed=PRINTED),
    Deed("logging.warning", PASS_ON, '!logging.warning("step")', replayed=PRINTED),
    Deed("getLogger().error", PASS_ON, '!logging.getLogger("other").error("step")', replayed=PRINTED),
]


def _buffer(
    name: str, write: str, use: str = PASS_ON, replayed: Expected = TWICE, start: str = ZEROS
) -> Deed:
    return Deed(name, use, write, {"kept": start}, buffers=("kept",), replayed=replayed)


BUFFERS = [
    _buffer("buffer.add_", "with torch.no_grad():\n!    $kept.add_(t.sum(0))"),
    _buffer("buffer +=", "with torch.no_grad():\n!    $kept[:] += t.sum(0)"),
    _buffer("buffer.lerp_", "!$kept.lerp_(t.detach().mean(0), 0.1)"),
    _buffer("buffer.copy_ of itself", "!$kept.copy_(0.9 * $kept + 0.1 * t.detach().mean(0))"),
    _buffer(
        "average used",
        "with torch.no_grad():\n!    $kept.mul_(0.9).add_(t.mean(0), alpha=0.1)",
        "y = t * $kept",
        WRONG_TWICE,
    ),
    _buffer("buffer.mul_ used", "!$kept.mul_(2.0)", "y = t * $kept", WRONG_TWICE, ONES),
]

NORMS = [
    Deed(
        name,
        f"!y = $norm({argument}).view(4, 8)" if argument != "t" else "!y = $norm(t)",
        parts={"norm": name},
        callable="norm" if argument == "t" else "",
        in_training=True,
        replayed=replayed,
    )
    for name, argument, replayed in (
        ("nn.BatchNorm1d(8)", "t", TWICE),
        ("nn.BatchNorm2d(2)", "t.view(2, 2, 2, 4)", TWICE),
        ("nn.BatchNorm1d(8, momentum=None)", "t", TWICE),
        ("nn.Sequential(nn.Linear(8, 8), nn.BatchNorm1d(8))", "t", TWICE),
        ("nn.InstanceNorm1d(2, track_running_stats=True)", "t.view(2, 2, 8)", TWICE),
        ("nn.utils.spectral_norm(nn.Linear(8, 8))", "t", CONVERGES),
        ("nn.utils.parametrizations.spectral_norm(nn.Linear(8, 8))", "t", CONVERGES),
    )
]

USED = [
    Deed(
        "counter used", "y = t * $kept", "!$kept += 1", {"kept": "1"}, rebound=("kept",), replayed=WRONG_TWICE
    ),
    Deed(
        "counter in a branch",
        "if $kept % 2:\n    y = (t * 2).sin()\nelse:\n    y = t * 3",
        "!$kept += 1",
        {"kept": "0"},
        rebound=("kept",),
        replayed=ANY_TWICE,
    ),
    Deed(
        "toggle",
        "y = t * (2 if $kept else 3)",
        "!$kept = not $kept",
        {"kept": "False"},
        rebound=("kept",),
        replayed=ANY_TWICE,
    ),
    Deed(
        "cache grows",
        "y = t * $kept.sum(0)",
        "!$kept = torch.cat([$kept, t.detach()])",
        {"kept": "torch.zeros(0, 8)"},
        rebound=("kept",),
        replayed=WRONG_TWICE,
    ),
    Deed(
        "attention over a cache",
        "y = torch.softmax(t @ $kept.mT, -1) @ $kept",
        "!$kept = torch.cat([$kept, t.detach()])",
        {"kept": "torch.zeros(0, 8)"},
        rebound=("kept",),
        replayed=DIVERGES_TWICE,
    ),
    Deed(
        "average rebound and used",
        "y = t * $kept",
        "!$kept = 0.9 * $kept + 0.1 * t.detach().mean(0)",
        {"kept": ZEROS},
        rebound=("kept",),
        replayed=WRONG_TWICE,
    ),
    Deed(
        "used, then rebound",
        "y = t * $kept\n!$kept = $kept * 2.0",
        "",
        {"kept": ONES},
        rebound=("kept",),
        replayed=WRONG_TWICE,
    ),
    Deed("next(count)", "!y = t * next($kept)", parts={"kept": "itertools.count(1)"}, replayed=WRONG_TWICE),
    Deed("next(iter)", "!y = t * next($kept)", parts={"kept": "iter(range(1, 99))"}, replayed=WRONG_TWICE),
    Deed("list.pop", "!y = t * $kept.pop()", parts={"kept": "list(range(1, 99))"}, replayed=WRONG_TWICE),
    Deed(
        "deque.popleft",
        "!scale = $kept.popleft()\ny = t * scale",
        parts={"kept": "collections.deque(range(1, 99))"},
        replayed=WRONG_TWICE,
    ),
    Deed("list used", "y = t * len($kept)", "!$kept.append(1)", {"kept": "[]"}, replayed=WRONG_TWICE),
    Deed("dict used", 'y = t * $kept["n"]', '!$kept["n"] += 1', {"kept": '{"n": 0}'}, replayed=WRONG_TWICE),
    Deed(
        "memo with gradients",
        'y = t * $kept["k"]',
        'if "k" not in $kept:\n!    $kept["k"] = t.exp().sin()',
        {"kept": "{}"},
        replayed=Expected(ANY, state=False),
    ),
]

QUIET = [
    Deed(
        "constant in a dict",
        'y = t * $kept["k"]',
        'if "k" not in $kept:\n    $kept["k"] = torch.arange(8.0)',
        {"kept": "{}"},
    ),
    Deed(
        "rotary table",
        "y = t * $kept",
        "if $kept is None:\n    $kept = torch.arange(8.0).cos()",
        {"kept": "None"},
        rebound=("kept",),
    ),
    Deed("dict write", PASS_ON, '$kept["shape"] = t.shape', {"kept": "{}"}, warned=True),
    Deed("stash", PASS_ON, "$kept = t.detach()", {"kept": "None"}, rebound=("kept",), warned=True),
    Deed("flag", PASS_ON, "$kept = True", {"kept": "False"}, rebound=("kept",), warned=True),
    Deed("set.add", PASS_ON, "$kept.add(3)", {"kept": "set()"}, warned=True),
    Deed("buffer.zero_", PASS_ON, "$kept.zero_()", {"kept": ZEROS}, buffers=("kept",), warned=True),
    Deed(
        "buffer.copy_",
        PASS_ON,
        "$kept.copy_(t.detach().mean(0))",
        {"kept": ZEROS},
        buffers=("kept",),
        warned=True,
    ),
    Deed("local list", "parts = []\nparts.append(t * 2)\nparts.append(t.sin())\ny = sum(parts)"),
    Deed("local dict", 'sizes = {}\nsizes["n"] = 1\nsizes["n"] += 1\ny = t * sizes["n"]'),
    Deed("local count", "total = 0\nfor row in t:\n    total += 1\ny = t * total"),
    Deed("local iterator", "scales = iter([2.0, 3.0])\ny = t * next(scales)"),
    Deed("local pop", "scales = [2.0, 3.0]\ny = t * scales.pop()"),
    Deed(
        "object made in the call",
        "box = Holder()\nbox.count = 1\nbox.count += 1\ny = t * box.count",
        setup="class Holder:\n    count = 0\n",
    ),
    Deed("tensor made in the call", "out = torch.empty_like(t)\nout.copy_(t)\nout.mul_(2.0)\ny = out * t"),
    Deed("item of a tensor made in the call", "out = t * 2\nout[:, 0] = 0.0\ny = out + t"),
    Deed("copy of a list", "mine = list($kept)\nmine.append(1)\ny = t * len(mine)", parts={"kept": "[1, 2]"}),
    Deed("read only", "y = t * $kept", parts={"kept": ONES}, buffers=("kept",)),
    Deed("attribute read", "y = t * $kept", parts={"kept": "3"}),
    Deed("warning", PASS_ON, 'warnings.warn("once")'),
    Deed("assert", PASS_ON, "assert t.ndim == 2"),
    *(
        Deed(name, "y = $norm(t)", parts={"norm": name}, callable="norm")
        for name in (
            "nn.LayerNorm(8)",
            "nn.BatchNorm1d(8).eval()",
            "nn.BatchNorm1d(8, track_running_stats=False)",
            "nn.utils.spectral_norm(nn.Linear(8, 8)).eval()",
        )
    ),
    Deed(
        "InstanceNorm without statistics",
        "y = $norm(t.view(2, 2, 8)).view(4, 8)",
        parts={"norm": "nn.InstanceNorm1d(2)"},
    ),
]

_KEEP = "remat.recompute_needs_tensor(y)\n"

WHOLE = [
    Deed(
        "saved region writes what is read bare",
        "def stash(u):\n!    $kept = u.detach().exp()\n    return u * 2\n"
        f'y = remat.region(stash, "stash", recompute=False)(t)\n{_KEEP}y = y * $kept',
        parts={"kept": "None"},
        rebound=("kept",),
        whole=True,
        shared=Expected(WRONG),
    ),
    Deed(
        "saved region writes a dict that is read bare",
        'def stash(u):\n!    $kept["k"] = u.detach().exp()\n    return u * 2\n'
        f'y = remat.region(stash, "stash", recompute=False)(t)\n{_KEEP}y = y * $kept["k"]',
        parts={"kept": "{}"},
        whole=True,
        shared=Expected(WRONG),
    ),
    Deed(
        "scratch filled through a closure",
        "scratch = torch.zeros(4, 8)\ndef fill(u):\n!    scratch.copy_(u.detach())\n    return u * 2\n"
        f'!y = remat.region(fill, "fill", recompute=False)(t)\n{_KEEP}y = y * scratch',
        whole=True,
        replayed=Expected(WRONG),
    ),
    Deed(
        "scratch filled as an argument",
        "scratch = torch.zeros(4, 8)\ndef fill(u, out):\n!    out.copy_(u.detach())\n    return u * 2\n"
        f'!y = remat.region(fill, "fill", recompute=False)(t, scratch)\n{_KEEP}y = y * scratch',
        whole=True,
        replayed=Expected(WRONG),
    ),
    Deed(
        "list filled by a saved region",
        "sizes = []\ndef fill(u):\n!    sizes.append(3.0)\n    return u * 2\n"
        f'!y = remat.region(fill, "fill", recompute=False)(t)\n{_KEEP}y = y * (1.0 + len(sizes))',
        whole=True,
        replayed=Expected(WRONG),
    ),
    Deed(
        "saved output changed through data",
        f'y = remat.region(torch.exp, "exp", recompute=False)(t)\n{_KEEP}!y.data.add_(1.0)\ny = y.sin()',
        whole=True,
        replayed=Expected(WRONG),
    ),
    Deed("input changed through data", "!t.data.mul_(2.0)\ny = t * 2", whole=True, replayed=Expected(WRONG)),
    Deed("input changed in place", "!t.mul_(2.0)\ny = t * 2", whole=True, replayed=Expected(RAISES)),
    Deed(
        "guard changes the value",
        "if not remat.is_recomputing():\n!    t = t * 2\ny = t.sin()",
        whole=True,
        replayed=Expected(DIVERGES),
    ),
    Deed(
        "guard chooses the value",
        "!scale = 1.0 if remat.is_recomputing() else 2.0\ny = t * scale",
        whole=True,
        replayed=Expected(WRONG),
    ),
    Deed(
        "guard chooses the operation",
        "if remat.is_recomputing():\n!    y = (t * 2).exp()\nelse:\n!    y = (t * 3).exp()",
        whole=True,
        replayed=Expected(DIVERGES),
    ),
    Deed("guarded marker", "if not remat.is_recomputing():\n    size = t.shape[0]\ny = t * 2", whole=True),
]
"""Deeds that hold their own region, or are about the body's own names."""

EFFECTS: list[Deed] = [*COUNTERS, *EFFECTS_OUTSIDE, *BUFFERS, *NORMS, *USED]
"""What replay does twice."""
