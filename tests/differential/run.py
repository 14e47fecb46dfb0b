"""Any number of random programs, by hand: ``python -m tests.differential.run --count 20000 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import torch

from tests.differential.disagreement import disagreements, smallest
from tests.differential.oracle import compare
from tests.differential.programs import seeded_program


def main() -> int:
    """Print the totals; disagreements are made small and printed, up to ``--show``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; program n has seed+n")
    parser.add_argument("--show", type=int, default=20, help="how many disagreements to reduce and print")
    options = parser.parse_args()
    torch.set_num_threads(1)
    totals: Counter[str] = Counter()
    shown = 0
    start = time.monotonic()
    for seed in range(options.seed, options.seed + options.count):
        source = seeded_program(seed)
        kinds = _count(seed, source, totals)
        if kinds and shown < options.show:
            shown += 1
            sys.stdout.write(f"=== seed {seed}: {smallest(source)}\n\n")
            sys.stdout.flush()
    judged = options.count - totals["discarded"]
    sys.stdout.write(
        f"programs {options.count}, judged {judged}, missed {totals['missed']}, false {totals['false']}, "
        f"bad fixes {totals['bad fixes']}, discarded {totals['discarded']}, "
        f"{time.monotonic() - start:.0f} s\n"
    )
    return 1 if totals["missed"] or totals["false"] or totals["bad fixes"] else 0


def _count(seed: int, source: str, totals: Counter[str]) -> bool:
    try:
        judgement = compare(source).judgement.value
        kinds = disagreements(source) if judgement != "discarded" else {}
    except Exception as error:
        raise RuntimeError(f"seed {seed}:\n{source}") from error
    totals[judgement] += 1
    totals["bad fixes"] += bool(kinds) and judgement == "agreed"
    return bool(kinds)


if __name__ == "__main__":
    sys.exit(main())
