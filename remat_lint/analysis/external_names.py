"""What names of other packages do outside the program, how they communicate, and what they read of it.

Data only: a name is looked up as its imports resolve it. Reading a file, opening a range of a profiler and
what is said once only (``warnings.warn``, ``logger.warning_once``) are no effects: nothing is done twice.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from remat_lint.analysis.facts import Touched, Unsteady


@dataclass(frozen=True, slots=True)
class Functions:
    """Functions of a package, or methods of a class, that touch one kind of thing, and why they are here.

    A name that ends in ``*`` stands for all that begin so.
    """

    touched: Touched
    why: str
    owners: tuple[str, ...]
    names: str


FUNCTIONS: tuple[Functions, ...] = (
    Functions(Touched.OUTPUT, "writes to the terminal", ("builtins",), "print input"),
    Functions(Touched.OUTPUT, "print under another name", ("pprint", "rich"), "print pprint pp"),
    Functions(Touched.OUTPUT, "rich shows things in boxes", ("rich",), "inspect print_json"),
    Functions(
        Touched.OUTPUT,
        "the streams of the terminal",
        ("sys.stdout", "sys.stderr", "sys.__stdout__", "sys.__stderr__", "sys.stdout.buffer"),
        "write writelines",
    ),
    Functions(Touched.OUTPUT, "the prints of command line packages", ("click", "typer"), "echo secho"),
    Functions(Touched.OUTPUT, "a progress bar is drawn", ("tqdm", "tqdm.auto", "tqdm.std"), "tqdm trange"),
    Functions(
        Touched.OUTPUT,
        "print that does not break progress bars",
        ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.std.tqdm"),
        "write",
    ),
    Functions(
        Touched.OUTPUT, "prints where the program is", ("traceback",), "print_exc print_stack print_exception"
    ),
    Functions(
        Touched.LOG,
        "the root logger; its debug messages are off unless somebody wants to see everything",
        ("logging",),
        "info warning warn error critical exception fatal log",
    ),
    Functions(
        Touched.LOG,
        "the logger of absl; once-only and first-n forms count for themselves",
        ("absl.logging",),
        "info warning warn error exception fatal log log_every_n",
    ),
    Functions(
        Touched.LOG,
        "loguru writes debug messages too unless told otherwise",
        ("loguru.logger",),
        "trace debug info success warning error critical exception log",
    ),
    Functions(Touched.LOG, "the log of the system", ("syslog",), "syslog"),
    Functions(Touched.METRIC, "weights and biases", ("wandb",), "log log_artifact log_model save alert init"),
    Functions(Touched.METRIC, "the tracking interface of mlflow", ("mlflow",), "log_* set_tag set_tags"),
    Functions(Touched.METRIC, "the tracking interface of comet", ("comet_ml",), "log_*"),
    Functions(
        Touched.METRIC,
        "trackers with the interface of weights and biases",
        ("swanlab", "trackio", "neptune", "ray.train", "ray.tune"),
        "log init report",
    ),
    Functions(
        Touched.METRIC,
        "tensorboard through tensorflow",
        ("tensorflow.summary",),
        "scalar histogram image text audio write",
    ),
    Functions(
        Touched.METRIC,
        "a new file of events each time",
        ("torch.utils.tensorboard", "torch.utils.tensorboard.writer", "tensorboardX"),
        "SummaryWriter",
    ),
    Functions(Touched.METRIC, "events for monitors", ("torch.monitor",), "log_event"),
    Functions(Touched.FILE, "tensors are written", ("torch",), "save"),
    Functions(
        Touched.FILE, "checkpoints of several ranks", ("torch.distributed.checkpoint",), "save async_save"
    ),
    Functions(Touched.FILE, "arrays are written", ("numpy",), "save savez savez_compressed savetxt"),
    Functions(
        Touched.FILE,
        "weights are written",
        ("safetensors.torch", "safetensors.numpy"),
        "save_file save_model",
    ),
    Functions(
        Touched.FILE,
        "objects are written to a file that is handed over",
        ("json", "pickle", "marshal", "dill", "cloudpickle", "joblib"),
        "dump",
    ),
    Functions(
        Touched.FILE,
        "files are copied, moved and deleted",
        ("shutil",),
        "copy copy2 copyfile copyfileobj copytree move rmtree make_archive",
    ),
    Functions(
        Touched.FILE,
        "names of files are changed",
        ("os",),
        "remove unlink rename renames replace rmdir removedirs mkdir makedirs symlink link truncate write",
    ),
    Functions(
        Touched.FILE,
        "a new file or folder each time",
        ("tempfile",),
        "NamedTemporaryFile TemporaryFile TemporaryDirectory mkstemp mkdtemp",
    ),
    Functions(Touched.FILE, "plots are written or shown", ("matplotlib.pyplot",), "savefig imsave show"),
    Functions(
        Touched.FILE, "images are written", ("torchvision.utils", "imageio", "cv2"), "save_image imwrite"
    ),
    Functions(Touched.FILE, "sound is written", ("torchaudio", "soundfile"), "save write"),
    Functions(Touched.FILE, "the record of the allocator", ("torch.cuda.memory",), "_dump_snapshot"),
    Functions(
        Touched.PROCESS,
        "another program is run",
        ("subprocess",),
        "run call check_call check_output Popen getoutput getstatusoutput",
    ),
    Functions(
        Touched.PROCESS, "another program is run", ("os",), "system popen fork kill spawn* posix_spawn"
    ),
    Functions(
        Touched.SOCKET,
        "requests over HTTP",
        ("requests", "httpx"),
        "get post put patch delete head options request stream",
    ),
    Functions(Touched.SOCKET, "requests over HTTP", ("urllib.request",), "urlopen urlretrieve"),
    Functions(Touched.SOCKET, "a connection is opened", ("socket",), "create_connection create_server"),
    Functions(
        Touched.SOCKET,
        "files are fetched",
        ("torch.hub", "huggingface_hub"),
        "download_url_to_file load_state_dict_from_url hf_hub_download snapshot_download upload_*",
    ),
    Functions(
        Touched.DEVICE,
        "the program waits for the device, which costs what it saved",
        ("torch.cuda", "torch.xpu", "torch.mps", "torch.mtia", "torch.npu", "torch.accelerator"),
        "synchronize",
    ),
    Functions(
        Touched.DEVICE,
        "the record of the allocator begins anew",
        ("torch.cuda", "torch.cuda.memory", "torch.xpu", "torch.accelerator"),
        "reset_peak_memory_stats reset_max_memory_allocated reset_max_memory_cached "
        "reset_accumulated_memory_stats",
    ),
    Functions(
        Touched.DEVICE,
        "memory is given back, and fetched again",
        ("torch.cuda", "torch.cuda.memory", "torch.xpu", "torch.mps", "torch.npu", "torch.accelerator"),
        "empty_cache",
    ),
    Functions(
        Touched.DEVICE,
        "the graph is cut and sent",
        ("torch_xla", "torch_xla.core.xla_model"),
        "sync mark_step",
    ),
)

_QUEUES = (
    "queue.Queue",
    "queue.SimpleQueue",
    "queue.LifoQueue",
    "queue.PriorityQueue",
    "multiprocessing.Queue",
    "multiprocessing.SimpleQueue",
    "multiprocessing.JoinableQueue",
    "torch.multiprocessing.Queue",
    "torch.multiprocessing.SimpleQueue",
    "asyncio.Queue",
)
_WRITERS = (
    "torch.utils.tensorboard.SummaryWriter",
    "torch.utils.tensorboard.writer.SummaryWriter",
    "tensorboardX.SummaryWriter",
)
_LIGHTNING = (
    "pytorch_lightning.LightningModule",
    "lightning.LightningModule",
    "lightning.pytorch.LightningModule",
)

_OF_PATHS = "__truediv__ absolute cwd expanduser home joinpath resolve with_name with_stem with_suffix"

LOGGER, FILE, SOCKET, EVENT, PATH = (
    "logging.Logger",
    "io.IOBase",
    "socket.socket",
    "torch.cuda.Event",
    "pathlib.Path",
)

METHODS: tuple[Functions, ...] = (
    Functions(
        Touched.LOG,
        "debug messages are off unless somebody wants to see everything",
        (LOGGER, "logging.LoggerAdapter"),
        "info warning warn error critical exception fatal log success notice",
    ),
    Functions(
        Touched.LOG,
        "these loggers write debug messages too unless told otherwise",
        ("loguru.Logger", "structlog.BoundLogger"),
        "trace debug info success warning warn error critical exception log msg",
    ),
    Functions(
        Touched.METRIC,
        "tensorboard",
        _WRITERS,
        "add_scalar add_scalars add_histogram add_image add_images add_text add_figure add_video add_audio "
        "add_embedding add_graph add_hparams add_pr_curve add_mesh add_tensor flush",
    ),
    Functions(Touched.METRIC, "a run of weights and biases", ("wandb.Run",), "log log_artifact save alert"),
    Functions(
        Touched.METRIC, "a run of another tracker", ("neptune.Run", "comet_ml.Experiment"), "log_* append"
    ),
    Functions(Touched.METRIC, "the trackers of lightning", _LIGHTNING, "log log_dict"),
    Functions(
        Touched.FILE, "tables are written", ("csv.writer", "csv.DictWriter"), "writerow writerows writeheader"
    ),
    Functions(
        Touched.OUTPUT,
        "a progress bar moves on",
        ("tqdm.tqdm", "tqdm.auto.tqdm", "tqdm.std.tqdm"),
        "update",
    ),
    Functions(Touched.OUTPUT, "print on the first rank", _LIGHTNING, "print"),
    Functions(Touched.FILE, "what is written to an open file", (FILE,), "write writelines truncate"),
    Functions(
        Touched.FILE,
        "files by their path",
        (PATH,),
        "write_text write_bytes touch mkdir unlink rename replace rmdir symlink_to hardlink_to",
    ),
    Functions(
        Touched.QUEUE, "what is put in or taken out", _QUEUES, "put put_nowait get get_nowait task_done"
    ),
    Functions(
        Touched.QUEUE,
        "the end of a pipe",
        ("multiprocessing.connection.Connection",),
        "send send_bytes recv recv_bytes",
    ),
    Functions(
        Touched.PROCESS,
        "it runs beside the program",
        ("threading.Thread", "multiprocessing.Process"),
        "start",
    ),
    Functions(
        Touched.PROCESS,
        "it runs beside the program",
        ("concurrent.futures.ThreadPoolExecutor", "concurrent.futures.ProcessPoolExecutor"),
        "submit map",
    ),
    Functions(
        Touched.SOCKET,
        "a connection",
        (SOCKET,),
        "connect bind listen accept send sendall sendto recv recvfrom",
    ),
    Functions(
        Touched.SOCKET,
        "a session over HTTP",
        ("requests.Session", "httpx.Client", "http.client.HTTPConnection"),
        "get post put patch delete head request send",
    ),
    Functions(
        Touched.SOCKET,
        "a store that all ranks share",
        ("torch.distributed.TCPStore", "torch.distributed.FileStore", "torch.distributed.HashStore"),
        "set add append wait compare_set delete_key",
    ),
    Functions(Touched.DEVICE, "the second time overwrites the first", (EVENT,), "record"),
    Functions(
        Touched.DEVICE, "the program waits for the device", (EVENT, "torch.cuda.Stream"), "synchronize"
    ),
)
"""What is done through an object."""

_OWN = (
    FILE,
    "csv.writer",
    "csv.DictWriter",
    *_QUEUES,
    *_WRITERS,
    "wandb.Run",
    "neptune.Run",
    "comet_ml.Experiment",
    EVENT,
)
"""The classes whose objects are a call's own if it made them: others are but a way to what everybody sees."""

