"""Names that have to do with random states, as data: what draws, seeds, saves and restores which.

Operations of torch that draw are in ``remat_lint.torch_ops``; this is everything else, each entry with its
reason. In: a full name, or a kind of source and the name of a method. Out: what that does, None for others.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache

from remat_lint.analysis.facts import Device, RandomKind


class Does(Enum):
    """What a call does to a random state."""

    DRAW = 0
    SEED = 1
    """Sets it to what its arguments say."""

    SEED_OR_DRAW = 2
    """The same, but without arguments to what the operating system says."""

    SCRAMBLE = 3
    """Sets it to what the operating system says."""

    TAKE = 4
    """Returns a copy of it."""

    GIVE = 5
    """Sets it to a copy that was taken."""

    MAKE = 6
    """Makes a source with a state of its own, which is always the same at first."""

    MAKE_OR_DRAW = 7
    """The same, but without arguments what the operating system says."""

    FORK = 8
    """A context: the state is afterwards what it was before."""

    MODULE = 9
    """Returns the module that has the functions for a device."""


@dataclass(frozen=True, slots=True)
class Role:
    """What a name does, to which state. ``source`` is the kind of source that it makes.

    ``is_number`` says that what is drawn is a number of Python, ``is_tensor`` that it is a tensor, ``device``
    whose state it is.
    """

    does: Does
    kind: RandomKind
    source: str = ""
    is_number: bool = False
    is_tensor: bool = False
    device: Device | None = None


@dataclass(frozen=True, slots=True)
class _Names:
    """A ``role`` for all ``names`` under each of these ``owners``: modules, or kinds of sources."""

    reason: str
    role: Role
    owners: str
    names: str

    def entries(self) -> Iterator[tuple[str, str]]:
        return ((owner, name) for owner in self.owners.split() for name in self.names.split())


_TORCH = "torch torch.random"
_DEFAULT_GENERATOR = "torch.default_generator torch.random.default_generator"
_SEVERAL_DEVICES = "torch.cuda torch.cuda.random torch.xpu torch.xpu.random torch.mtia"
_DEVICES = f"{_SEVERAL_DEVICES} torch.mps"

TORCH_GENERATOR = "torch.Generator"
DISTRIBUTION = "torch.distributions"
PYTHON_RANDOM = "random.Random"
SYSTEM_RANDOM = "random.SystemRandom"
NUMPY_GENERATOR = "numpy.random.Generator"
NUMPY_STATE = "numpy.random.RandomState"
NUMPY_BITS = "numpy.random.BitGenerator"
SOBOL = "torch.quasirandom.SobolEngine"

DEFAULT_GENERATORS = frozenset(_DEFAULT_GENERATOR.split())
"""The source that torch uses where none is given."""

BIT_GENERATOR = "bit_generator"
"""The attribute of a generator of NumPy that has its state."""

STATES = frozenset([(NUMPY_BITS, "state"), (SOBOL, "num_generated")])
"""The attributes of sources that are their state, or tell how far it is."""

_NUMBERS = (
    "random randint randrange uniform gauss normalvariate betavariate binomialvariate expovariate"
    " gammavariate lognormvariate paretovariate triangular vonmisesvariate weibullvariate getrandbits"
)
_PICKS = "choice choices sample shuffle randbytes"
_DISTRIBUTIONS = (
    "beta binomial bytes chisquare choice dirichlet exponential f gamma geometric gumbel hypergeometric"
    " laplace logistic lognormal logseries multinomial multivariate_normal"
    " negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power random"
    " rayleigh shuffle standard_cauchy standard_exponential standard_gamma standard_normal standard_t"
    " triangular uniform vonmises wald weibull zipf"
)
_OLD_NUMPY = f"{_DISTRIBUTIONS} rand randint randn random_integers random_sample"
_NEW_NUMPY = f"{_DISTRIBUTIONS} integers multivariate_hypergeometric permuted"

_TAKE_CPU = Role(Does.TAKE, RandomKind.TORCH, device=Device.CPU)
_TAKE_GPU = Role(Does.TAKE, RandomKind.TORCH, device=Device.GPU)
_GIVE_CPU = Role(Does.GIVE, RandomKind.TORCH, device=Device.CPU)
_GIVE_GPU = Role(Does.GIVE, RandomKind.TORCH, device=Device.GPU)

FUNCTIONS = (
    _Names(
        "the default generators of all devices at once",
        Role(Does.SEED, RandomKind.TORCH),
        f"{_TORCH} {_DEVICES} {_DEFAULT_GENERATOR}",
        "manual_seed",
    ),
    _Names("the same", Role(Does.SEED, RandomKind.TORCH), _SEVERAL_DEVICES, "manual_seed_all"),
    _Names(
        "they seed themselves from the system",
        Role(Does.SCRAMBLE, RandomKind.TORCH),
        f"{_TORCH} {_DEVICES} {_DEFAULT_GENERATOR}",
        "seed",
    ),
    _Names("the same", Role(Does.SCRAMBLE, RandomKind.TORCH), _SEVERAL_DEVICES, "seed_all"),
    _Names("a copy", _TAKE_CPU, _TORCH, "get_rng_state"),
    _Names("the same", _TAKE_GPU, _DEVICES, "get_rng_state"),
    _Names("copies", _TAKE_GPU, _SEVERAL_DEVICES, "get_rng_state_all"),
    _Names(
        "a copy",
        _TAKE_CPU,
        _DEFAULT_GENERATOR,
        "get_state clone_state",
    ),
    _Names("puts it back", _GIVE_CPU, _TORCH, "set_rng_state"),
    _Names("the same", _GIVE_GPU, _DEVICES, "set_rng_state"),
    _Names(
        "puts them back",
        _GIVE_GPU,
        _SEVERAL_DEVICES,
        "set_rng_state_all",
    ),
    _Names("puts it back", _GIVE_CPU, _DEFAULT_GENERATOR, "set_state"),
    _Names(
        "what torch.utils.checkpoint itself saves and restores",
        _TAKE_GPU,
        "torch.utils.checkpoint",
        "get_device_states",
    ),
    _Names(
        "what torch.utils.checkpoint itself saves and restores",
        _GIVE_GPU,
        "torch.utils.checkpoint",
        "set_device_states",
    ),
    _Names(
        "a context that puts back what it found",
        Role(Does.FORK, RandomKind.TORCH),
        "torch.random",
        "fork_rng",
    ),
    _Names(
        "the module of a device has the functions of torch.cuda",
        Role(Does.MODULE, RandomKind.TORCH),
        "torch",
        "get_device_module",
    ),
    _Names(
        "its first state is a constant (measured)",
        Role(Does.MAKE, RandomKind.OBJECT, TORCH_GENERATOR),
        "torch torch._C",
        "Generator",
    ),
    _Names(
        "a sequence of its own, which scrambling draws from torch's state unless it has a seed (measured)",
        Role(Does.MAKE, RandomKind.OBJECT, SOBOL),
        "torch.quasirandom",
        "SobolEngine",
    ),
    _Names("Python's source", Role(Does.DRAW, RandomKind.PYTHON, is_number=True), "random", _NUMBERS),
    _Names("the same", Role(Does.DRAW, RandomKind.PYTHON), "random", _PICKS),
    _Names("the same", Role(Does.SEED_OR_DRAW, RandomKind.PYTHON), "random", "seed"),
    _Names("the same", Role(Does.TAKE, RandomKind.PYTHON), "random", "getstate"),
    _Names("the same", Role(Does.GIVE, RandomKind.PYTHON), "random", "setstate"),
    _Names("a source", Role(Does.MAKE_OR_DRAW, RandomKind.OBJECT, PYTHON_RANDOM), "random", "Random"),
    _Names(
        "has no state at all",
        Role(Does.MAKE, RandomKind.SYSTEM, SYSTEM_RANDOM),
        "random secrets",
        "SystemRandom",
    ),
    _Names(
        "NumPy's hidden source",
        Role(Does.DRAW, RandomKind.NUMPY),
        "numpy.random",
        f"{_OLD_NUMPY} ranf sample",
    ),
    _Names("the same", Role(Does.SEED_OR_DRAW, RandomKind.NUMPY), "numpy.random", "seed"),
    _Names("the same", Role(Does.TAKE, RandomKind.NUMPY), "numpy.random", "get_state"),
    _Names("the same", Role(Does.GIVE, RandomKind.NUMPY), "numpy.random", "set_state"),
    _Names(
        "sources",
        Role(Does.MAKE_OR_DRAW, RandomKind.OBJECT, NUMPY_GENERATOR),
        "numpy.random",
        "default_rng Generator",
    ),
    _Names(
        "a source", Role(Does.MAKE_OR_DRAW, RandomKind.OBJECT, NUMPY_STATE), "numpy.random", "RandomState"
    ),
    _Names(
        "what a generator of NumPy is made of",
        Role(Does.MAKE_OR_DRAW, RandomKind.OBJECT, NUMPY_BITS),
        "numpy.random",
        "PCG64 PCG64DXSM MT19937 Philox SFC64 SeedSequence",
    ),
    _Names("the system's own bytes", Role(Does.DRAW, RandomKind.SYSTEM), "os", "urandom getrandom"),
    _Names(
        "made of the system's bytes, or of its clock",
        Role(Does.DRAW, RandomKind.SYSTEM),
        "uuid",
        "uuid1 uuid4",
    ),
    _Names(
        "made of the system's bytes",
        Role(Does.DRAW, RandomKind.SYSTEM),
        "secrets",
        "token_bytes token_hex token_urlsafe randbits randbelow choice",
    ),
)

METHODS = (
    _Names("", Role(Does.SEED, RandomKind.OBJECT), TORCH_GENERATOR, "manual_seed"),
    _Names("", Role(Does.SCRAMBLE, RandomKind.OBJECT), TORCH_GENERATOR, "seed"),
    _Names(
        "",
        Role(Does.TAKE, RandomKind.OBJECT),
        TORCH_GENERATOR,
        "get_state clone_state graphsafe_get_state get_offset",
    ),
    _Names(
        "", Role(Does.GIVE, RandomKind.OBJECT), TORCH_GENERATOR, "set_state graphsafe_set_state set_offset"
    ),
    _Names(
        "the methods that sample; everything else is computed",
        Role(Does.DRAW, RandomKind.TORCH),
        DISTRIBUTION,
        "sample rsample sample_n rsample_n",
    ),
    _Names("", Role(Does.DRAW, RandomKind.OBJECT), PYTHON_RANDOM, f"{_NUMBERS} {_PICKS}"),
    _Names("", Role(Does.SEED_OR_DRAW, RandomKind.OBJECT), PYTHON_RANDOM, "seed"),
    _Names("", Role(Does.TAKE, RandomKind.OBJECT), PYTHON_RANDOM, "getstate"),
    _Names("", Role(Does.GIVE, RandomKind.OBJECT), PYTHON_RANDOM, "setstate"),
    _Names("", Role(Does.DRAW, RandomKind.SYSTEM), SYSTEM_RANDOM, f"{_NUMBERS} {_PICKS}"),
    _Names("", Role(Does.DRAW, RandomKind.OBJECT), NUMPY_GENERATOR, _NEW_NUMPY),
    _Names(
        "each call gives others, which are made of how many there were by then",
        Role(Does.DRAW, RandomKind.OBJECT),
        f"{NUMPY_GENERATOR} {NUMPY_BITS}",
        "spawn",
    ),
    _Names("", Role(Does.DRAW, RandomKind.OBJECT), NUMPY_STATE, f"{_OLD_NUMPY} tomaxint"),
    _Names("", Role(Does.SEED_OR_DRAW, RandomKind.OBJECT), NUMPY_STATE, "seed"),
    _Names("", Role(Does.TAKE, RandomKind.OBJECT), NUMPY_STATE, "get_state"),
    _Names("", Role(Does.GIVE, RandomKind.OBJECT), NUMPY_STATE, "set_state"),
    _Names("moves on", Role(Does.DRAW, RandomKind.OBJECT, is_tensor=True), SOBOL, "draw draw_base2"),
    _Names("begins anew, scrambled as before", Role(Does.SEED, RandomKind.OBJECT), SOBOL, "reset"),
    _Names(
        "how a hook gets from there to where it was",
        Role(Does.GIVE, RandomKind.OBJECT),
        SOBOL,
        "fast_forward",
    ),
    _Names("raw numbers", Role(Does.DRAW, RandomKind.OBJECT), NUMPY_BITS, "random_raw"),
)


def function(name: str) -> Role | None:
    """What the function or class of this full name does."""
    owner, _, last = name.rpartition(".")
    found = _functions().get((owner, last))
    if found is None and name.startswith(f"{DISTRIBUTION}.") and last[:1].isupper():
        return Role(Does.MAKE, RandomKind.TORCH, DISTRIBUTION)
    return found


def method(source: str, name: str) -> Role | None:
    """What a method of a kind of source does."""
    return _methods().get((source, name))


@cache
def _functions() -> dict[tuple[str, str], Role]:
    return {entry: names.role for names in FUNCTIONS for entry in names.entries()}


@cache
def _methods() -> dict[tuple[str, str], Role]:
    return {entry: names.role for names in METHODS for entry in names.entries()}
