"""No spelling, link or special file leads out of a root."""

import os
import socket
import threading
from pathlib import Path

import pytest
from unit.jail.reading import Build, read

from pluggableharness.sdk.failures import ExecutionFailed, PermissionDenied

pytestmark = [pytest.mark.req("C1"), pytest.mark.req("R3")]


def test_dots_absolute_paths_and_siblings_are_refused(build: Build, root: Path) -> None:
    (root / "x").mkdir()
    jail = build(root)
    outside = root.parent / "outside" / "secret"
    for path in (
        "..",
        "../",
        "../outside/secret",
        "./../outside/secret",
        "x/../../outside/secret",
        str(outside),
        f"{root}/../outside/secret",
        f"{root}-sibling/a",
        f"../{root.name}-sibling/a",
        "/",
        "/etc/passwd",
        "//etc/passwd",
    ):
        with pytest.raises(PermissionDenied):
            jail.open(path)


def test_a_refusal_names_the_path_the_roots_and_what_to_do(build: Build, root: Path) -> None:
    with pytest.raises(PermissionDenied) as caught:
        build(root).open("/etc/pass\x1b[2Jwd")
    message = caught.value.message
    assert "/etc/pass\\x1b[2Jwd" in message
    assert str(root) in message
    assert "agent.hcl" in message


def test_a_refusal_does_not_tell_whether_anything_is_there(build: Build, root: Path) -> None:
    jail = build(root)
    (root / "real").symlink_to("/etc/passwd")
    (root / "none").symlink_to("/etc/nothing-here")
    messages = []
    for path in ("real", "none"):
        with pytest.raises(PermissionDenied) as caught:
            jail.open(path)
        messages.append(caught.value.message.replace(path, "NAME"))
    assert messages[0] == messages[1]


def test_links_that_lead_out_are_refused(build: Build, root: Path) -> None:
    """Cases jail-02 and jail-04: a link to a file, to a folder, a bare name, a chain."""
    (root / "leak").symlink_to("/etc/passwd")
    (root / "d").symlink_to("/etc")
    (root / "up").symlink_to("..")
    (root / "chain").symlink_to("leak")
    (root / "sibling").symlink_to(f"../{root.name}-sibling/a")
    (root / "sneaky").symlink_to(f"{root}/../outside/secret")
    jail = build(root)
    for path in ("leak", "d/passwd", "d", "up", "up/outside/secret", "chain", "sibling", "sneaky"):
        with pytest.raises(PermissionDenied):
            jail.open(path)
        with pytest.raises(PermissionDenied):
            jail.locate(path, make_folders=True)


def test_nothing_is_created_through_a_link_that_leads_out(build: Build, root: Path) -> None:
    outside = root.parent / "outside"
    (root / "d").symlink_to(outside)
    (root / "new").symlink_to(outside / "new")
    jail = build(root)
    for path in ("d/new", "new", "../outside/new", "d/folder/new"):
        with pytest.raises(PermissionDenied):
            jail.open(path, os.O_WRONLY | os.O_CREAT)
        with pytest.raises(PermissionDenied):
            jail.locate(path, make_folders=True)
    assert os.listdir(outside) == ["secret"]


@pytest.mark.parametrize("everything", [False, True], ids=["root", "/"])
def test_the_view_of_processes_is_refused_even_when_everything_is_allowed(
    build: Build, root: Path, everything: bool
) -> None:
    """Case jail-03: magic links, and the files that hold environments and memory."""
    (root / "p").symlink_to("/proc/self/root")
    jail = build("/" if everything else root)
    for path in (
        "/proc/self/root/etc/passwd",
        "/proc/self/cwd/../x",
        "/proc/self/cwd",
        "/dev/fd/0",
        "/dev/stdin",
        f"/proc/{os.getpid()}/environ",
        f"/proc/{os.getpid()}/mem",
        f"/proc/{os.getpid()}/task/{threading.get_native_id()}/environ",
        "/proc/version",
        str(root / "p"),
        str(root / "p" / "etc" / "passwd"),
    ):
        with pytest.raises(PermissionDenied):
            jail.locate(path)
        with pytest.raises(PermissionDenied):
            jail.open(path)
    with pytest.raises(PermissionDenied):
        jail.open("/proc")


def test_special_files_are_refused_at_once(build: Build, root: Path) -> None:
    """A FIFO without a writer would hold an ordinary open for ever."""
    os.mkfifo(root / "fifo")
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(root / "socket"))
        jail = build(root)
        for name, kind in (("fifo", "FIFO"), ("socket", "socket")):
            for flags in (os.O_RDONLY, os.O_WRONLY):
                with pytest.raises(ExecutionFailed, match=f"is a {kind}"):
                    jail.open(name, flags)
    with pytest.raises(ExecutionFailed, match="character device"):
        build("/").open("/dev/null")


def test_what_is_not_a_folder_has_nothing_below_it(build: Build, root: Path) -> None:
    """Case filesystem-27, for every way to say it."""
    (root / "link").symlink_to("a")
    for path in ("a/x", "a/", "a/.", "a/..", "link/x", "link/"):
        with pytest.raises(ExecutionFailed, match="not a folder"):
            build(root).open(path)


def test_a_root_that_became_a_link_is_no_root_any_more(
    build: Build, tmp_path: Path, root: Path
) -> None:
    jail = build(root)
    assert read(jail, "a") == b"inside"
    root.rename(tmp_path / "moved")
    root.symlink_to(tmp_path / "outside")
    with pytest.raises(PermissionDenied):
        jail.open("secret")


def test_a_root_inside_a_root_cannot_be_turned_into_a_way_out(
    build: Build, tmp_path: Path, root: Path
) -> None:
    inner = root / "inner"
    inner.mkdir()
    jail = build(inner, root)
    inner.rmdir()
    inner.symlink_to(tmp_path / "outside")
    for path in ("secret", str(inner / "secret")):
        with pytest.raises(PermissionDenied):
            jail.open(path)


def test_a_link_that_takes_the_place_of_a_file_is_not_followed(build: Build, root: Path) -> None:
    with build(root).locate("a") as place:
        (root / "a").unlink()
        (root / "a").symlink_to(root.parent / "outside" / "secret")
        with pytest.raises(OSError, match="symbolic links"):
            place.open()