MADE_BY: dict[str, str] = {
    "logging.getLogger": LOGGER,
    "logging.Logger.getChild": LOGGER,
    "accelerate.logging.get_logger": LOGGER,
    "transformers.utils.logging.get_logger": LOGGER,
    "diffusers.utils.logging.get_logger": LOGGER,
    "structlog.get_logger": "structlog.BoundLogger",
    "structlog.stdlib.get_logger": "structlog.BoundLogger",
    "structlog.BoundLogger.bind": "structlog.BoundLogger",
    "loguru.logger.bind": "loguru.Logger",
    "loguru.logger.opt": "loguru.Logger",
    "loguru.logger.patch": "loguru.Logger",
    "wandb.init": "wandb.Run",
    "neptune.init_run": "neptune.Run",
    "comet_ml.start": "comet_ml.Experiment",
    "builtins.open": FILE,
    "io.open": FILE,
    "gzip.open": FILE,
    "bz2.open": FILE,
    "lzma.open": FILE,
    "io.StringIO": FILE,
    "io.BytesIO": FILE,
    "tempfile.NamedTemporaryFile": FILE,
    "tempfile.TemporaryFile": FILE,
    "pathlib.Path.open": FILE,
    **{f"{PATH}.{method}": PATH for method in _OF_PATHS.split()},
    "socket.create_connection": SOCKET,
    "requests.session": "requests.Session",
    "torch.cuda.current_stream": "torch.cuda.Stream",
    "torch.Event": EVENT,
}
"""The class of what functions and methods return."""

