"""Any number of random programs, by hand: ``python -m tests.differential.run --count 20000 --seed 1``."""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from multiprocessing import get_context

import torch

from tests.differential.disagreement import lasting, smallest
from tests.differential.oracle import Comparison, Judgement
from tests.differential.programs import seeded_program

BAD_FIX = "bad fix"
UNSTABLE = "unstable"
"""A disagreement that is gone when the same program is run once more."""


def main() -> int:
    """Print the totals; disagreements are made small and printed, up to ``--show``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=0, help="the first seed; program n has seed+n")
    parser.add_argument("--show", type=int, default=20, help="how many disagreements to reduce and print")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes, of one thread each")
    options = parser.parse_args()
    torch.set_num_threads(1)
    totals: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    start = time.monotonic()
    try:
        with _outcomes(options.jobs, range(options.seed, options.seed + options.count)) as outcomes:
            for seed, outcome, kind in outcomes:
                found = _confirmed(seed, outcome, kind)
                totals[found] += 1
                if totals.total() % 1000 == 0:
                    sys.stderr.write(_summary(totals, time.monotonic() - start))
                if not kind or found == UNSTABLE:
                    continue
                kinds[kind] += 1
                if kinds.total() <= options.show:
                    sys.stdout.write(f"=== seed {seed}: {smallest(seeded_program(seed))}\n\n")
                    sys.stdout.flush()
    except KeyboardInterrupt:
        sys.stdout.write("interrupted\n")
    sys.stdout.writelines(f"{number:6d}  {kind}\n" for kind, number in kinds.most_common())
    sys.stdout.write(_summary(totals, time.monotonic() - start))
    return 1 if kinds else 0


@contextmanager
def _outcomes(jobs: int, seeds: Iterable[int]) -> Iterator[Iterator[tuple[int, str, str]]]:
    """What became of the programs of some seeds, in order."""
    if jobs == 1:
        yield map(_outcome, seeds)
        return
    with get_context("spawn").Pool(jobs, torch.set_num_threads, (1,)) as pool:
        yield pool.imap(_outcome, seeds, chunksize=10)


def _outcome(seed: int) -> tuple[int, str, str]:
    """The seed, how linter, fixer and runtime compare, and the kind of their disagreement."""
    source = seeded_program(seed)
    try:
        comparison, kinds, unstable = lasting(source)
    except Exception as error:
        raise RuntimeError(f"seed {seed}:\n{source}") from error
    if unstable:
        return seed, UNSTABLE, ""
    judgement = comparison.judgement
    if judgement is Judgement.AGREED and kinds:
        return seed, BAD_FIX, f"{BAD_FIX}: {min(kinds)}"
    if judgement is Judgement.FALSE:
        return seed, judgement.value, f"{judgement.value}: {', '.join(sorted(_operations(comparison)))}"
    return seed, judgement.value, "missed" if judgement is Judgement.MISSED else ""


def _operations(comparison: Comparison) -> set[str]:
    """What was reported, by rule and operation."""
    said = ((finding.code, re.match(r"`[^`]*?([^`.]+)`", finding.message)) for finding in comparison.findings)
    return {f"{code} {match[1] if match else ''}".strip() for code, match in said}


def _confirmed(seed: int, outcome: str, kind: str) -> str:
    """The outcome, if a disagreement that another process saw is seen in this one too."""
    if not kind:
        return outcome
    _, kinds, _ = lasting(seeded_program(seed))
    return outcome if kinds else UNSTABLE


def _summary(totals: Counter[str], seconds: float) -> str:
    """The last line."""
    judged = totals.total() - totals[Judgement.DISCARDED.value]
    figures = [f"programs {totals.total()}", f"judged {judged}"]
    figures += [f"{name} {totals[name]}" for name in ("missed", "false", BAD_FIX, UNSTABLE, "discarded")]
    return ", ".join([*figures, f"{seconds:.0f} s"]) + "\n"


if __name__ == "__main__":
    sys.exit(main())
