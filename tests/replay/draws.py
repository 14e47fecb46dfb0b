"""Every source of randomness of SEMANTICS section 3, spelled in many ways, and what only looks like one."""

from __future__ import annotations

from tests.replay.deeds import DIVERGES, WRONG, Deed, Expected, Stream, draw

IMAGE = "t.view(2, 2, 2, 4)"
HEADS = "q = t.view(1, 1, 4, 8)\n"

_TORCH = [
    "!y = F.dropout(t, 0.5)",
    "!y = F.dropout(t)",
    "!y = F.dropout(t, p=0.3, training=True)",
    "!y = torch.nn.functional.dropout(t, 0.5)",
    "!y = torch.dropout(t, 0.5, True)",
    "!y = torch.native_dropout(t, 0.5, True)[0]",
    "!y = F.dropout(t * 2, 0.5, inplace=True)",
    "!y = F.dropout1d(t.view(2, 2, 8), 0.5).view(4, 8)",
    f"!y = F.dropout2d({IMAGE}, 0.5).view(4, 8)",
    "!y = F.dropout3d(t.view(2, 2, 2, 2, 2), 0.5).view(4, 8)",
    "!y = F.alpha_dropout(t, 0.5, training=True)",
    f"!y = F.feature_alpha_dropout({IMAGE}, 0.5, training=True).view(4, 8)",
    "!y = F.rrelu(t, training=True)",
    "!y = F.gumbel_softmax(t)",
    "!y = F.fractional_max_pool2d(t.view(1, 1, 1, 32), (1, 2), output_size=(1, 19)).sum() * t",
    "!y = t * torch.rand(4, 8)",
    "!y = t * torch.rand_like(t)",
    "!y = t * torch.randn(8)",
    "!y = t + torch.randn_like(t)",
    "!y = t * torch.randint(1, 9, (4, 8))",
    "!y = t * torch.randint_like(t, 1, 9)",
    "!y = t[:, torch.randperm(8)]",
    "!y = t * torch.bernoulli(torch.full_like(t, 0.5))",
    "!y = t * torch.full_like(t, 0.5).bernoulli()",
    "!noise = torch.empty_like(t).bernoulli_(0.5)\ny = t * noise",
    "!noise = torch.empty_like(t).normal_()\ny = t * noise",
    "noise = torch.empty(4, 8)\n!noise.uniform_()\ny = t * noise",
    "noise = t.new_empty((4, 1))\n!noise.bernoulli_(0.5)\ny = t * noise",
    "!y = t * torch.empty_like(t).exponential_()",
    "!y = t * torch.empty_like(t).log_normal_()",
    "!y = t * torch.empty_like(t).random_(1, 9)",
    "!y = t * torch.normal(0.0, 1.0, (4, 8))",
    "!y = t * torch.normal(t.detach(), 1.0)",
    "!y = t[:, torch.multinomial(torch.ones(8), 8)]",
    "!y = t * torch.poisson(torch.full_like(t, 3.0))",
    "!y = t * torch.binomial(torch.full((8,), 9.0), torch.full((8,), 0.5))",
    "!y = torch.distributions.Normal(t, 1.0).rsample()",
    "!y = t * torch.distributions.Normal(0.0, 1.0).sample((4, 8))",
    "noise = torch.distributions.Bernoulli(torch.full((4, 8), 0.5))\n!y = t * noise.sample()",
    "choice = torch.distributions.Categorical(logits=t.detach())\n!y = t * choice.sample().unsqueeze(-1)",
    "weight = torch.empty(8, 8)\n!nn.init.normal_(weight)\ny = t @ weight",
    "!weight = nn.init.kaiming_uniform_(torch.empty(8, 8))\ny = t @ weight",
    "!weight = nn.init.trunc_normal_(torch.empty(8, 8))\ny = t @ weight",
    "!weight = nn.init.orthogonal_(torch.empty(8, 8))\ny = t @ weight",
    "!y = nn.Linear(8, 8)(t)",
    "!layer = nn.Linear(8, 8)\ny = layer(t)",
    "!y = t * nn.Embedding(2, 8)(torch.tensor(1))",
    "!scale = nn.Parameter(torch.randn(8))\ny = t * scale",
    "!y = nn.Dropout(0.5)(t)",
    f"{HEADS}!y = F.scaled_dot_product_attention(q, q, q, dropout_p=0.5).view(4, 8)",
    f"{HEADS}!y = F.scaled_dot_product_attention(q, q, q, None, 0.5).view(4, 8)",
    "!keep = torch.rand(t.shape[0], 1) > 0.3\ny = t * keep / 0.7",
    "!keep = 0.7 + torch.rand((t.shape[0],) + (1,) * (t.ndim - 1))\ny = t / 0.7 * keep.floor()",
    "!place = torch.randint(0, 8, ()).item()\ny = t * t[:, place : place + 1]",
    "!scale = torch.rand(()).item()\ny = t * scale",
]