OPENERS: dict[str, int] = {
    "builtins.open": 1,
    "io.open": 1,
    "gzip.open": 1,
    "bz2.open": 1,
    "lzma.open": 1,
    "tarfile.open": 1,
    "zipfile.ZipFile": 1,
    "h5py.File": 1,
    "pathlib.Path.open": 0,
}
"""What opens a file, and the position of the mode: only one that is opened to write is touched."""

HANDED_FILES: dict[str, int] = {
    "torch.save": 1,
    "json.dump": 1,
    "pickle.dump": 1,
    "marshal.dump": 1,
    "dill.dump": 1,
    "cloudpickle.dump": 1,
    "joblib.dump": 1,
    "numpy.save": 0,
    "numpy.savez": 0,
    "numpy.savez_compressed": 0,
    "numpy.savetxt": 0,
    "shutil.copyfileobj": 1,
}
"""What may write into a file that somebody else opened, and the position of that file."""

_COLLECTIVES = (
    "all_reduce all_reduce_coalesced all_gather all_gather_into_tensor all_gather_coalesced "
    "all_gather_object _all_gather_base all_to_all all_to_all_single barrier monitored_barrier broadcast "
    "broadcast_object_list gather gather_object reduce reduce_scatter reduce_scatter_tensor "
    "_reduce_scatter_base scatter scatter_object_list send recv isend irecv send_object_list "
    "recv_object_list batch_isend_irecv "
    "new_group new_subgroups new_subgroups_by_enumeration split_group init_process_group "
    "destroy_process_group"
)
"""All that waits for other ranks: the collectives, point to point, and the making of groups."""

