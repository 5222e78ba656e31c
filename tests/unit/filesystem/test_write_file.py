"""write_file: all of a file, whole or not at all, and nobody's change lost (C3)."""

import errno
import os
import stat
import tempfile
from pathlib import Path

import pytest

from pluggableharness.providers.filesystem.editing import check_characters
from pluggableharness.providers.filesystem.provider import provider
from pluggableharness.sdk import InvalidArguments
from pluggableharness.sdk.testing import Tool, opened

pytestmark = pytest.mark.req("C3")


@pytest.mark.usefixtures("way", "umask")
async def test_a_new_file_says_so_and_has_the_mode_that_umask_gives(
    tool: Tool, folder: Path
) -> None:
    """Case filesystem-15, first part."""
    path = str(folder / "new")
    assert (await tool("write_file", path="new", content="a\nb\n")).payload == {
        "path": path,
        "created": True,
        "bytes_written": 4,
        "diff": f"--- /dev/null\n+++ {path}\n@@ -0,0 +1,2 @@\n+a\n+b\n",
    }
    assert stat.S_IMODE((folder / "new").stat().st_mode) == 0o644
    assert os.listdir(folder) == ["new"]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("content", ["x", "x\n", "", "a\r\nb", "\ufeffx", "ä\u2028\x00"])
async def test_the_bytes_are_those_given(tool: Tool, folder: Path, content: str) -> None:
    """Cases filesystem-14 and -06: nothing is invented, and nothing translated."""
    payload = (await tool("write_file", path="f", content=content)).payload
    assert (folder / "f").read_bytes() == content.encode()
    assert payload["bytes_written"] == len(content.encode())


async def test_half_of_a_surrogate_pair_is_refused(tool: Tool, folder: Path) -> None:
    """Case exec-15: before anything is touched. The wire cannot carry one, so ask the check."""
    with pytest.raises(InvalidArguments, match=r"content holds .* \\ud800, at character 3"):
        check_characters("content", "ab\ud800")


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("mode", [0o600, 0o640, 0o444, 0o755, 0o4755, 0o2750])
async def test_the_mode_is_kept_without_the_right_to_be_somebody_else(
    unguarded: Tool, folder: Path, mode: int
) -> None:
    (folder / "f").write_text("old")
    (folder / "f").chmod(mode)
    await unguarded("write_file", path="f", content="new")
    assert (folder / "f").read_text() == "new"
    assert stat.S_IMODE((folder / "f").stat().st_mode) == mode & 0o777


@pytest.mark.usefixtures("way")
@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give files away")
async def test_the_owner_is_kept(unguarded: Tool, folder: Path) -> None:
    (folder / "f").write_text("old")
    os.chown(folder / "f", 1234, 5678)
    await unguarded("write_file", path="f", content="new")
    status = (folder / "f").stat()
    assert (status.st_uid, status.st_gid) == (1234, 5678)


