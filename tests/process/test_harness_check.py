"""`harness check` finds each broken requirement, and nothing in what keeps them (P33)."""

import json
import sys
from pathlib import Path

import pytest
from process.harness import Harness

from pluggableharness.kernel.domain.values import JsonObject
from pluggableharness.kernel.first_party import NAMES, first_party
from pluggableharness.kernel.plugins.checking import Report, Status, check_provider
from pluggableharness.kernel.plugins.checking.report import POINTS
from pluggableharness.kernel.plugins.spec import ProviderSpec

BROKEN = (sys.executable, str(Path(__file__).parents[1] / "providers" / "broken.py"))


SETTINGS: dict[str, JsonObject] = {
    # Nobody answers there: no test asks the world, so what is fetched and found is no result.
    "web": {"search": {"engine": "searxng", "url": "http://127.0.0.1:9"}}
}


def points(report: Report, status: Status) -> list[str]:
    return [line.id for line in report.lines if line.status is status]


@pytest.mark.req("P33")
@pytest.mark.parametrize("point", POINTS)
async def test_a_provider_that_breaks_one_requirement_fails_exactly_that(point: str) -> None:
    report = await check_provider(ProviderSpec("broken", (*BROKEN, point)))
    assert points(report, Status.FAILED) == [point], report
    assert not report.passed
    assert all(line.details for line in report.lines if line.status is not Status.PASSED)


@pytest.mark.req("P33")
async def test_one_that_breaks_none_is_held_against_all_and_passes() -> None:
    report = await check_provider(ProviderSpec("broken", (*BROKEN, "none")))
    # No child failed here, which is what the one that is missing is about.
    assert points(report, Status.PASSED) == [point for point in POINTS if point != "P13"]
    assert report.passed


@pytest.mark.req("P33")
@pytest.mark.parametrize("name", NAMES)
async def test_first_party_providers_pass_and_nothing_of_them_is_out_of_reach(name: str) -> None:
    report = await check_provider(first_party(name, SETTINGS.get(name)), invoke_resources=True)
    unreached = [line for line in report.lines if line.status is not Status.PASSED]
    assert [line.id for line in unreached] == (["P12"] if name == "web" else [])
    for line in unreached:
        told = [detail.partition(":")[0] for detail in line.details]
        assert told == ["web_fetch ended invalid_arguments", "web_search ended execution_failed",
                        "http_request ended permission_denied"]  # fmt: skip


@pytest.mark.req("P33", "K33")
def test_exit_code_and_json_say_how_it_went(harness: Harness) -> None:
    good = harness.run("check", *BROKEN, "none", "--json")
    assert good.returncode == 0, good.stderr
    assert json.loads(good.stdout)["passed"] is True
    bad = harness.run("check", "--json", *BROKEN, "P12")
    told = json.loads(bad.stdout)
    assert (bad.returncode, told["passed"]) == (1, False)
    [failed] = [point for point in told["points"] if point["status"] == "failed"]
    assert failed["id"] == "P12" and "seen" in failed["details"][0]
    text = harness.run("check", *BROKEN, "P12").stdout
    assert "failed       P12" in text and text.endswith("0 not reached\n")


@pytest.mark.req("P33", "K33")
@pytest.mark.parametrize(
    ("command", "said"),
    [
        (
            ["/nowhere/at/all"],
            "harness: check: /nowhere/at/all: cannot be started: No such file or directory: "
            "/nowhere/at/all",
        ),
        (["sh", "-c", "echo hello; sleep 100"], "no handshake"),
        ([sys.executable, "-c", "print('1|9|unix|/x|grpc|')"], "protocol '9'"),
        ([], "name an executable"),
    ],
)
def test_what_cannot_be_started_is_exit_code_2(
    harness: Harness, command: list[str], said: str
) -> None:
    done = harness.run("check", *command)
    assert (done.returncode, done.stdout) == (2, "")
    assert said in done.stderr


@pytest.mark.req("P33")
def test_our_options_may_stand_last_and_a_dash_dash_hands_them_on(harness: Harness) -> None:
    program = "import sys; print(*sys.argv[1:], file=sys.stderr)"
    done = harness.run("check", sys.executable, "-c", program, "--json", "--", "--json")
    assert "--json" in done.stderr.splitlines()[-2] and done.returncode == 2


@pytest.mark.req("P4", "P5", "P33")
async def test_remarks_fail_nothing() -> None:
    report = await check_provider(ProviderSpec("broken", (*BROKEN, "remark")))
    assert report.passed
    [remark] = report.remarks
    assert remark.startswith("alter: safe without key_fields")