_WRITING_OWNERS = ("torch.distributed", "torch.distributed.distributed_c10d", "deepspeed.comm")
_RECEIVING = (
    "all_reduce all_reduce_coalesced all_gather all_gather_into_tensor all_gather_coalesced _all_gather_base "
    "all_to_all all_to_all_single broadcast reduce reduce_scatter reduce_scatter_tensor _reduce_scatter_base "
    "scatter recv irecv"
)
"""Collectives that put their result into what they are handed first, and no version counts that."""

_WITH_GRADIENTS = (
    "all_reduce all_gather all_to_all all_to_all_single broadcast gather reduce reduce_scatter scatter"
)
"""Collectives that autograd runs backward. Their result is needed on replay, but a SAVE region keeps it."""

_FUNCTIONAL = (
    "all_reduce all_reduce_coalesced all_gather_tensor all_gather_single all_gather_into_tensor "
    "all_gather_into_tensor_coalesced reduce_scatter_tensor reduce_scatter_single all_to_all_single "
    "broadcast reduce_scatter_tensor_coalesced permute_tensor all_gather_tensor_autograd all_reduce_autograd "
    "reduce_scatter_tensor_autograd all_to_all_single_autograd permute_tensor_autograd all_reduce_ "
    "broadcast_ all_gather_into_tensor_out"
)
"""The functional collectives, and the operators behind them."""