@pytest.mark.usefixtures("way")
async def test_an_owner_that_cannot_be_kept_is_an_error_that_changes_nothing(
    unguarded: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (folder / "f").write_text("old")
    real = os.fstat

    def foreign(descriptor: int) -> os.stat_result:
        status = real(descriptor)
        if status.st_size != 3:  # the new file
            return status
        return os.stat_result((*status[:4], status.st_uid + 1, *status[5:]), {})

    def refused(*_: object) -> None:
        raise PermissionError(errno.EPERM, "not yours")

    monkeypatch.setattr(os, "fstat", foreign)
    monkeypatch.setattr(os, "fchown", refused)
    error = (await unguarded("write_file", path="f", content="other")).error
    monkeypatch.undo()
    assert error is not None
    assert error.category == "permission_denied"
    assert "could not be kept" in error.message
    assert (folder / "f").read_text() == "old"
    assert os.listdir(folder) == ["f"]


@pytest.mark.usefixtures("way")
async def test_user_attributes_are_kept(unguarded: Tool, folder: Path) -> None:
    (folder / "f").write_text("old")
    os.setxattr(folder / "f", "user.origin", b"here")
    await unguarded("write_file", path="f", content="new")
    assert os.getxattr(folder / "f", "user.origin") == b"here"


@pytest.mark.usefixtures("way", "umask")
async def test_nothing_beside_a_private_file_is_ever_more_open(
    unguarded: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Case filesystem-15, second part: somebody lists the folder before and after every step."""
    (folder / "f").write_text("private")
    (folder / "f").chmod(0o600)
    seen: set[int] = set()

    def watched(name: str) -> None:
        real = getattr(os, name)

        def step(*arguments: object, **more: object) -> object:
            seen.update(entry.stat().st_mode & 0o7777 for entry in folder.iterdir())
            result = real(*arguments, **more)
            seen.update(entry.stat().st_mode & 0o7777 for entry in folder.iterdir())
            return result

        monkeypatch.setattr(os, name, step)

    for name in ("write", "fchown", "fchmod", "fsync", "link", "rename", "unlink", "close"):
        watched(name)
    outcome = await unguarded("edit_file", path="f", old_str="private", new_str="secret")
    monkeypatch.undo()
    assert outcome.payload["replacements"] == 1
    assert seen == {0o600}
    assert os.listdir(folder) == ["f"]


@pytest.mark.usefixtures("way")
async def test_a_link_stays_a_link_and_its_target_is_written(unguarded: Tool, folder: Path) -> None:
    """Case filesystem-16: a relative link, from another folder too, and an absolute one."""
    (folder / "real.md").write_text("hello\nworld\n")
    (folder / "d").mkdir()
    links = {
        "link.md": "real.md",
        "d/link.md": "../real.md",
        "absolute.md": str(folder / "real.md"),
    }
    text = "world"
    for number, (link, target) in enumerate(links.items()):
        (folder / link).symlink_to(target)
        new = f"there {number}"
        payload = (await unguarded("edit_file", path=link, old_str=text, new_str=new)).payload
        assert payload["path"] == str(folder / "real.md")
        assert os.readlink(folder / link) == target
        assert (folder / "real.md").read_text() == f"hello\n{new}\n"
        text = new
    await unguarded("write_file", path="d/link.md", content="all")
    assert (folder / "real.md").read_text() == "all"
    assert (folder / "d" / "link.md").is_symlink()


async def test_a_link_to_nothing_makes_its_target(tool: Tool, folder: Path) -> None:
    (folder / "link").symlink_to("target")
    assert (await tool("write_file", path="link", content="x")).payload["created"] is True
    assert (folder / "link").is_symlink()
    assert (folder / "target").read_text() == "x"


@pytest.mark.usefixtures("way")
async def test_other_names_of_a_file_keep_the_old_text_and_are_counted(
    unguarded: Tool, folder: Path
) -> None:
    """Case filesystem-17: split by rename, with a note in the result."""
    (folder / "a").write_text("needle")
    os.link(folder / "a", folder / "b")
    payload = (await unguarded("edit_file", path="a", old_str="needle", new_str="thread")).payload
    assert payload["other_names"] == 1
    assert (folder / "a").read_text() == "thread"
    assert (folder / "b").read_text() == "needle"
    os.link(folder / "b", folder / "c")
    os.link(folder / "b", folder / "d")
    payload = (await unguarded("write_file", path="b", content="pin")).payload
    assert payload["other_names"] == 2
    assert "other_names" not in (await unguarded("write_file", path="b", content="x")).payload


async def test_missing_folders_are_made_unless_told_not_to(tool: Tool, folder: Path) -> None:
    error = (await tool("write_file", path="x/y/f", content="x", create_parents=False)).error
    assert error is not None
    assert error.category == "not_found"
    assert "there is no x" in error.message
    assert os.listdir(folder) == []
    assert (await tool("write_file", path="x/y/f", content="x")).payload["created"] is True
    assert (folder / "x" / "y" / "f").read_text() == "x"


async def test_what_is_no_file_is_not_written(tool: Tool, folder: Path) -> None:
    (folder / "d").mkdir()
    (folder / "f").write_text("x")
    os.mkfifo(folder / "fifo")
    for path, said in (
        ("d", "is a folder"),
        ("d/", "names a folder"),
        ("new/", "names a folder"),
        (".", "is a folder"),
        ("..", "outside the allowed folders"),
        ("fifo", "FIFO"),
        ("f/x", "is not a folder"),
    ):
        error = (await tool("write_file", path=path, content="y")).error
        assert error is not None, path
        assert said in error.message
    assert sorted(os.listdir(folder)) == ["d", "f", "fifo"]


@pytest.mark.usefixtures("way")
@pytest.mark.parametrize("step", ["write", "fsync", "rename"])
async def test_a_failure_at_any_step_leaves_the_old_file_and_nothing_else(
    unguarded: Tool, folder: Path, monkeypatch: pytest.MonkeyPatch, step: str
) -> None:
    """As with a full disk (R10)."""
    (folder / "f").write_text("old")

    def fails(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, step, fails)
    error = (await unguarded("write_file", path="f", content="new")).error
    monkeypatch.undo()
    assert error is not None
    assert error.category == "execution_failed"
    assert "No space left on device" in error.message
    assert "as it was" in error.message
    assert (folder / "f").read_text() == "old"
    assert os.listdir(folder) == ["f"]


@pytest.mark.skipif(os.geteuid() != 0, reason="needs another user to be")
async def test_a_file_that_may_not_be_written_is_not_replaced_either() -> None:
    """The folder would allow it; the file's own permissions do not."""
    # Not pytest's own folder, which nobody else may enter.
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "f").write_text("old")
        (folder / "f").chmod(0o444)
        for each in (folder, folder / "f"):
            os.chown(each, 4321, 0)
        async with opened(provider, cwd=folder, settings={"require_read": False}) as tool:
            os.seteuid(4321)
            try:
                error = (await tool("write_file", path="f", content="new")).error
            finally:
                os.seteuid(0)
        assert error is not None
        assert error.category == "permission_denied"
        assert "the system refuses access" in error.message
        assert (folder / "f").read_text() == "old"


async def test_the_diff_of_a_rewrite_shows_what_changed(unguarded: Tool, folder: Path) -> None:
    lines = [f"line {n}\n" for n in range(1, 2_001)]
    (folder / "f").write_text("".join(lines))
    lines[9], lines[1_989] = "changed\n", "changed too\n"
    payload = (await unguarded("write_file", path="f", content="".join(lines))).payload
    assert [line for line in payload["diff"].splitlines()[2:] if line[0] in "-+@"] == [
        "@@ -7,7 +7,7 @@",
        "-line 10",
        "+changed",
        "@@ -1987,7 +1987,7 @@",
        "-line 1990",
        "+changed too",
    ]


async def test_the_diff_shows_line_ends_that_change(unguarded: Tool, folder: Path) -> None:
    (folder / "f").write_bytes(b"a\r\nb\n")
    payload = (await unguarded("write_file", path="f", content="a\nb\n")).payload
    assert payload["diff"].splitlines()[3:] == ["-a\N{SYMBOL FOR CARRIAGE RETURN}", "+a", " b"]


async def test_the_diff_says_what_cannot_be_shown_as_lines(unguarded: Tool, folder: Path) -> None:
    for content, said in (
        (b"\x7fELF\x00", "an ELF program or library, 5 bytes"),
        (b"caf\xe9\n", "the encoding changes from latin-1 to utf-8"),
        (b"x" * (5 << 20), "too large to compare"),
    ):
        (folder / "f").write_bytes(content)
        payload = (await unguarded("write_file", path="f", content="new\n")).payload
        assert said in payload["diff"]


async def test_a_long_diff_is_cut_and_says_so(tool: Tool) -> None:
    payload = (await tool("write_file", path="f", content="line\n" * 5_000)).payload
    assert "… 4800 more lines" in payload["diff"]
    assert payload["diff"].count("\n") < 210
    payload = (await tool("write_file", path="g", content="x" * 5_000)).payload
    assert "… (5000 characters)" in payload["diff"]
