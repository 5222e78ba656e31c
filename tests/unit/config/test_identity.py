"""Where installed providers are found, and what their files come to (F3, F4)."""

import sys
from pathlib import Path

import pytest

from pluggableharness.kernel.config.config import Origin, OriginKind, ProviderConfig
from pluggableharness.kernel.config.identity import locate
from pluggableharness.kernel.domain.errors import UsageError


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package `weather-tools` with the module `weather`, which breaks when it is imported."""
    (tmp_path / "weather.py").write_text("raise SystemExit('imported')\n")
    info = tmp_path / "weather_tools-2.1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: weather-tools\nVersion: 2.1\n")
    (info / "RECORD").write_text("weather.py,sha256=abc,28\nweather_tools-2.1.dist-info/RECORD,,\n")
    (info / "top_level.txt").write_text("weather\n")
    (info / "entry_points.txt").write_text("[pluggableharness.providers]\nsky = weather\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    return info


def provider(name: str, origin: Origin) -> ProviderConfig:
    return ProviderConfig(name, origin, "agent.hcl:2:3")


ANNOUNCED = Origin(OriginKind.ANNOUNCED)
MODULE = Origin(OriginKind.PYTHON, module="weather")


@pytest.mark.req("F3")
def test_a_package_that_announces_itself_needs_no_path(installed: Path) -> None:
    found = locate(provider("sky", ANNOUNCED), Path("/project"))
    assert found.command == (sys.executable, "-I", "-m", "weather")
    assert (found.identity.source, found.identity.version) == ("announced by weather-tools", "2.1")


@pytest.mark.req("F3")
def test_a_name_that_nobody_announces_is_an_error_with_the_nearest(installed: Path) -> None:
    with pytest.raises(UsageError, match=r"agent.hcl:2:3: provider skye: .* did you mean sky\?"):
        locate(provider("skye", ANNOUNCED), Path("/project"))


@pytest.mark.req("F3", "F4")
def test_a_module_is_pinned_by_the_list_of_its_packages_files(installed: Path) -> None:
    before = locate(provider("x", MODULE), Path("/project"))
    assert before.command == (sys.executable, "-I", "-m", "weather")
    (installed / "RECORD").write_text("weather.py,sha256=def,28\n")
    after = locate(provider("x", MODULE), Path("/project"))
    assert before.identity.sha256 != after.identity.sha256


@pytest.mark.req("F3")
def test_a_module_that_no_package_offers_is_an_error() -> None:
    origin = Origin(OriginKind.PYTHON, module="nowhere")
    with pytest.raises(UsageError, match="no installed package offers the module nowhere"):
        locate(provider("x", origin), Path("/project"))


@pytest.mark.req("F4")
def test_a_program_within_the_project_is_not_pinned_by_its_bytes(tmp_path: Path) -> None:
    program = tmp_path / "p.sh"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    origin = Origin(OriginKind.EXECUTABLE, (str(program),))
    assert locate(provider("x", origin), tmp_path).identity.sha256 == ""
    assert locate(provider("x", origin), tmp_path / "elsewhere").identity.sha256 != ""
