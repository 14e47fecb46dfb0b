"""Effects outside the program, collectives and unsteady values: which lines are reported, and what happens.

A line with a comment such as ``# RMT503`` is reported, and no other. Every program defines ``body``, which is
checkpointed, and is run as well: what it tells the world is counted, and what ``change`` changes between
forward and backward is seen in the gradients.
"""

from __future__ import annotations

import contextlib
import logging
import re
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from remat_lint.analysis import analyse
from remat_lint.project import Project
from remat_lint.rules import all_rules
from remat_lint.source import SourceFile

HEAD = """
import functools, io, json, logging, os, pathlib, queue, subprocess, sys, threading, time, warnings
import torch
import torch.distributed as dist
import torch.distributed._functional_collectives as funcol
import torch_remat as remat
from torch import nn

logger = logging.getLogger("model")
quiet = logging.getLogger("quiet")
NOTES = queue.Queue()
"""

CHECKPOINT = """

def step(x):
    return remat.checkpoint(region_name="layers.0")(body)(x)
"""

TOLD = {
    "a table that was there before": """
        import csv
        SINK = open("log", "w", buffering=1)

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.rows = csv.writer(SINK)

            def forward(self, x):
                self.rows.writerow([1, 2])  # RMT503
                return x.sin()

        block = Block()

        def body(x):
            return block(x)
        """,
    "a table of its own": """
        import csv
        def body(x):
            rows = csv.DictWriter(io.StringIO(), ["n"])
            rows.writeheader()
            rows.writerow({"n": 1})
            return x.sin()
        """,
    "print": """
        def body(x):
            print("a")  # RMT503
            return x.sin()
        """,
    "streams": """
        def body(x):
            sys.stdout.write("a\\n")  # RMT503
            sys.stdout.flush()
            return x.sin()
        """,
    "loggers": """
        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.logger = logging.getLogger("block")

            def forward(self, x):
                self.logger.info("a")  # RMT503
                logger.warning("b")  # RMT503
                logging.error("c")  # RMT503
                logging.getLogger("d").critical("d")  # RMT503
                tell = logger.info
                tell("e")  # RMT503
                return x.sin()

        block = Block()

        def body(x):
            return block(x)
        """,
    "a logger that is handed over": """
        def tell(log: logging.Logger, text):
            log.info(text)  # RMT503

        def body(x):
            tell(logger, "a")
            return x.sin()
        """,
    "debug messages are off": """
        def body(x):
            quiet.debug("a")
            return x.sin()
        """,
    "a file": """
        def body(x):
            with open("log", "a") as sink:  # RMT503
                sink.write("a\\n")
                print("b", file=sink)
                json.dump([1], sink)
            return x.sin()
        """,
    "a file that is handed on": """
        def write(sink):
            sink.write("a\\n")

        def body(x):
            with open("log", "a") as sink:  # RMT503
                write(sink)
            return x.sin()
        """,
    "a file that was there before": """
        SINK = open("log", "w", buffering=1)

        def body(x):
            SINK.write("a\\n")  # RMT503
            print("b", file=SINK)  # RMT503
            return x.sin()
        """,
    "paths": """
        def body(x):
            path = pathlib.Path(str(time.time_ns()))
            path.write_text("a\\n")  # RMT503
            os.makedirs("folder", exist_ok=True)
            return x.sin()
        """,
    "files that are read": """
        pathlib.Path("text").write_text("a")

        def body(x):
            with open("text") as source:
                source.read()
            return x.sin()
        """,
    "a file in memory": """
        def body(x):
            sink = io.BytesIO()
            torch.save(x.detach(), sink)
            return x.sin()
        """,
    "another program": """
        def body(x):
            subprocess.run(["sh", "-c", "echo a >> log"])  # RMT503
            return x.sin()
        """,
    "a queue": """
        def body(x):
            NOTES.put("a")  # RMT503
            own = queue.Queue()
            own.put("b")
            return x.sin() * len(own.get())
        """,
    "a thread": """
        def body(x):
            thread = threading.Thread(target=print, args=("a",))
            thread.start()  # RMT503
            thread.join()
            return x.sin()
        """,
    "a guard": """
        def body(x):
            if not remat.is_recomputing():
                print("a")
                dist.barrier()
            return x.sin()
        """,
    "a guard that returns": """
        def tell():
            if remat.is_recomputing():
                return
            print("a")

        def body(x):
            tell()
            return x.sin()
        """,
    "a guard in a name": """
        def body(x):
            first = not remat.is_recomputing()
            if first:
                print("a")
            return x.sin()
        """,
    "a saved region": """
        def emit(x):
            print("a")
            dist.barrier()
            return x.sin()

        def body(x):
            return remat.region(emit, "emit", recompute=False)(x)
        """,
    "a recomputed region": """
        def emit(x):
            print("a")  # RMT503
            return x.sin()

        def body(x):
            return remat.region(emit, "emit", recompute=True)(x)
        """,
    "the first time": """
        TOLD = set()
        STARTED = False

        class Block(nn.Module):
            told = False

            def forward(self, x):
                if not self.told:
                    self.told = True
                    print("a")
                return x.sin()

        block = Block()

        def tell(text):
            if text in TOLD:
                return
            TOLD.add(text)
            print(text)

        def start():
            global STARTED
            if not STARTED:
                STARTED = True
                print("b")

        @functools.lru_cache(None)
        def announce(text):
            print(text)

        def body(x):
            tell("c")
            start()
            announce("d")
            return block(x)
        """,
    "a local name is no memory": """
        def body(x):
            told = False
            if not told:
                told = True
                print("a")  # RMT503
            return x.sin()
        """,
    "what goes wrong": """
        def body(x):
            if x.shape[0] == 0:
                logger.error("a")
                raise ValueError("empty")
            try:
                y = x.sin()
            except RuntimeError:
                logger.exception("b")
                raise
            return y
        """,
    "collectives": """
        def body(x):
            dist.barrier()  # RMT504
            dist.all_reduce(x.detach())  # RMT504
            funcol.all_reduce(x.detach(), "sum", "group")  # RMT504
            if dist.is_initialized() and dist.get_rank() == 0:
                return x.cos()
            return x.sin()
        """,
}

