"""Where the system says that the paths of a call lead."""

import asyncio
import os
import threading
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from unit.planning.doubles import call, operation

from pluggableharness.kernel import places
from pluggableharness.kernel.domain.call import Call, CallContext
from pluggableharness.kernel.domain.operation import Kind
from pluggableharness.kernel.policy import protected_write, redirections

pytestmark = pytest.mark.req("K5a", "K10a")

WRITE = operation("write_file")


def made(folder: Path, **arguments: Any) -> Call:
    return replace(call(WRITE, **arguments), context=CallContext("s", "t", str(folder)))


@pytest.mark.parametrize(
    ("link", "to", "path"),
    [
        ("g", ".git", "g/config"),
        ("cfg", "agent.hcl", "cfg"),
        ("up", "..", "up/up/{name}/.git/hooks/x"),
        ("a", "b", "a"),
        ("abs", "{folder}/.git", "abs/config"),
        ("deep", "./sub/../.git/hooks", "deep/../config"),
    ],
)
async def test_a_link_to_what_is_guarded_is_seen(
    tmp_path: Path, link: str, to: str, path: str
) -> None:
    """Also a chain of links, and one that leads to what is not there yet."""
    folder = tmp_path / "p"
    (folder / ".git").mkdir(parents=True)
    (folder / "sub").mkdir()
    (folder / "b").symlink_to("agent.hcl")
    (folder / link).symlink_to(to.format(folder=folder))
    if link == "up":
        (tmp_path / "up").symlink_to(".")
    path = path.format(name="p")
    for arguments in ({"path": path}, {"into": [path]}, {"x": {path: 1}}):
        found = await places.located(made(folder, **arguments))
        assert protected_write(found) is not None, arguments
        if link != "up":
            assert dict(redirections(found)).keys() == {path}


async def test_an_ordinary_path_leads_to_itself(tmp_path: Path) -> None:
    (tmp_path / "real/src").mkdir(parents=True)
    (tmp_path / "here").symlink_to("real")
    for folder in (tmp_path / "real", tmp_path / "here"):
        found = await places.located(made(folder, path="src/new/a.py", more="../real/src"))
        assert list(redirections(replace(found, arguments={"path": "src/new/a.py"}))) == []
        assert protected_write(found) is None
        assert found.places[f"{folder}/src/new/a.py"] == f"{tmp_path}/real/src/new/a.py"


@pytest.mark.parametrize("path", ["/proc/self/cwd/x", "/dev/fd/0", "loop/x", "p/x"])
async def test_what_leads_each_process_elsewhere_or_nowhere_is_not_told(
    tmp_path: Path, path: str
) -> None:
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "p").symlink_to("/proc/self/root")
    why = protected_write(await places.located(made(tmp_path, path=path)))
    assert why is not None and "could not be told" in why


async def test_what_is_longer_than_a_path_may_be_is_not_walked(tmp_path: Path) -> None:
    path = "a/" * 1_000_000
    why = protected_write(await places.located(made(tmp_path, path=path)))
    assert why is not None and "could not be told" in why


async def test_a_read_is_looked_at_as_a_write_is(tmp_path: Path) -> None:
    (tmp_path / "a").symlink_to("secret/key")
    read = operation("read_file", Kind.DATA_SOURCE)
    found = await places.located(replace(made(tmp_path, path="a"), operation=read))
    assert found.places[f"{tmp_path}/a"] == f"{tmp_path}/secret/key"


async def test_a_pipe_or_a_device_is_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    found = await places.located(made(tmp_path, path="pipe", other="/dev/zero"))
    assert found.places[f"{tmp_path}/pipe"] == f"{tmp_path}/pipe"


def mounted(monkeypatch: pytest.MonkeyPatch, *distant: Path) -> None:
    """Let these count as mounts of file systems that may not answer."""
    paths = frozenset(map(str, distant))
    monkeypatch.setattr(places, "_mounts", lambda: SimpleNamespace(distant=lambda: paths))


