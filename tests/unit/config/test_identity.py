"""Where installed providers are found, and what their files come to (F3, F4)."""

import os
import re
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pluggableharness.kernel.config.config import Origin, OriginKind, ProviderConfig
from pluggableharness.kernel.config.identity import locate
from pluggableharness.kernel.config.load import load
from pluggableharness.kernel.config.lock import Identity, Pin, identity_differences
from pluggableharness.kernel.config.source import Source
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


def executable(path: Path, text: str = "#!/bin/sh\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(0o755)
    return path


def pinned(root: Path, source: str) -> Identity:
    """What a source of agent.hcl is pinned as in the project at `root`."""
    text = f"required_providers {{\n  x = {{ {source} }}\n}}\n"
    home = os.environ["HOME"]
    config = load(
        root / "agent.hcl",
        Source("agent.hcl", text),
        {"HOME": home},
        {},
        working_directory=root,
        version="1",
    )
    return locate(config.providers[0], root).identity


@pytest.fixture
def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], Path]:
    """Goes to a machine of that name, with a clone, a home and programs whose bytes are its own."""

    def go(name: str) -> Path:
        machine = tmp_path / name
        root = machine / "src" / f"clone of {name}"
        for one in ("p.py", "bin/tool", "bin with blank/tool"):
            executable(root / one)
        for one in ("python3", "python3.11", "node", "bash", "server", "uv"):
            executable(machine / "path" / one, f"#!/bin/sh\n# {name}\n")
        (root / ".venv" / "bin").mkdir(parents=True, exist_ok=True)
        for link, target in ((".venv/bin/python", "python3"), ("bin/linked", "server")):
            if not (root / link).is_symlink():
                (root / link).symlink_to(machine / "path" / target)
        for one in ("home/tool", "home/p.py", "src/beside/tool"):
            executable(machine / one)
        monkeypatch.setenv("PATH", str(machine / "path"))
        monkeypatch.setenv("HOME", str(machine / "home"))
        return root

    return go


OF_THE_PROJECT = (
    'source = "./p.py"',
    'source = "bin/tool"',
    'source = "${path.root}/bin with blank/tool"',
    'source = ["python3", "./p.py"]',
    'source = ["python3", "p.py"]',
    'source = ["python3.11", "-I", "${path.root}/p.py"]',
    'source = ["node", "./p.py", "--data=${path.root}/data", "${path.root}", "${path.home}/x"]',
    'source = ["./.venv/bin/python", "./p.py"]',
    'source = "mcp", command = ["bash", "./p.py"]',
)
OF_OUTSIDE = (
    'source = "~/tool"',
    'source = "${path.home}/tool"',
    'source = "../beside/tool"',
    'source = ["python3", "${path.home}/p.py"]',
    'source = ["python3", "../beside/tool", "./p.py"]',
    'source = "mcp", command = ["../beside/tool", "./p.py"]',
)
OF_THE_MACHINE = (
    'source = ["server"]',
    'source = ["server", "./p.py"]',
    'source = ["uv", "run", "./p.py"]',
    'source = ["python3"]',
    'source = ["python3", "-m", "p"]',
    'source = ["python3", "-m", "p", "./p.py"]',
    'source = ["python3", "-c", "pass"]',
    'source = "./bin/linked"',
    'source = "mcp", command = ["server"]',
)


@pytest.mark.req("F4")
@pytest.mark.parametrize("source", [*OF_THE_PROJECT, *OF_OUTSIDE])
def test_the_same_provider_is_the_same_in_every_clone_and_on_every_machine(
    machines: Callable[[str], Path], source: str
) -> None:
    one = pinned(machines("one"), source)
    other = pinned(machines("other"), source)
    assert one == other
    assert "one" not in one.source
    assert bool(one.sha256) is (source in OF_OUTSIDE)


@pytest.mark.req("F4")
@pytest.mark.parametrize("source", OF_OUTSIDE)
def test_a_program_outside_is_another_when_its_bytes_are(
    machines: Callable[[str], Path], source: str
) -> None:
    root = machines("one")
    before = pinned(root, source)
    home, beside = root.parents[1] / "home", root.parent / "beside"
    for one in (home / "tool", home / "p.py", beside / "tool"):
        executable(one, "#!/bin/sh\n# swapped\n")
    assert pinned(root, source).sha256 != before.sha256


@pytest.mark.req("F4")
@pytest.mark.parametrize("source", OF_THE_MACHINE)
def test_a_program_of_the_machine_that_runs_no_file_of_the_project_is_pinned_and_named(
    machines: Callable[[str], Path], source: str
) -> None:
    one, other = pinned(machines("one"), source), pinned(machines("other"), source)
    (change,) = identity_differences(Pin(one), other)
    assert re.fullmatch(r"sha256 of /.*/(server|uv|python3|linked) was \w{64}, is \w{64}", change)


@pytest.mark.req("F4")
@pytest.mark.parametrize(
    ("one", "other"),
    [
        ('source = ["python3", "./p.py"]', 'source = ["node", "./p.py"]'),
        ('source = ["python3", "./p.py"]', 'source = ["python3", "./p.py", "-x"]'),
        ('source = ["./p.py", "a b"]', 'source = ["./p.py", "a", "b"]'),
        ('source = ["./p.py", "a"]', 'source = "mcp", command = ["./p.py", "a"]'),
        ('source = "./p.py"', 'source = "./bin/tool"'),
    ],
)
def test_another_command_is_another_source(
    machines: Callable[[str], Path], one: str, other: str
) -> None:
    root = machines("one")
    (change,) = identity_differences(Pin(pinned(root, one)), pinned(root, other))
    assert change.startswith("source was ")


@pytest.mark.req("F4")
def test_what_becomes_a_program_of_the_project_is_told_to_be_no_longer_pinned(
    machines: Callable[[str], Path],
) -> None:
    root = machines("one")
    before = pinned(root, 'source = "../beside/tool"')
    tool = root / ".." / "beside" / "tool"
    tool.unlink()
    tool.symlink_to(root / "p.py")
    (change,) = identity_differences(Pin(before), pinned(root, 'source = "../beside/tool"'))
    assert change == f"sha256 was {before.sha256}, is not pinned"


@pytest.mark.req("F4")
def test_a_package_is_the_same_wherever_it_is_installed(installed: Path) -> None:
    record = (installed / "RECORD").read_text()
    (installed / "RECORD").write_text(f"{record}../../../bin/weather,sha256=shebang1,28\n")
    before = locate(provider("x", MODULE), Path("/project"))
    (installed / "RECORD").write_text(f"{record}../../../bin/weather,sha256=shebang2,28\n")
    assert locate(provider("x", MODULE), Path("/project")) == before


@pytest.mark.req("F4")
def test_a_package_that_is_worked_on_where_it_lies_is_pinned_once_it_is_installed(
    installed: Path,
) -> None:
    before = locate(provider("x", MODULE), Path("/project"))
    (installed / "direct_url.json").write_text('{"dir_info": {"editable": true}, "url": "file:"}')
    after = locate(provider("x", MODULE), Path("/project"))
    assert after.identity.sha256 == ""
    assert list(identity_differences(Pin(before.identity), after.identity)) == [
        f"sha256 was {before.identity.sha256}, is not pinned"
    ]
    assert list(identity_differences(Pin(after.identity), before.identity)) == []