DECIDED = {
    "the time": """
        def body(x):
            now = time.time()
            if now < STOPPED:  # RMT505
                x = x.cos()
            return x.sin()

        STOPPED = time.time() + 0.1

        def change():
            time.sleep(0.2)
        """,
    "the time as a factor": """
        def scaled(x, factor):
            return x * factor  # RMT505

        def body(x):
            return scaled(x, time.perf_counter() % 1.0).sin()
        """,
    "the time before the checkpoint": """
        STARTED = time.time()

        class Block(nn.Module):
            def __init__(self):
                super().__init__()
                self.started = time.time()

            def forward(self, x):
                return (x * self.started).sin() * STARTED

        block = Block()

        def body(x):
            return block(x)
        """,
    "the time that it took": """
        class Block(nn.Module):
            def forward(self, x):
                started = time.perf_counter()
                y = x.sin()
                self.took = time.perf_counter() - started
                if self.took > 10 or time.perf_counter() - started > 10:
                    quiet.debug("slow")
                assert time.time() > 0
                return y

        block = Block()

        def body(x):
            return block(x)
        """,
    "the environment": """
        os.environ["FAST"] = "1"

        def is_fast():
            return os.environ.get("FAST", "0").lower() in ("1", "true")

        def body(x):
            if is_fast():  # RMT505
                x = x.cos()
            return x.sin()

        def change():
            del os.environ["FAST"]
        """,
    "the environment in a helper that only checks": """
        os.environ["CHECK"] = "1"

        def check(holds, message):
            if not os.environ.get("CHECK"):
                return
            if not holds:
                raise ValueError(message)

        def body(x):
            check(x.dim() == 2, "two dimensions")
            return x.sin()

        def change():
            del os.environ["CHECK"]
        """,
    "the environment in a helper that fills what it is given": """
        os.environ["FAST"] = "1"

        def fill(scales):
            if os.environ.get("FAST"):  # RMT505
                scales.append(2.0)

        def body(x):
            scales = [1.0]
            fill(scales)
            return (x * sum(scales)).sin()

        def change():
            del os.environ["FAST"]
        """,
    "the lines of a file": """
        import tempfile

        PATH = pathlib.Path(tempfile.mkdtemp()) / "scales.txt"
        PATH.write_text("2")

        def body(x):
            with open(PATH) as file:
                for line in file:  # RMT505
                    x = (x * float(line)).sin()
            return x

        def change():
            PATH.write_text("3")
        """,
    "the environment by its name": """
        os.environ["POWER"] = "2"

        def body(x):
            if "POWER" in os.environ:  # RMT505
                x = x.cos()
            return (x * int(os.environ["POWER"])).sin()  # RMT505

        def change():
            os.environ["POWER"] = "3"
        """,
    "the environment, read once": """
        os.environ["FAST"] = "1"
        FAST = os.environ.get("FAST")
        SETTINGS = {"fast": os.environ.get("FAST")}

        @functools.lru_cache(None)
        def is_fast():
            return os.environ.get("FAST") == "1"

        def body(x):
            if FAST:
                x = x.cos()
            if SETTINGS["fast"]:
                x = x.cos()
            if is_fast():
                x = x.cos()
            return x.sin()

        def change():
            del os.environ["FAST"]
        """,
    "what only tells": """
        os.environ["VERBOSE"] = "1"

        def body(x):
            if os.environ.get("VERBOSE"):
                quiet.debug("shape %s", x.shape)
            return x.sin()

        def change():
            del os.environ["VERBOSE"]
        """,
    "what tells through a function": """
        os.environ["DUMP"] = "1"

        def dump(x):
            text = str(x.shape)
            print(text)  # RMT503

        def body(x):
            folder = os.environ.get("DUMP")
            if folder is not None:
                dump(x)
            return x.sin()
        """,
    "what is set up once": """
        READY = False

        def set_up():
            global READY
            if READY:
                return
            READY = True

        def body(x):
            set_up()
            return x.sin()
        """,
    "a loop": """
        os.environ["TURNS"] = "3"

        def body(x):
            for _ in range(int(os.environ["TURNS"])):  # RMT505
                x = x.sin()
            return x

        def change():
            os.environ["TURNS"] = "2"
        """,
    "an index": """
        os.environ["LAYER"] = "0"
        LAYERS = nn.ModuleList([nn.Linear(8, 8), nn.Linear(8, 8)])

        def body(x):
            layer = int(os.environ["LAYER"])
            return LAYERS[layer](x.sin()).sin()  # RMT505

        def change():
            os.environ["LAYER"] = "1"
        """,
    "a file": """
        pathlib.Path("fast").touch()

        def body(x):
            x = x.cos() if os.path.exists("fast") else x  # RMT505
            return x.sin()

        def change():
            os.remove("fast")
        """,
    "a global that is rebound": """
        SCALE = 1.0
        GROUP = None
        FAST = False
        TURN = False

        def set_up(fast):
            global GROUP, FAST
            GROUP = "group"
            FAST = fast

        def change():
            global SCALE, TURN
            SCALE *= 2.0
            TURN = not TURN

        def body(x):
            if GROUP is not None or FAST:
                x = x.cos()
            y = (x * SCALE).sin()  # RMT505
            return y.cos() if TURN else y  # RMT505
        """,
}

