"""What a command gets: its text, its folder, its environment, and what settings allow."""

import os
from pathlib import Path

import pytest

from pluggableharness.providers.exec.environment import command_environment
from pluggableharness.providers.exec.places import Folder, folder_of
from pluggableharness.providers.exec.provider import BashResult, provider
from pluggableharness.providers.exec.script import LONGEST_ARGUMENT, invocation
from pluggableharness.sdk import InvalidArguments, NotFound
from pluggableharness.sdk.render import CodeBlock, Group, Text
from pluggableharness.sdk.testing import opened


@pytest.mark.req("C13")
def test_the_environment_is_an_allowlist(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        os,
        "environ",
        {"PATH": "/bin", "HOME": "/h", "API_KEY": "secret", "GIT_PAGER": "less", "LC_ALL": "C"},
    )
    found = command_environment({"MINE": "1", "EDITOR": "ed"})
    assert "API_KEY" not in found
    assert (found["PATH"], found["HOME"], found["LC_ALL"]) == ("/bin", "/h", "C")
    assert found["TERM"] == "dumb" and found["PAGER"] == found["GIT_PAGER"] == "cat"
    assert found["GIT_TERMINAL_PROMPT"] == "0" and found["GIT_EDITOR"] == "true"
    assert found["MINE"] == "1" and found["EDITOR"] == "ed"


@pytest.mark.req("C13")
def test_a_command_has_a_path_even_if_the_provider_has_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(os, "environ", {})
    assert command_environment({})["PATH"] == os.defpath


@pytest.mark.req("C10")
@pytest.mark.parametrize("command", ["echo \ud800", "echo \0"])
def test_text_that_no_program_can_get_is_an_argument_error(command: str) -> None:
    """Case exec-15: half a surrogate pair, and the NUL that ends a C string."""
    with (
        pytest.raises(InvalidArguments, match=r"command: .*(U\+D800|NUL)"),
        invocation("sh", command),
    ):
        pass


@pytest.mark.req("C10")
def test_only_a_command_too_long_for_an_argument_is_read_from_stdin() -> None:
    """Case exec-14, at its edge; bytes count, not characters."""
    with invocation("bash", "é" * (LONGEST_ARGUMENT // 2)) as (argv, stdin):
        assert argv[:2] == ["bash", "-c"] and stdin < 0
    with invocation("bash", "é" * (LONGEST_ARGUMENT // 2 + 1)) as (argv, stdin):
        assert argv == ["bash", "/dev/stdin"]
        assert os.pread(stdin, 40, 0).startswith(b"exec </dev/null; \xc3\xa9")
    with pytest.raises(OSError, match="Bad file"):
        os.fstat(stdin)


@pytest.mark.req("P9")
def test_a_folder_is_found_from_the_session_s_working_directory(tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    assert folder_of(tmp_path, None) == Folder(tmp_path)
    assert folder_of(tmp_path, "below") == Folder(tmp_path / "below")
    assert folder_of(tmp_path / "below", "..").path.resolve() == tmp_path
    assert folder_of(tmp_path, "/usr") == Folder(Path("/usr"))


@pytest.mark.req("C10")
def test_the_nearest_folder_stands_in_for_a_session_s_that_is_gone(tmp_path: Path) -> None:
    """Case exec-11: a deleted working directory must not fail every later command."""
    gone = tmp_path / "a" / "b"
    assert folder_of(gone, None) == Folder(
        tmp_path,
        f"{gone} does not exist any more: ran in {tmp_path}",
    )
    (tmp_path / "a").write_text("a file now")
    assert folder_of(gone, None).path == tmp_path


@pytest.mark.parametrize(
    ("asked", "failure", "words"),
    [
        ("gone", NotFound, "gone does not exist"),
        ("file", InvalidArguments, "file is not a folder"),
        ("x\0", InvalidArguments, "NUL"),
        ("\udcff", InvalidArguments, "surrogate"),
    ],
)
def test_a_folder_that_a_call_names_must_be_there(
    tmp_path: Path, asked: str, failure: type[Exception], words: str
) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(failure, match=f"working_directory: .*{words}"):
        folder_of(tmp_path, asked)


@pytest.mark.req("P28")
@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"sandbox": "jail"}, 'sandbox: .jail. is none of "none", "workspace", "read_only"'),
        ({"shell": ""}, "shell: "),
        ({"env": {"A=B": "x"}}, "env: .A=B. cannot be a variable"),
        ({"env": {"": "x"}}, "env: "),
        ({"env": {"A": "\0"}}, "env: "),
        ({"roots": [""]}, "roots: "),
    ],
)
async def test_settings_that_no_command_could_run_with_are_refused(
    settings: dict[str, object], words: str
) -> None:
    with pytest.raises(InvalidArguments, match=words):
        async with opened(provider, settings=settings):
            pass


@pytest.mark.req("C12", "C10")
async def test_a_preview_shows_the_command_where_and_how_long(tmp_path: Path) -> None:
    async with opened(provider, cwd=tmp_path, settings={"sandbox": "none"}) as tool:
        shown = await tool.preview(
            "bash", command="ls -l", timeout_s=5, working_directory="/usr", description="look"
        )
        assert isinstance(shown, Group)
        assert shown.children[:2] == [Text("look"), CodeBlock("ls -l", "bash")]
        assert "in /usr, at most 5 s, not sandboxed" in str(shown.children[2])
        assert not list(tmp_path.iterdir())
        gone = await tool.preview("bash", command="ls", working_directory="gone")
        assert str(gone).startswith("Text(content='This would fail: working_directory:")


async def test_a_preview_says_where_a_command_will_run_instead(tmp_path: Path) -> None:
    async with opened(provider, cwd=tmp_path / "gone") as tool:
        shown = await tool.preview("bash", command="rm -rf *")
        assert f"in {tmp_path}, at most 120 s" in str(shown)
        assert "does not exist any more" in str(shown)


@pytest.mark.req("P30")
async def test_a_result_can_be_drawn() -> None:
    result = BashResult(137, "out\n", False, 4, 12, signal="SIGKILL", note="odd")
    async with opened(provider) as tool:
        payload = {"exit_code": 137, "output": "out\n", "duration_ms": 12, "signal": result.signal}
        shown = str(tool.render("bash", {**payload, "note": "odd"}))
    assert "out\\n" in shown and "SIGKILL, 12 ms" in shown and "odd" in shown


@pytest.mark.req("C12")
def test_bash_is_a_high_risk_for_every_command() -> None:
    traits = provider.operations["bash"].traits
    assert (traits.kind, traits.risk) == ("resource", "high")
    assert (traits.safe, traits.idempotent, traits.streaming) == (False, False, True)
    assert traits.default_timeout == 600