COLLECTIVES: dict[tuple[str, ...], str] = {
    ("torch.distributed", "torch.distributed.distributed_c10d", "deepspeed.comm"): _COLLECTIVES,
    ("torch.distributed.nn", "torch.distributed.nn.functional"): _WITH_GRADIENTS + " _all_gather_base",
    (
        "torch.distributed._functional_collectives",
        "torch.ops._c10d_functional",
        "torch.ops._c10d_functional_autograd",
        "torch.ops.c10d_functional",
    ): _FUNCTIONAL,
    ("torch.distributed.rpc",): "rpc_sync rpc_async remote",
    ("torch.distributed.device_mesh",): "init_device_mesh",
    (
        "horovod.torch",
    ): "allreduce allreduce_ allreduce_async allgather broadcast broadcast_ alltoall reducescatter",
    (
        "torch_xla.core.xla_model",
    ): "all_reduce all_gather reduce_scatter all_to_all collective_permute rendezvous",
    ("accelerate.utils",): "gather gather_object reduce broadcast broadcast_object_list",
}
"""What communicates with other ranks. A ``DTensor`` does so where its placements, out of view, want it."""

UNSTEADY: dict[tuple[Unsteady, str], str] = {
    (Unsteady.TIME, "time"): (
        "time time_ns perf_counter perf_counter_ns monotonic monotonic_ns process_time process_time_ns "
        "thread_time thread_time_ns clock ctime asctime localtime gmtime strftime"
    ),
    (Unsteady.TIME, "datetime.datetime"): "now utcnow today",
    (Unsteady.TIME, "datetime.date"): "today",
    (Unsteady.TIME, "timeit"): "default_timer",
    (Unsteady.TIME, "os"): "times getloadavg",
    (Unsteady.ENVIRONMENT, "os"): "getenv environ getenvb environb getcwd",
    (Unsteady.ENVIRONMENT, "os.environ"): "get items keys values copy",
    (Unsteady.FILE, "os"): "listdir scandir stat access",
    (Unsteady.FILE, "os.path"): "exists isfile isdir islink getsize getmtime",
    (Unsteady.FILE, "glob"): "glob",
    (Unsteady.FILE, PATH): "exists is_file is_dir stat read_text read_bytes iterdir glob",
    (Unsteady.FILE, FILE): "read readline readlines",
    (Unsteady.FILE, "json"): "load",
    (Unsteady.FILE, "yaml"): "load safe_load full_load",
    (Unsteady.FILE, "tomllib"): "load",
    (Unsteady.FILE, "toml"): "load",
    (Unsteady.IDENTITY, "builtins"): "id hash",
    (Unsteady.IDENTITY, "threading"): "get_ident get_native_id current_thread active_count",
    (Unsteady.DEVICE, "torch.cuda"): (
        "memory_allocated memory_reserved max_memory_allocated max_memory_reserved mem_get_info memory_stats "
        "utilization temperature"
    ),
    (Unsteady.DEVICE, "torch.cuda.memory"): "memory_allocated memory_reserved mem_get_info memory_stats",
    (Unsteady.DEVICE, "psutil"): "virtual_memory cpu_percent swap_memory",
    (Unsteady.TIME, EVENT): "elapsed_time query",
}
"""What may be another value in backward than it was in forward."""

_WAITS = ("time.sleep", "warnings.warn", "gc.collect")
_QUIET = ("debug", "trace", "warning_once", "info_once")

TRACKER_NAMES = frozenset(["experiment", "tracker", "wandb_run"])
"""What the object behind a logger is called that records what it is told to ``log``."""

LOGGER_NAMES = frozenset(["logger", "log", "logging", "_log"])
"""What a logger that nobody constructed in view is called; a name that ends in ``logger`` is one too."""

UNMISTAKABLE: tuple[Functions, ...] = (
    Functions(
        Touched.METRIC,
        "no other classes have such methods",
        (),
        "add_scalar add_scalars add_histogram add_pr_curve log_metric log_metrics log_artifact log_artifacts",
    ),
    Functions(
        Touched.FILE,
        "no other classes have such methods",
        (),
        "write_text write_bytes writerow writerows writeheader",
    ),
)
"""Methods that tell what an object is, whatever it is called."""