_TORCH_MODULES = {
    "nn.Dropout(0.5)": "$part(t)",
    "nn.Dropout()": "$part(t)",
    "nn.Dropout(p=0.2, inplace=False)": "$part(t)",
    "nn.Dropout1d(0.5)": "$part(t.view(2, 2, 8)).view(4, 8)",
    "nn.Dropout2d(0.5)": f"$part({IMAGE}).view(4, 8)",
    "nn.Dropout3d(0.5)": "$part(t.view(2, 2, 2, 2, 2)).view(4, 8)",
    "nn.AlphaDropout(0.5)": "$part(t)",
    "nn.FeatureAlphaDropout(0.5)": f"$part({IMAGE}).view(4, 8)",
    "nn.RReLU()": "$part(t)",
    "nn.FractionalMaxPool2d((1, 2), output_size=(1, 19))": "$part(t.view(1, 1, 1, 32)).sum() * t",
    "nn.MultiheadAttention(8, 2, dropout=0.5)": "$part(t, t, t)[0]",
    "nn.TransformerEncoderLayer(8, 2, 16, dropout=0.5)": "$part(t)",
    "nn.TransformerEncoderLayer(8, 2, 16)": "$part(t)",
    "nn.TransformerDecoderLayer(8, 2, 16)": "$part(t, t)",
    "nn.GRU(8, 8, 2, dropout=0.5)": "$part(t)[0]",
    "nn.LSTM(8, 8, num_layers=2, dropout=0.5)": "$part(t)[0]",
    "nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5))": "$part(t)",
    "nn.ModuleList([nn.Linear(8, 8), nn.Dropout(0.5)])": "$part[1]($part[0](t))",
    'nn.ModuleDict({"drop": nn.Dropout(0.5)})': '$part["drop"](t)',
    "nn.Linear(8, 8)": "F.dropout($part(t), 0.5, training=$part.training)",
    "nn.Softplus()": "F.dropout(t, 0.5, $part.training)",
}

_GENERATOR = [
    "!y = t * torch.rand(4, 8, generator=$generator)",
    "!y = t * torch.randn(8, generator=$generator)",
    "!y = t * torch.empty_like(t).normal_(generator=$generator)",
    "!y = t * torch.bernoulli(torch.full_like(t, 0.5), generator=$generator)",
    "!y = t[:, torch.randperm(8, generator=$generator)]",
    "!y = t[:, torch.multinomial(torch.ones(8), 8, generator=$generator)]",
    "!y = t * torch.normal(0.0, 1.0, (4, 8), generator=$generator)",
    "weight = torch.empty(8, 8)\n!nn.init.normal_(weight, generator=$generator)\ny = t @ weight",
]

_PYTHON = [
    "!y = t * random.random()",
    "!y = t * random.uniform(1.0, 2.0)",
    "!y = t * random.gauss(0.0, 1.0)",
    "!y = t * random.getrandbits(16)",
    "!y = t * random.randint(1, 999)",
    "!y = t[:, random.sample(range(8), 8)]",
    "order = list(range(8))\n!random.shuffle(order)\ny = t[:, order]",
    "!scale = random.choice(range(1, 999))\ny = t * scale",
]

