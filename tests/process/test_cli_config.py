"""A project's agent.hcl from `init` to the lock: the real command, the real providers."""

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from process.harness import Harness, lines

from pluggableharness.kernel.first_party import NAMES

PROVIDER = '''\
"""A provider with a secret, for tests."""

import sys
from dataclasses import dataclass
from typing import Annotated

from pluggableharness.sdk import Context, Doc, Provider, Secret


@dataclass(frozen=True)
class Settings:
    """Settings."""

    token: Annotated[str, Secret, Doc("What opens the door")] = ""
    size: int = 1


provider = Provider("mine", settings=Settings, version="1.2.3")


@provider.data_source()
async def width(ctx: Context[Settings]) -> dict[str, float]:
    """Tell the size that was configured."""
    return {"size": ctx.settings.size, "secret": len(ctx.settings.token)}


@provider.data_source()
async def other(ctx: Context[Settings]) -> dict[str, float]:
    """Do nothing."""
    return {}


if __name__ == "__main__":
    provider.serve()
'''


def with_provider(harness: Harness, block: str, required: str = "") -> None:
    (harness.project / "mine.py").write_text(PROVIDER)
    (harness.project / "agent.hcl").write_text(
        "required_providers {\n"
        f'  mine = {{ source = ["{sys.executable}", "./mine.py"]{required} }}\n'
        f'}}\nprovider "mine" {{\n  {block}\n}}\n'
    )


def lock_of(harness: Harness) -> Path:
    return harness.project / ".agent" / "agent.lock.hcl"


@pytest.mark.req("F12", "F11")
@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({"pyproject.toml": '[dependency-groups]\ndev = ["pytest"]\n'}, "'python -m pytest'"),
        ({"pyproject.toml": "[project]\n", "pytest.ini": ""}, "'python -m pytest'"),
        ({"pyproject.toml": "[tool.mypy]\n"}, "arguments.command in ['mypy']"),
        (
            {"pyproject.toml": "broken ["},
            "#   when   = \"arguments.command in ['python3 -m unittest",
        ),
        ({"package.json": '{"scripts": {"test": "x", "lint": "y"}}'}, "'npm test', 'npm run lint'"),
        ({"go.mod": "module x\n"}, "'go test ./...'"),
        ({"Cargo.toml": "[package]\n"}, "'cargo test'"),
        ({"Makefile": "test:\n\ttrue\n"}, "'make test'"),
        ({}, "# policy"),
    ],
)
def test_init_fits_the_project_and_what_it_writes_is_right(
    harness: Harness, files: dict[str, str], said: str
) -> None:
    for name, text in files.items():
        (harness.project / name).write_text(text)
    assert harness.run("init").returncode == 0
    written = (harness.project / "agent.hcl").read_text()
    assert said in written
    checked = harness.run("config", "check")
    assert (checked.returncode, checked.stderr) == (0, "")
    assert all(f"  {name} " in written and f'"{name}.*"' in written for name in NAMES)


@pytest.mark.req("F12", "C13")
def test_what_init_says_of_variables_is_how_commands_get_them(harness: Harness) -> None:
    assert harness.run("init").returncode == 0
    path = harness.project / "agent.hcl"
    given = 'env = { GREETING = env("HELLO") }'
    assert "  env = {}\n" in path.read_text()
    path.write_text(path.read_text().replace("env = {}", given))
    command = "command=echo [$GREETING] [$HELLO]"
    done = harness.run("call", "exec.bash", command, "--json", HELLO="good day")
    assert lines(done.stdout)[-1]["payload"]["output"] == "[good day] []\n"


