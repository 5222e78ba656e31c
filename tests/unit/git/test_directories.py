"""Where a `.git` leads to: what git believes there is asked about as below a `.git`."""

import os
from pathlib import Path

import pytest

from pluggableharness.kernel.git.directories import git_directories

pytestmark = pytest.mark.req("K5a", "C14")


def test_the_usual_git_is_known_by_its_name_and_costs_nothing_more(tmp_path: Path) -> None:
    assert git_directories(tmp_path) == frozenset()
    (tmp_path / ".git").mkdir()
    assert git_directories(tmp_path) == frozenset()


@pytest.mark.parametrize(
    "said", ["gitdir: ./.bare", "gitdir: .bare\r\n\n", "gitdir: {here}/.bare\n"]
)
def test_a_file_is_followed(tmp_path: Path, said: str) -> None:
    (tmp_path / "sub").mkdir()
    (tmp_path / ".git").write_text(said.format(here=tmp_path))
    for directory in (tmp_path, tmp_path / "sub"):
        assert str(tmp_path / ".bare") in git_directories(directory)


def test_bytes_that_are_no_text_are_followed_as_git_does(tmp_path: Path) -> None:
    (tmp_path / ".git").write_bytes(b"gitdir: r\xff\n")
    assert os.fsdecode(os.fsencode(tmp_path) + b"/r\xff") in git_directories(tmp_path)


def test_links_and_commondir_are_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / ".git").symlink_to("real")
    assert str(tmp_path / "real") in git_directories(tmp_path)
    (tmp_path / "real/commondir").write_text("../common\n")
    assert {str(tmp_path / "real"), str(tmp_path / "common")} <= git_directories(tmp_path)


def test_a_git_of_another_kind_leads_nowhere_and_nothing_waits_for_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / ".git")
    assert git_directories(tmp_path) == frozenset()
    (tmp_path / ".git").unlink()
    (tmp_path / ".git").mkdir()
    os.mkfifo(tmp_path / ".git/commondir")
    assert git_directories(tmp_path) == frozenset()
