"""Any number of programs, by hand: ``python -m tests.replay.run --count 2000 --seed 1``."""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter

import torch

from tests.replay.cases import covering_cases, seeded_case
from tests.replay.comparison import Comparison, compare
from tests.replay.expectations import contradiction
from tests.replay.writer import program_of


def main() -> int:
    """Print the totals, and the first of each kind of disagreement, up to ``--show`` of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=0, help="programs by chance; none: the covering set")
    parser.add_argument("--seed", type=int, default=0, help="the first seed; program n has seed+n")
    parser.add_argument("--show", type=int, default=2, help="how many of each kind to print")
    parser.add_argument("--kind", default="", help="print only kinds that contain this")
    options = parser.parse_args()
    torch.set_num_threads(1)
    seeds = range(options.seed, options.seed + options.count)
    cases = [seeded_case(seed) for seed in seeds] or covering_cases()
    kinds: Counter[str] = Counter()
    unusable = contradicting = 0
    start = time.monotonic()
    for case in cases:
        comparison = compare(program_of(case))
        unusable += not comparison.verdicts
        against = contradiction(case, comparison.verdicts)
        if against:
            contradicting += 1
            sys.stdout.write(f"contradicts SEMANTICS: {against}\n{comparison}\n\n")
        if not comparison.kind:
            continue
        kind = _kind(comparison)
        kinds[kind] += 1
        if options.kind in kind and kinds[kind] <= options.show:
            sys.stdout.write(f"{comparison}\n\n")
            sys.stdout.flush()
    sys.stdout.writelines(f"{number:6d}  {kind}\n" for kind, number in kinds.most_common())
    sys.stdout.write(
        f"programs {len(cases)}, unusable {unusable}, against SEMANTICS {contradicting}, "
        f"disagreements {kinds.total()}, {time.monotonic() - start:.0f} s\n"
    )
    return 1 if kinds or contradicting else 0


def _kind(comparison: Comparison) -> str:
    """The disagreement, with the deeds that are in it."""
    deeds = " + ".join(sorted({site.deed.name for site in comparison.program.case.sites}))
    codes = ", ".join(sorted({finding.code for finding in comparison.findings}))
    return f"{comparison.kind}: {deeds} ({codes or 'silent'})"


if __name__ == "__main__":
    sys.exit(main())