@pytest.mark.req("F12")
def test_init_leaves_a_file_that_is_there_as_it_is(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text("settings {}\n")
    refused = harness.run("init")
    assert refused.returncode == 2
    assert "is there already" in refused.stderr
    assert (harness.project / "agent.hcl").read_text() == "settings {}\n"


@pytest.mark.req("F11", "F1")
def test_check_says_where_and_exits_2(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text("setings {\n}\n")
    checked = harness.run("config", "check")
    assert checked.returncode == 2
    assert checked.stderr.startswith(
        "agent.hcl:1:1: there is no block 'setings'; did you mean settings?"
    )
    assert harness.run("tools").returncode == 2


@pytest.mark.req("F11", "F3")
def test_check_warns_of_providers_that_are_not_there_to_be_started(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text(
        "required_providers {\n"
        '  task   = { source = "builtin" }\n'
        '  module = { source = "python:no_such_module" }\n'
        "  taks   = {}\n"
        '  served = { source = "mcp", command = ["no-such-program"] }\n'
        f'  mine   = {{ source = ["{sys.executable}", "-m", "anything"] }}\n'
        "}\n"
    )
    checked = harness.run("config", "check")
    assert checked.returncode == 0
    assert [line.split(":")[1:4] for line in checked.stderr.splitlines()] == [
        [" agent.hcl", "3", "3"],
        [" agent.hcl", "4", "3"],
        [" agent.hcl", "5", "3"],
    ]
    assert "no installed package offers the module no_such_module" in checked.stderr
    assert not lock_of(harness).exists()


@pytest.mark.req("F11")
def test_what_show_prints_is_a_configuration_that_comes_to_the_same(harness: Harness) -> None:
    harness.run("init")
    shown = harness.run("config", "show").stdout
    (harness.project / "agent.hcl").write_text(shown)
    assert harness.run("config", "show").stdout == shown


@pytest.mark.req("F8", "F9", "K14")
def test_disabled_operations_are_not_offered_and_time_outs_hold(harness: Harness) -> None:
    harness.configure(
        'provider "exec" {\n  timeout {\n    bash = "1s"\n  }\n}\n'
        'provider "filesystem" {\n  disabled = ["write_file"]\n}\n',
        *("exec", "filesystem"),
    )
    offered = [one["operation"] for one in json.loads(harness.run("tools", "--json").stdout)]
    assert "write_file" not in offered
    assert "edit_file" in offered
    ended = harness.run("call", "exec.bash", "command=sleep 30", "--json")
    assert lines(ended.stdout)[-1]["category"] == "timeout"


@pytest.mark.req("F9", "K23")
def test_a_session_has_the_tools_of_its_profile(harness: Harness) -> None:
    profile = 'agent_profile "default" {\n  tools = ["filesystem.read_file"]\n}\n'
    harness.configure(profile, "exec", "filesystem")
    (harness.project / "a.txt").write_text("x\n")
    script = harness.script(
        "prompt: go\nmessages:\n"
        "  - calls:\n"
        "      - {tool: filesystem.read_file, arguments: {path: a.txt}}\n"
        "      - {tool: exec.bash, arguments: {command: touch b}}\n"
        "  - say: done\n"
    )
    ran = harness.run("run", "--script", script, "--allow-all", "--json")
    assert not (harness.project / "b").exists()
    (refused,) = [one for one in lines(ran.stdout) if one["type"] == "call_refused"]
    assert refused["name"] == "exec.bash"
    assert refused["details"]["in_scope"] == ["filesystem.read_file"]


@pytest.mark.req("K18")
@pytest.mark.parametrize(("threshold", "calls"), [("", 3), ("  doom_loop_threshold = 5\n", 5)])
def test_equal_calls_end_a_session_at_the_threshold_of_its_profile(
    harness: Harness, threshold: str, calls: int
) -> None:
    profile = f'agent_profile "default" {{\n  tools = ["filesystem.read_file"]\n{threshold}}}\n'
    harness.configure(profile, "filesystem")
    again = "  - calls: [{tool: filesystem.read_file, arguments: {path: a.txt}}]\n"
    script = harness.script("prompt: go\nmessages:\n" + again * 9)
    ran = lines(harness.run("run", "--script", script, "--json").stdout)
    assert sum(one["type"] == "call_started" for one in ran) == calls
    assert ran[-1]["status"] == "failed"
    assert f"{calls} times in a row" in ran[-1]["reason"]


@pytest.mark.req("F3", "F5", "F6", "P28", "P31")
def test_another_providers_settings_are_judged_when_it_has_declared_them(harness: Harness) -> None:
    with_provider(harness, 'token = "hunter2hunter2"\n  size = "large"\n  sise = 1')
    refused = harness.run("tools")
    assert refused.returncode == 2
    assert "agent.hcl:5:3: 'token' is a secret and must be written exactly env(" in refused.stderr
    assert "agent.hcl:6:3: size: expected a number, got a string" in refused.stderr
    assert "agent.hcl:7:3: sise: there is no such setting; did you mean size?" in refused.stderr
    assert "hunter2" not in refused.stderr


@pytest.mark.req("F3", "F6")
def test_another_provider_gets_its_settings_and_its_secret(
    harness: Harness, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TOKEN", "hunter2hunter2")
    with_provider(harness, 'token = env("TOKEN")\n  size = 1 + 2')
    done = harness.run("call", "mine.width", "--json")
    assert lines(done.stdout)[-1]["payload"] == {"size": 3, "secret": 14}
    assert "hunter2" not in harness.run("config", "show").stdout
    assert 'env("TOKEN")' in harness.run("config", "show").stdout


@pytest.mark.req("F3")
def test_a_version_that_is_not_asked_for_is_refused(harness: Harness) -> None:
    with_provider(harness, "", ', version = ">= 2"')
    refused = harness.run("tools")
    assert "mine has version 1.2.3, which is not >= 2" in refused.stderr
    assert refused.returncode == 2


@pytest.mark.req("K28", "F1")
@pytest.mark.parametrize(
    ("settings", "printed"),
    [
        ("", ["warning", "error"]),
        ('settings {\n  log_level = "error"\n}\n', ["error"]),
        ('settings {\n  log_level = "info"\n}\n', ["info", "warning", "error"]),
        ('settings {\n  log_level = "debug"\n}\n', ["debug", "info", "warning", "error"]),
    ],
)
def test_log_level_says_how_much_of_the_log_is_printed_and_who_said_it(
    harness: Harness, settings: str, printed: list[str]
) -> None:
    with_provider(harness, "")
    provider = harness.project / "mine.py"
    levels = 'for level in ("debug", "info", "warn", "error"):\n        '
    provider.write_text(
        provider.read_text().replace(
            '"""Do nothing."""', f'"""Log."""\n    {levels}await ctx.log(level, "said\\x1b[2K")'
        )
    )
    file = harness.project / "agent.hcl"
    file.write_text(file.read_text() + settings)
    called = harness.run("call", "mine.other", "--json")
    assert called.stderr.splitlines() == [
        f"harness: {level}: provider.mine: said\\x1b[2K" for level in printed
    ]
    assert "said" not in called.stdout


@pytest.mark.req("F4")
def test_an_operation_that_changed_is_refused_until_it_is_accepted(harness: Harness) -> None:
    with_provider(harness, "")
    assert harness.run("tools").returncode == 0
    pinned = lock_of(harness).read_text()
    provider = harness.project / "mine.py"
    changed = provider.read_text().replace("Do nothing.", "Send all files to my friends.")
    provider.write_text(re.sub("async def width", "async def breadth", changed))
    refused = harness.run("call", "mine.other")
    assert refused.returncode == 2
    for said in (
        'other: description was "Do nothing.", is "Send all files to my friends."',
        "breadth is new",
        "width is gone",
        "harness config accept",
    ):
        assert said in refused.stderr
    assert lock_of(harness).read_text() == pinned
    accepted = harness.run("config", "accept")
    assert "mine: width is gone" in accepted.stdout
    assert harness.run("call", "mine.other").returncode == 0


@pytest.mark.req("F4")
def test_a_program_outside_the_project_is_pinned_by_its_bytes(
    harness: Harness, tmp_path: Path
) -> None:
    started = tmp_path / "started"
    with_provider(harness, "")
    outside = tmp_path / "mine.sh"
    command = f"exec {sys.executable} {harness.project}/mine.py"
    outside.write_text(f"#!/bin/sh\ntouch {started}\n{command}\n")
    outside.chmod(0o755)
    text = (harness.project / "agent.hcl").read_text()
    (harness.project / "agent.hcl").write_text(
        re.sub(r"source = \[.*\]", f'source = "{outside}"', text)
    )
    assert harness.run("tools").returncode == 0
    started.unlink()
    outside.write_text(outside.read_text() + "# changed\n")
    refused = harness.run("tools")
    assert refused.returncode == 2
    assert f"sha256 of {outside} was" in refused.stderr
    assert not started.exists()


@pytest.mark.req("F4")
def test_a_lock_file_that_was_tampered_with_is_not_believed(harness: Harness) -> None:
    with_provider(harness, "")
    harness.run("tools")
    lock = lock_of(harness)
    lock.write_text(lock.read_text().replace("Do nothing.", "Do something."))
    refused = harness.run("tools")
    assert refused.returncode == 2
    assert "is damaged" in refused.stderr


def test_without_a_file_nothing_is_locked_and_everything_has_its_default(harness: Harness) -> None:
    assert harness.run("tools").returncode == 0
    assert not lock_of(harness).exists()
    assert "everything has its default" in harness.run("config", "check").stderr


@pytest.mark.req("F11")
def test_what_is_known_of_the_built_in_providers_is_what_they_declare() -> None:
    script = Path(__file__).parents[2] / "scripts" / "known_providers.py"
    checked = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True)
    assert checked.returncode == 0, checked.stderr


@pytest.mark.req("F3")
def test_a_call_to_a_built_in_provider_that_is_not_named_says_so(harness: Harness) -> None:
    (harness.project / "agent.hcl").write_text("required_providers {\n  exec = {}\n}\n")
    called = harness.run("call", "search.glob", "pattern=*")
    assert called.returncode == 2
    assert "search is built in, but required_providers of agent.hcl does not name" in called.stderr
    assert 'add there search = { source = "builtin" }' in called.stderr


@pytest.mark.req("F12", "K1")
def test_init_names_the_file_that_a_project_keeps_for_agents(harness: Harness) -> None:
    assert harness.run("init").returncode == 0
    written = harness.project / "agent.hcl"
    assert '\n  # instructions_file = "AGENTS.md"\n' in written.read_text()
    written.unlink()
    (harness.project / "CLAUDE.md").write_text("Tests come first.\n")
    assert harness.run("init").returncode == 0
    assert '\n  instructions_file = "CLAUDE.md"\n' in written.read_text()
    assert harness.run("config", "check").returncode == 0


@pytest.mark.req("F4")
@pytest.mark.parametrize("source", ['["python3", "./mine.py"]', '"./mine.py"'])
def test_a_committed_lock_holds_in_a_clone_and_with_another_python_and_still_refuses_a_swap(
    harness: Harness, tmp_path: Path, source: str
) -> None:
    with_provider(harness, "")
    file = harness.project / "agent.hcl"
    file.write_text(re.sub(r"source = \[.*\]", f"source = {source}", file.read_text()))
    program = harness.project / "mine.py"
    program.write_text("#!/usr/bin/env python3\n" + program.read_text())
    program.chmod(0o755)

    def path_with(python: str) -> str:
        (tmp_path / python).mkdir()
        interpreter = tmp_path / python / "python3"
        interpreter.write_text(f'#!/bin/sh\n# {python}\nexec {sys.executable} "$@"\n')
        interpreter.chmod(0o755)
        return f"{interpreter.parent}:{harness.environment['PATH']}"

    assert harness.run("tools", PATH=path_with("one")).returncode == 0
    pinned = lock_of(harness).read_text()
    assert str(tmp_path) not in pinned
    clone = Harness(tmp_path / "elsewhere" / "clone", harness.state)
    shutil.copytree(harness.project, clone.project)
    other = path_with("other")
    listed = clone.run("tools", PATH=other)
    assert listed.returncode == 0, listed.stderr
    assert lock_of(clone).read_text() == pinned
    changed = program.read_text().replace("Do nothing.", "Send it all.")
    (clone.project / "mine.py").write_text(changed)
    refused = clone.run("tools", PATH=other)
    assert refused.returncode == 2
    assert 'other: description was "Do nothing.", is "Send it all."' in refused.stderr
