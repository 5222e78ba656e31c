"""Which agent.hcl applies."""

import os
from pathlib import Path

import pytest

from pluggableharness.kernel.config.finding import find
from pluggableharness.kernel.config.load import read_source
from pluggableharness.kernel.domain.errors import UsageError


def place(folder: Path) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "agent.hcl").write_text("settings {}\n")
    return folder / "agent.hcl"


def test_the_nearest_file_upward_applies(tmp_path: Path) -> None:
    place(tmp_path)
    near = place(tmp_path / "a")
    (tmp_path / "a" / "b" / "c").mkdir(parents=True)
    assert find(tmp_path / "a" / "b" / "c") == near


def test_a_repository_is_the_border(tmp_path: Path) -> None:
    place(tmp_path)
    (tmp_path / "repository" / ".git").mkdir(parents=True)
    assert find(tmp_path / "repository") is None


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_strangers_file_further_up_is_none_of_ours(tmp_path: Path) -> None:
    os.chown(place(tmp_path), 12345, 12345)
    (tmp_path / "work").mkdir()
    assert find(tmp_path / "work") is None
    assert find(tmp_path) == tmp_path / "agent.hcl"


@pytest.mark.skipif(os.getuid() != 0, reason="only root can give a file away")
def test_a_strangers_link_to_a_file_of_ours_is_none_of_ours_further_up(tmp_path: Path) -> None:
    """What is relative in it would be the stranger's: `source = ["python3", "./server.py"]`."""
    link = tmp_path / "shared" / "agent.hcl"
    (tmp_path / "shared" / "work").mkdir(parents=True)
    link.symlink_to(place(tmp_path / "project"))
    assert find(tmp_path / "shared" / "work") == link
    os.lchown(link, 12345, 12345)
    assert find(tmp_path / "shared" / "work") is None


@pytest.mark.req("F1")
@pytest.mark.parametrize("target", ["gone.hcl", "agent.hcl"])
def test_a_link_that_leads_nowhere_is_a_file_that_cannot_be_read(
    tmp_path: Path, target: str
) -> None:
    (tmp_path / "agent.hcl").symlink_to(target)
    (tmp_path / "below").mkdir()
    for directory in (tmp_path, tmp_path / "below"):
        found = find(directory)
        assert found == tmp_path / "agent.hcl"
        with pytest.raises(UsageError, match="cannot be read"):
            read_source(found, "agent.hcl")


@pytest.mark.req("F1")
@pytest.mark.parametrize(
    ("data", "said"),
    [(b'settings {\n  log_level = "\xff"\n}\n', ":2:16: is not UTF-8"), (b"#" * 2**21, "larger")],
)
def test_a_file_that_is_no_text_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    path = tmp_path / "agent.hcl"
    path.write_bytes(data)
    with pytest.raises(UsageError, match=said):
        read_source(path, "agent.hcl")
