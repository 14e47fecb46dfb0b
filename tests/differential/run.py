"""Any number of random programs, by hand: ``python -m tests.differential.run --count 20000 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import torch

from tests.differential.oracle import MARK, Comparison, Judgement, compare
from tests.differential.programs import seeded_program
from tests.differential.reduction import reduce_program


def main() -> int:
    """Print the totals; every disagreement is made small and printed, up to ``--show``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; program n has seed+n")
    parser.add_argument("--show", type=int, default=20, help="how many disagreements to reduce and print")
    parser.add_argument("--whole", action="store_true", help="print them as they were drawn")
    options = parser.parse_args()
    torch.set_num_threads(1)
    totals: Counter[str] = Counter()
    shown = 0
    start = time.monotonic()
    for seed in range(options.seed, options.seed + options.count):
        comparison = _compared(seed)
        totals[comparison.judgement.value] += 1
        if comparison.judgement in (Judgement.MISSED, Judgement.FALSE) and shown < options.show:
            shown += 1
            _show(seed, comparison if options.whole else reduced(comparison))
    judged = options.count - totals["discarded"]
    sys.stdout.write(
        f"programs {options.count}, judged {judged}, missed {totals['missed']}, false {totals['false']}, "
        f"discarded {totals['discarded']}, {time.monotonic() - start:.0f} s\n"
    )
    return 1 if totals["missed"] or totals["false"] else 0


def _compared(seed: int) -> Comparison:
    source = seeded_program(seed)
    try:
        return compare(source)
    except Exception as error:
        raise RuntimeError(f"seed {seed}:\n{source}") from error


def reduced(comparison: Comparison) -> Comparison:
    """The same disagreement in a smaller program."""

    def holds(source: str) -> bool:
        try:
            return compare(source).judgement is comparison.judgement
        except Exception:  # noqa: BLE001 - a variant that the linter fails on is another matter
            return False

    return compare(reduce_program(comparison.source, MARK, holds))


def _show(seed: int, comparison: Comparison) -> None:
    text = str(comparison)
    first, _, rest = text.partition("\n")
    sys.stdout.write(f"=== seed {seed} {first}\n{rest[rest.find(MARK) + len(MARK) :].strip()}\n\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