_NUMPY = [
    "!y = t * np.random.rand()",
    "!y = t * np.random.uniform()",
    "!y = t * np.random.randint(1, 999)",
    "!y = t[:, np.random.permutation(8)]",
    "!noise = torch.from_numpy(np.random.randn(4, 8)).float()\ny = t * noise",
    "!y = t * float(np.random.normal())",
]

_NUMPY_OBJECT = [
    "!y = t * $rng.random()",
    "!y = t * int($rng.integers(1, 999))",
    "!noise = torch.from_numpy($rng.normal(size=(4, 8))).float()\ny = t * noise",
    "!y = t[:, $rng.permutation(8)]",
]

_UNRESTORABLE = [
    "!y = t * time.time()",
    "!y = t * time.perf_counter()",
    "!y = t * time.monotonic()",
    "!now = time.time_ns() % 7\n!y = t * now",
    "!y = t * os.urandom(1)[0]",
    "!y = t * random.SystemRandom().random()",
    "!y = t * (uuid.uuid4().int % 999)",
    "!y = t * secrets.randbelow(999)",
    "!y = t * secrets.token_bytes(1)[0]",
    "!y = t * np.random.default_rng().random()",
    "!y = t * (torch.seed() % 7)",
    "!now = datetime.datetime.now().microsecond\n!y = t * now",
    "!if int(time.time()) % 2:\n    t = t * 3\ny = t.exp()",
]

_NOTHING = [
    "y = F.dropout(t, 0.0)",
    "y = F.dropout(t, p=0)",
    "y = F.dropout(t, 0.5, training=False)",
    "y = F.dropout(t, 0.5, False)",
    "y = F.alpha_dropout(t, 0.5)",
    "y = F.rrelu(t)",
    "y = nn.Dropout(0.5).eval()(t)",
    "y = nn.LayerNorm(8)(t)",
    f"{HEADS}y = F.scaled_dot_product_attention(q, q, q).view(4, 8)",
    f"{HEADS}y = F.scaled_dot_product_attention(q, q, q, is_causal=True).view(4, 8)",
    f"{HEADS}y = F.scaled_dot_product_attention(q, q, q, dropout_p=0.0).view(4, 8)",
    "fresh = torch.Generator().manual_seed(3)\ny = t * torch.rand(8, generator=fresh)",
    "fresh = torch.Generator()\nfresh.manual_seed(3)\ny = t * torch.rand(8, generator=fresh)",
    "fresh = np.random.default_rng(0)\ny = t * fresh.random()",
    "fresh = np.random.RandomState(0)\ny = t * fresh.rand()",
    "y = t * random.Random(3).random()",
    "with torch.random.fork_rng():\n    torch.manual_seed(3)\n    noise = torch.rand_like(t)\ny = t * noise",
    "with torch.random.fork_rng(devices=[]):\n    torch.manual_seed(3)\n    y = F.dropout(t, 0.5)",
    "weight = nn.init.zeros_(torch.empty(8))\ny = t + weight",
    "weight = nn.init.constant_(torch.empty(8), 2.0)\ny = t * weight",
    "scores = torch.distributions.Normal(0.0, 1.0).log_prob(t)\ny = t * scores",
    "start = time.perf_counter()\ny = t * 2\nelapsed = time.perf_counter() - start",
    "y = t * torch.empty_like(t).fill_(2.0)",
    "y = t * table(8)",
    "y = t * remembered_noise(8)",
    "if 0 > 1:\n    t = F.dropout(t, 0.5)\ny = t * 2",
]

_SEEDED = [
    "torch.manual_seed(3)\ny = t * torch.rand_like(t)",
    "torch.manual_seed(3)\ny = F.dropout(t, 0.5)",
    "random.seed(3)\ny = t * random.random()",
    "np.random.seed(3)\ny = t * np.random.rand()",
]