def _expanded(groups: Iterable[Functions]) -> dict[str, Touched]:
    return {
        f"{owner}.{name}": group.touched
        for group in groups
        for owner in group.owners
        for name in group.names.split()
    }


_TOUCHES = _expanded((*FUNCTIONS, *METHODS))
_BEGINNINGS = {name.removesuffix("*"): touched for name, touched in _TOUCHES.items() if name.endswith("*")}
_OWNERS_OF_MANY = frozenset(name.rpartition(".")[0] for name in _BEGINNINGS)
_SENDS = frozenset(
    f"{owner}.{name}" for owners, names in COLLECTIVES.items() for owner in owners for name in names.split()
)
_UNSTEADY = {f"{owner}.{name}": kind for (kind, owner), names in UNSTEADY.items() for name in names.split()}
_UNMISTAKABLE = {name: group.touched for group in UNMISTAKABLE for name in group.names.split()}
_LOGGING = frozenset(name for group in METHODS if LOGGER in group.owners for name in group.names.split())

CLASSES = frozenset(owner for group in METHODS for owner in group.owners)
"""The classes whose methods are known."""


def touched_by(name: str) -> Touched | None:
    """What a function, or a method of a class, touches outside the program."""
    touched = _TOUCHES.get(name)
    if touched is not None:
        return touched
    owner, _, last = name.rpartition(".")
    if owner in _OWNERS_OF_MANY:
        return next((kind for start, kind in _BEGINNINGS.items() if name.startswith(start)), None)
    return touched_by_method(owner.rpartition(".")[2], last)


def is_ones_own(name: str) -> bool:
    """Whether what a method touches belongs to whoever made its object."""
    return name.rpartition(".")[0] in _OWN


def communicates(name: str) -> bool:
    """Whether a function communicates with other ranks."""
    return name in _SENDS or name.removesuffix(".default") in _SENDS


def changes_its_first(name: str) -> bool:
    """Whether a function changes the tensor, or the tensors, that it is handed first."""
    owner, _, last = name.rpartition(".")
    if owner == "torch":
        return last.startswith("_foreach_") and last.endswith("_")
    return owner in _WRITING_OWNERS and last in _RECEIVING.split()


def unsteady(name: str) -> Unsteady | None:
    """Why what a function returns, or what a name stands for, may be another value on replay."""
    return _UNSTEADY.get(name)


def made_by(name: str) -> str | None:
    """The class of what a function returns, where it is one whose methods are known."""
    return MADE_BY.get(name) or (name if name in CLASSES else None)


def touched_by_method(receiver: str, method: str) -> Touched | None:
    """What a method touches, of an object of which only the last name is known."""
    name = receiver.lower().strip("_")
    if method in _LOGGING and (name in LOGGER_NAMES or name.endswith("logger")):
        return Touched.LOG
    if name in TRACKER_NAMES and method == "log":
        return Touched.METRIC
    if name.endswith("queue") and method in ("put", "put_nowait", "get_nowait"):
        return Touched.QUEUE
    return _UNMISTAKABLE.get(method)


_LABELS = frozenset(
    [
        "torch.profiler.record_function",
        "torch.autograd.profiler.record_function",
        "torch.cuda.nvtx.mark",
        "torch.cuda.nvtx.range",
        "torch.cuda.nvtx.range_pop",
        "torch.cuda.nvtx.range_push",
    ]
)
"""Functions that name what a profiler sees."""


def only_tells(name: str) -> bool:
    """Whether a function does nothing but tell something, or wait: nothing that is computed depends on it."""
    owner, _, method = name.rpartition(".")
    told_by_logger = method in _QUIET and touched_by(f"{owner}.info") is Touched.LOG
    return told_by_logger or touched_by(name) is not None or name in _WAITS or name in _LABELS


def only_tells_by_method(receiver: str, method: str) -> bool:
    """The same for a method of something of which only the last name is known."""
    if method in _QUIET:
        return touched_by_method(receiver, "info") is not None
    return touched_by_method(receiver, method) is not None