SEEN_ONLY = {
    "what is behind a logger": """
        import lightning.pytorch as pl
        class Block(pl.LightningModule):
            def forward(self, x):
                self.logger.experiment.add_scalar("n", 1)  # RMT503
                self.logger.experiment.log({"n": 1})  # RMT503
                return x.sin()

        block = Block()

        def body(x):
            return block(x)
        """,
    "a progress bar": """
        import tqdm
        BAR = tqdm.tqdm(total=9)

        def body(x):
            BAR.update(1)  # RMT503
            return x.sin()
        """,
    "identities": """
        def body(x):
            if id(x) in SEEN:  # RMT505
                x = x.cos()
            if id(LAYER) in SEEN or hash("layer") in SEEN or id(x) == id(LAYER):
                x = x.cos()
            return x.sin()

        LAYER = nn.Linear(8, 8)
        SEEN = set()
        """,
    "functional collectives and remote calls": """
        def body(x):
            y = torch.ops._c10d_functional.all_reduce.default(x, "sum", "group")  # RMT504
            torch.distributed.rpc.rpc_sync("worker", print)  # RMT504
            work = dist.all_gather_object([], x)  # RMT504
            work.wait()
            return torch.distributed.nn.functional.all_reduce(y).sin()  # RMT504
        """,
    "metrics": """
        from torch.utils.tensorboard import SummaryWriter
        import mlflow
        import wandb

        class Block(nn.Module):
            def __init__(self, tracker):
                super().__init__()
                self.writer = SummaryWriter()
                self.tracker = tracker

            def forward(self, x):
                self.writer.add_scalar("norm", 1)  # RMT503
                self.tracker.add_histogram("norm", x)  # RMT503
                wandb.log({"norm": 1})  # RMT503
                mlflow.log_metric("norm", 1)  # RMT503
                own = SummaryWriter()  # RMT503
                own.add_scalar("norm", 1)
                return x.sin()

        block = Block(None)

        def body(x):
            return block(x)
        """,
    "the device": """
        def body(x):
            torch.cuda.synchronize()  # RMT503
            with torch.cuda.nvtx.range("block"):
                y = x.sin()
            if torch.cuda.memory_allocated() > 10_000:  # RMT505
                y = y.cos()
            START.record()  # RMT503
            own = torch.cuda.Event()
            own.record()
            return y

        START = torch.cuda.Event()
        """,
    "other packages by their names": """
        from loguru import logger as log
        from tqdm.auto import tqdm
        import requests
        from utils import somewhere

        def body(x):
            log.debug("a")  # RMT503
            for layer in tqdm(LAYERS):  # RMT503
                x = layer(x)
            requests.post("https://example.org")  # RMT503
            somewhere.logger.info("a")  # RMT503
            somewhere.logger.warning_once("a")
            somewhere.get_logger().info("a")  # RMT503
            return x

        LAYERS = nn.ModuleList([nn.Linear(8, 8)])
        """,
    "what is said once": """
        def body(x):
            warnings.warn("a")
            logger.warning_once("b")
            return x.sin()
        """,
    "a match": """
        def body(x):
            match os.environ["MODE"]:  # RMT505
                case "fast":
                    return x.sin()
            return x.cos()
        """,
    "one value decides once": """
        def body(x):
            now = time.time()
            if now % 2 > 1:  # RMT505
                x = x.cos()
            return x * now
        """,
}
"""Programs that are not run."""