_QUIET_MODULES = {
    "nn.Dropout(0.0)": "$part(t)",
    "nn.Dropout(0.5).eval()": "$part(t)",
    "nn.RReLU().eval()": "$part(t)",
    "nn.Identity()": "$part(t)",
    "nn.MultiheadAttention(8, 2)": "$part(t, t, t)[0]",
    "nn.TransformerEncoderLayer(8, 2, 16, dropout=0.0)": "$part(t)",
    "nn.TransformerEncoderLayer(8, 2, 16).eval()": "$part(t)",
    "nn.GRU(8, 8, 2)": "$part(t)[0]",
    "nn.Sequential(nn.Linear(8, 8), nn.Dropout(0.5)).eval()": "$part(t)",
}

_BRANCHES = {
    Stream.TORCH: "torch.rand(()) < 0.5",
    Stream.PYTHON: "random.random() < 0.5",
    Stream.NUMPY: "np.random.rand() < 0.5",
}

_SETUP = """\
@functools.lru_cache(maxsize=None)
def table(size):
    return torch.arange(float(size))


@functools.lru_cache(maxsize=None)
def remembered_noise(size):
    return torch.rand(size)
"""


def _module(stream: Stream, constructor: str, call: str) -> Deed:
    direct = "part" if call == "$part(t)" else ""
    draws = stream is not Stream.NOTHING
    use = f"{'!' if draws else ''}y = {call}"
    name = constructor if direct else f"{constructor}: {call}"
    return draw(stream, use, name, parts={"part": constructor}, callable=direct, in_training=draws)


def _objects() -> list[Deed]:
    generator = {"generator": "torch.Generator().manual_seed(7)"}
    draws = [draw(Stream.GENERATOR, use, parts=generator) for use in _GENERATOR]
    for use in ("!y = t * $dice.random()", "!y = t * $dice.choice(range(1, 999))"):
        draws.append(draw(Stream.PYTHON_OBJECT, use, parts={"dice": "random.Random(3)"}))
    draws += [draw(Stream.NUMPY_OBJECT, u, parts={"rng": "np.random.default_rng(5)"}) for u in _NUMPY_OBJECT]
    legacy = {"rng": "np.random.RandomState(5)"}
    return [*draws, draw(Stream.NUMPY_LEGACY_OBJECT, "!y = t * $rng.rand()", parts=legacy)]


_COUNTER = """\
class Counter:
    def __init__(self):
        self.value = 0

    def next_seed(self):
!        self.value += 1
        return self.value
"""


def _seeded_by_a_counter() -> Deed:
    use = (
        "!fresh = torch.Generator().manual_seed($counter.next_seed())\ny = t * torch.rand(8, generator=fresh)"
    )
    twice = Expected(WRONG, state=True)
    parts = {"counter": "Counter()"}
    return draw(Stream.COUNTER, use, "seeded by a counter", parts=parts, setup=_COUNTER, replayed=twice)


def _stochastic_depth(stream: Stream, condition: str) -> Deed:
    use = f"!if {condition}:\n    y = (t * 2).sin()\nelse:\n    y = t * 3"
    return draw(stream, use, f"branch on {condition}", replayed=Expected(DIVERGES))


DRAWS: list[Deed] = [
    *(draw(Stream.TORCH, use) for use in _TORCH),
    *(_module(Stream.TORCH, *item) for item in _TORCH_MODULES.items()),
    *_objects(),
    _seeded_by_a_counter(),
    *(draw(Stream.PYTHON, use) for use in _PYTHON),
    *(draw(Stream.NUMPY, use) for use in _NUMPY),
    *(draw(Stream.UNRESTORABLE, use) for use in _UNRESTORABLE),
    *(_stochastic_depth(*item) for item in _BRANCHES.items()),
]
"""What draws."""

SILENT: list[Deed] = [
    *(draw(Stream.NOTHING, use, setup=_SETUP) for use in _NOTHING),
    *(draw(Stream.NOTHING, use) for use in _SEEDED),
    draw(Stream.NOTHING, "y = t * $noise", "drawn before", parts={"noise": "torch.rand(4, 8)"}),
    *(_module(Stream.NOTHING, *item) for item in _QUIET_MODULES.items()),
]
"""What looks as if it drew."""
