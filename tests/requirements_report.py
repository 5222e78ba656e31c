"""A pytest plugin that ties tests to docs/requirements.toml, in both directions.

Owns the meaning of `@pytest.mark.req(...)`: an id that the document does not know is an error
at collection, and a run of the whole suite ends with the ids that no passing test names, which
fail it unless a test was skipped that may name them. Also turns skips into failures where
HARNESS_REQUIRE_TOOLS=1 says that nothing may be missing. Works the same in one process and
under xdist, since all it learns travels in the tests' reports.
"""

import functools
import os
import tomllib
from collections.abc import Collection, Generator, Iterable
from pathlib import Path

import pytest

DOCUMENT = Path(__file__).parents[1] / "docs" / "requirements.toml"
REQUIRE_TOOLS = "HARNESS_REQUIRE_TOOLS"
_PROPERTY = "requirements"


@functools.cache
def requirements() -> dict[str, str]:
    """Return what proves each requirement ("test", "bench" or "survive"), in document order."""
    entries = tomllib.loads(DOCUMENT.read_text(encoding="utf-8"))["requirement"]
    return {entry["id"]: entry["by"] for entry in entries}


def unproved(proved: Collection[str]) -> list[str]:
    """Return, in document order, the ids that a test has to prove and none did."""
    return [name for name, by in requirements().items() if by == "test" and name not in proved]


def pytest_configure(config: pytest.Config) -> None:
    config.pluginmanager.register(_Proofs())


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(
    collector: pytest.Collector,
) -> Generator[None, pytest.CollectReport, pytest.CollectReport]:
    report = yield
    # A failed report, rather than an exception from a later hook, reads as an error of that
    # file and reaches the controller of a distributed run like any other.
    if complaints := list(_unknown_ids(report.result or ())):
        report.outcome, report.longrepr, report.result = "failed", "\n".join(complaints), []
    elif report.outcome == "skipped" and _nothing_may_be_missing():
        report.outcome, report.longrepr = "failed", _missing(report.longrepr)
    return report


def pytest_itemcollected(item: pytest.Item) -> None:
    if names := sorted(set(_named(item))):
        item.user_properties.append((_PROPERTY, " ".join(names)))


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport() -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if _left_out(report) and _nothing_may_be_missing():
        report.outcome, report.longrepr = "failed", _missing(report.longrepr)
    return report


class _Proofs:
    """Gathers the ids that passing tests name, and lists the rest when all tests have run."""

    def __init__(self) -> None:
        self._proved: set[str] = set()
        self._all_collected = True
        self._some_left_out = False

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        self._all_collected &= not report.failed
        self._some_left_out |= report.skipped

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" and report.passed:
            self._proved.update(str(dict(report.user_properties).get(_PROPERTY, "")).split())
        self._some_left_out |= _left_out(report)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        passed = session.exitstatus == pytest.ExitCode.OK and not self._some_left_out
        # A worker knows of its own tests alone.
        counts = passed and not hasattr(session.config, "workerinput")
        whole = counts and self._saw_everything(session.config, session.exitstatus)
        if whole and unproved(self._proved):
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter, exitstatus: int, config: pytest.Config
    ) -> None:
        if not self._saw_everything(config, exitstatus):
            return
        missing, total = unproved(self._proved), list(requirements().values()).count("test")
        terminalreporter.write_line(
            f"requirements: {total - len(missing)} of {total} are named by a passing test"
            + (f"; not yet: {' '.join(missing)}" if missing else "")
        )

    def _saw_everything(self, config: pytest.Config, exitstatus: int) -> bool:
        return self._all_collected and _ran_everything(config, exitstatus)


def _ran_everything(config: pytest.Config, exitstatus: int) -> bool:
    """Tell whether nothing was selected or cut short, so that what is missing means something."""
    options = ("keyword", "markexpr", "deselect", "ignore", "ignore_glob", "lf", "stepwise")
    chosen = any(config.getoption(name, False) for name in options)
    cut_short = config.getoption("maxfail") and exitstatus != pytest.ExitCode.OK
    whole = {config.rootpath, config.rootpath / "tests"}
    asked = {(config.invocation_params.dir / argument).resolve() for argument in config.args}
    ended = exitstatus in (pytest.ExitCode.OK, pytest.ExitCode.TESTS_FAILED)
    return ended and asked <= whole and not chosen and not cut_short


def _named(item: pytest.Item) -> Iterable[str]:
    for mark in item.iter_markers("req"):
        yield from mark.args


def _unknown_ids(nodes: Iterable[pytest.Item | pytest.Collector]) -> Iterable[str]:
    for node in nodes:
        if isinstance(node, pytest.Item):
            for name in _named(node):
                if name not in requirements():
                    yield f"{node.nodeid} names {name!r}, not in docs/requirements.toml"


def _left_out(report: pytest.TestReport) -> bool:
    """An expected failure also counts as skipped; it says something of us, not of the machine."""
    return report.skipped and not hasattr(report, "wasxfail")


def _nothing_may_be_missing() -> bool:
    return os.environ.get(REQUIRE_TOOLS) == "1"


def _missing(longrepr: object) -> str:
    reason = longrepr[2] if isinstance(longrepr, tuple) else longrepr
    return f"{reason}\n({REQUIRE_TOOLS}=1: what a test needs must be there, so no test may skip)"