async def test_a_file_system_that_does_not_answer_holds_up_neither_the_kernel_nor_the_next_look(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    answered = threading.Event()
    real = places._link

    def hang(path: str) -> str | None:
        if path.endswith("dead/x"):
            answered.wait(60)
        return real(path)

    mounted(monkeypatch, tmp_path / "dead", tmp_path / "slow")
    monkeypatch.setattr(places, "LONGEST_LOOK_S", 0.05)
    monkeypatch.setattr(places, "_link", hang)
    try:
        found = await asyncio.wait_for(places.located(made(tmp_path, path="dead/x")), 30)
        assert protected_write(found) is not None
        monkeypatch.setattr(places, "LONGEST_LOOK_S", 30)
        found = await asyncio.wait_for(places.located(made(tmp_path, path="slow/a")), 30)
        assert found.places[f"{tmp_path}/slow/a"] == f"{tmp_path}/slow/a"
    finally:
        answered.set()


@pytest.mark.parametrize(
    ("arguments", "distant"),
    [
        ({"path": "m/x"}, True),
        ({"path": "near/../l/x"}, True),
        ({"path": "m/../a"}, True),
        ({"note": "m"}, True),
        ({"note": "m/x"}, True),
        ({"path": "m"}, False),
        ({"path": "near/x", "note": "n"}, False),
    ],
)
async def test_only_a_thread_of_its_own_looks_into_what_may_not_answer(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: dict[str, str], distant: bool
) -> None:
    (tmp_path / "m").mkdir()
    (tmp_path / "near").mkdir()
    (tmp_path / "l").symlink_to("m/deep")
    looks: list[tuple[bool, str]] = []
    real = os.lstat

    def noted(path: str) -> os.stat_result:
        looks.append((threading.current_thread() is threading.main_thread(), path))
        return real(path)

    mounted(monkeypatch, tmp_path / "m")
    monkeypatch.setattr(os, "lstat", noted)
    await places.located(made(tmp_path, **arguments))
    assert any(not here for here, _ in looks) is distant
    assert [path for here, path in looks if here and path.startswith(f"{tmp_path}/m")] == []


def test_what_is_mounted_is_known_by_its_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "mountinfo"
    table.write_text(
        "21 1 8:1 / / rw,noatime shared:1 - ext4 /dev/sda1 rw\n"
        "30 21 0:5 / /mnt/our\\040files rw shared:2 master:1 - nfs4 server:/x rw\n"
        "31 21 0:6 /sub /home/me/r rw - fuse.sshfs me@there: rw\n"
        "32 21 0:7 / /tmp rw - tmpfs tmpfs rw\n"
        "33 21 0:8 / /mnt/a\u2028line\x85or\x0ctwo rw - nfs server:/y rw\n",
        encoding="utf-8",
    )
    monkeypatch.setattr(places, "_MOUNTS", str(table))
    odd = "/mnt/a\u2028line\x85or\x0ctwo"
    assert places._Mounts().distant() == {"/mnt/our files", "/home/me/r", odd}
    monkeypatch.setattr(places, "_MOUNTS", str(tmp_path / "absent"))
    nothing_known = places._Mounts().distant()
    with pytest.raises(places._Distant):
        places.real_path(str(tmp_path), nothing_known)


NAMES = st.sampled_from(["a", "b", "c", "l", "m", "..", ".", ""])


@given(
    st.lists(NAMES, min_size=1, max_size=6),
    st.lists(NAMES, min_size=1, max_size=4),
    st.lists(NAMES, min_size=1, max_size=4),
)
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_it_is_what_the_system_itself_finds(
    tmp_path: Path, path: list[str], first: list[str], second: list[str]
) -> None:
    """Wherever opening the path succeeds, it opens just what was said."""
    (tmp_path / "a/b/c").mkdir(parents=True, exist_ok=True)
    (tmp_path / "b/a").mkdir(parents=True, exist_ok=True)
    for name, to in (("l", first), ("a/m", second)):
        link = tmp_path / name
        link.unlink(missing_ok=True)
        link.symlink_to("/".join(to) or ".")
    written = f"{tmp_path}/{'/'.join(path)}"
    try:
        descriptor = os.open(written, os.O_PATH)
    except OSError:
        return
    opened = os.readlink(f"/proc/self/fd/{descriptor}")
    os.close(descriptor)
    assert places.real_path(written) == opened
