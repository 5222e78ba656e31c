"""Where logs are kept."""

import stat
from pathlib import Path

import pytest

from pluggableharness.kernel.store.errors import NoStateDirectory
from pluggableharness.kernel.store.location import log_path, make_private, sessions_directory

BELOW = Path("pluggableharness", "sessions")


@pytest.mark.req("K27")
@pytest.mark.parametrize(
    ("environ", "base"),
    [
        ({"XDG_STATE_HOME": "/state"}, "/state"),
        ({"XDG_STATE_HOME": "/state", "HOME": "/home/me"}, "/state"),
        ({"HOME": "/home/me"}, "/home/me/.local/state"),
        ({"XDG_STATE_HOME": "", "HOME": "/home/me"}, "/home/me/.local/state"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/home/me"}, "/home/me/.local/state"),
    ],
)
def test_logs_are_below_the_state_directory(environ: dict[str, str], base: str) -> None:
    assert sessions_directory(environ) == base / BELOW


@pytest.mark.req("R10")
@pytest.mark.parametrize("environ", [{}, {"HOME": ""}, {"HOME": "home"}])
def test_without_a_home_the_error_says_what_to_set(environ: dict[str, str]) -> None:
    with pytest.raises(NoStateDirectory, match="Set HOME, or XDG_STATE_HOME"):
        sessions_directory(environ)


@pytest.mark.req("K27")
def test_every_directory_that_is_made_is_for_its_owner_alone(tmp_path: Path) -> None:
    directory = tmp_path / "a" / "b" / "c"
    make_private(directory)
    make_private(directory)
    for made in (directory, directory.parent, directory.parent.parent):
        assert stat.S_IMODE(made.stat().st_mode) == 0o700


@pytest.mark.req("K27")
def test_a_directory_that_is_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sessions").write_text("")
    with pytest.raises(NoStateDirectory, match="not a directory of yours"):
        make_private(tmp_path / "sessions")


@pytest.mark.req("K27")
def test_names_of_logs_sort_by_the_time_of_their_sessions() -> None:
    earlier, later = "01JZ0000000000000000000000", "01JZ0000010000000000000000"
    assert log_path(Path(), earlier) < log_path(Path(), later)
