"""Runs the example, the fault suite and the correct programs on a GPU, and writes one JSON record.

It takes a few minutes at most. The exit status is 0 where the example holds, every fault is reported with
its kind and line, and every correct program passes without a word; 1 otherwise, 2 without a GPU.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(ROOT))

import torch  # noqa: E402

from remat_lint.runtime_check import CheckResult, Options, UsageError, check  # noqa: E402
from remat_lint.runtime_check.environment import environment  # noqa: E402
from remat_lint.runtime_check.record import as_json, record_of  # noqa: E402
from remat_lint.runtime_check.sections import sections_of  # noqa: E402
from tests.runtime_check.loading import loaded_alone  # noqa: E402

EXAMPLE = "examples.llama.case:build"


def main() -> None:
    """Parse the options, run everything and leave with the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--output", type=Path, default=Path("gpu_check.json"), help="where the record goes")
    parser.add_argument(
        "--device", choices=["cuda", "cpu"], default="cuda", help="cpu tries the script itself"
    )
    options = parser.parse_args()
    if options.device == "cuda" and not torch.cuda.is_available():
        print("gpu_check: torch finds no CUDA GPU here", file=sys.stderr)
        sys.exit(2)
    began = time.monotonic()
    record = checked(options.device)
    record["seconds"] = round(time.monotonic() - began, 1)
    options.output.write_text(json.dumps(record, indent=2, allow_nan=False) + "\n", encoding="utf-8")
    print(f"gpu_check: {summary(record)}; the record is {options.output}")
    sys.exit(0 if record["holds"] else 1)


def checked(device: str) -> dict[str, Any]:
    """The whole record; ``holds`` says whether all is as it should be."""
    example = check(EXAMPLE, Options(device=device, memory=True))
    faults = list(_faults(device))
    correct = list(_correct(device))
    return {
        "environment": asdict(environment(example.device, uses_stand_ins=example.uses_stand_ins)),
        "example": json.loads(as_json(record_of(example, sections_of(example)))),
        "faults": faults,
        "correct": correct,
        "holds": example.exit_status == 0
        and all(one["as_expected"] for one in faults)
        and all(one["findings"] == [] for one in correct),
    }


def summary(record: dict[str, Any]) -> str:
    """One line on what is in the record."""
    faults, correct = record["faults"], record["correct"]
    named, silent = sum(one["as_expected"] for one in faults), sum(not one["findings"] for one in correct)
    return (
        f"example {record['example']['verdict']}, {named} of {len(faults)} faults named,"
        f" {silent} of {len(correct)} correct programs silent, {record['seconds']} s"
    )


def _faults(device: str) -> Iterator[dict[str, Any]]:
    suite = loaded_alone("faults")
    inputs = torch.linspace(-1, 1, 32).reshape(4, 8)
    for program in suite.PROGRAMS:
        for form in program.forms:
            expected = {"kind": program.kind.value, "line": suite.line_of_fault(program)}
            result = _result(lambda program=program, form=form: (program(form), inputs), device)
            causes = list(result.causes.values()) if isinstance(result, CheckResult) else []
            found = [
                {"kind": cause.kind.value, "line": cause.place.line if cause.place else None}
                for cause in causes
            ]
            yield {
                "program": f"{program.__name__}-{form}",
                "expected": expected,
                "found": found[0] if found else None,
                "as_expected": found[:1] == [expected],
                "unusable": None if isinstance(result, CheckResult) else str(result),
            }


def _correct(device: str) -> Iterator[dict[str, Any]]:
    for program in loaded_alone("correct").PROGRAMS:
        result = _result(lambda program=program: _with_inputs(program()), device)
        if isinstance(result, CheckResult):
            findings = [finding for one in result.broken for finding in one.findings]
        else:
            findings = [str(result)]
        yield {"program": program.__name__, "findings": findings}


def _with_inputs(module: Any) -> tuple[Any, Any]:
    return module, module.inputs()


def _result(factory: Any, device: str) -> CheckResult | UsageError:
    """One check, or why there is none; what the programs print goes nowhere."""
    with contextlib.redirect_stdout(None):
        try:
            return check(factory, Options(device=device, noise_runs=2, combinations=0))
        except UsageError as error:
            return error


if __name__ == "__main__":
    main()
