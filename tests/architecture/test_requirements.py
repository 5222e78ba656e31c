"""The requirements as data, and the plugin that ties tests to them, on small suites of its own."""

import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from requirements_report import DOCUMENT, REQUIRE_TOOLS, requirements, unproved

HERE = Path(__file__).parents[1]

Run = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    """Run a suite of one file under the plugin."""

    def run(source: str, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        (tmp_path / "tests").mkdir()
        (tmp_path / "tests" / "test_it.py").write_text("import pytest\n" + source)
        (tmp_path / "pytest.ini").write_text("[pytest]\ntestpaths = tests\nmarkers = req\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "requirements_report", *arguments]
        done = subprocess.run(
            [*command, "-p", "no:cacheprovider", "-p", "no:asyncio"],
            cwd=tmp_path,
            env={"PYTHONPATH": str(HERE), **variables},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.stderr == ""
        return done

    return run


PROVES = "@pytest.mark.req('P1', 'K5a')\ndef test_a(): pass\n"
FAILS = "@pytest.mark.req('P2')\ndef test_b(): assert False\n"
SKIPS = "@pytest.mark.req('P3')\ndef test_c(): pytest.skip('no tool')\n"
PROVES_ALL = f"@pytest.mark.req{tuple(requirements())}\ndef test_e(): pass\n"


def test_every_requirement_is_stated_once_and_says_what_proves_it() -> None:
    entries = tomllib.loads(DOCUMENT.read_text(encoding="utf-8"))["requirement"]
    assert len({entry["id"] for entry in entries}) == len(entries)
    proof = {"S": "bench", "R": "survive"}
    for entry in entries:
        assert entry.keys() == {"id", "by", "text"}
        assert entry["by"] == proof.get(entry["id"][0], "test")
        assert len(entry["text"]) > 20


def test_no_requirement_is_missing_from_its_series() -> None:
    lengths = {"P": 33, "C": 21, "K": 36, "F": 12, "S": 15, "R": 10}
    numbered = {f"{letter}{n + 1}" for letter, length in lengths.items() for n in range(length)}
    assert requirements().keys() == numbered | {"K5a", "K10a", "K13a"}


def test_unproved_are_those_for_tests_alone_in_order_of_the_document() -> None:
    for_tests = [name for name, by in requirements().items() if by == "test"]
    assert unproved([]) == for_tests
    assert unproved(for_tests[2:]) == ["P1", "P2"]
    assert unproved(for_tests) == []


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_a_whole_run_ends_with_what_no_passing_test_names(run: Run, workers: tuple[str]) -> None:
    shown = run(PROVES + FAILS + SKIPS, *workers).stdout
    (line,) = (line for line in shown.splitlines() if line.startswith("requirements:"))
    assert line.startswith("requirements: 2 of 105 are named by a passing test; not yet: P2 P3 P4 ")
    assert " K5 K6 " in line, "K5a is proved"


@pytest.mark.parametrize(
    ("source", "arguments", "code"),
    [
        (PROVES_ALL, (), 0),
        (PROVES, (), 1),
        (PROVES, ("-n", "2"), 1),
        (PROVES, ("--ignore=elsewhere",), 0),
        (PROVES + SKIPS, (), 0),
    ],
    ids=["all", "some", "some, by two", "a part of the tests", "one skipped"],
)
def test_a_whole_run_fails_when_no_passing_test_names_a_requirement(
    run: Run, source: str, arguments: tuple[str, ...], code: int
) -> None:
    assert run(source, *arguments).returncode == code


@pytest.mark.parametrize("part", ["-ktest_a", "--deselect=tests/test_it.py::test_b", "-x"])
def test_a_part_of_a_run_says_nothing_of_the_rest(run: Run, part: str) -> None:
    assert "requirements:" not in run(PROVES + FAILS, part).stdout


@pytest.mark.parametrize("workers", [(), ("-n", "2")])
def test_an_unknown_id_is_an_error_at_collection(run: Run, workers: tuple[str]) -> None:
    shown = run(PROVES.replace("K5a", "K99"), *workers).stdout
    assert "test_it.py::test_a names 'K99', not in docs/requirements.toml" in shown
    assert "1 error" in shown
    assert "passed" not in shown


def test_a_skip_is_a_failure_where_nothing_may_be_missing(run: Run) -> None:
    expected = "@pytest.mark.xfail\ndef test_d(): assert False\n"
    shown = run(PROVES + SKIPS + expected, **{REQUIRE_TOOLS: "1"}).stdout
    assert "1 failed, 1 passed, 1 xfailed" in shown
    assert "no tool" in shown
    assert f"{REQUIRE_TOOLS}=1" in shown


def test_a_skipped_file_is_a_failure_where_nothing_may_be_missing(run: Run) -> None:
    source = "pytest.importorskip('there_is_no_such_module')\n"
    assert "1 error" in run(source + PROVES, **{REQUIRE_TOOLS: "1"}).stdout


def test_a_skip_is_a_skip_elsewhere(run: Run) -> None:
    assert "1 passed, 1 skipped" in run(PROVES + SKIPS).stdout