ONLY_WITH_A_CHECKPOINT = """
def body(x):
    print("nobody replays this")
    return x.sin() * time.time()
"""


def program(body: str) -> str:
    return HEAD + textwrap.dedent(body) + CHECKPOINT


def reported(code: str) -> list[tuple[int, str]]:
    source = SourceFile("model.py", code.encode())
    facts = analyse(source, Project())
    rules = [rule for rule in all_rules() if rule.code in ("RMT503", "RMT504", "RMT505")]
    found = {(source.span(one.place.node).line, one.code) for rule in rules for one in rule.check(facts)}
    return sorted(found)


def expected(code: str) -> list[tuple[int, str]]:
    marks = ((line, re.search(r"# (RMT\d+)$", text)) for line, text in enumerate(code.splitlines(), 1))
    return [(line, mark.group(1)) for line, mark in marks if mark is not None]


@pytest.mark.parametrize("name", [*TOLD, *DECIDED, *SEEN_ONLY])
def test_lines(name: str) -> None:
    code = program((TOLD | DECIDED | SEEN_ONLY)[name])
    assert reported(code) == expected(code)


def test_code_that_nobody_replays() -> None:
    assert reported(HEAD + ONLY_WITH_A_CHECKPOINT) == []


class Run:
    """A program under a checkpoint, and what it has told so far."""

    def __init__(
        self, code: str, records: pytest.LogCaptureFixture, streams: pytest.CaptureFixture[str]
    ) -> None:
        self._records = records
        self._streams = streams
        self._printed = 0
        self.module: dict[str, Any] = {"__name__": "model"}
        exec(compile(code, "model.py", "exec"), self.module)

    def told(self) -> int:
        """How many lines, records, bytes and items are there."""
        self._printed += len(self._streams.readouterr().out.splitlines())
        files = [path for path in Path.cwd().iterdir() if path.is_file()]
        size = sum(path.stat().st_size for path in files)
        return self._printed + len(self._records.records) + size + self.module["NOTES"].qsize()

    def gradient(self, function: Any, between: Any) -> Any:
        import torch

        torch.manual_seed(0)
        x = torch.randn(4, 8, requires_grad=True)
        loss = function(x).sum()
        between()
        loss.backward()
        return x.grad


@pytest.fixture
def run(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    capfd: pytest.CaptureFixture[str],
) -> Iterator[Any]:
    """Runs programs in a folder of their own, with collectives that print."""
    pytest.importorskip("torch_remat")
    import contextvars

    import torch.distributed as dist
    import torch.distributed._functional_collectives as funcol

    from remat_lint.runtime_check.placeholders import stand_ins_installed, torch_has_placeholders

    monkeypatch.chdir(tmp_path)
    caplog.set_level(logging.INFO)
    for module, name in ((dist, "all_reduce"), (dist, "barrier"), (funcol, "all_reduce")):
        monkeypatch.setattr(module, name, lambda *_, name=name: sys.stdout.write(f"{name}\n"))
    with contextlib.nullcontext() if torch_has_placeholders() else stand_ins_installed():
        started: list[Run] = []

        def start(code: str, do: Any) -> Any:
            started.append(Run(code, caplog, capfd))
            return contextvars.copy_context().run(do, started[-1])

        yield start
    for each in started:
        if "SINK" in each.module:
            each.module["SINK"].close()


@pytest.mark.parametrize("name", TOLD)
def test_what_is_reported_is_done_twice(name: str, run: Any) -> None:
    code = program(TOLD[name])

    def both_phases(program: Run) -> tuple[int, int]:
        before = program.told()
        after: list[int] = []
        program.gradient(program.module["step"], lambda: after.append(program.told() - before))
        return after[0], program.told() - before

    forward, both = run(code, both_phases)
    assert both == (2 * forward if expected(code) else forward)


@pytest.mark.parametrize("name", DECIDED)
def test_what_is_reported_changes_the_gradients(name: str, run: Any) -> None:
    import torch

    code = program(DECIDED[name])

    def is_right(program: Run) -> bool:
        plain = program.gradient(program.module["body"], lambda: None)
        try:
            found = program.gradient(program.module["step"], program.module.get("change", lambda: None))
        except RuntimeError:
            return False
        return torch.equal(plain, found)

    assert run(code, is_right) is not any(rule == "RMT505" for _, rule in expected(code))
