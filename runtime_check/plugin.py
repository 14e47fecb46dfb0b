"""The pytest plugin: the fixture and the marker ``remat_check``, and ``--remat-json FILE``.

pytest loads it in every run of an environment that this package is installed in, so nothing here imports
torch before a test asks for a check.

    def test_block(remat_check):
        remat_check(lambda: (Block(), torch.randn(2, 8)), policies=["attention.*"])

    @pytest.mark.remat_check(seeds=(0, 1))
    def test_model():
        return Model(), torch.randn(2, 8)
"""

from __future__ import annotations

import json
from collections.abc import Callable, Generator, Iterator, Mapping
from dataclasses import fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn

import pytest

if TYPE_CHECKING:
    from remat_lint.runtime_check.bench import Target
    from remat_lint.runtime_check.checker import CheckResult, Options

_MARKER = "remat_check(**options): check the step that the test returns, as (module, inputs) or a Case"
_RECORDS = pytest.StashKey[list[dict[str, Any]]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--remat-json``."""
    group = parser.getgroup("remat-check", "checks of checkpointed steps")
    group.addoption(
        "--remat-json", metavar="FILE", type=Path, help="write the records of all checks there, as a list"
    )


def pytest_configure(config: pytest.Config) -> None:
    """The marker, and a file that can be written."""
    config.addinivalue_line("markers", _MARKER)
    file: Path | None = config.getoption("--remat-json")
    if file is not None and (file.is_dir() or not file.absolute().parent.is_dir()):
        raise pytest.UsageError(f"--remat-json {file} cannot be written: there is no such folder")
    if not hasattr(config, "workerinput"):  # a worker of pytest-xdist hands its reports on
        config.pluginmanager.register(_Records(file and file.absolute()), "remat-check records")


@pytest.fixture
def remat_check(request: pytest.FixtureRequest) -> Callable[..., CheckResult]:
    """Checks a step, given as a factory or by ``package.module:factory``; the test fails where it breaks.

    The options are those of ``remat_lint.runtime_check.Options``; ``device`` is the CPU unless it is
    given. What is inconclusive fails, too, with a message of its own, unless ``inconclusive_ok=True``
    says otherwise. Returns the ``CheckResult``.
    """

    def check(target: Target, **options: Any) -> CheckResult:
        __tracebackhide__ = True
        return _checked(request.node, target, options)

    return check


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test with the marker is the factory of its step."""
    marker = pyfuncitem.get_closest_marker("remat_check")
    if marker is None:
        return None
    if marker.args:
        pytest.fail(
            "the marker remat_check takes options by name only, such as policies=[...]", pytrace=False
        )
    given = {name: pyfuncitem.funcargs[name] for name in pyfuncitem._fixtureinfo.argnames}
    _checked(pyfuncitem, lambda: pyfuncitem.obj(**given), dict(marker.kwargs))
    return True


def _checked(item: pytest.Item, target: Target, given: dict[str, Any]) -> CheckResult:
    """Check, note the record and a line for each policy, and fail where the step does not hold."""
    __tracebackhide__ = True
    try:
        from remat_lint.runtime_check.checker import check
        from remat_lint.runtime_check.deadline import TimedOut
        from remat_lint.runtime_check.errors import UsageError
        from remat_lint.runtime_check.record import as_json, record_of
        from remat_lint.runtime_check.sections import sections_of
    except ImportError as error:
        _fail(f"remat-check needs torch, torch-remat and xxhash: {error}")
    inconclusive_ok = given.pop("inconclusive_ok", False)
    try:
        factory, options = _named(item, target, given)
        result = check(factory, options)
    except UsageError as error:
        _fail(f"remat-check: {error}")
    except TimedOut as error:
        _fail(f"inconclusive: {error}")
    if not isinstance(target, str):
        result = replace(result, target=item.nodeid)
    record = record_of(result, sections_of(result), seeds=options.seeds, test=item.nodeid)
    _note(item, json.loads(as_json(record)))
    _judge(result, inconclusive_ok=inconclusive_ok)
    return result


def _note(item: pytest.Item, record: dict[str, Any]) -> None:
    item.stash.setdefault(_RECORDS, []).append(record)
    item.add_report_section("call", "remat-check", "\n".join(_lines(record)))


def _named(item: pytest.Item, target: Target, given: dict[str, Any]) -> tuple[Target, Options]:
    """The factory and the options; for a text also what ``pyproject.toml`` says of cases."""
    from remat_lint.runtime_check import settings
    from remat_lint.runtime_check.checker import Options
    from remat_lint.runtime_check.errors import UsageError

    known = [field.name for field in fields(Options)]
    unknown = [option for option in given if option not in known]
    if unknown:
        raise UsageError(f"there is no option {unknown[0]}; the options are: {', '.join(known)}")
    if not isinstance(target, str):
        return target, Options(**{"device": "cpu", **given})
    found = settings.load(item.config.rootpath)
    ((name, factory),) = found.targets([target])
    return factory, Options(**{"device": "cpu", **found.for_case(name), **given})


def _lines(record: Mapping[str, Any]) -> Iterator[str]:
    """One for each policy."""
    for one in (*record["policies"], *record["controls"]):
        first = f": {one['findings'][0]}" if one["findings"] else ""
        yield f"{one['name']}: {one['verdict']}{first}"


def _judge(result: CheckResult, *, inconclusive_ok: bool) -> None:
    __tracebackhide__ = True
    from remat_lint.runtime_check.report import rendered
    from remat_lint.runtime_check.verdicts import EXIT_HOLDS, EXIT_INCONCLUSIVE

    if result.exit_status == EXIT_INCONCLUSIVE and not inconclusive_ok:
        _fail(f"inconclusive: nothing was confirmed, which is no pass\n\n{rendered(result)}")
    if result.exit_status not in (EXIT_HOLDS, EXIT_INCONCLUSIVE):
        _fail(rendered(result))


def _fail(message: str) -> NoReturn:
    __tracebackhide__ = True
    pytest.fail(message, pytrace=False)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """The records travel with the report, which may be made in another process than the file."""
    report = yield
    if report.when == "call":
        report.__dict__["remat_check"] = item.stash.get(_RECORDS, [])
    return report


class _Records:
    """The records of all tests, in the process that reports."""

    def __init__(self, file: Path | None) -> None:
        self._file = file
        self._records: list[dict[str, Any]] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._records += getattr(report, "remat_check", [])

    def pytest_sessionfinish(self) -> None:
        if self._file is not None:
            self._file.write_text(json.dumps(self._records, indent=2) + "\n", encoding="utf-8")

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """A line for each policy, under ``-v``."""
        if not self._records or terminalreporter.verbosity < 1:
            return
        terminalreporter.section("remat-check")
        for record in self._records:
            for line in _lines(record):
                terminalreporter.line(f"{record['test']} {line}")
